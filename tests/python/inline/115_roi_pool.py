"""RoI max pooling with the argmax kept, dispatch on floating types, 1-D grid-stride macro with __VA_ARGS__; backward scatters by atomicAdd."""
CPP = r'''
#include <torch/extension.h>
std::tuple<at::Tensor, at::Tensor> roi_pool_forward(const at::Tensor& input, const at::Tensor& rois, double spatial_scale, int64_t pooled_height, int64_t pooled_width);
at::Tensor roi_pool_backward(const at::Tensor& grad, const at::Tensor& rois, const at::Tensor& argmax, int64_t batch, int64_t channels, int64_t height, int64_t width);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("roi_pool_forward", &roi_pool_forward, "ROIPool_forward");
  m.def("roi_pool_backward", &roi_pool_backward, "ROIPool_backward");
}
'''
CUDA = r'''
#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ceil_div.h>
#include <cfloat>
#include <torch/types.h>

#define LOOP_1D(i, n) for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (int64_t)blockDim.x * gridDim.x)

template <typename T>
__global__ void RoIPoolFForward(const int64_t nthreads, const T* bottom_data, const T spatial_scale, const int channels, const int height, const int width,
                                const int pooled_height, const int pooled_width, const T* bottom_rois, T* top_data, int* argmax_data) {
  LOOP_1D(index, nthreads) {
    // (n, c, ph, pw) is an element in the pooled output
    int pw = index % pooled_width;
    int ph = (index / pooled_width) % pooled_height;
    int c = (index / pooled_width / pooled_height) % channels;
    int n = index / pooled_width / pooled_height / channels;

    const T* offset_bottom_rois = bottom_rois + n * 5;
    int roi_batch_ind = offset_bottom_rois[0];
    int roi_start_w = round(offset_bottom_rois[1] * spatial_scale), roi_start_h = round(offset_bottom_rois[2] * spatial_scale);
    int roi_end_w = round(offset_bottom_rois[3] * spatial_scale), roi_end_h = round(offset_bottom_rois[4] * spatial_scale);

    // malformed RoIs become 1x1
    int roi_width = max(roi_end_w - roi_start_w + 1, 1);
    int roi_height = max(roi_end_h - roi_start_h + 1, 1);
    T bin_size_h = static_cast<T>(roi_height) / static_cast<T>(pooled_height);
    T bin_size_w = static_cast<T>(roi_width) / static_cast<T>(pooled_width);

    int hstart = static_cast<int>(floor(static_cast<T>(ph) * bin_size_h)), hend = static_cast<int>(ceil(static_cast<T>(ph + 1) * bin_size_h));
    int wstart = static_cast<int>(floor(static_cast<T>(pw) * bin_size_w)), wend = static_cast<int>(ceil(static_cast<T>(pw + 1) * bin_size_w));
    hstart = min(max(hstart + roi_start_h, 0), height);
    hend = min(max(hend + roi_start_h, 0), height);
    wstart = min(max(wstart + roi_start_w, 0), width);
    wend = min(max(wend + roi_start_w, 0), width);
    bool is_empty = (hend <= hstart) || (wend <= wstart);

    T maxval = is_empty ? 0 : -FLT_MAX;
    int maxidx = -1;
    const T* offset_bottom_data = bottom_data + (roi_batch_ind * channels + c) * height * width;
    for (int h = hstart; h < hend; ++h) {
      for (int w = wstart; w < wend; ++w) {
        int bottom_index = h * width + w;
        if (offset_bottom_data[bottom_index] > maxval) {
          maxval = offset_bottom_data[bottom_index];
          maxidx = bottom_index;
        }
      }
    }
    top_data[index] = maxval;
    argmax_data[index] = maxidx;
  }
}

template <typename T>
__global__ void RoIPoolFBackward(const int64_t nthreads, const T* top_diff, const int* argmax_data, const int channels, const int area, const int bins, T* bottom_diff, const T* bottom_rois) {
  LOOP_1D(index, nthreads) {
    const int c = (index / bins) % channels;
    const int n = index / bins / channels;
    const int where = argmax_data[index];
    if (where != -1) atomicAdd(bottom_diff + (static_cast<int>(bottom_rois[n * 5]) * channels + c) * area + where, top_diff[index]);
  }
}

std::tuple<at::Tensor, at::Tensor> roi_pool_forward(const at::Tensor& input, const at::Tensor& rois, double spatial_scale, int64_t pooled_height, int64_t pooled_width) {
  AT_ASSERTM(rois.size(1) == 5, "rois must be (K, 5)");
  auto num_rois = rois.size(0), channels = input.size(1), height = input.size(2), width = input.size(3);
  auto output = at::empty({num_rois, channels, pooled_height, pooled_width}, input.options());
  auto argmax = at::zeros({num_rois, channels, pooled_height, pooled_width}, input.options().dtype(at::kInt));
  if (output.numel() == 0) return std::make_tuple(output, argmax);
  dim3 grid(std::min(at::ceil_div(output.numel(), (int64_t)64), (int64_t)8));
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "ROIPool_forward", [&] {
    RoIPoolFForward<scalar_t><<<grid, dim3(64), 0, at::cuda::getCurrentCUDAStream()>>>(
        output.numel(), input.contiguous().data_ptr<scalar_t>(), static_cast<scalar_t>(spatial_scale), channels, height, width, pooled_height, pooled_width,
        rois.contiguous().data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), argmax.data_ptr<int>());
  });
  AT_CUDA_CHECK(cudaGetLastError());
  return std::make_tuple(output, argmax);
}

at::Tensor roi_pool_backward(const at::Tensor& grad, const at::Tensor& rois, const at::Tensor& argmax, int64_t batch, int64_t channels, int64_t height, int64_t width) {
  auto grad_input = at::zeros({batch, channels, height, width}, grad.options());
  AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "ROIPool_backward", [&] {
    RoIPoolFBackward<scalar_t><<<4, 64>>>(grad.numel(), grad.contiguous().data_ptr<scalar_t>(), argmax.data_ptr<int>(), channels, height * width,
                                          grad.size(2) * grad.size(3), grad_input.data_ptr<scalar_t>(), rois.data_ptr<scalar_t>());
  });
  return grad_input;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for dtype in (np.float32, np.float64):
        x = t.rng.standard_normal((2, 3, 19, 23)).astype(dtype)
        corner = t.rng.integers(0, 40, (13, 2))
        rois = np.concatenate([t.rng.integers(0, 2, (13, 1)), corner, corner + t.rng.integers(-2, 30, (13, 2))], 1).astype(dtype)
        ph, pw, scale = 3, 5, 0.5
        want, where = np.zeros((13, 3, ph, pw)), np.full((13, 3, ph, pw), -1, np.int32)
        for k, (n, *box) in enumerate(rois.astype(np.float64)):
            x0, y0, x1, y1 = (int(np.floor(v * scale + 0.5)) for v in box)  # all are at least 0 but the ends of malformed ones
            w, h = max(x1 - x0 + 1, 1), max(y1 - y0 + 1, 1)
            for i in range(ph):
                for j in range(pw):
                    # whole bins by integers: floor(i * h / ph), ceil((i + 1) * h / ph)
                    r0, r1 = min(y0 + i * h // ph, 19), min(y0 - (-(i + 1) * h // ph), 19)
                    c0, c1 = min(x0 + j * w // pw, 23), min(x0 - (-(j + 1) * w // pw), 23)
                    got_r1 = min(y0 + int(np.ceil(dtype(i + 1) * (dtype(h) / dtype(ph)))), 19)  # the kernel's own arithmetic can round up
                    got_c1 = min(x0 + int(np.ceil(dtype(j + 1) * (dtype(w) / dtype(pw)))), 23)
                    got_r0 = min(y0 + int(np.floor(dtype(i) * (dtype(h) / dtype(ph)))), 19)
                    got_c0 = min(x0 + int(np.floor(dtype(j) * (dtype(w) / dtype(pw)))), 23)
                    assert abs(got_r1 - r1) <= 1 and abs(got_c1 - c1) <= 1 and abs(got_r0 - r0) <= 1 and abs(got_c0 - c0) <= 1
                    bin_ = x[int(n), :, got_r0:got_r1, got_c0:got_c1]
                    if bin_.size:
                        at = bin_.reshape(3, -1).argmax(1)
                        width = got_c1 - got_c0
                        want[k, :, i, j] = bin_.reshape(3, -1).max(1)
                        where[k, :, i, j] = (got_r0 + at // width) * 23 + got_c0 + at % width
        y, argmax = m.roi_pool_forward(t(x), t(rois), scale, ph, pw)
        t.close(argmax, where)
        t.close(y, want, rtol=0, atol=0)
        g = t.rng.standard_normal(want.shape).astype(dtype)
        grad = np.zeros((2, 3, 19 * 23))
        for k, c, i, j in np.ndindex(*want.shape):
            if where[k, c, i, j] >= 0:
                grad[int(rois[k, 0]), c, where[k, c, i, j]] += g[k, c, i, j]
        t.close(m.roi_pool_backward(t(g), t(rois), argmax, 2, 3, 19, 23), grad.reshape(2, 3, 19, 23), rtol=1e-4, atol=1e-5)
    assert t.np(m.roi_pool_forward(t(x), t(rois[:0].copy()), scale, 2, 2)[0]).shape == (0, 3, 2, 2)
    with t.raises(RuntimeError, "rois must be (K, 5)"):
        m.roi_pool_forward(t(x), t(rois[:, :4].copy()), scale, 2, 2)

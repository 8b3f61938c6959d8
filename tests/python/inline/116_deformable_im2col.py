"""Deformable convolution as sampling im2col plus a product by tensor ops, modulated by an optional mask; a device helper for bilinear reads."""
CPP = r'''
torch::Tensor deform_conv2d(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& offset, const c10::optional<torch::Tensor>& mask,
                            const c10::optional<torch::Tensor>& bias, std::pair<int, int> stride, std::pair<int, int> pad, std::pair<int, int> dilation);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

namespace {

const int CUDA_NUM_THREADS = 256;
inline int GET_BLOCKS(const int N) { return (N + CUDA_NUM_THREADS - 1) / CUDA_NUM_THREADS; }

template <typename scalar_t>
__device__ scalar_t bilinear(const scalar_t* in, const int height, const int width, scalar_t h, scalar_t w) {
  if (h <= -1 || height <= h || w <= -1 || width <= w) return 0;
  int h_low = floor(h);
  int w_low = floor(w);
  const scalar_t lh = h - h_low, lw = w - w_low, hh = 1 - lh, hw = 1 - lw;
  auto read = [&](int y, int x) -> scalar_t { return y >= 0 && y < height && x >= 0 && x < width ? in[y * width + x] : scalar_t(0); };
  return hh * hw * read(h_low, w_low) + hh * lw * read(h_low, w_low + 1) + lh * hw * read(h_low + 1, w_low) + lh * lw * read(h_low + 1, w_low + 1);
}

struct Geometry {
  int channels, height, width, kh, kw, sh, sw, ph, pw, dh, dw, oh, ow;
};

template <typename scalar_t, bool use_mask>
__global__ void deform_im2col(const int n, const scalar_t* input, const scalar_t* offset, const scalar_t* mask, const Geometry g, scalar_t* columns) {
  for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < n; index += blockDim.x * gridDim.x) {
    const int x = index % g.ow, y = index / g.ow % g.oh, c = index / (g.ow * g.oh);
    scalar_t* col = columns + c * g.kh * g.kw * g.oh * g.ow + y * g.ow + x;
    for (int i = 0; i < g.kh; ++i) {
      for (int j = 0; j < g.kw; ++j) {
        const int tap = i * g.kw + j;
        const scalar_t off_h = offset[((2 * tap) * g.oh + y) * g.ow + x], off_w = offset[((2 * tap + 1) * g.oh + y) * g.ow + x];
        const scalar_t m = use_mask ? mask[(tap * g.oh + y) * g.ow + x] : scalar_t(1);
        *col = m * bilinear<scalar_t>(input + c * g.height * g.width, g.height, g.width, y * g.sh - g.ph + i * g.dh + off_h, x * g.sw - g.pw + j * g.dw + off_w);
        col += g.oh * g.ow;
      }
    }
  }
}

}  // namespace

torch::Tensor deform_conv2d(const torch::Tensor& input_, const torch::Tensor& weight, const torch::Tensor& offset_, const c10::optional<torch::Tensor>& mask_,
                            const c10::optional<torch::Tensor>& bias, std::pair<int, int> stride, std::pair<int, int> pad, std::pair<int, int> dilation) {
  auto input = input_.contiguous(), offset = offset_.contiguous();
  TORCH_CHECK(input.ndimension() == 4, "Expected 4D input, got ", input.ndimension(), "D");
  TORCH_CHECK(weight.size(1) == input.size(1), "input channels ", input.size(1), " and weight's ", weight.size(1), " differ");
  Geometry g;
  g.channels = input.size(1); g.height = input.size(2); g.width = input.size(3);
  g.kh = weight.size(2); g.kw = weight.size(3);
  std::tie(g.sh, g.sw) = stride;
  std::tie(g.ph, g.pw) = pad;
  std::tie(g.dh, g.dw) = dilation;
  g.oh = (g.height + 2 * g.ph - (g.dh * (g.kh - 1) + 1)) / g.sh + 1;
  g.ow = (g.width + 2 * g.pw - (g.dw * (g.kw - 1) + 1)) / g.sw + 1;
  TORCH_CHECK(offset.size(1) == 2 * g.kh * g.kw, "offset.shape[1] is not valid: got: ", offset.size(1), " expected: ", 2 * g.kh * g.kw);
  TORCH_CHECK(offset.size(2) == g.oh && offset.size(3) == g.ow, "offset output dims: (", offset.size(2), ", ", offset.size(3), ") - computed output dims: (", g.oh, ", ", g.ow, ")");

  const auto batch = input.size(0), out_channels = weight.size(0);
  auto out = torch::empty({batch, out_channels, g.oh, g.ow}, input.options());
  auto columns = torch::empty({(int64_t)g.channels * g.kh * g.kw, (int64_t)g.oh * g.ow}, input.options());
  const auto flat = weight.reshape({out_channels, -1});
  const int n = g.channels * g.oh * g.ow;
  for (int64_t b = 0; b < batch; ++b) {
    AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "deform_im2col", ([&] {
      const scalar_t* mask_ptr = mask_.has_value() ? mask_->select(0, b).data_ptr<scalar_t>() : nullptr;
      if (mask_ptr)
        deform_im2col<scalar_t, true><<<GET_BLOCKS(n), CUDA_NUM_THREADS>>>(n, input[b].data_ptr<scalar_t>(), offset[b].data_ptr<scalar_t>(), mask_ptr, g, columns.data_ptr<scalar_t>());
      else
        deform_im2col<scalar_t, false><<<GET_BLOCKS(n), CUDA_NUM_THREADS>>>(n, input[b].data_ptr<scalar_t>(), offset[b].data_ptr<scalar_t>(), mask_ptr, g, columns.data_ptr<scalar_t>());
    }));
    out[b] = flat.mm(columns).view({out_channels, g.oh, g.ow});
  }
  if (bias) out += bias->view({1, -1, 1, 1});
  return out;
}
'''
FUNCTIONS = ["deform_conv2d"]


def check(m, t):
    import numpy as np

    for dtype, tol in ((np.float32, 1e-4), (np.float64, 1e-11)):
        for (sh, sw), (ph, pw), (dh, dw), masked in (((1, 1), (1, 1), (1, 1), False), ((2, 1), (0, 2), (1, 2), True)):
            x, w = t.rng.standard_normal((2, 3, 9, 11)).astype(dtype), t.rng.standard_normal((4, 3, 3, 2)).astype(dtype)
            oh, ow = (9 + 2 * ph - 2 * dh - 1) // sh + 1, (11 + 2 * pw - dw - 1) // sw + 1
            off = (2 * t.rng.standard_normal((2, 12, oh, ow))).astype(dtype)
            mask = t.rng.random((2, 6, oh, ow)).astype(dtype) if masked else None
            padded = np.zeros((2, 3, 60, 60))
            padded[:, :, 20:29, 20:31] = x  # zeros all around stand for what lies outside
            want = np.zeros((2, 4, oh, ow))
            for b, i, j, y, u in np.ndindex(2, 3, 2, oh, ow):
                r = y * sh - ph + i * dh + float(off[b, 2 * (i * 2 + j), y, u]) + 20
                c = u * sw - pw + j * dw + float(off[b, 2 * (i * 2 + j) + 1, y, u]) + 20
                r0, c0 = int(np.floor(r)), int(np.floor(c))
                v = sum(padded[b, :, r0 + e, c0 + f] * (1 - abs(r - r0 - e)) * (1 - abs(c - c0 - f)) for e in (0, 1) for f in (0, 1))
                want[b, :, y, u] += w[:, :, i, j].astype(np.float64) @ v * (mask[b, i * 2 + j, y, u] if masked else 1)
            bias = t.rng.standard_normal(4).astype(dtype) if masked else None
            if masked:
                want += bias[:, None, None]
            got = m.deform_conv2d(t(x), t(w), t(off), t(mask) if masked else None, t(bias) if masked else None, (sh, sw), (ph, pw), (dh, dw))
            t.close(got, want, rtol=tol, atol=tol)
    with t.raises(RuntimeError, "offset.shape[1] is not valid: got: 4 expected: 12"):
        m.deform_conv2d(t(x), t(w), t(off[:, :4].copy()), None, None, (1, 1), (0, 0), (1, 1))
    with t.raises(RuntimeError, "input channels 3 and weight's 2 differ"):
        m.deform_conv2d(t(x), t(w[:, :2].copy()), t(off), None, None, (1, 1), (0, 0), (1, 1))

"""Max pooling with indices and its backward by atomicAdd, average pooling beside it; older AT_ASSERTM checks."""
CPP = r'''
std::tuple<at::Tensor, at::Tensor> maxpool_forward(at::Tensor input, int k, int s);
at::Tensor maxpool_backward(at::Tensor grad_output, at::Tensor indices, at::Tensor input);
at::Tensor avgpool_forward(at::Tensor input, int k, int s);
'''
CUDA = r'''
#include <ATen/ATen.h>
#include <cfloat>
#include <tuple>

template <typename scalar_t>
__global__ void maxpool_kernel(const int n, const scalar_t* in, scalar_t* out, int* idx, int H, int W, int oh, int ow, int k, int s) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    int w0 = (i % ow) * s, h0 = (i / ow % oh) * s, plane = i / (ow * oh);
    const scalar_t* src = in + plane * H * W;
    scalar_t best = -FLT_MAX;
    int where = -1;
    for (int h = h0; h < min(h0 + k, H); h++)
      for (int w = w0; w < min(w0 + k, W); w++)
        if (src[h * W + w] > best) {
          best = src[h * W + w];
          where = h * W + w;
        }
    out[i] = best;
    idx[i] = where;
  }
}

template <typename scalar_t>
__global__ void maxpool_grad_kernel(const int n, const scalar_t* go, const int* idx, scalar_t* gi, int hw, int ohw) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(gi + (i / ohw) * hw + idx[i], go[i]);
}

template <typename scalar_t>
__global__ void avgpool_kernel(const int n, const scalar_t* in, scalar_t* out, int H, int W, int oh, int ow, int k, int s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int w0 = (i % ow) * s, h0 = (i / ow % oh) * s;
  const scalar_t* src = in + i / (ow * oh) * H * W;
  scalar_t acc = 0;
  for (int h = h0; h < h0 + k; h++)
    for (int w = w0; w < w0 + k; w++) acc += src[h * W + w];
  out[i] = acc / (k * k);
}

std::tuple<at::Tensor, at::Tensor> maxpool_forward(at::Tensor input, int k, int s) {
  AT_ASSERTM(input.dim() == 4, "input must be N x C x H x W");
  int H = input.size(2), W = input.size(3);
  int oh = (H - k) / s + 1, ow = (W - k) / s + 1;
  at::Tensor out = at::empty({input.size(0), input.size(1), oh, ow}, input.options());
  at::Tensor idx = at::empty(out.sizes(), input.options().dtype(at::kInt));
  const int n = out.numel();
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "maxpool_forward", ([&] {
    maxpool_kernel<scalar_t><<<(n + 255) / 256, 256>>>(n, input.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), idx.data_ptr<int>(),
                                                       H, W, oh, ow, k, s);
  }));
  return std::make_tuple(out, idx);
}

at::Tensor maxpool_backward(at::Tensor grad_output, at::Tensor indices, at::Tensor input) {
  auto grad_input = at::zeros_like(input);
  const int n = grad_output.numel();
  AT_DISPATCH_FLOATING_TYPES(grad_output.scalar_type(), "maxpool_backward", ([&] {
    maxpool_grad_kernel<scalar_t><<<(n + 255) / 256, 256>>>(n, grad_output.data_ptr<scalar_t>(), indices.data_ptr<int>(),
        grad_input.data_ptr<scalar_t>(), input.size(2) * input.size(3), indices.size(2) * indices.size(3));
  }));
  return grad_input;
}

at::Tensor avgpool_forward(at::Tensor input, int k, int s) {
  int H = input.size(2), W = input.size(3);
  auto out = at::empty({input.size(0), input.size(1), (H - k) / s + 1, (W - k) / s + 1}, input.options());
  const int n = out.numel();
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "avgpool_forward", ([&] {
    avgpool_kernel<scalar_t><<<(n + 255) / 256, 256>>>(n, input.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), H, W, out.size(2), out.size(3), k, s);
  }));
  return out;
}
'''
FUNCTIONS = ["maxpool_forward", "maxpool_backward", "avgpool_forward"]


def check(m, t):
    import numpy as np

    for dtype, k, s in ((np.float32, 3, 2), (np.float64, 2, 2), (np.float32, 3, 1)):
        x = t.rng.standard_normal((2, 3, 9, 11)).astype(dtype)
        win = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))[:, :, ::s, ::s]
        flat = win.reshape(*win.shape[:4], -1)
        arg = flat.argmax(-1)
        oh, ow = arg.shape[2:]
        where = (np.arange(oh)[:, None] * s + arg // k) * 11 + np.arange(ow)[None, :] * s + arg % k
        out, idx = m.maxpool_forward(t(x), k, s)
        t.close(out, flat.max(-1), rtol=0, atol=0)
        t.close(idx, where.astype(np.int32))
        g = t.rng.standard_normal(arg.shape).astype(dtype)
        want = np.zeros((6, 99))
        for p in range(6):
            np.add.at(want[p], where.reshape(6, -1)[p], g.reshape(6, -1)[p].astype(np.float64))
        t.close(m.maxpool_backward(t(g), idx, t(x)), want.reshape(x.shape))
        t.close(m.avgpool_forward(t(x), k, s), flat.astype(np.float64).mean(-1), atol=1e-6)

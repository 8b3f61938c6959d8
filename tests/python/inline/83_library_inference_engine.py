"""A library as an inference engine has it: a header, macros over TORCH_LIBRARY, two namespaces, in-place CUDA kernels for float and half."""
CPP = r'''
#include <torch/all.h>
#include <torch/library.h>
#include <optional>

void rms_norm(torch::Tensor& out, torch::Tensor& input, torch::Tensor& weight, double epsilon);
void silu_and_mul(torch::Tensor& out, torch::Tensor& input);
void rotate(torch::Tensor& query, std::optional<torch::Tensor> key, torch::Tensor& positions, torch::Tensor& table, int64_t head_size, bool halves);
void store_tokens(torch::Tensor& tokens, torch::Tensor& cache, torch::Tensor& slots);

static int64_t padded_size(int64_t n, int64_t block) {
  TORCH_CHECK(block > 0, "block must be positive");
  return (n + block - 1) / block * block;
}

#define TORCH_LIBRARY_EXPAND(NAME, MODULE) TORCH_LIBRARY(NAME, MODULE)
#define ENGINE_CONCAT_(A, B) A##B
#define ENGINE_CONCAT(A, B) ENGINE_CONCAT_(A, B)
#define ENGINE_NAME wb_engine

TORCH_LIBRARY_EXPAND(ENGINE_NAME, ops) {
  ops.def("rms_norm(Tensor! result, Tensor input, Tensor weight, float epsilon) -> ()");
  ops.impl("rms_norm", torch::kCUDA, &rms_norm);

  ops.def("silu_and_mul(Tensor! result, Tensor input) -> ()");
  ops.impl("silu_and_mul", torch::kCUDA, &silu_and_mul);

  ops.def("rotate(Tensor! query, Tensor!? key, Tensor positions, Tensor table, "
          "int head_size, *, bool halves=True) -> ()");
  ops.impl("rotate", torch::kCUDA, &rotate);
}

TORCH_LIBRARY_EXPAND(ENGINE_CONCAT(ENGINE_NAME, _cache), cache_ops) {
  cache_ops.def("store_tokens(Tensor tokens, Tensor! cache, Tensor slots) -> ()");
  cache_ops.impl("store_tokens", torch::kCUDA, &store_tokens);
  cache_ops.def("padded_size(int n, int block=16) -> int");
  cache_ops.impl("padded_size", &padded_size);
}
'''
CUDA = r'''
#include <torch/all.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <optional>

#define ENGINE_DISPATCH(TYPE, NAME, ...)                                                              \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)                 \
                                     AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__))

namespace engine {

template <typename scalar_t>
__global__ void rms_norm_kernel(scalar_t* __restrict__ out, const scalar_t* __restrict__ in, const scalar_t* __restrict__ weight, float eps, int hidden) {
  __shared__ float partial[128];
  const int64_t base = blockIdx.x * int64_t(hidden);
  float sum = 0.f;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    const float v = static_cast<float>(in[base + i]);
    sum += v * v;
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  const float scale = rsqrtf(partial[0] / hidden + eps);
  for (int i = threadIdx.x; i < hidden; i += blockDim.x)
    out[base + i] = static_cast<scalar_t>(static_cast<float>(in[base + i]) * scale * static_cast<float>(weight[i]));
}

struct Silu {
  __device__ __forceinline__ float operator()(float v) const { return v / (1.f + __expf(-v)); }
};

template <typename Act, typename scalar_t>
__global__ void gate_kernel(scalar_t* out, const scalar_t* in, int d, Act act) {
  const scalar_t* gate = in + 2 * int64_t(d) * blockIdx.x;
  const scalar_t* up = gate + d;
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    out[int64_t(d) * blockIdx.x + i] = static_cast<scalar_t>(act(static_cast<float>(gate[i])) * static_cast<float>(up[i]));
}

template <typename scalar_t, bool HALVES>
__global__ void rotary_kernel(const int64_t* positions, scalar_t* x, const scalar_t* cache, int rot, int64_t stride, int heads, int head_size) {
  const scalar_t* row = cache + positions[blockIdx.x] * rot;
  const int half = rot / 2;
  for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
    const int k = i % half, a = HALVES ? k : 2 * k, b = HALVES ? k + half : 2 * k + 1;
    scalar_t* head = x + blockIdx.x * stride + i / half * head_size;
    const float c = row[k], s = row[k + half], u = head[a], v = head[b];
    head[a] = u * c - v * s;
    head[b] = v * c + u * s;
  }
}

template <typename scalar_t>
__global__ void store_kernel(const scalar_t* tokens, scalar_t* cache, const int64_t* slots, int width) {
  const int64_t slot = slots[blockIdx.x];
  if (slot < 0) return;  // padding
  for (int i = threadIdx.x; i < width; i += blockDim.x) cache[slot * width + i] = tokens[blockIdx.x * int64_t(width) + i];
}

}  // namespace engine

void rms_norm(torch::Tensor& out, torch::Tensor& input, torch::Tensor& weight, double epsilon) {
  TORCH_CHECK(out.is_contiguous() && input.is_contiguous() && weight.is_contiguous());
  const int hidden = input.size(-1);
  TORCH_CHECK(weight.numel() == hidden, "weight has ", weight.numel(), " elements, rows have ", hidden);
  const int64_t tokens = input.numel() / hidden;
  if (tokens == 0) return;
  const at::cuda::OptionalCUDAGuard guard(device_of(input));
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  ENGINE_DISPATCH(input.scalar_type(), "rms_norm", [&] {
    engine::rms_norm_kernel<scalar_t><<<tokens, 128, 0, stream>>>(out.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(),
                                                                  weight.data_ptr<scalar_t>(), epsilon, hidden);
  });
}

void silu_and_mul(torch::Tensor& out, torch::Tensor& input) {
  const int d = input.size(-1) / 2;
  const int64_t tokens = input.numel() / input.size(-1);
  dim3 grid(tokens), block(std::min(d, 64));
  if (tokens == 0) return;
  ENGINE_DISPATCH(input.scalar_type(), "silu_and_mul", [&] {
    engine::gate_kernel<<<grid, block>>>(out.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), d, engine::Silu());
  });
}

void rotate(torch::Tensor& query, std::optional<torch::Tensor> key, torch::Tensor& positions, torch::Tensor& table, int64_t head_size, bool halves) {
  TORCH_CHECK(positions.numel() == query.size(0), "got ", positions.numel(), " positions for ", query.size(0), " tokens");
  TORCH_CHECK(query.size(-1) % head_size == 0 && (!key.has_value() || key->size(-1) % head_size == 0), "head_size does not divide");
  const int rot = table.size(1);
  const auto stream = at::cuda::getCurrentCUDAStream();
  ENGINE_DISPATCH(query.scalar_type(), "rotate", [&] {
    auto turn = [&](torch::Tensor& x) {
      auto kernel = halves ? engine::rotary_kernel<scalar_t, true> : engine::rotary_kernel<scalar_t, false>;
      kernel<<<x.size(0), 32, 0, stream>>>(positions.data_ptr<int64_t>(), x.data_ptr<scalar_t>(), table.data_ptr<scalar_t>(), rot,
                                           x.stride(0), x.size(-1) / head_size, head_size);
    };
    turn(query);
    if (key.has_value()) turn(*key);
  });
}

void store_tokens(torch::Tensor& tokens, torch::Tensor& cache, torch::Tensor& slots) {
  const int width = tokens[0].numel();
  ENGINE_DISPATCH(tokens.scalar_type(), "store_tokens", [&] {
    engine::store_kernel<scalar_t><<<slots.size(0), 32>>>(tokens.data_ptr<scalar_t>(), cache.data_ptr<scalar_t>(), slots.data_ptr<int64_t>(), width);
  });
}
'''
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops, cache_ops = t.ops.wb_engine, t.ops.wb_engine_cache
    for dtype, tol in ((np.float32, 1e-5), (np.float16, 4e-3)):
        for shape in ((5, 62), (2, 3, 131), (0, 8)):
            x, w = t.rng.standard_normal(shape).astype(dtype), t.rng.standard_normal(shape[-1]).astype(dtype)
            X = x.astype(np.float64)
            out = t(np.zeros(shape, dtype))
            assert ops.rms_norm(out, t(x), t(w), 1e-6) is None
            t.close(out, X / np.sqrt((X * X).mean(-1, keepdims=True) + 1e-6) * w, rtol=tol)
            gated = t.rng.standard_normal((*shape[:-1], 2 * shape[-1])).astype(dtype)
            g, u = np.split(gated.astype(np.float64), 2, -1)
            ops.silu_and_mul(result=out, input=t(gated))
            t.close(out, g / (1 + np.exp(-g)) * u, rtol=tol, atol=1e-5)
        angles = np.outer(np.arange(50), 10000.0 ** -(np.arange(0, 8, 2) / 8))
        table = np.concatenate([np.cos(angles), np.sin(angles)], -1).astype(dtype)
        pos = t.rng.integers(0, 50, 7)
        c, s = (part[pos][:, None].astype(np.float64) for part in np.split(table, 2, -1))

        def rotated(x, halves):
            x = x.astype(np.float64).reshape(7, -1, 12)
            i, j = (np.s_[..., :4], np.s_[..., 4:8]) if halves else (np.s_[..., 0:8:2], np.s_[..., 1:8:2])
            x[i], x[j] = x[i] * c - x[j] * s, x[j] * c + x[i] * s
            return x.reshape(7, -1)

        for halves in (True, False):
            q, k = t.rng.standard_normal((7, 36)).astype(dtype), t.rng.standard_normal((7, 12)).astype(dtype)
            Q, K = t(q), t(k)
            assert ops.rotate(Q, K, t(pos), t(table), 12, halves=halves) is None
            t.close(Q, rotated(q, halves), rtol=tol, atol=tol)
            t.close(K, rotated(k, halves), rtol=tol, atol=tol)
            Q = t(q)
            ops.rotate(Q, None, t(pos), t(table), head_size=12, halves=halves)
            t.close(Q, rotated(q, halves), rtol=tol, atol=tol)
        tokens = t.rng.standard_normal((5, 3, 4)).astype(dtype)
        slots, want = np.array([17, 2, -1, 0, 9]), np.zeros((5, 4, 3, 4), dtype)
        want.reshape(20, 3, 4)[slots[slots >= 0]] = tokens[slots >= 0]
        cache = t(np.zeros((5, 4, 3, 4), dtype))
        cache_ops.store_tokens(t(tokens), cache, t(slots))
        t.close(cache, want, rtol=0, atol=0)
    assert [cache_ops.padded_size(n) for n in (0, 1, 16, 33)] == [0, 16, 16, 48] and cache_ops.padded_size(7, block=5) == 10
    x = t(np.zeros((2, 4)))
    with t.raises(RuntimeError, '"rms_norm" not implemented for \'Double\''):
        ops.rms_norm(x, x, t(np.zeros(4)), 1e-6)
    with t.raises(RuntimeError, "weight has 3 elements, rows have 4"):
        ops.rms_norm(x, x, t(np.zeros(3)), 1e-6)
    with t.raises(RuntimeError, "block must be positive"):
        cache_ops.padded_size(3, 0)
    with t.raises(t.argument_error):
        ops.silu_and_mul(x)

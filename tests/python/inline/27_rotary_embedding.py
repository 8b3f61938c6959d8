"""Rotary position embedding in place for query and key, neox and interleaved layouts via a bool template parameter, inference style."""
CPP = r'''
void rotary_(torch::Tensor& positions, torch::Tensor& query, torch::Tensor& key, int64_t head_size, torch::Tensor& cos_sin_cache, bool is_neox);
torch::Tensor make_cache(int64_t max_position, int64_t rot_dim, double base) {
  auto exponent = torch::arange(0, rot_dim, 2, torch::kFloat64) / static_cast<double>(rot_dim);
  auto inv_freq = 1.0 / torch::pow(base, exponent);
  auto pos = torch::arange(max_position, torch::TensorOptions().dtype(torch::kFloat64));
  auto angles = torch::outer(pos, inv_freq);
  return torch::cat({angles.cos(), angles.sin()}, -1).to(torch::kFloat32);
}
'''
CUDA = r'''
#include <torch/all.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t, bool IS_NEOX>
inline __device__ void apply_token_rotary(scalar_t* __restrict__ arr, const scalar_t* __restrict__ cos_ptr,
                                          const scalar_t* __restrict__ sin_ptr, int rot_offset, int embed_dim) {
  int x_index, y_index;
  scalar_t c, s;
  if (IS_NEOX) {
    x_index = rot_offset;
    y_index = embed_dim + rot_offset;
    c = __ldg(cos_ptr + x_index);
    s = __ldg(sin_ptr + x_index);
  } else {
    x_index = 2 * rot_offset;
    y_index = 2 * rot_offset + 1;
    c = __ldg(cos_ptr + x_index / 2);
    s = __ldg(sin_ptr + x_index / 2);
  }
  const scalar_t x = arr[x_index], y = arr[y_index];
  arr[x_index] = x * c - y * s;
  arr[y_index] = y * c + x * s;
}

template <typename scalar_t, bool IS_NEOX>
__global__ void rotary_kernel(const int64_t* __restrict__ positions, scalar_t* __restrict__ query, scalar_t* __restrict__ key,
                              const scalar_t* __restrict__ cache, const int rot_dim, const int64_t q_stride, const int64_t k_stride,
                              const int num_heads, const int num_kv_heads, const int head_size) {
  const int token = blockIdx.x;
  const scalar_t* cache_ptr = cache + positions[token] * rot_dim;
  const int embed_dim = rot_dim / 2;
  for (int i = threadIdx.x; i < num_heads * embed_dim; i += blockDim.x)
    apply_token_rotary<scalar_t, IS_NEOX>(query + token * q_stride + i / embed_dim * head_size, cache_ptr, cache_ptr + embed_dim, i % embed_dim, embed_dim);
  for (int i = threadIdx.x; i < num_kv_heads * embed_dim; i += blockDim.x)
    apply_token_rotary<scalar_t, IS_NEOX>(key + token * k_stride + i / embed_dim * head_size, cache_ptr, cache_ptr + embed_dim, i % embed_dim, embed_dim);
}

void rotary_(torch::Tensor& positions, torch::Tensor& query, torch::Tensor& key, int64_t head_size, torch::Tensor& cos_sin_cache, bool is_neox) {
  const int64_t num_tokens = query.numel() / query.size(-1);
  const int rot_dim = cos_sin_cache.size(1);
  const int num_heads = query.size(-1) / head_size;
  const int num_kv_heads = key.size(-1) / head_size;
  dim3 grid(num_tokens), block(std::min<int64_t>(num_heads * rot_dim / 2, 512));
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES(query.scalar_type(), "rotary", [&] {
    auto launch = [&](auto kernel) {
      kernel<<<grid, block, 0, stream>>>(positions.data_ptr<int64_t>(), query.data_ptr<scalar_t>(), key.data_ptr<scalar_t>(),
                                         cos_sin_cache.data_ptr<scalar_t>(), rot_dim, query.stride(-2), key.stride(-2), num_heads, num_kv_heads, head_size);
    };
    if (is_neox) launch(rotary_kernel<scalar_t, true>);
    else launch(rotary_kernel<scalar_t, false>);
  });
}
'''
FUNCTIONS = ["rotary_", "make_cache"]


def check(m, t):
    import numpy as np

    angles = np.outer(np.arange(50), 10000.0 ** -(np.arange(0, 8, 2) / 8))
    cache = np.concatenate([np.cos(angles), np.sin(angles)], -1)
    t.close(m.make_cache(50, 8, 10000.0), cache)
    pos = t.rng.integers(0, 50, 7)

    def ref(x, neox):
        x = x.astype(np.float64).reshape(7, -1, 12).copy()
        a, b = (np.s_[..., :4], np.s_[..., 4:8]) if neox else (np.s_[..., 0:8:2], np.s_[..., 1:8:2])
        c, s = np.cos(angles)[pos][:, None], np.sin(angles)[pos][:, None]
        x[a], x[b] = x[a] * c - x[b] * s, x[b] * c + x[a] * s
        return x.reshape(7, -1)

    for neox in (True, False):
        q = t.rng.standard_normal((7, 36)).astype(np.float32)
        k = t.rng.standard_normal((7, 12)).astype(np.float32)
        tq, tk = t(q), t(k)
        assert m.rotary_(t(pos), tq, tk, 12, t(cache.astype(np.float32)), neox) is None
        t.close(tq, ref(q, neox), atol=1e-6)
        t.close(tk, ref(k, neox), atol=1e-6)

"""Multi-resolution hash grid encoding (graphics repositories): templates over dimension and channels, nested switches by free functions, 32-bit hashing."""
CPP = r'''
#include <torch/extension.h>
at::Tensor grid_encode(const at::Tensor inputs, const at::Tensor embeddings, const at::Tensor offsets, const float per_level_scale, const uint32_t base_resolution);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("grid_encode", &grid_encode, "grid_encode (CUDA)");
}
'''
CUDA = r'''
#include <cuda.h>
#include <cuda_runtime.h>
#include <ATen/cuda/CUDAContext.h>
#include <torch/torch.h>
#include <algorithm>
#include <stdexcept>
#include <stdint.h>

#define CHECK_IS_INT(x) TORCH_CHECK(x.scalar_type() == at::ScalarType::Int, #x " must be an int tensor")

template <uint32_t D>
__device__ uint32_t fast_hash(const uint32_t pos_grid[D]) {
    static_assert(D <= 4, "fast_hash only hashes up to 4 dimensions");
    // the first factor is 1: memory coherence; the others are large primes
    constexpr uint32_t primes[4] = { 1u, 2654435761u, 805459861u, 3674653429u };
    uint32_t result = 0;
    #pragma unroll
    for (uint32_t i = 0; i < D; ++i) {
        result ^= pos_grid[i] * primes[i];
    }
    return result;
}

template <uint32_t D, uint32_t C>
__device__ uint32_t get_grid_index(const uint32_t ch, const uint32_t hashmap_size, const uint32_t resolution, const uint32_t pos_grid[D]) {
    uint32_t stride = 1;
    uint32_t index = 0;
    #pragma unroll
    for (uint32_t d = 0; d < D && stride <= hashmap_size; d++) {
        index += pos_grid[d] * stride;
        stride *= (resolution + 1);
    }
    if (stride > hashmap_size) {  // does not fit: hash
        index = fast_hash<D>(pos_grid);
    }
    return (index % hashmap_size) * C + ch;
}

template <typename scalar_t, uint32_t D, uint32_t C>
__global__ void kernel_grid(const float * __restrict__ inputs, const scalar_t * __restrict__ grid, const int * __restrict__ offsets,
                            scalar_t * __restrict__ outputs, const uint32_t B, const uint32_t L, const float S, const uint32_t H) {
    const uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= B) return;
    const uint32_t level = blockIdx.y;
    grid += (uint32_t)offsets[level] * C;
    inputs += b * D;
    outputs += level * B * C + b * C;

    bool flag_oob = false;
    #pragma unroll
    for (uint32_t d = 0; d < D; d++) {
        if (inputs[d] < 0 || inputs[d] > 1) flag_oob = true;
    }
    if (flag_oob) {
        #pragma unroll
        for (uint32_t ch = 0; ch < C; ch++) outputs[ch] = 0;
        return;
    }

    const uint32_t hashmap_size = offsets[level + 1] - offsets[level];
    uint32_t resolution = H;
    for (uint32_t l = 0; l < level; ++l) resolution = (uint32_t)(resolution * S);

    float pos[D];
    uint32_t pos_grid[D];
    #pragma unroll
    for (uint32_t d = 0; d < D; d++) {
        pos[d] = inputs[d] * (float)(resolution - 1) + 0.5f;
        pos_grid[d] = floorf(pos[d]);
        pos[d] -= (float)pos_grid[d];
        pos[d] = pos[d] * pos[d] * (3 - 2 * pos[d]);   // smoothstep
    }

    scalar_t results[C] = {0};
    #pragma unroll
    for (uint32_t idx = 0; idx < (1 << D); idx++) {
        float w = 1;
        uint32_t pos_grid_local[D];
        #pragma unroll
        for (uint32_t d = 0; d < D; d++) {
            if ((idx & (1 << d)) == 0) {
                w *= 1 - pos[d];
                pos_grid_local[d] = pos_grid[d];
            } else {
                w *= pos[d];
                pos_grid_local[d] = pos_grid[d] + 1;
            }
        }
        const uint32_t index = get_grid_index<D, C>(0, hashmap_size, resolution, pos_grid_local);
        #pragma unroll
        for (uint32_t ch = 0; ch < C; ch++) results[ch] += w * grid[index + ch];
    }
    #pragma unroll
    for (uint32_t ch = 0; ch < C; ch++) outputs[ch] = results[ch];
}

template <typename scalar_t, uint32_t D>
void kernel_grid_wrapper(const float *inputs, const scalar_t *embeddings, const int *offsets, scalar_t *outputs, const uint32_t B, const uint32_t C, const uint32_t L, const float S, const uint32_t H) {
    static constexpr uint32_t N_THREAD = 64;
    const dim3 blocks = { (B + N_THREAD - 1) / N_THREAD, L, 1 };
    switch (C) {
        case 1: kernel_grid<scalar_t, D, 1><<<blocks, N_THREAD>>>(inputs, embeddings, offsets, outputs, B, L, S, H); break;
        case 2: kernel_grid<scalar_t, D, 2><<<blocks, N_THREAD>>>(inputs, embeddings, offsets, outputs, B, L, S, H); break;
        case 4: kernel_grid<scalar_t, D, 4><<<blocks, N_THREAD>>>(inputs, embeddings, offsets, outputs, B, L, S, H); break;
        default: throw std::runtime_error{"GridEncoding: C must be 1, 2, or 4."};
    }
}

at::Tensor grid_encode(const at::Tensor inputs, const at::Tensor embeddings, const at::Tensor offsets, const float per_level_scale, const uint32_t base_resolution) {
    CHECK_IS_INT(offsets);
    const uint32_t B = inputs.size(0), D = inputs.size(1), C = embeddings.size(1), L = offsets.size(0) - 1;
    at::Tensor outputs = torch::empty({L, B, C}, embeddings.options());
    if (B > 0) {
        AT_DISPATCH_FLOATING_TYPES(embeddings.scalar_type(), "grid_encode", ([&] {
            switch (D) {
                case 2: kernel_grid_wrapper<scalar_t, 2>(inputs.data_ptr<float>(), embeddings.data_ptr<scalar_t>(), offsets.data_ptr<int>(), outputs.data_ptr<scalar_t>(), B, C, L, per_level_scale, base_resolution); break;
                case 3: kernel_grid_wrapper<scalar_t, 3>(inputs.data_ptr<float>(), embeddings.data_ptr<scalar_t>(), offsets.data_ptr<int>(), outputs.data_ptr<scalar_t>(), B, C, L, per_level_scale, base_resolution); break;
                default: throw std::runtime_error{"GridEncoding: D must be 2 or 3."};
            }
        }));
    }
    return outputs.permute({1, 0, 2}).reshape({B, L * C});
}
'''
FUNCTIONS = None


def check(m, t):
    import itertools

    import numpy as np

    primes = [1, 2654435761, 805459861]
    for D, C, dtype in ((2, 2, np.float32), (3, 4, np.float64), (3, 1, np.float32)):
        H, S, L, cap = 5, 1.5, 4, 211
        res = [H]
        for _ in range(L - 1):
            res.append(int(res[-1] * S))
        sizes = [min(cap, (r + 1) ** D) for r in res]
        assert sizes[-1] == cap or D == 2
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        x = (t.rng.integers(0, 1025, (101, D)) / 1024).astype(np.float32)  # the products with the resolutions are exact
        x[7, 0], x[8, 1] = 1.5, -0.25
        table = t.rng.standard_normal((offsets[-1], C)).astype(dtype)
        want = np.zeros((101, L, C))
        for b, level in itertools.product(range(101), range(L)):
            if (x[b] < 0).any() or (x[b] > 1).any():
                continue
            pos = x[b].astype(np.float64) * (res[level] - 1) + 0.5
            cell = np.floor(pos).astype(int)
            f = pos - cell
            f = f * f * (3 - 2 * f)
            for corner in itertools.product((0, 1), repeat=D):
                p = [int(c) for c in cell + corner]
                if (res[level] + 1) ** D <= sizes[level]:
                    i = sum(v * (res[level] + 1) ** d for d, v in enumerate(p))
                else:
                    i = 0
                    for v, prime in zip(p, primes):
                        i ^= v * prime % 2**32
                w = np.prod([f[d] if corner[d] else 1 - f[d] for d in range(D)])
                want[b, level] += w * table[offsets[level] + i % sizes[level]]
        got = m.grid_encode(t(x), t(table), t(offsets), S, H)
        t.close(got, want.reshape(101, -1), rtol=1e-5, atol=1e-5)  # the weights are floats in any case
    with t.raises(RuntimeError, "C must be 1, 2, or 4."):
        m.grid_encode(t(x), t(np.zeros((offsets[-1], 3), np.float32)), t(offsets), S, H)
    with t.raises(RuntimeError, "offsets must be an int tensor"):
        m.grid_encode(t(x), t(table), t(offsets.astype(np.int64)), S, H)

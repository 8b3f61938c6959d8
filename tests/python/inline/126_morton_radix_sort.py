"""Morton codes of points and an LSD radix sort of them, four bits a pass: block histograms, a serial scan by one thread, a stable scatter by ballots."""
CPP = r'''
torch::Tensor morton3d(torch::Tensor coords);
torch::Tensor morton3d_invert(torch::Tensor codes);
std::vector<torch::Tensor> radix_sort(torch::Tensor keys, torch::Tensor values);
'''
CUDA = r'''
#include <torch/extension.h>
#include <cstdint>
#include <utility>

__host__ __device__ inline uint32_t expand_bits(uint32_t v) {
	v = (v * 0x00010001u) & 0xFF0000FFu;
	v = (v * 0x00000101u) & 0x0F00F00Fu;
	v = (v * 0x00000011u) & 0xC30C30C3u;
	v = (v * 0x00000005u) & 0x49249249u;
	return v;
}

__host__ __device__ inline uint32_t squeeze_bits(uint32_t x) {
	x = x & 0x49249249;
	x = (x | (x >> 2)) & 0xc30c30c3;
	x = (x | (x >> 4)) & 0x0f00f00f;
	x = (x | (x >> 8)) & 0xff0000ff;
	x = (x | (x >> 16)) & 0x0000ffff;
	return x;
}

__global__ void kernel_morton3D(const int* coords, const uint32_t N, int* indices) {
	const uint32_t n = threadIdx.x + blockIdx.x * blockDim.x;
	if (n >= N) return;
	coords += n * 3;
	indices[n] = expand_bits(coords[0]) | (expand_bits(coords[1]) << 1) | (expand_bits(coords[2]) << 2);
}

__global__ void kernel_morton3D_invert(const int* indices, const uint32_t N, int3* coords) {
	const uint32_t n = threadIdx.x + blockIdx.x * blockDim.x;
	if (n >= N) return;
	const uint32_t ind = indices[n];
	coords[n] = make_int3(squeeze_bits(ind), squeeze_bits(ind >> 1), squeeze_bits(ind >> 2));
}

constexpr int RADIX = 16, WARPS = 4, THREADS = WARPS * 32;

__device__ __forceinline__ int digit_of(uint32_t key, int shift) { return (key >> shift) & (RADIX - 1); }

// counts[digit][block]
__global__ void count_kernel(const uint32_t* keys, int n, int shift, int* counts) {
	__shared__ int local[RADIX];
	if (threadIdx.x < RADIX) local[threadIdx.x] = 0;
	__syncthreads();
	const int i = blockIdx.x * THREADS + threadIdx.x;
	if (i < n) atomicAdd(&local[digit_of(keys[i], shift)], 1);
	__syncthreads();
	if (threadIdx.x < RADIX) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

__global__ void offsets_kernel(int* counts, int n) {
	int sum = 0;
	for (int i = 0; i < n; ++i) {
		const int c = counts[i];
		counts[i] = sum;
		sum += c;
	}
}

__global__ void scatter_kernel(const uint32_t* keys, const int* values, uint32_t* keys_out, int* values_out, int n, int shift, const int* offsets) {
	__shared__ int per_warp[WARPS][RADIX];
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * THREADS + threadIdx.x;
	const bool active = i < n;
	const uint32_t key = active ? keys[i] : 0;
	const int digit = active ? digit_of(key, shift) : -1;
	int rank = 0;
	for (int d = 0; d < RADIX; ++d) {
		const unsigned same = __ballot_sync(0xffffffff, digit == d);
		if (digit == d) rank = __popc(same & ((1u << lane) - 1));
		if (lane == 0) per_warp[warp][d] = __popc(same);
	}
	__syncthreads();
	if (!active) return;
	for (int w = 0; w < warp; ++w) rank += per_warp[w][digit];
	const int at = offsets[digit * gridDim.x + blockIdx.x] + rank;
	keys_out[at] = key;
	values_out[at] = values[i];
}

template <typename T> T* ptr(torch::Tensor& t) { return reinterpret_cast<T*>(t.data_ptr<int>()); }

torch::Tensor morton3d(torch::Tensor coords) {
	TORCH_CHECK(coords.scalar_type() == torch::kInt && coords.size(-1) == 3, "coords must be int triples");
	const uint32_t N = coords.size(0);
	auto out = torch::empty({N}, coords.options());
	if (N) kernel_morton3D<<<(N + 127) / 128, 128>>>(coords.data_ptr<int>(), N, out.data_ptr<int>());
	return out;
}

torch::Tensor morton3d_invert(torch::Tensor codes) {
	const uint32_t N = codes.size(0);
	auto out = torch::empty({N, 3}, codes.options());
	if (N) kernel_morton3D_invert<<<(N + 127) / 128, 128>>>(codes.data_ptr<int>(), N, ptr<int3>(out));
	return out;
}

std::vector<torch::Tensor> radix_sort(torch::Tensor keys, torch::Tensor values) {
	const int n = keys.numel(), blocks = (n + THREADS - 1) / THREADS;
	TORCH_CHECK(values.numel() == n, "one value for each key");
	auto k0 = keys.clone(), v0 = values.clone(), k1 = torch::empty_like(k0), v1 = torch::empty_like(v0);
	auto counts = torch::empty({RADIX * blocks}, keys.options());
	for (int shift = 0; n > 0 && shift < 32; shift += 4) {
		count_kernel<<<blocks, THREADS>>>(ptr<uint32_t>(k0), n, shift, ptr<int>(counts));
		offsets_kernel<<<1, 1>>>(ptr<int>(counts), RADIX * blocks);
		scatter_kernel<<<blocks, THREADS>>>(ptr<uint32_t>(k0), ptr<int>(v0), ptr<uint32_t>(k1), ptr<int>(v1), n, shift, ptr<int>(counts));
		std::swap(k0, k1);
		std::swap(v0, v1);
	}
	return {k0, v0};
}
'''
FUNCTIONS = ["morton3d", "morton3d_invert", "radix_sort"]


def check(m, t):
    import numpy as np

    c = t.rng.integers(0, 1024, (203, 3)).astype(np.int32)
    want = np.zeros(203, np.int64)
    for bit in range(10):
        for a in range(3):
            want |= (c[:, a].astype(np.int64) >> bit & 1) << (3 * bit + a)
    codes = m.morton3d(t(c))
    t.close(codes, want.astype(np.int32))
    t.close(m.morton3d_invert(codes), c)
    for n in (1, 37, 128, 1003):
        k = t.rng.integers(0, 2**32, n, dtype=np.uint32)
        k[n // 2 :] &= 0xFF  # equal keys: the sort is stable
        order = np.argsort(k, kind="stable")
        keys, values = m.radix_sort(t(k.view(np.int32)), t(np.arange(n, dtype=np.int32)))
        t.close(keys, k[order].view(np.int32))
        t.close(values, order)
    assert t.np(m.morton3d(t(c[:0].copy()))).shape == (0,)
    assert t.np(m.radix_sort(t(np.zeros(0, np.int32)), t(np.zeros(0, np.int32)))[0]).shape == (0,)
    with t.raises(RuntimeError, "coords must be int triples"):
        m.morton3d(t(c.astype(np.int64)))
    with t.raises(RuntimeError, "one value for each key"):
        m.radix_sort(t(np.zeros(3, np.int32)), t(np.zeros(2, np.int32)))

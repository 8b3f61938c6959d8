"""Top-k then top-p sampling from logits with the uniforms given: one block per row, bitonic sort of pairs in dynamic shared memory, a scan."""
CPP = "std::vector<at::Tensor> sample_top_k_top_p(const at::Tensor& logits, const at::Tensor& uniforms, int64_t top_k, double top_p, double temperature);"
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

struct Entry {
    float logit;
    int token;
    __host__ __device__ __forceinline__ bool before(const Entry& o) const { return logit > o.logit || (logit == o.logit && token < o.token); }
};

template <int THREADS>
__device__ void bitonic_sort(Entry* e, int n) {
    for (int k = 2; k <= n; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) {
            for (int i = threadIdx.x; i < n; i += THREADS) {
                const int other = i ^ j;
                if (other > i) {
                    const bool up = (i & k) == 0;
                    if (up ? e[other].before(e[i]) : e[i].before(e[other])) {
                        const Entry tmp = e[i];
                        e[i] = e[other];
                        e[other] = tmp;
                    }
                }
            }
            __syncthreads();
        }
    }
}

template <int THREADS>
__global__ void sample_kernel(const float* __restrict__ logits, const float* __restrict__ u, int64_t* __restrict__ picked, int* __restrict__ kept,
                              int vocab, int padded, int top_k, float top_p, float inv_temperature) {
    extern __shared__ __align__(8) unsigned char storage[];
    Entry* entries = reinterpret_cast<Entry*>(storage);
    const float* row = logits + (size_t)blockIdx.x * vocab;
    for (int i = threadIdx.x; i < padded; i += THREADS)
        entries[i] = i < vocab ? Entry{row[i] * inv_temperature, i} : Entry{-INFINITY, i};
    __syncthreads();
    bitonic_sort<THREADS>(entries, padded);

    if (threadIdx.x == 0) {
        const int k = top_k > 0 ? min(top_k, vocab) : vocab;
        const float top = entries[0].logit;
        float total = 0.f;
        for (int i = 0; i < k; ++i) total += __expf(entries[i].logit - top);
        float mass = 0.f;
        int n = 0;
        while (n < k && mass < top_p * total) mass += __expf(entries[n++].logit - top);
        float target = u[blockIdx.x] * mass, running = 0.f;
        int choice = n - 1;
        for (int i = 0; i < n; ++i) {
            running += __expf(entries[i].logit - top);
            if (running > target) { choice = i; break; }
        }
        picked[blockIdx.x] = entries[choice].token;
        kept[blockIdx.x] = n;
    }
}

static int next_pow2(int n) {
    int p = 1;
    while (p < n) p <<= 1;
    return p;
}

std::vector<at::Tensor> sample_top_k_top_p(const at::Tensor& logits, const at::Tensor& uniforms, int64_t top_k, double top_p, double temperature) {
    TORCH_CHECK(logits.dim() == 2, "logits must be 2-D, got ", logits.dim(), "-D");
    TORCH_CHECK(top_p > 0.0 && top_p <= 1.0, "top_p must be in (0, 1], got ", top_p);
    TORCH_CHECK(temperature > 0, "temperature must be positive");
    const int rows = logits.size(0), vocab = logits.size(1), padded = next_pow2(vocab);
    auto picked = at::empty({rows}, logits.options().dtype(at::kLong));
    auto kept = at::empty({rows}, logits.options().dtype(at::kInt));
    if (rows > 0) {
        constexpr int threads = 64;
        const size_t smem = padded * sizeof(Entry);
        sample_kernel<threads><<<rows, threads, smem, at::cuda::getCurrentCUDAStream()>>>(
            logits.const_data_ptr<float>(), uniforms.const_data_ptr<float>(), picked.mutable_data_ptr<int64_t>(), kept.mutable_data_ptr<int>(),
            vocab, padded, static_cast<int>(top_k), static_cast<float>(top_p), 1.0f / static_cast<float>(temperature));
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    return {picked, kept};
}
'''
FUNCTIONS = ["sample_top_k_top_p"]


def check(m, t):
    import numpy as np

    for rows, vocab in ((9, 37), (5, 200), (2, 1)):
        x = (t.rng.integers(-20, 21, (rows, vocab)) / 8).astype(np.float32)  # with ties: the smaller token goes first
        u = t.rng.random(rows).astype(np.float32)
        for k, p, temperature in ((0, 0.9, 1.0), (10, 1.0, 0.7), (5, 0.5, 2.0), (1, 1.0, 1.0)):
            picked, kept = (t.np(y) for y in m.sample_top_k_top_p(t(x), t(u), k, p, temperature))
            for r in range(rows):
                order = np.argsort(-x[r], kind="stable")[: k or vocab]
                e = np.exp(x[r, order].astype(np.float64) / temperature)
                c = np.cumsum(e / e.sum())
                n = kept[r]
                slack = 1e-5  # float sums of up to 200 terms decide the cut and the pick
                assert n == len(order) or c[n - 1] >= p - slack
                assert n == 1 or c[n - 2] < p + slack
                i = list(order).index(picked[r])
                assert i < n and c[i] >= u[r] * c[n - 1] - slack and (i == 0 or c[i - 1] <= u[r] * c[n - 1] + slack)
    assert t.np(m.sample_top_k_top_p(t(x[:0].copy()), t(u[:0].copy()), 0, 0.5, 1.0)[0]).shape == (0,)
    with t.raises(RuntimeError, "top_p must be in (0, 1], got 1.5"):
        m.sample_top_k_top_p(t(x), t(u), 0, 1.5, 1.0)

"""Inclusive/exclusive scan: Blelloch in blocks, scan of the block sums by recursion, then the add; homework style."""
CPP = "torch::Tensor scan(torch::Tensor x, bool exclusive);"
CUDA = r'''
#define BLOCK 128   // threads; each block scans 2*BLOCK elements

template <typename T>
__global__ void scan_blocks(const T* in, T* out, T* sums, int n)
{
    extern __shared__ char scan_smem[];
    T* temp = (T*)scan_smem;
    const int tid = threadIdx.x;
    const int base = blockIdx.x * 2 * BLOCK;
    int offset = 1;
    temp[2 * tid] = base + 2 * tid < n ? in[base + 2 * tid] : T(0);
    temp[2 * tid + 1] = base + 2 * tid + 1 < n ? in[base + 2 * tid + 1] : T(0);

    for (int d = BLOCK; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1;
            int bi = offset * (2 * tid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (tid == 0) {
        sums[blockIdx.x] = temp[2 * BLOCK - 1];
        temp[2 * BLOCK - 1] = 0;
    }
    for (int d = 1; d < 2 * BLOCK; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1;
            int bi = offset * (2 * tid + 2) - 1;
            T t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    if (base + 2 * tid < n) out[base + 2 * tid] = temp[2 * tid];
    if (base + 2 * tid + 1 < n) out[base + 2 * tid + 1] = temp[2 * tid + 1];
}

template <typename T>
__global__ void add_offsets(T* out, const T* offsets, const T* in, int n, bool exclusive)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += offsets[i / (2 * BLOCK)] + (exclusive ? T(0) : in[i]);
}

template <typename T>
void scan_impl(const T* in, T* out, int n, bool exclusive, const torch::TensorOptions& options)
{
    if (n == 0) return;
    const int blocks = (n + 2 * BLOCK - 1) / (2 * BLOCK);
    auto sums = torch::empty({blocks}, options);
    auto offsets = torch::zeros({blocks}, options);
    scan_blocks<T><<<blocks, BLOCK, 2 * BLOCK * sizeof(T)>>>(in, out, sums.data_ptr<T>(), n);
    if (blocks > 1) scan_impl<T>(sums.data_ptr<T>(), offsets.data_ptr<T>(), blocks, true, options);
    add_offsets<T><<<(n + 255) / 256, 256>>>(out, offsets.data_ptr<T>(), in, n, exclusive);
}

torch::Tensor scan(torch::Tensor x, bool exclusive)
{
    TORCH_CHECK(x.dim() == 1 && x.is_contiguous(), "scan expects a contiguous vector");
    auto out = torch::empty_like(x);
    if (x.scalar_type() == torch::kFloat32) {
        scan_impl<float>(x.data_ptr<float>(), out.data_ptr<float>(), x.size(0), exclusive, x.options());
    } else if (x.scalar_type() == torch::kInt32) {
        scan_impl<int>(x.data_ptr<int>(), out.data_ptr<int>(), x.size(0), exclusive, x.options());
    } else {
        TORCH_CHECK(false, "scan: unsupported dtype ", x.scalar_type());
    }
    return out;
}
'''
FUNCTIONS = ["scan"]


def check(m, t):
    import numpy as np

    for n in (1, 255, 256, 257, 1003, 70001):
        x = t.rng.integers(-50, 50, n).astype(np.int32)
        t.close(m.scan(t(x), False), np.cumsum(x).astype(np.int32))
        t.close(m.scan(t(x), True), (np.cumsum(x) - x).astype(np.int32))
    x = t.rng.random(1003).astype(np.float32)
    t.close(m.scan(t(x), False), np.cumsum(x.astype(np.float64)), rtol=1e-5)
    assert t.np(m.scan(t(np.zeros(0, np.float32)), True)).shape == (0,)
    with t.raises(RuntimeError, "scan: unsupported dtype Long"):
        m.scan(t(np.zeros(3, np.int64)), True)

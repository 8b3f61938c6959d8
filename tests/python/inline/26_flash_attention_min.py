"""Minimal flash-attention forward: tiles of K and V in one dynamic shared buffer, running max and sum per row."""
CPP = "torch::Tensor flash_fwd(torch::Tensor Q, torch::Tensor K, torch::Tensor V);"
CUDA = r'''
#include <torch/types.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <math.h>

__global__
void forward_kernel(const float* Q, const float* K, const float* V, const int N, const int d,
                    const int Tc, const int Tr, const int Bc, const int Br, const float softmax_scale,
                    float* l, float *m, float* O) {
    int tx = threadIdx.x;
    int bx = blockIdx.x; int by = blockIdx.y;

    int qkv_offset = (bx * gridDim.y * N * d) + (by * N * d);
    int lm_offset = (bx * gridDim.y * N) + (by * N);

    extern __shared__ float sram[];
    float* Qi = sram;
    float* Kj = &sram[Br * d];
    float* Vj = &sram[Br * d + Bc * d];
    float* S = &sram[Br * d + 2 * Bc * d];

    for (int j = 0; j < Tc; j++) {
        const int cols = min(Bc, N - j * Bc);
        for (int i = tx; i < cols * d; i += blockDim.x) {
            Kj[i] = K[qkv_offset + j * Bc * d + i];
            Vj[i] = V[qkv_offset + j * Bc * d + i];
        }
        __syncthreads();

        for (int i = 0; i < Tr; i++) {
            const int row = i * Br + tx;
            if (row < N) {
                for (int x = 0; x < d; x++) Qi[(tx * d) + x] = Q[qkv_offset + row * d + x];
                float row_m_prev = m[lm_offset + row];
                float row_l_prev = l[lm_offset + row];

                float row_m = -INFINITY;
                for (int y = 0; y < cols; y++) {
                    float sum = 0;
                    for (int x = 0; x < d; x++) sum += Qi[(tx * d) + x] * Kj[(y * d) + x];
                    sum *= softmax_scale;
                    S[(Bc * tx) + y] = sum;
                    if (sum > row_m) row_m = sum;
                }
                float row_l = 0;
                for (int y = 0; y < cols; y++) {
                    S[(Bc * tx) + y] = __expf(S[(Bc * tx) + y] - row_m);
                    row_l += S[(Bc * tx) + y];
                }
                float row_m_new = max(row_m_prev, row_m);
                float row_l_new = (__expf(row_m_prev - row_m_new) * row_l_prev) + (__expf(row_m - row_m_new) * row_l);
                for (int x = 0; x < d; x++) {
                    float pv = 0;
                    for (int y = 0; y < cols; y++) pv += S[(Bc * tx) + y] * Vj[(y * d) + x];
                    O[qkv_offset + row * d + x] = (1 / row_l_new)
                        * ((row_l_prev * __expf(row_m_prev - row_m_new) * O[qkv_offset + row * d + x])
                        + (__expf(row_m - row_m_new) * pv));
                }
                m[lm_offset + row] = row_m_new;
                l[lm_offset + row] = row_l_new;
            }
        }
        __syncthreads();
    }
}

torch::Tensor flash_fwd(torch::Tensor Q, torch::Tensor K, torch::Tensor V) {
    const int Bc = 16; const int Br = 16;
    const int B = Q.size(0); const int nh = Q.size(1);
    const int N = Q.size(2); const int d = Q.size(3);
    const int Tc = ceil((float) N / Bc); const int Tr = ceil((float) N / Br);
    const float softmax_scale = 1.0 / sqrt(d);

    auto O = torch::zeros_like(Q);
    auto l = torch::zeros({B, nh, N});
    auto m = torch::full({B, nh, N}, -INFINITY);
    torch::Device device(Q.device());
    l = l.to(device); m = m.to(device);

    const int sram_size = (Br * d + 2 * Bc * d + Bc * Br) * sizeof(float);
    int max_sram_size;
    cudaDeviceGetAttribute(&max_sram_size, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    TORCH_CHECK(sram_size <= max_sram_size, "needs ", sram_size, " bytes of shared memory, the device has ", max_sram_size);

    dim3 grid_dim(B, nh);
    dim3 block_dim(Br);
    forward_kernel<<<grid_dim, block_dim, sram_size>>>(
        Q.data_ptr<float>(), K.data_ptr<float>(), V.data_ptr<float>(),
        N, d, Tc, Tr, Bc, Br, softmax_scale,
        l.data_ptr<float>(), m.data_ptr<float>(), O.data_ptr<float>()
    );
    return O;
}
'''
FUNCTIONS = ["flash_fwd"]


def check(m, t):
    import numpy as np

    for n, d in ((5, 8), (37, 12), (64, 32)):
        q, k, v = (t.rng.standard_normal((2, 3, n, d)).astype(np.float32) for _ in range(3))
        s = q.astype(np.float64) @ k.transpose(0, 1, 3, 2) / np.sqrt(d)
        p = np.exp(s - s.max(-1, keepdims=True))
        t.close(m.flash_fwd(t(q), t(k), t(v)), p / p.sum(-1, keepdims=True) @ v, rtol=1e-4, atol=1e-5)
    big = t(np.zeros((1, 1, 4, 4096), np.float32))
    with t.raises(RuntimeError, "bytes of shared memory, the device has"):
        m.flash_fwd(big, big, big)

"""Tiled shared-memory matmul, tile width as template parameter chosen by a switch on an int argument; PYBIND11 with _a literals."""
CPP = r'''
torch::Tensor tiled(torch::Tensor a, torch::Tensor b, int tile, bool transpose_b);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    using namespace pybind11::literals;
    m.doc() = "tiled matrix products";
    m.def("matmul", &tiled, "C = A @ B", "a"_a, "b"_a, "tile"_a = 16, "transpose_b"_a = false);
}
'''
CUDA = r'''
template <int TILE>
__global__ void matmul_tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        As[ty][tx] = (row < M && t * TILE + tx < K) ? A[row * K + t * TILE + tx] : 0.0f;
        Bs[ty][tx] = (col < N && t * TILE + ty < K) ? B[(t * TILE + ty) * N + col] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TILE; ++k) sum = fmaf(As[ty][k], Bs[k][tx], sum);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

template <int TILE>
void launch(const torch::Tensor& a, const torch::Tensor& b, torch::Tensor& c) {
    const int M = a.size(0), K = a.size(1), N = b.size(1);
    dim3 block(TILE, TILE, 1);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, 1);
    matmul_tiled<TILE><<<grid, block>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), M, N, K);
}

torch::Tensor tiled(torch::Tensor a, torch::Tensor b, int tile, bool transpose_b) {
    if (transpose_b) b = b.t();
    TORCH_CHECK_EQ(a.size(1), b.size(0));
    a = a.contiguous();
    b = b.contiguous();
    auto c = torch::empty({a.size(0), b.size(1)}, torch::TensorOptions().dtype(a.dtype()).device(a.device()));
    switch (tile) {
        case 4: launch<4>(a, b, c); break;
        case 8: launch<8>(a, b, c); break;
        case 16: launch<16>(a, b, c); break;
        case 32: launch<32>(a, b, c); break;
        default: throw std::invalid_argument("unsupported tile width " + std::to_string(tile));
    }
    return c;
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    a = t.rng.standard_normal((37, 21)).astype(np.float32)
    b = t.rng.standard_normal((21, 45)).astype(np.float32)
    want = a.astype(np.float64) @ b
    for tile in (4, 8, 16, 32):
        t.close(m.matmul(t(a), t(b), tile=tile), want, rtol=1e-4, atol=1e-5)
    t.close(m.matmul(t(a), t(np.ascontiguousarray(b.T)), transpose_b=True), want, rtol=1e-4, atol=1e-5)
    t.close(m.matmul(b=t(b), a=t(a)), want, rtol=1e-4, atol=1e-5)
    with t.raises(ValueError, "unsupported tile width 5"):
        m.matmul(t(a), t(b), 5)
    with t.raises(TypeError):
        m.matmul(t(a))
    assert "tiled matrix products" in (m.__doc__ or "")

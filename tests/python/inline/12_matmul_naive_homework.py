"""Naive matmul with a 2-D grid, course homework style: raw pointers, using namespace, error macro that exits with an exception."""
CPP = "at::Tensor matmul_naive(at::Tensor A, at::Tensor B);"
CUDA = r'''
#include <iostream>
#include <sstream>
#include <string>
using namespace std;

inline void gpuAssert(cudaError_t code, const char *file, int line) {
   if (code != cudaSuccess) {
      ostringstream msg;
      msg << "GPUassert: " << cudaGetErrorString(code) << " " << file << ":" << line << endl;
      throw runtime_error(msg.str());
   }
}
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }

inline unsigned int cdiv(unsigned int a, unsigned int b) { return (a + b - 1) / b; }

__global__ void matmul_k(float *A, float *B, float *C, int M, int K, int N) {
   int r = blockIdx.y*blockDim.y + threadIdx.y;
   int c = blockIdx.x*blockDim.x + threadIdx.x;
   if (r >= M || c >= N) return;
   float o = 0;
   for (int i = 0; i < K; ++i) o += A[r*K+i] * B[i*N+c];
   C[r*N+c] = o;
}

at::Tensor matmul_naive(at::Tensor A, at::Tensor B) {
   int M = A.size(0), K = A.size(1), N = B.size(1);
   TORCH_CHECK(K == B.size(0), "Size mismatch! ", K, " vs ", B.size(0));
   auto C = at::zeros({M, N}, A.options());
   dim3 tpb(16, 16);
   dim3 blocks(cdiv(N, tpb.x), cdiv(M, tpb.y));
   matmul_k<<<blocks, tpb>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), M, K, N);
   gpuErrchk( cudaPeekAtLastError() );
   gpuErrchk( cudaDeviceSynchronize() );
   return C;
}
'''
FUNCTIONS = ["matmul_naive"]


def check(m, t):
    import numpy as np

    for mm, kk, nn in ((37, 5, 19), (1, 1, 1), (17, 64, 33)):
        a = t.rng.standard_normal((mm, kk)).astype(np.float32)
        b = t.rng.standard_normal((kk, nn)).astype(np.float32)
        t.close(m.matmul_naive(t(a), t(b)), a.astype(np.float64) @ b, rtol=1e-4, atol=1e-5)  # K*eps with cancellation
    with t.raises(RuntimeError, "Size mismatch! 5 vs 4"):
        m.matmul_naive(t(np.zeros((3, 5), np.float32)), t(np.zeros((4, 2), np.float32)))

"""Group-wise 4-bit weights (GPTQ repositories): quantise and pack eight to an int32, unpack, and a matrix-vector product on the packed form."""
CPP = r'''
#include <torch/extension.h>
std::vector<torch::Tensor> quantize_pack(torch::Tensor w, int group_size);
torch::Tensor unpack(torch::Tensor packed, torch::Tensor scales, torch::Tensor zeros, int group_size);
void vecquant4matmul(torch::Tensor vec, torch::Tensor mat, torch::Tensor mul, torch::Tensor scales, torch::Tensor zeros, int group_size);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("quantize_pack", &quantize_pack, py::arg("w"), py::arg("group_size") = 32);
  m.def("unpack", &unpack, "int4 -> float");
  m.def("vecquant4matmul", &vecquant4matmul, "Vector 4-bit Quantized Matrix Multiplication (CUDA)");
}
'''
CUDA = r'''
#include <torch/all.h>
#include <cuda.h>
#include <cuda_runtime.h>

const int BLOCKWIDTH = 64;
#define PACK 8

// w [in, out] row major; every group of rows of one column has a scale and a zero
__global__ void quant_kernel(const float* __restrict__ w, int* __restrict__ packed, float* __restrict__ scales, float* __restrict__ zeros, int rows, int cols, int group_size) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int g = blockIdx.y;
  if (col >= cols) return;
  float lo = 0.f, hi = 0.f;
  for (int r = g * group_size; r < (g + 1) * group_size; r++) {
    lo = min(lo, w[r * cols + col]);
    hi = max(hi, w[r * cols + col]);
  }
  float scale = (hi - lo) / 15.f;
  if (scale == 0.f) scale = 1.f;
  float zero = rintf(-lo / scale);
  scales[g * cols + col] = scale;
  zeros[g * cols + col] = zero;
  for (int r = g * group_size; r < (g + 1) * group_size; r += PACK) {
    unsigned int word = 0;
    for (int k = 0; k < PACK; k++) {
      int q = __float2int_rn(w[(r + k) * cols + col] / scale) + (int)zero;
      q = q < 0 ? 0 : (q > 15 ? 15 : q);
      word |= (unsigned int)q << (4 * k);
    }
    packed[r / PACK * cols + col] = *reinterpret_cast<int*>(&word);
  }
}

__global__ void unpack_kernel(const int* packed, const float* scales, const float* zeros, float* w, int rows, int cols, int group_size) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= cols || row >= rows) return;
  int q = (packed[row / PACK * cols + col] >> (row % PACK * 4)) & 0xF;
  int g = row / group_size;
  w[row * cols + col] = scales[g * cols + col] * (q - zeros[g * cols + col]);
}

template <typename scalar_t>
__global__ void VecQuant4MatMulKernel(const scalar_t* __restrict__ vec, const int* __restrict__ mat, scalar_t* __restrict__ mul,
                                      const scalar_t* __restrict__ scales, const scalar_t* __restrict__ zeros, int rows, int width, int group_size) {
  __shared__ scalar_t blockvec[BLOCKWIDTH];
  int col = BLOCKWIDTH * blockIdx.x + threadIdx.x;
  scalar_t res = 0;
  for (int base = 0; base < rows; base += BLOCKWIDTH) {
    __syncthreads();
    if (base + threadIdx.x < rows) blockvec[threadIdx.x] = vec[base + threadIdx.x];
    __syncthreads();
    if (col >= width) continue;
    int k = 0;
    while (k < BLOCKWIDTH && base + k < rows) {
      int g = (base + k) / group_size;
      scalar_t scale = scales[g * width + col], zero = zeros[g * width + col];
      unsigned int tmp = static_cast<unsigned int>(mat[(base + k) / PACK * width + col]);
#pragma unroll
      for (int n = 0; n < PACK; n++, tmp >>= 4) res += scale * (scalar_t(tmp & 0xF) - zero) * blockvec[k + n];
      k += PACK;
    }
  }
  if (col < width) mul[col] += res;
}

std::vector<torch::Tensor> quantize_pack(torch::Tensor w, int group_size) {
  int rows = w.size(0), cols = w.size(1);
  TORCH_CHECK(group_size % PACK == 0, "group_size must be a multiple of ", PACK);
  TORCH_CHECK(rows % group_size == 0, "rows (", rows, ") are not divisible by group_size (", group_size, ")");
  auto packed = torch::zeros({rows / PACK, cols}, w.options().dtype(torch::kInt32));
  auto scales = torch::empty({rows / group_size, cols}, w.options()), zeros = torch::empty_like(scales);
  quant_kernel<<<dim3((cols + 31) / 32, rows / group_size), 32>>>(w.data_ptr<float>(), packed.data_ptr<int>(), scales.data_ptr<float>(), zeros.data_ptr<float>(), rows, cols, group_size);
  return {packed, scales, zeros};
}

torch::Tensor unpack(torch::Tensor packed, torch::Tensor scales, torch::Tensor zeros, int group_size) {
  int rows = packed.size(0) * PACK, cols = packed.size(1);
  auto w = torch::empty({rows, cols}, scales.options());
  dim3 threads(32, 8), blocks((cols + threads.x - 1) / threads.x, (rows + threads.y - 1) / threads.y);
  unpack_kernel<<<blocks, threads>>>(packed.data_ptr<int>(), scales.data_ptr<float>(), zeros.data_ptr<float>(), w.data_ptr<float>(), rows, cols, group_size);
  return w;
}

void vecquant4matmul(torch::Tensor vec, torch::Tensor mat, torch::Tensor mul, torch::Tensor scales, torch::Tensor zeros, int group_size) {
  int rows = vec.size(0), width = mat.size(1);
  AT_DISPATCH_FLOATING_TYPES(vec.scalar_type(), "vecquant4matmul_cuda", ([&] {
    VecQuant4MatMulKernel<<<(width + BLOCKWIDTH - 1) / BLOCKWIDTH, BLOCKWIDTH>>>(vec.data<scalar_t>(), mat.data<int>(), mul.data<scalar_t>(), scales.data<scalar_t>(), zeros.data<scalar_t>(), rows, width, group_size);
  }));
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for rows, cols, group in ((96, 37, 32), (64, 5, 8), (128, 70, 64)):
        w = t.rng.standard_normal((rows, cols)).astype(np.float32)
        w[:group, 0] = 0  # a group without a range
        packed, scales, zeros = m.quantize_pack(t(w), group)
        s, z, p = t.np(scales), t.np(zeros), t.np(packed).view(np.uint32)
        g = w.reshape(-1, group, cols)
        span = np.maximum(g.max(1), 0).astype(np.float64) - np.minimum(g.min(1), 0)
        t.close(s, np.where(span == 0, 1, span / 15), rtol=1e-6)
        q = ((p[:, None] >> (4 * np.arange(8, dtype=np.uint32))[:, None]) & 15).reshape(rows, cols).astype(np.float64)
        back = np.repeat(s.astype(np.float64), group, 0) * (q - np.repeat(z, group, 0))
        assert (abs(back - w) <= np.repeat(s, group, 0) * 1.001).all()  # half a step of rounding, up to half of one for the zero
        t.close(m.unpack(packed, scales, zeros, group), back, rtol=1e-6)
        v = t.rng.standard_normal(rows).astype(np.float32)
        out = t(np.ones(cols, np.float32))
        m.vecquant4matmul(t(v), packed, out, scales, zeros, group)
        t.close(out, 1 + v.astype(np.float64) @ back, rtol=1e-4, atol=1e-4)  # sums of up to 128 terms
    with t.raises(RuntimeError, "rows (128) are not divisible by group_size (48)"):
        m.quantize_pack(t(w), group_size=48)
    with t.raises(RuntimeError, "group_size must be a multiple of 8"):
        m.quantize_pack(t(w), 12)

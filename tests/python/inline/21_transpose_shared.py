"""Matrix transpose through shared memory (padding against bank conflicts), 32x8 blocks; generic over dtype, 2-D and batched."""
CPP = "torch::Tensor transpose2d(torch::Tensor x);"
CUDA = r'''
#include <ATen/Dispatch.h>
#include <c10/cuda/CUDAStream.h>

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

template <typename T>
__global__ void transposeNoBankConflicts(T *odata, const T *idata, int width, int height)
{
  __shared__ T tile[TILE_DIM][TILE_DIM + 1];

  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  const size_t plane = (size_t)blockIdx.z * width * height;

  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = idata[plane + (y + j) * width + x];

  __syncthreads();

  x = blockIdx.y * TILE_DIM + threadIdx.x;
  y = blockIdx.x * TILE_DIM + threadIdx.y;

  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < height && y + j < width)
      odata[plane + (y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

torch::Tensor transpose2d(torch::Tensor x)
{
  TORCH_CHECK(x.dim() == 2 || x.dim() == 3, "transpose2d takes 2 or 3 dimensions, not ", x.dim());
  const bool batched = x.dim() == 3;
  auto in = (batched ? x : x.unsqueeze(0)).contiguous();
  const auto b = in.size(0), h = in.size(1), w = in.size(2);
  auto out = torch::empty({b, w, h}, in.options());
  if (out.numel() == 0) return batched ? out : out.squeeze(0);
  dim3 dimGrid((w + TILE_DIM - 1) / TILE_DIM, (h + TILE_DIM - 1) / TILE_DIM, b);
  dim3 dimBlock(TILE_DIM, BLOCK_ROWS, 1);
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBool, in.scalar_type(), "transpose2d", [&]() {
    transposeNoBankConflicts<scalar_t><<<dimGrid, dimBlock, 0, c10::cuda::getCurrentCUDAStream()>>>(
        out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), w, h);
  });
  return batched ? out : out.squeeze(0);
}
'''
FUNCTIONS = "transpose2d"


def check(m, t):
    import numpy as np

    for dtype in ("float32", "float64", "float16", "int32", "int64", "uint8", "int8", "int16", "bool"):
        x = (t.rng.integers(0, 100, (37, 5)) % (2 if dtype == "bool" else 100)).astype(dtype)
        y = m.transpose2d(t(x))
        assert t.np(y).dtype == x.dtype
        t.close(y, x.T, rtol=0, atol=0)
    x = t.rng.standard_normal((3, 33, 65)).astype(np.float32)
    t.close(m.transpose2d(t(x)), x.transpose(0, 2, 1), rtol=0, atol=0)
    t.close(m.transpose2d(t(x.transpose(2, 1, 0))), x.transpose(2, 0, 1), rtol=0, atol=0)
    assert t.np(m.transpose2d(t(np.zeros((0, 7), np.float32)))).shape == (7, 0)
    with t.raises(RuntimeError, "takes 2 or 3 dimensions, not 1"):
        m.transpose2d(t(np.zeros(3, np.float32)))

// Transpose through a padded tile; the batch is the grid's z. Any element type of up to 8 bytes.

template <typename T, int TILE = 32, int ROWS = 8>
__global__ void transpose_batched(const T* __restrict__ in, T* __restrict__ out, int rows, int cols)
{
    static_assert(TILE % ROWS == 0, "a thread copies a whole number of elements");
    __shared__ T tile[TILE][TILE + 1];  // the padding column avoids bank conflicts

    const size_t plane = static_cast<size_t>(rows) * cols;
    in += blockIdx.z * plane;
    out += blockIdx.z * plane;

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
        if (col < cols && (row + j) < rows) tile[threadIdx.y + j][threadIdx.x] = in[(row + j) * cols + col];
    }
    __syncthreads();

    col = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
        if (col < rows && (row + j) < cols) out[(row + j) * rows + col] = tile[threadIdx.x][threadIdx.y + j];
    }
}

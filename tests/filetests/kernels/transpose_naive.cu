// The transpose that all others are measured against, and the plain copy that is the limit.
#define SIDE 32
#define STRIPE 8
#define FOR_ROWS_OF_TILE(row) for (int row = blockIdx.y * SIDE + threadIdx.y, end = row + SIDE; row < end; row += STRIPE)

__global__ void copy(float* dst, const float* src, int width, int height)
{
    const int col = blockIdx.x * SIDE + threadIdx.x;
    FOR_ROWS_OF_TILE(row) {
        if (col >= width || row >= height) continue;
        dst[row * width + col] = src[row * width + col];
    }
}

__global__ void transpose_naive(float* dst, const float* src, int width, int height)
{
    const int col = blockIdx.x * SIDE + threadIdx.x;
    FOR_ROWS_OF_TILE(row) {
        if (col >= width || row >= height) continue;
        dst[col * height + row] = src[row * width + col];
    }
}

// Matrices of `rows` by `cols`, written row by row, whose columns lie in memory: `leap` from one to the next, `next` from matrix to matrix.
__global__ void k(const E *a, E *out, int rows, int cols, int leap, int next)
{
    __shared__ E tile[32][33];
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    const E *from = a + blockIdx.z * next;
    E *to = out + blockIdx.z * rows * cols;
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = top + threadIdx.x, c = left + k;
        if (r < rows && c < cols) tile[k][threadIdx.x] = from[c * leap + r];
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = top + k, c = left + threadIdx.x;
        if (r < rows && c < cols) to[r * cols + c] = tile[threadIdx.x][k];
    }
}

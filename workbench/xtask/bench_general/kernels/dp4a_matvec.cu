// Matrix of int8 times a vector of int8, a warp a row, four products an instruction.
__global__ void dp4a_matvec(const signed char* __restrict__ matrix, const signed char* __restrict__ vector, int* __restrict__ out, int rows,
                            int cols) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* m = reinterpret_cast<const int*>(matrix + (size_t)row * cols);
    const int* v = reinterpret_cast<const int*>(vector);
    int sum = 0;
    for (int i = lane; i < cols / 4; i += 32) sum = __dp4a(m[i], v[i], sum);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) out[row] = sum;
}

// Sparse matrix (CSR) times vector, a warp a row.
__global__ void csr_spmv(int rows, const int* __restrict__ row_ptr, const int* __restrict__ col_idx, const float* __restrict__ vals,
                         const float* __restrict__ x, float* __restrict__ y) {
    int warp_id = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (warp_id < rows) {
        int start = row_ptr[warp_id];
        int end = row_ptr[warp_id + 1];
        float sum = 0.0f;
        for (int j = start + lane; j < end; j += 32) sum += vals[j] * x[col_idx[j]];
        for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (lane == 0) y[warp_id] = sum;
    }
}

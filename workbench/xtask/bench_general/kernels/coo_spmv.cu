// Sparse matrix (COO) times vector: an element a thread, added to its row by an atomic addition.
__global__ void coo_spmv(const int num_elements, const int* rowIdx, const int* colIdx, const float* value, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < num_elements) {
        int row = rowIdx[i];
        int col = colIdx[i];
        atomicAdd(&y[row], x[col] * value[i]);
    }
}

// Sparse matrix (ELL, column after column) times vector, a thread a row; places without an element have the column -1.
__global__ void ell_spmv(const int num_rows, const int num_cols_per_row, const int* indices, const float* data, const float* x, float* y) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < num_rows) {
        float dot = 0;
        for (int n = 0; n < num_cols_per_row; n++) {
            int col = indices[num_rows * n + row];
            float val = data[num_rows * n + row];
            if (col >= 0) dot += val * x[col];
        }
        y[row] = dot;
    }
}

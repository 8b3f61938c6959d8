// y = A x for a sparse matrix in CSR form: a thread a row, and sub-warps of a chosen width a row.

template <typename index_t, typename value_t>
struct CsrRow {
    const index_t* cols;
    const value_t* vals;
    index_t length;

    __device__ CsrRow(const index_t* row_ptr, const index_t* col_idx, const value_t* values, index_t row)
        : cols(col_idx + row_ptr[row]), vals(values + row_ptr[row]), length(row_ptr[row + 1] - row_ptr[row])
    {
    }

    __device__ value_t partial_dot(const value_t* x, index_t first, index_t step) const
    {
        value_t sum = 0;
        for (index_t k = first; k < length; k += step) sum += vals[k] * __ldg(x + cols[k]);
        return sum;
    }
};

template <typename index_t, typename value_t>
__global__ void spmv_scalar(index_t rows, const index_t* row_ptr, const index_t* col_idx, const value_t* values,
                            const value_t* x, value_t* y)
{
    const index_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) y[row] = CsrRow<index_t, value_t>(row_ptr, col_idx, values, row).partial_dot(x, 0, 1);
}

template <int kLanes, typename index_t, typename value_t>
__global__ void spmv_vector(index_t rows, const index_t* row_ptr, const index_t* col_idx, const value_t* values,
                            const value_t* x, value_t* y)
{
    const index_t lane = threadIdx.x % kLanes;
    const index_t groups = gridDim.x * (blockDim.x / kLanes);
    // Rows are rounded up, so that every lane takes part in every shuffle.
    for (index_t first = blockIdx.x * (blockDim.x / kLanes); first < rows; first += groups) {
        const index_t row = first + threadIdx.x / kLanes;
        value_t sum = 0;
        if (row < rows) sum = CsrRow<index_t, value_t>{row_ptr, col_idx, values, row}.partial_dot(x, lane, kLanes);
#pragma unroll
        for (int d = kLanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d, kLanes);
        if (lane == 0 && row < rows) y[row] = sum;
    }
}

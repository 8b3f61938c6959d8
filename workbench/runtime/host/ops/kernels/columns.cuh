// A thread for each column, which goes down its rows: matrices of `rows` by `cols`, one behind the other.
__global__ void k(const E *a, R *out, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    const E *from = a + blockIdx.y * rows * cols;
    S s = FIRST;
    for (int r = 0; r < rows; r++) {
        S x = (S)(T)from[r * cols + c];
        x = PART(x);
        s = JOIN(s, x);
    }
    out[blockIdx.y * cols + c] = (R)(LAST(s));
}

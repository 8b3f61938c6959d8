// A warp for each row: its mean and the sum of the squares of what its elements differ by from that.
__global__ void k(const E *a, R *out, int cols, int total, double correction)
{
    int begin = blockIdx.x * cols;
    int n = min(cols, total - begin);
    const E *row = a + begin;
    double sum = 0;
    for (int c = threadIdx.x; c < n; c += 32) sum += (double)(T)row[c];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    double mean = sum / n;
    double squares = 0;
    for (int c = threadIdx.x; c < n; c += 32) {
        double x = (double)(T)row[c] - mean;
        squares += x * x;
    }
    for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, d);
    if (threadIdx.x == 0) { STORE }
}

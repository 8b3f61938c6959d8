// A warp for each row. The sums are of type `double`.
__global__ void k(const E *a, E *out, int cols, double eps WEIGHT_PARAM BIAS_PARAM)
{
    const E *row = a + blockIdx.x * cols;
    E *to = out + blockIdx.x * cols;
    double sum = 0;
    for (int c = threadIdx.x; c < cols; c += 32) sum += (double)(T)row[c];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    double mean = sum / cols;
    double squares = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        double x = (double)(T)row[c] - mean;
        squares += x * x;
    }
    for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, d);
    double scale = 1.0 / sqrt(squares / cols + eps);
    for (int c = threadIdx.x; c < cols; c += 32) {
        double x = ((double)(T)row[c] - mean) * scale;
        to[c] = (E)(T)(x WEIGHT BIAS);
    }
}

// A warp for each row.
__global__ void k(const E *a, E *out, int cols)
{
    const E *row = a + blockIdx.x * cols;
    E *to = out + blockIdx.x * cols;
    T most = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += 32) most = fmax(most, (T)row[c]);
    for (int d = 16; d > 0; d /= 2) most = fmax(most, __shfl_xor_sync(0xffffffffu, most, d));
    T sum = 0;
    for (int c = threadIdx.x; c < cols; c += 32) sum += exp((T)row[c] - most);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    T by = WHOLE(sum);
    for (int c = threadIdx.x; c < cols; c += 32) {
        T x = (T)row[c] - most;
        to[c] = (E)(EACH(x, by));
    }
}

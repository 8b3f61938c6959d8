// Elements of rows that an index of each picks; `outside` becomes 1 where one is outside of its row.
__global__ void k(const E *a, const long long *index, E *out, int *outside, int count, int size, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long j = index[i];
    if (j < 0 || j >= size) {
        *outside = 1;
        return;
    }
    out[i] = a[i / cols * size + (int)j];
}

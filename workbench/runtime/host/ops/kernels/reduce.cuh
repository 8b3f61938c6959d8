// A warp for each row: `S` is the type of what it keeps, `FIRST`, `PART(x)`, `JOIN(s, x)` and `LAST(s)` are what it does.
__global__ void k(const E *a, R *out, int cols, int total)
{
    int begin = blockIdx.x * cols;
    int n = min(cols, total - begin);
    const E *row = a + begin;
    S s = FIRST;
    for (int c = threadIdx.x; c < n; c += 32) {
        S x = (S)(T)row[c];
        x = PART(x);
        s = JOIN(s, x);
    }
    for (int d = 16; d > 0; d /= 2) {
        S x = __shfl_down_sync(0xffffffffu, s, d);
        s = JOIN(s, x);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = (R)(LAST(s));
}

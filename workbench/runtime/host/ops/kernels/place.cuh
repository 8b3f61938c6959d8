// The place of each row's first element that no other is `OVER`; NaN is over all. A warp for each row.
__global__ void k(const E *a, long long *out, int cols)
{
    const E *row = a + blockIdx.x * cols;
    int at = threadIdx.x;
    T v = at < cols ? (T)row[at] : T(0);
    for (int c = threadIdx.x + 32; c < cols; c += 32) {
        T x = (T)row[c];
        if (v == v && (x != x || OVER(x, v))) {
            v = x;
            at = c;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        T x = __shfl_down_sync(0xffffffffu, v, d);
        int c = __shfl_down_sync(0xffffffffu, at, d);
        bool is_first = x != x ? v == v || c < at : v == v && (OVER(x, v) || (x == v && c < at));
        if (c < cols && (at >= cols || is_first)) {
            v = x;
            at = c;
        }
    }
    if (threadIdx.x == 0) out[blockIdx.x] = at;
}

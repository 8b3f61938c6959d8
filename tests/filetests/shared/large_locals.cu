// test run

// 32 KB of locals in each of 1,024 threads, live across a barrier.
__global__ void large(int* out) {
    int a[8192];
    int t = threadIdx.x;
    for (int i = 0; i < 8192; i++) a[i] = i ^ t;
    __syncthreads();
    int sum = 0;
    for (int i = t % 64; i < 8192; i += 64) sum += a[i] ^ t;
    out[blockIdx.x * blockDim.x + t] = sum - (t % 64) * 128;
}
// Locals set in one region and read in others, of every type, and pointers too.
__global__ void types(const float* x, float* out) {
    int t = threadIdx.x;
    bool b = t & 1;
    char c = t;
    short s = -t;
    unsigned long long l = 1ULL << (t + 30);
    float f = x[t];
    double d = f * 0.5;
    const float* p = x + t;
    const float* q = t % 2 ? x : out;
    __syncthreads();
    if (t > 100) p = q;
    __syncthreads();
    out[t] = b + c + s + (float)(l >> 30) + f + (float)d + *p + (q == x ? 0.5f : 0.0f);
}
// A local that only some threads set keeps its value through rounds with barriers.
__global__ void kept(int* out) {
    __shared__ int s;
    int t = threadIdx.x, seen = -1, turns = 0;
    for (int round = 0; round < 4; round++) {
        if (t == 0) s = round;
        __syncthreads();
        if (s == t) seen = round * 10;
        turns += s;
        __syncthreads();
    }
    out[t] = seen * 100 + turns;
}
// A pointer that all threads move together.
__global__ void walk(const int* x, int* out, int n) {
    __shared__ int tile[4];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i += 4) {
        tile[t] = x[t];
        __syncthreads();
        for (int k = 0; k < 4; k++) sum += tile[k] * (k + 1);
        __syncthreads();
        x += 4;
    }
    out[t] = sum;
}
// The sum over i of (i ^ t) ^ t = i: 128 numbers t % 64 + 64 k.
// run: large<<<2, 1024>>>(out = poison(2048))
//   out == fill(2048, 520192)
// 2 i with i odd: b + 0.5; 1 << t; x = 2 t: x + x / 2 + x.
// run: types<<<1, 4>>>(x = [0, 2, 4, 6], out = poison(4))
//   out == [1, 8.5, 14, 24.5]
// Only threads 0 .. 3 see their turn; 0 + 1 + 2 + 3.
// run: kept<<<1, 5>>>(out = poison(5))
//   out == [6, 1006, 2006, 3006, -94]
// Sums of 1, 2, 3, 4 times: 0 + 2 + 6 + 12 and 4 + 10 + 18 + 28.
// run: walk<<<1, 4>>>(x = iota(8), out = poison(4), n = 8)
//   out == [80, 80, 80, 80]
// run: walk<<<1, 4>>>(x = iota(8), out = poison(4), n = 9)
//   fault: out-of-bounds read at 47:19 block (0,0,0) thread (0,0,0): reads index 8 of `x`, which has 8 elements

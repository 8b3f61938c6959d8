// test run

#define FULL 0xffffffffu
__global__ void idx(int* out) {
    int i = threadIdx.x;
    out[i] = __shfl_sync(FULL, 100 + i, 5);
    out[32 + i] = __shfl_sync(FULL, 100 + i, 2, 8);
    out[64 + i] = __shfl_sync(FULL, 100 + i, i + 1);
}
__global__ void up_down(int* out) {
    int i = threadIdx.x;
    out[i] = __shfl_up_sync(FULL, i, 1);
    out[32 + i] = __shfl_down_sync(FULL, i, 3);
    out[64 + i] = __shfl_up_sync(FULL, i, 2, 4);
    out[96 + i] = __shfl_down_sync(FULL, i, 1, 4);
}
__global__ void butterfly(int* out) {
    int v = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(FULL, v, d);
    out[threadIdx.x] = v;
}
__global__ void types(float* f, double* d, long long* l, unsigned long long* u) {
    int i = threadIdx.x;
    f[i] = __shfl_xor_sync(FULL, i + 0.5f, 1);
    d[i] = __shfl_xor_sync(FULL, i + 0.25, 1);
    l[i] = __shfl_xor_sync(FULL, -(i + (1LL << 40)), 1);
    u[i] = __shfl_xor_sync(FULL, (1ULL << 63) + i, 1);
}
__device__ float warp_sum(float v) {
    for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);
    return v;
}
// The usual two-step block sum.
__global__ void block_sum(const float* x, float* out, int n) {
    __shared__ float part[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? part[lane] : 0.0f;
    if (warp == 0) v = warp_sum(v);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
// Inclusive scan of a warp, under a condition of each lane.
__global__ void scan(int* x) {
    int lane = threadIdx.x & 31, v = x[threadIdx.x];
    for (int d = 1; d < 32; d <<= 1) {
        int below = __shfl_up_sync(FULL, v, d);
        if (lane >= d) v += below;
    }
    x[threadIdx.x] = v;
}
// Only half of the lanes; and only lanes that have not left.
__global__ void part(int* out) {
    int i = threadIdx.x;
    if (i < 16) out[i] = __shfl_down_sync(0x0000ffff, i, 4, 16);
    else out[i] = __shfl_sync(0xffff0000, i, 20);
}
__global__ void leavers(int* out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[i] = __shfl_sync(FULL, i * 3, 1);
}
// Each lane as many rounds as its number: the lanes left exchange.
__global__ void rounds(int* out) {
    int i = threadIdx.x, sum = 0;
    for (int k = 0; k < i; k++) sum += __shfl_sync(__activemask(), k, 31);
    out[i] = sum;
}
// A lane of another warp's block: 48 threads, the second warp is half there.
__global__ void partial(int* out) { out[threadIdx.x] = __shfl_sync(FULL, (int)threadIdx.x, 3); }
// run: idx<<<1, 32>>>(out = poison(96))
//   out == [105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105,105, 102,102,102,102,102,102,102,102,110,110,110,110,110,110,110,110,118,118,118,118,118,118,118,118,126,126,126,126,126,126,126,126, 101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119,120,121,122,123,124,125,126,127,128,129,130,131,100]
// run: up_down<<<1, 32>>>(out = poison(128))
//   out == [0,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,29,30,31, 0,1,0,1,4,5,4,5,8,9,8,9,12,13,12,13,16,17,16,17,20,21,20,21,24,25,24,25,28,29,28,29, 1,2,3,3,5,6,7,7,9,10,11,11,13,14,15,15,17,18,19,19,21,22,23,23,25,26,27,27,29,30,31,31]
// run: butterfly<<<1, 64>>>(out = poison(64))
//   out == [496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496,496, 1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520,1520]
// run: types<<<1, 4>>>(f = poison(4), d = poison(4), l = poison(4), u = poison(4))
//   f == [1.5, 0.5, 3.5, 2.5]
//   d == [1.25, 0.25, 3.25, 2.25]
//   l == [-1099511627777, -1099511627776, -1099511627779, -1099511627778]
//   u == [9223372036854775809, 9223372036854775808, 9223372036854775811, 9223372036854775810]
// 0 + .. + 255 and 256 + .. + 299
// run: block_sum<<<2, 256>>>(x = iota(300), out = poison(2), n = 300)
//   out == [32640, 12210]
// run: scan<<<1, 40>>>(x = fill(40, 2))
//   x == [2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,52,54,56,58,60,62,64,2,4,6,8,10,12,14,16]
// run: part<<<1, 32>>>(out = poison(32))
//   out == [4,5,6,7,8,9,10,11,12,13,14,15,12,13,14,15,20,20,20,20,20,20,20,20,20,20,20,20,20,20,20,20]
// run: leavers<<<1, 32>>>(out = poison(3), n = 3)
//   out == [3, 3, 3]
// k summed over 0 .. i - 1
// run: rounds<<<1, 32>>>(out = poison(32)) cpu
//   out == [0,0,1,3,6,10,15,21,28,36,45,55,66,78,91,105,120,136,153,171,190,210,231,253,276,300,325,351,378,406,435,465]
// run: partial<<<1, 48>>>(out = poison(48))
//   out == [3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,35,35,35,35,35,35,35,35,35,35,35,35,35,35,35,35]

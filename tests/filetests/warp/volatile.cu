// test run

// The last warp of a sum as it was written before Volta: volatile, no barrier, every lane in step.
__device__ void warp_reduce(volatile int* s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}
__global__ void sum(const int* x, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) warp_reduce(s, t);
    if (t == 0) out[0] = s[0];
}
// All lanes load, then all store: a rotation in place.
__global__ void rotate(int* out) {
    __shared__ volatile int s[32];
    int t = threadIdx.x;
    s[t] = t;
    s[t] = s[(t + 1) % 32];
    s[t] = s[(t + 1) % 32];
    out[t] = s[t];
}
// run: sum<<<1, 64>>>(x = iota(64), out = [0])
//   out == [2016]
// run: rotate<<<1, 32>>>(out = poison(32))
//   out == [2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,0,1]

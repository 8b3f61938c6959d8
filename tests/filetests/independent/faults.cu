// test run

#define FULL 0xffffffffu
// The lowest thread's fault, though a higher one comes to its first.
__global__ void bounds(int* x, int* out) {
    int t = threadIdx.x, r;
    if (t >= 16) {
        r = x[t];
        r += __shfl_xor_sync(FULL, t, 16);
    } else {
        r = __shfl_xor_sync(FULL, t, 16);
        r = x[100 + t];
    }
    out[t] = r;
}
// Two operations do not meet.
__global__ void other_op(int* out) {
    int t = threadIdx.x, r;
    if (t < 16) r = __shfl_xor_sync(FULL, t, 16);
    else if (t < 32) r = __shfl_down_sync(FULL, t, 16);
    else r = __shfl_xor_sync(FULL, t, 16);
    out[t] = r;
}
__global__ void other_mask(unsigned* out) {
    int t = threadIdx.x;
    unsigned m = t < 16 ? FULL : ~1u, b;
    if (t < 16) b = __ballot_sync(m, 1);
    else b = __ballot_sync(m, 1);
    out[t] = b;
}
__global__ void not_named(unsigned* out, unsigned m) {
    int t = threadIdx.x;
    unsigned b;
    if (t < 16) b = __ballot_sync(m, 1);
    else b = __ballot_sync(m, 1);
    out[t] = b;
}
__global__ void barrier(int* out) {
    int t = threadIdx.x;
    if (t < 16) __syncwarp();
    else __syncwarp();
    if (t < 8) __syncthreads();
    else __syncthreads();
    out[t] = 1;
}
__global__ void instead(int* out) {
    int t = threadIdx.x;
    if (t < 4) __syncwarp();
    else if (t < 8) __syncwarp();
    else __syncthreads();
    out[t] = 1;
}
// Nobody brings it.
__global__ void never(volatile int* flag, int* out) {
    int t = threadIdx.x;
    if (t == 3) while (flag[0] != 2) { }
    else if (t == 5) flag[0] = 1;
    out[t] = 1;
}
// The lock's holder waits for who waits for the lock.
__global__ void embrace(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __syncwarp();
    atomicExch(lock, 0);
}
__global__ void endless(volatile int* flag) {
    if (threadIdx.x == 0) while (flag[0] == 0) { flag[2] = flag[2] + 1; }
    else while (flag[1] == 0) flag[0] = 0;
}
// run: bounds<<<1, 32>>>(x = iota(20), out = poison(32))
//   fault: out-of-bounds read at 8:13 block (0,0,0) thread (20,0,0): index 20
// run: bounds<<<1, 32>>>(x = iota(32), out = poison(32))
//   fault: out-of-bounds read at 12:13 block (0,0,0) thread (0,0,0): index 100
// run: other_op<<<1, 32>>>(out = poison(32))
//   fault: mismatched warp function at 19:21 block (0,0,0) thread (0,0,0): waits for lane 16, which went another way
// run: other_mask<<<1, 32>>>(out = poison(32))
//   fault: mismatched warp function at 27:21 block (0,0,0) thread (0,0,0): names lane 16, whose mask is 0xfffffffe
// run: not_named<<<1, 32>>>(out = poison(32), m = 254)
//   fault: mismatched warp function at 34:21 block (0,0,0) thread (0,0,0): does not name lane 0
// run: barrier<<<1, 32>>>(out = poison(32))
//   fault: divergent barrier at 42:16 block (0,0,0) thread (0,0,0): waits at `__syncthreads` for thread (8,0,0)
// run: instead<<<1, 32>>>(out = poison(32))
//   fault: mismatched warp function at 48:16 block (0,0,0) thread (0,0,0): waits for lane 8, which went another way
// run: never<<<1, 8>>>(flag = [0], out = poison(8))
//   fault: no progress at 56:17 block (0,0,0) thread (3,0,0)
// run: embrace<<<1, 2>>>(lock = [0])
//   fault: no progress at 62:5 block (0,0,0) thread (1,0,0)
// run: endless<<<1, 2>>>(flag = [0, 0, 0]) timeout=0.2
//   fault: timeout

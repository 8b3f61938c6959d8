// test run

// printf comes out by thread, whatever the order of regions.
__global__ void prints() {
    printf("a%d ", threadIdx.x);
    __syncthreads();
    printf("b%d ", threadIdx.x);
}
// A fault in the second region names its thread.
__global__ void faults(int* x, int* out) {
    __shared__ int s[6];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = 10 / (s[5 - t] - x[0]);
}
__global__ void traps(int* x) {
    __syncthreads();
    if (threadIdx.x == 2) __trap();
    assert(threadIdx.x < 5);
    __syncthreads();
    x[threadIdx.x] = 1;
}
__global__ void endless(int* x) {
    while (true) {
        __syncthreads();
        x[threadIdx.x]++;
    }
}
// The loop is left by all threads in one way or the other.
__global__ void returns_in_loop(int* x) {
    for (int i = 0;; i++) {
        if (x[threadIdx.x] == i) return;
        __syncwarp(__activemask());
        x[threadIdx.x + 4] = i;
    }
}
// run: prints<<<1, 3>>>()
//   printf "a0 b0 a1 b1 a2 b2 "
// run: faults<<<1, (3, 2)>>>(x = [2], out = poison(6))
//   fault: division by zero at 15:14 block (0,0,0) thread (0,1,0): 10 / 0
// run: traps<<<1, 4>>>(x = poison(4))
//   fault: trap at 19:27 block (0,0,0) thread (2,0,0)
// run: traps<<<1, 2>>>(x = poison(2))
//   x == [1, 1]
// run: endless<<<1, 4>>>(x = [0, 0, 0, 0]) timeout=0.05
//   fault: timeout at 2
// run: returns_in_loop<<<1, 4>>>(x = [1, 3, 2, 0, -1, -1, -1, -1])
//   x == [1, 3, 2, 0, 0, 2, 1, -1]

// test run

__device__ int down(int n) { return n == 0 ? 0 : 1 + down(n - 1); }
__device__ int forever(int n) { return forever(n + 1) + 1; }
__global__ void deep(int* out, int n) { out[0] = down(n); }
__global__ void endless(int* out) { out[0] = forever(0); }
__global__ void spin(const int* flag) { while (*flag == 0) { } }
__global__ void empty_spin() { for (;;) ; }
__global__ void stop(int* x) { if (threadIdx.x == 2) __trap(); x[threadIdx.x] = 1; }
__global__ void claim(const int* x) { assert(x[threadIdx.x] > 0 && "positive"); }
__device__ int sign(int x) { if (x > 0) return 1; if (x < 0) return -1; }
__global__ void signs(int* x) { x[threadIdx.x] = sign(x[threadIdx.x]); }
// run: deep<<<1, 1>>>(out = [1], n = 500)
//   out == [500]
// run: endless<<<1, 1>>>(out = [1])
//   fault: stack overflow
//   out == [1]
// run: deep<<<1, 1>>>(out = [1], n = 5)
//   out == [5]
// run: spin<<<1, 4>>>(flag = [0]) timeout=0.1
//   fault: timeout at 7:41 block (0,0,0) thread (0,0,0)
// run: empty_spin<<<4, 64>>>() timeout=0.1
//   fault: timeout
// run: spin<<<1, 4>>>(flag = [1]) timeout=5
// run: stop<<<1, 4>>>(x = poison(4))
//   fault: trap at 9:54 block (0,0,0) thread (2,0,0)
// run: claim<<<1, 3>>>(x = [4, 0, 7])
//   fault: assertion failed at 10:39 block (0,0,0) thread (1,0,0): x[threadIdx.x] > 0 && "positive"
// run: claim<<<1, 3>>>(x = [4, 1, 7])
// run: signs<<<1, 2>>>(x = [4, -7])
//   x == [1, -1]
// run: signs<<<1, 3>>>(x = [4, -7, 0]) cpu
//   fault: trap at 11:73 block (0,0,0) thread (2,0,0): `sign` ended without returning a value

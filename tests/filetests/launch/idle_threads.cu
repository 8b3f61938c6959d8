// test run
// A guard round all that a kernel does: rows end where it fails, but not where a number wraps, memory is read or a fault comes before it.

__global__ void below(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = i + 1;
}
__global__ void leaves(float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = i + 1;
}
__global__ void up_to(float* y, long long last) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (last >= i) y[i] = i + 1;
}
__global__ void both(float* y, int n, int m) {
    int i = threadIdx.x;
    if (!(i >= n) && m > i) y[i] = i + 1;
}
// From 2^31 - 1 on `i` is negative, and below `n`.
__global__ void wraps(int* y, int base, int n) {
    int i = base + threadIdx.x;
    if (i < n) y[threadIdx.x] = 1;
}
__global__ void wide(int* y, long long base, long long n) {
    long long i = base + threadIdx.x;
    if (i < n) y[threadIdx.x] = 1;
}
__global__ void falls(int* y, int n) {
    int i = 7 - (int)threadIdx.x;
    if (i < n) y[threadIdx.x] = 1;
}
__global__ void reads_first(const float* x, float* y, int n) {
    int i = threadIdx.x;
    float v = x[i];
    if (i < n) y[i] = v;
}
__global__ void divides_first(int* y, int d, int n) {
    int i = threadIdx.x;
    int q = 7 / d;
    if (i < n) y[i] = q;
}
__global__ void counts(int* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = 1;
    atomicAdd(y + 3, 10);
}
// run: below<<<3, 4>>>(y = fill(7, 0), n = 6)
//   y == [1, 2, 3, 4, 5, 6, 0]
// run: below<<<3, 4>>>(y = fill(2, 0), n = -3)
//   y == [0, 0]
// run: below<<<2, 4>>>(y = fill(5, 0), n = 8)
//   fault: out-of-bounds write at 6:16 block (1,0,0) thread (1,0,0)
// run: leaves<<<3, 4>>>(y = fill(7, 0), n = 6)
//   y == [1, 2, 3, 4, 5, 6, 0]
// run: leaves<<<3, 4>>>(y = fill(2, 0), n = 0)
//   y == [0, 0]
// run: leaves<<<1, 4>>>(y = fill(4, 0), n = 4294967295)
//   y == [1, 2, 3, 4]
// run: up_to<<<3, 4>>>(y = fill(7, 0), last = 5)
//   y == [1, 2, 3, 4, 5, 6, 0]
// run: up_to<<<3, 4>>>(y = fill(2, 0), last = -1)
//   y == [0, 0]
// run: both<<<1, 300>>>(y = fill(5, 0), n = 3, m = 100)
//   y == [1, 2, 3, 0, 0]
// run: both<<<1, 300>>>(y = fill(5, 0), n = 100, m = 4)
//   y == [1, 2, 3, 4, 0]
// run: wraps<<<1, 10>>>(y = fill(10, 0), base = 2147483640, n = 5)
//   y == [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
// run: wraps<<<1, 10>>>(y = fill(10, 0), base = 2147483635, n = 2147483640)
//   y == [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
// run: wide<<<1, 4>>>(y = fill(4, 0), base = 9223372036854775806, n = 9223372036854775807)
//   y == [1, 0, 1, 1]
// run: wide<<<1, 4>>>(y = fill(4, 0), base = -9223372036854775808, n = 9223372036854775807)
//   y == [1, 1, 1, 1]
// run: wide<<<1, 4>>>(y = fill(4, 0), base = -3, n = -1)
//   y == [1, 1, 0, 0]
// run: falls<<<1, 8>>>(y = fill(8, 0), n = 3)
//   y == [0, 0, 0, 0, 0, 1, 1, 1]
// run: reads_first<<<1, 4>>>(x = [1, 2], y = fill(4, 0), n = 2)
//   fault: out-of-bounds read at 36:15 block (0,0,0) thread (2,0,0)
// run: reads_first<<<1, 4>>>(x = [1, 2, 3, 4], y = fill(4, 0), n = 2)
//   y == [1, 2, 0, 0]
// run: divides_first<<<1, 4>>>(y = fill(4, 0), d = 0, n = 0)
//   fault: division by zero
// run: counts<<<1, 8>>>(y = fill(4, 0), n = 2)
//   y == [1, 1, 0, 80]

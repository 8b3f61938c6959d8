// test run
// Grid-stride loops give what each thread's own walk gives, at any size, with any types of index and bound.
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

__global__ void triad(const float* a, const float* b, float* y, float s, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a[i] + s * b[i];
}

__global__ void macro(const int* x, int* y, int n) {
    CUDA_KERNEL_LOOP(i, n) {
        if (x[i] % 2) continue;
        int sum = 0;
        for (int k = 0; k <= x[i]; k++) sum += k;
        y[i] = sum;
    }
}

__global__ void walk(const int* x, int* y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    while (i < n) {
        y[i] = 2 * x[i];
        i += stride;
    }
}

__global__ void last(int* y, unsigned int n) {
    unsigned int tid = threadIdx.y * blockDim.x + threadIdx.x;
    for (unsigned int i = tid; n - 1 >= i; i += blockDim.x * blockDim.y) y[i] = i * 10 + threadIdx.y;
}

// Each thread's sum goes from round to round.
__global__ void sums(const int* x, int* y, int n) {
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
    y[threadIdx.x] = sum;
}

// What a thread wrote in one round it reads in the next.
__global__ void own(int* x, int n) {
    int stride = blockDim.x;
    for (int i = threadIdx.x + stride; i < n; i += stride) x[i] += x[i - stride];
}

// A stride that is not positive, and an index that wraps.
__global__ void down(int* y, int first, int bound, int step) {
    for (int i = first + threadIdx.x; i < bound; i += step) y[i] = i;
}

__global__ void talk(int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) printf("%d:%d ", threadIdx.x, i);
}

// run: triad<<<2, 3>>>(a = iota(8), b = fill(8, 1.0), y = poison(8), s = 2.0, n = 8)
//   y == [2, 3, 4, 5, 6, 7, 8, 9]
// run: triad<<<13, 37>>>(a = iota(1), b = fill(1, 1.0), y = fill(1, 7), s = 2.0, n = 0)
//   y == [7]
// run: triad<<<1, 4>>>(a = iota(9), b = fill(10, 1.0), y = fill(10, 0), s = 1.0, n = 10)
//   fault: out-of-bounds read at 6:100 block (0,0,0) thread (1,0,0): reads index 9 of `a`, which has 9 elements
// run: macro<<<2, 2>>>(x = iota(7), y = fill(7, -1), n = 7)
//   y == [0, -1, 3, -1, 10, -1, 21]
// run: walk<<<3, 2>>>(x = iota(11), y = poison(11), n = 11)
//   y == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
// run: last<<<1, (2, 2)>>>(y = poison(10), n = 10)
//   y == [0, 10, 21, 31, 40, 50, 61, 71, 80, 90]
// run: sums<<<1, 3>>>(x = iota(10), y = poison(3), n = 10)
//   y == [18, 12, 15]
// run: own<<<1, 2>>>(x = fill(7, 1), n = 7)
//   x == [1, 1, 2, 2, 3, 3, 4]
// run: down<<<1, 2>>>(y = fill(6, 0), first = 4, bound = 6, step = -2)
//   y == [0, 0, 2, 0, 4, 0]
//   fault: out-of-bounds write at 47:61 block (0,0,0) thread (0,0,0): writes index -2 of `y`, which has 6 elements
// run: down<<<1, 2>>>(y = fill(6, 0), first = 0, bound = 2147483647, step = 1000000000)
//   fault: out-of-bounds write at 47:61 block (0,0,0) thread (0,0,0): writes index 1000000000 of `y`, which has 6 elements
// run: down<<<1, 2>>>(y = fill(6, 0), first = 4, bound = 6, step = 0) timeout=0.1
//   fault: timeout at 47:5 block (0,0,0) thread (0,0,0): still running
// run: talk<<<1, 3>>>(n = 7)
//   printf "0:0 0:3 0:6 1:1 1:4 2:2 2:5 "

// test run
// Far more blocks than cores, with a tail: every element exactly once.

__global__ void next(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

__global__ void reverse(const int* x, int* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[n - 1 - i] = n - 1 - x[i];
}
// run: next<<<1567, 64>>>(x = poison(100267), n = 100267)
//   x == iota(100267)
// run: next<<<1567, 64>>>(x = poison(100267), n = 100267) serial
//   x == iota(100267)
// run: reverse<<<13, 37>>>(x = iota(9973), y = poison(9973), n = 9973)
//   y == iota(9973)

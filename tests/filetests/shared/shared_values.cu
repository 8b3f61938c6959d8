// test run

// Values that all threads of a block share, computed by operations that may fault, and used behind barriers.
__global__ void means(const float* x, float* y, int channels, int groups, int plane) {
    __shared__ float partial[64];
    const int per_group = channels / groups;
    const int size = per_group * plane;
    float sum = 0;
    for (int i = threadIdx.x; i < size; i += blockDim.x) sum += x[blockIdx.x * size + i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    float all = 0;
    for (int t = 0; t < blockDim.x; ++t) all += partial[t];
    for (int i = threadIdx.x; i < size; i += blockDim.x) y[blockIdx.x * size + i] = all + i / plane;
}
// run: means<<<2, 64>>>(x = iota(180), y = poison(180), channels = 6, groups = 2, plane = 30)
//   y == [4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4005, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4006, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 4007, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12105, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12106, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107, 12107]
// run: means<<<2, 64>>>(x = iota(180), y = poison(180), channels = 6, groups = 0, plane = 30)
//   fault: division by zero at 6:27 block (0,0,0) thread (0,0,0)

// The first threads of a chunk leave before the value is there.
__global__ void late(const int* x, int* y, int n, int by) {
    __shared__ int a[32];
    a[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x % 16 < 3) return;
    int part = n / by;
    __syncthreads();
    y[threadIdx.x] = part + a[threadIdx.x];
}
// run: late<<<1, 32>>>(x = iota(32), y = fill(32, -1), n = 21, by = 4)
//   y == [-1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, -1, -1, -1, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36]

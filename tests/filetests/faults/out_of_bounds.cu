// test run

__global__ void write_past(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 1.0f;
}
__global__ void read_past(const float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x + 2];
}
__global__ void negative(int* x) {
    int i = -1;
    x[i] = 5;
}
__global__ void far(int* x, long long i) { x[i] = 5; }
__global__ void local_array(int* out, int i) {
    int a[4] = {1, 2, 3, 4};
    out[0] = a[i];
}
__global__ void fine(int* x) { x[threadIdx.x] = threadIdx.x; }
// One past the end, in the second block; the first block has finished.
// run: write_past<<<2, 4>>>(y = poison(6), n = 6)
//   fault: out-of-bounds write at 5:5 block (1,0,0) thread (2,0,0): writes index 6 of `y`, which has 6 elements
// run: read_past<<<1, 4>>>(x = [1, 2, 3, 4], y = poison(4))
//   fault: out-of-bounds read at 8:22 block (0,0,0) thread (2,0,0): reads index 4 of `x`, which has 4 elements
// run: negative<<<1, 1>>>(x = [1, 2])
//   fault: out-of-bounds write at 12:5 block (0,0,0) thread (0,0,0): index -1 of `x`
//   x == [1, 2]
// run: far<<<1, 1>>>(x = [1, 2], i = 1099511627776)
//   fault: out-of-bounds write at 14:44 block (0,0,0) thread (0,0,0): index 1099511627776 of `x`
// run: local_array<<<1, 1>>>(out = [9], i = 4)
//   fault: out-of-bounds read at 17:14 block (0,0,0) thread (0,0,0): index 4 of `a`, which has 4 elements
//   out == [9]
// An empty array has no element at all.
// run: fine<<<1, 1>>>(x = [])
//   fault: out-of-bounds write at 19:32 block (0,0,0) thread (0,0,0): which has 0 elements
// And the next launch works.
// run: fine<<<1, 3>>>(x = poison(3))
//   x == [0, 1, 2]

// test run

// At global scope overloads join CUDA's own, and the one that takes the arguments as they are is called; in a namespace they hide those.
__device__ int max(int a, int b) { return 100 + (a > b ? a : b); }
__device__ double cbrt(double x) { return -x; }
namespace own {
    __device__ int max(int a, int b) { return a > b ? a : b; }
    __device__ float largest() { return max(2.5, 3.5); }
}

__global__ void k(float* y, float x, short s) {
    y[0] = max(2.5, 3.5);
    y[1] = max(x, 3.75f);
    y[2] = max(2, 7);
    y[3] = max(s, s);
    y[4] = own::largest();
    y[5] = cbrt(x);
    y[6] = cbrt(8.0);
    y[7] = own::max(2.5, 4.5);
}
// run: k<<<1, 1>>>(y = poison(8), x = 27, s = 3)
//   y == [3.5, 27, 107, 103, 3, 3, -8, 4]

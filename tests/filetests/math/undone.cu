// test run

// LLVM makes `2 * a - x` of this, whose product is a sum of its own, and overflows.
__global__ void undone(float* r, float a, float x) { r[0] = -x - -2 * a; }
// run: undone<<<1, 1>>>(r = poison(1), a = 3e38, x = 3e38)
//   r == [inf]

// test run

// `fdim` of lanes: x - y where x > y, else +0; NaN if either is NaN (CUDA C++ Programming Guide, `fdim`). The block has more threads than the
// arrays have numbers, so that lanes beyond them are idle.
template <typename T> __global__ void differences(T* out, const T* x, const T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fdim(x[i], y[i]);
}
// Rows: ordinary numbers; equal ones and zeros of either sign, +0; NaN; infinities, of which the difference of two that are equal is +0;
// a difference that overflows.
// run: differences<float><<<1, 32>>>(out = poison(16), x = [3, 1.5, -1, 5, 2, 0, -0.0, 0, nan, 1, nan, inf, -inf, inf, 1, 3e38], y = [1.5, 3, -4, 5, 2, -0.0, 0, 0, 1, nan, nan, inf, -inf, 1, -inf, -3e38], n = 16)
//   out == [1.5, 0, 3, 0, 0, 0, 0, 0, nan, nan, nan, 0, 0, inf, inf, inf]
// run: differences<double><<<1, 32>>>(out = poison(16), x = [3, 1.5, -1, 5, 2, 0, -0.0, 0, nan, 1, nan, inf, -inf, inf, 1, 1.5e308], y = [1.5, 3, -4, 5, 2, -0.0, 0, 0, 1, nan, nan, inf, -inf, 1, -inf, -1.5e308], n = 16)
//   out == [1.5, 0, 3, 0, 0, 0, 0, 0, nan, nan, nan, 0, 0, inf, inf, inf]

// The number is one for all lanes, and the function is in a loop. Differences of whole numbers are exact: of x = i and j = 0 to 3 the sum is
// (i - 0) + (i - 1) + (i - 2) + (i - 3) as far as these are positive: 0, 1, 3, 6, and 4 more from each to the next.
__global__ void sums(float* out, int n) {
    int i = threadIdx.x;
    float sum = 0;
    for (int j = 0; j < n; j++) sum += fdimf((float)i, (float)j);
    out[i] = sum;
}
// run: sums<<<1, 16>>>(out = poison(16), n = 4)
//   out == [0, 1, 3, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50, 54]

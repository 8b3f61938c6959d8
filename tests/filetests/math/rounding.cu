// test run

// Halves go away from zero, and the sign stays, a zero's as well: the largest number below a half, halves, the largest numbers with a half, a
// number without one, and what is no number.
__global__ void nearest(const float* x, float* f, double* d, long* l) {
    int i = threadIdx.x;
    f[i] = roundf(x[i]);
    d[i] = round((double)x[i]);
    l[i] = lroundf(x[i]);
}
// run: nearest<<<1, 20>>>(x = [0.5, -0.5, 1.5, -2.5, 0.49999997, -0.49999997, -0.0, 0.75, -1.25, 8388607.5, -8388607.5, 16777215, 1e-40, -1e-40, 3, -3.5, 4194304.5, 2.5, 0.25, -7.75], f = poison(20), d = poison(20), l = poison(20))
//   f == [1, -1, 2, -3, 0, -0.0, -0.0, 1, -1, 8388608, -8388608, 16777215, 0, -0.0, 3, -4, 4194305, 3, 0, -8]
//   d == [1, -1, 2, -3, 0, -0.0, -0.0, 1, -1, 8388608, -8388608, 16777215, 0, -0.0, 3, -4, 4194305, 3, 0, -8]
//   l == [1, -1, 2, -3, 0, 0, 0, 1, -1, 8388608, -8388608, 16777215, 0, 0, 3, -4, 4194305, 3, 0, -8]

__global__ void limits(const float* x, float* f, double* d) {
    int i = threadIdx.x;
    f[i] = roundf(x[i]);
    d[i] = round((double)x[i]);
}
// run: limits<<<1, 4>>>(x = [inf, -inf, nan, -1e38], f = poison(4), d = poison(4))
//   f == [inf, -inf, nan, -1e38]
//   d == [inf, -inf, nan, -99999996802856924650656260769173209088]

// In `double` the numbers next to a half.
__global__ void close(const double* x, double* d) { d[threadIdx.x] = round(x[threadIdx.x]); }
// run: close<<<1, 4>>>(x = [0.49999999999999994, -0.49999999999999994, 4503599627370495.5, -2251799813685248.5], d = poison(4))
//   d == [0, -0.0, 4503599627370496, -2251799813685249]

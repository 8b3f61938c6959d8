// test run

// Builtins of GCC that NVRTC has, too: the first's magnitude and the second's sign, whatever they are; a `float` becomes a `double` where that is
// wanted.
__global__ void signs(const float* x, const float* s, float* f, double* d) {
    int i = threadIdx.x;
    f[i] = __builtin_copysignf(x[i], s[i]);
    d[i] = 1 / __builtin_copysign(x[i], s[i]);
}
// run: signs<<<1, 5>>>(x = [1.5, -2, 0, -inf, 4], s = [-1, 3, -0.0, inf, -inf], f = poison(5), d = poison(5))
//   f == [-1.5, 2, -0.0, inf, -4]
//   d == [-0.6666666666666666, 0.5, -inf, 0, -0.25]

double turned(double x, double s) { return __builtin_copysign(x, s) + __builtin_copysignf(1.0f, -2.0f); }
// call: turned(2.5, -0.5) == -3.5

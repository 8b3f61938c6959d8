// test run cpu

// Builtins of the host's compilers.
__global__ void counts(unsigned* out, unsigned x) {
    out[0] = __builtin_popcount(x);
    out[1] = __builtin_clz(x);
    out[2] = __builtin_ctz(x);
    if (x == 0) __builtin_unreachable();
}
// run: counts<<<1, 1>>>(out = poison(3), x = 40)
//   out == [2, 26, 3]

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

// Bytes in reverse order: 0x01020304 and 0x0102030405060708 backwards; the lowest byte becomes the highest; twice is the argument.
__global__ void swapped(unsigned* out, unsigned long long* wide, unsigned x, unsigned long long y) {
    out[0] = __builtin_bswap32(x);
    out[1] = __builtin_bswap32(0x80u);
    out[2] = __builtin_bswap32(__builtin_bswap32(x)) == x;
    // A wider number is cut: the two low bytes of 32 bits.
    out[3] = __builtin_bswap32(0xff00000102ull);
    wide[0] = __builtin_bswap64(y);
    wide[1] = __builtin_bswap64(0x80u);
    wide[2] = __builtin_bswap64(__builtin_bswap64(y)) == y;
}
// run: swapped<<<1, 1>>>(out = poison(4), wide = poison(3), x = 0x01020304, y = 0x0102030405060708)
//   out == [0x04030201, 0x80000000, 1, 0x02010000]
//   wide == [0x0807060504030201, 0x8000000000000000, 1]

// Set bits modulo 2: 40 has two, 7 three, all ones 32 or 64.
__global__ void odd(int* out, unsigned x, unsigned long long y) {
    out[0] = __builtin_parity(x);
    out[1] = __builtin_parity(7u);
    out[2] = __builtin_parity(0u);
    out[3] = __builtin_parity(~0u);
    // Three bits, of which the low 32 have two.
    out[4] = __builtin_parity(0x100000003ull);
    out[5] = __builtin_parityll(0x100000003ull);
    out[6] = __builtin_parityll(y);
    out[7] = __builtin_parityll(~0ull);
    out[8] = __builtin_parityll(0);
    // With its sign a number of 32 bits has 64.
    out[9] = __builtin_parityll(-2);
}
// run: odd<<<1, 1>>>(out = poison(10), x = 40, y = 0x8000000000000000)
//   out == [0, 1, 0, 0, 0, 1, 1, 0, 0, 1]

unsigned on_host(unsigned x) { return __builtin_bswap32(x); }
unsigned long on_host_wide(unsigned long x) { return __builtin_bswap64(x); }
// call: on_host(0x01020304) == 0x04030201
// call: on_host_wide(0x0102030405060708) == 0x0807060504030201
int parity_on_host(unsigned x) { return __builtin_parity(x); }
int parity_on_host_long(unsigned long x) { return __builtin_parityl(x); }
// call: parity_on_host_long(0x8000000000000003) == 1
int parity_on_host_wide(unsigned long long x) { return __builtin_parityll(x); }
// call: parity_on_host(0x80000001) == 0
// call: parity_on_host(7) == 1
// call: parity_on_host_wide(0x8000000000000000) == 1
// call: parity_on_host_wide(0x8000000000000001) == 0

// A product and a sum, rounded once: with e = 2^-13, (1 + e)(1 - e) - 1 is -2^-26, where the product of `float`s alone would be 1; with 2^-27
// and `double`s, -2^-54. Two whole numbers have an exact sum, and of an infinite product with the opposite infinity there is none.
__global__ void fused(float* f, double* d, float e, double tiny) {
    f[0] = __builtin_fmaf(1 + e, 1 - e, -1);
    f[1] = __builtin_fmaf(2, 3, 4);
    f[2] = __builtin_fmaf(INFINITY, e, -INFINITY);
    f[3] = __builtin_fmaf(-e, 0.0f, -0.0f);
    d[0] = __builtin_fma(1 + tiny, 1 - tiny, -1);
    // Numbers of type `float` become `double`, in which nothing is rounded here.
    d[1] = __builtin_fma(1 + e, 1 - e, -1.0f);
    // The product is larger than all numbers, and not infinite.
    d[2] = __builtin_fma(1e300, 1e10, -INFINITY);
    d[3] = sizeof(__builtin_fma(e, e, e)) + sizeof(__builtin_fmaf(tiny, tiny, tiny));
}
// run: fused<<<1, 1>>>(f = poison(4), d = poison(4), e = 0.0001220703125, tiny = 7.450580596923828e-09)
//   f == [-1.4901161193847656e-08, 10, nan, -0.0]
//   d == [-5.551115123125783e-17, -1.4901161193847656e-08, -inf, 12]

float fused_on_host(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// call: fused_on_host(1.0001220703125, 0.9998779296875, -1) == -1.4901161193847656e-08
double fused_on_host_wide(double a, double b, double c) { return __builtin_fma(a, b, c); }
// call: fused_on_host_wide(1.0000000074505806, 0.9999999925494194, -1) == -5.551115123125783e-17

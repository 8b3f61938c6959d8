// test run

// The exponent of a number of a size in [1, 2) times two to its power, with subnormal numbers as if they had all their bits (C, 7.12.6.11); of zeros
// minus infinity, of infinities infinity. The smallest numbers are 2^-149 and 2^-1074.
__global__ void floats(float* y, const unsigned* x) { y[threadIdx.x] = logbf(__uint_as_float(x[threadIdx.x])); }
// run: floats<<<1, 32>>>(y = poison(32), x = [0x3f800000, 0x40000000, 0x40400000, 0x3f000000, 0x3f400000, 0x3dcccccd, 0xbf800000, 0xc0c00000, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x80800000, 0x007fffff, 0x00400000, 0x003fffff, 0x00000001, 0x80000001, 0x00000002, 0x00000003, 0x3f7fffff, 0x3f800001, 0x3fffffff, 0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7149f2ca, 0x0da24260, 0x44800000, 0x477fff00])
//   y == [0, 1, 1, -1, -1, -4, 0, 2, 127, 127, -126, -126, -127, -127, -128, -149, -149, -148, -148, -1, 0, 0, -inf, -inf, inf, inf, nan, nan, 99, -100, 10, 15]

__global__ void doubles(double* y, const unsigned long long* x) { y[threadIdx.x] = logb(__longlong_as_double(x[threadIdx.x])); }
// run: doubles<<<1, 32>>>(y = poison(32), x = [0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000, 0x3fe0000000000000, 0x3fe8000000000000, 0x3fb999999999999a, 0xbff0000000000000, 0xc018000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x000fffffffffffff, 0x0008000000000000, 0x0007ffffffffffff, 0x0000000000000001, 0x8000000000000001, 0x0000000000000002, 0x0000000000000003, 0x3fefffffffffffff, 0x3ff0000000000001, 0x3fffffffffffffff, 0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x46293e5939a08cea, 0x39b4484bfeebc2a0, 0x00000000ffffffff, 0x41efffffffe00000])
//   y == [0, 1, 1, -1, -1, -4, 0, 2, 1023, 1023, -1022, -1022, -1023, -1023, -1024, -1074, -1074, -1073, -1073, -1, 0, 0, -inf, -inf, inf, inf, nan, nan, 99, -100, -1043, 31]

// Sums of the exponents of t + 1, t + 17, t + 33 and t + 49 in a loop, which are whole numbers.
__global__ void sums(float* y, double* z, const float* x, int n) {
    float a = 0;
    double b = 0;
    for (int k = 0; k < n; k++) a += logbf(x[16 * k + threadIdx.x] + 1);
    for (int k = 0; k < n; k++) b += logb((double)x[16 * k + threadIdx.x] + 1);
    y[threadIdx.x] = a;
    z[threadIdx.x] = b;
}
// run: sums<<<1, 16>>>(y = poison(16), z = poison(16), x = iota(64), n = 4)
//   y == [14, 15, 15, 16, 16, 16, 16, 17, 17, 17, 17, 17, 17, 17, 17, 20]
//   z == [14, 15, 15, 16, 16, 16, 16, 17, 17, 17, 17, 17, 17, 17, 17, 20]

// One number for all threads, the integer, and threads that do not take part.
__global__ void others(int* y, float a) {
    int i = threadIdx.x;
    y[i] = i % 3 == 0 ? (int)logbf(a) : i % 3 == 1 ? ilogbf(a * i) : ilogb((double)i);
}
// run: others<<<1, 16>>>(y = poison(16), a = 0.75)
//   y == [-1, -1, 1, -1, 1, 2, -1, 2, 3, -1, 2, 3, -1, 3, 3, -1]

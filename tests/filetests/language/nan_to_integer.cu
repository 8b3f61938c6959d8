// test run
// PTX ISA 9.0, `cvt`: of NaN 0, where the source is no .f64 and the destination no .s64 or .u64; else 1 << (bits - 1). To 8 and 16
// bits by way of 32. Written as the bits they are.

__global__ void convert(const float* f, const double* d, unsigned long long* o) {
    o[0] = (unsigned)(int)f[0];
    o[1] = (unsigned)f[0];
    o[2] = (unsigned long long)(long long)f[0];
    o[3] = (unsigned long long)f[0];
    o[4] = (unsigned short)(short)f[0];
    o[5] = (unsigned)(int)d[0];
    o[6] = (unsigned)d[0];
    o[7] = (unsigned long long)(long long)d[0];
    o[8] = (unsigned long long)d[0];
    o[9] = (unsigned short)(short)d[0];
    o[10] = (unsigned char)d[0];
    o[11] = (unsigned)__float2int_rn(f[0]);
    o[12] = (unsigned long long)__float2ll_rz(f[0]);
    o[13] = (unsigned)__double2int_rd(d[0]);
    o[14] = __double2uint_ru(d[0]);
    o[15] = (unsigned long long)llrint(d[0]);
}

// Many threads: also in vectors.
__global__ void lanes(const float* f, const double* d, int* a, unsigned* b, int* p, unsigned* q, long long* r, unsigned long long* s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a[i] = (int)f[i];
    b[i] = (unsigned)f[i];
    p[i] = (int)d[i];
    q[i] = (unsigned)d[i];
    r[i] = (long long)d[i];
    s[i] = (unsigned long long)f[i];
}
// run: convert<<<1, 1>>>(f = [nan], d = [nan], o = poison(16))
//   o == [0, 0, 9223372036854775808, 9223372036854775808, 0, 2147483648, 2147483648, 9223372036854775808, 9223372036854775808, 0, 0, 0, 9223372036854775808, 2147483648, 2147483648, 9223372036854775808]
// run: lanes<<<1, 32>>>(f = [nan, 1.5, -1.5, inf, nan, -3e9, 3e9, nan, 1e20], d = [nan, 1.5, -1.5, inf, nan, -3e9, 3e9, nan, 1e20], a = poison(9), b = poison(9), p = poison(9), q = poison(9), r = poison(9), s = poison(9), n = 9)
//   a == [0, 1, -1, 2147483647, 0, -2147483648, 2147483647, 0, 2147483647]
//   b == [0, 1, 0, 4294967295, 0, 0, 3000000000, 0, 4294967295]
//   p == [-2147483648, 1, -1, 2147483647, -2147483648, -2147483648, 2147483647, -2147483648, 2147483647]
//   q == [2147483648, 1, 0, 4294967295, 2147483648, 0, 3000000000, 2147483648, 4294967295]
//   r == [-9223372036854775808, 1, -1, 9223372036854775807, -9223372036854775808, -3000000000, 3000000000, -9223372036854775808, 9223372036854775807]
//   s == [9223372036854775808, 1, 0, 18446744073709551615, 9223372036854775808, 0, 3000000000, 9223372036854775808, 18446744073709551615]

// test run

// Directed roundings: thirds, and sums and products whose neighbours are powers of two, by hand.
// 2^-24 and 2^-53 are below half an ULP of 1; the float and double next to 1/3 below are 0x3eaaaaaa and 0x3fd5555555555555.
__global__ void floats(unsigned* o) {
    float tiny = 5.9604645e-8f;
    o[0] = __float_as_uint(__fadd_ru(1.0f, tiny)) - 0x3f800000u;
    o[1] = __float_as_uint(__fadd_rd(1.0f, tiny)) - 0x3f800000u;
    o[2] = __float_as_uint(__fadd_rz(-1.0f, -tiny)) - 0xbf800000u;
    o[3] = __float_as_uint(__fsub_rz(1.0f, 1e-20f)) - 0x3f7fffffu;
    o[4] = __float_as_uint(__fdiv_rd(1.0f, 3.0f)) - 0x3eaaaaaau;
    o[5] = __float_as_uint(__fdiv_ru(1.0f, 3.0f)) - 0x3eaaaaaau;
    o[6] = __float_as_uint(__frcp_rz(-3.0f)) - 0xbeaaaaaau;
    o[7] = __float_as_uint(__fmul_rz(1e30f, 1e30f)) - 0x7f7fffffu;
    o[8] = __float_as_uint(__fsqrt_rd(2.0f)) - 0x3fb504f3u;
    o[9] = __float_as_uint(__fsqrt_ru(2.0f)) - 0x3fb504f3u;
    o[10] = __float_as_uint(__fmaf_ru(tiny, tiny, 1.0f)) - 0x3f800000u;
    o[11] = __float_as_uint(__fmaf_ieee_rz(tiny, -tiny, 1.0f)) - 0x3f7fffffu;
    o[12] = __float_as_uint(__fsub_rd(1.0f, 1.0f)) == 0x80000000u;
}
// run: floats<<<1, 1>>>(o = poison(13))
//   o == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1]

__global__ void doubles(long long* o) {
    double tiny = 1.1102230246251565e-16;
    o[0] = __double_as_longlong(__dadd_ru(1.0, tiny)) - 0x3ff0000000000000;
    o[1] = __double_as_longlong(__dadd_rd(1.0, tiny)) - 0x3ff0000000000000;
    o[2] = __double_as_longlong(__dsub_rz(1.0, 1e-300)) - 0x3fefffffffffffff;
    o[3] = __double_as_longlong(__ddiv_rd(1.0, 3.0)) - 0x3fd5555555555555;
    o[4] = __double_as_longlong(__drcp_ru(3.0)) - 0x3fd5555555555555;
    o[5] = __double_as_longlong(__dmul_rz(1e300, 1e300)) - 0x7fefffffffffffff;
    o[6] = __double_as_longlong(__dsqrt_ru(4.0)) - 0x4000000000000000;
    o[7] = __double_as_longlong(__fma_ru(tiny, tiny, 1.0)) - 0x3ff0000000000000;
    o[8] = __double_as_longlong(__fma_rd(tiny, -tiny, 1.0)) - 0x3fefffffffffffff;
}
// run: doubles<<<1, 1>>>(o = poison(9))
//   o == [1, 0, 0, 0, 1, 0, 0, 1, 0]

// 2^24 + 1 lies between the floats 2^24 and 2^24 + 2, 2^53 + 1 between doubles; the largest integers round up to a power of two.
__global__ void conversions(float* f, double* d) {
    f[0] = __int2float_rd(16777217);
    f[1] = __int2float_ru(16777217);
    f[2] = __int2float_rz(-16777217);
    f[3] = __int2float_rd(-16777217);
    f[4] = __int2float_rd(2147483647);
    f[5] = __int2float_ru(2147483647);
    f[6] = __uint2float_rz(4294967295u);
    f[7] = __uint2float_ru(4294967295u);
    f[8] = __ll2float_rz(9223372036854775807ll);
    f[9] = __ull2float_ru(18446744073709551615ull);
    f[10] = __ull2float_rd(18446744073709551615ull);
    f[11] = __double2float_rz(1e300);
    f[12] = __double2float_ru(1e-300);
    f[13] = __double2float_rd(-1e-300);
    f[14] = __double2float_rd(0.1);
    f[15] = __double2float_ru(0.1);
    f[16] = __int2float_ru(0);
    d[0] = __ll2double_rd(9007199254740993ll);
    d[1] = __ll2double_ru(9007199254740993ll);
    d[2] = __ll2double_rz(-9007199254740993ll);
    d[3] = __ull2double_rz(18446744073709551615ull);
    d[4] = __ull2double_ru(18446744073709551615ull);
}
// run: conversions<<<1, 1>>>(f = poison(17), d = poison(5))
//   f == [16777216, 16777218, -16777216, -16777218, 2147483520, 2147483648, 4294967040, 4294967296, 9223371487098961920, 18446744073709551616, 18446742974197923840, 3.4028234663852886e38, 1.401298464324817e-45, -1.401298464324817e-45, 0.09999999403953552, 0.10000000149011612, 0]
//   d == [9007199254740992, 9007199254740994, -9007199254740992, 18446744073709549568, 18446744073709551616]

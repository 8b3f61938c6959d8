// test run

// Integer intrinsics, conversions and bit casts: values by hand from the CUDA C++ Programming Guide's definitions.
__global__ void bits(int* o) {
    o[0] = __clz(1);
    o[1] = __clz(0);
    o[2] = __clzll(1);
    o[3] = __popc(0xF0F0u);
    o[4] = __popcll(~0ull);
    o[5] = __ffs(8);
    o[6] = __ffs(0);
    o[7] = __brev(1u) == 0x80000000u;
    o[8] = __mulhi(1 << 30, 8);
    o[9] = __umulhi(0xFFFFFFFFu, 2u);
    o[10] = __mul24(-3, 5);
    o[11] = __umul24(0xFF000003u, 5u);
    o[12] = __sad(-5, 7, 100u);
    o[13] = __usad(5u, 7u, 100u);
    o[14] = __hadd(-3, -4);
    o[15] = __rhadd(-3, -4);
    o[16] = __byte_perm(0x33221100u, 0x77665544u, 0x5410u) == 0x55441100u;
    o[17] = __funnelshift_l(0x80000000u, 1u, 1u);
    o[18] = __funnelshift_r(1u, 1u, 1u) == 0x80000000u;
    o[19] = __funnelshift_rc(7u, 9u, 40u);
    o[20] = __funnelshift_lc(7u, 9u, 40u);
    o[21] = __dp4a(0x01020304, 0x01010101, 10);
    o[22] = __dp4a((int)0xFF020304, 0x01010101, 10);
    o[23] = (int)__dp4a(0xFF020304u, 0x01010101u, 10u);
    o[24] = __mul64hi(1ll << 62, 8) == 2;
}
// run: bits<<<1, 1>>>(o = poison(25))
//   o == [31, 32, 63, 8, 64, 4, 0, 1, 2, 1, -15, 15, 112, 102, -4, -3, 1, 3, 1, 9, 7, 20, 18, 274, 1]

__global__ void casts(int* o, double* d) {
    o[0] = __float2int_rn(2.5f);
    o[1] = __float2int_rz(-2.9f);
    o[2] = __float2int_ru(2.1f);
    o[3] = __float2int_rd(-2.1f);
    o[4] = __float_as_int(1.0f);
    o[5] = __double2hiint(1.0);
    o[6] = __double2loint(1.0);
    o[7] = (int)3e9f;
    o[8] = (int)nanf("");
    o[9] = (unsigned char)300;
    o[10] = (signed char)200;
    o[11] = (bool)0.5f;
    o[12] = lrintf(3.5f) + llround(-2.5);
    d[0] = __hiloint2double(0x3FF00000, 0);
    d[1] = __longlong_as_double(0x4000000000000000ll);
    d[2] = __int_as_float(0x40400000);
    d[3] = ldexpf(1.5f, 4);
    d[4] = ilogb(9.0);
}
// run: casts<<<1, 1>>>(o = poison(13), d = poison(5))
//   o == [2, -2, 3, -3, 1065353216, 1072693248, 0, 2147483647, 0, 44, -56, 1, 1]
//   d == [1, 2, 3, 24, 3]

__global__ void floats(float* o) {
    float s, c, whole;
    int e;
    sincosf(0.0f, &s, &c);
    o[0] = s;
    o[1] = c;
    o[2] = frexpf(12.0f, &e);
    o[3] = e;
    o[4] = modff(-2.75f, &whole);
    o[5] = whole;
    o[6] = __saturatef(1.5f) + __saturatef(-3.0f) + __saturatef(NAN);
    o[7] = __fdividef(1.0f, 4.0f);
    o[8] = isnan(NAN) + 2 * isinf(-INFINITY) + 4 * isfinite(1.0f) + 8 * signbit(-0.0f);
    o[9] = fminf(NAN, 2.0f) + fmaxf(3.0f, NAN);
    o[10] = std::min(2.0f, 1.0f) + std::max(2, 7);
    o[11] = min(3u, 5) + max(-1, 4) + abs(-3) + abs(-1.5f);
    o[12] = sqrt(16.0f) + pow(2.0f, 3.0f) + fabs(-1.0f);
    o[13] = copysignf(3.0f, -0.0f);
    o[14] = norm3df(2.0f, 3.0f, 6.0f);
}
// run: floats<<<1, 1>>>(o = poison(15))
//   o == [0, 1, 0.75, 4, -0.75, -2, 1, 0.25, 15, 5, 8, 11.5, 13, -3, 7]

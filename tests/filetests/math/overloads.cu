// test run

// The argument's type decides: float stays float, double double, integers count as double; sizeof tells the type of a call.
__global__ void types(int* o) {
    float f = 0.5f;
    double d = 0.5;
    int i = 1;
    o[0] = sizeof(sin(f));
    o[1] = sizeof(sin(d));
    o[2] = sizeof(sin(i));
    o[3] = sizeof(pow(f, f));
    o[4] = sizeof(pow(f, d));
    o[5] = sizeof(std::exp(f));
    o[6] = sizeof(std::fmax(f, f));
    o[7] = sizeof(cyl_bessel_i0(f));
    o[8] = sizeof(erfcx(f));
    o[9] = sizeof(remquo(f, f, &i));
    o[10] = sizeof(rhypot(f, f));
    o[11] = sizeof(jn(2, f));
    o[12] = sizeof(yn(2, d));
    o[13] = sizeof(sinf(d));
    o[14] = sizeof(norm3d(f, f, f));
    o[15] = sizeof(nextafter(f, f));
    o[16] = sizeof(ldexp(f, 2));
    o[17] = sizeof(llrint(f));
}
// run: types<<<1, 1>>>(o = poison(18))
//   o == [4, 8, 8, 4, 8, 4, 4, 4, 4, 4, 8, 4, 8, 4, 8, 4, 4, 8]
// <cmath>'s; NVRTC, which has no <cmath>, gives an int.
__global__ void truth(int* o) { o[0] = sizeof(isnan(0.5f)); }
// run: truth<<<1, 1>>>(o = [0]) cpu
//   o == [1]

// Rounding to integers, and the special cases of C's functions, by hand.
__global__ void edges(long long* o, double* d) {
    o[0] = lrint(2.5);
    o[1] = lround(2.5);
    o[2] = llrintf(-3.5f);
    o[3] = llroundf(-3.5f);
    o[4] = ilogb(0.0);
    o[5] = ilogb((double)INFINITY);
    o[6] = ilogbf(0.75f);
    o[7] = signbit(-0.0f);
    o[8] = isfinite(nan(""));
    o[9] = isinf(-INFINITY);
    o[10] = __isnanf(nanf(""));
    o[11] = __finite(1.0) + __signbit(1.0);
    d[0] = fmax(nan(""), -1.0);
    d[1] = fmin(-0.0, 0.0);
    d[2] = fdim(3.0, 5.0);
    d[3] = fdim(nan(""), 1.0);
    d[4] = copysign(2.0, -0.0);
    d[5] = nearbyint(-0.5);
    d[6] = rint(1.5);
    d[7] = round(-0.5);
    d[8] = trunc(-2.9);
    d[9] = logb(8.5);
    d[10] = scalbn(3.0, -1);
    d[11] = scalbln(1.0, 10l);
    d[12] = fmod(-7.0, 2.0);
    d[13] = remainder(-7.0, 2.0);
    d[14] = __saturatef(nanf(""));
    d[15] = __saturatef(1.5f);
    d[16] = fdivide(1.0, 4.0);
    d[17] = nextafter(0.0, -1.0);
}
// run: edges<<<1, 1>>>(o = poison(12), d = poison(18))
//   o == [2, 3, -4, -4, -2147483648, 2147483647, -1, 1, 0, 1, 1, 1]
//   d == [-1, -0, 0, nan, -2, -0, 2, -1, -2, 3, 1.5, 1024, -1, 1, 0, 1, 0.25, -5e-324]

// test run

// Lengths of vectors: Pythagorean tuples, without overflow; infinities win over NaNs. 2^2+3^2+6^2 = 7^2, 2^2+4^2+5^2+6^2 = 9^2.
__global__ void lengths(double* o, float* f, const double* x, const float* y) {
    o[0] = norm3d(2.0, 3.0, 6.0);
    o[1] = norm4d(2.0, 4.0, -5.0, 6.0);
    o[2] = norm3d(2e300, 3e300, 6e300) / 1e300;
    o[3] = rnorm3d(0.0, 0.0, 0.0);
    o[4] = rnorm4d(2.0, 0.0, 0.0, 0.0);
    o[5] = norm3d((double)INFINITY, nan(""), 1.0);
    o[6] = norm(3, x);
    o[7] = rnorm(2, x + 3);
    o[8] = norm(0, x);
    o[9] = rhypot(6.0, 8.0);
    f[0] = norm3df(2.0f, 3.0f, 6.0f);
    f[1] = rnorm4df(0.0f, 0.0f, 0.0f, 0.25f);
    f[2] = normf(4, y);
    f[3] = rnormf(1, y);
    f[4] = rhypotf(3e30f, 4e30f) * 5e30f;
}
// run: lengths<<<1, 1>>>(o = poison(10), f = poison(5), x = [2, 3, 6, 0.3, 0.4], y = [2, 4, 5, 6])
//   o ~ [7, 9, 7, inf, 0.5, inf, 7, 2, 2, 0.1] rtol=1e-15
//   f ~ [7, 4, 9, 0.5, 1] rtol=2e-7

// The quotient's low bits: 100/7 = 14.28 and -100/8 = -12.5, a half, which goes to the even -12; 2^40/1 has zeros there.
__global__ void quotients(int* q, float* r, double* d) {
    r[0] = remquof(100.0f, 7.0f, q);
    r[1] = remquof(-100.0f, 8.0f, q + 1);
    int local;
    r[2] = remquo(11.0f, 4.0f, &local);
    q[2] = local;
    d[0] = remquo(1099511627776.0, 1.0, q + 3);
    d[1] = remquo(1.0, 3.0, q + 4);
    d[2] = remquo(1e300, 0.0, q + 5);
    d[3] = remquo(-7.0, 2.0, q + 6);
}
// run: quotients<<<1, 1>>>(q = poison(7), r = poison(3), d = poison(4))
//   q == [14, -12, 3, 0, 0, 0, -4]
//   r == [2, -4, -1]
//   d == [0, 1, nan, 1]

__global__ void pairs(float* f, double* d) {
    sincos(0.0f, f, f + 1);
    sincospi(0.5f, f + 2, f + 3);
    sincospi(1.5, d, d + 1);
    f[4] = cyl_bessel_i0f(0.0f);
    f[5] = cyl_bessel_i1f(-0.0f);
    f[6] = yn(0, 1.0f) == y0f(1.0f);
    f[7] = __tanhf(0.0f);
    d[2] = cyl_bessel_i0(1.0);
    d[3] = cyl_bessel_i1(-40.0);
    d[4] = rhypot(3.0f, 4.0f);
}
// 1.2660658777520084 = sum of 1/(4^k k!^2); I1(40) from mpmath 1.3 with 40 digits.
// run: pairs<<<1, 1>>>(f = poison(8), d = poison(5))
//   f == [0, 1, 1, 0, 1, -0, 1, 0]
//   d ~ [-1, 0, 1.2660658777520084, -14707396163259353, 0.2] rtol=1e-15

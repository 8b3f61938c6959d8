// test error

// A misspelled function is told its neighbour, a wrong call the declaration.
__global__ void k(unsigned* o, float* f) {
    o[0] = __vad4(o[1], o[2]);
    o[1] = __vimax3_s64(o[1], o[2], o[3]);
    f[0] = cyl_bessel_i2(f[1]);
    f[1] = __fadd_rn(f[1]);
    o[2] = __vadd4(o[1]);
    o[3] = __vibmax_s32(1, 2, o);
    f[2] = norm(3.0f, o);
}
// error WB0301 5:12 the nearest known one is `__vadd4`
// error WB0301 6:12 the nearest known one is `__vimax3_s32`
// error WB0301 7:12 the nearest known one is `cyl_bessel_i0`
// error WB0305 8:12 `__fadd_rn` takes 2 arguments
// error WB0305 9:12 `__vadd4` takes 2 arguments
// error WB0304 10:12 no `__vibmax_s32` takes `int`, `int`, `unsigned int*`
// error WB0304 11:12 no `norm` takes `float`, `unsigned int*`

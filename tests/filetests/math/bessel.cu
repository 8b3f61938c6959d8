// test run

// Bessel functions of integer order, to 40 digits with mpmath 1.3 (`besselj`, `bessely`); CUDA bounds the error of order 128 by
// 5e-12, and forward recurrence loses a few ULP an order. Negative orders are NaN in CUDA.
__global__ void orders(double* o) {
    o[0] = jn(2, 0.5);
    o[1] = jn(5, 2.0);
    o[2] = jn(10, 20.0);
    o[3] = jn(128, 100.0);
    o[4] = jn(128, 200.0);
    o[5] = jn(3, -5.0);
    o[6] = yn(2, 0.5);
    o[7] = yn(5, 2.0);
    o[8] = yn(10, 20.0);
    o[9] = yn(128, 100.0);
    o[10] = yn(128, 200.0);
    o[11] = yn(20, 7.5);
    o[12] = jn(-1, 1.0);
    o[13] = yn(-1, 1.0);
}
// run: orders<<<1, 1>>>(o = poison(14)) cpu
//   o ~ [0.03060402345868264, 0.007039629755871685, 0.1864825580239451, 4.594387411336511e-08, -0.06390665929397651, -0.364831230613667, -5.441370837174266, -9.935989128481975, -0.0438946535156584, -86743.11774971377, 0.007642694565723395, -272761.75448916876, nan, nan] rtol=1e-13
// A GPU is held to CUDA's bound alone: 5e-12 beside the largest value, which is 1; the smallest here is 5e-8.
// run: orders<<<1, 1>>>(o = poison(14))
//   o ~ [0.03060402345868264, 0.007039629755871685, 0.1864825580239451, 4.594387411336511e-08, -0.06390665929397651, -0.364831230613667, -5.441370837174266, -9.935989128481975, -0.0438946535156584, -86743.11774971377, 0.007642694565723395, -272761.75448916876, nan, nan] rtol=1e-10

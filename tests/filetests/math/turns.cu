// test run cpu

// Intrinsics of whole turns, which NVRTC 13.0 does not have yet.
__global__ void turns(float* f) {
    f[0] = __sin2pif(0.25f);
    f[1] = __cos2pif(0.5f);
    __sincos2pif(-0.25f, f + 2, f + 3);
}
// run: turns<<<1, 1>>>(f = poison(4))
//   f == [1, -1, -1, 0]

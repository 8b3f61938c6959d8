// test run

// Twice a number overflows where it is a sum of its own; where it is part of an `fma`, nothing is rounded in between. Which is which is what NVRTC makes of
// each line (`tests/contraction.rs`).
__global__ void doubled(float* r, float a, float b, float c, float d, float x) {
    r[0] = x - 2 * a;
    r[1] = 2 * b - x;
    r[2] = 2 * c - x + x;
    r[3] = -x + 2 * d;
}
// run: doubled<<<1, 1>>>(r = poison(4), a = 3e38, b = 3e38, c = 3e38, d = 3e38, x = 3e38)
//   r == [-inf, inf, inf, inf]

__global__ void fused(float* r, float a, float x) { r[0] = x + 2 * a; }
// run: fused<<<1, 1>>>(r = poison(1), a = 3e38, x = -3e38)
//   r == [3e38]

__global__ void twice_kept(float* r, float a, float b, float x) {
    float t = 2 * a;
    r[0] = t - x;
    r[1] = b + t;
}
// run: twice_kept<<<1, 1>>>(r = poison(2), a = 3e38, b = -3e38, x = 3e38)
//   r == [inf, inf]

// test run
// Conversions between halves and `float`s: all halves, and on both sides of each number at which rounding changes.
#include <cuda_fp16.h>

// Values of halves by their definition: a mantissa of 10 bits times a power of two, all of which doubles hold.
__device__ double value(unsigned h) {
    int e = (h >> 10) & 31, m = h & 1023;
    double size = e == 0 ? ldexp((double)m, -24) : ldexp((double)(m + 1024), e - 25);
    return h & 0x8000 ? -size : size;
}

__device__ unsigned short bits(float f) { return __half_as_ushort(__float2half(f)); }

__global__ void to_float(int* wrong) {
    int t = threadIdx.x, count = 0;
    for (int i = 0; i < 1024; ++i) {
        unsigned h = t * 1024 + i;
        float f = __half2float(__ushort_as_half(h));
        bool is_right = (double)f == value(h) && (__float_as_uint(f) >> 31) == h >> 15;
        if ((h & 0x7c00) == 0x7c00) is_right = h & 1023 ? f != f : isinf(f) && (f < 0) == (h >> 15 != 0);
        count += !is_right;
    }
    wrong[t] = count;
}
// run: to_float<<<1, 64>>>(wrong = poison(64))
//   wrong == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

// The middle between a half and the next one is a `float`. It goes to the even one, its neighbours to the nearer; 65520 lies beyond the last half.
__global__ void of_float(int* wrong) {
    int t = threadIdx.x, count = 0;
    for (int i = 0; i < 1024; ++i) {
        unsigned h = t * 1024 + i, sign = h & 0x8000;
        if ((h & 0x7fff) >= 0x7c00) continue;
        double next = (h & 0x7fff) == 0x7bff ? ldexp(1.0, 16) : fabs(value(h + 1));
        float middle = (float)((fabs(value(h)) + next) / 2);
        float below = __uint_as_float(__float_as_uint(middle) - 1), above = __uint_as_float(__float_as_uint(middle) + 1);
        float s = sign ? -1.0f : 1.0f;
        count += bits((float)value(h)) != h;
        count += bits(s * below) != h;
        count += bits(s * middle) != h + (h & 1);
        count += bits(s * above) != h + 1;
    }
    wrong[t] = count;
}
// run: of_float<<<1, 64>>>(wrong = poison(64))
//   wrong == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

__global__ void specials(const float* x, int* y) { y[threadIdx.x] = bits(x[threadIdx.x]); }
// The least `float`, half the least half and its neighbour, the largest `float`, infinities, NaN of both signs.
// run: specials<<<1, 16>>>(x = [0, -0.0, 1e-45, -1e-45, 2.9802322387695312e-8, 2.9802325940409414e-8, 3.4028235e38, -3.4028235e38, inf, -inf, nan, 65504, 65519.996, 65520, -65520, 1], y = poison(16))
//   y == [0, 32768, 0, 32768, 0, 1, 31744, 64512, 31744, 64512, 32767, 31743, 31743, 31744, 64512, 15360]

// A NaN keeps its payload and its sign.
__global__ void payloads(unsigned* y) { y[threadIdx.x] = __float_as_uint(__half2float(__ushort_as_half(threadIdx.x % 2 ? 0xfc01 : 0x7d23))); }
// run: payloads<<<1, 4>>>(y = poison(4)) cpu
//   y == [2145673216, 4290781184, 2145673216, 4290781184]

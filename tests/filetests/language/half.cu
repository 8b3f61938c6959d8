// test run

#include <cuda_fp16.h>
#include <cuda_bf16.h>

// 1.5 is 0x3E00, 2.25 is 0x4080 (1.125 * 2): sums and products are exact in eleven bits.
__global__ void scalars(const half* x, __half* y, float* f) {
    half a = x[0], b = x[1];
    y[0] = a + b;
    y[1] = __hmul(a, b);
    y[2] = __hfma(a, b, a);
    y[3] = -a;
    y[4] = __float2half(0.1f);
    f[0] = __half2float(a);
    f[1] = (float)b * 2;
    f[2] = a < b;
    half c = 3;
    c += a;
    f[3] = c;
    f[4] = __hadd(3, 5);
}
// 3.75 = 0x4380; 3.375 = 0x42C0; 4.875 = 0x44E0; -1.5 = 0xBE00; 0.1f to half: 0x2E66.
// run: scalars<<<1, 1>>>(x = bytes(u16 0x3E00, u16 0x4080), y = bytes(u16 0, u16 0, u16 0, u16 0, u16 0), f = poison(5))
//   y == bytes(u16 0x4380, u16 0x42C0, u16 0x44E0, u16 0xBE00, u16 0x2E66)
//   f == [1.5, 4.5, 1, 4.5, 4]

__global__ void pairs(const half2* x, half2* y, float2* f) {
    half2 v = x[threadIdx.x];
    y[threadIdx.x] = __hadd2(v, __float2half2_rn(1.0f));
    f[threadIdx.x] = __half22float2(v * v);
}
// run: pairs<<<1, 1>>>(x = bytes(u16 0x3E00, u16 0x4000), y = bytes(u16 0, u16 0), f = poison(2))
//   y == bytes(u16 0x4100, u16 0x4200)
//   f == [2.25, 4]

// Round to nearest even at every edge: 2049 (tie down), 2051 (tie up), 65519 (largest), 65520 (to infinity), 2^-25 (tie to
// zero), just above, 2^-24 (smallest), NaN.
__global__ void rounding(const float* x, __half* y, float* back) {
    int i = threadIdx.x;
    y[i] = __float2half_rn(x[i]);
    back[i] = __half2float(y[i]);
}
// run: rounding<<<1, 8>>>(x = [2049, 2051, 65519, 65520, 2.98023223876953125e-8, 2.9802326e-8, -5.9604644775390625e-8, nan], y = bytes(u64 0, u64 0), back = poison(8))
//   y == bytes(u16 0x6800, u16 0x6802, u16 0x7BFF, u16 0x7C00, u16 0, u16 1, u16 0x8001, u16 0x7FFF)
//   back == [2048, 2052, 65504, inf, 0, 5.9604644775390625e-8, -5.9604644775390625e-8, nan]

template <typename T> __global__ void scale(T* x, float by) { x[threadIdx.x] = (T)((float)x[threadIdx.x] * by); }
// bfloat16 1.5 is 0x3FC0; 3.0 is 0x4040; 1.00390625 is a tie between 1 (0x3F80) and 1.0078125 (0x3F81).
// run: scale<__nv_bfloat16><<<1, 2>>>(x = bytes(u16 0x3FC0, u16 0x3F80), by = 2)
//   x == bytes(u16 0x4040, u16 0x4000)
// run: scale<half><<<1, 1>>>(x = bytes(u16 0x3E00), by = 2)
//   x == bytes(u16 0x4200)
__global__ void ties(unsigned short* out) {
    out[0] = __bfloat16_as_ushort(__float2bfloat16(1.00390625f));
    out[1] = __bfloat16_as_ushort(__float2bfloat16(1.01171875f));
}
// run: ties<<<1, 1>>>(out = poison(2))
//   out == [16256, 16258]

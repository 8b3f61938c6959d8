// test run
#include <torch/extension.h>
template <typename scalar_t> __device__ scalar_t f(scalar_t a, scalar_t b) {
    scalar_t c = a * b + scalar_t(1);
    c += a;
    return c > scalar_t(3) ? c : -c;
}
__global__ void k(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) {
        at::Half h = x[i];
        c10::BFloat16 b(x[i]);
        y[4 * i] = f(h, at::Half(2.0f));
        y[4 * i + 1] = static_cast<float>(f<c10::BFloat16>(b, 2.0f));
        y[4 * i + 2] = h * 0.5f + 2.0 * b;
        y[4 * i + 3] = std::numeric_limits<at::Half>::max() ;
        at::acc_type<at::Half, true> s = h;
        s *= 2;
    }
}
// run: k<<<1, 2>>>(x = [1.5, -2], y = poison(8), n = 2)
//   y == [5.5, 5.5, 3.75, 65504, 5, 5, -5, 65504]
__global__ void sh(float* y, unsigned* z) {
    __half v = __float2half((float)threadIdx.x);
    __half2 p = __halves2half2(v, __hneg(v));
    for (int o = 16; o; o >>= 1) { v = __hadd(v, __shfl_xor_sync(0xffffffffu, v, o)); p = __hadd2(p, __shfl_down_sync(0xffffffffu, p, o)); }
    if (threadIdx.x == 0) {
        y[0] = v; y[1] = __low2float(p); y[2] = __high2float(p);
        y[3] = __hadd_sat(v, v); y[4] = __hmax_nan(v, __ushort_as_half(0x7fff)) ; y[5] = __float2half_rz(2049.5f); y[6] = __float2half_ru(2049.5f);
        y[7] = __float2half_rd(-2049.0f); y[8] = __float2half_rz(70000.0f);
        z[0] = __heq2_mask(p, p); z[1] = __half2ushort_rz(__float2half(-3.0f)); z[2] = __hbgt2(p, p);
        z[3] = __half_as_ushort(__ull2half_rn(2049ull)); z[4] = __bfloat16_as_ushort(__ll2bfloat16_rn((1ll << 62) + (1ll << 54) + 1));
    }
}
// run: sh<<<1, 32>>>(y = poison(9), z = poison(5))
//   y == [496, 496, -496, 1, nan, 2048, 2050, -2050, 65504]
//   z == [4294967295, 0, 0, 26624, 24193]

// SwiGLU on bfloat16: gate and value side by side in each row, silu(gate) * value out; generic over the storage type.
#include <cuda_bf16.h>

template <typename T> struct Pack2;
template <> struct Pack2<__nv_bfloat16> {
    using type = __nv_bfloat162;
    static __device__ __forceinline__ float2 unpack(type v) { return __bfloat1622float2(v); }
    static __device__ __forceinline__ type pack(float2 v) { return __float22bfloat162_rn(v); }
};
template <> struct Pack2<float> {
    using type = float2;
    static __device__ __forceinline__ float2 unpack(type v) { return v; }
    static __device__ __forceinline__ type pack(float2 v) { return v; }
};

__device__ __forceinline__ float silu(const float& x) { return x / (1.0f + expf(-x)); }

template <typename T, float (*ACT_FN)(const float&)>
__global__ void act_and_mul(T* __restrict__ out, const T* __restrict__ input, const int d)
{
    using P = Pack2<T>;
    using vec = typename P::type;
    const vec* gate = reinterpret_cast<const vec*>(input + static_cast<long long>(blockIdx.x) * 2 * d);
    const vec* value = reinterpret_cast<const vec*>(input + static_cast<long long>(blockIdx.x) * 2 * d + d);
    vec* dst = reinterpret_cast<vec*>(out + static_cast<long long>(blockIdx.x) * d);
    for (int i = threadIdx.x; i < d / 2; i += blockDim.x) {
        const float2 g = P::unpack(gate[i]);
        const float2 v = P::unpack(value[i]);
        dst[i] = P::pack(make_float2(ACT_FN(g.x) * v.x, ACT_FN(g.y) * v.y));
    }
}

// `helper_math.h` of the CUDA samples (once `cutil_math.h`): arithmetic on vectors of two, three and four numbers, component by
// component, and geometry on those of floats. Written from its interface.

#define __WB_BOTH __host__ __device__ __forceinline__

// A binary operation on vectors, or on a vector and a number on either side.
#define __WB_BINARY(V, S, op, make)                                                                                           \
    __WB_BOTH V operator op(V a, V b) { return make(a, b, op); }                                                              \
    __WB_BOTH V operator op(V a, S b) { return make##_number(a, b, op); }                                                     \
    __WB_BOTH V operator op(S a, V b) { return make##_of_number(a, b, op); }                                                  \
    __WB_BOTH void operator op##=(V& a, V b) { a = a op b; }                                                                  \
    __WB_BOTH void operator op##=(V& a, S b) { a = a op b; }

#define __WB_2(a, b, op) {a.x op b.x, a.y op b.y}
#define __WB_3(a, b, op) {a.x op b.x, a.y op b.y, a.z op b.z}
#define __WB_4(a, b, op) {a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w}
#define __WB_2_number(a, b, op) {a.x op b, a.y op b}
#define __WB_3_number(a, b, op) {a.x op b, a.y op b, a.z op b}
#define __WB_4_number(a, b, op) {a.x op b, a.y op b, a.z op b, a.w op b}
#define __WB_2_of_number(a, b, op) {a op b.x, a op b.y}
#define __WB_3_of_number(a, b, op) {a op b.x, a op b.y, a op b.z}
#define __WB_4_of_number(a, b, op) {a op b.x, a op b.y, a op b.z, a op b.w}

#define __WB_ARITHMETIC(V, S, make) __WB_BINARY(V, S, +, make) __WB_BINARY(V, S, -, make) __WB_BINARY(V, S, *, make)

__WB_ARITHMETIC(float2, float, __WB_2)
__WB_ARITHMETIC(float3, float, __WB_3)
__WB_ARITHMETIC(float4, float, __WB_4)
__WB_ARITHMETIC(int2, int, __WB_2)
__WB_ARITHMETIC(int3, int, __WB_3)
__WB_ARITHMETIC(int4, int, __WB_4)
__WB_ARITHMETIC(uint2, unsigned, __WB_2)
__WB_ARITHMETIC(uint3, unsigned, __WB_3)
__WB_ARITHMETIC(uint4, unsigned, __WB_4)
__WB_BINARY(float2, float, /, __WB_2)
__WB_BINARY(float3, float, /, __WB_3)
__WB_BINARY(float4, float, /, __WB_4)

__WB_BOTH float2 operator-(const float2& a) { return {-a.x, -a.y}; }
__WB_BOTH float3 operator-(const float3& a) { return {-a.x, -a.y, -a.z}; }
__WB_BOTH float4 operator-(const float4& a) { return {-a.x, -a.y, -a.z, -a.w}; }
__WB_BOTH int2 operator-(const int2& a) { return {-a.x, -a.y}; }
__WB_BOTH int3 operator-(const int3& a) { return {-a.x, -a.y, -a.z}; }
__WB_BOTH int4 operator-(const int4& a) { return {-a.x, -a.y, -a.z, -a.w}; }

// Vectors from a number, from fewer components and from more, from other components.
#define __WB_MAKE(T, S, I, J)                                                                                                 \
    __WB_BOTH T##2 make_##T##2(S s) { return {s, s}; }                                                                        \
    __WB_BOTH T##2 make_##T##2(T##3 a) { return {a.x, a.y}; }                                                                 \
    __WB_BOTH T##2 make_##T##2(T##4 a) { return {a.x, a.y}; }                                                                 \
    __WB_BOTH T##2 make_##T##2(I##2 a) { return {S(a.x), S(a.y)}; }                                                           \
    __WB_BOTH T##2 make_##T##2(J##2 a) { return {S(a.x), S(a.y)}; }                                                           \
    __WB_BOTH T##3 make_##T##3(S s) { return {s, s, s}; }                                                                     \
    __WB_BOTH T##3 make_##T##3(T##2 a) { return {a.x, a.y, S(0)}; }                                                           \
    __WB_BOTH T##3 make_##T##3(T##2 a, S s) { return {a.x, a.y, s}; }                                                         \
    __WB_BOTH T##3 make_##T##3(T##4 a) { return {a.x, a.y, a.z}; }                                                            \
    __WB_BOTH T##3 make_##T##3(I##3 a) { return {S(a.x), S(a.y), S(a.z)}; }                                                   \
    __WB_BOTH T##3 make_##T##3(J##3 a) { return {S(a.x), S(a.y), S(a.z)}; }                                                   \
    __WB_BOTH T##4 make_##T##4(S s) { return {s, s, s, s}; }                                                                  \
    __WB_BOTH T##4 make_##T##4(T##3 a) { return {a.x, a.y, a.z, S(0)}; }                                                      \
    __WB_BOTH T##4 make_##T##4(T##3 a, S w) { return {a.x, a.y, a.z, w}; }                                                    \
    __WB_BOTH T##4 make_##T##4(I##4 a) { return {S(a.x), S(a.y), S(a.z), S(a.w)}; }                                           \
    __WB_BOTH T##4 make_##T##4(J##4 a) { return {S(a.x), S(a.y), S(a.z), S(a.w)}; }

__WB_MAKE(float, float, int, uint)
__WB_MAKE(int, int, float, uint)
__WB_MAKE(uint, unsigned, float, int)

// A function of numbers on each component.
#define __WB_EACH1(name, T, of)                                                                                               \
    __WB_BOTH T##2 name(T##2 a) { return {of(a.x), of(a.y)}; }                                                                \
    __WB_BOTH T##3 name(T##3 a) { return {of(a.x), of(a.y), of(a.z)}; }                                                       \
    __WB_BOTH T##4 name(T##4 a) { return {of(a.x), of(a.y), of(a.z), of(a.w)}; }
#define __WB_EACH2(name, T, of)                                                                                               \
    __WB_BOTH T##2 name(T##2 a, T##2 b) { return {of(a.x, b.x), of(a.y, b.y)}; }                                              \
    __WB_BOTH T##3 name(T##3 a, T##3 b) { return {of(a.x, b.x), of(a.y, b.y), of(a.z, b.z)}; }                                \
    __WB_BOTH T##4 name(T##4 a, T##4 b) { return {of(a.x, b.x), of(a.y, b.y), of(a.z, b.z), of(a.w, b.w)}; }

__WB_EACH2(fminf, float, ::fminf)
__WB_EACH2(fmaxf, float, ::fmaxf)
__WB_EACH2(fmodf, float, ::fmodf)
__WB_EACH2(min, int, ::min)
__WB_EACH2(max, int, ::max)
__WB_EACH2(min, uint, ::min)
__WB_EACH2(max, uint, ::max)
__WB_EACH1(fabs, float, ::fabsf)
__WB_EACH1(floorf, float, ::floorf)
__WB_EACH1(abs, int, ::abs)

__WB_BOTH float lerp(float a, float b, float t) { return a + t * (b - a); }
__WB_BOTH float2 lerp(float2 a, float2 b, float t) { return a + t * (b - a); }
__WB_BOTH float3 lerp(float3 a, float3 b, float t) { return a + t * (b - a); }
__WB_BOTH float4 lerp(float4 a, float4 b, float t) { return a + t * (b - a); }

__WB_BOTH float clamp(float f, float a, float b) { return ::fmaxf(a, ::fminf(f, b)); }
__WB_BOTH int clamp(int f, int a, int b) { return ::max(a, ::min(f, b)); }
__WB_BOTH unsigned clamp(unsigned f, unsigned a, unsigned b) { return ::max(a, ::min(f, b)); }
#define __WB_CLAMP(T, S)                                                                                                      \
    __WB_BOTH T##2 clamp(T##2 v, S a, S b) { return {clamp(v.x, a, b), clamp(v.y, a, b)}; }                                   \
    __WB_BOTH T##3 clamp(T##3 v, S a, S b) { return {clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b)}; }                 \
    __WB_BOTH T##4 clamp(T##4 v, S a, S b)                                                                                    \
    {                                                                                                                         \
        return {clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b)};                                      \
    }                                                                                                                         \
    __WB_BOTH T##2 clamp(T##2 v, T##2 a, T##2 b) { return {clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y)}; }                     \
    __WB_BOTH T##3 clamp(T##3 v, T##3 a, T##3 b)                                                                              \
    {                                                                                                                         \
        return {clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z)};                                            \
    }                                                                                                                         \
    __WB_BOTH T##4 clamp(T##4 v, T##4 a, T##4 b)                                                                              \
    {                                                                                                                         \
        return {clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z), clamp(v.w, a.w, b.w)};                      \
    }
__WB_CLAMP(float, float)
__WB_CLAMP(int, int)
__WB_CLAMP(uint, unsigned)

#define __WB_DOT(T, S)                                                                                                        \
    __WB_BOTH S dot(T##2 a, T##2 b) { return a.x * b.x + a.y * b.y; }                                                         \
    __WB_BOTH S dot(T##3 a, T##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }                                             \
    __WB_BOTH S dot(T##4 a, T##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__WB_DOT(float, float)
__WB_DOT(int, int)
__WB_DOT(uint, unsigned)

#define __WB_GEOMETRY(V)                                                                                                      \
    __WB_BOTH float length(V v) { return sqrtf(dot(v, v)); }                                                                  \
    __WB_BOTH V normalize(V v) { return v * rsqrtf(dot(v, v)); }
__WB_GEOMETRY(float2)
__WB_GEOMETRY(float3)
__WB_GEOMETRY(float4)

__WB_BOTH float fracf(float v) { return v - ::floorf(v); }
__WB_EACH1(fracf, float, fracf)

__WB_BOTH float3 reflect(float3 i, float3 n) { return i - 2.0f * n * dot(n, i); }
__WB_BOTH float3 cross(float3 a, float3 b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

__WB_BOTH float smoothstep(float a, float b, float x)
{
    const float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return y * y * (3.0f - 2.0f * y);
}
#define __WB_SMOOTH(V, make)                                                                                                  \
    __WB_BOTH V smoothstep(V a, V b, V x)                                                                                     \
    {                                                                                                                         \
        const V y = clamp((x - a) / (b - a), 0.0f, 1.0f);                                                                     \
        return y * y * (make(3.0f) - 2.0f * y);                                                                               \
    }
__WB_SMOOTH(float2, make_float2)
__WB_SMOOTH(float3, make_float3)
__WB_SMOOTH(float4, make_float4)

#undef __WB_BOTH
#undef __WB_BINARY
#undef __WB_2
#undef __WB_3
#undef __WB_4
#undef __WB_2_number
#undef __WB_3_number
#undef __WB_4_number
#undef __WB_2_of_number
#undef __WB_3_of_number
#undef __WB_4_of_number
#undef __WB_ARITHMETIC
#undef __WB_MAKE
#undef __WB_EACH1
#undef __WB_EACH2
#undef __WB_CLAMP
#undef __WB_DOT
#undef __WB_GEOMETRY
#undef __WB_SMOOTH

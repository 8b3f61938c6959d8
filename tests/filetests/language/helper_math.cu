// test run
// The vector arithmetic of the CUDA samples' header.
#include <helper_math.h>

__global__ void arithmetic(float* y)
{
    float3 a = make_float3(1, 2, 3);
    float3 b = make_float3(10.0f);
    float3 c = 2.0f * a + b / 4.0f - (-a);
    y[0] = c.x;
    y[1] = c.y;
    y[2] = c.z;
    c += a;
    c *= 2.0f;
    y[3] = c.x + c.y + c.z;
    int2 i = make_int2(7, 9) - make_int2(2);
    uint4 u = make_uint4(1, 2, 3, 4) * 3u;
    y[4] = i.x * 10 + i.y;
    y[5] = u.x + u.y + u.z + u.w;
    float4 d = make_float4(a, 4.0f);
    y[6] = dot(d, d);
    y[7] = length(make_float2(3, 4));
}

// c = 2a + 2.5 + a = 3a + 2.5; then (4a + 2.5) * 2 summed: 2 * (4 * 6 + 7.5)
// run: arithmetic<<<1, 1>>>(y = poison(8))
//   y == [5.5, 8.5, 11.5, 63, 57, 30, 30, 5]

__global__ void geometry(float* y, float3 a, float3 b)
{
    float3 c = cross(a, b);
    y[0] = c.x;
    y[1] = c.y;
    y[2] = c.z;
    y[3] = normalize(make_float3(0, 0, 7)).z;
    y[4] = reflect(make_float3(1, -1, 0), make_float3(0, 1, 0)).y;
    y[5] = clamp(make_float2(-3, 0.5f), 0.0f, 1.0f).x + clamp(5, 1, 3);
    y[6] = lerp(make_float2(0, 10), make_float2(10, 20), 0.25f).y;
    y[7] = smoothstep(0.0f, 1.0f, 0.5f) + fracf(2.75f) + fmaxf(a, b).x + floorf(make_float2(1.5f)).y;
    float3 half = smoothstep(make_float3(0.0f), make_float3(2.0f), make_float3(1.0f));
    y[8] = half.x + max(make_int3(1, 5, 2), make_int3(4)).y;
}

// run: geometry<<<1, 1>>>(y = poison(9), a = bytes(f32 1, f32 2, f32 3), b = bytes(f32 4, f32 5, f32 6))
//   y ~ [-3, 6, -3, 1, 1, 3, 12.5, 6.25, 5.5] rtol=1e-6
// (a normalised vector is one rounded reciprocal root away from exact; the rest is exact)

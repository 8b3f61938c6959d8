// All-pairs gravity: bodies pass through shared memory a tile at a time; masses ride in w.

#ifndef SOFTENING
#define SOFTENING 1e-2f
#endif

__device__ __forceinline__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ __forceinline__ float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }

__device__ float3 interact(float4 bi, float4 bj, float3 ai)
{
    const float3 r = {bj.x - bi.x, bj.y - bi.y, bj.z - bi.z};
    const float dist2 = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
    const float inv = rsqrtf(dist2);
    const float inv3 = inv * inv * inv;
    return ai + (bj.w * inv3) * r;
}

__global__ void nbody_forces(const float4* __restrict__ bodies, float3* __restrict__ accel, int n)
{
    extern __shared__ float4 tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 mine = i < n ? bodies[i] : make_float4(0.f, 0.f, 0.f, 0.f);

    float3 acc = make_float3(0.f, 0.f, 0.f);
    for (int start = 0; start < n; start += blockDim.x) {
        const int j = start + threadIdx.x;
        // A body without mass pulls nothing.
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0.f, 0.f, 0.f, 0.f);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < blockDim.x; ++k) acc = interact(mine, tile[k], acc);
        __syncthreads();
    }
    if (i < n) accel[i] = acc;
}

__global__ void nbody_kick(float4* velocities, const float3* accel, int n, float dt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = velocities[i];
    const float3 a = accel[i];
    v.x += a.x * dt;
    v.y += a.y * dt;
    v.z += a.z * dt;
    velocities[i] = v;
}

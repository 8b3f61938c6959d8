// test run

__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ float total(const float4& v) { return v.x + v.y + v.z + v.w; }

__global__ void vectors(const float4* in, float4* out, unsigned long* sizes) {
    int i = threadIdx.x;
    float4 v = in[i];
    v.x *= 2;
    out[i] = v + make_float4(1, 1, 1, total(v));
    if (i == 0) {
        sizes[0] = sizeof(float4); sizes[1] = alignof(float4); sizes[2] = sizeof(float3); sizes[3] = alignof(float3);
        sizes[4] = sizeof(double2); sizes[5] = alignof(double2); sizes[6] = sizeof(uchar4); sizes[7] = sizeof(longlong2);
    }
}
// run: vectors<<<1, 2>>>(in = [1, 2, 3, 4, 5, 6, 7, 8], out = poison(8), sizes = poison(8))
//   out == [3, 3, 4, 15, 11, 7, 8, 39]
//   sizes == [16, 16, 12, 4, 16, 16, 4, 16]

__global__ void punning(const float* x, float* y, unsigned* bits) {
    float4 v = reinterpret_cast<const float4*>(x)[1];
    reinterpret_cast<float4*>(y)[0] = v;
    *(float2*)&y[4] = make_float2(v.w, v.z);
    float f = x[0];
    unsigned u;
    memcpy(&u, &f, sizeof(u));
    bits[0] = u;
    bits[1] = *reinterpret_cast<unsigned*>(&f);
    bits[2] = __float_as_uint(x[1]);
    float4 loaded = __ldg((const float4*)x);
    bits[3] = (unsigned)(loaded.x + loaded.y + loaded.z + loaded.w);
    __stcs((float4*)(y + 8), loaded);
    uchar4 c = make_uchar4(1, 2, 3, 255);
    bits[4] = *(unsigned*)&c;
}
// run: punning<<<1, 1>>>(x = [1, 2, 3, 4, 5, 6, 7, 8], y = fill(12, 0), bits = poison(5))
//   y == [5, 6, 7, 8, 8, 7, 0, 0, 1, 2, 3, 4]
//   bits == [1065353216, 1065353216, 1073741824, 10, 4278387201]

__device__ int flat(uint3 t, dim3 d) { return t.x + t.y * d.x + t.z * d.x * d.y; }
__global__ void indices(int* out) {
    uint3 t = threadIdx;
    dim3 d = blockDim;
    dim3 g(4, 5);
    out[flat(threadIdx, blockDim)] = flat(t, d) * 10 + g.x + g.y + g.z;
}
// run: indices<<<1, (2, 2, 1)>>>(out = poison(4))
//   out == [10, 20, 30, 40]

__global__ void misaligned(const float* x, float* y) {
    float4 v = *reinterpret_cast<const float4*>(x + threadIdx.x);
    y[0] = v.x;
}
// run: misaligned<<<1, 1>>>(x = iota(8), y = poison(1))
//   y == [0]
// run: misaligned<<<1, 3>>>(x = iota(8), y = poison(1))
//   fault: misaligned access at 51:16 block (0,0,0) thread (1,0,0): not a multiple of 16

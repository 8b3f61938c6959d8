// Accelerations of all pairs of bodies (position and mass), softened, one thread per body.
__global__ void nbody(const float4* bodies, float4* out, int n, float softening) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; ++j) {
        float4 other = bodies[j];
        float dx = other.x - me.x;
        float dy = other.y - me.y;
        float dz = other.z - me.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
        float scale = other.w * inverse * inverse * inverse;
        ax += dx * scale;
        ay += dy * scale;
        az += dz * scale;
    }
    out[i] = make_float4(ax, ay, az, 0.0f);
}

// The kernels of `kernels/`, in OpenCL C.
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)

#define REDUCE(buffer, value, combine)                                         \
    buffer[tid] = value;                                                       \
    BARRIER;                                                                   \
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {                      \
        if (tid < s) buffer[tid] = combine(buffer[tid], buffer[tid + s]);      \
        BARRIER;                                                               \
    }

float added(float a, float b) { return a + b; }

void add_float(volatile global float* to, float value) {
    union { float f; uint u; } old, sum;
    do {
        old.f = *to;
        sum.f = old.f + value;
    } while (atomic_cmpxchg((volatile global uint*)to, old.u, sum.u) != old.u);
}

kernel void muladd(global const float* a, global const float* b, global const float* c, global float* out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = a[i] * b[i] + c[i];
}

kernel void stencil(global const float* in, global float* out, int n, float centre, float side) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= n || y >= n || z >= n) return;
    int i = (z * n + y) * n + x;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1)
        out[i] = centre * in[i] + side * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
    else
        out[i] = in[i];
}

kernel void gelu(global const float* x, global float* out, int n) {
    int i = get_global_id(0);
    if (i < n) {
        float v = x[i];
        out[i] = 0.5f * v * (1.0f + tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}

kernel void softmax(global const float* x, global float* out, int cols) {
    local float buffer[256];
    int tid = get_local_id(0);
    global const float* row = x + get_group_id(0) * cols;
    global float* result = out + get_group_id(0) * cols;
    float largest = -INFINITY;
    for (int i = tid; i < cols; i += get_local_size(0)) largest = fmax(largest, row[i]);
    REDUCE(buffer, largest, fmax);
    largest = buffer[0];
    BARRIER;
    float sum = 0.0f;
    for (int i = tid; i < cols; i += get_local_size(0)) {
        float e = exp(row[i] - largest);
        result[i] = e;
        sum += e;
    }
    REDUCE(buffer, sum, added);
    float scale = 1.0f / buffer[0];
    for (int i = tid; i < cols; i += get_local_size(0)) result[i] *= scale;
}

kernel void layernorm(global const float* x, global const float* weight, global const float* bias, global float* out, int cols, float eps) {
    local float buffer[256];
    int tid = get_local_id(0);
    global const float* row = x + get_group_id(0) * cols;
    global float* result = out + get_group_id(0) * cols;
    float sum = 0.0f;
    for (int i = tid; i < cols; i += get_local_size(0)) sum += row[i];
    REDUCE(buffer, sum, added);
    float mean = buffer[0] / cols;
    BARRIER;
    float squares = 0.0f;
    for (int i = tid; i < cols; i += get_local_size(0)) squares += (row[i] - mean) * (row[i] - mean);
    REDUCE(buffer, squares, added);
    float scale = rsqrt(buffer[0] / cols + eps);
    for (int i = tid; i < cols; i += get_local_size(0)) result[i] = (row[i] - mean) * scale * weight[i] + bias[i];
}

kernel void sum(global const float* x, global float* out, int n) {
    local float buffer[256];
    int tid = get_local_id(0);
    float sum = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
    REDUCE(buffer, sum, added);
    if (tid == 0) add_float(out, buffer[0]);
}

kernel void transpose(global const float* in, global float* out, int n) {
    local float tile[32][33];
    int tx = get_local_id(0), ty = get_local_id(1);
    int x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;
    for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + j) * n + x];
    BARRIER;
    x = get_group_id(1) * 32 + tx, y = get_group_id(0) * 32 + ty;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[tx][ty + j];
}

kernel void matmul_naive(global const float* a, global const float* b, global float* c, int n) {
    int col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

kernel void matmul_tiled(global const float* a, global const float* b, global float* c, int n) {
    local float as[16][16], bs[16][16];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_group_id(1) * 16 + ty, col = get_group_id(0) * 16 + tx;
    float sum = 0.0f;
    for (int t = 0; t < n / 16; ++t) {
        as[ty][tx] = a[row * n + t * 16 + tx];
        bs[ty][tx] = b[(t * 16 + ty) * n + col];
        BARRIER;
        for (int k = 0; k < 16; ++k) sum += as[ty][k] * bs[k][tx];
        BARRIER;
    }
    c[row * n + col] = sum;
}

kernel void histogram(global const uchar* x, global uint* out, int n) {
    local uint bins[256];
    int tid = get_local_id(0);
    bins[tid] = 0;
    BARRIER;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&bins[x[i]]);
    BARRIER;
    atomic_add(&out[tid], bins[tid]);
}

kernel void nbody(global const float4* bodies, global float4* out, int n, float softening) {
    int i = get_global_id(0);
    if (i >= n) return;
    float4 me = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; ++j) {
        float4 other = bodies[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
        float scale = other.w * inverse * inverse * inverse;
        ax += dx * scale, ay += dy * scale, az += dz * scale;
    }
    out[i] = (float4)(ax, ay, az, 0.0f);
}

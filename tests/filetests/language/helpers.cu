// test run

__device__ int fib(int n);
__device__ __forceinline__ float lerp(float a, float b, float t) { return a + t * (b - a); }
__host__ __device__ inline int clamp_int(int x, int lo, int hi) { return x < lo ? lo : x > hi ? hi : x; }
static __device__ int with_default(int x, int y = 5) { return x * 10 + y; }
__device__ int early(int x) {
    if (x < 0) return -1;
    for (int i = 0; i < 100; i++) if (i * i >= x) return i;
    return 1000;
}

__global__ void helpers(int* out, float* f) {
    out[0] = fib(15);
    out[1] = clamp_int(50, 0, 9) + clamp_int(-4, 0, 9) + clamp_int(3, 0, 9);
    out[2] = with_default(1) + with_default(1, 2);
    out[3] = early(-5) + early(50) + early(1000000);
    f[0] = lerp(2.0f, 4.0f, 0.25f);
}

__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

int host_side(int a, double b) { return clamp_int(a, 0, 10) + (int)b; }
// run: helpers<<<1, 1>>>(out = poison(4), f = poison(1))
//   out == [610, 12, 27, 1007]
//   f == [2.5]
// call: host_side(50, 2.9) == 12

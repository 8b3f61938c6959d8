// test run

__device__ void swap_them(int& a, int& b) { int t = a; a = b; b = t; }
__device__ int kind(int&) { return 1; }
__device__ int kind(const int&) { return 2; }
__device__ int kind(int&&) { return 3; }
__device__ int& pick(int* p, int i) { return p[i]; }
__device__ int sum(const int& a, const int& b = 5) { return a + b; }

__global__ void refs(int* out) {
    int a = 1, b = 2;
    swap_them(a, b);
    out[0] = a * 10 + b;
    const int c = 3;
    out[1] = kind(a);
    out[2] = kind(c);
    out[3] = kind(a + 1);
    out[4] = kind(std::move(a));
    pick(out, 5) = 55;
    out[6] = sum(2);
    out[7] = sum(1.9f, 4);
    int& r = b;
    r += 40;
    out[8] = b;
    const int& held = 6 * 7;
    out[9] = held;
    auto& again = r;
    again = 9;
    out[10] = b;
    auto&& forward = a + 5;
    out[11] = forward;
    auto&& bound = b;
    bound = 12;
    out[12] = b;
}
// run: refs<<<1, 1>>>(out = poison(13))
//   out == [21, 1, 2, 3, 3, 55, 7, 5, 41, 42, 9, 7, 12]

__device__ int many(int a, int b = 2, int c = 3) { return a * 100 + b * 10 + c; }
__device__ int by(float) { return 1; }
__device__ int by(double) { return 2; }
__device__ int by(const void*) { return 3; }
__device__ int by(const float*) { return 4; }
__global__ void defaults(int* out, float* f) {
    out[0] = many(1);
    out[1] = many(1, 5);
    out[2] = many(1, 5, 9);
    out[3] = by(1.0f);
    out[4] = by(1.0);
    out[5] = by(out);
    out[6] = by(f);
}
// run: defaults<<<1, 1>>>(out = poison(7), f = null)
//   out == [123, 153, 159, 1, 2, 3, 4]

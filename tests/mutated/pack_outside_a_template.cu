// Defaults were kept by the place of the parameter, though a pack of nothing has none.
__device__ int f(int... x, int n = 3) { return n; }
template <typename T, 0 F, typename... In> __global__ void g(F f, T* out, int n = 2, const In*... in) {}
template <typename... T> struct S { __device__ int f(T... x, int b = 2) { return b; } };
__global__ void k(int* y) { S<int, int> s; y[0] = f() + s.f(1, 2); }

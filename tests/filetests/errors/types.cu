// test error

__device__ float two(float a, float b) { return a + b; }
__global__ void f(float* x, double* d, const float* c, int n) {
    float y = x * 2.0f;
    x = d;
    c[0] = 1.0f;
    two(1.0f);
    n.x = 3;
    n[0] = 1;
    *n = 4;
    int k = x;
    5 = n;
    return 3;
}
__global__ int g() { return 1; }
// error WB0303 5:17 `float*`
// error WB0303 6:9 `double*`
// error WB0306 7:5 const
// error WB0305 8:5 `two`
// error WB0303 9:5
// error WB0303 10:5
// error WB0303 11:5
// error WB0303 12:13
// error WB0306 13:5
// error WB0307 14:12
// error WB0310 16:12

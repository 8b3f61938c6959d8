// test error

__global__ void f(float* out, int count) {
    int i = blockIdx.x * blockDim.x + threadidx.x;
    out[i] = sqrtff(2.0f) + cuont;
    undeclared(1);
}
// error WB0301 4:39 `threadidx`
// error WB0301 5:14 `sqrtff`
// error WB0301 5:29 `cuont`
// error WB0301 6:5 `undeclared`

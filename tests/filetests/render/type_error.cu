// test render

__global__ void scale(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x * factor;
}
// render:
// error[WB0303]: `*` cannot take `const float*` and `float`
//  --> t.cu:5:25
//   |
// 5 |     if (i < n) y[i] = x * factor;
//   |                       - ^ ------ this is `float`
//   |                       |
//   |                       this is `const float*`
//   |
//   = help: read what the pointer points at: `*p` or `p[i]`

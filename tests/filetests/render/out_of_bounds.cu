// test render

__global__ void scale(float* x, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] *= factor;
}
// run: scale<<<2, 4>>>(x = [1, 2, 3, 4, 5, 6], factor = 2)
// render:
// kernel fault: out-of-bounds read in `scale` at t.cu:5:5, block (1, 0, 0), thread (2, 0, 0)
//   |
// 5 |     x[i] *= factor;
//   |     ^^^^ reads index 6 of `x`, which has 6 elements (float)

// test render

template <typename T>
__global__ void copy(const T* x, T* y) { y[threadIdx.x] = x[threadIdx.x]; }

__global__ void sum(const float* x, float* total) {
    float4 v = {x[0], x[1], x[2], x[3]};
    total[0] = tex2D(v, 1, 2);
}
// render:
// error[WB0401]: templates are not supported yet
//  --> t.cu:3:1
//   |
// 3 | template <typename T>
//   | ^^^^^^^^^^^^^^^^^^^^^
//   |
//   = help: write the function once for each type, with the type in place of the parameter
//
// error[WB0401]: `float4` is not supported yet: it is a vector type (T6)
//  --> t.cu:7:5
//   |
// 7 |     float4 v = {x[0], x[1], x[2], x[3]};
//   |     ^^^^^^
//   |
//   = help: use one variable for each component, and index the array of scalars

// test render

template <typename T>
__global__ void copy(const T* x, T* y) { y[threadIdx.x] = x[threadIdx.x]; }

__global__ void sum(const float* x, float* total) {
    atomicAdd(total, x[threadIdx.x]);
    __syncthreads();
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
// error[WB0401]: `atomicAdd` is not supported yet: it is an atomic function (T5)
//  --> t.cu:7:5
//   |
// 7 |     atomicAdd(total, x[threadIdx.x]);
//   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//   |
//   = help: let one thread loop over the values, or write one result per thread and add them up afterwards
//
// error[WB0401]: `__syncthreads` is not supported yet: it is a block barrier (T2)
//  --> t.cu:8:5
//   |
// 8 |     __syncthreads();
//   |     ^^^^^^^^^^^^^^^
//   |
//   = help: let each thread work on its own elements, or split the kernel in two launches where threads must wait

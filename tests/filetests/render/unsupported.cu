// test render

__global__ void parts(int* x) {
    struct { int a : 3; } s = {1};
    x[0] = s.a;
}

__global__ void sum(const float* x, float* total) {
    atomicAdd(total, x[threadIdx.x]);
    __syncthreads();
}
// render:
// error[WB0401]: bit-fields are not supported: `a`
//  --> t.cu:4:18
//   |
// 4 |     struct { int a : 3; } s = {1};
//   |                  ^
//   |
//   = help: use a whole integer, and shifts and masks
//
// error[WB0401]: `atomicAdd` is not supported yet: it is an atomic function (T5)
//  --> t.cu:9:5
//   |
// 9 |     atomicAdd(total, x[threadIdx.x]);
//   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//   |
//   = help: let one thread loop over the values, or write one result per thread and add them up afterwards
//
// error[WB0401]: `__syncthreads` is not supported yet: it is a block barrier (T2)
//   --> t.cu:10:5
//    |
// 10 |     __syncthreads();
//    |     ^^^^^^^^^^^^^^^
//    |
//    = help: let each thread work on its own elements, or split the kernel in two launches where threads must wait

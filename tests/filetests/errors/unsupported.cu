// test error

template <typename T>
__global__ void t(T* x) { x[0] = 1; }

struct Pair { int a; float b; };

__global__ void barrier(float* x) {
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[0];
}

__global__ void warp(float* x) {
    x[0] = __shfl_down_sync(0xffffffff, x[0], 1);
    atomicAdd(&x[0], 1.0f);
}

__global__ void jump(int* x) {
    goto end;
end:
    x[0] = 1;
}
// error WB0401 9:22 shared memory
// error WB0401 11:5 __syncthreads
// error WB0401 16:12 __shfl_down_sync
// error WB0401 17:5 atomicAdd
// error WB0401 21:5 goto
// error WB0401 22:1 labels

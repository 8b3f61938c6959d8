// Sum of all elements: each thread strides over the grid, each block reduces in shared memory and adds one number.
#define THREADS 256

__global__ void sum(const float* x, float* out, int n) {
    __shared__ float buffer[THREADS];
    int tid = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    buffer[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buffer[tid] += buffer[tid + s];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(out, buffer[0]);
}

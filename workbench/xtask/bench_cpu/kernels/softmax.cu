// Softmax of each row, one block of 256 threads a row, with tree reductions in shared memory.
#define THREADS 256

__global__ void softmax(const float* x, float* out, int cols) {
    __shared__ float buffer[THREADS];
    int tid = threadIdx.x;
    const float* row = x + blockIdx.x * cols;
    float* result = out + blockIdx.x * cols;

    float largest = -INFINITY;
    for (int i = tid; i < cols; i += blockDim.x) largest = fmaxf(largest, row[i]);
    buffer[tid] = largest;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buffer[tid] = fmaxf(buffer[tid], buffer[tid + s]);
        __syncthreads();
    }
    largest = buffer[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        float e = expf(row[i] - largest);
        result[i] = e;
        sum += e;
    }
    buffer[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buffer[tid] += buffer[tid + s];
        __syncthreads();
    }
    float scale = 1.0f / buffer[0];
    for (int i = tid; i < cols; i += blockDim.x) result[i] *= scale;
}

// Layer norm of each row, one block of 256 threads a row, with tree reductions in shared memory.
#define THREADS 256

__global__ void layernorm(const float* x, const float* weight, const float* bias, float* out, int cols, float eps) {
    __shared__ float buffer[THREADS];
    int tid = threadIdx.x;
    const float* row = x + blockIdx.x * cols;
    float* result = out + blockIdx.x * cols;

    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) sum += row[i];
    buffer[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buffer[tid] += buffer[tid + s];
        __syncthreads();
    }
    float mean = buffer[0] / cols;
    __syncthreads();

    float squares = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        float d = row[i] - mean;
        squares += d * d;
    }
    buffer[tid] = squares;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buffer[tid] += buffer[tid + s];
        __syncthreads();
    }
    float scale = rsqrtf(buffer[0] / cols + eps);
    for (int i = tid; i < cols; i += blockDim.x) result[i] = (row[i] - mean) * scale * weight[i] + bias[i];
}

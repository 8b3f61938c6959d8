// Layer norm forward, a block a row: mean and variance by warp shuffles, affine at the end, statistics kept for backward.

template <typename T>
__device__ __forceinline__ T WarpReduceSum(T val)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

template <typename T>
__device__ T BlockReduceSum(T val, T* shared)
{
    const int lid = threadIdx.x % 32;
    const int wid = threadIdx.x / 32;
    val = WarpReduceSum(val);
    __syncthreads();  // the slots may still be read by an earlier call
    if (lid == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / 32) ? shared[lid] : T(0);
    if (wid == 0) val = WarpReduceSum(val);
    return val;
}

template <typename T>
__global__ void layernorm_forward(int N, T eps, const T* __restrict__ X, const T* __restrict__ gamma,
                                  const T* __restrict__ beta, T* __restrict__ Y, T* __restrict__ mean, T* __restrict__ rstd)
{
    __shared__ T shared[32];
    __shared__ T row_mean, row_rstd;
    const int i = blockIdx.x;

    T sum = 0;
    for (int j = threadIdx.x; j < N; j += blockDim.x) sum += X[i * N + j];
    sum = BlockReduceSum<T>(sum, shared);
    if (threadIdx.x == 0) row_mean = sum / N;
    __syncthreads();

    T squares = 0;
    for (int j = threadIdx.x; j < N; j += blockDim.x) {
        const T centred = X[i * N + j] - row_mean;
        squares += centred * centred;
    }
    squares = BlockReduceSum<T>(squares, shared);
    if (threadIdx.x == 0) {
        row_rstd = T(1) / sqrt(squares / N + eps);
        mean[i] = row_mean;
        rstd[i] = row_rstd;
    }
    __syncthreads();

    for (int j = threadIdx.x; j < N; j += blockDim.x) {
        const T g = gamma == nullptr ? T(1) : gamma[j];
        const T b = beta == nullptr ? T(0) : beta[j];
        Y[i * N + j] = (X[i * N + j] - row_mean) * row_rstd * g + b;
    }
}

// Layer norm backward: the input's gradient a block a row, the weight's and bias's by columns with a 2-D block.

template <int kThreads>
__global__ void layernorm_grad_input(const float* __restrict__ dY, const float* __restrict__ X,
                                     const float* __restrict__ mean, const float* __restrict__ rstd,
                                     const float* __restrict__ gamma, float* dX, const int N)
{
    const int row = blockIdx.x;
    const float* dy = dY + row * N;
    const float* x = X + row * N;
    float* dx = dX + row * N;
    const float mean_val = __ldg(mean + row);
    const float rstd_val = __ldg(rstd + row);

    float stats_x1 = 0, stats_x2 = 0;
    for (int j = threadIdx.x; j < N; j += kThreads) {
        const float c_loss = dy[j] * gamma[j];
        stats_x1 += c_loss;
        stats_x2 += c_loss * (x[j] - mean_val) * rstd_val;
    }

    __shared__ float2 buf[kThreads];
    buf[threadIdx.x] = make_float2(stats_x1, stats_x2);
    __syncthreads();
#pragma unroll
    for (int s = kThreads / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            float2 a = buf[threadIdx.x], b = buf[threadIdx.x + s];
            a.x += b.x;
            a.y += b.y;
            buf[threadIdx.x] = a;
        }
        __syncthreads();
    }
    stats_x1 = buf[0].x;
    stats_x2 = buf[0].y;

    const float term1 = (1.0f / N) * rstd_val;
    for (int j = threadIdx.x; j < N; j += kThreads) {
        float f_grad_input = N * gamma[j] * dy[j];
        f_grad_input -= (x[j] - mean_val) * rstd_val * stats_x2;
        f_grad_input -= stats_x1;
        f_grad_input *= term1;
        dx[j] = f_grad_input;
    }
}

// One column a thread in x; the rows are shared among y, then folded.
template <int BLOCK_X, int BLOCK_Y>
__global__ void layernorm_grad_weights(const float* __restrict__ dY, const float* __restrict__ X,
                                       const float* __restrict__ mean, const float* __restrict__ rstd,
                                       float* __restrict__ dgamma, float* __restrict__ dbeta, int M, int N)
{
    __shared__ float s_dg[BLOCK_Y][BLOCK_X + 1];
    __shared__ float s_db[BLOCK_Y][BLOCK_X + 1];
    const int j = blockIdx.x * BLOCK_X + threadIdx.x;
    float dg = 0.f, db = 0.f;
    if (j < N) {
        for (int i = threadIdx.y; i < M; i += BLOCK_Y) {
            dg += dY[i * N + j] * (X[i * N + j] - mean[i]) * rstd[i];
            db += dY[i * N + j];
        }
    }
    s_dg[threadIdx.y][threadIdx.x] = dg;
    s_db[threadIdx.y][threadIdx.x] = db;
    for (int half = BLOCK_Y / 2; half >= 1; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half) {
            s_dg[threadIdx.y][threadIdx.x] += s_dg[threadIdx.y + half][threadIdx.x];
            s_db[threadIdx.y][threadIdx.x] += s_db[threadIdx.y + half][threadIdx.x];
        }
    }
    if (threadIdx.y == 0 && j < N) {
        dgamma[j] = s_dg[0][threadIdx.x];
        dbeta[j] = s_db[0][threadIdx.x];
    }
}

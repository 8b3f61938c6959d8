// Layer norm backward: the input's gradient a block a row, the weight's and bias's by columns with a 2-D block.

// With h = (x - mean) * rstd and w = gamma * dy:  dx = rstd * (w - mean(w) - h * mean(w * h)).
template <int kThreads>
__global__ void layernorm_grad_input(const float* __restrict__ dy, const float* __restrict__ x,
                                     const float* __restrict__ mean, const float* __restrict__ rstd,
                                     const float* __restrict__ gamma, float* dx, const int cols)
{
    __shared__ float2 sums[kThreads];  // of w and of w * h
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    const float centre = __ldg(&mean[blockIdx.x]);
    const float scale = __ldg(&rstd[blockIdx.x]);

    float2 mine = make_float2(0.f, 0.f);
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float w = gamma[c] * dy[start + c];
        mine.x += w;
        mine.y += w * ((x[start + c] - centre) * scale);
    }
    sums[threadIdx.x] = mine;
    __syncthreads();
#pragma unroll
    for (int width = kThreads / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) {
            const float2 other = sums[threadIdx.x + width];
            sums[threadIdx.x].x += other.x;
            sums[threadIdx.x].y += other.y;
        }
        __syncthreads();
    }

    const float mean_w = sums[0].x / cols, mean_wh = sums[0].y / cols;
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float h = (x[start + c] - centre) * scale;
        dx[start + c] = scale * (gamma[c] * dy[start + c] - mean_w - h * mean_wh);
    }
}

// One column a thread in x; the rows are shared among y, then folded.
template <int kCols, int kRows>
__global__ void layernorm_grad_weights(const float* __restrict__ dy, const float* __restrict__ x,
                                       const float* __restrict__ mean, const float* __restrict__ rstd,
                                       float* __restrict__ dgamma, float* __restrict__ dbeta, int rows, int cols)
{
    __shared__ float partial[2][kRows][kCols + 1];
    const int c = blockIdx.x * kCols + threadIdx.x;
    float of_gamma = 0.f, of_beta = 0.f;
    for (int r = threadIdx.y; c < cols && r < rows; r += kRows) {
        const float g = dy[r * cols + c];
        of_gamma += g * (x[r * cols + c] - mean[r]) * rstd[r];
        of_beta += g;
    }
    partial[0][threadIdx.y][threadIdx.x] = of_gamma;
    partial[1][threadIdx.y][threadIdx.x] = of_beta;
    for (int half = kRows / 2; half >= 1; half /= 2) {
        __syncthreads();
        if (threadIdx.y >= half) continue;
        for (auto& plane : partial) plane[threadIdx.y][threadIdx.x] += plane[threadIdx.y + half][threadIdx.x];
    }
    if (threadIdx.y == 0 && c < cols) {
        dgamma[c] = partial[0][0][threadIdx.x];
        dbeta[c] = partial[1][0][threadIdx.x];
    }
}

// test run

// Softmax of rows, one block a row: block maximum and sum by shuffles and shared memory.
__device__ float warp_max(float v) {
    for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o));
    return v;
}
__device__ float warp_sum(float v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    return v;
}
__global__ void softmax(const float* x, float* y, int cols) {
    __shared__ float part[32];
    __shared__ float row_max, row_sum;
    const float* row = x + blockIdx.x * cols;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) / 32;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
    m = warp_max(m);
    if (lane == 0) part[warp] = m;
    __syncthreads();
    if (warp == 0) {
        m = lane < warps ? part[lane] : -INFINITY;
        m = warp_max(m);
        if (lane == 0) row_max = m;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(row[i] - row_max);
    sum = warp_sum(sum);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < warps ? part[lane] : 0.0f;
        sum = warp_sum(sum);
        if (lane == 0) row_sum = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(row[i] - row_max) / row_sum;
}
// Histogram with a private copy in shared memory.
__global__ void histogram(const int* x, int* bins, int n) {
    __shared__ int own[16];
    for (int b = threadIdx.x; b < 16; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i] % 16], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 16; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}
// Blelloch's exclusive scan of a block (up-sweep, down-sweep).
__global__ void scan(int* x, int n) {
    extern __shared__ int t[];
    int i = threadIdx.x, offset = 1;
    t[2 * i] = x[2 * i];
    t[2 * i + 1] = x[2 * i + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (i < d) t[offset * (2 * i + 2) - 1] += t[offset * (2 * i + 1) - 1];
        offset *= 2;
    }
    if (i == 0) t[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (i < d) {
            int a = offset * (2 * i + 1) - 1, b = offset * (2 * i + 2) - 1;
            int v = t[a];
            t[a] = t[b];
            t[b] += v;
        }
    }
    __syncthreads();
    x[2 * i] = t[2 * i];
    x[2 * i + 1] = t[2 * i + 1];
}
// Bitonic sort of a block.
__global__ void sort(int* x) {
    __shared__ int s[64];
    unsigned i = threadIdx.x;
    s[i] = x[i];
    __syncthreads();
    for (unsigned k = 2; k <= blockDim.x; k <<= 1) {
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned other = i ^ j;
            if (other > i) {
                bool up = (i & k) == 0;
                if ((s[i] > s[other]) == up) {
                    int v = s[i];
                    s[i] = s[other];
                    s[other] = v;
                }
            }
            __syncthreads();
        }
    }
    x[i] = s[i];
}
// Transpose through a padded tile, rows of 8 by blocks of 8 x 2.
__global__ void transpose(const float* x, float* y, int w, int h) {
    __shared__ float tile[8][9];
    int c = blockIdx.x * 8 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    for (int j = 0; j < 8; j += 2)
        if (c < w && r + j < h) tile[threadIdx.y + j][threadIdx.x] = x[(r + j) * w + c];
    __syncthreads();
    c = blockIdx.y * 8 + threadIdx.x;
    r = blockIdx.x * 8 + threadIdx.y;
    for (int j = 0; j < 8; j += 2)
        if (c < h && r + j < w) y[(r + j) * h + c] = tile[threadIdx.x][threadIdx.y + j];
}
// ln 1 .. ln 5: the weights are 1 .. 5 over 15; a row of zeros: a third each with three columns would be 1/5 here.
// Tolerance: expf and the division are within 4 ulp of float, 5e-7.
// run: softmax<<<2, 64>>>(x = [0, 0.6931471805599453, 1.0986122886681098, 1.3862943611198906, 1.6094379124341003, 0, 0, 0, 0, 0], y = poison(10), cols = 5)
//   y ~ [0.06666666666666667, 0.13333333333333333, 0.2, 0.26666666666666666, 0.3333333333333333, 0.2, 0.2, 0.2, 0.2, 0.2] rtol=1e-6
// The same with more warps than needed, and one thread.
// run: softmax<<<2, 160>>>(x = [0, 0.6931471805599453, 1.0986122886681098, 1.3862943611198906, 1.6094379124341003, 0, 0, 0, 0, 0], y = poison(10), cols = 5)
//   y ~ [0.06666666666666667, 0.13333333333333333, 0.2, 0.26666666666666666, 0.3333333333333333, 0.2, 0.2, 0.2, 0.2, 0.2] rtol=1e-6
// 0 .. 99 modulo 16: six times all, and 0 .. 3 once more.
// run: histogram<<<3, 20>>>(x = iota(100), bins = fill(16, 0), n = 100)
//   bins == [7, 7, 7, 7, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6]
// i (i - 1) / 2
// run: scan<<<1, 8, 64>>>(x = iota(16), n = 16)
//   x == [0, 0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105]
// run: sort<<<1, 16>>>(x = [3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8, 9, 7, 9, 3])
//   x == [-8, -5, -1, 1, 2, 3, 3, 3, 4, 5, 5, 6, 7, 9, 9, 9]
// 3 rows of 10.
// run: transpose<<<(2, 1), (8, 2)>>>(x = iota(30), y = poison(30), w = 10, h = 3)
//   y == [0,10,20,1,11,21,2,12,22,3,13,23,4,14,24,5,15,25,6,16,26,7,17,27,8,18,28,9,19,29]

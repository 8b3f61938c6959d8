// test run

// Each block reversed.
__global__ void reverse(const int* x, int* out) {
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = x[blockIdx.x * blockDim.x + i];
    __syncthreads();
    out[blockIdx.x * blockDim.x + i] = tile[blockDim.x - 1 - i];
}
// A tree sum; the loop is uniform, its body is not.
__global__ void sum(const float* x, float* out, int n) {
    extern __shared__ float part[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
// Threads that left early do not count.
__global__ void early(int* x, int n) {
    __shared__ int tile[8];
    int i = threadIdx.x;
    if (i >= n) return;
    tile[i] = i * 10;
    __syncthreads();
    x[i] = tile[n - 1 - i];
}
// A matrix product by tiles of 4; a is n x n, all of it.
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[4][4], tb[4][5];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 4 + ty, col = blockIdx.x * 4 + tx;
    float acc = 0.0f;
    for (int t = 0; t < (n + 3) / 4; t++) {
        ta[ty][tx] = row < n && t * 4 + tx < n ? a[row * n + t * 4 + tx] : 0.0f;
        tb[ty][tx] = t * 4 + ty < n && col < n ? b[(t * 4 + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 4; k++) acc += ta[ty][k] * tb[k][tx];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = acc;
}
// A condition read from shared memory decides for all; break leaves the loop together.
__global__ void until(int* out, int limit) {
    __shared__ int total;
    __shared__ bool stop;
    if (threadIdx.x == 0) { total = 0; stop = false; }
    __syncthreads();
    int rounds = 0;
    while (true) {
        atomicAdd(&total, 1);
        __syncthreads();
        if (threadIdx.x == 0) stop = total >= limit;
        __syncthreads();
        if (stop) break;
        rounds++;
    }
    out[threadIdx.x] = rounds * 1000 + total;
}
// Loops with continue before the barrier, on a uniform condition.
__global__ void skipping(int* out) {
    __shared__ int s[4];
    int i = threadIdx.x, acc = 0;
    for (int k = 0; k < 6; k++) {
        if (k % 2) continue;
        s[i] = i + k;
        __syncthreads();
        acc += s[(i + 1) % 4];
        __syncthreads();
        if (k == 4) break;
    }
    out[i] = acc;
}
__device__ int block_sum(int x, int* scratch) {
    int t = threadIdx.x;
    scratch[t] = x;
    __syncthreads();
    if (blockDim.x == 1) return x;
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        int mine = t < s ? scratch[t + s] : 0;
        __syncthreads();
        scratch[t] += mine;
        __syncthreads();
    }
    return scratch[0];
}
__global__ void helper(int* out) {
    __shared__ int scratch[16];
    int a = block_sum(threadIdx.x, scratch);
    __syncthreads();
    int b = block_sum(1, scratch);
    out[threadIdx.x] = 100 * a + b;
}
__global__ void counts(int* out) {
    int i = threadIdx.x;
    int n = __syncthreads_count(i % 3 == 0);
    int all = __syncthreads_and(i < 40), most = __syncthreads_and(i < 39);
    int any = __syncthreads_or(i == 39), none = __syncthreads_or(i == 40);
    out[i] = n * 10000 + all * 1000 + most * 100 + any * 10 + none;
}
// Barriers under uniform switches, and in 2-D and 3-D blocks.
__global__ void switched(int* out, int which) {
    __shared__ int s[24];
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    s[t] = t;
    switch (which) {
        case 0: __syncthreads(); out[t] = s[23 - t]; break;
        case 1: __syncthreads(); s[t] = s[t] + 1;
        case 2: __syncthreads(); out[t] = s[(t + 1) % 24]; break;
        default: out[t] = -1;
    }
}
// Local arrays and their poison live across barriers.
__global__ void locals(unsigned* out) {
    unsigned a[3];
    int i = threadIdx.x;
    a[1] = i;
    __syncthreads();
    a[i % 2] += 5;
    __syncthreads();
    out[i] = a[1] + (a[2] == 0xCBCBCBCBu ? 1000 : 0);
}
__global__ void one(int* out) {
    __syncthreads();
    out[0] = 7;
}
// run: reverse<<<2, 4>>>(x = iota(8), out = poison(8))
//   out == [3, 2, 1, 0, 7, 6, 5, 4]
// 0 + 1 + .. + 63, 64 + .. + 99
// run: sum<<<2, 64, 256>>>(x = iota(100), out = poison(2), n = 100)
//   out == [2016, 2934]
// run: early<<<1, 8>>>(x = poison(5), n = 5)
//   x == [40, 30, 20, 10, 0]
// run: early<<<1, 8>>>(x = [], n = 0)
// a b for a = 0..8 (3 x 3) and b = 2 a: by hand.
// run: matmul<<<(1, 1), (4, 4)>>>(a = iota(9), b = [0, 2, 4, 6, 8, 10, 12, 14, 16], c = poison(9), n = 3)
//   c == [30, 36, 42, 84, 108, 132, 138, 180, 222]
// 5 x 5 times the identity.
// run: matmul<<<(2, 2), (4, 4)>>>(a = iota(25), b = [1,0,0,0,0, 0,1,0,0,0, 0,0,1,0,0, 0,0,0,1,0, 0,0,0,0,1], c = poison(25), n = 5)
//   c == iota(25)
// Five threads: totals 5, 10, 15; the third round ends it.
// run: until<<<1, 5>>>(out = poison(5), limit = 11)
//   out == [2015, 2015, 2015, 2015, 2015]
// k = 0, 2, 4: three times the neighbour, plus 6.
// run: skipping<<<1, 4>>>(out = poison(4))
//   out == [9, 12, 15, 6]
// run: helper<<<1, 16>>>(out = poison(16))
//   out == fill(16, 12016)
// run: helper<<<1, 1>>>(out = poison(1))
//   out == [1]
// run: counts<<<1, 40>>>(out = poison(40))
//   out == fill(40, 141010)
// run: switched<<<1, (2, 3, 4)>>>(out = poison(24), which = 0)
//   out == [23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0]
// run: switched<<<1, (2, 3, 4)>>>(out = poison(24), which = 1)
//   out == [2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,1]
// run: switched<<<1, (24, 1, 1)>>>(out = poison(24), which = 2)
//   out == [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,0]
// run: switched<<<1, 24>>>(out = poison(24), which = 9)
//   out == fill(24, -1)
// run: locals<<<1, 4>>>(out = poison(4)) cpu
//   out == [1000, 1006, 1002, 1008]
// run: one<<<3, 1>>>(out = [0])
//   out == [7]

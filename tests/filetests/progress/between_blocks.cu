// test run

__device__ unsigned done_blocks;
// The last block to finish adds up what all wrote.
__global__ void last_block(const int* x, int* partial, int* out) {
    __shared__ bool last;
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 32 + t];
    __syncthreads();
    for (int k = 16; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&done_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += ((volatile int*)partial)[b];
        out[0] = total;
    }
}
// A scan over blocks that looks back: each waits for the one before it.
__global__ void look_back(const int* x, int* out, int* sums, volatile int* ready) {
    int b = blockIdx.x;
    int before = 0;
    if (b > 0) {
        while (ready[b - 1] == 0) { }
        __threadfence();
        before = ((volatile int*)sums)[b - 1];
    }
    out[b] = before + x[b];
    ((volatile int*)sums)[b] = out[b];
    __threadfence();
    ready[b] = 1;
}
// A lock around a plain sum.
__global__ void locked(int* lock, int* sum) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int*)sum = *(volatile int*)sum + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
__global__ void lock_by_exchange(int* lock, int* sum) {
    if (threadIdx.x == 0) {
        while (atomicExch(lock, 1) != 0) __nanosleep(20);
        *sum += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
    __syncthreads();
}
// What only a later block brings.
__global__ void later(volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        while (*flag == 0) {
        }
        out[0] = 1;
    } else {
        *flag = 1;
    }
}
// A thread of one's own block that comes after.
__global__ void own_block(int* flag) {
    if (threadIdx.x == 0)
        while (atomicAdd(flag, 0) == 0) { }
    else
        atomicExch(flag, 1);
}
// run: last_block<<<50, 32>>>(x = iota(1600), partial = poison(50), out = poison(1))
//   out == [1279200]
//   symbol done_blocks == [0]
// run: look_back<<<64, 1>>>(x = fill(64, 3), out = poison(64), sums = fill(64, 0), ready = fill(64, 0))
//   out == [3,6,9,12,15,18,21,24,27,30,33,36,39,42,45,48,51,54,57,60,63,66,69,72,75,78,81,84,87,90,93,96,99,102,105,108,111,114,117,120,123,126,129,132,135,138,141,144,147,150,153,156,159,162,165,168,171,174,177,180,183,186,189,192]
// run: locked<<<200, 64>>>(lock = [0], sum = [0])
//   sum == [12800]
// run: lock_by_exchange<<<500, 32>>>(lock = [0], sum = [0])
//   sum == [500]
// run: later<<<2, 1>>>(flag = [0], out = [0]) serial
//   fault: no progress at 65:9 block (0,0,0) thread (0,0,0): a later block
// run: own_block<<<1, 2>>>(flag = [0])
//   flag == [1]
// A lock that nobody gives back.
// run: locked<<<4, 4>>>(lock = [1], sum = [0])
//   fault: no progress at 44:5 block (0,0,0) thread (0,0,0)

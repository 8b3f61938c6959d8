// test run

// Threads that wait for others of their own block, by flags in shared and in global memory.
__global__ void next_thread(volatile int* flag, int* out) {
    int t = threadIdx.x;
    // Each waits for the one after it.
    if (t + 1 < blockDim.x) while (flag[t + 1] == 0) { }
    out[t] = flag[t + 1] + 1;
    __threadfence();
    flag[t] = flag[t + 1] + 1;
}
__global__ void reversed(volatile int* turn, volatile int* count, int* out) {
    int t = threadIdx.x;
    while (*turn != t) { }
    out[*count] = t;
    *count = *count + 1;
    __threadfence();
    *turn = t - 1;
}
__global__ void by_swap(int* turn, int* out) {
    int t = threadIdx.x;
    while (atomicCAS(turn, t + 1, -1) != t + 1) { }
    out[t] = 10 * t;
    __threadfence();
    atomicExch(turn, t);
}
// Sum of i 2^(n - i) from 1 to n is 2^(n + 1) - n - 2.
__global__ void hand_over(int* out, int n) {
    __shared__ volatile int full, item;
    int t = threadIdx.x;
    if (t == 0) full = 0;
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            while (full == 0) { }
            sum = sum * 2 + item;
            __threadfence_block();
            full = 0;
        }
        out[0] = sum;
    } else if (t == blockDim.x - 1) {
        for (int i = 1; i <= n; i++) {
            while (full != 0) { }
            item = i;
            __threadfence_block();
            full = 1;
        }
    }
    __syncthreads();
    out[t + 1] = t;
}
// A warp brings a tile, another adds it up; barriers of the warps in between.
__global__ void warps(const int* x, int* out, int tiles) {
    __shared__ int tile[32];
    __shared__ int ready, free_;
    int t = threadIdx.x, lane = t % 32;
    if (t == 0) { ready = 0; free_ = 1; }
    __syncthreads();
    if (t / 32 == 0) {
        int sum = 0;
        for (int k = 0; k < tiles; k++) {
            if (lane == 0) while (atomicAdd(&ready, 0) == 0) { }
            __syncwarp();
            sum += tile[lane];
            __syncwarp();
            if (lane == 0) { atomicExch(&ready, 0); __threadfence_block(); atomicExch(&free_, 1); }
        }
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (lane == 0) out[0] = sum;
    } else {
        for (int k = 0; k < tiles; k++) {
            if (lane == 0) while (atomicExch(&free_, 0) == 0) { }
            __syncwarp();
            tile[lane] = x[32 * k + lane];
            __threadfence_block();
            __syncwarp();
            if (lane == 0) atomicExch(&ready, 1);
        }
    }
}
__global__ void ping_pong(int* ping, int* pong, int* out, int rounds) {
    int t = threadIdx.x;
    if (t == 0) {
        for (int i = 1; i <= rounds; i++) {
            while (atomicAdd(pong, 0) != i) { }
            atomicExch(ping, i);
        }
        out[0] = *ping;
    } else if (t == 40) {
        for (int i = 1; i <= rounds; i++) {
            atomicExch(pong, i);
            while (atomicAdd(ping, 0) != i) { }
        }
        out[1] = *pong;
    }
}
// All wait until all have come, twice, without a barrier of the language.
__global__ void arrive(int* come, int* out) {
    int t = threadIdx.x;
    for (int k = 1; k <= 2; k++) {
        atomicAdd(come, 1);
        while (atomicAdd(come, 0) < k * (int)blockDim.x) { }
        out[t] = 100 * out[t] + *(volatile int*)come / (int)blockDim.x;
        __syncthreads();
    }
}
// Locks, one thread after the other: a warp gets through since Volta.
__global__ void locked(int* lock, int* n) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    *(volatile int*)n = *(volatile int*)n + 1;
    __threadfence();
    atomicExch(lock, 0);
}
// What is taken stays taken while other lanes are waited for.
__global__ void held(int* lock, int* n) {
    int t = threadIdx.x;
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int*)n = *(volatile int*)n + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
        __syncwarp(__activemask());
    }
    n[1 + t] = 1;
}
__global__ void tickets(int* next, int* serving, int* n) {
    int mine = atomicAdd(next, 1);
    while (*(volatile int*)serving != mine) __nanosleep(10);
    *n = *n * 2 + 1;
    __threadfence();
    atomicAdd(serving, 1);
}
// As many as there is room for.
__global__ void semaphore(int* room, volatile int* most, int* out) {
    int t = threadIdx.x;
    for (;;) {
        int now = *(volatile int*)room;
        if (now > 0 && atomicCAS(room, now, now - 1) == now) break;
    }
    out[t] = 1;
    __threadfence();
    if (t > 0) while (((volatile int*)out)[t - 1] == 0) { }
    atomicAdd(room, 1);
}
// run: next_thread<<<1, 6>>>(flag = [0,0,0,0,0,0,0], out = poison(6))
//   out == [6,5,4,3,2,1]
// run: reversed<<<1, 40>>>(turn = [39], count = [0], out = poison(40))
//   out == [39,38,37,36,35,34,33,32,31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0]
// run: by_swap<<<1, 5>>>(turn = [5], out = poison(5))
//   out == [0,10,20,30,40]
//   turn == [0]
// run: hand_over<<<1, 3>>>(out = poison(4), n = 10)
//   out == [2036,0,1,2]
// run: hand_over<<<2, 64>>>(out = poison(65), n = 3)
//   out == [11,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63]
// 0 + 1 + ... + 159.
// run: warps<<<1, 64>>>(x = iota(160), out = poison(1), tiles = 5)
//   out == [12720]
// run: ping_pong<<<1, 64>>>(ping = [0], pong = [0], out = poison(2), rounds = 50)
//   out == [50,50]
// run: arrive<<<1, 4>>>(come = [0], out = [0,0,0,0])
//   out == [102,102,102,102]
// run: locked<<<3, 64>>>(lock = [0], n = [0])
//   n == [192]
// run: held<<<1, 4>>>(lock = [0], n = [0,0,0,0,0])
//   n == [4,1,1,1,1]
// run: tickets<<<2, 4>>>(next = [0], serving = [0], n = [0])
//   n == [255]
// run: semaphore<<<1, 8>>>(room = [2], most = [0], out = fill(8, 0))
//   out == [1,1,1,1,1,1,1,1]
//   room == [2]

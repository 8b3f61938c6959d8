// test run

#define FULL 0xffffffffu
// Collectives in loops that lanes leave one by one, in conditions in those, with breaks and continues.
__global__ void nested(const int* x, int* out) {
    int t = threadIdx.x, acc = 0;
    for (int i = 0; i < 6; i++) {
        if (i == x[t]) break;
        if ((i + t) % 2) {
            acc += __popc(__activemask());
            if (i == 3) continue;
            acc += 100;
        } else {
            acc += 1000 * __popc(__ballot_sync(__activemask(), i > 2));
        }
    }
    out[t] = acc;
}
// Early returns inside an inlined helper, under a loop.
__device__ int find(int key, int limit) {
    for (int i = 0; i < limit; i++) {
        unsigned who = __ballot_sync(__activemask(), key == i);
        if (who & (1u << (threadIdx.x & 31))) return 10 * i + __popc(who);
    }
    return -1;
}
__global__ void helper(const int* key, int* out) { out[threadIdx.x] = find(key[threadIdx.x], 3); }
// Returns out of a divergent condition: those left go on together.
__global__ void leave(int* out) {
    int t = threadIdx.x;
    if (t % 4 == 0) {
        out[t] = __popc(__activemask());
        if (t > 8) return;
    }
    out[t] += 10 * __popc(__activemask());
    __syncthreads();
    out[t] += 100 * __syncthreads_count(1);
}
// Lanes of one warp and whole warps in a loop with a block barrier.
__global__ void both(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    int v = 0;
    for (int k = 0; k < 3; k++) {
        __syncthreads();
        v += __shfl_xor_sync(FULL, s[63 - t], 1 << k);
        __syncthreads();
        s[t] += 1;
    }
    out[t] = v;
}
__global__ void switched(int* out) {
    int t = threadIdx.x, v = 0;
    switch (t % 3) {
        case 0: v = __popc(__activemask());
        case 1: v += 10 * __popc(__activemask()); break;
        default: v = -__popc(__activemask());
    }
    out[t] = v;
}
// while, do and a conditional operator.
__global__ void collatz(const int* x, int* out) {
    int t = threadIdx.x, n = x[t], steps = 0, together = 0;
    do {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
        together += __any_sync(__activemask(), n > 10) ? 1 : 0;
    } while (n != 1);
    out[t] = steps * 100 + together;
}
// x = 0: never enters. x = 9: all six rounds. Lanes 0 .. 3 with x = 2, 9, 9, 0.
// i = 0: lanes 0, 1, 2: lane 1 odd: 1 + 100; lanes 0 and 2: ballot 0. i = 1: lanes 0 and 2 odd: 2 + 100 each; lane 1: 0.
// i = 2: lane 1 odd (lane 0 is gone): 1 + 100; lane 2: 0. i = 3: lane 2 odd: 1, continue; lane 1: 1000.
// i = 4: lane 1 odd: 101; lane 2: 1000. i = 5: lane 2 odd: 101; lane 1: 1000.
// run: nested<<<1, 4>>>(x = [2, 9, 9, 0], out = poison(4))
//   out == [102, 2303, 1204, 0]
// run: helper<<<1, 6>>>(key = [1, 0, 1, 7, 2, 1], out = poison(6))
//   out == [13, 1, 13, -1, 21, 13]
// 16 lanes: four multiples of 4; 12 leaves; 15 are left.
// run: leave<<<1, 16>>>(out = fill(16, 0))
//   out == [1654, 1650, 1650, 1650, 1654, 1650, 1650, 1650, 1654, 1650, 1650, 1650, 4, 1650, 1650, 1650]
// s[63 - t] of lane t ^ (1 << k), k more: 63 - (t ^ 1) + 64 - (t ^ 2) + 65 - (t ^ 4) = 192 - (t ^ 1) - (t ^ 2) - (t ^ 4).
// run: both<<<1, 64>>>(out = poison(64))
//   out == [185,184,183,182,181,180,179,178,161,160,159,158,157,156,155,154,137,136,135,134,133,132,131,130,113,112,111,110,109,108,107,106,89,88,87,86,85,84,83,82,65,64,63,62,61,60,59,58,41,40,39,38,37,36,35,34,17,16,15,14,13,12,11,10]
// Eight lanes: 0 3 6, 1 4 7, 2 5. Case 0 falls into case 1, where both are together.
// run: switched<<<1, 8>>>(out = poison(8))
//   out == [63, 60, -2, 63, 60, -2, 63, 60]
// 5: 16 8 4 2 1; 6: 3 10 5 16 8 4 2 1; 4: 2 1. In step: round 1 has 16; 2: 10; 4: 16 (of 6); 5 and later none.
// run: collatz<<<1, 3>>>(x = [5, 6, 4], out = poison(3))
//   out == [502, 802, 201]

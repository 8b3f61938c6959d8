// test run

// Lanes that part meet where each calls the same operation with the same mask (CUDA's guide, "Independent Thread Scheduling"; PTX ISA on
// `.sync`: a thread waits until all threads of the mask that have not exited have executed it with the same qualifiers and mask).
#define FULL 0xffffffffu
__global__ void both(int* out) {
    int t = threadIdx.x, r;
    if (t < 16) {
        r = __shfl_xor_sync(FULL, t, 16);
    } else {
        r = __shfl_xor_sync(FULL, t, 16);
    }
    out[t] = r;
}
__global__ void votes(unsigned* out) {
    int t = threadIdx.x;
    unsigned b;
    if (t % 2) b = __ballot_sync(FULL, t < 5);
    else b = __ballot_sync(FULL, t < 5);
    bool any, all;
    if (t < 3) {
        any = __any_sync(FULL, t == 1);
        all = __all_sync(FULL, t < 31);
    } else {
        any = __any_sync(FULL, false);
        all = __all_sync(FULL, t < 31);
    }
    out[t] = b + 100 * any + 1000 * all;
}
__global__ void syncs(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 16) __syncwarp();
    else __syncwarp();
    out[t] = s[31 - t];
}
__global__ void nested(double* out) {
    int t = threadIdx.x;
    double v = 10.5 * t, r;
    if (t < 8) r = __shfl_xor_sync(FULL, v, 8);
    else if (t < 16) r = __shfl_xor_sync(FULL, v, 8);
    else {
        if (t % 2) r = __shfl_xor_sync(FULL, v, 8);
        else r = __shfl_xor_sync(FULL, v, 8);
    }
    out[t] = r;
}
// Three rounds here, one and two there.
__global__ void trips(int* out) {
    int t = threadIdx.x, v = t;
    if (t < 16) {
        for (int i = 0; i < 3; i++) v += __shfl_xor_sync(FULL, v, 16);
    } else {
        v += __shfl_xor_sync(FULL, v, 16);
        for (int i = 0; i < 2; i++) v += __shfl_xor_sync(FULL, v, 16);
    }
    out[t] = v;
}
// Odd lanes come by in rounds 0 and 2, even ones in 1 and 3.
__global__ void rounds(int* out) {
    int t = threadIdx.x, n = 0;
    for (int i = 0; i < 4; i++) {
        if ((i + t) % 2) n = 100 * n + __popc(__ballot_sync(FULL, i == 1));
    }
    out[t] = n;
}
__global__ void skipped(int* out) {
    int t = threadIdx.x, n = 0;
    for (int i = 0; i < 4; i++) {
        if ((i + t) % 2 == 0) continue;
        n = 100 * n + __popc(__ballot_sync(FULL, i == 2));
    }
    out[t] = n;
}
__global__ void switched(int* out) {
    int t = threadIdx.x, r = 0;
    switch (t % 3) {
        case 0: r = __shfl_sync(FULL, 100 + t, 5); break;
        case 1: r = 1000 + __shfl_sync(FULL, 100 + t, 5); break;
        default: r = 2000 + __shfl_sync(FULL, 100 + t, 5);
    }
    out[t] = r;
}
__device__ int sum(int v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(FULL, v, d);
    return v;
}
__global__ void helper(int* out) {
    int t = threadIdx.x;
    out[t] = t < 10 ? sum(1) : sum(2);
}
// Conditions that are no sides of each other.
__global__ void complementary(int* out) {
    int t = threadIdx.x, n = 0;
    if (t < 5) n = __popc(__ballot_sync(FULL, t > 2));
    n += 100;
    if (t >= 5) n = __popc(__ballot_sync(FULL, t > 2));
    out[t] = n;
}
// Some leave before, some instead.
__global__ void leave(unsigned* out) {
    int t = threadIdx.x;
    if (t >= 20) return;
    unsigned b;
    if (t < 10) b = __ballot_sync(FULL, 1);
    else b = __ballot_sync(FULL, 1);
    out[t] = b;
}
__global__ void leave_instead(unsigned* out) {
    int t = threadIdx.x;
    if (t < 4) out[t] = __ballot_sync(FULL, 1);
    else if (t < 8) out[t] = __ballot_sync(FULL, 1);
}
__global__ void quarters(unsigned* out) {
    int t = threadIdx.x;
    unsigned mask = 0xffu << (t & 24), b;
    if (t & 1) b = __ballot_sync(mask, t % 4 == 0);
    else b = __ballot_sync(mask, t % 4 == 0);
    out[t] = b;
}
__global__ void matches(unsigned* out) {
    int t = threadIdx.x;
    unsigned m;
    int pred, n;
    if (t < 8) {
        m = __match_any_sync(FULL, t % 2);
        __match_all_sync(FULL, 7, &pred);
        n = __reduce_max_sync(FULL, t);
    } else {
        m = __match_any_sync(FULL, t % 2);
        __match_all_sync(FULL, 7, &pred);
        n = __reduce_max_sync(FULL, t);
    }
    out[t] = m + pred + n;
}
// Lanes that are together are those of the side, and behind it all of the warp.
__global__ void together(unsigned* out) {
    int t = threadIdx.x;
    unsigned m;
    int r;
    if (t < 12) {
        m = __popc(__activemask());
        r = __shfl_down_sync(FULL, t, 4);
    } else {
        m = __popc(__activemask());
        r = __shfl_down_sync(FULL, t, 4);
    }
    out[t] = m + 100 * __popc(__activemask()) + 10000 * r;
}
// Several warps and blocks, with a barrier of the block in between.
__global__ void barriers(int* out) {
    __shared__ int s[96];
    int t = threadIdx.x, v = t;
    for (int k = 0; k < 3; k++) {
        if (t % 32 < 16) v += __shfl_xor_sync(FULL, v, 16);
        else v += __shfl_xor_sync(FULL, v, 16);
        s[t] = v;
        __syncthreads();
        v = s[95 - t] + __syncthreads_count(t < 40 + k);
    }
    out[blockIdx.x * 96 + t] = v;
}
__global__ void prints() {
    int t = threadIdx.x;
    if (t < 2) {
        printf("%d first\n", t);
        printf("%d gets %d\n", t, __shfl_xor_sync(0xfu, t, 2));
    } else {
        printf("%d gets %d\n", t, __shfl_xor_sync(0xfu, t, 2));
    }
}
// run: both<<<1, 32>>>(out = poison(32))
//   out == [16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]
// Lanes 0 to 4: 31; lane 1 says so; lane 31 does not.
// run: votes<<<1, 32>>>(out = poison(32))
//   out == [131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131,131]
// run: syncs<<<1, 32>>>(out = poison(32))
//   out == [31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0]
// run: nested<<<1, 32>>>(out = poison(32))
//   out == [84,94.5,105,115.5,126,136.5,147,157.5,0,10.5,21,31.5,42,52.5,63,73.5,252,262.5,273,283.5,294,304.5,315,325.5,168,178.5,189,199.5,210,220.5,231,241.5]
// Lanes t and t + 16 have 2 t + 16 after the first round, which the two others double.
// run: trips<<<1, 32>>>(out = poison(32))
//   out == [64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184]
// First round 0 meets round 1, where 16 even lanes say so; then 2 meets 3.
// run: rounds<<<1, 32>>>(out = poison(32))
//   out == [1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600,1600]
// The second time the 16 odd lanes are in round 2.
// run: skipped<<<1, 32>>>(out = poison(32))
//   out == [16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16]
// run: switched<<<1, 32>>>(out = poison(32))
//   out == [105,1105,2105,105,1105,2105,105,1105,2105,105,1105,2105,105,1105,2105,105,1105,2105,105,1105,2105,105,1105,2105,105,1105,2105,105,1105,2105,105,1105]
// 10 ones and 22 twos.
// run: helper<<<1, 32>>>(out = poison(32))
//   out == [54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54,54]
// run: complementary<<<1, 32>>>(out = poison(32))
//   out == [129,129,129,129,129,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29,29]
// run: leave<<<1, 32>>>(out = fill(32, 7))
//   out == [1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,1048575,7,7,7,7,7,7,7,7,7,7,7,7]
// run: leave_instead<<<1, 32>>>(out = fill(32, 7))
//   out == [255,255,255,255,255,255,255,255,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7]
// run: quarters<<<1, 32>>>(out = poison(32))
//   out == [17,17,17,17,17,17,17,17,4352,4352,4352,4352,4352,4352,4352,4352,1114112,1114112,1114112,1114112,1114112,1114112,1114112,1114112,285212672,285212672,285212672,285212672,285212672,285212672,285212672,285212672]
// 0x55555555 and 0xaaaaaaaa, 1, 31.
// run: matches<<<1, 32>>>(out = poison(32))
//   out == [1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562,1431655797,2863311562]
// Past lane 31 it is a lane's own number.
// run: together<<<1, 32>>>(out = poison(32))
//   out == [43212,53212,63212,73212,83212,93212,103212,113212,123212,133212,143212,153212,163220,173220,183220,193220,203220,213220,223220,233220,243220,253220,263220,273220,283220,293220,303220,313220,283220,293220,303220,313220]
// With w for t / 32 and i for t % 16, lanes i and i + 16 of a warp have equal numbers after a sum; 95 - t is in warp 2 - w, at 15 - i. Round 0: s = 64 w + 2 i + 16;
// v = 64 (2 - w) + 2 (15 - i) + 16 + 40 = 214 - 64 w - 2 i. Round 1: s = 2 v; v = 2 (214 - 64 (2 - w) - 2 (15 - i)) + 41 = 153 + 128 w + 4 i.
// Round 2: v = 2 (153 + 128 (2 - w) + 4 (15 - i)) + 42 = 980 - 256 w - 8 i.
// run: barriers<<<2, 96>>>(out = poison(192))
//   out == [980,972,964,956,948,940,932,924,916,908,900,892,884,876,868,860,980,972,964,956,948,940,932,924,916,908,900,892,884,876,868,860,724,716,708,700,692,684,676,668,660,652,644,636,628,620,612,604,724,716,708,700,692,684,676,668,660,652,644,636,628,620,612,604,468,460,452,444,436,428,420,412,404,396,388,380,372,364,356,348,468,460,452,444,436,428,420,412,404,396,388,380,372,364,356,348,980,972,964,956,948,940,932,924,916,908,900,892,884,876,868,860,980,972,964,956,948,940,932,924,916,908,900,892,884,876,868,860,724,716,708,700,692,684,676,668,660,652,644,636,628,620,612,604,724,716,708,700,692,684,676,668,660,652,644,636,628,620,612,604,468,460,452,444,436,428,420,412,404,396,388,380,372,364,356,348,468,460,452,444,436,428,420,412,404,396,388,380,372,364,356,348]
// run: prints<<<1, 4>>>()
//   printf "0 first\n0 gets 2\n1 first\n1 gets 3\n2 gets 0\n3 gets 1\n"

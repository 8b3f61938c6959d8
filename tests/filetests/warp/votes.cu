// test run

#define FULL 0xffffffffu
__global__ void votes(unsigned* out, int* flags) {
    int i = threadIdx.x;
    out[i] = __ballot_sync(FULL, i % 4 == 1);
    flags[i] = __any_sync(FULL, i == 7) * 1000 + __any_sync(FULL, i == 40) * 100 + __all_sync(FULL, i < 32) * 10 + __all_sync(FULL, i < 31);
    flags[i] += __uni_sync(FULL, i > 40) * 20000 + __uni_sync(FULL, i & 1) * 10000;
}
__global__ void matches(unsigned* any, unsigned* all, int* pred) {
    int i = threadIdx.x;
    any[i] = __match_any_sync(FULL, i / 3);
    int p, q;
    all[i] = __match_all_sync(FULL, 2.5, &p);
    all[i] ^= __match_all_sync(FULL, i, &q);
    pred[i] = p * 10 + q;
}
__global__ void reductions(int* out) {
    int i = threadIdx.x;
    int s = __reduce_add_sync(FULL, i - 10);
    int low = __reduce_min_sync(FULL, i - 10), high = __reduce_max_sync(FULL, i - 10);
    unsigned ulow = __reduce_min_sync(FULL, (unsigned)(i - 10)), uhigh = __reduce_max_sync(FULL, (unsigned)(i - 10));
    if (i == 0) {
        out[0] = s; out[1] = low; out[2] = high; out[3] = (int)ulow; out[4] = (int)uhigh;
    }
    unsigned a = __reduce_and_sync(FULL, 0xf0u | i), o = __reduce_or_sync(FULL, 1u << i), x = __reduce_xor_sync(FULL, (unsigned)i);
    if (i == 0) {
        out[5] = a; out[6] = (int)o; out[7] = x;
    }
}
// Groups of equal keys, each with its own mask.
__global__ void groups(const int* key, int* sum, int* leader) {
    int i = threadIdx.x;
    unsigned mask = __match_any_sync(FULL, key[i]);
    sum[i] = __reduce_add_sync(mask, i);
    leader[i] = __ffs(mask) - 1;
}
// One atomic for all lanes that came here (aggregation).
__global__ void aggregate(const int* x, int* count, int* place) {
    int i = threadIdx.x;
    if (x[i] > 0) {
        unsigned mask = __activemask();
        int lead = __ffs(mask) - 1, base;
        if (i % 32 == lead) base = atomicAdd(count, __popc(mask));
        base = __shfl_sync(mask, base, lead);
        place[i] = base + __popc(mask & ((1u << (i % 32)) - 1));
    }
}
__global__ void sync(int* out) {
    __shared__ int s[32];
    int i = threadIdx.x;
    s[i] = i;
    __syncwarp();
    int v = s[31 - i];
    __syncwarp();
    s[i] = v * 2;
    __syncwarp(FULL);
    out[i] = s[i ^ 1];
}
__global__ void not_all(int* out) {
    int i = threadIdx.x;
    if (i < 16)
        out[i] = __shfl_sync(FULL, i, 0);
}
__global__ void own_bit(int* out) { out[threadIdx.x] = __any_sync(2, 1); }
__global__ void unequal(int* out) { out[threadIdx.x] = __any_sync(threadIdx.x ? 3 : 7, 1); }
__global__ void loops(int* out) {
    int i = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        if (k == i) continue;
        __syncwarp();
    }
    out[i] = 1;
}
// run: votes<<<1, 32>>>(out = poison(32), flags = poison(32))
//   out == fill(32, 572662306)
//   flags == fill(32, 21010)
// Lanes in threes; the last two alone: 3 << 30.
// run: matches<<<1, 32>>>(any = poison(32), all = poison(32), pred = poison(32))
//   any == [7,7,7,56,56,56,448,448,448,3584,3584,3584,28672,28672,28672,229376,229376,229376,1835008,1835008,1835008,14680064,14680064,14680064,117440512,117440512,117440512,939524096,939524096,939524096,3221225472,3221225472]
//   all == fill(32, 4294967295)
//   pred == fill(32, 10)
// 496 - 320 = 176; as unsigned the least is 0 and the largest -1.
// run: reductions<<<1, 32>>>(out = poison(8))
//   out == [176, -10, 21, 0, -1, 240, -1, 0]
// run: groups<<<1, 8>>>(key = [5, 6, 5, 5, 6, 7, 5, 6], sum = poison(8), leader = poison(8))
//   sum == [11, 12, 11, 11, 12, 5, 11, 12]
//   leader == [0, 1, 0, 0, 1, 5, 0, 1]
// run: aggregate<<<1, 40>>>(x = [1,0,1,1,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,1,0,0,0,0,1], count = [10], place = fill(40, -1)) cpu
//   count == [17]
//   place == [10,-1,11,12,-1,-1,-1,-1,-1,13,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,14,-1,-1,15,-1,-1,-1,-1,16]
// run: sync<<<1, 32>>>(out = poison(32))
//   out == [60,62,56,58,52,54,48,50,44,46,40,42,36,38,32,34,28,30,24,26,20,22,16,18,12,14,8,10,4,6,0,2]
// run: not_all<<<1, 32>>>(out = poison(32))
//   fault: mismatched warp function at 63:18 block (0,0,0) thread (0,0,0): `__shfl_sync` with mask 0xffffffff waits for lane 16, which went another way at line 62
// run: own_bit<<<1, 2>>>(out = poison(2))
//   fault: mismatched warp function at 65:56 block (0,0,0) thread (0,0,0): does not name lane 0
// run: unequal<<<1, 3>>>(out = poison(3))
//   fault: mismatched warp function at 66:56 block (0,0,0) thread (0,0,0): names lane 1, whose mask is 0x00000003
// Each lane leaves out another round, and comes by three times.
// run: loops<<<1, 3>>>(out = poison(3))
//   out == [1, 1, 1]

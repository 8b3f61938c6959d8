"""Warps whose threads run in step: what they do together is operations of lanes, and says the same as in the other tiers."""

import numpy as np
import pytest

import workbench as wb

from test_set_tier import HAS_WIDE

TIERS = ["soon", "good", "lanes", *(["wide"] if HAS_WIDE else [])]
FULL = "0xffffffffu"


@pytest.fixture(params=TIERS)
def tier(request):
    before = wb.set_tier(request.param)
    yield request.param
    wb.set_tier(before)


def run(text, grid, block, *args):
    """Launches the one kernel of a text."""
    wb.compile(text)[text.split("__global__ void ")[1].split("(")[0]][grid, block](*args)


def test_a_block_scans_by_warps_and_then_their_sums(tier):
    text = """
    __global__ void scan(const int* x, int* y, int n) {
        __shared__ int sums[32];
        int t = threadIdx.x, lane = t & 31, warp = t >> 5, i = blockIdx.x * blockDim.x + t;
        int v = i < n ? x[i] : 0;
        for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(0xffffffffu, v, d); if (lane >= d) v += u; }
        if (lane == 31) sums[warp] = v;
        __syncthreads();
        if (warp == 0) {
            int s = lane < blockDim.x / 32 ? sums[lane] : 0;
            for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(0xffffffffu, s, d); if (lane >= d) s += u; }
            sums[lane] = s;
        }
        __syncthreads();
        if (warp > 0) v += sums[warp - 1];
        if (i < n) y[i] = v;
    }"""
    for block in (32, 64, 256, 1024):
        n = 3 * block - 5
        x = np.random.default_rng(block).integers(-1000, 1000, n, dtype=np.int32)
        y = np.full(n, 77, np.int32)
        run(text, 3, block, x, y, n)
        assert y.tolist() == np.concatenate([np.cumsum(x[i : i + block]) for i in range(0, n, block)]).tolist()


@pytest.mark.parametrize("index", ["blockIdx.x * blockDim.x + threadIdx.x", "(int)(blockIdx.x * blockDim.x + threadIdx.x)"])
def test_a_warp_a_row_with_rows_of_any_length(tier, index):
    text = """
    __global__ void spmv(const int* begins, const int* columns, const float* values, const float* x, float* y, int rows) {
        auto thread = INDEX;
        int row = thread / 32, lane = thread % 32;
        if (row >= rows) return;
        float sum = 0;
        for (int j = begins[row] + lane; j < begins[row + 1]; j += 32) sum += values[j] * x[columns[j]];
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (lane == 0) y[row] = sum;
    }""".replace("INDEX", index)
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, 100, 77)
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, 50, begins[-1], dtype=np.int32)
    # Small integers: sums are exact in any order.
    values, x = rng.integers(-8, 8, begins[-1]).astype(np.float32), rng.integers(-8, 8, 50).astype(np.float32)
    y = np.full(77, np.nan, np.float32)
    run(text, 20, 128, begins, columns, values, x, y, 77)
    assert y.tolist() == [float((values[a:b] * x[columns[a:b]]).sum()) for a, b in zip(begins, begins[1:])]


def test_lanes_that_left_are_not_waited_for_and_give_zero(tier):
    text = """
    __global__ void left(int* y, int n) {
        int t = threadIdx.x;
        if (t >= n) return;
        unsigned all = __ballot_sync(0xffffffffu, t & 1);
        int down = __shfl_down_sync(0xffffffffu, t + 100, 3), sum = __reduce_add_sync(0xffffffffu, t);
        y[4 * t] = all; y[4 * t + 1] = down; y[4 * t + 2] = sum; y[4 * t + 3] = __all_sync(0xffffffffu, t >= 0);
    }"""
    for block, n in ((64, 50), (64, 64), (64, 31), (48, 45), (40, 40)):
        y = np.full(4 * block, -1, np.int32)
        run(text, 1, block, y, n)
        for t in range(n):
            first = t // 32 * 32
            there = range(first, min(first + 32, n))
            odd = sum(1 << (k - first) for k in there if k & 1)
            odd -= (odd >> 31) << 32
            down = t + 103 if t + 3 in there else t + 100 if t + 3 >= first + 32 else 0
            assert y[4 * t : 4 * t + 4].tolist() == [odd, down, sum(there), 1], (block, n, t)
        assert (y[4 * n :] == -1).all()


def test_lanes_that_a_vote_names_go_on_together(tier):
    text = """
    __global__ void some(const int* x, int* y, int n) {
        int t = threadIdx.x;
        unsigned odd = __ballot_sync(0xffffffffu, x[t] & 1);
        int r = -1;
        if (x[t] & 1) {
            int first = __shfl_sync(odd, x[t], __ffs(odd) - 1);
            r = first * 1000 + __popc(__ballot_sync(odd, x[t] > n)) + __reduce_max_sync(odd, x[t]) * 100;
            if (__any_sync(odd, x[t] > 9)) r += 7000000;
        }
        y[t] = r;
    }"""
    for seed in range(5):
        x = np.random.default_rng(seed).integers(0, 12, 96, dtype=np.int32)
        y = np.zeros(96, np.int32)
        run(text, 1, 96, x, y, 5)
        for t in range(96):
            odd = [v for v in x[t // 32 * 32 :][:32].tolist() if v & 1]
            wanted = odd[0] * 1000 + sum(v > 5 for v in odd) + max(odd) * 100 + (7000000 if max(odd) > 9 else 0) if x[t] & 1 else -1
            assert y[t] == wanted, (seed, t)


def test_rounds_that_a_warp_leaves_at_different_times(tier):
    text = """
    __global__ void rounds(const int* counts, double* y) {
        int t = threadIdx.x, warp = t / 32;
        double v = t;
        for (int k = 0; k < counts[warp]; k++) v += __shfl_xor_sync(0xffffffffu, v, 1 << k % 5);
        while (__any_sync(0xffffffffu, v > 1000.0)) { if (v > 1000.0) v /= 4; }
        y[t] = v;
    }"""
    counts, y = np.array([0, 3, 17, 5], np.int32), np.zeros(128)
    run(text, 1, 128, counts, y)
    wanted = np.arange(128, dtype=np.float64).reshape(4, 32)
    for warp, count in enumerate(counts):
        for k in range(count):
            wanted[warp] = wanted[warp] + wanted[warp][np.arange(32) ^ (1 << k % 5)]
        while (wanted[warp] > 1000).any():
            wanted[warp][wanted[warp] > 1000] /= 4
    assert y.tolist() == wanted.reshape(-1).tolist()


@pytest.mark.parametrize("type, dtype", [("float", np.float32), ("double", np.float64), ("int", np.int32), ("unsigned long long", np.uint64)])
@pytest.mark.parametrize("width", [32, 16, 8, 2, 1])
def test_shuffles_within_segments(tier, type, dtype, width):
    text = f"""
    __global__ void shuffles(const {type}* x, {type}* y, int by) {{
        int t = threadIdx.x;
        y[t] = __shfl_up_sync({FULL}, x[t], by, {width}); y[64 + t] = __shfl_down_sync({FULL}, x[t], by, {width});
        y[128 + t] = __shfl_xor_sync({FULL}, x[t], by, {width}); y[192 + t] = __shfl_sync({FULL}, x[t], by + t, {width});
    }}"""
    x = np.random.default_rng(1).integers(0, 1 << 30, 64).astype(dtype)
    for by in (0, 1, 3, 15, 16, 31):
        y = np.zeros(256, dtype)
        run(text, 1, 64, x, y, by)
        for t in range(64):
            segment = t // width * width
            places = [t - by if t - by >= segment else t, t + by if t + by < segment + width else t]
            # Towards a segment before its own a butterfly goes, towards one after it not.
            places += [t ^ by if (t ^ by) < segment + width else t, segment + (by + t) % width]
            assert [y[64 * k + t] for k in range(4)] == [x[p] for p in places], (by, t)


def test_indices_divided_by_what_chunks_divide(tier):
    text = """
    __global__ void parts(int* y, int k) {
        int t = threadIdx.x + blockDim.x * threadIdx.y, g = blockIdx.x * 128 + t, s = g - 128;
        unsigned u = g + k;
        int* at = y + 10 * g;
        at[0] = t / 32; at[1] = t % 32; at[2] = g / 16; at[3] = g % 16; at[4] = s / 32; at[5] = s % 32; at[6] = s >> 5; at[7] = s & 63;
        at[8] = u / 32; at[9] = __reduce_add_sync(0xffffffffu, t / 64 + (t & 1));
    }"""
    for block in ((128, 1), (64, 2), (16, 8)):
        y = np.zeros(10 * 256, np.int32)
        run(text, 2, block, y, 3)
        for g in range(256):
            t, s = g % 128, g - 128
            towards_zero = int(s / 32)
            wanted = [t // 32, t % 32, g // 16, g % 16, towards_zero, s - 32 * towards_zero, s >> 5, s & 63, (g + 3) // 32]
            wanted.append(sum(k // 64 + (k & 1) for k in range(t // 32 * 32, t // 32 * 32 + 32)))
            assert y[10 * g : 10 * g + 10].tolist() == wanted, (block, g)


def test_lanes_that_are_missing_are_told_as_before(tier):
    text = """
    __global__ void missing(int* y, int n) {
        int t = threadIdx.x;
        y[t] = 1;
        if (t % 32 < n)
            y[t] = __shfl_down_sync(0xffffffffu, t, 1);
    }"""
    with pytest.raises(wb.KernelFault) as told:
        run(text, 1, 64, np.zeros(64, np.int32), 7)
    assert told.value.thread == (0, 0, 0) and "names lane" not in str(told.value)
    assert "`__shfl_down_sync` with mask 0xffffffff waits for lane 7, which went another way at line 5" in str(told.value)
    run(text, 1, 64, np.zeros(64, np.int32), 32)


def test_a_fault_before_comes_first(tier):
    text = """
    __global__ void before(int* y, int n) {
        int t = threadIdx.x;
        y[t + n] = 1;
        int sum = __reduce_add_sync(0xffffffffu, t);
        y[sum - 100000] = 1;
    }"""
    with pytest.raises(wb.KernelFault) as told:
        run(text, 1, 64, np.zeros(64, np.int32), 10)
    # Warps in step go on by themselves, so the first one comes as far as its second store.
    assert told.value.thread == ((0, 0, 0) if tier in ("lanes", "wide") else (54, 0, 0))


def test_results_are_there_after_a_barrier(tier):
    text = """
    __global__ void later(unsigned* y, int n) {
        int t = threadIdx.x;
        unsigned all = __activemask(), some = 0, odd = __ballot_sync(0xffffffffu, t & 1);
        if (t % 32 < n) some = __activemask();
        int first = __shfl_sync(0xffffffffu, t, 7);
        __syncthreads();
        y[4 * t] = all; y[4 * t + 1] = some; y[4 * t + 2] = odd; y[4 * t + 3] = first;
    }"""
    for n in (5, 20, 32):
        y = np.zeros(256, np.uint32)
        run(text, 1, 64, y, n)
        for t in range(64):
            wanted = [0xFFFFFFFF, (1 << n) - 1 if t % 32 < n else 0, 0xAAAAAAAA, t // 32 * 32 + 7]
            assert y[4 * t : 4 * t + 4].tolist() == wanted, (n, t)


def test_such_kernels_have_lanes(tier):
    if tier not in ("lanes", "wide"):
        return
    kernel = wb.compile("""
    __global__ void sum(const float* x, float* y) {
        float v = x[threadIdx.x];
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
        if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = v;
    }""").sum
    kernel[1, 64](np.ones(64, np.float32), np.zeros(2, np.float32))
    assert kernel.tier == tier
    if tier == "wide":
        assert "take_f32" in kernel.c_source(64)


@pytest.mark.parametrize("type, dtype", [("unsigned long long", np.uint64), ("long long", np.int64)])
def test_quotients_of_64_bits_are_those_of_integers_wherever_doubles_are_not(tier, type, dtype):
    text = f"""
    __global__ void divide(const {type}* a, const {type}* b, {type}* q, {type}* r, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {{ q[i] = a[i] / b[i]; r[i] = a[i] % b[i]; }}
    }}"""
    rng = np.random.default_rng(3)
    top = 2**64 if dtype == np.uint64 else 2**63
    pairs = []
    for most in (2**20, 2**31, 2**51, 2**52, 2**53, top):
        for _ in range(300):
            b = int(rng.integers(1, min(most, 2**62)))
            # Multiples and their neighbours, where a rounded quotient would be the next one.
            a = max(1, most // b - int(rng.integers(0, 3))) * b + int(rng.integers(-1, 2))
            pairs.append((min(max(a, 0), top - 1), b))
    if dtype == np.int64:
        pairs += [(-a, b) for a, b in pairs[:500]] + [(a, -b) for a, b in pairs[500:1000]] + [(-a, -b) for a, b in pairs[1000:]]
    # Chunks of small numbers alone, and chunks of which some are not.
    mixed = rng.permutation(len(pairs) - 900) + 900
    pairs = pairs[:900] + [pairs[k] for k in mixed]
    a, b = (np.array(part, dtype) for part in zip(*pairs))
    q, r = np.zeros_like(a), np.zeros_like(a)
    run(text, (len(a) + 127) // 128, 128, a, b, q, r, len(a))
    exact = [(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)) for x, y in pairs]
    assert q.tolist() == exact
    assert r.tolist() == [x - y * z for (x, y), z in zip(pairs, exact)]

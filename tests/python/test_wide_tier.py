"""The wide tier: where it runs several blocks as one long row, writes out trees of reductions and looks ahead, it does what the others do.

Results are NumPy's where these are exact, else those of the tier below, bit for bit; so are faults, of which that of the lowest block's
lowest thread is told.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import workbench as wb

from test_set_tier import HAS_WIDE

pytestmark = pytest.mark.skipif(not HAS_WIDE, reason="no C compiler, or neither AVX-512 nor AVX2")
rng = np.random.default_rng(20261122)


@pytest.fixture
def tiers():
    """Runs a kernel in both tiers on copies of its arrays: the arrays afterwards, or what was raised."""

    def run(text, name, grid, block, *args):
        found = []
        for tier in ("good", "wide"):
            wb.set_tier(tier)
            kernel = getattr(wb.compile(text), name)
            own = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
            try:
                kernel[grid, block](*own)
                said = None
            except wb.KernelFault as e:
                said = str(e)
            assert kernel.tier == tier
            found.append(([a for a in own if isinstance(a, np.ndarray)], said))
        (good, good_said), (wide, wide_said) = found
        assert good_said == wide_said
        if good_said is None:
            for a, b in zip(good, wide):
                np.testing.assert_array_equal(a, b)
        return wide, wide_said

    before = wb.set_tier("good")
    yield run
    wb.set_tier(before)


BOX = """
__global__ void box(const float* in, float* out, int w, int h, int d) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= w || y >= h || z >= d) return;
    int i = (z * h + y) * w + x;
    if (x > 0 && x < w - 1) out[i] = in[i - 1] + in[i] + in[i + 1];
    else out[i] = in[i];
}
"""


@pytest.mark.parametrize("block", [(8, 8), (8, 8, 8), (16, 16), (32, 8), (5, 3), (33, 2), (1, 64), (100, 1), (256, 1)])
@pytest.mark.parametrize("shape", [(3, 17, 61), (2, 9, 256), (1, 1, 1), (1, 5, 1030)])
def test_rows_of_neighbouring_blocks_are_one(tiers, block, shape):
    block = (*block, 1)[:3] if len(block) == 2 else block
    d, h, w = shape
    grid = tuple(-(-n // b) for n, b in zip((w, h, d), block))
    x = rng.standard_normal(shape, np.float32)
    (_, out), said = tiers(BOX, "box", grid, block, x, np.full(shape, np.nan, np.float32), w, h, d)
    expected = x.copy()
    # In the kernel's order: left to right.
    expected[:, :, 1:-1] = (x[:, :, :-2] + x[:, :, 1:-1]) + x[:, :, 2:]
    assert said is None
    np.testing.assert_array_equal(out, expected)


SHORT = """
__global__ void copy(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = in[y * w + x];
}
"""


@pytest.mark.parametrize("block", [(8, 4), (16, 16), (5, 3), (64, 1)])
@pytest.mark.parametrize("missing", [1, 3, 40, 100])
@pytest.mark.parametrize("which", ["in", "out"])
def test_a_fault_in_a_long_row_is_told_of_its_block_and_thread(tiers, block, missing, which):
    w, h = 61, 13
    grid = (-(-w // block[0]), -(-h // block[1]))
    long, short = w * h, w * h - missing
    x = rng.standard_normal(short if which == "in" else long, np.float32)
    out = np.zeros(short if which == "out" else long, np.float32)
    _, said = tiers(SHORT, "copy", grid, block, x, out, w, h)
    # The lowest block whose threads go past the end, and of it the lowest thread.
    places = [(bx + by * grid[0], tx + ty * block[0], (bx, by), (tx, ty))
              for by in range(grid[1]) for bx in range(grid[0]) for ty in range(block[1]) for tx in range(block[0])
              if (x0 := bx * block[0] + tx) < w and (y0 := by * block[1] + ty) < h and y0 * w + x0 >= short]
    _, _, (bx, by), (tx, ty) = min(places)
    assert f"block ({bx}, {by}, 0), thread ({tx}, {ty}, 0)" in said


# Walks that several blocks do together before the first of them goes on.
WALKS = {
    "sum": ("float", "{ty} s = 0; for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) s += x[i];"),
    "least": ("int", "{ty} s = 1 << 30; for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) s = min(s, x[i]);"),
    "two": ("int", "{ty} s = 0, t = 5; for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x)"
                   " {{ s += x[i]; t ^= x[i]; }} s += t;"),
    "guarded": ("float", "{ty} s = 0; for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x)"
                         " if (x[i] > 0) s += x[i];"),
    "asks": ("int", "{ty} s = 0; for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) s += x[i] * (int)blockIdx.x;"),
    "begun": ("int", "{ty} s = 100 + tid; for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) s += x[i];"),
}


@pytest.mark.parametrize("block,grid", [(256, 1), (256, 2), (256, 37), (128, 9), (64, 100), (64, 7), (32, 40), (512, 5)])
@pytest.mark.parametrize("what", WALKS)
def test_blocks_that_walk_together_each_get_their_own(tiers, what, block, grid):
    ty, walk = WALKS[what]
    text = """__global__ void k(const T* x, T* out, int n) {{
        __shared__ T buffer[512];
        int tid = threadIdx.x;
        {}
        buffer[tid] = s;
        __syncthreads();
        out[blockIdx.x * blockDim.x + tid] = buffer[blockDim.x - 1 - tid];
    }}""".format(walk.format(ty="T")).replace("T*", f"{ty}*").replace("T buffer", f"{ty} buffer").replace("T s", f"{ty} s")
    threads = block * grid
    for n in (0, 3, threads - 1, threads, 5 * threads + 100):
        x = rng.integers(-50, 50, max(n, 1)).astype(np.float32 if ty == "float" else np.int32)
        (_, out), said = tiers(text, "k", grid, block, x, np.full(threads, 77, x.dtype), n)
        assert said is None
        padded = np.zeros(-(-max(n, 1) // threads) * threads, x.dtype)
        padded[:n] = x[:n]
        rounds = padded.reshape(-1, threads)
        there = (np.arange(padded.size) < n).reshape(rounds.shape)
        expected = {
            "sum": rounds.sum(0), "guarded": np.maximum(rounds, 0).sum(0),
            "least": np.where(there, rounds, 1 << 30).min(0),
            "two": rounds.sum(0) + (np.bitwise_xor.reduce(rounds.astype(np.int32)) ^ 5),
            "asks": rounds.sum(0) * (np.arange(threads) // block),
            "begun": rounds.sum(0) + 100 + np.arange(threads) % block,
        }[what]
        np.testing.assert_array_equal(out.reshape(grid, block), expected.reshape(grid, block)[:, ::-1])


@pytest.mark.parametrize("block,grid", [(256, 8), (128, 12), (64, 64)])
@pytest.mark.parametrize("missing", [1, 100, 1000])
def test_of_blocks_that_walk_together_each_faults_by_itself(tiers, block, grid, missing):
    """The lowest block that goes out of bounds is told of, whoever walked for it; lower ones have done all they do."""
    text = """__global__ void k(const int* x, int* out, int n) {
        __shared__ int buffer[256];
        int tid = threadIdx.x, s = 0;
        for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) s += x[i];
        buffer[tid] = s;
        __syncthreads();
        if (tid == 0) out[blockIdx.x] = 1;
    }"""
    threads = block * grid
    n = 3 * threads
    out = np.zeros(grid, np.int32)
    _, said = tiers(text, "k", grid, block, rng.integers(0, 9, n - missing).astype(np.int32), out, n)
    lowest = (n - missing) % threads
    assert f"block ({lowest // block}, 0, 0), thread ({lowest % block}, 0, 0)" in said


# Integers added to arrays that nobody reads, by every block: `i` is the thread's place, `n` how many there are.
SUMS = {
    "neighbours": ("int", "atomicAdd(&out[threadIdx.x], x[i]);", lambda x: np.bincount(np.arange(x.size) % 64, x, 64)),
    "anywhere": ("int", "atomicAdd(&out[(x[i] * 7 & 0x7fffffff) % 64], x[i]);", lambda x: np.bincount((x * 7 & 0x7FFFFFFF) % 64, x, 64)),
    "one": ("unsigned int", "atomicAdd(&out[5], 1u);", lambda x: np.bincount([5], [x.size], 64)),
    "some": ("int", "if (x[i] > 0) atomicAdd(&out[threadIdx.x], 3);",
             lambda x: np.bincount(np.arange(x.size) % 64, 3 * (x > 0), 64)),
    "less": ("int", "atomicSub(&out[threadIdx.x], x[i]);", lambda x: -np.bincount(np.arange(x.size) % 64, x, 64)),
    "long": ("unsigned long long", "atomicAdd(&out[threadIdx.x], (unsigned long long)(long long)x[i] << 20);",
             lambda x: np.bincount(np.arange(x.size) % 64, x.astype(float), 64).astype(np.int64) << 20),
    "bytes": ("int", "atomicAdd(&out[x[i] & 31], x[i]); atomicSub(&out[32 + (x[i] & 31)], 1);",
              lambda x: np.bincount(x & 31, x, 64) - np.bincount(32 + (x & 31), minlength=64)),
    "asked": ("int", "int old = atomicAdd(&out[threadIdx.x], x[i]); if (old == 1 << 30) out[0] = 0;",
              lambda x: np.bincount(np.arange(x.size) % 64, x, 64)),
}


@pytest.mark.parametrize("what", SUMS)
@pytest.mark.parametrize("blocks", [15, 300])
@pytest.mark.parametrize("size", [64, 17000])
def test_sums_that_nobody_reads_before_the_end(tiers, what, blocks, size):
    ty, body, expected = SUMS[what]
    text = f"__global__ void k(const int* x, {ty}* out) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"
    x = rng.integers(-50, 50, 64 * blocks).astype(np.int32)
    dtype = {"int": np.int32, "unsigned int": np.uint32}.get(ty, np.uint64)
    before = rng.integers(0, 9, size).astype(dtype)
    (_, out), said = tiers(text, "k", blocks, 64, x, before)
    assert said is None
    np.testing.assert_array_equal(out[:64], (before[:64].astype(np.int64) + expected(x).astype(np.int64)).astype(dtype))
    np.testing.assert_array_equal(out[64:], before[64:])


def test_sums_that_are_read_by_another_name_are_there_at_once(tiers):
    text = """__global__ void k(const int* seen, int* out) {
        if (blockIdx.x == 0 && threadIdx.x == 0) for (int k = 0; k < 8; k++) atomicAdd(&out[k + 1], seen[k] + 1); }"""
    for tier in ("good", "wide"):
        wb.set_tier(tier)
        own = np.zeros(64, np.int32)
        wb.compile(text).k[64, 32](own, own)
        np.testing.assert_array_equal(own[:10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 0])
        own[:] = 0
        wb.compile(text).k[64, 32](own[:40], own[8:])
        np.testing.assert_array_equal(own[8:18], [0, 1, 1, 1, 1, 1, 1, 1, 1, 0])


@pytest.mark.parametrize("short", [0, 1, 50])
def test_a_sum_past_the_end_is_told_of_its_lowest_thread(tiers, short):
    text = "__global__ void k(int* out) { if (blockIdx.x > 20) atomicAdd(&out[threadIdx.x], 1); }"
    _, said = tiers(text, "k", 100, 64, np.zeros(short, np.int32))
    assert f"block (21, 0, 0), thread ({short}, 0, 0)" in said
    frozen = np.zeros(64, np.int32)
    frozen.flags.writeable = False
    with pytest.raises((wb.KernelFault, wb.ArgumentError)):
        wb.compile(text).k[100, 64](frozen)
    assert not frozen.any()


@pytest.mark.parametrize("index", ["x[i]", "(int)x[i] & 127", "(x[i] + 1) & 255", "255 - x[i]"])
@pytest.mark.parametrize("bins,value", [(256, "1u"), (256, "(unsigned)x[i] + 1u"), (255, "1u")])
@pytest.mark.parametrize("n", [255, 70001])
def test_tables_that_bytes_index(tiers, index, bins, value, n):
    text = f"""__global__ void k(const unsigned char* x, unsigned* out, int n) {{
        __shared__ unsigned bins[{bins}];
        for (int b = threadIdx.x; b < {bins}; b += blockDim.x) bins[b] = 0;
        __syncthreads();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[{index}], {value});
        __syncthreads();
        for (int b = threadIdx.x; b < {bins}; b += blockDim.x) atomicAdd(&out[b], bins[b]);
    }}"""
    x = rng.integers(0, 256, n).astype(np.uint8)
    wide = x.astype(np.int64)
    places = {"(int)x[i] & 127": wide & 127, "(x[i] + 1) & 255": (wide + 1) & 255, "255 - x[i]": 255 - wide}.get(index, wide)
    (_, out), said = tiers(text, "k", 40, 128, x, np.zeros(bins, np.uint32), n)
    if places.max(initial=0) >= bins:
        assert "bins" in said
        return
    assert said is None
    np.testing.assert_array_equal(out, np.bincount(places, wide + 1 if "x" in value else None, bins))


# Kernels that read shared memory which their own block has not written, or not all of it, or not surely: poison, whatever an earlier block
# of the same worker left there. `s` is what each thread of a block sees.
UNWRITTEN = {
    "padding": "__shared__ float t[8][9]; t[tid / 8][tid % 8] = x[i]; __syncthreads(); s = t[tid / 8][8] + 0 * t[0][0];",
    "one_block": "__shared__ float t[64]; if (blockIdx.x == 0) t[tid] = x[i]; __syncthreads(); s = t[tid];",
    "by_data": "__shared__ float t[64]; if (x[i] > 0) t[tid] = x[i]; __syncthreads(); s = t[tid];",
    "half": "__shared__ float t[64]; if (tid % 2) t[tid] = x[i]; __syncthreads(); s = t[63 - tid];",
    "half_and_later_all": "__shared__ float t[64]; if (tid < 32) t[tid] = x[i]; __syncthreads(); s = t[63 - tid];"
    " __syncthreads(); t[tid] = x[i];",
    "rounds_by_data": "__shared__ float t[64]; for (int k = tid; k < (int)x[0]; k += 64) t[k] = x[i]; __syncthreads(); s = t[tid];",
    "some_rounds": "__shared__ float t[64]; for (int k = tid; k < 48; k += 64) t[k] = x[i]; __syncthreads(); s = t[tid]; __syncthreads();"
    " t[tid] = 7.0f;",
    "place_by_data": "__shared__ float t[64]; t[((int)x[i] & 31) + 32 * (blockIdx.x & 1)] = 1.0f; __syncthreads(); s = t[tid];",
    "loop_not_entered": "__shared__ float t[64]; for (int k = 0; k < (blockIdx.x == 0); k++) { t[tid] = x[i]; __syncthreads(); s += t[63 - tid]; }"
    " __syncthreads(); s = t[tid];",
    "left_before": "__shared__ float t[64]; for (int k = 0; k < 2; k++) { if (blockIdx.x % 2) break; t[tid] = x[i]; __syncthreads(); }"
    " __syncthreads(); s = t[tid];",
    "two": "__shared__ float t[64]; __shared__ float u[64]; t[tid] = x[i]; __syncthreads(); s = u[tid]; __syncthreads(); u[tid] = t[63 - tid];",
    "narrow": "__shared__ float t[64]; ((short*)t)[tid] = (short)x[i]; __syncthreads(); s = t[tid]; __syncthreads(); t[tid] = 1.0f;",
    "dynamic": "extern __shared__ float t[]; t[tid] = x[i]; __syncthreads(); s = t[64 + tid];",
    "dynamic_later": "extern __shared__ float t[]; t[tid] = x[i]; __syncthreads(); s = t[64 + tid]; __syncthreads(); t[64 + tid] = 3.0f;",
    "read_first": "__shared__ float t[64]; s = t[tid]; t[tid] = x[i]; __syncthreads(); s += 0 * t[63 - tid];",
    "atomic": "__shared__ int t[64]; atomicAdd(&t[tid], 1); __syncthreads(); s = __int_as_float(t[tid]);",
    "written": "__shared__ float t[64]; t[tid] = x[i]; __syncthreads(); s = t[63 - tid]; __syncthreads(); if (tid < 9) t[tid] += s;"
    " __syncthreads(); s = t[tid];",
}


@pytest.mark.parametrize("what", UNWRITTEN)
def test_no_block_sees_what_an_earlier_one_left(tiers, what):
    text = (
        "__global__ void k(const float* x, float* out) {{ int tid = threadIdx.x, i = blockIdx.x * 64 + tid; float s = 0; {} out[i] = s; }}"
    ).format(UNWRITTEN[what])
    x = rng.integers(1, 40, 64 * 200).astype(np.float32) * rng.choice([-1, 1], 64 * 200).astype(np.float32)
    x[0] = 50
    if "dynamic" in what:
        found = []
        for tier in ("good", "wide"):
            wb.set_tier(tier)
            out = np.zeros_like(x)
            kernel = wb.compile(text).k
            kernel[200, 64, 512](x, out)
            assert kernel.tier == tier
            found.append(out.view(np.int32))
        np.testing.assert_array_equal(*found)
        return
    (_, out), said = tiers(text.replace("float* out", "int* out").replace("= s; }", "= __float_as_int(s); }"), "k", 200, 64, x,
                           np.zeros(x.size, np.int32))
    assert said is None
    if what == "written":
        rows = x.reshape(200, 64)
        turned = rows[:, ::-1]
        expected = rows.copy()
        expected[:, :9] += turned[:, :9]
        np.testing.assert_array_equal(out.view(np.float32).reshape(200, 64), expected)
    else:
        # Bytes of poison are 0xcb.
        assert (out == np.int32(-0x34343435) + (what == "atomic")).any()


# Bodies of kernels over (w, h) in long rows: what is in bounds at both ends of all rows need not be looked at again, all else is.
ROWS = {
    "backwards": "out[y * w + (w - 1 - x)] = in[(h - 1 - y) * w + x];",
    "every_second": "if (2 * x + 1 < w) out[y * w + 2 * x + 1] = in[y * w + 2 * x];",
    "squares": "if (y * y < h) out[y * y * w + x] = in[y * y * w + x];",
    "crooked": "out[y * w + x] = in[(y - 3) * (y - 3) % h * w + x];",
    "unsigned": "out[y * w + x] = in[(unsigned)(y * w + x) - (unsigned)k];",
    "size_t": "size_t i = (size_t)y * w + x; out[i] = in[i - k];",
    "wraps": "unsigned i = (unsigned)(y * w + x) * 0x40000001u; out[i & 0x3fffffffu] = in[y * w + x];",
    "far": "out[y * w + x] = in[(long long)(y / 9) * far + x];",
    "minus_one": "size_t less = (size_t)(long long)-k; out[y * w + x] = in[y * w + x + less];",
    "members": "float2* p = (float2*)out; if (x < w / 2) { float2 a = ((const float2*)in)[y * (w / 2) + x]; p[y * (w / 2) + x] = make_float2(a.y, a.x); }",
    "bytes": "((char*)out)[y * w + x] = ((const char*)in)[y * w + x + k];",
    "three_products": "out[y * w + x] = in[(y * far * far * far + y) * w + x];",
    "guarded": "if (x >= k) out[y * w + x] = in[y * w + x - k]; else out[y * w + x] = 0;",
}


@pytest.mark.parametrize("block", [(32, 8), (64, 1), (16, 2, 2)])
@pytest.mark.parametrize("k", [0, 33])
@pytest.mark.parametrize("what", ROWS)
def test_checks_made_once_for_all_rows_find_what_each_would(tiers, what, k, block):
    block = (*block, 1)[:3]
    text = (
        "__global__ void k(const float* in, float* out, int w, int h, int k, int far) {{ int x = blockIdx.x * blockDim.x + threadIdx.x;"
        " int y = (blockIdx.y * blockDim.y + threadIdx.y) * blockDim.z + threadIdx.z; if (x >= w || y >= h) return; {} }}"
    ).format(ROWS[what])
    w, h = 256, 24
    grid = (-(-w // block[0]), -(-h // (block[1] * block[2])))
    x = rng.standard_normal(w * h).astype(np.float32)
    far = {"three_products": 0 if k == 0 else 5, "far": w if k == 0 else 1 << 30}.get(what, 0)
    (_, out), said = tiers(text, "k", grid, block, x, np.full(w * h, -1, np.float32), w, h, k, far)
    faults = {"unsigned": k > 0, "size_t": k > 0, "minus_one": k > 0, "far": k == 33, "three_products": k > 0}
    assert (said is not None) == faults.get(what, False), said
    if said is None:
        image = x.reshape(h, w)
        shifted = np.zeros_like(image)
        shifted[:, k:] = image[:, : w - k]
        expected = {
            "backwards": image[::-1, ::-1],
            "guarded": shifted,
            "members": x.reshape(-1, 2)[:, ::-1].reshape(h, w),
            "crooked": image[(np.arange(h) - 3) ** 2 % h],
            "unsigned": image, "size_t": image, "minus_one": image, "three_products": image,
            "far": image[np.arange(h) // 9] if far else np.tile(image[0], (h, 1)),
        }.get(what)
        if expected is not None:
            np.testing.assert_array_equal(out.reshape(h, w), expected)


REDUCE = """
__global__ void reduce(const T* x, T* out, int n) {
    __shared__ T buffer[1024];
    int tid = threadIdx.x;
    T sum = 0;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    buffer[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buffer[tid] += buffer[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = buffer[0];
}
"""


@pytest.mark.parametrize("dtype,name", [(np.int32, "int"), (np.float32, "float"), (np.float64, "double"), (np.int64, "long long")])
@pytest.mark.parametrize("block", [8, 16, 64, 256, 1024])
@pytest.mark.parametrize("n", [0, 1, 255, 4096, 5000])
def test_trees_of_reductions(tiers, dtype, name, block, n):
    x = rng.integers(-50, 50, max(n, 1)).astype(dtype)
    (_, out), said = tiers("#define T " + name + REDUCE, "reduce", 3, block, x, np.full(3, -1, dtype), n)
    # Whole numbers this small are exact in every type.
    assert said is None and out.sum() == x[:n].sum()


WALK = """
__global__ void walk(const unsigned char* x, const float* y, int* bins, float* out, int n, int stride, int* last) {
    __shared__ int own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    int i;
    for (i = threadIdx.x; i < n; i += stride) {
        atomicAdd(&own[x[i] & 63], 1);
        if (y[i] < -2.5f) continue;
        out[i] = y[i] * 2 + x[i];
    }
    last[threadIdx.x] = i;
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
"""


@pytest.mark.parametrize("block", [64, 96, 256])
@pytest.mark.parametrize("n", [0, 1, 15, 64, 255, 256, 257, 1000, 4099])
def test_walks_of_any_length(tiers, block, n):
    room = max(n, 1)
    x, y = rng.integers(0, 256, room).astype(np.uint8), rng.standard_normal(room).astype(np.float32)
    last = np.zeros(block, np.int32)
    arrays = (x, y, np.zeros(64, np.int32), np.full(room, 7, np.float32), n, block, last)
    (_, _, bins, out, last), said = tiers(WALK, "walk", 1, block, *arrays)
    assert said is None
    np.testing.assert_array_equal(bins, np.bincount(x[:n] & 63, minlength=64))
    expected = np.full(room, 7, np.float32)
    expected[:n] = np.where(y[:n] < -2.5, 7, y[:n] * 2 + x[:n])
    np.testing.assert_array_equal(out, expected)
    start = np.arange(block)
    rounds = np.maximum(0, -(-(n - start) // block))
    np.testing.assert_array_equal(last, start + rounds * block)


def test_a_walk_past_the_end_is_told_of_its_lowest_thread(tiers):
    x, y = np.zeros(1000, np.uint8), np.zeros(1000, np.float32)
    arrays = (x, y, np.zeros(64, np.int32), np.zeros(1000, np.float32), 1024, 256, np.zeros(256, np.int32))
    _, said = tiers(WALK, "walk", 1, 256, *arrays)
    # The lowest of the threads that reach 1000 to 1023 is 1000 mod 256.
    assert "thread (232, 0, 0)" in said


KEPT = """
__global__ void kept(float* p) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    __shared__ float own[1024];
    own[t] = (float)t;
    __syncthreads();
    own[t] = own[t] + 1;
    p[t] = own[t];
}
"""


@pytest.mark.parametrize("block", [(64, 1, 1), (8, 8, 1), (4, 3, 5)])
def test_an_address_that_a_region_keeps_for_the_next(tiers, block):
    count = int(np.prod(block))
    (out,), said = tiers(KEPT, "kept", 1, block, np.zeros(count, np.float32))
    assert said is None
    np.testing.assert_array_equal(out, np.arange(count) + 1)


BLELLOCH = """
__global__ void scan(const int* in, int* out, int n) {
    __shared__ int temp[512];
    int t = threadIdx.x, offset = 1;
    temp[2 * t] = in[2 * t];
    temp[2 * t + 1] = in[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, held = temp[a];
            temp[a] = temp[b];
            temp[b] += held;
        }
    }
    __syncthreads();
    out[2 * t] = temp[2 * t];
    out[2 * t + 1] = temp[2 * t + 1];
}
"""


@pytest.mark.parametrize("n", [64, 512])
def test_a_scan_up_and_down_a_tree(tiers, n):
    x = rng.integers(-9, 9, n).astype(np.int32)
    (_, out), said = tiers(BLELLOCH.replace("n >> 1", f"{n} >> 1").replace("d < n", f"d < {n}"), "scan", 1, n // 2, x, np.zeros(n, np.int32), n)
    assert said is None
    np.testing.assert_array_equal(out, np.cumsum(x) - x)


LATER = """
__global__ void later(const float* x, float* out, int n) {
    __shared__ float buffer[16];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i * blockDim.x + t];
    __syncthreads();
    float twice = sum * 2;
    if (t < 10) buffer[t] = twice;
    __syncthreads();
    for (int i = 0; i < n; i++) sum += buffer[(t + i) % 10];
    __syncthreads();
    out[t] = twice + sum;
}
"""


def test_what_few_threads_use_now_and_all_of_them_later(tiers):
    x = rng.integers(-9, 9, (5, 256)).astype(np.float32)
    arrays = (x, np.zeros(256, np.float32), 5)
    (_, out), said = tiers(LATER, "later", 1, 256, *arrays)
    assert said is None
    sums = x.sum(0)
    expected = 3 * sums + [sum(2 * sums[(t + i) % 10] for i in range(5)) for t in range(256)]
    np.testing.assert_array_equal(out, expected)
    # Values that threads keep are in memory that the next launch finds unchanged, so a result could be right by chance.
    wb.set_tier("good")
    wb.compile(LATER).later[1, 256](x + 1, np.zeros(256, np.float32), 5)
    wb.set_tier("wide")
    wb.compile(LATER).later[1, 256](x, out, 5)
    np.testing.assert_array_equal(out, expected)


INDEX = "size_t i = (size_t)(blockIdx.x * blockDim.x + threadIdx.x * 2u);"


@pytest.mark.parametrize("doubled", [
    # With 2^60 leaves, were each followed by itself: an index that may wrap, in a loop's address, in a condition, in what the next block is expected to read.
    "__global__ void doubled(float* x, int n) { " + INDEX + " size_t j = i; TWICE if (i < n) x[j % 7] = 1; x[i % 5] = 2; if (j == 99) x[j] = 3; }",
    "__global__ void doubled(float* x, int n) { for (int i = 0; i < n; i++) { int j = i; TWICE if (j < n) x[j] += 1; } }",
    "__global__ void doubled(float* x, int n) { __shared__ float own[64]; int j = blockIdx.x * n; TWICE"
    " own[threadIdx.x] = x[j * 0 + threadIdx.x]; __syncthreads(); x[threadIdx.x] = own[0]; }",
])
@pytest.mark.parametrize("times", [12, 60])
def test_what_doubles_with_each_operation_stays_small(doubled, times):
    wb.set_tier("wide")
    try:
        kernel = wb.compile(doubled.replace("TWICE", "j = j + j; " * times)).doubled
        # A text, or why there is none; not all memory.
        assert len(kernel.c_source(64)) < 300_000
    except wb.ArgumentError as e:
        assert "no wide code" in str(e)
    finally:
        wb.set_tier("auto")


def with_vectors(name, *command):
    environment = dict(os.environ, WORKBENCH_VECTORS=name)
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, timeout=600, check=False)


SET = """
import workbench as wb
try:
    wb.set_tier("wide")
    print(wb.compile("__global__ void k(float* x) { x[threadIdx.x] *= 2.0f; }").k.c_source(64))
except wb.ArgumentError as e:
    print("refused:", e)
"""


def test_vectors_are_those_asked_for_or_an_error():
    texts = {name: with_vectors(name, "-c", SET).stdout for name in ("avx2", "avx512", "mmx")}
    assert "`WORKBENCH_VECTORS` is neither `avx512` nor `avx2`" in texts["mmx"]
    assert "__m256" in texts["avx2"] and "__m512" not in texts["avx2"]
    assert "__m512" in texts["avx512"] or "lacks the vectors" in texts["avx512"]


@pytest.mark.long
def test_narrower_vectors_do_the_same():
    """The tests above, with AVX2 on a machine with AVX-512; on others they have run like that already."""
    if "WORKBENCH_VECTORS" in os.environ or "refused" in with_vectors("avx512", "-c", SET).stdout:
        return
    done = with_vectors("avx2", "-m", "pytest", "-q", "-x", __file__)
    assert done.returncode == 0, done.stdout[-4000:]

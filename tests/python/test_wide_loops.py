"""The wide tier's loops: what is looked at once before them, addresses that move by a constant, what is asked of memory ahead, and `rsqrtf`.

Results are NumPy's where these are exact, else those of the tier below, bit for bit, and so are faults.
"""

import numpy as np
import pytest
import workbench as wb

from test_set_tier import HAS_WIDE
from test_wide_tier import tiers  # noqa: F401

pytestmark = pytest.mark.skipif(not HAS_WIDE, reason="no C compiler, or neither AVX-512 nor AVX2")
rng = np.random.default_rng(20261126)

VECTORS = """
__global__ void total(const float4* a, float4* out, int n, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int j = 0; j < n; j += step) {
        float4 v = a[j];
        sum.x += v.x * i; sum.y += v.y; sum.z += v.z; sum.w += v.w;
    }
    out[i] = sum;
}
"""


@pytest.mark.parametrize("n, step", [(0, 1), (1, 1), (37, 1), (37, 3), (64, 5)])
def test_vectors_in_a_loop_are_looked_at_once(tiers, n, step):  # noqa: F811
    # Small integers, so that sums are exact in any order.
    a = rng.integers(-8, 8, (n, 4)).astype(np.float32)
    (_, out), said = tiers(VECTORS, "total", 3, 48, a, np.full((144, 4), np.nan, np.float32), n, step)
    wanted = np.tile(a[::step].sum(0, dtype=np.float64), (144, 1))
    wanted[:, 0] *= np.arange(144)
    assert said is None
    np.testing.assert_array_equal(out, wanted)


def aligned(size, shift):
    """Floats of which the first lies `shift` bytes behind a multiple of 64."""
    raw = np.zeros(4 * size + 128, np.uint8)
    begin = -raw.ctypes.data % 64 + shift
    return raw[begin : begin + 4 * size].view(np.float32)


@pytest.mark.parametrize("shift", [0, 4, 8, 12, 16])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_a_misaligned_vector_in_a_loop_is_a_fault(n, shift):
    told = []
    before = wb.set_tier("good")
    try:
        for tier in ("good", "wide"):
            wb.set_tier(tier)
            a, out = aligned(120, shift), aligned(4 * 96, 0)
            a[:] = 1
            kernel = wb.compile(VECTORS).total
            try:
                kernel[2, 48](a, out, n, 1)
                told.append(out.tolist())
            except wb.KernelFault as e:
                told.append((e.kind, e.line, e.block, e.thread))
    finally:
        wb.set_tier(before)
    assert told[0] == told[1]
    assert isinstance(told[0], tuple) == (shift % 16 != 0 and n > 0)
    if isinstance(told[0], tuple):
        assert told[0] == ("misaligned access", 6, (0, 0, 0), (0, 0, 0))


INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "


@pytest.mark.parametrize("text, of", [
    # Numbers of 32 bits that wrap around are no lines, whatever they look like.
    ("unsigned k = (unsigned)m + 4294967295u * (unsigned)j; sum += x[k];", lambda m, j: m - j),
    ("int k = m - j; sum += x[k];", lambda m, j: m - j),
    ("int k = (j * 65536) * 65536 + j; sum += x[k];", lambda m, j: j),
    ("long long k = (long long)j * 2 + 1; sum += x[k];", lambda m, j: 2 * j + 1),
    ("unsigned char k = j; sum += x[k];", lambda m, j: j & 255),
    ("short k = j * 3; sum += x[k + 1];", lambda m, j: 3 * j + 1),
])
@pytest.mark.parametrize("m", [1, 50, 300])
def test_addresses_that_a_loop_moves(tiers, text, of, m):  # noqa: F811
    x = rng.integers(-99, 99, 1024).astype(np.int32)
    source = f"__global__ void k(const int* x, int* y, int n, int m) {{ {INDEX} int sum = i; for (int j = 0; j < m; j++) {{ {text} }} y[i] = sum; }}"
    (_, y), said = tiers(source, "k", 2, 64, x, np.full(100, -1, np.int32), 100, m)
    assert said is None
    np.testing.assert_array_equal(y, np.arange(100) + sum(int(x[of(m, j)]) for j in range(m)))


@pytest.mark.parametrize("loop", [
    # An access behind the increment in a step has the next round's counter.
    "for (int j = 0; j < n; s += a[t * 4 + j++]);",
    "for (int j = 0; j < n; j++, s += a[j]);",
    "for (int j = t; j < n; j += gridDim.x * blockDim.x, s += a[j]);",
    "for (int j = 0; j < n; j++, o[t] = a[t] + j) s += a[j];",
    # An access before the exit is made once more than there are rounds.
    "for (int j = 0;; j++) { float v = a[j]; if (j >= n) break; s += v; }",
    "for (int j = t;; j += gridDim.x * blockDim.x) { float v = a[j]; if (j >= n) break; s += v; }",
    "for (int j = 0;; j += m) { float v = a[j]; if (j >= n) break; s += v; }",
])
@pytest.mark.parametrize("n, size", [(0, 1), (1, 1), (1, 1200), (64, 64), (64, 65), (300, 301), (300, 2048)])
def test_what_is_looked_at_before_a_loop_is_what_it_reads(tiers, loop, n, size):  # noqa: F811
    a = rng.integers(-9, 9, size).astype(np.float32)
    text = f"__global__ void k(const float* a, float* o, int n, int m) {{ int t = blockIdx.x * blockDim.x + threadIdx.x; float s = 0; {loop} o[t] += s; }}"
    tiers(text, "k", 4, 64, a, np.zeros(256, np.float32), n, 1 << 29)


STENCIL = """
__global__ void cross(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1) out[i] = in[i] + in[i - 1] + in[i + 1] + in[i - w] * 2 + in[i + w] * 3;
    else out[i] = in[i];
}
"""


@pytest.mark.parametrize("w, h", [(1, 1), (33, 5), (64, 64), (257, 31), (700, 3)])
@pytest.mark.parametrize("block", [(32, 8), (16, 16), (64, 1)])
def test_the_farthest_row_is_asked_for_ahead(tiers, w, h, block):  # noqa: F811
    x = rng.integers(-99, 99, (h, w)).astype(np.float32)
    grid = (-(-w // block[0]), -(-h // block[1]))
    (_, out), said = tiers(STENCIL, "cross", grid, block, x, np.full_like(x, np.nan), w, h)
    wanted = x.copy()
    wanted[1:-1, 1:-1] += x[1:-1, :-2] + x[1:-1, 2:] + 2 * x[:-2, 1:-1] + 3 * x[2:, 1:-1]
    assert said is None
    np.testing.assert_array_equal(out, wanted)


HISTOGRAM = """
__global__ void count(UNTOUCHED unsigned char* x, unsigned* out, unsigned char* y, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { BODY }
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
"""


@pytest.mark.parametrize("untouched, body", [
    ("const", "atomicAdd(&bins[x[i]], 1u);"),
    # The byte is what it was when it was read, not what is there by now; `y` is the same memory.
    ("const", "unsigned char v = x[i]; y[i] = v + 1; atomicAdd(&bins[v], 1u);"),
    ("", "unsigned char v = x[i]; x[i] = v + 1; atomicAdd(&bins[v], 1u);"),
])
@pytest.mark.parametrize("grid, n", [(1, 0), (1, 255), (2, 4096), (7, 100_000), (64, 65_536), (3, 1_000_003)])
def test_bytes_that_index_tables(untouched, body, grid, n):
    before = wb.set_tier("wide")
    try:
        kernel = wb.compile(HISTOGRAM.replace("BODY", body).replace("UNTOUCHED", untouched)).count
        x = rng.integers(0, 256, n).astype(np.uint8)
        out, own = np.zeros(256, np.uint32), x.copy()
        for _ in range(2):
            kernel[grid, 256](own, out, own, n)
        assert kernel.tier == "wide"
    finally:
        wb.set_tier(before)
    again = x if untouched and "y[i]" not in body else x + np.uint8(1)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=256) + np.bincount(again, minlength=256))


RSQRT = """
__global__ void each(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = rsqrtf(x[i]); }
__global__ void of_block(const float* x, float* y, int n) { float r = rsqrtf(x[blockIdx.x]); if (threadIdx.x < n) y[blockIdx.x * n + threadIdx.x] = r; }
"""


def test_reciprocal_square_roots_are_the_same_in_all_tiers():
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 4.0, 1e-45, 1.1754942e-38, 3.4028235e38]
    x = np.concatenate([np.float32(special), rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)])
    found = []
    before = wb.set_tier("soon")
    try:
        for tier in ("soon", "good", "wide"):
            wb.set_tier(tier)
            m = wb.compile(RSQRT)
            y, z = np.full_like(x, -7), np.full((500, 40), -7, np.float32)
            m.each[-(-len(x) // 256), 256](x, y, len(x))
            m.of_block[500, 64](x, z, 40)
            found.append((y, z))
    finally:
        wb.set_tier(before)
    for y, z in found:
        np.testing.assert_array_equal(y, found[0][0])
        np.testing.assert_array_equal(z, np.repeat(found[0][0][:500], 40).reshape(500, 40))
    y = found[0][0]
    positive = (x > 0) & np.isfinite(x)
    with np.errstate(all="ignore"):
        wanted = 1 / np.sqrt(x.astype(np.float64))
    # CUDA's bound is 2 ULP (Programming Guide, "Mathematical Functions"); results are normal numbers.
    assert (np.abs(y[positive] - wanted[positive]) <= 2 * np.spacing(np.abs(wanted[positive]).astype(np.float32))).all()
    assert y[0] == np.inf and y[1] == -np.inf and y[2] == 0
    assert np.isnan(y[(x < 0) | np.isnan(x)]).all()


@pytest.mark.parametrize("made", ["good", "lanes", "wide"])
def test_a_warp_that_leaves_a_loop_keeps_what_it_had(made):
    """Two warps of one group leave a loop that waits for others in different rounds."""
    source = """
__global__ void squares(const float* limit, float* x) {
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    float v = x[i];
    int rounds = 0;
    while (rounds < 5 && __any_sync(0xffffffffu, v < limit[i])) {
        rounds++;
        v = v * v + 1.0f;
    }
    x[i] = v + 1000.0f * rounds;
}
"""
    before = wb.set_tier(made)
    try:
        kernel = wb.compile(source).squares
        x = np.full(64, 1.0, np.float32)
        # 1, 2, 5, 26: the first warp has enough after two rounds, the second after three.
        limit = np.repeat(np.float32([4, 20]), 32)
        kernel[1, (16, 4)](limit, x)
        assert kernel.tier == made
    finally:
        wb.set_tier(before)
    np.testing.assert_array_equal(x, np.repeat(np.float32([2005, 3026]), 32))


ROWS = """
__global__ void rows(const float* a, float* sums) {
    __shared__ float s[COUNT][X + 1];
    int tx = threadIdx.x, row = threadIdx.z * blockDim.y + threadIdx.y;
    s[row][tx] = a[(blockIdx.x * COUNT + row) * X + tx];
    __syncthreads();
    for (int d = X / 2; d > 0; d /= 2) {
        if (tx < d) s[row][tx] += s[row][tx + d];
        __syncthreads();
    }
    if (tx == 0) sums[blockIdx.x * COUNT + row] = s[row][0];
}
"""


@pytest.mark.parametrize("made", ["soon", "good", "lanes", "wide"])
@pytest.mark.parametrize("block", [(16, 8), (32, 8), (64, 4), (128, 2), (32, 4, 2), (32, 1, 8), (256,)])
def test_each_row_of_a_block_is_reduced(made, block):
    """In blocks of several rows groups that do nothing in a step are followed by some that do."""
    count = int(np.prod(block[1:]))
    before = wb.set_tier(made)
    try:
        kernel = wb.compile(f"#define X {block[0]}\n#define COUNT {count}\n{ROWS}").rows
        # Small integers, so that sums are exact in any order.
        a = rng.integers(-50, 50, (3 * count, block[0])).astype(np.float32)
        sums = np.full(3 * count, np.nan, np.float32)
        kernel[3, block](a, sums)
        assert kernel.tier == made
    finally:
        wb.set_tier(before)
    np.testing.assert_array_equal(sums, a.sum(1))


GUARDED = """
#define T 16
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int t = 0; t < (k + T - 1) / T; ++t) {
        as[ty][tx] = (row < m && t * T + tx < k) ? a[row * k + t * T + tx] : 0.0f;
        if (t * T + ty >= k || col >= n) bs[ty][tx] = 0.0f;
        else bs[ty][tx] = b[(t * T + ty) * n + col];
        __syncthreads();
        for (int j = 0; j < T; ++j) sum += as[ty][j] * bs[j][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
"""


@pytest.mark.parametrize("made", ["soon", "good", "lanes", "wide"])
@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (64, 48, 80), (1, 1, 1), (33, 17, 31), (15, 64, 16), (32, 32, 0), (70, 3, 95)])
def test_guards_of_tiles_are_kept(made, m, n, k):
    """Blocks inside the matrices ask once for all their threads, those at an edge each for its own."""
    a, b = (rng.integers(-9, 9, shape).astype(np.float32) for shape in [(m, k), (k, n)])
    c = np.full((m, n), np.nan, np.float32)
    before = wb.set_tier(made)
    try:
        kernel = wb.compile(GUARDED).product
        kernel[(-(-n // 16), -(-m // 16)), (16, 16)](a, b, c, m, n, k)
        assert kernel.tier == made
        if made == "lanes" and min(m, n, k) > 1:
            # Accesses that the guards let through are still checked.
            with pytest.raises(wb.KernelFault, match="row \\* k"):
                kernel[(-(-n // 16), -(-m // 16)), (16, 16)](a[:-1], b, c, m, n, k)
    finally:
        wb.set_tier(before)
    np.testing.assert_array_equal(c, a @ b)

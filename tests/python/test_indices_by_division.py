"""Indices by `/` and `%` of a flat number: threads with the same quotient run together, and every tier says the same.

Widths are on both sides of what a vector has (16 lanes), of the fewest lanes that run together (8), and of a block; rows begin anywhere.
"""

import numpy as np
import pytest

import workbench as wb

from fused import fma
from test_set_tier import HAS_WIDE

TIERS = ["soon", "good", "lanes", *(["wide"] if HAS_WIDE else [])]
WIDTHS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 33, 56, 100, 1000]


@pytest.fixture(params=TIERS)
def tier(request):
    before = wb.set_tier(request.param)
    yield request.param
    wb.set_tier(before)


def kernel(text):
    """The one kernel of a text."""
    return wb.compile(text)[text.split("__global__ void ")[1].split("(")[0]]


def launch(kernel, n, block, *args):
    kernel[max(-(-n // block), 1), block](*args)


@pytest.mark.parametrize("index", ["int", "unsigned", "long long", "size_t"])
def test_rows_columns_and_planes_of_a_flat_number(tier, index):
    split = kernel(
        """
    __global__ void split(const float* x, float* y, int* row, int* column, int total, int width, int height) {
        INDEX i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= total) return;
        INDEX w = width, h = height;
        INDEX cx = i % w, cy = (i / w) % h, cz = i / (w * h);
        row[i] = i / w;
        column[i] = cx;
        y[i] = x[(cz * h + cy) * w + (w - 1 - cx)] + x[cz];
    }""".replace("INDEX", index)
    )
    for width in WIDTHS:
        for height, block in ((1, 256), (5, 96), (11, 100)):
            n = 7 * width * height - 1 if width * height > 1 else 7
            x = np.random.default_rng(width).random(n + width * height, dtype=np.float32)
            y, row, column = np.full(n, 7, np.float32), np.full(n, 7, np.int32), np.full(n, 7, np.int32)
            launch(split, n, block, x, y, row, column, n, width, height)
            i = np.arange(n)
            z, r = i // (width * height), i // width % height
            assert row.tolist() == (i // width).tolist() and column.tolist() == (i % width).tolist()
            assert y.tolist() == (x[(z * height + r) * width + width - 1 - i % width] + x[z]).tolist()


def test_quotients_of_negative_numbers_and_at_the_ends_of_32_bits(tier):
    ends = kernel(
        """
    __global__ void ends(int* quotient, int* rest, unsigned* big, int n, int begin, int width) {
        int t = blockIdx.x * blockDim.x + threadIdx.x;
        if (t >= n) return;
        int i = begin + t;
        quotient[t] = i / width;
        rest[t] = i % width;
        big[t] = ((unsigned)begin + t) / (unsigned)width * 3 + ((unsigned)begin + t) % (unsigned)width;
    }"""
    )
    n = 200
    for width in (1, 9, 17, 40, 2**31 - 1, -7, -40):
        for begin in (-100, -1, -(2**31), 2**31 - 200, 2**31 - 120, 2**30):
            quotient, rest, big = np.full(n, 7, np.int32), np.full(n, 7, np.int32), np.full(n, 7, np.uint32)
            launch(ends, n, 64, quotient, rest, big, n, begin, width)
            # Numbers wrap around as those of 32 bits do on a GPU; quotients are cut off towards zero.
            i = [(begin + t + 2**31) % 2**32 - 2**31 for t in range(n)]
            if width == -1 or width == 0:
                continue
            cut = [abs(a) // abs(width) * (1 if (a < 0) == (width < 0) else -1) for a in i]
            assert quotient.tolist() == cut
            assert rest.tolist() == [a - q * width for a, q in zip(i, cut)]
            w, u = width % 2**32, [(begin + t) % 2**32 for t in range(n)]
            assert big.tolist() == [(a // w * 3 + a % w) % 2**32 for a in u]


def test_what_is_counted_before_and_after_goes_on_for_each_thread(tier):
    counted = kernel(
        """
    __global__ void counted(const float* x, float* y, int* rounds, int n, int w) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            int all = 1;
            float sum = 0;
            int column = i % w, row = i / w;
            for (int j = 0; j <= column % 3; j++) { sum += x[row * w + j % w] * (j + 1); all++; }
            if (column > 0) all += 10; else sum -= 1;
            y[i] = sum;
            rounds[i] = all;
        }
    }"""
    )
    for width in WIDTHS:
        n = 777
        x = np.random.default_rng(width).random(n + width, dtype=np.float32)
        y, rounds = np.full(n, 7, np.float32), np.full(n, 7, np.int32)
        counted[2, 96](x, y, rounds, n, width)
        i = np.arange(n)
        column, row, sum = i % width, i // width, np.zeros(n, np.float32)
        for j in range(3):
            sum = np.where(j <= column % 3, fma(x[row * width + j % width], np.float32(j + 1), sum), sum)
        assert y.tolist() == np.where(column > 0, sum, sum - 1).astype(np.float32).tolist()
        assert rounds.tolist() == (column % 3 + 2 + 10 * (column > 0)).tolist()


def test_quotients_of_quotients_and_rests_of_rests(tier):
    nested = kernel(
        """
    __global__ void nested(const int* x, int* y, unsigned n, unsigned w, unsigned h) {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {
            unsigned plane = w * h, z = i / plane, rest = i % plane, row = rest / w, column = rest % w;
            if (column > 0 && row > 0) y[i] = x[i] + x[(z * h + row - 1) * w + column - 1];
            else y[i] = -(int)z;
        }
    }"""
    )
    for width in WIDTHS:
        for height, block in ((1, 128), (3, 32), (9, 72)):
            n = 5 * width * height + 3
            x = np.random.default_rng(width).integers(-1000, 1000, n, dtype=np.int32)
            y = np.full(n, 7, np.int32)
            launch(nested, n, block, x, y, n, width, height)
            expected = []
            for i in range(n):
                z, rest = divmod(i, width * height)
                row, column = divmod(rest, width)
                inside = column > 0 and row > 0
                expected.append(int(x[i]) + int(x[(z * height + row - 1) * width + column - 1]) if inside else -z)
            assert y.tolist() == expected


def test_a_tile_that_is_filled_by_rows_and_summed_by_a_warp(tier):
    tiled = kernel(
        """
    __global__ void tiled(const int* x, int* y, int w, int pitch, int size) {
        __shared__ int tile[512];
        for (int t = threadIdx.x; t < size; t += blockDim.x) tile[t] = x[blockIdx.x * pitch * (size / w) + t / w * pitch + t % w];
        __syncthreads();
        int v = 0;
        for (int t = threadIdx.x; t < size; t += blockDim.x) v += tile[t] * (t % w);
        for (int o = 16; o; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
        if (threadIdx.x % 32 == 0) atomicAdd(&y[blockIdx.x], v);
    }"""
    )
    for w in (3, 10, 18, 34, 100):
        rows, pitch, blocks = 500 // w, 120, 3
        x = np.random.default_rng(w).integers(-9, 9, (blocks, rows, pitch), dtype=np.int32)
        y = np.zeros(blocks, np.int32)
        tiled[blocks, 128](x.reshape(-1), y, w, pitch, rows * w)
        assert y.tolist() == (x[:, :, :w] * np.arange(w)).sum((1, 2)).tolist()


def test_the_lowest_thread_that_faults_is_named(tier):
    astray = kernel(
        """
    __global__ void astray(const float* x, float* y, int n, int w, int h) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int row = i / w, column = i % w;
        y[i] = x[row * h + column];
    }"""
    )
    y = np.zeros(256, np.float32)
    # Row 2 begins at 58 of 70 elements: thread 2 * 20 + 12 reads the first that is not there.
    with pytest.raises(wb.KernelFault, match=r"thread \(52, 0, 0\)(.|\n)*reads index 70 of `x`"):
        astray[1, 256](np.ones(70, np.float32), y, 256, 20, 29)
    for w in (0, 1):
        text = "division by zero" if w == 0 else r"reads index 200 of `x`"
        with pytest.raises(wb.KernelFault, match=text):
            astray[1, 256](np.ones(200, np.float32), y, 256, w, 1)
    # The next call works.
    astray[1, 256](np.arange(256, dtype=np.float32), y, 256, 20, 20)
    assert y.tolist() == list(range(256))


def test_steps_of_several_elements_and_known_widths(tier):
    stepped = kernel(
        """
    template <int W> __device__ float at(const float* x, int i) { return x[i / W * W + (W - 1 - i % W)]; }
    __global__ void stepped(const float* x, float* y, int n) {
        int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
        if (i + 3 < n)
            for (int k = 0; k < 4; k++) y[i + k] = at<12>(x, i + k) + at<50>(x, i + k) * at<7>(x, i + k) - at<64>(x, i);
    }"""
    )
    n = 4800
    x = np.random.default_rng(1).random(n + 64, dtype=np.float32)
    y = np.zeros(n, np.float32)
    launch(stepped, n // 4, 96, x, y, n)
    i = np.arange(n)

    def at(w, i):
        return x[i // w * w + w - 1 - i % w]

    # The product goes into the first sum.
    assert y.tolist() == (fma(at(50, i), at(7, i), at(12, i)) - at(64, i // 4 * 4)).tolist()


@pytest.mark.parametrize("block", [18, 23, 32, 40, 100])
def test_unsigned_rests_of_small_numbers(tier, block):
    # The numbers are known to be small; a rest of the lanes before a piece is not among them.
    rests = kernel(
        """
    __global__ void rests(const float* a, const unsigned* u, float* y, unsigned* z) {
        unsigned i = threadIdx.x;
        y[i] = a[i % 17u] + a[(i + 3u) % 19u + 1u];
        z[i] = u[(i * 2u + 1u) % 21u] + (i % 9u) * 2u;
    }"""
    )
    a, u = np.arange(40, dtype=np.float32), np.arange(40, dtype=np.uint32) * 3
    y, z = np.full(block, 7, np.float32), np.full(block, 7, np.uint32)
    rests[1, block](a, u, y, z)
    i = np.arange(block)
    assert y.tolist() == (i % 17 + (i + 3) % 19 + 1).tolist()
    assert z.tolist() == ((i * 2 + 1) % 21 * 3 + i % 9 * 2).tolist()

"""Pointers of another type: numbers of 2, 4 and 8 bytes in arrays of bytes run in every tier, and where one is misaligned every tier says so alike.

x86 would read them all the same; a GPU ends the program at an address that is no multiple of the number's size.
"""

import numpy as np
import pytest

import workbench as wb

from test_indices_by_division import TIERS, kernel, tier  # noqa: F401 (a fixture)

SUMS = """
__global__ void sums(const signed char* bytes, int* out, int n, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const int* words = reinterpret_cast<const int*>(bytes + (size_t)row * width);
    int sum = 0;
    for (int i = 0; i < width / 4; i++) sum += words[i] ^ i;
    out[row] = sum;
}"""
WORDS = """
__global__ void words(const unsigned char* bytes, int* out, int n, int begin) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = ((const int*)(bytes + begin))[i] + 1;
}"""
PICKED = """
__global__ void picked(const unsigned char* bytes, const int* at, TYPE* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = *(const TYPE*)(bytes + at[i]);
}"""
PUT = """
__global__ void put(unsigned char* bytes, const int* at, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) *(float*)(bytes + at[i]) = i + 0.5f;
}"""
COUNTED = """
__global__ void counted(unsigned char* bytes, const int* at, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd((int*)(bytes + at[i]), 1);
}"""
SCALED = """
#include <cuda_fp16.h>
struct Scaled { half scale; unsigned char numbers[16]; };
__global__ void scaled(const void* raw, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Scaled* block = (const Scaled*)raw + i;
    float sum = 0;
    for (int j = 0; j < 16; j++) sum += block->numbers[j];
    out[i] = __half2float(block->scale) * sum;
}"""


def run(tier, text, n, *args, block=64):
    """Launches the kernel of a text, and holds that the tier which was set has run."""
    one = kernel(text)
    one[-(-n // block), block](*args)
    assert one.tier == tier
    return one


def fault(text, n, *args, block=64):
    """The fault of a launch."""
    with pytest.raises(wb.KernelFault) as caught:
        kernel(text)[-(-n // block), block](*args)
    return caught.value


@pytest.mark.parametrize("width", [4, 8, 64, 100])
def test_words_of_rows_of_bytes(tier, width):
    n = 150
    data = np.random.default_rng(width).integers(-128, 128, n * width, dtype=np.int8)
    out = np.full(n, 7, np.int32)
    run(tier, SUMS, n, data, out, n, width)
    words = data.view(np.int32).reshape(n, -1)
    assert out.tolist() == (words ^ np.arange(width // 4, dtype=np.int32)).sum(1, dtype=np.int32).tolist()


def test_neighbours_that_begin_at_a_multiple_or_not(tier):
    data, out = np.random.default_rng(0).integers(0, 256, 4 * 210, dtype=np.uint8), np.full(200, 7, np.int32)
    for begin in (0, 4, 40):
        run(tier, WORDS, 200, data, out, 200, begin)
        assert out.tolist() == (data[begin : begin + 800].view(np.int32) + np.int32(1)).tolist()
    for begin in (1, 2, 39):
        error = fault(WORDS, 200, data, out, 200, begin)
        assert error.kind == "misaligned access" and error.thread == (0, 0, 0) and error.block == (0, 0, 0)
        assert f"reads a `int` at byte {begin} of `bytes`" in str(error) and "not a multiple of 4" in str(error)
    # The array itself may begin anywhere.
    error = fault(WORDS, 200, data[1:], out, 200, 0)
    assert error.kind == "misaligned access" and error.thread == (0, 0, 0)
    run(tier, WORDS, 200, data[1:], out, 200, 3)
    assert out.tolist() == (data[4:804].view(np.int32) + np.int32(1)).tolist()


@pytest.mark.parametrize("of, ctype", [(np.int16, "short"), (np.float32, "float"), (np.float64, "double"), (np.int64, "long long")])
def test_the_lowest_thread_at_an_odd_address_is_named(tier, of, ctype):
    n, size = 100, np.dtype(of).itemsize
    text = PICKED.replace("TYPE", ctype)
    data = np.random.default_rng(size).integers(0, 64, 8 * 300, dtype=np.uint8)
    at = np.random.default_rng(1).integers(0, 299, n).astype(np.int32) * 8
    out = np.full(n, 7, of)
    run(tier, text, n, data, at, out, n)
    assert out.tobytes() == b"".join(data[a : a + size].tobytes() for a in at)
    for odd in ([37, 41, 90], [99], [0, 1], [16]):
        wrong = at.copy()
        wrong[odd] += size // 2
        error = fault(text, n, data, wrong, out, n, block=128)
        assert error.kind == "misaligned access" and error.thread == (odd[0], 0, 0)
        assert f"at byte {wrong[odd[0]]} of `bytes`" in str(error) and f"not a multiple of {size}" in str(error)


def test_out_of_bounds_is_told_before_misaligned(tier):
    data, out, at = np.zeros(64, np.uint8), np.zeros(40, np.float32), np.zeros(40, np.int32)
    at[21], at[30] = 62, 3
    error = fault(PICKED.replace("TYPE", "float"), 40, data, at, out, 40)
    assert error.kind == "out-of-bounds read" and error.thread == (21, 0, 0)
    at[20] = 1
    assert fault(PICKED.replace("TYPE", "float"), 40, data, at, out, 40).kind == "misaligned access"


def test_what_is_misaligned_is_not_written(tier):
    n, data = 48, np.full(4 * 48, 9, np.uint8)
    at = np.arange(n, dtype=np.int32) * 4
    run(tier, PUT, n, data, at, n)
    assert data.view(np.float32).tolist() == [i + 0.5 for i in range(n)]
    for text, verb in ((PUT, "writes a `float`"), (COUNTED, "writes a `int`")):
        data[:] = 9
        wrong = at.copy()
        wrong[n - 1] -= 2
        error = fault(text, n, data, wrong, n)
        assert error.kind == "misaligned access" and error.thread == (n - 1, 0, 0) and verb in str(error)
        assert data[-4:].tolist() == [9] * 4


def test_counts_in_an_array_of_bytes(tier):
    n, data = 300, np.zeros(4 * 7, np.uint8)
    run(tier, COUNTED, n, data, (np.arange(n) % 7 * 4).astype(np.int32), n)
    assert data.view(np.int32).tolist() == np.bincount(np.arange(n) % 7).tolist()


def test_halves_between_bytes(tier):
    n = 77
    raw = np.zeros(n, np.dtype([("scale", np.float16), ("numbers", np.uint8, 16)]))
    draw = np.random.default_rng(3)
    raw["scale"], raw["numbers"] = draw.integers(1, 9, n) / 4, draw.integers(0, 256, (n, 16))
    out = np.full(n, 7, np.float32)
    run(tier, SCALED, n, raw.view(np.uint8), out, n)
    # Quarters of whole numbers below 2^24 are exact.
    assert out.tolist() == (raw["scale"].astype(np.float32) * raw["numbers"].sum(1, dtype=np.int32)).tolist()
    odd = np.zeros(18 * n + 1, np.uint8)[1:]
    error = fault(SCALED, n, odd, out, n)
    assert error.kind == "misaligned access" and error.thread == (0, 0, 0)


def test_a_row_of_odd_length_is_misaligned_from_its_second_row_on(tier):
    data, out = np.zeros(150 * 6, np.int8), np.full(150, 7, np.int32)
    error = fault(SUMS, 150, data, out, 150, 6)
    assert error.kind == "misaligned access" and (error.block, error.thread) == ((0, 0, 0), (1, 0, 0)) and "at byte 6 of `bytes`" in str(error)

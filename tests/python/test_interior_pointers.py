"""Pointers that host code moves into the middle of a tensor before a launch: kernels reach what lies before them, and no further.

Every case runs in every tier that this machine has. Results are NumPy's.
"""

import numpy as np
import pytest
import workbench as wb

from test_set_tier import HAS_WIDE

TIERS = ["soon", "good", *(["wide"] if HAS_WIDE else [])]
rng = np.random.default_rng(20261124)

TEXT = r"""
#include <torch/extension.h>
template <typename T> struct Block { const T* x; T* y; int n, back; };
template <typename T> __global__ void plain(const T* x, T* y, int n, int back) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] - x[i - back];
}
template <typename T> __global__ void members(Block<T> b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < b.n) b.y[i] = b.x[i] - b.x[i - b.back];
}
template <typename T> __global__ void untyped(const void* x, void* y, int n, int back) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ((T*)y)[i] = ((const T*)x)[i] - ((const T*)x)[i - back];
}
template <typename T> __global__ void chosen(const T* x, const T* z, T* y, int n, int back) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T* p = i % 2 ? x : z;
  if (i < n) y[i] = p[i] - p[i - back];
}
template <typename T> __global__ void backwards(T* last, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) last[-1 - i] = last[-1 - i] * (T)2;
}
template <typename T> void run(torch::Tensor x, torch::Tensor y, int how, int n, int off, int back, int shift) {
  const T* p = (const T*)((const char*)x.data_ptr<T>() + shift) + off;
  T* q = y.data_ptr<T>();
  int blocks = (n + 95) / 96;
  if (how == 0) plain<T><<<blocks, 96>>>(p, q, n, back);
  if (how == 1) members<T><<<blocks, 96>>>(Block<T>{p, q, n, back});
  if (how == 2) untyped<T><<<blocks, 96>>>(p, q, n, back);
  if (how == 3) chosen<T><<<blocks, 96>>>(p, p, q, n, back);
  if (how == 4) backwards<T><<<blocks, 96>>>(q + y.numel(), n);
}
void lag(torch::Tensor x, torch::Tensor y, int how, int n, int off, int back, int shift) {
  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "lag", [&] { run<scalar_t>(x, y, how, n, off, back, shift); });
}
"""


@pytest.fixture(params=TIERS, autouse=True)
def tier(request):
    before = wb.set_tier(request.param)
    yield request.param
    wb.set_tier(before)


@pytest.fixture
def lag(tier):
    return wb.load_inline("interior_" + tier, cpp_sources=[""], cuda_sources=[TEXT], functions=["lag"]).lag


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8])
@pytest.mark.parametrize("how", range(4))
def test_what_lies_before_the_pointer_is_read(lag, how, dtype):
    x = rng.integers(0, 100, 1013).astype(dtype)
    for off, back in [(1, 1), (37, 37), (500, 3), (0, 0), (7, -5)]:
        y = np.full(1013, 99, dtype)
        n = 1013 - off - max(0, -back)
        lag(x, y, how, n, off, back, 0)
        np.testing.assert_array_equal(y[:n], x[off : off + n] - x[off - back : off - back + n])
        np.testing.assert_array_equal(y[n:], 99)


def test_a_pointer_to_the_end_reaches_all_that_is_before_it(lag):
    x, y = np.zeros(1, np.float32), rng.standard_normal(777, np.float32)
    want = y * 2
    lag(x, y, 4, 777, 0, 0, 0)
    np.testing.assert_array_equal(y, want)
    with pytest.raises(wb.KernelFault, match="writes|reads") as fault:
        lag(x, y, 4, 778, 0, 0, 0)
    assert "index -778 of `last`, which points at element 777 of 777 (float)" in str(fault.value)


@pytest.mark.parametrize("how, name", [(0, "x"), (1, "b.x"), (3, "z")])
def test_faults_count_from_the_pointer(lag, how, name):
    x, y = rng.standard_normal(200, np.float32), np.zeros(300, np.float32)
    with pytest.raises(wb.KernelFault) as fault:
        lag(x, y, how, 100, 4, 5, 0)
    assert f"reads index -5 of `{name}`, which points at element 4 of 200 (float)" in str(fault.value)
    with pytest.raises(wb.KernelFault) as fault:
        lag(x, y, how, 100, 4, -196, 0)
    assert f"reads index 196 of `{name}`, which has 196 elements (float)" in str(fault.value)
    # The next call works.
    lag(x, y, how, 100, 4, 4, 0)
    np.testing.assert_array_equal(y[:100], x[4:104] - x[:100])


def test_pointers_between_elements_fault_as_misaligned(lag):
    x, y = rng.standard_normal(200, np.float32), np.zeros(300, np.float32)
    for how in (0, 1):
        with pytest.raises(wb.KernelFault, match="not a multiple of 4"):
            lag(x, y, how, 100, 4, 0, 2)


def test_the_view_that_was_passed_is_all_there_is(lag):
    whole, y = rng.standard_normal(200, np.float32), np.zeros(300, np.float32)
    with pytest.raises(wb.KernelFault, match=r"reads index -1 of `x`, which has 150 elements"):
        lag(whole[50:], y, 0, 100, 0, 1, 0)


def test_read_only_arrays_stay_so(lag):
    x, y = np.zeros(8, np.float32), np.ones(8, np.float32)
    y.setflags(write=False)
    with pytest.raises(wb.KernelFault, match="read-only"):
        lag(x, y, 4, 8, 0, 0, 0)
    np.testing.assert_array_equal(y, 1)

"""16-bit floats: arrays of NumPy's float16 and ml_dtypes' bfloat16 in and out, numbers by value, what does not fit."""

import numpy as np
import pytest

import workbench as wb

ml_dtypes = pytest.importorskip("ml_dtypes")

SCALE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <typename T> __device__ void scaled(const T* x, T* y, T a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * a;
}
__global__ void half_scale(const __half* x, __half* y, __half a, int n) { scaled(x, y, a, n); }
__global__ void brain_scale(const __nv_bfloat16* x, __nv_bfloat16* y, __nv_bfloat16 a, int n) { scaled(x, y, a, n); }
"""

KINDS = [("half_scale", np.dtype(np.float16)), ("brain_scale", np.dtype(ml_dtypes.bfloat16))]


@pytest.fixture(scope="module")
def module():
    return wb.compile(SCALE)


@pytest.mark.parametrize(("kernel", "dtype"), KINDS)
@pytest.mark.parametrize("n", [0, 1, 257])
def test_arrays_go_in_and_come_out(module, kernel, dtype, n):
    x = np.random.default_rng(1).standard_normal(n).astype(dtype)
    y = np.full(n, 7, dtype)
    a = dtype.type(1.7)
    module[kernel][max(1, -(-n // 128)), 128](x, y, a, n)
    # One product of two 11-bit (or 8-bit) numbers is exact in float32, and rounded once.
    expected = (x.astype(np.float32) * np.float32(a)).astype(dtype)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.view(np.uint16), expected.view(np.uint16))


@pytest.mark.parametrize(("kernel", "dtype"), KINDS)
@pytest.mark.parametrize("a", [2, 0.5, np.float32(0.1), np.float64(0.1), np.float16(3)])
def test_a_number_by_value_is_rounded_once(module, kernel, dtype, a):
    y = np.zeros(1, dtype)
    module[kernel][1, 1](np.ones(1, dtype), y, a, 1)
    assert y[0] == dtype.type(a)


def test_a_tie_in_float32_is_none(module):
    # Just above the middle between 1 and the next float16: float32 would make it the middle itself, and even is 1.
    y = np.zeros(1, np.float16)
    module["half_scale"][1, 1](np.ones(1, np.float16), y, 1 + 2.0**-11 + 2.0**-40, 1)
    assert y[0] == np.float16(1) + np.float16(2.0**-10)


def test_what_does_not_fit_is_said(module):
    kernel = module["half_scale"]
    x, y = np.ones(2, np.float16), np.zeros(2, np.float16)
    with pytest.raises(wb.ArgumentError, match=r"float32.*wants float16, try x.astype\(np.float16\)"):
        kernel[1, 2](np.ones(2, np.float32), y, 1.0, 2)
    with pytest.raises(wb.ArgumentError, match=r"wants float16"):
        kernel[1, 2](x.astype(ml_dtypes.bfloat16), y, 1.0, 2)
    with pytest.raises(wb.ArgumentError, match=r"wants bfloat16, try x.astype\(ml_dtypes.bfloat16\)"):
        module["brain_scale"][1, 2](x, y, 1.0, 2)
    with pytest.raises(wb.ArgumentError, match=r"`a` is `__half`, which cannot hold 1e6|1000000"):
        kernel[1, 2](x, y, 1e6, 2)
    with pytest.raises(wb.ArgumentError, match=r"`a` is `__half`, got str"):
        kernel[1, 2](x, y, "1", 2)
    with pytest.raises(wb.KernelFault, match=r"index 2 of `x`, which has 2 elements \(__half\)"):
        kernel[1, 4](x, y, 1.0, 3)
    kernel[1, 2](x, y, np.inf, 2)
    assert np.isinf(y).all()


@pytest.mark.parametrize(("c", "dtype"), [("__half", np.dtype(np.float16)), ("__nv_bfloat16", np.dtype(ml_dtypes.bfloat16))])
def test_an_operator_makes_and_checks_them(c, dtype):
    source = f"""
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    __global__ void doubled(const {c}* x, {c}* y, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = x[i] + x[i];
    }}"""
    doubled = wb.op(f"halves::doubled_{dtype.name}(Tensor x) -> Tensor", source)
    x = np.linspace(-3, 3, 11).astype(dtype)
    y = doubled(x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.astype(np.float64), 2 * x.astype(np.float64))
    assert doubled.check(x, reference=lambda x: x + x).passed
    wrong = doubled.check(x, reference=lambda x: (x.astype(np.float32) * 2.1).astype(dtype))
    assert not wrong.passed


def test_differences_of_halves_check_no_gradient():
    f = wb.op("halves::same(Tensor x) -> Tensor", "__global__ void same(const __half* x, __half* y, int n) "
              "{ int i = threadIdx.x; if (i < n) y[i] = x[i]; }")
    f.register_autograd(lambda ctx, grad: grad)
    with pytest.raises(wb.ArgumentError, match="too coarse"):
        f.gradcheck(np.ones(3, np.float16))


SCALE_BY = """
#include <cuda_fp16.h>
template <typename T> __global__ void scale(const T* x, T by, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * by;
}
"""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_operators_pass_numbers_as_16_bit_floats(dtype: str) -> None:
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    op = wb.op("half::scale(Tensor x, float by) -> Tensor", SCALE_BY, shape="x[n] -> y[n]")
    x = np.random.default_rng(5).standard_normal(33).astype(kind)
    # The number is rounded once to the type, and so is each product.
    by = np.asarray(0.1).astype(kind)
    want = (x.astype(np.float64) * np.float64(by)).astype(kind)
    assert op(x, 0.1).tobytes() == want.tobytes() and op(x, by=0.1).dtype == kind
    assert op(x, 3).tobytes() == (x.astype(np.float64) * 3).astype(kind).tobytes()
    assert op.check(x, 0.1, reference=lambda x, by: want)
    scalar = wb.op("half::scalar(Tensor x, Scalar by) -> Tensor", SCALE_BY, shape="x[n] -> y[n]")
    assert scalar(x, True).tobytes() == x.tobytes() and scalar(x, -2).tobytes() == (x.astype(np.float64) * -2).astype(kind).tobytes()


def test_numbers_that_16_bits_do_not_hold_are_refused() -> None:
    op = wb.op("half::scale(Tensor x, float by) -> Tensor", SCALE_BY, shape="x[n] -> y[n]")
    x = np.ones(3, np.float16)
    with pytest.raises(wb.ArgumentError, match="argument `by` .*70000.0, which does not fit"):
        op(x, 70000.0)
    assert np.isinf(op(x, float("inf"))).all() and op(x, 65504.0).tolist() == [65504.0] * 3

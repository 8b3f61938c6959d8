"""Arguments of kernels: dtypes, layouts, scalars, foreign arrays."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

NAMES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}


def copier(c_type: str) -> wb.Kernel:
    """out[i] = x[i] of a C type."""
    return wb.compile(
        f"__global__ void copy(const {c_type}* x, {c_type}* out, int n) "
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = x[i]; }"
    ).copy


@pytest.mark.parametrize("dtype", NAMES)
def test_every_dtype_is_taken_by_its_c_type_and_no_other(dtype):
    kernel = copier(NAMES[dtype])
    x = np.array([0, 1, 1, 0, 1]).astype(dtype)
    out = np.zeros_like(x)
    kernel[1, 8](x, out, 5)
    assert (out == x).all()
    other = "float64" if dtype == "float32" else "float32"
    wanted = "np.bool_" if dtype == "bool" else f"np.{dtype}"
    with pytest.raises(wb.ArgumentError) as caught:
        kernel[1, 8](x.astype(other), out, 5)
    assert str(caught.value).endswith(f"try x.astype({wanted})")
    assert other in str(caught.value) and "`x`" in str(caught.value)
    assert isinstance(caught.value, (TypeError, ValueError))


@pytest.mark.parametrize("dtype", [np.complex64, np.float16, object, ">f4", "U3", "M8[s]"])
def test_what_c_cannot_point_at_is_an_error_naming_both(dtype):
    with pytest.raises(wb.ArgumentError, match="float") as caught:
        copier("float")[1, 8](np.zeros(5, dtype), np.zeros(5, np.float32), 5)
    assert str(np.dtype(dtype)) in str(caught.value)


def test_a_const_pointer_takes_any_layout():
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for x in [base.T, base[:, ::2], base[::-1], np.asfortranarray(base), base[1], np.broadcast_to(base[0], (4, 6))]:
        out = np.zeros(x.shape, np.float32)
        copier("float")[1, 32](x, out, x.size)
        assert (out == x).all()


def test_a_written_pointer_takes_only_writable_contiguous_arrays():
    kernel, x = copier("float"), np.zeros(8, np.float32)
    frozen = np.zeros(8, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(wb.ArgumentError, match="`out`.*read-only"):
        kernel[1, 8](x, frozen, 8)
    with pytest.raises(wb.ArgumentError, match="`out`.*not contiguous"):
        kernel[1, 8](x, np.zeros(16, np.float32)[::2], 8)
    kernel[1, 8](frozen, x, 8)


def test_misaligned_arrays_are_copied_when_read_and_refused_when_written():
    raw = np.zeros(4 * 8 + 1, np.uint8)
    odd = raw[1:].view(np.float32)
    assert not odd.flags.aligned
    odd[:] = np.arange(8)
    out = np.zeros(8, np.float32)
    copier("float")[1, 8](odd, out, 8)
    assert (out == np.arange(8)).all()
    with pytest.raises(wb.ArgumentError, match="aligned"):
        copier("float")[1, 8](out, odd, 8)


INTS = [("signed char", 8, True), ("unsigned short", 16, False), ("int", 32, True), ("unsigned int", 32, False)]
INTS += [("long long", 64, True), ("unsigned long long", 64, False)]


@pytest.mark.parametrize(("c_type", "bits", "signed"), INTS)
def test_integers_are_taken_by_range(c_type, bits, signed):
    out = np.zeros(1, f"{'' if signed else 'u'}int{bits}")
    kernel = wb.compile(f"__global__ void put({c_type} v, {c_type}* out) {{ out[0] = v; }}").put
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    for value in [low, high, 0, True, out.dtype.type(high), np.array(1)]:
        kernel[1, 1](value, out)
        assert out[0] == value
    for value in [low - 1, high + 1, 10**30, 1.0, np.float32(1), "1", None, 1j, [1], np.zeros(2, np.int32)]:
        with pytest.raises(wb.ArgumentError, match="`v`"):
            kernel[1, 1](value, out)


@pytest.mark.parametrize(("c_type", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_numbers_are_taken_for_floats(c_type, dtype):
    out = np.zeros(1, dtype)
    kernel = wb.compile(f"__global__ void put({c_type} v, {c_type}* out) {{ out[0] = v; }}").put
    for value in [1.5, 3, True, np.float32(2.5), np.float64(0.1), np.int8(3), np.array(2.5), float("inf")]:
        kernel[1, 1](value, out)
        assert out[0] == dtype(value)
    kernel[1, 1](float("nan"), out)
    assert np.isnan(out[0])
    for value in ["1", None, 1j, [1.0], np.complex64(1), np.zeros(2), 10**400]:
        with pytest.raises(wb.ArgumentError):
            kernel[1, 1](value, out)
    if dtype is np.float32:
        with pytest.raises(wb.ArgumentError, match="cannot hold 1e"):
            kernel[1, 1](1e300, out)


def test_bools_are_taken_for_bool():
    out = np.zeros(1, np.int32)
    kernel = wb.compile("__global__ void put(bool v, int* out) { out[0] = v ? 7 : 3; }").put
    for value in [True, np.bool_(True), 1]:
        kernel[1, 1](value, out)
        assert out[0] == 7
    for value in [2, 0.0, "x"]:
        with pytest.raises(wb.ArgumentError, match="`v`"):
            kernel[1, 1](value, out)


def test_none_is_a_null_pointer():
    out = np.zeros(1, np.int32)
    kernel = wb.compile("__global__ void k(const float* x, int* out) { out[0] = x == nullptr; }").k
    kernel[1, 1](None, out)
    assert out[0] == 1


def test_the_count_of_arguments_is_checked(saxpy):
    with pytest.raises(wb.ArgumentError, match=r"takes 4 arguments.*got 1.*void saxpy\("):
        saxpy[1, 1](1.0)


class Interface:
    """An array by `__array_interface__` alone."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Capsule:
    """An array by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("wrap", [Interface, Capsule, memoryview])
def test_foreign_arrays_share_their_memory(wrap):
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    copier("float")[1, 8](wrap(x), wrap(out), 8)
    assert (out == x).all()


@pytest.mark.parametrize("value", [1.0, [1.0, 2.0], (1.0,), "text", object(), np.float32(1), {1: 2}])
def test_what_is_no_array_is_an_argument_error(value):
    with pytest.raises(wb.ArgumentError, match="`x`"):
        copier("float")[1, 8](value, np.zeros(8, np.float32), 8)


def test_subclasses_of_ndarray_are_arrays():
    x = np.ma.masked_array(np.arange(4, dtype=np.float32))
    out = np.zeros(4, np.float32)
    copier("float")[1, 4](x, out, 4)
    assert (out == np.arange(4)).all()


STRUCT = """
struct Params { float scale; int shift; double bias; };
__global__ void apply(const float* x, double* y, Params p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * p.scale + p.shift + p.bias;
}
"""


def test_a_struct_by_value_is_a_structured_scalar_or_bytes():
    kernel = wb.compile(STRUCT).apply
    dtype = np.dtype([("scale", "f4"), ("shift", "i4"), ("bias", "f8")], align=True)
    params = np.array((2.0, -3, 0.5), dtype)
    x = np.arange(5, dtype=np.float32)
    for given in (params, params[()], params.tobytes()):
        y = np.full(5, np.nan)
        kernel[1, 8](x, y, given, 5)
        np.testing.assert_array_equal(y, x * 2.0 - 2.5)


@pytest.mark.parametrize("given", [1.0, None, np.zeros(16, np.uint8), b"short", object(), "text"])
def test_what_is_no_struct_of_that_size_is_refused(given):
    kernel = wb.compile(STRUCT).apply
    with pytest.raises(wb.ArgumentError, match="`p` is a struct of 16 bytes"):
        kernel[1, 8](np.zeros(5, np.float32), np.zeros(5), given, 5)

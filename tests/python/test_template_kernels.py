"""Templates of kernels: launches and operators get the instance of their arrays' element types, as C++ deduces it."""

import pickle

import ml_dtypes
import numpy as np
import pytest

import workbench as wb

SCALE = """
template <typename T> __global__ void scale(const T* x, T* y, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * by;
}
"""
TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


@pytest.mark.parametrize("dtype", TYPES)
def test_a_launch_deduces_the_instance(dtype):
    m = wb.compile(SCALE)
    assert m.kernels == [] and m.templates == ["scale"] and "scale" in dir(m)
    x = np.arange(1, 11).astype(dtype)
    y = np.full(10, 77).astype(dtype)
    m.scale[1, 32](x, y, 3, 10)
    # Small integers are exact in every type.
    np.testing.assert_array_equal(y, x * dtype(3))
    m.scale.launch(1, 32, (x, y, 4, 10), timeout=5.0)
    np.testing.assert_array_equal(y, x * dtype(4))


def test_numbers_say_what_arrays_leave_open():
    m = wb.compile("template <typename T, typename S> __global__ void fill(S* sizes, T v) { sizes[0] = sizeof(T); sizes[1] = v > 1; }")
    for value, size in [(2.5, 8), (3, 4), (True, 1), (np.float32(2.5), 4), (np.int64(3), 8), (np.uint8(3), 1)]:
        y = np.full(2, -1, np.int32)
        m.fill[1, 1](y, value)
        np.testing.assert_array_equal(y, [size, 0 if value is True else 1])


def test_default_arguments_and_constants():
    m = wb.compile(
        """
template <typename T, int N = 3> __global__ void add(T* x) { x[threadIdx.x] += N; }
template <typename A, typename B> __global__ void mix(const A* a, const B* b, double* y) { y[threadIdx.x] = a[threadIdx.x] * 100.0 + b[threadIdx.x]; }
template <typename... Ts> __global__ void count(int* y, Ts... all) { *y = sizeof...(all); }
"""
    )
    x = np.zeros(4, np.float32)
    m.add[1, 4](x)
    np.testing.assert_array_equal(x, 3)
    m["add<float, 5>"][1, 4](x)
    np.testing.assert_array_equal(x, 8)
    y = np.zeros(2)
    m.mix[1, 2](np.array([1, 2], np.uint8), np.array([0.5, 0.25], np.float32), y)
    np.testing.assert_array_equal(y, [100.5, 200.25])
    n = np.zeros(1, np.int32)
    m.count[1, 1](n, 1, 2.0, True)
    assert n[0] == 3


def test_overloads_of_templates():
    m = wb.compile(
        """
template <typename T> __global__ void f(T* y) { *y = 1; }
template <typename T> __global__ void f(T* y, const T* x) { *y = *x + 1; }
"""
    )
    y = np.zeros(1, np.int16)
    m.f[1, 1](y)
    assert y[0] == 1
    m.f[1, 1](y, np.array([41], np.int16))
    assert y[0] == 42


def test_accessors():
    m = wb.compile(
        """#include <torch/extension.h>
template <typename scalar_t> __global__ void transpose(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
                                                       torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> y) {
    for (int i = 0; i < x.size(0); i++) for (int k = threadIdx.x; k < x.size(1); k += blockDim.x) y[k][i] = x[i][k];
}"""
    )
    for dtype in (np.float32, np.float64, np.int64):
        x = np.arange(15).reshape(3, 5).astype(dtype)
        y = np.zeros((5, 3), dtype)
        m.transpose[1, 2](x, y)
        np.testing.assert_array_equal(y, x.T)


def test_variables_are_those_of_the_text():
    m = wb.compile("__device__ int calls; template <typename T> __global__ void k(T* x) { calls++; x[0] = calls; }")
    for i, dtype in enumerate([np.float32, np.int64, np.float32], 1):
        x = np.zeros(1, dtype)
        m.k[1, 1](x)
        assert x[0] == i
    assert m.symbol("calls").get() == 3


def test_what_does_not_follow():
    m = wb.compile(SCALE + "template <typename T, int N> __global__ void open(T* x) { x[0] = N; }")
    x = np.zeros(4, np.float32)
    with pytest.raises(wb.ArgumentError, match=r"template `open` do not follow from an array of float32; ask for an instance, such as `open<float>`"):
        m.open[1, 1](x)
    with pytest.raises(wb.ArgumentError, match="do not follow from an array of float32, an array of float64"):
        m.scale[1, 1](x, np.zeros(4), 1.0, 4)
    with pytest.raises(wb.ArgumentError, match="do not follow"):
        m.scale[1, 1](x)
    with pytest.raises(wb.ArgumentError, match="template of kernels: choose a grid"):
        m.scale(x, x, 1.0, 4)
    with pytest.raises(wb.ArgumentError, match=r"`arg1` \(`T\*`\) got a list; an array is wanted, try np.array\(arg1"):
        m.scale[1, 1](x, [1.0, 2.0], 1.0, 2)
    with pytest.raises(wb.ArgumentError, match="complex64"):
        m.scale[1, 1](np.zeros(4, np.complex64), x, 1.0, 4)
    with pytest.raises(wb.ArgumentError, match="`scale<float>`.*which cannot hold|parameter `n`"):
        m.scale[1, 1](x, x, 1.0, 2.5)
    y = np.zeros(4, np.float32)
    m.scale[1, 4](x + 1, y, 2.0, 4)
    np.testing.assert_array_equal(y, 2)


def test_an_instance_that_does_not_compile_says_where():
    m = wb.compile("template <typename T> __global__ void k(T* x) {\n    x[0] = x[0] % 2;\n}")
    x = np.array([5], np.int32)
    m.k[1, 1](x)
    assert x[0] == 1
    with pytest.raises(wb.CompileError) as raised:
        m.k[1, 1](np.zeros(1, np.float32))
    assert raised.value.diagnostics[0].line == 2
    m.k[1, 1](x)


def test_faults_name_the_instance():
    m = wb.compile(SCALE)
    with pytest.raises(wb.KernelFault, match="index 4 of `x`, which has 4 elements") as raised:
        m.scale[1, 32](np.zeros(4), np.zeros(8), 1.0, 8)
    assert raised.value.kernel == "scale<double>" and raised.value.line == 4


def test_handles_travel_and_tell_what_they_are():
    m = wb.compile(SCALE)
    assert repr(m.scale) == "<template of kernels scale>" and m.scale.name == "scale" and m.scale.text == SCALE
    assert repr(m.scale[1, 32]) == "<launch of the template scale on grid (1, 1, 1) x block (32, 1, 1)>"
    kernel = m.scale.instance(np.zeros(1, np.int16), None, 1, 1)
    assert kernel.signature == "void scale<short>(const short* x, short* y, short by, int n)"
    x, y = np.arange(4.0), np.zeros(4)
    pickle.loads(pickle.dumps(m.scale))[1, 4](x, y, 2.0, 4)
    np.testing.assert_array_equal(y, 2 * x)


def test_operators_of_templates_serve_every_type():
    op = wb.op("templates::scale(Tensor x, Scalar by) -> Tensor", SCALE, shape="x[n] -> y[n]", reference=lambda x, by: x * x.dtype.type(by))
    for dtype in TYPES[:-2]:
        x = np.arange(1, 8).astype(dtype)
        result = op(x, 3.0 if np.dtype(dtype).kind == "f" else 3)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, x * dtype(3))
        assert op.fake(wb.Spec((5,), x.dtype), 1.0) == wb.Spec((5,), x.dtype)
    assert op.check(np.random.default_rng(0).standard_normal(1000).astype(np.float32), 0.5).passed


def test_operators_of_templates_serve_16_bit_floats():
    text = "template <typename T> __global__ void twice(const T* x, T* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }"
    for about in ("", "#include <torch/extension.h>\n// at::Half\n"):
        op = wb.op("templates::twice(Tensor x) -> Tensor", about + text, shape="x[n] -> y[n]")
        for dtype in (np.float16, ml_dtypes.bfloat16, np.float64):
            x = np.arange(1, 8).astype(dtype)
            np.testing.assert_array_equal(op(x), x + x)


def test_gradients_are_checked_in_the_double_instance():
    text = """
template <typename T> __global__ void square(const T* x, T* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }
template <typename T> __global__ void square_backward(const T* g, const T* x, T* gx, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) gx[i] = 2 * x[i] * g[i]; }
"""
    square = wb.op("templates::square(Tensor x) -> Tensor", text, kernel="square", shape="x[*] -> y[*]")
    wb.op("templates::square_backward(Tensor g, Tensor x) -> Tensor", text, kernel="square_backward", shape="g[*], x[*] -> gx[*]")
    square.register_autograd("templates::square_backward", saves=["x"])
    report = square.gradcheck(np.random.default_rng(0).standard_normal(17).astype(np.float32))
    assert report and report.precision == "float64"
    # Not the twin that a plain `float` kernel would run as.
    assert "double" in square.binding


def test_an_index_of_its_own_type():
    gather = wb.op(
        "templates::gather(Tensor x, Tensor index) -> Tensor",
        """template <typename T, typename I> __global__ void gather(const T* x, const I* index, T* y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) y[i] = x[index[i]];
}""",
        shape="x[n], index[m] -> y[m]",
    )
    for dtype in (np.float32, np.float64, np.int16):
        for of in (np.int64, np.int32, np.uint8):
            x, index = np.arange(10, 20).astype(dtype), np.array([3, 1, 9, 3]).astype(of)
            np.testing.assert_array_equal(gather(x, index), x[index])


def test_operators_of_templates_say_what_is_wrong():
    with pytest.raises(wb.ArgumentError, match="several kernels"):
        wb.op("templates::two(Tensor x) -> Tensor", SCALE + SCALE.replace("scale", "other"), shape="x[n] -> y[n]")
    with pytest.raises(wb.ArgumentError, match="`z`"):
        wb.op("templates::scale2(Tensor z, float by) -> Tensor", SCALE, shape="z[n] -> y[n]")
    with pytest.raises(wb.CompileError) as raised:
        wb.op("templates::wrong(Tensor x) -> Tensor", "template <typename T> __global__ void wrong(const T* x, T* y, int n) {\n  y[0] = nothing;\n}", shape="x[n] -> y[n]")
    assert raised.value.diagnostics[0].line == 2
    op = wb.op("templates::odd(Tensor x) -> Tensor", "template <typename T> __global__ void odd(const T* x, T* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] % 2; }", shape="x[n] -> y[n]")
    np.testing.assert_array_equal(op(np.arange(5)), np.arange(5) % 2)
    with pytest.raises(wb.CompileError):
        op(np.arange(5.0))
    np.testing.assert_array_equal(op(np.arange(5, dtype=np.uint8)), np.arange(5, dtype=np.uint8) % 2)


def test_operators_of_templates_travel(tmp_path):
    op = wb.op("templates::travels(Tensor x, Scalar by) -> Tensor", SCALE, kernel="scale", shape="x[n] -> y[n]")
    x = np.arange(4.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(op))(x, 2.0), 2 * x)
    op.save(tmp_path / "travels.toml")
    again = wb.load_library(tmp_path / "travels.toml", trust=True).travels
    np.testing.assert_array_equal(again(x.astype(np.int16), 2), (2 * x).astype(np.int16))

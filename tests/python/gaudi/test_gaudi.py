"""Custom operators as they are written for Intel Gaudi: descriptors in C++ and in Python, and TensorFlow's functors."""

from __future__ import annotations

import ctypes
import doctest
import importlib
import pathlib

import numpy as np
import pytest

import workbench as wb
from workbench import gaudi

HERE = pathlib.Path(__file__).parent

# Exceptions for calls whose arguments do not fit.
REFUSED = (TypeError, ValueError, RuntimeError, wb.ArgumentError)

SHAPES = [(1,), (7, 5), (3, 4, 11), (0, 5), (1003,)]


def load(name: str):
    return wb.load(name=name, sources=[str(HERE / f"{name}.cpp")], is_python_module=False)


@pytest.fixture(scope="module")
def relu():
    load("custom_relu")
    return wb.ops.gaudi_relu


@pytest.fixture(scope="module")
def topk():
    load("custom_topk")
    return wb.ops.gaudi_topk


@pytest.fixture(scope="module")
def more():
    load("more")
    return wb.ops.gaudi_more


@pytest.fixture(scope="module")
def tensorflow():
    return gaudi.load_op_library(str(HERE / "custom_div.cpp"))


def normal(rng, *shape) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def same(got, expected):
    got = np.asarray(got)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)


# PyTorch's side, in C++.


@pytest.mark.parametrize("shape", SHAPES)
def test_relu(relu, rng, shape):
    x, grad = normal(rng, *shape), normal(rng, *shape)
    kept = x.copy()
    same(relu.custom_relu(x), np.maximum(x, 0))
    same(relu.custom_relu_backward(grad, x, 0.0), np.where(x > 0, grad, np.float32(0)))
    same(relu.custom_relu_backward(grad, x, threshold=0), np.where(x > 0, grad, np.float32(0)))
    same(x, kept)


def test_relu_of_views(relu, rng):
    x = normal(rng, 9, 14)
    for view in (x.T, x[::2, ::3], x[1:], x[:, 3:5]):
        same(relu.custom_relu(view), np.maximum(view, 0))
        same(relu.custom_relu_backward(view, view, 0.0), np.maximum(view, 0))


def test_the_gradient_is_the_one_that_differences_give(relu, rng):
    x = normal(rng, 40)
    x = x[np.abs(x) > 0.01]
    eps = np.float32(1e-3)
    difference = (relu.custom_relu(x + eps) - relu.custom_relu(x - eps)) / (2 * eps)
    np.testing.assert_allclose(relu.custom_relu_backward(np.ones_like(x), x, 0.0), difference, atol=1e-3)


@pytest.mark.parametrize(("shape", "dim"), [((10,), 0), ((6, 9), 0), ((6, 9), 1), ((3, 5, 7), 1)])
@pytest.mark.parametrize("descending", [True, False])
def test_topk(topk, rng, shape, dim, descending):
    a = rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32)
    for k in (0, 1, 3, shape[dim]):
        values, indices = topk.custom_topk(a, k, dim, descending)
        order = np.argsort(-a if descending else a, axis=dim).take(range(k), axis=dim)
        same(indices, order)
        same(values, np.take_along_axis(a, order, axis=dim))


def test_topk_of_equal_elements(topk):
    a = np.array([[2, 1, 2, 2, 0]], np.float32)
    values, indices = topk.custom_topk(a, 4, 1, True)
    assert values.tolist() == [[2, 2, 2, 1]] and indices.tolist() == [[0, 2, 3, 1]]
    values, indices = topk.custom_topk(a=a.T, k=2, dim=0, descending=False)
    assert values.tolist() == [[0], [1]] and indices.tolist() == [[4], [1]]


def test_several_kernels(more, rng):
    x = normal(rng, 13, 5)
    np.testing.assert_allclose(more.square_and_one(x), x * x + 1, rtol=1e-6)


def test_a_list_of_tensors(more, rng):
    first, *rest = (normal(rng, 4, 3) for _ in range(4))
    expected = first + rest[0] * 2 - rest[1] + rest[2] * 3
    np.testing.assert_allclose(more.weighted_sum(first, rest, [2, -1, 3]), expected, rtol=1e-5, atol=1e-6)
    same(more.weighted_sum(first, [], []), first)


def test_a_shape_that_follows_from_elements(more, rng):
    x = normal(rng, 50)
    same(more.keep_positive(x), x[x > 0])
    same(more.keep_positive(-np.abs(x)), np.zeros(0, np.float32))


def test_in_place(more, rng):
    x = normal(rng, 6, 4)
    expected = x + 1
    same(more.add_one_(x), expected)
    same(x, expected)
    with pytest.raises(RuntimeError, match="not contiguous"):
        more.add_one_(x.T)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("two_outputs", r"`add_one_f32` takes 1 tensors, and the operator has 2 \(1 inputs, 1 outputs\)"),
        ("no_kernel", "there is no kernel `no_such_kernel_f32`; there is: .*add_one_f32"),
        ("number_missing", "`weighted_sum` takes 3 tensors"),
        ("unregistered", "there is no descriptor `gaudi_more::nobody`"),
        ("too_many", "gaudi_more::square_and_one has 1 inputs, 2 given"),
    ],
)
def test_descriptors_that_do_not_fit(more, rng, name, message):
    with pytest.raises(RuntimeError, match=message):
        getattr(more, name)(normal(rng, 3))


def test_arguments_that_do_not_fit(relu, topk, rng):
    x = normal(rng, 4, 5)
    for call in (
        lambda: relu.custom_relu(),
        lambda: relu.custom_relu(x, x),
        lambda: relu.custom_relu("x"),
        lambda: relu.custom_relu(x.astype(np.float64)),
        lambda: relu.custom_relu_backward(x, x, 1.0),
        lambda: relu.custom_relu_backward(x, x, x),
        lambda: topk.custom_topk(x, 6, 1, True),
        lambda: topk.custom_topk(x, 1, 2, True),
        lambda: topk.custom_topk(x.astype(np.int32), 1, 1, True),
    ):
        with pytest.raises(REFUSED):
            call()
    with pytest.raises(RuntimeError, match="Threshold values other than 0"):
        relu.custom_relu_backward(x, x, 1.0)
    same(relu.custom_relu(x), np.maximum(x, 0))


# Descriptors made in Python.

KERNELS = """
struct Clip { float low; float high; };
__global__ void clip_f32(const float* x, float* out, Clip clip, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] < clip.low ? clip.low : x[i] > clip.high ? clip.high : x[i];
}
__global__ void scale_f32(const float* x, float by, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = by * x[i];
}
__global__ void row_sums_f32(tpc::tensor<const float> x, double* sums, int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0;
    for (int64_t j = 0; j < x.size(1); ++j) sum += x[i * x.stride(0) + j * x.stride(1)];
    sums[i] = sum;
    counts[i] = (int)x.size(1);
}
__global__ void add_one_f32(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.0f;
}
"""


class Clip(ctypes.Structure):
    _fields_ = [("low", ctypes.c_float), ("high", ctypes.c_float)]


X, SCALAR = gaudi.InputDesc("tensor", 0), gaudi.InputDesc("scalar", 1)
SAME = [gaudi.OutputDesc(0, "float32")]


def test_user_parameters(rng):
    x = normal(rng, 8, 3)
    low, high = gaudi.InputDesc("user_params", 1), gaudi.InputDesc("user_params", 2)
    for fill in (
        lambda args: Clip(args[1], args[2]),
        lambda args: bytes(Clip(args[1], args[2])),
        lambda args: np.array([(args[1], args[2])], [("low", "f4"), ("high", "f4")])[0],
    ):
        op = gaudi.register_custom_op(
            "gaudi_py::clip(Tensor x, float low=-1.0, float high=1.0) -> Tensor",
            "clip_f32",
            inputs=[X, high, low],
            outputs=SAME,
            user_params=fill,
            source=KERNELS,
        )
        same(op(x), np.clip(x, np.float32(-1), np.float32(1)))
        same(wb.ops.gaudi_py.clip(x, high=0.5), np.clip(x, np.float32(-1), np.float32(0.5)))


def test_a_scalar_input(rng):
    op = gaudi.register_custom_op("gaudi_py::scale(Tensor x, float by) -> Tensor", "scale_f32", [X, SCALAR], SAME, source=KERNELS)
    x = normal(rng, 5)
    same(op(x, 3.0), np.float32(3) * x)
    same(op(by=2, x=x[::2]), np.float32(2) * x[::2])


def test_several_outputs_of_other_shapes(rng):
    rows = lambda args: args[0].shape[:1]
    op = gaudi.register_custom_op(
        "gaudi_py::row_sums(Tensor x) -> (Tensor, Tensor)",
        "row_sums_f32",
        [X],
        [gaudi.OutputDesc(1, np.int32, rows), gaudi.OutputDesc(0, "float64", rows)],
        source=KERNELS,
    )
    x = normal(rng, 6, 9)
    for view in (x, x.T, x[:, ::2]):
        sums, counts = op(view)
        np.testing.assert_allclose(sums, view.astype(np.float64).sum(1))
        assert sums.dtype == np.float64 and counts.tolist() == [view.shape[1]] * view.shape[0]


def test_in_place_from_python(rng):
    add = gaudi.register_custom_op("gaudi_py::add_one_(Tensor(a!) x) -> ()", "add_one_f32", [X], [], source=KERNELS)
    x = normal(rng, 7)
    expected = x + 1
    assert add(x) is None
    same(x, expected)
    sealed = gaudi.register_custom_op("gaudi_py::add_one(Tensor x) -> ()", "add_one_f32", [X], [], source=KERNELS)
    with pytest.raises(REFUSED):
        sealed(x)
    same(x, expected)


def test_a_compiled_module_is_a_source(relu, rng):
    module = wb.compile(f"{KERNELS}\nnamespace habana {{}}\n")
    op = gaudi.register_custom_op("gaudi_py::scaled(Tensor x, float by) -> Tensor", "scale_f32", [X, SCALAR], SAME, source=module)
    x = normal(rng, 5)
    same(op(x, 0.5), np.float32(0.5) * x)
    plain = wb.compile("__global__ void scale_f32(const float* x, float by, float* out, int n) {}")
    op = gaudi.register_custom_op("gaudi_py::plain(Tensor x, float by) -> Tensor", "scale_f32", [X, SCALAR], SAME, source=plain)
    with pytest.raises(wb.ArgumentError, match="Gaudi's dialect"):
        op(x, 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "scale_f16"}, "no kernel and no host function `scale_f16`"),
        ({"kernel": ""}, "kernel is a name"),
        ({"inputs": [X]}, "the schema has 2 arguments, and there are 1 descriptors of inputs"),
        ({"inputs": [X, X]}, "they must count from 0"),
        ({"inputs": [X, 1]}, "inputs are of InputDesc"),
        ({"outputs": SAME + [gaudi.OutputDesc(1)]}, "1 results, and there are 2"),
        ({"user_params": 3}, "user_params is a callable"),
        ({"source": ""}, "source is a text or a module"),
        ({"schema": "gaudi_py::bad(Tensor"}, "schema: expected the argument's name"),
    ],
)
def test_bad_descriptors(change, message):
    given = {
        "schema": "gaudi_py::bad(Tensor x, float by) -> Tensor",
        "kernel": "scale_f32",
        "inputs": [X, SCALAR],
        "outputs": SAME,
        "source": KERNELS,
    }
    with pytest.raises(wb.ArgumentError, match=message):
        gaudi.register_custom_op(**{**given, **change})


def test_bad_parts():
    for call in (
        lambda: gaudi.InputDesc("matrix", 0),
        lambda: gaudi.InputDesc("tensor", -1),
        lambda: gaudi.OutputDesc("0"),
        lambda: gaudi.OutputDesc(0, "float33"),
        lambda: gaudi.OutputDesc(0, "float32", (3, 4)),
    ):
        with pytest.raises(wb.ArgumentError):
            call()


def test_bad_calls(rng):
    x = normal(rng, 5)
    op = gaudi.register_custom_op("gaudi_py::scale2(Tensor x, float by) -> Tensor", "scale_f32", [X, SCALAR], SAME, source=KERNELS)
    for call in (
        lambda: op(x),
        lambda: op(x, 1.0, 2.0),
        lambda: op(x, 1.0, by=2.0),
        lambda: op(x, with_=2.0),
        lambda: op(x, "2"),
        lambda: op(x.astype(np.float64), 2.0),
        lambda: op(2.0, x),
    ):
        with pytest.raises(REFUSED):
            call()
    same(op(x, 2.0), np.float32(2) * x)
    clip = gaudi.register_custom_op("gaudi_py::clip2(Tensor x) -> Tensor", "clip_f32", [X], SAME, source=KERNELS)
    with pytest.raises(RuntimeError, match="takes user parameters, and none are given"):
        clip(x)
    short = gaudi.register_custom_op("gaudi_py::clip3(Tensor x) -> Tensor", "clip_f32", [X], SAME, lambda args: b"1234", KERNELS)
    with pytest.raises(RuntimeError, match="user parameters of 8 bytes, and 4 are given"):
        short(x)
    shape = lambda args: 5
    wrong = gaudi.register_custom_op(
        "gaudi_py::scale3(Tensor x, float by) -> Tensor", "scale_f32", [X, SCALAR], [gaudi.OutputDesc(0, "float32", shape)], source=KERNELS
    )
    with pytest.raises(wb.ArgumentError, match="a shape is a sequence of ints"):
        wrong(x, 1.0)


# TensorFlow's side.


def test_div(tensorflow, rng):
    a, b = normal(rng, 7, 3), normal(rng, 7, 3)
    same(tensorflow.custom_div_op(a, b, example_attr=1), a / b)
    same(tensorflow.CustomDivOp(input2=b, input1=a, example_attr=1, name="div"), a / b)
    i, j = rng.integers(1, 100, (2, 11)).astype(np.int32)
    same(tensorflow.custom_div_op(i, j, 5), i // j)
    assert dir(tensorflow) == ["custom_div_op", "fill_like", "square_twice"]


def test_host_memory(tensorflow):
    like = np.array([10.0], np.float32)
    filled, count = tensorflow.fill_like(like, np.array([2, 3], np.int32))
    same(filled, np.full((2, 3), 12.5, np.float32))
    assert count == 6 and count.dtype == np.int64 and count.shape == ()
    filled, count = tensorflow.fill_like(like, np.array([4], np.int32), value=-10.0)
    same(filled, np.zeros(4, np.float32))


def test_two_nodes(tensorflow, rng):
    x = normal(rng, 9)
    once, twice = tensorflow.square_twice(x)
    same(once, x * x)
    same(twice, (x * x) * (x * x))


def test_what_a_functor_finds_wrong(tensorflow, rng):
    a = normal(rng, 4, 3)
    with pytest.raises(ValueError, match=r"do not match\. Input1\.shape: \[4,3\], Input2\.shape: \[3,4\]"):
        tensorflow.custom_div_op(a, a.T, example_attr=1)
    with pytest.raises(NotImplementedError, match="example_attr is below 0"):
        tensorflow.custom_div_op(a, a, example_attr=-1)
    for call in (
        lambda: tensorflow.custom_div_op(a),
        lambda: tensorflow.custom_div_op(a, a),
        lambda: tensorflow.custom_div_op(a, a, example_attr=1.5),
        lambda: tensorflow.custom_div_op(a, a, 1, 2),
        lambda: tensorflow.custom_div_op(a, a.astype(np.float64), 1),
        lambda: tensorflow.custom_div_op(a.astype(np.float64), a.astype(np.float64), 1),
        lambda: tensorflow.custom_div_op(a, a, 1, nothing=2),
    ):
        with pytest.raises(wb.ArgumentError):
            call()
    with pytest.raises(AttributeError, match="it has custom_div_op"):
        _ = tensorflow.custom_mul_op


def test_libraries_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        gaudi.load_op_library(str(tmp_path / "absent.cpp"))
    (tmp_path / "binary.so").write_bytes(b"\x7fELF\x02\x01")
    with pytest.raises(OSError, match="binary"):
        gaudi.load_op_library(str(tmp_path / "binary.so"))
    (tmp_path / "empty.cpp").write_text("#include <hpu_kernel.h>\nnamespace habana {}\nnamespace tensorflow {}\n")
    with pytest.raises(wb.ArgumentError, match="registers no operator"):
        gaudi.load_op_library(str(tmp_path / "empty.cpp"))
    (tmp_path / "broken.cpp").write_text((HERE / "custom_div.cpp").read_text().replace("int example_attr;", ""))
    with pytest.raises(wb.CompileError, match="example_attr"):
        gaudi.load_op_library(str(tmp_path / "broken.cpp"))


@pytest.mark.parametrize("name", ["custom_op", "tensorflow"])
def test_examples_run(name):
    module = importlib.import_module(f"workbench.gaudi.{name}")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0 and result.failed == 0

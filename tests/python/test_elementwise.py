"""`wb.elementwise`: types, broadcasting, scalars, raw parameters, outputs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import workbench as wb

from fused import fma


@pytest.fixture
def muladd():
    return wb.elementwise("T a, T b, T c", "T out", "out = a * b + c", name="muladd")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "float32", "float64"])
def test_a_type_variable_is_resolved_at_each_call(muladd, dtype):
    a, b, c = (np.arange(10).astype(dtype) + k for k in range(3))
    out = muladd(a, b, c)
    assert out.dtype == dtype and (out == a * b + c).all()


def test_inputs_broadcast_and_scalars_are_inputs(muladd, rng):
    a, b = rng.standard_normal((4, 1)).astype(np.float32), rng.standard_normal((3,)).astype(np.float32)
    assert np.array_equal(muladd(a, b, 2.0), fma(a, b, np.float32(2)))
    assert np.array_equal(muladd(a, np.float32(3), 2), fma(a, np.float32(3), np.float32(2)))
    assert muladd(1.0, 2.0, 3.0) == 5.0 and muladd(1.0, 2.0, 3.0).shape == ()
    assert muladd(a.T, np.ones((5, 1, 4), np.float32), 0.0).shape == (5, 1, 4)
    assert muladd(np.zeros((0, 3), np.float32), b, 1.0).shape == (0, 3)
    with pytest.raises(wb.ArgumentError, match="broadcast"):
        muladd(np.ones(3, np.float32), np.ones(4, np.float32), 1.0)


def test_arguments_go_by_name_and_mistakes_are_named(muladd):
    x = np.ones(3, np.float32)
    assert np.array_equal(muladd(x, c=x, b=2 * x), 3 * x)
    assert muladd(c=x, b=x, a=x, out=x.copy())[0] == 2
    for args, kwargs, message in [
        ((x, x), {}, "argument `c` is missing"),
        ((x, x), {"C": x}, "no argument `C`; did you mean `c`"),
        ((x, x, x), {"outt": x}, "no argument `outt`; did you mean `out`"),
        ((x, x, x), {"scale": x}, r"no argument `scale` \(a, b, c, out\)"),
        ((x, x, x), {"a": x}, "argument `a` is given twice"),
        ((x, x, x, x, x), {}, "takes 4 arguments, 5 given"),
    ]:
        with pytest.raises(wb.ArgumentError, match=message):
            muladd(*args, **kwargs)


def test_types_that_disagree_are_an_error(muladd):
    with pytest.raises(wb.ArgumentError, match=r"`T` is float32.*try b.astype\(np.float32\)"):
        muladd(np.ones(3, np.float32), np.ones(3), 1.0)
    half = wb.elementwise("float32 x", "float32 y", "y = x / 2", name="half")
    with pytest.raises(wb.ArgumentError, match=r"try x.astype\(np.float32\)"):
        half(np.ones(3))
    with pytest.raises(wb.ArgumentError, match="complex64"):
        muladd(np.ones(3, np.complex64), 1.0, 1.0)


def test_several_variables_and_outputs():
    f = wb.elementwise("T x, U k", "T y, U m, bool_ p", "y = x * x; m = k + 1; p = x > 0", name="several")
    y, m, p = f(np.array([-1, 2], np.float32), np.array([3, 4], np.int64))
    assert y.tolist() == [1, 4] and m.tolist() == [4, 5] and p.tolist() == [False, True]
    assert (y.dtype, m.dtype, p.dtype) == (np.float32, np.int64, np.bool_)


def test_raw_parameters_are_indexed_by_hand():
    reverse = wb.elementwise("T x, raw T table", "T y", "y = x + table[n - 1 - i]", name="reverse")
    x, table = np.zeros(4, np.float32), np.arange(4, dtype=np.float32)
    assert reverse(x, table).tolist() == [3, 2, 1, 0]
    gather = wb.elementwise("int32 k, raw T table", "T y", "y = table[k]", name="gather")
    assert gather(np.array([1, 0], np.int32), table[::2]).tolist() == [2, 0]
    with pytest.raises(wb.KernelFault):
        gather(np.array([9], np.int32), table)


def test_outputs_may_be_passed_and_keep_what_is_not_written(muladd):
    out = np.zeros((2, 3), np.float32)
    assert muladd(np.ones((2, 3), np.float32), 2.0, 1.0, out) is out and (out == 3).all()
    keep = wb.elementwise("T x", "T y", "if (x > 0) y = x", name="keep")
    out = np.full(3, 7, np.float32)
    assert keep(np.array([1, -1, 2], np.float32), out).tolist() == [1, 7, 2]
    view = np.zeros(6, np.float32)[::2]
    assert keep(np.array([1, 1, 2], np.float32), view) is view and view.tolist() == [1, 1, 2]
    with pytest.raises(wb.ArgumentError, match="shape"):
        muladd(np.ones(3, np.float32), 1.0, 1.0, np.zeros(4, np.float32))


def test_the_index_and_the_size_are_known():
    f = wb.elementwise("raw T x", "int64 y", "y = i * 10 + n", name="index")
    out = np.zeros(3, np.int64)
    assert f(np.zeros(1), out).tolist() == [3, 13, 23]


def test_a_mistake_in_the_operation_is_named_in_it():
    f = wb.elementwise("T x", "T y", "y = x +\n    nothing", name="wrong")
    with pytest.raises(wb.CompileError) as caught:
        f(np.ones(3))
    first = caught.value.diagnostics[0]
    assert (first.file, first.line, first.column) == ("operation", 2, 5)


@pytest.mark.parametrize(
    ("ins", "outs", "name"),
    [("T", "T y", "f"), ("T x", "", "f"), ("T x, T x", "T y", "f"), ("text x", "T y", "f"), ("T i", "T y", "f"), ("T x", "T y", "a b")],
)
def test_wrong_parameters_are_argument_errors(ins, outs, name):
    with pytest.raises(wb.ArgumentError):
        wb.elementwise(ins, outs, "y = x", name=name)


def test_a_preamble_holds_helpers():
    f = wb.elementwise("T x", "T y", "y = twice(x)", name="helped", preamble="__device__ double twice(double x) { return 2 * x; }")
    assert f(np.array([1.0, 2.0])).tolist() == [2, 4]


def test_it_checks_times_and_differentiates_like_an_operator(muladd, rng):
    a, b = (rng.standard_normal(50).astype(np.float32) for _ in range(2))
    assert muladd.check(a, b, 2.0, reference=lambda a, b, c: a * b + c)

    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a, None

    muladd.register_autograd(backward, setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0], i[1]))
    assert muladd.gradcheck(a, b, 2.0)
    out, pullback = muladd.vjp(a, b, 2.0)
    assert np.allclose(pullback(np.ones(50, np.float32))[0], b)
    report = muladd.bench(sizes=[64], make_args=lambda n: (np.ones(n, np.float32), np.ones(n, np.float32), 1.0))
    assert report.rows[0]["name"] == "muladd"


def test_it_pickles(muladd):
    twin = pickle.loads(pickle.dumps(muladd))
    assert twin(np.ones(2), 2.0, 3.0).tolist() == [5, 5]


def test_it_is_registered(muladd):
    muladd(np.ones(2), np.ones(2), np.ones(2))
    assert wb.ops.elementwise.muladd is muladd

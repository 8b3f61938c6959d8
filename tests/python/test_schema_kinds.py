"""Every kind of argument that a schema can have, passed to callables: as it stands, by default, and of another type."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

X = np.array([1.0, 2.0], np.float32)


def test_complex_numbers_and_their_defaults() -> None:
    for kind in ("complex", "Scalar"):
        op = wb.op(f"kinds::turned(Tensor x, {kind} c=2j) -> Tensor", lambda x, c: (x * c).imag + abs(c))
        # |2j| = 2 and (2j x).imag = 2 x; |3 + 4j| = 5.
        assert op(X).tolist() == [4.0, 6.0]
        assert op(X, 3 + 4j).tolist() == [9.0, 13.0]
        assert op(X, np.complex128(3 + 4j)).tolist() == [9.0, 13.0]
        with pytest.raises(wb.ArgumentError, match=f"type '{kind}' for argument 'c' but instead found type 'str'"):
            op(X, "2j")
        assert op(X).tolist() == [4.0, 6.0]


def test_dictionaries_and_tuples() -> None:
    op = wb.op("kinds::summed(Dict(str, float) weights, (int, float) pair, int[][] rows) -> float",
               lambda weights, pair, rows: sum(weights.values()) + pair[0] * pair[1] + sum(map(sum, rows)))  # fmt: skip
    assert op({"a": 1.5, "b": 2}, (3, 0.5), [[1, 2], [], [4]]) == 12.0
    for wrong in (
        ([1.0], (3, 0.5), []),
        ({"a": "b"}, (3, 0.5), []),
        ({1: 1.0}, (3, 0.5), []),
        ({}, (3, 0.5, 1), []),
        ({}, (0.5, 3), []),
        ({}, (3, 0.5), [1]),
    ):
        with pytest.raises(wb.ArgumentError, match="Expected a value of type"):
            op(*wrong)


def test_objects_and_type_variables() -> None:
    class Thing:
        pass

    thing = Thing()
    op = wb.op("kinds::first(Any a, t[] b, Union(int, str) c) -> Any", lambda a, b, c: (a, b, c)[2] if a is thing else a)
    # Without torch nothing is registered; with it there are no such operators.
    assert op(thing, [1], "x") == "x" and op(thing, [], 7) == 7
    with pytest.raises(wb.ArgumentError, match=r"'Union\(int, str\)' for argument 'c'"):
        op(thing, [1], 2.5)


def test_element_types_formats_and_devices_have_defaults() -> None:
    op = wb.op(
        "kinds::told(Tensor x, ScalarType d=half, MemoryFormat m=contiguous_format, Device e='cuda:1', Generator? g=None, "
        "int[2] k=3, float[2]? f=None, bool[3] b=[True, False, True], SymInt n=-4) -> str",
        lambda x, *rest: repr(rest),
    )
    kinds, told = op.schema, op(X)
    assert "ScalarType d=5, MemoryFormat m=0, Device e=\"cuda:1\"" in kinds and "bool[3] b=[True, False, True]" in kinds
    assert "float16" in told and "cuda" in told and "[3, 3], None, [True, False, True], -4" in told
    assert "[1, 2], [0.5, 0.5]" in op(X, k=[1, 2], f=[0.5, 0.5])


def test_symbolic_ints_are_ints_when_they_are_numbers() -> None:
    text = """
    __global__ void repeat(const float* x, float* y, int n, int k) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n * k) y[i] = x[i % n];
    }
    at::Tensor tiled(const at::Tensor& x, at::IntArrayRef by, std::optional<int64_t> more) { return x.repeat(by) + more.value_or(0); }
    """
    op = wb.op("kinds::repeat(Tensor x, SymInt k) -> Tensor", text, kernel="repeat", shape="x[n] -> y[n*k]")
    assert op(X, 3).tolist() == [1, 2] * 3 and "SymInt k" in op.schema
    host = wb.op("kinds::tiled(Tensor x, SymInt[] by, SymInt? more=None) -> Tensor", text, kernel="tiled")
    assert host(X, [2, 2]).tolist() == [[1, 2] * 2] * 2 and host(X, [1], 5).tolist() == [6, 7]
    with pytest.raises(wb.ArgumentError, match="`k` is `SymInt`, got float"):
        op(X, 2.5)
    with pytest.raises(wb.ArgumentError, match=r"type 'SymInt\[\]' for argument 'by'"):
        host(X, [2.5])


def test_open_schemas_are_refused() -> None:
    with pytest.raises(wb.ArgumentError, match="leave out `...`"):
        wb.op("kinds::open(Tensor x, ...) -> Tensor", lambda x: x)
    with pytest.raises(wb.ArgumentError, match="leave out `...`"):
        wb.load_inline("kinds_open", 'TORCH_LIBRARY(kinds_open, m) { m.def("f(...) -> ()"); }', is_python_module=False)

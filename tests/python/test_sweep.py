"""Sweeps over shapes and dtypes, the smallest failing case, and strategies of hypothesis."""

import json
import sys

import numpy as np
import pytest
import workbench as wb

ADD = """
__global__ void add(const float* a, const float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}"""


def add_op(name="sweeps::add", source=ADD, **options):
    return wb.op(f"{name}(Tensor a, Tensor b) -> Tensor", source, shape="a[n], b[n] -> y[n]", reference=lambda a, b: a + b, **options)


def test_borders_are_tried_without_shapes():
    report = wb.sweep(add_op())
    extents = [row["dims"]["n"] for row in report.rows]
    assert {0, 1, 31, 32, 33, 255, 256, 257, 1025} <= set(extents)
    assert report and report.passed and report.smallest is None
    assert str(report) == f"sweeps::add agrees with its reference in all {len(extents)} cases"
    report.raise_if_failed()


def test_the_smallest_failing_extent_is_found():
    # Blocks of 64 threads that count as if they were of 32: element 32 of each block's second half is written by none.
    broken = ADD.replace("blockIdx.x * blockDim.x", "blockIdx.x * 32")
    report = wb.sweep(add_op("sweeps::strided", broken, block=64))
    # n = 64: one block of 64 threads, all right. n = 65: two blocks reach 96. n = 97 would need a third.
    expected = next(n for n in range(1, 2000) if -(-n // 64) * 32 + 32 < n)
    assert not report and report.smallest.dims == {"n": expected}
    assert report.smallest.report.count == 1 and not report.smallest.report
    assert f"n = {expected}" in str(report) and "nobody: it still holds the poison" in str(report)
    with pytest.raises(AssertionError, match="fails in"):
        report.raise_if_failed()
    again = report.smallest
    assert not add_op("sweeps::strided", broken, block=64).check(*again.args)


def test_several_dims_are_made_smaller_one_by_one():
    # Wrong where a row is longer than 6 and there are more than 2 rows.
    source = """
    __global__ void sums(const float* x, float* y, int m, int k) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= m) return;
        float s = 0;
        for (int j = 0; j < k; ++j) s += x[i * k + j];
        y[i] = i == 2 && k > 6 ? s + 1 : s;
    }"""
    sums = wb.op(
        "sweeps::sums(Tensor x) -> Tensor", source, shape="x[m,k] -> y[m]", threads="m", reference=lambda x: x.sum(1, dtype=np.float64)
    )
    # A sum of k numbers is off by at most k * 2**-24 times the sum of their magnitudes, here below k; the mistake is 1.
    tolerance = {"rtol": 0, "atol": 1025**2 * 2**-24}
    report = wb.sweep(sums, **tolerance)
    assert report.smallest.dims == {"m": 3, "k": 7}
    only = wb.sweep(sums, [{"m": 2, "k": 1000}, {"m": 100, "k": 6}], **tolerance)
    assert only and [row["dims"] for row in only.rows] == [{"m": 2, "k": 1000}, {"m": 100, "k": 6}]


def test_a_shape_of_any_rank_loses_dims():
    source = ADD.replace("a[i] + b[i]", "a[i] + b[i] + (n > 8)")
    op = wb.op("sweeps::any(Tensor a, Tensor b) -> Tensor", source, shape="a[*], b[*] -> y[*]", reference=lambda a, b: a + b)
    report = wb.sweep(op)
    assert {len(row["dims"]["*"]) for row in report.rows} == {0, 1, 2, 3}
    assert report.smallest.dims == {"*": (9,)}


def test_a_fault_is_a_failure_with_its_error():
    source = ADD.replace("a[i] + b[i]", "a[i] + b[i + (n > 40)]")
    report = wb.sweep(add_op("sweeps::fault", source))
    assert report.smallest.dims == {"n": 41} and isinstance(report.smallest.error, wb.KernelFault)
    assert {row["status"] for row in report.rows} == {"ok", "failed"} and "out-of-bounds" in str(report)


def test_dtypes_are_those_of_all_arrays():
    source = "template <typename T> __global__ void twice(const T* x, T* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    op = wb.op("sweeps::twice(Tensor x) -> Tensor", source, shape="x[n] -> y[n]", reference=lambda x: 2 * x)
    report = wb.sweep(op, [1, 33], [np.float32, "float64", np.int32])
    assert report and [(row["dims"]["n"], row["dtype"]) for row in report.rows] == [
        (1, "float32"), (33, "float32"), (1, "float64"), (33, "float64"), (1, "int32"), (33, "int32"),
    ]  # fmt: skip
    refused = wb.sweep(add_op(), [3], [np.float64])
    assert refused.rows[0]["status"] == "failed" and "float64" in refused.rows[0]["message"]


def test_a_signature_of_numbers_is_one_case():
    source = "__global__ void three(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }"
    op = wb.op("sweeps::three(Tensor x) -> Tensor", source, shape="x[3] -> y[3]", reference=lambda x: x, threads="3", block=3)
    report = wb.sweep(op)
    assert not report and [row["dims"] for row in report.rows] == [{}]


def test_a_reference_that_raises_is_told_and_is_no_agreement():
    op = add_op("sweeps::raising")
    largest = lambda a, b: (a + b) + 0 * (a + b).max()
    report = wb.sweep(op, [0, 1, 5], reference=largest)
    assert report and [row["status"] for row in report.rows] == ["unknown", "ok", "ok"]
    assert "1 case could not be checked, the first: n = 0: ValueError" in str(report) and "in 2 of 3 cases" in str(report)
    nothing = wb.sweep(op, [0], reference=largest)
    assert not nothing, "nothing was checked"


def test_a_smaller_case_that_cannot_be_made_ends_nothing():
    op = add_op("sweeps::unmade", ADD.replace("a[i] + b[i]", "a[i] + b[i] + (n > 3)"))

    def make(n, dtype):
        if n < 10:
            raise RuntimeError("too small")
        return np.ones(n, np.float32), np.ones(n, np.float32)

    report = wb.sweep(op, [50], make_args=make)
    assert not report and report.smallest.dims == {"n": 10}


def test_arguments_by_keyword_alone_and_defaults_are_the_schemas():
    source = "__global__ void k(const float* x, float* y, float c, float d, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = c * x[i] + d; }"
    op = wb.op(
        "sweeps::keywords(Tensor x, float c=2.5, *, float d=3.0) -> Tensor", source, shape="x[n] -> y[n]",
        reference=lambda x, c, d: np.float32(2.5) * x + np.float32(3) if (c, d) == (2.5, 3.0) else x * 0 + 99,
    )  # fmt: skip
    # A product and a sum are rounded in one step or in two: half a unit in the last place of the product, which is below 12.
    assert wb.sweep(op, [1, 5], rtol=2**-23, atol=12 * 2**-24)


def test_arguments_are_made_or_given():
    source = "__global__ void pick(const float* x, const int* at, float* y, float c, int n) { int i = threadIdx.x; if (i < n) y[i] = c * x[at[i]]; }"
    op = wb.op(
        "sweeps::pick(Tensor x, Tensor at, float c) -> Tensor", source, shape="x[n], at[n] -> y[n]", reference=lambda x, at, c: np.float32(c) * x[at]
    )
    # Integers are below the smallest extent, so they are indices.
    assert wb.sweep(op, [1, 5, 200], args={"c": 3.0})
    seen = []

    def make(n, dtype):
        seen.append((n, dtype))
        return np.ones(n, np.float32), np.zeros(n, np.int32), 2.0

    assert wb.sweep(op, [1, 5], make_args=make) and seen == [(1, None), (5, None)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda op: wb.sweep(op, [{"m": 3}]), "has not the dims of `sweeps::add`, which are n"),
        (lambda op: wb.sweep(op, [{"n": -1}]), "n is -1; an int from 0 on is wanted"),
        (lambda op: wb.sweep(op, [{"n": 2.5}]), "n is 2.5; an int from 0 on is wanted"),
        (lambda op: wb.sweep(op, [(3,)]), "n is (3,); an int from 0 on is wanted"),
        (lambda op: wb.sweep(op, args={"c": 1}), "has no argument `c`; its arguments are a, b"),
        (lambda op: wb.sweep(op, []), "shapes is empty, so there is nothing to check"),
        (lambda op: wb.sweep(op, [1], []), "dtypes is empty, so there is nothing to check"),
        (lambda op: wb.sweep(op, [1], "float32"), "dtypes is 'float32'; a list of dtypes is wanted"),
        (lambda op: wb.sweep(op, [1], ["floating"]), "dtypes: 'floating' is no dtype"),
        (lambda op: wb.sweep(op, rtol=1e-3), "give both rtol and atol"),
        (lambda op: wb.sweep(op, make_args=lambda n, d: ()), "make_args comes with shapes"),
        (lambda op: wb.sweep(np.add), "an operator of a kernel is swept, got ufunc"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(wb.ArgumentError) as raised:
        call(add_op())
    assert message in str(raised.value)


def test_what_a_signature_does_not_say_is_asked_for():
    no_reference = wb.op("sweeps::bare(Tensor a, Tensor b) -> Tensor", ADD, shape="a[n], b[n] -> y[n]")
    with pytest.raises(wb.ArgumentError, match="has no reference"):
        wb.sweep(no_reference)
    by_callable = wb.op("sweeps::free(Tensor a, Tensor b) -> Tensor", ADD, shape=lambda a, b: a, reference=lambda a, b: a + b)
    with pytest.raises(wb.ArgumentError, match="its shape is a callable"):
        wb.sweep(by_callable)
    assert wb.sweep(by_callable, [4], make_args=lambda n, dtype: (np.ones(n, np.float32),) * 2)


def test_a_report_is_saved_and_shown(tmp_path):
    report = wb.sweep(add_op("sweeps::shown", ADD.replace("a[i] + b[i]", "a[i] + (n > 2)")), [1, 3])
    report.save(tmp_path / "r.json")
    rows = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["rows"]
    assert [row["status"] for row in rows] == ["wrong", "wrong"] and rows[0]["dims"] == {"n": 1}
    page = report._repr_mimebundle_()["text/html"]
    assert "failed" in page and "smallest failing case" in page and "n = 1" in page
    with pytest.raises(wb.ArgumentError, match="ends in none of"):
        report.save(tmp_path / "r.pdf")


def test_a_stop_keeps_the_cases_so_far():
    cases = []

    def reference(a, b):
        cases.append(len(a))
        if len(cases) == 3:
            raise KeyboardInterrupt
        return a + b

    report = wb.sweep(add_op("sweeps::stopped"), [1, 2, 3, 4], reference=reference)
    assert len(report.rows) == 2 and "stopped after 2 of 4 cases" in str(report)
    # The cases that were left out may fail.
    assert not report and not report.passed and str(report).startswith("sweeps::stopped agrees with its reference in 2 of 4 cases\n")
    assert "failed" in report._repr_mimebundle_()["text/html"] and json.loads(report.to_json())["wanted"] == 4
    with pytest.raises(AssertionError, match="stopped after 2 of 4"):
        report.raise_if_failed()


def test_one_case_is_counted_as_one():
    assert str(wb.sweep(add_op("sweeps::one"), [1])) == "sweeps::one agrees with its reference in 1 case"


def test_strategies_fit_the_signature():
    hypothesis = pytest.importorskip("hypothesis")
    from workbench.testing import arrays_for

    source = """
    __global__ void scale(const float* x, const float* s, float* y, float c, int m, int n) {
        int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
        if (j < n) y[i * n + j] = c * x[i * n + j] * s[j];
    }"""
    op = wb.op(
        "sweeps::scale(Tensor x, Tensor s, float c=1.0) -> Tensor", source, shape="x[m,n], s[n] -> y[m,n]", grid="(n + 63) / 64, m", block=64,
        reference=lambda x, s, c: np.float32(c) * x * s,
    )  # fmt: skip
    seen = set()

    @hypothesis.settings(max_examples=60, deadline=None, database=None)
    @hypothesis.given(arrays_for(op, max_extent=40))
    def agrees(args):
        x, s, c = args
        assert x.shape[1] == s.shape[0] and x.dtype == s.dtype == np.float32 and isinstance(c, float)
        seen.add(x.shape)
        if x.size:
            # Two products on both sides, in the same order: at most two roundings apart.
            assert op.check(*args, rtol=2 * 2**-23, atol=0)

    agrees()
    assert len(seen) > 10


def test_hypothesis_makes_a_failing_case_smaller():
    hypothesis = pytest.importorskip("hypothesis")
    from workbench.testing import arrays_for

    op = add_op("sweeps::shrunk", ADD.replace("a[i] + b[i]", "a[i] + b[i] + (i == 5)"))
    failing = []

    @hypothesis.settings(max_examples=200, deadline=None, database=None)
    @hypothesis.given(arrays_for(op))
    def agrees(args):
        if not op.check(*args):
            failing.append(args[0].shape)
            raise AssertionError

    with pytest.raises(AssertionError):
        agrees()
    assert failing[-1] == (6,)


def test_strategies_have_no_warnings_and_know_bfloat16():
    hypothesis = pytest.importorskip("hypothesis")
    pytest.importorskip("ml_dtypes")
    import warnings

    from hypothesis import strategies as st
    from workbench.testing import arrays_for

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        halves = wb.op(
            "sweeps::halves(Tensor x) -> Tensor",
            "#include <cuda_bf16.h>\n__global__ void h(const __nv_bfloat16* x, __nv_bfloat16* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }",
            shape="x[n] -> y[n]",
        )
        seen = []

        @hypothesis.settings(max_examples=5, deadline=None, database=None)
        @hypothesis.given(arrays_for(halves), arrays_for(add_op(), elements=st.floats(0, 1, width=32)))
        def made(args, others):
            seen.append((args[0].dtype.name, bool(((others[0] >= 0) & (others[0] <= 1)).all())))

        made()
    assert seen and set(seen) == {("bfloat16", True)}


def test_strategies_name_what_they_lack(monkeypatch):
    pytest.importorskip("hypothesis")
    from workbench.testing import arrays_for

    with pytest.raises(wb.ArgumentError, match="has no argument `c`"):
        arrays_for(add_op(), args={"c": 1})
    with pytest.raises(wb.ArgumentError, match="dtypes is empty"):
        arrays_for(add_op(), dtypes=[])
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "workbench.testing")
    with pytest.raises(ImportError, match="pip install hypothesis"):
        import workbench.testing  # noqa: F401

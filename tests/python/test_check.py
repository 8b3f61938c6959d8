"""`check`: what passes, what fails, and what the report says."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import MULADD

import workbench as wb


def off_by(text: str, reference=lambda a, b, c: a * b + c) -> wb.Op:
    """muladd with a slip."""
    return wb.op("test::slip(Tensor a, Tensor b, float c) -> Tensor", text, shape="a[n], b[n] -> out[n]", reference=reference)


def test_a_right_operator_passes(muladd, rng):
    a, b = (rng.standard_normal(1000).astype(np.float32) for _ in range(2))
    report = muladd.check(a, b, 2.0)
    assert report and report.passed and report.max_abs < 1e-5 and len(report.mismatches) == 0
    assert report.raise_if_failed() is None or report.raise_if_failed() is report


def test_a_wrong_operator_fails_with_the_first_mismatches(rng):
    op = off_by(MULADD.replace("a[i] * b[i] + c", "a[i] * b[i] + (i == 300 ? c + 1 : c)"))
    a, b = (rng.standard_normal(1000).astype(np.float32) for _ in range(2))
    report = op.check(a, b, 2.0)
    assert not report and not report.passed
    assert abs(report.max_abs - 1) < 1e-5 and report.max_rel > 0 and report.max_ulp > 100
    first = report.mismatches[0]
    assert tuple(np.atleast_1d(first.index)) == (300,) and abs(first.got - first.want - 1) < 1e-5
    assert first.block == (1, 0, 0) and first.thread == (44, 0, 0)
    with pytest.raises(AssertionError, match="300"):
        report.raise_if_failed()


def test_what_is_never_written_is_found():
    op = off_by(MULADD.replace("if (i < n)", "if (i < n - 1)"))
    a = np.zeros(100, np.float32)
    report = op.check(a, a, 0.0)
    assert not report and np.atleast_1d(report.mismatches[0].index).tolist() == [99]


def test_nan_and_infinity_count_as_in_torch_testing():
    a = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    one = np.ones(4, np.float32)
    op = off_by(MULADD)
    assert not op.check(a, one, 0.0)
    assert op.check(a, one, 0.0, equal_nan=True)
    assert not op.check(np.array([np.inf], np.float32), np.ones(1, np.float32), 0.0, reference=lambda a, b, c: -a)


def test_tolerances_are_torchs_by_dtype_and_may_be_given(muladd):
    a, one = np.ones(4, np.float32), np.ones(4, np.float32)
    assert not muladd.check(a, one, 0.0, reference=lambda a, b, c: a * 1.001)
    assert muladd.check(a, one, 0.0, reference=lambda a, b, c: a * 1.001, rtol=1e-2, atol=0.0)


def test_check_takes_any_two_callables(rng):
    x = rng.standard_normal((5, 7)).astype(np.float32)
    assert wb.check(lambda x: x * 2, lambda x: x + x, x)
    report = wb.check(lambda x: x * 2, lambda x: x * 3, x)
    assert not report and len(report.mismatches) > 0
    assert not wb.check(lambda x: x[:3], lambda x: x, x)
    assert wb.check(lambda x: (x, x), lambda x: (x, x), x)


def test_without_a_reference_it_says_how_to_give_one(muladd):
    op = off_by(MULADD, reference=None)
    a = np.ones(3, np.float32)
    with pytest.raises(wb.ArgumentError, match="reference"):
        op.check(a, a, 1.0)
    assert op.check(a, a, 1.0, reference=lambda a, b, c: a * b + c)


def test_the_report_draws_itself(rng):
    op = off_by(MULADD.replace("+ c", "+ c + 0.01f * (i % 7 == 0)"))
    a = rng.standard_normal(1000).astype(np.float32)
    bundle = op.check(a, a, 1.0)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "differs" in bundle["text/plain"].lower() and bundle["text/html"].count("<svg") >= 2


def test_inputs_are_left_alone(muladd):
    a, b = np.arange(5, dtype=np.float32), np.ones(5, np.float32)
    muladd.check(a, b, 1.0)
    assert (a == np.arange(5)).all() and (b == 1).all()


class BrainFloats:
    """As torch has a bfloat16 tensor: NumPy gets it by way of float32 only."""

    dtype = "torch.bfloat16"

    def __init__(self, values):
        self.values = np.asarray(values, np.float32)

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return self.values

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")


def test_half_precision_has_torchs_tolerances_and_its_own_ulps():
    one = np.ones(4, np.float16)
    step = np.float16(2**-10)
    report = wb.check(lambda: one + step, lambda: one)
    assert report and report.max_ulp == 1
    report = wb.check(lambda: one + 2 * step, lambda: one)
    assert not report and report.max_ulp == 2
    assert not wb.check(lambda: one.astype(np.float32) + 2**-10, lambda: one.astype(np.float32))
    swapped = one.astype(one.dtype.newbyteorder())
    assert wb.check(lambda: swapped + step, lambda: one).max_ulp == 1
    wide_step = 2**-7
    report = wb.check(lambda: BrainFloats([1 + 2 * wide_step]), lambda: BrainFloats([1]))
    assert report and report.max_ulp == 2
    report = wb.check(lambda: BrainFloats([1 + 3 * wide_step]), lambda: BrainFloats([1]))
    assert not report and report.max_ulp == 3


def test_a_failing_report_has_an_error():
    def report(got, want):
        return wb.check(lambda: np.array([1.0, got]), lambda: np.array([1.0, want]))

    for got, want in [(np.inf, 1.0), (1.0, np.inf), (np.inf, -np.inf)]:
        failing = report(got, want)
        assert not failing and failing.max_abs == failing.max_rel == failing.max_ulp == np.inf
    for got, want in [(np.nan, 1.0), (1.0, np.nan), (np.nan, np.nan)]:
        failing = report(got, want)
        assert not failing and np.isnan(failing.max_abs) and np.isnan(failing.max_rel) and failing.max_ulp == np.inf
    assert np.isnan(wb.check(lambda: np.ones(3), lambda: np.ones(4)).max_abs)


def test_the_worst_element_is_told_by_its_share_of_the_tolerance():
    # The tolerance of 4 is 0.5 + 0.125 * 4 = 1, and that of 100 is 13; all are exact.
    expected = np.array([4, 100], np.float32)

    def checked(*actual):
        return wb.check(lambda: np.array(actual, np.float32), lambda: expected, rtol=0.125, atol=0.5)

    report = checked(4.25, 103.25)
    assert report and report.max_share == 0.25 and "worst element: 25 % of its tolerance" in str(report)
    assert "25 % of its tolerance" in report._repr_mimebundle_()["text/html"]
    report = checked(1.5, 100)
    assert not report and report.max_share == 2.5 and "2.5 times its tolerance" in str(report)
    assert checked(4, 100).max_share == 0 and "worst element: exact" in str(checked(4, 100))


HISTOGRAM = """
__global__ void count(const int* x, int* h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&h[x[i]], 1);
}"""


def test_an_output_that_is_read_before_it_is_written_is_told():
    def counts(x):
        return np.bincount(x, minlength=4).astype(np.int32)

    op = wb.op("test::early(Tensor x) -> Tensor", HISTOGRAM, shape="x[n] -> h[4]", threads="n", reference=counts)
    report = op.check(np.array([0, 1, 1, 3, 3, 3, 2, 2], np.int32))
    assert not report and report.mismatches[0].got != report.mismatches[0].want
    assert "note: `h` was read before it was written; outputs are not zeroed (as torch.empty)" in " ".join(str(report).split())
    assert "was read before it was written" in report._repr_mimebundle_()["text/html"]
    # In place it is zeroed by the caller.
    op = wb.op("test::late(Tensor x, Tensor(a!) h) -> ()", HISTOGRAM, shape="x[n], h[m] ->", threads="n", reference=lambda x, h: counts(x))
    assert op.check(np.array([0, 1, 1, 3], np.int32), np.zeros(4, np.int32))


def test_a_wrong_result_is_no_early_read():
    op = off_by(MULADD.replace("a[i] * b[i] + c", "a[i] * b[i] - c"))
    a = np.ones(100, np.float32)
    assert "read before" not in str(op.check(a, a, 2.0))
    # Elements that nobody writes are told by themselves.
    op = off_by(MULADD.replace("if (i < n)", "if (i < n - 1)"))
    assert "read before" not in str(op.check(a, a, 2.0))


ADD_ONE = "__global__ void add_one(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += BY; }"


def test_a_reference_may_write_in_place_as_the_operator_does():
    def in_place(x):
        x += 1

    x = np.arange(5, dtype=np.float32)
    for by, passes in [(1, True), (2, False)]:
        op = wb.op("test::in_place(Tensor(a!) x) -> ()", ADD_ONE.replace("BY", str(by)), shape="x[n] ->", threads="n")
        assert op.check(x, reference=in_place).passed is passes and op.check(x, reference=lambda x: x + 1).passed is passes
    op = wb.op("test::in_place_py(Tensor(a!) x) -> ()", in_place, reference=in_place)
    assert op.check(x) and not op.check(x, reference=lambda x: x + 2)
    np.testing.assert_array_equal(x, np.arange(5))


def test_a_reference_that_returns_none_is_told():
    a = np.ones(4, np.float32)
    with pytest.raises(wb.ArgumentError, match="the reference returned None; it has to return what is compared: an array or a tuple of arrays"):
        off_by(MULADD).check(a, a, 0.0, reference=lambda a, b, c: None)
    with pytest.raises(wb.ArgumentError, match="the reference returned None"):
        wb.check(np.sin, lambda x: None, a)
    with pytest.raises(wb.ArgumentError, match="the function returned None"):
        wb.check(lambda x: None, np.sin, a)


def test_nan_against_nan_counts_the_same_in_the_table_and_the_picture():
    a = np.array([np.nan] * 30 + [1.0] * 10, np.float32)
    report = off_by(MULADD).check(a, np.ones(40, np.float32), 0.0)
    assert report.count == 30 and "30 of them are NaN on both sides; equal_nan=True lets NaN agree with NaN" in " ".join(str(report).split())
    # A quarter of the elements has no error.
    assert "25 % at zero" in str(report.histogram())
    equal = off_by(MULADD).check(a, np.ones(40, np.float32), 0.0, equal_nan=True)
    assert equal and "equal_nan" not in str(equal) and "100 % at zero" in str(equal.histogram())


def test_one_result_is_counted_as_one():
    report = wb.check(lambda x: x, lambda x: (x, x), np.ones(2))
    assert "there is 1 result, and the reference gives 2" in str(report)


#: Leaves out every element whose number is a multiple of 4, and doubles number 9 once more.
HOLES = """
__global__ void holes(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 4 != 0) y[i] = i == 9 ? x[i] + 3 : x[i];
}"""


@pytest.mark.parametrize("dtype, text", [(np.float32, "float"), (np.float16, "__half"), (np.int64, "long long"), (np.uint8, "unsigned char"), (np.int8, "signed char")])
def test_elements_that_nobody_wrote_are_told_and_have_no_error(dtype, text):
    op = wb.op(f"holes::of_{np.dtype(dtype).name}(Tensor x) -> Tensor", "#include <cuda_fp16.h>\n" + HOLES.replace("T*", f"{text}*").replace("x[i] + 3", f"x[i] + ({text})3.0f"), shape="x[n] -> y[n]")
    x = np.arange(20).astype(dtype)
    report = op.check(x, reference=lambda x: x.copy())
    said = " ".join(str(report).split())
    assert (report.count, report.unwritten, report.max_abs) == (6, 5, 3.0), said
    assert "6 of 20 elements differ, 5 of which nobody wrote; worst of the others: " in said, said
    assert (report.worst.index, report.worst.got, report.worst.want, report.worst.block) == ((9,), 12, 9, (0, 0, 0))
    assert [m.index[0] for m in report.mismatches if m.unwritten] == [0, 4, 8, 12, 16]
    assert "- instead of" in said and "written by nobody: it still holds the poison" in said
    html = report._repr_mimebundle_()["text/html"]
    assert "5: nobody wrote them" in html and "unwritten" in html and "-2.67" not in html
    picture = str(report.plot())
    assert "largest error 3 at [9]" in picture and "5 of them unwritten" in picture and "[4]: nobody wrote it; 4 is expected" in picture


def test_a_value_that_is_the_poison_was_written_by_somebody():
    poison = np.frombuffer(b"\xcb" * 4, np.float32)[0]
    source = f"""
    __global__ void same(const float* x, float* y, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n && i != 2) y[i] = i == 1 ? __int_as_float(0xcbcbcbcb) : x[i];
    }}"""
    op = wb.op("holes::poison(Tensor x) -> Tensor", source, shape="x[n] -> y[n]")
    report = op.check(np.ones(4, np.float32), reference=lambda x: x.copy())
    assert [(m.index[0], m.unwritten) for m in report.mismatches] == [(1, False), (2, True)]
    assert report.unwritten == 1 and report.max_abs == 1 - float(poison)


def test_the_worst_mismatch_is_listed_where_it_is_late():
    report = wb.check(lambda x: x + (np.arange(100) == 57) * 5 + 1, lambda x: x, np.ones(100))
    assert report.worst.index == (57,) and [m.index[0] for m in report.mismatches] == list(range(8))
    assert "[57] 7.0 instead of 1.0 abs 6.00e0 the worst" in " ".join(str(report).split())
    html = report._repr_mimebundle_()["text/html"]
    assert "the worst, then the first 8 of 100 mismatches" in html and "[57]" in html
    # NaN is worse than any number, and all NaN are alike.
    report = wb.check(lambda x: np.where(np.arange(30) == 20, np.nan, x + 1), lambda x: x, np.ones(30))
    assert report.worst.index == (20,)
    assert wb.check(np.sqrt, np.sqrt, np.ones(3)).worst is None


def test_nan_in_the_reference_and_what_nobody_wrote():
    op = wb.op("holes::nan(Tensor x) -> Tensor", HOLES.replace("T*", "float*"), shape="x[n] -> y[n]")
    x = np.full(8, np.nan, np.float32)
    report = op.check(x, reference=lambda x: x.copy(), rtol=0.0, atol=0.0, equal_nan=True)
    assert (report.count, report.unwritten, report.max_abs) == (2, 2, 0.0)
    # Both kinds at once: two that nobody wrote, six that are NaN on both sides.
    report = op.check(x, reference=lambda x: x.copy())
    assert (report.count, report.unwritten) == (8, 2) and np.isnan(report.max_abs)
    assert "6 of them are NaN on both sides" in " ".join(str(report).split())


def test_nobody_wrote_anything_and_there_is_no_error():
    nothing = HOLES.replace("T*", "float*").replace("i % 4 != 0", "false")
    op = wb.op("holes::nothing(Tensor x) -> Tensor", nothing, shape="x[*] -> y[*]", reference=lambda x: x.copy())
    for x in (np.ones(3, np.float32), np.float32(2).reshape(())):
        report = op.check(x)
        assert report.unwritten == x.size and all(np.isnan([report.max_abs, report.max_rel, report.max_ulp, report.max_share])) and report.worst is None
        said = " ".join(str(report).split())
        assert f"of {x.size} elements differ, " in said and "nobody wrote" in said and "worst" not in said and "max abs" not in said
        assert "max abs" not in report._repr_mimebundle_()["text/html"]
        frame = report.to_pandas()
        assert frame[["got", "abs", "rel", "ulp"]].isna().all(axis=None) and frame["unwritten"].all()


@pytest.mark.parametrize("dtype, text, value", [(np.bool_, "bool", True), (np.uint8, "unsigned char", 0xCB), (np.int8, "signed char", -53), (np.float16, "__half", -15.59375), (np.float32, "float", -26711958.0)])
def test_what_nobody_wrote_agrees_with_nothing(dtype, text, value):
    """Elements that are expected to be what memory held before."""
    source = "#include <cuda_fp16.h>\n" + HOLES.replace("T*", f"{text}*").replace("i == 9 ? x[i] + 3 : x[i]", "x[i]")
    op = wb.op(f"holes::alike_{np.dtype(dtype).name}(Tensor x) -> Tensor", source, shape="x[n] -> y[n]", reference=lambda x: x.copy())
    x = np.full(8, value, dtype)
    report = op.check(x, rtol=0.0, atol=0.0)
    assert not report.passed and (report.count, report.unwritten) == (2, 2) and [m.index[0] for m in report.mismatches] == [0, 4], report
    # A version that writes them beside the one that does not.
    name = op.name
    wb.op(f"{name}(Tensor x) -> Tensor", source.replace(" && i % 4 != 0", ""), shape="x[n] -> y[n]")
    for old, new, left in ((1, 2, "want_unwritten"), (2, 1, "unwritten")):
        check = op.history.compare(old, new, x, seconds_per_size=0.001).check
        assert not check.passed and check.count == 2 and all(getattr(m, left) for m in check.mismatches), check
    assert wb.tune(source, {"block": [32]}, schema=f"{name}_tuned(Tensor x) -> Tensor", shape="x[n] -> y[n]", reference=lambda x: x.copy(), make_args=lambda n: np.full(8, value, dtype), size=8, seconds=0.002).rows[0]["status"] == "wrong"


def test_elements_that_both_versions_leave_out():
    source = HOLES.replace("T*", "float*").replace("i == 9 ? x[i] + 3 : x[i]", "x[i]")
    for text in (source, source + "// again\n"):
        op = wb.op("holes::both(Tensor x) -> Tensor", text, shape="x[n] -> y[n]")
    check = op.history.compare(1, 2, np.ones(8, np.float32), seconds_per_size=0.001).check
    assert "2 of 8 elements differ, all of which neither side wrote; worst of the others: exact" in " ".join(str(check).split())
    assert [(m.unwritten, m.want_unwritten) for m in check.mismatches] == [(True, True)] * 2


def test_an_element_of_an_argument_that_nobody_wrote_keeps_its_value():
    source = "__global__ void add(float* x, int n) { int i = threadIdx.x; if (i < n && i != 3) x[i] += 1; }"
    op = wb.op("holes::add_(Tensor(a!) x) -> ()", source, reference=lambda x: x + 1)
    report = op.check(np.ones(5, np.float32))
    assert report.count == 1 and report.unwritten == 0 and "written by nobody: it keeps its value" in " ".join(str(report).split())
    assert (report.max_abs, report.worst.index) == (1.0, (3,))

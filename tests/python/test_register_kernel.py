"""Several implementations of one operator: kernels, host functions, callables and other operators, by device and element type."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import workbench as wb

NEG = """
__global__ void neg(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = -x[i];
}
at::Tensor negated(const at::Tensor& x) { return -x; }
"""
HOST = "at::Tensor negated(const at::Tensor& x) { return -x; }"


def numbers(dtype: str, count: int = 7) -> np.ndarray:
    return np.random.default_rng(3).integers(-50, 50, count).astype(dtype)


@pytest.fixture
def neg() -> wb.Op:
    source = wb.compile(NEG, defines={"T": "float"})
    return wb.op("several::neg(Tensor x) -> Tensor", source, kernel="neg", shape="x[n] -> y[n]")


def called(calls: list[str], name: str, sign: int = -1):
    def function(x):
        calls.append(name)
        return sign * x

    return function


def test_each_type_has_its_implementation(neg: wb.Op) -> None:
    calls: list[str] = []
    neg.register_kernel("cpu", called(calls, "double"), dtypes=["float64"])
    neg.register_kernel("cpu", wb.compile(NEG, defines={"T": "int"}).neg)
    neg.register_kernel("cpu", wb.compile(NEG, defines={"T": "float"}).negated, dtypes=[np.int64, "int16"])
    for dtype in ("float32", "float64", "int32", "int64", "int16"):
        x = numbers(dtype)
        made = neg(x)
        assert made.dtype == x.dtype and (made == -x).all()
    assert calls == ["double"]
    assert neg.binding.count("a callable, for arrays of") == 2 and "float64" in neg.binding
    with pytest.raises(wb.ArgumentError, match="uint8"):
        neg(numbers("uint8"))


def test_the_last_word_counts(neg: wb.Op) -> None:
    calls: list[str] = []
    x = numbers("float32")
    neg.register_kernel("cpu", called(calls, "any"))
    assert (neg(x) == -x).all() and neg(numbers("int8")).dtype == np.int8 and calls == ["any", "any"]
    # A kernel for one type, a callable for that type, and for all of them again.
    neg.register_kernel("cpu", wb.compile(NEG, defines={"T": "float"}).neg)
    neg(x), neg(numbers("float64"))
    assert calls == ["any", "any", "any"]
    neg.register_kernel("cpu", called(calls, "single"), dtypes="float32")
    neg(x), neg(numbers("float64"))
    assert calls[3:] == ["single", "any"]
    neg.register_kernel("cpu", called(calls, "all"))
    neg(x), neg(numbers("float64"))
    assert calls[5:] == ["all", "all"] and len(neg._outside) == 1


def test_making_the_operator_again_forgets_them(neg: wb.Op) -> None:
    calls: list[str] = []
    neg.register_kernel("cpu", called(calls, "any"))
    again = wb.op("several::neg(Tensor x) -> Tensor", wb.compile(NEG, defines={"T": "float"}), kernel="neg", shape="x[n] -> y[n]")
    assert again is neg and (neg(numbers("float32")) == -numbers("float32")).all() and calls == []
    with pytest.raises(wb.ArgumentError):
        neg(numbers("float64"))


def test_a_decorator_gives_the_function_back(neg: wb.Op) -> None:
    @neg.register_kernel("cpu", dtypes=["float64"])
    def double(x):
        return -x

    assert double(2.0) == -2.0 and (neg(numbers("float64")) == -numbers("float64")).all()


def test_another_operator_serves_and_is_a_reference(neg: wb.Op) -> None:
    host = wb.op("several::host_neg(Tensor x) -> Tensor", HOST, kernel="negated")
    neg.register_kernel("cpu", host, dtypes=["float64"])
    x = numbers("float64")
    assert (neg(x) == -x).all()
    assert neg.check(numbers("float32"), reference=host) and neg.check(x, reference=wb.compile(NEG, defines={"T": "float"}).negated)
    assert host.check(x, reference=neg)
    report = neg.check(x, reference=lambda x: x)
    assert not report and report.mismatches


def test_results_are_held_against_schema_and_shapes(neg: wb.Op) -> None:
    x = numbers("float64")
    for function, message in (
        (lambda x: x[:3], r"gave float64 \[3\], and its shape function said float64 \[7\]"),
        (lambda x: x.astype(np.float32), r"gave float32 \[7\], and its shape function said float64 \[7\]"),
        (lambda x: (x, x), "gave 2 results; its schema says 1"),
        (lambda x: None, "gave 0 results; its schema says 1"),
    ):
        neg.register_kernel("cpu", function, dtypes=["float64"])
        with pytest.raises(wb.ArgumentError, match=message):
            neg(x)
    neg.register_kernel("cpu", lambda x: np.negative(x, out=x), dtypes=["float64"])
    with pytest.raises(wb.ArgumentError, match="writes an argument that its schema does not mark"):
        neg(x)
    assert (x == numbers("float64")).all()
    neg.register_kernel("cpu", lambda x: x, dtypes=["float64"])
    assert not np.shares_memory(neg(x), x)
    with pytest.raises(wb.ArgumentError, match="rank 1|1 dimension"):
        neg(np.ones((2, 2)))
    with pytest.raises(ZeroDivisionError):
        neg.register_kernel("cpu", lambda x: 1 // 0, dtypes=["float64"])
        neg(x)
    assert (neg(numbers("float32")) == -numbers("float32")).all()


def test_outputs_of_another_type_keep_it() -> None:
    source = """
    __global__ void signs(const float* x, int* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] > 0; }
    """
    op = wb.op("several::signs(Tensor x) -> Tensor", source, shape="x[n] -> y[n]")
    op.register_kernel("cpu", lambda x: (x > 0).astype(np.int32), dtypes=["float64"])
    assert op(numbers("float64")).dtype == np.int32 and op.fake(wb.Spec((4,), "float64")) == wb.Spec((4,), "int32")
    op.register_kernel("cpu", lambda x: x > 0, dtypes=["float64"])
    with pytest.raises(wb.ArgumentError, match=r"gave bool \[7\], and its shape function said int32 \[7\]"):
        op(numbers("float64"))


def test_arguments_that_are_written() -> None:
    source = """
    __global__ void add_(float* x, float by, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += by; }
    """
    op = wb.op("several::add_(Tensor(a!) x, float by) -> Tensor(a!)", source)

    @op.register_kernel("cpu", dtypes=["float64"])
    def add_(x, by):
        x += by
        return x

    for dtype in ("float32", "float64"):
        x = numbers(dtype)
        assert op(x, 2.0) is x and (x == numbers(dtype) + 2).all()
    assert op.check(numbers("float64"), 2.0, reference=lambda x, by: (x + by,))


def test_gradients_go_through_them(neg: wb.Op) -> None:
    neg.register_autograd(lambda ctx, grad: neg(grad))
    neg.register_kernel("cpu", lambda x: -x, dtypes=["float64"])
    report = neg.gradcheck(np.linspace(-1, 1, 5))
    assert report.passed and "float64" in report.precision
    out, pull = neg.vjp(np.ones(3))
    assert (pull(np.ones(3))[0] == -1).all() and out.dtype == np.float64
    neg.register_autograd(lambda ctx, grad: grad)
    with pytest.raises(RuntimeError):
        neg.gradcheck(np.linspace(-1, 1, 5))


def test_host_functions_and_callables_have_others_too() -> None:
    host = wb.op("several::host(Tensor x) -> Tensor", HOST, kernel="negated")
    calls: list[str] = []
    host.register_kernel("cpu", called(calls, "half"), dtypes=["float16"])
    assert (host(numbers("float64")) == -numbers("float64")).all() and calls == []
    assert (host(numbers("float16")) == -numbers("float16")).all() and calls == ["half"]
    host.register_kernel("cpu", lambda x: x[:2], dtypes=["float16"])
    with pytest.raises(wb.ArgumentError, match=r"gave float16 \[2\], and its shape function said float16 \[7\]"):
        host(numbers("float16"))
    with pytest.raises(wb.ArgumentError, match="Expected a value of type 'Tensor'"):
        host("x")
    python = wb.op("several::python(Tensor x) -> Tensor", lambda x: -x)
    python.register_kernel("cpu", called(calls, "ints", 2), dtypes=["int32"])
    assert (python(numbers("int32")) == 2 * numbers("int32")).all() and (python(numbers("int64")) == -numbers("int64")).all()
    # A text that registers the operator anew says all that is to be said of it.
    wb.op("several::host(Tensor x) -> Tensor", HOST, kernel="negated")
    assert (host(numbers("float16")) == -numbers("float16")).all()


def test_they_travel(neg: wb.Op) -> None:
    neg.register_kernel("cpu", np.negative, dtypes=["float64"])
    host = wb.op("several::travels(Tensor x) -> Tensor", HOST, kernel="negated")
    host.register_kernel("cpu", np.positive, dtypes=["int8"])
    code = (
        "import pickle, sys, numpy as np\n"
        "neg, host = pickle.loads(sys.stdin.buffer.read())\n"
        "print(neg(np.ones(2)).tolist(), neg(np.ones(1, 'f4')).tolist(), host(np.ones(2, 'i1')).tolist(), host(np.ones(1)).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", code], input=pickle.dumps((neg, host)), capture_output=True, check=True).stdout
    assert out.decode().strip() == "[-1.0, -1.0] [-1.0] [1, 1] [-1.0]"


def test_what_is_none_is_refused(neg: wb.Op) -> None:
    kernel = wb.compile(NEG, defines={"T": "float"}).neg
    host = wb.op("several::refuses(Tensor x) -> Tensor", HOST, kernel="negated")
    for act, message in (
        (lambda: neg.register_kernel("gpu", np.negative), 'device is \'gpu\'; it must be "cpu" or "cuda"'),
        (lambda: neg.register_kernel("cpu", 3), "a kernel of a module or a callable is wanted, got int"),
        (lambda: neg.register_kernel("cpu", np.negative, dtypes=["float"]), "`float` is float64 to NumPy and float32 to torch"),
        (lambda: neg.register_kernel("cpu", np.negative, dtypes=[]), "dtypes names no element type"),
        (lambda: neg.register_kernel("cpu", kernel, dtypes=["float32"]), "leave out dtypes="),
        (lambda: neg.register_kernel("cuda", kernel), "compiled for cpu, not for cuda"),
        (lambda: host.register_kernel("cpu", kernel), "`neg` does not say how it is launched"),
    ):
        with pytest.raises(wb.ArgumentError, match=message):
            act()
    assert (neg(numbers("float32")) == -numbers("float32")).all() and (host(numbers("float32")) == -numbers("float32")).all()
    neg.register_kernel("cpu", np.negative, dtypes=["float64"])
    with pytest.raises(wb.ArgumentError, match="several modules|a callable of Python's"):
        neg.export("/nonexistent/neg_ops")


def test_a_callable_for_cuda_leaves_the_host_alone(neg: wb.Op) -> None:
    class OnDevice:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (0, False), "version": 3}
        dtype, shape = np.dtype("float32"), (3,)

    calls: list[str] = []
    neg.register_kernel("cuda", lambda x: calls.append("cuda") or x)
    assert (neg(numbers("float32")) == -numbers("float32")).all() and calls == []
    assert isinstance(neg(OnDevice()), OnDevice) and calls == ["cuda"]


def test_the_order_is_kept_by_pickles_and_fakes(neg: wb.Op) -> None:
    by = {n: wb.compile(NEG.replace("-x[i]", f"{n} * x[i]"), defines={"T": "float"}) for n in (2, 3)}
    x = np.ones(2, np.float32)
    op = wb.op("several::order(Tensor x) -> Tensor", by[2])
    op.register_kernel("cpu", np.negative)
    op.register_kernel("cpu", by[3].neg)
    assert op(x)[0] == 3 and pickle.loads(pickle.dumps(op))(x)[0] == 3
    op.register_fake(wb.empty_like)
    assert op(x)[0] == 3 and op(x.astype(np.float64))[0] == -1
    for _ in range(5):
        op.register_kernel("cpu", by[3].neg)
    assert len(op._others) == 2


def test_old_handles_run_what_has_the_name_now() -> None:
    makes = {
        "kernel": lambda: wb.op("several::turns(Tensor x) -> Tensor", wb.compile(NEG, defines={"T": "double"}), kernel="neg", shape="x[n] -> y[n]"),
        "host": lambda: wb.op("several::turns(Tensor x) -> Tensor", HOST, kernel="negated"),
        "callable": lambda: wb.op("several::turns(Tensor x) -> Tensor", lambda x: -x),
    }
    held = []
    for name in ("callable", "kernel", "host", "callable", "host", "kernel", "callable"):
        held.append(makes[name]())
        newest = held[-1]
        newest.register_kernel("cpu", lambda x, n=len(held): x * n, dtypes=["float64"])
        for one in held:
            assert one(np.ones(2)).tolist() == [len(held)] * 2
        held[0].register_kernel("cpu", lambda x, n=len(held): x * -n, dtypes=["float64"])
        assert all(one(np.ones(2)).tolist() == [-len(held)] * 2 for one in held)
        assert held[0].check(np.ones(2), reference=lambda x, n=len(held): x * -n)


def test_other_overloads_can_still_be_called() -> None:
    wb.compile("""
    at::Tensor one(const at::Tensor& x) { return x + 1; }
    at::Tensor two(const at::Tensor& x, double y) { return x + y; }
    TORCH_LIBRARY_FRAGMENT(several_overloads, m) { m.def("f(Tensor x) -> Tensor", &one); m.def("f.S(Tensor x, float y) -> Tensor", &two); }
    """)
    op = wb.ops.several_overloads.f
    op.register_kernel("cpu", lambda x: x * 5, dtypes=["float64"])
    assert op(np.ones(1)).tolist() == [5.0] and op(np.ones(1, np.float32)).tolist() == [2.0]
    assert op(np.ones(1), 3.0).tolist() == [4.0]


def test_whatever_kernels_take_and_refuse_stays(neg: wb.Op) -> None:
    class Memory:
        def __init__(self, array):
            self.__array_interface__ = array.__array_interface__
            self.array = array

    single, double = np.ones(3, np.float32), np.ones(3)
    neg.register_kernel("cpu", lambda x: 2 * x, dtypes=["float64"])
    assert np.asarray(neg(memoryview(single))).tolist() == [-1] * 3 and np.asarray(neg(Memory(single))).tolist() == [-1] * 3
    assert np.asarray(neg(memoryview(double))).tolist() == [2] * 3

    class Named(Memory):
        # As nothing of ours says it.
        dtype, shape = "<f8", (3,)

    assert np.asarray(neg(Named(double))).tolist() == [2] * 3
    neg.register_kernel("cpu", lambda x: 2 * x)
    assert np.asarray(neg(Named(double))).tolist() == [2] * 3
    neg.register_kernel("cpu", wb.compile(NEG, defines={"T": "float"}).neg)
    for wrong in ([1.0, 2.0], 3.0, "x", None, single.astype(">f4"), np.ones(3, np.complex64)):
        with pytest.raises(wb.ArgumentError):
            neg(wrong)


def test_results_are_of_the_schemas_types() -> None:
    x = np.ones(3)
    for schema, right, wrong in (
        ("Tensor", [x, (x,)], [3.0, "abc", [1.0, 2.0, 3.0], object(), wb.Spec(3, "float64"), (v for v in x), np.ma.masked_array(x)]),
        ("int", [3, np.int64(3)], [2.5, "3", x]),
        ("float", [2.5, 2, np.float32(1)], ["2.5", None, x]),
        ("bool", [True, np.True_], [x, "True"]),
        ("str", ["a"], [1, b"a"]),
        ("Tensor[]", [[x, x], (x, x), []], [x, [x, 1]]),
        ("Tensor?", [x, None], [1]),
        ("(Tensor, int)", [(x, 1), [x, 2]], [(x,), (1, x), x]),
    ):
        for value in right:
            wb.op(f"several::gives(Tensor x) -> {schema}", lambda x, value=value: value)(x)
        for value in wrong:
            with pytest.raises(wb.ArgumentError, match="several::gives"):
                wb.op(f"several::gives(Tensor x) -> {schema}", lambda x, value=value: value)(x)
    made = wb.op("several::gives(Tensor x) -> Tensor[]", lambda x: (-x,))(x)
    assert isinstance(made, list) and len(made) == 1
    assert type(wb.op("several::gives(Tensor x) -> Tensor", lambda x: x.sum())(x)) is np.ndarray


def test_what_is_written_is_what_comes_back() -> None:
    text = "__global__ void add_(float* x, float by, int n) { int i = threadIdx.x; if (i < n) x[i] += by; }"
    op = wb.op("several::adds_(Tensor(a!) x, float by) -> Tensor(a!)", text)
    op.register_kernel("cpu", lambda x, by: x + by, dtypes=["float64"])
    with pytest.raises(wb.ArgumentError, match="gave something else than `x`, which it is to write"):
        op(np.zeros(3), 2.0)
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(wb.ArgumentError, match="argument `x` is written, and the array is read-only"):
        op(fixed, 2.0)

    def fails(x, by):
        raise ValueError("my file is read-only")

    op.register_kernel("cpu", fails, dtypes=["float64"])
    with pytest.raises(ValueError, match="^my file is read-only$"):
        op(np.zeros(3), 2.0)


def test_shape_functions_that_fail_say_so() -> None:
    x = np.ones(3)
    with pytest.raises(wb.ArgumentError, match="shape is a callable, got int"):
        wb.op("several::shaped(Tensor x) -> Tensor", lambda x: -x, shape=3)
    for shape, error in ((lambda x: 1 // 0, ZeroDivisionError), (lambda x: x.shpe, AttributeError), (lambda x, y: x, TypeError), (lambda x: (2,), wb.ArgumentError)):
        with pytest.raises(error):
            wb.op("several::shaped(Tensor x) -> Tensor", lambda x: -x, shape=shape)(x)


def test_names_of_types_and_results() -> None:
    x = np.ones(2)
    for dtypes in (np.float64, np.dtype("f8"), "f8", "double", float, [np.float64], {"float64"}):
        op = wb.op("several::typed(Tensor x) -> (Tensor lo, Tensor hi)", lambda x: (x, x))
        op.register_kernel("cpu", lambda x: (x - 1, x + 1), dtypes=dtypes)
        assert op(x).lo.tolist() == [0, 0] and op(x.astype(np.float32)).hi.tolist() == [1, 1]
    for wrong in (5, "x", [np.floating, "x"]):
        with pytest.raises(wb.ArgumentError):
            op.register_kernel("cpu", lambda x: (x, x), dtypes=wrong)
    for names in ("(Tensor _a, Tensor _b)", "(Tensor lo, Tensor lo)"):
        assert type(wb.op(f"several::typed(Tensor x) -> {names}", lambda x: (x, x))(x)) is tuple
    for words in ("several::in(Tensor x) -> Tensor", "several::f.in(Tensor x) -> Tensor", "several::f(Tensor x) -> (Tensor class, Tensor b)"):
        with pytest.raises(wb.ArgumentError, match="a word of the language"):
            wb.op(words, lambda x: x)
    with pytest.raises(wb.ArgumentError, match="cannot serve its own calls"):
        op.register_kernel("cpu", op)


def test_registering_while_others_call(neg: wb.Op) -> None:
    neg.register_kernel("cpu", lambda x: -x, dtypes=["float64"])
    stop, wrong = threading.Event(), []

    def work(dtype: str) -> None:
        x = np.ones(4, dtype)
        while not stop.is_set():
            try:
                if neg(x)[0] != -1:
                    wrong.append("wrong")
            except Exception as error:  # what came is the finding
                wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(dtype,)) for dtype in ("float32", "float64")]
    for thread in threads:
        thread.start()
    for _ in range(300):
        neg.register_kernel("cpu", lambda x: -x, dtypes=["float64"])
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_device_is_asked_for_at_once():
    op = wb.op("register::plain(Tensor x) -> Tensor", "__global__ void plain(const float* x, float* y, int n) { y[0] = x[0]; }", shape="x[n] -> y[n]")
    for wrong in (lambda x: x * 100, "gpu", None):
        with pytest.raises(wb.ArgumentError, match='it must be "cpu" or "cuda"'):
            op.register_kernel(wrong)

"""Exceptions of host code: what goes on to Python, what is no exception, mistakes. What is caught and destroyed, and when, is in
`test_plain_cpp.py`."""

import subprocess
import sys

import numpy as np
import pytest

import workbench as wb


def module(text, *functions):
    return wb.load_inline("exceptions", "#include <torch/extension.h>\n" + text, functions=list(functions))


CATCH_ALL = """
void fault(int64_t);
int64_t tried(int64_t how) {
    try {
        fault(how);
    } catch (...) {
        return 1;
    }
    return 0;
}
"""


def test_what_is_not_caught_goes_on_to_python_with_its_place():
    m = module(
        """
struct Own { int n; };
struct Mine : std::out_of_range { using std::out_of_range::out_of_range; };
static void deep(int64_t how) {
    if (how == 0) throw std::invalid_argument("bad value");
    if (how == 1) throw Own{3};
    if (how == 2) throw Mine("mine");
    TORCH_CHECK_INDEX(how != 3, "index ", how);
    TORCH_CHECK(how != 4, "checked ", how);
}
void f(int64_t how) {
    std::vector<int64_t> kept(how);
    try {
        deep(how);
    } catch (const std::bad_alloc&) {
    }
}
void again(int64_t how) {
    try {
        f(how);
    } catch (...) {
        throw;
    }
}
""",
        "f",
        "again",
    )
    for function in (m.f, m.again):
        for how, kind, text, line in [
            (0, ValueError, "bad value", 6),
            (1, RuntimeError, "unknown exception", 7),
            (2, IndexError, "mine", 8),
            (3, IndexError, "index 3", 9),
            (4, RuntimeError, "checked 4", 10),
        ]:
            with pytest.raises(kind, match=text) as caught:
                function(how)
            # The place is where it was thrown, not where it went on.
            assert f"main.cpp:{line}:" in str(caught.value)
        assert function(5) is None


def test_faults_are_no_exceptions():
    m = module(
        CATCH_ALL
        + """
#include <cuda_runtime.h>
__global__ void wild(float* x) { x[1000000] = 1; }
static int64_t endless(int64_t n) { return n < 0 ? 0 : endless(n + 1) + 1; }
void fault(int64_t how) {
    std::vector<int> v(3);
    int* null = nullptr;
    if (how == 0) v.data()[70] = 1;
    if (how == 1) *null = 1;
    if (how == 2) v[0] = 1 / (int)(how - 2);
    if (how == 3) assert(how == 2);
    if (how == 4) endless(0);
    if (how == 5) wild<<<1, 1>>>(torch::zeros({4}, torch::kCUDA).data_ptr<float>());
    if (how == 6) throw 1;
}
""",
        "tried",
    )
    for how in range(6):
        with pytest.raises(wb.KernelFault):
            m.tried(how)
        assert m.tried(6) == 1
        assert m.tried(7) == 0


def test_an_interrupt_is_no_exception():
    text = "#include <torch/extension.h>\n" + CATCH_ALL + "void fault(int64_t how) { while (how) { } }"
    code = f'''
import signal, threading, workbench as wb
m = wb.load_inline("endless", {text!r}, functions=["tried"])
threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
try:
    m.tried(1)
except KeyboardInterrupt:
    print("interrupted")
print(m.tried(0))
'''
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["interrupted", "0"], done.stderr


def test_tensors_made_before_and_after():
    m = module(
        """
torch::Tensor first_that_works(std::vector<torch::Tensor> all, torch::Tensor by) {
    for (auto& one : all) {
        try {
            auto twice = one + one;
            return torch::mm(twice, by);
        } catch (const c10::Error& e) {
            TORCH_WARN("skipped: ", e.what());
        }
    }
    throw std::runtime_error("none works");
}
""",
        "first_that_works",
    )
    rng = np.random.default_rng(3)
    a, b, by = (rng.standard_normal(s).astype(np.float32) for s in ((3, 4), (5, 2), (2, 6)))
    with pytest.warns(UserWarning, match="skipped: mat1 and mat2 shapes cannot be multiplied"):
        result = m.first_that_works([a, b], by)
    # Sums of two products, each rounded once, of numbers below 10.
    np.testing.assert_allclose(result, 2 * b.astype(np.float64) @ by, atol=1e-5)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="none works"):
        m.first_that_works([a, a], by)


@pytest.mark.parametrize(
    "text, message, line",
    [
        ("void f() { try { } }", "`try` needs a `catch`", 2),
        ("void g() { }\nint64_t f() try { return 1; }", "`try` needs a `catch`", 3),
        ("void f() { try { } catch (...) { } catch (int) { } }", "never reached", 2),
        ("void f() { try { } catch (Unknown& e) { } }", "unknown type `Unknown`", 2),
        ("void f() { try { } catch (auto e) { } }", "`auto` needs an initialiser", 2),
        ("void f() { try { } catch (int e) { e.x(); } }", "`int` has no members", 2),
        ("void f() { try { } catch (int e = 3) { } }", "no value of its own", 2),
        ("struct S;\nvoid f() { try { } catch (S& e) { } }", "what it holds is not known", 3),
        ("void f() { try { } catch (void) { } }", "no exceptions of type `void`", 2),
        ("void f() { try { } catch int e { } }", "`(` is expected here, not `int`", 2),
        ("void f() { try int x; catch (...) { } }", "`{`", 2),
        ("void f() { catch (...) { } }", "`catch` without a `try` before it", 2),
        ("struct S { int x; S() try : x(1) { } catch (...) { } };\nvoid f() { S s; }", "a `try` round the whole of a constructor", 2),
        ("__global__ void k(int* x) { try { *x = 1; } catch (...) { } }\nvoid f() { }", "device code", 2),
        ("__device__ int d() { throw 1; }\nvoid f() { try { } catch (...) { } }", "device code", 2),
        ("void f() { try { int y = 1; } catch (...) { int z = y; } }", "unknown name `y`", 2),
    ],
)
def test_mistakes(text, message, line):
    with pytest.raises(wb.CompileError) as caught:
        module(text, "f")
    assert message in str(caught.value), caught.value
    assert f"main.cpp:{line}:" in str(caught.value), caught.value
    assert "__wb" not in str(caught.value), caught.value
    assert module("int64_t f() { try { throw 3; } catch (int x) { return x; } }", "f").f() == 3


def test_warnings_come_before_what_a_call_ends_in():
    m = module('void f() { TORCH_WARN("careful"); throw std::runtime_error("end"); }', "f")
    with pytest.warns(UserWarning, match="careful"), pytest.raises(RuntimeError, match="end"):
        m.f()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("std::abort();", "abort"),
        ("exit(3);", "exit"),
        ("std::terminate();", "terminate"),
        ("throw;", "without anything to throw"),
    ],
)
def test_the_end_of_a_process_ends_the_call(text, message):
    m = module(CATCH_ALL + "void fault(int64_t how) { if (how) { " + text + " } }", "tried")
    with pytest.raises(RuntimeError, match=message):
        m.tried(1)
    assert m.tried(0) == 0


@pytest.mark.parametrize("catches", [False, True])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("void fault(int64_t how) noexcept {\n    if (how) throw std::invalid_argument(\"out\");\n}", "fault"),
        ("void fault(int64_t how) noexcept(true) {\n    TORCH_CHECK(!how, \"out\");\n}", "fault"),
        ("void deeper() { throw std::runtime_error(\"out\"); }\nvoid fault(int64_t how) throw() {\n    if (how) deeper();\n}", "fault"),
        ("struct S { int64_t how; ~S() { if (how) throw std::runtime_error(\"out\"); } };\nvoid fault(int64_t how) {\n    S s{how};\n}", "S::~S"),
        ("void fault(int64_t how) {\n    auto f = [&]() noexcept { if (how) throw std::runtime_error(\"out\"); };\n    f();\n}", "lambda"),
        ("struct S { int n; S(int64_t how) noexcept { if (how) throw std::runtime_error(\"out\"); } };\nvoid fault(int64_t how) {\n    S s(how);\n}", "S::S"),
    ],
)
def test_an_exception_that_leaves_a_noexcept_function_ends_the_call(text, name, catches):
    head = CATCH_ALL if catches else "void fault(int64_t how);\nint64_t tried(int64_t how) { fault(how); return 0; }\n"
    m = module(head + text, "tried")
    with pytest.raises(RuntimeError) as caught:
        m.tried(1)
    shown = str(caught.value)
    assert f"an exception left a `noexcept` function, `{name}`" in shown and "out" in shown, shown
    assert m.tried(0) == 0


def test_many_exceptions_of_the_library_leave_nothing_behind():
    m = module(
        """
int64_t many(int64_t n) {
    int64_t caught = 0;
    for (int64_t i = 0; i < n; ++i) {
        try {
            TORCH_CHECK(false, "number ", i);
        } catch (const std::exception&) {
            ++caught;
        }
    }
    return caught;
}
""",
        "many",
    )
    # More than a call may have allocations (2^20): one left behind by each would be too many.
    assert m.many(1_100_000) == 1_100_000


def test_what_only_shapes_cannot_tell_is_not_caught():
    m = module(
        """
torch::Tensor f(torch::Tensor x) {
    try {
        return torch::zeros({x[0].item<int64_t>()});
    } catch (const std::exception&) {
        return torch::zeros({7});
    }
}
torch::Tensor g(torch::Tensor x) {
    try {
        return torch::mm(x, x);
    } catch (const std::exception&) {
        return torch::zeros({7});
    }
}
""",
        "f",
        "g",
    )
    assert m.f(np.array([3, 1])).shape == (3,)
    with pytest.raises(RuntimeError, match="give a shape function"):
        m.f.fake(wb.Spec((2,), "int64"))
    assert m.g.fake(wb.Spec((2, 3), "float32")).shape == (7,)
    assert m.g.fake(wb.Spec((3, 3), "float32")).shape == (3, 3)

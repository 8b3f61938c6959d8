"""Host code's functions as values: pointers to them, overloads chosen by a type, members defined outside of their class."""

import numpy as np
import pytest
import workbench as wb

X = np.arange(3, dtype=np.float32)
OVERLOADS = """
#include <torch/extension.h>
torch::Tensor g(torch::Tensor x) { return x + 1; }
torch::Tensor g(torch::Tensor x, double k) { return x * k; }
int64_t g(int64_t n) { return n * 7; }
"""


def load(text, **options):
    return wb.load_inline("pointers", cpp_sources=["#include <torch/extension.h>\n" + text], **options)


@pytest.mark.parametrize(
    "bind",
    [
        "static_cast<torch::Tensor(*)(torch::Tensor)>(&g), static_cast<torch::Tensor (*)(torch::Tensor, double)>(g)",
        "(torch::Tensor (*)(torch::Tensor))&g, (at::Tensor (*)(at::Tensor, double))g",
        "py::overload_cast<torch::Tensor>(&g), py::overload_cast<torch::Tensor, double>(&g)",
        "pybind11::overload_cast<at::Tensor>(g), pybind11::overload_cast<at::Tensor, double>(g)",
    ],
)
def test_overloads_are_bound_by_their_type(bind):
    # The two halves of a list: no comma stands outside of brackets but the one between them.
    at = next(i for i, c in enumerate(bind) if c == "," and bind[:i].count("<") == bind[:i].count(">") and bind[:i].count("(") == bind[:i].count(")"))
    m = load(OVERLOADS + 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", %s); m.def("h", %s); }' % (bind[:at], bind[at + 1 :]))
    np.testing.assert_array_equal(m.f(X), X + 1)
    np.testing.assert_array_equal(m.h(X, 3.0), X * 3)
    with pytest.raises(TypeError):
        m.f(X, 3.0)


@pytest.mark.parametrize("bind", ["py::overload_cast<float>(&g)", "static_cast<torch::Tensor(*)(int)>(&g)"])
def test_an_overload_that_there_is_not_is_an_error(bind):
    with pytest.raises(wb.CompileError) as error:
        load(OVERLOADS + 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", %s); }' % bind)
    assert "main.cpp" in str(error.value) and "f" in str(error.value)


@pytest.mark.parametrize(
    "declare", ["torch::Tensor (*p)(torch::Tensor) = &g;", "torch::Tensor (*p)(at::Tensor) = g;", "auto p = static_cast<Fn>(g);", "Fn p = &g;"]
)
def test_pointers_to_functions_of_tensors_are_declared(declare):
    text = OVERLOADS + "using Fn = torch::Tensor(*)(torch::Tensor); torch::Tensor f(torch::Tensor x) { %s return p(p(x)); }"
    np.testing.assert_array_equal(load(text % declare, functions=["f"]).f(X), X + 2)


STRUCT = "struct S { int* p; S(int* q); ~S(); operator int() const; operator double() const; int get() const; };"
OUTSIDE = """
S::S(int* q) : p(q) { *p += 1; }
S::~S() { *p += 10; }
S::operator int() const { return *p; }
S::operator double() const { return *p * 100; }
int S::get() const { return *p * 1000; }
"""
USE = "int use() { int k = 0; double r; { %s s(&k); r = (int)s + (double)s + s.get(); } return k + (int)r; }"
F = "torch::Tensor f(torch::Tensor x) { return x + use(); }"


def template(text):
    out = text.replace("int* p", "T* p").replace("int* q", "T* q")
    lines = [line.replace("S::", "S<T>::", 1) for line in out.strip().splitlines()]
    return "\n".join("template <typename T> " + line for line in lines)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("is_template", [True, False])
def test_special_members_are_defined_outside(is_template, before):
    struct, outside, name = (STRUCT, OUTSIDE, "S")
    if is_template:
        struct, outside, name = template(STRUCT), template(OUTSIDE), "S<int>"
    parts = [outside, USE % name] if before else [USE % name, outside]
    # Made: 1. The conversions give 1 and 100, the member 1000. Gone: 11.
    np.testing.assert_array_equal(load("\n".join([struct, *parts, F]), functions=["f"]).f(X), X + 11 + 1101)


def test_a_destructor_without_a_body_is_an_error():
    with pytest.raises(wb.CompileError, match="`S::~S` is called, and has no body"):
        load("struct S { int n; ~S(); }; torch::Tensor f(torch::Tensor x) { S s{1}; return x + s.n; }", functions=["f"])
    text = "struct S { int n; ~S() = default; }; torch::Tensor f(torch::Tensor x) { S s{1}; return x + s.n; }"
    np.testing.assert_array_equal(load(text, functions=["f"]).f(X), X + 1)


def test_copies_in_a_memory_format():
    text = """
    std::vector<torch::Tensor> f(torch::Tensor x) {
        auto last = at::MemoryFormat::ChannelsLast;
        return {x.clone(last), torch::zeros_like(x, last), torch::ones_like(x, at::MemoryFormat::Contiguous), x.clone(at::MemoryFormat::Preserve)};
    }
    std::vector<bool> g(torch::Tensor x) {
        auto last = at::MemoryFormat::ChannelsLast;
        return {x.clone(last).is_contiguous(last), torch::zeros_like(x, last).is_contiguous(last), x.clone().is_contiguous(last)};
    }
    """
    m = load(text, functions=["f", "g"])
    x = np.random.default_rng(3).standard_normal((2, 3, 4, 5)).astype(np.float32)
    for got, want in zip(m.f(x), [x, np.zeros_like(x), np.ones_like(x), x]):
        np.testing.assert_array_equal(got, want)
    assert m.g(x) == [True, True, False]


LOG = """
struct A { int* p; A(int* q) : p(q) { *p += 1; } A(const A& o) : p(o.p) { *p += 1; } ~A() { *p += 10; } };
"""


@pytest.mark.parametrize(
    "struct, gone",
    [
        ("struct Q { A a; Q(int* p) : a(p) {} ~Q() = default; };", 10),
        ("struct Q { A a; Q(int* p) : a(p) {} ~Q(); }; Q::~Q() = default;", 10),
        ("struct Q { A a, b; Q(int* p) : a(p), b(p) {} ~Q(); }; Q::~Q() {}", 20),
        ("struct Q : A { Q(int* p) : A(p) {} ~Q() = default; };", 10),
        ("template <typename T> struct R { T a; R(int* p) : a(p) {} ~R(); }; template <typename T> R<T>::~R() = default; using Q = R<A>;", 10),
        ("struct Q { std::vector<A> all; Q(int* p) { all.reserve(1); all.push_back(A(p)); *p = 2; } ~Q() = default; };", 10),
    ],
)
def test_defaulted_destructors_destroy_what_is_in_a_class(struct, gone):
    text = LOG + struct + "int use() { int k = 0; int before; { Q q(&k); before = k; } return k - before; }" + F
    np.testing.assert_array_equal(load(text, functions=["f"]).f(X), X + gone)


def test_constructors_are_defaulted_outside():
    text = """
    struct Q { int n = 5; torch::Tensor t; Q(); Q(int m) : n(m) {} };
    Q::Q() = default;
    torch::Tensor f(torch::Tensor x) { Q q; q.t = x; return q.t + q.n + Q(2).n; }
    """
    np.testing.assert_array_equal(load(text, functions=["f"]).f(X), X + 7)
    with pytest.raises(wb.CompileError, match="= default` outside of a class"):
        load("struct Q { int n; Q(const Q& o); }; Q::Q(const Q& o) = default;\n" + text, functions=["f"])


@pytest.mark.parametrize("order", [0, 1])
def test_the_address_of_a_name_is_a_plain_function_s_before_a_template_s(order):
    both = ["template <class T> int h(T a) { return 4; }", "int h(int a) { return 77; }"]
    text = "\n".join(both[::-1] if order else both) + """
    int apply(int (*p)(int)) { return p(0); }
    torch::Tensor f(torch::Tensor x) {
        int (*q)(int) = h;
        int (*r)(double) = &h;
        return x + q(1) + 1000 * static_cast<int (*)(int)>(&h)(1) + 1000000 * (apply(h) - 70) + 0.5 * r(1);
    }
    """
    np.testing.assert_array_equal(load(text, functions=["f"]).f(X), X + 77 + 77000 + 7000000 + 2)


@pytest.mark.parametrize(
    "own",
    [
        "template <typename T> __host__ __device__ void memcpy(T* d, const T* s, int n) { for (int i = 0; i < n; i++) d[i] = s[i]; }",
        "template <class... A> int memcpy(A...) { return -7; } template <class... A> int memset(A...) { return -7; }",
        "void memcpy(float* d, const float* s, int n) { for (int i = 0; i < n; i++) d[i] = s[i] + 100; }",
    ],
)
def test_functions_named_as_the_c_library_s_are_not_the_library_s(own):
    text = own + """
    torch::Tensor f(torch::Tensor x) {
        std::vector<float> v;
        for (int i = 0; i < 40; i++) v.push_back(i);
        std::vector<float> w = v;
        float sum = 0;
        for (float one : w) sum += one;
        return x + sum;
    }
    """
    np.testing.assert_array_equal(load(text, functions=["f"]).f(X), X + 780)

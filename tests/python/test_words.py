"""Texts of errors: the cause first, the place in the user's text, what to write instead; and that the next call works."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

HEAD = "#include <torch/extension.h>\n"
BAD = 'asm volatile("tcgen05.wait::ld.sync.aligned;");'
OTHER = "__global__ void other(float* y) { y[0] = 1; }\n"


def refused(text, **options):
    with pytest.raises(wb.CompileError) as caught:
        wb.compile(text, **options)
    assert "<table" in caught.value._repr_html_() or "<pre" in caught.value._repr_html_() or "<div" in caught.value._repr_html_()
    return caught.value


def host(text, *names, cuda=""):
    return wb.load_inline(name="words", functions=list(names), cpp_sources=HEAD + text, cuda_sources=cuda)


# --- what is left out


def test_the_cause_of_what_is_left_out_comes_first():
    text = f"""template <typename T> __device__ void mma(float* d) {{ {BAD} }}
template <int N, typename T> __global__ void product(float* d) {{ mma<T>(d); }}
void run(float* d) {{ auto kernel = product<4, float>; kernel<<<1, 32>>>(d); }}
"""
    error = refused(text)
    first = str(error).splitlines()
    assert first[0].startswith("error[WB0401]: inline PTX is not supported here: tcgen05") and ":1:" in first[1]
    assert "unknown" not in str(error) and "which no kernel needs" not in str(error)
    # An independent error is reported as well.
    error = str(refused(text + "__global__ void mine(float* y) { y[0] = nothing; }"))
    assert "unknown name `nothing`" in error


@pytest.mark.parametrize(
    ("overloads", "call", "value"),
    [
        (f"__device__ float g(float x) {{ return x; }}\n__device__ float g(double x) {{ {BAD} return x; }}", "g(y[0])", 7),
        (f"template <typename T> __device__ T g(T x) {{ return x; }}\ntemplate <typename T> __device__ T g(T x, int n) {{ {BAD} return x; }}", "g(y[0])", 7),
        ("__device__ float g(float x) { return x; }\nvoid g(float* p, int n) { std::thread t; }", "g(y[0])", 7),
        ("__device__ float g(float x) { return x; }\n__device__ float g(cudaTextureObject_t t) { return 1; }", "g(y[0])", 7),
    ],
)
def test_an_overload_that_is_left_out_leaves_its_siblings_alone(overloads, call, value):
    m = wb.compile(f"{overloads}\n__global__ void k(float* y) {{ y[0] = {call}; }}")
    y = np.full(1, 7, np.float32)
    m.k[1, 1](y)
    assert y[0] == value
    assert len(m.warnings) == 1 and "`g` is left out" in str(m.warnings[0])


def test_an_overload_that_is_called_is_not_left_out():
    # Else the call would mean another one.
    error = refused(f"__device__ float g(float x) {{ return x; }}\n__device__ float g(double x) {{ {BAD} return 2 * x; }}\n__global__ void k(float* y) {{ y[0] = g(1.0); }}")
    assert "inline PTX" in str(error)


def test_an_overload_of_unknown_types_makes_no_call_ambiguous():
    m = wb.compile(OTHER + "int h(float x) { return 1; } int h(std::thread& x) { return 2; }\nint f() { return h(1.f); }")
    assert m.f() == 1


# Host functions that are left out of a text with a kernel, by what the reason says and where it points at in the text.
LEFT_OUT = {
    "int f(int a) {\n  long double x = a;\n  return (int)x;\n}": ("`long double` is not supported (write `double`", "3:3"),
    "int f(int a, ...) {\n  return a;\n}": ("C variadic functions are not supported", "2:14"),
    "int f(std::thread* t) { return 1; }": ("unknown type `thread`", "2:7"),
}


@pytest.mark.parametrize("text", LEFT_OUT)
def test_who_asks_for_what_is_left_out_is_told_why_and_where(text):
    m = wb.compile(OTHER + text + "\nint g(int a) { return a; }")
    why, place = LEFT_OUT[text]
    for ask, kind in ((lambda: m.f, AttributeError), (lambda: m["f"], KeyError)):
        with pytest.raises(kind) as caught:
            ask()
        said = caught.value.args[0]
        assert "`f` is left out" in said and why in said and f"<kernel>:{place}" in said, said
    assert m.g(3) == 3


def test_the_reason_is_kept_beyond_the_warnings_that_are_shown():
    texts = [f"int f{i}(int a) {{ long double x = a; return (int)x; }}\n" for i in range(20)]
    m = wb.compile(OTHER + "".join(texts))
    with pytest.raises(AttributeError, match="`f19` is left out") as caught:
        _ = m.f19
    assert ":21:" in str(caught.value)


def test_load_inline_says_why_a_function_is_left_out():
    left = OTHER + "int f(int a) {\n  long double x = a;\n  return (int)x;\n}\nint g(int a) { return a; }"
    with pytest.raises(wb.CompileError, match="`long double` is not supported") as caught:
        wb.load_inline("left", "int f(int a);", left, ["f"])
    assert "cuda.cu:3:3" in str(caught.value)
    m = wb.load_inline("left", "", left, ["g"])
    assert m.g(4) == 4
    with pytest.raises(AttributeError, match="`long double` is not supported") as caught:
        _ = m.f
    assert "cuda.cu:3:3" in str(caught.value)
    with pytest.raises(AttributeError, match="has no attribute 'h'"):
        _ = m.h


def test_a_registration_of_what_is_left_out_says_why():
    error = refused(HEAD + OTHER + "int f(int a) {\n  long double x = a;\n  return (int)x;\n}\nTORCH_LIBRARY(words_left, m) { m.def(\"f(int a) -> int\", &f); }")
    assert "`long double` is not supported" in str(error) and ":4:3" in str(error)


@pytest.mark.parametrize("kernel", [OTHER, ""])
def test_a_host_function_of_types_without_values_says_so(kernel):
    m = wb.compile(kernel + "int f(int** p) { return 1; }\nint g(int a) { int* p = &a; return f(&p); }")
    with pytest.raises(AttributeError, match=r"`f\(int\*\* p\)` takes or gives a type"):
        _ = m.f
    assert m.g(1) == 1


# --- mistakes in host code that no kernel needs


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("k<<<1, 1>>>(y.data_ptr<float>());", "`k` takes 2 arguments, and 1 is given"),
        ("k<<<1, 1>>>(y.data_ptr<float>(), 1, 2);", "`k` takes 2 arguments, and 3 are given"),
        ("k<<<1, 1>>>(y.data_ptr<float>(), count);", "unknown name `count`"),
        ("kk<<<1, 1>>>(y.data_ptr<float>(), 3);", "unknown kernel `kk`"),
        ("helper(y);", "unknown function `helper`"),
        ("own(1, 2);", "`own` takes 1 argument"),
        ("break;", "break"),
    ],
)
def test_a_mistake_is_an_error_where_no_kernel_needs_the_function(code, message):
    error = refused(HEAD + f"__global__ void k(float* y, int n) {{ y[0] = n; }}\nint own(int a) {{ return a; }}\nvoid run(torch::Tensor y) {{ {code} }}")
    assert message in str(error) and ":4:" in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "void run(torch::Tensor y) { y.to_padded_tensor_of_mine(); }",
        "void run(std::vector<int> y) { std::jthread t; }",
        "#include <cufft.h>\nvoid run(float* y) { cufftHandle plan; cufftPlan1d(&plan, 8, CUFFT_C2C, 1); }",
        "void run(float* y) { cudaGraph_t graph; cudaGraphCreate(&graph, 0); }",
        "void run(std::string y) { char* copy = strdup(y.c_str()); }",
        "#include <mine/missing.h>\nvoid run(std::string y) { mine_does(y); }",
        "using namespace std;\nvoid run(torch::Tensor y) { quoted(y); }",
    ],
)
def test_what_only_we_do_not_know_is_a_warning_still(text):
    m = wb.compile(HEAD + OTHER + text)
    assert any("left out" in str(w) for w in m.warnings)


# --- private members

CLASS = """
class Base {
protected:
    int inner;
    __host__ __device__ int half() const { return inner / 2; }
    __host__ __device__ int third() const { return inner / 3; }
private:
    int secret;
    struct Part { int v; };
    static constexpr int limit = 7;
    __host__ __device__ int twice() const { return 2 * secret; }
    friend __host__ __device__ int told(const Base& b);
    friend class Friend;
public:
    __host__ __device__ Base(int a = 3) : inner(a), secret(a + 1) {}
    __host__ __device__ int sum() const { return inner + secret + twice() + limit; }
    __host__ __device__ bool same(const Base& other) const { return secret == other.secret; }
    struct Open { Base* of; __host__ __device__ int look() { return of->secret; } };
    int open;
};
__host__ __device__ inline int told(const Base& b) { return b.secret; }
class Friend { public: __host__ __device__ static int look(const Base& b) { return b.secret + b.twice(); } };
class Child : public Base { public: __host__ __device__ int mine() const { return inner + half(); } using Base::third; };
class Closed : Base { public: __host__ __device__ int mine() const { return sum(); } };
class Only { __host__ __device__ Only() {} public: int v; __host__ __device__ static Only make() { Only o; o.v = 5; return o; } };
template <typename T> class Box { T value; template <typename U> friend class Box; public: __host__ __device__ Box(T v) : value(v) {}
    template <typename U> __host__ __device__ T with(const Box<U>& o) const { return value + o.value; } };
class Filled { int a; public: int b; };
"""


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("Base b(3); y[0] = b.sum();", 3 + 4 + 8 + 7),
        ("Base b(3), c(4); y[0] = b.same(c) ? 1 : 2;", 2),
        ("y[0] = told(Base(3));", 4),
        ("y[0] = Friend::look(Base(3));", 4 + 8),
        ("Child c; y[0] = c.mine() + c.third();", 3 + 1 + 1),
        ("Closed c; y[0] = c.mine();", 22),
        ("y[0] = Only::make().v;", 5),
        ("Base b(3); Base::Open o{&b}; y[0] = o.look();", 4),
        ("y[0] = Box<int>(3).with(Box<float>(4.0f));", 7),
        ("Filled f{}; y[0] = f.b;", 0),
        ("Base b(3); auto f = [](const Base& b) { return b.sum(); }; y[0] = f(b);", 22),
    ],
)
def test_who_may_use_private_members_does(code, value):
    m = wb.compile(CLASS + f"__global__ void k(int* y) {{ {code} }}")
    y = np.zeros(1, np.int32)
    m.k[1, 1](y)
    assert y[0] == value


@pytest.mark.parametrize(
    ("code", "name", "word"),
    [
        ("Base b; y[0] = b.secret;", "Base::secret", "private"),
        ("Base b; b.secret = 3;", "Base::secret", "private"),
        ("Base b; Base* p = &b; y[0] = p->inner;", "Base::inner", "protected"),
        ("Base b; y[0] = b.twice();", "Base::twice", "private"),
        ("Base b; y[0] = b.half();", "Base::half", "protected"),
        ("y[0] = Base::limit;", "Base::limit", "private"),
        ("Base::Part p; y[0] = p.v;", "Base::Part", "private"),
        ("Child c; y[0] = c.secret;", "Base::secret", "private"),
        ("Closed c; y[0] = c.open;", "Closed::open", "private"),
        ("Closed c; y[0] = c.sum();", "Closed::sum", "private"),
        ("Only o; y[0] = o.v;", "Only::Only", "private"),
        ("Base b; auto f = [&] { return b.secret; }; y[0] = f();", "Base::secret", "private"),
        ("y[0] = Box<int>(3).value;", "Box<int>::value", "private"),
    ],
)
def test_nobody_else_may(code, name, word):
    error = refused(CLASS + f"__global__ void k(int* y) {{ {code} }}")
    assert f"error[WB0318]: `{name}` is {word}: only `{name.split('::')[0]}` and its friends may use it" in str(error)
    assert "declared here" in str(error)


def test_a_class_with_private_members_is_no_aggregate():
    assert "`Filled` cannot be filled from a list: its member `a` is private" in str(refused(CLASS + "__global__ void k(int* y) { Filled f{1, 2}; y[0] = f.b; }"))


def test_members_of_private_classes_in_host_code_and_in_methods_of_others():
    with pytest.raises(wb.CompileError, match="`Counter::n` is private"):
        host("class Counter { int n = 0; public: void up() { ++n; } }; int64_t f() { Counter c; c.up(); return c.n; }", "f")
    m = host("class Counter { int n = 0; public: void up() { ++n; } int get() const { return n; } }; int64_t f() { Counter c; c.up(); return c.get(); }", "f")
    assert m.f() == 1
    assert "is private" in str(refused("class A { int x; }; struct B { A a; __device__ int look() { return a.x; } }; __global__ void k(int* y) { B b; y[0] = b.look(); }"))


# --- lifetimes


@pytest.mark.parametrize(
    "code",
    [
        "int* p; { int x = 3; p = &x; } y[0] = *p;",
        "int* p = y; { int x[4] = {1, 2, 3, 4}; p = x + 1; } y[0] = p[1];",
        "int* p = nullptr; for (int i = 0; i < 2; ++i) { int x = i; if (p) y[0] = *p; p = &x; }",
        "int* p = y; int* q = y; { int x = 3; q = &x; p = q; } y[0] = *p;",
        "const int* p = y; if (y[0] == 0) { struct { int a, b; } s = {1, 2}; p = &s.b; } y[0] = *p;",
        "int* p = y; { int x = 3; p = &x; } *p = 4;",
    ],
)
def test_a_pointer_kept_past_the_scope_of_a_variable_faults_where_it_is_used(code):
    m = wb.compile(f"__global__ void k(int* y) {{ {code} }}\n__global__ void fine(int* y) {{ y[0] = 1; }}")
    y = np.zeros(4, np.int32)
    with pytest.raises(wb.KernelFault, match="through a pointer to a variable whose scope has ended"):
        m.k[1, 1](y)
    m.fine[1, 1](y)
    assert y[0] == 1
    with pytest.raises(wb.KernelFault, match="through a pointer to a variable whose scope has ended"):
        host(f"int64_t f() {{ int y[4] = {{0}}; {code} return y[0]; }}", "f").f()


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("int* p = y; { int x = 3; p = &x; y[1] = *p; p = y + 1; } y[0] = *p;", 3),
        ("int* p = y; if (y[0] != 0) { int x = 3; p = &x; } y[0] = *p + 1;", 1),
        ("int a = 5; int* p = &a; { int x = 3; int* q = &x; p = y[0] ? q : p; } y[0] = *p;", 5),
        ("int* p; for (int i = 0; i < 3; ++i) { int x = i; p = &x; y[0] += *p; }", 3),
        ("int x = 4; int* p; { p = &x; } y[0] = *p;", 4),
    ],
)
def test_pointers_that_are_used_in_time_are_as_ever(code, value):
    y = np.zeros(4, np.int32)
    wb.compile(f"__global__ void k(int* y) {{ {code} }}").k[1, 1](y)
    assert y[0] == value


FREED = """
__global__ void k(float* y) { y[threadIdx.x] = 3; }
float launch(int n) {
    float* d;
    cudaMalloc(&d, n * 4);
    cudaFree(d);
    k<<<1, n>>>(d);
    cudaDeviceSynchronize();
    return 1;
}
float copy(int n) {
    float *d, r = 2;
    cudaMalloc(&d, n * 4);
    cudaFree(d);
    cudaMemcpy(&r, d + 1, 4, cudaMemcpyDeviceToHost);
    return r;
}
float own(int n) {
    float* d = (float*)malloc(n * 4);
    d[0] = 1;
    free(d);
    return d[0];
}
float fine(int n) { float* d; cudaMalloc(&d, n * 4); k<<<1, n>>>(d); float r; cudaMemcpy(&r, d, 4, cudaMemcpyDeviceToHost); cudaFree(d); return r; }
"""


@pytest.mark.parametrize(("name", "line"), [("launch", 6), ("copy", 14), ("own", 21)])
def test_use_after_free_says_where_that_was(name, line):
    m = host("float launch(int n); float copy(int n); float own(int n); float fine(int n);", "launch", "copy", "own", "fine", cuda=FREED)
    with pytest.raises(Exception) as caught:
        getattr(m, name)(8)
    assert "freed" in str(caught.value) and f"at line {line}" in str(caught.value)
    if name == "launch":
        assert "writes index 0 of `y`, which was freed by `cudaFree(d)` at line 6" in str(caught.value)
    assert m.fine(8) == 3


# --- advice


def test_a_variable_is_no_attribute_and_the_message_says_how_to_reach_it():
    m = wb.compile("__constant__ float w[3]; __device__ int n; __global__ void k(float* y) { y[0] = w[0] + n; }")
    with pytest.raises(AttributeError, match=r'`w` is a variable of the text: write m\.symbol\("w"\)'):
        m.w  # noqa: B018
    with pytest.raises(KeyError, match="symbol"):
        m["n"]
    assert m.symbol("w").get().tolist() == [0, 0, 0]


@pytest.mark.parametrize("call", ["malloc(16)", "calloc(4, 4)"])
def test_a_heap_in_a_kernel_gets_advice(call):
    error = str(refused(f"__global__ void k(int* y) {{ int* p = (int*){call}; p[0] = 1; free(p); }}"))
    assert "heap in a kernel" in error and "pass a scratch buffer as a parameter" in error
    assert "__device__" not in error and "<std_containers>" not in error


def test_grid_sync_gets_advice():
    text = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups; __global__ void k(int* y) { auto g = cg::this_grid(); y[g.thread_rank()] = 1; g.sync(); }"
    error = str(refused(text))
    assert "`grid_group::sync` is not supported" in error and "launch a second one for the rest" in error and "deleted" not in error


ROW = "__global__ void topk_kernel(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }\n"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (ROW, 'write "topk_kernel"'),
        (ROW + ROW.replace("topk_kernel", "topq"), 'did you mean "topq"'),
        (ROW + "__device__ float topk(float x) { return x; }\n__global__ void u(float* y) { y[0] = topk(y[0]); }", "write `__global__` before it"),
        ("__device__ float other(float x) { return x; }", "write `__global__` before a function"),
    ],
)
def test_a_missing_kernel_says_what_to_write(text, hint):
    with pytest.raises(wb.ArgumentError) as caught:
        wb.op("words::topk(Tensor x) -> Tensor", text, kernel="topk", shape="x[n] -> y[n]")
    assert "there is no kernel `topk`" in str(caught.value) and hint in str(caught.value)


def test_a_host_function_of_unknown_types_is_named_with_them():
    with pytest.raises(wb.ArgumentError) as caught:
        wb.op("words::of(Tensor x) -> Tensor", HEAD + "struct Q {}; torch::Tensor of(torch::Tensor x, Q mode) { return x; }")
    assert "`of(torch::Tensor x, Q mode)` takes or gives a type" in str(caught.value)


def test_what_an_argument_must_be_is_said_at_the_parameter():
    m = host("int64_t f(int64_t a, const std::string& s) { return a + s.size(); }\nvoid g(torch::Tensor x, double by) {}", "f", "g")
    for call, message in (
        (lambda: m.f("x", "a"), "f(): argument 1 (a) must be int, not str"),
        (lambda: m.f(1, 2), "f(): argument 2 (s) must be str, not int"),
        (lambda: m.g(1.5, 2.0), "g(): argument 1 (x) must be Tensor, not float"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value).startswith(message)
        assert "<torch>" not in str(caught.value) and "__WB" not in str(caught.value) and "main.cpp" in str(caught.value)
    assert m.f(2, "abc") == 5


# --- words of the libraries


@pytest.mark.parametrize("kind", ["c10::string_view", "std::string_view", "std::string", "const std::string_view"])
def test_views_of_strings_are_strings(kind):
    name = kind.replace("::", "_").replace(" ", "_")
    op = wb.op(f"words::{name}(Tensor x, str mode='a') -> Tensor", HEAD + f'torch::Tensor {name}(const torch::Tensor& x, {kind} mode) {{ return mode == "neg" ? -x : x * 2; }}')
    x = np.ones(2, np.float32)
    assert op(x).tolist() == [2, 2] and op(x, "neg").tolist() == [-1, -1]


def test_arrays_whose_length_is_known_as_they_run():
    m = host(
        """
        int64_t sum(std::vector<torch::Tensor> k) { int n = k.size(); int64_t p[n]; for (int i = 0; i < n; i++) p[i] = k[i].numel(); int64_t s = 0; for (int64_t i = 0; i < n; ++i) s += p[i]; return s; }
        int64_t loops(int64_t n) { int64_t s = 0; for (int64_t i = 1; i <= n; ++i) { int a[i]; a[i - 1] = i; if (i == 3) continue; s += a[i - 1]; if (s > 100) return s; } return s; }
        int64_t past(int64_t n) { int a[n]; a[0] = 0; return a[n]; }
        double rows(int64_t n) { double a[n][3]; a[n - 1][2] = 2.5; return a[n - 1][2]; }
        int64_t size(int64_t n) { return n; }
        """,
        "sum", "loops", "past", "rows", "size",
    )
    assert m.sum([np.zeros((2, 3), np.float32), np.zeros(4, np.float32)]) == 10
    assert m.loops(5) == 1 + 2 + 4 + 5
    assert m.rows(4) == 2.5
    with pytest.raises(wb.KernelFault, match="out-of-bounds"):
        m.past(4)
    with pytest.raises(Exception, match="no memory"):
        m.past(-4)
    assert m.size(1) == 1
    with pytest.raises(wb.CompileError, match="must be known when compiling"):
        wb.compile("__global__ void k(int n) { int a[n]; a[0] = n; }")
    with pytest.raises(wb.CompileError):
        host("int64_t f(int64_t n) { int a[n]; return sizeof(a); }", "f")


def test_tensors_that_become_others():
    m = host(
        """
        torch::Tensor other(torch::Tensor n) { auto p = torch::zeros({2}); auto q = p; q.set_(n * 2); return p; }
        torch::Tensor grown(torch::Tensor n) { auto p = torch::ones({2}); p.resize_(n.sizes()); p.copy_(n); return p; }
        torch::Tensor kept() { auto p = torch::arange(6, torch::kFloat); p.resize_({2, 2}); return p; }
        torch::Tensor same(torch::Tensor p, torch::Tensor n) { p.resize_(n.sizes()); p.copy_(n); return p; }
        """,
        "other", "grown", "kept", "same",
    )
    n = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert m.other(n).tolist() == (2 * n).tolist() and m.grown(n).tolist() == n.tolist()
    assert m.kept().tolist() == [[0, 1], [2, 3]]
    out = np.zeros((2, 3), np.float32)
    m.same(out, n)
    assert out.tolist() == n.tolist()
    with pytest.raises(Exception, match="return the tensor instead"):
        m.same(np.zeros(2, np.float32), n)


def test_torch_s_newer_names():
    m = host(
        """
        #include <ATen/Dispatch_v2.h>
        std::tuple<torch::Tensor, torch::Tensor> mode(torch::Tensor x, int64_t dim, bool keep) { return x.mode(dim, keep); }
        torch::Tensor left(torch::Tensor x, torch::Tensor by) { return torch::bitwise_left_shift(x, by); }
        torch::Tensor right(torch::Tensor x, int64_t by) { return x.bitwise_right_shift(by); }
        torch::Tensor norm(torch::Tensor x, torch::Tensor w) { return torch::rms_norm(x, {x.size(1)}, w); }
        torch::Tensor twice(torch::Tensor i) {
            auto y = torch::empty_like(i);
            AT_DISPATCH_V2(i.scalar_type(), "twice", AT_WRAP([&] {
                auto p = i.data_ptr<scalar_t>(); auto q = y.data_ptr<scalar_t>();
                for (int64_t k = 0, n = i.numel(); k < n; k++) q[k] = p[k] * 2;
            }), AT_EXPAND(AT_INTEGRAL_TYPES), torch::kFloat);
            return y;
        }
        """,
        "mode", "left", "right", "norm", "twice",
    )
    x = np.array([[3, 1, 3, 1, 2], [5, 5, 4, 4, 4], [1, 2, 3, 4, 5]], np.int32)
    values, places = m.mode(x, 1, False)
    # torch 2.15 gives these.
    assert values.tolist() == [1, 4, 1] and places.tolist() == [3, 4, 0]
    values, places = m.mode(x, 0, True)
    assert values.tolist() == [[1, 1, 3, 4, 2]] and places.tolist() == [[2, 0, 2, 2, 0]] and values.shape == (1, 5)
    a = np.array([1, -3, 127, 5], np.int8)
    assert m.left(a, np.array([1, 2, 3, 9], np.int8)).tolist() == [2, -12, -8, 0]
    assert m.right(np.array([-8, 7, -1], np.int8), 1).tolist() == [-4, 3, -1]
    assert m.right(np.array([-8, 7], np.int32), 40).tolist() == [-1, 0]
    f = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
    w = np.arange(8, dtype=np.float32)
    want = f / np.sqrt((f.astype(np.float64) ** 2).mean(1, keepdims=True) + np.finfo(np.float32).eps) * w
    # A mean of eight squares, a root, two products: a handful of roundings.
    np.testing.assert_allclose(m.norm(f, w), want, rtol=1e-6, atol=1e-6)
    for dtype in (np.uint8, np.int64, np.float32):
        assert m.twice(np.array([1, 2, 3], dtype)).tolist() == [2, 4, 6]
    ties = m.mode(np.array([2, 1, 2, 1, 1, 2], np.float32), 0, False)
    assert [ties[0].tolist(), ties[1].tolist()] == [1, 4]
    with pytest.raises(NotImplementedError, match="\"twice\" not implemented for 'Double'"):
        m.twice(np.ones(3))

"""Kernels of texts whose host code launches them: their code is made while the rest of the text is being read, and what comes of it must
not depend on that, whatever stands where, and whatever is wrong where."""

import os
import threading

import numpy as np
import pytest

import workbench as wb

from fused import fma

HEAD = "#include <torch/extension.h>\n#include <cuda_runtime.h>\n"


def module(text, functions, **options):
    return wb.load_inline(name="ahead", cpp_sources="", cuda_sources=HEAD + text, functions=functions, **options)


def test_variables_are_shared_wherever_they_are_declared():
    m = module(
        """
__device__ float before[4] = {1, 2, 3, 4};
__global__ void add(float* x, const float* other) { x[threadIdx.x] += before[threadIdx.x] + other[threadIdx.x]; }
__constant__ float scale[2] = {10, 100};
__device__ float behind[4] = {5, 6, 7, 8};
__global__ void change() { before[threadIdx.x] *= scale[1]; behind[threadIdx.x] += scale[0]; }
at::Tensor f(at::Tensor x) {
    // `add` was whole before `behind` was declared.
    void* address = nullptr;
    cudaGetSymbolAddress(&address, behind);
    add<<<1, 4>>>(x.data_ptr<float>(), (const float*)address);
    return x;
}
void g() { change<<<1, 4>>>(); }
void set(double a, double b) { float s[2] = {(float)a, (float)b}; cudaMemcpyToSymbol(scale, s, sizeof(s)); }
std::vector<double> get() {
    float b[4], e[4];
    cudaMemcpyFromSymbol(b, before, sizeof(b));
    cudaMemcpyFromSymbol(e, behind, sizeof(e));
    return {b[0], b[1], b[2], b[3], e[0], e[1], e[2], e[3]};
}
""",
        ["f", "g", "set", "get"],
    )
    x = np.array([0.5, 1.5, 2.5, 3.5], np.float32)
    np.testing.assert_array_equal(m.f(x.copy()), x + [6, 8, 10, 12])
    m.set(3, 2)
    m.g()
    assert m.get() == [2, 4, 6, 8, 8, 9, 10, 11]
    np.testing.assert_array_equal(m.f(x.copy()), x + [10, 13, 16, 19])


@pytest.mark.parametrize("count", [1, 7, 8, 9, 40])
def test_many_kernels_between_functions(count):
    one = """
__device__ int total{i};
__global__ void k{i}(int* y) {{ total += {i}; total{i} = total; y[{i}] = total{i} * 1000 + {i}; }}
void h{i}(at::Tensor y) {{ k{i}<<<1, 1>>>(y.data_ptr<int>()); }}
"""
    all_of_them = "".join(one.format(i=i) for i in range(count))
    last = "void f(at::Tensor y) { " + " ".join(f"h{i}(y);" for i in range(count)) + " }"
    m = module("__device__ int total;\n" + all_of_them + last, ["f"])
    y = np.full(count, -1, np.int32)
    m.f(y)
    i = np.arange(count)
    np.testing.assert_array_equal(y, np.cumsum(i) * 1000 + i)


def test_instances_for_all_types():
    m = module(
        """
template <typename T, int N> __device__ __forceinline__ T twice(T x) { return x + x + T(N); }
template <typename T, int N> __global__ void k(const T* x, T* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = twice<T, N>(x[i]);
}
at::Tensor f(at::Tensor x, bool one) {
    auto y = torch::empty_like(x);
    AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "k", [&] {
        if (one) k<scalar_t, 1><<<3, 32>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
        else k<scalar_t, 0><<<3, 32>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
    });
    return y;
}
""",
        ["f"],
    )
    for dtype in [np.uint8, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64]:
        x = np.random.default_rng(3).integers(0, 30, 1001).astype(dtype)
        for one in (False, True):
            # Small integers are exact in every type.
            np.testing.assert_array_equal(m.f(x, one), x + x + dtype(one))


FAULTY = """
__device__ float table[3] = {1, 2, 3};
__global__ void good(float* x) { x[threadIdx.x] = 1; }
__global__ void bad(float* x, int i) {
    x[threadIdx.x] = table[i];
}
void f(at::Tensor x, int64_t i) {
    good<<<1, 4>>>(x.data_ptr<float>());
    bad<<<2, 4>>>(x.data_ptr<float>(), i);
}
"""


def test_faults_name_their_place():
    m = module(FAULTY, ["f"])
    x = np.zeros(4, np.float32)
    m.f(x, 2)
    np.testing.assert_array_equal(x, 3)
    for _ in range(2):
        with pytest.raises(wb.KernelFault, match="index 7 of `table`, which has 3 elements") as raised:
            m.f(x, 7)
        fault = raised.value
        assert (fault.kind, fault.kernel, fault.block, fault.thread) == ("out-of-bounds read", "bad", (0, 0, 0), (0, 0, 0))
        assert (HEAD + FAULTY).splitlines()[fault.line - 1].strip() == "x[threadIdx.x] = table[i];"
    m.f(x, 1)
    np.testing.assert_array_equal(x, 2)


def test_what_kernels_print(capfd):
    m = module(
        """
__global__ void first(int n) { printf("first %d of %s\\n", threadIdx.x, "two"); }
void say(const char* what) { printf("host says %s\\n", what); }
__global__ void second(float x) { printf("%g and %c\\n", x, 'z'); }
void f() { first<<<1, 2>>>(2); second<<<1, 1>>>(1.5f); say("done"); }
""",
        ["f"],
    )
    m.f()
    assert capfd.readouterr().out == "first 0 of two\nfirst 1 of two\n1.5 and z\nhost says done\n"


KERNEL = "__global__ void k(float* x) { x[threadIdx.x] += 1; }\n"
CALL = "void f(at::Tensor x) { k<<<1, 4>>>(x.data_ptr<float>()); }\n"


def works(text=KERNEL + CALL):
    x = np.arange(4, dtype=np.float32)
    module(text, ["f"]).f(x)
    np.testing.assert_array_equal(x, [1, 2, 3, 4])


@pytest.mark.parametrize(
    "wrong, line, says",
    [
        (KERNEL + "void f(at::Tensor x) {\n  k<<<1, 4>>>(x.data_ptr<float>(), 3);\n}\n", 5, "argument"),
        (KERNEL + "void f(at::Tensor x) {\n  nothing_of_this_name(x);\n}\n", 5, "nothing_of_this_name"),
        (KERNEL + CALL + "__global__ void late(float* x) {\n  x[0] = missing;\n}\n", 6, "missing"),
        ("__global__ void k(float* x) {\n  x[0] = missing;\n}\n" + CALL, 4, "missing"),
        (KERNEL + "__global__ void large() {\n  __shared__ double s[10000]; s[threadIdx.x] = 1;\n}\nvoid g() { large<<<1, 1>>>(); }\n" + CALL, 5, "shared"),
        (KERNEL + "__global__ void deep(float* x) {\n  float a[200000]; a[threadIdx.x] = 1; x[0] = a[3];\n}\nvoid g(at::Tensor x) { deep<<<1, 1>>>(x.data_ptr<float>()); }\n" + CALL, 5, "a thread has 524288"),
        # Too much for the back end alone, which inlines.
        (KERNEL + "__device__ float one(int i) { float a[80000]; a[i] = 1; return a[i / 2]; }\n__device__ float two(int i) { float a[80000]; a[i] = 2; return a[i / 3]; }\n__global__ void both(float* x, int i) { x[0] = one(i) + two(i); }\nvoid g(at::Tensor x) { both<<<1, 1>>>(x.data_ptr<float>(), 3); }\n" + CALL, 6, "640000 bytes of a thread's"),
    ],
)
def test_what_is_wrong_is_said_and_the_next_text_works(wrong, line, says):
    for _ in range(2):
        with pytest.raises(wb.CompileError, match=says) as raised:
            module(wrong, ["f"])
        assert line in [d.line for d in raised.value.diagnostics]
    works()


def test_kernels_that_need_the_whole_text():
    # Recursion, pointers to functions and bodies that come later.
    text = """
__device__ int later(int n);
__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
typedef int (*Op)(int);
__device__ int twice(int n) { return 2 * n; }
__device__ int thrice(int n) { return 3 * n; }
__global__ void recursive(int* y) { y[threadIdx.x] = factorial(threadIdx.x); }
__global__ void pointed(int* y) { Op o = threadIdx.x % 2 ? twice : thrice; y[threadIdx.x] += o(threadIdx.x); }
__global__ void forward(int* y) { y[threadIdx.x] += later(threadIdx.x); }
__global__ void plain(int* y) { y[threadIdx.x] += 1; }
void f(at::Tensor y) {
    int* p = y.data_ptr<int>();
    recursive<<<1, 6>>>(p); pointed<<<1, 6>>>(p); forward<<<1, 6>>>(p); plain<<<1, 6>>>(p);
}
__device__ int later(int n) { return 1000 * n; }
"""
    y = np.full(6, -1, np.int32)
    module(text, ["f"]).f(y)
    n = np.arange(6)
    np.testing.assert_array_equal(y, [1, 1, 2, 6, 24, 120] + np.where(n % 2, 2, 3) * n + 1000 * n + 1)


def test_a_text_that_is_read_again_without_a_part():
    # An unsupported declaration that no kernel needs is left out, and the text is read again.
    works(KERNEL + "struct Base { virtual ~Base() {} virtual int get() { return 1; } };\n" + CALL)


def test_pointers_into_the_middle():
    text = """
__global__ void shift(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i - 1] + x[i]; }
at::Tensor f(at::Tensor x) {
    auto y = torch::zeros({x.numel() - 1}, x.options());
    shift<<<1, 64>>>(x.data_ptr<float>() + 1, y.data_ptr<float>(), y.numel());
    return y;
}
"""
    x = np.random.default_rng(0).standard_normal(33).astype(np.float32)
    np.testing.assert_array_equal(module(text, ["f"]).f(x), x[:-1] + x[1:])


def test_threads_that_compile_at_once():
    failures = []

    def run(number):
        try:
            for turn in range(6):
                x = np.arange(4, dtype=np.float32)
                wb.load_inline(
                    name=f"ahead_{number}_{turn}",
                    cpp_sources="",
                    cuda_sources=HEAD + f"__device__ float by = {number};\n" + KERNEL.replace("+= 1", "+= by") + CALL,
                    functions=["f"],
                ).f(x)
                np.testing.assert_array_equal(x, np.arange(4) + number)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert failures == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_compiles():
    works()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            works(KERNEL + "// in a child\n" + CALL)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("tier", ["soon", "good", "auto"])
def test_tiers_agree(tier):
    text = """
__global__ void stride(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i] * x[i] + 1.0f;
}
at::Tensor f(at::Tensor x) {
    auto y = torch::empty_like(x);
    stride<<<7, 33>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
    x = np.random.default_rng(1).standard_normal(10_007).astype(np.float32)
    wb.set_tier(tier)
    try:
        m = module(text + f"// {tier}\n", ["f"])
        for _ in range(20):
            np.testing.assert_array_equal(m.f(x), fma(x, x, np.float32(1)))
    finally:
        wb.set_tier("auto")


def padded(text):
    """With host functions behind, so that kernels are made before the text is through."""
    pad = "torch::Tensor p{i}(torch::Tensor x) {{ auto y = torch::relu(x) * {i}; std::vector<int> v; v.push_back({i}); return y + v[0]; }}\n"
    head, _, last = text.rpartition("void f(")
    return head + "".join(pad.format(i=i) for i in range(40)) + "void f(" + last


READ_ONLY = {
    "sentinel": (
        """static const int Z[4] = {0, 0, 0, 0};
__device__ const int* table[4];
__global__ void fill(int* x) { int i = threadIdx.x; table[i] = (x[i] < 0) ? Z : nullptr; }
"""
        + "".join(f"__global__ void e{i}(int* x) {{ x[{i}] = 1; }}\n" for i in range(9))
        + """__global__ void use(int* x) { int i = threadIdx.x; x[i] = (table[i] == Z) ? 100 : x[i]; }
void f(torch::Tensor x) { fill<<<1, 4>>>(x.data_ptr<int>()); use<<<1, 4>>>(x.data_ptr<int>()); }""",
        [-1, 2, -3, 4],
        [100, 2, 100, 4],
    ),
    "of the host": (
        """static const int A[3] = {1, 2, 3};
__global__ void k(const int* h, int* x) { x[0] = (h == A); x[1] = h[2]; }
void f(torch::Tensor x) { k<<<1, 1>>>(A, x.data_ptr<int>()); }""",
        [0, 0],
        [1, 3],
    ),
    "letters": (
        """__global__ void k(int* x) { const char* t[2] = {"ab", "cd"}; x[0] = t[x[1] & 1][0]; }
void f(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<int>()); }""",
        [0, 1],
        [ord("c"), 1],
    ),
    "tables": (
        """static const float T[4] = {1, 2, 3, 4};
struct V { const float* p; int n; };
__global__ void k(int* x) { V v[2] = {{T, 4}, {T + 1, 3}}; x[0] = v[x[1] & 1].p[1]; }
void f(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<int>()); }""",
        [0, 1],
        [3, 1],
    ),
    "between kernels": (
        """__device__ const int A[3] = {5, 6, 7};
__device__ const int* q;
__global__ void s() { q = A; }
__global__ void k(int* x) { x[0] = q[x[1]]; }
void f(torch::Tensor x) { s<<<1, 1>>>(); k<<<1, 1>>>(x.data_ptr<int>()); }""",
        [0, 2],
        [7, 2],
    ),
}


@pytest.mark.parametrize("name", READ_ONLY)
def test_data_that_nobody_writes_is_at_one_place(name):
    text, given, wanted = READ_ONLY[name]
    # Several times: whether a kernel is made ahead depends on who is faster.
    for turn in range(12):
        x = np.array(given, np.int32)
        module(padded(text) + f"\n// {turn}\n", ["f"]).f(x)
        assert x.tolist() == wanted


def test_letters_that_kernels_leave_for_the_host(capfd):
    text = """__device__ const char* q;
__global__ void s() { q = "hello"; }
void f() { s<<<1, 1>>>(); const char* h; cudaMemcpyFromSymbol(&h, q, sizeof(h)); printf("%s\\n", h); }"""
    for turn in range(6):
        module(padded(text) + f"\n// {turn}\n", ["f"]).f()
    assert capfd.readouterr().out == "hello\n" * 6


def test_instances_are_told_of_in_their_order():
    text = """template <typename T> __device__ T h(T x) { return x.nope; }
template <typename T> __global__ void k(T* x) { x[0] = h(x[1]); }
void f(torch::Tensor x) {
    k<float><<<1, 1>>>(x.data_ptr<float>());
    k<double><<<1, 1>>>(x.data_ptr<double>());
    k<int><<<1, 1>>>(x.data_ptr<int>());
}"""
    with pytest.raises(wb.CompileError) as raised:
        module(text, ["f"])
    assert [d.message.split("`")[1] for d in raised.value.diagnostics] == ["float", "double", "int"]


@pytest.mark.parametrize("many", [74, 80])
def test_a_limit_of_the_program_does_not_depend_on_who_is_faster(many):
    kernel = "__global__ void k{i}(float* x, int n) {{ {body} }}\n"
    body = "".join(f"x[{q}] = x[n] + {q};" for q in range(1000))
    text = "".join(kernel.format(i=i, body=body) for i in range(many)) + "void f(torch::Tensor x) { k0<<<1, 1>>>(x.data_ptr<float>(), 1); }\n"
    for turn in range(2):
        with pytest.raises(wb.CompileError, match="`k71` is too large"):
            module(text + f"// {turn}", ["f"])
    works()

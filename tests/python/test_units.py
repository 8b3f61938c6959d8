"""Translation units: each file of `load`, each text of `load_inline`, is compiled alone and linked with the others by external names, as a
compiler and a linker would."""

from __future__ import annotations

import itertools
import pickle
import re

import numpy as np
import pytest
import random_projects

import workbench as wb


def load(folder, *texts):
    paths = []
    for i, text in enumerate(texts):
        path = folder / f"file{i}.cu"
        path.write_text(text)
        paths.append(str(path))
    return wb.load("units", paths)


def refused(folder, *texts):
    """The message, without the folder."""
    with pytest.raises(wb.CompileError) as caught:
        load(folder, *texts)
    return str(caught.value).replace(str(folder), "")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_static_function_calls_its_own_files_functions(tmp_path, order):
    text = "static float g() {{ return {0}; }} static float h() {{ return g(); }} float f{0}() {{ return h(); }}"
    m = load(tmp_path, *(text.format(i) for i in order))
    assert [m.f0(), m.f1(), m.f2()] == [0, 1, 2]


def test_constants_that_a_launch_is_made_of(tmp_path):
    text = """
    #include <torch/extension.h>
    static const int THREADS = {0};
    static int blocks(int n) {{ return (n + THREADS - 1) / THREADS; }}
    __global__ void fill{0}(float* y, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = {0}; }}
    torch::Tensor run{0}(int64_t n) {{
        auto y = torch::zeros({{n}}, torch::kCUDA);
        fill{0}<<<blocks(n), THREADS>>>(y.data_ptr<float>(), n);
        return y;
    }}
    """
    m = load(tmp_path, text.format(64), text.format(256))
    for threads in (64, 256):
        np.testing.assert_array_equal(getattr(m, f"run{threads}")(1000), np.full(1000, threads, np.float32))


@pytest.mark.parametrize("how", ["constexpr int", "const int", "static const int", "static constexpr int", "const unsigned char"])
def test_constants_are_each_files_own(tmp_path, how):
    m = load(tmp_path, *(f"{how} N = {n}; int t[N]; int f{n}() {{ return N + sizeof(t); }}".replace("int t", "static int t") for n in (3, 5)))
    assert (m.f3(), m.f5()) == (3 + 12, 5 + 20)


def test_macros_and_guards_are_each_files_own(tmp_path):
    (tmp_path / "guarded.h").write_text("#pragma once\n#ifndef G\n#define G\nstatic int guarded() { return FROM; }\n#endif\n")
    text = '#define FROM {0}\n#define F(x) (x + {0})\n#include "guarded.h"\n#include "guarded.h"\nint f{0}() {{ return guarded() * 10 + F(1) + __COUNTER__; }}'
    m = load(tmp_path, text.format(1), text.format(2))
    assert (m.f1(), m.f2()) == (12, 23)
    message = refused(tmp_path, "#define X 3\nint a() { return X; }", "int b() { return X; }")
    assert "file1.cu:1:18" in message and "unknown name `X`" in message


def test_usings_and_types_are_each_files_own(tmp_path):
    m = load(
        tmp_path,
        "struct S { int a; int get() { return a; } }; typedef int T; using namespace std; int f() { return S{7}.get() + sizeof(T); }",
        "struct S { double a, b; double get() { return b; } }; typedef double T; int g() { S s{1, 2}; return (int)s.get() + sizeof(T); }",
    )
    assert (m.f(), m.g()) == (11, 10)


def test_objects_of_one_name(tmp_path):
    text = """
    #include <functional>
    #include <vector>
    static const std::function<int(int)> twice = [](int x) {{ return {0} * x; }};
    static const std::vector<int> sizes = {{{0}, 2}};
    static int calls = {0};
    int f{0}(int x) {{ calls++; return twice(x) + sizes[0] + calls; }}
    """
    m = load(tmp_path, text.format(2), text.format(30))
    assert [m.f2(1), m.f2(1), m.f30(1)] == [2 + 2 + 3, 2 + 2 + 4, 30 + 30 + 31]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_host_code_and_kernels_in_three_files(tmp_path, order):
    texts = [
        """#include <torch/extension.h>
        void scale(torch::Tensor x, float by); int launches();
        torch::Tensor run(torch::Tensor x) { auto y = x.clone(); scale(y, 2); scale(y, launches()); return y; }""",
        """#include <torch/extension.h>
        extern int count;
        __global__ void scale_kernel(float* x, float by, int n);
        void scale(torch::Tensor x, float by) { count++; scale_kernel<<<(x.numel() + 31) / 32, 32>>>(x.data_ptr<float>(), by, x.numel()); }""",
        """int count = 1; int launches() { return count; }
        __device__ float times(float a, float b) { return a * b; }
        __global__ void scale_kernel(float* x, float by, int n) { int i = blockIdx.x * 32 + threadIdx.x; if (i < n) x[i] = times(x[i], by); }""",
    ]
    m = load(tmp_path, *(texts[i] for i in order))
    x = np.arange(100, dtype=np.float32)
    np.testing.assert_array_equal(m.run(x), x * 2 * 2)
    np.testing.assert_array_equal(m.run(x), x * 2 * 4)
    # A copy begins anew.
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(m.__workbench__)).run(x), x * 2 * 2)


def test_what_an_inline_function_keeps_is_one(tmp_path):
    (tmp_path / "counter.h").write_text(
        "#pragma once\ninline int next() { static int n = 10; return n++; }\ninline int total = 5;\n"
        "template <typename T> int tick() { static int n = sizeof(T); return n++; }\n"
        "inline int computed() { static int n = next() + 100; return n++; }\n"
    )
    text = '#include "counter.h"\nint f{0}() {{ return next() * 1000000 + tick<int>() * 10000 + ++total * 1000; }} int g{0}() {{ return computed(); }}'
    m = load(tmp_path, text.format(0), text.format(1))
    assert [m.f0(), m.f1(), m.f0()] == [10046000, 11057000, 12068000]
    assert [m.g1(), m.g0(), m.g1()] == [113, 114, 115]


def test_pointers_to_functions_go_between_files(tmp_path):
    m = load(
        tmp_path,
        "typedef int (*F)(int); F pick(int); static int add(int x) { return x + 1; } int f(int k, int x) { return pick(k)(x) + add(x); }",
        "typedef int (*F)(int); static int add(int x) { return x + 100; } static int mul(int x) { return 3 * x; } F pick(int k) { return k ? add : mul; }",
    )
    assert (m.f(0, 5), m.f(1, 5)) == (15 + 6, 105 + 6)
    kernels = load(
        tmp_path,
        "typedef float (*F)(float); __device__ float twice(float x) { return 2 * x; } __device__ F table[2] = {twice, nullptr};"
        "__global__ void a(float* y) { y[threadIdx.x] = table[0](y[threadIdx.x]); }",
        "typedef float (*F)(float); __device__ float more(float x) { return x + 1; }"
        "__global__ void b(float* y) { F f = more; y[threadIdx.x] = f(y[threadIdx.x]); }",
    )
    y = np.array([1, 2, 3], np.float32)
    kernels.a[1, 3](y)
    kernels.b[1, 3](y)
    np.testing.assert_array_equal(y, [3, 5, 7])


def test_device_code_is_each_files_own_unless_it_is_only_declared(tmp_path):
    text = "__device__ float f(float x) {{ return x + {0}; }} __constant__ float w[2] = {{{0}, {0}}}; __global__ void k{0}(float* y) {{ y[0] = f(w[1]); }}"
    m = load(tmp_path, text.format(1), text.format(2), "__device__ float g(float); __global__ void k3(float* y) { y[0] = g(3); }",
             "__device__ float g(float x) { return 10 * x; }")
    got = []
    for kernel in (m.k1, m.k2, m.k3):
        y = np.zeros(1, np.float32)
        kernel[1, 1](y)
        got.append(float(y[0]))
    assert got == [2, 4, 30]
    message = refused(tmp_path, text.format(1), text.format(2), "__device__ float f(float); __global__ void k(float* y) { y[0] = f(1); }")
    assert "`f` is used here, and two other files define it" in message and all(f"file{i}.cu" in message for i in range(3))


def test_templates_are_asked_for_where_they_are(tmp_path):
    m = load(
        tmp_path,
        "__device__ int bias = 3; int unrelated() { return 1; }",
        "template <typename T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }",
    )
    x = np.arange(4, dtype=np.float64)
    m.__workbench__["scale<double>"][1, 4](x, 2.0)
    np.testing.assert_array_equal(x, [0, 2, 4, 6])
    with pytest.raises((KeyError, wb.CompileError, wb.ArgumentError), match="nothing"):
        m.__workbench__["nothing<float>"][1, 4](x, 2.0)


@pytest.mark.parametrize(
    ("one", "two", "names"),
    [
        ("int counter = 1;", "int counter = 1;", "`counter` is defined in two files"),
        ("int f() { return 1; }", "int f() { return 1; }", "`f` is defined in two files"),
        ("__global__ void k(int* x) { }", "__global__ void k(int* x) { }", "`k` is defined in two files"),
        ('extern "C" int f(int x) { return x; }', 'extern "C" int f(int x) { return x; }', "`f` is defined in two files"),
        ("namespace n { int f() { return 1; } }", "namespace n { int f() { return 2; } }", "`f` is defined in two files"),
        ("extern const int n; const int n = 1;", "extern const int n; const int n = 1;", "`n` is defined in two files"),
        ("struct S { int f(); }; int S::f() { return 1; } int g() { return S().f(); }",
         "struct S { int f(); }; int S::f() { return 1; } int h() { return S().f(); }", "`S::f` is defined in two files"),
        ("int f(); int g() { return f(); }", "float f() { return 1; }", "`f` returns `float` here and `int` in another file"),
        ("extern int n; int g() { return n; }", "float n = 1;", "`n` is `float` here and `int` in another file"),
        ("struct S { int a; }; int f(S); int g() { S s{1}; return f(s); }", "struct S { float a; int b; }; int f(S s) { return s.b; }",
         "`S` has other members here than in another file, and `f` passes it between them"),
    ],
)
def test_what_two_files_may_not_both_say(tmp_path, one, two, names):
    for texts in ((one, two), (one, "int between() { return 0; }", two), (one, two + "__global__ void other(int* x) { }")):
        message = refused(tmp_path, *texts)
        assert names in message, message
        assert len(set(re.findall(r"file\d\.cu", message))) == 2, message
    # The next call works.
    assert load(tmp_path, "int f() { return 1; }").f() == 1


@pytest.mark.parametrize(
    ("one", "two", "line"),
    [
        ("int f();\nint g() { return f(); }", "static int f() { return 1; } int h() { return f(); }", "file0.cu:2:18"),
        ("extern int n;\nint g() { return n; }", "static int n = 1; int h() { return n; }", "file0.cu:2:18"),
        ("namespace n { int f(); }\nint g() { return n::f(); }", "namespace { int f() { return 1; } } int h() { return f(); }", "file0.cu:2:18"),
        ("__device__ int f(int);\n__global__ void k(int* y) { y[0] = f(1); }", "__device__ int f(float x) { return 1; }", "file0.cu:2:36"),
    ],
)
def test_what_no_file_defines(tmp_path, one, two, line):
    message = refused(tmp_path, one, two)
    assert line in message and ("has no body" in message or "nothing defines it" in message), message


def test_extern_and_the_definition_in_one_text():
    m = wb.compile("extern int n; int before() { return n; } int n = 7; extern int n; int after() { return n++; }")
    assert [m.before(), m.after(), m.before()] == [7, 7, 8]
    m = wb.compile('extern "C" const unsigned LIMIT; extern "C" const unsigned LIMIT = 64; unsigned f() { return LIMIT; }')
    assert m.f() == 64
    m = wb.compile("extern __device__ int d[3]; __global__ void k(int* y) { y[0] = d[2]; } __device__ int d[3] = {1, 2, 3};")
    y = np.zeros(1, np.int32)
    m.k[1, 1](y)
    assert y[0] == 3
    with pytest.raises(wb.CompileError, match="`n` is declared `extern`, and nothing defines it"):
        wb.compile("extern int n; int f() { return n; }")
    with pytest.raises(wb.CompileError, match="`n` is `double` here and `int` there"):
        wb.compile("extern int n; double n = 1; double f() { return n; }")


def test_load_inline_has_two_units():
    declared = "torch::Tensor f(torch::Tensor x);\n#define STEP 1\nstatic int own() { return 1; }\n"
    m = wb.load_inline(
        "two", declared + "int64_t g() { return own() + STEP; }",
        "#include <torch/extension.h>\nstatic int own() { return 20; }\ntorch::Tensor f(torch::Tensor x) { return x + own(); }", ["f", "g"],
    )
    assert float(m.f(np.float32([1]))[0]) == 21 and m.g() == 2
    with pytest.raises(wb.CompileError, match=r"unknown name `STEP`[\s\S]*cuda\.cu:2"):
        wb.load_inline("two", declared, "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { return x + STEP; }", ["f"])
    # Functions that the CUDA text alone names are registered there.
    m = wb.load_inline("two", "", "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { return x * 2; }", ["f"])
    assert float(m.f(np.float32([4]))[0]) == 8


@pytest.mark.parametrize("seed", range(24))
def test_random_projects_are_what_a_compiler_and_a_linker_make_of_them(seed):
    assert random_projects.compare(seed) == ""


def test_initialisers_of_two_files_run_in_the_order_of_the_files():
    first = "#include <torch/extension.h>\nint order = 0;\nint next(int n) { return order = order * 10 + n; }\nint a = next(1);\nint later();\n"
    second = "extern int order;\nint next(int);\nstatic int b = next(2);\nint c = next(3);\nint64_t found() { return order; }\n"
    m = wb.load_inline("files", [first, "#include <torch/extension.h>\n" + second], functions=["found"])
    assert m.found() == 123


def test_sources_are_translation_units(tmp_path):
    (tmp_path / "one.cpp").write_text(
        "static int own(int x) { return x + 1; }\nnamespace { struct S { int a; }; }\nint one(int x) { return own(x) + S{1}.a; }"
    )
    (tmp_path / "two.cpp").write_text(
        "static int own(int x) { return x + 100; }\nnamespace { struct S { int b, c; }; }\nint two(int x) { S s{1, 2}; return own(x) + s.c; }"
    )
    m = wb.load("units", [str(tmp_path / "one.cpp"), str(tmp_path / "two.cpp")])
    assert (m.one(1), m.two(1)) == (3, 103)
    (tmp_path / "two.cpp").write_text("int two(int x) { return undeclared; }")
    with pytest.raises(wb.CompileError, match=r"two\.cpp"):
        wb.load("units", [str(tmp_path / "one.cpp"), str(tmp_path / "two.cpp")])

"""Constructs that real sources use: each test is one kind of construct, with cases beyond those of the sources. Expected
values are those of g++ and NVRTC, or worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


def run(text, *arrays, threads=1, kernel="k"):
    """Launches a kernel on arrays, which it changes."""
    getattr(wb.compile(text), kernel)[1, threads](*arrays)
    return arrays[0]


def floats(n, text, threads=1, start=0.0):
    return run(text, np.full(n, start, np.float32), threads=threads).tolist()


def ints(n, text, threads=1):
    return run(text, np.zeros(n, np.int32), threads=threads).tolist()


# A user's overload of a function that is built in.

REAL = """
struct Real { float v; __device__ Real(float f) : v(f) {} };
"""


def test_an_overload_of_an_atomic_takes_its_value_by_a_conversion():
    text = REAL + """
    __device__ void atomicAdd(Real* to, Real by) { to->v += 2 * by.v; }
    __global__ void k(float* y) { Real r(1); atomicAdd(&r, 3.0f); y[0] = r.v; y[1] = atomicAdd(y + 2, 4.0f); }
    """
    assert floats(3, text, start=5) == [7, 5, 9]


def test_what_is_built_in_goes_before_a_users_conversion():
    text = REAL + """
    __device__ float fmaxf(Real a, Real b) { return -1; }
    __global__ void k(float* y) { y[0] = fmaxf(1.0f, 2); y[1] = fmaxf(Real(1), 2.0f); }
    """
    assert floats(2, text) == [2, -1]


def test_nobody_takes_the_arguments():
    text = REAL + """
    struct Other {};
    __device__ void atomicAdd(Real* to, Real by) {}
    __global__ void k(float* y) { Other o; atomicAdd(&o, 1.0f); }
    """
    with pytest.raises(wb.CompileError, match="atomicAdd"):
        wb.compile(text)


# `decltype` in a result written after `->`.

def test_a_trailing_result_of_members_and_this():
    text = """
    struct S {
        const int* len; double d; int b;
        __device__ auto get() -> decltype(len[b]) { return len[b]; }
        __device__ auto twice() const -> decltype(this->d * 2) { return d * 2; }
        __device__ auto self() -> decltype(*this) { return *this; }
        __device__ auto number() const -> decltype(b) { return b; }
    };
    __global__ void k(int* y) {
        int t[2] = {3, 4}; S s{t, 0.75, 1};
        y[0] = s.get();
        s.self().d = 1.25;
        y[1] = (int)(s.twice() * 2);
        auto n = s.number(); n += 6;
        y[2] = n;
        static_assert(std::is_same_v<decltype(s.self()), S&>, "a reference");
        static_assert(std::is_same_v<decltype(s.number()), int>, "as it is declared");
    }
    """
    assert ints(3, text) == [4, 5, 7]


# A name before `<` whose arguments are types.

def test_a_value_of_a_template_of_the_library_in_arithmetic():
    text = """
    template <class F> struct traits;
    template <class R, class A> struct traits<R (*)(A)> { using arg = A; };
    template <class F> constexpr int kind() {
        using arg = typename traits<F>::arg;
        static_assert(std::is_same_v<std::remove_const_t<arg>, int>, "first");
        return std::is_same_v<arg, int> - std::is_same_v<const int, arg> + std::is_same_v<arg, int>;
    }
    __global__ void k(int* y) { int a = 3, b = 2, c = 1; y[0] = kind<int (*)(int)>(); y[1] = a < b > c; y[2] = std::is_same_v<int, int> + 4; }
    """
    assert ints(3, text) == [2, 0, 5]


# `std::aligned_storage`: sizes and alignments are libstdc++'s.

@pytest.mark.parametrize(("arguments", "size", "alignment"), [
    ("4, 4", 4, 4), ("12, 8", 16, 8), ("1, 1", 1, 1), ("3", 16, 16), ("40", 48, 16), ("sizeof(float4), alignof(float4)", 16, 16),
])
def test_aligned_storage(arguments, size, alignment):
    text = f"""
    #include <type_traits>
    template <int N> struct Of {{ typedef typename std::aligned_storage<{arguments}>::type type; }};
    __global__ void k(int* y) {{
        typedef std::aligned_storage_t<{arguments}> Same;
        y[0] = sizeof(typename Of<0>::type); y[1] = alignof(Same); y[2] = sizeof(Same);
    }}"""
    assert ints(3, text) == [size, alignment, size]


def test_aligned_storage_in_shared_memory():
    text = """
    template <typename T> __global__ void k(T* y) {
        __shared__ typename std::aligned_storage<sizeof(T), alignof(T)>::type s[32];
        ((T*)s)[threadIdx.x] = threadIdx.x * 2;
        __syncthreads();
        y[threadIdx.x] = ((T*)s)[31 - threadIdx.x];
    }
    template __global__ void k<float>(float*);
    """
    y = np.zeros(32, np.float32)
    wb.compile(text)["k<float>"][1, 32](y)
    assert y.tolist() == [2 * (31 - i) for i in range(32)]


# Functors whose template takes references of every kind.

def test_a_functor_of_forwarding_references_in_cub():
    text = """
    #include <cub/cub.cuh>
    struct Max {
        template <typename T, typename U>
        __device__ __forceinline__ typename std::common_type<T, U>::type operator()(T&& t, U&& u) const { return t > u ? t : u; }
    };
    __global__ void k(float* y) {
        typedef cub::BlockReduce<float, 32> R;
        __shared__ typename R::TempStorage t;
        float m = R(t).Reduce(y[threadIdx.x], Max());
        if (threadIdx.x == 0) y[0] = m;
    }
    """
    y = np.random.default_rng(7).standard_normal(32).astype(np.float32)
    largest = y.max()
    assert run(text, y, threads=32)[0] == largest


def test_common_type():
    text = """
    template <typename A, typename B> constexpr bool same = std::is_same<A, B>::value;
    template <typename, typename = void> struct has { static constexpr bool value = false; };
    template <typename T> struct has<T, std::void_t<typename T::type>> { static constexpr bool value = true; };
    struct X {};
    __global__ void k(int* y) {
        y[0] = same<std::common_type_t<float&, const int&>, float>;
        y[1] = same<std::common_type_t<short, char>, int> + 2 * same<std::common_type_t<const int&>, int>;
        y[2] = same<std::common_type_t<int, float, double>, double> + 2 * has<std::common_type<X, int>>::value;
    }
    """
    assert ints(3, text) == [1, 3, 1]


# Partial specialisations with a template for a parameter, and a pack.

def test_the_narrowest_of_specialisations_with_a_template_and_a_pack():
    text = """
    template <typename T> struct Box {};
    template <template <typename> class K, typename T, long n, long m, typename... A> struct H { static constexpr int v = 0; };
    template <template <typename> class K, typename T, long m, typename... A> struct H<K, T, 3, m, A...> { static constexpr int v = 1; };
    template <template <typename> class K, typename T, long n, typename... A> struct H<K, T, n, n, A...> { static constexpr int v = 2; };
    template <template <typename> class K, typename T, typename... A> struct H<K, T, 3, 3, A...> { static constexpr int v = 3; };
    __global__ void k(int* y) {
        y[0] = H<Box, int, 1, 2>::v; y[1] = H<Box, int, 3, 1, char>::v;
        y[2] = H<Box, int, 4, 4, char, int>::v; y[3] = H<Box, int, 3, 3, float*>::v;
    }
    """
    assert ints(4, text) == [0, 1, 2, 3]


# Compound literals.

def test_compound_literals():
    text = """
    struct P { float x, y; };
    __device__ float sum(P p) { return p.x + p.y; }
    template <typename T> __device__ T pair(float a) { return (T){a, 2 * a}; }
    __global__ void k(float* y) {
        P p = (P){1, 2};
        y[0] = sum((P){p.y, 3}) + (P){.x = 10, .y = 20}.y;
        y[1] = (float2){5, 6}.x + pair<P>(1).y;
        y[2] = (int){7} + (float4){1, 2, 3, 4}.w;
        p = (struct P){8};
        y[3] = p.x + p.y;
    }
    """
    assert floats(4, text) == [25, 7, 11, 8]


# Builtin functions as values.

def test_a_builtin_function_as_an_argument():
    text = """
    template <typename F> __device__ float fold(F f, const float* x, int n) { float a = x[0]; for (int i = 1; i < n; i++) a = f(a, x[i]); return a; }
    __global__ void k(float* y) { y[0] = fold(fmaxf, y, 4); y[1] = fold(&fminf, y + 1, 3); y[2] = fold(__fadd_rn, y + 1, 3); }
    """
    assert run(text, np.array([1, 5, 2, 3], np.float32)).tolist() == [5, 2, 7, 3]


def test_a_builtin_function_behind_a_pointer_and_as_a_templates_argument():
    text = """
    template <float (*F)(float)> __device__ float on(float x) { return F(x); }
    __device__ double wide(double (*f)(double), double x) { return f(x); }
    __global__ void k(float* y) {
        float (*f)(float) = sqrtf;
        float (*t[2])(float) = {floorf, ceilf};
        y[0] = f(16); y[1] = t[0](1.5f); y[2] = t[1](1.5f); y[3] = on<fabsf>(-3); y[4] = wide(sqrt, 25);
    }
    """
    assert floats(5, text) == [4, 1, 2, 3, 5]


def test_a_builtin_function_as_a_value_on_the_host():
    text = """
    float apply(float (*f)(float, float), float a, float b) { return f(a, b); }
    float largest(float a, float b) { return apply(fmaxf, a, b); }
    __global__ void k(float* y) { y[0] = fmaxf(1, 2); }
    """
    assert wb.compile(text).largest(2.0, 7.0) == 7.0


# Shared memory at namespace scope.

def test_shared_memory_at_namespace_scope():
    text = """
    __shared__ int tile[32];
    namespace n { static __shared__ int other; }
    __device__ void fill() { tile[threadIdx.x] = threadIdx.x; if (threadIdx.x == 0) n::other = 100; }
    __global__ void k(int* y) { fill(); __syncthreads(); y[threadIdx.x] = tile[31 - threadIdx.x] + n::other; }
    """
    assert ints(32, text, threads=32) == [131 - i for i in range(32)]


def test_shared_memory_at_namespace_scope_is_not_the_hosts():
    with pytest.raises(wb.CompileError, match="tile"):
        wb.compile("__shared__ int tile[32]; int f() { return tile[0]; } __global__ void k(int* y) { y[0] = tile[0]; }")


# Functions for both sides that do what only the host can.

def test_a_function_for_both_sides_is_the_hosts_where_no_device_code_calls_it():
    text = """
    #include <vector>
    int calls = 0;
    __host__ __device__ inline unsigned total(std::vector<int>& s) { unsigned m = 1; for (int i = (int)s.size() - 1; i >= 0; --i) m *= s[i]; return m; }
    __host__ __device__ int counted() { std::vector<int> v; v.push_back(3); v.push_back(4); calls++; return total(v) + calls; }
    __global__ void k(int* y) { y[0] = 1; }
    int f() { return counted(); }
    """
    m = wb.compile(text)
    assert m.f() == 13
    assert m.f() == 14


def test_a_function_for_both_sides_that_a_kernel_reaches_is_checked():
    text = """
    int calls = 0;
    __host__ __device__ int inner() { return calls; }
    __host__ __device__ int outer() { return inner(); }
    __global__ void k(int* y) { y[0] = outer(); }
    """
    with pytest.raises(wb.CompileError, match="host"):
        wb.compile(text)


# Specifiers in every place.

@pytest.mark.parametrize("parameter", [
    "__grid_constant__ const P p", "const __grid_constant__ P p", "const P __grid_constant__ p", "P const __grid_constant__ p",
    "P __grid_constant__ const p",
])
def test_grid_constant_anywhere(parameter):
    module = wb.compile(f"struct P {{ int n; }}; __global__ void k({parameter}, int* y) {{ y[0] = p.n; }}")
    y = np.zeros(1, np.int32)
    module.k[1, 1](np.array([7], np.int32).view([("n", np.int32)])[0], y)
    assert y[0] == 7


@pytest.mark.parametrize("attribute", ["__block_size__((W * 32, 1, 1))", "__cluster_dims__(2, 1, 1)"])
def test_attributes_of_clusters_before_a_template_are_refused_by_name(attribute):
    text = f"template <int W> {attribute} __global__ void k(float* y) {{ y[0] = W; }} void run(float* y) {{ k<1><<<1, 32>>>(y); }} __global__ void other(float* y) {{ k<1>; }}"
    with pytest.raises(wb.CompileError, match="__block_size__|cluster"):
        wb.compile(text)


@pytest.mark.parametrize("words", [
    "GPU_LAMBDA (float s)", "C10_DEVICE (float s)", "C10_HOST_DEVICE (float s) mutable", "__device__ __host__ (float s) mutable noexcept",
    "__device__ (float s) noexcept",
])
def test_attributes_of_lambdas(words):
    text = f"""
    #include <ATen/native/cuda/Loops.cuh>
    template <typename F> __global__ void each(F f, float* y) {{ y[threadIdx.x] = f(y[threadIdx.x]); }}
    __global__ void k(float* y) {{ float v = 2; auto f = [v] {words} -> float {{ return s * v; }}; y[0] = f(y[0]); }}
    void run(float* y) {{ float v = 2; each<<<1, 32>>>([v] {words} -> float {{ return s * v; }}, y); }}
    """
    assert floats(1, text, start=3) == [6]


# PTX without a space before the first operand.

def test_ptx_without_a_space():
    text = """
    __global__ void k(unsigned* y) {
        unsigned a = 5, b;
        asm volatile("mov.b32%0, %1;" : "=r"(b) : "r"(a));
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p add.u32 %0, %0, 2; }" : "+r"(b) : "r"(a));
        asm volatile("st.global.u32[%0], %1;" :: "l"(y), "r"(b) : "memory");
    }
    """
    assert run(text, np.zeros(1, np.uint32)).tolist() == [7]


# Concepts and constraints.

def test_concepts_choose_among_overloads():
    text = """
    #include <concepts>
    template <typename T> concept small = sizeof(T) <= 4;
    template <typename T, int N> concept sized = sizeof(T) == N;
    template <small T> __device__ int f(T x) { return 1; }
    template <typename T> requires(sizeof(T) == 8) __device__ int f(T x) { return 2; }
    template <typename T> __device__ int g(T x) { return 3; }
    template <typename T> requires small<T> && (!std::is_same_v<T, float>) __device__ int g(T x) { return 4; }
    template <std::integral T> __device__ int h(T x) { return 5; }
    template <std::floating_point T> __device__ int h(T x) { return 6; }
    template <sized<2>... T> __device__ int all(T... x) { return sizeof...(T); }
    template <typename T> __device__ int late(T x) requires std::same_as<T, int> { return 7; }
    template <typename T> __device__ int late(T x) requires (!std::same_as<T, int>) { return 8; }
    __global__ void k(int* y) {
        y[0] = f(1.0f) * 10 + f(1.0);
        y[1] = g(1) * 100 + g(1.0f) * 10 + g(1ll);
        y[2] = h(1u) * 10 + h(1.0);
        y[3] = all((short)1, (unsigned short)2);
        y[4] = late(1) * 10 + late(2u);
        static_assert(small<int> && !small<double>, "as constants");
        if constexpr (std::integral<char>) y[5] = 9;
    }
    """
    assert ints(6, text) == [12, 433, 56, 2, 78, 9]


def test_constraints_of_classes_and_their_specialisations():
    text = """
    template <typename T> concept has_type = sizeof(typename T::type) > 0;
    struct A { typedef int type; };
    template <typename T> struct S { static constexpr int v = 1; };
    template <has_type T> struct S<T> { static constexpr int v = 2; };
    template <typename T> requires (sizeof(T) == 4) struct Four { T x; };
    __global__ void k(int* y) { y[0] = S<int>::v; y[1] = S<A>::v; Four<int> f{3}; y[2] = f.x; }
    """
    assert ints(3, text) == [1, 2, 3]


@pytest.mark.parametrize("use", ["f(1.0);", "Four<double> s;"])
def test_a_constraint_that_is_not_met(use):
    text = f"""
    template <typename T> concept small = sizeof(T) <= 4;
    template <small T> __device__ int f(T x) {{ return 1; }}
    template <small T> struct Four {{ T x; }};
    __global__ void k(int* y) {{ {use} }}
    """
    with pytest.raises(wb.CompileError, match="f|Four"):
        wb.compile(text)


def test_requirements_in_braces_are_refused_by_name():
    text = "template <typename T> concept adds = requires(T a) { a + a; }; template <adds T> __device__ T f(T x) { return x; } __global__ void k(int* y) { y[0] = f(1); }"
    with pytest.raises(wb.CompileError, match="braces"):
        wb.compile(text)

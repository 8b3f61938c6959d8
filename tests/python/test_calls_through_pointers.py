"""Calls through pointers to functions in host code: looked up as they run, whether the code that calls is the text's or was made for another
text, and refused where the pointer points at no function of its type."""

import numpy as np
import pytest

import workbench as wb

HEAD = "#include <torch/extension.h>\n#include <algorithm>\n#include <functional>\n#include <map>\n#include <vector>\n"


def of(text, *functions):
    return wb.load_inline(name="pointers", cpp_sources=HEAD + text, functions=list(functions))


TABLE = """
static int64_t twice(int64_t a) { return 2 * a; }
static int64_t square(int64_t a) { return a * a; }
static int64_t (*const table[])(int64_t) = {twice, square, nullptr};
struct Step { int64_t (*run)(int64_t); int64_t times; };
int64_t pick(int64_t i, int64_t a) { return table[i](a); }
int64_t steps(int64_t a) {
    std::vector<Step> all = {{&twice, 3}, {&square, 1}, {table[0], 1}};
    for (const Step& step : all) for (int64_t i = 0; i < step.times; ++i) a = step.run(a);
    return a;
}
bool same() { return table[0] == &twice && table[1] != &twice; }
int64_t named(std::string name, int64_t a) {
    std::map<std::string, int64_t (*)(int64_t)> by_name = {{"twice", twice}, {"square", square}};
    return by_name[name](a);
}
"""


def test_pointers_in_tables_structs_and_maps():
    m = of(TABLE, "pick", "steps", "same", "named")
    assert [m.pick(0, 7), m.pick(1, 7)] == [14, 49]
    assert m.steps(3) == 2 * (3 * 2**3) ** 2
    assert m.same() is True
    assert [m.named("twice", 9), m.named("square", 9)] == [18, 81]


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("table[2](a)", "a null function pointer was called"),
        ("reinterpret_cast<int64_t (*)(int64_t)>(977l)(a)", "points at no function of its type (0x3d1)"),
        # Numbers that look like addresses of the library's functions, and other numbers.
        ("reinterpret_cast<int64_t (*)(int64_t)>(1l << 62)(a)", "points at no function of its type"),
        ("reinterpret_cast<int64_t (*)(int64_t)>((1l << 62) + 4095)(a)", "points at no function of its type"),
        ("reinterpret_cast<int64_t (*)(int64_t)>((1l << 62) + (1l << 40))(a)", "points at no function of its type"),
        ("reinterpret_cast<int64_t (*)(int64_t)>(-1l)(a)", "points at no function of its type"),
        # A function, but of another type: its code would read what is not there.
        ("reinterpret_cast<double (*)(double, double)>(table[0])(1.0, 2.0)", "points at no function of its type"),
        ("(int64_t)reinterpret_cast<float (*)(int64_t)>(table[0])(a)", "points at no function of its type"),
        ("named(\"cube\", a)", "a null function pointer was called"),
    ],
)
def test_what_points_at_no_function_is_a_fault_at_the_call(call, what):
    m = of(TABLE + f"\nint64_t wrong(int64_t a) {{\n    return {call};\n}}\n", "wrong", "pick")
    with pytest.raises(wb.KernelFault) as caught:
        m.wrong(3)
    assert what in str(caught.value)
    assert "`wrong`" in str(caught.value)
    assert m.pick(1, 5) == 25


def test_the_library_calls_the_text_s_functions():
    text = """
    static bool by_size(double a, double b) { return std::abs(a) < std::abs(b); }
    static bool backwards(double a, double b) { return a > b; }
    static bool negative(double a) { return a < 0; }
    std::vector<double> sorted(std::vector<double> x, bool back) {
        bool (*compare)(double, double) = back ? backwards : by_size;
        std::sort(x.begin(), x.end(), compare);
        return x;
    }
    int64_t negatives(std::vector<double> x) { return std::count_if(x.begin(), x.end(), negative); }
    """
    x = np.random.default_rng(3).standard_normal(57).tolist()
    for head in ("", "// the same again\n"):
        m = of(head + text, "sorted", "negatives")
        assert m.sorted(x, True) == sorted(x, reverse=True)
        assert m.sorted(x, False) == sorted(x, key=abs)
        assert m.negatives(x) == sum(v < 0 for v in x)


def test_what_a_called_function_does_wrong_is_told_where_it_does_it():
    text = """
    static bool compare(double a, double b) {
        const double* p = &a;
        return p[3] < b;
    }
    std::vector<double> sorted(std::vector<double> x) {
        std::sort(x.begin(), x.end(), compare);
        return x;
    }
    """
    for head in ("", "// the same again\n"):
        m = of(head + text, "sorted")
        with pytest.raises(wb.KernelFault) as caught:
            m.sorted([3.0, 1.0, 2.0])
        assert "return p[3] < b;" in str(caught.value)


def test_endless_recursion_through_pointers_is_a_fault():
    for _ in range(2):
        m = of(
            """
            static int64_t again(int64_t a);
            static int64_t (*next)(int64_t) = again;
            static int64_t again(int64_t a) { return next(a + 1) + 1; }
            int64_t ends(int64_t a) { return a; }
            int64_t endless(int64_t a) { return again(a); }
            """,
            "ends",
            "endless",
        )
        with pytest.raises(wb.KernelFault, match="stack"):
            m.endless(1)
        assert m.ends(4) == 4


def test_endless_recursion_by_way_of_the_library_is_a_fault():
    text = """
    static bool compare(double a, double b);
    static double smallest(std::vector<double> x) {
        std::sort(x.begin(), x.end(), compare);
        return x[0];
    }
    static bool compare(double a, double b) { return smallest({a, b}) < b; }
    double least(std::vector<double> x) { return smallest(x); }
    double first(std::vector<double> x) { return x[0]; }
    """
    # The library's part has been made for a text that does not recurse.
    of(text.replace("smallest({a, b}) < b", "a < b"), "least", "first")
    for _ in range(2):
        m = of(text, "least", "first")
        with pytest.raises(wb.KernelFault, match="stack"):
            m.least([3.0, 1.0, 2.0])
        assert m.first([3.0, 1.0]) == 3.0


def test_recursion_through_pointers_that_ends():
    m = of(
        """
        static int64_t down(int64_t n) { return n < 2 ? n : down(n - 1) + down(n - 2); }
        struct Rule { int64_t (*f)(const Rule&, int64_t); };
        static int64_t step(const Rule& rule, int64_t n) { return n < 2 ? n : rule.f(rule, n - 1) + rule.f(rule, n - 2); }
        int64_t by_rule(int64_t n) { Rule rule{step}; return rule.f(rule, n); }
        int64_t plain(int64_t n) { return down(n); }
        int64_t functional(int64_t n) {
            std::function<int64_t(int64_t)> f;
            f = [&](int64_t n) { return n < 2 ? n : f(n - 1) + f(n - 2); };
            return f(n);
        }
        """,
        "by_rule",
        "plain",
        "functional",
    )
    assert [m.by_rule(15), m.plain(15), m.functional(15)] == [610] * 3


def test_types_of_two_texts_with_one_name_are_not_each_other_s():
    text = """
    enum class Kind : %s { one = 1 };
    static int64_t value(Kind kind) { return (int64_t)kind; }
    int64_t f() { int64_t (*p)(Kind) = value; return p(Kind::one); }
    """
    for _ in range(2):
        for width in ("char", "int64_t", "short"):
            assert of(text % width, "f").f() == 1


def test_functions_of_both_sides_are_called_through_pointers_on_both():
    m = wb.load_inline(
        name="both",
        cpp_sources="torch::Tensor run(torch::Tensor x, int64_t which); double here(double a, int64_t which);",
        cuda_sources="""
        #include <torch/extension.h>
        typedef float (*Unary)(float);
        __host__ __device__ float twice(float a) { return 2 * a; }
        __host__ __device__ float half(float a) { return a / 2; }
        __host__ __device__ Unary chosen(int which) { return which ? half : twice; }
        __host__ __device__ float apply(Unary f, float a) { return f(a); }
        __global__ void k(float* x, int n, int which) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] = apply(chosen(which), x[i]);
        }
        torch::Tensor run(torch::Tensor x, int64_t which) {
            auto y = x.clone();
            k<<<(y.numel() + 31) / 32, 32>>>(y.data_ptr<float>(), y.numel(), which);
            return y;
        }
        double here(double a, int64_t which) {
            Unary f = chosen(which);
            return apply(f, a) + f(a) + apply(&twice, a);
        }
        """,
        functions=["run", "here"],
    )
    x = np.random.default_rng(4).standard_normal(77).astype(np.float32)
    for which, factor in ((0, 2), (1, 0.5)):
        np.testing.assert_array_equal(m.run(x, which), x * np.float32(factor))
        assert m.here(3.0, which) == 2 * 3.0 * factor + 6.0


def test_a_function_that_is_only_pointed_at_is_no_way_in():
    text = "long inner(long a) { return a + 1; }\nlong outer(long a) { long (*f)(long) = inner; return f(a); }"
    assert wb.compile(text).entry_points == ["outer"]


EACH = """
static int64_t each(int64_t (*f)(int64_t), int64_t u) { return f(u); }
static void change(void (*f)(int64_t*), int64_t* u) { f(u); }
static int64_t later(int64_t u, int64_t (*f)(int64_t) = [](int64_t a) { return a + 100; }) { return f(u); }
static int64_t by_reference(int64_t (*const& f)(int64_t), int64_t u) { return f(u); }
static int64_t which(int64_t (*f)(int64_t)) { return 1; }
static int64_t which(double (*f)(double)) { return 2; }
static int64_t which(bool (*f)(double, double)) { return 3; }
struct Runs { int64_t (*f)(int64_t); Runs(int64_t (*g)(int64_t)) : f(g) {} int64_t with(int64_t (*g)(int64_t)) { return g(f(1)); } };
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return each([](int64_t u) { return u * 2; }, n);", 14),
        ("return each([](int64_t u) -> int64_t { return u * 2; }, n);", 14),
        ("auto l = [](int64_t u) { return u * 3; }; return each(l, n);", 21),
        ("int64_t a = 0; change([](int64_t* u) { *u = 5; }, &a); return a;", 5),
        ("return later(n) + later(n, [](int64_t a) { return a; });", 114),
        ("return by_reference([](int64_t u) { return u + 1; }, n);", 8),
        ("return which([](int64_t u) { return u; }) * 100 + which([](double u) { return u; }) * 10 + which([](double a, double b) { return a < b; });", 123),
        ("return Runs([](int64_t a) { return a + 1; }).with([](int64_t a) { return a * 10; });", 20),
        ("return (n > 3 ? each : each)([](int64_t u) { return -u; }, n);", -7),
    ],
)  # fmt: skip
def test_closures_without_captures_are_passed_as_functions(body, expected):
    assert of(EACH + f"int64_t f(int64_t n) {{ {body} }}", "f").f(7) == expected


@pytest.mark.parametrize(
    "call",
    [
        "each([n](int64_t u) { return u * n; }, n)",
        "each([](int64_t u) { return 2.5 * u; }, n)",
        "each([](int64_t u, int64_t v) { return u; }, n)",
        "which([](float u) { return u; })",
    ],
)
def test_closures_that_are_no_such_function_are_errors(call):
    text = EACH + f"int64_t f(int64_t n) {{\n    return {call};\n}}"
    with pytest.raises(wb.CompileError) as caught:
        of(text, "f")
    line = (HEAD + text).split("\n").index(f"    return {call};") + 1
    assert f":{line}:" in str(caught.value)
    assert "can run to its end" not in str(caught.value)

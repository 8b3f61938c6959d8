"""A text's meaning does not depend on the texts compiled before it: functions of the library are made once in a process and used again,
by texts that give the names in them the same meaning."""

import functools

import numpy as np
import pytest

import workbench as wb

PAIRS = """
#include <cub/cub.cuh>
__global__ void k(float* x) {
    typedef cub::BlockReduce<float2, 32> Reduce;
    __shared__ typename Reduce::TempStorage store;
    float2 r = Reduce(store).Reduce(make_float2(x[threadIdx.x], x[threadIdx.x + 32]), cub::Sum());
    if (threadIdx.x == 0) { x[0] = r.x; x[1] = r.y; }
}
"""
SUMS = "#include <helper_math.h>\n"
MAXIMA = """
__device__ float2 operator+(float2 a, float2 b) { return make_float2(fmaxf(a.x, b.x), fmaxf(a.y, b.y)); }
"""
HEAD = "#include <torch/extension.h>\n#include <algorithm>\n#include <map>\n#include <numeric>\n#include <set>\n#include <vector>\n"


def reduced(before):
    x = np.random.default_rng(5).standard_normal(64).astype(np.float32)
    wb.compile(before + PAIRS).k[1, 32](y := x.copy())
    return x.reshape(2, 32), y[:2]


def test_a_templates_operators_are_those_of_its_text():
    for before in (SUMS, MAXIMA, SUMS):
        x, found = reduced(before)
        if before == MAXIMA:
            np.testing.assert_array_equal(found, x.max(axis=1))
        else:
            # 31 additions of float32, each within half a unit of at most the sum of the sizes.
            np.testing.assert_allclose(found, x.sum(axis=1, dtype=np.float64), rtol=0, atol=31 * 2**-24 * np.abs(x).sum())
        # A text without an operator has none, whoever had one before.
        with pytest.raises(wb.CompileError, match="float2"):
            reduced("")


def of_host(text, *args):
    return wb.load_inline(name="after", cpp_sources=HEAD + text, functions=["f"]).f(*args)


OPERATORS = {
    "sum": ("inline double2 operator+(const double2& a, const double2& b) { return make_double2(a.x + b.x, a.y + b.y); }", 6.0),
    "product": ("inline double2 operator+(const double2& a, const double2& b) { return make_double2(a.x, a.y * b.y); }", 0.0),
    "last": ("inline double2 operator+(const double2& a, const double2& b) { return b; }", 2.0),
}


@pytest.mark.parametrize("order", [("sum", "product", "last"), ("last", "sum", "product")])
def test_algorithms_find_the_operators_of_their_text(order):
    body = (
        "double f() { std::vector<double2> v(3, make_double2(1, 2));"
        " return std::accumulate(v.begin(), v.end(), make_double2(0, 0)).y; }"
    )
    for name in order:
        operator, expected = OPERATORS[name]
        assert of_host(f"{operator}\n{body}") == expected
    with pytest.raises(wb.CompileError, match="double2"):
        of_host(body)


@pytest.mark.parametrize("sign", ["a.x < b.x", "a.x > b.x"])
def test_containers_order_by_the_operator_of_their_text(sign):
    less = f"inline bool operator<(const int2& a, const int2& b) {{ return {sign}; }}\n"
    ordered = sorted([3, 1, 2], reverse=">" in sign)
    body = "int64_t f() { std::set<int2> s; for (int i : {3, 1, 2}) s.insert(make_int2(i, 0)); int64_t r = 0; for (auto& v : s) r = r * 10 + v.x; return r; }"
    assert of_host(less + body) == functools.reduce(lambda r, v: r * 10 + v, ordered)
    body = "int64_t f() { std::map<int2, int> m; for (int i : {3, 1, 2}) m[make_int2(i, 0)] = i; int64_t r = 0; for (auto& v : m) r = r * 10 + v.second; return r; }"
    assert of_host(less + body) == functools.reduce(lambda r, v: r * 10 + v, ordered)
    body = (
        "int64_t f() { std::vector<int2> v{make_int2(3, 0), make_int2(1, 0), make_int2(2, 0)};"
        " return std::max_element(v.begin(), v.end())->x; }"
    )
    assert of_host(less + body) == ordered[-1]


def test_types_of_one_name_in_two_texts_are_two():
    body = "int64_t f() { std::vector<P> v(2); v.push_back(P{}); v[2].b = 7; return (int64_t)sizeof(P) * 100 + v.back().b; }"
    assert of_host("struct P { char a; short b; };\n" + body) == 407
    assert of_host("struct P { double a; int64_t b; };\n" + body) == 1607
    assert of_host("struct P { char a; short b; };\n" + body) == 407


def test_a_specialisation_after_its_use_is_refused_before_and_after_other_texts():
    use = "int64_t f() { std::vector<short> v{3, 1, 2}; std::reverse(v.begin(), v.end()); return v[0] * 100 + v[1] * 10 + v[2]; }\n"
    late = use + "namespace std { template <> void swap<short>(short& a, short& b) {} }\n"
    said = []
    for _ in range(2):
        with pytest.raises(wb.CompileError, match="specialised after it has been used") as error:
            of_host(late)
        said.append(str(error.value))
        assert of_host(use) == 213
    assert said[0] == said[1]
    early = "namespace std { template <> void swap<short>(short& a, short& b) {} }\n" + use
    assert of_host(early) == 312
    assert of_host(use) == 213


def test_names_of_the_texts_own_mean_nothing_to_the_library():
    # Every one is a name that the library has or mentions.
    names = ["size", "data", "begin", "check", "place", "swap_values", "first", "grow", "convert", "op", "fail", "value"]
    own = "\n".join(f"int {name}(int x) {{ return -x; }}" for name in names)
    body = (
        "torch::Tensor f(torch::Tensor x) { std::vector<int64_t> v{2, 0, 1}; std::sort(v.begin(), v.end());"
        " return torch::cat({x.index_select(0, torch::tensor(v)), x.flip(0)}, 0).sum(1); }"
    )
    x = np.random.default_rng(6).integers(-9, 9, (3, 4)).astype(np.float64)
    expected = np.concatenate([x, x[::-1]]).sum(1)
    for text in (body, own + "\n" + body, body):
        np.testing.assert_array_equal(of_host(text, x), expected)

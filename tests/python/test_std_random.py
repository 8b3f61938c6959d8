"""Distributions that go by logarithms, which C's library rounds otherwise in the last place; what nobody foresees; bad parameters."""

import functools
import subprocess

import numpy as np
import pytest

import workbench as wb

HEAD = "#include <torch/extension.h>\n#include <random>\n#include <string>\n#include <vector>\n"

DRAWS = """
template <typename D, typename G> std::vector<double> many(D d, G g, int n) {
    std::vector<double> all;
    for (int i = 0; i < n; ++i) all.push_back((double)d(g));
    return all;
}
std::vector<double> normal(long seed) { return many(std::normal_distribution<double>(), std::mt19937(seed), 501); }
std::vector<double> normal_of(long seed) { return many(std::normal_distribution<double>(-3, 0.25), std::mt19937_64(seed), 500); }
std::vector<double> normal_float(long seed) { return many(std::normal_distribution<float>(1, 2), std::default_random_engine(seed), 501); }
std::vector<double> exponential(long seed) { return many(std::exponential_distribution<double>(3.5), std::mt19937(seed), 500); }
std::vector<double> lognormal(long seed) { return many(std::lognormal_distribution<double>(0.5, 0.1), std::mt19937(seed), 500); }
std::vector<double> kept(long seed) {
    std::mt19937 g(seed);
    std::normal_distribution<double> d;
    std::vector<double> all{d(g), d(g, std::normal_distribution<double>::param_type(5, 0.5)), d(g)};
    d.reset();
    all.push_back(d(g));
    all.push_back(d.mean() + d.stddev());
    return all;
}
"""
NAMES = ["normal", "normal_of", "normal_float", "exponential", "lognormal", "kept"]
MAIN = """
#include <cstdio>
#include <cstdlib>
int main(int, char** argv) {
    std::string name = argv[1];
    std::vector<double> all;
    %s
    for (double x : all) printf("%%.17g\\n", x);
}
"""


@functools.cache
def ours():
    return wb.load_inline("draws", HEAD + DRAWS, functions=NAMES)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("random")
    calls = "\n".join(f'if (name == "{n}") all = {n}(atol(argv[2]));' for n in NAMES)
    (folder / "a.cpp").write_text("#include <random>\n#include <string>\n#include <vector>\n" + DRAWS + MAIN % calls)
    subprocess.run(["g++", "-std=c++17", "-O1", "-o", folder / "a", folder / "a.cpp"], check=True)

    def run(name, seed):
        lines = subprocess.run([folder / "a", name, str(seed)], check=True, capture_output=True, text=True).stdout
        return np.array([float(x) for x in lines.split()])

    return run


@pytest.mark.parametrize("seed", [1, 5489, 987654321])
@pytest.mark.parametrize("name", NAMES)
def test_as_the_systems_compiler_has_it(name, seed, theirs):
    got, wanted = np.array(getattr(ours(), name)(seed)), theirs(name, seed)
    assert got.shape == wanted.shape
    single = name.endswith("float")
    # A difference in the last places of a logarithm; near zero it is one of the numbers that were multiplied.
    np.testing.assert_allclose(got, wanted, rtol=4e-7 if single else 1e-15, atol=4e-7 if single else 1e-15)


def test_moments():
    x = np.array(wb.load_inline("m", HEAD + """
std::vector<double> f(long n) {
    std::mt19937 g(1);
    std::normal_distribution<double> d(2, 3);
    std::vector<double> all(n);
    for (auto& x : all) x = d(g);
    return all;
}""", functions=["f"]).f(100_000))
    assert abs(x.mean() - 2) < 0.05
    assert abs(x.std() - 3) < 0.05


def test_the_engine_is_numpys():
    text = "std::vector<int64_t> f(int64_t seed, int64_t n) { std::mt19937 g(seed); std::vector<int64_t> v; while (n-- > 0) v.push_back(g()); return v; }"
    f = wb.load_inline("m", HEAD + text, functions=["f"]).f
    for seed in (0, 1, 2**32 - 1):
        # NumPy's seeding of old is the same as the standard's.
        wanted = np.random.RandomState(seed).randint(0, 2**32, 700, dtype=np.uint32).tolist()
        assert f(seed, 700) == wanted
    assert f(3, 0) == []


def test_a_device_is_not_constant():
    text = HEAD + "int64_t f() { std::random_device d; return d(); }"
    draws = [wb.load_inline("m", text, functions=["f"]).f() for _ in range(8)]
    again = wb.load_inline("m", text, functions=["f"])
    draws += [again.f() for _ in range(8)]
    assert len(set(draws)) == len(draws)


def test_in_tensors():
    text = HEAD + """
torch::Tensor f(int64_t rows, int64_t columns, int64_t seed) {
    std::mt19937 gen(seed);
    std::uniform_real_distribution<float> dist(-1.0f, 1.0f);
    auto out = torch::empty({rows, columns}, torch::kFloat32);
    float* p = out.data_ptr<float>();
    for (int64_t i = 0; i < out.numel(); ++i) p[i] = dist(gen);
    return out;
}"""
    f = wb.load_inline("m", text, functions=["f"]).f
    out = f(37, 11, 5)
    assert out.shape == (37, 11)
    assert np.abs(out).max() <= 1
    assert abs(out.mean()) < 0.1
    np.testing.assert_array_equal(out, f(37, 11, 5))
    assert f(0, 3, 5).shape == (0, 3)


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("std::uniform_int_distribution<int> d(0, -1)", "lower bound is above"),
        ("std::uniform_real_distribution<double> d(1, 0)", "lower bound is above"),
        ("std::normal_distribution<double> d(0, -1)", "standard deviation is not positive"),
        ("std::bernoulli_distribution d(1.5)", "probability is not in"),
        ("std::exponential_distribution<double> d(0)", "rate is not positive"),
    ],
)
def test_bad_parameters(declaration, message):
    text = HEAD + f"double f(bool draw) {{\n    std::mt19937 g;\n    {declaration};\n    if (draw)\n        return d(g);\n    return 0;\n}}"
    f = wb.load_inline("m", text, functions=["f"]).f
    assert f(False) == 0
    with pytest.raises(wb.ExtensionError, match=message) as caught:
        f(True)
    assert "return d(g);" in str(caught.value)


def test_a_negative_weight():
    text = HEAD + "int64_t f() {\n    std::discrete_distribution<int> d({1, -1});\n    return 0;\n}"
    with pytest.raises(wb.ExtensionError, match="a weight is negative") as caught:
        wb.load_inline("m", text, functions=["f"]).f()
    assert "discrete_distribution<int> d({1, -1})" in str(caught.value)

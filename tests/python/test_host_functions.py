"""Host functions with tensors: what an inline extension's C++ does, against NumPy."""

import gc
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import workbench as wb

ADD = """
#include <torch/extension.h>
__global__ void add_kernel(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
torch::Tensor add(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.sizes() == b.sizes(), "shapes ", a.sizes(), " and ", b.sizes(), " differ");
    auto out = torch::empty_like(a);
    int n = a.numel();
    add_kernel<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""


def module(source, *functions, **options):
    return wb.load_inline("ext", source, functions=list(functions) or None, **options)


def rand(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def test_a_kernel_is_launched_on_fresh_memory():
    m = module(ADD, "add")
    a, b = rand(1003), rand(1003, seed=1)
    out = m.add(a, b)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, a + b)
    # The result outlives the call, the module and its inputs.
    del m
    gc.collect()
    np.testing.assert_array_equal(out, a + b)


def test_what_is_registered_is_what_is_offered():
    text = ADD + 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("plus", &add, "adds", py::arg("x"), py::arg("y")); }'
    m = wb.load_inline("ext", text)
    assert not hasattr(m, "add") and m.plus.__doc__ == "adds"
    a = rand(5)
    np.testing.assert_array_equal(m.plus(y=a, x=a), a + a)
    with pytest.raises(wb.ArgumentError, match="`y` is missing"):
        m.plus(a)
    with pytest.raises(wb.ArgumentError, match="those with names: x, y"):
        m.plus(a, z=a)
    with pytest.raises(wb.ArgumentError, match="`x` is given twice"):
        m.plus(a, x=a)
    m = wb.load_inline("ext", 'int scaled(int x, int scale) { return x * scale; }\n'
                       'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scaled", &scaled, py::arg("x"), py::arg("scale")); }')
    with pytest.raises(wb.ArgumentError, match="no argument `scael`; did you mean `scale`"):
        m.scaled(1, scael=2)


def test_defaults_of_arguments():
    text = "double scale(double x, double by, int64_t times) { for (int i = 0; i < times; ++i) x *= by; return x; }\n" + (
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale, py::arg("x"), py::arg("by") = 2.0, py::arg("times") = 1); }'
    )
    m = wb.load_inline("ext", text)
    assert (m.scale(3), m.scale(3, times=3), m.scale(3, 0.5)) == (6.0, 24.0, 1.5)


def test_a_text_without_registrations_offers_its_host_functions():
    m = wb.compile(ADD)
    assert m.host_functions == ["add"] and m.kernels == ["add_kernel"]
    a = rand(7)
    np.testing.assert_array_equal(m.add(a, a), a + a)


def test_a_check_that_fails_raises_with_its_message_and_line():
    m = module(ADD, "add")
    with pytest.raises(RuntimeError) as caught:
        m.add(rand(3), rand(4))
    assert str(caught.value).splitlines()[0] == "shapes [3] and [4] differ"
    assert isinstance(caught.value, wb.ExtensionError) and caught.value.line == 8
    np.testing.assert_array_equal(m.add(rand(3), rand(3)), rand(3) * 2)


@pytest.mark.parametrize(
    ("check", "error"),
    [("TORCH_CHECK_VALUE", ValueError), ("TORCH_CHECK_INDEX", IndexError), ("TORCH_CHECK_TYPE", TypeError),
     ("TORCH_CHECK_NOT_IMPLEMENTED", NotImplementedError)],
)
def test_checks_raise_as_torchs_do(check, error):
    m = module(f'int64_t f(int64_t x) {{ {check}(x > 0, "x is ", x); return x; }}', "f")
    with pytest.raises(error, match="^x is -1"):
        m.f(-1)
    assert m.f(2) == 2


def test_a_fault_of_a_launched_kernel_names_it_and_its_line():
    m = module(ADD.replace("if (i < n) out", "out"), "add")
    with pytest.raises(wb.KernelFault) as caught:
        m.add(rand(3), rand(3))
    e = caught.value
    assert (e.kernel, e.kind, e.line, e.thread) == ("add_kernel", "out-of-bounds read", 5, (3, 0, 0))


def test_a_wrong_element_type_is_torchs_error():
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        module(ADD, "add").add(rand(3, dtype=np.float64), rand(3, dtype=np.float64))


def test_wrong_arguments_are_type_errors():
    m = module(ADD, "add")
    with pytest.raises(TypeError, match=r"add\(\): argument 2 \(\w+\) must be Tensor, not float"):
        m.add(rand(3), 1.0)
    with pytest.raises((TypeError, RuntimeError)):
        m.add(rand(3))


def test_dispatch_over_types():
    m = module(
        """
        template <typename T> __global__ void twice(const T* x, T* y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = x[i] + x[i];
        }
        torch::Tensor f(torch::Tensor x) {
            auto y = torch::empty_like(x);
            AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "twice", ([&] {
                twice<scalar_t><<<1, 64>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
            }));
            return y;
        }
        """,
        "f",
    )
    for dtype in (np.float32, np.float64, np.float16):
        x = rand(50, dtype=dtype)
        y = m.f(x)
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, x + x)
    with pytest.raises(NotImplementedError, match="\"twice\" not implemented for 'Int'"):
        m.f(np.arange(3, dtype=np.int32))


def test_accessors_see_strides():
    m = module(
        """
        __global__ void k(torch::PackedTensorAccessor32<float, 2> x, torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> y) {
            int i = threadIdx.y, j = threadIdx.x;
            if (i < x.size(0) && j < x.size(1)) y[i][j] = 10 * x[i][j];
        }
        torch::Tensor gpu(torch::Tensor x) {
            auto y = torch::zeros({x.size(0), x.size(1)}, x.options());
            k<<<1, dim3(8, 8)>>>(x.packed_accessor32<float, 2>(), y.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
            return y;
        }
        double cpu(torch::Tensor x) {
            auto a = x.accessor<float, 2>();
            double sum = 0;
            for (int i = 0; i < a.size(0); ++i)
                for (int j = 0; j < a.size(1); ++j) sum += (i + 1) * a[i][j];
            return sum;
        }
        """,
        "gpu", "cpu",
    )
    x = rand(5, 7).T
    np.testing.assert_array_equal(m.gpu(x), x * np.float32(10))
    # `(i + 1) * a[i][j]` is a product of floats, the sum one of doubles: 35 additions.
    expected = (x * np.arange(1, 8, dtype=np.float32)[:, None]).astype(np.float64).sum()
    assert m.cpu(x) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(RuntimeError, match="expected 2 dims but tensor has 1"):
        m.cpu(rand(3))


def test_an_access_past_a_tensor_is_a_fault_and_not_the_end():
    m = module("float f(torch::Tensor x, int64_t i) { return x.data_ptr<float>()[i]; }", "f")
    x = rand(4)
    assert m.f(x, 3) == x[3]
    for i in (4, -1, 1 << 40):
        with pytest.raises(wb.KernelFault, match="out-of-bounds read"):
            m.f(x, i)


def test_values_of_many_types_pass():
    m = module(
        """
        std::vector<torch::Tensor> halves(const torch::Tensor& x) { return {x.slice(0, 0, 2), x.slice(0, 2)}; }
        std::tuple<torch::Tensor, int64_t> pair(torch::Tensor x) { return {x, x.size(0)}; }
        torch::Tensor total(std::vector<torch::Tensor> all) { auto s = all[0].clone(); for (size_t i = 1; i < all.size(); ++i) s += all[i]; return s; }
        int64_t maybe(c10::optional<int64_t> n) { return n.has_value() ? *n : -1; }
        std::string greet(const std::string& name, bool loud) { return loud ? "HELLO " + name : "hello " + name; }
        std::vector<int64_t> doubled(std::vector<int64_t> v) { for (auto& x : v) x *= 2; return v; }
        """,
        "halves", "pair", "total", "maybe", "greet", "doubled",
    )
    x = rand(5, 2)
    low, high = m.halves(x)
    assert isinstance(m.halves(x), list) and isinstance(m.pair(x), tuple)
    np.testing.assert_array_equal(np.concatenate([low, high]), x)
    assert low.base is not None and np.shares_memory(low, x)
    same, n = m.pair(x)
    assert same is x and n == 5
    np.testing.assert_array_equal(m.total([x, x, x]), x + x + x)
    assert (m.maybe(3), m.maybe(None)) == (3, -1)
    assert m.greet("you", True) == "HELLO you" and m.greet(loud := "ü", False) == f"hello {loud}"
    assert m.doubled([1, 2, 3]) == [2, 4, 6]


def test_in_place_writes_reach_the_callers_array():
    m = module("void f(torch::Tensor x) { x.mul_(2); x[0] += 1; }", "f")
    x = rand(4)
    before = x.copy()
    m.f(x)
    before *= 2
    before[0] += 1
    np.testing.assert_array_equal(x, before)
    x.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        m.f(x)


def test_tensor_arithmetic_promotes_and_broadcasts():
    m = module("torch::Tensor f(torch::Tensor a, torch::Tensor b) { return (a + b * 2) / 3 - a.sum(1, true); }", "f")
    a, b = rand(4, 3), rand(3, seed=1)
    np.testing.assert_allclose(m.f(a, b), (a + b * 2) / 3 - a.sum(1, keepdims=True), rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        m.f(a, rand(4))


def test_empty_tensors():
    m = module("torch::Tensor f(torch::Tensor x) { return torch::cat({x, x.exp()}, 1); }", "f")
    out = m.f(np.zeros((0, 3), np.float32))
    assert out.shape == (0, 6) and out.dtype == np.float32


def test_printf_of_host_and_kernel_comes_in_order(capsys):
    m = module(
        """
        __global__ void k() { printf("thread %d\\n", threadIdx.x); }
        void f() { printf("before\\n"); k<<<1, 2>>>(); printf("after\\n"); }
        """,
        "f",
    )
    m.f()
    assert capsys.readouterr().out == "before\nthread 0\nthread 1\nafter\n"


def test_a_changed_source_runs_at_once_under_the_same_name():
    for k in (1, 2, 3):
        m = wb.load_inline("same", f"torch::Tensor f(torch::Tensor x) {{ return x + {k}; }}", functions="f")
        np.testing.assert_array_equal(m.f(np.zeros(2, np.float32)), np.full(2, k, np.float32))


def test_calls_from_many_threads():
    m = module(ADD, "add")
    wrong = []

    def work(seed):
        a = rand(300, seed=seed)
        for _ in range(20):
            if not np.array_equal(m.add(a, a), a + a):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert wrong == []


def test_a_value_that_is_assigned_to_writes_to_what_it_shows():
    m = module(
        """
        torch::Tensor f(torch::Tensor x) {
            auto o = torch::zeros_like(x);
            o[0] = x[1];
            o[1][0] = 5;
            o.slice(0, 2) = x.slice(0, 2);
            auto row = o[0];
            row = x[2];
            return o;
        }
        """,
        "f",
    )
    x = rand(4, 3)
    expected = np.zeros_like(x)
    expected[0], expected[1, 0], expected[2:] = x[1], 5, x[2:]
    np.testing.assert_array_equal(m.f(x), expected)


def test_spread_with_and_without_correction():
    m = module("torch::Tensor f(torch::Tensor x, bool u) { return x.var(1, u); } torch::Tensor g(torch::Tensor x) { return x.std(false); }", "f", "g")
    x = rand(3, 8)
    # Both in double, rounded once.
    np.testing.assert_allclose(m.f(x, False), x.astype(np.float64).var(1), rtol=1e-6)
    np.testing.assert_allclose(m.f(x, True), x.astype(np.float64).var(1, ddof=1), rtol=1e-6)
    np.testing.assert_allclose(m.g(x), x.astype(np.float64).std(), rtol=1e-6)


@pytest.mark.parametrize("call, name", [("x.var(1)", "var"), ("torch::var(x, 1)", "var"), ("x.std(1)", "std")])
def test_a_spread_along_a_dimension(call, name):
    # torch has `var(int dim)` beside `var(bool unbiased)`: a number is a dimension.
    x = rand(3, 8)
    expected = getattr(x.astype(np.float64), name)(1, ddof=1)
    np.testing.assert_allclose(module(f"torch::Tensor f(torch::Tensor x) {{ return {call}; }}", "f").f(x), expected, rtol=1e-6)


def test_counts_and_ranges_of_arguments():
    m = module("int f(int x) { return x; } int64_t g(uint8_t x) { return x; } std::string h() { std::string s = \"[\"; s += \"]\"; return s; }", "f", "g", "h")
    for args in ((), (1, 2)):
        with pytest.raises(TypeError, match=r"f\(\) takes 1 argument"):
            m.f(*args)
    for f, value in ((m.f, 1 << 31), (m.g, 256), (m.g, -1)):
        with pytest.raises(TypeError, match=f"does not fit .*: {value}"):
            f(value)
    assert (m.f(-(1 << 31)), m.g(255), m.h()) == (-(1 << 31), 255, "[]")


def test_the_random_stream_begins_anew():
    m = module("torch::Tensor f(int64_t seed) { torch::manual_seed(seed); return torch::rand({5}); }", "f")
    np.testing.assert_array_equal(m.f(3), m.f(3))
    assert not np.array_equal(m.f(3), m.f(4)) and ((m.f(5) >= 0) & (m.f(5) < 1)).all()


def test_types_that_double_are_an_error():
    source = "template <typename T> int g(T t) { return g(std::make_pair(t, t)); }\nint f(int x) { return g(x); }"
    with pytest.raises(wb.CompileError, match="more than 4096 members") as caught:
        module("#include <torch/extension.h>\n" + source, "f")
    # In the user's own text, not the library's.
    assert caught.value.diagnostics[0].file == "main.cpp"
    assert module("int f(int x) { return x; }", "f").f(3) == 3


def test_throw_ends_the_call_with_pythons_class():
    m = module(
        """
        #include <stdexcept>
        int64_t f(int64_t k) {
            int64_t r = 0;
            switch (k) {
                case 0: r = 1; break;
                case 1: throw std::runtime_error("a run-time error");
                case 2: throw std::out_of_range(std::string("out of ") + "range");
                case 3: throw std::bad_alloc();
                case 4: throw std::overflow_error("too much");
                case 5: throw 42;
                default: throw std::invalid_argument("k is " + std::to_string(k));
            }
            return r;
        }
        """,
        "f",
    )
    assert m.f(0) == 1
    cases = [
        (1, RuntimeError, "a run-time error"),
        (2, IndexError, "out of range"),
        (3, MemoryError, "bad_alloc"),
        (4, OverflowError, "too much"),
        (5, RuntimeError, "unknown exception"),
        (9, ValueError, "k is 9"),
    ]
    for k, kind, message in cases:
        with pytest.raises(kind, match=message) as caught:
            m.f(k)
        assert isinstance(caught.value, wb.errors.ExtensionError)
    assert m.f(0) == 1
    with pytest.raises(wb.CompileError, match="exceptions are not supported in device code"):
        module("#include <stdexcept>\n__global__ void k(int* x) { throw std::runtime_error(\"\"); }", "k")


def test_kernels_have_addresses_on_the_host():
    m = module(
        """
        template <int K> __global__ void scale(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= K; }
        __global__ void negate(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] = -x[i]; }
        torch::Tensor f(torch::Tensor x, int64_t which) {
            auto y = x.clone();
            auto fixed = &scale<2>;
            cudaFuncSetAttribute(fixed, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
            fixed<<<1, 32>>>(y.data_ptr<float>(), y.numel());
            void (*chosen)(float*, int) = which == 0 ? scale<3> : negate;
            chosen<<<dim3(1), 32, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), y.numel());
            return y;
        }
        """,
        "f",
    )
    x = rand(7)
    np.testing.assert_array_equal(m.f(x, 0), x * 6)
    np.testing.assert_array_equal(m.f(x, 1), x * -2)


def test_registrations_of_every_form():
    m = wb.load_inline(
        "ext",
        """
        int64_t twice(int64_t x) { return 2 * x; }
        std::string other(const std::string& s) { return s + s; }
        PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
            using namespace pybind11::literals;
            m.doc() = "what it is for";
            m.attr("LEVEL") = 3;
            m.def("twice", &twice, "doubles", "x"_a = 4);
            m.def("twice", &other);
            m.def("sum", [](torch::Tensor x) { return x.sum(); }, "of all");
            m.def("pair", [](std::pair<int64_t, double> p, std::vector<int64_t> v) { return std::make_tuple(p.second, p.first + v[0]); });
            m.def("table", [](int64_t n) { std::map<std::string, int64_t> t; t["n"] = n; t["a"] = 1; return t; });
        }
        """,
    )
    assert (m.__doc__, m.LEVEL, m.twice(), m.twice(x=5), m.twice("ab")) == ("what it is for", 3, 8, 10, "abab")
    assert m.sum(np.arange(4.0)) == 6 and m.pair((1, 2.5), [7]) == (2.5, 8) and m.table(5) == {"a": 1, "n": 5}
    with pytest.raises(TypeError):
        m.twice([1])


def test_warnings_and_prints_of_host_code(capsys):
    m = module("void f(int n) { TORCH_WARN(\"careful: \", n); printf(\"%d\\n\", n); std::cout << n << \" \" << 1.5 << std::endl; }", "f")
    with pytest.warns(UserWarning, match="careful: 3"):
        m.f(3)
    assert capsys.readouterr().out == "3\n3 1.5\n"


def test_operations_against_numpy():
    x = rand(4, 5)
    i = np.array([[0, 2], [1, 1], [3, 0], [2, 2]])
    one = lambda e, f, *args: (e, f, args)
    cases = [
        one("x.cumsum(1)", lambda x: x.astype(np.float64).cumsum(1)),
        one("x.tril(-1)", lambda x: np.tril(x, -1)),
        one("torch::triu(x, 1)", lambda x: np.triu(x, 1)),
        one("x.flip({0, 1})", lambda x: x[::-1, ::-1]),
        one("x.roll(2, 1)", lambda x: np.roll(x, 2, 1)),
        one("x.put(torch::tensor({3, -1}), x[0].slice(0, 0, 2))", lambda x: np.r_[x.flat[:3], x[0, 0], x.flat[4:-1], x[0, 1]].reshape(4, 5)),
        one("torch::put(x, torch::tensor({0, 0}), x[1].slice(0, 0, 2), true)", lambda x: np.r_[x[0, 0] + x[1, 0] + x[1, 1], x.flat[1:]].reshape(4, 5)),
        one("x.put(torch::tensor({20}), x[0][0])", None),
        one("x.put(torch::tensor({1}), x[0])", None),
        one("x.repeat({2, 1, 3})", lambda x: np.tile(x, (2, 1, 3))),
        one("x.repeat_interleave(2, 0)", lambda x: np.repeat(x, 2, 0)),
        one("std::get<0>(x.sort(1, true))", lambda x: -np.sort(-x, 1)),
        one("x.argsort(0)", lambda x: np.argsort(x, 0, kind="stable")),
        one("std::get<0>(x.topk(2, 0))", lambda x: -np.sort(-x, 0)[:2]),
        one("x.masked_fill(x > 0, -1)", lambda x: np.where(x > 0, np.float32(-1), x)),
        one("x.masked_select(x > 0)", lambda x: x[x > 0]),
        one("(x > 0).nonzero()", lambda x: np.argwhere(x > 0)),
        one("torch::cat(x.chunk(2, 1), 1)", lambda x: x),
        one("x.split({1, 3}, 0)[1]", lambda x: x[1:]),
        one("x.unbind(1)[3]", lambda x: x[:, 3]),
        one("torch::einsum(\"ij,kj->ik\", {x, x})", lambda x: x.astype(np.float64) @ x.T.astype(np.float64)),
        one("torch::outer(x[0], x[1])", lambda x: np.outer(x[0], x[1])),
        one("x.norm(2, 1, true)", lambda x: np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True)),
        one("x.norm(1)", lambda x: np.abs(x.astype(np.float64)).sum()),
        one("x.logsumexp(1)", lambda x: np.log(np.exp(x.astype(np.float64)).sum(1))),
        one("torch::constant_pad_nd(x, {1, 2, 0, 1}, 3)", lambda x: np.pad(x, ((0, 1), (1, 2)), constant_values=3)),
        one("x.unfold(1, 3, 2)", lambda x: np.stack([x[:, 0:3], x[:, 2:5]], 1)),
        one("x.index({torch::indexing::Slice(1, torch::indexing::None, 2), \"...\", torch::indexing::None, 0})", lambda x: x[1::2, None, 0]),
        one("x.index({torch::tensor({2, 0}), torch::tensor({1, 4})})", lambda x: x[[2, 0], [1, 4]]),
        one("x.div(0.3, \"floor\")", lambda x: np.floor(x / np.float32(0.3))),
        one("x.bmm(x)", None),
        one("torch::lerp(x, x * 2, 0.25)", lambda x: x * 1.25),
        one("torch::addcmul(x, x, x, 0.5)", lambda x: x + 0.5 * x * x),
        one("torch::elu(x, 0.5)", lambda x: np.where(x > 0, x, 0.5 * np.expm1(x.astype(np.float64)))),
        one("torch::leaky_relu(x, 0.2)", lambda x: np.where(x > 0, x, 0.2 * x)),
        one("torch::softplus(x)", lambda x: np.log1p(np.exp(x.astype(np.float64)))),
        # The result is less than 1.2, so that `erf` rounds by less than 2e-7 of it.
        one("x.clamp(-0.9, 0.9).erf().erfinv()", lambda x: x.clip(-0.9, 0.9)),
        one("torch::erfinv(torch::tensor({-1, 0, 1, 2}))", lambda x: np.float32([-np.inf, 0, np.inf, np.nan])),
        one("torch::tensor({0, 1}).erfinv_()", None),
        one("torch::special_entr(x.abs())", lambda x: -np.abs(x.astype(np.float64)) * np.log(np.abs(x.astype(np.float64)))),
        one("torch::special_entr(torch::tensor({-1, 0, 1}))", lambda x: np.float32([-np.inf, 0, 0])),
        one("at::special_entr(torch::tensor({NAN, INFINITY, -INFINITY, -0.0f}))", lambda x: np.float32([np.nan, -np.inf, -np.inf, 0])),
        one("torch::special_xlog1py(x, x[0].abs())", lambda x: x * np.log1p(np.abs(x[0].astype(np.float64)))),
        one("torch::special_xlog1py(x, 0.5)", lambda x: x * np.log1p(0.5)),
        one("at::special_xlog1py(3, x.abs())", lambda x: 3 * np.log1p(np.abs(x.astype(np.float64)))),
        one("torch::special_xlog1py(torch::tensor({0, 0, 2, 2}), torch::tensor({-1.0f, NAN, -1.0f, -3.0f}))", lambda x: np.float32([0, np.nan, -np.inf, np.nan])),
        one("torch::special_xlog1py(x, torch::zeros({3}))", None),
        one("torch::nextafter(x, torch::zeros({5})).sub(x).sign()", lambda x: -np.sign(x)),
        one("x.nextafter(x + 1).sub(x).mul(8388608)", lambda x: (np.nextafter(x, x + np.float32(1)) - x) * np.float32(2**23)),
        one("torch::tensor({1, 2}).nextafter_(torch::tensor({2.5, 0.5}))", None),
        one("x.silu()", lambda x: x / (1 + np.exp(-x.astype(np.float64)))),
        one("x.clamp(-0.5, 0.5)", lambda x: x.clip(-0.5, 0.5)),
        one("x.isfinite().logical_not()", lambda x: ~np.isfinite(x)),
        one("torch::tensor({{1, 2}, {3, 4}}) & 2", lambda x: np.array([[1, 2], [3, 4]]) & 2),
    ]
    text = "".join(f"torch::Tensor f{n}(torch::Tensor x) {{ return {e}; }}\n" for n, (e, _, _) in enumerate(cases))
    m = module(text, *[f"f{n}" for n in range(len(cases))])
    for n, (e, reference, _) in enumerate(cases):
        if reference is None:
            with pytest.raises(RuntimeError):
                getattr(m, f"f{n}")(x)
            continue
        got, expected = np.asarray(getattr(m, f"f{n}")(x)), np.asarray(reference(x))
        assert got.shape == expected.shape and (got.dtype.kind == expected.dtype.kind), e
        # Operations compute in double and round once; 1e-6 is eight units in the last place of a float.
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7, err_msg=e)
    m = module(
        """
        torch::Tensor gather(torch::Tensor x, torch::Tensor i) { return x.gather(0, i); }
        torch::Tensor scatter(torch::Tensor x, torch::Tensor i) { auto y = torch::zeros_like(x); y.scatter_add_(0, i, x.slice(1, 0, 2)); return y; }
        torch::Tensor put(torch::Tensor x, torch::Tensor i) { x.index_put_({i, 0}, x.index({0, 0}) * 2); return x; }
        torch::Tensor fill(torch::Tensor x) { x.index_put_({torch::indexing::Slice(), 1}, 5.0); x.masked_fill_(x < 0, 0); return x; }
        """,
        "gather", "scatter", "put", "fill",
    )
    np.testing.assert_array_equal(m.gather(x, i), x[i, np.arange(2)])
    expected = np.zeros((4, 5))
    np.add.at(expected, (i, np.arange(2)[None].repeat(4, 0)), x[:, :2].astype(np.float64))
    np.testing.assert_allclose(m.scatter(x, i), expected, rtol=1e-6, atol=1e-7)
    y = x.copy()
    y[[1, 3], 0] = x[0, 0] * 2
    np.testing.assert_array_equal(m.put(x.copy(), np.array([1, 3])), y)
    y = x.copy()
    y[:, 1] = 5
    np.testing.assert_array_equal(m.fill(x.copy()), np.where(y < 0, 0, y))
    with pytest.raises(RuntimeError, match="index 9 is out of bounds for dimension 0 with size 4"):
        m.gather(x, i * 0 + 9)


def test_containers_as_the_standard_has_them():
    m = module(
        """
        std::vector<int64_t> own() { std::vector<int64_t> v = {7, 8}; for (int i = 0; i < 5; i++) v.push_back(v[0]); v.insert(v.begin(), v[1]); v.resize(10, v[0]); return v; }
        int64_t large() { std::vector<int64_t> v(1 << 22, 5); v.push_back(v[0]); return v.back(); }
        std::string twice(std::string s) { s += s; return s; }
        int64_t pairs(std::vector<std::pair<int, int>> v) { int64_t n = 0; for (auto& [a, b] : v) n += 10 * a + b; return n; }
        int64_t rows(std::vector<std::vector<int64_t>> v) { int64_t n = 0; for (const auto& row : v) for (auto x : row) n += x; return n; }
        int64_t table() { std::map<int, int64_t> m; for (int i = 0; i < 4; i++) m[3 - i] = i; int64_t n = 0; for (auto& [k, v] : m) n = 10 * n + v; return n; }
        std::vector<int64_t> sorted(std::vector<int64_t> v) { std::stable_sort(v.begin(), v.end(), [](int64_t a, int64_t b) { return a % 10 < b % 10; }); return v; }
        """,
        "own", "large", "twice", "pairs", "rows", "table", "sorted",
    )
    assert m.own() == [8, 7, 8, 7, 7, 7, 7, 7, 8, 8] and m.large() == 5 and m.twice("ab") == "abab"
    assert (m.pairs([(1, 2), (3, 4)]), m.rows([[1, 2], [3]]), m.table()) == (46, 6, 3210)
    values = np.random.default_rng(0).integers(0, 1000, 1003).tolist()
    assert m.sorted(values) == sorted(values, key=lambda v: v % 10)


SHAPES = """
#include <torch/extension.h>
__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }
torch::Tensor launched(torch::Tensor x, int64_t r) {
    auto y = torch::empty({x.size(0) * r, x.size(1) / 2}, x.options());
    k<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), 7);
    return y;
}
std::vector<torch::Tensor> computed(torch::Tensor x) {
    auto y = torch::zeros_like(x);
    for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<float>()[i] = x.data_ptr<float>()[i] * 2;
    return {y, x.sum(0), y.to(torch::kHalf)};
}
torch::Tensor counted(torch::Tensor x) { return x.nonzero(); }
torch::Tensor looked(torch::Tensor x) { return x.data_ptr<float>()[0] > 0 ? x : x.sum(); }
torch::Tensor sized(torch::Tensor n) { return torch::zeros({n.data_ptr<int64_t>()[0] + 1}); }
torch::Tensor checked(torch::Tensor x) { TORCH_CHECK(x.dim() == 2, "two dimensions, not ", x.dim()); return x; }
"""


def test_shapes_follow_without_data():
    m = wb.load_inline("shapes", SHAPES)
    spec = wb.Spec
    assert m.launched.fake(spec((4, 6)), 3) == spec((12, 3))
    # Arrays tell their shapes; what they hold stays.
    x = np.full((2, 5), 7, np.float32)
    assert m.launched.fake(x, 0) == spec((0, 2)) and (x == 7).all()
    # 64 GiB that nobody has.
    assert m.launched.fake(spec((1 << 20, 1 << 14)), 1) == spec((1 << 20, 1 << 13))
    assert m.computed.fake(spec((3, 5))) == [spec((3, 5)), spec((5,)), spec((3, 5), "float16")]
    assert m.computed.fake(spec((0, 5))) == [spec((0, 5)), spec((5,)), spec((0, 5), "float16")]
    on_gpu = spec((3, 5), device="cuda:1")
    assert [one.device for one in m.computed.fake(on_gpu)] == ["cuda:1"] * 3 and m.launched.fake(on_gpu, 3).device == "cuda:1"
    with pytest.raises(RuntimeError, match="two dimensions, not 1"):
        m.checked.fake(spec((3,)))


@pytest.mark.parametrize(("name", "dtype"), [("counted", "float32"), ("looked", "float32"), ("sized", "int64")])
def test_shapes_that_follow_from_values_ask_for_a_shape_function(name, dtype):
    m = wb.load_inline("shapes", SHAPES)
    with pytest.raises(RuntimeError, match="give a shape function"):
        getattr(m, name).fake(wb.Spec((3,), dtype))


def test_variables_at_namespace_scope():
    m = module(
        """
        struct Node { int v; Node* next; };
        static Node head = {1, &head};
        static long calls = 0;
        static const char* names[] = {"a", "bb", "ccc"};
        static int square(int x) { return x * x; }
        static int cube(int x) { return x * x * x; }
        static int (*table[2])(int) = {square, cube};
        static int start = square(5) + 1;
        int again = again + 3;
        const std::map<std::string, int> numbers = {{"one", 1}, {"two", 2}};
        int itself() { return head.next->next->v; }
        int64_t count() { return ++calls; }
        std::string name(int64_t i) { return names[i]; }
        int power(int64_t i, int64_t x) { return table[i]((int)x); }
        int begun() { return start; }
        int more() { return again; }
        int number(std::string name) { return numbers.at(name); }
        """,
        "itself", "count", "name", "power", "begun", "more", "number",
    )
    assert (m.itself(), m.name(2), m.power(0, 3), m.power(1, 3), m.begun(), m.more()) == (1, "ccc", 9, 27, 26, 3)
    assert [m.count() for _ in range(3)] == [1, 2, 3]
    assert [m.number(name) for name in ("one", "two")] == [1, 2]
    with pytest.raises(IndexError):
        m.number("three")
    with pytest.raises(wb.CompileError, match="variable of the host"):
        wb.compile("static int n = 1; __global__ void k(int* x) { x[0] = n; }")


def test_statics_of_functions_are_computed_once(capsys):
    m = module(
        """
        int64_t first(int64_t k) { static int64_t n = k + 1; return n; }
        int64_t counted(int64_t k) { static int64_t n = k; return n++; }
        bool once() { static bool done = [] { printf("once "); return true; }(); return done; }
        """,
        "first", "counted", "once",
    )
    assert [m.first(k) for k in (4, 9, 16)] == [5, 5, 5]
    assert [m.counted(k) for k in (4, 9, 16)] == [4, 5, 6]
    assert m.once() and m.once()
    assert capsys.readouterr().out == "once "


def test_what_always_throws_is_void():
    # The lambda of the first case never returns, and the second must run all the same.
    m = module(
        """
        template <typename T> void put(T* x) { x[0] = 5; }
        torch::Tensor f(torch::Tensor x) {
            AT_DISPATCH_ALL_TYPES(x.scalar_type(), "f", [&] {
                if constexpr (sizeof(scalar_t) < 4) { TORCH_CHECK(false, "too small"); }
                else { put<scalar_t>(x.data_ptr<scalar_t>()); }
            });
            return x;
        }
        """,
        "f",
    )
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        assert m.f(np.zeros(1, dtype))[0] == 5
    with pytest.raises(RuntimeError, match="too small"):
        m.f(np.zeros(1, np.int8))


def test_extents_that_a_list_leaves_out_are_one():
    for text in ("dim3 g{8, 4};", "dim3 g = {8, 4};", "dim3 g(8, 4);", "struct S { dim3 d; } s{{8, 4}}; dim3 g = s.d;"):
        assert wb.compile(f"int f() {{ {text} return g.x * 100 + g.y * 10 + g.z; }}").f() == 841


def test_registrations_and_operations_are_interrupted():
    code = """
        import signal, threading, time, numpy as np, workbench as wb
        def stopped(run):
            threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
            try:
                run()
            except KeyboardInterrupt:
                print("stopped")
        head = "#include <torch/extension.h>\\n"
        stopped(lambda: wb.load_inline("e", head + "TORCH_LIBRARY(endless, m) { while (true); }"))
        m = wb.load_inline("e", head + "torch::Tensor f(torch::Tensor x) { for (;;) x = x + 1; return x; }", functions="f")
        stopped(lambda: m.f(np.ones(1_000_000)))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["stopped", "stopped"], done.stderr


def test_the_bias_of_a_convolution_has_an_element_for_each_channel():
    m = wb.load_inline("conv", """
        torch::Tensor f(torch::Tensor x, torch::Tensor w, torch::Tensor b, int64_t step) {
            return torch::conv2d(x, w, b, 1, 0, step);
        }""")
    x, w = np.ones((1, 2, 3, 3), np.float32), np.ones((4, 2, 3, 3), np.float32)
    b = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(m.f(x, w, b, 1).ravel(), 18 + b)
    for bias in (b[:1], np.ones(5, np.float32), b.reshape(2, 2), b.astype(np.float64)):
        with pytest.raises(RuntimeError, match="expected bias to be 1-dimensional with 4 elements"):
            m.f(x, w, bias, 1)
    for step in (2**30, 2**62):
        with pytest.raises(RuntimeError, match="Kernel size|dilation"):
            m.f(x, w, b, step)


def test_a_size_of_a_list_in_a_schema_is_bounded():
    with pytest.raises(wb.ArgumentError, match="a list of more than 1024 elements"):
        wb.load_inline("sizes", 'TORCH_LIBRARY(sizes_lab, m) { m.def("k(Tensor x, int[4294967295] n) -> Tensor"); }')


def test_unsigned_results_of_64_bits_are_positive():
    m = module("uint64_t f(int64_t x) { return (uint64_t)x; } std::vector<size_t> g() { return {1, (size_t)-1}; }", "f", "g")
    assert m.f(-1) == 2**64 - 1 and m.f(5) == 5
    assert m.g() == [1, 2**64 - 1]

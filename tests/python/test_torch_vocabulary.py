"""Uses of torch's headers in real extensions, each compared with NumPy."""

import numpy as np
import pytest
import workbench as wb

HEAD = "#include <torch/extension.h>\n"
rng = np.random.default_rng(20261124)


def call(text, *args):
    return wb.load_inline("vocabulary", HEAD + text, functions=["f"]).f(*args)


def test_extents_of_an_argument_outlive_its_parameter():
    x = rng.normal(size=(4, 6)).astype(np.float32)
    text = "at::Tensor f(at::Tensor& x) { auto s = x.sizes(); x = x.reshape({-1, 3}) * 2; return x.reshape(s); }"
    np.testing.assert_array_equal(call(text, x), x * 2)


def test_maxima_of_two_tensors():
    x, y = rng.normal(size=(2, 5, 7)).astype(np.float32)
    text = "std::vector<torch::Tensor> f(torch::Tensor x, torch::Tensor y) { return {torch::max(x, y), at::min(x, y), x.max(y), x.min(y)}; }"
    for got, wanted in zip(call(text, x, y), [np.maximum(x, y), np.minimum(x, y)] * 2):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_numbers_of_a_dispatched_type_are_scalars(dtype):
    x = rng.normal(size=9).astype(dtype)
    x[::4] = 0
    text = """torch::Tensor f(torch::Tensor x) {
        auto out = torch::empty_like(x);
        AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "f", [&] {
            out.fill_(scalar_t(3)).mul_(scalar_t(2)).sub_(x * scalar_t(2));
            out.masked_fill_(x == scalar_t(0), scalar_t(-1));
        });
        return out;
    }"""
    # Each is a power of two times `x`, and one subtraction: NumPy rounds the same.
    np.testing.assert_array_equal(call(text, x), np.where(x == 0, dtype(-1), dtype(6) - x * dtype(2)))


@pytest.mark.parametrize("namespace", ["at", "torch", "c10"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_functions_of_numbers_are_there_beside_a_namespace_of_tensors(namespace, dtype):
    x = rng.uniform(0.5, 2, 4).astype(dtype)
    text = f"""using namespace {namespace};
    template <typename T> __global__ void k(const T* x, T* y) {{
        int i = threadIdx.x;
        y[i] = max(x[i], (T)1) + exp(x[i]) + abs(-x[i]) + floor(x[i]) + sqrt(x[i]);
    }}
    torch::Tensor f(torch::Tensor x) {{
        auto y = torch::empty_like(x);
        AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "f", [&] {{ k<scalar_t><<<1, x.numel()>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>()); }});
        return y;
    }}"""
    wide = x.astype(np.float64)
    wanted = np.maximum(wide, 1) + np.exp(wide) + wide + np.floor(wide) + np.sqrt(wide)
    # A few roundings of numbers up to 13.
    np.testing.assert_allclose(call(text, x).astype(np.float64), wanted, rtol=4 * np.finfo(dtype).eps)


def test_a_function_of_the_texts_own_stands_for_the_librarys():
    text = """__device__ inline at::Half atomicAdd(at::Half* place, at::Half value) { at::Half old = *place; *place = old + value * at::Half(10.0f); return old; }
    __global__ void k(at::Half* p) { atomicAdd(p + threadIdx.x, at::Half(2.0f)); }
    torch::Tensor f(torch::Tensor x) { k<<<1, 3>>>(x.data_ptr<at::Half>()); return x; }"""
    np.testing.assert_array_equal(call(text, np.arange(3, dtype=np.float16)), [20, 21, 22])
    # No other text has it.
    other = text[text.index("__global__") :]
    np.testing.assert_array_equal(call(other, np.arange(3, dtype=np.float16)), [2, 3, 4])


def test_a_declaration_of_what_the_library_has_means_the_librarys():
    text = 'extern "C" cudaError_t cudaGetLastError(); int f() { return cudaGetLastError() == cudaSuccess ? 7 : 0; }'
    assert call(text) == 7


def test_two_functions_of_the_texts_own_are_still_an_error():
    with pytest.raises(wb.CompileError, match="defined twice"):
        call("int g() { return 1; } int g() { return 2; } int f() { return g(); }")


def test_namespaces_without_a_name_are_one():
    text = """namespace { namespace D { int g() { return 2; } } int here() { return 40; } }
    namespace { namespace D { int h() { return g() + here(); } } }
    namespace other { namespace { int here() { return 5; } } namespace { int there() { return here(); } } }
    int f() { return D::h() + other::there(); }"""
    assert call(text) == 47


def test_ranges_and_helpers_of_torch():
    text = """int64_t f(int64_t n) {
        AT_CHECK(n >= 0, "n is ", n);
        int64_t sum = 0;
        for (auto i : c10::irange(n)) sum += i;
        for (const auto i : c10::irange(2, n)) sum += 100 * i;
        return sum + at::divup(n, 4) * 100000 + at::cuda::ATenCeilDiv<int64_t>(n, 4) * 10000000 + (at::internal::GRAIN_SIZE > 0);
    }"""
    for n in (0, 1, 5, 8):
        up = -(-n // 4)
        assert call(text, n) == sum(range(n)) + 100 * sum(range(2, n)) + up * 100000 + up * 10000000 + 1
    with pytest.raises(RuntimeError, match="n is -1"):
        call(text, -1)

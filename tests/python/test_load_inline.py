"""`wb.load_inline`: torch's signature for kernels and scalar host functions."""

from __future__ import annotations

import inspect
from types import ModuleType

import numpy as np
import pytest
from conftest import SAXPY

import workbench as wb


def test_functions_become_attributes_of_a_module():
    m = wb.load_inline(
        name="ext", cpp_sources="int twice(int x);", cuda_sources=[SAXPY, "int twice(int x) { return 2 * x; }"], functions=["saxpy", "twice"]
    )
    assert isinstance(m, ModuleType) and m.__name__ == "ext"
    assert m.twice(4) == 8
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    m.saxpy[1, 32](2.0, x, y, 3)
    assert (y == 2).all()


def test_functions_may_be_one_name_a_dict_or_nothing():
    source = "int f(int x) { return x; }\nint g(int x) { return -x; }"
    assert wb.load_inline("e", source, functions="f").f(1) == 1
    assert wb.load_inline("e", source, functions={"g": "negates"}).g(1) == -1
    m = wb.load_inline("e", source)
    assert m.f(2) == 2 and m.g(2) == -2
    assert not hasattr(wb.load_inline("e", source, functions=["f"]), "g")
    with pytest.raises(wb.ArgumentError, match="`h`"):
        wb.load_inline("e", source, functions=["h"])


def test_flags_are_honoured_or_refused(tmp_path):
    (tmp_path / "step.h").write_text("#define STEP 5\n")
    m = wb.load_inline(
        "e",
        '#include "step.h"\nint f(int x) { return x + STEP + MORE; }',
        extra_cflags=["-O3", "-DMORE=1"],
        extra_cuda_cflags=["--use_fast_math"],
        extra_include_paths=[str(tmp_path)],
        extra_ldflags=["-lcudart"],
        build_directory=str(tmp_path / "nothing"),
        with_cuda=True,
    )
    assert m.f(1) == 7 and not (tmp_path / "nothing").exists()
    refused = [
        {"extra_ldflags": ["-lmine"]},
        {"extra_cflags": ["-02"]},
        {"extra_cflags": ["-O3", "-include", "x.h"]},
        {"extra_cuda_cflags": "-O3"},
        {"extra_cflags": ["-funsigned-char"]},
        {"sycl_sources": "x"},
    ]
    for options in refused:
        with pytest.raises(wb.ArgumentError):
            wb.load_inline("e", "int f(int x) { return x; }", **options)


def test_flags_are_words_as_a_shell_has_them():
    m = wb.load_inline(
        "e",
        "int f() { return HOST; }",
        "int g() {\n#ifdef HOST\n    return -1;\n#else\n    return DEVICE + sizeof(TEXT);\n#endif\n}",
        functions=None,
        extra_cflags=["", "-D_GLIBCXX_USE_CXX11_ABI=0", "-DHOST=3 -O3", "-ffast-math", "-march=native"],
        extra_cuda_cflags=["-DDEVICE=4", "-DTEXT='\"a b\"'", "--maxrregcount 60", "-Xptxas -O3", "-res-usage", "-gencode arch=compute_80,code=sm_80"],
        extra_ldflags=["", "-lcublas -lcudart", "-fopenmp"],
    )
    # Each text sees the macros of its own compiler.
    assert (m.f(), m.g()) == (3, 8)


def test_the_functions_are_names():
    with pytest.raises(ValueError, match="list or dict"):
        wb.load_inline("e", "int f(int x) { return x; }", functions=5)


def test_a_text_that_does_not_compile_is_torchs_exception_too():
    with pytest.raises(RuntimeError):
        wb.load_inline("e", "int f(int x) { return y; }")


def test_an_array_of_one_number_is_a_tensor_and_a_number():
    text = """
    int64_t count(torch::Tensor x) { return x.numel() + 10 * x.dim(); }
    int64_t whole(int64_t x) { return x; }
    double real(double x) { return x; }
    bool truth(bool x) { return x; }
    """
    m = wb.load_inline("e", text)
    for array, said in ((np.int64([3]), 11), (np.array(3), 1), (np.ones((1, 1), np.uint8), 21), (np.array([True]), 11)):
        assert m.count(array) == said
    # pybind11 takes everything for a truth value that has one.
    assert [m.truth(x) for x in (1, 0, 2.5, None, np.True_, np.array(False), True)] == [True, False, True, False, True, False, True]
    assert m.whole(np.int64([3])) == 3 and m.real(np.array(2.5)) == 2.5 and m.real(np.array(2)) == 2.0
    with pytest.raises(TypeError, match="must be int"):
        m.whole(np.array(2.5))
    with pytest.raises(TypeError, match="must be int"):
        m.whole(np.int64([3, 4]))


def test_templates_may_be_declared_before_they_are_used_and_defined_after():
    text = """
    template <typename T> __global__ void fill(T* y, T with);
    template <class T> T twice(T x);
    torch::Tensor f(torch::Tensor y) {
        fill<float><<<1, 3>>>(y.data_ptr<float>(), twice<float>(2.5f));
        return y;
    }
    template <typename U> __global__ void fill(U* out, U with) { out[threadIdx.x] = with; }
    template <typename V> V twice(V v) { return 2 * v; }
    int g(const int n);
    int g(int n) { n += 1; return n; }
    """
    m = wb.load_inline("e", text)
    np.testing.assert_array_equal(m.f(np.zeros(3, np.float32)), np.full(3, 5, np.float32))
    assert m.g(4) == 5


def test_kernels_by_address():
    text = """
    template <class T, int N> __global__ void scale(T* y, int n, double by) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = y[i] * (T)(N * by);
    }
    struct Args { float* y; int n; double by; };
    __global__ void add(Args a) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < a.n) a.y[i] += a.by;
    }
    template <class T> void* choose(int n) { return n == 1 ? (void*)scale<T, 1> : (void*)scale<T, 2>; }
    torch::Tensor f(torch::Tensor x, int64_t which, double by) {
        auto y = x.clone();
        float* p = y.data_ptr<float>();
        int n = y.numel();
        void* args[] = {&p, &n, &by};
        AT_CUDA_CHECK(cudaLaunchKernel(choose<float>(which), dim3((n + 31) / 32), dim3(32), args, 0, at::cuda::getCurrentCUDAStream()));
        Args a = {p, n, by};
        void* more[] = {&a};
        AT_CUDA_CHECK(cudaLaunchKernel((void*)add, (n + 31) / 32, 32, more, 0, 0));
        return y;
    }
    int bad() {
        Args a = {};
        void* args[] = {&a};
        return cudaLaunchKernel((void*)add, 1, 4096, args, 0, 0);
    }
    """
    m = wb.load_inline("e", "", text)
    x = np.random.default_rng(3).standard_normal(77, np.float32)
    for which in (1, 2):
        np.testing.assert_allclose(m.f(x, which, 1.5), x * np.float32(which * 1.5) + np.float32(1.5), rtol=1e-6)
    assert m.bad() == 9


def test_memory_formats():
    text = """
    torch::Tensor last(torch::Tensor x) {
        auto y = x.contiguous(at::MemoryFormat::ChannelsLast);
        TORCH_CHECK(y.is_contiguous(at::MemoryFormat::ChannelsLast) && y.suggest_memory_format() == at::MemoryFormat::ChannelsLast);
        TORCH_CHECK(at::empty_like(x, y.suggest_memory_format()).is_contiguous(at::MemoryFormat::ChannelsLast));
        TORCH_CHECK(at::empty({2, 3, 4, 5}, x.options(), at::MemoryFormat::ChannelsLast).stride(1) == 1);
        return y;
    }
    bool dense(torch::Tensor x) { return x.is_non_overlapping_and_dense(); }
    int64_t step(torch::Tensor x) {
        auto options = x.options().memory_format(at::MemoryFormat::ChannelsLast);
        return torch::empty(x.sizes(), options).stride(1) * 100 + x.to(options).stride(1) * 10 + torch::zeros_like(x, options).stride(1);
    }
    """
    m = wb.load_inline("e", text)
    x = np.random.default_rng(4).standard_normal((2, 3, 4, 5)).astype(np.float32)
    y = m.last(x)
    np.testing.assert_array_equal(y, x)
    assert y.strides == (240, 4, 60, 12) and m.step(x) == 111
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use the channels_last format"):
        m.last(x[0])
    # As torch has it: every element once, without gaps, in any order of the dimensions.
    assert m.dense(x) and m.dense(y) and m.dense(x.transpose(2, 0, 3, 1)) and m.dense(np.zeros((0, 3))) and m.dense(np.zeros((1, 1)))
    assert not m.dense(x[:, :, ::2]) and not m.dense(np.broadcast_to(np.zeros(4), (3, 4)))


def test_arguments_are_checked_as_aten_does():
    text = """
    #include <ATen/TensorUtils.h>
    void f(torch::Tensor x, torch::Tensor y) {
        at::TensorArg a{x, "x", 1}, b{y, "y", 2};
        at::CheckedFrom c = "f";
        at::checkAllSameType(c, {a, b});
        at::checkDim(c, a, 2);
        at::checkSameSize(c, a, b);
        at::checkAllContiguous(c, {a, b});
    }"""
    f = wb.load_inline("e", text).f
    x = np.zeros((2, 3), np.float32)
    f(x, x)
    for y, words in (
        (x.astype(np.float64), "argument #1 'x' to have the same type as tensor for argument #2 'y'.*while checking arguments for f"),
        (np.zeros((3, 2), np.float32), "to have same size as tensor for argument #2 'y'"),
        (np.zeros((3, 2), np.float32).T, "non-contiguous tensor for argument #2 'y'"),
    ):
        with pytest.raises(RuntimeError, match=words):
            f(x, y)
    with pytest.raises(RuntimeError, match="Expected 2-dimensional tensor, but got 1-dimensional"):
        f(x[0], x[0])


def test_16_bit_floats_in_host_code():
    text = """
    #include <cuda_fp16.h>
    template <class T> __global__ void add(T* y, T by) {
        at::Half h(1.5f);
        __half c = (__half)h, d = static_cast<__half>(h), e = h.operator __half();
        y[threadIdx.x] += by + (T)__half2float(c + d + e) - (T)4.5f;
    }
    torch::Tensor f(torch::Tensor x, double by) {
        auto y = x.clone();
        AT_DISPATCH_FLOATING_TYPES_AND_HALF(y.scalar_type(), "f", [&] {
            add<scalar_t><<<1, 8>>>(y.data_ptr<scalar_t>(), static_cast<scalar_t>(by));
        });
        return y;
    }
    double g(double x) {
        at::Half h = (float)x;
        at::BFloat16 b = (float)x;
        __half n = __float2half((float)x);
        return (float)h * 100 + (float)b * 10 + __half2float(n) + __builtin_popcount(7) + __builtin_clz(1u) + __builtin_ctzll(8);
    }
    """
    m = wb.load_inline("e", "", text)
    for dtype in (np.float32, np.float64, np.float16):
        x = np.arange(8).astype(dtype)
        np.testing.assert_array_equal(m.f(x, 0.25), x + dtype(0.25))
    # 1/3 to 11 and to 8 bits.
    third = float(np.float16(1 / 3))
    assert m.g(1 / 3) == np.float32(third) * 100 + 0.333984375 * 10 + third + 3 + 31 + 3


def test_a_message_names_the_source_that_was_given():
    with pytest.raises(wb.CompileError) as caught:
        wb.load_inline("e", "int f(int x);", "\n__global__ void k(int* x) {\n    x[0] = nowhere;\n}")
    first = caught.value.diagnostics[0]
    assert (first.file, first.line, first.column) == ("cuda.cu", 3, 12)


def test_what_host_code_cannot_do_ends_in_a_diagnostic():
    source = "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { return x.sparse_mask(x); }"
    with pytest.raises(wb.CompileError) as caught:
        wb.load_inline("e", source, functions=["f"])
    assert any(d.line == 2 for d in caught.value.diagnostics)


def test_the_signature_is_torchs():
    names = list(inspect.signature(wb.load_inline).parameters)
    assert names[:7] == ["name", "cpp_sources", "cuda_sources", "functions", "extra_cflags", "extra_cuda_cflags", "extra_ldflags"]


def test_results_lie_in_memory_as_torch_has_them():
    """`empty_like` and its kin keep the order of the dimensions, so that pointers to both walk alike."""
    source = """
    torch::Tensor twice(const torch::Tensor& a) {
        auto out = torch::empty_like(a);
        const float* from = a.data_ptr<float>(); float* to = out.data_ptr<float>();
        for (int64_t i = 0; i < a.numel(); ++i) to[i] = 2 * from[i];
        return out;
    }
    std::vector<torch::Tensor> all(const torch::Tensor& a) {
        return {torch::zeros_like(a), a.clone(), a.relu(), a.sin(), a * 2, 2 * a, a + a, a > 0, torch::full_like(a, 3), a.to(torch::kDouble)};
    }
    """
    m = wb.load_inline("ordered", source)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 10
    for a in (x, np.asfortranarray(x), x.transpose(1, 2, 0), x.transpose(0, 2, 1)):
        np.testing.assert_array_equal(m.twice(a), 2 * a)
        wanted = [0 * a, a, np.maximum(a, 0), np.sin(a.astype(np.float64)), 2 * a, 2 * a, 2 * a, a > 0, 0 * a + 3, a]
        for got, want in zip(m.all(a), wanted):
            # `sin` is rounded once from more digits.
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=0)
            assert [s // got.itemsize for s in got.strides] == [s // a.itemsize for s in a.strides]
    # An array that is not dense has no order to keep.
    assert m.all(x[:, ::2])[0].flags.c_contiguous


def test_dimensions_from_the_end():
    text = """#include <ATen/WrapDimUtils.h>
    int64_t at_(int64_t d, int64_t n) { return at::maybe_wrap_dim(d, n); }
    int64_t c10_(int64_t d, int64_t n) { return c10::maybe_wrap_dim(d, n, false); }"""
    m = wb.compile(text)
    assert [m.at_(d, 3) for d in range(-3, 3)] == [0, 1, 2, 0, 1, 2]
    assert m.at_(-1, 0) == 0 and m.c10_(1, 2) == 1
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-3, 2\], but got 3\)"):
        m.at_(3, 3)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        m.c10_(0, 0)


def test_headers_are_looked_for_beside_the_file_that_asks(tmp_path):
    for name, text in {
        "main.cu": '#include "utils/a.cuh"\n#include "common.h"\nint f() { return VAL * 100 + OTHER * 10 + OWN; }',
        "common.h": "#define OWN 1\n",
        "utils/a.cuh": '#pragma once\n#include "b.cuh"\n#include "common.h"\n#include "../more/c.h"\n',
        "utils/b.cuh": "#define VAL 4\n",
        "utils/common.h": "#define OTHER 2\n",
        "more/c.h": "\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert wb.load("e", [str(tmp_path / "main.cu")]).f() == 421
    # In angles what lies beside is not meant.
    (tmp_path / "angles.cu").write_text('#include <common.h>\nint f() { return OTHER; }')
    assert wb.load("e", [str(tmp_path / "angles.cu")], extra_include_paths=[str(tmp_path / "utils")]).f() == 2
    m = wb.load_inline("e", '#include "utils/a.cuh"\nint f() { return VAL + OTHER; }', extra_include_paths=[str(tmp_path)])
    assert m.f() == 6
    (tmp_path / "utils/b.cuh").unlink()
    with pytest.raises(wb.CompileError, match='no header "b.cuh"') as caught:
        wb.load("e", [str(tmp_path / "main.cu")])
    assert caught.value.diagnostics[0].file.endswith("utils/a.cuh")


def test_a_function_asked_for_may_share_its_name_with_a_kernel():
    text = """
    __global__ void f(float* y) { y[threadIdx.x] = 3; }
    torch::Tensor f(torch::Tensor x) {
        auto y = torch::empty_like(x);
        f<<<1, x.numel()>>>(y.data_ptr<float>());
        return y;
    }
    template <typename T, typename L = void> struct Of { static constexpr int value = 1; };
    template <typename T> struct Of<T*> { static constexpr int value = 2; };
    template <typename T, int N = 3, typename U = T> struct Later;
    template <typename A, int B, typename C> struct Later { static constexpr int value = B + (sizeof(C) == sizeof(A)); };
    int of() { return Of<int*>::value * 100 + Of<int>::value * 10 + Later<int>::value; }
    """
    m = wb.load_inline("e", "torch::Tensor f(torch::Tensor x); int of();", text, functions=["f", "of"])
    np.testing.assert_array_equal(m.f(np.zeros(4, np.float32)), np.full(4, 3, np.float32))
    assert m.of() == 214


def test_registrations_of_before_torch_library():
    text = """
    #include <torch/script.h>
    torch::Tensor twice(torch::Tensor x) { return x * 2; }
    torch::Tensor times(torch::Tensor x, double a) { return x * a; }
    static auto registry = torch::RegisterOperators("wb_before::twice", &twice)
                               .op("wb_before::times(Tensor x, float a=3) -> Tensor", &times);
    static torch::jit::RegisterOperators more("wb_before::again", &twice);
    """
    wb.load_inline("e", text)
    x = np.arange(3, dtype=np.float32)
    for got, by in ((wb.ops.wb_before.twice(x), 2), (wb.ops.wb_before.times(x), 3), (wb.ops.wb_before.times(x, a=4), 4), (wb.ops.wb_before.again(x), 2)):
        np.testing.assert_array_equal(got, x * by)

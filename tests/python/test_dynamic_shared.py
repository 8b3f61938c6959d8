"""Shared memory of launches: how much there is, what host code has to ask for, and one variable of one type for each name."""

import itertools

import numpy as np
import pytest

import workbench as wb

HOST = """
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
__global__ void k(float* y) {
    extern __shared__ float s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void both(float* y) {
    __shared__ float fixed[256];
    extern __shared__ float s[];
    fixed[threadIdx.x] = s[threadIdx.x] = 1;
    y[threadIdx.x] = fixed[threadIdx.x] + s[threadIdx.x];
}
template <int N> __global__ void instance(float* y) { extern __shared__ float s[]; s[threadIdx.x] = N; y[threadIdx.x] = s[threadIdx.x]; }
int64_t asked(torch::Tensor y, int64_t bytes) { k<<<1, 8, bytes>>>(y.data_ptr<float>()); return cudaGetLastError(); }
int64_t sized(torch::Tensor y, int64_t n) { size_t bytes = n * sizeof(float); k<<<1, 8, bytes>>>(y.data_ptr<float>()); return cudaGetLastError(); }
int64_t pointed(torch::Tensor y, int64_t bytes) { auto p = k; p<<<1, 8, bytes>>>(y.data_ptr<float>()); return cudaGetLastError(); }
int64_t launched(torch::Tensor y, int64_t bytes) {
    float* p = y.data_ptr<float>();
    void* args[] = {&p};
    return cudaLaunchKernel((void*)k, dim3(1), dim3(8), args, (size_t)bytes, 0);
}
void checked(torch::Tensor y, int64_t bytes) { k<<<1, 8, bytes>>>(y.data_ptr<float>()); C10_CUDA_KERNEL_LAUNCH_CHECK(); }
void bare(torch::Tensor y, int64_t bytes) { k<<<1, 8, bytes>>>(y.data_ptr<float>()); }
int64_t set(int64_t bytes) { return cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); }
int64_t set_instance(int64_t bytes) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(&instance<3>), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
int64_t run_instance(torch::Tensor y, int64_t bytes) { instance<3><<<1, 8, bytes>>>(y.data_ptr<float>()); return cudaGetLastError(); }
int64_t beside(torch::Tensor y, int64_t bytes) { both<<<1, 8, bytes>>>(y.data_ptr<float>()); return cudaGetLastError(); }
int64_t set_beside(int64_t bytes) { return cudaFuncSetAttribute(both, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); }
int64_t kept(int64_t bytes) {
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    return 10 * cudaPeekAtLastError() + cudaGetLastError();
}
int64_t blocks(torch::Tensor y, int64_t n) { k<<<n, 8, 32>>>(y.data_ptr<float>()); return cudaGetLastError(); }
"""
NAMES = "asked sized pointed launched checked bare set set_instance run_instance beside set_beside kept blocks".split()


TEXTS = itertools.count()


@pytest.fixture
def m():
    # A text of its own: what a kernel may have stays with its program.
    return wb.load_inline("shares", "", cuda_sources=f"{HOST}// {next(TEXTS)}", functions=NAMES)


REVERSED = np.arange(7, -1, -1)


@pytest.mark.parametrize("name", ["asked", "pointed", "launched"])
@pytest.mark.parametrize("bytes", [49153, 65536, 232448, 232449, 1 << 20, (1 << 32) + 32, (1 << 63) - 1, -1, -(1 << 32)])
def test_more_than_48_kib_that_nobody_asked_for_is_cudas_error_1(m, name, bytes):
    y = np.zeros(8, np.float32)
    assert getattr(m, name)(y, bytes) == 1
    assert not y.any()
    assert getattr(m, name)(y, 49152) == 0
    np.testing.assert_array_equal(y, REVERSED)


def test_bytes_are_a_size_of_64_bits(m):
    # 2^32 + 32 bytes, of which 32 bits would be 32.
    assert m.sized(np.zeros(8, np.float32), (1 << 30) + 8) == 1
    # Members of `dim3` are unsigned, so C++ cuts the number: one block.
    y = np.zeros(8, np.float32)
    assert m.blocks(y, (1 << 32) + 1) == 0
    np.testing.assert_array_equal(y, REVERSED)


def test_what_was_asked_for_may_be_had(m):
    y = np.zeros(8, np.float32)
    assert m.set(65536) == 0
    for bytes, error in ((65536, 0), (65537, 1), (16384, 0)):
        assert m.asked(y, bytes) == error
    assert m.set(232448) == 0
    assert m.asked(y, 232448) == 0
    assert [m.set(bytes) for bytes in (232449, -1)] == [1, 1]
    # A limit below what there is by default holds too.
    assert m.set(1024) == 0
    assert (m.asked(y, 1024), m.asked(y, 1025)) == (0, 1)


def test_each_kernel_asks_for_itself(m):
    y = np.zeros(8, np.float32)
    assert m.set(65536) == 0
    assert m.run_instance(y, 65536) == 1
    assert m.set_instance(65536) == 0
    assert m.run_instance(y, 65536) == 0
    np.testing.assert_array_equal(y, 3)


def test_static_memory_counts(m):
    y = np.zeros(8, np.float32)
    assert [m.beside(y, bytes) for bytes in (48128, 48129)] == [0, 1]
    assert [m.set_beside(bytes) for bytes in (231424, 231425)] == [0, 1]
    assert [m.beside(y, bytes) for bytes in (231424, 231425)] == [0, 1]
    np.testing.assert_array_equal(y, 2)


def test_the_error_says_what_to_write(m):
    y = np.zeros(8, np.float32)
    with pytest.raises(wb.ExtensionError, match=r"CUDA error: invalid argument"):
        m.checked(y, 49153)
    with pytest.raises(wb.ExtensionError) as error:
        m.bare(y, 49153)
    assert "`k`: 49153 bytes of dynamic shared memory; without asking a block has 49152" in str(error.value)
    assert "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 49153)" in str(error.value)
    with pytest.raises(wb.ExtensionError, match="4294967328 bytes of shared memory; a block has at most 232448"):
        m.bare(y, (1 << 32) + 32)
    assert m.kept(-1) == 11


def test_launches_of_python_ask_by_themselves(m):
    y = np.zeros(8, np.float32)
    wb.compile(HOST)["k"][1, 8, 65536](y)
    np.testing.assert_array_equal(y, REVERSED)


STATIC = "__global__ void k(float* y) { %s a[0] = 1; y[0] = a[0]; }"


@pytest.mark.parametrize(
    "variables",
    [
        "__shared__ float a[12288];",
        "__shared__ char a[49152];",
        # 49,152 bytes without gaps, in the order of the text with 3 more.
        "__shared__ char a[1]; __shared__ float b[12287]; __shared__ char c[3]; b[0] = c[0] = 1;",
        "__shared__ double a[6143]; __shared__ char b; __shared__ int c; __shared__ char d[3]; b = c = d[0] = 1;",
    ],
)
def test_exactly_48_kib_of_static_memory(variables):
    y = np.zeros(1, np.float32)
    wb.compile(STATIC % variables)["k"][1, 1](y)
    assert y == 1


@pytest.mark.parametrize("variables", ["__shared__ char a[49153];", "__shared__ float a[12288]; __shared__ char b; b = 1;"])
def test_one_byte_more_is_too_much(variables):
    with pytest.raises(wb.CompileError, match="49153 bytes"):
        wb.compile(STATIC % variables)


PAIR = """__global__ void a(float* y) { extern __shared__ %s s%s; y[0] = sizeof(s[0]); }
__global__ void b(float* y) { extern __shared__ %s s%s; y[0] = sizeof(s[0]); }"""


@pytest.mark.parametrize(
    "types",
    [
        ("float", "[]", "double", "[]"),
        ("float", "[]", "const float", "[]"),
        ("char", "[]", "unsigned char", "[]"),
        ("float", "[]", "float", "[][4]"),
    ],
)
def test_dynamic_memory_of_one_name_has_one_type(types):
    # NVRTC: declaration is incompatible with previous "s".
    with pytest.raises(wb.CompileError) as error:
        wb.compile(PAIR % types)
    text = str(error.value)
    assert "`s` is dynamic shared memory of type" in text
    assert "<kernel>:2:" in text and f"`{types[0]}{types[1]}` here" in text


def test_of_a_template_too():
    text = """template <typename T> __global__ void k(T* y) {
        extern __shared__ T s[];
        s[0] = 1; y[0] = s[0];
    }
    template __global__ void k<float>(float*);
    template __global__ void k<double>(double*);"""
    with pytest.raises(wb.CompileError, match="cast its address"):
        wb.compile(text)
    # One instance is no contradiction, nor are two of one type.
    y = np.zeros(1)
    wb.compile(text.replace("template __global__ void k<float>(float*);", ""))["k<double>"][1, 1, 8](y)
    assert y == 1


@pytest.mark.parametrize(
    "text",
    [
        PAIR % ("float", "[]", "__align__(16) float", "[]"),
        PAIR % ("int", "[]", "signed", "[]"),
        "namespace p { __global__ void a(float* y) { extern __shared__ float s[]; y[0] = s[0]; } }\n"
        "__global__ void b(float* y) { extern __shared__ double s[]; y[0] = s[0]; }",
    ],
)
def test_what_nvrtc_takes(text):
    wb.compile(text)


def test_at_namespace_scope_and_in_members():
    with pytest.raises(wb.CompileError, match="`s` is dynamic shared memory"):
        wb.compile("extern __shared__ float s[]; __global__ void a(float* y) { extern __shared__ double s[]; y[0] = s[0] + sizeof(s[0]); }"
                   "__global__ void b(float* y) { y[0] = s[0]; }")
    with pytest.raises(wb.CompileError, match="`s` is dynamic shared memory"):
        wb.compile("""struct A { __device__ static void f(float* y) { extern __shared__ float s[]; y[0] = s[0]; } };
        struct B { __device__ static void f(float* y) { extern __shared__ int s[]; y[0] = s[0]; } };
        __global__ void a(float* y) { A::f(y); B::f(y); }""")

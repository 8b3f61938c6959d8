"""`__device__` and `__constant__` variables in host code: there the name is no memory. What copies by symbol works, all else is an error."""

import numpy as np
import pytest

import workbench as wb

HEAD = """
#include <torch/extension.h>
struct Pair { float a, b; };
__device__ int counter;
__device__ float table[4] = {1, 2, 3, 4};
__constant__ float weights[3];
__constant__ float scale;
__device__ Pair pair;
namespace inner { __device__ int deep = 2; }
__global__ void k(const float* p, float* y) { y[threadIdx.x] = p[threadIdx.x]; }
__global__ void count() { atomicAdd(&counter, 1); }
__global__ void weigh(float* y) { y[threadIdx.x] = weights[threadIdx.x] * scale + pair.a; }
"""


def module(body, *names):
    return wb.load_inline("variables", "", cuda_sources=HEAD + body, functions=list(names))


@pytest.mark.parametrize(
    ("body", "what", "instead"),
    [
        ("int f() { return counter; }", "host code reads `counter`, which is a `__device__` variable", "cudaMemcpyFromSymbol(&value, counter,"),
        ("int f() { int a = 2 * counter + 1; return a; }", "host code reads `counter`", "cudaMemcpyFromSymbol"),
        ("float f() { return table[2]; }", "host code reads `table`", "cudaMemcpyFromSymbol(&value, table,"),
        ("float f(int64_t i) { return *(table + i); }", "host code reads `table`", "cudaMemcpyFromSymbol"),
        ("float f() { return pair.b; }", "host code reads `pair`", "cudaMemcpyFromSymbol"),
        ("float f() { return scale; }", "host code reads `scale`, which is a `__constant__` variable", "cudaMemcpyFromSymbol"),
        ("int f() { return inner::deep; }", "host code reads `deep`", "cudaMemcpyFromSymbol"),
        ("void f() { counter = 3; }", "host code writes `counter`", "cudaMemcpyToSymbol(counter, &value,"),
        ("void f() { counter++; }", "host code writes `counter`", "cudaMemcpyToSymbol"),
        ("void f() { table[1] += 2; }", "host code writes `table`", "cudaMemcpyToSymbol"),
        ("void f() { pair.a = 3; }", "host code writes `pair`", "cudaMemcpyToSymbol"),
        ("void f(torch::Tensor y) { k<<<1, 3>>>(weights, y.data_ptr<float>()); }", "a kernel is given the host's address of `weights`", "cudaGetSymbolAddress((void**)&p, weights)"),
        ("void f(torch::Tensor y) { k<<<1, 1>>>(&scale, y.data_ptr<float>()); }", "a kernel is given the host's address of `scale`", "name `scale` itself"),
        ("void f(torch::Tensor y) { k<<<1, 2>>>(table + 1, y.data_ptr<float>()); }", "a kernel is given the host's address of `table`", "cudaGetSymbolAddress"),
        ("void f() { float w[3]; cudaMemcpy(w, weights, 12, cudaMemcpyDeviceToHost); }", "the host's address of `weights`", "cudaMemcpyFromSymbol(.., weights, ..)"),
        ("void f() { int n = 0; cudaMemcpy(&counter, &n, 4, cudaMemcpyHostToDevice); }", "the host's address of `counter`", "cudaMemcpyToSymbol(counter, ..)"),
        ("void f() { cudaMemset(table, 0, 16); }", "the host's address of `table`", "cudaMemcpyToSymbol(table, ..)"),
    ],
)
def test_host_code_that_uses_its_memory(body, what, instead):
    with pytest.raises(wb.CompileError) as error:
        module(body, "f")
    text = str(error.value)
    assert what in text and instead in text
    assert "cuda.cu:13:" in text and "declared here" in text


def test_what_symbols_are_for():
    m = module(
        """
        int64_t counted(int64_t n) {
            int zero = 0, all;
            cudaMemcpyToSymbol(counter, &zero, sizeof(counter));
            count<<<n, 32>>>();
            cudaMemcpyFromSymbol(&all, counter, sizeof(all));
            return all;
        }
        void weighed(torch::Tensor y) {
            float w[3] = {1, 2, 3}, s = 10;
            Pair p = {100, 0};
            cudaMemcpyToSymbol(weights, w, sizeof(w));
            cudaMemcpyToSymbol(scale, &s, sizeof(scale), 0, cudaMemcpyHostToDevice);
            cudaMemcpyToSymbol(pair, &p, sizeof p);
            weigh<<<1, 3>>>(y.data_ptr<float>());
        }
        void by_address(torch::Tensor y) {
            float* p;
            cudaGetSymbolAddress((void**)&p, table);
            k<<<1, 4>>>(p, y.data_ptr<float>());
        }
        float part() {
            float x;
            cudaMemcpyFromSymbol(&x, table, sizeof(x), 2 * sizeof(x));
            return x;
        }
        """,
        "counted",
        "weighed",
        "by_address",
        "part",
    )
    assert m.counted(3) == 96
    y = np.zeros(3, np.float32)
    m.weighed(y)
    np.testing.assert_array_equal(y, [110, 120, 130])
    y = np.zeros(4, np.float32)
    m.by_address(y)
    np.testing.assert_array_equal(y, [1, 2, 3, 4])
    assert m.part() == 3


def test_constants_are_everybodys():
    # Uses that nvcc accepts: a value known at compile time, and the size of any variable.
    m = wb.load_inline(
        "constants",
        "",
        cuda_sources="""
        #include <torch/extension.h>
        constexpr int N = 7;
        static constexpr float table[2] = {1, 2};
        __device__ double wide[5];
        static int calls = 0;
        __global__ void k(float* y) { y[0] = N; wide[0] = 1; }
        int64_t f() { static int own = 3; return N + sizeof(wide) + (int64_t)table[1] + ++calls + own; }
        """,
        functions=["f"],
    )
    assert m.f() == 7 + 40 + 2 + 1 + 3


def test_an_initialiser_that_nobody_names_runs_before_a_kernel():
    text = """
__device__ int filled;
static int fill() {
    int nine = 9;
    cudaMemcpyToSymbol(filled, &nine, sizeof(int));
    return 1;
}
static int done = fill();
__global__ void k(int* x) { x[0] = filled; }
"""
    x = np.zeros(1, np.int32)
    wb.compile(text).k[1, 1](x)
    assert x.tolist() == [9]

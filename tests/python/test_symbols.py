"""`__constant__` and `__device__` variables, set and read from Python between launches."""

import gc

import numpy as np
import pytest

import workbench as wb

TEXT = """
struct Pair { int a; float b; };
__constant__ float w[3];
__device__ int count = 5;
__device__ double grid[2][2];
__constant__ Pair pair;
__global__ void k(float* y) {
    y[threadIdx.x] = w[threadIdx.x] * count;
}
__global__ void change(float* y) { count += 1; grid[1][0] = 2.5; y[2] += pair.a + pair.b; }
"""


def test_they_are_set_and_read():
    m = wb.compile(TEXT + "// set and read")
    assert m.symbols == ["w", "count", "grid", "pair"]
    w = m.symbol("w")
    assert (w.name, w.dtype, w.nbytes) == ("w", "float32", 12)
    y = np.zeros(3, np.float32)
    for value in [np.array([1, 2, 4], np.float32), [1, 2.0, 4], (1, 2, 4), np.array([1, 2, 4], np.float32).tobytes()]:
        w.set(value)
        np.testing.assert_array_equal(w.get(), np.array([1, 2, 4], np.float32))
    m.symbol("count").set(10)
    m.symbol("pair").set(np.array([(1, 0.5)], np.dtype([("a", "i4"), ("b", "f4")])).tobytes())
    m.k[1, 3](y)
    m.change[1, 1](y)
    assert m.symbol("count").get().tolist() == [11]
    assert m.symbol("grid").get().tolist() == [0, 0, 2.5, 0]
    assert y.tolist() == [10, 20, 41.5]
    # Two-dimensional variables take arrays of their shape or flat ones.
    m.symbol("grid").set(np.arange(4.0).reshape(2, 2))
    assert m.symbol("grid").get().tolist() == [0, 1, 2, 3]


def test_what_does_not_fit_is_said():
    m = wb.compile(TEXT + "// wrong")
    with pytest.raises(wb.ArgumentError, match="no `__constant__` or `__device__` variable `nothing`; the text has `w`"):
        m.symbol("nothing")
    for value, why in [
        (np.zeros(2, np.float32), "holds 3 x float32; 2 x float32 given"),
        (np.zeros(3), "holds 3 x float32; 3 x float64 given"),
        ([1, 2], "holds 3 x float32; 2 numbers given"),
        (1.0, "holds 3 x float32; one number given"),
        (b"abc", "12 bytes; 3 given"),
        ([1, "x", 2], "got str"),
        (None, "parameter `w`"),
    ]:
        with pytest.raises(wb.ArgumentError, match=why):
            m.symbol("w").set(value)
    with pytest.raises(wb.ArgumentError, match="struct of 8 bytes"):
        m.symbol("pair").set([1, 2])
    with pytest.raises(wb.ArgumentError, match="cannot hold"):
        m.symbol("count").set(2**40)
    assert m.symbol("w").get().tolist() == [0, 0, 0]


VARIABLES = """
__constant__ float c;
__device__ int n = 3;
template <class T> __global__ void k(T* y) { y[0] = c; y[1] = n; n += 1; }
__global__ void p(float* y) { y[0] = c; y[1] = n; n += 10; }
"""


def test_instances_share_the_variables_of_their_text():
    m = wb.compile(VARIABLES)
    y = np.zeros(2, np.float32)
    m.symbol("c").set(np.float32(5))
    m["k<float>"][1, 1](y)
    assert y.tolist() == [5, 3]
    m.p[1, 1](y)
    assert y.tolist() == [5, 4]
    d = np.zeros(2)
    m["k<double>"][1, 1](d)
    assert d.tolist() == [5, 14]
    assert m.symbol("n").get() == 15
    m.symbol("c").set(np.float32(-2))
    m["k<float>"][1, 1](y)
    assert y.tolist() == [-2, 15]


def test_an_instance_keeps_the_variables_alive():
    y = np.zeros(2, np.float32)
    k = wb.compile(VARIABLES)["k<float>"]
    gc.collect()
    for n in range(3, 6):
        k[1, 1](y)
        assert y.tolist() == [0, n]


def test_variables_begin_anew_when_a_text_is_compiled_again():
    y = np.zeros(2, np.float32)
    for _ in range(2):
        m = wb.compile(VARIABLES)
        m.p[1, 1](y)
        m.p[1, 1](y)
        assert y.tolist() == [0, 13]


def test_instances_tell_variables_of_one_name_apart():
    m = wb.compile("""
    namespace fixed { __device__ const float c[2] = {1, 2}; }
    namespace first { __constant__ float c[2]; }
    namespace second { __device__ float c[2] = {3, 4}; }
    template <class T> __global__ void k(T* y) {
        const int i = threadIdx.x;
        y[3 * i] = fixed::c[i], y[3 * i + 1] = first::c[i], y[3 * i + 2] = second::c[i];
        second::c[i] += 10;
    }
    __global__ void p(float* y) { y[threadIdx.x] = second::c[threadIdx.x]; }
    """)
    y = np.zeros(6, np.float32)
    m["k<float>"][1, 2](y)
    assert y.tolist() == [1, 0, 3, 2, 0, 4]
    m.p[1, 2](y)
    assert y[:2].tolist() == [13, 14]
    m["k<double>"][1, 2](d := np.zeros(6))
    assert d.tolist() == [1, 0, 13, 2, 0, 14]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_name_of_several_variables_is_refused(device):
    text = "namespace a { __device__ int w = 1; } namespace b { __device__ int w = 2; } __global__ void k(int* o) { o[0] = a::w + b::w; }"
    with pytest.raises(wb.ArgumentError, match="`w` is the name of several variables"):
        wb.compile(text, device=device).symbol("w")


def test_a_functions_own_variable_is_written_for_a_gpu_too():
    text = "__device__ int fn() { static int cnt = 5; return ++cnt; } __global__ void k(int* x) { x[0] = fn(); }"
    for device in ("cpu", "cuda"):
        symbol = wb.compile(text, device=device).symbol("cnt")
        assert symbol.get().tolist() == [5]
        symbol.set(9)
        assert symbol.get().tolist() == [9], device

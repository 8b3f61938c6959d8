"""Arrays of CuPy and JAX on a GPU, host arrays sent there, and what goes between the libraries."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

from texts import MULADD, SAXPY


def muladd() -> wb.Op:
    return wb.op("cuda_libraries::muladd(Tensor a, Tensor b, float c) -> Tensor", MULADD, shape="a[*], b[*] -> out[*]")


def test_cupys_arrays():
    cupy = pytest.importorskip("cupy")
    saxpy, op = wb.compile(SAXPY, device="cuda").saxpy, muladd()
    for n in (0, 1, 37, 100_003):
        x, y = cupy.random.rand(n, dtype=np.float32), cupy.random.rand(n, dtype=np.float32)
        want = cupy.asnumpy(x) * np.float32(2) + cupy.asnumpy(y)
        saxpy[max(1, -(-n // 256)), 256](2.0, x, y, n)
        # One product and one sum, fused or not.
        np.testing.assert_allclose(cupy.asnumpy(y), want, rtol=2e-7)
        out = op(x, y, 0.5)
        assert isinstance(out, cupy.ndarray) and out.dtype == np.float32 and out.shape == (n,)
        np.testing.assert_allclose(cupy.asnumpy(out), cupy.asnumpy(x) * cupy.asnumpy(y) + 0.5, rtol=2e-7)
    x = cupy.random.rand(33, 65)
    out = op(x.T, x.T, 0.0)
    np.testing.assert_allclose(cupy.asnumpy(out), cupy.asnumpy(x.T) ** 2, rtol=1e-15)


def test_cupys_streams():
    cupy = pytest.importorskip("cupy")
    saxpy, n = wb.compile(SAXPY, device="cuda").saxpy, 1 << 20
    with cupy.cuda.Stream(non_blocking=True) as stream:
        x, y = cupy.ones(n, np.float32), cupy.zeros(n, np.float32)
        for _ in range(50):
            saxpy[n // 256, 256](1.0, x, y, n)
            x += 1
        assert float(y[0]) == sum(range(1, 51)) == float(y[-1])
    saxpy[n // 256, 256, 0, stream](1.0, x, y, n)
    stream.synchronize()
    assert float(y[0]) == sum(range(1, 52))


def test_cupys_graphs():
    cupy = pytest.importorskip("cupy")
    saxpy = wb.compile(SAXPY, device="cuda").saxpy
    x, y = cupy.ones(37, np.float32), cupy.zeros(37, np.float32)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        saxpy[1, 64](1.0, x, y, 37)
        stream.begin_capture()
        saxpy[1, 64](1.0, x, y, 37)
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch(stream)
        stream.synchronize()
    assert (cupy.asnumpy(y) == 4).all()


def test_jaxs_arrays():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU here")
    op = muladd()
    a, b = jax.random.normal(jax.random.key(0), (5, 67)), jax.random.normal(jax.random.key(1), (5, 67))
    out = op(a, b, 0.5)
    assert isinstance(out, jax.Array) and out.shape == (5, 67)
    np.testing.assert_allclose(np.asarray(out), np.asarray(a) * np.asarray(b) + np.float32(0.5), rtol=2e-6, atol=1e-6)
    with pytest.raises(wb.ArgumentError, match="read-only"):
        wb.compile(SAXPY, device="cuda").saxpy[1, 64](1.0, a[0], b[0], 67)


def test_arrays_go_between_the_libraries():
    cupy, torch = pytest.importorskip("cupy"), pytest.importorskip("torch")
    op = muladd()
    x = cupy.random.rand(37, dtype=np.float32)
    tensor = torch.from_dlpack(op(x, x, 0.0))
    assert tensor.is_cuda
    mixed = op(tensor, torch.from_dlpack(x), 1.0)
    assert isinstance(mixed, torch.Tensor)
    torch.testing.assert_close(mixed, tensor * torch.from_dlpack(x) + 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 1003, 1 << 20])
def test_host_arrays_are_sent_over_and_back(n: int, dtype: type):
    op, rng = muladd(), np.random.default_rng(n)
    a, b = (rng.standard_normal(n).astype(dtype) for _ in range(2))
    out = op(a, b, 0.5, device="cuda")
    assert isinstance(out, np.ndarray)
    np.testing.assert_allclose(out, a * b + dtype(0.5), rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)


def test_the_gpu_is_listed():
    assert "cuda:0" in wb.devices()


def test_operators_by_name_and_type():
    cupy = pytest.importorskip("cupy")
    op = wb.op("cuda_libraries::which(Tensor x) -> Tensor", "__global__ void one(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 1; }",
               shape="x[n] -> y[n]")
    two = "__global__ void two(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2; }"
    op.register_kernel("cuda", wb.compile(two, device="cuda").two)
    assert (op(np.zeros(3, np.float32)) == 1).all()
    assert (cupy.asnumpy(op(cupy.zeros(3, np.float32))) == 2).all()

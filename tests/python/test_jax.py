"""Operators on JAX's arrays: called with them, traced, differentiated, batched."""

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
jnp = jax.numpy

TEXT = """
__global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c;
}
"""
HOST = """
at::Tensor picked(const at::Tensor& x, const at::Tensor& index) { return x.index_select(0, index); }
at::Tensor picked_backward(const at::Tensor& g, const at::Tensor& x, const at::Tensor& index) {
    return at::zeros_like(x).index_add(0, index, g);
}
void fill_(at::Tensor& x) { x.fill_(1); }
"""


def make():
    op = wb.op("wb_jax::muladd(Tensor a, Tensor b, float c) -> Tensor", TEXT, shape="a[*], b[*] -> out[*]")

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])

    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a, None

    op.register_autograd(backward, setup_context=setup)
    return op


def arrays(shape=(3, 5)):
    rng = np.random.default_rng(0)
    return jnp.asarray(rng.standard_normal(shape), jnp.float32), jnp.asarray(rng.standard_normal(shape), jnp.float32)


def test_results_are_the_callers_own_kind():
    a, b = arrays()
    result = make()(a, b, 2.0)
    assert isinstance(result, jax.Array)
    # One product and one sum, each rounded once.
    np.testing.assert_allclose(result, a * b + 2, rtol=3e-7, atol=3e-7)


def test_jit_grad_and_vmap():
    f = make().to_jax()
    a, b = arrays()
    want = np.asarray(a, np.float64) * np.asarray(b, np.float64) + 0.5
    np.testing.assert_allclose(f(a, b, 0.5), want, rtol=3e-7, atol=3e-7)
    np.testing.assert_allclose(jax.jit(lambda x, y: f(x, y, c=0.5))(a, b), want, rtol=3e-7, atol=3e-7)
    np.testing.assert_array_equal(jax.grad(lambda x: f(x, b, 0.5).sum())(a), b)
    np.testing.assert_array_equal(jax.jit(jax.grad(lambda y: f(a, y, 0.5).sum()))(b), a)
    np.testing.assert_allclose(jax.vmap(lambda x, y: f(x, y, 0.5))(a, b), want, rtol=3e-7, atol=3e-7)
    np.testing.assert_array_equal(jax.vmap(jax.grad(lambda x, y: f(x, y, 0.5).sum()))(a, b), b)


def test_integers_and_operators_of_texts():
    op = wb.op("wb_jax::picked(Tensor x, Tensor index) -> Tensor", HOST, kernel="picked")
    wb.op("wb_jax::picked_backward(Tensor g, Tensor x, Tensor index) -> Tensor", HOST, kernel="picked_backward")
    op.register_autograd("wb_jax::picked_backward", saves=["x", "index"], differentiable=["x"])
    x, index = arrays()[0], jnp.asarray([2, 0, 2])
    f = op.to_jax()
    np.testing.assert_array_equal(jax.jit(f)(x, index), x[index])
    np.testing.assert_array_equal(jax.grad(lambda v: f(v, index).sum())(x), jax.grad(lambda v: v[index].sum())(x))


def test_what_cannot_be_said_to_jax():
    fill = wb.op("wb_jax::fill_(Tensor(a!) x) -> ()", HOST, kernel="fill_")
    with pytest.raises(wb.ArgumentError, match="`wb_jax::fill_` writes x"):
        fill.to_jax()
    f, (a, _) = make().to_jax(), arrays()
    with pytest.raises(wb.ArgumentError, match=r"`wb_jax::muladd`"):
        jax.jit(f)(a, jnp.ones((2, 2)), 1.0)

"""Gradients that a text writes in C++, without torch: `vjp` and `gradcheck` of operators that a text registers. Expected values are
derivatives by hand."""

import numpy as np
import pytest

import workbench as wb

TEXT = """
using namespace torch::autograd;
at::Tensor cube_cpu(const at::Tensor& x) {
    at::Tensor in = x.contiguous(), out = torch::empty_like(in);
    const double* p = in.data_ptr<double>();
    double* q = out.data_ptr<double>();
    for (int64_t i = 0; i < in.numel(); ++i) q[i] = p[i] * p[i] * p[i];
    return out;
}
struct Cube : public Function<Cube> {
    static Variable forward(AutogradContext* ctx, Variable x) {
        ctx->save_for_backward({x});
        at::AutoDispatchBelowAutograd guard;
        static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("wb_vjp::cube", "").typed<at::Tensor(const at::Tensor&)>();
        return op.call(x);
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
        auto x = ctx->get_saved_variables()[0];
        return {3 * x * x * grads[0]};
    }
};
at::Tensor cube(const at::Tensor& x) { return Cube::apply(x); }
at::Tensor mixed(const at::Tensor& x, at::TensorList more, double factor) {
    static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("wb_vjp::cube", "").typed<at::Tensor(const at::Tensor&)>();
    return op.call(x * factor) + more[0] * more[1];
}
at::Tensor only_cpu(const at::Tensor& x) { return x * 2; }
at::Tensor uses_only_cpu(const at::Tensor& x) {
    return c10::Dispatcher::singleton().findSchemaOrThrow("wb_vjp::only_cpu", "").typed<at::Tensor(const at::Tensor&)>().call(x) + 1;
}
at::Tensor unknown(const at::Tensor& x) { return x.floor_divide(2); }
at::Tensor into_a_view(const at::Tensor& x) {
    auto out = torch::zeros_like(x);
    out.select(0, 0).copy_(x.select(0, 0));
    out.slice(1, 1, 3).mul_(x.slice(1, 0, 2));
    return out * 2;
}
at::Tensor stale(const at::Tensor& x) {
    auto out = x * 1, row = out.select(0, 0);
    out.mul_(x);
    return row * 2;
}
TORCH_LIBRARY(wb_vjp, m) {
    m.def("cube(Tensor x) -> Tensor");
    m.def("mixed(Tensor x, Tensor[] more, float factor) -> Tensor", &mixed);
    m.def("only_cpu(Tensor x) -> Tensor");
    m.def("uses_only_cpu(Tensor x) -> Tensor", &uses_only_cpu);
    m.def("unknown(Tensor x) -> Tensor", &unknown);
    m.def("into_a_view(Tensor x) -> Tensor", &into_a_view);
    m.def("stale(Tensor x) -> Tensor", &stale);
}
TORCH_LIBRARY_IMPL(wb_vjp, CPU, m) {
    m.impl("cube", &cube_cpu);
    m.impl("only_cpu", &only_cpu);
}
TORCH_LIBRARY_IMPL(wb_vjp, Autograd, m) { m.impl("cube", &cube); }
"""
X = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -1.0]])


@pytest.fixture(scope="module")
def ops():
    wb.load_inline("wb_vjp", TEXT, is_python_module=False)
    return wb.ops.wb_vjp


def test_the_key_autograd(ops):
    y, pull = ops.cube.vjp(X)
    np.testing.assert_array_equal(y, X**3)
    (gradient,) = pull(np.full_like(X, 2.0))
    np.testing.assert_allclose(gradient, 6 * X**2, rtol=1e-15)
    (again,) = pull(np.ones_like(X))
    np.testing.assert_allclose(again, 3 * X**2, rtol=1e-15)
    assert ops.cube.gradcheck(X).passed


def test_a_composite_that_calls_an_operator(ops):
    a, b = np.array([2.0, 1.0, -1.0]), np.ones_like(X)
    y, pull = ops.mixed.vjp(X, [a, b], 2.0)
    np.testing.assert_allclose(y, 8 * X**3 + a)
    gx, (ga, gb), gf = pull(np.ones_like(X))
    np.testing.assert_allclose(gx, 24 * X**2)
    # The vector was broadcast over two rows.
    np.testing.assert_allclose(ga, [2.0, 2.0, 2.0])
    np.testing.assert_allclose(gb, np.tile(a, (2, 1)))
    assert gf is None


def test_an_operator_without_a_gradient_is_named(ops):
    with pytest.raises(RuntimeError, match="wb_vjp::only_cpu` has no gradient"):
        ops.uses_only_cpu.vjp(X)[1](np.ones_like(X))
    with pytest.raises(wb.ArgumentError, match="`wb_vjp::only_cpu` has no gradient"):
        ops.only_cpu.vjp(X)


def test_an_operation_without_a_derivative_is_named(ops):
    y, pull = ops.unknown.vjp(X)
    np.testing.assert_array_equal(y, X // 2)
    with pytest.raises(RuntimeError, match="derivative for `floor_divide` is not implemented"):
        pull(np.ones_like(X))


def test_what_is_written_by_way_of_a_view(ops):
    # Row 0 is 2 x0, 2 x1 x0, 2 x2 x1; row 1 is zero.
    a, b, c = X[0]
    y, pull = ops.into_a_view.vjp(X)
    np.testing.assert_array_equal(y, [[2 * a, 2 * a * b, 2 * b * c], [0, 0, 0]])
    (gradient,) = pull(np.ones_like(X))
    np.testing.assert_allclose(gradient, [[2 + 2 * b, 2 * a + 2 * c, 2 * b], [0, 0, 0]])
    assert ops.into_a_view.gradcheck(X).passed


def test_a_view_of_what_was_written(ops):
    y, pull = ops.stale.vjp(X)
    np.testing.assert_array_equal(y, 2 * X[0] ** 2)
    (gradient,) = pull(np.ones(3))
    np.testing.assert_array_equal(gradient, [4 * X[0], [0, 0, 0]])


def test_a_registered_gradient_goes_before(ops):
    wb.load_inline("wb_vjp", TEXT, is_python_module=False)
    ops.cube.register_autograd(lambda ctx, grad: grad * 7)
    assert (ops.cube.vjp(X)[1](np.ones_like(X))[0] == 7).all()
    wb.load_inline("wb_vjp", TEXT, is_python_module=False)
    np.testing.assert_allclose(ops.cube.vjp(X)[1](np.ones_like(X))[0], 3 * X**2)

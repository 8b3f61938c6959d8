"""Gradients that a text writes in C++, in torch: `torch::autograd::Function` for the key Autograd, in composites and in functions of a
module, and composites of operations. Expected gradients are torch's, of the same formula in Python."""

import pytest
import torch

import workbench as wb

gradcheck = torch.autograd.gradcheck

MULADD = """
using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double c) {
    TORCH_CHECK(a.sizes() == b.sizes(), "sizes differ");
    at::Tensor x = a.contiguous(), y = b.contiguous(), out = torch::empty(x.sizes(), x.options());
    const double *px = x.data_ptr<double>(), *py = y.data_ptr<double>();
    double* po = out.data_ptr<double>();
    for (int64_t i = 0; i < x.numel(); ++i) po[i] = px[i] * py[i] + c;
    return out;
}
at::Tensor muladd(const at::Tensor& a, const at::Tensor& b, double c) {
    static auto op = c10::Dispatcher::singleton()
        .findSchemaOrThrow("wb_grad::muladd", "")
        .typed<at::Tensor(const at::Tensor&, const at::Tensor&, double)>();
    return op.call(a, b, c);
}
class MulAdd : public torch::autograd::Function<MulAdd> {
 public:
    static Variable forward(AutogradContext* ctx, Variable a, Variable b, double c) {
        at::AutoDispatchBelowADInplaceOrView guard;
        ctx->save_for_backward({a, b});
        return muladd(a, b, c);
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
        auto saved = ctx->get_saved_variables();
        at::Tensor ga, gb;
        if (ctx->needs_input_grad(0)) ga = grads[0] * saved[1];
        if (ctx->needs_input_grad(1)) gb = grads[0] * saved[0];
        return {ga, gb, Variable()};
    }
};
at::Tensor muladd_autograd(const at::Tensor& a, const at::Tensor& b, double c) { return MulAdd::apply(a, b, c); }
TORCH_LIBRARY(wb_grad, m) { m.def("muladd(Tensor a, Tensor b, float c) -> Tensor"); }
TORCH_LIBRARY_IMPL(wb_grad, CPU, m) { m.impl("muladd", &muladd_cpu); }
TORCH_LIBRARY_IMPL(wb_grad, Autograd, m) { m.impl("muladd", &muladd_autograd); }
"""


@pytest.fixture(scope="module")
def muladd():
    wb.load_inline("wb_grad", MULADD, is_python_module=False)
    return torch.ops.wb_grad.muladd


def leaves(*shapes, seed=0):
    torch.manual_seed(seed)
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def test_the_key_autograd_with_a_dispatcher_call_below_it(muladd):
    a, b = leaves((3, 4), (3, 4))
    y = muladd(a, b, 2.0)
    assert y.requires_grad
    y.backward(torch.full_like(y, 3.0))
    assert torch.equal(a.grad, 3 * b.detach()) and torch.equal(b.grad, 3 * a.detach())
    assert gradcheck(lambda a, b: muladd(a, b, 2.0), (a, b))


def test_one_argument_alone(muladd):
    a, b = leaves((5,), (5,))
    muladd(a, b.detach(), 0.0).sum().backward()
    assert torch.equal(a.grad, b.detach()) and b.grad is None


def test_without_grad_nothing_is_recorded(muladd):
    a, b = leaves((5,), (5,))
    with torch.no_grad():
        assert not muladd(a, b, 1.0).requires_grad
    assert not muladd(a.detach(), b.detach(), 1.0).requires_grad
    assert torch.equal(muladd(a.detach(), b.detach(), 1.0), a.detach() * b.detach() + 1)


def test_what_is_saved_may_not_be_written(muladd):
    a, b = leaves((5,), (5,))
    x = a * 1
    y = muladd(x, b, 1.0)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_gradient_itself_has_none(muladd):
    a, b = leaves((3,), (3,))
    (g,) = torch.autograd.grad(muladd(a, b, 1.0).sum(), a, create_graph=True)
    with pytest.raises(RuntimeError, match="`wb_grad::muladd` is differentiated twice"):
        g.sum().backward()


# A cell of a recurrent network, whose backward is a function of its own, in a module of pybind11.
CELL = """
#include <torch/extension.h>

at::Tensor d_sigmoid(at::Tensor z) { auto s = torch::sigmoid(z); return (1 - s) * s; }
at::Tensor d_tanh(at::Tensor z) { return 1 - z.tanh().pow(2); }

class Cell : public torch::autograd::Function<Cell> {
 public:
    static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, at::Tensor input, at::Tensor weights,
                                                  at::Tensor bias, at::Tensor old_h, at::Tensor old_cell, double slope) {
        auto x = torch::cat({old_h, input}, 1);
        auto gates = torch::addmm(bias, x, weights.transpose(0, 1)).chunk(3, 1);
        auto in = torch::sigmoid(gates[0]), out = torch::sigmoid(gates[1]), candidate = torch::tanh(gates[2]) * slope;
        auto new_cell = old_cell + candidate * in;
        auto new_h = torch::tanh(new_cell) * out;
        ctx->save_for_backward({x, weights, gates[0], gates[1], gates[2], new_cell});
        ctx->saved_data["slope"] = slope;
        ctx->saved_data["state"] = old_h.size(1);
        return {new_h, new_cell};
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
        auto saved = ctx->get_saved_variables();
        auto x = saved[0], weights = saved[1], g_in = saved[2], g_out = saved[3], g_can = saved[4], new_cell = saved[5];
        double slope = ctx->saved_data["slope"].toDouble();
        int64_t state = ctx->saved_data["state"].toInt();
        auto in = torch::sigmoid(g_in), out = torch::sigmoid(g_out), candidate = torch::tanh(g_can) * slope;
        auto d_out = torch::tanh(new_cell) * grads[0];
        auto d_new = d_tanh(new_cell) * out * grads[0] + grads[1];
        auto d_gates = torch::cat({candidate * d_new * d_sigmoid(g_in), d_out * d_sigmoid(g_out), in * d_new * slope * d_tanh(g_can)}, 1);
        auto d_weights = d_gates.t().mm(x);
        auto d_bias = d_gates.sum(0, true);
        auto d_x = d_gates.mm(weights);
        return {d_x.slice(1, state), d_weights, d_bias, d_x.slice(1, 0, state), d_new, at::Tensor()};
    }
};
std::vector<at::Tensor> cell(at::Tensor input, at::Tensor weights, at::Tensor bias, at::Tensor old_h, at::Tensor old_cell, double slope) {
    return Cell::apply(input, weights, bias, old_h, old_cell, slope);
}
std::vector<at::Tensor> composite(at::Tensor input, at::Tensor weights, at::Tensor bias, at::Tensor old_h, at::Tensor old_cell, double slope) {
    auto x = torch::cat({old_h, input}, 1);
    auto gates = torch::addmm(bias, x, weights.transpose(0, 1)).chunk(3, 1);
    auto new_cell = old_cell + torch::tanh(gates[2]) * slope * torch::sigmoid(gates[0]);
    return {torch::tanh(new_cell) * torch::sigmoid(gates[1]), new_cell};
}
"""


def cell_in_torch(input, weights, bias, old_h, old_cell, slope):
    x = torch.cat([old_h, input], 1)
    gates = torch.addmm(bias, x, weights.t()).chunk(3, 1)
    new_cell = old_cell + gates[2].tanh() * slope * gates[0].sigmoid()
    return new_cell.tanh() * gates[1].sigmoid(), new_cell


@pytest.fixture(scope="module")
def cell_module():
    return wb.load_inline("wb_cell", CELL, functions=["cell", "composite"])


@pytest.mark.parametrize("name", ["cell", "composite"])
def test_a_cell_of_a_network_in_a_module(cell_module, name):
    cell = getattr(cell_module, name)
    inputs = leaves((2, 3), (12, 7), (1, 12), (2, 4), (2, 4))
    new_h, new_cell = cell(*inputs, 0.5)
    expected = cell_in_torch(*inputs, 0.5)
    torch.testing.assert_close((new_h, new_cell), expected)
    seeds = torch.randn(2, 4, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)
    ours = torch.autograd.grad((new_h, new_cell), inputs, seeds)
    torch.testing.assert_close(ours, torch.autograd.grad(expected, inputs, seeds))
    assert gradcheck(lambda *args: tuple(cell(*args, 0.5)), inputs)


@pytest.mark.parametrize("name", ["cell", "composite"])
def test_one_result_of_two(cell_module, name):
    inputs = leaves((2, 3), (12, 7), (1, 12), (2, 4), (2, 4))
    ours = torch.autograd.grad(getattr(cell_module, name)(*inputs, 0.5)[1].sum(), inputs)
    theirs = torch.autograd.grad(cell_in_torch(*inputs, 0.5)[1].sum(), inputs)
    torch.testing.assert_close(ours, theirs)


def test_a_network_that_learns(cell_module):
    torch.manual_seed(1)
    weights, bias = torch.nn.Parameter(0.1 * torch.randn(12, 7)), torch.nn.Parameter(torch.zeros(1, 12))
    x, h, c = torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 4)
    optimiser = torch.optim.SGD([weights, bias], lr=0.5)
    losses = []
    for _ in range(5):
        optimiser.zero_grad()
        new_h, _ = cell_module.cell(x, weights, bias, h, c, 1.0)
        loss = (new_h - 1).pow(2).mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


# The context: what torch's custom_function.h offers.
CONTEXT = """
using namespace torch::autograd;
struct Several : public Function<Several> {
    static variable_list forward(AutogradContext* ctx, Variable x, Variable y, int64_t n, const std::optional<at::Tensor>& mask) {
        auto largest = std::get<1>(x.max(0, true));
        ctx->save_for_backward({x, y});
        ctx->saved_data["n"] = n;
        ctx->saved_data["mask"] = mask;
        ctx->mark_non_differentiable({largest});
        auto made = x * y * n;
        if (mask.has_value()) made = made * *mask;
        return {made, largest, x + y};
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
        auto saved = ctx->get_saved_variables();
        int64_t n = ctx->saved_data["n"].toInt();
        auto g = grads[0];
        if (!ctx->saved_data["mask"].isNone()) g = g * ctx->saved_data["mask"].toTensor();
        return {g * saved[1] * n + grads[2], g * saved[0] * n + grads[2], Variable(), Variable()};
    }
};
variable_list several(at::Tensor x, at::Tensor y, int64_t n, std::optional<at::Tensor> mask) { return Several::apply(x, y, n, mask); }

struct Undefined : public Function<Undefined> {
    static variable_list forward(AutogradContext* ctx, Variable x, Variable y) {
        ctx->set_materialize_grads(false);
        return {x * 2, y * 3};
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
        Variable gx, gy;
        if (grads[0].defined()) gx = grads[0] * 2;
        if (grads[1].defined()) gy = grads[1] * 3;
        return {gx, gy};
    }
};
variable_list undefined(at::Tensor x, at::Tensor y) { return Undefined::apply(x, y); }

struct Sum : public Function<Sum> {
    static Variable forward(AutogradContext* ctx, at::TensorList all) {
        ctx->saved_data["count"] = (int64_t)all.size();
        auto sum = all[0].clone();
        for (size_t i = 1; i < all.size(); ++i) sum = sum + all[i] * (double)(i + 1);
        return sum;
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
        variable_list made;
        for (int64_t i = 0; i < ctx->saved_data["count"].toInt(); ++i) made.push_back(grads[0] * (double)(i + 1));
        return made;
    }
};
at::Tensor weighted(std::vector<at::Tensor> all) { return Sum::apply(at::TensorList(all)); }

struct Dirty : public Function<Dirty> {
    static Variable forward(AutogradContext* ctx, Variable x) {
        x.mul_(3);
        ctx->mark_dirty({x});
        return x;
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) { return {grads[0] * 3}; }
};
at::Tensor triple_(at::Tensor x) { return Dirty::apply(x); }
at::Tensor triple(at::Tensor x) { return Dirty::apply(x * 1) + 1; }

struct TooFew : public Function<TooFew> {
    static Variable forward(AutogradContext*, Variable x, Variable y) { return x + y; }
    static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};
at::Tensor too_few(at::Tensor x, at::Tensor y) { return TooFew::apply(x, y); }
struct WrongShape : public Function<WrongShape> {
    static Variable forward(AutogradContext*, Variable x) { return x.sum(); }
    static variable_list backward(AutogradContext*, variable_list grads) { return {torch::ones({2}, grads[0].options())}; }
};
at::Tensor wrong_shape(at::Tensor x) { return WrongShape::apply(x); }
struct Raises : public Function<Raises> {
    static Variable forward(AutogradContext*, Variable x) { return x * 2; }
    static variable_list backward(AutogradContext*, variable_list grads) {
        TORCH_CHECK(grads[0].numel() == 2, "two are wanted");
        return {grads[0] * 2};
    }
};
at::Tensor raises(at::Tensor x) { return Raises::apply(x); }

at::Tensor modes(at::Tensor x) {
    at::Tensor y;
    {
        torch::NoGradGuard guard;
        y = x * 2;
        TORCH_CHECK(!y.requires_grad() && !at::GradMode::is_enabled());
        torch::AutoGradMode on(true);
        TORCH_CHECK(at::GradMode::is_enabled());
    }
    TORCH_CHECK(at::GradMode::is_enabled() && x.requires_grad() && !x.detach().requires_grad());
    return y + x + x.detach();
}
"""


@pytest.fixture(scope="module")
def context():
    names = "several undefined weighted triple_ triple too_few wrong_shape raises modes".split()
    return wb.load_inline("wb_context", CONTEXT, functions=names)


@pytest.mark.parametrize("with_mask", [False, True])
def test_several_results_one_without_a_gradient(context, with_mask):
    x, y = leaves((3, 2), (3, 2))
    mask = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64) if with_mask else None
    made, largest, total = context.several(x, y, 3, mask)
    assert made.requires_grad and not largest.requires_grad and total.requires_grad
    expected = x * y * 3 * (1 if mask is None else mask)
    ours = torch.autograd.grad((made.sin() + total.exp()).sum(), (x, y))
    theirs = torch.autograd.grad((expected.sin() + (x + y).exp()).sum(), (x, y))
    torch.testing.assert_close(ours, theirs)


def test_undefined_gradients(context):
    x, y = leaves((3,), (3,))
    first, second = context.undefined(x, y)
    first.sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 2)) and (y.grad is None or not y.grad.any())


def test_lists_of_tensors(context):
    x, y, z = leaves((3,), (3,), (3,))
    context.weighted([x, y.detach(), z]).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x)) and torch.equal(z.grad, torch.full_like(z, 3)) and y.grad is None


def test_arguments_that_are_written(context):
    (x,) = leaves((3,))
    y = x * 1
    made = context.triple_(y)
    assert made is y or made.data_ptr() == y.data_ptr()
    torch.testing.assert_close(y.detach(), 3 * x.detach())
    (made * y).sum().backward()
    torch.testing.assert_close(x.grad, 18 * x.detach())
    assert gradcheck(context.triple, leaves((3,)))


def test_a_backward_that_gives_too_few(context):
    x, y = leaves((3,), (3,))
    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 1\)"):
        context.too_few(x, y).sum().backward()


def test_a_gradient_of_another_shape(context):
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        context.wrong_shape(leaves((3,))[0]).backward()


def test_a_backward_that_raises(context):
    (x,) = leaves((3,))
    y = context.raises(x)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="two are wanted"):
            y.sum().backward(retain_graph=True)
    (x,) = leaves((2,))
    context.raises(x).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 2))


def test_modes(context):
    (x,) = leaves((3,))
    y = context.modes(x)
    torch.testing.assert_close(y.detach(), 4 * x.detach())
    y.sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))


def test_twice_through_one_graph(context):
    (x,) = leaves((2,))
    y = context.raises(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert torch.equal(x.grad, torch.full_like(x, 4))


@pytest.mark.parametrize("write", ["o.add_(a)", "o += a", "o.sub_(a, 2)", "o.copy_(a)", "o.lerp_(a, 0.5)", "o.addcmul_(a, a)"])
def test_writes_alone_are_recorded_in_every_module(write):
    """Functions that the library has as machine code are not lowered again, and must be known by their parameters."""
    text = f"torch::Tensor f(torch::Tensor a) {{ auto o = torch::zeros({{2, 3}}, a.options()); {write}; return o; }}"
    first, second = (wb.load_inline(f"writes_alone_{i}", text, functions=["f"]).f for i in range(2))
    x = torch.arange(6.0, dtype=torch.double).reshape(2, 3).requires_grad_()
    grads = [torch.autograd.grad(f(x).sum(), x)[0] for f in (first, second)]
    expected = {"o.sub_(a, 2)": torch.full((2, 3), -2.0), "o.lerp_(a, 0.5)": torch.full((2, 3), 0.5), "o.addcmul_(a, a)": 2 * x.detach()}
    for grad in grads:
        assert torch.equal(grad, expected.get(write, torch.ones(2, 3)).double())

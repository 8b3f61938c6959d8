"""`torch::autograd::Function` in host code: forward is what a call gives, backward a function."""

from __future__ import annotations


import numpy as np
import pytest

import workbench as wb

# The text read before the test's text; it is empty where the library has these names.
HEAD = "#include <torch/extension.h>\nusing namespace torch::autograd;\n"
RNG = np.random.default_rng(20261124)


def build(source, *functions):
    return wb.load_inline("autograd", "", HEAD + source, functions=list(functions))


LINEAR = """
class Linear : public torch::autograd::Function<Linear> {
public:
    static torch::Tensor forward(AutogradContext* ctx, torch::Tensor input, torch::Tensor weight, torch::Tensor bias = torch::Tensor()) {
        ctx->save_for_backward({input, weight, bias});
        auto output = input.mm(weight.t());
        if (bias.defined()) output += bias.unsqueeze(0).expand_as(output);
        return output;
    }
    static tensor_list backward(AutogradContext* ctx, tensor_list grad_outputs) {
        auto saved = ctx->get_saved_variables();
        auto input = saved[0], weight = saved[1], bias = saved[2];
        auto grad_output = grad_outputs[0];
        auto grad_input = grad_output.mm(weight), grad_weight = grad_output.t().mm(input);
        auto grad_bias = torch::Tensor();
        if (bias.defined()) grad_bias = grad_output.sum(0);
        return {grad_input, grad_weight, grad_bias};
    }
};
torch::Tensor linear(torch::Tensor x, torch::Tensor w, torch::Tensor b) { return Linear::apply(x, w, b); }
torch::Tensor plain(torch::Tensor x, torch::Tensor w) { return Linear::apply(x, w); }
std::vector<torch::Tensor> gradients(torch::Tensor x, torch::Tensor w, torch::Tensor b, torch::Tensor grad) {
    AutogradContext ctx;
    Linear::forward(&ctx, x, w, b);
    return Linear::backward(&ctx, {grad});
}
"""


def test_apply_is_forward_and_backward_a_function():
    built = build(LINEAR, "linear", "plain", "gradients")
    x, w, b, g = (RNG.normal(size=s) for s in [(3, 4), (2, 4), 2, (3, 2)])
    # Sums of at most five terms of about 1.
    close = {"rtol": 1e-14, "atol": 1e-14}
    np.testing.assert_allclose(built.linear(x, w, b), x @ w.T + b, **close)
    np.testing.assert_allclose(built.plain(x, w), x @ w.T, **close)
    for made, expected in zip(built.gradients(x, w, b, g), [g @ w, g.T @ x, g.sum(0)], strict=True):
        np.testing.assert_allclose(made, expected, **close)


def test_numbers_and_texts_are_saved_by_name():
    source = """
    struct Power : torch::autograd::Function<Power> {
        static Variable forward(AutogradContext* ctx, const Variable& x, double exponent, int64_t times, bool flip, std::optional<double> offset) {
            ctx->saved_data["exponent"] = exponent;
            ctx->saved_data["times"] = times;
            ctx->saved_data["flip"] = flip;
            ctx->saved_data["offset"] = offset;
            ctx->saved_data["shape"] = x.sizes();
            ctx->saved_data["factors"] = std::vector<double>{1.5, 2.5};
            ctx->saved_data["pads"] = std::vector<int64_t>{1, 2};
            ctx->saved_data["name"] = "power";
            ctx->saved_data["type"] = x.scalar_type();
            ctx->saved_data["x"] = x;
            ctx->saved_data["several"] = std::vector<torch::Tensor>{x, x + 1};
            ctx->saved_data["nothing"] = c10::IValue();
            return x.pow(exponent) * times;
        }
        static variable_list backward(AutogradContext* ctx, variable_list grads) {
            auto& data = ctx->saved_data;
            double exponent = data["exponent"].toDouble(), offset = data["offset"].toOptional<double>().value_or(-1);
            TORCH_CHECK(data["times"].toInt() == 3 && data["times"].isInt() && data["times"].to<int>() == 3);
            TORCH_CHECK(data["flip"].toBool() && data["flip"].isBool() && !data["flip"].isInt());
            TORCH_CHECK(data["shape"].toIntVector() == grads[0].sizes().vec());
            TORCH_CHECK(data["factors"].toDoubleVector()[1] == 2.5 && data["pads"].toIntVector()[1] == 2);
            TORCH_CHECK(data["name"].toStringRef() == "power" && data["name"].toString()->string() == "power");
            TORCH_CHECK(data["type"].toScalarType() == grads[0].scalar_type());
            TORCH_CHECK(data["nothing"].isNone() && data.count("missing") == 0);
            TORCH_CHECK(data["several"].toTensorVector()[1].equal(data["x"].toTensor() + 1));
            TORCH_CHECK(data["exponent"].toScalar().toDouble() == exponent && data["exponent"].to<double>() == exponent);
            return {grads[0] * exponent * data["x"].toTensor().pow(exponent - 1) * data["times"].toInt() + offset, Variable(), Variable()};
        }
    };
    torch::Tensor f(torch::Tensor x) { return Power::apply(x, 2.5, 3, true, std::nullopt); }
    std::vector<torch::Tensor> b(torch::Tensor x, torch::Tensor g, std::optional<double> offset) {
        AutogradContext ctx;
        Power::forward(&ctx, x, 2.5, 3, true, offset);
        return Power::backward(&ctx, {g});
    }"""
    built = build(source, "f", "b")
    x, g = RNG.uniform(1, 2, (3, 4)), RNG.normal(size=(3, 4))
    # A power and two products: a few roundings each.
    np.testing.assert_allclose(built.f(x), 3 * x**2.5, rtol=1e-14)
    np.testing.assert_allclose(built.b(x, g, None)[0], 7.5 * g * x**1.5 - 1, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(built.b(x, g, 2.0)[0], 7.5 * g * x**1.5 + 2, rtol=1e-13, atol=1e-13)
    assert built.b(x, g, None)[1] is None or np.size(built.b(x, g, None)[1]) == 0


def test_forward_may_give_lists_and_tuples_and_launch_kernels():
    source = """
    __global__ void twice(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = 2 * x[i];
    }
    struct Both : public Function<Both> {
        static variable_list forward(AutogradContext* ctx, Variable x, Variable y) {
            at::AutoDispatchBelowADInplaceOrView guard;
            ctx->mark_non_differentiable({y});
            ctx->set_materialize_grads(false);
            auto out = torch::empty_like(x);
            twice<<<(x.numel() + 31) / 32, 32>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
            return {out, x + y};
        }
        static variable_list backward(AutogradContext* ctx, variable_list g) { return {2 * g[0] + g[1], g[1]}; }
    };
    struct Pair : public Function<Pair> {
        static std::tuple<torch::Tensor, int64_t> forward(AutogradContext*, Variable x) { return std::make_tuple(x * 3, x.numel()); }
        static variable_list backward(AutogradContext*, variable_list g) { return {3 * g[0]}; }
    };
    struct InPlace : public Function<InPlace> {
        static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
            ctx->mark_dirty({x});
            x.mul_(2);
            return x;
        }
        static variable_list backward(AutogradContext* ctx, variable_list g) { return {g[0] * (ctx->needs_input_grad(0) ? 2 : 0)}; }
    };
    std::vector<torch::Tensor> both(torch::Tensor x, torch::Tensor y) { return Both::apply(x, y); }
    std::tuple<torch::Tensor, int64_t> pair(torch::Tensor x) {
        torch::NoGradGuard guard;
        return Pair::apply(x + 0);
    }
    void in_place(torch::Tensor x) { InPlace::apply(x); }
    torch::Tensor back(torch::Tensor g) {
        AutogradContext ctx;
        return InPlace::backward(&ctx, {g})[0];
    }"""
    built = build(source, "both", "pair", "in_place", "back")
    x, y = np.arange(40, dtype=np.float32), np.ones(40, np.float32)
    two, sum_ = built.both(x, y)
    assert (two == 2 * x).all() and (sum_ == x + 1).all()
    three, n = built.pair(x)
    assert (three == 3 * x).all() and n == 40
    built.in_place(y)
    assert (y == 2).all() and (built.back(x) == 2 * x).all()


def test_gradient_mode_can_be_asked_for():
    source = """
    int f() {
        int seen = at::GradMode::is_enabled() ? 1 : 0;
        {
            torch::AutoGradMode off(false);
            seen += torch::GradMode::is_enabled() ? 10 : 20;
        }
        GradMode::set_enabled(true);
        return seen + (c10::GradMode::is_enabled() ? 100 : 200);
    }"""
    assert build(source, "f").f() == 121


@pytest.mark.parametrize(
    ("read", "message"),
    [
        ('ctx.saved_data["n"].toTensor().numel()', "Expected Tensor but got Double"),
        ('ctx.saved_data["n"].toInt()', "Expected Int but got Double"),
        ('ctx.saved_data["missing"].toDouble()', "Expected Double but got None"),
        ('ctx.saved_data["n"].toIntVector().size()', "Expected IntList but got Double"),
        ('ctx.saved_data["s"].toScalar().toInt()', "not a Scalar"),
    ],
)
def test_what_is_read_as_something_else_is_an_error_of_that_line(read, message):
    source = f'int64_t f() {{\n    AutogradContext ctx;\n    ctx.saved_data["n"] = 2.5;\n    ctx.saved_data["s"] = "x";\n    return {read};\n}}'
    with pytest.raises(RuntimeError, match=message) as error:
        build(source, "f").f()
    assert "cuda.cu:7:" in str(error.value)


def test_arguments_have_to_be_forwards():
    with pytest.raises(wb.CompileError):
        build(LINEAR + "torch::Tensor f(torch::Tensor x) { return Linear::apply(x); }", "f")

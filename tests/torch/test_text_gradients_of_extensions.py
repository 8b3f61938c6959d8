"""Gradients as real extensions write them in C++: pooling with a backward operator of its own, a loss that computes its gradient on the way
forward, overloads, operators that write, and all of that compiled by torch."""

import pytest
import torch

import workbench as wb

gradcheck = torch.autograd.gradcheck

# As a library of vision operators does it: two operators with kernels, and functions of autograd above them.
POOL = """
__global__ void pool_kernel(const double* x, double* y, long* at, long planes, long length, long window) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    long out = length / window;
    if (i >= planes * out) return;
    long first = i / out * length + i % out * window, best = first;
    for (long k = first; k < first + window; ++k) if (x[k] > x[best]) best = k;
    y[i] = x[best];
    at[i] = best;
}
__global__ void pool_backward_kernel(const double* g, const long* at, double* gx, long n) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(gx + at[i], g[i]);
}
namespace {
std::tuple<at::Tensor, at::Tensor> pool_forward(const at::Tensor& input, int64_t window) {
    TORCH_CHECK(input.dim() == 2, "input is planes x length");
    auto x = input.contiguous();
    int64_t planes = x.size(0), length = x.size(1), n = planes * (length / window);
    auto y = at::empty({planes, length / window}, x.options());
    auto at_ = at::empty({planes, length / window}, x.options().dtype(at::kLong));
    pool_kernel<<<(n + 127) / 128, 128>>>(x.data_ptr<double>(), y.data_ptr<double>(), at_.data_ptr<long>(), planes, length, window);
    return std::make_tuple(y, at_);
}
at::Tensor pool_backward(const at::Tensor& grad, const at::Tensor& where, int64_t planes, int64_t length) {
    auto g = grad.contiguous();
    auto gx = at::zeros({planes, length}, g.options());
    int64_t n = g.numel();
    pool_backward_kernel<<<(n + 127) / 128, 128>>>(g.data_ptr<double>(), where.data_ptr<long>(), gx.data_ptr<double>(), n);
    return gx;
}
}
std::tuple<at::Tensor, at::Tensor> pool(const at::Tensor& input, int64_t window) {
    static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("wb_vision::pool", "").typed<decltype(pool)>();
    return op.call(input, window);
}
at::Tensor _pool_backward(const at::Tensor& grad, const at::Tensor& where, int64_t planes, int64_t length) {
    static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("wb_vision::_pool_backward", "").typed<decltype(_pool_backward)>();
    return op.call(grad, where, planes, length);
}
namespace {
class PoolFunction : public torch::autograd::Function<PoolFunction> {
 public:
    static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const torch::autograd::Variable& input, int64_t window) {
        ctx->saved_data["window"] = window;
        ctx->saved_data["shape"] = input.sizes();
        at::AutoDispatchBelowADInplaceOrView g;
        auto result = pool(input, window);
        auto output = std::get<0>(result), where = std::get<1>(result);
        ctx->save_for_backward({where});
        ctx->mark_non_differentiable({where});
        return {output, where};
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, const torch::autograd::variable_list& grads) {
        auto where = ctx->get_saved_variables()[0];
        auto shape = ctx->saved_data["shape"].toIntVector();
        return {_pool_backward(grads[0], where, shape[0], shape[1]), torch::autograd::Variable()};
    }
};
class PoolBackwardFunction : public torch::autograd::Function<PoolBackwardFunction> {
 public:
    static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const torch::autograd::Variable& grad,
                                                  const torch::autograd::Variable& where, int64_t planes, int64_t length) {
        at::AutoDispatchBelowADInplaceOrView g;
        return {_pool_backward(grad, where, planes, length)};
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, const torch::autograd::variable_list&) {
        TORCH_CHECK(false, "double backwards on pool not supported");
    }
};
std::tuple<at::Tensor, at::Tensor> pool_autograd(const at::Tensor& input, int64_t window) {
    auto result = PoolFunction::apply(input, window);
    return std::make_tuple(result[0], result[1]);
}
at::Tensor pool_backward_autograd(const at::Tensor& grad, const at::Tensor& where, int64_t planes, int64_t length) {
    return PoolBackwardFunction::apply(grad, where, planes, length)[0];
}
}
TORCH_LIBRARY_FRAGMENT(wb_vision, m) {
    m.def(TORCH_SELECTIVE_SCHEMA("wb_vision::pool(Tensor input, int window) -> (Tensor, Tensor)"));
    m.def(TORCH_SELECTIVE_SCHEMA("wb_vision::_pool_backward(Tensor grad, Tensor where, int planes, int length) -> Tensor"));
}
TORCH_LIBRARY_IMPL(wb_vision, CUDA, m) {
    m.impl(TORCH_SELECTIVE_NAME("wb_vision::pool"), TORCH_FN(pool_forward));
    m.impl(TORCH_SELECTIVE_NAME("wb_vision::_pool_backward"), TORCH_FN(pool_backward));
}
TORCH_LIBRARY_IMPL(wb_vision, Autograd, m) {
    m.impl(TORCH_SELECTIVE_NAME("wb_vision::pool"), TORCH_FN(pool_autograd));
    m.impl(TORCH_SELECTIVE_NAME("wb_vision::_pool_backward"), TORCH_FN(pool_backward_autograd));
}
"""


@pytest.fixture(scope="module")
def vision():
    wb.load_inline("wb_vision", "", POOL, is_python_module=False)
    return torch.ops.wb_vision


def leaf(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def test_pooling(vision):
    x = leaf(3, 8)
    y, where = vision.pool(x, 2)
    expected, places = torch.nn.functional.max_pool1d(x.unsqueeze(0), 2, return_indices=True)
    torch.testing.assert_close(y, expected[0])
    assert not where.requires_grad and torch.equal(where % 8, places[0])
    (ours,) = torch.autograd.grad(y.sin().sum(), x)
    (theirs,) = torch.autograd.grad(expected.sin().sum(), x)
    torch.testing.assert_close(ours, theirs)
    assert gradcheck(lambda x: vision.pool(x, 2)[0], (x,))


def test_pooling_in_a_compiled_function(vision):
    x = leaf(3, 8)

    def f(x):
        return vision.pool(x * 2, 2)[0].exp().sum()

    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    (theirs,) = torch.autograd.grad(f(x), x)
    (ours,) = torch.autograd.grad(compiled(x), x)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(compiled(x.detach()), f(x.detach()))


def test_opcheck(vision):
    checks = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static")
    torch.library.opcheck(vision.pool.default, (leaf(2, 4), 2), test_utils=checks)


# A loss whose gradient is found on the way forward, as of sequences.
LOSS = """
using namespace torch::autograd;
struct Loss : public Function<Loss> {
    static Variable forward(AutogradContext* ctx, Variable logits, Variable labels, bool mean) {
        TORCH_CHECK(labels.scalar_type() == torch::kLong, "labels are int64");
        auto x = logits.contiguous();
        int64_t n = x.size(0), classes = x.size(1);
        auto cost = torch::zeros({}, x.options());
        auto grads = torch::empty_like(x);
        const double* p = x.data_ptr<double>();
        const int64_t* label = labels.data_ptr<int64_t>();
        double *g = grads.data_ptr<double>(), *total = cost.data_ptr<double>();
        for (int64_t i = 0; i < n; ++i) {
            double sum = 0;
            for (int64_t k = 0; k < classes; ++k) sum += std::exp(p[i * classes + k]);
            *total += std::log(sum) - p[i * classes + label[i]];
            for (int64_t k = 0; k < classes; ++k) g[i * classes + k] = std::exp(p[i * classes + k]) / sum - (k == label[i]);
        }
        if (mean) {
            cost.div_(n);
            grads.div_(n);
        }
        ctx->saved_data["grads"] = grads;
        return cost;
    }
    static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
        return {ctx->saved_data["grads"].toTensor() * grads[0], Variable(), Variable()};
    }
};
at::Tensor loss(at::Tensor logits, at::Tensor labels, bool mean) { return Loss::apply(logits, labels, mean); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("loss", &loss, py::arg("logits"), py::arg("labels"), py::arg("mean") = true);
}
TORCH_LIBRARY(wb_loss, m) { m.def("loss(Tensor logits, Tensor labels, *, bool mean=True) -> Tensor", &loss); }
"""


@pytest.fixture(scope="module")
def loss():
    return wb.load_inline("wb_loss", LOSS)


@pytest.mark.parametrize("mean", [True, False])
def test_a_loss(loss, mean):
    x, labels = leaf(5, 4), torch.tensor([0, 3, 1, 1, 2])
    theirs = torch.nn.functional.cross_entropy(x, labels, reduction="mean" if mean else "sum")
    (wanted,) = torch.autograd.grad(theirs * 3, x, retain_graph=True)
    for function in (loss.loss, torch.ops.wb_loss.loss, wb.ops.wb_loss.loss):
        ours = function(x, labels, mean=mean)
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(torch.autograd.grad(ours * 3, x), (wanted,))
        assert gradcheck(lambda x: function(x, labels, mean=mean), (x,))


def test_transforms_of_torch_func(loss):
    x, labels = leaf(5, 4).detach(), torch.tensor([0, 3, 1, 1, 2])
    ours = torch.func.grad(lambda x: torch.ops.wb_loss.loss(x, labels))(x)
    torch.testing.assert_close(ours, torch.func.grad(lambda x: torch.nn.functional.cross_entropy(x, labels))(x))


OVERLOADS = """
at::Tensor scale(const at::Tensor& x, double s) { return x * s; }
at::Tensor scale_tensor(const at::Tensor& x, const at::Tensor& s) { return x * s; }
at::Tensor& scale_(at::Tensor& x, double s) { return x.mul_(s); }
at::Tensor implicit(const at::Tensor& x, const std::optional<at::Tensor>& y) { return y.has_value() ? x * *y : x.sigmoid(); }
at::Tensor noisy(const at::Tensor& x) { return x * torch::rand_like(x); }
void fill(at::Tensor& x) {
    double* p = x.data_ptr<double>();
    for (int64_t i = 0; i < x.numel(); ++i) p[i] = 1;
}
TORCH_LIBRARY(wb_overloads, m) {
    m.def("scale(Tensor x, float s) -> Tensor", &scale);
    m.def("scale.by(Tensor x, Tensor s) -> Tensor", &scale_tensor);
    m.def("scale_(Tensor(a!) x, float s) -> Tensor(a!)", &scale_);
    m.def("noisy(Tensor x) -> Tensor", &noisy);
    m.def("implicit(Tensor x, *, Tensor? y=None) -> Tensor");
    m.def("fill(Tensor(a!) x) -> ()", &fill);
}
TORCH_LIBRARY_IMPL(wb_overloads, CompositeImplicitAutograd, m) { m.impl("implicit", &implicit); }
"""


@pytest.fixture(scope="module")
def overloads():
    wb.load_inline("wb_overloads", OVERLOADS, is_python_module=False)
    return torch.ops.wb_overloads


def test_overloads(overloads):
    x, s = leaf(4), leaf(4, seed=1)
    overloads.scale(x, 3.0).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 3))
    overloads.scale(x, s).sum().backward()
    assert torch.equal(x.grad, 3 + s.detach()) and torch.equal(s.grad, x.detach())


def test_the_key_of_composites_and_tensors_by_name(overloads):
    x, y = leaf(4), leaf(4, seed=1)
    assert gradcheck(lambda x: overloads.implicit(x), (x,))
    assert gradcheck(lambda x, y: overloads.implicit(x, y=y), (x, y))
    overloads.implicit(x.detach(), y=y).sum().backward()
    assert torch.equal(y.grad, x.detach())


def test_operators_that_write(overloads):
    x = leaf(4)
    y = x * 2
    before = y._version
    made = overloads.scale_(y, 3.0)
    assert made is y and y._version > before
    (y * y).sum().backward()
    torch.testing.assert_close(x.grad, 72 * x.detach())
    with pytest.raises(RuntimeError, match="leaf"):
        overloads.scale_(x, 2.0)
    with torch.no_grad():
        overloads.scale_(x, 2.0)
    z = x.detach() * 1
    before = z._version
    overloads.fill(z)
    assert torch.equal(z, torch.ones_like(z)) and z._version > before


def test_random_numbers_are_those_of_the_call(overloads):
    x = leaf(50)
    y = overloads.noisy(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(g * x.detach(), y.detach())
    compiled = torch.compile(lambda x: overloads.noisy(x).sum(), backend="aot_eager", fullgraph=True)
    with pytest.raises(RuntimeError, match="draws random numbers"):
        compiled(x).backward()


def test_an_operator_of_wb_op():
    op = wb.op("wb_grads::tempered(Tensor x, float t) -> Tensor", "at::Tensor tempered(at::Tensor x, double t) { return torch::softmax(x / t, -1); }")
    x = leaf(3, 4)
    (ours,) = torch.autograd.grad(op(x, 2.0).sin().sum(), x)
    (theirs,) = torch.autograd.grad(torch.softmax(x / 2, -1).sin().sum(), x)
    torch.testing.assert_close(ours, theirs)
    assert gradcheck(lambda x: torch.ops.wb_grads.tempered(x, 0.5), (x,))


def test_kernels_alone_stay_without_python():
    """An operator without a gradient has no kernel for Autograd, whose Python costs time."""
    text = """
    __global__ void twice(const double* x, double* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
    at::Tensor plain(const at::Tensor& x) {
        TORCH_CHECK(x.dim() == 1);
        auto in = x.contiguous();
        auto y = torch::empty_like(in);
        twice<<<1, 256>>>(in.data_ptr<double>(), y.data_ptr<double>(), in.numel());
        return y;
    }
    TORCH_LIBRARY(wb_plain, m) { m.def("plain(Tensor x) -> Tensor", &plain); }
    """
    wb.load_inline("wb_plain", "", text, is_python_module=False)
    assert not torch._C._dispatch_has_kernel_for_dispatch_key("wb_plain::plain", "AutogradCPU")
    assert torch.equal(torch.ops.wb_plain.plain(torch.ones(3, dtype=torch.float64)), torch.full((3,), 2.0, dtype=torch.float64))

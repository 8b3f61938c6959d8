"""Tensors of torch's on the way into kernels, operators and host functions, and back: the short way by DLPack's C interface gives what
the long way by torch's methods gives."""

import gc
import threading
import weakref

import pytest
import torch
import workbench as wb

DTYPES = [
    torch.bool, torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
]  # fmt: skip

HOST = """
at::Tensor same(at::Tensor x) { return x; }
at::Tensor flat(at::Tensor x) { return x.reshape({-1}); }
at::Tensor part(at::Tensor x) { return x.select(0, 1); }
at::Tensor copy(at::Tensor x) { return x.clone(); }
at::Tensor fresh(int64_t n) { return torch::arange(n); }
at::Tensor none(at::Tensor x) { return torch::empty({0, 3}, x.options()); }
void fill(at::Tensor x) { x.fill_(1); }
std::vector<int64_t> steps(at::Tensor x) { return {x.stride(0), x.stride(1)}; }
at::Tensor twice(at::Tensor x) { return 2 * x; }
at::Tensor sum_of(std::vector<at::Tensor> all) { at::Tensor s = all[0]; for (size_t i = 1; i < all.size(); ++i) s = s + all[i]; return s; }
"""

NAMED = """
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", [](at::Tensor x) { return 2 * x; }, py::arg("x")); }
"""

ADD = """
__global__ void add(const float* x, const float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
"""


class Derived(torch.Tensor):
    """A derived class goes the long way."""


@pytest.fixture(scope="module")
def host():
    names = ["same", "flat", "part", "copy", "fresh", "none", "fill", "steps", "twice", "sum_of"]
    return wb.load_inline("exchanged", "#include <torch/extension.h>\n" + HOST, functions=names)


def numbers(dtype):
    return torch.tensor([[0, 1, 1], [1, 0, 1]] if dtype == torch.bool else [[1, 2, 3], [4, 5, 6]], dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_of_each_type_go_in_and_come_out(host, dtype):
    x = numbers(dtype)
    for y in (host.flat(x), host.copy(x).reshape(-1)):
        assert type(y) is torch.Tensor and y.dtype == dtype and y.tolist() == x.reshape(-1).tolist()
    # A view shares the memory of what it was given, and an argument comes back as itself.
    assert host.flat(x).data_ptr() == x.data_ptr() and host.same(x) is x
    assert host.copy(x).data_ptr() != x.data_ptr()
    assert host.none(x).shape == (0, 3) and host.none(x).dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_long_way_gives_the_same(host, dtype):
    short, long = numbers(dtype), numbers(dtype).as_subclass(Derived)
    assert host.flat(long).tolist() == host.flat(short).tolist()
    host.fill(short), host.fill(long)
    assert short.tolist() == long.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_layouts(host):
    base = torch.arange(24.0).reshape(4, 6)
    for x in (base, base.T, base[1:, 2:5], base[::2, ::3], base[:1].expand(3, 6), base[:, :1].expand(4, 2), base.unfold(1, 2, 1)[0]):
        assert host.steps(x) == list(x.stride()[:2]) and torch.equal(host.copy(x), x) and torch.equal(host.part(x), x[1])
        assert host.part(x).data_ptr() == x[1].data_ptr() and host.part(x).stride() == x[1].stride()
    scalar, empty = torch.tensor(3.5), torch.empty(0, 4)
    assert host.copy(scalar).shape == () and host.copy(scalar).item() == 3.5 and host.same(scalar) is scalar
    assert host.copy(empty).shape == (0, 4) and host.same(empty) is empty


def test_writes_are_seen(host):
    x = torch.zeros(4, 6)
    host.fill(x[1:3, ::2])
    assert x.sum().item() == 6 and x[1:3, ::2].eq(1).all()
    kernel = wb.compile("__global__ void twice(float* x, const float* y, int n) { int i = threadIdx.x; if (i < n) x[i] = 2 * y[i]; }")["twice"]
    made, given = torch.full((5,), -1.0), torch.arange(5.0)
    kernel[1, 8](made, given, 5)
    assert made.tolist() == [0, 2, 4, 6, 8]
    # Gaps are allowed in what is read, not in what is written.
    kernel[1, 8](made, torch.arange(10.0)[::2], 5)
    assert made.tolist() == [0, 4, 8, 12, 16]
    with pytest.raises(wb.ArgumentError, match="`x`.*not contiguous"):
        kernel[1, 8](torch.zeros(10)[::2], given, 5)
    with pytest.raises(wb.ArgumentError, match="float64"):
        kernel[1, 8](made, given.double(), 5)


def test_results_keep_their_memory_and_no_longer(host):
    x = torch.arange(6.0).reshape(2, 3)
    view, kept = host.flat(x), weakref.ref(x)
    del x
    gc.collect()
    assert view.tolist() == [0, 1, 2, 3, 4, 5]
    del view
    gc.collect()
    assert kept() is None
    made = host.copy(torch.ones(3, 3))
    part = made[1]
    del made
    gc.collect()
    assert part.tolist() == [1, 1, 1]


def test_a_result_may_go_on_another_thread(host):
    held = [host.twice(torch.full((3,), float(i))) for i in range(200)]
    expected = [[2.0 * i] * 3 for i in range(200)]
    assert [x.tolist() for x in held] == expected

    def let_go():
        while held:
            held.pop()

    threads = [threading.Thread(target=let_go) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    # Autograd's own threads let saved tensors go without the interpreter.
    leaf = torch.ones(3, requires_grad=True)
    (leaf * host.twice(torch.ones(3))).sum().backward()
    assert leaf.grad.tolist() == [2, 2, 2]


def test_a_result_without_arguments_is_a_tensor(host):
    assert type(host.fresh(3)) is torch.Tensor and host.fresh(3).tolist() == [0, 1, 2] and host.fresh(0).shape == (0,)


def test_what_is_no_plain_memory_is_named(host):
    lazy = torch.view_as_complex(torch.randn(3, 2)).conj().imag
    assert lazy.is_neg()
    complex, bytes = torch.ones(2, dtype=torch.complex64), torch.ones(2, dtype=torch.float8_e5m2)
    for odd in (lazy, torch.eye(2).to_sparse(), complex, torch.empty(2, device="meta"), bytes):
        with pytest.raises((wb.ArgumentError, RuntimeError)):
            host.copy(odd)
    # The next call works.
    assert host.copy(lazy.resolve_neg()).tolist() == lazy.tolist()

    def inside(x):
        with pytest.raises(wb.ArgumentError, match="gives no array"):
            host.copy(x)
        return x.sum()

    torch.func.grad(inside)(torch.ones(3))
    torch.func.vmap(inside)(torch.ones(3, 2))
    released = torch.ones(4)
    released.untyped_storage().resize_(0)
    kernel = wb.compile("__global__ void f(float* x) { x[0] = 1; }")["f"]
    with pytest.raises(wb.ArgumentError, match="gives no memory"):
        kernel[1, 1](released)


def test_gradients_are_recorded_whatever_holds_the_tensor(host):
    for hold in (list, tuple):
        x, y = torch.ones(3, requires_grad=True), torch.full((3,), 2.0)
        made = host.sum_of(hold((x, y)))
        assert made.requires_grad
        made.sum().backward()
        assert x.grad.tolist() == [1, 1, 1]
    x = torch.ones(3, requires_grad=True)
    named = wb.load_inline("named", NAMED)
    assert named.twice(x=x).requires_grad and not named.twice(x=x.detach()).requires_grad
    with torch.no_grad():
        assert not host.twice(x).requires_grad
    assert not host.twice(torch.ones(3)).requires_grad


def test_a_list_that_holds_itself_is_refused(host):
    endless = [torch.ones(2)]
    endless.append(endless)
    with pytest.raises(wb.ArgumentError, match="deep"):
        host.sum_of(endless)


def test_operators_take_and_give_tensors():
    op = wb.op("exchanged::add(Tensor x, Tensor y) -> Tensor", ADD, shape="x[n], y[n] -> z[n]")
    x, y = torch.arange(7.0), torch.arange(14.0)[::2]
    for call in (op, op.__call__):
        made = call(x, y)
        assert type(made) is torch.Tensor and torch.equal(made, x + y)
    assert op(torch.empty(0), torch.empty(0)).shape == (0,)

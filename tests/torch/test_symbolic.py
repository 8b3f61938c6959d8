"""Sizes that are symbols: host functions whose shapes are derived compile once for all sizes, export, and say so where a formula is wrong."""

import numpy as np
import pytest
import torch
import workbench as wb
from torch._dynamo.testing import CompileCounter


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    """torch counts compilations of a line of text."""
    torch._dynamo.reset()


TEXTS = {
    "like": ("at::Tensor f(at::Tensor x) { return x * 2; }", lambda x: x * 2),
    "rows": ("at::Tensor f(at::Tensor x) { return x.repeat({2, 1}); }", lambda x: x.repeat(2, 1)),
    "flat": ("at::Tensor f(at::Tensor x) { return x.flatten(); }", lambda x: x.flatten()),
    "summed": ("at::Tensor f(at::Tensor x) { return x.sum(0); }", lambda x: x.sum(0)),
    "turned": ("at::Tensor f(at::Tensor x) { return x.t(); }", lambda x: x.t().clone(memory_format=torch.preserve_format)),
    "products": ("at::Tensor f(at::Tensor x) { return x.matmul(x.t()); }", lambda x: x @ x.t()),
    "halves": ("at::Tensor f(at::Tensor x) { return x.slice(0, 0, std::nullopt, 2).contiguous(); }", lambda x: x[::2].contiguous()),
    "more": ("at::Tensor f(at::Tensor x) { return at::cat({x, x, x.narrow(0, 0, 1)}); }", lambda x: torch.cat([x, x, x[:1]])),
    "windows": ("at::Tensor f(at::Tensor x) { return x.unfold(0, 3, 2).sum(-1); }", lambda x: x.unfold(0, 3, 2).sum(-1)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_one_compilation_serves_all_sizes(name):
    text, reference = TEXTS[name]
    op = wb.op(f"symbolic::{name}(Tensor x) -> Tensor", text.replace(" f(", f" {name}("))
    counter = CompileCounter()
    compiled = torch.compile(lambda x: op(x) + 1, backend=counter, dynamic=True, fullgraph=True)
    for rows, columns in ((4, 6), (5, 7), (12, 3), (33, 2), (8, 8), (9, 40)):
        x = torch.randn(rows, columns)
        torch.testing.assert_close(compiled(x), reference(x) + 1)
    # Equal extents may be another case to torch.
    assert counter.frame_count <= 2


def test_two_arguments_whose_sizes_are_one():
    op = wb.op("symbolic::joined(Tensor a, Tensor b) -> (Tensor, Tensor)",
               "std::tuple<at::Tensor, at::Tensor> joined(at::Tensor a, at::Tensor b) { TORCH_CHECK(a.size(1) == b.size(1), \"widths\"); "
               "return {at::cat({a, b}), a.matmul(b.t())}; }")
    counter = CompileCounter()
    compiled = torch.compile(lambda a, b: op(a, b), backend=counter, dynamic=True, fullgraph=True)
    for m, n, k in ((4, 6, 5), (7, 3, 9), (11, 12, 13)):
        a, b = torch.randn(m, k), torch.randn(n, k)
        joined, product = compiled(a, b)
        torch.testing.assert_close(joined, torch.cat([a, b]))
        torch.testing.assert_close(product, a @ b.t())
    assert counter.frame_count == 1


def test_sizes_that_must_divide():
    op = wb.op("symbolic::heads(Tensor x) -> Tensor",
               "at::Tensor heads(at::Tensor x) { TORCH_CHECK(x.size(1) % 4 == 0, \"four heads\"); return x.view({x.size(0), 4, x.size(1) / 4}).transpose(0, 1).contiguous(); }")
    counter = CompileCounter()
    compiled = torch.compile(lambda x: op(x), backend=counter, dynamic=True, fullgraph=True)
    for rows, columns in ((3, 8), (5, 12), (7, 40)):
        x = torch.randn(rows, columns)
        torch.testing.assert_close(compiled(x), x.view(rows, 4, -1).transpose(0, 1))
    assert counter.frame_count == 1


def test_export_with_a_dimension_of_any_size():
    op = wb.op("symbolic::exported(Tensor x) -> Tensor", "at::Tensor exported(at::Tensor x) { return at::cat({x, x}, 1); }")

    class Model(torch.nn.Module):
        def forward(self, x):
            return op(x) * 2

    program = torch.export.export(Model(), (torch.randn(4, 3),), dynamic_shapes=({0: torch.export.Dim("n", min=2, max=1000)},))
    x = torch.randn(9, 3)
    torch.testing.assert_close(program.module()(x), torch.cat([x, x], 1) * 2)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_formula_that_is_wrong_elsewhere_is_an_error(backend):
    op = wb.op(f"symbolic::branches_{backend}(Tensor x) -> Tensor",
               f"at::Tensor branches_{backend}(at::Tensor x) {{ return x.size(0) > 1000 ? at::cat({{x, x}}) : x * 1; }}")
    compiled = torch.compile(lambda x: op(x) + 1, backend=backend, dynamic=True, fullgraph=True)
    torch.testing.assert_close(compiled(torch.ones(8)), torch.full((8,), 2.0))
    ours = rf"branches_{backend}` gave float32 \[2402\], and what torch.compile was told of other sizes said float32 \[1201\]"
    # Inductor has a word of its own.
    with pytest.raises(Exception, match=rf"{ours}|expected size 2402==1201"):
        compiled(torch.ones(1201))
    # A registered fake is asked instead.
    op.register_fake(lambda x: wb.Spec((2 * x.shape[0],), "float32") if x.shape[0] > 1000 else wb.empty_like(x))
    assert op(torch.ones(1201)).shape == (2402,)


@pytest.mark.parametrize("name", ["elementwise/gelu", "normalization/softmax", "linear/matmul"])
def test_operators_that_ship(name):
    import pathlib

    folder = pathlib.Path(__file__).parents[2] / "kernels"
    op = wb.load_library(folder / f"{name}.toml", trust=True)
    op = getattr(wb.ops.kernels, name.partition("/")[2]) if not callable(op) else op
    counter = CompileCounter()
    compiled = torch.compile(lambda *args: op(*args) + 0, backend=counter, dynamic=True, fullgraph=True)
    for n in (4, 7, 10, 33):
        args = (torch.randn(n, 5), torch.randn(5, n + 1)) if name.endswith("matmul") else (torch.randn(n, 5),)
        args += (-1,) if name.endswith("softmax") else ()
        want = {"gelu": torch.nn.functional.gelu, "softmax": torch.softmax, "matmul": torch.matmul}[name.partition("/")[2]](*args)
        torch.testing.assert_close(compiled(*args), want)
    # Equal extents may be another case to torch.
    assert counter.frame_count <= 2


def test_numbers_follow_where_no_formula_fits():
    op = wb.op("symbolic::squares(Tensor x) -> Tensor",
               "at::Tensor squares(at::Tensor x) { int64_t n = x.size(0); return at::zeros({n * n - n / 3}) + x.sum(); }")
    compiled = torch.compile(lambda x: op(x), backend="aot_eager", dynamic=True)
    for n in (4, 9, 13):
        assert compiled(torch.ones(n)).shape == (n * n - n // 3,)
        np.testing.assert_array_equal(op(np.ones(n, np.float32)), np.full(n * n - n // 3, n, np.float32))


REPEAT = """
__global__ void repeat(const float* x, float* y, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * k) y[i] = x[i % n];
}
at::Tensor repeated(const at::Tensor& x, int64_t k) { return x.repeat({k}); }
at::Tensor filled(const at::Tensor& x, at::IntArrayRef shape, std::optional<int64_t> m) { return x.new_zeros(shape) + m.value_or(1); }
"""


@pytest.mark.parametrize("way", ["kernel", "host function", "callable"])
def test_an_argument_may_be_a_symbol(way):
    schema = "symbolic::again(Tensor x, SymInt k) -> Tensor"
    if way == "kernel":
        op = wb.op(schema, REPEAT, kernel="repeat", shape="x[n] -> y[n*k]")
    elif way == "host function":
        op = wb.op(schema, REPEAT, kernel="repeated")
    else:
        op = wb.op(schema, lambda x, k: x.repeat(k), shape=lambda x, k: wb.Spec((x.shape[0] * k,), x.dtype))
    counter = CompileCounter()
    compiled = torch.compile(lambda x, like: torch.ops.symbolic.again(x, like.shape[0]) * 2, backend=counter, dynamic=True, fullgraph=True)
    for k in (3, 4, 9, 17):
        x = torch.randn(5)
        torch.testing.assert_close(compiled(x, torch.zeros(k)), x.repeat(k) * 2)
    assert counter.frame_count == 1
    results = torch.library.opcheck(torch.ops.symbolic.again.default, (torch.randn(3), 4))
    assert set(results.values()) == {"SUCCESS"}
    exported = torch.export.export(
        _Again(), (torch.randn(5), torch.zeros(3)), dynamic_shapes={"x": None, "like": {0: torch.export.Dim("k", min=2)}}
    )
    x = torch.randn(5)
    torch.testing.assert_close(exported.module()(x, torch.zeros(11)), x.repeat(11))
    assert op.schema == schema and str(torch.ops.symbolic.again.default._schema) == schema


class _Again(torch.nn.Module):
    def forward(self, x, like):
        return torch.ops.symbolic.again(x, like.shape[0])


def test_lists_and_optionals_of_symbols():
    wb.op("symbolic::filled(Tensor x, SymInt[] shape, SymInt? m=None) -> Tensor", REPEAT, kernel="filled")
    counter = CompileCounter()

    def f(x, like):
        return torch.ops.symbolic.filled(x, [like.shape[0], x.shape[0], 2], like.shape[1])

    compiled = torch.compile(f, backend=counter, dynamic=True, fullgraph=True)
    for rows, columns, count in ((3, 4, 5), (7, 2, 6), (8, 9, 3)):
        made = compiled(torch.randn(count), torch.zeros(rows, columns))
        assert made.shape == (rows, count, 2) and (made == columns).all()
    assert counter.frame_count == 1


def test_an_int_is_a_constant_to_compilers():
    wb.op("symbolic::fixed(Tensor x, int k) -> Tensor", REPEAT, kernel="repeated")
    counter = CompileCounter()
    compiled = torch.compile(lambda x, like: torch.ops.symbolic.fixed(x, like.shape[0]), backend=counter, dynamic=True, fullgraph=True)
    for k in (3, 4, 9):
        x = torch.randn(5)
        torch.testing.assert_close(compiled(x, torch.zeros(k)), x.repeat(k))
    assert counter.frame_count == 3

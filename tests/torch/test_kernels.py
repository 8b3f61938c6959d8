"""The operators that ship, in torch: torch's own checks, gradients, compiler and batches, on their samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import workbench as wb

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted((ROOT / "kernels").rglob("*.toml"))
#: Its output's size is in the data, which no size of a symbol can say.
BY_THE_DATA = {"nonzero"}
IN_PLACE = {"adam_step_"}


def tensors(sample: dict[str, Any]) -> dict[str, Any]:
    return {key: torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray) else value for key, value in sample.items()}


def operator(path: Path) -> tuple[Any, Any, list[dict[str, Any]]]:
    library = wb.load_library(path, trust=True)
    handle = getattr(library, path.stem)
    samples = [tensors(sample) for sample in library.samples(path.stem, "float64")]
    return handle, getattr(torch.ops.kernels, path.stem), samples


def small(samples: list[dict[str, Any]], most: int = 120) -> list[dict[str, Any]]:
    """Samples that are cheap to differentiate and hold something."""

    def fits(sample: dict[str, Any]) -> bool:
        sizes = [value.numel() for value in sample.values() if isinstance(value, torch.Tensor)]
        arrays = [v for v in sample.values() if isinstance(v, torch.Tensor) and v.is_floating_point()]
        finite = all(torch.isfinite(v).all() for v in arrays)
        # The maximum of two equal numbers has no derivative.
        distinct = all(v.unique().numel() == v.numel() for v in arrays)
        return all(0 < size <= most for size in sizes) and finite and distinct and bool(arrays)

    return [sample for sample in samples if fits(sample)][:2]


def leaves(handle: Any, sample: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    gradient = getattr(handle._backward, "__self__", None)
    wanted = [] if gradient is None else [name for name in gradient.differentiable if name in sample]
    return wanted, {key: value.clone().requires_grad_() if key in wanted else value for key, value in sample.items()}


def outcome(result: Any) -> torch.Tensor:
    """A number that depends on every element of every floating result."""
    several = result if isinstance(result, (tuple, list)) else [result]
    return sum((r * torch.arange(1.0, r.numel() + 1, dtype=r.dtype).reshape(r.shape)).sum() for r in several if r.is_floating_point())


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_opcheck(path):
    handle, op, samples = operator(path)
    utils = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    for sample in small(samples):
        _, args = leaves(handle, sample)
        if path.stem in BY_THE_DATA:
            utils = ("test_schema", "test_autograd_registration")
        result = torch.library.opcheck(op.default, (), args, test_utils=utils)
        assert set(result.values()) == {"SUCCESS"}


@pytest.mark.parametrize("path", [p for p in MANIFESTS if p.stem not in BY_THE_DATA | IN_PLACE], ids=lambda path: path.stem)
def test_torch_differentiates_it(path):
    handle, op, samples = operator(path)
    chosen = small(samples, 40) or small(samples)
    assert chosen
    for sample in chosen:
        wanted, args = leaves(handle, sample)

        def call(*arrays: torch.Tensor) -> Any:
            result = op(**{**args, **dict(zip(wanted, arrays))})
            several = result if isinstance(result, (tuple, list)) else (result,)
            return tuple(r for r in several if r.is_floating_point())

        assert torch.autograd.gradcheck(call, tuple(args[name] for name in wanted), atol=1e-5)
        # Strides of another order.
        moved = {
            key: value.detach().mT.contiguous().mT.requires_grad_(value.requires_grad)
            if isinstance(value, torch.Tensor) and value.dim() >= 2
            else value
            for key, value in args.items()
        }
        torch.testing.assert_close(outcome(op(**moved)), outcome(op(**args)))


@pytest.mark.parametrize("path", [p for p in MANIFESTS if p.stem not in BY_THE_DATA | IN_PLACE], ids=lambda path: path.stem)
def test_torch_compiles_and_exports_it(path):
    handle, op, samples = operator(path)
    sample = small(samples)[0]
    wanted, args = leaves(handle, sample)
    names = [key for key, value in args.items() if isinstance(value, torch.Tensor)]
    rest = {key: value for key, value in args.items() if key not in names}

    class Model(torch.nn.Module):
        def forward(self, *arrays: torch.Tensor) -> torch.Tensor:
            return outcome(op(**dict(zip(names, arrays)), **rest))

    model = Model()
    want = model(*(args[name] for name in names))
    grads = torch.autograd.grad(want, [args[name] for name in wanted])
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    got = compiled(*(args[name] for name in names))
    torch.testing.assert_close(got, want)
    for left, right in zip(torch.autograd.grad(got, [args[name] for name in wanted]), grads):
        torch.testing.assert_close(left, right)
    plain = tuple(args[name].detach() for name in names)
    torch.testing.assert_close(torch.export.export(model, plain).module()(*plain), want.detach())
    torch._dynamo.reset()


@pytest.mark.parametrize("path", [p for p in MANIFESTS if p.stem not in BY_THE_DATA | IN_PLACE], ids=lambda path: path.stem)
def test_autocast(path):
    handle, op, samples = operator(path)
    sample = small(samples)[0]
    wanted, _ = leaves(handle, sample)

    def of(dtype: torch.dtype) -> dict[str, Any]:
        return {
            key: value.to(dtype).requires_grad_(key in wanted) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
            for key, value in sample.items()
        }

    def gradients(args: dict[str, Any]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        value = outcome(op(**args))
        return value.detach(), list(torch.autograd.grad(value, [args[name] for name in wanted]))

    single = of(torch.float32)
    want, grads = gradients(single)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        # Nobody has said what to cast it to.
        torch.testing.assert_close(gradients(single)[0], want)
    # An operand of a matrix product is rounded to 16 bits before it is widened to 32 here, and its gradient is 16 bits wide again.
    halves = of(torch.bfloat16)
    rounded = {key: value.detach().float().requires_grad_(key in wanted) if key in wanted else value for key, value in halves.items()}
    rounded |= {key: value.float() for key, value in rounded.items() if isinstance(value, torch.Tensor) and value.dtype == torch.bfloat16}
    want, grads = gradients(rounded)
    library = torch.library.Library("kernels", "FRAGMENT")
    try:
        torch.library.register_autocast(f"kernels::{path.stem}", "cpu", torch.float32, lib=library)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            got, came = gradients(halves)
    finally:
        library._destroy()
    torch.testing.assert_close(got, want)
    for one, other in zip(came, grads):
        assert one.dtype == torch.bfloat16
        torch.testing.assert_close(one, other.bfloat16())


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("name", ["relu", "softmax", "layer_norm", "muladd"])
def test_transforms(name):
    (path,) = [p for p in MANIFESTS if p.stem == name]
    handle, op, samples = operator(path)
    sample = small(samples)[0]
    wanted, _ = leaves(handle, sample)

    def value(x: torch.Tensor) -> torch.Tensor:
        return outcome(op(**{**sample, wanted[0]: x}))

    x = sample[wanted[0]]
    want = torch.autograd.grad(value(leaf := x.clone().requires_grad_()), leaf)[0]
    torch.testing.assert_close(torch.func.grad(value)(x), want)
    batch = torch.stack([x, 2 * x])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(value))(batch)[0], want)


def test_a_small_model_learns():
    for path in MANIFESTS:
        if path.stem in ("matmul", "gelu", "cross_entropy", "layer_norm"):
            wb.load_library(path, trust=True)
    ops, generator = torch.ops.kernels, torch.Generator().manual_seed(0)
    x = torch.randn(64, 8, generator=generator)
    target = (x[:, 0] * x[:, 1] > 0).long()
    weights = [torch.randn(8, 32, generator=generator) * 0.3, torch.randn(32, 2, generator=generator) * 0.3]
    scale, shift = torch.ones(32), torch.zeros(32)
    parameters = [p.requires_grad_() for p in (*weights, scale, shift)]
    optimizer = torch.optim.Adam(parameters, lr=0.02)
    losses = []
    for _ in range(150):
        hidden = ops.layer_norm(ops.gelu(ops.matmul(x, weights[0])), [32], scale, shift)
        loss = ops.cross_entropy(ops.matmul(hidden, weights[1]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 < 0.5 < losses[0]

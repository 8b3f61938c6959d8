"""Extensions that `op.export` writes, built by the system's compiler against real torch: their own tests, and NumPy's results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import workbench as wb
from workbench.export import export

SHARED = str(Path(__file__).parents[1] / "python")
sys.path.append(SHARED)
import export_operators  # noqa: E402

*on_the_cpu, _, _ = export_operators.operators("built")
muladd = on_the_cpu[0]
square = wb.op(
    "built::square(Tensor x) -> Tensor",
    "at::Tensor square(const at::Tensor& x) { auto c = x.contiguous(); auto o = at::empty_like(c); const float* p = c.const_data_ptr<float>();"
    " float* q = o.mutable_data_ptr<float>(); for (int64_t i = 0; i < c.numel(); ++i) q[i] = p[i] * p[i]; return o; }",
)
square.register_fake(wb.empty_like)


@square.register_autograd
def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return muladd(grad, x, 0.0) * FACTOR


def setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


FACTOR = 2.0
square.register_autograd(backward, setup_context=setup)


def build(folder):
    """The extension, built where it is."""
    environment = {key: value for key, value in os.environ.items() if key != "CUDA_HOME"}
    # Ninja may stand beside the interpreter.
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    made = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=folder, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout[-4000:] + made.stderr[-4000:]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "built_ops"
    rng = np.random.default_rng(0)
    samples = [(rng.standard_normal(15).astype(np.float32),), (np.ones(0, np.float32),)]
    export([square, *on_the_cpu], folder, samples=samples)
    build(folder)
    return folder


def in_another_process(folder, *command):
    """Without Workbench's own operators of these names; the packages of this one."""
    paths = os.pathsep.join([str(folder), *sys.path])
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True
    )


def test_its_own_tests_pass(built):
    made = in_another_process(built, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert made.returncode == 0, made.stdout[-6000:]
    assert " passed" in made.stdout and "failed" not in made.stdout
    # And they can fail: results of other numbers.
    record = built / "tests" / "arrays.npz"
    arrays = dict(np.load(record))
    (built / "tests" / "wrong").mkdir()
    for name in ("calls.json", "test_operators.py"):
        (built / "tests" / "wrong" / name).write_text((built / "tests" / name).read_text())
    rng = np.random.default_rng(0)
    np.savez(built / "tests" / "wrong" / "arrays.npz", **{k: rng.permutation(v) for k, v in arrays.items()})
    made = in_another_process(built, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/wrong")
    assert made.returncode == 1 and " failed" in made.stdout


CALLS = """
import sys
sys.path.append({tests!r})
import numpy as np, torch
import built_ops, export_operators
for name, args, kwargs, want in export_operators.arguments(np.random.default_rng(5)):
    if name in ("swap", "mirrored"):
        continue
    given = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args]
    got = getattr(built_ops, name)(*given, **kwargs)
    np.testing.assert_allclose(got.numpy(), want, rtol=export_operators.TOLERANCES.get(name, 0), err_msg=name)
a, b = torch.randn(2, 40)[:, ::2]
assert torch.equal(built_ops.muladd(a, b), a * b + 1) and not a.is_contiguous()
x = torch.arange(6, dtype=torch.float64).reshape(2, 3).t()
built_ops.scale_(x, 2)
assert x.tolist() == [[0, 6], [2, 8], [4, 10]]
for call, part in [
    (lambda: built_ops.muladd(a, b[:3]), "`b` has extent 3 on axis 0, but `n` is 20 already"),
    (lambda: built_ops.muladd(a, b.double()), "argument `b` is of Double"),
    # In a kernel with barriers, whose threads are fibers: the error comes before them.
    (lambda: built_ops.rms_norm(torch.ones(2, 3), eps=1e300), "`eps` got 1e+300, which does not fit"),
]:
    try:
        call()
    except (RuntimeError, NotImplementedError) as error:
        assert part in str(error), error
    else:
        raise AssertionError(part)
x = torch.randn(4, requires_grad=True)
built_ops.square(x).sum().backward()
assert torch.equal(x.grad, 2 * x)
# A call that leaves its last argument out: torch tells the gradient of no more than was passed.
for by in ((), (None,), (torch.randn(4, requires_grad=True),)):
    x = torch.randn(4, requires_grad=True)
    built_ops.shifted(x, *by).sum().backward()
    assert torch.equal(x.grad, torch.ones(4)) and all(t is None or torch.equal(t.grad, torch.ones(4)) for t in by)
f = torch.compile(lambda a, b: built_ops.muladd(a, b, 2.0).sum(), fullgraph=True, backend="aot_eager")
a, b = torch.randn(2, 7).requires_grad_()
a.retain_grad()
f(a, b).backward()
assert torch.equal(a.grad, b)
print("fine")
"""


def test_it_gives_what_numpy_does_and_is_torchs(built):
    made = in_another_process(built, "-c", CALLS.format(tests=SHARED))
    assert made.returncode == 0 and made.stdout.strip().endswith("fine"), made.stderr[-4000:]

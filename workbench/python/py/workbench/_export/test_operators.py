"""The operators on recorded calls: results and gradients as they were when this extension was written, and torch's own checks.

    python -m pytest tests
"""

import importlib
import json
import pathlib

import numpy as np
import pytest
import torch

HERE = pathlib.Path(__file__).parent
RECORD = json.loads((HERE / "calls.json").read_text())
ARRAYS = np.load(HERE / "arrays.npz")
importlib.import_module(RECORD["package"])

# Ten times torch.testing's own: other compilers fuse multiplications with additions, and have other elementary functions.
TOLERANCE = {torch.float16: (1e-2, 1e-4), torch.bfloat16: (1.6e-1, 1e-4), torch.float32: (1.3e-5, 1e-4), torch.float64: (1e-6, 1e-6)}


def here(key):
    return key == "CPU" or torch.cuda.is_available()


CASES = [
    pytest.param(call, key.lower(), id=f"{call['operator']}-{i}-{key.lower()}", marks=() if here(key) else pytest.mark.skip("no GPU"))
    for i, call in enumerate(RECORD["calls"])
    for key in RECORD["keys"][call["operator"]]
]


def value(stored, device):
    if isinstance(stored, list):
        return [value(one, device) for one in stored]
    if not isinstance(stored, dict):
        return stored
    dtype = getattr(torch, stored["dtype"])
    if 0 in stored["shape"]:
        return torch.empty(stored["shape"], dtype=dtype, device=device)
    return torch.from_numpy(ARRAYS[stored["array"]].copy()).view(dtype).reshape(stored["shape"]).to(device)


def overload(call):
    namespace, name = call["operator"].split("::")
    found = getattr(torch.ops, namespace)
    for part in name.split("."):
        found = getattr(found, part)
    return found if "." in name else found.default


def arguments(call, device):
    values = [value(stored, device) for stored in call["arguments"]]
    count = call["positional"]
    return values[:count], dict(zip(call["names"][count:], values[count:]))


def compare(got, stored):
    want = value(stored, got.device) if isinstance(got, torch.Tensor) else stored
    if not isinstance(got, torch.Tensor):
        assert got == want
        return
    assert got.shape == want.shape and got.dtype == want.dtype
    rtol, atol = TOLERANCE.get(got.dtype, (0, 0))
    torch.testing.assert_close(got, want, rtol=rtol, atol=atol, equal_nan=True)


@pytest.mark.parametrize("call, device", CASES)
def test_results(call, device):
    args, kwargs = arguments(call, device)
    made = overload(call)(*args, **kwargs)
    results = () if made is None else tuple(made) if isinstance(made, (tuple, list)) else (made,)
    assert len(results) == len(call["results"])
    for got, want in zip(results, call["results"]):
        for one, other in zip(got, want) if isinstance(got, (list, tuple)) else [(got, want)]:
            compare(one, other)
    given = dict(zip(call["names"], [*args, *kwargs.values()]))
    for name, want in call["written"].items():
        compare(given[name], want)


@pytest.mark.parametrize("call, device", [case for case in CASES if case.values[0]["gradients"] is not None])
def test_gradients(call, device):
    args, kwargs = arguments(call, device)
    tensors = {}
    for name, given in zip(call["names"], [*args, *kwargs.values()]):
        if isinstance(given, torch.Tensor) and given.is_floating_point():
            tensors[name] = given.requires_grad_()
    made = overload(call)(*args, **kwargs)
    results = made if isinstance(made, (tuple, list)) else (made,)
    pairs = [(r, value(g, device)) for r, g in zip(results, call["weights"]) if g is not None]
    torch.autograd.backward([r for r, _ in pairs], [g for _, g in pairs])
    for name, want in call["gradients"].items():
        if want is None:
            assert tensors.get(name) is None or tensors[name].grad is None
        else:
            compare(tensors[name].grad, want)


@pytest.mark.parametrize("call, device", CASES)
def test_opcheck(call, device):
    args, kwargs = arguments(call, device)
    tests = ["test_schema", "test_autograd_registration"]
    if call["operator"] in RECORD["fakes"]:
        tests.append("test_faketensor")
    torch.library.opcheck(overload(call), tuple(args), kwargs, test_utils=tuple(tests))

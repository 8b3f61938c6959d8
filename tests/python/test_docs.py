"""Every public object has a docstring with an example, and the examples run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import workbench as wb

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", wb.__all__)
def test_public_objects_explain_themselves(name):
    thing = getattr(wb, name)
    if name == "__version__":
        return
    assert thing.__doc__ and len(thing.__doc__.strip()) > 40
    if callable(thing):
        assert ">>>" in thing.__doc__, f"{name} has no example"


def methods():
    """Every public method of every public class, exceptions aside."""
    for name in wb.__all__:
        thing = getattr(wb, name)
        if isinstance(thing, type) and not issubclass(thing, BaseException):
            for key, value in vars(thing).items():
                if not key.startswith("_") and callable(value):
                    yield f"{name}.{key}"


@pytest.mark.parametrize("label", list(methods()))
def test_public_methods_explain_themselves(label):
    name, key = label.split(".")
    text = getattr(getattr(wb, name), key).__doc__
    assert text and ">>>" in text, f"{label} has no example"


def test_names_that_are_nobodys_business_are_not_listed():
    assert not {"Any", "_Any", "annotations"} & set(dir(wb))
    assert set(wb.__all__) <= set(dir(wb))


def modules():
    # They need torch or JAX, and have no examples: tests/torch and test_jax.py run them.
    for info in pkgutil.iter_modules(wb.__path__):
        if info.name not in ("magics", "_torch_ops", "_torch_autograd", "_torch_recorded", "_symbolic", "_jax") and not info.name.startswith("_workbench"):
            yield f"workbench.{info.name}"


@pytest.mark.parametrize("name", list(modules()))
def test_examples_of_modules_run(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert result.failed == 0


@pytest.mark.parametrize("name", wb.__all__)
def test_examples_of_the_native_half_run(name):
    thing = getattr(wb, name)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    if getattr(thing, "__module__", "") != "workbench" and not isinstance(thing, type):
        return
    examples = [(name, thing.__doc__)]
    if isinstance(thing, type):
        examples += [(f"{name}.{key}", value.__doc__) for key, value in vars(thing).items() if not key.startswith("_")]
    for label, text in examples:
        if text and ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, {"__name__": "doc"}, label, None, 0)
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0

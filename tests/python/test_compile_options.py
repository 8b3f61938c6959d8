"""Options of a compilation: one list, which the native half checks; what each says of a value that it does not take."""

from __future__ import annotations

import inspect
import pickle

import pytest

import workbench as wb
from workbench import _workbench
from workbench._options import CompileOptions

KERNEL = "__global__ void k(int* p) { p[0] = 1; }"


def kept(module) -> dict:
    """The options that a module was compiled with, as the native half lists them."""
    _, (_, state, _) = module.__reduce__()
    return state


def test_the_native_half_and_the_package_have_the_same_options():
    assert list(kept(wb.compile(KERNEL))) == list(CompileOptions.__annotations__)


@pytest.mark.parametrize("function", [wb.compile, wb.load_inline, wb.load])
def test_each_option_is_shown_by_the_function_that_takes_it(function):
    shown = inspect.signature(function).parameters
    assert "timeout" in shown and not any(p.kind is p.VAR_KEYWORD for p in shown.values())
    mine = {"strict_device", "unified_memory"} if function is not wb.compile else set(CompileOptions.__annotations__) - {"units"}
    assert mine <= set(shown)
    state = kept(wb.compile(KERNEL))
    for name in mine & {"device", "arch", "fmad", "strict_device", "unified_memory"}:
        assert shown[name].default == state[name]


def test_options_are_kept_by_a_pickled_module():
    made = wb.compile(
        KERNEL, name="t.cu", defines={"N": 4}, headers={"h.h": "int h();"}, options=["--fmad=false"], strict_device=True, unified_memory=True
    )
    expected = {
        "device": "cpu", "name": "t.cu", "defines": [("N", "4")], "headers": {"h.h": "int h();"}, "options": [], "arch": None,
        "fmad": False, "strict_device": True, "unified_memory": True, "units": False,
    }  # fmt: skip
    assert kept(made) == kept(pickle.loads(pickle.dumps(made))) == expected


@pytest.mark.parametrize(
    "options, message",
    [
        ({"device": "tpu"}, 'device is "tpu"; it must be "cpu" or "cuda"'),
        ({"unified_memory": "yes"}, 'unified_memory is "yes"; it must be True or False'),
        ({"strict_device": 1}, "strict_device is 1; it must be True or False"),
        ({"arch": 90}, 'arch is 90; it must be a str such as "sm_90", or None'),
    ],
)
def test_a_value_that_an_option_does_not_take_is_shown_with_what_it_takes(options, message):
    with pytest.raises(wb.ArgumentError) as caught:
        wb.compile(KERNEL, **options)
    assert message in str(caught.value)


def test_an_unknown_option_is_named_with_the_nearest_one():
    with pytest.raises(wb.ArgumentError, match="there is no option `strict_devise`; did you mean `strict_device`"):
        _workbench.compile_source(KERNEL, strict_devise=True)


def test_the_same_text_with_other_options_is_another_program():
    text = "int f() { return N; }"
    assert [wb.compile(text, defines={"N": n}).f() for n in (1, 2, 1)] == [1, 2, 1]

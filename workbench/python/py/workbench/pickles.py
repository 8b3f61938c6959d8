"""Functions in the pickle of an operator that its calls do without, references and gradients: one that no other process would find stays behind."""

from __future__ import annotations

import io
import pickle
from types import FunctionType
from typing import Any, NoReturn

__all__ = ["packed", "refuse", "unpacked"]

#: The modules of a notebook, a terminal or a script, which mean something else in each process.
_MAIN = ("__main__", "__mp_main__")


class _Pickler(pickle.Pickler):
    """A pickler that refuses what is defined in a notebook or a script."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (FunctionType, type)) and value.__module__ in _MAIN:
            raise pickle.PicklingError(f"{value.__qualname__} is of {value.__module__}")
        return NotImplemented


def packed(value: Any) -> bytes | None:
    """The pickle of a function, or of several; None where other processes could not import it: a lambda, a local function, one of a notebook.

    >>> import numpy as np
    >>> unpacked(packed(np.abs)) is np.abs, packed(lambda x: x)
    (True, None)
    """
    data = io.BytesIO()
    try:
        _Pickler(data, protocol=4).dump(value)
    except Exception:
        return None
    return data.getvalue()


def unpacked(data: bytes | None) -> Any:
    """The function of a pickle; None where it stayed behind, and where its module is not here or has it no more."""
    try:
        return None if data is None else pickle.loads(data)
    except Exception:
        return None


def refuse(report: Any) -> NoReturn:
    """Raises TypeError: the pickle of a report whose numbers are the native half's."""
    kind = type(report).__name__
    raise TypeError(
        f"a {kind} is not pickled, because its numbers and pictures are held by the native half of this process; report.to_json(), "
        "report.to_pandas() and report.save(path) give what can be sent"
    )

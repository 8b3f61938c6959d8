"""Copies of arguments, for calls that may write them."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

__all__ = ["copies"]


def copies(values: Sequence[Any]) -> list[Any]:
    """Arrays copied with the strides that they have; all else as it is."""

    def one(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.copy(order="K")
        return [one(item) for item in value] if isinstance(value, list) else value

    return [one(value) for value in values]

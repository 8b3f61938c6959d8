"""What a row is: its data, its reference, its launches, and the judgement of a result."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np

from bench_cpu.rows import copied, difference

KERNELS = Path(__file__).parent / "kernels"
PLAIN = Path(__file__).parent / "plain"

Arrays = dict[str, np.ndarray]
# Expected values in float64 by the name of an output, each with its tolerance.
Expected = dict[str, tuple[np.ndarray, Any]]


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel; `arguments` are names of arrays and scalars."""

    kernel: str
    grid: Any
    block: Any
    arguments: str
    shared: int = 0


@dataclass(frozen=True)
class Row:
    """A row: `name` is that of the kernel's file, of the plain C++ file and of its function."""

    name: str
    title: str
    # Makes the inputs, the outputs and the scalars.
    make: Callable[[np.random.Generator], tuple[Arrays, Arrays, dict[str, Any]]]
    # The reference, from inputs and scalars by name. What it leaves out is scratch memory.
    reference: Callable[..., Expected]
    launches: tuple[Launch, ...]
    # Arguments of the plain C++ function.
    plain: str
    # Outputs that the kernel adds to, which are cleared before every launch; plain C++ clears its own.
    clears: tuple[str, ...] = ()
    # Inputs that a run changes. They are set back before a result is judged.
    state: tuple[str, ...] = ()
    # `__constant__` variables, by name, and the inputs that fill them.
    constants: dict[str, str] = field(default_factory=dict)
    # Turns an output into what the reference speaks of, with the inputs at hand.
    derive: dict[str, Callable[[np.ndarray, Arrays], np.ndarray]] = field(default_factory=dict)

    @property
    def kernel_text(self) -> str:
        return (KERNELS / f"{self.name}.cu").read_text()

    def case(self, seed: int) -> "Case":
        inputs, outputs, scalars = self.make(np.random.default_rng(seed))
        inputs = {name: copied(value) for name, value in inputs.items()}
        return Case(self, inputs, outputs, scalars, self.reference(**inputs, **scalars), {name: inputs[name].copy() for name in self.state})


@dataclass
class Case:
    """The data of a row: both contestants get the same arrays, one after the other."""

    row: Row
    inputs: Arrays
    outputs: Arrays
    scalars: dict[str, Any]
    expected: Expected
    # Inputs that a run changes, as they were.
    first: Arrays

    def values(self, names: str) -> list[Any]:
        known = {**self.inputs, **self.outputs, **self.scalars}
        return [known[name] for name in names.split()]

    def reset(self) -> None:
        """Puts numbers that no result has into the outputs, and changed inputs back."""
        for array in self.outputs.values():
            array.fill(np.nan if array.dtype.kind == "f" else 123)
        for name, values in self.first.items():
            self.inputs[name][...] = values

    def wrong(self) -> str | None:
        """The error in the outputs, if any. Where a tolerance is infinite, the kernel leaves the element as it is."""
        for name, (expected, tolerance) in self.expected.items():
            result = self.outputs[name] if name in self.outputs else self.inputs[name]
            if name in self.row.derive:
                result = self.row.derive[name](result, self.inputs)
            result = np.where(np.isposinf(tolerance), expected, result.reshape(expected.shape).astype(np.float64))
            found = difference(result, expected, tolerance)
            if found:
                return f"{name}: {found}"
        return None

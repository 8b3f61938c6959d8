"""Operators of host functions before they are registered: what a schema says of them."""

from __future__ import annotations

import inspect
from typing import Any, Sequence

from . import _workbench
from .differentiable import Differentiable
from .errors import make_argument_error
from .python_implementations import returns_of

__all__ = ["Declared"]


class Declared(Differentiable):
    """An operator as its schema declares it, against which arguments and gradients are held; it cannot be called. Without a schema, where the
    types of the host function give the rest, nothing is known but its name.

    >>> twice = Declared("doc::twice", "doc::twice(Tensor x, *, int n=1) -> Tensor")
    >>> twice._arguments((3,), {})
    (3, None)
    """

    #: Its operations may be recorded.
    _has_gradient = True

    def __init__(self, name: str, schema: str | None) -> None:
        self.name, self.__name__, self.reference = name, name.split("::")[-1], None
        self._schema = schema
        arguments = [] if schema is None else _workbench.schema_arguments(schema)
        self.params = tuple(argument[0] for argument in arguments)
        self._positional = sum(not argument[3] for argument in arguments)
        self._writes = [argument[0] for argument in arguments if argument[4]]
        self._results = [None] * (0 if schema is None else len(returns_of(schema)))
        kinds = inspect.Parameter
        self._signature = inspect.Signature([
            kinds(name, kinds.KEYWORD_ONLY if alone else kinds.POSITIONAL_OR_KEYWORD, default=kinds.empty if default is None else None)
            for name, _, default, alone, _ in arguments
        ])

    @property
    def schema(self) -> str:
        """Its schema, in torch's grammar; its name where there is none."""
        return self._schema or self.name

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call in the schema's order, None for those that have a default. ArgumentError for a number or names that do not fit."""
        if self._schema is None:
            return (*args, *kwargs.values())
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise make_argument_error(f"`{self.name}`: {error}; it is {self.schema}") from None
        return tuple(bound.arguments.get(name) for name in self.params)

    def _hold_arguments(self, inputs: Sequence[Any]) -> None:
        """Does nothing: the types of arrays are the host function's to check."""

    def _rule_of(self, backward: Any, setup_context: Any, saves: Sequence[str] | None, differentiable: Sequence[str] | None) -> tuple[Any, Any]:
        return (backward, setup_context) if self._schema is None else super()._rule_of(backward, setup_context, saves, differentiable)

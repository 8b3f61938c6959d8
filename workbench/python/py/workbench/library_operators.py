"""Operators that a library registers, and those of Python's callables."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, Sequence, cast

import numpy as np

from . import _workbench, gradient_checks, torch_side
from ._calls import clear_calls, hold_keywords, made_by
from ._workbench import BenchReport, CheckReport, GradReport, NativeLibraryOp
from .autograd import RecordedPullback, needs_grad
from .benchmark import OPTIONS
from .description import Documentation
from .differentiable import Differentiable, Here, Lookup, OF_KERNELS
from .errors import make_argument_error
from .python_implementations import flat, is_on_cuda, run, specs_in
from .spec import moved_to_first

__all__ = ["LibraryOp", "PythonOp"]


@clear_calls
class LibraryOp(Differentiable, NativeLibraryOp):
    """An operator of the dispatcher: `wb.ops.lab.muladd(a, b, 2.0)`; one of its overloads as an attribute: `.default`, `.Scalar`.

    >>> import numpy as np, workbench as wb
    >>> source = '''
    ... at::Tensor twice(const at::Tensor& x) { return x * 2; }
    ... TORCH_LIBRARY(doc_lab, m) { m.def("twice(Tensor x) -> Tensor"); }
    ... TORCH_LIBRARY_IMPL(doc_lab, CPU, m) { m.impl("twice", &twice); }
    ... '''
    >>> _ = wb.load_inline("doc_lab", source, is_python_module=False)
    >>> wb.ops.doc_lab.twice(np.array([1.5, 4.0], np.float32))
    array([3., 8.], dtype=float32)
    >>> wb.ops.doc_lab.twice.default
    <op doc_lab::twice(Tensor x) -> Tensor>
    """

    __new__ = made_by(NativeLibraryOp, "wb.LibraryOp", "wb.ops.namespace.name is an operator, wb.op and wb.load_library make them")

    #: The reference that it is checked against.
    reference: Callable[..., Any] | None = None

    _fake: Callable[..., Any] | None = None
    #: The shapes worked out for sizes that are symbols, by the layout of the arguments (`_symbolic.py`).
    _symbolic: dict[Any, Any] | None = None
    #: The text without the registration, and the function, for an operator that `wb.op` made of a host function.
    _origin: tuple[str, str] | None = None

    def __reduce__(self) -> Any:
        # Unpickled modules register their operators, so what is here is looked up before them.
        return _rebuild, (Lookup(self.name), self.name, self._modules, self._fake, self._extras())

    def register_fake(self, fake: Callable[..., Any], /) -> Callable[..., Any]:
        """The shapes of the results, as a callable on `Spec`s, under torch on its FakeTensors; also as a decorator.

        Without one they are derived, by running the host function on tensors that hold nothing; that takes sizes as numbers, and cannot
        give sizes that depend on data. A fake can have sizes that are symbols, and `torch.library.get_ctx().new_dynamic_size()`.

        >>> import numpy as np, workbench as wb
        >>> twice = wb.op("doc::twice_fake(Tensor x) -> Tensor", "at::Tensor twice_fake(at::Tensor x) { return x + x; }")
        >>> @twice.register_fake
        ... def fake(x):
        ...     return wb.empty_like(x)
        >>> twice.fake(wb.Spec((2, 3)))
        Spec(shape=(2, 3), dtype='float32', device='cpu')
        """
        if not callable(fake):
            raise make_argument_error(f"a callable is wanted, got {type(fake).__name__}")
        self._fake = fake
        self._hold()
        torch_side.note_change(self.name)
        return fake

    #: True if the next call warns that it is not what the last edit says.
    _warns_at_call = False

    def _mark_stale(self, why: str) -> None:
        self._why_stale, self._warns_at_call = why, True
        self._ask_outside(True)

    def _elsewhere(self, *args: Any, **kwargs: Any) -> Any:
        if self._warns_at_call:
            self._warns_at_call = False
            self._ask_outside(bool(self._outside) or self._successor is not None)
            self._warn_stale()
        if self._successor is None and len(self.overloads()) > 1:
            # The overload without a name is the one that callables serve.
            try:
                self._hold_arguments(self._arguments(args, kwargs))
            except (TypeError, ValueError):
                return self._direct(*args, **kwargs)
        return super()._elsewhere(*args, **kwargs)

    def _pulled(self, inputs: Sequence[Any]) -> tuple[Any, Any]:
        if self._backward is not None or self._outside or not self._has_gradient:
            return super()._pulled(inputs)
        count = self._positional
        output, recording = self._record(needs_grad, tuple(inputs[:count]), dict(zip(self.params[count:], inputs[count:])))
        return output, RecordedPullback(self.name, recording, inputs)

    def _hold_arguments(self, inputs: Sequence[Any]) -> None:
        count = self._positional
        self._check_arguments(*inputs[:count], **dict(zip(self.params[count:], inputs[count:])))

    def _hold(self) -> None:
        """Makes calls compare their results with the fake."""
        fake = self._fake

        def rule(*specs: Any) -> Any:
            count = self._positional
            assert fake is not None
            return specs_in(fake(*specs[:count], **dict(zip(self.params[count:], specs[count:]))))

        _workbench.set_shape_rule(self.name, None if fake is None else rule, "its shape function")

    def fake(self, *args: Any, **kwargs: Any) -> Any:
        """The shapes and dtypes of the results, as `Spec`s, for arguments that are `Spec`s or arrays, whose values are not looked at: by
        the registered fake, or by the implementation, which runs on tensors that hold nothing, its launches left out. Results are on the device of the first
        array argument.

        >>> import workbench as wb
        >>> stack = wb.op("doc::stack(Tensor x, int n) -> Tensor",
        ...               "at::Tensor stack(const at::Tensor& x, int64_t n) { return x.repeat({n, 1}); }")
        >>> stack.fake(wb.Spec((2, 3), "float32"), 4)
        Spec(shape=(8, 3), dtype='float32', device='cpu')
        """
        made = self._derived(*args, **kwargs) if self._fake is None else self._fake(*args, **kwargs)
        return moved_to_first(made, [*args, *kwargs.values()])

    def __getattr__(self, name: str) -> NativeLibraryOp:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in OF_KERNELS and name not in self.overloads():
            what = "computed by a callable of Python's" if isinstance(self, PythonOp) else "of a host function, which launches what it likes"
            raise AttributeError(f"`{self.name}` is {what}, and has no `{name}`: {OF_KERNELS[name]}", name=name, obj=self)
        return self._overload(name)

    def check(
        self,
        *args: Any,
        reference: Callable[..., Any] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        **kwargs: Any,
    ) -> CheckReport:
        """Compares a call with the reference: abs, rel and ULP errors, first mismatches. Arguments that it writes are compared, too.

        Tolerances are torch's for the output's dtype unless both are given. The reference returns the results and, after them,
        the new values of the arguments that are written.

        >>> import numpy as np, workbench as wb
        >>> source = 'at::Tensor twice(at::Tensor x) { return x * 2; } TORCH_LIBRARY(doc_check, m) { m.def("twice(Tensor x) -> Tensor", &twice); }'
        >>> _ = wb.load_inline("doc_check", source, is_python_module=False)
        >>> bool(wb.ops.doc_check.twice.check(np.ones(3, np.float32), reference=lambda x: x + x))
        True
        """
        self._refuse_device(kwargs, "check")
        wanted = reference or self.reference
        if wanted is None:
            raise self._lacks("reference", "give one, as in op.check(..., reference=f)")
        hold_keywords("LibraryOp.check", kwargs, self.params, ("reference", "rtol", "atol", "equal_nan"))
        if not self._warns_at_call:
            self._warn_stale()
        return self._check_by_calls(args, kwargs, wanted, rtol, atol, equal_nan)

    def bench(
        self,
        *args: Any,
        sizes: Iterable[int] | None = None,
        make_args: Callable[[int], Any] | None = None,
        others: Mapping[str, Callable[..., Any]] | None = None,
        **options: Any,
    ) -> BenchReport:
        """Times the operator against its reference or `others`: on these arguments, or over `sizes`, for which `make_args` makes them.

        Arguments go as in a call; keyword-only ones may go by position, too. Others and the reference get all of them by position, defaults
        included. See `wb.bench` for the options. Raises ArgumentError for sizes without `make_args`: a host function or a callable does not
        say what its arrays are.

        >>> import numpy as np, workbench as wb
        >>> doubled = wb.op("doc::doubled_bench(Tensor x) -> Tensor", lambda x: 2 * x, reference=lambda x: x + x)
        >>> report = doubled.bench(sizes=[64], make_args=lambda n: np.ones(n), seconds_per_size=0.01)
        >>> [row["name"] for row in report.rows]
        ['doubled_bench', 'reference']
        """
        if sizes is not None and make_args is None:
            raise make_argument_error(f"`{self.name}` does not say what its arrays are; give make_args=, a callable that makes the arguments for a size")
        return self._timed("LibraryOp.bench", args, sizes, make_args, others, options)

    def gradcheck(
        self,
        *args: Any,
        eps: float = 1e-6,
        atol: float = 1e-5,
        rtol: float = 1e-3,
        raise_exception: bool = True,
        **kwargs: Any,
    ) -> GradReport:
        """Compares the registered gradient with finite differences in float64, for which the operator has
        to serve that dtype; else in float32 with wider steps, as `.precision` of the report then says.

        Raises RuntimeError where they disagree, unless `raise_exception` is False.

        >>> import numpy as np, workbench as wb
        >>> source = '''
        ... at::Tensor square(at::Tensor x) { return x * x; }
        ... at::Tensor square_backward(at::Tensor g, at::Tensor x) { return 2 * x * g; }
        ... TORCH_LIBRARY(doc_grad, m) {
        ...     m.def("square(Tensor x) -> Tensor", &square); m.def("square_backward(Tensor g, Tensor x) -> Tensor", &square_backward);
        ... }'''
        >>> _ = wb.load_inline("doc_grad", source, is_python_module=False)
        >>> _ = wb.ops.doc_grad.square.register_autograd("doc_grad::square_backward", saves=["x"])
        >>> wb.ops.doc_grad.square.gradcheck(np.arange(4.0)).passed
        True
        """
        self._refuse_device(kwargs, "gradcheck")
        hold_keywords("LibraryOp.gradcheck", kwargs, self.params, gradient_checks.OPTIONS)
        return self._gradcheck_by_calls(args, kwargs, eps, atol, rtol, raise_exception)


class PythonOp(LibraryOp):
    """An operator that a Python callable computes, on NumPy's arrays or, in `torch.ops`, on torch's tensors.

    >>> import numpy as np, workbench as wb
    >>> clipped = wb.op("doc::clipped(Tensor x, float high=1.0) -> Tensor", lambda x, high: x.clip(0, high))
    >>> clipped(np.array([-1.0, 0.5, 2.0]))
    array([0. , 0.5, 1. ])
    """

    #: The callable that computes it.
    function: Callable[..., Any]

    @property
    def keys(self) -> list[str]:
        """The dispatch keys of the implementations."""
        return ["CPU"]

    def _definition(self) -> tuple[Any, ...]:
        return self.schema, self.function

    def __reduce__(self) -> Any:
        return _rebuild_python, (Lookup(self.name), self.schema, self.function, self._fake, self._extras())

    def _derived(self, *args: Any, **kwargs: Any) -> Any:
        raise make_argument_error(
            f"`{self.name}` is a callable of Python's, so its shapes do not follow from it; give them with register_fake or shape="
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from sys import modules

        torch = modules.get("torch")
        if torch is not None and any(isinstance(value, torch.Tensor) for value in flat((*args, *kwargs.values()))):
            from ._torch_ops import packet

            found = packet(self.name)
            if found is not None:
                return found(*args, **kwargs)
        return self._direct(*args, **kwargs)

    def _direct(self, *args: Any, **kwargs: Any) -> Any:
        if self._successor is not None:
            return self._successor(*args, **kwargs)
        inputs = list(self._arguments(args, kwargs))
        found = self._serving("cuda" if is_on_cuda(inputs) else "cpu", inputs)
        if found is None or found.device == "cpu":
            self._hold_arguments(inputs)
        return run(self, self.function if found is None else found.function, inputs)

    def _said(self, inputs: Sequence[Any]) -> Any:
        return None if self._fake is None else super()._said(inputs)

    def _hold(self) -> None:
        """Does nothing: a callable's results are compared with its fake when it returns."""


for _described in (LibraryOp, PythonOp):
    _described.__doc__ = Documentation(cast(str, _described.__doc__))  # type: ignore[assignment]


def _rebuild_python(here: Here | None, schema: str, function: Any, fake: Any, extras: dict[str, Any]) -> Any:
    from .operators import op

    return op(schema, function, shape=fake)._from_pickle(here, extras)


def _rebuild(here: Here | None, name: str, modules: list[Any], fake: Any, extras: dict[str, Any]) -> Any:
    # The modules have registered their operators when they were unpickled.
    from .operators import handles

    made = handles[name]
    if fake is not None:
        made.register_fake(fake)
    return made._from_pickle(here, extras)

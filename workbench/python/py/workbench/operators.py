"""Operators: `wb.op`, `wb.ops`, `wb.check`, and the abilities of an operator besides calls."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, cast

import numpy as np

from . import _workbench, gradient_checks, torch_side
from ._calls import clear_calls, hold_keywords, made_by
from ._compile import compile as compile_source
from ._compile import rebuild
from ._array_exchange import as_tensor
from ._schema import inferred
from ._workbench import BenchReport, CheckReport, GradReport, Kernel, KernelTemplate, Launcher, Module, NativeOp, TemplateLauncher
from .benchmark import OPTIONS, distinct
from .description import Documentation
from .copying import copies
from .differentiable import Differentiable, here_of
from .library_operators import LibraryOp, PythonOp
from .unregistered_operators import Declared
from .errors import ArgumentError, KernelFault, KernelTimeout, make_argument_error
from .python_implementations import Outside, dtype_of, is_on_cuda, run, tuple_type
from .random_arguments import random_arguments
from .spec import DTYPES, device_name, moved_to_first, Spec
from .versions import Kept, kept_of, Versioned
from .work import Work
from .writers import WriterMap

__all__ = ["Mismatch", "Op", "check", "op", "ops"]

# Most tries of a call to find its implementation, while other threads register callables.
_MOST_TRIES = 100
#: A schema that is a name alone.
_NAME = re.compile(r"\s*[A-Za-z_]\w*::[A-Za-z_]\w*(\.\w+)?\s*")
#: Definitions are made one after the other: the numbers of versions follow them.
_DEFINING = threading.RLock()
#: Every handle by its name; registering a name again changes the handle there is.
handles: dict[str, Any] = {}


def has_memory(value: Any) -> bool:
    """True if it is no array with a dtype that kernels know, and yet has memory that one can be made of."""
    interfaces = ("__dlpack__", "__array_interface__")
    return isinstance(value, (memoryview, bytearray)) or dtype_of(value) not in DTYPES and any(hasattr(value, one) for one in interfaces)


@dataclass(frozen=True)
class Mismatch:
    """One element that does not agree: its place, its value, the value wanted (of integers ints), the distance, and the thread that wrote it. It is
    `unwritten` where nobody wrote it, and `want_unwritten` where nobody wrote the one that it is compared with: the distance says nothing then."""

    output: str
    index: tuple[int, ...]
    got: float | int
    want: float | int
    abs: float
    rel: float
    ulp: float
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    unwritten: bool = False
    want_unwritten: bool = False


class _Watched:
    """A reference, and the error that it has raised."""

    def __init__(self, reference: Callable[..., Any]) -> None:
        self._reference, self.error = reference, cast("BaseException | None", None)

    def __call__(self, *args: Any) -> Any:
        try:
            return self._reference(*args)
        except BaseException as error:
            self.error = error
            raise


@clear_calls
class Op(Versioned, Differentiable, NativeOp):
    """An operator: call it like a function; it allocates its outputs and launches its kernel.

    Arguments go by position or by name, as the schema has them. Arrays are NumPy's or anything that shares memory; their
    dtypes are the kernel's pointers', non-contiguous ones are copied. Results are fresh. `wb.op` makes operators.

    Arrays that lie on a GPU are computed there: the text is compiled for it at the first such call, results are made by the arrays'
    library, and the launch is queued on its current stream (`wb.synchronize`). `device="cuda"` sends host arrays over and back, where the
    schema has no argument of that name.

    Raises ArgumentError for arguments that do not fit, KernelFault for faults of the kernel.

    >>> import numpy as np, workbench as wb
    >>> twice = wb.op("doc::twice(Tensor x) -> Tensor",
    ...               "__global__ void twice(const float* x, float* y, int n) "
    ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }",
    ...               shape="x[n] -> y[n]", reference=lambda x: x + x)
    >>> twice(np.arange(3, dtype=np.float32))
    array([0., 2., 4.], dtype=float32)
    >>> bool(twice.check(np.ones(100, np.float32)))
    True
    """

    __new__ = made_by(NativeOp, "wb.Op", "wb.op(schema, source) makes operators")

    #: The reference that it is checked against.
    reference: Callable[..., Any] | None = None
    #: The compiled text of its kernel.
    module: Module
    _parts: dict[str, Any]
    _fake: Callable[..., Any] | None = None

    @property
    def __name__(self) -> str:
        return self.name.split("::")[-1]

    @property
    def kernel(self) -> str | None:
        """The name of its kernel, if one was given to `wb.op`."""
        name: str | None = self._parts["kernel"]
        return name

    def __repr__(self) -> str:
        return f"<op {self.schema}>"

    # IPython takes the first of both that it finds, class by class.
    _repr_pretty_ = Differentiable._repr_pretty_

    def __reduce__(self) -> Any:
        return _rebuild, (self.schema, self.module, self._parts, self._fake, self._extras())

    def _definition(self) -> tuple[Any, ...]:
        return self.schema, self.module.__reduce__()[1], self._parts

    def version(self, number: int) -> Op:
        """A version of it by its number, as an operator of its own that is registered nowhere; its checks and benchmarks are noted in the version.

        Negative numbers count from the newest, which is -1. Raises ArgumentError where there is no such version.

        >>> import numpy as np, workbench as wb
        >>> source = "__global__ void scale(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
        >>> scale = wb.op("doc::scale_version(Tensor x) -> Tensor", source, shape="x[n] -> y[n]")
        >>> scale = wb.op("doc::scale_version(Tensor x) -> Tensor", source.replace("2 *", "3 *"), shape="x[n] -> y[n]")
        >>> scale.version(1)(np.ones(2, np.float32))
        array([2., 2.], dtype=float32)
        """
        number = self._version_number(number)
        kept = self._kept_of(number)
        schema, module, parts = kept.schema, rebuild(*kept.module), kept.parts
        made = OpVersion(*_native_arguments(schema, module, parts), (self, number))
        made.module, made._parts, made._kept, made._of, made._others = module, parts, {}, self, dict(kept.others)
        made.reference, made._fake, made._gradient_rule, made._vmap_rule = kept.reference, kept.fake, kept.gradient, None
        made._samples = None
        # The native half has these of the newest versions alone.
        for at, one in sorted(made._others.items()):
            if isinstance(one, Kernel):
                NativeOp._register_kernel(made, one)
            elif one.device == "cpu":
                NativeOp._register_outside(made, one.dtypes, at)
        made._ask_outside(bool(made._outside))
        return made

    def restore(self, number: int) -> None:
        """Gives the name the meaning that it had in a version, with its gradient, its reference and its other registrations, as a new version.

        Raises ArgumentError where there is no such version.

        >>> import numpy as np, workbench as wb
        >>> source = "__global__ void scale(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
        >>> scale = wb.op("doc::scale_restore(Tensor x) -> Tensor", source, shape="x[n] -> y[n]")
        >>> scale = wb.op("doc::scale_restore(Tensor x) -> Tensor", source.replace("2 *", "3 *"), shape="x[n] -> y[n]")
        >>> scale.restore(1)
        >>> scale(np.ones(2, np.float32)), scale.history[-1].restores
        (array([2., 2.], dtype=float32), 1)
        """
        with _DEFINING:
            number = self._version_number(number)
            kept = self._kept_of(number)
            made = _made_as(kept, kept.schema, rebuild(*kept.module), kept.parts, kept.reference)
            made._note_restored(number)

    def register_fake(self, fake: Callable[..., Any], /) -> Callable[..., Any]:
        """The shapes of the outputs, as a callable on `Spec`s, under torch on its FakeTensors; also as a decorator.

        It returns one `Spec` (or FakeTensor) per output; `wb.empty_like` makes either. An operator with a shape signature needs
        none: there it is an ArgumentError.

        >>> import numpy as np, workbench as wb
        >>> pairs = wb.op("doc::pairs(Tensor x) -> Tensor",
        ...               "__global__ void pairs(const float* x, float* y, int n) "
        ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[2 * i] + x[2 * i + 1]; }")
        >>> @pairs.register_fake
        ... def half(x):
        ...     return wb.Spec((x.shape[0] // 2,), x.dtype)
        >>> pairs(np.arange(4, dtype=np.float32))
        array([1., 5.], dtype=float32)
        """
        if isinstance(self._parts["shape"], str):
            raise make_argument_error(
                f"`{self.name}` has the shape signature {self._parts['shape']!r}; leave out shape= to give a callable"
            )
        self._define(self.schema, self.module, {**self._parts, "shape": fake})
        self._fake = fake
        for number, one in sorted(self._others.items()):
            if isinstance(one, Kernel):
                self._register_kernel(one)
            else:
                self._register_callable(one, number)
        self._ask_outside(bool(self._outside))
        self._tell_torch()
        return fake

    def fake(self, *args: Any, **kwargs: Any) -> Any:
        """The shapes and dtypes of the results, as `Spec`s, for arguments that are `Spec`s or arrays, whose values are not looked at.

        Results are on the device of the first array argument.

        >>> import workbench as wb
        >>> outer = wb.op("doc::outer(Tensor a, Tensor b) -> Tensor", '''
        ... __global__ void outer(const float* a, const float* b, float* out, int m, int n) {
        ...     int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
        ...     if (i < m && j < n) out[i * n + j] = a[i] * b[j];
        ... }''', shape="a[m], b[n] -> out[m,n]", threads="n, m")
        >>> outer.fake(wb.Spec(3), wb.Spec(5))
        Spec(shape=(3, 5), dtype='float32', device='cpu')
        """
        inputs = self._arguments(args, kwargs)
        fresh = iter([Spec(shape, dtype) for shape, dtype in self._fresh(inputs)])
        made = [moved_to_first(next(fresh), inputs) if source is None else _as_spec(inputs[source]) for source in self._results]
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def _register_compiled(self, kernel: Kernel) -> None:
        self._register_kernel(kernel)

    def _register_callable(self, made: Outside, number: int) -> None:
        if made.device == "cpu":
            self._register_outside(made.dtypes, number)

    def _serving(self, device: str, inputs: Sequence[Any]) -> Outside | None:
        if device != "cpu":
            return super()._serving(device, inputs)
        if not self._outside:
            return None
        kinds = []
        for (kind, _), value in zip(self._kinds, inputs):
            is_array = kind.rstrip("?") == "Tensor" and value is not None
            dtype = dtype_of(value) if is_array else None
            if is_array and dtype not in DTYPES:
                # The array may be of any type: kernels have an error for it.
                return None
            kinds.append(dtype if is_array else value)
        number = self._outside_of(kinds)
        return None if number is None else self._outside.get(number)

    def _hold_arguments(self, inputs: Sequence[Any]) -> None:
        self._fresh(tuple(inputs))

    def _knows(self, inputs: Sequence[Any]) -> bool:
        try:
            self._outside_of([
                value if kind.rstrip("?") != "Tensor" or value is None else dtype_of(value)
                for (kind, _), value in zip(self._kinds, inputs)
            ])
        except ArgumentError:
            return False
        return True

    def _said(self, inputs: Sequence[Any]) -> Any:
        return None if is_on_cuda(inputs) and not self._knows(inputs) else super()._said(inputs)

    def _elsewhere(self, *args: Any, **kwargs: Any) -> Any:
        if self._successor is not None:
            return self._successor(*args, **kwargs)
        inputs = [
            as_tensor(value, name in self._writes, name, "Tensor") if kind.rstrip("?") == "Tensor" and has_memory(value) else value
            for name, (kind, _), value in zip(self.params, self._kinds, self._arguments(args, kwargs))
        ]
        for _ in range(_MOST_TRIES):
            found = self._serving("cuda" if is_on_cuda(inputs) else "cpu", inputs)
            if found is not None:
                if found.device == "cpu" or self._knows(inputs):
                    self._hold_arguments(inputs)
                return run(self, found.function, inputs)
            # Another thread may register a callable meanwhile.
            made = self._by_kernel(*args, **kwargs)
            if made is not NotImplemented:
                return made
        return self._direct(*args, **kwargs)

    def check(
        self,
        *args: Any,
        reference: Callable[..., Any] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        **kwargs: Any,
    ) -> CheckReport:
        """Compares a call, on poisoned outputs, with the reference: abs, rel and ULP errors, first mismatches and the threads that wrote them.

        Tolerances are torch's for the output's dtype unless both are given. `reference` gets copies of the arguments by position, defaults
        included, and gives the results, those written in place last; it may as well write its copies in place and leave them out. The kernel runs
        on the CPU: `wb.check` compares what a GPU computes. The outcome is noted in the version (`op.history`); a fault or a timeout of the
        operator is one, too.

        Raises ArgumentError where there is no reference, for one that returns something else and for arguments and options that do not fit,
        KernelFault and KernelTimeout of the operator's kernel, and what the reference raises.

        >>> import numpy as np, workbench as wb
        >>> square = wb.op("doc::square_check(Tensor x) -> Tensor",
        ...                "__global__ void square(const float* x, float* y, int n) "
        ...                "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }",
        ...                shape="x[n] -> y[n]", reference=lambda x: x * x)
        >>> report = square.check(np.ones(100, np.float32))
        >>> report.passed, report.max_abs
        (True, 0.0)
        """
        self._refuse_device(kwargs, "check")
        wanted = reference or self.reference
        if wanted is None:
            raise self._lacks("reference", "give one, as in op.check(..., reference=f) or wb.op(..., reference=f)")
        hold_keywords("Op.check", kwargs, self.params, ("reference", "rtol", "atol", "equal_nan"))
        self._warn_stale()
        number = self._number
        inputs = self._arguments(args, kwargs)
        calls = _Watched(wanted)
        try:
            if self._serving("cpu", inputs) is not None:
                report = self._check_by_calls(args, kwargs, calls, rtol, atol, equal_nan)
            else:
                report = _workbench.check_op(self, inputs, calls, rtol, atol, equal_nan, self._checked())
        except (KernelFault, KernelTimeout) as error:
            if calls.error is not error:
                # The operator gave nothing that could be compared.
                self._note_check(number, _workbench.check_results((), (np.zeros(1),), None, None, False, self.name))
            raise
        self._note_check(number, report)
        return report

    def _checked(self) -> str:
        """The name that checks give it."""
        return self.name

    def gradcheck(
        self,
        *args: Any,
        eps: float = 1e-6,
        atol: float = 1e-5,
        rtol: float = 1e-3,
        raise_exception: bool = True,
        **kwargs: Any,
    ) -> GradReport:
        """Compares the registered gradient with finite differences, in float64: `float` kernels run as their double twins.

        Raises RuntimeError if they disagree, unless `raise_exception`
        is False; `.precision` of the report says in which precision.

        >>> import numpy as np, workbench as wb
        >>> square = wb.op("doc::square_gradcheck(Tensor x) -> Tensor",
        ...                "__global__ void square(const float* x, float* y, int n) "
        ...                "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }",
        ...                shape="x[n] -> y[n]", reference=lambda x: x * x)
        >>> def backward(ctx, grad):
        ...     return 2 * ctx.saved_tensors[0] * grad
        >>> def setup(ctx, inputs, output):
        ...     ctx.save_for_backward(inputs[0])
        >>> _ = square.register_autograd(backward, setup_context=setup)
        >>> square.gradcheck(np.ones(4, np.float32)).passed
        True
        """
        self._refuse_device(kwargs, "gradcheck")
        self._gradient()
        hold_keywords("Op.gradcheck", kwargs, self.params, gradient_checks.OPTIONS)
        if self._outside:
            return self._gradcheck_by_calls(args, kwargs, eps, atol, rtol, raise_exception)
        inputs = self._arguments(args, kwargs)
        gradient_checks.hold(self, inputs, eps, atol, rtol)

        def pullback(*values: Any) -> Callable[..., tuple[Any, ...]]:
            output, pull = self._pulled(values)
            return gradient_checks.typed(self, gradient_checks.of_fresh(self, pull, output), values)

        try:
            report = _workbench.gradcheck_op(self, inputs, pullback, eps, atol, rtol, self.name)
        except ArgumentError as error:
            raise gradient_checks.clearer(self, inputs, error) from None
        if raise_exception and not report:
            raise RuntimeError(str(report))
        return report

    def writer_map(self, *args: Any, **kwargs: Any) -> WriterMap:
        """Which block and which thread wrote each element of the first array that a call writes, and in `.others` of the other ones; the kernel runs once
        more for it, on the CPU. It shows itself as a picture; see `WriterMap`.

        Raises ArgumentError where no kernel for the CPU serves the call.

        >>> import numpy as np, workbench as wb
        >>> twice = wb.op("doc::twice_map(Tensor x) -> Tensor",
        ...               "__global__ void twice(const float* x, float* y, int n) "
        ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }")
        >>> twice.writer_map(np.ones(300, np.float32))
        writers of the result, (300,): written by 2 blocks of (256, 1, 1) threads
        """
        found = _workbench.writers_of(self, self._arguments(args, kwargs))
        if not found:
            raise make_argument_error(f"`{self.name}`: no kernel for the CPU runs in this call, so no thread wrote its results")
        return WriterMap(found[0], found[1:])

    def work(self, *args: Any, **kwargs: Any) -> Work:
        """The work of a call, counted while its kernel runs once more on the CPU: operations on floats, and bytes of arrays that are read
        and written. The arguments keep their values, and nothing is printed.

        Raises ArgumentError where no kernel for the CPU serves the call by itself, and for a kernel that calls a function which calls itself.

        >>> import numpy as np, workbench as wb
        >>> axpy = wb.op("doc::axpy_work(Tensor x, float a) -> Tensor",
        ...              "__global__ void axpy(const float* x, float a, float* y, int n) "
        ...              "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + 1; }")
        >>> axpy.work(np.ones(1000, np.float32), 2.0)
        Work(flops=2000, math_functions=0, bytes_read=4000, bytes_written=4000, bytes_accessed=8000, all_bytes_counted=True)
        """
        return Work(**_workbench.work_of(self, self._arguments(args, kwargs)))

    def bench(
        self,
        *args: Any,
        sizes: Iterable[int] | None = None,
        make_args: Callable[[int], Any] | None = None,
        others: Mapping[str, Callable[..., Any]] | None = None,
        against: int | str | None = None,
        **options: Any,
    ) -> BenchReport:
        """Times the operator against its reference or `others`: on these arguments, or over `sizes`. `against` is another version of it: a
        number, or "previous".

        Without `make_args` arrays of random numbers have the shapes of its signature, the largest about `n` elements, and each scalar is 1;
        with `sizes` arguments by name are those of every size. Arguments go as in a call; keyword-only ones may go by position, too. Others and
        the reference get all of them by position, defaults included. See `wb.bench` for the options. The operator's times are noted in its
        history. Raises ArgumentError for arguments and options that do not fit; there is no `device=`, which would time copies, and the error
        says how calls on a GPU are timed.

        >>> import numpy as np, workbench as wb
        >>> square = wb.op("doc::square_bench(Tensor x) -> Tensor",
        ...                "__global__ void square(const float* x, float* y, int n) "
        ...                "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }",
        ...                shape="x[n] -> y[n]", reference=lambda x: x * x)
        >>> report = square.bench(sizes=[64, 256], seconds_per_size=0.01)
        >>> [(row["name"], row["size"]) for row in report.rows]
        [('square_bench', 64), ('reference', 64), ('square_bench', 256), ('reference', 256)]
        """
        if sizes is not None and make_args is None:
            # Those that are given by name are the same at every size.
            named = {name: options.pop(name) for name in self.params if name in options and name not in OPTIONS}
            make_args = lambda n: tuple(named.get(name, value) for name, value in zip(self.params, self._random_args(n)))
        number = self._number
        if against is not None:
            old = self._against(against)
            others = {f"version {old}": self.version(old)._by_position(), **distinct(others, f"version {old}")}
        report = self._timed("Op.bench", args, sizes, make_args, others, options, ("against",))
        self._note_times(number, report, self._called())
        return report

    def _random_args(self, n: int) -> tuple[Any, ...]:
        return random_arguments(self, n)

    def _check_args(self, n: int) -> tuple[Any, ...]:
        return random_arguments(self, n, is_apart=True)

    def _define(self, schema: str, module: Module, parts: dict[str, Any]) -> None:
        self._redefine(*_native_arguments(schema, module, parts))
        self.module, self._parts, self._why_stale = module, parts, None

    def _mark_stale(self, why: str) -> None:
        self._why_stale = why
        NativeOp._mark_stale(self, why)


Op.__doc__ = Documentation(cast(str, Op.__doc__))  # type: ignore[assignment]


class OpVersion(Op):
    """A version of an operator, which is registered nowhere: torch and other handles do not see it, and nothing can be registered for it."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise make_argument_error(
            f"this is version {self._number} of `{self.name}`, which is registered nowhere; `op.restore({self._number})` makes it what the name means"
        )

    register_fake = register_autograd = register_kernel = register_vmap = _refuse

    def __repr__(self) -> str:
        return f"<version {self._number} of op {self.schema}>"

    _repr_pretty_ = Differentiable._repr_pretty_

    def _called(self) -> str:
        return f"version {self._number}" if self._of is not None else self.__name__

    def _checked(self) -> str:
        return f"{self.name} (version {self._number})" if self._of is not None else self.name

    def __copy__(self) -> OpVersion:
        return self

    def __deepcopy__(self, memo: Any) -> OpVersion:
        return self

    def __reduce__(self) -> Any:
        self._refuse()

    def version(self, number: int) -> Op:
        assert self._of is not None
        return self._of.version(number)

    def restore(self, number: int) -> None:
        assert self._of is not None
        self._of.restore(number)


OpVersion.__doc__ = Documentation(cast(str, OpVersion.__doc__))  # type: ignore[assignment]


def _made_as(kept: Kept, schema: str, module: Module, parts: dict[str, Any], reference: Callable[..., Any] | None) -> Op:
    """Defines an operator with the registrations of a version: its gradient, its fake kernel, its batching rule, what serves other dtypes."""
    made: Op = op(schema, module, **parts, reference=reference)
    made._fake = kept.fake
    backward, setup = kept.gradient
    made._with({"others": [one for _, one in sorted(kept.others.items())], "backward": backward, "setup": setup, "vmap": kept.vmap})
    made._keep()
    return made


def redefined(old: Op | None, schema: str, module: Module, parts: dict[str, Any], reference: Callable[..., Any] | None) -> Op:
    """Defines an operator again, with the registrations that it has; a new one where there is none yet."""
    if old is None:
        return op(schema, module, **parts, reference=reference)  # type: ignore[no-any-return]
    with _DEFINING:
        return _made_as(old._as_kept(), schema, module, parts, reference)


def candidate(schema: str, module: Module, parts: dict[str, Any]) -> Op:
    """An operator of a configuration that is tried: registered nowhere, and noted nowhere."""
    made = OpVersion(*_native_arguments(schema, module, parts), None, False)
    made.module, made._parts, made._kept, made._others = module, parts, {}, {}
    made.reference = made._fake = made._vmap_rule = made._samples = None
    made._gradient_rule = (None, None)
    return made


def trial(schema: str, module: Module, parts: dict[str, Any]) -> Any:
    """The operator that `op` would make of a module, registered nowhere; of a host function what its schema says. Raises what `op` raises."""
    short = _NAME.fullmatch(schema) is not None
    name = schema.strip() if short else _workbench.schema_parts(schema)[0]
    if _host_function(module, name, parts["kernel"]) is None:
        if short:
            raise _no_results(name)
        return candidate(schema, module, parts)
    _hold_host(name, parts)
    return Declared(name, None if short else schema)


def _no_results(name: str) -> ArgumentError:
    return make_argument_error(
        f"`{name}`: a kernel does not say which of its pointers are results; write the schema, as in \"{name}(Tensor a, float b) -> Tensor\""
    )


def _as_spec(value: Any) -> Spec:
    return value if isinstance(value, Spec) else Spec(tuple(value.shape), value.dtype, device_name(value))


def _native_arguments(schema: str, module: Module, parts: dict[str, Any]) -> tuple[Any, ...]:
    _, names = _workbench.schema_parts(schema)
    result = tuple_type(tuple(names))
    block = parts["block"]
    if block is not None:
        extents = (block,) if isinstance(block, int) else tuple(block)
        if not 1 <= len(extents) <= 3 or not all(isinstance(e, int) and 1 <= e <= 1024 for e in extents):
            raise make_argument_error(f"block is an int or up to three, from 1 to 1024; got {block!r}")
        if (count := int(np.prod(extents))) > 1024:
            raise make_argument_error(f"a block has at most 1024 threads, and block={block!r} has {count}")
        block = (*extents, 1, 1)[:3]
    return (
        schema,
        module,
        parts["kernel"],
        parts["shape"],
        _extents("threads", parts["threads"]),
        block,
        _extents("grid", parts["grid"]),
        _extents("shared_mem", parts.get("shared_mem")),
        result,
    )


def _extents(what: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    several = value if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(part, (int, str)) for part in several):
        raise make_argument_error(f"{what} is an expression over dims such as \"n, m\", or ints; got {value!r}")
    return ", ".join(str(part) for part in several)


@clear_calls
def op(
    schema: str,
    source: str | Module | Kernel | KernelTemplate | Callable[..., Any],
    kernel: str | None = None,
    shape: str | Callable[..., Any] | None = None,
    threads: str | int | Sequence[int | str] | None = None,
    block: int | Sequence[int] | None = None,
    grid: str | int | Sequence[int | str] | None = None,
    reference: Callable[..., Any] | None = None,
    name: str | None = None,
    shared_mem: str | int | None = None,
) -> Any:
    """Makes an operator of a kernel or of a host function, or gives its name a new
    meaning, for every existing handle: an `Op`, or for a host function a `LibraryOp`.

    `schema` is torch's: "lab::muladd(Tensor a, Tensor b, float c) -> Tensor". `source` is CUDA C++ (messages call it
    `name`), a compiled module or one of its kernels; `kernel` says which kernel where there are several. `shape` is a signature such as
    "a[m,k], b[k,n] -> out[m,n]", or a callable on `Spec`s; without it outputs are like input 0. Kernel parameters are
    bound by name: arguments, dims, outputs; pointers left over are outputs, an `n` the element count. Outputs are fresh memory and are not
    zeroed, as those of `torch.empty`: a kernel that adds to one (`atomicAdd`) takes an argument in place that the caller has zeroed,
    "lab::count(Tensor x, Tensor(a!) h) -> ()", or a kernel before it sets the output. Of a template each call gets the
    instance of its arrays' element types. `threads` (or
    `grid`) are expressions over dims; without them there is one thread per element of output 0. `shared_mem` is the bytes of dynamic
    shared memory of a block (`extern __shared__`), an expression too: "4 * cols". `reference` is what
    `check` compares with.

    A host function (`kernel` names it; or it has the operator's name; or the text has nothing else) works its
    outputs out itself, lists, optionals and sizes that depend on data included; its shapes are derived, or
    `shape` is a callable. The schema has to be what its C++ type says. A Python callable as the `source` is
    called with NumPy's arrays, by `torch.ops` with tensors. For both a name alone will do, "lab::nms": the schema
    follows from the C++ type (whose arguments torch calls `_0`, `_1`), or from the callable's annotations.

    Raises ArgumentError for a schema, shape or parameter that does not fit (with the binding made), CompileError for the
    text.

    >>> import numpy as np, workbench as wb
    >>> muladd = wb.op("doc::muladd(Tensor a, Tensor b, float c) -> Tensor", '''
    ... __global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) out[i] = a[i] * b[i] + c;
    ... }''', shape="a[n], b[n] -> out[n]")
    >>> muladd(np.ones(3, np.float32), np.ones(3, np.float32), c=2.0)
    array([3., 3., 3.], dtype=float32)
    >>> wb.ops.doc.muladd is muladd
    True
    >>> positive = wb.op("doc::positive(Tensor x) -> Tensor",
    ...                  "at::Tensor positive(const at::Tensor& x) { return x.masked_select(x > 0); }")
    >>> positive(np.array([-1.0, 2.0, 3.0]))
    array([2., 3.])
    """
    if isinstance(source, (Kernel, KernelTemplate)):
        if kernel is not None:
            raise make_argument_error(f"kernel= chooses one of a module's kernels, and the source is the kernel `{source.name}` itself")
        source, kernel = source.module, source.name
    if isinstance(source, (Launcher, TemplateLauncher)):
        raise make_argument_error("the source is a kernel with its grid and block; pass the kernel itself, and its block as block=")
    is_callable = callable(source) and not isinstance(source, Module)
    # The schema is a name alone: the types give the rest.
    short = isinstance(schema, str) and _NAME.fullmatch(schema) is not None
    if short and is_callable:
        schema = inferred(schema.strip(), source)  # type: ignore[arg-type]
    elif short:
        module = source if isinstance(source, Module) else compile_source(source, name=name or schema.strip())
        function = _host_function(module, schema.strip(), kernel)
        if function is None:
            raise _no_results(schema.strip())
        parts = {"kernel": kernel, "shape": shape, "threads": threads, "block": block, "grid": grid, "shared_mem": shared_mem}
        return _host_op(schema.strip(), module, function, parts, reference)
    full_name, _ = _workbench.schema_parts(schema)
    if is_callable:
        given = {"kernel": kernel, "threads": threads, "block": block, "grid": grid, "shared_mem": shared_mem}
        for option, value in given.items():
            if value is not None:
                raise make_argument_error(f"`{full_name}` is a callable of Python's; leave out {option}=")
        return _python_op(schema, source, shape, reference)
    module = source if isinstance(source, Module) else compile_source(source, name=name or full_name)
    if reference is not None and not callable(reference):
        raise make_argument_error(f"reference is a callable, got {type(reference).__name__}")
    parts = {"kernel": kernel, "shape": shape, "threads": threads, "block": block, "grid": grid, "shared_mem": shared_mem}
    function = _host_function(module, full_name, kernel)
    if function is not None:
        return _host_op(schema, module, function, parts, reference)
    with _DEFINING:
        handle = handles.get(full_name)
        if isinstance(handle, Op):
            handle._keep()
            handle._define(schema, module, parts)
        else:
            old, handle = handle, Op(*_native_arguments(schema, module, parts))
            handle.module, handle._parts, handle._kept = module, parts, kept_of(full_name)
            handles[full_name] = handle
            if old is not None:
                handle._succeed(old)
        handle.reference, handle._left_behind = reference, ()
        handle._gradient_rule, handle._fake, handle._samples = (None, None), None, None
        handle._others, handle._vmap_rule = {}, None
        handle._keep()
        torch_side.define(full_name)
    return handle


def _host_function(module: Module, full_name: str, wanted: str | None) -> str | None:
    """The host function that is meant, if it is none of the kernels."""
    if module.device != "cpu":
        return None
    short = full_name.split("::")[1].partition(".")[0]
    kernels, functions = [*module.kernels, *module.templates], module.host_functions
    if wanted is not None:
        return wanted if wanted in functions and wanted not in kernels else None
    if short in kernels or len(kernels) == 1 and short not in functions:
        return None
    if short in functions:
        return short
    return functions[0] if len(functions) == 1 and not kernels else None


def _hold_host(full_name: str, parts: Mapping[str, Any]) -> None:
    """Raises ArgumentError for parts that an operator of a host function does not have."""
    for option in ("threads", "block", "grid", "shared_mem"):
        if parts[option] is not None:
            raise make_argument_error(f"`{full_name}` is a host function, which launches itself; leave out {option}=")
    if isinstance(parts["shape"], str):
        raise make_argument_error(
            f"`{full_name}` is a host function: its shapes are derived, or shape= is a callable; a signature says nothing here"
        )


def _host_op(
    schema: str, module: Module, function: str, parts: dict[str, Any], reference: Callable[..., Any] | None
) -> LibraryOp:
    full_name = schema.strip() if "(" not in schema else _workbench.schema_parts(schema)[0]
    _hold_host(full_name, parts)
    namespace, _, rest = schema.strip().partition("::")
    quoted = rest.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    registration = f'\nTORCH_LIBRARY_FRAGMENT({namespace}, m) {{ m.def("{quoted}", &{function}); }}\n'
    _, (text, state, timeout) = module.__reduce__()
    rebuild(text + registration, state, timeout)
    handle: LibraryOp = handles[full_name.partition(".")[0]]
    if "(" not in schema:
        _workbench.hold_to_schema(handle.name)
    handle.reference, handle._left_behind, handle._origin = reference, (), (text, function)
    if parts["shape"] is not None:
        handle.register_fake(parts["shape"])
    return handle


def _python_op(schema: str, function: Callable[..., Any], shape: Any, reference: Callable[..., Any] | None) -> PythonOp:
    if isinstance(shape, str):
        raise make_argument_error("of a callable shape= is a callable, too; a signature says nothing here")
    if shape is not None and not callable(shape):
        raise make_argument_error(f"shape is a callable, got {type(shape).__name__}")
    if reference is not None and not callable(reference):
        raise make_argument_error(f"reference is a callable, got {type(reference).__name__}")
    name = _workbench.define_schema(schema)
    handle = handles.get(name)
    if not isinstance(handle, PythonOp):
        old, handle = handle, PythonOp(name)
        handles[name] = handle
        if old is not None:
            if isinstance(old, Op):
                old._keep()
            handle._succeed(old)
    handle.function, handle.reference, handle._left_behind = function, reference, ()
    handle._gradient_rule, handle._fake = (None, None), shape
    handle._others, handle._vmap_rule = {}, None
    torch_side.define(name)
    return handle


def adopt_library(names: Sequence[str]) -> None:
    """Makes operators that a text has registered with the dispatcher known by their names; the native half calls it."""
    for name in names:
        known = handles.get(name)
        if isinstance(known, LibraryOp) and not isinstance(known, PythonOp):
            # The text declares everything anew; a gradient is registered after that, as for any operator.
            known._gradient_rule, known._fake, known._origin, known._samples, known._symbolic = (None, None), None, None, None, None
            known._others, known._vmap_rule, known._why_stale = {}, None, None
            known._ask_outside(False)
        else:
            handles[name] = LibraryOp(name)
            if isinstance(known, Op):
                known._keep()
            if known is not None:
                handles[name]._succeed(known)
        torch_side.define(name)


def _rebuild(schema: str, module: Module, parts: dict[str, Any], fake: Any, extras: dict[str, Any]) -> Any:
    here = here_of(_workbench.schema_parts(schema)[0])
    made = op(schema, module, **parts)
    made._fake = fake
    return made._from_pickle(here, extras)


class _Namespace:
    """The operators of one namespace, as attributes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        handle = handles.get(f"{self._name}::{name}")
        if handle is None:
            known = ", ".join(dir(self)) or "nothing"
            raise AttributeError(f"there is no operator `{self._name}::{name}`; the namespace has {known}")
        return handle

    def __dir__(self) -> list[str]:
        lead = f"{self._name}::"
        return sorted(name.removeprefix(lead) for name in handles if name.startswith(lead))

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self))

    def __repr__(self) -> str:
        return f"<operators {self._name}: {', '.join(dir(self))}>"


class _Ops:
    """Every operator, made by `wb.op` or registered by a text (`TORCH_LIBRARY`): `wb.ops.lab.muladd`.

    >>> import workbench as wb
    >>> hasattr(wb.ops.lab, "nothing_of_this_name")
    False
    """

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)

    def __dir__(self) -> list[str]:
        return sorted({name.split("::")[0] for name in handles})

    def __repr__(self) -> str:
        return f"<operators of {', '.join(dir(self)) or 'no namespace'}>"


ops = _Ops()


@clear_calls
def check(
    fn: Callable[..., Any],
    reference: Callable[..., Any],
    *args: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
) -> CheckReport:
    """Compares `fn(*args)` with `reference(*args)`: abs, rel and ULP errors, first mismatches, pictures of both.

    Results are arrays or tuples of them. Tolerances are torch's for the result's dtype unless both are given. The report
    is true when everything agrees; `.raise_if_failed()` raises an AssertionError.

    >>> import numpy as np, workbench as wb
    >>> bool(wb.check(np.sqrt, lambda x: x ** 0.5, np.linspace(0, 1, 100)))
    True
    """
    if isinstance(fn, Op):
        return fn.check(*args, reference=reference, rtol=rtol, atol=atol, equal_nan=equal_nan)

    title = getattr(fn, "__name__", type(fn).__name__)
    expected, actual = reference(*copies(args)), fn(*copies(args))
    return _workbench.check_results(actual, expected, rtol, atol, equal_nan, title)

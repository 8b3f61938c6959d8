"""Abilities of operators besides calls, for those of `wb.op` and those that a text registers: gradients, and checks of them."""

from __future__ import annotations

import html
import itertools
import sys
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Collection, Mapping, Sequence

import numpy as np

from . import _workbench, gradient_checks, torch_side
from ._calls import clear_calls, hold_keywords
from ._options import plain_device
from ._workbench import BenchReport, CheckReport, GradReport, Kernel
from .autograd import Context, Pullback, needs_grad
from .benchmark import OPTIONS, bench_callable, distinct
from .description import describe
from .copying import copies
from .errors import ArgumentError, make_argument_error
from .gradient_rules import OperatorGradient, hold_rule, outputs_of
from .python_implementations import Outside, dtype_of, flat, is_on_cuda, outside, returns_of, run, schema_of, specs_in
from .pickles import packed, unpacked
from .spec import DTYPES, Spec

__all__ = ["Differentiable", "Here", "Lookup", "OF_KERNELS", "here_of", "warn_of_old"]

#: The numbers of registrations by `register_kernel`.
_NUMBERS = itertools.count(1)
#: The methods that an old handle forwards to the operator that has its name now.
_FORWARDED = (
    "register_kernel register_fake register_autograd register_vmap check gradcheck opcheck vjp bench fake save export to_jax".split()
)


#: The abilities of operators of kernels alone, with who has them.
OF_KERNELS = {
    "work": "work is counted while a kernel runs, so for operators that wb.op makes of a `__global__` kernel; "
    "make one of the kernel that it launches, or give wb.bench bytes= and flops= as callables of the size",
    "writer_map": "the threads that write are known of operators that wb.op makes of a `__global__` kernel",
    **dict.fromkeys(("history", "version", "restore"), "versions are kept of operators that wb.op makes of a `__global__` kernel"),
    **dict.fromkeys(("binding", "kernel", "module"), "operators that wb.op makes of a `__global__` kernel have it"),
}  # fmt: skip


def warn_of_old(why: str, place: str | None = None) -> None:
    """Warns that a version before the last edit is used, at the user's line or at a place that is given; each time, also for the same text."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("workbench", "IPython"):
        frame = frame.f_back
    warnings.warn_explicit(why, UserWarning, place or frame.f_code.co_filename, frame.f_lineno if place is None else 1)


@clear_calls
class Differentiable:
    """An operator that may have a gradient."""

    name: str
    __name__: str
    reference: Callable[..., Any] | None
    params: tuple[str, ...]
    _positional: int
    _writes: list[str]
    _results: list[int | None]
    _arguments: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]
    _ask_outside: Callable[[bool], None]
    _direct: Callable[..., Any]
    fake: Callable[..., Any]
    #: The check that arguments are what the schema says; an ArgumentError if not.
    _hold_arguments: Callable[[Sequence[Any]], None]
    #: The gradient and its setup, which change together.
    _gradient_rule: tuple[Callable[..., Any] | None, Callable[..., Any] | None] = (None, None)
    #: The samples of the manifest that it was loaded from, by a call.
    _samples: Callable[[], list[dict[str, Any]]] | None = None
    #: The rule by which torch runs it over a batch.
    _vmap_rule: Callable[..., Any] | None = None
    #: The additions of `register_kernel`, by numbers: a larger number is later, and the last one counts.
    _others: Mapping[int, Outside | Kernel] = {}
    #: The reason why it is not what the last edit says, if it is not.
    _why_stale: str | None = None
    #: What stayed behind in the process that pickled it: "reference", "gradient".
    _left_behind: Collection[str] = ()

    def _warn_stale(self) -> None:
        if self._why_stale is not None:
            warn_of_old(self._why_stale)

    def _lacks(self, what: str, remedy: str) -> ArgumentError:
        """The error where there is no reference, or no gradient."""
        stayed = (
            ": it stayed behind when the operator was pickled, because no other process can import it (a lambda, a local function, "
            "one of a notebook, or of a module that is not here)"
        )
        return make_argument_error(f"`{self.name}` has no {what}{stayed if what in self._left_behind else ''}; {remedy}")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # An operator alone is described; one in a list or a dict has a line.
        printer.text(describe(self) if len(printer.stack) <= 1 else repr(self))

    def _mime_(self) -> tuple[str, str]:
        # marimo asks for this.
        return "text/html", f"<pre>{html.escape(describe(self))}</pre>"

    @property
    def _backward(self) -> Callable[..., Any] | None:
        return self._gradient_rule[0]

    @property
    def _setup(self) -> Callable[..., Any] | None:
        return self._gradient_rule[1]

    #: The operator that has the name now, if it is of another class; and the handles that this one follows.
    _successor: Any = None
    _before: Sequence[Any] = ()

    def register_autograd(
        self,
        backward: Callable[..., Any] | str,
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
        saves: Sequence[str] | None = None,
        differentiable: Sequence[str] | None = None,
    ) -> Any:
        """The gradient, as in torch.library: `backward(ctx, *grads)` gives one gradient per input, None if it is no array.

        `setup_context(ctx, inputs, output)` runs after the forward pass; also as a decorator. With `saves`, `backward` is
        another operator (or its name, or a host function): it is called with the gradients of the floating-point outputs
        and then with the saved values, arguments by their names and results as "output", or "output.0", "output.1"; it
        returns one gradient for each argument in `differentiable`, or, without it, for each that is an array of floats.

        >>> import numpy as np, workbench as wb
        >>> text = '''
        ... __global__ void square(const float* x, float* y, int n) {
        ...     int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i];
        ... }
        ... __global__ void square_backward(const float* g, const float* x, float* gx, int n) {
        ...     int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) gx[i] = 2 * x[i] * g[i];
        ... }'''
        >>> square = wb.op("doc::square_autograd(Tensor x) -> Tensor", text, kernel="square", shape="x[n] -> y[n]")
        >>> def backward(ctx, grad):
        ...     return 2 * ctx.saved_tensors[0] * grad
        >>> def setup(ctx, inputs, output):
        ...     ctx.save_for_backward(inputs[0])
        >>> _ = square.register_autograd(backward, setup_context=setup)
        >>> output, pullback = square.vjp(np.arange(3, dtype=np.float32))
        >>> pullback(np.ones(3, np.float32))
        (array([0., 2., 4.], dtype=float32),)
        >>> _ = wb.op("doc::square_backward(Tensor g, Tensor x) -> Tensor", text, kernel="square_backward",
        ...           shape="g[n], x[n] -> gx[n]")
        >>> _ = square.register_autograd("doc::square_backward", saves=["x"])
        >>> square.vjp(np.arange(3, dtype=np.float32))[1](np.ones(3, np.float32))
        (array([0., 2., 4.], dtype=float32),)
        """
        self._gradient_rule = self._rule_of(backward, setup_context, saves, differentiable)
        self._left_behind = tuple(what for what in self._left_behind if what != "gradient")
        torch_side.set_gradient(self.name)
        return backward

    def _rule_of(self, backward: Any, setup_context: Any, saves: Sequence[str] | None, differentiable: Sequence[str] | None) -> tuple[Any, Any]:
        """The gradient and its setup, as `register_autograd` is given them; ArgumentError for what cannot be one."""
        if saves is not None:
            if setup_context is not None:
                raise make_argument_error("give saves= or setup_context=, not both")
            gradient = OperatorGradient(self, backward, saves, differentiable)
            return gradient.run, gradient.setup
        if isinstance(backward, str):
            raise make_argument_error(f"say what `{backward}` is called with: saves=[...] names arguments and outputs")
        if differentiable is not None:
            raise make_argument_error("differentiable= is about the operator that saves= calls, and there is no saves=")
        hold_rule(self.name, outputs_of(self), self.params[self._positional :], backward, setup_context)
        return backward, setup_context

    def register_vmap(self, rule: Callable[..., Any], /) -> Callable[..., Any]:
        """Registers how torch runs the operator over a batch, `rule(info, in_dims, *args) -> output, out_dims` as in torch.library; also as
        a decorator. NumPy's users have no use for it.

        >>> import numpy as np, workbench as wb
        >>> half = wb.op("doc::half(Tensor x) -> Tensor", "__global__ void half(const float* x, float* y, int n) "
        ...              "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] / 2; }")
        >>> @half.register_vmap
        ... def rule(info, in_dims, x):
        ...     return half(x), in_dims[0]
        """
        if not callable(rule):
            raise make_argument_error(f"a callable is wanted, got {type(rule).__name__}")
        self._vmap_rule = rule
        torch_side.set_vmap(self.name, rule)
        return rule

    def register_kernel(self, device: str, kernel: Any = None, /, *, dtypes: Sequence[Any] | None = None) -> Any:
        """Adds an implementation for other dtypes or another device ("cpu", "cuda"), or replaces that of the same; also as a decorator.

        `kernel` is a kernel of a module, `m.name`, compiled for that device, which serves the element types of
        its parameters; or a callable with the operator's arguments: a function of Python's, a host function of
        a module, another operator. A callable serves calls whose first array is of one of `dtypes`, without
        them all calls on that device. It is given NumPy's arrays, by `torch.ops` tensors, and its results are
        compared with schema and shapes; a write that the schema does not mark is an ArgumentError.

        >>> import numpy as np, workbench as wb
        >>> text = ("__global__ void neg(const T* x, T* y, int n) "
        ...         "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = -x[i]; }")
        >>> neg = wb.op("doc::neg(Tensor x) -> Tensor", wb.compile(text, defines={"T": "float"}), shape="x[n] -> y[n]")
        >>> _ = neg.register_kernel("cpu", wb.compile(text, defines={"T": "int"}).neg)
        >>> neg(np.arange(3, dtype=np.int32))
        array([ 0, -1, -2], dtype=int32)
        >>> @neg.register_kernel("cpu", dtypes=["float64"])
        ... def neg_double(x):
        ...     return -x
        >>> neg(np.arange(3.0))
        array([-0., -1., -2.])
        """
        device = plain_device(device)
        if device not in ("cpu", "cuda"):
            raise make_argument_error(f"device is {device!r}; it must be \"cpu\" or \"cuda\", which is every GPU")
        if kernel is None:
            return lambda k: self.register_kernel(device, k, dtypes=dtypes)
        if isinstance(kernel, Kernel):
            if dtypes is not None:
                raise make_argument_error("a kernel serves the element types of its parameters; leave out dtypes=")
            if kernel.module.device != device:
                raise make_argument_error(f"kernel `{kernel.name}` is compiled for {kernel.module.device}, not for {device}")
            self._register_compiled(kernel)
            # The replaced kernel is told by its name and parameters.
            kept = {n: old for n, old in self._others.items() if isinstance(old, Outside) or repr(old) != repr(kernel)}
            self._others = {**kept, next(_NUMBERS): kernel}
            return kernel
        if kernel is self or getattr(kernel, "_qualified_op_name", getattr(kernel, "_name", "")) in (self.name, f"{self.name}.default"):
            raise make_argument_error(f"`{self.name}` cannot serve its own calls")
        made, number = outside(self.name, device, kernel, dtypes), next(_NUMBERS)
        # A rule is known before anything asks for it, and forgotten when nothing does.
        self._others = {**self._others, number: made}
        self._ask_outside(True)
        self._tell_torch()
        self._register_callable(made, number)
        self._others = {n: old for n, old in self._others.items() if n == number or isinstance(old, Kernel) or not made.covers(old)}
        return kernel

    @property
    def _outside(self) -> dict[int, Outside]:
        """The callables that serve some of its calls."""
        return {number: one for number, one in self._others.items() if isinstance(one, Outside)}

    def _again(self, others: Sequence[Outside | Kernel]) -> None:
        """Adds the callables and kernels of another operator, in that order."""
        for one in others:
            if isinstance(one, Kernel):
                self.register_kernel(one.module.device, one)
            else:
                self.register_kernel(one.device, one.function, dtypes=one.dtypes)

    def _succeed(self, old: Any) -> None:
        """Makes handles of another class that had the name run this operator."""
        self._before = [old, *old._before]
        for one in self._before:
            one._successor, one._why_stale = self, None
            one._ask_outside(True)
            for name in _FORWARDED:
                if hasattr(type(self), name):
                    setattr(one, name, getattr(self, name))

    def _register_compiled(self, kernel: Kernel) -> None:
        raise make_argument_error(
            f"`{self.name}` is no operator of a kernel, and `{kernel.name}` does not say how it is launched; "
            "register a host function or a callable that launches it"
        )

    def _register_callable(self, made: Outside, number: int) -> None:
        """A hook for classes that have to know of a registered callable."""

    def _extras(self) -> dict[str, Any]:
        """The registrations for it, besides its implementation, as a pickle has them."""
        others = [one for _, one in sorted(self._others.items())]
        has = [what for what, one in (("reference", self.reference), ("gradient", self._backward)) if one is not None]
        return {
            "others": others,
            "has": [*has, *self._left_behind],
            "reference": packed(self.reference),
            "gradient": packed(self._gradient_rule),
            "vmap": self._vmap_rule,
        }

    def _with(self, extras: Mapping[str, Any]) -> Any:
        """The operator itself, with the registrations of another one."""
        self._again(extras["others"])
        if extras["backward"] is not None:
            self.register_autograd(extras["backward"], setup_context=extras["setup"])
        if extras["vmap"] is not None:
            self.register_vmap(extras["vmap"])
        return self

    def _definition(self) -> tuple[Any, ...]:
        """What two operators of one name and the same meaning have in common."""
        return (schema_of(self),)

    def _from_pickle(self, here: Here | None, extras: Mapping[str, Any]) -> Any:
        """The operator itself, with the `_extras` of a pickle. In a process that has the operator already, its functions stay."""
        reference, rule = unpacked(extras["reference"]), unpacked(extras["gradient"]) or (None, None)
        if here is not None and here.definition == self._definition():
            reference, rule = reference or here.reference, rule if rule[0] is not None else here.rule
        self.reference = reference
        self._with({"others": extras["others"], "backward": rule[0], "setup": rule[1], "vmap": extras["vmap"]})
        there = {"reference": reference, "gradient": rule[0]}
        self._left_behind = tuple(what for what in extras["has"] if there[what] is None)
        return self

    def _tell_torch(self) -> None:
        """Makes torch know the operator again, with its gradient and its rule for batches."""
        rule = self._vmap_rule
        torch_side.define(self.name)
        if self._backward is not None:
            torch_side.set_gradient(self.name)
        if rule is not None:
            torch_side.set_vmap(self.name, rule)

    def _serving(self, device: str, inputs: Sequence[Any]) -> Outside | None:
        """The callable that serves a call; None if there is none for it."""
        dtype = next((dtype for value in flat(inputs) if (dtype := dtype_of(value)) is not None), None)
        return next((one for _, one in sorted(self._outside.items(), reverse=True) if one.serves(device, dtype)), None)

    def _elsewhere(self, *args: Any, **kwargs: Any) -> Any:
        """A call that a callable may serve; the native half makes it where there are some."""
        if self._successor is not None:
            return self._successor(*args, **kwargs)
        inputs = list(self._arguments(args, kwargs))
        found = self._serving("cuda" if is_on_cuda(inputs) else "cpu", inputs)
        if found is None:
            return self._direct(*args, **kwargs)
        if found.device == "cpu" or self._knows(inputs):
            self._hold_arguments(inputs)
        return run(self, found.function, inputs)

    def _knows(self, inputs: Sequence[Any]) -> bool:
        """True if the implementation for the CPU can check arguments that lie on a GPU: their types, their shapes."""
        return False

    def _said(self, inputs: Sequence[Any]) -> Any:
        """The dtypes and shapes that the shape function says; None if it cannot tell without torch."""

        def spec(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [spec(item) for item in value]
            return Spec(tuple(value.shape), dtype_of(value)) if dtype_of(value) is not None else value

        if any(dtype not in DTYPES for value in flat(inputs) if (dtype := dtype_of(value)) is not None):
            # Some types, such as complex numbers, have no Spec.
            return None
        lent, count = [spec(value) for value in inputs], self._positional
        try:
            said = self.fake(*lent[:count], **dict(zip(self.params[count:], lent[count:])))
        except (RuntimeError, ImportError):  # as of sizes that depend on data, which torch alone has words for
            return None
        specs = specs_in(said)
        if specs is None and all(kind == "Tensor" for kind, _ in returns_of(schema_of(self))):
            raise make_argument_error(f"the shape function of `{self.name}` gave {said!r}; one wb.Spec per result is wanted")
        return specs

    def opcheck(
        self, *args: Any, test_utils: Sequence[str] | None = None, raise_exception: bool = True, **kwargs: Any
    ) -> dict[str, str]:
        """torch's own checks of the operator in `torch.ops`, `torch.library.opcheck`: "SUCCESS" or what is wrong, by the names of its
        tests. Arrays are given to torch as tensors.

        ImportError where torch is not installed.

        >>> import numpy as np, workbench as wb
        >>> halved = wb.op("doc::halved(Tensor x) -> Tensor", "at::Tensor halved(at::Tensor x) { return x / 2; }")
        >>> halved.opcheck(np.ones(3))    # doctest: +SKIP
        {'test_schema': 'SUCCESS', 'test_autograd_registration': 'SUCCESS', ...}
        """
        try:
            import torch
        except ImportError as error:
            raise ImportError("opcheck is torch's: pip install torch") from error
        from ._torch_ops import packet

        found = packet(self.name)
        overload = found if isinstance(found, torch._ops.OpOverload) else found.default

        def tensor(value: Any) -> Any:
            return torch.from_numpy(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value

        options: dict[str, Any] = {} if test_utils is None else {"test_utils": tuple(test_utils)}
        given = tuple(map(tensor, args)), {name: tensor(value) for name, value in kwargs.items()}
        checked: dict[str, str] = torch.library.opcheck(overload, *given, raise_exception=raise_exception, **options)
        return checked

    def to_jax(self) -> Callable[..., Any]:
        """The operator as a function on JAX's arrays, for `jax.jit`, `jax.vmap` and, where a gradient is registered, `jax.grad`.

        It runs on the host, by `jax.pure_callback`, with shapes from `fake`; an operator that writes its arguments is an ArgumentError.
        ImportError where JAX is not installed.

        >>> import numpy as np, workbench as wb
        >>> doubled = wb.op("doc::doubled(Tensor x) -> Tensor", "at::Tensor doubled(const at::Tensor& x) { return x * 2; }")
        >>> import jax    # doctest: +SKIP
        >>> jax.jit(doubled.to_jax())(np.ones(2, np.float32))    # doctest: +SKIP
        Array([2., 2.], dtype=float32)
        """
        from ._jax import to_jax

        return to_jax(self)

    def save(self, path: Any) -> None:
        """Writes a manifest, a `.toml` file with the text, from which `wb.load_library` makes the
        operator again; its Python functions (its implementation, shapes, gradient, reference) go
        into a Python file beside it. The operator that computes the gradient is included.

        ArgumentError for things that a manifest cannot hold: lambdas, closures and methods, kernels for a GPU, and operators of several texts.

        >>> import numpy as np, pathlib, tempfile, workbench as wb
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "twice.toml"
        >>> twice = wb.op("doc_save::twice(Tensor x) -> Tensor", "__global__ void twice(const float* x, float* y, int n) "
        ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }", shape="x[*] -> y[*]")
        >>> twice.save(path)
        >>> "doc_save::twice(Tensor x) -> Tensor" in path.read_text()
        True
        """
        from .saving import save

        save(self, path)

    def export(self, directory: Any, samples: Sequence[Any] | None = None) -> Any:
        """Writes a PyTorch extension that needs no Workbench: setup.py (Python's limited API), the text, a launcher made of schema and
        shape signature, registrations, fake kernel and gradient in Python, and a test with recorded calls. Gives the directory's path.

        The operator that computes the gradient is included. A kernel gets a CUDA half for nvcc and, if all
        that it uses exists there (barriers do, warp functions do not), a half for the CPU's own compiler; a
        host function is built as it is. `samples` are the calls to record, tuples of arguments or dicts of
        them by name; without them those of its manifest, or for a kernel random arrays that fit its signature.

        ArgumentError for things that an extension cannot hold: shape callables, kernels of several modules, gradients that are not
        functions written with `def`, and a directory with other files in it.

        >>> import numpy as np, pathlib, tempfile, workbench as wb
        >>> twice = wb.op("doc_export::twice(Tensor x) -> Tensor", "__global__ void twice(const float* x, float* y, int n) "
        ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }", shape="x[*] -> y[*]")
        >>> folder = twice.export(pathlib.Path(tempfile.mkdtemp()) / "twice_ops")
        >>> sorted(path.name for path in folder.iterdir())
        ['README.md', 'csrc', 'pyproject.toml', 'setup.py', 'tests', 'twice_ops']
        """
        from .export import export

        return export([self], directory, samples)

    def _outcome(self, inputs: list[Any]) -> Any:
        """The fresh results of a call, and the arguments that it wrote."""
        count = self._positional
        result = self(*inputs[:count], **dict(zip(self.params[count:], inputs[count:])))  # type: ignore[operator]
        every = () if result is None else tuple(result) if isinstance(result, (tuple, list)) else (result,)
        fresh = [value for value, source in zip(every, self._results) if source is None]
        fresh += [inputs[self.params.index(name)] for name in self._writes]
        return fresh[0] if len(fresh) == 1 else tuple(fresh)

    def _refuse_device(self, options: Mapping[str, Any], ability: str) -> None:
        """Raises ArgumentError for `device=` as an option, which calls have and `ability` does not; it says what to write."""
        if "device" not in options or ability != "bench" and "device" in self.params:
            return
        name, takes = self.__name__, ", ".join(self.params)
        called = f"{name}({', '.join(one if at < self._positional else f'{one}={one}' for at, one in enumerate(self.params))})"
        if ability == "bench":
            advice = (
                f'it would time copies to the GPU and back; make the arguments there, wait in the call, and write '
                f'wb.bench({{"{name}": lambda {takes}: ({called}, wb.synchronize())}}, sizes, make_args)'
            )
        elif ability == "check":
            there = f'{called[:-1]}{", " if takes else ""}device="cuda")' if hasattr(self, "work") else f"{called}.cpu()"
            advice = f"it compares what the CPU computes; for a GPU write wb.check(lambda {takes}: {there}, reference, {takes})"
        else:
            advice = "gradients are checked on the CPU; leave device= out"
        raise make_argument_error(f"`{type(self).__name__}.{ability}` has no option `device`: {advice}")

    def _by_position(self) -> Callable[..., Any]:
        """The operator as a callable with all arguments by position, as references have them, keyword-only ones too."""
        count = self._positional
        if count == len(self.params):
            return self  # type: ignore[return-value]

        def by_position(function: Any) -> Any:
            return lambda *args: function(*args[:count], **dict(zip(self.params[count:], args[count:])))

        call = by_position(self)
        if hasattr(self, "work"):
            call.work = by_position(self.work)
        return call

    def _complete(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Every argument of a call in the schema's order, defaults included. All may come by position, keyword-only ones too."""
        count = self._positional
        rest = dict(zip(self.params[count:], args[count:]))
        twice = next((name for name in rest if name in kwargs), None)
        if twice is not None:
            raise make_argument_error(f"`{self.name}`: argument `{twice}` is given twice")
        # What is left over is an error of the call.
        by_place = tuple(args) if len(args) > len(self.params) else tuple(args[:count])
        return tuple(self._arguments(by_place, {**rest, **kwargs}))

    def _timed(
        self,
        what: str,
        args: tuple[Any, ...],
        sizes: Any,
        make_args: Any,
        others: Mapping[str, Callable[..., Any]] | None,
        given: dict[str, Any],
        own: Sequence[str] = (),
    ) -> BenchReport:
        """Times beside others, or beside the reference where there are none. `given` are options of `wb.bench` and arguments of calls by name, and
        `own` more options of the method that is called, which is `what`."""
        self._refuse_device(given, "bench")
        hold_keywords(what, given, self.params, (*own, "sizes", "make_args", "others", *OPTIONS))
        options = {name: value for name, value in given.items() if name in OPTIONS}
        named = {name: value for name, value in given.items() if name not in OPTIONS}
        if args and (sizes is not None or make_args is not None):
            raise make_argument_error(f"`{what}`: arguments by position are timed alone; leave them out, or sizes and make_args")
        if make_args is not None:
            make = make_args

            def make_args(size: int) -> tuple[Any, ...]:
                made = make(size)
                return self._complete(made if isinstance(made, tuple) else (made,), named)

        elif args or named:
            args = self._complete(args, named)
        name = self._called()
        others = distinct(others, name) if others else None
        reference = None if name == "reference" else self.reference
        if reference is None and self.reference is not None and not others:
            others = {"its reference": self.reference}
        options["title"] = self.__name__
        return bench_callable(name, self._by_position(), args, reference, sizes=sizes, make_args=make_args, others=others, **options)

    def _called(self) -> str:
        """The name that benchmarks give it."""
        return self.__name__

    def _check_by_calls(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        wanted: Callable[..., Any],
        rtol: float | None,
        atol: float | None,
        equal_nan: bool,
    ) -> CheckReport:
        """A check by arguments and results alone."""
        inputs = self._arguments(args, kwargs)
        lent = copies(inputs)
        expected, got = self._with_written(wanted(*lent), lent), self._outcome(copies(inputs))
        return _workbench.check_results(got, expected, rtol, atol, equal_nan, self.name)

    def _with_written(self, result: Any, inputs: Sequence[Any]) -> Any:
        """The results of a reference, with the arguments that it has written in place where it returns none of them, as the operator writes its own."""
        written = [inputs[self.params.index(name)] for name in self._writes]
        every = () if result is None else tuple(result) if isinstance(result, (tuple, list)) else (result,)
        fresh = sum(source is None for source in self._results)
        return (*every, *written) if written and len(every) == fresh else result

    def _gradcheck_by_calls(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float, atol: float, rtol: float, raise_exception: bool
    ) -> GradReport:
        """A gradient check by calls alone."""
        inputs = list(self._arguments(args, kwargs))
        gradient_checks.hold(self, inputs, eps, atol, rtol)
        try:
            report = gradient_checks.by_calls(self, inputs, eps, atol, rtol)
        except ArgumentError as error:
            raise gradient_checks.clearer(self, inputs, error) from None
        if raise_exception and not report:
            raise RuntimeError(str(report))
        return report

    def _gradient(self) -> Callable[..., Any]:
        if self._backward is None:
            raise self._lacks("gradient", "give it one with register_autograd(backward, setup_context=)")
        return self._backward

    def vjp(self, *args: Any, **kwargs: Any) -> tuple[Any, Pullback]:
        """The output, and the map from its gradient to one gradient per input, by the registered gradient, or by the
        recorded work of a host function: its functions of `torch::autograd::Function`, and its operations on tensors.

        Raises ArgumentError where there is neither.

        >>> import numpy as np, workbench as wb
        >>> square = wb.op("doc::square_vjp(Tensor x) -> Tensor",
        ...                "__global__ void square(const float* x, float* y, int n) "
        ...                "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }",
        ...                shape="x[n] -> y[n]", reference=lambda x: x * x)
        >>> def backward(ctx, grad):
        ...     return 2 * ctx.saved_tensors[0] * grad
        >>> def setup(ctx, inputs, output):
        ...     ctx.save_for_backward(inputs[0])
        >>> _ = square.register_autograd(backward, setup_context=setup)
        >>> output, pullback = square.vjp(np.arange(3, dtype=np.float32))
        >>> output, pullback(np.ones(3, np.float32))
        (array([0., 1., 4.], dtype=float32), (array([0., 2., 4.], dtype=float32),))
        """
        return self._pulled(self._arguments(args, kwargs))

    def _pulled(self, inputs: Sequence[Any]) -> tuple[Any, Any]:
        """The output of a call with every argument in order, and its pullback."""
        backward = self._gradient()
        count = self._positional
        output = self(*inputs[:count], **dict(zip(self.params[count:], inputs[count:])))  # type: ignore[operator]
        return output, self._pullback(backward, tuple(inputs), output)

    def _pullback(self, backward: Callable[..., Any], inputs: tuple[Any, ...], output: Any) -> Pullback:
        ctx = Context(tuple(needs_grad(value) for value in inputs))
        if self._setup is not None:
            count = self._positional
            if count < len(inputs):
                self._setup(
                    ctx=ctx,
                    inputs=inputs[:count],
                    keyword_only_inputs=dict(zip(self.params[count:], inputs[count:])),
                    output=output,
                )
            else:
                self._setup(ctx, inputs, output)
        return Pullback(self.name, self.params, self._positional, ctx, backward, inputs, output, len(self._results))


@dataclass(frozen=True)
class Here:
    """The functions of an operator that a process has already, and its definition."""

    reference: Callable[..., Any] | None
    rule: tuple[Callable[..., Any] | None, Callable[..., Any] | None]
    definition: tuple[Any, ...]


class Lookup:
    """The functions of an operator where a pickle is loaded, as they are at that point of it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        return here_of, (self.name,)


def here_of(name: str) -> Here | None:
    """The functions of an operator of this process; None where there is none of the name."""
    from .operators import handles

    known = handles.get(name)
    return Here(known.reference, known._gradient_rule, known._definition()) if isinstance(known, Differentiable) else None

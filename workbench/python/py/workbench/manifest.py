"""Manifests: operators in files, with gradients, references, samples and tolerances; loading, saving and checking them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any, Callable, Iterable, Iterator

import numpy as np

from . import _workbench
from ._calls import clear_calls
from ._compile import collect_headers
from ._compile import compile as compile_source
from ._array_exchange import bfloat16
from ._options import parse_options
from .copying import copies
from .errors import make_argument_error, plural
from .library_report import LibraryReport, LibraryRow
from .operators import Op, handles, op
from .spec import Spec

__all__ = ["Library", "LibraryReport", "LibraryRow", "load_library"]

# torch.testing.assert_close's defaults: relative and absolute, by dtype.
_TOLERANCE = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
# Elements of an argument whose gradient is compared.
_MOST_DIFFERENCES = 64
# The lower precision of a backward rounds saved values, its own result and its sums, each by half a unit
# of 2^-24, 2^-11 or 2^-8; the tolerance is a handful of such roundings of values of the result's own size.
_LOWER = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 4e-2}


@clear_calls
class Library:
    """The operators of a manifest, as attributes; `check()` compares them with their references.

    >>> import numpy as np, pathlib, tempfile, workbench as wb
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "twice.cu").write_text('''
    ... at::Tensor twice(const at::Tensor& x) { return x + x; }
    ... TORCH_LIBRARY_FRAGMENT(doc_library, m) { m.def("twice(Tensor x) -> Tensor", &twice); }''')
    >>> _ = (folder / "twice.py").write_text("def twice(x): return 2 * x")
    >>> _ = (folder / "twice.toml").write_text('''source = "twice.cu"
    ... reference = "twice.py"
    ... [twice]
    ... dtypes = ["float32"]
    ... [[twice.samples]]
    ... x = { normal = [5, 7] }''')
    >>> library = wb.load_library(folder / "twice.toml", trust=True)
    >>> library.twice(np.ones(2, np.float32))
    array([2., 2.], dtype=float32)
    >>> [bool(row) for row in library.check()]
    [True]
    """

    def __init__(self, path: Path, operators: dict[str, Any], entries: dict[str, dict[str, Any]]) -> None:
        self._path, self._operators, self._entries = path, operators, entries

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.__dict__.get("_operators", {}):
            raise AttributeError(f"{self.__dict__.get('_path')} has no operator `{name}`")
        return self._operators[name]

    def __dir__(self) -> list[str]:
        return [*self._operators, "check", "samples"]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._operators.values())

    def __repr__(self) -> str:
        return f"<operators of {self._path.name}: {', '.join(self._operators)}>"

    def samples(self, name: str, dtype: str = "float32") -> list[dict[str, Any]]:
        """The samples of an operator, arrays in that dtype if the manifest says none; the same numbers each time.

        >>> import pathlib, tempfile, workbench as wb
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "half.toml"
        >>> _ = path.write_text('''text = "at::Tensor half(at::Tensor x) { return x / 2; } TORCH_LIBRARY_FRAGMENT(doc_samples, m) { m.def(\\\\"half(Tensor x) -> Tensor\\\\", &half); }"
        ... [half]
        ... [[half.samples]]
        ... x = { integers = [3], high = 10, dtype = "float32" }''')
        >>> wb.load_library(path).samples("half")[0]["x"].shape
        (3,)
        """
        made = []
        for number, sample in enumerate(self._entries[name].get("samples", ())):
            rng = np.random.default_rng(number)
            made.append({key: _array(value, dtype, rng) if isinstance(value, dict) else value for key, value in sample.items()})
        return made

    def export(self, directory: str | Path) -> Path:
        """Writes the operators as a PyTorch extension that needs no Workbench, as `Op.export` does one; its test are the samples.

        >>> import pathlib, tempfile, workbench as wb
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "half.toml"
        >>> _ = path.write_text('''text = "at::Tensor half(at::Tensor x) { return x / 2; } TORCH_LIBRARY_FRAGMENT(doc_out, m) { m.def(\\\\"half(Tensor x) -> Tensor\\\\", &half); }"
        ... [half]
        ... [[half.samples]]
        ... x = { normal = [3] }''')
        >>> halves = wb.load_library(path)
        >>> _ = halves.half.register_fake(wb.empty_like)
        >>> sorted(p.name for p in (halves.export(path.with_name("halves")) / "csrc").iterdir())
        ['half.cu', 'half_module.cpp', 'launch.h']
        """
        from .export import export

        return export([self._operators[name] for name in self._entries if self._entries[name].get("samples")], directory)

    def check(self) -> LibraryReport:
        """Compares every operator with its reference on every sample in every dtype, gradients with differences
        of the reference in float64, and shapes with those worked out without data. One row per operator.

        >>> import pathlib, tempfile, workbench as wb
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "half.toml"
        >>> _ = path.write_text('''text = "at::Tensor half(at::Tensor x) { return x / 2; } TORCH_LIBRARY_FRAGMENT(doc_row, m) { m.def(\\\\"half(Tensor x) -> Tensor\\\\", &half); }"
        ... [half]
        ... [[half.samples]]
        ... x = { normal = [3] }''')
        >>> wb.load_library(path).check()[0].failures
        ['half has samples and no reference']
        """
        return LibraryReport(self._check(name) for name, entry in self._entries.items() if entry.get("samples"))

    def _check(self, name: str) -> LibraryRow:
        began, entry, handle = perf_counter(), self._entries[name], self._operators[name]
        row = LibraryRow(name)
        if handle.reference is None:
            row.failures.append(f"{name} has samples and no reference")
            return row
        every = entry.get("dtypes") or ["float32"]
        for number, sample in enumerate(entry["samples"]):
            free = any(isinstance(v, dict) and "dtype" not in v and "integers" not in v for v in sample.values())
            for dtype in every if free else every[:1]:
                try:
                    args = self.samples(name, dtype)[number]
                    self._forward(row, name, args, entry.get("tolerance", {}))
                    if "backward" in entry and dtype == "float64":
                        self._gradients(row, name, args, number)
                        for lower in [d for d in every if d in _LOWER]:
                            self._lower_gradients(row, name, self.samples(name, lower)[number], lower)
                except Exception as error:  # every one is a finding
                    row.failures.append(f"sample {number}, {dtype}: {type(error).__name__}: {error}")
                if dtype not in row.dtypes:
                    row.dtypes.append(dtype)
        row.seconds = perf_counter() - began
        return row

    def _whole(self, name: str, args: dict[str, Any]) -> list[Any]:
        return list(self._operators[name]._arguments((), args))

    def _forward(self, row: LibraryRow, name: str, args: dict[str, Any], tolerance: dict[str, Any]) -> None:
        handle = self._operators[name]
        inputs = self._whole(name, args)
        used = copies(inputs)
        got = _several(handle._outcome(used))
        want = _several(handle.reference(**copies_of(args)))
        for before, after, param in zip(inputs, used, handle.params):
            if isinstance(before, np.ndarray) and param not in handle._writes and before.tobytes() != after.tobytes():
                row.failures.append(f"it wrote `{param}`")
        if len(got) != len(want):
            raise AssertionError(f"{plural(len(got), 'result')}; the reference gives {len(want)}")
        for i, (one, other) in enumerate(zip(map(np.asarray, got), map(np.asarray, want))):
            if one.shape != other.shape:
                raise AssertionError(f"result {i} has the shape {one.shape}; the reference's has {other.shape}")
            rtol, atol = tolerance.get(one.dtype.name) or _TOLERANCE.get(one.dtype.name, (0.0, 0.0))
            part = _excess(one, other, rtol, atol)
            row.worst = max(row.worst, part)
            if not part <= 1:
                raise AssertionError(f"result {i} differs by {part:.3g} of what rtol={rtol}, atol={atol} allow")
        row.forward += 1
        if row.shapes is None:
            return
        specs = [Spec(v.shape, v.dtype) if isinstance(v, np.ndarray) else v for v in inputs]
        count = handle._positional
        try:
            made = handle.fake(*specs[:count], **dict(zip(handle.params[count:], specs[count:])))
        except RuntimeError as error:
            # Any other error is a finding.
            if "give a shape function" not in str(error):
                raise
            row.shapes = None
            return
        fresh = [spec for spec, source in zip(_several(made), handle._results) if source is None]
        for i, (spec, one) in enumerate(zip(fresh, map(np.asarray, got))):
            if (spec.shape, spec.dtype) != (one.shape, one.dtype.name):
                raise AssertionError(f"result {i} is {one.dtype} {one.shape}; without data it was said to be {spec}")
        row.shapes += 1

    def _gradients(self, row: LibraryRow, name: str, args: dict[str, Any], number: int) -> None:
        """Compares the pullback of random numbers with central differences of the reference, whose error is about 1e-10 of its size."""
        handle, rng, eps = self._operators[name], np.random.default_rng(number), 1e-6
        inputs = self._whole(name, args)
        outputs, pull = handle.vjp(**args)
        weights = [rng.standard_normal(np.shape(o)) if np.asarray(o).dtype.kind == "f" else None for o in _several(outputs)]
        made = pull(*[np.zeros(np.shape(o)) if w is None else np.asarray(w) for o, w in zip(_several(outputs), weights)])

        def total(changed: dict[str, Any]) -> float:
            results = _several(handle.reference(**{**copies_of(args), **changed}))
            return float(sum((np.asarray(r) * w).sum() for r, w in zip(results, weights) if w is not None))

        for param, value, gradient in zip(handle.params, inputs, made):
            if gradient is None or param not in args:
                continue
            if np.shape(gradient) != np.shape(value):
                raise AssertionError(f"the gradient of `{param}` has the shape {np.shape(gradient)}")
            places = list(np.ndindex(np.shape(value)))
            chosen = rng.permutation(len(places))[:_MOST_DIFFERENCES]
            for place in (places[i] for i in chosen):
                ends = []
                for step in (eps, -eps):
                    moved = np.array(value, np.float64)
                    moved[place] += step
                    ends.append(total({param: moved}))
                want = (ends[0] - ends[1]) / (2 * eps)
                error = abs(float(np.asarray(gradient)[place]) - want)
                if not error <= 2e-6 + 1e-5 * abs(want) and not np.isnan(want):
                    raise AssertionError(f"the gradient of `{param}` at {place} is off by {error:.3g} of {want:.6g}")
                row.gradient_error = max(row.gradient_error, 0.0 if np.isnan(error) else error)
            row.gradients += 1

    def _lower_gradients(self, row: LibraryRow, name: str, args: dict[str, Any], dtype: str) -> None:
        """Compares the pullback in a lower precision with the one in float64, for the same numbers."""
        handle, rng = self._operators[name], np.random.default_rng(0)
        wide = {k: v.astype(np.float64) if getattr(getattr(v, "dtype", None), "name", "") == dtype else v for k, v in args.items()}
        low_out, low_pull = handle.vjp(**args)
        _, wide_pull = handle.vjp(**wide)
        grads = [rng.standard_normal(np.shape(o)).astype(np.asarray(o).dtype) for o in _several(low_out)]
        # The gradient is that of rounded numbers: both begin from the same ones.
        low = low_pull(*grads)
        for param, got, want in zip(handle.params, low, wide_pull(*[_widened(g) for g in grads])):
            if want is None:
                continue
            if np.asarray(got).dtype.name != dtype:
                raise AssertionError(f"the gradient of `{param}` is of {np.asarray(got).dtype}; the argument is of {dtype}")
            size = max(1.0, float(np.nanmax(np.abs(want), initial=0)))
            if not _excess(np.asarray(got), np.asarray(want), _LOWER[dtype], _LOWER[dtype] * size) <= 1:
                raise AssertionError(f"the gradient of `{param}` in {dtype} differs from the one in float64")


def copies_of(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, arrays copied."""
    return dict(zip(args, copies(list(args.values()))))


def _widened(array: Any) -> Any:
    return array.astype(np.float64) if array.dtype.name in _TOLERANCE else array


def _several(value: Any) -> tuple[Any, ...]:
    return () if value is None else tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _excess(got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> float:
    """The largest error as a part of the tolerance; infinite if only one of the two is a number."""
    left, right = np.asarray(got, np.float64), np.asarray(want, np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    if same.all():
        return 0.0
    if not (np.isfinite(left) & np.isfinite(right) | same).all():
        return float("inf")
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.abs(left - right) / (atol + rtol * np.abs(right))
    return float(np.where(same, 0, part).max())


def _dtype(name: str) -> np.dtype:
    return bfloat16() if name == "bfloat16" else np.dtype(name)


def _array(spec: dict[str, Any], dtype: str, rng: np.random.Generator) -> np.ndarray:
    """The array that a table of a sample stands for."""
    own = spec.get("dtype")
    if "integers" in spec:
        made = rng.integers(spec.get("low", 0), spec.get("high", 2), spec["integers"]).astype(_dtype(own or "int64"))
    else:
        if "normal" in spec:
            numbers = rng.standard_normal(spec["normal"])
        elif "uniform" in spec:
            numbers = rng.uniform(spec.get("low", 0.0), spec.get("high", 1.0), spec["uniform"])
        else:
            numbers = np.array(spec["values"])
        made = np.asarray(numbers).astype(_dtype(own or dtype))
    return np.swapaxes(made, *spec["transposed"]) if "transposed" in spec else np.asarray(made)


@clear_calls
def load_library(path: str | Path, *, trust: bool = False) -> Library:
    """Makes the operators of a manifest, a `.toml` file: registered, with gradients and references.

    Loading compiles the text and runs its registrations, checked as all of host code is: it reaches neither files nor the process. A
    manifest with Python functions (`reference`: those that gradients, shapes and checks call) names a file of them, and to load that
    is to run it, with all that this process may do. It is run with `trust=True` alone; say that of files that you have read, or that
    come from where your own code does. The files that a manifest names are below its folder; folders of headers elsewhere need
    `trust=True` too. (Unpickling an operator runs code in its pickle, as with all pickles: Python's functions are in it as text.)

    The format is documented in `workbench::ops::manifest`, and by example in the repository's `kernels`.
    Raises ArgumentError for a manifest that lacks something, with the place, and CompileError for its text.

    >>> import numpy as np, pathlib, tempfile, workbench as wb
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "twice.toml"
    >>> twice = wb.op("doc_saved::twice(Tensor x) -> Tensor", "__global__ void twice(const float* x, float* y, int n) "
    ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }", shape="x[*] -> y[*]")
    >>> twice.save(path)
    >>> wb.load_library(path).twice(np.ones(3, np.float32))
    array([2., 2., 2.], dtype=float32)
    """
    path = Path(path)
    try:
        table = _workbench.read_manifest(path.name, path.read_text(encoding="utf-8"))
        source = table.pop("source", None)
        text = table.pop("text", None)
        text = text if source is None else _below(path, "source", source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise make_argument_error(f"{path}: {error}") from None
    reference = table.pop("reference", None)
    made_of = {key: table.pop(key, None) for key in ("defines", "headers", "options")}
    file = None if reference is None else _below(path, "reference", reference)
    if not trust:
        if file is not None:
            raise make_argument_error(
                f"{path.name} comes with functions of Python's, and to load it is to run {reference}; read that file, "
                f"then write wb.load_library({str(path)!r}, trust=True)"
            )
        for build in (made_of, *(other for entry in table.values() for other in entry.get("kernels", ()))):
            for folder in parse_options(build.get("options") or (), "cuda").include_dirs:
                if not _is_below(path.parent, folder.resolve()):
                    raise make_argument_error(
                        f"{path.name}: `options` takes headers from {str(folder)!r}, which is not below its folder; if they are yours, write "
                        f"wb.load_library({str(path)!r}, trust=True)"
                    )
        _hold_includes(path, [text, *(other.get("text") for entry in table.values() for other in entry.get("kernels", ()))])
    functions = _Functions(path, reference, table)
    module = None if text is None else _compiled(text, source or path.stem, made_of, path.parent)
    names = [] if module is None else _workbench.library_names(module)
    registered = {name.split("::")[1]: name for name in names}
    operators: dict[str, Any] = {}
    for name, entry in table.items():
        if "function" in entry:
            operators[name] = op(entry["schema"], functions.of(name, "function"), shape=functions.of(name, "fake"))
        elif "schema" in entry:
            parts = {key: entry.get(key) for key in ("kernel", "shape", "threads", "block", "grid", "shared_mem")}
            if "shape_function" in entry:
                parts["shape"] = functions.of(name, "shape_function")
            operators[name] = op(entry["schema"], module, **parts)  # type: ignore[arg-type]
        elif entry.get("operator", registered.get(name)) in names:
            operators[name] = handles[entry.get("operator", registered.get(name))]
        else:
            known = ", ".join(registered if "operator" not in entry else names) or "nothing"
            wanted = entry.get("operator", name)
            raise make_argument_error(f"{path.name}: the text registers no operator `{wanted}` (it registers {known})")
        operators[name].reference = functions.reference(name)
    for name, entry in table.items():
        if "fake" in entry and "function" not in entry:
            operators[name].register_fake(functions.of(name, "fake"))
        for number, other in enumerate(entry.get("kernels", ())):
            _register(operators[name], other, functions.kernel(name, number), path)
        if "gradient" in entry:
            operators[name].register_autograd(functions.of(name, "gradient"), setup_context=functions.of(name, "setup"))
        if "backward" in entry:
            backward = entry["backward"]
            target = operators[backward].name if backward in operators else registered.get(backward, backward)
            if "::" not in target:
                raise make_argument_error(f"{path.name}: `{name}`: the text registers no operator `{backward}` for its gradient")
            operators[name].register_autograd(
                target, saves=entry["saves"], differentiable=entry.get("differentiable")
            )
        if "vmap" in entry:
            operators[name].register_vmap(functions.of(name, "vmap"))
    library = Library(path, operators, table)
    for name in operators:
        operators[name]._samples = partial(library.samples, name)
    return library


def _is_below(folder: Path, other: str | Path) -> bool:
    """True if a file that a manifest in `folder` names lies below that folder, links followed."""
    return (folder / other).resolve().is_relative_to(folder.resolve())


def _below(path: Path, key: str, file: str) -> Path:
    """The file that a manifest names by a key."""
    if Path(file).is_absolute() or not _is_below(path.parent, file):
        raise make_argument_error(f"{path.name}: `{key}` names {file!r}; the files of a manifest are below its own folder")
    return path.parent / file


def _hold_includes(path: Path, texts: Iterable[str | None]) -> None:
    """Refuses texts that include files from outside of the manifest's folder."""
    found: dict[str, str] = {}
    for text in texts:
        collect_headers(text or "", [path.parent], found)
    for name in found:
        if not _is_below(path.parent, name):
            raise make_argument_error(f"{path.name}: its text includes {name!r}; the files of a manifest are below its own folder")


class _Functions:
    """The Python file beside a manifest: its functions, by their names in the manifest."""

    def __init__(self, path: Path, file: str | None, table: dict[str, dict[str, Any]]) -> None:
        self.path, self.file, self.table = path, file, table
        self.module = None if file is None else _references(path.parent / file)
        #: True if it names the functions; else references have the operators' names.
        self.says = False
        # All functions are looked up before anything is registered.
        for operator, entry in table.items():
            for role in ("function", "fake", "shape_function", "gradient", "setup", "reference", "vmap"):
                self.says |= self.of(operator, role) is not None
            for number in range(len(entry.get("kernels", ()))):
                self.says |= self.kernel(operator, number) is not None
            if "schema" in entry:
                self._hold_names(operator, entry)

    def _hold_names(self, operator: str, entry: dict[str, Any]) -> None:
        """Refuses names of arguments that do not exist."""
        params = [param for param, *_ in _workbench.schema_arguments(entry["schema"])]
        for key in ("saves", "differentiable"):
            for name in entry.get(key) or ():
                if name not in params and not (key == "saves" and name.partition(".")[0] == "output"):
                    raise make_argument_error(f"{self.path.name}: `{operator}`: `{key}` names `{name}`, which is no argument of it")

    def named(self, operator: str, role: str, name: str) -> Callable[..., Any]:
        found = getattr(self.module, name, None)
        if not callable(found):
            raise make_argument_error(f"{self.path.name}: `{operator}`: {self.file} has no function `{name}` for `{role}`")
        return found  # type: ignore[no-any-return]

    def of(self, operator: str, role: str) -> Callable[..., Any] | None:
        name = self.table[operator].get(role)
        return None if name is None else self.named(operator, role, name)

    def kernel(self, operator: str, number: int) -> Callable[..., Any] | None:
        name = self.table[operator]["kernels"][number].get("function")
        return None if name is None else self.named(operator, "kernels", name)

    def reference(self, operator: str) -> Callable[..., Any] | None:
        """The function that the entry names; in a manifest that names no functions at all, the one with the operator's name."""
        if "reference" in self.table[operator]:
            return self.of(operator, "reference")
        return None if self.says else getattr(self.module, operator, None)


def _compiled(text: str, name: str, made_of: dict[str, Any], folder: Path) -> Any:
    options = [*(made_of.get("options") or ()), f"-I{folder}"]
    return compile_source(text, name=name, defines=made_of.get("defines"), headers=made_of.get("headers"), options=options)


def _register(handle: Any, other: dict[str, Any], function: Callable[..., Any] | None, path: Path) -> None:
    """Another implementation of an operator: a kernel with a text of its own, or a function."""
    device = other.get("device", "cpu")
    if function is not None:
        handle.register_kernel(device, function, dtypes=other.get("dtypes"))
        return
    module = _compiled(other["text"], path.stem, other, path.parent)
    try:
        kernel = module[other["kernel"]]
    except KeyError as error:
        raise make_argument_error(f"{path.name}: `{handle.name}`: `kernels`: {error.args[0]}") from None
    handle.register_kernel(device, kernel)


def _references(path: Path) -> ModuleType:
    """The module of a file, which no other file replaces."""
    # The import is here: `import workbench` should not wait for it.
    import importlib.util

    spec = importlib.util.spec_from_file_location(f"workbench_reference_{path.stem}", path)
    if spec is None or spec.loader is None or not path.exists():
        raise make_argument_error(f"{path}: there is no such Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

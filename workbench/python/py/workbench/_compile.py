"""`wb.compile`: options spelled out, headers found, NVIDIA's wheels looked up; the native half does the rest."""

from __future__ import annotations

import importlib.util
import os
import posixpath
import re
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from . import _workbench
from ._calls import clear_calls
from ._options import hold_folders, parse_options, plain_device
from ._workbench import Module
from .errors import make_argument_error

__all__ = ["compile", "devices"]

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


@clear_calls
def compile(
    source: str,
    device: str = "cpu",
    *,
    name: str | None = None,
    defines: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    arch: str | None = None,
    fmad: bool = True,
    strict_device: bool = False,
    unified_memory: bool = False,
    timeout: float | None = None,
) -> Module:
    """Compiles CUDA C++ and returns its kernels and host functions as attributes of one object.

    `device` is "cpu" or "cuda" ("cuda:0" is the same); `name` is what messages call the text; `defines` maps macro names to replacements
    (`{"N": 4}`; function-like ones as `{"F(x)": "x + 1"}`); `headers` maps names of `#include` to their text; `options`
    are the compiler's (`-DN=4`, `-Idir`, `--use_fast_math`); `arch` is the GPU's, such as "sm_90", and needs no GPU.
    With `fmad` (nvcc's `-fmad`, which may also stand in `options`) kernels compute a product and the sum that it goes into with one rounding,
    on the CPU where a GPU's compiler makes one instruction of them; without it each operation rounds. Host functions never do.
    Host functions see host arrays on the device that they are written for, whatever that is (`x.is_cuda()` holds where the text
    launches kernels); with `strict_device` they are on the CPU.
    Host code that touches what `cudaMalloc` gave, and a kernel that touches memory of the host's (`malloc`, `new`, local variables), fault
    as they do on a GPU; `cudaMallocManaged` serves both. `unified_memory` is for texts that run on machines whose GPUs reach all of the
    host's memory (heterogeneous memory management, Grace Hopper): kernels may touch it there. What a `TORCH_LIBRARY` of the text registers is in `wb.ops`.
    `timeout` is in seconds (None: no limit): launches and calls fault after it, as after `with_timeout`, and so does what runs before this
    returns, the initialisers of the text's variables and the bodies of its registrations (`PYBIND11_MODULE`, `TORCH_LIBRARY`) together.
    The same text with the same options is compiled once, unless it has `__constant__` or `__device__` variables, which begin anew.

    Raises CompileError with every diagnostic, ArgumentError for an option that cannot be honoured and a folder that is not there,
    DeviceUnavailable where NVRTC is missing, and KernelTimeout for what is not done in time.

    >>> import numpy as np, workbench as wb
    >>> m = wb.compile('''
    ... __global__ void saxpy(float a, const float* x, float* y, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) y[i] = a * x[i] + y[i];
    ... }''')
    >>> x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    >>> m.saxpy[1, 32](2.0, x, y, 4)
    >>> y
    array([1., 3., 5., 7.], dtype=float32)
    """
    if not isinstance(source, str):
        raise make_argument_error(f"source is a str, got {type(source).__name__}")
    device = plain_device(device)
    if device == "cpu" and isinstance(arch, str):
        raise make_argument_error(f"arch={arch!r} is a GPU's, and device is \"cpu\", which has none; give device=\"cuda\", or leave out arch=")
    pairs = [(str(key), macro(value)) for key, value in (defines or {}).items()]
    parsed = parse_options(options, device)
    hold_folders(parsed.include_dirs)
    found = dict(headers or {})
    collect_headers(source, parsed.include_dirs, found)
    if device == "cuda":
        find_nvidia()
    return _workbench.compile_source(
        source,
        device=device,
        name=name or "",
        defines=pairs + parsed.defines,
        headers=found,
        options=parsed.rest,
        arch=arch or parsed.arch,
        fmad=fmad if parsed.fmad is None else parsed.fmad,
        strict_device=strict_device,
        unified_memory=unified_memory,
        timeout=timeout,
    )


def rebuild(source: str, state: dict[str, Any], timeout: float | None) -> Module:
    """Compiles the text of a pickled module."""
    if state["device"] == "cuda":
        find_nvidia()
    return _workbench.compile_source(source, timeout=timeout, **state)


def collect_headers(source: str, dirs: Sequence[Path], found: dict[str, str]) -> None:
    """Adds to `found` the files that the text includes, and those that these include: searched beside the including file, then under `dirs`."""
    texts = [("", source), *found.items()]
    while texts:
        asking, text = texts.pop()
        folder = posixpath.dirname(asking)
        for opening, name in _INCLUDE.findall(text):
            beside = posixpath.normpath(posixpath.join(folder, name))
            for key, path in _places(folder, beside, name, dirs, opening == '"'):
                if key in found:
                    break
                if path.is_file():
                    found[key] = path.read_text(encoding="utf-8", errors="replace")
                    texts.append((key, found[key]))
                    break


def _places(folder: str, beside: str, name: str, dirs: Sequence[Path], is_quoted: bool) -> Iterator[tuple[str, Path]]:
    """The places where a header may be, each with the header's name there: one in quotes is first searched beside the including file."""
    near = [(beside, Path(beside))] if posixpath.isabs(folder) else [(beside, place / beside) for place in dirs if folder]
    far = [(name, place / name) for place in dirs]
    yield from [*near, *far] if is_quoted else far


def macro(value: object) -> str:
    """The replacement of a macro as the compiler takes it."""
    if value is None or value is True:
        return "1"
    if value is False:
        return "0"
    return str(value)


def nvidia_folders() -> list[str]:
    """Folders of NVIDIA's wheels (`nvidia-cuda-nvrtc`, `nvidia-cuda-runtime`) in this environment."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    return [os.fspath(p) for p in spec.submodule_search_locations or ()] if spec else []


def find_nvidia() -> None:
    """Searches NVIDIA's wheels of this environment for NVRTC; the native half calls it, too."""
    for folder in nvidia_folders():
        _workbench.add_search_path(folder)


class Device(str):
    """A name such as "cpu" or "cuda:0", with `.description` and, for a GPU, its `.arch`."""

    description: str
    arch: str | None

    def __new__(cls, name: str, description: str, arch: str | None = None) -> Device:
        made = super().__new__(cls, name)
        made.description, made.arch = description, arch
        return made


@clear_calls
def devices() -> list[Device]:
    """The devices that kernels can run on: "cpu", and "cuda:0" and so on if there is a driver and a GPU.

    Each is a str with `.description` and `.arch`. No GPU is no error. The first GPU is what "cuda" means; on the others a launch runs
    whose arrays lie there.

    >>> import workbench as wb
    >>> wb.devices()[0]
    'cpu'
    """
    found = [Device("cpu", f"this process, {os.cpu_count()} processors, checked accesses")]
    for index, (name, arch) in enumerate(_workbench.cuda_devices()):
        found.append(Device(f"cuda:{index}", name, arch))
    return found

"""Builds C++ baselines: each into a cache named after its text, its flags and its compiler."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

BASELINES = Path(__file__).parent / "baselines"
CACHE = Path(__file__).resolve().parents[3] / ".lab" / "bench-cpu"


@functools.cache
def compiler() -> str | None:
    """The C++ compiler: $CXX, or g++, or clang++."""
    return next((path for name in (os.environ.get("CXX"), "g++", "clang++") if name and (path := shutil.which(name))), None)


@functools.cache
def compiler_version() -> str:
    if compiler() is None:
        return "no C++ compiler"
    return subprocess.check_output([compiler(), "--version"], text=True).splitlines()[0]


def flags_of(text: str) -> list[str]:
    """The flags in the first line of a baseline."""
    first = text.splitlines()[0]
    mark = "// flags:"
    if not first.startswith(mark):
        raise ValueError(f"a baseline begins with `{mark} ...`")
    return first[len(mark) :].split()


@functools.cache
def machine_flags() -> str:
    """The processor's features, which `-march=native` uses."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith("flags")), "")


def build(name: str, folder: Path = BASELINES) -> Path:
    source = folder / f"{name}.cpp"
    text = source.read_text()
    flags = flags_of(text)
    digest = hashlib.sha256("\0".join([text, *flags, compiler_version(), machine_flags()]).encode())
    for header in sorted(folder.glob("*.h")):
        digest.update(header.read_bytes())
    library = CACHE / f"{name}-{digest.hexdigest()[:16]}.so"
    if not library.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler(), *flags, str(source), "-o", str(made)], check=True)
        made.replace(library)
    return library


def function(name: str, folder: Path = BASELINES) -> ctypes._CFuncPtr:
    """The function of a baseline, which has the name of its file."""
    found = getattr(ctypes.CDLL(str(build(name, folder))), name)
    found.restype = None
    return found

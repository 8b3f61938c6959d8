"""The table of `cargo xtask kernels`: every operator in `kernels/` compared with its reference.

    python kernels.py [part of a name ...]
"""

import sys
import time
from pathlib import Path

import workbench as wb

ROOT = Path(__file__).resolve().parents[2]
HEAD = "| operator | dtypes | calls | of the tolerance | gradients | largest error | shapes | compiled, ms |"


def main() -> None:
    failures = []
    print(HEAD)
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for path in sorted((ROOT / "kernels").rglob("*.toml")):
        name = f"{path.parent.name}/{path.stem}"
        if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
            continue
        began = time.perf_counter()
        library = wb.load_library(path, trust=True)
        compiled = (time.perf_counter() - began) * 1e3
        for row in library.check():
            failures += [f"{name}, {row.operator}: {failure}" for failure in row.failures]
            dtypes = ", ".join(row.dtypes).replace("bfloat", "bf").replace("float", "f").replace("int", "i")
            gradients = f"{row.gradients} | {row.gradient_error:.1e}" if row.gradients else "none | "
            shapes = "by the data" if row.shapes is None else row.shapes
            print(f"| {name} | {dtypes} | {row.forward} | {row.worst:.2f} | {gradients} | {shapes} | {compiled:.0f} |", flush=True)
    for failure in failures:
        print("FAILED", failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

"""The speed of kernels on the CPU: each row is a CUDA text as a textbook has it, run by Workbench, beside hand-tuned C++ and others.

    python workbench/xtask/bench_cpu [--rows sum,gelu] [--only workbench,cpp,numpy] [--rounds 31] [--tier lanes] [--json FILE] [--svg FILE]
    python workbench/xtask/bench_cpu --checks [--rows sum,gelu] [--rounds 31]
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:
    # Run as a directory: its modules are those of a package, and none of them may hide an installed one.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    __package__ = "bench_cpu"
    import bench_cpu  # noqa: F401

from .waiting import threads_sleep  # noqa: E402

threads_sleep()

from .table import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())

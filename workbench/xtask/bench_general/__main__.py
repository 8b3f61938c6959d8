"""The speed of kernels as people write them: each row is a CUDA text of the kind that projects have, run by Workbench, beside plain C++ with OpenMP.

    python workbench/xtask/bench_general [--rows csr_spmv,rope] [--rounds 11] [--tier lanes] [--json FILE] [--svg FILE] [--against FILE]
    python workbench/xtask/bench_general --rounds 0
    python workbench/xtask/bench_general --from-json FILE [--svg FILE] [--against FILE]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if not __package__:
    # Run as a directory: its modules are those of a package, and none of them may hide an installed one.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    __package__ = "bench_general"
    import bench_general  # noqa: F401

from bench_cpu.waiting import threads_sleep  # noqa: E402

threads_sleep()
# Both contestants have a thread for each processor.
os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))

from .table import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())

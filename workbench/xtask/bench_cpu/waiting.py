"""How the threads of other libraries wait."""

from __future__ import annotations

import os


def threads_sleep() -> None:
    """Threads that have nothing to do sleep, rather than spin into the next contestant's turn. Read when the libraries load."""
    for name, value in {"OMP_WAIT_POLICY": "passive", "OPENBLAS_THREAD_TIMEOUT": "4", "KMP_BLOCKTIME": "0"}.items():
        os.environ.setdefault(name, value)

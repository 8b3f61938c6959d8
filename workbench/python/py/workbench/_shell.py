"""The IPython shell that runs: that of a notebook's kernel or of a terminal."""

from __future__ import annotations

import sys
from typing import Any


def running_shell() -> Any:
    """The shell; None where nobody has imported IPython, or none runs."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None

"""Runs pytest with torch, and the package and pytest of another environment.

    python run.py OTHER [pytest's arguments]

torch's environment takes gigabytes and is kept apart; OTHER is the interpreter of the light one.
"""

import signal
import subprocess
import sys
from pathlib import Path

_WHERE = "import pathlib, pytest, workbench; print(*(pathlib.Path(m.__file__).parents[1] for m in (workbench, pytest)), sep='\\n')"

if __name__ == "__main__":
    # A job that a shell put into the background starts with SIGINT ignored, and then Python raises no KeyboardInterrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # After torch's own packages, which keep their versions.
    sys.path.extend(subprocess.check_output([sys.argv[1], "-c", _WHERE], text=True).split("\n")[:-1])
    import pytest

    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *(sys.argv[2:] or [str(Path(__file__).parent)])]))

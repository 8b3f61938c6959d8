"""Starts the kernel of a Rust notebook with its dependencies compiled already.

    python rust_session.py SEED EVCXR [ARGUMENTS ...]

evcxr compiles what a notebook depends on in a folder of the session. SEED is such a folder, kept: a session with `WORKBENCH_FILL_SEED=1`
works in the seed itself and so brings it up to date. Every other session gets a folder of its own beside the seed that begins as a copy of
it, so that cargo finds the dependencies fresh and compiles the cell alone. Nothing of a session goes back to the seed.

Large files of the copy are hard links: cargo and rustc replace them, and write into the small ones. Locks are the system's, which end
with the process that holds them, so a killed session leaves nothing that another one has to wait for; its folder is removed by the next.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

try:
    import fcntl
except ImportError:  # Windows has no `flock`: there two sessions that start in the same moment as a third fills the seed may compile more.
    fcntl = None

# The size in bytes from which a file is linked instead of copied: libraries are above it, cargo's own records are below.
LINKED = 1 << 18

# The crate that evcxr makes of the cells; it is the session's own.
CELLS = "ctx"


@contextlib.contextmanager
def locked(folder, shared=False):
    """Holds the lock of a folder, which is a file beside it."""
    with open(folder.with_suffix(".lock"), "a") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


def is_of_cells(name):
    """True for a file or folder that cargo names after the crate of the cells."""
    return name.startswith((f"{CELLS}-", f"{CELLS}.", f"lib{CELLS}-", f"lib{CELLS}.", "libcode_"))


def copy(source, target):
    """Copies a file with its time, or links it."""
    if os.stat(source).st_size >= LINKED:
        with contextlib.suppress(OSError):  # Two file systems, or one without links.
            os.link(source, target)
            return
    shutil.copy2(source, target)


def fill(folder, seed):
    """Makes a folder a copy of the seed."""
    with locked(seed, shared=True):
        if (seed / "target").is_dir():
            ignore = lambda _, names: [name for name in names if is_of_cells(name)]
            shutil.copytree(seed / "target", folder / "target", copy_function=copy, ignore=ignore)


def sweep(sessions):
    """Removes the folders of sessions that were killed: those whose lock nobody holds."""
    if fcntl is None:
        return
    for lock in sessions.glob("*.lock"):
        with open(lock, "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)


def run(folder, command):
    """Runs evcxr in a folder and gives back its exit status."""
    # evcxr writes to the kernels' folder that `JUPYTER_PATH` names.
    env = dict(os.environ, EVCXR_TMPDIR=str(folder), JUPYTER_PATH=str(folder / "jupyter"))
    kernel = subprocess.Popen(command, env=env)
    # A front end interrupts by message; what ends this process ends evcxr first.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: kernel.terminate())
    return kernel.wait()


def main():
    seed, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    seed.mkdir(parents=True, exist_ok=True)
    if os.environ.get("WORKBENCH_FILL_SEED") == "1":
        with locked(seed):
            return run(seed, command)
    sessions = seed.with_name("sessions")
    sessions.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as until_the_end:
        # A folder whose lock is not taken yet would be swept, so this is done by one session at a time.
        with locked(sessions):
            sweep(sessions)
            folder = pathlib.Path(tempfile.mkdtemp(dir=sessions))
            until_the_end.enter_context(locked(folder))
        until_the_end.callback(folder.with_suffix(".lock").unlink, missing_ok=True)
        until_the_end.callback(shutil.rmtree, folder, ignore_errors=True)
        fill(folder, seed)
        return run(folder, command)


if __name__ == "__main__":
    sys.exit(main())

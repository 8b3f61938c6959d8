"""Starts a session of a Rust notebook with its dependencies compiled already.

    python session.py LAB ROOT PROGRAM          a session: PROGRAM in a folder of its own
    python session.py LAB ROOT PROGRAM --fill   brings the seed up to date; with `--errors` also for cells that do not compile

evcxr compiles what a notebook depends on in a folder of the session. The *seed*, `LAB/seed`, is such a folder, kept. Every session has a
folder of its own in `LAB/sessions` that begins as a copy of the seed, so that cargo finds the dependencies fresh and compiles the cell alone.
Nothing of a session goes back to the seed.

Large files of the copy are hard links: cargo and rustc replace them, and write into the small ones. Locks are the system's, which end
with the process that holds them, so a killed session leaves nothing that another one has to wait for; its folder is removed by the next.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

try:
    import fcntl
except ImportError:  # Windows has no `flock`: there two sessions that start in the same moment as a third fills the seed may compile more.
    fcntl = None

# The size in bytes from which a file is linked instead of copied: libraries are above it, cargo's own records are below.
LINKED = 1 << 18

# The crate that evcxr makes of the cells; it is the session's own.
CELLS = "ctx"

# The file in the seed whose time says when it was filled.
FILLED = "filled"

# The variable by which Workbench knows that its cells can be stopped (`workbench/back/notebook.rs`).
NOTEBOOK = "WORKBENCH_NOTEBOOK"


# The crate by which cells use Workbench, in the checkout: a shared library, of which a session has one. Linked into each cell, Workbench would
# be there once for each, with operators and compiled code of its own.
LIBRARY = "workbench/evcxr/library"

# A cell with what cells commonly hold, for the analysis to look at.
READY = """
let ready = {
    let program = wb::compile("__global__ void ready(const float* x, float* y, int n) {}").unwrap();
    let x = Array1::<f32>::linspace(0.0, 1.0, 8);
    let mut y = Array1::<f32>::zeros(8);
    program.kernel("ready").unwrap().launch(1, 8).arg(&x).arg(&mut y).arg(8i32).run().unwrap();
    (program, y)
};
"""


def cells(root):
    """The cells that make a session ready: they load Workbench and leave no variable."""
    return [
        f":dep workbench = {{ package = \"workbench-notebook\", path = {json.dumps(str(root / LIBRARY))} }}\nuse workbench::prelude::*;",
        READY,
        "drop(ready);",
    ]


# A cell with a mistake that the analysis does not know. evcxr has cargo check the cell then, with all its dependencies.
MISTAKE = "let ready = not_there;"


def requests(root):
    """The lines that ask a session for these cells. Their numbers begin at zero; a kernel's own are higher."""
    return [json.dumps({"execute": {"id": id, "code": code}}) + "\n" for id, code in enumerate(cells(root))]


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


def copy_seed(seed, folder):
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


def environment(folder):
    """The environment of a session in a folder."""
    return dict(os.environ, EVCXR_TMPDIR=str(folder), **{NOTEBOOK: "1"})


def run(lab, program):
    """Runs a session, whose requests and answers are those of this process, and gives back its exit status."""
    sessions = lab / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as until_the_end:
        # A folder whose lock is not taken yet would be swept, so this is done by one session at a time.
        with locked(sessions):
            sweep(sessions)
            folder = pathlib.Path(tempfile.mkdtemp(dir=sessions))
            until_the_end.enter_context(locked(folder))
        until_the_end.callback(folder.with_suffix(".lock").unlink, missing_ok=True)
        until_the_end.callback(shutil.rmtree, folder, ignore_errors=True)
        copy_seed(lab / "seed", folder)
        session = subprocess.Popen([program], env=environment(folder))
        # The session ends when its requests do; what ends this process ends it first.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: session.terminate())
        return session.wait()


def newest(root):
    """The time of the newest source of the library."""

    def modified(path):
        with contextlib.suppress(OSError):  # A file that has just gone.
            return path.stat().st_mtime
        return 0

    return max(map(modified, [root / "Cargo.toml", root / "Cargo.lock", root / LIBRARY / "Cargo.toml", *(root / "workbench").rglob("*.rs")]))


def is_stale(lab, root):
    """True if a source of the library is newer than the seed, or than the last try to fill it."""
    try:
        return newest(root) > (lab / "seed" / FILLED).stat().st_mtime
    except OSError:
        return True


def fill(lab, root, program, errors):
    """Brings the seed up to date by a session in it. What does not compile may be damaged, so a second try begins with an empty folder."""
    seed = lab / "seed"
    seed.mkdir(parents=True, exist_ok=True)
    with locked(seed):
        (seed / FILLED).unlink(missing_ok=True)
        for attempt in range(2):
            if attempt == 1:
                print("the compiled dependencies are of no use; they are compiled again", file=sys.stderr, flush=True)
                shutil.rmtree(seed / "target", ignore_errors=True)
            begun = time.time()
            failure = fill_once(seed, root, program, errors)
            if failure is None:
                break
            print(failure, file=sys.stderr, flush=True)
        # Without a change there is no use in another try. A source that changed meanwhile is newer.
        (seed / FILLED).touch()
        os.utime(seed / FILLED, (begun, begun))
        return 0 if failure is None else 1


def fill_once(seed, root, program, errors):
    """Runs a session in the seed; the text of what went wrong, if anything did."""
    wanted = requests(root)
    mistake = len(wanted) if errors else None
    if errors:
        wanted.append(json.dumps({"execute": {"id": mistake, "code": MISTAKE}}) + "\n")
    session = subprocess.Popen(
        [program], env=environment(seed), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    failure = "the session ended"
    with session, contextlib.suppress(BrokenPipeError):
        session.stdin.writelines(wanted)
        session.stdin.flush()
        error = None
        for line in session.stdout:
            ((name, fields),) = json.loads(line).items()
            if name == "failed" or (name == "error" and fields["id"] != mistake):
                error = error or fields.get("text") or fields["message"]
            if name == "failed" or (name in ("error", "done") and fields["id"] == len(wanted) - 1):
                failure = error
                break
    return failure


def main():
    lab, root, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    options = sys.argv[4:]
    return fill(lab, root, program, "--errors" in options) if "--fill" in options else run(lab, program)


if __name__ == "__main__":
    sys.exit(main())

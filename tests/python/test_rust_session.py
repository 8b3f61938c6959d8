"""Sessions of Rust notebooks: `workbench/xtask/rust_session.py` with a program in the place of evcxr."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "workbench/xtask/rust_session.py"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and links of Unix")

# The program that stands in for evcxr: it tells its folder and the files in it, does what its argument says, and ends with status 3.
KERNEL = """
import os, pathlib, sys, time
folder = pathlib.Path(os.environ["EVCXR_TMPDIR"])
for path in sorted(folder.rglob("*")):
    if path.is_file():
        print(path.relative_to(folder), path.stat().st_nlink, path.stat().st_mtime_ns)
exec(sys.argv[1])
print(folder, flush=True)
exec(sys.argv[2])
sys.exit(3)
"""


def command(tmp_path, before="", after=""):
    kernel = tmp_path / "kernel.py"
    kernel.write_text(KERNEL)
    return [sys.executable, str(SCRIPT), str(tmp_path / "rust/seed"), sys.executable, str(kernel), before, after]


def start(tmp_path, *parts, **env):
    return subprocess.Popen(command(tmp_path, *parts), stdout=subprocess.PIPE, text=True, env={**os.environ, **env})


def fill(tmp_path):
    """A seed with a large file, a small one and what cargo names after the cells' crate, each with an old time."""
    deps = tmp_path / "rust/seed/target/debug/deps"
    deps.mkdir(parents=True)
    for name, size in [("libworkbench-1.rlib", 1 << 19), ("workbench-1.d", 10), ("libctx-1.so", 1 << 19), ("ctx-1.d", 10)]:
        (deps / name).write_bytes(b"x" * size)
        os.utime(deps / name, ns=(10**18, 10**18))
    return deps


def lines(process):
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    return out.splitlines()


def folder_of(process):
    """The folder of a session that goes on: the first line that is a path alone."""
    return next(pathlib.Path(line.strip()) for line in process.stdout if line.startswith("/"))


def test_a_session_begins_with_the_seed_and_leaves_nothing(tmp_path):
    fill(tmp_path)
    *files, folder = lines(start(tmp_path))
    # A large file is a link, a small one a copy; both are as old as in the seed, so cargo finds them fresh.
    assert files == [f"target/debug/deps/libworkbench-1.rlib 2 {10**18}", f"target/debug/deps/workbench-1.d 1 {10**18}"]
    assert pathlib.Path(folder).parent == tmp_path / "rust/sessions" and not os.path.exists(folder)
    assert list((tmp_path / "rust/sessions").iterdir()) == []


def test_a_session_writes_nothing_to_the_seed(tmp_path):
    deps = fill(tmp_path)
    # Cargo writes into small files, and rustc puts new libraries in the place of old ones.
    lines(start(tmp_path, """
deps = folder / "target/debug/deps"
(deps / "workbench-1.d").write_text("new")
(deps / "new").write_text("new")
os.replace(deps / "new", deps / "libworkbench-1.rlib")
"""))
    assert (deps / "workbench-1.d").read_bytes() == b"x" * 10
    assert (deps / "libworkbench-1.rlib").stat().st_size == 1 << 19


def test_a_session_that_fills_the_seed_works_in_it(tmp_path):
    (folder,) = lines(start(tmp_path, 'open(folder / "made", "w").close()', WORKBENCH_FILL_SEED="1"))
    assert folder == str(tmp_path / "rust/seed") and os.path.exists(f"{folder}/made")


def test_a_session_waits_while_the_seed_is_filled(tmp_path):
    made = "\n".join([
        "import pathlib",
        "deps = folder / 'target/debug/deps'",
        "deps.mkdir(parents=True)",
        "time.sleep(1)",
        "(deps / 'late').write_text('x')",
    ])
    filling = start(tmp_path, "print('/', flush=True)\n" + made, WORKBENCH_FILL_SEED="1")
    assert filling.stdout.readline() == "/\n"
    files = lines(start(tmp_path))[:-1]
    assert [line.split()[0] for line in files] == ["target/debug/deps/late"]
    lines(filling)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_session_that_is_ended_leaves_nothing(tmp_path, number):
    process = start(tmp_path, "", "time.sleep(60)")
    folder = folder_of(process)
    process.send_signal(number)
    if number == signal.SIGINT:
        # A front end interrupts evcxr by a message; the session goes on.
        time.sleep(0.2)
        assert process.poll() is None and folder.exists()
        process.terminate()
    process.communicate(timeout=60)
    assert not folder.exists()


def test_the_folder_of_a_killed_session_is_removed_by_the_next(tmp_path):
    running, killed = start(tmp_path, "", "time.sleep(60)"), start(tmp_path, "", "time.sleep(1)")
    stays, goes = folder_of(running), folder_of(killed)
    killed.kill()
    killed.communicate(timeout=60)
    assert goes.exists()
    lines(start(tmp_path))
    assert stays.exists() and not goes.exists()
    running.terminate()
    running.communicate(timeout=60)

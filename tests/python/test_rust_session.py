"""Sessions of Rust notebooks: `workbench/evcxr/session.py` with a program in the place of evcxr."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "workbench/evcxr/session.py"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and links of Unix")

# The program that stands in for evcxr: it tells its folder and the files in it, does what its environment says, and ends with status 3.
PROGRAM = f"""#!{sys.executable}
import os, pathlib, sys, time
folder = pathlib.Path(os.environ["EVCXR_TMPDIR"])
for path in sorted(folder.rglob("*")):
    if path.is_file():
        print(path.relative_to(folder), path.stat().st_nlink, path.stat().st_mtime_ns)
exec(os.environ.get("BEFORE", ""))
print(folder, flush=True)
exec(os.environ.get("AFTER", ""))
sys.exit(3)
"""

# The program in the seed: it writes down what it is asked, and answers as its environment says.
FILLS = f"""#!{sys.executable}
import json, os, pathlib, sys, time
folder = pathlib.Path(os.environ["EVCXR_TMPDIR"])
print('{{"ready": {{}}}}', flush=True)
for line in sys.stdin:
    ((name, fields),) = json.loads(line).items()
    with open(folder / "asked", "a") as file:
        file.write(fields["code"] + "\\n")
    exec(os.environ.get("AT_WORK", ""))
    damaged = (folder / "target/damaged").exists() or "mistake" in globals() and mistake
    answer = {{"error": {{"id": fields["id"], "text": "damaged"}}}} if damaged else {{"done": {{"id": fields["id"], "data": {{}}}}}}
    print(json.dumps(answer), flush=True)
"""


def command(tmp_path, text, *options):
    program = tmp_path / f"program{abs(hash(text))}.py"
    program.write_text(text)
    program.chmod(0o755)
    return [sys.executable, str(SCRIPT), str(tmp_path / "rust"), str(tmp_path), str(program), *options]


def start(tmp_path, before="", after=""):
    env = {**os.environ, "BEFORE": before, "AFTER": after}
    return subprocess.Popen(command(tmp_path, PROGRAM), stdout=subprocess.PIPE, text=True, env=env)


def start_filling(tmp_path, at_work="", *options):
    env = {**os.environ, "AT_WORK": at_work}
    return subprocess.Popen(command(tmp_path, FILLS, "--fill", *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


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


def test_the_seed_is_filled_by_a_session_in_it(tmp_path):
    filling = start_filling(tmp_path)
    filling.communicate(timeout=60)
    assert filling.returncode == 0
    asked = (tmp_path / "rust/seed/asked").read_text().splitlines()
    library = json.dumps(str(tmp_path / "workbench/evcxr/library"))
    assert asked[0] == f':dep workbench = {{ package = "workbench-notebook", path = {library} }}' and asked[-1] == "drop(ready);"


def test_a_cell_with_a_mistake_fills_the_seed_for_others(tmp_path):
    filling = start_filling(tmp_path, "mistake = fields['code'] == 'let ready = not_there;'", "--errors")
    filling.communicate(timeout=60)
    assert filling.returncode == 0
    assert (tmp_path / "rust/seed/asked").read_text().splitlines()[-1] == "let ready = not_there;"


def test_what_is_damaged_is_made_again_once(tmp_path):
    target = tmp_path / "rust/seed/target"
    target.mkdir(parents=True)
    (target / "damaged").touch()
    filling = start_filling(tmp_path)
    _, told = filling.communicate(timeout=60)
    assert filling.returncode == 0 and "compiled again" in told
    # A mistake that is not of the files is no better the second time.
    filling = start_filling(tmp_path, "(folder / 'target').mkdir(exist_ok=True); (folder / 'target/damaged').touch()")
    _, told = filling.communicate(timeout=60)
    assert filling.returncode == 1 and told.count("damaged") == 2


def test_a_session_waits_while_the_seed_is_filled(tmp_path):
    at_work = "\n".join([
        "deps = folder / 'target/debug/deps'",
        "deps.mkdir(parents=True, exist_ok=True)",
        "(folder / 'begun').touch()",
        "time.sleep(0.5)",
        "(deps / 'late').write_text('x')",
    ])
    filling = start_filling(tmp_path, at_work)
    while not (tmp_path / "rust/seed/begun").exists():
        time.sleep(0.01)
    files = lines(start(tmp_path))[:-1]
    assert [line.split()[0] for line in files] == ["target/debug/deps/late"]
    filling.communicate(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_session_that_is_ended_leaves_nothing(tmp_path, number):
    process = start(tmp_path, "", "time.sleep(60)")
    folder = folder_of(process)
    process.send_signal(number)
    if number == signal.SIGINT:
        # A front end interrupts by a message; the session goes on.
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


def test_a_program_that_ends_at_once_does_not_fill_the_seed(tmp_path):
    text = f"#!{sys.executable}\nimport sys\nsys.exit(1)\n"
    filling = subprocess.run(command(tmp_path, text, "--fill"), capture_output=True, text=True)
    assert filling.returncode == 1 and "the session ended" in filling.stderr
    missing = [*command(tmp_path, text)[:-1], str(tmp_path / "nothing"), "--fill"]
    assert subprocess.run(missing, capture_output=True).returncode == 1

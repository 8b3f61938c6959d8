"""The kernel of Rust notebooks and its pool, `workbench/evcxr/kernel.py` and `pool.py`, with a program in the place of evcxr whose cells are
Python."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

jupyter_client = pytest.importorskip("jupyter_client")

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "workbench/evcxr"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes are handed over on Unix")

# Cells that make the session ready are done at once, or when the file `GATE` is there, or are an error where the folder is damaged. In others
# `answer` is what they do.
PROGRAM = f"""#!{sys.executable}
import json, os, pathlib, queue, sys, threading, time
folder = pathlib.Path(os.environ["EVCXR_TMPDIR"])
lock, stopped, jobs, given = threading.Lock(), threading.Event(), queue.Queue(), queue.Queue()

def answer(kind, /, **fields):
    with lock:
        print(json.dumps({{kind: fields}}), flush=True)

def work():
    while True:
        name, fields = jobs.get()
        id = fields["id"]
        if name == "complete":
            answer("completed", id=id, start=fields["at"] - 1, end=fields["at"], matches=[{{"text": "zeros", "label": "zeros(n)", "kind": "function"}}])
        elif name == "inspect":
            answer("inspected", id=id, found=["plain", "<b>html</b>"] if fields["at"] else None)
        elif id <= 3:
            while "GATE" in os.environ and not pathlib.Path(os.environ["GATE"]).exists():
                time.sleep(0.01)
            damaged = (folder / "target/damaged").exists()
            answer("error", id=id, name="CompileError", message="m", text="damaged files", stopped=False) if damaged else answer("done", id=id, data={{}}, stopped=False)
        else:
            stopped.clear()
            scope = {{**globals(), "id": id, "data": {{}}}}
            try:
                exec(fields["code"], scope)
            except BaseException:
                os._exit(1)
            if scope["data"] is not None:
                answer("done", id=id, data=scope["data"], stopped=stopped.is_set())

answer("ready")
threading.Thread(target=work, daemon=True).start()
for line in sys.stdin:
    ((name, fields),) = json.loads(line).items()
    if name == "stop":
        stopped.set()
    elif name == "input":
        given.put(fields["value"])
    else:
        jobs.put((name, fields))
"""

ERROR = "data = None; answer('error', id=id, name={name!r}, message='bad', text='line one\\nline two', stopped={stopped})"


@pytest.fixture
def place(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    lab = tmp_path / "rust"
    lab.mkdir()
    (lab / "seed").mkdir()
    (lab / "seed/filled").touch()
    spec = tmp_path / "jupyter/kernels/rust"
    spec.mkdir(parents=True)
    env = {"WORKBENCH_RUST_LAB": str(lab), "WORKBENCH_RUST_ROOT": str(tmp_path), "WORKBENCH_RUST_SESSION": str(program)}
    argv = [sys.executable, str(FOLDER / "kernel.py"), "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Rust", "language": "rust", "interrupt_mode": "message", "env": env}))
    return tmp_path


@contextlib.contextmanager
def kernel(place):
    from jupyter_client.kernelspec import KernelSpecManager

    specs = KernelSpecManager(kernel_dirs=[str(place / "jupyter/kernels")])
    manager = jupyter_client.KernelManager(kernel_name="rust", kernel_spec_manager=specs)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


def run(client, code, **options):
    """The reply to a cell and what it showed. Errors abort no later cell: Jupyter does that for those which arrive in the moment of the error."""
    shown = []
    options = {"stop_on_error": False, **options}
    reply = client.execute_interactive(code, timeout=60, output_hook=lambda m: shown.append((m["msg_type"], m["content"])), **options)
    return reply["content"], [(kind, content) for kind, content in shown if kind not in ("status", "execute_input")]


def reply_to(client, id):
    """The reply to the request with this number. Others may come before it: `wait_for_ready` asks again when an answer is late."""
    while True:
        message = client.get_shell_msg(timeout=60)
        if message["parent_header"].get("msg_id") == id:
            return message["content"]


def test_output_values_and_errors_are_shown(place):
    with kernel(place) as (_, client):
        reply, shown = run(client, "answer('stream', name='stdout', text='hello\\n'); data = {'text/plain': '42', 'application/json': '[1]'}")
        assert reply["status"] == "ok" and reply["execution_count"] == 1
        assert shown == [
            ("stream", {"name": "stdout", "text": "hello\n"}),
            ("execute_result", {"execution_count": 1, "data": {"text/plain": "42", "application/json": [1]}, "metadata": {}}),
        ]
        reply, shown = run(client, ERROR.format(name="CompileError", stopped=False))
        assert shown == [("error", {"ename": "CompileError", "evalue": "bad", "traceback": ["line one", "line two"]})]
        assert reply["status"] == "error"
        # A cell without a value shows nothing.
        assert run(client, "pass")[1] == []


def test_a_cell_shows_a_bounded_amount_of_output(place):
    with kernel(place) as (_, client):
        _, shown = run(client, "for i in range(30): answer('stream', name='stdout', text='x' * 99_999 + chr(10))")
        text = "".join(content["text"] for _, content in shown)
        assert text == ("x" * 99_999 + "\n") * 9 + "[more than 1,000,000 characters: the rest is not shown]\n"
        assert run(client, "answer('stream', name='stdout', text='y')")[1][0][1]["text"] == "y"


def test_a_cell_is_stopped_and_the_next_one_runs(place):
    with kernel(place) as (manager, client):
        id = client.execute("answer('stream', name='stdout', text='runs'); stopped.wait(60); " + ERROR.format(name="Error", stopped=True), stop_on_error=False)
        while client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
            pass
        manager.interrupt_kernel()
        message = next(m for m in iter(lambda: client.get_iopub_msg(timeout=60), None) if m["msg_type"] == "error")
        assert message["content"] == {"ename": "Interrupted", "evalue": "stopped", "traceback": ["stopped"]}
        assert reply_to(client, id)["status"] == "error"
        assert run(client, "data = {'text/plain': '1'}")[0]["status"] == "ok"


def test_one_display_tells_how_far_a_cell_is_and_goes(place):
    with kernel(place) as (_, client):
        steps = "answer('progress', line='1 <of> 2', html=''); answer('progress', line='2 of 2', html='<svg></svg>')"
        _, shown = run(client, f"{steps}; data = {{'text/plain': '1'}}")
        kinds, contents = zip(*shown)
        assert kinds == ("display_data", "update_display_data", "execute_result", "update_display_data")
        assert len({contents[i]["transient"]["display_id"] for i in (0, 1, 3)}) == 1
        assert "1 &lt;of&gt; 2" in contents[0]["data"]["text/html"] and contents[1]["data"]["text/html"].endswith("<svg></svg>")
        assert contents[3]["data"] == {"text/plain": "", "text/html": ""}
        # The next cell has a display of its own.
        _, shown = run(client, steps)
        assert shown[0][0] == "display_data" and shown[0][1]["transient"] != contents[0]["transient"]


def test_completions_and_documentation(place):
    with kernel(place) as (_, client):
        content = client.complete("Array1::z", 9, reply=True, timeout=60)["content"]
        assert content["matches"] == ["zeros"] and (content["cursor_start"], content["cursor_end"]) == (8, 9)
        content = client.inspect("zeros", 1, reply=True, timeout=60)["content"]
        assert content["found"] and content["data"] == {"text/plain": "plain", "text/html": "<b>html</b>"}
        assert not client.inspect("zeros", 0, reply=True, timeout=60)["content"]["found"]


def test_a_cell_asks_for_a_line(place):
    with kernel(place) as (_, client):
        asks = "answer('input', prompt='name? ', password=False); data = {'text/plain': given.get()}"
        _, shown = run(client, asks, allow_stdin=True, stdin_hook=lambda _: client.input("Ada"))
        assert shown[-1][1]["data"] == {"text/plain": "Ada"}
        # Input that is not allowed is an empty line.
        _, shown = run(client, asks, allow_stdin=False)
        assert shown[-1][1]["data"] == {"text/plain": ""}


def test_a_session_that_ends_is_told_and_replaced(place):
    with kernel(place) as (_, client):
        reply, shown = run(client, "os._exit(1)")
        assert reply["status"] == "error" and "variables" in shown[-1][1]["evalue"]
        assert run(client, "pass")[0]["status"] == "ok"
    # Folders of sessions go with the kernel.
    until = time.monotonic() + 30
    while any((place / "rust/sessions").iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not list((place / "rust/sessions").iterdir())


def test_damaged_dependencies_are_compiled_again(place):
    target = place / "rust/seed/target"
    target.mkdir()
    (target / "damaged").touch()
    with kernel(place) as (_, client):
        reply, shown = run(client, "data = {'text/plain': '1'}")
        assert reply["status"] == "ok" and "compiled again" in shown[0][1]["text"] and "damaged files" in shown[0][1]["text"]
    assert not (target / "damaged").exists()


@contextlib.contextmanager
def pool(place, folder=None, **env):
    command = [sys.executable, str(FOLDER / "pool.py"), str(place / "rust"), str(place), str(place / "program.py")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, **env}, cwd=folder or os.getcwd())
    try:
        while not (place / "rust/pool.json").exists():
            assert process.poll() is None
            time.sleep(0.01)
        yield process
    finally:
        process.stdin.close()
        process.wait(timeout=60)


def sessions(place):
    return {path.name for path in (place / "rust").glob("sessions/*") if path.is_dir()}


def test_the_pool_gives_each_kernel_a_session_of_its_own_that_is_ready(place):
    with pool(place):
        with kernel(place) as (_, first):
            where = "data = {'text/plain': folder.name}"
            one = run(first, where)[1][-1][1]["data"]["text/plain"]
            assert sessions(place) == {one}
            # The pool has none now; a second kernel starts one itself or is given the next.
            with kernel(place) as (_, second):
                other = run(second, where)[1][-1][1]["data"]["text/plain"]
                assert other != one and run(first, where)[1][-1][1]["data"]["text/plain"] == one
    assert not (place / "rust/pool.json").exists()


def test_a_session_of_the_pool_outlives_it_and_ends_with_its_kernel(place):
    with pool(place):
        with kernel(place) as (_, client):
            run(client, "pass")
    until = time.monotonic() + 30
    while sessions(place) and time.monotonic() < until:
        time.sleep(0.05)
    assert not sessions(place)


def test_a_kernel_waits_for_a_session_that_gets_ready(place):
    gate = place / "gate"
    with pool(place, GATE=str(gate)):
        with kernel(place) as (_, client):
            id = client.execute("data = {'text/plain': '1'}")
            while client.get_iopub_msg(timeout=60)["msg_type"] != "execute_input":
                pass
            gate.touch()
            assert reply_to(client, id)["status"] == "ok"
            assert run(client, "data = {'text/plain': '1'}")[1][-1][1]["data"] == {"text/plain": "1"}


def test_a_session_of_another_folder_is_not_taken(place):
    # Cells name files as seen from the notebook's folder.
    with pool(place, folder=place):
        with kernel(place) as (_, client):
            text = run(client, "data = {'text/plain': os.getcwd()}")[1][-1][1]["data"]["text/plain"]
            assert text == os.getcwd() != str(place)


def test_a_kernel_does_not_wait_for_a_pool_that_has_none(place):
    with pool(place):
        with kernel(place), kernel(place) as (_, second):
            # The pool waits a while before it starts the next.
            assert run(second, "data = {'text/plain': '1'}")[0]["status"] == "ok"


def test_a_session_that_is_older_than_the_library_is_not_taken(place):
    with pool(place):
        before = sessions(place)
        while not before:
            time.sleep(0.01)
            before = sessions(place)
        source = place / "workbench/new.rs"
        source.parent.mkdir()
        source.touch()
        os.utime(source, (time.time() + 10, time.time() + 10))
        with kernel(place) as (_, client):
            assert run(client, "data = {'text/plain': folder.name}")[1][-1][1]["data"]["text/plain"] not in before


def test_a_stop_before_the_session_is_ready_does_not_damage_it(place, monkeypatch):
    gate = place / "gate"
    monkeypatch.setenv("GATE", str(gate))
    with kernel(place) as (_, client):
        id = client.execute("data = {'text/plain': 'ran'}", stop_on_error=False)
        while client.get_iopub_msg(timeout=60)["msg_type"] != "execute_input":
            pass
        client.control_channel.send(client.session.msg("interrupt_request", {}))
        # The kernel answers to it before the session gets ready.
        assert client.get_control_msg(timeout=60)["msg_type"] == "interrupt_reply"
        gate.touch()
        assert reply_to(client, id)["ename"] == "Interrupted"
        reply, shown = run(client, "data = {'text/plain': 'ran'}")
        assert reply["status"] == "ok" and len(shown) == 1


def test_a_session_that_fails_is_told(place):
    with kernel(place) as (_, client):
        reply, shown = run(client, "answer('failed', message='evcxr panicked'); data = None")
        assert reply["status"] == "error" and "session ended" in shown[-1][1]["evalue"]
        assert run(client, "pass")[0]["status"] == "ok"


def test_a_kernel_that_is_shut_down_while_a_cell_runs_leaves_nothing(place):
    with kernel(place) as (_, client):
        client.execute("answer('stream', name='stdout', text='runs'); time.sleep(60)")
        while client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
            pass
    until = time.monotonic() + 30
    while any((place / "rust/sessions").iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not list((place / "rust/sessions").iterdir())

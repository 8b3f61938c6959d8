"""The Jupyter kernel of Rust notebooks: it runs cells in a session (`session.py`) and shows what comes of them.

The environment says where things are: `WORKBENCH_RUST_LAB`, the folder of seed and sessions; `WORKBENCH_RUST_ROOT`, the checkout;
`WORKBENCH_RUST_SESSION`, the program that runs the cells.
"""

import contextlib
import html
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import uuid

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from pool import PLACE
from session import requests

LAB = pathlib.Path(os.environ["WORKBENCH_RUST_LAB"])
ROOT = pathlib.Path(os.environ["WORKBENCH_RUST_ROOT"])
PROGRAM = os.environ["WORKBENCH_RUST_SESSION"]

# The characters of output that a cell shows: Jupyter drops all output of a cell that prints too much too fast.
SHOWN = 1_000_000

# The number of requests that make a session ready; those of cells have higher numbers.
FIRST = len(requests(ROOT))

# The error of a cell that was stopped, where it has none of its own.
STOPPED = {"name": "Stopped", "message": "", "text": "", "stopped": True}


class Ended(Exception):
    """The session is gone."""


class Session:
    """A session: requests go to it, answers come back."""

    def __init__(self, to, back):
        self.to, self.back = to, back
        self.writing = threading.Lock()
        self.next = FIRST
        # True once the cells that make the session ready have run.
        self.is_ready = False

    @classmethod
    def from_pool(cls):
        """The pool's session, or none; it runs in the pool's folder, which may be another one."""
        try:
            place = json.loads((LAB / PLACE).read_text())
            if place["folder"] != os.getcwd():
                return None
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(2)
                connection.connect(place["socket"])
                _, (to, back), _, _ = socket.recv_fds(connection, 1, 2)
        except (OSError, ValueError, KeyError, AttributeError):
            return None
        return cls(os.fdopen(to, "w", encoding="utf-8"), os.fdopen(back, "r", encoding="utf-8"))

    @classmethod
    def started(cls):
        """A session of its own."""
        process = subprocess.Popen(
            command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
        )
        session = cls(process.stdin, process.stdout)
        with contextlib.suppress(Ended):  # Whoever reads its answers finds out.
            session.write("".join(requests(ROOT)))
        return session

    def write(self, text):
        with self.writing:
            try:
                self.to.write(text)
                self.to.flush()
            except (OSError, ValueError):
                raise Ended from None

    def ask(self, name, **fields):
        """Sends a request and gives back its number."""
        self.next += 1
        self.write(json.dumps({name: {"id": self.next, **fields}}) + "\n")
        return self.next

    def tell(self, name, **fields):
        """Sends what has no answer."""
        self.write(json.dumps({name: fields}) + "\n")

    def answers(self):
        """The answers as they come: a name and its fields."""
        try:
            for line in self.back:
                ((name, fields),) = json.loads(line).items()
                if name == "failed":
                    raise Ended(fields["message"])
                yield name, fields
        except ValueError:  # It was closed meanwhile.
            pass
        raise Ended

    def get_ready(self):
        """Waits until the session is ready; gives back an error's text if it cannot be."""
        failure = None
        for name, fields in self.answers() if not self.is_ready else ():
            if name == "error":
                failure = failure or fields["text"]
            if name in ("done", "error") and fields["id"] == FIRST - 1:
                break
        self.is_ready = True
        return failure

    def hang_up(self):
        """Ends the requests, and so the session."""
        with contextlib.suppress(OSError):
            self.to.close()

    def close(self):
        self.hang_up()
        with contextlib.suppress(OSError):
            self.back.close()


def command(*options):
    """The command that starts a session."""
    return [sys.executable, str(pathlib.Path(__file__).with_name("session.py")), str(LAB), str(ROOT), PROGRAM, *options]


class RustKernel(Kernel):
    """Cells of Rust."""

    implementation = "workbench-evcxr"
    implementation_version = "0.1.0"
    banner = "Rust, with Workbench"
    language_info = {
        "name": "rust",
        "mimetype": "text/rust",
        "file_extension": ".rs",
        "pygments_lexer": "rust",
        "codemirror_mode": "rust",
    }

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.rust = Session.from_pool() or Session.started()
        self.filling = None
        # The identity of the display that tells how far the cell is, if there is one.
        self.progress = None
        # Words of the control channel: the cell is to stop before it has begun; the kernel ends.
        self.stopped = self.ending = False

    def ready(self):
        """The session, when it is ready. One whose cells are errors has damaged files before it: they are made again, once."""
        for attempt in range(3):
            try:
                failure = self.rust.get_ready()
            except Ended as why:
                if self.ending or attempt == 2:
                    raise
                # Somebody ended it, which says nothing of its files.
                failure = None if attempt == 0 else str(why)
                self.rust.close()
                self.rust = Session.started()
                if attempt == 0:
                    continue
            if failure is None or attempt == 2:
                break
            self.stream("stderr", f"{failure}\n\nThe session cannot get ready. Its dependencies are compiled again; this takes minutes.\n")
            self.rust.close()
            self.filling = subprocess.Popen(
                command("--fill", "--errors"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
            )
            self.filling.wait()
            self.filling = None
            self.rust = Session.started()
        return self.rust

    def stream(self, name, text):
        self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

    async def execute_request(self, stream, ident, parent):
        # A stop is of the cell that is shown to have begun, so it is reset before that.
        self.stopped = False
        await super().execute_request(stream, ident, parent)

    async def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, *, cell_meta=None, cell_id=None):
        reply, left = {"execution_count": self.execution_count}, SHOWN
        try:
            session = self.ready()
            if self.stopped:
                return self.fail(reply, silent, STOPPED)
            id = session.ask("execute", code=code)
            if self.stopped:  # It came between the two lines above.
                session.tell("stop")
            for name, fields in session.answers():
                if name == "stream" and not silent and left > 0:
                    left -= len(fields["text"])
                    self.stream(fields["name"], fields["text"] if left > 0 else f"[more than {SHOWN:,} characters: the rest is not shown]\n")
                elif name == "display" and not silent:
                    self.show(fields["data"], "display_data")
                elif name == "progress" and not silent:
                    self.tell_progress(fields["line"], fields["html"])
                elif name == "input":
                    session.tell("input", value=self.line(fields) if allow_stdin else "")
                elif name == "done" and fields["id"] == id:
                    if fields["data"] and not silent:
                        self.show(fields["data"])
                    if fields["stopped"]:
                        return self.fail(reply, silent, STOPPED)
                    return {"status": "ok", "payload": [], "user_expressions": {}, **reply}
                elif name == "error" and fields["id"] == id:
                    return self.fail(reply, silent, fields)
        except Ended:
            self.rust.close()
            if not self.ending:
                self.rust = Session.started()
            message = "the session ended, and the variables with it; the next cell starts a new one"
            return self.fail(reply, silent, {"name": "SessionEnded", "message": message, "text": message, "stopped": False})
        finally:
            if self.progress is not None:
                self.tell_progress("", "")
                self.progress = None

    def tell_progress(self, line, picture):
        """Shows how far the cell is, in place of what was shown before."""
        page = f'<div class="wb-progress" style="white-space:pre-wrap">{html.escape(line)}</div>{picture}' if line else ""
        content = {"data": {"text/plain": line, "text/html": page}, "metadata": {}}
        if self.progress is None:
            self.progress, kind = uuid.uuid4().hex, "display_data"
        else:
            kind = "update_display_data"
        self.send_response(self.iopub_socket, kind, {**content, "transient": {"display_id": self.progress}})

    def line(self, fields):
        """A line that the user types; empty at the end of input."""
        self._allow_stdin = True
        try:
            return (self.getpass if fields["password"] else self.raw_input)(fields["prompt"])
        except EOFError:
            return ""

    def show(self, data, kind="execute_result"):
        """Shows a value, or a part of the output."""
        content = {}
        for mime, text in data.items():
            try:
                content[mime] = json.loads(text) if "json" in mime else text
            except ValueError:
                content[mime] = text
        number = {"execution_count": self.execution_count} if kind == "execute_result" else {}
        self.send_response(self.iopub_socket, kind, {"data": content, "metadata": {}, **number})

    def fail(self, reply, silent, fields):
        """Shows an error and gives back the reply."""
        name, message, text = fields["name"], fields["message"], fields["text"]
        if fields["stopped"]:
            # What the cell made of it is the user's own doing, but for variables that are lost.
            name, message = "Interrupted", "stopped"
            text = f"stopped: {fields['message']}" if fields["name"] == "ProcessEnded" else "stopped"
        content = {"ename": name, "evalue": message, "traceback": text.splitlines()}
        if not silent:
            self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", **reply, **content}

    async def interrupt_request(self, stream, ident, parent):
        """Stops the cell that runs; `workbench/evcxr/src/stop.rs` says how."""
        self.stopped = True
        try:
            if self.rust.is_ready:
                self.rust.tell("stop")
            elif self.filling is not None:
                # Other work that makes the session ready goes on: it is not of the cell.
                self.filling.terminate()
        except Ended:
            pass
        self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)

    async def do_complete(self, code, cursor_pos):
        fields = self.asked("complete", "completed", code, cursor_pos) or {"matches": [], "start": cursor_pos, "end": cursor_pos}
        types = [
            {"text": m["text"], "type": m["kind"], "signature": m["label"], "start": fields["start"], "end": fields["end"]}
            for m in fields["matches"]
        ]
        return {
            "status": "ok",
            "matches": [m["text"] for m in fields["matches"]],
            "cursor_start": fields["start"],
            "cursor_end": fields["end"],
            "metadata": {"_jupyter_types_experimental": types},
        }

    async def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        fields = self.asked("inspect", "inspected", code, cursor_pos)
        found = fields and fields["found"]
        data = {"text/plain": found[0], "text/html": found[1]} if found else {}
        return {"status": "ok", "found": bool(found), "data": data, "metadata": {}}

    def asked(self, request, answer, code, at):
        """The answer to a request about a place in a text, or none where there is no session."""
        try:
            session = self.ready()
            id = session.ask(request, code=code, at=at)
            return next(fields for name, fields in session.answers() if name == answer and fields["id"] == id)
        except Ended:
            return None

    async def do_shutdown(self, restart):
        self.ending = True
        # The end of its requests ends the session, and what is read from it with it.
        self.rust.hang_up()
        return {"status": "ok", "restart": restart}


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=RustKernel)

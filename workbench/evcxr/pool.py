"""Keeps a session of a Rust notebook ready, so that a notebook's first cell need not wait for the analysis of all libraries.

    python pool.py LAB ROOT PROGRAM

A kernel connects to the socket that `LAB/pool.json` names and is given the two pipes of the session, which may not have got ready yet. Then
the next one is started. The pool ends when its standard input does.
"""

import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import tempfile
import time

from session import is_stale, requests

# The time in seconds before the next session is started: the notebook that opened has the processors first.
DELAY = 15

# The file that says where the pool listens.
PLACE = "pool.json"


def start(lab, root, program):
    """A session that gets ready: the process, and its ends of the pipes."""
    command = [sys.executable, str(pathlib.Path(__file__).with_name("session.py")), str(lab), str(root), program]
    if is_stale(lab, root):
        subprocess.run([*command, "--fill", "--errors"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True, check=False)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    process.stdin.write("".join(requests(root)).encode())
    process.stdin.flush()
    return process


def hand_over(listener, process):
    """Gives the session to a kernel that connects."""
    connection, _ = listener.accept()
    with connection:
        socket.send_fds(connection, [b"1"], [process.stdin.fileno(), process.stdout.fileno()])
    # The kernel has its own ends now. The session ends when the last end of its requests is closed, so these must not stay open.
    process.stdin.close()
    process.stdout.close()


def main():
    lab, root, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    lab.mkdir(parents=True, exist_ok=True)
    place = lab / PLACE
    given = []
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        address = os.path.join(folder, "pool")
        listener.bind(address)
        listener.listen()
        spare, due = start(lab, root, program), None
        place.write_text(json.dumps({"socket": address}))
        try:
            while True:
                given = [process for process in given if process.poll() is None]
                timeout = None if due is None else max(due - time.monotonic(), 0)
                ready, _, _ = select.select([sys.stdin] if spare is None else [sys.stdin, listener], [], [], timeout)
                if sys.stdin in ready:
                    return 0
                if listener in ready:
                    hand_over(listener, spare)
                    given.append(spare)
                    spare, due = None, time.monotonic() + DELAY
                elif spare is None:
                    spare, due = start(lab, root, program), None
        finally:
            place.unlink(missing_ok=True)
            if spare is not None:
                spare.stdin.close()
                spare.wait()


if __name__ == "__main__":
    sys.exit(main())

"""Keeps a session of a Rust notebook ready, so that a notebook's first cell need not wait for the analysis of all libraries.

    python pool.py LAB ROOT PROGRAM

A kernel connects to the socket that `LAB/pool.json` names and is given the two pipes of the session, which may not have got ready yet; or
nothing, where there is none, and then starts one itself. A session runs in the folder that this program was started in, so kernels of
notebooks in other folders do not ask. The pool ends when its standard input does.
"""

import contextlib
import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import tempfile
import time

from session import is_stale, newest, requests

# The time in seconds before the next session is started: the notebook that opened has the processors first.
DELAY = 15

# The file that says where the pool listens, and in which folder its sessions run.
PLACE = "pool.json"


class Pool:
    """The session that waits for a kernel, or what is done to have one."""

    def __init__(self, lab, root, program):
        self.lab, self.root = lab, root
        self.command = [sys.executable, str(pathlib.Path(__file__).with_name("session.py")), str(lab), str(root), program]
        self.spare = self.filling = None
        self.begun = 0
        self.due = time.monotonic()
        # Sessions that were handed over, until they end.
        self.given = []

    def go_on(self):
        """Starts what is due: the seed is brought up to date first, beside everything else."""
        self.given = [process for process in self.given if process.poll() is None]
        if self.filling is not None and self.filling.poll() is not None:
            self.filling = None
        if self.spare is not None or self.filling is not None or time.monotonic() < self.due:
            return
        options = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        if is_stale(self.lab, self.root):
            self.filling = subprocess.Popen([*self.command, "--fill", "--errors"], **options)
            return
        self.begun = time.time()
        self.spare = subprocess.Popen(self.command, **options)
        with contextlib.suppress(OSError):  # It has ended already, which the kernel will see.
            self.spare.stdin.write("".join(requests(self.root)).encode())
            self.spare.stdin.flush()

    def hand_over(self, listener):
        """Gives the session to a kernel that connects, or nothing. One that ended, or is older than the library, is of no use."""
        connection, _ = listener.accept()
        with connection:
            if self.spare is not None and (self.spare.poll() is not None or newest(self.root) > self.begun):
                self.drop()
            if self.spare is None:
                return
            try:
                socket.send_fds(connection, [b"1"], [self.spare.stdin.fileno(), self.spare.stdout.fileno()])
            except OSError:  # The kernel is gone.
                return
        self.given.append(self.spare)
        self.drop()

    def drop(self):
        """Lets the session go. It ends when the last end of its requests is closed, so the pool's own must not stay open."""
        with contextlib.suppress(OSError):
            self.spare.stdin.close()
        self.spare.stdout.close()
        self.spare, self.due = None, time.monotonic() + DELAY

    def close(self):
        """Ends what nobody was given."""
        if self.spare is not None:
            self.drop()
        if self.filling is not None:
            self.filling.terminate()


def main():
    lab, root, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    lab.mkdir(parents=True, exist_ok=True)
    place, pool = lab / PLACE, Pool(lab, root, program)
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        address = os.path.join(folder, "pool")
        listener.bind(address)
        listener.listen()
        pool.go_on()
        place.write_text(json.dumps({"socket": address, "folder": os.getcwd()}))
        try:
            while True:
                ready, _, _ = select.select([sys.stdin, listener], [], [], 1)
                if sys.stdin in ready:
                    return 0
                if listener in ready:
                    pool.hand_over(listener)
                pool.go_on()
        finally:
            place.unlink(missing_ok=True)
            pool.close()


if __name__ == "__main__":
    sys.exit(main())

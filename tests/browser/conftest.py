"""JupyterLab in Chromium: a server on a folder of its own, and a page on a notebook that a test writes."""

from __future__ import annotations

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from contextlib import contextmanager
from typing import Iterator

import nbformat
import pytest

playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = os.environ.get("WORKBENCH_CHROMIUM", "/usr/bin/chromium")
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / ".lab" / "screenshots"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
#: Milliseconds after which something that should appear counts as missing; the machine may be busy.
PATIENCE = 60_000
playwright.expect.set_options(timeout=PATIENCE)


class Lab:
    """A page of JupyterLab with a notebook open."""

    def __init__(self, page, address: str, folder: pathlib.Path) -> None:
        self.page, self.address, self.folder = page, address, folder
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, *cells: str, kernel: str = "python3", language: str = "python") -> None:
        """Opens a notebook of code cells, once its kernel is ready."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": language}
        notebook.metadata["language_info"] = {"name": language}
        # A name of its own: JupyterLab would go on with the kernel of the last notebook of that name.
        name = f"{uuid.uuid4().hex[:8]}.ipynb"
        nbformat.write(notebook, self.folder / name)
        self.load(name, len(cells))

    def load(self, name: str, count: int) -> None:
        """Opens a notebook of the folder, whose cells are `count`."""
        self.page.goto(f"{self.address}/lab/tree/{name}?reset", timeout=PATIENCE)
        self.page.locator(".jp-Notebook .jp-Cell").nth(count - 1).wait_for(timeout=PATIENCE)
        self.ready()

    def ready(self) -> None:
        """Waits for the kernel."""
        playwright.expect(self.page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=PATIENCE)

    def cell(self, index: int):
        """The editor of a code cell."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index).locator(".jp-Editor .cm-content").first

    def output(self, index: int):
        """The outputs of a code cell."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index).locator(".jp-Cell-outputArea")

    def prompt(self, index: int):
        """The prompt of a code cell: `[*]:` while it runs, `[3]:` afterwards."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index).locator(".jp-InputArea-prompt").first

    def run(self, index: int, wait: bool = True) -> None:
        """Runs a cell by Shift-Enter."""
        self.cell(index).click()
        self.page.keyboard.press("Shift+Enter")
        if wait:
            self.ended(index)

    def ended(self, index: int) -> None:
        """Waits for a cell's end."""
        playwright.expect(self.prompt(index)).to_have_text(re.compile(r"\[\d+\]:"), timeout=PATIENCE)

    def end_of(self, index: int, back: int = 0) -> None:
        """Puts the cursor at a cell's end, or some characters before it."""
        self.cell(index).click()
        self.page.keyboard.press("Control+End")
        for _ in range(back):
            self.page.keyboard.press("ArrowLeft")

    def text(self, index: int) -> str:
        """The text of a cell."""
        return "\n".join(self.cell(index).locator(".cm-line").all_inner_texts())

    def place(self, index: int, word: str) -> tuple[float, float]:
        """The middle of a word's first occurrence in a cell, on the page."""
        self.cell(index).scroll_into_view_if_needed()
        box = self.cell(index).evaluate(
            """(cell, word) => {
                const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
                while (texts.nextNode()) {
                    const at = texts.currentNode.data.indexOf(word);
                    if (at >= 0) {
                        const range = document.createRange();
                        range.setStart(texts.currentNode, at);
                        range.setEnd(texts.currentNode, at + word.length);
                        const { x, y, width, height } = range.getBoundingClientRect();
                        return { x, y, width, height };
                    }
                }
                return null;
            }""",
            word,
        )
        assert box is not None, f"the cell has no {word}"
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def picture(self, name: str) -> None:
        """Keeps a picture of the page for people to look at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _settings(folder: pathlib.Path, name: str, values: dict) -> None:
    file = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values))


@contextmanager
def _server(folder: pathlib.Path, theme: str) -> Iterator[str]:
    settings = folder / "settings"
    _settings(settings, "apputils-extension/notification", {"fetchNews": "false", "checkForUpdates": False})
    _settings(settings, "completer-extension/manager", {"showDocumentationPanel": True})
    _settings(settings, "apputils-extension/themes", {"theme": THEMES[theme]})
    files = folder / "files"
    files.mkdir()
    port = _free_port()
    options = [f"--port={port}", "--no-browser", "--allow-root", "--IdentityProvider.token=", f"--ServerApp.root_dir={files}"]
    options.append("--ServerApp.disable_check_xsrf=True")
    environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(settings), "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces")}
    log = folder / "server.log"
    with log.open("w") as out:
        server = subprocess.Popen([sys.executable, "-m", "jupyter", "lab", *options], stdout=out, stderr=subprocess.STDOUT, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                if server.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}") from None
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture(scope="session")
def chromium():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def servers(tmp_path_factory):
    """Servers by theme, started when a test asks for one."""
    started: dict[str, tuple] = {}

    def get(theme: str):
        if theme not in started:
            folder = tmp_path_factory.mktemp(theme)
            running = _server(folder, theme)
            started[theme] = (running, running.__enter__(), folder / "files")
        return started[theme][1:]

    yield get
    for running, *_ in started.values():
        running.__exit__(None, None, None)


def _page(chromium, servers, theme):
    address, folder = servers(theme)
    page = chromium.new_page(viewport={"width": 1200, "height": 1000})
    page.set_default_timeout(PATIENCE)
    return Lab(page, address, folder)


def _close(lab: Lab) -> None:
    lab.page.close()
    # The kernels of closed pages take memory.
    with urllib.request.urlopen(f"{lab.address}/api/sessions", timeout=20) as reply:
        sessions = json.load(reply)
    for session in sessions:
        asked = urllib.request.Request(f"{lab.address}/api/kernels/{session['kernel']['id']}", method="DELETE")
        urllib.request.urlopen(asked, timeout=20).close()
    assert lab.errors == []


@pytest.fixture
def lab(chromium, servers):
    lab = _page(chromium, servers, "light")
    yield lab
    _close(lab)


@pytest.fixture(params=["light", "dark"])
def themed(request, chromium, servers):
    """A page in either theme."""
    lab = _page(chromium, servers, request.param)
    lab.theme = request.param
    yield lab
    _close(lab)

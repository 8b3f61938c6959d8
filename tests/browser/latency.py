"""Milliseconds that a person at JupyterLab waits, with targets beside them. `cargo xtask bench notebook` runs this file; it fails where
something does not appear, never for a time.

- Shift-Enter on an edited cell whose operator is checked, until its picture stands on the page: the page's own clock, from the key to the
  first node of a picture that was not there before.
- Completion and live problems of a text of 200 lines: the kernel's time for an answer, as the front end asks for it, by a client beside
  JupyterLab; and the page's, from the key to the list of names.
- Memory of a session with 1,000 versions of an operator.
"""

from __future__ import annotations

import statistics
import time

from jupyter_client.manager import start_new_kernel
from playwright.sync_api import expect

import workbench

ROUNDS = 15
LOAD = (
    "%load_ext workbench\nimport numpy as np, workbench as wb\n"
    "def reference(x):\n    return 1 / (1 + np.exp(-x.astype(np.float64)))\n"
    "x = np.linspace(-6, 6, 4001, dtype=np.float32)"
)
EDITED = (
    '%%kernel --op "lab::sigmoid(Tensor x) -> Tensor" --shape "x[n] -> y[n]" --reference reference --check --args x\n'
    "__global__ void sigmoid(const float* x, float* y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = 1.0f / (1.0f + expf(-x[i]));\n}\n//"
)
#: Sets `window.waited` to the milliseconds from the next Shift-Enter to the first picture that it brings.
WATCH = """() => {
    window.waited = null;
    let begin = null;
    const known = new Set(document.querySelectorAll(".jp-OutputArea svg, .jp-OutputArea img"));
    document.addEventListener("keydown", event => { if (event.key === "Enter" && event.shiftKey && begin === null) begin = performance.now(); }, { capture: true });
    const look = new MutationObserver(() => {
        for (const shown of document.querySelectorAll(".jp-OutputArea svg, .jp-OutputArea img")) {
            if (begin !== null && !known.has(shown) && shown.getBoundingClientRect().width > 100) {
                look.disconnect();
                requestAnimationFrame(() => { window.waited = performance.now() - begin; });
                return;
            }
        }
    });
    look.observe(document.body, { childList: true, subtree: true });
}"""
LISTED = """() => {
    window.waited = null;
    let begin = null;
    document.addEventListener("keydown", event => { if (event.key === "Tab" && begin === null) begin = performance.now(); }, { capture: true });
    const look = new MutationObserver(() => {
        const list = document.querySelector(".jp-Completer-item");
        if (begin !== null && list && list.getBoundingClientRect().width > 0) {
            look.disconnect();
            window.waited = performance.now() - begin;
        }
    });
    look.observe(document.body, { childList: true, subtree: true, attributes: true });
}"""


def long_text(lines: int) -> str:
    """A text of so many lines: kernels of ten lines each."""
    one = (
        "__global__ void kernel_{k}(const float* x, float* y, int n) {{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    __shared__ float tile[256];\n    tile[threadIdx.x] = i < n ? x[i] : 0.0f;\n    __syncthreads();\n"
        "    float sum = 0.0f;\n    for (int j = 0; j < 8; j++) sum += tile[(threadIdx.x + j) % 256];\n"
        "    if (i < n) y[i] = fmaf(sum, 0.125f, expf(-x[i]));\n}}\n\n"
    )
    return "".join(one.format(k=k) for k in range(lines // 10))


def told(what: str, times: list[float], target: float) -> None:
    low, high = min(times), max(times)
    print(f"\n{what}: median {statistics.median(times):.1f} ms ({low:.1f} to {high:.1f}, {len(times)} times); target {target:g} ms", end="")


def test_an_edited_cell_shows_its_picture(lab):
    lab.open(LOAD, EDITED)
    lab.run(0)
    lab.run(1)
    times = []
    for turn in range(ROUNDS):
        lab.end_of(1)
        # Another text each time, so that nothing is found compiled.
        lab.page.keyboard.type(f" {turn}")
        lab.page.wait_for_timeout(400)
        lab.page.evaluate(WATCH)
        lab.page.keyboard.press("Shift+Enter")
        lab.page.wait_for_function("window.waited !== null")
        times.append(lab.page.evaluate("window.waited"))
        lab.ended(1)
    told("Shift-Enter on an edited cell with its check, to the picture", times, 300)


def test_names_are_listed(lab):
    lab.open(LOAD, "%%kernel\n" + long_text(190) + "__global__ void fill(float* y) {\n    \n}")
    lab.run(0)
    times = []
    lab.end_of(1, back=2)
    lab.page.keyboard.type("__sync")
    for _ in range(ROUNDS):
        lab.page.evaluate(LISTED)
        lab.page.keyboard.press("Tab")
        lab.page.wait_for_function("window.waited !== null")
        times.append(lab.page.evaluate("window.waited"))
        expect(lab.page.locator(".jp-Completer")).to_contain_text("__syncthreads")
        lab.page.keyboard.press("Escape")
        lab.page.wait_for_timeout(300)
    told("Tab in a cell of 200 lines, to the list of names in the page (JupyterLab waits for all its sources)", times, 100)


def test_the_kernel_answers():
    manager, client = start_new_kernel()
    try:
        client.execute_interactive(LOAD)
        cell = "%%kernel\n" + long_text(190) + "__global__ void fill(float* y) {\n    __sync\n}"
        times = []
        for _ in range(4 * ROUNDS):
            begin = time.perf_counter()
            reply = client.complete(cell, len(cell) - 2, reply=True, timeout=60)
            times.append(1e3 * (time.perf_counter() - begin))
            assert "__syncthreads" in reply["content"]["matches"]
        told("completion in a cell of 200 lines, by the kernel's protocol", times, 30)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_problems_of_200_lines():
    times = []
    for turn in range(4 * ROUNDS):
        text = long_text(200).replace("sum += tile", "sum += tiles", 1) + f"// {turn}"
        begin = time.perf_counter()
        problems = workbench.language_service.problems(text)
        times.append(1e3 * (time.perf_counter() - begin))
        assert len(problems) == 1
    told("problems of an edited text of 200 lines", times, 20)

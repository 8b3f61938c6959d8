"""Notebooks as people run them: pictures, stops, both themes."""

from __future__ import annotations

import pathlib
import shutil

from playwright.sync_api import expect

import nbformat

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "notebooks" / "python" / "01-first-operator.ipynb"


def interrupt(lab) -> None:
    lab.page.locator(".jp-Notebook:visible").first.page.get_by_role("button", name="Interrupt the kernel").first.click()


def test_the_first_notebook_runs_and_shows_its_pictures(themed):
    shutil.copy(NOTEBOOK, themed.folder / "first.ipynb")
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    themed.load("first.ipynb", len(cells))
    themed.page.get_by_role("menuitem", name="Run", exact=True).click()
    themed.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    last = sum(cell.cell_type == "code" for cell in cells) - 1
    themed.ended(last)
    pictures = themed.page.locator(".jp-OutputArea svg:visible, .jp-OutputArea img:visible")
    assert pictures.count() >= 2
    for index in range(last + 1):
        themed.output(index).scroll_into_view_if_needed()
        themed.picture(f"first-operator-{index:02}-{themed.theme}")


def test_an_endless_kernel_stops_and_the_notebook_goes_on(lab):
    spin = "%%kernel\n__global__ void spin(int* count) { while (true) count[0] = 3 * count[0] + 1; }"
    lab.open("%load_ext workbench\nimport numpy as np", spin, "spin[1, 1](np.zeros(1, np.int32))", "print(6 * 7)")
    lab.run(0)
    lab.run(1)
    lab.run(2, wait=False)
    expect(lab.prompt(2)).to_have_text("[*]:")
    lab.page.wait_for_timeout(500)
    interrupt(lab)
    lab.ended(2)
    expect(lab.output(2)).to_contain_text("KeyboardInterrupt")
    lab.run(3)
    expect(lab.output(3)).to_have_text("42")


def test_a_stopped_benchmark_keeps_what_it_measured(lab):
    make = (
        "%load_ext workbench\nimport numpy as np, workbench as wb, time\n"
        "op = wb.op('lab::twice(Tensor x) -> Tensor', '__global__ void twice(const float* x, float* y, int n) "
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }', shape='x[n] -> y[n]')\n"
        "def slow(x):\n    if x.size > 1024: time.sleep(0.5)\n    return x * 2"
    )
    lab.open(make, "op.bench(sizes=[256, 1024, 1 << 20, 1 << 21, 1 << 22], others={'slow': slow})")
    lab.run(0)
    lab.run(1, wait=False)
    expect(lab.prompt(1)).to_have_text("[*]:")
    # The line that tells how far it is.
    expect(lab.output(1).locator(".wb-progress")).to_contain_text("2/5 sizes")
    expect(lab.output(1).locator(".wb-progress")).to_contain_text("twice")
    expect(lab.output(1).locator("svg").first).to_be_visible()
    lab.picture("progress-light")
    interrupt(lab)
    lab.ended(1)
    expect(lab.output(1)).to_contain_text("stopped")
    expect(lab.output(1).locator(".wb-progress")).to_have_count(0)
    expect(lab.output(1).locator("svg").first).to_be_visible()
    lab.picture("stopped-benchmark-light")


def test_the_history_of_an_operator_is_a_card(themed):
    make = (
        "%load_ext workbench\nimport numpy as np, workbench as wb\n"
        "SOURCE = \"\"\"__global__ void scale(const float* x, float* y, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];\n}\"\"\"\n"
        "x = np.arange(100_000, dtype=np.float32)\n"
        "def version(text, block):\n"
        "    op = wb.op('lab::scale(Tensor x) -> Tensor', text, shape='x[n] -> y[n]', reference=lambda x: 2 * x, block=block)\n"
        "    op.check(x); op.bench(x, seconds_per_size=0.05)\n"
        "    return op\n"
        "for text in (SOURCE, SOURCE.replace('2 * x', '2.5f * x'), SOURCE.replace('2 * x[i]', 'x[i] + x[i]')):\n"
        "    op = version(text, 128)\n"
        "op = version(SOURCE, 64)"
    )
    themed.open(make, "op.history", "op.history.compare(2, 4, x, seconds_per_size=0.05)")
    for index in range(3):
        themed.run(index)
    card = themed.output(1)
    expect(card).to_contain_text("scale: 4 versions")
    expect(card).to_contain_text("elements differ")
    expect(card.locator("svg").first).to_be_visible()
    assert card.locator("mark").count() > 0
    card.scroll_into_view_if_needed()
    themed.picture(f"history-{themed.theme}")
    expect(themed.output(2)).to_contain_text("Version 4 beside version 2")
    themed.output(2).scroll_into_view_if_needed()
    themed.picture(f"comparison-{themed.theme}")


def test_a_tuning_shows_its_landscape(themed):
    make = (
        "%load_ext workbench\nimport numpy as np, workbench as wb\n"
        "SOURCE = \"\"\"__global__ void copy(const float* x, float* y, int n) {\n"
        "    for (int k = 0; k < PER; ++k) {\n        int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER + k;\n"
        "        if (i < n) y[i] = 2 * x[i];\n    }\n}\"\"\""
    )
    tune = (
        "report = wb.tune(SOURCE, schema='lab::copy(Tensor x) -> Tensor', shape='x[n] -> y[n]', threads='(n + {PER} - 1) / {PER}',\n"
        "    params={'PER': [1, 2, 4], 'block': [32, 128, 512]}, reference=lambda x: 2 * x,\n"
        "    make_args=lambda n: (np.ones(n, np.float32),), size=1 << 18, seconds=3)\nreport"
    )
    themed.open(make, tune, "report.best(np.ones(5, np.float32))")
    themed.run(0)
    themed.run(1, wait=False)
    expect(themed.output(1).locator(".wb-progress")).to_contain_text("of 9 configurations")
    themed.ended(1)
    card = themed.output(1)
    expect(card.locator(".wb-progress")).to_have_count(0)
    expect(card.locator("svg").first).to_be_visible()
    expect(card).to_contain_text("PER")
    card.scroll_into_view_if_needed()
    themed.picture(f"tuning-{themed.theme}")
    themed.run(2)
    expect(themed.output(2)).to_contain_text("array([2., 2., 2., 2., 2.]")

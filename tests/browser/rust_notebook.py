"""Rust notebooks in JupyterLab. `cargo xtask test --only rust-notebook` runs this file, once the kernel of Rust notebooks is there."""

from __future__ import annotations

import pathlib

import pytest
from playwright.sync_api import expect

from test_running import interrupt

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "workbench" / "evcxr" / "library"
USE = f':dep workbench = {{ package = "workbench-notebook", path = "{LIBRARY}" }}\nuse workbench::prelude::*;'
CELL = '''let swish = wb::cell!(r#"
__global__ void swish(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / (1.0f + expf(-x[i]));
}
"#,
    op = "lab::swish(Tensor x) -> Tensor",
    shape = "x[n] -> y[n]",
    check((&Array1::<f32>::linspace(-3.0, 3.0, 1001),), |x| x.mapv(|x| FACTOR * x / (1.0 + (-x).exp()))),
    bench((1..=40).map(|k| k << 14), |n| (Array1::<f32>::ones(n as usize),)),
);'''
SPIN = '''wb::compile("__global__ void spin(int* count) { while (true) count[0] = 3 * count[0] + 1; }").unwrap()
    .kernel("spin").unwrap().launch(1, 1).arg(&mut Array1::<i32>::zeros(1)).run()'''
WRONG = 'wb::cell!(r#"\n__global__ void k(float* y) {\n    y[0] = missing;\n}\n"#);'


@pytest.fixture
def rust(themed):
    def open_cells(*cells):
        themed.open(USE, *cells, kernel="rust", language="rust")
        themed.run(0)
        return themed

    return open_cells


def test_a_cell_is_checked_and_timed_and_shows_its_pictures(rust):
    lab = rust(CELL.replace("FACTOR *", ""), "swish.history()", CELL.replace("FACTOR", "1.5").replace("linspace(-3.0", "linspace(-4.0"))
    lab.run(1, wait=False)
    # The line that tells how far it is.
    expect(lab.output(1).locator(".wb-progress")).to_contain_text("sizes")
    lab.ended(1)
    expect(lab.output(1).locator(".wb-progress")).to_have_count(0)
    expect(lab.output(1)).to_contain_text("passed")
    expect(lab.output(1).locator("svg").first).to_be_visible()
    lab.output(1).scroll_into_view_if_needed()
    lab.picture(f"rust-cell-{lab.theme}")
    lab.run(2)
    expect(lab.output(2)).to_contain_text("1 version")
    # A wrong result is shown and not timed.
    lab.run(3)
    expect(lab.output(3)).to_contain_text("failed")
    expect(lab.output(3).locator("svg").first).to_be_visible()
    lab.output(3).scroll_into_view_if_needed()
    lab.picture(f"rust-mismatch-{lab.theme}")


def test_an_endless_kernel_stops_and_variables_stay(rust):
    lab = rust("let kept = 6;", SPIN, "kept * 7")
    lab.run(1)
    lab.run(2, wait=False)
    expect(lab.prompt(2)).to_have_text("[*]:")
    lab.page.wait_for_timeout(3000)
    interrupt(lab)
    lab.ended(2)
    lab.run(3)
    expect(lab.output(3)).to_contain_text("42")


def test_a_mistake_is_drawn_once_with_its_line(rust):
    lab = rust(WRONG, "1 + 1")
    lab.run(1)
    expect(lab.output(1)).to_contain_text("missing")
    assert lab.output(1).inner_text().count("y[0] = missing;") == 1
    lab.output(1).scroll_into_view_if_needed()
    lab.picture(f"rust-mistake-{lab.theme}")
    lab.run(2)
    expect(lab.output(2)).to_contain_text("2")

"""Draws the pictures of the README's tour: where a wrong constant shows, and how long calls take.

Usage: pictures.py FOLDER
"""

import re
import sys
from pathlib import Path

import numpy as np

import workbench as wb

GELU = """__global__ void gelu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1.0f + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}"""

#: The colors of text, for pages in either theme: an image does not know its page's.
THEMES = (
    "svg{--wb-ink:#1f2328;--wb-muted:#59636e}"
    "@media(prefers-color-scheme:dark){svg{--wb-ink:#e6edf3;--wb-muted:#9198a1}}"
)


def gelu_numpy(x):
    x = x.astype(np.float64)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def operator(text):
    return wb.op("lab::gelu(Tensor x) -> Tensor", wb.compile(text), shape="x[n] -> y[n]", reference=gelu_numpy)


def write(path, svg):
    path.write_text(svg.replace("<style>", f"<style>{THEMES}", 1) + "\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size} bytes")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    wrong = operator(GELU.replace("0.044715f", "0.04f")).check(np.linspace(-3, 3, 1000, dtype=np.float32))
    pictures = re.findall(r"<svg.*?</svg>", wrong._repr_mimebundle_()["text/html"], re.DOTALL)
    write(folder / "check.svg", pictures[0])
    gelu = operator(GELU)
    # The best code comes in the background once a kernel is hot; the picture is of that.
    large = np.ones(1 << 20, np.float32)
    for _ in range(3):
        wb.do_bench(lambda: gelu(large), warmup=60, rep=60)
    report = wb.bench(
        {"workbench": gelu, "numpy, in float64": gelu_numpy},
        sizes=[2**k for k in range(4, 23, 2)],
        make_args=lambda n: (np.random.default_rng(0).standard_normal(n).astype(np.float32),),
    )
    write(folder / "bench.svg", str(report.plot()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

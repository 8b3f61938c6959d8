"""torch's tensors on a GPU: on a driver that stands in for NVIDIA's, and on a real one where there is one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import workbench as wb

sys.path.append(str(Path(__file__).parents[1] / "python/driver"))

import harness  # noqa: E402

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that torch can use")


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return harness.surroundings(tmp_path_factory.mktemp("driver"))


@pytest.mark.parametrize("case", harness.cases("torch_arrays"))
def test_on_the_stand_in(case: str, surroundings: dict[str, str]):
    harness.run(case, surroundings)


SAXPY = """
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
MULADD = """
template <typename T> __global__ void muladd(const T* a, const T* b, float c, T* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + T(c);
}
"""


def muladd() -> wb.Op:
    op = wb.op("cuda_tensors::muladd(Tensor a, Tensor b, float c) -> Tensor", MULADD, shape="a[*], b[*] -> out[*]")

    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return op(grad, b, 0.0), op(grad, a, 0.0), None

    op.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]))
    return op


@on_a_gpu
@pytest.mark.parametrize("n", [0, 1, 37, 100_003])
def test_a_raw_launch_writes_tensors_in_place(n: int):
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    want = 2 * x + y
    wb.compile(SAXPY, device="cuda", options=["--fmad=false"]).saxpy[max(1, -(-n // 256)), 256](2.0, x, y, n)
    assert torch.equal(y, want)


@on_a_gpu
def test_a_launch_is_queued_on_the_current_stream():
    saxpy = wb.compile(SAXPY, device="cuda").saxpy
    n, stream = 1 << 20, torch.cuda.Stream()
    x, y = torch.ones(n, device="cuda"), torch.zeros(n, device="cuda")
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(50):
            saxpy[n // 256, 256](1.0, x, y, n)
            x += 1
        # Each launch came after the last addition and before the next.
        assert float(y[0]) == sum(range(1, 51)) and torch.equal(y, torch.full_like(y, float(y[0])))
    for _ in range(10):
        saxpy[n // 256, 256, 0, stream](1.0, x, y, n)
    wb.synchronize()
    assert float(y[-1]) == sum(range(1, 51)) + 10 * 51


@on_a_gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_torch_ops_serves_the_dtypes_of_its_template(dtype: torch.dtype):
    muladd()
    a, b = (torch.randn(3, 67, device="cuda", dtype=dtype) for _ in range(2))
    out = torch.ops.cuda_tensors.muladd(a, b, 0.5)
    assert out.is_cuda and torch.allclose(out, a * b + 0.5)
    # Gaps are closed, and the result is that of the elements in their order.
    assert torch.allclose(torch.ops.cuda_tensors.muladd(a.t(), b.t(), 0.5), a.t() * b.t() + 0.5)


@on_a_gpu
def test_halves_are_passed_by_their_type():
    text = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n__global__ void twice(const T* x, T* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }"
    for name, dtype in (("__half", torch.float16), ("__nv_bfloat16", torch.bfloat16)):
        x = torch.randn(37, device="cuda").to(dtype)
        y = torch.empty_like(x)
        wb.compile(text, device="cuda", defines={"T": name}).twice[1, 64](x, y, 37)
        assert torch.equal(y, x + x)


@on_a_gpu
def test_gradients_agree_with_torchs():
    op = muladd()
    a, b = (torch.randn(67, device="cuda", dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda a, b: op(a, b, 0.5), (a, b))
    torch.library.opcheck(torch.ops.cuda_tensors.muladd.default, (a.detach(), b.detach(), 0.5))


@on_a_gpu
def test_a_compiled_function_runs_there():
    op = muladd()
    a, b = (torch.randn(67, device="cuda") for _ in range(2))
    assert torch.allclose(torch.compile(lambda a, b: op(a, b, 0.5) * 2, backend="aot_eager")(a, b), (a * b + 0.5) * 2)


@on_a_gpu
def test_what_a_kernel_prints_is_shown(capsys):
    text = '__global__ void say(const int* x) { printf("%d of %d\\n", x[threadIdx.x], (int)threadIdx.x); }'
    wb.compile(text, device="cuda").say[1, 3](torch.arange(10, 13, device="cuda", dtype=torch.int32))
    assert capsys.readouterr().out == "10 of 0\n11 of 1\n12 of 2\n"


@on_a_gpu
def test_an_assertion_names_line_and_thread():
    text = "#include <cassert>\n__global__ void positive(const int* x) {\n    assert(x[threadIdx.x] > 0);\n}"
    positive = wb.compile(text, device="cuda").positive
    with pytest.raises(wb.KernelFault) as caught:
        positive[1, 3](torch.tensor([1, 0, 2], device="cuda", dtype=torch.int32))
    assert (caught.value.line, caught.value.thread) == (3, (1, 0, 0))
    positive[1, 2](torch.tensor([1, 1], device="cuda", dtype=torch.int32))


@on_a_gpu
def test_a_graph_captures_launches():
    saxpy = wb.compile(SAXPY, device="cuda").saxpy
    x, y = torch.ones(37, device="cuda"), torch.zeros(37, device="cuda")
    saxpy[1, 64](1.0, x, y, 37)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        saxpy[1, 64](1.0, x, y, 37)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, torch.full_like(y, 4))


@on_a_gpu
def test_host_arrays_are_sent_over_and_back():
    op = muladd()
    a = np.arange(37, dtype=np.float32)
    out = op(a, a, 0.5, device="cuda")
    assert isinstance(out, np.ndarray) and np.allclose(out, a * a + 0.5)


@on_a_gpu
def test_a_late_error_names_the_kernel(tmp_path: Path):
    # It breaks the context for the whole process.
    script = tmp_path / "late.py"
    script.write_text(
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "import torch, workbench as wb\n"
        "wild = wb.compile('__global__ void wild(float* y) { y[1ll << 40] = 1; }', device='cuda').wild\n"
        "wild[1, 1](torch.ones(3, device='cuda'))\n"
        "try:\n    wb.synchronize()\nexcept wb.KernelFault as error:\n    assert error.kernel == 'wild', error\n"
        "else:\n    raise AssertionError('nothing is said')\n"
    )
    import subprocess

    subprocess.run([sys.executable, script], check=True)

"""torch's tensors on a GPU."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

import workbench as wb

from texts import MULADD, SAXPY


def muladd() -> wb.Op:
    op = wb.op("cuda_tensors::muladd(Tensor a, Tensor b, float c) -> Tensor", MULADD, shape="a[*], b[*] -> out[*]")

    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return op(grad, b, 0.0), op(grad, a, 0.0), None

    op.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]))
    return op


@pytest.mark.parametrize("n", [0, 1, 37, 100_003])
def test_a_raw_launch_writes_tensors_in_place(n: int):
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    want = 2 * x + y
    wb.compile(SAXPY, device="cuda", options=["--fmad=false"]).saxpy[max(1, -(-n // 256)), 256](2.0, x, y, n)
    assert torch.equal(y, want)


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_torch_ops_serves_the_dtypes_of_its_template(dtype: torch.dtype):
    muladd()
    a, b = (torch.randn(3, 67, device="cuda", dtype=dtype) for _ in range(2))
    out = torch.ops.cuda_tensors.muladd(a, b, 0.5)
    assert out.is_cuda and torch.allclose(out, a * b + 0.5)
    # Gaps are closed, and the result is that of the elements in their order.
    assert torch.allclose(torch.ops.cuda_tensors.muladd(a.t(), b.t(), 0.5), a.t() * b.t() + 0.5)


def test_halves_are_passed_by_their_type():
    text = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n__global__ void twice(const T* x, T* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }"
    for name, dtype in (("__half", torch.float16), ("__nv_bfloat16", torch.bfloat16)):
        x = torch.randn(37, device="cuda").to(dtype)
        y = torch.empty_like(x)
        wb.compile(text, device="cuda", defines={"T": name}).twice[1, 64](x, y, 37)
        assert torch.equal(y, x + x)


def test_gradients_agree_with_torchs():
    op = muladd()
    a, b = (torch.randn(67, device="cuda", dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda a, b: op(a, b, 0.5), (a, b))
    torch.library.opcheck(torch.ops.cuda_tensors.muladd.default, (a.detach(), b.detach(), 0.5))


def test_a_compiled_function_runs_there():
    op = muladd()
    a, b = (torch.randn(67, device="cuda") for _ in range(2))
    assert torch.allclose(torch.compile(lambda a, b: op(a, b, 0.5) * 2, backend="aot_eager")(a, b), (a * b + 0.5) * 2)


def test_what_a_kernel_prints_is_shown(capsys):
    text = '__global__ void say(const int* x) { printf("%d of %d\\n", x[threadIdx.x], (int)threadIdx.x); }'
    wb.compile(text, device="cuda").say[1, 3](torch.arange(10, 13, device="cuda", dtype=torch.int32))
    assert capsys.readouterr().out == "10 of 0\n11 of 1\n12 of 2\n"


def test_an_assertion_names_line_and_thread():
    text = "#include <cassert>\n__global__ void positive(const int* x) {\n    assert(x[threadIdx.x] > 0);\n}"
    positive = wb.compile(text, device="cuda").positive
    with pytest.raises(wb.KernelFault) as caught:
        positive[1, 3](torch.tensor([1, 0, 2], device="cuda", dtype=torch.int32))
    assert (caught.value.line, caught.value.thread) == (3, (1, 0, 0))
    positive[1, 2](torch.tensor([1, 1], device="cuda", dtype=torch.int32))


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


def test_host_arrays_are_sent_over_and_back():
    op = muladd()
    a = np.arange(37, dtype=np.float32)
    out = op(a, a, 0.5, device="cuda")
    assert isinstance(out, np.ndarray) and np.allclose(out, a * a + 0.5)


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
    subprocess.run([sys.executable, script], check=True)


SOFTMAX = """
template <typename T> __global__ void softmax(const T* x, T* y, int cols) {
    __shared__ float partial[128];
    const T* row = x + (size_t)blockIdx.x * cols;
    float top = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, (float)row[c]);
    partial[threadIdx.x] = top;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    __syncthreads();
    top = partial[0];
    __syncthreads();
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf((float)row[c] - top);
    partial[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = (T)(expf((float)row[c] - top) / partial[0]);
}
"""


def softmax() -> wb.Op:
    op = wb.op("cuda_tensors::softmax(Tensor x) -> Tensor", SOFTMAX, shape="x[r, cols] -> y[r, cols]", grid="r", block=128)

    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return y * (grad - (grad * y).sum(-1, keepdim=True))

    op.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output))
    return op


@pytest.mark.parametrize("shape", [(1, 1), (5, 37), (100, 1024), (3, 5000)])
def test_a_block_a_row_with_shared_memory(shape: tuple[int, int]):
    op = softmax()
    x = torch.randn(shape, device="cuda") * 5
    # expf within 2 ulp, a quotient, and sums of at most 5,000 terms in a tree after 40 in a row.
    torch.testing.assert_close(op(x), torch.softmax(x.double(), -1).float(), rtol=1e-5, atol=0)
    torch.testing.assert_close(op(x).cpu(), op(x.cpu()), rtol=2e-5, atol=0)


def test_an_operator_passes_torchs_own_checks():
    softmax()
    muladd()
    for make in (lambda *s: torch.randn(*s, device="cuda"), lambda *s: torch.randn(*s, device="cuda", requires_grad=True)):
        torch.library.opcheck(torch.ops.cuda_tensors.softmax.default, (make(5, 37),))
        torch.library.opcheck(torch.ops.cuda_tensors.muladd.default, (make(5, 37), make(5, 37), 2.0))


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_inductor_compiles_around_it(mode: str):
    op = softmax()
    weight = torch.randn(64, 64, device="cuda", requires_grad=True)

    def loss(x):
        return (op((x @ weight).relu()) * x).sum()

    x = torch.randn(32, 64, device="cuda")
    with torch._inductor.utils.fresh_cache() if hasattr(torch._inductor.utils, "fresh_cache") else torch._inductor.utils.fresh_inductor_cache():
        fast = torch.compile(loss, mode=mode, fullgraph=True)
        for _ in range(4):
            weight.grad = None
            got = fast(x)
            got.backward()
            grad = weight.grad.clone()
            weight.grad = None
            want = loss(x)
            want.backward()
            torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
            torch.testing.assert_close(grad, weight.grad, rtol=1e-3, atol=1e-3)
            x = torch.randn(32, 64, device="cuda")


def test_a_model_trains_there():
    op = softmax()
    torch.manual_seed(0)
    x, labels = torch.randn(256, 16, device="cuda"), torch.randint(0, 4, (256,), device="cuda")
    layer = torch.nn.Linear(16, 4, device="cuda")
    twin = torch.nn.Linear(16, 4, device="cuda")
    twin.load_state_dict(layer.state_dict())
    losses = []
    for model, function in ((layer, op), (twin, lambda t: torch.softmax(t, -1))):
        optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(50):
            loss = -function(model(x)).gather(1, labels[:, None]).log().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[0] < 1.4 and abs(losses[0] - losses[1]) < 1e-3


def test_transforms_of_functions():
    op = muladd()
    a, b = torch.randn(5, device="cuda"), torch.randn(5, device="cuda")
    grad = torch.func.grad(lambda a: op(a, b, 1.0).sum())(a)
    torch.testing.assert_close(grad, b)
    op.register_vmap(lambda info, in_dims, a, b, c: (op(a, b, c), 0))
    many = torch.randn(3, 5, device="cuda")
    torch.testing.assert_close(torch.vmap(lambda a, b: op(a, b, 1.0))(many, many), many * many + 1)


def test_what_is_written_is_the_callers():
    text = "__global__ void scale(float* x, float by, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= by; }"
    op = wb.op("cuda_tensors::scale_(Tensor(a!) x, float by) -> Tensor(a!)", text)
    x = torch.randn(1001, device="cuda")
    want, before = x * 3, x._version
    assert op(x, 3.0) is x and torch.ops.cuda_tensors.scale_(x, 1.0) is x
    assert torch.equal(x, want) and x._version > before
    # With gaps it is written through a copy.
    want = x.clone()
    want[::2] *= 2
    op(x[::2], 2.0)
    assert torch.equal(x, want)


def test_many_threads_and_streams():
    op, saxpy, n, failures = muladd(), wb.compile(SAXPY, device="cuda").saxpy, 10_007, []

    def work(seed: int) -> None:
        try:
            generator = torch.Generator("cuda").manual_seed(seed)
            with torch.cuda.stream(torch.cuda.Stream()):
                a, b, y = (torch.randn(n, device="cuda", generator=generator) for _ in range(3))
                for _ in range(50):
                    out = op(a, b, 1.0)
                    torch.testing.assert_close(out, a * b + 1)
                    want = y + out
                    saxpy[-(-n // 256), 256](1.0, out, y, n)
                    assert torch.equal(y, want)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_more_shared_memory_than_a_block_has_by_default():
    text = """
extern __shared__ float tile[];
__global__ void reverse(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[n - 1 - i];
}"""
    n = 25_000
    x, y = torch.randn(n, device="cuda"), torch.empty(n, device="cuda")
    reverse = wb.compile(text, device="cuda").reverse
    reverse[1, 1024, 4 * n](x, y, n)
    assert torch.equal(y, x.flip(0))
    with pytest.raises((wb.KernelFault, wb.ArgumentError), match="shared memory"):
        reverse[1, 1024, 1 << 20](x, y, n)
    reverse[1, 1024, 4 * n](y, x, n)
    assert torch.equal(x, y.flip(0))


def test_extents_that_no_gpu_has_are_refused():
    saxpy, x = wb.compile(SAXPY, device="cuda").saxpy, torch.ones(3, device="cuda")
    for grid, block in ((1, 2048), ((1, 70_000), 32), (0, 32)):
        with pytest.raises((wb.ArgumentError, wb.KernelFault)):
            saxpy[grid, block](1.0, x, x.clone(), 3)
    y = torch.ones(3, device="cuda")
    saxpy[1, 32](1.0, x, y, 3)
    assert torch.equal(y, 2 * x)


def test_tensors_of_two_places_are_refused():
    op, x = muladd(), torch.ones(3, device="cuda")
    with pytest.raises((wb.ArgumentError, RuntimeError), match="`b`"):
        op(x, torch.ones(3), 1.0)
    with pytest.raises(RuntimeError):
        torch.ops.cuda_tensors.muladd(x, torch.ones(3), 1.0)
    assert torch.equal(op(x, x, 1.0), 2 * x)


def test_host_functions_say_that_they_run_on_the_cpu():
    text = "#include <torch/extension.h>\nat::Tensor twice(const at::Tensor& x) { return x + x; }"
    op = wb.op("cuda_tensors::twice_host(Tensor x) -> Tensor", text)
    with pytest.raises(wb.ArgumentError, match="runs on the CPU"):
        op(torch.ones(3, device="cuda"))
    with pytest.raises(RuntimeError, match="runs on the CPU"):
        torch.ops.cuda_tensors.twice_host(torch.ones(3, device="cuda"))
    assert torch.equal(op(torch.ones(3)), torch.full((3,), 2.0))


def run(script: str, **environment: str) -> str:
    """The output of a fresh process: an error that breaks a context breaks it for the whole process."""
    import os

    head = f"import sys; sys.path[:] = {sys.path!r}\nimport torch, numpy as np, workbench as wb\n"
    done = subprocess.run(
        [sys.executable, "-c", head + script], env={**os.environ, **environment}, capture_output=True, text=True, timeout=40
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


WILD = "wild = wb.compile('__global__ void wild(float* y) { y[1ll << 40] = 1; }', device='cuda').wild\n"


def test_an_error_of_an_operator_is_torchs_and_ours():
    said = run(
        "op = wb.op('t::wild(Tensor(a!) y) -> ()', '__global__ void wild(float* y) { y[1ll << 40] = 1; }', grid=1, block=1)\n"
        "y = torch.ones(3, device='cuda')\n"
        "op(y)\n"
        "try:\n    torch.cuda.synchronize()\nexcept RuntimeError as error:\n    print('torch:', str(error).splitlines()[0])\n"
        "try:\n    wb.synchronize()\nexcept wb.KernelFault as error:\n    print('ours:', error.kernel, error)\n"
        "try:\n    op(y)\nexcept (RuntimeError, wb.KernelFault, wb.DeviceUnavailable) as error:\n    print('again:', error)\n"
        "z = np.ones(3, np.float32)\n"
        "print('cpu:', wb.op('t::add(Tensor x) -> Tensor', '__global__ void add(const float* x, float* y, int n) "
        "{ int i = threadIdx.x; if (i < n) y[i] = x[i] + 1; }', shape='x[n] -> y[n]')(z).tolist())\n"
    )
    assert "torch: CUDA error" in said and "ours: wild" in said and "again:" in said and "cpu: [2.0, 2.0, 2.0]" in said, said


def test_blocking_launches_name_the_one_kernel():
    said = run(
        WILD + "good = wb.compile('__global__ void good(float* y) { y[0] = 1; }', device='cuda').good\n"
        "y = torch.ones(3, device='cuda')\n"
        "good[1, 1](y)\n"
        "try:\n    wild[1, 1](y); wb.synchronize()\nexcept wb.KernelFault as error:\n    print(error.kernel, error)\n",
        CUDA_LAUNCH_BLOCKING="1",
    )
    assert said.startswith("wild"), said


def test_after_a_fault_the_gpu_is_refused_and_the_cpu_goes_on():
    said = run(
        WILD + "x = np.ones(3, np.float32)\n"
        "try:\n    wild[1, 1](x)\nexcept wb.KernelFault as error:\n    print(error.kernel, error.kind)\n"
        "add = '__global__ void add(float* y) { y[threadIdx.x] += 1; }'\n"
        "for _ in range(2):\n"
        "    try:\n        wb.compile(add, device='cuda').add[1, 3](x)\n    except wb.DeviceUnavailable as error:\n        print(error)\n"
        "wb.compile(add).add[1, 3](x)\nprint(x.tolist())\n"
    )
    assert said.startswith("wild device error\n") and "[2.0, 2.0, 2.0]" in said, said
    assert said.count("kernel `wild` broke CUDA for this process") == 2 and said.count("restart the process") == 2, said


SPIN = (
    "import signal, threading, os\n"
    "spin = wb.compile('__global__ void spin(volatile int* flag) { while (flag[0] == 0) { } }', device='cuda').spin\n"
    # The driver loads code, torch's too, when no kernel runs: what is used below is used before.
    "flag, side = torch.ones(1, dtype=torch.int32, device='cuda'), torch.cuda.Stream()\n"
    "with torch.cuda.stream(side):\n    flag.fill_(0)\n"
    "y = torch.zeros(1, device='cuda')\n"
    "torch.cuda.synchronize()\n"
    "def stop():\n    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
)


def test_a_kernel_that_never_ends_can_be_interrupted():
    said = run(
        SPIN + "spin[1, 1](flag)\nstop()\n"
        "try:\n    wb.synchronize()\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        # A new module waits for the kernel that runs, by our hand and not the driver's.
        "stop()\nother = wb.compile('__global__ void other(float* y) { y[0] = 5; }', device='cuda').other\n"
        "try:\n    other[1, 1](y)\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        "with torch.cuda.stream(side):\n    flag.fill_(1)\n"
        "wb.synchronize()\nother[1, 1](y)\nprint('ended', float(y))\n"
    )
    assert said == "interrupted\ninterrupted\nended 5.0\n", said


def test_a_timeout_gives_a_kernel_up():
    said = run(
        SPIN + "for _ in range(2):\n"
        "    try:\n        spin.launch(1, 1, (np.zeros(1, np.int32),), timeout=0.3)\n"
        "    except (wb.KernelTimeout, wb.DeviceUnavailable) as error:\n        print(type(error).__name__, error)\n"
        # The kernel runs on: nothing that waits for it may come.
        "sys.stdout.flush()\nos._exit(0)\n"
    )
    assert said.startswith("KernelTimeout") and "\nDeviceUnavailable the GPU is refused: kernel `spin`, given up earlier, is still running" in said, said


def test_a_launch_on_host_arrays_waits_for_no_kernel_of_others():
    said = run(
        SPIN + "import time\n"
        "add = wb.compile('__global__ void add(float* y) { y[threadIdx.x] += 1; }', device='cuda').add\n"
        "x = np.ones(3, np.float32)\nadd[1, 3](x)\n"
        "torch.cuda._sleep(1)\ntorch.cuda.synchronize()\n"
        "torch.cuda._sleep(3_000_000_000)\n"
        "began = time.perf_counter()\nadd[1, 3](x)\ntook = time.perf_counter() - began\n"
        "is_busy = not torch.cuda.current_stream().query()\n"
        "print(x.tolist(), is_busy, took < 1)\n"
    )
    assert said == "[3.0, 3.0, 3.0] True True\n", said


def test_variables_are_read_and_written():
    text = """
namespace filters { __constant__ float weights[3] = {1, 2, 3}; }
__device__ int calls;
__global__ void apply(const float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x] * filters::weights[threadIdx.x];
    if (threadIdx.x == 0) atomicAdd(&calls, 1);
}"""
    m = wb.compile(text, device="cuda")
    weights, calls = m.symbol("weights"), m.symbol("calls")
    # Before there is anything on the GPU it is what the text says; what is written then, the first launch finds.
    assert weights.get().tolist() == [1, 2, 3] and calls.get().tolist() == [0]
    calls.set(40)
    x, y = torch.tensor([1.0, 10.0, 100.0], device="cuda"), torch.empty(3, device="cuda")
    m.apply[1, 3](x, y)
    m.apply[1, 3](x, y)
    assert y.tolist() == [1, 20, 300] and calls.get().tolist() == [42]
    weights.set([4, 5, 6])
    host = np.ones(3, np.float32)
    out = np.empty_like(host)
    m.apply[1, 3](host, out)
    assert out.tolist() == [4, 5, 6] and weights.get().tolist() == [4, 5, 6] and calls.get().tolist() == [43]
    with pytest.raises(wb.ArgumentError, match="`weights` holds 3 x float32; 2 numbers given"):
        weights.set([1, 2])


def test_an_operator_travels_to_a_spawned_process(tmp_path: Path):
    op = softmax()
    del op
    plain = wb.op("cuda_tensors::plain(Tensor a, Tensor b, float c) -> Tensor", MULADD, shape="a[*], b[*] -> out[*]")
    plain.save(tmp_path / "plain.toml")
    said = run(
        f"wb.load_library({str(tmp_path / 'plain.toml')!r}, trust=True)\n"
        "a = torch.arange(5, device='cuda', dtype=torch.float32)\n"
        "print(torch.ops.cuda_tensors.plain(a, a, 0.5).tolist())\n"
    )
    assert said == "[0.5, 1.5, 4.5, 9.5, 16.5]\n"


def test_times_of_what_waits():
    op = muladd()
    report = wb.bench(
        {"workbench": lambda a, b: (op(a, b, 1.0), wb.synchronize()), "torch": lambda a, b: (a * b + 1.0, torch.cuda.synchronize())},
        sizes=[1000, 1 << 20],
        make_args=lambda n: (torch.randn(n, device="cuda"), torch.randn(n, device="cuda")),
        seconds_per_size=0.05,
    )
    assert len(report.rows) == 4
    with pytest.raises(wb.ArgumentError, match="synchronize"):
        wb.bench({"queued": lambda a: op(a, a, 1.0)}, sizes=[10], make_args=lambda n: torch.randn(n, device="cuda"), seconds_per_size=0.01)


def test_a_check_of_what_ran_there():
    op = muladd()
    a, b = torch.randn(1001, device="cuda"), torch.randn(1001, device="cuda")
    report = wb.check(lambda a, b: op(a, b, 0.5).cpu(), lambda a, b: (a * b + 0.5).cpu(), a, b)
    assert report.passed

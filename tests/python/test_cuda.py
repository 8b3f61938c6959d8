"""The GPU's side: PTX and CUBIN need NVRTC and no GPU; a launch without one says what is missing."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import SAXPY

import workbench as wb


def compiled(source: str, **options) -> wb.Module:
    """The text compiled for the GPU, or a skip where NVRTC is missing."""
    try:
        return wb.compile(source, device="cuda", **options)
    except wb.DeviceUnavailable as error:
        assert "nvidia-cuda-nvrtc" in str(error)
        pytest.skip(str(error))


def has_gpu() -> bool:
    return any(name.startswith("cuda") for name in wb.devices())


def test_ptx_and_cubin_come_without_a_gpu():
    m = compiled(SAXPY, arch="sm_90")
    assert m.device == "cuda" and m.arch == "sm_90"
    assert ".target sm_90" in m.ptx() and "saxpy" in m.ptx() and m.asm() == m.ptx()
    assert m.cubin()[:4] == b"\x7fELF"
    assert m.saxpy.signature == "void saxpy(float a, const float* x, float* y, int n)"


def test_nvrtcs_messages_name_the_line():
    with pytest.raises(wb.CompileError) as caught:
        compiled("__global__ void k(int* x) {\n    x[0] = nowhere;\n}")
    assert caught.value.diagnostics[0].line == 2


def test_the_first_gpu_has_the_name_that_is_listed():
    m = compiled(SAXPY, arch="sm_90")
    listed = wb.compile(SAXPY, device="cuda:0", arch="sm_90")
    assert listed.device == "cuda" and listed.ptx() == m.ptx()
    op = wb.op("cuda_test::listed_(Tensor(a!) y, Tensor x, float a) -> Tensor(a!)", SAXPY)
    op.register_kernel("cuda:0", listed.saxpy)
    x = np.ones(3, np.float32)
    for call in (lambda: wb.compile(SAXPY, device="cuda:1"), lambda: op(x, x, 1.0, device="cuda:1")):
        with pytest.raises(wb.ArgumentError, match='device is ["\']cuda:1["\']; it must be "cpu", "cuda" or "cuda:0": host arrays are copied to the first GPU'):
            call()
    with pytest.raises(wb.ArgumentError, match="device is 'cuda:1'; it must be \"cpu\" or \"cuda\", which is every GPU"):
        op.register_kernel("cuda:1", listed.saxpy)
    for device in wb.devices():
        assert (op(x.copy(), x, 1.0, device=device) == 2).all()


@pytest.mark.parametrize(
    ("options", "what", "lists"),
    [
        ({"arch": "sm_12"}, "does not compile for `sm_12`", True),
        ({"arch": "sm_80a"}, "refuses the architecture: ", True),
        ({"options": ["-arch=sm_12"]}, "refuses the architecture: ", True),
        ({"options": ["--nonsense"]}, "refuses an option: unrecognized option --nonsense", False),
    ],
)
def test_what_nvrtc_does_not_take_is_a_mistake_in_the_arguments(options, what, lists):
    compiled(SAXPY, arch="sm_90")
    with pytest.raises(wb.ArgumentError) as caught:
        wb.compile(SAXPY, device="cuda", **options)
    assert what in str(caught.value) and ("; it knows sm_" in str(caught.value)) == lists


def test_registers_and_spills_are_kept_where_the_options_ask_for_them():
    assert compiled(SAXPY, arch="sm_90").build_log == wb.compile(SAXPY, options=["-Xptxas", "-v"]).build_log == ""
    log = compiled(SAXPY, arch="sm_90", options=["--ptxas-options=-v"]).build_log
    assert "Compiling entry function '_Z5saxpyfPKfPfi' for 'sm_90'" in log and " registers, " in log and " bytes spill stores" in log


def test_a_named_nvrtc_that_cannot_be_loaded_is_an_error_that_names_it(tmp_path):
    code = f"import workbench as wb; wb.compile({SAXPY!r}, device='cuda', arch='sm_90')"
    for place, why in ((tmp_path / "nothing", "cannot open"), (tmp_path, "that folder has no NVRTC")):
        environment = {**os.environ, "WORKBENCH_NVRTC": str(place)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        last = done.stderr.strip().splitlines()[-1]
        assert last.startswith(f"workbench.errors.DeviceUnavailable: NVRTC cannot be loaded from `{place}`, which WORKBENCH_NVRTC names: "), last
        assert why in last or os.name == "nt"


def test_a_launch_without_a_gpu_says_what_is_missing():
    if has_gpu():
        pytest.skip("there is a GPU")
    x = np.ones(3, np.float32)
    with pytest.raises(wb.DeviceUnavailable):
        compiled(SAXPY).saxpy[1, 32](1.0, x, x.copy(), 3)


def test_a_launch_gives_what_the_cpu_gives(capsys):
    if not has_gpu():
        pytest.skip("there is no GPU")
    source = SAXPY.replace("if (i < n)", 'if (i == 1) printf("hello from %d\\n", i);\n    if (i < n)')
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    on_cpu = y.copy()
    compiled(source).saxpy[4, 256](2.0, x, y, 1000)
    wb.compile(source).saxpy[4, 256](2.0, x, on_cpu, 1000)
    assert (y == on_cpu).all()
    assert capsys.readouterr().out == "hello from 1\n" * 2


class OnGpu:
    """An object that claims to lie on a GPU, even if there is none."""

    def __init__(self, shape: tuple[int, ...] = (3,), typestr: str = "<f4") -> None:
        self.shape, self.dtype = shape, np.dtype(typestr)
        data = (1 << 20, False)
        self.__cuda_array_interface__ = {"version": 2, "shape": shape, "typestr": typestr, "data": data}


def test_arrays_on_a_gpu_need_a_driver():
    if has_gpu():
        pytest.skip("there is a GPU")
    saxpy = compiled(SAXPY, arch="sm_90").saxpy
    for _ in range(2):
        with pytest.raises(wb.DeviceUnavailable):
            saxpy[1, 32](1.0, OnGpu(), OnGpu(), 3)
    with pytest.raises(wb.ArgumentError, match="`x` .* got an array of float64"):
        saxpy[1, 32](1.0, OnGpu(typestr="<f8"), OnGpu(), 3)
    op = wb.op("cuda_test::add_(Tensor(a!) y, Tensor x, float a) -> Tensor(a!)", SAXPY)
    with pytest.raises(wb.DeviceUnavailable):
        op(OnGpu(), OnGpu(), 2.0)
    wb.synchronize()


def test_elementwise_functions_refuse_arrays_on_a_gpu():
    twice = wb.elementwise("T x", "T y", "y = x + x", name="twice_on_gpu")
    with pytest.raises(wb.ArgumentError, match="host arrays"):
        twice(OnGpu())


def test_macros_are_not_what_our_own_text_calls_its_types():
    text = "__global__ void k(const T* x, T* y) { y[0] = x[0]; }"
    assert "_Z1kPKfPf" in compiled(text, defines={"T": "float"}, arch="sm_90").ptx()
    # Macros that our own text looks at still stand before it.
    asserts = "#include <cassert>\n__global__ void k(int* x) { assert(x[0]); }"
    for defines, reports in (({}, True), ({"NDEBUG": "1"}, False)):
        assert (compiled(asserts, defines=defines, arch="sm_90").ptx().count("__wb_log") > 1) == reports


def test_extremes_of_std_are_constants():
    text = """
    #include <algorithm>
    template <int N> __device__ int size() { return N; }
    constexpr int least = std::min(7, 3);
    static_assert(std::max(1, 2) == 2 && least == 3, "");
    __global__ void k(float* x) {
        __shared__ float s[std::max(3, 4)];
        s[size<std::max(1, 2)>()] = x[0];
        x[1] = s[2] + std::max({1.0f, x[2], 3.0f});
    }"""
    assert ".entry" in compiled(text, arch="sm_90").ptx()


def test_overloaded_kernels_are_told_at_the_launch():
    text = "__global__ void kk(const float* x, float* o) { o[0] = x[0]; }\n__global__ void kk(const double* x, double* o) { o[0] = x[0]; }"
    m = compiled(text, arch="sm_90")
    assert m.ptx().count(".entry") == 2
    x = np.ones(3, np.float32)
    with pytest.raises(wb.DeviceUnavailable, match="kernel `kk` is overloaded; for a GPU give each a name of its own"):
        m.kk[1, 1](x, x.copy())

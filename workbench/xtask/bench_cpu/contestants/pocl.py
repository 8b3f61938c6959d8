"""PoCL, OpenCL on the CPU: the kernels of `kernels/` in OpenCL C, with the same groups, local memory and barriers."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from ..measure import Runner

NAME = "PoCL"
SOURCE = Path(__file__).parent / "kernels.cl"


@functools.cache
def device():
    """The first of PoCL's devices that builds: some builds of PoCL do not know newer processors."""
    import pyopencl as cl

    why = "no platform of PoCL's"
    for platform in cl.get_platforms():
        if "portable" not in platform.name.lower():
            continue
        for found in platform.get_devices(cl.device_type.CPU):
            try:
                cl.Program(cl.Context([found]), "kernel void empty(global float* x) { x[0] = 0.0f; }").build()
                return found
            except cl.RuntimeError as e:
                error = next((line for line in str(e).splitlines() if line.startswith("error")), "")
                why = f"PoCL {found.driver_version} cannot build for this processor ({error})"
    raise ImportError(why)


def load() -> str:
    return device().driver_version


def prepare(case) -> Runner:
    import pyopencl as cl

    context = cl.Context([device()])
    queue = cl.CommandQueue(context)
    kernel = getattr(cl.Program(context, SOURCE.read_text()).build(["-cl-fast-relaxed-math", "-cl-std=CL1.2"]), case.row.name)
    # Buffers on the arrays' own memory.
    flags = cl.mem_flags.USE_HOST_PTR
    buffers = {name: cl.Buffer(context, flags | cl.mem_flags.READ_ONLY, hostbuf=value) for name, value in case.inputs.items()}
    buffers["out"] = cl.Buffer(context, flags | cl.mem_flags.READ_WRITE, hostbuf=case.out)
    values = {**case.scalars, **buffers}
    local = tuple(np.atleast_1d(case.row.block).tolist())
    grid = tuple(np.atleast_1d(case.row.grid).tolist())
    local += (1,) * (len(grid) - len(local))
    size = tuple(g * b for g, b in zip(grid, local))
    kernel.set_args(*(scalar(values[name]) for name in case.row.arguments))

    def run():
        if case.row.clears:
            cl.enqueue_fill_buffer(queue, buffers["out"], np.uint32(0), 0, case.out.nbytes)
        cl.enqueue_nd_range_kernel(queue, kernel, size, local)
        queue.finish()

    def result():
        cl.enqueue_copy(queue, case.out, buffers["out"])
        return case.out

    return Runner(run, result)


def scalar(value):
    return np.float32(value) if isinstance(value, float) else np.int32(value) if isinstance(value, int) else value

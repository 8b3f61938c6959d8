"""Workbench: the text of `kernels/`, launched on arrays made before."""

from __future__ import annotations

from ..measure import Runner

NAME = "Workbench"


def load() -> str:
    import workbench

    return workbench._workbench.__version__


def until_best(run) -> None:
    """Runs until the best code there will be has come."""
    import workbench as wb

    # Long enough that a kernel counts as hot, then once more with the code that this brings.
    wb.do_bench(run, warmup=50, rep=1)
    wb.do_bench(run, warmup=1, rep=1)


def prepare(case) -> Runner:
    import workbench as wb

    row = case.row
    kernel = getattr(wb.compile(row.kernel_text), row.name)
    values = {**case.inputs, **case.scalars, "out": case.out}
    launcher, args = kernel[row.grid, row.block], [values[name] for name in row.arguments]

    def run():
        if row.clears:
            case.out.fill(0)
        launcher(*args)

    until_best(run)
    return Runner(run, lambda: case.out, lambda: str(getattr(kernel, "tier", "cranelift")))

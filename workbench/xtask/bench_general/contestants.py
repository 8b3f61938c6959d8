"""The two contestants: the kernel's text by Workbench, and the plain C++."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import numpy as np

from bench_cpu import native
from bench_cpu.contestants.workbench_cpu import until_best
from bench_cpu.measure import Runner

from .case import PLAIN, Case

TIERS = ("soon", "good", "lanes", "wide")


@dataclass
class Ours(Runner):
    """Workbench at a row. A row of several kernels has several tiers."""

    kernels: list = field(default_factory=list)

    def tiers(self) -> list[str]:
        return [str(getattr(kernel, "tier", "cranelift")) for kernel, _ in self.kernels]

    def reasons(self) -> list[str]:
        """What a tier report says of tiers faster than the one that ran."""
        found = []
        for kernel, block in self.kernels:
            tier = str(kernel.tier)
            faster = TIERS[TIERS.index(tier) + 1 :] if tier in TIERS else ()
            by_reason = {}
            for row in kernel.tier_report(block).rows:
                if row["tier"] in faster:
                    by_reason.setdefault(f"{row['code']}, {row['why']}", []).append(row["tier"])
            found += [f"{kernel.name}: {' and '.join(tiers)}: {reason}" for reason, tiers in by_reason.items()]
        return found


class Workbench:
    """Workbench: the text of `kernels/`, launched on arrays made before."""

    NAME = "Workbench"

    @staticmethod
    def prepare(case: Case) -> Ours:
        import workbench as wb

        row = case.row
        module = wb.compile(row.kernel_text)
        for symbol, name in row.constants.items():
            module.symbol(symbol).set(case.inputs[name])
        cleared = [case.outputs[name] for name in row.clears]
        steps, kernels = [], []
        for launch in row.launches:
            kernel, args = module[launch.kernel], case.values(launch.arguments)
            kernels.append((kernel, launch.block))
            if launch.shared:
                steps.append(lambda k=kernel, l=launch, a=args: k.launch(l.grid, l.block, a, shared_mem=l.shared))
            else:
                steps.append(lambda f=kernel[launch.grid, launch.block], a=args: f(*a))

        def run():
            for array in cleared:
                array.fill(0)
            for step in steps:
                step()

        run()
        # Each launch by itself, so that short ones among long ones count as hot as well; none writes what it reads.
        for step in steps:
            until_best(step)
        return Ours(run, lambda: None, kernels=kernels)


class Plain:
    """Plain C++: loops with OpenMP, from `plain/`."""

    NAME = "plain C++"

    @staticmethod
    def prepare(case: Case) -> Runner:
        function = native.function(case.row.name, PLAIN)
        args = [convert(value) for value in case.values(case.row.plain)]
        return Runner(lambda: function(*args), lambda: None)


def convert(value):
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, np.generic):
        return np.ctypeslib.as_ctypes_type(value.dtype)(value.item())
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int(value)

"""The rows by kind. A row's inputs, its reference in float64 with a tolerance from an error bound, and its launches."""

from . import convolutions, graphs, integers, norms, pointwise, products, selection, sorting, sparse, stencils, warps

ROWS = tuple(
    row
    for module in (warps, norms, products, convolutions, sparse, graphs, selection, sorting, integers, stencils, pointwise)
    for row in module.ROWS
)

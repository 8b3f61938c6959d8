#!/usr/bin/env bash
# torch's x.pow(0.7) of the same float32 number differs with how many elements the tensor has.
#
# Seen with torch 2.15.0 (PyPI's wheel for x86-64 Linux), on 2026-11-27. What is computed in whole steps of the vector loop, 32 elements
# with AVX-512 and 16 with AVX2, is the power with the exponent rounded to float32, 0.69999999; what is left over, and all of a short
# tensor, is the power with the exponent as a double. For 1e30 the two are 12 units in the last place apart. An exponent that is a tensor
# gives the first at every length. Who takes a few elements of a tensor as the reference of a kernel's whole output, or compares
# slices, finds differences that come of the length alone.
#
# Output seen:
#   15 elements: 1.00000002e+21
#   64 elements: 9.99999176e+20
#   72 elements: 9.99999176e+20 first, 1.00000002e+21 last
#   exponent in a tensor: 9.99999176e+20 of 15, 9.99999176e+20 of 64
#
# Exits with 0 while that is so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "torch==2.15.0" "numpy>=2,<3"
"$folder/env/bin/python" - <<'PYTHON'
import torch


def base(n):
    return torch.full((n,), 1e30)


short, long = base(15).pow(0.7), base(64).pow(0.7)
print(f"15 elements: {short[0]:.8e}")
print(f"64 elements: {long[0]:.8e}")
rest = base(72).pow(0.7)
print(f"72 elements: {rest[0]:.8e} first, {rest[-1]:.8e} last")
tensors = [torch.pow(base(n), torch.full((n,), 0.7)) for n in (15, 64)]
print(f"exponent in a tensor: {tensors[0][0]:.8e} of 15, {tensors[1][0]:.8e} of 64")
assert (short == short[0]).all() and (long == long[0]).all() and short[0] != long[0]
assert rest[0] == long[0] and rest[-1] == short[0]
assert tensors[0][0] == long[0] == tensors[1][0]
PYTHON

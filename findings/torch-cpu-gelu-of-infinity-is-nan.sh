#!/usr/bin/env bash
# torch's gelu of infinity is NaN in float32 and bfloat16 on the CPU, and infinity in float64 and float16.
#
# Seen with torch 2.15.0 (PyPI's wheel for x86-64 Linux), on 2026-11-27. float32 and bfloat16 tensors of any size go to oneDNN, whose formula
# multiplies infinity by zero; 3e38, a finite float32, becomes infinity on the same way. The other types, the tanh approximation, and float32
# with oneDNN switched off (`torch.backends.mkldnn.flags(enabled=False)`) give infinity and 3e38. A kernel that computes
# 0.5 * x * (1 + erf(x / sqrt(2))) in its own type is right at both and differs from torch's.
#
# Output seen (of infinity, and of the large finite number):
#   float32: nan inf
#   bfloat16: nan inf
#   float64: inf 3e+38
#   float16: inf 60000.0
#   float32, tanh: inf 3e+38
#   float32, without oneDNN: inf 3e+38
#
# Exits with 0 while that is so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "torch==2.15.0" "numpy>=2,<3"
"$folder/env/bin/python" - <<'PYTHON'
import math
import warnings

import torch
from torch.nn.functional import gelu

warnings.simplefilter("ignore")
seen = {}


def show(name, made):
    seen[name] = [float(f"{v:.4g}") for v in made.double().tolist()]
    print(f"{name}: {seen[name][0]} {seen[name][1]}")


for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.float16):
    large = 6e4 if dtype == torch.float16 else 3e38
    show(str(dtype).removeprefix("torch."), gelu(torch.tensor([math.inf, large], dtype=dtype)))
x = torch.tensor([math.inf, 3e38])
show("float32, tanh", gelu(x, approximate="tanh"))
with torch.backends.mkldnn.flags(enabled=False):
    show("float32, without oneDNN", gelu(x))
assert all(math.isnan(seen[name][0]) and math.isinf(seen[name][1]) for name in ("float32", "bfloat16"))
assert all(seen[name] == [math.inf, 3e38] for name in ("float64", "float32, tanh", "float32, without oneDNN"))
assert seen["float16"] == [math.inf, 6e4]
PYTHON

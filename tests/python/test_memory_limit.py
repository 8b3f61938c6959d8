"""Host code that asks for more memory than there is: an exception at its line, and the next call works."""

import json
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("resource")

# Statements of endless loops: each keeps what it makes.
GROWING = {
    "cat": "x = torch::cat({x, x});",
    "cat kept": "all.push_back(x); x = torch::cat({x, x});",
    "sort after cat": "x = torch::cat({x, x}); x = std::get<0>(torch::sort(x));",
    "argsort": "all.push_back(torch::argsort(x)); x = torch::cat({x, x});",
    "topk": "x = torch::cat({x, x}); all.push_back(std::get<0>(torch::topk(x, 3)));",
    "unique": "x = torch::cat({x, x + 1}); all.push_back(std::get<0>(torch::_unique(x)));",
    "exp": "x = torch::cat({x, x}); all.push_back(x.exp());",
    "add": "x = torch::cat({x, x}); all.push_back(x + x);",
    "outer": "x = torch::cat({x, x}); all.push_back(torch::outer(x, x));",
    "matmul": "x = torch::cat({x, x}); all.push_back(torch::matmul(x.view({-1, 1}), x.view({1, -1})));",
    "repeat": "all.push_back(x = x.repeat({3}));",
    "gather": "x = torch::cat({x, x}); all.push_back(x.gather(0, torch::arange(x.numel())));",
    "scatter": "x = torch::cat({x, x}); all.push_back(x.scatter(0, torch::arange(x.numel()), x));",
    "index": "x = torch::cat({x, x}); all.push_back(x.index({torch::arange(x.numel())}));",
    "nonzero": "x = torch::cat({x, x + 1}); all.push_back(torch::nonzero(x));",
    "masked_select": "x = torch::cat({x, x}); all.push_back(x.masked_select(x == x));",
    "pad": "x = torch::constant_pad_nd(x, {x.numel(), x.numel()}); all.push_back(x);",
    "where": "x = torch::cat({x, x}); all.push_back(torch::where(x > 0, x, x));",
    "cumsum": "x = torch::cat({x, x}); all.push_back(x.cumsum(0));",
    "softmax": "x = torch::cat({x, x}); all.push_back(torch::softmax(x, 0));",
    "einsum": 'x = torch::cat({x, x}); all.push_back(torch::einsum("i,j->ij", {x, x}));',
    "conv1d": "x = torch::cat({x, x}); all.push_back(torch::conv1d(x.view({1, 1, -1}), torch::ones({64, 1, 1})));",
    "to": "x = torch::cat({x, x}); all.push_back(x.to(torch::kDouble));",
    "small tensors": "all.push_back(torch::zeros({1000}));",
    "small clones": "all.push_back(x.clone());",
    "empty": "all.push_back(torch::empty({1 << 20}));",
    "full": "all.push_back(torch::full({1 << 20}, 2.0));",
    "randn": "all.push_back(torch::randn({1 << 20}));",
    "a vector": "numbers.resize(numbers.size() * 2 + 1);",
    "pushed back": "numbers.push_back(1);",
    "assigned": "numbers.assign(numbers.size() * 2 + 1, 3);",
    "a string": "text += text + \"x\";",
    "strings": "texts.push_back(std::to_string(texts.size()));",
    "new": "new float[1 << 20];",
    "malloc": "if (malloc(1 << 20) == nullptr) throw std::bad_alloc();",
    "a map": "map[map.size()] = 1;",
    "a set": "set.insert(-(long)set.size());",
    "an unordered map": "table.emplace(table.size() * 7919 % 1000003, 1);",
    "vectors of vectors": "nested.push_back(std::vector<int>(1000));",
    "a text as a tensor's name": "text += text + \"x\"; TORCH_WARN(text);",
}

HEAD = """#include <torch/extension.h>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
float next(torch::Tensor x) { return (x + x).sum().item<float>(); }
"""
FUNCTION = """void fNUMBER(torch::Tensor x) {
  std::vector<torch::Tensor> all; std::vector<int> numbers; std::string text; std::vector<std::string> texts;
  std::map<long, long> map; std::set<long> set; std::unordered_map<long, long> table; std::vector<std::vector<int>> nested;
  for (;;) {
    STATEMENT
  }
}
"""
# The line of a function's statement, where its first line is one.
STATEMENT_AT = 5

# Calls one function after the other, each with as much memory beyond what there is, and prints what became of it.
SCRIPT = """
    import json, resource, sys
    import numpy as np
    import workbench as wb

    text, count = sys.argv[1], int(sys.argv[2])
    module = wb.compile(text).with_timeout(2)
    x = np.ones(1000, np.float32)
    module.next(x)
    limit = resource.getrlimit(resource.RLIMIT_AS)
    for i in range(count):
        used = int(open("/proc/self/statm").read().split()[0]) * 4096
        resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), limit[1]))
        try:
            getattr(module, f"f{i}")(x)
            said = ("nothing", "")
        except BaseException as error:
            kinds = [kind for kind in (MemoryError, wb.KernelTimeout, RuntimeError) if isinstance(error, kind)]
            said = ([*kinds, type(error)][0].__name__, str(error))
        again = float(module.next(x))
        resource.setrlimit(resource.RLIMIT_AS, limit)
        print(json.dumps([*said, again]), flush=True)
"""


@pytest.fixture(scope="module")
def ends():
    """The end of each function, as far as the process got."""
    functions = [FUNCTION.replace("NUMBER", str(i)).replace("STATEMENT", s) for i, s in enumerate(GROWING.values())]
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), HEAD + "".join(functions), str(len(functions))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return dict(zip(GROWING, map(json.loads, done.stdout.splitlines()))), done.stderr[-2000:]


@pytest.mark.parametrize("what", GROWING)
def test_what_grows_without_end_is_a_memory_error(ends, what):
    of, error = ends
    assert what in of, f"the process has ended: {error}"
    name, message, again = of[what]
    # A slow function may meet its time limit first; a call may have a limited number of tensors.
    assert name in ["MemoryError", "KernelTimeout"] or "too many" in message, (name, message)
    line = HEAD.count("\n") + FUNCTION.count("\n") * list(GROWING).index(what) + STATEMENT_AT
    assert f":{line}:" in message or f":{line - 1}:" in message, message
    assert again == 2000


UNTOUCHED = """
import resource
import workbench as wb

last = wb.load_inline("untouched", "int last(int64_t n) { return torch::zeros({n}, torch::kByte)[n - 1].item<int>(); }").last
assert last(1 << 10) == 0
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert last(3 << 30) == 0
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is in KiB on Linux")
def test_many_zeros_take_memory_when_they_are_written():
    done = subprocess.run([sys.executable, "-c", UNTOUCHED], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    # MiB, of 3,072.
    assert int(done.stdout) < 256

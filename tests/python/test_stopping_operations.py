"""One operation of host code that takes long: it meets its limit and the user's wish, lets other threads run, and is told of its line."""

import threading
import time

import numpy as np
import pytest
import workbench as wb

# Operations of a second and more each, on the second line of a function of a float matrix of SIDE x SIDE.
SIDE = 3000
LONG = {
    "exp": "x.expand({20, -1, -1}).exp()",
    "add": "x.expand({20, -1, -1}).to(torch::kDouble) + 1",
    "to": "x.expand({20, -1, -1}).to(torch::kHalf)",
    "clone": "x.expand({20, -1, -1}).clone()",
    "fill": "torch::full({20, 3000, 3000}, 2.5)",
    "random": "torch::randn({20, 3000, 3000})",
    "arange": "torch::arange(200000000)",
    "matmul": "torch::matmul(x, x)",
    "a product of few rows": "torch::matmul(x.expand({60, -1, -1}), x.select(1, 0))",
    "conv2d": "torch::conv2d(x.view({1, 1, 3000, 3000}), torch::ones({4, 1, 5, 5}))",
    "sort": "std::get<0>(torch::sort(x.view(-1)))",
    "unique": "std::get<0>(torch::_unique(x.view(-1)))",
    "cumsum": "x.expand({20, -1, -1}).cumsum(0)",
    "sum": "x.expand({20, -1, -1}).sum()",
    "var": "x.expand({20, -1, -1}).var()",
    "max": "std::get<0>(x.expand({20, -1, -1}).max(0))",
    "softmax": "torch::softmax(x.expand({10, -1, -1}), 2)",
    "cat": "torch::cat({x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x})",
    "where": "torch::where(x.expand({20, -1, -1}) > 0, x, x)",
    "nonzero": "torch::nonzero(x.expand({10, -1, -1}))",
    "index": "x.index({torch::zeros({20000}, torch::kLong)})",
    "index_select": "x.index_select(0, torch::zeros({60000}, torch::kLong))",
    "gather": "x.gather(0, torch::zeros({3000, 3000}, torch::kLong).expand({3000, 3000})) + x.repeat({8, 2})",
    "repeat": "x.repeat({8, 2})",
    "flip": "x.expand({20, -1, -1}).flip({0})",
    "tril": "x.expand({20, -1, -1}).tril()",
    "einsum": 'torch::einsum("ij,jk->ik", {x, x})',
    "an einsum with a label twice": 'torch::einsum("ii,jk->ijk", {x.slice(0, 0, 500).slice(1, 0, 500), x.slice(0, 0, 100)})',
    "topk": "std::get<0>(x.expand({20, -1, -1}).reshape({-1}).topk(5, 0))",
    "sort along the first dimension": "std::get<0>(torch::sort(x.expand({4, -1, -1}), 1))",
    "scatter_add": "x.expand({20, -1, -1}).scatter_add(0, torch::zeros({3000, 3000}, torch::kLong).expand({20, -1, -1}), x.expand({20, -1, -1}))",
}

WAITS = {
    "sleep_for": "std::this_thread::sleep_for(std::chrono::seconds(100));",
    "usleep": "usleep(100000000);",
    "a vector": "std::vector<int> v(1 << 28); v.assign(1 << 28, 3); for (;;) std::fill(v.begin(), v.end(), 4);",
    "empty memory": "for (;;) torch::empty({1 << 28});",
}


MATRIX = np.random.default_rng(1).standard_normal((SIDE, SIDE), dtype=np.float32)


@pytest.fixture(scope="module")
def module():
    lines = []
    for i, expression in enumerate(LONG.values()):
        lines.append(f"torch::Tensor f{i}(torch::Tensor x) {{\n  return {expression};\n}}")
    for i, statement in enumerate(WAITS.values()):
        lines.append(f"void w{i}() {{\n  {statement}\n}}")
    text = "#include <torch/extension.h>\n#include <chrono>\n#include <thread>\n#include <unistd.h>\n"
    return wb.compile(text + "\n".join(lines))


CASES = [(f"f{i}", name) for i, name in enumerate(LONG)] + [(f"w{i}", name) for i, name in enumerate(WAITS)]


def call(function):
    return function(MATRIX) if function.__name__.startswith("f") else function()


def line_of(name):
    """The line of the function's only statement: four lines of includes come before the first."""
    order = [function for function, _ in CASES]
    return 4 + 3 * order.index(name) + 2


@pytest.mark.parametrize("name", [name for name, _ in CASES], ids=[what for _, what in CASES])
def test_an_operation_meets_its_limit(module, name):
    function = getattr(module.with_timeout(0.1), name)
    begun = time.process_time()
    with pytest.raises(wb.KernelTimeout) as caught:
        call(function)
    # Processor time, which other processes do not affect.
    assert time.process_time() - begun < 1
    assert f":{line_of(name)}:" in str(caught.value), caught.value


@pytest.mark.parametrize("name", [name for name, _ in CASES], ids=[what for _, what in CASES])
def test_an_operation_is_interrupted_by_another_thread(module, name):
    """The other thread runs at all: the operation does not hold the interpreter."""
    function, asked = getattr(module, name), []

    def ask():
        asked.append(time.process_time())
        wb.interrupt()

    timer = threading.Timer(0.15, ask)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call(function)
    timer.join()
    assert time.process_time() - asked[0] < 0.5


# Operations that make a list of a billion tensors, of a view that takes no memory.
PARTS = {
    "split": "x.split(1)",
    "split_with_sizes": "x.split_with_sizes(std::vector<int64_t>(1000000000, 1))",
    "chunk": "x.chunk(1000000000)",
    "unbind": "x.unbind()",
    "tensor_split": "torch::tensor_split(x, 1000000000)",
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS.keys())
def test_a_list_of_a_billion_tensors_meets_its_limit(parts):
    text = f"#include <torch/extension.h>\nint64_t f() {{ torch::Tensor x = torch::zeros({{1}}).expand({{1000000000}});\n  return {parts}.size(); }}"
    f = wb.compile(text).with_timeout(0.1).f
    begun = time.process_time()
    # Some machines have no memory for so long a list, and say so at once.
    with pytest.raises((wb.KernelTimeout, MemoryError)) as caught:
        f()
    assert time.process_time() - begun < 1
    assert "<kernel>:3:" in str(caught.value), caught.value


def test_host_code_that_keeps_variables_runs_in_one_thread_at_a_time():
    # As under the GIL, which a C++ function holds: no increment is lost.
    text = """#include <torch/extension.h>
    static long calls = 0;
    int64_t count(int64_t n) { for (int64_t i = 0; i < n; i++) calls++; return calls; }
    int64_t ask(py::object f) { calls++; int64_t before = calls; f(); return calls - before; }
    """
    module = wb.load_inline("turns", cpp_sources=text, functions=["count", "ask"])
    threads = [threading.Thread(target=lambda: [module.count(1000) for _ in range(100)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert module.count(0) == 8 * 100 * 1000

    def other():
        thread = threading.Thread(target=module.count, args=(5,))
        thread.start()
        thread.join()
        return module.count(2)

    # Python lets others run, and may call the module again.
    assert module.ask(other) == 7

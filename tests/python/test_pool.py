"""Memory of large results: reused when they go, and never before."""

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench import _workbench

try:
    from numpy._core.multiarray import get_handler_name
except ImportError:
    from numpy.core.multiarray import get_handler_name

#: 8 MiB, in floats.
N = 2 << 20


def make_fill():
    text = "__global__ void fill(float c, float* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = c + i % 7; }"
    return wb.op("pool::fill(float c, int n) -> Tensor", text, shape="-> out[n]")


@pytest.fixture(scope="module")
def fill():
    return make_fill()


def expected(c, n=N):
    return (c + np.arange(n) % 7).astype(np.float32)


def address(array):
    return array.__array_interface__["data"][0]


def test_the_memory_of_a_result_that_went_is_used_again(fill):
    first = fill(1.0, N)
    assert get_handler_name(first) == "workbench" and first.flags.owndata and first.flags.writeable
    where = address(first)
    del first
    second = fill(2.0, N)
    assert address(second) == where and (second == expected(2)).all()


def test_living_results_share_nothing(fill):
    views = [fill(float(c), N)[5:] for c in range(4)]
    for c, view in enumerate(views):
        assert (view == expected(c)[5:]).all()
    kept = views[1][::2]
    del views
    more = [fill(9.0, N) for _ in range(6)]
    assert (kept == expected(1)[5::2]).all() and all((m == expected(9)).all() for m in more)


def test_nobody_else_gets_it(fill):
    fill(1.0, N)
    assert get_handler_name(np.empty(N, np.float32)) == "default_allocator"
    # Small results are NumPy's own.
    assert get_handler_name(fill(1.0, 10)) == "default_allocator"


def test_nobody_else_gets_it_where_there_is_no_memory():
    code = """
import resource
import numpy as np, workbench as wb
from test_pool import N, expected, get_handler_name, make_fill
fill = make_fill()
fill(1.0, 10)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20),) * 2)
try: fill(1.0, 1 << 28)
except MemoryError: print("none")
print(get_handler_name(np.empty(N, np.float32)), bool((fill(3.0, N) == expected(3)).all()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=Path(__file__).parent)
    assert done.stdout.split() == ["none", "default_allocator", "True"], done.stderr


def test_results_are_resized_and_pickled_as_any_array(fill):
    y = fill(1.0, N)
    y.resize(2 * N, refcheck=False)
    assert (y[:N] == expected(1)).all() and (y[N:] == 0).all()
    y.resize(100, refcheck=False)
    assert (y == expected(1)[:100]).all()
    y = fill(2.0, N)
    assert (pickle.loads(pickle.dumps(y)) == y).all() and (np.copy(y) == y).all()


def test_what_is_kept_is_bounded(fill):
    many = [fill(1.0, 4 * N) for _ in range(24)]
    del many
    assert 0 < _workbench.pooled_bytes() <= 512 << 20


def test_a_much_larger_block_is_not_taken_for_a_small_result(fill):
    large = fill(1.0, 16 * N)
    where = address(large)
    del large
    small = fill(2.0, N)
    assert address(small) != where and (small == expected(2)).all()


def test_threads_get_their_own(fill):
    wrong = []

    def work(c):
        for k in range(20):
            y = fill(float(c), N + 3 * k)
            if not (y == expected(c, N + 3 * k)).all():
                wrong.append((c, k))

    threads = [threading.Thread(target=work, args=(c,)) for c in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_results_outlive_the_interpreters_end():
    code = (
        "import workbench as wb, sys\n"
        "op = wb.op('pool::ones(int n) -> Tensor', '__global__ void ones(float* out, int n) "
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 1; }', shape='-> out[n]')\n"
        "sys.kept = op(3 << 20); kept = op(2 << 20); op(2 << 20); print(int(kept.sum() + sys.kept.sum()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, str(5 << 20)), done.stderr

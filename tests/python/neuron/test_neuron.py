"""Custom C++ operators as they are written for AWS Neuron: libraries of shape functions and kernels, built, loaded, called on arrays."""

from __future__ import annotations

import doctest
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import workbench as wb
from workbench.neuron import custom_op

HERE = pathlib.Path(__file__).parent

# A NeuronCore's GPSIMD engine has as many cores.
CORES = 8

# Exceptions for calls whose arguments do not fit; these tests do not distinguish them.
REFUSED = (TypeError, ValueError, RuntimeError, wb.ArgumentError)

SIZES = [(1, 1), (3, 7), (120, 84), (37, 129), (1, 2049), (0, 5)]

COMPUTE = """
#include <stdint.h>
#include <stdlib.h>
#include <torch/torch.h>
#include <neuron/neuron-utils.hpp>
"""

SHAPE = """
#include <stdint.h>
#include <stdlib.h>
#include <torch/torch.h>
#include "torchneuron/register.h"
torch::Tensor same(torch::Tensor t_in) { return torch::zeros(t_in.sizes(), torch::kFloat); }
"""


def folder(name: str, compute: list[str], to: pathlib.Path, **options) -> pathlib.Path:
    """Builds and loads one of the folders beside this file; where its library is."""
    custom_op.load(
        name=name,
        compute_srcs=[str(HERE / name / source) for source in compute],
        shape_srcs=[str(HERE / name / "shape.cpp")],
        build_directory=str(to),
        **options,
    )
    return to / f"lib{name}.so"


@pytest.fixture(scope="module")
def relu(tmp_path_factory):
    return folder("relu", ["relu.cpp"], tmp_path_factory.mktemp("relu"), multicore=False, verbose=True)


@pytest.fixture(scope="module")
def mlp(tmp_path_factory):
    return folder("mlp_perf", ["relu_tcm.cpp", "relu_stream.cpp"], tmp_path_factory.mktemp("mlp"))


@pytest.fixture(scope="module")
def cores(tmp_path_factory):
    return folder("multicore", ["add.cpp"], tmp_path_factory.mktemp("cores"), multicore=True)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return folder("many", ["ops.cpp"], tmp_path_factory.mktemp("many"))


@pytest.fixture
def printing(monkeypatch):
    """The settings with which Neuron's runtime shows the output of operators."""
    monkeypatch.setenv("NEURON_RT_LOG_LEVEL", "INFO")
    monkeypatch.setenv("NEURON_RT_GPSIMD_STDOUT_QUEUE_SIZE_BYTES", "131072")


def normal(rng, *shape) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def close(got, expected, rtol=1e-5, atol=1e-6):
    got = np.asarray(got)
    assert got.dtype == np.asarray(expected).dtype and got.shape == np.asarray(expected).shape
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


def write(to: pathlib.Path, compute: str, shape: str) -> dict:
    """Two sources of a test's own, as arguments of `load`."""
    (to / "kernel.cpp").write_text(COMPUTE + compute)
    (to / "shape.cpp").write_text(SHAPE + shape)
    return {
        "compute_srcs": [str(to / "kernel.cpp")],
        "shape_srcs": [str(to / "shape.cpp")],
        "build_directory": str(to),
    }


def python(code: str, *arguments, cwd=None) -> str:
    """The output of a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# Element-wise accessors.


@pytest.mark.parametrize("shape", SIZES)
def test_relu(relu, rng, shape):
    x, grad = normal(rng, *shape), normal(rng, *shape)
    kept = x.copy()
    y = wb.ops.my_ops.relu_forward(x)
    close(y, np.maximum(x, 0), rtol=0, atol=0)
    close(wb.ops.my_ops.relu_backward(grad, x), np.where(x > 0, grad, np.float32(0)), rtol=0, atol=0)
    assert (x == kept).all() and not np.shares_memory(x, y)


def test_relu_of_edges(relu):
    x = np.array([[0.0, -0.0, np.inf, -np.inf, 1e-40, -1e-40, 3.4e38]], np.float32)
    close(wb.ops.my_ops.relu_forward(x), np.array([[0, 0, np.inf, 0, 1e-40, 0, 3.4e38]], np.float32), rtol=0, atol=0)


def test_relu_of_columns_and_steps(relu, rng):
    x = normal(rng, 9, 14)
    for view in (x.T, x[::2, ::3], x[1:], x[:, 3:5]):
        close(wb.ops.my_ops.relu_forward(view), np.maximum(view, 0), rtol=0, atol=0)
        close(wb.ops.my_ops.relu_backward(view, view), np.maximum(view, 0), rtol=0, atol=0)


def test_a_perceptron_trains(relu, rng):
    """The tutorial's model, small and by hand: its gradient is the one that differences give, and its loss falls."""
    ops = wb.ops.my_ops
    x, wanted = normal(rng, 33, 12), normal(rng, 33, 3)
    weights = [normal(rng, 12, 17) / 4, normal(rng, 17, 9) / 4, normal(rng, 9, 3) / 4]

    def loss(w):
        h = np.maximum(np.maximum(x.astype(np.float64) @ w[0], 0) @ w[1], 0)
        return ((h @ w[2] - wanted) ** 2).sum() / 2

    def step(w, rate):
        f1 = x @ w[0]
        r1 = ops.relu_forward(f1)
        f2 = r1 @ w[1]
        r2 = ops.relu_forward(f2)
        g3 = r2 @ w[2] - wanted
        g2 = ops.relu_backward(g3 @ w[2].T, f2)
        g1 = ops.relu_backward(g2 @ w[1].T, f1)
        gradients = [x.T @ g1, r1.T @ g2, r2.T @ g3]
        return gradients, [a - np.float32(rate) * g for a, g in zip(w, gradients)]

    gradients, _ = step(weights, 0)
    for layer, at in ((0, (3, 4)), (1, (16, 0)), (2, (5, 2))):
        sides = []
        for h in (1e-4, -1e-4):
            moved = [w.astype(np.float64) for w in weights]
            moved[layer][at] += h
            sides.append(loss(moved))
        np.testing.assert_allclose(gradients[layer][at], (sides[0] - sides[1]) / 2e-4, rtol=1e-4, atol=1e-5)  # sums of 33 products of floats
    first = loss(weights)
    for _ in range(50):
        _, weights = step(weights, 1e-3)
    assert loss(weights) < 0.8 * first


# Accessors through tightly coupled memory, and streams.


@pytest.mark.parametrize("shape", [(1,), (1023,), (1024,), (1025,), (3000,), (37, 129), (2, 3, 5, 7), (0, 5)])
@pytest.mark.parametrize("name", ["relu_tcm", "relu_stream"])
def test_other_accessors(mlp, rng, name, shape):
    x = normal(rng, *shape)
    close(getattr(wb.ops.mlp_ops, name)(x), np.maximum(x, 0), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["relu_tcm", "relu_stream"])
def test_other_accessors_go_over_elements_in_their_order(mlp, rng, name):
    """Tensors are indexed as if they were flattened, whatever lies between their elements in memory."""
    x = normal(rng, 41, 57)
    for view in (x.T, x[::2, ::3], x[3:, 1::2].T):
        close(getattr(wb.ops.mlp_ops, name)(view), np.maximum(view, 0), rtol=0, atol=0)


def test_two_buffers(mlp, rng):
    for count in (1, 2, 299, 300, 301, 1000):
        x = normal(rng, count)
        close(wb.ops.mlp_ops.fold_tcm(x), x + x[::-1], rtol=1e-6)


def test_streams(mlp, rng):
    for count in (1, 5, 1024, 2500):
        x, grad = normal(rng, count), normal(rng, count)
        close(wb.ops.mlp_ops.relu_grad_stream(grad, x), np.where(x > 0, grad, np.float32(0)), rtol=0, atol=0)
        sums = np.cumsum(x, dtype=np.float32)
        close(wb.ops.mlp_ops.running_mean_stream(x), sums / np.arange(1, count + 1, dtype=np.float32), rtol=1e-4, atol=1e-5)


def test_the_pool_of_tcm_has_16_kb(mlp):
    wanted = np.array([4, 4096, 8192, 65536, 1 << 20, 8192], np.int32)
    assert wb.ops.mlp_ops.tcm_fits(wanted).tolist() == [1, 1, 1, 0, 0, 1]


def test_a_stream_of_what_is_being_written_is_refused(mlp, rng):
    x = normal(rng, 100)
    with pytest.raises(RuntimeError, match="another stream is open to write"):
        wb.ops.mlp_ops.stream_conflict(x, 0.0)
    close(wb.ops.mlp_ops.stream_conflict(x, 1.0), x, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["tcm_overrun", "stream_overrun"])
def test_beyond_the_end(mlp, rng, name):
    """Neuron calls it undefined; here it is seen, and what was lent out is there again."""
    x = normal(rng, 1500)
    for _ in range(5):
        with pytest.raises(IndexError, match="elements 0 to 1501 of a tensor of 1500|read past its end"):
            getattr(wb.ops.mlp_ops, name)(x)
    close(wb.ops.mlp_ops.relu_tcm(x), np.maximum(x, 0), rtol=0, atol=0)
    close(wb.ops.mlp_ops.relu_stream(x), np.maximum(x, 0), rtol=0, atol=0)


# Several cores.


@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (7,), (8,), (9,), (1001,), (37, 129), (5, 3, 2, 11), (100003,)])
def test_cores_add(cores, rng, shape):
    a, b = normal(rng, *shape), normal(rng, *shape)
    close(wb.ops.core_ops.add(a, b), a + b, rtol=0, atol=0)
    close(wb.ops.core_ops.negate(a), -a, rtol=0, atol=0)


def test_every_core_has_its_part(cores, printing, capfd):
    for count in (1, 5, 8, 61, 800):
        pairs = wb.ops.core_ops.core_ids(np.zeros(count, np.float32))
        assert pairs.shape == (count, 2) and pairs.dtype == np.int32
        assert (pairs[:, 1] == CORES).all()
        each = -(-count // CORES)
        assert pairs[:, 0].tolist() == [i // each for i in range(count)]
        assert f"core 0 of {CORES} wrote {each} pairs" in capfd.readouterr().out


def test_a_shape_function_refuses(cores, rng):
    with pytest.raises(RuntimeError, match=r"two tensors of one shape, not \[3\] and \[4\]"):
        wb.ops.core_ops.add(normal(rng, 3), normal(rng, 4))


def test_one_core_has_a_destination_too(tmp_path, rng):
    sources = write(
        tmp_path,
        """
        torch::Tensor twice(const torch::Tensor& t_in) {
          torch::Tensor t_out = get_dst_tensor();
          auto in = t_in.accessor<float, 1>();
          auto out = t_out.accessor<float, 1>();
          for (int64_t i = 0; i < t_in.numel(); i++) out[i] = 2.0f * in[i];
          return t_in;
        }
        """,
        'NEURON_LIBRARY(destination_ops, m) { m.def("twice", &same, "twice"); }',
    )
    custom_op.load(name="destination", **sources)
    x = normal(rng, 77)
    kept = x.copy()
    close(wb.ops.destination_ops.twice(x), 2 * x, rtol=0, atol=0)
    assert (x == kept).all()


# Many operators.


def test_fifteen_operators(many, rng):
    ops = wb.ops.many_ops
    a, b = normal(rng, 23), normal(rng, 23)
    x = normal(rng, 11, 6)
    close(ops.negate(a), -a, rtol=0, atol=0)
    close(ops.magnitude(x), np.abs(x), rtol=0, atol=0)
    close(ops.soft(x), np.log1p(np.exp(x)), rtol=1e-5)
    close(ops.scale(x, -2.5), np.float32(-2.5) * x)
    close(ops.scale(x, 3), 3 * x)
    i = rng.integers(-1000, 1000, 23).astype(np.int32)
    for by in (0, 1, -1, 22, -100):
        assert ops.shift(i, by).tolist() == np.roll(i, by).tolist()
    close(ops.limit(x, -0.5, 0.25), np.clip(x, np.float32(-0.5), np.float32(0.25)), rtol=0, atol=0)
    close(ops.limit(x, -1, 1), np.clip(x, np.float32(-1), np.float32(1)), rtol=0, atol=0)
    close(ops.weighted_sum(a, b, 0.5), a + np.float32(0.5) * b)
    close(ops.ratio(a, b), (a - 2 * b) / b, rtol=1e-4, atol=1e-5)
    close(ops.power_of(2.0, x), np.float32(2) ** x, rtol=1e-5)
    close(ops.circle(x), np.ones_like(x), rtol=1e-5)
    j = rng.integers(-(2**31), 2**31, 23).astype(np.int32)
    assert ops.bit_mix(i, j).tolist() == (i ^ j).tolist()
    close(ops.unit_like(x), np.eye(11, 6, dtype=np.float32), rtol=0, atol=0)
    close(ops.row_sums(x), x.sum(1), rtol=1e-4, atol=1e-5)
    y = normal(rng, 6, 9)
    close(ops.matmul(x, y), x @ y, rtol=1e-4, atol=1e-5)
    close(ops.transpose(x), x.T, rtol=0, atol=0)
    with pytest.raises(RuntimeError, match=r"matmul of \[11, 6\] and \[11, 6\]"):
        ops.matmul(x, x)


def test_more_than_one_tensor(many, rng):
    ops = wb.ops.more_ops
    for count in (2, 7, 100):
        x = normal(rng, count)
        low, high = ops.halves(x)
        close(low, x[: count // 2], rtol=0, atol=0)
        close(high, x[count // 2 :], rtol=0, atol=0)
    x = normal(rng, 13, 37)
    mean, var = ops.mean_and_var(x)
    close(mean, x.mean(1), rtol=1e-4, atol=1e-5)
    close(var, x.var(1, keepdims=True), rtol=1e-4, atol=1e-5)
    parts = [normal(rng, 19) for _ in range(4)]
    close(ops.stack_sum(parts), parts[0] + parts[1] + parts[2] + parts[3])
    close(ops.quiet_negate(parts[0]), -parts[0], rtol=0, atol=0)


def test_printf(many, printing, capfd):
    x = np.array([1.5, -2.0, 0.25], np.float32)
    close(wb.ops.more_ops.loud_negate(x), -x, rtol=0, atol=0)
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("element")]
    assert lines == ["element 0 is -1.500000 now", "element 1 is 2.000000 now", "element 2 is -0.250000 now"]


# Errors.


def test_arguments_that_do_not_fit(relu, many, rng):
    x = normal(rng, 4, 5)
    for call in (
        lambda: wb.ops.my_ops.relu_forward(),
        lambda: wb.ops.my_ops.relu_forward(x, x),
        lambda: wb.ops.my_ops.relu_backward(x),
        lambda: wb.ops.my_ops.relu_forward("x"),
        lambda: wb.ops.my_ops.relu_forward(None),
        lambda: wb.ops.my_ops.relu_forward(x.astype(np.float64)),  # accessor<float, 2>
        lambda: wb.ops.my_ops.relu_forward(x[0]),
        lambda: wb.ops.my_ops.relu_forward(x[None]),
        lambda: wb.ops.many_ops.scale(x, "2"),
        lambda: wb.ops.many_ops.scale(x, x),
        lambda: wb.ops.many_ops.shift(np.arange(5, dtype=np.int32), 1.5),
        lambda: wb.ops.many_ops.limit(x, None, 1),
        lambda: wb.ops.more_ops.stack_sum(5),
        lambda: wb.ops.more_ops.stack_sum([x[0], "x"]),
    ):
        with pytest.raises(REFUSED):
            call()
    close(wb.ops.my_ops.relu_forward(x), np.maximum(x, 0), rtol=0, atol=0)


def test_no_such_operator(relu):
    assert hasattr(wb.ops.my_ops, "relu_forward")
    with pytest.raises(AttributeError):
        _ = wb.ops.my_ops.relu_sideways


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("torch::zeros({t_in.numel()}, torch::kFloat)", "float32 [15]"),
        ("torch::zeros({3, 5}, torch::kFloat)", "float32 [3, 5]"),
        ("torch::zeros({5, 3, 1}, torch::kFloat)", "float32 [5, 3, 1]"),
        ("torch::zeros({5, 3}, torch::kInt)", "int32 [5, 3]"),
    ],
)
def test_a_kernel_returns_what_its_shape_function_did_not_say(tmp_path, rng, result, says):
    sources = write(
        tmp_path,
        f"torch::Tensor other(const torch::Tensor& t_in) {{ return {result}; }}",
        'NEURON_LIBRARY(disagree_ops, m) { m.def("disagree", &same, "other"); }',
    )
    custom_op.load(name="disagree", **sources)
    with pytest.raises(RuntimeError) as caught:
        wb.ops.disagree_ops.disagree(normal(rng, 5, 3))
    assert f"gave {says}, and the shape function `disagree` said float32 [5, 3]" in str(caught.value)


def test_a_kernel_raises(tmp_path, rng):
    sources = write(
        tmp_path,
        """
        torch::Tensor picky(const torch::Tensor& t_in, double most) {
          auto in = t_in.accessor<float, 1>();
          for (int64_t i = 0; i < t_in.numel(); i++) TORCH_CHECK(in[i] <= most, "element ", i, " is beyond ", most);
          torch::Tensor t = t_in;
          return torch::abs(t);
        }
        """,
        """
        torch::Tensor picky_shape(torch::Tensor t_in, double most) { return same(t_in); }
        NEURON_LIBRARY(picky_ops, m) { m.def("picky", &picky_shape, "picky"); }
        """,
    )
    custom_op.load(name="picky", **sources)
    x = np.array([1, -2, 3], np.float32)
    close(wb.ops.picky_ops.picky(x, 3.0), np.abs(x), rtol=0, atol=0)
    with pytest.raises(RuntimeError, match=r"element 2 is beyond 2\.5"):
        wb.ops.picky_ops.picky(x, 2.5)


KERNEL = """
torch::Tensor kernel(const torch::Tensor& t_in) {
  torch::Tensor t = t_in;
  return torch::abs(t);
}
"""


def test_a_name_that_no_kernel_has(tmp_path):
    sources = write(tmp_path, KERNEL, 'NEURON_LIBRARY(nameless_ops, m) { m.def("op", &same, "no_such_kernel"); }')
    with pytest.raises(wb.ArgumentError, match="unknown name `no_such_kernel` in the compute sources"):
        custom_op.load(name="nameless", **sources)


def test_a_name_that_is_no_file_name(tmp_path):
    sources = write(tmp_path, KERNEL, 'NEURON_LIBRARY(folder_ops, m) { m.def("op", &same, "kernel"); }')
    with pytest.raises(wb.ArgumentError, match="no folders in it"):
        custom_op.load(name="a/b", **sources)
    assert not hasattr(wb.ops.folder_ops, "op")


def test_a_name_that_is_reserved(tmp_path):
    sources = write(tmp_path, KERNEL, 'NEURON_LIBRARY(builtin_ops, m) { m.def("op", &same, "kernel"); }')
    with pytest.raises(wb.ArgumentError, match="the name `builtin` is reserved"):
        custom_op.load(name="builtin", **sources)


def test_sources_that_do_not_compile(tmp_path):
    good = 'NEURON_LIBRARY(broken_ops, m) { m.def("op", &same, "kernel"); }'
    for compute, shape, file in (
        ("torch::Tensor kernel(const torch::Tensor& t_in) { return missing; }", good, "kernel.cpp"),
        (KERNEL, good.replace("&same", "&missing"), "shape.cpp"),
    ):
        sources = write(tmp_path, compute, shape)
        with pytest.raises(wb.CompileError) as caught:
            custom_op.load(name="broken", **sources)
        assert "missing" in str(caught.value) and file in str(caught.value)
    custom_op.load(name="broken", **write(tmp_path, KERNEL, good))
    assert wb.ops.broken_ops.op(np.full(3, -1, np.float32)).tolist() == [1, 1, 1]


def test_files_that_are_not_there(tmp_path):
    sources = write(tmp_path, KERNEL, 'NEURON_LIBRARY(absent_ops, m) { m.def("op", &same, "kernel"); }')
    with pytest.raises(OSError):
        custom_op.load(name="absent", **{**sources, "compute_srcs": [str(tmp_path / "absent.cpp")]})
    with pytest.raises(OSError):
        custom_op.load_library(str(tmp_path / "libabsent.so"))
    (tmp_path / "libtext.so").write_text("not a library")
    with pytest.raises((OSError, RuntimeError, ValueError)):
        custom_op.load_library(str(tmp_path / "libtext.so"))


# Libraries on disk.

CALL = """
    import sys
    import numpy as np
    import workbench as wb
    from workbench.neuron import custom_op
    custom_op.load_library(sys.argv[1])
    x = np.array([[-1.5, 2.5, 0.0]], np.float32)
    print(wb.ops.my_ops.relu_forward(x).tolist(), wb.ops.my_ops.relu_backward(x + 10, x).tolist())
"""


def test_a_library_is_loaded_in_another_process(relu):
    assert relu.is_file()
    assert python(CALL, relu) == "[[0.0, 2.5, 0.0]] [[0.0, 12.5, 0.0]]"
    # By a name that is looked up where the process is.
    assert python(CALL, relu.name, cwd=relu.parent) == "[[0.0, 2.5, 0.0]] [[0.0, 12.5, 0.0]]"


def test_a_library_needs_its_sources_no_more(tmp_path):
    sources = tmp_path / "sources"
    shutil.copytree(HERE / "relu", sources)
    built = tmp_path / "built"
    built.mkdir()
    custom_op.load(
        name="relu",
        compute_srcs=[str(sources / "relu.cpp")],
        shape_srcs=[str(sources / "shape.cpp")],
        build_directory=str(built),
    )
    shutil.rmtree(sources)
    elsewhere = tmp_path / "elsewhere" / "libother.so"
    elsewhere.parent.mkdir()
    shutil.move(built / "librelu.so", elsewhere)
    shutil.rmtree(built)
    # A loaded library stays.
    assert wb.ops.my_ops.relu_forward(np.array([[-1, 2]], np.float32)).tolist() == [[0, 2]]
    assert python(CALL, elsewhere) == "[[0.0, 2.5, 0.0]] [[0.0, 12.5, 0.0]]"


def test_several_cores_in_another_process(cores):
    code = """
        import sys
        import numpy as np
        import workbench as wb
        from workbench.neuron import custom_op
        custom_op.load_library(sys.argv[1])
        x = np.arange(1001, dtype=np.float32)
        print(bool((wb.ops.core_ops.add(x, x) == 2 * x).all()), int(wb.ops.core_ops.core_ids(x)[:, 0].max()))
    """
    assert python(code, cores).splitlines()[-1] == f"True {CORES - 1}"


def test_a_library_is_built_in_another_process(tmp_path, rng):
    code = """
        import os, sys
        from workbench.neuron import custom_op
        custom_op.load(name="away", compute_srcs=["kernel.cpp"], shape_srcs=["shape.cpp"], build_directory=os.getcwd())
    """
    write(tmp_path, KERNEL, 'NEURON_LIBRARY(away_ops, m) { m.def("op", &same, "kernel"); }')
    python(code, cwd=tmp_path)
    custom_op.load_library(str(tmp_path / "libaway.so"))
    x = normal(rng, 9)
    close(wb.ops.away_ops.op(x), np.abs(x), rtol=0, atol=0)


def test_paths_are_those_of_the_working_directory(tmp_path, monkeypatch, rng):
    write(tmp_path, KERNEL, 'NEURON_LIBRARY(here_ops, m) { m.def("op", &same, "kernel"); }')
    monkeypatch.chdir(tmp_path)
    custom_op.load(name="here", compute_srcs=["kernel.cpp"], shape_srcs=["./shape.cpp"], build_directory=os.getcwd())
    assert (tmp_path / "libhere.so").is_file()
    x = normal(rng, 9)
    close(wb.ops.here_ops.op(x), np.abs(x), rtol=0, atol=0)


def test_without_a_directory_to_build_in(tmp_path, rng):
    sources = write(tmp_path, KERNEL, 'NEURON_LIBRARY(somewhere_ops, m) { m.def("op", &same, "kernel"); }')
    del sources["build_directory"]
    custom_op.load(name="somewhere", **sources, multicore=False)
    x = normal(rng, 9)
    close(wb.ops.somewhere_ops.op(x), np.abs(x), rtol=0, atol=0)


def test_a_library_that_is_built_again_runs_the_new_code(tmp_path):
    code = """
        import sys
        import numpy as np
        import workbench as wb
        from workbench.neuron import custom_op
        custom_op.load_library(sys.argv[1])
        print(wb.ops.again_ops.raised(np.zeros(2, np.float32)).tolist())
    """
    shape = 'NEURON_LIBRARY(again_ops, m) { m.def("raised", &same, "raised"); }'
    for by in (1, 2, 30):
        sources = write(
            tmp_path, f"torch::Tensor raised(const torch::Tensor& t_in) {{ return torch::add(t_in, {by}.0); }}", shape
        )
        custom_op.load(name="again", **sources)
        assert wb.ops.again_ops.raised(np.zeros(2, np.float32)).tolist() == [by, by]
        assert python(code, tmp_path / "libagain.so") == f"[{by}.0, {by}.0]"
    # Operators come and go with the shape function's source.
    sources = write(
        tmp_path,
        "torch::Tensor lowered(const torch::Tensor& t_in) { return torch::sub(t_in, torch::ones(t_in.sizes(), torch::kFloat)); }",
        'NEURON_LIBRARY(again_ops, m) { m.def("lowered", &same, "lowered"); }',
    )
    custom_op.load(name="again", **sources)
    assert wb.ops.again_ops.lowered(np.zeros(2, np.float32)).tolist() == [-1, -1]


def test_a_header_beside_a_source(tmp_path):
    for factor in (3, 4):
        (tmp_path / "factor.h").write_text(f"#pragma once\n#define FACTOR {factor}.0\n")
        sources = write(
            tmp_path,
            '#include "factor.h"\ntorch::Tensor times(const torch::Tensor& t_in) { return torch::mul(t_in, FACTOR); }',
            'NEURON_LIBRARY(header_ops, m) { m.def("times", &same, "times"); }',
        )
        custom_op.load(name="header", **sources)
        assert wb.ops.header_ops.times(np.ones(2, np.float32)).tolist() == [factor, factor]


def test_flags(tmp_path):
    sources = write(
        tmp_path,
        """
        #ifndef FACTOR
        #define FACTOR 1.0f
        #endif
        torch::Tensor times(const torch::Tensor& t_in) {
          float local[3000];  // more than the stack that an operator has without STACK_SIZE
          torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
          auto in = t_in.accessor<float, 1>();
          auto out = t_out.accessor<float, 1>();
          for (int64_t i = 0; i < t_in.numel(); i++) local[i % 3000] = FACTOR * in[i];
          for (int64_t i = 0; i < t_in.numel(); i++) out[i] = local[i];
          return t_out;
        }
        """,
        'NEURON_LIBRARY(flag_ops, m) { m.def("times", &same, "times"); }',
    )
    custom_op.load(name="flags", **sources, extra_cflags=["-DSTACK_SIZE=20000", "-DFACTOR=2.5f"], verbose=False)
    x = np.arange(2000, dtype=np.float32)
    close(wb.ops.flag_ops.times(x), 2.5 * x, rtol=0, atol=0)
    custom_op.load(name="flags", **sources, extra_cflags=["-DSTACK_SIZE=20000"])
    close(wb.ops.flag_ops.times(x), x, rtol=0, atol=0)


def test_examples_run():
    module = importlib.import_module("workbench.neuron.custom_op")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0 and result.failed == 0

"""Structs by value and tensor accessors: members from dicts and sequences, arrays behind their pointers."""

import numpy as np
import pytest

import workbench as wb

TEXT = """
struct Inner { short s; double d; };
struct P { int count; const float* x; float* out[2]; Inner inner; float weights[3]; bool negate; };
__global__ void run(const P p, int shift) {
    int i = threadIdx.x;
    if (i >= p.count) return;
    float v = p.x[i + shift] * p.weights[i % 3] + (float)p.inner.d + p.inner.s;
    p.out[i & 1][i / 2] = p.negate ? -v : v;
}
"""


@pytest.fixture(scope="module")
def run():
    return wb.compile(TEXT).run


@pytest.fixture
def members():
    return {
        "count": 5,
        "x": np.arange(1, 6, dtype=np.float32),
        "out": [np.full(3, 7, np.float32), np.full(3, 7, np.float32)],
        "inner": {"s": 2, "d": 0.5},
        "weights": np.array([1, 10, 100], np.float32),
        "negate": True,
    }


def expected(members, shift=0):
    x, w = members["x"], members["weights"]
    v = [-(float(x[i + shift]) * float(w[i % 3]) + 2.5) for i in range(5)]
    return np.float32(v[0::2]), np.float32(v[1::2])


def test_members_by_name_reach_their_places(run, members):
    run[1, 8](members, 0)
    even, odd = expected(members)
    np.testing.assert_array_equal(members["out"][0], even)
    np.testing.assert_array_equal(members["out"][1], [*odd, 7])


def test_members_in_order(run, members):
    members["inner"] = (2, 0.5)
    members["weights"] = [1.0, 10.0, 100.0]
    run[1, 8](tuple(members.values()), 0)
    np.testing.assert_array_equal(members["out"][0], expected(members)[0])


def test_a_fault_names_the_member(run, members):
    with pytest.raises(wb.KernelFault, match=r"reads index 5 of `p\.x`, which has 5 elements"):
        run[1, 8](members, 1)
    members["out"][1] = np.zeros(1, np.float32)
    with pytest.raises(wb.KernelFault, match=r"writes index 1 of `p\.out\[1\]`, which has 1 element"):
        run[1, 8](members, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cuont": 1}, r"`p` has no member `cuont`; it has `count`, `x`"),
        ({"count": 1.5}, r"`p\.count`"),
        ({"count": 1 << 40}, r"`p\.count`"),
        ({"x": np.zeros(5)}, r"`p\.x`.*float64.*astype\(np\.float32\)"),
        ({"x": 3}, r"`p\.x`"),
        ({"out": np.zeros(2, np.float32)}, r"`p\.out\[0\]`"),
        ({"out": [np.zeros(3, np.float32)] * 3}, r"`p\.out` has 2 elements"),
        ({"inner": 3}, r"`p\.inner` is a struct"),
        ({"inner": (1,)}, r"`p\.inner` has 2 members \(s, d\), 1 given"),
        ({"weights": "abc"}, r"`p\.weights` is an array of 3"),
        ({"weights": [1, 2, 3, 4]}, r"`p\.weights` has 3 elements"),
        ({"negate": 2}, r"`p\.negate`"),
    ],
)
def test_a_wrong_member_is_named(run, members, change, message):
    with pytest.raises(wb.ArgumentError, match=message):
        run[1, 8]({**members, **change}, 0)
    run[1, 8](members, 0)


def test_a_missing_member_is_named(run, members):
    del members["inner"]
    with pytest.raises(wb.ArgumentError, match=r"`p\.inner` is not given"):
        run[1, 8](members, 0)
    read_only = np.zeros(3, np.float32)
    read_only.flags.writeable = False
    members.update(inner=(1, 2.0), out=[read_only, read_only])
    with pytest.raises(wb.ArgumentError, match=r"`p\.out\[0\]`.*read-only"):
        run[1, 8](members, 0)
    with pytest.raises(wb.ArgumentError, match=r"`p` is a struct of \d+ bytes, not `int`; pass \{\"count\": \.\.\."):
        run[1, 8](3, 0)


def test_null_pointers(members):
    text = "struct P { const float* x; int n; }; __global__ void k(P p, int* y) { *y = p.x ? 1 : p.n; }"
    y = np.zeros(1, np.int32)
    wb.compile(text).k[1, 1]({"x": None, "n": 7}, y)
    assert y[0] == 7


ACCESSORS = """
#include <torch/extension.h>
template <typename scalar_t>
__global__ void outer(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> a,
                      const torch::PackedTensorAccessor64<scalar_t, 1> scale,
                      torch::PackedTensorAccessor32<scalar_t, 2> out) {
    int i = blockIdx.x, j = threadIdx.x;
    if (j < a.size(1)) out[j][i] = a[i][j] * scale[i];
}
template __global__ void outer<double>(torch::PackedTensorAccessor32<double, 2, torch::RestrictPtrTraits>,
    const torch::PackedTensorAccessor64<double, 1>, torch::PackedTensorAccessor32<double, 2>);
"""


@pytest.fixture(scope="module")
def outer():
    return wb.compile(ACCESSORS)["outer<double>"]


def test_accessors_take_arrays_of_any_layout(outer):
    rng = np.random.default_rng(1)
    whole, scale = rng.standard_normal((9, 14)), rng.standard_normal(20)
    for a in (whole[:4, :7], whole[::2, ::3], whole.T[:7, :9], whole[3:3, :]):
        out = np.full((a.shape[1], a.shape[0] + 1), 9.0)
        if a.shape[0]:
            outer[a.shape[0], 32](a, scale[::2][: a.shape[0]], out[:, :-1])
        np.testing.assert_array_equal(out[:, :-1], (a * scale[::2][: a.shape[0], None]).T)
        np.testing.assert_array_equal(out[:, -1], 9.0)


def test_wrong_accessors_are_named(outer):
    a, scale, out = np.ones((2, 3)), np.ones(2), np.ones((3, 2))
    for args, message in [
        ((a[0], scale, out), "`a` accesses 2 dimensions, and the array has 1"),
        ((a.astype(np.float32), scale, out), r"`a` got an array of float32, but wants float64"),
        ((a[::-1], scale, out), "`a` got an array that runs backwards"),
        ((3, scale, out), "`a`"),
        ((a, None, out), "`scale`"),
    ]:
        with pytest.raises(wb.ArgumentError, match=message):
            outer[2, 4](*args)
    out.flags.writeable = False
    with pytest.raises(wb.KernelFault, match="read-only"):
        outer[2, 4](a, scale, out)
    with pytest.raises(wb.KernelFault, match="out"):
        outer[2, 4](a, scale, np.ones((2, 2)))


TEMPLATE = "template <typename T, int N> __global__ void scale(T* y) { y[threadIdx.x] *= N; }"


def test_an_instance_of_a_template_is_compiled_when_it_is_asked_for():
    module = wb.compile(TEMPLATE)
    for name, dtype, factor in [("scale<float, 4>", np.float32, 4), ("scale<int, (1 + 2)>", np.int32, 3)]:
        y = np.arange(5, dtype=dtype)
        module[name][1, 5](y)
        np.testing.assert_array_equal(y, np.arange(5, dtype=dtype) * dtype(factor))
    assert module["scale<float, 4>"].__name__ == "scale<float, 4>"


def test_a_template_without_arguments_says_how_to_ask():
    module = wb.compile(TEMPLATE)
    with pytest.raises(AttributeError, match="and the template `scale`: ask for an instance, such as `scale<float>`"):
        module.scall
    with pytest.raises(wb.ArgumentError, match="template `scale` do not follow from an array of float32; ask for an instance"):
        module.scale[1, 5](np.ones(5, np.float32))
    with pytest.raises(wb.CompileError, match="unknown kernel `scall`; the nearest known one is `scale`") as caught:
        module["scall<float, 4>"]
    assert caught.value.text == "scall<float, 4>"
    with pytest.raises(wb.CompileError):
        module["scale<float, nothing>"]
    with pytest.raises(wb.CompileError):
        module["scale<float>"]
    y = np.ones(5, np.float32)
    module["scale<float, 2>"][1, 5](y)
    assert (y == 2).all()

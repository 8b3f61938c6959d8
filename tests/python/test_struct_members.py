"""Members of structs by value, which kernels have as parameters of their own: what they hold, where they point, which faults they cause.

Every case runs in every tier that this machine has. Results are NumPy's.
"""

import numpy as np
import pytest
import workbench as wb

from test_set_tier import HAS_WIDE

TIERS = ["soon", "good", *(["wide"] if HAS_WIDE else [])]
rng = np.random.default_rng(20261123)


@pytest.fixture(params=TIERS, autouse=True)
def tier(request):
    before = wb.set_tier(request.param)
    yield request.param
    wb.set_tier(before)


def kernel(text):
    return wb.compile("struct P { float* x; const float* y; int n; long long far; double d; bool flip; float w[4]; };" + text).k


def block(**members):
    given = dict(x=None, y=None, n=0, far=0, d=0.0, flip=False, w=np.zeros(4, np.float32))
    return given | members


def test_members_of_all_types():
    k = kernel("__global__ void k(P p, double* out) { int i = blockIdx.x * 64 + threadIdx.x; if (i < p.n) "
               "out[i] = (p.flip ? -p.y[i] : p.y[i]) * p.d + (double)p.far + p.w[1] + p.w[i & 3]; }")
    y, w = rng.standard_normal(1000, np.float32), np.float32([1, 2, 4, 8])
    for flip in (False, True):
        out = np.full(1000, np.nan)
        k[16, 64](block(y=y, n=1000, d=0.5, far=-(1 << 40), flip=flip, w=w), out)
        sign = -1.0 if flip else 1.0
        want = sign * y.astype(np.float64) * 0.5 - float(1 << 40) + 2 + w[np.arange(1000) & 3]
        np.testing.assert_array_equal(out, want)


def test_a_thread_changes_its_own_copy():
    k = kernel("__global__ void k(P p, float* out) { int i = threadIdx.x; p.n += i; p.y += i; "
               "for (; p.n > 40; p.n -= 7) p.y += 1; out[i] = p.y[0] + p.n; }")
    y, out = rng.standard_normal(200, np.float32), np.full(64, np.nan, np.float32)
    k[1, 64](block(y=y, n=3), out)
    want = []
    for i in range(64):
        n, at = 3 + i, i
        while n > 40:
            n, at = n - 7, at + 1
        want.append(y[at] + np.float32(n))
    np.testing.assert_array_equal(out, np.float32(want))


def test_the_same_bytes_as_two_types():
    x = np.float32(rng.integers(-99, 99, 40))
    want = x.astype(np.int32)
    out = np.zeros(40, np.uint32)
    bits = np.uint32(np.float32(2.5).view(np.uint32))
    wb.compile("struct S { float* x; unsigned u; }; __global__ void k(S s, unsigned* out) { int i = threadIdx.x; "
               "((int*)s.x)[i] = (int)s.x[i]; out[i] = s.u + (__uint_as_float(s.u) > 1.0f); }").k[1, 40]({"x": x, "u": int(bits)}, out)
    np.testing.assert_array_equal(x.view(np.int32), want)
    assert (out == bits + 1).all()


FAULTS = [
    ("p.x[i + 70] = 1", dict(x=np.zeros(100, np.float32)), r"writes index 100 of `p\.x`, which has 100 elements \(float\)", 30),
    ("p.x[i] = p.y[i - 3]", dict(x=np.zeros(100, np.float32), y=np.ones(100, np.float32)), r"reads index -3 of `p\.y`", 0),
    ("p.x[i] = p.y[i]", dict(x=np.zeros(100, np.float32), y=None), "reads 4 bytes through a null pointer", 0),
    ("p.x[i] = p.y[i]", dict(x=np.zeros(100, np.float32), y=np.zeros(0, np.float32)), r"reads index 0 of `p\.y`", 0),
    ("((float*)p.y)[i] = 1", dict(y=np.zeros(100, np.float32)), r"writes index 0 of `p\.y`, which is read-only", 0),
    ("((double*)(p.x + i))[0] = 1", dict(x=np.zeros(100, np.float32)), r"`p\.x`.*not a multiple of 8", None),
]


@pytest.mark.parametrize(("body", "members", "message", "thread"), FAULTS)
def test_faults_name_the_member(body, members, message, thread):
    members = {name: a if a is None else a.copy() for name, a in members.items()}
    if "read-only" in message:
        members["y"].flags.writeable = False
    k = kernel("__global__ void k(P p) { int i = threadIdx.x; if (i < p.n) { " + body + "; } }")
    with pytest.raises(wb.KernelFault, match=message) as caught:
        k[1, 64](block(n=60, **members))
    if thread is not None:
        assert f"thread ({thread}, 0, 0)" in str(caught.value) or f"thread {thread}" in str(caught.value)
    # The next launch works.
    members = dict(x=np.zeros(100, np.float32), y=np.zeros(100, np.float32))
    kernel("__global__ void k(P p) { p.x[threadIdx.x] = p.y[threadIdx.x] + 1; }")[1, 64](block(**members))
    assert members["x"][:64].sum() == 64


HOST = """
#include <torch/extension.h>
struct Rows { float* out; const float* in; int width; int* none; };
__global__ void twice(Rows r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < r.width && !r.none) r.out[i] = r.in[i] * 2.f;
}
__global__ void neighbours(Rows r) {
    int i = threadIdx.x;
    r.out[i] = r.in[i + r.width];
}
torch::Tensor go(torch::Tensor x, int64_t from, int64_t bytes, int64_t width, bool shift) {
    auto out = torch::full_like(x, -1.0);
    Rows r = {out.data_ptr<float>() + from, (const float*)((const char*)(x.data_ptr<float>() + from) + bytes), (int)width, nullptr};
    if (shift) neighbours<<<1, 16>>>(r);
    else twice<<<dim3((width + 63) / 64), 64>>>(r);
    return out;
}
__global__ void add(torch::PackedTensorAccessor32<float, 2> x, torch::PackedTensorAccessor64<float, 2, torch::RestrictPtrTraits> y, int by) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < x.size(0) && j < x.size(1)) y[i][j + by] = x[i][j] + 1.f;
}
torch::Tensor plus(torch::Tensor x, int64_t by) {
    auto y = torch::full_like(x, -1.0);
    dim3 block(32, 4), grid((x.size(1) + 31) / 32, (x.size(0) + 3) / 4);
    add<<<grid, block>>>(x.packed_accessor32<float, 2>(), y.packed_accessor64<float, 2, torch::RestrictPtrTraits>(), by);
    return y;
}
"""


@pytest.fixture
def host(tier):
    sources = "torch::Tensor go(torch::Tensor x, int64_t from, int64_t bytes, int64_t width, bool shift);"
    sources += "torch::Tensor plus(torch::Tensor x, int64_t by);"
    return wb.load_inline(name="members", cpp_sources=sources, cuda_sources=HOST, functions=["go", "plus"])


def test_pointers_into_the_middle(host):
    x = rng.standard_normal(300, np.float32)
    out = host.go(x, 100, 0, 200, False)
    np.testing.assert_array_equal(out, np.r_[np.full(100, -1, np.float32), x[100:] * 2])
    with pytest.raises(wb.KernelFault, match=r"reads index 200 of `r\.in`, which has 200 elements \(float\)"):
        host.go(x, 100, 0, 201, False)
    with pytest.raises(wb.KernelFault, match=r"byte 0 of `r\.in` .*not a multiple of 4"):
        host.go(x, 100, 2, 200, False)
    np.testing.assert_array_equal(host.go(x, 0, 0, 300, False), x * 2)


def test_a_pointer_one_past_the_end_has_no_elements(host):
    x = rng.standard_normal(64, np.float32)
    with pytest.raises(wb.KernelFault, match=r"reads index 0 of `r\.in`, which has 0 elements"):
        host.go(x, 64, 0, 1, False)


@pytest.mark.parametrize("shape", [(1, 1), (3, 33), (64, 64), (5, 257), (2, 1)])
def test_accessors_of_views(host, shape):
    whole = rng.standard_normal((shape[0] + 2, shape[1] * 2 + 3)).astype(np.float32)
    for x in (whole[1:-1, 1:-2:2], whole[1:-1, : shape[1]], np.asfortranarray(whole[1:-1, : shape[1]])):
        assert x.shape == shape
        np.testing.assert_array_equal(host.plus(x, 0), x + 1)


def test_a_fault_behind_an_accessor(host):
    x = rng.standard_normal((6, 40), np.float32)
    with pytest.raises(wb.KernelFault, match=r"writes index 240 of `y`, which has 240 elements \(float\)") as caught:
        host.plus(x, 1)
    assert "y[i][j + by]" in str(caught.value)
    np.testing.assert_array_equal(host.plus(x, 0), x + 1)


def test_an_array_that_one_member_reads_and_another_writes():
    x = rng.standard_normal(64, np.float32)
    want = x * np.float32(2)
    kernel("__global__ void k(P p) { int i = threadIdx.x; p.x[i] = p.y[i] * 2; }")[1, 64](block(x=x, y=x))
    np.testing.assert_array_equal(x, want)
    text = "struct C { const float* a; float* b; }; __global__ void k(C c, const float* d) { int i = threadIdx.x; c.b[i] = c.a[i] + d[i]; }"
    wb.compile(text).k[1, 64]({"a": x, "b": x}, x)
    np.testing.assert_array_equal(x, want * np.float32(2))

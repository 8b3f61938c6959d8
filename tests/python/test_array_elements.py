"""Arrays whose elements are more than a number: structs by NumPy's structured dtypes, complex numbers, 8-bit floats, lists of arrays."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

POINT = "struct Pt { float x; int id; double w; };\n"
SCALE = POINT + "__global__ void k(Pt* p, int n) { int i = threadIdx.x; if (i < n) p[i].w = p[i].x * p[i].id; }"


def aligned(*fields):
    return np.dtype(list(fields), align=True)


def points(count=4):
    a = np.zeros(count, aligned(("x", "f4"), ("id", "i4"), ("w", "f8")))
    a["x"], a["id"] = np.arange(count) + 1, np.arange(count)[::-1] + 1
    return a


def test_a_structured_array_is_taken_where_its_layout_is_the_struct_s():
    a = points()
    wb.compile(SCALE).k[1, 32](a, 4)
    assert a["w"].tolist() == [4, 6, 6, 4]


def test_it_is_checked_memory_like_any_array():
    with pytest.raises(wb.KernelFault, match="`p`"):
        wb.compile(SCALE).k[1, 32](points(), 5)
    frozen = points()
    frozen.flags.writeable = False
    with pytest.raises(wb.ArgumentError, match=r"`p` \(`Pt\*`\) may be written, but the array is read-only"):
        wb.compile(SCALE).k[1, 32](frozen, 4)
    with pytest.raises(wb.ArgumentError, match="not contiguous"):
        wb.compile(SCALE).k[1, 32](points(8)[::2], 4)


def test_what_is_only_read_may_have_gaps():
    text = POINT + "__global__ void k(const Pt* p, double* y) { y[threadIdx.x] = p[threadIdx.x].x + p[threadIdx.x].id; }"
    a, y = points(8), np.zeros(4)
    wb.compile(text).k[1, 4](a[::2], y)
    assert y.tolist() == (a["x"] + a["id"])[::2].tolist()


@pytest.mark.parametrize("kind", ["float3", "V"])
def test_vector_types_and_structs_of_one_type(kind):
    f = np.zeros(4, np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")]))
    wb.compile(f"struct V {{ float x, y, z; }}; __global__ void k({kind}* p) {{ p[threadIdx.x].y = 2; }}").k[1, 4](f)
    assert f["y"].tolist() == [2] * 4 and f["x"].tolist() == [0] * 4
    # Plain arrays of the numbers are taken as ever.
    plain = np.zeros((4, 3), np.float32)
    wb.compile(f"struct V {{ float x, y, z; }}; __global__ void k({kind}* p) {{ p[threadIdx.x].y = 2; }}").k[1, 4](plain)
    assert plain[:, 1].tolist() == [2] * 4


def test_members_within_members():
    text = """
    struct In { short a; double b; };
    struct Out { In in[2]; float m[2][3]; bool flag; };
    __global__ void k(Out* p) { p[threadIdx.x].in[1].b = p[threadIdx.x].m[1][2] + p[threadIdx.x].in[0].a + p[threadIdx.x].flag; }
    """
    inner = aligned(("a", "i2"), ("b", "f8"))
    a = np.zeros(2, aligned(("in", inner, 2), ("m", "f4", (2, 3)), ("flag", "?")))
    a["m"][:, 1, 2], a["in"]["a"][:, 0], a["flag"] = [5, 6], [7, 8], True
    wb.compile(text).k[1, 2](a)
    assert a["in"]["b"][:, 1].tolist() == [13, 15]


@pytest.mark.parametrize(
    "fields",
    [
        [("x", "f4"), ("id", "i4"), ("w", "f4")],  # a type
        [("y", "f4"), ("id", "i4"), ("w", "f8")],  # a name
        [("id", "i4"), ("x", "f4"), ("w", "f8")],  # the order
        [("x", "f4"), ("id", "u4"), ("w", "f8")],  # the sign
        [("x", "f4"), ("id", "i4")],  # one is missing
    ],
)
def test_another_layout_is_an_error_that_shows_both(fields):
    with pytest.raises(wb.ArgumentError) as caught:
        wb.compile(SCALE).k[1, 32](np.zeros(4, aligned(*fields)), 4)
    message = str(caught.value)
    assert "and a `Pt` is {float x at 0, int id at 4, double w at 8; 16 bytes}" in message
    assert message.count(" bytes}") == 2 and "astype" not in message


def test_packed_dtypes_for_padded_structs_show_where_members_are():
    text = "struct P { char c; double d; }; __global__ void k(P* p) { p[0].d = p[0].c; }"
    with pytest.raises(wb.ArgumentError, match=r"double d at 1; 9 bytes\}, and a `P` is \{signed char c at 0, double d at 8; 16 bytes\}"):
        wb.compile(text).k[1, 1](np.zeros(1, np.dtype([("c", "i1"), ("d", "f8")])))
    good = np.zeros(1, aligned(("c", "i1"), ("d", "f8")))
    good["c"] = -3
    wb.compile(text).k[1, 1](good)
    assert good["d"] == -3


@pytest.mark.parametrize(("c_type", "dtype"), [("float2", np.complex64), ("double2", np.complex128)])
def test_complex_arrays_for_pairs_of_floats(c_type, dtype):
    z = np.array([1 + 2j, 3, -1j], dtype)
    want = z * z
    wb.compile(
        f"__global__ void k({c_type}* z) {{ {c_type} a = z[threadIdx.x]; "
        f"z[threadIdx.x] = make_{c_type}(a.x * a.x - a.y * a.y, 2 * a.x * a.y); }}"
    ).k[1, 3](z)
    assert (z == want).all()
    wrong = np.complex128 if dtype is np.complex64 else np.complex64
    with pytest.raises(wb.ArgumentError, match="complex"):
        wb.compile(f"__global__ void k({c_type}* z) {{ z[0].x = 1; }}").k[1, 1](np.zeros(3, wrong))


@pytest.mark.parametrize(
    ("head", "kind"),
    [("thrust/complex.h", "thrust::complex<{}>"), ("cuda/std/complex", "cuda::std::complex<{}>"), ("cuComplex.h", "")],
)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_the_libraries_complex_numbers(head, kind, dtype):
    single = dtype is np.complex64
    rng = np.random.default_rng(1)
    a, b = ((rng.standard_normal(7) + 1j * rng.standard_normal(7)).astype(dtype) for _ in "ab")
    out = np.zeros((4, 7), dtype)
    if kind:
        t = kind.format("float" if single else "double")
        ops = ["a[i] * b[i] + a[i]", "a[i] / b[i] - conj(a[i])", "exp(a[i]) * sqrt(b[i])", f"{t}(abs(a[i]), arg(b[i]))"]
    else:
        t, s = ("cuFloatComplex", "f") if single else ("cuDoubleComplex", "")
        ops = [f"cuCadd{s}(cuCmul{s}(a[i], b[i]), a[i])", f"cuCsub{s}(cuCdiv{s}(a[i], b[i]), cuConj{s}(a[i]))"]
    lines = "".join(f"out[{n} * 7 + i] = {op};" for n, op in enumerate(ops))
    wb.compile(f"#include <{head}>\n__global__ void k(const {t}* a, const {t}* b, {t}* out) {{ int i = threadIdx.x; {lines} }}").k[1, 7](a, b, out)
    want = [a * b + a, a / b - a.conj(), np.exp(a) * np.sqrt(b), np.abs(a) + 1j * np.angle(b)]
    # A few roundings of numbers of the result's size: of the sums within products, of each function.
    rtol = 8 * np.finfo(dtype).eps * 4
    for row, w in zip(out, want[: len(ops)]):
        np.testing.assert_allclose(row, w, rtol=rtol, atol=rtol)


def test_8_bit_floats():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name, kind in (("float8_e4m3fn", "__nv_fp8_e4m3"), ("float8_e5m2", "__nv_fp8_e5m2")):
        dtype = getattr(ml_dtypes, name)
        m = wb.compile(
            f"#include <cuda_fp8.h>\n__global__ void k(const {kind}* x, {kind}* y) {{ y[threadIdx.x] = {kind}((float)x[threadIdx.x] * 2); }}\n"
            "__global__ void bytes(unsigned char* x) { x[0] = 0; }"
        )
        x = np.array([0, 0.5, 1.5, -3], dtype)
        y = np.zeros_like(x)
        m.k[1, 4](x, y)
        assert y.astype(np.float32).tolist() == [0, 1, 3, -6]
        # Their bits, as ever.
        m.k[1, 4](x.view(np.uint8), y)
        other = ml_dtypes.float8_e5m2 if name == "float8_e4m3fn" else ml_dtypes.float8_e4m3fn
        with pytest.raises(wb.ArgumentError, match=f"got an array of {np.dtype(other).name}, and a `{kind}` is an 8-bit float, {name}"):
            m.k[1, 4](x.astype(other), y)
        with pytest.raises(wb.ArgumentError, match=r"try x\.view\(np\.uint8\)$"):
            m.bytes[1, 1](x)


@pytest.mark.parametrize(
    ("dtype", "c_type", "hint"),
    [
        ("c8", "float", "try z.view(np.float32)"),
        ("c16", "double", "try z.view(np.float64)"),
        ("c8", "double", "try z.astype(np.complex128).view(np.float64)"),
        ("c8", "int", "pass z.real or z.imag, or both by z.view(np.float32)"),
        ([("x", "f4"), ("y", "f4")], "float", "try z.view(np.float32)"),
        ([("x", "f4"), ("y", "i4")], "unsigned char", "try z.view(np.uint8)"),
        ([("x", "f4"), ("y", "i4")], "int", 'pass one of its fields, as np.ascontiguousarray(z["y"])'),
        ("M8[s]", "long long", "try z.view(np.int64)"),
        ("f8", "float", "try z.astype(np.float32)"),
    ],
)
def test_the_hint_keeps_what_the_bits_mean(dtype, c_type, hint):
    z = np.zeros(4, dtype)
    with pytest.raises(wb.ArgumentError) as caught:
        wb.compile(f"__global__ void k({c_type}* z) {{ z[0] = 1; }}").k[1, 1](z)
    assert str(caught.value).endswith(hint)
    names = {"np": np, "z": z}
    if hint.startswith("try"):
        exec("z = " + hint.removeprefix("try "), names)
        wb.compile(f"__global__ void k({c_type}* z) {{ z[0] = 1; }}").k[1, 1](names["z"])


def test_void_pointers_take_any_plain_memory():
    m = wb.compile("__global__ void k(void* p) { ((float*)p)[1] = 5; }")
    for dtype in (np.complex64, np.dtype([("x", "f4"), ("y", "f4")])):
        z = np.zeros(1, dtype)
        m.k[1, 1](z)
        assert z.view(np.float32)[1] == 5
    with pytest.raises(wb.ArgumentError, match="nothing C can point at"):
        m.k[1, 1](np.zeros(1, object))


ADD = "__global__ void k(float** p, const float* const* q, int n) { for (int i = 0; i < n; i++) p[i][threadIdx.x] += q[i][0]; }"


def test_a_list_of_arrays_for_a_pointer_to_pointers():
    m = wb.compile(ADD)
    rows, others = [np.zeros(i + 2, np.float32) for i in range(3)], [np.full(1, 10.0 * i, np.float32) for i in range(3)]
    m.k[1, 2](rows, tuple(others), 3)
    assert [r.tolist() for r in rows] == [[0, 0], [10, 10, 0], [20, 20, 0, 0]]
    assert m.k.signature == "void k(float** p, const float* const* q, int n)"


def test_the_table_and_what_it_points_at_are_checked():
    m = wb.compile(ADD)
    rows = [np.zeros(2, np.float32) for _ in range(2)]
    with pytest.raises(wb.KernelFault, match=r"index 2 of `p\[0\]`, which has 2 elements"):
        m.k[1, 3](rows, rows, 2)
    with pytest.raises(wb.KernelFault, match="`q`"):
        m.k[1, 2](rows, rows[:1], 2)
    with pytest.raises(wb.KernelFault, match="null pointer"):
        m.k[1, 2]([rows[0], None], rows, 2)
    with pytest.raises(wb.ArgumentError, match=r"`p\[1\]` \(`float\*`\) got an array of float64"):
        m.k[1, 2]([rows[0], np.zeros(2)], rows, 2)
    frozen = np.zeros(2, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(wb.ArgumentError, match=r"`p\[0\]`.*read-only"):
        m.k[1, 2]([frozen, rows[0]], rows, 2)
    m.k[1, 2](rows, [frozen, frozen], 2)
    with pytest.raises(wb.KernelFault, match="writes.*`p`.*read-only"):
        wb.compile("__global__ void k(float** p) { p[0] = p[1]; }").k[1, 1](rows)


def test_arguments_that_are_arrays_themselves_are_found_in_the_table_too():
    m = wb.compile("__global__ void k(float** p, float* y) { y[threadIdx.x] = p[1][threadIdx.x] + 1; }")
    y = np.arange(3, dtype=np.float32)
    m.k[1, 3]([np.zeros(1, np.float32), y], y)
    assert y.tolist() == [1, 2, 3]

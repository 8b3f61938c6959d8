"""Inline PTX: instructions mean what NVIDIA's ISA says, by NumPy's integers and floats."""

import ml_dtypes
import numpy as np
import pytest

import workbench as wb

RNG = np.random.default_rng(11)
N = 203


def ints(dtype, n=N):
    info = np.iinfo(dtype)
    edges = np.array([0, 1, 2, 31, 32, 33, info.max, info.max - 1, info.min, info.min // 2], dtype)
    return np.concatenate([edges, RNG.integers(info.min, info.max, n - len(edges), dtype, endpoint=True)])


def floats(n=N):
    edges = np.array([0.0, -0.0, 1.0, -1.5, 2.5, 1e-40, -1e-39, np.inf, -np.inf, np.nan, 3.4e38, 1e-30], np.float32)
    return np.concatenate([edges, RNG.standard_normal(n - len(edges)).astype(np.float32)])


C = {"r": "unsigned", "l": "unsigned long long", "f": "float", "d": "double", "h": "unsigned short"}
NP = {"r": np.uint32, "l": np.uint64, "f": np.float32, "d": np.float64, "h": np.uint16}


def run(template, to, *arrays):
    """A kernel of one instruction on elements; constraints by the arrays' types."""
    kinds = ["".join(k for k, t in NP.items() if np.dtype(t).itemsize == a.dtype.itemsize and (np.dtype(t).kind == "f") == (a.dtype.kind == "f")) for a in arrays]
    params = "".join(f", const {C[k]}* a{i}" for i, k in enumerate(kinds))
    inputs = ", ".join(f'"{k}"(a{i}[i])' for i, k in enumerate(kinds))
    m = wb.compile(
        f"__global__ void k({C[to]}* y{params}, int n) {{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        f'  {C[to]} out;\n  asm volatile("{template}" : "={to}"(out) : {inputs});\n  y[i] = out;\n}}'
    )
    n = len(arrays[0])
    y = np.empty(n, NP[to])
    m.k[(n + 63) // 64, 64](y, *[a.view(NP[k]) for a, k in zip(arrays, kinds)], n)
    return y


A32, B32, C32 = ints(np.uint32), ints(np.uint32)[::-1].copy(), RNG.integers(0, 2**32, N, np.uint32)
S32, T32 = A32.view(np.int32), B32.view(np.int32)
A64, B64 = ints(np.uint64), ints(np.uint64)[::-1].copy()
X, Y, Z = floats(), floats()[::-1].copy(), floats()
SHIFT = (C32 % 40).astype(np.uint32)


def big(a):
    return a.astype(object)


def low32(values):
    return np.array([int(v) & 0xFFFFFFFF for v in values], np.uint32)


def low64(values):
    return np.array([int(v) & (2**64 - 1) for v in values], np.uint64)


INTEGERS = {
    "add.u32 %0, %1, %2;": (A32 + B32, (A32, B32)),
    "sub.s32 %0, %1, %2;": (A32 - B32, (A32, B32)),
    "mul.lo.u32 %0, %1, %2;": (A32 * B32, (A32, B32)),
    "mul.hi.u32 %0, %1, %2;": (low32(big(A32) * big(B32) // 2**32), (A32, B32)),
    "mul.hi.s32 %0, %1, %2;": (low32(big(S32) * big(T32) // 2**32), (A32, B32)),
    "mad.lo.u32 %0, %1, %2, %3;": (A32 * B32 + C32, (A32, B32, C32)),
    "mad.hi.u32 %0, %1, %2, %3;": (low32(big(A32) * big(B32) // 2**32 + big(C32)), (A32, B32, C32)),
    "min.s32 %0, %1, %2;": (np.minimum(S32, T32).view(np.uint32), (A32, B32)),
    "max.u32 %0, %1, %2;": (np.maximum(A32, B32), (A32, B32)),
    "abs.s32 %0, %1;": (low32(np.abs(big(S32))), (A32,)),
    "neg.s32 %0, %1;": (low32(-big(S32)), (A32,)),
    "and.b32 %0, %1, %2;": (A32 & B32, (A32, B32)),
    "or.b32 %0, %1, %2;": (A32 | B32, (A32, B32)),
    "xor.b32 %0, %1, %2;": (A32 ^ B32, (A32, B32)),
    "not.b32 %0, %1;": (~A32, (A32,)),
    "shl.b32 %0, %1, %2;": (low32([int(a) << int(n) if n < 32 else 0 for a, n in zip(A32, SHIFT)]), (A32, SHIFT)),
    "shr.u32 %0, %1, %2;": (low32([int(a) >> int(n) for a, n in zip(A32, SHIFT)]), (A32, SHIFT)),
    "shr.s32 %0, %1, %2;": (low32([int(a) >> int(n) for a, n in zip(S32, SHIFT)]), (A32, SHIFT)),
    "popc.b32 %0, %1;": (low32([bin(a).count("1") for a in A32.tolist()]), (A32,)),
    "clz.b32 %0, %1;": (low32([32 - a.bit_length() for a in A32.tolist()]), (A32,)),
    "brev.b32 %0, %1;": (low32([int(f"{a:032b}"[::-1], 2) for a in A32.tolist()]), (A32,)),
    "bfe.u32 %0, %1, 5, 9;": (low32([a >> 5 & 511 for a in A32.tolist()]), (A32,)),
    "bfe.s32 %0, %1, 5, 9;": (low32([((a >> 5 & 511) ^ 256) - 256 for a in A32.tolist()]), (A32,)),
    "bfi.b32 %0, %1, %2, 4, 12;": ((A32 & 0xFFF) << 4 | B32 & ~np.uint32(0xFFF0), (A32, B32)),
    "prmt.b32 %0, %1, %2, 0x3715;": (
        low32([int.from_bytes(bytes([(x := int(a).to_bytes(4, "little") + int(b).to_bytes(4, "little"))[5], x[1], x[7], x[3]]), "little") for a, b in zip(A32, B32)]),
        (A32, B32),
    ),
    # The highest bit of a selector asks for the sign of its byte.
    "prmt.b32 %0, %1, %2, 0x8898;": (
        low32([(int(a) & 0x80) // 0x80 * 0xFFFF00FF | (int(a) >> 8 & 0x80) // 0x80 * 0xFF00 for a in A32]), (A32, B32),
    ),
    "{ .reg .pred p, q; setp.lt.u32 p, %1, %2; setp.eq.and.u32 p|q, %3, %3, p; selp.b32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }": (
        (A32 < B32).astype(np.uint32), (A32, B32, C32),
    ),
    "{ .reg .u32 a; mov.u32 a, %1; { .reg .u32 a; mov.u32 a, 5; add.u32 %0, a, a; } add.u32 %0, %0, a; }": (A32 + np.uint32(10), (A32,)),
    "cvt.rni.s8.f32 %0, %1;": (low32(np.nan_to_num(np.rint(X.astype(np.float64)), nan=0).clip(-128, 127)), (X,)),
    "cvt.rzi.u16.f32 %0, %1;": (low32(np.nan_to_num(np.trunc(X.astype(np.float64)), nan=0).clip(0, 65535)), (X,)),
    "{ .reg .pred p; setp.eq.ftz.f32 p, %1, 0f00000000; selp.b32 %0, 1, 0, p; }": ((np.abs(X) < 1.17549435e-38).astype(np.uint32), (X,)),
    "lop3.b32 %0, %1, %2, %3, 0xe8;": (A32 & B32 | B32 & C32 | A32 & C32, (A32, B32, C32)),
    "lop3.b32 %0, %1, %2, %3, 0x96;": (A32 ^ B32 ^ C32, (A32, B32, C32)),
    "shf.l.wrap.b32 %0, %1, %2, %3;": (
        low32([(int(b) << 32 | int(a)) << (int(n) & 31) >> 32 for a, b, n in zip(A32, B32, SHIFT)]), (A32, B32, SHIFT),
    ),
    "{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, %1, %3, p; }": (np.where(S32 < T32, A32, C32), (A32, B32, C32)),
    "{ .reg .pred %%p<2>; setp.ge.u32 %%p1, %1, %2; mov.u32 %0, 7; @%%p1 mov.u32 %0, %3; @!%%p1 add.u32 %0, %3, 1; }": (
        np.where(A32 >= B32, C32, C32 + np.uint32(1)), (A32, B32, C32),
    ),
    "{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }": (A32 << 16 | A32 >> 16, (A32,)),
    "{\\n\\t.reg .u32 t; // a comment\\n\\tadd.u32 t, %1, %2; /* another */\\n\\txor.b32 %0, t, 0xFF;\\n\\t}": ((A32 + B32) ^ 0xFF, (A32, B32)),
    "cvt.u32.u16 %0, %1;": ((A32 & 0xFFFF), ((A32 & 0xFFFF).astype(np.uint16),)),
    "cvt.rzi.s32.f32 %0, %1;": (
        np.nan_to_num(np.trunc(X.astype(np.float64)), nan=0, posinf=2**31 - 1, neginf=-(2**31)).clip(-(2**31), 2**31 - 1).astype(np.int64).astype(np.int32).view(np.uint32),
        (X,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("template", INTEGERS)
def test_integers_of_32_bits(template):
    with np.errstate(over="ignore"):
        expected, arrays = INTEGERS[template]
    np.testing.assert_array_equal(run(template, "r", *arrays), expected)


def test_integers_of_64_bits():
    np.testing.assert_array_equal(run("add.u64 %0, %1, %2;", "l", A64, B64), A64 + B64)
    np.testing.assert_array_equal(run("mul.wide.u32 %0, %1, %2;", "l", A32, B32), low64(big(A32) * big(B32)))
    np.testing.assert_array_equal(run("mul.wide.s32 %0, %1, %2;", "l", A32, B32), low64(big(S32) * big(T32)))
    np.testing.assert_array_equal(run("mad.wide.u32 %0, %1, %2, %3;", "l", A32, B32, A64), low64(big(A32) * big(B32) + big(A64)))
    np.testing.assert_array_equal(run("mul.hi.u64 %0, %1, %2;", "l", A64, B64), low64(big(A64) * big(B64) // 2**64))
    np.testing.assert_array_equal(run("mov.b64 %0, {%1, %2};", "l", A32, B32), A32.astype(np.uint64) | B32.astype(np.uint64) << np.uint64(32))
    np.testing.assert_array_equal(run("popc.b64 %0, %1;", "r", A64), low32([bin(a).count("1") for a in A64.tolist()]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats_are_rounded_once():
    np.testing.assert_array_equal(run("add.f32 %0, %1, %2;", "f", X, Y), X + Y)
    np.testing.assert_array_equal(run("mul.rn.f32 %0, %1, %2;", "f", X, Y), X * Y)
    # The exact product and sum of floats fit in a double but for the last rounding, which is innocuous where both are not near a tie; NumPy's
    # long double has 64 bits.
    exact = (X.astype(np.longdouble) * Y.astype(np.longdouble) + Z.astype(np.longdouble)).astype(np.float32)
    np.testing.assert_array_equal(run("fma.rn.f32 %0, %1, %2, %3;", "f", X, Y, Z), exact)
    np.testing.assert_array_equal(run("max.f32 %0, %1, %2;", "f", X, Y), np.fmax(X, Y))
    np.testing.assert_array_equal(run("neg.f32 %0, %1;", "f", X), -X)
    np.testing.assert_array_equal(run("abs.f32 %0, %1;", "f", X), np.abs(X))
    np.testing.assert_array_equal(run("cvt.f64.f32 %0, %1;", "d", X), X.astype(np.float64))
    np.testing.assert_array_equal(run("cvt.rni.f32.f32 %0, %1;", "f", X), np.rint(X))
    # A NaN has bits of its own.
    np.testing.assert_array_equal(run("cvt.rn.f16.f32 %0, %1;", "h", X).view(np.float16), X.astype(np.float16))
    halves = X.astype(np.float16).view(np.uint16)
    np.testing.assert_array_equal(run("cvt.f32.f16 %0, %1;", "f", halves), halves.view(np.float16).astype(np.float32))
    np.testing.assert_array_equal(
        run("cvt.rn.f16x2.f32 %0, %1, %2;", "r", X, Y).view(np.float16).reshape(-1, 2), np.stack([Y, X], 1).astype(np.float16)
    )
    np.testing.assert_array_equal(run("mov.b32 %0, %1;", "r", X), X.view(np.uint32))
    np.testing.assert_array_equal(run("add.f32 %0, %1, 0f3F800000;", "f", X), X + np.float32(1))
    np.testing.assert_array_equal(run("{ .reg .pred p; setp.neu.f32 p, %1, %2; selp.f32 %0, %1, 0f00000000, p; }", "f", X, Y), np.where(X != Y, X, 0))
    np.testing.assert_array_equal(run("{ .reg .pred p; setp.ne.f32 p, %1, %2; selp.f32 %0, %1, 0f00000000, p; }", "f", X, Y), np.where((X < Y) | (X > Y), X, 0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_approximations_are_within_what_the_isa_allows():
    x = np.abs(X[np.isfinite(X)]) + np.float32(0.01)
    # Largest errors: `ex2.approx` relative 2^-22, `lg2.approx` absolute 2^-22.6 near 1, `rcp` and `rsqrt` relative 2^-22.9 or one unit.
    small = x[x < 100]
    np.testing.assert_allclose(run("ex2.approx.ftz.f32 %0, %1;", "f", small), np.exp2(small.astype(np.float64)), rtol=2.0**-22)
    np.testing.assert_allclose(run("lg2.approx.f32 %0, %1;", "f", x), np.log2(x.astype(np.float64)), rtol=2.0**-22, atol=2.0**-22)
    np.testing.assert_allclose(run("rcp.approx.f32 %0, %1;", "f", x), (1 / x.astype(np.float64)).astype(np.float32), rtol=2.0**-23)
    np.testing.assert_allclose(run("rsqrt.approx.f32 %0, %1;", "f", x), 1 / np.sqrt(x.astype(np.float64)), rtol=2.0**-22)
    np.testing.assert_allclose(run("tanh.approx.f32 %0, %1;", "f", small), np.tanh(small.astype(np.float64)), rtol=2.0**-11)


def test_denormals_are_flushed_where_the_instruction_says_so():
    x = np.array([1e-40, -1e-40, 1.5, 2e-38], np.float32)
    one = np.ones(4, np.float32)
    got = run("mul.ftz.f32 %0, %1, %2;", "f", x, one)
    np.testing.assert_array_equal(got, [0, 0, 1.5, np.float32(2e-38)])
    assert np.signbit(got).tolist() == [False, True, False, False]
    np.testing.assert_array_equal(run("mul.f32 %0, %1, %2;", "f", x, one), x)
    np.testing.assert_array_equal(run("add.sat.f32 %0, %1, %2;", "f", x, one), [1, 1, 1, 1])


MEMORY = r"""
__device__ __forceinline__ float4 load_streaming(const float4* p) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
    return v;
}
__device__ __forceinline__ void store_streaming(float4* p, float4 v) {
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" :: "l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}
__global__ void copy(const float4* x, float4* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) store_streaming(y + i, load_streaming(x + i));
}
__global__ void next(const int* x, int* y, int n) {
    int i = threadIdx.x;
    int v;
    asm("ld.global.ca.s32 %0, [%1+4];" : "=r"(v) : "l"(x + i));
    if (i < n) asm volatile("st.global.s32 [%0], %1;" :: "l"(__cvta_generic_to_global(y + i)), "r"(v));
}
__global__ void count(unsigned* total, float* sum) {
    unsigned old;
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(total), "r"(2) : "memory");
    asm volatile("red.global.add.f32 [%0], %1;" :: "l"(sum), "f"(0.5f) : "memory");
    asm volatile("" ::: "memory");
    asm volatile("membar.gl;");
}
__global__ void lanes(int* y) {
    int lane, sum = threadIdx.x;
    unsigned mask;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %[m], %%lanemask_lt;" : [m] "=r"(mask));
    for (int k = 16; k > 0; k /= 2) {
        int other;
        asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(sum), "r"(k));
        sum += other;
    }
    y[threadIdx.x] = sum * 1000 + lane * 10 + __popc(mask) % 10;
}
template <typename T> __device__ T twice(T x) {
    T y;
    asm("{ .reg .f32 t; add.f32 t, %1, %1; mov.f32 %0, t; }" : "=f"(y) : "f"(x));
    return y;
}
__global__ void both(float* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
__global__ void changed(int* x) { asm("add.s32 %0, %0, %1;" : "+r"(x[threadIdx.x]) : "n"(40 + 2)); }
"""


@pytest.fixture(scope="module")
def memory():
    return wb.compile(MEMORY)


def test_memory_is_read_and_written(memory):
    x = RNG.standard_normal((37, 4)).astype(np.float32)
    y = np.full_like(x, np.nan)
    memory.copy[2, 32](x.reshape(-1), y.reshape(-1), 37)
    np.testing.assert_array_equal(y, x)
    v = np.arange(33, dtype=np.int32)
    w = np.full(32, -1, np.int32)
    memory.next[1, 32](v, w, 32)
    np.testing.assert_array_equal(w, v[1:])


def test_accesses_are_checked(memory):
    v = np.arange(32, dtype=np.int32)
    with pytest.raises(wb.KernelFault, match=r"index 32 of `x`, which has 32 elements") as fault:
        memory.next[1, 32](v, np.zeros(32, np.int32), 32)
    assert fault.value.thread == (31, 0, 0)
    assert "ld.global.ca.s32" in str(fault.value)


def test_atomics_lanes_and_templates(memory):
    total, sum_ = np.zeros(1, np.uint32), np.zeros(1, np.float32)
    memory.count[3, 50](total, sum_)
    assert total[0] == 300 and sum_[0] == 75
    y = np.zeros(64, np.int32)
    memory.lanes[1, 64](y)
    lane = np.arange(64) % 32
    sums = np.repeat([sum(range(32)), sum(range(32, 64))], 32)
    np.testing.assert_array_equal(y, sums * 1000 + lane * 10 + lane % 10)
    x = np.arange(8, dtype=np.float32)
    memory.both[1, 8](x)
    np.testing.assert_array_equal(x, 2 * np.arange(8))
    z = np.arange(8, dtype=np.int32)
    memory.changed[1, 8](z)
    np.testing.assert_array_equal(z, np.arange(8) + 42)


@pytest.mark.parametrize(
    "statement, named",
    [
        ('asm volatile("wgmma.fence.sync.aligned;");', "wgmma.fence.sync.aligned"),
        ('asm volatile("cp.async.bulk.wait_group 0;");', "cp.async.bulk.wait_group"),
        ('asm("mov.u32 %0, %%smid;" : "=r"(y[0]));', "%%smid"),
        ('asm("add.s32 %0, %1, 1; frobnicate.b32 %0, %1;" : "=r"(y[0]) : "r"(1));', "frobnicate.b32"),
        ('asm("add.s32 %0, %5, 1;" : "=r"(y[0]) : "r"(1));', "%5"),
        ('asm("mov.b128 %0, %1;" : "=q"(y[0]) : "q"(y[1]));', '"=q"'),
    ],
)
def test_what_is_not_understood_is_named(statement, named):
    with pytest.raises(wb.CompileError) as refused:
        wb.compile("__global__ void k(int* y) {\n  " + statement + "\n}")
    assert "inline PTX is not supported" in str(refused.value) and named in str(refused.value) and ":2:3" in str(refused.value)


@pytest.mark.parametrize(
    "statement",
    [
        'asm("mov.b32 %0, %1;" : "=r"(y[0]) : "r"(1.5f));',
        'asm("mov.b32 %0, %1;" : "=r"(y[0]) : "r"(1ll << 40));',
        'asm("mov.b16 %0, %1;" : "=h"(h) : "h"(h));',
        'float f; asm("mov.b32 %0, %1;" : "=r"(f) : "r"(1));',
        'asm("mov.f32 %0, %1;" : "=f"(y[0]) : "f"(1.0f));',
        'asm("ld.global.b32 %0, [%1];" : "=r"(y[0]) : "l"(1.0));',
    ],
)
def test_operands_have_the_types_that_their_constraints_say(statement):
    with pytest.raises(wb.CompileError, match="of another type than its constraint says"):
        wb.compile("#include <cuda_fp16.h>\n__global__ void k(int* y) {\n  __half h = 1.5f;\n  " + statement + "\n}")


def test_a_pointer_is_no_32_bit_number():
    with pytest.raises(wb.CompileError, match="of another type than its constraint says"):
        wb.compile('__global__ void k(int* y) {\n  int* p;\n  asm("mov.u32 %0, 1;" : "=r"(p));\n  y[0] = p == nullptr;\n}')


@pytest.mark.parametrize("how, waits", [("cv", True), ("cg", True), ("volatile.global", True), ("ca", False), ("global.nc", False)])
def test_loads_that_a_thread_may_wait_on_are_not_moved(how, waits):
    m = wb.compile(f"""__global__ void k(const int* x, int* y) {{
  asm volatile("ld.{how}.u32 %0, [%1];" : "=r"(y[0]) : "l"(x));
}}""")
    assert ("volatile" in m.ir()) == waits


def test_places_of_outputs_are_found_once():
    m = wb.compile("""__global__ void k(int* y, int* n) {
  int i = 0;
  asm("add.s32 %0, %0, 7;" : "+r"(y[i++]));
  int j = 1;
  asm("mov.u32 %0, 3; mov.u32 %1, 9;" : "=r"(j), "=r"(y[j]));
  n[0] = i * 10 + j;
}""")
    y, n = np.array([1, 2, 3, 4], np.int32), np.zeros(1, np.int32)
    m.k[1, 1](y, n)
    assert y.tolist() == [8, 9, 3, 4] and n[0] == 13


def test_a_bfloat16_is_the_upper_half_of_a_float():
    y = X.view(np.uint32) >> 16
    np.testing.assert_array_equal(run("cvt.f32.bf16 %0, %1;", "f", y.astype(np.uint16)).view(np.uint32), y << 16)


def test_mistakes_in_operands_are_told_of_where_they_stand():
    with pytest.raises(wb.CompileError, match="unknown name `z`") as wrong:
        wb.compile('__global__ void k(int* y) {\n  asm("mov.u32 %0, %1;" : "=r"(y[0]) : "r"(z));\n}')
    assert ":2:44" in str(wrong.value)


H = np.concatenate([[0, 1, 0x8000, 0x3C00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x0400], RNG.integers(0, 0x7C00, 2 * N - 9)]).astype(np.uint16).view(np.float16)
HX, HY, HZ = H.copy(), RNG.permutation(H), RNG.permutation(H)
# Sums and products of 11-bit significands are exact in float64 where exponents are near; those of the ends differ by at most 2^40.
WIDE = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "min": np.fmin,
    "max": np.fmax,
    "fma": lambda x, y, z: x * y + z,
    "neg": lambda x: -x,
    "abs": np.abs,
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("pair", [False, True])
def test_16_bit_floats(name, pair):
    count = WIDE[name].__code__.co_argcount if hasattr(WIDE[name], "__code__") else WIDE[name].nin
    inputs = [HX, HY, HZ][:count]
    rounds = ".rn" if name == "fma" else ""
    operands = ", ".join(f"%{i + 1}" for i in range(count))
    with np.errstate(all="ignore"):
        want = WIDE[name](*[x.astype(np.float64) for x in inputs]).astype(np.float16)
    if pair:
        made = run(f"{name}{rounds}.f16x2 %0, {operands};", "r", *[x.view(np.uint32) for x in inputs]).view(np.float16)
    else:
        made = run(f"{name}{rounds}.f16 %0, {operands};", "h", *[x.view(np.uint16) for x in inputs]).view(np.float16)
    np.testing.assert_array_equal(made, want)
    there = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(made)[there], np.signbit(want)[there])


def test_bfloat16_pairs():
    x, y = (RNG.standard_normal(2 * N).astype(ml_dtypes.bfloat16) for _ in range(2))
    made = run("mul.rn.bf16x2 %0, %1, %2;", "r", x.view(np.uint32), y.view(np.uint32)).view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(made, (x.astype(np.float64) * y.astype(np.float64)).astype(ml_dtypes.bfloat16))


def shuffled(mode, value, b, c):
    """A warp's results and predicates, by the ISA's own words."""
    lane = np.arange(32)
    by, clamp, segment = b & 31, c & 31, c >> 8 & 31
    low, high = lane & segment, (lane & segment) | (clamp & ~segment & 31)
    j = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": low | (by & ~segment & 31)}[mode]
    there = j >= high if mode == "up" else j <= high
    return value[np.where(there, j, lane)], there


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("c", [0x1F, 0, 0x1C1F, 0x1800, 0x0F, 0x100F])
def test_shuffles_with_clamps_and_predicates(mode, c):
    text = f"""__global__ void k(const unsigned* x, const unsigned* b, unsigned* y, int* p) {{
    unsigned v; int there;
    asm volatile("{{ .reg .pred q; shfl.sync.{mode}.b32 %0|q, %2, %3, {c}, 0xffffffff; selp.s32 %1, 1, 0, q; }}"
        : "=r"(v), "=r"(there) : "r"(x[threadIdx.x]), "r"(b[threadIdx.x]));
    y[threadIdx.x] = v; p[threadIdx.x] = there;
}}"""
    module = wb.compile(text)
    x = RNG.integers(0, 2**32, 32, np.uint32)
    for by in (0, 1, 3, 17, 31):
        b, y, p = np.full(32, by, np.uint32), np.empty(32, np.uint32), np.empty(32, np.int32)
        module.k[1, 32](x, b, y, p)
        want, there = shuffled(mode, x, b.astype(np.int64), c)
        np.testing.assert_array_equal(y, want)
        np.testing.assert_array_equal(p, there)


def test_words_of_four_parts():
    np.testing.assert_array_equal(
        run("{ .reg .b16 a, b, c, d; mov.b64 {a, b, c, d}, %1; mov.b64 %0, {d, c, b, a}; }", "l", A64),
        A64.view(np.uint16).reshape(-1, 4)[:, ::-1].copy().view(np.uint64).ravel(),
    )


def test_policies_of_caches_are_hints():
    text = """__global__ void k(const float* x, float* y) {
    unsigned long long policy;
    float v;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(x + threadIdx.x), "l"(policy));
    y[threadIdx.x] = v;
}"""
    x, y = X[:32].copy(), np.zeros(32, np.float32)
    wb.compile(text).k[1, 32](x, y)
    np.testing.assert_array_equal(y, x)

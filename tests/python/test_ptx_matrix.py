"""Inline PTX of matrices and asynchronous copies: `mma.sync`, `ldmatrix`, `stmatrix`, `cp.async`, addresses of shared memory. Which elements
a lane holds is worked out here from the tables of the PTX ISA; products are NumPy's, in float64 or integers."""

import ml_dtypes
import numpy as np
import pytest

import workbench as wb

RNG = np.random.default_rng(5)
LANES = np.arange(32)
GROUP, THREAD = LANES // 4, LANES % 4


def registers(matrix, rows, cols):
    """The 32-bit registers of all lanes, [lane, register], each of the elements at some places."""
    held = matrix[rows, cols]
    return np.ascontiguousarray(held).view(np.uint32).reshape(32, -1)


def factor_a(a):
    """16 x K: elements in pairs or fours in a register; registers go down 8 rows, then on to the right."""
    k = a.shape[1]
    per = 4 // a.dtype.itemsize
    rows, cols = [], []
    for right in range(0, k, 4 * per):
        for down in (0, 8):
            for i in range(per):
                rows.append(GROUP + down)
                cols.append(right + THREAD * per + i)
    return registers(a, np.array(rows).T, np.array(cols).T)


def factor_b(b):
    """K x 8, a column a group."""
    k = b.shape[0]
    per = 4 // b.dtype.itemsize
    rows, cols = [], []
    for down in range(0, k, 4 * per):
        for i in range(per):
            rows.append(down + THREAD * per + i)
            cols.append(GROUP)
    return registers(b, np.array(rows).T, np.array(cols).T)


RESULT_ROWS = np.stack([GROUP, GROUP, GROUP + 8, GROUP + 8], 1)
RESULT_COLS = np.stack([2 * THREAD, 2 * THREAD + 1, 2 * THREAD, 2 * THREAD + 1], 1)


def product(instruction, a, b, c):
    """The result of a warp."""
    ra, rb = factor_a(a), factor_b(b)
    held = np.ascontiguousarray(c[RESULT_ROWS, RESULT_COLS])
    packed = c.dtype == np.float16
    kind, letter = {"float32": ("float", "f"), "int32": ("int", "r"), "float16": ("unsigned", "r")}[c.dtype.name]
    rc = held.view(np.uint32) if packed else held
    n, na, nb = rc.shape[1], ra.shape[1], rb.shape[1]

    def braces(first, count):
        return "{" + ", ".join(f"%{first + i}" for i in range(count)) + "}"

    outputs = ", ".join(f'"={letter}"(d[{i}])' for i in range(n))
    inputs = [f'"r"(x[{i}])' for i in range(na)] + [f'"r"(y[{i}])' for i in range(nb)] + [f'"{letter}"(z[{i}])' for i in range(n)]
    m = wb.compile(
        f"""__global__ void k(const unsigned* a, const unsigned* b, const {kind}* c, {kind}* out) {{
    int lane = threadIdx.x % 32;
    const unsigned* x = a + lane * {na};
    const unsigned* y = b + lane * {nb};
    const {kind}* z = c + lane * {n};
    {kind} d[{n}];
    asm volatile("{instruction} {braces(0, n)}, {braces(n, na)}, {braces(n + na, nb)}, {braces(n + na + nb, n)};"
        : {outputs} : {", ".join(inputs)});
    for (int i = 0; i < {n}; i++) out[threadIdx.x * {n} + i] = d[i];
}}"""
    )
    # Two warps make the same.
    out = np.empty((2, 32, n), rc.dtype)
    m.k[1, 64](ra, rb, rc, out)
    np.testing.assert_array_equal(out[0], out[1])
    made = np.empty_like(c)
    made[RESULT_ROWS, RESULT_COLS] = out[0].view(np.float16) if packed else out[0]
    return made


def bits(x):
    """Wide enough for the sum of products of 8-bit significands and less."""
    return x.astype(np.float64)


@pytest.mark.parametrize(
    "shape, name, dtype",
    [("m16n8k16", "f16", np.float16), ("m16n8k8", "f16", np.float16), ("m16n8k16", "bf16", ml_dtypes.bfloat16), ("m16n8k8", "bf16", ml_dtypes.bfloat16)],
)
def test_products_of_16_bit_floats(shape, name, dtype):
    k = int(shape.rpartition("k")[2])
    a, b = RNG.standard_normal((16, k)).astype(dtype), RNG.standard_normal((k, 8)).astype(dtype)
    c = RNG.standard_normal((16, 8)).astype(np.float32)
    made = product(f"mma.sync.aligned.{shape}.row.col.f32.{name}.{name}.f32", a, b, c)
    # Products are exact in float32; k + 1 sums round.
    bound = (k + 1) * 2.0**-24 * (np.abs(bits(a)) @ np.abs(bits(b)) + np.abs(c))
    assert (np.abs(made - (bits(a) @ bits(b) + c)) <= bound).all()


def test_products_summed_in_16_bits():
    a, b, c = (RNG.standard_normal(s).astype(np.float16) for s in ((16, 16), (16, 8), (16, 8)))
    made = product("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", a, b, c)
    exact = bits(a) @ bits(b) + bits(c)
    # One rounding to 11 bits at the end, besides those of float32.
    bound = 2.0**-11 * np.abs(exact) + 17 * 2.0**-24 * (np.abs(bits(a)) @ np.abs(bits(b)) + np.abs(bits(c))) + 2.0**-25
    assert (np.abs(bits(made) - exact) <= bound).all()


@pytest.mark.parametrize("k", [4, 8])
def test_products_of_tf32(k):
    a, b, c = (RNG.standard_normal(s).astype(np.float32) for s in ((16, k), (k, 8), (16, 8)))
    made = product(f"mma.sync.aligned.m16n8k{k}.row.col.f32.tf32.tf32.f32", a, b, c)

    def cut(x):
        return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)

    bound = (k + 1) * 2.0**-24 * (np.abs(cut(a)) @ np.abs(cut(b)) + np.abs(c))
    assert (np.abs(made - (cut(a) @ cut(b) + c)) <= bound).all()


@pytest.mark.parametrize("k", [16, 32])
@pytest.mark.parametrize("left, right", [("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")])
def test_products_of_bytes(k, left, right):
    types = {"s8": np.int8, "u8": np.uint8}
    a = RNG.integers(np.iinfo(types[left]).min, np.iinfo(types[left]).max, (16, k), types[left], endpoint=True)
    b = RNG.integers(np.iinfo(types[right]).min, np.iinfo(types[right]).max, (k, 8), types[right], endpoint=True)
    c = RNG.integers(-(2**31), 2**31, (16, 8), np.int32)
    exact = a.astype(np.int64) @ b.astype(np.int64) + c
    made = product(f"mma.sync.aligned.m16n8k{k}.row.col.s32.{left}.{right}.s32", a, b, c)
    np.testing.assert_array_equal(made, exact.astype(np.int32))
    made = product(f"mma.sync.aligned.m16n8k{k}.row.col.satfinite.s32.{left}.{right}.s32", a, b, c)
    np.testing.assert_array_equal(made, np.clip(exact, -(2**31), 2**31 - 1))


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("way", ["load", "store"])
def test_tiles_go_to_lanes_and_back(count, transposed, way):
    tiles = RNG.integers(0, 2**16, (count, 8, 8), np.uint16)
    # Rows are 24 elements apart and in another order, to be found by their addresses alone; those of lanes past the last tile are not asked.
    order = RNG.permutation(8 * count).astype(np.int32)
    suffix = ".trans" if transposed else ""
    of = "{" + ", ".join(f"%{i + (way == 'store')}" for i in range(count)) + "}"
    words = ", ".join(f'"{"=" if way == "load" else ""}r"(w[{i}])' for i in range(count))
    if way == "load":
        statement = f'asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{suffix}.shared.b16 {of}, [%{count}+16];" : {words} : "r"(p));'
    else:
        statement = f'asm volatile("stmatrix.sync.aligned.m8n8.x{count}{suffix}.shared.b16 [%0+16], {of};" :: "r"(p), {words});'
    m = wb.compile(
        f"""__global__ void k(unsigned short* memory, const int* order, unsigned* words) {{
    __shared__ __align__(16) unsigned short s[{8 * count + 1} * 24];
    int lane = threadIdx.x;
    for (int i = lane; i < {8 * count} * 24; i += 32) s[i] = memory[i];
    __syncwarp();
    unsigned w[{count}];
    for (int i = 0; i < {count}; i++) w[i] = words[lane * {count} + i];
    unsigned p = lane < {8 * count} ? (unsigned)__cvta_generic_to_shared(&s[order[lane] * 24]) - 16 : 0u;
    {statement}
    __syncwarp();
    for (int i = lane; i < {8 * count} * 24; i += 32) memory[i] = s[i];
    for (int i = 0; i < {count}; i++) words[lane * {count} + i] = w[i];
}}"""
    )
    memory = np.zeros((8 * count, 24), np.uint16)
    # Lane l holds elements 2 (l % 4) and the next of row l / 4; transposed, of column l / 4.
    seen = tiles.transpose(0, 2, 1) if transposed else tiles
    held = np.stack([seen[:, GROUP, 2 * THREAD], seen[:, GROUP, 2 * THREAD + 1]], -1)
    held = np.ascontiguousarray(held.transpose(1, 0, 2)).view(np.uint32).reshape(32, count)
    words = np.zeros((32, count), np.uint32)
    if way == "load":
        memory[order, :8] = tiles.reshape(-1, 8)
    else:
        words[:] = held
    m.k[1, 32](memory, order, words)
    np.testing.assert_array_equal(words, held)
    np.testing.assert_array_equal(memory[order, :8].reshape(tiles.shape), tiles)


def test_the_count_before_the_shape_and_alignment_of_dynamic_memory():
    """As CUTLASS writes it; and a swizzle of addresses that counts on memory beginning at a multiple of 1024."""
    text = """extern __shared__ __align__(1024) unsigned char memory[];
__global__ void k(const unsigned* x, unsigned* y, unsigned* rest) {
    __shared__ float odd[3];
    odd[threadIdx.x % 3] = 0;
    unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    for (int i = threadIdx.x; i < 256; i += 32) ((unsigned*)memory)[i] = x[i];
    __syncwarp();
    unsigned at = base + threadIdx.x % 8 * 128, w;
    at ^= (at & 0x380) >> 3;
    asm volatile("ldmatrix.sync.aligned.x1.m8n8.shared.b16 {%0}, [%1];" : "=r"(w) : "r"(at));
    y[threadIdx.x] = w;
    rest[threadIdx.x] = base % 1024;
}"""
    x, y, rest = RNG.integers(0, 2**32, 256, np.uint32), np.zeros(32, np.uint32), np.ones(32, np.uint32)
    wb.compile(text).k[1, 32, 1024](x, y, rest)
    row = GROUP * 128
    row = row ^ (row & 0x380) >> 3
    np.testing.assert_array_equal(y, x[row // 4 + THREAD])
    assert (rest == 0).all()


def test_conversion_to_tf32():
    text = """__global__ void k(const float* x, unsigned* y) {
    unsigned w;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(w) : "f"(x[threadIdx.x]));
    y[threadIdx.x] = w;
}"""
    x = np.concatenate([[1.0, 1 + 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-12, np.inf, -np.inf, 3e38, 0.0], RNG.standard_normal(24)]).astype(np.float32)
    y = np.zeros(32, np.uint32)
    wb.compile(text).k[1, 32](x, y)
    # Nearest multiples of a step of the 10-bit significand, halves away from zero.
    finite = np.isfinite(x)
    mantissa, exponent = np.frexp(np.where(finite, x, 1).astype(np.float64))
    scaled = mantissa * 2**11
    want = np.where(finite, np.sign(scaled) * np.floor(np.abs(scaled) + 0.5) * 2.0 ** (exponent - 11), x).astype(np.float32)
    np.testing.assert_array_equal(y.view(np.float32), want)


@pytest.mark.parametrize("size, mode", [(4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")])
def test_asynchronous_copies(size, mode):
    n = 37
    given = RNG.integers(0, 256, (n, size), np.uint8)
    many = (np.arange(n) % (size + 1)).astype(np.int32)
    text = f"""__global__ void k(const unsigned char* x, const int* many, unsigned char* all, unsigned char* some, int n) {{
    __shared__ __align__(16) unsigned char s[64 * {size}], t[64 * {size}];
    int i = threadIdx.x;
    unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(s + i * {size})), b = (unsigned)__cvta_generic_to_shared(t + i * {size});
    if (i < n) {{
        asm volatile("cp.async.{mode}.shared.global.L2::128B [%0], [%1], %2;\\n" :: "r"(a), "l"(x + i * {size}), "n"({size}));
        asm volatile("cp.async.{mode}.shared.global [%0], [%1], {size}, %2;\\n" :: "r"(b), "l"(__cvta_generic_to_global(x + i * {size})), "r"(many[i]));
    }}
    asm volatile("cp.async.commit_group;\\n" ::);
    asm volatile("cp.async.wait_group %0;\\n" :: "n"(0));
    __syncthreads();
    if (i < n) for (int j = 0; j < {size}; j++) {{ all[i * {size} + j] = s[i * {size} + j]; some[i * {size} + j] = t[i * {size} + j]; }}
}}"""
    every, some = np.full_like(given, 7), np.full_like(given, 7)
    wb.compile(text).k[1, 64](given, many, every, some, n)
    np.testing.assert_array_equal(every, given)
    np.testing.assert_array_equal(some, np.where(np.arange(size) < many[:, None], given, 0))


def test_the_guarded_copy_of_a_library():
    """As CUTLASS writes it: a predicate, and addresses by `cvta`."""
    text = """__device__ inline unsigned smem(void const* const p) {
    unsigned a;
    asm("{.reg .u64 u64addr;\\n cvta.to.shared.u64 u64addr, %1;\\n cvt.u32.u64 %0, u64addr; }\\n" : "=r"(a) : "l"(p));
    return a;
}
__device__ inline void copy(void* to, const void* from, bool p) {
    asm volatile("{\\n  .reg .pred p;\\n  setp.ne.b32 p, %0, 0;\\n  @p cp.async.ca.shared.global [%1], [%2], %3;\\n}\\n" :: "r"((int)p), "r"(smem(to)), "l"(from), "n"(8));
}
__global__ void k(const float2* x, float2* y) {
    __shared__ float2 s[32];
    s[threadIdx.x] = make_float2(-1.f, -2.f);
    copy(&s[threadIdx.x], &x[threadIdx.x], threadIdx.x % 3 == 0);
    asm volatile("cp.async.wait_all;");
    __syncwarp();
    float2 v;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2+8];" : "=f"(v.x), "=f"(v.y) : "r"(smem(s) + 8 * threadIdx.x - 8));
    y[threadIdx.x] = v;
}"""
    x, y = RNG.standard_normal((32, 2)).astype(np.float32), np.zeros((32, 2), np.float32)
    wb.compile(text).k[1, 32](x, y)
    np.testing.assert_array_equal(y, np.where(np.arange(32)[:, None] % 3 == 0, x, np.float32([-1, -2])))


def test_atomics_and_stores_of_shared_memory():
    text = """__global__ void k(int* y, float* z) {
    __shared__ int n;
    __shared__ float f[32];
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    unsigned a = __cvta_generic_to_shared(&n), b = __cvta_generic_to_shared(f);
    asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(a), "r"(threadIdx.x));
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(b + 4 * threadIdx.x), "f"(threadIdx.x * 0.5f));
    __syncthreads();
    int old;
    asm volatile("atom.shared.max.s32 %0, [%1], %2;" : "=r"(old) : "r"(a), "r"(-1));
    y[threadIdx.x] = old;
    z[threadIdx.x] = ((const float*)__cvta_shared_to_generic(b))[31 - threadIdx.x];
}"""
    y, z = np.zeros(32, np.int32), np.zeros(32, np.float32)
    wb.compile(text).k[1, 32](y, z)
    assert (y == 496).all()
    np.testing.assert_array_equal(z, np.arange(31, -1, -1, dtype=np.float32) / 2)


@pytest.mark.parametrize(
    "statement, said",
    [
        ('asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(a + 512), "l"(x));', "out-of-bounds write"),
        ('asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(a), "l"(x + 128));', "out-of-bounds read"),
        ('asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(a + 4), "l"(x));', "misaligned"),
        ('asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(a), "l"(x), "r"(9));', "trap"),
        ('asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" :: "r"(a), "l"(x), "n"(8));', "trap"),
        ('asm volatile("st.shared.f32 [%0], %1;" :: "r"(a - 4), "f"(1.f));', "in no live allocation"),
        ('asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w) : "r"(12));', "in no live allocation"),
        ('asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(w) : "r"(a + 496 + 16 * threadIdx.x));', "out-of-bounds read"),
        ('if (threadIdx.x < 31) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(w) : "r"(a));', "lane 31"),
    ],
)
def test_faults_name_the_statement(statement, said):
    text = f"""__global__ void k(const float* x, unsigned* y) {{
    __shared__ __align__(16) float s[128];
    unsigned a = (unsigned)__cvta_generic_to_shared(s), w = 0;
    if (threadIdx.x < 8) s[threadIdx.x] = 0;
    {statement}
    y[threadIdx.x] = w;
}}"""
    with pytest.raises(wb.KernelFault) as raised:
        wb.compile(text).k[1, 32](np.zeros(128, np.float32), np.zeros(32, np.uint32))
    assert said in str(raised.value) and raised.value.line == 5


GEMM = r"""
#include <cuda_fp16.h>
#include <stdint.h>
constexpr int BM = 64, BN = 64, BK = 32, PAD = 8;
__device__ __forceinline__ void cp_async16(uint32_t to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(to), "l"(from));
}
// Four warps, 32 x 32 results each, two stages of tiles.
__global__ void __launch_bounds__(128) gemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
    __shared__ half As[2][BM][BK + PAD];
    __shared__ half Bs[2][BK][BN + PAD];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
    float acc[2][4][4] = {};
    auto load = [&](int stage, int k0) {
        for (int c = tid; c < BM * BK / 8; c += 128) {
            int r = c / (BK / 8), k = c % (BK / 8) * 8;
            cp_async16((uint32_t)__cvta_generic_to_shared(&As[stage][r][k]), A + (size_t)(blockIdx.y * BM + r) * K + k0 + k);
        }
        for (int c = tid; c < BK * BN / 8; c += 128) {
            int r = c / (BN / 8), n = c % (BN / 8) * 8;
            cp_async16((uint32_t)__cvta_generic_to_shared(&Bs[stage][r][n]), B + (size_t)(k0 + r) * N + blockIdx.x * BN + n);
        }
        asm volatile("cp.async.commit_group;\n" ::);
    };
    load(0, 0);
    for (int k0 = 0, stage = 0; k0 < K; k0 += BK, stage ^= 1) {
        if (k0 + BK < K) {
            load(stage ^ 1, k0 + BK);
            asm volatile("cp.async.wait_group 1;\n" ::);
        } else {
            asm volatile("cp.async.wait_group 0;\n" ::);
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            uint32_t a[2][4], b[4][2];
            for (int i = 0; i < 2; i++) {
                uint32_t p = (uint32_t)__cvta_generic_to_shared(&As[stage][wm + i * 16 + lane % 16][kk + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                    : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3]) : "r"(p));
            }
            for (int j = 0; j < 4; j++) {
                uint32_t p = (uint32_t)__cvta_generic_to_shared(&Bs[stage][kk + lane % 16][wn + j * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];\n" : "=r"(b[j][0]), "=r"(b[j][1]) : "r"(p));
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                        : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                        : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            int row = blockIdx.y * BM + wm + i * 16 + lane / 4, col = blockIdx.x * BN + wn + j * 8 + lane % 4 * 2;
            *(float2*)&C[(size_t)row * N + col] = make_float2(acc[i][j][0], acc[i][j][1]);
            *(float2*)&C[(size_t)(row + 8) * N + col] = make_float2(acc[i][j][2], acc[i][j][3]);
        }
}
"""


def test_a_pipelined_product_by_tensor_cores():
    m, n, k = 128, 192, 160
    a, b = RNG.standard_normal((m, k)).astype(np.float16), RNG.standard_normal((k, n)).astype(np.float16)
    c = np.full((m, n), np.nan, np.float32)
    wb.compile(GEMM).gemm[(n // 64, m // 64), 128](a, b, c, m, n, k)
    bound = (k + 1) * 2.0**-24 * (np.abs(bits(a)) @ np.abs(bits(b)))
    assert (np.abs(c - bits(a) @ bits(b)) <= bound).all()


@pytest.mark.parametrize("align", [16, 128, 1024])
@pytest.mark.parametrize("declared", ["__shared__ __align__({}) float s[40];", "__shared__ float s[40] __align__({});", "extern __shared__ alignas({}) float s[];"])
def test_shared_memory_is_aligned_as_declared(align, declared):
    text = f"""__global__ void k(unsigned* y) {{
    __shared__ float a[5];
    {declared.format(align)}
    a[threadIdx.x % 5] = s[threadIdx.x] = 0;
    y[threadIdx.x] = (unsigned)__cvta_generic_to_shared(s) % {align};
}}"""
    y = np.ones(32, np.uint32)
    wb.compile(text).k[1, 32, 160](y)
    assert (y == 0).all()


@pytest.mark.parametrize("align", [3, 8192])
def test_alignments_that_are_none(align):
    with pytest.raises(wb.CompileError, match="an alignment is a power of two up to 4096") as raised:
        wb.compile(f"__global__ void k(float* y) {{\n  __shared__ __align__({align}) float s[4]; y[0] = s[0];\n}}")
    assert raised.value.diagnostics[0].line == 2

"""libcu++ in kernels: atomics, barriers, pipelines, asynchronous copies, `cuda::std`. What they must give is worked out with NumPy."""

import numpy as np
import pytest

import workbench as wb

HEAD = """#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/atomic>
#include <cuda/std/limits>
namespace cg = cooperative_groups;
"""


def compiled(text):
    return wb.compile(HEAD + text)


# Atomics


@pytest.mark.parametrize("scope", ["system", "device", "block"])
@pytest.mark.parametrize(
    ("ctype", "dtype"),
    [("int", np.int32), ("unsigned", np.uint32), ("long long", np.int64), ("unsigned long long", np.uint64), ("float", np.float32), ("double", np.float64)],
)
def test_counts_by_atomics(ctype, dtype, scope, rng):
    if scope == "block":
        grid = 1
    else:
        grid = 13
    m = compiled(f"""
__global__ void k({ctype}* sum, {ctype}* low, {ctype}* high, const {ctype}* x, int n) {{
    using A = cuda::atomic_ref<{ctype}, cuda::thread_scope_{scope}>;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {{
        A(*sum).fetch_add(x[i], cuda::memory_order_relaxed);
        A(*low).fetch_min(x[i]);
        A a(*high);
        a.fetch_max(x[i], cuda::std::memory_order_seq_cst);
    }}
}}""")
    x = rng.integers(0 if dtype in (np.uint32, np.uint64) else -500, 500, 5003).astype(dtype)
    total, low, high = np.zeros(1, dtype), np.full(1, 100, dtype), np.full(1, 7, dtype)
    m.k[grid, 96](total, low, high, x, len(x))
    assert total[0] == x.sum(dtype=dtype)
    assert low[0] == min(100, x.min())
    assert high[0] == max(7, x.max())


def test_every_operation():
    m = compiled("""
template <typename A> __device__ void operations(A& a, long long* y) {
    int i = 0;
    a.store(10);
    y[i++] = a.load(cuda::memory_order_acquire);
    y[i++] = a.exchange(20);
    y[i++] = a.fetch_add(5);
    y[i++] = a.fetch_sub(3, cuda::memory_order_release);
    y[i++] = a.fetch_and(0x1e);
    y[i++] = a.fetch_or(0x40);
    y[i++] = a.fetch_xor(0x0f);
    y[i++] = a;
    y[i++] = ++a;
    y[i++] = a++;
    y[i++] = --a;
    y[i++] = a--;
    y[i++] = a += 7;
    y[i++] = a -= 2;
    y[i++] = a &= 0x3f;
    y[i++] = a |= 0x100 >> 2;
    y[i++] = a ^= 1;
    a = 33;
    typename A::value_type expected = 5;
    y[i++] = a.compare_exchange_strong(expected, 6);
    y[i++] = expected;
    y[i++] = a.compare_exchange_weak(expected, 44, cuda::memory_order_acq_rel, cuda::memory_order_relaxed);
    y[i++] = a.load();
    y[i++] = a.fetch_min(40);
    y[i++] = a.fetch_max(50);
    y[i++] = a.load();
}
__device__ cuda::atomic<int, cuda::thread_scope_device> global{1};
__global__ void k(long long* y) {
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> shared;
    __shared__ cuda::atomic<long long> wide;
    __shared__ cuda::atomic<signed char> small;
    __shared__ cuda::std::atomic<unsigned short> half;
    __shared__ int plain;
    operations(global, y);
    operations(shared, y + 32);
    operations(wide, y + 64);
    operations(small, y + 96);
    operations(half, y + 128);
    cuda::atomic_ref<int, cuda::thread_scope_block> ref(plain);
    operations(ref, y + 160);
    cuda::atomic<int, cuda::thread_scope_thread> local(3);
    operations(local, y + 192);
}""")
    a, wanted = 10, []
    wanted += [10, 10, 20, 25, 22, 22 & 0x1E, (22 & 0x1E) | 0x40]
    a = ((22 & 0x1E) | 0x40) ^ 0x0F
    wanted += [a, a + 1, a + 1, a + 1, a + 1]
    a += 7
    wanted += [a, a - 2]
    a = (a - 2) & 0x3F
    wanted += [a, a | 0x40, (a | 0x40) ^ 1]
    wanted += [0, 33, 1, 44, 44, 40, 50]
    y = np.zeros(7 * 32, np.int64)
    m.k[1, 1](y)
    for row in y.reshape(7, 32):
        assert row[: len(wanted)].tolist() == wanted


def test_small_and_composed_values(rng):
    m = compiled("""
struct Best { float value; int index; };
__global__ void k(int* bytes, float* best, int* where, const float* x, int n) {
    __shared__ cuda::atomic<unsigned char, cuda::thread_scope_block> count;
    __shared__ cuda::atomic<bool, cuda::thread_scope_block> any;
    __shared__ cuda::atomic<Best, cuda::thread_scope_block> b;
    if (threadIdx.x == 0) {
        count.store(0);
        any = false;
        b.store(Best{x[0], 0});
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (x[i] > 0) count.fetch_add(1);
        if (x[i] > 0.99f) any.store(true);
        Best now = b.load();
        while (x[i] > now.value && !b.compare_exchange_weak(now, Best{x[i], i})) {}
    }
    __syncthreads();
    bytes[0] = count.load();
    bytes[1] = any.load();
    *best = b.load().value;
    *where = b.load().index;
}""")
    x = rng.standard_normal(700).astype(np.float32)
    counts, best, where = np.zeros(2, np.int32), np.zeros(1, np.float32), np.zeros(1, np.int32)
    m.k[1, 128](counts, best, where, x, len(x))
    assert counts.tolist() == [(x > 0).sum() % 256, (x > 0.99).any()]
    assert (best[0], where[0]) == (x.max(), x.argmax())


def test_a_histogram(rng):
    m = compiled("""
__global__ void histogram(unsigned* out, const unsigned char* x, int n) {
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) bins[x[i]].fetch_add(1, cuda::std::memory_order_relaxed);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> total(out[i]);
        total += bins[i].load();
    }
}""")
    for n in (0, 1, 777, 100_003):
        x = rng.integers(0, 256, n).astype(np.uint8)
        out = np.zeros(256, np.uint32)
        m.histogram[7, 100](out, x if n else np.zeros(1, np.uint8), n)
        assert out.tolist() == np.bincount(x, minlength=256).tolist()


def test_blocks_in_a_chain():
    # Each block waits for the one before it.
    m = compiled("""
__global__ void k(int* turn, int* sum, const int* x) {
    cuda::atomic_ref<int, cuda::thread_scope_device> t(*turn);
    if (threadIdx.x == 0) {
        while (t.load(cuda::memory_order_acquire) != blockIdx.x) {}
        *sum = *sum * 3 + x[blockIdx.x];
        t.store(blockIdx.x + 1, cuda::memory_order_release);
    }
}""")
    x = np.arange(40, dtype=np.int32)
    turn, total, wanted = np.zeros(1, np.int32), np.zeros(1, np.int32), 0
    m.k[40, 32](turn, total, x)
    for value in x:
        wanted = (wanted * 3 + int(value)) % 2**32
    assert int(total[0]) % 2**32 == wanted


def test_the_last_block_sums(rng):
    m = compiled("""
__device__ cuda::atomic<unsigned, cuda::thread_scope_device> ticket{0};
__global__ void k(float* out, float* partial, const float* x, int n) {
    __shared__ float s[128];
    __shared__ bool last;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0;
        for (int i = 0; i < blockDim.x; ++i) all += s[i];
        partial[blockIdx.x] = all;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        last = ticket.fetch_add(1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        cuda::atomic_thread_fence(cuda::std::memory_order_acquire);
        float all = 0;
        for (int i = 0; i < gridDim.x; ++i) all += partial[i];
        *out = all;
        ticket.store(0);
    }
}""")
    x = rng.random(10_001).astype(np.float32)
    for _ in range(3):
        out = np.zeros(1, np.float32)
        m.k[19, 128](out, np.zeros(19, np.float32), x, len(x))
        np.testing.assert_allclose(out[0], x.sum(dtype=np.float64), rtol=1e-5)


def test_locks():
    m = compiled("""
__device__ cuda::binary_semaphore<cuda::thread_scope_device> lock(1);
__device__ cuda::atomic_flag<cuda::thread_scope_device> flag(false);
__global__ void k(int* a, int* b) {
    lock.acquire();
    *(volatile int*)a = *(volatile int*)a + 1;
    lock.release();
    while (flag.test_and_set(cuda::memory_order_acquire)) {}
    *(volatile int*)b = *(volatile int*)b + 2;
    flag.clear(cuda::memory_order_release);
}""")
    a, b = np.zeros(1, np.int32), np.zeros(1, np.int32)
    m.k[11, 64](a, b)
    assert (a[0], b[0]) == (11 * 64, 2 * 11 * 64)


# Barriers


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 256, 1000])
@pytest.mark.parametrize("scope", ["block", "system"])
def test_a_barrier_of_the_block(threads, scope, rng):
    m = compiled(f"""
__global__ void rotate(int* out, const int* x, int rounds) {{
    __shared__ cuda::barrier<cuda::thread_scope_{scope}> bar;
    __shared__ int t[1024];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    int i = threadIdx.x, v = x[blockIdx.x * blockDim.x + i];
    for (int r = 0; r < rounds; ++r) {{
        t[i] = v;
        bar.arrive_and_wait();
        v = t[(i + 1) % blockDim.x] + 1;
        cuda::barrier<cuda::thread_scope_{scope}>::arrival_token token = bar.arrive();
        bar.wait(std::move(token));
    }}
    out[blockIdx.x * blockDim.x + i] = v;
}}""")
    x = rng.integers(0, 1000, (3, threads)).astype(np.int32)
    out = np.zeros_like(x)
    m.rotate[3, threads](out, x, 5)
    np.testing.assert_array_equal(out, np.roll(x, -5, axis=1) + 5)


def test_a_tree_of_sums(rng):
    m = compiled("""
using barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ float sum(barrier& bar, float* s, float v) {
    s[threadIdx.x] = v;
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        bar.arrive_and_wait();
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
    }
    bar.arrive_and_wait();
    return s[0];
}
__global__ void k(float* out, const float* x) {
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    __shared__ float s[256];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum(bar, s, x[blockIdx.x * blockDim.x + threadIdx.x]);
}""")
    x = rng.integers(0, 100, (5, 256)).astype(np.float32)
    out = np.zeros_like(x)
    m.k[5, 256](out, x)
    np.testing.assert_array_equal(out, np.repeat(x.sum(1), 256).reshape(5, 256))


def test_parts_of_a_block():
    # A barrier of a warp's own; threads that drop out; threads that only arrive.
    m = compiled("""
__global__ void k(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bars[4], all;
    __shared__ int t[128];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) init(&bars[warp], 32);
    if (threadIdx.x == 0) init(&all, 128);
    __syncthreads();
    t[threadIdx.x] = threadIdx.x;
    if (warp > 0) bars[warp].arrive_and_wait();
    out[threadIdx.x] = t[warp * 32 + 31 - lane];
    if (threadIdx.x % 2) all.arrive_and_drop();
    else all.arrive_and_wait();
    if (threadIdx.x % 2 == 0) {
        t[threadIdx.x] += 1000;
        all.arrive_and_wait();
        out[threadIdx.x] += t[126 - threadIdx.x];
    }
}""")
    out = np.zeros(128, np.int32)
    m.k[1, 128](out)
    i = np.arange(128)
    wanted = np.where(i < 32, 31 - i, i // 32 * 32 + 31 - i % 32)
    # Nobody waited in the first warp, so its lanes saw what was there or not.
    wanted = wanted + np.where(i % 2 == 0, 126 - i + 1000, 0)
    np.testing.assert_array_equal(out[32:], wanted[32:])


def test_a_completion_and_phases():
    m = compiled("""
struct Count { int* n; __device__ void operator()() const { atomicAdd(n, 1); } };
__global__ void k(int* done, int* phases) {
    __shared__ cuda::barrier<cuda::thread_scope_block, Count> bar;
    __shared__ cuda::barrier<cuda::thread_scope_block> plain;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x, Count{done});
        init(&plain, blockDim.x);
    }
    __syncthreads();
    for (int i = 0; i < 4; ++i) bar.arrive_and_wait();
    for (int i = 0; i < 5; ++i) {
        auto token = plain.arrive();
        while (!plain.try_wait(token)) {}
        plain.arrive();
        plain.wait_parity(1);
    }
    phases[threadIdx.x] = plain.try_wait_parity(true) * 10 + plain.try_wait_parity(false);
}""")
    done, phases = np.zeros(1, np.int32), np.zeros(64, np.int32)
    m.k[1, 64](done, phases)
    assert done[0] == 4
    assert (phases == 10).all()


def test_latches():
    m = compiled("""
__global__ void k(int* out) {
    __shared__ cuda::latch<cuda::thread_scope_block>* none;
    __shared__ int t[64];
    __shared__ unsigned char room[sizeof(cuda::latch<cuda::thread_scope_block>)];
    auto* l = reinterpret_cast<cuda::latch<cuda::thread_scope_block>*>(room);
    if (threadIdx.x == 0) *(unsigned*)room = 64;
    __syncthreads();
    t[threadIdx.x] = threadIdx.x * 2;
    l->arrive_and_wait();
    out[threadIdx.x] = t[63 - threadIdx.x] + l->try_wait();
}""")
    out = np.zeros(64, np.int32)
    m.k[1, 64](out)
    assert out.tolist() == [2 * (63 - i) + 1 for i in range(64)]


# Copies


@pytest.mark.parametrize("ctype", ["float", "double", "int4", "char"])
@pytest.mark.parametrize("form", ["block", "thread", "aligned", "void"])
def test_copies_with_a_barrier(ctype, form, rng):
    copy = {
        "block": "cuda::memcpy_async(block, s, x + start, sizeof(T) * blockDim.x, bar);",
        "thread": "cuda::memcpy_async(s + i, x + start + i, sizeof(T), bar);",
        "aligned": "cuda::memcpy_async(block, s, x + start, cuda::aligned_size_t<alignof(T)>(sizeof(T) * blockDim.x), bar);",
        "void": "if (i == 0) cuda::memcpy_async((void*)s, (const void*)(x + start), sizeof(T) * blockDim.x, bar);",
    }[form]
    m = compiled(f"""
using T = {ctype};
__global__ void k(T* out, const T* x) {{
    extern __shared__ double raw[];
    T* s = reinterpret_cast<T*>(raw);
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    cg::thread_block block = cg::this_thread_block();
    int i = threadIdx.x, start = blockIdx.x * blockDim.x;
    if (i == 0) init(&bar, blockDim.x);
    block.sync();
    {copy}
    bar.arrive_and_wait();
    out[start + i] = s[blockDim.x - 1 - i];
}}""")
    size = {"float": 4, "double": 8, "int4": 16, "char": 1}[ctype]
    for threads in (1, 37, 128):
        bits = rng.integers(0, 255, (3, threads, size)).astype(np.uint8)
        dtype = {"float": np.float32, "double": np.float64, "int4": np.int32, "char": np.int8}[ctype]
        x = bits.view(dtype)
        out = np.zeros_like(x)
        m.k[3, threads, threads * size](out, x)
        np.testing.assert_array_equal(out.view(np.uint8), x[:, ::-1].copy().view(np.uint8))


# Pipelines


def stages_kernel(stages):
    # As the programming guide has it: the pipeline is kept full, blocks compute on what has arrived.
    return f"""
template <typename T> __device__ T compute(const T* s, int n) {{
    T sum = 0;
    for (int i = 0; i < n; ++i) sum += s[i] * (i + 1 + threadIdx.x);
    return sum;
}}
__global__ void k(float* out, const float* in, int batches) {{
    constexpr size_t stages = {stages};
    extern __shared__ float shared[];
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipeline = cuda::make_pipeline(block, &state);
    size_t offset[stages];
    for (int s = 0; s < stages; ++s) offset[s] = s * block.size();
    auto from = [&](size_t batch) -> size_t {{ return block.group_index().x * block.size() + grid.size() * batch; }};
    float sum = 0;
    for (size_t compute_batch = 0, fetch_batch = 0; compute_batch < batches; ++compute_batch) {{
        for (; fetch_batch < batches && fetch_batch < compute_batch + stages; ++fetch_batch) {{
            pipeline.producer_acquire();
            cuda::memcpy_async(block, shared + offset[fetch_batch % stages], in + from(fetch_batch), sizeof(float) * block.size(), pipeline);
            pipeline.producer_commit();
        }}
        pipeline.consumer_wait();
        sum += compute(shared + offset[compute_batch % stages], block.size());
        pipeline.consumer_release();
    }}
    out[grid.thread_rank()] = sum;
}}"""


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("threads", [1, 32, 45])
@pytest.mark.parametrize("batches", [0, 1, 2, 7])
def test_a_pipeline_of_the_block(stages, threads, batches, rng):
    m = compiled(stages_kernel(stages))
    x = rng.integers(-5, 5, (max(batches, 1), 3, threads)).astype(np.float32)
    out = np.zeros((3, threads), np.float32)
    m.k[3, threads, stages * threads * 4](out, x, batches)
    weights = np.arange(threads)[:, None] + np.arange(1, threads + 1)
    np.testing.assert_array_equal(out, np.einsum("bgi,ti->gt", x[:batches], weights))


def test_a_pipeline_of_a_thread(rng):
    m = compiled("""
__global__ void k(float* out, const float* in, int rounds) {
    __shared__ float s[2][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    int i = threadIdx.x;
    const auto shape = cuda::aligned_size_t<alignof(float)>(sizeof(float));
    pipe.producer_acquire();
    cuda::memcpy_async(&s[0][i], &in[i], shape, pipe);
    pipe.producer_commit();
    float sum = 0;
    for (int r = 0; r < rounds; ++r) {
        if (r + 1 < rounds) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[(r + 1) % 2][i], &in[(r + 1) * 64 + i], shape, pipe);
            pipe.producer_commit();
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else {
            pipe.consumer_wait();
        }
        __syncthreads();
        sum += s[r % 2][63 - i];
        __syncthreads();
        pipe.consumer_release();
    }
    out[i] = sum;
}""")
    for rounds in (1, 2, 5):
        x = rng.integers(0, 9, (rounds, 64)).astype(np.float32)
        out = np.zeros(64, np.float32)
        m.k[1, 64](out, x, rounds)
        np.testing.assert_array_equal(out, x.sum(0)[::-1])


@pytest.mark.parametrize("how", ["role", "count"])
def test_producers_and_consumers_in_one_loop(how, rng):
    m = compiled(f"""
__global__ void k(int* out, const int* in, int batches) {{
    constexpr unsigned stages = 2;
    __shared__ int s[stages][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    const bool produces = block.thread_rank() < 32;
    auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, {"role" if how == "role" else "(size_t)32"});
    int sum = 0;
    for (int b = 0; b < batches; ++b) {{
        if (role == cuda::pipeline_role::producer) {{
            pipe.producer_acquire();
            cuda::memcpy_async(&s[b % stages][threadIdx.x], in + b * 32 + threadIdx.x, sizeof(int), pipe);
            pipe.producer_commit();
        }} else {{
            pipe.consumer_wait();
            sum += s[b % stages][31 - threadIdx.x % 32] * (threadIdx.x / 32);
            pipe.consumer_release();
        }}
    }}
    pipe.quit();
    out[threadIdx.x] = sum;
}}""")
    x = rng.integers(0, 9, (5, 32)).astype(np.int32)
    out = np.zeros(96, np.int32)
    m.k[1, 96](out, x, 5)
    total = x.sum(0)[::-1]
    assert out.tolist() == [0] * 32 + total.tolist() + (2 * total).tolist()


# `cuda::std`


def test_the_standard_library_in_kernels():
    m = compiled("""
__global__ void k(float* y, int* n) {
    y[0] = cuda::std::sqrt(2.0f);
    y[1] = cuda::std::max(1.5f, 2.5f);
    y[2] = cuda::std::numeric_limits<float>::max();
    y[3] = cuda::std::pow(2.0f, 10.0f);
    y[4] = cuda::std::fma(2.0f, 3.0f, 4.0f);
    n[0] = cuda::std::min(3, 2);
    n[1] = cuda::std::is_same_v<int, cuda::std::remove_const_t<const int>>;
    n[2] = cuda::std::numeric_limits<int>::lowest();
    n[3] = cuda::std::is_floating_point<double>::value;
    cuda::std::array<int, 3> a{{1, 2, 3}};
    n[4] = a[2] + (int)a.size();
    int p = 1, q = 2;
    cuda::std::swap(p, q);
    n[5] = p * 10 + q;
    n[6] = cuda::std::isnan(y[0]);
    n[7] = cuda::std::abs(-9);
}""")
    y, n = np.zeros(5, np.float32), np.zeros(8, np.int32)
    m.k[1, 1](y, n)
    np.testing.assert_array_equal(y, np.array([np.sqrt(np.float32(2)), 2.5, np.finfo(np.float32).max, 1024, 10], np.float32))
    assert n.tolist() == [2, 1, -(2**31), 1, 6, 21, 0, 9]


# Mistakes, and names that are not supported


def fault(text, *args, block=64):
    m = compiled(text)
    with pytest.raises(wb.KernelFault) as caught:
        m.k[1, block](*args)
    return str(caught.value)


def test_waiting_for_who_never_comes():
    text = """__global__ void k(int* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x + 1);
    __syncthreads();
    bar.arrive_and_wait();
    y[0] = 1;
}"""
    message = fault(text, np.zeros(1, np.int32))
    assert "no progress" in message
    assert "bar.arrive_and_wait();" in message


def test_roles_that_take_turns_in_loops_of_their_own():
    # Warps that wait for one another to and fro run as fibers.
    text = """__global__ void k(int* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> ready, filled;
    if (threadIdx.x == 0) { init(&ready, 64); init(&filled, 64); }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < 3; ++i) {
            ready.arrive_and_wait();
            y[0] = i;
            filled.arrive();
        }
    } else {
        ready.arrive();
        for (int i = 0; i < 3; ++i) {
            filled.arrive_and_wait();
            ready.arrive();
        }
    }
}"""
    k = wb.compile(text).k
    y = np.zeros(1, np.int32)
    k[1, 64](y)
    assert y[0] == 2 and k.tier == "fibers"


def test_too_many_arrive():
    text = """__global__ void k(int* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, 10);
    __syncthreads();
    bar.arrive(7);
    y[0] = 1;
}"""
    message = fault(text, np.zeros(1, np.int32))
    assert "more threads arrive than it was initialised for" in message
    assert "bar.arrive(7);" in message


def test_copies_out_of_bounds():
    text = """__global__ void k(float* y, const float* x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float s[64];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&s[threadIdx.x], x + threadIdx.x, sizeof(float), bar);
    bar.arrive_and_wait();
    y[threadIdx.x] = s[threadIdx.x];
}"""
    message = fault(text, np.zeros(64, np.float32), np.zeros(60, np.float32))
    assert "out-of-bounds read" in message
    assert "cuda::memcpy_async(&s[threadIdx.x]" in message


def test_a_size_that_is_not_aligned():
    text = """__global__ void k(float* y) {
    auto pipe = cuda::make_pipeline();
    __shared__ float s[64];
    cuda::memcpy_async(s, y, cuda::aligned_size_t<16>(12), pipe);
}"""
    message = fault(text, np.zeros(64, np.float32))
    assert "not a whole number" in message
    assert "cuda::aligned_size_t<16>(12)" in message


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("cuda::atomic<int> a(1); cuda::atomic<int> b(a);", "atomic"),
        ("short s = 1; cuda::atomic_ref<short> r(s); r.load();", "smaller ones share their word"),
        ("__shared__ cuda::atomic<int*> p; p.store(y);", "keep an index"),
        ("struct Big { int x[5]; }; __shared__ cuda::atomic<Big> b; b.load();", "at most 8 bytes"),
        ("cuda::atomic<int> a(1); a.fetch_add(\"x\");", "fetch_add"),
    ],
)
def test_what_does_not_compile(use, message):
    with pytest.raises(wb.CompileError) as caught:
        compiled(f"__global__ void k(int* y) {{\n    {use}\n}}")
    assert message in str(caught.value)
    assert use.split(";")[-2].strip() in str(caught.value) or use.split(";")[0] in str(caught.value)

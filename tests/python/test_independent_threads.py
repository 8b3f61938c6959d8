"""Threads of a block that wait for one another in no order known when compiling run as fibers. What they compute is in
`tests/filetests/independent`; this is about which kernels do, and what holds of those as of all others."""

import _thread
import os
import threading
import time

import numpy as np
import pytest

import workbench as wb

BOTH = """
__global__ void both(int* y, int n) {
    int t = threadIdx.x, r = 0;
    for (int i = 0; i < n; i++) {
        if (t % 32 < 16) r += __shfl_xor_sync(0xffffffffu, t, 16);
        else r += __shfl_xor_sync(0xffffffffu, t, 16);
    }
    y[blockIdx.x * blockDim.x + t] = r;
}
"""
RELAY = """
__global__ void relay(volatile int* flag) {
    int t = threadIdx.x, *own = (int*)flag + blockIdx.x * (blockDim.x + 1);
    while (((volatile int*)own)[t + 1] == 0) { }
    ((volatile int*)own)[t] = ((volatile int*)own)[t + 1] + 1;
}
__global__ void nobody(volatile int* flag) {
    while (flag[threadIdx.x + 1] == 0) flag[2048 + threadIdx.x]++;
    flag[threadIdx.x] = 1;
}
"""


@pytest.fixture
def tier():
    before = wb.set_tier("auto")
    yield wb.set_tier
    wb.set_tier(before)


@pytest.mark.parametrize("made", ["auto", "soon", "good", "lanes", "fibers"])
def test_such_kernels_run_as_fibers_in_every_tier(tier, made):
    tier(made)
    y = np.zeros(64, np.int32)
    kernel = wb.compile(BOTH).both
    for _ in range(30):
        kernel[1, 64](y, 3)
    assert y.tolist() == [3 * (t ^ 16) for t in range(64)]
    assert kernel.tier == "fibers"


KEPT = {
    "one side with the lanes of that side": "if (t < 16) y[t] = __shfl_xor_sync(0xffffu, t, 8);",
    "each side with its own lanes": """if (t < 16) y[t] = __shfl_xor_sync(0xffffu, t, 8);
        else y[t] = __shfl_xor_sync(0xffff0000u, t, 8);""",
    "lanes that said so": "unsigned m = __ballot_sync(~0u, t < n); if (t < n) y[t] = __shfl_sync(m, t, 0);",
    "and leave a loop by it": """for (int i = t; ; i += 32) {
            unsigned m = __ballot_sync(~0u, i < n);
            if (i >= n) break;
            y[t] = __shfl_sync(m, t, __ffs(m) - 1);
        }""",
    "those that are together": """if (y[t] > 0) { unsigned m = __activemask(); y[t] = __popc(__ballot_sync(m, 1)); }
        else { unsigned m = __activemask(); y[t] = __popc(__ballot_sync(m, 1)); }""",
    "whole warps": """for (int k = 0; k < n; k++) {
            if (t / 32 == k) y[t] = __shfl_xor_sync(~0u, t, 1);
            if (t >= 32) y[t] += __shfl_xor_sync(~0u, t, 1);
            else y[t] -= __shfl_xor_sync(~0u, t, 1);
        }""",
    "halves of warps": """for (int k = 0; k < n; k++)
            if (t / 16 % 2 == k) y[t] = __shfl_xor_sync(0xffffu << (t & 16), t, 1, 16);""",
    "tiles that reduce and scan": """auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
        y[t] = cooperative_groups::reduce(tile, y[t], cooperative_groups::plus<int>());
        y[t] += cooperative_groups::exclusive_scan(tile, 2);""",
    "groups of what lanes have": """auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
        auto same = cooperative_groups::labeled_partition(warp, y[t]);
        y[t] = cooperative_groups::reduce(same, t, cooperative_groups::plus<int>());""",
    "a walk that others change": """int at = t, next;
        while ((next = ((volatile int*)y)[at]) != at) at = next;
        if (t < n) atomicMin(&y[at], t);""",
    "a barrier in between": """if (t < n) y[t] = __shfl_down_sync(~0u, t, 1);
        __syncthreads();
        if (t >= n) y[t] = __shfl_down_sync(~0u, t, 1);""",
    "blocks that reduce": """__shared__ int s[32];
        for (int k = 0; k < n; k++) {
            int v = y[t];
            for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
            if (t % 32 == 0) s[t / 32] = v;
            __syncthreads();
            if (t / 32 == 0) {
                v = t < blockDim.x / 32 ? s[t] : 0;
                for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
            }
            if (t == 0) y[0] = v;
        }""",
    "a lock": """while (atomicCAS(y, 0, 1) != 0) { } y[1] = y[1] + 1; __threadfence(); atomicExch(y, 0);""",
    "a lock of one thread, block by block": """if (t == 0) while (atomicExch(y, 1) != 0) { }
        __syncthreads(); y[t] = 2; __syncthreads();
        if (t == 0) atomicExch(y, 0);""",
    "a lock that is tried": """bool done = false;
        while (!done) if (atomicCAS(y, 0, 1) == 0) { y[1]++; __threadfence(); atomicExch(y, 0); done = true; }""",
    "a sum by exchanges": """int old = *y, was;
        do { was = old; old = atomicCAS(y, was, was + t); } while (old != was);""",
    "a queue": "int i; while ((i = atomicAdd(y, 1)) < n) y[1 + i] = t;",
    "the block before": """if (blockIdx.x > 0) while (((volatile int*)y)[blockIdx.x - 1] == 0) { }
        __threadfence(); ((volatile int*)y)[blockIdx.x] = 1;""",
    "a barrier of the grid": """__syncthreads();
        if (t == 0) { atomicAdd(y, 1); while (*(volatile int*)y < gridDim.x) { } }
        __syncthreads();""",
}
NEEDED = {
    "both sides": """if (t < 16) y[t] = __shfl_xor_sync(~0u, t, 8);
        else y[t] = __shfl_xor_sync(~0u, t, 8);""",
    "sides by data": "if (y[t] > n) __syncwarp(); else __syncwarp();",
    "sides in a side": "if (t < 4) __syncwarp(); else if (t < 8) y[t] = 1; else __syncwarp();",
    "masks that are passed": """if (t < 16) y[t] = __shfl_xor_sync(n, t, 8);
        else y[t] = __shfl_xor_sync(n, t, 8);""",
    "rounds": "for (int k = 0; k < n; k++) if ((k + t) % 2) __syncwarp();",
    "a thread after": "if (t == 0) while (*(volatile int*)y == 0) { } else if (t == 1) *y = 1;",
    "a lane after": "while (((volatile int*)y)[t + 1] == 0) { } y[t] = 1;",
    "all of them": "atomicAdd(y, 1); while (*(volatile int*)y < blockDim.x) { }",
    "a lock kept while lanes wait": "while (atomicCAS(y, 0, 1) != 0) { } y[1]++; __syncwarp(1u << t % 32); atomicExch(y, 0);",
    "tickets": "int m = atomicAdd(y, 1); while (atomicAdd(y + 1, 0) != n - m) { } atomicAdd(y + 1, 1);",
}


def launched(body):
    headers = "".join(f"#include <cooperative_groups{part}.h>\n" for part in ("", "/reduce", "/scan"))
    kernel = wb.compile(headers + "__global__ void k(int* y, int n) { int t = threadIdx.x; " + body + " }").k
    try:
        kernel.launch(1, 1, (np.zeros(64, np.int32), 0), timeout=0.05)
    except (wb.KernelFault, wb.KernelTimeout):
        pass
    return kernel.tier


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_what_needs_no_fibers_keeps_its_code(body):
    assert launched(body) in ("soon", "good")


@pytest.mark.parametrize("body", NEEDED.values(), ids=NEEDED)
def test_what_may_need_fibers_gets_them(body):
    assert launched(body) == "fibers"


def test_blocks_of_1024_threads_on_all_workers():
    blocks, threads = 200, 1024
    kernel = wb.compile(BOTH).both
    y = np.zeros(blocks * threads, np.int32)
    kernel[blocks, threads](y, 2)
    assert y.tolist() == [2 * (t ^ 16) for t in range(threads)] * blocks
    flags = np.zeros((4, 1025), np.int32)
    flags[:, 1024] = 1
    wb.compile(RELAY).relay[4, 1024](flags.ravel())
    assert (flags == 1025 - np.arange(1025)).all()


def test_blocks_of_three_dimensions():
    text = """__global__ void k(int* y) {
        int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), r;
        if (t % 32 < 16) r = __shfl_xor_sync(0xffffffffu, t, 16); else r = __shfl_xor_sync(0xffffffffu, t, 16);
        y[t] = r;
    }"""
    y = np.zeros(96, np.int32)
    wb.compile(text).k[1, (4, 3, 8)](y)
    assert y.tolist() == [t ^ 16 for t in range(96)]


def test_local_arrays_recursion_and_shared_memory():
    text = """
    __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    __global__ void k(int* y, int at) {
        extern __shared__ int s[];
        int t = threadIdx.x, own[40];
        for (int i = 0; i < 40; i++) own[i] = t * i;
        if (t < 7) s[t] = __shfl_xor_sync(0xffffffffu, own[at], 16) + fib(10);
        else s[t] = __shfl_xor_sync(0xffffffffu, own[at], 16) + fib(11);
        __syncthreads();
        y[t] = s[31 - t];
    }
    __device__ int deep(int n) { int a[64]; for (int i = 0; i < 64; i++) a[i] = n; return n + deep(n + 1) + a[n % 64]; }
    __global__ void over(int* y) {
        if (threadIdx.x < 1) __syncwarp(); else __syncwarp();
        y[threadIdx.x] = deep(0);
    }"""
    module = wb.compile(text)
    y = np.zeros(32, np.int32)
    module.k[1, 32, 128](y, 5)
    assert y[::-1].tolist() == [5 * (t ^ 16) + (55 if t < 7 else 89) for t in range(32)]
    for _ in range(3):
        with pytest.raises(wb.KernelFault) as caught:
            module.over[1, 1024](np.zeros(1024, np.int32))
        assert caught.value.kind == "stack overflow" and tuple(caught.value.thread) == (0, 0, 0)
    module.k[1, 32, 128](y, 1)
    assert y[::-1].tolist() == [(t ^ 16) + (55 if t < 7 else 89) for t in range(32)]


@pytest.mark.parametrize("block", [2, 1024])
def test_time_limits_and_interrupts_act_at_once(block):
    module = wb.compile(RELAY)
    flags = np.zeros(3072, np.int32)
    for _ in range(3):
        begin = time.process_time()
        with pytest.raises(wb.KernelTimeout) as caught:
            module.nobody.launch(1, block, (flags,), timeout=0.1)
        assert caught.value.kind == "timeout"
        # Processor time, which other processes do not affect.
        assert time.process_time() - begin < 0.6
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        module.nobody.launch(1, block, (flags,), timeout=20)
    timer.join()
    good = np.zeros(block + 1, np.int32)
    good[block] = 1
    module.relay[1, block](good)
    assert good[0] == block + 1


def test_a_fault_drops_what_waits_and_the_next_launch_is_whole():
    text = BOTH + """
    __global__ void faulty(int* y) {
        int t = threadIdx.x;
        if (t == 40) y[1 << 20] = 1;
        if (t < 3) __syncwarp(); else __syncwarp();
        __syncthreads();
        if (t == 7) y[1 << 21] = 1;
    }"""
    module = wb.compile(text)
    y = np.zeros(64, np.int32)
    for _ in range(20):
        with pytest.raises(wb.KernelFault) as caught:
            module.faulty[3, 64](y)
        assert tuple(caught.value.thread) == (40, 0, 0) and tuple(caught.value.block) == (0, 0, 0)
        module.both[1, 64](y, 1)
        assert y.tolist() == [t ^ 16 for t in range(64)]


def test_printf_is_in_the_order_of_threads(capsys):
    text = """#include <cstdio>
    __global__ void k() {
        int t = threadIdx.x;
        printf("%d.%d ", blockIdx.x, t);
        if (t < 2) __syncwarp(); else __syncwarp();
        printf("again ");
    }"""
    wb.compile(text).k[2, 3]()
    assert capsys.readouterr().out == "".join(f"{b}.{t} again " for b in range(2) for t in range(3))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_runs_them_too():
    kernel = wb.compile(BOTH).both
    y = np.zeros(64 * 128, np.int32)
    kernel[64, 128](y, 1)
    pid = os.fork()
    if pid == 0:
        y[:] = 0
        kernel[64, 128](y, 1)
        os._exit(0 if y.tolist() == [t ^ 16 for t in range(128)] * 64 else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_cooperative_groups_in_both_branches():
    text = """#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(int* y) {
        auto tile = cg::tiled_partition<16>(cg::this_thread_block());
        int t = threadIdx.x, r;
        if (t % 4 < 2) r = tile.shfl_xor(t, 15); else r = 100 + tile.shfl_xor(t, 15);
        if (t % 3 == 0) { cg::coalesced_group g = cg::coalesced_threads(); r += 1000 * g.size(); }
        y[t] = r;
    }"""
    y = np.zeros(32, np.int32)
    kernel = wb.compile(text).k
    kernel[1, 32](y)
    assert kernel.tier == "fibers"
    # 0, 3, ..., 30: eleven lanes.
    assert y.tolist() == [(t ^ 15) + (0 if t % 4 < 2 else 100) + (0 if t % 3 else 11000) for t in range(32)]


def test_barriers_and_pipelines_of_warps_with_roles():
    text = """#include <cuda/barrier>
    __global__ void k(const int* x, int* y, int tiles) {
        using barrier = cuda::barrier<cuda::thread_scope_block>;
        __shared__ barrier full, empty;
        __shared__ int tile[32];
        int t = threadIdx.x, lane = t % 32;
        if (t == 0) { init(&full, 64); init(&empty, 64); }
        __syncthreads();
        if (t < 32) {
            int sum = 0;
            for (int k = 0; k < tiles; k++) {
                full.arrive_and_wait();
                sum += tile[lane];
                empty.arrive_and_wait();
            }
            y[lane] = sum;
        } else {
            for (int k = 0; k < tiles; k++) {
                tile[lane] = x[32 * k + lane];
                full.arrive_and_wait();
                empty.arrive_and_wait();
            }
        }
    }"""
    x = np.arange(96, dtype=np.int32)
    y = np.zeros(32, np.int32)
    wb.compile(text).k[1, 64](x, y, 3)
    assert y.tolist() == x.reshape(3, 32).sum(0).tolist()


CALLS = """
__device__ int deep(int m, int x) { return m <= 0 ? x : deep(m - 1, x * 3 + m); }
__device__ int look(int m, volatile int* flag) { return m <= 0 ? *flag : look(m - 1, flag); }
__global__ void compute(int* y, int n) {
    int x = threadIdx.x;
    for (int j = 0; j < n; j++) x = deep(3, x);
    y[threadIdx.x] = x;
}
__global__ void late(int* y, int n) {
    int x = threadIdx.x;
    if (x < 16) for (int j = 0; j < n; j++) x = deep(3, x);
    y[2000 + threadIdx.x] = x;
}
__global__ void wait(volatile int* flag) {
    while (look(1, flag) == 0) { }
    flag[1] = 7;
}
__global__ void mixed(volatile int* flag, int n) {
    if (threadIdx.x < 16) for (int j = 0; j < n; j++) if (look(1, flag) != 0) break;
    flag[2000 + threadIdx.x] = 1;
}
__global__ void below(volatile int* flag) {
    if (threadIdx.x < 16) while (look(1, flag) == 0) { }
    flag[2000 + threadIdx.x] = 1;
}
"""


def test_a_loop_that_computes_in_a_function_is_not_taken_for_a_wait(tier):
    tier("fibers")
    y, n = np.zeros(32, np.int32), 3_000_000
    # Half a second and more without a store: a wait that brings nothing would be told after 0.3 s.
    wb.compile(CALLS).compute[1, 32](y, n)
    # A round is x * 27 + 3 * 9 + 2 * 3 + 1 = x * 27 + 34, modulo 2 ** 32; n rounds by repeated squaring of that map.
    times, plus, (a, b), left = 1, 0, (27, 34), n
    while left:
        if left & 1:
            times, plus = times * a % 2**32, (plus * a + b) % 2**32
        a, b, left = a * a % 2**32, (a * b + b) % 2**32, left >> 1
    assert y.astype(np.uint32).tolist() == [(t * times + plus) % 2**32 for t in range(32)]


@pytest.mark.parametrize("made", ["auto", "good", "fibers"])
@pytest.mark.parametrize(("name", "args"), [("late", (7,)), ("late", (100_000,)), ("mixed", (100_000,))])
def test_the_lowest_fault_is_told_where_lower_threads_take_longer(tier, made, name, args):
    tier(made)
    kernel = wb.compile(CALLS)[name]
    with pytest.raises(wb.KernelFault, match=r"thread \(0, 0, 0\)"):
        kernel[1, 32](np.zeros(64, np.int32), *args)


def test_waits_in_called_functions_are_told_and_a_fault_above_comes_first(tier):
    tier("fibers")
    module = wb.compile(CALLS)
    with pytest.raises(wb.KernelFault, match="no progress") as told:
        module.wait[1, 32](np.zeros(64, np.int32))
    assert told.value.thread == (0, 0, 0)
    # Threads 0 to 15 wait for nobody, so the lowest that faults is 16.
    with pytest.raises(wb.KernelFault, match="index 2016 of `flag`") as told:
        module.below[1, 32](np.zeros(64, np.int32))
    assert told.value.thread == (16, 0, 0)
    flag = np.ones(64, np.int32)
    module.wait[1, 32](flag)
    assert flag[1] == 7

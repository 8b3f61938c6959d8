"""Errors that CUDA's run time and C++'s heap answer with: the codes of the CUDA Runtime API's manual, which the text reads, and the next call works."""

import pytest
import workbench as wb

HEAD = """
#include <cuda_runtime.h>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <vector>
__constant__ int table[4];
__device__ int counter;
__global__ void seven(int* x) { x[0] = 7; }
struct S { int x; S() : x(3) {} S(int y) : x(y) {} };
const size_t HUGE_SIZE = (size_t)1 << 45;
int works() {
    int *d, h = 0;
    cudaMalloc(&d, 4);
    seven<<<1, 1>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    return h * 10 + cudaGetLastError();
}
"""

# Bodies with what they give: the codes are cudaErrorInvalidValue 1, cudaErrorMemoryAllocation 2, cudaErrorInvalidPitchValue 12,
# cudaErrorInvalidMemcpyDirection 21, cudaErrorInvalidDevice 101, cudaErrorInvalidResourceHandle 400.
ANSWERS = {
    "cudaMalloc leaves the pointer": (
        "int* p = (int*)8; int e = cudaMalloc(&p, HUGE_SIZE); return e * 100 + (p == (int*)8) * 10 + cudaGetLastError();", 212),
    "cudaMalloc of -1": ("void* p; return cudaMalloc(&p, -1);", 2),
    "cudaMallocManaged": ("void* p; return cudaMallocManaged(&p, HUGE_SIZE);", 2),
    "cudaMallocManaged for nobody": ("void* p; return cudaMallocManaged(&p, 4, 0);", 1),
    "cudaMallocHost": ("void* p; return cudaMallocHost(&p, HUGE_SIZE);", 2),
    "cudaHostAlloc with unknown flags": ("void* p; return cudaHostAlloc(&p, 4, 64);", 1),
    "cudaMallocAsync": ("void* p; return cudaMallocAsync(&p, HUGE_SIZE, 0);", 2),
    "cudaMallocPitch": (
        "int* p; size_t pitch = 5; int e = cudaMallocPitch(&p, &pitch, (size_t)1 << 30, (size_t)1 << 30); return e * 10 + pitch;", 25),
    "cudaMallocPitch that overflows": ("int* p; size_t pitch; return cudaMallocPitch(&p, &pitch, (size_t)-1, 4);", 2),
    "a null place": ("return cudaMalloc((int**)nullptr, 4) * 10 + cudaMallocHost((int**)nullptr, 4);", 11),
    "malloc": ("return malloc(HUGE_SIZE) == nullptr && malloc(-1) == nullptr;", 1),
    "calloc": ("return calloc((size_t)1 << 40, 64) == nullptr && calloc(HUGE_SIZE, 1) == nullptr;", 1),
    "realloc keeps the old": (
        "int* p = (int*)malloc(4); *p = 5; void* q = realloc(p, HUGE_SIZE); int v = *p; free(p); return (q == nullptr) * 10 + v;", 15),
    "new": ("try { return new char[HUGE_SIZE] != nullptr; } catch (const std::bad_alloc&) { return 7; }", 7),
    "new (std::nothrow)": ("return new (std::nothrow) char[HUGE_SIZE] == nullptr && new (std::nothrow) S[HUGE_SIZE] == nullptr;", 1),
    "new (std::nothrow) of what fits": (
        "int* q = new (std::nothrow) int(4); S* s = new (std::nothrow) S; S* u = new (std::nothrow) S[3]; S* v = new (std::nothrow) S{9};\n"
        "int* z = new (std::nothrow) int[3](); int r = *q + 10 * s->x + 100 * u[2].x + 1000 * v->x + z[2];\n"
        "delete q; delete s; delete[] u; delete v; delete[] z; return r;", 9334),
    "a vector": ("try { std::vector<int> v(HUGE_SIZE); return 0; } catch (const std::bad_alloc&) { return 1; }", 1),
    "a vector of more than max_size": ("try { std::vector<int> v((size_t)-1); return 0; } catch (const std::length_error&) { return 1; }", 1),
    "a width beyond a pitch": (
        "char *d, h[64] = {}; cudaMalloc(&d, 64); int e = cudaMemcpy2D(d, 8, h, 16, 12, 2, cudaMemcpyHostToDevice);\n"
        "int f = cudaMemcpy2D(d, 16, h, 8, 12, 2, cudaMemcpyHostToDevice); return e * 10000 + f * 100 + cudaGetLastError();", 121212),
    "cudaMemset2D": (
        "char* d; cudaMalloc(&d, 64); int e = cudaMemset2D(d, 4, 0, 8, 2); return e * 10 + cudaMemset2D(d, 4, 0, 8, 1);", 10),
    "past a symbol": ("int h[5] = {}; return cudaMemcpyToSymbol(table, h, 20) * 10 + cudaGetLastError();", 11),
    "past a symbol by an offset": (
        "int h[5] = {}; return cudaMemcpyToSymbol(table, h, 8, 12) * 100 + cudaMemcpyToSymbol(table, h, 8, -4) * 10 + "
        "cudaMemcpyToSymbol(table, h, 4, 12);", 110),
    "from past a symbol": ("int h[5]; return cudaMemcpyFromSymbol(h, table, 20) * 10 + cudaMemcpyFromSymbol(h, counter, 4, 4);", 11),
    "to a symbol the wrong way": ("int h[4] = {}; return cudaMemcpyToSymbol(table, h, 16, 0, cudaMemcpyDeviceToHost);", 21),
    "from a symbol the wrong way": ("int h[4]; return cudaMemcpyFromSymbol(h, table, 16, 0, cudaMemcpyHostToDevice);", 21),
    "cudaFree inside": ("int* d; cudaMalloc(&d, 64); int e = cudaFree(d + 1); return e * 10 + cudaFree(d);", 10),
    "cudaFree twice": ("int* d; cudaMalloc(&d, 64); int e = cudaFree(d); return e * 10 + cudaFree(d);", 1),
    "cudaFree of a local": ("int x; return cudaFree(&x) * 10 + cudaFreeHost(&x);", 11),
    "cudaFreeHost twice": ("int* d; cudaMallocHost(&d, 64); int e = cudaFreeHost(d); return e * 10 + cudaFreeHost(d);", 1),
    "events that were not recorded": (
        "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); float ms; int e = cudaEventElapsedTime(&ms, a, b);\n"
        "cudaEventRecord(a); int f = cudaEventElapsedTime(&ms, a, b); cudaEventRecord(b);\n"
        "int g = cudaEventElapsedTime(&ms, a, b); return e + f + g + (ms >= 0) + cudaEventQuery(b);", 801),
    "an event without a time": (
        "cudaEvent_t a; cudaEventCreateWithFlags(&a, cudaEventDisableTiming); cudaEventRecord(a); float ms; return cudaEventElapsedTime(&ms, a, a);",
        400),
    "no event": ("return cudaEventRecord(nullptr) + cudaEventSynchronize(nullptr) + cudaEventDestroy(nullptr);", 1200),
    "a device that is not there": (
        "cudaDeviceProp p; int v; return cudaGetDeviceProperties(&p, 7) + cudaSetDevice(7) + cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 3);",
        303),
    "an attribute that there is none of": ("int v; return cudaDeviceGetAttribute(&v, (cudaDeviceAttr)9999, 0);", 1),
    "nowhere to write": ("return cudaGetDeviceCount(nullptr) + cudaGetDevice(nullptr) + cudaGetDeviceProperties(nullptr, 0);", 3),
    "a stream that nobody made": ("return cudaStreamDestroy((cudaStream_t)1234);", 400),
    "a launch of no blocks": ("seven<<<0, 1>>>(nullptr); int e = cudaPeekAtLastError(); return e * 10 + cudaGetLastError();", 99),
}


@pytest.fixture(scope="module")
def module():
    text = HEAD + "".join(f"int f{i}() {{ {body} }}\n" for i, (body, _) in enumerate(ANSWERS.values()))
    return wb.compile(text)


@pytest.mark.parametrize("what", ANSWERS)
def test_an_error_is_cudas_code_and_the_next_call_works(module, what):
    assert module[f"f{list(ANSWERS).index(what)}"]() == ANSWERS[what][1]
    assert module.works() == 70


@pytest.mark.parametrize("call, words", [
    ("cudaMalloc(&d, (size_t)1 << 45)", "out of memory"),
    ("cudaGetDeviceProperties(&p, 7)", "invalid device ordinal"),
    ("cudaFree(d + 1)", "inside of an allocation"),
    ("cudaMemcpy2D(d, 2, d, 4, 4, 1, cudaMemcpyDeviceToDevice)", "invalid pitch"),
    ("cudaMemcpyToSymbol(table, h, 20)", "invalid argument"),
])
def test_what_nobody_asked_for_ends_the_call_and_says_why(call, words):
    m = wb.compile(HEAD + f"int f() {{ cudaDeviceProp p; int *d, h[5] = {{}}; cudaMalloc(&d, 16);\n  {call};\n  return 1; }}")
    with pytest.raises(RuntimeError, match=words) as caught:
        m.f()
    assert caught.value.line == HEAD.count("\n") + 2
    assert call in str(caught.value)
    assert m.works() == 70


def test_the_reason_is_that_of_the_last_error():
    m = wb.compile(HEAD + "int f() { void* p = malloc(HUGE_SIZE); cudaDeviceProp q;\n  cudaGetDeviceProperties(&q, 7);\n  return p != nullptr; }")
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        m.f()


def test_vectors_of_the_device_throw():
    m = wb.compile(HEAD + """
        #include <thrust/device_vector.h>
        int f() {
            try { thrust::device_vector<int> v(HUGE_SIZE); return 0; }
            catch (const std::bad_alloc&) { return 1 + cudaGetLastError(); }
        }
    """)
    assert m.f() == 1
    assert m.works() == 70

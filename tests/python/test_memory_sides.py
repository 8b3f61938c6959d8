"""Memory of the host and of the device: what CUDA's manual says each side may touch, in texts that a GPU would stop or answer with an error."""

import numpy as np
import pytest
import workbench as wb

KERNELS = """
#include <cuda_runtime.h>
#include <stdlib.h>
#include <vector>
__global__ void twice(int* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2; }
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
"""


def module(text, **options):
    return wb.compile(KERNELS + text, **options)


def fault(call, *args):
    with pytest.raises(wb.KernelFault) as caught:
        call(*args)
    return caught.value


HOST_TOUCHES = {
    "reads an element": "int f() { int* d; cudaMalloc(&d, 16); fill<<<1, 4>>>(d, 3); return d[1]; }",
    "writes an element": "int f() { int* d; cudaMalloc(&d, 16); d[1] = 3; return 0; }",
    "dereferences": "int f() { int* d; cudaMalloc((void**)&d, 16); return *d; }",
    "moves the pointer": "int f() { int* d; cudaMalloc(&d, 16); const int* e = d + 2; return e[-1]; }",
    "in a helper": "int sum(const int* p) { return p[0] + p[1]; }\nint f() { int* d; cudaMalloc(&d, 16); return sum(d); }",
    "through a struct": "struct S { int* p; };\nint f() { S s; cudaMalloc(&s.p, 16); return s.p[2]; }",
    "of an array of pointers": "int f() { int* d[2]; cudaMalloc(&d[0], 16); cudaMalloc(&d[1], 16); return d[1][0]; }",
    "of cudaMallocAsync": "int f() { int* d; cudaMallocAsync(&d, 16, 0); return d[1]; }",
    "of cudaMallocPitch": "int f() { int* d; size_t n; cudaMallocPitch(&d, &n, 16, 2); return d[1]; }",
    "by memcpy": "int f() { int* d; cudaMalloc(&d, 16); int h[4]; memcpy(h, d, 16); return h[0]; }",
    "by memset": "int f() { int* d; cudaMalloc(&d, 16); memset(d, 0, 16); return 0; }",
    "makes a vector of it": "int f() { int* d; cudaMalloc(&d, 16); std::vector<int> v(d, d + 4); return v[0]; }",
    "prints it": 'int f() { char* d; cudaMalloc(&d, 16); cudaMemset(d, 0, 16); printf("%s", d); return 0; }',
    "of a symbol's address": "__device__ int total[4];\n"
    "int f() { int* p; cudaGetSymbolAddress((void**)&p, total); fill<<<1, 4>>>(p, 3); return p[1]; }",
    "of a constant's address": "__constant__ int table[4];\n"
    "int f() { int* p; cudaGetSymbolAddress((void**)&p, table); return p[1]; }",
}


@pytest.mark.parametrize("what", HOST_TOUCHES)
def test_host_code_may_not_touch_the_devices_memory(what):
    m = module("#include <cstring>\n#include <cstdio>\n" + HOST_TOUCHES[what])
    error = fault(m.f)
    assert error.kind == "memory of the other side", error
    text = str(error)
    assert "cudaMallocManaged" in text or "__managed__" in text
    assert "<cell>" not in text and "<std_containers>" not in text and "<cudart>" not in text
    # The next call works as well as the first.
    assert fault(m.f).kind == error.kind


KERNEL_TOUCHES = {
    "malloc": "int f() { int* h = (int*)malloc(16); h[0] = 1; twice<<<1, 4>>>(h, 1); return h[0]; }",
    "calloc": "int f() { int* h = (int*)calloc(4, 4); twice<<<1, 4>>>(h, 1); return h[0]; }",
    "new": "int f() { int* h = new int[4]; h[0] = 1; twice<<<1, 4>>>(h, 1); return h[0]; }",
    "a vector": "int f() { std::vector<int> h(4, 1); twice<<<1, 4>>>(h.data(), 1); return h[0]; }",
    "a local array": "int f() { int h[4] = {1, 2, 3, 4}; twice<<<1, 4>>>(h, 4); return h[3]; }",
    "a local variable": "int f() { int h = 1; twice<<<1, 4>>>(&h, 1); return h; }",
    "a variable at namespace scope": "int h[4];\nint f() { twice<<<1, 4>>>(h, 1); return h[0]; }",
    "a static variable": "int f() { static int h[4]; twice<<<1, 4>>>(h, 1); return h[0]; }",
    "the middle of it": "int f() { int* h = (int*)malloc(64); h[8] = 1; twice<<<1, 4>>>(h + 8, 1); return h[8]; }",
    "only writes": "int f() { int* h = (int*)malloc(16); fill<<<1, 4>>>(h, 7); return h[0]; }",
    "a struct by value": "struct S { int* p; int n; };\n__global__ void k(S s) { s.p[threadIdx.x] = s.n; }\n"
    "int f() { S s{new int[4], 2}; k<<<1, 4>>>(s); return s.p[0]; }",
    "a table of pointers": "__global__ void k(int** p) { p[threadIdx.x][0] = 1; }\n"
    "int f() { int** d; cudaMallocManaged(&d, 16); d[0] = new int[1]; d[1] = new int[1]; k<<<1, 2>>>(d); return 0; }",
    "cudaLaunchKernel": "int f() { int* h = new int[4]; int n = 1; void* all[] = {&h, &n};\n"
    "  cudaLaunchKernel((void*)twice, dim3(1), dim3(4), all); return h[0]; }",
    "a lambda": "template <typename F> __global__ void run(F f) { f(threadIdx.x); }\n"
    "int f() { int* h = new int[4]; run<<<1, 4>>>([=] __device__(int i) { h[i] = i; }); return h[0]; }",
}


@pytest.mark.parametrize("what", KERNEL_TOUCHES)
def test_a_kernel_may_not_touch_the_hosts_memory(what):
    m = module(KERNEL_TOUCHES[what])
    error = fault(m.f)
    assert error.kind == "memory of the other side", error
    assert "host" in str(error) and "cudaMemcpy" in str(error) and "unified_memory" in str(error)


@pytest.mark.parametrize("what", KERNEL_TOUCHES)
def test_with_unified_memory_it_may(what):
    # By hand: what the kernels above leave in the element that is returned.
    wanted = {
        "calloc": 0, "a local array": 8, "a variable at namespace scope": 0, "a static variable": 0, "only writes": 7,
        "a table of pointers": 0, "a lambda": 0,
    }
    m = module(KERNEL_TOUCHES[what], unified_memory=True)
    if what == "cudaLaunchKernel":
        m.f()
    else:
        assert m.f() == wanted.get(what, 2)


def test_unified_memory_is_the_kernels_alone():
    m = module(HOST_TOUCHES["reads an element"], unified_memory=True)
    assert fault(m.f).kind == "memory of the other side"


def test_the_fault_names_line_parameter_and_side():
    m = module("int f() { int* h = new int[4]; twice<<<1, 4>>>(h, 1); return h[0]; }")
    text = str(fault(m.f))
    assert "x[i] *= 2" in text and "`x`" in text and "index 0" in text and "new" in text
    m = module("int f() {\n  int* d; cudaMalloc(&d, 16);\n  int y = d[2];\n  return y; }")
    text = str(fault(m.f))
    assert "int y = d[2];" in text and "reads" in text and "`cudaMalloc`" in text


def test_a_pointer_that_nobody_follows_is_no_fault():
    m = module("int f() { int h[4]; int* d; cudaMalloc(&d, 16); int* e = d + 1; twice<<<1, 4>>>(h, 0); return e - d; }")
    assert m.f() == 1


@pytest.mark.parametrize("how", [
    "int* x; cudaMallocManaged(&x, 16);",
    "int* x; cudaMallocHost(&x, 16);",
    "int* x; cudaHostAlloc(&x, 16, cudaHostAllocMapped);",
    "int* x = (int*)malloc(16); cudaHostRegister(x, 16, cudaHostRegisterDefault);",
    "int* x; int* h; cudaHostAlloc(&h, 16, cudaHostAllocMapped); cudaHostGetDevicePointer(&x, h, 0);",
])
def test_memory_of_both_sides(how):
    m = module("int f() { %s for (int i = 0; i < 4; ++i) x[i] = i; twice<<<1, 4>>>(x, 4); cudaDeviceSynchronize(); "
               "return x[0] + 10 * x[1] + 100 * x[2] + 1000 * x[3]; }" % how)
    assert m.f() == 6420


def test_memory_that_is_registered_no_more():
    m = module("int f() { int* x = new int[4]; cudaHostRegister(x, 16, 0); cudaHostUnregister(x); twice<<<1, 4>>>(x, 4); return x[0]; }")
    assert fault(m.f).kind == "memory of the other side"


def test_managed_variables():
    m = wb.compile("""
        __managed__ int total;
        __device__ __managed__ float all[4] = {1, 2, 3, 4};
        struct P { int a, b; };
        __managed__ P pair = {5, 6};
        __global__ void k() { atomicAdd(&total, 1); all[threadIdx.x % 4] += 1; }
        __global__ void l(float* x) { x[0] = 9; }
        int f() { total = 10; k<<<1, 4>>>(); cudaDeviceSynchronize(); return total; }
        float g() { return all[0] + all[3]; }
        float h() { l<<<1, 1>>>(all); cudaDeviceSynchronize(); return all[0]; }
        int p() { P copy = pair; pair.a += 1; return copy.a * 100 + pair.a * 10 + pair.b; }
        int s() { int v = 0; cudaMemcpyFromSymbol(&v, total, sizeof(v)); return v; }
    """)
    assert (m.f(), m.f()) == (14, 14)
    assert m.g() == (1 + 2) + (4 + 2)
    assert m.h() == 9
    assert m.p() == 500 + 60 + 6
    assert m.s() == 14


def test_copies_between_the_two():
    m = module("""
        int f() {
            int h[4] = {1, 2, 3, 4}, back[4] = {0, 0, 0, 0};
            int *d, *e;
            cudaMalloc(&d, sizeof(h)); cudaMalloc(&e, sizeof(h));
            cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
            twice<<<1, 4>>>(d, 4);
            cudaMemcpyAsync(e, d, sizeof(h), cudaMemcpyDeviceToDevice, 0);
            cudaMemcpy(back, e, sizeof(h), cudaMemcpyDeviceToHost);
            int again[4];
            cudaMemcpy(again, d, sizeof(h), cudaMemcpyDefault);
            cudaMemset(d, 0, 8);
            cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
            cudaFree(d); cudaFree(e);
            return back[0] + 10 * back[3] + 1000 * (again[1] == 4) + 10000 * (h[0] == 0 && h[1] == 0 && h[2] == 6 && h[3] == 8);
        }
        int rows() {
            int h[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
            int* d; size_t pitch;
            cudaMallocPitch((void**)&d, &pitch, 16, 2);
            cudaMemcpy2D(d, pitch, h, 16, 16, 2, cudaMemcpyHostToDevice);
            twice<<<1, 4>>>((int*)((char*)d + pitch), 4);
            cudaMemcpy2D(h, 16, d, pitch, 16, 2, cudaMemcpyDeviceToHost);
            return h[0][3] + 100 * h[1][3];
        }
    """)
    assert m.f() == 11082
    assert m.rows() == 1604


# Directions that give `cudaErrorInvalidValue` (1), for `to` and `from` on the host (h) and the device (d).
KINDS = {
    "cudaMemcpyHostToHost": {"hh"}, "cudaMemcpyHostToDevice": {"dh"}, "cudaMemcpyDeviceToHost": {"hd"},
    "cudaMemcpyDeviceToDevice": {"dd"}, "cudaMemcpyDefault": {"hh", "dh", "hd", "dd"},
}


def test_a_copy_in_the_wrong_direction_is_cudas_error():
    text = "".join(
        f"int {kind}_{pair}() {{ int h[4] = {{1, 2, 3, 4}}, g[4] = {{0, 0, 0, 0}}; int *d, *e; cudaMalloc(&d, 16); cudaMalloc(&e, 16);\n"
        f" cudaMemset(d, 0, 16); cudaMemset(e, 0, 16);\n"
        f" int a = cudaMemcpy({'g' if pair[0] == 'h' else 'd'}, {'h' if pair[1] == 'h' else 'e'}, 16, {kind});\n"
        f" int b = cudaGetLastError(); return a * 10 + b; }}\n"
        for kind in KINDS for pair in ("hh", "dh", "hd", "dd")
    )
    m = module(text)
    for kind, right in KINDS.items():
        for pair in ("hh", "dh", "hd", "dd"):
            assert m[f"{kind}_{pair}"]() == (0 if pair in right else 11), (kind, pair)


def test_other_errors_of_the_runtime():
    m = module("""
        int direction() { int a[2], b[2]; return cudaMemcpy(a, b, 8, (cudaMemcpyKind)7); }
        int set() { int a[2] = {3, 4}; int e = cudaMemset(a, 0, 8); return e * 100 + a[0]; }
        int give_back() { int* h = (int*)malloc(8); int e = cudaFree(h); h[0] = 5; e = e * 10 + h[0]; free(h); return e; }
        int pinned() { int* h; cudaMallocHost(&h, 8); int e = cudaFree(h); return e * 10 + cudaFreeHost(h); }
        int other() { int* d; cudaMalloc(&d, 8); int e = cudaFreeHost(d); return e * 10 + cudaFree(d); }
        int null() { return cudaFree(nullptr) + cudaFreeHost(nullptr); }
        int twice_registered() { int* h = new int[2]; int e = cudaHostRegister(h, 8, 0); return e * 1000 + cudaHostRegister(h, 8, 0); }
        int unregistered() { int* h = new int[2]; return cudaHostUnregister(h); }
        int not_mapped() { int* h = new int[2]; int* d; return cudaHostGetDevicePointer(&d, h, 0); }
        __constant__ int table[2];
        int to_symbol() { int* d; cudaMalloc(&d, 8); return cudaMemcpyToSymbol(table, d, 8); }
        int from_device() { int* d; cudaMalloc(&d, 8); cudaMemset(d, 0, 8);
                            return cudaMemcpyToSymbol(table, d, 8, 0, cudaMemcpyDeviceToDevice); }
    """)
    assert m.direction() == 21
    assert m.set() == 103
    assert m.give_back() == 15
    assert m.pinned() == 10
    assert m.other() == 10
    assert m.null() == 0
    assert m.twice_registered() == 712
    assert m.unregistered() == 713
    assert m.not_mapped() == 1
    assert m.to_symbol() == 1
    assert m.from_device() == 0


@pytest.mark.parametrize("call", ["cudaMemcpy(h, d, 16, cudaMemcpyHostToDevice);", "cudaMemset(h, 0, 16);", "cudaFree(h);"])
def test_an_error_that_nobody_asked_for_ends_the_call(call):
    m = module("int f() { int* h = new int[4]; int* d; cudaMalloc(&d, 16);\n  %s\n  return 1; }" % call)
    with pytest.raises(RuntimeError, match="invalid argument") as caught:
        m.f()
    assert call in str(caught.value)
    m = module("int f() { int* h = new int[4]; int* d; cudaMalloc(&d, 16);\n  %s\n  return cudaGetLastError(); }" % call)
    assert m.f() == 1


@pytest.mark.parametrize("how", ["free(d)", "delete[] d"])
def test_free_of_the_devices_memory(how):
    m = module("int f() { int* d; cudaMalloc(&d, 16); %s; return 0; }" % how)
    with pytest.raises(RuntimeError, match="cudaFree"):
        m.f()


def test_what_a_pointer_is_of():
    m = module("""
        __device__ int v;
        __managed__ int w;
        int type(const void* p) { cudaPointerAttributes a; cudaPointerGetAttributes(&a, p);
            return a.type + 10 * (a.devicePointer == p) + 100 * (a.hostPointer == p); }
        int f(int which) {
            int local = 0; int *d, *h, *m, *s;
            cudaMalloc(&d, 16); cudaMallocHost(&h, 16); cudaMallocManaged(&m, 16); cudaGetSymbolAddress((void**)&s, v);
            int* n = new int[4]; int* r = new int[4]; cudaHostRegister(r, 16, 0);
            const void* all[] = {&local, d, h, m, s, n, r, d + 2, &w};
            return type(all[which]);
        }
    """)
    assert [m.f(i) for i in range(9)] == [100, 12, 111, 113, 12, 100, 111, 12, 113]


def test_tensors_serve_both():
    m = wb.compile(KERNELS + """
        #include <torch/extension.h>
        torch::Tensor f(torch::Tensor x) {
            int* p = x.data_ptr<int>();
            twice<<<1, 4>>>(p, 4);
            p[0] += 1;
            torch::Tensor y = torch::empty_like(x);
            cudaMemcpy(y.data_ptr<int>(), p, 16, cudaMemcpyDeviceToDevice);
            int h[4];
            cudaMemcpy(h, y.data_ptr<int>(), 16, cudaMemcpyDeviceToHost);
            y.data_ptr<int>()[3] = h[3] + 1;
            return y;
        }
        __global__ void k(const int64_t* n, int64_t* y) { *y = n[0]; }
        torch::Tensor extents(torch::Tensor x) {
            torch::Tensor y = torch::zeros({1}, torch::kLong);
            k<<<1, 1>>>(x.sizes().data(), y.data_ptr<int64_t>());
            return y;
        }
    """)
    x = np.arange(4, dtype=np.int32)
    assert list(np.asarray(m.f(x))) == [1, 2, 4, 7]
    # The extents of a tensor are in the host's memory, wherever its elements are.
    assert fault(m.extents, x).kind == "memory of the other side"


def test_thrust_keeps_its_sides():
    m = module("""
        #include <thrust/device_vector.h>
        #include <thrust/host_vector.h>
        #include <thrust/sort.h>
        int elements() {
            thrust::device_vector<int> v(4, 1);
            v[2] = 5;
            twice<<<1, 4>>>(thrust::raw_pointer_cast(v.data()), 4);
            thrust::host_vector<int> h = v;
            return v[2] * 100 + h[0];
        }
        int sorted() {
            int h[4] = {4, 2, 3, 1}; int* d; cudaMalloc(&d, 16); cudaMemcpy(d, h, 16, cudaMemcpyHostToDevice);
            thrust::device_ptr<int> p(d);
            thrust::sort(p, p + 4);
            int first = p[0];
            cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost);
            return first * 1000 + h[0] * 100 + h[3];
        }
        int on_host() { thrust::host_vector<int> h(4, 2); h[1] = 1; thrust::sort(h.begin(), h.end()); return h[0]; }
        int wrong() { thrust::host_vector<int> h(4, 2); twice<<<1, 4>>>(h.data(), 4); return h[0]; }
    """)
    assert m.elements() == 1002
    assert m.sorted() == 1104
    assert m.on_host() == 1
    assert fault(m.wrong).kind == "memory of the other side"


ALGORITHMS = """
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <cub/cub.cuh>
int of_cub(int* in, int* out, int n) {
    size_t bytes = 0;
    void* temp = nullptr;
    cub::DeviceReduce::Sum(temp, bytes, in, out, n);
    cudaMalloc(&temp, bytes);
    cub::DeviceReduce::Sum(temp, bytes, in, out, n);
    cudaFree(temp);
    return 0;
}
struct Add { const int* p; __host__ __device__ int operator()(int x) const { return x + p[0]; } };
"""

# Calls that are given memory of the other side, and what the message calls that memory.
WRONG = {
    "malloc": ("int* h = (int*)malloc(16); memset(h, 0, 16);\n  thrust::sort(thrust::device, h, h + 4); return 0;", "thrust::sort", "host"),
    "new": ("int* h = new int[4]();\n  return thrust::reduce(thrust::device, h, h + 4);", "thrust::reduce", "host"),
    "a vector": ("std::vector<int> h{3, 1, 2};\n  thrust::sort(thrust::device, h.data(), h.data() + 3); return 0;", "thrust::sort", "host"),
    "a host_vector": (
        "thrust::host_vector<int> h(4, 1);\n  thrust::sort(thrust::device, h.data(), h.data() + 4); return 0;", "thrust::sort", "host"),
    "the stack": ("int h[4] = {4, 3, 2, 1};\n  thrust::sort(thrust::cuda::par.on(0), h, h + 4); return 0;", "thrust::sort", "host"),
    "what a functor holds": (
        "thrust::device_vector<int> v(4, 1); int* h = new int[1]();\n  thrust::transform(v.begin(), v.end(), v.begin(), Add{h}); return 0;",
        "thrust::transform", "host"),
    "a result of CUB": ("int *d, h; cudaMalloc(&d, 16); cudaMemset(d, 0, 16);\n  return of_cub(d, &h, 4);", "cub::DeviceReduce::Sum", "host"),
    "an operand of CUB": (
        "int *d; int* h = new int[4](); cudaMalloc(&d, 16);\n  return of_cub(h, d, 4);", "cub::DeviceReduce::Sum", "host"),
    "thrust::host": ("int* d; cudaMalloc(&d, 16); cudaMemset(d, 0, 16);\n  thrust::sort(thrust::host, d, d + 4); return 0;", None, "device"),
    "no policy": ("int* d; cudaMalloc(&d, 16); cudaMemset(d, 0, 16);\n  thrust::sort(d, d + 4); return 0;", None, "device"),
}


@pytest.mark.parametrize("what", WRONG)
def test_algorithms_have_the_side_that_policies_and_iterators_say(what):
    body, algorithm, side = WRONG[what]
    m = module("#include <cstring>" + ALGORITHMS + f"int f() {{\n  {body}\n}}")
    error = fault(m.f)
    assert error.kind == "memory of the other side", error
    assert f"memory of the {side}" in str(error) or f"of {side} code" in str(error), error
    if algorithm:
        assert f"in `{algorithm}` at" in str(error) and "__wb" not in str(error), error


def test_algorithms_take_the_host_s_memory_with_unified_memory():
    m = module(ALGORITHMS + "int f() { int* h = new int[4](); h[1] = 5; thrust::sort(thrust::device, h, h + 4); return h[3]; }", unified_memory=True)
    assert m.f() == 5


def test_load_inline_takes_unified_memory():
    text = KERNELS + KERNEL_TOUCHES["new"]
    m = wb.load_inline("sides", "", text, ["f"], unified_memory=True)
    assert m.f() == 2
    with pytest.raises(wb.KernelFault, match="new"):
        wb.load_inline("sides", "", text, ["f"]).f()


TIERS = ["soon", "good", "lanes", "fibers"]
KINDS_OF_KERNELS = {
    "a line": "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1;",
    "a loop": "int s = 0; for (int i = 0; i < n; ++i) s += x[i]; if (s == 12345) *y = s;",
    "a stride": "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = i;",
    "sums": "atomicAdd(&x[threadIdx.x % 4], 1);",
    "a gather": "*y = x[y[threadIdx.x]];",
    "shared": "__shared__ int s[64]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); y[threadIdx.x] = s[63 - threadIdx.x];",
    "vectors": "int4 v = ((int4*)x)[threadIdx.x % 16]; *y = v.x;",
}


@pytest.mark.parametrize("tier", TIERS)
def test_every_kind_of_code_checks(tier):
    text = "".join(
        f"__global__ void k{i}(int* x, int* y, int n) {{ {body} }}\n"
        f"int f{i}(int where) {{ int *x, *y; cudaMallocManaged(&y, 256); cudaMemset(y, 0, 256);\n"
        f"  if (where == 0) x = new int[64]; else if (where == 1) cudaMalloc(&x, 256); else cudaMallocManaged(&x, 256);\n"
        f"  if (where == 0) memset(x, 0, 256); else cudaMemset(x, 0, 256);\n"
        f"  k{i}<<<64, 64>>>(x, y, 64); cudaDeviceSynchronize(); return y[0]; }}\n"
        for i, body in enumerate(KINDS_OF_KERNELS.values())
    )
    before = wb.set_tier(tier)
    try:
        m = wb.compile("#include <cstring>\n" + text)
        for i, what in enumerate(KINDS_OF_KERNELS):
            error = fault(m[f"f{i}"], 0)
            assert error.kind == "memory of the other side", (what, error)
            assert m[f"f{i}"](1) == 0 and m[f"f{i}"](2) == 0, what
    finally:
        wb.set_tier(before)


LOCALS = {
    "in a struct": "struct S { int* p; };\n__global__ void k(S s) { s.p[0] = 7; }\nint f() { int h = 1; S s{&h}; k<<<1, 1>>>(s); return h; }",
    "in a table": "__global__ void k(int** p) { p[0][0] = 7; }\n"
    "int f() { int h = 1; int** d; cudaMallocManaged(&d, 8); d[0] = &h; k<<<1, 1>>>(d); return h; }",
    "a table itself": "__global__ void k(int** p) { p[0][0] = 7; }\n"
    "int f() { int* d; cudaMallocManaged(&d, 8); int* h[1] = {d}; k<<<1, 1>>>(h); return d[0]; }",
}


@pytest.mark.parametrize("what", LOCALS)
def test_local_variables_that_a_kernel_comes_to(what):
    error = fault(module(LOCALS[what]).f)
    assert error.kind == "memory of the other side" and "host" in str(error), error
    assert module(LOCALS[what], unified_memory=True).f() == 7


def test_text_of_host_code_is_the_hosts():
    text = "__global__ void k(const char* s, int* y) { *y = s[0]; }\n" \
        'int f() { int* y; cudaMallocManaged(&y, 4); k<<<1, 1>>>("a", y); return *y; }'
    assert fault(module(text).f).kind == "memory of the other side"
    assert module(text, unified_memory=True).f() == ord("a")
    own = "__global__ void k(int* y) { const char* s = \"a\"; *y = s[threadIdx.x]; }\n" \
        "int f() { int* y; cudaMallocManaged(&y, 4); k<<<1, 1>>>(y); return *y; }"
    assert module(own).f() == ord("a")


@pytest.mark.parametrize("body", [
    "P copy = pair; return copy.a;",
    "P copy; copy = pair; return copy.a;",
    "P copy[1] = {pair}; return copy[0].a;",
    "return take(pair);",
    "P copy; memcpy(&copy, &pair, sizeof(copy)); return copy.a;",
    "P copy; memcpy(&pair, &copy, sizeof(copy)); return copy.a;",
    "memset(&pair, 0, sizeof(P)); return 0;",
])
def test_a_struct_of_the_device_is_no_value_of_the_hosts(body):
    with pytest.raises(wb.CompileError, match="`pair`"):
        module("#include <cstring>\nstruct P { int a, b; };\n__device__ P pair;\nint take(P p) { return p.a; }\nint f() { %s }" % body)


def test_copies_that_go_too_far():
    m = module("""
        int reads() { int h[4]; int* d; cudaMalloc(&d, 12);
          cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost); return 0; }
        int writes() { int h[4]; int* d; cudaMalloc(&d, 12);
          cudaMemcpy(d, h, 16, cudaMemcpyHostToDevice); return 0; }
        int sets() { int* d; cudaMalloc(&d, 12); cudaMemset(d + 1, 0, 12); return 0; }
        int freed() { int h[4]; int* d; cudaMalloc(&d, 16); cudaFree(d);
          cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost); return 0; }
        int null() { int h[4]; int* d = nullptr; cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost); return 0; }
        int nothing() { return cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault); }
    """)
    assert fault(m.reads).kind == "out-of-bounds read"
    assert fault(m.writes).kind == "out-of-bounds write"
    assert fault(m.sets).kind == "out-of-bounds write"
    error = fault(m.freed)
    assert error.kind == "dangling pointer" and "freed" in str(error)
    assert fault(m.null).kind == "null pointer"
    assert m.nothing() == 0
    assert "cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost)" in str(fault(m.reads))


MANAGED = """
class Managed {
public:
    void* operator new(size_t n) {
        void* p;
        cudaMallocManaged(&p, n);
        cudaDeviceSynchronize();
        return p;
    }
    void* operator new[](size_t n) {
        void* p;
        cudaMallocManaged(&p, n);
        return p;
    }
    void operator delete(void* p) {
        cudaDeviceSynchronize();
        cudaFree(p);
    }
    void operator delete[](void* p) { cudaFree(p); }
};
template <typename T> struct Box : public Managed {
    T value;
    int n;
    Box() : value(2), n(0) {}
};
__global__ void add(Box<float>* b) { b->value += 1; b->n = threadIdx.x + 1; }
__global__ void add_all(Box<float>* b) { b[threadIdx.x].value += threadIdx.x; }
"""


def test_objects_of_a_class_with_managed_memory():
    m = module(
        MANAGED
        + """
float one() {
    Box<float>* b = new Box<float>;
    b->value = 4;
    add<<<1, 1>>>(b);
    cudaDeviceSynchronize();
    float found = b->value * 10 + b->n;
    delete b;
    return found;
}
float all(int n) {
    Box<float>* b = new Box<float>[n];
    add_all<<<1, n>>>(b);
    cudaDeviceSynchronize();
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += b[i].value;
    delete[] b;
    return sum;
}
float after() {
    Box<float>* b = new Box<float>;
    delete b;
    return b->value;
}
"""
    )
    assert m.one() == 51
    assert m.all(4) == 4 * 2 + 6
    assert "freed" in str(fault(m.after))


def test_an_operator_new_of_all_classes_is_refused():
    with pytest.raises(wb.CompileError, match="declare it in the class") as caught:
        wb.compile("void* operator new(size_t n) { return nullptr; }\nint f() { return 1; }")
    assert "operator new" in str(caught.value)

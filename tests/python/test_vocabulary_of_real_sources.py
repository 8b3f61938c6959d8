"""Names that real source files use around their kernels: of the CUDA samples' headers, the driver, the operating system, GCC."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

import workbench as wb

HELPER = "#include <cuda_runtime.h>\n#include <helper_cuda.h>\n"


def test_helper_cuda_checks():
    m = wb.compile(
        HELPER
        + """
        __global__ void one(int* y) { y[threadIdx.x] = 1; }
        int right() {
            int* d; int h[4];
            checkCudaErrors(cudaMalloc(&d, sizeof h));
            one<<<1, 4>>>(d);
            getLastCudaError("one failed");
            checkCudaErrors(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
            checkCudaErrors(cudaFree(d));
            return h[0] + h[3];
        }
        void refused() { checkCudaErrors(cudaSetDevice(7)); }
        void not_launched() { one<<<1, 2048>>>(nullptr); getLastCudaError("one failed"); }
        """
    )
    assert m.right() == 2
    with pytest.raises(Exception, match=r'CUDA error at .*:\d+ code=101\(cudaErrorInvalidDevice\) "cudaSetDevice\(7\)"'):
        m.refused()
    with pytest.raises(Exception, match=r"getLastCudaError\(\) CUDA error : one failed : \(9\)"):
        m.not_launched()
    assert m.right() == 2


def test_the_samples_names_are_free_where_their_header_is_not_included():
    m = wb.compile("int checkCudaErrors(int x) { return x + 1; } int findCudaDevice() { return checkCudaErrors(2); }")
    assert m.findCudaDevice() == 3
    m = wb.compile("#define checkCudaErrors(x) ((x) * 10)\nint f() { return checkCudaErrors(4); }")
    assert m.f() == 40


def test_helper_devices_arguments_and_timers():
    m = wb.compile(
        "#include <helper_functions.h>\n"
        + HELPER
        + """
        int found() { return findCudaDevice(0, nullptr) * 10 + gpuGetMaxGflopsDeviceId(); }
        int flag(int which) {
            const char* argv[] = {"program", "--size=12", "-quiet", "--scale=1.5"};
            if (which == 0) return getCmdLineArgumentInt(4, argv, "size");
            if (which == 1) return checkCmdLineFlag(4, argv, "quiet") * 10 + checkCmdLineFlag(4, argv, "qui");
            return (int)(getCmdLineArgumentFloat(4, argv, "scale") * 100);
        }
        float elapsed() {
            StopWatchInterface* timer = nullptr;
            sdkCreateTimer(&timer);
            sdkStartTimer(&timer);
            for (volatile int i = 0; i < 1000; i = i + 1) {}
            sdkStopTimer(&timer);
            float t = sdkGetTimerValue(&timer);
            sdkDeleteTimer(&timer);
            return timer == nullptr ? t : -1;
        }
        """
    )
    assert m.found() == 0
    assert [m.flag(0), m.flag(1), m.flag(2)] == [12, 10, 150]
    assert 0 < m.elapsed() < 1e3


def test_time_of_the_system():
    m = wb.compile(
        """#include <sys/time.h>
        #include <unistd.h>
        double now() { struct timeval t; gettimeofday(&t, 0); return t.tv_sec + t.tv_usec * 1e-6; }
        double clocked() { timespec t; clock_gettime(CLOCK_REALTIME, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
        double waited(int us) { double start = now(); usleep(us); return now() - start; }
        """
    )
    # Two looks at clocks that may be set apart by a second at most.
    assert abs(m.now() - time.time()) < 1 and abs(m.clocked() - time.time()) < 1
    assert m.waited(20_000) >= 0.02


def test_a_wait_ends_when_it_is_interrupted_or_over_time():
    m = wb.compile("#include <unistd.h>\nvoid wait() { sleep(1000); }").with_timeout(0.2)
    start = time.monotonic()
    with pytest.raises(wb.KernelTimeout):
        m.wait()
    assert time.monotonic() - start < 10


def test_gccs_atomic_functions():
    m = wb.compile(
        """
        int run(int which) {
            int x = 6; long y = 6; unsigned char z = 250;
            switch (which) {
                case 0: return __sync_fetch_and_add(&x, 3) * 100 + x;
                case 1: return __sync_add_and_fetch(&x, 3) * 100 + x;
                case 2: return __sync_fetch_and_sub(&y, 2) * 100 + y;
                case 3: return __sync_and_and_fetch(&x, 3) * 100 + __sync_or_and_fetch(&x, 9);
                case 4: return __sync_nand_and_fetch(&x, 3);
                case 5: return __sync_val_compare_and_swap(&x, 6, 9) * 100 + x;
                case 6: return __sync_bool_compare_and_swap(&x, 5, 9) * 100 + x;
                case 7: return __sync_lock_test_and_set(&x, 1) * 100 + x;
                case 8: return __atomic_add_fetch(&z, 10, __ATOMIC_SEQ_CST);
                case 9: return __atomic_exchange_n(&x, 2, __ATOMIC_RELAXED) * 100 + __atomic_load_n(&x, __ATOMIC_ACQUIRE);
                default: { int old = 5; bool done = __atomic_compare_exchange_n(&x, &old, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return done * 100 + old * 10 + x; }
            }
        }"""
    )
    # By GCC's manual, "Legacy __sync Built-in Functions" and "__atomic Built-in Functions".
    assert [m.run(i) for i in range(11)] == [609, 909, 604, 211, ~(6 & 3), 609, 6, 601, 4, 602, 66]


def test_types_of_the_driver():
    m = wb.compile(
        """#include <cuda.h>
        typedef CUresult(CUDAAPI* wait_fn)(CUstream, CUdeviceptr, unsigned, unsigned);
        void CUDART_CB done(void* data) { *(int*)data = 1; }
        CUtensorMap make() { CUtensorMap t; return t; }
        int f(int k) {
            if (k == 0) return sizeof(CUtensorMap);
            if (k == 1) return alignof(CUtensorMap);
            if (k == 2) return sizeof(CUdeviceptr) + sizeof(CUstream);
            if (k == 3) { int x = 0; done(&x); return x; }
            return CUDA_ERROR_INVALID_VALUE + CU_TENSOR_MAP_DATA_TYPE_FLOAT32 * 10;
        }"""
    )
    assert [m.f(k) for k in range(5)] == [128, 64, 16, 1, 71]


@pytest.mark.parametrize("name", ["cublasLtHandle_t", "cudnnHandle_t", "cufftHandle", "cusparseHandle_t", "cusolverDnHandle_t", "ncclComm_t"])
def test_a_variable_of_a_library_that_is_not_here_is_left_out(name):
    m = wb.compile(f"static {name} handle;\n__global__ void k(int* y) {{ y[0] = 3; }}\nvoid run() {{ {name[:4]}{name[4:-8]}Create(&handle); }}")
    assert any("`handle` is left out" in str(w) for w in m.warnings)
    y = np.zeros(1, np.int32)
    m.k[1, 1](y)
    assert y[0] == 3
    with pytest.raises(wb.CompileError, match=name):
        wb.compile(f"__global__ void k({name}* y) {{ y[0] = 3; }}")


@pytest.mark.parametrize(
    "host",
    [
        # NVRTC and nvcc take all of these.
        "struct V { virtual int f() { return 1; } };\nint host() { V v; return v.f(); }",
        "struct V { virtual ~V() {} int x = 1; };\nstruct D : V { int y = 2; };\nint host() { D d; return d.y; }",
        "struct V { virtual int f() = 0; };\ntypedef V W;\nint host(W& w) { return w.f(); }",
        "class V { public: int g() { return f(); } private: virtual int f() { return 1; } };\nstruct Holds { V v; };\nint host() { Holds h; return h.v.g(); }",
    ],
)
def test_host_code_of_classes_with_virtual_functions_is_left_out(host):
    m = wb.compile(f"{host}\n__global__ void k(int* y) {{ y[0] = 3; }}")
    assert any("left out" in str(w) and "virtual" in str(w) for w in m.warnings)
    y = np.zeros(1, np.int32)
    m.k[1, 1](y)
    assert y[0] == 3
    with pytest.raises(wb.CompileError, match="virtual"):
        wb.compile(f"{host}\n__global__ void k(int* y) {{ y[0] = sizeof(V); }}")


@pytest.mark.parametrize("ty", ["__nv_bfloat162", "__half2"])
def test_pairs_and_their_bits(ty):
    m = wb.compile(
        f"""#include <cuda_bf16.h>
        #include <cuda_fp16.h>
        __device__ {ty}_raw raw({ty} v) {{ return {ty}_raw(v); }}
        __global__ void k(const {ty}* x, {ty}* y) {{ int i = threadIdx.x; {ty}_raw r = raw(x[i]); unsigned short t = r.x; r.x = r.y; r.y = t; y[i] = {ty}(r); }}"""
    )
    bits = np.arange(0, 1 << 16, 64, dtype=np.uint16)
    y = np.zeros_like(bits)
    dtype = np.float16 if "half" in ty else __import__("ml_dtypes").bfloat16
    m.k[1, len(bits) // 2](bits.view(dtype), y.view(dtype))
    np.testing.assert_array_equal(y.reshape(-1, 2), bits.reshape(-1, 2)[:, ::-1])


def test_scales_of_8_bits():
    m = wb.compile(
        "#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
        "__global__ void k(float* y) { y[threadIdx.x] = (float)(__nv_bfloat16)__nv_cvt_e8m0_to_bf16raw(threadIdx.x); }"
    )
    y = np.zeros(256, np.float32)
    m.k[1, 256](y)
    expected = np.array([2.0 ** (x - 127) for x in range(255)] + [math.nan], np.float32)
    np.testing.assert_array_equal(y, expected)


def test_signaling_nan():
    m = wb.compile(
        "#include <limits>\n__global__ void k(float* y, double* z) { y[0] = std::numeric_limits<float>::signaling_NaN(); z[0] = std::numeric_limits<double>::signaling_NaN(); }"
    )
    y, z = np.zeros(1, np.float32), np.zeros(1)
    m.k[1, 1](y, z)
    # IEEE 754-2008, 6.2.1: the first bit of the fraction tells quiet ones; moving one may make it quiet.
    assert np.isnan(y[0]) and np.isnan(z[0])


def test_breakpoints_end_the_launch_where_they_are_reached():
    k = wb.compile("__global__ void k(int* y) { if (y[0] < 0)\n __brkpt(); y[0] = 1; }").k
    y = np.zeros(1, np.int32)
    k[1, 1](y)
    assert y[0] == 1
    with pytest.raises(wb.KernelFault) as caught:
        k[1, 1](-y)
    assert caught.value.line == 2


@pytest.mark.parametrize("align", [256, 1024, 2048, 4096])
def test_shared_memory_of_a_large_alignment(align):
    m = wb.compile(
        f"__global__ void k(unsigned long long* y) {{ __shared__ char a[3]; __shared__ __align__({align}) char s[{align}]; a[0] = 1; s[threadIdx.x] = a[0]; "
        f"y[blockIdx.x] = (unsigned long long)&s[0] % {align}; }}"
    )
    y = np.ones(5, np.uint64)
    m.k[5, 1](y)
    np.testing.assert_array_equal(y, np.zeros(5, np.uint64))


def test_arguments_that_may_be_none():
    text = """#include <torch/extension.h>
    int64_t f(torch::Tensor x, std::optional<torch::Tensor> y) { return y.has_value() ? y->numel() : -1; }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f, py::arg("x"), py::arg("y").none(%s) = py::none()); }"""
    m = wb.load_inline("none", text % "true")
    x = np.zeros(3, np.float32)
    assert [m.f(x), m.f(x, None), m.f(x, x)] == [-1, -1, 3]
    with pytest.raises(Exception, match=r"none\(false\) is not supported"):
        wb.load_inline("none", text % "false").f(x)


def test_devices_by_torchs_other_names():
    m = wb.load_inline(
        "devices",
        """#include <torch/extension.h>
        #include <c10/cuda/CUDAFunctions.h>
        __global__ void twice(float* x) { x[threadIdx.x] *= 2; }
        torch::Tensor run(torch::Tensor x) {
            c10::cuda::MaybeSetDevice(x.get_device()); cudaThreadSynchronize();
            auto y = x.clone(); twice<<<1, (int)x.numel()>>>(y.data_ptr<float>()); return y;
        }
        bool fails() { return c10::cuda::SetDevice(3) == cudaErrorInvalidDevice; }""",
        functions=["run", "fails"],
    )
    np.testing.assert_array_equal(m.run(np.float32([1, 2])), np.float32([2, 4]))
    assert m.fails()


def test_the_largest_of_a_list_that_a_variable_holds():
    text = """#include <algorithm>
    constexpr size_t custom_max(std::initializer_list<size_t> l) { return std::max(l); }
    constexpr int custom_min(std::initializer_list<int> l) { return std::min(l); }
    constexpr size_t N = custom_max({3, 9, 4});
    __global__ void k(int* y) { __shared__ float s[N]; y[0] = sizeof(s); }
    int f(int a, int b) { return custom_max({(size_t)a, (size_t)b, 5}) * 100 + custom_min({a, b, 7}); }
    """
    module, y = wb.compile(text), np.zeros(1, np.int32)
    module.k[1, 1](y)
    assert y[0] == 36 and module.f(3, 8) == 803 and module.f(2, 1) == 501


def test_types_of_8_bit_floats_are_known_and_their_tensors_refused():
    text = """#include <torch/extension.h>
    bool is8(torch::Tensor x) { return x.scalar_type() == torch::kFloat8_e4m3fn || x.dtype() == at::ScalarType::Float8_e5m2; }
    torch::Tensor to8(torch::Tensor x) { return x.to(torch::kFloat8_e5m2); }
    """
    module = wb.compile(text)
    assert module.is8(np.zeros(3, np.float32)) is False
    with pytest.raises(NotImplementedError, match="8-bit floats"):
        module.to8(np.zeros(3, np.float32))


def test_a_static_object_that_owns_memory_says_why_it_cannot_be():
    text = "#include <map>\ninline std::map<int, int>& cache() { static std::map<int, int> m; return m; }\nint get() { return cache()[1]; }"
    with pytest.raises(wb.CompileError, match="`m` owns memory, and memory ends with the call"):
        wb.compile(text)

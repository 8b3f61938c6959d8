"""Streams, events, guards and devices by torch's names: everything runs in order, on one device."""

from __future__ import annotations


import numpy as np
import pytest

import workbench as wb

# The text read before the test's text; it is empty where the library has these names.
HEAD = "#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n#include <ATen/cuda/CUDAEvent.h>\n#include <c10/cuda/CUDAGuard.h>\n"
TWICE = "__global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }\n"


def build(source, *functions):
    return wb.load_inline("streams", "", HEAD + TWICE + source, functions=list(functions))


def test_work_on_streams_is_done_in_order():
    source = """
    void f(torch::Tensor x) {
        const at::cuda::CUDAGuard device_guard(x.device());
        const c10::cuda::OptionalCUDAGuard optional_guard(device_of(x));
        c10::DeviceGuard guard(x.device());
        at::OptionalDeviceGuard other(device_of(x));
        auto main = at::cuda::getCurrentCUDAStream();
        auto side = at::cuda::getStreamFromPool(/*isHighPriority=*/true);
        auto more = c10::cuda::getStreamFromPool(false, x.get_device());
        at::cuda::CUDAEvent ready, done(cudaEventDisableTiming);
        int n = x.numel(), blocks = (n + 63) / 64;
        twice<<<blocks, 64, 0, main>>>(x.data_ptr<float>(), n);
        ready.record(main);
        ready.block(side);
        {
            at::cuda::CUDAStreamGuard stream_guard(side);
            twice<<<blocks, 64, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), n);
            done.recordOnce(side);
            TORCH_CHECK(stream_guard.current_stream() == side && stream_guard.current_device().is_cuda());
        }
        done.block(main);
        c10::cuda::CUDAMultiStreamGuard several({side, more});
        at::cuda::OptionalCUDAStreamGuard maybe(more);
        maybe.reset_stream(side);
        c10::cuda::setCurrentCUDAStream(more);
        twice<<<blocks, 64, 0, more.stream()>>>(x.data_ptr<float>(), n);
        c10::cuda::setCurrentCUDAStream(at::cuda::getDefaultCUDAStream());
        c10::cuda::stream_synchronize(more);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        done.synchronize();
        TORCH_CHECK(done.query() && done.isCreated() && ready.device()->is_cuda());
        torch::cuda::synchronize();
        c10::cuda::device_synchronize();
    }"""
    x = np.ones(1000, np.float32)
    build(source, "f").f(x)
    assert (x == 8).all()


def test_time_between_events_is_time():
    source = """
    std::vector<double> f(torch::Tensor x) {
        at::cuda::CUDAEvent start(cudaEventDefault), middle(cudaEventDefault), end(cudaEventDefault);
        start.record();
        middle.record(at::cuda::getCurrentCUDAStream());
        for (int i = 0; i < 200; ++i) twice<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), x.numel());
        end.record();
        end.synchronize();
        float direct = 0;
        cudaEventElapsedTime(&direct, start, end);
        return {start.elapsed_time(end), start.elapsed_time(middle), middle.elapsed_time(end), direct};
    }"""
    x = np.zeros(100_000, np.float32)
    all_, first, second, direct = build(source, "f").f(x)
    # 20 million elements take at least a tenth of a nanosecond each; the parts make the whole but for rounding to float.
    assert all_ > 2 and second > first >= 0 and all_ == direct
    np.testing.assert_allclose(first + second, all_, rtol=1e-5)


def test_devices_are_one():
    source = """
    int f() {
        TORCH_CHECK(at::cuda::is_available() && torch::cuda::is_available() && !torch::cuda::cudnn_is_available() && at::hasCUDA());
        TORCH_CHECK(c10::cuda::current_device() == 0 && at::cuda::getNumGPUs() == 1 && at::cuda::warp_size() == 32);
        c10::cuda::set_device(0);
        c10::Stream stream(c10::Stream::DEFAULT, c10::Device(c10::kCUDA, 0));
        TORCH_CHECK(stream.id() == 0 && stream.device_index() == 0 && stream == c10::Stream(c10::Stream::UNSAFE, stream.device(), 0));
        return c10::cuda::device_count() * 10 + torch::cuda::device_count();
    }"""
    assert build(source, "f").f() == 11


def test_memory_comes_from_the_allocator():
    source = """
    torch::Tensor f(torch::Tensor x) {
        size_t bytes = x.numel() * sizeof(float);
        float* a = static_cast<float*>(c10::cuda::CUDACachingAllocator::raw_alloc(bytes));
        auto& allocator = *c10::cuda::CUDACachingAllocator::get();
        auto b = allocator.allocate(bytes);
        TORCH_CHECK(b.get() != nullptr && b && allocator.allocate(0).get() == nullptr);
        cudaMemcpy(a, x.data_ptr<float>(), bytes, cudaMemcpyDeviceToDevice);
        twice<<<1, 256>>>(a, x.numel());
        cudaMemcpy(b.get(), a, bytes, cudaMemcpyDeviceToDevice);
        auto out = torch::empty_like(x);
        cudaMemcpy(out.data_ptr<float>(), b.get(), bytes, cudaMemcpyDeviceToDevice);
        c10::cuda::CUDACachingAllocator::raw_delete(a);
        c10::cuda::CUDACachingAllocator::emptyCache();
        return out;
    }"""
    x = np.arange(100, dtype=np.float32)
    assert (build(source, "f").f(x) == 2 * x).all()


def test_the_context_keeps_what_it_is_told():
    source = """
    int f() {
        auto& context = at::globalContext();
        int seen = context.allowTF32CuBLAS() + 2 * context.allowTF32CuDNN() + 4 * at::globalContext().deterministicAlgorithms();
        context.setAllowTF32CuBLAS(true);
        at::globalContext().setDeterministicAlgorithms(true, false);
        seen += 8 * at::globalContext().allowTF32CuBLAS() + 16 * context.deterministicAlgorithms();
        seen += 32 * (context.float32MatmulPrecision() == at::Float32MatmulPrecision::HIGH) + 64 * context.userEnabledCuDNN() + 128 * context.hasCUDA();
        context.setAllowTF32CuBLAS(false);
        context.setDeterministicAlgorithms(false, false);
        return seen;
    }"""
    f = build(source, "f").f
    assert f() == f() == 2 + 8 + 16 + 32 + 64 + 128


@pytest.mark.parametrize(
    ("statement", "error", "message"),
    [
        ("c10::cuda::set_device(3)", RuntimeError, "invalid device ordinal"),
        ("at::cuda::getStreamFromPool(false, 2)", RuntimeError, "invalid device ordinal"),
        ("torch::cuda::synchronize(1)", RuntimeError, "invalid device ordinal"),
        ("at::cuda::CUDAEvent(cudaEventDefault).elapsed_time(at::cuda::CUDAEvent(cudaEventDefault))", ValueError, "must be recorded"),
        ("at::cuda::CUDAEvent().elapsed_time(at::cuda::CUDAEvent())", ValueError, "enable_timing"),
        ("at::globalContext().setDeterministicAlgorithms(true, false), at::globalContext().alertNotDeterministic(\"mine\")", RuntimeError, "mine does not have a deterministic"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_an_error_of_that_line(statement, error, message):
    source = f"void f() {{\n    {statement};\n}}"
    with pytest.raises(error, match=message) as raised:
        build(source, "f").f()
    assert "cuda.cu:7:" in str(raised.value)

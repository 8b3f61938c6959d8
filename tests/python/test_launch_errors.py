"""Launches of host code that cannot begin, and which code runs them."""

import numpy as np
import pytest
import workbench as wb


def module(source, *functions):
    return wb.load_inline("ext", source, functions=list(functions) or None)


LAUNCHES = """
__global__ void k(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.f;
}
torch::Tensor f(torch::Tensor x, int64_t threads) {
    auto y = x.clone();
    k<<<(y.numel() + 255) / 256, threads>>>(y.data_ptr<float>(), y.numel());
    return y;
}
std::vector<int64_t> codes(int64_t blocks, int64_t threads, int64_t bytes) {
    auto x = torch::zeros({4});
    k<<<blocks, threads, bytes>>>(x.data_ptr<float>(), 4);
    int64_t seen = cudaPeekAtLastError(), read = cudaGetLastError();
    return {seen, read, cudaGetLastError(), (int64_t)x[0].item<float>()};
}
"""


def test_a_launch_of_no_blocks_does_nothing():
    m = module(LAUNCHES, "f", "codes")
    assert m.f(np.zeros(0, np.float32), 256).shape == (0,)
    assert m.codes(0, 32, 0) == [9, 9, 0, 0]


def test_a_refused_launch_nobody_asks_about_ends_the_call():
    m = module(LAUNCHES, "f", "codes")
    for threads, words in ((2048, "2048 threads"), (0, "holds no thread")):
        with pytest.raises(RuntimeError, match=words) as caught:
            m.f(np.ones(5, np.float32), threads)
        assert caught.value.line == LAUNCHES[: LAUNCHES.index("k<<<")].count("\n") + 1
    np.testing.assert_array_equal(m.f(np.ones(5, np.float32), 256), np.full(5, 2, np.float32))
    # CUDA Runtime API: cudaErrorInvalidConfiguration and cudaErrorInvalidValue.
    assert m.codes(1, 1025, 0) == [9, 9, 0, 0]
    assert m.codes(1, 32, 1 << 20) == [1, 1, 0, 0]
    assert m.codes(1, 32, 0) == [0, 0, 0, 1]


def test_tensors_do_not_make_a_text_recursive():
    # Programs that may recurse get good code at once, and wait for it: no function of the library may come to call itself.
    text = "#include <torch/extension.h>" + LAUNCHES + """
    torch::Tensor g(torch::Tensor x) {
        auto y = torch::empty(x.sizes(), x.options()).copy_(x.contiguous()).to(x.options());
        return f(torch::zeros_like(y), 256) + y.clone();
    }"""
    before = wb.set_tier("soon")
    try:
        m = module(text)
        m.g(np.ones((3, 4), np.float32).T)
        assert m.k.tier == "soon"
    finally:
        wb.set_tier(before)

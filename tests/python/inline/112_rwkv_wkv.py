"""RWKV's wkv by raw pointers, forward in the numerically stable form, with a macro for the state and assert on the host; typed launcher in C."""
CPP = r'''
#include "torch/extension.h"
#include <cassert>

typedef float F;
void cuda_forward(int B, int T, int C, float *w, float *u, F *k, F *v, F *y, float *state);

void forward(int64_t B, int64_t T, int64_t C, torch::Tensor &w, torch::Tensor &u, torch::Tensor &k, torch::Tensor &v, torch::Tensor &y, torch::Tensor &state) {
    cuda_forward(B, T, C, w.data_ptr<float>(), u.data_ptr<float>(), k.data_ptr<F>(), v.data_ptr<F>(), y.data_ptr<F>(), state.data_ptr<float>());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "wkv forward");
}
'''
CUDA = r'''
#include <stdio.h>
#include <assert.h>

#define MIN_VALUE (-1e38)

template <typename F>
__global__ void kernel_forward(const int B, const int T, const int C, const float *__restrict__ const _w, const float *__restrict__ const _u,
                               const F *__restrict__ const _k, const F *__restrict__ const _v, F *__restrict__ const _y, float *__restrict__ const _s) {
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const int _b = idx / C;
    const int _c = idx % C;
    const int _offset = _b * T * C + _c;
    const int _state_offset = _b * C * 3 + _c * 3;

    float u = _u[_c];
    float w = _w[_c];
    const F *__restrict__ const k = _k + _offset;
    const F *__restrict__ const v = _v + _offset;
    F *__restrict__ const y = _y + _offset;
    float *__restrict__ const s = _s + _state_offset;

    // aa and bb are running sums divided by exp(pp), to avoid overflow
    float aa = s[0], bb = s[1], pp = s[2];
    for (int i = 0; i < T; i++) {
        const int ii = i * C;
        const float kk = float(k[ii]);
        const float vv = float(v[ii]);

        float ww = u + kk;
        float p = max(pp, ww);
        float e1 = exp(pp - p);
        float e2 = exp(ww - p);
        y[ii] = F((e1 * aa + e2 * vv) / (e1 * bb + e2));

        ww = w + pp;
        p = max(ww, kk);
        e1 = exp(ww - p);
        e2 = exp(kk - p);
        aa = e1 * aa + e2 * vv;
        bb = e1 * bb + e2;
        pp = p;
    }
    s[0] = aa;
    s[1] = bb;
    s[2] = pp;
}

void cuda_forward(int B, int T, int C, float *w, float *u, float *k, float *v, float *y, float *state) {
    dim3 threadsPerBlock( min(C, 32) ); // requires --maxrregcount 60 for optimal performance
    assert(B * C % threadsPerBlock.x == 0);
    dim3 numBlocks(B * C / threadsPerBlock.x);
    kernel_forward<<<numBlocks, threadsPerBlock>>>(B, T, C, w, u, k, v, y, state);
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for B, T, C in ((2, 37, 32), (3, 11, 5), (1, 1, 64)):
        w = -np.exp(t.rng.standard_normal(C)).astype(np.float32)
        u = t.rng.standard_normal(C).astype(np.float32)
        k = (4 * t.rng.standard_normal((B, 2 * T, C))).astype(np.float32)
        v = t.rng.standard_normal((B, 2 * T, C)).astype(np.float32)
        state = np.zeros((B, C, 3), np.float32)
        state[..., 2] = -1e38
        state = t(state)
        parts = []
        for half in (slice(0, T), slice(T, 2 * T)):  # the state carries over
            y = t(np.zeros((B, T, C), np.float32))
            assert m.forward(B, T, C, t(w), t(u), t(k[:, half].copy()), t(v[:, half].copy()), y, state) is None
            parts.append(t.np(y))
        K, V = k.astype(np.float64), v.astype(np.float64)
        want = np.zeros((B, 2 * T, C))
        for i in range(2 * T):
            decay = (i - 1 - np.arange(i))[:, None] * w.astype(np.float64)  # 0 for the step just before
            e = np.exp(np.concatenate([decay + K[:, :i], u + K[:, i : i + 1]], 1))
            want[:, i] = (e * V[:, : i + 1]).sum(1) / e.sum(1)
        np.testing.assert_allclose(np.concatenate(parts, 1), want, rtol=1e-4, atol=1e-4)
        s = t.np(state).astype(np.float64)
        e = np.exp((2 * T - 1 - np.arange(2 * T))[:, None] * w.astype(np.float64) + K)
        np.testing.assert_allclose(np.log(s[..., 1]) + s[..., 2], np.log(e.sum(1)), rtol=1e-5, atol=1e-4)

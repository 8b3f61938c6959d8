"""Alpha compositing along rays of differing lengths (NeRF repositories), one ray per thread with an early stop; forward and backward."""
CPP = r'''
#include <torch/extension.h>
std::vector<torch::Tensor> composite_forward(torch::Tensor sigmas, torch::Tensor rgbs, torch::Tensor deltas, torch::Tensor rays, float T_thresh);
std::vector<torch::Tensor> composite_backward(torch::Tensor grad_image, torch::Tensor sigmas, torch::Tensor rgbs, torch::Tensor deltas,
                                              torch::Tensor rays, torch::Tensor image);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "volume rendering";
    m.def("composite_forward", &composite_forward, "composite rays (forward)", py::arg("sigmas"), py::arg("rgbs"), py::arg("deltas"), py::arg("rays"), py::arg("T_thresh") = 1e-4f);
    m.def("composite_backward", &composite_backward, "composite rays (backward)");
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <cstdint>
#include <stdexcept>

#define CHECK_IS_INT(x) TORCH_CHECK(x.scalar_type() == at::ScalarType::Int, #x " must be an int tensor")
#define CHECK_IS_FLOATING(x) TORCH_CHECK(x.scalar_type() == at::ScalarType::Float || x.scalar_type() == at::ScalarType::Double, #x " must be a floating tensor")

template <typename T>
static inline __host__ __device__ T div_round_up(T val, T divisor) { return (val + divisor - 1) / divisor; }

// rays: [N, 2], offset and number of steps
template <typename scalar_t>
__global__ void kernel_composite_forward(const scalar_t * __restrict__ sigmas, const scalar_t * __restrict__ rgbs, const scalar_t * __restrict__ deltas,
                                         const int * __restrict__ rays, const uint32_t N, const float T_thresh,
                                         scalar_t * weights_sum, scalar_t * depth, scalar_t * image) {
    const uint32_t n = threadIdx.x + blockIdx.x * blockDim.x;
    if (n >= N) return;
    const uint32_t offset = rays[n * 2], num_steps = rays[n * 2 + 1];
    if (num_steps == 0) {
        weights_sum[n] = 0; depth[n] = 0;
        image[n * 3] = 0; image[n * 3 + 1] = 0; image[n * 3 + 2] = 0;
        return;
    }
    sigmas += offset; rgbs += offset * 3; deltas += offset;
    scalar_t T = 1.0f, r = 0, g = 0, b = 0, ws = 0, t = 0, d = 0;
    uint32_t step = 0;
    while (step < num_steps) {
        const scalar_t alpha = scalar_t(1) - exp(-sigmas[0] * deltas[0]);
        const scalar_t weight = alpha * T;
        r += weight * rgbs[0];
        g += weight * rgbs[1];
        b += weight * rgbs[2];
        t += deltas[0];
        d += weight * t;
        ws += weight;
        T *= scalar_t(1) - alpha;
        if (T < T_thresh) break;
        sigmas++; deltas++;
        rgbs += 3;
        step++;
    }
    weights_sum[n] = ws; depth[n] = d;
    image[n * 3] = r; image[n * 3 + 1] = g; image[n * 3 + 2] = b;
}

template <typename scalar_t>
__global__ void kernel_composite_backward(const scalar_t * __restrict__ grad_image, const scalar_t * __restrict__ sigmas, const scalar_t * __restrict__ rgbs,
                                          const scalar_t * __restrict__ deltas, const int * __restrict__ rays, const scalar_t * __restrict__ image,
                                          const uint32_t N, scalar_t * grad_sigmas, scalar_t * grad_rgbs) {
    const uint32_t n = threadIdx.x + blockIdx.x * blockDim.x;
    if (n >= N) return;
    const scalar_t *go = grad_image + n * 3, *final_color = image + n * 3;
    scalar_t T = 1, acc[3] = {0, 0, 0};
    for (uint32_t i = rays[n * 2], end = i + rays[n * 2 + 1]; i < end; ++i) {
        const scalar_t keep = exp(-sigmas[i] * deltas[i]), weight = (scalar_t(1) - keep) * T;
        scalar_t grad = 0;
        T *= keep;
        #pragma unroll
        for (int c = 0; c < 3; ++c) {
            acc[c] += weight * rgbs[i * 3 + c];
            grad_rgbs[i * 3 + c] = go[c] * weight;
            grad += go[c] * (T * rgbs[i * 3 + c] - (final_color[c] - acc[c]));
        }
        grad_sigmas[i] = deltas[i] * grad;
    }
}

std::vector<torch::Tensor> composite_forward(torch::Tensor sigmas, torch::Tensor rgbs, torch::Tensor deltas, torch::Tensor rays, float T_thresh) {
    CHECK_IS_FLOATING(sigmas);
    CHECK_IS_INT(rays);
    const uint32_t N = rays.size(0);
    auto ws = torch::empty({N}, sigmas.options()), depth = torch::empty({N}, sigmas.options()), image = torch::empty({N, 3}, sigmas.options());
    static constexpr uint32_t N_THREAD = 128;
    AT_DISPATCH_FLOATING_TYPES(sigmas.scalar_type(), "composite_forward", ([&] {
        kernel_composite_forward<<<div_round_up(N, N_THREAD), N_THREAD>>>(sigmas.data_ptr<scalar_t>(), rgbs.data_ptr<scalar_t>(), deltas.data_ptr<scalar_t>(),
            rays.data_ptr<int>(), N, T_thresh, ws.data_ptr<scalar_t>(), depth.data_ptr<scalar_t>(), image.data_ptr<scalar_t>());
    }));
    return {ws, depth, image};
}

std::vector<torch::Tensor> composite_backward(torch::Tensor grad_image, torch::Tensor sigmas, torch::Tensor rgbs, torch::Tensor deltas, torch::Tensor rays, torch::Tensor image) {
    const uint32_t N = rays.size(0);
    auto gs = torch::zeros_like(sigmas), gr = torch::zeros_like(rgbs);
    AT_DISPATCH_FLOATING_TYPES(sigmas.scalar_type(), "composite_backward", ([&] {
        kernel_composite_backward<scalar_t><<<div_round_up<uint32_t>(N, 64), 64>>>(grad_image.data_ptr<scalar_t>(), sigmas.data_ptr<scalar_t>(), rgbs.data_ptr<scalar_t>(),
            deltas.data_ptr<scalar_t>(), rays.data_ptr<int>(), image.data_ptr<scalar_t>(), N, gs.data_ptr<scalar_t>(), gr.data_ptr<scalar_t>());
    }));
    return {gs, gr};
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    steps = t.rng.integers(0, 30, 37)
    steps[3] = 0
    offsets = np.concatenate([[0], np.cumsum(steps)[:-1]])
    rays = np.stack([offsets, steps], 1).astype(np.int32)
    total = int(steps.sum())

    def image_of(sigma, rgb, delta):
        out = np.zeros((37, 5))
        for n, (o, s) in enumerate(rays):
            a = 1 - np.exp(-sigma[o : o + s] * delta[o : o + s])
            w = a * np.concatenate([[1], np.cumprod(1 - a)])[:s]
            out[n] = w.sum(), (w * np.cumsum(delta[o : o + s])).sum(), *(w @ rgb[o : o + s])
        return out

    for dtype, tol in ((np.float32, 1e-5), (np.float64, 1e-11)):
        s, c, d = t.rng.uniform(0, 4, total).astype(dtype), t.rng.random((total, 3)).astype(dtype), t.rng.uniform(0.05, 0.2, total).astype(dtype)
        exact = [x.astype(np.float64) for x in (s, c, d)]
        want = image_of(*exact)
        ws, depth, image = m.composite_forward(t(s), t(c), t(d), t(rays), T_thresh=0.0)
        for got, w in ((ws, want[:, 0]), (depth, want[:, 1]), (image, want[:, 2:])):
            t.close(got, w, rtol=10 * tol, atol=tol)
        t.close(m.composite_forward(t(s), t(c), t(d), t(rays))[2], want[:, 2:], atol=1e-4 + tol)  # what the early stop drops
        g = t.rng.standard_normal((37, 3)).astype(dtype)
        gs, gr = m.composite_backward(t(g), t(s), t(c), t(d), t(rays), image)
        for i in t.rng.integers(0, total, 5):  # central differences, in float64
            up, down = exact[0].copy(), exact[0].copy()
            up[i] += 1e-5
            down[i] -= 1e-5
            slope = (((image_of(up, *exact[1:]) - image_of(down, *exact[1:]))[:, 2:] * g).sum()) / 2e-5
            assert abs(t.np(gs)[i] - slope) < 2e-5
        unit = np.zeros((total, 3))
        unit[total // 2, 1] = 1
        assert abs(t.np(gr)[total // 2, 1] - (image_of(exact[0], unit, exact[2])[:, 3] * g[:, 1]).sum()) < 10 * tol
    with t.raises(RuntimeError, "rays must be an int tensor"):
        m.composite_forward(t(s), t(c), t(d), t(rays.astype(np.int64)))

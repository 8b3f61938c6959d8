"""Mamba-like selective scan: params struct with strides, state in registers (compile-time size), bool switches as templates, optional D, z, bias."""
CPP = r'''
std::vector<at::Tensor> selective_scan_fwd(const at::Tensor &u, const at::Tensor &delta, const at::Tensor &A, const at::Tensor &B, const at::Tensor &C,
                                           const c10::optional<at::Tensor> &D_, const c10::optional<at::Tensor> &z_,
                                           const c10::optional<at::Tensor> &delta_bias_, bool delta_softplus);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <vector>

#define CHECK_SHAPE(x, ...) TORCH_CHECK(x.sizes() == torch::IntArrayRef({__VA_ARGS__}), #x " must have shape (" #__VA_ARGS__ ")")

#define BOOL_SWITCH(COND, CONST_NAME, ...)                                           \
    [&] {                                                                            \
        if (COND) { constexpr bool CONST_NAME = true; return __VA_ARGS__(); }        \
        else { constexpr bool CONST_NAME = false; return __VA_ARGS__(); }            \
    }()

struct SSMParamsBase {
    using index_t = uint32_t;
    int batch, dim, seqlen;
    bool delta_softplus;
    index_t u_batch_stride, u_d_stride, B_batch_stride, B_dstate_stride;
    void *__restrict__ A_ptr, *__restrict__ B_ptr, *__restrict__ C_ptr, *__restrict__ D_ptr, *__restrict__ u_ptr, *__restrict__ delta_ptr;
    void *__restrict__ delta_bias_ptr, *__restrict__ z_ptr, *__restrict__ out_ptr, *__restrict__ x_ptr;
};

template <int kDState, bool kHasZ>
__global__ __launch_bounds__(64) void selective_scan_fwd_kernel(SSMParamsBase params) {
    const int d = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (d >= params.dim) return;
    const float *u = reinterpret_cast<const float *>(params.u_ptr) + b * params.u_batch_stride + d * params.u_d_stride;
    const float *delta = reinterpret_cast<const float *>(params.delta_ptr) + b * params.u_batch_stride + d * params.u_d_stride;
    float *out = reinterpret_cast<float *>(params.out_ptr) + b * params.u_batch_stride + d * params.u_d_stride;
    const float *Bvar = reinterpret_cast<const float *>(params.B_ptr) + b * params.B_batch_stride;
    const float *Cvar = reinterpret_cast<const float *>(params.C_ptr) + b * params.B_batch_stride;
    const float D_val = params.D_ptr == nullptr ? 0.f : reinterpret_cast<float *>(params.D_ptr)[d];
    const float bias = params.delta_bias_ptr != nullptr ? reinterpret_cast<float *>(params.delta_bias_ptr)[d] : 0.f;

    float A_val[kDState], state[kDState] = {};
    #pragma unroll
    for (int n = 0; n < kDState; ++n) A_val[n] = reinterpret_cast<float *>(params.A_ptr)[d * kDState + n] * float(M_LOG2E);

    for (int l = 0; l < params.seqlen; ++l) {
        float dt = delta[l] + bias;
        if (params.delta_softplus) dt = dt <= 20.f ? log1pf(expf(dt)) : dt;
        const float du = dt * u[l];
        float y = D_val * u[l];
        #pragma unroll
        for (int n = 0; n < kDState; ++n) {
            state[n] = exp2f(dt * A_val[n]) * state[n] + du * Bvar[n * params.B_dstate_stride + l];
            y += state[n] * Cvar[n * params.B_dstate_stride + l];
        }
        if constexpr (kHasZ) {
            const float z = reinterpret_cast<const float *>(params.z_ptr)[b * params.u_batch_stride + d * params.u_d_stride + l];
            y *= z / (1 + expf(-z));
        }
        out[l] = y;
    }
    float *x = reinterpret_cast<float *>(params.x_ptr) + (b * params.dim + d) * kDState;
    for (int n = 0; n < kDState; ++n) x[n] = state[n];
}

template <int kDState>
void selective_scan_fwd_launch(SSMParamsBase &params, cudaStream_t stream) {
    BOOL_SWITCH(params.z_ptr != nullptr, kHasZ, [&] {
        dim3 grid((params.dim + 63) / 64, params.batch);
        auto kernel = &selective_scan_fwd_kernel<kDState, kHasZ>;
        kernel<<<grid, 64, 0, stream>>>(params);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
}

std::vector<at::Tensor> selective_scan_fwd(const at::Tensor &u, const at::Tensor &delta, const at::Tensor &A, const at::Tensor &B, const at::Tensor &C,
                                           const c10::optional<at::Tensor> &D_, const c10::optional<at::Tensor> &z_,
                                           const c10::optional<at::Tensor> &delta_bias_, bool delta_softplus) {
    TORCH_CHECK(u.scalar_type() == at::ScalarType::Float);
    const auto sizes = u.sizes();
    const int batch_size = sizes[0], dim = sizes[1], seqlen = sizes[2], dstate = A.size(1);
    CHECK_SHAPE(delta, batch_size, dim, seqlen);
    CHECK_SHAPE(A, dim, dstate);
    CHECK_SHAPE(B, batch_size, dstate, seqlen);
    CHECK_SHAPE(C, batch_size, dstate, seqlen);
    at::Tensor out = torch::empty_like(delta), x = torch::empty({batch_size, dim, dstate}, u.options());

    SSMParamsBase params;
    memset(&params, 0, sizeof(params));
    params.batch = batch_size; params.dim = dim; params.seqlen = seqlen;
    params.delta_softplus = delta_softplus;
    params.u_batch_stride = u.stride(0); params.u_d_stride = u.stride(1);
    params.B_batch_stride = B.stride(0); params.B_dstate_stride = B.stride(1);
    params.A_ptr = A.data_ptr(); params.B_ptr = B.data_ptr(); params.C_ptr = C.data_ptr();
    params.u_ptr = u.data_ptr(); params.delta_ptr = delta.data_ptr(); params.out_ptr = out.data_ptr(); params.x_ptr = x.data_ptr();
    params.D_ptr = D_.has_value() ? D_.value().data_ptr() : nullptr;
    params.z_ptr = z_.has_value() ? z_.value().data_ptr() : nullptr;
    params.delta_bias_ptr = delta_bias_.has_value() ? delta_bias_.value().data_ptr() : nullptr;

    at::cuda::CUDAGuard device_guard{u.device()};
    auto stream = at::cuda::getCurrentCUDAStream().stream();
    if (dstate == 4) selective_scan_fwd_launch<4>(params, stream);
    else if (dstate == 16) selective_scan_fwd_launch<16>(params, stream);
    else TORCH_CHECK(false, "selective_scan: dstate ", dstate, " is not one of 4, 16");
    return {out, x};
}
'''
FUNCTIONS = ["selective_scan_fwd"]


def check(m, t):
    import numpy as np

    for b, d, length, n, full in ((2, 5, 37, 16, True), (1, 70, 9, 4, False)):
        r = t.rng.standard_normal
        u, delta, z = (r((b, d, length)).astype(np.float32) for _ in range(3))
        A = -np.exp(r((d, n))).astype(np.float32)
        B, C = (r((b, n, length)).astype(np.float32) for _ in range(2))
        D, bias = r(d).astype(np.float32), r(d).astype(np.float32)
        if not full:
            delta = abs(delta)
        dt = delta.astype(np.float64)
        if full:
            dt = np.log1p(np.exp(dt + bias[:, None]))
        h, ys = np.zeros((b, d, n)), []
        for i in range(length):
            h = np.exp(dt[:, :, i, None] * A) * h + (dt[:, :, i] * u[:, :, i])[..., None] * B[:, None, :, i]
            ys.append((h * C[:, None, :, i]).sum(-1))
        y = np.stack(ys, -1)
        if full:
            y = (y + D[:, None] * u) * z / (1 + np.exp(-z.astype(np.float64)))
        extra = (t(D), t(z), t(bias), True) if full else (None, None, None, False)
        out, x = m.selective_scan_fwd(t(u), t(delta), t(A), t(B), t(C), *extra)
        t.close(x, h, rtol=1e-4, atol=1e-5)
        t.close(out, y, rtol=1e-4, atol=1e-4)  # sums of 16 terms of either sign
    with t.raises(RuntimeError, "dstate 3 is not one of 4, 16"):
        m.selective_scan_fwd(t(u), t(delta), t(A[:, :3].copy()), t(B[:, :3].copy()), t(C[:, :3].copy()), None, None, None, False)
    with t.raises(RuntimeError, "A must have shape (dim, dstate)"):
        m.selective_scan_fwd(t(u), t(delta), t(A[1:].copy()), t(B), t(C), None, None, None, False)

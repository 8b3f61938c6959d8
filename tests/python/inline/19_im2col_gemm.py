"""im2col kernel, then the convolution as torch::mm / baddbmm on the columns: the classic Caffe-like layout."""
CPP = r'''
torch::Tensor im2col_cuda(torch::Tensor x, int kh, int kw, int stride, int pad);
torch::Tensor conv_gemm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int stride, int pad) {
    const auto K = weight.size(0);
    auto cols = im2col_cuda(x, weight.size(2), weight.size(3), stride, pad);   // N, C*kh*kw, L
    const int64_t P = (x.size(2) + 2 * pad - weight.size(2)) / stride + 1;
    auto w = weight.reshape({K, -1});
    std::vector<torch::Tensor> outputs;
    outputs.reserve(x.size(0));
    for (int64_t n = 0; n < x.size(0); n++) {
        outputs.push_back(torch::addmm(bias.unsqueeze(1), w, cols[n]));
    }
    return torch::stack(outputs).view({x.size(0), K, P, -1});
}
'''
CUDA = r'''
#define CUDA_1D_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

const int CUDA_NUM_THREADS = 128;
inline int GET_BLOCKS(const int N) { return (N + CUDA_NUM_THREADS - 1) / CUDA_NUM_THREADS; }

template <typename Dtype>
__global__ void im2col_gpu_kernel(const int n, const Dtype* data_im, const int height, const int width, const int kh, const int kw,
                                  const int pad, const int stride, const int hcol, const int wcol, Dtype* data_col) {
    CUDA_1D_KERNEL_LOOP(index, n) {
        const int h_index = index / wcol;
        const int h_col = h_index % hcol;
        const int w_col = index % wcol;
        const int c_im = h_index / hcol;
        const int c_col = c_im * kh * kw;
        const int h_offset = h_col * stride - pad;
        const int w_offset = w_col * stride - pad;
        Dtype* col = data_col;
        col += (c_col * hcol + h_col) * wcol + w_col;
        const Dtype* im = data_im;
        im += (c_im * height + h_offset) * width + w_offset;
        for (int i = 0; i < kh; ++i) {
            for (int j = 0; j < kw; ++j) {
                int h_im = h_offset + i;
                int w_im = w_offset + j;
                *col = (h_im >= 0 && w_im >= 0 && h_im < height && w_im < width) ? im[i * width + j] : static_cast<Dtype>(0);
                col += hcol * wcol;
            }
        }
    }
}

torch::Tensor im2col_cuda(torch::Tensor x, int kh, int kw, int stride, int pad) {
    const int N = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3);
    const int hcol = (H + 2 * pad - kh) / stride + 1, wcol = (W + 2 * pad - kw) / stride + 1;
    auto cols = torch::empty({N, C * kh * kw, hcol * wcol}, x.options());
    const int n = C * hcol * wcol;
    for (int b = 0; b < N; ++b) {
        auto image = x[b];
        auto target = cols[b];
        im2col_gpu_kernel<float><<<GET_BLOCKS(n), CUDA_NUM_THREADS>>>(n, image.data_ptr<float>(), H, W, kh, kw, pad, stride, hcol, wcol,
                                                                      target.data_ptr<float>());
    }
    return cols;
}
'''
FUNCTIONS = ["im2col_cuda", "conv_gemm"]


def check(m, t):
    import numpy as np

    x = t.rng.standard_normal((2, 3, 7, 9)).astype(np.float32)
    for k, stride, pad in ((3, 1, 1), (2, 2, 0), (5, 2, 2)):
        w = t.rng.standard_normal((4, 3, k, k)).astype(np.float32)
        b = t.rng.standard_normal(4).astype(np.float32)
        p = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        win = np.lib.stride_tricks.sliding_window_view(p, (k, k), (2, 3))[:, :, ::stride, ::stride]
        cols = win.transpose(0, 1, 4, 5, 2, 3).reshape(2, 3 * k * k, -1)
        t.close(m.im2col_cuda(t(x), k, k, stride, pad), cols, rtol=0, atol=0)
        want = np.einsum("nchwij,kcij->nkhw", win.astype(np.float64), w.astype(np.float64)) + b.reshape(1, -1, 1, 1)
        t.close(m.conv_gemm(t(x), t(w), t(b), stride, pad), want, rtol=1e-4, atol=1e-5)

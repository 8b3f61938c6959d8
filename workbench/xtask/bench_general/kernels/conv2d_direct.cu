// Direct convolution, one thread an output; its indices by division from a flat number.
__global__ void conv2d_direct(const float* input, const float* weight, const float* bias, float* output, int N, int C, int H, int W, int K,
                              int R, int S, int pad, int stride, int OH, int OW) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total = N * K * OH * OW;
    if (idx >= total) return;
    int ow = idx % OW;
    int oh = (idx / OW) % OH;
    int k = (idx / (OW * OH)) % K;
    int n = idx / (OW * OH * K);
    float sum = bias[k];
    for (int c = 0; c < C; c++) {
        for (int r = 0; r < R; r++) {
            for (int s = 0; s < S; s++) {
                int ih = oh * stride - pad + r;
                int iw = ow * stride - pad + s;
                if (ih >= 0 && ih < H && iw >= 0 && iw < W)
                    sum += input[((n * C + c) * H + ih) * W + iw] * weight[((k * C + c) * R + r) * S + s];
            }
        }
    }
    output[idx] = sum;
}

// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <algorithm>

// A row of outputs at a time: each weight times the part of an input row that it meets.
extern "C" void conv2d_direct(const float* in, const float* weight, const float* bias, float* out, int N, int C, int H, int W, int K, int R,
                              int S, int pad, int stride, int OH, int OW) {
#pragma omp parallel for collapse(2)
    for (int n = 0; n < N; ++n) {
        for (int k = 0; k < K; ++k) {
            for (int oh = 0; oh < OH; ++oh) {
                float* row = out + ((long)(n * K + k) * OH + oh) * OW;
                for (int ow = 0; ow < OW; ++ow) row[ow] = bias[k];
                for (int c = 0; c < C; ++c) {
                    for (int r = 0; r < R; ++r) {
                        int ih = oh * stride - pad + r;
                        if (ih < 0 || ih >= H) continue;
                        const float* from = in + ((long)(n * C + c) * H + ih) * W;
                        for (int s = 0; s < S; ++s) {
                            float w = weight[((k * C + c) * R + r) * S + s];
                            int begin = std::max(0, (pad - s + stride - 1) / stride), end = std::min(OW, (W - 1 + pad - s) / stride + 1);
                            if (stride == 1)
                                for (int ow = begin; ow < end; ++ow) row[ow] += w * from[ow - pad + s];
                            else
                                for (int ow = begin; ow < end; ++ow) row[ow] += w * from[ow * stride - pad + s];
                        }
                    }
                }
            }
        }
    }
}

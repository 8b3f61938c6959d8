// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <algorithm>
#include <cfloat>

extern "C" void maxpool2d(const float* in, int planes, int height, int width, int out_height, int out_width, int kernel, int stride, int pad,
                          float* out, int* places) {
#pragma omp parallel for
    for (int plane = 0; plane < planes; ++plane) {
        const float* from = in + (long)plane * height * width;
        for (int ph = 0; ph < out_height; ++ph) {
            int top = std::max(ph * stride - pad, 0), bottom = std::min(ph * stride - pad + kernel, height);
            for (int pw = 0; pw < out_width; ++pw) {
                int left = std::max(pw * stride - pad, 0), right = std::min(pw * stride - pad + kernel, width);
                float best = -FLT_MAX;
                int place = -1;
                for (int h = top; h < bottom; ++h)
                    for (int w = left; w < right; ++w)
                        if (from[h * width + w] > best) best = from[h * width + w], place = h * width + w;
                long at = ((long)plane * out_height + ph) * out_width + pw;
                out[at] = best;
                places[at] = place;
            }
        }
    }
}

// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <algorithm>

extern "C" void upsample_bilinear(const float* in, float* out, int planes, int h1, int w1, int h2, int w2, float rh, float rw) {
#pragma omp parallel for
    for (int plane = 0; plane < planes; ++plane) {
        for (int y = 0; y < h2; ++y) {
            float sy = std::max(rh * (y + 0.5f) - 0.5f, 0.0f);
            int y0 = (int)sy, y1 = std::min(y0 + 1, h1 - 1);
            float fy = sy - y0;
            const float* top = in + ((long)plane * h1 + y0) * w1;
            const float* low = in + ((long)plane * h1 + y1) * w1;
            float* row = out + ((long)plane * h2 + y) * w2;
            for (int x = 0; x < w2; ++x) {
                float sx = std::max(rw * (x + 0.5f) - 0.5f, 0.0f);
                int x0 = (int)sx, x1 = std::min(x0 + 1, w1 - 1);
                float fx = sx - x0;
                row[x] = (1 - fy) * ((1 - fx) * top[x0] + fx * top[x1]) + fy * ((1 - fx) * low[x0] + fx * low[x1]);
            }
        }
    }
}

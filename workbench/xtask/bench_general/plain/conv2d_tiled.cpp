// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <algorithm>

extern "C" void conv2d_tiled(const float* in, const float* filter, float* out, int width, int height) {
#pragma omp parallel for
    for (int y = 0; y < height; ++y) {
        float* row = out + (long)y * width;
        for (int x = 0; x < width; ++x) row[x] = 0;
        for (int dy = 0; dy < 7; ++dy) {
            int from_y = y + dy - 3;
            if (from_y < 0 || from_y >= height) continue;
            const float* from = in + (long)from_y * width;
            for (int dx = 0; dx < 7; ++dx) {
                float f = filter[dy * 7 + dx];
                int begin = std::max(0, 3 - dx), end = std::min(width, width + 3 - dx);
                for (int x = begin; x < end; ++x) row[x] += f * from[x + dx - 3];
            }
        }
    }
}

// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void upsample_nearest(const float* in, float* out, int planes, int factor, int height, int width) {
#pragma omp parallel for
    for (int plane = 0; plane < planes; ++plane) {
        for (int y = 0; y < height; ++y) {
            const float* from = in + ((long)plane * (height / factor) + y / factor) * (width / factor);
            float* row = out + ((long)plane * height + y) * width;
            for (int x = 0; x < width; ++x) row[x] = from[x / factor];
        }
    }
}

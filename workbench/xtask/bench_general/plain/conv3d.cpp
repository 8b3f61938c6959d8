// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void conv3d(const float* in, const float* filter, float* out, int filters, int channels, int depth, int height, int width) {
    int od = depth - 2, oh = height - 2, ow = width - 2;
#pragma omp parallel for collapse(2)
    for (int k = 0; k < filters; ++k) {
        for (int z = 0; z < od; ++z) {
            for (int y = 0; y < oh; ++y) {
                float* row = out + ((long)(k * od + z) * oh + y) * ow;
                for (int x = 0; x < ow; ++x) row[x] = 0;
                for (int c = 0; c < channels; ++c) {
                    for (int dz = 0; dz < 3; ++dz) {
                        for (int dy = 0; dy < 3; ++dy) {
                            const float* from = in + ((long)(c * depth + z + dz) * height + y + dy) * width;
                            const float* f = filter + (((k * channels + c) * 3 + dz) * 3 + dy) * 3;
                            for (int x = 0; x < ow; ++x) row[x] += f[0] * from[x] + f[1] * from[x + 1] + f[2] * from[x + 2];
                        }
                    }
                }
            }
        }
    }
}

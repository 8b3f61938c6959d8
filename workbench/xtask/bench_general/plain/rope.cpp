// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void rope(const float* x, const float* cos_sin, float* out, int tokens, int heads, int pairs) {
#pragma omp parallel for
    for (int t = 0; t < tokens; ++t) {
        const float* angles = cos_sin + (long)t * pairs * 2;
        for (int h = 0; h < heads; ++h) {
            const float* from = x + ((long)t * heads + h) * pairs * 2;
            float* to = out + ((long)t * heads + h) * pairs * 2;
            for (int p = 0; p < pairs; ++p) {
                float c = angles[2 * p], s = angles[2 * p + 1], a = from[2 * p], b = from[2 * p + 1];
                to[2 * p] = a * c - b * s;
                to[2 * p + 1] = a * s + b * c;
            }
        }
    }
}

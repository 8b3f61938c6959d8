// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void batchnorm_backward(const float* x, const float* dy, const float* weight, const float* mean, const float* invstd, float* dx,
                                   float* dweight, float* dbias, int batch, int channels, int plane) {
#pragma omp parallel for
    for (int c = 0; c < channels; ++c) {
        float m = mean[c], s = invstd[c], sum = 0, product = 0;
        for (int n = 0; n < batch; ++n) {
            const float* g = dy + ((long)n * channels + c) * plane;
            const float* v = x + ((long)n * channels + c) * plane;
#pragma omp simd reduction(+ : sum, product)
            for (int p = 0; p < plane; ++p) {
                sum += g[p];
                product += g[p] * (v[p] - m) * s;
            }
        }
        dbias[c] = sum;
        dweight[c] = product;
        float count = (float)batch * plane, a = sum / count, b = product / count, scale = weight[c] * s;
        for (int n = 0; n < batch; ++n) {
            const float* g = dy + ((long)n * channels + c) * plane;
            const float* v = x + ((long)n * channels + c) * plane;
            float* to = dx + ((long)n * channels + c) * plane;
            for (int p = 0; p < plane; ++p) to[p] = (g[p] - a - (v[p] - m) * s * b) * scale;
        }
    }
}

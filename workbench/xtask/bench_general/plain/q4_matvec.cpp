// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
struct Block {
    _Float16 d;
    unsigned char qs[16];
};

extern "C" void q4_matvec(const Block* x, const float* y, float* out, int cols, int rows) {
    int blocks = cols / 32;
#pragma omp parallel for
    for (int r = 0; r < rows; ++r) {
        float total = 0;
        for (int b = 0; b < blocks; ++b) {
            const Block& block = x[(long)r * blocks + b];
            const float* v = y + b * 32;
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int j = 0; j < 16; ++j) sum += ((block.qs[j] & 15) - 8) * v[j] + ((block.qs[j] >> 4) - 8) * v[j + 16];
            total += (float)block.d * sum;
        }
        out[r] = total;
    }
}

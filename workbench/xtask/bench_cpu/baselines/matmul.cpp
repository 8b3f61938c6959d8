// flags: -O3 -march=native -std=c++17 -fPIC -shared -pthread
// 12 x 32 outputs in registers. The right matrix is packed into panels of 32 columns, which stay in the second cache; the left one is read
// as it lies.
#include <algorithm>
#include <cstdlib>
#include "pool.h"
#include "vec.h"

constexpr int ROWS = 12, COLS = 2 * LANES;

template <int R>
static void kernel(const float* a, const float* panel, float* c, long n) {
    Vec left[R], right[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) left[r] = right[r] = all(0);
    for (long k = 0; k < n; ++k) {
        Vec b0 = _mm512_load_ps(panel + k * COLS), b1 = _mm512_load_ps(panel + k * COLS + LANES);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
            Vec v = all(a[r * n + k]);
            left[r] = _mm512_fmadd_ps(v, b0, left[r]);
            right[r] = _mm512_fmadd_ps(v, b1, right[r]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) store(c + r * n, left[r]), store(c + r * n + LANES, right[r]);
}

static void rows(const float* a, const float* panel, float* c, long n, long count) {
    switch (count) {
        case 12: return kernel<12>(a, panel, c, n);
        case 8: return kernel<8>(a, panel, c, n);
        case 4: return kernel<4>(a, panel, c, n);
        default: for (long r = 0; r < count; ++r) kernel<1>(a + r * n, panel, c + r * n, n);
    }
}

// The side is a multiple of 32.
extern "C" void matmul(const float* a, const float* b, float* c, long n) {
    static float* packed = nullptr;
    static long held = 0;
    if (held < n * n) {
        std::free(packed);
        packed = static_cast<float*>(std::aligned_alloc(64, n * n * sizeof(float)));
        held = n * n;
    }
    float* p = packed;
    pool::chunks(n / COLS, [=](long panel) {
        float* to = p + panel * COLS * n;
        for (long k = 0; k < n; ++k) {
            _mm512_store_ps(to + k * COLS, load(b + k * n + panel * COLS));
            _mm512_store_ps(to + k * COLS + LANES, load(b + k * n + panel * COLS + LANES));
        }
        for (long r = 0; r < n; r += ROWS) {
            long count = std::min<long>(ROWS, n - r);
            rows(a + r * n, to, c + r * n + panel * COLS, n, count);
        }
    });
}

// flags: -O3 -march=native -std=c++17 -fPIC -shared -pthread
// Blocks of 16 x 16 in registers, every line of the input loaded once and every line of the output streamed once. The rows lie a power of
// two apart, all in one set of the first cache, so more than that may not be in flight; the next tile is fetched ahead.
#include "pool.h"
#include "vec.h"

template <bool STREAM>
static inline void block(const float* in, float* out, long n) {
    Vec r[16], t[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) r[i] = load(in + i * n);
    // 4 x 4 transposes in the quarters of four rows each.
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        Vec a = _mm512_unpacklo_ps(r[i], r[i + 1]), b = _mm512_unpackhi_ps(r[i], r[i + 1]);
        Vec c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = _mm512_shuffle_ps(a, c, 0x44), t[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
        t[i + 2] = _mm512_shuffle_ps(b, d, 0x44), t[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
    }
    // A 4 x 4 transpose of quarters.
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
        Vec a = _mm512_shuffle_f32x4(t[j], t[4 + j], 0x88), b = _mm512_shuffle_f32x4(t[j], t[4 + j], 0xdd);
        Vec c = _mm512_shuffle_f32x4(t[8 + j], t[12 + j], 0x88), d = _mm512_shuffle_f32x4(t[8 + j], t[12 + j], 0xdd);
        put<STREAM>(out + j * n, _mm512_shuffle_f32x4(a, c, 0x88));
        put<STREAM>(out + (4 + j) * n, _mm512_shuffle_f32x4(b, d, 0x88));
        put<STREAM>(out + (8 + j) * n, _mm512_shuffle_f32x4(a, c, 0xdd));
        put<STREAM>(out + (12 + j) * n, _mm512_shuffle_f32x4(b, d, 0xdd));
    }
}

constexpr long TILE = 32;

template <bool STREAM>
static void strip(const float* in, float* out, long n, long first) {
    for (long col = 0; col < n; col += TILE)
        for (long x = first; x < first + TILE; x += 16)
            for (long y = col; y < col + TILE; y += 16) {
                for (int i = 0; i < 16; ++i) _mm_prefetch(reinterpret_cast<const char*>(in + (x + i) * n + y + TILE), _MM_HINT_T0);
                block<STREAM>(in + x * n + y, out + y * n + x, n);
            }
    if (STREAM) _mm_sfence();
}

// The side is a multiple of 32.
extern "C" void transpose(const float* in, float* out, long n) {
    bool stream = aligned(out);
    pool::chunks(n / TILE, [=](long i) { (stream ? strip<true> : strip<false>)(in, out, n, i * TILE); });
}

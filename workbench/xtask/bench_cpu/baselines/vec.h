// Vectors of 16 floats, and their exponential.
#pragma once
#include <immintrin.h>
#include <cstdint>

using Vec = __m512;
constexpr int LANES = 16;

inline Vec all(float x) { return _mm512_set1_ps(x); }
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline bool aligned(const float* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

// Past the caches, where the address allows it.
template <bool STREAM>
inline void put(float* p, Vec v) {
    if (STREAM) _mm512_stream_ps(p, v);
    else store(p, v);
}

// 2^k e^r with |r| <= ln(2) / 2, e^r by a polynomial of degree 6 (relative error below 2^-23).
inline Vec vexp(Vec x) {
    Vec k = _mm512_roundscale_ps(x * all(1.44269504f), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    Vec r = _mm512_fnmadd_ps(k, all(0.693359375f), x);
    r = _mm512_fnmadd_ps(k, all(-2.12194440e-4f), r);
    Vec p = all(1.0f / 720);
    p = _mm512_fmadd_ps(p, r, all(1.0f / 120));
    p = _mm512_fmadd_ps(p, r, all(1.0f / 24));
    p = _mm512_fmadd_ps(p, r, all(1.0f / 6));
    p = _mm512_fmadd_ps(p, r, all(0.5f));
    p = _mm512_fmadd_ps(p, r, all(1.0f));
    p = _mm512_fmadd_ps(p, r, all(1.0f));
    return _mm512_scalef_ps(p, k);
}

// 1 / x: 14 bits and one step of Newton's.
inline Vec inverse(Vec x) {
    Vec y = _mm512_rcp14_ps(x);
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(x, y, all(1.0f)), y, y);
}

// The kernels of the tests as the stand-in driver runs them: each computes what its text in the tests says.
#include "standin.h"
#include <string.h>

// void saxpy(float a, const float* x, float* y, int n)
KERNEL(_Z5saxpyfPKfPfi, 4, 8, 8, 4) {
    const float *x = ARG(const float *, 1);
    float a = ARG(float, 0), *y = ARG(float *, 2);
    int n = ARG(int, 3), threads = (int)(at->grid[0] * at->block[0]);
    if (threads < n) n = threads;
    if (!at->reach(x, 4 * (size_t)n) || !at->reach(y, 4 * (size_t)n)) return ILLEGAL_ADDRESS;
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
    return 0;
}

// void wild(float* y)
KERNEL(_Z4wildPf, 8) { return at->reach(ARG(float *, 0) + (1 << 20), 4) ? 0 : ILLEGAL_ADDRESS; }

// void copy16(const unsigned short* x, unsigned short* y, int n), for all types of two bytes
static int copy16(char **p, const struct at *at) {
    size_t bytes = 2 * (size_t)ARG(int, 2);
    if (!at->reach(ARG(void *, 0), bytes) || !at->reach(ARG(void *, 1), bytes)) return ILLEGAL_ADDRESS;
    memcpy(ARG(void *, 1), ARG(void *, 0), bytes);
    return 0;
}
KERNEL(_Z6copy16PK6__halfPS_i, 8, 8, 4) { return copy16(p, at); }
KERNEL(_Z6copy16PK13__nv_bfloat16PS_i, 8, 8, 4) { return copy16(p, at); }

// struct P { const float* x; float a; int n; }; void scale(P p, float* y)
struct P { const float *x; float a; int n; };
KERNEL(_Z5scale1PPf, 16, 8) {
    struct P s = ARG(struct P, 0);
    float *y = ARG(float *, 1);
    if (!at->reach(s.x, 4 * (size_t)s.n) || !at->reach(y, 4 * (size_t)s.n)) return ILLEGAL_ADDRESS;
    for (int i = 0; i < s.n; ++i) y[i] = s.a * s.x[i];
    return 0;
}

// void count(int* y): one more for each launch
KERNEL(_Z5countPi, 8) {
    if (!at->reach(ARG(int *, 0), 4)) return ILLEGAL_ADDRESS;
    ++*ARG(int *, 0);
    return 0;
}

// void positive(const float* x, int n), which asserts x[i] > 0: what the prelude's `fault` notes in the log
KERNEL(_Z8positivePKfi, 8, 4) {
    const float *x = ARG(const float *, 0);
    int n = ARG(int, 1);
    if (!at->reach(x, 4 * (size_t)n)) return ILLEGAL_ADDRESS;
    for (int i = 0; i < n; ++i) {
        if (x[i] > 0) continue;
        unsigned long long best = (unsigned long long)i;
        unsigned words[] = {1, 2, 0, 0, 0, (unsigned)i, 0, 0};
        char *log = at->log;
        memcpy(log + 16, &best, 8);
        memcpy(log + 32, words, sizeof(words));
        strcpy(log + 96, "cell");
        strcpy(log + 512, "x[i] > 0");
        return 0;
    }
    return 0;
}

// void muladd(const float* a, const float* b, float c, float* out, int n)
KERNEL(_Z6muladdPKfS0_fPfi, 8, 8, 4, 8, 4) {
    const float *a = ARG(const float *, 0), *b = ARG(const float *, 1);
    float c = ARG(float, 2), *out = ARG(float *, 3);
    int n = ARG(int, 4);
    if (!at->reach(a, 4 * (size_t)n) || !at->reach(b, 4 * (size_t)n) || !at->reach(out, 4 * (size_t)n)) return ILLEGAL_ADDRESS;
    for (int i = 0; i < n; ++i) out[i] = a[i] * b[i] + c;
    return 0;
}

// void add(float* x, const float* y, int n): x[i] += y[i]
static int add(char **p, const struct at *at) {
    float *x = ARG(float *, 0);
    const float *y = ARG(const float *, 1);
    int n = ARG(int, 2);
    if (!at->reach(x, 4 * (size_t)n) || !at->reach(y, 4 * (size_t)n)) return ILLEGAL_ADDRESS;
    for (int i = 0; i < n; ++i) x[i] += y[i];
    return 0;
}
KERNEL(_Z3addPfPKfi, 8, 8, 4) { return add(p, at); }
KERNEL(_Z3addPfS_i, 8, 8, 4) { return add(p, at); }

// void shift(const float* x, const float* by, float* y, int n): y[i] = x[i] + by[0]
KERNEL(_Z5shiftPKfS0_Pfi, 8, 8, 8, 4) {
    const float *x = ARG(const float *, 0), *by = ARG(const float *, 1);
    float *y = ARG(float *, 2);
    int n = ARG(int, 3);
    if (!at->reach(x, 4 * (size_t)n) || !at->reach(by, 4) || !at->reach(y, 4 * (size_t)n)) return ILLEGAL_ADDRESS;
    for (int i = 0; i < n; ++i) y[i] = x[i] + by[0];
    return 0;
}

// void name(const T* x, T* y, int n): y[i] = expression of x[i]
#define UNARY(name, T, expression) \
    KERNEL(name, 8, 8, 4) { \
        const T *x = ARG(const T *, 0); \
        T *y = ARG(T *, 1); \
        int n = ARG(int, 2); \
        if (!at->reach(x, sizeof(T) * (size_t)n) || !at->reach(y, sizeof(T) * (size_t)n)) return ILLEGAL_ADDRESS; \
        for (int i = 0; i < n; ++i) y[i] = expression; \
        return 0; \
    }
UNARY(_Z5twiceIfEvPKT_PS0_i, float, x[i] + x[i])
UNARY(_Z5twiceIdEvPKT_PS0_i, double, x[i] + x[i])
UNARY(_Z4halfPKfPfi, float, x[i] / 2)
UNARY(_Z6negatePKfPfi, float, -x[i])
UNARY(_Z8twice_byPKfPfi, float, x[i] * 2)

// void scaled(const float* a, float* out, float s, int n): out[i] = a[i] * s
KERNEL(_Z6scaledPKfPffi, 8, 8, 4, 4) {
    const float *a = ARG(const float *, 0);
    float *out = ARG(float *, 1), s = ARG(float, 2);
    int n = ARG(int, 3);
    if (!at->reach(a, 4 * (size_t)n) || !at->reach(out, 4 * (size_t)n)) return ILLEGAL_ADDRESS;
    for (int i = 0; i < n; ++i) out[i] = a[i] * s;
    return 0;
}

// Variables, by their bytes.
const unsigned _ZN7filters7weightsE_bytes = 12;
const unsigned seen_bytes = 4;

/* The operations of generated C: 16 threads side by side in vector registers, with a mask of
   16 bits for the active ones. This text needs no vectors; a text for the machine's registers
   follows, then one that is made of both. The IR's page defines every operation. */
#include <immintrin.h>

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef unsigned char b1;
typedef u16 m16;
typedef __int128 wide;

#define FN static inline __attribute__((always_inline))
/* The block in brackets that follows may become code of its own, if it has no control flow. */
#define STRAIGHT
#define COLD static __attribute__((noinline, cold))
#ifndef UNCHECKED
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#else /* The benchmark of the cost of checks uses these. */
#define likely(x) 1
#define unlikely(x) 0
#endif

FN f32 f32_of(u32 bits) { f32 x; __builtin_memcpy(&x, &bits, 4); return x; }
FN f64 f64_of(u64 bits) { f64 x; __builtin_memcpy(&x, &bits, 8); return x; }
FN u32 bits_f32(f32 x) { u32 n; __builtin_memcpy(&n, &x, 4); return n; }
FN u64 bits_f64(f64 x) { u64 n; __builtin_memcpy(&n, &x, 8); return n; }

FN i64 largest(i64 x, i64 y) { return x > y ? x : y; }
/* True if least <= x < most. */
#define within(x, least, most) ((x) >= (least) && (x) < (most))

/* The same as `fmin` and `fmax` of vectors: a NaN loses to a number; of two zeros the sign decides. */
FN f32 sfmin_f32(f32 x, f32 y) {
    if (y != y) return x;
    if (x == y) return f32_of(bits_f32(x) | bits_f32(y));
    return x < y ? x : y;
}
FN f32 sfmax_f32(f32 x, f32 y) {
    if (y != y) return x;
    if (x == y) return f32_of(bits_f32(x) & bits_f32(y));
    return x > y ? x : y;
}
FN f64 sfmin_f64(f64 x, f64 y) {
    if (y != y) return x;
    if (x == y) return f64_of(bits_f64(x) | bits_f64(y));
    return x < y ? x : y;
}
FN f64 sfmax_f64(f64 x, f64 y) {
    if (y != y) return x;
    if (x == y) return f64_of(bits_f64(x) & bits_f64(y));
    return x > y ? x : y;
}

/* Shifts; amounts at or past the width shift everything out, as in PTX. */
#define SLL(x, n) ((n) < 8 * sizeof(x) ? (x) << (n) : 0)
#define SRL(x, n) ((n) < 8 * sizeof(x) ? (x) >> (n) : 0)
#define SRA(x, n) ((x) >> ((n) < 8 * sizeof(x) ? (n) : 8 * sizeof(x) - 1))

/* Bits. */
FN u32 brev_s32(u32 v) {
    v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
    v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
    v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(v);
}
FN u64 brev_s64(u64 v) { return (u64)brev_s32((u32)v) << 32 | brev_s32((u32)(v >> 32)); }
FN u32 half_to_float_s(u32 v) { return bits_f32(_cvtsh_ss((u16)v)); }
FN u32 float_to_half_s(u32 v) {
    const f32 x = f32_of(v);
    return x != x ? 0x7fff : _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}
FN i32 dot4_s_i32(i32 x, i32 y, i32 sum) {
    for (int i = 0; i < 32; i += 8) sum += (signed char)(x >> i) * (signed char)(y >> i);
    return sum;
}
FN u32 dot4_s_u32(u32 x, u32 y, u32 sum) {
    for (int i = 0; i < 32; i += 8) sum += (x >> i & 255) * (y >> i & 255);
    return sum;
}
FN i32 clz_s32(u32 v) { return v ? __builtin_clz(v) : 32; }
FN i32 clz_s64(u64 v) { return v ? __builtin_clzll(v) : 64; }

/* Conversions that truncate and saturate. NaN of a float (`s_`) gives 0; of a double (`d_`), and in 64 bits, the top bit alone. */
FN i32 s_to_i32(f64 x) { return x != x ? 0 : x >= 2147483648.0 ? 0x7fffffff : x <= -2147483648.0 ? (i32)0x80000000 : (i32)x; }
FN u32 s_to_u32(f64 x) { return x > 0 ? (x >= 4294967296.0 ? 0xffffffffu : (u32)x) : 0; }
FN i32 d_to_i32(f64 x) { return x != x ? (i32)0x80000000 : s_to_i32(x); }
FN u32 d_to_u32(f64 x) { return x != x ? 0x80000000u : s_to_u32(x); }
FN i64 s_to_i64(f64 x) { return x >= 9223372036854775808.0 ? 0x7fffffffffffffffll : !(x > -9223372036854775808.0) ? (i64)0x8000000000000000ull : (i64)x; }
FN u64 s_to_u64(f64 x) { return x > 0 ? (x >= 18446744073709551616.0 ? ~0ull : (u64)x) : x != x ? 0x8000000000000000ull : 0; }

/* Truth values are bits of masks. */
FN m16 splat_b1(b1 x) { return x ? 0xffff : 0; }
FN m16 select_b1(m16 m, m16 x, m16 y) { return (m16)((m & x) | (~m & y)); }
FN b1 lane_b1(m16 m, u32 lane) { return m >> lane & 1; }
FN u32 last_lane(m16 m) { return 31 - __builtin_clz(m); }
FN u32 first_lane(m16 m) { return __builtin_ctz(m); }
/* The mask as the compiler knows it: that of the first `n` lanes, or of all. */
#define FIRST(m, n) (__builtin_constant_p(m) && (m16)(m) == (1u << (n)) - 1)
#define ALL_OF(m) (__builtin_constant_p(m) && (m16)(m) == 0xffff)
#define LOOP_LANES(m) for (u32 left = (m), l; left && (l = __builtin_ctz(left), 1); left &= left - 1)

/* True if an address is that of a line of the cache. */
FN b1 is_line(const char* p) { return ((u64)p & 63) == 0; }

/* True if the neighbouring elements of a mask's lanes are all in bounds. */
FN b1 inside(m16 m, i64 o, i64 size, u64 limit) {
    return !m || ((u64)(o + (i64)__builtin_ctz(m) * size) < limit && (u64)(o + (31 - (i64)__builtin_clz(m)) * size) < limit);
}

/* An index that moves a pointer farther than any memory reaches moves it out of every buffer. */
FN i64 far_s(i64 index, i64 reach, i64 size) { return (u64)index + (u64)reach <= 2 * (u64)reach ? index * size : FAR; }

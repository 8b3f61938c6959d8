/* Operations made of those on lanes: 32-bit lanes take 64 bytes of memory, 64-bit ones 128. */

/* Division, after the checks; inactive lanes may hold any divisor. */
FN vi32 rem_i32(vi32 x, vi32 y) { return sub_i32(x, mul_i32(div_i32(x, y), y)); }
FN vi32 rem_u32(vi32 x, vi32 y) { return sub_i32(x, mul_i32(div_u32(x, y), y)); }
#define LANEWISE64(name, ty, expr) \
    FN vi64 name(vi64 x, vi64 y) { \
        ty p[16], q[16], r[16]; \
        __builtin_memcpy(p, &x, 128); __builtin_memcpy(q, &y, 128); \
        for (int l = 0; l < 16; l++) { ty a = p[l], b = q[l]; r[l] = expr; } \
        __builtin_memcpy(&x, r, 128); return x; \
    }
LANEWISE64(each_div_i64, i64, (b == 0 || b == -1) ? (i64)(0 - (u64)a) : a / b)
LANEWISE64(each_div_u64, u64, b == 0 ? 0 : a / b)
/* Of numbers below 2^52 the quotient is that of doubles, truncated: a quotient that is not whole is farther from the next whole number
   than its rounding moves it, by 1/b against less than 2^-53 of a/b. */
FN m16 not_small(vi64 x, vi64 y) { return ge_u64(or_i64(x, y), splat_i64(1ll << 52)); }
FN vi64 div_i64(vi64 x, vi64 y) {
    return unlikely(not_small(x, y)) ? each_div_i64(x, y) : f64_to_i64(div_f64(i64_to_f64(x), i64_to_f64(y)));
}
FN vi64 div_u64(vi64 x, vi64 y) {
    return unlikely(not_small(x, y)) ? each_div_u64(x, y) : f64_to_i64(div_f64(i64_to_f64(x), i64_to_f64(y)));
}
FN vi64 rem_i64(vi64 x, vi64 y) { return sub_i64(x, mul_i64(div_i64(x, y), y)); }
FN vi64 rem_u64(vi64 x, vi64 y) { return sub_i64(x, mul_i64(div_u64(x, y), y)); }
LANEWISE64(mulhi_i64, i64, (i64)(((__int128)a * b) >> 64))
LANEWISE64(mulhi_u64, u64, (u64)(((unsigned __int128)a * b) >> 64))

/* To the nearest integer, halves away from zero: what is cut off the size is exact. */
#define ROUND(ty, vty) \
    FN vty round_##ty(vty x) { \
        const vty size = fabs_##ty(x), whole = trunc_##ty(size); \
        const m16 up = ge_##ty(sub_##ty(size, whole), splat_##ty(0.5f)); \
        return copysign_##ty(add_##ty(whole, select_##ty(up, splat_##ty(1), splat_##ty(0))), x); \
    }
ROUND(f32, vf32)
ROUND(f64, vf64)

/* The difference where it is positive, else zero: no comparison holds with a NaN, and the difference of a NaN is one. */
#define FDIM(ty, vty) \
    FN vty fdim_##ty(vty x, vty y) { return select_##ty(le_##ty(x, y), splat_##ty(0), sub_##ty(x, y)); }
FDIM(f32, vf32)
FDIM(f64, vf64)

/* The next number towards the second: the bits of a number count its size, up or down by one, the largest to infinity; beside zero is the
   smallest number with the second's sign. Neither less nor greater are equal numbers, which give the second, and NaN, which a sum spreads. */
#define NEXTAFTER(ty, vty, ity, vity) \
    FN vty nextafter_##ty(vty x, vty y) { \
        const vty zero = splat_##ty(0); \
        const vity one = splat_##ity(1); \
        const m16 less = lt_##ty(x, y), greater = lt_##ty(y, x), down = less ^ lt_##ty(zero, x); \
        const vty moved = cast_##ity##_##ty(add_##ity(cast_##ty##_##ity(x), select_##ity(down, splat_##ity(-1), one))); \
        const vty next = select_##ty(eq_##ty(x, zero), copysign_##ty(cast_##ity##_##ty(one), y), moved); \
        return select_##ty(less | greater, next, select_##ty(eq_##ty(x, y), y, add_##ty(x, y))); \
    }
NEXTAFTER(f32, vf32, i32, vi32)
NEXTAFTER(f64, vf64, i64, vi64)

/* Bits. */
#define LANEWISE64TO32(name, expr) \
    FN vi32 name(vi64 x) { \
        u64 p[16]; i32 r[16]; vi32 y; \
        __builtin_memcpy(p, &x, 128); \
        for (int l = 0; l < 16; l++) { u64 a = p[l]; r[l] = expr; } \
        __builtin_memcpy(&y, r, 64); return y; \
    }
LANEWISE64TO32(clz_64, clz_s64(a))
LANEWISE64TO32(popc_64, __builtin_popcountll(a))
LANEWISE64TO32(ffs_64, __builtin_ffsll((i64)a))
FN vi64 brev_64(vi64 x) {
    u64 p[16];
    __builtin_memcpy(p, &x, 128);
    for (int l = 0; l < 16; l++) p[l] = brev_s64(p[l]);
    __builtin_memcpy(&x, p, 128);
    return x;
}

/* Conversions. */
/* A float as a double is exact. */
FN vi64 f32_to_i64(vf32 x) { return f64_to_i64(f32_to_f64(x)); }
FN vi64 f32_to_u64(vf32 x) { return f64_to_u64(f32_to_f64(x)); }
FN m16 truth_i64(vi64 x) { return ne_i64(x, splat_i64(0)); }
FN m16 truth_f32(vf32 x) { return ne_f32(x, splat_f32(0)); }
FN m16 truth_f64(vf64 x) { return ne_f64(x, splat_f64(0)); }

/* One lane. */
#define LANE(name, ty, vty) FN ty name(vty x, u32 lane) { ty p[16]; __builtin_memcpy(p, &x, sizeof p); return p[lane]; }
LANE(lane_f32, f32, vf32)
LANE(lane_i32, i32, vi32)
LANE(lane_f64, f64, vf64)
LANE(lane_i64, i64, vi64)

/* Elements anywhere of 8 and 16 bits, at byte offsets, lane by lane. */
#define GATHER_SMALL(name, ty) \
    FN vi32 name(m16 m, const char* p, vi64 o) { \
        i64 q[16]; i32 r[16] = {0}; vi32 x; \
        __builtin_memcpy(q, &o, 128); \
        LOOP_LANES(m) r[l] = *(const ty*)(p + q[l]); \
        __builtin_memcpy(&x, r, 64); return x; \
    }
GATHER_SMALL(ga_i8, i8)
GATHER_SMALL(ga_u8, u8)
GATHER_SMALL(ga_i16, i16)
GATHER_SMALL(ga_u16, u16)
FN m16 ga_b1(m16 m, const char* p, vi64 o) { return truth_i32(ga_u8(m, p, o)); }
#define SCATTER_SMALL(name, ty) \
    FN void name(m16 m, char* p, vi64 o, vi32 x) { \
        i64 q[16]; i32 r[16]; \
        __builtin_memcpy(q, &o, 128); __builtin_memcpy(r, &x, 64); \
        LOOP_LANES(m) *(ty*)(p + q[l]) = (ty)r[l]; \
    }
SCATTER_SMALL(sc_i8, u8)
SCATTER_SMALL(sc_i16, u16)
FN void sc_b1(m16 m, char* p, vi64 o, m16 x) { sc_i8(m, p, o, b1_to_i32(x)); }

/* The lanes whose offset is not below the limit. */
FN m16 outside(vi64 o, u64 limit) { return ge_u64(o, splat_i64((i64)limit)); }
FN m16 outside_x(vi32 i, u32 count) { return ge_u32(i, splat_i32((i32)count)); }

/* The same as `far_s`, for lanes. */
FN vi64 far_v(vi64 index, i64 reach, i64 size) {
    m16 near = le_u64(add_i64(index, splat_i64(reach)), splat_i64(2 * reach));
    return select_i64(near, mul_i64(index, splat_i64(size)), splat_i64(FAR));
}

/* Atomics, lane by lane; a block's own memory needs no lock, because a block runs on one
   core. `up`: at 32-bit indices of elements, where the old value is not used; `up1`: with one
   number for all. Indices that are bytes come eight in a number; `up1_bytes`: from memory. */
#define ONCE(fetch) old = fetch(at, val, __ATOMIC_SEQ_CST)
#define RETRY(expr) \
    do { \
        __typeof__(*at) new; \
        __atomic_load(at, &old, __ATOMIC_SEQ_CST); \
        do new = expr; while (!__atomic_compare_exchange(at, &old, &new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
    } while (0)
#define RMW(name, ty, vty, alone, expr) \
    FN vty at_##name##_shared(m16 m, char* p, vi64 o, vty x) { \
        i64 q[16]; ty v[16], r[16] = {0}; \
        __builtin_memcpy(q, &o, 128); __builtin_memcpy(v, &x, sizeof v); \
        if (m == 0xffff) { \
            _Pragma("GCC unroll 16") \
            for (int l = 0; l < 16; l++) { ty* at = (ty*)(p + q[l]); ty old = *at, val = v[l]; r[l] = old; *at = expr; } \
        } else { \
            LOOP_LANES(m) { ty* at = (ty*)(p + q[l]); ty old = *at, val = v[l]; r[l] = old; *at = expr; } \
        } \
        __builtin_memcpy(&x, r, sizeof r); return x; \
    } \
    FN void up_##name(m16 m, char* p, vi32 i, vty x, int are_bytes) { \
        i32 q[16]; ty v[16]; \
        __builtin_memcpy(q, &i, 64); __builtin_memcpy(v, &x, sizeof v); \
        if (m == 0xffff && are_bytes) { \
            _Pragma("GCC unroll 16") \
            for (int l = 0; l < 16; l++) { ty* at = (ty*)p + byte(i, l); ty old = *at, val = v[l]; *at = expr; } \
        } else if (m == 0xffff) { \
            _Pragma("GCC unroll 8") \
            for (int l = 0; l < 16; l += 2) { \
                u64 two = pair(i, l / 2); \
                { ty* at = (ty*)p + (u32)two; ty old = *at, val = v[l]; *at = expr; } \
                { ty* at = (ty*)p + (two >> 32); ty old = *at, val = v[l + 1]; *at = expr; } \
            } \
        } else { \
            LOOP_LANES(m) { ty* at = (ty*)p + q[l]; ty old = *at, val = v[l]; *at = expr; } \
        } \
    } \
    FN void up1_##name(m16 m, char* p, vi32 i, ty val, int are_bytes) { \
        i32 q[16]; \
        __builtin_memcpy(q, &i, 64); \
        if (m == 0xffff && are_bytes) { \
            _Pragma("GCC unroll 16") \
            for (int l = 0; l < 16; l++) { ty* at = (ty*)p + byte(i, l); ty old = *at; *at = expr; } \
        } else if (m == 0xffff) { \
            _Pragma("GCC unroll 8") \
            for (int l = 0; l < 8; l++) { \
                u64 two = pair(i, l); \
                { ty* at = (ty*)p + (u32)two; ty old = *at; *at = expr; } \
                { ty* at = (ty*)p + (two >> 32); ty old = *at; *at = expr; } \
            } \
        } else { \
            LOOP_LANES(m) { ty* at = (ty*)p + q[l]; ty old = *at; *at = expr; } \
        } \
    } \
    FN void up1_bytes_##name(char* p, const char* from, ty val) { \
        u64 q[2]; __builtin_memcpy(q, from, 16); \
        _Pragma("GCC unroll 16") \
        for (int l = 0; l < 16; l++) { ty* at = (ty*)p + (u8)(q[l / 8] >> 8 * (l % 8)); ty old = *at; *at = expr; } \
    } \
    FN vty at_##name##_global(m16 m, char* p, vi64 o, vty x) { \
        i64 q[16]; ty v[16], r[16] = {0}; \
        __builtin_memcpy(q, &o, 128); __builtin_memcpy(v, &x, sizeof v); \
        LOOP_LANES(m) { ty* at = (ty*)(p + q[l]); ty old, val = v[l]; alone; r[l] = old; } \
        __builtin_memcpy(&x, r, sizeof r); return x; \
    }
#define RMW_INT(ty, vty) \
    RMW(add_##ty, ty, vty, ONCE(__atomic_fetch_add), old + val) RMW(sub_##ty, ty, vty, ONCE(__atomic_fetch_sub), old - val) \
    RMW(and_##ty, ty, vty, ONCE(__atomic_fetch_and), old & val) RMW(or_##ty, ty, vty, ONCE(__atomic_fetch_or), old | val) \
    RMW(xor_##ty, ty, vty, ONCE(__atomic_fetch_xor), old ^ val) RMW(exch_##ty, ty, vty, ONCE(__atomic_exchange_n), val) \
    RMW(min_##ty, ty, vty, RETRY(old < val ? old : val), old < val ? old : val) \
    RMW(max_##ty, ty, vty, RETRY(old > val ? old : val), old > val ? old : val) \
    RMW(inc_##ty, ty, vty, RETRY(old >= val ? 0 : old + 1), old >= val ? 0 : old + 1) \
    RMW(dec_##ty, ty, vty, RETRY(old == 0 || old > val ? val : old - 1), old == 0 || old > val ? val : old - 1)
RMW_INT(i32, vi32) RMW_INT(u32, vi32) RMW_INT(i64, vi64) RMW_INT(u64, vi64)
#define RMW_FLOAT(ty, vty) \
    RMW(add_##ty, ty, vty, RETRY(old + val), old + val) RMW(sub_##ty, ty, vty, RETRY(old - val), old - val) \
    RMW(exch_##ty, ty, vty, RETRY(val), val)
RMW_FLOAT(f32, vf32) RMW_FLOAT(f64, vf64)
#define CAS(ty, vty, bits) \
    FN vty at_cas_##ty##_shared(m16 m, char* p, vi64 o, vty x, vty c) { \
        i64 q[16]; bits v[16], w[16], r[16] = {0}; \
        __builtin_memcpy(q, &o, 128); __builtin_memcpy(v, &x, sizeof v); __builtin_memcpy(w, &c, sizeof w); \
        LOOP_LANES(m) { bits* at = (bits*)(p + q[l]); r[l] = *at; if (r[l] == w[l]) *at = v[l]; } \
        __builtin_memcpy(&x, r, sizeof r); return x; \
    } \
    FN vty at_cas_##ty##_global(m16 m, char* p, vi64 o, vty x, vty c) { \
        i64 q[16]; bits v[16], w[16], r[16] = {0}; \
        __builtin_memcpy(q, &o, 128); __builtin_memcpy(v, &x, sizeof v); __builtin_memcpy(w, &c, sizeof w); \
        LOOP_LANES(m) { \
            bits old = w[l]; \
            __atomic_compare_exchange((bits*)(p + q[l]), &old, &v[l], 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
            r[l] = old; \
        } \
        __builtin_memcpy(&x, r, sizeof r); return x; \
    }
CAS(i32, vi32, u32) CAS(u32, vi32, u32) CAS(i64, vi64, u64) CAS(u64, vi64, u64)

/* Calls a function of this process for each lane in the mask. */
#define EACH1(ty, vty) \
    static __attribute__((noinline)) vty each1_##ty(m16 m, ty (*f)(ty), vty x) { \
        ty p[16]; \
        __builtin_memcpy(p, &x, sizeof p); \
        LOOP_LANES(m) p[l] = f(p[l]); \
        __builtin_memcpy(&x, p, sizeof p); return x; \
    } \
    static __attribute__((noinline)) vty each2_##ty(m16 m, ty (*f)(ty, ty), vty x, vty y) { \
        ty p[16], q[16]; \
        __builtin_memcpy(p, &x, sizeof p); __builtin_memcpy(q, &y, sizeof q); \
        LOOP_LANES(m) p[l] = f(p[l], q[l]); \
        __builtin_memcpy(&x, p, sizeof p); return x; \
    } \
    static __attribute__((noinline)) vty each3_##ty(m16 m, ty (*f)(ty, ty, ty), vty x, vty y, vty z) { \
        ty p[16], q[16], r[16]; \
        __builtin_memcpy(p, &x, sizeof p); __builtin_memcpy(q, &y, sizeof q); __builtin_memcpy(r, &z, sizeof r); \
        LOOP_LANES(m) p[l] = f(p[l], q[l], r[l]); \
        __builtin_memcpy(&x, p, sizeof p); return x; \
    }
EACH1(f32, vf32)
EACH1(f64, vf64)

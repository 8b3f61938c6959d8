/* Faults. Their text differs with SPAN, so it is not part of the precompiled header.

   State is the record of a fault: of all faults, that of the lowest block's lowest thread is kept, and lower threads run on. `now` is the
   running block, counted from the first of the call; if blocks are one long row, of threads SPAN each, `t` counts along it and `row` counts
   rows. */
typedef struct { u32 faulted, thread, block, now, row; u64 site, a, b; } State;
#ifdef SPAN
#define BLOCK_OF(st, t) ((t) / SPAN)
#define THREAD_OF(st, t) ((st)->row * SPAN + (t) % SPAN)
#else
#define BLOCK_OF(st, t) ((st)->now)
#define THREAD_OF(st, t) (t)
#endif
COLD void note(State* st, u64 site, u32 t, u64 a, u64 b) {
    u32 block = BLOCK_OF(st, t), thread = THREAD_OF(st, t);
    if (st->faulted && (st->block < block || (st->block == block && st->thread <= thread))) return;
    *st = (State){1, thread, block, st->now, st->row, site, a, b};
}
/* Notes a fault at a place that all lanes share; nothing if the mask is empty. */
COLD void note_one(State* st, u64 site, u32 t, m16 m, u64 a, u64 b) {
    if (m) note(st, site, t + first_lane(m), a, b);
}
COLD void note_lanes(State* st, u64 site, u32 t, m16 m, vi64 a, vi64 b) {
    if (m) note(st, site, t + first_lane(m), lane_i64(a, first_lane(m)), lane_i64(b, first_lane(m)));
}
/* The lanes of a chunk that still run: those below the fault. */
FN m16 alive(const State* st, u32 t) {
    if (!st->faulted) return 0xffff;
#ifdef SPAN
    m16 m = 0;
    for (u32 l = 0; l < 16; l++) {
        u32 block = BLOCK_OF(st, t + l), thread = THREAD_OF(st, t + l);
        if (block < st->block || (block == st->block && thread < st->thread)) m |= (m16)(1u << l);
    }
    return m;
#else
    if (st->now < st->block || (st->now == st->block && st->thread >= t + 16)) return 0xffff;
    return st->now > st->block || st->thread <= t ? 0 : (m16)((1u << (st->thread - t)) - 1);
#endif
}
/* The lanes that do not do an access: those out of bounds, which are noted, and those that no longer run. */
COLD m16 bad_lanes(State* st, u64 site, u32 t, m16 m, u64 limit, vi64 o, vi64 b) {
    m16 bad = outside(o, limit) & m & alive(st, t);
    note_lanes(st, site, t, bad, o, b);
    return bad | ~alive(st, t);
}
/* Accesses of which some are out of bounds: these are noted, the others are done. */
#define COLD_LOAD(ty, vty) \
    COLD vty bad_ld_##ty(State* st, u64 site, u32 t, m16 m, const char* p, u64 limit, vi64 o, vi64 b) { \
        m16 bad = outside(o, limit) & m; \
        note_lanes(st, site, t, bad, o, b); \
        return ga_##ty(m & ~bad, p, o); \
    }
COLD_LOAD(f32, vf32) COLD_LOAD(f64, vf64) COLD_LOAD(i32, vi32) COLD_LOAD(i64, vi64) COLD_LOAD(i8, vi32)
COLD_LOAD(u8, vi32) COLD_LOAD(i16, vi32) COLD_LOAD(u16, vi32) COLD_LOAD(b1, m16)
#define COLD_STORE(ty, vty) \
    COLD void bad_st_##ty(State* st, u64 site, u32 t, m16 m, char* p, u64 limit, vi64 o, vi64 b, vty x) { \
        m &= ~bad_lanes(st, site, t, m, limit, o, b); \
        sc_##ty(m, p, o, x); \
    }
COLD_STORE(f32, vf32) COLD_STORE(f64, vf64) COLD_STORE(i32, vi32) COLD_STORE(i64, vi64) COLD_STORE(i8, vi32)
COLD_STORE(i16, vi32) COLD_STORE(b1, m16)

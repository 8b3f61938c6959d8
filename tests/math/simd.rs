//! SIMD-in-a-word, DPX and integer intrinsics against plain Rust written from CUDA's documentation: all pairs of interesting
//! lanes, and random words.

use crate::harness::Kernel;

/// A function of up to three words in Rust.
type Word = fn(u32, u32, u32) -> u32;

fn halves(x: u32) -> [i64; 2] {
    [x as u16, (x >> 16) as u16].map(i64::from)
}

fn bytes(x: u32) -> [i64; 4] {
    x.to_le_bytes().map(i64::from)
}

/// Applies a function to each half or byte: `signed` says how the lanes are read; the result is truncated to the lane.
fn per_lane(width: u32, signed: bool, words: [u32; 3], f: impl Fn(i64, i64, i64) -> i64) -> u32 {
    let mask = (1u64 << width) - 1;
    let read = |x: u32, at: u32| {
        let lane = i64::from(x >> at) & mask as i64;
        if signed && lane >> (width - 1) == 1 { lane - (1 << width) } else { lane }
    };
    (0..32).step_by(width as usize).fold(0, |out, at| {
        let value = f(read(words[0], at), read(words[1], at), read(words[2], at));
        out | ((value as u64 & mask) as u32) << at
    })
}

fn clamp(x: i64, width: u32, signed: bool) -> i64 {
    if signed { x.clamp(-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { x.clamp(0, (1 << width) - 1) }
}

/// The average, rounded half away from zero.
fn average(x: i64, y: i64) -> i64 {
    ((x + y) as f64 / 2.0).round() as i64
}

/// The lane functions: name, signedness, meaning (with the width).
type Meaning = fn(i64, i64, u32) -> i64;
const LANES: &[(&str, bool, usize, Meaning)] = &[
    ("abs", true, 1, |x, _, _| x.abs()),
    ("absss", true, 1, |x, _, w| clamp(x.abs(), w, true)),
    ("absdiffs", true, 2, |x, y, _| (x - y).abs()),
    ("absdiffu", false, 2, |x, y, _| (x - y).abs()),
    ("add", false, 2, |x, y, _| x + y),
    ("addss", true, 2, |x, y, w| clamp(x + y, w, true)),
    ("addus", false, 2, |x, y, w| clamp(x + y, w, false)),
    ("avgs", true, 2, |x, y, _| average(x, y)),
    ("avgu", false, 2, |x, y, _| average(x, y)),
    ("haddu", false, 2, |x, y, _| (x + y) / 2),
    ("cmpeq", false, 2, |x, y, _| -i64::from(x == y)),
    ("cmpne", false, 2, |x, y, _| -i64::from(x != y)),
    ("cmpges", true, 2, |x, y, _| -i64::from(x >= y)),
    ("cmpgeu", false, 2, |x, y, _| -i64::from(x >= y)),
    ("cmpgts", true, 2, |x, y, _| -i64::from(x > y)),
    ("cmpgtu", false, 2, |x, y, _| -i64::from(x > y)),
    ("cmples", true, 2, |x, y, _| -i64::from(x <= y)),
    ("cmpleu", false, 2, |x, y, _| -i64::from(x <= y)),
    ("cmplts", true, 2, |x, y, _| -i64::from(x < y)),
    ("cmpltu", false, 2, |x, y, _| -i64::from(x < y)),
    ("seteq", false, 2, |x, y, _| i64::from(x == y)),
    ("setne", false, 2, |x, y, _| i64::from(x != y)),
    ("setges", true, 2, |x, y, _| i64::from(x >= y)),
    ("setgeu", false, 2, |x, y, _| i64::from(x >= y)),
    ("setgts", true, 2, |x, y, _| i64::from(x > y)),
    ("setgtu", false, 2, |x, y, _| i64::from(x > y)),
    ("setles", true, 2, |x, y, _| i64::from(x <= y)),
    ("setleu", false, 2, |x, y, _| i64::from(x <= y)),
    ("setlts", true, 2, |x, y, _| i64::from(x < y)),
    ("setltu", false, 2, |x, y, _| i64::from(x < y)),
    ("maxs", true, 2, |x, y, _| x.max(y)),
    ("maxu", false, 2, |x, y, _| x.max(y)),
    ("mins", true, 2, |x, y, _| x.min(y)),
    ("minu", false, 2, |x, y, _| x.min(y)),
    ("neg", true, 1, |x, _, _| -x),
    ("negss", true, 1, |x, _, w| clamp(-x, w, true)),
    ("sub", false, 2, |x, y, _| x - y),
    ("subss", true, 2, |x, y, w| clamp(x - y, w, true)),
    ("subus", false, 2, |x, y, w| clamp(x - y, w, false)),
];

/// Functions of words, with the arguments they take.
const WORDS: &[(&str, usize, Word)] = &[
    ("__vsads2", 2, |x, y, _| {
        let [a, b] = [halves(x), halves(y)].map(|v| v.map(|x| i64::from(x as i16)));
        (0..2).map(|i| (a[i] - b[i]).unsigned_abs() as u32).sum()
    }),
    ("__vsads4", 2, |x, y, _| {
        let [a, b] = [bytes(x), bytes(y)].map(|v| v.map(|x| i64::from(x as i8)));
        (0..4).map(|i| (a[i] - b[i]).unsigned_abs() as u32).sum()
    }),
    ("__vsadu2", 2, |x, y, _| (0..2).map(|i| (halves(x)[i] - halves(y)[i]).unsigned_abs() as u32).sum()),
    ("__vsadu4", 2, |x, y, _| (0..4).map(|i| (bytes(x)[i] - bytes(y)[i]).unsigned_abs() as u32).sum()),
    ("__vimax3_s32", 3, |x, y, z| (x as i32).max(y as i32).max(z as i32) as u32),
    ("__vimax3_u32", 3, |x, y, z| x.max(y).max(z)),
    ("__vimax3_s32_relu", 3, |x, y, z| (x as i32).max(y as i32).max(z as i32).max(0) as u32),
    ("__vimin3_s32", 3, |x, y, z| (x as i32).min(y as i32).min(z as i32) as u32),
    ("__vimin3_u32", 3, |x, y, z| x.min(y).min(z)),
    ("__vimin3_s32_relu", 3, |x, y, z| (x as i32).min(y as i32).min(z as i32).max(0) as u32),
    ("__viaddmax_s32", 3, |x, y, z| (x as i32).wrapping_add(y as i32).max(z as i32) as u32),
    ("__viaddmax_u32", 3, |x, y, z| x.wrapping_add(y).max(z)),
    ("__viaddmax_s32_relu", 3, |x, y, z| (x as i32).wrapping_add(y as i32).max(z as i32).max(0) as u32),
    ("__viaddmin_s32", 3, |x, y, z| (x as i32).wrapping_add(y as i32).min(z as i32) as u32),
    ("__viaddmin_u32", 3, |x, y, z| x.wrapping_add(y).min(z)),
    ("__viaddmin_s32_relu", 3, |x, y, z| (x as i32).wrapping_add(y as i32).min(z as i32).max(0) as u32),
    ("__vimax_s32_relu", 2, |x, y, _| (x as i32).max(y as i32).max(0) as u32),
    ("__vimin_s32_relu", 2, |x, y, _| (x as i32).min(y as i32).max(0) as u32),
    ("__vimax_s16x2_relu", 2, |x, y, z| per_lane(16, true, [x, y, z], |x, y, _| x.max(y).max(0))),
    ("__vimin_s16x2_relu", 2, |x, y, z| per_lane(16, true, [x, y, z], |x, y, _| x.min(y).max(0))),
    ("__vimax3_s16x2", 3, |x, y, z| per_lane(16, true, [x, y, z], |x, y, z| x.max(y).max(z))),
    ("__vimax3_u16x2", 3, |x, y, z| per_lane(16, false, [x, y, z], |x, y, z| x.max(y).max(z))),
    ("__vimax3_s16x2_relu", 3, |x, y, z| per_lane(16, true, [x, y, z], |x, y, z| x.max(y).max(z).max(0))),
    ("__vimin3_s16x2", 3, |x, y, z| per_lane(16, true, [x, y, z], |x, y, z| x.min(y).min(z))),
    ("__vimin3_u16x2", 3, |x, y, z| per_lane(16, false, [x, y, z], |x, y, z| x.min(y).min(z))),
    ("__vimin3_s16x2_relu", 3, |x, y, z| per_lane(16, true, [x, y, z], |x, y, z| x.min(y).min(z).max(0))),
    ("__viaddmax_s16x2", 3, |x, y, z| per_lane(16, true, [x, y, z], |x, y, z| i64::from((x + y) as i16).max(z))),
    ("__viaddmax_u16x2", 3, |x, y, z| per_lane(16, false, [x, y, z], |x, y, z| i64::from((x + y) as u16).max(z))),
    ("__viaddmax_s16x2_relu", 3, |x, y, z| {
        per_lane(16, true, [x, y, z], |x, y, z| i64::from((x + y) as i16).max(z).max(0))
    }),
    ("__viaddmin_s16x2", 3, |x, y, z| per_lane(16, true, [x, y, z], |x, y, z| i64::from((x + y) as i16).min(z))),
    ("__viaddmin_u16x2", 3, |x, y, z| per_lane(16, false, [x, y, z], |x, y, z| i64::from((x + y) as u16).min(z))),
    ("__viaddmin_s16x2_relu", 3, |x, y, z| {
        per_lane(16, true, [x, y, z], |x, y, z| i64::from((x + y) as i16).min(z).max(0))
    }),
    ("__dp4a", 3, |x, y, z| (0..4).fold(z, |s, i| s.wrapping_add((bytes(x)[i] * bytes(y)[i]) as u32))),
    ("__dp2a_lo", 3, |x, y, z| (0..2).fold(z, |s, i| s.wrapping_add((halves(x)[i] * bytes(y)[i]) as u32))),
    ("__dp2a_hi", 3, |x, y, z| (0..2).fold(z, |s, i| s.wrapping_add((halves(x)[i] * bytes(y)[i + 2]) as u32))),
    ("signed_dp4a", 3, |x, y, z| {
        (0..4).fold(z, |s, i| s.wrapping_add((bytes(x)[i] as i8 as i32 * bytes(y)[i] as i8 as i32) as u32))
    }),
    ("signed_dp2a_lo", 3, |x, y, z| {
        (0..2).fold(z, |s, i| s.wrapping_add((halves(x)[i] as i16 as i32 * bytes(y)[i] as i8 as i32) as u32))
    }),
    ("signed_dp2a_hi", 3, |x, y, z| {
        (0..2).fold(z, |s, i| s.wrapping_add((halves(x)[i] as i16 as i32 * bytes(y)[i + 2] as i8 as i32) as u32))
    }),
    ("__byte_perm", 3, |x, y, z| {
        let all = u64::from(y) << 32 | u64::from(x);
        (0..4).fold(0, |out, i| out | (all.to_le_bytes()[(z >> (4 * i) & 7) as usize] as u32) << (8 * i))
    }),
    ("__funnelshift_l", 3, |x, y, z| ((u64::from(y) << 32 | u64::from(x)) << (z & 31) >> 32) as u32),
    ("__funnelshift_r", 3, |x, y, z| ((u64::from(y) << 32 | u64::from(x)) >> (z & 31)) as u32),
    (
        "__funnelshift_lc",
        3,
        |x, y, z| if z >= 32 { x } else { ((u64::from(y) << 32 | u64::from(x)) << z >> 32) as u32 },
    ),
    ("__funnelshift_rc", 3, |x, y, z| if z >= 32 { y } else { ((u64::from(y) << 32 | u64::from(x)) >> z) as u32 }),
    ("__hadd", 2, |x, y, _| ((i64::from(x as i32) + i64::from(y as i32)) >> 1) as u32),
    ("__rhadd", 2, |x, y, _| ((i64::from(x as i32) + i64::from(y as i32) + 1) >> 1) as u32),
    ("__uhadd", 2, |x, y, _| ((u64::from(x) + u64::from(y)) >> 1) as u32),
    ("__urhadd", 2, |x, y, _| ((u64::from(x) + u64::from(y) + 1) >> 1) as u32),
    ("__sad", 3, |x, y, z| (x as i32).abs_diff(y as i32).wrapping_add(z)),
    ("__usad", 3, |x, y, z| x.abs_diff(y).wrapping_add(z)),
    ("__mul24", 2, |x, y, _| (((x << 8) as i32 >> 8) as i64 * ((y << 8) as i32 >> 8) as i64) as u32),
    ("__umul24", 2, |x, y, _| (u64::from(x & 0xff_ffff) * u64::from(y & 0xff_ffff)) as u32),
    ("__mulhi", 2, |x, y, _| ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32),
    ("__umulhi", 2, |x, y, _| ((u64::from(x) * u64::from(y)) >> 32) as u32),
    ("__clz", 1, |x, _, _| x.leading_zeros()),
    ("__popc", 1, |x, _, _| x.count_ones()),
    ("__brev", 1, |x, _, _| x.reverse_bits()),
    ("__ffs", 1, |x, _, _| if x == 0 { 0 } else { x.trailing_zeros() + 1 }),
    ("__nv_bswap32", 1, |x, _, _| x.swap_bytes()),
    ("__nv_bswap16", 1, |x, _, _| u32::from((x as u16).swap_bytes())),
    ("nth", 3, |x, y, z| {
        // `__fns(mask, base, offset)` with a base and an offset in range, by walking (PTX ISA, `fns`).
        let (base, offset) = (y % 32, (z % 80) as i32 - 40);
        if offset == 0 {
            return if x >> base & 1 == 1 { base } else { u32::MAX };
        }
        let (mut at, mut count) = (base as i32, offset.abs());
        while (0..32).contains(&at) {
            count -= (x >> at & 1) as i32;
            if count == 0 {
                return at as u32;
            }
            at += offset.signum();
        }
        u32::MAX
    }),
];

/// Words in whose lanes every pair of extreme and middle values meets.
fn samples() -> Vec<[u32; 3]> {
    const LANE: [u32; 9] = [0, 1, 2, 0x55, 0x7e, 0x7f, 0x80, 0x81, 0xff];
    let mut out = Vec::new();
    for x in LANE {
        for y in LANE {
            for z in LANE {
                let spread = |a: u32, b: u32| a << 24 | b << 16 | (a ^ 0xff) << 8 | b;
                out.push([spread(x, y), spread(y, z), spread(z, x)]);
                out.push([x << 8 | x << 24, y << 24 | y << 8, z | z << 16]);
            }
        }
    }
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    for i in 0..2000 {
        let mut words = [next(), next(), next()];
        if i % 2 == 0 {
            // Shift amounts and offsets in range.
            words[2] &= 0xff;
        }
        out.push(words);
    }
    out
}

const HELPERS: &str = "typedef unsigned W;\n\
    __device__ W signed_dp4a(W x, W y, W z) { return (W)__dp4a((int)x, (int)y, (int)z); }\n\
    __device__ W signed_dp2a_lo(W x, W y, W z) { return (W)__dp2a_lo((int)x, (int)y, (int)z); }\n\
    __device__ W signed_dp2a_hi(W x, W y, W z) { return (W)__dp2a_hi((int)x, (int)y, (int)z); }\n\
    __device__ W nth(W x, W y, W z) { return __fns(x, y % 32, (int)(z % 80) - 40); }\n";

/// Runs a call on every sample.
fn check(helpers: &str, name: &str, arguments: usize, expected: impl Fn(u32, u32, u32) -> u32) {
    let list = ["x[3 * i]", "x[3 * i + 1]", "x[3 * i + 2]"][..arguments].join(", ");
    let text = format!(
        "{helpers}__global__ void k(unsigned* out, const unsigned* x, int n) {{\n\
         int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) out[i] = {name}({list});\n}}\n"
    );
    let samples = samples();
    let flat: Vec<u32> = samples.iter().flatten().copied().collect();
    let out = Kernel::new(&text).map::<u32, u32>(&flat, samples.len());
    for (words, got) in samples.iter().zip(out) {
        let wanted = expected(words[0], words[1], words[2]);
        assert_eq!(got, wanted, "{name} of {words:08x?}: {got:#x}, not {wanted:#x}");
    }
}

#[test]
fn lanes_are_computed_alone() {
    for (name, signed, arguments, meaning) in LANES {
        for width in [16, 8] {
            check("", &format!("__v{name}{}", 32 / width), *arguments, |x, y, z| {
                per_lane(width, *signed, [x, y, z], |x, y, _| meaning(x, y, width))
            });
        }
    }
}

#[test]
fn words_are_what_the_documentation_says() {
    for (name, arguments, meaning) in WORDS {
        check(HELPERS, name, *arguments, meaning);
    }
}

#[test]
fn the_choosing_forms_say_which_was_chosen() {
    type Pair = fn(i64, i64) -> (i64, bool);
    let pick: [(&str, Pair); 2] = [("max", |x, y| (x.max(y), x >= y)), ("min", |x, y| (x.min(y), x <= y))];
    for (name, f) in pick {
        for (sign, signed) in [("s", true), ("u", false)] {
            // The answers are mixed into the result such that each flips bits of its own.
            let word = format!(
                "__device__ unsigned both(unsigned x, unsigned y) {{ bool p = false;\n\
                 unsigned r = __vib{name}_{sign}32(x, y, &p); return r ^ (p ? 0x55555555u : 0u); }}\n"
            );
            check(&word, "both", 2, |x, y, _| {
                let wide = |x: u32| if signed { i64::from(x as i32) } else { i64::from(x) };
                let (value, first) = f(wide(x), wide(y));
                value as u32 ^ if first { 0x5555_5555 } else { 0 }
            });
            let halves = format!(
                "__device__ unsigned both(unsigned x, unsigned y) {{ bool high = false, low = false;\n\
                 unsigned r = __vib{name}_{sign}16x2(x, y, &high, &low);\n\
                 return r ^ (high ? 0x55550000u : 0u) ^ (low ? 0x5555u : 0u); }}\n"
            );
            check(&halves, "both", 2, |x, y, z| {
                per_lane(16, signed, [x, y, z], |x, y, _| {
                    let (value, first) = f(x, y);
                    value ^ if first { 0x5555 } else { 0 }
                })
            });
        }
    }
}

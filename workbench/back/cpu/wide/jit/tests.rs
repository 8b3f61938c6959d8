//! Tests of kernels: the expected results are C's, worked out by hand; and each operation has code.

use std::fmt::Write as _;

use super::*;
use crate::back::lane::table::{Kind, NumberOp, Op, Operand};
use crate::back::lane::tests::read;
use crate::back::lane::valid;

type Kernel = extern "C" fn(*mut u8, *const u64) -> u32;

/// Runs a text's statements, which find 128 bytes at `ctx` and two numbers at `args`.
fn run(statements: &str, args: [u64; 2]) -> [u64; 16] {
    let text = format!(
        "static const u32 T0[4] = {{7,8,9,10}};\n#define TWICE(x) ((x) + (x))\nu32 kernel(char* ctx, const u64* args) {{\nState st = {{0}};\n\
         const u64 a = args[0], b = args[1];\nu64* out = (u64*)ctx;\n{statements}\nreturn 0;\n}}"
    );
    let own = (valid::require(read::kernel(&text)))
        .and_then(|kernel| compile(&kernel, Dim3 { x: 32, y: 2, z: 1 }, false))
        .unwrap_or_else(|why| panic!("{why}:\n{statements}"));
    // SAFETY: the text's function is of this type.
    let kernel = unsafe { std::mem::transmute::<usize, Kernel>(own.address().expect("there is code")) };
    let mut out = [0xcbcb_cbcb_cbcb_cbcb; 16];
    assert_eq!(kernel(out.as_mut_ptr().cast(), args.as_ptr()), 0);
    out
}

#[test]
fn numbers_are_cs() {
    let (a, b) = (0xffff_fff0_u64, 7_u64);
    let cases: &[(&str, u64)] = &[
        ("(u32)(i8)a", 0xffff_fff0),
        ("(i64)(i8)a", -16_i64 as u64),
        ("(u8)a", 0xf0),
        // Narrow numbers become `int`s, and an unsigned operand makes both unsigned.
        ("(u64)((u8)a + (u8)a)", 0x1e0),
        ("(i32)a < b", 0),
        ("(i32)a < (i32)b", 1),
        ("(i32)a < 0u", 0),
        ("(i64)(i32)a >> 2", -4_i64 as u64),
        ("(u64)(-1 < 1u)", 0),
        ("(wide)0xffffffffffffffffull > 0", 1),
        ("(wide)a * 4611686018427387904ll > (wide)0x7fffffffffffffffll", 1),
        ("(u64)(((unsigned __int128)0xffffffffffffffffull * a) >> 64)", a - 1),
        ("(i64)(((__int128)(i64)-5 * (i64)3) >> 64)", u64::MAX),
        ("a / b % 100", 0xffff_fff0 / 7 % 100),
        ("(u64)((b == 0 || b == -1) ? 0 : a / b)", 0xffff_fff0 / 7),
        ("b > 5 && a > 5 || a == 0", 1),
        ("!b", 0),
        ("~b & 0xff", 0xf8),
        ("TWICE(b) + T0[b - 4]", 14 + 10),
        ("SLL((u32)b, (u32)32)", 0),
        ("SRA((i32)a, (u32)99)", u64::MAX),
        ("SRL((u64)a, (u64)4)", 0x0fff_ffff),
        ("(u32)__builtin_popcount((u32)a)", 28),
        ("__builtin_ffs((u32)b - 7)", 0),
        ("clz_s32((u32)b)", 29),
        ("brev_s32((u32)b)", 0xe000_0000),
        ("s_to_i32(f64_of(0x41efffffffe00000ull))", i32::MAX as u64),
        ("d_to_i32(f64_of(0x7ff8000000000000ull))", i32::MIN as i64 as u64),
        ("s_to_u64(f64_of(0xbff0000000000000ull))", 0),
        ("bits_f32((f32)(i32)a)", u64::from((-16.0_f32).to_bits())),
        ("bits_f32(sfmin_f32(f32_of(0x80000000u), f32_of(0u)))", 0x8000_0000),
        ("bits_f32(sfmax_f32(f32_of(0x7fc00000u), f32_of(0x40000000u)))", 0x4000_0000),
        ("st.faulted + st.now", 0),
    ];
    for (expr, expected) in cases {
        assert_eq!(run(&format!("out[1] = (u64)(i64)({expr});"), [a, b])[1], *expected, "{expr}");
    }
}

#[test]
fn masks_are_sixteen_bits_wherever_they_come_from() {
    let text = "const vi32 l = line_i32((i32)a, 1);
        const m16 low = lt_i32(l, splat_i32(5)), odd = truth_i32(and_i32(l, splat_i32(1)));
        out[0] = (u64)(m16)(low & odd); out[1] = (u64)(m16)~low; out[2] = (u64)(m16)(low | splat_b1((b1)(b == 7)));
        m16 some = (m16)((1u << b) - 1); some &= ~odd; out[3] = (u64)some; out[4] = !(some & 0) && some;
        u32 sum = 0; LOOP_LANES(some) sum += l * 0 + 1u << l; out[5] = (u64)sum; out[6] = (u64)last_lane(some);
        out[7] = (u64)(i64)lane_i32(select_i32(some, l, splat_i32(-1)), 1u);
        m16 first = 3; st_i32(ctx + 64, ldm_i32(first, ctx)); out[8] = *(u64*)(ctx + 64); out[9] = *(u64*)(ctx + 72);";
    // The name `l` is used by the loop over lanes, and by lanes outside of it.
    let text = text
        .replace("const vi32 l =", "const vi32 v =")
        .replace("(l,", "(v,")
        .replace(", l,", ", v,")
        .replace("l * 0 + ", "");
    let out = run(&text, [0, 7]);
    assert_eq!(out[..8], [0b01010, 0xffe0, 0xffff, 0b101_0101, 1, 0b101_0101, 6, u64::MAX]);
    assert_eq!((out[8], out[9]), (0b01010, 0));
}

#[test]
fn long_lanes_that_fit_no_word_become_the_largest() {
    let near = "st_i32(ctx, narrow_u64(line_i64((i64)a, 1)));";
    let out = run(near, [0xffff_fffd, 0]);
    assert_eq!(out[..2], [0xffff_fffe_ffff_fffd, u64::MAX]);
    let far = "st_i32(ctx, narrow_u64(line_i64((i64)a, (i64)b)));";
    // The last lane is the first one's number and 15 times 2^60: -1, the largest without a sign.
    let out = run(far, [(1 << 60) - 1, 1 << 60]);
    assert_eq!(out[..8], [u64::MAX; 8]);
    let out = run(far, [7, u64::MAX]);
    assert_eq!(out[..4], [0x6_0000_0007, 0x4_0000_0005, 0x2_0000_0003, 1]);
    assert_eq!(out[4..8], [u64::MAX; 4]);
}

#[test]
fn control_is_cs() {
    let text = "u64 n = 0; for (u32 i = 0; i < 10u; i += 3) { if (i == 6) goto over; n = n * 10 + i; over:; }
        out[0] = n; for (;;) { n -= 1; if (n < 30) break; } out[1] = n;
        { u64 n = 5; n += a; out[2] = n; } if (b) { out[3] = n; } else out[3] = 0; out[4] = a ? b : 0;";
    assert_eq!(run(text, [2, 7])[..5], [39, 29, 7, 29, 7]);
}

/// An operand of an operation, as C.
fn operand(operand: Operand) -> Option<&'static str> {
    Some(match operand {
        Operand::Lanes(Kind::F32) => "vf",
        Operand::Lanes(Kind::F64) => "vd",
        Operand::Lanes(Kind::I32) => "vi",
        Operand::Lanes(Kind::I64) => "vl",
        Operand::Mask => "m",
        Operand::Int { .. } | Operand::Any => "n",
        Operand::Truth => "n == 3",
        Operand::F32 => "f",
        Operand::F64 => "d",
        Operand::Place => "ctx",
        Operand::State => "&st",
        Operand::Function | Operand::Nothing => return None,
    })
}

#[test]
fn there_is_code_for_each_operation() {
    let mut text = String::from("u32 kernel(char* ctx, const u64* args) {\nState st = {0};\nif (args[0]) return 0;\n");
    text.push_str("const i64 n = (i64)args[1]; const f32 f = *(const f32*)ctx; const f64 d = *(const f64*)ctx;\n");
    text.push_str("const vf32 vf = ld_f32(ctx); const vf64 vd = ld_f64(ctx); const vi32 vi = ld_i32(ctx); const vi64 vl = ld_i64(ctx);\n");
    text.push_str("const m16 m = lt_f32(vf, splat_f32(f));\n");
    for op in Op::all().filter(|op| *op != Op::Number(NumberOp::Fence)) {
        let operands = op.operands();
        let function = |kind: Kind| {
            let params = vec![kind.name(); operands.len() - 2].join(", ");
            format!("({} (*)({params}))0x1000ull", kind.name())
        };
        let args: Vec<String> = (operands.iter())
            .map(|of| match (operand(*of), op.gives()) {
                (Some(text), _) => text.to_owned(),
                (None, Operand::Lanes(kind)) => function(kind),
                (None, _) => panic!("`{}`", op.name()),
            })
            .collect();
        let _ = writeln!(text, "{{ {}({}); }}", op.name(), args.join(", "));
    }
    text.push_str("__atomic_thread_fence(__ATOMIC_SEQ_CST);\nreturn 0;\n}");
    let kernel = valid::require(read::kernel(&text)).unwrap_or_else(|why| panic!("{why}"));
    for has_widest in [false, has_widest()] {
        let made = compiled(&kernel, Dim3 { x: 32, y: 1, z: 1 }, false, has_widest);
        assert_eq!(made.err(), None);
    }
}

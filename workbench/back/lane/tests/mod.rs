//! The table against itself and against the preludes; what is valid.

mod preludes;
pub mod read;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::table::{Nan, Op, Operand};
use super::text;
use super::types::Kind;
use super::valid::{Invalid, check};

/// A kernel's text in which variables are told apart by the order in which they are mentioned.
pub fn canonical(kernel: &super::tree::Kernel) -> String {
    let (mut out, mut numbers) = (String::new(), HashMap::new());
    for line in text::print(kernel).lines() {
        for part in line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_' && c != '.') {
            let word = part.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
            let (name, rest) = word.split_once('.').unwrap_or_default();
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let is_variable = end > 0 && name.starts_with(|c: char| c.is_alphabetic());
            if is_variable {
                let next = numbers.len();
                let place = *numbers.entry(rest[..end].to_owned()).or_insert(next);
                let _ = write!(out, "{name}.{place}{}{}", &rest[end..], &part[word.len()..]);
            } else {
                out.push_str(part);
            }
        }
        out.push('\n');
    }
    out
}

/// The difference of a kernel and the one that its C is read as.
pub fn difference(kernel: &super::tree::Kernel) -> Option<String> {
    let text = super::write_c::before(kernel) + &super::write_c::kernel(kernel);
    match read::kernel(&text) {
        Err(Invalid(why)) => Some(why),
        Ok(again) => {
            let (one, other) = (canonical(kernel), canonical(&again));
            let differs = one.lines().zip(other.lines()).find(|(x, y)| x != y);
            match differs {
                Some((x, y)) => Some(format!("{x}\n{y}")),
                None => (one != other).then(|| "one is longer".to_owned()),
            }
        }
    }
}

/// The kernel of statements, or why they make none.
fn made(statements: &str) -> Result<super::tree::Kernel, Invalid> {
    let text = format!(
        "FN vf32 math_exp_f32(vf32 x1) {{ const vf32 x2 = add_f32(x1, x1); return x2; }}\nstatic const u32 T0[2] = {{4, 5}};\n\
         u32 kernel(char* ctx, const u64* args) {{ State st = {{0}}; i64 budget = 1000; const i64 n = (i64)args[0];\n\
         char* const B_p0 = ctx; char* const B_s0 = ctx; char* const scratch = ctx; vf32 v = ld_f32(B_p0); vi32 i = ld_i32(B_p0);\n\
         m16 m = 5; f32 s = 0; u32 w[4];\n{statements}\nreturn 0; }}"
    );
    read::kernel(&text).and_then(|kernel| check(&kernel).map(|()| kernel))
}

#[test]
fn each_operation_has_one_name() {
    let mut names = HashSet::new();
    for op in Op::all() {
        assert!(names.insert(op.name()), "{}", op.name());
        assert_eq!(Op::find(&op.name()), Some(op));
    }
    assert_eq!(Op::find("add_f16"), None);
}

#[test]
fn what_operations_do_with_nan_is_said_of_floats_alone() {
    let is_float =
        |operand: &Operand| matches!(operand, Operand::Lanes(Kind::F32 | Kind::F64) | Operand::F32 | Operand::F64);
    for op in Op::all() {
        let floats = op.operands().iter().any(is_float) || is_float(&op.gives());
        assert!(floats || op.nan() == Nan::Never, "{}", op.name());
        let takes = op.operands().iter().any(is_float);
        assert!(!takes || op.nan() != Nan::Never, "{}", op.name());
    }
}

#[test]
fn kernels_are_valid() {
    for statements in [
        "v = add_f32(v, v); for (;;) { v = math_exp_f32(v); if (n > 5) break; }",
        "if (m & 3) goto over; else st_f32(B_p0 + n * 4, v); over:;",
        "LOOP_LANES(m) w[l & 3] += T0[l & 1];",
        "m = (m16)(m & ~lt_f32(v, v)); m |= alive(&st, 3); if (unlikely((budget -= 3) < 0)) { budget = tick(ctx, &st, 1, 0); }",
        "s = ((f32 (*)(f32))0x1000ull)(s); v = each1_f32(m, (f32 (*)(f32))0x1000ull, v);",
        "*(f32*)(B_p0 + n) = s; st.now = 1; const u64 x = SLL((u64)n, (u32)3);",
        "w[1] = (n + 1) * 2 - (n - (1 - n)) % 3 << 1; w[2] = -(-n) + ~-n; w[3] = n > 2 == (m & 3) != 0 && (n || !n);",
        "w[1] = n ? n ? 1 : 2 : 3; w[2] = (n ? 1 : 2) + (w[0] = 3); if (n) { if (m) s = 1; } else s = 2;",
        "const i64 far = 0x123456789abll; w[0] = (u32)0xfffffffffull; w[1] = 65535 + 0xffff; s = 1.0f / s;",
        "u32 masks[3][32]; ((m16*)masks[1])[n / 16 + 2] &= ~m; char bytes[64]; __builtin_memset(bytes, 5, 64);",
    ] {
        let kernel = made(statements).unwrap_or_else(|Invalid(why)| panic!("{statements}: {why}"));
        assert_eq!(difference(&kernel), None, "{statements}");
    }
}

#[test]
fn what_is_not_valid_is_told() {
    for (statements, why) in [
        ("frobnicate(v);", "`frobnicate`"),
        ("v = c;", "`c`"),
        ("v = (1;", "`)`"),
        ("@", "`@`"),
        ("{ const i64 k = 1; } w[0] = k;", "`k`"),
        ("v = add_f32(v);", "`add_f32` has 1 operands"),
        ("v = add_f32(v, i);", "`add_f32` has i32x16"),
        ("v = add_i32(i, i);", "i32x16 is written to f32x16"),
        ("v = select_f32(v, v, v);", "`select_f32` has f32x16 for Mask"),
        ("n = 5;", "`n` is set"),
        ("const vi32 k = v;", "begins as f32x16"),
        ("w[0] = v;", "f32x16 is written to u32"),
        ("w[0] = s;", "f32 is written to u32"),
        ("if (v) { }", "no condition"),
        ("v = v + v;", "`+` is of f32x16"),
        ("m = m + v;", "`+` is of mask"),
        ("s = n * args;", "`*` is of"),
        ("goto nowhere;", "`nowhere`, which is nowhere"),
        ("here:; here:;", "`here` is there twice"),
        ("break;", "outside of a loop"),
        ("return v;", "f32x16 is returned"),
        ("note_one(ctx, 1, 2, m, 3, 4);", "`note_one` has *i8 for State"),
        ("v = math_exp_f32(i);", "`math_exp_f32` is given i32x16"),
        ("w[0] = *n;", "no address"),
        ("i64 budget = 5;", "more than one budget"),
    ] {
        let found = made(statements).map(|kernel| text::print(&kernel));
        assert!(matches!(&found, Err(Invalid(told)) if told.contains(why)), "{statements}: {found:?}");
    }
}

#[test]
fn accesses_know_where_they_are() {
    let kernel = made(
        "v = ld_f32(B_p0 + n * 4); v = ld_f32(scratch); nt_f32(B_s0 + 64, v); s = *(const f32*)(B_s0 + 4); v = ld_f32(ctx);",
    );
    let text = text::print(&kernel.unwrap_or_else(|Invalid(why)| panic!("{why}")));
    for part in ["ld_f32 global((B_p0", "ld_f32 scratch(scratch", "nt_f32 shared((B_s0", "at shared[", "ld_f32(ctx"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

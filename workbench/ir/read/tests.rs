//! Tests of reading: what is wrong is told where it stands, and every form of statement comes back as it was.

use super::*;

fn wrong(text: &str, expected: &str) {
    match module(text) {
        Err(error) => assert_eq!(error.to_string(), expected),
        Ok(module) => panic!("it is read as\n{module}"),
    }
}

#[test]
fn errors_say_where_and_what() {
    wrong("kernel f0 k() {\n  return\n", "line 3, column 1: expected `}`, found the end of the line");
    wrong("kernel f1 k() {\n}\n", "line 1, column 8: expected `f0`, found `f1 k() {`");
    wrong("kernel f0 k() {\n  v0: i33 = 1i32\n}\n", "line 2, column 7: expected a type, found `i33 = 1i32`");
    wrong(
        "kernel f0 k() {\n  v0: i8 = 300i8\n}\n",
        "line 2, column 12: expected an op or a constant with its type, found `300i8`",
    );
    wrong("kernel f0 k() {\n  jump b0\n}\n", "line 2, column 3: expected a statement, found `jump b0`");
    wrong(
        "global g0: 3 bytes, align 1 = \"ab\"\n",
        "line 1, column 12: expected the size of the data, 2 bytes, found `3 bytes, align 1 = \"ab\"`",
    );
}

#[test]
fn every_form_comes_back() {
    let text = r#"global g0: 4 bytes, align 1 = "a\"\xff\x00"
device g1 "a: b": 100 bytes, align 4 = f32 [1.5, nan(0x7fc00001), -0.0, inf, 0.0 x 21]
constant g2 c: 40 bytes, align 8 = bytes "\x01\x02" + 38 zeros
managed g3 u: 2 bytes, align 1 = u8 "\x07\x08"
host g4 table: 16 bytes, align 8 = i64 [-9223372036854775808, 1]
format p0 = "n is %d é\u{1}\n"
shared m0 tile: 64 bytes, align 16, f32
shared m1: dynamic, align 8
addressed f1 type 0

device f0 "operator()"(a: i32 = 3i32) -> i32 library {
  v0: i32 = param 0
  v1: u32 = thread_idx.z
  return v0
}

host helper f1 of<int>(this: ptr void, y: ptr const bf16) {
  v0: ptr = param 0
  v2: ptr = addr f1 type 0
  dispatch type 1
}

kernel f2 k(s: bytes 16 align 8, s.x: f64 from 0 at 8, p: ptr f16, d: i64 from 2 by 2) max_threads 64 {
  local l0: ptr
  local l1 i: u64
  slot s0 t: 12 bytes, align 4
  v0: u64 = 18446744073709551615u64
  v3: f64 = nan(0x7ff8000000000001)f64
  v4: f32 = -1e-40f32
  l1 = v0
  v5: bool = gt v0, v0
  v6: ptr = ptr_add v8, v9 * 12 bytes
  v7: f64 = fma.rd v3, v3, v3
  v10: f32 = frexp_exp v4
  b0: loop {
    if v5 {
      break b0
    } else {
      continue b0
    }
    v11: i32 = call f0(v1) raises v12
  } step {
    fence
  }
  b1: switch v0 {
    case -1, default {
      trap
    } falls through
    {
    }
  }
  b2: scope {
    v13: u32 = activemask
    v14: i32 = atomic cas v6, v1, v2
    atomic add v6, v1
    v15: u32 = ballot_sync v13, v5
    syncwarp v13
    printf p0(v1)
    service push_none()
    launch f2<(v1, v1, v1), (v1, v1, v1), v1>(v6)
    assert v5, "n > \"0\""
    aligned v6, 16
    missing return of "f"
    barrier warp
    store volatile v6, v4
    v16: ptr = load volatile v6
  }
  return
}
"#;
    match module(text) {
        Ok(module) => assert_eq!(module.to_string(), text),
        Err(error) => panic!("{error}"),
    }
}

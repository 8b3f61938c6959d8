//! The printed IR is read back: every form of it, the module of every text under `tests/filetests` and `kernels`, before and after the
//! passes; text that is no IR is an error with its place.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use workbench::front;
use workbench::ir::read::module;
use workbench::ir::{Block, Function, Module, Op, Scalar, Stmt, Value};
use workbench::pass;
use workbench::runtime::CompileOptions;
use workbench::source::{SourceMap, Span};
use workbench::valid::validate;

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

/// A module with every form of line.
const FORMS: &str = r#"global g0: 4 bytes, align 1 = "a\"\xff\x00"
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

#[test]
fn every_form_comes_back() {
    match module(FORMS) {
        Ok(module) => assert_eq!(module.to_string(), FORMS),
        Err(error) => panic!("{error}"),
    }
}

/// A module without the parts that its text does not contain.
fn bare(module: &Module) -> Module {
    let mut module = module.clone();
    (module.templates, module.deduced, module.left_out) = Default::default();
    module.formats.iter_mut().for_each(|format| format.span = Span::NONE);
    module.shared.iter_mut().for_each(|shared| shared.span = Span::NONE);
    let mut signatures = Vec::new();
    for (_, signature) in &mut module.addressed {
        *signature = number(*signature, &mut signatures);
    }
    for func in &mut module.functions {
        bare_function(func, &mut signatures);
    }
    module
}

fn number(signature: u64, signatures: &mut Vec<u64>) -> u64 {
    let at = signatures.iter().position(|other| *other == signature).unwrap_or_else(|| {
        signatures.push(signature);
        signatures.len() - 1
    });
    at as u64
}

fn bare_function(func: &mut Function, signatures: &mut Vec<u64>) {
    (func.span, func.identity) = (Span::NONE, None);
    for param in &mut func.params {
        (param.span, param.layout, param.pointee) = (Span::NONE, None, None);
    }
    let mut defined: HashSet<Value> = HashSet::new();
    let mut labels = 0;
    func.body.for_each_stmt(&mut |stmt| {
        defined.extend(stmt.result().into_iter().chain(stmt.raised()));
        if let Stmt::Loop { label, .. } | Stmt::Switch { label, .. } | Stmt::Scope { label, .. } = stmt {
            labels = labels.max(label.index() as u32 + 1);
        }
    });
    func.labels = labels;
    func.values.truncate(defined.iter().map(|v| v.index() + 1).max().unwrap_or(0));
    for (i, data) in func.values.iter_mut().enumerate() {
        data.span = Span::NONE;
        if !defined.contains(&Value::new(i)) {
            data.ty = Scalar::Bool.into();
        }
    }
    bare_block(&mut func.body, signatures);
}

fn bare_block(block: &mut Block, signatures: &mut Vec<u64>) {
    block.spans.fill(Span::NONE);
    for stmt in &mut block.stmts {
        if let Stmt::Let(_, Op::FuncAddr(_, signature)) | Stmt::Dispatch(signature) = stmt {
            *signature = number(*signature, signatures);
        }
        stmt.blocks_mut().into_iter().for_each(|inner| bare_block(inner, signatures));
    }
}

/// Reads back the printed text of a module; gives the differences.
fn round_trip(whole: &Module) -> Result<(), String> {
    let text = whole.to_string();
    let back = module(&text).map_err(|e| {
        let line = text.lines().nth(e.line - 1).unwrap_or("");
        format!("{e}\n  in: {line}")
    })?;
    let again = back.to_string();
    if let Some((a, b)) = text.lines().zip(again.lines()).find(|(a, b)| a != b) {
        return Err(format!("a line comes back as another:\n  {a}\n  {b}"));
    }
    if text != again {
        return Err("lines are lost".to_owned());
    }
    // Compared by their text, because a NaN equals nothing.
    let (wanted, found) = (bare(whole), back);
    for (a, b) in wanted.functions.iter().zip(&found.functions) {
        if a != b && format!("{a:?}") != format!("{b:?}") {
            return Err(format!("`{}` comes back as another:\n{a:?}\n{b:?}", a.name));
        }
    }
    let rest = |module: &Module| Module { functions: Vec::new(), ..module.clone() };
    if rest(&wanted) != rest(&found) {
        return Err(format!("data come back as others:\n{:?}\n{:?}", rest(&wanted), rest(&found)));
    }
    Ok(())
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|x| x == "cu") {
            files.push(path);
        }
    }
}

#[test]
fn the_modules_of_all_texts_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("tests/filetests"), &mut files);
    collect(&root.join("kernels"), &mut files);
    files.sort();
    let (mut read, mut problems) = (0, Vec::new());
    for path in &files {
        let Ok(text) = std::fs::read_to_string(path) else { panic!("{} cannot be read", path.display()) };
        let mut sources = SourceMap::new();
        let (mut module, diags) = front::compile(&mut sources, "t.cu", &text, &CompileOptions::default().front);
        if diags.iter().any(|diag| diag.is_error()) || !validate(&module).is_empty() {
            continue;
        }
        read += 1;
        let mut note = |when: &str, module: &Module| {
            if let Err(problem) = round_trip(module) {
                problems.push(format!("{} {when}: {problem}", path.display()));
            }
        };
        note("before the passes", &module);
        pass::prepare_for_cpu(&mut module);
        note("after the passes", &module);
    }
    assert!(problems.is_empty(), "{} of {read} modules:\n{}", problems.len(), problems.join("\n"));
    assert!(read > 150, "{read} of {} texts compile", files.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Text that is nearly IR is read or refused; a text that is read prints and reads again.
    #[test]
    fn nearly_ir_is_read_or_told(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4usize), 1..4),
    ) {
        let mut text: Vec<char> = FORMS.chars().collect();
        for (at, from, how) in edits {
            let (at, from) = (at.index(text.len()), text[from.index(text.len())]);
            match how {
                0 => text[at] = from,
                1 => text.insert(at, from),
                2 if text.len() > 1 => _ = text.remove(at),
                _ => text.truncate(at.max(1)),
            }
        }
        let text: String = text.into_iter().collect();
        if let Ok(first) = module(&text) {
            let printed = first.to_string();
            let again = module(&printed);
            prop_assert_eq!(again.map(|module| module.to_string()), Ok(printed));
        }
    }
}

//! The preludes define each operation of the table, with as many operands as it has, and no others.

use std::collections::{BTreeMap, BTreeSet};

use crate::back::lane::table::{Atomic, FaultOp, NumberOp, Op};

const SCALAR: &str = include_str!("../../cpu/wide/prelude/scalar.h");
const AVX512: &str = include_str!("../../cpu/wide/prelude/avx512.h");
const AVX2: &str = include_str!("../../cpu/wide/prelude/avx2.h");
const LANES: &str = include_str!("../../cpu/wide/prelude/lanes.h");
const FAULTS: &str = include_str!("../../cpu/wide/prelude/faults.h");

/// Names that the prelude of AVX-512 defines for itself.
const OWN_512: &str = "byte copysign8 every2 every2_f64 every4 every8 fmax8 fmin8 four four_of_8 high8 join4 join8 joinf8 low8 note pair pd_to_i32 pd_to_i64 \
    pd_to_u32 pd_to_u64 spread2 spread4 sum_of_128 take8 each_div_i64 each_div_u64 not_small";

/// Names that the prelude of AVX2 defines for itself.
const OWN_2: &str = "add4 add8 and4 and8 brev8 byte clz8 div4_i32 div4_u32 exponent8 few_bytes few_pairs fmax4 fmax8 \
    fmin4 fmin8 ge8_u32 gt4_i64 gt4_u64 halves_to_pd i64_to_pd i64_to_ps ldm_bytes ldm_pairs logb4 logb8 low_halves mantissa8 mask4 \
    mask8 mask_bytes mask_pairs max4_i64 max4_u64 min4_i64 min4_u64 mul4 mul8 normal8 note odd4 or4 or8 pair \
    pd_low_bits pd_to_i32 pd_to_i64 pd_to_u32 pd_to_u64 popc8 power8 ps_to_i32 ps_to_u32 rsqrt8 scale4 scale8 sra4 \
    stm_bytes sub4 sub8 each_div_i64 each_div_u64 dot8_i32 dot8_u32 float_to_half8 half_to_float8 not_small tiny8 to_bytes to_pairs truth16 u32_to_pd u32_to_ps u64_to_pd u64_to_ps whole_to_i64 xor4 xor8";

/// Operations that are macros with names in capitals, as no others are.
const SHIFTS: [&str; 3] = ["SLL", "SRL", "SRA"];

/// True for operations that C has by itself, or that a kernel's text defines.
fn is_elsewhere(op: Op) -> bool {
    matches!(op, Op::Number(NumberOp::Fence) | Op::Fault(FaultOp::Stop | FaultOp::Tick))
        || op.name().starts_with("__builtin_")
}

/// Macros with parameters: these, and the body.
type Macros = BTreeMap<String, (Vec<String>, String)>;

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word or the sign that a text begins with, and the rest.
fn piece(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    let end = if is_word(first) { text.find(|c| !is_word(c)).unwrap_or(text.len()) } else { first.len_utf8() };
    Some(text.split_at(end))
}

/// The parts between commas in the brackets that a text begins with, and the rest of the text.
fn arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let text = text.strip_prefix('(')?;
    let (mut depth, mut args, mut start) = (0, Vec::new(), 0);
    for (at, c) in text.char_indices() {
        if depth == 0 && (c == ')' || c == ',') {
            args.push(text[start..at].trim().to_owned());
            start = at + 1;
        }
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some((args, &text[start..])),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A macro's body with its arguments, words that are joined included.
fn replaced(body: &str, params: &[String], args: &[String]) -> String {
    let (mut out, mut rest) = (String::new(), body);
    while let Some((word, behind)) = piece(rest) {
        rest = behind;
        let arg = params.iter().position(|param| param == word).and_then(|at| args.get(at));
        out.push_str(arg.map_or(word, String::as_str));
    }
    out.split("##").map(str::trim).collect()
}

/// A text with its macros' bodies in the place of their names.
fn expanded(text: &str, macros: &Macros, out: &mut String) {
    let mut rest = text;
    while let Some((word, behind)) = piece(rest) {
        rest = behind;
        match macros.get(word).zip(arguments(behind)) {
            Some(((params, body), (args, behind))) => {
                rest = behind;
                expanded(&replaced(body, params, &args), macros, out);
            }
            None => out.push_str(word),
        }
    }
}

/// True if a text has functions.
fn is_of_functions(text: &str) -> bool {
    ["FN ", "COLD ", "static "].iter().any(|start| text.contains(start))
}

/// The name and the number of parameters of the function that a head is of.
fn function(head: &str) -> Option<(String, usize)> {
    let head = head.replace("__attribute__((noinline))", "");
    let open = head.find('(').filter(|_| is_of_functions(&head))?;
    let name = head[..open].rsplit(|c| !is_word(c)).next()?;
    Some((name.to_owned(), arguments(&head[open..])?.0.len()))
}

/// A text without comments.
fn uncommented(text: &str) -> String {
    text.split("/*")
        .enumerate()
        .map(|(i, part)| if i == 0 { part } else { part.split_once("*/").map_or("", |p| p.1) })
        .collect()
}

/// The names that a prelude defines, each with its number of operands.
fn defined(parts: &[&str]) -> BTreeMap<String, usize> {
    let (mut macros, mut code, mut found) = (Macros::new(), String::new(), BTreeMap::new());
    for line in uncommented(&parts.concat()).replace("\\\n", " ").lines() {
        let Some(rest) = line.strip_prefix("#define ") else {
            if !line.starts_with('#') {
                code.push_str(line);
                code.push('\n');
            }
            continue;
        };
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        if let Some((params, body)) = arguments(rest) {
            macros.insert(name.to_owned(), (params, body.to_owned()));
        }
    }
    // Macros that make functions are no operations, nor are those that make their arguments.
    macros.retain(|name, (params, body)| {
        let makes = is_of_functions(body) || body.contains("RMW(");
        let is_lower = name.starts_with(|c: char| c.is_lowercase());
        if !makes && (is_lower || SHIFTS.contains(&name.as_str())) {
            found.insert(name.clone(), params.len());
        }
        makes
    });
    let mut text = String::new();
    expanded(&code, &macros, &mut text);
    // A function's body begins where no brackets are open.
    let (mut depth, mut start) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' if depth == 0 => {
                found.extend(function(&text[start..at]));
                depth = 1;
            }
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                start = at + 1;
            }
            ';' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    found
}

#[test]
fn preludes_define_the_table() {
    let names: BTreeSet<String> = Op::all().map(Op::name).collect();
    for (registers, own) in [(AVX512, OWN_512), (AVX2, OWN_2)] {
        let own: BTreeSet<&str> = own.split_whitespace().collect();
        let found = defined(&[SCALAR, registers, LANES, FAULTS]);
        let mut wrong = Vec::new();
        for op in Op::all().filter(|op| !is_elsewhere(*op)) {
            match found.get(&op.name()) {
                None => wrong.push(format!("no `{}`", op.name())),
                Some(count) if *count != op.operands().len() => wrong.push(format!("`{}` of {count}", op.name())),
                Some(_) => {}
            }
        }
        let others = found.keys().filter(|name| !names.contains(*name) && !own.contains(name.as_str()));
        wrong.extend(others.map(|name| format!("`{name}`, which the table lacks")));
        let unused = own.iter().filter(|name| !found.contains_key(**name));
        wrong.extend(unused.map(|name| format!("no `{name}`, which is its own")));
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    // Atomics are made by macros in macros.
    assert!(Atomic::all().count() > 200);
}

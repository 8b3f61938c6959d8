//! The device part of a text: the user's own lines, in which host code is blanked in place, after a prelude. Lines and byte columns stay,
//! so that NVRTC's messages point at the user's own text.

use std::collections::{BTreeMap, HashSet};

use super::Options;
use super::intrinsics::{CONSTANTS, HOST_NAMESPACES, HOST_STD, HOST_TYPES, STD_NAMES, is_host_header};
use super::lex::{self, Item, Kind, Macro, Shape, Token, Words};
use crate::ir::constants;
use crate::library::{self, Part};

/// The name of the prelude in NVRTC; no span stands for it.
pub(super) const PRELUDE_NAME: &str = "<workbench prelude>";

/// The name of the options' macros in NVRTC.
const OPTIONS_NAME: &str = "<options>";

/// The parts of our library that a text needs, by the words in it that NVRTC will read, and by those of the instances asked for by name.
pub(super) fn library_parts(device_part: &str, options: &Options) -> Vec<&'static Part> {
    let bodies = options.defines.iter().map(|(_, body)| body.as_str());
    let texts = options.headers.values().map(String::as_str).chain(bodies).chain([device_part]);
    let texts = texts.chain(options.kernels.iter().map(String::as_str));
    let mut words: HashSet<&str> = HashSet::new();
    for text in texts {
        // Comments and strings do not count; directives may.
        for token in lex::tokens(text).iter().filter(|t| matches!(t.kind, Kind::Ident | Kind::Directive)) {
            words.extend(token.text(text).split(|c: char| !c.is_alphanumeric() && c != '_'));
        }
    }
    library::mentioned_on_gpu(|name| words.contains(name))
}

/// The macros and words of a text with its headers and options.
pub(super) fn words(text: &str, headers: &BTreeMap<String, String>, defines: &[(String, String)]) -> Words {
    let mut macros: BTreeMap<String, Macro> = BTreeMap::new();
    for (name, body) in defines {
        lex::define(&format!("{name} {body}"), &mut macros);
    }
    for part in headers.values().map(String::as_str).chain([text]) {
        lex::collect_macros(part, &lex::tokens(part), &mut macros);
    }
    Words::new(&macros)
}

/// The text with its host part blanked; `own_headers` are the ones the user supplies, which stay included.
pub(super) fn device_part(text: &str, words: &Words, own_headers: &BTreeMap<String, String>) -> String {
    let tokens = lex::tokens(text);
    let mut out = text.as_bytes().to_vec();
    for item in lex::items(text, &tokens, words) {
        if !is_host(text, &tokens, &item, words) {
            continue;
        }
        // Directives inside stay: later code may need their macros, and conditionals must balance.
        let inner = &tokens[item.range.clone()];
        let Some((first, last)) = inner.first().zip(inner.last()) else { continue };
        let mut from = first.start;
        for directive in inner.iter().filter(|t| t.kind == Kind::Directive) {
            blank(&mut out, from, directive.start);
            from = directive.end;
        }
        blank(&mut out, from, last.end);
    }
    // A lambda's `__device__` or `__host__`, which NVRTC refuses and nvcc requires: all code is for the device here.
    for pair in tokens.windows(2).filter(|pair| pair[0].is(b']')) {
        let at = tokens.partition_point(|t| t.start < pair[1].start);
        let words = tokens[at..].iter().take_while(|t| matches!(t.text(text), "__device__" | "__host__"));
        words.for_each(|t| blank(&mut out, t.start, t.end));
    }
    for token in tokens.iter().filter(|t| t.kind == Kind::Directive) {
        if included(token.text(text)).is_some_and(|name| is_host_header(name) && !own_headers.contains_key(name)) {
            blank(&mut out, token.start, token.end);
        }
    }
    String::from_utf8(out).expect("every byte of a character is blanked or none is: tokens end at characters")
}

/// Headers of CUDA's samples that a text and its headers include and the user did not supply, with our text of them.
pub(super) fn sample_headers(text: &str, given: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let texts = given.values().map(String::as_str).chain([text]);
    let names = texts.flat_map(|text| {
        let tokens = lex::tokens(text).into_iter().filter(|t| t.kind == Kind::Directive);
        tokens.filter_map(move |t| included(t.text(text))).collect::<Vec<&str>>()
    });
    let ours = names.filter(|name| library::is_helper_math(name) && !given.contains_key(*name));
    ours.map(|name| (name.to_owned(), format!("#pragma once\n{}", library::HELPER_MATH.text))).collect()
}

/// The header an `#include` names.
fn included(line: &str) -> Option<&str> {
    let rest = lex::directive(line, "include")?.trim_start();
    let close = match rest.bytes().next()? {
        b'<' => '>',
        b'"' => '"',
        _ => return None,
    };
    rest[1..].split_once(close).map(|(name, _)| name)
}

fn blank(out: &mut [u8], from: usize, to: usize) {
    if from < to {
        out[from..to].iter_mut().filter(|b| !matches!(b, b'\n' | b'\r')).for_each(|b| *b = b' ');
    }
}

fn is_host(text: &str, tokens: &[Token], item: &Item, words: &Words) -> bool {
    let header = &tokens[item.header.clone()];
    let idents = || header.iter().filter(|t| t.kind == Kind::Ident).map(|t| t.text(text));
    // `typedef float (*op)(float);` reads like a function.
    let is_typedef = idents().next() == Some("typedef");
    match item.shape {
        Shape::Function if is_typedef => mentions_host(text, header),
        Shape::Directive | Shape::Open(_) | Shape::Close => false,
        Shape::MacroUse => idents().next().is_some_and(|name| words.is_host(name)),
        // A constexpr function serves both sides (nvcc's relaxed constexpr).
        Shape::Function => !idents().any(|name| words.is_device(name) || name == "constexpr"),
        Shape::Other => !idents().any(|name| words.is_device(name)) && mentions_host(text, header),
    }
}

/// True if a declaration names something that only the host has.
fn mentions_host(text: &str, tokens: &[Token]) -> bool {
    let path =
        |i: usize| tokens.get(i + 1).is_some_and(|t| t.is(b':')) && tokens.get(i + 2).is_some_and(|t| t.is(b':'));
    let after = |i: usize| tokens.get(i + 3).map_or("", |t| t.text(text));
    let using = tokens.first().is_some_and(|t| t.text(text) == "using");
    tokens.iter().enumerate().filter(|(_, t)| t.kind == Kind::Ident).any(|(i, t)| {
        let name = t.text(text);
        HOST_TYPES.contains(&name)
            || HOST_NAMESPACES.contains(&name)
                && !library::is_aten(after(i))
                && (path(i) || using && tokens.get(i + 1).is_some_and(|t| t.is(b';')))
            || name == "std" && path(i) && HOST_STD.contains(&after(i))
    })
}

/// The whole text that NVRTC gets: prelude, macros of the options, the parts of the standard library it may use, then the device part under
/// the user's name for it.
pub(super) fn program(name: &str, device_part: &str, defines: &[(String, String)], parts: &[&Part]) -> String {
    let mut out = format!("#line 1 \"{PRELUDE_NAME}\"\n");
    // Some of the user's own definitions come before ours: those that ours look at, such as `NDEBUG`, and those of names that ours define
    // too, which then give way. The others are for the user's text alone, and come after ours: a `T` that is defined as `float` must not
    // replace the name of a template's parameter.
    let own = |name: &str| {
        let name = name.split('(').next().unwrap_or(name).trim();
        let mut macros = library::MACROS.iter().map(|(name, _)| name);
        let mut constants = CONSTANTS.iter().chain(constants::CONSTANTS).map(|(name, _)| name);
        name == "NDEBUG" || name.starts_with('_') || macros.any(|n| *n == name) || constants.any(|n| *n == name)
    };
    let definitions = |out: &mut String, ours: bool| {
        out.push_str(&format!("#line 1 \"{OPTIONS_NAME}\"\n"));
        for (name, body) in defines.iter().filter(|(name, _)| own(name) == ours) {
            out.push_str(&format!("#define {} {}\n", one_line(name), one_line(body)));
        }
    };
    definitions(&mut out, true);
    out.push_str(&format!("#line 1 \"{PRELUDE_NAME}\"\n"));
    // A macro with parameters is written with them: `#ifndef` takes the name alone.
    for (name, body) in library::MACROS {
        let gap = if body.starts_with('(') { "" } else { " " };
        out.push_str(&format!("#ifndef {name}\n#define {name}{gap}{body}\n#endif\n"));
    }
    for (name, value) in CONSTANTS.iter().chain(constants::CONSTANTS) {
        out.push_str(&format!("#ifndef {name}\n#define {name} {value}\n#endif\n"));
    }
    // Headers of CCCL, or of CUDA's that include them.
    let includes = |line: &str| {
        let line = line.trim_start().strip_prefix('#').unwrap_or("").trim_start();
        line.starts_with("include") && (line.contains("<cuda/") || line.contains("cooperative_groups"))
    };
    if device_part.lines().any(includes) {
        out.push_str("#define __WB_CCCL\n");
    }
    out.push_str(include_str!("prelude.cuh"));
    out.push_str("namespace std {\n");
    for name in STD_NAMES {
        out.push_str(&format!("using ::{name};\n"));
    }
    // The C++ functions. CUDA's own differ: they are not `constexpr`, and skip a NaN.
    for (name, worse) in [("max", "a < b"), ("min", "b < a")] {
        out.push_str(&format!(
            "template <class T> __device__ constexpr T {name}(T a, T b) {{ return {worse} ? b : a; }}\n\
             template <class T> __device__ constexpr T {name}(initializer_list<T> list) {{\n\
             T a = *list.begin();\nfor (T b : list) if ({worse}) a = b;\nreturn a;\n}}\n"
        ));
    }
    out.push_str("}\n");
    for part in parts {
        out.push_str(&format!("#line 1 \"{}\"\n", part.name));
        out.push_str(part.text);
    }
    definitions(&mut out, false);
    out.push_str(&format!("#line 1 \"{}\"\n", quoted(name)));
    out.push_str(device_part);
    out.push('\n');
    out
}

/// A macro's text on one line.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// A name in the form that a `#line` takes.
fn quoted(name: &str) -> String {
    one_line(name).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emit(text: &str) -> String {
        let headers = BTreeMap::new();
        device_part(text, &words(text, &headers, &[]), &headers)
    }

    #[test]
    fn host_code_is_blanked_and_every_place_kept() {
        let text = "#include <torch/extension.h>\n#include \"mine.h\"\nusing namespace torch;\nnamespace k {\n\
            __global__ void f(float* x) { x[0] = 1; }\nint host(int n) { /* é */ return n; } __device__ int d() { return 1; }\n}\n\
            torch::Tensor run(torch::Tensor x) {\n#define N 4\n  f<<<1, N>>>(x.data_ptr<float>());\n  return x;\n}\n\
            PYBIND11_MODULE(ext, m) { m.def(\"run\", &run); }\nstruct P { int a; };\nstatic std::vector<int> v;\n";
        let out = emit(text);
        assert_eq!(out.len(), text.len());
        assert_eq!(out.lines().count(), text.lines().count());
        let kept: Vec<&str> = out.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        assert_eq!(
            kept,
            [
                "#include \"mine.h\"",
                "namespace k {",
                "__global__ void f(float* x) { x[0] = 1; }",
                "__device__ int d() { return 1; }",
                "}",
                "#define N 4",
                "struct P { int a; };",
            ]
        );
        assert_eq!(out.find("__device__ int d"), text.find("__device__ int d"));
    }

    #[test]
    fn macros_that_stand_for_device_words_or_whole_kernels_are_followed() {
        let text = "#define HD __host__ __device__\n#define INLINE HD inline\nINLINE float sq(float x) { return x * x; }\n\
            #define KERNEL(name, op) __global__ void name(float* x) { x[0] = x[0] op 2; }\nKERNEL(add, +)\nKERNEL(mul, *)\n\
            int main() { return 0; }\nconstexpr int two() { return 2; }\n";
        let out = emit(text);
        assert!(out.contains("sq(float x)") && out.contains("KERNEL(mul, *)") && out.contains("two()"));
        assert!(!out.contains("main"));
    }

    #[test]
    fn a_header_the_user_supplies_stays() {
        let headers = BTreeMap::from([("math.h".to_owned(), String::new())]);
        let text = "#include <math.h>\n#include <stdio.h>\n";
        let out = device_part(text, &words(text, &headers, &[]), &headers);
        assert!(out.contains("math.h") && !out.contains("stdio.h"));
    }
}

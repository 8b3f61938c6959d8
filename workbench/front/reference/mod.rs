//! The page of the language: what is supported and what is not, made from the tables that the compiler itself uses.
//!
//! `LANGUAGE.md` beside this folder is what [`page`] gives; `tests/language.rs` holds it, and compiles every example.

pub mod accuracy;
mod constructs;

use std::collections::BTreeSet;
use std::fmt::Write;

pub use constructs::{Construct, OUTSIDE, SUPPORTED};

use super::ast::{Interner, Item};
use super::{Options, builtins, parser, preprocess};
use crate::diagnostic::Code;
use crate::ir::MathFn;
use crate::source::SourceMap;

/// The page, as Markdown. The measurements of `cargo xtask ulp` are taken over from `kept`, the page as it is.
pub fn page(kept: &str) -> String {
    let mut out = String::from(
        "# The device language\n\n\
         The part of CUDA C++ that runs on the CPU. This page is made from the compiler's own tables: do not edit it, run\n\
         `WORKBENCH_BLESS=1 cargo test --test language`. Every example on it is compiled by that test.\n\n\
         On a GPU the text goes to NVRTC as it is, so there the language is NVIDIA's.\n",
    );
    heading(&mut out, "Constructs");
    for (group, constructs) in SUPPORTED {
        let _ = write!(out, "\n### {group}\n\n");
        for construct in *constructs {
            let _ = writeln!(out, "- {}", construct.what);
            example(&mut out, construct.example);
        }
    }
    heading(&mut out, "Outside the language");
    out.push_str("\nEach is a diagnostic of its own (`WB0401`) that says what to write instead.\n\n");
    for construct in OUTSIDE {
        let _ = writeln!(out, "- {}", construct.what);
    }
    out.push_str("\nNames that are known but not supported:\n\n| name | what it is | instead |\n|---|---|---|\n");
    for advice in builtins::all_unsupported().into_iter().flatten() {
        let star = if advice.prefix { "..." } else { "" };
        let _ = writeln!(out, "| `{}{star}` | {} | {} |", advice.name, advice.what, advice.help);
    }
    heading(&mut out, "Types");
    list(&mut out, "Numbers besides the language's own", builtins::type_names());
    list(&mut out, "Vectors, each with its `make_` function", builtins::vector_names());
    heading(&mut out, "Math functions");
    out.push_str("\nOverloaded by argument, and with the suffix `f` for `float`; also in `std`.\n\n");
    out.push_str("| function | arguments | what it computes |\n|---|---|---|\n");
    let mut math: Vec<(&str, MathFn)> =
        builtins::math_names().filter_map(|n| builtins::math(n).map(|(f, _)| (n, f))).collect();
    math.sort_by_key(|(name, _)| *name);
    for (name, f) in math {
        let _ = writeln!(out, "| `{name}` | {} | {} |", f.arity(), cell(f.doc()));
    }
    heading(&mut out, "Accuracy");
    out.push_str(
        "\nThe largest error of each `float` function over all 2^32 arguments (`cargo xtask ulp`): the distance from the `double` form\n\
         rounded to `float`, in ULP, and where it is first that large. The `double` forms keep CUDA's bounds against correctly rounded\n\
         results on a dense sample of the whole range (`tests/math/ulp.rs`).\n\n\
         | function | largest error (ULP) | at | CUDA's bound (ULP) |\n|---|---|---|---|\n",
    );
    for line in accuracy::lines(kept) {
        out.push_str(&line);
        out.push('\n');
    }
    heading(&mut out, "Built-in functions");
    for (group, tables) in builtins::GROUPS {
        let _ = write!(out, "\n### {group}\n\n| function | what it computes |\n|---|---|\n");
        let sigs: Vec<&builtins::Sig> = tables.iter().copied().flatten().collect();
        for same in sigs.chunk_by(|a, b| a.doc == b.doc) {
            // The first overload of a name stands for all.
            let mut shown = BTreeSet::new();
            let first = same.iter().filter(|sig| shown.insert(sig.name));
            let declarations: Vec<String> = first.map(|sig| format!("`{}`", cell(&sig.declaration()))).collect();
            let _ = writeln!(out, "| {} | {} |", declarations.join("<br>"), cell(same[0].doc));
        }
    }
    heading(&mut out, "Predefined macros");
    out.push_str("\nBuiltins of the compiler and numbers of its headers among them.\n\n");
    let macros: Vec<String> = preprocess::headers::macros().map(|name| format!("`{name}`")).collect();
    let _ = writeln!(out, "{}", macros.join(", "));
    heading(&mut out, "From the library");
    out.push_str("\nWritten in CUDA C++ (`workbench/library/`), read where a text mentions them.\n");
    for part in crate::library::all() {
        let names = declared(part);
        if names.is_empty() {
            continue;
        }
        let title = part.name.trim_matches(['<', '>']);
        list(&mut out, &format!("`{title}`"), names.iter().map(String::as_str));
    }
    heading(&mut out, "Headers");
    out.push_str("\nTheir vocabulary is built in, or refused name by name where it is used; any other `<header>` is left out with a warning.\n\n");
    let headers: Vec<String> = preprocess::headers::names().map(|h| format!("`{h}`")).collect();
    let _ = writeln!(out, "{}", headers.join(", "));
    heading(&mut out, "Diagnostics");
    out.push_str("\n| code | meaning |\n|---|---|\n");
    for code in Code::ALL {
        let _ = writeln!(out, "| `{}` | {} |", code.id(), cell(code.explain()));
    }
    out
}

fn heading(out: &mut String, text: &str) {
    let _ = write!(out, "\n## {text}\n");
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn example(out: &mut String, text: &str) {
    out.push_str("  ```cuda\n");
    for line in text.lines().flat_map(declarations) {
        let _ = writeln!(out, "  {line}");
    }
    out.push_str("  ```\n");
}

/// A line cut where a declaration ends.
fn declarations(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (i, c) in line.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(c, '}' | ';') && line[i + 1..].starts_with(' ') {
            out.push(line[start..=i].trim_start());
            start = i + 1;
        }
    }
    out.push(line[start..].trim_start());
    out
}

fn list<'a>(out: &mut String, title: &str, names: impl Iterator<Item = &'a str>) {
    let names: Vec<String> = names.map(|n| format!("`{n}`")).collect();
    let _ = write!(out, "\n{title}: {}.\n", names.join(", "));
}

/// The names that a text of the library declares, qualified, without those that are only for itself.
fn declared(part: &crate::library::Part) -> BTreeSet<String> {
    let mut sources = SourceMap::default();
    let mut interner = Interner::default();
    let mut diags = Vec::new();
    let file = sources.add(part.name, part.text);
    // Some parts build on others; what they only mention does not matter here.
    let options = Options::default();
    let tokens = preprocess::preprocess(&mut sources, file, &options, &mut interner, &mut diags).tokens;
    let unit = parser::parse(tokens, &mut interner, &mut diags);
    let mut names = BTreeSet::new();
    walk(&unit.items, "", &interner, &mut names);
    names
}

fn walk(items: &[Item], path: &str, interner: &Interner, names: &mut BTreeSet<String>) {
    for item in items {
        let declared: Vec<&str> = match item {
            Item::Function(f) if f.name.parts.len() == 1 => vec![interner.name(f.name.last().name)],
            Item::Struct(s) => {
                s.name.iter().filter(|n| n.parts.len() == 1).map(|n| interner.name(n.last().name)).collect()
            }
            Item::Alias(a) => vec![interner.name(a.name.name)],
            Item::Variables(d) => d.vars.iter().map(|v| interner.name(v.name.name)).collect(),
            Item::Namespace(n) => {
                let name = n.name.map_or("", |i| interner.name(i.name));
                // Names that the parts are made of are not for texts to use.
                if name != "detail" && !name.starts_with("__wb") {
                    walk(&n.items, &format!("{path}{name}::"), interner, names);
                }
                continue;
            }
            _ => continue,
        };
        // Names with underscores before them are our own where they stand in a namespace.
        let own = |name: &&str| {
            name.contains("__wb_") || name.starts_with("operator") || (!path.is_empty() && name.starts_with("__"))
        };
        names.extend(declared.iter().filter(|n| !own(n)).map(|n| format!("{path}{n}")));
    }
}

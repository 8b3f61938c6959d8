//! The front end: `.cu` text to IR. Lex, preprocess, parse, resolve and type, lower.
//!
//! Nothing stops at the first error: every stage collects diagnostics, and [`compile`] returns all of them with whatever
//! module could be made. The module is whole exactly when no diagnostic is an error.

pub mod ast;
pub mod builtins;
pub mod lexer;
pub mod lower;
pub mod parser;
pub mod preprocess;
pub mod types;

pub use lower::nearest;

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::ir::Module;
use crate::source::SourceMap;

/// What a compilation is told besides the text.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Macros: name and replacement (`-DN=4` is `("N", "4")`, `-DN` is `("N", "1")`); function-like ones as `("F(x)", "x+1")`.
    pub defines: Vec<(String, String)>,
    /// User headers by the name they are included as.
    pub headers: BTreeMap<String, String>,
}

/// Compiles one text. `name` is what messages call it; `sources` receives it and every header it includes.
pub fn compile(sources: &mut SourceMap, name: &str, text: &str, options: &Options) -> (Module, Vec<Diagnostic>) {
    let mut diags = Vec::new();
    let mut interner = ast::Interner::default();
    let file = sources.add(name, text);
    let made = preprocess::preprocess(sources, file, options, &mut interner, &mut diags);
    let unit = parser::parse(made.tokens, &mut interner, &mut diags);
    let module = lower::lower(&unit, sources, &interner, &mut diags);
    preprocess::uses::explain(&mut diags, made.uses, &interner);
    (module, diags)
}

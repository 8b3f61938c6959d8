//! Names that need no declaration: CUDA's functions, variables and types, and the words of the language, each with its meaning in a sentence.

use super::answers::{Completion, Hover, Signature, SignatureHelp};
use crate::front::builtins;
use crate::front::cursor::NameKind;
use crate::front::lexer::TokenKind;
use crate::front::preprocess::headers;
use crate::front::{Options, builtins::NamedType};
use crate::once::Once;
use std::ops::Range;

/// A name that needs no declaration.
#[derive(Debug)]
pub struct Known {
    name: String,
    kind: NameKind,
    declarations: Vec<String>,
    documentation: String,
}

impl Known {
    fn new(name: &str, kind: NameKind, declarations: Vec<String>, documentation: &str) -> Self {
        Known { name: name.to_owned(), kind, declarations, documentation: sentence(documentation) }
    }

    fn completion(&self) -> Completion {
        let declaration = self.declarations.first().cloned().unwrap_or_default();
        let (name, documentation) = (self.name.clone(), self.documentation.clone());
        Completion { name, kind: self.kind, declaration, documentation }
    }

    /// Its meaning, at a place of the text.
    pub fn hover(&self, range: Range<usize>) -> Hover {
        let (declarations, documentation) = (self.declarations.clone(), self.documentation.clone());
        Hover { range, kind: self.kind, declarations, documentation, declared: None }
    }
}

/// Variables of every thread.
const VARIABLES: &[(&str, &str, &str)] = &[
    ("threadIdx", "const uint3 threadIdx", "the place of the thread in its block"),
    ("blockIdx", "const uint3 blockIdx", "the place of the block in the grid"),
    ("blockDim", "const dim3 blockDim", "the number of threads of a block in each dimension"),
    ("gridDim", "const dim3 gridDim", "the number of blocks of the grid in each dimension"),
    ("warpSize", "const int warpSize", "the number of threads of a warp: 32"),
];

/// Functions besides those of the tables.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("printf", "int printf(const char* format, ...)", "prints into the cell; the texts of a block come together"),
    (
        "assert",
        "void assert(bool condition)",
        "stops the launch where the condition is false, and names line and thread",
    ),
    ("__trap", "void __trap()", "stops the launch"),
];

/// Words of CUDA.
const WORDS: &[(&str, &str)] = &[
    ("__global__", "a kernel: launched by the host, run by the threads of a grid; its result is `void`"),
    ("__device__", "a function or a variable of the device"),
    ("__host__", "a function of the host; with `__device__` it is for both"),
    ("__shared__", "a variable that the threads of a block share"),
    ("__constant__", "a variable that kernels only read and the host sets"),
    ("__managed__", "a variable that host and device both use"),
    ("__restrict__", "nothing else points at what this pointer points at"),
    ("__forceinline__", "the function is always inlined"),
    ("__noinline__", "the function is not inlined"),
    ("__launch_bounds__", "the most threads of a block that the kernel is launched with"),
];

/// Words of directives.
const DIRECTIVES: &[(&str, &str)] = &[
    ("define", "defines a macro"),
    ("include", "reads a header"),
    ("if", "reads what follows if a condition holds"),
    ("ifdef", "reads what follows if a macro is defined"),
    ("ifndef", "reads what follows if a macro is not defined"),
    ("elif", "reads what follows if nothing before was read and a condition holds"),
    ("else", "reads what follows if nothing before was read"),
    ("endif", "ends an `#if`"),
    ("undef", "makes a macro undefined"),
    ("error", "stops with a message"),
    ("pragma", "`#pragma unroll`, `#pragma once`"),
];

/// A text of a table as a sentence: `x` or a formula at its start stays as it is.
fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let is_word = text
        .split(' ')
        .next()
        .is_some_and(|word| word == "a" || word.len() > 1 && word.chars().all(char::is_alphabetic));
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if is_word => first.to_uppercase().chain(chars).chain(".".chars()).collect(),
        Some(_) => format!("{text}."),
        None => String::new(),
    }
}

/// The whole catalogue, by name.
static ALL: Once<Vec<Known>> = Once::new(|| {
    let mut all: Vec<Known> = Vec::new();
    for (name, declaration, doc) in VARIABLES {
        all.push(Known::new(name, NameKind::Variable, vec![(*declaration).to_owned()], doc));
    }
    for (name, declaration, doc) in FUNCTIONS {
        all.push(Known::new(name, NameKind::Function, vec![(*declaration).to_owned()], doc));
    }
    for sig in builtins::GROUPS.iter().flat_map(|(_, tables)| tables.iter().copied().flatten()) {
        match all.iter_mut().find(|known| known.name == sig.name) {
            Some(known) => known.declarations.push(sig.declaration()),
            None => all.push(Known::new(sig.name, NameKind::Function, vec![sig.declaration()], sig.doc)),
        }
    }
    for (name, (function, _)) in builtins::math_names().filter_map(|name| Some((name, builtins::math(name)?))) {
        let declaration = |ty: &str, name: &str| format!("{ty} {name}({})", vec![ty; function.arity()].join(", "));
        let float = format!("{name}f");
        let both = vec![declaration("float", name), declaration("double", name)];
        all.push(Known::new(&float, NameKind::Function, vec![declaration("float", &float)], function.doc()));
        all.push(Known::new(name, NameKind::Function, both, function.doc()));
    }
    for vector in builtins::vector_names().filter_map(builtins::vector) {
        let (name, num) = (vector.name, vector.num.name());
        let components = &["x", "y", "z", "w"][..vector.len as usize];
        let fields = components.join(", ");
        let doc = format!("{} of {num}, aligned to {} bytes", count(vector.len), vector.align);
        all.push(Known::new(name, NameKind::Type, vec![format!("struct {name} {{ {num} {fields}; }}")], &doc));
        let params = components.iter().map(|c| format!("{num} {c}")).collect::<Vec<_>>().join(", ");
        let make = format!("make_{name}");
        let declaration = format!("{name} {make}({params})");
        all.push(Known::new(
            &make,
            NameKind::Function,
            vec![declaration],
            &format!("makes a `{name}` of its components"),
        ));
    }
    for name in builtins::type_names() {
        let declaration = match builtins::named_type(name) {
            Some(NamedType::Num(num)) => format!("using {name} = {}", num.name()),
            _ => format!("using {name} = decltype(nullptr)"),
        };
        all.push(Known::new(name, NameKind::Type, vec![declaration], ""));
    }
    let dim3 = "struct dim3 { unsigned x = 1, y = 1, z = 1; }";
    all.push(Known::new("dim3", NameKind::Type, vec![dim3.to_owned()], "the extent of a grid or a block"));
    for (word, doc) in WORDS {
        all.push(Known::new(word, NameKind::Keyword, Vec::new(), doc));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.dedup_by(|a, b| a.name == b.name);
    all
});

fn count(components: u32) -> String {
    if components == 1 { "one component".to_owned() } else { format!("{components} components") }
}

/// The entry of a name.
pub fn of(name: &str) -> Option<&'static Known> {
    let all: &'static [Known] = &ALL;
    all.binary_search_by(|known| known.name.as_str().cmp(name)).ok().map(|at| &all[at])
}

/// Every entry.
pub fn all() -> Vec<Completion> {
    ALL.iter().map(Known::completion).collect()
}

/// The entries that are in `std` as well.
pub fn of_std() -> Vec<Completion> {
    let is_there = |known: &&Known| {
        let name = known.name.as_str();
        let is_type = builtins::named_type(name).is_some() && name.ends_with("_t");
        is_type || builtins::math(name).is_some() || matches!(name, "min" | "max" | "abs" | "swap" | "printf")
    };
    ALL.iter().filter(is_there).map(Known::completion).collect()
}

/// The variables of every thread.
pub fn variables() -> Vec<Completion> {
    VARIABLES.iter().filter_map(|(name, ..)| of(name)).map(Known::completion).collect()
}

/// The words of the language.
pub fn keywords() -> Vec<Completion> {
    let cudas = WORDS.iter().filter_map(|(word, _)| of(word)).map(Known::completion);
    cudas.chain(TokenKind::words().map(|word| Completion::word(word, NameKind::Keyword))).collect()
}

/// A macro that the options define.
pub fn macro_of(name: &str, value: &str) -> Completion {
    Known::new(name, NameKind::Macro, vec![format!("#define {name} {value}")], "").completion()
}

/// The macros that need no definition.
pub fn macros() -> Vec<Completion> {
    headers::all_macros()
        .filter(|name| !name.starts_with('_'))
        .map(|name| Completion::word(name, NameKind::Macro))
        .collect()
}

/// The names of directives.
pub fn directives() -> Vec<Completion> {
    let known = DIRECTIVES.iter().map(|(name, doc)| Known::new(name, NameKind::Keyword, Vec::new(), doc));
    known.map(|known| known.completion()).collect()
}

/// The headers that a text may include.
pub fn headers(options: &Options) -> Vec<Completion> {
    let built_in = headers::names().filter(|name| !name.ends_with('/'));
    let names = options.headers.keys().map(String::as_str).chain(built_in.map(|name| -> &str { name }));
    names.map(|name| Completion::word(name, NameKind::Text)).collect()
}

/// The components of `threadIdx` and the like.
pub fn components() -> Vec<Completion> {
    ["x", "y", "z"].iter().filter_map(|name| component(name)).map(|known| known.completion()).collect()
}

/// A component of `threadIdx` and the like.
pub fn component(name: &str) -> Option<Known> {
    let is_one = matches!(name, "x" | "y" | "z");
    is_one.then(|| Known::new(name, NameKind::Field, vec![format!("unsigned int {name}")], ""))
}

/// Help for what stands between `<<<` and `>>>`.
pub fn launch(argument: usize) -> SignatureHelp {
    let declaration = "<<<dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0>>>";
    let parts = ["dim3 grid", "dim3 block", "size_t shared_bytes = 0", "cudaStream_t stream = 0"];
    let place = |part: &str| declaration.find(part).map(|at| at..at + part.len());
    let parameters = parts.iter().filter_map(|part| place(part)).collect();
    SignatureHelp {
        signatures: vec![Signature { declaration: declaration.to_owned(), parameters }],
        documentation: "The blocks of the grid, the threads of a block, and the bytes of dynamic shared memory."
            .to_owned(),
        active_signature: 0,
        active_parameter: argument,
    }
}

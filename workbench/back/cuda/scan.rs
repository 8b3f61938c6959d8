//! Kernel signatures by a lexical scan, for texts that only NVRTC understands.

use std::collections::BTreeMap;

use super::lex::{self, Item, Kind, Shape, Token, Words};
use crate::ir::{Elem, FuncKind, Function, Module, Param, ParamType, Scalar};
use crate::source::{FileId, Span};

/// A kernel as its text declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The name without namespaces.
    pub name: String,
    /// The name with them.
    pub qualified: String,
    /// Its parameters, or one sentence about the parameter that a launch cannot pass.
    pub params: Result<Vec<Param>, String>,
    /// True if it is a template, which only has code where it is instantiated.
    pub template: bool,
    /// The name in the text.
    pub span: Span,
}

/// The kernels of a text that only NVRTC understands, as a module without bodies: enough to bind a launch's arguments.
/// Kernels whose parameters a launch cannot pass, and templates, are left out; [`super::Code::unlaunchable`] says why.
pub fn declarations(text: &str) -> Module {
    let words = super::emit::words(text, &BTreeMap::new(), &[]);
    let mut module = Module::default();
    for kernel in kernels(text, FileId(0), &words) {
        if let (Ok(params), false) = (kernel.params, kernel.template) {
            module.functions.push(Function { params, ..Function::new(kernel.name, FuncKind::Kernel, kernel.span) });
        }
    }
    module
}

/// The kernels that a text declares, each once, in text order.
pub(super) fn kernels(text: &str, file: FileId, words: &Words) -> Vec<Signature> {
    let tokens = lex::tokens(text);
    let mut scopes: Vec<String> = Vec::new();
    let mut aliases = BTreeMap::new();
    let mut out: Vec<Signature> = Vec::new();
    for item in lex::items(text, &tokens, words) {
        let header = &tokens[item.header.clone()];
        match &item.shape {
            Shape::Open(name) => scopes.push(name.clone()),
            Shape::Close => {
                scopes.pop();
            }
            Shape::Directive | Shape::Other => note_alias(text, header, &mut aliases),
            Shape::Function => {
                if let Some(kernel) = kernel(text, &tokens, &item, file, words, &scopes, &aliases)
                    && !out.iter().any(|k| k.qualified == kernel.qualified)
                {
                    out.push(kernel);
                }
            }
            Shape::MacroUse => {}
        }
    }
    out
}

/// Remembers `typedef X name;`, `using name = X;` and `#define name X`.
fn note_alias(text: &str, tokens: &[Token], aliases: &mut BTreeMap<String, String>) {
    let words = |tokens: &[Token]| tokens.iter().map(|t| t.text(text)).collect::<Vec<_>>().join(" ");
    match tokens {
        [one] if one.kind == Kind::Directive => {
            if let Some((name, body)) = lex::directive(one.text(text), "define").and_then(|d| d.trim().split_once(' '))
            {
                aliases.insert(name.to_owned(), body.trim().to_owned());
            }
        }
        [typedef, middle @ .., name, _] if typedef.text(text) == "typedef" => {
            aliases.insert(name.text(text).to_owned(), words(middle));
        }
        [using, name, equals, rest @ .., _] if using.text(text) == "using" && equals.is(b'=') => {
            aliases.insert(name.text(text).to_owned(), words(rest));
        }
        _ => {}
    }
}

fn kernel(
    text: &str,
    tokens: &[Token],
    item: &Item,
    file: FileId,
    words: &Words,
    scopes: &[String],
    aliases: &BTreeMap<String, String>,
) -> Option<Signature> {
    let header = item.header.clone();
    let ident = |i: usize| (tokens[i].kind == Kind::Ident).then(|| tokens[i].text(text));
    let start = header.clone().find(|&i| ident(i).is_some_and(|name| words.is_kernel(name)))?;
    // The parameter list is the first one after a name that is no attribute.
    let mut i = start;
    let (name, at, open, close) = loop {
        let open = (i..header.end).find(|&i| tokens[i].is(b'('))?;
        let close = lex::closing(text, tokens, open);
        let before = open.checked_sub(1).filter(|&b| b > start)?;
        match ident(before) {
            Some(word) if lex::ATTRIBUTES.contains(&word) => i = close,
            Some(name) => break (name, before, open, close),
            None => return None,
        }
    };
    let scope: Vec<&str> = scopes.iter().map(String::as_str).filter(|s| !s.is_empty()).collect();
    let qualified = scope.into_iter().chain([name]).collect::<Vec<_>>().join("::");
    let span = Span::new(file, tokens[at].start as u32, tokens[at].end as u32);
    let params = split_params(&tokens[open + 1..close.max(open + 2) - 1])
        .into_iter()
        .enumerate()
        .map(|(index, param)| parameter(text, param, index, file, name, aliases))
        .collect();
    let template = header.clone().any(|i| ident(i) == Some("template"));
    Some(Signature { name: name.to_owned(), qualified, params, template, span })
}

/// The tokens of each parameter; `()` and `(void)` have none.
fn split_params(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut out, mut depth, mut from) = (Vec::new(), 0usize, 0);
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Punct(b'(' | b'[' | b'{' | b'<') => depth += 1,
            Kind::Punct(b')' | b']' | b'}' | b'>') => depth = depth.saturating_sub(1),
            Kind::Punct(b',') if depth == 0 => {
                out.push(&tokens[from..i]);
                from = i + 1;
            }
            _ => {}
        }
    }
    out.push(&tokens[from..]);
    out.retain(|p| !p.is_empty());
    out
}

fn parameter(
    text: &str,
    tokens: &[Token],
    index: usize,
    file: FileId,
    kernel: &str,
    aliases: &BTreeMap<String, String>,
) -> Result<Param, String> {
    let end = tokens.iter().position(|t| t.is(b'=')).unwrap_or(tokens.len());
    let (first, last) = (&tokens[0], &tokens[tokens.len() - 1]);
    let span = Span::new(file, first.start as u32, last.end as u32);
    let mut words: Vec<&str> = Vec::new();
    for token in &tokens[..end] {
        match token.text(text) {
            "__restrict__" | "__restrict" | "restrict" | "volatile" | "__grid_constant__" | "typename" => {}
            word => words.push(word),
        }
    }
    // `float x[]` is `float* x`.
    let mut name = None;
    if let Some(bracket) = words.iter().position(|&w| w == "[") {
        words.truncate(bracket);
        name = words.pop();
        words.push("*");
    } else if let Some(last) = words.last().copied()
        && !matches!(last, "*" | "const" | "&")
        && (words.len() > 1 && type_of(&words, aliases).is_none())
    {
        name = words.pop();
    }
    let spelled = || text[first.start..last.end].to_owned();
    let label = name.map_or_else(|| format!("arg{index}"), str::to_owned);
    match type_of(&words, aliases) {
        Some(ty) => Ok(Param::new(label, ty, span)),
        None => Err(format!(
            "parameter `{}` of kernel `{kernel}` has a type a launch cannot pass; pass scalars and pointers to scalars",
            spelled()
        )),
    }
}

/// The parameter type that a run of words spells.
fn type_of(words: &[&str], aliases: &BTreeMap<String, String>) -> Option<ParamType> {
    // An alias may name another alias; a longer chain than this is a cycle.
    let mut words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
    for _ in 0..16 {
        let Some(at) = words.iter().position(|w| aliases.contains_key(w)) else { break };
        let expansion: Vec<String> =
            aliases[&words[at]].replace('*', " * ").split_whitespace().map(str::to_owned).collect();
        words.splice(at..=at, expansion);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| !matches!(*w, "std" | ":" | "struct")).collect();
    let stars = words.iter().filter(|&&w| w == "*").count();
    let first_star = words.iter().position(|&w| w == "*").unwrap_or(words.len());
    let base: Vec<&str> = words[..first_star].iter().copied().filter(|&w| w != "const").collect();
    let is_const = words[..first_star].contains(&"const");
    if words[first_star..].iter().any(|w| !matches!(*w, "*" | "const")) {
        return None;
    }
    match stars {
        0 => scalar(&base).map(ParamType::Scalar),
        1 if base == ["void"] => Some(ParamType::Ptr { elem: None, is_const }),
        1 => elem(&base).map(|e| ParamType::Ptr { elem: Some(e), is_const }),
        _ => None,
    }
}

/// The element type of an array, from its C spelling.
fn elem(words: &[&str]) -> Option<Elem> {
    match words {
        ["__half" | "half" | "__half2" | "half2" | "Half"] => Some(Elem::F16),
        ["__nv_bfloat16" | "nv_bfloat16" | "__nv_bfloat162" | "nv_bfloat162" | "BFloat16"] => Some(Elem::BF16),
        ["at" | "c10" | "torch", ":", ":", rest @ ..] => elem(rest),
        ["at" | "c10" | "torch", rest @ ..] if !rest.is_empty() => elem(rest),
        _ => scalar(words).map(Elem::from),
    }
}

/// The scalar of a C spelling, its words in any order.
fn scalar(words: &[&str]) -> Option<Scalar> {
    let named = match words {
        ["float"] => Some(Scalar::F32),
        ["double"] => Some(Scalar::F64),
        ["bool"] => Some(Scalar::Bool),
        ["int8_t"] => Some(Scalar::I8),
        ["uint8_t"] => Some(Scalar::U8),
        ["int16_t"] => Some(Scalar::I16),
        ["uint16_t" | "ushort"] => Some(Scalar::U16),
        ["int32_t"] => Some(Scalar::I32),
        ["uint32_t" | "uint"] => Some(Scalar::U32),
        ["int64_t" | "ptrdiff_t" | "intptr_t"] => Some(Scalar::I64),
        ["uint64_t" | "size_t" | "uintptr_t"] => Some(Scalar::U64),
        _ => None,
    };
    if named.is_some() {
        return named;
    }
    let count = |word: &str| words.iter().filter(|&&w| w == word).count();
    let known = ["signed", "unsigned", "char", "short", "int", "long"];
    if words.is_empty() || words.iter().any(|w| !known.contains(w)) {
        return None;
    }
    let unsigned = count("unsigned") == 1;
    match (count("char"), count("short"), count("long"), count("int")) {
        (1, 0, 0, 0) => Some(if unsigned { Scalar::U8 } else { Scalar::I8 }),
        (0, 1, 0, 0 | 1) => Some(if unsigned { Scalar::U16 } else { Scalar::I16 }),
        (0, 0, 1 | 2, 0 | 1) => Some(if unsigned { Scalar::U64 } else { Scalar::I64 }),
        (0, 0, 0, 0 | 1) => Some(if unsigned { Scalar::U32 } else { Scalar::I32 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Vec<Signature> {
        let words = super::super::emit::words(text, &BTreeMap::new(), &[]);
        kernels(text, FileId(0), &words)
    }

    fn types(text: &str) -> Vec<ParamType> {
        scan(text)[0].params.clone().unwrap().into_iter().map(|p| p.ty).collect()
    }

    #[test]
    fn parameters_are_read_by_their_c_spelling() {
        let ptr = |elem: Option<Scalar>, is_const| ParamType::Ptr { elem: elem.map(Elem::from), is_const };
        assert_eq!(
            types(
                "typedef float real; using index = unsigned long long;\n__global__ void __launch_bounds__(256, 2) k(\n\
                 const float* __restrict__ a, real *b, long int n, index m, unsigned, double x[], float const * const c, \
                 const void* v, bool flag, std::int32_t z, const int w = 3) {}"
            ),
            [
                ptr(Some(Scalar::F32), true),
                ptr(Some(Scalar::F32), false),
                ParamType::Scalar(Scalar::I64),
                ParamType::Scalar(Scalar::U64),
                ParamType::Scalar(Scalar::U32),
                ptr(Some(Scalar::F64), false),
                ptr(Some(Scalar::F32), true),
                ptr(None, true),
                ParamType::Scalar(Scalar::Bool),
                ParamType::Scalar(Scalar::I32),
                ParamType::Scalar(Scalar::I32),
            ]
        );
        let names: Vec<String> = scan("__global__ void k(int n, float*, float* x[2], const float y[])")[0]
            .params
            .clone()
            .unwrap_or_default()
            .into_iter()
            .map(|p| p.name)
            .collect();
        assert!(names.is_empty(), "a pointer to pointers is no parameter of a launch: {names:?}");
    }

    #[test]
    fn names_carry_their_namespaces_and_templates_are_marked() {
        let text = "namespace a { namespace b { extern \"C\" __global__ void k() {} } }\n#define K __global__ void\nK j(void);\n\
                    template <typename T> __global__ void t(T* x) {}\n__device__ void d();";
        let found: Vec<(String, bool)> = scan(text).into_iter().map(|k| (k.qualified, k.template)).collect();
        assert_eq!(found, [("a::b::k".to_owned(), false), ("j".to_owned(), false), ("t".to_owned(), true)]);
    }

    #[test]
    fn a_type_a_launch_cannot_pass_is_named() {
        let message = scan("__global__ void k(float4* v) {}")[0].params.clone().unwrap_err();
        assert!(message.starts_with("parameter `float4* v` of kernel `k`"), "{message}");
    }
}

//! Inline PTX: an `asm` statement whose instructions are understood ([`translate`]) becomes the C++ that means the same, token for token, before
//! the text is parsed. Its operands keep their own tokens, so what is wrong with one is told of where it stands. Any other stays, and is
//! refused by the parser, which asks here what it is about it.
//!
//! ```text
//! asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
//! { auto& __wb_o0 = (y); float __wb_a0; const auto __wb_a1 = __wb_ptx::given<float>(x); __wb_ptx::put(__wb_a0, ...); __wb_ptx::give(__wb_o0, __wb_a0); }
//! ```
//!
//! An `asm` statement becomes a block with a variable for each operand and a statement for each instruction, whose tokens stand where the
//! `asm` stood. A pointer stays a pointer, so what is loaded through it is checked as any access. `cp.async` copies at once; `mma.sync` is
//! shuffles and sums (`library/ptx_matrix.cuh`).

mod translate;

use super::ast::Interner;
use super::lexer::{self, Flags, Keyword, Token, TokenKind};
use crate::library::PTX_NAMESPACE as NAMESPACE;
use crate::source::{FileId, Span};

/// One operand of an `asm` statement.
struct Operand {
    /// Name, for `%[name]`.
    name: String,
    /// The letters of its constraint, `=f`.
    constraint: String,
    /// Expression.
    tokens: Vec<Token>,
}

/// Parts between the parentheses of an `asm` statement.
struct Statement {
    template: String,
    outputs: Vec<Operand>,
    inputs: Vec<Operand>,
    /// Number of tokens that it takes, with its `;`.
    length: usize,
}

/// Puts C++ in the place of every `asm` statement that is understood.
pub fn rewrite(tokens: &mut Vec<Token>, interner: &mut Interner) {
    let is_asm = |token: &Token| token.kind == TokenKind::Keyword(Keyword::Asm);
    if !tokens.iter().any(is_asm) {
        return;
    }
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if is_asm(&tokens[at])
            && let Some(statement) = read(&tokens[at..], interner)
            && let Ok(made) = write(&statement, tokens[at].span, interner)
        {
            out.extend(made);
            at += statement.length;
            continue;
        }
        out.push(tokens[at]);
        at += 1;
    }
    *tokens = out;
}

/// The reason why the `asm` statement at the start of some tokens is not understood.
pub fn refusal(tokens: &[Token], interner: &Interner) -> Option<String> {
    let statement = read(tokens, interner)?;
    translation(&statement).err()
}

/// Reads `asm volatile ("..." : "=r"(x) : "r"(y) : "memory");`
fn read(tokens: &[Token], interner: &Interner) -> Option<Statement> {
    let mut at = 1;
    let kind = |at: usize| tokens.get(at).map(|t| t.kind);
    let word = |at: usize| match tokens.get(at) {
        Some(token) if token.kind.has_symbol() => interner.name(token.symbol),
        _ => "",
    };
    while matches!(word(at), "volatile" | "__volatile__" | "__volatile") {
        at += 1;
    }
    if kind(at)? != TokenKind::LParen {
        return None;
    }
    at += 1;
    let template = strings(tokens, &mut at, interner)?;
    let mut lists: [Vec<Operand>; 2] = [Vec::new(), Vec::new()];
    let mut list = 0usize;
    loop {
        match kind(at)? {
            TokenKind::RParen => break,
            TokenKind::Colon => list += 1,
            TokenKind::ColonColon => list += 2,
            TokenKind::Comma => {}
            // The list of registers and memory that the text overwrites besides.
            _ if list > 2 => {
                strings(tokens, &mut at, interner)?;
                continue;
            }
            _ => {
                let mut name = String::new();
                if kind(at)? == TokenKind::LBracket {
                    word(at + 1).clone_into(&mut name);
                    at += 3;
                }
                let constraint = strings(tokens, &mut at, interner)?;
                if kind(at)? != TokenKind::LParen {
                    return None;
                }
                let (from, mut depth) = (at + 1, 0);
                loop {
                    match kind(at)? {
                        TokenKind::LParen => depth += 1,
                        TokenKind::RParen => depth -= 1,
                        TokenKind::Eof => return None,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    at += 1;
                }
                let operand = Operand { name, constraint, tokens: tokens[from..at].to_vec() };
                lists.get_mut(list.checked_sub(1)?)?.push(operand);
            }
        }
        at += 1;
    }
    if kind(at + 1)? != TokenKind::Semi {
        return None;
    }
    let [outputs, inputs] = lists;
    Some(Statement { template, outputs, inputs, length: at + 2 })
}

/// Neighbouring string literals as one.
fn strings(tokens: &[Token], at: &mut usize, interner: &Interner) -> Option<String> {
    let mut bytes = Vec::new();
    let from = *at;
    while let Some(token) = tokens.get(*at).filter(|t| t.kind == TokenKind::Str) {
        lexer::literal::string(interner.name(token.symbol), &mut bytes).ok()?;
        *at += 1;
    }
    if *at == from {
        return None;
    }
    String::from_utf8(bytes).ok()
}

/// The type of an operand's variable; `auto` where an address may stand.
fn operand_type(operand: &Operand) -> Option<&'static str> {
    Some(match operand.constraint.trim_start_matches(['=', '+']).trim_start_matches('&') {
        "r" => "unsigned",
        "l" => "unsigned long long",
        "f" => "float",
        "d" => "double",
        "h" => "unsigned short",
        "n" => "int",
        _ => return None,
    })
}

/// The statements that the instructions mean, on variables `__wb_a0` and so on.
fn translation(statement: &Statement) -> Result<String, String> {
    let all: Vec<&Operand> = statement.outputs.iter().chain(&statement.inputs).collect();
    for operand in &all {
        if operand_type(operand).is_none() {
            return Err(format!("an operand of constraint \"{}\"", operand.constraint));
        }
    }
    let is_output = |operand: &Operand| operand.constraint.starts_with(['=', '+']);
    if let Some(wrong) = statement.outputs.iter().find(|operand| !is_output(operand)) {
        return Err(format!("an output of constraint \"{}\", which begins with neither = nor +", wrong.constraint));
    }
    if let Some(wrong) = statement.inputs.iter().find(|operand| is_output(operand)) {
        return Err(format!("an input of constraint \"{}\"", wrong.constraint));
    }
    let names: Vec<&str> = all.iter().map(|operand| operand.name.as_str()).collect();
    translate::statements(&statement.template, &names, statement.outputs.len())
}

/// The tokens that take the place of a statement.
fn write(statement: &Statement, span: Span, interner: &mut Interner) -> Result<Vec<Token>, String> {
    let body = translation(statement)?;
    let mut out = Vec::new();
    let ours = |text: &str, out: &mut Vec<Token>, interner: &mut Interner| {
        let tokens = lexer::lex(text, FileId(u32::MAX), interner);
        let place = |token: Token| {
            let kind = match token.kind {
                TokenKind::Ident => TokenKind::of_word(interner.name(token.symbol)),
                kind => kind,
            };
            Token { kind, span, flags: Flags::FROM_MACRO, ..token }
        };
        out.extend(tokens.into_iter().filter(|t| t.kind != TokenKind::Eof).map(place));
    };
    ours("{", &mut out, interner);
    for (i, operand) in statement.outputs.iter().enumerate() {
        let ty = operand_type(operand).unwrap_or("int");
        // The place of an output is found once, before anything is written.
        ours(&format!("auto& __wb_o{i} = ("), &mut out, interner);
        out.extend(&operand.tokens);
        let start = if operand.constraint.starts_with('+') {
            format!(" = {NAMESPACE}::given<{ty}>(__wb_o{i})")
        } else {
            String::new()
        };
        ours(&format!("); {ty} __wb_a{i}{start};"), &mut out, interner);
    }
    for (i, operand) in (statement.outputs.len()..).zip(&statement.inputs) {
        let call = match operand_type(operand).unwrap_or("int") {
            // A pointer stays one: memory that is read through it is checked by where it came from.
            "unsigned long long" => "address".to_owned(),
            ty => format!("given<{ty}>"),
        };
        ours(&format!("const auto __wb_a{i} = {NAMESPACE}::{call}("), &mut out, interner);
        out.extend(&operand.tokens);
        ours(");", &mut out, interner);
    }
    ours(&body, &mut out, interner);
    for i in 0..statement.outputs.len() {
        ours(&format!("{NAMESPACE}::give(__wb_o{i}, __wb_a{i});"), &mut out, interner);
    }
    ours("}", &mut out, interner);
    Ok(out)
}

//! Pruning: declarations that the kernels of a text can do without are taken out of it.
//!
//! A text from a repository holds more than its kernels: host classes, launchers, variants of helpers for hardware whose
//! instructions are not supported. Where such a declaration fails for a reason that is ours (it is *not supported*) and no
//! kernel needs it, the text is read once more without it, and a warning says so. What is needed is found by name, which
//! errs on the safe side: a kernel needs every declaration of every name that it mentions, and so on from there.
//! Operators are used without being named, so they always count as needed; so do the special members of a class that is.
//! A function with overloads is not needed if no call chooses it, once calls have chosen among all of them.
//!
//! Mistakes stay errors, in host code that no kernel needs too (`host_errors.rs`). If an error remains that follows from a pruned
//! declaration, the reason for the pruning is reported in its place.
//!
//! Reading again costs time only where something is not supported. What comes out is a text that was compiled without the
//! declaration: nothing broken is ever left behind.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::ops::Range;

use super::ast::{Interner, Symbol};
use super::host_errors::{BEGINNINGS, HostErrors, LIBRARIES};
use super::lexer::{Keyword as K, Token, TokenKind as T};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// Number of times that a text is read again at most: what needs what was left out is left out, too.
pub(super) const MAX_ROUNDS: usize = 12;

/// Warnings about single declarations; the rest is counted.
const MAX_WARNINGS: usize = 6;

/// A declaration of a text.
#[derive(Debug)]
struct TextDeclaration {
    /// Tokens: from, and up to.
    start: usize,
    end: usize,
    /// Start of the body of a function, or of the members of a class; `end` without any.
    body: usize,
    /// Tokens that calls of a function choose it by: its parameters, or the type that a conversion gives. Empty for anything else.
    chosen_by: Range<usize>,
    /// The names it declares.
    names: Vec<Symbol>,
    /// The class that it is a member of.
    class: Option<usize>,
    /// A kernel, other than a template.
    kernel: bool,
    /// Used without being named.
    unnamed: bool,
    /// A template.
    template: bool,
    /// It holds something of the device.
    device: bool,
    /// A function: what it declares can be overloaded.
    function: bool,
}

/// Declaration that was left out, and why.
#[derive(Debug)]
struct PrunedDeclaration {
    names: Vec<Symbol>,
    /// It is a member of a class.
    is_member: bool,
    /// Names that it mentions of what else was left out.
    needs: Vec<Symbol>,
    /// Error that it had.
    error: Diagnostic,
}

/// Findings of a compilation about a text.
pub(super) struct CompileFindings<'a> {
    /// Messages.
    pub diags: &'a [Diagnostic],
    /// Names of templates whose instances are asked for.
    pub wanted: &'a HashSet<Symbol>,
    /// The places of host functions that can be called.
    pub host: &'a [Span],
    /// Places of functions that something calls.
    pub called: &'a [Span],
    /// Headers are missing, whose names nobody knows.
    pub lacks_headers: bool,
}

/// Declarations that were left out so far.
#[derive(Debug, Default)]
pub(super) struct Pruner {
    /// The text itself, as opposed to its headers.
    file: Option<FileId>,
    names: HashSet<Symbol>,
    gone: Vec<PrunedDeclaration>,
}

/// The declarations of a text, beside what a compilation found of each.
struct Survey<'a> {
    tokens: &'a [Token],
    facts: &'a CompileFindings<'a>,
    interner: &'a Interner,
    parts: Vec<TextDeclaration>,
    /// The span of each.
    ranges: Vec<Span>,
    /// The errors of each.
    errors: Vec<Vec<&'a Diagnostic>>,
}

/// An error whose reason is ours.
fn is_unsupported(d: &Diagnostic) -> bool {
    d.is_error() && d.code == Code::Unsupported
}

impl<'a> Survey<'a> {
    /// The survey of a text that has kernels.
    fn of(tokens: &'a [Token], facts: &'a CompileFindings<'a>, interner: &'a Interner) -> Option<Self> {
        let closers = closers(tokens);
        let mut parts = Vec::new();
        DeclarationSplitter { tokens, closers: &closers, interner, parts: &mut parts }.items(0, tokens.len() - 1);
        if !parts.iter().any(|p| tokens[p.start..p.end].iter().any(|t| t.kind == T::Keyword(K::Global))) {
            return None;
        }
        let mut errors: Vec<Vec<&Diagnostic>> = vec![Vec::new(); parts.len()];
        let ranges: Vec<Span> = parts.iter().map(|p| range(&tokens[p.start..p.end])).collect();
        for diag in facts.diags.iter().filter(|d| d.is_error()) {
            // The smallest declaration round it; what one use of a macro makes lies in one place.
            let holds = |i: &usize| contains(ranges[*i], diag.span);
            let length = |i: &usize| ranges[*i].end - ranges[*i].start;
            let smallest = (0..parts.len()).filter(holds).map(|i| length(&i)).min();
            for i in (0..parts.len()).filter(holds).filter(|i| Some(length(i)) == smallest) {
                errors[i].push(diag);
            }
        }
        // A virtual function changes what its class is: the class is refused with it.
        for i in 0..parts.len() {
            let p = &parts[i];
            if let Some(class) = p.class.filter(|&c| !parts[c].device && has_virtual(&tokens[p.start..p.body])) {
                let own: Vec<&Diagnostic> = errors[i].iter().copied().filter(|d| is_unsupported(d)).collect();
                errors[class].extend(own);
            }
        }
        Some(Survey { tokens, facts, interner, parts, ranges, errors })
    }

    /// The declarations that the kernels need, and the host code that can be called. Refused host code needs nothing, nor does code that names
    /// a variable or class of a type that is not here; `gone` are the names of pruned declarations.
    fn needed(&self, gone: &HashSet<Symbol>) -> Vec<bool> {
        let Survey { tokens, facts, interner, parts, ranges, errors } = self;
        let is_refused =
            |i: &usize| !parts[*i].function && !parts[*i].device && errors[*i].iter().any(|d| is_unsupported(d));
        let first: Vec<usize> = (0..parts.len()).filter(is_refused).collect();
        let first = first.into_iter().flat_map(|i| parts[i].names.iter().copied());
        let refused = refused(tokens, parts, first.chain(gone.iter().copied()).collect());
        let names_refused = |p: &TextDeclaration| {
            tokens[p.start..p.end].iter().any(|t| t.kind == T::Ident && refused.contains(&t.symbol))
        };
        let is_lowered =
            |(p, r): (&TextDeclaration, &Span)| facts.host.iter().any(|f| contains(*r, *f)) && !names_refused(p);
        let lowered: Vec<bool> = parts.iter().zip(ranges).map(is_lowered).collect();
        let called = |name: &Symbol| CALLED.contains(&interner.name(*name));
        let named = parts.iter().flat_map(|p| p.names.iter().copied().filter(called)).collect();
        needed(tokens, parts, errors, &lowered, facts.wanted, named)
    }

    /// One of several functions of its name, which nobody calls.
    fn is_uncalled(&self, i: usize) -> bool {
        let (p, parts) = (&self.parts[i], &self.parts);
        let is_called = self.facts.called.iter().any(|f| contains(self.ranges[i], *f));
        let other =
            |(j, q): (usize, &TextDeclaration)| j != i && q.function && self.errors[j].is_empty() && q.names == p.names;
        let plain = p.function && !p.kernel && !p.unnamed && p.class.is_none() && p.body < p.end;
        plain && !is_called && parts.iter().enumerate().any(other)
    }
}

impl Pruner {
    /// Nothing left out yet of the text `file`.
    pub(super) fn of(file: FileId) -> Self {
        Pruner { file: Some(file), ..Pruner::default() }
    }

    /// After a compilation of `tokens`: whether something could be taken out of them, so that compiling them again is worth it.
    pub(super) fn reduce(&mut self, tokens: &mut Vec<Token>, facts: &CompileFindings<'_>, interner: &Interner) -> bool {
        let diags = facts.diags;
        // A syntax error is a mistake, wherever it stands.
        let mistaken = diags.iter().any(|d| d.code == Code::Syntax) || !diags.iter().any(Diagnostic::is_error);
        if mistaken && !diags.iter().any(is_unsupported) && self.names.is_empty() {
            return false;
        }
        let Some(survey) = Survey::of(tokens, facts, interner) else { return false };
        let needed = survey.needed(&self.names);
        let host_errors = HostErrors::new(tokens, interner, facts.lacks_headers);
        let parts = &survey.parts;
        let can_go = |&i: &usize| {
            let is_spare = || {
                !needed[i]
                    || survey.is_uncalled(i)
                    || overload_of_something_unsupported(tokens, parts, &survey.errors, i)
            };
            self.is_refused(&survey, &host_errors, i) && is_spare()
        };
        let spare: Vec<usize> = (0..parts.len()).filter(can_go).collect();
        self.note(&survey, &spare);
        let mut out = vec![false; tokens.len()];
        spare.iter().for_each(|&i| out[parts[i].start..parts[i].end].fill(true));
        let mut at = 0;
        tokens.retain(|_| {
            at += 1;
            !out[at - 1]
        });
        !spare.is_empty()
    }

    /// A declaration has an error that is ours, is code of others, or comes of what was left out: for its own sake it may go.
    fn is_refused(&self, survey: &Survey<'_>, host_errors: &HostErrors<'_>, i: usize) -> bool {
        let (p, tokens, errors) = (&survey.parts[i], survey.tokens, &survey.errors[i]);
        let own = |f: Span| self.file == Some(f.file);
        // A header's host code may use what nobody knows here.
        let foreign = !p.device && self.file.is_some_and(|f| survey.ranges[i].file != f);
        // A function without a body has it in another file.
        let elsewhere = errors.iter().any(|d| d.code == Code::Incomplete);
        let is_mistake =
            |d: &&Diagnostic| own(d.span) && !self.is_about_gone(tokens, d) && host_errors.is_mistake(d, own);
        let mistaken = errors.iter().any(is_mistake);
        let libraries = || uses_libraries(&tokens[p.start..p.end], survey.interner);
        let host = p.function && !p.device && !mistaken && (elsewhere || libraries());
        // An instantiation of what is gone.
        let is_template = tokens[p.start].kind == T::Keyword(K::Template);
        let gone = is_template && p.names.iter().any(|n| self.names.contains(n));
        let mentions_gone = || {
            let gone = |t: &Token| self.names.contains(&t.symbol) && !p.names.contains(&t.symbol);
            tokens[p.start..p.end].iter().any(|t| t.kind == T::Ident && gone(t))
        };
        errors.iter().any(|d| is_unsupported(d))
            || (!errors.is_empty() && (foreign || host || gone || mentions_gone() && !mistaken))
    }

    /// Notes what leaves, and why.
    fn note(&mut self, survey: &Survey<'_>, spare: &[usize]) {
        let (tokens, parts) = (survey.tokens, &survey.parts);
        let leaving: HashSet<Symbol> = spare.iter().flat_map(|&i| parts[i].names.iter().copied()).collect();
        for &i in spare {
            let part = &parts[i];
            let goes = |t: &Token| self.names.contains(&t.symbol) || leaving.contains(&t.symbol);
            let needs = tokens[part.start..part.end].iter().filter(|t| t.kind == T::Ident && goes(t)).map(|t| t.symbol);
            let needs = needs.filter(|n| !part.names.contains(n)).collect();
            if part.class.is_some_and(|c| spare.contains(&c)) {
                continue;
            }
            let errors = &survey.errors[i];
            let first = errors.iter().find(|d| d.code == Code::Unsupported).or(errors.first());
            if let Some(&first) = first {
                let (names, is_member) = (part.names.clone(), part.class.is_some());
                self.gone.push(PrunedDeclaration { names, is_member, needs, error: first.clone() });
            }
        }
        self.names.extend(leaving);
    }

    /// The error is about a name that was left out.
    fn is_about_gone(&self, tokens: &[Token], diag: &Diagnostic) -> bool {
        let within = |t: &&Token| t.kind == T::Ident && contains(diag.span, t.span);
        tokens.iter().filter(within).any(|t| self.names.contains(&t.symbol))
    }

    /// The messages in the end: warnings about what was left out; and where errors are left that come of that, instead of them why it was.
    /// Gives what was left out, with its name.
    pub(super) fn explain(
        self,
        tokens: &[Token],
        diags: &mut Vec<Diagnostic>,
        before: usize,
        interner: &Interner,
    ) -> Vec<(String, Diagnostic)> {
        let comes_of_it = |d: &Diagnostic| d.is_error() && d.code != Code::Unsupported && self.is_about_gone(tokens, d);
        let mut asked: Vec<Symbol> = Vec::new();
        for diag in diags[before..].iter().filter(|d| comes_of_it(d)) {
            let within = tokens.iter().filter(|t| t.kind == T::Ident && contains(diag.span, t.span));
            asked.extend(within.map(|t| t.symbol).filter(|n| self.names.contains(n)));
        }
        let mut is_cause = vec![false; self.gone.len()];
        while let Some(name) = asked.pop() {
            for (gone, is_one) in self.gone.iter().zip(&mut is_cause) {
                if gone.names.contains(&name) && !std::mem::replace(is_one, true) {
                    asked.extend(gone.needs.iter().copied());
                }
            }
        }
        let roots = self.gone.iter().zip(&is_cause).filter(|(g, is_one)| **is_one && g.error.code == Code::Unsupported);
        let roots: Vec<Diagnostic> = roots.map(|(g, _)| g.error.clone()).collect();
        if roots.is_empty() {
            is_cause.fill(false);
        } else {
            let mut at = 0;
            diags.retain(|d| {
                at += 1;
                at <= before || !comes_of_it(d)
            });
            diags.splice(before..before, roots);
        }
        let left = self.gone.iter().zip(is_cause).filter(|(_, is_one)| !is_one).map(|(gone, _)| gone);
        diags.extend(warnings(left, interner));
        let named = |gone: &PrunedDeclaration| -> Vec<(String, Diagnostic)> {
            gone.names.iter().map(|name| (interner.name(*name).to_owned(), gone.error.clone())).collect()
        };
        self.gone.iter().filter(|gone| !gone.is_member).flat_map(named).collect()
    }
}

/// `names` of what was refused or left out, and those of what is declared by means of them: aliases, variables, classes with such bases or
/// members.
fn refused(tokens: &[Token], parts: &[TextDeclaration], mut names: HashSet<Symbol>) -> HashSet<Symbol> {
    if names.is_empty() {
        return names;
    }
    // A declaration stands before its uses.
    for p in parts.iter().filter(|p| !p.function && !p.device && p.class.is_none()) {
        if tokens[p.start..p.end].iter().any(|t| t.kind == T::Ident && names.contains(&t.symbol)) {
            names.extend(p.names.iter().copied());
        }
    }
    names
}

/// The warnings about what was left out.
fn warnings<'a>(left: impl Iterator<Item = &'a PrunedDeclaration>, interner: &Interner) -> Vec<Diagnostic> {
    let (mut made, mut more) = (Vec::<Diagnostic>::new(), 0);
    for gone in left {
        let first = &gone.error;
        match gone.names.first() {
            Some(&name) if made.len() < MAX_WARNINGS && more == 0 => {
                let name = interner.name(name);
                let message = format!("`{name}` is left out, which no kernel needs: {}", first.message);
                made.push(Diagnostic::warning(first.code, first.span, message));
            }
            _ => more += 1,
        }
    }
    if more > 0
        && let Some(last) = made.last_mut()
    {
        let word = if more == 1 { "declaration is" } else { "declarations are" };
        last.message.push_str(&format!("; {more} more such {word} left out, too"));
    }
    made
}

/// The host function uses libraries, whose vocabulary may be beyond ours: then what is unknown in it need not be a mistake.
fn uses_libraries(tokens: &[Token], interner: &Interner) -> bool {
    tokens.iter().filter(|t| t.kind == T::Ident).any(|t| {
        let name = interner.name(t.symbol);
        LIBRARIES.contains(&name)
            || BEGINNINGS.iter().any(|b| name.starts_with(b))
            || super::builtins::is_host_function(name)
            || super::builtins::is_host_object(name)
    })
}

/// Tokens that a function is chosen by are not supported (its parameters; a result alone is not enough), and it is an operator,
/// a special member or one of several functions of its name: nothing that is supported means this one.
fn overload_of_something_unsupported(
    tokens: &[Token],
    parts: &[TextDeclaration],
    errors: &[Vec<&Diagnostic>],
    i: usize,
) -> bool {
    let p = &parts[i];
    let choice = range(&tokens[p.chosen_by.clone()]);
    let in_choice = |d: &&Diagnostic| d.code == Code::Unsupported && contains(choice, d.span);
    let other = |(j, q): (usize, &TextDeclaration)| j != i && q.function && errors[j].is_empty() && q.names == p.names;
    let spare = |p: &TextDeclaration| p.unnamed || parts.iter().enumerate().any(other);
    // A virtual function changes what its class is.
    let plain = p.function && !p.kernel && !has_virtual(&tokens[p.start..p.body]);
    plain && errors[i].iter().any(in_choice) && spare(p)
}

/// Members of the text's classes that the library calls.
const CALLED: [&str; 1] = ["DefineNode"];

/// Declarations that the kernels need; `seen` are names that somebody else mentions.
fn needed(
    tokens: &[Token],
    parts: &[TextDeclaration],
    errors: &[Vec<&Diagnostic>],
    lowered: &[bool],
    wanted: &HashSet<Symbol>,
    mut seen: HashSet<Symbol>,
) -> Vec<bool> {
    let mut needed = vec![false; parts.len()];
    let mut work: Vec<usize> = Vec::new();
    for (i, p) in parts.iter().enumerate() {
        let asked = p.kernel || p.names.iter().any(|n| wanted.contains(n));
        // Host code that compiles can be called.
        let host = !p.device
            && !p.template
            && p.class.is_none()
            && p.function
            && p.body < p.end
            && errors[i].is_empty()
            && lowered[i];
        let operator = p.unnamed && p.class.is_none();
        if asked || host || operator {
            (needed[i], _) = (true, work.push(i));
        }
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    let mut named: HashMap<Symbol, Vec<usize>> = HashMap::default();
    for (i, p) in parts.iter().enumerate() {
        p.class.into_iter().for_each(|c| members[c].push(i));
        p.names.iter().for_each(|n| named.entry(*n).or_default().push(i));
    }
    while let Some(i) = work.pop() {
        let p = &parts[i];
        let mut found: Vec<usize> = Vec::new();
        // A member that was named before its class was needed, or is used without being named.
        found.extend(
            members[i].iter().filter(|&&j| parts[j].unnamed || parts[j].names.iter().any(|n| seen.contains(n))),
        );
        let mut at = p.start;
        while at < p.end {
            if let Some(&j) = members[i].iter().find(|&&j| parts[j].start == at) {
                at = parts[j].end;
                continue;
            }
            let token = tokens[at];
            // The function's own name is no use of others of that name.
            let is_own = at < p.body && p.function && p.names.contains(&token.symbol);
            if token.kind == T::Ident && !is_own && seen.insert(token.symbol) {
                found.extend(named.get(&token.symbol).into_iter().flatten());
            }
            at += 1;
        }
        for j in found {
            if !needed[j] && parts[j].class.is_none_or(|c| needed[c]) {
                needed[j] = true;
                work.push(j);
            }
        }
    }
    needed
}

/// The index of the closing bracket of each `{`, `(` and `[`.
fn closers(tokens: &[Token]) -> Vec<usize> {
    let last = tokens.len() - 1;
    let mut out = vec![last; tokens.len()];
    let mut open = Vec::new();
    for (i, t) in tokens.iter().enumerate() {
        match t.kind {
            T::LBrace | T::LParen | T::LBracket => open.push(i),
            T::RBrace | T::RParen | T::RBracket => {
                if let Some(start) = open.pop() {
                    out[start] = i;
                }
            }
            _ => {}
        }
    }
    out
}

/// The range of tokens, in the file of the first.
fn range(tokens: &[Token]) -> Span {
    let Some(first) = tokens.first() else { return Span::NONE };
    let mut span = first.span;
    for t in tokens.iter().filter(|t| t.span.file == span.file) {
        (span.start, span.end) = (span.start.min(t.span.start), span.end.max(t.span.end));
    }
    span
}

fn contains(range: Span, span: Span) -> bool {
    range.file == span.file && range.start <= span.start && span.start < range.end
}

/// Splits tokens into declarations.
struct DeclarationSplitter<'a> {
    tokens: &'a [Token],
    closers: &'a [usize],
    interner: &'a Interner,
    parts: &'a mut Vec<TextDeclaration>,
}

/// Tokens of a declaration, by what they are of it.
struct Outline {
    /// The first one after it.
    end: usize,
    /// The first one after the head of a template.
    head_end: usize,
    /// The first `{`.
    body: Option<usize>,
    /// The `(` of the parameters, or of what an object is made with.
    parens: Option<usize>,
    /// There is a `=` before these.
    assigned: bool,
    /// `struct`, `class`, `union` or `enum`.
    record: Option<usize>,
}

impl DeclarationSplitter<'_> {
    fn kind(&self, at: usize) -> T {
        self.tokens[at.min(self.tokens.len() - 1)].kind
    }

    /// The declarations of a text, those in namespaces among them.
    fn items(&mut self, mut at: usize, end: usize) {
        while at < end {
            match self.kind(at) {
                T::Semi | T::RBrace => at += 1,
                T::Keyword(K::Namespace) | T::Keyword(K::Inline) | T::Keyword(K::Extern)
                    if self.opens_namespace(at).is_some() =>
                {
                    at = self.opens_namespace(at).unwrap_or(at) + 1;
                }
                _ => at = self.item(at, end, None),
            }
        }
    }

    /// The `{` of `namespace a::b {`, `inline namespace {` or `extern "C" {`.
    fn opens_namespace(&self, at: usize) -> Option<usize> {
        let mut i = at;
        if self.kind(i) == T::Keyword(K::Extern) {
            return (self.kind(i + 1) == T::Str && self.kind(i + 2) == T::LBrace).then_some(i + 2);
        }
        if self.kind(i) == T::Keyword(K::Inline) {
            i += 1;
        }
        if self.kind(i) != T::Keyword(K::Namespace) {
            return None;
        }
        i += 1;
        while matches!(self.kind(i), T::Ident | T::ColonColon | T::Keyword(K::Inline)) {
            i += 1;
        }
        (self.kind(i) == T::LBrace).then_some(i)
    }

    /// One declaration; where the next one starts.
    fn item(&mut self, start: usize, end: usize, class: Option<usize>) -> usize {
        let template = self.kind(start) == T::Keyword(K::Template) && self.kind(start + 1) == T::Lt;
        let Outline { end: at, head_end, body, parens, assigned, record } = self.outline(start, end, template);
        let tokens = &self.tokens[start..at.min(self.tokens.len())];
        let has = |k: K| tokens.iter().any(|t| t.kind == T::Keyword(k));
        let function =
            parens.is_some() && !assigned && record.is_none_or(|r| parens.is_some_and(|p| p < r) || body.is_none());
        let is_record = record.is_some() && !function && body.is_some();
        let names = self.names(head_end, at, parens.filter(|_| function), record.filter(|_| is_record), body);
        let kernel = has(K::Global) && !template;
        let class_name = class.and_then(|c| self.parts[c].names.first().copied());
        let unnamed = has_operator(&self.tokens[start..body.unwrap_or(at)])
            || (class.is_some() && (names.first().is_some_and(|n| Some(*n) == class_name) || has_virtual(tokens)));
        let chosen_by = match parens.filter(|_| function) {
            None => start..start,
            Some(open) => {
                // `operator T()` is chosen by `T`.
                let word = (start..open).find(|&i| self.kind(i) == T::Keyword(K::Operator));
                let sign = word.is_some_and(|i| super::parser::is_overloadable(self.kind(i + 1)));
                word.filter(|_| !sign).unwrap_or(open)..(self.closers[open] + 1).min(at)
            }
        };
        let index = self.parts.len();
        self.parts.push(TextDeclaration {
            chosen_by,
            start,
            end: at,
            body: body.unwrap_or(at),
            names,
            class,
            kernel,
            unnamed,
            template,
            device: has(K::Global) || has(K::Device) || has(K::Constexpr) || has(K::Constant),
            function,
        });
        if is_record
            && let Some(open) = body
            && class.is_none()
        {
            self.members(open + 1, self.closers[open], index);
        }
        at
    }

    /// Looks for the end of the declaration that starts here, and for what it is made of.
    fn outline(&self, start: usize, end: usize, template: bool) -> Outline {
        let mut at = start;
        let mut body = None;
        let (mut parens, mut assigned, mut inits) = (None, false, false);
        let mut angle = 0i32;
        let mut record = None;
        let mut in_head = template;
        let mut head_end = start;
        while at < end {
            match self.kind(at) {
                T::Semi => {
                    at += 1;
                    break;
                }
                T::Lt if in_head => angle += 1,
                T::Gt if in_head => angle -= 1,
                T::Shr if in_head => angle -= 2,
                // The `=` of `operator=`, or of a default template argument, does not count.
                T::Assign
                    if parens.is_none() && angle <= 0 && self.kind(at.saturating_sub(1)) != T::Keyword(K::Operator) =>
                {
                    assigned = true;
                }
                T::Colon if parens.is_some() => inits = true,
                T::Keyword(K::Struct | K::Class | K::Union | K::Enum)
                    if angle <= 0 && parens.is_none() && record.is_none() =>
                {
                    record = Some(at);
                }
                T::LParen => {
                    let skipped = at > start && self.is_attribute(at - 1);
                    if !skipped && angle <= 0 && parens.is_none() {
                        parens = Some(at);
                    }
                    at = self.closers[at];
                }
                T::LBracket => at = self.closers[at],
                T::LBrace => {
                    let close = self.closers[at];
                    // `A() : x{1}, y{2} { }`
                    let initialiser = inits
                        && matches!(self.kind(at - 1), T::Ident | T::Gt)
                        && matches!(self.kind(close + 1), T::Comma | T::LBrace);
                    if initialiser {
                        at = close + 1;
                        continue;
                    }
                    let function = parens.is_some() && !assigned;
                    if body.is_none() {
                        body = Some(at);
                    }
                    at = close;
                    if function {
                        at += 1;
                        break;
                    }
                }
                _ => {}
            }
            if in_head && angle <= 0 && self.kind(at) != T::Keyword(K::Template) {
                in_head = false;
                head_end = at + 1;
            }
            at += 1;
        }
        let end = at.clamp(start + 1, end.max(start + 1));
        Outline { end, head_end, body, parens, assigned, record }
    }

    /// The member functions of a class that have bodies.
    fn members(&mut self, mut at: usize, end: usize, class: usize) {
        while at < end {
            match self.kind(at) {
                T::Semi | T::RBrace => at += 1,
                T::Ident if self.kind(at + 1) == T::Colon => at += 2,
                _ => {
                    let before = self.parts.len();
                    at = self.item(at, end, Some(class));
                    // Fields and types are the class itself.
                    if !self.parts[before].function {
                        self.parts.truncate(before);
                    }
                }
            }
        }
    }

    /// Parentheses after this token hold no parameters.
    fn is_attribute(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        matches!(token.kind, T::Keyword(K::Alignas | K::Decltype | K::LaunchBounds | K::Align))
            || (token.kind == T::Ident && self.interner.name(token.symbol).starts_with("__"))
                && matches!(self.interner.name(token.symbol), "__attribute__" | "__align__" | "__declspec")
            || matches!(token.kind, T::Keyword(word) if word.spelling().starts_with("__"))
    }

    /// The names that a declaration gives.
    fn names(
        &self,
        start: usize,
        end: usize,
        parens: Option<usize>,
        record: Option<usize>,
        body: Option<usize>,
    ) -> Vec<Symbol> {
        let idents = |from: usize, to: usize| -> Vec<Symbol> {
            self.tokens
                .get(from..to.min(self.tokens.len()))
                .unwrap_or_default()
                .iter()
                .filter(|t| t.kind == T::Ident)
                .map(|t| t.symbol)
                .collect()
        };
        if let Some(parens) = parens {
            let before = (start..parens).rev().find(|&i| self.kind(i) == T::Ident);
            return before.map(|i| self.tokens[i].symbol).into_iter().collect();
        }
        if let Some(record) = record {
            let open = body.unwrap_or(end);
            let is_enum = self.kind(record) == T::Keyword(K::Enum);
            let stop = (record..open).find(|&i| matches!(self.kind(i), T::Colon | T::Lt)).unwrap_or(open);
            let mut names: Vec<Symbol> = idents(record, stop).into_iter().rev().take(1).collect();
            if is_enum {
                names.extend(idents(open, end));
            }
            let close = self.closers[open.min(self.tokens.len() - 1)];
            names.extend(idents(close.min(end), end));
            return names;
        }
        if self.kind(start) == T::Keyword(K::Using) {
            let alias = self.kind(start + 2) == T::Assign;
            let at = if alias { Some(start + 1) } else { (start..end).rev().find(|&i| self.kind(i) == T::Ident) };
            return at.map(|i| self.tokens[i].symbol).into_iter().collect();
        }
        // Variables and aliases: what stands before a value or an end, outside of any brackets.
        let mut names = Vec::new();
        let mut at = start;
        while at < end {
            let next = self.kind(at + 1);
            let ends = matches!(next, T::Assign | T::Semi | T::Comma | T::LBracket | T::LBrace | T::LParen);
            match self.kind(at) {
                T::LParen | T::LBracket | T::LBrace => at = self.closers[at],
                T::Ident if ends => names.push(self.tokens[at].symbol),
                _ => {}
            }
            at += 1;
        }
        if names.is_empty() { idents(start, end) } else { names }
    }
}

fn has_operator(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| t.kind == T::Keyword(K::Operator))
}

fn has_virtual(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| t.kind == T::Keyword(K::Virtual))
}

//! The front end: `.cu` text to IR. Lex, preprocess, parse, resolve and type, lower.
//!
//! Nothing stops at the first error: every stage collects diagnostics, and [`compile`] returns all of them with whatever
//! module could be made. The module is whole exactly when no diagnostic is an error.
//!
//! # What is left out
//! Texts of repositories hold host classes and variants for other hardware. Where something is not supported and no kernel needs it (by
//! name, `prune.rs`), the unit is read again without it, with a warning. Of functions of one name, those that no call has chosen are not
//! needed. A mistake (`host_errors.rs`) stays an error in such code too, and an error that comes of what was left out gives way to the
//! reason for that.
//!
//! # The library
//! Libraries are read once a process (`library_cache.rs`), and a declaration of theirs is lowered when a lookup meets its name
//! (`lower/scopes/lazy_declarations.rs`). So a class may have any number of members without a text that uses three paying for the rest. A
//! message about the library's text is moved to the user's line that uses it, and names no place of the library.
//!
//! # Order
//! Kernels of a text that launches some are handed to the back end as soon as each is lowered with all that it calls, and before the next
//! host function is (`lower/host/early_kernels.rs`). Bodies for the device are lowered before others that wait.
//!
//! # Units
//! Sources of one extension are translation units (`link.rs`): each is preprocessed, parsed and lowered alone, into one module.
//!
//! # Time
//! Every stage takes time linear in the text and counts its steps (`steps.rs`); `complexity/` checks that. The front end runs on one
//! processor, on a stack that its thread keeps (`compile_stack.rs`).

pub mod ast;
pub mod builtins;
mod class_layout;
mod compile_stack;
#[cfg(test)]
mod complexity;
pub mod cursor;
mod host_errors;
pub mod kernel_calls;
pub mod lexer;
mod library_cache;
mod link;
pub mod lower;
mod options;
pub mod parser;
pub mod preprocess;
mod prune;
pub mod ptx;
pub mod reference;
mod registrations;
mod spelling;
pub mod types;

use rustc_hash::FxHashSet as HashSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::ahead::Ahead;
use crate::ir::kept::Keeper;
use crate::ir::{FuncKind, LeftOut, Module};
use crate::library::Part;
use crate::source::{FileId, SourceMap, Span};
use cursor::Cursor;
use library_cache::{Library, LibraryCache};
use options::Unit;
pub use options::{FUNCTIONS, Options};
pub use spelling::nearest;

/// Compiles one text. `name` is what messages call it; `sources` receives it and every header it includes.
pub fn compile(sources: &mut SourceMap, name: &str, text: &str, options: &Options) -> (Module, Vec<Diagnostic>) {
    compile_with(sources, name, text, options, None, None)
}

/// The same as [`compile`]; functions of the library that `keeper` knows are not lowered: a function that was made before stays without a body.
/// `ahead` gets the kernels of a text that launches some while the rest is being lowered.
pub fn compile_with(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    options: &Options,
    keeper: Option<Keeper>,
    ahead: Option<&dyn Ahead>,
) -> (Module, Vec<Diagnostic>) {
    let file = sources.add(name, text);
    let context = CompileContext { keeper, ahead, cursor: None };
    if let Some(compiled) = compile_stack::with(|| compile_here(sources, file, options, &context)) {
        return compiled;
    }
    let span = Span { file, start: 0, end: 0 };
    let message = format!("the system has no {} MiB of address space to compile in", compile_stack::SIZE >> 20);
    (Module::default(), vec![Diagnostic::error(Code::CodeLimit, span, message)])
}

/// Reads a text that `sources` has, for what it tells of a cursor in it; whatever is wrong with the text elsewhere.
pub fn look(sources: &mut SourceMap, file: FileId, options: &Options, keeper: Option<Keeper>, cursor: &Cursor) {
    let context = CompileContext { keeper, ahead: None, cursor: Some(cursor) };
    let _ = compile_stack::with(|| compile_here(sources, file, options, &context));
}

/// Things that a compilation may have beside its text and options.
#[derive(Default)]
struct CompileContext<'s> {
    keeper: Option<Keeper>,
    /// Back end that takes kernels while the rest is being lowered.
    ahead: Option<&'s dyn Ahead>,
    /// The cursor of an editor, which alone the text is read for.
    cursor: Option<&'s Cursor>,
}

fn compile_here(
    sources: &mut SourceMap,
    file: FileId,
    options: &Options,
    context: &CompileContext<'_>,
) -> (Module, Vec<Diagnostic>) {
    let (mark, mut cache) = (sources.mark(), LibraryCache::now());
    loop {
        match compile_beside(&cache, sources, file, options, context) {
            Ok(compiled) => return compiled,
            // Names have other handles beside a cache of more texts.
            Err(parts) => {
                sources.rewind(mark);
                cache = cache.with(&parts);
            }
        }
    }
}

/// Compiles a text beside what has been read of the library; where that is not enough, the parts that it needs.
fn compile_beside(
    cache: &LibraryCache,
    sources: &mut SourceMap,
    file: FileId,
    options: &Options,
    &CompileContext { keeper, ahead, cursor }: &CompileContext<'_>,
) -> Result<(Module, Vec<Diagnostic>), Vec<&'static Part>> {
    let mut diags = Vec::new();
    let mut interner = ast::Interner::beside(&cache.interner);
    let preprocess::Preprocessed { tokens, uses, units: starts } =
        preprocess::preprocess(sources, file, options, &mut interner, &mut diags);
    let mut units = if options.units { separate(tokens, &starts, file) } else { vec![(file, tokens)] };
    let cursor = cursor.map(|cursor| (cursor, interner.intern(cursor::NAME)));
    mention_words(&mut units, options, &mut interner);
    // The parts of the library that the text mentions are read before it, as if the text had included them.
    let parts = crate::library::mentioned(|name| interner.contains(name));
    if !cache.holds(&parts) {
        return Err(parts);
    }
    let has = |part: &'static Part| parts.iter().any(|p| std::ptr::eq(*p, part));
    let torch = has(&crate::library::TORCH);
    // A text that names torch for its kernels alone has nothing to register.
    let names_types = || registrations::TYPES.iter().any(|name| interner.contains(name));
    let offers = torch && (has(&crate::library::PYBIND) || names_types());
    let python = has(&crate::library::PYTHON);
    let gaudi = [has(&crate::library::GAUDI), has(&crate::library::GAUDI_TENSORFLOW)];
    let library = cache.library(&parts, sources, &interner, keeper);
    let names = options.instances.iter().map(|name| name.split('<').next().unwrap_or("").trim());
    let names = names.chain(options.calls.iter().map(|call| call.template.as_str()));
    let wanted_templates: HashSet<ast::Symbol> = names.map(|name| interner.intern(name)).collect();
    let launches = units.iter().flat_map(|(_, tokens)| tokens).any(|token| token.kind == lexer::TokenKind::LaunchOpen);
    let ahead = ahead.filter(|_| launches);
    let (mut module, mut links) = (Module::default(), link::Links::of(&units));
    let mut left_out = Vec::new();
    for (number, (file, tokens)) in units.iter_mut().enumerate() {
        let inputs = CompileInputs { library: &library, offers, python, gaudi, ahead, cursor };
        let (start, before) = (links.begin(number, &module), diags.len());
        let mut pruner = prune::Pruner::of(*file);
        let mut round = 0;
        loop {
            lowered(sources, tokens.clone(), &inputs, options, (&mut module, &mut links), &mut interner, &mut diags);
            round += 1;
            let own = &module.functions[links.first_function()..];
            let host: Vec<_> = own.iter().filter(|f| f.kind == FuncKind::Host).map(|f| f.span).collect();
            let wrong = diags[before..].iter().any(Diagnostic::is_error);
            let called = if wrong { called(&module) } else { Vec::new() };
            let lacks_headers = diags[..before].iter().any(|d| d.code == Code::UnknownInclude);
            let findings = prune::CompileFindings {
                diags: &diags[before..],
                wanted: &wanted_templates,
                host: &host,
                called: &called,
                lacks_headers,
            };
            if cursor.is_some() || round > prune::MAX_ROUNDS || !pruner.reduce(tokens, &findings, &interner) {
                break;
            }
            ahead.inspect(|ahead| ahead.restart());
            diags.truncate(before);
            links.restart(&start, &mut module);
        }
        left_out.extend(pruner.explain(tokens, &mut diags, before, &interner));
    }
    let linking = diags.len();
    lower::finish(&mut module, links, &mut diags);
    explain_left_out(&mut module, &mut diags[linking..], left_out);
    preprocess::macro_uses::explain(&mut diags, uses, &interner);
    Ok((module, diags))
}

/// Words that count as mentioned, without the text's tokens or by what they ask of the library; inline PTX becomes calls.
fn mention_words(units: &mut [Unit], options: &Options, interner: &mut ast::Interner) {
    for name in &options.instances {
        // Words in the arguments of an instance count as mentioned, too.
        let words = name.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
        words.for_each(|word| _ = interner.intern(word));
    }
    for word in kernel_calls::words(&options.calls, |name| interner.contains(name)) {
        interner.intern(word);
    }
    for (_, tokens) in units.iter_mut() {
        ptx::rewrite(tokens, interner);
        if names_objects(tokens, interner) {
            interner.intern(crate::library::PYBIND_WORD);
        }
    }
    for token in units.iter().flat_map(|(_, tokens)| tokens) {
        match token.kind {
            lexer::TokenKind::Keyword(lexer::Keyword::Throw) => _ = interner.intern(crate::library::THROW),
            lexer::TokenKind::Keyword(lexer::Keyword::Try) => {
                let names = [crate::library::LAND, crate::library::HANDLED, crate::library::THROW_OBJECT];
                names.iter().for_each(|name| _ = interner.intern(name));
            }
            lexer::TokenKind::Keyword(lexer::Keyword::New | lexer::Keyword::Delete) => {
                crate::library::HEAP.iter().for_each(|name| _ = interner.intern(name));
            }
            _ => {}
        }
    }
}

/// Explains an error about a function that another unit calls and this one left out: the reason is added. The module knows what was left
/// out.
fn explain_left_out(module: &mut Module, linking: &mut [Diagnostic], left_out: Vec<(String, Diagnostic)>) {
    for diag in linking.iter_mut().filter(|d| d.is_error() && d.code == Code::Incomplete) {
        let is_it = |(name, _): &&(String, Diagnostic)| diag.message.starts_with(&format!("`{name}` is called, "));
        if let Some((_, error)) = left_out.iter().find(is_it) {
            *diag = error.clone();
        }
    }
    module.left_out.extend(left_out.into_iter().map(|(name, error)| {
        let why = error.help.map_or(error.message.clone(), |help| format!("{} ({help})", error.message));
        LeftOut { name, why, span: error.span }
    }));
}

/// The units of a text `file`; `starts` are their files, and the places in `tokens` where they begin. One without any tokens is none.
fn separate(mut tokens: Vec<lexer::Token>, starts: &[(FileId, usize)], file: FileId) -> Vec<Unit> {
    let end = tokens.pop();
    let mut units = Vec::new();
    for (file, start) in starts.iter().rev() {
        let mut unit = tokens.split_off(*start.min(&tokens.len()));
        unit.extend(end);
        units.push((*file, unit));
    }
    units.retain(|(_, unit)| unit.len() > 1);
    units.reverse();
    if units.is_empty() {
        tokens.extend(end);
        units.push((file, tokens));
    }
    units
}

/// The places of functions that something calls, or takes the address of.
fn called(module: &Module) -> Vec<Span> {
    let mut called = vec![false; module.functions.len()];
    let mut mark = |id: usize| called.get_mut(id).into_iter().for_each(|c| *c = true);
    module.addressed.iter().for_each(|(id, _)| mark(id.index()));
    for function in &module.functions {
        function.body.for_each_stmt(&mut |stmt| stmt.mentions().into_iter().for_each(|id| mark(id.index())));
    }
    module.functions.iter().zip(&called).filter(|(_, called)| **called).map(|(f, _)| f.span).collect()
}

/// The text names objects of pybind11's: `py::dict`, `module_::import`, or anything by way of `using namespace pybind11`.
fn names_objects(tokens: &[lexer::Token], interner: &mut ast::Interner) -> bool {
    use lexer::{Keyword, TokenKind as T};
    // Names that the text has: to intern another would be to mention it.
    let mut known = |names: [&str; 2]| names.map(|name| interner.contains(name).then(|| interner.intern(name)));
    let (spaces, modules) = (known(["py", "pybind11"]), known(["module_", "module"]));
    let is_one_of = |t: &lexer::Token, names: &[Option<ast::Symbol>; 2]| {
        t.kind == T::Ident && names.iter().flatten().any(|name| *name == t.symbol)
    };
    tokens.windows(3).any(|three| match three {
        [before, colons, name] if colons.kind == T::ColonColon && name.kind == T::Ident => {
            is_one_of(before, &spaces) && crate::library::is_pybind(interner.name(name.symbol))
                || is_one_of(before, &modules) && interner.name(name.symbol) == "import"
        }
        [using, namespace, space] => {
            using.kind == T::Keyword(Keyword::Using)
                && namespace.kind == T::Keyword(Keyword::Namespace)
                && is_one_of(space, &spaces)
        }
        _ => false,
    })
}

/// Inputs of a compilation, besides the text's tokens.
struct CompileInputs<'s> {
    library: &'s Library<'s>,
    /// Host functions without registrations are offered.
    offers: bool,
    /// The text may hold a module of Python's C interface.
    python: bool,
    /// The text is of Gaudi's dialect, and of TensorFlow's part of it.
    gaudi: [bool; 2],
    /// Back end that takes kernels while the rest is being lowered.
    ahead: Option<&'s dyn Ahead>,
    /// The cursor of an editor, and the name that stands at it.
    cursor: Option<(&'s Cursor, ast::Symbol)>,
}

/// Parses and lowers preprocessed tokens.
fn lowered(
    sources: &mut SourceMap,
    tokens: Vec<lexer::Token>,
    &CompileInputs { library, offers, python, gaudi, ahead, cursor }: &CompileInputs<'_>,
    options: &Options,
    (module, links): (&mut Module, &mut link::Links),
    interner: &mut ast::Interner,
    diags: &mut Vec<Diagnostic>,
) {
    let mut names = library.names.clone();
    let unit = parser::parse_after(&mut names, tokens, interner, diags);
    let registers = ["__wb_module", "__wb_library", "__wb_neuron"].iter().any(|name| interner.contains(name));
    let python = if python { registrations::python_text(&unit, interner) } else { None };
    let plain = !registers && offers && python.is_none();
    let exposed = if plain { registrations::text(&unit, interner) } else { None };
    let mut ours = None;
    let kernels = if gaudi[0] { registrations::gaudi_text(&unit, gaudi[1], interner) } else { None };
    let written: Vec<String> = [python.or(exposed), kernels].into_iter().flatten().collect();
    if !written.is_empty() {
        let text = written.join(" ");
        let file = sources.add("<exposed>", text);
        let tokens = preprocess::preprocess(sources, file, options, interner, diags).tokens;
        ours = Some((file, parser::parse(tokens, interner, diags)));
    }
    let mut wanted = Vec::new();
    let stand_in = cursor.and_then(|(cursor, _)| cursor.instance_round(&unit.items, interner));
    for name in options.instances.iter().chain(&stand_in) {
        // The parser learns that the name before the `<` is a template's, so that any argument may follow. What stands round
        // the name is ours, and in texts of its own: messages show the name as it was asked for.
        let template = name.split('<').next().unwrap_or("").trim();
        let is_name = !template.is_empty() && template.chars().all(|c| c.is_alphanumeric() || c == '_');
        let hint = if is_name { format!("template <typename> struct {template}; ") } else { String::new() };
        let parts =
            [("<instance>", format!("{hint}using instance = ")), (name, name.clone()), ("<instance>", ";".to_owned())];
        let mut tokens: Vec<lexer::Token> = Vec::new();
        for (part, text) in parts {
            tokens.pop();
            let file = sources.add(part, text);
            tokens.extend(preprocess::preprocess(sources, file, options, interner, diags).tokens);
        }
        wanted.push((name.clone(), parser::parse(tokens, interner, diags)));
    }
    let ours = ours.as_ref().map(|(file, unit)| (*file, unit));
    let inputs = lower::LowerInputs {
        library,
        sources,
        ahead,
        wanted: &wanted,
        calls: &options.calls,
        fmad: options.fmad != Some(false),
        cursor,
    };
    lower::lower(&inputs, &unit, ours, (module, links), interner, diags);
}

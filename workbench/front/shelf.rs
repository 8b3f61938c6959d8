//! The library as tokens: each text of it is preprocessed once a process, and of its declarations, member functions among them, a
//! compilation reads those that its text reaches by name. Reading all of the 16-bit floats took longer than a whole kernel does.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::ast::{Interner, Symbol};
use super::lexer::{Token, TokenKind as T};
use super::spare::declarations;
use super::{Options, builtins, preprocess};
use crate::library::Part;
use crate::source::{FileId, SourceFile, SourceMap};

/// A text of the library, preprocessed.
struct Prepared {
    /// The text as messages know it, and the number that stands for it in every compilation.
    file: SourceFile,
    number: u32,
    /// Its symbols are places in `names`.
    tokens: Vec<Token>,
    names: Vec<String>,
    items: Vec<Item>,
    /// The items that declare a name.
    declares: HashMap<String, Vec<usize>>,
}

/// A declaration of it, or a member function of a class.
struct Item {
    start: usize,
    end: usize,
    /// What it declares.
    names: Vec<Symbol>,
    /// What it mentions; a class outside of its member functions.
    mentions: Vec<Symbol>,
    /// What of that are built-in vectors.
    vectors: Vec<Symbol>,
    /// It is used without being named: an operator, a special member.
    unnamed: bool,
    /// The class that it is a member of.
    class: Option<usize>,
    /// The member functions of this class.
    members: Vec<usize>,
}

fn prepare(part: &'static Part) -> Prepared {
    let mut sources = SourceMap::default();
    let mut interner = Interner::default();
    let mut diags = Vec::new();
    let file = sources.add(part.name, part.text);
    // Parts may ask which others there are: on the shelf all of them are.
    let marks = crate::library::all().into_iter().filter(|p| !p.mark.is_empty());
    let defines = marks.map(|p| (p.mark.to_owned(), "1".to_owned())).collect();
    let given = Options { defines, ..Options::default() };
    let mut tokens = preprocess::preprocess(&mut sources, file, &given, &mut interner, &mut diags).tokens;
    let declarations = declarations(&tokens, &interner);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); declarations.len()];
    for (i, d) in declarations.iter().enumerate() {
        d.class.into_iter().for_each(|class| members[class].push(i));
    }
    let mut items: Vec<Item> = Vec::with_capacity(declarations.len());
    for (d, members) in declarations.iter().zip(members) {
        let mut mentions = Vec::new();
        let mut at = d.start;
        for (start, end) in
            members.iter().map(|&m| (declarations[m].start, declarations[m].end)).chain([(d.end, d.end)])
        {
            mentions.extend(tokens[at..start].iter().filter(|t| t.kind == T::Ident).map(|t| t.symbol));
            at = end;
        }
        mentions.sort_unstable();
        mentions.dedup();
        let is_vector = |s: &Symbol| builtins::vector_names().any(|name| name == interner.name(*s));
        let vectors = mentions.iter().copied().filter(|s| d.unnamed && is_vector(s)).collect();
        let names = d.names.clone();
        items.push(Item {
            start: d.start,
            end: d.end,
            names,
            mentions,
            vectors,
            unnamed: d.unnamed,
            class: d.class,
            members,
        });
    }
    let mut names = Vec::new();
    let mut places: HashMap<Symbol, u32> = HashMap::default();
    let mut place = |symbol: Symbol| {
        Symbol(*places.entry(symbol).or_insert_with(|| {
            names.push(interner.name(symbol).to_owned());
            names.len() as u32 - 1
        }))
    };
    for token in tokens.iter_mut().filter(|t| t.kind.has_symbol()) {
        token.symbol = place(token.symbol);
    }

    for item in &mut items {
        let lists = [&mut item.names, &mut item.mentions, &mut item.vectors];
        lists.into_iter().flatten().for_each(|s| *s = place(*s));
    }
    let mut declares: HashMap<String, Vec<usize>> = HashMap::default();
    for (i, item) in items.iter().enumerate() {
        for name in &item.names {
            declares.entry(names[name.0 as usize].clone()).or_default().push(i);
        }
    }
    let number = crate::library::all().iter().position(|p| std::ptr::eq(*p, part)).unwrap_or_default() as u32;
    Prepared { file: SourceFile::new(part.name, part.text), number, tokens, names, items, declares }
}

fn prepared(part: &'static Part) -> Arc<Prepared> {
    static SHELF: LazyLock<Mutex<HashMap<&'static str, Arc<Prepared>>>> = LazyLock::new(Mutex::default);
    if let Some(known) = SHELF.lock().unwrap_or_else(PoisonError::into_inner).get(part.name) {
        return known.clone();
    }
    let made = Arc::new(prepare(part));
    SHELF.lock().unwrap_or_else(PoisonError::into_inner).insert(part.name, made.clone());
    made
}

/// Who declares a name: places of texts among `shelves`, and of items in them.
fn declares<'a>(shelves: &'a [Arc<Prepared>], name: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let items = move |shelf: &'a Arc<Prepared>| shelf.declares.get(name).into_iter().flatten();
    shelves.iter().enumerate().flat_map(move |(s, shelf)| items(shelf).map(move |&i| (s, i)))
}

/// The declarations of some texts of the library that a text reaches, whose names `interner` holds; in order, without an end.
/// Every text becomes a file of `sources`.
pub(super) fn reached(
    parts: &[&'static Part],
    sources: &mut SourceMap,
    interner: &mut Interner,
) -> (Vec<FileId>, Vec<Token>) {
    let shelves: Vec<Arc<Prepared>> = parts.iter().map(|p| prepared(p)).collect();
    let files: Vec<FileId> = shelves.iter().map(|s| sources.add_common(s.number, s.file.clone())).collect();
    let mut wanted: Vec<Vec<bool>> = shelves.iter().map(|s| vec![false; s.items.len()]).collect();
    let declares = |name| declares(&shelves, name);
    let mut work: Vec<(usize, usize)> = interner.names().flat_map(declares).collect();
    let mut seen: HashSet<&str> = HashSet::default();
    loop {
        while let Some((s, i)) = work.pop() {
            let shelf = &shelves[s];
            // A member waits for its class.
            if wanted[s][i] || shelf.items[i].class.is_some_and(|class| !wanted[s][class]) {
                continue;
            }
            wanted[s][i] = true;
            for &member in &shelf.items[i].members {
                let item = &shelf.items[member];
                let named = |n: &Symbol| {
                    let name = shelf.names[n.0 as usize].as_str();
                    seen.contains(name) || interner.contains(name)
                };
                // What the compiler itself asks for.
                let implied = |n: &Symbol| shelf.names[n.0 as usize].starts_with("__wb_");
                if item.unnamed || item.names.iter().any(|n| named(n) || implied(n)) {
                    work.push((s, member));
                }
            }
            for mention in &shelf.items[i].mentions {
                let name = shelf.names[mention.0 as usize].as_str();
                if seen.insert(name) {
                    work.extend(declares(name));
                }
            }
        }
        // An operator is wanted as soon as a type that it mentions is.
        for (s, shelf) in shelves.iter().enumerate() {
            let operators = shelf.items.iter().enumerate().filter(|(_, item)| item.unnamed && item.class.is_none());
            for (i, item) in operators.filter(|(i, _)| !wanted[s][*i]) {
                let mut types = item.mentions.iter().flat_map(|m| declares(&shelf.names[m.0 as usize]));
                // Vectors are nobody's declaration.
                let vector = |v: &Symbol| {
                    let name = shelf.names[v.0 as usize].as_str();
                    seen.contains(name) || interner.contains(name)
                };
                if types.any(|(t, j)| wanted[t][j]) || item.vectors.iter().any(vector) {
                    work.push((s, i));
                }
            }
        }
        if work.is_empty() {
            break;
        }
    }
    let mut out = Vec::new();
    for ((shelf, wanted), &file) in shelves.iter().zip(&wanted).zip(&files) {
        let mut symbols: Vec<Option<Symbol>> = vec![None; shelf.names.len()];
        let mut at = 0;
        let end = shelf.tokens.len() - 1;
        let mut items = shelf.items.iter().zip(wanted).peekable();
        while at < end {
            // The members of what was left out.
            while items.next_if(|(item, _)| item.start < at).is_some() {}
            if let Some((item, wanted)) = items.next_if(|(item, _)| item.start == at)
                && !wanted
            {
                at = item.end;
                continue;
            }
            let mut token = shelf.tokens[at];
            token.span.file = file;
            if token.kind.has_symbol() {
                let place = token.symbol.0 as usize;
                token.symbol = *symbols[place].get_or_insert_with(|| interner.intern(&shelf.names[place]));
            }
            out.push(token);
            at += 1;
        }
    }
    (files, out)
}

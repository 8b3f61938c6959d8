//! The library, read once a process: its texts become syntax trees that all compilations share, and of their declarations a compilation
//! lowers those whose names it looks up ([`super::lower`], `waiting`). Reading all of the 16-bit floats took longer than a whole kernel
//! does, and reading what a text of tensors reaches took a third of its compilation.
//!
//! Texts are read in the order of [`crate::library::all`], as far as somebody has needed them, whatever else was compiled before: what a
//! text of the library means follows from those before it. Its declarations at namespace scope have numbers in that order.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap as HashMap;

use super::ast::{
    BaseType, FunctionKind, Interner, Item, MemberKind, StructDecl, Symbol, TemplateArgKind, TranslationUnit, TypeName,
};
use super::parser::{Names, parse_after};
use super::{Options, builtins, preprocess};
use crate::ir::kept::Keeper;
use crate::library::{Part, all};
use crate::source::{SourceFile, SourceMap, Span};

/// A text of the library, read.
#[derive(Debug)]
struct Book {
    /// The text as messages know it.
    file: SourceFile,
    unit: TranslationUnit,
    entries: Vec<Entry>,
    /// The number of its first declaration.
    first: u32,
    /// Those that nobody looks up: `using namespace a;`
    unnamed: Vec<u32>,
}

/// A declaration of it at namespace scope.
#[derive(Debug)]
struct Entry {
    /// Where it stands in the tree: its place in what is round it, outermost first.
    path: Box<[usize]>,
    space: SpaceId,
    /// Of an operator: the types of the library among its parameters', and the built-in vectors.
    types: Box<[Symbol]>,
}

/// A namespace of the library; 0 is the global scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SpaceId(pub u16);

#[derive(Debug, Clone)]
pub(super) struct Space {
    pub parent: SpaceId,
    pub name: Symbol,
    /// Where its name first stands.
    pub span: Span,
    pub is_inline: bool,
    /// The texts that open it, a bit each.
    books: u64,
}

/// What has been read.
#[derive(Debug, Clone, Default)]
pub(super) struct Shelf {
    pub interner: Interner,
    names: Names,
    books: Vec<Arc<Book>>,
    spaces: Vec<Space>,
    /// The declarations of a name in a namespace, in order.
    declares: HashMap<(SpaceId, Symbol), Vec<u32>>,
    /// By symbol: how many declarations a name has, and the texts that they are in, a bit each.
    counts: Vec<(u16, u64)>,
    /// Types, and what those are that are other names.
    types: HashMap<Symbol, Vec<Symbol>>,
    count: u32,
}

static SHELF: LazyLock<Mutex<Arc<Shelf>>> = LazyLock::new(Mutex::default);

impl Shelf {
    /// What has been read by now.
    pub fn now() -> Arc<Shelf> {
        SHELF.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether some texts have been read.
    pub fn holds(&self, parts: &[&'static Part]) -> bool {
        parts.iter().all(|part| place(part) < self.books.len())
    }

    /// That, once some texts have been read too.
    pub fn with(&self, parts: &[&'static Part]) -> Arc<Shelf> {
        let mut shelf = self.clone();
        let wanted = parts.iter().map(|part| place(part) + 1).max().unwrap_or(0);
        while shelf.books.len() < wanted {
            shelf.read(all()[shelf.books.len()]);
        }
        let shelf = Arc::new(shelf);
        // Not held while reading, nor while what was known before goes: others may read meanwhile, and may fork.
        let mut known = SHELF.lock().unwrap_or_else(PoisonError::into_inner);
        let before = (known.books.len() < wanted).then(|| std::mem::replace(&mut *known, shelf.clone()));
        drop(known);
        drop(before);
        shelf
    }

    fn read(&mut self, part: &'static Part) {
        let mut sources = SourceMap::default();
        let mut diags = Vec::new();
        let file = sources.add(part.name, part.text);
        // Parts may ask which others there are: on the shelf all of them are.
        let marks = all().into_iter().filter(|p| !p.mark.is_empty());
        let defines = marks.map(|p| (p.mark.to_owned(), "1".to_owned())).collect();
        let given = Options { defines, ..Options::default() };
        let mut tokens = preprocess::preprocess(&mut sources, file, &given, &mut self.interner, &mut diags).tokens;
        let own = SourceMap::common_id(self.books.len() as u32);
        tokens.iter_mut().for_each(|token| token.span.file = own);
        let mut unit = parse_after(&mut self.names, tokens, &mut self.interner, &mut diags);
        debug_assert!(diags.is_empty(), "{}: {diags:?}", part.name);
        self.set_aside(&mut unit.items);
        let file = SourceFile::new(part.name, part.text);
        let mut book = Book {
            file,
            unit: TranslationUnit::default(),
            entries: Vec::new(),
            first: self.count,
            unnamed: Vec::new(),
        };
        if self.spaces.is_empty() {
            let global = self.interner.intern("");
            self.spaces.push(Space { parent: SpaceId(0), name: global, span: Span::NONE, is_inline: false, books: 0 });
        }
        self.enter(&unit.items, SpaceId(0), &mut Vec::new(), &mut book);
        book.unit = unit;
        self.count += book.entries.len() as u32;
        self.interner.seal();
        self.books.push(Arc::new(book));
    }

    /// Of classes, lets the member functions wait that only their names ask for.
    fn set_aside(&self, items: &mut [Item]) {
        for item in items {
            match item {
                Item::Namespace(inner) => self.set_aside(&mut inner.items),
                Item::Struct(decl) => {
                    if let Some(decl) = Arc::get_mut(decl) {
                        self.set_members_aside(decl);
                    }
                }
                _ => {}
            }
        }
    }

    fn set_members_aside(&self, decl: &mut StructDecl) {
        let waits = |kind: &MemberKind| match kind {
            MemberKind::Function(f) if matches!(f.kind, FunctionKind::Plain) => {
                let name = f.name.last().name;
                (!self.interner.name(name).starts_with("operator")).then_some(name)
            }
            _ => None,
        };
        for member in std::mem::take(&mut decl.members) {
            match waits(&member.kind) {
                Some(name) => decl.waiting.entry(name).or_default().push(member),
                None => decl.members.push(member),
            }
        }
    }

    /// Numbers the declarations of a book that `path` leads to.
    fn enter(&mut self, items: &[Item], space: SpaceId, path: &mut Vec<usize>, book: &mut Book) {
        for (at, item) in items.iter().enumerate() {
            path.push(at);
            if let Item::Namespace(inner) = item {
                let inside = inner.name.map_or(space, |name| self.space(space, name.name, name.span, inner.is_inline));
                self.enter(&inner.items, inside, path, book);
                path.pop();
                continue;
            }
            let number = book.first + book.entries.len() as u32;
            let names = declared(item);
            if names.is_empty() {
                book.unnamed.push(number);
            }
            for &name in &names {
                self.declares.entry((space, name)).or_default().push(number);
                if self.counts.len() <= name.0 as usize {
                    self.counts.resize(name.0 as usize + 64, (0, 0));
                }
                let (count, books) = &mut self.counts[name.0 as usize];
                (*count, *books) = (*count + 1, *books | 1u64 << self.books.len());
            }
            let types = self.types_of(item);
            book.entries.push(Entry { path: path.as_slice().into(), space, types });
            path.pop();
        }
    }

    fn space(&mut self, parent: SpaceId, name: Symbol, span: Span, is_inline: bool) -> SpaceId {
        let at = match self.spaces.iter().skip(1).position(|s| s.parent == parent && s.name == name) {
            Some(at) => at + 1,
            None => {
                self.spaces.push(Space { parent, name, span, is_inline, books: 0 });
                self.spaces.len() - 1
            }
        };
        self.spaces[at].books |= 1u64 << self.books.len();
        SpaceId(at as u16)
    }

    /// The types that an operator is for; notes those that anything else declares.
    fn types_of(&mut self, item: &Item) -> Box<[Symbol]> {
        let mut found = Vec::new();
        match item {
            Item::Function(f) if self.interner.name(f.name.last().name).starts_with("operator") => {
                let mut named = Vec::new();
                f.params.iter().for_each(|param| names_in(&param.ty, &mut named));
                for name in named {
                    if builtins::vector_names().any(|vector| vector == self.interner.name(name)) {
                        found.push(name);
                    }
                    found.extend(self.types.get(&name).into_iter().flatten());
                }
                found.sort_unstable();
                found.dedup();
            }
            Item::Struct(_) | Item::Enum(_) | Item::UsingDecl(_) => {
                for name in declared(item) {
                    self.types.entry(name).or_insert_with(|| vec![name]);
                }
            }
            Item::Alias(alias) => {
                let mut named = Vec::new();
                names_in(&alias.ty, &mut named);
                let targets: Vec<Symbol> =
                    named.iter().flat_map(|name| self.types.get(name).into_iter().flatten().copied()).collect();
                self.types.entry(alias.name.name).or_insert_with(|| vec![alias.name.name]).extend(targets);
            }
            _ => {}
        }
        found.into()
    }

    /// Some texts of the library for a compilation whose names `interner` has met; their files go to `sources`.
    pub fn library<'s>(
        &'s self,
        parts: &[&'static Part],
        sources: &mut SourceMap,
        interner: &Interner,
        keeper: Option<Keeper>,
    ) -> Library<'s> {
        let parts = parts.iter().fold(0u64, |bits, part| bits | 1u64 << place(part));
        for (number, book) in self.books.iter().enumerate().filter(|(number, _)| parts & 1u64 << number != 0) {
            sources.add_common(number as u32, book.file.clone());
        }
        let is_open = |name: &Symbol| self.counts.get(name.0 as usize).is_some_and(|(_, books)| books & parts != 0);
        let spaces = self.spaces.iter().filter(|space| space.books & parts != 0).map(|space| space.name);
        let names = self.names.reached(interner.met().filter(is_open).chain(spaces));
        Library { shelf: self, names, parts, keeper }
    }
}

/// Where among all a text stands.
fn place(part: &'static Part) -> usize {
    all().iter().position(|p| std::ptr::eq(*p, part)).unwrap_or(usize::MAX - 1)
}

/// The names that a declaration gives a meaning.
pub(super) fn declared(item: &Item) -> Vec<Symbol> {
    match item {
        Item::Function(f) => vec![f.name.last().name],
        Item::Variables(d) => d.vars.iter().map(|var| var.name.name).collect(),
        Item::Alias(alias) => vec![alias.name.name],
        Item::Struct(s) => s.name.iter().map(|name| name.last().name).collect(),
        Item::Enum(e) => {
            let constants = e.constants.iter().filter(|_| !e.scoped).map(|(name, _)| name.name);
            e.name.iter().map(|name| name.name).chain(constants).collect()
        }
        Item::UsingDecl(name) => vec![name.last().name],
        Item::NamespaceAlias(alias) => vec![alias.name.name],
        Item::Namespace(_) | Item::UsingNamespace(_) | Item::StaticAssert(_) | Item::Instantiate(_) => Vec::new(),
    }
}

/// The names in a type.
fn names_in(ty: &TypeName, found: &mut Vec<Symbol>) {
    let BaseType::Named(name) = &ty.base else { return };
    for part in &name.parts {
        found.push(part.ident.name);
        for arg in part.args.iter().flat_map(|args| args.iter()) {
            if let TemplateArgKind::Type(ty) = &arg.kind {
                names_in(ty, found);
            }
        }
    }
}

/// What a compilation has of the library.
#[derive(Debug)]
pub struct Library<'s> {
    shelf: &'s Shelf,
    /// What the text's own parse is to know of it.
    pub(super) names: Names,
    /// Which texts it is of, a bit each.
    pub(super) parts: u64,
    /// Who knows what was made of its functions before.
    pub(super) keeper: Option<Keeper>,
}

impl<'s> Library<'s> {
    fn books(&self) -> impl Iterator<Item = &'s Book> {
        let parts = self.parts;
        self.shelf
            .books
            .iter()
            .enumerate()
            .filter(move |(number, _)| parts & 1u64 << number != 0)
            .map(|(_, book)| &**book)
    }

    fn book(&self, number: u32) -> &'s Book {
        let after = self.shelf.books.partition_point(|book| book.first <= number);
        &self.shelf.books[after - 1]
    }

    fn entry(&self, number: u32) -> &'s Entry {
        let book = self.book(number);
        &book.entries[(number - book.first) as usize]
    }

    /// Its namespaces, outer ones first; that of number 0 is the global scope.
    pub(super) fn spaces(&self) -> impl Iterator<Item = (SpaceId, &'s Space)> {
        let parts = self.parts;
        let all = self.shelf.spaces.iter().enumerate();
        all.filter(move |(_, space)| space.books & parts != 0).map(|(at, space)| (SpaceId(at as u16), space))
    }

    /// Whether it opens a namespace of that name.
    pub(super) fn opens(&self, namespace: Symbol) -> bool {
        self.spaces().any(|(_, space)| space.parent == SpaceId(0) && space.name == namespace)
    }

    /// The declarations that nobody looks up, in order.
    pub(super) fn unnamed(&self) -> impl Iterator<Item = u32> {
        self.books().flat_map(|book| book.unnamed.iter().copied())
    }

    /// The declarations of a name in a namespace, in order; those of other texts of the library among them.
    pub(super) fn declarations(&self, space: SpaceId, name: Symbol) -> &'s [u32] {
        self.shelf.declares.get(&(space, name)).map_or(&[], |numbers| numbers.as_slice())
    }

    /// A declaration, and the namespace it is in.
    pub(super) fn declaration(&self, number: u32) -> (&'s Item, SpaceId) {
        let (book, entry) = (self.book(number), self.entry(number));
        let mut items = &book.unit.items;
        let mut at = entry.path.iter();
        loop {
            match (at.next().and_then(|i| items.get(*i)), at.len()) {
                (Some(Item::Namespace(inner)), 1..) => items = &inner.items,
                (Some(item), 0) => return (item, entry.space),
                _ => unreachable!("the path was taken from the tree"),
            }
        }
    }

    /// The types that an operator is for: it is wanted once one of them is known. Empty where that cannot be told.
    pub(super) fn types(&self, number: u32) -> &'s [Symbol] {
        &self.entry(number).types
    }

    /// For each declaration, whether it is of another text of the library.
    pub(super) fn closed(&self) -> Vec<bool> {
        let mut closed = vec![true; self.shelf.count as usize];
        for book in self.books() {
            closed[book.first as usize..][..book.entries.len()].fill(false);
        }
        closed
    }

    /// By symbol: how many declarations a name has, whatever texts of the library they are in.
    pub(super) fn counts(&self) -> Vec<u16> {
        self.shelf.counts.iter().map(|(count, _)| *count).collect()
    }

    /// The names that it declares in a namespace.
    pub(super) fn names_in(&self, space: SpaceId) -> impl Iterator<Item = Symbol> {
        let is_open = |number: &u32| {
            let after = self.shelf.books.partition_point(|book| book.first <= *number);
            self.parts & 1u64 << (after - 1) != 0
        };
        let here = self.shelf.declares.iter().filter(move |((at, _), _)| *at == space);
        here.filter(move |(_, numbers)| numbers.iter().any(is_open)).map(|((_, name), _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_of_the_library_is_found_by_its_names_or_by_nobody() {
        let parts = all();
        let shelf = Shelf::default().with(&parts);
        let library = shelf.library(&parts, &mut SourceMap::new(), &Interner::default(), None);
        let unnamed: Vec<u32> = library.unnamed().collect();
        for number in 0..shelf.count {
            let (item, space) = library.declaration(number);
            let names = declared(item);
            assert_eq!(names.is_empty(), unnamed.contains(&number));
            assert!(names.iter().all(|name| library.declarations(space, *name).contains(&number)));
            // What is declared outside of its class would wait for a name that is found inside.
            if let Item::Function(f) = item {
                assert_eq!(f.name.parts.len(), 1, "{}", shelf.interner.name(f.name.last().name));
            }
        }
        assert!(unnamed.len() < 40, "only directives and assertions are read by every text");
    }

    #[test]
    fn what_was_read_before_changes_nothing() {
        let text = "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { return x.exp() + 1; }";
        // Shelves of its own: what the process has read by now is anybody's guess.
        let compile = |read: &[&'static Part]| {
            let mut shelf = Shelf::default().with(read);
            loop {
                let mut sources = SourceMap::new();
                let file = sources.add("a.cu", text);
                match crate::front::compile_beside(&shelf, &mut sources, file, &Options::default(), (None, None)) {
                    Ok((module, diags)) => {
                        assert!(diags.is_empty(), "{diags:?}");
                        return (module.to_string(), shelf.books.len());
                    }
                    Err(parts) => shelf = shelf.with(&parts),
                }
            }
        };
        let ((first, few), (second, many)) = (compile(&[]), compile(&all()));
        assert!(few < many);
        assert_eq!(first, second);
    }
}

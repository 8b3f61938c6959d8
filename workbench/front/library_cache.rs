//! The library, read once a process: its texts become syntax trees that all compilations share, and of their declarations a compilation
//! lowers those whose names it looks up ([`super::lower`], `scopes/lazy_declarations.rs`). Reading all of a library would take longer than
//! compiling a kernel.
//!
//! Texts are read in the order of [`crate::library::all`], as far as somebody has needed them, whatever else was compiled before: what a
//! text of the library means follows from those before it. Its declarations at namespace scope have numbers in that order.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap as HashMap;

use super::ast::{
    BaseType, FunctionKind, Interner, Item, MemberKind, StructDecl, Symbol, TemplateArgKind, TranslationUnit, TypeName,
};
use super::options::Options;
use super::parser::{DeclaredNames, parse_after};
use super::{builtins, preprocess};
use crate::ir::kept::Keeper;
use crate::library::{Part, all};
use crate::source::{SourceFile, SourceMap, Span};

/// A text of the library, read.
#[derive(Debug)]
struct LibraryText {
    /// The text as messages know it.
    file: SourceFile,
    unit: TranslationUnit,
    entries: Vec<LibraryDeclaration>,
    /// The number of its first declaration.
    first: u32,
    /// Numbers of those that nobody looks up: `using namespace a;`
    unnamed: Vec<u32>,
}

/// A declaration of it at namespace scope.
#[derive(Debug)]
struct LibraryDeclaration {
    /// Place in the tree: positions in what is round it, outermost first.
    path: Box<[usize]>,
    space: LibraryNamespaceId,
    /// Types of an operator: those of the library among its parameters', and the built-in vectors.
    types: Box<[Symbol]>,
}

/// A namespace of the library; 0 is the global scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LibraryNamespaceId(pub u16);

#[derive(Debug, Clone)]
pub(super) struct LibraryNamespace {
    pub parent: LibraryNamespaceId,
    pub name: Symbol,
    /// Place where its name first stands.
    pub span: Span,
    pub is_inline: bool,
    /// The texts that open it, a bit each.
    texts: u64,
}

/// Texts of the library that have been read.
#[derive(Debug, Clone, Default)]
pub(super) struct LibraryCache {
    pub interner: Interner,
    names: DeclaredNames,
    texts: Vec<Arc<LibraryText>>,
    spaces: Vec<LibraryNamespace>,
    /// The declarations of a name in a namespace, in order.
    declares: HashMap<(LibraryNamespaceId, Symbol), Vec<u32>>,
    /// The number of declarations of each symbol, and the texts that they are in, a bit each.
    counts: Vec<(u16, u64)>,
    /// Types, and what those are that are other names.
    types: HashMap<Symbol, Vec<Symbol>>,
    count: u32,
}

static CACHE: LazyLock<Mutex<Arc<LibraryCache>>> = LazyLock::new(Mutex::default);

impl LibraryCache {
    /// The texts that have been read by now.
    pub fn now() -> Arc<LibraryCache> {
        CACHE.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The texts have been read.
    pub fn holds(&self, parts: &[&'static Part]) -> bool {
        parts.iter().all(|part| place(part) < self.texts.len())
    }

    /// The cache once some texts have been read too.
    pub fn with(&self, parts: &[&'static Part]) -> Arc<LibraryCache> {
        let mut cache = self.clone();
        let wanted = parts.iter().map(|part| place(part) + 1).max().unwrap_or(0);
        while cache.texts.len() < wanted {
            cache.read(all()[cache.texts.len()]);
        }
        let cache = Arc::new(cache);
        // The lock is not held while reading, nor while the old cache is freed: other threads may read meanwhile, and may fork.
        let mut known = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        let before = (known.texts.len() < wanted).then(|| std::mem::replace(&mut *known, cache.clone()));
        drop(known);
        drop(before);
        cache
    }

    fn read(&mut self, part: &'static Part) {
        let mut sources = SourceMap::default();
        let mut diags = Vec::new();
        let file = sources.add(part.name, part.text);
        // Parts may ask which others there are: in the cache all of them are.
        let marks = all().into_iter().filter(|p| !p.mark.is_empty());
        let defines = marks.map(|p| (p.mark.to_owned(), "1".to_owned())).collect();
        let given = Options { defines, ..Options::default() };
        let mut tokens = preprocess::preprocess(&mut sources, file, &given, &mut self.interner, &mut diags).tokens;
        let own = SourceMap::common_id(self.texts.len() as u32);
        tokens.iter_mut().for_each(|token| token.span.file = own);
        let mut unit = parse_after(&mut self.names, tokens, &mut self.interner, &mut diags);
        debug_assert!(diags.is_empty(), "{}: {diags:?}", part.name);
        self.set_aside(&mut unit.items);
        let file = SourceFile::new(part.name, part.text);
        let mut text = LibraryText {
            file,
            unit: TranslationUnit::default(),
            entries: Vec::new(),
            first: self.count,
            unnamed: Vec::new(),
        };
        if self.spaces.is_empty() {
            let global = self.interner.intern("");
            self.spaces.push(LibraryNamespace {
                parent: LibraryNamespaceId(0),
                name: global,
                span: Span::NONE,
                is_inline: false,
                texts: 0,
            });
        }
        self.enter(&unit.items, LibraryNamespaceId(0), &mut Vec::new(), &mut text);
        text.unit = unit;
        self.count += text.entries.len() as u32;
        self.interner.seal();
        self.texts.push(Arc::new(text));
    }

    /// Member functions of classes that only their names ask for are set aside, to wait.
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

    /// Numbers the declarations of a text that `path` leads to.
    fn enter(&mut self, items: &[Item], space: LibraryNamespaceId, path: &mut Vec<usize>, text: &mut LibraryText) {
        for (at, item) in items.iter().enumerate() {
            path.push(at);
            if let Item::Namespace(inner) = item {
                let inside = inner.name.map_or(space, |name| self.space(space, name.name, name.span, inner.is_inline));
                self.enter(&inner.items, inside, path, text);
                path.pop();
                continue;
            }
            let number = text.first + text.entries.len() as u32;
            let names = declared(item);
            if names.is_empty() {
                text.unnamed.push(number);
            }
            for &name in &names {
                self.declares.entry((space, name)).or_default().push(number);
                if self.counts.len() <= name.0 as usize {
                    self.counts.resize(name.0 as usize + 64, (0, 0));
                }
                let (count, texts) = &mut self.counts[name.0 as usize];
                (*count, *texts) = (*count + 1, *texts | 1u64 << self.texts.len());
            }
            let types = self.types_of(item);
            text.entries.push(LibraryDeclaration { path: path.as_slice().into(), space, types });
            path.pop();
        }
    }

    fn space(&mut self, parent: LibraryNamespaceId, name: Symbol, span: Span, is_inline: bool) -> LibraryNamespaceId {
        let at = match self.spaces.iter().skip(1).position(|s| s.parent == parent && s.name == name) {
            Some(at) => at + 1,
            None => {
                self.spaces.push(LibraryNamespace { parent, name, span, is_inline, texts: 0 });
                self.spaces.len() - 1
            }
        };
        self.spaces[at].texts |= 1u64 << self.texts.len();
        LibraryNamespaceId(at as u16)
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
        for (number, text) in self.texts.iter().enumerate().filter(|(number, _)| parts & 1u64 << number != 0) {
            sources.add_common(number as u32, text.file.clone());
        }
        let is_open = |name: &Symbol| self.counts.get(name.0 as usize).is_some_and(|(_, texts)| texts & parts != 0);
        let spaces = self.spaces.iter().filter(|space| space.texts & parts != 0).map(|space| space.name);
        let names = self.names.reached(interner.met().filter(is_open).chain(spaces));
        Library { cache: self, names, parts, keeper }
    }
}

/// Position of a text among all.
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

/// The part of the library that one compilation has.
#[derive(Debug)]
pub struct Library<'s> {
    cache: &'s LibraryCache,
    /// Names of it that the text's own parse is to know.
    pub(super) names: DeclaredNames,
    /// Texts that it is of, a bit each.
    pub(super) parts: u64,
    /// Keeper that knows what was made of its functions before.
    pub(super) keeper: Option<Keeper>,
}

impl<'s> Library<'s> {
    fn texts(&self) -> impl Iterator<Item = &'s LibraryText> {
        let parts = self.parts;
        self.cache
            .texts
            .iter()
            .enumerate()
            .filter(move |(number, _)| parts & 1u64 << number != 0)
            .map(|(_, text)| &**text)
    }

    fn text(&self, number: u32) -> &'s LibraryText {
        let after = self.cache.texts.partition_point(|text| text.first <= number);
        &self.cache.texts[after - 1]
    }

    fn entry(&self, number: u32) -> &'s LibraryDeclaration {
        let text = self.text(number);
        &text.entries[(number - text.first) as usize]
    }

    /// Namespaces of it, outer ones first; that of number 0 is the global scope.
    pub(super) fn spaces(&self) -> impl Iterator<Item = (LibraryNamespaceId, &'s LibraryNamespace)> {
        let parts = self.parts;
        let all = self.cache.spaces.iter().enumerate();
        all.filter(move |(_, space)| space.texts & parts != 0).map(|(at, space)| (LibraryNamespaceId(at as u16), space))
    }

    /// It opens a namespace of that name.
    pub(super) fn opens(&self, namespace: Symbol) -> bool {
        self.spaces().any(|(_, space)| space.parent == LibraryNamespaceId(0) && space.name == namespace)
    }

    /// The declarations that nobody looks up, in order.
    pub(super) fn unnamed(&self) -> impl Iterator<Item = u32> {
        self.texts().flat_map(|text| text.unnamed.iter().copied())
    }

    /// The declarations of a name in a namespace, in order; those of other texts of the library among them.
    pub(super) fn declarations(&self, space: LibraryNamespaceId, name: Symbol) -> &'s [u32] {
        self.cache.declares.get(&(space, name)).map_or(&[], |numbers| numbers.as_slice())
    }

    /// A declaration, and the namespace it is in.
    pub(super) fn declaration(&self, number: u32) -> (&'s Item, LibraryNamespaceId) {
        let (text, entry) = (self.text(number), self.entry(number));
        let mut items = &text.unit.items;
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

    /// True for each declaration of another text of the library.
    pub(super) fn closed(&self) -> Vec<bool> {
        let mut closed = vec![true; self.cache.count as usize];
        for text in self.texts() {
            closed[text.first as usize..][..text.entries.len()].fill(false);
        }
        closed
    }

    /// The number of declarations of each symbol, in all texts of the library.
    pub(super) fn counts(&self) -> Vec<u16> {
        self.cache.counts.iter().map(|(count, _)| *count).collect()
    }

    /// The names that it declares in a namespace.
    pub(super) fn names_in(&self, space: LibraryNamespaceId) -> impl Iterator<Item = Symbol> {
        let is_open = |number: &u32| {
            let after = self.cache.texts.partition_point(|text| text.first <= *number);
            self.parts & 1u64 << (after - 1) != 0
        };
        let here = self.cache.declares.iter().filter(move |((at, _), _)| *at == space);
        here.filter(move |(_, numbers)| numbers.iter().any(is_open)).map(|((_, name), _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_of_the_library_is_found_by_its_names_or_by_nobody() {
        let parts = all();
        let cache = LibraryCache::default().with(&parts);
        let library = cache.library(&parts, &mut SourceMap::new(), &Interner::default(), None);
        let unnamed: Vec<u32> = library.unnamed().collect();
        for number in 0..cache.count {
            let (item, space) = library.declaration(number);
            let names = declared(item);
            assert_eq!(names.is_empty(), unnamed.contains(&number));
            assert!(names.iter().all(|name| library.declarations(space, *name).contains(&number)));
            // A declaration outside of its class would wait for a name that is found inside.
            if let Item::Function(f) = item {
                assert_eq!(f.name.parts.len(), 1, "{}", cache.interner.name(f.name.last().name));
            }
        }
        assert!(unnamed.len() < 40, "only directives and assertions are read by every text");
    }

    #[test]
    fn what_was_read_before_changes_nothing() {
        let text = "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { return x.exp() + 1; }";
        // Caches of its own: what the process has read by now is anybody's guess.
        let compile = |read: &[&'static Part]| {
            let mut cache = LibraryCache::default().with(read);
            loop {
                let mut sources = SourceMap::new();
                let file = sources.add("a.cu", text);
                match crate::front::compile_beside(
                    &cache,
                    &mut sources,
                    file,
                    &Options::default(),
                    &crate::front::CompileContext::default(),
                ) {
                    Ok((module, diags)) => {
                        assert!(diags.is_empty(), "{diags:?}");
                        return (module.to_string(), cache.texts.len());
                    }
                    Err(parts) => cache = cache.with(&parts),
                }
            }
        };
        let ((first, few), (second, many)) = (compile(&[]), compile(&all()));
        assert!(few < many);
        assert_eq!(first, second);
    }
}

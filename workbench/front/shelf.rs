//! The library, read once a process: its texts become syntax trees that all compilations share, and of their declarations, member functions
//! among them, a compilation lowers those that its text reaches by name. Reading all of the 16-bit floats took longer than a whole kernel
//! does, and reading what a text of tensors reaches took a third of its compilation.
//!
//! Texts are read in the order of [`crate::library::all`], as far as somebody has needed them, whatever else was compiled before: what a
//! text of the library means follows from those before it.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::ast::{Interner, Item as Tree, Member, NO_NUMBER, StructDecl, Symbol, TranslationUnit};
use super::lexer::{Token, TokenKind as T};
use super::parser::{Names, Numbers, parse_after};
use super::spare::declarations;
use super::{Options, builtins, preprocess};
use crate::ir::kept::Keeper;
use crate::library::{Part, all};
use crate::source::{SourceFile, SourceMap};

/// A text of the library, read.
#[derive(Debug)]
struct Book {
    /// The text as messages know it.
    file: SourceFile,
    unit: TranslationUnit,
    items: Vec<Item>,
    /// The number of its first item.
    first: u32,
    /// The namespaces that it opens.
    namespaces: Vec<Symbol>,
}

/// A declaration of it, or a member function of a class. Others of its book are known by their places there.
#[derive(Debug)]
struct Item {
    /// What it declares.
    names: Vec<Symbol>,
    /// What it mentions; a class outside of its member functions.
    mentions: Vec<Symbol>,
    /// It is used without being named: an operator, a special member.
    unnamed: bool,
    /// The compiler itself asks for it.
    implied: bool,
    /// The class that it is a member of.
    class: Option<usize>,
    /// The member functions of this class.
    members: Vec<usize>,
}

/// What has been read.
#[derive(Debug, Clone, Default)]
pub(super) struct Shelf {
    pub interner: Interner,
    names: Names,
    books: Vec<Arc<Book>>,
    /// The items that declare a name: books, and places in them.
    declares: HashMap<Symbol, Vec<(usize, usize)>>,
    /// The operators at namespace scope that mention a name.
    operators: HashMap<Symbol, Vec<(usize, usize)>>,
    /// The built-in vectors that operators mention.
    vectors: HashSet<Symbol>,
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
        let (items, numbers) = self.items(&tokens);
        let unit = parse_after(&mut self.names, tokens, &numbers, &mut self.interner, &mut diags);
        debug_assert!(diags.is_empty(), "{}: {diags:?}", part.name);
        let namespace = |tree: &Tree| match tree {
            Tree::Namespace(namespace) => namespace.name.map(|name| name.name),
            _ => None,
        };
        let namespaces = unit.items.list.iter().filter_map(namespace).collect();
        for (i, item) in items.iter().enumerate() {
            for name in &item.names {
                self.declares.entry(*name).or_default().push((self.books.len(), i));
            }
            for name in item.mentions.iter().filter(|_| item.unnamed && item.class.is_none()) {
                self.operators.entry(*name).or_default().push((self.books.len(), i));
                if builtins::vector_names().any(|vector| vector == self.interner.name(*name)) {
                    self.vectors.insert(*name);
                }
            }
        }
        let (file, first) = (SourceFile::new(part.name, part.text), self.count);
        self.count += items.len() as u32;
        self.interner.seal();
        self.books.push(Arc::new(Book { file, unit, items, first, namespaces }));
    }

    /// The declarations of a text, with the numbers that they get by the tokens that they start with.
    fn items(&self, tokens: &[Token]) -> (Vec<Item>, Numbers) {
        let declarations = declarations(tokens, &self.interner);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); declarations.len()];
        for (i, d) in declarations.iter().enumerate() {
            d.class.into_iter().for_each(|class| members[class].push(i));
        }
        let mut items: Vec<Item> = Vec::with_capacity(declarations.len());
        let mut numbers = Numbers::default();
        for (i, (d, members)) in declarations.iter().zip(members).enumerate() {
            numbers.insert(d.start, self.count + i as u32);
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
            let names = d.names.clone();
            let implied = names.iter().any(|name| self.interner.name(*name).starts_with("__wb_"));
            items.push(Item { names, mentions, unnamed: d.unnamed, implied, class: d.class, members });
        }
        (items, numbers)
    }

    /// What a text reaches of some texts of the library by the names that `interner` has met; their files go to `sources`.
    pub fn reached(
        &self,
        parts: &[&'static Part],
        sources: &mut SourceMap,
        interner: &Interner,
        keeper: Option<Keeper>,
    ) -> Library {
        let mut is_open = vec![false; self.books.len()];
        parts.iter().for_each(|part| is_open[place(part)] = true);
        let open = || self.books.iter().enumerate().filter(|(b, _)| is_open[*b]);
        for (number, book) in open() {
            sources.add_common(number as u32, book.file.clone());
        }
        let mut reach = Reach {
            shelf: self,
            is_open: &is_open,
            wanted: vec![false; self.count as usize],
            seen: Vec::new(),
            work: Vec::new(),
        };
        interner.met().for_each(|symbol| reach.see(symbol));
        reach.close();
        let Reach { wanted, .. } = reach;
        let items = open().flat_map(|(_, book)| (book.first..).zip(&book.items));
        let declared = items.filter(|(number, _)| wanted[*number as usize]).flat_map(|(_, item)| &item.names);
        let namespaces = open().flat_map(|(_, book)| &book.namespaces);
        let names = self.names.reached(declared.chain(namespaces).copied());
        let parts = open().fold(0, |parts, (number, _)| parts | 1 << number);
        Library { books: open().map(|(_, book)| book.clone()).collect(), wanted, names, parts, keeper }
    }
}

/// Where among all a text stands.
fn place(part: &'static Part) -> usize {
    all().iter().position(|p| std::ptr::eq(*p, part)).unwrap_or(usize::MAX - 1)
}

/// What is being found to be reached.
struct Reach<'s> {
    shelf: &'s Shelf,
    is_open: &'s [bool],
    /// By number.
    wanted: Vec<bool>,
    /// By symbol.
    seen: Vec<bool>,
    work: Vec<(usize, usize)>,
}

impl Reach<'_> {
    fn has_seen(&self, symbol: Symbol) -> bool {
        self.seen.get(symbol.0 as usize).copied().unwrap_or(false)
    }

    /// A name is mentioned.
    fn see(&mut self, symbol: Symbol) {
        let index = symbol.0 as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 256, false);
        }
        if !std::mem::replace(&mut self.seen[index], true) {
            if let Some(items) = self.shelf.declares.get(&symbol) {
                self.work.extend(items.iter().filter(|(book, _)| self.is_open[*book]));
            }
            // Built-in vectors are nobody's declaration.
            if self.shelf.vectors.contains(&symbol) {
                self.wants_operators_of(symbol);
            }
        }
    }

    fn wants(&self, book: usize, item: usize) -> bool {
        self.wanted[self.shelf.books[book].first as usize + item]
    }

    /// An operator is wanted as soon as a type that it mentions is.
    fn wants_operators_of(&mut self, name: Symbol) {
        if let Some(operators) = self.shelf.operators.get(&name) {
            self.work.extend(operators.iter().filter(|(book, _)| self.is_open[*book]));
        }
    }

    fn close(&mut self) {
        let shelf = self.shelf;
        while let Some((b, i)) = self.work.pop() {
            let book = &shelf.books[b];
            let item = &book.items[i];
            // A member waits for its class.
            if self.wants(b, i) || item.class.is_some_and(|class| !self.wants(b, class)) {
                continue;
            }
            self.wanted[book.first as usize + i] = true;
            for &member in &item.members {
                let item = &book.items[member];
                if item.unnamed || item.implied || item.names.iter().any(|name| self.has_seen(*name)) {
                    self.work.push((b, member));
                }
            }
            item.mentions.iter().for_each(|mention| self.see(*mention));
            item.names.iter().for_each(|name| self.wants_operators_of(*name));
        }
    }
}

/// What a text reaches of the library.
#[derive(Debug, Default)]
pub struct Library {
    books: Vec<Arc<Book>>,
    wanted: Vec<bool>,
    /// What the text's own parse is to know of it.
    pub(super) names: Names,
    /// Which texts it is of, a bit each.
    pub(super) parts: u32,
    /// Who knows what was made of its functions before.
    pub(super) keeper: Option<Keeper>,
}

impl Library {
    /// The trees, in order.
    pub(super) fn units(&self) -> impl Iterator<Item = &TranslationUnit> {
        self.books.iter().map(|book| &book.unit)
    }

    /// Whether it opens a namespace of that name.
    pub(super) fn opens(&self, namespace: Symbol) -> bool {
        self.books.iter().any(|book| book.namespaces.contains(&namespace))
    }

    /// How many declarations are reached.
    pub(super) fn count(&self) -> usize {
        self.wanted.iter().filter(|wanted| **wanted).count()
    }

    /// Whether the declaration of a number is reached.
    pub(super) fn wants(&self, number: u32) -> bool {
        number == NO_NUMBER || self.wanted[number as usize]
    }

    /// The members of a struct: of one of the library those that are reached.
    pub(super) fn members<'a>(&'a self, decl: &'a StructDecl) -> impl Iterator<Item = &'a Member> {
        let (members, numbers) = (&decl.members, &decl.numbers);
        (0..members.len()).filter(|i| numbers.get(*i).is_none_or(|number| self.wants(*number))).map(|i| &members[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_of_the_library_is_read_once() {
        let parts = all();
        let shelf = Shelf::default().with(&parts);
        let mut found = vec![0; shelf.count as usize];
        fn count(items: &crate::front::ast::Items, found: &mut [u32]) {
            assert_eq!(items.list.len(), items.numbers.len());
            let mut last = NO_NUMBER;
            for (item, &number) in items.list.iter().zip(&items.numbers) {
                // One declaration may make several.
                if number != NO_NUMBER && number != last {
                    found[number as usize] += 1;
                }
                last = number;
                match item {
                    Tree::Namespace(namespace) => count(&namespace.items, found),
                    Tree::Struct(decl) => {
                        assert_eq!(decl.members.len(), decl.numbers.len());
                        let numbers = decl.numbers.iter().filter(|n| **n != NO_NUMBER);
                        numbers.for_each(|n| found[*n as usize] += 1);
                    }
                    _ => {}
                }
            }
        }
        shelf.books.iter().for_each(|book| count(&book.unit.items, &mut found));
        for book in &shelf.books {
            for (number, item) in (book.first..).zip(&book.items) {
                let names: Vec<&str> = item.names.iter().map(|name| shelf.interner.name(*name)).collect();
                assert_eq!(found[number as usize], 1, "{}: {names:?}", book.file.name);
            }
        }
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
                match crate::front::compile_beside(&shelf, &mut sources, file, &Options::default(), None) {
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

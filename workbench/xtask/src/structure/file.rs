//! Names of one file: those that its modules define and import, and every path in its code.
//!
//! Test code is left out: items, statements and members under `#[cfg(test)]` or `#[test]`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A name that a `use` brings into a module.
#[derive(Debug, Clone)]
pub struct Import {
    /// The name here; none of a glob.
    pub name: Option<String>,
    /// The path it stands for, as written.
    pub path: Vec<String>,
    /// Its line.
    pub line: usize,
    /// True if others may import it from here.
    pub public: bool,
}

/// A path in code.
#[derive(Debug, Clone)]
pub struct Mention {
    /// The path as written.
    pub path: Vec<String>,
    /// Its line.
    pub line: usize,
}

/// A module inside a file: the file itself, or an inline one.
#[derive(Debug, Default)]
pub struct Scope {
    /// Its name; empty for the file itself.
    pub name: String,
    /// Names of the items it defines, without modules.
    pub items: Vec<String>,
    /// Names its `use` items bring.
    pub imports: Vec<Import>,
    /// Paths its code names, those in bodies and macros among them.
    pub mentions: Vec<Mention>,
    /// Its inline modules.
    pub inline: Vec<Scope>,
    /// Its modules in files of their own.
    pub files: Vec<Declared>,
}

/// A module declared here with its text in another file.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The file in `#[path]`.
    pub path: Option<String>,
    /// True if it is compiled in tests alone.
    pub test: bool,
}

/// A function outside tests.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name, after that of its type.
    pub name: String,
    /// The line of `fn`.
    pub line: usize,
    /// Lines from `fn` to the closing brace.
    pub lines: usize,
}

/// The modules, imports and names of a file.
#[derive(Debug, Default)]
pub struct File {
    /// Its module.
    pub scope: Scope,
    /// Lines of test code, each a first and a last line.
    pub tests: Vec<(usize, usize)>,
    /// Its functions.
    pub functions: Vec<Function>,
}

impl File {
    /// Reads a file's text.
    ///
    /// # Errors
    /// The place where the text is no Rust.
    pub fn read(text: &str) -> Result<File, String> {
        let parsed = syn::parse_file(text).map_err(|e| format!("{}: {e}", e.span().start().line))?;
        let mut reader = Reader { scopes: vec![Scope::default()], file: File::default(), owner: Vec::new() };
        reader.visit_file(&parsed);
        let mut file = reader.file;
        file.scope = reader.scopes.pop().unwrap_or_default();
        Ok(file)
    }

    /// True if a line, counted from 1, is test code.
    pub fn is_test(&self, line: usize) -> bool {
        self.tests.iter().any(|(first, last)| (*first..=*last).contains(&line))
    }
}

/// True if an item with these attributes is compiled in tests alone.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => needs_test(list.tokens.clone()),
        _ => false,
    })
}

/// True if a condition of `cfg` holds in tests alone.
fn needs_test(condition: TokenStream) -> bool {
    let mut tokens = condition.into_iter();
    let Some(TokenTree::Ident(word)) = tokens.next() else { return false };
    let inside = match tokens.next() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => return word == "test",
    };
    let mut parts = vec![Vec::new()];
    for token in inside {
        match token {
            TokenTree::Punct(p) if p.as_char() == ',' => parts.push(Vec::new()),
            other => parts.last_mut().into_iter().for_each(|part| part.push(other.clone())),
        }
    }
    let mut parts = parts.into_iter().filter(|p| !p.is_empty()).map(|p| needs_test(p.into_iter().collect()));
    if word == "all" { parts.any(|p| p) } else { word == "any" && parts.all(|p| p) }
}

struct Reader {
    /// The enclosing modules, the file's first.
    scopes: Vec<Scope>,
    file: File,
    /// The enclosing types and functions.
    owner: Vec<String>,
}

impl Reader {
    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// True if an item is test code, which is then left out.
    fn leaves(&mut self, attributes: &[syn::Attribute], whole: &dyn Fn() -> proc_macro2::Span) -> bool {
        let test = is_test(attributes);
        if test {
            let span = whole();
            self.file.tests.push((span.start().line, span.end().line));
        }
        test
    }

    fn mention(&mut self, path: Vec<String>, line: usize) {
        self.scope().mentions.push(Mention { path, line });
    }

    /// The names of a `use` tree.
    fn tree(&mut self, tree: &syn::UseTree, before: &[String], public: bool, imports: &mut Vec<Import>) {
        let with = |ident: &syn::Ident| before.iter().cloned().chain([plain(ident)]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(p) => self.tree(&p.tree, &with(&p.ident), public, imports),
            syn::UseTree::Group(g) => g.items.iter().for_each(|t| self.tree(t, before, public, imports)),
            syn::UseTree::Glob(g) => {
                let line = g.star_token.span.start().line;
                imports.push(Import { name: None, path: before.to_vec(), line, public });
            }
            syn::UseTree::Name(syn::UseName { ident }) => {
                let path = if ident == "self" { before.to_vec() } else { with(ident) };
                imports.push(Import { name: path.last().cloned(), path, line: ident.span().start().line, public });
            }
            syn::UseTree::Rename(syn::UseRename { ident, rename, .. }) => {
                let path = if ident == "self" && !before.is_empty() { before.to_vec() } else { with(ident) };
                let name = Some(plain(rename));
                imports.push(Import { name, path, line: ident.span().start().line, public });
            }
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let line = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        let name = self.owner.iter().cloned().chain([plain(&signature.ident)]).collect::<Vec<_>>().join("::");
        self.file.functions.push(Function { name, line, lines: last + 1 - line });
    }

    /// Runs inside a type or a function.
    fn inside(&mut self, owner: Option<String>, visit: impl FnOnce(&mut Reader)) {
        let before = self.owner.len();
        self.owner.extend(owner);
        visit(self);
        self.owner.truncate(before);
    }

    /// The paths in a macro's tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let colons = |at: usize| {
            matches!((tokens.get(at), tokens.get(at + 1)),
            (Some(TokenTree::Punct(a)), Some(TokenTree::Punct(b))) if a.as_char() == ':' && b.as_char() == ':')
        };
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let (mut path, line, start) = (vec![plain(first)], first.span().start().line, at);
                    while colons(at + 1)
                        && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                    {
                        path.push(plain(next));
                        at += 3;
                    }
                    let before = start.checked_sub(1).and_then(|b| tokens.get(b));
                    // A member, or the rest of a path that begins with `::`, `<T>::` or a parameter of the macro.
                    let continues = matches!(before, Some(TokenTree::Punct(p)) if p.as_char() == '.')
                        || start >= 2 && colons(start - 2);
                    let called = match tokens.get(at + 1) {
                        Some(TokenTree::Group(g)) => g.delimiter() == Delimiter::Parenthesis,
                        Some(TokenTree::Punct(p)) => p.as_char() == '!',
                        _ => false,
                    };
                    if !continues && (path.len() > 1 || called || is_upper(&path[0])) {
                        self.mention(path, line);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

fn plain(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

fn is_upper(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|s| plain(&s.ident)).collect()
}

/// The name of the type of an `impl`.
fn name_of(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(p) => p.path.segments.last().map(|s| plain(&s.ident)),
        syn::Type::Reference(r) => name_of(&r.elem),
        _ => None,
    }
}

/// The attributes and the name of an item.
fn of_item(item: &syn::Item) -> (&[syn::Attribute], Option<&syn::Ident>) {
    match item {
        syn::Item::Const(i) => (&i.attrs, Some(&i.ident)),
        syn::Item::Enum(i) => (&i.attrs, Some(&i.ident)),
        syn::Item::ExternCrate(i) => (&i.attrs, None),
        syn::Item::Fn(i) => (&i.attrs, Some(&i.sig.ident)),
        syn::Item::ForeignMod(i) => (&i.attrs, None),
        syn::Item::Impl(i) => (&i.attrs, None),
        syn::Item::Macro(i) => (&i.attrs, i.ident.as_ref()),
        syn::Item::Mod(i) => (&i.attrs, None),
        syn::Item::Static(i) => (&i.attrs, Some(&i.ident)),
        syn::Item::Struct(i) => (&i.attrs, Some(&i.ident)),
        syn::Item::Trait(i) => (&i.attrs, Some(&i.ident)),
        syn::Item::TraitAlias(i) => (&i.attrs, Some(&i.ident)),
        syn::Item::Type(i) => (&i.attrs, Some(&i.ident)),
        syn::Item::Union(i) => (&i.attrs, Some(&i.ident)),
        syn::Item::Use(i) => (&i.attrs, None),
        _ => (&[], None),
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let (attributes, name) = of_item(item);
        // A module in a file of its own is read there, where everything is test code.
        let elsewhere = matches!(item, syn::Item::Mod(m) if m.content.is_none());
        if self.leaves(attributes, &|| item.span()) && !elsewhere {
            return;
        }
        // Names that a function defines within itself are named by nobody else.
        if let Some(name) = name
            && self.owner.is_empty()
        {
            let name = plain(name);
            self.scope().items.push(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        let name = plain(&module.ident);
        let Some((_, items)) = &module.content else {
            let path = module.attrs.iter().find(|a| a.path().is_ident("path")).and_then(|a| match &a.meta {
                syn::Meta::NameValue(syn::MetaNameValue {
                    value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
                    ..
                }) => Some(text.value()),
                _ => None,
            });
            let test = is_test(&module.attrs);
            self.scope().files.push(Declared { name, path, test });
            return;
        };
        self.scopes.push(Scope { name, ..Scope::default() });
        items.iter().for_each(|i| self.visit_item(i));
        let inner = self.scopes.pop();
        self.scope().inline.extend(inner);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        if item.leading_colon.is_some() {
            return;
        }
        let public = !matches!(item.vis, syn::Visibility::Inherited);
        let mut imports = Vec::new();
        self.tree(&item.tree, &[], public, &mut imports);
        self.scope().imports.extend(imports);
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(&item.sig, &item.block);
        self.inside(Some(plain(&item.sig.ident)), |r| visit::visit_item_fn(r, item));
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        self.inside(name_of(&item.self_ty), |r| visit::visit_item_impl(r, item));
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.inside(Some(plain(&item.ident)), |r| visit::visit_item_trait(r, item));
    }

    fn visit_impl_item(&mut self, item: &'a syn::ImplItem) {
        let attributes: &[syn::Attribute] = match item {
            syn::ImplItem::Const(i) => &i.attrs,
            syn::ImplItem::Fn(i) => &i.attrs,
            syn::ImplItem::Type(i) => &i.attrs,
            syn::ImplItem::Macro(i) => &i.attrs,
            _ => &[],
        };
        if !self.leaves(attributes, &|| item.span()) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        self.inside(Some(plain(&item.sig.ident)), |r| visit::visit_impl_item_fn(r, item));
    }

    fn visit_trait_item(&mut self, item: &'a syn::TraitItem) {
        let attributes: &[syn::Attribute] = match item {
            syn::TraitItem::Const(i) => &i.attrs,
            syn::TraitItem::Fn(i) => &i.attrs,
            syn::TraitItem::Type(i) => &i.attrs,
            syn::TraitItem::Macro(i) => &i.attrs,
            _ => &[],
        };
        if !self.leaves(attributes, &|| item.span()) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_local(&mut self, local: &'a syn::Local) {
        if !self.leaves(&local.attrs, &|| local.span()) {
            visit::visit_local(self, local);
        }
    }

    fn visit_field(&mut self, field: &'a syn::Field) {
        if !self.leaves(&field.attrs, &|| field.span()) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'a syn::FieldValue) {
        if !self.leaves(&field.attrs, &|| field.span()) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if !self.leaves(&arm.attrs, &|| arm.span()) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_expr_block(&mut self, block: &'a syn::ExprBlock) {
        if !self.leaves(&block.attrs, &|| block.span()) {
            visit::visit_expr_block(self, block);
        }
    }

    // Attributes and their comments name nothing that runs.
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func
            && let Some(name) = function.path.get_ident()
        {
            // A single word in small letters may be a variable, but not where it is called.
            let (name, line) = (plain(name), name.span().start().line);
            if !is_upper(&name) {
                self.mention(vec![name], line);
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_pat_ident(&mut self, pattern: &'a syn::PatIdent) {
        let name = plain(&pattern.ident);
        if is_upper(&name) && pattern.subpat.is_none() {
            self.mention(vec![name], pattern.ident.span().start().line);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() {
            let words = segments(path);
            let line = path.segments.first().map_or(0, |s| s.ident.span().start().line);
            if words.len() > 1 || words.first().is_some_and(|w| is_upper(w)) {
                self.mention(words, line);
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        let (path, line) = (segments(&mac.path), mac.path.span().start().line);
        self.mention(path, line);
        self.tokens(mac.tokens.clone());
    }
}

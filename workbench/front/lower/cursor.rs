//! Names at an editor's cursor ([`Cursor`]): those that a lookup could find there, or the meaning of the one that stands there, each with
//! its declarations.

use super::Lowerer;
use super::expressions::typed_tree::{FuncIndex, TemplateIndex};
use super::scopes::names::{Callable, Decl, GLOBAL, ScopeId, ScopeKind};
use super::templates::declarations::TemplateKind;
use crate::front::ast::{Access, Ident, Item, Member, MemberKind, Symbol, TemplateHead};
use crate::front::cursor::{Cursor, KnownName, NameKind};
use crate::front::types::{Kind, Ty};
use crate::ir::{Const, Scalar};
use crate::source::Span;

/// Most characters of a declaration that is shown.
const MAX_DECLARATION: usize = 400;

/// Most overloads that are shown.
const MAX_OVERLOADS: usize = 24;

impl<'a> Lowerer<'a> {
    /// Lets lookups tell what they find at a cursor.
    pub(super) fn set_cursor(&mut self, cursor: Option<(&'a Cursor, Symbol)>) {
        self.cursor = cursor;
        self.scopes.watched = cursor.and_then(|(cursor, _)| cursor.watched());
    }

    /// Notes the names in scope, if it is the cursor's name that is looked up.
    pub(super) fn look_round(&mut self, symbol: Symbol) {
        let Some(cursor) = self.cursor_named(symbol).filter(|cursor| cursor.is_free()) else { return };
        let mut scopes = vec![self.scopes.current()];
        while let Some(parent) = scopes.last().and_then(|&scope| self.scopes.parent(scope)) {
            scopes.push(parent);
        }
        if cursor.is_open(scopes.len()) {
            self.note_names(cursor, &scopes);
        }
    }

    /// Notes the names in a scope, if it is the cursor's name that is looked up there.
    pub(super) fn look_into(&mut self, scope: ScopeId, symbol: Symbol) {
        if let Some(cursor) = self.cursor_named(symbol).filter(|cursor| cursor.is_open(1)) {
            self.note_names(cursor, &[scope]);
        }
    }

    /// Notes the constants of an enum, if it is the cursor's name that is looked up there.
    pub(super) fn look_into_enum(&mut self, id: u32, ty: &Ty, symbol: Symbol) {
        let Some(cursor) = self.cursor_named(symbol) else { return };
        let names: Vec<Symbol> = self.enum_names(id).filter(|name| self.is_wanted(cursor, *name)).collect();
        let known = |name: Symbol| {
            let constant = self.enum_constant(id, name)?;
            Some(self.known(name, &Decl::Constant(ty.clone(), constant), Span::NONE))
        };
        cursor.note(1, names.into_iter().filter_map(known).collect());
    }

    /// Notes the meaning of a name, if the cursor is at it.
    /// It was looked up in a scope, or from the current one.
    pub(super) fn note_meaning(&self, ident: &Ident, decl: &Decl, scope: Option<ScopeId>) {
        if let Some((cursor, _)) = self.cursor
            && cursor.asks_for(ident.span)
        {
            let span = match scope {
                Some(scope) => {
                    self.scopes.entry(scope, ident.name, &mut Vec::new()).ok().flatten().map(|(_, span)| span)
                }
                None => self.scopes.span(ident.name),
            };
            cursor.note(1, vec![self.known(ident.name, decl, span.unwrap_or(Span::NONE))]);
        }
    }

    /// The place of a field's name in its class.
    pub(super) fn field_span(&self, owner: u32, symbol: Symbol) -> Option<Span> {
        let members = &self.class(owner).decl?.members;
        members.iter().find_map(|member| match &member.kind {
            MemberKind::Field(decl) => decl.vars.iter().find(|var| var.name.name == symbol).map(|var| var.name.span),
            _ => None,
        })
    }

    /// The body of a lambda that the cursor is in is lowered, whether something calls it or not.
    pub(super) fn reach_lambda(&mut self, index: FuncIndex, span: Span) {
        if self.cursor.is_some_and(|(cursor, _)| cursor.is_in(span)) {
            self.note_call(index, span);
        }
    }

    /// A member of a class of the library that its text keeps to itself.
    fn is_kept_back(&self, scope: ScopeId, symbol: Symbol) -> bool {
        let ScopeKind::Class(id) = self.scopes.kind(scope) else {
            // In no namespace these are CUDA's.
            let is_inner = scope != GLOBAL && self.scopes.space(scope).is_some();
            return is_inner && self.interner.name(symbol).starts_with("__");
        };
        let class = self.class(id);
        let Some(decl) = class.decl.filter(|decl| self.in_library(decl.span)) else { return false };
        let name = self.interner.name(symbol);
        let is_own_name = decl.name.as_ref().is_some_and(|name| name.last().name == symbol);
        let is_it = |member: &&Member| match &member.kind {
            MemberKind::Field(decl) => decl.vars.iter().any(|var| var.name.name == symbol),
            MemberKind::Function(f) => f.name.last().name == symbol,
            _ => false,
        };
        let waiting = decl.waiting.get(&symbol).into_iter().flatten();
        let found = decl.members.iter().filter(is_it).chain(waiting).all(|member| member.access != Access::Public);
        let is_any = decl.members.iter().any(|member| is_it(&member)) || decl.waiting.contains_key(&symbol);
        is_own_name || name.starts_with('_') || name.ends_with('_') || is_any && found
    }

    /// Notes what a declaration at the cursor declares, if no lookup has told.
    pub(super) fn note_declared(&self) {
        if let Some((cursor, _)) = self.cursor
            && cursor.is_open(1)
            && let Some((scope, symbol)) = self.scopes.seen
            && let Ok(Some((decl, span))) = self.scopes.entry(scope, symbol, &mut Vec::new())
        {
            cursor.note(1, vec![self.known(symbol, &decl, span)]);
        }
    }

    fn cursor_named(&self, symbol: Symbol) -> Option<&'a Cursor> {
        let (cursor, name) = self.cursor?;
        (name == symbol).then_some(cursor)
    }

    fn is_wanted(&self, cursor: &Cursor, symbol: Symbol) -> bool {
        let name = self.interner.name(symbol);
        // Words of the library's own, operators, destructors.
        let is_ours = is_ours(name) || name.starts_with("operator");
        let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let prefix = cursor.prefix().unwrap_or("");
        let begins = name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        begins && is_word && !is_ours
    }

    /// Notes the names in scopes, the innermost first; what an inner one has hides the outer ones' of that name.
    fn note_names(&mut self, cursor: &'a Cursor, scopes: &[ScopeId]) {
        let mut found: Vec<KnownName> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for &scope in scopes {
            let mut names: Vec<Symbol> =
                self.scopes.names_within(scope).filter(|n| self.is_wanted(cursor, *n)).collect();
            names.sort_unstable_by_key(|name| self.interner.name(*name));
            names.dedup();
            names.retain(|name| !self.is_kept_back(scope, *name));
            for name in names.into_iter().filter(|name| seen.insert(*name)) {
                found.extend(self.known_in(scope, name));
            }
        }
        cursor.note(scopes.len(), found);
    }

    /// The meaning of a name in a scope. What waits in a namespace of the library is described by its syntax.
    fn known_in(&mut self, scope: ScopeId, symbol: Symbol) -> Option<KnownName> {
        if matches!(self.scopes.kind(scope), ScopeKind::Class(_)) {
            let decl = self.lookup_in(scope, symbol)?;
            let span = self.scopes.entry(scope, symbol, &mut Vec::new()).ok().flatten().map(|(_, span)| span);
            return Some(self.known(symbol, &decl, span.unwrap_or(Span::NONE)));
        }
        match self.scopes.entry(scope, symbol, &mut Vec::new()) {
            Ok(found) => found.map(|(decl, span)| self.known(symbol, &decl, span)),
            Err(waits) => {
                let space = self.scopes.space(waits.0)?;
                let items: Vec<&'a Item> = self.scopes.lazy.items(space, symbol).collect();
                let declarations: Vec<String> =
                    items.iter().filter_map(|item| self.item_text(item)).take(MAX_OVERLOADS).collect();
                // Macros of the library declare much of it; what they declare has types.
                if declarations.iter().any(|text| is_ours(text)) {
                    let decl = self.lookup_in(scope, symbol)?;
                    return Some(self.known(symbol, &decl, Span::NONE));
                }
                let kind = items.first().map_or(NameKind::Text, |item| kind_of(item));
                Some(KnownName { name: self.interner.name(symbol).to_owned(), kind, declarations, span: Span::NONE })
            }
        }
    }

    /// A declaration of the library as its text has it.
    fn item_text(&self, item: &Item) -> Option<String> {
        match item {
            Item::Function(f) => Some(self.head(&f.templates, f.span)),
            Item::Struct(s) => {
                let name = s.name.as_ref()?.last();
                Some(format!("{}struct {}", self.templates_text(&s.templates), self.interner.name(name.name)))
            }
            Item::Alias(alias) => Some(format!("using {} = {}", self.text(&alias.name), self.written(alias.ty.span))),
            _ => None,
        }
    }

    /// A name with what it means.
    fn known(&self, symbol: Symbol, decl: &Decl, span: Span) -> KnownName {
        let name = self.interner.name(symbol).to_owned();
        let one = |text: String| vec![text];
        let (kind, declarations) = match decl {
            Decl::Var(id) => (NameKind::Variable, one(self.var(*id).ty.declaring(&name))),
            Decl::Place(place) => (NameKind::Variable, one(place.ty.declaring(&name))),
            Decl::Field(field) => (NameKind::Field, one(field.ty.declaring(&name))),
            Decl::Constant(ty, c) => (NameKind::Constant, one(format!("{} = {}", ty.declaring(&name), value_text(*c)))),
            Decl::Type(ty) => (NameKind::Type, one(type_text(ty, &name))),
            Decl::Namespace(_) => (NameKind::Namespace, one(format!("namespace {name}"))),
            Decl::Template(index) => (NameKind::Type, one(self.template_text(*index))),
            Decl::Pack(_) => (NameKind::Type, one(format!("{name}..."))),
            Decl::Vars(vars) => {
                let types: Vec<String> = vars.iter().map(|id| self.var(*id).ty.to_string()).collect();
                (NameKind::Variable, one(format!("{name}... ({})", types.join(", "))))
            }
            Decl::Functions(set) => {
                let texts: Vec<String> = set.iter().take(MAX_OVERLOADS).map(|c| self.callable_text(*c)).collect();
                let is_method = set.iter().any(|c| matches!(c, Callable::Func(f) if self.func(*f).this.is_some()));
                (if is_method { NameKind::Method } else { NameKind::Function }, texts)
            }
        };
        // Functions know where they stand; the name is only noted once.
        let place = match decl {
            Decl::Functions(set) => set.first().map_or(span, |first| self.callable_span(*first)),
            Decl::Var(id) => self.var(*id).span,
            Decl::Field(field) => self.field_span(field.owner, symbol).unwrap_or(Span::NONE),
            _ => span,
        };
        let span = if self.in_library(place) { Span::NONE } else { place };
        KnownName { name, kind, declarations, span }
    }

    fn callable_span(&self, callable: Callable) -> Span {
        match callable {
            Callable::Func(index) => self.func(index).whole,
            Callable::Template(index) => self.template(index).span,
        }
    }

    fn callable_text(&self, callable: Callable) -> String {
        let index = match callable {
            Callable::Template(index) => return self.template_text(index),
            Callable::Func(index) => index,
        };
        let func = self.func(index);
        if let Some((template, args)) = &func.template {
            return format!("{} with {}", self.template_text(*template), self.args_text(args));
        }
        let written = self.written(func.whole);
        let name = self.interner.name(func.name);
        // A macro's use stands for its text.
        if written.ends_with(')') && written.contains(&format!(" {name}(")) && !is_ours(&written) {
            return written;
        }
        let named = func.code.as_ref().map_or(&[][..], |code| code.params);
        let param = |(at, ty): (usize, &Ty)| match named.get(at).and_then(|param| param.name) {
            Some(name) if !is_ours(self.text(&name)) => ty.declaring(self.text(&name)),
            _ => ty.to_string(),
        };
        let params: Vec<String> = func.params.iter().enumerate().map(param).collect();
        format!("{} {}({})", func.ret, func.display, params.join(", "))
    }

    fn template_text(&self, index: TemplateIndex) -> String {
        let template = self.template(index);
        let name = self.interner.name(template.name);
        match &template.kind {
            TemplateKind::Function { decl, .. } => self.head(&decl.templates, decl.span),
            TemplateKind::Struct { decl, .. } => format!("{}struct {name}", self.templates_text(&decl.templates)),
            TemplateKind::Alias(alias) => {
                format!("{}using {name} = {}", self.templates_text(&alias.templates), self.written(alias.ty.span))
            }
            TemplateKind::Lambda { .. } | TemplateKind::Variable { .. } => name.to_owned(),
        }
    }

    /// The head of a function, with the parameters of its template.
    fn head(&self, templates: &[TemplateHead], span: Span) -> String {
        let written = self.written(span);
        if written.starts_with("template") {
            return written;
        }
        format!("{}{written}", self.templates_text(templates))
    }

    fn templates_text(&self, templates: &[TemplateHead]) -> String {
        templates.iter().map(|head| format!("{} ", self.written(head.span))).collect()
    }

    /// The text of a place in one line.
    fn written(&self, span: Span) -> String {
        let text = without_comments(self.sources.text(span));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(MAX_DECLARATION) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    }
}

/// The text names what is the library's own.
fn is_ours(text: &str) -> bool {
    text.contains("__wb") || text.contains("__WB")
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        out.push_str(&rest[..at]);
        out.push(' ');
        let end = if rest[at..].starts_with("//") {
            rest[at..].find('\n')
        } else {
            rest[at + 2..].find("*/").map(|end| end + 4)
        };
        rest = end.map_or("", |end| &rest[at + end..]);
    }
    out + rest
}

fn value_text(value: Const) -> String {
    match value {
        Const::Int(Scalar::U64, i) => (i as u64).to_string(),
        Const::Int(_, i) => i.to_string(),
        Const::F32(x) => format!("{x:?}f"),
        Const::F64(x) => format!("{x:?}"),
        Const::Bool(_) | Const::Null => value.to_string(),
    }
}

fn type_text(ty: &Ty, name: &str) -> String {
    let shown = ty.to_string();
    let key = match &ty.kind {
        Kind::Struct(_) => "struct",
        Kind::Enum(_) => "enum",
        _ => "",
    };
    if shown == name && !key.is_empty() { format!("{key} {name}") } else { format!("using {name} = {shown}") }
}

fn kind_of(item: &Item) -> NameKind {
    match item {
        Item::Function(_) => NameKind::Function,
        Item::Variables(_) => NameKind::Variable,
        Item::Namespace(_) | Item::NamespaceAlias(_) => NameKind::Namespace,
        Item::UsingDecl(_) => NameKind::Function,
        _ => NameKind::Type,
    }
}

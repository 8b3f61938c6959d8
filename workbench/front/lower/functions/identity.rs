//! Identity of a function of the library, whatever text it is lowered for: what one text has had made, others need not lower again.
//!
//! A body of the library means the same in every text that opens the same parts of it: names in it are looked up among what those declare
//! ([`Scopes::see_library`](crate::front::lower::scopes::names::Scopes::see_library)), and an instance is told by its template's place and by its arguments. What takes types of the
//! text's is the text's; so is what calls such a function, or holds a function's address as a number, which counts the functions of one text.
//!
//! A template also finds what is declared beside its arguments' types ([basic.lookup.argdep]). Of types at global scope (vectors, the 16-bit
//! floats) that is whatever the text declares there, so an instance for such a type has no identity. In a text that declares something in
//! the library's namespaces, or specialises one of its templates, nothing has.
//!
//! The identity is the place of the declaration and the template arguments. By it a back end has the code of functions that are called, and
//! the IR of those that are inlined.

use std::hash::{BuildHasher, RandomState};

use crate::front::ast::{Item, Name, Symbol};
use crate::front::lower::expressions::typed_tree::FuncIndex;
use crate::front::lower::scopes::names::{GLOBAL, ScopeId, ScopeKind, TArg};
use crate::front::lower::{Lowerer, Side};
use crate::front::types::{FnTy, Kind, StructTy, Ty};
use crate::ir::{Identity, KnownFunction, Module};
use crate::once::Once;
use crate::source::Span;

/// Words that tell a function from others.
#[derive(Default)]
struct IdentityWords(Vec<u64>);

impl IdentityWords {
    fn push(&mut self, word: impl Into<u64>) {
        self.0.push(word.into());
    }

    fn text(&mut self, text: &str) {
        self.push(text.len() as u64);
        self.0.extend(text.bytes().map(u64::from));
    }

    /// A place in the library.
    fn place(&mut self, span: Span) -> Option<()> {
        if !span.file.is_common() {
            return None;
        }
        self.push(span.file.0);
        self.push(u64::from(span.start) << 32 | u64::from(span.end));
        Some(())
    }

    fn identity(&self) -> Identity {
        static STATES: Once<[RandomState; 2]> = Once::new(Default::default);
        Identity(STATES[0].hash_one(&self.0), STATES[1].hash_one(&self.0))
    }
}

impl Lowerer<'_> {
    /// The identity of a function; `None` where it is the text's.
    pub(in crate::front::lower) fn identity(&mut self, index: FuncIndex) -> Option<Identity> {
        if self.adapts {
            return None;
        }
        let func = self.func(index);
        let (scope, params, this) = (func.scope, func.params.clone(), func.this.clone());
        let args = func.template.as_ref().map(|(_, args)| args.clone());
        let mut words = IdentityWords::default();
        words.push(self.library.parts);
        words.place(func.whole)?;
        words.place(func.span)?;
        // The declarations of one macro have one place.
        words.text(self.interner.name(func.name));
        words.push(this.is_some_and(|this| this.is_const));
        self.tell_scope(scope, &mut words)?;
        self.tell_args(args.as_deref().unwrap_or_default(), &mut words)?;
        params.iter().try_for_each(|ty| self.tell(ty, false, &mut words))?;
        Some(words.identity())
    }

    /// The identity of the function that calls what pointers of a type point at, for a place of the library.
    pub(super) fn dispatcher_identity(&mut self, ty: &FnTy, place: Span) -> Option<Identity> {
        if self.adapts {
            return None;
        }
        let mut words = IdentityWords::default();
        words.push(self.library.parts);
        words.place(place)?;
        words.text("dispatch");
        self.tell(&Ty::new(Kind::Function(ty.clone().into())), false, &mut words)?;
        Some(words.identity())
    }

    /// The text declares something in the library's namespaces, or specialises what may be a template of the library's.
    pub(in crate::front::lower) fn may_adapt(&self, items: &[Item]) -> bool {
        let mut own = Vec::new();
        templates_of(items, &mut own);
        self.adapts_in(items, &own)
    }

    fn adapts_in(&self, items: &[Item], own: &[Symbol]) -> bool {
        let is_theirs = |name: &Name| {
            let qualified = name.qualifiers().first().is_some_and(|part| self.library.opens(part.ident.name));
            let last = name.last().name;
            qualified || self.interner.is_common(last) && !own.contains(&last)
        };
        items.iter().any(|item| match item {
            Item::Namespace(inner) => {
                inner.name.is_some_and(|name| self.library.opens(name.name)) && !inner.items.is_empty()
                    || self.adapts_in(&inner.items, own)
            }
            Item::Function(f) => f.templates.last().is_some_and(|head| head.params.is_empty()) && is_theirs(&f.name),
            Item::Struct(s) => s.name.as_ref().is_some_and(|name| name.last_part().args.is_some() && is_theirs(name)),
            Item::Variables(d) => {
                let mut names = d.vars.iter().filter_map(|var| var.qualified.as_ref());
                names.any(|name| name.last_part().args.is_some() && is_theirs(name))
            }
            _ => false,
        })
    }

    /// The function as another text has made it, if any has.
    pub(super) fn known_before(&self, index: FuncIndex, identity: Option<Identity>) -> Option<KnownFunction> {
        let func = self.func(index);
        // Functions that constants are computed with are needed as they are written, and a deduced result type follows from the body.
        let fits = func.side != Side::Kernel && !func.constexpr && func.auto.is_none();
        (self.library.keeper.filter(|_| fits)?)(identity?)
    }

    fn tell_args(&mut self, args: &[TArg], words: &mut IdentityWords) -> Option<()> {
        words.push(args.len() as u64);
        args.iter().try_for_each(|arg| match arg {
            TArg::Type(ty) => {
                words.push(0u64);
                self.tell(ty, true, words)
            }
            TArg::Value(ty, value) => {
                words.push(1u64);
                words.push(*value as u64);
                self.tell(ty, true, words)
            }
            TArg::Pack(args) => {
                words.push(2u64);
                self.tell_args(args, words)
            }
            TArg::Function(_) => None,
            TArg::Template(index) => {
                words.push(3u64);
                let (span, scope) = (self.template(*index).span, self.template(*index).scope);
                words.place(span)?;
                self.tell_scope(scope, words)
            }
        })
    }

    /// A type; `searched` where what is declared beside it counts.
    fn tell(&mut self, ty: &Ty, searched: bool, words: &mut IdentityWords) -> Option<()> {
        words.push(u64::from(ty.is_const) | u64::from(ty.is_volatile) << 1);
        let (kind, of) = match &ty.kind {
            Kind::Error | Kind::Braced => return None,
            Kind::Void => (0, None),
            Kind::Nullptr => (1, None),
            Kind::Num(num) => (2 + (*num as u64) * 16, None),
            Kind::Pointer(of) => (3, Some(of)),
            Kind::Reference(of) => (4, Some(of)),
            Kind::RvalueReference(of) => (5, Some(of)),
            Kind::Array(of, len) => {
                words.push(len.map_or(u64::MAX, u64::from));
                (6, Some(of))
            }
            Kind::Enum(e) => {
                words.push(7u64);
                let (span, scope) = *self.enum_places.get(e.id as usize)?;
                words.place(span)?;
                words.text(&e.name);
                if searched && self.scopes.namespace_of(scope) == GLOBAL {
                    return None;
                }
                return self.tell_scope(scope, words);
            }
            Kind::Struct(s) if searched && self.is_at_global_scope(s) => return None,
            Kind::Struct(s) if s.vector.is_some() => {
                words.push(8u64);
                words.text(&s.name);
                return Some(());
            }
            Kind::Struct(s) => {
                words.push(9u64);
                return self.tell_class(s.id, words);
            }
            Kind::Function(func) => {
                words.push(10u64);
                words.push(func.params.len() as u64);
                func.params.iter().try_for_each(|ty| self.tell(ty, searched, words))?;
                return self.tell(&func.ret, searched, words);
            }
        };
        words.push(kind);
        of.map_or(Some(()), |of| self.tell(of, searched, words))
    }

    fn is_at_global_scope(&self, s: &StructTy) -> bool {
        s.vector.is_some() || self.scopes.namespace_of(self.class(s.id).scope) == GLOBAL
    }

    /// A struct, by a hash that is worked out once.
    fn tell_class(&mut self, id: u32, words: &mut IdentityWords) -> Option<()> {
        let known = match self.class_identities.get(&id) {
            Some(known) => *known,
            None => {
                let made = self.class_identity(id);
                self.class_identities.insert(id, made);
                made
            }
        };
        let Identity(a, b) = known?;
        words.push(a);
        words.push(b);
        Some(())
    }

    fn class_identity(&mut self, id: u32) -> Option<Identity> {
        let class = self.class(id);
        if class.is_closure {
            return None;
        }
        let args = class.template.as_ref().map(|(_, args)| args.clone());
        let (span, scope) = (class.span, class.scope);
        let mut words = IdentityWords::default();
        words.place(span)?;
        words.text(&class.ty.name);
        self.tell_args(args.as_deref().unwrap_or_default(), &mut words)?;
        let outer = self.scopes.parent(scope)?;
        self.tell_scope(outer, &mut words)?;
        Some(words.identity())
    }

    /// The struct or namespace that a scope belongs to; `None` inside of a function.
    fn tell_scope(&mut self, scope: ScopeId, words: &mut IdentityWords) -> Option<()> {
        let mut at = scope;
        loop {
            match self.scopes.kind(at) {
                ScopeKind::Namespace => {
                    if let Some(name) = self.scopes.name(at) {
                        words.text(self.interner.name(name));
                    }
                    match self.scopes.parent(at) {
                        Some(outer) => at = outer,
                        None => return Some(()),
                    }
                }
                ScopeKind::Class(id) => return self.tell_class(id, words),
                ScopeKind::Block => return None,
                // Its arguments were told.
                ScopeKind::Template => at = self.scopes.parent(at)?,
            }
        }
    }

    /// Takes the identity of the unit's functions where it gave the library's names other meanings.
    pub(in crate::front::lower) fn strip_identities(&mut self) {
        if self.adapts || self.scopes.shadows {
            let own = self.module.functions.iter_mut().skip(self.links.first_function());
            own.filter(|f| f.kept.is_none()).for_each(|f| f.identity = None);
        }
    }
}

/// Takes the identity of those functions that call one without.
pub(in crate::front::lower) fn settle_identities(module: &mut Module) {
    let functions = &mut module.functions;
    let mut callers = vec![Vec::new(); functions.len()];
    for (i, func) in functions.iter().enumerate().filter(|(_, f)| f.identity.is_some()) {
        func.body.for_each_stmt(&mut |stmt| {
            if let Some(func) = stmt.mentions() {
                callers[func.index()].push(i);
            }
        });
    }
    let mut without: Vec<usize> = (0..functions.len()).filter(|i| functions[*i].identity.is_none()).collect();
    while let Some(i) = without.pop() {
        for &caller in &callers[i] {
            if functions[caller].identity.take().is_some() {
                without.push(caller);
            }
        }
    }
}

/// The templates that some declarations make, specialisations left out.
fn templates_of(items: &[Item], own: &mut Vec<Symbol>) {
    for item in items {
        match item {
            Item::Namespace(inner) => templates_of(&inner.items, own),
            Item::Function(f) if f.templates.last().is_some_and(|head| !head.params.is_empty()) => {
                own.push(f.name.last().name);
            }
            Item::Struct(s) if s.templates.last().is_some_and(|head| !head.params.is_empty()) => {
                own.extend(s.name.as_ref().filter(|name| name.last_part().args.is_none()).map(|name| name.last().name));
            }
            Item::Variables(d) if d.templates.last().is_some_and(|head| !head.params.is_empty()) => {
                own.extend(d.vars.iter().filter(|var| var.qualified.is_none()).map(|var| var.name.name));
            }
            _ => {}
        }
    }
}

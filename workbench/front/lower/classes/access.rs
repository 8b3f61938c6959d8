//! Access to members of a class of the text's ([class.access]): by the class itself and what is written inside of it, by its friends, and
//! where it is protected by the classes made from it. Classes of the library have no secrets, and its text none to keep.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Access, BaseType, FunctionDecl, FunctionKind, Ident, MemberKind, StructDecl, Symbol};
use crate::front::lower::Lowerer;
use crate::front::lower::expressions::typed_tree::FuncIndex;
use crate::front::lower::scopes::names::ScopeKind;
use crate::front::types::StructTy;
use crate::source::Span;

/// Access that a class gives to its members.
#[derive(Debug, Default)]
pub struct Guards {
    /// The access to members by name; of functions of one name that differ in it, the widest.
    members: HashMap<Symbol, (Access, Span)>,
    /// Access by which it has its bases, by their ids.
    bases: Vec<(u32, Access)>,
    /// Names of functions and classes that may use everything.
    friends: Vec<Symbol>,
    /// Names of a base's that it declares anew, as `using Base::f;` does.
    passed_on: Vec<Symbol>,
}

/// A method's class, and who may call it.
pub type Guard = Option<(u32, Access)>;

fn is_wider(a: Access, b: Access) -> bool {
    let rank = |access: Access| match access {
        Access::Public => 0,
        Access::Protected => 1,
        Access::Private => 2,
    };
    rank(a) < rank(b)
}

fn word(access: Access) -> &'static str {
    match access {
        Access::Public => "public",
        Access::Protected => "protected",
        Access::Private => "private",
    }
}

impl Guards {
    fn add(&mut self, name: Symbol, access: Access, span: Span) {
        let entry = self.members.entry(name).or_insert((access, span));
        if is_wider(access, entry.0) {
            *entry = (access, span);
        }
    }

    /// The members of a class; those of a struct without a name in it are the class's own.
    fn read(&mut self, decl: &StructDecl, within: Option<Access>) {
        for member in &decl.members {
            let access = within.unwrap_or(member.access);
            match &member.kind {
                MemberKind::Field(declaration) => {
                    declaration.vars.iter().for_each(|v| self.add(v.name.name, access, v.name.span));
                }
                MemberKind::Function(f) if matches!(f.kind, FunctionKind::Plain) => {
                    self.add(f.name.last().name, access, f.name.last().span);
                }
                MemberKind::Function(_) => {}
                MemberKind::Alias(alias) => self.add(alias.name.name, access, alias.name.span),
                MemberKind::Enum(e) => {
                    e.name.iter().for_each(|n| self.add(n.name, access, n.span));
                }
                MemberKind::Struct(inner) => match &inner.name {
                    Some(name) => self.add(name.last().name, access, name.last().span),
                    None => self.read(inner, Some(access)),
                },
                MemberKind::Using(name) => {
                    self.add(name.last().name, access, name.last().span);
                    self.passed_on.push(name.last().name);
                }
                MemberKind::FriendFunction(f) => self.friends.push(f.name.last().name),
                MemberKind::FriendType(ty) => {
                    if let BaseType::Named(name) = &ty.base {
                        self.friends.push(name.last().name);
                    }
                }
                MemberKind::StaticAssert(_) => {}
            }
        }
    }
}

impl<'a> Lowerer<'a> {
    /// Notes who may use the members of a class.
    pub(super) fn note_guards(&mut self, s: &StructTy, decl: &'a StructDecl) {
        if self.in_library(decl.span) {
            return;
        }
        let mut guards = Guards::default();
        guards.read(decl, None);
        self.class_mut(s.id).guards = guards;
    }

    /// Notes how a class has one of its bases.
    pub(super) fn note_base(&mut self, s: &StructTy, base: u32, access: Access) {
        if !self.in_library(self.class(s.id).span) {
            self.class_mut(s.id).guards.bases.push((base, access));
        }
    }

    /// The guard of a method, by its declaration in the class.
    pub(super) fn guard_of(&self, owner: u32, decl: &FunctionDecl) -> Guard {
        let class = self.class(owner);
        let found = class.decl?.members.iter().find_map(|m| match &m.kind {
            MemberKind::Function(f) if std::ptr::eq(f, decl) => Some(m.access),
            _ => None,
        });
        let by_name = || class.guards.members.get(&decl.name.last().name).map(|(access, _)| *access);
        Some((owner, found.or_else(by_name)?))
    }

    /// The access to what a class, or a base of it, calls so, and whose rule that is; `None` where nobody says.
    fn access_of(&self, class: u32, name: Symbol, seen: &mut HashSet<u32>) -> Option<(Access, u32, Span)> {
        let guards = &self.class(class).guards;
        if let Some((access, span)) = guards.members.get(&name) {
            return Some((*access, class, *span));
        }
        // A base that is one many times over is asked once.
        if !seen.insert(class) {
            return None;
        }
        guards.bases.iter().find_map(|(base, how)| {
            let (access, owner, span) = self.access_of(*base, name, seen)?;
            // An access that is narrowed on the way down is the rule of the class that narrowed it.
            Some(if is_wider(access, *how) { (*how, class, self.class(class).span) } else { (access, owner, span) })
        })
    }

    /// The text being lowered may use what only a class and its friends may.
    fn is_inside(&self, owner: u32, access: Access) -> bool {
        if access == Access::Public {
            return true;
        }
        let friends = &self.class(owner).guards.friends;
        let mut at = Some(self.scopes.current());
        while let Some(scope) = at {
            if let ScopeKind::Class(id) = self.scopes.kind(scope) {
                let class = self.class(id);
                let name = class.template.as_ref().map(|(index, _)| self.template(*index).name);
                let is_friend = |f: &Symbol| Some(*f) == name || self.interner.name(*f) == class.ty.name;
                let is_child = || access == Access::Protected && self.is_made_from(id, owner);
                if id == owner || is_child() || friends.iter().any(is_friend) {
                    return true;
                }
            }
            at = self.scopes.parent(scope);
        }
        let function = self.f.name.split('<').next().unwrap_or("");
        let function = function.rsplit("::").next().unwrap_or("");
        friends.iter().any(|f| self.interner.name(*f) == function)
    }

    /// One class is a base of the other, near or far.
    fn is_made_from(&self, class: u32, base: u32) -> bool {
        let mut seen = HashSet::default();
        let mut work = vec![class];
        while let Some(class) = work.pop() {
            let bases = self.class(class).guards.bases.iter().map(|(b, _)| *b).filter(|b| seen.insert(*b));
            work.extend(bases);
        }
        seen.contains(&base)
    }

    /// Reports a member that may not be used here, as a class named before it has it; functions are asked for when one is chosen.
    pub(in crate::front::lower) fn may_name(&mut self, class: u32, ident: &Ident, is_function: bool) -> bool {
        let Some((access, owner, place)) = self.access_of(class, ident.name, &mut HashSet::default()) else {
            return true;
        };
        // Functions are refused here only if access is narrowed on the way from their class to this one.
        let is_own = self.class(owner).guards.members.contains_key(&ident.name);
        if is_function && is_own {
            return true;
        }
        let name = format!("{}::{}", self.class(owner).ty.name, self.text(ident));
        self.refuse_unless(owner, access, &name, (ident.span, place))
    }

    /// Reports a method that may not be called here.
    pub(in crate::front::lower) fn may_use(&mut self, index: FuncIndex, span: Span) -> bool {
        let func = self.func(index);
        let Some((owner, access)) = func.guard else { return true };
        let (name, place, symbol) = (func.display.clone(), func.span, func.name);
        if access == Access::Public || self.passed_on.contains(&symbol) {
            return true;
        }
        self.refuse_unless(owner, access, &name, (span, place))
    }

    fn refuse_unless(&mut self, owner: u32, access: Access, name: &str, (span, place): (Span, Span)) -> bool {
        if self.in_library(span) || self.is_inside(owner, access) {
            return true;
        }
        let class = self.class(owner).ty.name.clone();
        let message = format!("`{name}` is {}: only `{class}` and its friends may use it", word(access));
        let diag = Diagnostic::error(Code::NotAccessible, span, message).related(place, "declared here");
        self.report(diag.help(format!("make it `public`, or write a method of `{class}` that does this")));
        false
    }

    /// Reports a class that is no aggregate, as a member may not be used by others: a braced list cannot fill it.
    pub(in crate::front::lower) fn may_fill(&mut self, s: &StructTy, span: Span) -> bool {
        let own = s.layout.get().into_iter().flat_map(|l| l.fields.iter().filter_map(|f| f.name));
        let guards = &self.class(s.id).guards;
        let mut all = own.filter_map(|name| guards.members.get(&name).map(|(access, at)| (name, *access, *at)));
        let Some((name, access, at)) = all.find(|(_, access, _)| *access != Access::Public) else {
            return true;
        };
        let name = self.interner.name(name);
        let message = format!("`{}` cannot be filled from a list: its member `{name}` is {}", s.name, word(access));
        self.report(
            Diagnostic::error(Code::NotAccessible, span, message)
                .related(at, "declared here")
                .help(format!("give `{}` a constructor", s.name)),
        );
        false
    }

    /// Notes names that a class passes on with another access than its base has.
    pub(super) fn note_passed_on(&mut self, s: &StructTy) {
        let guards = &self.class(s.id).guards;
        let wide = |name: &&Symbol| guards.members.get(name).is_some_and(|(access, _)| *access == Access::Public);
        let names: Vec<Symbol> = guards.passed_on.iter().filter(wide).copied().collect();
        self.passed_on.extend(names);
    }
}

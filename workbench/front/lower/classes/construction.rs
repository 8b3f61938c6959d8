//! Construction of objects of struct type: constructors, copies, what the language does by itself.

use std::rc::Rc;

use super::definitions::Moves;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::MemberInit;
use crate::front::lower::expressions::calls;
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed};
use crate::front::lower::overloads::ranking;
use crate::front::lower::overloads::ranking::{Arg, Conversion};
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::names::{Callable, Decl, TArg};
use crate::front::lower::{Lowerer, Role, Storage, Variable};
use crate::front::types::{Bits, Kind, MAX_UNROLLED, StructTy, Ty};
use crate::ir::{BinaryOp, Op, Scalar, Stmt, Stride, Type};
use crate::source::Span;

/// Most objects of one array that are constructed one by one, their members counted.
const MAX_OBJECTS: u32 = 1 << 14;

impl<'a> Lowerer<'a> {
    /// `T(args)` of a struct.
    pub(in crate::front::lower) fn construct(&mut self, ty: &Ty, args: Vec<Typed>, span: Span) -> Typed {
        if args.iter().any(Typed::is_error) || !self.complete_type(ty, span) {
            return Typed::error(span);
        }
        let Some(s) = ty.as_struct().cloned() else { return Typed::error(span) };
        if args.is_empty() {
            return self.value_initialised(ty, span);
        }
        if let [one] = args.as_slice()
            && (one.ty.as_struct().is_some_and(|f| f.id == s.id) || one.ty.base_offset(&s).is_some())
        {
            let [one] = <[Typed; 1]>::try_from(args).expect("matched one");
            return self.copied(one, ty, span);
        }
        if let [one] = args.as_slice()
            && s.vector.is_some()
            && let Some(function) = self.exact_conversion(&one.ty, ty, &[])
        {
            return self.converted_by(function, one.clone(), span);
        }
        if s.vector.is_some() {
            return self.vector_value(&s, args, span);
        }
        let set = self.class(s.id).constructors.clone();
        if set.is_empty() {
            if let [one] = args.as_slice()
                && let Some(function) = self.conversion_function(&one.ty.clone(), ty, true)
            {
                let [one] = <[Typed; 1]>::try_from(args).expect("matched one");
                return self.converted_by(function, one, span);
            }
            let message = format!("`{ty}` has no constructor that takes {}", calls::list_of(&args));
            let place = self.class(s.id).span;
            let mut diag = Diagnostic::error(Code::NoOverload, span, message);
            if place != Span::NONE {
                diag = diag.related(place, "declared here");
            }
            self.report(diag.help("write a braced list: `S{a, b}`"));
            return Typed::error(span);
        }
        if let [one] = args.as_slice()
            && let Some(function) = self.exact_conversion(&one.ty, ty, &set)
        {
            return self.converted_by(function, one.clone(), span);
        }
        let name = s.name.clone();
        match self.choose_function(&name, &set, None, None, &args, span) {
            Some(index) => self.constructed_by(index, ty, args, span),
            None => Typed::error(span),
        }
    }

    /// The conversion function that gives a class itself, where no constructor takes what it converts: constructors that would take it as
    /// something else stand behind it (CWG issue 2327, as compilers have it).
    fn exact_conversion(&mut self, from: &Ty, to: &Ty, constructors: &[Callable]) -> Option<FuncIndex> {
        let source = from.as_struct()?.id;
        let takes = |this: &Self, callable: &Callable| match callable {
            Callable::Func(f) => {
                this.func(*f).params.first().is_some_and(|p| p.referred().as_struct().is_some_and(|s| s.id == source))
            }
            Callable::Template(_) => true,
        };
        if constructors.iter().any(|c| takes(self, c)) {
            return None;
        }
        let function = self.conversion_function(from, to, true)?;
        (self.func(function).ret.referred().as_struct()?.id == to.as_struct()?.id).then_some(function)
    }

    /// The value that a constructor makes from checked arguments.
    pub(super) fn constructed_by(&mut self, index: FuncIndex, ty: &Ty, args: Vec<Typed>, span: Span) -> Typed {
        if !self.may_call(index, span) {
            return Typed::error(span);
        }
        let Some(args) = self.converted_arguments(index, args, span) else { return Typed::error(span) };
        self.note_call(index, span);
        Typed::value(ty.unqualified(), span, Node::Construct(index, args, false))
    }

    /// `T()`, `T{}`
    pub(in crate::front::lower) fn value_initialised(&mut self, ty: &Ty, span: Span) -> Typed {
        match self.default_initialised(ty, span) {
            Some(value) => value,
            None => Typed::value(ty.unqualified(), span, Node::Init(Rc::new([]))),
        }
    }

    /// The value of a variable of a type when nothing is written after it; `None` where it is left as it is.
    pub(in crate::front::lower) fn default_initialised(&mut self, ty: &Ty, span: Span) -> Option<Typed> {
        if let Kind::Array(elem, Some(len)) = &ty.kind {
            elem.innermost().as_struct()?;
            let one = self.default_initialised(elem, span)?;
            let size = elem.size()?;
            if !self.few_objects(elem, *len, span) {
                return None;
            }
            let items: Vec<(u32, Typed)> = (0..*len).map(|i| (i * size, one.clone())).collect();
            return Some(Typed::value(ty.unqualified(), span, Node::Init(items.into())));
        }
        let s = ty.as_struct()?.clone();
        if !self.complete(&s, span) {
            return Some(Typed::error(span));
        }
        if s.name == "dim3" && s.vector.is_some() {
            return Some(self.vector_value(&s, Vec::new(), span));
        }
        let set = self.class(s.id).constructors.clone();
        let (found, _) = self.quietly(|this| this.choose_function("", &set, None, None, &[], span));
        if let Some(index) = found {
            return Some(self.constructed_by(index, ty, Vec::new(), span));
        }
        if !self.class(s.id).default_allowed {
            let message = format!("`{ty}` has no constructor without arguments");
            let place = self.class(s.id).span;
            self.report(
                Diagnostic::error(Code::BadInitializer, span, message)
                    .related(place, "declared here")
                    .help("give it the arguments of one of its constructors"),
            );
            return Some(Typed::error(span));
        }
        if s.is_union && self.class(s.id).defaults.is_empty() {
            return None;
        }
        let layout = s.layout.get()?.clone();
        let mut items = Vec::new();
        for (base, at) in &layout.bases {
            if let Some(value) = self.default_initialised(base, span) {
                items.push((*at, value));
            }
        }
        for (i, field) in layout.fields.iter().enumerate() {
            let given = self.class(s.id).defaults.iter().any(|(at, _)| *at == i);
            if given {
                self.fill_default(&s, i, &field.ty, field.offset, &mut items);
            } else if let Some(value) = self.default_initialised(&field.ty, span) {
                items.push((field.offset, value));
            }
        }
        (!items.is_empty()).then(|| Typed::value(ty.unqualified(), span, Node::Init(items.into())))
    }

    /// The objects of an array, their members counted, are few enough to be constructed one by one; reports where they are not.
    pub(in crate::front::lower) fn few_objects(&mut self, elem: &Ty, len: u32, span: Span) -> bool {
        let all = elem.objects().saturating_mul(len);
        if all > MAX_OBJECTS {
            let message = format!("an array of {len} `{elem}`, whose {all} objects are constructed one by one");
            self.report(Diagnostic::error(Code::CodeLimit, span, message).help("make it shorter, or hold numbers"));
        }
        all <= MAX_OBJECTS
    }

    /// A struct's value from a place or value of its type or a type derived from it.
    pub(in crate::front::lower) fn copied(&mut self, e: Typed, ty: &Ty, span: Span) -> Typed {
        let Some(s) = ty.as_struct().cloned() else { return Typed::error(span) };
        let same = e.ty.as_struct().is_some_and(|f| f.id == s.id);
        if !e.lvalue && same {
            return Typed { ty: ty.unqualified(), span, ..e };
        }
        let e = if same { e } else { self.upcast_place(e, &s) };
        self.copy_value(e, span)
    }

    /// The value in a place of struct type, by its copy constructor where the text has one, its move constructor where it may be
    /// taken apart ([class.copy.ctor]).
    pub(in crate::front::lower) fn copy_value(&mut self, place: Typed, span: Span) -> Typed {
        let ty = place.ty.unqualified();
        if let Some(s) = ty.as_struct().cloned() {
            if !self.complete(&s, span) {
                return Typed::error(span);
            }
            if place.xvalue && !place.ty.is_const {
                match self.class(s.id).moves {
                    Moves::Constructor(moves) if self.func(moves).deleted => {
                        let (message, at) = (format!("`{ty}` cannot be moved"), self.func(moves).span);
                        let diag = Diagnostic::error(Code::TypeMismatch, span, message);
                        self.report(diag.related(at, "its move constructor is deleted").help("take a reference"));
                        return Typed::error(span);
                    }
                    Moves::Constructor(moves) => {
                        self.note_call(moves, span);
                        let address = Typed::value(ty.clone().pointer(), span, Node::AddrOf(Box::new(place)));
                        return Typed::value(ty, span, Node::Construct(moves, vec![address], false));
                    }
                    Moves::Members if self.copies_by_member(&ty) => return self.memberwise_copy(place, &s, span),
                    Moves::Members | Moves::Copies => {}
                }
            } else if self.class(s.id).moves_only {
                let (message, at) = (format!("`{ty}` cannot be copied"), self.class(s.id).span);
                self.report(
                    Diagnostic::error(Code::TypeMismatch, span, message)
                        .related(at, "it has a move constructor, and none that copies")
                        .help("write `std::move(...)`, or take a reference"),
                );
                return Typed::error(span);
            }
        }
        let place = Typed { xvalue: false, ..place };
        if let Some(s) = ty.as_struct().cloned() {
            if let Some(copies) = self.class(s.id).copies {
                if self.func(copies).deleted {
                    let message = format!("`{ty}` cannot be copied");
                    let at = self.func(copies).span;
                    let help = match self.class(s.id).moves {
                        Moves::Constructor(moves) if !self.func(moves).deleted => {
                            "write `std::move(...)`, or take a reference"
                        }
                        _ => "take a reference",
                    };
                    self.report(
                        Diagnostic::error(Code::TypeMismatch, span, message)
                            .related(at, "its copy constructor is deleted")
                            .help(help),
                    );
                    return Typed::error(span);
                }
                self.note_call(copies, span);
                let address = Typed::value(ty.clone().constant().pointer(), span, Node::AddrOf(Box::new(place)));
                return Typed::value(ty, span, Node::Construct(copies, vec![address], false));
            }
            if self.copies_by_member(&ty) {
                return self.memberwise_copy(place, &s, span);
            }
        }
        Typed::value(ty, span, Node::Load(Box::new(place)))
    }

    /// A copy of an object is more than its bytes.
    fn copies_by_member(&self, ty: &Ty) -> bool {
        match &ty.kind {
            Kind::Array(elem, _) => self.copies_by_member(elem),
            Kind::Struct(s) => {
                let class = self.class(s.id);
                class.copies.is_some()
                    || matches!(class.moves, Moves::Constructor(_))
                    || class.moves_only
                    || s.layout.get().is_some_and(|l| {
                        let fields = l.fields.iter().map(|f| &f.ty);
                        fields.chain(l.bases.iter().map(|(b, _)| b)).any(|t| self.copies_by_member(t))
                    })
            }
            _ => false,
        }
    }

    /// Members of an object copy as more than their bytes.
    pub(in crate::front::lower) fn holds_objects(&self, ty: &Ty) -> bool {
        ty.layout().is_some_and(|l| {
            let fields = l.fields.iter().map(|f| &f.ty);
            fields.chain(l.bases.iter().map(|(b, _)| b)).any(|t| self.copies_by_member(t))
        })
    }

    /// The copy or move that a class has by itself: each base and member is copied or moved.
    fn memberwise_copy(&mut self, place: Typed, s: &Rc<StructTy>, span: Span) -> Typed {
        let Some(layout) = s.layout.get().cloned() else { return Typed::error(span) };
        let xvalue = place.xvalue;
        let (before, place) = self.repeatable(place, span);
        let bases = layout.bases.iter().map(|(ty, offset)| (ty, *offset, None));
        let parts = bases.chain(layout.fields.iter().map(|f| (&f.ty, f.offset, f.bits)));
        let mut items = Vec::new();
        for (ty, offset, bits) in parts {
            let part = Typed { xvalue, ..self.part(place.clone(), ty, offset, bits, span) };
            items.push((offset, Self::into_bits(self.copy_of_part(part, span), bits)));
        }
        let made = Typed::value(Ty::new(Kind::Struct(s.clone())), span, Node::Init(items.into()));
        match before {
            Some(before) => Typed::value(made.ty.clone(), span, Node::Comma(Box::new(before), Box::new(made))),
            None => made,
        }
    }

    /// The copy of a member.
    fn copy_of_part(&mut self, part: Typed, span: Span) -> Typed {
        let ty = part.ty.clone();
        match &ty.kind {
            Kind::Struct(_) => self.copy_value(part, span),
            Kind::Array(elem, Some(n)) if self.copies_by_member(elem) => {
                let (mut all, mut inner) = (u64::from(*n), &elem.kind);
                while let Kind::Array(elem, Some(n)) = inner {
                    (all, inner) = (all.saturating_mul(u64::from(*n)), &elem.kind);
                }
                if all > u64::from(MAX_COPIED) {
                    let message =
                        format!("a copy of an array of {all} objects with constructors of their own is not supported");
                    self.report(Diagnostic::error(Code::Unsupported, span, message).help("copy them in a loop"));
                    return Typed::error(span);
                }
                let size = elem.size().unwrap_or(0);
                let copies = (0..*n).map(|i| {
                    let one = Typed::place((**elem).clone(), span, Node::Member(Box::new(part.clone()), i * size));
                    (i * size, self.copy_of_part(Typed { xvalue: part.xvalue, ..one }, span))
                });
                let copies: Vec<(u32, Typed)> = copies.collect();
                Typed::value(ty.clone(), span, Node::Init(copies.into()))
            }
            _ if ty.is_reference() => {
                let pointer = ty.target().cloned().map_or(Ty::void().pointer(), Ty::pointer);
                let part = Typed { ty: pointer.clone(), ..part };
                Typed::value(pointer, span, Node::Load(Box::new(part)))
            }
            _ => Typed::value(ty.unqualified(), span, Node::Load(Box::new(part))),
        }
    }

    /// A place that can be named several times: itself, or what an expression to evaluate before keeps the address of.
    fn repeatable(&mut self, place: Typed, span: Span) -> (Option<Typed>, Typed) {
        if is_repeatable(&place) || !self.f.inside {
            return (None, place);
        }
        let ty = place.ty.clone();
        let pointer = ty.clone().pointer();
        let local = self.f.b.func.new_local(String::new(), Type::Ptr);
        let (name, owner) = (self.known.empty, self.f.serial);
        let storage = Storage::Local(local);
        let id = self.add_var(Variable { name, ty: pointer.clone(), span, storage, constant: None, owner });
        let kept = Typed::place(pointer.clone(), span, Node::Var(id));
        let address = Typed::value(pointer.clone(), span, Node::AddrOf(Box::new(place)));
        let before = Typed::place(pointer.clone(), span, Node::Assign(Box::new(kept.clone()), Box::new(address)));
        let read = Typed::value(pointer, span, Node::Load(Box::new(kept)));
        (Some(before), Typed::place(ty, span, Node::Deref(Box::new(read))))
    }

    /// The base of a place of a type derived from it.
    pub(in crate::front::lower) fn upcast_place(&mut self, e: Typed, base: &Rc<StructTy>) -> Typed {
        let offset = e.ty.base_offset(base).unwrap_or(0);
        let (is_const, is_volatile, span) = (e.ty.is_const, e.ty.is_volatile, e.span);
        let ty = Ty::new(Kind::Struct(base.clone())).qualified(is_const, is_volatile);
        let xvalue = e.xvalue || !e.lvalue;
        Typed { xvalue, ..Typed::place(ty, span, Node::Member(Box::new(e), offset)) }
    }

    /// The constructor or conversion function that turns a type into another implicitly, and what it takes.
    pub(in crate::front::lower) fn user_conversion(&mut self, arg: &Arg, to: &Ty, explicit: bool) -> Option<FuncIndex> {
        if let Some(s) = to.as_struct().cloned() {
            self.try_complete(to);
            s.layout.get()?;
            let set = self.class(s.id).constructors.clone();
            let fits: Vec<Callable> = set
                .into_iter()
                .filter(|c| match c {
                    Callable::Func(f) => explicit || !self.func(*f).explicit,
                    Callable::Template(_) => true,
                })
                .collect();
            if !fits.is_empty()
                && let Some(index) = self.best_of(&fits, None, None, std::slice::from_ref(arg), false)
                && (explicit || !self.func(index).explicit)
            {
                return Some(index);
            }
        }
        let from = arg.ty.clone();
        self.conversion_function(&from, to, explicit)
    }

    /// The conversion function of a struct (or its bases) for a type.
    pub(in crate::front::lower) fn conversion_function(
        &mut self,
        from: &Ty,
        to: &Ty,
        explicit: bool,
    ) -> Option<FuncIndex> {
        let s = from.as_struct()?.clone();
        self.try_complete(from);
        let mut all: Vec<Callable> = self.class(s.id).conversions.clone();
        let bases: Vec<Ty> = s.layout.get()?.bases.iter().map(|(b, _)| b.clone()).collect();
        let mut best: Option<(FuncIndex, Conversion)> = None;
        for callable in std::mem::take(&mut all) {
            let index = match callable {
                Callable::Func(index) => index,
                // `template <typename T> operator T()`
                Callable::Template(template) => {
                    let args: Rc<[TArg]> = Rc::new([TArg::Type(to.unqualified())]);
                    match self.function_instance(template, &args, &[], Span::NONE) {
                        Some(index) => index,
                        None => continue,
                    }
                }
            };
            let f = self.func(index);
            if (f.explicit && !explicit) || (from.is_const && f.this.as_ref().is_some_and(|t| !t.is_const)) {
                continue;
            }
            let result = Arg {
                ty: f.ret.referred().clone(),
                lvalue: f.ret.is_reference(),
                xvalue: false,
                null: false,
                list: None,
            };
            let Some(conversion) = ranking::implicit(&result, to) else { continue };
            if best.as_ref().is_none_or(|(_, b)| conversion.order(b).is_lt()) {
                best = Some((index, conversion));
            }
        }
        if let Some((index, _)) = best {
            return Some(index);
        }
        bases.iter().find_map(|b| self.conversion_function(&b.clone().qualified(from.is_const, false), to, explicit))
    }

    /// Applies a converting constructor or conversion function.
    pub(in crate::front::lower) fn converted_by(&mut self, function: FuncIndex, e: Typed, span: Span) -> Typed {
        match self.func(function).role {
            Role::Constructor => {
                let class = self.func(function).this.clone();
                match class {
                    Some(class) => self.constructed_by(function, &class.unqualified(), vec![e], span),
                    None => Typed::error(span),
                }
            }
            _ => self.method_call(function, e, Vec::new(), span),
        }
    }

    /// The initialisers of bases and members before a constructor's body ([class.base.init]).
    pub(in crate::front::lower) fn member_initialisers(&mut self, index: FuncIndex, inits: &'a [MemberInit]) {
        let Some(class) = self.func(index).this.clone() else { return };
        let Some(s) = class.as_struct().cloned() else { return };
        let Some(layout) = s.layout.get().cloned() else { return };
        let span = self.func(index).span;
        let Some(this) = self.f.this.clone() else { return };
        let object = Typed::place(class.unqualified(), span, Node::Deref(Box::new(this)));
        let at = |ty: &Ty, offset: u32| Typed::place(ty.clone(), span, Node::Member(Box::new(object.clone()), offset));
        let mut used = vec![false; inits.len()];
        let mut bases_done = vec![false; layout.bases.len()];
        // `S(...) : S(other)` hands everything over.
        for (i, init) in inits.iter().enumerate() {
            let ty = self.initialised_type(init, &s, &layout.bases);
            let Some(ty) = ty else { continue };
            if ty.as_struct().is_some_and(|t| t.id == s.id) {
                used[i] = true;
                if let Some(value) = self.init_value(&s.name.clone(), &class.unqualified(), &init.init) {
                    self.initialise(&object, &value, span);
                    self.note_part(0, &class);
                }
                return;
            }
            if let Some(b) = layout.bases.iter().position(|(b, _)| b.kind == ty.kind) {
                used[i] = true;
                bases_done[b] = true;
                let (base, offset) = layout.bases[b].clone();
                if let Some(value) = self.init_value(&s.name.clone(), &base, &init.init) {
                    self.initialise(&at(&base, offset), &value, span);
                    self.note_part(offset, &base);
                }
            }
        }
        for (b, (base, offset)) in layout.bases.iter().enumerate() {
            if bases_done[b] {
                continue;
            }
            if let Some(value) = self.default_initialised(base, span) {
                self.initialise(&at(base, *offset), &value, span);
            }
            self.note_part(*offset, base);
        }
        for (i, field) in layout.fields.iter().enumerate() {
            let names = |init: &MemberInit| init.name.simple().is_some_and(|n| names_field(field, n.name));
            // Several members of a field without a name may be named.
            let most = if field.name.is_some() { 1 } else { inits.len() };
            let given: Vec<usize> = (0..inits.len()).filter(|&g| names(&inits[g])).take(most).collect();
            for &g in &given {
                used[g] = true;
                let place = match (inits[g].name.simple(), field.name) {
                    (Some(n), None) => self.field_offset(&s, n.name),
                    _ => Some((field.offset, field.ty.clone(), field.bits)),
                };
                let Some((offset, ty, bits)) = place else { continue };
                if let Some(target) = ty.target().cloned() {
                    let Some(e) = inits[g].init.only_expr() else { continue };
                    let e = self.expr(e);
                    let address = self.bind_reference(e, &target, |from| {
                        format!("a member is `{ty}`, which cannot refer to this `{from}`")
                    });
                    self.initialise(&at(&address.ty.clone(), offset), &address, span);
                } else if let Some(value) = self.init_value(&s.name.clone(), &ty, &inits[g].init) {
                    self.initialise(&at(&ty, offset), &Self::into_bits(value, bits), span);
                    self.note_part(offset, &ty);
                }
            }
            if !given.is_empty() {
                continue;
            }
            let (offset, ty) = (field.offset, field.ty.clone());
            let mut items = Vec::new();
            if self.class(s.id).defaults.iter().any(|(d, _)| *d == i) || ty.is_reference() {
                self.fill_default(&s, i, &ty, offset, &mut items);
            } else if let Some(value) = self.default_initialised(&ty, span) {
                items.push((offset, value));
            }
            for (offset, value) in items {
                self.initialise(&at(&value.ty.clone(), offset), &value, span);
            }
            self.note_part(offset, &ty);
        }
        for (init, used) in inits.iter().zip(used) {
            if !used {
                let ident = init.name.last();
                self.no_member(&s, &ident);
            }
        }
    }

    /// The struct that an entry of a constructor's list names; `None` for a member.
    fn initialised_type(&mut self, init: &'a MemberInit, s: &StructTy, bases: &[(Ty, u32)]) -> Option<Ty> {
        // A base goes by its own name here, whatever that means where the class stands ([class.pre]); the class's own comes before it.
        if let [part] = init.name.parts.as_slice()
            && !init.name.global
            && last_name(&s.name) != self.text(&part.ident)
        {
            let name = self.text(&part.ident);
            let is_named = |ty: &Ty| ty.as_struct().is_some_and(|s| last_name(&s.name) == name);
            let mut named = bases.iter().filter(|(base, _)| is_named(base));
            if let (Some((base, _)), None) = (named.next(), named.next()) {
                return Some(base.clone());
            }
        }
        match self.quietly(|this| this.find(&init.name)).0 {
            Found::Type(ty) => Some(ty),
            _ => None,
        }
    }

    fn field_offset(&self, s: &StructTy, name: crate::front::ast::Symbol) -> Option<(u32, Ty, Option<Bits>)> {
        match self.scopes.member(self.class(s.id).scope, name) {
            Ok(Some(Decl::Field(f))) => Some((f.offset, f.ty.clone(), f.bits)),
            _ => None,
        }
    }

    /// Gives a place its first value.
    pub(in crate::front::lower) fn initialise(&mut self, place: &Typed, value: &Typed, span: Span) {
        if value.is_error() || place.is_error() {
            return;
        }
        let to = self.emit_address(place);
        let by_bytes = self.alignment_of(place) < place.ty.align();
        self.by_bytes(by_bytes, |this| this.write_part(to, &(0, value.clone()), span));
    }

    /// Something happens when an object of the type goes.
    pub(in crate::front::lower) fn needs_destructor(&self, ty: &Ty) -> bool {
        match &ty.kind {
            Kind::Array(elem, _) => self.needs_destructor(elem),
            Kind::Struct(s) => {
                self.class(s.id).destructor.is_some()
                    || s.layout.get().is_some_and(|l| {
                        let fields = l.fields.iter().map(|f| &f.ty);
                        fields.chain(l.bases.iter().map(|(b, _)| b)).any(|t| self.needs_destructor(t))
                    })
            }
            _ => false,
        }
    }

    /// After a destructor's body: the members' and bases' destructors, in reverse.
    pub(in crate::front::lower) fn destroy_members(&mut self, index: FuncIndex, span: Span) {
        let Some(class) = self.func(index).this.clone() else { return };
        let Some(this) = self.f.this.clone() else { return };
        let object = Typed::place(class.unqualified(), span, Node::Deref(Box::new(this)));
        let Some(layout) = class.layout().cloned() else { return };
        let fields = layout.fields.iter().map(|f| (f.ty.clone(), f.offset));
        let bases = layout.bases.iter().cloned();
        let parts: Vec<(Ty, u32)> = bases.chain(fields).collect();
        for (ty, offset) in parts.into_iter().rev() {
            if self.needs_destructor(&ty) {
                let part = Typed::place(ty.clone(), span, Node::Member(Box::new(object.clone()), offset));
                let ptr = self.emit_address(&part);
                self.destroy(ptr, &ty, span);
            }
        }
    }

    /// Runs what happens when an object goes.
    pub(in crate::front::lower) fn destroy(&mut self, ptr: crate::ir::Value, ty: &Ty, span: Span) {
        match &ty.kind {
            Kind::Array(elem, Some(len)) => {
                let stride = Stride::Bytes(elem.size().unwrap_or(1));
                if *len > MAX_UNROLLED {
                    let (elem, last) = (elem.clone(), i64::from(*len) - 1);
                    return self.counted(0, *len, span, &mut |this, i| {
                        let b = this.at(span);
                        let last = b.int(Scalar::I64, last);
                        let index = b.binary(BinaryOp::Sub, last, i);
                        let at = b.bind(Type::Ptr, Op::PtrAdd { ptr, index, stride });
                        this.destroy(at, &elem, span);
                    });
                }
                for i in (0..*len).rev() {
                    let at = self.at(span).offset(ptr, i64::from(i), stride);
                    self.destroy(at, elem, span);
                }
            }
            Kind::Struct(s) => {
                if let Some(destructor) = self.class(s.id).destructor {
                    self.note_call(destructor, span);
                    let func = self.func_id(destructor);
                    self.at(span).push(Stmt::Call { result: None, func, args: vec![ptr], raised: None });
                    return;
                }
                let Some(layout) = s.layout.get().cloned() else { return };
                let fields = layout.fields.iter().map(|f| (f.ty.clone(), f.offset));
                let parts: Vec<(Ty, u32)> = layout.bases.iter().cloned().chain(fields).collect();
                for (part, offset) in parts.into_iter().rev() {
                    if self.needs_destructor(&part) {
                        let at = self.at(span).offset(ptr, i64::from(offset), Stride::Bytes(1));
                        self.destroy(at, &part, span);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Most objects in an array that is copied as part of another.
const MAX_COPIED: u32 = 256;

/// The place may be named several times: naming it does nothing.
fn is_repeatable(place: &Typed) -> bool {
    match &place.node {
        Node::Var(_) | Node::This | Node::Const(_) => true,
        Node::Member(a, _) | Node::BitField(a, _) | Node::Adjust(a, _) => is_repeatable(a),
        Node::Deref(a) | Node::Load(a) | Node::AddrOf(a) | Node::Decay(a) => is_repeatable(a),
        Node::PtrAdd(a, b, _) => is_repeatable(a) && is_repeatable(b),
        Node::Convert(a) => is_repeatable(a),
        _ => false,
    }
}

/// The field has the name, or holds one that has it without a name of its own.
fn names_field(field: &crate::front::types::Field, name: crate::front::ast::Symbol) -> bool {
    match field.name {
        Some(own) => own == name,
        None => field.ty.layout().is_some_and(|l| l.fields.iter().any(|f| names_field(f, name))),
    }
}

/// The name of a class without what it is a member of and without arguments.
fn last_name(name: &str) -> &str {
    let plain = name.split('<').next().unwrap_or(name);
    plain.rsplit("::").next().unwrap_or(plain)
}

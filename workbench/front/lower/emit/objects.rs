//! Objects of struct and array type: copied member by member, written straight into the place they are made for.
//!
//! The IR has no values of such types. An expression of struct type that is no place is written into memory that is
//! handed to it ([`Lowerer::emit_into`]): a variable's, a temporary's, a caller's.

use crate::front::lower::declarations::initialisers::zero_const;
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::lower::host::device_variables::SymbolUse;
use crate::front::lower::{Cleaned, Cleanup, Lowerer, Parts, ScopeMark};
use crate::front::types::{Kind, MAX_UNROLLED, Ty};
use crate::ir::{BinaryOp, Block, CompareOp, Const, Local, Op, Scalar, Slot, Stmt, Stride, Type, Value};
use crate::source::Span;
use std::rc::Rc;

/// Most members of a struct copied or zeroed one by one; a loop over its words takes the rest.
const MAX_MEMBERS: u32 = 64;

/// Name of a member by which a class of the library says that its objects go as far as they are made.
const GOES_IN_PARTS: &str = "__wb_goes_in_parts";

/// One initialised part: its offset and value.
type InitialisedPart<'t> = &'t (u32, Typed);

impl<'a> Lowerer<'a> {
    /// Writes a value of struct or array type to memory that nothing it reads lies in.
    pub(in crate::front::lower) fn emit_into(&mut self, e: &Typed, to: Value) {
        let span = e.span;
        match &e.node {
            Node::Load(place) => {
                self.check_symbol(place, SymbolUse::Read);
                let from = self.emit_address(place);
                if matches!(place.node, Node::Deref(_)) {
                    self.check_alignment(from, &e.ty, span);
                }
                let (by_bytes, volatile) = (self.alignment_of(place) < e.ty.align(), place.ty.is_volatile);
                self.by_bytes(by_bytes, |this| this.copy_part(to, from, 0, &e.ty, volatile, span));
            }
            Node::Init(items) => {
                let mut rest: &[(u32, Typed)] = items;
                let parts = self.begin_parts(items, to, span);
                let outer = std::mem::replace(&mut self.f.in_parts, parts);
                self.fill_object(to, 0, &e.ty, &mut rest, span);
                self.f.in_parts = outer;
                self.end_parts(parts, span);
            }
            Node::Construct(constructor, args, zero) => {
                if *zero {
                    self.fill_object(to, 0, &e.ty, &mut [].as_slice(), span);
                }
                let mut values = vec![to];
                for arg in args {
                    let value = self.emit_argument(arg);
                    values.push(value);
                }
                let func = self.func_id(*constructor);
                let parts = self.begin_whole(&e.ty, to, span);
                self.at(span);
                self.push_call(None, func, values);
                self.end_parts(parts, span);
            }
            Node::Call(..) => self.emit_struct_call(e, to),
            Node::Conditional(parts) => {
                let [cond, a, b] = &**parts;
                let cond = self.emit_value(cond);
                self.f.b.open();
                self.emit_into(a, to);
                let then = self.f.b.close();
                self.f.b.open();
                self.emit_into(b, to);
                let els = self.f.b.close();
                self.at(span).push(Stmt::If { cond, then, els });
            }
            Node::Comma(a, b) => {
                self.effect(a);
                self.emit_into(b, to);
            }
            Node::Convert(inner) if inner.ty.is_struct() => self.emit_into(inner, to),
            Node::Error => {}
            _ => {
                let from = self.emit_address(e);
                self.copy(to, from, &e.ty.unqualified(), span);
            }
        }
    }

    /// The address of an object of struct type, made in a temporary when it is no place.
    pub(in crate::front::lower) fn emit_object(&mut self, e: &Typed) -> Value {
        if e.lvalue {
            return self.emit_address(e);
        }
        if let Node::Load(place) = &e.node
            && !place.ty.is_volatile
            && matches!(place.node, Node::Temporary(_))
        {
            return self.emit_address(place);
        }
        let (size, align) = (e.ty.size().unwrap_or(1), e.ty.align());
        let slot = self.slot(String::new(), size, align, e.ty.uniform(), e.span);
        let ptr = self.at(e.span).bind(Type::Ptr, Op::SlotAddr(slot));
        self.emit_into(e, ptr);
        if self.needs_destructor(&e.ty) {
            self.note_cleanup(slot, &e.ty);
        }
        self.at(e.span).bind(Type::Ptr, Op::SlotAddr(slot))
    }

    /// An argument of a call: a number or pointer, or the address of a struct that is the callee's own.
    pub(in crate::front::lower) fn emit_argument(&mut self, e: &Typed) -> Value {
        if e.ty.pointee().is_some_and(Ty::is_void) {
            self.check_symbol_pointer(e, SymbolUse::Passed);
        }
        if e.ty.is_struct() { self.emit_object(e) } else { self.emit_value(e) }
    }

    /// Copies an object.
    pub(in crate::front::lower) fn copy(&mut self, to: Value, from: Value, ty: &Ty, span: Span) {
        self.copy_part(to, from, 0, ty, false, span);
    }

    fn copy_part(&mut self, to: Value, from: Value, at: u32, ty: &Ty, volatile: bool, span: Span) {
        match &ty.kind {
            Kind::Struct(s) => {
                let Some(layout) = s.layout.get() else { return };
                if s.is_union || layout.by_bytes || self.f.by_bytes || (layout.parts > MAX_MEMBERS && !volatile) {
                    return self.copy_words(to, from, at, layout.size, layout.align, span);
                }
                for (base, offset) in &layout.bases {
                    if !base.is_empty_struct() {
                        self.copy_part(to, from, at + offset, base, volatile, span);
                    }
                }
                for field in &layout.fields {
                    self.copy_part(to, from, at + field.offset, &field.ty, volatile, span);
                }
            }
            Kind::Array(elem, Some(len)) => {
                let size = elem.size().unwrap_or(1);
                if *len <= MAX_UNROLLED {
                    for i in 0..*len {
                        self.copy_part(to, from, at + i * size, elem, volatile, span);
                    }
                    return;
                }
                let elem = elem.clone();
                self.counted(0, *len, span, &mut |this, i| {
                    let stride = elem.stride().unwrap_or(Stride::Bytes(size));
                    let b = this.at(span);
                    let (to, from) = (
                        b.offset(to, i64::from(at), Stride::Bytes(1)),
                        b.offset(from, i64::from(at), Stride::Bytes(1)),
                    );
                    let to = b.bind(Type::Ptr, Op::PtrAdd { ptr: to, index: i, stride });
                    let from = b.bind(Type::Ptr, Op::PtrAdd { ptr: from, index: i, stride });
                    this.copy_part(to, from, 0, &elem, volatile, span);
                });
            }
            _ => {
                let Some(ir) = ty.ir() else { return };
                let from = self.at(span).offset(from, i64::from(at), Stride::Bytes(1));
                if self.f.by_bytes {
                    let to = self.at(span).offset(to, i64::from(at), Stride::Bytes(1));
                    return self.copy_words(to, from, 0, ir.size(), 1, span);
                }
                let b = self.at(span);
                let value = b.load(from, ir, volatile || ty.is_volatile);
                let to = b.offset(to, i64::from(at), Stride::Bytes(1));
                b.store(to, value, ty.is_volatile);
            }
        }
    }

    /// Copies bytes in the largest words that alignment allows: what a union holds is not known.
    fn copy_words(&mut self, to: Value, from: Value, at: u32, size: u32, align: u32, span: Span) {
        let (scalar, width) = word(if self.f.by_bytes { 1 } else { align });
        let count = size / width;
        let one = |this: &mut Self, to: Value, from: Value| {
            let b = this.at(span);
            let value = b.load(from, Type::Scalar(scalar), false);
            b.store(to, value, false);
        };
        if count <= MAX_UNROLLED {
            for i in 0..count {
                let offset = i64::from(at + i * width);
                let b = self.at(span);
                let (t, f) = (b.offset(to, offset, Stride::Bytes(1)), b.offset(from, offset, Stride::Bytes(1)));
                one(self, t, f);
            }
            return;
        }
        self.counted(0, count, span, &mut |this, i| {
            let b = this.at(span);
            let (to, from) =
                (b.offset(to, i64::from(at), Stride::Bytes(1)), b.offset(from, i64::from(at), Stride::Bytes(1)));
            let to = b.bind(Type::Ptr, Op::PtrAdd { ptr: to, index: i, stride: Stride::Elem(scalar) });
            let from = b.bind(Type::Ptr, Op::PtrAdd { ptr: from, index: i, stride: Stride::Elem(scalar) });
            one(this, to, from);
        });
    }

    /// Writes the parts given and zeros everywhere else, in memory order.
    fn fill_object(&mut self, to: Value, at: u32, ty: &Ty, rest: &mut &[(u32, Typed)], span: Span) {
        let size = ty.size().unwrap_or(0).max(1);
        if let Some(part) = rest.first()
            && part.0 == at
            && (part.1.ty.kind == ty.kind || !matches!(ty.kind, Kind::Struct(_) | Kind::Array(..)))
        {
            *rest = &rest[1..];
            return self.write_part(to, part, span);
        }
        match &ty.kind {
            Kind::Struct(s) => {
                let Some(layout) = s.layout.get() else { return };
                if s.is_union {
                    let covered = rest.first().filter(|p| p.0 < at + size);
                    let in_bits = |p: &(u32, Typed)| matches!(p.1.node, Node::Bits(..));
                    let whole = covered.is_some_and(|p| p.1.ty.size() == Some(size) && !in_bits(p));
                    if !whole {
                        self.zero_words(to, at, layout.size, layout.align, span);
                    }
                    if covered.is_some() {
                        let part = &rest[0];
                        *rest = &rest[1..];
                        self.write_part(to, part, span);
                    }
                    return;
                }
                if layout.parts > MAX_MEMBERS && rest.first().is_none_or(|p| p.0 >= at + size) {
                    return self.zero_words(to, at, layout.size, layout.align, span);
                }
                for (base, offset) in &layout.bases {
                    if !base.is_empty_struct() {
                        self.fill_object(to, at + offset, base, rest, span);
                    }
                }
                self.zero_bits(to, at, layout, span);
                for field in &layout.fields {
                    if let Some(bits) = field.bits {
                        if let Some(part) = rest.first()
                            && part.0 == at + field.offset
                            && matches!(part.1.node, Node::Bits(_, b) if b == bits)
                        {
                            *rest = &rest[1..];
                            self.write_part(to, part, span);
                        }
                        continue;
                    }
                    let natural = field.ty.innermost().align();
                    let by_bytes = layout.align < natural || !(at + field.offset).is_multiple_of(natural);
                    self.by_bytes(by_bytes, |this| this.fill_object(to, at + field.offset, &field.ty, rest, span));
                }
            }
            Kind::Array(elem, Some(len)) => {
                let step = elem.size().unwrap_or(1).max(1);
                let mut i = 0;
                while i < *len {
                    // The next element that something is written to; zeros before it.
                    let next = match rest.first() {
                        Some(part) if part.0 < at.saturating_add(size) => (part.0 - at) / step,
                        _ => *len,
                    };
                    if i < next {
                        self.zero_elements(to, at, elem, i..next, span);
                        i = next;
                        continue;
                    }
                    self.fill_object(to, at + i * step, elem, rest, span);
                    i += 1;
                }
            }
            _ => {
                let zero = zero_const(ty);
                let value = self.at(span).constant(zero);
                self.write_number(to, at, value, ty.is_volatile, span);
            }
        }
    }

    pub(in crate::front::lower) fn write_part(&mut self, to: Value, part: InitialisedPart<'_>, span: Span) {
        let Some((made, count)) = self.f.in_parts.take() else { return self.write_one(to, part, span) };
        self.write_one(to, part, span);
        let count = count + i64::from(self.needs_destructor(&part.1.ty));
        let b = self.at(span);
        let now = b.int(Scalar::I64, count);
        b.push(Stmt::Set(made, now));
        self.f.in_parts = Some((made, count));
    }

    /// Notes the parts that an object is about to be made of, where an exception may come between them.
    fn begin_parts(&mut self, items: &[(u32, Typed)], to: Value, span: Span) -> Option<(Local, i64)> {
        let may_raise = |(_, e): &(u32, Typed)| e.constant().is_none();
        if self.f.landings.is_empty() || !items.iter().skip(1).any(may_raise) {
            return None;
        }
        let parts = items.iter().filter(|(_, e)| self.needs_destructor(&e.ty));
        let parts: Vec<(u32, Ty)> = parts.map(|(at, e)| (*at, e.ty.unqualified())).collect();
        if parts.is_empty() { None } else { self.note_parts(parts.into(), to, span) }
    }

    /// Notes an object of the library's that a constructor is about to make, if it can go however far that comes: it is all zeros before.
    fn begin_whole(&mut self, ty: &Ty, to: Value, span: Span) -> Option<(Local, i64)> {
        if self.f.landings.is_empty() {
            return None;
        }
        let class = self.class(ty.as_struct()?.id);
        let (scope, marker) = (class.scope, self.interner.find(GOES_IN_PARTS)?);
        if !self.in_library(class.span) || self.scopes.member(scope, marker).ok()?.is_none() {
            return None;
        }
        self.zero_words(to, 0, ty.size()?, ty.align(), span);
        let parts = self.note_parts([(0, ty.unqualified())].into(), to, span)?;
        let b = self.at(span);
        let one = b.int(Scalar::I64, 1);
        b.push(Stmt::Set(parts.0, one));
        Some(parts)
    }

    fn note_parts(&mut self, parts: Rc<[(u32, Ty)]>, to: Value, span: Span) -> Option<(Local, i64)> {
        let b = self.at(span);
        let (object, made) = (b.new_start(Const::Null), b.new_start(Const::Int(Scalar::I64, 0)));
        b.push(Stmt::Set(object, to));
        let what = Cleaned::Parts(Parts { object, made, parts });
        self.f.landings.last_mut()?.made.push(Cleanup { what, made: None });
        Some((made, 0))
    }

    /// The object is there: its parts are no longer parts of what is being made.
    fn end_parts(&mut self, parts: Option<(Local, i64)>, span: Span) {
        if let Some((made, _)) = parts {
            let b = self.at(span);
            let none = b.int(Scalar::I64, 0);
            b.push(Stmt::Set(made, none));
        }
    }

    /// Destroys the parts that are made, the last first.
    fn clean_parts(&mut self, Parts { object, made, parts }: &Parts, span: Span) {
        let b = self.at(span);
        let (object, made) = (b.bind(Type::Ptr, Op::Get(*object)), b.bind(Scalar::I64, Op::Get(*made)));
        let step = if let [(a, _), (b, _), ..] = &parts[..] { b - a } else { 0 };
        let (first, ty) = parts[0].clone();
        let is_array = |(i, (at, other)): (u32, &(u32, Ty))| *at == first + i * step && other.kind == ty.kind;
        let one = |this: &mut Self, index: Value, place: &dyn Fn(&mut Self) -> Value, ty: &Ty| {
            let b = this.at(span);
            let cond = b.compare(CompareOp::Lt, index, made);
            b.open();
            let at = place(this);
            this.destroy(at, ty, span);
            let then = this.f.b.close();
            this.at(span).push(Stmt::If { cond, then, els: Block::default() });
        };
        if parts.len() > MAX_UNROLLED as usize && (0u32..).zip(parts.iter()).all(is_array) {
            let last = parts.len() as i64 - 1;
            let start = self.at(span).offset(object, i64::from(first), Stride::Bytes(1));
            return self.counted(0, parts.len() as u32, span, &mut |this, i| {
                let b = this.at(span);
                let last = b.int(Scalar::I64, last);
                let index = b.binary(BinaryOp::Sub, last, i);
                let place = |this: &mut Self| {
                    this.at(span).bind(Type::Ptr, Op::PtrAdd { ptr: start, index, stride: Stride::Bytes(step) })
                };
                one(this, index, &place, &ty);
            });
        }
        for (i, (at, ty)) in parts.iter().enumerate().rev() {
            let index = self.at(span).int(Scalar::I64, i as i64);
            one(self, index, &|this| this.at(span).offset(object, i64::from(*at), Stride::Bytes(1)), ty);
        }
    }

    fn write_one(&mut self, to: Value, part: InitialisedPart<'_>, span: Span) {
        let (at, e) = part;
        let span = if e.span == Span::NONE { span } else { e.span };
        if e.ty.is_struct() || (e.ty.is_array() && !e.lvalue) {
            let ptr = self.at(span).offset(to, i64::from(*at), Stride::Bytes(1));
            return self.emit_into(e, ptr);
        }
        if e.is_error() {
            return;
        }
        if let Node::Bits(value, bits) = &e.node {
            let value = self.emit_value(value);
            let ptr = self.at(span).offset(to, i64::from(*at), Stride::Bytes(1));
            self.write_bits(ptr, *bits, value, false, span);
            return;
        }
        let value = self.emit_value(e);
        self.write_number(to, *at, value, false, span);
    }

    fn zero_elements(&mut self, to: Value, at: u32, elem: &Ty, range: std::ops::Range<u32>, span: Span) {
        let size = elem.size().unwrap_or(1);
        if range.len() <= MAX_UNROLLED as usize {
            for i in range {
                self.fill_object(to, at + i * size, elem, &mut [].as_slice(), span);
            }
            return;
        }
        let elem = elem.clone();
        self.counted(range.start, range.end, span, &mut |this, i| {
            let stride = elem.stride().unwrap_or(Stride::Bytes(size));
            let b = this.at(span);
            let to = b.offset(to, i64::from(at), Stride::Bytes(1));
            let to = b.bind(Type::Ptr, Op::PtrAdd { ptr: to, index: i, stride });
            this.fill_object(to, 0, &elem, &mut [].as_slice(), span);
        });
    }

    fn zero_words(&mut self, to: Value, at: u32, size: u32, align: u32, span: Span) {
        let (scalar, width) = word(if self.f.by_bytes { 1 } else { align });
        let ty = match scalar {
            Scalar::U64 => crate::front::types::Num::ULong,
            Scalar::U32 => crate::front::types::Num::UInt,
            Scalar::U16 => crate::front::types::Num::UShort,
            _ => crate::front::types::Num::UChar,
        };
        self.zero_elements(to, at, &ty.into(), 0..size / width, span);
    }

    /// A loop over `start..end`; the body gets the index as `i64`.
    pub(in crate::front::lower) fn counted(
        &mut self,
        start: u32,
        end: u32,
        span: Span,
        body: &mut dyn FnMut(&mut Self, Value),
    ) {
        let b = self.at(span);
        let counter = b.func.new_local("", Type::Scalar(Scalar::I64));
        let (label, first) = (b.func.new_label(), b.int(Scalar::I64, i64::from(start)));
        b.push(Stmt::Set(counter, first));
        b.open();
        let i = b.bind(Scalar::I64, Op::Get(counter));
        let end = b.int(Scalar::I64, i64::from(end));
        let more = b.compare(CompareOp::Lt, i, end);
        b.open();
        b.push(Stmt::Break(label));
        let els = b.close();
        b.push(Stmt::If { cond: more, then: Block::default(), els });
        body(self, i);
        let b = self.at(span);
        let block = b.close();
        b.open();
        let i = b.bind(Scalar::I64, Op::Get(counter));
        let one = b.int(Scalar::I64, 1);
        let next = b.binary(BinaryOp::Add, i, one);
        b.push(Stmt::Set(counter, next));
        let step = b.close();
        b.push(Stmt::Loop { label, body: block, step });
    }

    /// Notes an object that was just made in a slot, and goes at the end of the innermost scope.
    pub(in crate::front::lower) fn note_cleanup(&mut self, slot: Slot, ty: &Ty) {
        self.note(Cleaned::Object(slot, ty.unqualified()));
    }

    /// Notes a part of the object being made, which goes when an exception leaves the constructor.
    pub(in crate::front::lower) fn note_part(&mut self, offset: u32, ty: &Ty) {
        if !self.f.landings.is_empty() && self.needs_destructor(ty) {
            self.note(Cleaned::Part(offset, ty.unqualified()));
        }
    }

    /// Notes what happens at the end of the innermost scope, or when an exception leaves it.
    pub(in crate::front::lower) fn note(&mut self, what: Cleaned) {
        if !self.f.b.is_live() {
            return;
        }
        let depends = self.f.b.depth() > self.f.scope_depth || !self.f.landings.is_empty();
        let made = depends.then(|| {
            let flag = self.f.b.new_flag();
            let yes = self.f.b.constant(Const::Bool(true));
            self.f.b.push(Stmt::Set(flag, yes));
            flag
        });
        let cleanup = Cleanup { what, made };
        if let Some(landing) = self.f.landings.last_mut() {
            landing.made.push(cleanup.clone());
        }
        if !matches!(cleanup.what, Cleaned::Part(..)) {
            self.f.cleanups.push(cleanup);
        }
    }

    /// Runs the destructors of objects made since a mark, the last first; they stay noted.
    pub(in crate::front::lower) fn run_cleanups(&mut self, mark: usize, span: Span) {
        if !self.f.b.is_live() {
            return;
        }
        for i in (mark..self.f.cleanups.len()).rev() {
            let cleanup = self.f.cleanups[i].clone();
            self.run_cleanup(&cleanup, span);
        }
    }

    /// Cleans up, if there is anything to do.
    pub(in crate::front::lower) fn run_cleanup(&mut self, cleanup: &Cleanup, span: Span) {
        let Some(made) = cleanup.made else { return self.clean(&cleanup.what, span) };
        let b = self.at(span);
        let cond = b.bind(Scalar::Bool, Op::Get(made));
        b.open();
        let no = b.constant(Const::Bool(false));
        b.push(Stmt::Set(made, no));
        self.clean(&cleanup.what, span);
        let then = self.f.b.close();
        self.at(span).push(Stmt::If { cond, then, els: Block::default() });
    }

    fn clean(&mut self, what: &Cleaned, span: Span) {
        // An exception that a destructor throws ends the call, as it ends a process.
        let landings = std::mem::take(&mut self.f.landings);
        match what {
            Cleaned::Object(slot, ty) => {
                let ptr = self.at(span).bind(Type::Ptr, Op::SlotAddr(*slot));
                self.destroy(ptr, ty, span);
            }
            Cleaned::Part(offset, ty) => {
                if let Some(this) = self.f.this_value {
                    let ptr = self.at(span).offset(this, i64::from(*offset), Stride::Bytes(1));
                    self.destroy(ptr, ty, span);
                }
            }
            Cleaned::Parts(parts) => self.clean_parts(parts, span),
            Cleaned::Handler(done) => self.effect(done),
        }
        self.f.landings = landings;
    }

    /// The start of a scope of objects.
    pub(in crate::front::lower) fn begin_scope(&mut self) -> ScopeMark {
        let depth = std::mem::replace(&mut self.f.scope_depth, self.f.b.depth());
        ScopeMark { cleanups: self.f.cleanups.len(), depth }
    }

    /// The end of a scope: its objects go.
    pub(in crate::front::lower) fn end_scope(&mut self, mark: ScopeMark, span: Span) {
        self.run_cleanups(mark.cleanups, span);
        self.f.cleanups.truncate(mark.cleanups);
        self.f.scope_depth = mark.depth;
    }
}

/// The largest unsigned word of an alignment, and its size.
fn word(align: u32) -> (Scalar, u32) {
    match align {
        1 => (Scalar::U8, 1),
        2 => (Scalar::U16, 2),
        4 => (Scalar::U32, 4),
        _ => (Scalar::U64, 8),
    }
}

//! Typed expressions to IR: values, places, effects.
//!
//! Order of evaluation is C++17's: the right side of an assignment before its left, shifts and subscripts from left to
//! right; arguments, which C++ leaves open, from left to right too.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::lower::expressions::typed_tree::{CompoundAssign, Node, Typed, VarId};
use crate::front::lower::host::device_variables::SymbolUse;
use crate::front::lower::{Lowerer, Storage};
use crate::front::types::{Bits, Kind, Ty};
use crate::ir::{BinaryOp, Block, CompareOp, Const, Local, Op, Scalar, Stmt, Stride, Type, UnaryOp, Value};
use crate::source::Span;

/// Most nodes of an operand that is computed whether it is needed or not, rather than under an `If`.
const TRIVIAL: u32 = 8;

/// Place that is written.
#[derive(Debug, Clone, Copy)]
pub(in crate::front::lower) enum EmittedPlace {
    /// A register.
    Register(Local),
    /// Memory.
    Memory {
        /// Address.
        ptr: Value,
        /// Accesses are neither merged nor moved.
        volatile: bool,
    },
    /// Bits of memory: a bit-field, or a number that is not aligned.
    Bits {
        /// The address of the byte that the lowest bit is in.
        ptr: Value,
        /// Bits that are meant.
        bits: Bits,
        /// Accesses are neither merged nor moved.
        volatile: bool,
    },
}

impl<'a> Lowerer<'a> {
    /// Emits an expression that has a value.
    pub(in crate::front::lower) fn emit_value(&mut self, e: &Typed) -> Value {
        let span = e.span;
        match &e.node {
            Node::Const(c) => self.at(span).constant(*c),
            Node::Builtin(builtin) => self.at(span).bind(Scalar::U32, Op::Builtin(*builtin)),
            Node::Load(place) => self.emit_load(place),
            Node::Bits(value, _) => self.emit_value(value),
            Node::Decay(place) => self.emit_address(place),
            Node::AddrOf(place) => self.emit_address(place),
            Node::Convert(inner) if e.ty.is_void() => {
                self.effect(inner);
                self.no_value(span)
            }
            Node::Convert(inner) => {
                let value = self.emit_value(inner);
                self.emit_convert(value, &inner.ty, &e.ty, span)
            }
            Node::Unary(op, a) => {
                let a = self.emit_value(a);
                self.at(span).unary(*op, a)
            }
            Node::Binary(op, a, b) => {
                let a = self.emit_value(a);
                let b = self.emit_value(b);
                self.at(span).binary(*op, a, b)
            }
            Node::Compare(op, a, b) => {
                let a = self.emit_value(a);
                let b = self.emit_value(b);
                self.at(span).compare(*op, a, b)
            }
            Node::Logical(and, a, b) => self.emit_logical(*and, a, b, span),
            Node::Conditional(parts) => self.emit_conditional(&parts[0], &parts[1], &parts[2], &e.ty, span),
            Node::Comma(a, b) => {
                self.effect(a);
                self.emit_value(b)
            }
            Node::PtrAdd(ptr, index, down) => self.emit_ptr_add(ptr, index, *down, span),
            Node::PtrDiff(a, b) => {
                let stride = stride_of(&a.ty);
                let a = self.emit_value(a);
                let b = self.emit_value(b);
                self.at(span).bind(Scalar::I64, Op::PtrDiff(a, b, stride))
            }
            Node::Step { place, down, prefix } => {
                let (old, new, _) = self.emit_step(place, *down, span);
                if *prefix { new } else { old }
            }
            Node::Assign(place, value) => self.emit_assign(place, value).0,
            Node::Compound(compound) => self.emit_compound(compound, span).0,
            Node::Call(..) | Node::Intrinsic(..) | Node::Math(..) | Node::Printf(..) | Node::Service(..) => {
                match self.emit_call(e, true) {
                    Some(value) => value,
                    None => self.no_value(span),
                }
            }
            Node::Var(_)
            | Node::Str(_)
            | Node::Deref(_)
            | Node::Temporary(_)
            | Node::Member(..)
            | Node::BitField(..) => self.emit_load(e),
            Node::This => match self.f.this_value {
                Some(value) => value,
                None => {
                    self.f.foreign = Some(span);
                    self.at(span).constant(Const::Null)
                }
            },
            Node::Adjust(inner, offset) => {
                let ptr = self.emit_value(inner);
                self.at(span).offset(ptr, *offset, Stride::Bytes(1))
            }
            Node::Function(index) => self.function_address(*index, span),
            Node::Memory { op, args } => self.emit_memory(*op, args, span),
            Node::Init(_) | Node::Construct(..) => self.emit_object(e),
            Node::Braced(_) | Node::Overloads(_) => self.no_value(span),
            Node::Assert(..) | Node::Trap | Node::Launch(_) | Node::Life(_) | Node::Error => {
                self.effect(e);
                self.no_value(span)
            }
        }
    }

    /// Stands for the value of something of type `void`, which the checks let nobody use.
    fn no_value(&mut self, span: Span) -> Value {
        self.at(span).int(Scalar::I32, 0)
    }

    /// Emits an expression for what it does.
    pub(in crate::front::lower) fn effect(&mut self, e: &Typed) {
        let span = e.span;
        match &e.node {
            Node::Const(_) | Node::Str(_) | Node::Builtin(_) | Node::Var(_) | Node::Error | Node::This => {}
            Node::Function(_) | Node::Overloads(_) | Node::Braced(_) => {}
            Node::Member(a, _) | Node::BitField(a, _) | Node::Adjust(a, _) => self.effect(a),
            _ if e.ty.is_struct() && !e.lvalue && !matches!(e.node, Node::Load(_) | Node::Comma(..)) => {
                self.emit_object(e);
            }
            Node::Convert(a) | Node::Unary(_, a) | Node::Decay(a) | Node::AddrOf(a) | Node::Deref(a) => self.effect(a),
            Node::Temporary(a) => self.effect(a),
            Node::Load(place) if place.ty.is_volatile => {
                self.emit_load(place);
            }
            Node::Load(place) => self.effect(place),
            Node::Comma(a, b) => {
                self.effect(a);
                self.effect(b);
            }
            Node::Conditional(parts) => {
                let [cond, a, b] = &**parts;
                let cond = self.emit_value(cond);
                self.f.b.open();
                self.effect(a);
                let then = self.f.b.close();
                self.f.b.open();
                self.effect(b);
                let els = self.f.b.close();
                self.at(span).push(Stmt::If { cond, then, els });
            }
            Node::Call(..) | Node::Intrinsic(..) | Node::Math(..) | Node::Printf(..) | Node::Service(..) => {
                self.emit_call(e, false);
                if self.never_returns(e) {
                    self.at(span).push(Stmt::Trap);
                }
            }
            Node::Launch(launch) => self.emit_launch(launch, span),
            Node::Life(life) => self.emit_life(&life.0, life.1.as_ref(), span),
            Node::Assert(cond, message) => {
                let cond = self.emit_value(cond);
                self.at(span).push(Stmt::Assert { cond, message: message.clone() });
            }
            Node::Trap => self.at(span).push(Stmt::Trap),
            _ => {
                self.emit_value(e);
            }
        }
    }

    /// The call ends the whole call of host code: those of the library that raise exceptions.
    pub(in crate::front::lower) fn never_returns(&self, e: &Typed) -> bool {
        let Node::Call(index, _) = &e.node else {
            return matches!(e.node, Node::Service(crate::ir::Service::Raise, _));
        };
        let f = self.func(*index);
        self.in_library(f.span)
            && matches!(
                self.interner.name(f.name),
                crate::library::THROW | crate::library::THROW_OBJECT | "fail" | "fail_compare" | "fail_internal"
            )
    }

    /// The value in a place.
    fn emit_load(&mut self, place: &Typed) -> Value {
        let span = place.span;
        match &place.node {
            // The value is the one just written; reading it back gives nothing more.
            Node::Assign(target, value) => return self.emit_assign(target, value).0,
            Node::Compound(compound) => return self.emit_compound(compound, span).0,
            Node::Step { place, down, prefix: true } => return self.emit_step(place, *down, span).1,
            Node::Var(id) => {
                let var = self.var(*id);
                match (var.storage, var.constant) {
                    (_, Some(c)) if !place.ty.is_volatile => return self.at(span).constant(c),
                    (Storage::Value(_) | Storage::Local(_), _) if self.is_foreign_var(*id, span) => {}
                    (Storage::Value(value), _) => return value,
                    (Storage::Local(local), _) => {
                        let ty = place.ty.ir().unwrap_or(Type::Ptr);
                        return self.at(span).bind(ty, Op::Get(local));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        self.check_symbol(place, SymbolUse::Read);
        if let Some(bits) = self.bits_of(place) {
            let ptr = self.emit_byte_address(place);
            return self.read_bits(ptr, bits, &place.ty, span);
        }
        let ptr = self.emit_address(place);
        match place.ty.ir() {
            Some(ty) => self.at(span).load(ptr, ty, place.ty.is_volatile),
            None => ptr,
        }
    }

    /// The address of a place in memory.
    pub(in crate::front::lower) fn emit_address(&mut self, place: &Typed) -> Value {
        let span = place.span;
        match &place.node {
            Node::Var(id) => self.emit_var_address(*id, span),
            Node::Str(text) => {
                let global = self.add_string(text);
                self.at(span).bind(Type::Ptr, Op::GlobalAddr(global))
            }
            Node::Deref(ptr) => self.emit_value(ptr),
            Node::Member(object, offset) => {
                let ptr = if object.ty.is_array() { self.emit_address(object) } else { self.emit_object(object) };
                self.at(span).offset(ptr, i64::from(*offset), Stride::Bytes(1))
            }
            Node::Function(index) => self.function_address(*index, span),
            Node::Init(_) | Node::Construct(..) | Node::Call(..) if place.ty.is_struct() => self.emit_object(place),
            Node::Temporary(value) => self.temporary(value),
            Node::Conditional(parts) => {
                let [cond, a, b] = &**parts;
                let address =
                    |e: &Typed| Typed::value(e.ty.clone().pointer(), e.span, Node::AddrOf(Box::new(e.clone())));
                let ty = place.ty.clone().pointer();
                self.emit_conditional(cond, &address(a), &address(b), &ty, span)
            }
            Node::Comma(a, b) => {
                self.effect(a);
                self.emit_address(b)
            }
            Node::Assign(target, value) => {
                let written = self.emit_assign(target, value).1;
                self.address_of_place(written, span)
            }
            Node::Compound(compound) => {
                let written = self.emit_compound(compound, span).1;
                self.address_of_place(written, span)
            }
            Node::Step { place, down, .. } => {
                let written = self.emit_step(place, *down, span).2;
                self.address_of_place(written, span)
            }
            Node::Load(inner) | Node::Convert(inner) => self.emit_address(inner),
            _ => self.no_address(span),
        }
    }

    fn address_of_place(&mut self, place: EmittedPlace, span: Span) -> Value {
        match place {
            EmittedPlace::Memory { ptr, .. } => ptr,
            EmittedPlace::Bits { ptr, bits, .. } if bits.first == 0 && bits.width.is_multiple_of(8) => ptr,
            EmittedPlace::Register(_) | EmittedPlace::Bits { .. } => self.no_address(span),
        }
    }

    /// An address asked of something that the scan of the body did not expect to be asked.
    fn no_address(&mut self, span: Span) -> Value {
        let message = "a reference or address of this is not supported here";
        self.report(
            Diagnostic::error(Code::Unsupported, span, message)
                .help("store it in a variable, and take the variable's address with `&`"),
        );
        self.at(span).constant(Const::Null)
    }

    /// The variable belongs to another function than the one being written, which then is no constant.
    fn is_foreign_var(&mut self, id: VarId, span: Span) -> bool {
        let owner = self.var(id).owner;
        let foreign = owner != 0 && owner != self.f.serial;
        if foreign {
            self.f.foreign = Some(span);
        }
        foreign
    }

    pub(super) fn emit_var_address(&mut self, id: VarId, span: Span) -> Value {
        let in_frame = matches!(
            self.var(id).storage,
            Storage::Slot(_) | Storage::Reference(_) | Storage::Value(_) | Storage::Local(_)
        );
        if in_frame && self.is_foreign_var(id, span) {
            return self.at(span).constant(Const::Null);
        }
        match self.var(id).storage {
            Storage::Slot(slot) => self.at(span).bind(Type::Ptr, Op::SlotAddr(slot)),
            Storage::Reference(ptr) => ptr,
            Storage::Global(global) => self.at(span).bind(Type::Ptr, Op::GlobalAddr(global)),
            Storage::Shared(shared) => self.at(span).bind(Type::Ptr, Op::SharedAddr(shared)),
            Storage::Constant => self.constant_address(id, span),
            Storage::Host => {
                let before = self.diags.len();
                if let Some(made) = self.host_object(id) {
                    return self.emit_var_address(made, span);
                }
                if let Some(data) = self.host_data(id, span) {
                    return self.at(span).bind(Type::Ptr, Op::GlobalAddr(data));
                }
                if self.diags.len() > before {
                    return self.at(span).constant(Const::Null);
                }
                let message = "variables of the host are not supported in functions";
                self.report(Diagnostic::error(Code::Unsupported, span, message).help("pass the value as a parameter"));
                self.at(span).constant(Const::Null)
            }
            // Never assigned: a copy in memory is as good as itself.
            Storage::Value(value) => {
                let ty = self.var(id).ty.clone();
                let ir = self.f.b.ty(value);
                let slot = self.slot(String::new(), ir.size(), ir.size(), ty.scalar(), span);
                let b = self.at(span);
                let ptr = b.bind(Type::Ptr, Op::SlotAddr(slot));
                b.store(ptr, value, false);
                ptr
            }
            Storage::Local(_) | Storage::Nowhere => self.no_address(span),
        }
    }

    /// The place that an lvalue is written at.
    fn emit_place(&mut self, place: &Typed) -> EmittedPlace {
        if let Node::Var(id) = place.node
            && let Storage::Local(local) = self.var(id).storage
            && !self.is_foreign_var(id, place.span)
        {
            return EmittedPlace::Register(local);
        }
        // `(a = b) = c`, `++(++i)`: the place of the inner one.
        let inner = match &place.node {
            Node::Assign(target, value) => Some(self.emit_assign(target, value).1),
            Node::Compound(compound) => Some(self.emit_compound(compound, place.span).1),
            Node::Step { place: target, down, .. } => Some(self.emit_step(target, *down, place.span).2),
            _ => None,
        };
        inner.unwrap_or_else(|| {
            self.check_symbol(place, SymbolUse::Written);
            let volatile = place.ty.is_volatile;
            match self.bits_of(place) {
                Some(bits) => EmittedPlace::Bits { ptr: self.emit_byte_address(place), bits, volatile },
                None => EmittedPlace::Memory { ptr: self.emit_address(place), volatile },
            }
        })
    }

    fn read(&mut self, place: EmittedPlace, ty: &Ty, span: Span) -> Value {
        let ir = ty.ir().unwrap_or(Type::Ptr);
        match place {
            EmittedPlace::Register(local) => self.at(span).bind(ir, Op::Get(local)),
            EmittedPlace::Memory { ptr, volatile } => self.at(span).load(ptr, ir, volatile),
            EmittedPlace::Bits { ptr, bits, .. } => self.read_bits(ptr, bits, ty, span),
        }
    }

    /// Writes a value; the one that the place then has.
    fn write(&mut self, place: EmittedPlace, value: Value, span: Span) -> Value {
        match place {
            EmittedPlace::Register(local) => self.at(span).push(Stmt::Set(local, value)),
            EmittedPlace::Memory { ptr, volatile } => self.at(span).store(ptr, value, volatile),
            EmittedPlace::Bits { ptr, bits, volatile } => return self.write_bits(ptr, bits, value, volatile, span),
        }
        value
    }

    fn emit_assign(&mut self, place: &Typed, value: &Typed) -> (Value, EmittedPlace) {
        if place.ty.is_struct() {
            return self.emit_struct_assign(place, value);
        }
        let value = self.emit_value(value);
        let target = self.emit_place(place);
        let value = self.write(target, value, place.span);
        (value, target)
    }

    /// Copies a struct; one made anew is made beside the place first, which it may read.
    fn emit_struct_assign(&mut self, place: &Typed, value: &Typed) -> (Value, EmittedPlace) {
        let span = place.span;
        if self.holds_objects(&place.ty) {
            if self.assigns_its_way(&place.ty) {
                let message = format!(
                    "assigning a `{}` is not supported: it holds objects with an `operator=` of their own",
                    place.ty
                );
                self.report(Diagnostic::error(Code::Unsupported, span, message).help("assign its members one by one"));
            }
            // The copy is made beside, the old value goes, and the copy moves in.
            let ty = place.ty.unqualified();
            let slot = self.slot(String::new(), ty.size().unwrap_or(1), ty.align(), ty.uniform(), span);
            let fresh = self.at(span).bind(Type::Ptr, Op::SlotAddr(slot));
            self.emit_into(value, fresh);
            let to = self.emit_address(place);
            self.destroy(to, &ty, span);
            self.copy(to, fresh, &ty, span);
            return (to, EmittedPlace::Memory { ptr: to, volatile: place.ty.is_volatile });
        }
        let from = match &value.node {
            Node::Load(source) => {
                self.check_symbol(source, SymbolUse::Read);
                let from = self.emit_address(source);
                if matches!(source.node, Node::Deref(_)) {
                    self.check_alignment(from, &value.ty, value.span);
                }
                from
            }
            _ => self.emit_object(value),
        };
        self.check_symbol(place, SymbolUse::Written);
        let to = self.emit_address(place);
        if matches!(place.node, Node::Deref(_)) {
            self.check_alignment(to, &place.ty, span);
        }
        let source = if let Node::Load(source) = &value.node { self.alignment_of(source) } else { u32::MAX };
        let by_bytes = source.min(self.alignment_of(place)) < place.ty.align();
        self.by_bytes(by_bytes, |this| this.copy(to, from, &place.ty, span));
        (to, EmittedPlace::Memory { ptr: to, volatile: place.ty.is_volatile })
    }

    /// Members of an object, other than the library's, say themselves how they are assigned.
    fn assigns_its_way(&self, ty: &Ty) -> bool {
        ty.layout().is_some_and(|l| {
            let fields = l.fields.iter().map(|f| &f.ty);
            fields.chain(l.bases.iter().map(|(b, _)| b)).any(|part| {
                let Some(s) = part.innermost().as_struct() else { return false };
                let class = self.class(s.id);
                // Operators wait for nobody.
                let own = matches!(self.scopes.member(class.scope, self.known.operators["="]), Ok(Some(_)));
                (own && !self.in_library(class.span)) || self.assigns_its_way(part.innermost())
            })
        })
    }

    fn emit_compound(&mut self, compound: &CompoundAssign, span: Span) -> (Value, EmittedPlace) {
        let CompoundAssign { place, value, op, common } = compound;
        let right = self.emit_value(value);
        let target = self.emit_place(place);
        let old = self.read(target, &place.ty, place.span);
        let new = if common.pointee().is_some() {
            let b = self.at(span);
            let index = if *op == BinaryOp::Sub { b.unary(UnaryOp::Neg, right) } else { right };
            b.bind(Type::Ptr, Op::PtrAdd { ptr: old, index, stride: stride_of(common) })
        } else {
            let left = self.emit_convert(old, &place.ty, common, place.span);
            let result = self.at(span).binary(*op, left, right);
            self.emit_convert(result, common, &place.ty, span)
        };
        let new = self.write(target, new, place.span);
        (new, target)
    }

    /// The old value, the new one, and where it was written.
    fn emit_step(&mut self, place: &Typed, down: bool, span: Span) -> (Value, Value, EmittedPlace) {
        let target = self.emit_place(place);
        let old = self.read(target, &place.ty, place.span);
        let b = self.at(span);
        let new = match place.ty.scalar() {
            None => b.offset(old, if down { -1 } else { 1 }, stride_of(&place.ty)),
            Some(scalar) => {
                let one = if scalar.is_float() { b.float(scalar, 1.0) } else { b.int(scalar, 1) };
                b.binary(if down { BinaryOp::Sub } else { BinaryOp::Add }, old, one)
            }
        };
        let new = self.write(target, new, place.span);
        (old, new, target)
    }

    fn emit_ptr_add(&mut self, ptr: &Typed, index: &Typed, down: bool, span: Span) -> Value {
        let stride = stride_of(&ptr.ty);
        let ptr = self.emit_value(ptr);
        if let Some(n) = index.integer() {
            let n = if down { n.wrapping_neg() } else { n };
            return self.at(span).offset(ptr, n, stride);
        }
        let index = self.emit_value(index);
        let b = self.at(span);
        let index = if down { b.unary(UnaryOp::Neg, index) } else { index };
        b.bind(Type::Ptr, Op::PtrAdd { ptr, index, stride })
    }

    /// A value of one type as another that it is known to convert to.
    fn emit_convert(&mut self, value: Value, from: &Ty, to: &Ty, span: Span) -> Value {
        let b = self.at(span);
        match (b.ty(value), to.ir()) {
            // There are no instructions from floats to 8 and 16 bits: NVCC takes those for 32 and keeps the low bits.
            (Type::Scalar(from), Some(Type::Scalar(to))) if from.is_float() && to.is_int() && to.bits() < 32 => {
                let wide = b.convert(if to.is_signed() { Scalar::I32 } else { Scalar::U32 }, value);
                b.convert(to, wide)
            }
            (Type::Scalar(_), Some(Type::Scalar(to))) => b.convert(to, value),
            (Type::Ptr, Some(Type::Scalar(Scalar::Bool))) => {
                let null = b.constant(Const::Null);
                b.compare(CompareOp::Ne, value, null)
            }
            (Type::Ptr, Some(Type::Scalar(to))) => {
                let address = b.bind(Scalar::U64, Op::PtrToInt(value));
                b.convert(to, address)
            }
            (Type::Scalar(_), Some(Type::Ptr)) if !matches!(from.kind, Kind::Nullptr) => {
                let address = b.convert(Scalar::U64, value);
                b.bind(Type::Ptr, Op::IntToPtr(address))
            }
            _ => value,
        }
    }

    /// The evaluation of an expression that is not needed costs little, cannot fault and changes nothing.
    fn is_trivial(&self, e: &Typed, budget: &mut u32) -> bool {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        match &e.node {
            Node::Const(_) | Node::Builtin(_) => true,
            Node::Load(place) => place.as_var().is_some_and(|id| {
                let storage = self.var(id).storage;
                !place.ty.is_volatile
                    && matches!(storage, Storage::Value(_) | Storage::Local(_) | Storage::Slot(_) | Storage::Constant)
            }),
            Node::Convert(a) | Node::Unary(_, a) => e.ty.scalar().is_some() && self.is_trivial(a, budget),
            Node::Binary(op, a, b) => {
                let faults =
                    matches!(op, BinaryOp::Div | BinaryOp::Rem) && !e.ty.scalar().is_some_and(Scalar::is_float);
                !faults && self.is_trivial(a, budget) && self.is_trivial(b, budget)
            }
            Node::Conditional(parts) if !e.lvalue => {
                e.ty.ir().is_some() && parts.iter().all(|p| self.is_trivial(p, budget))
            }
            Node::Compare(_, a, b) | Node::Logical(_, a, b) => self.is_trivial(a, budget) && self.is_trivial(b, budget),
            _ => false,
        }
    }

    fn emit_logical(&mut self, and: bool, a: &Typed, b: &Typed, span: Span) -> Value {
        let first = self.emit_value(a);
        if self.is_trivial(b, &mut TRIVIAL.clone()) {
            let second = self.emit_value(b);
            let op = if and { BinaryOp::And } else { BinaryOp::Or };
            return self.at(span).binary(op, first, second);
        }
        let result = self.at(span).func.new_local("", Type::Scalar(Scalar::Bool));
        self.f.b.push(Stmt::Set(result, first));
        self.f.b.open();
        let second = self.emit_value(b);
        self.at(span).push(Stmt::Set(result, second));
        let more = self.f.b.close();
        let (then, els) = if and { (more, Block::default()) } else { (Block::default(), more) };
        let b = self.at(span);
        b.push(Stmt::If { cond: first, then, els });
        b.bind(Scalar::Bool, Op::Get(result))
    }

    fn emit_conditional(&mut self, cond: &Typed, a: &Typed, b: &Typed, ty: &Ty, span: Span) -> Value {
        let cond = self.emit_value(cond);
        if self.is_trivial(a, &mut TRIVIAL.clone()) && self.is_trivial(b, &mut TRIVIAL.clone()) {
            let a = self.emit_value(a);
            let b = self.emit_value(b);
            return self.at(span).select(cond, a, b);
        }
        let Some(ir) = ty.ir() else { return self.no_value(span) };
        let result = self.at(span).func.new_local("", ir);
        let mut arm = |e: &Typed| {
            self.f.b.open();
            let value = self.emit_value(e);
            self.at(span).push(Stmt::Set(result, value));
            self.f.b.close()
        };
        let (then, els) = (arm(a), arm(b));
        let b = self.at(span);
        b.push(Stmt::If { cond, then, els });
        b.bind(ir, Op::Get(result))
    }
}

/// The unit of arithmetic on a pointer type; the checks have refused pointers without one.
fn stride_of(ptr: &Ty) -> Stride {
    ptr.pointee().and_then(Ty::stride).unwrap_or(Stride::Bytes(1))
}

//! The float64 twin of a float32 kernel, for gradcheck: every `f32` becomes an `f64`, in values, locals, parameters, slots,
//! constant tables and the functions it calls.
//!
//! Memory of floats doubles in size, so pointers into it must move twice as far. That is sound only where a pointer provably comes from
//! memory that holds `f32`s and nothing else (a `float*` parameter, a slot or table of `f32`), moves in multiples of an `f32`, and is read
//! and written as `f32`. Anything else is refused, with its place: bit casts, addresses as integers, structs with floats, `void*`, a float
//! array accessed as another type.
//!
//! Results differ from the float32 kernel's by more than width: `(float)x` of a double no longer rounds, and a literal
//! such as `0.1f` keeps the value it had as an `f32`.

use std::fmt;

use super::pointers::{self, Origin};
use super::reachable_from;
use crate::ir::{
    Block, Const, Elem, FuncId, FuncKind, Function, GlobalData, Module, Op, ParamType, Scalar, Stmt, Stride, Type,
    Value,
};
use crate::source::Span;

/// The reason why a kernel has no float64 twin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WidenError {
    /// The place in the user's text.
    pub span: Span,
    /// One sentence.
    pub reason: String,
}

impl fmt::Display for WidenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for WidenError {}

/// The module with `kernel` and all functions that it calls in float64; its `float*` parameters are `double*`. Handles stay the same;
/// functions that the kernel does not reach are emptied.
///
/// # Errors
/// The first place that depends on a float being 32 bits wide.
pub fn widen(module: &Module, kernel: FuncId) -> Result<Module, WidenError> {
    let reached = reachable_from(module, vec![kernel]);
    let mut out = module.clone();
    for (func, reached) in out.functions.iter_mut().zip(reached) {
        if reached {
            *func = function(module, func)?;
        } else {
            let params = std::mem::take(&mut func.params);
            *func = Function { params, ..Function::new(func.name.clone(), FuncKind::Device, func.span) };
        }
    }
    out.globals.iter_mut().for_each(global);
    for data in out.shared.iter_mut().filter(|data| data.elem == Some(Scalar::F32)) {
        let reason = || format!("`{}` is too large to be widened", data.name);
        // The size of dynamic memory is given by the launch, in bytes of the kernel as it is written.
        let size = data.size.checked_mul(2).filter(|_| !data.dynamic);
        data.size = size.ok_or_else(|| WidenError { span: data.span, reason: reason() })?;
        data.align = data.align.max(8);
        data.elem = Some(Scalar::F64);
    }
    Ok(out)
}

/// The contents of the memory behind a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Memory {
    /// `f32`s and nothing else.
    Floats,
    /// No `f32`.
    Other,
}

fn memory(elem: Option<Scalar>) -> Origin<Memory> {
    match elem {
        Some(Scalar::F32) => Origin::One(Memory::Floats),
        Some(_) => Origin::One(Memory::Other),
        // `void*`, structs and pointers to pointers may point at anything.
        None => Origin::Unknown,
    }
}

fn scalar(s: Scalar) -> Scalar {
    if s == Scalar::F32 { Scalar::F64 } else { s }
}

fn wide_elem(e: Elem) -> Elem {
    match e {
        Elem::Scalar(s) => Elem::Scalar(scalar(s)),
        half => half,
    }
}

fn wide(ty: Type) -> Type {
    match ty {
        Type::Scalar(s) => Type::Scalar(scalar(s)),
        Type::Ptr => Type::Ptr,
    }
}

/// The bytes of a datum with those elements, in the form that the module made of its own expects.
pub fn data_as(own: Option<Scalar>, wanted: Option<Scalar>, bytes: Vec<u8>) -> Vec<u8> {
    match (own, wanted) {
        (Some(Scalar::F32), Some(Scalar::F64)) => bytes
            .chunks_exact(4)
            .flat_map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])).to_le_bytes())
            .collect(),
        _ => bytes,
    }
}

fn global(data: &mut GlobalData) {
    if data.elem == Some(Scalar::F32) {
        data.bytes = data_as(data.elem, Some(Scalar::F64), std::mem::take(&mut data.bytes));
        data.align = data.align.max(8);
        data.elem = Some(Scalar::F64);
    }
}

fn function(module: &Module, func: &Function) -> Result<Function, WidenError> {
    let origins = pointers::origins(func, |op| match op {
        Op::Param(i) => match func.params[*i as usize].ty {
            ParamType::Ptr { elem, .. } => memory(elem.map(Elem::bits)),
            ParamType::Scalar(_) | ParamType::Bytes { .. } => Origin::Unknown,
        },
        Op::SlotAddr(s) => memory(func.slots[s.index()].elem),
        Op::GlobalAddr(g) => memory(module.globals[g.index()].elem),
        Op::SharedAddr(m) => memory(module.shared[m.index()].elem),
        _ => Origin::Unknown,
    });
    let mut out = func.clone();
    Widener { module, func, origins }.block(&mut out.body)?;
    for param in &mut out.params {
        param.ty = match param.ty {
            ParamType::Scalar(s) => ParamType::Scalar(scalar(s)),
            ParamType::Ptr { elem, is_const } => ParamType::Ptr { elem: elem.map(wide_elem), is_const },
            bytes @ ParamType::Bytes { .. } => bytes,
        };
    }
    out.values.iter_mut().for_each(|data| data.ty = wide(data.ty));
    out.locals.iter_mut().for_each(|data| data.ty = wide(data.ty));
    out.ret = out.ret.map(wide);
    for slot in out.slots.iter_mut().filter(|slot| slot.elem == Some(Scalar::F32)) {
        let size = slot.size.checked_mul(2);
        let reason = || format!("`{}` is too large to be widened", slot.name);
        slot.size = size.ok_or_else(|| WidenError { span: func.span, reason: reason() })?;
        slot.align = slot.align.max(8);
        slot.elem = Some(Scalar::F64);
    }
    Ok(out)
}

struct Widener<'a> {
    module: &'a Module,
    /// The function as it was.
    func: &'a Function,
    origins: Vec<Origin<Memory>>,
}

impl Widener<'_> {
    fn block(&self, block: &mut Block) -> Result<(), WidenError> {
        for (stmt, &span) in block.stmts.iter_mut().zip(&block.spans) {
            let refuse = |reason: &str| WidenError { span, reason: reason.to_owned() };
            match stmt {
                Stmt::Let(_, op) => self.op(op).map_err(refuse)?,
                Stmt::Store { ptr, value, .. } | Stmt::Atomic { ptr, value, .. } => {
                    self.access(*ptr, self.func.ty(*value)).map_err(refuse)?
                }
                Stmt::Call { func, args, .. } => {
                    for (arg, param) in args.iter().zip(&self.module.func(*func).params) {
                        if let ParamType::Ptr { elem, .. } = param.ty {
                            self.argument(*arg, elem.map(Elem::bits)).map_err(refuse)?;
                        }
                    }
                }
                other => {
                    for inner in other.blocks_mut() {
                        self.block(inner)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn origin(&self, v: Value) -> Origin<Memory> {
        self.origins[v.index()]
    }

    /// A callee relies on its parameter's declared element, so the argument must agree.
    fn argument(&self, arg: Value, elem: Option<Scalar>) -> Result<(), &'static str> {
        match (self.origin(arg), memory(elem)) {
            (Origin::Nothing, _) | (_, Origin::Unknown) => Ok(()),
            (found, wanted) if found == wanted => Ok(()),
            _ => Err("a pointer is passed on as one to another type"),
        }
    }

    fn access(&self, ptr: Value, ty: Type) -> Result<(), &'static str> {
        match (self.origin(ptr), ty == Type::Scalar(Scalar::F32)) {
            (Origin::Nothing, _) | (Origin::One(Memory::Floats), true) | (Origin::One(Memory::Other), false) => Ok(()),
            (Origin::One(Memory::Floats), false) => Err("`float` memory is accessed as another type"),
            (Origin::One(Memory::Other), true) => Err("memory of another type is accessed as `float`"),
            (Origin::Unknown, _) => Err("it cannot be told whether this accesses `float` memory"),
        }
    }

    fn stride(&self, ptr: Value, stride: &mut Stride) -> Result<(), &'static str> {
        if self.origin(ptr) != Origin::One(Memory::Floats) {
            return match stride {
                Stride::Elem(Scalar::F32) if self.origin(ptr) != Origin::Nothing => {
                    Err("it cannot be told whether this points into `float` memory")
                }
                _ => Ok(()),
            };
        }
        let moved = "a pointer into `float` memory moves by something other than whole `float`s";
        *stride = match *stride {
            Stride::Elem(Scalar::F32) => Stride::Elem(Scalar::F64),
            Stride::Elem(_) => return Err(moved),
            Stride::Bytes(b) if b % 4 == 0 => {
                Stride::Bytes(b.checked_mul(2).ok_or("a row of `float`s is too long to be widened")?)
            }
            Stride::Bytes(_) => return Err(moved),
        };
        Ok(())
    }

    fn op(&self, op: &mut Op) -> Result<(), &'static str> {
        match op {
            Op::Const(Const::F32(x)) => *op = Op::Const(Const::F64(f64::from(*x))),
            Op::Convert(to, _) => *to = scalar(*to),
            Op::Bitcast(to, a) if *to == Scalar::F32 || self.func.ty(*a) == Type::Scalar(Scalar::F32) => {
                return Err("the bits of a `float` are taken as an integer, or the other way round");
            }
            Op::Load { ptr, ty, .. } => {
                self.access(*ptr, *ty)?;
                *ty = wide(*ty);
            }
            Op::PtrAdd { ptr, stride, .. } => self.stride(*ptr, stride)?,
            Op::PtrDiff(a, b, stride) => match (self.origin(*a), self.origin(*b)) {
                (Origin::Unknown, _) | (_, Origin::Unknown) => {
                    return Err("the distance of two pointers depends on what they point into");
                }
                (x, y) if x == y || y == Origin::Nothing => self.stride(*a, stride)?,
                (Origin::Nothing, _) => self.stride(*b, stride)?,
                _ => return Err("the distance of pointers into different memory is taken"),
            },
            Op::PtrToInt(a) if self.origin(*a) != Origin::One(Memory::Other) => {
                return Err("the address of `float` memory is taken as an integer");
            }
            _ => {}
        }
        Ok(())
    }
}

//! The math functions as functions of the kernel: the same straight-line code that scalar code runs, written down.

use std::collections::HashMap;

use super::names::Name;
use super::{Builder, types};
use crate::back::cpu::math::lanes::{self, Lanes, Rare};
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::lane::build::{KernelBuilder, function, int, set, ty, uint, ulong, variable, when};
use crate::back::lane::families::{self, Real, Vector};
use crate::back::lane::table::{LaneOp, NumberOp};
use crate::back::lane::tree::{Expr, Function, FunctionId, Stmt, Var};
use crate::back::lane::types::{Kind, Ty};
use crate::ir::{MathFn, Scalar};

/// A function in the making.
struct Text<'k> {
    k: &'k mut KernelBuilder<Name>,
    body: Vec<Stmt>,
    /// The number of its variables.
    count: u32,
}

impl Text<'_> {
    fn variable(&mut self, ty: Ty, constant: bool) -> Var {
        self.count += 1;
        self.k.var(variable(format!("x{}", self.count), ty, constant))
    }

    fn define(&mut self, ty: Ty, value: Expr) -> Var {
        let var = self.variable(ty, true);
        self.body.push(Stmt::Let(var, value));
        var
    }

    fn lanes(&mut self, kind: Kind, value: Expr) -> Var {
        self.define(Ty::Lanes(kind), value)
    }

    /// The result of an operation.
    fn on<const N: usize>(&mut self, op: LaneOp, args: [Var; N]) -> Var {
        self.define(Ty::of(op.gives()), op.on(args.map(Expr::Var)))
    }

    fn shift(&mut self, op: LaneOp, splat: LaneOp, a: Var, n: u32) -> Var {
        let by = splat.on([int(i64::from(n))]);
        self.define(Ty::of(op.gives()), op.on([Expr::Var(a), by]))
    }

    fn seldom(&mut self, of: Real, mask: Var, address: usize, args: &[Var], fast: Var) -> Var {
        let (vector, one) = match of {
            Real::F32 => (Vector::F32, Ty::F32),
            Real::F64 => (Vector::F64, Ty::F64),
        };
        let var = self.variable(vector.ty(), false);
        let [result, mask, arg] = [var, mask, args[0]].map(Expr::Var);
        let called = families::each1(of).on([mask.clone(), function(one.clone(), &[one], address), arg]);
        let chosen = families::select(vector).on([mask.clone(), called, result.clone()]);
        self.body.push(Stmt::Let(var, Expr::Var(fast)));
        self.body.push(when(mask.unlikely(), set(result, chosen)));
        var
    }
}

macro_rules! twos {
    ($($name:ident $Op:ident;)*) => {$(
        fn $name(&mut self, a: Var, b: Var) -> Var {
            self.on(LaneOp::$Op, [a, b])
        }
    )*};
}

macro_rules! ones {
    ($($name:ident $Op:ident;)*) => {$(
        fn $name(&mut self, a: Var) -> Var {
            self.on(LaneOp::$Op, [a])
        }
    )*};
}

macro_rules! shifts {
    ($($name:ident $Op:ident $Splat:ident;)*) => {$(
        fn $name(&mut self, a: Var, n: u32) -> Var {
            self.shift(LaneOp::$Op, LaneOp::$Splat, a, n)
        }
    )*};
}

macro_rules! threes {
    ($($name:ident $Op:ident;)*) => {$(
        fn $name(&mut self, a: Var, b: Var, c: Var) -> Var {
            self.on(LaneOp::$Op, [a, b, c])
        }
    )*};
}

impl Lanes for Text<'_> {
    type F = Var;
    type I = Var;
    type D = Var;
    type L = Var;
    type M = Var;

    fn f(&mut self, x: f32) -> Var {
        self.lanes(Kind::F32, LaneOp::SplatF32.on([NumberOp::F32Of.on([uint(x.to_bits())])]))
    }
    fn i(&mut self, n: i32) -> Var {
        self.lanes(Kind::I32, LaneOp::SplatI32.on([uint(n as u32).cast(ty::I32)]))
    }
    fn d(&mut self, x: f64) -> Var {
        self.lanes(Kind::F64, LaneOp::SplatF64.on([NumberOp::F64Of.on([ulong(x.to_bits())])]))
    }
    fn l(&mut self, n: i64) -> Var {
        self.lanes(Kind::I64, LaneOp::SplatI64.on([ulong(n as u64).cast(ty::I64)]))
    }

    twos! {
        add AddF32; sub SubF32; mul MulF32; div DivF32; min Min2F32; max Max2F32; scale ScaleF32;
        iadd AddI32; isub SubI32; iand AndI32; ixor XorI32; lt LtF32; le LeF32; eq EqF32; ilt LtI32;
        dadd AddF64; dsub SubF64; dmul MulF64; ddiv DivF64; dmin Min2F64; dmax Max2F64; dscale ScaleF64;
        ladd AddI64; lsub SubI64; land AndI64; lxor XorI64; dlt LtF64; dle LeF64; deq EqF64; llt LtI64;
    }
    ones! {
        neg NegF32; abs FabsF32; sqrt SqrtF32; rint RintF32;
        to_i WholeI32; to_f I32ToF32; bits CastF32I32; of_bits CastI32F32;
        dneg NegF64; dabs FabsF64; dsqrt SqrtF64; drint RintF64;
        dbits CastF64I64; dof_bits CastI64F64; widen F32ToF64; narrow F64ToF32;
    }
    shifts! {
        ishl ShlI32 SplatI32; ishr ShrI32 SplatI32; lshl ShlI64 SplatI64; lshr ShrI64 SplatI64;
    }
    threes! {
        select SelectF32; iselect SelectI32; dselect SelectF64; lselect SelectI64; fma FmaF32; dfma FmaF64;
    }

    fn and(&mut self, a: Var, b: Var) -> Var {
        self.define(Ty::Mask, (Expr::Var(a) & Expr::Var(b)).cast(Ty::Mask))
    }
    fn or(&mut self, a: Var, b: Var) -> Var {
        self.define(Ty::Mask, (Expr::Var(a) | Expr::Var(b)).cast(Ty::Mask))
    }
    fn not(&mut self, a: Var) -> Var {
        self.define(Ty::Mask, Expr::Var(a).inverted().cast(Ty::Mask))
    }
    fn split(&mut self, x: Var) -> (Var, Var) {
        let m = self.on(LaneOp::MantissaF32, [x]);
        (self.on(LaneOp::ExponentF32, [x, m]), m)
    }
    fn rare(&mut self, mask: Var, rare: Rare, args: &[Var], fast: Var) -> Var {
        self.seldom(Real::F32, mask, lanes::rare_float(rare), args, fast)
    }
    fn drare(&mut self, mask: Var, rare: Rare, args: &[Var], fast: Var) -> Var {
        self.seldom(Real::F64, mask, lanes::rare_double(rare), args, fast)
    }
}

/// The math functions that a kernel calls; none where there is no straight-line code for one.
#[derive(Default)]
pub struct Functions(HashMap<(MathFn, Kind), Option<FunctionId>>);

impl Builder<'_> {
    /// A call of a math function that no instruction is.
    pub(super) fn math_call(&mut self, math: MathFn, s: Scalar, args: Vec<Expr>) -> Result<Expr> {
        let kind = types::kind(s)?;
        let made = match self.functions.0.get(&(math, kind)) {
            Some(made) => *made,
            None => {
                let made = self.math_function(math, kind);
                self.functions.0.insert((math, kind), made);
                made
            }
        };
        if let Some(id) = made {
            return Ok(Expr::Call(id, args.into()));
        }
        let of = types::real(s)?;
        let op = match math.arity() {
            1 => families::each1(of),
            2 => families::each2(of),
            3 => families::each3(of),
            _ => return Err(Unsupported("a function of four numbers")),
        };
        let given = [int(0xffff), self.math_pointer(math, s)?];
        Ok(op.of(given.into_iter().chain(args).collect()))
    }

    /// A math function as a function of the kernel, where there is straight-line code for it.
    fn math_function(&mut self, math: MathFn, kind: Kind) -> Option<FunctionId> {
        let mut text = Text { k: &mut self.k, body: Vec::new(), count: 0 };
        let params: Vec<Var> = (0..math.arity()).map(|_| text.variable(Ty::Lanes(kind), true)).collect();
        let result = match kind {
            Kind::F32 => lanes::of_floats(&mut text, math, &params)?,
            _ => lanes::of_doubles(&mut text, math, &params)?,
        };
        let mut body = text.body;
        body.push(Stmt::Return(Some(Expr::Var(result))));
        let name = format!("math_{}_{}", math.name(), kind.name());
        let functions = &mut self.k.kernel_mut().functions;
        functions.push(Function { name, math: Some((math, kind)), gives: Ty::Lanes(kind), params, body });
        Some(FunctionId(functions.len() as u32 - 1))
    }
}

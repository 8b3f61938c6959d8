//! Calls, printf, atomics, barriers, collectives, services and launches: rules 21 to 28.

use super::structure::Checker;
use crate::ir::printf_format::ArgKind;
use crate::ir::{AtomicOp, Collective, Format, FuncId, FuncKind, Function, Scalar, Service, Type, Value};
use crate::plural::plural;

impl Checker<'_> {
    pub(super) fn call(&mut self, result: Option<Value>, callee: FuncId, args: &[Value]) {
        let module = self.module;
        let Some(func) = module.functions.get(callee.index()) else {
            return self.error(format!("function {callee} does not exist"));
        };
        match func.kind {
            FuncKind::Kernel => self.error(format!("kernel `{}` is called", func.name)),
            FuncKind::Host | FuncKind::HostHelper if !self.func.kind.is_host() => {
                self.error(format!("host function `{}` is called by device code", func.name));
            }
            FuncKind::Host | FuncKind::HostHelper | FuncKind::Device => {}
        }
        if args.len() != func.params.len() {
            let wanted = plural(func.params.len(), "argument");
            self.error(format!("`{}` takes {wanted}, not {}", func.name, args.len()));
        }
        for (i, (&arg, param)) in args.iter().zip(&func.params).enumerate() {
            self.expect(arg, param.ty.ty(), format_args!("argument {i} of `{}`", func.name));
        }
        match (result, func.ret) {
            (Some(_), None) => self.error(format!("`{}` has no result to bind", func.name)),
            (Some(v), Some(ret)) => self.bind(v, ret),
            (None, _) => {}
        }
    }

    /// Checks the value that a call binds to say if it raised.
    pub(super) fn raised(&mut self, raised: Value, callee: FuncId) {
        let is_host = |f: &Function| f.kind.is_host();
        if !is_host(self.func) || !self.module.functions.get(callee.index()).is_none_or(is_host) {
            self.error("an exception of device code".to_owned());
        }
        self.bind(raised, Scalar::Bool.into());
    }

    pub(super) fn service(&mut self, result: Option<Value>, service: Service, args: &[Value]) {
        if !self.func.kind.is_host() {
            self.error(format!("service {} in device code", service.name()));
        }
        let params = service.params();
        if args.len() != params.len() {
            self.error(format!("service {} takes {} operands, not {}", service.name(), params.len(), args.len()));
        }
        for (i, (&arg, kind)) in args.iter().zip(params).enumerate() {
            self.expect(arg, kind.ty(), format_args!("operand {i} of service {}", service.name()));
        }
        match (result, service.ret()) {
            (Some(_), None) => self.error(format!("service {} has no result to bind", service.name())),
            (Some(v), Some(kind)) => self.bind(v, kind.ty()),
            (None, _) => {}
        }
    }

    pub(super) fn launch(&mut self, kernel: FuncId, config: &[Value], args: &[Value]) {
        if !self.func.kind.is_host() {
            self.error("a launch in device code".to_owned());
        }
        if let [extents @ .., shared] = config {
            for &v in extents {
                self.expect(v, Scalar::U32.into(), "an extent of a launch");
            }
            self.expect(*shared, Scalar::U64.into(), "the shared memory of a launch");
        }
        let module = self.module;
        let Some(func) = module.functions.get(kernel.index()) else {
            return self.error(format!("function {kernel} does not exist"));
        };
        if func.kind != FuncKind::Kernel {
            self.error(format!("`{}` is launched and is no kernel", func.name));
        }
        // Derived parameters, which passes add, come after those that a launch passes.
        let passed = func.params.iter().filter(|param| param.derived.is_none()).count();
        if args.len() != passed {
            self.error(format!("`{}` takes {passed} arguments, not {}", func.name, args.len()));
        }
        for (i, (&arg, param)) in args.iter().zip(&func.params).enumerate() {
            self.expect(arg, param.ty.ty(), format_args!("argument {i} of `{}`", func.name));
        }
    }

    pub(super) fn printf(&mut self, result: Option<Value>, format: Format, args: &[Value]) {
        let formats = self.formats;
        match formats.get(format.index()) {
            None => self.error(format!("format {format} does not exist")),
            // A malformed format is already reported.
            Some(None) => {}
            Some(Some(kinds)) => {
                if args.len() < kinds.len() {
                    let wanted = plural(kinds.len(), "argument");
                    self.error(format!("{format} takes {wanted}, not {}", args.len()));
                }
                for (i, (&arg, &kind)) in args.iter().zip(kinds).enumerate() {
                    self.printf_arg(i, arg, kind);
                }
                for (i, &arg) in args.iter().enumerate().skip(kinds.len()) {
                    self.printf_extra(i, arg);
                }
            }
        }
        if let Some(v) = result {
            self.bind(v, Scalar::I32.into());
        }
    }

    fn printf_arg(&mut self, index: usize, arg: Value, kind: ArgKind) {
        let Some(ty) = self.use_value(arg) else { return };
        let fits = match kind {
            ArgKind::Int32 | ArgKind::Int64 => is_promoted(ty) && ty != Type::Scalar(Scalar::F64),
            ArgKind::Double => ty == Type::Scalar(Scalar::F64),
            ArgKind::Str | ArgKind::Pointer => ty == Type::Ptr,
        };
        if !fits {
            self.error(format!("argument {index} of printf is {ty}, where {} is wanted", kind.describe()));
        }
    }

    /// Checks an argument past the format's last: C evaluates such arguments and ignores them.
    fn printf_extra(&mut self, index: usize, arg: Value) {
        if let Some(ty) = self.use_value(arg)
            && !(is_promoted(ty) || ty == Type::Ptr)
        {
            self.error(format!("argument {index} of printf is {ty}, which is not promoted"));
        }
    }

    pub(super) fn barrier(&mut self, what: &str) {
        if self.func.kind.is_host() {
            self.error(format!("{what} in a host function"));
        }
    }

    pub(super) fn atomic(
        &mut self,
        result: Option<Value>,
        op: AtomicOp,
        ptr: Value,
        value: Value,
        compare: Option<Value>,
    ) {
        self.expect(ptr, Type::Ptr, "the pointer of an atomic");
        let ty = self.use_value(value);
        match ty.map(Type::scalar) {
            Some(Some(s)) if allows(op, s) => {}
            Some(_) => self.error(format!("an atomic {op} of {value}, which is no number it works on")),
            None => {}
        }
        if compare.is_some() != (op == AtomicOp::Cas) {
            self.error(format!("an atomic {op} with{} comparison", if compare.is_some() { " a" } else { "out a" }));
        }
        if let (Some(ty), Some(compare)) = (ty, compare) {
            self.expect(compare, ty, "the comparison of an atomic");
        }
        if let (Some(ty), Some(v)) = (ty, result) {
            self.bind(v, ty);
        }
    }

    pub(super) fn collective(&mut self, result: Option<Value>, op: Collective, args: &[Value]) {
        self.barrier(op.c_name());
        if args.len() != op.arity() {
            self.error(format!("{op} takes {} operands, not {}", op.arity(), args.len()));
        }
        let (u32, i32, bool) = (Scalar::U32.into(), Scalar::I32.into(), Scalar::Bool.into());
        let mut args = args.iter().copied();
        if !op.is_block()
            && let Some(mask) = args.next()
        {
            self.expect(mask, u32, "a mask");
        }
        let first = args.next();
        let rest: Vec<Value> = args.collect();
        let ty = match op {
            Collective::SyncWarp | Collective::ActiveMask => None,
            Collective::Shfl(_) | Collective::MatchAny | Collective::MatchAll | Collective::Reduce(_) => {
                let ty = first.and_then(|v| self.use_value(v));
                let fits = |s: Scalar| match op {
                    Collective::Reduce(_) => matches!(s, Scalar::I32 | Scalar::U32),
                    _ => s.size() >= 4,
                };
                if ty.is_some_and(|ty| !ty.scalar().is_some_and(fits)) {
                    self.error(format!("{op} of an operand it does not work on"));
                }
                ty
            }
            _ => {
                if let Some(pred) = first {
                    self.expect(pred, bool, "a predicate");
                }
                None
            }
        };
        for v in rest {
            self.expect(v, i32, "a lane or width");
        }
        let Some(v) = result else { return };
        match op {
            Collective::SyncWarp => self.error(format!("{op} has no result to bind")),
            Collective::SyncCount => self.bind(v, i32),
            Collective::SyncAnd | Collective::SyncOr | Collective::Any | Collective::All | Collective::Uni => {
                self.bind(v, bool);
            }
            Collective::Ballot | Collective::MatchAny | Collective::MatchAll | Collective::ActiveMask => {
                self.bind(v, u32);
            }
            Collective::Shfl(_) | Collective::Reduce(_) => {
                if let Some(ty) = ty {
                    self.bind(v, ty);
                }
            }
        }
    }

    fn bind(&mut self, v: Value, ty: Type) {
        if let Some(data) = self.func.values.get(v.index()).filter(|data| data.ty != ty) {
            self.error(format!("{v} of type {} is bound to a result of type {ty}", data.ty));
        }
        self.define(v);
    }
}

/// True if an atomic exists on a type.
fn allows(op: AtomicOp, s: Scalar) -> bool {
    let wide = s.size() >= 4;
    match op {
        AtomicOp::Add | AtomicOp::Exch => wide,
        AtomicOp::Cas => s.size() >= 2 && s.is_int(),
        AtomicOp::Inc | AtomicOp::Dec => s == Scalar::U32,
        _ => wide && s.is_int(),
    }
}

/// True if a type is one that C's default promotions leave.
fn is_promoted(ty: Type) -> bool {
    matches!(ty, Type::Scalar(Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 | Scalar::F64))
}

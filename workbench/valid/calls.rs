//! Calls, printf and barriers: rules 21 to 23.

use super::structure::Checker;
use crate::ir::format::ArgKind;
use crate::ir::{Format, FuncId, FuncKind, Scalar, Type, Value};

impl Checker<'_> {
    pub(super) fn call(&mut self, result: Option<Value>, callee: FuncId, args: &[Value]) {
        let module = self.module;
        let Some(func) = module.functions.get(callee.index()) else {
            return self.error(format!("function {callee} does not exist"));
        };
        match func.kind {
            FuncKind::Kernel => self.error(format!("kernel `{}` is called", func.name)),
            FuncKind::Host if self.func.kind != FuncKind::Host => {
                self.error(format!("host function `{}` is called by device code", func.name));
            }
            FuncKind::Host | FuncKind::Device => {}
        }
        if args.len() != func.params.len() {
            self.error(format!("`{}` takes {} arguments, not {}", func.name, func.params.len(), args.len()));
        }
        for (i, (&arg, param)) in args.iter().zip(&func.params).enumerate() {
            self.expect(arg, param.ty.ty(), &format!("argument {i} of `{}`", func.name));
        }
        match (result, func.ret) {
            (Some(_), None) => self.error(format!("`{}` has no result to bind", func.name)),
            (Some(v), Some(ret)) => self.bind(v, ret),
            (None, _) => {}
        }
    }

    pub(super) fn printf(&mut self, result: Option<Value>, format: Format, args: &[Value]) {
        let formats = self.formats;
        match formats.get(format.index()) {
            None => self.error(format!("format {format} does not exist")),
            // A malformed one is already reported.
            Some(None) => {}
            Some(Some(kinds)) => {
                if args.len() < kinds.len() {
                    self.error(format!("{format} takes {} arguments, not {}", kinds.len(), args.len()));
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

    /// C evaluates arguments past the format's last and ignores them.
    fn printf_extra(&mut self, index: usize, arg: Value) {
        if let Some(ty) = self.use_value(arg)
            && !(is_promoted(ty) || ty == Type::Ptr)
        {
            self.error(format!("argument {index} of printf is {ty}, which is not promoted"));
        }
    }

    pub(super) fn barrier(&mut self) {
        if self.func.kind == FuncKind::Host {
            self.error("a barrier in a host function".to_owned());
        }
    }

    fn bind(&mut self, v: Value, ty: Type) {
        if let Some(data) = self.func.values.get(v.index()).filter(|data| data.ty != ty) {
            self.error(format!("{v} of type {} is bound to a result of type {ty}", data.ty));
        }
        self.define(v);
    }
}

/// What C's default promotions leave.
fn is_promoted(ty: Type) -> bool {
    matches!(ty, Type::Scalar(Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 | Scalar::F64))
}

//! Calls to IR: functions of the text, builtins by their records, `printf`.

use crate::front::builtins::{Lower, P, Sig};
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed};
use crate::front::lower::{Lowerer, Side, Storage};
use crate::ir::{Const, Op, Scalar, Service, Stmt, Type, Value};
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// Emits a call; its result when it has one and it is `wanted`.
    pub(super) fn emit_call(&mut self, e: &Typed, wanted: bool) -> Option<Value> {
        let span = e.span;
        match &e.node {
            Node::Call(..) if e.ty.is_struct() => Some(self.emit_object(e)),
            Node::Call(index, args) => {
                let args: Vec<Value> = args.iter().map(|a| self.emit_argument(a)).collect();
                // Checking the call has given the function its handle.
                let func = self.func(*index).id?;
                self.note_freeing(*index, span);
                let is_error = !wanted && self.gives_error(*index, span);
                let ty = e.ty.ir().filter(|_| wanted || is_error);
                let b = self.at(span);
                let result = ty.map(|ty| b.func.new_value(ty, span));
                self.push_call(result, func, args);
                if let Some(code) = result.filter(|_| is_error) {
                    let b = self.at(span);
                    let code = b.convert(Scalar::I64, code);
                    b.push(Stmt::Service { result: None, service: Service::Unasked, args: vec![code] });
                }
                result.filter(|_| wanted)
            }
            Node::Math(f, args) => {
                let args: Vec<Value> = args.iter().map(|a| self.emit_value(a)).collect();
                wanted.then(|| self.at(span).math(*f, &args))
            }
            Node::Intrinsic(sig, args) => self.emit_intrinsic(sig, args, span),
            Node::Service(service, args) => self.emit_service(*service, args, wanted, span),
            Node::Printf(format, args) => {
                let args: Vec<Value> = args.iter().map(|a| self.emit_value(a)).collect();
                let b = self.at(span);
                let result = wanted.then(|| b.func.new_value(Type::Scalar(Scalar::I32), span));
                b.push(Stmt::Printf { result, format: *format, args });
                result
            }
            _ => None,
        }
    }

    /// Says where the text gives memory back, for messages about whoever uses it afterwards: what does it is the library.
    fn note_freeing(&mut self, index: FuncIndex, span: Span) {
        const NAMES: [&str; 4] = ["cudaFree", "cudaFreeAsync", "cudaFreeHost", "free"];
        let func = self.func(index);
        let is_one = NAMES.contains(&self.interner.name(func.name)) && self.in_library(func.span);
        if !is_one || self.f.side != Side::Host || self.in_library(span) {
            return;
        }
        let b = self.at(span);
        let place = [span.file.0, span.start, span.end];
        let args = place.map(|n| b.bind(Type::Scalar(Scalar::I64), Op::Const(Const::Int(Scalar::I64, n.into()))));
        b.push(Stmt::Service { result: None, service: Service::Freeing, args: args.to_vec() });
    }

    /// A call in the text gives CUDA's error for memory, which nobody may leave unread.
    fn gives_error(&self, index: FuncIndex, span: Span) -> bool {
        const STARTS: [&str; 8] = [
            "cudaMem",
            "cudaMalloc",
            "cudaFree",
            "cudaHost",
            "cudaEvent",
            "cudaGetDevice",
            "cudaDeviceGet",
            "cudaStream",
        ];
        let func = self.func(index);
        let name = self.interner.name(func.name);
        self.f.side == Side::Host
            && STARTS.iter().any(|start| name.starts_with(start))
            && self.in_library(func.span)
            && !self.in_library(span)
    }

    /// A call whose result is a struct, written where it is wanted.
    pub(super) fn emit_struct_call(&mut self, e: &Typed, to: Value) {
        let Node::Call(index, args) = &e.node else { return };
        let mut values: Vec<Value> = args.iter().map(|a| self.emit_argument(a)).collect();
        values.push(to);
        let func = self.func_id(*index);
        self.at(e.span);
        self.push_call(None, func, values);
    }

    fn emit_intrinsic(&mut self, sig: &Sig, args: &[Typed], span: Span) -> Option<Value> {
        match sig.lower {
            Lower::Value(make) => {
                let args: Vec<Value> = args.iter().map(|a| self.emit_value(a)).collect();
                Some(make(self.at(span), &args))
            }
            Lower::Effect(make) => {
                let args: Vec<Value> = args.iter().map(|a| self.emit_value(a)).collect();
                make(self.at(span), &args);
                None
            }
            Lower::Outs(make) => {
                let mut inputs = Vec::new();
                let mut outputs = Vec::new();
                for (arg, param) in args.iter().zip(sig.params) {
                    match param {
                        P::Out(_) => outputs.push(self.emit_output(arg)),
                        _ => inputs.push(self.emit_value(arg)),
                    }
                }
                let b = self.at(span);
                let outs = make(b, &inputs);
                for (output, value) in outputs.into_iter().zip(outs.stores) {
                    match output {
                        Output::Local(local) => b.push(Stmt::Set(local, value)),
                        Output::Memory(ptr) => b.store(ptr, value, false),
                    }
                }
                outs.result
            }
            Lower::Load => {
                let ptr = self.emit_value(args.first()?);
                let ty = sig.ret.ty().ir()?;
                Some(self.at(span).load(ptr, ty, false))
            }
            Lower::Store => {
                let [ptr, value] = args else { return None };
                let ptr = self.emit_value(ptr);
                let value = self.emit_value(value);
                self.at(span).store(ptr, value, false);
                None
            }
        }
    }

    /// The output of a builtin: `&x` of a variable in a register needs no memory.
    fn emit_output(&mut self, arg: &Typed) -> Output {
        if let Node::AddrOf(place) = &arg.node
            && let Some(id) = place.as_var()
            && let Storage::Local(local) = self.var(id).storage
        {
            return Output::Local(local);
        }
        Output::Memory(self.emit_value(arg))
    }
}

enum Output {
    Local(crate::ir::Local),
    Memory(Value),
}

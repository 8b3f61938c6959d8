//! Launches of kernels, and, in the library, services of the run time: what only host code does.

use super::device_variables::SymbolUse;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::ast::{Expr, ExprKind};
use crate::front::lower::expressions::check;
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::{FuncIndex, LaunchExpr, Launched, Node, Typed};
use crate::front::lower::overloads::ranking;
use crate::front::lower::overloads::ranking::Arg;
use crate::front::lower::scopes::lookup::Found;
use crate::front::lower::scopes::names::{Callable, Decl};
use crate::front::lower::{Lowerer, Side};
use crate::front::types::{self, Num, Ty};
use crate::ir::service::Kind;
use crate::ir::{HostOp, Scalar, Service, Stmt, Value};
use crate::source::Span;

/// Beginning of the names of services.
const PREFIX: &str = "__wb_";

/// Beginning of the names of functions of the library that the run time calls.
pub(in crate::front::lower) const ENTRY: &str = "__wb_entry";

impl<'a> Lowerer<'a> {
    /// `kernel<<<grid, block, bytes, stream>>>(args)`
    pub(in crate::front::lower) fn launch(
        &mut self,
        callee: &'a Expr,
        config: &'a [Expr],
        args: &'a [Expr],
        span: Span,
    ) -> Typed {
        if self.f.side != Side::Host {
            self.report(
                Diagnostic::error(Code::Unsupported, span, "a kernel is launched by device code: dynamic parallelism")
                    .help("launch the second kernel from host code"),
            );
            return Typed::error(span);
        }
        let mut given = config.iter();
        let extents = [given.next(), given.next()].map(|e| e.map(|e| self.extent(e)));
        let shared = given.next().map(|e| self.bytes(e));
        let stream = given.next().map(|e| self.expr(e));
        let args = self.arguments(args);
        let kernel = self.launched(callee, &args);
        let [Some(grid), Some(block)] = extents else { return Typed::error(span) };
        let (Some(kernel), extents) = (kernel, [grid, block]) else { return Typed::error(span) };
        let parts = extents.iter().chain(&shared).chain(&stream).chain(&args);
        if parts.into_iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        let args = match &kernel {
            Launched::Kernel(index) => {
                if !self.known_result(*index, span) {
                    return Typed::error(span);
                }
                self.note_call(*index, span);
                self.converted_arguments(*index, args, span)
            }
            Launched::Pointer(pointer, _) => self.arguments_of_pointer(&pointer.clone(), args, span),
        };
        let Some(args) = args else { return Typed::error(span) };
        let launch = LaunchExpr { kernel, extents, shared, stream, args };
        Typed::value(Ty::void(), span, Node::Launch(Box::new(launch)))
    }

    /// A grid or block: a `dim3`, or a number for its first extent.
    fn extent(&mut self, e: &'a Expr) -> Typed {
        let e = self.expr(e);
        let (Some(dim3), false) = (self.vector_type("dim3"), e.is_error()) else { return Typed::error(e.span) };
        let span = e.span;
        match dim3.as_struct() {
            Some(s) if e.ty.arithmetic().is_some() => {
                let s = s.clone();
                let e = self.operand(e);
                self.vector_value(&s, vec![e], span)
            }
            _ => self.implicit(e, &dim3, Use::Assign),
        }
    }

    /// The bytes of dynamic shared memory, of type `size_t`.
    fn bytes(&mut self, e: &'a Expr) -> Typed {
        let e = self.expr(e);
        if !e.is_error() && e.ty.arithmetic().is_none() {
            let message = format!("the bytes of shared memory are a number, not `{}`", e.ty);
            self.report(Diagnostic::error(Code::TypeMismatch, e.span, message));
            return Typed::error(e.span);
        }
        self.implicit(e, &Num::ULong.into(), Use::Assign)
    }

    /// The kernel that is launched with such arguments.
    fn launched(&mut self, callee: &'a Expr, args: &[Typed]) -> Option<Launched> {
        let callee = check::bare(callee);
        if args.iter().any(Typed::is_error) {
            return None;
        }
        let ExprKind::Name(name) = &callee.kind else {
            let found = self.expr(callee);
            return self.launched_value(found, "this");
        };
        let shown = name.path(self.interner);
        let index = match self.find(name) {
            Found::Functions(set, explicit) => {
                self.choose_function(&shown, &set, explicit.as_deref(), None, args, callee.span)?
            }
            Found::Error => return None,
            Found::None => {
                self.unknown(&name.last(), callee.span, "kernel");
                return None;
            }
            _ => {
                let found = self.expr(callee);
                return self.launched_value(found, &format!("`{shown}`"));
            }
        };
        self.kernel_of(index, &format!("`{shown}`"), callee.span).map(Launched::Kernel)
    }

    /// A kernel by its address.
    fn launched_value(&mut self, found: Typed, shown: &str) -> Option<Launched> {
        let span = found.span;
        if found.is_error() {
            return None;
        }
        if let Some(index) = Self::as_function(&found) {
            return self.kernel_of(index, shown, span).map(Launched::Kernel);
        }
        let pointer = self.operand(found);
        match pointer.ty.pointee().map(|p| p.kind.clone()) {
            Some(types::Kind::Function(ty)) if ty.ret.is_void() => {
                let launcher = self.launcher(&ty, span);
                Some(Launched::Pointer(pointer, launcher))
            }
            _ => {
                let message = format!("{shown} is `{}`: what is launched is a kernel, or a pointer to one", pointer.ty);
                self.report(Diagnostic::error(Code::TypeMismatch, span, message));
                None
            }
        }
    }

    fn arguments_of_pointer(&mut self, pointer: &Typed, args: Vec<Typed>, span: Span) -> Option<Vec<Typed>> {
        let types::Kind::Function(ty) = &pointer.ty.pointee()?.kind else { return None };
        let ty = ty.clone();
        if !self.exactly("this kernel", ty.params.len(), args.len(), span) {
            return None;
        }
        let convert =
            |(i, (arg, param)): (usize, (Typed, &Ty))| self.implicit(arg, param, Use::Argument(i + 1, "this kernel"));
        let args: Vec<Typed> = args.into_iter().zip(&ty.params).enumerate().map(convert).collect();
        (!args.iter().any(Typed::is_error)).then_some(args)
    }

    fn kernel_of(&mut self, index: FuncIndex, shown: &str, span: Span) -> Option<FuncIndex> {
        let func = self.func(index);
        if func.broken {
            return None;
        }
        if func.side != Side::Kernel {
            let place = func.span;
            let message = format!("{shown} is launched, and is no kernel");
            self.report(
                Diagnostic::error(Code::WrongSide, span, message)
                    .related(place, "declared here")
                    .help("declare it `__global__`"),
            );
            return None;
        }
        Some(index)
    }

    pub(in crate::front::lower) fn emit_launch(&mut self, launch: &LaunchExpr, span: Span) {
        let mut config = Vec::with_capacity(7);
        for extent in &launch.extents {
            let at = self.emit_object(extent);
            for i in 0..3 {
                let b = self.at(span);
                let place = b.offset(at, 4 * i, crate::ir::Stride::Bytes(1));
                config.push(b.load(place, Scalar::U32.into(), false));
            }
        }
        config.push(match &launch.shared {
            Some(shared) => self.emit_value(shared),
            None => self.at(span).int(Scalar::U64, 0),
        });
        if let Some(stream) = &launch.stream {
            self.effect(stream);
        }
        for arg in &launch.args {
            self.check_symbol_pointer(arg, SymbolUse::Launched);
        }
        let args: Vec<Value> = launch.args.iter().map(|a| self.emit_argument(a)).collect();
        match &launch.kernel {
            Launched::Kernel(index) => {
                let kernel = self.func_id(*index);
                if let Ok(config) = config.try_into() {
                    self.at(span).push(Stmt::Launch { kernel, config, args });
                }
            }
            Launched::Pointer(pointer, launcher) => {
                let mut all = vec![self.emit_value(pointer)];
                all.extend(config.into_iter().chain(args));
                let func = self.func_id(*launcher);
                self.at(span);
                self.push_call(None, func, all);
            }
        }
    }

    /// A call of a service, which only the library may write.
    pub(in crate::front::lower) fn service(&mut self, name: &str, args: &[Typed], span: Span) -> Option<Typed> {
        let name = name.strip_prefix(PREFIX)?;
        if !self.in_library(span) {
            return None;
        }
        if name == "launch_kernel" {
            return Some(self.launch_kernel(args, span));
        }
        if name == "host_op" {
            return Some(self.host_op(args, span));
        }
        // The question is about a type: the argument gives it, and is not evaluated.
        let known = match (name, args) {
            ("is_class", [of]) => Some(of.ty.is_struct()),
            ("is_enum", [of]) => Some(matches!(of.ty.kind, types::Kind::Enum(_))),
            ("is_derived", [of, base]) => Some(base.ty.as_struct().is_some_and(|b| of.ty.base_offset(b).is_some())),
            ("has_destructor", [of]) => Some(self.needs_destructor(&of.ty)),
            ("has_new", [of]) => Some(self.has_member(&of.ty, "operator new").is_some()),
            ("has_new_array", [of]) => Some(self.has_member(&of.ty, "operator new[]").is_some()),
            ("has_delete", [of]) => Some(self.has_member(&of.ty, "operator delete").is_some()),
            ("has_delete_array", [of]) => Some(self.has_member(&of.ty, "operator delete[]").is_some()),
            ("has_sized_delete", [of]) => Some(self.has_member(&of.ty, "operator delete") == Some(true)),
            ("has_sized_delete_array", [of]) => Some(self.has_member(&of.ty, "operator delete[]") == Some(true)),
            ("is_made_of", [made, of]) => Some(self.is_made_of(&made.ty.clone(), of)),
            _ => None,
        };
        if let Some(known) = known {
            let constant = crate::ir::Const::Bool(known);
            return Some(Typed::value(Ty::from(Num::Bool), span, Node::Const(constant)));
        }
        let service = Service::find(name)?;
        let mut args = args.to_vec();
        if let (Service::Thrown | Service::Embody, [object, _]) = (service, &args[..]) {
            // The types that it may be caught as are passed along.
            let types = object.ty.pointee().map(|ty| self.exception_types(ty)).unwrap_or_default();
            args.push(check::string(&types, span));
        }
        let params = service.params();
        if !self.exactly(name, params.len(), args.len(), span) {
            return Some(Typed::error(span));
        }
        let mut converted = Vec::with_capacity(args.len());
        for (i, (arg, kind)) in args.iter().zip(params).enumerate() {
            let ty = match kind {
                Kind::Int => Num::Long.into(),
                Kind::Float => Num::Double.into(),
                Kind::Ptr => Ty::void().constant().pointer(),
            };
            converted.push(self.implicit(arg.clone(), &ty, Use::Argument(i + 1, name)));
        }
        if converted.iter().any(Typed::is_error) {
            return Some(Typed::error(span));
        }
        let ty = match service.ret() {
            None => Ty::void(),
            Some(Kind::Int) => Num::Long.into(),
            Some(Kind::Float) => Num::Double.into(),
            Some(Kind::Ptr) => Ty::void().pointer(),
        };
        Some(Typed::value(ty, span, Node::Service(service, converted)))
    }

    /// `__wb_host_op("name")`: the number of an operation of the run time's own.
    fn host_op(&mut self, args: &[Typed], span: Span) -> Typed {
        let name = match args {
            [Typed { node: Node::Str(name), .. }] => name,
            _ => "",
        };
        let Some(op) = HostOp::find(name) else {
            let message = format!("the run time has no operation of the name `{name}`");
            self.report(Diagnostic::error(Code::UnknownName, span, message));
            return Typed::error(span);
        };
        Typed::value(Num::Long, span, Node::Const(crate::ir::Const::Int(Scalar::I64, op as i64)))
    }

    /// `__wb_launch_kernel(kernel, grid x, y, z, block x, y, z, bytes, arguments)`
    fn launch_kernel(&mut self, args: &[Typed], span: Span) -> Typed {
        let launcher = self.any_launcher(span);
        let params = self.func(launcher).params.clone();
        if !self.exactly("launch_kernel", params.len(), args.len(), span) {
            return Typed::error(span);
        }
        let convert = |(i, (arg, ty)): (usize, (&Typed, &Ty))| {
            self.implicit(arg.clone(), ty, Use::Argument(i + 1, "launch_kernel"))
        };
        let args: Vec<Typed> = args.iter().zip(&params).enumerate().map(convert).collect();
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        Typed::value(Ty::void(), span, Node::Call(launcher, args))
    }

    /// The class has functions of that name of its own, or of its bases; if so, none of them takes one argument alone.
    fn has_member(&mut self, ty: &Ty, name: &str) -> Option<bool> {
        self.try_complete(ty);
        let (s, symbol) = (ty.as_struct()?.clone(), self.interner.find(name)?);
        let scope = self.class(s.id).scope;
        let Some(Decl::Functions(set)) = self.lookup_in(scope, symbol) else { return None };
        let takes_one = |c: &Callable| matches!(c, Callable::Func(f) if self.func(*f).params.len() == 1);
        Some(!set.iter().any(takes_one))
    }

    /// `T(x)` is a conversion that there is.
    fn is_made_of(&mut self, to: &Ty, of: &Typed) -> bool {
        let arg = Arg::from(of);
        self.try_complete(&of.ty);
        self.try_complete(to);
        of.ty.unqualified().kind == to.kind
            || ranking::implicit(&arg, to).is_some()
            || self.quietly(|this| this.user_conversion(&arg, to, true)).0.is_some()
    }

    /// `__wb_construct(place, value)`, `__wb_destroy(place)`, which only the library may write.
    pub(in crate::front::lower) fn life(&mut self, name: &str, args: &[Typed], span: Span) -> Option<Typed> {
        if !matches!(name, "__wb_construct" | "__wb_destroy") || !self.in_library(span) {
            return None;
        }
        let [place, value @ ..] = args else { return Some(Typed::error(span)) };
        let place = self.operand(place.clone());
        let Some(ty) = place.ty.pointee().map(Ty::unqualified) else { return Some(Typed::error(span)) };
        if !self.complete_type(&ty, span) {
            return Some(Typed::error(span));
        }
        let value = value.first().map(|v| self.implicit(v.clone(), &ty, Use::Assign));
        if value.as_ref().is_some_and(Typed::is_error) {
            return Some(Typed::error(span));
        }
        Some(Typed::value(Ty::void(), span, Node::Life(Box::new((place, value)))))
    }

    pub(in crate::front::lower) fn emit_life(&mut self, place: &Typed, value: Option<&Typed>, span: Span) {
        let Some(ty) = place.ty.pointee().map(Ty::unqualified) else { return };
        match value {
            Some(value) => {
                let place = Typed::place(ty, span, Node::Deref(Box::new(place.clone())));
                self.initialise(&place, value, span);
            }
            None if self.needs_destructor(&ty) => {
                let ptr = self.emit_value(place);
                self.destroy(ptr, &ty, span);
            }
            None => self.effect(place),
        }
    }

    pub(in crate::front::lower) fn emit_service(
        &mut self,
        service: Service,
        args: &[Typed],
        wanted: bool,
        span: Span,
    ) -> Option<Value> {
        let args: Vec<Value> = args.iter().map(|a| self.emit_value(a)).collect();
        let b = self.at(span);
        let result = service.ret().filter(|_| wanted).map(|kind| b.func.new_value(kind.ty(), span));
        b.push(Stmt::Service { result, service, args });
        result
    }
}

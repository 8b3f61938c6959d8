//! Pointers to functions. A function's address is a small number ([`FuncId::address`]); a call through one goes to a function made for its
//! type. For code of the device that chooses among all functions of that type whose address is taken. For host code it looks the function up
//! as it runs ([`Stmt::Dispatch`]), so that it is the same in every text, as what calls it then is.

use std::hash::{BuildHasher, RandomState};

use super::names::ScopeId;
use super::tree::FuncIndex;
use super::{FuncInfo, Lowerer, Progress, Role, Side};
use crate::front::types::{FnTy, Kind, Num, Ty};
use crate::ir::{Case, Const, Elem, Function, Op, Param, ParamType, Scalar, Stmt, Stride, Type, Value};
use crate::once::Once;
use crate::source::Span;

/// Grid, block, and bytes of shared memory.
const CONFIG: usize = 7;

/// A function that calls what pointers of a type point at.
pub(super) struct Dispatcher {
    ty: FnTy,
    for_host: bool,
    /// The place of the library that it is for.
    place: Option<Span>,
    index: FuncIndex,
}

/// What tells the functions of a type from others, in all texts: by how it is written, and by what its parts are to the back end, so that
/// types of two texts with one name are never called as each other's.
fn signature(func: &FnTy) -> u64 {
    static STATE: Once<RandomState> = Once::new(RandomState::new);
    let parts: Vec<Option<Type>> = func.params.iter().chain([&func.ret]).map(Ty::ir).collect();
    STATE.hash_one((Ty::new(Kind::Function(func.clone().into())).to_string(), parts))
}

impl<'a> Lowerer<'a> {
    /// The address of a function, as a value.
    pub(super) fn function_address(&mut self, index: FuncIndex, span: Span) -> Value {
        self.note_call(index, span);
        let (id, side) = (self.func_id(index), self.func(index).side);
        if self.f.side == Side::Host && matches!(side, Side::Host | Side::Both) && span.file.is_common() {
            let signature = self.signature_of(index);
            return self.at(span).bind(Type::Ptr, Op::FuncAddr(id, signature));
        }
        if !self.addressed.contains(&index) {
            self.addressed.push(index);
        }
        let for_host = match side {
            Side::Host => true,
            Side::Both => matches!(self.f.side, Side::Host | Side::Both),
            Side::Kernel | Side::Device => false,
        };
        if for_host && !self.module.addressed.iter().any(|(known, _)| *known == id) {
            let signature = self.signature_of(index);
            self.module.addressed.push((id, signature));
        }
        self.f.is_own = true;
        let b = self.at(span);
        let null = b.constant(Const::Null);
        b.offset(null, id.address(), Stride::Bytes(1))
    }

    /// What tells the functions of one type from others.
    fn signature_of(&mut self, index: FuncIndex) -> u64 {
        match &self.function_type(index).kind {
            Kind::Function(func) => signature(func),
            _ => 0,
        }
    }

    /// The function that calls what a pointer of a type points at. A place of the library has one of its own, which other texts have too.
    pub(super) fn dispatcher(&mut self, func: &FnTy, span: Span) -> FuncIndex {
        let for_host = self.f.side == Side::Host;
        let place = (for_host && span.file.is_common()).then_some(span);
        let fits = |d: &&Dispatcher| d.ty == *func && d.for_host == for_host && d.place == place;
        if let Some(known) = self.dispatchers.iter().find(fits) {
            return known.index;
        }
        let index = self.chooser(func, &[], span);
        self.dispatchers.push(Dispatcher { ty: func.clone(), for_host, place, index });
        index
    }

    /// The function that launches the kernel that a pointer of a type points at: after the pointer come grid, block and bytes.
    pub(super) fn launcher(&mut self, func: &FnTy, span: Span) -> FuncIndex {
        if let Some((_, index)) = self.launchers.iter().find(|(ty, _)| ty == func) {
            return *index;
        }
        let index = self.chooser(func, &vec![Ty::from(Num::UInt); CONFIG], span);
        self.launchers.push((func.clone(), index));
        index
    }

    /// The function that launches the kernel at an address whose type is forgotten (`cudaLaunchKernel`): after the address come grid, block,
    /// bytes, and where the addresses of the arguments are.
    pub(super) fn any_launcher(&mut self, span: Span) -> FuncIndex {
        if let Some(index) = self.any_launcher {
            return index;
        }
        let mut between = vec![Ty::from(Num::UInt); CONFIG];
        between.push(Ty::void().pointer());
        let nothing = FnTy { params: Vec::new(), ret: Ty::void() };
        let index = self.chooser(&nothing, &between, span);
        self.any_launcher = Some(index);
        index
    }

    /// Writes its body, when all addresses are known.
    fn finish_any_launcher(&mut self, index: FuncIndex) {
        let pointer = ParamType::Ptr { elem: None, is_const: false };
        let mut types = vec![pointer];
        types.extend(vec![ParamType::Scalar(Scalar::U32); CONFIG]);
        types.push(pointer);
        let (mut b, given) = self.begin_chooser(index, types);
        let Some((config, [places])) = given[1..].split_first_chunk::<CONFIG>() else { return };
        let number = b.bind(Scalar::U64, Op::PtrToInt(given[0]));
        let label = b.func.new_label();
        let mut cases = Vec::new();
        for target in self.addressed.clone() {
            if self.func(target).side != Side::Kernel || self.func(target).broken {
                continue;
            }
            let kernel = self.func_id(target);
            let params = self.func(target).params.clone();
            b.open();
            let mut args = Vec::with_capacity(params.len());
            for (i, param) in params.iter().enumerate() {
                let at = b.offset(*places, 8 * i as i64, Stride::Bytes(1));
                let place = b.load(at, Type::Ptr, false);
                args.push(match param.ir() {
                    Some(ty) => b.load(place, ty, false),
                    None => place,
                });
            }
            b.push(Stmt::Launch { kernel, config: *config, args });
            b.push(Stmt::Return(None));
            let body = b.close();
            cases.push(Case {
                values: vec![self.func_id(target).address()],
                default: false,
                body,
                falls_through: false,
            });
        }
        if !cases.is_empty() {
            b.push(Stmt::Switch { label, value: number, cases });
        }
        b.push(Stmt::Trap);
        let id = self.func_id(index);
        self.module.functions[id.index()] = b.finish();
    }

    /// Begins the body of a function that chooses: its parameters, of those types, and their values.
    fn begin_chooser(&mut self, index: FuncIndex, types: Vec<ParamType>) -> (super::Builder, Vec<Value>) {
        let id = self.func_id(index);
        let span = self.func(index).span;
        let mut func: Function = self.module.functions[id.index()].clone();
        func.params = types.into_iter().enumerate().map(|(i, ty)| Param::new(format!("arg{i}"), ty, span)).collect();
        let count = func.params.len();
        let mut b = super::Builder::new(func);
        b.span = span;
        let given = (0..count).map(|i| b.bind(b.func.params[i].ty.ty(), Op::Param(i as u32))).collect();
        (b, given)
    }

    fn chooser(&mut self, func: &FnTy, between: &[Ty], span: Span) -> FuncIndex {
        let scope: ScopeId = super::names::GLOBAL;
        let pointer = Ty::void().pointer();
        let mut params = vec![pointer];
        params.extend(between.iter().chain(&func.params).cloned());
        let info = FuncInfo {
            name: self.known.call,
            display: format!("call {}", Ty::new(Kind::Function(func.clone().into()))),
            side: if self.f.side == Side::Host { Side::Host } else { Side::Device },
            role: Role::Plain,
            defaults: vec![None; params.len()],
            params,
            ret: func.ret.clone(),
            auto: None,
            span,
            whole: span,
            id: None,
            defined: true,
            called: None,
            broken: false,
            code: None,
            bounds: &[],
            scope,
            this: None,
            constexpr: false,
            deleted: false,
            explicit: false,
            progress: Progress::Done,
            template: None,
            context: None,
        };
        let index = self.add_func(info);
        self.func_id(index);
        index
    }

    /// Writes the bodies of dispatchers, when all addresses are known.
    pub(super) fn finish_dispatchers(&mut self) {
        if let Some(index) = self.any_launcher {
            self.finish_any_launcher(index);
        }
        for dispatcher in std::mem::take(&mut self.dispatchers) {
            let Dispatcher { ty, for_host, place, index } = dispatcher;
            if !for_host {
                self.finish_chooser(&ty, index, false);
                continue;
            }
            let (mut b, _) = self.begin_chooser(index, Self::chooser_types(&ty, false));
            b.func.ret = ty.ret.ir();
            b.push(Stmt::Dispatch(signature(&ty)));
            let id = self.func_id(index);
            let mut func = b.finish();
            func.library = place.is_some();
            func.identity = place.and_then(|place| self.dispatcher_identity(&ty, place));
            self.module.functions[id.index()] = func;
        }
        for (ty, index) in std::mem::take(&mut self.launchers) {
            self.finish_chooser(&ty, index, true);
        }
    }

    /// The parameters of a function that chooses.
    fn chooser_types(ty: &FnTy, launches: bool) -> Vec<ParamType> {
        let mut types = vec![ParamType::Ptr { elem: None, is_const: false }];
        types.extend(vec![ParamType::Scalar(Scalar::U32); if launches { CONFIG } else { 0 }]);
        for param in &ty.params {
            types.push(match param.ir() {
                Some(Type::Scalar(s)) => ParamType::Scalar(s),
                _ => ParamType::Ptr { elem: None, is_const: false },
            });
        }
        if ty.ret.is_struct() {
            types.push(ParamType::Ptr { elem: ty.ret.uniform().map(Elem::from), is_const: false });
        }
        types
    }

    fn finish_chooser(&mut self, ty: &FnTy, index: FuncIndex, launches: bool) {
        let wanted = Ty::new(Kind::Function(ty.clone().into()));
        let mut targets = Vec::new();
        for i in 0..self.addressed.len() {
            let target = self.addressed[i];
            let is_kernel = self.func(target).side == Side::Kernel;
            if self.function_type(target).kind == wanted.kind && !self.func(target).broken && is_kernel == launches {
                targets.push(target);
            }
        }
        let (mut b, args) = self.begin_chooser(index, Self::chooser_types(ty, launches));
        b.func.ret = ty.ret.ir();
        let span = b.span;
        let number = b.bind(Scalar::U64, Op::PtrToInt(args[0]));
        let label = b.func.new_label();
        let mut cases = Vec::new();
        for target in targets {
            let callee = self.func_id(target);
            b.open();
            let result = ty.ret.ir().map(|ir| b.func.new_value(ir, span));
            match args[1..].split_first_chunk::<CONFIG>() {
                Some((config, args)) if launches => {
                    b.push(Stmt::Launch { kernel: callee, config: *config, args: args.to_vec() });
                }
                _ => b.push(Stmt::Call { result, func: callee, args: args[1..].to_vec(), raised: None }),
            }
            b.push(Stmt::Return(result));
            let body = b.close();
            cases.push(Case { values: vec![callee.address()], default: false, body, falls_through: false });
        }
        if !cases.is_empty() {
            b.push(Stmt::Switch { label, value: number, cases });
        }
        b.push(Stmt::Trap);
        let id = self.func_id(index);
        self.module.functions[id.index()] = b.finish();
    }
}

//! Pointers to functions. A function's address is a small number ([`FuncId::address`]); a call through one goes to a function made for its
//! type. For code of the device that chooses among all functions of that type whose address is taken. For host code it looks the function up
//! as it runs ([`Stmt::Dispatch`]), so that it is the same in every text, as what calls it then is.
//!
//! Every address comes with a hash of the function's type, which the pointer's has to be: what points at nothing, or at a function of
//! another type, is a fault. A launch through a pointer goes to a function made for the pointer's type, as a call on the device does. Such
//! a call takes one frame more than a plain one, so recursion through pointers goes less deep. Kept code has addresses of its own for the
//! functions that it knows.

use std::hash::{BuildHasher, RandomState};

use crate::front::ast::Symbol;
use crate::front::link::{CONFIG, Linkage, chooser_params};
use crate::front::lower::expressions::typed_tree::FuncIndex;
use crate::front::lower::scopes::names::GLOBAL;
use crate::front::lower::{FuncInfo, Lowerer, Progress, Role, Side};
use crate::front::types::{FnTy, Kind, Num, Ty};
use crate::ir::{Builder, Const, FuncId, Op, Param, ParamType, Stmt, Stride, Type, Value};
use crate::once::Once;
use crate::source::Span;

/// The types of grid, block, and bytes of shared memory.
fn config_types() -> Vec<Ty> {
    let mut types = vec![Ty::from(Num::UInt); CONFIG];
    types[CONFIG - 1] = Num::ULong.into();
    types
}

/// A function that calls what pointers of a type point at.
pub(in crate::front::lower) struct Dispatcher {
    ty: FnTy,
    for_host: bool,
    /// The place of the library that it is for.
    place: Option<Span>,
    index: FuncIndex,
}

/// The signature that tells the functions of a type from others, in all texts: by how it is written, and by what its parts are to the back
/// end, so that types of two texts with one name are never called as each other's.
fn signature(func: &FnTy) -> u64 {
    static STATE: Once<RandomState> = Once::new(RandomState::new);
    let parts: Vec<Option<Type>> = func.params.iter().chain([&func.ret]).map(Ty::ir).collect();
    STATE.hash_one((Ty::new(Kind::Function(func.clone().into())).to_string(), parts))
}

/// A function that no text declares, whose body is made.
pub(super) fn made_function<'a>(
    name: Symbol,
    display: String,
    side: Side,
    params: Vec<Ty>,
    ret: Ty,
    span: Span,
) -> FuncInfo<'a> {
    FuncInfo {
        name,
        display,
        side,
        role: Role::Plain,
        defaults: vec![None; params.len()],
        params,
        ret,
        auto: None,
        span,
        whole: span,
        id: None,
        defined: true,
        called: None,
        called_in: None,
        callers: Vec::new(),
        broken: false,
        code: None,
        bounds: &[],
        scope: GLOBAL,
        this: None,
        constexpr: false,
        deleted: false,
        explicit: false,
        guard: None,
        progress: Progress::Done,
        template: None,
        context: None,
        linkage: Linkage::Internal,
        symbol: None,
    }
}

impl<'a> Lowerer<'a> {
    /// The address of a function, as a value.
    pub(in crate::front::lower) fn function_address(&mut self, index: FuncIndex, span: Span) -> Value {
        self.note_call(index, span);
        let (id, side) = (self.func_id(index), self.func(index).side);
        if self.f.side == Side::Host && matches!(side, Side::Host | Side::Both) && span.file.is_common() {
            let signature = self.signature_of(index);
            return self.at(span).bind(Type::Ptr, Op::FuncAddr(id, signature));
        }
        let signature = self.signature_of(index);
        self.links.add_addressed(id, signature, side == Side::Kernel);
        let for_host = match side {
            Side::Host => true,
            Side::Both => matches!(self.f.side, Side::Host | Side::Both),
            Side::Kernel | Side::Device => false,
        };
        if for_host && !self.module.addressed.iter().any(|(known, _)| *known == id) {
            self.module.addressed.push((id, signature));
        }
        self.f.is_own = true;
        let b = self.at(span);
        let null = b.constant(Const::Null);
        b.offset(null, id.address(), Stride::Bytes(1))
    }

    /// The signature that tells the functions of one type from others.
    fn signature_of(&mut self, index: FuncIndex) -> u64 {
        match &self.function_type(index).kind {
            Kind::Function(func) => signature(func),
            _ => 0,
        }
    }

    /// The function that calls what a pointer of a type points at. A place of the library has one of its own, which other texts have too.
    pub(in crate::front::lower) fn dispatcher(&mut self, func: &FnTy, span: Span) -> FuncIndex {
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
    pub(in crate::front::lower) fn launcher(&mut self, func: &FnTy, span: Span) -> FuncIndex {
        if let Some((_, index)) = self.launchers.iter().find(|(ty, _)| ty == func) {
            return *index;
        }
        let index = self.chooser(func, &config_types(), span);
        self.launchers.push((func.clone(), index));
        index
    }

    /// The function that launches the kernel at an address whose type is forgotten (`cudaLaunchKernel`): after the address come grid, block,
    /// bytes, and where the addresses of the arguments are.
    pub(in crate::front::lower) fn any_launcher(&mut self, span: Span) -> FuncIndex {
        if let Some(index) = self.any_launcher {
            return index;
        }
        let mut between = config_types();
        between.push(Ty::void().pointer());
        let nothing = FnTy { params: Vec::new(), ret: Ty::void() };
        let index = self.chooser(&nothing, &between, span);
        self.any_launcher = Some(index);
        index
    }

    fn chooser(&mut self, func: &FnTy, between: &[Ty], span: Span) -> FuncIndex {
        let pointer = Ty::void().pointer();
        let mut params = vec![pointer];
        params.extend(between.iter().chain(&func.params).cloned());
        let display = format!("call {}", Ty::new(Kind::Function(func.clone().into())));
        let side = if self.f.side == Side::Host { Side::Host } else { Side::Device };
        let info = made_function(self.known.call, display, side, params, func.ret.clone(), span);
        let index = self.add_func(info);
        self.func_id(index);
        index
    }

    /// Ends a unit: writes the bodies of the host's dispatchers. What chooses among addresses waits until those of all units are known.
    pub(in crate::front::lower) fn finish_dispatchers(&mut self) {
        if let Some(index) = self.any_launcher {
            let id = self.func_id(index);
            let span = self.func(index).span;
            let pointer = ParamType::Ptr { elem: None, is_const: false };
            let mut params = chooser_params(&FnTy { params: Vec::new(), ret: Ty::void() }, true, span);
            params.push(Param::new("arguments", pointer, span));
            self.module.functions[id.index()].params = params;
            self.links.add_chooser(id, None, true);
        }
        for dispatcher in std::mem::take(&mut self.dispatchers) {
            let Dispatcher { ty, for_host, place, index } = dispatcher;
            let id = self.open_chooser(&ty, index, false);
            if !for_host {
                self.links.add_chooser(id, Some(signature(&ty)), false);
                continue;
            }
            let mut b = Builder::new(self.module.functions[id.index()].clone());
            b.span = self.func(index).span;
            for i in 0..b.func.params.len() {
                b.bind(b.func.params[i].ty.ty(), Op::Param(i as u32));
            }
            b.push(Stmt::Dispatch(signature(&ty)));
            let mut func = b.finish();
            func.library = place.is_some();
            func.identity = place.and_then(|place| self.dispatcher_identity(&ty, place));
            self.module.functions[id.index()] = func;
        }
        for (ty, index) in std::mem::take(&mut self.launchers) {
            let id = self.open_chooser(&ty, index, true);
            self.links.add_chooser(id, Some(signature(&ty)), true);
        }
    }

    /// Gives a function that chooses its parameters and its result.
    fn open_chooser(&mut self, ty: &FnTy, index: FuncIndex, launches: bool) -> FuncId {
        let id = self.func_id(index);
        let span = self.func(index).span;
        let func = &mut self.module.functions[id.index()];
        func.params = chooser_params(ty, launches, span);
        func.ret = ty.ret.ir();
        id
    }
}

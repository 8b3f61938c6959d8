//! The syntax tree to IR: names resolved, types checked, conversions made explicit.
//!
//! Declarations are taken in text order, since C++ lets a name be used only after its declaration. Each expression is
//! first *checked* into a typed tree (`expr`, `operators`, `call`, `cast`: [`tree::Typed`]), folding constants on the
//! way, and then *emitted* (`emit`). Statements (`stmt`, `switch`) do both, one after the other. An error turns its
//! expression into one of error type, about which everything above it stays silent.
//!
//! Templates join as a second producer of functions (a body is lowered from its syntax under a set of bindings), structs
//! as another kind of type and place, host code as statements of functions on the host's side.

mod builder;
mod call;
mod cast;
mod convert;
mod dangling;
mod decl;
mod emit;
mod emit_call;
mod expr;
mod fold;
mod global;
mod host;
mod init;
mod items;
mod names;
mod operators;
mod printf;
mod rank;
mod resolve;
mod stmt;
mod switch;
pub(in crate::front) mod tree;
mod usage;

#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use names::nearest;

use super::ast::{Interner, Item, Symbol, TranslationUnit};
use super::types::Ty;
use crate::diagnostic::Diagnostic;
use crate::ir::{Const, FuncId, FuncKind, Function, Global, Label, Local, Module, Slot, Value};
use crate::source::{SourceMap, Span};
use names::Scopes;
use tree::{FuncIndex, Typed, VarId};
use usage::Usage;

/// Most messages of one text; what follows is noise.
const MAX_DIAGNOSTICS: usize = 100;

/// Where a function may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// `__global__`
    Kernel,
    /// `__device__`
    Device,
    /// Neither, or `__host__`.
    Host,
    /// `__host__ __device__`
    Both,
}

/// Where a variable lives.
#[derive(Debug, Clone, Copy)]
enum Storage {
    /// Never assigned and never addressed: the value itself.
    Value(Value),
    /// A register.
    Local(Local),
    /// Memory of the thread.
    Slot(Slot),
    /// A reference: the address it holds.
    Reference(Value),
    /// Read-only data of the module.
    Global(Global),
    /// A constant that needs no memory until its address is taken.
    Constant,
    /// A variable of the host.
    Host,
    /// Its declaration was reported.
    Nowhere,
}

struct Variable {
    name: Symbol,
    /// Its declared type; a reference keeps being one.
    ty: Ty,
    span: Span,
    storage: Storage,
    /// Its value, when it is a constant scalar.
    constant: Option<Const>,
}

impl Variable {
    fn is_host(&self) -> bool {
        matches!(self.storage, Storage::Host)
    }
}

/// A function of the text, from its first declaration on.
struct FuncInfo {
    name: Symbol,
    side: Side,
    params: Vec<Ty>,
    defaults: Vec<Option<Typed>>,
    ret: Ty,
    /// Where its name is.
    span: Span,
    id: Option<FuncId>,
    defined: bool,
    /// Its first call.
    called: Option<Span>,
    /// It was refused as a whole; calls of it stay silent.
    broken: bool,
}

impl FuncInfo {
    /// How many arguments a call must give.
    fn required(&self) -> usize {
        self.defaults.iter().position(Option::is_some).unwrap_or(self.params.len())
    }
}

/// A construct that `break` or `continue` may leave.
struct Target {
    label: Label,
    kind: TargetKind,
    /// Whether something that can run breaks out of it.
    broken: bool,
    /// Whether something that can run continues it.
    continued: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    Loop,
    /// `do ... while (0)`: `continue` leaves it too.
    Once,
    Switch,
}

/// What belongs to the function being lowered.
struct FuncState {
    b: Builder,
    side: Side,
    /// Whether a body is being lowered at all, rather than something at namespace scope.
    inside: bool,
    name: Symbol,
    ret: Ty,
    usage: Usage,
    targets: Vec<Target>,
    /// Bytes of local memory so far.
    stack: u64,
    stack_reported: bool,
    /// Variables of this function begin here.
    first_var: usize,
}

impl FuncState {
    fn outside() -> Self {
        FuncState {
            b: Builder::new(Function::new("", FuncKind::Device, Span::NONE)),
            side: Side::Both,
            inside: false,
            name: Symbol(u32::MAX),
            ret: Ty::void(),
            usage: Usage::default(),
            targets: Vec::new(),
            stack: 0,
            stack_reported: false,
            first_var: 0,
        }
    }
}

struct Lowerer<'a> {
    unit: &'a TranslationUnit,
    sources: &'a SourceMap,
    interner: &'a Interner,
    diags: &'a mut Vec<Diagnostic>,
    /// How many messages this stage may still add.
    room: usize,
    module: Module,
    scopes: Scopes,
    vars: Vec<Variable>,
    funcs: Vec<FuncInfo>,
    /// Constants of enums: the enum's id, the name, the value.
    enum_constants: Vec<(u32, Symbol, Const)>,
    enums: u32,
    f: FuncState,
    depth: u32,
}

/// Lowers a unit; what could not be lowered is left out and reported.
pub fn lower(unit: &TranslationUnit, sources: &SourceMap, interner: &Interner, diags: &mut Vec<Diagnostic>) -> Module {
    let mut lowerer = Lowerer {
        unit,
        sources,
        interner,
        diags,
        room: MAX_DIAGNOSTICS,
        module: Module::default(),
        scopes: Scopes::default(),
        vars: Vec::new(),
        funcs: Vec::new(),
        enum_constants: Vec::new(),
        enums: 0,
        f: FuncState::outside(),
        depth: 0,
    };
    for item in &unit.items {
        lowerer.item(item);
    }
    lowerer.report_missing_bodies();
    lowerer.module
}

impl Lowerer<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Function(func) => self.function(func),
            Item::Variables(decl) => self.global_variables(decl),
            Item::Alias(alias) => self.alias(alias),
            Item::Enum(decl) => self.enumeration(decl),
            Item::StaticAssert(assertion) => self.static_assert(assertion),
        }
    }

    fn report(&mut self, diag: Diagnostic) {
        if self.room > 0 {
            self.room -= 1;
            self.diags.push(diag);
        }
    }

    fn var(&self, id: VarId) -> &Variable {
        &self.vars[id.0 as usize]
    }

    fn func(&self, index: FuncIndex) -> &FuncInfo {
        &self.funcs[index.0 as usize]
    }

    /// Whether the text being lowered runs on the device.
    fn on_device(&self) -> bool {
        self.f.inside && self.f.side != Side::Host
    }

    /// The builder, its values to come from `span`.
    fn at(&mut self, span: Span) -> &mut Builder {
        self.f.b.span = span;
        &mut self.f.b
    }
}

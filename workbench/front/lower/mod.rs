//! The syntax tree to IR: names resolved, types checked, conversions made explicit.
//!
//! Declarations are taken in text order, since C++ lets a name be used only after its declaration. Each expression is
//! first *checked* into a typed tree (`expr`, `operators`, `call`, `cast`: [`tree::Typed`]), folding constants on the
//! way, and then *emitted* (`emit`). Statements (`stmt`, `switch`) do both, one after the other. An error turns its
//! expression into one of error type, about which everything above it stays silent.
//!
//! Nothing of a template is looked at before it is used: an instance is its syntax lowered again, in a scope where its
//! parameters are bound (`template`, `deduce`, `instance`). Bodies of instances and methods wait in a queue until the
//! function being lowered is done. A struct is a type with a layout (`class`); its objects are places in memory, its
//! values are nodes that are written straight into one (`object`).

mod access;
mod aggregate;
mod ahead;
mod asked;
mod bits;
mod body;
mod builder;
mod builtin_value;
mod call;
mod call_builtin;
mod cast;
mod class;
mod class_fields;
mod class_methods;
mod constant;
mod construct;
mod convert;
mod dangling;
mod decl;
mod deduce;
mod emit;
mod emit_call;
mod evaluate;
mod exact;
mod exceptions;
mod expr;
mod find;
mod fold;
mod function;
mod function_pointer;
mod global;
mod host;
mod host_data;
mod identity;
mod init;
mod instance;
mod lambda;
mod launch;
mod lifetime;
mod linkage;
mod list;
mod member;
mod memory;
mod names;
mod namespace;
mod object;
mod operators;
mod out_of_line;
mod overload;
mod partial;
mod printf;
mod range;
mod rank;
mod resolve;
mod shared;
mod stmt;
mod switch;
mod symbols;
mod template;
mod template_args;
pub(in crate::front) mod tree;
mod unsupported;
mod usage;
mod user_operator;
mod variable_length;
mod vector;
mod waiting;
mod walk;

#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use names::nearest;

use super::asked::Call;
use super::ast::{
    BaseType, Compound, Expr, Init, Interner, Item, MemberInit, ParamDecl, StructDecl, Symbol, TranslationUnit,
    TypeName,
};
use super::link::{Linkage, Links};
use super::shelf::Library;
use super::types::{FnTy, StructTy, Ty};
use crate::diagnostic::Diagnostic;
use crate::ir::ahead::Ahead;
use crate::ir::{Const, FuncId, FuncKind, Function, Global, Identity, Label, Local, Module, Shared, Slot, Value};
use crate::source::{FileId, SourceMap, Span};
use class::Class;
use names::{Callable, ScopeId, Scopes, TArg};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::VecDeque;
use std::rc::Rc;
use template::Template;
use tree::{FuncIndex, TemplateIndex, Typed, VarId};
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
    /// Data of the module.
    Global(Global),
    /// Shared memory.
    Shared(Shared),
    /// A constant that needs no memory until its address is taken.
    Constant,
    /// A variable of the host.
    Host,
    /// Its declaration was reported.
    Nowhere,
}

/// What happens at the end of a scope.
#[derive(Debug, Clone)]
struct Cleanup {
    what: Cleaned,
    /// Whether there is anything to do, where that depends on the way to the end of the scope.
    made: Option<Local>,
}

#[derive(Debug, Clone)]
enum Cleaned {
    /// The destructor of an object in a slot runs.
    Object(Slot, Ty),
    /// The destructor of a part of the object that is being made, at an offset: where an exception leaves its constructor.
    Part(u32, Ty),
    /// The parts of an object that is being made, as far as they are: where an exception leaves that.
    Parts(Parts),
    /// The handling of an exception is over: what is called then.
    Handler(Box<Typed>),
}

/// Parts of an object that is being made, one after the other.
#[derive(Debug, Clone)]
struct Parts {
    /// Where the object is.
    object: Local,
    /// How many of its parts are made; none before the first, and none once the object is there, which is another's business then.
    made: Local,
    /// Those of its parts that are to be destroyed: offset and type.
    parts: Rc<[(u32, Ty)]>,
}

/// Where exceptions go: out of the block of its label.
struct Landing {
    label: Label,
    /// What is to be cleaned up there, in the order it was made.
    made: Vec<Cleanup>,
    /// Whether anything that can run goes there.
    used: bool,
}

/// Where a scope began: so many objects there were before, and what was [`FuncState::scope_depth`].
#[derive(Debug, Clone, Copy)]
struct ScopeMark {
    cleanups: usize,
    depth: usize,
}

struct Variable {
    name: Symbol,
    /// Its declared type; a reference keeps being one.
    ty: Ty,
    span: Span,
    storage: Storage,
    /// Its value, when it is a constant scalar.
    constant: Option<Const>,
    /// The function it belongs to; 0 at namespace scope.
    owner: u32,
}

impl Variable {
    fn is_host(&self) -> bool {
        matches!(self.storage, Storage::Host)
    }
}

/// What sort of function it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    Constructor,
    Destructor,
    Conversion,
}

/// What a function runs.
#[derive(Clone, Copy)]
struct Code<'a> {
    params: &'a [ParamDecl],
    inits: &'a [MemberInit],
    body: &'a Compound,
    /// No exception leaves it.
    noexcept: bool,
}

/// How far the body of a function has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Nobody has asked for it.
    Idle,
    /// It waits for its turn.
    Queued,
    /// It is being lowered.
    Running,
    /// It is in the module.
    Done,
}

/// Where an instance was asked for, and what asked for that.
struct Context {
    /// `f<float>`
    what: String,
    span: Span,
    outer: Option<Rc<Context>>,
}

/// A function of the text, from its first declaration on.
struct FuncInfo<'a> {
    name: Symbol,
    /// Its name with the struct it belongs to and its template arguments.
    display: String,
    side: Side,
    role: Role,
    params: Vec<Ty>,
    defaults: Vec<Option<&'a Expr>>,
    ret: Ty,
    /// The result as written, while it is `auto` and not known yet.
    auto: Option<Option<&'a TypeName>>,
    /// Where its name is.
    span: Span,
    /// From the first specifier to the closing parenthesis.
    whole: Span,
    id: Option<FuncId>,
    defined: bool,
    /// Its first call.
    called: Option<Span>,
    /// What that call was lowered for.
    called_in: Option<Rc<Context>>,
    /// Who calls it that may run on the device.
    callers: Vec<FuncIndex>,
    /// It was refused as a whole; calls of it stay silent.
    broken: bool,
    code: Option<Code<'a>>,
    bounds: &'a [Expr],
    /// The scope its parameters and body are in.
    scope: ScopeId,
    /// What a method runs on.
    this: Option<Ty>,
    constexpr: bool,
    deleted: bool,
    explicit: bool,
    /// Who may call it, where it is a method.
    guard: access::Guard,
    progress: Progress,
    /// The template it is an instance of.
    template: Option<(TemplateIndex, Rc<[TArg]>)>,
    context: Option<Rc<Context>>,
    linkage: Linkage,
    /// What other units know it by, once it has a handle that they share.
    symbol: Option<Rc<str>>,
}

impl FuncInfo<'_> {
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
    /// How many objects wait for their destructors outside of it.
    cleanups: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    Loop,
    /// `do ... while (0)`: `continue` leaves it too.
    Once,
    Switch,
}

/// What belongs to the function being lowered.
struct FuncState<'a> {
    b: Builder,
    side: Side,
    /// Whether a body is being lowered at all, rather than something at namespace scope.
    inside: bool,
    /// The function; `None` at namespace scope.
    index: Option<FuncIndex>,
    name: String,
    /// Whether what is being written may not be aligned.
    by_bytes: bool,
    /// Whether it holds what only this text knows: a function's address, as a number.
    is_own: bool,
    ret: Ty,
    /// The result as written, while it is `auto` and no `return` has been met.
    auto: Option<Option<&'a TypeName>>,
    usage: Usage,
    targets: Vec<Target>,
    /// Bytes of local memory so far.
    stack: u64,
    stack_reported: bool,
    /// Tells variables of this function from others'.
    serial: u32,
    /// A variable of another function was asked for: what is being lowered is no constant.
    foreign: Option<Span>,
    /// The object a method runs on: a pointer.
    this: Option<Typed>,
    this_value: Option<Value>,
    /// The index of the parameter that says where the result goes.
    result: u32,
    /// Objects whose destructors run when their block ends.
    cleanups: Vec<Cleanup>,
    /// How many blocks were open where the innermost scope of them began.
    scope_depth: usize,
    /// Where exceptions go, the innermost last. The first is the function's own.
    landings: Vec<Landing>,
    /// The object whose parts are being made, and how many are.
    in_parts: Option<(Local, i64)>,
    /// The symbol of a function that several units may have, and how many variables it has kept so far.
    symbol: Option<Rc<str>>,
    kept: u32,
}

impl FuncState<'_> {
    fn outside() -> Self {
        FuncState {
            b: Builder::new(Function::new("", FuncKind::Device, Span::NONE)),
            side: Side::Both,
            inside: false,
            index: None,
            name: String::new(),
            by_bytes: false,
            is_own: false,
            ret: Ty::void(),
            auto: None,
            usage: Usage::default(),
            targets: Vec::new(),
            stack: 0,
            stack_reported: false,
            serial: 0,
            foreign: None,
            this: None,
            this_value: None,
            result: 0,
            cleanups: Vec::new(),
            scope_depth: 1,
            landings: Vec::new(),
            in_parts: None,
            symbol: None,
            kept: 0,
        }
    }
}

/// Names that mean something to the language itself.
struct Known {
    components: [Symbol; 4],
    call: Symbol,
    index: Symbol,
    arrow: Symbol,
    std: Symbol,
    empty: Symbol,
    assign_value: Symbol,
    begin: Symbol,
    end: Symbol,
    operators: HashMap<&'static str, Symbol>,
}

impl Known {
    fn new(interner: &mut Interner) -> Self {
        let signs = [
            "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||", ",", "!",
            "~", "++", "--", "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=",
        ];
        let operators = signs.into_iter().map(|s| (s, interner.intern(&format!("operator{s}")))).collect();
        Known {
            components: ["x", "y", "z", "w"].map(|s| interner.intern(s)),
            call: interner.intern("operator()"),
            index: interner.intern("operator[]"),
            arrow: interner.intern("operator->"),
            std: interner.intern("std"),
            empty: interner.intern(""),
            assign_value: interner.intern("__wb_assign"),
            begin: interner.intern("begin"),
            end: interner.intern("end"),
            operators,
        }
    }
}

/// Functions of one name, with the template arguments given.
type OverloadSet = (Rc<[Callable]>, Option<Rc<[TArg]>>);

struct Lowerer<'a> {
    unit: &'a TranslationUnit,
    library: &'a Library<'a>,
    /// What was written for the text, which stands in no file of the user's.
    written: Option<FileId>,
    sources: &'a SourceMap,
    interner: &'a Interner,
    known: Known,
    diags: &'a mut Vec<Diagnostic>,
    /// How many messages this stage may still add.
    room: usize,
    warning_room: usize,
    /// How many times messages are being held back: what fails is only tried.
    quiet: u32,
    /// Whether something was reported while they were.
    failed: bool,
    /// Whether a warning was.
    warned: bool,
    /// Inside how many operands whose type alone is asked for.
    unevaluated: u32,
    module: Module,
    /// What the unit shares with others, and the names of functions that it has bodies for.
    links: Links,
    bodies: HashSet<Symbol>,
    /// Instances of class templates that the text instantiates by `template struct S<int>;`.
    instantiated: Vec<u32>,
    scopes: Scopes<'a>,
    vars: Vec<Variable>,
    funcs: Vec<FuncInfo<'a>>,
    classes: Vec<Class<'a>>,
    class_identities: HashMap<u32, Option<Identity>>,
    /// Whether the user's text may change what the library means; see [`identity`].
    adapts: bool,
    /// Whether the text has handlers of exceptions.
    catches: bool,
    templates: Vec<Template<'a>>,
    vectors: HashMap<&'static str, Rc<StructTy>>,
    /// Constants of enums: the enum's id, the name, the value.
    enum_constants: Vec<(u32, Symbol, Const)>,
    enums: u32,
    /// Where each enum was declared.
    enum_places: Vec<(Span, ScopeId)>,
    /// The namespace that each enum was declared in.
    enum_scopes: Vec<(u32, ScopeId)>,
    /// What the last evaluation of a constant stumbled over.
    obstacle_found: Option<(String, Span)>,
    /// Braced lists and overload sets that typed expressions refer to.
    braced: Vec<(&'a [Init], ScopeId)>,
    /// What their entries are, once somebody has asked.
    braced_shapes: HashMap<u32, Option<Rc<[rank::Arg]>>>,
    /// Large sets of functions by the types that they take; a set by its first.
    exact_sets: HashMap<Callable, exact::Exact>,
    /// Lists within lists whose entries are being looked at.
    list_depth: u32,
    overloads: Vec<OverloadSet>,
    /// String literals that are data of the module, with their NULs.
    strings: HashMap<Vec<u8>, Global>,
    /// The initialiser that `auto` took its type from, checked.
    held: Option<(*const Expr, Typed)>,
    /// Entries of braced lists that were checked to rank functions, until their values are wanted: by their syntax, function and scope.
    kept: HashMap<(*const Expr, u32, ScopeId), Typed>,
    /// Structs without a name, by their syntax and scope.
    unnamed: Vec<(*const StructDecl, ScopeId, Ty)>,
    /// Names of methods that some class makes public though its base does not.
    passed_on: HashSet<Symbol>,
    /// Functions that call through an address, by type.
    dispatchers: Vec<function_pointer::Dispatcher>,
    /// What launches kernels by their addresses, by type.
    launchers: Vec<(FnTy, FuncIndex)>,
    /// Variables of the device that may change.
    symbols: HashSet<VarId>,
    /// Where a warning has said of a name that CUB has it no more.
    removed: HashSet<Span>,
    /// Dynamic shared memory by namespace, text and name: its type, and where it is declared.
    dynamic: HashMap<(ScopeId, FileId, Symbol), (Ty, Span)>,
    any_launcher: Option<FuncIndex>,
    /// Templates are being ordered, for which their constraints are not asked: what stands for their arguments is invented.
    ordering: bool,
    /// What stands for functions that are built in, where those are values.
    builtin_values: HashMap<Symbol, Rc<[Callable]>>,
    /// How variables of the host are declared.
    host_vars: HashMap<VarId, host_data::HostVar<'a>>,
    /// Variables that are declared `extern` and not defined so far.
    only_declared: HashSet<VarId>,
    /// Those of them that are no constants, in the order they were asked for.
    computed: Vec<VarId>,
    /// Who takes kernels while the rest is being lowered.
    ahead: Option<&'a dyn Ahead>,
    /// The kernels that it has not taken yet, and which functions are in the module whole.
    untaken: Vec<FuncId>,
    whole: Vec<bool>,
    /// Functions whose bodies wait: those that only the device runs, and the others.
    device_queue: VecDeque<FuncIndex>,
    queue: VecDeque<FuncIndex>,
    context: Option<Rc<Context>>,
    instances: u32,
    serials: u32,
    f: FuncState<'a>,
    depth: u32,
}

/// What a unit is lowered with besides its own text.
pub struct Beside<'s> {
    /// What has been read of the library.
    pub library: &'s Library<'s>,
    /// The texts that its places are in.
    pub sources: &'s SourceMap,
    /// Who takes kernels meanwhile.
    pub ahead: Option<&'s dyn Ahead>,
    /// Instances of kernels' templates to make besides: `using x = name<...>;` items with the spelling asked for.
    pub wanted: &'s [(String, TranslationUnit)],
    /// Calls whose instances of kernels' templates to make.
    pub calls: &'s [Call],
}

/// Lowers a unit after what it reaches of the library, then what of ours stands `after` it, in a file of its own, into the `module` that
/// holds the units before it; what could not be lowered is left out and reported. What the library declares is lowered only where it is
/// used, and the text may declare its names anew.
pub(in crate::front) fn lower(
    beside: &Beside<'_>,
    unit: &TranslationUnit,
    after: Option<(FileId, &TranslationUnit)>,
    (module, links): (&mut Module, &mut Links),
    interner: &mut Interner,
    diags: &mut Vec<Diagnostic>,
) {
    let written = after.map(|(file, _)| file);
    let mut lowerer = Lowerer::new(beside.library, unit, written, beside.sources, interner, diags);
    (lowerer.module, lowerer.links) = (std::mem::take(module), std::mem::take(links));
    lowerer.adapts = lowerer.may_adapt(&unit.items);
    lowerer.catches = lowerer.interner.contains(crate::library::LAND);
    lowerer.ahead = beside.ahead;
    if !lowerer.links.is_single() {
        Lowerer::names_with_bodies(&unit.items, &mut lowerer.bodies);
        lowerer.whole = lowerer.whole_before();
    }
    lowerer.open_library();
    lowerer.declarations(&unit.items);
    after.into_iter().for_each(|(_, unit)| lowerer.declarations(&unit.items));
    for (shown, request) in beside.wanted {
        if let Some(Item::Alias(alias)) = request.items.last()
            && let BaseType::Named(name) = &alias.ty.base
            && lowerer.is_unit_of(name, shown)
        {
            lowerer.wanted_instance(name, shown);
            lowerer.drain();
        }
    }
    for call in beside.calls {
        lowerer.asked_instance(call);
        lowerer.drain();
    }
    lowerer.complete_instances();
    lowerer.define_for_others();
    lowerer.finish_host_data();
    lowerer.finish_dispatchers();
    lowerer.ask_other_units();
    lowerer.strip_identities();
    (*module, *links) = (lowerer.module, lowerer.links);
}

/// Ends a program, all of whose units are lowered.
pub(in crate::front) fn finish(module: &mut Module, mut links: Links, diags: &mut Vec<Diagnostic>) {
    links.finish(module, diags);
    identity::settle_identities(module);
}

impl<'a> Lowerer<'a> {
    fn new(
        library: &'a Library<'a>,
        unit: &'a TranslationUnit,
        written: Option<FileId>,
        sources: &'a SourceMap,
        interner: &'a mut Interner,
        diags: &'a mut Vec<Diagnostic>,
    ) -> Self {
        let known = Known::new(interner);
        Lowerer {
            unit,
            library,
            written,
            sources,
            interner,
            known,
            diags,
            room: MAX_DIAGNOSTICS,
            warning_room: MAX_DIAGNOSTICS,
            quiet: 0,
            failed: false,
            warned: false,
            unevaluated: 0,
            module: Module::default(),
            links: Links::default(),
            bodies: HashSet::default(),
            instantiated: Vec::new(),
            scopes: Scopes::new(library),
            vars: Vec::new(),
            funcs: Vec::new(),
            classes: Vec::new(),
            class_identities: HashMap::default(),
            adapts: false,
            catches: false,
            templates: Vec::new(),
            vectors: HashMap::default(),
            enum_constants: Vec::new(),
            enums: 0,
            enum_places: Vec::new(),
            enum_scopes: Vec::new(),
            obstacle_found: None,
            braced: Vec::new(),
            braced_shapes: HashMap::default(),
            exact_sets: HashMap::default(),
            list_depth: 0,
            overloads: Vec::new(),
            strings: HashMap::default(),
            held: None,
            kept: HashMap::default(),
            unnamed: Vec::new(),
            passed_on: HashSet::default(),
            dispatchers: Vec::new(),
            launchers: Vec::new(),
            symbols: HashSet::default(),
            removed: HashSet::default(),
            dynamic: HashMap::default(),
            any_launcher: None,
            ordering: false,
            builtin_values: HashMap::default(),
            host_vars: HashMap::default(),
            only_declared: HashSet::default(),
            computed: Vec::new(),
            ahead: None,
            untaken: Vec::new(),
            whole: Vec::new(),
            device_queue: VecDeque::new(),
            queue: VecDeque::new(),
            context: None,
            instances: 0,
            serials: 0,
            f: FuncState::outside(),
            depth: 0,
        }
    }

    /// Declarations in order.
    fn declarations(&mut self, items: &'a [Item]) {
        for item in items {
            self.item(item);
            self.drain();
        }
    }

    fn item(&mut self, item: &'a Item) {
        match item {
            Item::Function(func) => self.function(func),
            Item::Variables(decl) => self.global_variables(decl),
            Item::Alias(alias) => self.alias(alias),
            Item::Enum(decl) => self.enumeration(decl),
            Item::StaticAssert(assertion) => self.static_assert(assertion),
            Item::Namespace(namespace) => self.namespace(namespace),
            Item::UsingNamespace(name) => self.using_namespace(name),
            Item::UsingDecl(name) => self.using_declaration(name),
            Item::NamespaceAlias(alias) => self.namespace_alias(alias),
            Item::Struct(decl) => {
                self.struct_declaration(decl);
            }
            Item::Instantiate(instance) => self.explicit_instantiation(instance),
        }
    }

    fn report(&mut self, mut diag: Diagnostic) {
        if self.quiet > 0 {
            self.failed |= diag.is_error();
            self.warned |= !diag.is_error();
            return;
        }
        let chain: Vec<Rc<Context>> = std::iter::successors(self.context.clone(), |c| c.outer.clone()).collect();
        // What fails inside a template of the library is said of the user's line that uses it.
        let outside = chain.iter().position(|c| !self.in_library(c.span)).filter(|_| self.in_library(diag.span));
        if let Some(at) = outside {
            diag.span = chain[at].span;
            // `new` and its like are calls of what has no name to the user.
            let what = &chain[at].what;
            diag.label = if what.contains("__wb") { String::new() } else { format!("in `{what}`") };
        }
        // The library's text is not the user's to read or to mend, and its own names say nothing to who never wrote them.
        if !self.in_library(diag.span) {
            let is_own = |text: &str| text.contains("__wb") || text.contains("__WB");
            if is_own(&diag.message) {
                let what = outside.map_or("a macro of the library".to_owned(), |at| format!("`{}`", chain[at].what));
                diag.message = format!("{what} does not fit what it is given");
            }
            diag.help = diag.help.filter(|help| !is_own(help));
            diag.related.retain(|(span, _)| !self.in_library(*span));
        }
        let chain = &chain[outside.map_or(0, |at| at + 1)..];
        let shown = chain.len();
        for (i, c) in chain.iter().enumerate() {
            // Of a long chain the place of the error and the user's own matter.
            if (i < 2 || i + 2 > shown) && !self.in_library(c.span) {
                diag = diag.related(c.span, format!("in instantiation of `{}`, required from here", c.what));
            }
        }
        // One template says the same in each of its instances.
        let again = |d: &Diagnostic| d.span == diag.span && d.code == diag.code && d.message == diag.message;
        if shown > 0 && self.diags.iter().any(again) {
            return;
        }
        // Warnings take no room from errors.
        let room = if diag.is_error() { &mut self.room } else { &mut self.warning_room };
        if *room > 0 {
            *room -= 1;
            self.diags.push(diag);
        }
    }

    /// Tries something without reporting what fails; whether nothing did.
    fn quietly<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let failed = std::mem::replace(&mut self.failed, false);
        self.quiet += 1;
        let result = what(self);
        self.quiet -= 1;
        let fine = !self.failed;
        self.failed = failed;
        // What was wrong with them is to be told.
        if self.quiet == 0 && !fine {
            self.kept.clear();
        }
        (result, fine)
    }

    /// Whether a place lies in a text of ours rather than the user's.
    fn in_library(&self, span: Span) -> bool {
        span.file.is_common() || self.written == Some(span.file)
    }

    fn var(&self, id: VarId) -> &Variable {
        &self.vars[id.0 as usize]
    }

    fn func(&self, index: FuncIndex) -> &FuncInfo<'a> {
        &self.funcs[index.0 as usize]
    }

    fn func_mut(&mut self, index: FuncIndex) -> &mut FuncInfo<'a> {
        &mut self.funcs[index.0 as usize]
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

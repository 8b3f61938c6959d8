//! The syntax tree to IR: names resolved, types checked, conversions made explicit.
//!
//! Declarations are taken in text order, since C++ lets a name be used only after its declaration. Each expression is
//! first *checked* into a typed tree ([`expressions`]: [`Typed`]), folding constants on the way ([`constants`]), and then
//! *emitted* ([`emit`]). Statements ([`statements`]) do both, one after the other. An error turns its expression into one
//! of error type, about which everything above it stays silent.
//!
//! Nothing of a template is looked at before it is used: an instance is its syntax lowered again, in a scope where its
//! parameters are bound ([`templates`]). Bodies of instances and methods wait in a queue until the function being lowered
//! is done ([`functions`]). A class is a type with a layout ([`classes`]); its objects are places in memory, its values
//! are nodes that are written straight into one.
//!
//! There is a folder for each chapter of the language, with a page of its own. All of them add methods to the
//! [`Lowerer`], whose state is declared here. Names are looked up in [`scopes`], variables are made in [`declarations`],
//! calls choose among functions in [`overloads`], and what only host code has is in [`host`].

mod classes;
mod constants;
mod cursor;
mod declarations;
mod emit;
mod expressions;
mod functions;
mod host;
mod overloads;
mod scopes;
mod statements;
mod templates;

#[cfg(test)]
mod tests;

use super::ast::{
    BaseType, Compound, Expr, Init, Interner, Item, MemberInit, ParamDecl, StructDecl, Symbol, TranslationUnit,
    TypeName,
};
use super::cursor::Cursor;
use super::kernel_calls::KernelCall;
use super::library_cache::Library;
use super::link::{Linkage, Links};
use super::types::{FnTy, StructTy, Ty};
use crate::diagnostic::Diagnostic;
use crate::ir::ahead::Ahead;
use crate::ir::{
    Builder, Const, FuncId, FuncKind, Function, Global, Identity, Label, Local, Module, Shared, Slot, Value,
};
use crate::source::{FileId, SourceMap, Span};
use classes::access;
use classes::definitions::Class;
use expressions::typed_tree::{FuncIndex, TemplateIndex, Typed, VarId};
use functions::identity;
use functions::pointers::Dispatcher;
use functions::usage::Usage;
use host::variables::HostVar;
use overloads::exact_matches::ExactMatches;
use overloads::ranking::Arg;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use scopes::names::{Callable, ScopeId, Scopes, TArg};
use std::collections::VecDeque;
use std::rc::Rc;
use templates::declarations::Template;

/// Most messages of one text; what follows is noise.
const MAX_DIAGNOSTICS: usize = 100;

/// Side of the machine that a function may run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// `__global__`
    Kernel,
    /// `__device__`
    Device,
    /// Neither is given, or `__host__`.
    Host,
    /// `__host__ __device__`
    Both,
}

/// Storage of a variable.
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

/// Work at the end of a scope.
#[derive(Debug, Clone)]
struct Cleanup {
    what: Cleaned,
    /// Flag that says whether there is anything to do, where that depends on the way to the end of the scope.
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
    /// Address of the object.
    object: Local,
    /// Number of its parts that are made; none before the first, and none once the object is there, which is another's business then.
    made: Local,
    /// Parts of it that are to be destroyed: offset and type.
    parts: Rc<[(u32, Ty)]>,
}

/// Landing of exceptions: they go out of the block of its label.
struct Landing {
    label: Label,
    /// Cleanups there, in the order that their objects were made.
    made: Vec<Cleanup>,
    /// Something that can run goes there.
    used: bool,
}

/// Mark of where a scope began: the number of objects there were before, and what was [`FuncState::scope_depth`].
#[derive(Debug, Clone, Copy)]
struct ScopeMark {
    cleanups: usize,
    depth: usize,
}

struct Variable {
    name: Symbol,
    /// Declared type; a reference keeps being one.
    ty: Ty,
    span: Span,
    storage: Storage,
    /// Value, when it is a constant scalar.
    constant: Option<Const>,
    /// The function it belongs to; 0 at namespace scope.
    owner: u32,
}

impl Variable {
    fn is_host(&self) -> bool {
        matches!(self.storage, Storage::Host)
    }
}

/// Role of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    Constructor,
    Destructor,
    Conversion,
}

/// Body of a function as written, with its parameters and the initialisers of members.
#[derive(Clone, Copy)]
struct Body<'a> {
    params: &'a [ParamDecl],
    inits: &'a [MemberInit],
    body: &'a Compound,
    /// No exception leaves it.
    noexcept: bool,
}

/// Progress of the body of a function.
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

/// Use that an instance of a template is made for, and the instance that holds that use.
struct InstanceContext {
    /// `f<float>`
    what: String,
    span: Span,
    outer: Option<Rc<InstanceContext>>,
}

/// A function of the text, from its first declaration on.
struct FuncInfo<'a> {
    name: Symbol,
    /// Name with the struct it belongs to and its template arguments.
    display: String,
    side: Side,
    role: Role,
    params: Vec<Ty>,
    defaults: Vec<Option<&'a Expr>>,
    ret: Ty,
    /// The result as written, while it is `auto` and not known yet.
    auto: Option<Option<&'a TypeName>>,
    /// Place of its name.
    span: Span,
    /// The span from the first specifier to the closing parenthesis.
    whole: Span,
    id: Option<FuncId>,
    defined: bool,
    /// First call.
    called: Option<Span>,
    /// Instance that the call was lowered for.
    called_in: Option<Rc<InstanceContext>>,
    /// Functions that call it and may run on the device.
    callers: Vec<FuncIndex>,
    /// It was refused as a whole; calls of it stay silent.
    broken: bool,
    code: Option<Body<'a>>,
    bounds: &'a [Expr],
    /// The scope its parameters and body are in.
    scope: ScopeId,
    /// Object type that a method runs on.
    this: Option<Ty>,
    constexpr: bool,
    deleted: bool,
    explicit: bool,
    /// Access to it, where it is a method.
    guard: access::Guard,
    progress: Progress,
    /// The template it is an instance of.
    template: Option<(TemplateIndex, Rc<[TArg]>)>,
    context: Option<Rc<InstanceContext>>,
    linkage: Linkage,
    /// Symbol by which other units know it, once it has a handle that they share.
    symbol: Option<Rc<str>>,
}

impl FuncInfo<'_> {
    /// The number of arguments that a call must give.
    fn required(&self) -> usize {
        self.defaults.iter().position(Option::is_some).unwrap_or(self.params.len())
    }
}

/// A construct that `break` or `continue` may leave.
struct Target {
    label: Label,
    kind: TargetKind,
    /// Something that can run breaks out of it.
    broken: bool,
    /// Something that can run continues it.
    continued: bool,
    /// Number of objects that wait for their destructors outside of it.
    cleanups: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    Loop,
    /// `do ... while (0)`: `continue` leaves it too.
    Once,
    Switch,
}

/// State of the function being lowered.
struct FuncState<'a> {
    b: Builder,
    side: Side,
    /// A body is being lowered, rather than something at namespace scope.
    inside: bool,
    /// The function; `None` at namespace scope.
    index: Option<FuncIndex>,
    name: String,
    /// Places being written may not be aligned.
    by_bytes: bool,
    /// The function holds what only this text knows: a function's address, as a number.
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
    /// Number of blocks that were open where the innermost scope of them began.
    scope_depth: usize,
    /// Landings of exceptions, the innermost last. The first is the function's own.
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
struct KnownNames {
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

impl KnownNames {
    fn new(interner: &mut Interner) -> Self {
        let signs = [
            "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||", ",", "!",
            "~", "++", "--", "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=",
        ];
        let operators = signs.into_iter().map(|s| (s, interner.intern(&format!("operator{s}")))).collect();
        KnownNames {
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
    /// File of what was written for the text, which stands in no file of the user's.
    written: Option<FileId>,
    sources: &'a SourceMap,
    interner: &'a Interner,
    known: KnownNames,
    diags: &'a mut Vec<Diagnostic>,
    /// Number of messages that this stage may still add.
    room: usize,
    warning_room: usize,
    /// Depth of trials: above 0, messages are held back, since what fails is only tried.
    quiet: u32,
    /// Something was reported while they were.
    failed: bool,
    /// A warning was reported while they were.
    warned: bool,
    /// Inside how many operands whose type alone is asked for.
    unevaluated: u32,
    module: Module,
    /// True if device code may be contracted.
    fmad: bool,
    /// State that the unit shares with others, and the names of functions that it has bodies for.
    links: Links,
    bodies: HashSet<Symbol>,
    /// Instances of class templates that the text instantiates by `template struct S<int>;`.
    instantiated: Vec<u32>,
    scopes: Scopes<'a>,
    vars: Vec<Variable>,
    funcs: Vec<FuncInfo<'a>>,
    classes: Vec<Class<'a>>,
    class_identities: HashMap<u32, Option<Identity>>,
    /// The user's text may change what the library means; see [`identity`].
    adapts: bool,
    /// The text has handlers of exceptions.
    catches: bool,
    templates: Vec<Template<'a>>,
    vectors: HashMap<&'static str, Rc<StructTy>>,
    /// Constants of enums: the enum's id, the name, the value.
    enum_constants: Vec<(u32, Symbol, Const)>,
    enums: u32,
    /// Places where enums were declared, in order.
    enum_places: Vec<(Span, ScopeId)>,
    /// The namespace that each enum was declared in.
    enum_scopes: Vec<(u32, ScopeId)>,
    /// Obstacle that the last evaluation of a constant stumbled over.
    obstacle_found: Option<(String, Span)>,
    /// Braced lists and overload sets that typed expressions refer to.
    braced: Vec<(&'a [Init], ScopeId)>,
    /// Shapes of their entries, once somebody has asked.
    braced_shapes: HashMap<u32, Option<Rc<[Arg]>>>,
    /// Large sets of functions by the types that they take; a set by its first.
    exact_sets: HashMap<Callable, ExactMatches>,
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
    dispatchers: Vec<Dispatcher>,
    /// Functions that launch kernels by their addresses, by type.
    launchers: Vec<(FnTy, FuncIndex)>,
    /// Variables of the device that may change.
    symbols: HashSet<VarId>,
    /// Places where a warning has said of a name that CUB has it no more.
    removed: HashSet<Span>,
    /// Dynamic shared memory by namespace, text and name: its type, and where it is declared.
    dynamic: HashMap<(ScopeId, FileId, Symbol), (Ty, Span)>,
    any_launcher: Option<FuncIndex>,
    /// Templates are being ordered, for which their constraints are not asked: what stands for their arguments is invented.
    ordering: bool,
    /// Functions that stand for those that are built in, where these are values.
    builtin_values: HashMap<Symbol, Rc<[Callable]>>,
    /// Declarations of variables of the host.
    host_vars: HashMap<VarId, HostVar<'a>>,
    /// Variables that are declared `extern` and not defined so far.
    only_declared: HashSet<VarId>,
    /// Variables of the host that are no constants, in the order they were asked for.
    computed: Vec<VarId>,
    /// Back end that takes kernels while the rest is being lowered.
    ahead: Option<&'a dyn Ahead>,
    /// The kernels that it has not taken yet, and which functions are in the module whole.
    untaken: Vec<FuncId>,
    whole: Vec<bool>,
    /// Functions whose bodies wait: those that only the device runs, and the others.
    device_queue: VecDeque<FuncIndex>,
    queue: VecDeque<FuncIndex>,
    context: Option<Rc<InstanceContext>>,
    instances: u32,
    serials: u32,
    f: FuncState<'a>,
    depth: u32,
    /// The cursor of an editor, and the name that stands at it.
    cursor: Option<(&'a Cursor, Symbol)>,
}

/// Inputs of the lowering of a unit, besides its own text.
pub struct LowerInputs<'s> {
    /// Library as far as it has been read.
    pub library: &'s Library<'s>,
    /// The texts that its places are in.
    pub sources: &'s SourceMap,
    /// Back end that takes kernels meanwhile.
    pub ahead: Option<&'s dyn Ahead>,
    /// Instances of kernels' templates to make besides: `using x = name<...>;` items with the spelling asked for.
    pub wanted: &'s [(String, TranslationUnit)],
    /// Calls whose instances of kernels' templates to make.
    pub calls: &'s [KernelCall],
    /// True if device code may be contracted.
    pub fmad: bool,
    /// The cursor of an editor, and the name that stands at it.
    pub cursor: Option<(&'s Cursor, Symbol)>,
}

/// Lowers a unit after what it reaches of the library, then what of ours stands `after` it, in a file of its own, into the `module` that
/// holds the units before it; what could not be lowered is left out and reported. What the library declares is lowered only where it is
/// used, and the text may declare its names anew.
pub(in crate::front) fn lower(
    inputs: &LowerInputs<'_>,
    unit: &TranslationUnit,
    after: Option<(FileId, &TranslationUnit)>,
    (module, links): (&mut Module, &mut Links),
    interner: &mut Interner,
    diags: &mut Vec<Diagnostic>,
) {
    let written = after.map(|(file, _)| file);
    let mut lowerer = Lowerer::new(inputs.library, unit, written, inputs.sources, interner, diags);
    (lowerer.module, lowerer.links) = (std::mem::take(module), std::mem::take(links));
    lowerer.adapts = lowerer.may_adapt(&unit.items);
    lowerer.catches = lowerer.interner.contains(crate::library::LAND);
    lowerer.ahead = inputs.ahead;
    lowerer.fmad = inputs.fmad;
    lowerer.set_cursor(inputs.cursor);
    if !lowerer.links.is_single() {
        Lowerer::names_with_bodies(&unit.items, &mut lowerer.bodies);
        lowerer.whole = lowerer.whole_before();
    }
    lowerer.open_library();
    lowerer.declarations(&unit.items);
    after.into_iter().for_each(|(_, unit)| lowerer.declarations(&unit.items));
    for (shown, request) in inputs.wanted {
        if let Some(Item::Alias(alias)) = request.items.last()
            && let BaseType::Named(name) = &alias.ty.base
            && lowerer.is_unit_of(name, shown)
        {
            lowerer.wanted_instance(name, shown);
            lowerer.drain();
        }
    }
    for call in inputs.calls {
        lowerer.deduced_instance(call);
        lowerer.drain();
    }
    lowerer.complete_instances();
    lowerer.define_for_others();
    lowerer.finish_host_data();
    lowerer.finish_dispatchers();
    lowerer.ask_other_units();
    lowerer.strip_identities();
    lowerer.note_declared();
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
        let known = KnownNames::new(interner);
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
            fmad: true,
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
            cursor: None,
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
        let chain: Vec<Rc<InstanceContext>> =
            std::iter::successors(self.context.clone(), |c| c.outer.clone()).collect();
        // Errors inside a template of the library are reported at the user's line that uses it.
        let outside = chain.iter().position(|c| !self.in_library(c.span)).filter(|_| self.in_library(diag.span));
        if let Some(at) = outside {
            (diag.span, diag.replacement) = (chain[at].span, None);
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
            // The ends of a long chain matter: the place of the error and the user's own.
            if (i < 2 || i + 2 > shown) && !self.in_library(c.span) {
                diag = diag.related(c.span, format!("in instantiation of `{}`, required from here", c.what));
            }
        }
        // One template says the same in each of its instances, and parameters are declared for the signature and for the body.
        let again = |d: &Diagnostic| d.span == diag.span && d.code == diag.code && d.message == diag.message;
        if self.diags.iter().any(again) {
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
        // The kept expressions are dropped, so that their errors are reported later.
        if self.quiet == 0 && !fine {
            self.kept.clear();
        }
        (result, fine)
    }

    /// The place lies in a text of ours rather than the user's.
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

    /// The text being lowered runs on the device.
    fn on_device(&self) -> bool {
        self.f.inside && self.f.side != Side::Host
    }

    /// The builder, its values to come from `span`.
    fn at(&mut self, span: Span) -> &mut Builder {
        self.f.b.span = span;
        &mut self.f.b
    }
}

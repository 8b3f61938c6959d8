//! Linking: what the translation units of one program have in common, as a linker joins object files.
//!
//! Every unit is lowered alone, with its own macros, names and types, into one [`Module`]. A function or variable with external linkage has a
//! *symbol*: its name with namespaces, classes, parameters and template arguments. What a unit only declares gets a handle without a body,
//! and the unit that defines the symbol fills it in, whichever comes first. Names that are `static`, in a namespace without a name, or
//! constants have no symbol, so each unit keeps its own ([basic.link]).
//!
//! An `inline` function and an instance of a template may be in several units. Each unit runs the body that it has itself, so that what
//! breaks the one-definition rule ([basic.def.odr]) stays what the file says; the variables they keep between calls are one. So it is with
//! functions and variables of the device, as in whole-program compilation (CUDA's compiler driver manual, "Separate Compilation"):
//! another unit may use them as long as one unit alone defines them. Functions of the library are the same in every unit by their
//! [`Identity`].
//!
//! A declaration's handle is filled in by the unit that defines its symbol, so no code is rewritten and addresses need no relocation. Two
//! definitions, and symbols that no unit defines, are errors that name both places. `load_inline` puts its registrations behind the C++
//! source, as torch does.

use std::rc::Rc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::ast::Symbol;
use super::lexer::TokenKind;
use super::types::FnTy;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    Block, Builder, Case, FuncId, Function, Global, GlobalData, Identity, Module, Op, Param, ParamType, Scalar, Stmt,
    Stride, Type, Value,
};
use crate::source::Span;

/// Grid, block, and bytes of shared memory of a launch.
pub(super) const CONFIG: usize = 7;

/// Linkage of a function: who knows it beyond its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Linkage {
    /// Its unit alone knows it: `static`, lambdas, what is made for the unit.
    Internal,
    /// Several units may define it: `inline`, `constexpr`, members defined in their class.
    Inline,
    /// One unit defines it.
    External,
    /// The same as [`Linkage::External`], by its plain name: `extern "C"`.
    C,
}

/// A place in a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnitPlace {
    /// The unit, counted from 0.
    pub unit: u32,
    /// Place in that unit.
    pub span: Span,
}

/// Use of a symbol that its unit does not define.
#[derive(Debug, Clone)]
struct UndefinedUse {
    /// The use.
    used: Span,
    /// The declaration there.
    declared: Span,
    /// The name as the user wrote it.
    name: String,
}

/// A symbol.
#[derive(Debug, Clone)]
struct LinkedSymbol<T> {
    /// The function or variable that it means.
    handle: T,
    /// Type of the variable or of the function's result, which all units must agree on, and where that was said first.
    ty: (String, Span),
    /// The definition.
    defined: Option<UnitPlace>,
    /// A second definition, where each unit keeps its own.
    again: Option<UnitPlace>,
    /// The first use in a unit that does not define it.
    undefined: Option<UndefinedUse>,
}

/// Meaning of a symbol, as a unit finds it.
pub(super) enum SymbolMeaning<T> {
    /// Nobody has named it.
    Nothing,
    /// Meaning of it.
    Known(T),
    /// It means this, and another unit's declaration there says another type.
    Otherwise(T, String, Span),
}

/// Amounts of everything there was before a unit: it may be read again.
#[derive(Debug, Clone, Default)]
struct UnitStart {
    functions: usize,
    globals: usize,
    shared: usize,
    formats: usize,
    templates: usize,
    deduced: usize,
    addressed: usize,
}

/// A function that calls or launches what a pointer points at, among all functions whose address is taken.
#[derive(Debug, Clone)]
struct Chooser {
    func: FuncId,
    /// Signature of the functions of its type; `None` for a launch of any kernel.
    signature: Option<u64>,
    launches: bool,
}

/// A function whose address is taken as a number.
#[derive(Debug, Clone)]
struct Addressed {
    func: FuncId,
    signature: u64,
    is_kernel: bool,
}

/// State that units have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Links {
    /// Number of units.
    units: u32,
    /// The one being lowered.
    unit: u32,
    /// The names in each, where there are several.
    mentions: Rc<[HashSet<Symbol>]>,
    functions: HashMap<String, LinkedSymbol<FuncId>>,
    variables: HashMap<String, LinkedSymbol<Global>>,
    /// Functions of the library that are in the module.
    library: HashMap<Identity, FuncId>,
    /// Layouts of structs that cross units, by symbol.
    layouts: HashMap<String, (String, Span)>,
    choosers: Vec<Chooser>,
    addressed: Vec<Addressed>,
    /// Errors about what units say differently. No unit can do without it.
    errors: Vec<Diagnostic>,
    /// Functions of earlier units' declarations that this unit has filled in, as they were.
    filled: Vec<(FuncId, Function)>,
    /// Variables, likewise.
    set: Vec<(Global, GlobalData)>,
    mark: UnitStart,
}

/// The state before a unit, to go back to.
pub(super) struct Before(Links);

impl Links {
    /// The state of a program of units with these tokens.
    pub fn of(units: &[super::options::Unit]) -> Self {
        let names = |(_, tokens): &super::options::Unit| {
            tokens.iter().filter(|t| t.kind == TokenKind::Ident).map(|t| t.symbol).collect()
        };
        let mentions = if units.len() < 2 { Vec::new() } else { units.iter().map(names).collect() };
        Links { units: units.len() as u32, mentions: mentions.into(), ..Links::default() }
    }

    /// Another unit has the name.
    pub fn is_mentioned_elsewhere(&self, name: Symbol) -> bool {
        let others = self.mentions.iter().enumerate().filter(|(unit, _)| *unit as u32 != self.unit);
        others.into_iter().any(|(_, names)| names.contains(&name))
    }

    /// No unit comes after this one.
    pub fn is_last(&self) -> bool {
        self.unit + 1 >= self.units
    }

    /// The program has one unit alone.
    pub fn is_single(&self) -> bool {
        self.units < 2
    }

    /// Begins a unit.
    pub fn begin(&mut self, unit: usize, module: &Module) -> Before {
        self.unit = unit as u32;
        self.mark = UnitStart {
            functions: module.functions.len(),
            globals: module.globals.len(),
            shared: module.shared.len(),
            formats: module.formats.len(),
            templates: module.templates.len(),
            deduced: module.deduced.len(),
            addressed: module.addressed.len(),
        };
        (self.filled, self.set) = (Vec::new(), Vec::new());
        Before(self.clone())
    }

    /// Takes back what has been made of the unit.
    pub fn restart(&mut self, before: &Before, module: &mut Module) {
        for (func, was) in self.filled.drain(..) {
            module.functions[func.index()] = was;
        }
        for (global, was) in self.set.drain(..) {
            module.globals[global.index()] = was;
        }
        *self = before.0.clone();
        let mark = &self.mark;
        module.functions.truncate(mark.functions);
        module.globals.truncate(mark.globals);
        module.shared.truncate(mark.shared);
        module.formats.truncate(mark.formats);
        module.templates.truncate(mark.templates);
        module.deduced.truncate(mark.deduced);
        module.addressed.truncate(mark.addressed);
    }

    /// The number of functions that there were before the unit.
    pub fn first_function(&self) -> usize {
        self.mark.functions
    }

    /// The meaning of a symbol; `ty` is what this unit says of its result or type, at `span`.
    pub fn function(&self, symbol: &str, ty: &str) -> SymbolMeaning<FuncId> {
        find(&self.functions, symbol, ty)
    }

    /// The same as [`Self::function`], for a variable.
    pub fn variable(&self, symbol: &str, ty: &str) -> SymbolMeaning<Global> {
        find(&self.variables, symbol, ty)
    }

    /// Enters a function by its symbol.
    pub fn add_function(&mut self, symbol: &str, handle: FuncId, ty: String, span: Span) {
        let entry = LinkedSymbol { handle, ty: (ty, span), defined: None, again: None, undefined: None };
        self.functions.insert(symbol.to_owned(), entry);
    }

    /// Enters a variable by its symbol.
    pub fn add_variable(&mut self, symbol: &str, handle: Global, ty: String, span: Span) {
        let entry = LinkedSymbol { handle, ty: (ty, span), defined: None, again: None, undefined: None };
        self.variables.insert(symbol.to_owned(), entry);
    }

    /// The place where another unit defines a function.
    pub fn function_defined(&self, symbol: &str) -> Option<UnitPlace> {
        self.functions.get(symbol)?.defined.filter(|place| place.unit != self.unit)
    }

    /// The place where another unit defines a variable.
    pub fn variable_defined(&self, symbol: &str) -> Option<UnitPlace> {
        self.variables.get(symbol)?.defined.filter(|place| place.unit != self.unit)
    }

    /// Notes that this unit defines a function.
    pub fn define_function(&mut self, symbol: &str, span: Span, module: &Module) {
        let place = UnitPlace { unit: self.unit, span };
        if let Some(entry) = self.functions.get_mut(symbol) {
            entry.defined.get_or_insert(place);
            if entry.handle.index() < self.mark.functions {
                self.filled.push((entry.handle, module.functions[entry.handle.index()].clone()));
            }
        }
    }

    /// Notes that this unit defines a variable; it is set with the data given, where it has been made already.
    pub fn define_variable(&mut self, symbol: &str, span: Span) {
        let place = UnitPlace { unit: self.unit, span };
        if let Some(entry) = self.variables.get_mut(symbol) {
            entry.defined.get_or_insert(place);
        }
    }

    /// Gives a variable that was only declared its data.
    pub fn set_variable(&mut self, global: Global, data: GlobalData, module: &mut Module) {
        let was = std::mem::replace(&mut module.globals[global.index()], data);
        if global.index() < self.mark.globals {
            self.set.push((global, was));
        }
    }

    /// Notes that this unit has its own of a function that another unit defines, too.
    pub fn own_function(&mut self, symbol: &str, span: Span) {
        let place = UnitPlace { unit: self.unit, span };
        if let Some(entry) = self.functions.get_mut(symbol) {
            entry.again.get_or_insert(place);
        }
    }

    /// Notes that this unit has its own of a variable that another unit defines, too.
    pub fn own_variable(&mut self, symbol: &str, span: Span) {
        let place = UnitPlace { unit: self.unit, span };
        if let Some(entry) = self.variables.get_mut(symbol) {
            entry.again.get_or_insert(place);
        }
    }

    /// Notes that this unit uses a function which it does not define.
    pub fn ask_function(&mut self, symbol: &str, used: Span, declared: Span, name: String) {
        if let Some(entry) = self.functions.get_mut(symbol) {
            entry.undefined.get_or_insert(UndefinedUse { used, declared, name });
        }
    }

    /// Notes that this unit declares a variable which it does not define.
    pub fn ask_variable(&mut self, symbol: &str, declared: Span, name: String) {
        if let Some(entry) = self.variables.get_mut(symbol) {
            entry.undefined.get_or_insert(UndefinedUse { used: declared, declared, name });
        }
    }

    /// Errors about variables that functions use where no unit, or more than one, defines them.
    pub fn missing_variables(&self, module: &Module) -> Vec<Diagnostic> {
        let mut open: Vec<LinkedSymbol<Global>> = Vec::new();
        let is_open = |e: &&LinkedSymbol<Global>| e.undefined.is_some() && (e.defined.is_none() || e.again.is_some());
        open.extend(self.variables.values().filter(is_open).cloned());
        if open.is_empty() {
            return Vec::new();
        }
        let mut uses: HashMap<Global, Span> = HashMap::default();
        for func in &module.functions {
            global_uses(&func.body, &mut |global, span| _ = uses.entry(global).or_insert(span));
        }
        open.retain_mut(|entry| {
            let used = uses.get(&entry.handle).copied();
            if let (Some(undefined), Some(used)) = (&mut entry.undefined, used) {
                undefined.used = used;
            }
            used.is_some()
        });
        let mut missing = Vec::new();
        let what = |name: &str| format!("`{name}` is declared `extern`, and nothing defines it");
        open.iter().for_each(|entry| unresolved(entry, what, &mut missing));
        missing.sort_by_key(|diag: &Diagnostic| (diag.span.file.0, diag.span.start));
        missing
    }

    /// The function of the library that an earlier unit has, too.
    pub fn library(&self, identity: Identity) -> Option<FuncId> {
        self.library.get(&identity).copied()
    }

    /// Enters a function of the library.
    pub fn add_library(&mut self, identity: Identity, func: FuncId) {
        self.library.entry(identity).or_insert(func);
    }

    /// Holds the layout of a struct that units pass one another against what an earlier unit says; where that was, if it differs.
    pub fn layout(&mut self, symbol: &str, layout: String, span: Span) -> Option<Span> {
        match self.layouts.get(symbol) {
            Some((known, place)) => (*known != layout).then_some(*place),
            None => {
                self.layouts.insert(symbol.to_owned(), (layout, span));
                None
            }
        }
    }

    /// Enters a function that calls or launches what pointers of a type point at.
    pub fn add_chooser(&mut self, func: FuncId, signature: Option<u64>, launches: bool) {
        self.choosers.push(Chooser { func, signature, launches });
    }

    /// Enters a function whose address is taken as a number.
    pub fn add_addressed(&mut self, func: FuncId, signature: u64, is_kernel: bool) {
        if !self.addressed.iter().any(|known| known.func == func) {
            self.addressed.push(Addressed { func, signature, is_kernel });
        }
    }

    /// Reports what two units say differently.
    pub fn report(&mut self, diag: Diagnostic) {
        self.errors.push(diag);
    }

    /// Ends the program: symbols that no unit defines are reported, and functions that choose get their bodies.
    pub fn finish(&mut self, module: &mut Module, diags: &mut Vec<Diagnostic>) {
        diags.append(&mut self.errors);
        let mut missing = Vec::new();
        let what = |name: &str| format!("`{name}` is called, and has no body");
        self.functions.values().for_each(|entry| unresolved(entry, what, &mut missing));
        missing.sort_by_key(|diag: &Diagnostic| (diag.span.file.0, diag.span.start));
        diags.extend(missing);
        if !self.is_single() {
            diags.extend(self.missing_variables(module));
        }
        for chooser in std::mem::take(&mut self.choosers) {
            self.choose(&chooser, module);
        }
    }

    /// Writes the body of a function that chooses.
    fn choose(&self, chooser: &Chooser, module: &mut Module) {
        let func = module.functions[chooser.func.index()].clone();
        let (ret, count, span) = (func.ret, func.params.len(), func.span);
        let mut b = Builder::new(func);
        b.span = span;
        let given: Vec<Value> = (0..count).map(|i| b.bind(b.func.params[i].ty.ty(), Op::Param(i as u32))).collect();
        let number = b.bind(Scalar::U64, Op::PtrToInt(given[0]));
        let label = b.func.new_label();
        let mut cases = Vec::new();
        let fits = |a: &&Addressed| {
            a.is_kernel == chooser.launches && chooser.signature.is_none_or(|signature| signature == a.signature)
        };
        for target in self.addressed.iter().filter(fits) {
            b.open();
            let result = ret.map(|ty| b.func.new_value(ty, span));
            match (given[1..].split_first_chunk::<CONFIG>(), chooser.signature) {
                (Some((config, [places])), None) => {
                    let params: Vec<ParamType> = module.func(target.func).params.iter().map(|p| p.ty).collect();
                    let args = params.iter().enumerate().map(|(i, ty)| argument(&mut b, *places, i, *ty)).collect();
                    b.push(Stmt::Launch { kernel: target.func, config: *config, args });
                }
                (Some((config, args)), Some(_)) if chooser.launches => {
                    b.push(Stmt::Launch { kernel: target.func, config: *config, args: args.to_vec() });
                }
                _ => b.push(Stmt::Call { result, func: target.func, args: given[1..].to_vec(), raised: None }),
            }
            b.push(Stmt::Return(result));
            let body = b.close();
            cases.push(Case { values: vec![target.func.address()], default: false, body, falls_through: false });
        }
        if !cases.is_empty() {
            b.push(Stmt::Switch { label, value: number, cases });
        }
        b.push(Stmt::Trap);
        module.functions[chooser.func.index()] = b.finish();
    }
}

/// An argument of a launch whose arguments' addresses lie one behind the other.
fn argument(b: &mut Builder, places: Value, i: usize, ty: ParamType) -> Value {
    let at = b.offset(places, 8 * i as i64, Stride::Bytes(1));
    let place = b.load(at, Type::Ptr, false);
    match ty {
        ParamType::Bytes { .. } => place,
        ty => b.load(place, ty.ty(), false),
    }
}

fn find<T: Copy>(all: &HashMap<String, LinkedSymbol<T>>, symbol: &str, ty: &str) -> SymbolMeaning<T> {
    match all.get(symbol) {
        None => SymbolMeaning::Nothing,
        Some(entry) if entry.ty.0 == ty => SymbolMeaning::Known(entry.handle),
        Some(entry) => SymbolMeaning::Otherwise(entry.handle, entry.ty.0.clone(), entry.ty.1),
    }
}

/// Reports a symbol that is used where nobody, or more than one unit, defines it.
fn unresolved<T>(entry: &LinkedSymbol<T>, missing: impl Fn(&str) -> String, out: &mut Vec<Diagnostic>) {
    let Some(undefined) = &entry.undefined else { return };
    match (entry.defined, entry.again) {
        (None, _) => {
            let help = format!("define `{}` in one of the files", undefined.name);
            let diag = Diagnostic::error(Code::Incomplete, undefined.used, missing(&undefined.name));
            out.push(diag.related(undefined.declared, "only declared here").help(help));
        }
        (Some(first), Some(second)) => {
            let message = format!("`{}` is used here, and two other files define it", undefined.name);
            let diag = Diagnostic::error(Code::Redefinition, undefined.used, message);
            let diag = diag.related(first.span, "defined here").related(second.span, "and here");
            out.push(diag.help("make it `static` in one of them"));
        }
        (Some(_), None) => {}
    }
}

/// Calls `f` with the variables whose address is taken in a block, and where.
fn global_uses(block: &Block, f: &mut impl FnMut(Global, Span)) {
    for (stmt, span) in block.iter() {
        if let Stmt::Let(_, Op::GlobalAddr(global)) = stmt {
            f(*global, span);
        }
        stmt.blocks().into_iter().for_each(|inner| global_uses(inner, f));
    }
}

/// The parameters of a function that chooses: the pointer, for launches their extents, then those of the type.
pub(super) fn chooser_params(ty: &FnTy, launches: bool, span: Span) -> Vec<Param> {
    let mut types = vec![ParamType::Ptr { elem: None, is_const: false }];
    if launches {
        types.extend(vec![ParamType::Scalar(Scalar::U32); CONFIG - 1]);
        types.push(ParamType::Scalar(Scalar::U64));
    }
    types.extend(ty.params.iter().map(param_type));
    if ty.ret.is_struct() {
        types.push(ParamType::Ptr { elem: ty.ret.uniform().map(crate::ir::Elem::from), is_const: false });
    }
    types.into_iter().enumerate().map(|(i, ty)| Param::new(format!("arg{i}"), ty, span)).collect()
}

/// The type by which a function that is only passed on takes a parameter.
pub(super) fn param_type(ty: &super::types::Ty) -> ParamType {
    match ty.ir() {
        Some(Type::Scalar(s)) => ParamType::Scalar(s),
        _ => ParamType::Ptr { elem: None, is_const: false },
    }
}

/// A body that calls another function with the same parameters.
pub(super) fn forward(func: Function, to: FuncId) -> Function {
    let (ret, count, span) = (func.ret, func.params.len(), func.span);
    let mut b = Builder::new(func);
    b.span = span;
    let args = (0..count).map(|i| b.bind(b.func.params[i].ty.ty(), Op::Param(i as u32))).collect();
    let result = ret.map(|ty| b.func.new_value(ty, span));
    b.push(Stmt::Call { result, func: to, args, raised: None });
    b.push(Stmt::Return(result));
    b.finish()
}

/// The function is there to be called: it has a body, or is known from before.
pub(super) fn has_body(func: &Function) -> bool {
    !func.body.is_empty() || func.kept.is_some()
}

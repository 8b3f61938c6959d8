//! Names as declared so far: C++ cannot be parsed without knowing which names are types, and which are templates.

use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

use crate::front::ast::{Interner, Symbol};

/// Most names and scopes that re-entering a scope brings back; names beyond them are read as unknown ones.
const MAX_REOPENED: usize = 4096;

/// Kind of thing that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum NameKind {
    /// Never looked up.
    #[default]
    Unseen,
    /// Nothing declares it.
    Free,
    /// A type: built in, or by `typedef`, `using`, `enum`, `struct`, or a template parameter.
    Type,
    /// A variable, parameter, function or enumerator.
    Value,
    /// A concept: a template that makes a truth value.
    Concept,
    /// A namespace that the text declares.
    Namespace,
}

/// A scope that can be entered again or named: a namespace or a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameScopeId(u32);

/// All that is known of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct NameEntry {
    pub kind: NameKind,
    /// `<` after it starts template arguments.
    pub template: bool,
    /// Scope that `name::` reaches.
    pub scope: Option<NameScopeId>,
}

impl NameEntry {
    /// A name that is no template and no scope.
    pub fn plain(kind: NameKind) -> Self {
        NameEntry { kind, template: false, scope: None }
    }
}

#[derive(Debug, Clone, Default)]
struct NameScope {
    /// A struct whose members have been read.
    complete: bool,
    members: HashMap<Symbol, NameEntry>,
    bases: Vec<NameScopeId>,
}

#[derive(Debug, Clone)]
struct NameFrame {
    /// Start of its part of the undo log.
    mark: usize,
    /// Scope in which its names stay known after it ends.
    scope: Option<NameScopeId>,
    /// It holds a template's parameters only: what the template declares belongs outside.
    params: bool,
}

/// Scoped declarations: what each symbol means now, and what to restore when scopes end.
#[derive(Debug, Clone, Default)]
pub struct DeclaredNames {
    entries: Vec<NameEntry>,
    undo: Vec<(Symbol, NameEntry)>,
    frames: Vec<NameFrame>,
    /// Shared with the texts that follow, until one changes them.
    scopes: Vec<Arc<NameScope>>,
    globals: HashMap<Symbol, NameEntry>,
}

impl DeclaredNames {
    /// The names that a text knows which follows the texts that declared these, and reaches `reached` of them.
    pub fn reached(&self, reached: impl Iterator<Item = Symbol>) -> DeclaredNames {
        let mut names = DeclaredNames {
            entries: vec![NameEntry::default(); self.entries.len()],
            scopes: self.scopes.clone(),
            ..DeclaredNames::default()
        };
        for symbol in reached {
            if let Some(entry) = self.globals.get(&symbol) {
                *names.entry(symbol) = *entry;
                names.globals.insert(symbol, *entry);
            }
        }
        names
    }

    /// The kind of a name here.
    pub(super) fn kind(&mut self, symbol: Symbol, interner: &Interner) -> NameKind {
        self.lookup(symbol, interner).kind
    }

    /// All that is known of a name here.
    pub(super) fn lookup(&mut self, symbol: Symbol, interner: &Interner) -> NameEntry {
        let entry = self.entry(symbol);
        if entry.kind == NameKind::Unseen {
            entry.kind = if is_builtin_type(interner.name(symbol)) { NameKind::Type } else { NameKind::Free };
        }
        *entry
    }

    /// The entry of a name in a scope, its bases included.
    pub(super) fn member(&self, scope: NameScopeId, symbol: Symbol) -> Option<NameEntry> {
        let mut found = None;
        self.visit(scope, &mut |scope| {
            found = scope.members.get(&symbol).copied();
            found.is_none()
        });
        found
    }

    /// The entry of `::name`.
    pub(super) fn global(&self, symbol: Symbol) -> Option<NameEntry> {
        self.globals.get(&symbol).copied()
    }

    /// Declares a name until the current scope ends; what a template declares outlives the template's parameters.
    pub(super) fn declare(&mut self, symbol: Symbol, kind: NameKind) {
        self.declare_entry(symbol, NameEntry::plain(kind));
    }

    /// [`DeclaredNames::declare`] with all that is known.
    pub(super) fn declare_entry(&mut self, symbol: Symbol, entry: NameEntry) {
        let frame = self.frames.iter().rposition(|f| !f.params);
        let above = frame.map_or(0, |f| f + 1);
        let at = self.frames.get(above).map_or(self.undo.len(), |f| f.mark);
        let old = std::mem::replace(self.entry(symbol), entry);
        self.undo.insert(at, (symbol, old));
        self.frames[above..].iter_mut().for_each(|f| f.mark += 1);
        match frame {
            None => {
                self.globals.insert(symbol, entry);
            }
            Some(frame) => {
                if let Some(scope) = self.frames[frame].scope {
                    self.scope_mut(scope).members.insert(symbol, entry);
                }
            }
        }
    }

    /// Declares a function; a name stays a template once one of its overloads is.
    pub(super) fn declare_function(&mut self, symbol: Symbol, template: bool, interner: &Interner) {
        let old = self.lookup(symbol, interner);
        let template = template || old.kind == NameKind::Value && old.template;
        self.declare_entry(symbol, NameEntry { kind: NameKind::Value, template, scope: None });
    }

    /// Declares a parameter of the template whose head is being read.
    pub(super) fn declare_param(&mut self, symbol: Symbol, kind: NameKind, template: bool) {
        let entry = NameEntry { kind, template, scope: None };
        let old = std::mem::replace(self.entry(symbol), entry);
        self.undo.push((symbol, old));
    }

    /// A point in time, for [`DeclaredNames::declared_since`].
    pub(super) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Names declared since `mark` in scopes that are still open.
    pub(super) fn declared_since(&self, mark: usize) -> impl Iterator<Item = Symbol> {
        self.undo.iter().skip(mark).map(|&(symbol, _)| symbol)
    }

    /// Opens a scope.
    pub(super) fn open(&mut self) {
        self.frames.push(NameFrame { mark: self.undo.len(), scope: None, params: false });
    }

    /// Opens the scope of a template's parameters.
    pub(super) fn open_params(&mut self) {
        self.frames.push(NameFrame { mark: self.undo.len(), scope: None, params: true });
    }

    /// Makes a scope that can be entered several times.
    pub(super) fn new_scope(&mut self) -> NameScopeId {
        self.scopes.push(Arc::default());
        NameScopeId(self.scopes.len() as u32 - 1)
    }

    /// Opens a scope that has been open before, or is new.
    pub(super) fn reopen(&mut self, scope: NameScopeId) {
        self.frames.push(NameFrame { mark: self.undo.len(), scope: Some(scope), params: false });
        self.import(scope);
    }

    /// Makes the names of a scope known in the current one.
    pub(super) fn import(&mut self, scope: NameScopeId) {
        let mut found: Vec<(Symbol, NameEntry)> = Vec::new();
        self.visit(scope, &mut |scope| {
            found.extend(scope.members.iter().map(|(&s, &e)| (s, e)).take(MAX_REOPENED.saturating_sub(found.len())));
            found.len() < MAX_REOPENED
        });
        // Nearer scopes come first and win.
        for (symbol, entry) in found.into_iter().rev() {
            let old = std::mem::replace(self.entry(symbol), entry);
            self.undo.push((symbol, old));
        }
    }

    /// `using namespace`: makes the names of a scope known here, and reached through this namespace, too.
    pub(super) fn use_namespace(&mut self, scope: NameScopeId) {
        if let Some(here) = self.frames.last().and_then(|frame| frame.scope).filter(|here| *here != scope) {
            self.add_base(here, scope);
        }
        self.import(scope);
    }

    /// Makes the names of a scope members of the current one: inline namespaces, enums without names.
    pub(super) fn merge(&mut self, scope: NameScopeId) {
        let members: Vec<(Symbol, NameEntry)> =
            self.scopes[scope.0 as usize].members.iter().map(|(&s, &e)| (s, e)).collect();
        for (symbol, entry) in members {
            self.declare_entry(symbol, entry);
        }
    }

    /// Notes that the members of a struct have been read.
    pub(super) fn complete(&mut self, scope: NameScopeId) {
        self.scope_mut(scope).complete = true;
    }

    /// The members of the struct have been read.
    pub(super) fn is_complete(&self, scope: NameScopeId) -> bool {
        self.scopes[scope.0 as usize].complete
    }

    /// Adds a base to a struct's scope.
    pub(super) fn add_base(&mut self, scope: NameScopeId, base: NameScopeId) {
        self.scope_mut(scope).bases.push(base);
    }

    fn scope_mut(&mut self, scope: NameScopeId) -> &mut NameScope {
        Arc::make_mut(&mut self.scopes[scope.0 as usize])
    }

    /// Visits a scope and its bases, nearest first, until told to stop; each once.
    fn visit<'s>(&'s self, scope: NameScopeId, visit: &mut dyn FnMut(&'s NameScope) -> bool) {
        let mut queue = vec![scope];
        let mut at = 0;
        while let Some(&id) = queue.get(at) {
            at += 1;
            let Some(scope) = self.scopes.get(id.0 as usize) else { continue };
            if !visit(scope) || at > 64 {
                return;
            }
            for &base in scope.bases.iter().take(64) {
                if !queue.contains(&base) {
                    queue.push(base);
                }
            }
        }
    }

    /// Ends the innermost scope.
    pub(super) fn close(&mut self) {
        let mark = self.frames.pop().map_or(0, |f| f.mark);
        while self.undo.len() > mark {
            if let Some((symbol, old)) = self.undo.pop() {
                *self.entry(symbol) = old;
            }
        }
    }

    fn entry(&mut self, symbol: Symbol) -> &mut NameEntry {
        let index = symbol.0 as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 64, NameEntry::default());
        }
        &mut self.entries[index]
    }
}

/// Types that need no declaration: the C library's, CUDA's vectors and halves, and handles of the host's API.
pub(super) fn is_builtin_type(name: &str) -> bool {
    match name {
        "size_t"
        | "ssize_t"
        | "ptrdiff_t"
        | "intptr_t"
        | "uintptr_t"
        | "intmax_t"
        | "uintmax_t"
        | "clock_t"
        | "nullptr_t"
        | "uchar"
        | "ushort"
        | "uint"
        | "ulong"
        | "dim3"
        | "half"
        | "half2"
        | "__half"
        | "__half2"
        | "nv_bfloat16"
        | "nv_bfloat162"
        | "__nv_bfloat16"
        | "__nv_bfloat162"
        | "__nv_fp8_e4m3"
        | "__nv_fp8_e5m2"
        | "cudaStream_t"
        | "cudaError_t"
        | "cudaEvent_t"
        | "cudaTextureObject_t"
        | "cudaSurfaceObject_t" => true,
        _ => is_sized_integer(name) || is_vector(name),
    }
}

/// `int8_t`, `uint_fast32_t`, `int_least64_t`, ...
fn is_sized_integer(name: &str) -> bool {
    let Some(rest) = name.strip_suffix("_t") else { return false };
    let rest = rest.strip_prefix('u').unwrap_or(rest);
    let Some(rest) = rest.strip_prefix("int") else { return false };
    let width = rest.strip_prefix("_fast").or_else(|| rest.strip_prefix("_least")).unwrap_or(rest);
    matches!(width, "8" | "16" | "32" | "64")
}

/// `float4`, `uchar3`, `longlong2`, ...
fn is_vector(name: &str) -> bool {
    let Some(scalar) = name.strip_suffix(['1', '2', '3', '4']) else { return false };
    matches!(
        scalar,
        "char"
            | "uchar"
            | "short"
            | "ushort"
            | "int"
            | "uint"
            | "long"
            | "ulong"
            | "longlong"
            | "ulonglong"
            | "float"
            | "double"
    )
}

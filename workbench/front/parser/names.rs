//! What names mean while parsing: C++ cannot be parsed without knowing which names are types.

use crate::front::ast::{Interner, Symbol};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum NameKind {
    /// Never looked up.
    #[default]
    Unseen,
    /// Nothing declares it.
    Free,
    /// A type: built in, or by `typedef`, `using`, `enum`.
    Type,
    /// A variable, parameter, function or enumerator.
    Value,
    /// A namespace that the text declares.
    Namespace,
}

/// Scoped declarations: kinds by symbol, and what to restore when scopes end.
#[derive(Debug, Default)]
pub(super) struct Names {
    kinds: Vec<NameKind>,
    undo: Vec<(Symbol, NameKind)>,
    scopes: Vec<usize>,
}

impl Names {
    /// What a name stands for here.
    pub fn kind(&mut self, symbol: Symbol, interner: &Interner) -> NameKind {
        let entry = self.entry(symbol);
        if *entry == NameKind::Unseen {
            *entry = if is_builtin_type(interner.name(symbol)) { NameKind::Type } else { NameKind::Free };
        }
        *entry
    }

    /// Declares a name until the current scope ends.
    pub fn declare(&mut self, symbol: Symbol, kind: NameKind) {
        let old = std::mem::replace(self.entry(symbol), kind);
        self.undo.push((symbol, old));
    }

    /// A point in time, for [`Names::declared_since`].
    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Names declared since `mark` in scopes that are still open.
    pub fn declared_since(&self, mark: usize) -> impl Iterator<Item = Symbol> {
        self.undo.iter().skip(mark).map(|&(symbol, _)| symbol)
    }

    /// Opens a scope.
    pub fn open(&mut self) {
        self.scopes.push(self.undo.len());
    }

    /// Ends the innermost scope.
    pub fn close(&mut self) {
        let mark = self.scopes.pop().unwrap_or(0);
        while self.undo.len() > mark {
            if let Some((symbol, old)) = self.undo.pop() {
                *self.entry(symbol) = old;
            }
        }
    }

    fn entry(&mut self, symbol: Symbol) -> &mut NameKind {
        let index = symbol.0 as usize;
        if index >= self.kinds.len() {
            self.kinds.resize(index + 64, NameKind::Unseen);
        }
        &mut self.kinds[index]
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

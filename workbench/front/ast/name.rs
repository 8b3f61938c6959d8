//! Names and types.

use std::sync::Arc;

use super::{Expr, Interner, ParamDecl, StructDecl, Symbol, TemplateHead};
use crate::source::Span;

/// One identifier where it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// Place of the identifier.
    pub span: Span,
}

/// A name, qualified or not: `n`, `std::max`, `E::A`, `S<float>::value`, `::f`. It has at least one part.
///
/// Functions called by sign are plain parts: `operator+`, `operator()`, `operator[]`, `operator new`; a conversion is
/// `operator` and the type's text; a destructor is `~S`.
#[derive(Debug, Clone)]
pub struct Name {
    /// It starts with `::`.
    pub global: bool,
    /// The parts between `::`, outermost first.
    pub parts: Vec<NamePart>,
    /// All of it.
    pub span: Span,
}

/// One part of a [`Name`].
#[derive(Debug, Clone)]
pub struct NamePart {
    /// The identifier.
    pub ident: Ident,
    /// `< ... >` after it; `Some` of nothing for `<>`.
    pub args: Option<Arc<[TemplateArg]>>,
}

impl NamePart {
    /// The part has no template arguments.
    pub fn is_plain(&self) -> bool {
        self.args.is_none()
    }
}

impl From<Ident> for Name {
    fn from(ident: Ident) -> Self {
        Name { global: false, parts: vec![NamePart { ident, args: None }], span: ident.span }
    }
}

impl Name {
    /// The identifier of a name that is nothing else: neither qualified nor with template arguments.
    pub fn simple(&self) -> Option<Ident> {
        match self.parts.as_slice() {
            [part] if !self.global && part.is_plain() => Some(part.ident),
            _ => None,
        }
    }

    /// The last identifier.
    pub fn last(&self) -> Ident {
        self.last_part().ident
    }

    /// The last part.
    pub fn last_part(&self) -> &NamePart {
        self.parts.last().expect("the parser makes no name without parts")
    }

    /// The parts before the last one.
    pub fn qualifiers(&self) -> &[NamePart] {
        &self.parts[..self.parts.len().saturating_sub(1)]
    }

    /// The identifiers joined by `::`, template arguments left out.
    pub fn path(&self, interner: &Interner) -> String {
        let mut out = String::new();
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                out.push_str("::");
            }
            out.push_str(interner.name(part.ident.name));
        }
        out
    }
}

/// One template argument.
#[derive(Debug, Clone)]
pub struct TemplateArg {
    /// Sort of argument.
    pub kind: TemplateArgKind,
    /// `...` follows: a pack is expanded.
    pub pack: bool,
    /// Place of the argument.
    pub span: Span,
}

/// Sorts of template arguments.
#[derive(Debug, Clone)]
pub enum TemplateArgKind {
    /// Argument written as a type.
    Type(TypeName),
    /// All else. A plain name that nothing known declares stands here, too ([`super::ExprKind::Name`]): it may turn out to be
    /// a type or a template.
    Expr(Expr),
}

/// The named part of a type.
#[derive(Debug, Clone)]
pub enum BaseType {
    /// `void`.
    Void,
    /// `bool`.
    Bool,
    /// `char`: signed, as on x86-64 and in CUDA.
    Char,
    /// `signed char`.
    SChar,
    /// `unsigned char`.
    UChar,
    /// `short`.
    Short,
    /// `unsigned short`.
    UShort,
    /// `int`.
    Int,
    /// `unsigned`.
    UInt,
    /// `long` (64 bits).
    Long,
    /// `unsigned long`.
    ULong,
    /// `long long`.
    LongLong,
    /// `unsigned long long`.
    ULongLong,
    /// `float`.
    Float,
    /// `double` (`long double` is refused by the parser).
    Double,
    /// `auto`.
    Auto,
    /// `decltype(auto)`.
    DecltypeAuto,
    /// `decltype(e)`.
    Decltype(Arc<Expr>),
    /// A struct without a name, defined right here.
    Struct(Arc<StructDecl>),
    /// Any other name, `typename X<T>::type` included: a typedef, `size_t`, `float4`, an enum, a struct, a template parameter.
    Named(Name),
}

impl BaseType {
    /// The type is `auto`.
    pub fn is_auto(&self) -> bool {
        matches!(self, BaseType::Auto)
    }
}

/// One step outward from the base type.
#[derive(Debug, Clone)]
pub enum TypeLayer {
    /// `*`, with what stands after it.
    Pointer {
        /// `* const`.
        is_const: bool,
        /// `* volatile`.
        is_volatile: bool,
        /// `* __restrict__`.
        restrict: bool,
    },
    /// `&` (or `&&` with `rvalue`).
    Reference {
        /// `&&`.
        rvalue: bool,
    },
    /// `[n]`; `[]` has no size.
    Array(Option<Box<Expr>>),
    /// A function with these parameters; the layers before it are its result. `int (*)(float)` is `[Function, Pointer]`.
    Function(Arc<[ParamDecl]>),
}

/// A type as written. `layers` run from the base outward: `int *a[3]` is `[Pointer, Array(3)]` and reads "array of 3 of pointer to int".
#[derive(Debug, Clone)]
pub struct TypeName {
    /// The named part.
    pub base: BaseType,
    /// `const` on the base.
    pub is_const: bool,
    /// `volatile` on the base.
    pub is_volatile: bool,
    /// Pointers, references, arrays and functions, from the base outward.
    pub layers: Vec<TypeLayer>,
    /// Place of the parameter.
    pub span: Span,
}

/// One parameter of a template.
#[derive(Debug, Clone)]
pub struct TemplateParam {
    /// Name, if any.
    pub name: Option<Ident>,
    /// Sort of parameter.
    pub kind: TemplateParamKind,
    /// `typename... T`, `int... N`.
    pub pack: bool,
    /// Constraints once this parameter and those before it have their arguments: `template <small T>`, `requires`.
    pub constraints: Vec<Expr>,
    /// All of it.
    pub span: Span,
}

/// Sorts of template parameters.
#[derive(Debug, Clone)]
pub enum TemplateParamKind {
    /// `typename T = int`
    Type {
        /// After `=`.
        default: Option<TypeName>,
    },
    /// `int N = 4`, `auto V`, `float (*F)(float)`
    Value {
        /// Type.
        ty: TypeName,
        /// After `=`.
        default: Option<Expr>,
    },
    /// `template <typename> class C = D`
    Template {
        /// Parameters of a template given for it.
        head: TemplateHead,
        /// After `=`.
        default: Option<Name>,
    },
}

//! Declarations.

use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

use super::{Compound, Expr, Ident, Name, Symbol, TemplateParam, TypeName};
use crate::source::Span;

/// A declaration at namespace scope.
#[expect(clippy::large_enum_variant, reason = "a text has few items, nearly all of them functions")]
#[derive(Debug, Clone)]
pub enum Item {
    /// A function or a member of a struct, defined or only declared.
    Function(FunctionDecl),
    /// Variables at namespace scope: `const float k = 2;`, `__constant__ int t[4];`, `int S::count = 0;`.
    Variables(Declaration),
    /// `typedef` or `using X = ...`.
    Alias(Alias),
    /// `enum`.
    Enum(EnumDecl),
    /// `struct`, `class` or `union`, complete or not.
    Struct(Arc<StructDecl>),
    /// `static_assert(cond, "text")`.
    StaticAssert(StaticAssert),
    /// `namespace a { ... }`
    Namespace(Namespace),
    /// `namespace a = b::c;`
    NamespaceAlias(NamespaceAlias),
    /// `using namespace a::b;`
    UsingNamespace(Name),
    /// `using a::f;`
    UsingDecl(Name),
    /// `template void f<int>(int);`, `template struct S<int>;`
    Instantiate(Instantiate),
}

/// `[inline] namespace a { ... }`; `namespace a::b` is one in the other.
#[derive(Debug, Clone)]
pub struct Namespace {
    /// Name; `None` for `namespace { ... }`.
    pub name: Option<Ident>,
    /// `inline namespace`.
    pub is_inline: bool,
    /// Declarations in it, in order.
    pub items: Vec<Item>,
    /// Head.
    pub span: Span,
}

/// `namespace a = b::c;`
#[derive(Debug, Clone)]
pub struct NamespaceAlias {
    /// The new name.
    pub name: Ident,
    /// Namespace that it stands for.
    pub target: Name,
}

/// An explicit instantiation.
#[derive(Debug, Clone)]
pub struct Instantiate {
    /// Function or class that is instantiated.
    pub what: InstantiationTarget,
    /// `extern template`.
    pub is_extern: bool,
    /// All of it.
    pub span: Span,
}

/// Function or class that is instantiated.
#[derive(Debug, Clone)]
pub enum InstantiationTarget {
    /// A function, without a body; its name has template arguments unless they follow from the parameters.
    Function(Box<FunctionDecl>),
    /// `struct S<int>`
    Struct(Name),
}

/// `template <...>`. Without parameters it heads an explicit specialisation.
#[derive(Debug, Clone)]
pub struct TemplateHead {
    /// The parameters.
    pub params: Vec<TemplateParam>,
    /// The span from `template` to `>`.
    pub span: Span,
}

/// CUDA and C++ specifiers of a declaration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Specifiers {
    /// `__global__`.
    pub global: bool,
    /// `__device__`, or `__managed__`, which is one that host code may use as well.
    pub device: bool,
    /// `__managed__`.
    pub managed: bool,
    /// `__host__`.
    pub host: bool,
    /// `__shared__`.
    pub shared: bool,
    /// `__constant__`.
    pub constant: bool,
    /// `static`.
    pub is_static: bool,
    /// `noexcept`: true where no exception leaves it.
    pub noexcept: Option<bool>,
    /// `extern` (also `extern "C"`).
    pub is_extern: bool,
    /// `extern "C"`: the name is used as it is.
    pub extern_c: bool,
    /// `inline`, `__inline__`, `__forceinline__`.
    pub inline: bool,
    /// `__noinline__`.
    pub noinline: bool,
    /// `constexpr`.
    pub constexpr: bool,
    /// `mutable`.
    pub mutable: bool,
    /// `typedef`. `const` and `volatile` are in [`TypeName`].
    pub is_typedef: bool,
}

/// Sort of a function.
#[derive(Debug, Clone)]
pub enum FunctionKind {
    /// An ordinary function or operator.
    Plain,
    /// `S(...)`; its result type is `void`.
    Constructor,
    /// `~S()`; its result type is `void`.
    Destructor,
    /// `operator T()`; its result is that type.
    Conversion(TypeName),
}

/// A function.
#[derive(Debug, Clone)]
pub struct FunctionDecl {
    /// `template <...>` before it, outermost first: a class template's, then the member's own. Inside the struct the struct's
    /// own heads are not repeated.
    pub templates: Vec<TemplateHead>,
    /// Specifiers.
    pub specs: Specifiers,
    /// Sort of the function.
    pub kind: FunctionKind,
    /// The result type, pointers included; the trailing one, where there is one.
    pub ret: TypeName,
    /// The name; qualified for a member that is defined outside (`S<T>::f`), with arguments for an explicit specialisation
    /// (`f<int>`).
    pub name: Name,
    /// Parameters in order.
    pub params: Vec<ParamDecl>,
    /// The arguments of `__launch_bounds__`.
    pub launch_bounds: Vec<Expr>,
    /// `const` after the parameters.
    pub is_const: bool,
    /// `explicit`.
    pub is_explicit: bool,
    /// `= default`.
    pub is_defaulted: bool,
    /// `= delete`.
    pub is_deleted: bool,
    /// `: a(1), b{2}` of a constructor.
    pub ctor_inits: Vec<MemberInit>,
    /// The body; `None` for a declaration.
    pub body: Option<Compound>,
    /// The span from the first specifier to the closing parenthesis.
    pub span: Span,
}

/// An entry of a constructor's list of initialisers.
#[derive(Debug, Clone)]
pub struct MemberInit {
    /// A member, a base, or the struct itself.
    pub name: Name,
    /// Value: [`Init::Paren`] or [`Init::List`].
    pub init: Init,
    /// `bases(args)...`
    pub pack: bool,
}

/// A parameter.
#[derive(Debug, Clone)]
pub struct ParamDecl {
    /// Type; an array declarator has been turned into a pointer to its element type (`int a[][3]` to `int (*)[3]`), a
    /// function into a pointer to it.
    pub ty: TypeName,
    /// Name, if any.
    pub name: Option<Ident>,
    /// The default argument.
    pub default: Option<Expr>,
    /// `T... args`.
    pub pack: bool,
    /// All of it.
    pub span: Span,
}

/// `T a = 1, *b, c[3] = {...};`
#[derive(Debug, Clone)]
pub struct Declaration {
    /// `template <...>` before it, of a variable template or a static member; outermost first.
    pub templates: Vec<TemplateHead>,
    /// Specifiers.
    pub specs: Specifiers,
    /// `alignas(n)`, `__align__(n)`.
    pub align: Option<Arc<Expr>>,
    /// One entry per declarator.
    pub vars: Vec<VarDecl>,
    /// All of it.
    pub span: Span,
}

/// One declared variable or field.
#[derive(Debug, Clone)]
pub struct VarDecl {
    /// Whole type.
    pub ty: TypeName,
    /// Name; the empty one for a bit-field without a name.
    pub name: Ident,
    /// The whole name where it is more than an identifier: `int S::count = 0;`, `bool is_x<float> = true;`.
    pub qualified: Option<Name>,
    /// `: n` of a bit-field.
    pub bits: Option<Box<Expr>>,
    /// `alignas(n)`, `__align__(n)`, before the declaration or behind the name.
    pub align: Option<Arc<Expr>>,
    /// `__attribute__((packed))` behind the name.
    pub packed: bool,
    /// `= expr`, `= {...}`, `(exprs)` or `{...}`.
    pub init: Option<Init>,
}

/// An initializer.
#[derive(Debug, Clone)]
pub enum Init {
    /// `= e`: one expression; also an entry of a list.
    Expr(Expr),
    /// `(a, b)`: what a constructor takes. At least one, but for the initialisers of members.
    Paren(Vec<Expr>, Span),
    /// A braced list, possibly nested or empty.
    List(Vec<Init>, Span),
    /// `.x = 1` in a braced list.
    Designated(Ident, Box<Init>),
}

impl Init {
    /// The expression that an initialiser of a scalar is: itself, or the only one in braces.
    pub fn only_expr(&self) -> Option<&Expr> {
        match self {
            Init::Expr(e) => Some(e),
            Init::List(items, _) => match items.as_slice() {
                [Init::Expr(e)] => Some(e),
                _ => None,
            },
            Init::Paren(args, _) => match args.as_slice() {
                [e] => Some(e),
                _ => None,
            },
            Init::Designated(..) => None,
        }
    }

    /// The place of the initialiser.
    pub fn span(&self) -> Span {
        match self {
            Init::Expr(e) => e.span,
            Init::List(_, span) | Init::Paren(_, span) => *span,
            Init::Designated(_, value) => value.span(),
        }
    }
}

/// `typedef T name;` or `using name = T;`
#[derive(Debug, Clone)]
pub struct Alias {
    /// `template <...>` of an alias template.
    pub templates: Vec<TemplateHead>,
    /// The new name.
    pub name: Ident,
    /// Type that it stands for.
    pub ty: TypeName,
}

/// `enum [class] E : T { A, B = 3 };`
#[derive(Debug, Clone)]
pub struct EnumDecl {
    /// Name, if any.
    pub name: Option<Ident>,
    /// `enum class`: constants are reached as `E::A`.
    pub scoped: bool,
    /// The underlying type, if written.
    pub underlying: Option<TypeName>,
    /// The constants.
    pub constants: Vec<(Ident, Option<Expr>)>,
    /// All of it.
    pub span: Span,
}

/// `static_assert`.
#[derive(Debug, Clone)]
pub struct StaticAssert {
    /// The condition.
    pub cond: Expr,
    /// The text, if any.
    pub message: Option<String>,
    /// All of it.
    pub span: Span,
}

/// Keyword that a struct starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructKey {
    /// `struct`
    Struct,
    /// `class`
    Class,
    /// `union`
    Union,
}

/// Access to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `public`
    Public,
    /// `protected`
    Protected,
    /// `private`
    Private,
}

/// `struct`, `class` or `union`.
#[derive(Debug, Clone)]
pub struct StructDecl {
    /// Keyword, one of the three.
    pub key: StructKey,
    /// `template <...>` before it, outermost first.
    pub templates: Vec<TemplateHead>,
    /// Name, if any; qualified where it is defined outside of what declares it. The last part's arguments are those of a
    /// specialisation.
    pub name: Option<Name>,
    /// `: public B`.
    pub bases: Vec<Base>,
    /// Members in the braces.
    pub members: Vec<Member>,
    /// Member functions of the library's classes by name, which are declared when the name is looked for.
    pub waiting: HashMap<Symbol, Vec<Member>>,
    /// `alignas(n)`, `__align__(n)`.
    pub align: Option<Arc<Expr>>,
    /// `__attribute__((packed))`.
    pub packed: bool,
    /// The most alignment of its members: n under `#pragma pack(n)`.
    pub pack: Option<u32>,
    /// It has braces.
    pub complete: bool,
    /// All of it.
    pub span: Span,
}

/// A base of a struct.
#[derive(Debug, Clone)]
pub struct Base {
    /// Access by which it is inherited.
    pub access: Access,
    /// Name of the base.
    pub name: Name,
    /// `Bases...`
    pub pack: bool,
}

/// A member of a struct.
#[derive(Debug, Clone)]
pub struct Member {
    /// Access to it.
    pub access: Access,
    /// Sort of member, with what it declares.
    pub kind: MemberKind,
    /// All of it.
    pub span: Span,
}

/// Sorts of members.
#[derive(Debug, Clone)]
pub enum MemberKind {
    /// Fields, or static members when [`Specifiers::is_static`].
    Field(Declaration),
    /// A function; static when [`Specifiers::is_static`].
    Function(FunctionDecl),
    /// `typedef`, `using X = T`.
    Alias(Alias),
    /// An enum.
    Enum(EnumDecl),
    /// A struct. One without a name that no field follows lends its members to the struct around it.
    Struct(Arc<StructDecl>),
    /// `static_assert`.
    StaticAssert(StaticAssert),
    /// `using Base::f;`
    Using(Name),
    /// `friend` function.
    FriendFunction(FunctionDecl),
    /// `friend struct S;`
    FriendType(TypeName),
}

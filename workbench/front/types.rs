//! The C++ types of the front end: arithmetic types with their conversions, pointers, references, arrays, enums.
//!
//! A [`Ty`] is a qualified type. It is cheap to clone: what it is made of is shared. `char`, `signed char` and
//! `unsigned char` are three types, `long` and `long long` two, as overload resolution needs them; their IR scalars coincide.
//! A struct's fields are known only once its braces have been read, so its layout is set once, later.

use std::cell::OnceCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::ast::Symbol;
pub use crate::ir::layout::Bits;
use crate::ir::{Scalar, Stride, Type};

/// An arithmetic type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Num {
    /// `bool`
    Bool,
    /// `char`, which is signed here but a type of its own.
    Char,
    /// `signed char`
    SChar,
    /// `unsigned char`
    UChar,
    /// `short`
    Short,
    /// `unsigned short`
    UShort,
    /// `int`
    Int,
    /// `unsigned int`
    UInt,
    /// `long`, 64 bits.
    Long,
    /// `unsigned long`, 64 bits; `size_t`.
    ULong,
    /// `long long`
    LongLong,
    /// `unsigned long long`
    ULongLong,
    /// `float`
    Float,
    /// `double`
    Double,
}

impl Num {
    /// Every arithmetic type.
    pub const ALL: [Num; 14] = [
        Num::Bool,
        Num::Char,
        Num::SChar,
        Num::UChar,
        Num::Short,
        Num::UShort,
        Num::Int,
        Num::UInt,
        Num::Long,
        Num::ULong,
        Num::LongLong,
        Num::ULongLong,
        Num::Float,
        Num::Double,
    ];

    /// The scalar that the IR holds it as.
    pub fn scalar(self) -> Scalar {
        match self {
            Num::Bool => Scalar::Bool,
            Num::Char | Num::SChar => Scalar::I8,
            Num::UChar => Scalar::U8,
            Num::Short => Scalar::I16,
            Num::UShort => Scalar::U16,
            Num::Int => Scalar::I32,
            Num::UInt => Scalar::U32,
            Num::Long | Num::LongLong => Scalar::I64,
            Num::ULong | Num::ULongLong => Scalar::U64,
            Num::Float => Scalar::F32,
            Num::Double => Scalar::F64,
        }
    }

    /// The C++ spelling.
    pub fn name(self) -> &'static str {
        match self {
            Num::Bool => "bool",
            Num::Char => "char",
            Num::SChar => "signed char",
            Num::UChar => "unsigned char",
            Num::Short => "short",
            Num::UShort => "unsigned short",
            Num::Int => "int",
            Num::UInt => "unsigned int",
            Num::Long => "long",
            Num::ULong => "unsigned long",
            Num::LongLong => "long long",
            Num::ULongLong => "unsigned long long",
            Num::Float => "float",
            Num::Double => "double",
        }
    }

    /// `float` or `double`.
    pub fn is_float(self) -> bool {
        matches!(self, Num::Float | Num::Double)
    }

    /// An integer type in C++'s sense, which counts `bool`.
    pub fn is_integral(self) -> bool {
        !self.is_float()
    }

    fn is_signed(self) -> bool {
        matches!(self, Num::Char | Num::SChar | Num::Short | Num::Int | Num::Long | Num::LongLong)
    }

    /// Integer promotion ([conv.prom]); floats stay.
    pub fn promoted(self) -> Num {
        match self {
            Num::Bool | Num::Char | Num::SChar | Num::UChar | Num::Short | Num::UShort => Num::Int,
            other => other,
        }
    }

    /// The usual arithmetic conversions ([expr.arith.conv]): the type both operands get.
    pub fn usual(self, other: Num) -> Num {
        if self == Num::Double || other == Num::Double {
            return Num::Double;
        }
        if self == Num::Float || other == Num::Float {
            return Num::Float;
        }
        let (a, b) = (self.promoted(), other.promoted());
        if a.is_signed() == b.is_signed() {
            return if a.rank() >= b.rank() { a } else { b };
        }
        let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
        if unsigned.rank() >= signed.rank() {
            unsigned
        } else if signed.scalar().bits() > unsigned.scalar().bits() {
            signed
        } else {
            signed.to_unsigned()
        }
    }

    /// Conversion rank ([conv.rank]) of promoted integer types.
    fn rank(self) -> u8 {
        match self {
            Num::Long | Num::ULong => 2,
            Num::LongLong | Num::ULongLong => 3,
            _ => 1,
        }
    }

    fn to_unsigned(self) -> Num {
        match self {
            Num::Int => Num::UInt,
            Num::Long => Num::ULong,
            Num::LongLong => Num::ULongLong,
            other => other,
        }
    }
}

/// An enumeration type; two are the same exactly when their `id`s are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EnumTy {
    /// Counts the enums of a text.
    pub id: u32,
    /// The user's name, or `enum` for one without.
    pub name: String,
    /// Type that holds its values.
    pub underlying: Num,
    /// `enum class`: converts to nothing implicitly.
    pub scoped: bool,
    /// The values have no sign: its type is not fixed, and none of its constants is negative.
    pub unsigned: bool,
}

/// A struct, class or union; two are the same exactly when their `id`s are.
#[derive(Debug)]
pub struct StructTy {
    /// Counts the structs of a text.
    pub id: u32,
    /// The user's name with its template arguments.
    pub name: String,
    /// The fields share their place.
    pub is_union: bool,
    /// A built-in vector type: its component and how many.
    pub vector: Option<(Num, u32)>,
    /// Layout, once that is known.
    pub layout: OnceCell<Layout>,
    /// Name that `typedef struct { ... } S;` gives it.
    pub alias: OnceCell<String>,
}

impl PartialEq for StructTy {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for StructTy {}

impl Hash for StructTy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// Layout of a struct: its fields and where they are.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Bases, in order, with their offsets.
    pub bases: Vec<(Ty, u32)>,
    /// Fields, in order.
    pub fields: Vec<Field>,
    /// The size in bytes.
    pub size: u32,
    /// The alignment in bytes, a power of two.
    pub align: u32,
    /// Some of it is no number at a multiple of its alignment: a bit-field, or a packed member. It is copied by bytes.
    pub by_bytes: bool,
    /// Number of members that it has all the way down, itself counted: what a walk over it takes. An array counts as many elements as are
    /// written out one by one.
    pub parts: u32,
}

/// Most members of a struct, all the way down: members that hold one another twice double with each level.
pub const MAX_PARTS: u32 = 1 << 12;
/// Most elements of an array that are copied or zeroed one by one; longer ones take a loop.
pub const MAX_UNROLLED: u32 = 16;

/// A field of a struct.
#[derive(Debug, Clone)]
pub struct Field {
    /// Name; `None` for an unnamed struct or union, whose own fields are reached directly.
    pub name: Option<Symbol>,
    /// Type; a reference keeps being one and takes the place of a pointer.
    pub ty: Ty,
    /// The offset in bytes from the start of the struct.
    pub offset: u32,
    /// The least alignment, as `alignas` asks; 1 without it.
    pub align: u32,
    /// `packed`: its type aligns nothing.
    pub packed: bool,
    /// Bits of a bit-field; their lowest one is 0 before the fields are laid out, and one without a name may have none.
    pub bits: Option<Bits>,
    /// `mutable`: written even in a const object.
    pub mutable: bool,
}

impl Field {
    /// A field whose place is still to be found.
    pub fn new(name: Option<Symbol>, ty: Ty) -> Field {
        Field { name, ty, offset: 0, align: 1, packed: false, bits: None, mutable: false }
    }
}

/// A function type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FnTy {
    /// The result.
    pub ret: Ty,
    /// The parameters, without their top-level qualifiers.
    pub params: Vec<Ty>,
}

/// A type without its own qualifiers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The type of something already reported; it fits everywhere.
    Error,
    /// `void`
    Void,
    /// A number, character or truth value.
    Num(Num),
    /// The type of `nullptr`.
    Nullptr,
    /// A pointer to an object or `void`.
    Pointer(Rc<Ty>),
    /// An lvalue reference.
    Reference(Rc<Ty>),
    /// An rvalue reference.
    RvalueReference(Rc<Ty>),
    /// An array; without a length it is still to be deduced from its initializer.
    Array(Rc<Ty>, Option<u32>),
    /// An enumeration.
    Enum(Rc<EnumTy>),
    /// A struct, class or union.
    Struct(Rc<StructTy>),
    /// A braced list as an argument: it has no type of its own.
    Braced,
    /// A function.
    Function(Rc<FnTy>),
}

/// A qualified type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ty {
    /// Kind of the type.
    pub kind: Kind,
    /// `const`; for arrays the elements carry it.
    pub is_const: bool,
    /// `volatile`; for arrays the elements carry it.
    pub is_volatile: bool,
}

impl From<Num> for Ty {
    fn from(num: Num) -> Self {
        Ty::new(Kind::Num(num))
    }
}

impl Ty {
    /// An unqualified type.
    pub fn new(kind: Kind) -> Self {
        Ty { kind, is_const: false, is_volatile: false }
    }

    /// The type of what was already reported.
    pub fn error() -> Self {
        Ty::new(Kind::Error)
    }

    /// `void`
    pub fn void() -> Self {
        Ty::new(Kind::Void)
    }

    /// `bool`
    pub fn bool() -> Self {
        Num::Bool.into()
    }

    /// `int`
    pub fn int() -> Self {
        Num::Int.into()
    }

    /// `self*`
    #[must_use]
    pub fn pointer(self) -> Self {
        Ty::new(Kind::Pointer(Rc::new(self)))
    }

    /// `self&`; references collapse.
    #[must_use]
    pub fn reference(self) -> Self {
        match self.kind {
            Kind::Reference(_) => self,
            Kind::RvalueReference(inner) => Ty::new(Kind::Reference(inner)),
            _ => Ty::new(Kind::Reference(Rc::new(self))),
        }
    }

    /// `self&&`; references collapse.
    #[must_use]
    pub fn rvalue_reference(self) -> Self {
        if self.is_reference() { self } else { Ty::new(Kind::RvalueReference(Rc::new(self))) }
    }

    /// `self[len]`
    #[must_use]
    pub fn array(self, len: Option<u32>) -> Self {
        Ty::new(Kind::Array(Rc::new(self), len))
    }

    /// The type with further qualifiers; on an array they go to the elements, on a reference nowhere.
    #[must_use]
    pub fn qualified(self, is_const: bool, is_volatile: bool) -> Self {
        match self.kind {
            Kind::Array(elem, len) => (*elem).clone().qualified(is_const, is_volatile).array(len),
            Kind::Reference(_) | Kind::RvalueReference(_) | Kind::Function(_) | Kind::Error => self,
            kind => Ty { kind, is_const: self.is_const || is_const, is_volatile: self.is_volatile || is_volatile },
        }
    }

    /// `const self`
    #[must_use]
    pub fn constant(self) -> Self {
        self.qualified(true, false)
    }

    /// Without its own qualifiers.
    #[must_use]
    pub fn unqualified(&self) -> Self {
        Ty::new(self.kind.clone())
    }

    /// The type an expression of this type has as a value: arrays become pointers, references what they refer to.
    #[must_use]
    pub fn decayed(&self) -> Self {
        match &self.kind {
            Kind::Array(elem, _) => Ty::new(Kind::Pointer(elem.clone())),
            Kind::Reference(inner) | Kind::RvalueReference(inner) => inner.decayed(),
            Kind::Function(_) => self.clone().pointer(),
            _ => self.unqualified(),
        }
    }

    /// The type as that of a parameter: arrays and functions become pointers.
    #[must_use]
    pub fn decayed_parameter(self) -> Self {
        if matches!(self.kind, Kind::Array(..) | Kind::Function(_)) { self.decayed() } else { self }
    }

    /// The type that a reference refers to, else the type itself.
    pub fn referred(&self) -> &Ty {
        self.target().unwrap_or(self)
    }

    /// The type stands for something already reported.
    pub fn is_error(&self) -> bool {
        match &self.kind {
            Kind::Error => true,
            Kind::Pointer(inner) | Kind::Reference(inner) | Kind::RvalueReference(inner) | Kind::Array(inner, _) => {
                inner.is_error()
            }
            _ => false,
        }
    }

    /// `void`
    pub fn is_void(&self) -> bool {
        matches!(self.kind, Kind::Void)
    }

    /// An array.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(..))
    }

    /// A reference of either kind.
    pub fn is_reference(&self) -> bool {
        matches!(self.kind, Kind::Reference(_) | Kind::RvalueReference(_))
    }

    /// The type that a reference of either kind refers to.
    pub fn target(&self) -> Option<&Ty> {
        match &self.kind {
            Kind::Reference(inner) | Kind::RvalueReference(inner) => Some(inner),
            _ => None,
        }
    }

    /// The struct it is.
    pub fn as_struct(&self) -> Option<&Rc<StructTy>> {
        match &self.kind {
            Kind::Struct(s) => Some(s),
            _ => None,
        }
    }

    /// A struct, class or union.
    pub fn is_struct(&self) -> bool {
        matches!(self.kind, Kind::Struct(_))
    }

    /// The layout of a struct whose braces have been read.
    pub fn layout(&self) -> Option<&Layout> {
        self.as_struct()?.layout.get()
    }

    /// A struct without bases and fields that take room.
    pub fn is_empty_struct(&self) -> bool {
        self.layout().is_some_and(|l| l.fields.is_empty() && l.bases.iter().all(|(b, _)| b.is_empty_struct()))
    }

    /// The offset of a base in a struct; 0 for the struct itself.
    pub fn base_offset(&self, base: &StructTy) -> Option<u32> {
        if self.as_struct()?.id == base.id {
            return Some(0);
        }
        self.layout()?.bases.iter().find_map(|(ty, at)| Some(at + ty.base_offset(base)?))
    }

    /// The type that a pointer points at.
    pub fn pointee(&self) -> Option<&Ty> {
        match &self.kind {
            Kind::Pointer(inner) => Some(inner),
            _ => None,
        }
    }

    /// The arithmetic type it is, enums not counted.
    pub fn num(&self) -> Option<Num> {
        match self.kind {
            Kind::Num(num) => Some(num),
            _ => None,
        }
    }

    /// The arithmetic type it takes part in arithmetic as: itself, or an unscoped enum's underlying type.
    pub fn arithmetic(&self) -> Option<Num> {
        match &self.kind {
            Kind::Num(num) => Some(*num),
            Kind::Enum(e) if !e.scoped => Some(e.underlying),
            _ => None,
        }
    }

    /// The scalar that holds it in the IR; pointers and aggregates have none.
    pub fn scalar(&self) -> Option<Scalar> {
        match &self.kind {
            Kind::Num(num) => Some(num.scalar()),
            Kind::Enum(e) => Some(e.underlying.scalar()),
            _ => None,
        }
    }

    /// The IR type of a value of it; `None` for `void`, arrays and errors.
    pub fn ir(&self) -> Option<Type> {
        match &self.kind {
            Kind::Pointer(_) | Kind::Nullptr | Kind::Reference(_) | Kind::RvalueReference(_) => Some(Type::Ptr),
            _ => self.scalar().map(Type::Scalar),
        }
    }

    /// Size in bytes; `None` where it has none (`void`, functions, arrays of unknown length) or does not fit.
    pub fn size(&self) -> Option<u32> {
        match &self.kind {
            Kind::Array(elem, Some(len)) => elem.size()?.checked_mul(*len),
            Kind::Reference(inner) | Kind::RvalueReference(inner) => inner.size(),
            Kind::Struct(s) => s.layout.get().map(|l| l.size),
            _ => self.ir().map(Type::size),
        }
    }

    /// Alignment in bytes.
    pub fn align(&self) -> u32 {
        match &self.kind {
            Kind::Array(elem, _) => elem.align(),
            Kind::Reference(inner) | Kind::RvalueReference(inner) => inner.align(),
            Kind::Struct(s) => s.layout.get().map_or(1, |l| l.align),
            _ => self.ir().map_or(1, Type::size),
        }
    }

    /// The innermost element of an array of any rank, else the type itself.
    pub fn innermost(&self) -> &Ty {
        match &self.kind {
            Kind::Array(elem, _) => elem.innermost(),
            _ => self,
        }
    }

    /// The number of members that a copy of it writes out one by one ([`Layout::parts`]).
    pub fn parts(&self) -> u32 {
        match &self.kind {
            Kind::Array(elem, len) => elem.parts().saturating_mul(len.unwrap_or(1).clamp(1, MAX_UNROLLED)),
            Kind::Struct(s) => s.layout.get().map_or(1, |l| l.parts),
            _ => 1,
        }
    }

    /// The number of objects of struct type in it, those of its members counted: what constructing it takes.
    pub fn objects(&self) -> u32 {
        match &self.kind {
            Kind::Array(elem, len) => elem.objects().saturating_mul(len.unwrap_or(1)),
            Kind::Struct(s) => s.layout.get().map_or(1, |l| {
                let fields = l.fields.iter().map(|f| &f.ty);
                fields.chain(l.bases.iter().map(|(b, _)| b)).fold(1, |sum, t| sum.saturating_add(t.objects()))
            }),
            _ => 0,
        }
    }

    /// The type has at most as many parts as a budget says, which they use up.
    pub fn fits(&self, budget: &mut u32) -> bool {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        match &self.kind {
            Kind::Pointer(inner) | Kind::Reference(inner) | Kind::RvalueReference(inner) | Kind::Array(inner, _) => {
                inner.fits(budget)
            }
            Kind::Function(func) => func.ret.fits(budget) && func.params.iter().all(|p| p.fits(budget)),
            _ => true,
        }
    }

    /// The scalar that all of it is made of, when it is one kind of scalar.
    pub fn uniform(&self) -> Option<Scalar> {
        match &self.kind {
            Kind::Array(elem, _) => elem.uniform(),
            Kind::Struct(s) => {
                let layout = s.layout.get().filter(|l| !l.by_bytes)?;
                let fields = layout.fields.iter().map(|f| &f.ty);
                let mut parts = layout.bases.iter().map(|(b, _)| b).chain(fields).map(Ty::uniform);
                let first = parts.next()??;
                parts.all(|p| p == Some(first)).then_some(first)
            }
            _ => self.scalar(),
        }
    }

    /// The alignment of a variable: what `float4` and the like ask of it too where it is as large, since kernels access local and
    /// shared arrays through them.
    pub fn variable_align(&self) -> u32 {
        let wide = match self.size().unwrap_or(16) {
            16.. => 16,
            8.. => 8,
            _ => 1,
        };
        self.align().max(wide).clamp(1, 16)
    }

    /// The unit of arithmetic on pointers to this; `None` for incomplete types.
    pub fn stride(&self) -> Option<Stride> {
        match self.scalar() {
            Some(scalar) => Some(Stride::Elem(scalar)),
            None => self.size().map(Stride::Bytes),
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spell(self, String::new()))
    }
}

impl Ty {
    /// The declaration of a name as C++ writes it: `float* x`, `int a[3]`.
    pub fn declaring(&self, name: &str) -> String {
        spell(self, format!(" {name}"))
    }
}

/// The type as C++ writes it, round a declarator.
fn spell(ty: &Ty, declarator: String) -> String {
    let mut quals = String::new();
    if ty.is_const {
        quals.push_str("const ");
    }
    if ty.is_volatile {
        quals.push_str("volatile ");
    }
    let named = |name: &str, declarator: &str| [&quals, name, declarator].concat();
    match &ty.kind {
        Kind::Error => named("<error>", &declarator),
        Kind::Void => named("void", &declarator),
        Kind::Num(num) => named(num.name(), &declarator),
        Kind::Nullptr => named("std::nullptr_t", &declarator),
        Kind::Enum(e) => named(&e.name, &declarator),
        Kind::Struct(s) => named(s.alias.get().unwrap_or(&s.name), &declarator),
        Kind::Braced => named("{...}", &declarator),
        Kind::Pointer(inner) => {
            let star = if quals.is_empty() { "*".to_owned() } else { format!("* {}", quals.trim_end()) };
            spell(inner, wrap(inner, format!("{star}{declarator}")))
        }
        Kind::Reference(inner) => spell(inner, wrap(inner, format!("&{declarator}"))),
        Kind::RvalueReference(inner) => spell(inner, wrap(inner, format!("&&{declarator}"))),
        Kind::Array(elem, len) => {
            let len = len.map_or_else(String::new, |n| n.to_string());
            spell(elem, format!("{declarator}[{len}]"))
        }
        Kind::Function(func) => {
            let params: Vec<String> = func.params.iter().map(Ty::to_string).collect();
            spell(&func.ret, format!("{declarator}({})", params.join(", ")))
        }
    }
}

fn wrap(inner: &Ty, declarator: String) -> String {
    match inner.kind {
        Kind::Array(..) | Kind::Function(_) => format!(" ({declarator})"),
        _ => declarator,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_spelled_as_cpp_writes_them() {
        let float = Ty::from(Num::Float);
        assert_eq!(float.clone().constant().pointer().to_string(), "const float*");
        assert_eq!(float.clone().pointer().constant().to_string(), "float* const");
        assert_eq!(Ty::int().array(Some(3)).pointer().to_string(), "int (*)[3]");
        assert_eq!(Ty::int().pointer().array(Some(3)).to_string(), "int*[3]");
        assert_eq!(Ty::int().array(Some(3)).array(Some(2)).to_string(), "int[2][3]");
        assert_eq!(float.reference().to_string(), "float&");
    }

    #[test]
    fn usual_conversions_agree_with_ranges_and_ranks() {
        // Written from the standard's words over (size, signedness, rank) rather than from the implementation.
        let facts = |n: Num| match n {
            Num::Bool => (1, false, 0),
            Num::Char | Num::SChar => (1, true, 1),
            Num::UChar => (1, false, 1),
            Num::Short => (2, true, 2),
            Num::UShort => (2, false, 2),
            Num::Int => (4, true, 3),
            Num::UInt => (4, false, 3),
            Num::Long => (8, true, 4),
            Num::ULong => (8, false, 4),
            Num::LongLong => (8, true, 5),
            Num::ULongLong => (8, false, 5),
            Num::Float => (0, true, 10),
            Num::Double => (0, true, 11),
        };
        let by_facts = |size, signed, rank| {
            Num::ALL
                .into_iter()
                .filter(|n| n.is_integral())
                .find(|&n| facts(n) == (size, signed, rank))
                .expect("every combination asked for is a type")
        };
        for a in Num::ALL {
            for b in Num::ALL {
                let expected = if a.is_float() || b.is_float() {
                    if facts(a).2 == 11 || facts(b).2 == 11 { Num::Double } else { Num::Float }
                } else {
                    let lift = |n| if facts(n).2 < 3 { (4, true, 3) } else { facts(n) };
                    let (x, y) = (lift(a), lift(b));
                    let (hi, lo) = if x.2 >= y.2 { (x, y) } else { (y, x) };
                    let result = if hi.1 == lo.1 {
                        hi
                    } else if hi.2 == lo.2 || !hi.1 || hi.0 == lo.0 {
                        (hi.0, false, hi.2)
                    } else {
                        hi
                    };
                    by_facts(result.0, result.1, result.2)
                };
                assert_eq!(a.usual(b), expected, "{} and {}", a.name(), b.name());
            }
        }
    }
}

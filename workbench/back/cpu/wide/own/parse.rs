//! Types and expressions of the text.

use std::rc::Rc;

use super::token::Tok;
use super::{Result, bad};

/// What 16 lanes hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    F32,
    I32,
    F64,
    I64,
}

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ty {
    Void,
    /// Of 8 to 128 bits.
    Int {
        bits: u8,
        signed: bool,
    },
    /// `b1`: 0 or 1.
    Bool,
    F32,
    F64,
    /// `m16`.
    Mask,
    Lanes(Kind),
    Ptr(Rc<Ty>),
    Array(Rc<Ty>, u32),
    /// What went wrong.
    State,
    /// A pointer to a function.
    Fn(Rc<Ty>, Rc<[Ty]>),
}

impl Ty {
    pub const fn int(bits: u8, signed: bool) -> Self {
        Ty::Int { bits, signed }
    }

    /// Bytes in memory.
    pub fn size(&self) -> u32 {
        match self {
            Ty::Void | Ty::State => 1,
            Ty::Int { bits, .. } => u32::from(bits / 8),
            Ty::Bool => 1,
            Ty::F32 => 4,
            Ty::Mask => 2,
            Ty::F64 | Ty::Ptr(_) | Ty::Fn(..) => 8,
            Ty::Lanes(Kind::F32 | Kind::I32) => 64,
            Ty::Lanes(_) => 128,
            Ty::Array(of, count) => of.size() * count,
        }
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr<'t> {
    Int(u64, u8, bool),
    Real(f64, bool),
    Name(&'t str),
    Unary(&'static str, Box<Expr<'t>>),
    Binary(&'static str, Box<Expr<'t>>, Box<Expr<'t>>),
    Cond(Box<[Expr<'t>; 3]>),
    Cast(Ty, Box<Expr<'t>>),
    Call(Box<Expr<'t>>, Vec<Expr<'t>>),
    Index(Box<Expr<'t>>, Box<Expr<'t>>),
    Member(Box<Expr<'t>>, &'t str),
    /// With the operator that comes before `=`.
    Assign(&'static str, Box<Expr<'t>>, Box<Expr<'t>>),
}

impl<'t> Expr<'t> {
    /// Of an address what it is counted from: the name that a sum begins with.
    pub fn space(&self) -> Option<&'t str> {
        match self {
            Expr::Name(name) => Some(name),
            Expr::Binary("+", a, _) => a.space(),
            Expr::Cast(Ty::Ptr(_), a) => a.space(),
            _ => None,
        }
    }
}

/// Nesting that no printed text has.
const DEPTH: u32 = 400;

/// Reads words one after another.
pub struct Reader<'w, 't> {
    pub words: &'w [Tok<'t>],
    pub at: usize,
    depth: u32,
}

impl<'w, 't> Reader<'w, 't> {
    pub fn new(words: &'w [Tok<'t>], at: usize) -> Self {
        Reader { words, at, depth: 0 }
    }

    pub fn peek(&self) -> Option<Tok<'t>> {
        self.words.get(self.at).copied()
    }

    pub fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Tok::Sign(s)) if s == sign)
    }

    pub fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Tok::Name(n)) if n == name)
    }

    pub fn eat(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    pub fn eat_name(&mut self, name: &str) -> bool {
        let is = self.is_name(name);
        self.at += usize::from(is);
        is
    }

    pub fn want(&mut self, sign: &str) -> Result<()> {
        if self.eat(sign) { Ok(()) } else { Err(bad(format!("{:?} for `{sign}`", self.peek()))) }
    }

    pub fn name(&mut self) -> Result<&'t str> {
        match self.peek() {
            Some(Tok::Name(name)) => {
                self.at += 1;
                Ok(name)
            }
            other => Err(bad(format!("{other:?} for a name"))),
        }
    }

    /// Whether a label or an empty statement is here.
    pub fn is_label(&self) -> bool {
        self.is(";") || matches!(self.words.get(self.at + 1), Some(Tok::Sign(":")))
    }

    /// Whether a type begins here.
    pub fn at_type(&self) -> bool {
        match self.peek() {
            Some(Tok::Name("const" | "static" | "unsigned")) => true,
            Some(Tok::Name(name)) => named(name).is_some(),
            _ => false,
        }
    }

    /// A type without the name that it may be around, and whether it was said to be constant at first.
    pub fn ty(&mut self) -> Result<(Ty, bool)> {
        self.eat_name("static");
        let mut constant = self.eat_name("const");
        let unsigned = self.eat_name("unsigned");
        let mut ty = match self.peek() {
            Some(Tok::Name(name)) if named(name).is_some() => {
                self.at += 1;
                named(name).unwrap_or(Ty::Void)
            }
            _ if unsigned => Ty::int(32, false),
            other => return Err(bad(format!("{other:?} for a type"))),
        };
        if let (true, Ty::Int { signed, .. }) = (unsigned, &mut ty) {
            *signed = false;
        }
        loop {
            if self.eat_name("const") {
                constant = true;
            } else if self.eat("*") {
                ty = Ty::Ptr(Rc::new(ty));
                constant = false;
            } else {
                return Ok((ty, constant));
            }
        }
    }

    /// The type in a cast: of a function it says which.
    fn cast_type(&mut self) -> Result<Ty> {
        let (ty, _) = self.ty()?;
        if !self.is("(") {
            return Ok(ty);
        }
        self.want("(")?;
        self.want("*")?;
        self.want(")")?;
        self.want("(")?;
        let mut params = Vec::new();
        while !self.eat(")") {
            params.push(self.ty()?.0);
            self.eat(",");
        }
        Ok(Ty::Fn(Rc::new(ty), params.into()))
    }

    /// An expression.
    pub fn expr(&mut self) -> Result<Expr<'t>> {
        let left = self.conditional()?;
        let op = match self.peek() {
            Some(Tok::Sign("=")) => "",
            Some(Tok::Sign("+=")) => "+",
            Some(Tok::Sign("-=")) => "-",
            Some(Tok::Sign("|=")) => "|",
            Some(Tok::Sign("&=")) => "&",
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.expr()?;
        Ok(Expr::Assign(op, Box::new(left), Box::new(right)))
    }

    fn conditional(&mut self) -> Result<Expr<'t>> {
        let cond = self.binary(0)?;
        if !self.eat("?") {
            return Ok(cond);
        }
        let a = self.expr()?;
        self.want(":")?;
        let b = self.conditional()?;
        Ok(Expr::Cond(Box::new([cond, a, b])))
    }

    fn binary(&mut self, least: u8) -> Result<Expr<'t>> {
        let mut left = self.unary()?;
        while let Some(Tok::Sign(sign)) = self.peek() {
            let Some(power) = power(sign).filter(|power| *power >= least) else { break };
            self.at += 1;
            let right = self.binary(power + 1)?;
            left = Expr::Binary(sign, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr<'t>> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(bad("too many brackets"));
        }
        let found = self.unary_inner();
        self.depth -= 1;
        found
    }

    fn unary_inner(&mut self) -> Result<Expr<'t>> {
        for sign in ["-", "~", "!", "*", "&"] {
            if self.eat(sign) {
                return Ok(Expr::Unary(sign, Box::new(self.unary()?)));
            }
        }
        if self.is("(") {
            let back = self.at;
            self.at += 1;
            if self.at_type() {
                let ty = self.cast_type()?;
                self.want(")")?;
                return Ok(Expr::Cast(ty, Box::new(self.unary()?)));
            }
            self.at = back;
        }
        let mut left = self.primary()?;
        loop {
            if self.eat("(") {
                let mut args = Vec::new();
                while !self.eat(")") {
                    args.push(self.expr()?);
                    self.eat(",");
                }
                left = Expr::Call(Box::new(left), args);
            } else if self.eat("[") {
                let index = self.expr()?;
                self.want("]")?;
                left = Expr::Index(Box::new(left), Box::new(index));
            } else if self.eat(".") || self.eat("->") {
                left = Expr::Member(Box::new(left), self.name()?);
            } else {
                return Ok(left);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr<'t>> {
        let word = self.peek();
        self.at += 1;
        match word {
            Some(Tok::Int(n, bits, unsigned)) => Ok(Expr::Int(n, bits, unsigned)),
            Some(Tok::Real(x, is_float)) => Ok(Expr::Real(x, is_float)),
            Some(Tok::Name(name)) => Ok(Expr::Name(name)),
            Some(Tok::Sign("(")) => {
                let inner = self.expr()?;
                self.want(")")?;
                Ok(inner)
            }
            other => Err(bad(format!("{other:?} in an expression"))),
        }
    }
}

/// How strongly an operator binds.
fn power(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 0,
        "&&" => 1,
        "|" => 2,
        "^" => 3,
        "&" => 4,
        "==" | "!=" => 5,
        "<" | "<=" | ">" | ">=" => 6,
        "<<" | ">>" => 7,
        "+" | "-" => 8,
        "*" | "/" | "%" => 9,
        _ => return None,
    })
}

/// The type of a name.
fn named(name: &str) -> Option<Ty> {
    Some(match name {
        "void" => Ty::Void,
        "char" | "i8" => Ty::int(8, true),
        "u8" => Ty::int(8, false),
        "i16" => Ty::int(16, true),
        "u16" => Ty::int(16, false),
        "i32" | "int" => Ty::int(32, true),
        "u32" => Ty::int(32, false),
        "i64" => Ty::int(64, true),
        "u64" => Ty::int(64, false),
        "wide" | "__int128" => Ty::int(128, true),
        "b1" => Ty::Bool,
        "f32" => Ty::F32,
        "f64" => Ty::F64,
        "m16" => Ty::Mask,
        "vf32" => Ty::Lanes(Kind::F32),
        "vi32" => Ty::Lanes(Kind::I32),
        "vf64" => Ty::Lanes(Kind::F64),
        "vi64" => Ty::Lanes(Kind::I64),
        "State" => Ty::State,
        _ => return None,
    })
}

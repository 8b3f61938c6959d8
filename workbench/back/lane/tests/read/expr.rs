//! Types and expressions of the text.

use std::rc::Rc;

use super::token::Tok;
use super::{Reader, wrong};
use crate::back::lane::table::{Kind, MemoryOp, NumberOp, Op};
use crate::back::lane::tree::{Binary, Expr, Field, Host, Unary};
use crate::back::lane::types::Ty;
use crate::back::lane::valid::Result;

/// Nesting that no printed text has.
const DEPTH: u32 = 400;

impl<'t> Reader<'t> {
    pub(super) fn peek(&self) -> Option<Tok<'t>> {
        self.words.get(self.at).copied()
    }

    pub(super) fn next(&self) -> Option<Tok<'t>> {
        self.words.get(self.at + 1).copied()
    }

    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Tok::Sign(s)) if s == sign)
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    pub(super) fn eat_name(&mut self, name: &str) -> bool {
        let is = matches!(self.peek(), Some(Tok::Name(n)) if n == name);
        self.at += usize::from(is);
        is
    }

    pub(super) fn want(&mut self, sign: &str) -> Result<()> {
        if self.eat(sign) { Ok(()) } else { Err(wrong(format!("{:?} is there for `{sign}`", self.peek()))) }
    }

    pub(super) fn name(&mut self) -> Result<&'t str> {
        match self.peek() {
            Some(Tok::Name(name)) => {
                self.at += 1;
                Ok(name)
            }
            other => Err(wrong(format!("{other:?} is there for a name"))),
        }
    }

    /// True if a type begins here.
    pub(super) fn at_type(&self) -> bool {
        match self.peek() {
            Some(Tok::Name("const" | "static" | "unsigned")) => true,
            Some(Tok::Name(name)) => named(name).is_some(),
            _ => false,
        }
    }

    /// A type without the name that it may be around, and whether it was said to be constant at first.
    pub(super) fn ty(&mut self) -> Result<(Ty, bool)> {
        self.eat_name("static");
        let mut constant = self.eat_name("const");
        let unsigned = self.eat_name("unsigned");
        let mut ty = match self.peek() {
            Some(Tok::Name(name)) if named(name).is_some() => {
                self.at += 1;
                named(name).unwrap_or(Ty::Void)
            }
            _ if unsigned => Ty::int(32, false),
            other => return Err(wrong(format!("{other:?} is there for a type"))),
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
    pub(super) fn expr(&mut self) -> Result<Expr> {
        let left = self.conditional()?;
        let op = match self.peek() {
            Some(Tok::Sign("=")) => None,
            Some(Tok::Sign("+=")) => Some(Binary::Add),
            Some(Tok::Sign("-=")) => Some(Binary::Sub),
            Some(Tok::Sign("|=")) => Some(Binary::Or),
            Some(Tok::Sign("&=")) => Some(Binary::And),
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.expr()?;
        Ok(Expr::Assign(op, Box::new(left), Box::new(right)))
    }

    fn conditional(&mut self) -> Result<Expr> {
        let cond = self.binary(0)?;
        if !self.eat("?") {
            return Ok(cond);
        }
        let a = self.expr()?;
        self.want(":")?;
        let b = self.conditional()?;
        Ok(Expr::Choose(Box::new([cond, a, b])))
    }

    fn binary(&mut self, least: u8) -> Result<Expr> {
        let mut left = self.unary()?;
        while let Some(Tok::Sign(sign)) = self.peek() {
            let Some((op, power)) = operator(sign).filter(|(_, power)| *power >= least) else { break };
            self.at += 1;
            let right = self.binary(power + 1)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(wrong("there are too many brackets"));
        }
        let found = self.unary_inner();
        self.depth -= 1;
        found
    }

    fn unary_inner(&mut self) -> Result<Expr> {
        for (sign, op) in [("-", Unary::Neg), ("~", Unary::Invert), ("!", Unary::Not)] {
            if self.eat(sign) {
                return Ok(Expr::Unary(op, Box::new(self.unary()?)));
            }
        }
        if self.eat("*") {
            let at = self.unary()?;
            return Ok(Expr::At(self.kernel.space(&at), Box::new(at)));
        }
        if self.eat("&") {
            // Memory is its address already.
            return match self.unary()? {
                Expr::Var(var) if self.kernel.var(var).ty == Ty::State => Ok(Expr::Var(var)),
                _ => Err(wrong("the address of a variable is asked for")),
            };
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
            if self.is("(") {
                left = self.host(left)?;
            } else if self.eat("[") {
                let index = self.expr()?;
                self.want("]")?;
                left = Expr::Index(Box::new(left), Box::new(index));
            } else if self.eat(".") || self.eat("->") {
                let name = self.name()?;
                let field = Field::ALL.into_iter().find(|field| field.name() == name);
                left = match (left, field) {
                    (Expr::Var(state), Some(field)) => Expr::Field(state, field),
                    _ => return Err(wrong(format!("there is no member `{name}`"))),
                };
            } else {
                return Ok(left);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        let word = self.peek();
        self.at += 1;
        match word {
            Some(Tok::Int(n, bits, unsigned)) => Ok(Expr::Int(n, bits, unsigned)),
            Some(Tok::Real(x, is_float)) => Ok(Expr::Real(x, is_float)),
            Some(Tok::Name(name)) if self.is("(") => self.call(name),
            Some(Tok::Name(name)) => self.lookup(name).map(Expr::Var),
            Some(Tok::Sign("(")) => {
                let inner = self.expr()?;
                self.want(")")?;
                Ok(inner)
            }
            other => Err(wrong(format!("{other:?} is in an expression"))),
        }
    }

    fn args(&mut self) -> Result<Vec<Expr>> {
        self.want("(")?;
        let mut args = Vec::new();
        while !self.eat(")") {
            args.push(self.expr()?);
            if !self.is(")") {
                self.want(",")?;
            }
        }
        Ok(args)
    }

    fn call(&mut self, name: &str) -> Result<Expr> {
        if let Some(id) = self.functions.get(name) {
            return Ok(Expr::Call(*id, self.args()?.into()));
        }
        let Some(op) = Op::find(name) else { return Err(wrong(format!("there is no operation `{name}`"))) };
        if op == Op::Number(NumberOp::Fence) {
            // In what order says C alone.
            while !self.eat(")") {
                self.at += 1;
            }
            return Ok(Expr::Op(op, Box::new([])));
        }
        let args = self.args()?;
        let op = match op {
            Op::Memory(memory) => {
                let space = args.get(memory.access.place()).map(|at| self.kernel.space(at)).unwrap_or_default();
                Op::Memory(MemoryOp { space, ..memory })
            }
            other => other,
        };
        Ok(Expr::Op(op, args.into()))
    }

    /// A call of a function of this process.
    fn host(&mut self, callee: Expr) -> Result<Expr> {
        let args = self.args()?;
        match callee {
            Expr::Cast(Ty::Fn(gives, params), address) => {
                Ok(Expr::Host(Box::new(Host { gives: (*gives).clone(), params, address: *address, args })))
            }
            _ => Err(wrong("what is called is no function")),
        }
    }
}

/// An operator, and how strongly it binds.
fn operator(sign: &str) -> Option<(Binary, u8)> {
    Some(match sign {
        "||" => (Binary::Either, 0),
        "&&" => (Binary::Both, 1),
        "|" => (Binary::Or, 2),
        "^" => (Binary::Xor, 3),
        "&" => (Binary::And, 4),
        "==" => (Binary::Eq, 5),
        "!=" => (Binary::Ne, 5),
        "<" => (Binary::Lt, 6),
        "<=" => (Binary::Le, 6),
        ">" => (Binary::Gt, 6),
        ">=" => (Binary::Ge, 6),
        "<<" => (Binary::Shl, 7),
        ">>" => (Binary::Shr, 7),
        "+" => (Binary::Add, 8),
        "-" => (Binary::Sub, 8),
        "*" => (Binary::Mul, 9),
        "/" => (Binary::Div, 9),
        "%" => (Binary::Rem, 9),
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

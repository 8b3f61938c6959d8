//! Kernels as trees.
//!
//! Numbers follow C: narrow integers become `int`s before arithmetic, operands are brought to a common type, and a condition is whatever is
//! not zero. Lanes and masks are computed by operations of the [table](super::table) alone, but for `&`, `|`, `^` and `~` of masks.

use std::rc::Rc;

use super::memory::Space;
use super::table::Op;
use super::types::{Kind, Ty};
use crate::ir::MathFn;

/// A variable of a kernel, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

impl Var {
    /// Its place among the variables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place that control goes to, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label(pub u32);

/// A macro of a kernel, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MacroId(pub u32);

/// A function of the kernel's, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FunctionId(pub u32);

/// The role of a variable, where that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// No role.
    #[default]
    Plain,
    /// The budget: operations left until the poll.
    Budget,
    /// True if stores to an array go past the cache.
    PastCache,
}

/// A variable.
#[derive(Debug, Clone)]
pub struct VarData {
    /// The name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// The space that an address points into.
    pub space: Space,
    /// The role.
    pub role: Role,
    /// True if it is what it is declared as for good.
    pub constant: bool,
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// `-`, of numbers.
    Neg,
    /// `~`, of integers and masks.
    Invert,
    /// `!`.
    Not,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their signs say what they are")]
pub enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    /// `&&`: the second operand is not computed where the first is false.
    Both,
    /// `||`: the second operand is not computed where the first is true.
    Either,
}

impl Binary {
    /// C's operator.
    pub const fn sign(self) -> &'static str {
        match self {
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Rem => "%",
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Shl => "<<",
            Binary::Shr => ">>",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Gt => ">",
            Binary::Ge => ">=",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::And => "&",
            Binary::Xor => "^",
            Binary::Or => "|",
            Binary::Both => "&&",
            Binary::Either => "||",
        }
    }

    /// True if it gives a truth value of numbers.
    pub const fn compares(self) -> bool {
        matches!(self, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne)
    }

    /// True if it is of bits: `&`, `|` or `^`.
    pub const fn is_of_bits(self) -> bool {
        matches!(self, Binary::And | Binary::Or | Binary::Xor)
    }
}

/// A member of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// True if anything went wrong.
    Faulted,
    /// The thread that faulted.
    Thread,
    /// The block that faulted, counted from the first of the call.
    Block,
    /// The running block, counted likewise.
    Now,
    /// The row of threads that runs, where blocks are one long row.
    Row,
}

impl Field {
    /// All of them.
    pub const ALL: [Field; 5] = [Field::Faulted, Field::Thread, Field::Block, Field::Now, Field::Row];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Faulted => "faulted",
            Field::Thread => "thread",
            Field::Block => "block",
            Field::Now => "now",
            Field::Row => "row",
        }
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// An integer of a type: its bits, how many, and whether it has no sign.
    Int(u64, u8, bool),
    /// A float, of 32 bits where that is true.
    Real(f64, bool),
    /// The value of a variable; of an array and the state, the address.
    Var(Var),
    /// An operator.
    Unary(Unary, Box<Expr>),
    /// An operator.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// The second where the first holds, else the third; the other is not computed.
    Choose(Box<[Expr; 3]>),
    /// As a type.
    Cast(Ty, Box<Expr>),
    /// The object at an address.
    At(Space, Box<Expr>),
    /// The element so many behind an address.
    Index(Box<Expr>, Box<Expr>),
    /// A member of the state.
    Field(Var, Field),
    /// Sets a place, or changes it by an operator; gives what is there then.
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    /// An operation.
    Op(Op, Box<[Expr]>),
    /// A call of a function of the kernel's.
    Call(FunctionId, Box<[Expr]>),
    /// A call of a function of this process, by its address, which is a function's.
    Host(Box<Host>),
}

/// A call of a function of this process.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// The type of the result.
    pub gives: Ty,
    /// The types of the operands.
    pub params: Rc<[Ty]>,
    /// The address.
    pub address: Expr,
    /// The arguments.
    pub args: Vec<Expr>,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt {
    /// Statements one after the other, with variables of their own.
    Block(Vec<Stmt>),
    /// Declares a variable that begins as this.
    Let(Var, Expr),
    /// Declares a variable; an array, and the state, in memory, the state as nothing gone wrong.
    Declare(Var),
    /// Computes something for what it does.
    Do(Expr),
    /// A choice.
    If(Box<If>),
    /// A loop.
    Loop(Box<Loop>),
    /// A statement for each lane of a mask, with the lane's number.
    EachLane(Expr, Var, Box<Stmt>),
    /// A block without control flow, which is worth code of its own.
    Straight(Box<Stmt>),
    /// A place to go to.
    Label(Label),
    /// Goes there.
    Goto(Label),
    /// Goes behind the innermost loop.
    Break,
    /// Ends the function.
    Return(Option<Expr>),
    /// The statements of a macro.
    Macro(MacroId),
}

/// `if`.
#[derive(Debug, Clone, PartialEq)]
pub struct If {
    /// The condition.
    pub cond: Expr,
    /// The statement where the condition holds.
    pub then: Stmt,
    /// The statement where it does not.
    pub els: Option<Stmt>,
}

/// `for (first; cond; step) body`.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// The statement before the first round.
    pub first: Option<Stmt>,
    /// The condition of another round; without one there always is another.
    pub cond: Option<Expr>,
    /// The statement after each round.
    pub step: Option<Expr>,
    /// A round.
    pub body: Stmt,
}

/// A function of lanes: straight-line code, which is compiled where it is called.
#[derive(Debug, Clone)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The math function that it is, of lanes of a kind.
    pub math: Option<(MathFn, Kind)>,
    /// The type of the result.
    pub gives: Ty,
    /// The types of the operands.
    pub params: Vec<Var>,
    /// Declarations, and a `return`.
    pub body: Vec<Stmt>,
}

/// A constant array.
#[derive(Debug, Clone)]
pub struct Table {
    /// The name.
    pub var: Var,
    /// The elements.
    pub words: Box<[u32]>,
}

/// Statements that stand in several places, and declare nothing.
#[derive(Debug, Clone)]
pub struct Macro {
    /// The name of the macro.
    pub name: String,
    /// The statements.
    pub body: Vec<Stmt>,
}

/// A kernel.
#[derive(Debug, Clone, Default)]
pub struct Kernel {
    /// All variables.
    pub vars: Vec<VarData>,
    /// The names of labels.
    pub labels: Vec<String>,
    /// Constant arrays.
    pub tables: Vec<Table>,
    /// Its functions, each before it is called.
    pub functions: Vec<Function>,
    /// Its macros.
    pub macros: Vec<Macro>,
    /// The parameters: the context, the arguments.
    pub params: Vec<Var>,
    /// The statements.
    pub body: Vec<Stmt>,
}

impl Kernel {
    /// The declaration of a variable.
    pub fn var(&self, var: Var) -> &VarData {
        &self.vars[var.index()]
    }

    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The statements of a macro.
    pub fn of_macro(&self, id: MacroId) -> &[Stmt] {
        &self.macros[id.0 as usize].body
    }

    /// The space of the memory that an address points into.
    pub fn space(&self, at: &Expr) -> Space {
        match at {
            Expr::Var(var) => self.var(*var).space,
            Expr::Binary(Binary::Add, a, _) => self.space(a),
            Expr::Cast(Ty::Ptr(_), a) => self.space(a),
            _ => Space::Unknown,
        }
    }
}

impl Expr {
    /// A copy in which what `f` gives something for is replaced by that.
    pub fn replaced(&self, f: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
        if let Some(other) = f(self) {
            return other;
        }
        let boxed = |of: &Expr| Box::new(of.replaced(f));
        match self {
            Expr::Int(..) | Expr::Real(..) | Expr::Var(_) | Expr::Field(..) => self.clone(),
            Expr::Unary(op, a) => Expr::Unary(*op, boxed(a)),
            Expr::Cast(ty, a) => Expr::Cast(ty.clone(), boxed(a)),
            Expr::At(space, a) => Expr::At(*space, boxed(a)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, boxed(a), boxed(b)),
            Expr::Index(a, b) => Expr::Index(boxed(a), boxed(b)),
            Expr::Assign(op, a, b) => Expr::Assign(*op, boxed(a), boxed(b)),
            Expr::Choose(parts) => Expr::Choose(Box::new([0, 1, 2].map(|i| parts[i].replaced(f)))),
            Expr::Op(op, args) => Expr::Op(*op, args.iter().map(|arg| arg.replaced(f)).collect()),
            Expr::Call(id, args) => Expr::Call(*id, args.iter().map(|arg| arg.replaced(f)).collect()),
            Expr::Host(host) => Expr::Host(Box::new(Host {
                gives: host.gives.clone(),
                params: host.params.clone(),
                address: host.address.replaced(f),
                args: host.args.iter().map(|arg| arg.replaced(f)).collect(),
            })),
        }
    }

    /// True if one of the expressions that it is made of is such.
    pub fn has(&self, is: &dyn Fn(&Expr) -> bool) -> bool {
        let mut found = false;
        self.for_each(&mut |expr| found |= is(expr));
        found
    }

    /// Calls for each expression that it is made of, first itself.
    pub fn for_each<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        match self {
            Expr::Int(..) | Expr::Real(..) | Expr::Var(_) | Expr::Field(..) => {}
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::At(_, a) => a.for_each(f),
            Expr::Binary(_, a, b) | Expr::Index(a, b) | Expr::Assign(_, a, b) => {
                a.for_each(f);
                b.for_each(f);
            }
            Expr::Choose(parts) => parts.iter().for_each(|part| part.for_each(f)),
            Expr::Op(_, args) | Expr::Call(_, args) => args.iter().for_each(|arg| arg.for_each(f)),
            Expr::Host(host) => {
                host.address.for_each(f);
                host.args.iter().for_each(|arg| arg.for_each(f));
            }
        }
    }
}

impl Stmt {
    /// Calls for each expression in it, those that others are made of included.
    pub fn for_each_expr<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match self {
            Stmt::Block(all) => all.iter().for_each(|stmt| stmt.for_each_expr(f)),
            Stmt::Let(_, value) => value.for_each(f),
            Stmt::Declare(_) | Stmt::Label(_) | Stmt::Goto(_) | Stmt::Break | Stmt::Return(None) => {}
            // The kernel has its statements.
            Stmt::Macro(_) => {}
            Stmt::Do(expr) | Stmt::Return(Some(expr)) => expr.for_each(f),
            Stmt::If(of) => {
                of.cond.for_each(f);
                of.then.for_each_expr(f);
                if let Some(els) = &of.els {
                    els.for_each_expr(f);
                }
            }
            Stmt::Loop(of) => {
                if let Some(first) = &of.first {
                    first.for_each_expr(f);
                }
                of.cond.iter().chain(&of.step).for_each(|expr| expr.for_each(f));
                of.body.for_each_expr(f);
            }
            Stmt::EachLane(mask, _, body) => {
                mask.for_each(f);
                body.for_each_expr(f);
            }
            Stmt::Straight(body) => body.for_each_expr(f),
        }
    }
}

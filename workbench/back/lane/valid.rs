//! The rules that a kernel keeps.
//!
//! 1. A variable is declared before it is used, in the block that uses it or one around; it is declared once.
//! 2. A constant is not set after it is declared; nor are arrays and the state, which are memory.
//! 3. An operation is one of the table and has as many operands as its record, each of a type that it takes: lanes of the same kind, a mask
//!    or an integer where a mask belongs, any number where a number does, but no float where an integer belongs.
//! 4. A value is given to a variable, a parameter, a place in memory or a cast by the same rule. Lanes are only ever given as what they are.
//! 5. `&`, `|`, `^` and `~` are of integers or of masks; the other operators are of numbers alone. To an address an integer may be added,
//!    or taken off, on its right. Addresses are otherwise compared and cast.
//! 6. A condition is a number or a mask. A choice is between numbers or masks.
//! 7. What is read at an address, or set, is a number or a mask; the address is that of such.
//! 8. A label is there once, and is there if anything goes to it. A `break` is in a loop.
//! 9. A kernel returns an integer. It has two parameters, one state at most, and one budget at most.
//! 10. The statements of a macro declare nothing.
//! 11. A function declares constants of what it computes from its parameters, sets none but by a choice, and returns at its end.
//!
//! Who makes kernels asks [`require`], so that a mistake stops builds that have debug assertions. In others the kernel has no lanes, and
//! the sentence says why.

use super::table::{NumberOp, Op, Operand};
use super::tree::{Binary, Expr, Kernel, Label, Role, Stmt, Unary, Var};
use super::types::{Ty, bits_of, common};

/// Why something is no kernel of the lane IR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(pub String);

/// Something valid, or the rule that it breaks.
pub type Result<T> = std::result::Result<T, Invalid>;

pub(super) fn invalid<T>(why: impl Into<String>) -> Result<T> {
    Err(Invalid(why.into()))
}

/// Gives a kernel that was made, if it keeps the rules.
///
/// # Errors
/// Why it does not, as a sentence.
///
/// # Panics
/// With debug assertions, where it does not.
pub fn require(made: Result<Kernel>) -> std::result::Result<Kernel, String> {
    let found = made.and_then(|kernel| check(&kernel).map(|()| kernel));
    found.map_err(|Invalid(why)| {
        debug_assert!(false, "what was made is no valid kernel of lanes: {why}");
        format!("its lanes are not valid: {why}")
    })
}

/// Checks a kernel.
///
/// # Errors
/// The first rule that it does not keep.
pub fn check(kernel: &Kernel) -> Result<()> {
    let vars = kernel.vars.len();
    let mut checker = Checker {
        kernel,
        bound: vec![false; vars],
        declared: vec![false; vars],
        scopes: vec![Vec::new()],
        labels: vec![(false, false); kernel.labels.len()],
        loops: 0,
        gives: Ty::int(32, false),
    };
    checker.kernel()
}

struct Checker<'k> {
    kernel: &'k Kernel,
    /// Variables that are known here, and those that have ever been.
    bound: Vec<bool>,
    declared: Vec<bool>,
    scopes: Vec<Vec<Var>>,
    /// True if each label is there, and whether anything goes to it.
    labels: Vec<(bool, bool)>,
    loops: u32,
    /// The type that the function returns.
    gives: Ty,
}

impl Checker<'_> {
    fn kernel(&mut self) -> Result<()> {
        let kernel = self.kernel;
        for (what, count) in [
            ("budget", kernel.vars.iter().filter(|var| var.role == Role::Budget).count()),
            ("state", kernel.vars.iter().filter(|var| var.ty == Ty::State).count()),
        ] {
            if count > 1 {
                return invalid(format!("it has more than one {what}"));
            }
        }
        for function in &kernel.functions {
            self.scopes.push(Vec::new());
            for param in &function.params {
                self.declare(*param)?;
            }
            self.gives = function.gives.clone();
            match function.body.split_last() {
                Some((Stmt::Return(Some(_)), rest)) if rest.iter().all(is_straight) => {}
                _ => return invalid(format!("`{}` does more than declare and return", function.name)),
            }
            self.statements(&function.body)?;
            self.leave();
        }
        for table in &kernel.tables {
            self.declare(table.var)?;
        }
        if kernel.params.len() != 2 {
            return invalid("it has not two parameters");
        }
        for param in &kernel.params {
            self.declare(*param)?;
        }
        self.gives = Ty::int(32, false);
        self.statements(&kernel.body)?;
        match self.labels.iter().position(|label| *label == (false, true)) {
            Some(missing) => invalid(format!("it goes to `{}`, which is nowhere", kernel.labels[missing])),
            None => Ok(()),
        }
    }

    fn name(&self, var: Var) -> &str {
        self.kernel.vars.get(var.index()).map_or("a variable of another kernel", |var| &var.name)
    }

    fn declare(&mut self, var: Var) -> Result<()> {
        match self.declared.get_mut(var.index()) {
            Some(declared) if !*declared => *declared = true,
            Some(_) => return invalid(format!("`{}` is declared twice", self.name(var))),
            None => return invalid("a variable is of another kernel"),
        }
        self.bound[var.index()] = true;
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(var);
        }
        Ok(())
    }

    fn leave(&mut self) {
        for var in self.scopes.pop().into_iter().flatten() {
            self.bound[var.index()] = false;
        }
    }

    fn statements(&mut self, all: &[Stmt]) -> Result<()> {
        all.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn label(&mut self, label: Label) -> Result<&mut (bool, bool)> {
        let found = self.labels.get_mut(label.0 as usize);
        found.ok_or_else(|| Invalid("a label is of another kernel".to_owned()))
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<()> {
        match stmt {
            Stmt::Block(all) => {
                self.scopes.push(Vec::new());
                self.statements(all)?;
                self.leave();
            }
            Stmt::Let(var, value) => {
                let from = self.ty(value)?;
                self.declare(*var)?;
                let data = self.kernel.var(*var);
                if matches!(data.ty, Ty::Array(..) | Ty::State | Ty::Void) || !gives(&from, &data.ty) {
                    return invalid(format!("`{}` of type {} begins as {from}", data.name, data.ty));
                }
            }
            Stmt::Declare(var) => {
                self.declare(*var)?;
                if self.kernel.var(*var).ty == Ty::Void {
                    return invalid(format!("`{}` has no type", self.name(*var)));
                }
            }
            Stmt::Do(expr) => {
                self.ty(expr)?;
            }
            Stmt::If(of) => {
                self.condition(&of.cond)?;
                self.statement(&of.then)?;
                if let Some(els) = &of.els {
                    self.statement(els)?;
                }
            }
            Stmt::Loop(of) => {
                self.scopes.push(Vec::new());
                if let Some(first) = &of.first {
                    self.statement(first)?;
                }
                if let Some(cond) = &of.cond {
                    self.condition(cond)?;
                }
                if let Some(step) = &of.step {
                    self.ty(step)?;
                }
                self.loops += 1;
                self.statement(&of.body)?;
                self.loops -= 1;
                self.leave();
            }
            Stmt::EachLane(mask, lane, body) => {
                let ty = self.ty(mask)?;
                if !takes(Operand::Mask, &ty) {
                    return invalid(format!("lanes are those of {ty}, not of a mask"));
                }
                self.scopes.push(Vec::new());
                self.declare(*lane)?;
                self.statement(body)?;
                self.leave();
            }
            Stmt::Straight(body) => self.statement(body)?,
            Stmt::Label(label) => {
                let is_twice = std::mem::replace(&mut self.label(*label)?.0, true);
                if is_twice {
                    return invalid(format!("`{}` is there twice", self.kernel.labels[label.0 as usize]));
                }
            }
            Stmt::Goto(label) => self.label(*label)?.1 = true,
            Stmt::Macro(id) => {
                let kernel = self.kernel;
                let Some(of) = kernel.macros.get(id.0 as usize) else { return invalid("a macro is of another kernel") };
                if of.body.iter().any(is_declaration) {
                    return invalid(format!("`{}` declares something, or is a part of itself", of.name));
                }
                self.statements(&of.body)?;
            }
            Stmt::Break if self.loops == 0 => return invalid("a `break` is outside of a loop"),
            Stmt::Break => {}
            Stmt::Return(value) => {
                let ty = value.as_ref().map_or(Ok(Ty::Void), |value| self.ty(value))?;
                if !gives(&ty, &self.gives) {
                    return invalid(format!("{ty} is returned for {}", self.gives));
                }
            }
        }
        Ok(())
    }

    fn condition(&mut self, expr: &Expr) -> Result<()> {
        let ty = self.ty(expr)?;
        if takes(Operand::Truth, &ty) { Ok(()) } else { invalid(format!("{ty} is no condition")) }
    }

    fn integer(&mut self, expr: &Expr) -> Result<()> {
        let ty = self.ty(expr)?;
        if takes(Operand::Any, &ty) { Ok(()) } else { invalid(format!("{ty} is no integer")) }
    }

    /// The type of an expression.
    fn ty(&mut self, expr: &Expr) -> Result<Ty> {
        Ok(match expr {
            Expr::Int(_, bits, unsigned) => Ty::int(*bits, !unsigned),
            Expr::Real(_, is_float) => {
                if *is_float {
                    Ty::F32
                } else {
                    Ty::F64
                }
            }
            Expr::Var(var) => {
                if !self.bound.get(var.index()).copied().unwrap_or_default() {
                    return invalid(format!("`{}` is used where it is not known", self.name(*var)));
                }
                self.kernel.var(*var).ty.decayed()
            }
            Expr::Unary(op, of) => self.unary(*op, of)?,
            Expr::Binary(op, a, b) => self.binary(*op, a, b)?,
            Expr::Choose(parts) => {
                let [cond, a, b] = &**parts;
                self.condition(cond)?;
                match (self.ty(a)?, self.ty(b)?) {
                    (Ty::Mask, other) | (other, Ty::Mask) if takes(Operand::Mask, &other) => Ty::Mask,
                    (a, b) if a.is_number() && b.is_number() => common(&a, &b),
                    (a, b) => return invalid(format!("a choice is between {a} and {b}")),
                }
            }
            Expr::Cast(to, of) => {
                let from = self.ty(of)?;
                if !gives(&from, to) {
                    return invalid(format!("{from} is cast to {to}"));
                }
                to.clone()
            }
            Expr::At(_, at) => {
                let ty = self.ty(at)?;
                element(&ty)?
            }
            Expr::Index(of, index) => {
                self.integer(index)?;
                let ty = self.ty(of)?;
                element(&ty)?
            }
            Expr::Field(var, _) => match self.ty(&Expr::Var(*var))? {
                Ty::Ptr(of) if *of == Ty::State => Ty::int(32, false),
                other => return invalid(format!("a member is of {other}, not of the state")),
            },
            Expr::Assign(op, to, from) => self.assign(*op, to, from)?,
            Expr::Op(op, args) => self.operation(*op, args)?,
            Expr::Call(id, args) => {
                let Some(function) = self.kernel.functions.get(id.0 as usize) else {
                    return invalid("a function is of another kernel");
                };
                if function.params.len() != args.len() {
                    return invalid(format!("`{}` is given {} values", function.name, args.len()));
                }
                for (param, arg) in function.params.iter().zip(args) {
                    let (ty, wanted) = (self.ty(arg)?, &self.kernel.var(*param).ty);
                    if !gives(&ty, wanted) {
                        return invalid(format!("`{}` is given {ty} for {wanted}", function.name));
                    }
                }
                function.gives.clone()
            }
            Expr::Host(host) => {
                self.integer(&host.address)?;
                if host.params.len() != host.args.len() {
                    return invalid(format!("a function of {} values is given {}", host.params.len(), host.args.len()));
                }
                for (wanted, arg) in host.params.iter().zip(&host.args) {
                    let ty = self.ty(arg)?;
                    if !gives(&ty, wanted) {
                        return invalid(format!("a function is given {ty} for {wanted}"));
                    }
                }
                host.gives.clone()
            }
        })
    }

    fn unary(&mut self, op: Unary, of: &Expr) -> Result<Ty> {
        let ty = self.ty(of)?;
        match (op, &ty) {
            (Unary::Not, _) if takes(Operand::Truth, &ty) => Ok(Ty::Bool),
            (Unary::Invert, Ty::Mask) => Ok(Ty::Mask),
            (Unary::Invert | Unary::Neg, Ty::Int { .. } | Ty::Bool) => Ok(common(&ty, &Ty::int(32, true))),
            (Unary::Neg, Ty::F32 | Ty::F64) => Ok(ty),
            _ => invalid(format!("{op:?} is of {ty}")),
        }
    }

    fn binary(&mut self, op: Binary, a: &Expr, b: &Expr) -> Result<Ty> {
        if matches!(op, Binary::Both | Binary::Either) {
            self.condition(a)?;
            self.condition(b)?;
            return Ok(Ty::Bool);
        }
        let (a, b) = (self.ty(a)?, self.ty(b)?);
        self.combined(op, &a, &b)
    }

    /// The type of what an operator makes of two values.
    fn combined(&self, op: Binary, a: &Ty, b: &Ty) -> Result<Ty> {
        let wrong = || invalid(format!("`{}` is of {a} and {b}", op.sign()));
        let (x, y) = match (a, b) {
            (Ty::Mask, other) | (other, Ty::Mask) if op.is_of_bits() => {
                return if takes(Operand::Mask, other) { Ok(Ty::Mask) } else { wrong() };
            }
            (Ty::Ptr(_), _) if matches!(op, Binary::Add | Binary::Sub) => {
                return if matches!(b, Ty::Int { .. } | Ty::Bool) { Ok(a.clone()) } else { wrong() };
            }
            _ => (number(a), number(b)),
        };
        let (Some(x), Some(y)) = (x, y) else { return wrong() };
        if op.compares() {
            return Ok(Ty::Bool);
        }
        if matches!(x, Ty::Ptr(_) | Ty::Fn(..)) || matches!(y, Ty::Ptr(_) | Ty::Fn(..)) {
            return wrong();
        }
        let both = common(&x, &y);
        match op {
            Binary::Shl | Binary::Shr if !x.is_float() && !y.is_float() => Ok(common(&x, &Ty::int(32, true))),
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div => Ok(both),
            Binary::Rem | Binary::And | Binary::Or | Binary::Xor if !both.is_float() => Ok(both),
            _ => wrong(),
        }
    }

    fn assign(&mut self, op: Option<Binary>, to: &Expr, from: &Expr) -> Result<Ty> {
        let ty = match to {
            Expr::Var(var) => {
                let ty = self.ty(to)?;
                let data = self.kernel.var(*var);
                if data.constant || matches!(data.ty, Ty::Array(..) | Ty::State) {
                    return invalid(format!("`{}` is set", data.name));
                }
                ty
            }
            Expr::At(..) | Expr::Index(..) | Expr::Field(..) => self.ty(to)?,
            _ => return invalid("what is set is no place"),
        };
        let value = self.ty(from)?;
        let value = op.map_or(Ok(value.clone()), |op| self.combined(op, &ty, &value))?;
        if gives(&value, &ty) { Ok(ty) } else { invalid(format!("{value} is written to {ty}")) }
    }

    fn operation(&mut self, op: Op, args: &[Expr]) -> Result<Ty> {
        match op {
            Op::Memory(memory) if !memory.is_one() => return invalid(format!("there is no `{}`", op.name())),
            Op::Atomic(atomic) if !atomic.is_one() => return invalid(format!("there is no `{}`", op.name())),
            _ => {}
        }
        let operands = op.operands();
        if operands.len() != args.len() {
            return invalid(format!("`{}` has {} operands", op.name(), args.len()));
        }
        let mut first = None;
        for (operand, arg) in operands.iter().zip(args) {
            let ty = self.ty(arg)?;
            if !takes(*operand, &ty) {
                return invalid(format!("`{}` has {ty} for {operand:?}", op.name()));
            }
            first.get_or_insert(ty);
        }
        Ok(match op.gives() {
            Operand::Any => shifted(op, &first.unwrap_or(Ty::Void)),
            Operand::Place | Operand::State | Operand::Function => {
                return invalid(format!("`{}` gives an address", op.name()));
            }
            known => Ty::of(known),
        })
    }
}

/// The type of a shifted number: to the right a narrow one stays what it is.
fn shifted(op: Op, ty: &Ty) -> Ty {
    match ty {
        Ty::Bool | Ty::Int { bits: 8 | 16, .. } if op == Op::Number(NumberOp::Shl) => Ty::int(32, true),
        Ty::Bool => Ty::int(32, false),
        other => number(other).unwrap_or(Ty::Void),
    }
}

/// True if a statement of a macro is what none may have: a declaration, a label, a macro.
fn is_declaration(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Let(..) | Stmt::Declare(_) | Stmt::Label(_) | Stmt::Macro(_) | Stmt::Loop(_) | Stmt::EachLane(..) => true,
        Stmt::Block(all) => all.iter().any(is_declaration),
        Stmt::If(of) => is_declaration(&of.then) || of.els.as_ref().is_some_and(is_declaration),
        Stmt::Straight(body) => is_declaration(body),
        Stmt::Do(_) | Stmt::Goto(_) | Stmt::Break | Stmt::Return(_) => false,
    }
}

/// True if a statement declares a constant, or chooses what a variable of a function is.
fn is_straight(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Let(..) => true,
        Stmt::If(of) => {
            of.els.is_none() && matches!(&of.then, Stmt::Do(Expr::Assign(None, to, _)) if matches!(**to, Expr::Var(_)))
        }
        _ => false,
    }
}

/// The object at an address.
fn element(ty: &Ty) -> Result<Ty> {
    match ty {
        Ty::Ptr(of) if of.is_number() || matches!(**of, Ty::Mask | Ty::Array(..)) => Ok(of.decayed()),
        other => invalid(format!("{other} is no address of a number")),
    }
}

/// The type as which an operator of numbers takes a value.
fn number(ty: &Ty) -> Option<Ty> {
    match ty {
        Ty::Mask => Some(Ty::int(32, true)),
        other => other.is_number().then(|| other.clone()),
    }
}

/// True if an operand may be of a type.
fn takes(operand: Operand, ty: &Ty) -> bool {
    let is_integer = matches!(ty, Ty::Int { .. } | Ty::Bool | Ty::Mask);
    match operand {
        Operand::Lanes(kind) => *ty == Ty::Lanes(kind),
        Operand::Mask | Operand::Any => is_integer,
        Operand::Int { .. } => is_integer || matches!(ty, Ty::Ptr(_)),
        Operand::Truth => ty.is_number() || *ty == Ty::Mask,
        Operand::F32 | Operand::F64 => is_integer || ty.is_float(),
        Operand::Place => matches!(ty, Ty::Ptr(_)) || bits_of(ty) == (64, true) && is_integer,
        Operand::State => matches!(ty, Ty::Ptr(of) if **of == Ty::State),
        Operand::Function => matches!(ty, Ty::Fn(..)),
        Operand::Nothing => false,
    }
}

/// True if a value of a type may be given for one of another.
fn gives(from: &Ty, to: &Ty) -> bool {
    let is_integer = |ty: &Ty| matches!(ty, Ty::Int { .. } | Ty::Bool | Ty::Mask);
    let is_word = |ty: &Ty| is_integer(ty) || matches!(ty, Ty::Ptr(_) | Ty::Fn(..));
    match to {
        Ty::Void => *from == Ty::Void,
        Ty::Lanes(_) => from == to,
        Ty::Mask => is_integer(from),
        Ty::F32 | Ty::F64 => is_integer(from) || from.is_float(),
        Ty::Int { .. } | Ty::Bool | Ty::Ptr(_) | Ty::Fn(..) => is_word(from),
        Ty::Array(..) | Ty::State => false,
    }
}

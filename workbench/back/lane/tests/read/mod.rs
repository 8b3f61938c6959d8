//! From the C of a kernel to the kernel, as [`super::super::write_c`] writes it and somebody may by hand: [`token`] makes words of the text and expands its macros, [`expr`]
//! reads types and expressions, this page statements. Names become variables, operations of the table, functions and labels.

mod expr;
mod token;

use std::collections::HashMap;
use std::rc::Rc;

use self::token::Tok;
use crate::back::lane::memory::Space;
use crate::back::lane::tree::{
    Binary, Expr, Function, FunctionId, If, Kernel, Label, Loop, Role, Stmt, Table, Var, VarData,
};
use crate::back::lane::types::{Kind, Ty};
use crate::back::lane::valid::{Invalid, Result};
use crate::ir::MathFn;

/// An error: the text has something that is not of the lane IR.
fn wrong(what: impl Into<String>) -> Invalid {
    Invalid(what.into())
}

/// Reads a kernel's text.
///
/// # Errors
/// The first piece that is not of the lane IR.
pub fn kernel(text: &str) -> Result<Kernel> {
    let mut reader = Reader {
        words: token::words(text)?,
        at: 0,
        depth: 0,
        kernel: Kernel::default(),
        scopes: vec![HashMap::new()],
        functions: HashMap::new(),
        labels: HashMap::new(),
    };
    while reader.peek().is_some() {
        reader.top()?;
    }
    Ok(reader.kernel)
}

/// Reads words one after another.
struct Reader<'t> {
    words: Vec<Tok<'t>>,
    at: usize,
    depth: u32,
    kernel: Kernel,
    scopes: Vec<HashMap<&'t str, Var>>,
    functions: HashMap<&'t str, FunctionId>,
    labels: HashMap<&'t str, Label>,
}

impl<'t> Reader<'t> {
    fn lookup(&self, name: &str) -> Result<Var> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        found.copied().ok_or_else(|| wrong(format!("there is no variable `{name}`")))
    }

    fn declare(&mut self, name: &'t str, ty: Ty, constant: bool) -> Var {
        let space = match name {
            "scratch" => Space::Scratch,
            _ if name.starts_with("B_p") => Space::Global,
            _ if name.starts_with("B_s") => Space::Shared,
            _ => Space::Unknown,
        };
        let role = match name {
            "budget" => Role::Budget,
            _ if name.starts_with("nt_") => Role::PastCache,
            _ => Role::Plain,
        };
        let var = Var(self.kernel.vars.len() as u32);
        self.kernel.vars.push(VarData { name: name.to_owned(), ty, space, role, constant });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, var);
        }
        var
    }

    fn label(&mut self, name: &'t str) -> Label {
        let labels = &mut self.kernel.labels;
        *self.labels.entry(name).or_insert_with(|| {
            labels.push(name.to_owned());
            Label(labels.len() as u32 - 1)
        })
    }

    /// A function, or a constant array.
    fn top(&mut self) -> Result<()> {
        let inline = self.eat_name("FN");
        let (gives, _) = self.ty()?;
        let name = self.name()?;
        if self.eat("[") {
            return self.table(gives, name);
        }
        self.want("(")?;
        // A function sees no variable of another one, but for constant arrays.
        self.scopes.push(HashMap::new());
        let mut params = Vec::new();
        while !self.eat(")") {
            let (ty, _) = self.ty()?;
            let name = self.name()?;
            params.push(self.declare(name, ty, true));
            self.eat(",");
        }
        self.want("{")?;
        let body = self.statements()?;
        self.scopes.pop();
        if inline {
            self.functions.insert(name, FunctionId(self.kernel.functions.len() as u32));
            self.kernel.functions.push(Function { name: name.to_owned(), math: math(name), gives, params, body });
        } else {
            (self.kernel.params, self.kernel.body) = (params, body);
        }
        Ok(())
    }

    fn table(&mut self, ty: Ty, name: &'t str) -> Result<()> {
        while self.peek().is_some() && !self.eat("{") {
            self.at += 1;
        }
        let mut words = Vec::new();
        while !self.eat("}") {
            let Some(Tok::Int(n, ..)) = self.peek() else { return Err(wrong("a table is of something else")) };
            words.push(n as u32);
            self.at += 1;
            self.eat(",");
        }
        self.want(";")?;
        let var = self.declare(name, Ty::Array(Rc::new(ty), words.len() as u32), true);
        self.kernel.tables.push(Table { var, words: words.into() });
        Ok(())
    }

    /// Statements up to the bracket that closes them.
    fn statements(&mut self) -> Result<Vec<Stmt>> {
        let mut all = Vec::new();
        while !self.eat("}") {
            if self.at_type() {
                self.declaration(&mut all)?;
            } else if !self.eat(";") {
                all.push(self.statement()?);
            }
        }
        Ok(all)
    }

    fn statement(&mut self) -> Result<Stmt> {
        if self.eat(";") {
            return Ok(Stmt::Block(Vec::new()));
        }
        if self.eat("{") {
            self.scopes.push(HashMap::new());
            let all = self.statements()?;
            self.scopes.pop();
            return Ok(Stmt::Block(all));
        }
        let word = match self.peek() {
            Some(Tok::Name(name)) => name,
            _ => "",
        };
        if !word.is_empty() && self.next() == Some(Tok::Sign(":")) {
            self.at += 2;
            return Ok(Stmt::Label(self.label(word)));
        }
        match word {
            "if" => {
                self.at += 1;
                let cond = self.bracketed()?;
                let then = self.statement()?;
                let els = if self.eat_name("else") { Some(self.statement()?) } else { None };
                Ok(Stmt::If(Box::new(If { cond, then, els })))
            }
            "for" => self.repeat(),
            "LOOP_LANES" => {
                self.at += 1;
                let mask = self.bracketed()?;
                self.scopes.push(HashMap::new());
                let lane = self.declare("l", Ty::int(32, false), true);
                let body = self.statement()?;
                self.scopes.pop();
                Ok(Stmt::EachLane(mask, lane, Box::new(body)))
            }
            "STRAIGHT" => {
                self.at += 1;
                Ok(Stmt::Straight(Box::new(self.statement()?)))
            }
            "goto" => {
                self.at += 1;
                let name = self.name()?;
                self.want(";")?;
                Ok(Stmt::Goto(self.label(name)))
            }
            "break" => {
                self.at += 1;
                self.want(";")?;
                Ok(Stmt::Break)
            }
            "return" => {
                self.at += 1;
                let value = if self.is(";") { None } else { Some(self.expr()?) };
                self.want(";")?;
                Ok(Stmt::Return(value))
            }
            _ => {
                let expr = self.expr()?;
                self.want(";")?;
                Ok(Stmt::Do(expr))
            }
        }
    }

    fn bracketed(&mut self) -> Result<Expr> {
        self.want("(")?;
        let expr = self.expr()?;
        self.want(")")?;
        Ok(expr)
    }

    fn repeat(&mut self) -> Result<Stmt> {
        self.at += 1;
        self.want("(")?;
        self.scopes.push(HashMap::new());
        let mut first = Vec::new();
        if self.at_type() {
            self.declaration(&mut first)?;
        } else if !self.eat(";") {
            first.push(self.statement()?);
        }
        let cond = if self.is(";") { None } else { Some(self.expr()?) };
        self.want(";")?;
        let step = if self.is(")") { None } else { Some(self.step()?) };
        self.want(")")?;
        let body = self.statement()?;
        self.scopes.pop();
        if first.len() > 1 {
            return Err(wrong("a loop begins with several variables"));
        }
        Ok(Stmt::Loop(Box::new(Loop { first: first.pop(), cond, step, body })))
    }

    /// The last part of a loop's head; `x++` is `x += 1`.
    fn step(&mut self) -> Result<Expr> {
        let expr = self.expr()?;
        if self.eat("++") {
            return Ok(Expr::Assign(Some(Binary::Add), Box::new(expr), Box::new(Expr::Int(1, 32, false))));
        }
        Ok(expr)
    }

    /// Variables of a type.
    fn declaration(&mut self, all: &mut Vec<Stmt>) -> Result<()> {
        let (ty, constant) = self.ty()?;
        loop {
            let name = self.name()?;
            let stmt = if self.is("[") {
                let ty = self.array(ty.clone())?;
                Stmt::Declare(self.declare(name, ty, false))
            } else if ty == Ty::State {
                while self.peek().is_some() && !self.is(";") {
                    self.at += 1;
                }
                Stmt::Declare(self.declare(name, ty.clone(), false))
            } else if self.eat("=") {
                // The initialiser does not see the variable.
                let value = self.expr()?;
                Stmt::Let(self.declare(name, ty.clone(), constant), value)
            } else {
                Stmt::Declare(self.declare(name, ty.clone(), false))
            };
            all.push(stmt);
            if self.eat(";") {
                return Ok(());
            }
            self.want(",")?;
            // A pointer's star belongs to one name.
            self.eat("*");
        }
    }

    /// The type of an array of such.
    fn array(&mut self, of: Ty) -> Result<Ty> {
        let mut counts = Vec::new();
        while self.eat("[") {
            let count = self.expr()?;
            self.want("]")?;
            match known(&count).and_then(|n| u32::try_from(n).ok()) {
                Some(n) => counts.push(n),
                None => return Err(wrong("an array is of a length that is not known")),
            }
        }
        // The alignment is skipped: the tree has none.
        while self.peek().is_some() && !self.is(";") && !self.is(",") {
            if self.is("=") {
                return Err(wrong("an array has a value"));
            }
            self.at += 1;
        }
        Ok(counts.iter().rev().fold(of, |of, count| Ty::Array(Rc::new(of), *count)))
    }
}

/// A length.
fn known(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Int(n, ..) => Some(*n),
        Expr::Binary(Binary::Mul, a, b) => known(a)?.checked_mul(known(b)?),
        Expr::Binary(Binary::Add, a, b) => known(a)?.checked_add(known(b)?),
        _ => None,
    }
}

/// The math function of a name.
fn math(name: &str) -> Option<(MathFn, Kind)> {
    let (name, kind) = name.strip_prefix("math_")?.rsplit_once('_')?;
    let kind = Kind::ALL.into_iter().find(|of| of.name() == kind)?;
    MathFn::ALL.iter().find(|math| math.name() == name).map(|math| (*math, kind))
}

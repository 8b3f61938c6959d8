//! A kernel as C, for a C compiler and for somebody to read: a statement a line, operators in the brackets that they need, operations by
//! their names. What the operations are, the preludes of `back::cpu::wide` say.

use std::fmt::{self, Write};

use super::table::{NumberOp, Op};
use super::tree::{Binary, Expr, Function, Kernel, Stmt, Unary, Var};
use super::types::{Kind, Ty};

/// The power of operators with one operand, and that of what stands behind its operand.
const UNARY: u8 = 12;
const POSTFIX: u8 = 13;

/// The functions and the constant arrays of a kernel.
pub fn before(kernel: &Kernel) -> String {
    let mut writer = Writer { kernel, out: String::new() };
    let written =
        (kernel.functions.iter().try_for_each(|function| writer.function(function))).and_then(|()| writer.tables());
    // Writing to a `String` does not fail.
    written.map_or_else(|_| String::new(), |()| writer.out)
}

/// The kernel's macros and its function, which is called `kernel`.
pub fn kernel(kernel: &Kernel) -> String {
    let mut writer = Writer { kernel, out: String::new() };
    writer.kernel().map_or_else(|_| String::new(), |()| writer.out)
}

/// An expression.
pub fn expression(kernel: &Kernel, expr: &Expr) -> String {
    let mut writer = Writer { kernel, out: String::new() };
    writer.expr(expr, 0).map_or_else(|_| String::new(), |()| writer.out)
}

/// The number of characters of an expression.
pub fn length(kernel: &Kernel, expr: &Expr) -> usize {
    let mut writer = Writer { kernel, out: Count(0) };
    writer.expr(expr, 0).map_or(0, |()| writer.out.0)
}

/// The number of characters of a statement.
pub fn length_of_statement(kernel: &Kernel, stmt: &Stmt) -> usize {
    let mut writer = Writer { kernel, out: Count(0) };
    writer.statement(stmt).map_or(0, |()| writer.out.0)
}

/// A text of which the length alone matters.
struct Count(usize);

impl Write for Count {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

struct Writer<'k, W> {
    kernel: &'k Kernel,
    out: W,
}

impl<'k, W: Write> Writer<'k, W> {
    fn name(&self, var: Var) -> &'k str {
        &self.kernel.var(var).name
    }

    fn params(&mut self, params: &[Var]) -> fmt::Result {
        let kernel = self.kernel;
        for (i, var) in params.iter().enumerate() {
            let data = kernel.var(*var);
            self.out.write_str(if i == 0 { "" } else { ", " })?;
            self.ty(&data.ty)?;
            write!(self.out, " {}", data.name)?;
        }
        Ok(())
    }

    fn function(&mut self, function: &Function) -> fmt::Result {
        self.out.write_str("FN ")?;
        self.ty(&function.gives)?;
        write!(self.out, " {}(", function.name)?;
        self.params(&function.params)?;
        self.out.write_str(") {\n")?;
        function.body.iter().try_for_each(|stmt| self.statement(stmt))?;
        self.out.write_str("}\n")
    }

    fn tables(&mut self) -> fmt::Result {
        for table in &self.kernel.tables {
            let name = self.name(table.var);
            write!(self.out, "static const u32 {name}[{}] = {{", table.words.len())?;
            for (i, word) in table.words.iter().enumerate() {
                write!(self.out, "{}{word}", if i == 0 { "" } else { "," })?;
            }
            self.out.write_str("};\n")?;
        }
        Ok(())
    }

    fn kernel(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        for of in &kernel.macros {
            let mut body = Writer { kernel, out: String::new() };
            of.body.iter().try_for_each(|stmt| body.statement(stmt))?;
            writeln!(self.out, "#define {} {}", of.name, body.out.trim_end().replace('\n', " "))?;
        }
        self.out.write_str("u32 kernel(")?;
        self.params(&kernel.params)?;
        self.out.write_str(") {\n")?;
        kernel.body.iter().try_for_each(|stmt| self.statement(stmt))?;
        self.out.write_str("}\n")
    }

    /// A statement with the end of its line.
    fn statement(&mut self, stmt: &Stmt) -> fmt::Result {
        let kernel = self.kernel;
        match stmt {
            Stmt::Block(all) => {
                self.out.write_str("{\n")?;
                all.iter().try_for_each(|stmt| self.statement(stmt))?;
                self.out.write_str("}\n")
            }
            Stmt::Let(..) | Stmt::Declare(_) => {
                self.declaration(stmt)?;
                self.out.write_str(";\n")
            }
            Stmt::Do(expr) => {
                self.expr(expr, 0)?;
                self.out.write_str(";\n")
            }
            Stmt::If(of) => {
                self.out.write_str("if (")?;
                self.expr(&of.cond, 0)?;
                self.out.write_str(") ")?;
                match &of.els {
                    None => self.statement(&of.then),
                    Some(els) => {
                        // Else the `else` would belong to what is inside.
                        let is_open = ends_open(&of.then);
                        self.out.write_str(if is_open { "{\n" } else { "" })?;
                        self.statement(&of.then)?;
                        self.out.write_str(if is_open { "}\nelse " } else { "else " })?;
                        self.statement(els)
                    }
                }
            }
            Stmt::Loop(of) => {
                self.out.write_str("for (")?;
                if let Some(first) = &of.first {
                    self.declaration(first)?;
                }
                self.out.write_str(";")?;
                if let Some(cond) = &of.cond {
                    self.out.write_str(" ")?;
                    self.expr(cond, 0)?;
                }
                self.out.write_str(";")?;
                if let Some(step) = &of.step {
                    self.out.write_str(" ")?;
                    self.expr(step, 0)?;
                }
                self.out.write_str(") ")?;
                self.statement(&of.body)
            }
            Stmt::EachLane(mask, _, body) => {
                self.out.write_str("LOOP_LANES(")?;
                self.expr(mask, 0)?;
                self.out.write_str(") ")?;
                self.statement(body)
            }
            Stmt::Straight(body) => {
                self.out.write_str("STRAIGHT ")?;
                self.statement(body)
            }
            Stmt::Label(label) => writeln!(self.out, "{}:;", kernel.labels[label.0 as usize]),
            Stmt::Goto(label) => writeln!(self.out, "goto {};", kernel.labels[label.0 as usize]),
            Stmt::Break => self.out.write_str("break;\n"),
            Stmt::Return(None) => self.out.write_str("return;\n"),
            Stmt::Return(Some(value)) => {
                self.out.write_str("return ")?;
                self.expr(value, 0)?;
                self.out.write_str(";\n")
            }
            Stmt::Macro(id) => writeln!(self.out, "{}", kernel.macros[id.0 as usize].name),
        }
    }

    /// A declaration, or an expression, without the end of its statement.
    fn declaration(&mut self, stmt: &Stmt) -> fmt::Result {
        let kernel = self.kernel;
        match stmt {
            Stmt::Let(var, value) => {
                let data = kernel.var(*var);
                match (&data.ty, data.constant) {
                    (Ty::Ptr(_), true) => {
                        self.ty(&data.ty)?;
                        self.out.write_str(" const")?;
                    }
                    (ty, constant) => {
                        self.out.write_str(if constant { "const " } else { "" })?;
                        self.ty(ty)?;
                    }
                }
                write!(self.out, " {} = ", data.name)?;
                self.expr(value, 0)
            }
            Stmt::Declare(var) => {
                let data = kernel.var(*var);
                let (mut of, mut counts) = (&data.ty, Vec::new());
                while let Ty::Array(element, count) = of {
                    counts.push(*count);
                    of = element;
                }
                self.element(of, !counts.is_empty())?;
                write!(self.out, " {}", data.name)?;
                counts.iter().try_for_each(|count| write!(self.out, "[{count}]"))?;
                self.out.write_str(match (of, counts.is_empty()) {
                    (Ty::State, _) => " = {0}",
                    (_, true) => "",
                    (_, false) => " __attribute__((aligned(64)))",
                })
            }
            Stmt::Do(expr) => self.expr(expr, 0),
            _ => Err(fmt::Error),
        }
    }

    fn ty(&mut self, ty: &Ty) -> fmt::Result {
        self.element(ty, false)
    }

    /// A type; of bytes in memory that of addresses.
    fn element(&mut self, ty: &Ty, in_memory: bool) -> fmt::Result {
        match ty {
            Ty::Void => self.out.write_str("void"),
            Ty::Int { bits: 8, signed: true } if in_memory => self.out.write_str("char"),
            Ty::Int { bits: 128, signed } => self.out.write_str(if *signed { "wide" } else { "unsigned __int128" }),
            Ty::Int { bits, signed } => write!(self.out, "{}{bits}", if *signed { 'i' } else { 'u' }),
            Ty::Bool => self.out.write_str("b1"),
            Ty::F32 => self.out.write_str("f32"),
            Ty::F64 => self.out.write_str("f64"),
            Ty::Mask => self.out.write_str("m16"),
            Ty::Lanes(kind) => self.out.write_str(match kind {
                Kind::F32 => "vf32",
                Kind::I32 => "vi32",
                Kind::F64 => "vf64",
                Kind::I64 => "vi64",
            }),
            Ty::Ptr(of) => {
                self.element(of, true)?;
                self.out.write_str("*")
            }
            Ty::Array(of, _) => {
                self.element(of, true)?;
                self.out.write_str("*")
            }
            Ty::State => self.out.write_str("State"),
            Ty::Fn(gives, params) => {
                self.ty(gives)?;
                self.out.write_str(" (*)(")?;
                for (i, ty) in params.iter().enumerate() {
                    self.out.write_str(if i == 0 { "" } else { ", " })?;
                    self.ty(ty)?;
                }
                self.out.write_str(")")
            }
        }
    }

    /// An expression, in brackets if it binds less strongly than it has to.
    fn expr(&mut self, expr: &Expr, least: u8) -> fmt::Result {
        if power(expr) < least {
            self.out.write_str("(")?;
            self.bare(expr)?;
            return self.out.write_str(")");
        }
        self.bare(expr)
    }

    /// An integer; addresses and the bits of floats are told by their digits in hexadecimal.
    fn integer(&mut self, (n, bits, unsigned): (u64, u8, bool), is_of_bits: bool) -> fmt::Result {
        let suffix = match (bits, unsigned) {
            (..=32, false) => "",
            (..=32, true) => "u",
            (_, false) => "ll",
            (_, true) => "ull",
        };
        match n >> 32 {
            0 if !is_of_bits && n != 0xffff => write!(self.out, "{n}{suffix}"),
            // C has a wider type for it, but in hexadecimal an unsigned one.
            _ if !unsigned && n >> 63 != 0 => write!(self.out, "{n}{suffix}"),
            _ => write!(self.out, "{n:#x}{suffix}"),
        }
    }

    fn args(&mut self, args: &[Expr]) -> fmt::Result {
        self.out.write_str("(")?;
        for (i, arg) in args.iter().enumerate() {
            self.out.write_str(if i == 0 { "" } else { ", " })?;
            self.expr(arg, 0)?;
        }
        self.out.write_str(")")
    }

    fn bare(&mut self, expr: &Expr) -> fmt::Result {
        let own = power(expr);
        match expr {
            Expr::Int(n, bits, unsigned) => self.integer((*n, *bits, *unsigned), false),
            Expr::Real(x, is_float) => write!(self.out, "{x:?}{}", if *is_float { "f" } else { "" }),
            Expr::Var(var) => {
                let address = if self.kernel.var(*var).ty == Ty::State { "&" } else { "" };
                let name = self.name(*var);
                write!(self.out, "{address}{name}")
            }
            Expr::Unary(op, a) => {
                self.out.write_str(match op {
                    Unary::Neg => "-",
                    Unary::Invert => "~",
                    Unary::Not => "!",
                })?;
                // Two of them would be another operator.
                let least = if matches!(**a, Expr::Unary(Unary::Neg, _)) { POSTFIX } else { UNARY };
                self.expr(a, least)
            }
            Expr::Binary(op, a, b) => {
                self.expr(a, own)?;
                write!(self.out, " {} ", op.sign())?;
                self.expr(b, own + 1)
            }
            Expr::Choose(parts) => {
                let [cond, a, b] = &**parts;
                self.expr(cond, own + 1)?;
                self.out.write_str(" ? ")?;
                self.expr(a, 0)?;
                self.out.write_str(" : ")?;
                self.expr(b, own)
            }
            Expr::Cast(ty, a) => {
                self.out.write_str("(")?;
                self.ty(ty)?;
                self.out.write_str(")")?;
                self.expr(a, UNARY)
            }
            Expr::At(_, at) => {
                self.out.write_str("*")?;
                self.expr(at, UNARY)
            }
            Expr::Index(a, index) => {
                self.expr(a, POSTFIX)?;
                self.out.write_str("[")?;
                self.expr(index, 0)?;
                self.out.write_str("]")
            }
            Expr::Field(var, field) => {
                let name = self.name(*var);
                write!(self.out, "{name}.{}", field.name())
            }
            Expr::Assign(op, to, from) => {
                self.expr(to, UNARY)?;
                write!(self.out, " {}= ", op.map_or("", Binary::sign))?;
                self.expr(from, 0)
            }
            Expr::Op(Op::Number(op @ NumberOp::Fence), _) => write!(self.out, "{}(__ATOMIC_SEQ_CST)", op.name()),
            Expr::Op(op, args) => {
                op.write_name(&mut self.out)?;
                match (op, &args[..]) {
                    (Op::Number(NumberOp::F32Of | NumberOp::F64Of), [Expr::Int(n, bits, unsigned)]) => {
                        self.out.write_str("(")?;
                        self.integer((*n, *bits, *unsigned), true)?;
                        self.out.write_str(")")
                    }
                    _ => self.args(args),
                }
            }
            Expr::Call(id, args) => {
                let kernel = self.kernel;
                self.out.write_str(&kernel.function(*id).name)?;
                self.args(args)
            }
            Expr::Host(host) => {
                self.out.write_str("((")?;
                self.ty(&host.gives)?;
                self.out.write_str(" (*)(")?;
                for (i, ty) in host.params.iter().enumerate() {
                    self.out.write_str(if i == 0 { "" } else { ", " })?;
                    self.ty(ty)?;
                }
                self.out.write_str("))")?;
                self.expr(&host.address, UNARY)?;
                self.out.write_str(")")?;
                self.args(&host.args)
            }
        }
    }
}

/// The strength of what an expression is made by.
fn power(expr: &Expr) -> u8 {
    match expr {
        Expr::Assign(..) => 0,
        Expr::Choose(_) => 1,
        Expr::Binary(op, ..) => match op {
            Binary::Either => 2,
            Binary::Both => 3,
            Binary::Or => 4,
            Binary::Xor => 5,
            Binary::And => 6,
            Binary::Eq | Binary::Ne => 7,
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => 8,
            Binary::Shl | Binary::Shr => 9,
            Binary::Add | Binary::Sub => 10,
            Binary::Mul | Binary::Div | Binary::Rem => 11,
        },
        Expr::Unary(..) | Expr::Cast(..) | Expr::At(..) => UNARY,
        Expr::Int(..)
        | Expr::Real(..)
        | Expr::Var(_)
        | Expr::Index(..)
        | Expr::Field(..)
        | Expr::Op(..)
        | Expr::Call(..)
        | Expr::Host(_) => POSTFIX,
    }
}

/// True if an `else` behind a statement would be a part of it.
fn ends_open(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::If(of) => of.els.as_ref().is_none_or(ends_open),
        Stmt::Loop(of) => ends_open(&of.body),
        Stmt::EachLane(_, _, body) | Stmt::Straight(body) => ends_open(body),
        Stmt::Macro(_) => true,
        _ => false,
    }
}

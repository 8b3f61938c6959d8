//! A kernel as text for somebody to read: a statement a line, operators in all their brackets, operations by their names, of accesses
//! where they are.

use std::fmt::Write as _;

use super::memory::Space;
use super::table::Op;
use super::tree::{Expr, Kernel, Stmt, Unary, Var};

/// The text of a kernel.
pub fn print(kernel: &Kernel) -> String {
    let mut printer = Printer { kernel, out: String::new(), depth: 0 };
    for table in &kernel.tables {
        let words: Vec<String> = table.words.iter().map(u32::to_string).collect();
        printer.line(&format!(
            "table {}: {} = {}",
            printer.name(table.var),
            kernel.var(table.var).ty,
            words.join(", ")
        ));
    }
    for function in &kernel.functions {
        let params = printer.params(&function.params);
        printer.line(&format!("function {}({params}) -> {} {{", function.name, function.gives));
        printer.inside(&function.body);
    }
    let params = printer.params(&kernel.params);
    printer.line(&format!("kernel({params}) {{"));
    printer.inside(&kernel.body);
    printer.out
}

struct Printer<'k> {
    kernel: &'k Kernel,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", 2 * self.depth);
    }

    /// Statements, and the bracket that closes them.
    fn inside(&mut self, all: &[Stmt]) {
        self.depth += 1;
        all.iter().for_each(|stmt| self.statement("", stmt));
        self.depth -= 1;
        self.line("}");
    }

    /// A variable; its number tells it from others of its name.
    fn name(&self, var: Var) -> String {
        format!("{}.{}", self.kernel.var(var).name, var.0)
    }

    fn label(&self, label: super::tree::Label) -> &str {
        &self.kernel.labels[label.0 as usize]
    }

    fn params(&self, params: &[Var]) -> String {
        let all: Vec<String> =
            params.iter().map(|var| format!("{}: {}", self.name(*var), self.kernel.var(*var).ty)).collect();
        all.join(", ")
    }

    /// A statement behind what it is the whole of.
    fn statement(&mut self, before: &str, stmt: &Stmt) {
        match stmt {
            Stmt::Block(all) => {
                self.line(&format!("{before}{{"));
                self.inside(all);
            }
            Stmt::Let(var, value) => {
                let data = self.kernel.var(*var);
                let how = if data.constant { "let" } else { "var" };
                let text = format!("{before}{how} {}: {} = {}", self.name(*var), data.ty, self.expr(value));
                self.line(&text);
            }
            Stmt::Declare(var) => {
                let text = format!("{before}var {}: {}", self.name(*var), self.kernel.var(*var).ty);
                self.line(&text);
            }
            Stmt::Do(expr) => {
                let text = format!("{before}{}", self.expr(expr));
                self.line(&text);
            }
            Stmt::If(of) => {
                let head = format!("{before}if {} ", self.expr(&of.cond));
                self.statement(&head, &of.then);
                if let Some(els) = &of.els {
                    self.statement("else ", els);
                }
            }
            Stmt::Loop(of) => {
                if let Some(first) = &of.first {
                    self.statement("first ", first);
                }
                let cond = of.cond.as_ref().map_or_else(String::new, |cond| format!("while {} ", self.expr(cond)));
                let step = of.step.as_ref().map_or_else(String::new, |step| format!("then {} ", self.expr(step)));
                self.statement(&format!("{before}loop {cond}{step}"), &of.body);
            }
            Stmt::EachLane(mask, lane, body) => {
                let head = format!("{before}each lane {} of {} ", self.name(*lane), self.expr(mask));
                self.statement(&head, body);
            }
            Stmt::Straight(body) => self.statement(&format!("{before}straight "), body),
            Stmt::Label(label) => {
                let text = format!("{}:", self.label(*label));
                self.line(&text);
            }
            Stmt::Goto(label) => {
                let text = format!("{before}goto {}", self.label(*label));
                self.line(&text);
            }
            Stmt::Macro(id) => {
                let kernel = self.kernel;
                kernel.of_macro(*id).iter().for_each(|stmt| self.statement(before, stmt));
            }
            Stmt::Break => self.line(&format!("{before}break")),
            Stmt::Return(None) => self.line(&format!("{before}return")),
            Stmt::Return(Some(value)) => {
                let text = format!("{before}return {}", self.expr(value));
                self.line(&text);
            }
        }
    }

    fn args(&self, args: &[Expr]) -> String {
        let all: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
        all.join(", ")
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Int(n, bits, unsigned) => format!("{n}{}{bits}", if *unsigned { 'u' } else { 'i' }),
            Expr::Real(x, is_float) => format!("{x:?}{}", if *is_float { "f32" } else { "f64" }),
            Expr::Var(var) => self.name(*var),
            Expr::Unary(op, a) => {
                let sign = match op {
                    Unary::Neg => '-',
                    Unary::Invert => '~',
                    Unary::Not => '!',
                };
                format!("{sign}{}", self.expr(a))
            }
            Expr::Binary(op, a, b) => format!("({} {} {})", self.expr(a), op.sign(), self.expr(b)),
            Expr::Choose(parts) => {
                let [cond, a, b] = &**parts;
                format!("({} ? {} : {})", self.expr(cond), self.expr(a), self.expr(b))
            }
            Expr::Cast(ty, a) => format!("({} as {ty})", self.expr(a)),
            Expr::At(space, at) => format!("at{}[{}]", in_space(*space), self.expr(at)),
            Expr::Index(a, index) => format!("{}[{}]", self.expr(a), self.expr(index)),
            Expr::Field(var, field) => format!("{}.{}", self.name(*var), field.name()),
            Expr::Assign(op, to, from) => {
                format!("{} {}= {}", self.expr(to), op.map_or("", super::tree::Binary::sign), self.expr(from))
            }
            Expr::Op(op, args) => {
                let space = if let Op::Memory(memory) = op { in_space(memory.space) } else { String::new() };
                format!("{}{space}({})", op.name(), self.args(args))
            }
            Expr::Call(id, args) => format!("{}({})", self.kernel.function(*id).name, self.args(args)),
            Expr::Host(host) => format!("host {}({})", self.expr(&host.address), self.args(&host.args)),
        }
    }
}

fn in_space(space: Space) -> String {
    match space {
        Space::Unknown => String::new(),
        known => format!(" {}", known.name()),
    }
}

//! Reading the body of a function: its locals, slots and statements. Open constructs are on a stack, however deep they nest.

use super::cursor::{Cursor, Lines, Result};
use super::op::{self, Words};
use super::parts::{element, handle, named, sized};
use crate::ir::{
    AtomicOp, Block, Case, Format, FuncId, Function, Label, Local, LocalData, MAX_NESTING, Scalar, Scope, Service,
    SlotData, Stmt, Type, Value, ValueData,
};
use crate::source::Span;

/// A construct whose end has not been read.
enum Open {
    Body,
    Then(Value),
    Else(Value, Block),
    Loop(Label),
    Step(Label, Block),
    Switch(Label, Value, Vec<Case>),
    Case(Vec<i64>, bool),
    Scope(Label),
}

struct Reader<'w, 'f> {
    words: &'w Words,
    func: &'f mut Function,
    open: Vec<(Open, Block)>,
}

/// Reads up to the end of a function.
pub(super) fn read(lines: &mut Lines<'_>, words: &Words, func: &mut Function) -> Result<()> {
    let mut reader = Reader { words, func, open: vec![(Open::Body, Block::default())] };
    loop {
        let Some(mut c) = lines.next() else { return lines.end().wanted("`}`") };
        if reader.line(&mut c)? {
            return Ok(());
        }
    }
}

impl Reader<'_, '_> {
    /// Reads a line; true if it is the function's last.
    fn line(&mut self, c: &mut Cursor<'_>) -> Result<bool> {
        if c.eats("}") {
            let is_last = self.close(c)?;
            c.end()?;
            return Ok(is_last);
        }
        if matches!(self.open.last(), Some((Open::Switch(..), _))) {
            let (values, default) = selectors(c)?;
            self.push(Open::Case(values, default), c)?;
        } else if c.eats("local ") {
            handle(c, 'l', self.func.locals.len())?;
            let name = named(c)?;
            self.func.locals.push(LocalData { name, ty: op::ty(c)? });
        } else if c.eats("slot ") {
            handle(c, 's', self.func.slots.len())?;
            let name = named(c)?;
            let (size, align) = sized(c)?;
            self.func.slots.push(SlotData { name, size, align, elem: element(c)? });
        } else {
            self.stmt(c)?;
        }
        c.end()?;
        Ok(false)
    }

    fn push(&mut self, open: Open, c: &Cursor<'_>) -> Result<()> {
        // A switch takes a level for itself, and one for its case.
        if self.open.len() > 2 * MAX_NESTING {
            return c.wanted("constructs that nest less deep");
        }
        self.open.push((open, Block::default()));
        Ok(())
    }

    fn add(&mut self, stmt: Stmt) {
        if let Some((_, block)) = self.open.last_mut() {
            block.push(stmt, Span::NONE);
        }
    }

    /// Ends the innermost construct, or a part of it; true if that was the body.
    fn close(&mut self, c: &mut Cursor<'_>) -> Result<bool> {
        let Some((open, block)) = self.open.pop() else { return c.wanted("a function") };
        match open {
            Open::Body => {
                self.func.body = block;
                return Ok(true);
            }
            Open::Then(cond) if c.eats(" else {") => self.push(Open::Else(cond, block), c)?,
            Open::Then(cond) => self.add(Stmt::If { cond, then: block, els: Block::default() }),
            Open::Else(cond, then) => self.add(Stmt::If { cond, then, els: block }),
            Open::Loop(label) if c.eats(" step {") => self.push(Open::Step(label, block), c)?,
            Open::Loop(label) => self.add(Stmt::Loop { label, body: block, step: Block::default() }),
            Open::Step(label, body) => self.add(Stmt::Loop { label, body, step: block }),
            Open::Switch(label, value, cases) => self.add(Stmt::Switch { label, value, cases }),
            Open::Scope(label) => self.add(Stmt::Scope { label, body: block }),
            Open::Case(values, default) => {
                let falls_through = c.eats(" falls through");
                if let Some((Open::Switch(.., cases), _)) = self.open.last_mut() {
                    cases.push(Case { values, default, body: block, falls_through });
                }
            }
        }
        Ok(false)
    }

    fn define(&mut self, v: Value, ty: Type) {
        let unknown = ValueData { ty: Scalar::Bool.into(), span: Span::NONE };
        if v.index() >= self.func.values.len() {
            self.func.values.resize(v.index() + 1, unknown);
        }
        self.func.values[v.index()].ty = ty;
    }

    fn label(&mut self, c: &mut Cursor<'_>) -> Result<Label> {
        let index = c.index('b', "a label")?;
        self.func.labels = self.func.labels.max(index as u32 + 1);
        Ok(Label::new(index))
    }

    fn stmt(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        let stmt = match c.clone().word() {
            "if" => {
                c.eat("if ")?;
                let cond = op::value(c)?;
                c.eat(" {")?;
                return self.push(Open::Then(cond), c);
            }
            word if is_handle(word, 'b') => return self.construct(c),
            word if is_handle(word, 'v') => {
                let v = op::value(c)?;
                c.eat(": ")?;
                let ty = op::ty(c)?;
                c.eat(" = ")?;
                self.define(v, ty);
                match self.effect(c, Some(v))? {
                    Some(stmt) => stmt,
                    None => Stmt::Let(v, self.words.op(c, ty)?),
                }
            }
            word if is_handle(word, 'l') => {
                let local = Local::new(c.index('l', "a local")?);
                c.eat(" = ")?;
                Stmt::Set(local, op::value(c)?)
            }
            _ => match self.effect(c, None)? {
                Some(stmt) => stmt,
                None => self.plain(c)?,
            },
        };
        self.add(stmt);
        Ok(())
    }

    /// `b0: loop {` and its like.
    fn construct(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        let label = self.label(c)?;
        c.eat(": ")?;
        let open = if c.eats("loop {") {
            Open::Loop(label)
        } else if c.eats("scope {") {
            Open::Scope(label)
        } else if c.eats("switch ") {
            let value = op::value(c)?;
            c.eat(" {")?;
            Open::Switch(label, value, Vec::new())
        } else {
            return c.wanted("`loop`, `switch` or `scope`");
        };
        self.push(open, c)
    }

    /// A statement that may have a result, if one stands here.
    fn effect(&mut self, c: &mut Cursor<'_>, result: Option<Value>) -> Result<Option<Stmt>> {
        if let Some(op) = self.words.collective(c) {
            let args = if c.eats(" ") { op::values(c)? } else { Vec::new() };
            return Ok(Some(Stmt::Collective { result, op, args }));
        }
        Ok(Some(if c.eats("call ") {
            let func = FuncId::new(c.index('f', "a function")?);
            let args = op::arguments(c)?;
            let raised = if c.eats(" raises ") { Some(op::value(c)?) } else { None };
            if let Some(raised) = raised {
                self.define(raised, Scalar::Bool.into());
            }
            Stmt::Call { result, func, args, raised }
        } else if c.eats("printf ") {
            let format = Format::new(c.index('p', "a format")?);
            Stmt::Printf { result, format, args: op::arguments(c)? }
        } else if c.eats("atomic ") {
            let op = self.words.atomic(c)?;
            c.eat(" ")?;
            let ptr = op::value(c)?;
            c.eat(", ")?;
            let first = op::value(c)?;
            let second = if op == AtomicOp::Cas {
                c.eat(", ")?;
                Some(op::value(c)?)
            } else {
                None
            };
            Stmt::Atomic { result, op, ptr, value: second.unwrap_or(first), compare: second.map(|_| first) }
        } else if c.eats("service ") {
            let service = c.read("the name of a service", Service::find)?;
            Stmt::Service { result, service, args: op::arguments(c)? }
        } else {
            return Ok(None);
        }))
    }

    /// A statement without a result.
    fn plain(&mut self, c: &mut Cursor<'_>) -> Result<Stmt> {
        let start = c.clone();
        let word = c.word();
        let is_alone = c.rest().is_empty();
        match word {
            "return" if is_alone => return Ok(Stmt::Return(None)),
            "trap" => return Ok(Stmt::Trap),
            "fence" => return Ok(Stmt::Fence),
            _ => {}
        }
        if is_alone || !c.eats(" ") {
            return start.wanted("a statement");
        }
        Ok(match word {
            "return" => Stmt::Return(Some(op::value(c)?)),
            "break" => Stmt::Break(self.label(c)?),
            "continue" => Stmt::Continue(self.label(c)?),
            "barrier" => Stmt::Barrier(c.read("`block` or `warp`", |word| match word {
                "block" => Some(Scope::Block),
                "warp" => Some(Scope::Warp),
                _ => None,
            })?),
            "store" => {
                let volatile = c.eats("volatile ");
                let ptr = op::value(c)?;
                c.eat(", ")?;
                Stmt::Store { ptr, value: op::value(c)?, volatile }
            }
            "assert" => {
                let cond = op::value(c)?;
                c.eat(", ")?;
                Stmt::Assert { cond, message: c.text()? }
            }
            "aligned" => {
                let ptr = op::value(c)?;
                c.eat(", ")?;
                Stmt::Aligned { ptr, align: c.number()? }
            }
            "dispatch" => {
                c.eat("type ")?;
                Stmt::Dispatch(c.number()?)
            }
            "missing" => {
                c.eat("return of ")?;
                Stmt::MissingReturn(c.text()?)
            }
            "launch" => launch(c)?,
            _ => return start.wanted("a statement"),
        })
    }
}

fn is_handle(word: &str, letter: char) -> bool {
    let digits = word.strip_prefix(letter);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The values that select a case, read up to its brace; true if it is (also) the default.
fn selectors(c: &mut Cursor<'_>) -> Result<(Vec<i64>, bool)> {
    let (mut values, mut default) = (Vec::new(), false);
    loop {
        if c.eats("case ") {
            values.push(c.number()?);
        } else if c.eats("default") {
            default = true;
        } else if !c.rest().starts_with('{') || !values.is_empty() || default {
            return c.wanted("`case` or `default`");
        }
        if !c.eats(", ") {
            break;
        }
    }
    // A case that nothing selects begins with its brace.
    if default || !values.is_empty() {
        c.eat(" ")?;
    }
    c.eat("{")?;
    Ok((values, default))
}

fn launch(c: &mut Cursor<'_>) -> Result<Stmt> {
    let kernel = FuncId::new(c.index('f', "a kernel")?);
    c.eat("<")?;
    let mut config = [Value::new(0); 7];
    for extents in config[..6].chunks_exact_mut(3) {
        c.eat("(")?;
        for (i, extent) in extents.iter_mut().enumerate() {
            if i > 0 {
                c.eat(", ")?;
            }
            *extent = op::value(c)?;
        }
        c.eat("), ")?;
    }
    config[6] = op::value(c)?;
    c.eat(">")?;
    Ok(Stmt::Launch { kernel, config, args: op::arguments(c)? })
}

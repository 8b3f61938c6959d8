//! Names, statements and control.

use std::collections::HashMap;
use std::rc::Rc;

use cranelift_codegen::ir::{
    self as clif, Block, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};

use super::helpers::State;
use super::parse::{Expr, Kind, Reader, Ty};
use super::token::Tok;
use super::value::{At, Mask, Num, Parts, Val, clif_type};
use super::{Known, Result, bad};

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Binding {
    /// What never changes.
    Value(Val),
    Variable(Ty, Vec<Variable>),
    /// An array, or what went wrong.
    Memory(Ty, StackSlot),
    /// A constant array at that address.
    Table(Ty, u64),
}

/// A function of the text, which is compiled where it is called.
#[derive(Clone)]
struct Inline<'t> {
    params: Vec<&'t str>,
    body: usize,
}

/// Of a text the words, and the function that it becomes.
pub(super) struct Emitter<'w, 't, 'f> {
    pub b: FunctionBuilder<'f>,
    pub known: &'w Known,
    words: &'w [Tok<'t>],
    scopes: Vec<HashMap<&'t str, Binding>>,
    functions: HashMap<&'t str, Inline<'t>>,
    labels: HashMap<&'t str, Block>,
    /// Where `break` goes.
    exits: Vec<Block>,
    /// What the function being inlined has returned.
    returned: Option<Val>,
    inlined: u32,
    /// Whether the current block has its end.
    ended: bool,
    pub helpers: HashMap<String, clif::FuncRef>,
    /// Slots that helpers get lanes in: one a size and place.
    pub rooms: HashMap<(usize, u32), StackSlot>,
    pub tables: Vec<Box<[u32]>>,
    /// Machine code of loops, which the kernel calls by number, from 1 on.
    pub loops: Vec<Vec<u8>>,
    /// Lines of the cache that have been asked for ahead in this block: told at its end, several in a call.
    pub wanted: Vec<Num>,
    /// Variables that begin as what a block keeps, and where that is.
    pub kept: HashMap<&'t str, Kept<'t>>,
    /// How often memory may have been written.
    pub written: usize,
}

/// What a variable begins as.
pub(super) struct Kept<'t> {
    pub at: Expr<'t>,
    /// The first vectors that were read there.
    pub parts: [clif::Value; 4],
    /// How often memory had been written by then.
    pub written: usize,
}

/// What the function needs besides itself.
pub(super) struct Made {
    pub tables: Vec<Box<[u32]>>,
    pub loops: Vec<Vec<u8>>,
}

/// How many lines of the cache one call asks for: as many as a group of threads that walk memory has chunks.
pub(super) const LINES: usize = 8;

/// Flags of an access that has been checked, aligned to nothing.
pub(super) fn free() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl<'w, 't, 'f> Emitter<'w, 't, 'f> {
    /// Compiles the text's kernel.
    pub fn run(b: FunctionBuilder<'f>, words: &'w [Tok<'t>], known: &'w Known) -> Result<Made> {
        let mut emitter = Emitter {
            b,
            known,
            words,
            scopes: vec![HashMap::new()],
            functions: HashMap::new(),
            labels: HashMap::new(),
            exits: Vec::new(),
            returned: None,
            inlined: 0,
            ended: false,
            helpers: HashMap::new(),
            rooms: HashMap::new(),
            tables: Vec::new(),
            loops: Vec::new(),
            wanted: Vec::new(),
            kept: HashMap::new(),
            written: 0,
        };
        let mut reader = Reader::new(words, 0);
        while reader.peek().is_some() {
            emitter.top(&mut reader)?;
        }
        emitter.b.seal_all_blocks();
        emitter.b.finalize(known.frame);
        Ok(Made { tables: emitter.tables, loops: emitter.loops })
    }

    /// A function, or a constant array.
    fn top(&mut self, r: &mut Reader<'w, 't>) -> Result<()> {
        let inline = r.eat_name("FN");
        let (ty, _) = r.ty()?;
        let name = r.name()?;
        if r.eat("[") {
            return self.table(r, ty, name);
        }
        r.want("(")?;
        let mut params = Vec::new();
        while !r.eat(")") {
            let (ty, _) = r.ty()?;
            params.push((r.name()?, ty));
            r.eat(",");
        }
        if inline {
            self.functions.insert(name, Inline { params: params.iter().map(|(name, _)| *name).collect(), body: r.at });
            return skip(r);
        }
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        let given = self.b.block_params(entry).to_vec();
        for ((name, ty), value) in params.into_iter().zip(given) {
            self.bind(name, Binding::Value(Val::Num(Num { at: At::Value(value), ty })));
        }
        self.statement(r)
    }

    fn table(&mut self, r: &mut Reader<'w, 't>, ty: Ty, name: &'t str) -> Result<()> {
        while !r.eat("{") {
            r.at += 1;
        }
        let mut all = Vec::new();
        while !r.eat("}") {
            let Some(Tok::Int(n, ..)) = r.peek() else { return Err(bad("a table of something else")) };
            all.push(n as u32);
            r.at += 1;
            r.eat(",");
        }
        r.want(";")?;
        let all: Box<[u32]> = all.into();
        let ty = Ty::Array(Rc::new(ty), all.len() as u32);
        self.bind(name, Binding::Table(ty, all.as_ptr() as u64));
        self.tables.push(all);
        Ok(())
    }

    pub(super) fn bind(&mut self, name: &'t str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, binding);
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Result<Binding> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        found.cloned().ok_or_else(|| bad(format!("`{name}`")))
    }

    /// A block that code can go on in.
    pub(super) fn begin(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.ended = false;
    }

    /// Asks for what is wanted. A call costs more than it brings where there is one for each line, or where vectors are alive.
    fn ask(&mut self) -> Result<()> {
        for lines in std::mem::take(&mut self.wanted).chunks(LINES) {
            let all = lines.iter().cycle().take(LINES).map(|num| Val::Num(num.clone())).collect::<Vec<_>>();
            self.call_helper("ask", &all)?;
        }
        Ok(())
    }

    pub(super) fn jump(&mut self, to: Block) -> Result<()> {
        if !self.ended {
            self.ask()?;
            self.b.ins().jump(to, &[]);
        }
        self.wanted.clear();
        self.ended = true;
        Ok(())
    }

    pub(super) fn label(&mut self, name: &'t str) -> Block {
        if let Some(block) = self.labels.get(name) {
            return *block;
        }
        let block = self.b.create_block();
        self.labels.insert(name, block);
        block
    }

    pub(super) fn statement(&mut self, r: &mut Reader<'w, 't>) -> Result<()> {
        if self.ended {
            // What nobody gets to.
            let block = self.b.create_block();
            self.begin(block);
        }
        if r.eat(";") {
            return Ok(());
        }
        if r.eat("{") {
            self.scopes.push(HashMap::new());
            while !r.eat("}") {
                self.statement(r)?;
            }
            self.scopes.pop();
            return Ok(());
        }
        let word = match r.peek() {
            Some(Tok::Name(name)) => name,
            _ => "",
        };
        match word {
            "if" => self.if_statement(r),
            "for" => self.for_statement(r),
            "LOOP_LANES" => self.each_lane(r),
            "STRAIGHT" => {
                r.at += 1;
                if self.stretch(r)? { Ok(()) } else { self.statement(r) }
            }
            "goto" => {
                r.at += 1;
                let label = r.name()?;
                r.want(";")?;
                let block = self.label(label);
                self.jump(block)
            }
            "break" => {
                r.at += 1;
                r.want(";")?;
                let exit = *self.exits.last().ok_or_else(|| bad("`break` outside of a loop"))?;
                self.jump(exit)
            }
            "return" => self.return_statement(r),
            _ if matches!(r.words.get(r.at + 1), Some(Tok::Sign(":"))) => {
                let block = self.label(word);
                r.at += 2;
                self.jump(block)?;
                self.begin(block);
                self.written += 1;
                Ok(())
            }
            _ if r.at_type() => self.declaration(r),
            _ => {
                let expr = r.expr()?;
                r.want(";")?;
                let is_name = matches!(&expr, Expr::Assign(_, to, _) if matches!(**to, Expr::Name(_)));
                self.written += usize::from(!is_name);
                self.eval(&expr).map(|_| ())
            }
        }
    }

    fn return_statement(&mut self, r: &mut Reader<'w, 't>) -> Result<()> {
        r.at += 1;
        let value = if r.is(";") { None } else { Some(r.expr()?) };
        r.want(";")?;
        let value = match &value {
            Some(expr) => self.eval(expr)?,
            None => Val::Nothing,
        };
        if self.inlined > 0 {
            self.returned = Some(value);
            return Ok(());
        }
        self.ask()?;
        let status = self.as_num(&value)?;
        let status = self.converted(&status, &Ty::int(32, false))?;
        let status = self.value(&status);
        self.b.ins().return_(&[status]);
        self.ended = true;
        Ok(())
    }

    fn if_statement(&mut self, r: &mut Reader<'w, 't>) -> Result<()> {
        r.at += 1;
        r.want("(")?;
        let cond = r.expr()?;
        r.want(")")?;
        let (then, other, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.branch(&cond, then, other, 0)?;
        self.b.seal_block(then);
        self.b.seal_block(other);
        self.begin(then);
        if !self.stretch(r)? {
            self.statement(r)?;
        }
        self.jump(after)?;
        self.begin(other);
        if r.eat_name("else") {
            self.statement(r)?;
        }
        self.jump(after)?;
        self.b.seal_block(after);
        self.begin(after);
        Ok(())
    }

    /// Whether what comes next is done in the widest registers.
    fn stretch(&mut self, r: &mut Reader<'w, 't>) -> Result<bool> {
        #[cfg(target_arch = "x86_64")]
        if r.is("{") && !self.ended && self.inlined == 0 {
            return self.widest_stretch(r);
        }
        let _ = r;
        Ok(false)
    }

    fn for_statement(&mut self, r: &mut Reader<'w, 't>) -> Result<()> {
        r.at += 1;
        r.want("(")?;
        self.scopes.push(HashMap::new());
        if !r.eat(";") {
            self.statement(r)?;
        }
        let cond = if r.is(";") { None } else { Some(r.expr()?) };
        r.want(";")?;
        let step = if r.is(")") { None } else { Some(self.step(r)?) };
        r.want(")")?;
        #[cfg(target_arch = "x86_64")]
        if cond.is_none() && step.is_none() && self.widest_loop(r)? {
            self.scopes.pop();
            return Ok(());
        }
        let (head, body, exit) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.written += 1;
        self.jump(head)?;
        self.begin(head);
        match &cond {
            Some(cond) => self.branch(cond, body, exit, 0)?,
            None => self.jump(body)?,
        }
        self.b.seal_block(body);
        self.begin(body);
        self.exits.push(exit);
        self.statement(r)?;
        self.exits.pop();
        if let (Some(step), false) = (&step, self.ended) {
            self.eval(step)?;
        }
        self.jump(head)?;
        self.b.seal_block(head);
        self.b.seal_block(exit);
        self.begin(exit);
        self.scopes.pop();
        Ok(())
    }

    /// The last part of a loop's head; `x++` is `x += 1`.
    fn step(&mut self, r: &mut Reader<'w, 't>) -> Result<Expr<'t>> {
        let expr = r.expr()?;
        if r.eat("++") {
            return Ok(Expr::Assign("+", Box::new(expr), Box::new(Expr::Int(1, 32, false))));
        }
        Ok(expr)
    }

    /// `LOOP_LANES(mask) statement`, in which `l` is each set lane's number.
    fn each_lane(&mut self, r: &mut Reader<'w, 't>) -> Result<()> {
        r.at += 1;
        r.want("(")?;
        let mask = r.expr()?;
        r.want(")")?;
        let mask = self.eval(&mask)?;
        let mask = self.as_mask(&mask)?;
        let bits = self.mask_bits(mask);
        let left = self.b.declare_var(types::I32);
        self.b.def_var(left, bits);
        let (head, body, exit) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.written += 1;
        self.jump(head)?;
        self.begin(head);
        let now = self.b.use_var(left);
        self.b.ins().brif(now, body, &[], exit, &[]);
        self.ended = true;
        self.b.seal_block(body);
        self.begin(body);
        let lane = self.b.ins().ctz(now);
        self.scopes.push(HashMap::new());
        self.bind("l", Binding::Value(Val::Num(Num { at: At::Value(lane), ty: Ty::int(32, false) })));
        self.statement(r)?;
        self.scopes.pop();
        let less = self.b.ins().iadd_imm_s(now, -1);
        let rest = self.b.ins().band(now, less);
        self.b.def_var(left, rest);
        self.jump(head)?;
        self.b.seal_block(head);
        self.b.seal_block(exit);
        self.begin(exit);
        Ok(())
    }

    fn declaration(&mut self, r: &mut Reader<'w, 't>) -> Result<()> {
        let (ty, constant) = r.ty()?;
        loop {
            let name = r.name()?;
            if r.is("[") {
                self.array(r, &ty, name)?;
            } else if ty == Ty::State {
                while !r.is(";") {
                    r.at += 1;
                }
                self.state(name);
            } else if r.eat("=") {
                let expr = r.expr()?;
                let value = match (&ty, &expr) {
                    (Ty::Mask, Expr::Cond(parts)) => self.mask_by_branch(parts)?,
                    _ => self.eval(&expr)?,
                };
                let mut value = self.as_type(&value, &ty)?;
                // Such stores are calls, which a kernel that computes much has no time for; a choice between them and others would have what is
                // stored computed for each, and once more after it.
                if name.starts_with("nt_") && self.has_functions() {
                    value = Val::Num(Num { at: At::Known(0), ty: ty.clone() });
                }
                // What is known of a mask saves a call for each access under it.
                let stays = matches!(value, Val::Mask(Mask::Known(_))) && !is_set_later(r, name);
                if constant || stays {
                    self.bind(name, Binding::Value(value));
                } else {
                    self.note_kept(name, expr, &value);
                    let variable = self.variable(&ty)?;
                    self.bind(name, variable.clone());
                    self.set(&variable, value)?;
                }
            } else {
                let variable = self.variable(&ty)?;
                self.bind(name, variable);
            }
            if r.eat(";") {
                return Ok(());
            }
            r.want(",")?;
            // A pointer's star belongs to one name.
            r.eat("*");
        }
    }

    /// Of a variable that begins as what a block keeps: where that is.
    fn note_kept(&mut self, name: &'t str, expr: Expr<'t>, value: &Val) {
        let (Expr::Call(callee, mut args), Val::Lanes(Kind::F32 | Kind::I32, parts)) = (expr, value) else { return };
        if let (Expr::Name("ld_f32" | "ld_i32"), Some(at)) = (*callee, args.pop())
            && at.space() == Some("scratch")
        {
            let parts = std::array::from_fn(|i| parts[i]);
            self.kept.insert(name, Kept { at, parts, written: self.written });
        }
    }

    fn array(&mut self, r: &mut Reader<'w, 't>, of: &Ty, name: &'t str) -> Result<()> {
        let mut counts = Vec::new();
        while r.eat("[") {
            let count = r.expr()?;
            r.want("]")?;
            let count = self.num(&count)?;
            match count.at {
                At::Known(n) => counts.push(u32::try_from(n).map_err(|_| bad("an array that large"))?),
                At::Value(_) => return Err(bad("an array of a length that is not known")),
            }
        }
        // How it is to be aligned: nothing here asks for that.
        while !r.is(";") && !r.is(",") {
            if r.is("=") {
                return Err(bad("an array with a value"));
            }
            r.at += 1;
        }
        let ty = counts.iter().rev().fold(of.clone(), |of, count| Ty::Array(Rc::new(of), *count));
        let slot = self.slot(ty.size());
        self.bind(name, Binding::Memory(ty, slot));
        Ok(())
    }

    pub(super) fn slot(&mut self, bytes: u32) -> StackSlot {
        self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
    }

    fn state(&mut self, name: &'t str) {
        let slot = self.slot(size_of::<State>() as u32);
        let zero = self.b.ins().iconst(types::I64, 0);
        for at in (0..size_of::<State>()).step_by(8) {
            self.b.ins().stack_store(types::I64, zero, slot, at as i32);
        }
        let Known { span, rows: [x, y], .. } = *self.known;
        for (field, n) in [("span", span), ("x", x), ("y", y)] {
            let n = self.b.ins().iconst(types::I32, i64::from(n));
            if let Some((at, _)) = State::field(field) {
                self.b.ins().stack_store(types::I64, n, slot, at);
            }
        }
        self.bind(name, Binding::Memory(Ty::State, slot));
    }

    fn variable(&mut self, ty: &Ty) -> Result<Binding> {
        let (part, count) = match ty {
            Ty::Lanes(kind) => (kind.vector(), kind.count()),
            Ty::Mask => (types::I32, 1),
            Ty::Void | Ty::Array(..) | Ty::State => return Err(bad("a variable of that type")),
            ty => (clif_type(ty), 1),
        };
        Ok(Binding::Variable(ty.clone(), (0..count).map(|_| self.b.declare_var(part)).collect()))
    }

    pub(super) fn set(&mut self, variable: &Binding, value: Val) -> Result<()> {
        let Binding::Variable(ty, variables) = variable else { return Err(bad("a constant that is set")) };
        let value = self.as_type(&value, ty)?;
        let parts = match &value {
            Val::Num(num) => vec![self.value(num)],
            Val::Mask(mask) => vec![self.mask_bits(*mask)],
            Val::Lanes(kind, parts) => parts[..kind.count()].to_vec(),
            Val::Nothing => return Err(bad("a variable set to nothing")),
        };
        for (variable, part) in variables.iter().zip(parts) {
            self.b.def_var(*variable, part);
        }
        Ok(())
    }

    pub(super) fn get(&mut self, binding: &Binding) -> Result<Val> {
        Ok(match binding {
            Binding::Value(value) => value.clone(),
            Binding::Variable(Ty::Lanes(kind), variables) => {
                let first = self.b.use_var(variables[0]);
                let mut parts: Parts = [first; 8];
                for (part, variable) in parts.iter_mut().zip(variables).skip(1) {
                    *part = self.b.use_var(*variable);
                }
                Val::Lanes(*kind, parts)
            }
            Binding::Variable(Ty::Mask, variables) => Val::Mask(Mask::Bits(self.b.use_var(variables[0]))),
            Binding::Variable(ty, variables) => {
                Val::Num(Num { at: At::Value(self.b.use_var(variables[0])), ty: ty.clone() })
            }
            Binding::Memory(ty, slot) => {
                let at = self.b.ins().stack_addr(types::I64, *slot, 0);
                Val::Num(Num { at: At::Value(at), ty: decayed(ty) })
            }
            Binding::Table(ty, at) => Val::Num(Num { at: At::Known(i128::from(*at)), ty: decayed(ty) }),
        })
    }

    /// Goes to one of two blocks. What costs nothing is computed whether it is wanted or not.
    pub(super) fn branch(&mut self, cond: &Expr<'t>, then: Block, other: Block, depth: u32) -> Result<()> {
        self.ask()?;
        match cond {
            Expr::Unary("!", inner) => return self.branch(inner, other, then, depth),
            Expr::Call(callee, args) if args.len() == 1 => match **callee {
                Expr::Name("likely") => {
                    if depth == 0 {
                        self.b.set_cold_block(other);
                    }
                    return self.branch(&args[0], then, other, depth);
                }
                Expr::Name("unlikely") => {
                    if depth == 0 {
                        self.b.set_cold_block(then);
                    }
                    return self.branch(&args[0], then, other, depth);
                }
                _ => {}
            },
            Expr::Binary(op @ ("&&" | "||"), a, b) if !is_cheap(b) => {
                let middle = self.b.create_block();
                match *op {
                    "&&" => self.branch(a, middle, other, depth + 1)?,
                    _ => self.branch(a, then, middle, depth + 1)?,
                }
                self.b.seal_block(middle);
                self.begin(middle);
                return self.branch(b, then, other, depth + 1);
            }
            _ => {}
        }
        let truth = self.truth(cond)?;
        match truth.at {
            At::Known(n) => self.jump(if n != 0 { then } else { other })?,
            At::Value(v) => {
                self.b.ins().brif(v, then, &[], other, &[]);
                self.ended = true;
            }
        }
        Ok(())
    }

    /// `cond ? a : b` of masks, of which one alone is computed.
    fn mask_by_branch(&mut self, [cond, a, b]: &[Expr<'t>; 3]) -> Result<Val> {
        let (then, other, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(after, types::I32);
        self.branch(cond, then, other, 0)?;
        for (block, expr) in [(then, a), (other, b)] {
            self.b.seal_block(block);
            self.begin(block);
            let value = self.eval(expr)?;
            let mask = self.as_mask(&value)?;
            let bits = self.mask_bits(mask);
            self.b.ins().jump(after, &[bits.into()]);
            self.ended = true;
        }
        self.b.seal_block(after);
        self.begin(after);
        Ok(Val::Mask(Mask::Bits(result)))
    }

    /// The parameters of one of the text's own functions, and where its body is.
    pub(super) fn function(&self, name: &str) -> Option<(Vec<&'t str>, usize)> {
        self.functions.get(name).map(|function| (function.params.clone(), function.body))
    }

    pub(super) fn words(&self) -> &'w [Tok<'t>] {
        self.words
    }

    pub(super) fn push_scope(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub(super) fn pop_scope(&mut self) {
        self.scopes.pop();
    }

    /// Whether a name is of the scope around the innermost one.
    pub(super) fn is_of_outer(&self, name: &str) -> bool {
        self.scopes.iter().rev().nth(1).is_some_and(|scope| scope.contains_key(name))
    }

    pub(super) fn push_exit(&mut self, exit: Block) {
        self.exits.push(exit);
    }

    pub(super) fn pop_exit(&mut self) {
        self.exits.pop();
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Goes to one of two blocks.
    pub(super) fn branch_on(&mut self, cond: clif::Value, then: Block, other: Block) {
        self.b.ins().brif(cond, then, &[], other, &[]);
        self.ended = true;
    }

    /// Whether the text has functions of its own, all of which are math.
    pub(super) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// A call of one of the text's own functions: straight-line code with one `return`, at its end.
    pub(super) fn inline(&mut self, name: &str, args: Vec<Val>) -> Result<Option<Val>> {
        let Some(function) = self.functions.get(name).cloned() else { return Ok(None) };
        let scope = function.params.iter().copied().zip(args.into_iter().map(Binding::Value)).collect();
        // It sees nothing of its caller's.
        let outer = std::mem::replace(&mut self.scopes, vec![scope]);
        self.inlined += 1;
        let mut reader = Reader::new(self.words, function.body);
        let done = self.statement(&mut reader);
        self.inlined -= 1;
        self.scopes = outer;
        done?;
        Ok(Some(self.returned.take().unwrap_or(Val::Nothing)))
    }

    /// One of two ways, by a condition; the lanes that they leave, where they are of a kind.
    pub(super) fn diamond(
        &mut self,
        cond: clif::Value,
        kind: Option<Kind>,
        then: impl FnOnce(&mut Self) -> Result<Parts>,
        other: impl FnOnce(&mut Self) -> Result<Parts>,
    ) -> Result<Parts> {
        let (yes, no, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let count = kind.map_or(0, Kind::count);
        let params: Vec<clif::Value> =
            (0..count).map(|_| self.b.append_block_param(after, kind.map_or(types::I32X4, Kind::vector))).collect();
        self.b.ins().brif(cond, yes, &[], no, &[]);
        self.b.seal_block(yes);
        self.b.seal_block(no);
        self.b.switch_to_block(yes);
        let parts = then(self)?;
        let given: Vec<clif::BlockArg> = parts[..count].iter().map(|v| (*v).into()).collect();
        self.b.ins().jump(after, &given);
        self.b.switch_to_block(no);
        let parts = other(self)?;
        let given: Vec<clif::BlockArg> = parts[..count].iter().map(|v| (*v).into()).collect();
        self.b.ins().jump(after, &given);
        self.b.seal_block(after);
        self.b.switch_to_block(after);
        let mut all = parts;
        all[..count].copy_from_slice(&params);
        Ok(all)
    }
}

/// Whether the rest of a scope sets a name.
fn is_set_later(r: &Reader<'_, '_>, name: &str) -> bool {
    let mut depth = 0;
    for pair in r.words[r.at..].windows(2) {
        match pair {
            [Tok::Sign("{"), _] => depth += 1,
            [Tok::Sign("}"), _] if depth == 0 => return false,
            [Tok::Sign("}"), _] => depth -= 1,
            [Tok::Name(n), Tok::Sign("=" | "|=" | "&=")] if *n == name => return true,
            _ => {}
        }
    }
    false
}

/// What an array is where its value is asked for.
fn decayed(ty: &Ty) -> Ty {
    match ty {
        Ty::Array(of, _) => Ty::Ptr(of.clone()),
        other => Ty::Ptr(Rc::new(other.clone())),
    }
}

/// Past a body.
pub(super) fn skip(r: &mut Reader<'_, '_>) -> Result<()> {
    let mut depth = 0;
    loop {
        match r.peek() {
            Some(Tok::Sign("{")) => depth += 1,
            Some(Tok::Sign("}")) => depth -= 1,
            None => return Err(bad("a function without an end")),
            _ => {}
        }
        r.at += 1;
        if depth == 0 {
            return Ok(());
        }
    }
}

/// Whether computing something for nothing costs less than a jump, and does nothing.
pub(super) fn is_cheap(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Int(..) | Expr::Real(..) | Expr::Name(_) => true,
        Expr::Unary("*" | "&", _) | Expr::Index(..) | Expr::Assign(..) => false,
        Expr::Member(..) => true,
        Expr::Unary(_, a) | Expr::Cast(_, a) => is_cheap(a),
        Expr::Binary("/" | "%", ..) => false,
        Expr::Binary(_, a, b) => is_cheap(a) && is_cheap(b),
        Expr::Cond(parts) => parts.iter().all(is_cheap),
        Expr::Call(callee, args) => {
            matches!(**callee, Expr::Name("likely" | "unlikely" | "within" | "is_line")) && args.iter().all(is_cheap)
        }
    }
}

//! A kernel of the lane IR: one function that runs one block, regions as loops over groups of threads.
//!
//! Values have names: `v7` where the group has one (of a row the first number), `v7_0`, `v7_1` and so on where each chunk has its own (of
//! a line the first number).
//! Locals are `l3` or `l3_0`. Pointers are byte offsets (`i64`) from the start of the one allocation they point into.

mod aligned;
mod arith;
mod atomic;
mod both_sides;
mod collective_calls;
mod control;
mod corners;
mod frame;
mod given;
mod group;
mod index_division;
mod line;
mod long_rows;
mod math;
mod memory;
mod names;
mod node;
mod op;
mod prefetch;
mod range;
mod region;
mod sums;
mod types;
mod vars;
mod walk;
mod warp_collectives;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::given::{Given, Limits};
use self::names::Name;
pub(super) use self::types::scalar_of;
use super::unsupported::{Result, TOO_LONG, Unsupported};
use super::value_forms::{Form, Forms, Geometry, LANES, Quotients, Survey};
use super::walk::{CHUNKS, Walk};
use super::{Maker, in_step, overwritten};
use crate::back::Dim3;
use crate::back::cpu::abi::host_fn::{self, HostFn};
use crate::back::cpu::abi::site::{Named, SITE_BIT, Site, SiteKind, SiteRoot, WIDE_SLOT};
use crate::back::cpu::data::Globals;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::facts::split::SplitPlan;
use crate::back::lane::build::{KernelBuilder, int, joined, long, uint, ulong, variable};
use crate::back::lane::families;
use crate::back::lane::table::NumberOp;
use crate::back::lane::tree::{self as lane, Binary, Expr, Kernel, MacroId, Stmt as LaneStmt, Var};
use crate::back::lane::types::Ty;
use crate::ir::{Const, Function, Label, Local, Module, Op, Scalar, SlotData, Stmt, Value};
use crate::source::Span;

/// Most characters of C that are worth a compiler's time.
const MAX_TEXT: usize = 200_000;

/// Most characters, as C, of an expression that says what a value is by what it is made of. Such an expression repeats what is used twice,
/// so it may double with each operation.
const MAX_EXPRESSION: usize = 4_000;

/// The threads that run a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mask {
    /// All of the group.
    Full,
    /// Those in the variables `m<n>_0`, `m<n>_1` and so on.
    Some(u32),
}

/// The one of two versions of a statement that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// For lanes that go round loops together.
    Together = 0,
    /// For lanes that do as they like.
    Apart = 1,
    /// For lanes that do as they like and each take quotients of their own.
    Own = 2,
}

/// The place of a statement.
#[derive(Debug, Clone, Copy)]
struct Place {
    mask: Mask,
    version: Version,
    /// True if lanes that are not in the mask may read what is set here.
    apart: bool,
    /// True if nothing of the group follows.
    last: bool,
}

/// A construct that `Break` and `Continue` name.
#[derive(Debug, Clone, Copy)]
struct Target {
    label: Label,
    /// The labels of `continue` and `break`, if the whole group goes there.
    step: lane::Label,
    exit: lane::Label,
    /// For a masked one the numbers of the masks of those who left it, and of those who wait for its step.
    masks: Option<(u32, u32)>,
    /// True if it is a construct around regions: its masks are the block's.
    is_node: bool,
}

/// A dividend and a divisor, and the one quotient that the lanes of each chunk have.
struct Quotient {
    pair: (Value, Value),
    of_chunks: Vec<Expr>,
}

/// The state of code by pieces.
#[derive(Default)]
struct Pieces {
    /// Dividends and divisors of which all lanes that run have one quotient.
    quotients: Vec<Quotient>,
    /// Labels to go to: from code for whole chunks whose lanes turn out to have several quotients, and from code by pieces whose divisors are
    /// small. `None` where more than computing has been done since.
    instead: [Option<lane::Label>; 2],
    /// The labels that code by pieces goes to.
    left_for: HashSet<lane::Label>,
}

/// A kernel being made for one shape of blocks.
pub struct Builder<'m> {
    module: &'m Module,
    globals: &'m Globals,
    func: &'m Function,
    info: &'m FuncInfo,
    /// The forms of values: to lanes that do everything together, and to lanes on their own.
    forms: [Forms<'m>; 2],
    /// The forms of values to lanes that take quotients of their own, where others take them by pieces.
    own_forms: Option<Forms<'m>>,
    /// The version that made each value last.
    made: Vec<Version>,
    geometry: Geometry,
    split: Option<&'m SplitPlan>,
    /// The number of chunks of a group of the current region; a divisor of the most.
    chunks: u32,
    /// The most chunks of a group that walks memory.
    most_chunks: u32,
    /// True if loops and straight-line code become code for registers of 512 bits.
    is_widest: bool,
    /// Bytes of local arrays on the stack.
    slot_bytes: usize,
    k: KernelBuilder<Name>,
    /// The variables of what is given.
    given: Given,
    /// A variable that is not declared, for what has no name.
    unknown: Var,
    /// Placeholders for `threadIdx` until its ends are put in: in x that of a chunk's first thread. Of long rows, of a block's threads, and of
    /// a group's chunks.
    rows: [Var; 3],
    /// Placeholders for the counter of a loop, of each chunk, until its variable is known.
    now: Vec<Var>,
    sites: Vec<Site>,
    next: u32,
    targets: Vec<Target>,
    /// The limits of buffers that the body turned out to need.
    limits: Limits,
    /// The size of the elements of each slot: all of one, because lanes lie side by side.
    elements: HashMap<usize, u32>,
    /// Arrays of `threadIdx`, by the dimension.
    tables: BTreeMap<u8, Var>,
    /// Values that have their names in the current region.
    defined: HashSet<Value>,
    /// Addresses of lanes, and their widened indices, which are computed where they are wanted: mostly where something is out of bounds.
    lazy: HashSet<Value>,
    /// The label at the end of the group, where `return` goes.
    end: lane::Label,
    /// Statements that keep the group's locals for other regions, and the label behind them, which something goes to where they were done already and
    /// nothing but it followed.
    keeps: (Vec<LaneStmt>, Option<lane::Label>),
    addresses: &'static [usize],
    functions: math::Functions,
    known: range::Known,
    /// The bytes to look ahead, of proven pointers: where rounds are too far apart for the machine to see where they go.
    looks_ahead: HashMap<Value, Expr>,
    /// Pointers of loads that ask for the next block's elements too, and by how many bytes these are away.
    next_blocks: HashMap<Value, Expr>,
    /// Values that are made of a thread's place in its block and of what groups have one of.
    of_threads: HashSet<Value>,
    /// Parameters whose arrays the kernel reads.
    reads: HashSet<u32>,
    /// Parameters whose arrays it only adds integers to, with their sizes.
    sums: BTreeMap<u32, u32>,
    /// True if groups of the current region that take nothing of its `if` are followed by none that do.
    halves: bool,
    /// True if one call runs several blocks, neighbours in x: where they do not synchronise and have no loops, long rows of memory are
    /// worth more than a block's cache.
    merges: bool,
    /// Values that are a thread's place in its long row, of blocks that are one.
    places: Option<&'m HashSet<Value>>,
    /// The branches around, within a region, that only some lanes take: the mask of each and its place in the text, the outermost first.
    branches: Vec<(u32, Span)>,
    /// The state of code by pieces.
    pieces: Pieces,
    /// The walk over the regions of a block.
    walk: node::Walk,
    /// A walk over memory that blocks do together, and where in scratch is what it leaves.
    together: Option<(&'m Walk, u32)>,
    /// The number of the block that runs, of those that a call runs.
    blocks: Option<Var>,
    /// The macro that opens the limits of writes again, where that walk is dropped.
    open: Option<MacroId>,
}

/// A kernel that was made.
pub struct Built {
    /// The kernel.
    pub kernel: Kernel,
    /// True if blocks are one long row of threads.
    pub spans: bool,
    /// Bytes of local arrays on the stack.
    pub slots: usize,
    /// The meanings of its site numbers.
    pub sites: Vec<Site>,
    /// The names of its slots in messages.
    pub slot_names: Vec<Named>,
    /// The number of threads that the memory a block keeps has room for.
    pub room: u32,
    /// True if a call may run several blocks that are neighbours in x.
    pub merges: bool,
    /// Shared variables that each block overwrites before it reads them.
    pub overwritten: Vec<usize>,
    /// Parameters whose arrays the kernel only adds integers to, with the size of these.
    pub sums: Vec<(usize, usize)>,
    /// The number of blocks, neighbours in x, that may walk over memory together, where any may; with the bytes of scratch that this takes.
    pub walks: Option<(u32, u32)>,
}

/// True if a function has neither loops nor anything that a block's threads share or do together.
fn is_plain(func: &Function) -> bool {
    let mut plain = true;
    let is_more =
        |stmt: &Stmt| matches!(stmt, Stmt::Loop { .. } | Stmt::Collective { .. } | Stmt::Let(_, Op::SharedAddr(_)));
    func.body.for_each_stmt(&mut |stmt| plain &= !is_more(stmt));
    plain
}

/// The number that a row's chunk begins with.
fn in_row(first: Expr, s: Scalar, step: i64, chunk: u32) -> Expr {
    match (step * i64::from(LANES * chunk), s) {
        (0, _) => first,
        (n, Scalar::I64 | Scalar::U64) => first + long(n),
        (n, s) => (first + int(n)).cast(types::one(s)),
    }
}

impl<'m> Builder<'m> {
    /// Makes a kernel for blocks of one shape.
    ///
    /// # Errors
    /// The part that this tier has no words for.
    pub fn build(
        module: &'m Module,
        (globals, addresses): (&'m Globals, &'static [usize]),
        func: &'m Function,
        info: &'m FuncInfo,
        (survey, places, together): (&'m Survey, Option<&'m HashSet<Value>>, Option<&'m Walk>),
        (block, maker, quotients): (Dim3, Maker, Quotients),
    ) -> Result<Built> {
        let merges = info.split.is_none() && is_plain(func);
        let places = places.filter(|_| merges);
        let most_chunks = group::most_chunks(maker);
        let chunks = group::most(func, info, survey, block, (places.is_some(), maker));
        let geometry = Geometry { block, chunks, spans: places.is_some() };
        if info.in_step && chunks != in_step::CHUNKS {
            return Err(Unsupported("warps of several rows of threads"));
        }
        let (forms, own_forms) = Forms::by_pieces(func, info, geometry, survey, places, quotients)?;
        let mut k = KernelBuilder::default();
        let given = Given::new(&mut k);
        let mut placeholder = |name: String| k.var(variable(name, Ty::int(64, true), true));
        let unknown = placeholder("unknown".to_owned());
        let rows = ["ROW_X", "ROW_Y", "ROW_Z"].map(|name| placeholder(name.to_owned()));
        let now = (0..CHUNKS).map(|u| placeholder(format!("now{u}"))).collect();
        let end = k.label("end0".to_owned());
        let mut builder = Builder {
            module,
            globals,
            func,
            info,
            forms,
            own_forms,
            made: vec![Version::Together; func.values.len()],
            geometry,
            split: info.split.as_deref(),
            chunks: geometry.chunks,
            most_chunks,
            is_widest: group::is_widest(maker),
            slot_bytes: 0,
            k,
            given,
            unknown,
            rows,
            now,
            sites: Vec::new(),
            next: 0,
            targets: Vec::new(),
            limits: Limits::default(),
            elements: HashMap::new(),
            tables: BTreeMap::new(),
            defined: HashSet::new(),
            lazy: HashSet::new(),
            end,
            keeps: (Vec::new(), None),
            addresses,
            functions: math::Functions::default(),
            known: range::Known::default(),
            looks_ahead: HashMap::new(),
            next_blocks: HashMap::new(),
            of_threads: HashSet::new(),
            reads: HashSet::new(),
            sums: BTreeMap::new(),
            halves: false,
            merges,
            places,
            branches: Vec::new(),
            pieces: Pieces::default(),
            walk: node::Walk::default(),
            together: None,
            blocks: None,
            open: None,
        };
        builder.of_threads = builder.of_threads();
        builder.reads = builder.parameters_read();
        builder.sums = builder.sums();
        builder.begin_kernel();
        builder.next_blocks = builder.next_blocks();
        builder.body(together.map(|walk| (walk, survey)))?;
        builder.end_kernel();
        let room = builder.room();
        let overwritten = match builder.split {
            Some(plan) => overwritten::variables(module, func, plan, &builder.forms[0].roots, block),
            None => Vec::new(),
        };
        let walks = builder.together.map(|(walk, _)| (walk.blocks, builder.kept_by_walks()));
        let sums = builder.sums.iter().map(|(i, size)| (*i as usize, *size as usize)).collect();
        let spans = builder.geometry.spans;
        let slots = builder.slot_bytes;
        Ok(Built {
            kernel: builder.k.finish(),
            spans,
            slots,
            sites: builder.sites,
            slot_names: builder.func.slots.iter().map(named).collect(),
            room,
            merges: builder.merges,
            overwritten,
            sums,
            walks,
        })
    }

    fn parameters_read(&self) -> HashSet<u32> {
        let mut read = HashSet::new();
        let mut note = |ptr: Value| {
            if let Root::Param(i) = self.forms[0].roots[ptr.index()] {
                read.insert(i);
            }
        };
        self.func.body.for_each_stmt(&mut |stmt| match stmt {
            Stmt::Let(_, Op::Load { ptr, .. }) | Stmt::Atomic { ptr, .. } => note(*ptr),
            _ => {}
        });
        read
    }

    fn push(&mut self, stmt: LaneStmt) {
        self.k.push(stmt);
    }

    /// Opens a block.
    fn begin(&mut self) {
        self.k.begin();
    }

    /// Closes the innermost block and adds it.
    fn end_block(&mut self) {
        let all = self.k.end();
        self.add(LaneStmt::Block(all));
    }

    /// Adds a statement made of blocks that have been closed.
    fn add(&mut self, stmt: LaneStmt) {
        self.k.push_around(stmt, 4);
    }

    /// Adds `if (cond) then else els` of blocks that have been closed.
    fn add_if(&mut self, cond: Expr, then: LaneStmt, els: Option<LaneStmt>) {
        let length = self.k.length_of(&cond) + 8;
        self.k.push_around(LaneStmt::If(Box::new(lane::If { cond, then, els })), length);
    }

    fn label(&mut self, name: &str, id: u32) -> lane::Label {
        self.k.label(format!("{name}{id}"))
    }

    /// A label here.
    fn here(&mut self, label: lane::Label) {
        self.push(LaneStmt::Label(label));
    }

    fn context(&self) -> Expr {
        Expr::Var(self.given.context)
    }

    fn args(&self) -> Expr {
        Expr::Var(self.given.args)
    }

    fn state(&self) -> Expr {
        Expr::Var(self.given.state)
    }

    /// A member of the state.
    fn field(&self, field: lane::Field) -> Expr {
        Expr::Field(self.given.state, field)
    }

    /// The statement that follows each fault that is noted.
    fn close(&self) -> LaneStmt {
        LaneStmt::Macro(self.given.close)
    }

    /// The first thread of a chunk.
    fn first_of(&self, chunk: u32) -> Expr {
        self.get(Name::Thread) + int(i64::from(LANES * chunk))
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn site(&mut self, span: Span, kind: SiteKind) -> Expr {
        let span = if span.is_none() { self.func.span } else { span };
        self.sites.push(Site { span, kind, library: self.func.library });
        ulong(SITE_BIT | (self.sites.len() as u64 - 1))
    }

    /// The address of a function of this process.
    fn host(&self, host: HostFn) -> Result<usize> {
        self.addresses.get(host_fn::index(host) as usize).copied().ok_or(Unsupported("a function that is not there"))
    }

    fn form(&self, v: Value) -> Form {
        self.forms_of(v).values[v.index()]
    }

    /// The forms that a value was made by.
    fn forms_of(&self, v: Value) -> &Forms<'m> {
        self.forms_in(self.made[v.index()])
    }

    /// The forms of a version.
    fn forms_in(&self, version: Version) -> &Forms<'m> {
        match (version, &self.own_forms) {
            (Version::Together, _) => &self.forms[0],
            (Version::Own, Some(own)) => own,
            _ => &self.forms[1],
        }
    }

    /// The form of a value that may not be made yet.
    fn ahead(&self, v: Value, version: Version) -> Form {
        self.forms_in(version).values[v.index()]
    }

    /// The op that defines a value.
    fn op_of(&self, v: Value) -> Option<&'m Op> {
        self.forms[0].ops[v.index()]
    }

    fn root_of(&self, v: Value) -> Root {
        self.forms[0].roots[v.index()]
    }

    fn rests_of(&self, v: Value) -> &[Value] {
        &self.forms_of(v).rests[v.index()]
    }

    /// The integer a value is, where it is a constant.
    fn known(&self, v: Value) -> Option<i64> {
        self.forms[0].constant(v)
    }

    /// True if a local has a variable of its own in a version, and its form there: one that is a line to some and lanes to others has two.
    fn local(&self, l: Local, version: Version) -> (bool, Form) {
        let [together, apart] = [0, 1].map(|i| self.forms[i].locals[l.index()]);
        match version {
            Version::Together => (false, together),
            Version::Apart | Version::Own if together == apart => (false, apart),
            Version::Apart | Version::Own => (true, apart),
        }
    }

    /// The variable of a local: one of the group's, or that of a chunk.
    fn local_part(&self, l: Local, is_apart: bool, part: Option<u32>) -> Expr {
        self.get(if is_apart { Name::Apart(l, part) } else { Name::Local(l, part) })
    }

    fn scalar(&self, v: Value) -> Scalar {
        scalar_of(self.func.ty(v))
    }

    /// The one number of a value for a chunk: of a line the first.
    fn one(&self, v: Value, chunk: u32) -> Expr {
        match self.form(v) {
            Form::Group => self.get(Name::Value(v, None)),
            Form::Row(step) => in_row(self.get(Name::Value(v, None)), self.scalar(v), step, chunk),
            _ => self.get(Name::Value(v, Some(chunk))),
        }
    }

    /// The reach of a row from the first thread of the group to its last, a line from that of a chunk.
    fn reach(&self, form: Form) -> i64 {
        match form {
            Form::Row(step) => step * i64::from(LANES * self.chunks - 1),
            Form::Line(step) => step * i64::from(LANES - 1),
            _ => 0,
        }
    }

    /// For how many chunks of a group something of this form has to be said.
    fn times(&self, form: Form) -> u32 {
        if form.is_whole() { 1 } else { self.chunks }
    }

    /// All numbers of a value for a chunk.
    fn lanes(&mut self, v: Value, chunk: u32) -> Result<Expr> {
        let s = self.scalar(v);
        Ok(match self.form(v) {
            Form::Group | Form::Chunk => Self::splat(s, self.one(v, chunk)),
            Form::Lanes if self.lazy.contains(&v) => self.expanded(v, chunk)?,
            Form::Lanes => self.one(v, chunk),
            Form::Row(step) | Form::Line(step) if self.rests_of(v).is_empty() => {
                Self::line(s, self.one(v, chunk), step)?
            }
            // Operands say what it is where it turns out to be no line.
            Form::Row(_) | Form::Line(_) => self.expanded(v, chunk)?,
        })
    }

    /// One number in all lanes.
    fn splat(s: Scalar, one: Expr) -> Expr {
        families::splat(types::vector(s)).on([one])
    }

    /// Numbers that are a step apart.
    fn line(s: Scalar, first: Expr, step: i64) -> Result<Expr> {
        Ok(families::line(types::word(s)?).on([first, int(step)]))
    }

    /// All numbers of a value that has no name for them, by what it is made of.
    fn expanded(&mut self, v: Value, chunk: u32) -> Result<Expr> {
        let Some(op) = self.op_of(v) else { return Err(Unsupported("a value that comes from nowhere")) };
        let lanes = self.op_lanes(v, op, chunk)?;
        if self.is_long(&lanes) { Err(Unsupported("an index of too many parts")) } else { Ok(lanes) }
    }

    /// True if an expression is too long to say what a value is.
    fn is_long(&self, expr: &Expr) -> bool {
        self.k.length_of(expr) > MAX_EXPRESSION
    }

    /// The conditions on which a value is the line that its form says; none where it always is.
    fn rests(&self, v: Value, chunk: u32) -> Vec<Expr> {
        let part = |rest: &Value| if self.form(*rest).is_whole() { None } else { Some(chunk) };
        self.rests_of(v).iter().map(|rest| self.get(Name::Rest(*rest, part(rest)))).collect()
    }

    /// The mask of a chunk.
    fn mask(&self, place: Place, chunk: u32) -> Expr {
        match place.mask {
            Mask::Full => int(0xffff).cast(Ty::Mask),
            Mask::Some(n) => self.get(Name::Mask(n, chunk)),
        }
    }

    /// The threads of the group that are there, as a mask of any chunk's.
    fn any(&self, mask: u32) -> Expr {
        let all = (0..self.chunks).map(|u| self.get(Name::Mask(mask, u)));
        joined(Binary::Or, all).unwrap_or(int(0))
    }

    /// Refuses pointers of which it is not known where they point.
    fn plain(root: Root) -> Result<Root> {
        match root {
            Root::Unset | Root::Dynamic => Err(Unsupported("a pointer that may point into several arrays")),
            root => Ok(root),
        }
    }

    /// The start of an allocation.
    fn base(&self, root: Root) -> Result<Expr> {
        Ok(self.get(Name::Base(Self::plain(root)?)))
    }

    fn site_root(root: Root) -> SiteRoot {
        match root {
            Root::Param(i) => SiteRoot::KernelParam(i),
            Root::Shared(m) => SiteRoot::Shared(m.index() as u32),
            Root::Global(g) => SiteRoot::Global(g.index() as u32),
            Root::Slot(s) => SiteRoot::Slot(s.index() as u32 | WIDE_SLOT),
            Root::Null | Root::Unset | Root::Dynamic => SiteRoot::Null,
        }
    }

    /// A constant.
    fn constant(c: Const) -> Expr {
        match c {
            Const::Bool(b) => int(i64::from(b)),
            Const::Int(Scalar::U64, n) => ulong(n as u64),
            Const::Int(Scalar::I64, n) => ulong(n as u64).cast(Ty::int(64, true)),
            Const::Int(s, n) if s.is_signed() => long(n).cast(types::one(s)),
            Const::Int(s, n) => ulong(n as u64).cast(types::one(s)),
            Const::F32(x) => NumberOp::F32Of.on([lane_bits(x.to_bits())]),
            Const::F64(x) => NumberOp::F64Of.on([ulong(x.to_bits())]),
            Const::Null => long(0),
        }
    }

    fn check_length(&self) -> Result<()> {
        if self.k.length() > MAX_TEXT { Err(TOO_LONG) } else { Ok(()) }
    }
}

/// The bits of a float.
fn lane_bits(bits: u32) -> Expr {
    if bits >> 31 == 0 { int(i64::from(bits)) } else { uint(bits) }
}

/// The name of a slot in messages.
fn named(data: &SlotData) -> Named {
    Named { name: data.name.clone(), size: data.size.into(), elem: data.elem }
}

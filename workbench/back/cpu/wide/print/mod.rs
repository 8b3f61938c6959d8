//! A kernel as C: one function that runs one block, regions as loops over groups of threads.
//!
//! Values have C names: `v7` where the group has one (of a row the first number), `v7_0`, `v7_1` and so on where each chunk has its own (of
//! a line the first number).
//! Locals are `l3` or `l3_0`. Pointers are byte offsets (`i64`) from the start of the one allocation they point into.

mod aligned;
mod arith;
mod both;
mod control;
mod corners;
mod group;
mod line;
mod math;
mod memory;
mod next;
mod node;
mod op;
mod range;
mod region;
mod sums;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use super::forms::{Form, Forms, Geometry, LANES, Survey};
use super::walk::Walk;
use super::{Maker, Result, TOO_LONG, Unsupported, overwritten, prelude};
use crate::back::Dim3;
use crate::back::cpu::abi::context::{BufferDesc, DescField, Field};
use crate::back::cpu::abi::host_fn::{self, HostFn};
use crate::back::cpu::abi::site::{SITE_BIT, Site, SiteKind, SiteRoot};
use crate::back::cpu::data::Globals;
use crate::back::cpu::facts::analysis::FuncInfo;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::facts::split::SplitPlan;
use crate::ir::{Const, Function, Label, Local, Module, Op, ParamType, Scalar, Stmt, Type, Value};
use crate::source::Span;

/// Longest text that is worth a compiler's time.
const MAX_TEXT: usize = 200_000;

/// Longest expression that says what a value is by what it is made of. Such a text repeats what is used twice, so it may double with each
/// operation.
const MAX_EXPRESSION: usize = 4_000;

/// The threads that run a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mask {
    /// All of the group.
    Full,
    /// Those in the C variables `m<n>_0`, `m<n>_1` and so on.
    Some(u32),
}

/// Which of two texts of a statement is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// For lanes that go round loops together.
    Together = 0,
    /// For lanes that do as they like.
    Apart = 1,
}

/// Where a statement stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    mask: Mask,
    version: Version,
    /// Whether lanes that are not in the mask may read what is set here.
    apart: bool,
    /// Whether nothing of the group follows.
    last: bool,
}

/// A construct that `Break` and `Continue` name.
#[derive(Debug, Clone, Copy)]
struct Target {
    label: Label,
    /// For the C labels.
    id: u32,
    /// For a masked one the numbers of the masks of those who left it, and of those who wait for its step.
    masks: Option<(u32, u32)>,
    /// Whether it is a construct around regions: its masks are the block's.
    is_node: bool,
}

/// A kernel being printed for one shape of blocks.
pub struct Printer<'m> {
    module: &'m Module,
    globals: &'m Globals,
    func: &'m Function,
    info: &'m FuncInfo,
    /// What values are: to lanes that do everything together, and to lanes on their own.
    forms: [Forms<'m>; 2],
    /// For each value by which of them it was printed last.
    printed: Vec<Version>,
    geometry: Geometry,
    split: Option<&'m SplitPlan>,
    /// How many chunks a group of the region being printed is; a divisor of the most.
    chunks: u32,
    /// How many a group that walks memory has at most.
    most_chunks: u32,
    /// Whether loops and straight-line code become code for registers of 512 bits.
    is_widest: bool,
    /// Bytes of local arrays on the stack.
    slot_bytes: usize,
    out: String,
    sites: Vec<Site>,
    next: u32,
    targets: Vec<Target>,
    /// Declarations of what the body turned out to need: limits of buffers.
    limits: BTreeSet<String>,
    /// Limits of writes, which a fault sets to 0.
    closed: BTreeSet<String>,
    /// The size of the elements of each slot: all of one, because lanes lie side by side.
    elements: HashMap<usize, u32>,
    tables: BTreeSet<u8>,
    /// Values that have their names in the region being printed.
    defined: HashSet<Value>,
    /// Addresses of lanes, and their widened indices, which are computed where they are wanted: mostly where something is out of bounds.
    lazy: HashSet<Value>,
    /// The C label at the end of the group, where `return` goes.
    end: u32,
    /// What keeps the group's locals for other regions, as C, and whether that has been printed already, where nothing but it followed.
    keeps: (String, bool),
    addresses: &'static [usize],
    functions: math::Functions,
    known: range::Known,
    /// Of proven pointers, by how many bytes to look ahead, as C: where rounds are too far apart for the machine to see where they go.
    looks_ahead: HashMap<Value, String>,
    /// Pointers of loads that ask for the next block's elements too, and by how many bytes these are away.
    next_blocks: HashMap<Value, String>,
    /// Values that are made of a thread's place in its block and of what groups have one of.
    of_threads: HashSet<Value>,
    /// Parameters whose arrays the kernel reads.
    reads: HashSet<u32>,
    /// Parameters whose arrays it only adds integers to, with their sizes.
    sums: BTreeMap<u32, u32>,
    /// Whether groups of the region being printed that take nothing of its `if` are followed by none that do.
    halves: bool,
    /// Whether one call runs several blocks, neighbours in x: where they do not synchronise and have no loops, long rows of memory are
    /// worth more than a block's cache.
    merges: bool,
    /// Of blocks that are one long row the values that are a thread's place in it.
    places: Option<&'m HashSet<Value>>,
    /// The walk over the regions of a block.
    walk: node::Walk,
    /// A walk over memory that blocks do together, and where in scratch is what it leaves.
    together: Option<(&'m Walk, u32)>,
}

/// A printed kernel.
pub struct Printed {
    /// The text.
    pub text: String,
    /// What of it is the kernel's own: without what operations on lanes are, and what is done after a fault.
    pub own: String,
    /// Whether blocks are one long row of threads.
    pub spans: bool,
    /// Bytes of local arrays on the stack.
    pub slots: usize,
    /// What its site numbers mean.
    pub sites: Vec<Site>,
    /// How many threads what a block keeps has to have room for.
    pub room: u32,
    /// Whether a call may run several blocks that are neighbours in x.
    pub merges: bool,
    /// Shared variables that each block overwrites before it reads them.
    pub overwritten: Vec<usize>,
    /// Parameters whose arrays the kernel only adds integers to, with the size of these.
    pub sums: Vec<(usize, usize)>,
    /// How many blocks, neighbours in x, may walk over memory together, where any may; with the bytes of scratch that this takes.
    pub walks: Option<(u32, u32)>,
}

/// Whether a function has neither loops nor memory that a block's threads share.
fn is_plain(func: &Function) -> bool {
    let mut plain = true;
    func.body.for_each_stmt(&mut |stmt| plain &= !matches!(stmt, Stmt::Loop { .. } | Stmt::Let(_, Op::SharedAddr(_))));
    plain
}

/// The C type of a scalar.
fn ctype(s: Scalar) -> &'static str {
    match s {
        Scalar::Bool => "b1",
        other => other.name(),
    }
}

/// What operations on lanes of a type are called by.
fn suffix(s: Scalar) -> &'static str {
    match s {
        Scalar::Bool => "b1",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
        Scalar::I64 | Scalar::U64 => "i64",
        _ => "i32",
    }
}

/// As [`suffix`], for what differs by sign.
fn signed_suffix(s: Scalar) -> &'static str {
    match s {
        Scalar::U64 => "u64",
        Scalar::U32 => "u32",
        // Narrow numbers are kept extended, so that they compare as `int`s.
        other => suffix(other),
    }
}

/// The number that a row's chunk begins with.
fn in_row(name: &str, s: Scalar, step: i64, chunk: u32) -> String {
    match (step * i64::from(LANES * chunk), s) {
        (0, _) => name.to_owned(),
        (n, Scalar::I64 | Scalar::U64) => format!("({name} + {n}ll)"),
        (n, s) => format!("({})({name} + {n})", ctype(s)),
    }
}

/// The C type of lanes.
fn vtype(s: Scalar) -> &'static str {
    match suffix(s) {
        "b1" => "m16",
        "f32" => "vf32",
        "f64" => "vf64",
        "i64" => "vi64",
        _ => "vi32",
    }
}

/// The scalar that stands for a value: of a pointer its offset.
pub(super) fn scalar_of(ty: Type) -> Scalar {
    ty.scalar().unwrap_or(Scalar::I64)
}

impl<'m> Printer<'m> {
    /// Prints a kernel for blocks of one shape.
    ///
    /// # Errors
    /// What this tier has no words for.
    pub fn print(
        module: &'m Module,
        (globals, addresses): (&'m Globals, &'static [usize]),
        func: &'m Function,
        info: &'m FuncInfo,
        (survey, places, together): (&'m Survey, Option<&'m HashSet<Value>>, Option<&'m Walk>),
        (block, maker): (Dim3, Maker),
    ) -> Result<Printed> {
        let merges = info.split.is_none() && is_plain(func);
        let places = places.filter(|_| merges);
        let most_chunks = group::most_chunks(maker);
        let chunks = group::most(func, info, survey, block, (places.is_some(), maker));
        let geometry = Geometry { block, chunks, spans: places.is_some() };
        let forms = Forms::both(func, info, geometry, survey, places)?;
        let mut printer = Printer {
            module,
            globals,
            func,
            info,
            forms,
            printed: vec![Version::Together; func.values.len()],
            geometry,
            split: info.split.as_deref(),
            chunks: geometry.chunks,
            most_chunks,
            is_widest: group::is_widest(maker),
            slot_bytes: 0,
            out: String::new(),
            sites: Vec::new(),
            next: 0,
            targets: Vec::new(),
            limits: BTreeSet::new(),
            closed: BTreeSet::new(),
            elements: HashMap::new(),
            tables: BTreeSet::new(),
            defined: HashSet::new(),
            lazy: HashSet::new(),
            end: 0,
            keeps: (String::new(), false),
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
            walk: node::Walk::default(),
            together: None,
        };
        printer.of_threads = printer.of_threads();
        printer.reads = printer.parameters_read();
        printer.sums = printer.sums();
        printer.next_blocks = printer.next_blocks();
        printer.body(together.map(|walk| (walk, survey)))?;
        let (text, own) = printer.finish();
        let room = printer.room();
        let overwritten = match printer.split {
            Some(plan) => overwritten::variables(module, func, plan, &printer.forms[0].roots, block),
            None => Vec::new(),
        };
        let walks = printer.together.map(|(walk, _)| (walk.blocks, printer.kept_by_walks()));
        let sums = printer.sums.iter().map(|(i, size)| (*i as usize, *size as usize)).collect();
        let spans = printer.geometry.spans;
        let slots = printer.slot_bytes;
        Ok(Printed {
            text,
            own,
            spans,
            slots,
            sites: printer.sites,
            room,
            merges: printer.merges,
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

    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn site(&mut self, span: Span, kind: SiteKind) -> String {
        let span = if span.is_none() { self.func.span } else { span };
        self.sites.push(Site { span, kind, library: self.func.library });
        format!("{}ull", SITE_BIT | (self.sites.len() as u64 - 1))
    }

    /// The address of a function of this process.
    fn host(&self, host: HostFn) -> Result<usize> {
        self.addresses.get(host_fn::index(host) as usize).copied().ok_or(Unsupported("a function that is not there"))
    }

    fn form(&self, v: Value) -> Form {
        self.forms_of(v).values[v.index()]
    }

    /// What a value was printed by.
    fn forms_of(&self, v: Value) -> &Forms<'m> {
        &self.forms[self.printed[v.index()] as usize]
    }

    /// The form of a value that may not be printed yet.
    fn ahead(&self, v: Value, version: Version) -> Form {
        self.forms[version as usize].values[v.index()]
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

    /// The C name of a local in a version, and what it is there: one that is a line to some and lanes to others has two.
    fn local(&self, l: Local, version: Version) -> (&'static str, Form) {
        let [together, apart] = [0, 1].map(|i| self.forms[i].locals[l.index()]);
        match version {
            Version::Together => ("l", together),
            Version::Apart if together == apart => ("l", apart),
            Version::Apart => ("w", apart),
        }
    }

    fn scalar(&self, v: Value) -> Scalar {
        scalar_of(self.func.ty(v))
    }

    /// The one number of a value for a chunk: of a line the first.
    fn one(&self, v: Value, chunk: u32) -> String {
        let name = format!("v{}", v.index());
        match self.form(v) {
            Form::Group => name,
            Form::Row(step) => in_row(&name, self.scalar(v), step, chunk),
            _ => format!("{name}_{chunk}"),
        }
    }

    /// How far a row reaches from the first thread of the group to its last, a line from that of a chunk.
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
    fn lanes(&mut self, v: Value, chunk: u32) -> Result<String> {
        let (s, one) = (self.scalar(v), self.one(v, chunk));
        Ok(match self.form(v) {
            Form::Group | Form::Chunk => format!("splat_{}({one})", suffix(s)),
            Form::Lanes if self.lazy.contains(&v) => self.expanded(v, chunk)?,
            Form::Lanes => one,
            Form::Row(step) | Form::Line(step) if self.rests_of(v).is_empty() => {
                format!("line_{}({one}, {step})", suffix(s))
            }
            // Where it turns out to be no line, its operands say what it is.
            Form::Row(_) | Form::Line(_) => self.expanded(v, chunk)?,
        })
    }

    /// All numbers of a value that has no name for them, by what it is made of.
    fn expanded(&mut self, v: Value, chunk: u32) -> Result<String> {
        let Some(op) = self.op_of(v) else { return Err(Unsupported("a value that comes from nowhere")) };
        let text = self.op_lanes(v, op, chunk)?;
        if text.len() > MAX_EXPRESSION { Err(Unsupported("an index of too many parts")) } else { Ok(text) }
    }

    /// The condition on which a value is the line that its form says; empty where it always is.
    fn rests(&self, v: Value, chunk: u32) -> String {
        self.rests_of(v).iter().fold(String::new(), |mut all, rest| {
            let _ = match self.form(*rest).is_whole() {
                true => write!(all, "ok{} && ", rest.index()),
                false => write!(all, "ok{}_{chunk} && ", rest.index()),
            };
            all
        })
    }

    /// The mask of a chunk.
    fn mask(&self, place: Place, chunk: u32) -> String {
        match place.mask {
            Mask::Full => "(m16)0xffff".to_owned(),
            Mask::Some(n) => format!("m{n}_{chunk}"),
        }
    }

    /// Whether any thread of the group is there.
    fn any(&self, mask: u32) -> String {
        let all: Vec<String> = (0..self.chunks).map(|u| format!("m{mask}_{u}")).collect();
        format!("({})", all.join(" | "))
    }

    /// The C name of an allocation.
    fn root_name(root: Root) -> Result<String> {
        Ok(match root {
            Root::Param(i) => format!("p{i}"),
            Root::Shared(m) => format!("s{}", m.index()),
            Root::Global(g) => format!("g{}", g.index()),
            Root::Null => "null".to_owned(),
            Root::Slot(s) => format!("t{}", s.index()),
            Root::Unset | Root::Dynamic => return Err(Unsupported("a pointer that may point into several arrays")),
        })
    }

    fn site_root(root: Root) -> SiteRoot {
        match root {
            Root::Param(i) => SiteRoot::KernelParam(i),
            Root::Shared(m) => SiteRoot::Shared(m.index() as u32),
            Root::Global(g) => SiteRoot::Global(g.index() as u32),
            Root::Slot(s) => SiteRoot::Slot(s.index() as u32),
            Root::Null | Root::Unset | Root::Dynamic => SiteRoot::Null,
        }
    }

    /// A constant as C.
    fn constant(c: Const) -> String {
        match c {
            Const::Bool(b) => u8::from(b).to_string(),
            Const::Int(Scalar::U64, n) => format!("{}ull", n as u64),
            Const::Int(Scalar::I64, n) => format!("((i64){}ull)", n as u64),
            Const::Int(s, n) if s.is_signed() => format!("(({}){n}ll)", ctype(s)),
            Const::Int(s, n) => format!("(({}){}ull)", ctype(s), n as u64),
            Const::F32(x) => format!("f32_of({:#x})", x.to_bits()),
            Const::F64(x) => format!("f64_of({:#x}ull)", x.to_bits()),
            Const::Null => "0ll".to_owned(),
        }
    }

    /// The whole text around what was printed, and what of it is the kernel's own.
    fn finish(&mut self) -> (String, String) {
        let body = std::mem::take(&mut self.out);
        let Dim3 { x, y, z } = self.geometry.block;
        let span = if self.geometry.spans { format!("#define SPAN {x}u\n") } else { String::new() };
        self.out.push_str(prelude::text());
        self.out.extend([span.as_str(), prelude::FAULTS]);
        let start = self.out.len();
        let functions = self.functions();
        self.out.push_str(&functions);
        self.print_tables();
        let mut own = span + &self.out[start..];
        let pack = match (y, z) {
            (1, 1) => "t".to_owned(),
            _ => format!("t % {x} | t / {x} % {y} << 10 | t / {} << 20", x * y),
        };
        let fault = self.addresses[host_fn::index(HostFn::Fault) as usize];
        let _ = writeln!(
            self.out,
            "FN u32 pack(u32 t) {{ return {pack}; }}\n\
             COLD u32 stop(char* ctx, State* st) {{\n\
             u64* f = (u64*)(ctx + {}); f[0] = st->site; f[1] = st->a; f[2] = st->b; *(u64*)(ctx + {}) += st->block;\n\
             ((void (*)(char*, u32)){fault:#x}ull)(ctx, pack(st->thread)); return 1; }}",
            Field::FAULT,
            Field::BLOCK_LINEAR
        );
        let _ = writeln!(
            self.out,
            "COLD i64 tick(char* ctx, State* st, u64 site, u32 t) {{\n\
             if (st->faulted && st->now >= st->block && st->thread <= t) {{ stop(ctx, st); return -1; }}\n\
             return ((i64 (*)(char*, u64, u32)){:#x}ull)(ctx, site, pack(t)); }}",
            self.addresses[host_fn::index(HostFn::Poll) as usize]
        );
        let start = self.out.len();
        let closed: Vec<String> = self.closed.iter().map(|name| format!("{name} = 0;")).collect();
        let _ = writeln!(self.out, "#define CLOSE if (st.faulted) {{ {} }}", closed.join(" "));
        if self.together.is_some() {
            let open = self.open();
            let _ = writeln!(self.out, "#define SPAN {}u\n#define OPEN {open}", self.geometry.block.x);
        }
        self.print_joins();
        let _ = writeln!(self.out, "u32 kernel(char* ctx, const u64* args) {{\nState st = {{0}};");
        let _ = writeln!(self.out, "i64 budget = *(i64*)(ctx + {});", Field::BUDGET);
        self.print_roots();
        let limits = std::mem::take(&mut self.limits);
        // Those that others are made of come first: true ones, then by length.
        let mut limits: Vec<String> = limits.into_iter().collect();
        limits.sort_by_key(|text| (!text.starts_with("const u64 X"), text.contains(" > ")));
        for limit in &limits {
            self.line(limit);
        }
        self.out.push_str(&body);
        let _ = writeln!(self.out, "*(i64*)(ctx + {}) = budget;\nreturn 0;\n}}", Field::BUDGET);
        own.push_str(&self.out[start..]);
        (std::mem::take(&mut self.out), own)
    }

    fn print_tables(&mut self) {
        let Dim3 { x, y, .. } = self.geometry.block;
        let count = self.room();
        for dim in self.tables.clone() {
            let entries: Vec<String> = (0..count)
                .map(|t| match dim {
                    0 => t % x,
                    1 => t / x % y,
                    _ => t / (x * y),
                })
                .map(|n| n.to_string())
                .collect();
            let text = format!("static const u32 T{dim}[{count}] = {{{}}};", entries.join(","));
            self.line(text);
        }
    }

    /// The allocations that pointers may point into.
    /// Declares what the kernel is given. All of it is read here, once: for all that the compiler knows, a store may change it.
    fn print_roots(&mut self) {
        for (i, param) in self.func.params.iter().enumerate() {
            let text = match param.ty {
                ParamType::Scalar(Scalar::Bool) => format!("const b1 A{i} = *(const u8*)(args + {i}) != 0;"),
                ParamType::Scalar(s) => format!("const {0} A{i} = *(const {0}*)(args + {i});", ctype(s)),
                _ => format!(
                    "const char* D_p{i} = (const char*)args[{i}]; char* const B_p{i} = *(char* const*)(D_p{i} + {});",
                    DescField::BASE
                ),
            };
            self.line(text);
        }
        for (name, field) in [("block", Field::BLOCK), ("grid", Field::GRID)] {
            let all: Vec<String> =
                (0..3).map(|d| format!("{name}{d} = *(const u32*)(ctx + {})", field + 4 * d)).collect();
            self.line(format!("const u32 {};", all.join(", ")));
        }
        for i in self.sums.keys().copied().collect::<Vec<_>>() {
            self.line(format!("char* const Q_p{i} = (*(char* const* const*)(ctx + {}))[{i}];", Field::SUMS));
        }
        self.line("char* const B_null = 0;");
        let shared: BTreeSet<usize> = self.forms[0]
            .roots
            .iter()
            .filter_map(|root| match root {
                Root::Shared(m) => Some(m.index()),
                _ => None,
            })
            .collect();
        for m in shared {
            let at = m as u32 * DescField::SIZE;
            let text = format!(
                "const char* D_s{m} = *(const char* const*)(ctx + {}) + {at}; char* const B_s{m} = *(char* const*)(D_s{m} + {});",
                Field::SHARED,
                DescField::BASE
            );
            self.line(text);
        }
        let globals: BTreeSet<usize> = self.forms[0]
            .roots
            .iter()
            .filter_map(|root| match root {
                Root::Global(g) => Some(g.index()),
                _ => None,
            })
            .collect();
        for g in globals {
            let base = self.globals.descs[g].base;
            self.line(format!("char* const B_g{g} = (char*){base:#x}ull;"));
        }
    }

    /// The C name of how many offsets an access of `size` bytes may start at; of so many chunks' at neighbouring elements, where not 0.
    fn limit(&mut self, root: Root, write: bool, size: u32, wide: u32) -> Result<String> {
        let log2 = size.trailing_zeros();
        let name = Self::root_name(root)?;
        let short = format!("{}_{name}_{log2}", if write { 'W' } else { 'R' });
        let value = match root {
            Root::Param(_) => format!("*(const u64*)(D_{name} + {})", DescField::limit(write, log2)),
            Root::Shared(m) => match self.module.shared.get(m.index()) {
                Some(data) if !data.dynamic => {
                    format!("{}ull", BufferDesc::starts(u64::from(data.size), u64::from(size)))
                }
                _ => format!("*(const u64*)(D_{name} + {})", DescField::limit(write, log2)),
            },
            Root::Global(g) => {
                let desc = &self.globals.descs[g.index()];
                let all = if write { desc.write } else { desc.read };
                format!("{}ull", all[log2 as usize])
            }
            Root::Slot(s) => {
                let bytes = self.func.slots[s.index()].size;
                format!("{}ull", BufferDesc::starts(u64::from(bytes), u64::from(size)))
            }
            Root::Null => "0ull".to_owned(),
            Root::Unset | Root::Dynamic => return Err(Unsupported("a pointer that may point into several arrays")),
        };
        let ends = (LANES * wide.max(1) - 1) * size;
        // Of writes the true limits are apart from those that a fault sets to 0, after which the slow way asks who is alive.
        let is_own = matches!(root, Root::Slot(_));
        let (kind, from) = match write && !is_own {
            true => {
                self.limits.insert(format!("const u64 X{short} = {value};"));
                self.closed.insert(short.clone());
                ("u64", format!("X{short}"))
            }
            false => ("const u64", value),
        };
        self.limits.insert(format!("{kind} {short} = {from};"));
        if wide == 0 {
            return Ok(short);
        }
        let window = format!("{short}w{wide}");
        if kind == "u64" {
            self.closed.insert(window.clone());
        }
        self.limits.insert(format!("{kind} {window} = {short} > {ends} ? {short} - {ends} : 0;"));
        Ok(window)
    }

    fn check_length(&self) -> Result<()> {
        if self.out.len() > MAX_TEXT { Err(TOO_LONG) } else { Ok(()) }
    }
}

//! The textual IR, as [`Display`](fmt::Display) of a [`Module`] or [`Function`] writes it.
//!
//! ```text
//! kernel f0 saxpy(n: i32, a: f32, x: ptr const f32, y: ptr f32) {
//!   local l0 i: i32
//!   v0: i32 = param 0
//!   v1: u32 = thread_idx.x
//!   v2: bool = lt v1, v0
//!   if v2 {
//!     v3: ptr = ptr_add v4, v5 * f32
//!     v6: f32 = load v3
//!     store v3, v7
//!   }
//! }
//! ```
//! The type of a result stands left of the `=`; the op does not repeat it. A constant carries its type (`1.5f32`, `-1i32`)
//! and reads back to the same bits: floats by their shortest decimal form, NaNs by their bits (`nan(0x7fc00000)f32`). [`super::read`]
//! reads all of it back, and holds the grammar.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use super::ops::ops;
use super::{
    Anchor, AtomicOp, BinaryOp, BitFn, Block, Builtin, Collective, CompareOp, Const, Derived, Elem, FuncId, FuncKind,
    Function, Global, GlobalData, Local, MathFn, MemberAt, Module, Op, Param, ParamType, Scalar, Scope, Shared,
    SharedData, Slot, Space, Stmt, Stride, Type, UnaryOp, Value,
};

/// The number of equal elements of a table, or of zeros at the end of bytes, above which they are not written one by one.
const MAX_RUN: usize = 16;

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(s) => s.fmt(f),
            Type::Ptr => f.write_str("ptr"),
        }
    }
}

impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamType::Scalar(s) => s.fmt(f),
            ParamType::Ptr { elem, is_const } => {
                let elem = elem.map_or("void", Elem::name);
                write!(f, "ptr {}{elem}", if *is_const { "const " } else { "" })
            }
            ParamType::Bytes { size, align } => write!(f, "bytes {size} align {align}"),
        }
    }
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Const::Bool(b) => write!(f, "{b}"),
            Const::Int(s, i) if s == Scalar::U64 => write!(f, "{}{s}", i as u64),
            Const::Int(s, i) => write!(f, "{i}{s}"),
            Const::F32(x) if x.is_nan() => write!(f, "nan({:#010x})f32", x.to_bits()),
            Const::F32(x) => write!(f, "{x:?}f32"),
            Const::F64(x) if x.is_nan() => write!(f, "nan({:#018x})f64", x.to_bits()),
            Const::F64(x) => write!(f, "{x:?}f64"),
            Const::Null => f.write_str("null"),
        }
    }
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, dim) = match self {
            Builtin::ThreadIdx(d) => ("thread_idx", d),
            Builtin::BlockIdx(d) => ("block_idx", d),
            Builtin::BlockDim(d) => ("block_dim", d),
            Builtin::GridDim(d) => ("grid_dim", d),
        };
        match dim {
            0 => write!(f, "{name}.x"),
            1 => write!(f, "{name}.y"),
            2 => write!(f, "{name}.z"),
            d => write!(f, "{name}.{d}"),
        }
    }
}

macro_rules! by_word {
    ($($kind:ident)*) => {$(
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    )*};
}

by_word! { UnaryOp BinaryOp CompareOp BitFn AtomicOp }

/// CUDA's name without the underscores around it: `shfl_down_sync`.
impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.c_name().trim_start_matches('_'))
    }
}

impl fmt::Display for MathFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Stride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stride::Elem(s) => s.fmt(f),
            Stride::Bytes(b) => write!(f, "{b} bytes"),
        }
    }
}

/// A piece of the text of an op: words of its row, and fields.
trait Piece {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

macro_rules! pieces {
    ($($ty:ty)*) => {$(
        impl Piece for $ty {
            fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

pieces! { str Const u32 Local Slot Global Shared FuncId Builtin UnaryOp BinaryOp CompareOp MathFn BitFn Stride Value }

impl Piece for Vec<Value> {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&list(self))
    }
}

/// The word of a volatile access.
impl Piece for bool {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self { "volatile " } else { "" })
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $variant:ident $(($($place:ident: $place_ty:ty),*))? $({$($(#[$field_doc:meta])* $field:ident: $field_ty:ty,)*})?
        $how:ident $($word:literal)? [$($piece:tt)*] $(of $result:tt)?;)*) => {
        impl fmt::Display for Op {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {$(
                    Op::$variant $(($($place),*))? $({$($field),*})? => {
                        // Not all fields are printed.
                        $($(let _ = $place;)*)?
                        $($(let _ = $field;)*)?
                        $(f.write_str(concat!($word, " "))?;)?
                        $($piece.print(f)?;)*
                        Ok(())
                    }
                )*}
            }
        }
    };
}

ops!(texts);

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut signatures = Vec::new();
        collect_signatures(self, &mut signatures);
        function(f, self, None, &signatures)
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, data) in self.globals.iter().enumerate() {
            global(f, i, data)?;
        }
        for (i, data) in self.formats.iter().enumerate() {
            writeln!(f, "format p{i} = {:?}", data.text)?;
        }
        for (i, data) in self.shared.iter().enumerate() {
            shared(f, i, data)?;
        }
        let mut signatures: Vec<u64> = Vec::new();
        for (func, signature) in &self.addressed {
            note_signature(*signature, &mut signatures);
            writeln!(f, "addressed {func} type {}", number_of(*signature, &signatures))?;
        }
        for func in &self.functions {
            collect_signatures(func, &mut signatures);
        }
        let mut gap = !self.addressed.is_empty()
            || !self.globals.is_empty()
            || !self.shared.is_empty()
            || !self.formats.is_empty();
        for (i, func) in self.functions.iter().enumerate() {
            if std::mem::replace(&mut gap, true) {
                writeln!(f)?;
            }
            function(f, func, Some(FuncId::new(i)), &signatures)?;
        }
        Ok(())
    }
}

/// The text of one function of a module and of those that it calls, with the handles that they have in the module's text.
pub(crate) fn with_callees(module: &Module, root: FuncId) -> String {
    let mut signatures: Vec<u64> = Vec::new();
    module.addressed.iter().for_each(|(_, signature)| note_signature(*signature, &mut signatures));
    module.functions.iter().for_each(|func| collect_signatures(func, &mut signatures));
    let mut found = BTreeSet::from([root]);
    let mut left = vec![root];
    while let Some(id) = left.pop() {
        module.func(id).body.for_each_stmt(&mut |stmt| {
            left.extend(stmt.mentions().filter(|callee| found.insert(*callee)));
        });
    }
    let texts = found.iter().map(|id| {
        let mut text = String::new();
        // A `String` takes whatever is written.
        let _ = write!(text, "{}", fmt::from_fn(|f| function(f, module.func(*id), Some(*id), &signatures)));
        text
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

fn volatile_word(volatile: bool) -> &'static str {
    if volatile { " volatile" } else { "" }
}

/// The name after a handle, before `: `.
fn named(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" {}", quoted(name, ": ")) }
}

/// A name that `stop` follows: in quotes where the end of the name would not be clear.
fn quoted(name: &str, stop: &str) -> String {
    let is_plain = !name.is_empty()
        && name.trim() == name
        && !name.contains(|c: char| c == '"' || c.is_control())
        && format!("{name}{stop}").find(stop) == Some(name.len());
    if is_plain { name.to_owned() } else { format!("{name:?}") }
}

fn note_signature(signature: u64, signatures: &mut Vec<u64>) {
    if !signatures.contains(&signature) {
        signatures.push(signature);
    }
}

/// The number of a type of functions in the text: its place among those of the text, because the signature itself differs from process to
/// process.
fn number_of(signature: u64, signatures: &[u64]) -> usize {
    signatures.iter().position(|other| *other == signature).unwrap_or(signatures.len())
}

fn collect_signatures(func: &Function, signatures: &mut Vec<u64>) {
    func.body.for_each_stmt(&mut |stmt| {
        if let Stmt::Let(_, Op::FuncAddr(_, signature)) | Stmt::Dispatch(signature) = stmt {
            note_signature(*signature, signatures);
        }
    });
}

fn shared(f: &mut fmt::Formatter<'_>, index: usize, data: &SharedData) -> fmt::Result {
    write!(f, "shared m{index}{}: ", named(&data.name))?;
    match data.dynamic {
        true => write!(f, "dynamic")?,
        false => write!(f, "{} bytes", data.size)?,
    }
    write!(f, ", align {}", data.align)?;
    match data.elem {
        Some(elem) => writeln!(f, ", {elem}"),
        None => writeln!(f),
    }
}

fn global(f: &mut fmt::Formatter<'_>, index: usize, data: &GlobalData) -> fmt::Result {
    let space = match data.space {
        Space::ReadOnly => "global",
        Space::Constant => "constant",
        Space::Device => "device",
        Space::Managed => "managed",
        Space::Host => "host",
    };
    write!(f, "{space} g{index}{}: {} bytes, align {}", named(&data.name), data.bytes.len(), data.align)?;
    let Some(elem) = data.elem.filter(|e| e.size() > 1) else {
        let of = match data.elem {
            Some(Scalar::I8) => String::new(),
            Some(elem) => format!("{elem} "),
            None => "bytes ".to_owned(),
        };
        let zeros = data.bytes.iter().rev().take_while(|byte| **byte == 0).count();
        if zeros <= MAX_RUN {
            return writeln!(f, " = {of}\"{}\"", data.bytes.escape_ascii());
        }
        let shown = &data.bytes[..data.bytes.len() - zeros];
        return writeln!(f, " = {of}\"{}\" + {zeros} zeros", shown.escape_ascii());
    };
    let elements: Vec<&[u8]> = data.bytes.chunks_exact(elem.size() as usize).collect();
    let mut shown = Vec::new();
    for run in elements.chunk_by(|a, b| a == b) {
        let one = element(elem, run[0]);
        if run.len() > MAX_RUN {
            shown.push(format!("{one} x {}", run.len()));
        } else {
            shown.resize(shown.len() + run.len(), one);
        }
    }
    writeln!(f, " = {elem} [{}]", shown.join(", "))
}

/// An element of a table; `bytes` is as long as the scalar is wide.
fn element(elem: Scalar, bytes: &[u8]) -> String {
    let mut raw = [0; 8];
    raw[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(raw);
    match elem {
        Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => bits.to_string(),
        Scalar::I8 => (bits as i8).to_string(),
        Scalar::I16 => (bits as i16).to_string(),
        Scalar::I32 => (bits as i32).to_string(),
        Scalar::I64 => (bits as i64).to_string(),
        Scalar::F32 if f32::from_bits(bits as u32).is_nan() => format!("nan({bits:#010x})"),
        Scalar::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Scalar::F64 if f64::from_bits(bits).is_nan() => format!("nan({bits:#018x})"),
        Scalar::F64 => format!("{:?}", f64::from_bits(bits)),
    }
}

fn param(param: &Param) -> String {
    let name = quoted(&param.name, ": ");
    let default = param.default.map_or(String::new(), |default| format!(" = {default}"));
    let derived = match param.derived {
        None => String::new(),
        Some(Derived::Member(MemberAt { param, offset })) => format!(" from {param} at {offset}"),
        Some(Derived::Anchor(Anchor { param, unit })) => format!(" from {param} by {unit}"),
    };
    format!("{name}: {}{default}{derived}", param.ty)
}

fn function(f: &mut fmt::Formatter<'_>, func: &Function, id: Option<FuncId>, signatures: &[u64]) -> fmt::Result {
    let kind = match func.kind {
        FuncKind::Kernel => "kernel",
        FuncKind::Device => "device",
        FuncKind::Host => "host",
        FuncKind::HostHelper => "host helper",
    };
    let id = id.map_or(String::new(), |id| format!(" {id}"));
    let params: Vec<String> = func.params.iter().map(param).collect();
    write!(f, "{kind}{id} {}({})", quoted(&func.name, "("), params.join(", "))?;
    if let Some(ret) = func.ret {
        write!(f, " -> {ret}")?;
    }
    if let Some(max) = func.max_threads {
        write!(f, " max_threads {max}")?;
    }
    if func.contracts {
        write!(f, " contracts")?;
    }
    if func.library {
        write!(f, " library")?;
    }
    if func.kept.is_some() {
        return writeln!(f, " kept");
    }
    writeln!(f, " {{")?;
    for (i, local) in func.locals.iter().enumerate() {
        writeln!(f, "  local l{i}{}: {}", named(&local.name), local.ty)?;
    }
    for (i, slot) in func.slots.iter().enumerate() {
        write!(f, "  slot s{i}{}: {} bytes, align {}", named(&slot.name), slot.size, slot.align)?;
        match slot.elem {
            Some(elem) => writeln!(f, ", {elem}")?,
            None => writeln!(f)?,
        }
    }
    Printer { f, func, signatures, indent: 1 }.block(&func.body)?;
    writeln!(f, "}}")
}

struct Printer<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    func: &'a Function,
    /// The signatures of the types of functions that the text names; see [`number_of`].
    signatures: &'a [u64],
    indent: usize,
}

impl Printer<'_, '_> {
    fn line(&mut self, text: fmt::Arguments<'_>) -> fmt::Result {
        write!(self.f, "{:width$}", "", width = self.indent * 2)?;
        self.f.write_fmt(text)?;
        self.f.write_char('\n')
    }

    fn block(&mut self, block: &Block) -> fmt::Result {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn nested(&mut self, block: &Block) -> fmt::Result {
        self.indent += 1;
        self.block(block)?;
        self.indent -= 1;
        Ok(())
    }

    /// `v3: i32 = `; a handle that is out of range prints without its type.
    fn binding(&self, v: Value) -> String {
        match self.func.values.get(v.index()) {
            Some(data) => format!("{v}: {} = ", data.ty),
            None => format!("{v}: ? = "),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> fmt::Result {
        match stmt {
            Stmt::Let(v, op) => {
                let binding = self.binding(*v);
                if let Op::FuncAddr(_, signature) = op {
                    let number = number_of(*signature, self.signatures);
                    return self.line(format_args!("{binding}{op} type {number}"));
                }
                self.line(format_args!("{binding}{op}"))
            }
            Stmt::Set(l, v) => self.line(format_args!("{l} = {v}")),
            Stmt::Store { ptr, value, volatile } => {
                self.line(format_args!("store{} {ptr}, {value}", volatile_word(*volatile)))
            }
            Stmt::If { cond, then, els } => {
                self.line(format_args!("if {cond} {{"))?;
                self.nested(then)?;
                if !els.is_empty() {
                    self.line(format_args!("}} else {{"))?;
                    self.nested(els)?;
                }
                self.line(format_args!("}}"))
            }
            Stmt::Loop { label, body, step } => {
                self.line(format_args!("{label}: loop {{"))?;
                self.nested(body)?;
                if !step.is_empty() {
                    self.line(format_args!("}} step {{"))?;
                    self.nested(step)?;
                }
                self.line(format_args!("}}"))
            }
            Stmt::Switch { label, value, cases } => {
                self.line(format_args!("{label}: switch {value} {{"))?;
                self.indent += 1;
                for case in cases {
                    let mut names: Vec<String> = case.values.iter().map(|v| format!("case {v}")).collect();
                    if case.default {
                        names.push("default".to_owned());
                    }
                    let gap = if names.is_empty() { "" } else { " " };
                    self.line(format_args!("{}{gap}{{", names.join(", ")))?;
                    self.nested(&case.body)?;
                    self.line(format_args!("}}{}", if case.falls_through { " falls through" } else { "" }))?;
                }
                self.indent -= 1;
                self.line(format_args!("}}"))
            }
            Stmt::Scope { label, body } => {
                self.line(format_args!("{label}: scope {{"))?;
                self.nested(body)?;
                self.line(format_args!("}}"))
            }
            Stmt::Break(label) => self.line(format_args!("break {label}")),
            Stmt::Continue(label) => self.line(format_args!("continue {label}")),
            Stmt::Return(None) => self.line(format_args!("return")),
            Stmt::Return(Some(v)) => self.line(format_args!("return {v}")),
            Stmt::Call { result, func, args, raised } => {
                let binding = result.map_or(String::new(), |v| self.binding(v));
                let raised = raised.map_or(String::new(), |v| format!(" raises {v}"));
                self.line(format_args!("{binding}call {func}({}){raised}", list(args)))
            }
            Stmt::Printf { result, format, args } => {
                let binding = result.map_or(String::new(), |v| self.binding(v));
                self.line(format_args!("{binding}printf {format}({})", list(args)))
            }
            Stmt::Assert { cond, message } => self.line(format_args!("assert {cond}, {message:?}")),
            Stmt::Aligned { ptr, align } => self.line(format_args!("aligned {ptr}, {align}")),
            Stmt::Dispatch(signature) => {
                let number = number_of(*signature, self.signatures);
                self.line(format_args!("dispatch type {number}"))
            }
            Stmt::Trap => self.line(format_args!("trap")),
            Stmt::MissingReturn(func) => self.line(format_args!("missing return of {func:?}")),
            Stmt::Barrier(Scope::Block) => self.line(format_args!("barrier block")),
            Stmt::Barrier(Scope::Warp) => self.line(format_args!("barrier warp")),
            Stmt::Atomic { result, op, ptr, value, compare } => {
                let binding = result.map_or(String::new(), |v| self.binding(v));
                let compare = compare.map_or(String::new(), |v| format!(", {v}"));
                self.line(format_args!("{binding}atomic {op} {ptr}{compare}, {value}"))
            }
            Stmt::Collective { result, op, args } => {
                let binding = result.map_or(String::new(), |v| self.binding(v));
                let gap = if args.is_empty() { "" } else { " " };
                self.line(format_args!("{binding}{op}{gap}{}", list(args)))
            }
            Stmt::Fence => self.line(format_args!("fence")),
            Stmt::Service { result, service, args } => {
                let binding = result.map_or(String::new(), |v| self.binding(v));
                self.line(format_args!("{binding}service {}({})", service.name(), list(args)))
            }
            Stmt::Launch { kernel, config: [gx, gy, gz, bx, by, bz, shared], args } => self.line(format_args!(
                "launch {kernel}<({gx}, {gy}, {gz}), ({bx}, {by}, {bz}), {shared}>({})",
                list(args)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::*;
    use crate::source::Span;

    fn constant(c: Const) -> String {
        c.to_string()
    }

    #[test]
    fn constants_carry_their_type_and_read_back() {
        assert_eq!(constant(Const::F32(0.1)), "0.1f32");
        assert_eq!(constant(Const::F64(-0.0)), "-0.0f64");
        assert_eq!(constant(Const::F32(1e30)), "1e30f32");
        assert_eq!(constant(Const::F64(f64::INFINITY)), "inff64");
        assert_eq!(constant(Const::F32(f32::from_bits(0x7fc0_0001))), "nan(0x7fc00001)f32");
        assert_eq!(constant(Const::Int(Scalar::U64, -1)), "18446744073709551615u64");
        assert_eq!(constant(Const::Int(Scalar::I8, -1)), "-1i8");
    }

    #[test]
    fn a_module_prints_in_full() {
        let span = Span::NONE;
        let mut func = Function::new("k", FuncKind::Kernel, span);
        func.max_threads = Some(256);
        func.params = vec![
            Param::new("n", ParamType::Scalar(Scalar::I32), span),
            Param::new("x", ParamType::Ptr { elem: Some(Scalar::F32.into()), is_const: true }, span),
        ];
        let local = func.new_local("i", Type::Scalar(Scalar::I32));
        func.new_slot(SlotData { name: "tmp".into(), size: 16, align: 4, elem: Some(Scalar::F32) });
        let (n, x) = (func.new_value(Scalar::I32.into(), span), func.new_value(Type::Ptr, span));
        let (cond, read) = (func.new_value(Scalar::Bool.into(), span), func.new_value(Scalar::F32.into(), span));
        let (outer, pick) = (func.new_label(), func.new_label());
        let block = |stmts: Vec<Stmt>| Block { spans: vec![span; stmts.len()], stmts };
        func.body = block(vec![
            Stmt::Let(n, Op::Param(0)),
            Stmt::Let(x, Op::Param(1)),
            Stmt::Set(local, n),
            Stmt::Loop {
                label: outer,
                body: block(vec![
                    Stmt::Let(cond, Op::Compare(CompareOp::Lt, n, n)),
                    Stmt::If { cond, then: block(vec![Stmt::Break(outer)]), els: block(vec![Stmt::Continue(outer)]) },
                    Stmt::Let(read, Op::Load { ptr: x, ty: Scalar::F32.into(), volatile: true }),
                ]),
                step: block(vec![Stmt::Printf { result: None, format: Format::new(0), args: vec![n] }]),
            },
            Stmt::Switch {
                label: pick,
                value: n,
                cases: vec![
                    Case { values: vec![1, 2], default: false, body: block(vec![Stmt::Trap]), falls_through: true },
                    Case { values: vec![], default: true, body: block(vec![]), falls_through: false },
                ],
            },
            Stmt::Assert { cond: n, message: "n > \"0\"".into() },
            Stmt::Return(None),
        ]);
        let table: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let module = Module {
            functions: vec![func],
            globals: vec![
                GlobalData {
                    name: String::new(),
                    bytes: b"hi\n\0".to_vec(),
                    align: 1,
                    elem: Some(Scalar::I8),
                    space: Space::ReadOnly,
                },
                GlobalData {
                    name: "table".into(),
                    bytes: table,
                    align: 4,
                    elem: Some(Scalar::F32),
                    space: Space::ReadOnly,
                },
            ],
            shared: Vec::new(),
            formats: vec![FormatData { text: "n is %d\n".into(), span }],
            deduced: Vec::new(),
            templates: Vec::new(),
            addressed: Vec::new(),
            left_out: Vec::new(),
        };
        expect![[r#"
            global g0: 4 bytes, align 1 = "hi\n\x00"
            global g1 table: 8 bytes, align 4 = f32 [1.5, -2.0]
            format p0 = "n is %d\n"

            kernel f0 k(n: i32, x: ptr const f32) max_threads 256 {
              local l0 i: i32
              slot s0 tmp: 16 bytes, align 4, f32
              v0: i32 = param 0
              v1: ptr = param 1
              l0 = v0
              b0: loop {
                v2: bool = lt v0, v0
                if v2 {
                  break b0
                } else {
                  continue b0
                }
                v3: f32 = load volatile v1
              } step {
                printf p0(v0)
              }
              b1: switch v0 {
                case 1, case 2 {
                  trap
                } falls through
                default {
                }
              }
              assert v0, "n > \"0\""
              return
            }
        "#]]
        .assert_eq(&module.to_string());
    }
}

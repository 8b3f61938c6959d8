//! `Let`: what a value is, once for the group, once a chunk, or for each lane.

use super::arith::{self, comparison, fit};
use super::{Form, Mask, Place, Printer, Version, ctype, scalar_of, signed_suffix, suffix, vtype};
use crate::back::Dim3;
use crate::back::cpu::abi::site::SiteKind;
use crate::back::cpu::facts::split::ValueHome;
use crate::back::cpu::wide::forms::{LANES, truncate};
use crate::back::cpu::wide::{Result, Unsupported};
use crate::ir::{BinaryOp, Builtin, Const, Local, MathFn, Op, Scalar, Stmt, Stride, Value};
use crate::source::Span;

/// Farthest an index moves a pointer, in bytes, as in the code of the other tiers.
const MAX_REACH: i64 = 1 << 48;

/// How many operations an index is followed through to see how large it can be.
const MAX_FOLLOWED: u32 = 6;

impl Printer<'_> {
    /// Defines a value.
    pub(super) fn bind(&mut self, v: Value, op: &Op, span: Span, place: Place) -> Result<()> {
        self.defined.insert(v);
        self.printed[v.index()] = place.version;
        if let Op::Load { ptr, ty, volatile } = op {
            if *volatile {
                return Err(Unsupported("a volatile access"));
            }
            self.load(v, *ptr, *ty, span, place)?;
            return self.keep(v);
        }
        if let Op::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) = op
            && !self.scalar(v).is_float()
        {
            self.check_division(*op, *a, *b, span, place)?;
        }
        if matches!(op, Op::Convert(..)) && self.rests_of(v).contains(&v) {
            self.note_rest(v, op);
        }
        let s = self.scalar(v);
        let name = v.index();
        if self.can_wait(v, op) {
            self.lazy.insert(v);
            return Ok(());
        }
        self.lazy.remove(&v);
        match self.form(v) {
            Form::Group | Form::Row(_) => {
                let value = self.op_one(v, op, 0)?;
                self.line(format!("const {} v{name} = {value};", ctype(s)));
            }
            Form::Chunk | Form::Line(_) => {
                for u in 0..self.chunks {
                    let value = self.op_one(v, op, u)?;
                    self.line(format!("const {} v{name}_{u} = {value};", ctype(s)));
                }
            }
            Form::Lanes => {
                for u in 0..self.chunks {
                    let value = self.op_lanes(v, op, u)?;
                    self.line(format!("const {} v{name}_{u} = {value};", vtype(s)));
                }
            }
        }
        self.keep(v)?;
        self.check_length()
    }

    /// Whether a value need not have a name: an address of each lane, or an index widened for one, that no other region wants.
    fn can_wait(&self, v: Value, op: &Op) -> bool {
        let is_kept = self.split.is_some_and(|plan| !matches!(plan.values[v.index()], ValueHome::Region));
        let operands = match op {
            Op::PtrAdd { ptr, .. } => *ptr,
            Op::Convert(Scalar::I64 | Scalar::U64, a) if self.scalar(*a).is_int() && self.scalar(*a).bits() == 32 => *a,
            _ => return false,
        };
        self.form(v) == Form::Lanes && !is_kept && !self.lazy.contains(&operands)
    }

    /// Whether the operand of a widening does not wrap within the chunk.
    fn note_rest(&mut self, v: Value, op: &Op) {
        let (Op::Convert(_, a), form) = (op, self.form(v)) else { return };
        let from = self.scalar(*a);
        let reach = self.reach(form);
        let (least, most) =
            if from.is_signed() { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
        for u in 0..self.times(form) {
            let one = self.one(*a, u);
            let test = match reach > 0 {
                true => format!("{one} <= {}ll", most - reach),
                false => format!("{one} >= {}ll", least - reach),
            };
            let name = if form.is_whole() { String::new() } else { format!("_{u}") };
            self.line(format!("const b1 ok{}{name} = {test};", v.index()));
        }
    }

    /// What one number of a value is: for the group, for a chunk, or the first of its line.
    fn op_one(&mut self, v: Value, op: &Op, u: u32) -> Result<String> {
        let s = self.scalar(v);
        if self.places.is_some_and(|places| places.contains(&v)) {
            return Ok(super::in_row(&format!("({})((u64)bx0 * SPAN + t0)", ctype(s)), s, 1, u));
        }
        Ok(match op {
            Op::Const(c) => Self::constant(*c),
            Op::Param(i) if self.func.ty(v).scalar().is_some() => format!("A{i}"),
            Op::Param(_) | Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) => "0ll".to_owned(),
            Op::Get(l) => self.local_one(*l, v, u),
            Op::Builtin(b) => self.builtin_one(*b, u),
            Op::Unary(op, a) => arith::unary(*op, s, &self.one(*a, u)),
            Op::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) if !s.is_float() => {
                let (a, b, ty) = (self.one(*a, u), self.one(*b, u), ctype(s));
                let sign = if *op == BinaryOp::Div { "/" } else { "%" };
                // What was noted as a fault must not be one of this process.
                let minus = if s.is_signed() { format!(" || {b} == -1") } else { String::new() };
                let instead = if *op == BinaryOp::Div { format!("({ty})(0 - {a})") } else { format!("({ty})0") };
                format!("(({b} == 0{minus}) ? {instead} : ({ty})({a} {sign} {b}))")
            }
            Op::Binary(op, a, b) => arith::binary(*op, s, self.scalar(*b), &self.one(*a, u), &self.one(*b, u))?,
            Op::Compare(op, a, b) => {
                let sign = comparison(*op).0;
                match self.func.ty(*a).scalar() {
                    Some(_) => format!("(b1)({} {sign} {})", self.one(*a, u), self.one(*b, u)),
                    None => format!("(b1)({} {sign} {})", self.address_one(*a, u)?, self.address_one(*b, u)?),
                }
            }
            Op::Convert(to, a) => arith::convert(self.scalar(*a), *to, &self.one(*a, u)),
            Op::Bitcast(to, a) => arith::bitcast(self.scalar(*a), *to, &self.one(*a, u)),
            Op::Select(c, a, b) => format!("({} ? {} : {})", self.one(*c, u), self.one(*a, u), self.one(*b, u)),
            Op::Math(math, args) => {
                let args: Vec<String> = args.iter().map(|a| self.one(*a, u)).collect();
                self.math_one(*math, s, &args)?
            }
            Op::Bit(bit, a) => arith::bit(*bit, self.scalar(*a), &self.one(*a, u))?,
            Op::PtrAdd { ptr, index, stride } => {
                let by = self.one(*index, u);
                let by = match self.is_near(*index, *stride) {
                    true => format!("{by} * {}", stride.bytes()),
                    false => format!("far_s({by}, {}ll, {}ll)", reach(*stride), stride.bytes()),
                };
                format!("(i64)({} + {by})", self.one(*ptr, u))
            }
            Op::PtrDiff(a, b, stride) => {
                let (a, b) = (self.address_one(*a, u)?, self.address_one(*b, u)?);
                format!("((i64)({a} - {b}) / {})", stride.bytes().max(1))
            }
            Op::PtrToInt(a) => self.address_one(*a, u)?,
            Op::IntToPtr(_) => return Err(Unsupported("a pointer made of a number")),
            Op::FuncAddr(..) => return Err(Unsupported("host code")),
            Op::Load { .. } => return Err(Unsupported("a load among operands")),
        })
    }

    /// What a value is for each lane.
    pub(super) fn op_lanes(&mut self, v: Value, op: &Op, u: u32) -> Result<String> {
        let s = self.scalar(v);
        let kind = suffix(s);
        Ok(match op {
            Op::Get(l) => {
                let version = self.printed[v.index()];
                match self.local(*l, version) {
                    (name, Form::Lanes) => format!("{name}{}_{u}", l.index()),
                    (_, Form::Row(step) | Form::Line(step)) => {
                        format!("line_{kind}({}, {step})", self.local_one(*l, v, u))
                    }
                    _ => format!("splat_{kind}({})", self.local_one(*l, v, u)),
                }
            }
            Op::Builtin(Builtin::ThreadIdx(d)) => {
                self.tables.insert(*d);
                format!("ld_i32((const char*)(T{d} + t0 + {}))", 16 * u)
            }
            Op::Const(_) | Op::Param(_) | Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) | Op::Builtin(_) => {
                let one = self.op_one(v, op, u)?;
                format!("splat_{kind}({one})")
            }
            Op::Unary(op, a) => {
                let a = self.lanes(*a, u)?;
                arith::unary_lanes(*op, s, &a)
            }
            Op::Binary(op, a, b) => self.binary_lanes(*op, s, *a, *b, u)?,
            Op::Compare(op, a, b) => {
                let name = comparison(*op).1;
                match self.func.ty(*a).scalar() {
                    Some(Scalar::Bool) => {
                        let (a, b) = (self.lanes(*a, u)?, self.lanes(*b, u)?);
                        format!("{name}_i32(b1_to_i32({a}), b1_to_i32({b}))")
                    }
                    Some(s) => format!("{name}_{}({}, {})", signed_suffix(s), self.lanes(*a, u)?, self.lanes(*b, u)?),
                    None => format!("{name}_u64({}, {})", self.address_lanes(*a, u)?, self.address_lanes(*b, u)?),
                }
            }
            Op::Convert(to, a) => {
                let from = self.scalar(*a);
                let a = self.lanes(*a, u)?;
                self.convert_lanes(from, *to, a)
            }
            Op::Bitcast(to, a) => {
                let from = self.scalar(*a);
                let a = self.lanes(*a, u)?;
                match (suffix(from), suffix(*to)) {
                    _ if *to == Scalar::Bool || from == Scalar::Bool => self.convert_lanes(from, *to, a),
                    (x, y) if x == y => fit(*to, a),
                    (x, y) => format!("cast_{x}_{y}({a})"),
                }
            }
            Op::Select(c, a, b) => {
                let (c, a, b) = (self.lanes(*c, u)?, self.lanes(*a, u)?, self.lanes(*b, u)?);
                format!("select_{kind}({c}, {a}, {b})")
            }
            Op::Math(math, args) => self.math_lanes(*math, s, args, u)?,
            Op::Bit(bit, a) => {
                let from = self.scalar(*a);
                let a = self.lanes(*a, u)?;
                arith::bit_lanes(*bit, from, &a)?
            }
            Op::PtrAdd { ptr, index, stride } => {
                let near = self.is_near(*index, *stride);
                let (p, i) = (self.lanes(*ptr, u)?, self.lanes(*index, u)?);
                let by = match (near, stride.bytes()) {
                    (true, n) if n.is_power_of_two() => format!("shl_i64({i}, splat_i64({}))", n.trailing_zeros()),
                    (true, n) => format!("mul_i64({i}, splat_i64({n}))"),
                    (false, n) => format!("far_v({i}, {}ll, {n}ll)", reach(*stride)),
                };
                if matches!(
                    self.op_of(*ptr),
                    Some(Op::Param(_) | Op::SharedAddr(_) | Op::GlobalAddr(_) | Op::SlotAddr(_))
                ) {
                    by
                } else {
                    format!("add_i64({p}, {by})")
                }
            }
            Op::PtrDiff(a, b, stride) => {
                let (a, b) = (self.address_lanes(*a, u)?, self.address_lanes(*b, u)?);
                format!("div_i64(sub_i64({a}, {b}), splat_i64({}))", stride.bytes().max(1))
            }
            Op::PtrToInt(a) => self.address_lanes(*a, u)?,
            Op::IntToPtr(_) => return Err(Unsupported("a pointer made of a number")),
            Op::FuncAddr(..) => return Err(Unsupported("host code")),
            Op::Load { .. } => return Err(Unsupported("a load among operands")),
        })
    }

    /// Whether an index cannot move a pointer past all memory.
    pub(super) fn is_near(&self, index: Value, stride: Stride) -> bool {
        self.forms[0].magnitude(index, MAX_FOLLOWED) <= reach(stride) as u64
    }

    fn convert_lanes(&self, from: Scalar, to: Scalar, a: String) -> String {
        let (x, y) = (suffix(from), suffix(to));
        if from == to {
            return a;
        }
        if to == Scalar::Bool {
            return format!("truth_{x}({a})");
        }
        if from == Scalar::Bool {
            return format!("b1_to_{y}({a})");
        }
        match (from.is_float(), to.is_float()) {
            (true, true) => format!("{x}_to_{y}({a})"),
            (false, true) => format!("{}_to_{y}({a})", signed_suffix(from)),
            (true, false) if to.bits() >= 32 => format!("{x}_to_{}({a})", to.name()),
            (true, false) => {
                let bits = to.bits();
                let (least, most) = if to.is_signed() {
                    (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
                } else {
                    (0, (1 << bits) - 1)
                };
                format!("min_i32(max_i32({x}_to_i32({a}), splat_i32({least})), splat_i32({most}))")
            }
            (false, false) => match (x, y) {
                ("i32", "i64") if from == Scalar::U32 => format!("widen_u32({a})"),
                ("i32", "i64") => format!("widen_i32({a})"),
                ("i64", "i32") => fit(to, format!("narrow_i64({a})")),
                _ => fit(to, a),
            },
        }
    }

    fn math_lanes(&mut self, math: MathFn, s: Scalar, args: &[Value], u: u32) -> Result<String> {
        let constant = |v: &Value| match self.op_of(*v) {
            Some(Op::Const(Const::F32(x))) => Some(f64::from(*x)),
            Some(Op::Const(Const::F64(x))) => Some(*x),
            _ => None,
        };
        // The machine's minimum gives its second operand where either is NaN or both are zero.
        let easy = args
            .get(1)
            .and_then(constant)
            .is_some_and(|c| !c.is_nan() && (c != 0.0 || c.is_sign_negative() == (math == MathFn::Fmin)));
        let kind = suffix(s);
        let args: Vec<String> = args.iter().map(|a| self.lanes(*a, u)).collect::<Result<_>>()?;
        let all = args.join(", ");
        Ok(match math {
            MathFn::Ceil
            | MathFn::Floor
            | MathFn::Trunc
            | MathFn::Rint
            | MathFn::Sqrt
            | MathFn::Fabs
            | MathFn::Copysign
            | MathFn::Fma => {
                format!("{}_{kind}({all})", math.name())
            }
            MathFn::Fmin if easy => format!("min2_{kind}({all})"),
            MathFn::Fmax if easy => format!("max2_{kind}({all})"),
            MathFn::Fmin | MathFn::Fmax => format!("{}_{kind}({all})", math.name()),
            MathFn::Rsqrt if s == Scalar::F32 => format!("rsqrt_f32({all})"),
            _ if math.arity() <= 3 => self.math_call(math, s, &all)?,
            _ => return Err(Unsupported("a function of four numbers")),
        })
    }

    pub(super) fn builtin_one(&self, builtin: Builtin, u: u32) -> String {
        let Dim3 { x, y, z } = self.geometry.block;
        let first = format!("(t0 + {})", 16 * u);
        match builtin {
            // Where blocks are one long row nothing asks for these.
            Builtin::BlockIdx(0) | Builtin::ThreadIdx(0) if self.geometry.spans => "0u".to_owned(),
            Builtin::ThreadIdx(1) if self.geometry.spans => format!("row % {y}u"),
            Builtin::ThreadIdx(_) if self.geometry.spans => format!("row / {y}u"),
            Builtin::BlockIdx(0) if self.merges => "bx".to_owned(),
            Builtin::BlockIdx(d) => format!("block{d}"),
            Builtin::GridDim(d) => format!("grid{d}"),
            Builtin::BlockDim(d) => format!("{}u", [x, y, z][usize::from(d.min(2))]),
            Builtin::ThreadIdx(0) if x == 1 => "0u".to_owned(),
            Builtin::ThreadIdx(0) if y * z == 1 => first,
            // Chunks are rows: what is the same in all is one text.
            Builtin::ThreadIdx(0) if x == LANES => "0u".to_owned(),
            Builtin::ThreadIdx(0) => format!("{first} % {x}u"),
            Builtin::ThreadIdx(1) if y == 1 => "0u".to_owned(),
            Builtin::ThreadIdx(1) => format!("{first} / {x}u % {y}u"),
            Builtin::ThreadIdx(_) if z == 1 => "0u".to_owned(),
            Builtin::ThreadIdx(_) => format!("{first} / {}u", x * y),
        }
    }

    /// The address that a pointer is.
    fn address_one(&self, v: Value, u: u32) -> Result<String> {
        let root = Self::root_name(self.plain_root(v)?)?;
        Ok(format!("((u64)B_{root} + (u64){})", self.one(v, u)))
    }

    fn address_lanes(&mut self, v: Value, u: u32) -> Result<String> {
        let root = Self::root_name(self.plain_root(v)?)?;
        let offsets = self.lanes(v, u)?;
        Ok(format!("add_i64(splat_i64((i64)B_{root}), {offsets})"))
    }

    fn plain_root(&self, v: Value) -> Result<crate::back::cpu::facts::roots::Root> {
        match self.root_of(v) {
            crate::back::cpu::facts::roots::Root::Slot(_) => Err(Unsupported("the address of a local array")),
            root => Ok(root),
        }
    }

    /// Notes who divides by zero, or the least number by -1.
    fn check_division(&mut self, op: BinaryOp, a: Value, b: Value, span: Span, place: Place) -> Result<()> {
        let s = self.scalar(a);
        let known = self.known(b).map(|n| truncate(s, n));
        let needs_zero = known.is_none_or(|n| n == 0);
        let needs_least = s.is_signed() && known.is_none_or(|n| n == -1);
        if !needs_zero && !needs_least {
            return Ok(());
        }
        let site = self.site(span, SiteKind::Divide { ty: s, rem: op == BinaryOp::Rem });
        let least = i64::MIN >> (64 - s.bits());
        let one = [a, b].iter().all(|v| self.form(*v).is_one());
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            if one {
                let (x, y, ty) = (self.one(a, u), self.one(b, u), ctype(s));
                let overflow = if s.is_signed() {
                    format!(" || {x} == ({ty}){least}ll && {y} == ({ty})-1")
                } else {
                    String::new()
                };
                let wide = if s.is_signed() { "(u64)(i64)" } else { "(u64)" };
                self.line(format!(
                    "if (unlikely({y} == 0{overflow})) {{ note_one(&st, {site}, t0 + {}, {mask}, {wide}{x}, {wide}{y}); CLOSE }}",
                    16 * u
                ));
                continue;
            }
            let (x, y, kind) = (self.lanes(a, u)?, self.lanes(b, u)?, suffix(s));
            let n = self.fresh();
            let overflow = match s.is_signed() {
                true => format!(" | eq_{kind}({x}, splat_{kind}({least}ll)) & eq_{kind}({y}, splat_{kind}(-1))"),
                false => String::new(),
            };
            self.line(format!("const m16 bad{n} = {mask} & (eq_{kind}({y}, splat_{kind}(0)){overflow});"));
            let (x, y) = (self.as_words(s, &x), self.as_words(s, &y));
            self.line(format!(
                "if (unlikely(bad{n})) {{ note_lanes(&st, {site}, t0 + {}, bad{n}, {x}, {y}); CLOSE }}",
                16 * u
            ));
        }
        Ok(())
    }

    /// Lanes extended to 64 bits.
    fn as_words(&self, s: Scalar, lanes: &str) -> String {
        match (suffix(s), s) {
            ("i64", _) => lanes.to_owned(),
            (_, Scalar::U32) => format!("widen_u32({lanes})"),
            _ => format!("widen_i32({lanes})"),
        }
    }

    /// What a local holds where a value reads it: one number for a chunk.
    fn local_one(&self, l: Local, v: Value, u: u32) -> String {
        match self.local(l, self.printed[v.index()]) {
            (name, Form::Group) => format!("{name}{}", l.index()),
            (name, Form::Row(step)) => super::in_row(&format!("{name}{}", l.index()), self.scalar(v), step, u),
            (name, _) => format!("{name}{}_{u}", l.index()),
        }
    }

    /// `Set`.
    pub(super) fn set(&mut self, l: Local, v: Value, place: Place) -> Result<()> {
        let s = scalar_of(self.func.locals[l.index()].ty);
        let (prefix, form) = self.local(l, place.version);
        let name = format!("{prefix}{}", l.index());
        match form {
            Form::Group | Form::Row(_) => {
                let value = self.one(v, 0);
                self.line(format!("{name} = {value};"));
            }
            Form::Chunk | Form::Line(_) => {
                for u in 0..self.chunks {
                    let value = self.one(v, u);
                    self.line(format!("{name}_{u} = {value};"));
                }
            }
            Form::Lanes => {
                for u in 0..self.chunks {
                    let value = self.lanes(v, u)?;
                    match place.mask {
                        Mask::Some(m) if place.apart => {
                            self.line(format!("{name}_{u} = select_{}(m{m}_{u}, {value}, {name}_{u});", suffix(s)));
                        }
                        _ => self.line(format!("{name}_{u} = {value};")),
                    }
                }
            }
        }
        Ok(())
    }

    /// What lanes together know of locals becomes what each knows by itself: the locals that some statements mention.
    pub(super) fn part(&mut self, stmts: &[&Stmt]) {
        let mut mentioned = Vec::new();
        for stmt in stmts {
            let mut look = |stmt: &Stmt| match stmt {
                Stmt::Set(l, _) | Stmt::Let(_, Op::Get(l)) => mentioned.push(*l),
                _ => {}
            };
            look(stmt);
            stmt.blocks().into_iter().for_each(|b| b.for_each_stmt(&mut look));
        }
        mentioned.sort_unstable_by_key(|l| l.index());
        mentioned.dedup();
        for l in mentioned {
            if self.local(l, Version::Apart).0 == "l" {
                continue;
            }
            let (i, s) = (l.index(), scalar_of(self.func.locals[l.index()].ty));
            let kind = suffix(s);
            for u in 0..self.chunks {
                let value = match self.local(l, Version::Together).1 {
                    Form::Group => format!("splat_{kind}(l{i})"),
                    Form::Chunk => format!("splat_{kind}(l{i}_{u})"),
                    Form::Row(step) => {
                        let first = super::in_row(&format!("l{i}"), s, step, u);
                        format!("line_{kind}({first}, {step})")
                    }
                    Form::Line(step) => format!("line_{kind}(l{i}_{u}, {step})"),
                    Form::Lanes => format!("l{i}_{u}"),
                };
                self.line(format!("w{i}_{u} = {value};"));
            }
        }
    }
}

/// How far an index moves a pointer at most.
pub(super) fn reach(stride: Stride) -> i64 {
    MAX_REACH / i64::from(stride.bytes().max(1))
}

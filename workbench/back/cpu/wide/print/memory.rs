//! Loads, stores and atomics: one check for a chunk where its lanes are neighbours, and a slow way for whatever is not all in bounds.

use std::sync::OnceLock;

use super::range::{PLACE, ROW};
use super::{Form, Mask, Place, Printer, ctype, in_row, signed_suffix, suffix, vtype};
use crate::back::cpu::abi::context::DescField;
use crate::back::cpu::abi::site::SiteKind;
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::{Result, Unsupported};
use crate::ir::{AtomicOp, BinaryOp, Op, ParamType, Scalar, Type, Value};
use crate::source::Span;

/// An access to one allocation.
pub(super) struct Access {
    pub root: Root,
    /// The C names of the allocation and of the number of offsets it may start at.
    pub base: String,
    pub limit: String,
    pub site: String,
    /// What is read or written in memory.
    pub s: Scalar,
    /// The name of the operations of memory.
    pub kind: &'static str,
    /// Whether the second word of a fault is the index that moved the pointer.
    pub indexed: Option<Value>,
}

/// Bytes of the largest cache that are this machine's to use: 32 MiB where it does not tell. A virtual machine of two cores is told of all
/// that its host has (480 MiB, seen), of which it gets no more than its neighbours leave: 16 MiB are more than a core's share.
fn cache_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let told = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok();
        let kib = told.and_then(|text| text.trim().strip_suffix('K')?.parse::<u64>().ok());
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        kib.map_or(32 << 20, |kib| (kib << 10).min(cores * (16 << 20)))
    })
}

/// What operations of memory are called by.
fn memory_suffix(s: Scalar, write: bool) -> &'static str {
    match s {
        Scalar::Bool => "b1",
        Scalar::I8 => "i8",
        Scalar::U8 if write => "i8",
        Scalar::U8 => "u8",
        Scalar::I16 => "i16",
        Scalar::U16 if write => "i16",
        Scalar::U16 => "u16",
        other => suffix(other),
    }
}

/// An atomic in one of its texts.
pub(super) struct Update {
    pub result: Option<Value>,
    pub op: AtomicOp,
    /// What it is called, with the type.
    pub call: String,
    pub ptr: Value,
    pub value: Value,
    pub compare: Option<Value>,
    /// Where the memory is that its offsets are from.
    pub base: String,
    /// Whether nobody else works on that memory meanwhile.
    pub alone: bool,
}

impl Printer<'_> {
    pub(super) fn access(&mut self, ptr: Value, ty: Type, write: bool, span: Span) -> Result<Access> {
        let root = self.root_of(ptr);
        let Some(s) = ty.scalar() else { return Err(Unsupported("a pointer in memory")) };
        let log2 = s.size().trailing_zeros();
        if u32::from(self.info.align.get(ptr.index()).copied().unwrap_or(0)) < log2 {
            return Err(Unsupported("an access that may be misaligned"));
        }
        if let Root::Slot(slot) = root
            && *self.elements.entry(slot.index()).or_insert(s.size()) != s.size()
        {
            return Err(Unsupported("a local array of elements of several sizes"));
        }
        let site_root = Self::site_root(root);
        let far = match self.op_of(ptr) {
            Some(Op::PtrAdd { index, stride, .. }) if !self.is_near(*index, *stride) => Some(*index),
            _ => None,
        };
        let indexed = far.filter(|_| site_root.is_plain());
        if indexed.is_some_and(|index| !self.defined.contains(&index)) {
            return Err(Unsupported("an index of another region"));
        }
        let span = match self.func.values.get(ptr.index()).map(|d| d.span) {
            Some(s) if s.file == span.file && s.start >= span.start && s.end <= span.end => s,
            _ => span,
        };
        let site = self.site(span, SiteKind::Access { write, ty, root: site_root, indexed: indexed.is_some() });
        let limit = self.limit(root, write, s.size(), 0)?;
        Ok(Access {
            root,
            base: format!("B_{}", Self::root_name(root)?),
            limit,
            site,
            s,
            kind: memory_suffix(s, write),
            indexed,
        })
    }

    /// The second word of a fault, for a chunk's one number.
    fn word_one(&self, access: &Access, off: &str, u: u32) -> String {
        access.indexed.map_or_else(|| format!("(u64){off}"), |index| format!("(u64){}", self.one(index, u)))
    }

    fn word_lanes(&mut self, access: &Access, off: &str, u: u32) -> Result<String> {
        access.indexed.map_or_else(|| Ok(off.to_owned()), |index| self.lanes(index, u))
    }

    /// Where in a slot's memory an element of all lanes is: elements of the lanes side by side.
    fn slot_base(access: &Access, u: u32) -> Option<String> {
        match access.root {
            Root::Slot(s) => Some(format!("S{}_{u}", s.index())),
            _ => None,
        }
    }

    /// Reads memory.
    pub(super) fn load(&mut self, v: Value, ptr: Value, ty: Type, span: Span, place: Place) -> Result<()> {
        let access = self.access(ptr, ty, false, span)?;
        let name = v.index();
        if let Root::Slot(_) = access.root {
            return self.load_slot(v, ptr, &access, place);
        }
        let (base, limit, site, cty) = (&access.base, &access.limit, &access.site, ctype(access.s));
        let truth = if access.s == Scalar::Bool { " != 0" } else { "" };
        if self.known.proven.contains(&ptr) {
            return self.load_proven(v, ptr, &access, place);
        }
        match (self.form(v), self.form(ptr)) {
            (Form::Group, _) => {
                let off = self.one(ptr, 0);
                let word = self.word_one(&access, &off, 0);
                self.line(format!("{cty} v{name};\nif (likely((u64){off} < {limit})) v{name} = *(const {cty}*)({base} + {off}){truth};\nelse {{ v{name} = 0;"));
                for u in 0..self.chunks {
                    let mask = self.mask(place, u);
                    self.line(format!("note_one(&st, {site}, t0 + {}, {mask}, (u64){off}, {word});", 16 * u));
                }
                self.line("CLOSE }");
            }
            (form, ptr_form) if ptr_form.is_one() => {
                for u in 0..self.chunks {
                    let (off, mask) = (self.one(ptr, u), self.mask(place, u));
                    let word = self.word_one(&access, &off, u);
                    let target = if form == Form::Lanes { format!("x{name}_{u}") } else { format!("v{name}_{u}") };
                    self.line(format!(
                        "{cty} {target};\nif (likely((u64){off} < {limit})) {target} = *(const {cty}*)({base} + {off}){truth};\n\
                         else {{ {target} = 0; note_one(&st, {site}, t0 + {}, {mask}, (u64){off}, {word}); CLOSE }}",
                        16 * u
                    ));
                    if form == Form::Lanes {
                        self.line(format!(
                            "const {} v{name}_{u} = splat_{}({target});",
                            vtype(access.s),
                            suffix(access.s)
                        ));
                    }
                }
            }
            (_, Form::Row(step) | Form::Line(step)) => self.load_line(v, ptr, step, &access, place)?,
            _ => {
                for u in 0..self.chunks {
                    self.gather(v, ptr, &access, place, u)?;
                }
            }
        }
        Ok(())
    }

    /// As [`Printer::load`], of lines: neighbours with one comparison, others with one at both ends.
    fn load_line(&mut self, v: Value, ptr: Value, step: i64, access: &Access, place: Place) -> Result<()> {
        let (name, s, size) = (v.index(), access.s, i64::from(access.s.size()));
        let (base, limit, site, kind) = (&access.base, &access.limit, &access.site, access.kind);
        let near = step == size;
        let mut ways = Vec::new();
        for u in 0..self.chunks {
            let (off, mask) = (self.one(ptr, u), self.mask(place, u));
            let fast = match (place.mask, near) {
                (Mask::Full, true) => format!("ld_{kind}({base} + {off})"),
                (Mask::Some(_), true) => format!("ldm_{kind}({mask}, {base} + {off})"),
                _ if size >= 4 => format!("gl_{}({mask}, {base} + {off}, {step})", suffix(s)),
                _ => format!("ga_{kind}({mask}, {base}, line_i64({off}, {step}))"),
            };
            let offs = self.lanes(ptr, u)?;
            let words = self.word_lanes(access, &offs, u)?;
            let slow = format!("bad_ld_{kind}(&st, {site}, t0 + {}, {mask}, {base}, {limit}, {offs}, {words})", 16 * u);
            ways.push((format!("v{name}_{u} = {fast};"), format!("v{name}_{u} = {slow};")));
        }
        let names: Vec<String> = (0..self.chunks).map(|u| format!("v{name}_{u}")).collect();
        self.line(format!("{} {};", vtype(s), names.join(", ")));
        if place.mask == Mask::Full && near && matches!(self.form(ptr), Form::Row(_)) {
            let window = self.limit(access.root, false, access.s.size(), self.chunks)?;
            let (off, rests) = (self.one(ptr, 0), self.rests(ptr, 0));
            let (fast, slow): (Vec<String>, Vec<String>) = ways.into_iter().unzip();
            if let Some(ahead) = self.next_blocks.get(&ptr).cloned() {
                for u in 0..self.chunks {
                    let off = self.one(ptr, u);
                    self.fetch(base, &off, &ahead, s, u);
                }
            }
            self.line(format!(
                "if (likely({rests}(u64){off} < {window})) {{ {} }}\nelse {{ {} CLOSE }}",
                fast.join(" "),
                slow.join("\n")
            ));
            return Ok(());
        }
        let window = self.limit(access.root, false, access.s.size(), 1)?;
        for (u, (fast, slow)) in (0..self.chunks).zip(ways) {
            let (off, mask, rests) = (self.one(ptr, u), self.mask(place, u), self.rests(ptr, u));
            let test = match (near, place.mask) {
                (true, Mask::Full) => format!("(u64){off} < {window}"),
                (true, Mask::Some(_)) => format!("((u64){off} < {window} || inside({mask}, {off}, {size}, {limit}))"),
                // Both ends in bounds, so all between are.
                (false, _) => format!("(u64){off} < {limit} && (u64)({off} + {}) < {limit}", 15 * step),
            };
            self.line(format!("if (likely({rests}{test})) {fast}\nelse {{ {slow} CLOSE }}"));
        }
        Ok(())
    }

    /// Asks for a chunk's elements that are so far away.
    fn fetch(&mut self, base: &str, off: &str, ahead: &str, s: Scalar, u: u32) {
        let (begin, bytes) = (u * s.size() * 16, s.size() * 16);
        let lines = (begin..begin + bytes).filter(|at| at.is_multiple_of(64));
        for line in lines.collect::<Vec<_>>() {
            self.line(format!("__builtin_prefetch({base} + {off} + {} + {ahead});", line - begin));
        }
    }

    /// The offset of a proven pointer for a chunk.
    pub(super) fn proven_at(&self, ptr: Value, u: u32) -> String {
        let form = self.form(ptr);
        let step = if let Form::Row(step) = form { step } else { 0 };
        match self.known.lines.get(&ptr).and_then(|lines| lines.get(if form.is_whole() { 0 } else { u as usize })) {
            Some(line) => in_row(&format!("({line})"), Scalar::I64, step, u),
            None => self.one(ptr, u),
        }
    }

    /// As [`Printer::load`], of what is in bounds.
    fn load_proven(&mut self, v: Value, ptr: Value, access: &Access, place: Place) -> Result<()> {
        let (name, s, base, kind) = (v.index(), access.s, &access.base, access.kind);
        let truth = if s == Scalar::Bool { " != 0" } else { "" };
        if self.form(v) == Form::Group {
            let off = self.proven_at(ptr, 0);
            self.line(format!("const {0} v{name} = *(const {0}*)({base} + {off}){truth};", ctype(s)));
            return Ok(());
        }
        let ahead = self.looks_ahead.get(&ptr).or_else(|| self.next_blocks.get(&ptr)).cloned();
        for u in 0..self.chunks {
            let (off, mask) = (self.proven_at(ptr, u), self.mask(place, u));
            let (ty, value) = match (self.form(v), self.form(ptr)) {
                (Form::Lanes, Form::Row(step) | Form::Line(step)) if step == i64::from(s.size()) => {
                    if let Some(ahead) = &ahead {
                        self.fetch(base, &off, ahead, s, u);
                    }
                    // In bounds are the elements of all threads, those that are not here included.
                    (vtype(s), format!("ld_{kind}({base} + {off})"))
                }
                (_, Form::Row(step) | Form::Line(step)) if s.size() >= 4 => {
                    (vtype(s), format!("gl_{}({mask}, {base} + {off}, {step})", suffix(s)))
                }
                (_, Form::Row(step) | Form::Line(step)) => {
                    (vtype(s), format!("ga_{kind}({mask}, {base}, line_i64({off}, {step}))"))
                }
                (Form::Lanes, _) => {
                    (vtype(s), format!("splat_{}(*(const {}*)({base} + {off}){truth})", suffix(s), ctype(s)))
                }
                _ => (ctype(s), format!("*(const {}*)({base} + {off}){truth}", ctype(s))),
            };
            self.line(format!("const {ty} v{name}_{u} = {value};"));
        }
        Ok(())
    }

    /// Elements anywhere.
    fn gather(&mut self, v: Value, ptr: Value, access: &Access, place: Place, u: u32) -> Result<()> {
        let (name, mask, kind) = (v.index(), self.mask(place, u), access.kind);
        let (base, limit, site, vty) = (&access.base, &access.limit, &access.site, vtype(access.s));
        let offs = self.lanes(ptr, u)?;
        let words = self.word_lanes(access, &offs, u)?;
        let slow = format!("bad_ld_{kind}(&st, {site}, t0 + {}, {mask}, {base}, {limit}, {offs}, {words})", 16 * u);
        if let Some((index, first)) = self.small_index(ptr, access.s, u)? {
            // As 32-bit indices: a quarter of the work. Past 2^31 elements the slow way knows better.
            let n = self.fresh();
            let outside = Self::outside_small(access, &index, &first, &mask, n);
            self.line(format!(
                "{outside}{vty} v{name}_{u};\nif (unlikely(bad{n})) {{ v{name}_{u} = {slow}; CLOSE }}\n\
                 else v{name}_{u} = gx_{}({mask}, {base} + {first}, at{n});",
                suffix(access.s)
            ));
            return Ok(());
        }
        let n = self.fresh();
        self.line(format!(
            "const vi64 at{n} = {offs};\nconst m16 bad{n} = {mask} & outside(at{n}, {limit});\n\
             {vty} v{name}_{u};\nif (unlikely(bad{n})) {{ v{name}_{u} = {slow}; CLOSE }}\nelse v{name}_{u} = ga_{kind}({mask}, {base}, at{n});"
        ));
        Ok(())
    }

    /// Declares a chunk's 32-bit indices `at<n>`, and who of the mask is out of bounds: `bad<n>`.
    fn outside_small(access: &Access, index: &str, first: &str, mask: &str, n: u32) -> String {
        let (limit, size) = (&access.limit, access.s.size());
        format!(
            "const u64 room{n} = (u64){first} < {limit} ? ({limit} - (u64){first} + {}) / {size} : 0;\n\
             const vi32 at{n} = {index};\n\
             m16 bad{n} = {mask} & outside_x(at{n}, room{n} < 0x80000000ull ? (u32)room{n} : 0x80000000u);\n",
            size - 1
        )
    }

    /// Where in memory a chunk's indices of such a pointer are, if they are bytes that lie there side by side.
    fn bytes_of(&mut self, ptr: Value, u: u32) -> Result<Option<String>> {
        let Some(Op::PtrAdd { index, .. }) = self.op_of(ptr) else { return Ok(None) };
        let mut v = *index;
        while let Some(Op::Convert(to, a)) = self.op_of(v) {
            if !to.is_int() || to.bits() < 32 || !self.scalar(*a).is_int() {
                return Ok(None);
            }
            v = *a;
        }
        let Some(Op::Load { ptr: from, .. }) = self.op_of(v) else { return Ok(None) };
        let (from, root) = (*from, self.root_of(*from));
        let is_known = self.known.bytes.contains(&v) && self.known.proven.contains(&from);
        let is_near = self.form(from).slope() == Some(1) && matches!(root, Root::Param(_));
        if !is_known || !is_near {
            return Ok(None);
        }
        Ok(Some(format!("B_{} + {}", Self::root_name(root)?, self.proven_at(from, u))))
    }

    /// Whether the index of such a pointer is below 256.
    fn has_byte_index(&self, ptr: Value) -> bool {
        let Some(Op::PtrAdd { index, .. }) = self.op_of(ptr) else { return false };
        let is_byte = |v: Value| {
            self.scalar(v) == Scalar::U8
                || matches!(self.op_of(v), Some(Op::Binary(BinaryOp::And, a, b))
                    if [*a, *b].into_iter().any(|v| self.known(v).is_some_and(|n| (0..256).contains(&n))))
        };
        // Up to where it is no conversion that keeps the number.
        let mut v = *index;
        while !is_byte(v) {
            match self.op_of(v) {
                Some(Op::Convert(to, a)) if to.is_int() && to.bits() >= 32 && self.scalar(*a).is_int() => v = *a,
                _ => return false,
            }
        }
        true
    }

    /// Whether an element is in a shared variable whatever its index: that is a byte, and there are as many.
    pub(super) fn is_in_table(&self, ptr: Value, value: Value) -> bool {
        let Some(Op::PtrAdd { ptr: start, stride, .. }) = self.op_of(ptr) else { return false };
        let Some(Op::SharedAddr(m)) = self.op_of(*start) else { return false };
        let elements = self.module.shared.get(m.index()).map_or(0, |data| data.size / stride.bytes().max(1));
        elements >= 256 && stride.bytes() == self.scalar(value).size() && self.has_byte_index(ptr)
    }

    /// For a pointer that is a shared one moved by a 32-bit number of elements, that number and the shared one's offset.
    fn small_index(&mut self, ptr: Value, s: Scalar, u: u32) -> Result<Option<(String, String)>> {
        let Some(Op::PtrAdd { ptr: from, index, stride }) = self.op_of(ptr) else { return Ok(None) };
        let Some(Op::Convert(Scalar::I64 | Scalar::U64, small)) = self.op_of(*index) else { return Ok(None) };
        let fits = stride.bytes() == s.size() && s.size() >= 4 && self.form(*from).is_one();
        let is_small = self.func.ty(*small).scalar().is_some_and(|s| s.is_int() && s.bits() <= 32);
        // An address that another region kept may be made of what this one does not know.
        let is_known = self.defined.contains(from) && self.defined.contains(small);
        if !fits || !is_small || !is_known {
            return Ok(None);
        }
        Ok(Some((self.lanes(*small, u)?, self.one(*from, u))))
    }

    fn load_slot(&mut self, v: Value, ptr: Value, access: &Access, place: Place) -> Result<()> {
        let name = v.index();
        let (limit, site, s) = (&access.limit, &access.site, access.s);
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            let base = Self::slot_base(access, u).unwrap_or_default();
            let is_one = self.form(ptr).is_one();
            if is_one {
                let off = self.one(ptr, u);
                let word = self.word_one(access, &off, u);
                self.line(format!(
                    "{} v{name}_{u};\nif (likely((u64){off} < {limit})) v{name}_{u} = ld_{}({base} + {off} * 16);\n\
                     else {{ v{name}_{u} = splat_{}(0); note_one(&st, {site}, t0 + {}, {mask}, (u64){off}, {word}); CLOSE }}",
                    vtype(s),
                    access.kind,
                    suffix(s),
                    16 * u
                ));
                continue;
            }
            let offs = self.lanes(ptr, u)?;
            let words = self.word_lanes(access, &offs, u)?;
            let n = self.fresh();
            self.line(format!(
                "const vi64 at{n} = {offs};\nconst m16 bad{n} = {mask} & outside(at{n}, {limit});\n\
                 if (unlikely(bad{n})) {{ note_lanes(&st, {site}, t0 + {}, bad{n}, at{n}, {words}); CLOSE }}\n\
                 const {} v{name}_{u} = ga_{}({mask} & ~bad{n}, {base}, add_i64(shl_i64(at{n}, splat_i64(4)), line_i64(0, {})));",
                16 * u,
                vtype(s),
                access.kind,
                s.size()
            ));
        }
        Ok(())
    }

    /// Writes memory.
    pub(super) fn store(&mut self, ptr: Value, value: Value, span: Span, place: Place) -> Result<()> {
        let ty = self.func.ty(value);
        let access = self.access(ptr, ty, true, span)?;
        let (base, limit, site, kind) = (access.base.clone(), access.limit.clone(), access.site.clone(), access.kind);
        let (s, size) = (access.s, i64::from(access.s.size()));
        let is_slot = matches!(access.root, Root::Slot(_));
        let mut ways = Vec::new();
        for u in 0..self.chunks {
            let mask = self.mask(place, u);
            let slot = Self::slot_base(&access, u);
            if self.form(ptr).is_one() {
                let off = self.one(ptr, u);
                let word = self.word_one(&access, &off, u);
                let fault = format!("{{ note_one(&st, {site}, t0 + {}, {mask}, (u64){off}, {word}); CLOSE }}", 16 * u);
                if let Some(slot) = slot {
                    let lanes = self.lanes(value, u)?;
                    let put = match place.mask {
                        Mask::Some(_) if place.apart => format!("stm_{kind}({mask}, {slot} + {off} * 16, {lanes})"),
                        _ => format!("st_{kind}({slot} + {off} * 16, {lanes})"),
                    };
                    self.line(format!("if (likely((u64){off} < {limit})) {put}; else {fault}"));
                    continue;
                }
                // Of threads that write one place the last is the last.
                let last = match (self.form(value).is_one(), place.mask) {
                    (true, _) => self.one(value, u),
                    (false, Mask::Full) => format!("lane_{}({}, 15)", suffix(s), self.lanes(value, u)?),
                    (false, Mask::Some(_)) => {
                        format!("lane_{}({}, last_lane({mask}))", suffix(s), self.lanes(value, u)?)
                    }
                };
                let test = if place.mask == Mask::Full { String::new() } else { format!("if ({mask}) ") };
                // After a fault the limit is 0: who is alive then is for the slow way to say.
                let lanes = self.lanes(value, u)?;
                self.line(format!(
                    "{test}{{ if (likely((u64){off} < {limit})) *({}*)({base} + {off}) = ({}){last};\n\
                     else {{ bad_st_{kind}(&st, {site}, t0 + {}, {mask}, {base}, X{limit}, splat_i64({off}), splat_i64({word}), {lanes}); CLOSE }} }}",
                    ctype(s),
                    ctype(s),
                    16 * u
                ));
                continue;
            }
            let lanes = self.lanes(value, u)?;
            let near = self.form(ptr).slope() == Some(size);
            if self.known.proven.contains(&ptr) && near {
                let off = self.proven_at(ptr, u);
                match place.mask {
                    Mask::Full if self.form(ptr).is_whole() => ways.push((off, lanes, String::new())),
                    Mask::Full => {
                        let put = self.store_full(&access, &[(off, lanes)]);
                        self.line(format!("{{ {put}}}"));
                    }
                    Mask::Some(_) => self.line(format!("stm_{kind}({mask}, {base} + {off}, {lanes});")),
                }
                continue;
            }
            let offs = self.lanes(ptr, u)?;
            let words = self.word_lanes(&access, &offs, u)?;
            if is_slot {
                let (n, slot) = (self.fresh(), slot.unwrap_or_default());
                self.line(format!(
                    "const vi64 at{n} = {offs};\nconst m16 bad{n} = {mask} & outside(at{n}, {limit});\n\
                     if (unlikely(bad{n})) {{ note_lanes(&st, {site}, t0 + {}, bad{n}, at{n}, {words}); CLOSE }}\n\
                     sc_{kind}({mask} & ~bad{n}, {slot}, add_i64(shl_i64(at{n}, splat_i64(4)), line_i64(0, {size})), {lanes});",
                    16 * u
                ));
                continue;
            }
            let slow = self.slow_store(&access, &site, ptr, &mask, &lanes, u)?;
            if near {
                let (off, rests) = (self.one(ptr, u), self.rests(ptr, u));
                if place.mask == Mask::Full && self.form(ptr).is_whole() {
                    ways.push((off, lanes, slow));
                    continue;
                }
                let fast = match place.mask {
                    Mask::Full => self.store_full(&access, &[(off.clone(), lanes)]),
                    Mask::Some(_) => format!("stm_{kind}({mask}, {base} + {off}, {lanes});"),
                };
                let window = self.limit(access.root, true, access.s.size(), 1)?;
                let test = match place.mask {
                    Mask::Full => format!("(u64){off} < {window}"),
                    Mask::Some(_) => format!("((u64){off} < {window} || inside({mask}, {off}, {size}, {limit}))"),
                };
                self.line(format!("if (likely({rests}{test})) {{ {fast} }}\nelse {{ {slow} CLOSE }}"));
                continue;
            }
            let n = self.fresh();
            self.line(format!(
                "const vi64 at{n} = {offs};\n\
                 if (unlikely({mask} & outside(at{n}, {limit}))) {{ {slow} CLOSE }}\nelse sc_{kind}({mask}, {base}, at{n}, {lanes});"
            ));
        }
        if !ways.is_empty() {
            let (chunks, slow): (Vec<_>, Vec<_>) =
                ways.into_iter().map(|(off, lanes, slow)| ((off, lanes), slow)).unzip();
            let fast = self.store_full(&access, &chunks);
            if self.known.proven.contains(&ptr) {
                self.line(format!("{{ {fast}}}"));
                return Ok(());
            }
            let window = self.limit(access.root, true, access.s.size(), self.chunks)?;
            let (off, rests) = (self.one(ptr, 0), self.rests(ptr, 0));
            let slow = slow.join("\n");
            self.line(format!("if (likely({rests}(u64){off} < {window})) {{ {fast}}}\nelse {{ {slow} CLOSE }}"));
        }
        Ok(())
    }

    /// Stores what is in bounds and notes the rest.
    pub(super) fn slow_store(
        &mut self,
        access: &Access,
        site: &str,
        ptr: Value,
        mask: &str,
        lanes: &str,
        u: u32,
    ) -> Result<String> {
        let offs = self.lanes(ptr, u)?;
        let words = self.word_lanes(access, &offs, u)?;
        let (kind, base, limit) = (access.kind, &access.base, &access.limit);
        Ok(format!("bad_st_{kind}(&st, {site}, t0 + {}, {mask}, {base}, X{limit}, {offs}, {words}, {lanes});", 16 * u))
    }

    /// Stores all lanes of chunks at neighbouring elements: past the cache where the kernel does not read the array, and the cache does not
    /// hold all that it works on. Of a row the first chunk tells whether all begin where lines of the cache do.
    pub(super) fn store_full(&mut self, access: &Access, chunks: &[(String, String)]) -> String {
        let (base, kind) = (&access.base, access.kind);
        let put = |name: &str| -> String {
            chunks.iter().map(|(off, lanes)| format!("{name}_{kind}({base} + {off}, {lanes}); ")).collect()
        };
        match (access.root, chunks.first()) {
            (Root::Param(i), Some((off, _))) if access.s.size() >= 4 && !self.reads.contains(&i) => {
                let (len, cache) = (DescField::LEN, cache_bytes());
                let params = self.func.params.iter().enumerate();
                let all: Vec<String> = params
                    .filter(|(_, param)| !matches!(param.ty, ParamType::Scalar(_)))
                    .map(|(i, _)| format!("*(const u64*)(D_p{i} + {len})"))
                    .collect();
                self.limits.insert(format!(
                    "const b1 nt_p{i} = {} >= {cache}ull && *(const u64*)(D_p{i} + {len}) >= {}ull;",
                    all.join(" + "),
                    cache / 16
                ));
                // Groups of a long row begin whole lines apart.
                let off = off.replace(PLACE, ROW);
                format!("if (nt_p{i} && is_line({base} + {off})) {{ {}}} else {{ {}}}", put("nt"), put("st"))
            }
            _ => put("st"),
        }
    }

    /// Reads, computes and writes memory in one step, lane after lane.
    pub(super) fn atomic(
        &mut self,
        result: Option<Value>,
        op: AtomicOp,
        (ptr, value, compare): (Value, Value, Option<Value>),
        span: Span,
        place: Place,
    ) -> Result<()> {
        let ty = self.func.ty(value);
        let access = self.access(ptr, ty, true, span)?;
        let s = access.s;
        if matches!(access.root, Root::Slot(_)) || s.size() < 4 {
            return Err(Unsupported("such an atomic"));
        }
        let name = match op {
            AtomicOp::Add => "add",
            AtomicOp::Sub => "sub",
            AtomicOp::Exch => "exch",
            AtomicOp::Min => "min",
            AtomicOp::Max => "max",
            AtomicOp::Inc => "inc",
            AtomicOp::Dec => "dec",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Cas => "cas",
        };
        if s.is_float() && !matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Exch) {
            return Err(Unsupported("such an atomic of floats"));
        }
        let kind = if s.is_float() { suffix(s) } else { signed_suffix(s) };
        let alone = matches!(access.root, Root::Shared(_));
        let call = format!("{name}_{kind}");
        let mut update = Update { result, op, call, ptr, value, compare, base: access.base.clone(), alone };
        if let Some(own) = self.own_sums(access.root) {
            self.line(format!("if ({own}) {{"));
            (update.base, update.alone) = (own, true);
            self.update(&update, &access, place)?;
            self.line("} else {");
            (update.base, update.alone) = (access.base.clone(), alone);
            self.update(&update, &access, place)?;
            self.line("}");
        } else {
            self.update(&update, &access, place)?;
        }
        if let Some(v) = result {
            self.defined.insert(v);
            self.keep(v)?;
        }
        Ok(())
    }

    fn update(&mut self, update: &Update, access: &Access, place: Place) -> Result<()> {
        let Update { result, call, ptr, value, compare, base, alone, .. } = update;
        let (ptr, value, s) = (*ptr, *value, access.s);
        let (limit, site) = (&access.limit, &access.site);
        for u in 0..self.chunks {
            let (mask, n) = (self.mask(place, u), self.fresh());
            let offs = self.lanes(ptr, u)?;
            let small = match (result, alone, compare) {
                (None, true, None) => self.small_index(ptr, s, u)?,
                _ => None,
            };
            if let Some((index, first)) = small {
                let words = self.word_lanes(access, &offs, u)?;
                let (up, value) = match self.form(value).is_one() {
                    true => ("up1", self.one(value, u)),
                    false => ("up", self.lanes(value, u)?),
                };
                let are_bytes = self.has_byte_index(ptr);
                if let (true, "up1", Mask::Full, Some(from)) =
                    (self.known.proven.contains(&ptr), up, place.mask, self.bytes_of(ptr, u)?)
                {
                    self.line(format!("up1_bytes_{call}({base} + {first}, {from}, {value});"));
                    continue;
                }
                if self.known.proven.contains(&ptr) {
                    self.line(format!(
                        "{up}_{call}({mask}, {base} + {first}, {index}, {value}, {});",
                        i32::from(are_bytes)
                    ));
                    continue;
                }
                let mut outside = Self::outside_small(access, &index, &first, &mask, n);
                if are_bytes {
                    outside = outside
                        .replace(&format!("m16 bad{n} = "), &format!("m16 bad{n} = likely(room{n} >= 256) ? 0 : "));
                }
                let text = format!(
                    "{outside}if (unlikely(bad{n})) {{ bad{n} = bad_lanes(&st, {site}, t0 + {}, {mask}, X{limit}, {offs}, {words}); CLOSE }}\n\
                     {up}_{call}({mask} & ~bad{n}, {base} + {first}, at{n}, {value}, {});",
                    16 * u,
                    i32::from(are_bytes)
                );
                if !self.add_line(update, access, place, u, &text)? {
                    self.line(text);
                }
                continue;
            }
            let words = self.word_lanes(access, &format!("at{n}"), u)?;
            let lanes = self.lanes(value, u)?;
            let compare = match compare {
                Some(c) => format!(", {}", self.lanes(*c, u)?),
                None => String::new(),
            };
            let checked = format!(
                "const vi64 at{n} = {offs};\nm16 bad{n} = {mask} & outside(at{n}, {limit});\n\
                 if (unlikely(bad{n})) {{ bad{n} = bad_lanes(&st, {site}, t0 + {}, {mask}, X{limit}, at{n}, {words}); CLOSE }}",
                16 * u
            );
            let space = if *alone { "shared" } else { "global" };
            let call = format!("at_{call}_{space}({mask} & ~bad{n}, {base}, at{n}, {lanes}{compare})");
            if *alone && self.add_line(update, access, place, u, &format!("{checked} {call};"))? {
                continue;
            }
            self.line(checked);
            match result {
                Some(v) => self.line(format!("const {} v{}_{u} = {call};", vtype(s), v.index())),
                None => self.line(format!("{call};")),
            }
        }
        Ok(())
    }
}

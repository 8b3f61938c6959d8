//! The surroundings of a kernel's body: what it is given, the limits of buffers, its tables, its end.

use super::given::Of;
use super::names::{Name, of_root};
use super::{Builder, types};
use crate::back::Dim3;
use crate::back::cpu::abi::context::{BufferDesc, DescField, Field};
use crate::back::cpu::facts::roots::Root;
use crate::back::cpu::wide::unsupported::{Result, Unsupported};
use crate::back::cpu::wide::value_forms::LANES;
use crate::back::lane::build::{int, pointer, set, ty, ulong, variable, when};
use crate::back::lane::tree::{self as lane, Expr, Stmt};
use crate::back::lane::types::Ty;
use crate::ir::{ParamType, Scalar};

impl Builder<'_> {
    /// A number of the context.
    pub(super) fn in_context(&self, of: Ty, field: i32) -> Expr {
        self.k.at(of, self.context() + int(i64::from(field)))
    }

    /// Declares what the kernel is given, and opens its body. All of it is read here, once: for all that the compiler knows, a store may
    /// change it.
    pub(super) fn begin_kernel(&mut self) {
        self.begin_as(Name::Budget, ty::I64, self.in_context(ty::I64, Field::BUDGET));
        let bytes = pointer(ty::I8);
        for (i, param) in self.func.params.iter().enumerate() {
            let number = i as u32;
            let at = self.args() + int(i as i64);
            match param.ty {
                ParamType::Scalar(Scalar::Bool) => {
                    let value = self.k.at(Ty::int(8, false), at).differs(int(0));
                    self.define(Name::Argument(number), Ty::Bool, value);
                }
                ParamType::Scalar(s) => {
                    let of = types::one(s);
                    self.define(Name::Argument(number), of.clone(), self.k.at(of, at));
                }
                _ => {
                    let root = Root::Param(number);
                    let desc = self.args().index(int(i as i64)).cast(bytes.clone());
                    self.begin_as(Name::Desc(root), bytes.clone(), desc);
                    self.begin_allocation(root);
                }
            }
        }
        for d in 0..3 {
            let value = self.in_context(ty::U32, Field::BLOCK + 4 * i32::from(d));
            self.define(Name::Block(d), ty::U32, value);
        }
        for d in 0..3 {
            let value = self.in_context(ty::U32, Field::GRID + 4 * i32::from(d));
            self.define(Name::Grid(d), ty::U32, value);
        }
        for i in self.sums.keys().copied().collect::<Vec<_>>() {
            let all = self.in_context(pointer(bytes.clone()), Field::SUMS);
            self.define(Name::Own(i), bytes.clone(), all.index(int(i64::from(i))));
        }
        self.define(Name::Base(Root::Null), bytes.clone(), int(0));
        let mut roots: Vec<Root> = self.forms[0].roots.to_vec();
        roots.sort_unstable_by_key(|root| match root {
            Root::Shared(m) => (0, m.index()),
            Root::Global(g) => (1, g.index()),
            _ => (2, 0),
        });
        roots.dedup();
        for root in roots {
            match root {
                Root::Shared(m) => {
                    let all = self.in_context(bytes.clone(), Field::SHARED);
                    let desc = all + int(i64::from(m.index() as u32 * DescField::SIZE));
                    self.begin_as(Name::Desc(root), bytes.clone(), desc);
                    self.begin_allocation(root);
                }
                Root::Global(g) => {
                    let base = ulong(self.globals.descs[g.index()].base).cast(bytes.clone());
                    self.define(Name::Base(root), bytes.clone(), base);
                }
                _ => {}
            }
        }
        self.k.begin();
        self.k.restart_length();
    }

    /// Reads where an allocation begins, of which what is known is there.
    fn begin_allocation(&mut self, root: Root) {
        let (desc, bytes) = (self.get(Name::Desc(root)), pointer(ty::I8));
        let base = self.k.at(bytes.clone(), desc + int(i64::from(DescField::BASE)));
        self.define(Name::Base(root), bytes, base);
    }

    /// Puts what the body turned out to need ahead of it, and ends the kernel.
    pub(super) fn end_kernel(&mut self) {
        let body = self.k.end();
        for (var, value) in self.limits.0.values() {
            self.k.push(Stmt::Let(*var, value.clone()));
        }
        for stmt in body {
            self.k.push_around(stmt, 0);
        }
        let budget = self.in_context(ty::I64, Field::BUDGET);
        self.push(set(budget, self.get(Name::Budget)));
        self.push(Stmt::Return(Some(int(0))));
        let close = when(self.field(lane::Field::Faulted), Stmt::Block(self.limits.close()));
        let macros = &mut self.k.kernel_mut().macros;
        macros[self.given.close.0 as usize].body = vec![close];
        if let Some(open) = self.open {
            macros[open.0 as usize].body = self.limits.open();
        }
        self.end_masks();
        self.end_tables();
    }

    fn end_tables(&mut self) {
        let Dim3 { x, y, .. } = self.geometry.block;
        let count = self.room();
        for (dim, var) in std::mem::take(&mut self.tables) {
            let of = |t: u32| match dim {
                0 => t % x,
                1 => t / x % y,
                _ => t / (x * y),
            };
            self.k.table(var, (0..count).map(of).collect());
        }
    }

    /// The array of `threadIdx` in a dimension.
    pub(super) fn table_of_threads(&mut self, dim: u8) -> Expr {
        let k = &mut self.k;
        // Its length is known in the end.
        let made = self.tables.entry(dim).or_insert_with(|| k.var(variable(format!("T{dim}"), Ty::Void, true)));
        Expr::Var(*made)
    }

    fn limited(&mut self, of: Of, name: String, value: Expr) -> Expr {
        let constant = !matches!(of, Of::Closed | Of::ClosedWindow);
        self.limits.of(&mut self.k, (of, variable(name, ty::U64, constant)), value)
    }

    /// The number of offsets that an access of `size` bytes may start at; of so many chunks' at neighbouring elements, where not 0.
    pub(super) fn limit(&mut self, root: Root, write: bool, size: u32, wide: u32) -> Result<Expr> {
        let (limit, _) = self.both_limits(root, write, size)?;
        if wide == 0 {
            return Ok(limit);
        }
        let log2 = size.trailing_zeros();
        let is_closed = write && !matches!(root, Root::Slot(_));
        let name = format!("{}_{}_{log2}w{wide}", if write { 'W' } else { 'R' }, of_root(root));
        let ends = int(i64::from((LANES * wide - 1) * size));
        let value = limit.clone().gt(ends.clone()).choose(limit - ends, int(0));
        let of = if is_closed { Of::ClosedWindow } else { Of::Window };
        Ok(self.limited(of, name, value))
    }

    /// The limit of an access, and that which a fault leaves as it is.
    pub(super) fn both_limits(&mut self, root: Root, write: bool, size: u32) -> Result<(Expr, Expr)> {
        let log2 = size.trailing_zeros();
        let short = format!("{}_{}_{log2}", if write { 'W' } else { 'R' }, of_root(Self::plain(root)?));
        let told = |builder: &Self| {
            let at = builder.get(Name::Desc(root)) + int(i64::from(DescField::limit(write, log2)));
            builder.k.at(ty::U64, at)
        };
        let value = match root {
            Root::Param(_) => told(self),
            Root::Shared(m) => match self.module.shared.get(m.index()) {
                Some(data) if !data.dynamic => ulong(BufferDesc::starts(u64::from(data.size), u64::from(size))),
                _ => told(self),
            },
            Root::Global(g) => {
                let desc = &self.globals.descs[g.index()];
                let all = if write { desc.write } else { desc.read };
                ulong(all[log2 as usize])
            }
            Root::Slot(s) => {
                let bytes = self.func.slots[s.index()].size;
                ulong(BufferDesc::starts(u64::from(bytes), u64::from(size)))
            }
            Root::Null => ulong(0),
            Root::Unset | Root::Dynamic => return Err(Unsupported("a pointer that may point into several arrays")),
        };
        // The true limits of writes are apart from those that a fault sets to 0, after which the slow way asks who is alive.
        if write && !matches!(root, Root::Slot(_)) {
            let whole = self.limited(Of::True, format!("X{short}"), value);
            let limit = self.limited(Of::Closed, short, whole.clone());
            return Ok((limit, whole));
        }
        let limit = self.limited(Of::Limit, short, value);
        Ok((limit.clone(), limit))
    }

    /// The variable that says if stores to a parameter's array go past the cache.
    pub(super) fn past_cache(&mut self, param: u32, value: Expr) -> Expr {
        let data = Name::PastCache(param).data(Ty::Bool, true);
        self.limits.of(&mut self.k, (Of::PastCache, data), value)
    }
}

//! Glue: the library's host functions, whose machine code is made once in a process.
//!
//! Every text that works on tensors calls the same hundred small functions of the library, and making their code took
//! longer than all of the text's own. A function is known by what it is: the hash of its IR with the hashes of the
//! functions it calls in the place of their numbers. One that was compiled before is not compiled again, by whatever text
//! it is asked for; texts call it where it lies. What is kept stays until the process ends, so there is a bound to it.
//!
//! Kept code belongs to no program, so it names nothing of one: its [`Site`]s are addresses rather than numbers, its slots
//! and literals are in tables of this module. Only a function that calls nothing but others of its kind, and touches no data
//! that can change, can be kept.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

use super::context::{BufferDesc, DescKind};
use super::faults::{Named, Site};
use super::tiers::Tiers;
use crate::ir::{Block, FuncId, FuncKind, Function, Global, GlobalData, Module, Op, Space, Stmt};
use crate::pass;

/// Most functions that are kept, but for those that the last text adds.
const MAX_KEPT: usize = 16_384;

/// How long somebody waits for the tables. They are held for microseconds, but by nobody who lets go where a process forked
/// in the middle of one.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Marks what is in the tables of this module, in an index of 32 bits.
const OURS: u32 = 1 << 31;

/// Marks the address of a site among the numbers of sites.
const ADDRESS: u64 = 1 << 62;

/// A function that is kept, or is about to be.
pub struct Glue {
    key: Key,
    code: OnceLock<Placed>,
    /// Whether it makes pointers of numbers, or something it calls does.
    pub makes_pointers: bool,
}

/// Where the code of a function is.
struct Placed {
    tiers: &'static Tiers,
    part: usize,
    frame: u32,
}

/// What a function is: two independent hashes.
type Key = (u64, u64);

impl Glue {
    /// The best code there is.
    pub fn address(&self) -> Option<usize> {
        let placed = self.code.get()?;
        placed.tiers.now().address(placed.part)
    }

    /// Bytes of its stack frame.
    pub fn frame(&self) -> u32 {
        self.code.get().map_or(0, |placed| placed.frame)
    }

    /// The tiers its code is in.
    pub fn tiers(&self) -> Option<&'static Tiers> {
        self.code.get().map(|placed| placed.tiers)
    }
}

/// Which functions of a module are glue.
#[derive(Default)]
pub struct Uses {
    /// For each function its index in `list`.
    of: Vec<Option<u32>>,
    /// All that the module reaches.
    pub list: Vec<&'static Glue>,
    /// Those of them that have no code yet: their indices in `list`.
    pub new: Vec<(FuncId, u32)>,
}

impl Uses {
    /// Finds what can be kept of a module and what has been.
    pub fn of(module: &Module) -> Self {
        let is_glue = |f: &Function| f.library && f.kind == FuncKind::HostHelper;
        if !module.functions.iter().any(is_glue) {
            return Uses::default();
        }
        let reached = pass::reachable(module);
        let mut uses = Uses { of: vec![None; module.functions.len()], ..Uses::default() };
        let mut found = Vec::new();
        for visit in pass::inline::bottom_up(module) {
            let func = module.func(visit.id);
            if visit.recursive || !reached[visit.id.index()] || !is_glue(func) {
                continue;
            }
            let Some((key, mut makes_pointers)) = uses.identify(module, func, &found) else { continue };
            let index = uses.list.len() as u32;
            let Some((known, full)) =
                with_tables(|tables| (tables.functions.get(&key).copied(), tables.functions.len() >= MAX_KEPT))
            else {
                continue;
            };
            // What is not kept would be made, and stay, once for each text.
            if known.is_none() && full {
                continue;
            }
            let glue = known.unwrap_or_else(|| {
                uses.new.push((visit.id, index));
                func.body.for_each_stmt(&mut |stmt| {
                    if let Stmt::Call { func, .. } = stmt {
                        makes_pointers |= uses.get(*func).is_some_and(|glue| glue.makes_pointers);
                    }
                });
                Box::leak(Box::new(Glue { key, code: OnceLock::new(), makes_pointers }))
            });
            found.push(key);
            uses.list.push(glue);
            uses.of[visit.id.index()] = Some(index);
        }
        uses
    }

    /// The index in the list of a function.
    pub fn index(&self, id: FuncId) -> Option<u32> {
        self.of.get(id.index()).copied().flatten()
    }

    /// A function that is glue.
    pub fn get(&self, id: FuncId) -> Option<&'static Glue> {
        self.index(id).map(|index| self.list[index as usize])
    }

    /// Whether its code is still to be made.
    pub fn is_new(&self, id: FuncId) -> bool {
        self.get(id).is_some_and(|glue| glue.code.get().is_none())
    }

    /// What a function is, and whether it itself makes pointers; `None` when it cannot be kept. `found` are the keys of `list`.
    fn identify(&self, module: &Module, func: &Function, found: &[Key]) -> Option<(Key, bool)> {
        if !func.span.file.is_common() || !func.values.iter().all(|v| v.span.is_none() || v.span.file.is_common()) {
            return None;
        }
        let mut canonical = func.clone();
        let mut names = Names { uses: self, module, found, callees: Vec::new(), literals: Vec::new(), pointers: false };
        if !names.block(&mut canonical.body) {
            return None;
        }
        let Function { name, library, kind, params, ret, values, locals, slots, labels, body, span, max_threads } =
            &canonical;
        let place = |span: &crate::source::Span| (span.file, span.start, span.end);
        let types: Vec<_> = params.iter().map(|p| p.ty).collect();
        let head = (name, library, kind, types, ret, labels, place(span), max_threads);
        let parts = (head, values, locals, slots, body, &names.callees, &names.literals);
        static STATES: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);
        Some(((STATES[0].hash_one(&parts), STATES[1].hash_one(&parts)), names.pointers))
    }
}

/// Gives what a body names of its module numbers in the order of their appearance.
struct Names<'a> {
    uses: &'a Uses,
    module: &'a Module,
    found: &'a [Key],
    callees: Vec<(FuncId, Key)>,
    literals: Vec<(Global, &'a GlobalData)>,
    pointers: bool,
}

impl Names<'_> {
    /// `false` when the body names what belongs to a program.
    fn block(&mut self, block: &mut Block) -> bool {
        block.spans.iter().all(|span| span.is_none() || span.file.is_common())
            && block.stmts.iter_mut().all(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &mut Stmt) -> bool {
        let fine = match stmt {
            Stmt::Call { func, .. } => {
                let Some(index) = self.uses.index(*func) else { return false };
                let at = self.callees.iter().position(|(id, _)| id == func).unwrap_or_else(|| {
                    self.callees.push((*func, self.found[index as usize]));
                    self.callees.len() - 1
                });
                *func = FuncId::new(at);
                true
            }
            Stmt::Let(_, Op::GlobalAddr(global)) => {
                let Some(data) = self.module.globals.get(global.index()) else { return false };
                let at = self.literals.iter().position(|(id, _)| id == global).unwrap_or_else(|| {
                    self.literals.push((*global, data));
                    self.literals.len() - 1
                });
                *global = Global::new(at);
                data.space == Space::ReadOnly
            }
            Stmt::Let(_, Op::IntToPtr(_)) => {
                self.pointers = true;
                true
            }
            Stmt::Let(_, Op::Load { ty, .. }) => {
                self.pointers |= ty.scalar().is_none();
                true
            }
            Stmt::Let(_, Op::SharedAddr(_) | Op::Builtin(_))
            | Stmt::Printf { .. }
            | Stmt::Launch { .. }
            | Stmt::Barrier(_)
            | Stmt::Collective { .. } => false,
            _ => true,
        };
        fine && stmt.blocks_mut().into_iter().all(|block| self.block(block))
    }
}

/// Where glue's slots and literals are known, and glue itself.
#[derive(Default)]
struct Tables {
    functions: HashMap<Key, &'static Glue>,
    slots: Vec<&'static Named>,
    literals: Vec<&'static Literal>,
    by_address: BTreeMap<u64, u32>,
    by_contents: HashMap<(Vec<u8>, u32, String), u32>,
}

/// Data that nobody changes.
struct Literal {
    desc: BufferDesc,
    named: Named,
}

fn with_tables<R>(work: impl FnOnce(&mut Tables) -> R) -> Option<R> {
    static TABLES: Mutex<Option<Tables>> = Mutex::new(None);
    let mut guard: MutexGuard<'_, Option<Tables>> = match TABLES.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            let until = Instant::now() + MAX_WAIT;
            loop {
                std::thread::yield_now();
                match TABLES.try_lock() {
                    Ok(guard) => break guard,
                    Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                    Err(TryLockError::WouldBlock) if Instant::now() < until => {}
                    Err(TryLockError::WouldBlock) => return None,
                }
            }
        }
    };
    Some(work(guard.get_or_insert_default()))
}

/// Keeps the code of functions: the parts of `tiers`, in order.
pub fn keep(uses: &Uses, tiers: &'static Tiers, frames: &[u32]) {
    for (part, (&(_, index), &frame)) in uses.new.iter().zip(frames).enumerate() {
        let _ = uses.list[index as usize].code.set(Placed { tiers, part, frame });
    }
    with_tables(|tables| {
        for &(_, index) in &uses.new {
            let glue = uses.list[index as usize];
            tables.functions.entry(glue.key).or_insert(glue);
        }
    });
}

/// The word that stands for a site in kept code.
pub fn site_word(site: Site) -> u64 {
    std::ptr::from_ref::<Site>(Box::leak(Box::new(site))) as u64 | ADDRESS
}

/// The site that a word stands for, among the numbered ones of a program or in kept code.
pub fn site(numbered: &[Site], word: u64) -> Option<&Site> {
    if word >> 62 == ADDRESS >> 62 {
        // SAFETY: made by `site_word`; what was leaked stays.
        return unsafe { ((word & !ADDRESS) as *const Site).as_ref() };
    }
    numbered.get(word as usize)
}

/// The index of a slot in kept code; `None` when there is no room for it.
pub fn slot_index(named: Named) -> Option<u32> {
    let index = with_tables(|tables| {
        tables.slots.push(Box::leak(Box::new(named)));
        tables.slots.len() as u32 - 1
    })?;
    (index < OURS).then_some(index | OURS)
}

/// What messages call a slot, by its index in a program or in kept code.
pub fn slot(own: &[Named], index: usize) -> Option<&Named> {
    if index & OURS as usize == 0 {
        return own.get(index);
    }
    with_tables(|tables| tables.slots.get(index & !OURS as usize).copied()).flatten()
}

/// The descriptor of data in kept code and its index; `None` when there is no room for it.
pub fn literal(data: &GlobalData) -> Option<(&'static BufferDesc, u32)> {
    let elem = data.elem.map_or(0, |elem| 1 + elem as u32);
    with_tables(|tables| {
        let key = (data.bytes.clone(), elem, data.name.clone());
        let index = *tables.by_contents.entry(key).or_insert_with(|| {
            let mut words = vec![0u128; data.bytes.len().div_ceil(16)];
            bytemuck::cast_slice_mut(&mut words)[..data.bytes.len()].copy_from_slice(&data.bytes);
            let (base, len) = (words.leak().as_ptr() as u64, data.bytes.len() as u64);
            let index = tables.literals.len() as u32 | OURS;
            let desc = BufferDesc::new(base, len, false, BufferDesc::meta(DescKind::Global, index));
            let named = Named { name: data.name.clone(), size: len, elem: data.elem };
            tables.by_address.insert(base, index);
            tables.literals.push(Box::leak(Box::new(Literal { desc, named })));
            index
        });
        tables.literals.get((index & !OURS) as usize).map(|literal| (&literal.desc, index))
    })
    .flatten()
}

/// The data that an address points into, or one past its end.
pub fn find(address: u64) -> Option<&'static BufferDesc> {
    with_tables(|tables| {
        let (_, index) = tables.by_address.range(..=address).next_back()?;
        let desc = &tables.literals.get((index & !OURS) as usize)?.desc;
        (address - desc.base <= desc.len).then_some(desc)
    })
    .flatten()
}

/// The descriptor of data and what messages call it, by its index in a program or in kept code.
pub fn global(own: &super::Globals, index: usize) -> Option<(&BufferDesc, &Named)> {
    if index & OURS as usize == 0 {
        return own.descs.get(index).zip(own.names.get(index));
    }
    let literal = with_tables(|tables| tables.literals.get(index & !OURS as usize).copied()).flatten()?;
    Some((&literal.desc, &literal.named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front;
    use crate::ir::Const;
    use crate::source::SourceMap;

    const TEXT: &str = "#include <torch/extension.h>
        torch::Tensor twice(torch::Tensor x) { TORCH_CHECK(x.dim() == 1, \"one dimension\"); return x + x; }
        PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"twice\", &twice); }";

    fn module(text: &str) -> Module {
        let options = front::Options {
            defines: vec![("TORCH_EXTENSION_NAME".to_owned(), "ext".to_owned())],
            ..front::Options::default()
        };
        let (mut module, diags) = front::compile(&mut SourceMap::default(), "t.cu", text, &options);
        assert!(diags.iter().all(|d| !d.is_error()), "{diags:?}");
        pass::prepare_for_cpu(&mut module);
        module
    }

    #[test]
    fn what_one_text_compiled_no_other_compiles_again() {
        let compiled = super::super::Code::compile(&module(TEXT), None, super::super::Tier::Both);
        assert!(compiled.is_ok());
        // Another text, with lines before it and another function, of the same types.
        let other = format!("// a line\n{}", TEXT.replace("x + x", "x * x"));
        let uses = Uses::of(&module(&other));
        let names = |of: &[(FuncId, u32)]| {
            of.iter().map(|(id, _)| module(&other).func(*id).name.to_string()).collect::<Vec<_>>()
        };
        // Most of it was made for the first text; `operator*` was not called there.
        assert!(uses.list.len() - uses.new.len() >= 3, "{} of {}", uses.new.len(), uses.list.len());
        let new = names(&uses.new);
        assert!(new.iter().all(|name| name.contains("operator*") || name.contains("mul")), "{new:?}");
        assert!(uses.list.iter().filter(|glue| glue.address().is_some()).count() + new.len() == uses.list.len());
    }

    #[test]
    fn functions_are_told_apart_by_all_that_they_are() {
        let mut first = module(TEXT);
        let key = |module: &Module, id: FuncId| {
            let uses = Uses { of: vec![None; module.functions.len()], ..Uses::default() };
            uses.identify(module, module.func(id), &[]).map(|(key, _)| key)
        };
        let leaf = (0..first.functions.len()).map(FuncId::new).find(|id| {
            let func = first.func(*id);
            func.library && func.kind == FuncKind::HostHelper && key(&first, *id).is_some()
        });
        let leaf = leaf.expect("the library has functions that call no others");
        let before = key(&first, leaf);
        assert!(before.is_some());
        assert_eq!(before, key(&module(TEXT), leaf), "the same text gives the same functions");
        let ty = crate::ir::Type::Scalar(crate::ir::Scalar::F64);
        let mut seen = vec![before];
        for zero in [0.0, -0.0] {
            let span = first.func(leaf).span;
            let func = &mut first.functions[leaf.index()];
            let value = func.new_value(ty, span);
            func.body.stmts.insert(0, Stmt::Let(value, Op::Const(Const::F64(zero))));
            func.body.spans.insert(0, span);
            let key = key(&first, leaf);
            assert!(key.is_some() && !seen.contains(&key), "{zero}");
            seen.push(key);
            first.functions[leaf.index()].body.stmts.remove(0);
            first.functions[leaf.index()].body.spans.remove(0);
            first.functions[leaf.index()].values.pop();
        }
    }

    #[test]
    fn what_names_the_users_text_is_not_kept() {
        let text = "#include <torch/extension.h>
            #include <algorithm>
            struct Mine { int a; };
            int64_t smallest(std::vector<int64_t> x) {
                std::sort(x.begin(), x.end(), [](int64_t a, int64_t b) { return a < b; });
                return x[0];
            }";
        let module = module(text);
        let uses = Uses::of(&module);
        for (i, func) in module.functions.iter().enumerate().filter(|(_, f)| !f.library) {
            assert!(uses.get(FuncId::new(i)).is_none(), "{}", func.name);
        }
        // The library's sort calls the text's comparison, so it is the text's.
        let sorts = module.functions.iter().enumerate().filter(|(_, f)| f.library && f.name.starts_with("sort"));
        for (i, func) in sorts {
            assert!(uses.get(FuncId::new(i)).is_none(), "{}", func.name);
        }
    }
}

//! Kept code: the library's host functions, whose machine code is made once in a process.
//!
//! Texts that work on tensors call the same small functions of the library. Such a function is known by its content: the hash of its IR
//! with the hashes of the functions it calls in the place of their numbers. A function that was compiled before is not compiled again,
//! whichever text asks for it; texts call it where it lies. Kept code stays until the process ends, so its amount is bounded.
//!
//! A function that is the same in every text ([`Identity`]) is known by its identity as well, before it is lowered: by its code, or by its
//! IR where it is small enough to be inlined ([`known`]).
//!
//! Kept code belongs to no program, so it names nothing of one: its [`Site`]s are addresses rather than numbers, its slots and literals are
//! in tables of this module. Only a function that calls nothing but others of its kind, and touches no data that can change, can be kept.
//!
//! A known function is neither lowered nor checked, inlined into, folded or hashed, and its callees are never met. Programs that need every
//! body (of other tiers, or with recursion) are compiled once more without. Library files have the same `FileId` in every compilation, so
//! spans in kept code are the same in all. Slots get their descriptors and poison from a table by one call; every fault in a library
//! function leaves it by one exit.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

use super::jit::Links;
use super::machine::Tiers;
use crate::back::cpu::abi::context::{BufferDesc, DescKind};
use crate::back::cpu::abi::site::{Named, Site};
use crate::ir::{
    Block, FuncId, FuncKind, Function, Global, GlobalData, Identity, KeptHandle, KnownFunction, Module, Op, Space, Stmt,
};
use crate::once::Once;
use crate::pass;

/// Most functions that are kept, not counting those that the last text adds.
const MAX_KEPT: usize = 16_384;

/// Most functions whose address kept code may take.
const MAX_POINTERS: usize = 4096;

/// The largest body of device code that is kept, in statements.
const MAX_BODY: usize = 400;

/// The longest wait for the lock of the tables. A thread holds it for microseconds, but it stays locked in a child that was
/// forked meanwhile.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// The bit of a 32-bit index that marks entries of this module's tables.
const OURS: u32 = 1 << 31;

/// The bit that marks the address of a site among numbers of sites, and the address of a function of this module among
/// those of a program's functions.
const ADDRESS: u64 = 1 << 62;

/// A function that is kept, or is about to be.
pub struct KeptFunction {
    key: Key,
    code: OnceLock<Placed>,
    /// The functions it calls, or takes the address of.
    calls: Vec<&'static KeptFunction>,
    /// The signatures of the functions that it, or a function it calls, calls through pointers.
    pub dispatches: Vec<u64>,
    /// Its address, once it was taken, and the signature of the functions of its type.
    pointer: OnceLock<(u32, u64)>,
    /// True if it, a function it calls, or the run time for it, makes pointers out of integers.
    pub makes_pointers: bool,
}

/// The place of a function's code.
struct Placed {
    tiers: &'static Tiers,
    part: usize,
    frame: u32,
}

/// The identity of a function: two independent hashes.
type Key = (u64, u64);

/// Kept functions by their addresses, [`ADDRESS`] taken off. The table is read while programs run, so without a lock.
static FUNCTIONS: [OnceLock<&'static KeptFunction>; MAX_POINTERS] = [const { OnceLock::new() }; MAX_POINTERS];

/// The kept code at an address of host code's, where it is a function of that signature.
pub fn function(address: u64, signature: u64) -> Option<&'static KeptFunction> {
    let index = (address >> 62 == ADDRESS >> 62).then_some((address & !ADDRESS) as usize)?;
    FUNCTIONS.get(index)?.get().copied().filter(|kept| kept.points_with(signature))
}

impl KeptFunction {
    /// The address of the best code there is.
    pub fn address(&self) -> Option<usize> {
        let placed = self.code.get()?;
        placed.tiers.now().address(placed.part)
    }

    /// Its address, for host code of any text to call it by; `None` where there are too many.
    pub fn pointer(&'static self, signature: u64) -> Option<i64> {
        if self.pointer.get().is_none() {
            with_tables(|tables| {
                // Another thread may have been here first.
                if self.pointer.get().is_none()
                    && let Some(free) = FUNCTIONS.get(tables.pointers)
                {
                    let _ = free.set(self);
                    let _ = self.pointer.set((tables.pointers as u32, signature));
                    tables.pointers += 1;
                }
            });
        }
        self.pointer.get().map(|(index, _)| ADDRESS as i64 | i64::from(*index))
    }

    /// True if its address is known as that of a function of this signature.
    pub fn points_with(&self, signature: u64) -> bool {
        self.pointer.get().is_some_and(|(_, known)| *known == signature)
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

/// The functions of a module that are kept code.
#[derive(Default)]
pub struct KeptUses {
    /// The index in `list` of each function that is kept.
    of: Vec<Option<u32>>,
    /// All kept functions that the module reaches.
    pub list: Vec<&'static KeptFunction>,
    /// Those that have no code yet: their indices in `list`.
    pub new: Vec<(FuncId, u32)>,
    /// Those that are the same in every text, by their indices in `list`.
    identities: Vec<(Identity, u32)>,
    places: HashMap<*const KeptFunction, u32>,
}

impl KeptUses {
    /// Finds the functions of a module that can be kept, and those that have been.
    pub fn of(module: &Module) -> Self {
        let is_keepable = |f: &Function| {
            f.library && (f.kind == FuncKind::HostHelper || crate::back::cpu::abi::context::is_direct(f))
        };
        if !module.functions.iter().any(is_keepable) {
            return KeptUses::default();
        }
        let reached = pass::reachable(module);
        let mut uses = KeptUses { of: vec![None; module.functions.len()], ..KeptUses::default() };
        let mut found = Vec::new();
        for visit in pass::inline::bottom_up(module) {
            let func = module.func(visit.id);
            if let Some(kept) = func.kept.and_then(|kept| kept.0.downcast_ref::<KeptFunction>()) {
                uses.enter_all(kept, &mut found);
                uses.of[visit.id.index()] = uses.places.get(&std::ptr::from_ref(kept)).copied();
                continue;
            }
            if visit.recursive || !reached[visit.id.index()] || !is_keepable(func) {
                continue;
            }
            let Some((key, mut makes_pointers)) = uses.identify(module, func, &found) else { continue };
            let Some((known, full)) =
                with_tables(|tables| (tables.functions.get(&key).copied(), tables.functions.len() >= MAX_KEPT))
            else {
                continue;
            };
            // A function that is not kept would be compiled, and stay, once for each text.
            if known.is_none() && full {
                continue;
            }
            let kept = known.unwrap_or_else(|| {
                let (mut calls, mut dispatches): (Vec<&'static KeptFunction>, Vec<u64>) = (Vec::new(), Vec::new());
                func.body.for_each_stmt(&mut |stmt| {
                    if let Stmt::Dispatch(signature) = stmt {
                        dispatches.push(*signature);
                    }
                    let Some(callee) = stmt.mentions().and_then(|func| uses.get(func)) else { return };
                    match stmt {
                        // Its address is known from here on: a call through a pointer may come to it.
                        Stmt::Let(_, Op::FuncAddr(_, signature)) => _ = callee.pointer(*signature),
                        _ => dispatches.extend(&callee.dispatches),
                    }
                    if !calls.iter().any(|known| std::ptr::eq(*known, callee)) {
                        makes_pointers |= callee.makes_pointers;
                        calls.push(callee);
                    }
                });
                dispatches.sort_unstable();
                dispatches.dedup();
                let (code, pointer) = (OnceLock::new(), OnceLock::new());
                Box::leak(Box::new(KeptFunction { key, code, calls, dispatches, pointer, makes_pointers }))
            });
            let index = uses.enter(kept, &mut found);
            if known.is_none() {
                uses.new.push((visit.id, index));
            }
            uses.of[visit.id.index()] = Some(index);
            uses.identities.extend(func.identity.map(|identity| (identity, index)));
        }
        uses
    }

    /// Adds a function to the list, once; gives its index.
    fn enter(&mut self, kept: &'static KeptFunction, found: &mut Vec<Key>) -> u32 {
        let next = self.list.len() as u32;
        let index = *self.places.entry(std::ptr::from_ref(kept)).or_insert(next);
        if index == next {
            self.list.push(kept);
            found.push(kept.key);
        }
        index
    }

    /// Adds a function, and those it reaches.
    fn enter_all(&mut self, kept: &'static KeptFunction, found: &mut Vec<Key>) {
        let mut work = vec![kept];
        while let Some(kept) = work.pop() {
            let count = self.list.len();
            self.enter(kept, found);
            if self.list.len() > count {
                work.extend(&kept.calls);
            }
        }
    }

    /// The links through which code reaches the functions of the list; `own` lists the assembler's own functions.
    pub fn links(&self, own: Vec<u32>) -> Links {
        let list = self.list.clone();
        let frames = list.iter().map(|kept| kept.frame()).collect();
        Links { frames, outside: Some(Box::new(move |index| list.get(index as usize)?.address())), own }
    }

    /// The index in the list of a function.
    pub fn index(&self, id: FuncId) -> Option<u32> {
        self.of.get(id.index()).copied().flatten()
    }

    /// A function that is kept code.
    pub fn get(&self, id: FuncId) -> Option<&'static KeptFunction> {
        self.index(id).map(|index| self.list[index as usize])
    }

    /// True if its code is still to be made.
    pub fn is_new(&self, id: FuncId) -> bool {
        self.get(id).is_some_and(|kept| kept.code.get().is_none())
    }

    /// The key of a function, and whether it itself makes pointers; `None` when it cannot be kept. `found` are the keys of
    /// `list`.
    fn identify(&self, module: &Module, func: &Function, found: &[Key]) -> Option<(Key, bool)> {
        if !func.span.file.is_common() || !func.values.iter().all(|v| v.span.is_none() || v.span.file.is_common()) {
            return None;
        }
        let mut canonical = func.clone();
        let mut names = Names { uses: self, module, found, callees: Vec::new(), literals: Vec::new(), pointers: false };
        if !names.block(&mut canonical.body) {
            return None;
        }
        let Function {
            name,
            library,
            kind,
            params,
            ret,
            values,
            locals,
            slots,
            labels,
            body,
            span,
            max_threads,
            contracts,
            identity: _,
            kept: _,
        } = &canonical;
        let place = |span: &crate::source::Span| (span.file, span.start, span.end);
        let types: Vec<_> = params.iter().map(|p| p.ty).collect();
        let head = (name, library, kind, types, ret, labels, place(span), max_threads, contracts);
        let callees: Vec<Key> = names.callees.iter().map(|(_, key)| *key).collect();
        let literals: Vec<&GlobalData> = names.literals.iter().map(|(_, data)| *data).collect();
        let parts = (head, values, locals, slots, body, callees, literals);
        static STATES: Once<[RandomState; 2]> = Once::new(Default::default);
        Some(((STATES[0].hash_one(&parts), STATES[1].hash_one(&parts)), names.pointers))
    }
}

/// Numbers the parts of its module that a body names, in the order of their appearance.
struct Names<'a> {
    uses: &'a KeptUses,
    module: &'a Module,
    found: &'a [Key],
    callees: Vec<(FuncId, Key)>,
    literals: Vec<(Global, &'a GlobalData)>,
    pointers: bool,
}

impl Names<'_> {
    /// Numbers the names in a block; `false` when it names a thing that belongs to a program.
    fn block(&mut self, block: &mut Block) -> bool {
        block.spans.iter().all(|span| span.is_none() || span.file.is_common())
            && block.stmts.iter_mut().all(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &mut Stmt) -> bool {
        let fine = match stmt {
            Stmt::Call { func, .. } | Stmt::Let(_, Op::FuncAddr(func, _)) => {
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
            Stmt::Let(_, Op::IntToPtr(_)) | Stmt::Service { .. } => {
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

/// The tables of kept functions, and of the slots and literals of their code.
#[derive(Default)]
struct Tables {
    functions: HashMap<Key, &'static KeptFunction>,
    identities: HashMap<Identity, &'static KeptFunction>,
    bodies: HashMap<Identity, &'static Function>,
    /// The number of entries of [`FUNCTIONS`] in use.
    pointers: usize,
    slots: Vec<&'static Named>,
    literals: Vec<&'static Literal>,
    by_address: BTreeMap<u64, u32>,
    by_contents: HashMap<(Vec<u8>, u32, String), u32>,
}

/// Data that never changes.
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
            // A process that was forked while another thread held the lock never gets it.
            static GIVEN_UP: AtomicU32 = AtomicU32::new(0);
            let process = std::process::id();
            let until = Instant::now() + MAX_WAIT;
            loop {
                if GIVEN_UP.load(Ordering::Relaxed) == process {
                    return None;
                }
                std::thread::yield_now();
                match TABLES.try_lock() {
                    Ok(guard) => break guard,
                    Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                    Err(TryLockError::WouldBlock) if Instant::now() < until => {}
                    Err(TryLockError::WouldBlock) => GIVEN_UP.store(process, Ordering::Relaxed),
                }
            }
        }
    };
    Some(work(guard.get_or_insert_default()))
}

/// Keeps the code of functions: the parts of `tiers`, in order.
pub fn keep(uses: &KeptUses, tiers: &'static Tiers, frames: &[u32]) {
    for (part, (&(_, index), &frame)) in uses.new.iter().zip(frames).enumerate() {
        let _ = uses.list[index as usize].code.set(Placed { tiers, part, frame });
    }
    with_tables(|tables| {
        for &(_, index) in &uses.new {
            let kept = uses.list[index as usize];
            tables.functions.entry(kept.key).or_insert(kept);
        }
    });
}

/// Makes the functions of a compiled module known by their identities, so that later texts need not lower them.
pub fn publish(uses: &KeptUses, module: &Module) {
    let is_body = |f: &&Function| f.library && f.kept.is_none() && is_alone(f);
    let bodies = module.functions.iter().filter(is_body).filter_map(|f| Some((f.identity?, f)));
    let mut new: Vec<(Identity, &Function)> = bodies.collect();
    let unknown = |tables: &mut Tables| {
        new.retain(|(identity, _)| !tables.bodies.contains_key(identity));
        tables.bodies.len() < MAX_KEPT
    };
    if with_tables(unknown) != Some(true) {
        return;
    }
    let new: Vec<(Identity, &'static Function)> =
        new.into_iter().map(|(identity, f)| (identity, &*Box::leak(Box::new(f.clone())))).collect();
    with_tables(|tables| {
        tables.bodies.extend(new);
        for &(identity, index) in &uses.identities {
            let kept = uses.list[index as usize];
            if kept.code.get().is_some() {
                let first = *tables.identities.entry(identity).or_insert(kept);
                debug_assert!(
                    first.key == kept.key,
                    "a function of the library is not the same in every text: {}",
                    module.functions.iter().find(|f| f.identity == Some(identity)).map_or("", |f| &f.name)
                );
            }
        }
    });
}

/// True if a function is one that is inlined, and means the same in any module.
fn is_alone(func: &Function) -> bool {
    let limit = if func.kind == FuncKind::Device { MAX_BODY } else { pass::inline::HOST_LIBRARY_LIMIT };
    let mut alone = matches!(func.kind, FuncKind::Device | FuncKind::HostHelper);
    let mut count = 0;
    func.body.for_each_stmt(&mut |stmt| {
        count += 1;
        alone &= !matches!(
            stmt,
            Stmt::Let(_, Op::GlobalAddr(_) | Op::SharedAddr(_) | Op::FuncAddr(..))
                | Stmt::Call { .. }
                | Stmt::Dispatch(_)
                | Stmt::Printf { .. }
                | Stmt::Launch { .. }
        );
    });
    alone && count <= limit
}

/// The function of this identity, where it is known.
pub fn known(identity: Identity) -> Option<KnownFunction> {
    with_tables(|tables| {
        // A function that one text calls is not inlined in others, although it is small once it is folded: so the calls of it are the
        // same in all of them.
        let kept = tables.identities.get(&identity).map(|kept| KnownFunction::Kept(KeptHandle(*kept)));
        kept.or_else(|| tables.bodies.get(&identity).map(|body| KnownFunction::Body(body)))
    })
    .flatten()
}

/// The word that stands for a site in kept code.
pub fn site_word(site: Site) -> u64 {
    std::ptr::from_ref::<Site>(Box::leak(Box::new(site))) as u64 | ADDRESS
}

/// The site that a word stands for, among the numbered ones of a program or in kept code.
pub fn site(numbered: &[Site], word: u64) -> Option<&Site> {
    if word >> 62 == ADDRESS >> 62 {
        // SAFETY: the word was made by `site_word`, whose site is leaked and stays.
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

/// The name of a slot in messages, by its index in a program or in kept code.
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
            let desc = if data.is_literal() { desc.literal() } else { desc };
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

/// The descriptor of data and its name in messages, by its index in a program or in kept code.
pub fn global(own: &crate::back::cpu::Globals, index: usize) -> Option<(&BufferDesc, &Named)> {
    if index & OURS as usize == 0 {
        return own.descs.get(index).zip(own.names.get(index));
    }
    let literal = with_tables(|tables| tables.literals.get(index & !OURS as usize).copied()).flatten()?;
    Some((&literal.desc, &literal.named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::back::cpu::{Code, Tier};
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
        let compiled = Code::compile(&module(TEXT), None, Tier::Auto, None);
        assert!(compiled.is_ok());
        // Another text, with lines before it and another function, of the same types.
        let other = format!("// a line\n{}", TEXT.replace("x + x", "x * x"));
        let uses = KeptUses::of(&module(&other));
        let names = |of: &[(FuncId, u32)]| {
            of.iter().map(|(id, _)| module(&other).func(*id).name.to_string()).collect::<Vec<_>>()
        };
        // Most of the list was made for the first text; `operator*` was not called there.
        assert!(uses.list.len() - uses.new.len() >= 3, "{} of {}", uses.new.len(), uses.list.len());
        let new = names(&uses.new);
        assert!(new.iter().all(|name| name.contains("operator*") || name.contains("mul")), "{new:?}");
        assert!(uses.list.iter().filter(|kept| kept.address().is_some()).count() + new.len() == uses.list.len());
    }

    const HEAD: &str = "#include <torch/extension.h>\n#include <cuda_fp16.h>\n#include <algorithm>\n#include <map>\n";

    /// Host functions that reach different parts of the library, in the company of names of their own.
    const BODIES: [&str; 10] = [
        "torch::Tensor f(torch::Tensor x) { return x.transpose(0, 1).contiguous() + 1; }",
        "std::vector<torch::Tensor> f(torch::Tensor x) { return x.chunk(2, 0); }",
        "torch::Tensor f(torch::Tensor x) { return torch::tril(x) * 2.5; }",
        "torch::Tensor f(torch::Tensor x, int64_t k) { return torch::triu(x, k).sum(); }",
        "torch::Tensor add(torch::Tensor x, std::optional<torch::Tensor> y) { return y.has_value() ? x.add(*y) : x; }",
        "int64_t f(std::vector<int64_t> x) { std::sort(x.begin(), x.end()); std::map<int, int> m; m[3] = 4; return x[0] + m[3]; }",
        "__global__ void k(__half* x) { x[threadIdx.x] = __hadd(x[threadIdx.x], __float2half(1.5f)); }
         void f(torch::Tensor x) { k<<<1, x.numel()>>>(reinterpret_cast<__half*>(x.data_ptr<at::Half>())); }",
        "template <typename T> __global__ void k(T* x) { x[threadIdx.x] *= T(2); }
         void f(torch::Tensor x) { AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", [&] {
             k<scalar_t><<<1, x.numel()>>>(x.data_ptr<scalar_t>()); }); }",
        "std::string f(torch::Tensor x) { TORCH_CHECK(x.dim() == 2, \"two, not \", x.dim()); return c10::str(x.sizes()); }",
        "std::tuple<torch::Tensor, double> f(torch::Tensor x) { return std::make_tuple(torch::stack({x, x}), x.mean().item<double>()); }",
    ];

    /// A module as it is compiled; `keeper` knows functions of earlier modules.
    fn module_with(text: &str, keeper: Option<crate::ir::kept::Keeper>) -> Module {
        let sources = &mut SourceMap::default();
        let (mut module, diags) = front::compile_with(sources, "t.cu", text, &front::Options::default(), keeper, None);
        assert!(diags.iter().all(|d| !d.is_error()), "{text}: {diags:?}");
        assert!(crate::valid::validate(&module).is_empty(), "{text}");
        pass::prepare_for_cpu(&mut module);
        module
    }

    #[test]
    fn what_has_an_identity_is_the_same_in_every_text() {
        let mut keys: HashMap<Identity, (Key, String)> = HashMap::new();
        let mut bodies: HashMap<Identity, Function> = HashMap::new();
        let (mut met, mut again) = (0, 0);
        // Each alone, and each after another.
        let name = |body: &str| if body.contains(" add(") { "add" } else { "f" };
        let alone = BODIES.iter().map(|body| format!("{HEAD}{body}"));
        let pairs = BODIES.iter().zip(BODIES.iter().cycle().skip(1));
        let both = pairs.map(|(a, b)| {
            let offers = format!("m.def(\"a\", &one::{}); m.def(\"b\", &two::{});", name(a), name(b));
            format!("{HEAD}namespace one {{ {a} }}\nnamespace two {{ {b} }}\nPYBIND11_MODULE(ext, m) {{ {offers} }}")
        });
        for text in alone.chain(both) {
            let module = module_with(&text, None);
            let uses = KeptUses::of(&module);
            for (identity, index) in &uses.identities {
                let key = uses.list[*index as usize].key;
                let (first, of) = keys.entry(*identity).or_insert_with(|| (key, text.clone()));
                assert!(*first == key, "one function in\n{of}\nand in\n{text}");
                met += 1;
            }
            for func in module.functions.iter().filter(|f| f.library && is_alone(f)) {
                let Some(identity) = func.identity else { continue };
                let first = bodies.entry(identity).or_insert_with(|| func.clone());
                assert_eq!(first.body, func.body, "{}", func.name);
                again += 1;
            }
        }
        assert!(keys.len() > 50 && met > 2 * keys.len(), "{} of {met}", keys.len());
        assert!(bodies.len() > 50 && again > 2 * bodies.len(), "{} of {again}", bodies.len());
    }

    #[test]
    fn what_is_known_is_not_lowered_again_unless_the_text_gives_it_another_meaning() {
        let text = format!("{HEAD}{}", BODIES[9]);
        let first = module_with(&text, None);
        assert!(first.functions.iter().all(|f| f.kept.is_none()));
        assert!(Code::compile(&first, None, Tier::Auto, None).is_ok());
        let second = module_with(&text, Some(known));
        let kept = second.functions.iter().filter(|f| f.kept.is_some()).count();
        assert!(kept > 3, "{kept}");
        assert!(second.functions.len() < first.functions.len() / 2, "{}", second.functions.len());
        assert!(matches!(Code::compile(&second, None, Tier::Auto, None), Ok(Some(_))));
        // Good code is made of whole programs, and so is the code of recursive functions.
        assert!(matches!(Code::compile(&second, None, Tier::Good, None), Ok(None)));
        let recursive = format!("{text}\nint64_t g(int64_t n) {{ return n < 2 ? n : g(n - 1) + g(n - 2); }}");
        let recursive = module_with(&recursive, Some(known));
        assert!(matches!(Code::compile(&recursive, None, Tier::Auto, None), Ok(None)));
        // A specialisation of a template of the library's.
        let special = format!(
            "{HEAD}namespace c10 {{ template <> struct CppTypeToScalarType<void *> {{ static const int value = 1; }}; }}\n{}",
            BODIES[9]
        );
        assert!(module_with(&special, Some(known)).functions.iter().all(|f| f.kept.is_none() && f.identity.is_none()));
        // The text replaces a name of the library's, for itself alone: none of its functions is offered to others.
        let shadows = format!("{HEAD}cudaError_t cudaGetLastError(int) {{ return cudaSuccess; }}\n{}", BODIES[9]);
        let shadows = module_with(&shadows, None);
        assert!(shadows.functions.iter().all(|f| f.identity.is_none()));
    }

    #[test]
    fn functions_are_told_apart_by_all_that_they_are() {
        let mut first = module(TEXT);
        let key = |module: &Module, id: FuncId| {
            let uses = KeptUses { of: vec![None; module.functions.len()], ..KeptUses::default() };
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
        let uses = KeptUses::of(&module);
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

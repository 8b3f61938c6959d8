//! Contraction: a product and the sum that it goes into become one `fma`, which rounds once, where a GPU's compiler makes one of them
//! (`-fmad=true`, the default of nvcc and NVRTC). All tiers run what is decided here, so they agree.
//!
//! NVIDIA's compilers decide twice, and so does this pass ([`Stage`]). What they do was read off the PTX and the machine code for `sm_90` of
//! CUDA 13 (`tests/contraction.rs` holds it):
//!
//! 1. NVVM, within a run of statements without a branch: a sum takes a product that has fewer than five uses, all of them sums of the same run.
//!    LLVM makes a sum of a difference from which a constant is taken, or a product with a constant. Sums are looked at from the last to the
//!    first. Of two such operands it takes the one that LLVM's reassociation puts first: the one whose operands were
//!    there earlier (`rank`). PTX shows this as `fma.rn`.
//! 2. ptxas: a sum or a difference takes a product whose uses are all sums and differences, as then the product itself needs no instruction;
//!    of two such operands the one with fewer uses, else the first. A product that is used behind a branch has to have a factor that is a
//!    parameter or a constant, since both factors would be kept for it otherwise. PTX has `mul` and `add` here, without the `.rn` that would
//!    forbid it (PTX ISA, "Floating Point Instructions: `add`").
//!
//! Twice a number is the number plus itself to LLVM, but where a sum takes it: `a + 2 * b` is an `fma`, `a - 2 * b` and `a + -2 * b` are two sums,
//! whose first one may overflow.
//!
//! The product that is left is the addend of an `fma`, and no other sum takes it.
//!
//! Intrinsics such as `__fmul_rn` are never contracted: [`MathFn::MulRn`] and [`MathFn::AddRn`] become a product and a sum afterwards.

use crate::ir::{BinaryOp, Block, Const, Function, MathFn, Op, Stmt, Type, UnaryOp, Value};
use crate::source::Span;

/// One of the two compilers that contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// From CUDA C++ to PTX.
    Nvvm,
    /// From PTX to machine code.
    Ptxas,
}

/// Most uses of a product that NVVM contracts.
const MOST_USES: u32 = 4;

/// The distance of the ranks of two runs of statements.
const RUN: u64 = 1 << 16;

/// Contracts a function where it asks for that, and makes plain operations of those that may not be contracted. True if anything changed.
pub fn run(func: &mut Function) -> bool {
    until(func, Stage::Ptxas)
}

/// The same up to a stage.
pub fn until(func: &mut Function, last: Stage) -> bool {
    let (mut products, mut sums, mut marked) = (false, false, false);
    let types = &func.values;
    func.body.for_each_stmt(&mut |stmt| match stmt {
        Stmt::Let(v, Op::Binary(op, ..)) if is_float(types[v.index()].ty) => {
            products |= *op == BinaryOp::Mul;
            sums |= matches!(op, BinaryOp::Add | BinaryOp::Sub);
        }
        Stmt::Let(_, Op::Math(MathFn::AddRn | MathFn::MulRn, _)) => marked = true,
        _ => {}
    });
    let contracts = func.contracts && products && sums;
    if !contracts && !marked {
        return false;
    }
    let mut facts = Facts::of(func);
    let changed = contracts && facts.contract(last) || marked;
    if changed {
        let body = std::mem::take(&mut func.body);
        func.body = facts.rewritten(func, body);
    }
    changed
}

fn is_float(ty: Type) -> bool {
    ty.scalar().is_some_and(|scalar| scalar.is_float())
}

/// The uses of a value.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// Operands of sums.
    sums: u32,
    /// Operands of differences.
    differences: u32,
    /// Operands of negations.
    negations: u32,
    /// All others.
    others: u32,
}

impl Uses {
    fn all(self) -> u32 {
        self.sums + self.differences + self.negations + self.others
    }
}

/// The operations that matter here.
#[derive(Clone, Copy, PartialEq)]
enum Made {
    Product(Value, Value),
    Negation(Value),
    Sum(Value, Value),
    Difference(Value, Value),
    Parameter,
    /// With its number, if that is a float.
    Constant(Option<f64>),
    Other,
}

/// A sum of a product: the factors, the first one negated or not, and the addend, negated or not.
#[derive(Clone, Copy)]
struct Fused {
    factors: (Value, Value),
    minus_product: bool,
    addend: Value,
    minus_addend: bool,
}

struct Facts {
    made: Vec<Made>,
    uses: Vec<Uses>,
    /// The negation of each value that is negated; there is one, since what is computed twice is computed once.
    negation: Vec<Option<Value>>,
    /// The number of the run of statements that each value is made in.
    run: Vec<u32>,
    /// The run that ends where the side of a branch begins, for the first run of the side.
    before: Vec<Option<u32>>,
    /// The number of uses in other runs.
    far: Vec<u32>,
    /// True for products that ptxas leaves.
    left: Vec<bool>,
    rank: Vec<u64>,
    /// Sums and differences of floats, in order.
    sums: Vec<Value>,
    /// True for differences that LLVM makes sums of.
    made_sum: Vec<bool>,
    fused: Vec<Option<Fused>>,
}

impl Facts {
    fn of(func: &Function) -> Self {
        let count = func.values.len();
        let mut facts = Facts {
            made: vec![Made::Other; count],
            uses: vec![Uses::default(); count],
            negation: vec![None; count],
            run: vec![0; count],
            before: vec![None],
            far: vec![0; count],
            left: vec![false; count],
            rank: vec![0; count],
            sums: Vec::new(),
            made_sum: vec![false; count],
            fused: vec![None; count],
        };
        let mut walk = Walk { func, facts: &mut facts, runs: 0, last: 0, loops: RUN };
        walk.block(&func.body, None);
        facts.make_sums();
        facts
    }

    fn uses_of(&mut self, v: Value) -> &mut Uses {
        &mut self.uses[v.index()]
    }

    /// Decides which sums take a product; true if any does.
    fn contract(&mut self, last: Stage) -> bool {
        let sums = std::mem::take(&mut self.sums);
        let mut any = false;
        for &sum in sums.iter().rev() {
            any |= self.fuse(sum, Stage::Nvvm);
        }
        if last == Stage::Ptxas {
            for &sum in &sums {
                self.choose(sum);
            }
            for &sum in &sums {
                any |= self.fuse(sum, Stage::Ptxas);
            }
        }
        any
    }

    /// The operands of a sum that takes none yet, in LLVM's order, and true if it is no difference.
    fn operands(&self, sum: Value) -> Option<(Value, Value, bool)> {
        match (self.fused[sum.index()], self.made[sum.index()]) {
            (None, Made::Sum(a, b)) if self.rank[b.index()] < self.rank[a.index()] => Some((b, a, true)),
            (None, Made::Sum(a, b)) => Some((a, b, true)),
            (None, Made::Difference(a, b)) => Some((a, b, false)),
            _ => None,
        }
    }

    /// Decides which operand ptxas leaves where it may take both.
    fn choose(&mut self, sum: Value) {
        let Some((a, b, _)) = self.operands(sum) else { return };
        if a != b && self.may_take(a, sum, Stage::Ptxas) && self.may_take(b, sum, Stage::Ptxas) {
            let left = if self.uses[b.index()].all() < self.uses[a.index()].all() { a } else { b };
            let left = if let Made::Negation(of) = self.made[left.index()] { of } else { left };
            self.left[left.index()] = true;
        }
    }

    /// Makes an `fma` of a sum or difference that takes a product, with the uses counted anew; true if it does.
    fn fuse(&mut self, sum: Value, stage: Stage) -> bool {
        let Some((a, b, is_sum)) = self.operands(sum) else { return false };
        let (taken, addend, minus_product, minus_addend) = if self.may_take(a, sum, stage) {
            (a, b, false, !is_sum)
        } else if self.may_take(b, sum, stage) {
            (b, a, !is_sum, false)
        } else {
            return false;
        };
        let Some((factors, negated)) = self.product(taken) else { return false };
        let counted = self.is_sum(sum);
        for operand in [taken, addend] {
            let uses = self.uses_of(operand);
            if counted { uses.sums -= 1 } else { uses.differences -= 1 }
        }
        for value in [addend, factors.0, factors.1] {
            self.uses_of(value).others += 1;
        }
        self.forget_unused(taken);
        let minus_product = minus_product != negated;
        self.fused[sum.index()] = Some(Fused { factors, minus_product, addend, minus_addend });
        true
    }

    /// The factors of a product, and true if it is negated.
    fn product(&self, v: Value) -> Option<((Value, Value), bool)> {
        match self.made[v.index()] {
            Made::Product(a, b) => Some(((a, b), false)),
            Made::Negation(of) => match self.made[of.index()] {
                Made::Product(a, b) => Some(((a, b), true)),
                _ => None,
            },
            _ => None,
        }
    }

    /// True if a sum may take an operand that is a product.
    fn may_take(&self, v: Value, sum: Value, stage: Stage) -> bool {
        let uses = self.uses[v.index()];
        match (stage, self.made[v.index()]) {
            (Stage::Nvvm, Made::Product(..)) => {
                let only_summed = uses.all() == uses.sums && uses.all() <= MOST_USES;
                self.is_sum(sum) && only_summed && !self.is_doubled(v, sum) && self.is_near(v, sum)
            }
            (Stage::Ptxas, Made::Product(..)) => self.is_free(v, sum),
            // A sign costs nothing.
            (Stage::Ptxas, Made::Negation(of)) => self.is_free(of, sum),
            _ => false,
        }
    }

    /// True if LLVM has a sum here.
    fn is_sum(&self, v: Value) -> bool {
        matches!(self.made[v.index()], Made::Sum(..)) || self.made_sum[v.index()]
    }

    /// Counts the differences that LLVM makes sums of as sums.
    fn make_sums(&mut self) {
        for i in 0..self.sums.len() {
            let v = self.sums[i];
            if let Made::Difference(a, b) = self.made[v.index()]
                && (self.is_constant(b) || self.has_constant(b) && self.twice(b) != Some(2.0))
            {
                self.made_sum[v.index()] = true;
                for operand in [a, b] {
                    let uses = self.uses_of(operand);
                    uses.differences -= 1;
                    uses.sums += 1;
                }
            }
        }
    }

    /// True for a product with a constant that has one use.
    fn has_constant(&self, v: Value) -> bool {
        match self.made[v.index()] {
            Made::Product(a, b) => self.uses[v.index()].all() == 1 && (self.is_constant(a) || self.is_constant(b)),
            _ => false,
        }
    }

    fn is_constant(&self, v: Value) -> bool {
        matches!(self.made[v.index()], Made::Constant(_))
    }

    /// True if a product is a number plus itself, of which LLVM takes something in this sum, or which it takes from something.
    fn is_doubled(&self, product: Value, sum: Value) -> bool {
        let Some(factor) = self.twice(product) else { return false };
        match self.made[sum.index()] {
            Made::Sum(a, b) => {
                let other = if a == product { b } else { a };
                factor < 0.0 || matches!(self.made[other.index()], Made::Negation(_))
            }
            Made::Difference(a, _) => matches!(self.made[a.index()], Made::Negation(_)),
            _ => false,
        }
    }

    /// The constant factor of a product, if that is 2 or -2.
    fn twice(&self, v: Value) -> Option<f64> {
        let Made::Product(a, b) = self.made[v.index()] else { return None };
        [a, b].into_iter().find_map(|v| match self.made[v.index()] {
            Made::Constant(Some(n)) if n.abs() == 2.0 => Some(n),
            _ => None,
        })
    }

    /// True if no branch stands between a product and its sums, or may be moved before the product: LLVM moves what is used once into the side
    /// of a branch that uses it.
    fn is_near(&self, product: Value, sum: Value) -> bool {
        let (made, used) = (self.run[product.index()], self.run[sum.index()]);
        match self.far[product.index()] {
            0 => true,
            _ => self.uses[product.index()].all() == 1 && self.before[used as usize] == Some(made),
        }
    }

    /// True if a product needs no instruction once sums and differences have taken it.
    fn is_free(&self, product: Value, sum: Value) -> bool {
        let Made::Product(a, b) = self.made[product.index()] else { return false };
        if self.twice(product).is_some() {
            return false;
        }
        let is_near = self.is_near(product, sum);
        !self.left[product.index()] && self.only_added(product) && (is_near || self.is_given(a) || self.is_given(b))
    }

    /// True for parameters and constants.
    fn is_given(&self, v: Value) -> bool {
        matches!(self.made[v.index()], Made::Parameter | Made::Constant(_))
    }

    /// True if every use of a value is a sum or a difference, its negations' uses included.
    fn only_added(&self, v: Value) -> bool {
        let uses = self.uses[v.index()];
        let negated = match (uses.negations, self.negation[v.index()]) {
            (0, _) | (_, None) => Uses::default(),
            (_, Some(negation)) => self.uses[negation.index()],
        };
        uses.others + negated.others + negated.negations == 0 && uses.negations < 2
    }

    /// Takes the uses back that a value without uses made.
    fn forget_unused(&mut self, v: Value) {
        if self.uses[v.index()].all() > 0 {
            return;
        }
        match self.made[v.index()] {
            Made::Product(a, b) => {
                self.uses_of(a).others -= 1;
                self.uses_of(b).others -= 1;
            }
            Made::Negation(of) => {
                self.uses_of(of).negations -= 1;
                self.forget_unused(of);
            }
            _ => {}
        }
    }

    /// A block with each sum that takes a product as an `fma`, without the products that nothing else uses.
    fn rewritten(&mut self, func: &mut Function, block: Block) -> Block {
        let mut out = Block::default();
        for (mut stmt, span) in block.stmts.into_iter().zip(block.spans) {
            if let Stmt::Let(v, op) = stmt {
                self.write(func, &mut out, v, op, span);
                continue;
            }
            for inner in stmt.blocks_mut() {
                *inner = self.rewritten(func, std::mem::take(inner));
            }
            out.push(stmt, span);
        }
        out
    }

    fn write(&mut self, func: &mut Function, out: &mut Block, v: Value, op: Op, span: Span) {
        let known = v.index() < self.made.len();
        let is_taken = known && matches!(self.made[v.index()], Made::Product(..) | Made::Negation(_));
        if is_taken && self.uses[v.index()].all() == 0 {
            return;
        }
        let op = match (self.fused.get(v.index()).copied().flatten(), op) {
            (Some(fused), _) => {
                let mut signed = |value: Value, minus: bool| {
                    if !minus {
                        return value;
                    }
                    let negated = func.new_value(func.ty(value), span);
                    out.push(Stmt::Let(negated, Op::Unary(UnaryOp::Neg, value)), span);
                    negated
                };
                let first = signed(fused.factors.0, fused.minus_product);
                let addend = signed(fused.addend, fused.minus_addend);
                Op::Math(MathFn::Fma, vec![first, fused.factors.1, addend])
            }
            (None, Op::Math(MathFn::AddRn, args)) => Op::Binary(BinaryOp::Add, args[0], args[1]),
            (None, Op::Math(MathFn::MulRn, args)) => Op::Binary(BinaryOp::Mul, args[0], args[1]),
            (None, op) => op,
        };
        out.push(Stmt::Let(v, op), span);
    }
}

/// A walk over a function that fills its facts.
struct Walk<'a> {
    func: &'a Function,
    facts: &'a mut Facts,
    /// The number of runs so far.
    runs: u32,
    /// The rank of what was made last and stays where it is.
    last: u64,
    /// The rank of what the innermost loop changes.
    loops: u64,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block, before: Option<u32>) {
        self.begin(before);
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    /// Begins a run of statements.
    fn begin(&mut self, before: Option<u32>) {
        self.facts.before.push(before);
        self.runs += 1;
        self.last = u64::from(self.runs) * RUN;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Let(v, op) = stmt {
            self.op(*v, op);
            return;
        }
        stmt.for_each_value(|v| self.facts.uses_of(v).others += 1);
        self.last += 1;
        let rank = self.last;
        stmt.result().into_iter().chain(stmt.raised()).for_each(|v| self.place(v, rank));
        let outer = self.loops;
        let inner = stmt.blocks();
        if inner.is_empty() {
            return;
        }
        let mut before = Some(self.runs);
        if let Stmt::Loop { .. } = stmt {
            self.loops = u64::from(self.runs + 1) * RUN;
            before = None;
        }
        for block in inner {
            self.block(block, before);
        }
        self.loops = outer;
        self.begin(None);
    }

    fn place(&mut self, v: Value, rank: u64) {
        self.facts.rank[v.index()] = rank;
        self.facts.run[v.index()] = self.runs;
    }

    fn op(&mut self, v: Value, op: &Op) {
        let is_number = is_float(self.func.ty(v));
        let made = match op {
            Op::Binary(BinaryOp::Mul, a, b) if is_number => Made::Product(*a, *b),
            Op::Binary(BinaryOp::Add, a, b) if is_number => Made::Sum(*a, *b),
            Op::Binary(BinaryOp::Sub, a, b) if is_number => Made::Difference(*a, *b),
            Op::Unary(UnaryOp::Neg, a) if is_number => Made::Negation(*a),
            Op::Param(_) => Made::Parameter,
            Op::Const(Const::F32(n)) => Made::Constant(Some(f64::from(*n))),
            Op::Const(Const::F64(n)) => Made::Constant(Some(*n)),
            Op::Const(_) => Made::Constant(None),
            _ => Made::Other,
        };
        let (facts, runs) = (&mut *self.facts, self.runs);
        op.for_each_value(|operand| {
            facts.far[operand.index()] += u32::from(facts.run[operand.index()] != runs);
            let uses = facts.uses_of(operand);
            match made {
                Made::Sum(..) => uses.sums += 1,
                Made::Difference(..) => uses.differences += 1,
                Made::Negation(_) => uses.negations += 1,
                _ => uses.others += 1,
            }
        });
        match made {
            Made::Sum(..) | Made::Difference(..) => facts.sums.push(v),
            Made::Negation(of) => facts.negation[of.index()] = Some(v),
            _ => {}
        }
        facts.made[v.index()] = made;
        let rank = self.rank(op, made);
        self.place(v, rank);
    }

    /// The rank of a result, as `Reassociate.cpp` of LLVM has it: constants and addresses of variables come before parameters, these before
    /// everything else; what may not be moved is ranked by its place, and the rest by its operands.
    fn rank(&mut self, op: &Op, made: Made) -> u64 {
        let rank = |facts: &Facts, v: Value| facts.rank[v.index()];
        match op {
            Op::Const(_) | Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::SharedAddr(_) | Op::FuncAddr(..) => 0,
            Op::Builtin(_) => 1,
            Op::Param(i) => 3 + u64::from(*i),
            // What a local holds comes from the head of the innermost loop.
            Op::Get(_) => self.loops,
            Op::Load { .. } | Op::IntToPtr(_) => {
                self.last += 1;
                self.last
            }
            Op::Binary(BinaryOp::Div | BinaryOp::Rem, a, _) if !is_float(self.func.ty(*a)) => {
                self.last += 1;
                self.last
            }
            _ => {
                let most = op.operands().into_iter().map(|v| rank(self.facts, v)).max().unwrap_or(0);
                if let Made::Negation(_) = made { most } else { most + 1 }
            }
        }
    }
}

//! Walks of IR: the values an op or statement reads, the value it binds, the blocks it holds.

use smallvec::{SmallVec, smallvec};

use super::ops::ops;
use super::{
    BinaryOp, BitFn, Block, Builtin, CompareOp, Const, FuncId, Global, Local, MathFn, Op, Scalar, Shared, Slot, Stmt,
    Stride, Type, UnaryOp, Value,
};

impl Op {
    /// Every value the op reads, in order.
    pub fn operands(&self) -> Vec<Value> {
        let mut operands = Vec::new();
        self.for_each_value(|v| operands.push(v));
        operands
    }
}

/// A field of an op: the values in it are operands.
trait Field {
    /// Calls `f` with every value in it.
    fn each(&self, _f: &mut impl FnMut(Value)) {}

    /// Replaces every value in it.
    fn map(&mut self, _f: &mut impl FnMut(Value) -> Value) {}
}

impl Field for Value {
    fn each(&self, f: &mut impl FnMut(Value)) {
        f(*self);
    }

    fn map(&mut self, f: &mut impl FnMut(Value) -> Value) {
        *self = f(*self);
    }
}

impl Field for Vec<Value> {
    fn each(&self, f: &mut impl FnMut(Value)) {
        self.iter().copied().for_each(f);
    }

    fn map(&mut self, f: &mut impl FnMut(Value) -> Value) {
        self.iter_mut().for_each(|value| *value = f(*value));
    }
}

macro_rules! fields_without_values {
    ($($ty:ty)*) => {$(impl Field for $ty {})*};
}

fields_without_values! {
    Const u32 Local Slot Global Shared FuncId u64 Builtin UnaryOp BinaryOp CompareOp Scalar MathFn BitFn Stride Type bool
}

macro_rules! walks {
    ($($(#[$doc:meta])* $variant:ident $(($($place:ident: $place_ty:ty),*))? $({$($(#[$field_doc:meta])* $field:ident: $field_ty:ty,)*})?
        $how:ident $($word:literal)? [$($text:tt)*] $(of $result:tt)?;)*) => {
        impl Op {
            /// Calls `f` with every value the op reads, in order.
            pub fn for_each_value(&self, mut f: impl FnMut(Value)) {
                match self {$(
                    Op::$variant $(($($place),*))? $({$($field),*})? => {
                        $($($place.each(&mut f);)*)?
                        $($($field.each(&mut f);)*)?
                    }
                )*}
            }

            /// Replaces every value the op reads.
            pub fn map_values(&mut self, mut f: impl FnMut(Value) -> Value) {
                match self {$(
                    Op::$variant $(($($place),*))? $({$($field),*})? => {
                        $($($place.map(&mut f);)*)?
                        $($($field.map(&mut f);)*)?
                    }
                )*}
            }
        }
    };
}

ops!(walks);

impl Stmt {
    /// Calls `f` with every value the statement itself reads; nested blocks are left out.
    pub fn for_each_value(&self, mut f: impl FnMut(Value)) {
        match self {
            Stmt::Let(_, op) => op.for_each_value(f),
            Stmt::Set(_, v) | Stmt::Return(Some(v)) => f(*v),
            Stmt::Store { ptr, value, .. } => {
                f(*ptr);
                f(*value);
            }
            Stmt::Atomic { ptr, value, compare, .. } => {
                f(*ptr);
                f(*value);
                compare.iter().copied().for_each(f);
            }
            Stmt::If { cond, .. } | Stmt::Assert { cond, .. } => f(*cond),
            Stmt::Aligned { ptr, .. } => f(*ptr),
            Stmt::Switch { value, .. } => f(*value),
            Stmt::Call { args, .. }
            | Stmt::Printf { args, .. }
            | Stmt::Collective { args, .. }
            | Stmt::Service { args, .. } => {
                args.iter().copied().for_each(f);
            }
            Stmt::Launch { config, args, .. } => config.iter().chain(args).copied().for_each(f),
            Stmt::Loop { .. }
            | Stmt::Scope { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return(None)
            | Stmt::Trap
            | Stmt::Dispatch(_)
            | Stmt::Fence
            | Stmt::MissingReturn(_)
            | Stmt::Barrier(_) => {}
        }
    }

    /// Replaces every value the statement itself reads; nested blocks are left alone.
    pub fn map_values(&mut self, mut f: impl FnMut(Value) -> Value) {
        let mut map = |v: &mut Value| *v = f(*v);
        match self {
            Stmt::Let(_, op) => op.map_values(f),
            Stmt::Set(_, v) | Stmt::Return(Some(v)) => map(v),
            Stmt::Store { ptr, value, .. } => {
                map(ptr);
                map(value);
            }
            Stmt::Atomic { ptr, value, compare, .. } => {
                map(ptr);
                map(value);
                compare.iter_mut().for_each(map);
            }
            Stmt::If { cond, .. } | Stmt::Assert { cond, .. } => map(cond),
            Stmt::Aligned { ptr, .. } => map(ptr),
            Stmt::Switch { value, .. } => map(value),
            Stmt::Call { args, .. }
            | Stmt::Printf { args, .. }
            | Stmt::Collective { args, .. }
            | Stmt::Service { args, .. } => {
                args.iter_mut().for_each(map);
            }
            Stmt::Launch { config, args, .. } => config.iter_mut().chain(args).for_each(map),
            Stmt::Loop { .. }
            | Stmt::Scope { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return(None)
            | Stmt::Trap
            | Stmt::Dispatch(_)
            | Stmt::Fence
            | Stmt::MissingReturn(_)
            | Stmt::Barrier(_) => {}
        }
    }

    /// The value the statement binds; a call may bind [`raised`](Stmt::raised) besides.
    pub fn result(&self) -> Option<Value> {
        match self {
            Stmt::Let(v, _) => Some(*v),
            Stmt::Call { result, .. }
            | Stmt::Printf { result, .. }
            | Stmt::Atomic { result, .. }
            | Stmt::Collective { result, .. }
            | Stmt::Service { result, .. } => *result,
            _ => None,
        }
    }

    /// The value the statement binds, to bind another.
    pub fn result_mut(&mut self) -> Option<&mut Value> {
        match self {
            Stmt::Let(v, _) => Some(v),
            Stmt::Call { result, .. }
            | Stmt::Printf { result, .. }
            | Stmt::Atomic { result, .. }
            | Stmt::Collective { result, .. }
            | Stmt::Service { result, .. } => result.as_mut(),
            _ => None,
        }
    }

    /// The value that a call binds to say if an exception came out of it.
    pub fn raised(&self) -> Option<Value> {
        match self {
            Stmt::Call { raised, .. } => *raised,
            _ => None,
        }
    }

    /// The blocks the statement holds, in text order.
    pub fn blocks(&self) -> SmallVec<[&Block; 2]> {
        match self {
            Stmt::If { then, els, .. } => smallvec![then, els],
            Stmt::Loop { body, step, .. } => smallvec![body, step],
            Stmt::Switch { cases, .. } => cases.iter().map(|c| &c.body).collect(),
            Stmt::Scope { body, .. } => smallvec![body],
            _ => SmallVec::new(),
        }
    }

    /// The blocks the statement holds, to be changed.
    pub fn blocks_mut(&mut self) -> SmallVec<[&mut Block; 2]> {
        match self {
            Stmt::If { then, els, .. } => smallvec![then, els],
            Stmt::Loop { body, step, .. } => smallvec![body, step],
            Stmt::Switch { cases, .. } => cases.iter_mut().map(|c| &mut c.body).collect(),
            Stmt::Scope { body, .. } => smallvec![body],
            _ => SmallVec::new(),
        }
    }

    /// True if nothing after it in its block can run.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            Stmt::Break(_)
                | Stmt::Continue(_)
                | Stmt::Return(_)
                | Stmt::Dispatch(_)
                | Stmt::Trap
                | Stmt::MissingReturn(_)
        )
    }

    /// The function that it calls, or takes the address of.
    pub fn mentions(&self) -> Option<FuncId> {
        match self {
            Stmt::Call { func, .. } | Stmt::Let(_, Op::FuncAddr(func, _)) => Some(*func),
            _ => None,
        }
    }
}

impl Block {
    /// Calls `f` with every statement, nested ones after the one that holds them.
    pub fn for_each_stmt<'a>(&'a self, f: &mut impl FnMut(&'a Stmt)) {
        for stmt in &self.stmts {
            f(stmt);
            match stmt {
                Stmt::If { then: first, els: second, .. } | Stmt::Loop { body: first, step: second, .. } => {
                    first.for_each_stmt(f);
                    second.for_each_stmt(f);
                }
                Stmt::Switch { cases, .. } => cases.iter().for_each(|case| case.body.for_each_stmt(f)),
                Stmt::Scope { body, .. } => body.for_each_stmt(f),
                _ => {}
            }
        }
    }

    /// The number of statements it holds, nested ones included.
    pub fn count(&self) -> usize {
        let mut count = 0;
        self.for_each_stmt(&mut |_| count += 1);
        count
    }

    /// The depth to which its statements nest: 0 without constructs.
    pub fn depth(&self) -> usize {
        let inner = |s: &Stmt| s.blocks().into_iter().map(|b| b.depth() + 1).max().unwrap_or(0);
        self.stmts.iter().map(inner).max().unwrap_or(0)
    }
}

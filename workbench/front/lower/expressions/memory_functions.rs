//! `memcpy`, `memmove` and `memset` in device code: loops over the largest words that both sides' types allow.

use super::conversions::Use;
use super::typed_tree::{MemoryOp, Node, Typed};
use crate::front::lower::Lowerer;
use crate::front::lower::host::device_variables::SymbolUse;
use crate::front::types::{Num, Ty};
use crate::ir::{BinaryOp, Block, CompareOp, Op, Scalar, Stmt, Stride, Type, Value};
use crate::source::Span;

/// Most words copied one by one.
const MAX_UNROLLED: i64 = 16;

impl<'a> Lowerer<'a> {
    /// A call of one of the functions; `None` when the name is another's.
    pub(super) fn memory_function(&mut self, name: &str, args: &[Typed], span: Span) -> Option<Typed> {
        let op = match name {
            "memcpy" | "__builtin_memcpy" => MemoryOp::Copy,
            "memmove" | "__builtin_memmove" => MemoryOp::Move,
            "memset" | "__builtin_memset" => MemoryOp::Fill,
            _ => return None,
        };
        if !self.exactly(name, 3, args.len(), span) {
            return Some(Typed::error(span));
        }
        let second = match op {
            MemoryOp::Fill => Ty::int(),
            _ => Ty::void().constant().pointer(),
        };
        let wanted = [Ty::void().pointer(), second, Num::ULong.into()];
        let mut kept = Vec::new();
        for (i, (arg, to)) in args.iter().zip(&wanted).enumerate() {
            let converted = self.implicit(arg.clone(), to, Use::Argument(i + 1, name));
            if converted.is_error() {
                return Some(converted);
            }
            // The pointers keep their types: they say how wide the words may be.
            let pointer = i < 2 && to.pointee().is_some();
            kept.push(if pointer { self.operand(arg.clone()) } else { converted });
        }
        let args: Box<[Typed; 3]> = Box::new(kept.try_into().expect("three arguments were checked"));
        Some(Typed::value(Ty::void().pointer(), span, Node::Memory { op, args }))
    }

    /// Emits one; the result is the first argument.
    pub(in crate::front::lower) fn emit_memory(&mut self, op: MemoryOp, args: &[Typed; 3], span: Span) -> Value {
        let [to, from, count] = args;
        let scalar = match op {
            MemoryOp::Fill => fill_word(to),
            _ => copy_word(to, from),
        };
        let known = count.integer();
        let scalar = match known {
            Some(n) if n % i64::from(scalar.size()) == 0 => scalar,
            Some(_) => Scalar::U8,
            // The number of bytes is not known: words are copied only if a size in the type divides them anyway.
            None if divides(count, scalar) => scalar,
            None => Scalar::U8,
        };
        let width = i64::from(scalar.size());
        self.check_symbol_pointer(to, SymbolUse::Passed);
        if op != MemoryOp::Fill {
            self.check_symbol_pointer(from, SymbolUse::Passed);
        }
        let ptr = self.emit_value(to);
        let source = self.emit_value(from);
        let word = match op {
            MemoryOp::Fill => Some(self.filled(source, scalar, span)),
            _ => None,
        };
        let stride = Stride::Elem(scalar);
        if let Some(n) = known
            && n / width <= MAX_UNROLLED
        {
            let words: Vec<Value> = (0..n / width)
                .map(|i| match word {
                    Some(word) => word,
                    None => {
                        let b = self.at(span);
                        let from = b.offset(source, i, stride);
                        b.load(from, Type::Scalar(scalar), false)
                    }
                })
                .collect();
            for (i, value) in words.into_iter().enumerate() {
                let b = self.at(span);
                let to = b.offset(ptr, i as i64, stride);
                b.store(to, value, false);
            }
            return ptr;
        }
        let bytes = self.emit_value(count);
        let b = self.at(span);
        let bytes = b.convert(Scalar::I64, bytes);
        let size = b.int(Scalar::I64, width);
        let words = b.binary(BinaryOp::Div, bytes, size);
        let one = |this: &mut Self, i: Value| {
            let b = this.at(span);
            let value = match word {
                Some(word) => word,
                None => {
                    let from = b.bind(Type::Ptr, Op::PtrAdd { ptr: source, index: i, stride });
                    b.load(from, Type::Scalar(scalar), false)
                }
            };
            let to = b.bind(Type::Ptr, Op::PtrAdd { ptr, index: i, stride });
            b.store(to, value, false);
        };
        if op == MemoryOp::Move {
            // The copy runs from the end if the target lies after the source.
            let b = self.at(span);
            let behind = b.compare(CompareOp::Gt, ptr, source);
            b.open();
            self.words_loop(words, true, span, &one);
            let then = self.at(span).close();
            self.at(span).open();
            self.words_loop(words, false, span, &one);
            let els = self.at(span).close();
            self.at(span).push(Stmt::If { cond: behind, then, els });
        } else {
            self.words_loop(words, false, span, &one);
        }
        ptr
    }

    fn words_loop(&mut self, words: Value, down: bool, span: Span, each: &dyn Fn(&mut Self, Value)) {
        let b = self.at(span);
        let counter = b.func.new_local("", Type::Scalar(Scalar::I64));
        let label = b.func.new_label();
        let zero = b.int(Scalar::I64, 0);
        b.push(Stmt::Set(counter, zero));
        b.open();
        let i = b.bind(Scalar::I64, Op::Get(counter));
        let more = b.compare(CompareOp::Lt, i, words);
        b.open();
        b.push(Stmt::Break(label));
        let els = b.close();
        b.push(Stmt::If { cond: more, then: Block::default(), els });
        let index = if down {
            let one = b.int(Scalar::I64, 1);
            let last = b.binary(BinaryOp::Sub, words, one);
            b.binary(BinaryOp::Sub, last, i)
        } else {
            i
        };
        each(self, index);
        let b = self.at(span);
        let body = b.close();
        b.open();
        let i = b.bind(Scalar::I64, Op::Get(counter));
        let one = b.int(Scalar::I64, 1);
        let next = b.binary(BinaryOp::Add, i, one);
        b.push(Stmt::Set(counter, next));
        let step = b.close();
        b.push(Stmt::Loop { label, body, step });
    }

    /// A word whose bytes are all the one given.
    fn filled(&mut self, byte: Value, scalar: Scalar, span: Span) -> Value {
        let b = self.at(span);
        let unsigned = match scalar.size() {
            1 => Scalar::U8,
            2 => Scalar::U16,
            4 => Scalar::U32,
            _ => Scalar::U64,
        };
        let byte = b.convert(Scalar::U8, byte);
        let mut word = b.convert(unsigned, byte);
        if unsigned != Scalar::U8 {
            let ones = match unsigned {
                Scalar::U16 => 0x0101,
                Scalar::U32 => 0x0101_0101,
                _ => 0x0101_0101_0101_0101,
            };
            let ones = b.int(unsigned, ones);
            word = b.binary(BinaryOp::Mul, word, ones);
        }
        if scalar == unsigned { word } else { b.bitcast(scalar, word) }
    }
}

/// The pointer as it was before it became `void*`.
fn pointee(e: &Typed) -> Option<Ty> {
    match &e.node {
        Node::Convert(inner) if e.ty.pointee().is_some_and(Ty::is_void) => pointee(inner),
        _ => e.ty.pointee().map(|t| t.innermost().unqualified()),
    }
}

fn unsigned(align: u32) -> Scalar {
    match align {
        1 => Scalar::U8,
        2 => Scalar::U16,
        4 => Scalar::U32,
        _ => Scalar::U64,
    }
}

fn copy_word(to: &Typed, from: &Typed) -> Scalar {
    let (Some(a), Some(b)) = (pointee(to), pointee(from)) else { return Scalar::U8 };
    match (a.uniform(), b.uniform()) {
        (Some(x), Some(y)) if x == y && x != Scalar::Bool => x,
        _ => unsigned(a.align().min(b.align())),
    }
}

fn fill_word(to: &Typed) -> Scalar {
    pointee(to).map_or(Scalar::U8, |t| unsigned(t.align()))
}

/// The number of bytes is written as a product with a size that the word divides: `n * sizeof(float)`.
fn divides(count: &Typed, scalar: Scalar) -> bool {
    match &count.node {
        Node::Binary(BinaryOp::Mul, a, b) => divides(a, scalar) || divides(b, scalar),
        Node::Convert(inner) => inner.ty.scalar().is_some_and(Scalar::is_int) && divides(inner, scalar),
        _ => count.integer().is_some_and(|n| n != 0 && n % i64::from(scalar.size()) == 0),
    }
}

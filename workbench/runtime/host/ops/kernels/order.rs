//! Elements of rows in their order, on all threads: `sort`, `argsort`, `topk`.
//!
//! An element and its place become one number, a *key*: its upper half orders elements as torch does, with NaN after all numbers and both
//! zeros alike, its lower half keeps equal elements in the order of their places. So no two keys are the same, and any sort is a stable one.

use std::ops::Range;

use super::super::super::answer::Answer;
use super::super::super::array::HostTensor;
use super::super::super::value::Value;
use super::super::super::work::{self, PERIOD, ticks};
use super::elements::{LEAST, is_aligned};
use super::layout::MOST;
use super::moves::copied;
use super::rows::Blocks;
use crate::back::cpu::{Parts, share};
use crate::runtime::DType;

/// Keys that are sorted at once; longer rows are merged of such parts.
const PART: usize = 1 << 16;

/// Time that a step of a sort takes, in elements that are computed with.
const STEP: usize = 8;

/// A number that says where its element stands.
trait Key: Copy + Ord + Default + Send + Sync {
    /// The place of its element in the row.
    fn place(self) -> usize;
}

impl Key for u64 {
    fn place(self) -> usize {
        (self & 0xffff_ffff) as usize
    }
}

impl Key for u128 {
    fn place(self) -> usize {
        (self & 0xffff_ffff) as usize
    }
}

/// An element whose order can be told by a number.
trait Element: Copy + Send + Sync {
    type Key: Key;

    /// The key of the element at a place.
    fn key(self, place: usize, descending: bool) -> Self::Key;
}

/// The order of a floating-point number by its bits: those of negative ones are turned round, NaN is the largest.
macro_rules! order_of_float {
    ($bits:ty, $infinity:expr) => {
        |bits: $bits| -> $bits {
            const TOP: $bits = 1 << (<$bits>::BITS - 1);
            match bits & !TOP {
                0 => TOP,
                size if size > $infinity => <$bits>::MAX,
                _ if bits & TOP == 0 => bits | TOP,
                _ => !bits,
            }
        }
    };
}

macro_rules! elements {
    ($($type:ident: $stored:ty, $key:ty, $half:ty, $order:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $type($stored);

        impl Element for $type {
            type Key = $key;

            fn key(self, place: usize, descending: bool) -> $key {
                let order = <$half>::from($order(self.0));
                let order = if descending { !order } else { order };
                <$key>::from(order) << <$half>::BITS | place as $key
            }
        }
    )*};
}

elements! {
    Half: u16, u64, u32, order_of_float!(u16, 0x7c00);
    BFloat: u16, u64, u32, order_of_float!(u16, 0x7f80);
    Float: u32, u64, u32, order_of_float!(u32, 0x7f80_0000);
    Double: u64, u128, u64, order_of_float!(u64, 0x7ff0_0000_0000_0000);
    Byte: u8, u64, u32, |bits: u8| bits;
    SignedByte: u8, u64, u32, |bits: u8| bits ^ 0x80;
    Short: u16, u64, u32, |bits: u16| bits;
    SignedShort: u16, u64, u32, |bits: u16| bits ^ 0x8000;
    Int: u32, u64, u32, |bits: u32| bits;
    SignedInt: u32, u64, u32, |bits: u32| bits ^ 0x8000_0000;
    Long: u64, u128, u64, |bits: u64| bits;
    SignedLong: u64, u128, u64, |bits: u64| bits ^ 0x8000_0000_0000_0000;
}

/// Rows of `cols` elements, of which the first `most` in their order are wanted.
#[derive(Clone, Copy)]
struct Wanted {
    rows: usize,
    cols: usize,
    most: usize,
    descending: bool,
}

pub fn run(name: &str, args: &[Value]) -> Option<Answer<Value>> {
    let [Value::Tensor(x), rest @ ..] = args else { return None };
    let (most, rest) = match (name, rest) {
        ("sort" | "argsort", rest) => (None, rest),
        ("topk", [Value::Int(most), rest @ ..]) if x.dtype() != DType::Bool => (Some(*most), rest),
        _ => return None,
    };
    let given = |i: usize| rest.get(i).unwrap_or(&Value::None);
    let over = if let Value::None = given(0) { &Value::Int(-1) } else { given(0) };
    let descending = match given(1) {
        Value::None => most.is_some(),
        Value::Bool(descending) => *descending,
        _ => return None,
    };
    let is_large = (LEAST..=MOST).contains(&x.numel()) && is_aligned(x);
    // The fourth argument of `topk` asks for an order of the results, which they have in any case.
    if !is_large || x.dim() == 0 || rest.len() > 3 || !matches!(over, Value::Int(_)) {
        return None;
    }
    let blocks = Blocks::of(x, over, &Value::None)?;
    let most = most.unwrap_or(blocks.rows);
    if !(0..=blocks.rows).contains(&most) {
        return None;
    }
    let whole = if x.is_contiguous() { x.clone() } else { answered!(copied(x)?) };
    let turned = answered!(blocks.turned(&whole)?);
    let shape = [blocks.outer * blocks.cols, most];
    let values = answered!(HostTensor::unfilled(x.dtype(), &shape, x.device()));
    let places = answered!(HostTensor::unfilled(DType::Int64, &shape, x.device()));
    let wanted = Wanted { rows: shape[0] as usize, cols: blocks.rows as usize, most: most as usize, descending };
    macro_rules! by {
        ($type:ident) => {
            // SAFETY: the type has the size of the tensor's elements.
            unsafe { ordered::<$type>(&turned, &values, &places, wanted) }
        };
    }
    match x.dtype() {
        DType::Bool | DType::UInt8 => by!(Byte),
        DType::Int8 => by!(SignedByte),
        DType::UInt16 => by!(Short),
        DType::Int16 => by!(SignedShort),
        DType::UInt32 => by!(Int),
        DType::Int32 => by!(SignedInt),
        DType::UInt64 => by!(Long),
        DType::Int64 => by!(SignedLong),
        DType::Float16 => by!(Half),
        DType::BFloat16 => by!(BFloat),
        DType::Float32 => by!(Float),
        DType::Float64 => by!(Double),
    }
    let at = x.axis(if let Value::Int(at) = over { *at } else { -1 }).ok()?;
    let mut shape = x.shape().to_vec();
    shape[at] = most;
    let places = answered!(blocks.turned_back(&places, most, &shape)?);
    if name == "argsort" {
        return Some(Ok(Value::Tensor(places)));
    }
    let values = answered!(blocks.turned_back(&values, most, &shape)?);
    Some(Ok(Value::List(vec![Value::Tensor(values), Value::Tensor(places)])))
}

/// Writes the first elements of each row and their places.
///
/// # Safety
/// The tensors are contiguous and of the extents that `wanted` says, `from` and `values` of elements as large as an `E`, `places` of `i64`.
unsafe fn ordered<E: Element>(from: &HostTensor, values: &HostTensor, places: &HostTensor, wanted: Wanted) {
    let Wanted { rows, cols, most, .. } = wanted;
    if most == 0 || cols == 0 {
        return;
    }
    // SAFETY: the tensor is contiguous, and its elements are as large.
    let from = unsafe { std::slice::from_raw_parts(from.ptr().cast::<E>(), rows * cols) };
    let (values, places) = (Parts::new(values.ptr().cast::<E>()), Parts::new(places.ptr().cast::<i64>()));
    let write = |row: usize, first: usize, keys: &[E::Key]| {
        for (at, key) in (row * most + first..).zip(keys) {
            // SAFETY: the place is an element's of this row, which no other piece writes.
            unsafe {
                values.at(at).write(from[row * cols + key.place()]);
                places.at(at).write(key.place() as i64);
            }
        }
    };
    if cols <= PART {
        let each = PERIOD.div_ceil(cols);
        let piece = |piece: usize| {
            let mut keys = Vec::with_capacity(cols);
            for row in piece * each..rows.min((piece + 1) * each) {
                keys.clear();
                keys.extend(from[row * cols..][..cols].iter().enumerate().map(|(at, x)| x.key(at, wanted.descending)));
                write(row, 0, first(&mut keys, most));
            }
        };
        share(rows.div_ceil(each), &piece, || ticks(STEP * each * cols));
        return;
    }
    for row in 0..rows {
        let keys = in_parts(&from[row * cols..][..cols], wanted);
        let pieces = most.div_ceil(PERIOD);
        let piece = |piece: usize| {
            let range = piece * PERIOD..most.min((piece + 1) * PERIOD);
            write(row, range.start, &keys[range]);
        };
        share(pieces, &piece, || ticks(PERIOD));
    }
}

/// The first keys, in order.
fn first<K: Key>(keys: &mut [K], most: usize) -> &[K] {
    let most = most.min(keys.len());
    if most > 0 && most < keys.len() {
        keys.select_nth_unstable(most - 1);
    }
    keys[..most].sort_unstable();
    &keys[..most]
}

/// The keys of a long row, of which at least the first so many are in order: parts are ordered, then merged two by two.
fn in_parts<E: Element>(row: &[E], wanted: Wanted) -> Vec<E::Key> {
    let parts = row.len().div_ceil(PART);
    let mut keys = work::repeated(row.len(), E::Key::default());
    // No part has to keep more than what is wanted of the whole row.
    let kept = wanted.most.min(PART);
    let memory = Parts::new(keys.as_mut_ptr());
    let part = |part: usize| {
        let range = part * PART..row.len().min((part + 1) * PART);
        // SAFETY: the parts of the memory are apart.
        let keys = unsafe { std::slice::from_raw_parts_mut(memory.at(range.start), range.len()) };
        for (key, at) in keys.iter_mut().zip(range) {
            *key = row[at].key(at, wanted.descending);
        }
        first(keys, kept);
    };
    share(parts, &part, || ticks(STEP * PART));
    if kept < PART {
        for part in 1..parts {
            let range = part * PART..row.len().min(part * PART + kept);
            keys.copy_within(range, part * kept);
        }
        let last = row.len() - (parts - 1) * PART;
        keys.truncate((parts - 1) * kept + last.min(kept));
        ticks(keys.len());
    }
    let mut other = work::repeated(keys.len(), E::Key::default());
    let mut sorted = kept;
    while sorted < keys.len() {
        merge_pairs(&keys, &mut other, sorted);
        std::mem::swap(&mut keys, &mut other);
        sorted *= 2;
    }
    keys
}

/// Merges runs of `sorted` keys, two by two, in pieces.
fn merge_pairs<K: Key>(from: &[K], to: &mut [K], sorted: usize) {
    let memory = Parts::new(to.as_mut_ptr());
    let piece = |piece: usize| {
        let mut range = piece * PART..from.len().min((piece + 1) * PART);
        while !range.is_empty() {
            let begin = range.start / (2 * sorted) * (2 * sorted);
            let middle = from.len().min(begin + sorted);
            let end = from.len().min(begin + 2 * sorted);
            let stop = range.end.min(end);
            // SAFETY: the pieces of the memory are apart.
            let to = unsafe { std::slice::from_raw_parts_mut(memory.at(range.start), stop - range.start) };
            merge(&from[begin..middle], &from[middle..end], range.start - begin..stop - begin, to);
            range.start = stop;
        }
    };
    share(from.len().div_ceil(PART), &piece, || ticks(STEP * PART));
}

/// Writes a range of what two ordered runs are together.
fn merge<K: Key>(a: &[K], b: &[K], range: Range<usize>, to: &mut [K]) {
    let (mut i, mut j) = split(a, b, range.start);
    for key in to {
        let is_a = j == b.len() || i < a.len() && a[i] < b[j];
        *key = if is_a { a[i] } else { b[j] };
        (i, j) = if is_a { (i + 1, j) } else { (i, j + 1) };
    }
}

/// The numbers of keys of each run among the first `count` of both.
fn split<K: Key>(a: &[K], b: &[K], count: usize) -> (usize, usize) {
    let (mut from, mut to) = (count.saturating_sub(b.len()), count.min(a.len()));
    while from < to {
        let i = from + (to - from) / 2;
        // The key `a[i]` is among them if it is before the last of `b` that would be.
        if a[i] < b[count - i - 1] { from = i + 1 } else { to = i }
    }
    (from, count - from)
}

#[cfg(test)]
mod tests {
    use super::super::super::super::array::DeviceTag;
    use super::*;

    /// A tensor of few different elements: the ends of the type, zeros, and for floats NaN of both signs and infinities.
    fn tensor(dtype: DType, shape: &[i64]) -> HostTensor {
        let made = HostTensor::new(dtype, shape, DeviceTag::CPU, true).unwrap();
        let size = dtype.size();
        // SAFETY: the tensor is new, and has so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(made.ptr(), made.numel() as usize * size) };
        let top = match dtype {
            DType::Float16 => [0x7c00u64, 0x7e01, 0x3c00],
            DType::BFloat16 => [0x7f80, 0x7fc1, 0x3f80],
            DType::Float32 => [0x7f80_0000, 0x7fc0_0001, 0x3f80_0000],
            DType::Float64 => [0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0001, 0x3ff0_0000_0000_0000],
            _ => [u64::MAX >> 1, u64::MAX, 1],
        };
        let sign = 1u64 << (8 * size - 1);
        let mut state = 7u64;
        for element in bytes.chunks_exact_mut(size) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = match state >> 60 {
                0 => 0,
                1 => sign,
                2..5 => top[(state >> 60) as usize - 2],
                5..8 => top[(state >> 60) as usize - 5] ^ sign,
                // Some equal ones, some not.
                8..12 => state >> 8 & 3,
                _ => state >> 8,
            };
            let word = if dtype == DType::Bool { word & 1 } else { word };
            element.copy_from_slice(&word.to_le_bytes()[..size]);
        }
        made
    }

    /// The bits of a tensor's elements.
    fn bits(value: &Value) -> Vec<u64> {
        let Value::Tensor(t) = value else { panic!("a tensor") };
        let t = super::super::super::copied(t, t.dtype(), t.device()).unwrap();
        let size = t.dtype().size();
        if t.numel() == 0 {
            return Vec::new();
        }
        // SAFETY: the tensor is contiguous.
        let bytes = unsafe { std::slice::from_raw_parts(t.ptr(), t.numel() as usize * size) };
        let word = |bytes: &[u8]| {
            let mut whole = [0; 8];
            whole[..size].copy_from_slice(bytes);
            u64::from_le_bytes(whole)
        };
        bytes.chunks_exact(size).map(word).collect()
    }

    fn results(value: Value) -> Vec<Value> {
        match value {
            Value::List(all) => all,
            one => vec![one],
        }
    }

    /// Each gives the values and places that the operation's own code gives, which compares elements one by one.
    #[test]
    fn rows_are_ordered_as_the_operations_own_code_orders_them() {
        let (long, odd) = (3 * PART as i64 + 17, LEAST + 5);
        for dtype in DType::ALL {
            for (shape, at) in [(vec![3, odd], -1), (vec![odd, 3], 0), (vec![2, 1500, 3], 1), (vec![long], 0)] {
                let x = tensor(dtype, &shape);
                let extent = x.shape()[x.axis(at).unwrap()];
                for descending in [false, true] {
                    let mut calls = vec![
                        ("sort", vec![Value::Int(at), Value::Bool(descending)]),
                        ("argsort", vec![Value::Int(at), Value::Bool(descending)]),
                    ];
                    // Long rows are merged of parts, whatever their type: the own code, which is slow, orders few of them.
                    let is_long = shape == [long];
                    if is_long && !matches!(dtype, DType::Float32 | DType::Int64) {
                        continue;
                    }
                    let counts = if is_long { vec![9, PART as i64 + 3] } else { vec![0, 1, 9, extent - 1, extent] };
                    let counts = counts.into_iter().filter(|k| *k <= extent);
                    for k in counts.filter(|_| dtype != DType::Bool) {
                        calls.push(("topk", vec![Value::Int(k), Value::Int(at), Value::Bool(descending)]));
                    }
                    for (name, rest) in calls {
                        let args: Vec<Value> = [Value::Tensor(x.clone())].into_iter().chain(rest.clone()).collect();
                        let made = run(name, &args).unwrap_or_else(|| panic!("{name} {dtype} {shape:?}")).unwrap();
                        let own = super::super::super::run_own(name, args, DeviceTag::CPU).unwrap();
                        let (made, own) = (results(made), results(own));
                        // Values of 16-bit floats lose the payload of NaN in the own code, so places alone decide there.
                        let from = usize::from(made.len() == 2 && dtype.is_float());
                        for (made, own) in made.iter().zip(&own).skip(from) {
                            assert!(bits(made) == bits(own), "{name} {dtype} {shape:?} {rest:?}");
                        }
                        if from == 1 && shape.len() == 1 {
                            let all = bits(&Value::Tensor(x.clone()));
                            let picked: Vec<u64> = bits(&made[1]).iter().map(|at| all[*at as usize]).collect();
                            assert!(picked == bits(&made[0]), "{name} {dtype}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_left_to_the_own_code() {
        let x = Value::Tensor(tensor(DType::Float32, &[LEAST + 5]));
        for (name, rest) in [
            ("topk", vec![Value::Int(LEAST + 6)]),
            ("topk", vec![Value::Int(-1)]),
            ("topk", vec![Value::Float(1.0)]),
            ("sort", vec![Value::Int(1)]),
            ("sort", vec![Value::Int(0), Value::Int(1)]),
        ] {
            let args: Vec<Value> = [x.clone()].into_iter().chain(rest).collect();
            assert!(run(name, &args).is_none(), "{name}");
        }
    }
}

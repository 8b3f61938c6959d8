//! Sweeps over the elements of arrays: in pieces, counted, into memory that was asked for. Loops of operations over all elements go through
//! here.

use std::mem::MaybeUninit;

use ndarray::{ArrayD, ArrayViewD, Dimension, IxDyn, NdProducer, ShapeBuilder, Zip};

use super::super::work::{PERIOD, collected, repeated, reserved, tick, ticks};

/// Calls a closure for all elements of arrays side by side.
pub trait Sweep {
    /// An element of each.
    type Items;

    /// Visits the elements in pieces, each of them counted.
    fn sweep(self, each: impl FnMut(Self::Items));
}

macro_rules! sweep {
    ($($p:ident $v:ident),*) => {
        impl<$($p: NdProducer<Dim = D>,)* D: Dimension> Sweep for Zip<($($p,)*), D> {
            type Items = ($($p::Item,)*);

            fn sweep(self, mut each: impl FnMut(Self::Items)) {
                fn piece<$($p: NdProducer<Dim = D>,)* D: Dimension>(
                    zip: Zip<($($p,)*), D>,
                    each: &mut impl FnMut(($($p::Item,)*)),
                ) {
                    let size = zip.size();
                    if size > PERIOD {
                        let (first, second) = zip.split();
                        piece(first, each);
                        piece(second, each);
                    } else {
                        zip.for_each(|$($v),*| each(($($v,)*)));
                        ticks(size);
                    }
                }
                piece(self, &mut each);
            }
        }
    };
}

sweep!(A a);
sweep!(A a, B b);
sweep!(A a, B b, C c);
sweep!(A a, B b, C c, E e);

/// An array for results, to be filled; its dimensions lie in the order of another's of that shape.
fn unfilled<T: Copy, U: Copy>(like: &ArrayViewD<'_, T>) -> ArrayD<MaybeUninit<U>> {
    let mut memory: Vec<MaybeUninit<U>> = reserved(like.len());
    // SAFETY: so many elements are reserved, and they may hold anything.
    unsafe { memory.set_len(like.len()) };
    let is_columns = !like.is_standard_layout() && like.t().is_standard_layout();
    let shape = like.raw_dim().set_f(is_columns);
    ArrayD::from_shape_vec(shape, memory).expect("as many elements as the shape holds")
}

/// A new array of a function's result for each element.
pub fn map<T: Copy, U: Copy>(a: ArrayViewD<'_, T>, f: impl Fn(T) -> U) -> ArrayD<U> {
    let mut made = unfilled(&a);
    Zip::from(&mut made).and(a).sweep(|(to, x)| _ = to.write(f(*x)));
    // SAFETY: the sweep has filled all elements.
    unsafe { made.assume_init() }
}

/// The array with each element replaced by a function's result for it.
pub fn replaced<T: Copy>(mut a: ArrayD<T>, f: impl Fn(T) -> T) -> ArrayD<T> {
    Zip::from(&mut a).sweep(|(x,)| *x = f(*x));
    a
}

/// A new array of a function's results for elements side by side.
pub fn zipped<T: Copy, V: Copy, U: Copy>(
    a: ArrayViewD<'_, T>,
    b: ArrayViewD<'_, V>,
    f: impl Fn(T, V) -> U,
) -> ArrayD<U> {
    let mut made = unfilled(&a);
    Zip::from(&mut made).and(a).and(b).sweep(|(to, x, y)| _ = to.write(f(*x, *y)));
    // SAFETY: the sweep has filled all elements.
    unsafe { made.assume_init() }
}

/// A new array of one shape, each element made of its place.
pub fn placed<U>(shape: &[usize], f: impl FnMut(IxDyn) -> U) -> ArrayD<U> {
    let places = ndarray::indices(IxDyn(shape)).into_iter();
    shaped(shape, collected(product(shape), places.map(f)))
}

/// A new array of equal elements.
pub fn full<T: Clone>(shape: &[usize], value: T) -> ArrayD<T> {
    shaped(shape, repeated(product(shape), value))
}

/// The number of elements of a shape, or `usize::MAX` where there are more.
fn product(shape: &[usize]) -> usize {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().fold(1, |n: usize, extent| n.saturating_mul(*extent))
}

fn shaped<T>(shape: &[usize], elements: Vec<T>) -> ArrayD<T> {
    ArrayD::from_shape_vec(IxDyn(shape), elements).expect("as many elements as the shape holds")
}

/// The elements in their order, in memory of their own.
pub fn flat<T: Copy>(a: ArrayViewD<'_, T>) -> Vec<T> {
    collected(a.len(), a.iter().copied())
}

/// A copy whose elements lie in their order.
pub fn owned<T: Copy>(a: ArrayViewD<'_, T>) -> ArrayD<T> {
    let mut made = full_like_rows(&a);
    Zip::from(&mut made).and(a).sweep(|(to, x)| _ = to.write(*x));
    // SAFETY: the sweep has filled all elements.
    unsafe { made.assume_init() }
}

fn full_like_rows<T: Copy>(like: &ArrayViewD<'_, T>) -> ArrayD<MaybeUninit<T>> {
    let mut memory: Vec<MaybeUninit<T>> = reserved(like.len());
    // SAFETY: so many elements are reserved, and they may hold anything.
    unsafe { memory.set_len(like.len()) };
    ArrayD::from_shape_vec(like.raw_dim(), memory).expect("as many elements as the shape holds")
}

/// The elements of a lane, counted as they come.
pub fn along<T>(lane: &[T]) -> impl Iterator<Item = &T> {
    lane.chunks(PERIOD).flat_map(|piece| {
        ticks(piece.len());
        piece
    })
}

/// Elements of an iterator, counted one by one.
pub fn counted<I: IntoIterator>(elements: I) -> impl Iterator<Item = I::Item> {
    elements.into_iter().inspect(|_| tick())
}

//! Operations that place elements where indices say.

use ndarray::{ArrayD, Axis, IxDyn};

use super::super::answer::Answer;
use super::super::value::Value;
use super::args::Args;
use super::index::{fail, indices, shaped, with_dims, within};
use super::sweep;
use super::wide::Wide;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "scatter" | "scatter_add" => scatter(args),
        "scatter_reduce" => scatter_reduce(args),
        _ => return None,
    })
}

/// `scatter(dim, index, src or value)`, `scatter_add(dim, index, src)`
fn scatter(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let (index, _) = indices(args)?;
    let source = args.next();
    let index = if index.ndim() == 0 { index.insert_axis(Axis(0)) } else { index };
    let target = with_dims(Wide::of(&x));
    let extents = target.shape();
    if index.ndim() != extents.len() {
        return fail("Index tensor must have the same number of dimensions as self tensor".to_owned());
    }
    let source = match &source {
        Value::Tensor(t) if t.dtype() != x.dtype() => {
            return fail(format!("{}(): Expected self.dtype to be equal to src.dtype", args.name));
        }
        Value::Tensor(t) => with_dims(Wide::of(t)),
        Value::Int(_) | Value::Bool(_) | Value::Float(_) => match super::operand::checked(&source, x.dtype())? {
            Wide::Int(v) => Wide::Int(sweep::full(index.shape(), super::operand::only(&v))),
            Wide::Float(v) => Wide::Float(sweep::full(index.shape(), super::operand::only(&v))),
        },
        other => return args.misfit(other, "Tensor or a number"),
    };
    let fits = source.shape().len() == index.ndim()
        && (0..index.ndim()).all(|d| {
            index.shape()[d] as i64 <= source.shape()[d] && (d == at || index.shape()[d] as i64 <= extents[d])
        });
    if !fits && !index.is_empty() {
        return fail(format!(
            "Expected index {:?} to be no larger than self {:?} apart from dimension {at} and to be no larger size than src {:?}",
            index.shape(),
            x.shape(),
            source.shape()
        ));
    }
    let add = args.name == "scatter_add";
    check(&index, at, &extents)?;
    let made = match target {
        Wide::Int(mut a) => {
            let source = source.ints();
            for (from, to) in moves(&index, at) {
                let (value, place) = (source[&from], &mut a[&to]);
                *place = if add { place.wrapping_add(value) } else { value };
            }
            Wide::Int(a)
        }
        Wide::Float(mut a) => {
            let source = source.floats();
            for (from, to) in moves(&index, at) {
                let (value, place) = (source[&from], &mut a[&to]);
                *place = if add { *place + value } else { value };
            }
            Wide::Float(a)
        }
    };
    shaped(made, &x, x.dtype()).map(Value::Tensor)
}

/// Checks that all indices are within the dimension's extent.
///
/// # Errors
/// `RuntimeError` for one that is not.
fn check(index: &ArrayD<i64>, at: usize, extents: &[i64]) -> Answer<()> {
    for i in sweep::counted(index) {
        within(*i, at, extents[at] as usize)?;
    }
    Ok(())
}

/// The source and the target place of each element of the indices.
fn moves(index: &ArrayD<i64>, at: usize) -> impl Iterator<Item = (IxDyn, IxDyn)> {
    sweep::counted(index.indexed_iter()).map(move |(from, i)| {
        let mut to = from.clone();
        to[at] = *i as usize;
        (from, to)
    })
}

/// `scatter_reduce(dim, index, src, reduce, include_self)`
fn scatter_reduce(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let (index, _) = indices(args)?;
    let source = args.tensor()?;
    let (how, include_self) = (args.text()?, args.flag(true)?);
    if source.dtype() != x.dtype() {
        return fail("scatter(): Expected self.dtype to be equal to src.dtype".to_owned());
    }
    if !["sum", "prod", "mean", "amax", "amin"].contains(&how.as_str()) {
        return fail(format!("reduce argument must be either sum, prod, mean, amax or amin, got {how}."));
    }
    let index = if index.ndim() == 0 { index.insert_axis(Axis(0)) } else { index };
    let (target, from) = (with_dims(Wide::of(&x)), with_dims(Wide::of(&source)));
    let extents = target.shape();
    let fits = extents.len() == index.ndim()
        && from.shape().len() == index.ndim()
        && (0..index.ndim())
            .all(|d| index.shape()[d] as i64 <= from.shape()[d] && (d == at || index.shape()[d] as i64 <= extents[d]));
    if !fits && !index.is_empty() {
        return fail(format!(
            "Expected index {:?} to be no larger than self {:?} apart from dimension {at} and to be no larger size than src {:?}",
            index.shape(),
            x.shape(),
            source.shape()
        ));
    }
    check(&index, at, &extents)?;
    let shape: Vec<usize> = extents.iter().map(|n| *n as usize).collect();
    let mut counts = sweep::full(&shape, i64::from(include_self));
    macro_rules! reduced {
        ($target:ident, $source:expr, $add:expr, $mul:expr, $mean:expr) => {{
            let source = $source;
            for (from, to) in moves(&index, at) {
                let (value, count) = (source[&from], &mut counts[&to]);
                let place = &mut $target[&to];
                *place = match how.as_str() {
                    _ if *count == 0 => value,
                    "sum" | "mean" => $add(*place, value),
                    "prod" => $mul(*place, value),
                    // A NaN stays in its place.
                    "amax" if value > *place || value != value => value,
                    "amin" if value < *place || value != value => value,
                    _ => *place,
                };
                *count += 1;
            }
            if how == "mean" {
                for (place, count) in sweep::counted($target.iter_mut().zip(&counts)) {
                    *place = $mean(*place, (*count).max(1));
                }
            }
        }};
    }
    let made = match target {
        Wide::Int(mut a) => {
            reduced!(a, from.ints(), i64::wrapping_add, i64::wrapping_mul, |s: i64, n| s.div_euclid(n));
            Wide::Int(a)
        }
        Wide::Float(mut a) => {
            reduced!(a, from.floats(), |x, y| x + y, |x, y| x * y, |s: f64, n: i64| s / n as f64);
            Wide::Float(a)
        }
    };
    shaped(made, &x, x.dtype()).map(Value::Tensor)
}

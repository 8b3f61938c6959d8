//! `x.index({...})` and `x.index_put_({...}, value)`: subscripts as Python's, numbers, slices, `None`, `...`, tensors and masks.

use ndarray::{ArrayD, Dimension, IxDyn};

use super::super::answer::Answer;
use super::super::array::{Dims, HostTensor};
use super::super::value::Value;
use super::args::{Args, room};
use super::wide::Wide;
use super::{operand, sweep};
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "index" => args.tensor().and_then(|x| Subscript::read(&x, args)?.get()).map(Value::Tensor),
        "index_put_" => put(args),
        _ => return None,
    })
}

/// Extents, and a function that gives another place for each place in them.
type Picked<F> = (Vec<usize>, F);

/// The meaning of a list of subscripts: a view of the tensor, and indices into some of the view's dimensions.
struct Subscript {
    view: HostTensor,
    /// A dimension of the view, and the index into it.
    picks: Vec<(usize, ArrayD<i64>)>,
    /// True if the only tensor among the subscripts is a mask.
    is_mask: bool,
}

/// Truth values, also as bytes.
fn is_mask(t: &HostTensor) -> bool {
    matches!(t.dtype(), DType::Bool | DType::UInt8)
}

fn out_of_range<T>(index: i64, at: usize, size: i64) -> Answer<T> {
    Err((Exception::Index, format!("index {index} is out of bounds for dimension {at} with size {size}")))
}

impl Subscript {
    fn read(x: &HostTensor, args: &mut Args<'_>) -> Answer<Self> {
        let Value::List(given) = args.next() else {
            return Err((Exception::Type, "a list of indices is wanted".to_owned()));
        };
        let parts: Vec<Vec<Value>> =
            given.into_iter().map(|v| if let Value::List(all) = v { all } else { Vec::new() }).collect();
        let kind = |p: &[Value]| if let Some(Value::Int(kind)) = p.first() { *kind } else { 0 };
        let takes = |p: &[Value]| match (kind(p), p.get(1)) {
            (2 | 4, _) => 1,
            (5, Some(Value::Tensor(t))) if is_mask(t) => t.dim(),
            (5, _) => 1,
            _ => 0,
        };
        let used: usize = parts.iter().map(|p| takes(p)).sum();
        if used > x.dim() {
            return Err((Exception::Index, format!("too many indices for tensor of dimension {}", x.dim())));
        }
        let mut tensors = parts.iter().filter(|p| kind(p) == 5);
        let is_mask_alone = matches!((tensors.next().and_then(|p| p.get(1)), tensors.next()), (Some(Value::Tensor(t)), None) if is_mask(t));
        let mut subscript = Subscript { view: x.clone(), picks: Vec::new(), is_mask: is_mask_alone };
        let mut at = 0;
        for part in &parts {
            match (kind(part), part.get(1)) {
                // `...`
                (1, _) => at += x.dim() - used,
                (2, Some(Value::Int(i))) => subscript.take_place(at, *i)?,
                (4, _) => {
                    subscript.take_slice(at, part)?;
                    at += 1;
                }
                (5, Some(Value::Tensor(t))) if is_mask(t) => at = subscript.pick_masked(at, t)?,
                (5, Some(Value::Tensor(t))) => {
                    subscript.pick_indices(at, t)?;
                    at += 1;
                }
                // `None`, a truth value.
                _ => {
                    subscript.insert(at, i64::from(!matches!(part.get(1), Some(Value::Bool(false)))));
                    at += 1;
                }
            }
        }
        Ok(subscript)
    }

    /// Leaves out dimension `at` but for the place `i`, which may be counted from the end.
    fn take_place(&mut self, at: usize, i: i64) -> Answer<()> {
        let size = self.view.shape()[at];
        let place = if i < 0 { i + size } else { i };
        if place < 0 || place >= size {
            return out_of_range(i, at, size);
        }
        let (mut shape, mut strides): (Dims, Dims) = (self.view.shape().into(), self.view.strides().into());
        shape.remove(at);
        let offset = self.view.offset() + place * strides.remove(at);
        self.view = self.view.viewed(shape, strides, offset);
        Ok(())
    }

    /// Takes of dimension `at` what a slice does: after its kind its start, its stop and its step, each if it is given.
    fn take_slice(&mut self, at: usize, part: &[Value]) -> Answer<()> {
        let word = |i: usize| if let Some(Value::Int(v)) = part.get(i) { Some(*v) } else { None };
        let size = self.view.shape()[at];
        let step = word(3).unwrap_or(1);
        if step <= 0 {
            return Err((Exception::Value, "step must be greater than zero".to_owned()));
        }
        let clip = |i: i64| (if i < 0 { i.saturating_add(size) } else { i }).clamp(0, size);
        let (start, stop) = (clip(word(1).unwrap_or(0)), clip(word(2).unwrap_or(i64::MAX)));
        let len = if stop > start { (stop - start - 1) / step + 1 } else { 0 };
        let step = if len > 1 { step } else { 1 };
        let (mut shape, mut strides): (Dims, Dims) = (self.view.shape().into(), self.view.strides().into());
        let offset = self.view.offset() + if len > 0 { start * strides[at] } else { 0 };
        shape[at] = len;
        strides[at] *= step;
        self.view = self.view.viewed(shape, strides, offset);
        Ok(())
    }

    /// Inserts a dimension.
    fn insert(&mut self, at: usize, extent: i64) {
        let (mut shape, mut strides): (Dims, Dims) = (self.view.shape().into(), self.view.strides().into());
        shape.insert(at, extent);
        strides.insert(at, 1);
        self.view = self.view.viewed(shape, strides, self.view.offset());
    }

    /// Picks the places where a mask of the dimensions from `at` on holds; the dimension after those. A truth value as a tensor is one place
    /// of a dimension of its own, or none.
    fn pick_masked(&mut self, at: usize, mask: &HostTensor) -> Answer<usize> {
        if mask.dim() == 0 {
            self.insert(at, 1);
            let index = vec![0; super::index::places_of(mask).1];
            self.picks.push((at, ArrayD::from_shape_vec(IxDyn(&[index.len()]), index).unwrap_or_default()));
            return Ok(at + 1);
        }
        if mask.shape() != &self.view.shape()[at..at + mask.dim()] {
            let message = format!(
                "The shape of the mask {:?} at index {at} does not match the shape of the indexed tensor {:?} at index {at}",
                mask.shape(),
                self.view.shape()
            );
            return Err((Exception::Index, message));
        }
        let (places, count) = super::index::places_of(mask);
        for d in 0..mask.dim() {
            self.picks.push((at + d, sweep::placed(&[count], |i| places[i[0] * mask.dim() + d])));
        }
        Ok(at + mask.dim())
    }

    /// Picks the indices that a tensor holds.
    fn pick_indices(&mut self, at: usize, t: &HostTensor) -> Answer<()> {
        // One number is an index of any integer type.
        let is_index = matches!(t.dtype(), DType::Int32 | DType::Int64);
        if !is_index && (t.dim() > 0 || t.dtype().is_float()) {
            let message = "tensors used as indices must be long, int, byte or bool tensors".to_owned();
            return Err((Exception::Index, message));
        }
        self.picks.push((at, Wide::of(t).ints()));
        Ok(())
    }

    /// The result's extents, and a function that gives for each of its elements the place in the view.
    fn places(&self) -> Answer<Picked<impl Fn(&[usize]) -> IxDyn>> {
        let mut shape: Vec<i64> = Vec::new();
        for (_, index) in &self.picks {
            let own: Vec<i64> = index.shape().iter().map(|n| *n as i64).collect();
            shape = super::broadcast::broadcast(&shape, &own).map_err(|_| {
                (Exception::Index, "shape mismatch: indexing tensors could not be broadcast".to_owned())
            })?;
        }
        let picked: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
        let dims: Vec<usize> = self.picks.iter().map(|(d, _)| *d).collect();
        let first = dims.first().copied().unwrap_or(0);
        let adjacent = dims.iter().enumerate().all(|(i, d)| *d == first + i);
        let rest: Vec<usize> = (0..self.view.dim()).filter(|d| !dims.contains(d)).collect();
        let lead = if adjacent { rest.iter().filter(|d| **d < first).count() } else { 0 };
        let extent = |d: &usize| self.view.shape()[*d] as usize;
        let full: Vec<usize> = rest[..lead]
            .iter()
            .map(extent)
            .chain(picked.iter().copied())
            .chain(rest[lead..].iter().map(extent))
            .collect();
        room(&full.iter().map(|n| *n as i64).collect::<Vec<_>>())?;
        let mut indices = Vec::new();
        for (d, index) in &self.picks {
            let size = self.view.shape()[*d];
            if let Some(i) = sweep::counted(index).find(|i| **i < -size || **i >= size) {
                return out_of_range(*i, *d, size);
            }
            let index = sweep::map(index.view(), |i| if i < 0 { i + size } else { i } as usize);
            indices.push(index.broadcast(IxDyn(&picked)).map(sweep::owned).unwrap_or_default());
        }
        let places = move |p: &[usize]| {
            let at = IxDyn(&p[lead..lead + picked.len()]);
            let mut place = IxDyn::zeros(self.view.dim());
            for (i, d) in rest.iter().enumerate() {
                place[*d] = if i < lead { p[i] } else { p[i + picked.len()] };
            }
            for ((d, _), index) in self.picks.iter().zip(&indices) {
                place[*d] = index[&at];
            }
            place
        };
        Ok((full, places))
    }

    fn get(self) -> Answer<HostTensor> {
        if self.picks.is_empty() {
            return Ok(self.view);
        }
        let (shape, places) = self.places()?;
        let made = match Wide::of(&self.view) {
            Wide::Float(a) => Wide::Float(sweep::placed(&shape, |p| a[places(p.slice())])),
            Wide::Int(a) => Wide::Int(sweep::placed(&shape, |p| a[places(p.slice())])),
        };
        made.tensor(self.view.dtype(), self.view.device())
    }
}

/// `index_put_(self, indices, value, accumulate)`
fn put(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let subscript = Subscript::read(&x, args)?;
    let value = args.next();
    let add = args.flag(false)?;
    let value = match value {
        // One value for a mask fills it, whatever its type; other values have the target's type.
        Value::Tensor(t) if t.dtype() == x.dtype() || subscript.picks.is_empty() => Wide::of(&t),
        Value::Tensor(t) if t.numel() == 1 && subscript.is_mask && !add => {
            operand::checked(&Value::Tensor(t.viewed(Dims::new(), Dims::new(), t.offset())), x.dtype())?
        }
        Value::Tensor(t) => {
            let name = super::super::value::cpp_name;
            let message = format!(
                "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
                name(x.dtype()),
                name(t.dtype())
            );
            return Err((Exception::Runtime, message));
        }
        number @ (Value::Int(_) | Value::Bool(_) | Value::Float(_)) => operand::checked(&number, x.dtype())?,
        other => return args.misfit(&other, "Tensor or a number"),
    };
    if subscript.picks.is_empty() && !add {
        value.write(&subscript.view)?;
        return Ok(Value::Tensor(x));
    }
    let (shape, places) = subscript.places()?;
    let misfit = |s: Vec<i64>| {
        let message = format!(
            "shape mismatch: value tensor of shape {s:?} cannot be broadcast to indexing result of shape {shape:?}"
        );
        (Exception::Runtime, message)
    };
    let made = match Wide::of(&subscript.view) {
        Wide::Float(mut a) => {
            let value = value.floats();
            let value = value.broadcast(IxDyn(&shape)).ok_or_else(|| misfit(Wide::Float(value.clone()).shape()))?;
            for (p, v) in sweep::counted(value.indexed_iter()) {
                let slot = &mut a[places(p.slice())];
                *slot = if add { *slot + v } else { *v };
            }
            Wide::Float(a)
        }
        Wide::Int(mut a) => {
            let value = value.ints();
            let value = value.broadcast(IxDyn(&shape)).ok_or_else(|| misfit(Wide::Int(value.clone()).shape()))?;
            for (p, v) in sweep::counted(value.indexed_iter()) {
                let slot = &mut a[places(p.slice())];
                *slot = if add { slot.wrapping_add(*v) } else { *v };
            }
            Wide::Int(a)
        }
    };
    made.write(&subscript.view)?;
    Ok(Value::Tensor(x))
}

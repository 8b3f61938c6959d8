//! Operations that order elements, and find places among ordered ones.

use ndarray::{ArrayD, Axis};

use super::super::answer::Answer;
use super::super::value::Value;
use super::super::work::{self, tick};
use super::args::{Args, not_implemented};
use super::index::{fail, shaped, with_dims};
use super::sweep;
use super::wide::{Wide, each};
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "sort" | "argsort" | "topk" => sorted(args),
        "cummax" | "cummin" => extremes(args),
        "searchsorted" => searched(args),
        _ => return None,
    })
}

/// The order of a lane: stable, NaN after all numbers.
pub(super) fn order<T: PartialOrd + Copy>(lane: &[T], descending: bool) -> Vec<usize> {
    let is_nan = |v: T| v.partial_cmp(&v).is_none();
    let mut places = work::collected(lane.len(), 0..lane.len());
    // The memory that the sort itself takes besides.
    work::need::<usize>(lane.len());
    places.sort_by(|&i, &j| {
        tick();
        let (a, b) = (lane[i], lane[j]);
        let ascending = a.partial_cmp(&b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)));
        if descending { ascending.reverse() } else { ascending }
    });
    places
}

/// `sort(dim, descending)`, `argsort(dim, descending)`, `topk(k, dim, largest, sorted)`
fn sorted(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let most = if args.name == "topk" { Some(args.int(1)?) } else { None };
    let at = x.axis(args.int(-1)?)?;
    let descending = args.flag(most.is_some())?;
    // The bits of unsigned numbers of 64 bits order as signed ones do with the first bit turned.
    let turned = |wide: Wide| match wide {
        Wide::Int(a) if x.dtype() == DType::UInt64 => Wide::Int(sweep::replaced(a, |bits| bits ^ i64::MIN)),
        other => other,
    };
    let wide = turned(with_dims(Wide::of(&x)));
    let extent = wide.shape()[at];
    if most.is_some() && x.dtype() == DType::Bool {
        return not_implemented("topk does not support bool dtypes on CPU", x.dtype());
    }
    if most.is_some_and(|k| k < 0 || k > extent) {
        return fail("selected index k out of range".to_owned());
    }
    let mut shape: Vec<usize> = wide.shape().iter().map(|n| *n as usize).collect();
    shape[at] = most.unwrap_or(extent) as usize;
    let mut places = sweep::full(&shape, 0i64);
    macro_rules! fill {
        ($a:expr) => {{
            let mut values = sweep::full(&shape, Default::default());
            for ((lane, mut value), mut place) in
                $a.lanes(Axis(at)).into_iter().zip(values.lanes_mut(Axis(at))).zip(places.lanes_mut(Axis(at)))
            {
                let lane = work::collected(lane.len(), lane.iter().copied());
                let order = order(&lane, descending);
                for (i, from) in order.into_iter().take(place.len()).enumerate() {
                    (value[i], place[i]) = (lane[from], from as i64);
                }
            }
            values
        }};
    }
    let values = turned(each!(wide, a => fill!(a)));
    let places = shaped(Wide::Int(places), &x, DType::Int64).map(Value::Tensor)?;
    if args.name == "argsort" {
        return Ok(places);
    }
    Ok(Value::List(vec![Value::Tensor(shaped(values, &x, x.dtype())?), places]))
}

/// `cummax(dim)`, `cummin(dim)`: the last of equal ones, and a NaN from where the first is.
fn extremes(args: &mut Args<'_>) -> Answer<Value> {
    let x = args.tensor()?;
    let at = x.axis(args.int(0)?)?;
    let largest = args.name == "cummax";
    let wide = with_dims(Wide::of(&x));
    let shape: Vec<usize> = wide.shape().iter().map(|n| *n as usize).collect();
    let mut places = sweep::full(&shape, 0i64);
    let values = each!(wide, a => {
        let mut a = a;
        for (mut lane, mut place) in a.lanes_mut(Axis(at)).into_iter().zip(places.lanes_mut(Axis(at))) {
            let is_nan = |v: &_| PartialOrd::partial_cmp(v, v).is_none();
            let mut best = None;
            for (i, value) in lane.iter_mut().enumerate() {
                tick();
                let wins = match best {
                    None => true,
                    Some((b, _)) => is_nan(value) || !is_nan(&b) && if largest { *value >= b } else { *value <= b },
                };
                let (b, at) = if wins { (*value, i as i64) } else { best.unwrap_or((*value, 0)) };
                best = Some((b, at));
                (*value, place[i]) = (b, at);
            }
        }
        a
    });
    let places = shaped(Wide::Int(places), &x, DType::Int64)?;
    Ok(Value::List(vec![Value::Tensor(shaped(values, &x, x.dtype())?), Value::Tensor(places)]))
}

/// `searchsorted(sorted, values, right)`: for each value the number of elements of the last dimension that are less than it, or at
/// most as large. NaN is past all.
fn searched(args: &mut Args<'_>) -> Answer<Value> {
    let (sorted, values) = (args.tensor()?, args.tensor()?);
    let right = args.flag(false)?;
    let one = sorted.dim() == 1;
    let front = |n: usize| n.max(1) - 1;
    if sorted.dim() == 0
        || !one
            && (sorted.dim() != values.dim()
                || sorted.shape()[..front(sorted.dim())] != values.shape()[..front(values.dim())])
    {
        return fail(format!(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and \
             input value tensor must match, but we got boundaries tensor {:?} and input value tensor {:?}",
            sorted.shape(),
            values.shape()
        ));
    }
    let made = match (Wide::of(&sorted), Wide::of(&values)) {
        (Wide::Int(a), Wide::Int(v)) => places(&a, &v, one, right),
        (a, v) => places(&a.floats(), &v.floats(), one, right),
    };
    Wide::Int(made).tensor(DType::Int64, values.device()).map(Value::Tensor)
}

fn places<T: Copy + PartialOrd>(sorted: &ArrayD<T>, values: &ArrayD<T>, one: bool, right: bool) -> ArrayD<i64> {
    // A value that is not comparable (NaN) counts as smaller than the one looked for, step by step as torch halves.
    let find = |lane: &[T], value: &T| {
        let (mut from, mut to) = (0, lane.len());
        while from < to {
            let middle = from + (to - from) / 2;
            let is_past = if right { lane[middle] > *value } else { lane[middle] >= *value };
            if is_past { to = middle } else { from = middle + 1 }
        }
        from as i64
    };
    if one {
        let lane = sweep::flat(sorted.view());
        return sweep::map(values.view(), |value| find(&lane, &value));
    }
    let last = Axis(sorted.ndim() - 1);
    let mut made = sweep::full(values.shape(), 0i64);
    let lanes = sorted.lanes(last).into_iter().zip(values.lanes(last)).zip(made.lanes_mut(last));
    for ((lane, asked), mut to) in lanes {
        let lane = work::collected(lane.len(), lane.iter().copied());
        for (value, place) in sweep::counted(asked.iter().zip(to.iter_mut())) {
            *place = find(&lane, value);
        }
    }
    made
}

//! References of checks as plain functions of arrays: `|a, b, c| &a * &b + &c`.

use ndarray::{ArrayD, ArrayViewD, IxDyn};

use crate::ops::{IntoArgs, OwnedArg};
use crate::runtime::{DType, Error, Result, Tensor};

/// Arguments of a check: a tuple of up to eight arrays and numbers. The tuple gives the type of the reference, so that a closure written
/// there needs no types.
pub trait CheckArgs: IntoArgs {
    /// A function of as many `ArrayViewD<f64>` as there are arguments.
    type Reference;

    /// The result of the reference for arguments; arguments beyond the tuple's length are defaults.
    ///
    /// # Errors
    /// [`Error::Argument`] for an argument that is no array of numbers and no number.
    fn apply(reference: Self::Reference, args: &[OwnedArg]) -> Result<Tensor>;
}

/// An argument in double precision.
fn array(args: &[OwnedArg], i: usize) -> Result<ArrayD<f64>> {
    let number = |v: f64| ArrayD::from_elem(IxDyn(&[]), v);
    match args.get(i) {
        Some(OwnedArg::Tensor(tensor)) => tensor.cast(DType::Float64)?.to_array(),
        Some(OwnedArg::Int(v)) => Ok(number(*v as f64)),
        Some(OwnedArg::Float(v)) => Ok(number(*v)),
        Some(OwnedArg::Bool(v)) => Ok(number(f64::from(u8::from(*v)))),
        Some(OwnedArg::Str(_) | OwnedArg::None) | None => Err(Error::argument(format!(
            "argument {i} of a check is neither an array nor a number; give the reference to `check_with`"
        ))),
    }
}

macro_rules! references {
    ($(($($t:ident $view:ident $i:tt),+);)*) => {$(
        impl<$($t: Into<OwnedArg>),+> CheckArgs for ($($t,)+) {
            type Reference = fn($(references!(@view $view)),+) -> ArrayD<f64>;

            fn apply(reference: Self::Reference, args: &[OwnedArg]) -> Result<Tensor> {
                let arrays = ($(array(args, $i)?,)+);
                Ok(Tensor::from_array(&reference($(arrays.$i.view()),+)))
            }
        }
    )*};
    (@view $view:ident) => { ArrayViewD<'_, f64> };
}

references! {
    (A a 0);
    (A a 0, B b 1);
    (A a 0, B b 1, C c 2);
    (A a 0, B b 1, C c 2, D d 3);
    (A a 0, B b 1, C c 2, D d 3, E e 4);
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6);
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7);
}

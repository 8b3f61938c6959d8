//! Calls from Rust: `op.call((&a, &b, 2.0))?.into_array::<f32>()?`.

use ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, Dimension};
use smallvec::SmallVec;

use super::plan::Run;
use super::plan::{ArgValue, ArrayRef, RunConfig};
use super::registry::{Implementation, Op};
use super::schema::{Argument, Default, Schema};
use crate::front::nearest;
use crate::plural::{is_or_are, plural};
use crate::runtime::arrange::{Misarranged, Parameter, arrange};
use crate::runtime::{Element, Error, Report, Result, Tensor};

/// An argument that owns its array.
#[derive(Debug, Clone)]
pub enum OwnedArg {
    /// An array.
    Tensor(Tensor),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Text.
    Str(String),
    /// Nothing.
    None,
}

impl OwnedArg {
    /// The array, if it is one.
    pub fn tensor(&self) -> Option<&Tensor> {
        if let OwnedArg::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    /// The value of a schema's default, where it is a number, a text or nothing.
    pub fn of_default(default: &Default) -> Option<Self> {
        Some(match default {
            Default::Int(v) => OwnedArg::Int(*v),
            Default::Float(v) => OwnedArg::Float(*v),
            Default::Bool(v) => OwnedArg::Bool(*v),
            Default::Str(v) => OwnedArg::Str(v.clone()),
            Default::None => OwnedArg::None,
            Default::Imaginary(_) | Default::List(_) => return None,
        })
    }

    /// The array as an ndarray view.
    ///
    /// # Errors
    /// [`Error::Argument`] when it is no array, or its elements are of another type.
    pub fn view<T: Element>(&self) -> Result<ArrayViewD<'_, T>> {
        match self {
            OwnedArg::Tensor(tensor) => tensor.view(),
            _ => Err(Error::argument("an array is wanted, and the argument is none")),
        }
    }

    /// The number, whatever its type.
    ///
    /// # Errors
    /// [`Error::Argument`] when it is none.
    pub fn number(&self) -> Result<f64> {
        match self {
            OwnedArg::Int(v) => Ok(*v as f64),
            OwnedArg::Float(v) => Ok(*v),
            OwnedArg::Bool(v) => Ok(f64::from(u8::from(*v))),
            _ => Err(Error::argument("a number is wanted, and the argument is none")),
        }
    }

    /// The argument lent to a call.
    pub fn value(&mut self) -> ArgValue<'_> {
        match self {
            OwnedArg::Tensor(t) => ArgValue::Array(ArrayRef {
                ptr: t.as_mut_ptr(),
                dtype: t.dtype(),
                shape: t.shape().iter().map(|&d| d as i64).collect(),
                writable: true,
            }),
            OwnedArg::Int(v) => ArgValue::Int(*v),
            OwnedArg::Float(v) => ArgValue::Float(*v),
            OwnedArg::Bool(v) => ArgValue::Bool(*v),
            OwnedArg::Str(s) => ArgValue::Str(s),
            OwnedArg::None => ArgValue::None,
        }
    }
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> From<&ArrayBase<S, D>> for OwnedArg {
    fn from(array: &ArrayBase<S, D>) -> Self {
        OwnedArg::Tensor(Tensor::from_array(array))
    }
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> From<ArrayBase<S, D>> for OwnedArg {
    fn from(array: ArrayBase<S, D>) -> Self {
        OwnedArg::from(&array)
    }
}

impl From<&Tensor> for OwnedArg {
    fn from(tensor: &Tensor) -> Self {
        OwnedArg::Tensor(tensor.clone())
    }
}

impl From<Tensor> for OwnedArg {
    fn from(tensor: Tensor) -> Self {
        OwnedArg::Tensor(tensor)
    }
}

macro_rules! scalars {
    ($($ty:ty => $variant:ident, $wide:ty;)*) => {$(
        impl From<$ty> for OwnedArg {
            fn from(value: $ty) -> Self {
                OwnedArg::$variant(<$wide>::from(value))
            }
        }
    )*};
}

scalars! { bool => Bool, bool; i32 => Int, i64; i64 => Int, i64; u32 => Int, i64; f32 => Float, f64; f64 => Float, f64; }

/// The arguments of a call: a tuple of up to eight arrays and numbers, or a list of [`OwnedArg`]s.
pub trait IntoArgs {
    /// The arguments in order.
    fn into_args(self) -> Vec<OwnedArg>;
}

impl IntoArgs for Vec<OwnedArg> {
    fn into_args(self) -> Vec<OwnedArg> {
        self
    }
}

impl IntoArgs for &[OwnedArg] {
    fn into_args(self) -> Vec<OwnedArg> {
        self.to_vec()
    }
}

macro_rules! tuples {
    ($(($($t:ident $i:tt),+);)*) => {$(
        impl<$($t: Into<OwnedArg>),+> IntoArgs for ($($t,)+) {
            fn into_args(self) -> Vec<OwnedArg> {
                vec![$(self.$i.into()),+]
            }
        }
    )*};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

/// The results of a call.
#[derive(Debug, Clone)]
pub struct Outputs {
    /// The fresh outputs, in order.
    pub tensors: Vec<Tensor>,
    /// The arguments after the call: the written ones have their new contents.
    pub args: Vec<OwnedArg>,
    /// The report of the run, with the text that the kernel printed.
    pub report: Report,
}

impl Outputs {
    /// The only output as an ndarray array.
    ///
    /// # Errors
    /// [`Error::Argument`] when there are several, or the element type is another.
    pub fn into_array<T: Element>(self) -> Result<ArrayD<T>> {
        match self.tensors.as_slice() {
            [only] => only.to_array(),
            many => Err(Error::argument(format!("the operator has {} outputs; take them from `tensors`", many.len()))),
        }
    }
}

/// Appends the defaults of the arguments not given.
///
/// # Errors
/// [`Error::Argument`] naming the argument that is missing or too many.
pub fn fill_defaults(schema: &Schema, args: &mut Vec<OwnedArg>) -> Result<()> {
    // Given arguments stay where they are.
    let given = std::iter::repeat_n((), args.len());
    let put = |at: usize, value: Option<()>| {
        let arg = &schema.args[at];
        if value.is_some() {
            return Ok(());
        }
        args.push(arg.default.as_ref().and_then(OwnedArg::of_default).ok_or_else(|| {
            let default = arg.default.as_ref().map(ToString::to_string).unwrap_or_default();
            let name = schema.qualified_name();
            Error::argument(format!("`{name}`: give argument `{}`; its default `{default}` is no number", arg.name))
        })?);
        Ok(())
    };
    let wrong = |wrong| match wrong {
        Misarranged::TooMany { most, given } => {
            Error::argument(format!("`{}` takes {most} arguments, {given} given", schema.qualified_name()))
        }
        wrong => misarranged(schema, wrong),
    };
    arrange(&schema.args, schema.args.len(), given, &mut Vec::new(), put, wrong)
}

impl Parameter for Argument {
    fn name(&self) -> &str {
        &self.name
    }

    fn has_default(&self) -> bool {
        self.default.is_some()
    }
}

/// The error about arguments that a schema does not take.
pub fn misarranged(schema: &Schema, wrong: Misarranged) -> Error {
    let name = schema.qualified_name();
    Error::argument(match wrong {
        Misarranged::TooMany { most, given } => {
            format!("`{name}` takes {} by position, {given} given: {schema}", plural(most, "argument"))
        }
        Misarranged::Twice(at) => format!("`{name}`: argument `{}` is given twice", schema.args[at].name),
        Misarranged::Missing { at, unknown: None } => {
            format!("`{name}`: argument `{}` is missing", schema.args[at].name)
        }
        // A misspelt keyword is the reason why an argument is missing.
        Misarranged::Missing { unknown: Some(keyword), .. } | Misarranged::Unknown(keyword) => {
            unknown_argument(schema, &keyword)
        }
    })
}

/// The message about a keyword that no argument has, with the nearest name that one has.
pub fn unknown_argument(schema: &Schema, keyword: &str) -> String {
    let near = nearest(keyword, schema.args.iter().map(|a| a.name.as_str()));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("`{}` has no argument `{keyword}`{hint} ({schema})", schema.qualified_name())
}

impl Op {
    /// Calls the operator on copies of the arguments; written ones come back in [`Outputs::args`].
    ///
    /// # Errors
    /// As [`Op::plan`] and [`Op::run`].
    pub fn call(&self, args: impl IntoArgs) -> Result<Outputs> {
        self.call_with(args, &RunConfig::default())
    }

    /// [`Op::call`] with a timeout or an interrupt.
    ///
    /// # Errors
    /// As [`Op::plan`] and [`Op::run`].
    pub fn call_with(&self, args: impl IntoArgs, config: &RunConfig<'_>) -> Result<Outputs> {
        self.call_filled(args.into_args(), config, false)
    }

    /// [`Op::call_with`] on fresh outputs that are zeroed, if they are the kernel's, where those of other calls hold the poison.
    ///
    /// # Errors
    /// As [`Op::call_with`].
    pub fn call_zeroed(&self, args: impl IntoArgs, config: &RunConfig<'_>) -> Result<Outputs> {
        self.call_filled(args.into_args(), config, true)
    }

    fn call_filled(&self, mut args: Vec<OwnedArg>, config: &RunConfig<'_>, is_zeroed: bool) -> Result<Outputs> {
        let definition = self.definition();
        fill_defaults(&definition.schema, &mut args)?;
        let values: SmallVec<[ArgValue<'_>; 8]> = args.iter_mut().map(OwnedArg::value).collect();
        let plan = self.plan(&values)?;
        if let Run::Host(implementation) = &plan.run
            && let Implementation::Host(f) = &**implementation
        {
            drop(values);
            let tensors = f(&args)?;
            if tensors.len() != definition.output_count() {
                return Err(Error::argument(format!(
                    "`{}`: its host function returned {}, and there {} {}",
                    self.name(),
                    plural(tensors.len(), "tensor"),
                    is_or_are(definition.output_count()),
                    plural(definition.output_count(), "output"),
                )));
            }
            // The shapes of a closure without a rule are its own.
            if definition.signature.is_some() || definition.shape_fn.is_some() {
                for (k, (tensor, said)) in tensors.iter().zip(&plan.outputs).enumerate() {
                    let same = tensor.shape().iter().map(|&d| d as i64).eq(said.shape.iter().copied());
                    if !same || tensor.dtype() != said.dtype {
                        return Err(Error::argument(format!(
                            "`{}`: its host function returned {} {:?} for output {k}, and its shape rule says {} {:?}",
                            self.name(),
                            tensor.dtype(),
                            tensor.shape(),
                            said.dtype,
                            said.shape.as_slice()
                        )));
                    }
                }
            }
            return Ok(Outputs { tensors, args, report: Report::default() });
        }
        let shape = |s: &[i64]| s.iter().map(|&d| d as usize).collect::<Vec<_>>();
        // Poison shows elements that a kernel forgot to write.
        let mut tensors: Vec<Tensor> = plan
            .outputs
            .iter()
            .map(|o| Tensor::try_poisoned(o.dtype, &shape(&o.shape)))
            .collect::<Result<_>>()
            .map_err(|e| Error::argument(format!("`{}`: {e}", self.name())))?;
        if is_zeroed {
            tensors = tensors.iter().map(|tensor| Tensor::zeros(tensor.dtype(), tensor.shape())).collect();
        }
        let pointers: SmallVec<[*mut u8; 4]> = tensors.iter_mut().map(Tensor::as_mut_ptr).collect();
        let report = self.run(&plan, &values, &pointers, config)?;
        drop(values);
        Ok(Outputs { tensors, args, report })
    }
}

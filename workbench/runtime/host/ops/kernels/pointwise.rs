//! Operations element by element: one kernel for each expression, element type and form of layout.

use smallvec::SmallVec;

use super::super::super::answer::Answer;
use super::super::super::array::HostTensor;
use super::super::super::value::Value;
use super::super::broadcast::broadcast;
use super::super::operand;
use super::super::promote::result_type;
use super::compiled::{self, Key, int};
use super::elements::{LEAST, computed_in, float_name, headers, is_aligned};
use super::layout::{Layout, MOST};
use crate::back::RawArg;
use crate::runtime::DType;

/// Functions of one tensor, each as an expression of its element `x` of type `T`.
const UNARY: &[(&str, &str)] = &[
    ("exp", "exp(x)"),
    ("exp2", "exp2(x)"),
    ("expm1", "expm1(x)"),
    ("log", "log(x)"),
    ("log2", "log2(x)"),
    ("log10", "log10(x)"),
    ("log1p", "log1p(x)"),
    ("sqrt", "sqrt(x)"),
    ("sin", "sin(x)"),
    ("cos", "cos(x)"),
    ("tan", "tan(x)"),
    ("asin", "asin(x)"),
    ("acos", "acos(x)"),
    ("atan", "atan(x)"),
    ("sinh", "sinh(x)"),
    ("cosh", "cosh(x)"),
    ("tanh", "tanh(x)"),
    ("sigmoid", "T(1) / (T(1) + exp(-x))"),
    ("erf", "erf(x)"),
    ("erfc", "erfc(x)"),
    ("erfinv", "erfinv(x)"),
    // The logarithm and the product are two steps, each rounded to the element type `E`.
    ("special_entr", "x > T(0) ? -x * (T)(E)log(x) : x == T(0) ? T(0) : x != x ? x : T(-INFINITY)"),
    ("reciprocal", "T(1) / x"),
    ("abs", "fabs(x)"),
    ("neg", "-x"),
    ("relu", "x < T(0) ? T(0) : x"),
    ("square", "x * x"),
    ("sign", "x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0)"),
    ("floor", "floor(x)"),
    ("ceil", "ceil(x)"),
    ("round", "rint(x)"),
    ("trunc", "trunc(x)"),
    ("silu", "x / (T(1) + exp(-x))"),
    ("mish", "x * tanh(log1p(exp(x)))"),
    // Klambauer et al. 2017, eq. 14.
    ("selu", "T(1.0507009873554805) * (x > T(0) ? x : T(1.6732632423543773) * expm1(x))"),
    ("hardswish", "x * fmin(fmax(x + T(3), T(0)), T(6)) / T(6)"),
    ("hardsigmoid", "x + T(3) < T(0) ? T(0) : x + T(3) > T(6) ? T(1) : (x + T(3)) / T(6)"),
    ("log_sigmoid", "fmin(x, T(0)) - log1p(exp(-fabs(x)))"),
];

/// Activation functions with parameters `y` and `z`, and what these are where they are not given.
const WITH_PARAMETERS: &[(&str, &str, &[f64])] = &[
    ("leaky_relu", "x > T(0) ? x : x * y", &[0.01]),
    ("elu", "x >= T(0) ? x : expm1(x) * y", &[1.0]),
    ("softplus", "x * y > z ? x : (fmax(x * y, T(0)) + log1p(exp(-fabs(x * y)))) / y", &[1.0, 20.0]),
];

/// The reciprocal of the root is two steps, each rounded to the element type `E`.
const RSQRT: &str = "T(1) / (T)(E)sqrt(x)";

/// `gelu`, by the error function and by the hyperbolic tangent (Hendrycks and Gimpel 2016).
const GELU: [&str; 2] = [
    "T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752)))",
    "T(0.5) * x * (T(1) + tanh(T(0.79788456080286536) * (x + T(0.044715) * x * x * x)))",
];

/// Operations on two operands `x` and `y`.
const BINARY: &[(&str, &str)] = &[
    ("add", "x + y"),
    ("sub", "x - y"),
    ("mul", "x * y"),
    ("div", "x / y"),
    ("maximum", "x != x || x > y ? x : y"),
    ("minimum", "x != x || x < y ? x : y"),
    ("pow", "pow(x, y)"),
    // The logarithm and the product are two steps, each rounded to the element type `E`.
    ("special_xlog1py", "y != y ? y : x == T(0) ? T(0) : x * (T)(E)log1p(y)"),
];

/// Comparisons of two operands.
const COMPARED: &[(&str, &str)] =
    &[("eq", "x == y"), ("ne", "x != y"), ("lt", "x < y"), ("le", "x <= y"), ("gt", "x > y"), ("ge", "x >= y")];

/// Powers that torch computes without a power: the exponent and the expression. No root is taken of `c10::Half`.
const POWERS: &[(f64, &str)] = &[
    (0.5, "sqrt(x)"),
    (-0.5, "T(1) / sqrt(x)"),
    (2.0, "x * x"),
    (3.0, "x * x * x"),
    (-1.0, "T(1) / x"),
    (-2.0, "T(1) / (x * x)"),
];

/// Integers up to this size are numbers of type `double`.
const EXACT: i64 = 1 << 53;

/// An operand of an expression.
enum Operand<'a> {
    Tensor(&'a HostTensor),
    /// A number, rounded to the type that it takes part with.
    Number(f64),
}

/// An operation that a kernel computes.
struct Form<'a> {
    expression: &'static str,
    /// `x`, `y` and `z` of the expression.
    operands: SmallVec<[Operand<'a>; 3]>,
    /// The type of the elements that are computed with.
    from: DType,
    /// The type of the result's elements.
    to: DType,
    /// True if the result's dimensions lie in the order of the first operand that is as large.
    keeps_order: bool,
}

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == name).map(|(_, expression)| *expression)
}

/// A number rounded to a type; `None` where the type does not hold it, or where it is none.
fn number(value: &Value, dtype: DType) -> Option<f64> {
    let exact = match value {
        Value::Float(x) => *x,
        Value::Int(i) if i.unsigned_abs() <= EXACT as u64 => *i as f64,
        _ => return None,
    };
    let rounded = operand::rounded(dtype)(exact);
    (rounded.is_finite() || !exact.is_finite()).then_some(rounded)
}

/// An operand that is brought to a type only by rounding a number.
fn operand_of(value: &Value, from: DType, of_numbers: DType) -> Option<Operand<'_>> {
    match value {
        Value::Tensor(t) => (t.dtype() == from).then_some(Operand::Tensor(t)),
        value => number(value, of_numbers).map(Operand::Number),
    }
}

impl<'a> Form<'a> {
    fn of(name: &str, args: &'a [Value]) -> Option<Self> {
        match args {
            [Value::Tensor(x), rest @ ..] if x.dtype().is_float() => {
                let expression = match (name, rest) {
                    ("rsqrt", []) => RSQRT,
                    ("gelu", [] | [Value::None]) => GELU[0],
                    ("gelu", [Value::Text(how)]) if how == "none" => GELU[0],
                    ("gelu", [Value::Text(how)]) if how == "tanh" => GELU[1],
                    (name, []) => find(UNARY, name)?,
                    _ => return Form::of_several(name, args),
                };
                let operands = [Operand::Tensor(x)].into_iter().collect();
                let keeps_order =
                    !matches!(name, "gelu" | "silu" | "mish" | "selu" | "hardswish" | "hardsigmoid" | "log_sigmoid");
                Some(Form { expression, operands, from: x.dtype(), to: x.dtype(), keeps_order })
            }
            _ => Form::of_several(name, args),
        }
    }

    /// An activation function with its parameters, which have the precision of the computation.
    fn with_parameters(name: &str, x: &'a HostTensor, given: &[Value]) -> Option<Self> {
        let (_, expression, defaults) = WITH_PARAMETERS.iter().find(|(known, ..)| *known == name)?;
        let mut operands: SmallVec<[Operand<'a>; 3]> = SmallVec::new();
        operands.push(Operand::Tensor(x));
        for (i, default) in defaults.iter().enumerate() {
            let value = match given.get(i) {
                None | Some(Value::None) => operand::rounded(operand::opmath(x.dtype()))(*default),
                Some(value) => number(value, operand::opmath(x.dtype()))?,
            };
            operands.push(Operand::Number(value));
        }
        // The scales of `elu`, which are rarely given, are for its own code.
        let is_one = |value: &Value| match value {
            Value::None | Value::Int(1) => true,
            Value::Float(scale) => *scale == 1.0,
            _ => false,
        };
        let are_left = given.get(defaults.len()..).unwrap_or_default().iter().all(is_one);
        are_left.then_some(Form { expression, operands, from: x.dtype(), to: x.dtype(), keeps_order: false })
    }

    fn of_several(name: &str, args: &'a [Value]) -> Option<Self> {
        match (name, args) {
            ("leaky_relu" | "elu" | "softplus", [Value::Tensor(x), given @ ..]) if x.dtype().is_float() => {
                Form::with_parameters(name, x, given)
            }
            // A factor of the second operand is for the operation's own code.
            ("add" | "sub", [x, y] | [x, y, Value::None | Value::Int(1)])
            | ("mul" | "maximum" | "minimum" | "pow" | "special_xlog1py", [x, y])
            | ("div", [x, y] | [x, y, Value::None]) => {
                let (dtype, second) = operand::types(name, x, y);
                let mut expression = find(BINARY, name)?;
                let mut operands: SmallVec<[Operand<'a>; 3]> = SmallVec::new();
                operands.push(operand_of(x, dtype, dtype)?);
                let y = operand_of(y, dtype, second)?;
                if let (Operand::Number(power), "pow") = (&y, name) {
                    let simple = POWERS.iter().find(|(known, _)| known == power);
                    let takes_roots = dtype != DType::Float16 || power.fract() == 0.0;
                    if let Some((_, simple)) = simple.filter(|_| takes_roots) {
                        expression = simple;
                    }
                }
                operands.push(y);
                Form { expression, operands, from: dtype, to: dtype, keeps_order: true }.checked()
            }
            ("eq" | "ne" | "lt" | "le" | "gt" | "ge", [x, y]) => {
                let (dtype, _) = operand::types(name, x, y);
                let operands = [operand_of(x, dtype, dtype)?, operand_of(y, dtype, dtype)?].into_iter().collect();
                let expression = find(COMPARED, name)?;
                Form { expression, operands, from: dtype, to: DType::Bool, keeps_order: true }.checked()
            }
            ("where", [Value::Tensor(which), x, y]) if which.dtype() == DType::Bool => {
                let dtype = result_type(&[x, y]);
                let (x, y) = (operand_of(x, dtype, dtype)?, operand_of(y, dtype, dtype)?);
                let operands = [x, y, Operand::Tensor(which)].into_iter().collect();
                Form { expression: "z ? x : y", operands, from: dtype, to: dtype, keeps_order: false }.checked()
            }
            ("clamp_min", [x, low]) => Form::clamp(x, low, &Value::None),
            ("clamp_max", [x, high]) => Form::clamp(x, &Value::None, high),
            ("clamp", [_, Value::None, Value::None]) => None,
            ("clamp", [x, low, high]) => Form::clamp(x, low, high),
            _ => None,
        }
    }

    fn clamp(x: &'a Value, low: &Value, high: &Value) -> Option<Self> {
        let Value::Tensor(tensor) = x else { return None };
        let dtype = result_type(&[x, low, high]);
        let bound = |value: &Value, none: f64| match value {
            Value::None => Some(none),
            value => number(value, dtype).filter(|bound| !bound.is_nan()),
        };
        let (low, high) = (bound(low, f64::NEG_INFINITY)?, bound(high, f64::INFINITY)?);
        let operands = [operand_of(x, dtype, dtype)?, Operand::Number(low), Operand::Number(high)];
        // The higher bound decides where the bounds are the wrong way round.
        let expression = "x != x ? x : x > z || y > z ? z : x < y ? y : x";
        let operands = operands.into_iter().collect();
        Form { expression, operands, from: tensor.dtype(), to: dtype, keeps_order: false }.checked()
    }

    /// The form, if its elements are of one floating-point type.
    fn checked(self) -> Option<Self> {
        self.from.is_float().then_some(self)
    }

    fn tensors(&self) -> impl Iterator<Item = &'a HostTensor> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Tensor(t) => Some(*t),
            Operand::Number(_) => None,
        })
    }

    fn run(&self) -> Option<Answer<HostTensor>> {
        let mut shape: Vec<i64> = Vec::new();
        for t in self.tensors() {
            shape = broadcast(&shape, t.shape()).ok()?;
        }
        let count = shape.iter().try_fold(1i64, |all, extent| all.checked_mul(*extent))?;
        if !(LEAST..=MOST).contains(&count) || !self.tensors().all(is_aligned) {
            return None;
        }
        let device = self.tensors().next()?.device();
        let made = match HostTensor::unfilled(self.to, &shape, device) {
            Ok(made) => made,
            Err(error) => return Some(Err(error)),
        };
        let like = self.tensors().find(|t| self.keeps_order && t.shape() == made.shape() && t.is_dense());
        let made = if let Some(like) = like { made.ordered_as(like) } else { made };
        self.fill(&made).map(|done| done.map(|()| made))
    }

    /// Computes the elements of a tensor of the result's type, which the operands broadcast to.
    fn fill(&self, made: &HostTensor) -> Option<Answer<()>> {
        let mut tensors: SmallVec<[&HostTensor; 4]> = SmallVec::new();
        tensors.push(made);
        for t in self.tensors() {
            tensors.push(t);
        }
        let layout = Layout::of(&tensors)?;
        // Which operands are numbers, beside the layout of the tensors.
        let numbers = self.operands.iter().fold(1u64, |all, o| all << 1 | u64::from(matches!(o, Operand::Number(_))));
        let form = layout.form() << 4 | numbers;
        let key = Key { operation: self.expression, from: self.from, to: self.to, form };
        let kernel = compiled::kernel(key, || self.text(&layout))?;
        let mut args: SmallVec<[RawArg; 16]> = SmallVec::new();
        args.push(compiled::written(made, layout.last(0)));
        args.push(int(layout.count()));
        args.extend(layout.extent_args());
        args.extend(layout.stride_args(0));
        let mut at = 1;
        for operand in &self.operands {
            match operand {
                Operand::Tensor(t) => {
                    args.push(compiled::read(t, layout.last(at)));
                    args.extend(layout.stride_args(at));
                    at += 1;
                }
                Operand::Number(x) if self.from == DType::Float64 => args.push(RawArg::Scalar(x.to_bits())),
                Operand::Number(x) => args.push(RawArg::Scalar((*x as f32).to_bits().into())),
            }
        }
        const THREADS: i64 = 256;
        Some(kernel.launch((layout.count() as u64).div_ceil(THREADS as u64) as u32, THREADS as u32, &args))
    }

    fn text(&self, layout: &Layout) -> String {
        let element = |dtype: DType| float_name(dtype).unwrap_or("unsigned char");
        let (places, extents) = layout.places();
        let (out, strides) = layout.place(0, 'o');
        let mut params = format!("{} *out, int count{extents}{strides}", element(self.to));
        let mut loads = String::new();
        let mut at = 1;
        for (operand, name) in self.operands.iter().zip(['x', 'y', 'z']) {
            match operand {
                Operand::Tensor(t) => {
                    let (place, strides) = layout.place(at, name);
                    params.push_str(&format!(", const {} *p{name}{strides}", element(t.dtype())));
                    let as_value = if t.dtype() == DType::Bool { "bool" } else { "T" };
                    loads.push_str(&format!("    {as_value} {name} = ({as_value})p{name}[{place}];\n"));
                    at += 1;
                }
                Operand::Number(_) => params.push_str(&format!(", T {name}")),
            }
        }
        let value = match self.to {
            DType::Bool => format!("({}) ? 1 : 0", self.expression),
            to => format!("({})({})", element(to), self.expression),
        };
        format!(
            "{}typedef {} T;\ntypedef {} E;\n__global__ void k({params}) {{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
             if (i >= count) return;\n    {places}\n{loads}    out[{out}] = {value};\n}}\n",
            headers([self.from, self.to]),
            computed_in(self.from),
            element(self.from),
        )
    }
}

pub fn run(name: &str, args: &[Value]) -> Option<Answer<Value>> {
    Form::of(name, args)?.run().map(|made| made.map(Value::Tensor))
}

/// Writes a tensor's elements, rounded to another floating-point type, into a tensor that they broadcast to.
pub fn convert(from: &HostTensor, to: &HostTensor) -> Option<Answer<()>> {
    let is_rounded_once = to.dtype().size() != 2 || from.dtype() != DType::Float64;
    if !from.dtype().is_float() || !to.dtype().is_float() || !is_rounded_once || !is_aligned(from) || !is_aligned(to) {
        return None;
    }
    let operands = [Operand::Tensor(from)].into_iter().collect();
    Form { expression: "x", operands, from: from.dtype(), to: to.dtype(), keeps_order: false }.fill(to)
}

#[cfg(test)]
mod tests {
    use super::super::super::super::array::DeviceTag;
    use super::*;

    /// A tensor with these elements over and over.
    fn tensor(dtype: DType, numbers: &[f32]) -> HostTensor {
        let made = HostTensor::new(dtype, &[LEAST + 5], DeviceTag::CPU, true).unwrap();
        // SAFETY: the tensor is new, and has so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(made.ptr(), made.numel() as usize * dtype.size()) };
        for (element, x) in bytes.chunks_exact_mut(dtype.size()).zip(numbers.iter().cycle()) {
            dtype.write(element, *x);
        }
        made
    }

    /// The bytes of a tensor's elements.
    fn bytes(t: &HostTensor) -> &[u8] {
        // SAFETY: the tensor is contiguous.
        unsafe { std::slice::from_raw_parts(t.ptr(), t.numel() as usize * t.dtype().size()) }
    }

    /// Each operation whose result is the nearest number gives the bits of its own code, for all types; the others compile.
    #[test]
    fn kernels_give_what_the_operations_own_code_gives() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.5,
            -2.5,
            3.75,
            1e30,
            -1e-30,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            7.0,
            1e-42,
        ];
        let others = [1.0, 0.0, -0.0, 2.0, f32::NAN, -3.0, 0.5, f32::INFINITY, 1e30, 1e-42, -1.0];
        let rounded = [
            "sqrt",
            "rsqrt",
            "reciprocal",
            "abs",
            "neg",
            "relu",
            "square",
            "sign",
            "floor",
            "ceil",
            "round",
            "trunc",
            "add",
            "sub",
            "mul",
            "div",
            "maximum",
            "minimum",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
        ];
        for dtype in [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64] {
            let (x, y) = (Value::Tensor(tensor(dtype, &numbers)), Value::Tensor(tensor(dtype, &others)));
            let names = UNARY.iter().map(|(name, _)| (*name, 1)).chain([("rsqrt", 1), ("gelu", 1)]);
            let names = names.chain(BINARY.iter().chain(COMPARED).map(|(name, _)| (*name, 2)));
            for (name, arity) in names {
                let mut forms = vec![[x.clone(), y.clone()][..arity].to_vec()];
                if arity == 2 {
                    forms.push(vec![x.clone(), Value::Float(2.5)]);
                    forms.push(vec![Value::Int(3), x.clone()]);
                }
                for args in forms {
                    let made = run(name, &args).unwrap_or_else(|| panic!("{name} {dtype}")).unwrap();
                    if !rounded.contains(&name) {
                        continue;
                    }
                    let own = super::super::super::run_own(name, args, DeviceTag::CPU).unwrap();
                    let (Value::Tensor(made), Value::Tensor(own)) = (made, own) else { panic!("{name}") };
                    assert_eq!(made.dtype(), own.dtype(), "{name} {dtype}");
                    let size = own.dtype().size();
                    for (i, (a, b)) in bytes(&made).chunks(size).zip(bytes(&own).chunks(size)).enumerate() {
                        let is_nan = |bytes: &[u8]| own.dtype().is_float() && number_of(own.dtype(), bytes).is_nan();
                        assert!(a == b || is_nan(a) && is_nan(b), "{name} {dtype} [{i}]: {a:?} {b:?}");
                    }
                }
            }
        }
    }

    fn number_of(dtype: DType, bytes: &[u8]) -> f64 {
        match dtype {
            DType::Float16 => half::f16::from_le_bytes(bytes.try_into().unwrap()).to_f64(),
            DType::BFloat16 => half::bf16::from_le_bytes(bytes.try_into().unwrap()).to_f64(),
            DType::Float32 => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
            _ => f64::from_le_bytes(bytes.try_into().unwrap()),
        }
    }
}

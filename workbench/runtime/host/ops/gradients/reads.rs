//! What a derivative reads, which may not be written before the gradient comes: torch's saved variables.

use super::{Value, moves};
use crate::runtime::host::call::tape::tensors_of;

/// Of an operation's tensors, in order, and of its results: whether its derivative reads each.
pub struct Reads {
    /// Each of the tensors, in order.
    pub tensors: Vec<bool>,
    /// Those of the results.
    pub results: Results,
}

/// Results that a derivative reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// No result.
    None,
    /// Every result.
    All,
    /// The places, which are the second result.
    Places,
}

impl Results {
    /// Whether it is the result at this place.
    pub fn has(self, at: usize) -> bool {
        self == Results::All || self == Results::Places && at == 1
    }
}

/// What the derivative of an operation reads where the gradients of some of its tensors are wanted.
pub fn reads(name: &str, args: &[Value], needs: &[bool]) -> Reads {
    let tensors = tensors_of(args);
    let count = tensors.len();
    let needs = |i: usize| needs.get(i).copied().unwrap_or(false);
    let is_tensor = |i: usize| matches!(args.get(i), Some(Value::Tensor(_)));
    let each = |of: &dyn Fn(usize) -> bool| (0..count).map(of).collect::<Vec<bool>>();
    let (none, all) = (each(&|_| false), each(&|_| true));
    // Of two factors each is read for the other one.
    let factors = |first: usize| each(&|i| (first..first + 2).contains(&i) && needs(2 * first + 1 - i));
    // Places and masks.
    let chosen = each(&|i| !tensors[i].dtype().is_float());
    let (tensors, results) = match name {
        "exp" | "exp2" | "expm1" | "sqrt" | "rsqrt" | "tan" | "tanh" | "sigmoid" | "reciprocal" | "relu"
        | "softmax" | "log_softmax" => (none, Results::All),
        "add" | "sub" | "neg" | "sum" | "mean" | "cumsum" | "copy" | "fill" | "zero" | "frac" | "deg2rad"
        | "rad2deg" | "floor" | "ceil" | "round" | "trunc" | "sign" | "as_strided" | "trace" => (none, Results::None),
        "mul" | "mm" | "matmul" | "bmm" | "dot" | "mv" | "outer" | "linear" => (factors(0), Results::None),
        "addmm" | "baddbmm" | "addmv" | "addcmul" => (factors(1), Results::None),
        "einsum" => (each(&|i| (0..count).any(|k| k != i && needs(k))), Results::None),
        "conv1d" | "conv2d" => (factors(0), Results::None),
        "div" if !matches!(args.get(2), None | Some(Value::None)) => (none, Results::None),
        // The divisor is read by both, the other by the divisor's own.
        "div" if is_tensor(1) => (each(&|i| i + 1 == count || needs(count - 1)), Results::None),
        "div" => (none, Results::None),
        "fmod" | "remainder" if !is_tensor(1) => (none, Results::None),
        "pow" if !is_tensor(1) => (all, Results::None),
        "pow" => (all, if needs(count - 1) { Results::All } else { Results::None }),
        "addcdiv" => (each(&|i| i == 1 && needs(2) || i == 2 && (needs(1) || needs(2))), Results::None),
        "lerp" if !is_tensor(2) => (none, Results::None),
        "lerp" => (each(&|i| if i == 2 { needs(0) || needs(1) } else { needs(2) }), Results::None),
        "max" | "min" | "sort" | "topk" | "cummax" | "cummin" if has_places(name, args) => (none, Results::Places),
        "where" | "masked_fill" | "index_add" | "index_copy" | "index_fill" | "scatter" | "scatter_add"
        | "index_put" => (chosen, Results::None),
        "scatter_reduce" => match args.get(4) {
            Some(Value::Text(how)) if how == "sum" => (chosen, Results::None),
            Some(Value::Text(how)) if how == "mean" => (chosen, Results::None),
            _ => (all, Results::All),
        },
        "hypot" | "norm" | "amax" | "amin" | "max" | "min" | "logsumexp" | "std" | "prod" | "cumprod" => {
            (all, Results::All)
        }
        // The last one is added to what comes of the others.
        "layer_norm" => (each(&|i| i == 0 || i == 1 && is_tensor(2)), Results::None),
        name if moves::KEEPS.contains(&name) || moves::MOVES.contains(&name) => (chosen, Results::None),
        _ => (all, Results::None),
    };
    Reads { tensors, results }
}

/// Whether an operation gives places beside values.
fn has_places(name: &str, args: &[Value]) -> bool {
    !matches!(name, "max" | "min") || matches!(args.get(1), Some(Value::Int(_)))
}

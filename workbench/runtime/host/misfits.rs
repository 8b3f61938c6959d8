//! The message where an operation of the run time's own is given other values than its row (`ir/host_op.rs`) says.

use super::answer::Answer;
use super::value::Value;
use crate::back::Exception;
use crate::ir::HostOp;
use crate::ir::host_op::Operand;

/// The name of a kind of value, after Python's.
fn name_of(operand: Operand) -> &'static str {
    match operand {
        Operand::Any => "anything",
        Operand::Bool => "bool",
        Operand::Int => "int",
        Operand::Float => "float",
        Operand::Text => "str",
        Operand::List => "list",
        Operand::Tensor => "Tensor",
        Operand::Rest => "..",
    }
}

/// The error of an operation that does not take these values.
pub fn unfit<T>(op: HostOp, args: &[Value]) -> Answer<T> {
    let wanted = op.operands();
    if wanted.iter().zip(args).any(|pair| matches!(pair, (Operand::Tensor, Value::None))) {
        return Err((Exception::Runtime, "an undefined Tensor is used".to_owned()));
    }
    let wanted: Vec<&str> = wanted.iter().map(|operand| name_of(*operand)).collect();
    let given: Vec<&str> = args.iter().map(Value::type_name).collect();
    let (name, wanted, given) = (op.name(), wanted.join(", "), given.join(", "));
    Err((Exception::Runtime, format!("the operation `{name}` takes ({wanted}), not ({given})")))
}

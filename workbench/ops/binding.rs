//! Binding of kernel parameters to arguments, outputs and dims: by name, decided once when the operator is defined.

use super::schema::{Kind, Schema};
use super::shape::Signature;
use crate::ir::{Elem, Param, ParamType, Scalar};
use crate::runtime::program::param_type;
use crate::runtime::{DType, Device, Error, Kernel, Result};

/// Names that mean "how many elements" when no argument and no dim has them.
const COUNT_NAMES: &[&str] =
    &["n", "N", "size", "numel", "num_elements", "count", "length", "len", "total", "nelem", "num_elem", "n_elements"];

/// The source of a kernel parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The array of an argument; true if the schema says that it is written.
    Input(usize, bool),
    /// A fresh output.
    Output(usize),
    /// The number of an argument.
    Scalar(usize),
    /// A dim of the shape signature.
    Dim(usize),
    /// The element count of output 0.
    Count,
}

/// A kernel with its parameters bound.
pub struct Bound {
    /// The kernel.
    pub kernel: Kernel,
    /// The source of each parameter.
    pub sources: Vec<Source>,
    /// The element type of each output.
    pub outputs: Vec<DType>,
}

/// The fresh outputs of a schema, by name: results that are no alias of a written argument.
pub fn fresh_outputs(schema: &Schema) -> Vec<Option<&str>> {
    schema.returns.iter().filter(|r| !r.mutated).map(|r| r.name.as_deref()).collect()
}

/// Binds a kernel's parameters. `free` tells which integer arguments are used elsewhere (in shapes, in the launch) and so need not be
/// parameters.
///
/// # Errors
/// [`Error::Argument`] that lists the binding made and the parameters and arguments left over.
pub fn bind(
    schema: &Schema,
    signature: Option<&Signature>,
    kernel: Kernel,
    free: &dyn Fn(&str) -> bool,
) -> Result<Bound> {
    let fresh = fresh_outputs(schema);
    let mut binding = Binding {
        schema,
        signature,
        kernel: &kernel,
        name: schema.qualified_name(),
        sources: vec![None; kernel.params().len()],
        used: vec![false; schema.args.len()],
        outputs: vec![None; fresh.len()],
        fresh,
    };
    binding.by_name()?;
    binding.by_place()?;
    binding.check_whole(free)?;
    let Binding { sources, outputs, .. } = binding;
    let (sources, outputs) = (sources.into_iter().flatten().collect(), outputs.into_iter().flatten().collect());
    let bound = Bound { sources, outputs, kernel };
    if bound.kernel.device() == Device::Cuda {
        bound.check_writes(schema)?;
    }
    Ok(bound)
}

/// A binding that is being made.
struct Binding<'a> {
    schema: &'a Schema,
    signature: Option<&'a Signature>,
    kernel: &'a Kernel,
    /// What the operator is called.
    name: String,
    /// For each parameter what it is given, once that is known.
    sources: Vec<Option<Source>>,
    /// For each argument whether a parameter has it.
    used: Vec<bool>,
    /// The element type of each output that a parameter is bound to.
    outputs: Vec<Option<DType>>,
    /// The fresh outputs' names by the schema.
    fresh: Vec<Option<&'a str>>,
}

impl Binding<'_> {
    fn output_name(&self, k: usize) -> Option<&str> {
        let signed = self.signature.and_then(|s| s.outputs.get(k)).map(|o| o.name.as_str());
        signed.or(self.fresh.get(k).copied().flatten())
    }

    /// Parameters called as an argument, an output or a dim are that.
    fn by_name(&mut self) -> Result<()> {
        for (i, param) in self.kernel.params().iter().enumerate() {
            if let Some(a) = self.schema.args.iter().position(|a| a.name == param.name) {
                self.sources[i] = Some(argument(&self.name, self.schema, a, param)?);
                self.used[a] = true;
                continue;
            }
            match param.ty {
                ParamType::Ptr { elem, .. } => {
                    let named = |k: &usize| self.output_name(*k) == Some(param.name.as_str());
                    if let Some(k) = (0..self.fresh.len()).find(named) {
                        self.bind_output(i, k, elem)?;
                    }
                }
                ParamType::Scalar(s) if s.is_int() => {
                    if let Some(d) = self.signature.and_then(|s| s.dim(&param.name)) {
                        self.sources[i] = Some(Source::Dim(d));
                    }
                }
                ParamType::Scalar(_) | ParamType::Bytes { .. } => {}
            }
        }
        Ok(())
    }

    /// What is left: non-const pointers are the outputs, in order; an integer of a counting name is the count.
    fn by_place(&mut self) -> Result<()> {
        for (i, param) in self.kernel.params().iter().enumerate() {
            if self.sources[i].is_some() {
                continue;
            }
            match param.ty {
                ParamType::Ptr { elem, is_const: false } => {
                    if let Some(k) = self.outputs.iter().position(Option::is_none) {
                        self.bind_output(i, k, elem)?;
                    }
                }
                ParamType::Scalar(s) if s.is_int() && COUNT_NAMES.contains(&param.name.as_str()) => {
                    self.sources[i] = Some(Source::Count);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Parameter `i` is a pointer of such elements, and output `k` is what it points to.
    fn bind_output(&mut self, i: usize, k: usize, elem: Option<Elem>) -> Result<()> {
        let (name, param) = (&self.name, &self.kernel.params()[i].name);
        let Some(elem) = elem else {
            return Err(Error::argument(format!(
                "`{name}`: parameter `{param}` is an output and a `void*`; give it an element type"
            )));
        };
        let dtype = DType::from(elem);
        if let Some(said) = self.signature.and_then(|s| s.outputs.get(k)).and_then(|o| o.dtype)
            && said != dtype
        {
            return Err(Error::argument(format!(
                "`{name}`: output `{param}` is said to be {said}, and its pointer is {dtype}"
            )));
        }
        self.outputs[k] = Some(dtype);
        self.sources[i] = Some(Source::Output(k));
        Ok(())
    }

    /// Every parameter is given something, every output is written, and every argument is used, or `free`.
    fn check_whole(&self, free: &dyn Fn(&str) -> bool) -> Result<()> {
        let (name, schema, kernel) = (&self.name, self.schema, self.kernel);
        let table = || describe(schema, self.signature, kernel, &self.sources);
        if let Some(i) = self.sources.iter().position(Option::is_none) {
            let param = &kernel.params()[i];
            return Err(Error::argument(format!(
                "`{name}`: kernel parameter `{} {}` is no argument of the schema, no dim of the shape signature and no output\n{}",
                param_type(param.ty),
                param.name,
                table()
            )));
        }
        if let Some(k) = self.outputs.iter().position(Option::is_none) {
            let which = self.output_name(k).map_or_else(|| format!("result {k}"), |n| format!("result `{n}`"));
            return Err(Error::argument(format!(
                "`{name}`: no non-const pointer of kernel `{}` is {which}: a kernel returns through its pointers\n{}",
                kernel.name(),
                table()
            )));
        }
        if self.fresh.is_empty() && !schema.args.iter().any(|a| a.mutated) {
            return Err(Error::argument(format!(
                "`{name}` has no output: add a result, or mark a written argument as `Tensor(a!)`"
            )));
        }
        let serves = |a: usize| schema.args[a].kind.is_int() && free(&schema.args[a].name);
        if let Some(a) = (0..self.used.len()).find(|&a| !self.used[a] && !serves(a)) {
            return Err(Error::argument(format!(
                "`{name}`: argument `{}` of the schema is no parameter of kernel `{}`\n{}",
                schema.args[a].name,
                kernel.name(),
                table()
            )));
        }
        Ok(())
    }
}

impl Bound {
    /// Checks a kernel's writes against its schema where nothing else does: on a GPU no access is checked, so a write to an argument that
    /// the schema does not mark as written would go unnoticed.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the argument and the place.
    pub fn check_writes(&self, schema: &Schema) -> Result<()> {
        let unsaid = |i: usize| match (self.sources.get(i), self.kernel.params().get(i).map(|p| p.ty)) {
            (Some(Source::Input(a, false)), Some(ParamType::Ptr { is_const: false, .. })) => {
                Some(&schema.args[*a].name)
            }
            _ => None,
        };
        if !(0..self.sources.len()).any(|i| unsaid(i).is_some()) {
            return Ok(());
        }
        for (i, place) in self.kernel.written_params() {
            if let Some(arg) = unsaid(i) {
                return Err(Error::argument(format!(
                    "`{}`: the kernel writes `{arg}` ({place}), and the schema does not say so, which on a GPU nobody would notice; write \
                     `Tensor(a!) {arg}` in the schema, or let the kernel write an output",
                    schema.qualified_name()
                )));
            }
        }
        Ok(())
    }
}

fn argument(name: &str, schema: &Schema, a: usize, param: &Param) -> Result<Source> {
    let ty = param.ty;
    let arg = &schema.args[a];
    let kind = match &arg.kind {
        Kind::Optional(inner) => inner,
        kind => kind,
    };
    let wrong = || {
        Err(Error::argument(format!(
            "`{name}`: argument `{}` is `{}` in the schema and `{}` in the kernel",
            arg.name,
            arg.kind,
            param_type(ty)
        )))
    };
    match (kind, ty) {
        (Kind::Tensor, ParamType::Ptr { is_const: true, .. }) if arg.mutated => Err(Error::argument(format!(
            "`{name}`: the schema says `{}` is written (`Tensor({}!)`), and the kernel takes it as `{}`",
            arg.name,
            arg.alias.as_deref().unwrap_or("a"),
            param_type(ty)
        ))),
        (Kind::Tensor, ParamType::Ptr { .. }) => Ok(Source::Input(a, arg.mutated)),
        (Kind::Int | Kind::SymInt, ParamType::Scalar(s)) if s.is_int() || s.is_float() => Ok(Source::Scalar(a)),
        (Kind::Float, ParamType::Scalar(s)) if s.is_float() => Ok(Source::Scalar(a)),
        (Kind::Bool, ParamType::Scalar(s)) if s == Scalar::Bool || s.is_int() => Ok(Source::Scalar(a)),
        (Kind::Scalar, ParamType::Scalar(_)) => Ok(Source::Scalar(a)),
        // In the language a 16-bit float is a struct.
        (Kind::Float | Kind::Scalar, ParamType::Bytes { .. }) if half_of(param).is_some() => Ok(Source::Scalar(a)),
        _ => wrong(),
    }
}

/// The 16-bit float that a parameter is, if it is one.
pub(crate) fn half_of(param: &Param) -> Option<Elem> {
    param.layout.as_ref().and_then(|layout| layout.half())
}

/// The binding as a small table, one parameter a line.
pub fn describe(schema: &Schema, signature: Option<&Signature>, kernel: &Kernel, sources: &[Option<Source>]) -> String {
    let mut lines = vec![format!("binding of kernel `{}`:", kernel.name())];
    let types: Vec<String> = kernel.params().iter().map(|p| format!("{} {}", param_type(p.ty), p.name)).collect();
    let width = types.iter().map(String::len).max().unwrap_or(0);
    for (ty, source) in types.iter().zip(sources) {
        let what = match source {
            None => "?".to_owned(),
            Some(Source::Input(a, false)) => format!("argument `{}`", schema.args[*a].name),
            Some(Source::Input(a, true)) => format!("argument `{}`, written", schema.args[*a].name),
            Some(Source::Output(k)) => {
                let said = signature.and_then(|s| s.outputs.get(*k)).map(|o| format!(" `{}`", o.name));
                format!("output {k}{}", said.unwrap_or_default())
            }
            Some(Source::Scalar(a)) => format!("argument `{}`", schema.args[*a].name),
            Some(Source::Dim(d)) => format!("dim `{}`", signature.map_or("?", |s| s.dims[*d].as_str())),
            Some(Source::Count) => "element count of output 0".to_owned(),
        };
        lines.push(format!("  {ty:<width$}  <-  {what}"));
    }
    lines.join("\n")
}

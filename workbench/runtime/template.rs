//! Templates of kernels launched by name: `program.template("scale")?.launch(grid, block).arg(&x).run()`, where the arguments decide the instance.

use super::structure::Given;
use super::{Error, Kernel, Program, Result};
use crate::front::kernel_calls::{KernelArg, KernelArgs, KernelCall};
use crate::ir::{Const, Elem, Scalar};

/// A template of kernels. Each launch runs the instance that C++ would deduce from the arrays among the arguments, or from arrays and numbers where
/// the arrays leave a type open, compiled where it is new.
#[derive(Clone)]
pub struct Template {
    program: Program,
    name: String,
}

impl Program {
    /// A template of kernels by its name.
    ///
    /// ```
    /// use workbench::prelude::*;
    /// let program = wb::compile("template <typename T> __global__ void fill(T* x, T v) { x[threadIdx.x] = v; }")?;
    /// let fill = program.template("fill")?;
    /// let (mut a, mut b) = (Array1::<f32>::zeros(3), Array1::<i16>::zeros(3));
    /// fill.launch(1, 3).arg(&mut a).arg(7.5f32).run()?;
    /// fill.launch(1, 3).arg(&mut b).arg(7i16).run()?;
    /// assert_eq!((a, b), (array![7.5, 7.5, 7.5], array![7, 7, 7]));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] naming the templates there are.
    pub fn template(&self, name: &str) -> Result<Template> {
        if self.template_names().iter().any(|template| template == name) {
            return Ok(Template { program: self.clone(), name: name.to_owned() });
        }
        let all = super::program::list(self.template_names());
        let why = if self.kernel_names().iter().any(|kernel| kernel == name) {
            format!("`{name}` is a kernel and no template; `kernel(\"{name}\")` gives it")
        } else {
            format!("there is no template of kernels `{name}`; the text has {all}")
        };
        Err(Error::argument(why))
    }
}

impl Template {
    /// Its name, without namespaces.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instance for these arguments: by the arrays alone where they tell everything, else by arrays and numbers together.
    pub(super) fn instance(&self, args: &[Given]) -> Result<Kernel> {
        let call = |numbers: bool| {
            let args = args.iter().map(|arg| hint(arg, numbers)).collect();
            KernelCall { template: self.name.clone(), args: KernelArgs::InOrder(args) }
        };
        let (by_arrays, by_all) = (call(false), call(true));
        if let Some(known) = self.program.deduced(&by_arrays).or_else(|| self.program.deduced(&by_all)) {
            return Ok(known);
        }
        match self.program.deduce(&by_arrays) {
            Err(Error::Argument(_)) if by_all != by_arrays => self.program.deduce(&by_all),
            found => found,
        }
    }
}

/// The hint that an argument gives about the type of its parameter.
fn hint(arg: &Given, numbers: bool) -> KernelArg {
    let number = |elem: Elem| if numbers { KernelArg::Number(elem) } else { KernelArg::Any };
    match arg {
        Given::Scalar(Const::Bool(_)) => number(Scalar::Bool.into()),
        Given::Scalar(Const::Int(scalar, _)) => number((*scalar).into()),
        Given::Scalar(Const::F32(_)) => number(Scalar::F32.into()),
        Given::Scalar(Const::F64(_)) => number(Scalar::F64.into()),
        Given::Half(elem, _) => number(*elem),
        Given::Buffer(buffer) | Given::Tensor { buffer, .. } => KernelArg::Array(buffer.dtype.into()),
        Given::Scalar(Const::Null)
        | Given::Records(..)
        | Given::Null
        | Given::List(_)
        | Given::Members(_)
        | Given::Bytes(_) => KernelArg::Any,
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;
    use crate::compile;

    #[test]
    fn arrays_decide_first_and_numbers_what_is_left_open() {
        let text = "template <typename T, typename S> __global__ void scale(const T* x, T* y, S by) { y[threadIdx.x] = x[threadIdx.x] * by; }
            template <typename T> __global__ void size(int* y, T value) { *y = sizeof(value); }";
        let program = compile(text).unwrap();
        let scale = program.template("scale").unwrap();
        let (x, mut y) = (array![1i16, 2, 3], Array1::<i16>::zeros(3));
        scale.launch(1, 3).arg(&x).arg(&mut y).arg(2.5f64).run().unwrap();
        // 2.5, 5.0 and 7.5, cut as C++ cuts them.
        assert_eq!(y, array![2, 5, 7]);
        let size = program.template("size").unwrap();
        let mut of = Array1::<i32>::zeros(1);
        size.launch(1, 1).arg(&mut of).arg(1.0f64).run().unwrap();
        assert_eq!(of[0], 8);
        size.launch(1, 1).arg(&mut of).arg(1u8).run().unwrap();
        assert_eq!(of[0], 1);
        size.launch(1, 1).arg(&mut of).arg(half::f16::ONE).run().unwrap();
        assert_eq!(of[0], 2);
    }

    #[test]
    fn mistakes_name_what_is_wrong() {
        let program =
            compile("template <typename T> __global__ void t(float* x) { } __global__ void k(float* x) { }").unwrap();
        let text = |result: Result<Template>| result.err().unwrap().to_string();
        assert_eq!(text(program.template("u")), "there is no template of kernels `u`; the text has `t`");
        assert_eq!(text(program.template("k")), "`k` is a kernel and no template; `kernel(\"k\")` gives it");
        let mut x = Array1::<f32>::zeros(4);
        let open = program.template("t").unwrap().launch(1, 1).arg(&mut x).run().unwrap_err().to_string();
        assert!(open.contains("the arguments of the template `t` do not follow from an array of float32"), "{open}");
        let view = x.slice(ndarray::s![..;2]);
        let gaps = program.template("t").unwrap().launch(1, 1).arg(&view).run().unwrap_err().to_string();
        assert!(gaps.starts_with("`t`: argument `0`: the array is not contiguous"), "{gaps}");
    }
}

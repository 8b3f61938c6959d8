//! `Op::new(schema).source(SRC).shape("a[n], b[n] -> out[n]").build()?`

use super::OwnedArg;
use super::registry::{Op, OpOptions, ShapeRule, SourceCode, Spec};
use crate::runtime::{CompileOptions, Error, Program, Result, Tensor};
use std::sync::Arc;

/// An operator being put together.
#[must_use = "an operator is defined by `.build()`"]
pub struct OpBuilder {
    schema: String,
    options: OpOptions,
    sourced: bool,
}

impl Op {
    /// Begins an operator with a torch schema, such as `lab::muladd(Tensor a, Tensor b, float c) -> Tensor`.
    #[expect(clippy::new_ret_no_self, reason = "an operator needs a source before it is one")]
    pub fn new(schema: impl Into<String>) -> OpBuilder {
        let nothing = SourceCode::Text(String::new(), CompileOptions::default());
        OpBuilder { schema: schema.into(), options: OpOptions::new(nothing), sourced: false }
    }
}

impl OpBuilder {
    fn from(mut self, source: SourceCode) -> Self {
        self.options.source = source;
        self.sourced = true;
        self
    }

    /// The text its kernel is in.
    pub fn source(self, text: impl Into<String>) -> Self {
        self.from(SourceCode::Text(text.into(), CompileOptions::default()))
    }

    /// The program its kernel is in.
    pub fn program(self, program: &Program) -> Self {
        self.from(SourceCode::Program(program.clone()))
    }

    /// Sets a Rust closure over whole arrays instead of a kernel. Its results are checked against the shape rule, where there is one.
    ///
    /// ```
    /// use workbench::prelude::*;
    ///
    /// let clip = Op::new("doc::clip(Tensor x, float high=1.0) -> Tensor")
    ///     .host(|args| {
    ///         let (x, high) = (args[0].view::<f32>()?, args[1].number()? as f32);
    ///         Ok(vec![Tensor::from_array(&x.mapv(|v| v.clamp(0.0, high)))])
    ///     })
    ///     .build()?;
    /// let y: ArrayD<f32> = clip.call((&array![-1.0f32, 0.5, 2.0],))?.into_array()?;
    /// assert_eq!(y, array![0.0f32, 0.5, 1.0].into_dyn());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn host(self, f: impl Fn(&[OwnedArg]) -> Result<Vec<Tensor>> + Send + Sync + 'static) -> Self {
        self.from(SourceCode::Host(Arc::new(f)))
    }

    /// The kernel's name, if the text has several.
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.options.kernel = Some(name.into());
        self
    }

    /// The shape signature.
    pub fn shape(mut self, signature: impl Into<String>) -> Self {
        self.options.shape = ShapeRule::Signature(signature.into());
        self
    }

    /// The shape function: specs of the arrays in, specs of the outputs out.
    pub fn shape_fn(mut self, f: impl Fn(&[Spec]) -> Result<Vec<Spec>> + Send + Sync + 'static) -> Self {
        self.options.shape = ShapeRule::Callable(Arc::new(f));
        self
    }

    /// The number of threads, as expressions over dims.
    pub fn threads(mut self, threads: impl Into<String>) -> Self {
        self.options.threads = Some(threads.into());
        self
    }

    /// The number of blocks, as expressions over dims.
    pub fn grid(mut self, grid: impl Into<String>) -> Self {
        self.options.grid = Some(grid.into());
        self
    }

    /// Bytes of dynamic shared memory of a block, as an expression over dims.
    pub fn shared_mem(mut self, bytes: impl Into<String>) -> Self {
        self.options.shared_mem = Some(bytes.into());
        self
    }

    /// Threads of a block.
    pub fn block(mut self, x: u32, y: u32, z: u32) -> Self {
        self.options.block = Some([x, y, z]);
        self
    }

    /// Defines the operator, or redefines its name.
    ///
    /// # Errors
    /// As [`Op::define`].
    pub fn build(self) -> Result<Op> {
        if !self.sourced {
            return Err(Error::argument(format!("`{}` has no source", self.schema)));
        }
        Op::define(&self.schema, self.options)
    }
}

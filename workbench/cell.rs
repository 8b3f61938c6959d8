//! Cells of Rust notebooks: `wb::cell!(text)` compiles CUDA C++ and shows its kernels; with `op` it makes an operator, a version of its name,
//! which the cell can check and time at once.
//!
//! The value of a cell is the thing that it made. Reports are shown below the cell as one output, because evcxr shows the last of several only. An error ends the cell: it is shown where it is in the text, and variables of earlier cells stay.

use crate::back::notebook;
use crate::bench::OpBench;
use crate::check::{CheckArgs, CheckOptions, CheckReport};
use crate::display::{MimeBundle, Show, evcxr};
use crate::ops::history::Version;
use crate::ops::{IntoArgs, Op, OpBuilder, OwnedArg};
use crate::runtime::{CompileOptions, Device, Program, Result, Tensor};

/// The name of a cell's text in messages.
const NAME: &str = "<cell>";

/// Compiles a text in a cell of a notebook and shows what comes of it; see [`Cell`] and [`OpCell`] for the options, each of which is a method.
///
/// ```
/// use workbench::prelude::*;
/// let program = wb::cell!("__global__ void fill(float* x, float v) { x[threadIdx.x] = v; }");
/// let mut x = Array1::<f32>::zeros(4);
/// program.kernel("fill")?.launch(1, 4).arg(&mut x).arg(2.5f32).run()?;
///
/// let twice = wb::cell!(
///     "__global__ void twice(const float* x, float* y, int n) {
///         int i = blockIdx.x * blockDim.x + threadIdx.x;
///         if (i < n) y[i] = BY * x[i];
///     }",
///     define("BY", 2),
///     op = "doc::twice_of_cell(Tensor x) -> Tensor",
///     shape = "x[n] -> y[n]",
///     check((&x,), |x| 2.0 * &x),
/// );
/// let y: ArrayD<f32> = twice.call((&x,))?.into_array()?;
/// assert_eq!(y, array![5.0, 5.0, 5.0, 5.0].into_dyn());
/// # Ok::<(), Error>(())
/// ```
///
/// # Panics
/// With the error as its message, where the text does not compile or a call fails: that ends a cell, and a program.
#[macro_export]
macro_rules! cell {
    (@options $cell:expr $(,)?) => { $cell };
    (@options $cell:expr, $option:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::cell!(@options $cell.$option($value) $(, $($rest)*)?)
    };
    (@options $cell:expr, $option:ident ( $($arg:expr),* $(,)? ) $(, $($rest:tt)*)?) => {
        $crate::cell!(@options $cell.$option($($arg),*) $(, $($rest)*)?)
    };
    ($text:expr $(, $($options:tt)*)?) => {
        $crate::cell::finish($crate::cell!(@options $crate::cell::Cell::new($text) $(, $($options)*)?))
    };
}

/// A cell that can run.
pub trait Run {
    /// The thing that it makes.
    type Made;

    /// Runs it, gives what it made, and adds what there is to see to `shown`, also before an error.
    ///
    /// # Errors
    /// Errors of the text, of calls and of references.
    fn run(self, shown: &mut Vec<MimeBundle>) -> Result<Self::Made>;
}

/// A text to compile.
#[must_use]
pub struct Cell {
    text: String,
    options: CompileOptions,
}

impl Cell {
    /// A cell with a text.
    pub fn new(text: impl Into<String>) -> Self {
        Cell { text: text.into(), options: CompileOptions { name: NAME.to_owned(), ..CompileOptions::default() } }
    }

    /// A macro, as `-D name=value`.
    pub fn define(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.options.front.defines.push((name.into(), value.to_string()));
        self
    }

    /// A header that the text may include by this name.
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.options.front.headers.insert(name.into(), text.into());
        self
    }

    /// The device.
    pub fn device(mut self, device: Device) -> Self {
        self.options.device = device;
        self
    }

    /// All options of the compilation but the text's name; those that were given before are replaced.
    pub fn options(mut self, options: CompileOptions) -> Self {
        self.options = CompileOptions { name: self.options.name, ..options };
        self
    }

    /// Makes an operator of the text, with a torch schema; the options after it are the operator's.
    pub fn op<'a>(self, schema: impl Into<String>) -> OpCell<'a> {
        OpCell { cell: self, builder: Op::new(schema), check: None, bench: None }
    }
}

impl Run for Cell {
    type Made = Program;

    fn run(self, shown: &mut Vec<MimeBundle>) -> Result<Program> {
        let program = Program::compile(&self.text, &self.options)?;
        let mut lines = warnings(&program);
        for name in program.kernel_names() {
            lines.push(program.kernel(&name)?.signature());
        }
        lines.extend(program.template_names().iter().map(|name| format!("{name}, a template of kernels")));
        lines.extend(program.host_functions().iter().map(|name| format!("{name}, a host function")));
        shown.push(MimeBundle::text(lines.join("\n")));
        Ok(program)
    }
}

/// The warnings of a program, as text.
fn warnings(program: &Program) -> Vec<String> {
    match program.warnings() {
        [] => Vec::new(),
        some => vec![crate::diagnostic::text::render(some, program.sources())],
    }
}

type Check<'a> = Box<dyn FnOnce(&Op) -> Result<CheckReport> + 'a>;
type Bench<'a> = Box<dyn FnOnce(&Op) -> OpBench<'a> + 'a>;

/// A text that becomes an operator.
#[must_use]
pub struct OpCell<'a> {
    cell: Cell,
    builder: OpBuilder,
    check: Option<Check<'a>>,
    bench: Option<Bench<'a>>,
}

impl<'a> OpCell<'a> {
    fn built(mut self, change: impl FnOnce(OpBuilder) -> OpBuilder) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// A macro, as `-D name=value`.
    pub fn define(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.cell = self.cell.define(name, value);
        self
    }

    /// A header that the text may include by this name.
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.cell = self.cell.header(name, text);
        self
    }

    /// The device.
    pub fn device(mut self, device: Device) -> Self {
        self.cell = self.cell.device(device);
        self
    }

    /// All options of the compilation, as [`Cell::options`] takes them.
    pub fn options(mut self, options: CompileOptions) -> Self {
        self.cell = self.cell.options(options);
        self
    }

    /// The shape signature, `x[m, n] -> y[m]`.
    pub fn shape(self, signature: impl Into<String>) -> Self {
        self.built(|b| b.shape(signature))
    }

    /// The kernel's name, if the text has several.
    pub fn kernel(self, name: impl Into<String>) -> Self {
        self.built(|b| b.kernel(name))
    }

    /// The number of threads, as expressions over dims.
    pub fn threads(self, threads: impl Into<String>) -> Self {
        self.built(|b| b.threads(threads))
    }

    /// The number of blocks, as expressions over dims.
    pub fn grid(self, grid: impl Into<String>) -> Self {
        self.built(|b| b.grid(grid))
    }

    /// Bytes of dynamic shared memory of a block, as an expression over dims.
    pub fn shared_mem(self, bytes: impl Into<String>) -> Self {
        self.built(|b| b.shared_mem(bytes))
    }

    /// Threads of a block: a number or a tuple of up to three.
    pub fn block(self, block: impl Into<crate::runtime::Dim3>) -> Self {
        let block = block.into();
        self.built(|b| b.block(block.x, block.y, block.z))
    }

    /// Compares the result for arguments with a reference, as [`Op::check`] does. The reference captures nothing.
    pub fn check<A: CheckArgs + 'a>(mut self, args: A, reference: A::Reference) -> Self
    where
        A::Reference: 'a,
    {
        self.check = Some(Box::new(move |op| op.check(args, reference)));
        self
    }

    /// [`OpCell::check`] with any reference, as [`Op::check_with`] takes it.
    pub fn check_with(
        mut self,
        args: impl IntoArgs + 'a,
        reference: impl FnOnce(&[OwnedArg]) -> Result<Vec<Tensor>> + 'a,
    ) -> Self {
        self.check = Some(Box::new(move |op| op.check_with(args, reference, &CheckOptions::default())));
        self
    }

    /// Times the operator at sizes beside the newest version before it that was checked and found right, if there is one; `make_args(n)` gives the
    /// arguments at size `n`. Results that the cell's check finds wrong are not timed.
    pub fn bench<A: IntoArgs>(
        mut self,
        sizes: impl IntoIterator<Item = u64> + 'a,
        make_args: impl Fn(u64) -> A + 'a,
    ) -> Self {
        self.bench = Some(Box::new(move |op| op.bench(make_args).sizes(sizes)));
        self
    }
}

impl Run for OpCell<'_> {
    type Made = Op;

    fn run(self, shown: &mut Vec<MimeBundle>) -> Result<Op> {
        let program = Program::compile(&self.cell.text, &self.cell.options)?;
        let op = self.builder.program(&program).build()?;
        let mut lines = warnings(&program);
        lines.push(format!("{}, version {}", op.definition().schema, op.version_number()));
        shown.push(MimeBundle::text(lines.join("\n")));
        let mut passed = true;
        if let Some(check) = self.check {
            let report = check(&op)?;
            passed = report.passed;
            shown.push(report.bundle());
        }
        match self.bench {
            Some(bench) if passed => {
                let bench = bench(&op);
                let bench = comparable(&op).into_iter().fold(bench, OpBench::against_version);
                shown.push(bench.run()?.bundle());
            }
            Some(_) => shown.push(MimeBundle::text("not timed, because the results are wrong")),
            None => {}
        }
        Ok(op)
    }
}

/// The newest version before this one that takes the same arguments and was checked and found right.
fn comparable(op: &Op) -> Option<u32> {
    let history = op.history();
    let (own, schema) = (op.version_number(), op.definition().schema.to_string());
    let is_right = |version: &&Version| version.check.as_ref().is_some_and(|check| check.passed);
    let earlier = history.versions.iter().rev().filter(|version| version.number < own && version.schema == schema);
    earlier.into_iter().find(is_right).map(|version| version.number)
}

/// Runs a cell, shows what it has to show, and gives back what it made.
///
/// # Panics
/// With the error, if it failed.
pub fn finish<R: Run>(cell: R) -> R::Made {
    let mut shown = Vec::new();
    let result = cell.run(&mut shown);
    if !shown.is_empty() {
        evcxr::display_all(&shown);
    }
    match result {
        Ok(made) => made,
        Err(error) => {
            if notebook::tell_error(error.name(), &error.styled()) {
                // The session has the message, so the panic says nothing.
                std::panic::resume_unwind(Box::new("the cell failed"));
            }
            panic!("{error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, ArrayD, array};

    use super::*;

    const TWICE: &str =
        "__global__ void twice(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = BY * x[i]; }";

    fn shown(cell: impl Run) -> Vec<String> {
        let mut shown = Vec::new();
        let _ = cell.run(&mut shown).map(drop);
        shown.into_iter().map(|bundle| bundle.plain).collect()
    }

    #[test]
    fn a_cell_says_what_it_has() {
        let text = "__global__ void k(float* x) { } template <typename T> __global__ void t(T* x) { } int f(int x) { return x; }";
        let lines = shown(Cell::new(text));
        assert_eq!(lines, ["void k(float* x)\nt, a template of kernels\nf, a host function"]);
    }

    #[test]
    fn an_operator_is_a_version_checked_and_timed_beside_the_one_before() {
        let x = array![1.0f32, 2.0, 3.0];
        let cell = |by: i32| {
            let cell = Cell::new(TWICE).define("BY", by).op("test::of_cell(Tensor x) -> Tensor").shape("x[n] -> y[n]");
            cell.block(32).check((&x,), |x| 2.0 * &x).bench([3], |n| (Array1::<f32>::ones(n as usize),))
        };
        let first = shown(cell(2));
        assert_eq!(first[0], "test::of_cell(Tensor x) -> Tensor, version 1");
        assert!(first[1].contains("agrees with its reference") && first[2].contains("test::of_cell"), "{first:?}");
        // The second gives other numbers than its reference, so that its time would mean nothing.
        let wrong = shown(cell(3));
        assert_eq!(wrong[0], "test::of_cell(Tensor x) -> Tensor, version 2");
        assert!(wrong[1].contains("DIFFERS"), "{wrong:?}");
        assert_eq!(wrong[2], "not timed, because the results are wrong");
        let third = shown(cell(2));
        // The newest version that is right is the first.
        assert!(third[2].contains("version 1") && !third[2].contains("version 2"), "{third:?}");
    }

    #[test]
    fn what_was_found_before_an_error_is_shown() {
        let x = array![1.0f32, 2.0];
        let text = "__global__ void past(const float* x, float* y, int n) { int i = threadIdx.x; y[i] = x[i]; }";
        let cell = Cell::new(text).op("test::past(Tensor x) -> Tensor").shape("x[n] -> y[n]").block(32);
        let mut all = Vec::new();
        let error = cell.check((&x,), |x| x.to_owned()).run(&mut all).unwrap_err();
        assert!(error.to_string().contains("out-of-bounds"), "{error}");
        assert_eq!(all[0].plain, "test::past(Tensor x) -> Tensor, version 1");
        // A version that faults is no measure for the next one.
        let text = text.replace("y[i] =", "if (i < n) y[i] =");
        let cell = Cell::new(text).op("test::past(Tensor x) -> Tensor").shape("x[n] -> y[n]").block(32);
        let next = shown(cell.check((&x,), |x| x.to_owned()).bench([2], |n| (Array1::<f32>::ones(n as usize),)));
        assert!(next[1].contains("agrees") && !next[2].contains("version 1"), "{next:?}");
    }

    #[test]
    fn the_macro_takes_options_of_both_kinds() {
        let x = array![1.0f32, 2.0];
        let op =
            crate::cell!(TWICE, define("BY", 5,), op = "test::of_macro(Tensor x) -> Tensor", shape = "x[n] -> y[n]",);
        let y: ArrayD<f32> = op.call((&x,)).unwrap().into_array().unwrap();
        assert_eq!(y, array![5.0f32, 10.0].into_dyn());
        let program = crate::cell!("__global__ void k() { }");
        assert_eq!(program.kernel_names(), ["k"]);
    }

    #[test]
    fn an_error_ends_the_cell_with_its_text() {
        let ended = std::panic::catch_unwind(|| crate::cell!("__global__ void k(float* x) { x[0] = y; }"));
        let payload = ended.err().unwrap();
        let text = payload.downcast_ref::<String>().unwrap();
        assert!(text.contains("<cell>:1:") && text.contains("`y`"), "{text}");
    }
}

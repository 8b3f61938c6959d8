//! Descriptions of operators: the kernel, the launch, the shapes, the gradient, the version and the text, for people to read.

use super::{Definition, Op};

/// The lines of a text that are shown.
const LINES: usize = 40;

impl Definition {
    /// The arguments that calls write in place.
    fn written_in_place(&self) -> Vec<&str> {
        self.schema.args.iter().filter(|arg| arg.mutated).map(|arg| arg.name.as_str()).collect()
    }

    fn shape_text(&self) -> String {
        let in_place = || self.written_in_place().iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" and ");
        match (&self.written.shape, self.has_shape_callable()) {
            (Some(text), _) => text.clone(),
            (None, true) => "a function".to_owned(),
            (None, false) if self.output_count() > 0 => "outputs are like the first input".to_owned(),
            (None, false) => format!("no outputs: it writes {}", in_place()),
        }
    }

    fn launch_text(&self) -> String {
        let [x, y, z] = self.block;
        let extents = match (y, z) {
            (1, 1) => x.to_string(),
            (_, 1) => format!("{x} x {y}"),
            _ => format!("{x} x {y} x {z}"),
        };
        let count = match (&self.written.grid, &self.written.threads) {
            (Some(grid), _) => format!("a grid of {grid}"),
            (None, Some(threads)) => format!("{threads} threads"),
            (None, None) => match self.written_in_place().first() {
                Some(name) if self.output_count() == 0 => {
                    format!("one thread per element of `{name}`, which it writes")
                }
                _ => "one thread per element of the first output".to_owned(),
            },
        };
        let shared = self.written.shared_mem.as_ref();
        let shared = shared.map_or(String::new(), |bytes| format!(", with {bytes} bytes of dynamic shared memory"));
        format!("{count}, in blocks of {extents}{shared}")
    }
}

impl Op {
    /// The name of the kernel or of the template of its text, whatever serves calls by now; `None` for a closure.
    pub fn kernel_name(&self) -> Option<String> {
        self.definition().picked.clone()
    }

    /// The threads of a block of its launches: those it was given, or else 256, or as many as `__launch_bounds__` allows, or 16 x 16.
    pub fn block(&self) -> [u32; 3] {
        self.definition().block
    }

    /// The launch in words: `n threads, in blocks of 256`.
    pub fn launch_text(&self) -> String {
        self.definition().launch_text()
    }

    /// The operator in lines: schema, kernel, launch, shape, gradient, version and text.
    ///
    /// ```
    /// use workbench::prelude::*;
    /// let text = "__global__ void twice(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }";
    /// let op = Op::new("doc::described(Tensor x) -> Tensor").source(text).shape("x[n] -> y[n]").block(64, 1, 1).build()?;
    /// let text = op.describe();
    /// assert_eq!(text.lines().nth(1), Some("kernel     void twice(const float* x, float* y, int n)"));
    /// assert_eq!(text.lines().nth(2), Some("launch     one thread per element of the first output, in blocks of 64"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn describe(&self) -> String {
        let definition = self.definition();
        let history = self.history();
        let number = self.version_number();
        let mut lines = vec![definition.schema.to_string()];
        let mut row = |name: &str, text: String| lines.push(format!("{name:<11}{text}"));
        let kernel = self.kernel_name();
        match &definition.template {
            Some(template) => row(
                "kernel",
                format!("{}, a template: each call gets the instance of its arrays' element types", template.name),
            ),
            None => match self.kernels().first() {
                Some(kernel) => row("kernel", kernel.signature()),
                None => row("function", "a closure on whole arrays".to_owned()),
            },
        }
        if kernel.is_some() {
            row("launch", definition.launch_text());
        }
        row("shape", definition.shape_text());
        let gradient = if self.gradient().is_some() { "registered" } else { "none: register_autograd gives it one" };
        row("gradient", gradient.to_owned());
        let version = history.version(number).ok();
        if version.is_some() {
            row("version", format!("{number} of {}", history.versions.len()));
        }
        let text = version.map_or("", |version| version.text.trim_matches('\n'));
        if !text.is_empty() {
            lines.push(String::new());
            let all: Vec<&str> = text.lines().collect();
            lines.extend(all.iter().take(LINES).map(|&line| line.to_owned()));
            if let Some(rest @ 1..) = all.len().checked_sub(LINES) {
                lines.push(format!("... and {rest} more {}", if rest == 1 { "line" } else { "lines" }));
            }
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::Tensor;

    use super::*;

    fn lines(
        schema: &str,
        text: &str,
        change: impl FnOnce(crate::ops::OpBuilder) -> crate::ops::OpBuilder,
    ) -> Vec<String> {
        let op = change(Op::new(schema).source(text)).build().unwrap();
        op.describe().lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_way_to_give_a_launch_is_written() {
        let text = "__global__ void k(const float* x, float* y, int m, int n) { }";
        let launch = |change: &dyn Fn(crate::ops::OpBuilder) -> crate::ops::OpBuilder| {
            lines("test::launches(Tensor x) -> Tensor", text, |b| change(b.kernel("k").shape("x[m, n] -> y[m, n]")))[2]
                .clone()
        };
        assert_eq!(launch(&|b| b), "launch     one thread per element of the first output, in blocks of 256");
        assert_eq!(launch(&|b| b.threads("n, m")), "launch     n, m threads, in blocks of 16 x 16");
        let all = launch(&|b| b.grid("m").block(8, 4, 2).shared_mem("4 * n"));
        assert_eq!(all, "launch     a grid of m, in blocks of 8 x 4 x 2, with 4 * n bytes of dynamic shared memory");
    }

    #[test]
    fn launch_bounds_templates_closures_and_versions_are_told() {
        let bounded = "__global__ void __launch_bounds__(64) inplace(float* x, int n) { }";
        let of = lines("test::inplace(Tensor(a!) x) -> ()", bounded, |b| b);
        assert_eq!(of[2], "launch     one thread per element of `x`, which it writes, in blocks of 64");
        assert_eq!(of[3], "shape      no outputs: it writes `x`");
        let template = "template <typename T> __global__ void t(const T* x, T* y, int n) { }";
        let of = lines("test::t(Tensor x) -> Tensor", template, |b| b);
        assert_eq!(of[1], "kernel     t, a template: each call gets the instance of its arrays' element types");
        lines("test::described(Tensor x) -> Tensor", template, |b| b);
        let again = format!("{template}\n{}", "// a line\n".repeat(41));
        let of = lines("test::described(Tensor x) -> Tensor", &again, |b| b);
        assert_eq!(of[5], "version    2 of 2");
        assert_eq!((of[6].as_str(), of.len(), of[47].as_str()), ("", 48, "... and 2 more lines"));
        let closure = Op::new("test::closure(Tensor x) -> Tensor").host(|args| {
            let first = args[0].tensor().cloned();
            Ok(vec![first.unwrap_or_else(|| Tensor::zeros(crate::runtime::DType::Float32, &[]))])
        });
        let text = closure.build().unwrap().describe();
        assert_eq!(text.lines().nth(1), Some("function   a closure on whole arrays"));
        assert!(!text.contains("launch"));
    }
}

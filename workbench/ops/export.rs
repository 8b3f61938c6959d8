//! Export of a kernel operator as C++ of a torch extension: the host function that checks arguments, allocates outputs by the shape
//! signature and launches, and its registration. It does the same as [`super::plan`], by torch's C++ API.
//!
//! The launcher is the same for a GPU and for the CPU except for the launch itself: on a GPU `kernel<<<grid, block, 0, stream>>>(...)`, on
//! the CPU a call through `cuda_on_cpu.h`, in which threads are a loop, or fibers where the kernel has barriers.
//!
//! `op.export` writes a torch extension that builds without this project: this file writes the work of `plan.rs` in torch's C++ (checks,
//! dims, outputs, launch); `export.py` adds setup.py, registrations, the fake (Python made from the shape signature) and the gradient, and
//! records calls with their results for its test. Each text is an extension module of its own, so texts cannot clash; its CUDA half is
//! another, left out where there is no nvcc. The CPU half includes the same text after `_export/cuda_on_cpu.h`, which defines CUDA's words
//! in C++. It is written only if that header has every word of CUDA's in the text; the exporter reads the header to know. Launchers of the
//! CUDA half are tested without a GPU: they are CUDA C++ in the style of torch extensions, so the package's own front end runs them, and
//! NVRTC compiles the kernels.

use std::fmt::Write;

use super::Op;
use super::binding::{Bound, Source, fresh_outputs, half_of};
use super::registry::{Definition, Extent, Implementation};
use super::schema::{Kind, Schema};
use super::shape::{ArrayShape, Expr, Extents, Operator, Signature};
use crate::back::cuda::{device_words, qualified_kernels};
use crate::front::builtins::is_device_word;
use crate::ir::{Elem, Function, ParamType, Scalar, Stmt};
use crate::runtime::program::param_type;
use crate::runtime::{DType, Error, Kernel, Result};
use crate::source::FileId;

/// The side on which a launcher runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// A launcher on the CPU, compiled by the system's compiler.
    Cpu,
    /// A launcher on a GPU, compiled by nvcc.
    Cuda,
}

/// An operator as parts of an extension.
#[derive(Debug)]
pub struct Launcher {
    /// The text with the kernel.
    pub text: String,
    /// The macros that it is compiled with.
    pub defines: Vec<(String, String)>,
    /// The launcher for the GPU, to follow the text.
    pub cuda: String,
    /// The launcher for the CPU, likewise, or the reason why there is none.
    pub cpu: std::result::Result<String, String>,
    /// The body of its fake kernel, Python on torch's tensors.
    pub fake: String,
}

/// A function that is true for names of CUDA's that the CPU half has, from `cuda_on_cpu.h` or the C++ library.
pub type Known<'a> = &'a dyn Fn(&str) -> bool;

impl Op {
    /// The operator for a torch extension; `known` is true for names of CUDA's that the CPU half has.
    ///
    /// # Errors
    /// [`Error::Argument`] for an operator that cannot be written in C++: one without a kernel, with several, or with a shape callable.
    pub fn launcher(&self, known: Known<'_>) -> Result<Launcher> {
        let definition = self.definition();
        let fail = |why: &str| Error::argument(format!("`{}` cannot be exported: {why}", self.name()));
        let implementations = definition.implementations();
        let kernel = match implementations.as_slice() {
            [one] => match &**one {
                Implementation::Kernel(kernel) => kernel,
                Implementation::Host(_) => return Err(fail("it is a closure of Rust's")),
                Implementation::Outside(..) => return Err(fail("a callable of Python's serves a part of its calls")),
            },
            _ => return Err(fail("it has kernels of several modules")),
        };
        if definition.shape_fn.is_some() {
            return Err(fail("a callable gives its shapes; a signature can be exported"));
        }
        if !definition.schema.args.iter().any(|a| a.kind == Kind::Tensor) {
            return Err(fail("no argument is a tensor, so torch cannot tell its device"));
        }
        let program = kernel.bound.kernel.program();
        let options = &program.options().front;
        if !options.headers.is_empty() {
            return Err(fail("its text was compiled with headers="));
        }
        let cpp = |name: &str| is_taken_in_cpp(name, kernel.bound.kernel.name());
        let writer = Writer::new(self.name(), &definition, &kernel.bound, &cpp);
        let fake = Writer::new(self.name(), &definition, &kernel.bound, &|name| PYTHON.contains(&name));
        Ok(Launcher {
            text: program.text().to_owned(),
            defines: options.defines.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            cuda: writer.launcher(Half::Cuda),
            cpu: unknown(&kernel.bound.kernel, known).map_or_else(|| Ok(writer.launcher(Half::Cpu)), Err),
            fake: fake.fake(),
        })
    }
}

/// The first construct in a kernel's text that has no meaning on the CPU, as the end of a sentence.
fn unknown(kernel: &Kernel, known: Known<'_>) -> Option<String> {
    let text = kernel.program().text();
    for line in text.lines().map(str::trim_start).filter(|l| l.starts_with('#')) {
        let Some(header) = line[1..].trim_start().strip_prefix("include") else { continue };
        let header = header.trim().trim_matches(['<', '>', '"']);
        if !known(header) {
            return Some(format!("it includes <{header}>"));
        }
    }
    let functions = &kernel.program().module().functions;
    let own = |name: &str| {
        functions.iter().any(|f| !f.library && f.name == name) || text.contains(&format!("namespace {name}"))
    };
    if let Some(words) = text.split("__shared__").next().filter(|_| text.contains("__shared__")) {
        let before = std::iter::once(words).chain(text.split("__shared__").skip(1));
        for (part, next) in before.clone().zip(before.skip(1)) {
            let last = part.split_whitespace().next_back().unwrap_or("");
            let first = next.split_whitespace().next().unwrap_or("");
            if matches!(last, "extern" | "static") || first.starts_with("alignas") || first.starts_with("__align__") {
                return Some("it has shared memory that is `extern`, `static` or aligned".to_owned());
            }
        }
    }
    let missing = device_words(text, is_device_word).into_iter().find(|name| !known(name) && !own(name));
    missing.map(|name| format!("it uses `{name}`"))
}

/// True if threads of a block wait for one another.
fn waits(kernel: &Kernel) -> bool {
    let functions = &kernel.program().module().functions;
    let (mut found, mut seen) = (false, vec![false; functions.len()]);
    let mut open: Vec<&Function> = vec![kernel.function()];
    while let Some(function) = open.pop() {
        function.body.for_each_stmt(&mut |stmt| match stmt {
            Stmt::Barrier(_) | Stmt::Collective { .. } => found = true,
            Stmt::Call { func, .. } if !std::mem::replace(&mut seen[func.index()], true) => {
                open.push(&functions[func.index()]);
            }
            _ => {}
        });
    }
    found
}

struct Writer<'a> {
    name: &'a str,
    definition: &'a Definition,
    bound: &'a Bound,
    /// The schema, with names of arguments that the language allows.
    schema: Schema,
    signature: Option<Signature>,
    plain: Signature,
}

/// True for words of C++, and for names that launchers use.
fn is_taken_in_cpp(name: &str, kernel: &str) -> bool {
    let kernel = kernel.split('<').next().unwrap_or(kernel);
    CPP.contains(&name)
        || kernel.split("::").any(|part| part == name)
        || name.starts_with("output_")
        || name.starts_with("dim_")
        || name.starts_with("argument_")
        || name.ends_with("_memory")
}

const CPP: &[&str] = &[
    "alignas",
    "and",
    "asm",
    "at",
    "auto",
    "block",
    "bool",
    "break",
    "c10",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "elements",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "grid",
    "guard",
    "if",
    "inline",
    "int",
    "int64_t",
    "long",
    "mutable",
    "namespace",
    "new",
    "not",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "shape",
    "short",
    "signed",
    "sizeof",
    "static",
    "std",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "torch",
    "true",
    "try",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "workbench",
    "xor",
];

/// Words of Python, and names that fakes and gradients use; `export.py` renames the same ones.
const PYTHON: &[&str] = &[
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "ctx",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "grad",
    "if",
    "import",
    "in",
    "inputs",
    "is",
    "keyword_only_inputs",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "output",
    "pass",
    "raise",
    "return",
    "torch",
    "try",
    "while",
    "with",
    "yield",
];

impl<'a> Writer<'a> {
    /// `taken` is true for names that an argument cannot have; such an argument gets an underscore.
    fn new(name: &'a str, definition: &'a Definition, bound: &'a Bound, taken: &dyn Fn(&str) -> bool) -> Self {
        let rename = |name: &str| if taken(name) { format!("{name}_") } else { name.to_owned() };
        let mut schema = definition.schema.clone();
        let integers: Vec<String> = schema.args.iter().filter(|a| a.kind.is_int()).map(|a| a.name.clone()).collect();
        schema.args.iter_mut().for_each(|a| a.name = rename(&a.name));
        let signed = |signature: &Signature| {
            let mut made = signature.clone();
            made.inputs.iter_mut().for_each(|i| i.name = rename(&i.name));
            // A dim that is an integer argument has the argument's name.
            made.dims.iter_mut().filter(|d| integers.contains(d)).for_each(|d| *d = rename(d));
            made
        };
        let (signature, plain) = (definition.signature.as_ref().map(signed), signed(&definition.plain));
        Writer { name, definition, bound, schema, signature, plain }
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The dims' names, by the signature or without.
    fn names(&self) -> &Signature {
        self.signature.as_ref().unwrap_or(&self.plain)
    }

    fn launcher(&self, half: Half) -> String {
        let mut out = Text::default();
        let schema = self.schema();
        let device = if half == Half::Cuda { "cuda" } else { "cpu" };
        let overload = if schema.overload.is_empty() { String::new() } else { format!("_{}", schema.overload) };
        let function = format!("workbench_{}_{}{overload}_{device}", schema.namespace, schema.name);
        let args: Vec<String> = schema.args.iter().map(|a| format!("{} {}", cpp_type(&a.kind), a.name)).collect();
        let returns = match schema.returns.len() {
            0 => "void".to_owned(),
            1 => "at::Tensor".to_owned(),
            n => format!("std::tuple<{}>", vec!["at::Tensor"; n].join(", ")),
        };
        out.line("");
        out.line("namespace {");
        out.line("");
        out.line(format!("// {}", self.definition.schema));
        if let Some(signature) = &self.signature {
            out.line(format!("// {}", signature.text));
        }
        out.line(format!("{returns} {function}({}) {{", args.join(", ")));
        self.arguments(&mut out, half);
        self.dims(&mut out);
        self.outputs(&mut out);
        self.launch(&mut out, half);
        self.copy_back(&mut out);
        self.result(&mut out);
        out.line("}");
        out.line("");
        out.line("}  // namespace");
        out.line("");
        let key = if half == Half::Cuda { "CUDA" } else { "CPU" };
        out.line(format!("TORCH_LIBRARY_IMPL({}, {key}, workbench_library) {{", schema.namespace));
        let overload = if schema.overload.is_empty() { String::new() } else { format!(".{}", schema.overload) };
        out.line(format!("  workbench_library.impl(\"{}{overload}\", &{function});", schema.name));
        out.line("}");
        out.0
    }

    /// Checks that every array has contiguous memory, and that all are on one device with the kernel's element types.
    fn arguments(&self, out: &mut Text, half: Half) {
        let first = self.schema().args.iter().find(|a| a.kind == Kind::Tensor).map_or("", |a| a.name.as_str());
        if half == Half::Cuda {
            out.line(format!("  const c10::cuda::CUDAGuard guard({first}.device());"));
        }
        for (a, arg) in self.schema().args.iter().enumerate().filter(|(_, a)| a.is_tensor()) {
            let name = &arg.name;
            let dtype =
                self.bound.sources.iter().zip(self.bound.kernel.params()).find_map(|(source, param)| match source {
                    Source::Input(i, _) if *i == a => match param.ty {
                        ParamType::Ptr { elem, .. } => elem.map(DType::from),
                        _ => None,
                    },
                    _ => None,
                });
            let (value, lead) = if arg.kind == Kind::Tensor {
                (name.clone(), String::new())
            } else {
                (format!("(*{name})"), format!("if ({name}.has_value()) "))
            };
            let wanted = dtype.map_or_else(|| format!("{value}.scalar_type()"), |d| at_type(d).to_owned());
            out.line(format!(
                "  {lead}workbench::check(\"{}\", \"{name}\", {value}, {wanted}, {first}.device());",
                self.name
            ));
            match arg.kind {
                Kind::Tensor => out.line(format!("  const at::Tensor {name}_memory = {name}.contiguous();")),
                _ => out.line(format!(
                    "  const at::Tensor {name}_memory = {name}.has_value() ? {name}->contiguous() : at::Tensor();"
                )),
            }
        }
    }

    /// The dims, from integer arguments and shapes.
    fn dims(&self, out: &mut Text) {
        let names = self.names();
        for (d, dim) in names.dims.iter().enumerate().filter(|(d, _)| self.needs(*d)) {
            let given = self.schema().args.iter().find(|a| a.name == *dim && a.kind.is_int());
            let start = given.map_or_else(String::new, |a| format!(", {}", a.name));
            out.line(format!("  workbench::Dim {}{{\"{dim}\"{start}}};", dim_name(names, d)));
        }
        let Some(signature) = &self.signature else { return };
        let any = signature.inputs.iter().filter(|i| i.extents == Extents::Any).count() > 0;
        if any {
            out.line("  std::optional<std::vector<int64_t>> shape;");
        }
        for input in &signature.inputs {
            let optional = self.schema().args.iter().any(|a| a.name == input.name && a.kind != Kind::Tensor);
            let array = if optional { format!("(*{})", input.name) } else { input.name.clone() };
            let indent = if optional { "    " } else { "  " };
            if optional {
                out.line(format!("  if ({}.has_value()) {{", input.name));
            }
            let name = format!("\"{}\", \"{}\"", self.name, input.name);
            match &input.extents {
                Extents::Any => out.line(format!("{indent}workbench::same_shape({name}, {array}, shape);")),
                Extents::Listed(listed) => {
                    out.line(format!("{indent}workbench::check_rank({name}, {array}, {});", listed.len()));
                    for (axis, expr) in listed.iter().enumerate() {
                        match expr {
                            Expr::Number(v) => {
                                out.line(format!("{indent}workbench::check_extent({name}, {array}, {axis}, {v});"));
                            }
                            Expr::Dim(d) => {
                                out.line(format!("{indent}{}.bind({name}, {array}, {axis});", dim_name(signature, *d)))
                            }
                            Expr::Binary(..) => {}
                        }
                    }
                }
            }
            if optional {
                out.line("  }");
            }
        }
        for &d in signature.star.iter().filter(|d| any && self.needs(**d)) {
            out.line(format!("  {}.set(workbench::numel(shape.value()));", dim_name(signature, d)));
        }
    }

    /// True if a dim is bound by a shape, or needed by outputs, kernel or launch.
    fn needs(&self, dim: usize) -> bool {
        let names = self.names();
        let listed = |arrays: &[ArrayShape]| {
            arrays.iter().any(|a| match &a.extents {
                Extents::Any => false,
                Extents::Listed(listed) => listed.iter().any(|e| e.uses(dim)),
            })
        };
        let launch = match &self.definition.extent {
            Extent::PerElement => false,
            Extent::Threads(exprs) | Extent::Blocks(exprs) => exprs.iter().any(|e| e.uses(dim)),
        };
        let shapes = self.signature.is_some() && (listed(&names.inputs) || listed(&names.outputs));
        let launch = launch || self.definition.shared_mem.as_ref().is_some_and(|e| e.uses(dim));
        shapes || launch || self.bound.sources.contains(&Source::Dim(dim))
    }

    fn outputs(&self, out: &mut Text) {
        let first = self.schema().args.iter().find(|a| a.kind == Kind::Tensor).map_or("", |a| a.name.as_str());
        for (k, dtype) in self.bound.outputs.iter().enumerate() {
            let sizes = match &self.signature {
                Some(signature) => match &signature.outputs[k].extents {
                    Extents::Any => "shape.value()".to_owned(),
                    Extents::Listed(listed) => {
                        let extents: Vec<String> = listed.iter().map(|e| cpp_expr(signature, e, true)).collect();
                        format!(
                            "workbench::sizes(\"{}\", \"{}\", {{{}}})",
                            self.name,
                            signature.outputs[k].name,
                            extents.join(", ")
                        )
                    }
                },
                None => format!("{first}.sizes()"),
            };
            out.line(format!(
                "  at::Tensor output_{k} = at::empty({sizes}, {first}.options().dtype({}));",
                at_type(*dtype)
            ));
        }
        let elements = match self.bound.outputs.is_empty() {
            false => "output_0.numel()".to_owned(),
            true => self.written().next().map_or("0".to_owned(), |name| format!("{name}_memory.numel()")),
        };
        if self.counts() {
            out.line(format!("  const int64_t elements = {elements};"));
        }
        if self.signature.is_none() {
            for &d in self.names().star.iter().filter(|d| self.needs(**d)) {
                out.line(format!("  {}.set(elements);", dim_name(self.names(), d)));
            }
        }
    }

    /// True if the element count is needed.
    fn counts(&self) -> bool {
        let star = self.signature.is_none() && self.names().star.iter().any(|d| self.needs(*d));
        star || matches!(self.definition.extent, Extent::PerElement) || self.bound.sources.contains(&Source::Count)
    }

    fn written(&self) -> impl Iterator<Item = &str> {
        self.schema().args.iter().filter(|a| a.mutated).map(|a| a.name.as_str())
    }

    fn launch(&self, out: &mut Text, half: Half) {
        let outputs = (0..self.bound.outputs.len()).map(|k| format!("output_{k}.numel() > 0"));
        let every: Vec<String> = outputs.chain(self.written().map(|w| format!("{w}_memory.numel() > 0"))).collect();
        out.line(format!("  if ({}) {{", every.join(" || ")));
        let [x, y, z] = self.definition.block;
        out.line(format!("    const dim3 block({x}, {y}, {z});"));
        let extents =
            |exprs: &[Expr]| -> Vec<String> { exprs.iter().map(|e| cpp_expr(self.names(), e, false)).collect() };
        let counts = match &self.definition.extent {
            Extent::PerElement => vec!["elements".to_owned()],
            Extent::Threads(exprs) | Extent::Blocks(exprs) => extents(exprs),
        };
        let make = if matches!(self.definition.extent, Extent::Blocks(_)) { "blocks" } else { "blocks_of" };
        let widths = [x, y, z];
        let grid: Vec<String> = counts
            .iter()
            .zip(widths)
            .map(|(count, width)| match make {
                "blocks" => format!("workbench::blocks(\"{}\", {count})", self.name),
                _ => format!("workbench::blocks_of(\"{}\", {count}, {width})", self.name),
            })
            .collect();
        out.line(format!("    const dim3 grid({});", grid.join(", ")));
        // Checks before the launch: a number that does not fit is one error here, and not an error in every thread.
        for i in 0..self.bound.sources.len() {
            out.line(format!("    const auto argument_{i} = {};", self.kernel_argument(i)));
        }
        let args = (0..self.bound.sources.len()).map(|i| format!("argument_{i}")).collect::<Vec<_>>().join(", ");
        let kernel = self.kernel_name();
        match half {
            Half::Cuda => {
                let bytes = match &self.definition.shared_mem {
                    None => "0",
                    Some(expr) => {
                        let expr = cpp_expr(self.names(), expr, false);
                        out.line(format!("    const int bytes = workbench::shared_bytes(\"{}\", {expr});", self.name));
                        out.line("    if (bytes > 48 * 1024) {");
                        out.line(format!(
                            "      C10_CUDA_CHECK(cudaFuncSetAttribute({kernel}, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));"
                        ));
                        out.line("    }");
                        "bytes"
                    }
                };
                out.line(format!("    {kernel}<<<grid, block, {bytes}, at::cuda::getCurrentCUDAStream()>>>({args});"));
                out.line("    C10_CUDA_KERNEL_LAUNCH_CHECK();");
            }
            Half::Cpu => {
                let how = if waits(&self.bound.kernel) { "run_with_barriers" } else { "run" };
                out.line(format!("    workbench::{how}(grid, block, [&] {{ {kernel}({args}); }});"));
            }
        }
        out.line("  }");
    }

    /// The kernel's name as C++ finds it at the end of the text.
    fn kernel_name(&self) -> String {
        let (kernel, text) = (&self.bound.kernel, self.bound.kernel.program().text());
        let (base, args) = kernel.name().split_at(kernel.name().find('<').unwrap_or(kernel.name().len()));
        let qualified = qualified_kernels(text);
        let found = qualified.iter().find(|(name, whole)| name == base || whole == base);
        format!("{}{args}", found.map_or(base, |(_, whole)| whole.as_str()))
    }

    fn kernel_argument(&self, i: usize) -> String {
        let param = &self.bound.kernel.params()[i];
        let (op, name) = (self.name, &param.name);
        let number = |value: &str| match param.ty {
            ParamType::Scalar(s) => format!("workbench::narrow<{}>(\"{op}\", \"{name}\", {value})", s.c_name()),
            // torch's 16-bit floats become CUDA's where the parameter has those.
            _ => match half_of(param) {
                Some(elem) => {
                    let ty = if elem == Elem::F16 { "c10::Half" } else { "c10::BFloat16" };
                    format!("{ty}(workbench::narrow<float>(\"{op}\", \"{name}\", {value}))")
                }
                None => value.to_owned(),
            },
        };
        match self.bound.sources[i] {
            Source::Input(a, written) => {
                let arg = &self.schema().args[a];
                let memory = format!("{}_memory", arg.name);
                let ty = self.pointer_type(i);
                let data = if written { "mutable_data_ptr" } else { "const_data_ptr" };
                let pointer = match (written, matches!(param.ty, ParamType::Ptr { is_const: true, .. })) {
                    // A pointer without `const` to memory that the kernel only reads.
                    (false, false) => format!("static_cast<{ty}>(const_cast<void*>({memory}.{data}()))"),
                    _ => format!("static_cast<{ty}>({memory}.{data}())"),
                };
                match arg.kind {
                    Kind::Tensor => pointer,
                    _ => format!("{}.has_value() ? {pointer} : static_cast<{ty}>(nullptr)", arg.name),
                }
            }
            Source::Output(k) => format!("static_cast<{}>(output_{k}.mutable_data_ptr())", self.pointer_type(i)),
            Source::Scalar(a) => {
                let arg = &self.schema().args[a];
                let (kind, value) = match &arg.kind {
                    Kind::Optional(inner) => {
                        (&**inner, format!("workbench::given(\"{op}\", \"{}\", {})", arg.name, arg.name))
                    }
                    kind => (kind, arg.name.clone()),
                };
                match (kind, param.ty) {
                    (Kind::Scalar, ParamType::Scalar(Scalar::F32 | Scalar::F64) | ParamType::Bytes { .. }) => {
                        number(&format!("{value}.to<double>()"))
                    }
                    (Kind::Scalar, ParamType::Scalar(Scalar::Bool)) => format!("{value}.to<bool>()"),
                    (Kind::Scalar, _) => number(&format!("{value}.to<int64_t>()")),
                    (_, ParamType::Scalar(Scalar::Bool)) => value,
                    _ => number(&value),
                }
            }
            Source::Dim(d) => number(&format!("{}.value", dim_name(self.names(), d))),
            Source::Count => number("elements"),
        }
    }

    /// A pointer parameter's type as the text has it; for an instance of a template, the type it was compiled with.
    fn pointer_type(&self, i: usize) -> String {
        let kernel = &self.bound.kernel;
        let param = &kernel.params()[i];
        let compiled = param_type(param.ty);
        if kernel.name().contains('<') || param.span.file != FileId(0) {
            return compiled;
        }
        let declared = kernel.program().text().get(..param.span.end as usize).unwrap_or("");
        let Some(star) = declared.rfind('*') else { return compiled };
        let begin = declared[..star].rfind(['(', ',']).map_or(0, |at| at + 1);
        let written: Vec<&str> = declared[begin..star].split_whitespace().collect();
        let flat = !declared.contains("namespace");
        let named =
            |word: &str| flat && word.chars().all(|c| c.is_alphanumeric() || c == '_') && !word.starts_with("__");
        let is_everywhere =
            |word: &&str| BASIC.contains(word) || crate::front::builtins::vector(word).is_some() || named(word);
        if written.is_empty() || !written.iter().all(is_everywhere) {
            return compiled;
        }
        format!("{}*", written.join(" "))
    }

    fn copy_back(&self, out: &mut Text) {
        for name in self.written() {
            let optional = self.schema().args.iter().any(|a| a.name == name && a.kind != Kind::Tensor);
            let (lead, array) = if optional {
                (format!("{name}.has_value() && "), format!("(*{name})"))
            } else {
                (String::new(), name.to_owned())
            };
            out.line(format!("  if ({lead}!{name}_memory.is_same({array})) {array}.copy_({name}_memory);"));
        }
    }

    fn result(&self, out: &mut Text) {
        let mut fresh = 0;
        let values: Vec<String> = self
            .schema()
            .returns
            .iter()
            .map(|ret| {
                let of = self.schema().args.iter().find(|a| ret.mutated && a.mutated && a.alias == ret.alias);
                of.map_or_else(
                    || {
                        fresh += 1;
                        format!("output_{}", fresh - 1)
                    },
                    |a| a.name.clone(),
                )
            })
            .collect();
        match values.as_slice() {
            [] => {}
            [one] => out.line(format!("  return {one};")),
            many => out.line(format!("  return {{{}}};", many.join(", "))),
        }
    }

    /// The fake kernel: shapes alone, on torch's tensors, whose sizes may be symbols.
    fn fake(&self) -> String {
        let mut out = Text::default();
        let first = self.schema().args.iter().find(|a| a.kind == Kind::Tensor).map_or("", |a| a.name.as_str());
        let new = |sizes: &str, dtype: DType| format!("{first}.new_empty({sizes}, dtype=torch.{})", dtype.name());
        let mut made = Vec::new();
        match &self.signature {
            None => made.extend(self.bound.outputs.iter().map(|d| new(&format!("{first}.shape"), *d))),
            Some(signature) => {
                let mut known = vec![false; signature.dims.len()];
                for (d, dim) in signature.dims.iter().enumerate() {
                    known[d] = self.schema().args.iter().any(|a| a.name == *dim && a.kind.is_int());
                }
                let mut any: Option<&str> = None;
                for input in &signature.inputs {
                    let optional = self.schema().args.iter().any(|a| a.name == input.name && a.kind != Kind::Tensor);
                    if optional {
                        continue;
                    }
                    match &input.extents {
                        Extents::Any => any = any.or(Some(&input.name)),
                        Extents::Listed(listed) => {
                            for (axis, expr) in listed.iter().enumerate() {
                                if let Expr::Dim(d) = expr
                                    && !std::mem::replace(&mut known[*d], true)
                                {
                                    out.line(format!(
                                        "    {} = {}.shape[{axis}]",
                                        python_dim(signature, *d),
                                        input.name
                                    ));
                                }
                            }
                        }
                    }
                }
                // Dims that only an optional array binds.
                for input in &signature.inputs {
                    let Extents::Listed(listed) = &input.extents else {
                        any = any.or(Some(&input.name));
                        continue;
                    };
                    for (axis, expr) in listed.iter().enumerate() {
                        if let Expr::Dim(d) = expr
                            && !std::mem::replace(&mut known[*d], true)
                        {
                            let dim = python_dim(signature, *d);
                            out.line(format!("    {dim} = 0 if {0} is None else {0}.shape[{axis}]", input.name));
                        }
                    }
                }
                for &d in &signature.star {
                    if let Some(any) = any
                        && !std::mem::replace(&mut known[d], true)
                    {
                        let used = signature
                            .outputs
                            .iter()
                            .any(|o| matches!(&o.extents, Extents::Listed(l) if l.iter().any(|e| e.uses(d))));
                        if used {
                            out.line(format!("    {} = {any}.numel()", python_dim(signature, d)));
                        }
                    }
                }
                for (k, output) in signature.outputs.iter().enumerate() {
                    let sizes = match &output.extents {
                        Extents::Any => format!("{}.shape", any.unwrap_or(first)),
                        Extents::Listed(listed) => {
                            let extents: Vec<String> = listed.iter().map(|e| python_expr(signature, e)).collect();
                            format!("[{}]", extents.join(", "))
                        }
                    };
                    made.push(new(&sizes, self.bound.outputs[k]));
                }
            }
        }
        let mut fresh = made.into_iter();
        let values: Vec<String> = self
            .schema()
            .returns
            .iter()
            .map(|ret| {
                let of = self.schema().args.iter().find(|a| ret.mutated && a.mutated && a.alias == ret.alias);
                of.map_or_else(|| fresh.next().unwrap_or_default(), |a| a.name.clone())
            })
            .collect();
        debug_assert_eq!(fresh_outputs(self.schema()).len(), self.bound.outputs.len());
        match values.as_slice() {
            [] => out.line("    return None"),
            [one] => out.line(format!("    return {one}")),
            many => out.line(format!("    return {}", many.join(", "))),
        }
        out.0
    }
}

/// Names of types that mean the same everywhere.
const BASIC: &[&str] = &[
    "const",
    "unsigned",
    "signed",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "bool",
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "size_t",
    "__half",
    "half",
    "__nv_bfloat16",
    "nv_bfloat16",
];

/// Text, line after line.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: impl AsRef<str>) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.0, "{}", line.as_ref());
    }
}

/// The type of an argument in an unboxed kernel.
fn cpp_type(kind: &Kind) -> String {
    match kind {
        Kind::Tensor => "const at::Tensor&".to_owned(),
        // A kernel is called with plain numbers, even if the schema has symbols while shapes are traced.
        Kind::Int | Kind::SymInt => "int64_t".to_owned(),
        Kind::Float => "double".to_owned(),
        Kind::Bool => "bool".to_owned(),
        Kind::Scalar => "const at::Scalar&".to_owned(),
        Kind::Str => "c10::string_view".to_owned(),
        Kind::Optional(inner) => {
            let inner = cpp_type(inner);
            let by_reference = inner.ends_with('&');
            let bare = inner.trim_start_matches("const ").trim_end_matches('&');
            if by_reference { format!("const std::optional<{bare}>&") } else { format!("std::optional<{bare}>") }
        }
        // Other kinds are never bound to a kernel.
        Kind::ScalarType | Kind::Named(_) | Kind::Generic(..) | Kind::Tuple(_) | Kind::List(..) => {
            "const c10::IValue&".to_owned()
        }
    }
}

fn at_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "at::kBool",
        DType::Int8 => "at::kChar",
        DType::UInt8 => "at::kByte",
        DType::Int16 => "at::kShort",
        DType::UInt16 => "at::kUInt16",
        DType::Int32 => "at::kInt",
        DType::UInt32 => "at::kUInt32",
        DType::Int64 => "at::kLong",
        DType::UInt64 => "at::kUInt64",
        DType::Float16 => "at::kHalf",
        DType::BFloat16 => "at::kBFloat16",
        DType::Float32 => "at::kFloat",
        DType::Float64 => "at::kDouble",
    }
}

/// A dim as a variable; no argument has its name.
fn dim_name(signature: &Signature, dim: usize) -> String {
    format!("dim_{}", signature.dims[dim])
}

/// A dim as a variable of Python's with a name that no argument has, except for the integer argument that is the dim.
fn python_dim(signature: &Signature, dim: usize) -> String {
    let name = &signature.dims[dim];
    let taken = PYTHON.contains(&name.as_str()) || signature.inputs.iter().any(|i| i.name == *name);
    if taken { format!("dim_{name}") } else { name.clone() }
}

/// `known`: uses only dims that something has bound.
fn cpp_expr(signature: &Signature, expr: &Expr, known: bool) -> String {
    match expr {
        Expr::Number(v) => format!("int64_t({v})"),
        Expr::Dim(d) if known => format!("{}.known()", dim_name(signature, *d)),
        Expr::Dim(d) => format!("{}.value", dim_name(signature, *d)),
        Expr::Binary(op, a, b) => {
            let (a, b) = (cpp_expr(signature, a, known), cpp_expr(signature, b, known));
            match op {
                Operator::Add => format!("({a} + {b})"),
                Operator::Sub => format!("({a} - {b})"),
                Operator::Mul => format!("({a} * {b})"),
                Operator::Div => format!("workbench::floor_div({a}, {b})"),
                Operator::Rem => format!("workbench::floor_mod({a}, {b})"),
                Operator::Min => format!("std::min({a}, {b})"),
                Operator::Max => format!("std::max({a}, {b})"),
            }
        }
    }
}

fn python_expr(signature: &Signature, expr: &Expr) -> String {
    match expr {
        Expr::Number(v) => v.to_string(),
        Expr::Dim(d) => python_dim(signature, *d),
        Expr::Binary(op, a, b) => {
            let (a, b) = (python_expr(signature, a), python_expr(signature, b));
            match op {
                Operator::Add => format!("({a} + {b})"),
                Operator::Sub => format!("({a} - {b})"),
                Operator::Mul => format!("({a} * {b})"),
                Operator::Div => format!("({a} // {b})"),
                Operator::Rem => format!("({a} % {b})"),
                Operator::Min => format!("torch.sym_min({a}, {b})"),
                Operator::Max => format!("torch.sym_max({a}, {b})"),
            }
        }
    }
}

//! A compiled text: its kernels and host functions, ready to run.

mod calls;
mod gradients;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use smallvec::SmallVec;

pub use super::extents::limits;
use super::extents::{Allowed, INVALID_DEVICE_FUNCTION, NOT_SUPPORTED, check_extents, check_shared, refused};
pub use super::hints::{declared_type, param_type};
use super::host::one_at_a_time::Turns;
use super::host::{Export, LibraryEntry, Notes};
use super::make::{cpu_code, cuda_code};
pub use super::options::{CompileOptions, OptionValue};
use super::{DType, Error, Fault, Report, Result};
use crate::back::cpu::Refusal;
pub use crate::back::cpu::{Settled, Tier, Tiers, discard, forget_own, hurried, settle, settle_while};
use crate::back::{self, LaunchConfig, Outcome, RawArg};
use crate::diagnostic::Diagnostic;
use crate::ir::{self, Const, FuncId, FuncKind, Param, ParamType, Scalar};
use crate::plural::plural;
use crate::source::{SourceMap, Span};
use crate::{front, pass, valid};

/// The device that a program runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Device {
    /// This process, through Cranelift.
    #[default]
    Cpu,
    /// An NVIDIA GPU, through NVRTC and the driver.
    Cuda,
}

impl Device {
    /// `cpu` or `cuda`.
    pub fn name(self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Cuda => "cuda",
        }
    }

    /// The device of a name: `cpu`, `cuda`, or `cuda:0`, the GPU that host arrays are copied to.
    pub fn from_name(name: &str) -> Option<Device> {
        match name {
            "cpu" => Some(Device::Cpu),
            "cuda" | "cuda:0" => Some(Device::Cuda),
            _ => None,
        }
    }

    /// What must stand instead of a name that is no device, for messages.
    pub fn wanted(name: &str) -> &'static str {
        if name.starts_with("cuda:") {
            "\"cpu\", \"cuda\" or \"cuda:0\": host arrays are copied to the first GPU, and arrays that lie on another are computed there"
        } else {
            "\"cpu\" or \"cuda\""
        }
    }
}

/// A host array lent to a launch. The lender keeps the memory alive and in its place until the launch returns.
#[derive(Debug, Clone, Copy)]
pub struct BufferArg {
    /// First byte.
    pub ptr: *mut u8,
    /// Size in bytes.
    pub bytes: usize,
    /// Element type; it must be the parameter's.
    pub dtype: DType,
    /// True if the kernel may write it.
    pub writable: bool,
}

/// One argument of a launch.
#[derive(Debug, Clone, Copy)]
pub enum Arg {
    /// A scalar; its type must be the parameter's.
    Scalar(Const),
    /// An array.
    Buffer(BufferArg),
    /// A null pointer.
    Null,
}

impl Arg {
    /// The argument for a parameter's default.
    pub fn of_default(default: Const) -> Self {
        if default == Const::Null { Arg::Null } else { Arg::Scalar(default) }
    }
}

struct Inner {
    text: String,
    options: CompileOptions,
    sources: Arc<SourceMap>,
    module: ir::Module,
    warnings: Vec<Diagnostic>,
    code: DeviceCode,
    /// Programs of instances of kernels' templates, by the name asked for.
    instances: Mutex<HashMap<String, Program>>,
    /// Kernels that calls have deduced, by the calls.
    deduced: Mutex<HashMap<front::kernel_calls::KernelCall, Kernel>>,
    /// The same text compiled for a GPU, once an operator has asked for it.
    for_gpu: Mutex<Option<Program>>,
    /// The host functions and operators that the text offers, once its registrations have run.
    exports: OnceLock<(Vec<Export>, Vec<LibraryEntry>)>,
    /// The function that calls the text's exports, where there are any.
    entry: Option<FuncId>,
    /// The notes that host code has left for later calls.
    notes: Arc<Notes>,
    /// The turns at its host code, where that keeps variables.
    turns: Option<Arc<Turns>>,
    /// The shared memory that its host code has asked for.
    allowed: Allowed,
    /// True if its tensors are said to be on a GPU: it has kernels, or asks cuBLAS for some.
    is_for_gpus: bool,
}

enum DeviceCode {
    Cpu(back::cpu::Code),
    Cuda(Box<back::cuda::Code>),
}

/// A compiled text. Cloning shares it; the machine code lives as long as any handle or running launch.
#[derive(Clone)]
pub struct Program(Arc<Inner>);

/// A kernel of a [`Program`].
#[derive(Clone)]
pub struct Kernel {
    program: Program,
    id: FuncId,
}

impl Program {
    /// Compiles a text.
    ///
    /// # Errors
    /// [`Error::Compile`] with every diagnostic when the text is wrong; [`Error::DeviceUnavailable`] when
    /// [`Device::Cuda`] is asked for and NVRTC cannot be found.
    pub fn compile(text: &str, options: &CompileOptions) -> Result<Program> {
        Program::compile_beside(text, options, None)
    }

    /// As [`Program::compile`]; `same` is a program of the same text, whose variables the new one shares on the CPU.
    fn compile_beside(text: &str, options: &CompileOptions, same: Option<&back::cpu::Code>) -> Result<Program> {
        let name = if options.name.is_empty() { "<kernel>" } else { &options.name };
        let mut sources = SourceMap::new();
        // Other tiers make all of their code themselves.
        let keeps = options.device == Device::Cpu && options.tier == Tier::Auto;
        let keeper: Option<ir::kept::Keeper> = if keeps { Some(back::cpu::known) } else { None };
        // The variables of an instance are those of its program, so nothing is made ahead.
        let mut ahead = (keeps && same.is_none()).then(|| back::cpu::Ahead::new(valid::validate));
        let meanwhile = ahead.as_ref().map(|ahead| ahead as &dyn ir::ahead::Ahead);
        let (mut module, mut diags) = front::compile_with(&mut sources, name, text, &options.front, keeper, meanwhile);
        let (module, code, warnings) = match options.device {
            Device::Cpu => loop {
                match cpu_code(&module, diags, same, options.tier, ahead.take()) {
                    Ok(Some((code, warnings))) => break (module, DeviceCode::Cpu(code), warnings),
                    Ok(None) => {
                        sources = SourceMap::new();
                        (module, diags) = front::compile(&mut sources, name, text, &options.front);
                    }
                    Err(diagnostics) => return Err(Error::Compile { diagnostics, sources: Arc::new(sources) }),
                }
            },
            Device::Cuda => {
                let (module, code, warnings) = cuda_code(text, name, options, &mut sources, module, &diags)?;
                (module, DeviceCode::Cuda(Box::new(code)), warnings)
            }
        };
        let is_for_gpus = module.kernels().next().is_some() || sources.has(crate::library::CUBLAS.name);
        let keeps = module.globals.iter().any(|data| data.space == ir::Space::Host);
        let turns = keeps.then(Arc::default);
        let entry = calls::entry_of(&module);
        Ok(Program(Arc::new(Inner {
            text: text.to_owned(),
            options: options.clone(),
            sources: Arc::new(sources),
            module,
            warnings,
            code,
            instances: Mutex::default(),
            deduced: Mutex::default(),
            for_gpu: Mutex::default(),
            exports: OnceLock::new(),
            entry,
            notes: Arc::default(),
            turns,
            allowed: Allowed::default(),
            is_for_gpus,
        })))
    }

    /// A program for the CPU, of a module made from this one's. Its variables begin with the values that this one's
    /// have now.
    fn derive(&self, mut module: ir::Module) -> Result<Program> {
        for (i, (data, own)) in module.globals.iter_mut().zip(&self.0.module.globals).enumerate() {
            if let Some(bytes) = self.cpu_code().and_then(|code| code.read_global(ir::Global::new(i))) {
                data.bytes = pass::widen::data_as(own.elem, data.elem, bytes);
            }
        }
        match cpu_code(&module, Vec::new(), None, self.0.options.tier, None) {
            Ok(None) => Err(Error::argument("the code of the rewritten program does not fit".to_owned())),
            Ok(Some((code, warnings))) => Ok(Program(Arc::new(Inner {
                text: self.0.text.clone(),
                options: self.0.options.clone(),
                sources: self.0.sources.clone(),
                module,
                warnings,
                code: DeviceCode::Cpu(code),
                instances: Mutex::default(),
                deduced: Mutex::default(),
                for_gpu: Mutex::default(),
                exports: OnceLock::new(),
                entry: self.0.entry,
                notes: Arc::default(),
                turns: self.0.turns.clone(),
                allowed: Allowed::default(),
                is_for_gpus: self.0.is_for_gpus,
            }))),
            Err(diagnostics) => Err(Error::Compile { diagnostics, sources: self.0.sources.clone() }),
        }
    }

    /// The place for the program of the same text, compiled for a GPU.
    pub(super) fn twin(&self) -> &Mutex<Option<Program>> {
        &self.0.for_gpu
    }

    pub(super) fn cpu_code(&self) -> Option<&back::cpu::Code> {
        match &self.0.code {
            DeviceCode::Cpu(code) => Some(code),
            DeviceCode::Cuda(_) => None,
        }
    }

    /// True if launches run the best machine code they ever will; [`settle`] waits for that.
    pub fn is_settled(&self) -> bool {
        self.cpu_code().is_none_or(back::cpu::Code::is_settled)
    }

    /// The text as given.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The options it was compiled with.
    pub fn options(&self) -> &CompileOptions {
        &self.0.options
    }

    /// The text and every header it included.
    pub fn sources(&self) -> &Arc<SourceMap> {
        &self.0.sources
    }

    /// Warnings of the compilation.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.0.warnings
    }

    /// The kernels' names, in text order.
    pub fn kernel_names(&self) -> Vec<String> {
        self.0.module.kernels().map(|(_, f)| f.name.clone()).collect()
    }

    /// The host functions' names, in text order.
    pub fn host_functions(&self) -> Vec<String> {
        let functions = self.0.module.functions.iter().filter(|f| f.kind == FuncKind::Host && !f.library);
        functions.map(|f| f.name.clone()).filter(|name| !name.starts_with("__wb")).collect()
    }

    /// A kernel by name; an instance of a template by a name with its arguments, `scale<float, 4>`, which compiles it. On the CPU all
    /// kernels of a program share its `__constant__` and `__device__` variables; on a GPU such an instance has its own.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the kernels there are, [`Error::Compile`] when an instance does not compile.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        if name.contains('<') && !self.0.module.kernels().any(|(_, f)| f.name == name) {
            return self.instance(name);
        }
        match self.0.module.kernels().find(|(_, f)| f.name == name) {
            Some((id, _)) => Ok(Kernel { program: self.clone(), id }),
            None if let DeviceCode::Cuda(code) = &self.0.code
                && let Some(why) = code.unlaunchable(name) =>
            {
                Err(Error::argument(why))
            }
            None => Err(Error::argument(format!(
                "there is no kernel `{name}` in {}; it has {}{}{}",
                self.0.sources.file(crate::source::FileId(0)).map_or("the text", |f| f.name.as_str()),
                list(&self.kernel_names()),
                self.template_hint(),
                self.kernel_hint(name),
            ))),
        }
    }

    /// An instance of a kernel's template.
    fn instance(&self, name: &str) -> Result<Kernel> {
        let known = self.0.instances.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let program = match known {
            Some(program) => program,
            None => {
                let mut options = self.0.options.clone();
                options.front.instances.push(name.to_owned());
                let program = Program::compile_beside(&self.0.text, &options, self.cpu_code())?;
                let mut all = self.0.instances.lock().unwrap_or_else(PoisonError::into_inner);
                all.entry(name.to_owned()).or_insert(program).clone()
            }
        };
        match program.0.module.kernels().find(|(_, f)| f.name == name) {
            Some((id, _)) => Ok(Kernel { program: program.clone(), id }),
            None => Err(Error::argument(format!(
                "`{name}` is no instance of a kernel's template; the text has {}{}",
                list(&self.kernel_names()),
                self.template_hint()
            ))),
        }
    }

    /// The instance of a kernel's template that a call asks for, deduced as C++ deduces it for a launch, and compiled where it is new. On the CPU
    /// its `__constant__` and `__device__` variables are this program's.
    ///
    /// # Errors
    /// [`Error::Argument`] when no template of the name takes such arguments, or they leave some of its own open;
    /// [`Error::Compile`] when the instance does not compile.
    pub fn deduce(&self, call: &front::kernel_calls::KernelCall) -> Result<Kernel> {
        if let Some(known) = self.deduced(call) {
            return Ok(known);
        }
        let mut options = self.0.options.clone();
        options.front.calls = vec![call.clone()];
        let program = Program::compile_beside(&self.0.text, &options, self.cpu_code())?;
        let Some(&id) = program.0.module.deduced.first() else {
            let name = &call.template;
            return Err(Error::argument(format!(
                "the arguments of the template `{name}` do not follow from {}; ask for an instance, such as `{name}<float>`",
                described(&call.args)
            )));
        };
        let kernel = Kernel { program, id };
        let mut all = self.0.deduced.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(all.entry(call.clone()).or_insert(kernel).clone())
    }

    /// The instance that a call has deduced before.
    pub(super) fn deduced(&self, call: &front::kernel_calls::KernelCall) -> Option<Kernel> {
        self.0.deduced.lock().unwrap_or_else(PoisonError::into_inner).get(call).cloned()
    }

    /// Names of kernels' templates, instances of which launches ask for.
    pub fn template_names(&self) -> &[String] {
        &self.0.module.templates
    }

    /// Launches a kernel for host code.
    fn launch_from_host(
        &self,
        kernel: FuncId,
        args: &[RawArg],
        config: &LaunchConfig<'_>,
    ) -> std::result::Result<Outcome, Refusal> {
        let func = self.0.module.func(kernel);
        check_extents(func, config)?;
        match &self.0.code {
            DeviceCode::Cpu(code) => {
                let fixed = code.static_shared(kernel);
                check_shared(func, fixed, config)?;
                self.0.allowed.check(func, kernel, fixed, config)?;
                Ok(code.launch(kernel, args, config))
            }
            DeviceCode::Cuda(_) => Err(refused(NOT_SUPPORTED, "host code runs on the CPU only".to_owned())),
        }
    }

    /// Lets host code launch the kernel at an address with so many bytes of dynamic shared memory: CUDA's code.
    fn allow_shared_of(&self, address: u64, bytes: i64) -> i32 {
        let is_it = |(id, func): &(FuncId, &ir::Function)| {
            func.kind == FuncKind::Kernel && u64::try_from(id.address()).is_ok_and(|at| at == address)
        };
        let kernel = self.0.module.functions.iter().enumerate().map(|(i, f)| (FuncId::new(i), f)).find(is_it);
        match (kernel, self.cpu_code()) {
            (Some((kernel, _)), Some(code)) => self.0.allowed.allow(kernel, code.static_shared(kernel), bytes),
            _ => INVALID_DEVICE_FUNCTION,
        }
    }

    /// The IR as text.
    pub fn ir(&self) -> String {
        self.0.module.to_string()
    }

    /// The IR itself.
    pub fn module(&self) -> &ir::Module {
        &self.0.module
    }

    /// The code that runs, as text: machine code of this CPU, or PTX.
    pub fn asm(&self) -> String {
        match &self.0.code {
            DeviceCode::Cpu(code) => {
                let mut prepared = self.0.module.clone();
                back::cpu::prepare(&mut prepared);
                code.asm(&prepared, None)
            }
            DeviceCode::Cuda(code) => code.ptx().to_owned(),
        }
    }

    pub(super) fn cuda(&self, what: &str) -> Result<&back::cuda::Code> {
        match &self.0.code {
            DeviceCode::Cuda(code) => Ok(code),
            DeviceCode::Cpu(_) => Err(Error::argument(format!(
                "a program compiled for the CPU has no {what}; compile it with device=\"cuda\""
            ))),
        }
    }

    /// What the assembler for the GPU says besides errors and warnings: with `--ptxas-options=-v` the registers and spills of each kernel.
    pub fn build_log(&self) -> &str {
        match &self.0.code {
            DeviceCode::Cpu(_) => "",
            DeviceCode::Cuda(code) => code.build_log(),
        }
    }

    /// The PTX of a program for the GPU.
    ///
    /// # Errors
    /// [`Error::Argument`] for a program for the CPU.
    pub fn ptx(&self) -> Result<&str> {
        Ok(self.cuda("PTX")?.ptx())
    }

    /// The CUBIN of a program for the GPU.
    ///
    /// # Errors
    /// [`Error::Argument`] for a program for the CPU.
    pub fn cubin(&self) -> Result<&[u8]> {
        Ok(self.cuda("CUBIN")?.cubin())
    }

    /// The GPU architecture compiled for, such as `sm_90`.
    ///
    /// # Errors
    /// [`Error::Argument`] for a program for the CPU.
    pub fn arch(&self) -> Result<&str> {
        Ok(self.cuda("GPU architecture")?.arch())
    }

    /// The place of a fault in the user's text. A fault in a function of the library that no line of the text called is placed at the
    /// function called, and nowhere where that is not in the text either.
    fn own_span(&self, span: Span, called: &str) -> Span {
        if !span.file.is_common() {
            return span;
        }
        let functions = self.0.module.functions.iter().filter(|f| !f.library && !f.span.file.is_common());
        let mut named = functions.filter(|f| f.name == called || f.name.ends_with(&format!("::{called}")));
        named.next().map_or(Span::NONE, |f| f.span)
    }

    fn report(&self, kernel: &str, outcome: Outcome, warnings: Vec<String>) -> Result<Report> {
        match outcome.fault {
            None => Ok(Report { output: outcome.output, dropped: outcome.dropped, warnings }),
            Some(raw) => Err(Error::Fault(Box::new(Fault {
                kind: raw.kind,
                kernel: raw.kernel.map_or(kernel, |id| self.launched_name(id, raw.called)).to_owned(),
                span: self.own_span(raw.span, kernel),
                block: raw.block,
                thread: raw.thread,
                detail: match raw.related.filter(|s| !s.file.is_common()).and_then(|s| self.0.sources.line_column(s)) {
                    Some(place) => format!("{}{} at line {}", raw.detail, self.said_at(&raw), place.line),
                    None => raw.detail,
                },
                output: outcome.output,
                dropped: outcome.dropped,
                warnings,
                sources: self.0.sources.clone(),
            }))),
        }
    }
}

impl Kernel {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.function().name
    }

    /// Its parameters, in order.
    pub fn params(&self) -> &[Param] {
        &self.function().params
    }

    /// The program it belongs to.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Its IR.
    pub fn function(&self) -> &ir::Function {
        self.program.0.module.func(self.id)
    }

    /// The threads of a block where nothing says how many: 256, or fewer where `__launch_bounds__` allows no more.
    pub fn default_block(&self) -> u32 {
        self.function().max_threads.filter(|most| (1..256).contains(most)).unwrap_or(256)
    }

    /// Its declaration as C++: `void saxpy(float a, const float* x)`.
    pub fn signature(&self) -> String {
        let params: Vec<String> = self.params().iter().map(|p| format!("{} {}", declared_type(p), p.name)).collect();
        format!("void {}({})", self.name(), params.join(", "))
    }

    /// Runs the kernel over its grid and waits for it, or queues it where [`LaunchConfig::queue`] says so.
    ///
    /// # Errors
    /// [`Error::Argument`] for arguments or extents that do not fit, [`Error::Fault`] when the kernel does something
    /// wrong or one queued earlier has, [`Error::DeviceUnavailable`] where there is no GPU for a GPU program.
    pub fn launch_raw(&self, config: &LaunchConfig<'_>, args: &[Arg]) -> Result<Report> {
        let func = self.function();
        check_extents(func, config)?;
        let raw = bind(&func.name, &func.params, args)?;
        let outcome = match &self.program.0.code {
            DeviceCode::Cpu(_) if config.queue.is_some() => {
                let what = format!("`{}` is compiled for the CPU, and its arrays lie on a GPU", func.name);
                return Err(Error::argument(format!("{what}; compile the text with device=\"cuda\"")));
            }
            DeviceCode::Cpu(code) => {
                check_shared(func, code.static_shared(self.id), config)?;
                code.launch(self.id, &raw, config)
            }
            DeviceCode::Cuda(code) => {
                let is_table = |r: &&back::Reach| matches!(func.params.get(r.param), Some(p) if !matches!(p.ty, ParamType::Bytes { .. }));
                if let Some(r) = config.reach.iter().find(is_table) {
                    let what = format!(
                        "`{}`: `{}` is of a list of arrays, which a launch on a GPU takes none of",
                        func.name, r.name
                    );
                    return Err(Error::argument(format!("{what}; pass an array of their addresses on the GPU")));
                }
                code.launch(&func.name, &func.params, &raw, config)?
            }
        };
        self.program.report(&func.name, outcome, Vec::new())
    }

    /// The device it is compiled for.
    pub fn device(&self) -> Device {
        self.program.0.options.device
    }

    /// The machine code that its last launch on the CPU ran: `soon`, `good`, `lanes` or `wide`; `None` before the first, and on a
    /// GPU.
    pub fn tier(&self) -> Option<&'static str> {
        match &self.program.0.code {
            DeviceCode::Cpu(code) => code.last_tier(self.id),
            DeviceCode::Cuda(_) => None,
        }
    }

    /// The IR of the kernel and of the functions that it calls, as text.
    pub fn ir(&self) -> String {
        self.program.0.module.text_of(self.id)
    }

    /// The machine code of the kernel for this CPU, as text: the good code, for one thread. A device function that is not inlined has code
    /// of its own, which [`Program::asm`] shows.
    ///
    /// # Errors
    /// It runs on a GPU, as a sentence.
    pub fn asm(&self) -> std::result::Result<String, String> {
        match &self.program.0.code {
            DeviceCode::Cpu(code) => {
                let mut prepared = self.program.0.module.clone();
                back::cpu::prepare(&mut prepared);
                Ok(code.asm(&prepared, Some(self.id)))
            }
            DeviceCode::Cuda(_) => Err("it runs on a GPU, and PTX is the text of its module".to_owned()),
        }
    }

    /// The C that the wide tier compiles for blocks of a shape.
    ///
    /// # Errors
    /// The reason that there is none, as a sentence.
    pub fn c_source(&self, block: impl Into<back::Dim3>) -> std::result::Result<String, String> {
        match &self.program.0.code {
            DeviceCode::Cpu(code) => code.wide_text(self.id, block.into()),
            DeviceCode::Cuda(_) => Err("it runs on a GPU".to_owned()),
        }
    }

    /// The machine code on the CPU for blocks of a shape, tier by tier: which is made, what makes the rest, why there is no more, and
    /// which loops run in the processor's widest registers.
    ///
    /// # Errors
    /// It runs on a GPU, or no block is like that, as a sentence.
    pub fn tier_report(&self, block: impl Into<back::Dim3>) -> std::result::Result<back::cpu::TierReport, String> {
        match &self.program.0.code {
            DeviceCode::Cpu(code) => code.tier_report(self.id, block.into()),
            DeviceCode::Cuda(_) => Err("it runs on a GPU".to_owned()),
        }
    }

    /// The kernel's float64 twin: every `float` of it a `double`, used by gradcheck only.
    ///
    /// # Errors
    /// [`Error::Other`] naming the place where bits are punned, so that widening would change the meaning.
    pub fn widened(&self) -> Result<Kernel> {
        let module = pass::widen::widen(&self.program.0.module, self.id).map_err(|e| {
            Error::Other(format!("{}: no float64 twin: {}", self.program.0.sources.place(e.span), e.reason))
        })?;
        self.program.derive(module)?.kernel(self.name())
    }

    /// The kernel with one more `unsigned long long*` parameter for every array it writes: it receives, for each
    /// element, one plus the global index of the thread that wrote it. Also gives the parameters that these follow.
    ///
    /// # Errors
    /// None in practice: the instrumented kernel is valid when the kernel is.
    pub fn with_writers(&self) -> Result<(Kernel, Vec<usize>)> {
        let (module, tracked) = pass::instrument::writers::track_writers(&self.program.0.module, self.id);
        Ok((self.program.derive(module)?.kernel(self.name())?, tracked))
    }

    /// The kernel with parameters that receive its work (`pass/instrument/work.rs`): an `unsigned long long*` to counts, and for each array an
    /// `unsigned char*` to two marks an element. Also gives the parameters whose elements are marked.
    ///
    /// # Errors
    /// [`Error::Argument`] naming a function whose work cannot be seen from the kernel.
    pub fn with_work(&self) -> Result<(Kernel, Vec<usize>)> {
        let counted = pass::instrument::work::count_work(&self.program.0.module, self.id);
        let (module, marked) = counted.map_err(|called| {
            Error::argument(format!(
                "the work of `{}` is not counted: it calls `{called}`, which calls itself or is too large to be inlined",
                self.name()
            ))
        })?;
        Ok((self.program.derive(module)?.kernel(self.name())?, marked))
    }

    /// The pointer parameters that the text writes through, by index, each with the first place that does, as messages name it; none for
    /// a text for GPUs that the front end does not take.
    pub fn written_params(&self) -> Vec<(usize, String)> {
        let program = &self.program.0;
        let written = pass::writes::written_params(&program.module, self.id);
        written.into_iter().map(|(param, span)| (param, program.sources.place(span))).collect()
    }
}

/// `a`, `b` and `c`, or "none".
pub(super) fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        _ => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
    }
}

/// `(float32 array, any, int64)`
fn described(args: &front::kernel_calls::KernelArgs) -> String {
    use front::kernel_calls::{KernelArg, KernelArgs};
    let one = |arg: &KernelArg| match arg {
        KernelArg::Any => "a number".to_owned(),
        KernelArg::Array(elem) => format!("an array of {}", DType::from(*elem)),
        KernelArg::Number(elem) => format!("a {}", DType::from(*elem)),
    };
    let all: Vec<String> = match args {
        KernelArgs::InOrder(args) => args.iter().map(one).collect(),
        KernelArgs::Named(args) => args.iter().map(|(name, arg)| format!("`{name}`, {}", one(arg))).collect(),
    };
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}

type RawArgs = SmallVec<[RawArg; 12]>;

/// Checks arguments against parameters and turns them into bits.
fn bind(name: &str, params: &[Param], args: &[Arg]) -> Result<RawArgs> {
    let left = params.get(args.len()..).unwrap_or_default();
    let defaults: SmallVec<[Arg; 4]> = left.iter().filter_map(|p| p.default.map(Arg::of_default)).collect();
    if args.len() + defaults.len() != params.len() {
        return Err(Error::argument(format!(
            "`{name}` takes {} ({}), {} given",
            plural(params.len(), "argument"),
            params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", "),
            args.len()
        )));
    }
    let mut raw = RawArgs::new();
    for (param, arg) in params.iter().zip(args.iter().chain(&defaults)) {
        raw.push(bind_one(name, param, arg)?);
    }
    Ok(raw)
}

fn bind_one(name: &str, param: &Param, arg: &Arg) -> Result<RawArg> {
    let wanted = || format!("`{name}`: argument `{}` ({})", param.name, declared_type(param));
    match (param.ty, *arg) {
        (ParamType::Bytes { .. }, Arg::Buffer(b)) if b.dtype != DType::UInt8 => {
            let accessor = param.layout.as_deref().and_then(ir::layout::StructLayout::accessor);
            let help = if accessor.is_some() { "pass accessor(&x) or accessor_mut(&mut x)" } else { "pass a Struct" };
            Err(Error::argument(format!("{} got an array of {}; {help}", wanted(), b.dtype)))
        }
        (ParamType::Bytes { size, .. }, Arg::Buffer(b)) if b.bytes == size as usize => {
            Ok(RawArg::Buffer { ptr: b.ptr, bytes: b.bytes, writable: false })
        }
        (ParamType::Bytes { .. }, Arg::Buffer(b)) => {
            Err(Error::argument(format!("{} got {} bytes", wanted(), b.bytes)))
        }
        (ParamType::Bytes { .. }, Arg::Scalar(_) | Arg::Null) => {
            Err(Error::argument(format!("{} got something else than its bytes", wanted())))
        }
        (ParamType::Scalar(s), Arg::Scalar(c)) if c.ty() == ir::Type::Scalar(s) => Ok(RawArg::Scalar(bits(c))),
        (ParamType::Scalar(_), Arg::Scalar(c)) => {
            let came = c.ty().scalar().map_or("a pointer", Scalar::c_name);
            Err(Error::argument(format!("{} got a scalar of type {came}", wanted())))
        }
        (ParamType::Scalar(_), Arg::Buffer(b)) => {
            Err(Error::argument(format!("{} got an array of {}; a number is wanted", wanted(), b.dtype)))
        }
        (ParamType::Scalar(_), Arg::Null) => Err(Error::argument(format!("{} got None", wanted()))),
        (ParamType::Ptr { .. }, Arg::Scalar(_)) => {
            Err(Error::argument(format!("{} got a number; an array is wanted", wanted())))
        }
        (ParamType::Ptr { .. }, Arg::Null) => Ok(RawArg::Null),
        (ParamType::Ptr { elem, is_const }, Arg::Buffer(b)) => {
            if let Some(elem) = elem {
                let want = DType::from(elem);
                if b.dtype != want {
                    return Err(Error::argument(format!(
                        "{} got an array of {}; try {}.astype({})",
                        wanted(),
                        b.dtype,
                        param.name,
                        numpy_name(want)
                    )));
                }
                if !(b.ptr as usize).is_multiple_of(want.size()) && b.bytes > 0 {
                    return Err(Error::argument(format!(
                        "{} got an array whose memory is not aligned to {} bytes; pass a copy",
                        wanted(),
                        want.size()
                    )));
                }
            }
            Ok(RawArg::Buffer { ptr: b.ptr, bytes: b.bytes, writable: b.writable && !is_const })
        }
    }
}

/// The name of an element type as a user of NumPy writes it: `np.float32`, `ml_dtypes.bfloat16`.
pub fn numpy_name(dtype: DType) -> String {
    match dtype {
        DType::Bool => "np.bool_".to_owned(),
        DType::BFloat16 => "ml_dtypes.bfloat16".to_owned(),
        _ => format!("np.{}", dtype.name()),
    }
}

/// A constant's bits, extended to 64 as [`RawArg::Scalar`] wants them.
pub(super) fn bits(c: Const) -> u64 {
    match c {
        Const::Bool(b) => u64::from(b),
        Const::Int(_, i) => i as u64,
        Const::F32(x) => u64::from(x.to_bits()),
        Const::F64(x) => x.to_bits(),
        Const::Null => 0,
    }
}

fn scalar_from_bits(s: Scalar, bits: u64) -> Const {
    match s {
        Scalar::Bool => Const::Bool(bits & 0xff != 0),
        Scalar::F32 => Const::F32(f32::from_bits(bits as u32)),
        Scalar::F64 => Const::F64(f64::from_bits(bits)),
        Scalar::I8 => Const::Int(s, i64::from(bits as i8)),
        Scalar::U8 => Const::Int(s, i64::from(bits as u8)),
        Scalar::I16 => Const::Int(s, i64::from(bits as i16)),
        Scalar::U16 => Const::Int(s, i64::from(bits as u16)),
        Scalar::I32 => Const::Int(s, i64::from(bits as i32)),
        Scalar::U32 => Const::Int(s, i64::from(bits as u32)),
        Scalar::I64 | Scalar::U64 => Const::Int(s, bits as i64),
    }
}

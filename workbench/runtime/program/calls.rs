//! Calls of a program's host functions: those called by name, those that it registers, and the registrations themselves.

use std::sync::Arc;

use super::super::host::one_at_a_time::Turns;
use super::super::host::{
    Call, Core, DeviceTag, Export, HostProgram, LibraryEntry, LibraryLine, Limits, Names, ProgramState, Recording,
    Value,
};
use super::super::{Error, Report, Result};
use super::{Arg, DeviceCode, Program, bind, list, scalar_from_bits};
use crate::back::cpu::Refusal;
use crate::back::{LaunchConfig, Outcome, RawArg};
use crate::ir::{self, Const, FuncId, FuncKind, Param};

/// The function that calls a wrapper, where the module has one.
pub(super) fn entry_of(module: &ir::Module) -> Option<FuncId> {
    module.functions.iter().position(|f| f.name == Call::ENTRY).map(FuncId::new)
}

impl Program {
    fn host(&self, name: &str) -> Result<(FuncId, &ir::Function)> {
        let functions = &self.0.module.functions;
        match functions.iter().position(|f| f.kind == FuncKind::Host && f.name == name) {
            Some(i) => Ok((FuncId::new(i), &functions[i])),
            None => Err(Error::argument(format!(
                "there is no host function `{name}`; the text has {}",
                list(&self.host_functions())
            ))),
        }
    }

    /// The parameters of a host function.
    ///
    /// # Errors
    /// [`Error::Argument`] when there is none of that name.
    pub fn host_params(&self, name: &str) -> Result<&[Param]> {
        Ok(&self.host(name)?.1.params)
    }

    /// Calls a host function of scalars; `args` are of its parameters' types.
    ///
    /// # Errors
    /// [`Error::Argument`] for a wrong count or type, [`Error::Fault`] when it does something wrong.
    pub fn call_host(&self, name: &str, args: &[Const], limits: Limits<'_>) -> Result<(Option<Const>, Report)> {
        self.registered(limits)?;
        let (id, func) = self.host(name)?;
        let args: Vec<Arg> = args.iter().copied().map(Arg::Scalar).collect();
        let raw = bind(&func.name, &func.params, &args)?;
        let DeviceCode::Cpu(code) = &self.0.code else {
            return Err(Error::argument(format!("`{name}` is a host function: compile the text with device=\"cpu\"")));
        };
        let device = if self.0.is_for_gpus { DeviceTag::CUDA } else { DeviceTag::CPU };
        let call = Call::new(self, self.shared_state(), Arc::new(Names::of(&func.name)), Vec::new(), device, limits);
        let mut config = LaunchConfig::new(1, 1);
        (config.serial, config.interrupt, config.timeout) = (true, limits.interrupt, limits.left());
        config.host = Some(&call);
        let (bits, mut outcome) = code.call(id, &raw, &config);
        call.complete(&mut outcome);
        let report = self.report(&func.name, outcome, call.warnings())?;
        let value = match (bits, func.ret) {
            (Some(bits), Some(ir::Type::Scalar(s))) => Some(scalar_from_bits(s, bits)),
            _ => None,
        };
        Ok((value, report))
    }

    /// The host functions that the text offers: its registrations run when they are first asked for.
    ///
    /// # Errors
    /// [`Error::Fault`] when a registration does something wrong.
    pub fn exports(&self) -> Result<&[Export]> {
        Ok(&self.registered(Limits::default())?.0)
    }

    /// Computes the variables and runs the registrations, once; later calls find the outcome.
    ///
    /// # Errors
    /// [`Error::Fault`] when one of them does something wrong, is interrupted, or is not done in time.
    pub fn register(&self, limits: Limits<'_>) -> Result<()> {
        self.registered(limits).map(|_| ())
    }

    /// The entries that the text registers with the dispatcher (`TORCH_LIBRARY` and its kin), in order.
    ///
    /// # Errors
    /// [`Error::Fault`] when a registration does something wrong.
    pub fn library(&self) -> Result<&[LibraryEntry]> {
        Ok(&self.registered(Limits::default())?.1)
    }

    /// The state shared by all calls of its host code.
    fn shared_state(&self) -> ProgramState {
        ProgramState { notes: self.0.notes.clone(), is_unified: self.0.options.unified_memory }
    }

    /// An entry of the library's own, `tpc_execute`, where the text is of a dialect that has it.
    ///
    /// # Errors
    /// [`Error::Fault`] when a registration does something wrong.
    pub fn entry(&self, name: &str) -> Result<Option<&Export>> {
        let is_it = |line: &&LibraryEntry| matches!(&line.what, LibraryLine::Entry(n) if n == name);
        Ok(self.library()?.iter().find(is_it).and_then(|line| line.function.as_ref()))
    }

    fn registered(&self, limits: Limits<'_>) -> Result<&(Vec<Export>, Vec<LibraryEntry>)> {
        if let Some(known) = self.0.exports.get() {
            return Ok(known);
        }
        let (mut exports, mut library) = (Vec::new(), Vec::new());
        if let DeviceCode::Cpu(code) = &self.0.code {
            let functions = self.0.module.functions.iter().enumerate();
            let mut registrations: Vec<_> = functions.filter(|(_, f)| f.name.starts_with(Call::REGISTER)).collect();
            // Variables are computed first.
            registrations.sort_by_key(|(_, f)| !f.name.starts_with(Call::COMPUTE));
            for (i, func) in registrations {
                let limits = Limits { interrupt: limits.interrupt, deadline: limits.deadline, ..Limits::default() };
                let call = Call::new(
                    self,
                    self.shared_state(),
                    Arc::new(Names::of(&func.name)),
                    Vec::new(),
                    DeviceTag::CPU,
                    limits,
                );
                let mut config = LaunchConfig::new(1, 1);
                (config.serial, config.interrupt, config.timeout) = (true, limits.interrupt, limits.left());
                config.host = Some(&call);
                let outcome = code.launch(FuncId::new(i), &[], &config);
                let computes = func.name.starts_with(Call::COMPUTE);
                let what = if computes { "the initialiser of a variable" } else { "the registration" };
                self.report(what, outcome, call.warnings())?;
                let (_, more, lines) = call.finish();
                exports.extend(more);
                library.extend(lines);
            }
        }
        let functions = library.iter_mut().filter_map(|line: &mut LibraryEntry| line.function.as_mut());
        for export in exports.iter_mut().chain(functions) {
            let parameters = match export.arguments.as_slice() {
                [] => self.own_function(export).map(|f| f.params.iter().map(|p| p.name.clone()).collect()),
                said => Some(said.iter().map(|(name, _)| name.clone()).collect()),
            };
            let (function, parameters) = (export.name.clone(), parameters.unwrap_or_default());
            export.names = Arc::new(Names { function, parameters });
        }
        Ok(self.0.exports.get_or_init(|| (exports, library)))
    }

    /// The function of the text that an export offers, if it is one of the text.
    fn own_function(&self, export: &Export) -> Option<&ir::Function> {
        let index = usize::try_from(export.pointers()[1] - 1).ok()?;
        self.0.module.functions.get(index).filter(|f| !f.library)
    }

    /// The turns at its host code, where that keeps variables between calls: callers with several threads take turns.
    pub fn turns(&self) -> Option<&Arc<Turns>> {
        self.0.turns.as_ref()
    }

    /// Calls a host function that the text offers.
    ///
    /// # Errors
    /// [`Error::Argument`] for arguments that do not fit, [`Error::Fault`] when it or a kernel that it launches does something wrong.
    pub fn call_export(&self, export: &Export, args: Vec<Value>, limits: Limits<'_>) -> Result<(Value, Report)> {
        self.call_on_core(export, args, limits, None).map(|(value, report, _)| (value, report))
    }

    /// As [`Program::call_export`], on one of Neuron's cores where one is given; also whether it has asked for the destination.
    ///
    /// # Errors
    /// As [`Program::call_export`].
    pub fn call_on_core(
        &self,
        export: &Export,
        args: Vec<Value>,
        limits: Limits<'_>,
        core: Option<Core>,
    ) -> Result<(Value, Report, bool)> {
        let (call, report) = self.ran(export, args, limits, core, None)?;
        let has_asked = call.has_asked();
        let value = call.finish().0.pop().unwrap_or(Value::None);
        Ok((value, report, has_asked))
    }

    /// Calls a host function that the text offers and records its operations on tensors that require grad: `wants` says of each tensor of the
    /// arguments, in order, whether it does.
    ///
    /// # Errors
    /// As [`Program::call_export`].
    pub fn record_export(
        &self,
        export: &Export,
        args: Vec<Value>,
        wants: &[bool],
        limits: Limits<'_>,
    ) -> Result<(Value, Report, Recording)> {
        let given = args.clone();
        let (call, report) = self.ran(export, args, limits, None, Some(wants))?;
        let done = call.into_recording(Arc::new(self.clone()), &given);
        let (value, recording) = done.map_err(|(_, message)| Error::Other(message))?;
        Ok((value, report, recording))
    }

    /// A call that is over, with its result still on its stack.
    fn ran<'p>(
        &'p self,
        export: &Export,
        args: Vec<Value>,
        limits: Limits<'p>,
        core: Option<Core>,
        wants: Option<&[bool]>,
    ) -> Result<(Call<'p>, Report)> {
        let (Some(entry), DeviceCode::Cpu(code)) = (self.0.entry, &self.0.code) else {
            let message = format!("`{}` is a host function: compile the text with device=\"cpu\"", export.name);
            return Err(Error::argument(message));
        };
        if args.len() != export.arity {
            let (wanted, came) = (export.arity, args.len());
            let s = if wanted == 1 { "" } else { "s" };
            return Err(Error::argument(format!("{}() takes {wanted} argument{s}, {came} given", export.name)));
        }
        if let [Value::Tuple(positional), Value::Dict(named)] = args.as_slice()
            && let Some(message) = export.refusal(positional.len(), named.len())
        {
            return Err(Error::argument(message));
        }
        let device = if self.0.options.strict_device { DeviceTag::CPU } else { export.device(self.0.is_for_gpus) };
        let args = args.into_iter().map(|value| value.on(device)).collect();
        let mut call = Call::new(self, self.shared_state(), export.names.clone(), args, device, limits);
        if let Some(core) = core {
            call = call.on_core(core);
        }
        if let Some(wants) = wants {
            call = call.recorded(wants);
        }
        let mut config = LaunchConfig::new(1, 1);
        (config.serial, config.interrupt, config.timeout) = (true, limits.interrupt, limits.left());
        config.host = Some(&call);
        let raw = export.pointers().map(|p| RawArg::Scalar(p as u64));
        let mut outcome = code.launch(entry, &raw, &config);
        call.complete(&mut outcome);
        // A fault before the function's first line is reported at the parameter.
        if let Some(fault) = &mut outcome.fault
            && fault.span.file.is_common()
            && let Some(function) = self.own_function(export)
        {
            let param = call.argument().and_then(|i| function.params.get(i));
            fault.span = param.map_or(function.span, |p| p.span);
        }
        let report = self.report(&export.name, outcome, call.warnings())?;
        Ok((call, report))
    }
}

impl HostProgram for Program {
    fn launch(
        &self,
        kernel: FuncId,
        args: &[RawArg],
        config: &LaunchConfig<'_>,
    ) -> std::result::Result<Outcome, Refusal> {
        self.launch_from_host(kernel, args, config)
    }

    fn allow_shared(&self, address: u64, bytes: i64) -> i32 {
        self.allow_shared_of(address, bytes)
    }

    fn call_back(&self, call: &Call<'_>, back: i64, limits: Limits<'_>) -> Result<Report> {
        let (Some(entry), DeviceCode::Cpu(code)) = (self.0.entry, &self.0.code) else {
            return Err(Error::argument("the gradient of a text that has no host functions".to_owned()));
        };
        let mut config = LaunchConfig::new(1, 1);
        (config.serial, config.interrupt, config.timeout) = (true, limits.interrupt, limits.left());
        config.host = Some(call);
        let mut outcome = code.launch(entry, &[RawArg::Scalar(back as u64), RawArg::Scalar(0)], &config);
        call.complete(&mut outcome);
        self.report("backward", outcome, call.warnings())
    }
}

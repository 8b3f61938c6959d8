//! A tuning in this process.

use std::time::{Duration, Instant};

use super::report::{Parameter, Status, TuneReport, TuneRow, words_of};
use crate::back::notebook;
use crate::bench::elimination::{Doing, FINAL_ROUND, Standing, eliminate};
use crate::bench::operator::contestant_of;
use crate::bench::sampling::{Asking, FIRST_TOLD};
use crate::check::{CheckArgs, CheckOptions};
use crate::ops::{IntoArgs, Op, OpOptions, OwnedArg, Schema, ShapeRule, SourceCode, fill_defaults};
use crate::runtime::{CompileOptions, Error, Result, Tensor};

/// Configurations that are timed in turns with one another, the common one besides.
const GROUP: usize = 16;

/// The best of all groups that are timed once more.
const FINALISTS: usize = 12;

/// Parameters that are options of operators; others are macros.
const OPTIONS: [&str; 5] = ["block", "threads", "grid", "shared_mem", "kernel"];

/// True for a configuration that is tried.
type Filter<'a> = Box<dyn Fn(&Config<'_>) -> bool + 'a>;

type Reference<'a> = Box<dyn Fn(&[OwnedArg]) -> Result<Vec<Tensor>> + 'a>;

/// A configuration: a value for each parameter.
#[derive(Debug, Clone, Copy)]
pub struct Config<'c> {
    params: &'c [Parameter],
    values: &'c [String],
}

impl Config<'_> {
    /// The text of a parameter's value; `None` for a name that is no parameter.
    pub fn text(&self, name: &str) -> Option<&str> {
        let at = self.params.iter().position(|param| param.name == name)?;
        Some(&self.values[at])
    }

    /// The value as an integer; `None` where it is none.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// A text with `{NAME}` replaced by values.
    fn filled(&self, text: &str) -> String {
        self.params
            .iter()
            .zip(self.values)
            .fold(text.to_owned(), |text, (param, value)| text.replace(&format!("{{{}}}", param.name), value))
    }
}

/// A tuning being put together.
#[must_use = "a tuning runs by `.run()`"]
pub struct Tuner<'a> {
    schema: String,
    source: String,
    compile: CompileOptions,
    params: Vec<Parameter>,
    /// The options that are no parameters, by their names.
    options: Vec<(&'static str, String)>,
    shape: Option<String>,
    args: Vec<OwnedArg>,
    reference: Option<Reference<'a>>,
    check: CheckOptions,
    filter: Option<Filter<'a>>,
    seconds: f64,
}

/// Begins a tuning of CUDA C++ as the operator of a schema: every combination of its parameters is checked, those that are right are timed.
///
/// ```
/// use workbench::prelude::*;
/// let source = "__global__ void scale(const float* x, float* y, int n) {
///     for (int k = 0; k < PER; ++k) {
///         int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER + k;
///         if (i < n) y[i] = 2 * x[i];
///     }
/// }";
/// let x = Array1::<f32>::ones(1000);
/// let tuning = wb::tune("doc::scale_tuned_here(Tensor x) -> Tensor", source)
///     .shape("x[n] -> y[n]")
///     .threads("(n + {PER} - 1) / {PER}")
///     .param("PER", [1, 4])
///     .param("block", [64, 256])
///     .check((&x,), |x| 2.0 * &x)
///     .seconds(0.002)
///     .run()?;
/// assert_eq!(tuning.report.rows.len(), 4);
/// let best = tuning.best()?;
/// let y: ArrayD<f32> = best.call((&x,))?.into_array()?;
/// assert!(y.iter().all(|&y| y == 2.0));
/// # Ok::<(), Error>(())
/// ```
pub fn tune<'a>(schema: impl Into<String>, source: impl Into<String>) -> Tuner<'a> {
    Tuner {
        schema: schema.into(),
        source: source.into(),
        compile: CompileOptions::default(),
        params: Vec::new(),
        options: Vec::new(),
        shape: None,
        args: Vec::new(),
        reference: None,
        check: CheckOptions::default(),
        filter: None,
        seconds: 0.1,
    }
}

impl<'a> Tuner<'a> {
    /// A parameter and its values. `block` (`256`, `"16, 16"`), `threads`, `grid`, `shared_mem` and `kernel` are the operator's options; a name in
    /// braces in `kernel` is an argument of the template, every other name a macro of the text.
    pub fn param<V: ToString>(mut self, name: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(|value| value.to_string()).collect();
        self.params.push(Parameter { name: name.into(), values });
        self
    }

    /// Leaves out the configurations for which this is false.
    pub fn filter(mut self, keep: impl Fn(&Config<'_>) -> bool + 'a) -> Self {
        self.filter = Some(Box::new(keep));
        self
    }

    /// The shape signature.
    pub fn shape(mut self, signature: impl Into<String>) -> Self {
        self.shape = Some(signature.into());
        self
    }

    /// The kernel or the template's instance, as `"tiled<{TILE}>"`.
    pub fn kernel(self, name: impl Into<String>) -> Self {
        self.option("kernel", name.into())
    }

    /// The number of threads, as expressions over dims, in which `{NAME}` stands for a value.
    pub fn threads(self, threads: impl Into<String>) -> Self {
        self.option("threads", threads.into())
    }

    /// The number of blocks, written as the threads are.
    pub fn grid(self, grid: impl Into<String>) -> Self {
        self.option("grid", grid.into())
    }

    /// Bytes of dynamic shared memory of a block, written as the threads are.
    pub fn shared_mem(self, bytes: impl Into<String>) -> Self {
        self.option("shared_mem", bytes.into())
    }

    /// Threads of a block: up to three extents with commas, in which `{NAME}` stands for a value.
    pub fn block(self, extents: impl Into<String>) -> Self {
        self.option("block", extents.into())
    }

    fn option(mut self, name: &'static str, text: String) -> Self {
        self.options.push((name, text));
        self
    }

    /// Options of the compilation, besides the macros that are parameters.
    pub fn compile_options(mut self, options: CompileOptions) -> Self {
        self.compile = options;
        self
    }

    /// The arguments of calls. Without [`Tuner::check`] results are not checked, and the report says so.
    pub fn args(mut self, args: impl IntoArgs) -> Self {
        self.args = args.into_args();
        self
    }

    /// The arguments of calls, and the reference that results are compared with, as [`Op::check`] takes them.
    pub fn check<A: CheckArgs>(self, args: A, reference: A::Reference) -> Self
    where
        A::Reference: Copy + 'a,
    {
        let expected = move |args: &[OwnedArg]| Ok(vec![A::apply(reference, args)?]);
        self.args(args).check_with(expected, CheckOptions::default())
    }

    /// Any reference, as [`Op::check_with`] takes it.
    pub fn check_with(
        mut self,
        reference: impl Fn(&[OwnedArg]) -> Result<Vec<Tensor>> + 'a,
        options: CheckOptions,
    ) -> Self {
        self.reference = Some(Box::new(reference));
        self.check = options;
        self
    }

    /// The time in seconds for each configuration that stays to the end; what is no time counts as zero.
    pub fn seconds(mut self, seconds: f64) -> Self {
        self.seconds = seconds;
        self
    }

    /// Runs it.
    ///
    /// # Errors
    /// [`Error::Argument`] for parameters that make no sense. A configuration that fails is a row of the report.
    pub fn run(self) -> Result<Tuning> {
        let (line, begun) = (notebook::Line::default(), Instant::now());
        let tell = |text: &str| {
            if begun.elapsed() > FIRST_TOLD {
                line.show(text, "");
            }
        };
        self.run_while(&Asking::notebook(None), &tell)
    }

    /// [`Tuner::run`], until the user wants it to stop; what was measured until then is the result, with a note. `tell` is told how far it is.
    ///
    /// # Errors
    /// As [`Tuner::run`], and the user's wish where nothing was measured yet.
    pub fn run_while(self, asking: &Asking<'_>, tell: &dyn Fn(&str)) -> Result<Tuning> {
        let configs = self.configs()?;
        let mut made: Vec<Candidate> = Vec::with_capacity(configs.len());
        let mut notes = Vec::new();
        if self.reference.is_none() {
            notes.push("there is no reference, so results were not checked".to_owned());
        }
        let schema = Schema::parse_operator(&self.schema)?;
        let in_place: Vec<&str> = schema.args.iter().filter(|arg| arg.mutated).map(|arg| arg.name.as_str()).collect();
        if !in_place.is_empty() {
            let names = in_place.join(", ");
            notes.push(format!(
                "{names} is written in place: each call that is timed works on what the one before has left"
            ));
        }
        // Arguments that no call can have are no fault of a configuration.
        fill_defaults(&schema, &mut self.args.clone())?;
        let mut stop = None;
        for values in configs.iter().cloned() {
            match (asking.ask)().and_then(|()| self.candidate(values, asking)) {
                Ok(candidate) => made.push(candidate),
                Err(error) => {
                    stop = Some(error);
                    break;
                }
            }
            tell(&format!("{} of {} configurations checked", made.len(), configs.len()));
        }
        let right: Vec<usize> = (0..made.len()).filter(|&i| made[i].status == Status::Ok).collect();
        if stop.is_none()
            && let Some((&first, others)) = right.split_first()
        {
            let groups: Vec<&[usize]> = if others.is_empty() { vec![&[]] } else { others.chunks(GROUP).collect() };
            let mut done = 0;
            for (number, group) in groups.iter().enumerate() {
                let (begun, others) = (Instant::now(), groups.len() - number - 1);
                let before = match groups.len() {
                    1 => String::new(),
                    _ => format!("{done} of {} configurations timed; ", right.len()),
                };
                let group: Vec<usize> = std::iter::once(first).chain(group.iter().copied()).collect();
                let told = |doing: &Doing<'_>| {
                    tell(&format!("{before}{}", doing.line_with_left(begun.elapsed().as_secs_f64(), others)));
                };
                stop = self.time(&mut made, &group, asking, &told, None)?;
                done += group.len() - usize::from(done > 0);
                if stop.is_some() {
                    break;
                }
            }
            if stop.is_none() && groups.len() > 1 {
                let mut best = right.clone();
                // Of many the least ratios are those that were measured too low: the upper ends of the intervals tell more.
                let ratio = |i: &usize| made[*i].standing.map_or(f64::INFINITY, |s| s.ratio_high);
                best.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
                best.truncate(FINALISTS);
                best.retain(|&i| i != first);
                let again = format!("the best {} once more, side by side; ", best.len());
                let told = |doing: &Doing<'_>| tell(&format!("{again}{}", doing.line_with_left(0.0, 0)));
                best.insert(0, first);
                stop = self.time(&mut made, &best, asking, &told, Some(FINAL_ROUND))?;
            }
        }
        if let Some(stop) = stop {
            if made.is_empty() {
                return Err(stop);
            }
            let timed = made.iter().filter(|c| c.standing.is_some()).count();
            let (checked, all) = (made.len(), configs.len());
            notes.push(format!("stopped: {checked} of {all} configurations were checked, and {timed} timed"));
        }
        let mut tuning = Tuning {
            report: TuneReport {
                name: schema.qualified_name(),
                size: size_of(&self.args),
                params: self.params,
                rows: Vec::new(),
                notes,
            },
            schema: self.schema,
            options: Vec::new(),
        };
        for candidate in made {
            let Candidate { config, status, message, standing, options, .. } = candidate;
            tuning.report.rows.push(TuneRow { config, status, message, standing, machine: String::new() });
            tuning.options.push(options);
        }
        Ok(tuning)
    }

    /// All combinations that the filter keeps.
    fn configs(&self) -> Result<Vec<Vec<String>>> {
        let mut all = vec![Vec::new()];
        for (at, Parameter { name, values }) in self.params.iter().enumerate() {
            let twice = values.iter().enumerate().find(|(i, value)| values[..*i].contains(value));
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let why = if !is_name {
                format!("`{name}` is no name of a macro or an option")
            } else if self.params[..at].iter().any(|param| param.name == *name) {
                format!("the parameter {name} is given twice")
            } else if values.is_empty() {
                format!("the parameter {name} has no values")
            } else if let Some((_, value)) = twice {
                format!("the parameter {name} has a value twice: {value}")
            } else {
                all = (all.iter())
                    .flat_map(|config: &Vec<String>| {
                        values.iter().map(|value| config.iter().chain([value]).cloned().collect())
                    })
                    .collect();
                continue;
            };
            return Err(Error::argument(why));
        }
        if self.params.is_empty() {
            return Err(Error::argument("nothing to tune: no parameter is given"));
        }
        if let Some(keep) = &self.filter {
            all.retain(|values| keep(&Config { params: &self.params, values }));
        }
        if all.is_empty() {
            return Err(Error::argument("the filter leaves no combination of the parameters"));
        }
        Ok(all)
    }

    /// A configuration, made and checked.
    ///
    /// # Errors
    /// The user's wish to stop.
    fn candidate(&self, config: Vec<String>, asking: &Asking<'_>) -> Result<Candidate> {
        let nothing = OpOptions::new(SourceCode::Text(String::new(), CompileOptions::default()));
        let mut candidate = Candidate {
            config,
            status: Status::Failed,
            message: String::new(),
            standing: None,
            options: nothing,
            op: None,
        };
        let mut make = || -> Result<String> {
            candidate.options = self.options_of(&Config { params: &self.params, values: &candidate.config })?;
            let op = Op::unregistered(&self.schema, candidate.options.clone())?;
            let wrong = match &self.reference {
                Some(reference) => op.check_with(self.args.clone(), reference, &self.check)?.first_fact(),
                None => op.call(self.args.clone()).map(|_| None)?,
            };
            candidate.op = Some(op);
            Ok(wrong.unwrap_or_default())
        };
        (candidate.status, candidate.message) = match make() {
            Ok(wrong) if wrong.is_empty() => (Status::Ok, wrong),
            Ok(wrong) => (Status::Wrong, wrong),
            Err(error) if (asking.is_stop)(&error) => return Err(error),
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().map(str::trim).find(|line| !line.is_empty());
                (Status::Failed, first.unwrap_or("it failed").to_owned())
            }
        };
        Ok(candidate)
    }

    /// The parts of the operator of a configuration.
    fn options_of(&self, config: &Config<'_>) -> Result<OpOptions> {
        let given = |name: &str| {
            let fixed = self.options.iter().rev().find(|(option, _)| *option == name).map(|(_, text)| text.as_str());
            config.text(name).or(fixed).map(|text| config.filled(text))
        };
        let kernel =
            config.text("kernel").or(self.options.iter().rev().find(|(o, _)| *o == "kernel").map(|(_, t)| &**t));
        let mut compile = self.compile.clone();
        for (param, value) in config.params.iter().zip(config.values) {
            let is_argument = kernel.is_some_and(|kernel| kernel.contains(&format!("{{{}}}", param.name)));
            if !OPTIONS.contains(&param.name.as_str()) && !is_argument {
                compile.front.defines.retain(|(name, _)| *name != param.name);
                // Truth values of macros are numbers.
                let value = match value.as_str() {
                    "true" => "1",
                    "false" => "0",
                    other => other,
                };
                compile.front.defines.push((param.name.clone(), value.to_owned()));
            }
        }
        let mut options = OpOptions::new(SourceCode::Text(self.source.clone(), compile));
        options.kernel = given("kernel");
        options.threads = given("threads");
        options.grid = given("grid");
        options.shared_mem = given("shared_mem");
        options.block = given("block").map(|text| extents(&text)).transpose()?;
        options.shape = self.shape.clone().map_or(ShapeRule::LikeFirst, ShapeRule::Signature);
        Ok(options)
    }

    /// Times some of the configurations, of which the first is the one that all are compared with.
    fn time(
        &self,
        made: &mut [Candidate],
        group: &[usize],
        asking: &Asking<'_>,
        tell: &dyn Fn(&Doing<'_>),
        round: Option<usize>,
    ) -> Result<Option<Error>> {
        let names: Vec<String> = group.iter().map(|&i| words_of(&self.params, &made[i].config)).collect();
        let make = |i: usize| {
            let op = made[group[i]].op.as_ref().ok_or_else(|| Error::argument("a configuration was not made"))?;
            Ok(contestant_of(op, self.args.clone()))
        };
        let seconds = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        let outcome = eliminate(&names, size_of(&self.args), make, seconds, asking, tell)?;
        for (&i, standing) in group.iter().zip(outcome.standings) {
            let Some(standing) = standing else { continue };
            // The row of the common configuration is that of the first group.
            if round.is_some() || made[i].standing.is_none() {
                made[i].standing = Some(Standing { round: round.unwrap_or(standing.round), ..standing });
            }
        }
        Ok(outcome.stop)
    }
}

/// A configuration, made.
struct Candidate {
    config: Vec<String>,
    status: Status,
    message: String,
    standing: Option<Standing>,
    options: OpOptions,
    op: Option<Op>,
}

/// The size that a report tells: the elements of the largest array.
fn size_of(args: &[OwnedArg]) -> u64 {
    let elements = |arg: &OwnedArg| arg.tensor().map(|tensor| tensor.shape().iter().product::<usize>() as u64);
    args.iter().filter_map(elements).max().unwrap_or(0)
}

/// Up to three extents with commas.
fn extents(text: &str) -> Result<[u32; 3]> {
    let mut found = [1; 3];
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let wrong = || Error::argument(format!("block is `{text}`; up to three numbers with commas are wanted"));
    if parts.len() > 3 {
        return Err(wrong());
    }
    for (extent, part) in found.iter_mut().zip(parts) {
        *extent = part.parse().map_err(|_| wrong())?;
    }
    Ok(found)
}

/// A tuning that has run.
pub struct Tuning {
    /// Its outcome.
    pub report: TuneReport,
    schema: String,
    /// The parts of the operator of each row.
    options: Vec<OpOptions>,
}

impl Tuning {
    /// The operator of the best configuration ([`TuneReport::ranked`]), defined under its name: a version of it.
    ///
    /// # Errors
    /// As [`TuneReport::best`].
    pub fn best(&self) -> Result<Op> {
        Op::define(&self.schema, self.options[self.report.best()?].clone())
    }

    /// The best configuration in words: `BLOCK=128 TILE=8`.
    ///
    /// # Errors
    /// As [`Tuning::best`].
    pub fn best_config(&self) -> Result<String> {
        self.report.best().map(|at| self.report.words(&self.report.rows[at]))
    }
}

impl std::fmt::Display for Tuning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.report.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use ndarray::Array1;

    use super::*;
    use crate::tune::report::Status;

    const TEXT: &str = "__global__ void k(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = BY * x[i];
    }";

    fn tuner(schema: &str) -> Tuner<'static> {
        tune(schema, TEXT).shape("x[n] -> y[n]").seconds(0.001)
    }

    #[test]
    fn wrong_and_failing_configurations_are_rows_and_the_best_is_an_operator() {
        let x = Array1::<f32>::ones(100);
        let tuning = tuner("test::tuned(Tensor x) -> Tensor")
            .param("BY", ["2", "3", "z"])
            .param("block", ["32", "16, 2", "32, x"])
            .filter(|config| config.text("BY") != Some("3") || config.int("block") == Some(32))
            .check((&x,), |x| 2.0 * &x)
            .run()
            .unwrap();
        let rows: Vec<_> =
            tuning.report.rows.iter().map(|r| (r.config[0].as_str(), r.config[1].as_str(), r.status)).collect();
        // A launch of 16 x 2 threads for a count in x alone runs each element twice, which is right.
        let (ok, wrong, failed) = (Status::Ok, Status::Wrong, Status::Failed);
        assert_eq!(
            rows,
            [
                ("2", "32", ok),
                ("2", "16, 2", ok),
                ("2", "32, x", failed),
                ("3", "32", wrong),
                ("z", "32", failed),
                ("z", "16, 2", failed),
                ("z", "32, x", failed)
            ]
        );
        assert_eq!(tuning.report.rows[2].message, "block is `32, x`; up to three numbers with commas are wanted");
        let best = tuning.best().unwrap();
        assert!(tuning.best_config().unwrap().starts_with("BY=2 block="));
        let y: ndarray::ArrayD<f32> = best.call((&x,)).unwrap().into_array().unwrap();
        assert!(y.iter().all(|&y| y == 2.0));
    }

    #[test]
    fn parameters_that_make_no_sense_are_told() {
        let error = |tuner: Tuner<'_>| tuner.run().err().unwrap().to_string();
        let new = || tuner("test::never(Tensor x) -> Tensor");
        assert_eq!(error(new()), "nothing to tune: no parameter is given");
        assert_eq!(error(new().param("BY", [0; 0])), "the parameter BY has no values");
        assert_eq!(error(new().param("BY", [1, 1])), "the parameter BY has a value twice: 1");
        assert_eq!(error(new().param("BY", [1]).param("BY", [2])), "the parameter BY is given twice");
        assert_eq!(error(new().param("B Y", [1])), "`B Y` is no name of a macro or an option");
        assert_eq!(
            error(new().param("BY", [1]).filter(|_| false)),
            "the filter leaves no combination of the parameters"
        );
    }

    #[test]
    fn a_stop_keeps_what_was_measured() {
        let asked = RefCell::new(0);
        let ask = || {
            *asked.borrow_mut() += 1;
            if *asked.borrow() > 2 { Err(Error::Other("stop".to_owned())) } else { Ok(()) }
        };
        let is_stop = |error: &Error| error.to_string() == "stop";
        let asking = Asking { ask: &ask, is_stop: &is_stop, tell: None };
        let told = RefCell::new(Vec::new());
        let x = Array1::<f32>::ones(8);
        let tuning = tuner("test::stopped(Tensor x) -> Tensor")
            .param("BY", ["z", "2", "4"])
            .args((&x,))
            .run_while(&asking, &|line| told.borrow_mut().push(line.to_owned()))
            .unwrap();
        // The second configuration was made and not timed when the stop came.
        let rows: Vec<_> = tuning.report.rows.iter().map(|row| (row.status, row.standing)).collect();
        assert_eq!(rows, [(Status::Failed, None), (Status::Ok, None)]);
        let notes = [
            "there is no reference, so results were not checked",
            "stopped: 2 of 3 configurations were checked, and 0 timed",
        ];
        assert_eq!(tuning.report.notes, notes);
        assert_eq!(*told.borrow(), ["1 of 3 configurations checked", "2 of 3 configurations checked"]);
    }

    #[test]
    fn a_stop_during_a_check_is_no_failure() {
        let is_stop = |error: &Error| error.to_string() == "stop";
        let asking = Asking { ask: &|| Ok(()), is_stop: &is_stop, tell: None };
        let x = Array1::<f32>::ones(8);
        let stopping = |_: &[OwnedArg]| Err(Error::Other("stop".to_owned()));
        let tuner = tuner("test::stopped_check(Tensor x) -> Tensor").param("BY", [1, 2]).args((&x,));
        let outcome = tuner.check_with(stopping, CheckOptions::default()).run_while(&asking, &|_| ());
        assert_eq!(outcome.err().unwrap().to_string(), "stop");
    }

    #[test]
    fn arguments_that_are_missing_and_truth_values() {
        let error = tuner("test::no_arguments(Tensor x) -> Tensor").param("BY", [1]).run().err().unwrap().to_string();
        assert!(error.contains("`x`"), "{error}");
        let params = [Parameter { name: "ON".to_owned(), values: vec!["true".to_owned()] }];
        let options =
            tuner("test::truth(Tensor x) -> Tensor").options_of(&Config { params: &params, values: &params[0].values });
        let SourceCode::Text(_, compile) = options.unwrap().source else { panic!("a text") };
        assert_eq!(compile.front.defines, [("ON".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn values_are_filled_in() {
        let params = [("TILE", "16"), ("kernel", "mm<{TILE}>"), ("A", "x")]
            .map(|(name, value)| Parameter { name: name.to_owned(), values: vec![value.to_owned()] });
        let values: Vec<String> = params.iter().map(|p| p.values[0].clone()).collect();
        let tuner = tuner("test::filled(Tensor x) -> Tensor").block("{TILE}, {TILE}").threads("n / {TILE}");
        let options = tuner.options_of(&Config { params: &params, values: &values }).unwrap();
        assert_eq!(options.kernel.as_deref(), Some("mm<16>"));
        assert_eq!((options.block, options.threads.as_deref()), (Some([16, 16, 1]), Some("n / 16")));
        let SourceCode::Text(_, compile) = options.source else { panic!("a text") };
        assert_eq!(compile.front.defines, [("A".to_owned(), "x".to_owned())]);
    }
}

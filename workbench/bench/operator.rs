//! Benchmarks of operators: `op.bench(|n| (sample(n),)).sizes([1024]).against("Rust loop", |args| ...).run()?`.

use std::collections::HashMap;

use super::report::BenchReport;
use super::sampling::{Asking, BenchConfig, Contestant, sweep_while};
use crate::ops::{IntoArgs, Op, OwnedArg, RunConfig, Work, fill_defaults};
use crate::runtime::{Error, Result};

/// A count of what a call does at a size.
type Count<'a> = Box<dyn Fn(u64) -> u64 + 'a>;

/// A call that is timed beside the operator's, on the same arguments.
type Other<'a> = Box<dyn Fn(&[OwnedArg]) -> Result<()> + 'a>;

/// A benchmark of an operator being put together.
#[must_use = "a benchmark runs by `.run()`"]
pub struct OpBench<'a> {
    op: Op,
    make_args: Box<dyn Fn(u64) -> Vec<OwnedArg> + 'a>,
    sizes: Vec<u64>,
    versions: Vec<u32>,
    others: Vec<(String, Other<'a>)>,
    bytes: Option<Count<'a>>,
    flops: Option<Count<'a>>,
    counted: bool,
    config: BenchConfig,
}

impl Op {
    /// Begins a benchmark of the operator. `make_args(n)` gives the arguments of a call at size `n`. A call is timed as [`Op::call`] makes it,
    /// with its outputs allocated, but without copies of the arguments; times are noted in the version that is timed.
    ///
    /// ```
    /// use workbench::prelude::*;
    /// let text = "__global__ void twice(const float* x, float* y, int n) {
    ///     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ///     if (i < n) y[i] = 2 * x[i];
    /// }";
    /// let op = Op::new("doc::twice_timed(Tensor x) -> Tensor").source(text).shape("x[n] -> y[n]").build()?;
    /// let report = op
    ///     .bench(|n| (Array1::<f32>::ones(n as usize),))
    ///     .sizes([64, 4096])
    ///     .against("Rust loop", |args| {
    ///         std::hint::black_box(args[0].view::<f32>()?.mapv(|x| 2.0 * x));
    ///         Ok(())
    ///     })
    ///     .seconds_per_size(0.01)
    ///     .run()?;
    /// assert_eq!(report.names(), ["doc::twice_timed", "Rust loop"]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn bench<'a, A: IntoArgs>(&self, make_args: impl Fn(u64) -> A + 'a) -> OpBench<'a> {
        OpBench {
            op: self.clone(),
            make_args: Box::new(move |size| make_args(size).into_args()),
            sizes: Vec::new(),
            versions: Vec::new(),
            others: Vec::new(),
            bytes: None,
            flops: None,
            counted: false,
            config: BenchConfig::default(),
        }
    }
}

impl<'a> OpBench<'a> {
    /// The sizes.
    pub fn sizes(mut self, sizes: impl IntoIterator<Item = u64>) -> Self {
        self.sizes = sizes.into_iter().collect();
        self
    }

    /// Another implementation, on the same arguments.
    pub fn against(mut self, name: impl Into<String>, call: impl Fn(&[OwnedArg]) -> Result<()> + 'a) -> Self {
        self.others.push((name.into(), Box::new(call)));
        self
    }

    /// A version of the operator, by its number.
    pub fn against_version(mut self, number: u32) -> Self {
        self.versions.push(number);
        self
    }

    /// The version before this one, if there is one.
    pub fn against_previous(self) -> Self {
        match self.op.version_number().checked_sub(1) {
            Some(number @ 1..) => self.against_version(number),
            _ => self,
        }
    }

    /// Bytes that a call moves at a size, for throughput and roofline.
    pub fn bytes(mut self, count: impl Fn(u64) -> u64 + 'a) -> Self {
        self.bytes = Some(Box::new(count));
        self
    }

    /// Operations on floats that a call does at a size, for the arithmetic view and roofline.
    pub fn flops(mut self, count: impl Fn(u64) -> u64 + 'a) -> Self {
        self.flops = Some(Box::new(count));
        self
    }

    /// Bytes and operations on floats as [`Op::work`] counts them at each size, for throughput, arithmetic and roofline. Other contestants
    /// get the same counts, as they do the same.
    pub fn counted(mut self) -> Self {
        self.counted = true;
        self
    }

    /// The time in seconds that is spent on a size, all contestants together; values below zero count as zero.
    pub fn seconds_per_size(mut self, seconds: f64) -> Self {
        self.config.target_time_per_size = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
        self
    }

    /// Length and number of the measurements, in place of all that was set before.
    pub fn config(mut self, config: BenchConfig) -> Self {
        self.config = config;
        self
    }

    /// Runs it until the user wants it to stop.
    ///
    /// # Errors
    /// [`Error::Argument`] without sizes, for a version that there is not, for two contestants of one name, and where counts are asked for that
    /// cannot be made; the first error of a call.
    pub fn run_while(self, asking: &Asking<'_>) -> Result<BenchReport> {
        let number = self.op.version_number();
        let mut timed = vec![(self.op.name().to_owned(), self.op.clone(), number)];
        for &version in &self.versions {
            timed.push((format!("version {version}"), self.op.version(version)?, version));
        }
        let mut names: Vec<String> = timed.iter().map(|(name, ..)| name.clone()).collect();
        names.extend(self.others.iter().map(|(name, _)| name.clone()));
        if let Some(twice) = names.iter().enumerate().find_map(|(i, name)| names[..i].contains(name).then_some(name)) {
            return Err(Error::argument(format!("two contestants are named `{twice}`")));
        }
        let mut work = HashMap::new();
        for &size in self.sizes.iter().filter(|_| self.counted) {
            let counts = self.op.work_of((self.make_args)(size), &RunConfig::default())?;
            if !counts.all_bytes_counted {
                return Err(Error::argument(format!(
                    "`{}` reads or writes through pointers that come from no parameter alone, so its bytes cannot be counted; give \
                     them by .bytes(..) and .flops(..)",
                    self.op.name()
                )));
            }
            work.insert(size, counts);
        }
        let make = |contestant: usize, size: u64| -> Result<Contestant<'_>> {
            let args = (self.make_args)(size);
            match timed.get(contestant) {
                Some((_, op, _)) => Ok(contestant_of(op, args)),
                None => {
                    let mut args = args;
                    fill_defaults(&self.op.definition().schema, &mut args)?;
                    let call = &self.others[contestant - timed.len()].1;
                    Ok(Box::new(move || call(&args)))
                }
            }
        };
        let mut report = sweep_while(&names, &self.sizes, make, &self.config, asking)?;
        report = report.with_title(self.op.name());
        if self.counted {
            report = report.with_bytes(|_, size| work.get(&size).map(Work::bytes));
            report = report.with_flops(|_, size| work.get(&size).map(|work| work.flops));
        }
        if let Some(count) = &self.bytes {
            report = report.with_bytes(|_, size| Some(count(size)));
        }
        if let Some(count) = &self.flops {
            report = report.with_flops(|_, size| Some(count(size)));
        }
        for (name, op, number) in &timed {
            report.note_in(op, *number, name);
        }
        Ok(report)
    }
}

/// Calls of an operator, whose arguments go in and come back without a copy.
pub(crate) fn contestant_of<'a>(op: &Op, mut args: Vec<OwnedArg>) -> Contestant<'a> {
    let op = op.clone();
    Box::new(move || {
        args = op.call(std::mem::take(&mut args))?.args;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use ndarray::Array1;

    use super::*;

    const TEXT: &str =
        "__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = BY * x[i]; }";

    fn op(name: &str, by: &str) -> Op {
        let text = format!("#define BY {by}\n{TEXT}");
        let made =
            Op::new(format!("test::{name}(Tensor x) -> Tensor")).source(text).shape("x[n] -> y[n]").block(64, 1, 1);
        made.build().unwrap()
    }

    fn ones(n: u64) -> (OwnedArg,) {
        (OwnedArg::from(&Array1::<f32>::ones(n as usize)),)
    }

    #[test]
    fn counts_are_the_operators_for_every_contestant() {
        let op = op("timed_counted", "2");
        let bench = op.bench(ones).sizes([3, 64]).against("nothing", |_| Ok(())).counted().seconds_per_size(0.001);
        let rows = bench.run().unwrap().rows;
        let counts: Vec<_> = rows.iter().map(|r| (r.name.as_str(), r.size, r.bytes, r.flops)).collect();
        let name = "test::timed_counted";
        let expected = [(name, 3, 24, 3), ("nothing", 3, 24, 3), (name, 64, 512, 64), ("nothing", 64, 512, 64)];
        assert_eq!(counts, expected.map(|(name, size, bytes, flops)| (name, size, Some(bytes), Some(flops))));

        let text = "__global__ void k(const float* a, const float* b, float* y, int n) {
            int i = threadIdx.x;
            const float* p = i % 2 ? a : b;
            if (i < n) y[i] = p[i];
        }";
        let either =
            Op::new("test::timed_either(Tensor a, Tensor b) -> Tensor").source(text).shape("a[n], b[n] -> y[n]");
        let either = either.block(64, 1, 1).build().unwrap();
        let pair = |n| (ones(n).0, ones(n).0);
        let error = either.bench(pair).sizes([4]).counted().run().unwrap_err().to_string();
        assert!(error.contains("come from no parameter alone"), "{error}");
    }

    #[test]
    fn versions_and_others_are_timed_beside_and_noted() {
        op("timed_versions", "2");
        let second = op("timed_versions", "3");
        let report = second
            .bench(ones)
            .sizes([8, 16])
            .against_previous()
            .against("nothing", |args| args[0].view::<f32>().map(drop))
            .bytes(|n| 8 * n)
            .flops(|n| n)
            .seconds_per_size(0.001)
            .run()
            .unwrap();
        assert_eq!(report.names(), ["test::timed_versions", "version 1", "nothing"]);
        assert_eq!((report.rows[0].bytes, report.rows[0].flops), (Some(64), Some(8)));
        let history = second.history();
        let sizes = |number| history.version(number).unwrap().times.iter().map(|t| t.size).collect::<Vec<_>>();
        assert_eq!((sizes(1), sizes(2)), (vec![8, 16], vec![8, 16]));
    }

    #[test]
    fn the_first_version_has_no_previous_one() {
        let report = op("timed_first", "2").bench(ones).sizes([8]).against_previous().seconds_per_size(0.001).run();
        assert_eq!(report.unwrap().names(), ["test::timed_first"]);
    }

    #[test]
    fn mistakes_are_told_before_anything_is_timed() {
        let op = op("timed_wrong", "2");
        let nothing = |_: &[OwnedArg]| Ok(());
        let twice = op.bench(ones).sizes([1]).against("a", nothing).against("a", nothing).run().unwrap_err();
        assert_eq!(twice.to_string(), "two contestants are named `a`");
        assert!(op.bench(ones).run().unwrap_err().to_string().contains("`sizes` is empty"));
        let missing = op.bench(ones).sizes([1]).against_version(7).run().unwrap_err();
        assert!(missing.to_string().contains("has no version 7"), "{missing}");
        // Arguments that do not fit are an error of the call.
        let wrong = op.bench(|_| (1.0,)).sizes([1]).run().unwrap_err();
        assert!(wrong.to_string().contains("`x`"), "{wrong}");
    }
}

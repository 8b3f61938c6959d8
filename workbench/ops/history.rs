//! Versions of an operator. Each definition that differs from the one before, in its text, its options or its schema, is a version with a
//! number, counted from 1; checks and timings of the operator are noted in the version that ran.
//!
//! A version keeps its text and options. The last [`KEPT`] keep their compiled definitions as well; an older one is compiled again when it is
//! asked for. Of [`MOST`] versions the oldest is forgotten.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;

use super::registry::{Definition, OpOptions, ShapeRule, SourceCode};
use crate::runtime::{Error, Result};

/// The number of versions that keep their compiled definitions.
const KEPT: usize = 8;

/// The most versions of an operator.
const MOST: usize = 1000;

/// The outcome of a version's last check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckNote {
    /// True if every element agreed with the reference.
    pub passed: bool,
    /// The number of elements that did not.
    pub mismatches: usize,
    /// The largest share of its tolerance that an element's error had.
    pub max_share: f64,
}

/// A time of a version.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeNote {
    /// The size that it was measured at; 0 where the arguments were given.
    pub size: u64,
    /// Median seconds per call.
    pub seconds: f64,
    /// Lower end of the median's interval.
    pub low: f64,
    /// Upper end of the median's interval.
    pub high: f64,
}

/// A version of an operator.
#[derive(Debug, Clone, Serialize)]
pub struct Version {
    /// Its number, from 1.
    pub number: u32,
    /// The time at which it was defined.
    #[serde(serialize_with = "seconds")]
    pub made: SystemTime,
    /// Its schema, in torch's grammar.
    pub schema: String,
    /// The text of its kernel; empty where a closure is the operator.
    pub text: String,
    /// Options other than the text that differ from the version before, as `block=128`.
    pub changes: Vec<String>,
    /// The version that it has restored.
    pub restores: Option<u32>,
    /// Its last check.
    pub check: Option<CheckNote>,
    /// The times of its last benchmark, by size.
    pub times: Vec<TimeNote>,
    #[serde(skip)]
    options: Arc<OpOptions>,
    #[serde(skip)]
    definition: Option<Arc<Definition>>,
}

fn seconds<S: serde::Serializer>(time: &SystemTime, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_f64(since.as_secs_f64())
}

impl fmt::Debug for OpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(said(self)).finish()
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.schema)
    }
}

/// The versions of one operator, the oldest first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct History {
    /// The operator's qualified name.
    pub name: String,
    /// Its versions.
    pub versions: VecDeque<Version>,
}

/// The options that are not their defaults, as they are written.
fn said(options: &OpOptions) -> Vec<String> {
    let text = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name}={value:?}"));
    let shape = match &options.shape {
        ShapeRule::Signature(text) => Some(format!("shape={text:?}")),
        ShapeRule::LikeFirst | ShapeRule::Callable(_) => None,
    };
    let block = options.block.map(|[x, y, z]| match (y, z) {
        (1, 1) => format!("block={x}"),
        _ => format!("block=({x}, {y}, {z})"),
    });
    let timeout = options.timeout.map(|t| format!("timeout={}", t.as_secs_f64()));
    let kernel = text("kernel", &options.kernel);
    let threads = text("threads", &options.threads);
    let (grid, shared_mem) = (text("grid", &options.grid), text("shared_mem", &options.shared_mem));
    [kernel, shape, threads, block, grid, shared_mem, timeout].into_iter().flatten().collect()
}

/// The options with the text in place of a program, whose machine code would stay in memory.
fn light(options: &OpOptions) -> OpOptions {
    let mut options = options.clone();
    if let SourceCode::Program(program) = &options.source {
        options.source = SourceCode::Text(program.text().to_owned(), program.options().clone());
    }
    options
}

fn is_same_source(a: &SourceCode, b: &SourceCode) -> bool {
    match (a, b) {
        (SourceCode::Text(a, with), SourceCode::Text(b, other)) => a == b && with == other,
        (SourceCode::Host(a), SourceCode::Host(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

impl Version {
    /// The options that it was defined with.
    pub(super) fn options(&self) -> &OpOptions {
        &self.options
    }

    /// Its compiled definition, where that has been kept.
    pub(super) fn definition(&self) -> Option<Arc<Definition>> {
        self.definition.clone()
    }

    /// True if its compiled definition has been kept.
    pub fn is_kept(&self) -> bool {
        self.definition.is_some()
    }

    /// The time at a size.
    pub fn time(&self, size: u64) -> Option<&TimeNote> {
        self.times.iter().find(|time| time.size == size)
    }

    /// The time at the largest size that this version and another were measured at, of both.
    pub fn times_beside<'v>(&'v self, other: &'v Version) -> Option<(&'v TimeNote, &'v TimeNote)> {
        let both = self.times.iter().filter_map(|time| Some((time, other.time(time.size)?)));
        both.max_by_key(|(time, _)| time.size)
    }
}

impl History {
    /// The history of a name by its texts alone, each with the time at which it was made.
    pub fn of_texts(name: String, texts: impl Iterator<Item = (SystemTime, String)>) -> History {
        let version = |(number, (made, text)): (u32, (SystemTime, String))| {
            let options = OpOptions::new(SourceCode::Text(text.clone(), crate::runtime::CompileOptions::default()));
            Version {
                number,
                made,
                schema: String::new(),
                text,
                changes: Vec::new(),
                restores: None,
                check: None,
                times: Vec::new(),
                options: Arc::new(options),
                definition: None,
            }
        };
        History { name, versions: (1..).zip(texts).map(version).collect() }
    }

    /// A version by its number.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the versions there are.
    pub fn version(&self, number: u32) -> Result<&Version> {
        self.versions.iter().find(|version| version.number == number).ok_or_else(|| {
            let (first, last) = (self.first(), self.last());
            Error::argument(format!("`{}` has no version {number}; its versions are {first} to {last}", self.name))
        })
    }

    fn first(&self) -> u32 {
        self.versions.front().map_or(0, |version| version.number)
    }

    /// The number of the newest version; 0 where there is none.
    pub fn last(&self) -> u32 {
        self.versions.back().map_or(0, |version| version.number)
    }

    /// Adds a definition, unless it is what the newest version is. The newest version has the definition in any case.
    pub(super) fn add(
        &mut self,
        schema: &str,
        options: &OpOptions,
        definition: &Arc<Definition>,
        restores: Option<u32>,
    ) {
        let options = light(options);
        let all = said(&options);
        let mut changes = Vec::new();
        if let Some(last) = self.versions.back_mut() {
            let before = said(&last.options);
            changes.extend(all.iter().filter(|option| !before.contains(option)).cloned());
            let name = |option: &String| option.split('=').next().unwrap_or("").to_owned();
            let gone = before.iter().filter(|option| !all.iter().any(|now| name(now) == name(option)));
            changes.extend(gone.map(|option| format!("no {option}")));
            if last.schema != schema {
                changes.push(schema.to_owned());
            }
            if changes.is_empty() && restores.is_none() && is_same_source(&last.options.source, &options.source) {
                last.definition = Some(definition.clone());
                last.options = Arc::new(options);
                return;
            }
        }
        let text = match &options.source {
            SourceCode::Text(text, _) => text.clone(),
            SourceCode::Program(_) | SourceCode::Host(_) => String::new(),
        };
        let (number, made) = (self.last() + 1, SystemTime::now());
        self.versions.push_back(Version {
            number,
            made,
            schema: schema.to_owned(),
            text,
            changes,
            restores,
            check: None,
            times: Vec::new(),
            options: Arc::new(options),
            definition: Some(definition.clone()),
        });
        if let Some(old) = self.versions.len().checked_sub(KEPT + 1) {
            self.versions[old].definition = None;
        }
        if self.versions.len() > MOST {
            self.versions.pop_front();
        }
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut Version> {
        self.versions.iter_mut().find(|version| version.number == number)
    }

    /// Says that the newest version restores another one, if it is not that one itself.
    pub(super) fn note_restored(&mut self, number: u32) {
        if let Some(last) = self.versions.back_mut().filter(|last| last.number != number) {
            last.restores = Some(number);
        }
    }

    /// Notes a check of a version.
    pub(super) fn note_check(&mut self, number: u32, check: CheckNote) {
        if let Some(version) = self.get_mut(number) {
            version.check = Some(check);
        }
    }

    /// Notes the times of a version; one at a size replaces the one before.
    pub(super) fn note_times(&mut self, number: u32, times: Vec<TimeNote>) {
        let Some(version) = self.get_mut(number) else { return };
        version.times.retain(|old| times.iter().all(|new| new.size != old.size));
        version.times.extend(times);
        version.times.sort_by_key(|time| time.size);
    }
}

//! Versions of an operator. Each definition that differs from the one before, in its text, its options or its schema, is a version with a
//! number, counted from 1; checks and timings of the operator are noted in the version that ran. Of [`MOST`] versions the oldest is
//! forgotten. What an old version is called by is the registry's to keep.

use std::collections::{BTreeMap, VecDeque};
use std::time::SystemTime;

use serde::Serialize;

use crate::runtime::{Error, Result};

/// The most versions of an operator.
pub const MOST: usize = 1000;

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
    /// The options that are not their defaults, as `block=128`.
    pub options: Vec<String>,
    /// Those that differ from the version before, and the schema where that does.
    pub changes: Vec<String>,
    /// The version that it has restored.
    pub restores: Option<u32>,
    /// Its last check.
    pub check: Option<CheckNote>,
    /// The times of its last benchmark, by size.
    pub times: Vec<TimeNote>,
}

fn seconds<S: serde::Serializer>(time: &SystemTime, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_f64(since.as_secs_f64())
}

/// The versions of one operator, the oldest first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct History {
    /// The operator's qualified name.
    pub name: String,
    /// Its versions.
    pub versions: VecDeque<Version>,
}

/// A text without blank lines before and after it. A cell's text has one for the line of its magic, a string often one at its end; the code is the same.
pub fn bare(text: &str) -> &str {
    let first = text.len() - text.trim_start().len();
    let line = text[..first].rfind('\n').map_or(0, |end| end + 1);
    text[line..].trim_end()
}

impl Version {
    fn new(number: u32, made: SystemTime, schema: String, text: String) -> Self {
        let (options, changes, times) = (Vec::new(), Vec::new(), Vec::new());
        Version { number, made, schema, text, options, changes, restores: None, check: None, times }
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
        let version =
            |(number, (made, text)): (u32, (SystemTime, String))| Version::new(number, made, String::new(), text);
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

    /// The size that most versions were measured at; the largest of several.
    pub fn common_size(&self) -> Option<u64> {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for time in self.versions.iter().flat_map(|version| &version.times) {
            *counts.entry(time.size).or_default() += 1;
        }
        counts.into_iter().max_by_key(|&(size, count)| (count, size)).map(|(size, _)| size)
    }

    /// All of it as JSON. Numbers that are not finite are the texts `"NaN"`, `"Infinity"` and `"-Infinity"`.
    ///
    /// # Errors
    /// [`Error::Other`] where it cannot be written.
    pub fn to_json(&self) -> Result<String> {
        Ok(crate::json::text(self)?)
    }

    fn first(&self) -> u32 {
        self.versions.front().map_or(0, |version| version.number)
    }

    /// The number of the newest version; 0 where there is none.
    pub fn last(&self) -> u32 {
        self.versions.back().map_or(0, |version| version.number)
    }

    /// Adds a definition, unless it is what the newest version is; gives the number of the newest version, and true if it is new.
    /// `is_other` says that it differs in something that has no text, a closure.
    pub(super) fn add(&mut self, schema: &str, text: &str, options: Vec<String>, is_other: bool) -> (u32, bool) {
        let mut changes = Vec::new();
        if let Some(last) = self.versions.back() {
            changes.extend(options.iter().filter(|option| !last.options.contains(option)).cloned());
            let name = |option: &String| option.split('=').next().unwrap_or("").to_owned();
            let gone = last.options.iter().filter(|option| !options.iter().any(|now| name(now) == name(option)));
            changes.extend(gone.map(|option| format!("no {option}")));
            if last.schema != schema {
                changes.push(schema.to_owned());
            }
            if changes.is_empty() && bare(&last.text) == bare(text) && !is_other {
                return (last.number, false);
            }
        }
        let number = self.last() + 1;
        let version = Version::new(number, SystemTime::now(), schema.to_owned(), text.to_owned());
        self.versions.push_back(Version { options, changes, ..version });
        if self.versions.len() > MOST {
            self.versions.pop_front();
        }
        (number, true)
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

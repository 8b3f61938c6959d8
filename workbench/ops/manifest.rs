//! Manifests: the facts about an operator besides its text, in a file that travels with it: schema, shape, gradient, references, samples,
//! tolerances.
//!
//! ```toml
//! source = "softmax.cu"            # beside this file; or text = '''...'''
//! reference = "softmax.py"         # NumPy functions named as the operators
//!
//! [softmax]                        # of a text that registers it; with `schema` also of one that only has a kernel
//! backward = "softmax_backward"    # another operator of this file, called with gradients and then with what is saved
//! saves = ["output", "dim"]
//! differentiable = ["x"]
//! dtypes = ["float32", "float64"]
//! tolerance = { float32 = [1e-6, 1e-5] }
//!
//! [[softmax.samples]]
//! x = { normal = [5, 7] }
//! ```
//!
//! The file of references may hold more than those: `function` (the implementation of an operator without a text), `fake` and `shape_function` (its
//! shapes), `gradient` and `setup` (its backward and `setup_context`), `vmap` (its rule for batches) and `reference` name functions in it. Where none
//! of these is given, references have the operators' names. `operator` is the qualified name of an operator that the text registers, where the name
//! alone is ambiguous. `[[softmax.kernels]]` are further implementations: a `function`, or a `kernel` with a `text` of its own.
//!
//! `op.save` writes a manifest with the text and its compile settings, and a Python file beside it (`saving.py`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::runtime::{DType, Error, Result};

/// The manifest of a text and its operators.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// The file with the text, beside the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The text itself, where there is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The file with the references and other functions of Python's, beside the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The settings that the text is compiled with.
    #[serde(flatten)]
    pub build: Build,
    /// The entry of each operator, by its name without the namespace.
    #[serde(flatten)]
    pub operators: BTreeMap<String, Entry>,
}

/// The settings that a text is compiled with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// Macros.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defines: BTreeMap<String, String>,
    /// Texts by the names that they are included by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The compiler's options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl Build {
    fn is_empty(&self) -> bool {
        self.defines.is_empty() && self.headers.is_empty() && self.options.is_empty()
    }
}

/// A further implementation of an operator: a kernel of a text of its own, or a function.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Other {
    /// `cpu` or `cuda`; if absent, `cpu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The function of the file of references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The element types of the first array that it serves; if empty, all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<String>,
    /// The kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The text of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The macros, as in [`Build`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defines: BTreeMap<String, String>,
    /// The headers, as in [`Build`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The options, as in [`Build`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl Other {
    /// True if no setting is given.
    fn is_plain(&self) -> bool {
        self.defines.is_empty() && self.headers.is_empty() && self.options.is_empty()
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.device.as_deref().is_some_and(|d| d != "cpu" && d != "cuda") {
            return Err("`device` is `cpu` or `cuda`".to_owned());
        }
        match (&self.function, &self.kernel, &self.text) {
            (Some(_), None, None) if self.is_plain() => check_dtypes(self.dtypes.iter()),
            (None, Some(_), Some(_)) if self.dtypes.is_empty() => Ok(()),
            _ => {
                Err("one of `kernels` is a `function`, perhaps with `dtypes`, or a `kernel` and its `text`".to_owned())
            }
        }
    }
}

fn check_dtypes<'a>(mut names: impl Iterator<Item = &'a String>) -> std::result::Result<(), String> {
    match names.find(|name| DType::from_name(name).is_none()) {
        Some(name) => Err(format!("`{name}` is no element type (float32, int64, ...)")),
        None => Ok(()),
    }
}

/// The entry of an operator.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// The schema, of an operator that the text does not register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Its kernel, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Its shape signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The number of threads, as expressions over dims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<String>,
    /// Threads of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Vec<u32>>,
    /// The number of blocks, as expressions over dims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<String>,
    /// Bytes of dynamic shared memory of a block, as an expression over dims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_mem: Option<String>,
    /// The function of Python's that computes it, of an operator without a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The function that gives its shapes, also on torch's tensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fake: Option<String>,
    /// The function that gives its shapes on `Spec`s alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape_function: Option<String>,
    /// The reference, where it has another name than the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The function that computes the gradient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient: Option<String>,
    /// The `setup_context` of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// The function that runs it over a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vmap: Option<String>,
    /// The qualified name, of an operator that the text registers; if absent, the name decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// Further implementations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<Other>,
    /// The operator that computes the gradient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backward: Option<String>,
    /// The saved values that it is called with after the gradients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves: Option<Vec<String>>,
    /// The arguments it gives gradients for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differentiable: Option<Vec<String>>,
    /// The element types that it serves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<String>,
    /// Relative and absolute tolerance by element type, where torch's are too tight.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tolerance: BTreeMap<String, [f64; 2]>,
    /// Arguments to check it with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<BTreeMap<String, Value>>,
}

/// The keys of a manifest that are not operators.
const HEAD: [&str; 6] = ["source", "text", "reference", "defines", "headers", "options"];

/// The keys of a table that stands for an array.
const GENERATORS: [&str; 4] = ["normal", "uniform", "integers", "values"];

impl Manifest {
    /// Reads a manifest; `name` is its name in messages.
    ///
    /// # Errors
    /// [`Error::Argument`] with the line and a caret, or naming the operator and the error in its entry.
    pub fn parse(name: &str, text: &str) -> Result<Manifest> {
        let table: toml::Table =
            toml::from_str(text).map_err(|e| Error::argument(format!("{name}: {}", e.to_string().trim_end())))?;
        // Operators are read one by one, so that a message can name the operator.
        for (key, value) in &table {
            if !HEAD.contains(&key.as_str())
                && let Err(why) = value.clone().try_into::<Entry>()
            {
                return Err(Error::argument(format!("{name}: `{key}`: {}", why.to_string().trim_end())));
            }
        }
        let manifest: Manifest = Value::Table(table)
            .try_into()
            .map_err(|e| Error::argument(format!("{name}: {}", e.to_string().trim_end())))?;
        if manifest.source.is_none() && manifest.text.is_none() && !manifest.build.is_empty() {
            return Err(Error::argument(format!("{name}: `defines`, `headers` and `options` need a text")));
        }
        let needs_text = manifest.operators.values().any(|entry| entry.function.is_none());
        if manifest.source.is_some() == manifest.text.is_some() && (needs_text || manifest.source.is_some()) {
            return Err(Error::argument(format!("{name}: it has either `source`, a file, or `text`")));
        }
        if manifest.operators.is_empty() {
            return Err(Error::argument(format!("{name}: it says nothing of any operator; write a table `[name]`")));
        }
        for (operator, entry) in &manifest.operators {
            let checked = entry.check().and_then(|()| match manifest.reference {
                None if entry.has_functions() => {
                    Err("its functions need a `reference`, the file that they are in".to_owned())
                }
                _ => Ok(()),
            });
            checked.map_err(|why| Error::argument(format!("{name}: `{operator}`: {why}")))?;
        }
        Ok(manifest)
    }

    /// The manifest as a file.
    ///
    /// # Errors
    /// [`Error::Other`] for values that TOML cannot hold.
    pub fn to_text(&self) -> Result<String> {
        toml::to_string_pretty(self).map_err(|e| Error::Other(e.to_string()))
    }
}

impl Entry {
    /// True if it names functions of a Python file.
    fn has_functions(&self) -> bool {
        let own = [
            &self.function,
            &self.fake,
            &self.shape_function,
            &self.reference,
            &self.gradient,
            &self.setup,
            &self.vmap,
        ];
        own.iter().any(|name| name.is_some()) || self.kernels.iter().any(|other| other.function.is_some())
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.backward.is_some() != self.saves.is_some() {
            return Err("`backward` and `saves` go together".to_owned());
        }
        let launches =
            self.threads.is_some() || self.block.is_some() || self.grid.is_some() || self.shared_mem.is_some();
        if self.schema.is_none() && (self.kernel.is_some() || self.shape.is_some() || launches) {
            return Err("`kernel`, `shape`, `threads`, `block`, `grid` and `shared_mem` need a `schema`".to_owned());
        }
        if self.schema.is_some() && self.operator.is_some() {
            return Err("`operator` names one that the text registers, which has its schema there".to_owned());
        }
        if self.function.is_some() {
            let of_text =
                self.kernel.is_some() || self.shape.is_some() || self.threads.is_some() || self.block.is_some();
            let of_text = of_text || self.shared_mem.is_some();
            if self.schema.is_none() || of_text || self.grid.is_some() || self.shape_function.is_some() {
                return Err("`function` goes with a `schema`, and without what is said of kernels".to_owned());
            }
        }
        if self.shape_function.is_some() && (self.shape.is_some() || self.fake.is_some() || self.schema.is_none()) {
            return Err("`shape_function` goes with a `schema`, and without `shape` and `fake`".to_owned());
        }
        if self.gradient.is_some() && self.backward.is_some() || self.setup.is_some() && self.gradient.is_none() {
            return Err("a gradient is a `gradient`, perhaps with `setup`, or a `backward` with `saves`".to_owned());
        }
        check_dtypes(self.dtypes.iter().chain(self.tolerance.keys()))?;
        for other in &self.kernels {
            other.check()?;
        }
        for (i, sample) in self.samples.iter().enumerate() {
            for (argument, value) in sample {
                if let Value::Table(table) = value {
                    check_array(table).map_err(|why| format!("sample {i}, `{argument}`: {why}"))?;
                }
            }
        }
        Ok(())
    }
}

/// Checks a table that stands for an array: it has one generator, and the keys that the generator takes.
fn check_array(table: &toml::Table) -> std::result::Result<(), String> {
    let used: Vec<&str> = GENERATORS.into_iter().filter(|g| table.contains_key(*g)).collect();
    let [generator] = used.as_slice() else {
        return Err(format!("an array is one of {}, as in {{ normal = [5, 7] }}", GENERATORS.join(", ")));
    };
    for (key, value) in table {
        let fits = match key.as_str() {
            key if key == *generator => *generator == "values" || extents(value),
            "low" | "high" => {
                *generator != "normal" && *generator != "values" && (value.is_float() || value.is_integer())
            }
            "dtype" => value.as_str().and_then(DType::from_name).is_some(),
            "transposed" => value.as_array().is_some_and(|axes| axes.len() == 2 && axes.iter().all(Value::is_integer)),
            _ => false,
        };
        if !fits {
            return Err(format!("`{key} = {value}` says nothing with `{generator}`"));
        }
    }
    Ok(())
}

fn extents(value: &Value) -> bool {
    value.as_array().is_some_and(|all| all.iter().all(|n| n.as_integer().is_some_and(|n| n >= 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        Manifest::parse("m.toml", text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = "source = \"a.cu\"\n[f]\nbackward = \"g\"\nsaves = [\"x\"]\ndtypes = [\"float32\"]\n\
            tolerance = { float32 = [1e-3, 1e-4] }\n[[f.samples]]\nx = { normal = [5, 7], transposed = [0, 1] }\nk = 3\n";
        let first = Manifest::parse("m.toml", text).expect("it is right");
        let again = Manifest::parse("m.toml", &first.to_text().expect("it can be written")).expect("it is right");
        assert_eq!(format!("{first:?}"), format!("{again:?}"));
        assert_eq!(again.operators["f"].samples[0]["k"].as_integer(), Some(3));
    }

    #[test]
    fn errors_name_their_place() {
        let unknown = wrong("source = \"a.cu\"\n[f]\nbackwards = \"g\"\n");
        assert!(unknown.contains("m.toml") && unknown.contains("backwards"), "{unknown}");
        assert!(wrong("source = \n[f]").contains('^'));
        assert!(wrong("[f]\n").contains("either `source`"));
        assert!(wrong("source = \"a\"\ntext = \"b\"\n[f]").contains("either `source`"));
        assert!(wrong("source = \"a\"\n").contains("nothing of any operator"));
        assert!(wrong("source = \"a\"\n[f]\nbackward = \"g\"").contains("`f`: `backward` and `saves` go together"));
        assert!(wrong("source = \"a\"\n[f]\ndtypes = [\"float\"]").contains("`float` is no element type"));
        assert!(wrong("source = \"a\"\n[f]\nkernel = \"k\"").contains("need a `schema`"));
        let sample = |x: &str| wrong(&format!("source = \"a\"\n[f]\n[[f.samples]]\nx = {x}"));
        assert!(sample("{ normal = [2], high = 3 }").contains("sample 0, `x`: `high = 3` says nothing with `normal`"));
        assert!(sample("{ normal = [-1] }").contains("says nothing with `normal`"));
        assert!(sample("{ ones = [2] }").contains("an array is one of normal, uniform, integers, values"));
    }
}

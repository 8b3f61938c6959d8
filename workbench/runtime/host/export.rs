//! What a text offers to the notebook.

use super::array::DeviceTag;
use super::value::Value;

/// How a function was registered.
#[derive(Debug, Clone)]
pub enum Registration {
    /// `m.def` in a `PYBIND11_MODULE`.
    Module,
    /// Nothing to call: `m.attr("name") = value`, and as `__doc__` what `m.doc()` says of the module.
    Constant(Value),
    /// Not at all: the text only defines it.
    Exposed,
    /// In a `TORCH_LIBRARY` of that namespace; with the dispatch key of its implementation, when one is said.
    Library {
        /// The namespace.
        namespace: String,
        /// `CPU`, `CUDA`, ...; empty: any.
        key: String,
    },
}

/// A host function that the notebook may call.
#[derive(Debug, Clone)]
pub struct Export {
    /// Its name there.
    pub name: String,
    /// How it was registered.
    pub registration: Registration,
    /// The text given for it.
    pub doc: String,
    /// Names and defaults of its arguments, where `py::arg` gives them.
    pub arguments: Vec<(String, Option<Value>)>,
    /// How many of them may be given without their names, where `py::kw_only()` says so.
    pub positional: Option<usize>,
    /// The schema, where one is given.
    pub schema: Option<String>,
    /// How many arguments it takes.
    pub arity: usize,
    /// Pointers to functions: what takes arguments and hands back the result, and the function itself.
    pub(super) wrapper: i64,
    pub(super) function: i64,
}

impl Export {
    /// A constant.
    pub(super) fn constant(name: &str, value: Value) -> Self {
        Export {
            name: name.to_owned(),
            registration: Registration::Constant(value),
            doc: String::new(),
            arguments: Vec::new(),
            positional: None,
            schema: None,
            arity: 0,
            wrapper: 0,
            function: 0,
        }
    }

    /// The device that its factories and arguments are on: what it was registered for; what was not is on a GPU if the text has kernels.
    pub fn device(&self, has_kernels: bool) -> DeviceTag {
        let is_cuda = match &self.registration {
            Registration::Library { key, .. } if key == "CPU" => false,
            Registration::Library { key, .. } if key == "CUDA" => true,
            _ => has_kernels,
        };
        if is_cuda { DeviceTag::CUDA } else { DeviceTag::CPU }
    }

    pub(in crate::runtime) fn pointers(&self) -> [i64; 2] {
        [self.wrapper, self.function]
    }
}

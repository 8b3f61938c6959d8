//! Exports: the functions and entries that a text offers to the notebook.

use std::sync::Arc;

use super::array::DeviceTag;
use super::value::Value;

/// The way a function was registered.
#[derive(Debug, Clone)]
pub enum Registration {
    /// `m.def` in a `PYBIND11_MODULE`.
    Module,
    /// By a `PyMethodDef`, with these flags (`METH_VARARGS` 1, `METH_KEYWORDS` 2, `METH_NOARGS` 4, `METH_O` 8): it is called with a tuple of
    /// the positional arguments and a dictionary of the others.
    Python(i64),
    /// A value rather than a function: `m.attr("name") = value`, and as `__doc__` the text of `m.doc()`.
    Constant(Value),
    /// Not at all: the text only defines it.
    Exposed,
    /// By a `TORCH_LIBRARY`, for that dispatch key: `CPU`, `CUDA`, ...; empty: any.
    Library(String),
}

/// The registration of one line of a `TORCH_LIBRARY`.
#[derive(Debug, Clone)]
pub struct LibraryEntry {
    /// The namespace, `lab` of `lab::muladd`.
    pub namespace: String,
    /// The content of the line.
    pub what: LibraryLine,
    /// The implementation, where it gives one.
    pub function: Option<Export>,
    /// The schema that its type has, where it gives one.
    pub inferred: Option<Inferred>,
}

/// The content of a line of a `TORCH_LIBRARY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LibraryLine {
    /// `m.def`: a schema, or a name alone.
    Define(String),
    /// `m.impl`: a name, with its overload where it has one.
    Implement(String),
    /// `m.set_python_module`.
    PythonModule(String),
    /// `m.def` of a `NEURON_LIBRARY`: the operator's name, and its kernel's; the function gives the shape.
    Neuron(String, String),
    /// An entry of the library's own, by its name.
    Entry(String),
    /// `REGISTER_OP`: the operator's name, and a line for each `Input`, `Output` and `Attr`.
    TensorFlow(String, String),
}

/// The schema of a C++ function: types as schemas write them; one that torch does not take begins with `!`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inferred {
    /// The types of the arguments.
    pub args: Vec<String>,
    /// The types of the results.
    pub returns: Vec<String>,
}

impl Inferred {
    /// The schema from the parts that registrations push: each type ends with `,`, and `(` stands between arguments and
    /// results.
    pub(super) fn of_parts<'a>(parts: impl Iterator<Item = &'a str>) -> Self {
        let mut made = Inferred::default();
        let (mut current, mut in_returns) = (String::new(), false);
        for part in parts {
            match part {
                "(" => in_returns = true,
                "," if in_returns => made.returns.push(std::mem::take(&mut current)),
                "," => made.args.push(std::mem::take(&mut current)),
                part => current.push_str(part),
            }
        }
        made
    }
}

/// The parameters of a function that are pybind11's objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Objects {
    /// True if the last parameter but for [`keywords`](Objects::keywords) is `py::args`.
    pub args: bool,
    /// True if the last parameter is `py::kwargs`.
    pub keywords: bool,
    /// True if any other parameter is an object.
    pub others: bool,
}

impl Objects {
    /// The number of parameters, and which are objects, out of the word that a registration pushes.
    pub(super) fn of_word(word: i64) -> (usize, Self) {
        let has = |bit: i64| word >> 32 & bit != 0;
        ((word & 0xffff_ffff) as usize, Objects { args: has(1), keywords: has(2), others: has(4) })
    }

    /// True if any parameter is an object.
    pub fn any(self) -> bool {
        self != Objects::default()
    }
}

/// A host function that the notebook may call.
#[derive(Debug, Clone)]
pub struct Export {
    /// Its name in the notebook.
    pub name: String,
    /// The way it was registered.
    pub registration: Registration,
    /// The text given for it.
    pub doc: String,
    /// Names and defaults of its arguments, where `py::arg` gives them.
    pub arguments: Vec<(String, Option<Value>)>,
    /// The number of them that may be given without their names, where `py::kw_only()` says so.
    pub positional: Option<usize>,
    /// The number of arguments it takes.
    pub arity: usize,
    /// The parameters that are Python objects to it.
    pub objects: Objects,
    /// Pointers to functions: the wrapper, which takes arguments and hands back the result, and the function itself.
    pub(super) wrapper: i64,
    pub(super) function: i64,
    /// The names of it and its parameters in messages.
    pub(in crate::runtime) names: Arc<Names>,
}

/// The names of a function and its parameters in messages.
#[derive(Debug, Default)]
pub struct Names {
    /// The function.
    pub function: String,
    /// Its parameters, in order; empty for one without a name.
    pub parameters: Vec<String>,
}

impl Names {
    /// The names of a function whose parameters are not known.
    pub fn of(function: &str) -> Self {
        Names { function: function.to_owned(), parameters: Vec::new() }
    }
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
            arity: 0,
            objects: Objects::default(),
            wrapper: 0,
            function: 0,
            names: Arc::default(),
        }
    }

    /// The device that its factories and arguments are on: the one it was registered for; without one, a GPU if the text is for GPUs.
    pub fn device(&self, is_for_gpus: bool) -> DeviceTag {
        let is_cuda = match &self.registration {
            Registration::Library(key) if key == "CPU" => false,
            Registration::Library(key) if key == "CUDA" => true,
            _ => is_for_gpus,
        };
        if is_cuda { DeviceTag::CUDA } else { DeviceTag::CPU }
    }

    /// The reason that a method of Python's C interface is not called with so many arguments, and so many with names;
    /// `None` where it is.
    pub(in crate::runtime) fn refusal(&self, positional: usize, named: usize) -> Option<String> {
        let Registration::Python(flags) = self.registration else { return None };
        let name = &self.name;
        if named > 0 && flags & 2 == 0 {
            return Some(format!("{name}() takes no keyword arguments"));
        }
        match flags & (4 | 8) {
            4 if positional != 0 => Some(format!("{name}() takes no arguments ({positional} given)")),
            8 if positional != 1 => Some(format!("{name}() takes exactly one argument ({positional} given)")),
            _ => None,
        }
    }

    pub(in crate::runtime) fn pointers(&self) -> [i64; 2] {
        [self.wrapper, self.function]
    }
}

//! Keyword arguments of a call from Python, as [`arrange`] takes them; [`arrange`] for the package itself.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use workbench::front::nearest;
use workbench::plural::plural;
use workbench::runtime::arrange::{Misarranged, Named, Parameter, arrange};

use crate::errors::argument;

/// Keyword arguments, where there are any.
pub struct Keywords<'a, 'py>(pub Option<&'a Bound<'py, PyDict>>);

impl<'py> Named for Keywords<'_, 'py> {
    type Value = Bound<'py, PyAny>;
    type Error = PyErr;

    fn count(&self) -> usize {
        self.0.map_or(0, |dict| dict.len())
    }

    fn take(&mut self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.map_or(Ok(None), |dict| dict.get_item(name))
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> PyResult<Option<String>> {
        for key in self.0.into_iter().flat_map(|dict| dict.keys()) {
            let key: String = key.extract()?;
            if wanted(&key) {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }
}

/// The arguments of a call of `name` in the order of `params`, of which the first `required` have no default; `...` for those left out.
#[pyfunction]
#[pyo3(signature = (name, params, required, args, kwargs))]
pub fn arrange_arguments<'py>(
    py: Python<'py>,
    name: &str,
    params: Vec<String>,
    required: usize,
    args: &Bound<'py, PyTuple>,
    kwargs: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyList>> {
    let params: Vec<(&str, bool)> = params.iter().enumerate().map(|(i, name)| (name.as_str(), i >= required)).collect();
    let values = PyList::empty(py);
    let put =
        |_, value: Option<Bound<'py, PyAny>>| values.append(value.unwrap_or_else(|| py.Ellipsis().into_bound(py)));
    let wrong = |misarranged| {
        let message = match misarranged {
            Misarranged::TooMany { most, given } => {
                format!("`{name}` takes {}, {given} given", plural(most, "argument"))
            }
            Misarranged::Twice(at) => format!("`{name}`: argument `{}` is given twice", params[at].name()),
            Misarranged::Missing { at, unknown: None } => {
                format!("`{name}`: argument `{}` is missing", params[at].name())
            }
            Misarranged::Missing { unknown: Some(keyword), .. } | Misarranged::Unknown(keyword) => {
                let near = nearest(&keyword, params.iter().map(Parameter::name));
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let all: Vec<&str> = params.iter().map(Parameter::name).collect();
                format!("`{name}` has no argument `{keyword}`{hint} ({})", all.join(", "))
            }
        };
        argument(py, message)
    };
    arrange(&params, params.len(), args.iter(), &mut Keywords(Some(kwargs)), put, wrong)?;
    Ok(values)
}

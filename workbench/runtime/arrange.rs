//! Arguments of a call, by position and by name, arranged to the parameters of the function called. Every call that knows names goes
//! through [`arrange`]: operators, host functions, Python's C interface. Its caller words the errors.

use super::Error;

/// The facts about a parameter.
pub trait Parameter {
    /// Its name.
    fn name(&self) -> &str;
    /// True if a call may leave it out.
    fn has_default(&self) -> bool;
}

impl<T: Parameter> Parameter for &T {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn has_default(&self) -> bool {
        (**self).has_default()
    }
}

/// A name, and a default where it has one.
impl<T> Parameter for (String, Option<T>) {
    fn name(&self) -> &str {
        &self.0
    }

    fn has_default(&self) -> bool {
        self.1.is_some()
    }
}

/// A name, and whether it has a default.
impl Parameter for (&str, bool) {
    fn name(&self) -> &str {
        self.0
    }

    fn has_default(&self) -> bool {
        self.1
    }
}

/// Arguments by name.
pub trait Named {
    /// An argument.
    type Value;
    /// The error that a call fails with.
    type Error;

    /// The number of named arguments before any is taken.
    fn count(&self) -> usize;

    /// The argument of a name, which is not asked for again.
    ///
    /// # Errors
    /// The reason that the argument cannot be read.
    fn take(&mut self, name: &str) -> Result<Option<Self::Value>, Self::Error>;

    /// The first name, in the order of the call, that is wanted; those that were taken may be among them.
    ///
    /// # Errors
    /// The reason that a name cannot be read.
    fn find(&self, wanted: impl Fn(&str) -> bool) -> Result<Option<String>, Self::Error>;
}

impl<V> Named for Vec<(String, V)> {
    type Value = V;
    type Error = Error;

    fn count(&self) -> usize {
        self.len()
    }

    fn take(&mut self, name: &str) -> Result<Option<V>, Error> {
        let at = self.iter().position(|(key, _)| key == name);
        Ok(at.map(|at| self.remove(at).1))
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Result<Option<String>, Error> {
        Ok(self.iter().find(|(key, _)| wanted(key)).map(|(key, _)| key.clone()))
    }
}

/// The mismatch of a call's arguments. Parameters are named by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misarranged {
    /// More are given by position than may be.
    TooMany {
        /// The most that may be given by position.
        most: usize,
        /// The number given.
        given: usize,
    },
    /// A parameter is given twice: by position and by name, or by name both times.
    Twice(usize),
    /// A parameter without a default is not given.
    Missing {
        /// The parameter.
        at: usize,
        /// A name that is given and that no parameter has: perhaps the reason that the argument is missing.
        unknown: Option<String>,
    },
    /// A name is given that no parameter has.
    Unknown(String),
}

/// Gives `put` the place and the argument of every parameter in order, none for one that is left to its default. The first `positional`
/// parameters may be given by position. Arguments by position past the last parameter, which `positional` may allow, are passed as
/// well.
///
/// # Errors
/// The error that `wrong` makes of a call that does not fit, and those of `put` and `named`.
pub fn arrange<P: Parameter, N: Named>(
    params: &[P],
    positional: usize,
    given: impl ExactSizeIterator<Item = N::Value>,
    named: &mut N,
    mut put: impl FnMut(usize, Option<N::Value>) -> Result<(), N::Error>,
    wrong: impl FnOnce(Misarranged) -> N::Error,
) -> Result<(), N::Error> {
    let (count, names) = (given.len(), named.count());
    if count > positional {
        return Err(wrong(Misarranged::TooMany { most: positional, given: count }));
    }
    for (at, value) in given.enumerate() {
        put(at, Some(value))?;
    }
    // Only a call that does not fit is asked what was given by position and by name as well.
    let given_twice = |named: &mut N| {
        for (at, param) in params.iter().enumerate().take(count) {
            if named.take(param.name())?.is_some() {
                return Ok(Some(Misarranged::Twice(at)));
            }
        }
        Ok(None)
    };
    let is_unknown = |name: &str| params.iter().all(|param| param.name() != name);
    let mut taken = 0;
    for (at, param) in params.iter().enumerate().skip(count) {
        let value = if names > 0 { named.take(param.name())? } else { None };
        taken += usize::from(value.is_some());
        if value.is_none() && !param.has_default() {
            if let Some(twice) = given_twice(named)? {
                return Err(wrong(twice));
            }
            let unknown = named.find(is_unknown)?;
            return Err(wrong(Misarranged::Missing { at, unknown }));
        }
        put(at, value)?;
    }
    if taken == names {
        return Ok(());
    }
    if let Some(twice) = given_twice(named)? {
        return Err(wrong(twice));
    }
    if let Some(name) = named.find(is_unknown)? {
        return Err(wrong(Misarranged::Unknown(name)));
    }
    // A name that is left is given twice: its parameter was taken before.
    let left = named.find(|_| true)?;
    let at = left.and_then(|name| params.iter().position(|param| param.name() == name));
    at.map_or(Ok(()), |at| Err(wrong(Misarranged::Twice(at))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call of `f(a, b, c=.., *, d=..)`: what each parameter is given, or what is wrong.
    fn call(given: &[i32], named: &[(&str, i32)]) -> Result<Vec<Option<i32>>, Misarranged> {
        let params = [("a", false), ("b", false), ("c", true), ("d", true)];
        let (mut out, mut why) = (Vec::new(), None);
        let mut named: Vec<(String, i32)> = named.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let put = |at, value| {
            assert_eq!(at, out.len());
            out.push(value);
            Ok(())
        };
        let wrong = |misarranged| {
            why = Some(misarranged);
            Error::argument("wrong")
        };
        match arrange(&params, 3, given.iter().copied(), &mut named, put, wrong) {
            Ok(()) => Ok(out),
            Err(_) => Err(why.expect("said by `wrong`")),
        }
    }

    #[test]
    fn arguments_go_to_parameters_by_position_then_by_name_then_by_default() {
        assert_eq!(call(&[1, 2], &[]), Ok(vec![Some(1), Some(2), None, None]));
        assert_eq!(call(&[1, 2, 3], &[]), Ok(vec![Some(1), Some(2), Some(3), None]));
        assert_eq!(call(&[1], &[("d", 4), ("b", 2)]), Ok(vec![Some(1), Some(2), None, Some(4)]));
        assert_eq!(call(&[], &[("b", 2), ("c", 3), ("a", 1)]), Ok(vec![Some(1), Some(2), Some(3), None]));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let unknown = |name: &str| Some(name.to_owned());
        assert_eq!(call(&[1, 2, 3, 4], &[]), Err(Misarranged::TooMany { most: 3, given: 4 }));
        assert_eq!(call(&[1], &[]), Err(Misarranged::Missing { at: 1, unknown: None }));
        assert_eq!(call(&[1], &[("bb", 2)]), Err(Misarranged::Missing { at: 1, unknown: unknown("bb") }));
        assert_eq!(call(&[1, 2], &[("a", 3)]), Err(Misarranged::Twice(0)));
        assert_eq!(call(&[1, 2], &[("e", 3), ("a", 3)]), Err(Misarranged::Twice(0)));
        assert_eq!(call(&[1], &[("a", 2)]), Err(Misarranged::Twice(0)));
        assert_eq!(call(&[1], &[("b", 2), ("b", 3)]), Err(Misarranged::Twice(1)));
        assert_eq!(call(&[1, 2], &[("e", 3), ("f", 3)]), Err(Misarranged::Unknown("e".to_owned())));
        assert_eq!(call(&[1, 2], &[("c", 3), ("e", 3)]), Err(Misarranged::Unknown("e".to_owned())));
    }

    #[test]
    fn arguments_behind_the_last_parameter_come_as_well_where_they_may() {
        let mut out = Vec::new();
        let put = |at, value: Option<i32>| {
            out.push((at, value));
            Ok(())
        };
        let wrong = |misarranged: Misarranged| Error::argument(format!("{misarranged:?}"));
        arrange(&[("a", false)], usize::MAX, [1, 2].into_iter(), &mut Vec::new(), put, wrong).expect("it fits");
        assert_eq!(out, [(0, Some(1)), (1, Some(2))]);
    }
}

//! The largest errors of the `float` math functions over all 2^32 arguments: lines of the page, which keeps the results of `cargo xtask ulp`.

use crate::ir::MathFn;

/// The measured accuracy of a function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// Name.
    pub name: &'a str,
    /// The largest distance from the `double` form, rounded to `float`, in ULP; none where the sweep has not been made.
    pub error: Option<u64>,
    /// The first argument where it is that large; 0 where there is no error.
    pub at: f32,
    /// The bound that CUDA documents.
    pub bound: u64,
}

/// The text in place of an error that is not known.
const NOT_SWEPT: &str = "not swept";

impl<'a> Row<'a> {
    /// The row of a line of the page, if it is one.
    pub fn of_line(line: &'a str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").map(str::trim).collect();
        let &[name, error, at, bound] = cells.as_slice() else { return None };
        let name = name.strip_prefix('`')?.strip_suffix('`')?;
        let error = if error == NOT_SWEPT { None } else { Some(error.parse().ok()?) };
        let at = if at.is_empty() { 0.0 } else { at.parse().ok()? };
        Some(Row { name, error, at, bound: bound.parse().ok()? })
    }

    /// Its line on the page.
    pub fn line(&self) -> String {
        let at = self.error.filter(|&error| error > 0).map_or(String::new(), |_| format!("{:e}", self.at));
        let error = self.error.map_or(NOT_SWEPT.to_owned(), |error| error.to_string());
        format!("| `{}` | {error} | {at} | {} |", self.name, self.bound)
    }
}

/// The lines of the page for all functions of one argument that round, by name, with what `kept`, the page as it is, knows of them. An exact
/// one, whose bound is 0, is there if it was swept.
pub(super) fn lines(kept: &str) -> Vec<String> {
    let functions = MathFn::ALL.iter().filter(|function| function.arity() == 1);
    let mut named: Vec<(String, u64)> = functions.map(|f| (format!("{}f", f.name()), f.bounds()[1])).collect();
    named.sort();
    let line = |(name, bound): &(String, u64)| {
        let found = kept.lines().filter_map(Row::of_line).find(|row| row.name == name);
        let (error, at) = found.map_or((None, 0.0), |row| (row.error, row.at));
        (error.is_some() || *bound > 0).then(|| Row { name, error, at, bound: *bound }.line())
    };
    named.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_back_from_its_line() {
        for (error, at) in [(None, 0.0), (Some(0), 0.0), (Some(1), 4e-45), (Some(3), 10.863_494)] {
            let row = Row { name: "tanf", error, at, bound: 4 };
            assert_eq!(Row::of_line(&row.line()), Some(row));
        }
    }

    #[test]
    fn lines_that_are_no_rows_are_left_out() {
        for line in [
            "| function | largest error (ULP) | at | CUDA's bound (ULP) |",
            "| `sin` | 1 | Sine of radians. |",
            "|---|---|---|---|",
        ] {
            assert_eq!(Row::of_line(line), None, "{line}");
        }
    }

    #[test]
    fn the_page_keeps_what_was_swept_and_names_what_was_not() {
        let lines = lines("| `tanf` | 3 | 1.0863494e1 | 9 |\n");
        assert!(lines.contains(&"| `tanf` | 3 | 1.0863494e1 | 4 |".to_owned()), "{lines:?}");
        assert!(lines.contains(&"| `sinf` | not swept |  | 2 |".to_owned()), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("ceilf")), "{lines:?}");
    }
}

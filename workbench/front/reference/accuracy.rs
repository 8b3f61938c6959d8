//! The largest errors of the `float` math functions over all 2^32 arguments, as `cargo xtask ulp` found and kept them.

/// A row for each function, as [`rows`] reads them.
pub const KEPT: &str = include_str!("accuracy.tsv");

/// Accuracy that was found of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// Name.
    pub name: &'a str,
    /// The largest distance from the `double` form, rounded to `float`, in ULP; none where the sweep has not been made.
    pub error: Option<u64>,
    /// The bits of the first argument where it is that large.
    pub at: u32,
    /// The bound that CUDA documents.
    pub bound: u64,
}

/// The rows of a table; a line that is none is left out.
pub fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    table.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let name = cells.next()?;
        let error = cells.next()?.parse().ok();
        let at = u32::from_str_radix(cells.next()?, 16).ok()?;
        let bound = cells.next()?.parse().ok()?;
        Some(Row { name, error, at, bound })
    })
}

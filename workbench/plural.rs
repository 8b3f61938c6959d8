//! Counts in messages: `1 argument`, `3 arguments`.

/// A count with its noun, whose plural has an `s`.
///
/// ```text
/// plural(1, "result") == "1 result", plural(0, "result") == "0 results"
/// ```
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The verb of a count: `is` for one, `are` for others.
pub fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_no_s() {
        assert_eq!([0, 1, 2].map(|n| plural(n, "case")), ["0 cases", "1 case", "2 cases"]);
        assert_eq!([0, 1, 2].map(is_or_are), ["are", "is", "are"]);
    }
}

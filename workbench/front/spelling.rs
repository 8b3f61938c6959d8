//! Spelling: the known name that a misspelled one is meant to be.

/// The length from which a name is recognised although one of its letters is another.
const SHORT: usize = 4;

/// The candidate nearest to a misspelled name, if one is near enough to be meant.
pub fn nearest<S: AsRef<str>>(name: &str, candidates: impl Iterator<Item = S>) -> Option<String> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    let mut best: Option<(usize, String)> = None;
    for candidate in candidates {
        let candidate = candidate.as_ref();
        if candidate == name || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        // A replaced letter makes another word of a short one (`row`, `pow`), so it counts as two changes there.
        let near = distance(name, candidate, if name.chars().count() < SHORT { 2 } else { 1 });
        // One letter is near to every other one: only the case may differ.
        let is_letter = name.chars().count() < 3 && !name.eq_ignore_ascii_case(candidate);
        // The first in the alphabet is taken of several that are as near: the choice depends on nothing else.
        let is_nearer = |(least, other): &(usize, String)| (near, candidate) < (*least, other.as_str());
        if near <= limit && !is_letter && best.as_ref().is_none_or(is_nearer) {
            best = Some((near, candidate.to_owned()));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Edit distance: inserted and deleted letters, swapped neighbours, and replaced letters, which count `replaced` each. A change of case
/// alone counts nothing, so it wins.
fn distance(a: &str, b: &str, replaced: usize) -> usize {
    let fold = |s: &str| s.chars().map(|c| c.to_ascii_lowercase()).collect::<Vec<char>>();
    let (a, b) = (fold(a), fold(b));
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = if a[i - 1] == b[j - 1] { 0 } else { replaced };
            let mut least = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_names_find_the_nearest_known_one() {
        let known = || ["threadIdx", "blockIdx", "sqrtf", "n", "value"].into_iter();
        assert_eq!(nearest("threadidx", known()).as_deref(), Some("threadIdx"));
        assert_eq!(nearest("sqtrf", known()).as_deref(), Some("sqrtf"));
        assert_eq!(nearest("vlaue", known()).as_deref(), Some("value"));
        assert_eq!(nearest("N", known()).as_deref(), Some("n"));
        assert_eq!(nearest("q", known()), None);
        assert_eq!(nearest("result", known()), None);
    }

    #[test]
    fn short_names_with_another_letter_are_other_words() {
        let known = || ["pow", "exp", "cos", "fabs", "rsqrt", "idx", "topq"].into_iter();
        for other in ["row", "col", "low", "cas", "pos"] {
            assert_eq!(nearest(other, known()), None, "{other}");
        }
        let meant = [
            ("Pow", "pow"),
            ("epx", "exp"),
            ("fab", "fabs"),
            ("ffabs", "fabs"),
            ("indx", "idx"),
            ("rsqet", "rsqrt"),
            ("tabs", "fabs"),
            ("topk", "topq"),
        ];
        for (name, known_one) in meant {
            assert_eq!(nearest(name, known()).as_deref(), Some(known_one), "{name}");
        }
    }
}

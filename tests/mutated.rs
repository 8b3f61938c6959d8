//! Mutated texts: pieces of kernel texts cut, doubled, swapped and mixed. Each is refused with a diagnostic, or its module keeps all
//! rules of the IR before and after the passes; none ends the process.
//!
//! `WORKBENCH_MUTATED_CASES` is the number of texts to try, `WORKBENCH_MUTATED_SEED` the seed of the first; a text is determined by its
//! seed. Texts that once failed are kept in `tests/mutated/`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use workbench::diagnostic::Diagnostic;
use workbench::front;
use workbench::pass;
use workbench::runtime::CompileOptions;
use workbench::source::SourceMap;
use workbench::valid::validate;

/// The number of texts that are tried unless the environment says otherwise.
const CASES: u64 = 3000;

/// The length up to which texts are mutated: longer ones would take most of the time.
const MAX_BYTES: usize = 6000;

/// The number of failing texts that are shown.
const SHOWN: usize = 3;

/// Most edits of one text.
const MAX_EDITS: usize = 4;

/// Most pieces that one edit moves.
const MAX_RUN: usize = 12;

/// Numbers from a seed: Marsaglia's xorshift with 64 bits.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..4).for_each(|_| _ = random.below(2));
        random
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n.max(1) as u64) as usize
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|x| x == "cu") {
            files.push(path);
        }
    }
}

/// The texts of folders, in a fixed order.
fn texts(folders: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    for folder in folders {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    files.sort();
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    files.iter().map(read).collect()
}

/// The pieces of a text: words, runs of spaces, and each other character alone.
fn pieces(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 1,
        _ if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut found = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        if last.is_some_and(|last| last == 0 || last != kind(c)) {
            found.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    found.push(&text[start..]);
    found
}

/// The text of a seed.
fn mutated(corpus: &[Vec<&str>], seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(MAX_EDITS) {
        let at = random.below(text.len());
        let run = (1 + random.below(MAX_RUN)).min(text.len() - at);
        let other = &corpus[random.below(corpus.len())];
        let from = random.below(other.len());
        let given = &other[from..(from + run).min(other.len())];
        match random.below(6) {
            0 => _ = text.drain(at..at + run),
            1 => {
                let doubled = text[at..at + run].to_vec();
                text.splice(at..at, doubled);
            }
            2 => {
                let to = random.below(text.len());
                text.swap(at, to);
            }
            // Replacing a word by a word is the edit that keeps most texts valid.
            3 => text[at] = other[from],
            4 => _ = text.splice(at..at + run, given.iter().copied()),
            _ => _ = text.splice(at..at, given.iter().copied()),
        }
        if text.is_empty() {
            text.push(";");
        }
    }
    text.concat()
}

/// Compiles a text: true if it is accepted; an error says what is wrong with how the compiler takes it.
fn taken(text: &str) -> Result<bool, String> {
    let rules = |when: &str, diags: Vec<Diagnostic>| match diags.first() {
        Some(first) => Err(format!("its module breaks a rule {when}: {}", first.message)),
        None => Ok(()),
    };
    let whole = || {
        let mut sources = SourceMap::new();
        let (mut module, diags) = front::compile(&mut sources, "t.cu", text, &CompileOptions::default().front);
        if diags.iter().any(Diagnostic::is_error) {
            return Ok(false);
        }
        rules("before the passes", validate(&module))?;
        pass::prepare_for_cpu(&mut module);
        rules("after the passes", validate(&module))?;
        Ok(true)
    };
    catch_unwind(AssertUnwindSafe(whole)).unwrap_or_else(|_| Err("it panics".to_owned()))
}

#[test]
fn mutated_texts_are_refused_or_make_valid_modules() {
    let texts = texts(&["tests/filetests", "kernels"]);
    let corpus: Vec<Vec<&str>> = texts.iter().filter(|t| t.len() <= MAX_BYTES).map(|text| pieces(text)).collect();
    let (first, cases) = (number("WORKBENCH_MUTATED_SEED", 1), number("WORKBENCH_MUTATED_CASES", CASES));
    let mut accepted = 0;
    let mut problems = Vec::new();
    for seed in first..first + cases {
        let text = mutated(&corpus, seed);
        match taken(&text) {
            Ok(is_accepted) => accepted += u64::from(is_accepted),
            Err(problem) => problems.push(format!("seed {seed}: {problem}\n{text}")),
        }
    }
    let shown = problems.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(problems.is_empty(), "{} of {cases} texts:\n{shown}", problems.len());
    // Mutations that no text survives would only test the front end's first errors.
    assert!(accepted * 20 > cases, "{accepted} of {cases} texts are accepted");
}

#[test]
fn texts_that_once_failed() {
    for text in texts(&["tests/mutated"]) {
        if let Err(problem) = taken(&text) {
            panic!("{problem}\n{text}");
        }
    }
}

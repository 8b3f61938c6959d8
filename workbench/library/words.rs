//! Lists of words that ask for a part of the library.

use std::sync::OnceLock;

/// A list of words, written with blanks between them and split once in a process.
pub struct Words {
    text: &'static str,
    split: OnceLock<Vec<&'static str>>,
}

impl Words {
    /// A list of the words in a text.
    pub const fn new(text: &'static str) -> Self {
        Words { text, split: OnceLock::new() }
    }

    /// True if a text mentions one of them; `mentions` is true for an identifier in it.
    pub fn any(&self, mentions: &impl Fn(&str) -> bool) -> bool {
        let words = match self.split.get() {
            Some(words) => words,
            // The words are split outside of the lock: a process that is forked meanwhile would find it held for ever.
            None => {
                let words = self.text.split_whitespace().collect();
                self.split.get_or_init(|| words)
            }
        };
        words.iter().any(|word| mentions(word))
    }
}

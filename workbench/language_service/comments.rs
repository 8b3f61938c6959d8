//! Comments as documentation: those above a declaration, or behind it on its line.

use super::answers::declared;
use crate::front::cursor::{KnownName, NameKind};

/// Most lines of a comment that are taken.
const MAX_LINES: usize = 12;

/// The comment at a declaration in the text; empty where there is none.
pub fn documentation(text: &str, known: &KnownName) -> String {
    let Some(declared) = declared(known) else { return String::new() };
    let Some(before) = text.get(..declared.start) else { return String::new() };
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    if !matches!(known.kind, NameKind::Function | NameKind::Method) {
        let line = text[line_start..].lines().next().unwrap_or("");
        if let Some((code, comment)) = line.split_once("//") {
            let behind = code.get(declared.start - line_start..).unwrap_or("");
            // Two slashes in quotes are no comment; a comment behind other declarations is theirs.
            let is_quoted = code.matches('"').count() % 2 == 1;
            let is_last = !behind.contains(['{', '}']) && behind.matches(';').count() < 2;
            return if is_quoted || !is_last { String::new() } else { plain(comment).to_owned() };
        }
    }
    // One that is not the first of its line has none above it.
    if text[line_start..declared.start].contains([';', '{', '}', '(']) {
        return String::new();
    }
    above(&text[..line_start])
}

/// The comment that ends a text.
fn above(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut is_block = false;
    for line in text.trim_end_matches('\n').lines().rev() {
        let line = line.trim();
        if line.ends_with("*/") && lines.is_empty() {
            // Code in front of it makes it a comment of that code.
            match line.find("/*") {
                Some(0) | None => is_block = true,
                Some(_) => break,
            }
        }
        if is_block {
            lines.push(plain(line.trim_end_matches("*/")));
            if line.starts_with("/*") {
                break;
            }
        } else if line.starts_with("//") {
            lines.push(plain(line));
        } else if line.starts_with("template") && line.ends_with('>') && lines.is_empty() {
            continue;
        } else {
            break;
        }
        if lines.len() == MAX_LINES {
            break;
        }
    }
    lines.reverse();
    lines.join("\n").trim().to_owned()
}

/// A line of a comment without its signs.
fn plain(line: &str) -> &str {
    line.trim().trim_start_matches(['/', '*', '!', '<']).trim()
}

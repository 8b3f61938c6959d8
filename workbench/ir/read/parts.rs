//! Reading parts that several kinds of lines have: the next handle, a name, a size, the type of elements.

use super::cursor::{Cursor, Result};
use super::op;
use crate::ir::Scalar;

/// A handle that must be the next one.
pub(super) fn handle(c: &mut Cursor<'_>, letter: char, next: usize) -> Result<()> {
    let start = c.clone();
    if c.index(letter, "a handle")? == next { Ok(()) } else { start.wanted(format!("`{letter}{next}`")) }
}

/// The name after a handle, if it has one, and the colon.
pub(super) fn named(c: &mut Cursor<'_>) -> Result<String> {
    let name = if c.eats(" ") { c.name(": ")? } else { String::new() };
    c.eat(": ")?;
    Ok(name)
}

/// A size and an alignment.
pub(super) fn sized(c: &mut Cursor<'_>) -> Result<(u32, u32)> {
    let size = c.number()?;
    c.eat(" bytes, align ")?;
    Ok((size, c.number()?))
}

/// A scalar type after a comma, if one stands here.
pub(super) fn element(c: &mut Cursor<'_>) -> Result<Option<Scalar>> {
    if c.eats(", ") { Ok(Some(op::scalar(c)?)) } else { Ok(None) }
}

//! Operands of a service.

use super::super::answer::Answer;
use super::super::exceptions::Object;
use super::super::memory_limit;
use super::no_memory;
use crate::back::Exception;
use crate::back::cpu::{Lent, Side, Word};

/// The operands of a service, of the kinds its record says.
pub struct Operands<'a>(pub &'a [Word]);

impl Operands<'_> {
    pub fn int(&self, i: usize) -> i64 {
        match self.0.get(i) {
            Some(Word::Int(v)) => *v,
            _ => 0,
        }
    }

    pub fn float(&self, i: usize) -> f64 {
        match self.0.get(i) {
            Some(Word::Float(v)) => *v,
            _ => 0.0,
        }
    }

    pub fn memory(&self, i: usize) -> Lent {
        match self.0.get(i) {
            Some(Word::Memory(lent)) => *lent,
            _ => Lent { ptr: std::ptr::null_mut(), bytes: 0, writable: false, side: Side::Both },
        }
    }

    /// So many bytes.
    pub fn bytes(&self, i: usize, count: i64) -> Answer<&[u8]> {
        let lent = self.memory(i);
        if count == 0 {
            return Ok(&[]);
        }
        match usize::try_from(count) {
            // A reader copies the text, at most twice.
            Ok(n) if !memory_limit::has(n.saturating_mul(2)) => Err(no_memory(&format!("a text of {n} bytes"))),
            // SAFETY: the back end has checked that so many bytes lie behind the pointer, in memory that is live for this service.
            Ok(n) if n <= lent.bytes && !lent.ptr.is_null() => Ok(unsafe { std::slice::from_raw_parts(lent.ptr, n) }),
            _ => Err((Exception::Runtime, format!("{count} bytes are read of {} that are there", lent.bytes))),
        }
    }

    /// An exception's object, its destructor, the types it may be caught as.
    pub fn object(&self) -> Answer<Object> {
        let [at, destroyer] = [0, 1].map(|i| self.memory(i).ptr as u64);
        Ok(Object { at, destroyer, types: self.text(2)? })
    }

    /// A text that ends in a zero byte.
    pub fn text(&self, i: usize) -> Answer<String> {
        let lent = self.memory(i);
        if lent.ptr.is_null() {
            return Err((Exception::Runtime, "a text is a null pointer".to_owned()));
        }
        let all = self.bytes(i, lent.bytes as i64)?;
        match all.iter().position(|b| *b == 0) {
            Some(n) => Ok(String::from_utf8_lossy(&all[..n]).into_owned()),
            None => Err((Exception::Runtime, "a text does not end within its memory".to_owned())),
        }
    }
}

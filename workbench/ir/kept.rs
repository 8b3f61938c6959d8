//! Functions of the library that a back end has met before, in another text.

use std::any::Any;
use std::fmt;

use super::Function;

/// What a function of the library is: a hash of where it is declared and of its template arguments. It is the same function in every text
/// of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity(pub u64, pub u64);

/// What a back end made of a function, which it alone can read.
#[derive(Clone, Copy)]
pub struct Kept(pub &'static (dyn Any + Send + Sync));

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.0, other.0)
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({:p})", self.0)
    }
}

/// What is known of a function of the library from before.
#[derive(Debug, Clone, Copy)]
pub enum Known {
    /// It was made.
    Kept(Kept),
    /// It calls nothing and names nothing of its module: this is it, what it called inlined.
    Body(&'static Function),
}

/// Asks a back end what it knows of a function.
pub type Keeper = fn(Identity) -> Option<Known>;

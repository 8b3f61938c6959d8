//! Functions of the library that a back end has met before, in another text.

use std::any::Any;
use std::fmt;

use super::Function;

/// The identity of a function of the library: a hash of its place of declaration and of its template arguments. Functions of one identity
/// are the same function in every text of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity(pub u64, pub u64);

/// The code that a back end has made of a function, in a form that it alone can read.
#[derive(Clone, Copy)]
pub struct KeptHandle(pub &'static (dyn Any + Send + Sync));

impl PartialEq for KeptHandle {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.0, other.0)
    }
}

impl fmt::Debug for KeptHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptHandle({:p})", self.0)
    }
}

/// A function of the library as an earlier text has left it.
#[derive(Debug, Clone, Copy)]
pub enum KnownFunction {
    /// Compiled code.
    Kept(KeptHandle),
    /// A body that calls nothing and names nothing of its module; its calls are inlined.
    Body(&'static Function),
}

/// A function that asks a back end for a function of the library that it knows.
pub type Keeper = fn(Identity) -> Option<KnownFunction>;

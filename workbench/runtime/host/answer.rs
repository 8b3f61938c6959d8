//! Answers of the run time.

use crate::back::Exception;

/// The answer of an operation, or an exception and its message.
pub type Answer<T> = Result<T, (Exception, String)>;

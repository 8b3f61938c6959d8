//! Scopes and names ([basic.scope], [basic.lookup]): which declaration a name means at a point of the text.
//!
//! Scopes form a tree that only grows. Whatever is lowered later (an instance of a template, a local struct, a lambda) is lowered in the scope
//! that it was written in.
//!
//! - [`names`]: the tree of scopes, and what a name can be declared as.
//! - `lookup`: names as written, qualified ones part by part, to what they mean.
//! - `namespaces`: scopes of namespaces, and what makes the names of one visible in another.
//! - `lazy_declarations`: declarations of the library, lowered when a lookup meets their names.
//! - `mentioned_names`: names that a piece of syntax mentions, found without a lookup.

mod lazy_declarations;
pub(super) mod lookup;
pub(super) mod mentioned_names;
pub(super) mod names;
mod namespaces;

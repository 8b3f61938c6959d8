//! Typed handles; `Display` is their spelling in the textual IR.

use std::fmt;

macro_rules! entity {
    ($(#[$doc:meta] $name:ident $prefix:literal;)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The handle of an index.
            pub fn new(index: usize) -> Self {
                $name(index as u32)
            }

            /// The index of the handle.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

entity! {
    /// A value of a function.
    Value "v";
    /// A mutable register of a function.
    Local "l";
    /// Per-thread memory of a function.
    Slot "s";
    /// A function of a module.
    FuncId "f";
    /// A construct that `Break` or `Continue` names.
    Label "b";
    /// Data of a module.
    Global "g";
    /// A shared variable of a module.
    Shared "m";
    /// A printf format of a module.
    Format "p";
}

impl FuncId {
    /// The function's address in its text: its number plus one, because no function is at address 0.
    pub fn address(self) -> i64 {
        i64::from(self.0) + 1
    }
}

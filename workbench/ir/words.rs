//! Operations that are words: enums whose variants each have one in the textual IR.

/// Makes kinds of operation whose variants have no fields, each with its word in the textual IR.
macro_rules! words {
    ($($(#[$doc:meta])* $kind:ident { $($(#[$variant_doc:meta])* $variant:ident $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $kind { $($(#[$variant_doc])* $variant,)* }

        impl $kind {
            /// Every one.
            pub const ALL: &'static [$kind] = &[$($kind::$variant,)*];

            /// Its word in the textual IR.
            pub fn word(self) -> &'static str {
                match self { $($kind::$variant => $word,)* }
            }
        }
    )*};
}
pub(super) use words;

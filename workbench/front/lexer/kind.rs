//! Kinds of tokens: punctuation (recognised by logos), keywords (recognised after preprocessing).

use logos::Logos;
use rustc_hash::FxHashMap as HashMap;

use crate::once::Once;

macro_rules! kinds {
    ($($name:ident $text:tt,)*) => {
        /// Kind of a token.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Logos)]
        pub enum TokenKind {
            /// End of the text; every token list has exactly one, at its end.
            Eof,
            /// A name; while preprocessing also every keyword.
            #[regex("[A-Za-z_][A-Za-z0-9_]*")]
            Ident,
            /// A keyword of C++ or CUDA; appears after preprocessing only.
            Keyword(Keyword),
            /// A preprocessing number: spelled in the token's symbol, read by [`super::literal::number`].
            #[regex("\\.?[0-9]('?[0-9A-Za-z_]|[eEpP][+-]|\\.)*")]
            Number,
            /// A string literal with prefix and quotes, raw ones included.
            #[regex("(u8|u|U|L)?\"([^\"\\\\\n]|\\\\[^\n])*\"")]
            Str,
            /// A character literal with prefix and quotes.
            #[regex("(u8|u|U|L)?'([^'\\\\\n]|\\\\[^\n])*'")]
            Char,
            /// Characters that start no token.
            Unknown,
            /// A string without its closing quote, up to the end of the line.
            #[regex("(u8|u|U|L)?\"([^\"\\\\\n]|\\\\[^\n])*")]
            UnterminatedStr,
            /// A character literal without its closing quote.
            #[regex("(u8|u|U|L)?'([^'\\\\\n]|\\\\[^\n])*")]
            UnterminatedChar,
            /// A `/*` comment that reaches the end of the text.
            UnterminatedComment,
            /// Start of a raw string; never leaves the lexer.
            #[doc(hidden)]
            #[regex("(u8|u|U|L)?R\"[^()\\\\ \t\r\n\"]*\\(")]
            RawOpen,
            /// Start of a block comment; never leaves the lexer.
            #[doc(hidden)]
            #[token("/*")]
            BlockOpen,
            /// A line comment; never leaves the lexer.
            #[doc(hidden)]
            #[regex("//[^\n]*", allow_greedy = true)]
            LineComment,
            /// Blanks; never leave the lexer.
            #[doc(hidden)]
            #[regex("[ \t\r\x0b\x0c]+")]
            Space,
            /// A line end; never leaves the lexer.
            #[doc(hidden)]
            #[token("\n")]
            Newline,
            $(
                #[doc = concat!("`", $text, "`")]
                #[token($text)]
                $name,
            )*
        }

        impl TokenKind {
            /// Spelling of a punctuator; empty for every other kind.
            pub fn spelling(self) -> &'static str {
                match self {
                    $(TokenKind::$name => $text,)*
                    TokenKind::Keyword(word) => word.spelling(),
                    _ => "",
                }
            }
        }
    };
}

kinds! {
    LBrace "{", RBrace "}", LBracket "[", RBracket "]", LParen "(", RParen ")",
    Hash "#", HashHash "##", Semi ";", Colon ":", ColonColon "::", Ellipsis "...", Question "?",
    Dot ".", DotStar ".*", Arrow "->", ArrowStar "->*",
    Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Caret "^", Amp "&", Pipe "|", Tilde "~", Bang "!",
    Assign "=", Lt "<", Gt ">",
    PlusAssign "+=", MinusAssign "-=", StarAssign "*=", SlashAssign "/=", PercentAssign "%=",
    CaretAssign "^=", AmpAssign "&=", PipeAssign "|=", Shl "<<", Shr ">>", ShlAssign "<<=", ShrAssign ">>=",
    EqEq "==", NotEq "!=", Le "<=", Ge ">=", AmpAmp "&&", PipePipe "||", PlusPlus "++", MinusMinus "--", Comma ",",
    LaunchOpen "<<<", LaunchClose ">>>",
}

macro_rules! keywords {
    ($($name:ident $text:literal $(| $other:literal)*,)*) => {
        /// A keyword of C++ or CUDA.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Keyword {
            $(
                #[doc = concat!("`", $text, "`")]
                $name,
            )*
        }

        impl Keyword {
            /// Usual spelling.
            pub fn spelling(self) -> &'static str {
                match self { $(Keyword::$name => $text,)* }
            }
        }

        /// Words by spelling, made once for the process.
        static WORDS: Once<HashMap<&'static str, TokenKind>> = Once::new(|| {
            let mut words = HashMap::default();
            $(
                words.insert($text, TokenKind::Keyword(Keyword::$name));
                $(words.insert($other, TokenKind::Keyword(Keyword::$name));)*
            )*
            for (word, kind) in [
                ("and", TokenKind::AmpAmp),
                ("or", TokenKind::PipePipe),
                ("not", TokenKind::Bang),
                ("bitand", TokenKind::Amp),
                ("bitor", TokenKind::Pipe),
                ("xor", TokenKind::Caret),
                ("compl", TokenKind::Tilde),
                ("and_eq", TokenKind::AmpAssign),
                ("or_eq", TokenKind::PipeAssign),
                ("xor_eq", TokenKind::CaretAssign),
                ("not_eq", TokenKind::NotEq),
            ] {
                words.insert(word, kind);
            }
            words
        });
    };
}

keywords! {
    Alignas "alignas", Alignof "alignof" | "_Alignof" | "__alignof__" | "__alignof",
    Asm "asm" | "__asm__" | "__asm", Attribute "__attribute__" | "__attribute", Auto "auto",
    Bool "bool" | "_Bool", Break "break", Case "case", Catch "catch", Char "char", Class "class",
    Const "const" | "__const" | "__const__", Constexpr "constexpr", ConstCast "const_cast", Continue "continue",
    Decltype "decltype", Default "default", Delete "delete", Do "do", Double "double", DynamicCast "dynamic_cast",
    Else "else", Enum "enum", Explicit "explicit", Extern "extern", False "false", Float "float", For "for",
    Friend "friend", Goto "goto", If "if", Inline "inline" | "__inline__" | "__inline", Int "int", Long "long",
    Mutable "mutable", Namespace "namespace", New "new", Noexcept "noexcept", Nullptr "nullptr",
    Operator "operator", Register "register", ReinterpretCast "reinterpret_cast",
    Restrict "__restrict__" | "__restrict", Return "return", Short "short",
    Signed "signed" | "__signed__", Sizeof "sizeof", Static "static",
    StaticAssert "static_assert" | "_Static_assert", StaticCast "static_cast", Struct "struct", Switch "switch",
    Template "template", This "this", ThreadLocal "thread_local", Throw "throw", True "true", Try "try",
    Typedef "typedef", Typeid "typeid", Typename "typename", Union "union", Unsigned "unsigned", Using "using",
    Virtual "virtual", Void "void", Volatile "volatile" | "__volatile__", While "while",
    Global "__global__", Device "__device__", Host "__host__", Shared "__shared__", Constant "__constant__",
    Managed "__managed__", ForceInline "__forceinline__", NoInline "__noinline__",
    LaunchBounds "__launch_bounds__", Align "__align__", GridConstant "__grid_constant__",
    ClusterDims "__cluster_dims__", BlockSize "__block_size__",
}

impl TokenKind {
    /// Kind of a name after preprocessing: a keyword, an operator written as a word, or a plain name.
    pub fn of_word(word: &str) -> TokenKind {
        WORDS.get(word).copied().unwrap_or(TokenKind::Ident)
    }

    /// The words of the language in their usual spelling, by the alphabet.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let mut words: Vec<&str> = WORDS
            .values()
            .filter_map(|kind| if let TokenKind::Keyword(word) = kind { Some(word.spelling()) } else { None })
            .collect();
        words.sort_unstable();
        words.dedup();
        words.into_iter()
    }

    /// The token is an error of lexing, to be reported by whoever consumes it.
    pub fn is_garbage(self) -> bool {
        matches!(
            self,
            TokenKind::Unknown
                | TokenKind::UnterminatedStr
                | TokenKind::UnterminatedChar
                | TokenKind::UnterminatedComment
        )
    }

    /// The text of the token is held by its symbol.
    pub fn has_symbol(self) -> bool {
        matches!(self, TokenKind::Ident | TokenKind::Keyword(_) | TokenKind::Number | TokenKind::Str | TokenKind::Char)
    }
}

//! Every diagnostic code, declared once with the paragraph that explains it.

use std::fmt;

macro_rules! codes {
    ($($variant:ident $id:literal $doc:literal;)*) => {
        /// A stable diagnostic code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $doc] $variant,)* }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as written in messages, such as `WB0201`.
            pub fn id(self) -> &'static str {
                match self { $(Code::$variant => $id,)* }
            }

            /// The paragraph that explains the code.
            pub fn explain(self) -> &'static str {
                match self { $(Code::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    UnknownCharacter "WB0001" "A character that no token of the language starts with.";
    UnterminatedLiteral "WB0002" "A string, character or comment that is never closed.";
    BadLiteral "WB0003" "A number or character literal whose spelling means nothing, or that fits no type.";

    BadDirective "WB0101" "A preprocessor directive that is malformed, unbalanced or unknown.";
    UnknownInclude "WB0102" "An `#include` of a header that is neither built in nor among the headers given.";
    BadMacro "WB0103" "A macro that is defined or used wrongly: wrong argument count, bad `##`, missing parenthesis.";
    MacroLimit "WB0104" "Macro expansion produced more tokens or text, or nested more deeply, than the limit.";
    UserError "WB0105" "The text itself raised `#error`.";

    Syntax "WB0201" "The text does not follow the grammar.";
    UnbalancedBrace "WB0202" "A brace, bracket or parenthesis has no partner.";
    NestingLimit "WB0203" "Expressions or blocks are nested more deeply than the limit.";
    SourceLimit "WB0204" "The text is longer than the limit.";

    UnknownName "WB0301" "A name that nothing in scope declares.";
    Redefinition "WB0302" "A name declared twice in one scope, or a function defined twice.";
    TypeMismatch "WB0303" "An operand or argument whose type does not fit.";
    NoOverload "WB0304" "No function of that name takes such arguments, or several do equally well.";
    ArgumentCount "WB0305" "A call with too few or too many arguments.";
    NotAssignable "WB0306" "An assignment to something that is const or is not a place in memory.";
    BadControlFlow "WB0307" "`break`, `continue`, `case` or `return` where it cannot stand.";
    NotConstant "WB0308" "An expression that must be known when compiling, and is not.";
    BadPrintf "WB0309" "A printf format and its arguments do not fit together.";
    BadKernel "WB0310" "A kernel declared wrongly: a result that is not void, or a parameter a launch cannot pass.";
    WrongSide "WB0311" "Device code that uses something of the host, or host code something of a kernel.";
    Incomplete "WB0312" "A function that is called but declared without a body.";
    MissingReturn "WB0313" "A function with a result whose end can be reached without `return`.";
    BadInitializer "WB0314" "An initializer that does not fit what it initialises.";
    Unused "WB0315" "Something computed and thrown away, probably by mistake.";
    StackLimit "WB0316" "Local variables larger than a thread's local memory.";
    DanglingReturn "WB0317" "A function that returns the address of one of its own variables, which ends with the call.";
    NotAccessible "WB0318" "A member that only its class and the friends of that may use.";
    Deprecated "WB0319" "A name that today's CUDA has no more.";

    Unsupported "WB0401" "CUDA C++ that is understood and not supported; the help says what to write instead.";

    BadIr "WB0501" "The front end produced IR the validator rejects: a defect of Workbench, please report it.";
    CodeLimit "WB0502" "The kernel grew past the limit on code size.";
    Nvrtc "WB0601" "A message of NVIDIA's run-time compiler, mapped back to the user's text.";
    NvrtcWarning "WB0602" "A warning of NVIDIA's run-time compiler, mapped back to the user's text.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

//! The words of fundamental types: `unsigned long int`.

use crate::front::ast::BaseType;
use crate::front::lexer::Keyword as K;

/// Words of fundamental types seen so far, in any order.
#[derive(Default)]
pub(super) struct TypeWords {
    void: u8,
    bool: u8,
    char: u8,
    short: u8,
    int: u8,
    pub long: u8,
    signed: u8,
    unsigned: u8,
    float: u8,
    pub double: u8,
    auto: u8,
}

impl TypeWords {
    /// The counter of a keyword.
    pub fn of(&mut self, word: K) -> Option<&mut u8> {
        Some(match word {
            K::Void => &mut self.void,
            K::Bool => &mut self.bool,
            K::Char => &mut self.char,
            K::Short => &mut self.short,
            K::Int => &mut self.int,
            K::Long => &mut self.long,
            K::Signed => &mut self.signed,
            K::Unsigned => &mut self.unsigned,
            K::Float => &mut self.float,
            K::Double => &mut self.double,
            K::Auto => &mut self.auto,
            _ => return None,
        })
    }

    /// The type they name together; `None` for a mixture that names none.
    pub fn base(&self) -> Option<BaseType> {
        let others = |skip: &[u8]| {
            let all = [self.void, self.bool, self.char, self.float, self.double, self.auto];
            all.iter().map(|&n| u32::from(n)).sum::<u32>() - skip.iter().map(|&n| u32::from(n)).sum::<u32>()
        };
        let sign = self.signed + self.unsigned;
        let integer = sign + self.short + self.long + self.int;
        let unsigned = self.unsigned > 0;
        if sign > 1 || self.int > 1 || self.short > 1 || self.long > 2 {
            return None;
        }
        if self.char == 1 && others(&[self.char]) == 0 && integer == sign {
            return Some(match (self.signed, unsigned) {
                (0, false) => BaseType::Char,
                (_, false) => BaseType::SChar,
                _ => BaseType::UChar,
            });
        }
        if others(&[]) == 0 {
            return match (self.short, self.long) {
                (0, 0) if integer == 0 => None,
                (0, 0) => Some(if unsigned { BaseType::UInt } else { BaseType::Int }),
                (1, 0) => Some(if unsigned { BaseType::UShort } else { BaseType::Short }),
                (0, 1) => Some(if unsigned { BaseType::ULong } else { BaseType::Long }),
                (0, 2) => Some(if unsigned { BaseType::ULongLong } else { BaseType::LongLong }),
                _ => None,
            };
        }
        if self.double == 1 && others(&[self.double]) == 0 && integer == self.long && self.long <= 1 {
            return Some(BaseType::Double);
        }
        if others(&[]) != 1 || integer != 0 {
            return None;
        }
        [
            (self.void, BaseType::Void),
            (self.bool, BaseType::Bool),
            (self.float, BaseType::Float),
            (self.auto, BaseType::Auto),
        ]
        .into_iter()
        .find(|(n, _)| *n == 1)
        .map(|(_, base)| base)
    }
}

/// The keyword can start a type, storage aside.
pub(super) fn is_type_word(word: K) -> bool {
    TypeWords::default().of(word).is_some()
        || matches!(
            word,
            K::Const | K::Volatile | K::Enum | K::Struct | K::Class | K::Union | K::Typename | K::Decltype
        )
}

/// The keyword names a fundamental type (or part of one).
pub(super) fn is_simple_type_word(word: K) -> bool {
    TypeWords::default().of(word).is_some()
}

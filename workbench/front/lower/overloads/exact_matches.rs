//! The function of a large set whose parameters are of exactly the arguments' types: found by those, so that many calls of many functions of
//! one name need not look at each function for each call.

use std::collections::HashMap;

use super::ranking::Arg;
use crate::front::lower::Lowerer;
use crate::front::lower::expressions::typed_tree::FuncIndex;
use crate::front::lower::scopes::names::Callable;
use crate::front::types::Ty;
use crate::steps::step;

/// Sets of fewer functions are looked through.
const MANY: usize = 16;

/// Functions of a set that take arguments of some types.
#[derive(Debug, Clone, Copy)]
enum ExactMatch {
    One(FuncIndex),
    Several,
}

/// The functions of a set by the types that they take, references and qualifiers left out.
#[derive(Debug, Default)]
pub struct ExactMatches {
    /// The set, as far as it is known.
    known: Vec<Callable>,
    by_types: HashMap<Vec<Ty>, ExactMatch>,
}

impl Lowerer<'_> {
    /// The best of a large set, where that can be told from the types alone: the only function (templates apart) for arguments of these
    /// types, which takes all of them by value. Each other one is worse for one argument at least and better for none ([over.ics.rank]).
    pub(in crate::front::lower) fn exact(
        &mut self,
        set: &[Callable],
        object: Option<&Arg>,
        args: &[Arg],
    ) -> Option<FuncIndex> {
        let first = *set.first().filter(|_| set.len() >= MANY)?;
        if args.is_empty() || args.iter().any(|arg| arg.list.is_some() || arg.null || arg.ty.is_error()) {
            return None;
        }
        let mut exact = self.exact_sets.remove(&first).unwrap_or_default();
        if !set.starts_with(&exact.known) {
            exact = ExactMatches::default();
        }
        for callable in &set[exact.known.len()..] {
            step();
            if let Callable::Func(index) = callable {
                self.enter_exact(&mut exact, *index);
            }
            exact.known.push(*callable);
        }
        let types: Vec<Ty> = args.iter().map(|arg| arg.ty.unqualified()).collect();
        let found = exact.by_types.get(&types).copied();
        self.exact_sets.insert(first, exact);
        let Some(ExactMatch::One(index)) = found else { return None };
        let function = self.func(index);
        let is_by_value = function.params.iter().take(args.len()).all(|param| !param.is_reference());
        let is_of_object = match (object, &function.this) {
            (Some(object), Some(this)) => object.ty == *this,
            (Some(_), None) => false,
            (None, _) => true,
        };
        (is_by_value && is_of_object && !function.broken).then_some(index)
    }

    fn enter_exact(&self, exact: &mut ExactMatches, index: FuncIndex) {
        let function = self.func(index);
        let types: Vec<Ty> = function.params.iter().map(|param| param.referred().unqualified()).collect();
        for count in function.required()..=types.len() {
            let found = exact.by_types.entry(types[..count].to_vec()).or_insert(ExactMatch::One(index));
            if !matches!(found, ExactMatch::One(one) if *one == index) {
                *found = ExactMatch::Several;
            }
        }
    }
}

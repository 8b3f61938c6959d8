//! `std::initializer_list`: classes that are made from braced lists of any length ([over.match.list]).

use std::rc::Rc;

use crate::front::lower::Lowerer;
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::{FuncIndex, Node, Typed};
use crate::front::lower::overloads::ranking::Arg;
use crate::front::lower::scopes::names::Callable;
use crate::front::types::{Num, StructTy, Ty};
use crate::source::Span;

/// A constructor from a list, the list's type, and that of its elements.
pub(in crate::front::lower) struct ListConstructor {
    constructor: FuncIndex,
    list: Ty,
    elem: Ty,
}

impl ListConstructor {
    /// Type of the list's elements.
    pub fn element(&self) -> &Ty {
        &self.elem
    }
}

/// The elements' type of a `std::initializer_list`.
pub(in crate::front::lower) fn element(list: &Ty) -> Option<Ty> {
    if !list.as_struct()?.name.starts_with("initializer_list<") {
        return None;
    }
    Some(list.layout()?.fields.first()?.ty.pointee()?.unqualified())
}

impl<'a> Lowerer<'a> {
    /// The constructor of a class that takes a `std::initializer_list`.
    pub(in crate::front::lower) fn list_constructor(&mut self, s: &Rc<StructTy>) -> Option<ListConstructor> {
        let set = self.class(s.id).constructors.clone();
        set.iter().find_map(|callable| {
            let Callable::Func(index) = *callable else { return None };
            let func = self.func(index);
            let list = func.params.first()?.referred().unqualified();
            if func.required() > 1 {
                return None;
            }
            self.try_complete(&list);
            let elem = element(&list)?;
            Some(ListConstructor { constructor: index, list, elem })
        })
    }

    /// `S{s}` copies.
    pub(in crate::front::lower) fn is_copy(&self, s: &Rc<StructTy>, args: &[Typed]) -> bool {
        matches!(args, [one] if one.ty.as_struct().is_some_and(|from| from.id == s.id))
    }

    /// `S{a, b, c}`: by the constructor that takes the whole list if all of it converts, else by one that takes the parts.
    pub(in crate::front::lower) fn construct_of_list(
        &mut self,
        ty: &Ty,
        by: ListConstructor,
        args: Vec<Typed>,
        span: Span,
    ) -> Typed {
        if args.iter().any(Typed::is_error) {
            return Typed::error(span);
        }
        let all = args.iter().all(|arg| self.conversion(&Arg::from(arg), &by.elem).is_some());
        if by.elem.size().is_none() || !all {
            return self.construct(ty, args, span);
        }
        let list = self.list_of(&by.list, &by.elem, args, span);
        if list.is_error() {
            return list;
        }
        self.constructed_by(by.constructor, ty, vec![list], span)
    }

    /// A `std::initializer_list` of some elements, which are a temporary array.
    pub(in crate::front::lower) fn list_of(&mut self, list: &Ty, elem: &Ty, args: Vec<Typed>, span: Span) -> Typed {
        let Some(size) = elem.size() else { return Typed::error(span) };
        let count = args.len() as u32;
        let mut items = Vec::with_capacity(args.len());
        for (i, arg) in args.into_iter().enumerate() {
            let value = self.implicit(arg, elem, Use::Init("an element of the list"));
            if value.is_error() {
                return Typed::error(span);
            }
            items.push((i as u32 * size, value));
        }
        let array = elem.clone().array(Some(count));
        let value = Typed::value(array.clone(), span, Node::Init(items.into()));
        let place = Typed::place(array, span, Node::Temporary(Box::new(value)));
        let start = Typed::value(elem.clone().constant().pointer(), span, Node::Decay(Box::new(place)));
        let parts = [(0, start), (8, Typed::int(Num::ULong, i64::from(count), span))];
        Typed::value(list.clone(), span, Node::Init(Rc::new(parts)))
    }
}

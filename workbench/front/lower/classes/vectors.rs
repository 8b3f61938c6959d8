//! CUDA's vector types: `float4`, `int2`, `dim3` and the like; `make_float4`; the index variables as whole values.

use std::cell::OnceCell;
use std::rc::Rc;

use super::definitions::Stage;
use crate::diagnostic::{Code, Diagnostic};
use crate::front::builtins;
use crate::front::class_layout::UNPACKED;
use crate::front::lower::Lowerer;
use crate::front::lower::expressions::conversions::Use;
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::lower::scopes::names::{GLOBAL, ScopeKind};
use crate::front::types::{Field, Kind, Layout, Num, StructTy, Ty};
use crate::ir::{Builtin, Value};
use crate::source::Span;

impl<'a> Lowerer<'a> {
    /// The vector type of a name.
    pub(in crate::front::lower) fn vector_type(&mut self, name: &str) -> Option<Ty> {
        if let Some(known) = self.vectors.get(name) {
            return Some(Ty::new(Kind::Struct(known.clone())));
        }
        let vector = builtins::vector(name)?;
        let id = self.classes.len() as u32;
        let parent = self.scopes.enter(GLOBAL);
        let made = self.new_struct(vector.name.to_owned(), false, GLOBAL, Span::NONE);
        self.scopes.enter(parent);
        let ty = Rc::new(StructTy {
            id,
            name: made.name.clone(),
            is_union: false,
            vector: Some((vector.num, vector.len)),
            layout: OnceCell::new(),
            alias: OnceCell::new(),
        });
        let fields =
            (0..vector.len as usize).map(|i| Field::new(Some(self.known.components[i]), vector.num.into())).collect();
        let layout = Layout::new(Vec::new(), fields, false, vector.align, UNPACKED)?;
        let scope = self.scopes.create(ScopeKind::Class(id), GLOBAL, None);
        let class = self.class_mut(id);
        class.ty = ty.clone();
        class.scope = scope;
        class.stage = Stage::Complete;
        self.declare_fields(&ty, &layout, 0, scope);
        let _ = ty.layout.set(layout);
        self.vectors.insert(vector.name, ty.clone());
        self.interner.find(vector.name).into_iter().for_each(|name| self.scopes.lazy.know(name));
        Some(Ty::new(Kind::Struct(ty)))
    }

    /// `make_float4(x, y, z, w)`; `None` when the name is no such function.
    pub(in crate::front::lower) fn make_vector(&mut self, name: &str, args: Vec<Typed>, span: Span) -> Option<Typed> {
        let ty = self.vector_type(name.strip_prefix("make_")?)?;
        let s = ty.as_struct()?.clone();
        let len = s.vector?.1 as usize;
        if !self.exactly(name, len, args.len(), span) {
            return Some(Typed::error(span));
        }
        Some(self.vector_value(&s, args, span))
    }

    /// The name is the `make_` function of a vector of so many components.
    pub(in crate::front::lower) fn makes_vector_of(&mut self, name: &str, count: usize) -> bool {
        let vector = name.strip_prefix("make_").and_then(|name| self.vector_type(name));
        vector.is_some_and(|ty| ty.as_struct().and_then(|s| s.vector).is_some_and(|(_, len)| len as usize == count))
    }

    /// A vector from its components; those left out of a `dim3` are 1.
    pub(in crate::front::lower) fn vector_value(&mut self, s: &Rc<StructTy>, args: Vec<Typed>, span: Span) -> Typed {
        let Some((num, len)) = s.vector else { return Typed::error(span) };
        let is_dim = s.name == "dim3";
        if args.len() > len as usize || (!is_dim && args.len() != len as usize) {
            let message = format!("`{}` has {len} components, and {} are given", s.name, args.len());
            self.report(Diagnostic::error(Code::ArgumentCount, span, message));
            return Typed::error(span);
        }
        let mut items: Vec<(u32, Typed)> = Vec::new();
        let size = num.scalar().size();
        let name = format!("make_{}", s.name);
        for (i, arg) in args.into_iter().enumerate() {
            let value = self.implicit(arg, &num.into(), Use::Argument(i + 1, &name));
            if value.is_error() {
                return Typed::error(span);
            }
            items.push((i as u32 * size, value));
        }
        for i in items.len() as u32..len {
            items.push((i * size, Typed::int(num, 1, span)));
        }
        Typed::value(Ty::new(Kind::Struct(s.clone())), span, Node::Init(items.into()))
    }

    /// `threadIdx` as a whole: a `uint3`; the extents are `dim3`.
    pub(in crate::front::lower) fn index_vector(&mut self, name: &str, make: fn(u8) -> Builtin, span: Span) -> Typed {
        let ty = if name.ends_with("Dim") { "dim3" } else { "uint3" };
        let Some(ty) = self.vector_type(ty) else { return Typed::error(span) };
        let items: Vec<(u32, Typed)> =
            (0..3).map(|i| (u32::from(i) * 4, Typed::value(Num::UInt, span, Node::Builtin(make(i))))).collect();
        Typed::value(ty.constant(), span, Node::Init(items.into()))
    }

    /// `__ldg(p)` and `__stcs(p, v)` of vectors and structs: a read and a write; `None` when it is something else.
    pub(in crate::front::lower) fn hinted_access(&mut self, name: &str, args: &[Typed], span: Span) -> Option<Typed> {
        let pointee = args.first()?.ty.decayed().pointee()?.clone();
        if !pointee.is_struct() {
            return None;
        }
        let is_load = matches!(name, "__ldg" | "__ldcg" | "__ldca" | "__ldcs" | "__ldlu" | "__ldcv");
        let is_store = matches!(name, "__stwb" | "__stcg" | "__stcs" | "__stwt");
        if !(is_load && args.len() == 1 || is_store && args.len() == 2) {
            return None;
        }
        if !self.complete_type(&pointee, span) {
            return Some(Typed::error(span));
        }
        let ptr = self.operand(args[0].clone());
        let place = self.deref(ptr, span);
        if is_load {
            return Some(self.rvalue(place));
        }
        let assigned = self.assign(None, place, args[1].clone(), span);
        if assigned.is_error() {
            return Some(assigned);
        }
        Some(Typed::value(Ty::void(), span, Node::Convert(Box::new(assigned))))
    }

    /// Faults where a vector read or written as a whole is not aligned to its size, as the hardware does.
    pub(in crate::front::lower) fn check_alignment(&mut self, ptr: Value, ty: &Ty, span: Span) {
        let align = ty.align();
        let scalar = ty.as_struct().and_then(|s| s.vector).map(|(num, _)| num.scalar().size());
        if scalar.is_some_and(|size| align > size) {
            self.at(span).push(crate::ir::Stmt::Aligned { ptr, align });
        }
    }
}

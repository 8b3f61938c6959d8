//! Instances of kernels' templates for calls from outside, deduced as C++ deduces them from a launch ([temp.deduct.call]).
//!
//! A template of kernels that a launch or an operator names has the instance that the arrays' types ask for; the text is compiled once more
//! with it (`Program::deduce`).

use super::declarations::TemplateKind;
use crate::front::ast::{BaseType, FunctionDecl, ParamDecl, TemplateParamKind};
use crate::front::kernel_calls::{self, KernelArg, KernelArgs, KernelCall};
use crate::front::lower::Lowerer;
use crate::front::lower::expressions::typed_tree::TemplateIndex;
use crate::front::lower::overloads::ranking;
use crate::front::lower::scopes::names::{Decl, GLOBAL, TArg};
use crate::front::types::{Num, Ty};
use crate::ir::{Elem, Scalar};

impl<'a> Lowerer<'a> {
    /// Makes the instance that a call asks for, where just one template of the name takes its arguments; it is known as
    /// [`crate::ir::Module::asked`] then.
    pub(in crate::front::lower) fn deduced_instance(&mut self, call: &KernelCall) {
        let mut fitting = Vec::new();
        for at in 0..self.templates.len() {
            let index = TemplateIndex(at as u32);
            let TemplateKind::Function { decl, .. } = &self.template(index).kind else { continue };
            let decl: &'a FunctionDecl = decl;
            if decl.specs.global
                && self.interner.name(self.template(index).name) == call.template
                && let Some(args) = self.deduced(index, decl, &call.args)
            {
                fitting.push((index, args, decl.name.span));
            }
        }
        let [(index, args, span)] = &fitting[..] else { return };
        if let Some(made) = self.function_instance(*index, args, &[], *span) {
            self.note_call(made, *span);
            let id = self.func_id(made);
            self.module.deduced.push(id);
        }
    }

    /// The arguments of a template for a call.
    fn deduced(
        &mut self,
        index: TemplateIndex,
        decl: &'a FunctionDecl,
        given: &KernelArgs,
    ) -> Option<std::rc::Rc<[TArg]>> {
        let params = &decl.params;
        let args: Vec<KernelArg> = match given {
            KernelArgs::InOrder(args) => args.clone(),
            KernelArgs::Named(named) => {
                let is = |param: &ParamDecl, name: &str| param.name.is_some_and(|n| self.interner.name(n.name) == name);
                let of = |param| named.iter().find(|(name, _)| is(param, name)).map_or(KernelArg::Any, |(_, arg)| *arg);
                params.iter().filter(|param| !param.pack).map(of).collect()
            }
        };
        // A pack takes as many as there are, of the types that they are.
        if let Some(pack) = params.iter().position(|param| param.pack)
            && args.iter().skip(pack).any(|arg| *arg == KernelArg::Any)
        {
            return None;
        }
        let typed = |this: &mut Self, arg: KernelArg| match arg {
            KernelArg::Any => Some(Ty::error()),
            KernelArg::Array(elem) => this.type_of(elem).map(Ty::pointer),
            KernelArg::Number(elem) => this.type_of(elem),
        };
        let types = args.iter().map(|arg| typed(self, *arg)).collect::<Option<Vec<Ty>>>()?;
        let (found, fine) =
            self.quietly(|this| this.deduce_call(index, &[], &types.iter().map(value).collect::<Vec<_>>()));
        if let Some((found, _)) = found.filter(|_| fine) {
            return Some(found);
        }
        // An accessor's element type is its first argument, and the template's.
        let is_accessor = |param: &ParamDecl| {
            let has_args = |name: &crate::front::ast::Name| name.parts.last().is_some_and(|part| part.args.is_some());
            param.ty.layers.is_empty() && matches!(&param.ty.base, BaseType::Named(name) if has_args(name))
        };
        let first_is_type =
            self.template(index).params.first().is_some_and(|p| matches!(p.kind, TemplateParamKind::Type { .. }));
        let mut elem = None;
        let mut without = types.clone();
        for ((param, arg), ty) in params.iter().zip(&args).zip(&mut without) {
            if let KernelArg::Array(of) = arg
                && is_accessor(param)
            {
                elem = elem.or(Some(*of));
                *ty = Ty::error();
            }
        }
        let explicit = TArg::Type(self.type_of(elem.filter(|_| first_is_type)?)?);
        let args: Vec<ranking::Arg> = without.iter().map(value).collect();
        let (found, fine) = self.quietly(|this| this.deduce_call(index, &[explicit], &args));
        found.filter(|_| fine).map(|(found, _)| found)
    }

    /// The type that C++ has for elements of an array.
    fn type_of(&mut self, elem: Elem) -> Option<Ty> {
        let num = match elem {
            Elem::F16 => return self.float_of(&kernel_calls::CUDA_F16, "Half"),
            Elem::BF16 => return self.float_of(&kernel_calls::CUDA_BF16, "BFloat16"),
            Elem::Scalar(scalar) => match scalar {
                Scalar::Bool => Num::Bool,
                Scalar::I8 => Num::SChar,
                Scalar::U8 => Num::UChar,
                Scalar::I16 => Num::Short,
                Scalar::U16 => Num::UShort,
                Scalar::I32 => Num::Int,
                Scalar::U32 => Num::UInt,
                Scalar::I64 => Num::Long,
                Scalar::U64 => Num::ULong,
                Scalar::F32 => Num::Float,
                Scalar::F64 => Num::Double,
            },
        };
        Some(num.into())
    }

    /// A 16-bit float: CUDA's or torch's.
    fn float_of(&mut self, cuda: &[&str; 2], torch: &str) -> Option<Ty> {
        let is_of_torch = kernel_calls::is_of_torch(cuda, |name| self.interner.contains(name));
        let mut scope = GLOBAL;
        if is_of_torch {
            let Some(Decl::Namespace(c10)) = self.lookup_in(GLOBAL, self.interner.find("c10")?) else { return None };
            scope = c10;
        }
        match self.lookup_in(scope, self.interner.find(if is_of_torch { torch } else { cuda[0] })?) {
            Some(Decl::Type(ty)) => Some(ty),
            _ => None,
        }
    }
}

/// An argument that is a value of a type.
fn value(ty: &Ty) -> ranking::Arg {
    ranking::Arg { ty: ty.clone(), lvalue: false, xvalue: false, null: false, list: None }
}

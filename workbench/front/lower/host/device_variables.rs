//! Variables of the device in host code: there such a name stands for the variable and is none, so that what reads, writes or passes its
//! memory is wrong on every GPU.
//!
//! Functions that take the variable itself (`cudaMemcpyToSymbol`) are the way to its memory.

use crate::diagnostic::{Code, Diagnostic};
use crate::front::lower::expressions::typed_tree::{Node, Typed, VarId};
use crate::front::lower::{Lowerer, Side, Storage};
use crate::ir::Space;
use crate::source::Span;

/// Use that host code makes of a variable of the device.
#[derive(Debug, Clone, Copy)]
pub(in crate::front::lower) enum SymbolUse {
    Read,
    Written,
    Launched,
    Passed,
}

impl Lowerer<'_> {
    /// Reports host code that uses the memory of the device's variable that a place lies in.
    pub(in crate::front::lower) fn check_symbol(&mut self, place: &Typed, how: SymbolUse) {
        let span = place.span;
        if self.f.side != Side::Host || self.in_library(span) {
            return;
        }
        if let Some(id) = self.symbol_of_place(place) {
            self.report_symbol(id, how, span);
        }
    }

    /// The same of a pointer that host code passes on.
    pub(in crate::front::lower) fn check_symbol_pointer(&mut self, pointer: &Typed, how: SymbolUse) {
        let span = pointer.span;
        if self.f.side != Side::Host || self.in_library(span) {
            return;
        }
        if let Some(id) = self.symbol_of_pointer(pointer) {
            self.report_symbol(id, how, span);
        }
    }

    fn symbol_of_place(&self, place: &Typed) -> Option<VarId> {
        match &place.node {
            Node::Var(id) => match self.var(*id).storage {
                Storage::Global(global) if self.var(*id).constant.is_none() && self.symbols.contains(id) => {
                    self.module.globals.get(global.index()).map(|_| *id)
                }
                _ => None,
            },
            Node::Deref(pointer) => self.symbol_of_pointer(pointer),
            Node::Convert(from) | Node::Member(from, _) | Node::BitField(from, _) | Node::Comma(_, from) => {
                self.symbol_of_place(from)
            }
            _ => None,
        }
    }

    fn symbol_of_pointer(&self, pointer: &Typed) -> Option<VarId> {
        match &pointer.node {
            Node::Decay(place) | Node::AddrOf(place) => self.symbol_of_place(place),
            Node::Convert(from) if from.ty.pointee().is_some() => self.symbol_of_pointer(from),
            Node::PtrAdd(from, ..) | Node::Adjust(from, _) | Node::Comma(_, from) => self.symbol_of_pointer(from),
            _ => None,
        }
    }

    fn report_symbol(&mut self, id: VarId, how: SymbolUse, span: Span) {
        let var = self.var(id);
        let (name, place) = (self.interner.name(var.name).to_owned(), var.span);
        let is_constant = match var.storage {
            Storage::Global(global) => {
                self.module.globals.get(global.index()).is_some_and(|data| data.space == Space::Constant)
            }
            _ => false,
        };
        let kind = if is_constant { "__constant__" } else { "__device__" };
        let (what, help) = match how {
            SymbolUse::Read => (
                format!("host code reads `{name}`, which is a `{kind}` variable: its value is in the device's memory"),
                format!("copy it first: `cudaMemcpyFromSymbol(&value, {name}, sizeof(value))`"),
            ),
            SymbolUse::Written => (
                format!("host code writes `{name}`, which is a `{kind}` variable: its value is in the device's memory"),
                format!("write `cudaMemcpyToSymbol({name}, &value, sizeof(value))`"),
            ),
            SymbolUse::Launched => (
                format!(
                    "a kernel is given the host's address of `{name}`, a `{kind}` variable, which is none of the device's"
                ),
                format!(
                    "let the kernel name `{name}` itself, or ask for its address: `cudaGetSymbolAddress((void**)&p, {name})`"
                ),
            ),
            SymbolUse::Passed => (
                format!("the host's address of `{name}`, a `{kind}` variable, is passed as memory, which it is not"),
                format!(
                    "copy by `cudaMemcpyToSymbol({name}, ..)` and `cudaMemcpyFromSymbol(.., {name}, ..)`, or ask for its address: \
                         `cudaGetSymbolAddress((void**)&p, {name})`"
                ),
            ),
        };
        self.report(Diagnostic::error(Code::WrongSide, span, what).related(place, "declared here").help(help));
    }
}

//! Hints in messages about a program: parameters as C++ declares them, what to write for a kernel that does not exist.

use super::program::Program;
use crate::ir::layout::MemberType;
use crate::ir::{self, FuncKind, Param, ParamType};
use crate::source::Span;
use crate::{back, front};

/// A parameter's type as C++.
pub fn param_type(ty: ParamType) -> String {
    match ty {
        ParamType::Scalar(s) => s.c_name().to_owned(),
        ParamType::Ptr { elem, is_const } => {
            let elem = elem.map_or("void", ir::Elem::c_name);
            if is_const { format!("const {elem}*") } else { format!("{elem}*") }
        }
        ParamType::Bytes { size, .. } => format!("struct of {size} bytes"),
    }
}

/// The type of a parameter as its declaration writes it: pointers to structs by the struct's name, and pointers to
/// pointers.
pub fn declared_type(param: &Param) -> String {
    let ParamType::Ptr { is_const, .. } = param.ty else { return param_type(param.ty) };
    match param.pointee.as_deref() {
        Some(MemberType::Struct(layout)) if !layout.name.is_empty() => {
            format!("{}{}*", if is_const { "const " } else { "" }, layout.name)
        }
        Some(&MemberType::Pointer { elem, is_const: is_inner_const }) => {
            let inner = param_type(ParamType::Ptr { elem, is_const: is_inner_const });
            format!("{inner}{}*", if is_const { " const" } else { "" })
        }
        _ => param_type(param.ty),
    }
}

impl Program {
    /// The reason that a host function of that name, which the text has, cannot be called from outside; `None` where
    /// the text has none.
    pub fn uncallable(&self, name: &str) -> Option<String> {
        let is_it =
            |f: &&ir::Function| f.name == name && !f.library && matches!(f.kind, FuncKind::Host | FuncKind::HostHelper);
        let function = self.module().functions.iter().find(is_it)?;
        // The parameter for the result, if there is one, is not written in the text.
        let written = function.params.iter().filter(|p| p.span.start > function.span.start);
        let params: Vec<&str> = written.map(|p| self.sources().text(p.span)).filter(|p| !p.is_empty()).collect();
        let what = format!("`{name}({})`", params.join(", "));
        Some(format!("{what} takes or gives a type that calls from outside have no values for"))
    }

    /// The advice for a kernel that does not exist: what to write instead.
    pub fn kernel_hint(&self, name: &str) -> String {
        let names = self.kernel_names();
        if self.template_names().iter().any(|t| t == name) {
            return format!(
                "; `{name}` is a template: write \"{name}<...>\", with a type or number for each of its parameters"
            );
        }
        let written = self.module().functions.iter().find(|f| f.name == name && !f.library);
        match (written.map(|f| f.kind), names.as_slice()) {
            (Some(FuncKind::Host | FuncKind::HostHelper), _) => {
                format!("; `{name}` is a host function: call it, or leave the kernel's name out")
            }
            (Some(_), _) => {
                format!("; `{name}` is a function of the device: write `__global__` before it to launch it")
            }
            (None, []) => "; write `__global__` before a function of type void to launch it".to_owned(),
            (None, [only]) => format!("; write \"{only}\""),
            (None, names) => match front::nearest(name, names.iter().map(String::as_str)) {
                Some(near) => format!("; did you mean \"{near}\"?"),
                None => "; write one of these names".to_owned(),
            },
        }
    }

    /// The hint about templates in a message about a missing kernel: their names, and how to ask for an instance.
    pub fn template_hint(&self) -> String {
        let templates = self.template_names();
        match templates.first() {
            None => String::new(),
            Some(first) => {
                let names: Vec<String> = templates.iter().map(|t| format!("`{t}`")).collect();
                let what = if names.len() == 1 { "the template" } else { "the templates" };
                format!(", and {what} {}: ask for an instance, such as `{first}<float>`", names.join(", "))
            }
        }
    }

    /// The user's name for a kernel that host code launched; for one of the library's, the algorithm that the text calls at a place,
    /// `thrust::sort`.
    pub(super) fn launched_name(&self, kernel: ir::FuncId, called: Option<Span>) -> &str {
        let function = self.module().func(kernel);
        let said =
            called.filter(|span| !span.file.is_common()).and_then(|span| self.sources().text(span).split('(').next());
        let is_name = |c: char| c.is_alphanumeric() || "_:<>, ".contains(c);
        match said.map(str::trim_end).filter(|said| !said.is_empty() && said.chars().all(is_name)) {
            Some(said) if function.library => said,
            _ => &function.name,
        }
    }

    /// The reason that the text's declaration of that name was left out; `None` where none was.
    pub fn left_out(&self, name: &str) -> Option<String> {
        let gone = self.module().left_out.iter().find(|gone| gone.name == name)?;
        let (place, why) = (self.sources().place(gone.span), &gone.why);
        Some(format!("`{name}` is left out of the text, as something in it is not supported: {why}\n --> {place}"))
    }

    /// The text's own words where it gave back memory that is used now: " by `cudaFree(d)`".
    pub(super) fn said_at(&self, raw: &back::RawFault) -> String {
        /// The most characters that are shown.
        const MOST: usize = 60;
        let text = raw.related.map_or("", |span| self.sources().text(span));
        let fits = !text.is_empty() && text.len() <= MOST && !text.contains('\n');
        if raw.detail.ends_with("freed") && fits { format!(" by `{text}`") } else { String::new() }
    }
}

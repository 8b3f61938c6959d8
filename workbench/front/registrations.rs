//! Host functions that a text defines and does not register: the notebook may call those whose arguments and result it knows.
//! The code that would register them is written here, and read after the text.

use super::ast::{
    BaseType, ExprKind, FunctionDecl, FunctionKind, Init, Interner, Item, TemplateArgKind, TranslationUnit, TypeLayer,
    TypeName,
};

/// Types that a text names which has functions to register: numbers alone are called without the library.
pub const TYPES: [&str; 12] = [
    "Tensor",
    "TensorList",
    "IntArrayRef",
    "Scalar",
    "ScalarType",
    "Device",
    "vector",
    "tuple",
    "pair",
    "optional",
    "string",
    "string_view",
];

/// Types of pybind11's that the notebook has values for.
const OBJECTS: [&str; 14] = [
    "object", "handle", "dict", "list", "args", "kwargs", "str", "bytes", "int_", "float_", "bool_", "function",
    "iterable", "sequence",
];

/// Types of arguments and results that the notebook has values for, by the last part of their names.
const KNOWN: [&str; 21] = [
    "Tensor",
    "vector",
    "tuple",
    "optional",
    "string",
    "string_view",
    "Scalar",
    "ScalarType",
    "Device",
    "int64_t",
    "int32_t",
    "int16_t",
    "int8_t",
    "uint64_t",
    "uint32_t",
    "uint16_t",
    "uint8_t",
    "size_t",
    "TensorList",
    "IntArrayRef",
    "pair",
];

/// The text that registers the functions of a unit; `None` when there is none.
pub fn text(unit: &TranslationUnit, interner: &Interner) -> Option<String> {
    let mut names: Vec<(String, usize)> = Vec::new();
    let mut has_tensor = false;
    for item in &unit.items {
        let Item::Function(func) = item else { continue };
        if func.body.is_none() || !is_plain(func) {
            continue;
        }
        let name = interner.name(func.name.last().name).to_owned();
        let types = func.params.iter().map(|p| &p.ty).chain([&func.ret]);
        let known = types.clone().all(|ty| is_known(ty, interner));
        match names.iter_mut().find(|(n, _)| *n == name) {
            Some((_, count)) => *count += 1,
            None if known => names.push((name, 1)),
            None => names.push((name, 2)),
        }
        has_tensor |= known && types.clone().any(|ty| matches!(ty.base, BaseType::Named(_)));
    }
    // A name alone means none of several overloads.
    names.retain(|(name, count)| *count == 1 && !name.starts_with("__wb") && name != "main");
    if names.is_empty() || !has_tensor {
        return None;
    }
    let calls: String = names.iter().map(|(name, _)| format!("__wb::expose(\"{name}\", &{name}); ")).collect();
    Some(format!("void __wb_entry_register_exposed() {{ (void)&__wb_entry_call; {calls}}}"))
}

/// The text that runs the `PyInit_` functions of a unit; `None` when there is none.
pub fn python_text(unit: &TranslationUnit, interner: &Interner) -> Option<String> {
    let mut names = Vec::new();
    initialisers(&unit.items, "", interner, &mut names);
    if names.is_empty() {
        return None;
    }
    let register = |(i, name): (usize, &String)| {
        format!("void __wb_entry_register_python_{i}() {{ (void)&__wb_entry_call; __wb_python_init({name}()); }} ")
    };
    Some(names.iter().enumerate().map(register).collect())
}

fn initialisers(items: &[Item], within: &str, interner: &Interner, out: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Function(func) => {
                let name = interner.name(func.name.last().name);
                if func.body.is_none() || !is_plain(func) || !func.params.is_empty() {
                    continue;
                }
                let name = format!("{within}{name}");
                if name[within.len()..].starts_with("PyInit_") && !out.contains(&name) {
                    out.push(name);
                }
            }
            Item::Namespace(inner) => {
                let within = match inner.name {
                    Some(name) => format!("{within}{}::", interner.name(name.name)),
                    None => within.to_owned(),
                };
                initialisers(&inner.items, &within, interner, out);
            }
            _ => {}
        }
    }
}

/// The text that makes kernels known by their names, and runs the registrations that stand at namespace scope; a unit of Gaudi's dialect
/// always has one.
pub fn gaudi_text(unit: &TranslationUnit, tensorflow: bool, interner: &Interner) -> Option<String> {
    let mut found = GaudiNames::default();
    found.collect(&unit.items, "", interner);
    let mut calls = String::from("__wb::tpc_entries(); ");
    if tensorflow {
        calls += "__wb::tf_entries(); ";
    }
    for (name, within, what) in &found.kernels {
        // A name alone means none of several overloads, and none of several namespaces' functions.
        if found.kernels.iter().filter(|(n, ..)| n == name).count() == 1 {
            calls += &format!("__wb::{what}(\"{name}\", &{within}{name}); ");
        }
    }
    calls += &found.registrations;
    Some(format!("void __wb_entry_register_tpc() {{ (void)&__wb_entry_call; {calls}}}"))
}

/// Names that [`gaudi_text`] finds.
#[derive(Default)]
struct GaudiNames {
    /// The name, the namespaces it is in, and what offers it.
    kernels: Vec<(String, String, &'static str)>,
    /// Calls that run registrations.
    registrations: String,
}

impl GaudiNames {
    fn collect(&mut self, items: &[Item], within: &str, interner: &Interner) {
        let is_here = |name: &str| {
            items.iter().any(
                |item| matches!(item, Item::Function(f) if is_plain(f) && interner.name(f.name.last().name) == name),
            )
        };
        for item in items {
            match item {
                Item::Function(func) => {
                    if func.body.is_none() {
                        continue;
                    }
                    let name = interner.name(func.name.last().name);
                    let plain = matches!(func.kind, FunctionKind::Plain)
                        && func.templates.is_empty()
                        && func.name.simple().is_some()
                        && !name.starts_with("__wb");
                    // A host function that serves as a kernel gives nothing, and takes a tensor first.
                    let first = func.params.first().map(|p| &p.ty.base);
                    let takes_tensor =
                        matches!(first, Some(BaseType::Named(n)) if interner.name(n.last().name) == "Tensor");
                    let gives_nothing = func.ret.layers.is_empty() && matches!(func.ret.base, BaseType::Void);
                    let what = match (func.specs.global, is_plain(func) && takes_tensor && gives_nothing) {
                        (true, _) => "tpc_kernel",
                        (false, true) => "tpc_host",
                        _ => continue,
                    };
                    if plain {
                        self.kernels.push((name.to_owned(), within.to_owned(), what));
                    }
                }
                // `static bool done = register_it();`: the variable need not be named by anybody.
                Item::Variables(declaration) => {
                    let specs = &declaration.specs;
                    if specs.device || specs.constant || specs.constexpr || !declaration.templates.is_empty() {
                        continue;
                    }
                    for var in &declaration.vars {
                        let name = interner.name(var.name.name);
                        let Some(Init::Expr(init)) = &var.init else { continue };
                        let ExprKind::Call(callee, args) = &init.kind else { continue };
                        match &callee.kind {
                            _ if name.starts_with("__wb_tf_op_") => {
                                self.registrations += &format!("__wb::tpc_seen({within}{name}); ");
                            }
                            ExprKind::Name(function) if args.is_empty() => {
                                let name =
                                    function.simple().map(|f| interner.name(f.name)).filter(|name| is_here(name));
                                self.registrations +=
                                    &name.map(|name| format!("{within}{name}(); ")).unwrap_or_default();
                            }
                            ExprKind::Lambda(_) if var.ty.layers.is_empty() => {
                                self.registrations += &format!("__wb::tpc_seen({within}{name}); ");
                            }
                            _ => {}
                        }
                    }
                }
                Item::Namespace(inner) => {
                    let within = match inner.name {
                        Some(name) => format!("{within}{}::", interner.name(name.name)),
                        None => within.to_owned(),
                    };
                    self.collect(&inner.items, &within, interner);
                }
                _ => {}
            }
        }
    }
}

fn is_plain(func: &FunctionDecl) -> bool {
    let specs = &func.specs;
    matches!(func.kind, FunctionKind::Plain)
        && func.templates.is_empty()
        && func.name.simple().is_some()
        && !(specs.global || specs.device)
        && !func.params.iter().any(|p| p.pack || p.ty.base.is_auto())
}

fn is_known(ty: &TypeName, interner: &Interner) -> bool {
    if ty.layers.iter().any(|l| !matches!(l, TypeLayer::Reference { .. })) {
        return false;
    }
    match &ty.base {
        BaseType::Named(name) => {
            let part = name.last_part();
            let args = part.args.iter().flat_map(|args| args.iter());
            let of_pybind = || {
                let around = name.qualifiers().iter().map(|part| interner.name(part.ident.name));
                matches!(around.collect::<Vec<_>>()[..], ["py" | "pybind11"])
            };
            let known = interner.name(part.ident.name);
            (KNOWN.contains(&known) || OBJECTS.contains(&known) && of_pybind())
                && args.into_iter().all(|a| match &a.kind {
                    TemplateArgKind::Type(ty) => is_known(ty, interner),
                    // A name that the parser knows no declaration of.
                    TemplateArgKind::Expr(e) => match &e.kind {
                        ExprKind::Name(name) => {
                            let part = name.last_part();
                            part.args.is_none() && KNOWN.contains(&interner.name(part.ident.name))
                        }
                        _ => false,
                    },
                })
        }
        base => !base.is_auto(),
    }
}

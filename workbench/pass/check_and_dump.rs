//! The watch over passes as they run: a check after each pass in debug builds, and the function as text before and after.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::{Arc, OnceLock};

use crate::ir::{Block, Function, Module};
use crate::once::Once;

/// A check that lists the errors in a function of a module, whose other functions need no bodies.
pub type Check = fn(&Module, &Function) -> Vec<String>;

static CHECK: OnceLock<Check> = OnceLock::new();

/// The passes that are watched, by their names.
const PASSES: [&str; 9] =
    ["inline", "fold", "slot_selects", "promote", "members", "anchors", "contract", "drop_locals", "unswitch"];

/// The pass whose functions are written out, or `all`.
static DUMP: Once<Option<String>> = Once::new(|| {
    let name = std::env::var("WORKBENCH_DUMP").ok().filter(|name| !name.is_empty())?;
    if name != "all" && !PASSES.contains(&name.as_str()) {
        let passes = PASSES.join(", ");
        write(format_args!("WORKBENCH_DUMP: there is no pass `{name}`; there are {passes}, and `all`"));
    }
    Some(name)
});

/// Has every pass checked from now on, in debug builds.
pub fn check_with(check: Check) {
    if cfg!(debug_assertions) {
        CHECK.get_or_init(|| check);
    }
}

/// A watch over the passes that run on the functions of a module.
#[derive(Clone)]
pub struct Watch {
    /// The check, and the module without bodies.
    check: Option<(Check, Arc<Module>)>,
}

impl Watch {
    /// A watch over a module.
    pub fn new(module: &Module) -> Self {
        Watch { check: CHECK.get().map(|check| (*check, Arc::new(outline(module)))) }
    }

    /// Runs a pass on a function.
    pub fn run<R>(&self, pass: &str, func: &mut Function, run: impl FnOnce(&mut Function) -> R) -> R {
        debug_assert!(PASSES.contains(&pass), "`{pass}` is not among the passes that are watched");
        let is_shown = DUMP.as_deref().is_some_and(|wanted| wanted == pass || wanted == "all");
        if is_shown {
            write(format_args!("// before {pass}\n{func}"));
        }
        let result = run(func);
        if is_shown {
            write(format_args!("// after {pass}\n{func}"));
        }
        if let Some((check, module)) = &self.check {
            let problems = check(module, func);
            assert!(problems.is_empty(), "the pass `{pass}` breaks `{}`: {}\n{func}", func.name, problems.join("; "));
        }
        result
    }
}

/// Writes a text to the standard error; if that is closed, nobody wants the text.
fn write(text: Arguments<'_>) {
    _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A module without the bodies of its functions.
fn outline(module: &Module) -> Module {
    let head = |func: &Function| Function {
        name: func.name.clone(),
        params: func.params.clone(),
        ret: func.ret,
        body: Block::default(),
        ..Function::new("", func.kind, func.span)
    };
    Module {
        functions: module.functions.iter().map(head).collect(),
        globals: module.globals.clone(),
        shared: module.shared.clone(),
        formats: module.formats.clone(),
        ..Module::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{Builder, pointer};
    use crate::ir::{FuncKind, Scalar, Stmt, Value};
    use crate::source::Span;
    use crate::valid;

    /// Runs `pass` as the pass `fold` on a kernel that stores its number.
    fn watched(pass: impl FnOnce(&mut Function)) {
        check_with(valid::problems);
        let params = [("n", crate::ir::ParamType::Scalar(Scalar::I32)), ("out", pointer(Scalar::I32))];
        let (mut b, p) = Builder::new(FuncKind::Kernel, &params);
        b.store(p[1], p[0]);
        let mut module = b.module();
        let watch = Watch::new(&module);
        watch.run("fold", &mut module.functions[0], pass);
    }

    #[test]
    fn a_pass_that_keeps_the_rules_ends() {
        watched(|_| {});
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "release builds do not check")]
    #[should_panic(expected = "the pass `fold` breaks")]
    fn a_pass_that_breaks_a_rule_is_named() {
        watched(|func| {
            // A store of a value that nothing defines.
            let nothing = func.new_value(crate::ir::Type::Scalar(Scalar::I32), Span::NONE);
            let ptr = Value::new(1);
            func.body.push(Stmt::Store { ptr, value: nothing, volatile: false }, Span::NONE);
        });
    }
}

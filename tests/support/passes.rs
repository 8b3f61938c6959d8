//! The passes by name, for file tests: the result of each on a module, or its findings, as text.

use std::fmt::Write;

use workbench::ir::{FuncId, FuncKind, Function, Local, Module, Value};
use workbench::pass;
use workbench::pass::check_and_dump::Watch;
use workbench::pass::regions::Splits;
use workbench::valid;

/// Runs the pass of a name on the module of a text.
pub fn run(name: &str, text: &str) -> Result<String, String> {
    let mut module = workbench::ir::read::module(text).map_err(|e| e.to_string())?;
    check(&module, "the input")?;
    match name {
        "inline" => {
            let watch = Watch::new(&module);
            pass::inline::run(&mut module, &watch);
        }
        "fold" => each(&mut module, pass::fold::run),
        "slot_selects" => each(&mut module, |func| _ = pass::slot_selects::run(func)),
        "promote" => each(&mut module, |func| _ = pass::promote::run(func)),
        "members" => each(&mut module, |func| _ = pass::members::run(func)),
        "anchors" => {
            let launched = pass::anchors::launched(&module);
            let funcs = module.functions.iter_mut().zip(launched).filter(|(_, launched)| *launched);
            funcs.for_each(|(func, _)| _ = pass::anchors::run(func));
        }
        "unswitch" => each(&mut module, pass::regions::unswitch),
        "prepare" => pass::prepare_for_cpu(&mut module),
        "widen" => module = pass::widen::widen(&module, only_kernel(&module)?).map_err(|e| e.to_string())?,
        "writers" => module = pass::instrument::writers::track_writers(&module, only_kernel(&module)?).0,
        "work" => module = pass::instrument::work::count_work(&module, only_kernel(&module)?)?.0,
        "uniformity" => return Ok(about(&module, uniformity)),
        "regions" => return Ok(about(&module, regions)),
        "stride" => return Ok(about(&module, |_, func| stride(func))),
        "independent" => {
            return Ok(about(&module, |module, func| format!("{}\n", pass::independent::is_needed(module, func))));
        }
        "waits" => return Ok(about(&module, |_, func| format!("{:?}\n", pass::waits::find(func)))),
        "writes" => return writes(&module),
        other => return Err(format!("no pass `{other}`")),
    }
    check(&module, "the output")?;
    Ok(module.to_string())
}

fn check(module: &Module, what: &str) -> Result<(), String> {
    let problems: Vec<String> = valid::validate(module).into_iter().map(|diag| diag.message).collect();
    if problems.is_empty() { Ok(()) } else { Err(format!("{what} is not valid: {}\n{module}", problems.join("; "))) }
}

fn each(module: &mut Module, run: impl Fn(&mut Function)) {
    module.functions.iter_mut().for_each(run);
}

fn only_kernel(module: &Module) -> Result<FuncId, String> {
    module.kernels().next().map(|(id, _)| id).ok_or_else(|| "no kernel".to_owned())
}

/// The findings about each kernel, one line each.
fn about(module: &Module, find: impl Fn(&Module, &Function) -> String) -> String {
    let kernels = module.functions.iter().filter(|func| func.kind == FuncKind::Kernel);
    kernels.map(|func| format!("{}: {}", func.name, find(module, func))).collect()
}

fn uniformity(module: &Module, func: &Function) -> String {
    let found = pass::uniformity::analyze(module, func);
    let mut text = String::from("\n");
    for v in (0..func.values.len()).map(Value::new) {
        _ = writeln!(text, "  {v}: {:?}", found.value(v));
    }
    for l in (0..func.locals.len()).map(Local::new) {
        _ = writeln!(text, "  {l}: {:?}", found.local(l));
    }
    text
}

fn regions(module: &Module, func: &Function) -> String {
    let uniformity = pass::uniformity::analyze(module, func);
    let found = pass::regions::split(func, &Splits::new(func), &uniformity);
    format!("{:#?}\n", found.body.nodes)
}

fn stride(func: &Function) -> String {
    match pass::stride::find(func) {
        None => "no grid-stride loop\n".to_owned(),
        Some(found) => format!(
            "{} from {} by {} up to {} as {}, inclusive {}\n{}",
            found.index, found.start, found.stride, found.bound, found.compared, found.inclusive, found.func
        ),
    }
}

fn writes(module: &Module) -> Result<String, String> {
    let kernel = only_kernel(module)?;
    let params: Vec<usize> = pass::writes::written_params(module, kernel).into_iter().map(|(param, _)| param).collect();
    Ok(format!("parameters {params:?}\n"))
}

//! One file test: reads the comments, compiles, launches, compares.

use std::path::Path;
use std::time::Duration;

use workbench::diagnostic::{Diagnostic, Severity};
use workbench::ir::{Elem, Param, Scalar};
use workbench::runtime::{Arg, BufferArg, CompileOptions, Device, Dim3, Error, LaunchConfig, Program, Report, Tier};
use workbench::{diagnostic, front, source};

use super::value::{self, Value};

type Outcome = Result<(), String>;

/// Every test that runs a kernel runs it with each of these tiers.
const TIERS: [Tier; 5] = [Tier::Soon, Tier::Good, Tier::Lanes, Tier::Wide, Tier::Fibers];

/// Runs the test in a file.
pub fn run(path: &Path) -> Outcome {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let first = text.lines().next().unwrap_or("");
    let mut words =
        first.strip_prefix("// test ").ok_or("the first line must be `// test <command>`")?.split_whitespace();
    let command = words.next().unwrap_or("");
    if command == "pass" {
        let name = words.next().ok_or("`// test pass` needs the name of a pass")?;
        return section(path, &text, "out", &super::passes::run(name, &text)?);
    }
    let mut options = CompileOptions { name: "t.cu".to_owned(), ..CompileOptions::default() };
    let on_gpu = std::env::var("WORKBENCH_TEST_DEVICE").is_ok_and(|device| device == "cuda");
    for word in words {
        if word == "cpu" {
            // NVRTC does not accept the text.
            if on_gpu {
                return Ok(());
            }
            continue;
        }
        let (key, value) = word.split_once('=').ok_or_else(|| format!("unknown option `{word}`"))?;
        match key {
            "define" => {
                let (name, body) = value.split_once('=').unwrap_or((value, "1"));
                options.front.defines.push((name.to_owned(), body.to_owned()));
            }
            _ => return Err(format!("unknown option `{word}`")),
        }
    }
    for line in text.lines() {
        if let Some((name, body)) = line.strip_prefix("// header ").and_then(|l| l.split_once(": ")) {
            options.front.headers.insert(name.to_owned(), body.replace("\\n", "\n"));
        }
    }
    match command {
        "run" if on_gpu => {
            options.device = Device::Cuda;
            run_launches(&text, &options)
        }
        "run" => TIERS.iter().try_for_each(|tier| {
            options.tier = *tier;
            run_launches(&text, &options).map_err(|e| format!("{tier:?}: {e}"))
        }),
        "error" => run_errors(&text, &options),
        "ir" => section(path, &text, "ir", &ir(&text, &options)?),
        "render" => section(path, &text, "render", &render(&text, &options)?),
        other => Err(format!("unknown command `{other}`")),
    }
}

fn compile(text: &str, options: &CompileOptions) -> Result<Program, String> {
    Program::compile(text, options).map_err(|e| format!("does not compile:\n{e}"))
}

fn ir(text: &str, options: &CompileOptions) -> Result<String, String> {
    Ok(compile(text, options)?.ir())
}

fn render(text: &str, options: &CompileOptions) -> Result<String, String> {
    match Program::compile(text, options) {
        Err(e) => Ok(e.to_string()),
        Ok(program) => {
            let launch = text.lines().find_map(|l| l.strip_prefix("// run: ")).ok_or("nothing to render")?;
            match Launch::parse(launch)?.execute(&program)?.0 {
                Err(e) => Ok(e.to_string()),
                Ok(_) => Err("the launch went well; nothing to render".to_owned()),
            }
        }
    }
}

/// Compares a trailing section with the actual text, or rewrites it.
fn section(path: &Path, text: &str, name: &str, actual: &str) -> Outcome {
    let mark = format!("// {name}:\n");
    let (head, tail) = match text.find(&mark) {
        Some(at) => (&text[..at], &text[at + mark.len()..]),
        None => (text, ""),
    };
    let mut wanted = String::new();
    for line in actual.trim_end().lines() {
        wanted.push_str(format!("// {line}").trim_end());
        wanted.push('\n');
    }
    if tail == wanted {
        return Ok(());
    }
    if std::env::var_os("WORKBENCH_BLESS").is_some() {
        return std::fs::write(path, format!("{head}{mark}{wanted}")).map_err(|e| e.to_string());
    }
    Err(format!("the `{name}` section differs (WORKBENCH_BLESS=1 rewrites it):\n--- file\n{tail}\n--- now\n{wanted}"))
}

fn run_errors(text: &str, options: &CompileOptions) -> Outcome {
    let mut sources = source::SourceMap::new();
    let (module, mut diags) = front::compile(&mut sources, "t.cu", text, &options.front);
    if !diags.iter().any(Diagnostic::is_error) {
        diags.extend(workbench::valid::validate(&module));
    }
    let mut wanted = Vec::new();
    for line in text.lines() {
        for (word, severity) in [("// error ", Severity::Error), ("// warning ", Severity::Warning)] {
            if let Some(rest) = line.strip_prefix(word) {
                let mut parts = rest.splitn(3, ' ');
                let (code, place) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
                wanted.push((severity, code.to_owned(), place.to_owned(), parts.next().unwrap_or("").to_owned()));
            }
        }
    }
    let mut left = diags.clone();
    let mut problems = Vec::new();
    for (severity, code, place, message) in wanted {
        let found = left.iter().position(|d| {
            let at = sources.line_column(d.span).map_or("none".to_owned(), |lc| format!("{}:{}", lc.line, lc.column));
            d.severity == severity && d.code.id() == code && at == place && d.message.contains(&message)
        });
        match found {
            Some(i) => {
                left.remove(i);
            }
            None => problems.push(format!("missing: {severity:?} {code} {place} {message}")),
        }
    }
    for d in &left {
        problems.push(format!("unexpected: {:?} {} {} {}", d.severity, d.code, sources.place(d.span), d.message));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n{}", problems.join("\n"), diagnostic::text::render(&diags, &sources)))
}

fn run_launches(text: &str, options: &CompileOptions) -> Outcome {
    // Threads that need not wait for one another do not, and a thread that has left the kernel is no longer waited for.
    let alone = options.tier == Tier::Fibers;
    let program = compile(text, options)?;
    let mut any = false;
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let at = |e: String| format!("line {}: {e}", number + 1);
        let on_gpu = options.device == Device::Cuda;
        if let Some(rest) = line.strip_prefix("// call: ") {
            any = true;
            if on_gpu {
                // Host functions run on the CPU.
                continue;
            }
            call(&program, rest).map_err(at)?;
        }
        if let Some(rest) = line.strip_prefix("// set: ") {
            set(&program, rest).map_err(at)?;
        }
        let Some(rest) = line.strip_prefix("// run: ") else { continue };
        any = true;
        let mut expectations = Vec::new();
        while let Some((_, next)) = lines.peek() {
            let Some(body) = next.strip_prefix("//   ") else { break };
            expectations.push(body.trim().to_owned());
            lines.next();
        }
        let launch = Launch::parse(rest).map_err(at)?;
        if on_gpu && (launch.cpu || is_cpus(&expectations)) {
            continue;
        }
        let is_missed = |line: &String| {
            line.starts_with("fault: mismatched warp function") || line.starts_with("fault: divergent barrier")
        };
        if alone && expectations.iter().any(is_missed) {
            continue;
        }
        let together = matches!(options.tier, Tier::Lanes | Tier::Wide) && launch.block.count() > 1;
        let (result, arrays) = launch.execute(&program).map_err(at)?;
        if together && result.is_err() {
            // Threads that run in step with a faulting one have got as far as it has; nothing is promised of arrays then.
            let is_array =
                |line: &String| !line.contains("error: ") && line.contains(" == ") && !line.starts_with("fault: ");
            expectations.retain(|line| !is_array(line));
        }
        expect(&program, result, &arrays, &expectations).map_err(at)?;
    }
    if any { Ok(()) } else { Err("a `run` test without `// run:` or `// call:`".to_owned()) }
}

/// True if a launch must end in a fault that a GPU cannot name: it checks no accesses, and a wrong access there ends everything.
fn is_cpus(expectations: &[String]) -> bool {
    let told = ["fault: assert", "fault: trap"];
    expectations.iter().any(|line| line.starts_with("fault: ") && !told.iter().any(|fault| line.starts_with(fault)))
}

fn call(program: &Program, text: &str) -> Outcome {
    let (head, wanted) = text.rsplit_once("==").ok_or("a call needs `== result`")?;
    let (name, rest) = head.split_once('(').ok_or("a call needs parentheses")?;
    let inner = rest.trim().strip_suffix(')').ok_or("a call needs parentheses")?;
    let params: Vec<Param> = program.host_params(name.trim()).map_err(|e| e.to_string())?.to_vec();
    let words: Vec<&str> = inner.split(',').map(str::trim).filter(|w| !w.is_empty()).collect();
    let args: Result<Vec<_>, _> =
        words.iter().zip(&params).map(|(w, p)| value::number(value::element(p.ty).bits(), w)).collect();
    let (result, _) = program
        .call_host(name.trim(), &args?, workbench::runtime::host::Limits::default())
        .map_err(|e| e.to_string())?;
    let result = result.ok_or("the function has no result")?;
    let scalar = result.ty().scalar().unwrap_or(Scalar::U64);
    let wanted = value::number(scalar, wanted.trim())?;
    if result.bytes() == wanted.bytes() { Ok(()) } else { Err(format!("{result:?}, not {wanted:?}")) }
}

struct Launch {
    kernel: String,
    grid: Dim3,
    block: Dim3,
    args: Vec<(String, Value)>,
    shared: u32,
    timeout: Option<Duration>,
    serial: bool,
    /// True if only the CPU promises the outcome.
    cpu: bool,
}

/// An array argument after the launch.
struct Array {
    name: String,
    elem: Elem,
    memory: Vec<u64>,
    bytes: usize,
}

impl Array {
    fn contents(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.memory)[..self.bytes]
    }
}

impl Launch {
    fn parse(text: &str) -> Result<Launch, String> {
        let (kernel, rest) = text.split_once("<<<").ok_or("a launch needs `<<<`")?;
        let (config, rest) = rest.split_once(">>>").ok_or("a launch needs `>>>`")?;
        let extents = split_top(config);
        let (grid, block, shared) = match extents.as_slice() {
            [grid, block] => (grid, block, 0),
            [grid, block, bytes] => (grid, block, bytes.parse().map_err(|_| format!("bad size `{bytes}`"))?),
            _ => return Err("grid and block, please".to_owned()),
        };
        let close = rest.rfind(')').ok_or("a launch needs parentheses")?;
        let inner = rest[..close].trim().strip_prefix('(').ok_or("a launch needs parentheses")?;
        let args = split_top(inner)
            .iter()
            .map(|a| {
                let (name, value) = a.split_once('=').ok_or_else(|| format!("`{a}`: write name = value"))?;
                Ok((name.trim().to_owned(), value::parse(value)?))
            })
            .collect::<Result<_, String>>()?;
        let mut launch = Launch {
            kernel: kernel.trim().to_owned(),
            grid: extent(grid)?,
            block: extent(block)?,
            args,
            shared,
            timeout: None,
            serial: false,
            cpu: false,
        };
        for word in rest[close + 1..].split_whitespace() {
            match word.split_once('=') {
                Some(("timeout", t)) => {
                    launch.timeout = Some(Duration::from_secs_f64(t.parse().map_err(|_| "bad timeout")?));
                }
                None if word == "serial" => launch.serial = true,
                None if word == "cpu" => launch.cpu = true,
                _ => return Err(format!("unknown launch option `{word}`")),
            }
        }
        Ok(launch)
    }

    fn execute(&self, program: &Program) -> Result<(Result<Report, Error>, Vec<Array>), String> {
        let kernel = program.kernel(&self.kernel).map_err(|e| e.to_string())?;
        let mut arrays: Vec<Array> = Vec::new();
        let mut args = Vec::new();
        for (name, given) in &self.args {
            let param = kernel.params().iter().find(|p| &p.name == name);
            let elem = param.map_or(Scalar::I32.into(), |p| value::element(p.ty));
            let half = param.and_then(|p| p.layout.as_deref()).and_then(|l| l.half());
            args.push(match given {
                Value::Null => Arg::Null,
                Value::Number(text) if half.is_none() => Arg::Scalar(value::number(elem.bits(), text)?),
                _ => {
                    let bytes = match (given, half) {
                        // A 16-bit float by value is passed as its bytes.
                        (Value::Number(text), Some(half)) => value::element_bytes(half, text)?,
                        _ => value::memory(given, elem)?,
                    };
                    let mut memory = vec![0u64; bytes.len().div_ceil(8).max(1)];
                    bytemuck::cast_slice_mut::<u64, u8>(&mut memory)[..bytes.len()].copy_from_slice(&bytes);
                    let ptr = memory.as_mut_ptr().cast();
                    arrays.push(Array { name: name.clone(), elem, memory, bytes: bytes.len() });
                    Arg::Buffer(BufferArg { ptr, bytes: bytes.len(), dtype: elem.into(), writable: true })
                }
            });
        }
        let mut config = LaunchConfig::new(self.grid, self.block);
        (config.shared_mem, config.timeout, config.serial) = (self.shared.into(), self.timeout, self.serial);
        let mut result = kernel.launch_raw(&config, &args);
        if result.as_ref().is_err_and(|e| e.to_string().contains("its code was still being compiled")) {
            // The limit is meant for the run, not for the compilation.
            workbench::runtime::settle();
            result = kernel.launch_raw(&config, &args);
        }
        match kernel.c_source(self.block) {
            // A kernel that can be written in C must compile without a C compiler.
            Err(why) if why.contains("our own compiler") => Err(why),
            _ => Ok((result, arrays)),
        }
    }
}

fn extent(text: &str) -> Result<Dim3, String> {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text);
    let parts: Result<Vec<u32>, _> = inner.split(',').map(|p| p.trim().parse()).collect();
    match parts.map_err(|_| format!("bad extent `{text}`"))?.as_slice() {
        [x] => Ok(Dim3::new(*x, 1, 1)),
        [x, y] => Ok(Dim3::new(*x, *y, 1)),
        [x, y, z] => Ok(Dim3::new(*x, *y, *z)),
        _ => Err(format!("bad extent `{text}`")),
    }
}

/// Splits at commas outside brackets.
fn split_top(text: &str) -> Vec<String> {
    let (mut depth, mut parts, mut current) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut current).trim().to_owned());
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    if !current.trim().is_empty() {
        parts.push(current.trim().to_owned());
    }
    parts
}

fn expect(program: &Program, result: Result<Report, Error>, arrays: &[Array], wanted: &[String]) -> Outcome {
    let (output, dropped) = match &result {
        Ok(report) => (report.output.as_slice(), report.dropped),
        Err(Error::Fault(fault)) => (fault.output.as_slice(), fault.dropped),
        Err(_) => (&[][..], 0),
    };
    // An unexpected error says more than the contents of an array then.
    let is_told = wanted.iter().any(|line| line.starts_with("fault: ") || line.starts_with("argument error: "));
    if result.is_err() && !is_told {
        return Err(describe(&result));
    }
    let printed: String = output.iter().map(|r| r.text.as_str()).collect();
    let mut failed_as_wanted = false;
    for line in wanted {
        if let Some(text) = line.strip_prefix("printf ") {
            let text: String = serde_json::from_str(text).map_err(|e| format!("{text}: {e}"))?;
            if printed != text {
                return Err(format!("printed {printed:?}, not {text:?}"));
            }
        } else if let Some(count) = line.strip_prefix("dropped ") {
            if count.trim() != dropped.to_string() {
                return Err(format!("dropped {dropped}, not {count}"));
            }
        } else if let Some(text) = line.strip_prefix("argument error: ") {
            match &result {
                Err(Error::Argument(message)) if message.contains(text) => failed_as_wanted = true,
                other => return Err(format!("not that argument error: {}", describe(other))),
            }
        } else if let Some(text) = line.strip_prefix("fault: ") {
            check_fault(program, &result, text)?;
            failed_as_wanted = true;
        } else if let Some(text) = line.strip_prefix("symbol ") {
            check_array(&symbols(program)?, text)?;
        } else {
            check_array(arrays, line)?;
        }
    }
    if failed_as_wanted || result.is_ok() { Ok(()) } else { Err(describe(&result)) }
}

/// `name = [1, 2]` on a `__constant__` or `__device__` variable.
fn set(program: &Program, text: &str) -> Outcome {
    let (name, given) = text.split_once('=').ok_or("write name = value")?;
    let symbol = program.symbol(name.trim()).map_err(|e| e.to_string())?;
    let elem = program.module().globals.iter().find(|g| g.name == symbol.name()).and_then(|g| g.elem);
    let bytes = value::memory(&value::parse(given)?, elem.ok_or("no elements")?.into())?;
    symbol.set_bytes(&bytes).map_err(|e| e.to_string())
}

/// All `__constant__` and `__device__` variables with their present contents.
fn symbols(program: &Program) -> Result<Vec<Array>, String> {
    let mut arrays = Vec::new();
    for name in program.symbol_names() {
        let bytes = program.symbol(&name).and_then(|symbol| symbol.bytes()).map_err(|e| e.to_string())?;
        let elem = program.module().globals.iter().find(|g| g.name == name).and_then(|g| g.elem);
        let mut memory = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut memory)[..bytes.len()].copy_from_slice(&bytes);
        arrays.push(Array { name, elem: elem.unwrap_or(Scalar::U8).into(), memory, bytes: bytes.len() });
    }
    Ok(arrays)
}

fn describe(result: &Result<Report, Error>) -> String {
    match result {
        Ok(_) => "the launch went well".to_owned(),
        Err(e) => format!("the launch failed:\n{e}"),
    }
}

fn check_fault(program: &Program, result: &Result<Report, Error>, text: &str) -> Outcome {
    let Err(Error::Fault(fault)) = result else { return Err(format!("no fault: {}", describe(result))) };
    let (head, detail) = text.split_once(": ").unwrap_or((text, ""));
    let at =
        program.sources().line_column(fault.span).map_or("none".to_owned(), |p| format!("{}:{}", p.line, p.column));
    let triple = |t: [u32; 3]| format!("({},{},{})", t[0], t[1], t[2]);
    let full = format!("{} at {at} block {} thread {}", fault.kind.name(), triple(fault.block), triple(fault.thread));
    if !full.starts_with(head.trim()) || !fault.detail.contains(detail.trim()) {
        return Err(format!("the fault is `{full}: {}`, not `{text}`", fault.detail));
    }
    Ok(())
}

fn check_array(arrays: &[Array], line: &str) -> Outcome {
    let exact = line.contains("==");
    let (name, rest) = line.split_once(if exact { "==" } else { "~" }).ok_or_else(|| format!("`{line}`?"))?;
    let array = arrays.iter().find(|a| a.name == name.trim()).ok_or_else(|| format!("no array `{name}`"))?;
    let (text, rtol) = match rest.split_once("rtol=") {
        Some((t, r)) => (t, r.trim().parse::<f64>().map_err(|_| format!("bad tolerance in `{line}`"))?),
        None => (rest, 0.0),
    };
    let wanted = value::memory(&value::parse(text)?, array.elem)?;
    let contents = array.contents();
    let (got, want) = (value::doubles(contents, array.elem), value::doubles(&wanted, array.elem));
    if got.len() != want.len() {
        return Err(format!("`{}` has {} elements, not {}", array.name, got.len(), want.len()));
    }
    let size = array.elem.size() as usize;
    for i in 0..got.len() {
        let bits = contents[i * size..(i + 1) * size] == wanted[i * size..(i + 1) * size];
        let near = !exact && (got[i] - want[i]).abs() <= rtol * want[i].abs();
        if !(bits || near || (got[i].is_nan() && want[i].is_nan())) {
            let (got, want) = (value::show(contents, array.elem), value::show(&wanted, array.elem));
            return Err(format!("`{}[{i}]` is {}, not {}\n  all: {got:?}", array.name, got[i], want[i]));
        }
    }
    Ok(())
}

//! NVRTC's log as diagnostics at places of the user's text.
//!
//! A message is a head `name(line): error: text`, maybe more lines of text, then the source line after two spaces, a line
//! with a caret below it (both NVRTC 12.3 and later; before, none), and notes on templates indented by ten spaces.

use super::emit::PRELUDE_NAME;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::source::{FileId, SourceMap, Span};

/// The texts NVRTC knows by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Files(Vec<(String, FileId)>);

impl Files {
    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, file: FileId) {
        self.0.push((name.into(), file));
    }

    /// The text of a name.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.0.iter().find(|(n, _)| n == name).map(|&(_, file)| file)
    }

    /// The trimmed text of a line (from 1).
    pub fn line(&self, sources: &SourceMap, name: &str, line: u32) -> Option<Span> {
        let file = self.find(name)?;
        let source = sources.file(file)?;
        let (start, text) = (source.offset(line, 1), source.line(line));
        let begin = start + (text.len() - text.trim_start().len()) as u32;
        Some(Span::new(file, begin, begin + text.trim().len() as u32))
    }
}

/// A head line, taken apart.
struct Head<'a> {
    place: Option<(&'a str, u32)>,
    severity: Severity,
    message: &'a str,
}

/// The diagnostics of a log, in its order; a message without a place gets `whole`.
pub(super) fn diagnostics(log: &str, files: &Files, sources: &SourceMap, whole: Span) -> Vec<Diagnostic> {
    let mut out: Vec<Diagnostic> = Vec::new();
    let lines: Vec<&str> = told(log).filter(|line| !is_information(line)).collect();
    let mut i = 0;
    while i < lines.len() {
        let Some(head) = head(lines[i]) else {
            i += 1;
            continue;
        };
        let end = (i + 1..lines.len())
            .find(|&k| lines[k].is_empty() || self::head(lines[k]).is_some())
            .unwrap_or(lines.len());
        let (diag, placed) = one(&head, &lines[i + 1..end], files, sources, whole);
        // An error in a call of ours appears several times inside the prelude.
        let prelude = head.place.is_some_and(|(name, _)| name == PRELUDE_NAME);
        let repeated = |d: &Diagnostic| *d == diag || prelude && d.span == diag.span && d.severity == diag.severity;
        // Users can do nothing about a warning in a toolkit header that no line of theirs led to.
        let foreign = !placed && head.severity == Severity::Warning && head.place.is_some();
        // A text may define names that the prelude defines too.
        let foreign = foreign || head.message.contains(" macro ") && head.message.contains(PRELUDE_NAME);
        if !foreign && !out.iter().any(repeated) {
            out.push(diag);
        }
        i = end;
    }
    out
}

/// The diagnostics of a text that does not compile: at least one, so that no failure is silent.
pub(super) fn errors(log: &str, files: &Files, sources: &SourceMap, whole: Span) -> Vec<Diagnostic> {
    let mut out = diagnostics(log, files, sources, whole);
    if !out.iter().any(Diagnostic::is_error) {
        let lines: Vec<&str> = log.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        let said = if lines.is_empty() {
            "the compilation failed, and NVRTC says nothing".to_owned()
        } else {
            lines.join("; ")
        };
        out.push(Diagnostic::error(Code::Nvrtc, whole, polish(&said)));
    }
    out
}

/// The lines of the assembler that are neither errors nor warnings: registers, spills, shared memory.
pub(super) fn information(log: &str) -> String {
    told(log).filter(|line| is_information(line)).flat_map(|line| [line, "\n"]).collect()
}

fn told(log: &str) -> impl Iterator<Item = &str> {
    log.lines().map(|line| line.trim_end_matches('\r'))
}

/// True for `ptxas info    : Used 8 registers`, and for what goes on in the next line, `ptxas         .     0 bytes stack frame`.
fn is_information(line: &str) -> bool {
    line.strip_prefix("ptxas ").is_some_and(|rest| rest.starts_with("info") || rest.trim_start().starts_with('.'))
}

/// The names whose lookup failed, when the log holds no other error.
pub(super) fn failed_names(log: &str) -> Option<Vec<String>> {
    const NAME_LOOKUP: &str = "__nv_name_map";
    const QUOTED: &str = "Input name expression was: \"";
    let errors = || log.lines().filter_map(head).filter(|h| h.severity == Severity::Error);
    if errors().any(|h| h.place.is_none_or(|(file, _)| file != NAME_LOOKUP)) {
        return None;
    }
    let names = errors().filter_map(|h| {
        let (_, rest) = h.message.split_once(QUOTED)?;
        Some(rest.split('"').next()?.trim().to_owned())
    });
    Some(names.collect::<Vec<_>>()).filter(|n| !n.is_empty())
}

fn head(line: &str) -> Option<Head<'_>> {
    // `ptxas error   : Entry function ...` and `nvrtc: error: ...` name no place.
    let tools = [
        ("ptxas error", Severity::Error),
        ("ptxas fatal", Severity::Error),
        ("nvrtc: error", Severity::Error),
        ("ptxas warning", Severity::Warning),
    ];
    for (tool, severity) in tools {
        if let Some(rest) = line.strip_prefix(tool) {
            let message = rest.trim_start().strip_prefix(':')?.trim();
            return Some(Head { place: None, severity, message });
        }
    }
    let mut from = 0;
    while let Some(at) = line[from..].find("): ").map(|n| from + n) {
        let rest = &line[at + 3..];
        let open = line[..at].rfind('(')?;
        if let (Ok(number), Some((severity, message))) = (line[open + 1..at].parse(), severity(rest)) {
            return Some(Head { place: Some((&line[..open], number)), severity, message });
        }
        from = at + 3;
    }
    None
}

/// The severity at the start of a message, and the rest: `error: `, `error #20014-D: `, `catastrophic error: `, `warning #177-D: `.
fn severity(text: &str) -> Option<(Severity, &str)> {
    let (severity, rest) = ["catastrophic error", "internal error", "error"]
        .iter()
        .find_map(|word| Some((Severity::Error, text.strip_prefix(word)?)))
        .or_else(|| Some((Severity::Warning, text.strip_prefix("warning")?)))?;
    let (number, message) = rest.split_once(": ")?;
    (number.is_empty() || number.starts_with(" #")).then_some((severity, message))
}

/// One message, and true if its place is a line of the user's.
fn one(head: &Head<'_>, body: &[&str], files: &Files, sources: &SourceMap, whole: Span) -> (Diagnostic, bool) {
    let caret = body.iter().position(|l| l.trim() == "^" && l.starts_with("  "));
    let (more, notes) = match caret {
        Some(at) => (&body[..at.saturating_sub(1)], &body[at + 1..]),
        None => {
            let at = body.iter().position(|l| l.trim_start().starts_with("detected ")).unwrap_or(body.len());
            body.split_at(at)
        }
    };
    let mut message = head.message.trim().to_owned();
    for line in more {
        message.push_str("; ");
        message.push_str(line.trim());
    }
    if let Some((_, types)) = message.split_once("argument types are: (").filter(|_| message.contains("\"__wb::pack\""))
    {
        message = format!("printf cannot pass an argument of type \"{}\"", types.trim_end_matches(')'));
    }
    let instantiations = instantiations(notes);
    let placed = head.place.and_then(|(name, line)| {
        let span = files.line(sources, name, line)?;
        let column = caret.and_then(|at| body[at].find('^')).map(|column| column.saturating_sub(2));
        Some(narrow(sources, span, line, column, &message))
    });
    let mut diag = Diagnostic::error(Code::Nvrtc, whole, polish(&message));
    if head.severity == Severity::Warning {
        (diag.code, diag.severity) = (Code::NvrtcWarning, Severity::Warning);
    }
    // A message inside the prelude or a toolkit header belongs to the user's line that led there: the last note.
    let mut users = instantiations.iter().filter_map(|&(name, line)| {
        let name = name.or(head.place.map(|(n, _)| n))?;
        files.line(sources, name, line)
    });
    let mut is_placed = true;
    match placed {
        Some(span) => {
            diag.span = span;
            diag.related = users.filter(|&s| s != span).take(3).map(|s| (s, "instantiated here".to_owned())).collect();
        }
        None => {
            if let Some(span) = users.next_back() {
                diag.span = span;
            } else {
                is_placed = false;
                if let Some((name, line)) = head.place.filter(|(name, _)| !name.starts_with('<')) {
                    diag.label = format!("reported at line {line} of {name}");
                }
            }
        }
    }
    diag.help = missing_header(&message).map(|wheel| format!("`pip install {wheel}` brings it"));
    (diag, is_placed)
}

/// The places in notes such as `instantiation of "..." at line 4` and `... at line 4 of other.h`, innermost first.
fn instantiations<'a>(notes: &[&'a str]) -> Vec<(Option<&'a str>, u32)> {
    let mut out = Vec::new();
    for note in notes {
        if let Some((_, rest)) = note.rsplit_once(" at line ") {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if let Ok(line) = rest[..digits].parse() {
                out.push((rest[digits..].strip_prefix(" of "), line));
            }
        }
    }
    out
}

/// The token at a byte column of a line, else the name the message quotes, else the line.
fn narrow(sources: &SourceMap, line_span: Span, line: u32, column: Option<usize>, message: &str) -> Span {
    let Some(source) = sources.file(line_span.file) else { return line_span };
    let (start, text) = (source.offset(line, 1), source.line(line));
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let at = |from: usize, len: usize| Span::new(line_span.file, start + from as u32, start + (from + len) as u32);
    if let Some(column) = column {
        return match text.get(column..) {
            Some(rest) if !rest.is_empty() => {
                let len = rest.find(|c| !word(c)).unwrap_or(rest.len());
                at(column, len.max(rest.chars().next().map_or(1, char::len_utf8)))
            }
            // The caret may stand past the end, or inside a character that is no token.
            _ => line_span,
        };
    }
    for quoted in message.split('"').skip(1).step_by(2).filter(|q| !q.is_empty()) {
        let whole_word = text.match_indices(quoted).find(|&(i, _)| {
            !text[..i].chars().next_back().is_some_and(word)
                && !text[i + quoted.len()..].chars().next().is_some_and(word)
        });
        if let Some((i, _)) = whole_word {
            return at(i, quoted.len());
        }
    }
    line_span
}

/// Our house style: backquotes round code, a lower-case first letter, no full stop.
fn polish(message: &str) -> String {
    let message = message.replace("__wb_printf", "printf");
    let mut out = if message.matches('"').count().is_multiple_of(2) { message.replace('"', "`") } else { message };
    let mut chars = out.chars();
    if let (Some(first), Some(second)) = (chars.next(), chars.next())
        && first.is_ascii_uppercase()
        && !second.is_ascii_uppercase()
    {
        out = first.to_ascii_lowercase().to_string() + &out[1..];
    }
    out.trim_end_matches('.').to_owned()
}

/// The wheel that contains a header NVRTC could not open.
fn missing_header(message: &str) -> Option<&'static str> {
    let (_, name) = message.split_once("cannot open source file \"")?;
    let wheels = [
        ("crt/", "nvidia-cuda-crt"),
        ("nv/", "nvidia-cuda-cccl"),
        ("cuda/", "nvidia-cuda-cccl"),
        ("cub/", "nvidia-cuda-cccl"),
        ("thrust/", "nvidia-cuda-cccl"),
        ("curand", "nvidia-curand"),
        ("cuda_", "nvidia-cuda-runtime"),
        ("cooperative_groups", "nvidia-cuda-runtime"),
        ("mma.h", "nvidia-cuda-runtime"),
    ];
    wheels.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|&(_, wheel)| wheel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str, log: &str) -> (SourceMap, Vec<Diagnostic>) {
        let mut sources = SourceMap::new();
        let file = sources.add("cell", text);
        let mut files = Files::default();
        files.add("cell", file);
        let diags = diagnostics(log, &files, &sources, Span::new(file, 0, 0));
        (sources, diags)
    }

    #[test]
    fn a_caret_gives_the_token_and_a_quoted_name_does_without_one() {
        let text = "int a;\n\tint x = foo + 1;\n";
        let with = "cell(2): error: identifier \"foo\" is undefined\n  \tint x = foo + 1;\n  \t        ^\n\n1 error detected.\n";
        let without = "cell(2): error: identifier \"foo\" is undefined\n";
        for log in [with, without] {
            let (sources, diags) = map(text, log);
            assert_eq!(diags.len(), 1);
            assert_eq!(sources.text(diags[0].span), "foo");
            assert_eq!(diags[0].message, "identifier `foo` is undefined");
        }
    }

    #[test]
    fn a_message_in_the_prelude_points_at_the_line_that_led_there() {
        let text = "struct S {};\n__global__ void k() { printf(\"%d\", S()); }\n";
        let log = "<workbench prelude>(9): error: no instance of overloaded function \"__wb::pack\" matches\n            argument types are: (S)\n  \
                   x = pack(a);\n      ^\n          detected during instantiation of \"int printf(A...)\" at line 2 of cell\n\n";
        let (sources, diags) = map(text, log);
        assert!(sources.text(diags[0].span).starts_with("__global__ void k()"));
        assert_eq!(diags[0].message, "printf cannot pass an argument of type `S`");
    }

    #[test]
    fn warnings_tool_errors_and_noise_are_told_apart() {
        let log = "Remark: The warnings can be suppressed\ncell(1): warning #177-D: variable \"a\" was declared\nptxas error   : Entry \
                   function 'k' uses too much shared data\na(b): not a head\ncell(1): catastrophic error: cannot open source file \"nv/target\"\n";
        let (_, diags) = map("int a;", log);
        let seen: Vec<(Code, bool)> = diags.iter().map(|d| (d.code, d.is_error())).collect();
        assert_eq!(seen, [(Code::NvrtcWarning, false), (Code::Nvrtc, true), (Code::Nvrtc, true)]);
        assert_eq!(diags[2].help.as_deref(), Some("`pip install nvidia-cuda-cccl` brings it"));
    }

    #[test]
    fn what_the_assembler_says_is_kept_apart_from_its_warnings() {
        let log = "ptxas warning : Registers are spilled to local memory in function 'k', 8 bytes spill stores\nptxas info    : 0 bytes gmem\n\
                   ptxas info    : Function properties for k\nptxas         .     8 bytes stack frame\nptxas info    : Used 24 registers\n\n";
        let (_, diags) = map("int a;", log);
        let seen: Vec<(Code, &str)> = diags.iter().map(|d| (d.code, d.message.as_str())).collect();
        let spilled = "registers are spilled to local memory in function 'k', 8 bytes spill stores";
        assert_eq!(seen, [(Code::NvrtcWarning, spilled)]);
        let lines: Vec<&str> = log.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(information(log).lines().collect::<Vec<_>>(), lines[1..]);
        assert_eq!(information("cell(1): warning #177-D: unused\nptxas error   : no\n"), "");
    }

    #[test]
    fn a_failure_without_a_message_that_is_known_has_the_whole_log() {
        let mut sources = SourceMap::new();
        let whole = Span::new(sources.add("cell", "int a;"), 0, 6);
        let said = |log: &str| errors(log, &Files::default(), &sources, whole)[0].message.clone();
        assert_eq!(said("Something else\n\nCompilation terminated.\n"), "something else; Compilation terminated");
        assert_eq!(said(""), "the compilation failed, and NVRTC says nothing");
    }

    #[test]
    fn warnings_of_headers_that_no_line_led_to_are_left_out() {
        let log = "/usr/include/limits.h(9): warning #47-D: incompatible redefinition of macro \"INT_MIN\"\n  #define INT_MIN\n          ^\n\n\
                   /usr/include/vec.h(3): warning #177-D: unused\n          detected during instantiation of \"f()\" at line 1 of cell\n\n\
                   /usr/include/limits.h(9): error: no\n\n";
        let (_, diags) = map("int a;", log);
        let seen: Vec<(Code, &str)> = diags.iter().map(|d| (d.code, d.message.as_str())).collect();
        assert_eq!(seen, [(Code::NvrtcWarning, "unused"), (Code::Nvrtc, "no")]);
    }

    #[test]
    fn failed_names_are_read_only_when_nothing_else_failed() {
        let log = "__nv_name_map(3): error: identifier \"nope\" is undefined\n__nv_name_map(3): error: Error in parsing name expression \
                   for lowered name lookup. Input name expression was: \" nope\"\n";
        assert_eq!(failed_names(log), Some(vec!["nope".to_owned()]));
        assert_eq!(failed_names(&format!("cell(1): error: x\n{log}")), None);
        assert_eq!(failed_names("cell(1): warning #1-D: x\n"), None);
    }
}

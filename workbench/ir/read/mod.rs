//! Reads the textual IR that [`super::print`] writes.
//!
//! # Grammar
//! Each line is one of these; blanks at its ends do not matter, and neither do blank lines and lines that begin with `//`.
//! Parts in `[ ]` may be left out; `...` goes on as it began; `v` is a value, `NAME` is bare or in quotes.
//!
//! ```text
//! module    SPACE g0[ NAME]: N bytes, align N = DATA      SPACE: global, constant, device, managed, host
//!           format p0 = "text"
//!           shared m0[ NAME]: N bytes, align N[, SCALAR]  or `dynamic` for `N bytes`
//!           addressed f0 type N
//!           KIND f0 NAME(PARAM, ...)[ -> TYPE][ max_threads N][ contracts][ library] {
//! KIND      kernel, device, host, host helper
//! DATA      "bytes" of i8, SCALAR "bytes", bytes "bytes" of no one type, each with [ + N zeros]
//!           SCALAR [n, n x N, ...]                        n x N: N times
//! PARAM     NAME: SCALAR | ptr [const ]ELEM | ptr [const ]void | bytes N align N
//!           [ = CONST][ from N at N | from N by N]        a member, an anchor
//! body      local l0[ NAME]: TYPE
//!           slot s0[ NAME]: N bytes, align N[, SCALAR]
//!           v: TYPE = OP
//!           l0 = v
//!           store[ volatile] v, v
//!           if v {                                        } else {    }
//!           b0: loop {                                    } step {    }
//!           b0: switch v {                                }
//!           case N, ..., default {                        } [falls through]
//!           b0: scope {                                   }
//!           break b0   continue b0   return[ v]   trap   fence   barrier block   barrier warp
//!           [v: TYPE = ]call f0(v, ...)[ raises v]
//!           [v: TYPE = ]printf p0(v, ...)
//!           [v: TYPE = ]atomic ATOMIC v[, compared v], v
//!           [v: TYPE = ]COLLECTIVE[ v, ...]
//!           [v: TYPE = ]service NAME(v, ...)
//!           launch f0<(v, v, v), (v, v, v), v>(v, ...)
//!           dispatch type N   assert v, "text"   aligned v, N   missing return of "name"
//! ```
//! Handles of a module stand in order. A value that nothing defines has type `bool`.
//!
//! # What is not in the text
//! Spans, identities, layouts of struct parameters, and the notes of the front end to the run time besides code (templates, deduced
//! instances, declarations left out). The type number of a function ([`Op::FuncAddr`]) prints as a number counted within the module. A
//! function that is kept has no body to read: that is an error.

mod body;
mod cursor;
mod op;
mod parts;

pub use cursor::ReadError;

use cursor::{Cursor, Lines, Result};
use op::Words;
use parts::{element, handle, named, sized};

use super::{
    Anchor, Derived, Elem, FormatData, FuncId, FuncKind, Function, GlobalData, MemberAt, Module, Param, ParamType,
    Scalar, SharedData, Space,
};
use crate::source::Span;

#[cfg(doc)]
use super::Op;

/// The module of a text.
pub fn module(text: &str) -> std::result::Result<Module, ReadError> {
    let words = Words::new();
    let mut module = Module::default();
    let mut lines = Lines::new(text);
    while let Some(mut c) = lines.next() {
        item(&mut c, &mut lines, &words, &mut module)?;
    }
    Ok(module)
}

fn item(c: &mut Cursor<'_>, lines: &mut Lines<'_>, words: &Words, module: &mut Module) -> Result<()> {
    const SPACES: [(&str, Space); 5] = [
        ("global g", Space::ReadOnly),
        ("constant g", Space::Constant),
        ("device g", Space::Device),
        ("managed g", Space::Managed),
        ("host g", Space::Host),
    ];
    const KINDS: [(&str, FuncKind); 4] = [
        ("kernel ", FuncKind::Kernel),
        ("device ", FuncKind::Device),
        ("host helper ", FuncKind::HostHelper),
        ("host ", FuncKind::Host),
    ];
    if c.eats("format ") {
        handle(c, 'p', module.formats.len())?;
        c.eat(" = ")?;
        module.formats.push(FormatData { text: c.text()?, span: Span::NONE });
        return c.end();
    }
    if c.eats("shared ") {
        handle(c, 'm', module.shared.len())?;
        module.shared.push(shared(c)?);
        return c.end();
    }
    if c.eats("addressed ") {
        let func = FuncId::new(c.index('f', "a function")?);
        c.eat(" type ")?;
        module.addressed.push((func, c.number()?));
        return c.end();
    }
    if let Some((word, space)) = SPACES.iter().find(|(word, _)| c.rest().starts_with(word)) {
        c.eat(&word[..word.len() - 1])?;
        handle(c, 'g', module.globals.len())?;
        module.globals.push(global(c, *space)?);
        return c.end();
    }
    if let Some((_, kind)) = KINDS.iter().find(|(word, _)| c.eats(word)) {
        handle(c, 'f', module.functions.len())?;
        c.eat(" ")?;
        let mut func = head(c, *kind)?;
        c.eat(" {")?;
        c.end()?;
        body::read(lines, words, &mut func)?;
        module.functions.push(func);
        return Ok(());
    }
    c.wanted("data, a format, a shared variable or a function")
}

fn shared(c: &mut Cursor<'_>) -> Result<SharedData> {
    let name = named(c)?;
    let dynamic = c.eats("dynamic, align ");
    let (size, align) = if dynamic { (0, c.number()?) } else { sized(c)? };
    Ok(SharedData { name, size, align, elem: element(c)?, dynamic, span: Span::NONE })
}

fn global(c: &mut Cursor<'_>, space: Space) -> Result<GlobalData> {
    let name = named(c)?;
    let start = c.clone();
    let (size, align) = sized(c)?;
    c.eat(" = ")?;
    let elem = if c.rest().starts_with('"') {
        Some(Scalar::I8)
    } else if c.eats("bytes ") {
        None
    } else {
        let elem = op::scalar(c)?;
        c.eat(" ")?;
        Some(elem)
    };
    let bytes = match elem {
        Some(elem) if elem.size() > 1 => table(c, elem, size as usize)?,
        _ => {
            let mut bytes = c.bytes()?;
            if c.eats(" + ") {
                let zeros: usize = c.number()?;
                c.eat(" zeros")?;
                if bytes.len().saturating_add(zeros) == size as usize {
                    bytes.resize(size as usize, 0);
                }
            }
            bytes
        }
    };
    if bytes.len() != size as usize {
        return start.wanted(format!("the size of the data, {} bytes", bytes.len()));
    }
    Ok(GlobalData { name, bytes, align, elem, space })
}

/// The elements of a table of so many bytes at most.
fn table(c: &mut Cursor<'_>, elem: Scalar, size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    c.eat("[")?;
    if c.eats("]") {
        return Ok(bytes);
    }
    loop {
        let start = c.clone();
        let number = if c.eats("nan(") {
            let bits = c.read("the bits of a NaN", |word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok())?;
            c.eat(")")?;
            bits.to_le_bytes()[..elem.size() as usize].to_vec()
        } else {
            c.read(&format!("an {elem}"), |word| op::number(elem, word))?.bytes().to_vec()
        };
        let times = if c.eats(" x ") { c.number()? } else { 1 };
        if number.len().saturating_mul(times) > size.saturating_sub(bytes.len()) {
            return start.wanted("no more elements than fit");
        }
        bytes.extend(number.repeat(times));
        if !c.eats(", ") {
            c.eat("]")?;
            return Ok(bytes);
        }
    }
}

/// The text before the body of a function.
fn head(c: &mut Cursor<'_>, kind: FuncKind) -> Result<Function> {
    let mut func = Function::new(c.name("(")?, kind, Span::NONE);
    c.eat("(")?;
    if !c.eats(")") {
        func.params.push(param(c)?);
        while c.eats(", ") {
            func.params.push(param(c)?);
        }
        c.eat(")")?;
    }
    if c.eats(" -> ") {
        func.ret = Some(op::ty(c)?);
    }
    if c.eats(" max_threads ") {
        func.max_threads = Some(c.number()?);
    }
    func.contracts = c.eats(" contracts");
    func.library = c.eats(" library");
    Ok(func)
}

fn param(c: &mut Cursor<'_>) -> Result<Param> {
    let name = c.name(": ")?;
    c.eat(": ")?;
    let ty = if c.eats("bytes ") {
        let size = c.number()?;
        c.eat(" align ")?;
        ParamType::Bytes { size, align: c.number()? }
    } else if c.eats("ptr ") {
        let is_const = c.eats("const ");
        let elem = c.read("an element type", |word| match word {
            "void" => Some(None),
            "f16" => Some(Some(Elem::F16)),
            "bf16" => Some(Some(Elem::BF16)),
            _ => op::find_scalar(word).map(|scalar| Some(scalar.into())),
        })?;
        ParamType::Ptr { elem, is_const }
    } else {
        ParamType::Scalar(c.read("the type of a parameter", op::find_scalar)?)
    };
    let mut param = Param::new(name, ty, Span::NONE);
    if c.eats(" = ") {
        param.default = Some(op::constant(c)?);
    }
    if c.eats(" from ") {
        let of = c.number()?;
        param.derived = Some(if c.eats(" by ") {
            Derived::Anchor(Anchor { param: of, unit: c.number()? })
        } else {
            c.eat(" at ")?;
            Derived::Member(MemberAt { param: of, offset: c.number()? })
        });
    }
    Ok(param)
}

//! Shape signatures: `"a[m,k], b[k,n] -> out[m,n]"`, and the integer expressions over their dims.
//!
//! An input's extents are names (bound by its shape, and equal wherever they occur again) or numbers (checked); `x[*]` has any rank, is
//! contiguous, shares its shape with every other `[*]`, and binds its size as `numel` and `n`. An output's extents are expressions of names
//! with `+ - * / %`, `min`, `max` and parentheses; `/` rounds down.

use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use super::cursor::{Cursor, Wrong, caret, check_length};
use crate::runtime::{DType, Result};

/// Most operations of one expression; it bounds the depth of its tree.
const MOST_OPERATIONS: u32 = 256;

/// Extents of an array; up to six stay off the heap.
pub type Shape = SmallVec<[i64; 6]>;

/// An integer expression over dims.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A number.
    Number(i64),
    /// A dim, by its index in [`Signature::dims`].
    Dim(usize),
    /// Two operands.
    Binary(Operator, Box<Expr>, Box<Expr>),
}

/// An operator of an [`Expr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, rounding down
    Div,
    /// `%`, with the divisor's sign
    Rem,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
}

impl Expr {
    /// Its value for the dims' values.
    ///
    /// # Errors
    /// One sentence: a division by zero, or a value past 64 bits.
    pub fn value(&self, dims: &[i64]) -> std::result::Result<i64, String> {
        match self {
            Expr::Number(v) => Ok(*v),
            Expr::Dim(i) => Ok(dims[*i]),
            Expr::Binary(op, a, b) => {
                let (a, b) = (a.value(dims)?, b.value(dims)?);
                let value = match op {
                    Operator::Add => a.checked_add(b),
                    Operator::Sub => a.checked_sub(b),
                    Operator::Mul => a.checked_mul(b),
                    Operator::Div if b == 0 => return Err(format!("division by zero: {a} / 0")),
                    Operator::Rem if b == 0 => return Err(format!("division by zero: {a} % 0")),
                    Operator::Div => a.checked_div(b).map(|q| q - i64::from(a % b != 0 && (a < 0) != (b < 0))),
                    Operator::Rem => a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
                    Operator::Min => Some(a.min(b)),
                    Operator::Max => Some(a.max(b)),
                };
                value.ok_or_else(|| "a size past 64 bits".to_owned())
            }
        }
    }
}

impl Expr {
    /// True if it needs a dim.
    pub fn uses(&self, dim: usize) -> bool {
        match self {
            Expr::Number(_) => false,
            Expr::Dim(i) => *i == dim,
            Expr::Binary(_, a, b) => a.uses(dim) || b.uses(dim),
        }
    }
}

/// The extents in an array's brackets.
#[derive(Debug, Clone, PartialEq)]
pub enum Extents {
    /// `[*]`
    Any,
    /// `[m, 2*n]`
    Listed(Vec<Expr>),
}

/// One array of a signature.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayShape {
    /// Its name.
    pub name: String,
    /// Its extents.
    pub extents: Extents,
    /// `:int64` after an output.
    pub dtype: Option<DType>,
}

/// A parsed signature.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The text.
    pub text: String,
    /// The names of the dims, in order of appearance.
    pub dims: Vec<String>,
    /// The inputs.
    pub inputs: Vec<ArrayShape>,
    /// The outputs.
    pub outputs: Vec<ArrayShape>,
    /// The dims that are the size of the `[*]` shape: `numel` and `n`, unless something else has the name.
    pub star: Vec<usize>,
}

impl Signature {
    /// Parses a signature. `integers` are names that expressions may use besides dims (integer arguments of the operator);
    /// they become dims that the caller binds.
    ///
    /// # Errors
    /// [`Error::Argument`] with the signature and a caret under the place.
    pub fn parse(text: &str, integers: &[&str]) -> Result<Signature> {
        check_length("shape", text)?;
        let mut parser = Parser::new(text, integers.iter().map(|s| (*s).to_owned()).collect(), false);
        match parser.signature() {
            Ok((inputs, outputs)) => {
                Ok(Signature { text: text.to_owned(), dims: parser.dims, inputs, outputs, star: parser.star })
            }
            Err((at, message)) => Err(caret("shape", text, at, &message)),
        }
    }

    /// Parses expressions over this signature's dims, such as `threads="n, m"`.
    ///
    /// # Errors
    /// [`Error::Argument`] with the text and a caret under the place.
    pub fn expressions(&self, what: &str, text: &str) -> Result<Vec<Expr>> {
        check_length(what, text)?;
        let mut parser = Parser::new(text, self.dims.clone(), true);
        let mut all = || -> std::result::Result<Vec<Expr>, Wrong> {
            let mut found = vec![parser.expr()?];
            while parser.eat(",") {
                found.push(parser.expr()?);
            }
            parser.space();
            if !parser.is_done() {
                return Err((parser.at, "expected `,` or the end".to_owned()));
            }
            Ok(found)
        };
        all().map_err(|(at, message)| caret(what, text, at, &message))
    }

    /// The index of a dim.
    pub fn dim(&self, name: &str) -> Option<usize> {
        self.dims.iter().position(|d| d == name)
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    dims: Vec<String>,
    /// True if names must be known already.
    closed: bool,
    /// True if an input was `[*]`.
    any: bool,
    /// The dims that are its size.
    star: Vec<usize>,
    /// Operations of the expression being parsed.
    operations: u32,
}

impl<'a> Deref for Parser<'a> {
    type Target = Cursor<'a>;

    fn deref(&self) -> &Cursor<'a> {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, dims: Vec<String>, closed: bool) -> Self {
        Parser { cursor: Cursor::new(text), dims, closed, any: false, star: Vec::new(), operations: 0 }
    }

    /// signature: arrays? `->` arrays
    fn signature(&mut self) -> std::result::Result<(Vec<ArrayShape>, Vec<ArrayShape>), Wrong> {
        let inputs = if self.eat("->") {
            Vec::new()
        } else {
            let inputs = self.arrays(false)?;
            if !self.eat("->") {
                return Err((self.at, "expected `,` or `->` and the outputs".to_owned()));
            }
            inputs
        };
        if self.any {
            for name in ["numel", "n"] {
                if !self.dims.iter().any(|d| d == name) {
                    self.star.push(self.dims.len());
                    self.dims.push(name.to_owned());
                }
            }
        }
        self.space();
        let outputs = if self.rest().is_empty() || self.eat("()") {
            Vec::new()
        } else {
            // Outputs may be parenthesised, as results are in a schema.
            let paren = self.eat("(");
            self.closed = true;
            let outputs = self.arrays(true)?;
            if paren && !self.eat(")") {
                return Err((self.at, "expected `)`".to_owned()));
            }
            outputs
        };
        self.space();
        if !self.is_done() {
            return Err((self.at, "nothing may follow the outputs".to_owned()));
        }
        Ok((inputs, outputs))
    }

    fn arrays(&mut self, output: bool) -> std::result::Result<Vec<ArrayShape>, Wrong> {
        let mut arrays: Vec<ArrayShape> = Vec::new();
        loop {
            self.space();
            let at = self.at;
            let name = self.word().ok_or((at, "expected an array, as in `a[m,k]`".to_owned()))?;
            if arrays.iter().any(|a| a.name == name) {
                return Err((at, format!("there are two arrays `{name}`")));
            }
            if !self.eat("[") {
                return Err((self.at, "expected `[` and the extents".to_owned()));
            }
            let extents = self.extents(output)?;
            let mut dtype = None;
            if self.eat(":") {
                self.space();
                let at = self.at;
                let word = self.word().unwrap_or_default();
                dtype = Some(
                    DType::from_name(&word)
                        .ok_or_else(|| (at, format!("`{word}` is no element type (float32, int64, ...)")))?,
                );
            }
            arrays.push(ArrayShape { name, extents, dtype });
            if !self.eat(",") {
                return Ok(arrays);
            }
        }
    }

    fn extents(&mut self, output: bool) -> std::result::Result<Extents, Wrong> {
        if self.eat("*") {
            if !self.eat("]") {
                return Err((self.at, "expected `]`: `[*]` stands alone".to_owned()));
            }
            self.any = true;
            return Ok(Extents::Any);
        }
        let mut listed = Vec::new();
        if self.eat("]") {
            return Ok(Extents::Listed(listed));
        }
        loop {
            self.space();
            let at = self.at;
            let expr = self.expr()?;
            if !output && matches!(expr, Expr::Binary(..)) {
                return Err((at, "an input's extent is a name or a number; expressions belong to outputs".to_owned()));
            }
            listed.push(expr);
            if self.eat("]") {
                return Ok(Extents::Listed(listed));
            }
            if !self.eat(",") {
                return Err((self.at, "expected `,` or `]`".to_owned()));
            }
        }
    }

    /// sum: product ((`+` | `-`) product)*
    fn expr(&mut self) -> std::result::Result<Expr, Wrong> {
        self.operations = 0;
        self.sum(0)
    }

    fn binary(&mut self, op: Operator, a: Expr, b: Expr) -> std::result::Result<Expr, Wrong> {
        self.operations += 1;
        if self.operations > MOST_OPERATIONS {
            return Err((self.at, format!("an expression of more than {MOST_OPERATIONS} operations")));
        }
        Ok(Expr::Binary(op, Box::new(a), Box::new(b)))
    }

    fn sum(&mut self, depth: u32) -> std::result::Result<Expr, Wrong> {
        let mut left = self.product(depth)?;
        loop {
            self.space();
            // `->` ends a list of inputs, so its `-` is no minus.
            let op = match self.rest().as_bytes() {
                [b'-', b'>', ..] => return Ok(left),
                [b'+', ..] => Operator::Add,
                [b'-', ..] => Operator::Sub,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.product(depth)?;
            left = self.binary(op, left, right)?;
        }
    }

    fn product(&mut self, depth: u32) -> std::result::Result<Expr, Wrong> {
        let mut left = self.atom(depth)?;
        loop {
            self.space();
            let op = match self.rest().as_bytes() {
                [b'*', ..] => Operator::Mul,
                [b'/', b'/', ..] => {
                    self.at += 1;
                    Operator::Div
                }
                [b'/', ..] => Operator::Div,
                [b'%', ..] => Operator::Rem,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.atom(depth)?;
            left = self.binary(op, left, right)?;
        }
    }

    fn atom(&mut self, depth: u32) -> std::result::Result<Expr, Wrong> {
        self.space();
        let at = self.at;
        if depth > 50 {
            return Err((at, "nested too deeply".to_owned()));
        }
        if self.eat("(") {
            let inner = self.sum(depth + 1)?;
            return if self.eat(")") { Ok(inner) } else { Err((self.at, "expected `)`".to_owned())) };
        }
        let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
        if !digits.is_empty() {
            self.at += digits.len();
            return digits.parse().map(Expr::Number).map_err(|_| (at, "a number past 64 bits".to_owned()));
        }
        let name = self.word().ok_or((at, "expected a name or a number".to_owned()))?;
        if (name == "min" || name == "max") && self.eat("(") {
            let a = self.sum(depth + 1)?;
            if !self.eat(",") {
                return Err((self.at, "expected `,`".to_owned()));
            }
            let b = self.sum(depth + 1)?;
            if !self.eat(")") {
                return Err((self.at, "expected `)`".to_owned()));
            }
            let op = if name == "min" { Operator::Min } else { Operator::Max };
            return self.binary(op, a, b);
        }
        if let Some(i) = self.dims.iter().position(|d| *d == name) {
            return Ok(Expr::Dim(i));
        }
        if self.closed {
            let known = self.dims.iter().map(|d| format!("`{d}`")).collect::<Vec<_>>().join(", ");
            return Err((at, format!("`{name}` is no dim of the inputs and no integer argument (there are {known})")));
        }
        self.dims.push(name);
        Ok(Expr::Dim(self.dims.len() - 1))
    }
}

/// The values of a signature's dims while inputs are matched.
#[derive(Debug)]
pub struct Dims {
    values: SmallVec<[Option<i64>; 8]>,
    any: Option<Shape>,
}

impl Dims {
    /// No dim bound yet.
    pub fn new(signature: &Signature) -> Self {
        Dims { values: SmallVec::from_elem(None, signature.dims.len()), any: None }
    }

    /// Binds a dim from outside (an integer argument).
    pub fn set(&mut self, dim: usize, value: i64) {
        self.values[dim] = Some(value);
    }

    /// Matches one input's shape.
    ///
    /// # Errors
    /// One sentence naming both sides.
    pub fn bind(
        &mut self,
        signature: &Signature,
        array: &ArrayShape,
        shape: &[i64],
    ) -> std::result::Result<(), String> {
        match &array.extents {
            Extents::Any => {
                match &self.any {
                    Some(other) if other.as_slice() != shape => {
                        return Err(format!(
                            "`{}` has shape {}, and the other arrays have {}",
                            array.name,
                            tuple(shape),
                            tuple(other)
                        ));
                    }
                    Some(_) => {}
                    None => self.any = Some(shape.into()),
                }
                for &dim in &signature.star {
                    self.values[dim] = Some(shape.iter().product());
                }
            }
            Extents::Listed(listed) => {
                if listed.len() != shape.len() {
                    return Err(format!(
                        "`{}` has shape {}, rank {}; the signature `{}` wants rank {}",
                        array.name,
                        tuple(shape),
                        shape.len(),
                        signature.text,
                        listed.len()
                    ));
                }
                for (axis, (expr, &extent)) in listed.iter().zip(shape).enumerate() {
                    match expr {
                        Expr::Number(v) if *v != extent => {
                            return Err(format!(
                                "`{}` has extent {extent} on axis {axis}, and {v} is wanted",
                                array.name
                            ));
                        }
                        Expr::Dim(i) => match self.values[*i] {
                            Some(v) if v != extent => {
                                return Err(format!(
                                    "`{}` has extent {extent} on axis {axis}, but `{}` is {v} already",
                                    array.name, signature.dims[*i]
                                ));
                            }
                            _ => self.values[*i] = Some(extent),
                        },
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// The values, once every input is bound; 0 for a dim whose array is `None`, since its pointer is null.
    pub fn values(&self) -> SmallVec<[i64; 8]> {
        self.values.iter().map(|v| v.unwrap_or(0)).collect()
    }

    /// The first dim of an expression that nothing has bound.
    fn unbound(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Number(_) => None,
            Expr::Dim(i) => self.values[*i].is_none().then_some(*i),
            Expr::Binary(_, a, b) => self.unbound(a).or_else(|| self.unbound(b)),
        }
    }

    /// The shape of an output.
    ///
    /// # Errors
    /// One sentence: an extent that is negative or cannot be computed, or more elements than memory has bytes for.
    pub fn output(&self, signature: &Signature, array: &ArrayShape) -> std::result::Result<Shape, String> {
        let name = &array.name;
        let shape: Shape = match &array.extents {
            Extents::Any => self.any.clone().ok_or_else(|| format!("output `{name}`: every `[*]` argument is None"))?,
            Extents::Listed(listed) => {
                let values = self.values();
                let extent = |e: &Expr| {
                    if let Some(dim) = self.unbound(e) {
                        let dim = &signature.dims[dim];
                        return Err(format!(
                            "output `{name}`: dim `{dim}` is known only from an argument that is None"
                        ));
                    }
                    match e.value(&values) {
                        Ok(v) if v < 0 => Err(format!("output `{name}` would have the extent {v}")),
                        Ok(v) => Ok(v),
                        Err(why) => Err(format!("output `{name}`: {why}")),
                    }
                };
                listed.iter().map(extent).collect::<std::result::Result<_, _>>()?
            }
        };
        check_size(&shape).map_err(|why| format!("output `{name}` {why}"))?;
        Ok(shape)
    }
}

/// Checks that an array of a shape can exist: no extent below zero, no more bytes than an address can count.
///
/// # Errors
/// The end of a sentence.
pub fn check_size(shape: &[i64]) -> std::result::Result<(), String> {
    if let Some(extent) = shape.iter().find(|d| **d < 0) {
        return Err(format!("would have the extent {extent}"));
    }
    let bytes = if shape.contains(&0) { Some(0) } else { shape.iter().try_fold(8i64, |n, &d| n.checked_mul(d)) };
    if bytes.is_none() {
        return Err(format!("of shape {} is too large", tuple(shape)));
    }
    Ok(())
}

/// A shape as Python writes it: `(3, 4)`, `(5,)`.
pub fn tuple(shape: &[i64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(text: &str, shapes: &[&[i64]]) -> std::result::Result<Vec<Vec<i64>>, String> {
        let signature = Signature::parse(text, &[]).map_err(|e| e.to_string())?;
        let mut dims = Dims::new(&signature);
        for (array, shape) in signature.inputs.iter().zip(shapes) {
            dims.bind(&signature, array, shape)?;
        }
        signature.outputs.iter().map(|o| dims.output(&signature, o).map(|s| s.to_vec())).collect()
    }

    #[test]
    fn outputs_follow_from_inputs() {
        assert_eq!(outputs("a[m,k], b[k,n] -> out[m,n]", &[&[2, 3], &[3, 5]]), Ok(vec![vec![2, 5]]));
        assert_eq!(outputs("a[n] -> out[2*n+1], idx[(n+1)/2]:int64", &[&[7]]), Ok(vec![vec![15], vec![4]]));
        assert_eq!(outputs("x[*] -> out[*]", &[&[2, 3, 4]]), Ok(vec![vec![2, 3, 4]]));
        assert_eq!(outputs("x[*] -> total[]", &[&[2, 3]]), Ok(vec![vec![]]));
        assert_eq!(outputs("x[n, 3] -> out[max(n, 4), min(n, 4), n % 4]", &[&[6, 3]]), Ok(vec![vec![6, 4, 2]]));
        assert_eq!(outputs("x[n] -> out[n - 2]", &[&[0]]), Err("output `out` would have the extent -2".to_owned()));
    }

    #[test]
    fn shapes_that_disagree_name_both_sides() {
        let wrong = |text, shapes: &[&[i64]], part: &str| {
            let message = outputs(text, shapes).expect_err(text);
            assert!(message.contains(part), "{message}");
        };
        wrong("a[m,k], b[k,n] -> out[m,n]", &[&[2, 3], &[4, 5]], "`b` has extent 4 on axis 0, but `k` is 3 already");
        wrong("a[n] -> out[n]", &[&[2, 3]], "rank 2; the signature `a[n] -> out[n]` wants rank 1");
        wrong("a[n, 3] -> out[n]", &[&[2, 4]], "extent 4 on axis 1, and 3 is wanted");
        wrong("a[*], b[*] -> out[*]", &[&[2], &[3]], "`b` has shape (3,), and the other arrays have (2,)");
    }

    #[test]
    fn errors_point_into_the_signature() {
        for (text, column, part) in [
            ("a[n -> out[n]", 4, "`,` or `]`"),
            ("a[n]", 4, "`->`"),
            ("a[n] -> out[k]", 12, "`k` is no dim"),
            ("a[n] -> out[n]:float", 15, "no element type"),
            ("a[2*n] -> out[n]", 2, "expressions belong to outputs"),
            ("a[n], a[n] -> out[n]", 6, "two arrays `a`"),
        ] {
            let message = Signature::parse(text, &[]).expect_err(text).to_string();
            let caret = message.lines().last().and_then(|l| l.find('^')).unwrap_or(0) - 2;
            assert!(message.contains(part) && caret == column, "{text}: column {caret}\n{message}");
        }
    }
}

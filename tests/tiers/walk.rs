//! Loops that walk over an array up to its very end, or past it if a fault is wanted. Bounds checks hoisted out of the loop must agree with
//! what the loop reads, wherever in it the access is.

use super::stmt::Writer;
use super::text::Node;

/// The number of forms that a walk has.
const FORMS: usize = 9;

/// The bound of a walk.
struct Bound {
    text: String,
    /// The largest value that it may have.
    most: usize,
}

/// The numbers of a walk: from `start`, below `bound`, by `step`.
struct Walk {
    start: Bound,
    bound: Bound,
    step: usize,
    counter: String,
    sum: String,
    ty: &'static str,
    /// The index of an access, as an expression of the counter.
    index: String,
}

impl Writer {
    /// A walk over the floats that are read, `inputs` of them, by threads whose cells are below `span`; past an end where `astray`.
    pub fn walk(&mut self, inputs: usize, span: usize, astray: bool) -> Node {
        let form = self.below(FORMS);
        let walk = self.numbers(form, inputs, span, astray);
        let sum = walk.sum.clone();
        let lines = self.form(form, &walk);
        let mut nodes = vec![Node::pinned(format!("float {sum} = 0.0f;"))];
        nodes.extend(lines);
        nodes.push(Node::line(format!("y[i] += {sum};")));
        Node::block("{", nodes, "}")
    }

    fn numbers(&mut self, form: usize, inputs: usize, span: usize, astray: bool) -> Walk {
        let one = |text: &str, most| Bound { text: text.to_owned(), most };
        let start = match self.below(8) {
            0 => one("(int)(i & 3)", 3),
            1 => one("(k & 3)", 3),
            2 => one("2", 2),
            _ => one("0", 0),
        };
        let bound = match self.below(12) {
            0 => one("(k & 15)", 15),
            1 => one("(n & 31)", 31),
            2 => one("(int)(i % 5)", 4),
            3 => one("(p[i] & 7)", 7),
            4 => one("(int)blockDim.x", self.scope.threads),
            _ => {
                let count = 1 + self.below(20);
                one(&count.to_string(), count)
            }
        };
        let step = 1 + self.below(4);
        let (counter, sum) = (self.name("j"), self.name("w"));
        let ty = *self.scope.rng.pick(&["int", "int", "int", "unsigned", "long long", "short"]);
        // The counter at the last access: that of the last round, or that after the step that ends it.
        let rounds = bound.most.saturating_sub(start.most).div_ceil(step);
        let last = match form {
            0 | 1 => start.most + rounds.saturating_sub(1) * step,
            _ => start.most + rounds.max(1) * step,
        };
        // The last index may be a little more where the start or the bound may be less.
        let is_known = |b: &Bound| b.text.parse::<usize>().is_ok();
        let last = if is_known(&start) && is_known(&bound) { last } else { last + step };
        let far = if astray { 1 + self.below(step) } else { 0 };
        let times = 1 + self.below(3);
        // Together they are not so many that an array is shorter.
        let cells = self.below(3.min(5 - times));
        let most = last * times + (span - 1) * cells;
        let (counted, own) = (format!("(int){counter} * {times}"), format!("(int)i * {cells}"));
        let index = match self.below(3) {
            0 => format!("{} - {counted} - {own}", most as i64 - far as i64),
            1 => format!("{counted} + {}", inputs - 1 - last * times + far),
            _ => format!("{own} + {counted} + {}", inputs - 1 - most + far),
        };
        Walk { start, bound, step, counter, sum, ty, index }
    }

    fn form(&mut self, form: usize, walk: &Walk) -> Vec<Node> {
        let Walk { start, bound, step, counter: j, sum, ty, index } = walk;
        let (start, bound) = (&start.text, &bound.text);
        let read = format!("{sum} += a[{index}]");
        let on = if *step == 1 { format!("{j}++") } else { format!("{j} += {step}") };
        let below = format!("{j} < ({ty})({bound})");
        let enough = format!("{j} >= ({ty})({bound})");
        let begin = format!("{ty} {j} = {start};");
        let skip = match self.below(4) {
            0 => format!("if (b[i] > {j}) continue;"),
            1 => format!("if ({sum} > 3.0f) break;"),
            _ => String::new(),
        };
        let body = |lines: &[&str]| {
            lines.iter().filter(|l| !l.is_empty()).map(|l| Node::line((*l).to_owned())).collect::<Vec<_>>()
        };
        let (done, stepped) = (format!("{read};"), format!("{on};"));
        let stop = format!("if ({enough}) break;");
        match form {
            0 => vec![Node::block(format!("for ({begin} {below}; {on}) {{"), body(&[&done, &skip]), "}")],
            1 => vec![Node::block(format!("for ({begin} {below}; {on}) {{"), body(&[&skip, &done]), "}")],
            // The access is in the step, on either side of the increment.
            2 => vec![Node::block(format!("for ({begin} {below}; {on}, {read}) {{"), body(&[&skip]), "}")],
            3 => vec![Node::block(format!("for ({begin} {below}; {read}, {on}) {{"), body(&[&skip, &done]), "}")],
            // The access is before the exit.
            4 => vec![Node::block(format!("for ({begin}; {on}) {{"), body(&[&done, &stop, &skip]), "}")],
            5 => {
                let hold = format!("float {sum}v = a[{index}];");
                let late = format!("{sum} += {sum}v;");
                vec![Node::block(format!("for ({begin}; {on}) {{"), body(&[&hold, &stop, &late]), "}")]
            }
            // The counter moves in the body.
            6 => vec![
                Node::pinned(begin),
                Node::block(
                    format!("while ({below}) {{"),
                    vec![Node::line(&*done), Node::pinned(stepped), Node::line(&*done)],
                    "}",
                ),
            ],
            7 => vec![
                Node::pinned(begin),
                Node::block("do {", vec![Node::line(&*done), Node::pinned(stepped)], format!("}} while ({below});")),
            ],
            // The bound moves.
            _ => {
                let (end, less) = (format!("{sum}e"), format!("if (b[i] > {sum}) {sum}e -= {step};"));
                vec![
                    Node::pinned(format!("int {end} = {bound};")),
                    Node::block(
                        format!("for ({begin} {j} < ({ty}){end}; {on}) {{"),
                        vec![Node::line(done), Node::line(less)],
                        "}",
                    ),
                ]
            }
        }
    }
}

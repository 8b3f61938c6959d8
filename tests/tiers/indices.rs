//! Indices by division from a flat number, as those of rows and columns: lanes with the same quotient may run together, apart from others.

use super::stmt::Writer;
use super::text::Node;
use super::ty::Ty::I32;

/// Widths: known or not, of few lanes, of one, of more than there are; never 0.
const WIDTHS: [&str; 10] =
    ["(k & 31) + 1", "k + 16", "n / 3 + 1", "n + 1", "20", "9", "48", "3", "(k & 7) + 12", "(int)blockDim.x * 2 + 1"];

impl Writer {
    /// Declares the row and the column of a cell; of `cells` cells.
    pub fn row_and_column(&mut self, cells: usize) -> Vec<Node> {
        let (row, column) = (self.name("row"), self.name("column"));
        let width = *self.scope.rng.pick(&WIDTHS);
        let nodes = vec![
            Node::pinned(format!("const int {column} = (int)i % ({width});")),
            Node::pinned(format!("const int {row} = (int)i / ({width});")),
        ];
        for name in [&row, &column] {
            self.add(name, I32, false, Some(cells));
        }
        nodes
    }

    /// A block that reads neighbours of a cell in its row, its plane or both.
    pub fn by_rows(&mut self) -> Node {
        let ty = *self.scope.rng.pick(&["int", "int", "unsigned", "long long"]);
        let (width, height) = (*self.scope.rng.pick(&WIDTHS), *self.scope.rng.pick(&WIDTHS));
        let factor = *self.scope.rng.pick(&["", "", "", "2 * "]);
        let start = match self.below(4) {
            0 => "",
            // Rows begin anywhere, and below zero.
            1 => " - 5",
            _ => " + 3",
        };
        let start = if ty == "unsigned" { start.replace('-', "+") } else { start.to_owned() };
        let mut nodes = vec![
            Node::pinned(format!("const {ty} w = {width}, rows = {height}, f = {factor}({ty})i{start};")),
            Node::pinned("float sum = 0.0f;"),
        ];
        // All that is read is within the array for cells from the start on.
        let lines = match self.below(5) {
            0 => vec!["if (f >= 0) sum += a[f / w * w + f % w];"],
            1 => vec![
                "if (f >= 0) for (int j = 0; j < 3; j++) if (f % w + j < w) sum += a[f / w * w + f % w + j] * a[f / w];",
            ],
            2 => vec![
                "const int plane = (int)(w * rows);",
                "if (f >= 0 && plane > 0) {",
                "    const int top = (int)(f / plane), rest = (int)(f % plane);",
                "    const int row = rest / (int)w, column = rest % (int)w;",
                "    sum += a[top * plane + row * (int)w + column] + (float)(column - row);",
                "}",
            ],
            3 => vec!["if (f >= 0) { z[i] += f / w % rows + f % w; sum = a[f / (w * 4 + 9)]; }"],
            _ => vec!["z[i] ^= f / w * 3 + f % w;", "sum = (float)(f % w);"],
        };
        nodes.push(Node::pinned(lines.join(" ")));
        if self.one_in(3) {
            nodes.push(Node::line("if (b[i] > 0.0f) sum *= 2.0f; else sum -= (float)(f % w);"));
        }
        nodes.push(Node::line("y[i] += sum;"));
        Node::block("{", nodes, "}")
    }
}

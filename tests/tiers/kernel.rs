//! Whole kernels: helpers, the form in which threads find their cells, the number of threads, and sometimes a deliberate fault.

use super::expr::Scope;
use super::random::Random;
use super::stmt::{Sync, Writer, results};
use super::text::Node;
use super::ty::Ty::{self, F32, F64, I32, I64, U32};
use super::ty::{Helper, Var};

/// A kernel with its launch.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub nodes: Vec<Node>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Elements of the arrays that are written.
    pub cells: usize,
    /// Elements of the arrays that are read.
    pub inputs: usize,
    /// The number of elements by which `z` and `g` are shorter than the other arrays that are written.
    pub short: usize,
    /// True if products and sums of floats may become one `fma`.
    pub fmad: bool,
    /// `n` and `k` of each data set.
    pub sizes: Vec<(i32, i32)>,
}

/// The parameters of every kernel.
pub const PARAMS: &str = "const float* a, const float* b, const int* p, const unsigned* u, const double* d, \
    const long long* q, const unsigned char* c, float* y, int* r, double* e, long long* z, short* g, int* h, \
    int n, float s, int k";

const BLOCKS: [[u32; 3]; 14] = [
    [1, 1, 1],
    [3, 1, 1],
    [17, 1, 1],
    [32, 1, 1],
    [33, 1, 1],
    [64, 1, 1],
    [64, 1, 1],
    [100, 1, 1],
    [128, 1, 1],
    [16, 16, 1],
    [8, 4, 2],
    [32, 8, 1],
    [16, 4, 1],
    [7, 3, 2],
];

/// The form in which threads find their cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// All threads work.
    All,
    /// `if (i < n) { .. }`
    If,
    /// `if (i >= n) return;`
    Return,
    /// A grid-stride loop.
    Strided,
    /// Rows of `k` columns; only some threads have a cell.
    Rows,
}

/// The choices made for a kernel.
struct Shape {
    frame: Frame,
    /// The operations that threads do together.
    sync: Sync,
    fault: bool,
    /// True if one dimension is enough.
    flat: bool,
    of: Of,
    /// The grid and the block it is launched with.
    launch: ([u32; 3], [u32; 3]),
}

/// The kinds of statements that a kernel is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Anything,
    /// Nothing but walks.
    Walks,
    /// Nothing but tiles.
    Tiles,
}

/// Blocks of whole chunks, most of which are large enough for checks hoisted to once per block.
const TILES: [[u32; 3]; 10] = [
    [16, 16, 1],
    [16, 16, 1],
    [16, 8, 1],
    [32, 8, 1],
    [32, 4, 2],
    [16, 4, 2],
    [48, 4, 1],
    [64, 1, 1],
    [256, 1, 1],
    [16, 2, 1],
];

/// The kernel of a seed.
pub fn kernel(seed: u64) -> Kernel {
    made(seed, Of::Anything)
}

/// The kernel of a seed that only walks over arrays, past an end in half of the cases.
pub fn walks(seed: u64) -> Kernel {
    made(seed, Of::Walks)
}

/// The kernel of a seed that only copies tiles into shared memory, past an end in half of the cases.
pub fn tiles(seed: u64) -> Kernel {
    made(seed, Of::Tiles)
}

fn made(seed: u64, of: Of) -> Kernel {
    let mut rng = Random::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(7));
    let block = *if of == Of::Tiles { rng.pick(&TILES) } else { rng.pick(&BLOCKS) };
    let threads = block.iter().product::<u32>() as usize;
    let flat = block[1] * block[2] == 1;
    let grid = match rng.below(8) {
        0 if !flat => [2, 2, 1],
        1 => [1, 2, 2],
        2 | 3 => [1, 1, 1],
        _ if threads < 20 => [5, 1, 1],
        _ => [1 + rng.below(3) as u32, 1, 1],
    };
    let blocks = grid.iter().product::<u32>() as usize;
    let all = threads * blocks;
    let together = of == Of::Anything && rng.one_in(3);
    let fault = if of == Of::Anything { rng.one_in(10) } else { rng.one_in(2) };
    let frame = match rng.below(10) {
        _ if of == Of::Tiles => Frame::All,
        0..=2 => Frame::If,
        3 | 4 => Frame::Return,
        5 => Frame::All,
        6 if !together && flat && grid[1] * grid[2] == 1 => Frame::Strided,
        7 | 8 if !flat && block[2] == 1 && grid[2] == 1 => Frame::Rows,
        _ => Frame::If,
    };
    let cells = if frame == Frame::Strided { 3 * all } else { all };
    let scope = Scope {
        rng,
        vars: Vec::new(),
        arrays: Vec::new(),
        helpers: Vec::new(),
        uniform: false,
        cell: false,
        guarded: false,
        simple: false,
        kernel: false,
        span: cells,
        threads,
    };
    let mut writer = Writer::new(scope, Sync::None, 0);
    let mut nodes = if of == Of::Anything { helpers(&mut writer, together) } else { Vec::new() };
    writer.parts = together && !fault && writer.scope.rng.one_in(2);
    let sync = if together { Sync::Block } else { Sync::None };
    let shape = Shape { frame, sync, fault, flat: flat && grid[1] * grid[2] == 1, of, launch: (grid, block) };
    nodes.push(global(&mut writer, &shape));
    let rng = &mut writer.scope.rng;
    let sizes = match frame {
        Frame::Rows => {
            let (width, height) = (block[0] * grid[0], block[1] * grid[1]);
            vec![
                (height as i32, width as i32),
                (rng.below(height as usize + 1) as i32, 1 + rng.below(width as usize) as i32),
            ]
        }
        _ => {
            let less = cells.saturating_sub(1 + rng.below(9)) as i32;
            vec![(less, rng.below(8) as i32), (cells as i32, rng.below(200) as i32), (rng.below(cells + 1) as i32, 1)]
        }
    };
    let short = if fault { writer.scope.rng.below(cells) } else { 0 };
    Kernel { nodes, grid, block, cells, inputs: inputs(cells), short, fmad: seed.is_multiple_of(2), sizes }
}

/// The length of the arrays that are read, for so many cells.
fn inputs(cells: usize) -> usize {
    4 * cells + 300
}

/// Functions that the kernel may call.
fn helpers(writer: &mut Writer, together: bool) -> Vec<Node> {
    let mut nodes = Vec::new();
    for number in 0..writer.scope.rng.below(3) {
        let rng = &mut writer.scope.rng;
        let ret = *rng.pick(&[F32, F32, I32, I32, U32, F64, I64]);
        let params: Vec<Ty> = (0..1 + rng.below(3)).map(|_| *rng.pick(&[F32, F32, I32, I32, U32, F64])).collect();
        let name = format!("f{number}");
        let list: Vec<String> = params.iter().enumerate().map(|(i, p)| format!("{} x{i}", p.name())).collect();
        let kept = if rng.one_in(3) { "__noinline__ " } else { "" };
        for (i, p) in params.iter().enumerate() {
            writer.scope.vars.push(Var { name: format!("x{i}"), ty: *p, mutable: true, uniform: false, max: None });
        }
        writer.fuel = 6;
        writer.leave = Some(ret);
        let count = 1 + writer.scope.rng.below(3);
        let mut body = writer.statements(count);
        body.push(Node::pinned(format!("return {};", writer.scope.expr(ret, 2))));
        writer.leave = None;
        writer.scope.vars.clear();
        writer.scope.arrays.clear();
        let head = format!("__device__ {kept}{} {name}(const float* a, {}) {{", ret.name(), list.join(", "));
        nodes.push(Node::block(head, body, "}"));
        writer.scope.helpers.push(Helper { name, params, ret, warp: false });
    }
    if writer.scope.rng.one_in(10) {
        let body = vec![Node::pinned("return (m & 7) <= 0 ? x : deep(a, (m & 7) - 1, x * 3 + m);")];
        nodes.push(Node::block("__device__ int deep(const float* a, int m, int x) {", body, "}"));
        let params = vec![I32, I32];
        writer.scope.helpers.push(Helper { name: "deep".to_owned(), params, ret: I32, warp: false });
    }
    if together && writer.scope.rng.one_in(2) {
        let ty = *writer.scope.rng.pick(&[F32, I32]);
        let name = ty.name();
        let body = vec![
            Node::pinned("for (int o = 16; o > 0; o >>= 1) x += __shfl_xor_sync(0xffffffffu, x, o);"),
            Node::pinned("return x;"),
        ];
        nodes.push(Node::block(format!("__device__ {name} all_of_a_warp(const float* a, {name} x) {{"), body, "}"));
        let helper = Helper { name: "all_of_a_warp".to_owned(), params: vec![ty], ret: ty, warp: true };
        writer.scope.helpers.push(helper);
    }
    nodes
}

/// The kernel itself.
fn global(writer: &mut Writer, shape: &Shape) -> Node {
    writer.scope.kernel = true;
    writer.leave = Some(I32);
    writer.fuel = 4 + writer.scope.rng.below(26);
    let tid = "const int tid = ((int)threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;";
    let mut out = vec![Node::pinned(tid)];
    match shape.frame {
        Frame::Strided => {
            let head = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {";
            if !writer.scope.rng.one_in(3) {
                writer.leave = None;
            }
            let body = cells(writer, shape, Sync::None, true);
            out.push(Node::block(head, body, "}"));
        }
        Frame::Rows => {
            out.push(Node::pinned("const int col = blockIdx.x * blockDim.x + threadIdx.x;"));
            out.push(Node::pinned("const int row = blockIdx.y * blockDim.y + threadIdx.y;"));
            let own = "const int i = row * k + col;";
            if writer.scope.rng.one_in(2) {
                out.push(Node::pinned("if (col >= k || row >= n) return;"));
                out.push(Node::pinned(own));
                out.extend(cells(writer, shape, shape.sync, false));
            } else {
                let count = if shape.sync == Sync::Block { 1 + writer.scope.rng.below(5) } else { 0 };
                out.extend(writer.open(count, shape.sync));
                let mut body = vec![Node::pinned(own)];
                body.extend(cells(writer, shape, Sync::None, false));
                out.push(Node::block("if (col < k && row < n) {", body, "}"));
            }
        }
        Frame::All => {
            out.push(Node::pinned(own_cell(writer, shape)));
            out.extend(cells(writer, shape, shape.sync, false));
        }
        Frame::Return => {
            out.push(Node::pinned(own_cell(writer, shape)));
            out.push(Node::pinned("if (i >= n) return;"));
            out.extend(cells(writer, shape, shape.sync, true));
        }
        Frame::If => {
            out.push(Node::pinned(own_cell(writer, shape)));
            if shape.sync == Sync::Block {
                writer.scope.cell = true;
                let count = 1 + writer.scope.rng.below(8);
                out.extend(writer.open(count, shape.sync));
            }
            let (vars, arrays) = (writer.scope.vars.len(), writer.scope.arrays.len());
            let body = cells(writer, shape, Sync::None, true);
            writer.scope.vars.truncate(vars);
            writer.scope.arrays.truncate(arrays);
            out.push(Node::block("if (i < n) {", body, "}"));
            if shape.sync == Sync::Block && writer.scope.rng.one_in(2) {
                writer.scope.guarded = false;
                out.extend(writer.open(3, shape.sync));
                out.push(Node::block("if (i < n) {", results(writer), "}"));
            }
        }
    }
    let mut all: Vec<Node> = std::mem::take(&mut writer.shared).into_iter().map(Node::Pinned).collect();
    all.extend(out);
    Node::block(format!("__global__ void kernel({PARAMS}) {{"), all, "}")
}

/// The line that gives a thread its cell.
fn own_cell(writer: &mut Writer, shape: &Shape) -> &'static str {
    if !shape.flat {
        return "const int i = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * \
            (blockDim.x * blockDim.y * blockDim.z) + tid;";
    }
    let usual = [
        "int i = blockIdx.x * blockDim.x + threadIdx.x;",
        "unsigned i = threadIdx.x + blockDim.x * blockIdx.x;",
        "const int i = (int)(blockIdx.x * blockDim.x) + (int)threadIdx.x;",
    ];
    usual[writer.scope.rng.below(usual.len())]
}

/// Statements of threads that have a cell.
fn cells(writer: &mut Writer, shape: &Shape, sync: Sync, guarded: bool) -> Vec<Node> {
    writer.scope.cell = true;
    writer.scope.guarded = guarded;
    if shape.of == Of::Tiles {
        let span = writer.scope.span;
        return writer.tiles(inputs(span), shape.launch, shape.fault);
    }
    if shape.of == Of::Walks {
        let span = writer.scope.span;
        let astray = if shape.fault { writer.scope.rng.below(2) } else { 2 };
        return (0..2).map(|which| writer.walk(inputs(span), span, which == astray)).collect();
    }
    let plain = sync == Sync::None && writer.scope.rng.one_in(2);
    writer.scope.simple = plain && writer.scope.rng.below(4) > 0;
    let by_division = writer.scope.rng.one_in(4);
    let mut body = if by_division { writer.row_and_column(writer.scope.span) } else { Vec::new() };
    body.extend(writer.inputs());
    let count = 3 + writer.scope.rng.below(10);
    if plain {
        body.extend(writer.plain(count.div_ceil(2)));
    } else {
        body.extend(writer.open(count, sync));
    }
    if shape.frame == Frame::Rows && writer.scope.rng.one_in(2) {
        body.push(writer.product());
    }
    if by_division {
        let node = writer.by_rows();
        let at = 2 + writer.scope.rng.below(body.len() - 1);
        body.insert(at, node);
    }
    for made in [Writer::chosen, Writer::retyped] {
        if writer.scope.rng.one_in(6) {
            let node = made(writer);
            let at = writer.scope.rng.below(body.len() + 1);
            body.insert(at, node);
        }
    }
    if !shape.fault && writer.scope.rng.one_in(4) {
        let span = writer.scope.span;
        let node = writer.walk(inputs(span), span, false);
        let at = writer.scope.rng.below(body.len() + 1);
        body.insert(at, node);
    }
    if shape.fault {
        let span = writer.scope.span;
        let node = if writer.scope.rng.one_in(3) { fault(writer) } else { writer.walk(inputs(span), span, true) };
        let at = writer.scope.rng.below(body.len() + 1);
        body.insert(at, node);
    }
    body.extend(results(writer));
    writer.scope.simple = false;
    body
}

/// A statement that faults for some threads, on some data.
fn fault(writer: &mut Writer) -> Node {
    let rng = &mut writer.scope.rng;
    let bits = *rng.pick(&[1, 3, 15, 63]);
    let what = rng.below(bits + 1);
    let hit = format!("((p[i + {}] & {bits}) == {what})", rng.below(9));
    let (inputs, near) = (inputs(writer.scope.span), 1 + rng.below(writer.scope.span));
    let line = match rng.below(17) {
        10 => format!("y[i] += a[i + {}];", inputs - near),
        11 => format!("y[i] += a[(int)i - {}] * a[i];", 1 + rng.below(5)),
        12 => format!("r[i] = p[{} - (int)i];", near - 1),
        13 => format!("e[i] = d[i * 2 + {}];", inputs - 2 * near + rng.below(2)),
        // These arrays are a little too short.
        14 => "z[i] = q[i] + 1;".to_owned(),
        15 => "g[i] = (short)k;".to_owned(),
        // Misaligned.
        16 => format!("r[i] += *(const int*)((const char*)p + 4 * (i & 31) + {hit});"),
        0 => format!("r[i + {hit} * 100000] = 1;"),
        1 => format!("y[i] += a[i - {hit} * 90000];"),
        2 => format!("r[i] = p[i] / (p[i + 1] & {bits});"),
        3 => format!("r[i] = (int)(u[i] % (u[i + 3] & {bits}u));"),
        4 => "{ int t[4] = {1, 2, 3, 4}; r[i] += t[p[i] & 7]; }".to_owned(),
        5 => format!("assert(!{hit});"),
        6 => format!("if ({hit}) __trap();"),
        7 => format!("z[i] = (-9223372036854775807LL - 1) / (p[i] % 2 - {});", rng.below(2)),
        8 => format!("if ({hit}) e[i - 5000000000LL] = 1.0;"),
        _ => {
            writer.shared.push("__shared__ int mf[32];".to_owned());
            format!("mf[tid % 30 + {hit} * 7] = 1;")
        }
    };
    match writer.scope.rng.below(4) {
        0 => Node::block("for (int o = 0; o < 3; o++) {", vec![Node::line(line)], "}"),
        1 => Node::block("if (n > 2) {", vec![Node::line(line)], "}"),
        _ => Node::line(line),
    }
}

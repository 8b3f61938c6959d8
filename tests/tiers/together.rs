//! Statements in which threads meet: barriers, shared memory, atomics, warp functions.

use super::stmt::{FULL, Sync, Writer};
use super::text::Node;
use super::ty::Ty::{Bool, F32, F64, I32, I64, U8, U16, U32, U64};
use super::ty::Var;

impl Writer {
    /// An atomic on integers, so that the order makes no difference; each operation has cells of its own.
    pub fn atomic(&mut self) -> Node {
        let cell = format!("({} & 15)", self.expr(I32));
        let value = self.expr(I32);
        Node::line(match self.below(6) {
            0 | 1 => format!("atomicAdd(&h[{cell}], {value});"),
            2 => format!("atomicMin(&h[16 + {cell}], {value});"),
            3 => format!("atomicMax(&h[32 + {cell}], {value});"),
            4 => format!("atomicXor(&h[48 + {cell}], {value});"),
            _ => format!("atomicOr(&h[64 + {cell}], {value});"),
        })
    }

    /// An operation of the threads of a block together.
    pub fn together(&mut self) -> Node {
        let threads = self.scope.threads;
        match self.below(7) {
            0..=3 => {
                let ty = *self.scope.rng.pick(&[F32, F32, I32, U32, F64, I64, U8, U16]);
                let shared = self.name("m");
                self.shared.push(format!("__shared__ {} {shared}[{threads}];", ty.name()));
                let value = self.expr(ty);
                let from = match self.below(6) {
                    0 => format!("{} - tid", threads - 1),
                    1 => format!("(tid + {}) % {threads}", 1 + self.below(threads)),
                    2 => (self.below(threads)).to_string(),
                    3 => format!("(tid ^ 1) < {threads} ? (tid ^ 1) : tid"),
                    4 => "tid".to_owned(),
                    _ => format!("(int)({} % {threads}u)", self.expr(U32)),
                };
                let name = self.name("v");
                let read = format!("{} {name} = {shared}[{from}];", ty.name());
                self.add(&name, ty, true, None);
                Node::Group(vec![
                    Node::pinned(format!("{shared}[tid] = {value};")),
                    Node::pinned("__syncthreads();"),
                    Node::pinned(read),
                    Node::pinned("__syncthreads();"),
                ])
            }
            4 => {
                let shared = self.name("m");
                self.shared.push(format!("__shared__ int {shared}[8];"));
                let (at, value) = (self.expr(I32), self.expr(I32));
                let op = *self.scope.rng.pick(&["atomicAdd", "atomicMin", "atomicMax", "atomicXor"]);
                let from = self.small(I32);
                let name = self.name("v");
                self.add(&name, I32, true, None);
                Node::Group(vec![
                    Node::pinned(format!("for (int o = tid; o < 8; o += {threads}) {shared}[o] = o * 3;")),
                    Node::pinned("__syncthreads();"),
                    Node::line(format!("{op}(&{shared}[{at} & 7], {value});")),
                    Node::pinned("__syncthreads();"),
                    Node::pinned(format!("int {name} = {shared}[{from} & 7];")),
                    Node::pinned("__syncthreads();"),
                ])
            }
            _ => {
                let op = *self.scope.rng.pick(&["__syncthreads_count", "__syncthreads_and", "__syncthreads_or"]);
                let pred = self.expr(Bool);
                let name = self.name("c");
                self.scope.vars.push(Var { name: name.clone(), ty: I32, mutable: false, uniform: true, max: None });
                Node::line(format!("const int {name} = {op}({pred});"))
            }
        }
    }

    /// An operation of a warp's lanes together.
    pub fn warp(&mut self) -> Node {
        let name = self.name("v");
        let width = *self.scope.rng.pick(&["", "", "", ", 16", ", 8", ", 4"]);
        let (ty, e) = match self.below(12) {
            0..=3 => {
                let ty = *self.scope.rng.pick(&[F32, I32, U32, F64, I64, U64]);
                let (value, by) = (self.expr(ty), self.below(32));
                let kind = *self.scope.rng.pick(&["up_", "down_", "xor_", ""]);
                let by = if self.one_in(4) { format!("{} & 31", self.small(I32)) } else { by.to_string() };
                (ty, format!("__shfl_{kind}sync({FULL}, {value}, {by}{width})"))
            }
            4 => (U32, format!("__ballot_sync({FULL}, {})", self.expr(Bool))),
            5 => (I32, format!("__any_sync({FULL}, {})", self.expr(Bool))),
            6 => (I32, format!("__all_sync({FULL}, {})", self.expr(Bool))),
            7 => {
                let ty = *self.scope.rng.pick(&[I32, U32]);
                let op = *self.scope.rng.pick(&["add", "min", "max"]);
                (ty, format!("__reduce_{op}_sync({FULL}, {})", self.expr(ty)))
            }
            8 => {
                let op = *self.scope.rng.pick(&["and", "or", "xor"]);
                (U32, format!("__reduce_{op}_sync({FULL}, {})", self.expr(U32)))
            }
            9 => {
                let ty = *self.scope.rng.pick(&[I32, U32, U64]);
                (U32, format!("__match_any_sync({FULL}, {} & 3)", self.expr(ty)))
            }
            10 if self.parts => return self.part_of_a_warp(&name),
            _ => {
                let warp: Vec<_> = self.scope.helpers.iter().filter(|h| h.warp).cloned().collect();
                if warp.is_empty() {
                    (F32, format!("__shfl_xor_sync({FULL}, {}, 1)", self.expr(F32)))
                } else {
                    let helper = self.scope.rng.pick(&warp).clone();
                    (helper.ret, self.scope.call(&helper, 1))
                }
            }
        };
        self.add(&name, ty, true, None);
        Node::line(format!("{} {name} = {e};", ty.name()))
    }

    /// A statement for those lanes for which a condition holds.
    fn part_of_a_warp(&mut self, name: &str) -> Node {
        let (mask, holds) = (self.name("b"), self.name("b"));
        let pred = self.expr(Bool);
        let value = self.expr(F32);
        let count = self.below(2);
        let mut body = vec![Node::pinned(format!("{name} += __shfl_sync({mask}, {value}, __ffs({mask}) - 1);"))];
        body.extend(self.body(count, Sync::None));
        self.add(name, F32, true, None);
        Node::Group(vec![
            Node::pinned(format!("bool {holds} = {pred};")),
            Node::pinned(format!("unsigned {mask} = __ballot_sync({FULL}, {holds});")),
            Node::pinned(format!("float {name} = 1.5f;")),
            Node::block(format!("if ({holds}) {{"), body, "}"),
        ])
    }
}

//! Grid-stride loops: the same results at every size and however blocks are shared out, and the right fault.

use std::time::Duration;

use super::build::*;
use crate::back::{FaultKind, LaunchConfig, RawArg};
use crate::ir::{FuncId, Module};
use crate::source::SourceMap;
use crate::{front, pass};

fn cuda(text: &str) -> Module {
    let (mut module, diags) = front::compile(&mut SourceMap::default(), "t.cu", text, &front::Options::default());
    assert!(diags.is_empty(), "{diags:?}");
    pass::prepare_for_cpu(&mut module);
    assert!(pass::stride::find(&module.functions[0]).is_some(), "{module}");
    module
}

const EACH: &str = "__global__ void each(const int* x, int* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 3 * x[i] + y[i];
}";

#[test]
fn every_element_is_visited_once_at_every_size() {
    let code = compile_module(&cuda(EACH));
    for n in [0usize, 1, 36, 37, 38, 480, 481, 482, 9973] {
        let x: Vec<i32> = (0..n as i32).map(|i| i * 7 - 100).collect();
        let expected: Vec<i32> = x.iter().map(|x| 3 * x + 1).chain([1, 1]).collect();
        for grid in 1..=13 {
            for (serial, block) in [(true, 37), (false, 37), (false, 1), (false, 64)] {
                let mut y = vec![1; n + 2];
                let args = [read_only(&x), buffer(&mut y), RawArg::Scalar(n as u64)];
                let config = LaunchConfig { serial, ..LaunchConfig::new(grid, block) };
                let outcome = code.launch(FuncId::new(0), &args, &config);
                assert_eq!(outcome.fault, None);
                assert!(y == expected, "{n} elements, {grid} blocks of {block}, serial: {serial}");
            }
        }
    }
}

#[test]
fn rows_of_flat_blocks_each_walk_their_own_part() {
    let code = compile_module(&cuda(
        "__global__ void rows(int* y, int width, int height) {
            int row = blockIdx.y * blockDim.y + threadIdx.y;
            int first = row < height ? blockIdx.x * blockDim.x + threadIdx.x : width;
            for (int i = first; i < width; i += gridDim.x * blockDim.x) y[row * width + i] += row * 1000 + i;
        }",
    ));
    let (width, height) = (101, 23);
    for serial in [true, false] {
        let mut y = vec![0; width * height];
        let args = [buffer(&mut y), RawArg::Scalar(width as u64), RawArg::Scalar(height as u64)];
        let config = LaunchConfig { serial, ..LaunchConfig::new((3, 7), (9, 4)) };
        assert_eq!(code.launch(FuncId::new(0), &args, &config).fault, None);
        assert!(y.iter().enumerate().all(|(i, v)| *v == (i / width * 1000 + i % width) as i32));
    }
}

#[test]
fn the_fault_is_the_lowest_blocks_even_if_another_comes_rounds_earlier() {
    // Block 5 faults in its first round, block 2 in its third round.
    let code = compile_module(&cuda(
        "__global__ void late(int* y, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                y[i == 5 * 32 + 7 || i == 2 * 8 * 32 + 2 * 32 + 9 ? -1 - i : i] = i;
        }",
    ));
    for serial in [true, false, false, false] {
        let mut y = vec![0; 8 * 32 * 4];
        let args = [buffer(&mut y), RawArg::Scalar(8 * 32 * 4)];
        let config = LaunchConfig { serial, ..LaunchConfig::new(8, 32) };
        let fault = code.launch(FuncId::new(0), &args, &config).fault.expect("it writes out of bounds");
        assert_eq!((fault.kind, fault.block, fault.thread), (FaultKind::OutOfBoundsWrite, [2, 0, 0], [9, 0, 0]));
        assert!((0..64).all(|i| y[i] == i as i32), "blocks 0 and 1 ran");
    }
}

#[test]
fn the_fault_is_the_lowest_threads_even_if_another_comes_rounds_earlier() {
    // In block 1 thread (20, 2) faults in the first round, (5, 2) in the second, (9, 1) in the third and (30, 0) in the
    // last of 4; thread 6 of the row of (5, 2) faults in the third as well. Run one after the other, (30, 0) comes first.
    let source = "__global__ void late(int* y, int n, int first) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
                int round = i / (gridDim.x * blockDim.x), x = threadIdx.x, row = threadIdx.y;
                bool bad = round == 0 && x == 20 && row == 2 || round == 1 && x == 5 && row == 2
                    || round == 2 && (x == 6 && row == 2 || x == 9 && row == 1) || round == 3 && x == 30 && row == first;
                y[blockIdx.x == 1 && bad ? -1 - i : i] = i;
            }
        }";
    let code = compile_module(&cuda(source));
    for (first, wanted) in [(0, [30, 0, 0]), (1, [9, 1, 0]), (7, [9, 1, 0])] {
        for serial in [true, false] {
            let mut y = vec![0; 2 * 32 * 4];
            let args = [buffer(&mut y), RawArg::Scalar(2 * 32 * 4), RawArg::Scalar(first)];
            let config = LaunchConfig { serial, ..LaunchConfig::new(2, (32, 3)) };
            let fault = code.launch(FuncId::new(0), &args, &config).fault.expect("it writes out of bounds");
            assert_eq!((fault.block, fault.thread), ([1, 0, 0], wanted), "first {first}");
        }
    }
    // The lower thread of two in a row is reported, of which the higher faults rounds earlier.
    let code = compile_module(&cuda(&source.replace("row == 1", "row == 9").replace("&& row == first", "&& row == 9")));
    let mut y = vec![0; 2 * 32 * 4];
    let args = [buffer(&mut y), RawArg::Scalar(2 * 32 * 4), RawArg::Scalar(0)];
    let fault =
        code.launch(FuncId::new(0), &args, &LaunchConfig::new(2, (32, 3))).fault.expect("it writes out of bounds");
    assert_eq!((fault.block, fault.thread), ([1, 0, 0], [5, 2, 0]));
}

#[test]
fn numbers_near_the_end_of_their_type_take_the_plain_way() {
    let code = compile_module(&cuda(
        "__global__ void far(int* y, int first, int n, int stride) {
            for (int i = first + threadIdx.x; i < n; i += stride) y[i - first] = i;
        }",
    ));
    let run = |first: i32, n: i32, stride: i32| {
        let mut y = vec![0; 4];
        let words = [first, n, stride].map(|x| RawArg::Scalar(u64::from(x as u32)));
        let config = LaunchConfig { timeout: Some(Duration::from_millis(100)), ..LaunchConfig::new(1, 2) };
        let outcome = code.launch(FuncId::new(0), &[buffer(&mut y), words[0], words[1], words[2]], &config);
        (y, outcome.fault.map(|f| (f.kind, f.thread[0])))
    };
    let max = i32::MAX;
    assert_eq!(run(max - 8, max - 5, 2), (vec![max - 8, max - 7, max - 6, 0], None));
    // The step past the bound wraps and the loop goes on below zero, as it does in a thread on its own.
    assert_eq!(run(max - 1, max, 4), (vec![max - 1, 0, 0, 0], Some((FaultKind::OutOfBoundsWrite, 0))));
    assert_eq!(run(0, 1, 0), (vec![0; 4], Some((FaultKind::Timeout, 0))));
    assert_eq!(run(1, 0, -1), (vec![0; 4], None));
}

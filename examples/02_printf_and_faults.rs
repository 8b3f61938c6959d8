//! `printf` in thread order, and what a fault looks like: the place in the text, the thread, the buffer.
//!
//! `cargo run --example 02_printf_and_faults`

use std::time::Duration;

use workbench::prelude::*;
use workbench::runtime::FaultKind;

const SRC: &str = r#"
__global__ void hello(const float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    printf("thread %d of block %d has %5.2f\n", threadIdx.x, blockIdx.x, x[i]);
}

__global__ void scale(float* x, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i] * factor;
}

__global__ void spin(const int* flag) {
    while (*flag == 0) { }
}
"#;

fn main() -> Result<()> {
    let program = wb::compile(SRC)?;

    let mut x = array![0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5];
    let report = program.kernel("hello")?.launch(2, 3).arg(&x).run()?;
    print!("{}", report.text());
    assert_eq!(report.output.len(), 6);

    // Eight threads, six elements: the seventh thread reads past the end, and the launch says so.
    match program.kernel("scale")?.launch(1, 8).arg(&mut x).arg(2.0f32).run() {
        Err(Error::Fault(fault)) => {
            println!("\n{fault}");
            assert_eq!(fault.kind, FaultKind::OutOfBoundsRead);
            assert_eq!(fault.thread, [6, 0, 0]);
        }
        other => panic!("a fault was expected, not {other:?}"),
    }

    // A loop that never ends stops at its timeout.
    let flag = array![0i32];
    match program.kernel("spin")?.launch(1, 1).arg(&flag).timeout(Duration::from_millis(200)).run() {
        Err(Error::Fault(fault)) => {
            println!("\n{fault}");
            assert_eq!(fault.kind, FaultKind::Timeout);
        }
        other => panic!("a timeout was expected, not {other:?}"),
    }

    // A text that does not compile is shown with its place.
    if let Err(error) = wb::compile("__global__ void f(float* x) { x[0] = yy; }") {
        println!("\n{error}");
    }
    Ok(())
}

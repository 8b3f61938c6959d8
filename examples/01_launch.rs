//! Compile a kernel and launch it on ndarray arrays.
//!
//! `cargo run --example 01_launch`

use workbench::prelude::*;

const SRC: &str = r"
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
";

fn main() -> Result<()> {
    let program = wb::compile(SRC)?;
    let saxpy = program.kernel("saxpy")?;
    println!("{}", saxpy.signature());

    let n = 1000;
    let x = Array1::from_iter((0..n).map(|i| i as f32));
    let mut y = Array1::from_elem(n, 1.0f32);
    saxpy.launch(n.div_ceil(256) as u32, 256).arg(2.0f32).arg(&x).arg(&mut y).arg(n as i32).run()?;

    let expected = x.mapv(|x| 2.0 * x + 1.0);
    assert_eq!(y, expected);
    println!("y[..4] = {}", y.slice(ndarray::s![..4]));
    Ok(())
}

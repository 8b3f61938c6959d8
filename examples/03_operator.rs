//! An operator with a shape, a reference and a gradient: called, checked, and its gradient checked in float64.
//!
//! `cargo run --example 03_operator`

use workbench::check::samples;
use workbench::prelude::*;

const SRC: &str = include_str!("../kernels/elementwise/gelu.cu");

/// The formula in double precision.
fn reference(x: ArrayViewD<f64>) -> ArrayD<f64> {
    let k = (2.0 / std::f64::consts::PI).sqrt();
    x.mapv(|x| 0.5 * x * (1.0 + (k * (x + 0.044_715 * x * x * x)).tanh()))
}

fn main() -> Result<()> {
    let gelu = Op::new("lab::gelu(Tensor x) -> Tensor").source(SRC).kernel("gelu").shape("x[n] -> y[n]").build()?;
    let gelu_backward = Op::new("lab::gelu_backward(Tensor x, Tensor grad) -> Tensor")
        .source(SRC)
        .kernel("gelu_backward")
        .shape("x[n], grad[n] -> grad_x[n]")
        .build()?;
    println!("{}", gelu.binding());

    let y: ArrayD<f32> = gelu.call((&array![-1.0f32, 0.0, 1.0],))?.into_array()?;
    println!("gelu([-1, 0, 1]) = {y}");

    let x = samples::sample(DType::Float32, &[10_007], 0)?;
    let report = gelu.check((&x,), reference)?;
    print!("{report}");
    assert!(report.passed);

    gelu.register_autograd(
        |ctx, inputs, _| ctx.save_for_backward(inputs.iter().cloned()),
        move |ctx, grads| {
            let grad = gelu_backward.call((ctx.saved_tensors()[0], &grads[0]))?;
            Ok(grad.tensors.into_iter().map(Some).collect())
        },
    );
    let x = samples::sample(DType::Float32, &[24], 1)?;
    let report = gelu.gradcheck((&x,), GradOptions::default())?;
    print!("{report}");
    assert!(report.passed && report.precision == "float64");

    // A slip in a constant: the check says where it shows, and which thread wrote it.
    let wrong = Op::new("lab::gelu_slip(Tensor x) -> Tensor")
        .source(SRC.replace("0.044715f", "0.44715f"))
        .kernel("gelu")
        .shape("x[n] -> y[n]")
        .build()?;
    let report = wrong.check((&x,), reference)?;
    print!("{report}");
    assert!(!report.passed);
    Ok(())
}

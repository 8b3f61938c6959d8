//! Tests of gradients of real kernels: registered, pulled back, compared with finite differences.

use super::*;
use crate::ops::{Op, OwnedArg};
use crate::runtime::{DType, Result, Tensor};

const SQUARE: &str = "__global__ void square(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}";

const BACKWARD: &str = "__global__ void back(const float* x, const float* g, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = FACTOR * x[i] * g[i];
}";

fn forward(name: &str, source: &str) -> Op {
    Op::new(format!("test_grad::{name}(Tensor x) -> Tensor")).source(source).shape("x[n] -> y[n]").build().unwrap()
}

/// Registers `factor * x * g`, computed by an operator of its own.
fn with_gradient(op: &Op, name: &str, factor: &str) {
    let schema = format!("test_grad::{name}(Tensor x, Tensor g) -> Tensor");
    let source = BACKWARD.replace("FACTOR", factor);
    let back = Op::new(schema).source(source).shape("x[n], g[n] -> dx[n]").build().unwrap();
    op.register_autograd(
        |ctx, inputs, _| ctx.save_for_backward(inputs.iter().cloned()),
        move |ctx, grads| {
            let [x] = ctx.saved_tensors()[..] else { panic!("one array was saved") };
            Ok(vec![Some(back.call((x, &grads[0]))?.tensors.remove(0))])
        },
    );
}

fn x() -> Tensor {
    Tensor::from_slice(&[3], &[0.5f32, -1.5, 2.0]).unwrap()
}

#[test]
fn a_pullback_turns_output_gradients_into_input_gradients() {
    let op = forward("pull", SQUARE);
    with_gradient(&op, "pull_back", "2.0f");
    let (out, pullback) = op.vjp((&x(),)).unwrap();
    assert_eq!(out.tensors[0].to_f64_vec(), [0.25, 2.25, 4.0]);
    let grads = pullback.call(&[Tensor::from_slice(&[3], &[1.0f32, 10.0, 100.0]).unwrap()]).unwrap();
    assert_eq!(grads[0].as_ref().unwrap().to_f64_vec(), [1.0, -30.0, 400.0]);
    let short = pullback.call(&[Tensor::zeros(DType::Float32, &[2])]).unwrap_err().to_string();
    assert_eq!(short, "`test_grad::pull`: the gradient of output 0 has shape [2], and the output [3]");
    assert!(pullback.call(&[]).unwrap_err().to_string().contains("has 1 output, and 0 gradients came"));
}

#[test]
fn an_operator_without_a_gradient_says_so() {
    let op = forward("none", SQUARE);
    let wanted = "`test_grad::none` has no gradient; register one with register_autograd";
    assert_eq!(op.vjp((&x(),)).err().unwrap().to_string(), wanted);
    assert_eq!(op.gradcheck((&x(),), GradOptions::default()).unwrap_err().to_string(), wanted);
}

#[test]
fn float_kernels_are_checked_in_float64() {
    let op = forward("wide", SQUARE);
    with_gradient(&op, "wide_back", "2.0f");
    let report = op.gradcheck((&x(),), GradOptions::default()).unwrap();
    assert!(report.passed && report.precision == "float64" && report.compared == 9, "{report}");
    // A gradient wrong by one part in a thousand would hide in float32.
    with_gradient(&op, "wide_back", "2.01f");
    let report = op.gradcheck((&x(),), GradOptions::default()).unwrap();
    let worst = report.worst.as_ref().unwrap();
    assert!(!report.passed && worst.input_index == [2] && worst.output_index == [2], "{report}");
    // The operators themselves are unchanged: float64 is refused outside the check.
    assert!(op.call((&x().cast(DType::Float64).unwrap(),)).is_err());
}

#[test]
fn punned_bits_are_checked_in_float32_and_the_report_says_why() {
    let source = "__global__ void punned(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = __int_as_float(__float_as_int(x[i])) * x[i];
    }";
    let op = forward("punned", source);
    with_gradient(&op, "punned_back", "2.0f");
    let report = op.gradcheck((&x(),), GradOptions::default()).unwrap();
    assert!(report.passed && report.precision.starts_with("float32 ("), "{report}");
    assert_eq!(report.options, GradOptions::float32());
}

#[test]
fn integer_arguments_take_no_gradient() {
    let source = "__global__ void pick(const float* x, const int* i, float* y, int n) {
        int t = blockIdx.x * blockDim.x + threadIdx.x; if (t < n) y[t] = x[t] * i[t]; }";
    let op = Op::new("test_grad::pick(Tensor x, Tensor i) -> Tensor").source(source).shape("x[n], i[n] -> y[n]");
    let op = op.build().unwrap();
    op.register_autograd(
        |ctx, inputs, _| {
            assert_eq!(ctx.needs_input_grad(), [true, false]);
            ctx.save_for_backward(inputs[1..].iter().cloned());
        },
        |ctx, grads| -> Result<Vec<Option<Tensor>>> {
            let scale = ctx.saved_tensors()[0].to_f64_vec();
            let dx: Vec<f64> = grads[0].to_f64_vec().iter().zip(scale).map(|(g, s)| g * s).collect();
            Ok(vec![Some(Tensor::from_f64(grads[0].dtype(), grads[0].shape(), &dx)?), None])
        },
    );
    let i = Tensor::from_slice(&[3], &[1i32, 2, 3]).unwrap();
    let args = vec![OwnedArg::from(x()), OwnedArg::from(i)];
    let report = op.gradcheck(args, GradOptions::default()).unwrap();
    assert!(report.passed && report.max_error.len() == 1, "{report}");
}

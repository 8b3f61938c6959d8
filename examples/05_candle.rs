//! A small network in candle whose activation is an operator typed here: forward and backward are kernels.
//!
//! `cargo run --release --example 05_candle --features candle`

use candle_core::{DType as CandleType, Device as CandleDevice, Tensor as CandleTensor, Var};
use workbench::candle::CandleOp;
use workbench::prelude::*;

/// SiLU, `x * sigmoid(x)`: Elfwing, Uchibe and Doya, 2017. Its derivative is `s + x * s * (1 - s)` with `s = sigmoid(x)`.
const SRC: &str = "
    __global__ void silu(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = x[i] / (1.0f + expf(-x[i]));
    }
    __global__ void silu_backward(const float* grad, const float* x, float* grad_x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {
            float s = 1.0f / (1.0f + expf(-x[i]));
            grad_x[i] = grad[i] * (s + x[i] * s * (1.0f - s));
        }
    }
";

fn operator() -> Result<Op> {
    let silu = Op::new("lab::silu(Tensor x) -> Tensor").source(SRC).kernel("silu").shape("x[*] -> y[*]").build()?;
    let backward = Op::new("lab::silu_backward(Tensor grad, Tensor x) -> Tensor")
        .source(SRC)
        .kernel("silu_backward")
        .shape("grad[*], x[*] -> grad_x[*]")
        .build()?;
    silu.register_backward(&backward, &["x"], &["x"])?;
    let sample = workbench::check::samples::sample(DType::Float32, &[24], 1)?;
    assert!(silu.gradcheck((&sample,), GradOptions::default())?.passed);
    Ok(silu)
}

/// The mean squared error of the network on `sin(3x)`, at the start and after `steps` of gradient descent.
fn train(silu: &Op, steps: usize) -> candle_core::Result<(f32, f32)> {
    let (hidden, points) = (32, 64);
    let silu = CandleOp::new(silu);
    let device = CandleDevice::Cpu;
    let xs: Vec<f32> = (0..points).map(|i| i as f32 / points as f32 * 2.0 - 1.0).collect();
    let ys: Vec<f32> = xs.iter().map(|x| (3.0 * x).sin()).collect();
    let x = CandleTensor::from_vec(xs, (points, 1), &device)?;
    let y = CandleTensor::from_vec(ys, (points, 1), &device)?;
    // Spread evenly rather than at random: the example is the same each time.
    let spread = |n: usize, scale: f32| (0..n).map(move |i| scale * ((i as f32 * 0.618_034).fract() * 2.0 - 1.0));
    let first = Var::from_vec(spread(hidden, 4.0).collect(), (1, hidden), &device)?;
    let bias = Var::from_vec(spread(hidden, 2.0).collect(), (1, hidden), &device)?;
    let second = Var::from_vec(spread(hidden, 0.2).collect(), (hidden, 1), &device)?;
    let mut losses = Vec::new();
    for _ in 0..=steps {
        let before = x.matmul(&first)?.broadcast_add(&bias)?;
        let out = silu.apply(&[&before])?.matmul(&second)?;
        let loss = (out - &y)?.sqr()?.mean_all()?;
        losses.push(loss.to_dtype(CandleType::F32)?.to_scalar::<f32>()?);
        let grads = loss.backward()?;
        for var in [&first, &bias, &second] {
            if let Some(grad) = grads.get(var) {
                var.set(&(var.as_tensor() - (grad * 0.02)?)?)?;
            }
        }
    }
    Ok((losses[0], losses[steps]))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (before, after) = train(&operator()?, 500)?;
    println!("mean squared error: {before:.4} before, {after:.4} after 500 steps");
    assert!(after < before / 20.0);
    Ok(())
}

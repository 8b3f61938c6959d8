//! Operators as candle's custom operators: values against candle's own, gradients against its own, and bad input.

use candle_core::{DType as CandleType, Device as CandleDevice, Tensor as CandleTensor, Var};
use workbench::candle::CandleOp;
use workbench::ops::Op;

const SRC: &str = "
    __global__ void mul(const float* a, const float* b, float by, float* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = a[i] * b[i] * by;
    }
    __global__ void mul_backward(const float* g, const float* a, const float* b, float by, float* ga, float* gb, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { ga[i] = g[i] * b[i] * by; gb[i] = g[i] * a[i] * by; }
    }
    __global__ void cube(const double* x, double* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i] * x[i];
    }
    __global__ void cube_backward(const double* g, const double* x, double* gx, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) gx[i] = 3 * x[i] * x[i] * g[i];
    }
    __global__ void cube_backward_backward(const double* gg, const double* g, const double* x, double* gg_g, double* g_x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) { gg_g[i] = gg[i] * 3 * x[i] * x[i]; g_x[i] = gg[i] * 6 * x[i] * g[i]; }
    }
    __global__ void ends(const long long* x, const float* scale, long long* low, float* high, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { low[i] = x[i]; high[i] = scale ? x[i] * scale[0] : x[i]; }
    }
    __global__ void outside(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x + n]; }
    __global__ void halve_(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 0.5f; }
";

fn op(schema: &str, kernel: &str, shape: &str) -> Op {
    let builder = Op::new(schema).source(SRC).kernel(kernel);
    let builder = if shape.is_empty() { builder } else { builder.shape(shape) };
    builder.build().unwrap_or_else(|e| panic!("{e}"))
}

fn mul() -> Op {
    let mul = op("candle::mul(Tensor a, Tensor b, float by=1.0) -> Tensor", "mul", "a[*], b[*] -> out[*]");
    let backward = op(
        "candle::mul_backward(Tensor g, Tensor a, Tensor b, float by) -> (Tensor, Tensor)",
        "mul_backward",
        "g[*], a[*], b[*] -> ga[*], gb[*]",
    );
    mul.register_backward(&backward, &["a", "b", "by"], &["a", "b"]).expect("it fits");
    mul
}

/// A matrix of different numbers.
fn numbers(rows: usize, columns: usize, seed: f32) -> CandleTensor {
    let data: Vec<f32> = (0..rows * columns).map(|i| (i as f32 * seed).sin()).collect();
    CandleTensor::from_vec(data, (rows, columns), &CandleDevice::Cpu).expect("it fits")
}

fn flat(tensor: &CandleTensor) -> Vec<f64> {
    let tensor = tensor.to_dtype(CandleType::F64).and_then(|t| t.flatten_all()).expect("numbers");
    tensor.to_vec1().expect("one dimension")
}

#[test]
fn values_and_gradients_are_candles() -> candle_core::Result<()> {
    let (a, b) = (Var::from_tensor(&numbers(7, 13, 0.7))?, Var::from_tensor(&numbers(7, 13, 1.3))?);
    let ours = CandleOp::new(&mul()).with("by", 3.0).apply(&[&a, &b])?;
    let theirs = ((a.as_tensor() * b.as_tensor())? * 3.0)?;
    assert_eq!(ours.dims(), [7, 13]);
    assert_eq!(flat(&ours), flat(&theirs));
    let weights = numbers(7, 13, 0.3);
    let (ours, theirs) = ((ours * &weights)?.sum_all()?.backward()?, (theirs * &weights)?.sum_all()?.backward()?);
    for var in [&a, &b] {
        let [mine, other] = [&ours, &theirs].map(|g| flat(g.get(var).expect("it has one")));
        // Two products in another order: an error of two units of 2^-24.
        for (x, y) in mine.iter().zip(&other) {
            assert!((x - y).abs() <= 2.4e-7 * y.abs(), "{x} {y}");
        }
    }
    Ok(())
}

#[test]
fn arguments_lie_anyhow() -> candle_core::Result<()> {
    let mul = CandleOp::new(&mul());
    let a = numbers(5, 9, 0.7);
    for (x, y) in [
        (a.t()?, a.t()?.contiguous()?),
        (a.narrow(1, 2, 3)?, a.narrow(1, 2, 3)?.contiguous()?),
        (a.narrow(0, 1, 3)?, a.narrow(0, 1, 3)?.contiguous()?),
        (a.narrow(1, 0, 1)?.broadcast_as((5, 4))?, a.narrow(1, 0, 1)?.broadcast_as((5, 4))?.contiguous()?),
        (a.narrow(0, 0, 0)?, a.narrow(0, 0, 0)?),
    ] {
        let made = mul.apply(&[&x, &y])?;
        assert_eq!(made.dims(), x.dims());
        assert_eq!(flat(&made), flat(&x.sqr()?));
    }
    Ok(())
}

#[test]
fn gradients_of_gradients() -> candle_core::Result<()> {
    let cube = op("candle::cube(Tensor x) -> Tensor", "cube", "x[*] -> y[*]");
    let backward = op("candle::cube_backward(Tensor g, Tensor x) -> Tensor", "cube_backward", "g[*], x[*] -> gx[*]");
    let twice = op(
        "candle::cube_twice(Tensor gg, Tensor g, Tensor x) -> (Tensor, Tensor)",
        "cube_backward_backward",
        "gg[*], g[*], x[*] -> gg_g[*], g_x[*]",
    );
    cube.register_backward(&backward, &["x"], &["x"]).expect("it fits");
    backward.register_backward(&twice, &["g", "x"], &["g", "x"]).expect("it fits");
    let x = Var::from_vec(vec![0.5f64, -2.0, 3.0], 3, &CandleDevice::Cpu)?;
    let first = CandleOp::new(&cube).apply(&[&x])?.sum_all()?.backward()?;
    let first = first.get(&x).expect("it has one").clone();
    assert_eq!(flat(&first), [0.75, 12.0, 27.0]);
    // candle keeps no graph of gradients, so the second gradient is that of the backward operator itself.
    let ones = Var::ones(3, CandleType::F64, &CandleDevice::Cpu)?;
    let second = CandleOp::new(&backward).apply(&[&ones, &x])?.sum_all()?.backward()?;
    assert_eq!(flat(second.get(&x).expect("it has one")), [3.0, -12.0, 18.0]);
    assert_eq!(flat(second.get(&ones).expect("it has one")), [0.75, 12.0, 27.0]);
    Ok(())
}

#[test]
fn closures_of_rust_serve_as_backward() -> candle_core::Result<()> {
    let cube = op("candle::cube_closure(Tensor x) -> Tensor", "cube", "x[*] -> y[*]");
    cube.register_autograd(
        |ctx, inputs, _| ctx.save_for_backward(inputs.iter().cloned()),
        |ctx, grads| {
            let x = ctx.saved_tensors()[0].to_array::<f64>()?;
            let grad = grads[0].to_array::<f64>()?;
            Ok(vec![Some(workbench::runtime::Tensor::from_array(&(&x * &x * 3.0 * &grad)))])
        },
    );
    let x = Var::from_vec(vec![0.5f64, -2.0], 2, &CandleDevice::Cpu)?;
    let grads = CandleOp::new(&cube).apply(&[&x])?.sum_all()?.backward()?;
    assert_eq!(flat(grads.get(&x).expect("it has one")), [0.75, 12.0]);
    Ok(())
}

#[test]
fn several_outputs_types_and_optionals() -> candle_core::Result<()> {
    let ends = op(
        "candle::ends(Tensor x, Tensor? scale=None) -> (Tensor, Tensor)",
        "ends",
        "x[n], scale[1] -> low[n], high[n]",
    );
    let x = CandleTensor::from_vec(vec![1i64, -5, 7], 3, &CandleDevice::Cpu)?;
    let scale = CandleTensor::from_vec(vec![0.5f32], 1, &CandleDevice::Cpu)?;
    let ends = CandleOp::new(&ends);
    assert_eq!(ends.clone().output(0).apply(&[&x])?.to_vec1::<i64>()?, [1, -5, 7]);
    assert_eq!(ends.clone().output(1).apply(&[&x, &scale])?.to_vec1::<f32>()?, [0.5, -2.5, 3.5]);
    let wrong = |op: CandleOp, part: &str| {
        let message = op.apply(&[&x]).expect_err(part).to_string();
        assert!(message.contains(part), "{message}");
    };
    wrong(ends.clone(), "it has 2 outputs; say which with .output(k)");
    wrong(ends.output(2), "it has no output 2: it has 2");
    Ok(())
}

#[test]
fn errors_are_the_operators() -> candle_core::Result<()> {
    let mul = CandleOp::new(&mul());
    let (a, b) = (numbers(2, 3, 0.5), numbers(3, 2, 0.5));
    let wrong = |made: candle_core::Result<CandleTensor>, part: &str| {
        let message = made.expect_err(part).to_string();
        assert!(message.contains(part), "{message}");
    };
    wrong(mul.apply(&[&a, &b]), "`b` has shape (3, 2), and the other arrays have (2, 3)");
    wrong(mul.apply(&[&a]), "1 tensors came; it takes 2");
    wrong(mul.apply(&[]), "0 tensors came; it takes 2");
    wrong(mul.apply(&[&a, &a.to_dtype(CandleType::F64)?]), "argument `b` is an array of float64");
    wrong(mul.clone().with("bx", 1.0).apply(&[&a, &a]), "`candle::mul` has no argument `bx`");
    wrong(mul.clone().with("a", 1.0).apply(&[&a, &a]), "argument `a` is a tensor");
    wrong(mul.clone().with("by", 1e300).apply(&[&a, &a]), "got the float 1e300, which does not fit");
    let outside = op("candle::outside(Tensor x) -> Tensor", "outside", "x[n] -> y[n]");
    let x = CandleTensor::from_vec(vec![1f32; 4], 4, &CandleDevice::Cpu)?;
    wrong(CandleOp::new(&outside).apply(&[&x]), "outside");
    let halve = op("candle::halve_(Tensor(a!) x) -> ()", "halve_", "");
    wrong(CandleOp::new(&halve).apply(&[&x]), "argument `x` is written, and candle's tensors are not");
    // An operator without a gradient is an error of candle's.
    let cube = op("candle::cube_alone(Tensor x) -> Tensor", "cube", "x[*] -> y[*]");
    let x = Var::from_vec(vec![1f64], 1, &CandleDevice::Cpu)?;
    let message = CandleOp::new(&cube).apply(&[&x])?.sum_all()?.backward().expect_err("no gradient").to_string();
    assert!(message.contains("candle::cube_alone"), "{message}");
    // A gradient that does not fit is found when it is registered.
    let other = op("candle::mul_other(Tensor a, Tensor b, float by) -> Tensor", "mul", "a[*], b[*] -> out[*]");
    let refused = |saves: &[&str], differentiable: &[&str], part: &str| {
        let message = cube.register_backward(&other, saves, differentiable).expect_err(part).to_string();
        assert!(message.contains(part), "{message}");
    };
    refused(&["z"], &["x"], "`candle::cube_alone` has no argument `z`; it has x, and \"output\"");
    refused(&["output.1"], &["x"], "has no `output.1`: it has 1 output");
    refused(
        &["x", "x", "x"],
        &["x"],
        "`candle::mul_other` takes 3 arguments; as the backward of `candle::cube_alone` it gets 4",
    );
    refused(
        &["x"],
        &["x", "x"],
        "`candle::mul_other` gives 1 gradients for 2 arguments of `candle::cube_alone` (x, x)",
    );
    Ok(())
}

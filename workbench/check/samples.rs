//! Sample inputs: seeded, with difficult values among them.

use crate::runtime::{DType, Result, Tensor};

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator; equal seeds give equal numbers.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Difficult values, by element type; every sample holds as many of them as fit in a quarter of it.
fn edges(dtype: DType) -> &'static [f64] {
    match dtype {
        // The smallest numbers of a binary16, and the largest whose exponential is finite in it.
        DType::Float16 | DType::BFloat16 => &[0.0, -0.0, 1.0, -1.0, 0.5, 6e-8, -6e-8, 11.0, -11.0],
        DType::Float32 | DType::Float64 => &[0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, -1e-30, 88.0, -88.0],
        DType::Bool => &[0.0, 1.0],
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => &[0.0, 1.0, 255.0],
        _ => &[0.0, 1.0, -1.0, 127.0, -128.0],
    }
}

/// A random array: standard normal floats, integers between -100 and 100 (0 and 200 unsigned), edge values among them.
///
/// # Errors
/// None in practice: the count is that of the shape.
pub fn sample(dtype: DType, shape: &[usize], seed: u64) -> Result<Tensor> {
    let mut random = Random::new(seed);
    let count: usize = shape.iter().product();
    let mut values: Vec<f64> = (0..count)
        .map(|_| match dtype {
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64 => random.normal(),
            DType::Bool => (random.bits() & 1) as f64,
            DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => (random.uniform() * 201.0).floor(),
            _ => (random.uniform() * 201.0).floor() - 100.0,
        })
        .collect();
    for edge in edges(dtype).iter().take(count / 4) {
        let at = (random.bits() % count.max(1) as u64) as usize;
        values[at] = *edge;
    }
    Tensor::from_f64(dtype, shape, &values)
}

//! Ceilings of this machine for a roofline: how many bytes memory moves and how many operations on floats the processor does in a second.
//!
//! Both are measured, by the best of a few rounds, with one thread per core. The roofline is that of Williams, Waterman and Patterson,
//! "Roofline: An Insightful Visual Performance Model for Multicore Architectures" (Communications of the ACM 52, 2009).

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use serde::Serialize;

use super::machine::Machine;

/// Ceilings of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ceilings {
    /// Bytes per second between memory and all cores, by the triad `a[i] = b[i] + s * c[i]` (McCalpin, "Memory Bandwidth and Machine Balance",
    /// 1995) on arrays larger than the caches: 24 bytes for each element, without what caches read before they write.
    pub bytes_per_s: f64,
    /// Fused multiply-adds of float32 per second by all cores, each counted as two operations, with all operands in registers.
    pub flops_per_s: f64,
}

/// The best that was measured in this process.
static BEST: Mutex<Option<Ceilings>> = Mutex::new(None);

/// Rounds of each measurement, of which the best counts.
const ROUNDS: usize = 7;
/// Multiply-adds of a round, of each lane of each accumulator.
const STEPS: usize = 400_000;
/// Accumulators: more than the latency of a multiply-add times the number done at once.
const ACCUMULATORS: usize = 16;
/// Bytes of the three arrays together: no more, whatever the cache is.
const MOST_BYTES: u64 = 768 << 20;

impl Ceilings {
    /// Those of this machine, measured at the first call, which takes about a second.
    pub fn this() -> Ceilings {
        let known = *BEST.lock().unwrap_or_else(PoisonError::into_inner);
        known.unwrap_or_else(Ceilings::measured_again)
    }

    /// Measures once more; the best of all measurements of this process are the ceilings, as other work on the machine lowers them.
    pub fn measured_again() -> Ceilings {
        let threads = Machine::this().cores;
        let (bytes_per_s, flops_per_s) = (bandwidth(threads), arithmetic(threads));
        let mut known = BEST.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.unwrap_or(Ceilings { bytes_per_s, flops_per_s });
        *known.insert(Ceilings {
            bytes_per_s: before.bytes_per_s.max(bytes_per_s),
            flops_per_s: before.flops_per_s.max(flops_per_s),
        })
    }

    /// The most operations per second of work that does so many for each byte.
    pub fn at(&self, flops_per_byte: f64) -> f64 {
        (flops_per_byte * self.bytes_per_s).min(self.flops_per_s)
    }
}

/// The best rate of some rounds.
fn best(mut round: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| round()).fold(0.0, f64::max)
}

fn bandwidth(threads: usize) -> f64 {
    let cache = Machine::this().last_level_cache.unwrap_or(32 << 20);
    let elements = (4 * cache).clamp(48 << 20, MOST_BYTES) as usize / 24 / threads * threads;
    let (b, c) = (vec![1.0f64; elements], vec![2.0f64; elements]);
    let mut a = vec![0.0f64; elements];
    let share = elements / threads;
    best(|| {
        let start = Instant::now();
        thread::scope(|scope| {
            for ((a, b), c) in a.chunks_mut(share).zip(b.chunks(share)).zip(c.chunks(share)) {
                scope.spawn(move || triad(a, b, c, black_box(3.0)));
            }
        });
        24.0 * elements as f64 / start.elapsed().as_secs_f64()
    })
}

fn triad(a: &mut [f64], b: &[f64], c: &[f64], scale: f64) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + scale * c;
    }
    black_box(a);
}

fn arithmetic(threads: usize) -> f64 {
    best(|| {
        let start = Instant::now();
        let lanes: usize = thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(multiply_adds)).collect();
            running.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
        });
        (2 * lanes * ACCUMULATORS * STEPS) as f64 / start.elapsed().as_secs_f64()
    })
}

/// Multiply-adds in the widest vectors of the processor; the number of lanes.
fn multiply_adds() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { multiply_adds_512() };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and FMA.
            return unsafe { multiply_adds_256() };
        }
    }
    let mut sums = [0.5f32; ACCUMULATORS];
    let (x, y) = (black_box(0.999f32), black_box(0.001f32));
    for _ in 0..STEPS {
        for sum in &mut sums {
            *sum = *sum * x + y;
        }
    }
    black_box(sums);
    1
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn multiply_adds_512() -> usize {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};
    let mut sums = [_mm512_set1_ps(0.5); ACCUMULATORS];
    let (x, y) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.001)));
    for _ in 0..STEPS {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, x, y);
        }
    }
    black_box(sums);
    16
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_adds_256() -> usize {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
    // The registers are 16, and two hold the factors: fewer accumulators would be spilled to memory.
    const HALF: usize = ACCUMULATORS / 2;
    let (x, y) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(black_box(0.001)));
    for _ in 0..2 {
        let mut sums = [_mm256_set1_ps(0.5); HALF];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, x, y);
            }
        }
        black_box(sums);
    }
    8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roof_is_the_lower_of_two_lines() {
        let ceilings = Ceilings { bytes_per_s: 10e9, flops_per_s: 100e9 };
        assert_eq!(ceilings.at(1.0), 10e9);
        assert_eq!(ceilings.at(10.0), 100e9);
        assert_eq!(ceilings.at(1000.0), 100e9);
    }

    #[test]
    fn this_machine_has_ceilings() {
        let ceilings = Ceilings::this();
        let again = Ceilings::measured_again();
        assert!(again.bytes_per_s >= ceilings.bytes_per_s && again.flops_per_s >= ceilings.flops_per_s);
        assert_eq!(Ceilings::this(), again);
        // A core of any machine does more than 10 MFLOP/s, and memory moves more than 10 MB/s, even in a debug build.
        assert!(ceilings.bytes_per_s > 1e7 && ceilings.bytes_per_s < 1e14, "{ceilings:?}");
        assert!(ceilings.flops_per_s > 1e7 && ceilings.flops_per_s < 1e16, "{ceilings:?}");
    }
}

//! The work of a call: one more run of its kernel, with operations and touched memory counted.

use serde::Serialize;

use super::call::OwnedArg;
use super::instrumented_run::Recorded;
use super::plan::RunConfig;
use super::recorded_writers::elements;
use super::registry::Op;
use crate::ir::ParamType;
use crate::pass::instrument::work::Count;
use crate::runtime::{DType, Error, Kernel, Result, Tensor};

/// The work of one call of an operator, counted while its kernel ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Work {
    /// Operations on floats: sums, differences, products, quotients and math functions one each, a multiply-add two. Functions that are computed
    /// by others, and those of 16-bit floats, which are computed in `float`, count what they are computed by.
    pub flops: u64,
    /// Math functions among them, as `sqrtf` and `expf`.
    pub math_functions: u64,
    /// Bytes of the elements of arrays that were read, each element once; an array that is two arguments counts twice.
    pub bytes_read: u64,
    /// Bytes of the elements of arrays that were written, each element once.
    pub bytes_written: u64,
    /// Bytes that loads and stores asked arrays for, as often as they did.
    pub bytes_accessed: u64,
    /// False if some accesses went through pointers that come from no parameter of the kernel alone, so that the bytes are too few.
    pub all_bytes_counted: bool,
}

impl Work {
    /// Bytes that have to move between memory and processor at least: those read and those written.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }
}

impl Op {
    /// Runs the operator's kernel once more and counts its work. Results are dropped; arguments keep their values.
    ///
    /// ```
    /// use workbench::prelude::*;
    /// let text = "__global__ void axpy(const float* x, float* y, float a, int n) {
    ///     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ///     if (i < n) y[i] = a * x[i] + 1;
    /// }";
    /// let op = Op::new("doc::axpy_work(Tensor x, float a) -> Tensor").source(text).shape("x[n] -> y[n]").build()?;
    /// let work = op.work((&Array1::<f32>::ones(1000), 2.0))?;
    /// assert_eq!((work.flops, work.bytes_read, work.bytes_written), (2000, 4000, 4000));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Op::call`]; [`Error::Argument`] where no kernel for the CPU serves the call, and for a kernel that calls a function which cannot
    /// be inlined.
    pub fn work(&self, args: impl super::IntoArgs) -> Result<Work> {
        self.work_of(args.into_args(), &RunConfig::default())
    }

    /// [`Op::work`] of arguments as they are kept, with a timeout or an interrupt.
    ///
    /// # Errors
    /// As [`Op::work`].
    pub fn work_of(&self, args: Vec<OwnedArg>, config: &RunConfig<'_>) -> Result<Work> {
        let mut sizes = Vec::new();
        let recorded = self.record(args, config, |kernel, raw| {
            let (counting, marked) = kernel.with_work()?;
            let mut added = vec![Tensor::zeros(DType::UInt64, &[Count::ALL.len()])];
            for param in marked {
                let size = size_of_element(kernel, param);
                sizes.push(size as u64);
                added.push(Tensor::zeros(DType::UInt8, &[2 * elements(&raw[param], size)]));
            }
            Ok((counting, added))
        })?;
        match recorded {
            Recorded::NoKernel => Err(Error::argument(format!(
                "`{}`: no kernel for the CPU runs in this call by itself, so its work is not counted",
                self.name()
            ))),
            Recorded::NoLaunch => Ok(Work { all_bytes_counted: true, ..Work::default() }),
            Recorded::Launch { added, .. } => Ok(sum_up(&added, &sizes)),
        }
    }
}

/// The size in bytes of what a pair of marks stands for.
fn size_of_element(kernel: &Kernel, param: usize) -> usize {
    match kernel.params()[param].ty {
        ParamType::Ptr { elem: Some(elem), .. } => elem.size() as usize,
        _ => 1,
    }
}

fn sum_up(added: &[Tensor], sizes: &[u64]) -> Work {
    let counts = added.first().and_then(Tensor::as_slice::<u64>).unwrap_or_default();
    let count = |which: Count| counts.get(which as usize).copied().unwrap_or_default();
    let mut work = Work {
        flops: count(Count::Flops),
        math_functions: count(Count::MathFunctions),
        bytes_accessed: count(Count::Loaded) + count(Count::Stored),
        all_bytes_counted: count(Count::Elsewhere) == 0,
        ..Work::default()
    };
    for (marks, size) in added.iter().skip(1).zip(sizes) {
        for marks in marks.raw().chunks_exact(2) {
            work.bytes_read += u64::from(marks[0]) * size;
            work.bytes_written += u64::from(marks[1]) * size;
        }
    }
    work
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;
    use crate::ops::IntoArgs;

    /// Flops, math functions, bytes read, written and accessed.
    type Counts = [u64; 5];

    fn op(schema: &str, text: &str, shape: &str) -> Op {
        Op::new(format!("test::{schema}")).source(text).shape(shape).block(64, 1, 1).build().unwrap()
    }

    fn counts(op: &Op, args: impl IntoArgs) -> Counts {
        let work = op.work(args).unwrap();
        assert!(work.all_bytes_counted);
        [work.flops, work.math_functions, work.bytes_read, work.bytes_written, work.bytes_accessed]
    }

    fn floats(n: usize) -> Array1<f32> {
        Array1::from_iter((0..n).map(|i| i as f32))
    }

    const INDEX: &str = "int i = blockIdx.x * blockDim.x + threadIdx.x;";

    #[test]
    fn threads_past_the_end_and_early_returns_count_nothing() {
        let text = format!(
            "__global__ void k(const float* x, float* y, int n) {{ {INDEX} if (i >= n) return; y[i] = 2 * x[i] + 1; }}"
        );
        let op = op("work_saxpy(Tensor x) -> Tensor", &text, "x[n] -> y[n]");
        assert_eq!(counts(&op, (&floats(100),)), [200, 0, 400, 400, 800]);
        assert_eq!(counts(&op, (&floats(1),)), [2, 0, 4, 4, 8]);
        assert_eq!(counts(&op, (&floats(0),)), [0; 5]);
    }

    #[test]
    fn a_matrix_product_reads_each_element_once_and_asks_for_it_often() {
        let text = "__global__ void k(const float* a, const float* b, float* c, int m, int k, int n) {
            int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < m && j < n) {
                float sum = 0;
                for (int l = 0; l < k; l++) sum = fmaf(a[i * k + l], b[l * n + j], sum);
                c[i * n + j] = sum;
            }
        }";
        let op =
            Op::new("test::work_product(Tensor a, Tensor b) -> Tensor").source(text).shape("a[m,k], b[k,n] -> c[m,n]");
        let op = op.threads("n, m").block(8, 8, 1).build().unwrap();
        let (m, k, n) = (33, 17, 21);
        let args = (&Array2::<f32>::ones((m, k)), &Array2::<f32>::ones((k, n)));
        let (m, k, n) = (m as u64, k as u64, n as u64);
        assert_eq!(counts(&op, args), [2 * m * n * k, 0, 4 * (m * k + k * n), 4 * m * n, 4 * (2 * m * n * k + m * n)]);
    }

    #[test]
    fn every_way_through_loops_and_switches_counts_what_it_did() {
        // Thread i does i rounds, each one product, the odd ones one sum more; then by i % 3 one, two or three quotients.
        let text = format!(
            "__global__ void k(const float* x, float* y, int n) {{
                {INDEX}
                if (i >= n) return;
                float v = x[i];
                for (int r = 0;; r++) {{
                    if (r == i) break;
                    v *= 1.5f;
                    if (r % 2 == 0) continue;
                    v += 1;
                }}
                switch (i % 3) {{ case 0: v /= 3; case 1: v /= 5; default: v /= 7; }}
                y[i] = v;
            }}"
        );
        let op = op("work_ways(Tensor x) -> Tensor", &text, "x[n] -> y[n]");
        let n = 50u64;
        let flops = |i: u64| i + i / 2 + (3 - i % 3);
        assert_eq!(counts(&op, (&floats(n as usize),)), [(0..n).map(flops).sum(), 0, 4 * n, 4 * n, 8 * n]);
    }

    #[test]
    fn memory_of_the_text_is_no_array_and_atomics_read_and_write() {
        let text = "__device__ float weight = 2;
        __device__ float doubled(float v) { return v * weight; }
        __global__ void k(const float* x, float* y, int n) {
            __shared__ float tile[64];
            tile[threadIdx.x] = threadIdx.x < n ? doubled(x[threadIdx.x]) : 0;
            if (threadIdx.x == 0) y[0] = 0;
            __syncthreads();
            if (threadIdx.x < n) atomicAdd(y, tile[threadIdx.x]);
        }";
        let op = Op::new("test::work_shared(Tensor x) -> Tensor").source(text).shape("x[n] -> y[1]");
        let op = op.grid("1").block(64, 1, 1).build().unwrap();
        // Ten products, ten sums; y is written once by a store and ten times by atomics, which read it, too.
        assert_eq!(counts(&op, (&floats(10),)), [20, 0, 40 + 4, 4, 40 + 4 + 10 * 8]);
    }

    #[test]
    fn wide_and_narrow_accesses_touch_whole_elements() {
        let text = format!(
            "__global__ void k(const float4* x, float* y, int n) {{
                {INDEX}
                if (4 * i >= n) return;
                float4 v = x[i];
                y[i] = v.x + v.y + v.z + v.w;
                ((unsigned char*)y)[4 * i] = 1;
            }}"
        );
        let op = op("work_wide(Tensor x) -> Tensor", &text, "x[n] -> y[n]");
        assert_eq!(counts(&op, (&floats(16),)), [12, 0, 64, 16, 64 + 16 + 4]);
    }

    #[test]
    fn math_functions_are_one_operation_and_signs_none() {
        let text = format!(
            "__global__ void k(const double* x, double* y, int n) {{
                {INDEX}
                if (i < n) y[i] = -fmax(sqrt(fabs(x[i])), floor(exp(x[i])));
            }}"
        );
        let op = op("work_math(Tensor x) -> Tensor", &text, "x[n] -> y[n]");
        let x = Array1::<f64>::ones(7);
        let work = op.work((&x,)).unwrap();
        assert_eq!((work.flops, work.math_functions, work.bytes()), (14, 14, 112));
    }

    #[test]
    fn arguments_written_in_place_keep_their_values() {
        let text = format!("__global__ void k(float* x, int n) {{ {INDEX} if (i < n && i % 2) x[i] += 1; }}");
        let op = op("work_in_place(Tensor(a!) x) -> ()", &text, "x[n] ->");
        let args = (&floats(9),).into_args();
        let work = op.work_of(args.clone(), &RunConfig::default()).unwrap();
        assert_eq!((work.flops, work.bytes_read, work.bytes_written), (4, 16, 16));
        assert_eq!(args[0].tensor().unwrap().as_slice::<f32>().unwrap(), floats(9).as_slice().unwrap());
    }

    #[test]
    fn pointers_from_elsewhere_and_recursion_are_told() {
        let text = format!(
            "__global__ void k(const float* a, const float* b, float* y, int n) {{
                {INDEX}
                const float* p = i % 2 ? a : b;
                if (i < n) y[i] = p[i];
            }}"
        );
        let either = op("work_either(Tensor a, Tensor b) -> Tensor", &text, "a[n], b[n] -> y[n]");
        let work = either.work((&floats(6), &floats(6))).unwrap();
        assert_eq!((work.all_bytes_counted, work.bytes_read, work.bytes_written), (false, 0, 24));

        let text = format!(
            "__device__ float power(float v, int k) {{ return k == 0 ? 1 : v * power(v, k - 1); }}
            __global__ void k(const float* x, float* y, int n) {{ {INDEX} if (i < n) y[i] = power(x[i], i); }}"
        );
        let recursive = op("work_recursive(Tensor x) -> Tensor", &text, "x[n] -> y[n]");
        let error = recursive.work((&floats(3),)).unwrap_err().to_string();
        assert!(error.contains("the work of `k` is not counted: it calls `power`"), "{error}");

        let closure = Op::new("test::work_closure(Tensor x) -> Tensor").shape("x[n] -> y[n]");
        let closure = closure.host(|args| Ok(vec![args[0].tensor().unwrap().clone()])).build().unwrap();
        let error = closure.work((&floats(3),)).unwrap_err().to_string();
        assert!(error.contains("no kernel for the CPU"), "{error}");
    }
}

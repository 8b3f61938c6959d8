//! Tests of facts about kernels besides their text.

use super::*;
use crate::back::cpu::data::{Globals, Others};
use crate::back::cpu::make::addresses::addresses;
use crate::back::lane::tests::difference;
use crate::back::lane::write_c;
use crate::front;
use crate::source::SourceMap;

/// Kernels with the shape of their blocks and the names of the variables that each block overwrites before it reads them.
const OVERWRITTEN: &[(&str, [u32; 3], &[&str])] = &[
    (
        "__shared__ float tile[32][33]; for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = x[i + j];
         __syncthreads(); x[i] = tile[threadIdx.x][threadIdx.y];",
        [32, 8, 1],
        &["tile"],
    ),
    // The last column is never written; with a later store to it, it may be.
    (
        "__shared__ float tile[32][33]; for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = x[i + j];
         __syncthreads(); x[i] = tile[threadIdx.x][threadIdx.y]; tile[threadIdx.x][32] = 1.0f;",
        [32, 8, 1],
        &[],
    ),
    (
        "__shared__ float a[256]; float s = 0.0f; for (int k = i; k < n; k += 256) s += x[k]; a[threadIdx.x] = s; __syncthreads();
         for (int k = blockDim.x / 2; k > 0; k >>= 1) { if (threadIdx.x < k) a[threadIdx.x] += a[threadIdx.x + k]; __syncthreads(); }
         x[i] = a[0];",
        [256, 1, 1],
        &["a"],
    ),
    // The block has as many threads as the variable has elements, and fewer.
    ("__shared__ int a[64]; a[threadIdx.x] = i; __syncthreads(); atomicAdd(&a[n], 1); __syncthreads(); x[i] = a[0];", [64, 1, 1], &["a"]),
    ("__shared__ int a[64]; a[threadIdx.x] = i; __syncthreads(); atomicAdd(&a[n], 1); __syncthreads(); x[i] = a[0];", [48, 1, 1], &[]),
    (
        "__shared__ float a[16][16], b[16][16]; float s = 0.0f;
         for (int t = 0; t < n; t++) { a[threadIdx.y][threadIdx.x] = x[t]; b[threadIdx.y][threadIdx.x] = t < 3 ? x[i] : 0.0f; __syncthreads();
         for (int k = 0; k < 16; k++) s += a[threadIdx.y][k] * b[k][threadIdx.x]; __syncthreads(); } x[i] = s;",
        [16, 16, 1],
        &["a", "b"],
    ),
    // The loop is not entered where there is nothing to do.
    (
        "__shared__ float a[16]; for (int t = 0; t < n; t++) { a[threadIdx.x] = x[t]; __syncthreads(); } x[i] = a[15 - threadIdx.x];",
        [16, 1, 1],
        &[],
    ),
    ("__shared__ float a[16]; if (i < n) a[threadIdx.x] = x[i]; __syncthreads(); x[i] = a[0];", [16, 1, 1], &[]),
    ("__shared__ float a[16]; if (threadIdx.x < 16) a[threadIdx.x] = x[i]; __syncthreads(); x[i] = a[0];", [32, 1, 1], &["a"]),
    ("extern __shared__ float d[]; d[threadIdx.x] = x[i]; __syncthreads(); x[i] = d[0];", [32, 1, 1], &["d"]),
    ("extern __shared__ float d[]; d[threadIdx.x] = x[i]; __syncthreads(); x[i] = d[0]; d[n] = 1.0f;", [32, 1, 1], &[]),
];

#[test]
fn overwritten_variables_are_found() {
    for (body, [x, y, z], names) in OVERWRITTEN {
        let text =
            format!("__global__ void k(float* x, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}");
        let options = front::Options::default();
        let (mut module, diags) = front::compile_with(&mut SourceMap::default(), "t.cu", &text, &options, None, None);
        assert!(diags.iter().all(|diag| !diag.is_error()), "{diags:?}");
        crate::back::cpu::make::build::prepare(&mut module);
        let globals = Globals::new(&module, Others::None);
        let id = FuncId::new(0);
        // Without vectors there is no wide tier.
        let Ok((built, _)) = built(
            &module,
            (&globals, addresses().expect("there is executable memory")),
            &Case { func: id, block: Dim3 { x: *x, y: *y, z: *z }, fixed: Fixed::new() },
            &[],
            Maker::Compiler,
        ) else {
            assert!(compiler::vectors().is_err(), "{text}");
            return;
        };
        let found: Vec<&str> = built.overwritten.iter().map(|m| module.shared[*m].name.as_str()).collect();
        assert_eq!(&found, names, "{text}");
    }
}

/// Bodies of kernels with the parameters that steer them.
const STEERED: &[(&str, &[&str])] = &[
    ("if (flag) x[i] = 1;", &["flag"]),
    ("for (int j = 0; j < k; j++) x[i] += j;", &["k"]),
    ("for (int j = k * 2 - 1; j >= 0; j -= m) x[i] += j;", &["k", "m"]),
    ("switch (m) { case 1: x[i] = 1; break; default: x[i] = 2; }", &["m"]),
    // An amount of data, which each thread compares with its own place.
    ("if (i < n) x[i] = 1;", &[]),
    ("for (int j = i; j < n; j += 32) x[j] = 1;", &[]),
    // Values from memory.
    ("for (int j = 0; x[j] < k; j++) x[i] += j;", &[]),
    ("if (x[0] > m) x[i] = 1;", &[]),
    ("x[i] = k * m;", &[]),
    // How far threads are apart, and by what their numbers are divided.
    ("x[i * k + n] = 1;", &["k"]),
    ("x[i % (k + 1)] = i / m;", &["k", "m"]),
    ("x[i] = k / (i + 1);", &[]),
];

#[test]
fn scalars_that_steer_are_found() {
    for (body, names) in STEERED {
        let text = format!(
            "__global__ void k(float* x, int n, int k, unsigned m, bool flag) {{ int i = threadIdx.x; {body} }}"
        );
        let options = front::Options::default();
        let (mut module, diags) = front::compile_with(&mut SourceMap::default(), "t.cu", &text, &options, None, None);
        assert!(diags.iter().all(|diag| !diag.is_error()), "{diags:?}");
        crate::back::cpu::make::build::prepare(&mut module);
        let (_, kernel) = module.kernels().next().expect("there is one");
        let found: Vec<&str> =
            steering::find(kernel).iter().map(|s| kernel.params[s.param as usize].name.as_str()).collect();
        assert_eq!(&found[..], *names, "{body}");
    }
}

#[test]
fn known_scalars_leave_no_choice_and_no_loop() {
    let text =
        "__global__ void k(float* x, int k, unsigned m) { int i = threadIdx.x; for (int j = 0; j < k; j++) x[i] += j;
        if (m == 2) x[i] = expf(x[i]); }";
    let options = front::Options::default();
    let (mut module, diags) = front::compile_with(&mut SourceMap::default(), "t.cu", text, &options, None, None);
    assert!(diags.iter().all(|diag| !diag.is_error()), "{diags:?}");
    crate::back::cpu::make::build::prepare(&mut module);
    let globals = Globals::new(&module, Others::None);
    let (func, kernel) = module.kernels().next().expect("there is one");
    let steers = steering::find(kernel);
    let text_of = |k: i32, m: u32| {
        let fixed = steering::fixed(&steers, &[0, k as u32 as u64, u64::from(m)]);
        let case = Case { func, block: Dim3 { x: 32, y: 1, z: 1 }, fixed };
        let (built, _) =
            built(&module, (&globals, addresses().expect("there is executable memory")), &case, &steers, Maker::Jit)
                .expect("it has words for it");
        let text = write_c::before(&built.kernel) + &write_c::kernel(&built.kernel);
        (text.contains("for (;;)"), text.contains("FN vf32 math_exp_f32"))
    };
    assert_eq!(text_of(1000, 100), (true, true));
    assert_eq!(text_of(3, 2), (false, true));
    assert_eq!(text_of(3, 1), (false, false));
    assert_eq!(text_of(-5, 100), (false, true));
}

/// Blocks of one row, of several, and of a row that is no multiple of a chunk.
const SHAPES: [[u32; 3]; 4] = [[256, 1, 1], [32, 8, 1], [48, 2, 2], [33, 1, 1]];

#[test]
fn the_c_of_kernels_is_read_as_the_same_kernels() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/kernels");
    let mut count = 0;
    for file in std::fs::read_dir(&folder).expect("there are kernels") {
        let path = file.expect("it is a file").path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let options = front::Options::default();
        let (mut module, diags) = front::compile_with(&mut SourceMap::default(), "t.cu", &text, &options, None, None);
        if diags.iter().any(|diag| diag.is_error()) {
            continue;
        }
        crate::back::cpu::make::build::prepare(&mut module);
        let globals = Globals::new(&module, Others::None);
        let data = (&globals, addresses().expect("there is executable memory"));
        for (func, _) in module.kernels() {
            for ([x, y, z], maker) in SHAPES.into_iter().flat_map(|s| [(s, Maker::Jit), (s, Maker::Compiler)]) {
                let case = Case { func, block: Dim3 { x, y, z }, fixed: Fixed::new() };
                let Ok((built, _)) = built(&module, data, &case, &[], maker) else { continue };
                let kernel = valid::require(Ok(built.kernel)).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
                assert_eq!(difference(&kernel), None, "{}: {:?}", path.display(), case.block);
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

/// A text as the back end has it after the passes.
fn module_of(text: &str) -> Module {
    let options = front::Options::default();
    let (mut module, diags) = front::compile_with(&mut SourceMap::default(), "t.cu", text, &options, None, None);
    assert!(diags.iter().all(|diag| !diag.is_error()), "{diags:?}");
    crate::back::cpu::make::build::prepare(&mut module);
    module
}

/// The lanes of a text's one kernel, for blocks of 128 threads, as C.
fn code_of(text: &str) -> String {
    let module = module_of(text);
    let globals = Globals::new(&module, Others::None);
    let (func, _) = module.kernels().next().expect("there is one");
    let case = Case { func, block: Dim3 { x: 128, y: 1, z: 1 }, fixed: Fixed::new() };
    let data = (&globals, addresses().expect("there is executable memory"));
    let (built, _) = built(&module, data, &case, &[], Maker::Jit).expect("it has words for it");
    write_c::kernel(&built.kernel)
}

#[test]
fn indices_by_division_walk_side_by_side() {
    let body = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; y[i] = x[i / W * p + i % W];";
    let text = format!("__global__ void k(const float* x, float* y, int n, int p, int w) {{ {body} }}");
    // Where the first gather is: nowhere for a width that is known and large enough, behind the pieces for one that is not known, and first of all
    // for one of few lanes.
    for (width, pieces, gathers) in [("24", true, false), ("w", true, true), ("7", false, true)] {
        let text = text.replace('W', width);
        let code = code_of(&text);
        let before = code.split("gx_f32(").next().unwrap_or_default();
        assert_eq!(before.contains("first_lane("), pieces, "{width}: {code}");
        assert_eq!(before.len() < code.len(), gathers, "{width}: {code}");
    }
}

#[test]
fn functions_of_mathematics_are_found_in_lanes() {
    for (name, call) in [
        ("round", "round(y[i])"),
        ("fdim", "fdim(y[i], a)"),
        ("nextafter", "nextafter(y[i], a)"),
        ("logb", "logb(y[i])"),
    ] {
        for (ty, lanes) in [("float", "f32"), ("double", "f64")] {
            let text = format!("__global__ void k({ty}* y, {ty} a) {{ int i = threadIdx.x; y[i] = {call}; }}");
            let code = code_of(&text);
            assert!(code.contains(&format!("{name}_{lanes}(")), "{code}");
            assert!(!code.contains("each1_") && !code.contains("each2_"), "{code}");
        }
    }
}

#[test]
fn conversions_of_halves_are_found_in_lanes() {
    let text = "#include <cuda_fp16.h>\n__global__ void k(__half* y, float* x) {
        int i = threadIdx.x; y[i] = __float2half(__half2float(y[i]) * x[i]); }";
    let code = code_of(text);
    assert!(code.contains("half_to_float(v") && code.contains("float_to_half(v"), "{code}");
    // Branches would have masks of lanes that do not take them.
    assert_eq!(code.matches("&= ~").count(), 0, "{code}");
}

#[test]
fn dot_products_of_bytes_are_found_in_lanes() {
    for (ty, op) in [("int", "dot4_i32("), ("unsigned", "dot4_u32(")] {
        let text =
            format!("__global__ void k({ty}* y, {ty}* x) {{ int i = threadIdx.x; y[i] = __dp4a(y[i], x[i], y[i]); }}");
        let code = code_of(&text);
        assert!(code.contains(op), "{code}");
    }
}

/// A bound that is computed in the loop, and its alignment, are looked at once for all rounds.
#[test]
fn bounds_that_loops_compute_are_known_in_front_of_them() {
    for bound in ["n / 4", "((n + 3) >> 2)", "min(n, 4096)", "(n & ~127)", "__clz(n)"] {
        let text = format!(
            "__global__ void k(const char* x, int* y, int n) {{
                int sum = 0; for (int i = threadIdx.x; i < {bound}; i += 128) sum += ((const int*)x)[i]; y[threadIdx.x] = sum; }}"
        );
        let code = code_of(&text);
        assert!(code.contains("const i64 first0"), "{bound}: {code}");
    }
    // A number in memory may change from round to round.
    let text = "__global__ void k(const int* x, int* y) {
        int sum = 0; for (int i = threadIdx.x; i < x[0] / 4; i += 128) sum += x[i]; y[threadIdx.x] = sum; }";
    assert!(!code_of(text).contains("const i64 first0"));
}

/// A chunk does all rows before the next chunk where the threads of a row are in different lines of the cache.
#[test]
fn threads_far_apart_do_all_rows_before_the_next_chunk() {
    let order = |before: &str, index: &str| {
        let text = format!(
            "__global__ void k(const float* in, float* out, int w, int h) {{
                int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
                {before} if (x < w && y < h) out[{index}] = in[y * w + x]; }}"
        );
        let module = module_of(&text);
        let globals = Globals::new(&module, Others::None);
        let (func, _) = module.kernels().next().expect("there is one");
        let case = Case { func, block: Dim3 { x: 32, y: 8, z: 1 }, fixed: Fixed::new() };
        let data = (&globals, addresses().expect("there is executable memory"));
        let (built, _) = built(&module, data, &case, &[], Maker::Jit).expect("it has words for it");
        let code = write_c::kernel(&built.kernel);
        assert!(code.contains("row < 8"), "{code}");
        if code.contains("for (u32 row = 0;") { "rows" } else { "chunks" }
    };
    assert_eq!(order("", "x * h + y"), "chunks");
    assert_eq!(order("", "x * 32 + y"), "chunks");
    assert_eq!(order("", "y * w + x"), "rows");
    assert_eq!(order("", "2 * (y * w + x)"), "rows");
    // Sums of a number with itself are followed once each, not twice.
    assert_eq!(order(&format!("int t = (int)in[x]; {}", "t += t; ".repeat(60)), "t"), "rows");
}

/// The first thread's address tells for all of a line, as long as that does not wrap around.
#[test]
fn alignment_of_a_line_is_looked_at_once() {
    let text = "__global__ void k(const char* x, int* y, int n) {
        int i = threadIdx.x + n; if (n > 5) y[threadIdx.x] = ((const int*)x)[i]; }";
    let code = code_of(text);
    let test = code.split("truth_i64").next().and_then(|before| before.rsplit("if (").next()).unwrap_or_default();
    assert!(test.starts_with("unlikely("), "{code}");
}

#[test]
fn code_for_the_meantime_replaces_nothing_better() {
    let options = front::Options::default();
    let text = "__global__ void k(float* y) { y[threadIdx.x] = 1.0f; }";
    let (mut module, _) = front::compile_with(&mut SourceMap::default(), "t.cu", text, &options, None, None);
    crate::back::cpu::make::build::prepare(&mut module);
    let wide =
        Wide::of(&module, Tier::Lanes, addresses().expect("there is executable memory")).expect("it has a kernel");
    let globals = Globals::new(&module, Others::None);
    let (func, _) = module.kernels().next().expect("there is one");
    let case = Case { func, block: Dim3 { x: 32, y: 1, z: 1 }, fixed: Fixed::new() };
    let made = || match wide.build(&globals, &case, Maker::Jit, None) {
        Ok(code) => Arc::new(code),
        Err(_) => panic!("it has words for it"),
    };
    let (first, best, late) = (made(), made(), made());
    let is_now = |code: &Arc<WideCode>, may_improve: bool| {
        let (now, better) = wide.code(func, case.block, &[0]).expect("there is code");
        assert!(Arc::ptr_eq(&now, code));
        assert_eq!(better, may_improve);
    };
    wide.put_meanwhile(&case, first.clone());
    is_now(&first, true);
    wide.put(&case, State::Ready(best.clone()));
    is_now(&best, false);
    wide.put_meanwhile(&case, late);
    is_now(&best, false);
}

#[test]
fn places_in_64_bits_that_a_loop_moves_stay_rows() {
    let code = code_of(
        "__global__ void k(const double* x, double* y, int nx, int nz) { int ix = blockIdx.x * blockDim.x + threadIdx.x; \
         if (ix >= nx) return; size_t at = ix; \
         for (int z = 0; z < nz; ++z) { y[at] = x[at] + x[at + 1]; at += nx; } }",
    );
    assert!(!code.contains("ga_f64") && !code.contains("sc_f64"), "{code}");
}

#[test]
fn wide_code_is_for_launches_whose_indices_stay_small() {
    let of = |x, y, z| Dim3 { x, y, z };
    assert!(may_be_wide(of(1 << 21, 1, 1), of(256, 1, 1)));
    assert!(!may_be_wide(of((1 << 21) + 1, 1, 1), of(256, 1, 1)));
    assert!(!may_be_wide(of(1, 1 << 26, 1), of(1, 16, 1)));
    assert!(may_be_wide(of(u32::MAX, 1, 1), of(0, 1, 1)));
}

#[test]
fn arrays_of_a_thread_that_loops_go_through_live_in_registers() {
    let text = "__global__ void k(const float* x, float* y, int n) { float sums[4][2] = {}; \
                for (int k = 0; k < n; ++k) { float a[4]; for (int i = 0; i < 4; ++i) a[i] = x[k * 4 + i]; \
                for (int i = 0; i < 4; ++i) for (int j = 0; j < 2; ++j) sums[i][j] += a[i] * x[threadIdx.x + j]; } \
                for (int i = 0; i < 4; ++i) for (int j = 0; j < 2; ++j) y[(i * 2 + j) * blockDim.x + threadIdx.x] = sums[i][j]; }";
    let code = code_of(text);
    assert!(!code.contains("S0_0"), "{code}");
    // An index that is known at run time alone keeps the array in memory, and its loops.
    let code = code_of(&text.replace("sums[i][j];", "sums[i][(j + n) & 1];"));
    assert!(code.contains("S0_0"), "{code}");
}

#[test]
fn values_that_all_threads_share_are_one_number_behind_a_barrier() {
    let text = "__global__ void k(const float* x, float* y, int n, int m) { __shared__ float a[256]; int size = n / m; IF \
                float s = 0; for (int i = threadIdx.x; i < size; i += blockDim.x) s += x[i]; a[threadIdx.x] = s; __syncthreads(); \
                for (int i = threadIdx.x; i < size; i += blockDim.x) y[i] = a[255 - threadIdx.x] + x[i]; }";
    let code = code_of(&text.replace("IF", ""));
    assert!(!code.contains("gx_f32") && !code.contains("ga_f32"), "{code}");
    // Threads that left have not computed it, so the others find it lane by lane.
    let code = code_of(&text.replace("IF", "if (x[threadIdx.x] < 0) return; size = n / (m + 1);"));
    assert!(code.contains("ldm_f32") || code.contains("ga_f32"), "{code}");
}

#[test]
fn members_of_vectors_are_read_and_written_as_lines() {
    let code = code_of(
        "__global__ void k(const float4* x, float2* y, double2* z) { int i = threadIdx.x; float4 v = x[i]; \
         y[i] = make_float2(v.x + v.y, v.z + v.w); z[i] = make_double2(v.x, v.w); }",
    );
    for line in ["gl_f32((m16)0xffff, B_p0", "sl_f32((m16)0xffff, B_p1", "sl_f64((m16)0xffff, B_p2"] {
        assert!(code.contains(line), "{line}: {code}");
    }
}

#[test]
fn loops_in_loops_are_unrolled_as_far_as_there_is_room() {
    let nest = "for (int i = 0; i < 24; ++i) for (int j = 0; j < 24; ++j) for (int k = 0; k < 24; ++k) a[(i + j * k) & 31] += x[i] * a[(i + j + k) & 31];";
    let text = format!(
        "__global__ void k(const float* x, float* y) {{ float a[32] = {{}}; {} y[threadIdx.x] = a[3]; }}",
        nest.repeat(100)
    );
    let module = module_of(&text);
    let (func, _) = module.kernels().next().expect("there is one");
    let mut function = module.func(func).clone();
    unroll::unroll(&mut function, Dim3 { x: 256, y: 1, z: 1 }, Plain::OfArrays);
    assert!(function.body.count() < 16_000, "{}", function.body.count());
}

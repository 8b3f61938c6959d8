//! Tests of operators from end to end, on real kernels: bindings, shapes, launches, replacement, and a table of errors.

use super::schema::Schema;
use super::shape::Signature;
use super::*;
use crate::runtime::{CompileOptions, DType, Error, FaultKind, Program, Result, Tensor};

const MULADD: &str = "__global__ void muladd(const float* a, const float* b, float c, float* result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) result[i] = a[i] * b[i] + c;
}";

const SUM: &str = "__global__ void sum(const float* x, float* out, int n) {
    float s = 0.0f;
    for (int i = 0; i < n; i++) s += x[i];
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = s;
}";

const SCALE: &str = "__global__ void scale(float* x, float c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= c;
}";

const FILL: &str = "__global__ void fill(float* out, int k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = k;
}";

fn f32s(values: &[f32]) -> Tensor {
    Tensor::from_slice(&[values.len()], values).unwrap()
}

fn error<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn define(schema: &str, source: &str, shape: &str) -> Result<Op> {
    Op::new(schema).source(source).shape(shape).build()
}

#[test]
fn a_call_makes_fresh_outputs() {
    let schema = "test_fresh::muladd(Tensor a, Tensor b, float c=1.0) -> Tensor";
    let op = define(schema, MULADD, "a[n], b[n] -> out[n]").unwrap();
    let (a, b) = (f32s(&[1.0, 2.0, 3.0]), f32s(&[4.0, 5.0, 6.0]));
    let out = op.call((&a, &b, 0.5)).unwrap().into_array::<f32>().unwrap();
    assert_eq!(out.into_raw_vec_and_offset().0, [4.5, 10.5, 18.5]);
    let out = op.call((&a, &b)).unwrap().into_array::<f32>().unwrap();
    assert_eq!(out.into_raw_vec_and_offset().0, [5.0, 11.0, 19.0]);
    assert_eq!(
        op.binding(),
        "binding of kernel `muladd`:
  const float* a  <-  argument `a`
  const float* b  <-  argument `b`
  float c         <-  argument `c`
  float* result   <-  output 0 `out`
  int n           <-  dim `n`"
    );
}

#[test]
fn old_handles_run_the_new_code() {
    let schema = "test_replace::f(Tensor x) -> Tensor";
    let kernel = |value: &str| format!("__global__ void f(const float* x, float* y) {{ y[threadIdx.x] = {value}; }}");
    let old = define(schema, &kernel("1.0f"), "x[n] -> y[n]").unwrap();
    let new = Op::new(schema).source(kernel("2.0f")).shape("x[n] -> y[n]").block(1, 1, 1).build().unwrap();
    assert!(old == new);
    let x = f32s(&[0.0]);
    assert_eq!(old.call((&x,)).unwrap().tensors[0].to_f64_vec(), [2.0]);
    // A definition that fails leaves the last one in place.
    assert!(define(schema, "__global__ void f(", "x[n] -> y[n]").is_err());
    assert_eq!(old.call((&x,)).unwrap().tensors[0].to_f64_vec(), [2.0]);
}

/// The plan of the last call serves the next one only if that is alike in everything a plan depends on.
#[test]
fn a_call_like_the_last_is_worked_out_anew_when_something_changed() {
    let filled = |op: &Op, n: usize, k: i64| {
        let like = f32s(&vec![0.0; n]);
        op.call((&like, k)).unwrap().into_array::<f32>().unwrap().into_raw_vec_and_offset().0
    };
    let source = FILL.replace("float* out", "const float* like, float* out").replace("= k", "= 0 * like[0] + k");
    let op = define("test_again::fill(Tensor like, int k) -> Tensor", &source, "like[n] -> out[n]").unwrap();
    for (n, k) in [(3, 2), (3, 2), (3, 5), (4, 5), (3, 5), (0, 5), (1, 5)] {
        assert_eq!(filled(&op, n, k), vec![k as f32; n], "{n} of {k}");
    }
    let sized = define("test_again::sized(Tensor like, int k) -> Tensor", &source, "like[m] -> out[k]").unwrap();
    for (n, k) in [(1, 2), (1, 2), (1, 3), (1, 1)] {
        assert_eq!(filled(&sized, n, k), vec![k as f32; k as usize]);
    }
    let other = Program::compile(&source.replace("+ k", "- k"), &CompileOptions::default()).unwrap();
    op.register_kernel(other.kernel("fill").unwrap()).unwrap();
    assert_eq!(filled(&op, 1, 5), [-5.0]);
    op.register_outside(None, 7);
    let like = f32s(&[0.0]);
    assert!(error(op.call((&like, 5i64))).contains("a callable of Python's"));
    // A double is not a float, and has no twin outside gradcheck's calls.
    let scale =
        define("test_again::twice(Tensor x) -> Tensor", &SUM.replace("s += x[i]", "s += 2 * x[i]"), "x[n] -> out[1]")
            .unwrap();
    let double = Tensor::from_slice(&[2], &[1.0f64, 2.0]).unwrap();
    scale.call((&f32s(&[1.0, 2.0]),)).unwrap();
    assert!(error(scale.call((&double,))).contains("float64"));
    dispatch::with_twins(|| scale.call((&double,)).unwrap());
    assert!(error(scale.call((&double,))).contains("float64"));
}

#[test]
fn empty_arrays_return_without_a_launch() {
    let op = define("test_empty::f(Tensor a, Tensor b, float c) -> Tensor", MULADD, "a[n], b[n] -> out[n]").unwrap();
    let none = f32s(&[]);
    let out = op.call((&none, &none, 1.0)).unwrap();
    assert_eq!(out.tensors[0].shape(), [0]);
}

#[test]
fn an_output_that_is_not_empty_is_always_computed() {
    // The sum of nothing is 0: `threads="n"` is 0 here, and one block runs nonetheless.
    let op = Op::new("test_sum::sum(Tensor x) -> Tensor").source(SUM).shape("x[n] -> out[1]").threads("n").build();
    let op = op.unwrap();
    assert_eq!(op.call((&f32s(&[]),)).unwrap().tensors[0].to_f64_vec(), [0.0]);
    assert_eq!(op.call((&f32s(&[1.0, 2.0]),)).unwrap().tensors[0].to_f64_vec(), [3.0]);
    let op = Op::new("test_sum::grid(Tensor x) -> Tensor").source(SUM).shape("x[n] -> out[1]").grid("n").build();
    let message = error(op.unwrap().call((&f32s(&[]),)));
    assert!(message.contains("grid (0, 1, 1)"), "{message}");
}

#[test]
fn arguments_written_in_place_come_back() {
    let op = Op::new("test_inplace::scale(Tensor(a!) x, float c) -> Tensor(a!)").source(SCALE).build().unwrap();
    let after = op.call((&f32s(&[1.0, 2.0]), 3.0)).unwrap();
    assert!(after.tensors.is_empty());
    assert_eq!(after.args[0].tensor().unwrap().to_f64_vec(), [3.0, 6.0]);
}

#[test]
fn an_undeclared_write_to_an_input_is_a_fault() {
    let source = "__global__ void f(float* x, float* y, int n) { x[0] = 1.0f; y[0] = 2.0f; }";
    let op = define("test_undeclared::f(Tensor x) -> Tensor", source, "x[n] -> y[n]").unwrap();
    match op.call((&f32s(&[0.0]),)) {
        Err(Error::Fault(fault)) => assert_eq!(fault.kind, FaultKind::ReadOnlyWrite),
        other => panic!("{other:?}"),
    }
}

#[test]
fn integer_arguments_serve_in_shapes_and_launches() {
    let body = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < total) out[i] = x[i % n];";
    let source = format!("__global__ void rep(const float* x, float* out, int n, int total) {{ {body} }}");
    // `k` is both a dim of the output and an argument; the kernel need not take it.
    let op = define("test_ints::rep(Tensor x, int k) -> Tensor", &source, "x[n] -> out[n*k]").unwrap();
    assert_eq!(op.call((&f32s(&[1.0, 2.0]), 2i64)).unwrap().tensors[0].to_f64_vec(), [1.0, 2.0, 1.0, 2.0]);
    // A factory has no tensor argument at all.
    let op = define("test_ints::fill(int n, int k) -> Tensor", FILL, "-> out[n]").unwrap();
    assert_eq!(op.call((3i64, 7i64)).unwrap().tensors[0].to_f64_vec(), [7.0; 3]);
    // Without a signature `threads=` may still use them.
    let source = "__global__ void first(const float* x, float* out) { out[blockIdx.x] = x[blockIdx.x] + 1.0f; }";
    let op = Op::new("test_ints::first(Tensor(a!) out, Tensor x, int k) -> Tensor(a!)").source(source).threads("k");
    let op = op.block(1, 1, 1).build().unwrap();
    let zeros = f32s(&[0.0; 3]);
    assert_eq!(op.call((&zeros, &zeros, 2i64)).unwrap().args[0].tensor().unwrap().to_f64_vec(), [1.0, 1.0, 0.0]);
}

#[test]
fn element_types_pick_the_kernel() {
    let double = MULADD.replace("float", "double");
    let op = define("test_types::f(Tensor a, Tensor b, float c) -> Tensor", MULADD, "a[*], b[*] -> out[*]").unwrap();
    let wide = Program::compile(&double, &CompileOptions::default()).unwrap();
    let x = Tensor::from_slice(&[2], &[1.0f64, 2.0]).unwrap();
    assert_eq!(
        error(op.call((&x, &x, 1.0))),
        "`test_types::f`: argument `a` is an array of float64, and kernel parameter `a` is `const float*`; \
         try a.astype(np.float32)"
    );
    op.register_kernel(wide.kernel("muladd").unwrap()).unwrap();
    let out = op.call((&x, &x, 1.0)).unwrap();
    assert_eq!((out.tensors[0].dtype(), out.tensors[0].to_f64_vec()), (DType::Float64, vec![2.0, 5.0]));
    let y = f32s(&[1.0, 2.0]);
    assert_eq!(op.call((&y, &y, 1.0)).unwrap().tensors[0].dtype(), DType::Float32);
}

#[test]
fn float64_twins_serve_only_where_they_are_allowed() {
    // The output's stated type widens with the kernel.
    let schema = "test_twins::f(Tensor a, Tensor b, float c) -> Tensor";
    let op = define(schema, MULADD, "a[n], b[n] -> out[n]:float32").unwrap();
    let x = Tensor::from_slice(&[1], &[1.0f64 / 3.0]).unwrap();
    assert!(op.call((&x, &x, 0.0)).is_err());
    let out = dispatch::with_twins(|| op.call((&x, &x, 0.0))).unwrap();
    assert_eq!(out.tensors[0].to_f64_vec(), [1.0 / 9.0]);
    assert!(op.call((&x, &x, 0.0)).is_err());
}

#[test]
fn truth_values_come_out_as_rust_bools() {
    let source = "__global__ void pos(const float* x, bool* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] > 0.0f; }";
    let op = define("test_bool::pos(Tensor x) -> Tensor", source, "x[n] -> y[n]").unwrap();
    let out = op.call((&f32s(&[1.0, -1.0]),)).unwrap().into_array::<bool>().unwrap();
    assert_eq!(out.into_raw_vec_and_offset().0, [true, false]);
    let source = "__global__ void none(const float* x, bool* y, int n) {}";
    let op = define("test_bool::none(Tensor x) -> Tensor", source, "x[n] -> y[n]").unwrap();
    assert_eq!(
        error(op.call((&f32s(&[1.0]),)).unwrap().into_array::<bool>()),
        "element 0 holds 0xcb, which is neither false nor true"
    );
}

#[test]
fn definitions_that_cannot_work_are_refused_with_the_binding_made() {
    let table: &[(&str, &str, &str, &str)] = &[
        ("test_bad::f(Tensor x) -> Tensor", "__global__ void f(const float* x) {}", "x[n] -> y[n]", "is result `y`"),
        (
            "test_bad::f(Tensor x) -> Tensor",
            "__global__ void f(const float* x, float* y, float q) {}",
            "x[n] -> y[n]",
            "kernel parameter `float q` is no argument of the schema, no dim of the shape signature and no output",
        ),
        (
            "test_bad::f(Tensor x, float c) -> Tensor",
            "__global__ void f(const float* x, int c, float* y) {}",
            "x[n] -> y[n]",
            "argument `c` is `float` in the schema and `int` in the kernel",
        ),
        ("test_bad::f(Tensor x) -> ()", "__global__ void f(const float* x) {}", "x[n] ->", "has no output"),
        (
            "test_bad::f(Tensor x) -> Tensor",
            "__global__ void f(const float* x, float* y) {}",
            "x[n] -> y[n]:int64",
            "is said to be int64, and its pointer is float32",
        ),
        (
            "test_bad::f(Tensor x) -> int",
            "__global__ void f(const float* x, int* y) {}",
            "x[n] -> y[1]",
            "`int` is returned; an operator returns tensors",
        ),
        (
            "test_bad::f(Tensor x, Tensor w) -> Tensor",
            "__global__ void f(const float* x, float* y) {}",
            "x[n] -> y[n]",
            "argument `w` of the schema is no parameter of kernel `f`",
        ),
    ];
    for (schema, source, shape, part) in table {
        let message = error(define(schema, source, shape));
        assert!(message.contains(part), "{schema}: {message}");
    }
    // "Like input 0" needs an input 0.
    let message = error(Op::new("test_bad::fill(int n, int k) -> Tensor").source(FILL).build());
    assert!(message.contains("no array to take the output's shape from"), "{message}");
}

#[test]
fn calls_that_do_not_fit_are_named() {
    let schema = "test_calls::muladd(Tensor a, Tensor b, float c) -> Tensor";
    let op = define(schema, MULADD, "a[n], b[n] -> out[n]").unwrap();
    let (a, b) = (f32s(&[1.0, 2.0]), f32s(&[1.0, 2.0, 3.0]));
    let square = Tensor::zeros(DType::Float32, &[2, 2]);
    let name = "`test_calls::muladd`";
    assert_eq!(error(op.call((&a, &b, 1.0))), format!("{name}: `b` has extent 3 on axis 0, but `n` is 2 already"));
    assert_eq!(
        error(op.call((&square, &a, 1.0))),
        format!("{name}: `a` has shape (2, 2), rank 2; the signature `a[n], b[n] -> out[n]` wants rank 1")
    );
    assert_eq!(error(op.call((&a,))), format!("{name}: argument `b` is missing"));
    assert_eq!(error(op.call((&a, &a, 1.0, 2.0))), format!("{name} takes 3 arguments, 4 given"));
    assert_eq!(
        error(op.call((&a, &a, 1e300))),
        format!("{name}: argument `c` (float) got the float 1e300, which does not fit")
    );
    assert_eq!(error(op.call((&a, 1.0, 1.0))), format!("{name}: argument `b` is a number; an array is wanted"));
    let none = vec![OwnedArg::from(&a), OwnedArg::None, OwnedArg::Float(1.0)];
    assert_eq!(error(op.call(none)), format!("{name}: argument `b` is None; an array is wanted"));
    let op = define("test_calls::fill(int n, int k) -> Tensor", FILL, "-> out[n]").unwrap();
    assert_eq!(
        error(op.call((2i64, 3_000_000_000i64))),
        "`test_calls::fill`: argument `k` (int) got the integer 3000000000, which does not fit"
    );
    assert_eq!(
        error(op.call((2i64, 1.5))),
        "`test_calls::fill`: argument `k` (int) got the float 1.5; an integer is wanted"
    );
    assert_eq!(error(op.call((-2i64, 1i64))), "`test_calls::fill`: output `out` would have the extent -2");
    // Neither an overflowing shape nor one that no machine can hold ends the process.
    for (n, part) in [(i64::MAX, "is too large"), (1 << 50, "its launch would have 4398046511104 blocks")] {
        let message = error(op.call((n, 1i64)));
        assert!(message.contains(part), "{message}");
    }
    assert!(error(Tensor::try_poisoned(DType::Float32, &[1 << 60])).contains("too large for the memory"));
}

#[test]
fn a_dim_known_only_from_none_is_no_zero() {
    let source = "__global__ void f(const float* x, const float* w, float* y, int k) { y[0] = x[0]; }";
    let op = define("test_none::f(Tensor x, Tensor? w=None) -> Tensor", source, "x[n], w[k] -> y[n + k]").unwrap();
    assert_eq!(
        error(op.call((&f32s(&[1.0]),))),
        "`test_none::f`: output `y`: dim `k` is known only from an argument that is None"
    );
    // The kernel itself gets 0 besides its null pointer.
    let op = define("test_none::f(Tensor x, Tensor? w=None) -> Tensor", source, "x[n], w[k] -> y[n]").unwrap();
    assert_eq!(op.call((&f32s(&[5.0]),)).unwrap().tensors[0].to_f64_vec(), [5.0]);
}

#[test]
fn a_dim_of_its_own_goes_before_the_size_of_a_star() {
    let source = "__global__ void f(const float* x, const float* w, float* y, int n, int numel) {
        if (threadIdx.x < numel) y[threadIdx.x] = n; }";
    for shape in ["x[*], w[n] -> y[*]", "w[n], x[*] -> y[*]"] {
        let op = define("test_star::f(Tensor x, Tensor w) -> Tensor", source, shape).unwrap();
        let out = op.call((&f32s(&[0.0; 3]), &f32s(&[0.0; 2]))).unwrap();
        assert_eq!(out.tensors[0].to_f64_vec(), [2.0; 3], "{shape}");
    }
}

#[test]
fn the_default_block_respects_launch_bounds() {
    let source = MULADD.replace("void muladd", "void __launch_bounds__(64) muladd");
    let schema = "test_bounds::muladd(Tensor a, Tensor b, float c) -> Tensor";
    let op = define(schema, &source, "a[n], b[n] -> out[n]").unwrap();
    let x = f32s(&[1.0; 100]);
    assert_eq!(op.call((&x, &x, 1.0)).unwrap().tensors[0].to_f64_vec(), [2.0; 100]);
}

#[test]
fn a_host_function_must_return_what_its_schema_says() {
    let op = Op::new("test_host::two(Tensor x) -> (Tensor, Tensor)")
        .host(|args| Ok(args.iter().filter_map(|a| a.tensor().cloned()).collect()));
    assert_eq!(
        error(op.build().unwrap().call((&f32s(&[1.0]),))),
        "`test_host::two`: its host function returned 1 tensor, and there are 2 outputs"
    );
}

#[test]
fn closures_over_views_are_operators_and_references() {
    let twice = |schema: &str, shape: &str| {
        Op::new(schema.to_owned()).shape(shape).host(|args| {
            let (x, by) = (args[0].view::<f32>()?, args[1].number()? as f32);
            Ok(vec![Tensor::from_array(&x.mapv(|v| v * by))])
        })
    };
    let op = twice("test_host::by(Tensor x, float by=2.0) -> Tensor", "x[n] -> y[n]").build().unwrap();
    let made: ndarray::ArrayD<f32> = op.call((&f32s(&[1.0, -3.0]),)).unwrap().into_array().unwrap();
    assert_eq!(made.as_slice(), Some(&[2.0, -6.0][..]));
    assert!(op.check((&f32s(&[1.5]), 4.0), |x, by| &x * &by).unwrap().passed);
    assert!(
        error(op.call((&Tensor::from_slice(&[1], &[1.0f64]).unwrap(),))).contains("the array is float64, not float32")
    );
    let wrong = twice("test_host::longer(Tensor x, float by=2.0) -> Tensor", "x[n] -> y[n+1]").build().unwrap();
    assert_eq!(
        error(wrong.call((&f32s(&[1.0]),))),
        "`test_host::longer`: its host function returned float32 [1] for output 0, and its shape rule says float32 [2]"
    );
}

#[test]
fn hostile_texts_are_errors_and_never_overflow_the_stack() {
    let long = 400_000;
    for text in [
        format!("a::f(int{} x) -> Tensor", "[]".repeat(long)),
        format!("a::f(int{} x) -> Tensor", "?".repeat(long)),
        format!("a::f(int[] x={}) -> Tensor", "[".repeat(long)),
        format!("{}::f() -> Tensor", "a".repeat(1 << 20)),
    ] {
        assert!(matches!(Schema::parse(&text), Err(Error::Argument(_))), "{}", &text[..40]);
    }
    for text in [
        format!("x[n] -> y[n{}]", "+n".repeat(long)),
        format!("x[n] -> y[n{}]", "*n".repeat(long)),
        format!("x[n] -> y[{}n]", "(".repeat(long)),
        format!("x[n{}] -> y[n]", ",n".repeat(long)),
    ] {
        assert!(matches!(Signature::parse(&text, &[]), Err(Error::Argument(_))), "{}", &text[..20]);
    }
}

#[test]
fn defaults_are_of_their_arguments_types() {
    for (text, part) in [
        ("a::f(int k=1.5) -> Tensor", "`1.5` is no default of `int k`"),
        ("a::f(Tensor x=1) -> Tensor", "`1` is no default of `Tensor x`"),
        ("a::f(bool b=2) -> Tensor", "`2` is no default of `bool b`"),
        ("a::f(float c=None) -> Tensor", "`None` is no default of `float c`"),
    ] {
        let message = error(Schema::parse(text));
        assert!(message.contains(part), "{message}");
    }
    for text in [
        "a::f(float c=1) -> Tensor",
        "a::f(float? c=None) -> Tensor",
        "a::f(int[2] k=1) -> Tensor",
        "a::f(int[] k=[1, 2]) -> Tensor",
        "a::f(Scalar s=1.5) -> Tensor",
        "a::f(MemoryFormat m=contiguous_format) -> Tensor",
        "a::f(ScalarType t=float32) -> Tensor",
        "a::f(int reduction=Mean) -> Tensor",
    ] {
        assert!(Schema::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn a_division_by_zero_in_the_launch_says_where() {
    let source =
        "__global__ void f(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }";
    let x = ndarray::Array1::<f32>::ones(3);
    let op = Op::new("test_zero::threads(Tensor x) -> Tensor").source(source).shape("x[n] -> y[n]").threads("n/(n-3)");
    let op = op.build().expect("builds");
    assert_eq!(error(op.call((&x,))), "`test_zero::threads`: division by zero: 3 / 0 in `threads=\"n/(n-3)\"`");
    let op = Op::new("test_zero::shape(Tensor x) -> Tensor").source(source).shape("x[n] -> y[n % (n-3)]");
    assert_eq!(
        error(op.build().expect("builds").call((&x,))),
        "`test_zero::shape`: output `y`: division by zero: 3 % 0"
    );
}

#[test]
fn an_unknown_keyword_is_named_with_the_nearest_argument() {
    let schema = Schema::parse("a::f(Tensor x, float scale, *, int axis=0) -> Tensor").expect("parses");
    let text = |key| unknown_argument(&schema, key);
    let shown = "(a::f(Tensor x, float scale, *, int axis=0) -> Tensor)";
    assert_eq!(text("scael"), format!("`a::f` has no argument `scael`; did you mean `scale`? {shown}"));
    assert_eq!(text("q"), format!("`a::f` has no argument `q` {shown}"));
}

//! Tests of operators against references: wrong elements, their places, and the threads that wrote them.

use super::*;
use crate::runtime::DType;

/// Doubles its input; element 5 comes out wrong and element 6 is never written.
const DOUBLE: &str = "__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i != 6) y[i] = i == 5 ? 0.0f : 2.0f * x[i];
}";

fn reference(args: &[OwnedArg]) -> Result<Vec<Tensor>> {
    let x = args[0].tensor().expect("an array");
    let y: Vec<f64> = x.to_f64_vec().iter().map(|v| 2.0 * v).collect();
    Ok(vec![Tensor::from_f64(DType::Float64, x.shape(), &y)?])
}

#[test]
fn mismatches_name_the_thread_that_wrote_them_or_that_none_did() {
    let op = Op::new("test_check::twice(Tensor x) -> Tensor").source(DOUBLE).shape("x[n] -> y[n]").block(4, 1, 1);
    let op = op.build().unwrap();
    let x = Tensor::from_slice(&[8], &[1.0f32; 8]).unwrap();
    let report = op.check_with((&x,), reference, &CheckOptions::default()).unwrap();
    assert!(!report.passed);
    let [wrong, missing] = report.outputs[0].comparison.first.as_slice() else { panic!("{report}") };
    let found = (wrong.index.as_slice(), wrong.actual, wrong.expected);
    assert_eq!(found, (&[5][..], Value::Float(0.0), Value::Float(2.0)));
    assert_eq!(wrong.writer, Some(Writer { block: [1, 0, 0], thread: [1, 0, 0] }));
    assert!(!wrong.unwritten);
    assert_eq!((missing.index.as_slice(), missing.writer, missing.unwritten), (&[6][..], None, true));
    let text = report.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("y: 2 of 8 elements differ, 1 of which nobody wrote; worst of the others: "), "{text}");
    assert!(text.contains("written by block (1, 0, 0) thread (1, 0, 0)"), "{text}");
    assert!(text.contains("written by nobody: it still holds the poison"), "{text}");
}

#[test]
fn json_tells_what_is_not_finite_and_every_digit() {
    let floats = |values: &[f64]| Tensor::from_slice(&[values.len()], values).unwrap();
    let whole = |value: i64| Tensor::from_slice(&[1], &[value]).unwrap();
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let actual = [floats(&[nan, inf]), whole((1 << 53) + 1)];
    let expected = [floats(&[1.0, -inf]), whole(1 << 53)];
    let report = check_outputs("two", &actual, &expected, &[], &CheckOptions::default());
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    let first = |output: usize| &json["outputs"][output]["comparison"]["first"];
    assert_eq!((&first(0)[0]["actual"], &first(0)[0]["expected"]), (&"NaN".into(), &1.0.into()));
    assert_eq!((&first(0)[1]["actual"], &first(0)[1]["expected"]), (&"Infinity".into(), &"-Infinity".into()));
    assert_eq!(json["outputs"][0]["comparison"]["max_abs"], "NaN");
    let digits = (&first(1)[0]["actual"], &first(1)[0]["expected"]);
    assert_eq!(digits, (&9_007_199_254_740_993_i64.into(), &9_007_199_254_740_992_i64.into()));
    assert!(report.to_string().contains("9007199254740993 instead of 9007199254740992"), "{report}");
}

#[test]
fn a_right_operator_passes_also_on_nothing() {
    let source = DOUBLE.replace(" && i != 6", "").replace("i == 5 ? 0.0f : ", "");
    let op = Op::new("test_check::right(Tensor x) -> Tensor").source(source).shape("x[n] -> y[n]").build().unwrap();
    for n in [0, 1, 1000] {
        let x = samples::sample(DType::Float32, &[n], 7).unwrap();
        let report = op.check_with((&x,), reference, &CheckOptions::default()).unwrap();
        assert!(report.passed && report.outputs[0].comparison.total == n, "{report}");
    }
}

#[test]
fn arguments_written_in_place_are_checked_in_the_schemas_order() {
    // The kernel takes its parameters in the other order: writers must still go to the right array.
    let source = "__global__ void both(float* b, float* a) { a[threadIdx.x] = 1.0f; b[0] = 2.0f; }";
    let schema = "test_check::both(Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))";
    let op = Op::new(schema).source(source).threads("1").block(3, 1, 1).build().unwrap();
    let (a, b) = (Tensor::zeros(DType::Float32, &[3]), Tensor::zeros(DType::Float32, &[1]));
    let expected = |_: &[OwnedArg]| {
        let a = Tensor::from_slice(&[3], &[1.0f32, 1.0, 9.0])?;
        Ok(vec![a, Tensor::from_slice(&[1], &[2.0f32])?])
    };
    let report = op.check_with((&a, &b), expected, &CheckOptions::default()).unwrap();
    assert_eq!((report.outputs[0].name.as_str(), report.outputs[1].name.as_str()), ("a", "b"));
    assert!(report.outputs[1].comparison.passed);
    let wrong = &report.outputs[0].comparison.first[0];
    assert_eq!((wrong.index.as_slice(), wrong.writer.map(|w| w.thread)), (&[2][..], Some([2, 0, 0])));
    assert_eq!(a.to_f64_vec(), [0.0; 3], "a check works on copies");
}

#[test]
fn defaults_reach_the_reference() {
    let source =
        "__global__ void add(const float* x, float c, float* y, int n) { y[threadIdx.x] = x[threadIdx.x] + c; }";
    let op = Op::new("test_check::add(Tensor x, float c=2.0) -> Tensor").source(source).shape("x[n] -> y[n]");
    let op = op.block(1, 1, 1).build().unwrap();
    let x = Tensor::from_slice(&[1], &[1.0f32]).unwrap();
    let expected = |args: &[OwnedArg]| match args {
        [OwnedArg::Tensor(_), OwnedArg::Float(c)] => Ok(vec![Tensor::from_slice(&[1], &[1.0 + *c])?]),
        other => panic!("{other:?}"),
    };
    assert!(op.check_with((&x,), expected, &CheckOptions::default()).unwrap().passed);
}

#[test]
fn a_reference_of_another_number_of_results_fails() {
    let none = |_: &[OwnedArg]| Ok(Vec::new());
    let op = Op::new("test_check::count(Tensor x) -> Tensor").source(DOUBLE).shape("x[n] -> y[n]").build().unwrap();
    let x = Tensor::from_slice(&[1], &[1.0f32]).unwrap();
    let report = op.check_with((&x,), none, &CheckOptions::default()).unwrap();
    assert!(!report.passed && report.to_string().contains("there is 1 result, and the reference gives 0"), "{report}");
}

#[test]
fn references_are_closures_over_arrays() {
    let source = "__global__ void f(const float* x, const int* k, float c, bool up, double* y, int n) {
        int i = threadIdx.x;
        if (i < n) y[i] = x[i] * k[i] + (up ? c : -c);
    }";
    let schema = "test_check::closure(Tensor x, Tensor k, float c, bool up=True) -> Tensor";
    let op = Op::new(schema).source(source).shape("x[n], k[n] -> y[n]").block(4, 1, 1).build().unwrap();
    let (x, k) = (ndarray::array![1.5f32, 2.0, -4.0], ndarray::array![2i32, 3, 5]);
    let report = op.check((&x, &k, 0.25, false), |x, k, c, up| {
        assert_eq!((x.shape(), c.shape(), up.sum()), (&[3][..], &[][..], 0.0));
        &x * &k - &c
    });
    assert!(report.unwrap().passed);
    // A default need not be named; a wrong reference shows.
    assert!(op.check((&x, &k, 0.25), |x, k, c| &x * &k + &c).unwrap().passed);
    let report = op.check((&x, &k, 0.25), |x, k, _| &x * &k).unwrap();
    assert_eq!(report.outputs[0].comparison.mismatches, 3);
    fn named(
        x: ndarray::ArrayViewD<'_, f64>,
        k: ndarray::ArrayViewD<'_, f64>,
        c: ndarray::ArrayViewD<'_, f64>,
    ) -> ndarray::ArrayD<f64> {
        &x * &k + &c
    }
    assert!(op.check((&x, &k, 0.25), named).unwrap().passed);
}

//! Tests of structs and tensor accessors by value: members by name, arrays behind their pointers, every mistake reported by name.

use workbench::prelude::*;
use workbench::runtime::{FaultKind, Struct, accessor, accessor_mut, records, records_mut};

const TEXT: &str = "
struct Inner { short s; double d; };
struct Base { int count; };
struct P : Base { const float* x; float* out[2]; Inner inner; float weights[3]; bool negate; };
__global__ void run(const P p, int shift) {
    int i = threadIdx.x;
    if (i >= p.count) return;
    float v = p.x[i + shift] * p.weights[i % 3] + (float)p.inner.d + p.inner.s;
    p.out[i & 1][i / 2] = p.negate ? -v : v;
}
";

fn message<T>(result: Result<T>) -> String {
    match result {
        Err(Error::Argument(m)) => m,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("no error"),
    }
}

fn whole<'a>(x: &'a Array1<f32>, a: &'a mut Array1<f32>, b: &'a mut Array1<f32>) -> Struct<'a> {
    Struct::new()
        .member("count", 5)
        .member("x", x)
        .member("out", [a, b])
        .member("inner", Struct::new().member("s", 2i16).member("d", 0.5f64))
        .member("weights", [1.0f32, 10.0, 100.0])
        .member("negate", true)
}

#[test]
fn members_reach_their_places() {
    let kernel = wb::compile(TEXT).expect("compiles").kernel("run").expect("is there");
    let x = array![1.0f32, 2.0, 3.0, 4.0, 5.0];
    let (mut a, mut b) = (Array1::from_elem(3, 7.0f32), Array1::from_elem(3, 7.0f32));
    kernel.launch(1, 8).arg(whole(&x, &mut a, &mut b)).arg(0).run().expect("runs");
    // -(x * weight + 2.5), even ones to the first.
    assert_eq!(a, array![-3.5, -302.5, -52.5]);
    assert_eq!(b, array![-22.5, -6.5, 7.0]);
}

#[test]
fn a_fault_names_the_member() {
    let kernel = wb::compile(TEXT).expect("compiles").kernel("run").expect("is there");
    let x = array![1.0f32, 2.0, 3.0, 4.0, 5.0];
    let (mut a, mut b) = (Array1::from_elem(3, 7.0f32), Array1::from_elem(3, 7.0f32));
    let Err(Error::Fault(fault)) = kernel.launch(1, 8).arg(whole(&x, &mut a, &mut b)).arg(3).run() else {
        panic!("no fault")
    };
    assert_eq!(fault.kind, FaultKind::OutOfBoundsRead);
    assert_eq!(fault.detail, "reads index 5 of `p.x`, which has 5 elements (float)");
    assert_eq!(fault.thread[0], 2);
    let mut short = array![7.0f32];
    let Err(Error::Fault(fault)) = kernel.launch(1, 8).arg(whole(&x, &mut a, &mut short)).arg(0).run() else {
        panic!("no fault")
    };
    assert_eq!(fault.detail, "writes index 1 of `p.out[1]`, which has 1 element (float)");
}

#[test]
fn mistakes_name_the_member() {
    let kernel = wb::compile(TEXT).expect("compiles").kernel("run").expect("is there");
    let x = Array1::from_elem(5, 1.0f32);
    let (mut a, mut b) = (Array1::from_elem(3, 0.0f32), Array1::from_elem(3, 0.0f32));
    let run = |p: Struct<'_>| message(kernel.launch(1, 8).arg(p).arg(0).run());
    let m = run(whole(&x, &mut a, &mut b).member("cuont", 1));
    assert!(m.contains("`p` has no member `cuont`; it has `count`, `x`"), "{m}");
    let m = run(whole(&x, &mut a, &mut b).member("count", 1));
    assert!(m.contains("`p.count` is given twice"), "{m}");
    let m = run(Struct::new().member("count", 1));
    assert!(m.contains("`p.x` is not given"), "{m}");
    let m = run(Struct::new().member("count", 1.5f32));
    assert!(m.contains("`p.count` is a number, `int`, not float"), "{m}");
    let m = run(Struct::new().member("x", &array![1.0f64]));
    assert!(m.contains("`p.x` is a pointer to float32, and the array is float64; try x.astype(np.float32)"), "{m}");
    let m = run(Struct::new().member("out", [&x, &x]));
    assert!(m.contains("`p.out[0]` may be written, and the array is read-only"), "{m}");
    let m = run(Struct::new().member("weights", [1.0f32; 4]));
    assert!(m.contains("`p.weights` has 3 elements, 4 given"), "{m}");
    let m = run(Struct::new().member("inner", 3));
    assert!(m.contains("`p.inner` is a struct `Inner`, which takes its members by name, not int"), "{m}");
    let m = message(kernel.launch(1, 8).arg(whole(&x, &mut a, &mut b)).arg(Struct::new()).run());
    assert!(m.contains("`shift` takes no struct"), "{m}");
    let mut y = array![1.0f32];
    kernel.launch(1, 8).arg(whole(&x, &mut a, &mut b)).arg(0).run().expect("the next call works");
    let m = message(kernel.launch(1, 8).arg(&mut y).arg(0).run());
    assert!(m.contains("`p`") && m.contains("got an array of float32; pass a Struct"), "{m}");
}

const ACCESSORS: &str = "
#include <torch/extension.h>
template <typename scalar_t>
__global__ void outer(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> a,
                      const torch::PackedTensorAccessor64<scalar_t, 1> scale,
                      torch::PackedTensorAccessor32<scalar_t, 2> out, int beyond) {
    int i = blockIdx.x, j = threadIdx.x;
    if (j < a.size(1)) out[j][i] = a[i + beyond][j] * scale[i] + a.stride(0);
}
template __global__ void outer<float>(torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits>,
    const torch::PackedTensorAccessor64<float, 1>, torch::PackedTensorAccessor32<float, 2>, int);
";

#[test]
fn accessors_take_arrays_of_any_layout() {
    let kernel = wb::compile(ACCESSORS).expect("compiles").kernel("outer<float>").expect("is there");
    let a = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let scale = array![10.0f32, 100.0];
    let mut out = Array2::<f32>::from_elem((3, 2), -1.0);
    let run = kernel.launch(2, 4).arg(accessor(&a)).arg(accessor(&scale)).arg(accessor_mut(&mut out)).arg(0);
    run.run().expect("runs");
    assert_eq!(out, array![[13.0, 403.0], [23.0, 503.0], [33.0, 603.0]]);
    // Transposed and cut: the strides are 1 and 3.
    let view = a.t();
    let cut = view.slice(ndarray::s![..2, ..]);
    let mut out = Array2::<f32>::from_elem((2, 2), -1.0);
    let run = kernel.launch(2, 4).arg(accessor(&cut)).arg(accessor(&scale)).arg(accessor_mut(&mut out)).arg(0);
    run.run().expect("runs");
    assert_eq!(out, array![[11.0, 201.0], [41.0, 501.0]]);
}

#[test]
fn mistakes_with_accessors_are_named() {
    let kernel = wb::compile(ACCESSORS).expect("compiles").kernel("outer<float>").expect("is there");
    let (a, scale) = (array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]], array![10.0f32, 100.0]);
    let mut out = Array2::<f32>::zeros((3, 2));
    let m = message(kernel.launch(2, 4).arg(accessor(&scale)).arg(accessor(&scale)).arg(accessor(&a)).arg(0).run());
    assert!(m.contains("`a` accesses 2 dimensions, and the array has 1"), "{m}");
    let wide = array![1.0f64, 2.0];
    let m = message(kernel.launch(2, 4).arg(accessor(&a)).arg(accessor(&wide)).arg(accessor(&a)).arg(0).run());
    assert!(m.contains("`scale` is a pointer to float32, and the array is float64"), "{m}");
    let m = message(kernel.launch(2, 4).arg(&a).arg(accessor(&scale)).arg(accessor(&a)).arg(0).run());
    assert!(m.contains("`a`") && m.contains("pass accessor(&x)"), "{m}");
    let Err(Error::Fault(fault)) =
        kernel.launch(2, 4).arg(accessor(&a)).arg(accessor(&scale)).arg(accessor_mut(&mut out)).arg(1).run()
    else {
        panic!("no fault")
    };
    assert_eq!((fault.kind, fault.block[0]), (FaultKind::OutOfBoundsRead, 1));
    assert!(fault.detail.starts_with("reads index 6 of `a`, which has 6 elements"), "{}", fault.detail);
    // The array is lent read-only.
    let Err(Error::Fault(fault)) =
        kernel.launch(2, 4).arg(accessor(&a)).arg(accessor(&scale)).arg(accessor(&out)).arg(0).run()
    else {
        panic!("no fault")
    };
    assert_eq!(fault.kind, FaultKind::ReadOnlyWrite);
}

#[test]
fn an_instance_that_is_none_is_shown_as_it_was_asked_for() {
    let program =
        wb::compile("template <typename T, int N> __global__ void scale(T* y) { *y *= N; }").expect("compiles");
    for name in ["scall<float, 4>", "scale<float, nothing>", "scale<float>", "scale<", "scale<float, 4> x", "<>"] {
        let Err(error) = program.kernel(name) else { panic!("{name}") };
        let text = error.to_string();
        assert!(!text.contains("using instance"), "{text}");
    }
    let m = message(program.kernel("scale"));
    assert!(m.contains("and the template `scale`: ask for an instance, such as `scale<float>`"), "{m}");
    let mut y = array![3.0f32];
    let kernel = program.kernel("scale<float, (1 > 0) + 1>").expect("is an instance");
    kernel.launch(1, 1).arg(&mut y).run().expect("runs");
    assert_eq!(y[0], 6.0);
}

const TABLE: &str = "
struct Pair { float a; int b; };
__global__ void sums(const float* const* rows, float** out, int n) { for (int i = 0; i < n; i++) out[i][0] += rows[i][1]; }
__global__ void pairs(Pair* p) { p[threadIdx.x].a += p[threadIdx.x].b; }
__global__ void numbers(float* x) { x[0] = 1; }
";

#[test]
fn a_list_of_arrays_is_a_pointer_to_pointers() {
    let program = wb::compile(TABLE).expect("compiles");
    let kernel = program.kernel("sums").expect("is there");
    assert_eq!(kernel.signature(), "void sums(const float* const* rows, float** out, int n)");
    let (x, z) = (array![1.0f32, 2.0], array![3.0f32, 4.0]);
    let (mut a, mut b) = (array![10.0f32], array![20.0f32]);
    kernel.launch(1, 1).arg(vec![&x, &z]).arg([&mut a, &mut b]).arg(2).run().expect("runs");
    assert_eq!((a[0], b[0]), (12.0, 24.0));
    let Err(Error::Fault(fault)) =
        kernel.launch(1, 1).arg([&x.slice(ndarray::s![..1]), &z.view()]).arg([&mut a, &mut b]).arg(2).run()
    else {
        panic!("no fault")
    };
    assert_eq!(fault.detail, "reads index 1 of `rows[0]`, which has 1 element (float)");
    let m = message(kernel.launch(1, 1).arg([&x, &z]).arg([&x, &z]).arg(2).run());
    assert!(m.contains("`out[0]` may be written, and the array is read-only"), "{m}");
    kernel.launch(1, 1).arg([&x, &z]).arg([&mut a, &mut b]).arg(2).run().expect("the next call works");
}

#[test]
fn structs_of_rust_are_taken_where_they_are_as_large() {
    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Pair {
        a: f32,
        b: i32,
    }
    let program = wb::compile(TABLE).expect("compiles");
    let mut pairs = [Pair { a: 1.5, b: 2 }, Pair { a: 0.5, b: -1 }];
    program.kernel("pairs").expect("is there").launch(1, 2).arg(records_mut(&mut pairs)).run().expect("runs");
    assert_eq!(pairs.map(|p| p.a), [3.5, -0.5]);
    let Err(Error::Fault(fault)) = program.kernel("pairs").expect("is there").launch(1, 2).arg(records(&pairs)).run()
    else {
        panic!("no fault")
    };
    assert!(fault.detail.contains("of `p`, which is read-only"), "{}", fault.detail);
    let m = message(program.kernel("pairs").expect("is there").launch(1, 2).arg(records(&[1u32])).run());
    let both = "got structs of 4 bytes, and a `Pair` is {float a at 0, int b at 4; 8 bytes}";
    assert!(m.contains("argument `p` (Pair*)") && m.contains(both), "{m}");
    let m = message(program.kernel("numbers").expect("is there").launch(1, 1).arg(records(&pairs)).run());
    assert!(m.contains("it points at none"), "{m}");
}

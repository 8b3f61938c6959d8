// test render

template <typename T>
__device__ T remainder_of(T a, T b) {
    return a % b;
}
template <typename T>
__device__ T twice(T a) {
    return remainder_of(a, a);
}
__global__ void k(float* x) {
    x[0] = twice(x[1]);
}
// render:
// error[WB0303]: `%` cannot take `float` and `float`
//   --> t.cu:5:14
//    |
//  5 |     return a % b;
//    |            - ^ - this is `float`
//    |            |
//    |            this is `float`
// ...
//  9 |     return remainder_of(a, a);
//    |            ------------------ in instantiation of `remainder_of<float>`, required from here
// ...
// 12 |     x[0] = twice(x[1]);
//    |            ----------- in instantiation of `twice<float>`, required from here
//    |
//    = help: use `fmodf` or `fmod` for floating point

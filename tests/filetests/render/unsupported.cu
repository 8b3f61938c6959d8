// test render

__global__ void parts(int* x) {
    struct A { __device__ virtual int f() { return 1; } } s;
    x[0] = s.f();
}

__global__ void sum(const float* x, float* total) {
    float4 v = {x[0], x[1], x[2], x[3]};
    total[0] = tex2D(v, 1, 2);
}
// render:
// error[WB0401]: virtual functions are not supported
//  --> t.cu:4:27
//   |
// 4 |     struct A { __device__ virtual int f() { return 1; } } s;
//   |                           ^^^^^^^
//   |
//   = help: leave `virtual` out, or choose the type with a template parameter
//
// error[WB0401]: `tex2D` is not supported: it is a texture
//   --> t.cu:10:16
//    |
// 10 |     total[0] = tex2D(v, 1, 2);
//    |                ^^^^^^^^^^^^^^
//    |
//    = help: read a plain array and interpolate in the kernel

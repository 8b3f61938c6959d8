// test render

#define SQUARE(v) ((v) * (w))

__device__ float helper(float a, float b) { return a + b; }

__global__ void f(float* out, int count) {
    out[0] = SQUARE(2.0f);
    out[1] = helper(1.0f);
    float y = 1.0f
    out[threadidx.x] = y;
}
// render:
// error[WB0301]: unknown name `w`
//  --> t.cu:8:14
//   |
// 3 | #define SQUARE(v) ((v) * (w))
//   |         ------ in expansion of macro `SQUARE`
// ...
// 8 |     out[0] = SQUARE(2.0f);
//   |              ^^^^^^^^^^^^
//
// error[WB0305]: `helper` takes 2 arguments, and 1 is given
//  --> t.cu:9:14
//   |
// 5 | __device__ float helper(float a, float b) { return a + b; }
//   |                  ------ declared here
// ...
// 9 |     out[1] = helper(1.0f);
//   |              ^^^^^^^^^^^^
//
// error[WB0201]: `;` is missing after this declaration
//   --> t.cu:10:19
//    |
// 10 |     float y = 1.0f
//    |                   ^
//
// error[WB0301]: unknown name `threadidx`; the nearest known one is `threadIdx`
//   --> t.cu:11:9
//    |
// 11 |     out[threadidx.x] = y;
//    |         ^^^^^^^^^
//    |
//    = help: write `threadIdx`

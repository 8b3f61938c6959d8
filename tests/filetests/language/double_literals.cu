// test run
// An unsuffixed floating literal is a double, so the sum below is rounded once to double and once to float.
// 1 + 2^-24 is exact in double and rounds to 1 in float (ties to even); adding 2^-50 first breaks the tie upwards.

__global__ void literals(float* out, int* size) {
    float one = 1.0f;
    out[0] = one + 5.9604644775390625e-8f;                          // float: 1
    out[1] = (float)((one + 5.9604644775390625e-8) + 8.8817841970012523e-16);   // double, then float: 1.00000012
    out[2] = (one + 5.9604644775390625e-8f) + 8.8817841970012523e-16f;          // float all the way: 1
    out[3] = 0.1f + 0.2f;
    out[4] = 0.1 + 0.2;
    size[0] = sizeof(0.1);
    size[1] = sizeof(0.1f);
    size[2] = sizeof(one * 0.5);
}
// run: literals<<<1, 1>>>(out = poison(5), size = poison(3))
//   out == [1.0, 1.00000012, 1.0, 0.3, 0.3]
//   size == [8, 4, 8]
// 0.1f + 0.2f is 0.30000001192..., which is also the float nearest 0.3.

// test render

__global__ void roots(const float* x, float* y) {
    assert(x[threadIdx.x] >= 0.0f);
    y[threadIdx.x] = sqrtf(x[threadIdx.x]);
}
// run: roots<<<1, 3>>>(x = [4, -1, 9], y = poison(3))
// render:
// kernel fault: assertion failed in `roots` at t.cu:4:5, block (0, 0, 0), thread (1, 0, 0)
//   |
// 4 |     assert(x[threadIdx.x] >= 0.0f);
//   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `x[threadIdx.x] >= 0.0f` does not hold

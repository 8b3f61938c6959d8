// test render

__device__ int average(int sum, int count) { return sum / count; }

__global__ void averages(const int* sums, const int* counts, int* out) {
    out[threadIdx.x] = average(sums[threadIdx.x], counts[threadIdx.x]);
}
// run: averages<<<1, 2>>>(sums = [10, 7], counts = [5, 0], out = poison(2))
// render:
// kernel fault: division by zero in `averages` at t.cu:3:53, block (0, 0, 0), thread (1, 0, 0)
//   |
// 3 | __device__ int average(int sum, int count) { return sum / count; }
//   |                                                     ^^^^^^^^^^^ 7 / 0

// test run

__global__ void null(const float* x, float* y) { y[0] = x[0]; }
__global__ void maybe(const float* x, float* y) { y[0] = x ? x[0] : -1.0f; }
__global__ void misaligned(const char* bytes, int* out) { out[0] = *(const int*)(bytes + 1); }
__global__ void punned(const char* bytes, int* out) { out[0] = *(const int*)(bytes + 4); }
__global__ void const_cast_write(const float* x) { ((float*)x)[0] = 2.0f; }
// run: null<<<1, 1>>>(x = null, y = [3])
//   fault: null pointer at 3:57 block (0,0,0) thread (0,0,0)
//   y == [3]
// run: maybe<<<1, 1>>>(x = null, y = [3])
//   y == [-1]
// run: misaligned<<<1, 1>>>(bytes = iota(8), out = [3])
//   fault: misaligned access at 5:69 block (0,0,0) thread (0,0,0)
// 4 + 5 * 256 + 6 * 65536 + 7 * 16777216, little-endian.
// run: punned<<<1, 1>>>(bytes = iota(8), out = [3])
//   out == [117835012]
// run: const_cast_write<<<1, 1>>>(x = [1])
//   fault: write to read-only memory at 7:52 block (0,0,0) thread (0,0,0)
//   x == [1]

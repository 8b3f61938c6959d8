// test run

__device__ int counter;
__device__ float start[3] = {1.5f, 2.5f};
__constant__ float table[4];
__constant__ int scale = 3;
__device__ unsigned long long total = 1ULL << 40;

__global__ void count() { atomicAdd(&counter, 1); }
__global__ void add(float* out) {
    int i = threadIdx.x;
    start[i] += 1.0f;
    out[i] = start[i] * scale;
}
__global__ void look_up(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
__global__ void past(float* out) { out[0] = table[threadIdx.x + 1]; }
__global__ void sum(const int* x) { atomicAdd(&total, (unsigned long long)x[threadIdx.x]); }
// run: count<<<3, 5>>>()
//   symbol counter == [15]
// It keeps what it holds.
// run: count<<<1, 5>>>()
//   symbol counter == [20]
// set: counter = [100]
// run: count<<<1, 1>>>()
//   symbol counter == [101]
// run: add<<<1, 3>>>(out = poison(3))
//   out == [7.5, 10.5, 3]
//   symbol start == [2.5, 3.5, 1]
// run: look_up<<<1, 4>>>(out = poison(4))
//   out == [0, 0, 0, 0]
// set: table = [1, 2, 4, 8]
// set: scale = [10]
// run: look_up<<<1, 4>>>(out = poison(4))
//   out == [1, 2, 4, 8]
// run: add<<<1, 3>>>(out = poison(3))
//   out == [35, 45, 20]
// run: past<<<1, 4>>>(out = [0])
//   fault: out-of-bounds read at 16:45 block (0,0,0) thread (3,0,0): reads index 4 of `table`, which has 4 elements
// run: sum<<<1, 3>>>(x = [1, 2, 3])
//   symbol total == [1099511627782]

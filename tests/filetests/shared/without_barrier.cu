// test run

// Each thread uses its own part: no barrier is needed.
__global__ void own(const int* x, int* out) {
    __shared__ int tile[4];
    __shared__ double wide[2][2];
    int i = threadIdx.x;
    tile[i] = x[blockIdx.x * 4 + i];
    wide[i / 2][i % 2] = tile[i] * 0.5;
    out[blockIdx.x * 4 + i] = tile[i] + (int)(2 * wide[i / 2][i % 2]);
}
// Shared memory starts every block as poison: 0xCBCBCBCB.
__global__ void fresh(unsigned* out) {
    __shared__ unsigned word;
    out[blockIdx.x] = word;
    word = 7;
}
__global__ void past(int* out, int i) {
    __shared__ int tile[4];
    tile[i] = 1;
    out[0] = tile[0];
}
// All views of dynamic memory begin at one address.
__global__ void views(int* out) {
    extern __shared__ float f[];
    extern __shared__ unsigned char bytes[];
    int* ints = (int*)f;
    int* second = ints + 2;
    ints[threadIdx.x] = 0x01020304;
    out[threadIdx.x] = bytes[4 * threadIdx.x + 3] + (second == ints + 2);
}
__device__ int helper(int x) {
    __shared__ int kept;
    int before = kept;
    kept = x;
    return before;
}
__global__ void in_a_helper(int* out) {
    helper(5);
    out[0] = helper(6);
    out[1] = helper(7);
}
// run: own<<<2, 4>>>(x = iota(8), out = poison(8))
//   out == [0, 2, 4, 6, 8, 10, 12, 14]
// run: fresh<<<3, 1>>>(out = [0, 0, 0]) cpu
//   out == [3419130827, 3419130827, 3419130827]
// run: past<<<1, 1>>>(out = [0], i = 4)
//   fault: out-of-bounds write at 20:5 block (0,0,0) thread (0,0,0): writes index 4 of `tile`, which has 4 elements
// run: past<<<1, 1>>>(out = [0], i = -1)
//   fault: out-of-bounds write at 20:5 block (0,0,0) thread (0,0,0): writes index -1 of `tile`
// run: views<<<1, 4, 16>>>(out = poison(4))
//   out == [2, 2, 2, 2]
// run: views<<<1, 4, 12>>>(out = poison(4))
//   fault: out-of-bounds write at 29:5 block (0,0,0) thread (3,0,0): of `f`, which has 
// run: views<<<1, 4>>>(out = poison(4))
//   fault: out-of-bounds write at 29:5 block (0,0,0) thread (0,0,0): of `f`, which has 
// run: views<<<1, 4, 232449>>>(out = poison(4))
//   argument error: 232449 bytes of shared memory; a block has at most 232448
// run: in_a_helper<<<1, 1>>>(out = [0, 0])
//   out == [5, 6]

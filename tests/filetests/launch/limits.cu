// test run

__global__ void touch(int* x) { x[0] = 1; }
__global__ void __launch_bounds__(64) narrow(int* x) { x[0] = 2; }
// run: touch<<<0, 32>>>(x = [7])
//   argument error: holds no thread
//   x == [7]
// run: touch<<<1, 0>>>(x = [7])
//   argument error: holds no thread
// run: touch<<<1, 1025>>>(x = [7])
//   argument error: CUDA allows 1024
// run: touch<<<1, (1, 1, 65)>>>(x = [7])
//   argument error: at most (1024, 1024, 64)
// run: touch<<<(1, 65536), 1>>>(x = [7])
//   argument error: larger than CUDA's limit
// run: narrow<<<1, 65>>>(x = [7])
//   argument error: `__launch_bounds__(64)` allows 64
// run: narrow<<<1, 64>>>(x = [7])
//   x == [2]
// run: touch<<<1, 1>>>()
//   argument error: takes 1 argument (x), 0 given
// run: touch<<<1, 1>>>(x = 5)
//   argument error: got a number; an array is wanted

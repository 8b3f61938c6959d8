// test run
// Records come in (block, thread, time) order, whatever ran first; also those before a fault.

__global__ void two_each() {
    printf("%d.%d a\n", blockIdx.x, threadIdx.x);
    printf("%d.%d b\n", blockIdx.x, threadIdx.x);
}
__global__ void before_fault(int* x) {
    printf("%d ", threadIdx.x);
    x[threadIdx.x] = 1;
}
__global__ void many(int n) {
    for (int i = 0; i < n; i++) printf("%d\n", i);
}
// run: two_each<<<2, 2>>>()
//   printf "0.0 a\n0.0 b\n0.1 a\n0.1 b\n1.0 a\n1.0 b\n1.1 a\n1.1 b\n"
// run: before_fault<<<1, 4>>>(x = [0, 0])
//   printf "0 1 2 "
//   fault: out-of-bounds write at 10:5 block (0,0,0) thread (2,0,0)
//   x == [1, 1]
// The bound is 100,000 records.
// run: many<<<1, 1>>>(n = 1000000)
//   dropped 900000

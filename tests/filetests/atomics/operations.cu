// test run

// One thread after the other adds 1 to 10: 5 + 55, and so on; results by hand.
__global__ void ints(int* x, int* old) {
    int i = threadIdx.x;
    old[0] = atomicAdd(&x[0], i + 1);
    atomicSub(&x[1], i + 1);
    atomicMin(&x[2], 3 - i);
    atomicMax(&x[3], i - 3);
    atomicAnd(&x[4], ~(1 << i));
    atomicOr(&x[5], 1 << i);
    atomicXor(&x[6], 1 << (i & 1));
    atomicExch(&x[7], 42);
    atomicCAS(&x[8], 7, 8);
    atomicCAS(&x[9], 7, 8);
}
__global__ void unsigneds(unsigned* x) {
    atomicMin(&x[0], 0x80000000u);
    atomicMax(&x[1], 0x80000000u);
    atomicInc(&x[2], 3);
    atomicDec(&x[3], 3);
    atomicAdd_block(&x[4], 4294967295u);
    atomicAdd_system(&x[5], 2);
}
__global__ void wide(unsigned long long* u, long long* s) {
    atomicAdd(&u[0], 4294967296ULL);
    atomicMax(&u[1], 1ULL << 63);
    atomicCAS(&u[2], 5ULL, 6ULL);
    atomicExch(&u[3], 9ULL);
    atomicMin(&s[0], -5LL);
    atomicMax(&s[1], -5LL);
}
__global__ void floats(float* f, double* d) {
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    f[1] = atomicExch(&f[2], 3.0f);
}
__global__ void shorts(unsigned short* x) {
    x[1] = atomicCAS(&x[0], (unsigned short)65535, (unsigned short)1);
    x[2] = atomicCAS(&x[0], (unsigned short)65535, (unsigned short)2);
}
__global__ void old_values(int* x, int* old) { old[threadIdx.x] = atomicAdd(x, 2); }
__global__ void local_variable(int* out) {
    int n = 3;
    atomicAdd(&n, 4);
    out[0] = n;
}
// A double's product by compare-and-swap on its bits: 1 * 2^20.
__global__ void product(double* d) {
    unsigned long long* bits = (unsigned long long*)d;
    unsigned long long seen = *bits, expected;
    do {
        expected = seen;
        seen = atomicCAS(bits, expected, (unsigned long long)__double_as_longlong(2.0 * __longlong_as_double(expected)));
    } while (seen != expected);
}
__global__ void past_the_end(int* x) { atomicAdd(&x[threadIdx.x], 1); }
__global__ void odd(char* x) { atomicAdd((int*)(x + 1), 1); }

// run: ints<<<1, 10>>>(x = [5, 5, 5, 5, -1, 0, 0, 1, 7, 6], old = poison(1))
//   x == [60, -50, -6, 6, -1024, 1023, 3, 42, 8, 6]
// run: ints<<<1, 10>>>(x = [5, 5, 5, 5, -1, 0, 0, 1, 7, 6], old = poison(1)) cpu
//   old == [50]
// run: unsigneds<<<1, 6>>>(x = [4294967295, 1, 0, 0, 10, 0])
//   x == [2147483648, 2147483648, 2, 2, 4, 12]
// run: wide<<<1, 3>>>(u = [1, 1, 5, 1], s = [1, -9])
//   u == [12884901889, 9223372036854775808, 6, 9]
//   s == [-5, -5]
// 1,000 blocks of 100 threads: sums exact in both types.
// run: floats<<<1000, 100>>>(f = [0, 0, 3], d = [1])
//   f == [50000, 3, 3]
//   d == [25001]
// run: shorts<<<1, 1>>>(x = [65535, 0, 0])
//   x == [1, 65535, 1]
// run: old_values<<<1, 4>>>(x = [10], old = poison(4))
//   x == [18]
// run: old_values<<<1, 4>>>(x = [10], old = poison(4)) cpu
//   old == [10, 12, 14, 16]
// A GPU has no atomics on local memory, and breaks at one.
// run: local_variable<<<1, 1>>>(out = [0]) cpu
//   out == [7]
// run: product<<<5, 4>>>(d = [1])
//   d == [1048576]
// run: past_the_end<<<1, 4>>>(x = [0, 0])
//   fault: out-of-bounds write at 57:51 block (0,0,0) thread (2,0,0): writes index 2 of `x`, which has 2 elements
// run: odd<<<1, 1>>>(x = [0, 0, 0, 0, 0, 0, 0, 0])
//   fault: misaligned access at 58

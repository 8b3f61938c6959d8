// test run define=SCALE=3
// header ops.h: #pragma once\n#define TWICE(x) ((x) + (x))\n__device__ int plus_one(int x) { return x + 1; }

#include <cuda_runtime.h>
#include <stdio.h>
#include "ops.h"
#include "ops.h"

#define N 4
#define SQUARE(x) ((x) * (x))
#define CAT(a, b) a##b
#define NAME(n) CAT(value_, n)
#define STR(x) #x
#define SUM(...) sum_of(__VA_ARGS__)
#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define DEFINE_OP(name, expr) __device__ int name(int a, int b) { return expr; }

DEFINE_OP(add2, a + b)
DEFINE_OP(mul2, a * b)

__device__ int sum_of(int a, int b, int c) { return a + b + c; }

#if defined(N) && N > 3 && !defined(MISSING)
#define BRANCH 1
#elif N > 2
#define BRANCH 2
#else
#error "not here"
#endif

__global__ void macros(int* out, int n) {
    int NAME(7) = 70;
    KERNEL_LOOP(i, n) out[i] = -1;
    out[0] = SQUARE(1 + 2);
    out[1] = value_7;
    out[2] = SUM(1, 2, 3);
    out[3] = BRANCH;
    out[4] = TWICE(plus_one(4));
    out[5] = SCALE * N;
    out[6] = add2(2, 3) * 10 + mul2(2, 3);
    printf("%s %s %d\n", STR(a + b), STR("q"), __LINE__);
}
// run: macros<<<1, 1>>>(out = poison(8), n = 8)
//   out == [9, 70, 6, 1, 10, 12, 56, -1]
//   printf "a + b \"q\" 41\n"

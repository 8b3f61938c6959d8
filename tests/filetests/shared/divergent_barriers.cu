// test run

// Half of the threads go another way.
__global__ void half(int* out) {
    if (threadIdx.x < 4) {
        out[0] = 1;
        __syncthreads();
    }
    out[threadIdx.x] = 2;
}
// The others wait at the other one.
__global__ void two(int* out) {
    if (threadIdx.x % 2) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}
// Thread 3 leaves the loop earlier, and waits behind it.
__global__ void leaves(int* out) {
    for (int i = 0; i < 8; i++) {
        if (threadIdx.x == 3 && i == 2) break;
        __syncthreads();
    }
    __syncthreads();
    out[threadIdx.x] = 1;
}
// Even if it has nothing more to do than leave the kernel.
__global__ void gone(int* out) {
    int i = 0;
    for (; i < 8; i++) {
        if (threadIdx.x == 3 && i == 2) break;
        __syncthreads();
    }
    out[threadIdx.x] = i;
}
__global__ void counted(int* out) {
    if (threadIdx.y == 1) out[0] = __syncthreads_count(1);
}
// The same text is right when all go the same way.
__global__ void depends(int* out, const int* which) {
    if (which[threadIdx.x]) {
        out[threadIdx.x] = 1;
        __syncthreads();
        int next = out[(threadIdx.x + 1) % 4]; __syncthreads(); out[threadIdx.x] += next;
    } else {
        out[threadIdx.x] = 5;
    }
}
__device__ int deep(int n) {
    if (n == 0) return 0;
    return deep(n - 1) + 1;
}
// run: half<<<1, 8>>>(out = poison(8))
//   fault: divergent barrier at 7:9 block (0,0,0) thread (0,0,0): waits at `__syncthreads` for thread (4,0,0), which went another way at line 5
// run: two<<<1, 2>>>(out = poison(2))
//   fault: divergent barrier at 14:9 block (0,0,0) thread (1,0,0): for thread (0,0,0), which went another way at line 13
// run: leaves<<<2, 4>>>(out = poison(4))
//   fault: divergent barrier at 24:9 block (0,0,0) thread (0,0,0): for thread (3,0,0), which went another way at line 23
// run: gone<<<1, 4>>>(out = poison(4))
//   fault: divergent barrier at 34:9 block (0,0,0) thread (0,0,0): for thread (3,0,0), which went another way at line 33
// run: counted<<<1, (2, 2)>>>(out = poison(4))
//   fault: divergent barrier at 39:36 block (0,0,0) thread (0,1,0): waits at `__syncthreads_count` for thread (0,0,0), which went another way at line 39
// run: depends<<<1, 4>>>(out = poison(4), which = [1, 1, 0, 1])
//   fault: divergent barrier at 45:9 block (0,0,0) thread (0,0,0): for thread (2,0,0), which went another way at line 43
// run: depends<<<1, 4>>>(out = poison(4), which = [0, 0, 0, 0])
//   out == [5, 5, 5, 5]
// Every thread reads its neighbour's 1 before anybody adds.
// run: depends<<<1, 4>>>(out = poison(4), which = [1, 1, 1, 1])
//   out == [2, 2, 2, 2]

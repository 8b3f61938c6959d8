// test error

__shared__ float at_namespace = 4;
__constant__ int unwritable[2];

__global__ void k(float* x) {
    __shared__ float with_value = 1.0f;
    __shared__ float open[];
    extern __shared__ float sized[4];
    __shared__ double large[6145];
    unwritable[0] = 1;
    x[0] = 1;
}
int host(int n) {
    __shared__ int s;
    return n;
}
int host_atomic(int n) { return atomicAdd(&n, 1); }
// error WB0314 3:18 initialiser
// error WB0314 7:22 initialiser
// error WB0314 8:22 no length
// error WB0314 9:29 has a length
// error WB0316 10:23 49160 bytes
// error WB0306 11:5 const
// error WB0311 15:20 host code
// error WB0311 18:33 only in device code

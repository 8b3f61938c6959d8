// test run
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// 64 threads add; the sums are whole numbers that both formats hold.
__global__ void added(__half* h, __nv_bfloat16* b, __half2* pair, float* out) {
    atomicAdd(h, __float2half(2.0f));
    atomicAdd(b, __float2bfloat16(1.0f));
    atomicAdd(pair, __floats2half2_rn(1.0f, -2.0f));
    __syncthreads();
    out[0] = __half2float(*h);
    out[1] = __bfloat162float(*b);
    out[2] = __low2float(*pair);
    out[3] = __high2float(*pair);
}
// run: added<<<1, 64>>>(h = bytes(u16 0), b = bytes(u16 0), pair = bytes(u32 0), out = poison(4))
//   out == [128, 64, 64, -128]

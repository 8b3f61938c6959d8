// Step-efficient inclusive scan of each row, double buffered in shared memory.

struct Plus {
    template <typename T>
    __device__ T operator()(const T& a, const T& b) const { return a + b; }
};

struct Xor {
    template <typename T>
    __device__ T operator()(const T& a, const T& b) const { return a ^ b; }
};

template <typename T, typename BinaryOp, int BLOCK>
__global__ void scan_rows(const T* __restrict__ in, T* __restrict__ out, int n)
{
    __shared__ T buffers[2][BLOCK];
    BinaryOp op;
    const T* row_in = in + blockIdx.x * n;
    T* row_out = out + blockIdx.x * n;
    T carry = T();

    for (int start = 0; start < n; start += BLOCK) {
        const int i = start + threadIdx.x;
        int pout = 0, pin = 1;
        buffers[pout][threadIdx.x] = i < n ? row_in[i] : T();
        __syncthreads();

        for (int offset = 1; offset < BLOCK; offset *= 2) {
            pout = 1 - pout;
            pin = 1 - pout;
            if (threadIdx.x >= offset)
                buffers[pout][threadIdx.x] = op(buffers[pin][threadIdx.x - offset], buffers[pin][threadIdx.x]);
            else
                buffers[pout][threadIdx.x] = buffers[pin][threadIdx.x];
            __syncthreads();
        }

        if (i < n) row_out[i] = op(carry, buffers[pout][threadIdx.x]);
        carry = op(carry, buffers[pout][BLOCK - 1]);
        __syncthreads();
    }
}

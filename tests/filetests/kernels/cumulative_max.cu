// Running maximum of each row with the index where it was reached, as cummax gives them: later equal values win.

template <typename scalar_t>
struct Best {
    scalar_t value;
    int index;

    __device__ bool operator<=(const Best& other) const { return value <= other.value; }
};

template <typename scalar_t>
__device__ inline Best<scalar_t> later(const Best<scalar_t>& before, const Best<scalar_t>& now)
{
    return before <= now ? now : before;
}

template <typename scalar_t, typename index_t, int kWarps>
__global__ void cummax_kernel(const scalar_t* __restrict__ self, scalar_t* __restrict__ values, index_t* __restrict__ indices,
                              int num_rows, int row_size, scalar_t init)
{
    const int lane = threadIdx.x;
    for (int row = blockIdx.x * kWarps + threadIdx.y; row < num_rows; row += gridDim.x * kWarps) {
        const scalar_t* in = self + row * row_size;
        Best<scalar_t> carry = {init, -1};
        for (int start = 0; start < row_size; start += 32) {
            const int col = start + lane;
            Best<scalar_t> best{col < row_size ? in[col] : init, col};
            for (int d = 1; d < 32; d *= 2) {
                Best<scalar_t> up;
                up.value = __shfl_up_sync(0xffffffff, best.value, d);
                up.index = __shfl_up_sync(0xffffffff, best.index, d);
                if (lane >= d) best = later(up, best);
            }
            best = later(carry, best);
            if (col < row_size) {
                values[row * row_size + col] = best.value;
                indices[row * row_size + col] = static_cast<index_t>(best.index);
            }
            carry.value = __shfl_sync(0xffffffff, best.value, 31);
            carry.index = __shfl_sync(0xffffffff, best.index, 31);
        }
    }
}

// Group norm with Welford's running moments, combined across lanes and warps.

template <typename acc_t>
struct WelfordData {
    acc_t mean = 0;
    acc_t m2 = 0;
    acc_t count = 0;
};

template <typename acc_t>
struct WelfordOps {
    using Data = WelfordData<acc_t>;

    static __device__ __forceinline__ Data update(Data d, acc_t x)
    {
        d.count += 1;
        const acc_t delta = x - d.mean;
        d.mean += delta / d.count;
        d.m2 += delta * (x - d.mean);
        return d;
    }

    static __device__ __forceinline__ Data combine(const Data& a, const Data& b)
    {
        if (a.count == 0) return b;
        if (b.count == 0) return a;
        const acc_t delta = b.mean - a.mean;
        Data r;
        r.count = a.count + b.count;
        const acc_t share = b.count / r.count;
        r.mean = a.mean + delta * share;
        r.m2 = a.m2 + b.m2 + delta * delta * a.count * share;
        return r;
    }

    static __device__ __forceinline__ Data shfl_xor(const Data& d, int mask)
    {
        Data r;
        r.mean = __shfl_xor_sync(0xffffffffu, d.mean, mask);
        r.m2 = __shfl_xor_sync(0xffffffffu, d.m2, mask);
        r.count = __shfl_xor_sync(0xffffffffu, d.count, mask);
        return r;
    }
};

template <typename T, typename acc_t, int kWarps>
__global__ void group_norm(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                           T* __restrict__ y, int groups, int channels, int spatial, acc_t eps)
{
    using Ops = WelfordOps<acc_t>;
    const int per_group = channels / groups;
    const int size = per_group * spatial;
    const int group = blockIdx.x % groups;
    const T* in = x + static_cast<size_t>(blockIdx.x) * size;
    T* out = y + static_cast<size_t>(blockIdx.x) * size;

    WelfordData<acc_t> mine;
    for (int i = threadIdx.x; i < size; i += blockDim.x) mine = Ops::update(mine, static_cast<acc_t>(in[i]));
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) mine = Ops::combine(mine, Ops::shfl_xor(mine, mask));

    __shared__ acc_t stats[kWarps][3];
    const int warp = threadIdx.x / warpSize;
    if (threadIdx.x % warpSize == 0) {
        stats[warp][0] = mine.mean;
        stats[warp][1] = mine.m2;
        stats[warp][2] = mine.count;
    }
    __syncthreads();

    WelfordData<acc_t> total;
    for (int w = 0; w < kWarps; ++w) {
        WelfordData<acc_t> part;
        part.mean = stats[w][0];
        part.m2 = stats[w][1];
        part.count = stats[w][2];
        total = Ops::combine(total, part);
    }
    const acc_t rstd = rsqrt(total.m2 / total.count + eps);
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        const int c = group * per_group + i / spatial;
        out[i] = static_cast<T>((static_cast<acc_t>(in[i]) - total.mean) * rstd * weight[c] + bias[c]);
    }
}

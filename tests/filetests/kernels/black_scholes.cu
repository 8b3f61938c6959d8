// European options by the closed formula; one thread prices several, a struct of results a lane.

struct Price {
    float call, put;
};

__device__ inline float normal_cdf(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

__device__ Price black_scholes(float spot, float strike, float years, float rate, float vol)
{
    const float sqrt_t = sqrtf(years);
    const float d1 = (logf(spot / strike) + (rate + 0.5f * vol * vol) * years) / (vol * sqrt_t);
    const float d2 = d1 - vol * sqrt_t;
    const float discounted = strike * expf(-rate * years);
    return Price{spot * normal_cdf(d1) - discounted * normal_cdf(d2),
                 discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)};
}

template <int kPerThread>
__global__ void __launch_bounds__(128)
    price_options(float* __restrict__ calls, float* __restrict__ puts, const float* __restrict__ spots,
                  const float* __restrict__ strikes, const float* __restrict__ years, float rate, float vol, int n)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kPerThread;
    Price prices[kPerThread];
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
        if (first + k < n) prices[k] = black_scholes(spots[first + k], strikes[first + k], years[first + k], rate, vol);
    }
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
        if (first + k >= n) return;
        calls[first + k] = prices[k].call;
        puts[first + k] = prices[k].put;
    }
}

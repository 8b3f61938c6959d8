// Monte Carlo in 64-bit integers: points from a PCG generator a thread, those within the circle counted.
struct pcg32 {
    unsigned long long state, inc;

    __device__ pcg32(unsigned long long seed, unsigned long long sequence) {
        state = 0;
        inc = (sequence << 1) | 1;
        next();
        state += seed;
        next();
    }

    __device__ unsigned next() {
        unsigned long long old = state;
        state = old * 6364136223846793005ULL + inc;
        unsigned xorshifted = (unsigned)(((old >> 18) ^ old) >> 27);
        unsigned rot = (unsigned)(old >> 59);
        return (xorshifted >> rot) | (xorshifted << ((-rot) & 31));
    }

    __device__ float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }
};

__global__ void monte_carlo(int* hits, unsigned long long seed, int samples, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    pcg32 rng(seed, i);
    int inside = 0;
    for (int s = 0; s < samples; ++s) {
        float x = rng.uniform();
        float y = rng.uniform();
        if (x * x + y * y <= 1.0f) ++inside;
    }
    hits[i] = inside;
}

// Points in the quarter circle, counted with a generator of the kernel's own; its state is stored and taken up again.

struct XorShift {
    unsigned long long state;

    __device__ explicit XorShift(unsigned long long seed) : state(seed ? seed : 0x9E3779B97F4A7C15ull) {}

    static __device__ XorShift for_thread(unsigned long long seed, unsigned int thread)
    {
        XorShift rng(seed ^ (static_cast<unsigned long long>(thread + 1) * 0xD1342543DE82EF95ull));
        for (int i = 0; i < 4; ++i) rng.next();
        return rng;
    }

    __device__ unsigned int next()
    {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return static_cast<unsigned int>((state * 0x2545F4914F6CDD1Dull) >> 32);
    }
};

__global__ void count_hits(unsigned long long* states, unsigned long long* total, unsigned long long seed, int samples, bool resume)
{
    const unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    XorShift rng = resume ? XorShift(states[thread]) : XorShift::for_thread(seed, thread);

    unsigned int hits = 0;
    for (int i = 0; i < samples; ++i) {
        // 24-bit fixed point: squares are exact.
        const unsigned long long x = rng.next() >> 8, y = rng.next() >> 8;
        hits += x * x + y * y < (1ull << 48);
    }
    states[thread] = rng.state;

    for (int offset = 16; offset; offset >>= 1) hits += __shfl_down_sync(0xffffffffu, hits, offset);
    if ((threadIdx.x & 31) == 0) atomicAdd(total, static_cast<unsigned long long>(hits));
}

// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <omp.h>
#include <vector>

extern "C" void radix_pass(const unsigned* keys, unsigned* out, int n, int shift) {
    int most = omp_get_max_threads();
    std::vector<unsigned> counts(most * 16);
#pragma omp parallel
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        int begin = (long)n * thread / threads, end = (long)n * (thread + 1) / threads;
        unsigned places[16] = {};
        for (int i = begin; i < end; ++i) ++places[keys[i] >> shift & 15];
        for (int d = 0; d < 16; ++d) counts[thread * 16 + d] = places[d];
#pragma omp barrier
        unsigned before = 0;
        for (int d = 0; d < 16; ++d) {
            for (int t = 0; t < threads; ++t) {
                if (t == thread) places[d] = before;
                before += counts[t * 16 + d];
            }
        }
        for (int i = begin; i < end; ++i) out[places[keys[i] >> shift & 15]++] = keys[i];
    }
}

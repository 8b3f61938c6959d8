// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <omp.h>
#include <vector>

extern "C" void compact(const float* x, float* out, int* total, int n) {
    std::vector<int> counts(omp_get_max_threads() + 1);
#pragma omp parallel
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        int begin = (long)n * thread / threads, end = (long)n * (thread + 1) / threads;
        int count = 0;
        for (int i = begin; i < end; ++i) count += x[i] > 0.5f;
        counts[thread + 1] = count;
#pragma omp barrier
        int at = 0;
        for (int t = 0; t <= thread; ++t) at += counts[t];
        for (int i = begin; i < end; ++i)
            if (x[i] > 0.5f) out[at++] = x[i];
        if (thread == threads - 1) *total = at;
    }
}

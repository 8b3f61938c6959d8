// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <algorithm>

extern "C" void bitonic_sort(unsigned* out, const unsigned* in, int n) {
#pragma omp parallel for
    for (int begin = 0; begin < n; begin += 1024) {
        std::copy(in + begin, in + begin + 1024, out + begin);
        std::sort(out + begin, out + begin + 1024);
    }
}

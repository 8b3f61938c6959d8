// test run
#include <algorithm>

// Explicit types convert the arguments first; a list takes the extreme of all.
__global__ void k(float* y, int n) {
    y[0] = std::max<float>(1, 2.5f);
    y[1] = std::min<int>(2.9f, 2.1f) + std::max<double>(n, 0.5);
    y[2] = std::max({1.0f, 7.0f, 3.0f});
    y[3] = std::min({n, 4, 9, -2});
    y[4] = std::max({n});
    y[5] = std::max<long long>({1LL << 40, 5LL}) == (1LL << 40);
}
// run: k<<<1, 1>>>(y = poison(6), n = 3)
//   y == [2.5, 5, 7, -2, 3, 1]

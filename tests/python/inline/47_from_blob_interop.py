"""Results made in std::vector or arrays, returned by from_blob(...).clone(); memcpy from a tensor; std::array, accumulate, sort."""
CPP = r'''
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

torch::Tensor sieve(int64_t limit) {
    std::vector<bool> composite(limit + 1, false);
    std::vector<int64_t> primes;
    for (int64_t i = 2; i <= limit; ++i) {
        if (composite[i]) continue;
        primes.push_back(i);
        for (int64_t j = i * i; j <= limit; j += i) composite[j] = true;
    }
    return torch::from_blob(primes.data(), {static_cast<int64_t>(primes.size())}, torch::kInt64).clone();
}

torch::Tensor sorted_desc(torch::Tensor x) {
    x = x.contiguous();
    std::vector<float> v(x.data_ptr<float>(), x.data_ptr<float>() + x.numel());
    std::sort(v.begin(), v.end(), [](float a, float b) { return a > b; });
    auto options = torch::TensorOptions().dtype(torch::kFloat32);
    return torch::from_blob(v.data(), x.sizes(), options).clone();
}

double mean_of(torch::Tensor x) {
    std::vector<double> buffer(x.numel());
    std::memcpy(buffer.data(), x.contiguous().data_ptr(), x.numel() * sizeof(double));
    return std::accumulate(buffer.begin(), buffer.end(), 0.0) / buffer.size();
}

torch::Tensor sobel(bool vertical) {
    std::array<std::array<float, 3>, 3> k{{{-1.f, 0.f, 1.f}, {-2.f, 0.f, 2.f}, {-1.f, 0.f, 1.f}}};
    auto t = torch::from_blob(&k[0][0], {3, 3}).clone();
    return vertical ? t.t().contiguous() : t;
}

torch::Tensor strided(void) {
    static float data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    return torch::from_blob(data, {3, 2}, /*strides=*/{4, 2}, torch::kFloat).clone();
}

std::vector<int64_t> argsort_list(std::vector<double> values) {
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&values](int64_t a, int64_t b) { return values[a] < values[b]; });
    return order;
}
'''
CUDA = ""
FUNCTIONS = ["sieve", "sorted_desc", "mean_of", "sobel", "strided", "argsort_list"]


def check(m, t):
    import numpy as np

    t.close(m.sieve(30), np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29]))
    assert t.np(m.sieve(1)).shape == (0,)
    x = t.rng.standard_normal((7, 5)).astype(np.float32)
    want = np.sort(x.ravel())[::-1].reshape(7, 5)
    t.close(m.sorted_desc(t(x)), want, rtol=0, atol=0)
    t.close(m.sorted_desc(t(x.T)), want.reshape(5, 7), rtol=0, atol=0)
    d = t.rng.standard_normal(1003)
    assert abs(m.mean_of(t(d)) - d.mean()) < 1e-12
    k = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
    t.close(m.sobel(False), k)
    t.close(m.sobel(True), k.T)
    t.close(m.strided(), np.array([[0, 2], [4, 6], [8, 10]], np.float32))
    values = t.rng.integers(0, 5, 23).astype(float)
    assert m.argsort_list(values.tolist()) == np.argsort(values, kind="stable").tolist()

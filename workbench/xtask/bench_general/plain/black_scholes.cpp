// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

static float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
    float tail = 0.39894228f * std::exp(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" void black_scholes(float* call, float* put, const float* price, const float* strike, const float* years, float rate,
                              float volatility, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        float root = std::sqrt(years[i]);
        float d1 = (std::log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normal(d1), n2 = normal(d2), discount = std::exp(-rate * years[i]);
        call[i] = price[i] * n1 - strike[i] * discount * n2;
        put[i] = strike[i] * discount * (1.0f - n2) - price[i] * (1.0f - n1);
    }
}

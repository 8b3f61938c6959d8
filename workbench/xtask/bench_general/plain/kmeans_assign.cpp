// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cfloat>

extern "C" void kmeans_assign(const float* points, const float* centroids, int* labels, float* distances, int n, int k, int dims) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        const float* point = points + (long)i * dims;
        float least = FLT_MAX;
        int best = 0;
        for (int c = 0; c < k; ++c) {
            float distance = 0;
#pragma omp simd reduction(+ : distance)
            for (int d = 0; d < dims; ++d) {
                float difference = point[d] - centroids[c * dims + d];
                distance += difference * difference;
            }
            if (distance < least) least = distance, best = c;
        }
        labels[i] = best;
        distances[i] = least;
    }
}

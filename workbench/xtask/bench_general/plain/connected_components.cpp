// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <algorithm>

static int find(int* parent, int v) {
    int p = __atomic_load_n(parent + v, __ATOMIC_RELAXED);
    while (p != v) {
        int g = __atomic_load_n(parent + p, __ATOMIC_RELAXED);
        if (g != p) __atomic_store_n(parent + v, g, __ATOMIC_RELAXED);
        v = p;
        p = g;
    }
    return p;
}

extern "C" void connected_components(const int* from, const int* to, int* parent, int* labels, int n, int edges) {
#pragma omp parallel for
    for (int v = 0; v < n; ++v) parent[v] = v;
#pragma omp parallel for
    for (int e = 0; e < edges; ++e) {
        int a = find(parent, from[e]), b = find(parent, to[e]);
        while (a != b) {
            int high = std::max(a, b), low = std::min(a, b), expected = high;
            if (__atomic_compare_exchange_n(parent + high, &expected, low, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
            a = find(parent, expected);
            b = find(parent, low);
        }
    }
#pragma omp parallel for
    for (int v = 0; v < n; ++v) {
        int root = v;
        while (parent[root] != root) root = parent[root];
        labels[v] = root;
    }
}

// Connected components of a graph by union and find: every edge hooks the larger root under the smaller, then every path is shortened.
__device__ int find_root(int* parent, int v) {
    int p = parent[v];
    while (p != v) {
        int g = parent[p];
        if (g != p) parent[v] = g;
        v = p;
        p = g;
    }
    return p;
}

__global__ void init_parents(int* parent, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) parent[v] = v;
}

__global__ void hook_edges(const int* __restrict__ from, const int* __restrict__ to, int* parent, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    int a = find_root(parent, from[e]);
    int b = find_root(parent, to[e]);
    while (a != b) {
        int high = max(a, b), low = min(a, b);
        int old = atomicCAS(&parent[high], high, low);
        if (old == high) break;
        a = find_root(parent, old);
        b = find_root(parent, low);
    }
}

__global__ void flatten(const int* parent, int* labels, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int root = v;
    while (parent[root] != root) root = parent[root];
    labels[v] = root;
}

// Connected components of a binary image: labels are a forest of parents, merged by atomics, then flattened.

__device__ int find_root(const volatile int* parent, int node)
{
    int next = parent[node];
    while (next != node) {
        node = next;
        next = parent[node];
    }
    return node;
}

__device__ void unite(int* parent, int a, int b)
{
    bool done;
    do {
        a = find_root(parent, a);
        b = find_root(parent, b);
        if (a < b) {
            const int old = atomicMin(&parent[b], a);
            done = (old == b);
            b = old;
        } else if (b < a) {
            const int old = atomicMin(&parent[a], b);
            done = (old == a);
            a = old;
        } else {
            done = true;
        }
    } while (!done);
}

extern "C" {

__global__ void init_labels(const unsigned char* image, int* labels, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) labels[i] = image[i] ? i : -1;
}

__global__ void merge_labels(const unsigned char* image, int* labels, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int i = y * width + x;
    if (!image[i]) return;
    if (x > 0 && image[i - 1]) unite(labels, i, i - 1);
    if (y > 0 && image[i - width]) unite(labels, i, i - width);
}

__global__ void flatten_labels(int* labels, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && labels[i] >= 0) labels[i] = find_root(labels, i);
}

}  // extern "C"

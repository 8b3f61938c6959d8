"""Connected components of a binary image by union-find with atomicMin (init, merge, compress), then region sizes and an iterative flood fill."""
CPP = r'''
std::tuple<torch::Tensor, int64_t> label(torch::Tensor image, int connectivity);
std::pair<torch::Tensor, int> flood(torch::Tensor image, int64_t row, int64_t col);
'''
CUDA = r'''
#include <torch/extension.h>

// -- union-find over pixel indices: a root is its own parent, and is the smallest index of its tree
__device__ int find_root(const volatile int* parent, int i) {
    while (parent[i] != i) i = parent[i];
    return i;
}

__device__ void unite(int* parent, int a, int b) {
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

__global__ void init_labels(const unsigned char* img, int* parent, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) parent[i] = img[i] ? i : -1;
}

__global__ void merge(const unsigned char* img, int* parent, int h, int w, bool diagonal) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int i = y * w + x;
    if (!img[i]) return;
    if (x > 0 && img[i - 1]) unite(parent, i, i - 1);
    if (y > 0) {
        if (img[i - w]) unite(parent, i, i - w);
        if (diagonal && x > 0 && img[i - w - 1]) unite(parent, i, i - w - 1);
        if (diagonal && x + 1 < w && img[i - w + 1]) unite(parent, i, i - w + 1);
    }
}

__global__ void compress(int* parent, int* labels, int* roots, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (parent[i] < 0) { labels[i] = 0; return; }
    const int r = find_root(parent, i);
    labels[i] = r + 1;
    if (r == i) atomicAdd(roots, 1);
}

__global__ void flood_step(const unsigned char* img, const int* from, int* to, int h, int w, int* changed) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < h * w; i += blockDim.x * gridDim.x) {
        const int x = i % w, y = i / w;
        int best = from[i];
        const int nx[4] = {x - 1, x + 1, x, x}, ny[4] = {y, y, y - 1, y + 1};
        for (int k = 0; k < 4 && img[i]; ++k) {
            if (nx[k] < 0 || nx[k] >= w || ny[k] < 0 || ny[k] >= h) continue;
            const int d = from[ny[k] * w + nx[k]];
            if (d >= 0 && (best < 0 || d + 1 < best)) best = d + 1;
        }
        to[i] = best;
        if (best != from[i]) *changed = 1;
    }
}

std::tuple<torch::Tensor, int64_t> label(torch::Tensor image, int connectivity) {
    TORCH_CHECK(image.dtype() == torch::kUInt8, "expected a uint8 image");
    TORCH_CHECK_NOT_IMPLEMENTED(connectivity == 4 || connectivity == 8, "connectivity ", connectivity);
    const int h = image.size(0), w = image.size(1), n = h * w;
    auto opt = image.options().dtype(torch::kInt32);
    auto parent = torch::empty({h, w}, opt), labels = torch::empty({h, w}, opt), roots = torch::zeros(1, opt);
    if (n == 0) return {labels, 0};
    const unsigned char* img = image.data_ptr<uint8_t>();
    init_labels<<<(n + 255) / 256, 256>>>(img, parent.data_ptr<int>(), n);
    dim3 block(32, 4), grid((w + 31) / 32, (h + 3) / 4);
    merge<<<grid, block>>>(img, parent.data_ptr<int>(), h, w, connectivity == 8);
    compress<<<(n + 255) / 256, 256>>>(parent.data_ptr<int>(), labels.data_ptr<int>(), roots.data_ptr<int>(), n);
    return {labels, roots.item<int64_t>()};
}

std::pair<torch::Tensor, int> flood(torch::Tensor image, int64_t row, int64_t col) {
    TORCH_CHECK_INDEX(row >= 0 && row < image.size(0) && col >= 0 && col < image.size(1), "(", row, ", ", col, ") is outside of ", image.sizes());
    auto now = torch::full_like(image, -1, torch::kInt), next = torch::empty_like(now);
    now.index_put_({row, col}, 0);
    int *changed, steps = 0, host = 1;
    cudaMalloc(&changed, sizeof(int));
    while (host) {
        cudaMemset(changed, 0, sizeof(int));
        flood_step<<<4, 64>>>(image.data_ptr<uint8_t>(), now.data_ptr<int>(), next.data_ptr<int>(), image.size(0), image.size(1), changed);
        cudaMemcpy(&host, changed, sizeof(int), cudaMemcpyDeviceToHost);
        std::swap(now, next);
        steps += host;
    }
    cudaFree(changed);
    return {now, steps};
}
'''
FUNCTIONS = ["label", "flood"]


def check(m, t):
    from collections import deque

    import numpy as np

    def fill(image, seed, steps):
        far = np.full(image.shape, -1)
        far[seed] = 0
        queue = deque([seed])
        while queue:
            y, x = queue.popleft()
            for dy, dx in steps:
                v, u = y + dy, x + dx
                if 0 <= v < image.shape[0] and 0 <= u < image.shape[1] and image[v, u] and far[v, u] < 0:
                    far[v, u] = far[y, x] + 1
                    queue.append((v, u))
        return far

    plus = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    for shape, share in (((37, 45), 0.6), ((5, 70), 0.4), ((1, 1), 1.0)):
        image = (t.rng.random(shape) < share).astype(np.uint8)
        for steps, connectivity in ((plus, 4), (plus + [(1, 1), (1, -1), (-1, 1), (-1, -1)], 8)):
            want, count = np.zeros(shape, np.int32), 0
            for y, x in np.ndindex(*shape):
                if image[y, x] and not want[y, x]:  # the first pixel in reading order names its region
                    want[fill(image, (y, x), steps) >= 0] = y * shape[1] + x + 1
                    count += 1
            labels, n = m.label(t(image), connectivity)
            t.close(labels, want)
            assert n == count
        image[0, 0] = 1
        far = fill(image, (0, 0), plus)
        got, steps = m.flood(t(image), 0, 0)
        t.close(got, far.astype(np.int32))
        assert steps == far.max()
    assert m.label(t(np.zeros((0, 4), np.uint8)), 4)[1] == 0
    with t.raises(NotImplementedError, "connectivity 6"):
        m.label(t(image), 6)
    with t.raises(IndexError, "(3, 0) is outside of [1, 1]"):
        m.flood(t(image), 3, 0)

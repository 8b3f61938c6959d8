"""First-CUDA-blog toys: Game of Life on a torus with bit tricks, Mandelbrot by intrinsics without contraction, Perlin noise from a constant table."""
CPP = r'''
torch::Tensor life(torch::Tensor board, int generations);
torch::Tensor mandelbrot(int width, int height, double x0, double x1, double y0, double y1, int max_iter, torch::Tensor like);
torch::Tensor perlin(torch::Tensor points, torch::Tensor permutation, int octaves, float persistence);
'''
CUDA = r'''
#include <torch/extension.h>

__global__ void life_kernel(const uint8_t* __restrict__ in, uint8_t* __restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) alive += in[(y + dy + h) % h * w + (x + dx + w) % w];
    // bit n of a rule tells whether n neighbours give life
    const unsigned birth = 1u << 3, survive = 1u << 2 | 1u << 3;
    out[y * w + x] = ((in[y * w + x] ? survive : birth) >> alive) & 1u;
}

torch::Tensor life(torch::Tensor board, int generations) {
    TORCH_CHECK(board.dim() == 2 && board.scalar_type() == torch::kByte, "the board is a uint8 matrix");
    int h = board.size(0), w = board.size(1);
    torch::Tensor buffers[2] = {board.clone(), torch::empty_like(board)};
    dim3 threads(16, 16);
    dim3 blocks;
    blocks.x = (w + threads.x - 1) / threads.x;
    blocks.y = (h + threads.y - 1) / threads.y;
    for (int g = 0; g < generations; g++)
        life_kernel<<<blocks, threads>>>(buffers[g % 2].data_ptr<uint8_t>(), buffers[(g + 1) % 2].data_ptr<uint8_t>(), w, h);
    return buffers[generations % 2];
}

struct Complex {
    double re, im;
    __device__ Complex(double r, double i) : re(r), im(i) {}
    // every product and sum is rounded: no fma
    __device__ double norm2() const { return __dadd_rn(__dmul_rn(re, re), __dmul_rn(im, im)); }
    __device__ Complex squared() const {
        return Complex(__dsub_rn(__dmul_rn(re, re), __dmul_rn(im, im)), __dmul_rn(2.0, __dmul_rn(re, im)));
    }
    __device__ Complex operator+(const Complex& o) const { return Complex(__dadd_rn(re, o.re), __dadd_rn(im, o.im)); }
};

__global__ void mandelbrot_kernel(int* out, int width, int height, double x0, double dx, double y0, double dy, int max_iter) {
    const int px = threadIdx.x + blockIdx.x * blockDim.x, py = threadIdx.y + blockIdx.y * blockDim.y;
    if (px < width && py < height) {
        const Complex c(__dadd_rn(x0, __dmul_rn(px, dx)), __dadd_rn(y0, __dmul_rn(py, dy)));
        Complex z(0, 0);
        int k;
        for (k = 0; k < max_iter && z.norm2() <= 4.0; ++k) z = z.squared() + c;
        out[py * width + px] = k;
    }
}

torch::Tensor mandelbrot(int width, int height, double x0, double x1, double y0, double y1, int max_iter, torch::Tensor like) {
    auto image = torch::empty({height, width}, like.options().dtype(torch::kInt32));
    const dim3 block{8, 8}, grid{(unsigned)(width + 7) / 8, (unsigned)(height + 7) / 8};
    mandelbrot_kernel<<<grid, block>>>(image.data_ptr<int>(), width, height, x0, (x1 - x0) / width, y0, (y1 - y0) / height, max_iter);
    return image;
}

__constant__ int P[512];

__device__ float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
__device__ float mix(float t, float a, float b) { return a + t * (b - a); }
__device__ float gradient(int hash, float x, float y) {
    switch (hash & 7) {
        case 0: return  x + y;
        case 1: return -x + y;
        case 2: return  x - y;
        case 3: return -x - y;
        case 4: return  x;
        case 5: return -x;
        case 6: return  y;
        default: return -y;
    }
}

__device__ float noise(float x, float y) {
    const int X = (int)floorf(x) & 255, Y = (int)floorf(y) & 255;
    x -= floorf(x);
    y -= floorf(y);
    const float u = fade(x), v = fade(y);
    const int A = P[X] + Y, B = P[X + 1] + Y;
    return mix(v, mix(u, gradient(P[A], x, y), gradient(P[B], x - 1, y)), mix(u, gradient(P[A + 1], x, y - 1), gradient(P[B + 1], x - 1, y - 1)));
}

__global__ void perlin_kernel(const float2* p, float* out, int n, int octaves, float persistence) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float total = 0, amplitude = 1, frequency = 1;
    while (octaves-- > 0) {
        total += amplitude * noise(p[i].x * frequency, p[i].y * frequency);
        amplitude *= persistence;
        frequency *= 2;
    }
    out[i] = total;
}

torch::Tensor perlin(torch::Tensor points, torch::Tensor permutation, int octaves, float persistence) {
    TORCH_CHECK(permutation.numel() == 256, "the permutation has ", permutation.numel(), " entries, not 256");
    auto twice = torch::cat({permutation, permutation}).to(torch::kInt).cpu().contiguous();
    cudaMemcpyToSymbol(P, twice.data_ptr<int>(), 512 * sizeof(int), 0, cudaMemcpyHostToDevice);
    int n = points.size(0);
    auto out = torch::empty({n}, points.options());
    perlin_kernel<<<(n + 63) / 64, 64>>>((const float2*)points.data_ptr<float>(), out.data_ptr<float>(), n, octaves, persistence);
    return out;
}
'''
FUNCTIONS = ["life", "mandelbrot", "perlin"]


def check(m, t):
    import numpy as np

    for shape in ((37, 45), (5, 3), (16, 16)):
        board = t.rng.integers(0, 2, shape).astype(np.uint8)
        b = board.astype(int)
        for g in range(4):
            t.close(m.life(t(board), g), b.astype(np.uint8))
            near = sum(np.roll(b, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - b
            b = ((near == 3) | ((near == 2) & (b == 1))).astype(int)
    w, h, limit = 41, 29, 60
    cr = (-2.1 + np.arange(w) * ((0.7 + 2.1) / w))[None].repeat(h, 0)
    ci = (-1.2 + np.arange(h) * ((1.2 + 1.2) / h))[:, None].repeat(w, 1)
    zr, zi, k = np.zeros((h, w)), np.zeros((h, w)), np.zeros((h, w), np.int32)
    for _ in range(limit):
        go = zr * zr + zi * zi <= 4
        k += go
        zr, zi = np.where(go, zr * zr - zi * zi + cr, zr), np.where(go, 2 * (zr * zi) + ci, zi)
    t.close(m.mandelbrot(w, h, -2.1, 0.7, -1.2, 1.2, limit, t(board)), k)

    perm = t.rng.permutation(256)
    p2 = np.concatenate([perm, perm])
    arms = np.array([(1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)])
    pts = (t.rng.integers(-5000, 5000, (203, 2)) / 256).astype(np.float32)

    def noise(p):
        cell = np.floor(p).astype(int)
        f = p - cell
        x, y = (cell & 255).T
        total = np.zeros(len(p))
        s = f**3 * (f * (f * 6 - 15) + 10)
        for i in (0, 1):
            for j in (0, 1):
                arm = arms[p2[p2[x + i] + y + j] & 7]
                weight = (s[:, 0] if i else 1 - s[:, 0]) * (s[:, 1] if j else 1 - s[:, 1])
                total += weight * (arm * (f - (i, j))).sum(1)
        return total

    want = sum(0.5**o * noise(pts.astype(np.float64) * 2**o) for o in range(4))
    t.close(m.perlin(t(pts), t(perm), 4, 0.5), want, rtol=1e-4, atol=1e-5)
    with t.raises(RuntimeError, "the permutation has 255 entries, not 256"):
        m.perlin(t(pts), t(perm[1:].copy()), 1, 0.5)

// Life on a torus, one byte a cell; the rule is a pair of bit masks by neighbour count.
typedef unsigned char cell_t;

template <unsigned kBirth, unsigned kSurvive>
struct Rule {
    __host__ __device__ static cell_t next(cell_t alive, int neighbours)
    {
        const unsigned mask = alive ? kSurvive : kBirth;
        return (mask >> neighbours) & 1u;
    }
};

using Conway = Rule<1u << 3, 1u << 2 | 1u << 3>;
using HighLife = Rule<1u << 3 | 1u << 6, 1u << 2 | 1u << 3>;

template <class R>
__global__ void life_step(const cell_t* __restrict__ world, cell_t* __restrict__ next, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    int neighbours = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            if (dx == 0 && dy == 0) continue;
            const int nx = (x + dx + width) % width;
            const int ny = (y + dy + height) % height;
            neighbours += world[ny * width + nx];
        }
    }
    next[y * width + x] = R::next(world[y * width + x], neighbours);
}

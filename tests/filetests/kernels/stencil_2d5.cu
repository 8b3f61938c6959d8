// One explicit step of the heat equation: five points, a shared tile with a ring of halo, fixed borders.

#define BX 16
#define BY 8
#define AT(row, col) ((row) * nx + (col))

__global__ void heat_step(const float* __restrict__ u, float* __restrict__ u_new, int nx, int ny, float alpha)
{
    __shared__ float s[BY + 2][BX + 2];

    const int col = blockIdx.x * BX + threadIdx.x;
    const int row = blockIdx.y * BY + threadIdx.y;
    const int sx = threadIdx.x + 1, sy = threadIdx.y + 1;
    const bool inside = col < nx && row < ny;

    if (inside) {
        s[sy][sx] = u[AT(row, col)];
        if (threadIdx.x == 0 && col > 0) s[sy][0] = u[AT(row, col - 1)];
        if ((threadIdx.x == BX - 1 || col == nx - 1) && col + 1 < nx) s[sy][sx + 1] = u[AT(row, col + 1)];
        if (threadIdx.y == 0 && row > 0) s[0][sx] = u[AT(row - 1, col)];
        if ((threadIdx.y == BY - 1 || row == ny - 1) && row + 1 < ny) s[sy + 1][sx] = u[AT(row + 1, col)];
    }
    __syncthreads();

    if (!inside) return;
    if (col == 0 || row == 0 || col == nx - 1 || row == ny - 1) {
        u_new[AT(row, col)] = s[sy][sx];
        return;
    }
    const float centre = s[sy][sx];
    const float laplacian = s[sy - 1][sx] + s[sy + 1][sx] + s[sy][sx - 1] + s[sy][sx + 1] - 4.0f * centre;
    u_new[AT(row, col)] = centre + alpha * laplacian;
}

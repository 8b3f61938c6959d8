// Heat equation in two dimensions, a step in double: five points.
__global__ void stencil2d_double(const double* __restrict__ u, double* __restrict__ next, int nx, int ny, double alpha) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        int at = j * nx + i;
        next[at] = u[at] + alpha * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] - 4.0 * u[at]);
    }
}

// Seven-point stencil in three dimensions: blocks cover x and y, each thread walks z with the planes around it in registers.

template <int TX, int TY>
__global__ void __launch_bounds__(TX * TY)
    laplace_3d(const double* __restrict__ in, double* __restrict__ out, int nx, int ny, int nz, double c_mid, double c_side)
{
    __shared__ double plane[TY + 2][TX + 2];

    const int x = blockIdx.x * TX + threadIdx.x;
    const int y = blockIdx.y * TY + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool valid = x < nx && y < ny;
    const size_t step = static_cast<size_t>(nx) * ny;
    size_t at = static_cast<size_t>(y) * nx + x;

    // Outside the box everything is zero.
    double below = 0.0;
    double here = valid ? in[at] : 0.0;
    for (int z = 0; z < nz; ++z, at += step) {
        const double above = valid && z + 1 < nz ? in[at + step] : 0.0;

        plane[ty][tx] = here;
        if (threadIdx.x == 0) plane[ty][0] = valid && x > 0 ? in[at - 1] : 0.0;
        if (threadIdx.x == TX - 1) plane[ty][TX + 1] = valid && x + 1 < nx ? in[at + 1] : 0.0;
        if (threadIdx.y == 0) plane[0][tx] = valid && y > 0 ? in[at - nx] : 0.0;
        if (threadIdx.y == TY - 1) plane[TY + 1][tx] = valid && y + 1 < ny ? in[at + nx] : 0.0;
        __syncthreads();

        if (valid) {
            const double sides = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above;
            out[at] = c_mid * here + c_side * sides;
        }
        __syncthreads();
        below = here;
        here = above;
    }
}

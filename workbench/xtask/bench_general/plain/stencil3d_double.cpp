// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void stencil3d_double(const double* in, double* out, int nx, int ny, int nz, double c0, double c1) {
    long plane = (long)nx * ny;
#pragma omp parallel for
    for (int z = 1; z < nz - 1; ++z) {
        for (int y = 1; y < ny - 1; ++y) {
            for (int x = 1; x < nx - 1; ++x) {
                long at = z * plane + (long)y * nx + x;
                out[at] = c0 * in[at] + c1 * (in[at - plane] + in[at + plane] + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]);
            }
        }
    }
}

// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void stencil2d_double(const double* u, double* next, int nx, int ny, double alpha) {
#pragma omp parallel for
    for (int j = 1; j < ny - 1; ++j) {
        for (int i = 1; i < nx - 1; ++i) {
            long at = (long)j * nx + i;
            next[at] = u[at] + alpha * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] - 4.0 * u[at]);
        }
    }
}

// Escape times in double precision with a small complex type; the image is a grid of uchar4-like packed colours besides.

template <typename T>
class Complex {
public:
    T re, im;

    __host__ __device__ constexpr Complex(T r = T(), T i = T()) : re(r), im(i) {}
    __host__ __device__ Complex operator*(const Complex& o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
    __host__ __device__ Complex operator+(const Complex& o) const { return {re + o.re, im + o.im}; }
    __host__ __device__ Complex& operator+=(const Complex& o) { return *this = *this + o; }
    __host__ __device__ friend T norm(const Complex& z) { return z.re * z.re + z.im * z.im; }
};

template <typename T>
__device__ int escape_time(Complex<T> c, int max_iterations)
{
    Complex<T> z;
    int n = 0;
    while (n < max_iterations && norm(z) <= T(4)) {
        z = z * z + c;
        ++n;
    }
    return n;
}

__constant__ unsigned int palette[4] = {0xff000000u, 0xff0040ffu, 0xff40ff00u, 0xffff4000u};

__global__ void mandelbrot(int* iterations, unsigned int* colours, int width, int height,
                           double x0, double y0, double step, int max_iterations)
{
    const int px = blockIdx.x * blockDim.x + threadIdx.x;
    const int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    const Complex<double> c{x0 + step * px, y0 + step * py};
    const int n = escape_time(c, max_iterations);
    const int i = py * width + px;
    iterations[i] = n;
    colours[i] = n == max_iterations ? palette[0] : palette[1 + n % 3];
}

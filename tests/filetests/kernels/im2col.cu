// Lowering of images to columns and its adjoint: the geometry travels as a struct by value, as configuration does.

struct Geometry {
    int height, width;            // of the image
    int filter_h, filter_w;
    int pad_h, pad_w;
    int stride_h, stride_w;
    int dilation_h, dilation_w;
    int rows, cols;               // of the output positions

    __device__ int positions() const { return rows * cols; }
    __device__ int taps() const { return filter_h * filter_w; }
};

__device__ inline bool in_range(int v, int limit) { return static_cast<unsigned>(v) < static_cast<unsigned>(limit); }

// One thread fills the columns of one channel and one output position.
template <typename T>
__global__ void image_to_columns(const T* __restrict__ image, T* __restrict__ columns, int channels, const Geometry g)
{
    const int work = channels * g.positions();
    for (int id = blockDim.x * blockIdx.x + threadIdx.x; id < work; id += blockDim.x * gridDim.x) {
        const int channel = id / g.positions();
        const int position = id - channel * g.positions();
        const int top = position / g.cols * g.stride_h - g.pad_h;
        const int left = position % g.cols * g.stride_w - g.pad_w;

        const T* plane = image + channel * g.height * g.width;
        T* column = columns + channel * g.taps() * g.positions() + position;
        for (int tap = 0; tap < g.taps(); ++tap, column += g.positions()) {
            const int y = top + tap / g.filter_w * g.dilation_h;
            const int x = left + tap % g.filter_w * g.dilation_w;
            *column = in_range(y, g.height) && in_range(x, g.width) ? plane[y * g.width + x] : T();
        }
    }
}

// One thread gathers all that a pixel had been copied to.
template <typename T>
__global__ void columns_to_image(const T* __restrict__ columns, T* __restrict__ image, int channels, const Geometry g)
{
    const int pixels = channels * g.height * g.width;
    for (int id = blockDim.x * blockIdx.x + threadIdx.x; id < pixels; id += blockDim.x * gridDim.x) {
        const int x = id % g.width;
        const int y = id / g.width % g.height;
        const int channel = id / (g.width * g.height);
        T sum{};
        for (int tap = 0; tap < g.taps(); ++tap) {
            int row = y + g.pad_h - tap / g.filter_w * g.dilation_h;
            int col = x + g.pad_w - tap % g.filter_w * g.dilation_w;
            if (row < 0 || col < 0 || row % g.stride_h || col % g.stride_w) continue;
            row /= g.stride_h;
            col /= g.stride_w;
            if (row >= g.rows || col >= g.cols) continue;
            sum += columns[(channel * g.taps() + tap) * g.positions() + row * g.cols + col];
        }
        image[id] = sum;
    }
}

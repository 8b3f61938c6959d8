// test run
// A float to 8 or 16 bits goes by way of 32, as NVCC compiles it: truncated and saturated there, then the low bits.

template <class From> __global__ void narrow(int* y, const From* x, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    y[4 * i] = (unsigned char)x[i];
    y[4 * i + 1] = (signed char)x[i];
    y[4 * i + 2] = (unsigned short)x[i];
    y[4 * i + 3] = (short)x[i];
}
template __global__ void narrow<float>(int*, const float*, int);
template __global__ void narrow<double>(int*, const double*, int);

// 300.7: 300 = 256 + 44. -1.5: unsigned saturates to 0. 70000 = 0x11170. 1e20 saturates: 0xffffffff and 0x7fffffff.
// run: narrow<float><<<1, 8>>>(y = poison(20), x = [300.7, -1.5, 70000, 1e20, nan], n = 5)
//   y == [44, 44, 300, 300, 0, -1, 0, -1, 112, 112, 4464, 4464, 255, -1, 65535, -1, 0, 0, 0, 0]
// run: narrow<double><<<1, 8>>>(y = poison(20), x = [300.7, -1.5, 70000, 1e20, nan], n = 5)
//   y == [44, 44, 300, 300, 0, -1, 0, -1, 112, 112, 4464, 4464, 255, -1, 65535, -1, 0, 0, 0, 0]

__global__ void folded(int* y)
{
    y[0] = (unsigned char)300.7f;
    y[1] = (short)-70000.0;
    const float f = 70000.5f;
    y[2] = (unsigned short)f;
}

// -70000 = -0x11170: low half 0xee90
// run: folded<<<1, 1>>>(y = poison(3))
//   y == [44, -4464, 4464]

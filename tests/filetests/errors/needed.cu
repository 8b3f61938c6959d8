// test error
__device__ __forceinline__ void copy_async(void* to, const void* from) {
    asm volatile("cp.async.bulk.shared.global [%0], [%1], 16;\n" ::"l"(to), "l"(from));
}
__device__ void by(float* y) { copy_async(y, y); }
__global__ void k(float* y) { by(y); }
// error WB0401 3:5 inline PTX is not supported
struct Shape { virtual float area() const; float side; };
__global__ void sized(int* y) { y[0] = sizeof(Shape); }
// error WB0401 8:16 virtual functions are not supported
__device__ cudaTextureObject_t pick(float a);
__device__ float pick(double a) { return a; }
__global__ void picks(float* y) { y[0] = pick(1.0f); }
#include <no/such/library.h>
#include <algorithm>
__global__ void extremes(float* y) { y[0] = std::max<3>(1, 2) + std::max({{1, 2}, {3}}); }
// error WB0401 11:12 a texture
// warning WB0102 14:10 there is no header <no/such/library.h>: it is left out
// error WB0303 16:45 the template argument of `std::max` is a type
// error WB0303 16:65 takes a list of numbers, not of lists

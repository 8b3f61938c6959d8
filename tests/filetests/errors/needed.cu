// test error
__device__ __forceinline__ void copy_async(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"l"(to), "l"(from));
}
__device__ void by(float* y) { copy_async(y, y); }
__global__ void k(float* y) { by(y); }
// error WB0401 3:5 inline PTX is not supported
struct Shape { virtual float area() const; float side; };
__global__ void sized(int* y) { y[0] = sizeof(Shape); }
// error WB0401 8:16 virtual functions are not supported

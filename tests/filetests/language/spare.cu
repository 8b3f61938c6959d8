// test run cpu
#include <vector>
#include <third/party.h>
#include <stdexcept>
struct Pool {
    std::vector<void*> blocks;
    virtual ~Pool();
    void* get(size_t n) { if (blocks.empty()) throw std::runtime_error("none"); return new char[n]; }
};
class Shared {
    float scale;
public:
    __host__ __device__ Shared(float s) : scale(s) {}
    __device__ float apply(float x) const { return scale * x; }
    operator std::string() const { return std::to_string(scale); }
    void show() { std::vector<int> v; throw 1; }
};
static Pool* pool() { static Pool p; return &p; }
__device__ __forceinline__ void copy_async(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"l"(to), "l"(from));
}
__device__ float pick(float a) { return a; }
__device__ cudaTextureObject_t pick(cudaTextureObject_t a) { return a; }
template <typename T> __global__ void with_ptx(T* x) { copy_async(x, x); }
__global__ void k(float* y) { Shared s(2.0f); y[threadIdx.x] = s.apply(pick(3.0f)); }
int main() { pool()->get(3); return 0; }
// run: k<<<1, 2>>>(y = poison(2))
//   y == [6, 6]

// test run

namespace math {
__device__ int twice(int x) { return 2 * x; }
constexpr int base = 10;
namespace inner {
__device__ int thrice(int x) { return 3 * x; }
struct Tag { int v; };
__device__ int weigh(Tag t) { return t.v * 100; }
}
}
namespace alias = math::inner;
namespace { __device__ int hidden(int x) { return x + 1; } }
namespace v1 { inline namespace now { __device__ int f() { return 7; } } }

__device__ int twice(int x) { return -x; }

__global__ void names(int* out) {
    out[0] = math::twice(4);
    out[1] = twice(4);
    out[2] = ::twice(5);
    out[3] = math::inner::thrice(math::base);
    out[4] = alias::thrice(2);
    out[5] = hidden(41);
    out[6] = v1::f();
    using math::inner::thrice;
    out[7] = thrice(5);
    using namespace math;
    out[8] = base + 1;
    math::inner::Tag t{3};
    out[9] = weigh(t);
}
// run: names<<<1, 1>>>(out = poison(10))
//   out == [8, -4, -5, 30, 6, 42, 7, 15, 11, 300]

namespace shadow {
constexpr int n = 1;
__device__ int get() { return n; }
namespace deep {
constexpr int n = 2;
__device__ int get2() { return n * 10 + shadow::n; }
}
}
__global__ void nearest_wins(int* out) {
    out[0] = shadow::get();
    out[1] = shadow::deep::get2();
}
// run: nearest_wins<<<1, 1>>>(out = poison(2))
//   out == [1, 21]

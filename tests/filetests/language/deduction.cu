// test run
#include <utility>

// Through an alias of a template, and from a result alone.
template <size_t... I> __device__ int total(std::index_sequence<I...>) { return (0 + ... + int(I)); }
template <typename F, size_t... I> __device__ int each(F f, std::index_sequence<I...>) { return (0 + ... + f(I)); }

struct pair_t { float x, y; };
template <typename Acc, typename A, typename B> __device__ Acc mul(A a, B b);
template <> __device__ float mul<float, float>(float a, float b) { return a * b; }
template <> __device__ pair_t mul(pair_t a, pair_t b) { return {a.x * b.x, a.y * b.y}; }
template <> __device__ pair_t mul(float a, pair_t b) { return mul<pair_t, pair_t, pair_t>({a, a}, b); }

// The more specialised of two templates, where only a conversion would make the other fit.
template <typename G> __device__ int copy(const G&, void*) { return 1; }
template <typename G, typename T> __device__ int copy(const G&, T*) { return 2; }

__global__ void deduced(int* out, float* y) {
    out[0] = total(std::make_index_sequence<5>{});                                    // 0 + 1 + 2 + 3 + 4
    out[1] = each([](size_t i) { return int(i * i); }, std::make_index_sequence<4>{});  // 0 + 1 + 4 + 9
    out[2] = copy(1, (void*)out) * 10 + copy(1, out);
    pair_t p = mul<pair_t, float, pair_t>(2.0f, pair_t{3, 4});
    y[0] = p.x;
    y[1] = p.y + mul<float, float, float>(2, 3);
}
// run: deduced<<<1, 1>>>(out = poison(3), y = poison(2))
//   out == [10, 14, 12]
//   y == [6, 14]

// Functions in tables of the module, of the device and constant.
typedef float (*op_t)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ op_t table[2] = {add, sub};
__constant__ op_t fixed[2] = {&sub, &add};

__global__ void called(float* y, int which) {
    y[0] = table[which](7, 2);
    y[1] = fixed[which](7, 2);
    if (threadIdx.x == 0) table[0] = sub;
    y[2] = table[0](1, 4);
}
// run: called<<<1, 1>>>(y = poison(3), which = 0)
//   y == [9, 5, -3]

// Made when compiling, where a constructor says how.
template <int N> struct Squares {
    int v[N]{};
    constexpr Squares() {
        for (int i = 0; i < N; ++i) v[i] = i * i;
    }
};
__constant__ Squares<5> squares;

// One for the whole program, kept between launches; a default is for callers on the host.
__global__ void counted(int* out, int by = 1) {
    static int calls = 10;
    atomicAdd(&calls, by);
    __syncthreads();
    out[0] = calls;
    out[1] = squares.v[3];
}
// run: counted<<<1, 4>>>(out = poison(2), by = 2)
//   out == [18, 9]
// run: counted<<<1, 4>>>(out = poison(2), by = 1)
//   out == [22, 9]

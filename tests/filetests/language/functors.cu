// test run
// The standard library's functors, with a type and without; index sequences of packs; members of unions without names.
#include <functional>
#include <utility>

template <class Op> __device__ float apply(Op op, float a, float b) { return op(a, b); }

__global__ void functors(float* y, float a, float b)
{
    y[0] = apply(std::plus<>{}, a, b);
    y[1] = apply(std::minus<float>{}, a, b);
    y[2] = apply(std::multiplies<>(), a, b);
    y[3] = apply(std::divides<void>{}, a, b);
    y[4] = std::modulus<>{}(17, 5);
    y[5] = std::bit_and<int>{}(12, 10) * 100 + std::bit_or<>{}(12, 10) * 10 + std::bit_xor<>{}(12, 10);
    y[6] = std::less<>{}(a, b) * 8 + std::greater_equal<>{}(a, b) * 4 + std::equal_to<>{}(a, a) * 2 + std::logical_and<>{}(a, 0);
    // The type is that of the operands: 7 / 2 of two ints.
    y[7] = std::divides<>{}(7, 2);
}

// run: functors<<<1, 1>>>(y = poison(8), a = 6, b = 4)
//   y == [10, 2, 24, 1.5, 2, 946, 6, 3]

template <size_t... I, class... T> __device__ float weighted(std::index_sequence<I...>, T... x)
{
    return ((float(I + 1) * x) + ...);
}
template <class... T> __device__ float weighted(T... x) { return weighted(std::index_sequence_for<T...>{}, x...); }

struct Vec {
    union {
        struct { float x, y, z; };
        float e[3];
    };
    __device__ Vec() : x(1), y(2), z(3) {}
    __device__ Vec(float a) : e{a, a, a} {}
};

__global__ void members(float* y)
{
    y[0] = weighted(5.0f, 7, 11.0);
    Vec v, w(4);
    y[1] = v.e[0] * 100 + v.e[1] * 10 + v.e[2];
    y[2] = w.x + w.y + w.z;
}

// run: members<<<1, 1>>>(y = poison(3))
//   y == [52, 123, 12]

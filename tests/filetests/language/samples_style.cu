// test run

// What stands round the kernels in samples and repositories: launchers' templates that are instantiated, host functions that use
// the C library, launches as some formatters write them. None of it is needed here.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>

__constant__ float factors[2] = {2.0f, 10.0f};

struct Params {
    float x;
};

// A pointer into constant memory need not be to const: nothing is written through it.
__device__ float first(float* table) { return table[0]; }

template <typename T> __global__ void twice(T* y, int n) {
    float* table = &factors[threadIdx.x % 2];
    if (threadIdx.x < n) y[threadIdx.x] = y[threadIdx.x] * (T)first(table);
}
template __global__ void twice<float>(float* y, int n);

template <typename T> void launch_twice(T* y, int n) {
    twice<T> << <1, 32 >> > (y, n);
    if (cudaGetLastError() != cudaSuccess) exit(EXIT_FAILURE);
}
template void launch_twice<float>(float* y, int n);
template <> void launch_twice<int>(int* y, int n) { twice<int><<<1, 32 >> >(y, n); }

template <class T> struct Mover {
    static void move(T* y, Params p);
};
template <class T> void integrate(Mover<T>* m, Params p) { m->move(nullptr, p); }
template void integrate<float>(Mover<float>* m, Params p);

float random_float(float low, float high)
{
    float t = (float)rand() / (float)RAND_MAX;
    return (1.0f - t) * low + t * high;
}

double seconds() { return (double)clock() / CLOCKS_PER_SEC; }

void usage() { std::cout << "usage: twice n" << std::endl; }

int half_of(int n) { return n / 2; }

// The C library's names are no keywords.
float scaled(float time, int exit)
{
    float random = time * 2;
    return random + exit;
}

// call: half_of(9) == 4
// call: scaled(1.5, 1) == 4

// run: twice<float><<<1, 32>>>(y = [1, 2, 3], n = 3)
//   y == [2, 20, 6]

// A range whose iterators are objects, as grid-stride ranges are.
struct Steps {
    struct Iterator {
        int at, by;
        __device__ int operator*() const { return at; }
        __device__ Iterator& operator++() { at += by; return *this; }
        __device__ bool operator!=(const Iterator& end) const { return at < end.at; }
    };
    int first, last, by;
    __device__ Iterator begin() const { return {first, by}; }
    __device__ Iterator end() const { return {last, by}; }
};
__device__ Steps grid_stride(int n) { return {int(blockIdx.x * blockDim.x + threadIdx.x), n, int(blockDim.x * gridDim.x)}; }

__global__ void squares(int* y, int n, int skip)
{
    for (int i : grid_stride(n)) {
        if (i == skip) continue;
        if (i == skip + 7) break;
        y[i] = i * i;
    }
}

// Thread 3 of 4 takes 3, 7, ...: with skip 3 it leaves 3 out; thread 2 takes 2, 6, 10 and stops at 10.
// run: squares<<<2, 2>>>(y = fill(12, -1), n = 12, skip = 3)
//   y == [0, 1, 4, -1, 16, 25, 36, 49, 64, 81, -1, 121]

typedef float (*Unary)(float);
__device__ float increment(float x) { return x + 1; }
__device__ float doubled(float x) { return 2 * x; }
constexpr __device__ Unary choose(int which) { return which == 0 ? increment : doubled; }

template <int which> __global__ void chosen(float* y)
{
    constexpr Unary f = choose(which);
    constexpr Unary g = increment;
    y[0] = f(g(y[0]));
}
template __global__ void chosen<1>(float*);

// run: chosen<1><<<1, 1>>>(y = [4])
//   y == [10]

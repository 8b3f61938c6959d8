// test run

template <typename T> __device__ T largest(T a, T b) { return a > b ? a : b; }
template <typename T, int N> __device__ T total(const T (&x)[N]) {
    T s = 0;
    for (int i = 0; i < N; i++) s += x[i];
    return s;
}
template <int N = 3, typename T> __device__ T times(T x) { return x * N; }
template <typename T> __device__ int kind(T) { return 0; }
template <typename T> __device__ int kind(T*) { return 1; }
template <> __device__ int kind<double>(double) { return 2; }
__device__ int kind(short) { return 3; }
template <typename T> __device__ int category(const T&) { return 1; }
template <typename T> __device__ int category(T&) { return 2; }
template <bool Up> __device__ int step(int x) {
    if constexpr (Up) return x + 1;
    else return x - 1;
}
template <typename F> __device__ float apply(F f, float x) { return f(x); }
template <float (*F)(float)> __device__ float twice(float x) { return F(F(x)); }
__device__ float square(float x) { return x * x; }
template <typename T> __device__ auto half_of(T x) { return x / 2; }
template <typename T, typename U> __device__ auto plus(T a, U b) -> decltype(a + b) { return a + b; }

__global__ void functions(float* out) {
    float a[4] = {1, 2, 3, 4};
    int k = 5; short s = 1;
    const int c = 0;
    out[0] = largest(2, 3);
    out[1] = largest<float>(2, 3.5f);
    out[2] = total(a);
    out[3] = times(2) * 10 + times<5>(1);
    out[4] = kind(k) * 1000 + kind(&k) * 100 + kind(1.0) * 10 + kind(s);
    out[5] = category(k) * 10 + category(c);
    out[6] = step<true>(4) * 10 + step<false>(4);
    out[7] = apply(square, 3.0f);
    out[8] = twice<square>(2.0f);
    out[9] = half_of(3) + half_of(3.0f);
    out[10] = sizeof(plus(1, 2.0)) + plus(1, 2.5f);
}
// run: functions<<<1, 1>>>(out = poison(11))
//   out == [3, 3.5, 10, 65, 123, 21, 53, 9, 16, 2.5, 11.5]

template <typename T, int N> __global__ void scale(T* x, T by) {
    int i = threadIdx.x;
    if (i < N) x[i] = x[i] * by;
}
template __global__ void scale<double, 1>(double*, double);
enum class Mode { Add, Mul };
template <Mode M> __global__ void combine(int* x) {
    x[0] = M == Mode::Add ? x[0] + x[1] : x[0] * x[1];
}
// run: scale<float, 2><<<1, 4>>>(x = [1, 2, 3], by = 10)
//   x == [10, 20, 3]
// run: scale<int,3><<<1, 4>>>(x = [1, 2, 3], by = -1)
//   x == [-1, -2, -3]
// run: scale<double, 1><<<1, 4>>>(x = [1, 2, 3], by = 2)
//   x == [2, 2, 3]
// run: combine<Mode::Mul><<<1, 1>>>(x = [6, 7])
//   x == [42, 7]

template <typename T> struct Pair {
    T first, second;
    __device__ T sum() const { return first + second; }
    template <typename U> __device__ Pair<U> as() const { return {U(first), U(second)}; }
    __device__ T outside(T x);
    static constexpr int width = sizeof(T);
    using type = T;
};
template <typename T> __device__ T Pair<T>::outside(T x) { return x * first; }
template <typename T> struct Kind { static constexpr int value = 0; };
template <typename T> struct Kind<T*> { static constexpr int value = 1 + Kind<T>::value; };
template <> struct Kind<float> { static constexpr int value = 10; };
template <typename T, int N> struct Buffer {
    T data[N];
    __device__ T& at(int i) { return data[i]; }
    __device__ int size() const { return N; }
};
template <typename T> using Four = Buffer<T, 4>;
template <typename T> constexpr int bits = 8 * sizeof(T);
template <> constexpr int bits<bool> = 1;
template <int N> struct Fact { static constexpr int value = N * Fact<N - 1>::value; };
template <> struct Fact<0> { static constexpr int value = 1; };
template <template <typename> class C> __device__ int wrapped() { return C<short>::width; }
template <typename T> __device__ typename Pair<T>::type first_of(const Pair<T>& p) { return p.first; }

__global__ void classes(float* out) {
    Pair<float> p{1.5f, 2};
    out[0] = p.sum();
    out[1] = p.as<int>().sum();
    out[2] = p.outside(4);
    out[3] = Pair<double>::width;
    out[4] = Kind<int>::value * 100 + Kind<int**>::value * 10 + Kind<float*>::value;
    Four<int> b = {{1, 2, 3, 4}};
    b.at(2) += 30;
    out[5] = b.at(2) + b.size();
    out[6] = bits<double> + bits<bool>;
    out[7] = Fact<5>::value;
    out[8] = wrapped<Pair>();
    out[9] = first_of(p);
    typename Pair<int>::type t = 7;
    out[10] = t;
}
// run: classes<<<1, 1>>>(out = poison(11))
//   out == [3.5, 3, 6, 8, 31, 37, 65, 120, 2, 1.5, 7]

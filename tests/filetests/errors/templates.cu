// test error

template <typename T> __device__ T half_of(T x) { return x % 2; }
template <typename T, int N> struct Buffer { T data[N]; };
template <typename T> __device__ void same(T a, T b) {}
template <int N> struct Down { static constexpr int value = Down<N - 1>::value; };
template <typename T> struct OnlyPointers;
template <typename T> struct OnlyPointers<T*> { int x; };
template <typename T> __device__ std::enable_if_t<std::is_integral_v<T>, T> whole(T x) { return x; }
template <typename T> __device__ int unused_is_fine(T x) { return undeclared_thing(x); }

__global__ void use(float* out) {
    out[0] = half_of(1.5f);
    Buffer<float> a;
    Buffer<4, float> b;
    Buffer<float, -1> c;
    same(1, 2.0f);
    out[1] = Down<3>::value;
    OnlyPointers<int> d;
    out[2] = whole(1.5f);
    out[3] = half_of<int, int>(1);
    out[4] = missing<int>(1);
    int n = 3;
    Buffer<float, n> e;
    Buffer f;
}
// error WB0303 3:60 `%` cannot take `float` and `int`
// error WB0305 14:5 template `Buffer` needs an argument for `N`
// error WB0303 15:5 argument `T` of template `Buffer` must be a type
// error WB0303 4:53 an array cannot have -1 elements
// error WB0304 17:5 template `same` cannot take `int`, `float`
// error WB0203 6:61 instantiated more than 200 deep
// error WB0312 19:5 what it holds is not known here
// error WB0304 20:14 template `whole` cannot take `float`
// error WB0304 21:14 cannot take `int`
// error WB0301 22:14 unknown template `missing`
// error WB0308 24:19 must be known when compiling
// error WB0305 25:5 is a template and needs its arguments

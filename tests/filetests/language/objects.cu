// test run

// Things the standard allows and people write, each in one line.
struct S { int v; __device__ S operator++(int) { S old = *this; v++; return old; } __device__ S& operator++() { ++v; return *this; } };
struct Conv { float f; __device__ operator int() const { return (int)f; } };
struct Big { int a[40]; };
struct WithRef { int& r; const int k; };
struct Tag1 {}; struct Tag2 {};
__device__ int by_tag(Tag1) { return 1; }
__device__ int by_tag(Tag2) { return 2; }
__device__ Big fill(int x) { Big b; for (int i = 0; i < 40; i++) b.a[i] = x + i; return b; }
template <typename T> struct Wrapper { T t; __device__ Wrapper(T t) : t(t) {} __device__ T get() const { return t; } };
template <typename T> __device__ Wrapper<T> wrap(T t) { return Wrapper<T>(t); }
template <class T> struct Base { T x; __device__ Base(T x) : x(x) {} __device__ T twice() { return x * 2; } };
template <class T> struct Derived : public Base<T> {
    __device__ Derived(T x) : Base<T>(x) {}
    __device__ T more() { return this->x + Base<T>::twice(); }
};
struct Functor { int bias; template <typename T> __device__ T operator()(T x) const { return x + bias; } };
template <int R, int C> struct Mat {
    float m[R][C];
    template <int K> __device__ Mat<R, K> operator*(const Mat<C, K>& o) const {
        Mat<R, K> out{};
        for (int i = 0; i < R; i++) for (int j = 0; j < K; j++) for (int k = 0; k < C; k++) out.m[i][j] += m[i][k] * o.m[k][j];
        return out;
    }
};
enum class Op : int { Add, Sub };
template <Op op> struct Apply;
template <> struct Apply<Op::Add> { static __device__ int run(int a, int b) { return a + b; } };
template <> struct Apply<Op::Sub> { static __device__ int run(int a, int b) { return a - b; } };
__device__ int dispatch(Op op, int a, int b) {
    switch (op) { case Op::Add: return Apply<Op::Add>::run(a, b); case Op::Sub: return Apply<Op::Sub>::run(a, b); }
    return 0;
}
template <typename F, typename... Args> __device__ void repeat(int n, F f, Args... args) { for (int i = 0; i < n; i++) f(i, args...); }
__constant__ float weights[3] = {0.5f, 1.5f, 2.5f};
static constexpr int kDims[] = {2, 3, 4};

__global__ void misc(int* out, float* f) {
    S s{4};
    out[0] = s++.v * 10 + (++s).v;
    Conv c{7.9f};
    int arr[10] = {};
    arr[c] = 3;
    out[1] = arr[7] + c;
    Big b = fill(5);
    Big copy; copy = b; b.a[39] = 0;
    out[2] = copy.a[39] + b.a[39];
    int n = 1;
    WithRef w{n, 5};
    w.r += w.k;
    out[3] = n;
    out[4] = by_tag(Tag1{}) * 10 + by_tag(Tag2());
    out[5] = wrap(6).get();
    Derived<int> d(3);
    out[6] = d.more();
    out[7] = Functor{10}(2) + (int)Functor{1}(1.5f);
    Mat<2, 2> a = {{{1, 2}, {3, 4}}}; Mat<2, 1> v = {{{5}, {6}}};
    auto p = a * v;
    out[8] = (int)(p.m[0][0] * 100 + p.m[1][0]);
    out[9] = dispatch(Op::Sub, 9, 4);
    int total = 0;
    repeat(3, [&](int i, int k, float x) { total += i * k + (int)x; }, 10, 2.5f);
    out[10] = total;
    f[0] = weights[threadIdx.x + 1];
    out[11] = kDims[2] + sizeof(kDims) / sizeof(kDims[0]);
    auto swap_if = [](auto& x, auto& y) { if (y < x) { auto t = x; x = y; y = t; } };
    int lo = 9, hi = 2;
    swap_if(lo, hi);
    out[12] = lo * 10 + hi;
    if (int k = total; k > 3) out[13] = k; else out[13] = -1;
    union { float f; unsigned u; } pun;
    pun.f = 1.0f;
    out[14] = pun.u >> 23;
    const auto& [x, y] = a.m[1];
    out[15] = (int)(x * 10 + y);
    float2 pts[2] = {{1, 2}, make_float2(3, 4)};
    out[16] = (int)(pts[1].y * 10 + pts[0].x);
    struct Local { int q; __device__ int sq() const { return q * q; } } local{6};
    out[17] = local.sq();
    out[18] = [&] { int acc = 0; for (int e : {1, 2, 3}) acc += e; return acc; }();
    decltype(n) m = 4;
    out[19] = static_cast<int>(sizeof(decltype(1.0f * m)));
}
// run: misc<<<1, 1>>>(out = poison(20), f = poison(1))
//   out == [46, 10, 44, 6, 12, 6, 9, 14, 1739, 5, 36, 7, 29, 36, 127, 34, 41, 36, 6, 4]
//   f == [1.5]

// test run

constexpr int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
__host__ __device__ constexpr int powers(int base, int n) {
    int r = 1;
    for (int i = 0; i < n; ++i) r *= base;
    return r;
}
struct Shape { int rows, cols; constexpr int size() const { return rows * cols; } };
constexpr Shape shape = {3, 4};
constexpr Shape make(int n) { Shape s{n, n + 1}; s.rows += 1; return s; }
constexpr int table[5] = {fact(1), fact(2), fact(3), fact(4), fact(5)};
struct Squares { int v[6]; };
constexpr Squares squares() { Squares s{}; for (int i = 0; i < 6; i++) s.v[i] = i * i; return s; }
constexpr Squares sq = squares();
static_assert(fact(5) == 120, "fact");
static_assert(powers(2, 10) == 1024);
static_assert(shape.size() == 12);
static_assert(make(3).size() == 16);
static_assert(sq.v[5] == 25);
template <int N> struct Size { static constexpr int value = N; };

__global__ void values(int* out) {
    int a[fact(3)];
    out[0] = sizeof(a) / sizeof(int);
    out[1] = table[threadIdx.x + 3];
    out[2] = Size<powers(3, 3)>::value;
    out[3] = sq.v[threadIdx.x + 4];
    constexpr int n = shape.size() + fact(4);
    int b[n];
    out[4] = sizeof(b) / 4;
    switch (out[0]) {
        case fact(3): out[5] = 1; break;
        default: out[5] = 0;
    }
    if constexpr (powers(2, 3) == 8) out[6] = 8;
    constexpr auto lambda = [](int x) { return x * 2; };
    static_assert(lambda(4) == 8);
    out[7] = powers(out[0], 2);
}
// run: values<<<1, 1>>>(out = poison(8))
//   out == [6, 24, 27, 16, 36, 1, 8, 36]

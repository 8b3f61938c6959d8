// test run

template <typename F> __device__ int apply(int n, F f) {
    int s = 0;
    for (int i = 0; i < n; i++) s += f(i);
    return s;
}
template <typename F> __device__ void each(int n, F&& f) { for (int i = 0; i < n; i++) f(i); }

struct Acc {
    int total = 0;
    __device__ int run(int n) {
        auto add = [this](int x) { total += x; };
        for (int i = 0; i < n; i++) add(i);
        auto twice = [=] { return total * 2; };
        return twice();
    }
};

__global__ void lambdas(int* out) {
    int a = 10, s = 0;
    auto plus = [](int x, int y) { return x + y; };
    out[0] = plus(2, 3);
    auto add_a = [a](int x) { return x + a; };
    a = 100;
    out[1] = add_a(1);
    auto grow = [&s](int x) { s += x; };
    grow(4); grow(5);
    out[2] = s;
    out[3] = apply(4, [=](int i) { return i * a; });
    each(5, [&](int i) { s += i; });
    out[4] = s;
    auto generic = [](auto x) { return x * 2; };
    out[5] = generic(4) + (int)generic(1.5f);
    auto counter = [n = 1]() mutable { return n++; };
    counter(); counter();
    out[6] = counter();
    auto nested = [&](int x) { auto in = [&](int y) { return y + s + x; }; return in(1); };
    out[7] = nested(2);
    out[8] = [](int x) -> float { return x / 2; }(7);
    Acc acc;
    out[9] = acc.run(4);
    int arr[3] = {1, 2, 3};
    auto sum = [arr] { int t = 0; for (int v : arr) t += v; return t; };
    arr[0] = 50;
    out[10] = sum();
    auto& [p, q, r] = arr;
    q = 7;
    out[11] = arr[1] + p + r;
}
// run: lambdas<<<1, 1>>>(out = poison(12))
//   out == [5, 11, 9, 600, 19, 11, 3, 22, 3, 12, 6, 60]

__device__ int add(int a, int b) { return a + b; }
__device__ int mul(int a, int b) { return a * b; }
using Op = int (*)(int, int);
__device__ int run(Op f, int a, int b) { return f(a, b); }
template <Op F> __device__ int fixed(int a) { return F(a, a); }

__global__ void pointers(int* out, int which) {
    Op f = add;
    out[0] = f(2, 3);
    Op table[2] = {add, &mul};
    out[1] = table[which](4, 5);
    out[2] = run(mul, 6, 7);
    out[3] = fixed<add>(5) + fixed<mul>(5);
    f = which ? mul : add;
    out[4] = (*f)(3, 3);
    out[5] = f == mul;
}
// run: pointers<<<1, 1>>>(out = poison(6), which = 1)
//   out == [5, 20, 42, 35, 9, 1]
// run: pointers<<<1, 1>>>(out = poison(6), which = 0)
//   out == [5, 9, 42, 35, 6, 0]

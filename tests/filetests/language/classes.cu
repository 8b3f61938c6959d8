// test run

struct Vec {
    float x, y;
    __device__ Vec() : x(0), y(0) {}
    __device__ Vec(float x, float y) : x(x), y(y) {}
    __device__ explicit Vec(float both) : x(both), y(both) {}
    __device__ float dot(const Vec& o) const { return x * o.x + y * o.y; }
    __device__ Vec& scale(float s) { x *= s; y *= s; return *this; }
    __device__ Vec operator+(const Vec& o) const { return Vec(x + o.x, y + o.y); }
    __device__ Vec& operator+=(const Vec& o) { x += o.x; y += o.y; return *this; }
    __device__ float& operator[](int i) { return i == 0 ? x : y; }
    __device__ float operator()(float t) const { return x + t * y; }
    __device__ Vec operator-() const { return {-x, -y}; }
    __device__ bool operator==(const Vec& o) const { return x == o.x && y == o.y; }
    __device__ operator float() const { return x; }
    static constexpr int size = 2;
    __device__ static Vec one() { return Vec(1); }
};
__device__ Vec operator*(float s, const Vec& v) { return Vec(s * v.x, s * v.y); }

__global__ void methods(float* out) {
    Vec a(1, 2), b{3, 4}, c, d = Vec(5);
    out[0] = a.dot(b);
    out[1] = c.x + d.y;
    a.scale(2).scale(3);
    out[2] = a.x; out[3] = a.y;
    Vec e = a + b;
    out[4] = e.x;
    e += Vec::one();
    out[5] = e.y;
    e[1] = 50;
    out[6] = e.y;
    out[7] = b(10);
    out[8] = (-b).y;
    out[9] = (2.0f * b).y;
    out[10] = b == Vec(3, 4);
    float f = b;
    out[11] = f + Vec::size;
    Vec* p = &b;
    out[12] = p->dot(*p) + (*p)[0];
    out[13] = b + 1.5f;
}
// run: methods<<<1, 1>>>(out = poison(14))
//   out == [11, 5, 6, 12, 9, 17, 50, 43, -4, 8, 1, 5, 28, 4.5]

struct Base {
    int a = 1;
    int b{2};
    __device__ int sum() const { return a + b; }
    __device__ int who() const { return 1; }
};
struct Derived : Base {
    int c = 30;
    __device__ int all() const { return sum() + c; }
    __device__ int who() const { return 2 + Base::who(); }
};
__device__ int of_base(const Base& b) { return b.sum(); }
__device__ int of_pointer(Base* b) { return b->a; }

struct Count {
    int* n;
    __device__ Count(int* n) : n(n) { *n += 1; }
    __device__ ~Count() { *n += 100; }
};
__device__ int early(int* n, int x) {
    Count c(n);
    for (int i = 0; i < 3; i++) {
        Count inner(n);
        if (i == x) return i;
    }
    return -1;
}
struct Out {
    static const int k = 4;
    __device__ int f(int x) const;
    __device__ int g(int x) { return h(x) + 1; }
    __device__ int h(int x) { return x * k; }
};
__device__ int Out::f(int x) const { return x + k; }

__global__ void derived(int* out) {
    Derived d;
    out[0] = d.sum(); out[1] = d.all(); out[2] = d.who(); out[3] = of_base(d);
    d.a = 7;
    out[4] = of_pointer(&d);
    Base sliced = d;
    out[5] = sliced.sum();
    int n = 0;
    out[6] = early(&n, 1);
    out[7] = n;
    Out o;
    out[8] = o.f(1) * 10 + o.g(2);
}
// run: derived<<<1, 1>>>(out = poison(9))
//   out == [3, 33, 3, 3, 7, 9, 1, 303, 59]

// test run

template <typename... T> __device__ int count(T...) { return sizeof...(T); }
template <typename... T> __device__ float sum(T... x) { return (x + ... + 0); }
template <typename... T> __device__ bool all(T... x) { return (... && x); }
__device__ int join() { return 0; }
template <typename T, typename... Rest> __device__ int join(T first, Rest... rest) {
    return first + 10 * join(rest...);
}
template <int... N> __device__ int weigh() {
    int w[] = {N...};
    int s = 0;
    for (int x : w) s = s * 10 + x;
    return s;
}
template <typename F, typename... A> __device__ auto call(F f, A&&... a) { return f(std::forward<A>(a)...); }
__device__ int three(int a, int b, int& c) { c = 9; return a * 100 + b * 10; }
template <typename... T> struct Tuple;
template <> struct Tuple<> { static constexpr int size = 0; };
template <typename H, typename... T> struct Tuple<H, T...> : Tuple<T...> {
    H head;
    static constexpr int size = 1 + Tuple<T...>::size;
    __device__ Tuple(H h, T... t) : Tuple<T...>(t...), head(h) {}
};
template <> struct Tuple<int> {
    static constexpr int size = 1;
    int head;
    __device__ Tuple(int h) : head(h) {}
};

__global__ void packs(float* out) {
    out[0] = count() * 100 + count(1, 2.0, out) * 10 + count(1);
    out[1] = sum(1, 2.5f, 3);
    out[2] = all(true, true, false) * 10 + all();
    out[3] = join(1, 2, 3);
    out[4] = weigh<1, 2, 3, 4>();
    int c = 0;
    out[5] = call(three, 1, 2, c) + c;
    Tuple<float, int> t(1.5f, 7);
    Tuple<int>& rest = t;
    out[6] = t.head + rest.head + Tuple<float, double, int>::size;
}
// run: packs<<<1, 1>>>(out = poison(7))
//   out == [31, 6.5, 1, 321, 1234, 129, 11.5]

template <typename T> __device__ std::enable_if_t<std::is_floating_point<T>::value, int> sort_of(T) { return 1; }
template <typename T> __device__ std::enable_if_t<std::is_integral_v<T>, int> sort_of(T) { return 2; }
template <typename T, typename = void> struct has_size : std::false_type {};
template <typename T> struct has_size<T, std::void_t<decltype(std::declval<T>().size)>> : std::true_type {};
struct With { int size; };
struct Without {};

__global__ void traits(int* out) {
    out[0] = sort_of(1.0f) * 10 + sort_of('a');
    out[1] = has_size<With>::value * 10 + has_size<Without>::value;
    out[2] = std::is_same<std::remove_cv_t<const volatile int>, int>::value + 2 * std::is_same_v<float, double>;
    out[3] = sizeof(std::conditional_t<(sizeof(int) > 2), double, char>);
    out[4] = std::numeric_limits<int>::max() == 2147483647 && std::numeric_limits<unsigned>::max() == 4294967295u;
    out[5] = std::numeric_limits<float>::infinity() > std::numeric_limits<float>::max();
    std::pair<int, float> p = std::make_pair(3, 1.5f);
    auto [a, b] = p;
    out[6] = a + (int)(b * 2);
    std::array<int, 3> arr = {{5, 6, 7}};
    int s = 0;
    for (auto& x : arr) { x += 1; s += x; }
    out[7] = s + arr.size();
    int x = 1, y = 2;
    std::swap(x, y);
    out[8] = x * 10 + y;
    out[9] = std::max(3, 4) + std::min(1.5f, 2.5f) * 2;
    out[10] = std::is_same_v<std::decay_t<const int (&)[4]>, const int*>;
    static_assert(std::is_same_v<std::make_unsigned_t<long>, unsigned long>, "make_unsigned");
    out[11] = std::is_signed_v<char> * 10 + std::is_signed_v<unsigned>;
}
// run: traits<<<1, 1>>>(out = poison(12))
//   out == [12, 10, 1, 8, 1, 1, 6, 24, 21, 7, 1, 10]

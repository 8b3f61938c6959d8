// libcu++: the parts of namespace `cuda::std` that the standard library's own text lacks on the device, and the functions
// of namespace `cuda`. A declaration here hides one of the same name in a host text, because `cuda::std` looks there last.
namespace cuda {
namespace std {

// <cuda/std/functional>
#define __WB_BINARY(name, result, expression) \
    template <typename T = void> struct name { \
        __host__ __device__ constexpr result operator()(const T& a, const T& b) const { return expression; } \
    }; \
    template <> struct name<void> { \
        template <typename A, typename B> __host__ __device__ constexpr auto operator()(const A& a, const B& b) const { \
            return expression; \
        } \
    };
#define __WB_UNARY(name, result, expression) \
    template <typename T = void> struct name { \
        __host__ __device__ constexpr result operator()(const T& a) const { return expression; } \
    }; \
    template <> struct name<void> { \
        template <typename A> __host__ __device__ constexpr auto operator()(const A& a) const { return expression; } \
    };
__WB_BINARY(plus, T, a + b)
__WB_BINARY(minus, T, a - b)
__WB_BINARY(multiplies, T, a * b)
__WB_BINARY(divides, T, a / b)
__WB_BINARY(modulus, T, a % b)
__WB_BINARY(bit_and, T, a & b)
__WB_BINARY(bit_or, T, a | b)
__WB_BINARY(bit_xor, T, a ^ b)
__WB_BINARY(equal_to, bool, a == b)
__WB_BINARY(not_equal_to, bool, a != b)
__WB_BINARY(less, bool, a < b)
__WB_BINARY(less_equal, bool, a <= b)
__WB_BINARY(greater, bool, a > b)
__WB_BINARY(greater_equal, bool, a >= b)
__WB_BINARY(logical_and, bool, a && b)
__WB_BINARY(logical_or, bool, a || b)
__WB_UNARY(negate, T, -a)
__WB_UNARY(bit_not, T, ~a)
__WB_UNARY(logical_not, bool, !a)
#undef __WB_BINARY
#undef __WB_UNARY
struct identity {
    template <typename T> __host__ __device__ constexpr T&& operator()(T&& x) const { return (T&&)x; }
};
template <typename F, typename... A> __host__ __device__ constexpr auto invoke(F&& f, A&&... a) { return f((A&&)a...); }
template <typename T> struct reference_wrapper {
    using type = T;
    T* at_;
    __host__ __device__ constexpr reference_wrapper(T& x) : at_(&x) {}
    __host__ __device__ constexpr T& get() const { return *at_; }
    __host__ __device__ constexpr operator T&() const { return *at_; }
};
template <typename T> __host__ __device__ constexpr reference_wrapper<T> ref(T& x) { return reference_wrapper<T>(x); }
template <typename T> __host__ __device__ constexpr T* addressof(T& x) { return &x; }

// <cuda/std/type_traits>
template <typename T> struct is_enum { static constexpr bool value = __wb_is_enum(*(T*)nullptr); };
template <typename T> inline constexpr bool is_enum_v = is_enum<T>::value;
template <typename T> struct is_class { static constexpr bool value = __wb_is_class(*(T*)nullptr); };
template <typename T> inline constexpr bool is_class_v = is_class<T>::value;
template <typename T, typename U, typename = void> struct is_convertible : false_type {};
template <typename T> __host__ __device__ void __wb_takes(T);
template <typename T, typename U> struct is_convertible<T, U, void_t<decltype(__wb_takes<U>(declval<T>()))>> : true_type {};
template <typename T, typename U> inline constexpr bool is_convertible_v = is_convertible<T, U>::value;
template <typename V, typename F, typename... A> struct __wb_invocable : false_type {};
template <typename F, typename... A> struct __wb_invocable<void_t<decltype(declval<F>()(declval<A>()...))>, F, A...> : true_type {};
template <typename F, typename... A> struct is_invocable : __wb_invocable<void, F, A...> {};
template <typename F, typename... A> inline constexpr bool is_invocable_v = is_invocable<F, A...>::value;
template <typename F, typename... A> struct invoke_result { using type = decltype(declval<F>()(declval<A>()...)); };
template <typename F, typename... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <typename... T> struct common_type;
template <typename T> struct common_type<T> { using type = decay_t<T>; };
template <typename T, typename U> struct common_type<T, U> { using type = decay_t<decltype(true ? declval<T>() : declval<U>())>; };
template <typename T, typename U, typename V, typename... R> struct common_type<T, U, V, R...>
    : common_type<typename common_type<T, U>::type, V, R...> {};
template <typename... T> using common_type_t = typename common_type<T...>::type;
template <typename T> struct rank : integral_constant<size_t, 0> {};
template <typename T, size_t N> struct rank<T[N]> : integral_constant<size_t, rank<T>::value + 1> {};
template <typename T> inline constexpr size_t rank_v = rank<T>::value;
template <typename T, unsigned I = 0> struct extent : integral_constant<size_t, 0> {};
template <typename T, size_t N> struct extent<T[N], 0> : integral_constant<size_t, N> {};
template <typename T, unsigned I = 0> inline constexpr size_t extent_v = extent<T, I>::value;
template <typename T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <typename T> inline constexpr size_t alignment_of_v = alignment_of<T>::value;

// <cuda/std/bit>
template <typename To, typename From> __host__ __device__ inline To bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "bit_cast: the types are not of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}
template <typename T> __host__ __device__ constexpr int popcount(T x) {
    static_assert(is_unsigned_v<T>, "popcount: the type is not unsigned");
    unsigned long long v = x;
    v = v - (v >> 1 & 0x5555555555555555ull);
    v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
    v = v + (v >> 4) & 0x0f0f0f0f0f0f0f0full;
    return (int)(v * 0x0101010101010101ull >> 56);
}
template <typename T> __host__ __device__ constexpr int bit_width(T x) {
    static_assert(is_unsigned_v<T>, "bit_width: the type is not unsigned");
    unsigned long long v = x;
    for (int step = 1; step < 64; step *= 2) v |= v >> step;
    return popcount(v);
}
template <typename T> __host__ __device__ constexpr int countl_zero(T x) { return (int)(8 * sizeof(T)) - bit_width(x); }
template <typename T> __host__ __device__ constexpr int countl_one(T x) { return countl_zero((T)~x); }
template <typename T> __host__ __device__ constexpr int countr_zero(T x) {
    return x == 0 ? (int)(8 * sizeof(T)) : popcount((T)(~x & (T)(x - 1)));
}
template <typename T> __host__ __device__ constexpr int countr_one(T x) { return countr_zero((T)~x); }
template <typename T> __host__ __device__ constexpr bool has_single_bit(T x) { return popcount(x) == 1; }
template <typename T> __host__ __device__ constexpr T bit_floor(T x) { return x == 0 ? (T)0 : (T)((T)1 << bit_width(x) - 1); }
template <typename T> __host__ __device__ constexpr T bit_ceil(T x) { return x < 2 ? (T)1 : (T)((T)1 << bit_width((T)(x - 1))); }
template <typename T> __host__ __device__ constexpr T rotl(T x, int n) {
    static_assert(is_unsigned_v<T>, "rotl: the type is not unsigned");
    constexpr int bits = 8 * sizeof(T);
    n = (n % bits + bits) % bits;
    return n == 0 ? x : (T)(x << n | x >> bits - n);
}
template <typename T> __host__ __device__ constexpr T rotr(T x, int n) { return rotl(x, -(n % (int)(8 * sizeof(T)))); }

// <cuda/std/cstddef>
struct byte {
    unsigned char value_;
    byte() = default;
    __host__ __device__ constexpr explicit byte(unsigned char value) : value_(value) {}
    template <typename T> __host__ __device__ constexpr explicit operator T() const { return (T)value_; }
    __host__ __device__ friend constexpr bool operator==(byte a, byte b) { return a.value_ == b.value_; }
    __host__ __device__ friend constexpr bool operator!=(byte a, byte b) { return a.value_ != b.value_; }
};
template <typename T> __host__ __device__ constexpr T to_integer(byte b) { return (T)b.value_; }
__host__ __device__ constexpr byte operator|(byte a, byte b) { return byte((unsigned char)(a.value_ | b.value_)); }
__host__ __device__ constexpr byte operator&(byte a, byte b) { return byte((unsigned char)(a.value_ & b.value_)); }
__host__ __device__ constexpr byte operator^(byte a, byte b) { return byte((unsigned char)(a.value_ ^ b.value_)); }
__host__ __device__ constexpr byte operator~(byte a) { return byte((unsigned char)~a.value_); }
__host__ __device__ constexpr byte operator<<(byte a, int n) { return byte((unsigned char)(a.value_ << n)); }
__host__ __device__ constexpr byte operator>>(byte a, int n) { return byte((unsigned char)(a.value_ >> n)); }

// <cuda/std/iterator>
template <typename I> struct iterator_traits {
    using value_type = typename I::value_type;
    using difference_type = ptrdiff_t;
    using reference = decltype(*declval<I&>());
};
template <typename T> struct iterator_traits<T*> {
    using value_type = remove_cv_t<T>;
    using difference_type = ptrdiff_t;
    using pointer = T*;
    using reference = T&;
};
template <typename T, size_t N> __host__ __device__ constexpr T* begin(T (&a)[N]) { return a; }
template <typename T, size_t N> __host__ __device__ constexpr T* end(T (&a)[N]) { return a + N; }
template <typename T, size_t N> __host__ __device__ constexpr size_t size(const T (&)[N]) { return N; }
template <typename C> __host__ __device__ constexpr auto begin(C& c) -> decltype(c.begin()) { return c.begin(); }
template <typename C> __host__ __device__ constexpr auto end(C& c) -> decltype(c.end()) { return c.end(); }
template <typename C> __host__ __device__ constexpr auto size(const C& c) -> decltype(c.size()) { return c.size(); }
template <typename I> __host__ __device__ constexpr ptrdiff_t distance(I a, I b) { return b - a; }
template <typename I> __host__ __device__ constexpr I next(I a, ptrdiff_t n = 1) { return a + n; }
template <typename I> __host__ __device__ constexpr I prev(I a, ptrdiff_t n = 1) { return a - n; }
template <typename I, typename N> __host__ __device__ constexpr void advance(I& a, N n) { a += n; }

// <cuda/std/algorithm>, <cuda/std/numeric>
template <typename T, typename F> __host__ __device__ constexpr const T& min(const T& a, const T& b, F less) { return less(b, a) ? b : a; }
template <typename T, typename F> __host__ __device__ constexpr const T& max(const T& a, const T& b, F less) { return less(a, b) ? b : a; }
template <typename I, typename F> __host__ __device__ constexpr I min_element(I a, I b, F less) {
    I best = a;
    for (; a != b; ++a)
        if (less(*a, *best)) best = a;
    return best;
}
template <typename I> __host__ __device__ constexpr I min_element(I a, I b) { return min_element(a, b, less<>{}); }
template <typename I, typename F> __host__ __device__ constexpr I max_element(I a, I b, F less) {
    I best = a;
    for (; a != b; ++a)
        if (less(*best, *a)) best = a;
    return best;
}
template <typename I> __host__ __device__ constexpr I max_element(I a, I b) { return max_element(a, b, less<>{}); }
template <typename I, typename T> __host__ __device__ constexpr void fill(I a, I b, const T& value) {
    for (; a != b; ++a) *a = value;
}
template <typename I, typename N, typename T> __host__ __device__ constexpr I fill_n(I a, N n, const T& value) {
    for (; n > 0; --n, ++a) *a = value;
    return a;
}
template <typename I, typename O> __host__ __device__ constexpr O copy(I a, I b, O to) {
    for (; a != b; ++a, ++to) *to = *a;
    return to;
}
template <typename I, typename N, typename O> __host__ __device__ constexpr O copy_n(I a, N n, O to) {
    for (; n > 0; --n, ++a, ++to) *to = *a;
    return to;
}
template <typename I, typename O, typename F> __host__ __device__ constexpr O transform(I a, I b, O to, F f) {
    for (; a != b; ++a, ++to) *to = f(*a);
    return to;
}
template <typename I, typename F> __host__ __device__ constexpr F for_each(I a, I b, F f) {
    for (; a != b; ++a) f(*a);
    return f;
}
template <typename I, typename F> __host__ __device__ constexpr I find_if(I a, I b, F f) {
    for (; a != b; ++a)
        if (f(*a)) break;
    return a;
}
template <typename I, typename T> __host__ __device__ constexpr I find(I a, I b, const T& value) {
    for (; a != b; ++a)
        if (*a == value) break;
    return a;
}
template <typename I, typename F> __host__ __device__ constexpr ptrdiff_t count_if(I a, I b, F f) {
    ptrdiff_t n = 0;
    for (; a != b; ++a)
        if (f(*a)) ++n;
    return n;
}
template <typename I, typename T> __host__ __device__ constexpr ptrdiff_t count(I a, I b, const T& value) {
    ptrdiff_t n = 0;
    for (; a != b; ++a)
        if (*a == value) ++n;
    return n;
}
template <typename I, typename F> __host__ __device__ constexpr bool any_of(I a, I b, F f) { return find_if(a, b, f) != b; }
template <typename I, typename F> __host__ __device__ constexpr bool none_of(I a, I b, F f) { return find_if(a, b, f) == b; }
template <typename I, typename F> __host__ __device__ constexpr bool all_of(I a, I b, F f) {
    for (; a != b; ++a)
        if (!f(*a)) return false;
    return true;
}
template <typename I, typename J> __host__ __device__ constexpr bool equal(I a, I b, J c) {
    for (; a != b; ++a, ++c)
        if (!(*a == *c)) return false;
    return true;
}
template <typename I> __host__ __device__ constexpr void reverse(I a, I b) {
    while (a < b && a < --b) swap(*a++, *b);
}
template <typename I, typename T, typename F> __host__ __device__ constexpr I lower_bound(I a, I b, const T& value, F less) {
    for (ptrdiff_t n = b - a; n > 0;) {
        ptrdiff_t half = n / 2;
        if (less(a[half], value)) {
            a += half + 1;
            n -= half + 1;
        } else n = half;
    }
    return a;
}
template <typename I, typename T> __host__ __device__ constexpr I lower_bound(I a, I b, const T& value) {
    return lower_bound(a, b, value, less<>{});
}
template <typename I, typename T, typename F> __host__ __device__ constexpr I upper_bound(I a, I b, const T& value, F less) {
    for (ptrdiff_t n = b - a; n > 0;) {
        ptrdiff_t half = n / 2;
        if (less(value, a[half])) n = half;
        else {
            a += half + 1;
            n -= half + 1;
        }
    }
    return a;
}
template <typename I, typename T> __host__ __device__ constexpr I upper_bound(I a, I b, const T& value) {
    return upper_bound(a, b, value, less<>{});
}
template <typename I, typename T> __host__ __device__ constexpr bool binary_search(I a, I b, const T& value) {
    I at = lower_bound(a, b, value);
    return at != b && !(value < *at);
}
template <typename I, typename T, typename F> __host__ __device__ constexpr T accumulate(I a, I b, T sum, F f) {
    for (; a != b; ++a) sum = f(sum, *a);
    return sum;
}
template <typename I, typename T> __host__ __device__ constexpr T accumulate(I a, I b, T sum) {
    for (; a != b; ++a) sum = sum + *a;
    return sum;
}
template <typename I, typename T, typename F> __host__ __device__ constexpr T reduce(I a, I b, T sum, F f) { return accumulate(a, b, sum, f); }
template <typename I, typename T> __host__ __device__ constexpr T reduce(I a, I b, T sum) { return accumulate(a, b, sum); }
template <typename I, typename J, typename T> __host__ __device__ constexpr T inner_product(I a, I b, J c, T sum) {
    for (; a != b; ++a, ++c) sum = sum + *a * *c;
    return sum;
}
template <typename I, typename T> __host__ __device__ constexpr void iota(I a, I b, T value) {
    for (; a != b; ++a, ++value) *a = value;
}
template <typename T> __host__ __device__ constexpr T midpoint(T a, T b) {
    if constexpr (is_integral_v<T>) {
        using U = make_unsigned_t<T>;
        return a > b ? (T)(a - (T)((U)((U)a - (U)b) / 2)) : (T)(a + (T)((U)((U)b - (U)a) / 2));
    } else return a / 2 + b / 2;
}
template <typename T> __host__ __device__ constexpr T lerp(T a, T b, T t) { return a + t * (b - a); }
template <typename T, typename U> __host__ __device__ constexpr common_type_t<T, U> gcd(T a, U b) {
    common_type_t<T, U> m = a < 0 ? -a : a, n = b < 0 ? -b : b;
    while (n != 0) {
        common_type_t<T, U> left = m % n;
        m = n;
        n = left;
    }
    return m;
}
template <typename T, typename U> __host__ __device__ constexpr common_type_t<T, U> lcm(T a, U b) {
    if (a == 0 || b == 0) return 0;
    common_type_t<T, U> n = a / gcd(a, b) * b;
    return n < 0 ? -n : n;
}

// <cuda/std/span>
inline constexpr size_t dynamic_extent = (size_t)-1;
template <typename T, size_t E = dynamic_extent> struct span {
    using element_type = T;
    using value_type = remove_cv_t<T>;
    using size_type = size_t;
    using pointer = T*;
    using reference = T&;
    using iterator = T*;
    static constexpr size_t extent = E;
    T* data_;
    size_t size_;
    __host__ __device__ constexpr span() : data_(nullptr), size_(0) {}
    __host__ __device__ constexpr span(T* data, size_t size) : data_(data), size_(size) {}
    __host__ __device__ constexpr span(T* begin, T* end) : data_(begin), size_(end - begin) {}
    template <size_t N> __host__ __device__ constexpr span(T (&all)[N]) : data_(all), size_(N) {}
    template <typename U, size_t N> __host__ __device__ constexpr span(array<U, N>& all) : data_(all.data()), size_(N) {}
    template <typename U, size_t N> __host__ __device__ constexpr span(const array<U, N>& all) : data_(all.data()), size_(N) {}
    template <typename U, size_t N> __host__ __device__ constexpr span(const span<U, N>& other) : data_(other.data()), size_(other.size()) {}
    __host__ __device__ constexpr T* data() const { return data_; }
    __host__ __device__ constexpr size_t size() const { return E == dynamic_extent ? size_ : E; }
    __host__ __device__ constexpr size_t size_bytes() const { return size() * sizeof(T); }
    __host__ __device__ constexpr bool empty() const { return size() == 0; }
    __host__ __device__ constexpr T& operator[](size_t i) const { return data_[i]; }
    __host__ __device__ constexpr T& front() const { return data_[0]; }
    __host__ __device__ constexpr T& back() const { return data_[size() - 1]; }
    __host__ __device__ constexpr T* begin() const { return data_; }
    __host__ __device__ constexpr T* end() const { return data_ + size(); }
    __host__ __device__ constexpr span<T> first(size_t n) const { return span<T>(data_, n); }
    __host__ __device__ constexpr span<T> last(size_t n) const { return span<T>(data_ + (size() - n), n); }
    __host__ __device__ constexpr span<T> subspan(size_t from, size_t n = dynamic_extent) const {
        return span<T>(data_ + from, n == dynamic_extent ? size() - from : n);
    }
    template <size_t N> __host__ __device__ constexpr span<T, N> first() const { return span<T, N>(data_, N); }
    template <size_t N> __host__ __device__ constexpr span<T, N> last() const { return span<T, N>(data_ + (size() - N), N); }
};

// <cuda/std/tuple>
template <typename... T> struct tuple {
    static_assert(sizeof...(T) <= 8, "tuples of more than 8 elements are not supported here: use a struct");
};
#define __WB_TUPLE(types, names, fields, zeros, params, values) \
    template <types> struct tuple<names> { \
        fields; \
        __host__ __device__ constexpr tuple() : zeros {} \
        __host__ __device__ constexpr tuple(params) : values {} \
    };
#define __WB_L(...) __VA_ARGS__
__WB_TUPLE(typename A, A, A _0, _0(), const A& a, _0(a))
__WB_TUPLE(__WB_L(typename A, typename B), __WB_L(A, B), A _0; B _1, __WB_L(_0(), _1()), __WB_L(const A& a, const B& b),
    __WB_L(_0(a), _1(b)))
__WB_TUPLE(__WB_L(typename A, typename B, typename C), __WB_L(A, B, C), A _0; B _1; C _2, __WB_L(_0(), _1(), _2()),
    __WB_L(const A& a, const B& b, const C& c), __WB_L(_0(a), _1(b), _2(c)))
__WB_TUPLE(__WB_L(typename A, typename B, typename C, typename D), __WB_L(A, B, C, D), A _0; B _1; C _2; D _3,
    __WB_L(_0(), _1(), _2(), _3()), __WB_L(const A& a, const B& b, const C& c, const D& d), __WB_L(_0(a), _1(b), _2(c), _3(d)))
__WB_TUPLE(__WB_L(typename A, typename B, typename C, typename D, typename E), __WB_L(A, B, C, D, E),
    A _0; B _1; C _2; D _3; E _4, __WB_L(_0(), _1(), _2(), _3(), _4()),
    __WB_L(const A& a, const B& b, const C& c, const D& d, const E& e), __WB_L(_0(a), _1(b), _2(c), _3(d), _4(e)))
__WB_TUPLE(__WB_L(typename A, typename B, typename C, typename D, typename E, typename F), __WB_L(A, B, C, D, E, F),
    A _0; B _1; C _2; D _3; E _4; F _5, __WB_L(_0(), _1(), _2(), _3(), _4(), _5()),
    __WB_L(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f),
    __WB_L(_0(a), _1(b), _2(c), _3(d), _4(e), _5(f)))
__WB_TUPLE(__WB_L(typename A, typename B, typename C, typename D, typename E, typename F, typename G), __WB_L(A, B, C, D, E, F, G),
    A _0; B _1; C _2; D _3; E _4; F _5; G _6, __WB_L(_0(), _1(), _2(), _3(), _4(), _5(), _6()),
    __WB_L(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g),
    __WB_L(_0(a), _1(b), _2(c), _3(d), _4(e), _5(f), _6(g)))
__WB_TUPLE(__WB_L(typename A, typename B, typename C, typename D, typename E, typename F, typename G, typename H),
    __WB_L(A, B, C, D, E, F, G, H), A _0; B _1; C _2; D _3; E _4; F _5; G _6; H _7,
    __WB_L(_0(), _1(), _2(), _3(), _4(), _5(), _6(), _7()),
    __WB_L(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h),
    __WB_L(_0(a), _1(b), _2(c), _3(d), _4(e), _5(f), _6(g), _7(h)))
#undef __WB_TUPLE
#undef __WB_L
#define __WB_GET(type) \
    template <size_t I, typename... T> __host__ __device__ constexpr auto& get(type t) { \
        static_assert(I < sizeof...(T), "get: the tuple has no such element"); \
        if constexpr (I == 0) return t._0; \
        else if constexpr (I == 1) return t._1; \
        else if constexpr (I == 2) return t._2; \
        else if constexpr (I == 3) return t._3; \
        else if constexpr (I == 4) return t._4; \
        else if constexpr (I == 5) return t._5; \
        else if constexpr (I == 6) return t._6; \
        else return t._7; \
    }
__WB_GET(tuple<T...>&)
__WB_GET(const tuple<T...>&)
#undef __WB_GET
template <size_t I, typename T, size_t N> __host__ __device__ constexpr T& get(array<T, N>& a) { return a[I]; }
template <size_t I, typename T, size_t N> __host__ __device__ constexpr const T& get(const array<T, N>& a) { return a[I]; }
template <size_t I, typename A, typename B> __host__ __device__ constexpr auto& get(pair<A, B>& p) {
    static_assert(I < 2, "get: a pair has two elements");
    if constexpr (I == 0) return p.first;
    else return p.second;
}
template <size_t I, typename A, typename B> __host__ __device__ constexpr const auto& get(const pair<A, B>& p) {
    static_assert(I < 2, "get: a pair has two elements");
    if constexpr (I == 0) return p.first;
    else return p.second;
}
template <typename T> struct tuple_size;
template <typename... T> struct tuple_size<tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <typename A, typename B> struct tuple_size<pair<A, B>> : integral_constant<size_t, 2> {};
template <typename T, size_t N> struct tuple_size<array<T, N>> : integral_constant<size_t, N> {};
template <typename T> inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t I, typename T> struct tuple_element { using type = decay_t<decltype(get<I>(declval<T&>()))>; };
template <size_t I, typename T> using tuple_element_t = typename tuple_element<I, T>::type;
template <typename... T> __host__ __device__ constexpr tuple<decay_t<T>...> make_tuple(const T&... values) {
    return tuple<decay_t<T>...>(values...);
}
// `tie(a, b) = f()`
template <typename... T> struct __wb_ties {
    tuple<T*...> places;
    template <typename U, size_t... I> __host__ __device__ constexpr void take(const U& values, index_sequence<I...>) const {
        ((void)(*get<I>(places) = get<I>(values)), ...);
    }
    template <typename U> __host__ __device__ constexpr const __wb_ties& operator=(const U& values) const {
        take(values, index_sequence_for<T...>{});
        return *this;
    }
};
template <typename... T> __host__ __device__ constexpr __wb_ties<T...> tie(T&... places) {
    return __wb_ties<T...>{tuple<T*...>(&places...)};
}
template <typename A, typename B, size_t... I, size_t... J>
__host__ __device__ constexpr auto __wb_both(const A& a, const B& b, index_sequence<I...>, index_sequence<J...>) {
    return make_tuple(get<I>(a)..., get<J>(b)...);
}
template <typename A, typename B> __host__ __device__ constexpr auto tuple_cat(const A& a, const B& b) {
    return __wb_both(a, b, make_index_sequence<tuple_size_v<A>>{}, make_index_sequence<tuple_size_v<B>>{});
}
template <typename F, typename T, size_t... I> __host__ __device__ constexpr auto __wb_apply(F& f, T& t, index_sequence<I...>) {
    return f(get<I>(t)...);
}
template <typename F, typename T> __host__ __device__ constexpr auto apply(F&& f, T&& t) {
    return __wb_apply(f, t, make_index_sequence<tuple_size_v<decay_t<T>>>{});
}
#define __WB_COMPARE(operation, otherwise) \
    template <size_t I = 0, typename... T> __host__ __device__ constexpr bool operation(const tuple<T...>& a, const tuple<T...>& b) { \
        if constexpr (I == sizeof...(T)) return otherwise
__WB_COMPARE(__wb_equal, true);
        else return get<I>(a) == get<I>(b) && __wb_equal<I + 1>(a, b);
    }
__WB_COMPARE(__wb_less, false);
        else return get<I>(a) < get<I>(b) || !(get<I>(b) < get<I>(a)) && __wb_less<I + 1>(a, b);
    }
#undef __WB_COMPARE
template <typename... T> __host__ __device__ constexpr bool operator==(const tuple<T...>& a, const tuple<T...>& b) { return __wb_equal(a, b); }
template <typename... T> __host__ __device__ constexpr bool operator!=(const tuple<T...>& a, const tuple<T...>& b) { return !__wb_equal(a, b); }
template <typename... T> __host__ __device__ constexpr bool operator<(const tuple<T...>& a, const tuple<T...>& b) { return __wb_less(a, b); }
template <typename... T> __host__ __device__ constexpr bool operator>(const tuple<T...>& a, const tuple<T...>& b) { return __wb_less(b, a); }
template <typename... T> __host__ __device__ constexpr bool operator<=(const tuple<T...>& a, const tuple<T...>& b) { return !__wb_less(b, a); }
template <typename... T> __host__ __device__ constexpr bool operator>=(const tuple<T...>& a, const tuple<T...>& b) { return !__wb_less(a, b); }

// <cuda/std/optional>, for types without a destructor.
struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <typename T> struct optional {
    using value_type = T;
    T value_;
    bool has_;
    __host__ __device__ constexpr optional() : value_(), has_(false) {}
    __host__ __device__ constexpr optional(nullopt_t) : value_(), has_(false) {}
    __host__ __device__ constexpr optional(const T& value) : value_(value), has_(true) {}
    __host__ __device__ constexpr bool has_value() const { return has_; }
    __host__ __device__ constexpr explicit operator bool() const { return has_; }
    __host__ __device__ constexpr T& value() {
        assert(has_ && "cuda::std::optional: it holds nothing");
        return value_;
    }
    __host__ __device__ constexpr const T& value() const {
        assert(has_ && "cuda::std::optional: it holds nothing");
        return value_;
    }
    __host__ __device__ constexpr T& operator*() { return value(); }
    __host__ __device__ constexpr const T& operator*() const { return value(); }
    __host__ __device__ constexpr T* operator->() { return &value(); }
    __host__ __device__ constexpr const T* operator->() const { return &value(); }
    template <typename U> __host__ __device__ constexpr T value_or(const U& other) const { return has_ ? value_ : (T)other; }
    template <typename... A> __host__ __device__ constexpr T& emplace(const A&... a) {
        value_ = T(a...);
        has_ = true;
        return value_;
    }
    __host__ __device__ constexpr void reset() { has_ = false; }
};
}

// <cuda/functional>
#define __WB_EXTREME(name, expression) \
    template <typename T = void> struct name { \
        __host__ __device__ constexpr T operator()(const T& a, const T& b) const { return expression; } \
    }; \
    template <> struct name<void> { \
        template <typename A, typename B> \
        __host__ __device__ constexpr std::common_type_t<A, B> operator()(const A& a, const B& b) const { return expression; } \
    };
__WB_EXTREME(maximum, a < b ? b : a)
__WB_EXTREME(minimum, b < a ? b : a)
#undef __WB_EXTREME
template <typename R, typename F> struct __wb_returning {
    F f;
    template <typename... A> __host__ __device__ constexpr R operator()(A&&... a) const { return f((A&&)a...); }
};
template <typename R, typename F> __host__ __device__ constexpr __wb_returning<R, F> proclaim_return_type(F f) { return __wb_returning<R, F>{f}; }

// <cuda/cmath>
template <typename T, typename U> __host__ __device__ constexpr std::common_type_t<T, U> ceil_div(T a, U b) {
    std::common_type_t<T, U> n = a, m = b, whole = n / m;
    return whole * m != n ? whole + 1 : whole;
}
template <typename T, typename U> __host__ __device__ constexpr std::common_type_t<T, U> round_up(T a, U b) {
    return ceil_div(a, b) * (std::common_type_t<T, U>)b;
}
template <typename T, typename U> __host__ __device__ constexpr std::common_type_t<T, U> round_down(T a, U b) {
    return (std::common_type_t<T, U>)a / b * b;
}
template <typename T> __host__ __device__ constexpr bool is_power_of_two(T x) { return x > 0 && (x & x - 1) == 0; }
template <typename T> __host__ __device__ constexpr T next_power_of_two(T x) { return (T)std::bit_ceil((std::make_unsigned_t<T>)x); }
template <typename T> __host__ __device__ constexpr T prev_power_of_two(T x) { return (T)std::bit_floor((std::make_unsigned_t<T>)x); }
template <typename T> __host__ __device__ constexpr int ilog2(T x) { return std::bit_width((std::make_unsigned_t<T>)x) - 1; }
template <typename T> __host__ __device__ constexpr int ilog10(T x) {
    int n = 0;
    for (; x >= 10; x /= 10) ++n;
    return n;
}
template <typename T> __host__ __device__ constexpr T isqrt(T x) {
    unsigned long long left = (unsigned long long)x, root = 0;
    for (unsigned long long bit = 1ull << 62; bit != 0; bit >>= 2) {
        if (left >= root + bit) {
            left -= root + bit;
            root = (root >> 1) + bit;
        } else root >>= 1;
    }
    return (T)root;
}
template <typename T> __host__ __device__ constexpr std::make_unsigned_t<T> uabs(T x) {
    using U = std::make_unsigned_t<T>;
    return x < 0 ? (U)(0 - (U)x) : (U)x;
}

// A divisor that is used often. The optimisation is only for a GPU, so there is none here.
template <typename T, bool = false> struct fast_mod_div {
    T divisor_;
    fast_mod_div() = delete;
    __host__ __device__ constexpr explicit fast_mod_div(T divisor) : divisor_(divisor) {}
    __host__ __device__ constexpr operator T() const { return divisor_; }
    template <typename U> __host__ __device__ friend constexpr std::common_type_t<T, U> operator/(U a, fast_mod_div d) { return a / d.divisor_; }
    template <typename U> __host__ __device__ friend constexpr std::common_type_t<T, U> operator%(U a, fast_mod_div d) { return a % d.divisor_; }
};

// <cuda/bit>
template <typename T> __host__ __device__ constexpr T bit_reverse(T x) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i, x = (T)(x >> 1)) result = (T)(result << 1 | (x & 1));
    return result;
}
template <typename T = unsigned> __host__ __device__ constexpr T bitmask(int start, int width) {
    constexpr int bits = 8 * sizeof(T);
    if (width == 0 || start >= bits) return 0;
    return (T)((T)((T)~(T)0 >> bits - width) << start);
}
template <typename T> __host__ __device__ constexpr T bitfield_extract(T x, int start, int width) {
    return (T)((x & bitmask<T>(start, width)) >> start);
}
template <typename T> __host__ __device__ constexpr T bitfield_insert(T to, T from, int start, int width) {
    T mask = bitmask<T>(start, width);
    return (T)((to & (T)~mask) | ((T)(from << start) & mask));
}

}

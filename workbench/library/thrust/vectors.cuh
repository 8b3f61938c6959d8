// Storage of vectors: elements are constructed for the whole capacity, those past the size as well.
// The device's storage is in memory of both sides, as host code reaches it by references that copy.
template <typename T, bool device> class __wb_store {
    T* __data = nullptr;
    size_t __size = 0, __room = 0;

public:
    __wb_store() {}
    ~__wb_store() { __drop(__data); }
    static T* __make(size_t n) {
        if constexpr (device) {
            T* data = __wb_shared_room<T>(n);
            if constexpr (!std::is_arithmetic_v<T>)
                for (size_t i = 0; i < n; ++i) __wb_construct(data + i, T());
            return data;
        } else {
            return new T[n];
        }
    }
    static void __drop(T* data) {
        if constexpr (device) __wb_free_from(data, 0);
        else delete[] data;
    }
    T* data() const { return __data; }
    size_t size() const { return __size; }
    size_t room() const { return __room; }
    void reserve(size_t n) {
        if (n <= __room) return;
        T* data = __make(n);
        for (size_t i = 0; i < __size; ++i) data[i] = __data[i];
        __drop(__data);
        __data = data;
        __room = n;
    }
    // Makes room for n more, and gives their place.
    T* more(size_t n) {
        if (__size + n > __room) reserve(__size + n < 2 * __room ? 2 * __room : __size + n);
        __size += n;
        return __data + (__size - n);
    }
    void resize(size_t n, const T& value) {
        T held(value);
        size_t old = __size;
        if (n > old) more(n - old);
        for (size_t i = old; i < n; ++i) __data[i] = held;
        for (size_t i = n; i < old; ++i) __data[i] = T();
        __size = n;
    }
    // Removes `count` elements at `at`.
    void erase(size_t at, size_t count) {
        for (size_t i = at; i + count < __size; ++i) __data[i] = __data[i + count];
        resize(__size - count, T());
    }
    void swap(__wb_store& o) {
        std::swap(__data, o.__data);
        std::swap(__size, o.__size);
        std::swap(__room, o.__room);
    }
    bool same(const T* other, size_t n) const {
        for (size_t i = 0; i < n; ++i)
            if (!(__data[i] == other[i])) return false;
        return n == __size;
    }
};
template <typename T, typename A = void> class host_vector;
template <typename T, typename A = void> class device_vector;
#define __thrust_VECTOR(NAME, OTHER, DEVICE, POINTER, CONST_POINTER, REFERENCE, CONST_REFERENCE, ELEMENT, CONST_ELEMENT)  \
    template <typename T, typename A> class NAME {                                                                      \
        __wb_store<T, DEVICE> __all;                                                                                    \
        template <typename I> void __take(I first, I last) {                                                            \
            auto x = __wb_raw(first);                                                                                   \
            ptrdiff_t n = last - first;                                                                                 \
            T* to = __all.more(n);                                                                                      \
            for (ptrdiff_t i = 0; i < n; ++i) to[i] = (T)x[i];                                                          \
        }                                                                                                               \
                                                                                                                        \
    public:                                                                                                             \
        using value_type = T;                                                                                           \
        using size_type = size_t;                                                                                       \
        using difference_type = ptrdiff_t;                                                                              \
        using allocator_type = A;                                                                                       \
        using pointer = POINTER;                                                                                        \
        using const_pointer = CONST_POINTER;                                                                            \
        using iterator = POINTER;                                                                                       \
        using const_iterator = CONST_POINTER;                                                                           \
        using reference = REFERENCE;                                                                                    \
        using const_reference = CONST_REFERENCE;                                                                        \
        NAME() {}                                                                                                       \
        explicit NAME(size_t n) { resize(n); }                                                                          \
        NAME(size_t n, const T& value) { __all.resize(n, value); }                                                      \
        NAME(std::initializer_list<T> list) { __take(list.begin(), list.end()); }                                       \
        template <typename I, std::enable_if_t<__wb_traits<I>::wraps || std::is_pointer_v<I>, int> = 0> NAME(I first, I last) { \
            __take(first, last);                                                                                        \
        }                                                                                                               \
        NAME(const NAME& o) { __take(o.begin(), o.end()); }                                                             \
        NAME(NAME&& o) { __all.swap(o.__all); }                                                                         \
        template <typename U, typename B> NAME(const OTHER<U, B>& o) { __take(o.begin(), o.end()); }                    \
        template <typename U, typename B> NAME(const NAME<U, B>& o) { __take(o.begin(), o.end()); }                     \
        template <typename U> NAME(const std::vector<U>& o) { __take(o.begin(), o.end()); }                             \
        NAME& operator=(const NAME& o) {                                                                                \
            if (this != &o) assign(o.begin(), o.end());                                                                 \
            return *this;                                                                                               \
        }                                                                                                               \
        NAME& operator=(NAME&& o) {                                                                                     \
            if (this != &o) {                                                                                           \
                clear();                                                                                                \
                __all.swap(o.__all);                                                                                    \
            }                                                                                                           \
            return *this;                                                                                               \
        }                                                                                                               \
        template <typename U, typename B> NAME& operator=(const OTHER<U, B>& o) {                                       \
            assign(o.begin(), o.end());                                                                                 \
            return *this;                                                                                               \
        }                                                                                                               \
        template <typename U> NAME& operator=(const std::vector<U>& o) {                                                \
            assign(o.begin(), o.end());                                                                                 \
            return *this;                                                                                               \
        }                                                                                                               \
        void assign(size_t n, const T& value) {                                                                         \
            T held(value);                                                                                              \
            clear();                                                                                                    \
            __all.resize(n, held);                                                                                      \
        }                                                                                                               \
        template <typename I, std::enable_if_t<__wb_traits<I>::wraps || std::is_pointer_v<I>, int> = 0> void assign(I first, I last) { \
            clear();                                                                                                    \
            __take(first, last);                                                                                        \
        }                                                                                                               \
        void resize(size_t n) { __all.resize(n, T()); }                                                                 \
        void resize(size_t n, const T& value) { __all.resize(n, value); }                                               \
        void reserve(size_t n) { __all.reserve(n); }                                                                    \
        void shrink_to_fit() {}                                                                                         \
        void clear() { __all.resize(0, T()); }                                                                          \
        void push_back(const T& value) { T held(value); *__all.more(1) = held; }                                        \
        void pop_back() { __all.erase(size() - 1, 1); }                                                                 \
        template <typename... B> void emplace_back(B&&... values) { push_back(T(values...)); }                          \
        iterator insert(const_iterator place, const T& value) {                                                         \
            ptrdiff_t at = place - const_iterator(begin());                                                             \
            T held(value);                                                                                              \
            insert(place, &held, &held + 1);                                                                            \
            return begin() + at;                                                                                        \
        }                                                                                                               \
        template <typename I, std::enable_if_t<__wb_traits<I>::wraps || std::is_pointer_v<I>, int> = 0>                 \
        void insert(const_iterator place, I first, I last) {                                                            \
            NAME rest(place, cend());                                                                                   \
            __all.resize(place - const_iterator(begin()), T());                                                         \
            __take(first, last);                                                                                        \
            __take(rest.begin(), rest.end());                                                                           \
        }                                                                                                               \
        iterator erase(const_iterator place) { return erase(place, place + 1); }                                        \
        iterator erase(const_iterator first, const_iterator last) {                                                     \
            ptrdiff_t at = first - const_iterator(begin());                                                             \
            __all.erase(at, last - first);                                                                              \
            return begin() + at;                                                                                        \
        }                                                                                                               \
        void swap(NAME& o) { __all.swap(o.__all); }                                                                     \
        size_t size() const { return __all.size(); }                                                                    \
        size_t capacity() const { return __all.room(); }                                                                \
        bool empty() const { return __all.size() == 0; }                                                                \
        pointer data() { return pointer((ELEMENT*)(__all.data())); }                                                    \
        const_pointer data() const { return const_pointer((CONST_ELEMENT*)(__all.data())); }                            \
        iterator begin() { return iterator((ELEMENT*)(__all.data())); }                                                 \
        iterator end() { return iterator((ELEMENT*)(__all.data() + size())); }                                          \
        const_iterator begin() const { return cbegin(); }                                                               \
        const_iterator end() const { return cend(); }                                                                   \
        const_iterator cbegin() const { return const_iterator((CONST_ELEMENT*)(__all.data())); }                        \
        const_iterator cend() const { return const_iterator((CONST_ELEMENT*)(__all.data() + size())); }                 \
        reverse_iterator<iterator> rbegin() { return reverse_iterator<iterator>(end()); }                               \
        reverse_iterator<iterator> rend() { return reverse_iterator<iterator>(begin()); }                               \
        reverse_iterator<const_iterator> rbegin() const { return reverse_iterator<const_iterator>(cend()); }            \
        reverse_iterator<const_iterator> rend() const { return reverse_iterator<const_iterator>(cbegin()); }            \
        reference operator[](size_t i) { return begin()[i]; }                                                           \
        const_reference operator[](size_t i) const { return cbegin()[i]; }                                              \
        reference front() { return *begin(); }                                                                          \
        const_reference front() const { return *cbegin(); }                                                             \
        reference back() { return *(end() - 1); }                                                                       \
        const_reference back() const { return *(cend() - 1); }                                                          \
        const __wb_store<T, DEVICE>& __store() const { return __all; }                                                  \
    };                                                                                                                  \
    template <typename T, typename A> inline bool operator==(const NAME<T, A>& a, const NAME<T, A>& b) {                \
        return a.__store().same(b.__store().data(), b.size());                                                          \
    }                                                                                                                   \
    template <typename T, typename A> inline bool operator!=(const NAME<T, A>& a, const NAME<T, A>& b) { return !(a == b); } \
    template <typename T, typename A> inline void swap(NAME<T, A>& a, NAME<T, A>& b) { a.swap(b); }
__thrust_VECTOR(host_vector, device_vector, false, T*, const T*, T&, const T&, T, const T)
__thrust_VECTOR(device_vector, host_vector, true, device_ptr<T>, device_ptr<const T>, const device_reference<T>&,
                const device_reference<const T>&, device_reference<T>, device_reference<const T>)
#undef __thrust_VECTOR
template <typename T> using universal_vector = device_vector<T>;
template <typename T> struct device_allocator { using value_type = T; };
template <typename T> using device_malloc_allocator = device_allocator<T>;
template <typename T, typename A, typename U, typename B> inline bool operator==(const host_vector<T, A>& a, const device_vector<U, B>& b) {
    return a.__store().same(b.__store().data(), b.size());
}
template <typename T, typename A, typename U, typename B> inline bool operator==(const device_vector<T, A>& a, const host_vector<U, B>& b) {
    return a.__store().same(b.__store().data(), b.size());
}

// Random numbers: generators are those of the standard library, distributions use Thrust's own formulas.
namespace random {
template <typename T, T A, T C, T M> class linear_congruential_engine {
    T __x;

public:
    using result_type = T;
    static constexpr T multiplier = A, increment = C, modulus = M, min = C == 0 ? 1 : 0, max = M - 1, default_seed = 1;
    __thrust_HD explicit linear_congruential_engine(T s = 1) { seed(s); }
    __thrust_HD void seed(T s = 1) { __x = C % M == 0 && s % M == 0 ? 1 : s % M; }
    __thrust_HD T operator()() {
        __x = (T)(((unsigned long long)A * __x + C) % M);
        return __x;
    }
    // The map of a step is x to a * x + c, and so is the map of any number of steps.
    __thrust_HD void discard(unsigned long long n) {
        unsigned long long a = A, c = C;
        for (; n > 0; n /= 2) {
            if (n % 2) __x = (T)((a * __x + c) % M);
            c = (a * c + c) % M;
            a = a * a % M;
        }
    }
    __thrust_HD bool operator==(const linear_congruential_engine& o) const { return __x == o.__x; }
    __thrust_HD bool operator!=(const linear_congruential_engine& o) const { return __x != o.__x; }
};
using minstd_rand0 = linear_congruential_engine<unsigned int, 16807u, 0u, 2147483647u>;
using minstd_rand = linear_congruential_engine<unsigned int, 48271u, 0u, 2147483647u>;
using default_random_engine = minstd_rand;
__thrust_HD inline float __wb_after(float x, float y) { return nextafterf(x, y); }
__thrust_HD inline double __wb_after(double x, double y) { return nextafter(x, y); }
#define __thrust_DISTRIBUTION(NAME, A, B)                                                                               \
    T __a, __b;                                                                                                         \
                                                                                                                        \
public:                                                                                                                 \
    using result_type = T;                                                                                              \
    using param_type = pair<T, T>;                                                                                      \
    __thrust_HD explicit NAME(T a = A, T b = B) : __a(a), __b(b) {}                                                     \
    __thrust_HD explicit NAME(const param_type& p) : __a(p.first), __b(p.second) {}                                     \
    __thrust_HD void reset() {}                                                                                         \
    __thrust_HD param_type param() const { return param_type(__a, __b); }                                               \
    template <typename G> __thrust_HD T operator()(G& g, const param_type& p) { return NAME(p)(g); }
template <typename T = double> class uniform_real_distribution {
    __thrust_DISTRIBUTION(uniform_real_distribution, 0, 1)
    __thrust_HD T a() const { return __a; }
    __thrust_HD T b() const { return __b; }
    template <typename G> __thrust_HD T operator()(G& g) {
        T x = (T)(g() - G::min) / (T)(G::max - G::min);
        return x * (__wb_after(__b, __a) - __a) + __a;
    }
};
template <typename T = int> class uniform_int_distribution {
    __thrust_DISTRIBUTION(uniform_int_distribution, 0, std::numeric_limits<T>::max())
    __thrust_HD T a() const { return __a; }
    __thrust_HD T b() const { return __b; }
    template <typename G> __thrust_HD T operator()(G& g) {
        double low = __a, high = __b;
        return (T)(uniform_real_distribution<double>(low, __wb_after(high, high + 1.0))(g) + 0.5);
    }
};
template <typename T = double> class normal_distribution {
    __thrust_DISTRIBUTION(normal_distribution, 0, 1)
    __thrust_HD T mean() const { return __a; }
    __thrust_HD T stddev() const { return __b; }
    template <typename G> __thrust_HD T operator()(G& g) {
        unsigned range = G::max - G::min, u = g() - G::min;
        T scale = T(1) / range, root = T(-1.4142135623730950488);
        if (u > range / 2) {
            u = range - u;
            root = -root;
        }
        T p = 2 * (u * scale + scale / 2);
        if constexpr (sizeof(T) == 4) return __a + __b * root * erfcinvf(p);
        else return __a + __b * root * erfcinv(p);
    }
};
#undef __thrust_DISTRIBUTION
}
using random::default_random_engine;
using random::linear_congruential_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;

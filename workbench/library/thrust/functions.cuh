// Thrust. An operation on each element is a kernel with a thread for each; one that carries a result from element to
// element is one thread. Host code cannot call a functor of the device, so an algorithm is written once and read
// twice: as host code, which loops itself if the elements are the host's, and (`thrust::seq`) as code for both sides.
#define __thrust_HD __host__ __device__
namespace thrust {

using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_or;
using std::make_pair;
using std::minus;
using std::modulus;
using std::multiplies;
using std::not_equal_to;
using std::pair;
using std::plus;
using std::swap;

template <typename A, typename R> struct unary_function {
    using argument_type = A;
    using result_type = R;
};
template <typename A, typename B, typename R> struct binary_function {
    using first_argument_type = A;
    using second_argument_type = B;
    using result_type = R;
};
#define __thrust_UNARY(NAME, RESULT, VALUE)                                                                             \
    template <typename T = void> struct NAME {                                                                          \
        __thrust_HD constexpr RESULT operator()(const T& a) const { return VALUE; }                                     \
    };                                                                                                                  \
    template <> struct NAME<void> {                                                                                     \
        template <typename A> __thrust_HD constexpr auto operator()(const A& a) const { return VALUE; }                 \
    };
__thrust_UNARY(negate, T, -a)
__thrust_UNARY(logical_not, bool, !a)
__thrust_UNARY(bit_not, T, ~a)
__thrust_UNARY(identity, T, a)
__thrust_UNARY(square, T, a * a)
#undef __thrust_UNARY
#define __thrust_BINARY(NAME, VALUE)                                                                                    \
    template <typename T = void, typename = void> struct NAME {                                                         \
        __thrust_HD constexpr T operator()(const T& a, const T& b) const { return VALUE; }                              \
    };                                                                                                                  \
    template <typename U> struct NAME<void, U> {                                                                        \
        template <typename A, typename B> __thrust_HD constexpr auto operator()(const A& a, const B& b) const { return VALUE; } \
    };
__thrust_BINARY(maximum, a < b ? b : a)
__thrust_BINARY(minimum, b < a ? b : a)
#undef __thrust_BINARY
template <typename A = void, typename B = void> struct project1st {
    template <typename X, typename Y> __thrust_HD constexpr X operator()(const X& a, const Y&) const { return a; }
};
template <typename A = void, typename B = void> struct project2nd {
    template <typename X, typename Y> __thrust_HD constexpr Y operator()(const X&, const Y& b) const { return b; }
};
template <typename F> struct __wb_not {
    F f;
    template <typename... A> __thrust_HD bool operator()(const A&... a) { return !f(a...); }
};
template <typename F> __thrust_HD __wb_not<F> not_fn(F f) { return __wb_not<F>{f}; }
template <typename F> __thrust_HD __wb_not<F> not1(F f) { return __wb_not<F>{f}; }
template <typename F> __thrust_HD __wb_not<F> not2(F f) { return __wb_not<F>{f}; }
template <typename T> __thrust_HD constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <typename T> __thrust_HD constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <typename T, typename L> __thrust_HD constexpr const T& max(const T& a, const T& b, L less) { return less(a, b) ? b : a; }
template <typename T, typename L> __thrust_HD constexpr const T& min(const T& a, const T& b, L less) { return less(b, a) ? b : a; }

// A node of the tree that an expression with placeholders is.
template <typename E> struct __wb_actor {
    E of;
    template <typename... A> __thrust_HD constexpr auto operator()(const A&... a) const { return of.value(a...); }
};
template <int N> struct __wb_argument {
    template <typename A, typename... R> __thrust_HD constexpr auto value(const A& a, const R&... rest) const {
        if constexpr (N == 0) return a;
        else return __wb_argument<N - 1>().value(rest...);
    }
};
template <typename T> struct __wb_literal {
    T held;
    template <typename... A> __thrust_HD constexpr T value(const A&...) const { return held; }
};
template <typename O, typename L, typename R> struct __wb_node {
    L left;
    R right;
    template <typename... A> __thrust_HD constexpr auto value(const A&... a) const { return O()(left.value(a...), right.value(a...)); }
};
template <typename O, typename L> struct __wb_node<O, L, void> {
    L left;
    template <typename... A> __thrust_HD constexpr auto value(const A&... a) const { return O()(left.value(a...)); }
};
template <typename T> struct __wb_term {
    using type = __wb_literal<T>;
    static constexpr bool acts = false;
    static __thrust_HD constexpr type of(const T& x) { return type{x}; }
};
template <typename E> struct __wb_term<__wb_actor<E>> {
    using type = E;
    static constexpr bool acts = true;
    static __thrust_HD constexpr E of(const __wb_actor<E>& x) { return x.of; }
};
struct __wb_shift_left { template <typename A, typename B> __thrust_HD constexpr auto operator()(A a, B b) const { return a << b; } };
struct __wb_shift_right { template <typename A, typename B> __thrust_HD constexpr auto operator()(A a, B b) const { return a >> b; } };
#define __thrust_OPERATOR(SIGN, FUNCTOR)                                                                                \
    template <typename L, typename R, std::enable_if_t<__wb_term<L>::acts || __wb_term<R>::acts, int> = 0>              \
    __thrust_HD constexpr auto operator SIGN(const L& l, const R& r) {                                                  \
        using N = __wb_node<FUNCTOR, typename __wb_term<L>::type, typename __wb_term<R>::type>;                         \
        return __wb_actor<N>{N{__wb_term<L>::of(l), __wb_term<R>::of(r)}};                                              \
    }
__thrust_OPERATOR(+, plus<>)
__thrust_OPERATOR(-, minus<>)
__thrust_OPERATOR(*, multiplies<>)
__thrust_OPERATOR(/, divides<>)
__thrust_OPERATOR(%, modulus<>)
__thrust_OPERATOR(&, bit_and<>)
__thrust_OPERATOR(|, bit_or<>)
__thrust_OPERATOR(^, bit_xor<>)
__thrust_OPERATOR(&&, logical_and<>)
__thrust_OPERATOR(||, logical_or<>)
__thrust_OPERATOR(==, equal_to<>)
__thrust_OPERATOR(!=, not_equal_to<>)
__thrust_OPERATOR(<, less<>)
__thrust_OPERATOR(>, greater<>)
__thrust_OPERATOR(<=, less_equal<>)
__thrust_OPERATOR(>=, greater_equal<>)
__thrust_OPERATOR(<<, __wb_shift_left)
__thrust_OPERATOR(>>, __wb_shift_right)
#undef __thrust_OPERATOR
#define __thrust_OPERATOR(SIGN, FUNCTOR)                                                                                \
    template <typename E> __thrust_HD constexpr auto operator SIGN(const __wb_actor<E>& x) {                            \
        return __wb_actor<__wb_node<FUNCTOR, E, void>>{__wb_node<FUNCTOR, E, void>{x.of}};                              \
    }
__thrust_OPERATOR(-, negate<>)
__thrust_OPERATOR(!, logical_not<>)
__thrust_OPERATOR(~, bit_not<>)
#undef __thrust_OPERATOR
namespace placeholders {
inline constexpr __wb_actor<__wb_argument<0>> _1{};
inline constexpr __wb_actor<__wb_argument<1>> _2{};
inline constexpr __wb_actor<__wb_argument<2>> _3{};
}

// Tuples.
template <typename... T> struct tuple;
template <> struct tuple<> {};
template <size_t I, typename H, typename... R> constexpr auto __wb_element() {
    if constexpr (I == 0) return std::type_identity<H>();
    else return __wb_element<I - 1, R...>();
}
template <size_t I, typename T> struct tuple_element;
template <size_t I, typename... T> struct tuple_element<I, tuple<T...>> {
    using found = decltype(__wb_element<I, T...>());
    using type = typename found::type;
};
template <typename H, typename... R> struct tuple<H, R...> {
    H __head;
    tuple<R...> __tail;
    __thrust_HD constexpr tuple() : __head(), __tail() {}
    __thrust_HD constexpr tuple(const H& head, const R&... rest) : __head(head), __tail(rest...) {}
    template <typename A, typename... B>
    __thrust_HD constexpr tuple(const tuple<A, B...>& o) : __head(o.__head), __tail(o.__tail) {}
    template <typename A, typename B> __thrust_HD constexpr tuple(const pair<A, B>& o) : __head(o.first), __tail(o.second) {}
    __thrust_HD constexpr tuple(const tuple& o) : __head(o.__head), __tail(o.__tail) {}
    __thrust_HD constexpr tuple& operator=(const tuple& o) {
        __head = o.__head;
        __tail = o.__tail;
        return *this;
    }
    template <typename A, typename... B> __thrust_HD constexpr tuple& operator=(const tuple<A, B...>& o) {
        __head = o.__head;
        __tail = o.__tail;
        return *this;
    }
    template <typename A, typename B> __thrust_HD constexpr tuple& operator=(const pair<A, B>& o) {
        __head = o.first;
        __tail.__head = o.second;
        return *this;
    }
    template <size_t I> __thrust_HD constexpr typename tuple_element<I, tuple>::type& get() {
        if constexpr (I == 0) return __head;
        else return __tail.template get<I - 1>();
    }
    template <size_t I> __thrust_HD constexpr const typename tuple_element<I, tuple>::type& get() const {
        if constexpr (I == 0) return __head;
        else return __tail.template get<I - 1>();
    }
};
template <size_t I, typename T> using tuple_element_t = typename tuple_element<I, T>::type;
template <typename T> struct tuple_size;
template <typename... T> struct tuple_size<tuple<T...>> { static constexpr size_t value = sizeof...(T); };
template <size_t I, typename... T> __thrust_HD constexpr tuple_element_t<I, tuple<T...>>& get(tuple<T...>& t) {
    static_assert(I < sizeof...(T), "thrust::get: the tuple has no such element");
    return t.template get<I>();
}
template <size_t I, typename... T> __thrust_HD constexpr const tuple_element_t<I, tuple<T...>>& get(const tuple<T...>& t) {
    static_assert(I < sizeof...(T), "thrust::get: the tuple has no such element");
    return t.template get<I>();
}
template <size_t I, typename A, typename B> __thrust_HD constexpr auto& get(pair<A, B>& p) {
    if constexpr (I == 0) return p.first;
    else return p.second;
}
template <size_t I, typename A, typename B> __thrust_HD constexpr const auto& get(const pair<A, B>& p) {
    if constexpr (I == 0) return p.first;
    else return p.second;
}
template <typename... T> __thrust_HD constexpr tuple<T...> make_tuple(T... values) { return tuple<T...>(values...); }
template <typename... T> __thrust_HD constexpr tuple<T&...> tie(T&... places) { return tuple<T&...>(places...); }
__thrust_HD constexpr bool operator==(const tuple<>&, const tuple<>&) { return true; }
__thrust_HD constexpr bool operator<(const tuple<>&, const tuple<>&) { return false; }
template <typename A, typename... B, typename C, typename... D>
__thrust_HD constexpr bool operator==(const tuple<A, B...>& x, const tuple<C, D...>& y) {
    return x.__head == y.__head && x.__tail == y.__tail;
}
template <typename A, typename... B, typename C, typename... D>
__thrust_HD constexpr bool operator<(const tuple<A, B...>& x, const tuple<C, D...>& y) {
    return x.__head < y.__head || (!(y.__head < x.__head) && x.__tail < y.__tail);
}
template <typename... A, typename... B>
__thrust_HD constexpr bool operator!=(const tuple<A...>& x, const tuple<B...>& y) { return !(x == y); }
template <typename... A, typename... B>
__thrust_HD constexpr bool operator>(const tuple<A...>& x, const tuple<B...>& y) { return y < x; }
template <typename... A, typename... B>
__thrust_HD constexpr bool operator<=(const tuple<A...>& x, const tuple<B...>& y) { return !(y < x); }
template <typename... A, typename... B>
__thrust_HD constexpr bool operator>=(const tuple<A...>& x, const tuple<B...>& y) { return !(x < y); }

// A function of the elements of a tuple.
template <typename F> struct zip_function {
    F f;
    __thrust_HD zip_function(F f) : f(f) {}
    template <size_t... I, typename T> __thrust_HD auto __call(std::index_sequence<I...>, T&& t) { return f(thrust::get<I>(t)...); }
    template <typename... T> __thrust_HD auto operator()(tuple<T...> t) { return __call(std::index_sequence_for<T...>(), t); }
};
template <typename F> __thrust_HD zip_function<F> make_zip_function(F f) { return zip_function<F>(f); }

// Durations and clocks, for host code. One source of time is enough: nanoseconds since 1970 by a clock that never goes back.
inline long long __wb_nanoseconds() {
    __wb_run_op(__wb_host_op("nanoseconds"), 0);
    return __wb::Value<int64_t>::get();
}
inline void __wb_sleep(long long nanoseconds) {
    __wb_push_int(nanoseconds);
    __wb_run_op(__wb_host_op("sleep"), 1);
    __wb_drop();
}

namespace std {

constexpr long __wb_gcd(long a, long b) { return b == 0 ? (a < 0 ? -a : a) : __wb_gcd(b, a % b); }
template <long N, long D = 1> struct ratio {
    static_assert(D != 0, "a ratio's denominator is not zero");
    static constexpr long num = N / __wb_gcd(N, D) * (D < 0 ? -1 : 1), den = (D < 0 ? -D : D) / __wb_gcd(N, D);
    using type = ratio<num, den>;
};
// A ratio of any terms, reduced to lowest ones.
template <long N, long D> using __wb_reduced = typename ratio<N, D>::type;
template <typename A, typename B> using ratio_multiply =
    ratio<(A::num / __wb_gcd(A::num, B::den)) * (B::num / __wb_gcd(B::num, A::den)),
          (A::den / __wb_gcd(B::num, A::den)) * (B::den / __wb_gcd(A::num, B::den))>;
template <typename A, typename B> using ratio_divide = ratio_multiply<A, ratio<B::den, B::num>>;
template <typename A, typename B> struct ratio_equal : bool_constant<A::num == B::num && A::den == B::den> {};
template <typename A, typename B> inline constexpr bool ratio_equal_v = ratio_equal<A, B>::value;
using nano = ratio<1, 1000000000>;
using micro = ratio<1, 1000000>;
using milli = ratio<1, 1000>;
using centi = ratio<1, 100>;
using deci = ratio<1, 10>;
using deca = ratio<10>;
using hecto = ratio<100>;
using kilo = ratio<1000>;
using mega = ratio<1000000>;
using giga = ratio<1000000000>;

namespace chrono {

template <typename R, typename P = ratio<1>> class duration;
// The common type of two counts, and the longest period that both are multiples of.
template <typename A, typename B> using __wb_count = decltype(true ? A() : B());
template <typename A, typename B> struct __wb_both;
template <typename R, typename P, typename S, typename Q> struct __wb_both<duration<R, P>, duration<S, Q>> {
    using type = duration<__wb_count<R, S>, __wb_reduced<__wb_gcd(P::num, Q::num), P::den / __wb_gcd(P::den, Q::den) * Q::den>>;
};
template <typename A, typename B> using __wb_common = typename __wb_both<A, B>::type;
template <typename T> struct __wb_is_duration : false_type {};
template <typename R, typename P> struct __wb_is_duration<duration<R, P>> : true_type {};

template <typename T, typename R, typename P> constexpr T duration_cast(const duration<R, P>& d) {
    using Factor = ratio_divide<P, typename T::period>;
    using C = __wb_count<__wb_count<typename T::rep, R>, long>;
    if constexpr (Factor::den == 1 && Factor::num == 1) return T((typename T::rep)d.count());
    else if constexpr (Factor::den == 1) return T((typename T::rep)((C)d.count() * (C)Factor::num));
    else if constexpr (Factor::num == 1) return T((typename T::rep)((C)d.count() / (C)Factor::den));
    else return T((typename T::rep)((C)d.count() * (C)Factor::num / (C)Factor::den));
}

template <typename R, typename P> class duration {
    R count_;

public:
    using rep = R;
    using period = typename P::type;
    constexpr duration() : count_() {}
    template <typename S, typename = enable_if_t<is_arithmetic_v<S> && (is_floating_point_v<R> || !is_floating_point_v<S>)>>
    constexpr explicit duration(const S& n) : count_((R)n) {}
    // The conversion must be exact.
    template <typename S, typename Q,
              typename = enable_if_t<is_floating_point_v<R> || (ratio_divide<Q, P>::den == 1 && !is_floating_point_v<S>)>>
    constexpr duration(const duration<S, Q>& other) : count_(duration_cast<duration>(other).count()) {}
    constexpr R count() const { return count_; }
    constexpr duration operator+() const { return *this; }
    constexpr duration operator-() const { return duration(-count_); }
    constexpr duration& operator++() {
        ++count_;
        return *this;
    }
    constexpr duration operator++(int) { return duration(count_++); }
    constexpr duration& operator--() {
        --count_;
        return *this;
    }
    constexpr duration operator--(int) { return duration(count_--); }
    constexpr duration& operator+=(const duration& other) {
        count_ += other.count_;
        return *this;
    }
    constexpr duration& operator-=(const duration& other) {
        count_ -= other.count_;
        return *this;
    }
    constexpr duration& operator*=(const R& n) {
        count_ *= n;
        return *this;
    }
    constexpr duration& operator/=(const R& n) {
        count_ /= n;
        return *this;
    }
    constexpr duration& operator%=(const R& n) {
        count_ %= n;
        return *this;
    }
    constexpr duration& operator%=(const duration& other) {
        count_ %= other.count_;
        return *this;
    }
    static constexpr duration zero() { return duration((R)0); }
    static constexpr duration min() { return duration(numeric_limits<R>::lowest()); }
    static constexpr duration max() { return duration(numeric_limits<R>::max()); }
};
using nanoseconds = duration<long, nano>;
using microseconds = duration<long, micro>;
using milliseconds = duration<long, milli>;
using seconds = duration<long>;
using minutes = duration<long, ratio<60>>;
using hours = duration<long, ratio<3600>>;

#define __WB_DURATION(sign, result, value) \
    template <typename R, typename P, typename S, typename Q> \
    constexpr result operator sign(const duration<R, P>& a, const duration<S, Q>& b) { \
        using C = __wb_common<duration<R, P>, duration<S, Q>>; \
        return value(C(a).count() sign C(b).count()); \
    }
__WB_DURATION(+, auto, C)
__WB_DURATION(-, auto, C)
__WB_DURATION(%, auto, C)
__WB_DURATION(/, auto, )
__WB_DURATION(==, bool, )
__WB_DURATION(!=, bool, )
__WB_DURATION(<, bool, )
__WB_DURATION(>, bool, )
__WB_DURATION(<=, bool, )
__WB_DURATION(>=, bool, )
#undef __WB_DURATION
#define __WB_SCALED(sign) \
    template <typename R, typename P, typename S, typename = enable_if_t<is_arithmetic_v<S>>> \
    constexpr auto operator sign(const duration<R, P>& d, const S& n) { \
        using C = __wb_count<R, S>; \
        return duration<C, P>((C)d.count() sign (C)n); \
    }
__WB_SCALED(*)
__WB_SCALED(/)
__WB_SCALED(%)
#undef __WB_SCALED
template <typename S, typename R, typename P, typename = enable_if_t<is_arithmetic_v<S>>>
constexpr auto operator*(const S& n, const duration<R, P>& d) {
    return d * n;
}

template <typename T, typename R, typename P> constexpr T floor(const duration<R, P>& d) {
    T t = duration_cast<T>(d);
    return t > d ? t - T(1) : t;
}
template <typename T, typename R, typename P> constexpr T ceil(const duration<R, P>& d) {
    T t = duration_cast<T>(d);
    return t < d ? t + T(1) : t;
}
// The nearest count; of two equally near ones the even one.
template <typename T, typename R, typename P> constexpr T round(const duration<R, P>& d) {
    T low = floor<T>(d), high = low + T(1);
    auto below = d - low, above = high - d;
    return below == above ? (low.count() & 1 ? high : low) : below < above ? low : high;
}
template <typename R, typename P> constexpr duration<R, P> abs(const duration<R, P>& d) { return d < duration<R, P>::zero() ? -d : d; }

template <typename K, typename D = typename K::duration> class time_point {
    D since_;

public:
    using clock = K;
    using duration = D;
    using rep = typename D::rep;
    using period = typename D::period;
    constexpr time_point() : since_(D::zero()) {}
    constexpr explicit time_point(const D& since) : since_(since) {}
    template <typename E, typename = enable_if_t<__wb_makes<D, E>::value>>
    constexpr time_point(const time_point<K, E>& other) : since_(other.time_since_epoch()) {}
    constexpr D time_since_epoch() const { return since_; }
    constexpr time_point& operator+=(const D& d) {
        since_ += d;
        return *this;
    }
    constexpr time_point& operator-=(const D& d) {
        since_ -= d;
        return *this;
    }
    static constexpr time_point min() { return time_point(D::min()); }
    static constexpr time_point max() { return time_point(D::max()); }
};
template <typename T, typename K, typename D> constexpr time_point<K, T> time_point_cast(const time_point<K, D>& t) {
    return time_point<K, T>(duration_cast<T>(t.time_since_epoch()));
}
template <typename K, typename D, typename R, typename P> constexpr auto operator+(const time_point<K, D>& t, const duration<R, P>& d) {
    using C = __wb_common<D, duration<R, P>>;
    return time_point<K, C>(t.time_since_epoch() + d);
}
template <typename K, typename D, typename R, typename P> constexpr auto operator+(const duration<R, P>& d, const time_point<K, D>& t) {
    return t + d;
}
template <typename K, typename D, typename R, typename P> constexpr auto operator-(const time_point<K, D>& t, const duration<R, P>& d) {
    using C = __wb_common<D, duration<R, P>>;
    return time_point<K, C>(t.time_since_epoch() - d);
}
template <typename K, typename D, typename E> constexpr auto operator-(const time_point<K, D>& a, const time_point<K, E>& b) {
    return a.time_since_epoch() - b.time_since_epoch();
}
#define __WB_TIMES(sign) \
    template <typename K, typename D, typename E> constexpr bool operator sign(const time_point<K, D>& a, const time_point<K, E>& b) { \
        return a.time_since_epoch() sign b.time_since_epoch(); \
    }
__WB_TIMES(==)
__WB_TIMES(!=)
__WB_TIMES(<)
__WB_TIMES(>)
__WB_TIMES(<=)
__WB_TIMES(>=)
#undef __WB_TIMES

struct system_clock {
    using duration = nanoseconds;
    using rep = long;
    using period = nano;
    using time_point = chrono::time_point<system_clock>;
    static constexpr bool is_steady = false;
    static time_point now() { return time_point(duration(__wb_nanoseconds())); }
    static time_t to_time_t(const time_point& t) { return duration_cast<seconds>(t.time_since_epoch()).count(); }
    static time_point from_time_t(time_t t) { return time_point(seconds(t)); }
};
struct steady_clock {
    using duration = nanoseconds;
    using rep = long;
    using period = nano;
    using time_point = chrono::time_point<steady_clock>;
    static constexpr bool is_steady = true;
    static time_point now() { return time_point(duration(__wb_nanoseconds())); }
};
using high_resolution_clock = system_clock;

}

namespace this_thread {
template <typename R, typename P> void sleep_for(const chrono::duration<R, P>& d) {
    if (d > d.zero()) __wb_sleep(chrono::ceil<chrono::nanoseconds>(d).count());
}
template <typename K, typename D> void sleep_until(const chrono::time_point<K, D>& t) {
    while (K::now() < t) sleep_for(t - K::now());
}
inline void yield() {}
}

}

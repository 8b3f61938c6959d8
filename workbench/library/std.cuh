#define __WB_STD 1
namespace std {

template <typename T, T v> struct integral_constant {
    static constexpr T value = v;
    using value_type = T;
    using type = integral_constant<T, v>;
    __host__ __device__ constexpr operator T() const { return v; }
    __host__ __device__ constexpr T operator()() const { return v; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <bool B, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { using type = T; };
template <bool B, typename T = void> using enable_if_t = typename enable_if<B, T>::type;

template <bool B, typename T, typename F> struct conditional { using type = T; };
template <typename T, typename F> struct conditional<false, T, F> { using type = F; };
template <bool B, typename T, typename F> using conditional_t = typename conditional<B, T, F>::type;

template <typename... T> using void_t = void;

template <typename T> struct remove_const { using type = T; };
template <typename T> struct remove_const<const T> { using type = T; };
template <typename T> using remove_const_t = typename remove_const<T>::type;
template <typename T> struct remove_volatile { using type = T; };
template <typename T> struct remove_volatile<volatile T> { using type = T; };
template <typename T> using remove_volatile_t = typename remove_volatile<T>::type;
template <typename T> struct remove_cv { using type = remove_volatile_t<remove_const_t<T>>; };
template <typename T> using remove_cv_t = typename remove_cv<T>::type;
template <typename T> struct remove_reference { using type = T; };
template <typename T> struct remove_reference<T&> { using type = T; };
template <typename T> struct remove_reference<T&&> { using type = T; };
template <typename T> using remove_reference_t = typename remove_reference<T>::type;
template <typename T> struct remove_cvref { using type = remove_cv_t<remove_reference_t<T>>; };
template <typename T> using remove_cvref_t = typename remove_cvref<T>::type;
template <typename T> struct remove_pointer { using type = T; };
template <typename T> struct remove_pointer<T*> { using type = T; };
template <typename T> struct remove_pointer<T* const> { using type = T; };
template <typename T> using remove_pointer_t = typename remove_pointer<T>::type;
template <typename T> struct remove_extent { using type = T; };
template <typename T, size_t N> struct remove_extent<T[N]> { using type = T; };
template <typename T> using remove_extent_t = typename remove_extent<T>::type;
template <size_t N, size_t A = 16> struct aligned_storage {
    struct type {
        alignas(A) unsigned char __data[N];
    };
};
template <size_t N, size_t A = 16> using aligned_storage_t = typename aligned_storage<N, A>::type;
template <typename T> struct add_const { using type = const T; };
template <typename T> using add_const_t = typename add_const<T>::type;
template <typename T> struct add_pointer { using type = remove_reference_t<T>*; };
template <typename T> using add_pointer_t = typename add_pointer<T>::type;
template <typename T> struct add_lvalue_reference { using type = T&; };
template <typename T> using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <typename T> struct add_rvalue_reference { using type = T&&; };
template <typename T> using add_rvalue_reference_t = typename add_rvalue_reference<T>::type;
template <typename T> struct type_identity { using type = T; };
template <typename T> using type_identity_t = typename type_identity<T>::type;

template <typename T, typename U> struct is_same : false_type {};
template <typename T> struct is_same<T, T> : true_type {};
template <typename T, typename U> inline constexpr bool is_same_v = is_same<T, U>::value;

template <typename T> struct __is_integral : false_type {};
template <> struct __is_integral<bool> : true_type {};
template <> struct __is_integral<char> : true_type {};
template <> struct __is_integral<signed char> : true_type {};
template <> struct __is_integral<unsigned char> : true_type {};
template <> struct __is_integral<short> : true_type {};
template <> struct __is_integral<unsigned short> : true_type {};
template <> struct __is_integral<int> : true_type {};
template <> struct __is_integral<unsigned int> : true_type {};
template <> struct __is_integral<long> : true_type {};
template <> struct __is_integral<unsigned long> : true_type {};
template <> struct __is_integral<long long> : true_type {};
template <> struct __is_integral<unsigned long long> : true_type {};
template <typename T> struct is_integral : __is_integral<remove_cv_t<T>> {};
template <typename T> inline constexpr bool is_integral_v = is_integral<T>::value;

template <typename T> struct is_floating_point
    : bool_constant<is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>> {};
template <typename T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <typename T> struct is_arithmetic : bool_constant<is_integral_v<T> || is_floating_point_v<T>> {};
template <typename T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <typename T> struct is_void : is_same<remove_cv_t<T>, void> {};
template <typename T> inline constexpr bool is_void_v = is_void<T>::value;
template <typename T> struct is_const : false_type {};
template <typename T> struct is_const<const T> : true_type {};
template <typename T> inline constexpr bool is_const_v = is_const<T>::value;
template <typename T> struct is_pointer : false_type {};
template <typename T> struct is_pointer<T*> : true_type {};
template <typename T> struct is_pointer<T* const> : true_type {};
template <typename T> inline constexpr bool is_pointer_v = is_pointer<T>::value;
template <typename T> struct is_reference : false_type {};
template <typename T> struct is_reference<T&> : true_type {};
template <typename T> struct is_reference<T&&> : true_type {};
template <typename T> inline constexpr bool is_reference_v = is_reference<T>::value;
template <typename T> struct is_lvalue_reference : false_type {};
template <typename T> struct is_lvalue_reference<T&> : true_type {};
template <typename T> inline constexpr bool is_lvalue_reference_v = is_lvalue_reference<T>::value;
template <typename T> struct is_rvalue_reference : false_type {};
template <typename T> struct is_rvalue_reference<T&&> : true_type {};
template <typename T> inline constexpr bool is_rvalue_reference_v = is_rvalue_reference<T>::value;
template <typename T> struct is_array : false_type {};
template <typename T, size_t N> struct is_array<T[N]> : true_type {};
template <typename T> inline constexpr bool is_array_v = is_array<T>::value;

template <typename T, bool A> struct __is_signed : false_type {};
template <typename T> struct __is_signed<T, true> : bool_constant<(T(-1) < T(0))> {};
template <typename T> struct is_signed : __is_signed<remove_cv_t<T>, is_arithmetic_v<T>> {};
template <typename T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <typename T> struct is_unsigned : bool_constant<is_arithmetic_v<T> && !is_signed_v<T>> {};
template <typename T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;

template <typename T> struct __make_unsigned { using type = T; };
template <> struct __make_unsigned<char> { using type = unsigned char; };
template <> struct __make_unsigned<signed char> { using type = unsigned char; };
template <> struct __make_unsigned<short> { using type = unsigned short; };
template <> struct __make_unsigned<int> { using type = unsigned int; };
template <> struct __make_unsigned<long> { using type = unsigned long; };
template <> struct __make_unsigned<long long> { using type = unsigned long long; };
template <typename T> struct make_unsigned { using type = typename __make_unsigned<remove_cv_t<T>>::type; };
template <typename T> using make_unsigned_t = typename make_unsigned<T>::type;
template <typename T> struct __make_signed { using type = T; };
template <> struct __make_signed<char> { using type = signed char; };
template <> struct __make_signed<unsigned char> { using type = signed char; };
template <> struct __make_signed<unsigned short> { using type = short; };
template <> struct __make_signed<unsigned int> { using type = int; };
template <> struct __make_signed<unsigned long> { using type = long; };
template <> struct __make_signed<unsigned long long> { using type = long long; };
template <typename T> struct make_signed { using type = typename __make_signed<remove_cv_t<T>>::type; };
template <typename T> using make_signed_t = typename make_signed<T>::type;

template <typename T> struct __decay { using type = remove_cv_t<T>; };
template <typename T, size_t N> struct __decay<T[N]> { using type = T*; };
template <typename T> struct decay { using type = typename __decay<remove_reference_t<T>>::type; };
template <typename T> using decay_t = typename decay<T>::type;

template <typename... B> struct conjunction : bool_constant<(true && ... && bool(B::value))> {};
template <typename... B> inline constexpr bool conjunction_v = conjunction<B...>::value;
template <typename... B> struct disjunction : bool_constant<(false || ... || bool(B::value))> {};
template <typename... B> inline constexpr bool disjunction_v = disjunction<B...>::value;
template <typename B> struct negation : bool_constant<!bool(B::value)> {};
template <typename B> inline constexpr bool negation_v = negation<B>::value;

template <typename T> typename add_rvalue_reference<T>::type declval();
template <typename Void, typename A, typename B> struct __common {};
template <typename A, typename B> struct __common<void_t<decltype(false ? declval<A>() : declval<B>())>, A, B> {
    using type = decay_t<decltype(false ? declval<A>() : declval<B>())>;
};
template <typename... T> struct common_type {};
template <typename T> struct common_type<T> : common_type<T, T> {};
template <typename A, typename B> struct common_type<A, B> : __common<void, A, B> {};
template <typename A, typename B, typename C, typename... D>
struct common_type<A, B, C, D...> : common_type<typename common_type<A, B>::type, C, D...> {};
template <typename... T> using common_type_t = typename common_type<T...>::type;
// C++17, the version that NVRTC reads this text in, has none.
#ifndef __CUDACC_RTC__
template <typename T, typename U> concept same_as = is_same_v<T, U>;
template <typename T> concept integral = is_integral_v<T>;
template <typename T> concept signed_integral = is_integral_v<T> && is_signed_v<T>;
template <typename T> concept unsigned_integral = is_integral_v<T> && !is_signed_v<T>;
template <typename T> concept floating_point = is_floating_point_v<T>;
#endif
template <typename T> __host__ __device__ constexpr remove_reference_t<T>&& move(T&& x) {
    return static_cast<remove_reference_t<T>&&>(x);
}
template <typename T> __host__ __device__ constexpr T&& forward(remove_reference_t<T>& x) {
    return static_cast<T&&>(x);
}
template <typename T> __host__ __device__ constexpr T&& forward(remove_reference_t<T>&& x) {
    return static_cast<T&&>(x);
}
template <typename T> __host__ __device__ constexpr void swap(T& a, T& b) {
    T t = static_cast<T&&>(a);
    a = static_cast<T&&>(b);
    b = static_cast<T&&>(t);
}
template <typename T, typename U = T> __host__ __device__ constexpr T exchange(T& x, U&& y) {
    T old = static_cast<T&&>(x);
    x = static_cast<U&&>(y);
    return old;
}
template <typename T> __host__ __device__ constexpr const T& clamp(const T& x, const T& low, const T& high) {
    return x < low ? low : high < x ? high : x;
}

template <typename A, typename B> struct pair {
    using first_type = A;
    using second_type = B;
    A first;
    B second;
    __host__ __device__ constexpr pair() : first(), second() {}
    __host__ __device__ constexpr pair(const A& a, const B& b) : first(a), second(b) {}
    // Some of these are the first one again, in a pair of references.
    __host__ __device__ constexpr pair(A&& a, B&& b) : first(static_cast<A&&>(a)), second(static_cast<B&&>(b)) {}
    __host__ __device__ constexpr pair(const A& a, B&& b) : first(a), second(static_cast<B&&>(b)) {}
    __host__ __device__ constexpr pair(A&& a, const B& b) : first(static_cast<A&&>(a)), second(b) {}
    template <typename C, typename D>
    __host__ __device__ constexpr pair(const pair<C, D>& p) : first(p.first), second(p.second) {}
    template <typename C, typename D>
    __host__ __device__ constexpr pair(pair<C, D>&& p) : first(static_cast<C&&>(p.first)), second(static_cast<D&&>(p.second)) {}
};
template <typename A, typename B> __host__ __device__ constexpr pair<A, B> make_pair(A a, B b) {
    return pair<A, B>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <typename A, typename B>
__host__ __device__ constexpr bool operator==(const pair<A, B>& x, const pair<A, B>& y) {
    return x.first == y.first && x.second == y.second;
}
template <typename A, typename B>
__host__ __device__ constexpr bool operator!=(const pair<A, B>& x, const pair<A, B>& y) {
    return !(x == y);
}
template <typename A, typename B>
__host__ __device__ constexpr bool operator<(const pair<A, B>& x, const pair<A, B>& y) {
    return x.first < y.first || (!(y.first < x.first) && x.second < y.second);
}
template <typename A, typename B>
__host__ __device__ constexpr bool operator>(const pair<A, B>& x, const pair<A, B>& y) {
    return y < x;
}
template <typename A, typename B>
__host__ __device__ constexpr bool operator<=(const pair<A, B>& x, const pair<A, B>& y) {
    return !(y < x);
}
template <typename A, typename B>
__host__ __device__ constexpr bool operator>=(const pair<A, B>& x, const pair<A, B>& y) {
    return !(x < y);
}

template <typename T, size_t N> struct array {
    using value_type = T;
    T __elements[N];
    __host__ __device__ constexpr T& operator[](size_t i) { return __elements[i]; }
    __host__ __device__ constexpr const T& operator[](size_t i) const { return __elements[i]; }
    __host__ __device__ constexpr T& front() { return __elements[0]; }
    __host__ __device__ constexpr const T& front() const { return __elements[0]; }
    __host__ __device__ constexpr T& back() { return __elements[N - 1]; }
    __host__ __device__ constexpr const T& back() const { return __elements[N - 1]; }
    __host__ __device__ constexpr T* data() { return __elements; }
    __host__ __device__ constexpr const T* data() const { return __elements; }
    __host__ __device__ constexpr T* begin() { return __elements; }
    __host__ __device__ constexpr const T* begin() const { return __elements; }
    __host__ __device__ constexpr T* end() { return __elements + N; }
    __host__ __device__ constexpr const T* end() const { return __elements + N; }
    __host__ __device__ constexpr size_t size() const { return N; }
    __host__ __device__ constexpr bool empty() const { return false; }
    __host__ __device__ constexpr void fill(const T& x) {
        for (size_t i = 0; i < N; ++i) __elements[i] = x;
    }
};

template <typename T, size_t N> __host__ __device__ constexpr bool operator==(const array<T, N>& a, const array<T, N>& b) {
    for (size_t i = 0; i < N; ++i)
        if (!(a[i] == b[i])) return false;
    return true;
}
template <typename T, size_t N> __host__ __device__ constexpr bool operator<(const array<T, N>& a, const array<T, N>& b) {
    for (size_t i = 0; i < N; ++i) {
        if (a[i] < b[i]) return true;
        if (b[i] < a[i]) return false;
    }
    return false;
}
template <typename T, size_t N> __host__ __device__ constexpr bool operator!=(const array<T, N>& a, const array<T, N>& b) { return !(a == b); }
template <typename T, size_t N> __host__ __device__ constexpr bool operator>(const array<T, N>& a, const array<T, N>& b) { return b < a; }
template <typename T, size_t N> __host__ __device__ constexpr bool operator<=(const array<T, N>& a, const array<T, N>& b) { return !(b < a); }
template <typename T, size_t N> __host__ __device__ constexpr bool operator>=(const array<T, N>& a, const array<T, N>& b) { return !(a < b); }

template <typename T> struct numeric_limits { static constexpr bool is_specialized = false; };
template <> struct numeric_limits<bool> {
    static constexpr bool is_specialized = true, is_signed = false, is_integer = true;
    static constexpr int digits = 1;
    __host__ __device__ static constexpr bool min() { return false; }
    __host__ __device__ static constexpr bool max() { return true; }
    __host__ __device__ static constexpr bool lowest() { return false; }
};
#define __WB_INTEGER(T, D, S, LOW, HIGH)                                        \
    template <> struct numeric_limits<T> {                                      \
        static constexpr bool is_specialized = true, is_signed = S, is_integer = true, has_infinity = false; \
        static constexpr int digits = D;                                        \
        __host__ __device__ static constexpr T min() { return LOW; }            \
        __host__ __device__ static constexpr T max() { return HIGH; }           \
        __host__ __device__ static constexpr T lowest() { return LOW; }         \
    };
__WB_INTEGER(char, 7, true, -128, 127)
__WB_INTEGER(signed char, 7, true, -128, 127)
__WB_INTEGER(unsigned char, 8, false, 0, 255)
__WB_INTEGER(short, 15, true, -32768, 32767)
__WB_INTEGER(unsigned short, 16, false, 0, 65535)
__WB_INTEGER(int, 31, true, -2147483647 - 1, 2147483647)
__WB_INTEGER(unsigned int, 32, false, 0, 4294967295u)
__WB_INTEGER(long, 63, true, -9223372036854775807l - 1, 9223372036854775807l)
__WB_INTEGER(unsigned long, 64, false, 0, 18446744073709551615ul)
__WB_INTEGER(long long, 63, true, -9223372036854775807ll - 1, 9223372036854775807ll)
__WB_INTEGER(unsigned long long, 64, false, 0, 18446744073709551615ull)
template <> struct numeric_limits<float> {
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true;
    static constexpr int digits = 24, digits10 = 6, max_exponent = 128, min_exponent = -125;
    __host__ __device__ static constexpr float min() { return 1.17549435e-38f; }
    __host__ __device__ static constexpr float max() { return 3.40282347e+38f; }
    __host__ __device__ static constexpr float lowest() { return -3.40282347e+38f; }
    __host__ __device__ static constexpr float epsilon() { return 1.1920929e-7f; }
    __host__ __device__ static constexpr float infinity() { return HUGE_VALF; }
    __host__ __device__ static constexpr float quiet_NaN() { return NAN; }
    __host__ __device__ static constexpr float signaling_NaN() { return __int_as_float(0x7fa00000); }
    __host__ __device__ static constexpr float denorm_min() { return 1.40129846e-45f; }
};
template <> struct numeric_limits<double> {
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true;
    static constexpr int digits = 53, digits10 = 15, max_exponent = 1024, min_exponent = -1021;
    __host__ __device__ static constexpr double min() { return 2.2250738585072014e-308; }
    __host__ __device__ static constexpr double max() { return 1.7976931348623157e+308; }
    __host__ __device__ static constexpr double lowest() { return -1.7976931348623157e+308; }
    __host__ __device__ static constexpr double epsilon() { return 2.2204460492503131e-16; }
    __host__ __device__ static constexpr double infinity() { return HUGE_VAL; }
    __host__ __device__ static constexpr double quiet_NaN() { return NAN; }
    __host__ __device__ static constexpr double signaling_NaN() { return __longlong_as_double(0x7ff4000000000000); }
    __host__ __device__ static constexpr double denorm_min() { return 4.9406564584124654e-324; }
};

#define __WB_FUNCTOR(name, result, operation)                                                                                 \
    template <typename T = void> struct name {                                                                                \
        __host__ __device__ constexpr result operator()(const T& a, const T& b) const { return a operation b; }               \
    };                                                                                                                        \
    template <> struct name<void> {                                                                                           \
        template <typename A, typename B>                                                                                     \
        __host__ __device__ constexpr auto operator()(const A& a, const B& b) const { return a operation b; }                 \
    };
__WB_FUNCTOR(plus, T, +)
__WB_FUNCTOR(minus, T, -)
__WB_FUNCTOR(multiplies, T, *)
__WB_FUNCTOR(divides, T, /)
__WB_FUNCTOR(modulus, T, %)
__WB_FUNCTOR(bit_and, T, &)
__WB_FUNCTOR(bit_or, T, |)
__WB_FUNCTOR(bit_xor, T, ^)
__WB_FUNCTOR(logical_and, bool, &&)
__WB_FUNCTOR(logical_or, bool, ||)
__WB_FUNCTOR(equal_to, bool, ==)
__WB_FUNCTOR(not_equal_to, bool, !=)
__WB_FUNCTOR(less, bool, <)
__WB_FUNCTOR(greater, bool, >)
__WB_FUNCTOR(less_equal, bool, <=)
__WB_FUNCTOR(greater_equal, bool, >=)
#undef __WB_FUNCTOR

template <typename T, T... I> struct integer_sequence {
    using value_type = T;
    static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <typename T, size_t N, T... I> struct __make_sequence : __make_sequence<T, N - 1, T(N - 1), I...> {};
template <typename T, T... I> struct __make_sequence<T, 0, I...> { using type = integer_sequence<T, I...>; };
template <typename T, T N> using make_integer_sequence = typename __make_sequence<T, size_t(N)>::type;
template <size_t N> using make_index_sequence = typename __make_sequence<size_t, N>::type;
template <typename... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

}

// The sides where an algorithm runs.
struct __wb_host_side { static constexpr bool device = false, scratch = true; };
struct __wb_device_side { static constexpr bool device = true, scratch = true; };
struct __wb_this_side { static constexpr bool device = false, scratch = false; };
template <typename S> struct __wb_policy {
    using __wb_side = S;
    __thrust_HD constexpr __wb_policy on(cudaStream_t) const { return *this; }
    template <typename A> __thrust_HD constexpr __wb_policy operator()(const A&) const { return *this; }
};
struct __wb_seq_policy {};
inline constexpr __wb_policy<__wb_device_side> device{};
inline constexpr __wb_policy<__wb_host_side> host{};
inline constexpr __wb_seq_policy seq{};
namespace cuda {
inline constexpr __wb_policy<__wb_device_side> par{};
inline constexpr __wb_policy<__wb_device_side> par_nosync{};
}
namespace system {
namespace cuda {
using thrust::cuda::par;
using thrust::cuda::par_nosync;
}
}
namespace cpp { inline constexpr __wb_policy<__wb_host_side> par{}; }
namespace omp { inline constexpr __wb_policy<__wb_host_side> par{}; }
namespace tbb { inline constexpr __wb_policy<__wb_host_side> par{}; }
template <typename P, typename = void> struct __wb_is_policy { static constexpr bool value = false; };
template <typename P> struct __wb_is_policy<P, std::void_t<typename P::__wb_side>> { static constexpr bool value = true; };
template <typename... I>
using __wb_side_of = std::conditional_t<__wb_places<I...>::place == __wb_with_host, __wb_host_side, __wb_device_side>;

template <typename F> __global__ void __wb_each(size_t n, F f) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <typename F, typename R> __global__ void __wb_once(F f, R* result) { *result = f(); }
template <typename F> inline void __wb_launch_each(size_t n, F f) {
    if (n > 0) __wb_each<<<(unsigned)((n + 255) / 256), 256>>>(n, f);
}
template <typename R, typename F> inline R __wb_launch_once(F f) {
    R* place;
    cudaMallocManaged(&place, sizeof(R));
    __wb_once<<<1, 1>>>(f, place);
    R result = *place;
    cudaFree(place);
    return result;
}
template <typename T, typename S> inline T* __wb_scratch(S, size_t n) {
    if constexpr (S::device) {
        return __wb_shared_room<T>(n);
    } else {
        return new T[n];
    }
}
template <typename S, typename T> inline void __wb_unscratch(S, T* memory) {
    if constexpr (S::device) cudaFree(memory);
    else delete[] memory;
}
template <typename T> struct __wb_equals {
    T value;
    template <typename U> __thrust_HD constexpr bool operator()(const U& x) const { return x == value; }
};
template <typename T> __thrust_HD constexpr __wb_equals<T> __wb_is(const T& value) { return __wb_equals<T>{value}; }
// The body for each `i` below N, in no order; and for one thread, which gives VALUE its value.
#define __thrust_EACH(N, ...)                                                                                           \
    if constexpr (s.device) thrust::__wb_launch_each(N, [=] __device__(size_t i) mutable __VA_ARGS__);                  \
    else                                                                                                                \
        for (size_t i = 0; i < (size_t)(N); ++i) __VA_ARGS__
#define __thrust_ONCE(VALUE, ...)                                                                                       \
    if constexpr (s.device) VALUE = thrust::__wb_launch_once<decltype(VALUE)>([=] __device__() mutable __VA_ARGS__);    \
    else VALUE = [=]() mutable __VA_ARGS__();
// The body of an algorithm, for both sides; `s` is where it runs.
#define __thrust_BODY(NAME, PARAMETERS, ...)                                                                            \
    namespace __wb_on_host { inline auto __wb_##NAME PARAMETERS __VA_ARGS__ }                                           \
    namespace __wb_here { __thrust_HD inline auto __wb_##NAME PARAMETERS __VA_ARGS__ }
#define __thrust_CALLS(NAME)                                                                                            \
    template <typename P, typename... A> inline auto NAME(const P& policy, A... a) {                                    \
        if constexpr (__wb_is_policy<P>::value) return __wb_on_host::__wb_##NAME(typename P::__wb_side(), a...);        \
        else return __wb_on_host::__wb_##NAME(__wb_side_of<P, A...>(), policy, a...);                                   \
    }                                                                                                                   \
    template <typename... A> __thrust_HD inline auto NAME(const __wb_seq_policy&, A... a) {                             \
        return __wb_here::__wb_##NAME(__wb_this_side(), a...);                                                          \
    }

__thrust_BODY(for_each_n, (auto s, auto first, auto count, auto f), {
    auto x = __wb_raw(first);
    __thrust_EACH(count, { f(x[i]); })
    return first + count;
})
__thrust_BODY(for_each, (auto s, auto first, auto last, auto f), { return __wb_for_each_n(s, first, last - first, f); })
__thrust_CALLS(for_each_n)
__thrust_CALLS(for_each)

// Elementwise algorithms.
__thrust_BODY(transform, (auto s, auto first, auto last, auto out, auto f), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(out);
    __thrust_EACH(last - first, { y[i] = f(x[i]); })
    return out + (last - first);
})
__thrust_BODY(transform, (auto s, auto first, auto last, auto second, auto out, auto f), {
    auto x = __wb_raw(first);
    auto z = __wb_raw(second);
    auto y = __wb_raw(out);
    __thrust_EACH(last - first, { y[i] = f(x[i], z[i]); })
    return out + (last - first);
})
__thrust_CALLS(transform)
__thrust_BODY(transform_if, (auto s, auto first, auto last, auto stencil, auto out, auto f, auto keep), {
    auto x = __wb_raw(first);
    auto t = __wb_raw(stencil);
    auto y = __wb_raw(out);
    __thrust_EACH(last - first, {
        if (keep(t[i])) y[i] = f(x[i]);
    })
    return out + (last - first);
})
__thrust_BODY(transform_if, (auto s, auto first, auto last, auto out, auto f, auto keep), {
    return __wb_transform_if(s, first, last, first, out, f, keep);
})
__thrust_BODY(transform_if, (auto s, auto first, auto last, auto second, auto stencil, auto out, auto f, auto keep), {
    auto x = __wb_raw(first);
    auto z = __wb_raw(second);
    auto t = __wb_raw(stencil);
    auto y = __wb_raw(out);
    __thrust_EACH(last - first, {
        if (keep(t[i])) y[i] = f(x[i], z[i]);
    })
    return out + (last - first);
})
__thrust_CALLS(transform_if)
__thrust_BODY(fill_n, (auto s, auto first, auto count, auto value), {
    auto y = __wb_raw(first);
    __thrust_EACH(count, { y[i] = value; })
    return first + count;
})
__thrust_BODY(fill, (auto s, auto first, auto last, auto value), { __wb_fill_n(s, first, last - first, value); })
__thrust_BODY(uninitialized_fill, (auto s, auto first, auto last, auto value), { __wb_fill_n(s, first, last - first, value); })
__thrust_BODY(uninitialized_fill_n, (auto s, auto first, auto count, auto value), { return __wb_fill_n(s, first, count, value); })
__thrust_CALLS(fill_n)
__thrust_CALLS(fill)
__thrust_CALLS(uninitialized_fill)
__thrust_CALLS(uninitialized_fill_n)
__thrust_BODY(sequence, (auto s, auto first, auto last, auto start, auto step), {
    auto y = __wb_raw(first);
    using T = __wb_value_of<decltype(first)>;
    __thrust_EACH(last - first, { y[i] = (T)(start + (T)i * step); })
})
__thrust_BODY(sequence, (auto s, auto first, auto last, auto start), {
    __wb_sequence(s, first, last, start, __wb_value_of<decltype(first)>(1));
})
__thrust_BODY(sequence, (auto s, auto first, auto last), { __wb_sequence(s, first, last, __wb_value_of<decltype(first)>(0)); })
__thrust_CALLS(sequence)
__thrust_BODY(tabulate, (auto s, auto first, auto last, auto f), {
    auto y = __wb_raw(first);
    __thrust_EACH(last - first, { y[i] = f((ptrdiff_t)i); })
})
__thrust_CALLS(tabulate)
__thrust_BODY(generate_n, (auto s, auto first, auto count, auto f), {
    auto y = __wb_raw(first);
    __thrust_EACH(count, { y[i] = f(); })
    return first + count;
})
__thrust_BODY(generate, (auto s, auto first, auto last, auto f), { __wb_generate_n(s, first, last - first, f); })
__thrust_CALLS(generate_n)
__thrust_CALLS(generate)
__thrust_BODY(replace_if, (auto s, auto first, auto last, auto stencil, auto f, auto value), {
    auto y = __wb_raw(first);
    auto t = __wb_raw(stencil);
    __thrust_EACH(last - first, {
        if (f(t[i])) y[i] = value;
    })
})
__thrust_BODY(replace_if, (auto s, auto first, auto last, auto f, auto value), { __wb_replace_if(s, first, last, first, f, value); })
__thrust_BODY(replace, (auto s, auto first, auto last, auto old, auto value), {
    auto y = __wb_raw(first);
    __thrust_EACH(last - first, {
        if (y[i] == old) y[i] = value;
    })
})
__thrust_BODY(replace_copy_if, (auto s, auto first, auto last, auto out, auto f, auto value), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(out);
    using T = __wb_value_of<decltype(first)>;
    __thrust_EACH(last - first, {
        T old = x[i];
        if (f(old)) y[i] = value;
        else y[i] = old;
    })
    return out + (last - first);
})
__thrust_BODY(replace_copy, (auto s, auto first, auto last, auto out, auto old, auto value), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(out);
    using T = __wb_value_of<decltype(first)>;
    __thrust_EACH(last - first, {
        T held = x[i];
        if (held == old) y[i] = value;
        else y[i] = held;
    })
    return out + (last - first);
})
__thrust_CALLS(replace_if)
__thrust_CALLS(replace)
__thrust_CALLS(replace_copy_if)
__thrust_CALLS(replace_copy)
__thrust_BODY(gather, (auto s, auto first, auto last, auto input, auto out), {
    auto at = __wb_raw(first);
    auto x = __wb_raw(input);
    auto y = __wb_raw(out);
    __thrust_EACH(last - first, { y[i] = x[at[i]]; })
    return out + (last - first);
})
__thrust_BODY(gather_if, (auto s, auto first, auto last, auto stencil, auto input, auto out, auto keep), {
    auto at = __wb_raw(first);
    auto t = __wb_raw(stencil);
    auto x = __wb_raw(input);
    auto y = __wb_raw(out);
    __thrust_EACH(last - first, {
        if (keep(t[i])) y[i] = x[at[i]];
    })
    return out + (last - first);
})
__thrust_BODY(gather_if, (auto s, auto first, auto last, auto stencil, auto input, auto out), {
    return __wb_gather_if(s, first, last, stencil, input, out, identity<>());
})
__thrust_BODY(scatter, (auto s, auto first, auto last, auto map, auto out), {
    auto x = __wb_raw(first);
    auto at = __wb_raw(map);
    auto y = __wb_raw(out);
    __thrust_EACH(last - first, { y[at[i]] = x[i]; })
})
__thrust_BODY(scatter_if, (auto s, auto first, auto last, auto map, auto stencil, auto out, auto keep), {
    auto x = __wb_raw(first);
    auto at = __wb_raw(map);
    auto t = __wb_raw(stencil);
    auto y = __wb_raw(out);
    __thrust_EACH(last - first, {
        if (keep(t[i])) y[at[i]] = x[i];
    })
})
__thrust_BODY(scatter_if, (auto s, auto first, auto last, auto map, auto stencil, auto out), {
    __wb_scatter_if(s, first, last, map, stencil, out, identity<>());
})
__thrust_CALLS(gather)
__thrust_CALLS(gather_if)
__thrust_CALLS(scatter)
__thrust_CALLS(scatter_if)
__thrust_BODY(reverse, (auto s, auto first, auto last), {
    auto x = __wb_raw(first);
    ptrdiff_t n = last - first;
    using T = __wb_value_of<decltype(first)>;
    __thrust_EACH(n / 2, {
        T front = x[i];
        T back = x[n - 1 - i];
        x[i] = back;
        x[n - 1 - i] = front;
    })
})
__thrust_BODY(reverse_copy, (auto s, auto first, auto last, auto out), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first;
    __thrust_EACH(n, { y[i] = x[n - 1 - i]; })
    return out + n;
})
__thrust_BODY(swap_ranges, (auto s, auto first, auto last, auto second), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(second);
    using T = __wb_value_of<decltype(first)>;
    __thrust_EACH(last - first, {
        T a = x[i];
        T b = y[i];
        x[i] = b;
        y[i] = a;
    })
    return second + (last - first);
})
__thrust_CALLS(reverse)
__thrust_CALLS(reverse_copy)
__thrust_CALLS(swap_ranges)

// Copies between the two sides run on the host, and so do copies to an output that is only written to, as a stream or the end of a container.
__thrust_BODY(copy_n, (auto s, auto first, auto count, auto out), {
    auto x = __wb_raw(first);
    if constexpr (__wb_traits<decltype(out)>::wraps || std::is_pointer_v<decltype(out)>) {
        auto y = __wb_raw(out);
        __thrust_EACH(count, { y[i] = x[i]; })
        return out + count;
    } else {
        for (size_t i = 0; i < (size_t)count; ++i, ++out) *out = x[i];
        return out;
    }
})
__thrust_BODY(copy, (auto s, auto first, auto last, auto out), { return __wb_copy_n(s, first, last - first, out); })
__thrust_CALLS(copy_n)
template <typename... I> using __wb_copying_side = std::conditional_t<__wb_places<I...>::host, __wb_host_side, __wb_device_side>;
template <typename I, typename O> inline O copy(I first, I last, O out) {
    return __wb_on_host::__wb_copy(__wb_copying_side<I, O>(), first, last, out);
}
template <typename P, typename I, typename O> inline O copy(const P&, I first, I last, O out) {
    return __wb_on_host::__wb_copy(typename P::__wb_side(), first, last, out);
}
template <typename I, typename O> __thrust_HD inline O copy(const __wb_seq_policy&, I first, I last, O out) {
    return __wb_here::__wb_copy(__wb_this_side(), first, last, out);
}
template <typename I, typename O> inline O uninitialized_copy(I first, I last, O out) { return thrust::copy(first, last, out); }
template <typename P, typename I, typename O> inline O uninitialized_copy(const P& policy, I first, I last, O out) {
    return thrust::copy(policy, first, last, out);
}

// Sorting. Numbers in their own order: radix sort by digits of eight bits, least significant first, of bits that
// have the order of the numbers; the two zeros are one. All else: runs of sixteen, then pairs of runs; each
// thread finds where the two divide and merges 512 elements. A side without scratch memory uses insertion sort.
template <int Size> struct __wb_bits { using type = unsigned; };
template <> struct __wb_bits<1> { using type = unsigned char; };
template <> struct __wb_bits<2> { using type = unsigned short; };
template <> struct __wb_bits<8> { using type = unsigned long long; };
template <bool Down, typename K> __thrust_HD inline unsigned __wb_digit(const K& key, int bit) {
    using U = typename __wb_bits<sizeof(K)>::type;
    constexpr U top = U(U(1) << (8 * sizeof(K) - 1));
    U bits;
    __builtin_memcpy(&bits, &key, sizeof(K));
    if constexpr (!std::is_integral_v<K>) bits = bits & top ? (bits == top ? top : U(~bits)) : U(bits | top);
    else if constexpr (std::is_signed_v<K>) bits ^= top;
    return (unsigned)((Down ? U(~bits) : bits) >> bit) & 255u;
}
// The order of a comparison: `known` if it is that of the numbers, `down` if it is descending.
template <typename K, typename L> struct __wb_order { static constexpr bool known = false, down = false; };
#define __thrust_ORDER(NAME, DOWN)                                                                                      \
    template <typename K> struct __wb_order<K, NAME<K>> { static constexpr bool known = std::is_arithmetic_v<K>, down = DOWN; }; \
    template <typename K> struct __wb_order<K, NAME<void>> { static constexpr bool known = std::is_arithmetic_v<K>, down = DOWN; };
__thrust_ORDER(less, false)
__thrust_ORDER(greater, true)
#undef __thrust_ORDER
__thrust_BODY(merge_sort, (auto s, auto first, auto last, auto values, auto less), {
    constexpr bool pairs = !std::is_same_v<decltype(values), __wb_no_values>;
    using K = __wb_value_of<decltype(first)>;
    using V = __wb_value_of<decltype(values)>;
    auto k = __wb_raw(first);
    auto v = __wb_raw(values);
    size_t n = last - first;
    if constexpr (!s.scratch) {
        for (size_t i = 1; i < n; ++i) {
            K key = k[i];
            size_t at = i;
            while (at > 0 && less(key, k[at - 1])) --at;
            for (size_t j = i; j > at; --j) {
                K moved = k[j - 1];
                k[j] = moved;
            }
            k[at] = key;
            if constexpr (pairs) {
                V value = v[i];
                for (size_t j = i; j > at; --j) {
                    V moved = v[j - 1];
                    v[j] = moved;
                }
                v[at] = value;
            }
        }
    } else {
        K* from = __wb_scratch<K>(s, n);
        K* to = __wb_scratch<K>(s, n);
        V* values_from = __wb_scratch<V>(s, pairs ? n : 0);
        V* values_to = __wb_scratch<V>(s, pairs ? n : 0);
        using order = __wb_order<K, decltype(less)>;
        if constexpr (order::known) {
            bool stays = true;
            __thrust_EACH(n, {
                from[i] = k[i];
                if constexpr (pairs) values_from[i] = v[i];
            })
            __thrust_ONCE(stays, {
                size_t count[256];
                K* a = from;
                K* b = to;
                V* c = values_from;
                V* d = values_to;
                for (int bit = 0; bit < 8 * (int)sizeof(K); bit += 8) {
                    for (int j = 0; j < 256; ++j) count[j] = 0;
                    for (size_t i = 0; i < n; ++i) ++count[__wb_digit<order::down>(a[i], bit)];
                    if (n == 0 || count[__wb_digit<order::down>(a[0], bit)] == n) continue;
                    size_t sum = 0;
                    for (int j = 0; j < 256; ++j) {
                        sum += count[j];
                        count[j] = sum - count[j];
                    }
                    for (size_t i = 0; i < n; ++i) {
                        size_t at = count[__wb_digit<order::down>(a[i], bit)]++;
                        b[at] = a[i];
                        if constexpr (pairs) d[at] = c[i];
                    }
                    std::swap(a, b);
                    std::swap(c, d);
                }
                return a == from;
            })
            if (!stays) {
                std::swap(from, to);
                std::swap(values_from, values_to);
            }
        } else {
            __thrust_EACH((n + 15) / 16, {
                size_t start = i * 16;
                size_t stop = start + 16 < n ? start + 16 : n;
                for (size_t j = start; j < stop; ++j) {
                    K key = k[j];
                    size_t at = j;
                    for (; at > start && less(key, from[at - 1]); --at) {
                        from[at] = from[at - 1];
                        if constexpr (pairs) values_from[at] = values_from[at - 1];
                    }
                    from[at] = key;
                    if constexpr (pairs) values_from[at] = v[j];
                }
            })
            for (size_t width = 16; width < n; width *= 2) {
                size_t each = 2 * width < 512 ? 2 * width : 512;
                __thrust_EACH((n + each - 1) / each, {
                    size_t at = i * each;
                    size_t stop = at + each < n ? at + each : n;
                    size_t start = at / (2 * width) * (2 * width);
                    size_t middle = start + width < n ? start + width : n;
                    size_t end = middle + width < n ? middle + width : n;
                    size_t before = at - start;
                    size_t low = before > end - middle ? before - (end - middle) : 0;
                    size_t high = before < middle - start ? before : middle - start;
                    while (low < high) {
                        size_t half = (low + high) / 2;
                        if (less(from[middle + before - 1 - half], from[start + half])) high = half;
                        else low = half + 1;
                    }
                    size_t left = start + low;
                    size_t right = middle + before - low;
                    for (; at < stop; ++at) {
                        bool other = left == middle || (right < end && less(from[right], from[left]));
                        size_t next = other ? right++ : left++;
                        to[at] = from[next];
                        if constexpr (pairs) values_to[at] = values_from[next];
                    }
                })
                std::swap(from, to);
                std::swap(values_from, values_to);
            }
        }
        __thrust_EACH(n, {
            k[i] = from[i];
            if constexpr (pairs) v[i] = values_from[i];
        })
        __wb_unscratch(s, from);
        __wb_unscratch(s, to);
        __wb_unscratch(s, values_from);
        __wb_unscratch(s, values_to);
    }
})
#define __thrust_SORT(NAME)                                                                                             \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto less), { __wb_merge_sort(s, first, last, __wb_no_values(), less); }) \
    __thrust_BODY(NAME, (auto s, auto first, auto last), { __wb_merge_sort(s, first, last, __wb_no_values(), less<>()); }) \
    __thrust_CALLS(NAME)
#define __thrust_SORT_BY_KEY(NAME)                                                                                      \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto values, auto less), { __wb_merge_sort(s, first, last, values, less); }) \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto values), { __wb_merge_sort(s, first, last, values, less<>()); }) \
    __thrust_CALLS(NAME)
__thrust_SORT(sort)
__thrust_SORT(stable_sort)
__thrust_SORT_BY_KEY(sort_by_key)
__thrust_SORT_BY_KEY(stable_sort_by_key)
#undef __thrust_SORT
#undef __thrust_SORT_BY_KEY

// Searches in sorted elements: for one value, and for each of several.
#define __thrust_BISECT(BELOW)                                                                                          \
    ptrdiff_t low = 0;                                                                                                  \
    ptrdiff_t high = n;                                                                                                 \
    while (low < high) {                                                                                                \
        ptrdiff_t half = (low + high) / 2;                                                                              \
        if (BELOW) low = half + 1;                                                                                      \
        else high = half;                                                                                               \
    }
#define __thrust_BOUND(NAME, BELOW, RESULT, FOUND)                                                                      \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto value, auto less), {                                       \
        auto x = __wb_raw(first);                                                                                       \
        ptrdiff_t n = last - first;                                                                                     \
        ptrdiff_t place = 0;                                                                                            \
        __thrust_ONCE(place, {                                                                                          \
            __thrust_BISECT(BELOW)                                                                                      \
            return (ptrdiff_t)(FOUND);                                                                                  \
        })                                                                                                              \
        return RESULT;                                                                                                  \
    })                                                                                                                  \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto value), { return __wb_##NAME(s, first, last, value, less<>()); }) \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto values, auto values_last, auto out, auto less), {          \
        auto x = __wb_raw(first);                                                                                       \
        auto v = __wb_raw(values);                                                                                      \
        auto y = __wb_raw(out);                                                                                         \
        ptrdiff_t n = last - first;                                                                                     \
        using T = __wb_value_of<decltype(values)>;                                                                      \
        __thrust_EACH(values_last - values, {                                                                           \
            T value = v[i];                                                                                             \
            __thrust_BISECT(BELOW)                                                                                      \
            y[i] = FOUND;                                                                                               \
        })                                                                                                              \
        return out + (values_last - values);                                                                            \
    })                                                                                                                  \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto values, auto values_last, auto out), {                     \
        return __wb_##NAME(s, first, last, values, values_last, out, less<>());                                         \
    })                                                                                                                  \
    __thrust_CALLS(NAME)
__thrust_BOUND(lower_bound, less(x[half], value), first + place, low)
__thrust_BOUND(upper_bound, !less(value, x[half]), first + place, low)
__thrust_BOUND(binary_search, less(x[half], value), place != 0, low < n && !less(value, x[low]))
#undef __thrust_BOUND
#undef __thrust_BISECT
__thrust_BODY(equal_range, (auto s, auto first, auto last, auto value, auto less), {
    using I = decltype(first);
    return pair<I, I>(__wb_lower_bound(s, first, last, value, less), __wb_upper_bound(s, first, last, value, less));
})
__thrust_BODY(equal_range, (auto s, auto first, auto last, auto value), { return __wb_equal_range(s, first, last, value, less<>()); })
__thrust_CALLS(equal_range)

// Two sorted ranges: the elements taken where the left one is smaller, the right one, or neither. The rest of a range is taken in the same way.
#define __thrust_TWO(NAME, LEFT, RIGHT, BOTH)                                                                           \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto second, auto second_last, auto out, auto less), {          \
        auto x = __wb_raw(first);                                                                                       \
        auto z = __wb_raw(second);                                                                                      \
        auto y = __wb_raw(out);                                                                                         \
        ptrdiff_t n = last - first;                                                                                     \
        ptrdiff_t m = second_last - second;                                                                             \
        ptrdiff_t count = 0;                                                                                            \
        __thrust_ONCE(count, {                                                                                          \
            ptrdiff_t i = 0;                                                                                            \
            ptrdiff_t j = 0;                                                                                            \
            ptrdiff_t at = 0;                                                                                           \
            while (i < n || j < m) {                                                                                    \
                if (j == m || (i < n && less(x[i], z[j]))) {                                                            \
                    LEFT;                                                                                               \
                    ++i;                                                                                                \
                } else if (i == n || less(z[j], x[i])) {                                                                \
                    RIGHT;                                                                                              \
                    ++j;                                                                                                \
                } else {                                                                                                \
                    BOTH;                                                                                               \
                }                                                                                                       \
            }                                                                                                           \
            return at;                                                                                                  \
        })                                                                                                              \
        return out + count;                                                                                             \
    })                                                                                                                  \
    __thrust_BODY(NAME, (auto s, auto first, auto last, auto second, auto second_last, auto out), {                     \
        return __wb_##NAME(s, first, last, second, second_last, out, less<>());                                         \
    })                                                                                                                  \
    __thrust_CALLS(NAME)
__thrust_TWO(merge, y[at++] = x[i], y[at++] = z[j], y[at++] = x[i]; ++i)
__thrust_TWO(set_union, y[at++] = x[i], y[at++] = z[j], y[at++] = x[i]; ++i; ++j)
__thrust_TWO(set_intersection, , , y[at++] = x[i]; ++i; ++j)
__thrust_TWO(set_difference, y[at++] = x[i], , ++i; ++j)
__thrust_TWO(set_symmetric_difference, y[at++] = x[i], y[at++] = z[j], ++i; ++j)
#undef __thrust_TWO
__thrust_BODY(merge_by_key, (auto s, auto first, auto last, auto second, auto second_last, auto values, auto second_values,
               auto keys_out, auto out, auto less), {
    auto x = __wb_raw(first);
    auto z = __wb_raw(second);
    auto v = __wb_raw(values);
    auto w = __wb_raw(second_values);
    auto l = __wb_raw(keys_out);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, m = second_last - second, count = 0;
    __thrust_ONCE(count, {
        ptrdiff_t i = 0;
        ptrdiff_t j = 0;
        for (; i + j < n + m;)
            if (i == n || (j < m && less(z[j], x[i]))) {
                l[i + j] = z[j];
                y[i + j] = w[j];
                ++j;
            } else {
                l[i + j] = x[i];
                y[i + j] = v[i];
                ++i;
            }
        return n + m;
    })
    return pair<decltype(keys_out), decltype(out)>(keys_out + count, out + count);
})
__thrust_BODY(merge_by_key, (auto s, auto first, auto last, auto second, auto second_last, auto values, auto second_values,
               auto keys_out, auto out), {
    return __wb_merge_by_key(s, first, last, second, second_last, values, second_values, keys_out, out, less<>());
})
__thrust_CALLS(merge_by_key)
#undef __thrust_EACH
#undef __thrust_ONCE
#undef __thrust_BODY
#undef __thrust_CALLS

}
// The output of host code shows the elements of the device's memory.
namespace __wb {
template <typename T> struct Value<thrust::device_reference<T>> {
    static void put(const thrust::device_reference<T>& x) { Value<std::remove_cv_t<T>>::put((T&)x); }
};
}
// The argument that torch's extensions give to `thrust::cuda::par`.
namespace at {
namespace cuda {
struct ThrustAllocator {};
}
}
#undef __thrust_HD

// Reductions: neighbours are added up in parts first, which keeps the order, and rounds less than one sum does.
struct __wb_same { template <typename T> __thrust_HD constexpr const T& operator()(const T& x) const { return x; } };
__thrust_BODY(transform_reduce, (auto s, auto first, auto last, auto f, auto init, auto op), {
    using T = decltype(init);
    auto x = __wb_raw(first);
    size_t n = last - first;
    T all = init;
    if constexpr (s.scratch) {
        if (n > 512) {
            size_t each = n < 262144 ? 256 : (n + 1023) / 1024;
            size_t count = (n + each - 1) / each;
            T* parts = __wb_scratch<T>(s, count);
            __thrust_EACH(count, {
                size_t at = i * each;
                size_t stop = at + each < n ? at + each : n;
                T part = f(x[at]);
                for (++at; at < stop; ++at) part = op(part, f(x[at]));
                parts[i] = part;
            })
            __thrust_ONCE(all, {
                T sum = init;
                for (size_t i = 0; i < count; ++i) sum = op(sum, parts[i]);
                return sum;
            })
            __wb_unscratch(s, parts);
            return all;
        }
    }
    __thrust_ONCE(all, {
        T sum = init;
        for (size_t i = 0; i < n; ++i) sum = op(sum, f(x[i]));
        return sum;
    })
    return all;
})
__thrust_BODY(reduce, (auto s, auto first, auto last, auto init, auto op), {
    return __wb_transform_reduce(s, first, last, __wb_same(), init, op);
})
__thrust_BODY(reduce, (auto s, auto first, auto last, auto init), { return __wb_reduce(s, first, last, init, plus<>()); })
__thrust_BODY(reduce, (auto s, auto first, auto last), { return __wb_reduce(s, first, last, __wb_value_of<decltype(first)>()); })
__thrust_CALLS(transform_reduce)
__thrust_CALLS(reduce)
__thrust_BODY(inner_product, (auto s, auto first, auto last, auto second, auto init, auto plus, auto times), {
    using T = decltype(init);
    auto x = __wb_raw(first);
    auto y = __wb_raw(second);
    size_t n = last - first;
    if constexpr (s.scratch) {
        using P = std::decay_t<decltype(times(x[0], y[0]))>;
        P* products = __wb_scratch<P>(s, n);
        __thrust_EACH(n, { products[i] = times(x[i], y[i]); })
        T all = __wb_reduce(s, products, products + n, init, plus);
        __wb_unscratch(s, products);
        return all;
    } else {
        T all = init;
        for (size_t i = 0; i < n; ++i) all = plus(all, times(x[i], y[i]));
        return all;
    }
})
__thrust_BODY(inner_product, (auto s, auto first, auto last, auto second, auto init), {
    return __wb_inner_product(s, first, last, second, init, plus<>(), multiplies<>());
})
__thrust_CALLS(inner_product)
__thrust_BODY(count_if, (auto s, auto first, auto last, auto f), {
    auto x = __wb_raw(first);
    ptrdiff_t n = last - first, result = 0;
    __thrust_ONCE(result, {
        ptrdiff_t found = 0;
        for (ptrdiff_t i = 0; i < n; ++i)
            if (f(x[i])) ++found;
        return found;
    })
    return result;
})
__thrust_BODY(count, (auto s, auto first, auto last, auto value), {
    auto x = __wb_raw(first);
    ptrdiff_t n = last - first, result = 0;
    __thrust_ONCE(result, {
        ptrdiff_t found = 0;
        for (ptrdiff_t i = 0; i < n; ++i)
            if (x[i] == value) ++found;
        return found;
    })
    return result;
})
__thrust_CALLS(count_if)
__thrust_CALLS(count)
// The place of the first element for which CONDITION holds; the end if there is none.
#define __thrust_SEARCH(CONDITION)                                                                                      \
    auto x = __wb_raw(first);                                                                                           \
    ptrdiff_t n = last - first, place = 0;                                                                              \
    __thrust_ONCE(place, {                                                                                              \
        ptrdiff_t i = 0;                                                                                                \
        while (i < n && !(CONDITION)) ++i;                                                                              \
        return i;                                                                                                       \
    })
__thrust_BODY(find_if, (auto s, auto first, auto last, auto f), {
    __thrust_SEARCH(f(x[i]))
    return first + place;
})
__thrust_BODY(find_if_not, (auto s, auto first, auto last, auto f), {
    __thrust_SEARCH(!f(x[i]))
    return first + place;
})
__thrust_BODY(find, (auto s, auto first, auto last, auto value), {
    __thrust_SEARCH(x[i] == value)
    return first + place;
})
__thrust_BODY(any_of, (auto s, auto first, auto last, auto f), { return __wb_find_if(s, first, last, f) != last; })
__thrust_BODY(none_of, (auto s, auto first, auto last, auto f), { return __wb_find_if(s, first, last, f) == last; })
__thrust_BODY(all_of, (auto s, auto first, auto last, auto f), { return __wb_find_if_not(s, first, last, f) == last; })
__thrust_BODY(mismatch, (auto s, auto first, auto last, auto second, auto same), {
    auto y = __wb_raw(second);
    __thrust_SEARCH(!same(x[i], y[i]))
    return pair<decltype(first), decltype(second)>(first + place, second + place);
})
__thrust_BODY(mismatch, (auto s, auto first, auto last, auto second), { return __wb_mismatch(s, first, last, second, equal_to<>()); })
__thrust_BODY(equal, (auto s, auto first, auto last, auto second, auto same), {
    return __wb_mismatch(s, first, last, second, same).first == last;
})
__thrust_BODY(equal, (auto s, auto first, auto last, auto second), { return __wb_equal(s, first, last, second, equal_to<>()); })
__thrust_BODY(is_sorted_until, (auto s, auto first, auto last, auto less), {
    __thrust_SEARCH(i > 0 && less(x[i], x[i - 1]))
    return first + place;
})
__thrust_BODY(is_sorted_until, (auto s, auto first, auto last), { return __wb_is_sorted_until(s, first, last, less<>()); })
__thrust_BODY(is_sorted, (auto s, auto first, auto last, auto less), { return __wb_is_sorted_until(s, first, last, less) == last; })
__thrust_BODY(is_sorted, (auto s, auto first, auto last), { return __wb_is_sorted(s, first, last, less<>()); })
__thrust_BODY(partition_point, (auto s, auto first, auto last, auto f), { return __wb_find_if_not(s, first, last, f); })
__thrust_BODY(is_partitioned, (auto s, auto first, auto last, auto f), {
    return __wb_none_of(s, __wb_find_if_not(s, first, last, f), last, f);
})
#undef __thrust_SEARCH
__thrust_CALLS(find_if)
__thrust_CALLS(find_if_not)
__thrust_CALLS(find)
__thrust_CALLS(any_of)
__thrust_CALLS(none_of)
__thrust_CALLS(all_of)
__thrust_CALLS(mismatch)
__thrust_CALLS(equal)
__thrust_CALLS(is_sorted_until)
__thrust_CALLS(is_sorted)
__thrust_CALLS(partition_point)
__thrust_CALLS(is_partitioned)
// The first of the smallest, the first of the largest.
#define __thrust_EXTREME(BETTER)                                                                                        \
    __thrust_ONCE(place, {                                                                                              \
        ptrdiff_t best = 0;                                                                                             \
        for (ptrdiff_t i = 1; i < n; ++i)                                                                               \
            if (BETTER) best = i;                                                                                       \
        return best;                                                                                                    \
    })
__thrust_BODY(min_element, (auto s, auto first, auto last, auto less), {
    auto x = __wb_raw(first);
    ptrdiff_t n = last - first, place = 0;
    __thrust_EXTREME(less(x[i], x[best]))
    return first + place;
})
__thrust_BODY(max_element, (auto s, auto first, auto last, auto less), {
    auto x = __wb_raw(first);
    ptrdiff_t n = last - first, place = 0;
    __thrust_EXTREME(less(x[best], x[i]))
    return first + place;
})
#undef __thrust_EXTREME
__thrust_BODY(minmax_element, (auto s, auto first, auto last, auto less), {
    return pair<decltype(first), decltype(first)>(__wb_min_element(s, first, last, less), __wb_max_element(s, first, last, less));
})
__thrust_BODY(min_element, (auto s, auto first, auto last), { return __wb_min_element(s, first, last, less<>()); })
__thrust_BODY(max_element, (auto s, auto first, auto last), { return __wb_max_element(s, first, last, less<>()); })
__thrust_BODY(minmax_element, (auto s, auto first, auto last), { return __wb_minmax_element(s, first, last, less<>()); })
__thrust_CALLS(min_element)
__thrust_CALLS(max_element)
__thrust_CALLS(minmax_element)

// Scans.
__thrust_BODY(transform_inclusive_scan, (auto s, auto first, auto last, auto out, auto f, auto op), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    using T = std::decay_t<decltype(f(x[0]))>;
    __thrust_ONCE(count, {
        if (n == 0) return n;
        T sum = f(x[0]);
        y[0] = sum;
        for (ptrdiff_t i = 1; i < n; ++i) {
            sum = op(sum, f(x[i]));
            y[i] = sum;
        }
        return n;
    })
    return out + count;
})
__thrust_BODY(transform_inclusive_scan, (auto s, auto first, auto last, auto out, auto f, auto init, auto op), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    using T = decltype(init);
    __thrust_ONCE(count, {
        T sum = init;
        for (ptrdiff_t i = 0; i < n; ++i) {
            sum = op(sum, f(x[i]));
            y[i] = sum;
        }
        return n;
    })
    return out + count;
})
__thrust_BODY(transform_exclusive_scan, (auto s, auto first, auto last, auto out, auto f, auto init, auto op), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    using T = decltype(init);
    __thrust_ONCE(count, {
        T sum = init;
        for (ptrdiff_t i = 0; i < n; ++i) {
            T with = op(sum, f(x[i]));
            y[i] = sum;
            sum = with;
        }
        return n;
    })
    return out + count;
})
__thrust_BODY(inclusive_scan, (auto s, auto first, auto last, auto out, auto op), {
    return __wb_transform_inclusive_scan(s, first, last, out, __wb_same(), op);
})
__thrust_BODY(inclusive_scan, (auto s, auto first, auto last, auto out, auto init, auto op), {
    return __wb_transform_inclusive_scan(s, first, last, out, __wb_same(), init, op);
})
__thrust_BODY(inclusive_scan, (auto s, auto first, auto last, auto out), { return __wb_inclusive_scan(s, first, last, out, plus<>()); })
__thrust_BODY(exclusive_scan, (auto s, auto first, auto last, auto out, auto init, auto op), {
    return __wb_transform_exclusive_scan(s, first, last, out, __wb_same(), init, op);
})
__thrust_BODY(exclusive_scan, (auto s, auto first, auto last, auto out, auto init), {
    return __wb_exclusive_scan(s, first, last, out, init, plus<>());
})
__thrust_BODY(exclusive_scan, (auto s, auto first, auto last, auto out), {
    return __wb_exclusive_scan(s, first, last, out, __wb_value_of<decltype(first)>());
})
__thrust_CALLS(transform_inclusive_scan)
__thrust_CALLS(transform_exclusive_scan)
__thrust_CALLS(inclusive_scan)
__thrust_CALLS(exclusive_scan)
__thrust_BODY(inclusive_scan_by_key, (auto s, auto first, auto last, auto values, auto out, auto same, auto op), {
    auto k = __wb_raw(first);
    auto x = __wb_raw(values);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    using T = __wb_value_of<decltype(values)>;
    __thrust_ONCE(count, {
        if (n == 0) return n;
        T sum = x[0];
        y[0] = sum;
        for (ptrdiff_t i = 1; i < n; ++i) {
            if (same(k[i - 1], k[i])) sum = op(sum, x[i]);
            else sum = x[i];
            y[i] = sum;
        }
        return n;
    })
    return out + count;
})
__thrust_BODY(inclusive_scan_by_key, (auto s, auto first, auto last, auto values, auto out, auto same), {
    return __wb_inclusive_scan_by_key(s, first, last, values, out, same, plus<>());
})
__thrust_BODY(inclusive_scan_by_key, (auto s, auto first, auto last, auto values, auto out), {
    return __wb_inclusive_scan_by_key(s, first, last, values, out, equal_to<>());
})
__thrust_BODY(exclusive_scan_by_key, (auto s, auto first, auto last, auto values, auto out, auto init, auto same, auto op), {
    auto k = __wb_raw(first);
    auto x = __wb_raw(values);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    using T = decltype(init);
    __thrust_ONCE(count, {
        T sum = init;
        for (ptrdiff_t i = 0; i < n; ++i) {
            if (i > 0 && !same(k[i - 1], k[i])) sum = init;
            T with = op(sum, x[i]);
            y[i] = sum;
            sum = with;
        }
        return n;
    })
    return out + count;
})
__thrust_BODY(exclusive_scan_by_key, (auto s, auto first, auto last, auto values, auto out, auto init, auto same), {
    return __wb_exclusive_scan_by_key(s, first, last, values, out, init, same, plus<>());
})
__thrust_BODY(exclusive_scan_by_key, (auto s, auto first, auto last, auto values, auto out, auto init), {
    return __wb_exclusive_scan_by_key(s, first, last, values, out, init, equal_to<>());
})
__thrust_BODY(exclusive_scan_by_key, (auto s, auto first, auto last, auto values, auto out), {
    return __wb_exclusive_scan_by_key(s, first, last, values, out, __wb_value_of<decltype(values)>());
})
__thrust_CALLS(inclusive_scan_by_key)
__thrust_CALLS(exclusive_scan_by_key)
__thrust_BODY(adjacent_difference, (auto s, auto first, auto last, auto out, auto op), {
    auto x = __wb_raw(first);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    using T = __wb_value_of<decltype(first)>;
    __thrust_ONCE(count, {
        if (n == 0) return n;
        T before = x[0];
        y[0] = before;
        for (ptrdiff_t i = 1; i < n; ++i) {
            T value = x[i];
            y[i] = op(value, before);
            before = value;
        }
        return n;
    })
    return out + count;
})
__thrust_BODY(adjacent_difference, (auto s, auto first, auto last, auto out), {
    return __wb_adjacent_difference(s, first, last, out, minus<>());
})
__thrust_CALLS(adjacent_difference)
__thrust_BODY(reduce_by_key, (auto s, auto first, auto last, auto values, auto keys_out, auto out, auto same, auto op), {
    auto k = __wb_raw(first);
    auto x = __wb_raw(values);
    auto l = __wb_raw(keys_out);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    using K = __wb_value_of<decltype(first)>;
    using T = __wb_value_of<decltype(values)>;
    __thrust_ONCE(count, {
        ptrdiff_t found = 0;
        for (ptrdiff_t i = 0; i < n; ++found) {
            K key = k[i];
            T sum = x[i];
            for (++i; i < n && same(k[i - 1], k[i]); ++i) sum = op(sum, x[i]);
            l[found] = key;
            y[found] = sum;
        }
        return found;
    })
    return pair<decltype(keys_out), decltype(out)>(keys_out + count, out + count);
})
__thrust_BODY(reduce_by_key, (auto s, auto first, auto last, auto values, auto keys_out, auto out, auto same), {
    return __wb_reduce_by_key(s, first, last, values, keys_out, out, same, plus<>());
})
__thrust_BODY(reduce_by_key, (auto s, auto first, auto last, auto values, auto keys_out, auto out), {
    return __wb_reduce_by_key(s, first, last, values, keys_out, out, equal_to<>());
})
__thrust_CALLS(reduce_by_key)

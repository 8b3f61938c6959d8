// Algorithms that keep some elements, all in order.
__thrust_BODY(copy_if, (auto s, auto first, auto last, auto stencil, auto out, auto keep), {
    auto x = __wb_raw(first);
    auto t = __wb_raw(stencil);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    __thrust_ONCE(count, {
        ptrdiff_t kept = 0;
        for (ptrdiff_t i = 0; i < n; ++i)
            if (keep(t[i])) y[kept++] = x[i];
        return kept;
    })
    return out + count;
})
__thrust_BODY(copy_if, (auto s, auto first, auto last, auto out, auto keep), { return __wb_copy_if(s, first, last, first, out, keep); })
__thrust_CALLS(copy_if)
__thrust_BODY(remove_copy_if, (auto s, auto first, auto last, auto stencil, auto out, auto drop), {
    auto x = __wb_raw(first);
    auto t = __wb_raw(stencil);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    __thrust_ONCE(count, {
        ptrdiff_t kept = 0;
        for (ptrdiff_t i = 0; i < n; ++i)
            if (!drop(t[i])) y[kept++] = x[i];
        return kept;
    })
    return out + count;
})
__thrust_BODY(remove_copy_if, (auto s, auto first, auto last, auto out, auto drop), {
    return __wb_remove_copy_if(s, first, last, first, out, drop);
})
__thrust_BODY(remove_if, (auto s, auto first, auto last, auto stencil, auto drop), {
    auto x = __wb_raw(first);
    auto t = __wb_raw(stencil);
    ptrdiff_t n = last - first, count = 0;
    using T = __wb_value_of<decltype(first)>;
    __thrust_ONCE(count, {
        ptrdiff_t kept = 0;
        for (ptrdiff_t i = 0; i < n; ++i)
            if (!drop(t[i])) {
                T value = x[i];
                x[kept++] = value;
            }
        return kept;
    })
    return first + count;
})
__thrust_BODY(remove_if, (auto s, auto first, auto last, auto drop), { return __wb_remove_if(s, first, last, first, drop); })
__thrust_BODY(remove, (auto s, auto first, auto last, auto value), { return __wb_remove_if(s, first, last, __wb_is(value)); })
__thrust_BODY(remove_copy, (auto s, auto first, auto last, auto out, auto value), {
    return __wb_remove_copy_if(s, first, last, out, __wb_is(value));
})
__thrust_CALLS(remove_copy_if)
__thrust_CALLS(remove_if)
__thrust_CALLS(remove)
__thrust_CALLS(remove_copy)
__thrust_BODY(unique_by_key_copy, (auto s, auto first, auto last, auto values, auto keys_out, auto out, auto same), {
    auto k = __wb_raw(first);
    auto x = __wb_raw(values);
    auto l = __wb_raw(keys_out);
    auto y = __wb_raw(out);
    ptrdiff_t n = last - first, count = 0;
    using K = __wb_value_of<decltype(first)>;
    using T = __wb_value_of<decltype(values)>;
    __thrust_ONCE(count, {
        ptrdiff_t kept = 0;
        if (n == 0) return kept;
        K before = k[0];
        for (ptrdiff_t i = 0; i < n; ++i) {
            K key = k[i];
            if (i == 0 || !same(before, key)) {
                T value = x[i];
                l[kept] = key;
                y[kept++] = value;
            }
            before = key;
        }
        return kept;
    })
    return pair<decltype(keys_out), decltype(out)>(keys_out + count, out + count);
})
__thrust_BODY(unique_by_key_copy, (auto s, auto first, auto last, auto values, auto keys_out, auto out), {
    return __wb_unique_by_key_copy(s, first, last, values, keys_out, out, equal_to<>());
})
__thrust_BODY(unique_by_key, (auto s, auto first, auto last, auto values, auto same), {
    return __wb_unique_by_key_copy(s, first, last, values, first, values, same);
})
__thrust_BODY(unique_by_key, (auto s, auto first, auto last, auto values), {
    return __wb_unique_by_key(s, first, last, values, equal_to<>());
})
__thrust_BODY(unique_copy, (auto s, auto first, auto last, auto out, auto same), {
    return __wb_unique_by_key_copy(s, first, last, constant_iterator<char>(0), out, discard_iterator<>(), same).first;
})
__thrust_BODY(unique_copy, (auto s, auto first, auto last, auto out), { return __wb_unique_copy(s, first, last, out, equal_to<>()); })
__thrust_BODY(unique, (auto s, auto first, auto last, auto same), { return __wb_unique_copy(s, first, last, first, same); })
__thrust_BODY(unique, (auto s, auto first, auto last), { return __wb_unique(s, first, last, equal_to<>()); })
__thrust_BODY(unique_count, (auto s, auto first, auto last, auto same), {
    return __wb_unique_copy(s, first, last, discard_iterator<>(), same) - discard_iterator<>();
})
__thrust_BODY(unique_count, (auto s, auto first, auto last), { return __wb_unique_count(s, first, last, equal_to<>()); })
__thrust_CALLS(unique_by_key_copy)
__thrust_CALLS(unique_by_key)
__thrust_CALLS(unique_copy)
__thrust_CALLS(unique)
__thrust_CALLS(unique_count)
__thrust_BODY(partition_copy, (auto s, auto first, auto last, auto stencil, auto out, auto other, auto f), {
    auto x = __wb_raw(first);
    auto t = __wb_raw(stencil);
    auto y = __wb_raw(out);
    auto z = __wb_raw(other);
    ptrdiff_t n = last - first, count = 0;
    __thrust_ONCE(count, {
        ptrdiff_t kept = 0;
        for (ptrdiff_t i = 0; i < n; ++i)
            if (f(t[i])) y[kept++] = x[i];
            else z[i - kept] = x[i];
        return kept;
    })
    return pair<decltype(out), decltype(other)>(out + count, other + (n - count));
})
__thrust_BODY(partition_copy, (auto s, auto first, auto last, auto out, auto other, auto f), {
    return __wb_partition_copy(s, first, last, first, out, other, f);
})
__thrust_BODY(stable_partition, (auto s, auto first, auto last, auto stencil, auto f), {
    using T = __wb_value_of<decltype(first)>;
    ptrdiff_t n = last - first, count = 0;
    if constexpr (s.scratch) {
        T* all = __wb_scratch<T>(s, 2 * n);
        count = __wb_partition_copy(s, first, last, stencil, all, all + n, f).first - all;
        __wb_copy_n(s, all + n, n - count, __wb_copy_n(s, all, count, first));
        __wb_unscratch(s, all);
    } else {
        // Each selected element moves past those that stay behind.
        for (ptrdiff_t i = 0; i < n; ++i)
            if (f(stencil[i])) {
                T value = first[i];
                for (ptrdiff_t j = i; j > count; --j) {
                    T moved = first[j - 1];
                    first[j] = moved;
                }
                first[count++] = value;
            }
    }
    return first + count;
})
__thrust_BODY(stable_partition, (auto s, auto first, auto last, auto f), {
    if constexpr (s.scratch) return __wb_stable_partition(s, first, last, first, f);
    else {
        using T = __wb_value_of<decltype(first)>;
        ptrdiff_t n = last - first, count = 0;
        for (ptrdiff_t i = 0; i < n; ++i) {
            T value = first[i];
            if (!f(value)) continue;
            for (ptrdiff_t j = i; j > count; --j) {
                T moved = first[j - 1];
                first[j] = moved;
            }
            first[count++] = value;
        }
        return first + count;
    }
})
__thrust_BODY(partition, (auto s, auto first, auto last, auto stencil, auto f), {
    return __wb_stable_partition(s, first, last, stencil, f);
})
__thrust_BODY(partition, (auto s, auto first, auto last, auto f), { return __wb_stable_partition(s, first, last, f); })
__thrust_CALLS(partition_copy)
__thrust_CALLS(stable_partition)
__thrust_CALLS(partition)

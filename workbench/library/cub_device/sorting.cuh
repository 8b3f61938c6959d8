// Histograms: a sample outside of all bins is not counted.
template <typename L, typename S> struct __wb_even {
    using T = decltype(L() + S());
    T lower, upper;
    int bins;
    __device__ int operator()(S sample) const {
        T x = (T)sample;
        if (!(x >= lower && x < upper)) return -1;
        if constexpr (std::is_integral_v<T>) return (int)((unsigned long long)(x - lower) * bins / (unsigned long long)(upper - lower));
        else return (int)((x - lower) * ((T)bins / (upper - lower)));
    }
};
template <typename L> struct __wb_ranges {
    const L* levels;
    int bins;
    template <typename S> __device__ int operator()(S sample) const {
        if (!(sample >= levels[0] && sample < levels[bins])) return -1;
        int low = 0, high = bins;
        while (high - low > 1) {
            int half = (low + high) / 2;
            if (sample < levels[half]) high = half;
            else low = half;
        }
        return low;
    }
};
// A pixel has `stride` samples, of which the one at `channel` counts.
template <typename I, typename C, typename B>
inline void __wb_count(I samples, C* histogram, int bins, B bin, int stride, int channel, size_t columns, size_t rows, size_t pitch) {
    using S = __wb_item<I>;
    __wb_launch_each(bins, [=] __device__(size_t i) { histogram[i] = 0; });
    __wb_launch_each(columns * rows, [=] __device__(size_t i) mutable {
        int at = bin((S)samples[i / columns * pitch + i % columns * stride + channel]);
        if (at >= 0) atomicAdd(&histogram[at], (C)1);
    });
}
struct DeviceHistogram {
    template <typename I, typename C, typename L, typename N>
    __cub_CALL HistogramEven(void* temp, size_t& bytes, I samples, C* histogram, int levels, L lower, L upper, N n, __cub_REST) {
        return HistogramEven(temp, bytes, samples, histogram, levels, lower, upper, n, (N)1, (size_t)n * sizeof(__wb_item<I>));
    }
    template <typename I, typename C, typename L, typename N>
    __cub_CALL HistogramEven(void* temp, size_t& bytes, I samples, C* histogram, int levels, L lower, L upper, N columns, N rows,
                             size_t row_bytes, __cub_REST) {
        using S = __wb_item<I>;
        using E = __wb_even<L, S>;
        __cub_TEMP(256)
        if (levels < 2) return cudaErrorInvalidValue;
        __wb_count(samples, histogram, levels - 1, E{lower, upper, levels - 1}, 1, 0, columns, rows, row_bytes / sizeof(S));
        return cudaSuccess;
    }
    template <typename I, typename C, typename L, typename N>
    __cub_CALL HistogramRange(void* temp, size_t& bytes, I samples, C* histogram, int levels, const L* at, N n, __cub_REST) {
        return HistogramRange(temp, bytes, samples, histogram, levels, at, n, (N)1, (size_t)n * sizeof(__wb_item<I>));
    }
    template <typename I, typename C, typename L, typename N>
    __cub_CALL HistogramRange(void* temp, size_t& bytes, I samples, C* histogram, int levels, const L* at, N columns, N rows,
                              size_t row_bytes, __cub_REST) {
        __cub_TEMP(256)
        if (levels < 2) return cudaErrorInvalidValue;
        __wb_count(samples, histogram, levels - 1, __wb_ranges<L>{at, levels - 1}, 1, 0, columns, rows, row_bytes / sizeof(__wb_item<I>));
        return cudaSuccess;
    }
    template <int Channels, int Active, typename I, typename C, typename L, typename N>
    __cub_CALL MultiHistogramEven(void* temp, size_t& bytes, I samples, C* (&histograms)[Active], int (&levels)[Active], L (&lower)[Active],
                                  L (&upper)[Active], N n, __cub_REST) {
        using E = __wb_even<L, __wb_item<I>>;
        __cub_TEMP(256)
        for (int c = 0; c < Active; ++c) {
            int bins = levels[c] - 1;
            __wb_count(samples, histograms[c], bins, E{lower[c], upper[c], bins}, Channels, c, n, 1, 0);
        }
        return cudaSuccess;
    }
    template <int Channels, int Active, typename I, typename C, typename L, typename N>
    __cub_CALL MultiHistogramRange(void* temp, size_t& bytes, I samples, C* (&histograms)[Active], int (&levels)[Active],
                                   const L* (&at)[Active], N n, __cub_REST) {
        __cub_TEMP(256)
        for (int c = 0; c < Active; ++c) {
            int bins = levels[c] - 1;
            __wb_count(samples, histograms[c], bins, __wb_ranges<L>{at[c], bins}, Channels, c, n, 1, 0);
        }
        return cudaSuccess;
    }
};

// Radix sorts by digits of eight bits, least significant first, one segment by one
// thread. Scratch is as large as the arrays; in the end the sorted array is `to`.
template <bool Down, typename K> __device__ inline unsigned __wb_digit(const K& key, int bit, int bits) {
    auto x = __wb_ordered(key);
    return (unsigned)((Down ? ~x : x) >> bit) & ((1u << bits) - 1);
}
template <bool Down, typename K, typename V>
__device__ inline void __wb_radix(const K* keys, K* to, K* scratch, const V* values, V* values_to, V* values_scratch, size_t n, int begin,
                                  int end) {
    constexpr bool pairs = !std::is_same_v<V, NullType>;
    unsigned count[256];
    int passes = (end - begin + 7) / 8;
    const K* from = keys;
    const V* values_from = values;
    if (passes == 0) {
        for (size_t i = 0; i < n; ++i) {
            to[i] = from[i];
            if constexpr (pairs) values_to[i] = values_from[i];
        }
    }
    // The input is not changed: passes go from it to one of the two others, and between those, so that the last pass writes `to`.
    for (int pass = 0; pass < passes; ++pass) {
        int bit = begin + 8 * pass, bits = end - bit < 8 ? end - bit : 8;
        bool last = (passes - pass) % 2 == 1;
        K* into = last ? to : scratch;
        V* values_into = last ? values_to : values_scratch;
        unsigned sum = 0;
        for (int d = 0; d < 256; ++d) count[d] = 0;
        for (size_t i = 0; i < n; ++i) ++count[__wb_digit<Down>(from[i], bit, bits)];
        for (int d = 0; d < 256; ++d) {
            sum += count[d];
            count[d] = sum - count[d];
        }
        for (size_t i = 0; i < n; ++i) {
            unsigned at = count[__wb_digit<Down>(from[i], bit, bits)]++;
            into[at] = from[i];
            if constexpr (pairs) values_into[at] = values_from[i];
        }
        from = into;
        values_from = values_into;
    }
}
// The pieces of temporary storage: keys, then values.
template <typename K, typename V> struct __wb_sort_storage {
    static size_t bytes(size_t n) { return 256 + n * sizeof(K) + (std::is_same_v<V, NullType> ? 0 : n * sizeof(V)); }
    static K* keys(void* temp) { return (K*)temp; }
    static V* values(void* temp, size_t n) {
        return std::is_same_v<V, NullType> ? nullptr : (V*)((char*)temp + (n * sizeof(K) + 127) / 128 * 128);
    }
};
template <bool Down, typename K, typename V>
inline cudaError_t __wb_sort(void* temp, size_t& bytes, const K* keys, K* to, const V* values, V* values_to, size_t n, int begin, int end) {
    using S = __wb_sort_storage<K, V>;
    __cub_TEMP(S::bytes(n))
    K* scratch = S::keys(temp);
    V* values_scratch = S::values(temp, n);
    if (n > 0)
        __wb_launch_once([=] __device__() { __wb_radix<Down>(keys, to, scratch, values, values_to, values_scratch, n, begin, end); });
    return cudaSuccess;
}
// The two forms of all sorts: from an array to another, and with the buffers of a pair, of which the other one is then current.
#define __cub_SORTS(SUFFIX, DOWN)                                                                                       \
    template <typename K, typename N>                                                                                   \
    __cub_CALL SortKeys##SUFFIX(void* temp, size_t& bytes, const K* in, K* out, N n, int begin = 0, int end = 8 * sizeof(K), __cub_REST) { \
        return __wb_sort<DOWN>(temp, bytes, in, out, (const NullType*)nullptr, (NullType*)nullptr, n, begin, end);      \
    }                                                                                                                   \
    template <typename K, typename V, typename N>                                                                       \
    __cub_CALL SortPairs##SUFFIX(void* temp, size_t& bytes, const K* in, K* out, const V* values, V* values_out, N n, int begin = 0, \
                                 int end = 8 * sizeof(K), __cub_REST) {                                                 \
        return __wb_sort<DOWN>(temp, bytes, in, out, values, values_out, n, begin, end);                                \
    }                                                                                                                   \
    template <typename K, typename N>                                                                                   \
    __cub_CALL SortKeys##SUFFIX(void* temp, size_t& bytes, DoubleBuffer<K>& keys, N n, int begin = 0, int end = 8 * sizeof(K), \
                                __cub_REST) {                                                                           \
        bool asks = temp == nullptr;                                                                                    \
        cudaError_t error = SortKeys##SUFFIX(temp, bytes, keys.Current(), keys.Alternate(), n, begin, end);             \
        if (!asks && error == cudaSuccess) keys.selector ^= 1;                                                          \
        return error;                                                                                                   \
    }                                                                                                                   \
    template <typename K, typename V, typename N>                                                                       \
    __cub_CALL SortPairs##SUFFIX(void* temp, size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>& values, N n, int begin = 0, \
                                 int end = 8 * sizeof(K), __cub_REST) {                                                 \
        bool asks = temp == nullptr;                                                                                    \
        cudaError_t error = SortPairs##SUFFIX(temp, bytes, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), n, \
                                              begin, end);                                                              \
        if (!asks && error == cudaSuccess) {                                                                            \
            keys.selector ^= 1;                                                                                         \
            values.selector ^= 1;                                                                                       \
        }                                                                                                               \
        return error;                                                                                                   \
    }
struct DeviceRadixSort {
    __cub_SORTS(, false)
    __cub_SORTS(Descending, true)
};
#undef __cub_SORTS

// Elements in no segment stay as they are.
template <bool Down, typename K, typename V, typename B, typename E>
inline cudaError_t __wb_sort_segments(void* temp, size_t& bytes, const K* keys, K* to, const V* values, V* values_to, size_t n,
                                      size_t segments, B starts, E ends, int begin, int end) {
    using S = __wb_sort_storage<K, V>;
    constexpr bool pairs = !std::is_same_v<V, NullType>;
    __cub_TEMP(S::bytes(n))
    K* scratch = S::keys(temp);
    V* values_scratch = S::values(temp, n);
    __wb_launch_each(segments, [=] __device__(size_t i) mutable {
        size_t at = starts[i], stop = ends[i];
        if (stop <= at) return;
        if constexpr (pairs)
            __wb_radix<Down>(keys + at, to + at, scratch + at, values + at, values_to + at, values_scratch + at, stop - at, begin, end);
        else __wb_radix<Down>(keys + at, to + at, scratch + at, values, values_to, values_scratch, stop - at, begin, end);
    });
    return cudaSuccess;
}
#define __cub_SORTS(NAME, SUFFIX, DOWN, BITS, BEGIN, END)                                                               \
    template <typename K, typename N, typename M, typename B, typename E>                                               \
    __cub_CALL NAME##Keys##SUFFIX(void* temp, size_t& bytes, const K* in, K* out, N n, M segments, B starts, E ends, BITS __cub_REST) { \
        return __wb_sort_segments<DOWN>(temp, bytes, in, out, (const NullType*)nullptr, (NullType*)nullptr, n, segments, starts, ends, \
                                        BEGIN, END);                                                                    \
    }                                                                                                                   \
    template <typename K, typename V, typename N, typename M, typename B, typename E>                                   \
    __cub_CALL NAME##Pairs##SUFFIX(void* temp, size_t& bytes, const K* in, K* out, const V* values, V* values_out, N n, M segments, \
                                   B starts, E ends, BITS __cub_REST) {                                                 \
        return __wb_sort_segments<DOWN>(temp, bytes, in, out, values, values_out, n, segments, starts, ends, BEGIN, END); \
    }                                                                                                                   \
    template <typename K, typename N, typename M, typename B, typename E>                                               \
    __cub_CALL NAME##Keys##SUFFIX(void* temp, size_t& bytes, DoubleBuffer<K>& keys, N n, M segments, B starts, E ends, BITS __cub_REST) { \
        bool asks = temp == nullptr;                                                                                    \
        cudaError_t error = __wb_sort_segments<DOWN>(temp, bytes, (const K*)keys.Current(), keys.Alternate(), (const NullType*)nullptr, \
                                                     (NullType*)nullptr, n, segments, starts, ends, BEGIN, END);        \
        if (!asks && error == cudaSuccess) keys.selector ^= 1;                                                          \
        return error;                                                                                                   \
    }                                                                                                                   \
    template <typename K, typename V, typename N, typename M, typename B, typename E>                                   \
    __cub_CALL NAME##Pairs##SUFFIX(void* temp, size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>& values, N n, M segments, B starts, \
                                   E ends, BITS __cub_REST) {                                                           \
        bool asks = temp == nullptr;                                                                                    \
        cudaError_t error = __wb_sort_segments<DOWN>(temp, bytes, (const K*)keys.Current(), keys.Alternate(), (const V*)values.Current(), \
                                                     values.Alternate(), n, segments, starts, ends, BEGIN, END);        \
        if (!asks && error == cudaSuccess) {                                                                            \
            keys.selector ^= 1;                                                                                         \
            values.selector ^= 1;                                                                                       \
        }                                                                                                               \
        return error;                                                                                                   \
    }
#define __WB_BITS int begin = 0, int end = 8 * sizeof(K),
struct DeviceSegmentedRadixSort {
    __cub_SORTS(Sort, , false, __WB_BITS, begin, end)
    __cub_SORTS(Sort, Descending, true, __WB_BITS, begin, end)
};
#undef __WB_BITS
struct DeviceSegmentedSort {
    __cub_SORTS(Sort, , false, , 0, 8 * sizeof(K))
    __cub_SORTS(Sort, Descending, true, , 0, 8 * sizeof(K))
    __cub_SORTS(StableSort, , false, , 0, 8 * sizeof(K))
    __cub_SORTS(StableSort, Descending, true, , 0, 8 * sizeof(K))
};
#undef __cub_SORTS

// Merge sort: runs of sixteen first, then pairs of runs; each thread finds where the two runs divide and merges 512 elements.
template <typename K, typename V, typename L>
inline cudaError_t __wb_merge_sort(void* temp, size_t& bytes, K keys, V values, size_t n, L less) {
    constexpr bool pairs = !std::is_same_v<V, NullType*>;
    using KT = __wb_item<K>;
    using VT = __wb_item<V>;
    size_t keys_bytes = (n * sizeof(KT) + 127) / 128 * 128, values_bytes = pairs ? (n * sizeof(VT) + 127) / 128 * 128 : 0;
    __cub_TEMP(256 + 2 * keys_bytes + 2 * values_bytes)
    KT *from = (KT*)temp, *to = (KT*)((char*)temp + keys_bytes);
    VT *values_from = (VT*)((char*)temp + 2 * keys_bytes), *values_to = (VT*)((char*)temp + 2 * keys_bytes + values_bytes);
    __wb_launch_each((n + 15) / 16, [=] __device__(size_t i) mutable {
        size_t start = i * 16, stop = start + 16 < n ? start + 16 : n;
        for (size_t j = start; j < stop; ++j) {
            KT key = keys[j];
            size_t at = j;
            for (; at > start && less(key, from[at - 1]); --at) {
                from[at] = from[at - 1];
                if constexpr (pairs) values_from[at] = values_from[at - 1];
            }
            from[at] = key;
            if constexpr (pairs) values_from[at] = values[j];
        }
    });
    for (size_t width = 16; width < n; width *= 2) {
        size_t each = 2 * width < 512 ? 2 * width : 512;
        __wb_launch_each((n + each - 1) / each, [=] __device__(size_t i) mutable {
            size_t at = i * each, stop = at + each < n ? at + each : n, start = at / (2 * width) * (2 * width);
            size_t middle = start + width < n ? start + width : n, end = middle + width < n ? middle + width : n;
            size_t before = at - start, low = before > end - middle ? before - (end - middle) : 0;
            size_t high = before < middle - start ? before : middle - start;
            while (low < high) {
                size_t half = (low + high) / 2;
                if (less(from[middle + before - 1 - half], from[start + half])) high = half;
                else low = half + 1;
            }
            for (size_t left = start + low, right = middle + before - low; at < stop; ++at) {
                bool other = left == middle || (right < end && less(from[right], from[left]));
                size_t next = other ? right++ : left++;
                to[at] = from[next];
                if constexpr (pairs) values_to[at] = values_from[next];
            }
        });
        std::swap(from, to);
        std::swap(values_from, values_to);
    }
    __wb_launch_each(n, [=] __device__(size_t i) mutable {
        keys[i] = from[i];
        if constexpr (pairs) values[i] = values_from[i];
    });
    return cudaSuccess;
}
struct DeviceMergeSort {
#define __cub_SORTS(NAME)                                                                                               \
    template <typename K, typename N, typename L> __cub_CALL NAME##Keys(void* temp, size_t& bytes, K keys, N n, L less, __cub_REST) { \
        return __wb_merge_sort(temp, bytes, keys, (NullType*)nullptr, n, less);                                         \
    }                                                                                                                   \
    template <typename K, typename V, typename N, typename L>                                                           \
    __cub_CALL NAME##Pairs(void* temp, size_t& bytes, K keys, V values, N n, L less, __cub_REST) {                      \
        return __wb_merge_sort(temp, bytes, keys, values, n, less);                                                     \
    }                                                                                                                   \
    template <typename K, typename O, typename N, typename L>                                                           \
    __cub_CALL NAME##KeysCopy(void* temp, size_t& bytes, K keys, O out, N n, L less, __cub_REST) {                      \
        if (temp != nullptr) __wb_launch_each(n, [=] __device__(size_t i) mutable { out[i] = keys[i]; });               \
        return __wb_merge_sort(temp, bytes, out, (NullType*)nullptr, n, less);                                          \
    }                                                                                                                   \
    template <typename K, typename V, typename O, typename P, typename N, typename L>                                   \
    __cub_CALL NAME##PairsCopy(void* temp, size_t& bytes, K keys, V values, O out, P values_out, N n, L less, __cub_REST) { \
        if (temp != nullptr) {                                                                                          \
            __wb_launch_each(n, [=] __device__(size_t i) mutable {                                                      \
                out[i] = keys[i];                                                                                       \
                values_out[i] = values[i];                                                                              \
            });                                                                                                         \
        }                                                                                                               \
        return __wb_merge_sort(temp, bytes, out, values_out, n, less);                                                  \
    }
    __cub_SORTS(Sort)
    __cub_SORTS(StableSort)
#undef __cub_SORTS
};

// Reductions with a thread for each segment.
struct DeviceSegmentedReduce {
    template <typename I, typename O, typename B, typename E, typename Op, typename T>
    __cub_CALL Reduce(void* temp, size_t& bytes, I in, O out, int64_t segments, B starts, E ends, Op op, T init, __cub_REST) {
        using A = std::decay_t<decltype(op(init, in[0]))>;
        __cub_TEMP(256)
        __wb_launch_each(segments, [=] __device__(size_t i) mutable {
            A all = init;
            for (int64_t at = starts[i], stop = ends[i]; at < stop; ++at) all = op(all, in[at]);
            out[i] = all;
        });
        return cudaSuccess;
    }
    template <typename I, typename O, typename B, typename E>
    __cub_CALL Sum(void* temp, size_t& bytes, I in, O out, int64_t segments, B starts, E ends, __cub_REST) {
        return Reduce(temp, bytes, in, out, segments, starts, ends, cub::Sum(), __wb_item<O>());
    }
    template <typename I, typename O, typename B, typename E>
    __cub_CALL Min(void* temp, size_t& bytes, I in, O out, int64_t segments, B starts, E ends, __cub_REST) {
        return Reduce(temp, bytes, in, out, segments, starts, ends, cub::Min(), std::numeric_limits<__wb_item<I>>::max());
    }
    template <typename I, typename O, typename B, typename E>
    __cub_CALL Max(void* temp, size_t& bytes, I in, O out, int64_t segments, B starts, E ends, __cub_REST) {
        return Reduce(temp, bytes, in, out, segments, starts, ends, cub::Max(), std::numeric_limits<__wb_item<I>>::lowest());
    }
    // Places count from the start of the segment.
#define __cub_ARG(NAME, OP, EMPTY)                                                                                      \
    template <typename I, typename O, typename B, typename E>                                                           \
    __cub_CALL NAME(void* temp, size_t& bytes, I in, O out, int64_t segments, B starts, E ends, __cub_REST) {           \
        using T = __wb_item<I>;                                                                                         \
        using P = KeyValuePair<int, T>;                                                                                 \
        __cub_TEMP(256)                                                                                                 \
        __wb_launch_each(segments, [=] __device__(size_t i) mutable {                                                   \
            int64_t start = starts[i], stop = ends[i];                                                                  \
            P best(1, std::numeric_limits<T>::EMPTY());                                                                 \
            if (start < stop) best = P(0, in[start]);                                                                   \
            for (int64_t at = start + 1; at < stop; ++at) best = OP()(best, P((int)(at - start), in[at]));              \
            out[i] = best;                                                                                              \
        });                                                                                                             \
        return cudaSuccess;                                                                                             \
    }
    __cub_ARG(ArgMin, cub::ArgMin, max)
    __cub_ARG(ArgMax, cub::ArgMax, lowest)
#undef __cub_ARG
};

struct DeviceAdjacentDifference {
#define __cub_DIFFERENCE(EDGE, OTHER)                                                                                   \
    __cub_TEMP(256)                                                                                                     \
    __wb_launch_each(n, [=] __device__(size_t i) mutable {                                                              \
        if (i == (size_t)(EDGE)) out[i] = in[i];                                                                        \
        else out[i] = op(in[i], in[OTHER]);                                                                             \
    });                                                                                                                 \
    return cudaSuccess;
    template <typename I, typename O, typename N, typename Op = Difference>
    __cub_CALL SubtractLeftCopy(void* temp, size_t& bytes, I in, O out, N n, Op op = Op(), __cub_REST) { __cub_DIFFERENCE(0, i - 1) }
    template <typename I, typename O, typename N, typename Op = Difference>
    __cub_CALL SubtractRightCopy(void* temp, size_t& bytes, I in, O out, N n, Op op = Op(), __cub_REST) { __cub_DIFFERENCE(n - 1, i + 1) }
#undef __cub_DIFFERENCE
    // Differences in place, from a copy.
#define __cub_IN_PLACE(NAME)                                                                                            \
    template <typename I, typename N, typename Op = Difference>                                                         \
    __cub_CALL NAME(void* temp, size_t& bytes, I data, N n, Op op = Op(), __cub_REST) {                                 \
        using T = __wb_item<I>;                                                                                         \
        __cub_TEMP(256 + n * sizeof(T))                                                                                 \
        T* copy = (T*)temp;                                                                                             \
        __wb_launch_each(n, [=] __device__(size_t i) mutable { copy[i] = data[i]; });                                   \
        return NAME##Copy(temp, bytes, copy, data, n, op);                                                              \
    }
    __cub_IN_PLACE(SubtractLeft)
    __cub_IN_PLACE(SubtractRight)
#undef __cub_IN_PLACE
};

struct DeviceFor {
    template <typename N, typename F, __cub_INTEGER(N)> __cub_CALL Bulk(N n, F f, cudaStream_t = 0) {
        __wb_launch_each(n, [=] __device__(size_t i) mutable { f((N)i); });
        return cudaSuccess;
    }
    template <typename N, typename F, __cub_INTEGER(N)> __cub_CALL Bulk(void* temp, size_t& bytes, N n, F f, cudaStream_t = 0) {
        __cub_TEMP(1)
        return Bulk(n, f);
    }
#define __cub_EACH(NAME)                                                                                                \
    template <typename I, typename N, typename F, __cub_INTEGER(N)> __cub_CALL NAME##N(I first, N n, F f, cudaStream_t = 0) { \
        __wb_launch_each(n, [=] __device__(size_t i) mutable { f(first[i]); });                                         \
        return cudaSuccess;                                                                                             \
    }                                                                                                                   \
    template <typename I, typename F> __cub_CALL NAME(I first, I last, F f, cudaStream_t = 0) { return NAME##N(first, last - first, f); }
    __cub_EACH(ForEach)
    __cub_EACH(ForEachCopy)
#undef __cub_EACH
};
#undef __cub_CALL
#undef __cub_REST
#undef __cub_INTEGER
#undef __cub_COUNT
#undef __cub_TEMP

}
inline cudaError_t CubDebug(cudaError_t error) { return error; }
inline void CubDebugExit(cudaError_t error) {
    if (error != cudaSuccess) exit(1);
}

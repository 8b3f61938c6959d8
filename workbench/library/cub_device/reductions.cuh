// CUB for the whole device. An operation on each element is a kernel with a thread for each; one that carries a result from
// element to element is one thread. Temporary storage is scratch, and must be of the size that the first of two calls gives.
namespace cub {

template <typename I, typename = void> struct __wb_items { using type = std::decay_t<decltype(std::declval<I&>()[0])>; };
template <typename T> struct __wb_items<T*, void> { using type = std::remove_cv_t<T>; };
template <typename I> struct __wb_items<I, std::void_t<typename I::value_type>> { using type = typename I::value_type; };
template <typename I> using __wb_item = typename __wb_items<I>::type;
template <typename F> __global__ void __wb_device_each(size_t n, F f) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <typename F> __global__ void __wb_device_once(F f) { f(); }
template <typename F> inline void __wb_launch_each(size_t n, F f) {
    if (n > 0) __wb_device_each<<<(unsigned)((n + 255) / 256), 256>>>(n, f);
}
template <typename F> inline void __wb_launch_once(F f) { __wb_device_once<<<1, 1>>>(f); }

// Iterators.
#define __cub_ITERATOR(NAME, VALUE, MOVE)                                                                               \
    using value_type = VALUE;                                                                                           \
    using reference = VALUE;                                                                                            \
    using pointer = VALUE*;                                                                                             \
    using difference_type = ptrdiff_t;                                                                                  \
    using self_type = NAME;                                                                                             \
    __host__ __device__ NAME operator+(ptrdiff_t n) const { NAME to(*this); to.MOVE += n; return to; }                  \
    __host__ __device__ NAME operator-(ptrdiff_t n) const { NAME to(*this); to.MOVE -= n; return to; }                  \
    __host__ __device__ NAME& operator+=(ptrdiff_t n) { MOVE += n; return *this; }                                      \
    __host__ __device__ NAME& operator-=(ptrdiff_t n) { MOVE -= n; return *this; }                                      \
    __host__ __device__ NAME& operator++() { MOVE += 1; return *this; }                                                 \
    __host__ __device__ NAME operator++(int) { NAME old(*this); MOVE += 1; return old; }                                \
    __host__ __device__ ptrdiff_t operator-(const NAME& o) const { return MOVE - o.MOVE; }                              \
    __host__ __device__ bool operator==(const NAME& o) const { return MOVE == o.MOVE; }                                 \
    __host__ __device__ bool operator!=(const NAME& o) const { return MOVE != o.MOVE; }                                 \
    __host__ __device__ reference operator[](ptrdiff_t n) const { return *(*this + n); }
template <typename T, typename D = ptrdiff_t> struct CountingInputIterator {
    T __at;
    __host__ __device__ CountingInputIterator(const T& at) : __at(at) {}
    __cub_ITERATOR(CountingInputIterator, T, __at)
    __host__ __device__ T operator*() const { return __at; }
};
template <typename T, typename D = ptrdiff_t> struct ConstantInputIterator {
    T __held;
    D __at;
    __host__ __device__ ConstantInputIterator(T held, D at = 0) : __held(held), __at(at) {}
    __cub_ITERATOR(ConstantInputIterator, T, __at)
    __host__ __device__ T operator*() const { return __held; }
};
template <typename T, typename F, typename I, typename D = ptrdiff_t> struct TransformInputIterator {
    F __f;
    I __at;
    __host__ __device__ TransformInputIterator(I at, F f) : __f(f), __at(at) {}
    __cub_ITERATOR(TransformInputIterator, T, __at)
    __host__ __device__ T operator*() const { return F(__f)(*__at); }
};
template <typename I, typename D = ptrdiff_t, typename V = __wb_item<I>> struct ArgIndexInputIterator {
    I __from;
    D __at;
    using __pair = KeyValuePair<D, V>;
    __host__ __device__ ArgIndexInputIterator(I from, D at = 0) : __from(from), __at(at) {}
    __cub_ITERATOR(ArgIndexInputIterator, __pair, __at)
    __host__ __device__ __pair operator*() const { return __pair(__at, __from[__at]); }
    __host__ __device__ void normalize() {
        __from += __at;
        __at = 0;
    }
};
struct __wb_discarded {
    template <typename T> __host__ __device__ const __wb_discarded& operator=(const T&) const { return *this; }
};
template <typename D = ptrdiff_t> struct DiscardOutputIterator {
    D __at;
    __host__ __device__ DiscardOutputIterator(D at = 0) : __at(at) {}
    __cub_ITERATOR(DiscardOutputIterator, __wb_discarded, __at)
    __host__ __device__ __wb_discarded operator*() const { return __wb_discarded(); }
};
#undef __cub_ITERATOR

// Two arrays, one of which is current.
template <typename T> struct DoubleBuffer {
    T* d_buffers[2];
    int selector;
    __host__ __device__ DoubleBuffer() : selector(0) {
        d_buffers[0] = nullptr;
        d_buffers[1] = nullptr;
    }
    __host__ __device__ DoubleBuffer(T* current, T* alternate) : selector(0) {
        d_buffers[0] = current;
        d_buffers[1] = alternate;
    }
    __host__ __device__ T* Current() { return d_buffers[selector]; }
    __host__ __device__ T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct CachingDeviceAllocator {
    CachingDeviceAllocator() {}
    CachingDeviceAllocator(bool, bool = false) {}
    CachingDeviceAllocator(unsigned, unsigned = 1, unsigned = 0, size_t = 0, bool = false, bool = false) {}
    template <typename T> cudaError_t DeviceAllocate(T** place, size_t bytes, cudaStream_t = 0) { return cudaMalloc(place, bytes); }
    template <typename T> cudaError_t DeviceAllocate(int, T** place, size_t bytes, cudaStream_t = 0) { return cudaMalloc(place, bytes); }
    cudaError_t DeviceFree(void* place) { return cudaFree(place); }
    cudaError_t DeviceFree(int, void* place) { return cudaFree(place); }
    cudaError_t FreeAllCached() { return cudaSuccess; }
};

#define __cub_CALL static cudaError_t
#define __cub_REST cudaStream_t = 0, bool = false
#define __cub_INTEGER(N) std::enable_if_t<std::is_integral_v<N>, int> = 0
// A 0 here is a count, not a stream.
#define __cub_COUNT(O, N) std::enable_if_t<std::is_integral_v<N> && !std::is_integral_v<O>, int> = 0
#define __cub_TEMP(NEEDED)                                                                                              \
    size_t needed = (NEEDED);                                                                                           \
    if (temp == nullptr) {                                                                                              \
        bytes = needed;                                                                                                 \
        return cudaSuccess;                                                                                             \
    }                                                                                                                   \
    if (bytes < needed) return cudaErrorInvalidValue;

// Neighbours are added up in parts first, which keeps the order, and rounds less than one sum does.
template <typename T, typename I, typename O, typename Op> inline void __wb_reduce_into(void* temp, I in, O out, size_t n, Op op, T init) {
    T* parts = (T*)temp;
    size_t each = n < 262144 ? 256 : (n + 1023) / 1024, count = (n + each - 1) / each;
    __wb_launch_each(count, [=] __device__(size_t i) mutable {
        size_t at = i * each, stop = at + each < n ? at + each : n;
        T part = in[at];
        for (++at; at < stop; ++at) part = op(part, in[at]);
        parts[i] = part;
    });
    __wb_launch_once([=] __device__() mutable {
        T all = init;
        for (size_t i = 0; i < count; ++i) all = op(all, parts[i]);
        out[0] = all;
    });
}
struct DeviceReduce {
    template <typename I, typename O, typename N, typename Op, typename T>
    __cub_CALL Reduce(void* temp, size_t& bytes, I in, O out, N n, Op op, T init, __cub_REST) {
        using A = std::decay_t<decltype(op(init, in[0]))>;
        __cub_TEMP(1024 * sizeof(A))
        __wb_reduce_into<A>(temp, in, out, n, op, init);
        return cudaSuccess;
    }
    template <typename I, typename O, typename N> __cub_CALL Sum(void* temp, size_t& bytes, I in, O out, N n, __cub_REST) {
        return Reduce(temp, bytes, in, out, n, cub::Sum(), __wb_item<O>());
    }
    template <typename I, typename O, typename N> __cub_CALL Min(void* temp, size_t& bytes, I in, O out, N n, __cub_REST) {
        return Reduce(temp, bytes, in, out, n, cub::Min(), std::numeric_limits<__wb_item<I>>::max());
    }
    template <typename I, typename O, typename N> __cub_CALL Max(void* temp, size_t& bytes, I in, O out, N n, __cub_REST) {
        return Reduce(temp, bytes, in, out, n, cub::Max(), std::numeric_limits<__wb_item<I>>::lowest());
    }
    template <typename I, typename O, typename N, typename Op, typename F, typename T>
    __cub_CALL TransformReduce(void* temp, size_t& bytes, I in, O out, N n, Op op, F f, T init, __cub_REST) {
        using V = std::decay_t<decltype(f(in[0]))>;
        return Reduce(temp, bytes, TransformInputIterator<V, F, I>(in, f), out, n, op, init);
    }
    // The result for no elements, as CUB documents it.
#define __cub_ARG(NAME, OP, EMPTY)                                                                                      \
    template <typename I, typename O, typename N> __cub_CALL NAME(void* temp, size_t& bytes, I in, O out, N n, __cub_REST) { \
        using T = __wb_item<I>;                                                                                         \
        using P = KeyValuePair<int, T>;                                                                                 \
        __cub_TEMP(1024 * sizeof(P))                                                                                    \
        if (n == 0) __wb_launch_once([=] __device__() mutable { out[0] = P(1, std::numeric_limits<T>::EMPTY()); });     \
        else __wb_reduce_into<P>(temp, ArgIndexInputIterator<I, int>(in), out, n, OP(), P(0, *in));                     \
        return cudaSuccess;                                                                                             \
    }                                                                                                                   \
    template <typename I, typename O, typename D, typename N, __cub_INTEGER(N)>                                         \
    __cub_CALL NAME(void* temp, size_t& bytes, I in, O out, D* place, N n, __cub_REST) {                                \
        using P = KeyValuePair<int, __wb_item<I>>;                                                                      \
        __cub_TEMP(1025 * sizeof(P))                                                                                    \
        if (n == 0) return cudaSuccess;                                                                                 \
        P* found = (P*)temp + 1024;                                                                                     \
        __wb_reduce_into<P>(temp, ArgIndexInputIterator<I, int>(in), found, n, OP(), P(0, *in));                        \
        __wb_launch_once([=] __device__() mutable {                                                                     \
            out[0] = found->value;                                                                                      \
            place[0] = found->key;                                                                                      \
        });                                                                                                             \
        return cudaSuccess;                                                                                             \
    }
    __cub_ARG(ArgMin, cub::ArgMin, max)
    __cub_ARG(ArgMax, cub::ArgMax, lowest)
#undef __cub_ARG
    template <typename K, typename U, typename V, typename A, typename C, typename Op, typename N>
    __cub_CALL ReduceByKey(void* temp, size_t& bytes, K keys, U unique, V values, A sums, C count, Op op, N n, __cub_REST) {
        using T = std::decay_t<decltype(op(values[0], values[0]))>;
        __cub_TEMP(256)
        __wb_launch_once([=] __device__() mutable {
            size_t runs = 0;
            for (size_t i = 0; i < (size_t)n; ++runs) {
                __wb_item<K> key = keys[i];
                T sum = values[i];
                for (++i; i < (size_t)n && keys[i - 1] == keys[i]; ++i) sum = op(sum, values[i]);
                unique[runs] = key;
                sums[runs] = sum;
            }
            count[0] = runs;
        });
        return cudaSuccess;
    }
};

template <bool Exclusive, typename T, typename K, typename I, typename O, typename E, typename Op>
inline void __wb_scan_into(K keys, I in, O out, size_t n, E same, Op op, const T* start) {
    bool starts = start != nullptr;
    T init = starts ? *start : T();
    __wb_launch_once([=] __device__() mutable {
        T sum = init;
        bool any = starts;
        for (size_t i = 0; i < n; ++i) {
            if (i > 0 && !same(keys[i - 1], keys[i])) {
                sum = init;
                any = starts;
            }
            T with = any ? T(op(sum, in[i])) : T(in[i]);
            out[i] = Exclusive ? sum : with;
            sum = with;
            any = true;
        }
    });
}
struct DeviceScan {
#define __cub_SCAN(NEEDED, EXCLUSIVE, T, KEYS, SAME, OP, START)                                                         \
    __cub_TEMP(NEEDED)                                                                                                  \
    __wb_scan_into<EXCLUSIVE, T>(KEYS, in, out, n, SAME, OP, START);                                                    \
    return cudaSuccess;
    using __all = ConstantInputIterator<int>;
    template <typename I, typename O, typename Op, typename T, typename N, __cub_COUNT(O, N)>
    __cub_CALL ExclusiveScan(void* temp, size_t& bytes, I in, O out, Op op, T init, N n, __cub_REST) {
        using A = std::decay_t<decltype(op(init, in[0]))>;
        A start = init;
        __cub_SCAN(256 + n / 8, true, A, __all(0), Equality(), op, &start)
    }
    template <typename I, typename O, typename Op, typename N, __cub_COUNT(O, N)>
    __cub_CALL InclusiveScan(void* temp, size_t& bytes, I in, O out, Op op, N n, __cub_REST) {
        using A = std::decay_t<decltype(op(in[0], in[0]))>;
        __cub_SCAN(256 + n / 8, false, A, __all(0), Equality(), op, (const A*)nullptr)
    }
    template <typename I, typename O, typename Op, typename T, typename N, __cub_COUNT(O, N)>
    __cub_CALL InclusiveScanInit(void* temp, size_t& bytes, I in, O out, Op op, T init, N n, __cub_REST) {
        using A = std::decay_t<decltype(op(init, in[0]))>;
        A start = init;
        __cub_SCAN(256 + n / 8, false, A, __all(0), Equality(), op, &start)
    }
    template <typename I, typename O, typename N, __cub_COUNT(O, N)>
    __cub_CALL ExclusiveSum(void* temp, size_t& bytes, I in, O out, N n, __cub_REST) {
        return ExclusiveScan(temp, bytes, in, out, cub::Sum(), __wb_item<I>(), n);
    }
    template <typename I, typename O, typename N, __cub_COUNT(O, N)>
    __cub_CALL InclusiveSum(void* temp, size_t& bytes, I in, O out, N n, __cub_REST) {
        return InclusiveScan(temp, bytes, in, out, cub::Sum(), n);
    }
    // Scans in place.
    template <typename I, typename N, __cub_INTEGER(N)> __cub_CALL ExclusiveSum(void* temp, size_t& bytes, I data, N n, __cub_REST) {
        return ExclusiveSum(temp, bytes, data, data, n);
    }
    template <typename I, typename N, __cub_INTEGER(N)> __cub_CALL InclusiveSum(void* temp, size_t& bytes, I data, N n, __cub_REST) {
        return InclusiveSum(temp, bytes, data, data, n);
    }
    template <typename I, typename Op, typename T, typename N, __cub_INTEGER(N)>
    __cub_CALL ExclusiveScan(void* temp, size_t& bytes, I data, Op op, T init, N n, __cub_REST) {
        return ExclusiveScan(temp, bytes, data, data, op, init, n);
    }
    template <typename I, typename Op, typename N, __cub_INTEGER(N)>
    __cub_CALL InclusiveScan(void* temp, size_t& bytes, I data, Op op, N n, __cub_REST) {
        return InclusiveScan(temp, bytes, data, data, op, n);
    }
    // Scans of each run of keys.
    template <typename K, typename I, typename O, typename Op, typename T, typename N, typename E = Equality>
    __cub_CALL ExclusiveScanByKey(void* temp, size_t& bytes, K keys, I in, O out, Op op, T init, N n, E same = E(), cudaStream_t = 0) {
        using A = std::decay_t<decltype(op(init, in[0]))>;
        A start = init;
        __cub_SCAN(256 + n / 8, true, A, keys, same, op, &start)
    }
    template <typename K, typename I, typename O, typename Op, typename N, typename E = Equality>
    __cub_CALL InclusiveScanByKey(void* temp, size_t& bytes, K keys, I in, O out, Op op, N n, E same = E(), cudaStream_t = 0) {
        using A = std::decay_t<decltype(op(in[0], in[0]))>;
        __cub_SCAN(256 + n / 8, false, A, keys, same, op, (const A*)nullptr)
    }
    template <typename K, typename I, typename O, typename N, typename E = Equality>
    __cub_CALL ExclusiveSumByKey(void* temp, size_t& bytes, K keys, I in, O out, N n, E same = E(), cudaStream_t = 0) {
        return ExclusiveScanByKey(temp, bytes, keys, in, out, cub::Sum(), __wb_item<I>(), n, same);
    }
    template <typename K, typename I, typename O, typename N, typename E = Equality>
    __cub_CALL InclusiveSumByKey(void* temp, size_t& bytes, K keys, I in, O out, N n, E same = E(), cudaStream_t = 0) {
        return InclusiveScanByKey(temp, bytes, keys, in, out, cub::Sum(), n, same);
    }
#undef __cub_SCAN
};

// Selections, in order; a partition puts the other elements after them, the last first.
struct __wb_flag {
    template <typename T> __host__ __device__ bool operator()(const T& flag) const { return flag ? true : false; }
};
struct DeviceSelect {
#define __cub_SELECT(CONDITION)                                                                                         \
    __cub_TEMP(256 + n / 8)                                                                                             \
    __wb_launch_once([=] __device__() mutable {                                                                         \
        size_t kept = 0;                                                                                                \
        for (size_t i = 0; i < (size_t)n; ++i)                                                                          \
            if (CONDITION) out[kept++] = in[i];                                                                         \
        count[0] = kept;                                                                                                \
    });                                                                                                                 \
    return cudaSuccess;
    template <typename I, typename F, typename O, typename C, typename N, __cub_COUNT(C, N)>
    __cub_CALL Flagged(void* temp, size_t& bytes, I in, F flags, O out, C count, N n, __cub_REST) { __cub_SELECT(flags[i]) }
    template <typename I, typename O, typename C, typename N, typename P, __cub_COUNT(C, N)>
    __cub_CALL If(void* temp, size_t& bytes, I in, O out, C count, N n, P keep, __cub_REST) { __cub_SELECT(keep(in[i])) }
    template <typename I, typename F, typename O, typename C, typename N, typename P, __cub_COUNT(C, N)>
    __cub_CALL FlaggedIf(void* temp, size_t& bytes, I in, F flags, O out, C count, N n, P keep, cudaStream_t = 0) {
        __cub_SELECT(keep(flags[i]))
    }
#undef __cub_SELECT
    template <typename I, typename F, typename C, typename N, __cub_COUNT(C, N)>
    __cub_CALL Flagged(void* temp, size_t& bytes, I data, F flags, C count, N n, __cub_REST) {
        return Flagged(temp, bytes, data, flags, data, count, n);
    }
    template <typename I, typename C, typename N, typename P, __cub_INTEGER(N)>
    __cub_CALL If(void* temp, size_t& bytes, I data, C count, N n, P keep, __cub_REST) {
        return If(temp, bytes, data, data, count, n, keep);
    }
    template <typename K, typename V, typename KO, typename VO, typename C, typename N, typename E = Equality>
    __cub_CALL UniqueByKey(void* temp, size_t& bytes, K keys, V values, KO keys_out, VO out, C count, N n, E same = E(), cudaStream_t = 0) {
        __cub_TEMP(256 + n / 8)
        __wb_launch_once([=] __device__() mutable {
            size_t kept = 0;
            for (size_t i = 0; i < (size_t)n; ++i)
                if (i == 0 || !same(keys[i - 1], keys[i])) {
                    keys_out[kept] = keys[i];
                    out[kept++] = values[i];
                }
            count[0] = kept;
        });
        return cudaSuccess;
    }
    template <typename I, typename O, typename C, typename N, __cub_COUNT(C, N)>
    __cub_CALL Unique(void* temp, size_t& bytes, I in, O out, C count, N n, __cub_REST) {
        return UniqueByKey(temp, bytes, in, ConstantInputIterator<int>(0), out, DiscardOutputIterator<>(), count, n);
    }
};
struct DevicePartition {
#define __cub_PARTITION(CONDITION)                                                                                      \
    __cub_TEMP(256 + n / 8)                                                                                             \
    __wb_launch_once([=] __device__() mutable {                                                                         \
        size_t kept = 0;                                                                                                \
        for (size_t i = 0; i < (size_t)n; ++i)                                                                          \
            if (CONDITION) out[kept++] = in[i];                                                                         \
            else out[n - 1 - (i - kept)] = in[i];                                                                       \
        count[0] = kept;                                                                                                \
    });                                                                                                                 \
    return cudaSuccess;
    template <typename I, typename F, typename O, typename C, typename N>
    __cub_CALL Flagged(void* temp, size_t& bytes, I in, F flags, O out, C count, N n, __cub_REST) { __cub_PARTITION(flags[i]) }
    template <typename I, typename O, typename C, typename N, typename P, __cub_INTEGER(N)>
    __cub_CALL If(void* temp, size_t& bytes, I in, O out, C count, N n, P keep, __cub_REST) { __cub_PARTITION(keep(in[i])) }
#undef __cub_PARTITION
    // A partition in three: the first two in order, with their numbers at `count`.
    template <typename I, typename A, typename B, typename U, typename C, typename N, typename P, typename Q, __cub_INTEGER(N)>
    __cub_CALL If(void* temp, size_t& bytes, I in, A first, B second, U rest, C count, N n, P is_first, Q is_second, __cub_REST) {
        __cub_TEMP(256 + n / 8)
        __wb_launch_once([=] __device__() mutable {
            size_t a = 0, b = 0;
            for (size_t i = 0; i < (size_t)n; ++i)
                if (is_first(in[i])) first[a++] = in[i];
                else if (is_second(in[i])) second[b++] = in[i];
                else rest[i - a - b] = in[i];
            count[0] = a;
            count[1] = b;
        });
        return cudaSuccess;
    }
};

struct DeviceRunLengthEncode {
    template <typename I, typename U, typename L, typename C, typename N>
    __cub_CALL Encode(void* temp, size_t& bytes, I in, U unique, L lengths, C count, N n, __cub_REST) {
        using T = __wb_item<L>;
        __cub_TEMP(256 + n / 8)
        __wb_launch_once([=] __device__() mutable {
            size_t runs = 0;
            for (size_t i = 0; i < (size_t)n; ++runs) {
                size_t start = i;
                for (++i; i < (size_t)n && in[i] == in[start];) ++i;
                unique[runs] = in[start];
                lengths[runs] = (T)(i - start);
            }
            count[0] = runs;
        });
        return cudaSuccess;
    }
    template <typename I, typename P, typename L, typename C, typename N>
    __cub_CALL NonTrivialRuns(void* temp, size_t& bytes, I in, P starts, L lengths, C count, N n, __cub_REST) {
        __cub_TEMP(256 + n / 8)
        __wb_launch_once([=] __device__() mutable {
            size_t runs = 0;
            for (size_t i = 0; i < (size_t)n;) {
                size_t start = i;
                for (++i; i < (size_t)n && in[i] == in[start];) ++i;
                if (i - start == 1) continue;
                starts[runs] = start;
                lengths[runs++] = i - start;
            }
            count[0] = runs;
        });
        return cudaSuccess;
    }
};

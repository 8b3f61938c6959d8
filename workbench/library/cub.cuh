// CUB's collectives of a block and of a warp. Here one thread that goes over shared memory is several times as fast as many that
// exchange values, so values go to shared memory, one thread works on them, and all take theirs from there: of any type, in order.
namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };

struct NullType {};
template <typename K, typename V> struct KeyValuePair {
    typedef K Key;
    typedef V Value;
    K key;
    V value;
    KeyValuePair() = default;
    __host__ __device__ KeyValuePair(const K& key, const V& value) : key(key), value(value) {}
    __host__ __device__ bool operator!=(const KeyValuePair& o) const { return key != o.key || value != o.value; }
};

#define __cub_FUNCTOR(NAME, VALUE)                                                                                         \
    struct NAME {                                                                                                             \
        template <typename T, typename U> __host__ __device__ auto operator()(T a, U b) const { return VALUE; }               \
    };
__cub_FUNCTOR(Sum, a + b)
__cub_FUNCTOR(Difference, a - b)
__cub_FUNCTOR(Division, a / b)
__cub_FUNCTOR(Max, a < b ? b : a)
__cub_FUNCTOR(Min, b < a ? b : a)
__cub_FUNCTOR(Equality, a == b)
__cub_FUNCTOR(Inequality, a != b)
#undef __cub_FUNCTOR
// The result is the pair with the lower key if values are equal.
#define __cub_ARG(NAME, LEFT, RIGHT)                                                                                       \
    struct NAME {                                                                                                             \
        template <typename K, typename V>                                                                                     \
        __host__ __device__ KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {   \
            return LEFT.value < RIGHT.value || (a.value == b.value && b.key < a.key) ? b : a;                                 \
        }                                                                                                                     \
    };
__cub_ARG(ArgMax, a, b)
__cub_ARG(ArgMin, b, a)
#undef __cub_ARG
template <typename B> struct CastOp {
    template <typename A> __host__ __device__ B operator()(A&& a) const { return (B)a; }
};

__device__ inline int RowMajorTid(int x, int y, int z) {
    return (z == 1 ? 0 : threadIdx.z * x * y) + (y == 1 ? 0 : threadIdx.y * x) + threadIdx.x;
}
__device__ inline unsigned __wb_rank() { return RowMajorTid(blockDim.x, blockDim.y, blockDim.z); }
__device__ inline unsigned LaneId() { return __wb_rank() & 31u; }
__device__ inline unsigned WarpId() { return __wb_rank() >> 5; }
template <typename T> __device__ inline T __wb_shfl(const T& value, int lane, unsigned mask) {
    constexpr int count = (sizeof(T) + 3) / 4;
    unsigned word[count] = {};
    T result;
    __builtin_memcpy(word, &value, sizeof(T));
    for (int i = 0; i < count; ++i) word[i] = __shfl_sync(mask, word[i], lane);
    __builtin_memcpy(&result, word, sizeof(T));
    return result;
}
template <int N, typename T> __device__ inline T ShuffleUp(T input, int offset, int first, unsigned mask) {
    int lane = LaneId(), from = lane - offset;
    return __wb_shfl(input, from < lane - lane % N + first ? lane : from, mask);
}
template <int N, typename T> __device__ inline T ShuffleDown(T input, int offset, int last, unsigned mask) {
    int lane = LaneId(), from = lane + offset;
    return __wb_shfl(input, from > lane - lane % N + last ? lane : from, mask);
}
template <int N, typename T> __device__ inline T ShuffleIndex(T input, int from, unsigned mask) {
    int lane = LaneId();
    return __wb_shfl(input, lane - lane % N + from % N, mask);
}

// Neighbours first, then the warps in their order: a GPU rounds like this.
template <typename T, typename Op> __device__ inline T __wb_fold(T* s, int n, Op op) {
    for (int w = 0; w < n; w += 32) {
        int m = n - w < 32 ? n - w : 32;
        for (int step = 1; step < m; step *= 2)
            for (int i = w; i + step < w + m; i += 2 * step) s[i] = op(s[i], s[i + step]);
    }
    T all = s[0];
    for (int w = 32; w < n; w += 32) all = op(all, s[w]);
    return all;
}
template <typename T, typename Op> __device__ inline void __wb_scan(T* s, int n, Op op) {
    T all = s[0];
    for (int i = 1; i < n; ++i) {
        all = op(all, s[i]);
        s[i] = all;
    }
}

// A logical warp. A GPU needs no memory here, so texts share one TempStorage among warps, or
// have it among their locals: values go to shared memory of the block, unless they are large.
template <typename T, int N> struct __wb_warp {
    static_assert(N >= 1 && N <= 32, "a logical warp has 1 to 32 threads");
    static constexpr bool large = sizeof(T) > 16;
    struct TempStorage { alignas(T) unsigned char bytes[large ? N * sizeof(T) : 1]; };
    T* s;
    int lane, count;
    unsigned mask;
    static __device__ T* room() {
        alignas(T) __shared__ unsigned char bytes[1024 * sizeof(T)];
        return reinterpret_cast<T*>(bytes);
    }
    __device__ __wb_warp(TempStorage& temp) {
        int rank = __wb_rank(), base = rank & 31, threads = blockDim.x * blockDim.y * blockDim.z;
        lane = base % N;
        base -= lane;
        count = threads - (rank - lane) < N ? threads - (rank - lane) : N;
        count = count < 32 - base ? count : 32 - base;
        mask = 0xffffffffu >> (32 - count) << base;
        if constexpr (large) s = reinterpret_cast<T*>(temp.bytes);
        else s = room() + (rank - lane);
    }
    __device__ void sync() const {
        if constexpr (N == 32) __syncwarp();
        else __syncwarp(mask);
    }
    template <typename Op> __device__ T reduce(T x, Op op, int valid) const {
        s[lane] = x;
        sync();
        if (lane == 0) x = __wb_fold(s, valid < count ? valid : count, op);
        sync();
        return x;
    }
    // A bit of `stops` says that the lane is the last of its segment.
    template <typename Op> __device__ T segments(T x, unsigned stops, Op op) const {
        s[lane] = x;
        sync();
        if (lane == 0)
            for (int i = count - 2; i >= 0; --i)
                if (!(stops >> i & 1u)) s[i] = op(s[i], s[i + 1]);
        sync();
        x = s[lane];
        sync();
        return x;
    }
    // The scan of the lanes before (`before`; the first lane has none) and with this one (`with`).
    template <typename Op> __device__ void scan(T x, T& before, T& with, T& all, Op op) const {
        s[lane] = x;
        sync();
        if (lane == 0) __wb_scan(s, count, op);
        sync();
        before = lane ? s[lane - 1] : x;
        with = s[lane];
        all = s[count - 1];
        sync();
    }
    template <typename F> __device__ unsigned ballot(F flag) const {
        return __ballot_sync(mask, flag ? 1 : 0) >> ((__wb_rank() & 31u) - lane);
    }
};

template <typename T, int N = 32, int = 0> class WarpReduce {
    __wb_warp<T, N> __warp;

public:
    using TempStorage = typename __wb_warp<T, N>::TempStorage;
    __device__ WarpReduce(TempStorage& temp) : __warp(temp) {}
    template <typename Op> __device__ T Reduce(T x, Op op) { return __warp.reduce(x, op, N); }
    template <typename Op> __device__ T Reduce(T x, Op op, int valid) { return __warp.reduce(x, op, valid); }
    __device__ T Sum(T x) { return __warp.reduce(x, cub::Sum(), N); }
    __device__ T Sum(T x, int valid) { return __warp.reduce(x, cub::Sum(), valid); }
    template <typename F, typename Op> __device__ T HeadSegmentedReduce(T x, F head, Op op) {
        return __warp.segments(x, __warp.ballot(head) >> 1, op);
    }
    template <typename F, typename Op> __device__ T TailSegmentedReduce(T x, F tail, Op op) {
        return __warp.segments(x, __warp.ballot(tail), op);
    }
    template <typename F> __device__ T HeadSegmentedSum(T x, F head) { return HeadSegmentedReduce(x, head, cub::Sum()); }
    template <typename F> __device__ T TailSegmentedSum(T x, F tail) { return TailSegmentedReduce(x, tail, cub::Sum()); }
};

template <typename T, int N = 32, int = 0> class WarpScan {
    __wb_warp<T, N> __warp;
    template <typename Op> __device__ void __run(T x, T* with, T* before, const T* start, Op op, T& all) {
        T b, w;
        __warp.scan(x, b, w, all, op);
        if (with) *with = start ? T(op(*start, w)) : w;
        if (before) *before = !start ? b : __warp.lane ? T(op(*start, b)) : *start;
    }

public:
    using TempStorage = typename __wb_warp<T, N>::TempStorage;
    __device__ WarpScan(TempStorage& temp) : __warp(temp) {}
    template <typename... R> __device__ void InclusiveSum(T x, T& out, R&... all) { InclusiveScan(x, out, Sum(), all...); }
    template <typename... R> __device__ void ExclusiveSum(T x, T& out, R&... all) { ExclusiveScan(x, out, T{}, Sum(), all...); }
#define __cub_SCAN(NAME, WITH, BEFORE)                                                                                     \
    template <typename Op> __device__ void NAME(T x, T& out, Op op, T& all) { __run(x, WITH, BEFORE, nullptr, op, all); }     \
    template <typename Op> __device__ void NAME(T x, T& out, T start, Op op, T& all) { __run(x, WITH, BEFORE, &start, op, all); } \
    template <typename Op> __device__ void NAME(T x, T& out, Op op) { T all; NAME(x, out, op, all); }                         \
    template <typename Op> __device__ void NAME(T x, T& out, T start, Op op) { T all; NAME(x, out, start, op, all); }
    __cub_SCAN(InclusiveScan, &out, nullptr)
    __cub_SCAN(ExclusiveScan, nullptr, &out)
#undef __cub_SCAN
    template <typename Op> __device__ void Scan(T x, T& with, T& before, Op op) { T all; __run(x, &with, &before, nullptr, op, all); }
    template <typename Op> __device__ void Scan(T x, T& with, T& b, T start, Op op) { T all; __run(x, &with, &b, &start, op, all); }
    __device__ T Broadcast(T x, unsigned from) {
        __warp.s[__warp.lane] = x;
        __warp.sync();
        x = __warp.s[from];
        __warp.sync();
        return x;
    }
};

// Members of the block classes: room for N values of a type (bytes, as the type may have constructors), and the thread's rank.
template <typename T, int N> struct __wb_room {
    alignas(T) unsigned char bytes[N * sizeof(T)];
    __device__ T* at() { return reinterpret_cast<T*>(bytes); }
};
#define __cub_BLOCK(CLASS, ...)                                                                                            \
    static constexpr int __threads = BX * BY * BZ;                                                                            \
public:                                                                                                                       \
    struct TempStorage { __VA_ARGS__ };                                                                                       \
    __device__ CLASS(TempStorage& temp) : __temp(temp), __tid(RowMajorTid(BX, BY, BZ)) {}                                     \
    __device__ CLASS() : __temp(__own()), __tid(RowMajorTid(BX, BY, BZ)) {}                                                   \
private:                                                                                                                      \
    TempStorage& __temp;                                                                                                      \
    int __tid;                                                                                                                \
    static __device__ TempStorage& __own() {                                                                                  \
        __shared__ TempStorage own;                                                                                           \
        return own;                                                                                                           \
    }

template <typename T, int BX, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int BY = 1, int BZ = 1, int = 0>
class BlockReduce {
    __cub_BLOCK(BlockReduce, __wb_room<T, BX * BY * BZ> room;)

public:
    template <typename Op> __device__ T Reduce(T x, Op op, int valid) {
        T* s = __temp.room.at();
        s[__tid] = x;
        __syncthreads();
        if (__tid == 0) x = __wb_fold(s, valid < __threads ? valid : __threads, op);
        return x;
    }
    template <typename Op> __device__ T Reduce(T x, Op op) { return Reduce(x, op, __threads); }
    template <int N, typename Op> __device__ T Reduce(T (&items)[N], Op op) {
        T x = items[0];
        for (int i = 1; i < N; ++i) x = op(x, items[i]);
        return Reduce(x, op, __threads);
    }
    __device__ T Sum(T x) { return Reduce(x, cub::Sum(), __threads); }
    __device__ T Sum(T x, int valid) { return Reduce(x, cub::Sum(), valid); }
    template <int N> __device__ T Sum(T (&items)[N]) { return Reduce(items, cub::Sum()); }
};

// A type that is a prefix callback, and neither a start nor an aggregate.
template <typename T, typename Op, typename C>
using __wb_callback = std::enable_if_t<!std::is_same_v<C, T> && !std::is_same_v<Op, T> && !std::is_arithmetic_v<Op>>;

template <typename T, int BX, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int BY = 1, int BZ = 1, int = 0> class BlockScan {
    __cub_BLOCK(BlockScan, __wb_room<T, BX * BY * BZ + 1> room;)

    // The sum of all items before the thread; the first thread has none.
    template <int N, typename Op> __device__ T __before(T (&in)[N], Op op, T& all) {
        T* s = __temp.room.at();
        T x = in[0];
        for (int i = 1; i < N; ++i) x = op(x, in[i]);
        s[__tid] = x;
        __syncthreads();
        if (__tid == 0) __wb_scan(s, __threads, op);
        __syncthreads();
        all = s[__threads - 1];
        return __tid ? s[__tid - 1] : x;
    }
    template <bool Exclusive, int N, typename Op> __device__ void __put(T (&in)[N], T (&out)[N], T before, const T* start, Op op) {
        bool any = __tid || start;
        if (start) before = __tid ? T(op(*start, before)) : *start;
        for (int i = 0; i < N; ++i) {
            T with = any ? T(op(before, in[i])) : in[i];
            out[i] = Exclusive ? before : with;
            before = with;
            any = true;
        }
    }
    template <bool Exclusive, int N, typename Op> __device__ void __run(T (&in)[N], T (&out)[N], const T* start, Op op, T& all) {
        T before = __before(in, op, all);
        __put<Exclusive>(in, out, before, start, op);
    }
    template <bool Exclusive, int N, typename Op, typename C> __device__ void __run_call(T (&in)[N], T (&out)[N], Op op, C& call) {
        T* s = __temp.room.at() + __threads;
        T all, before = __before(in, op, all);
        if (__tid < 32) {
            T start = call(all);
            if (__tid == 0) *s = start;
        }
        __syncthreads();
        __put<Exclusive>(in, out, before, s, op);
    }

public:
    // A single item is an array of one.
#define __cub_ITEMS(NAME, ...) void NAME(T (&in)[N], T (&out)[N], __VA_ARGS__)
#define __cub_SCAN(NAME, EXCLUSIVE)                                                                                        \
    template <int N, typename Op> __device__ __cub_ITEMS(NAME, Op op, T& all) { __run<EXCLUSIVE>(in, out, nullptr, op, all); } \
    template <int N, typename Op> __device__ __cub_ITEMS(NAME, T start, Op op, T& all) { __run<EXCLUSIVE>(in, out, &start, op, all); } \
    template <int N, typename Op> __device__ __cub_ITEMS(NAME, Op op) { T all; NAME(in, out, op, all); }                   \
    template <int N, typename Op> __device__ __cub_ITEMS(NAME, T start, Op op) { T all; NAME(in, out, start, op, all); }   \
    template <int N, typename Op, typename C, typename = __wb_callback<T, Op, C>>                                             \
    __device__ __cub_ITEMS(NAME, Op op, C& call) { __run_call<EXCLUSIVE>(in, out, op, call); }                             \
    template <typename... R> __device__ void NAME(T x, T& out, R&&... rest) {                                                 \
        T in[1] = {x}, o[1];                                                                                                  \
        NAME(in, o, rest...);                                                                                                 \
        out = o[0];                                                                                                           \
    }
    __cub_SCAN(InclusiveScan, false)
    __cub_SCAN(ExclusiveScan, true)
#undef __cub_SCAN
#undef __cub_ITEMS
    template <int N, typename... R> __device__ void InclusiveSum(T (&in)[N], T (&out)[N], R&... rest) {
        InclusiveScan(in, out, Sum(), rest...);
    }
    template <typename... R> __device__ void InclusiveSum(T x, T& out, R&... rest) { InclusiveScan(x, out, Sum(), rest...); }
    template <int N> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N], T& all) { ExclusiveScan(in, out, T{}, Sum(), all); }
    template <int N> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N]) { ExclusiveScan(in, out, T{}, Sum()); }
    template <int N, typename C, typename = __wb_callback<T, Sum, C>>
    __device__ void ExclusiveSum(T (&in)[N], T (&out)[N], C& call) { ExclusiveScan(in, out, Sum(), call); }
    template <typename... R> __device__ void ExclusiveSum(T x, T& out, R&... rest) {
        T in[1] = {x}, o[1];
        ExclusiveSum(in, o, rest...);
        out = o[0];
    }
};

// The place `AT` of a thread's item `i`; items beyond the valid ones are left out.
#define __cub_DIRECT(LOAD, STORE, TEMPLATE, AT)                                                                            \
    template <TEMPLATE typename T, int N, typename It> __device__ inline void LOAD(int tid, It from, T (&items)[N]) {         \
        for (int i = 0; i < N; ++i) items[i] = from[AT];                                                                      \
    }                                                                                                                         \
    template <TEMPLATE typename T, int N, typename It> __device__ inline void LOAD(int tid, It from, T (&items)[N], int valid) { \
        for (int i = 0; i < N; ++i)                                                                                           \
            if (AT < valid) items[i] = from[AT];                                                                              \
    }                                                                                                                         \
    template <TEMPLATE typename T, typename D, int N, typename It>                                                            \
    __device__ inline void LOAD(int tid, It from, T (&items)[N], int valid, D rest) {                                         \
        for (int i = 0; i < N; ++i)                                                                                           \
            if (AT < valid) items[i] = from[AT];                                                                              \
            else items[i] = rest;                                                                                             \
    }                                                                                                                         \
    template <TEMPLATE typename T, int N, typename It> __device__ inline void STORE(int tid, It to, T (&items)[N]) {          \
        for (int i = 0; i < N; ++i) to[AT] = items[i];                                                                        \
    }                                                                                                                         \
    template <TEMPLATE typename T, int N, typename It> __device__ inline void STORE(int tid, It to, T (&items)[N], int valid) { \
        for (int i = 0; i < N; ++i)                                                                                           \
            if (AT < valid) to[AT] = items[i];                                                                                \
    }
#define __WB_COMMA ,
__cub_DIRECT(LoadDirectBlocked, StoreDirectBlocked, , tid * N + i)
__cub_DIRECT(LoadDirectStriped, StoreDirectStriped, int Threads __WB_COMMA, i * Threads + tid)
__cub_DIRECT(LoadDirectWarpStriped, StoreDirectWarpStriped, , (tid & ~31) * N + i * 32 + (tid & 31))
#undef __WB_COMMA
#undef __cub_DIRECT
template <typename T, int N> __device__ inline void LoadDirectBlockedVectorized(int tid, T* from, T (&items)[N]) {
    LoadDirectBlocked(tid, from, items);
}
template <typename T, int N> __device__ inline void StoreDirectBlockedVectorized(int tid, T* to, T (&items)[N]) {
    StoreDirectBlocked(tid, to, items);
}

template <typename T, int BX, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int BY = 1, int BZ = 1, int = 0> class BlockLoad {
    __cub_BLOCK(BlockLoad, char none;)

public:
    template <typename It, typename... R> __device__ void Load(It from, T (&items)[N], R... rest) {
        if constexpr (A == BLOCK_LOAD_STRIPED) LoadDirectStriped<BX * BY * BZ>(__tid, from, items, rest...);
        else LoadDirectBlocked(__tid, from, items, rest...);
    }
};
template <typename T, int BX, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int BY = 1, int BZ = 1, int = 0> class BlockStore {
    __cub_BLOCK(BlockStore, char none;)

public:
    template <typename It, typename... R> __device__ void Store(It to, T (&items)[N], R... rest) {
        if constexpr (A == BLOCK_STORE_STRIPED) StoreDirectStriped<BX * BY * BZ>(__tid, to, items, rest...);
        else StoreDirectBlocked(__tid, to, items, rest...);
    }
};

enum __wb_arrangement { __wb_blocked, __wb_striped, __wb_warp_striped };
template <typename T, int BX, int N, bool Slicing = false, int BY = 1, int BZ = 1, int = 0> class BlockExchange {
    __cub_BLOCK(BlockExchange, __wb_room<T, (BX * BY * BZ + 31) / 32 * 32 * N> room;)

    template <__wb_arrangement W> __device__ int __at(int i) const {
        return W == __wb_blocked ? __tid * N + i : W == __wb_striped ? i * __threads + __tid : (__tid & ~31) * N + i * 32 + (__tid & 31);
    }
    template <__wb_arrangement To, typename U, typename F> __device__ void __move(T (&in)[N], U (&out)[N], F place) {
        T* s = __temp.room.at();
        for (int i = 0; i < N; ++i) s[place(i)] = in[i];
        __syncthreads();
        for (int i = 0; i < N; ++i) out[i] = s[__at<To>(i)];
    }

public:
#define __cub_MOVE(NAME, FROM, TO)                                                                                         \
    template <typename U> __device__ void NAME(T (&in)[N], U (&out)[N]) {                                                     \
        __move<TO>(in, out, [&](int i) { return this->template __at<FROM>(i); });                                              \
    }                                                                                                                         \
    __device__ void NAME(T (&items)[N]) { NAME(items, items); }
    __cub_MOVE(StripedToBlocked, __wb_striped, __wb_blocked)
    __cub_MOVE(BlockedToStriped, __wb_blocked, __wb_striped)
    __cub_MOVE(WarpStripedToBlocked, __wb_warp_striped, __wb_blocked)
    __cub_MOVE(BlockedToWarpStriped, __wb_blocked, __wb_warp_striped)
#undef __cub_MOVE
#define __cub_SCATTER(NAME, TO)                                                                                            \
    template <typename U, typename O> __device__ void NAME(T (&in)[N], U (&out)[N], O (&ranks)[N]) {                          \
        __move<TO>(in, out, [&](int i) { return (int)ranks[i]; });                                                            \
    }                                                                                                                         \
    template <typename O> __device__ void NAME(T (&items)[N], O (&ranks)[N]) { NAME(items, items, ranks); }
    __cub_SCATTER(ScatterToBlocked, __wb_blocked)
    __cub_SCATTER(ScatterToStriped, __wb_striped)
#undef __cub_SCATTER
};

template <typename T, int BX, int BY = 1, int BZ = 1, int = 0> class BlockDiscontinuity {
    __cub_BLOCK(BlockDiscontinuity, __wb_room<T, BX * BY * BZ * 2> room;)

    // An operator may take the place of its second operand.
    template <typename Op> static __device__ auto __ask(Op op, const T& a, const T& b, unsigned at, int) -> decltype(bool(op(a, b, at))) {
        return op(a, b, at);
    }
    template <typename Op> static __device__ bool __ask(Op op, const T& a, const T& b, unsigned, long) { return op(a, b); }
    template <int N> __device__ void __offer(T (&in)[N]) {
        T* s = __temp.room.at();
        s[__tid] = in[N - 1];
        s[__threads + __tid] = in[0];
        __syncthreads();
    }
    template <int N, typename F, typename Op> __device__ void __heads(F (&flags)[N], T (&in)[N], Op op, const T* first) {
        T* s = __temp.room.at();
        if (__tid) flags[0] = __ask(op, s[__tid - 1], in[0], __tid * N, 0);
        else flags[0] = first ? __ask(op, *first, in[0], 0, 0) : true;
        for (int i = 1; i < N; ++i) flags[i] = __ask(op, in[i - 1], in[i], __tid * N + i, 0);
    }
    template <int N, typename F, typename Op> __device__ void __tails(F (&flags)[N], T (&in)[N], Op op, const T* last) {
        T* s = __temp.room.at() + __threads;
        for (int i = 0; i < N - 1; ++i) flags[i] = __ask(op, in[i], in[i + 1], __tid * N + i + 1, 0);
        if (__tid != __threads - 1) flags[N - 1] = __ask(op, in[N - 1], s[__tid + 1], __tid * N + N, 0);
        else flags[N - 1] = last ? __ask(op, in[N - 1], *last, __tid * N + N, 0) : true;
    }

public:
#define __cub_FLAGS template <int N, typename F, typename Op> __device__ void
    __cub_FLAGS FlagHeads(F (&heads)[N], T (&in)[N], Op op) { __offer(in); __heads(heads, in, op, nullptr); }
    __cub_FLAGS FlagHeads(F (&heads)[N], T (&in)[N], Op op, T first) { __offer(in); __heads(heads, in, op, &first); }
    __cub_FLAGS FlagTails(F (&tails)[N], T (&in)[N], Op op) { __offer(in); __tails(tails, in, op, nullptr); }
    __cub_FLAGS FlagTails(F (&tails)[N], T (&in)[N], Op op, T last) { __offer(in); __tails(tails, in, op, &last); }
    __cub_FLAGS FlagHeadsAndTails(F (&h)[N], F (&t)[N], T (&in)[N], Op op) { FlagHeads(h, in, op); __tails(t, in, op, nullptr); }
    __cub_FLAGS FlagHeadsAndTails(F (&h)[N], F (&t)[N], T last, T (&in)[N], Op op) { FlagHeads(h, in, op); __tails(t, in, op, &last); }
    __cub_FLAGS FlagHeadsAndTails(F (&h)[N], T a, F (&t)[N], T (&in)[N], Op op) { FlagHeads(h, in, op, a); __tails(t, in, op, nullptr); }
    __cub_FLAGS FlagHeadsAndTails(F (&h)[N], T a, F (&t)[N], T z, T (&in)[N], Op op) { FlagHeads(h, in, op, a); __tails(t, in, op, &z); }
#undef __cub_FLAGS
};

template <typename T, int BX, int BY = 1, int BZ = 1, int = 0> class BlockAdjacentDifference {
    __cub_BLOCK(BlockAdjacentDifference, __wb_room<T, BX * BY * BZ> room;)

    // The loop runs backwards, as input and output may be one array.
    template <int N, typename O, typename Op> __device__ void __left(T (&in)[N], O (&out)[N], Op op, int valid, const T* first) {
        T* s = __temp.room.at();
        s[__tid] = in[N - 1];
        __syncthreads();
        for (int i = N - 1; i > 0; --i) out[i] = __tid * N + i < valid ? O(op(in[i], in[i - 1])) : O(in[i]);
        if (__tid * N >= valid || (__tid == 0 && !first)) out[0] = in[0];
        else out[0] = op(in[0], __tid ? s[__tid - 1] : *first);
    }
    template <int N, typename O, typename Op> __device__ void __right(T (&in)[N], O (&out)[N], Op op, int valid, const T* last) {
        T* s = __temp.room.at();
        s[__tid] = in[0];
        __syncthreads();
        for (int i = 0; i < N - 1; ++i) out[i] = __tid * N + i + 1 < valid ? O(op(in[i], in[i + 1])) : O(in[i]);
        if (__tid == __threads - 1) out[N - 1] = last ? O(op(in[N - 1], *last)) : O(in[N - 1]);
        else out[N - 1] = __tid * N + N < valid ? O(op(in[N - 1], s[__tid + 1])) : O(in[N - 1]);
    }

public:
#define __cub_PAIRS template <int N, typename O, typename Op> __device__ void
    __cub_PAIRS SubtractLeft(T (&in)[N], O (&out)[N], Op op) { __left(in, out, op, __threads * N, nullptr); }
    __cub_PAIRS SubtractLeft(T (&in)[N], O (&out)[N], Op op, T first) { __left(in, out, op, __threads * N, &first); }
    __cub_PAIRS SubtractLeftPartialTile(T (&in)[N], O (&out)[N], Op op, int valid) { __left(in, out, op, valid, nullptr); }
    __cub_PAIRS SubtractLeftPartialTile(T (&in)[N], O (&out)[N], Op op, int valid, T first) { __left(in, out, op, valid, &first); }
    __cub_PAIRS SubtractRight(T (&in)[N], O (&out)[N], Op op) { __right(in, out, op, __threads * N, nullptr); }
    __cub_PAIRS SubtractRight(T (&in)[N], O (&out)[N], Op op, T last) { __right(in, out, op, __threads * N, &last); }
    __cub_PAIRS SubtractRightPartialTile(T (&in)[N], O (&out)[N], Op op, int valid) { __right(in, out, op, valid, nullptr); }
#undef __cub_PAIRS
};

template <typename T, int BX, int N, int Bins, BlockHistogramAlgorithm A = BLOCK_HISTO_SORT, int BY = 1, int BZ = 1, int = 0>
class BlockHistogram {
    __cub_BLOCK(BlockHistogram, unsigned count[Bins];)

public:
    template <typename C> __device__ void InitHistogram(C (&histogram)[Bins]) {
        for (int i = __tid; i < Bins; i += __threads) histogram[i] = 0;
    }
    // Counters may be of a type without atomics.
    template <typename C> __device__ void Composite(T (&items)[N], C (&histogram)[Bins]) {
        for (int i = __tid; i < Bins; i += __threads) __temp.count[i] = 0;
        __syncthreads();
        for (int i = 0; i < N; ++i) atomicAdd(&__temp.count[(int)items[i]], 1u);
        __syncthreads();
        for (int i = __tid; i < Bins; i += __threads) histogram[i] += __temp.count[i];
    }
    template <typename C> __device__ void Histogram(T (&items)[N], C (&h)[Bins]) { InitHistogram(h); Composite(items, h); }
};

// The bits of a key, transformed so that they have the order of the keys; the two zeros are one.
template <int Size> struct __wb_key_bits { using type = unsigned; };
template <> struct __wb_key_bits<1> { using type = unsigned char; };
template <> struct __wb_key_bits<2> { using type = unsigned short; };
template <> struct __wb_key_bits<8> { using type = unsigned long long; };
template <typename K> using __wb_bits_of = typename __wb_key_bits<sizeof(K)>::type;
template <typename K> __device__ inline __wb_bits_of<K> __wb_ordered(const K& key) {
    using U = __wb_bits_of<K>;
    constexpr U top = U(U(1) << (8 * sizeof(K) - 1));
    U bits;
    __builtin_memcpy(&bits, &key, sizeof(K));
    if constexpr (std::is_integral_v<K>) return std::is_signed_v<K> ? U(bits ^ top) : bits;
    else return bits & top ? (bits == top ? top : U(~bits)) : U(bits | top);
}

// Sorting of item numbers: stable, for items of any type. `N` items for each of `Threads`.
template <typename K, typename V, int N, int Threads> struct __wb_sorter {
    union {
        __wb_room<K, N * Threads> keys;
        __wb_room<V, N * Threads> values;
    };
    unsigned short order[2][N * Threads];

    template <typename T> __device__ void offer(T* room, T* items, int tid) {
        for (int i = 0; i < N; ++i) room[tid * N + i] = items[i];
        __syncthreads();
    }
    template <bool Striped, typename T> __device__ void take(T* room, T* items, int tid, int side, int valid) {
        for (int i = 0; i < N; ++i) {
            int at = Striped ? i * Threads + tid : tid * N + i;
            if (at < valid) items[i] = room[order[side][at]];
        }
    }
    template <bool Striped> __device__ void finish(K* k, V* v, int tid, int side, int valid) {
        __syncthreads();
        take<Striped>(keys.at(), k, tid, side, valid);
        if (!v) return;
        __syncthreads();
        offer(values.at(), v, tid);
        take<Striped>(values.at(), v, tid, side, valid);
    }
};

template <typename K, int BX, int N, typename V = NullType, int Radix = 4, bool Memoize = true,
          BlockScanAlgorithm A = BLOCK_SCAN_WARP_SCANS, auto Banks = 0, int BY = 1, int BZ = 1, int = 0>
class BlockRadixSort {
    __cub_BLOCK(BlockRadixSort, __wb_sorter<K, V, N, BX * BY * BZ> sorter; unsigned count[256];)

    template <bool Down> __device__ unsigned __digit(int at, int bit, int bits) {
        auto x = __wb_ordered(__temp.sorter.keys.at()[at]);
        return (unsigned)((Down ? ~x : x) >> bit) & ((1u << bits) - 1);
    }
    template <bool Down, bool Striped> __device__ void __sort(K (&keys)[N], V* values, int begin, int end) {
        constexpr int n = __threads * N;
        __temp.sorter.offer(__temp.sorter.keys.at(), keys, __tid);
        if (__tid == 0) {
            unsigned *count = __temp.count, side = 0;
            for (int i = 0; i < n; ++i) __temp.sorter.order[0][i] = (unsigned short)i;
            for (int bit = begin; bit < end; bit += 8, side ^= 1) {
                int bits = end - bit < 8 ? end - bit : 8;
                unsigned sum = 0;
                for (int d = 0; d < 256; ++d) count[d] = 0;
                for (int i = 0; i < n; ++i) ++count[__digit<Down>(i, bit, bits)];
                for (int d = 0; d < 256; ++d) {
                    sum += count[d];
                    count[d] = sum - count[d];
                }
                for (int i = 0; i < n; ++i) {
                    unsigned short at = __temp.sorter.order[side][i];
                    __temp.sorter.order[side ^ 1][count[__digit<Down>(at, bit, bits)]++] = at;
                }
            }
        }
        __temp.sorter.template finish<Striped>(keys, values, __tid, (end - begin + 7) / 8 & 1, n);
    }

public:
#define __cub_SORT(NAME, DOWN, STRIPED)                                                                                    \
    __device__ void NAME(K (&k)[N], int begin = 0, int end = 8 * sizeof(K)) { __sort<DOWN, STRIPED>(k, nullptr, begin, end); } \
    __device__ void NAME(K (&k)[N], V (&v)[N], int begin = 0, int end = 8 * sizeof(K)) { __sort<DOWN, STRIPED>(k, v, begin, end); }
    __cub_SORT(Sort, false, false)
    __cub_SORT(SortDescending, true, false)
    __cub_SORT(SortBlockedToStriped, false, true)
    __cub_SORT(SortDescendingBlockedToStriped, true, true)
#undef __cub_SORT
};

template <typename K, int BX, int N, typename V = NullType, int BY = 1, int BZ = 1> class BlockMergeSort {
    __cub_BLOCK(BlockMergeSort, __wb_sorter<K, V, N, BX * BY * BZ> sorter;)

    template <typename Less> __device__ void __sort(K (&keys)[N], V* values, Less less, int n) {
        K* k = __temp.sorter.keys.at();
        __temp.sorter.offer(k, keys, __tid);
        int side = 0;
        if (__tid == 0)
            for (int i = 0; i < n; ++i) __temp.sorter.order[0][i] = (unsigned short)i;
        for (int run = 1; run < n; run *= 2, side ^= 1) {
            unsigned short *from = __temp.sorter.order[side], *to = __temp.sorter.order[side ^ 1];
            if (__tid == 0)
                for (int start = 0; start < n; start += 2 * run) {
                    int middle = start + run < n ? start + run : n, end = middle + run < n ? middle + run : n;
                    for (int a = start, b = middle, i = start; i < end; ++i) {
                        bool right = a == middle || (b < end && less(k[from[b]], k[from[a]]));
                        to[i] = from[right ? b++ : a++];
                    }
                }
        }
        __temp.sorter.template finish<false>(keys, values, __tid, side, n);
    }
    __device__ int __fill(K (&keys)[N], int valid, K rest) {
        for (int i = 0; i < N; ++i)
            if (__tid * N + i >= valid) keys[i] = rest;
        return valid;
    }

public:
#define __cub_SORT(NAME)                                                                                                   \
    template <typename L> __device__ void NAME(K (&k)[N], L less) { __sort(k, nullptr, less, __threads * N); }                \
    template <typename L> __device__ void NAME(K (&k)[N], V (&v)[N], L less) { __sort(k, v, less, __threads * N); }           \
    template <typename L> __device__ void NAME(K (&k)[N], L less, int valid, K rest) {                                        \
        __sort(k, nullptr, less, __fill(k, valid, rest));                                                                     \
    }                                                                                                                         \
    template <typename L> __device__ void NAME(K (&k)[N], V (&v)[N], L less, int valid, K rest) {                             \
        __sort(k, v, less, __fill(k, valid, rest));                                                                           \
    }
    __cub_SORT(Sort)
    __cub_SORT(StableSort)
#undef __cub_SORT
};
#undef __cub_BLOCK

}
#undef cub

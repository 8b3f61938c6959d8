namespace cooperative_groups {

__device__ inline unsigned __wb_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline unsigned __wb_threads() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ inline unsigned __wb_lane() { return __wb_rank() & 31u; }
// The lanes of the block's warp that this thread is in.
__device__ inline unsigned __wb_warp_mask() {
    unsigned rest = __wb_threads() - (__wb_rank() & ~31u);
    return rest >= 32 ? 0xffffffffu : (1u << rest) - 1;
}

// A value of any type that can be copied by its bytes, exchanged word by word.
template <typename T> struct __wb_words {
    static constexpr unsigned count = (sizeof(T) + 3) / 4;
    unsigned word[count];
    __device__ explicit __wb_words(const T& value) {
        word[count - 1] = 0;
        __builtin_memcpy(word, &value, sizeof(T));
    }
    __device__ T value() const {
        T result;
        __builtin_memcpy(&result, word, sizeof(T));
        return result;
    }
};
template <typename T> __device__ inline T __wb_shfl(unsigned mask, const T& value, unsigned from, unsigned width) {
    __wb_words<T> w(value);
    for (unsigned i = 0; i < w.count; ++i) w.word[i] = __shfl_sync(mask, w.word[i], from, width);
    return w.value();
}
template <typename T> __device__ inline T __wb_shfl_up(unsigned mask, const T& value, unsigned delta, unsigned width) {
    __wb_words<T> w(value);
    for (unsigned i = 0; i < w.count; ++i) w.word[i] = __shfl_up_sync(mask, w.word[i], delta, width);
    return w.value();
}
template <typename T> __device__ inline T __wb_shfl_down(unsigned mask, const T& value, unsigned delta, unsigned width) {
    __wb_words<T> w(value);
    for (unsigned i = 0; i < w.count; ++i) w.word[i] = __shfl_down_sync(mask, w.word[i], delta, width);
    return w.value();
}
template <typename T> __device__ inline T __wb_shfl_xor(unsigned mask, const T& value, unsigned bits, unsigned width) {
    __wb_words<T> w(value);
    for (unsigned i = 0; i < w.count; ++i) w.word[i] = __shfl_xor_sync(mask, w.word[i], bits, width);
    return w.value();
}

// A group of any kind: the threads of the block, or those of a warp that the mask names.
class thread_group {
protected:
    unsigned __mask;  // 0: the whole block
    __device__ explicit thread_group(unsigned mask) : __mask(mask) {}
    friend __device__ thread_group tiled_partition(const thread_group& parent, unsigned size);

public:
    using size_type = unsigned long long;
    __device__ unsigned long long num_threads() const { return __mask ? __popc(__mask) : __wb_threads(); }
    __device__ unsigned long long size() const { return num_threads(); }
    __device__ unsigned long long thread_rank() const {
        return __mask ? __popc(__mask & ((1u << __wb_lane()) - 1)) : __wb_rank();
    }
    __device__ bool is_valid() const { return true; }
    __device__ void sync() const {
        if (__mask) __syncwarp(__mask);
        else __syncthreads();
    }
};

class thread_block : public thread_group {
    __device__ thread_block() : thread_group(0) {}
    friend __device__ thread_block this_thread_block();

public:
    struct arrival_token {};
    __device__ static unsigned thread_rank() { return __wb_rank(); }
    __device__ static unsigned num_threads() { return __wb_threads(); }
    __device__ static unsigned size() { return __wb_threads(); }
    __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    __device__ static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    __device__ static dim3 dim_threads() { return group_dim(); }
    __device__ static void sync() { __syncthreads(); }
    // Threads meet in the wait: arriving does nothing.
    __device__ arrival_token barrier_arrive() const { return arrival_token(); }
    __device__ void barrier_wait(arrival_token&&) const { __syncthreads(); }
};
__device__ inline thread_block this_thread_block() { return thread_block(); }

// The functions of a grid that need no meeting of its blocks.
class grid_group {
    __device__ grid_group() {}
    friend __device__ grid_group this_grid();

public:
    __device__ static unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __device__ static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    __device__ static unsigned long long thread_rank() { return block_rank() * __wb_threads() + __wb_rank(); }
    __device__ static unsigned long long num_threads() { return num_blocks() * __wb_threads(); }
    __device__ static unsigned long long size() { return num_threads(); }
    __device__ static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ static dim3 dim_blocks() { return group_dim(); }
    __device__ static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ static bool is_valid() { return false; }
    void sync() const = delete;
};
__device__ inline grid_group this_grid() { return grid_group(); }

// Threads of a warp, in the order of their lanes.
class coalesced_group : public thread_group {
    unsigned __parts, __part;
    __device__ explicit coalesced_group(unsigned mask, unsigned parts = 1, unsigned part = 0)
        : thread_group(mask), __parts(parts), __part(part) {}
    // The lane of a rank.
    __device__ unsigned __lane(unsigned rank) const { return __fns(__mask, 0, rank + 1) & 31u; }
    // A mask over ranks, from one over lanes.
    __device__ unsigned __pack(unsigned lanes) const {
        unsigned ranks = 0, rank = 0;
        for (unsigned rest = __mask; rest; rest &= rest - 1) ranks |= (lanes >> (__ffs(rest) - 1) & 1u) << rank++;
        return ranks;
    }
    friend __device__ coalesced_group coalesced_threads();
    template <typename G> friend __device__ coalesced_group binary_partition(const G& group, bool predicate);
    template <typename G, typename L> friend __device__ coalesced_group labeled_partition(const G& group, L label);

public:
    __device__ unsigned num_threads() const { return __popc(__mask); }
    __device__ unsigned size() const { return __popc(__mask); }
    __device__ unsigned thread_rank() const { return __popc(__mask & ((1u << __wb_lane()) - 1)); }
    __device__ unsigned meta_group_rank() const { return __part; }
    __device__ unsigned meta_group_size() const { return __parts; }
    __device__ void sync() const { __syncwarp(__mask); }
    __device__ unsigned __lanes() const { return __mask; }
    template <typename T> __device__ T shfl(const T& value, unsigned rank) const {
        return __wb_shfl(__mask, value, __lane(rank % size()), 32u);
    }
    template <typename T> __device__ T shfl_up(const T& value, unsigned delta) const {
        unsigned rank = thread_rank();
        return __wb_shfl(__mask, value, __lane(rank < delta ? rank : rank - delta), 32u);
    }
    template <typename T> __device__ T shfl_down(const T& value, unsigned delta) const {
        unsigned rank = thread_rank();
        return __wb_shfl(__mask, value, __lane(delta >= size() - rank ? rank : rank + delta), 32u);
    }
    __device__ int any(int predicate) const { return __any_sync(__mask, predicate); }
    __device__ int all(int predicate) const { return __all_sync(__mask, predicate); }
    __device__ unsigned ballot(int predicate) const { return __pack(__ballot_sync(__mask, predicate)); }
    template <typename T> __device__ unsigned match_any(T value) const { return __pack(__match_any_sync(__mask, value)); }
    template <typename T> __device__ unsigned match_all(T value, int& predicate) const {
        return __pack(__match_all_sync(__mask, value, &predicate));
    }
};
__device__ inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// A tile of neighbouring threads of a warp.
template <unsigned Size, typename Parent = void> class thread_block_tile : public thread_group {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has a power of two of threads, at most 32");
    static __device__ unsigned __base() { return __wb_lane() & ~(Size - 1); }
    static __device__ unsigned __own() { return (0xffffffffu >> (32 - Size) << __base()) & __wb_warp_mask(); }
    unsigned __parts, __part;
    __device__ thread_block_tile(unsigned parts, unsigned part) : thread_group(__own()), __parts(parts), __part(part) {}
    template <unsigned S, typename P> friend __device__ thread_block_tile<S, P> tiled_partition(const P& parent);

public:
    // A tile of a block forgets its parent.
    template <typename P> __device__ thread_block_tile(const thread_block_tile<Size, P>& other)
        : thread_group(other.__lanes()), __parts(other.meta_group_size()), __part(other.meta_group_rank()) {}
    static constexpr __device__ unsigned num_threads() { return Size; }
    static constexpr __device__ unsigned size() { return Size; }
    static __device__ unsigned thread_rank() { return __wb_lane() & (Size - 1); }
    __device__ unsigned meta_group_rank() const { return __part; }
    __device__ unsigned meta_group_size() const { return __parts; }
    __device__ void sync() const { __syncwarp(__mask); }
    __device__ unsigned __lanes() const { return __mask; }
    template <typename T> __device__ T shfl(const T& value, int rank) const { return __wb_shfl(__mask, value, rank, Size); }
    template <typename T> __device__ T shfl_up(const T& value, unsigned delta) const {
        return __wb_shfl_up(__mask, value, delta, Size);
    }
    template <typename T> __device__ T shfl_down(const T& value, unsigned delta) const {
        return __wb_shfl_down(__mask, value, delta, Size);
    }
    template <typename T> __device__ T shfl_xor(const T& value, unsigned bits) const {
        return __wb_shfl_xor(__mask, value, bits, Size);
    }
    __device__ int any(int predicate) const { return __any_sync(__mask, predicate); }
    __device__ int all(int predicate) const { return __all_sync(__mask, predicate); }
    __device__ unsigned ballot(int predicate) const { return __ballot_sync(__mask, predicate) >> __base(); }
    template <typename T> __device__ unsigned match_any(T value) const {
        return __match_any_sync(__mask, value) >> __base();
    }
    template <typename T> __device__ unsigned match_all(T value, int& predicate) const {
        return __match_all_sync(__mask, value, &predicate) >> __base();
    }
};

template <unsigned Size, typename Parent> __device__ inline thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    unsigned threads = parent.size();
    return thread_block_tile<Size, Parent>((threads + Size - 1) / Size, parent.thread_rank() / Size);
}
__device__ inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
    unsigned base = __wb_lane() & ~(size - 1);
    unsigned lanes = (0xffffffffu >> (32 - size) << base) & __wb_warp_mask();
    return thread_group(parent.__mask ? parent.__mask & lanes : lanes);
}
template <typename G> __device__ inline coalesced_group binary_partition(const G& group, bool predicate) {
    unsigned yes = __ballot_sync(group.__lanes(), predicate);
    return coalesced_group(predicate ? yes : group.__lanes() & ~yes, 2, predicate);
}
template <typename G, typename L> __device__ inline coalesced_group labeled_partition(const G& group, L label) {
    unsigned mine = __match_any_sync(group.__lanes(), label), parts = 0, part = 0;
    // Parts are counted by their first lanes.
    unsigned first = __ballot_sync(group.__lanes(), (mine & ((1u << __wb_lane()) - 1)) == 0);
    parts = __popc(first);
    part = __popc(first & ((1u << (__ffs(mine) - 1)) - 1));
    return coalesced_group(mine, parts, part);
}

template <typename G> __device__ inline void sync(const G& group) { group.sync(); }

template <typename T = void> struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <typename T = void> struct less {
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T = void> struct greater {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T = void> struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};
template <typename T = void> struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};
template <typename T = void> struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};

// Neighbours first, then pairs of neighbours: every thread gets the result.
template <unsigned Size, typename P, typename T, typename F>
__device__ inline T reduce(const thread_block_tile<Size, P>& group, T value, F&& op) {
    unsigned have = __popc(group.__lanes());
    if (have == Size) {
        for (unsigned step = Size / 2; step > 0; step /= 2) value = op(value, group.shfl_xor(value, step));
        return value;
    }
    T all = group.shfl(value, 0);
    for (unsigned rank = 1; rank < have; ++rank) all = op(all, group.shfl(value, rank));
    return all;
}
template <typename T, typename F> __device__ inline T reduce(const coalesced_group& group, T value, F&& op) {
    T all = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.size(); ++rank) all = op(all, group.shfl(value, rank));
    return all;
}
template <typename G, typename T, typename F> __device__ inline T inclusive_scan(const G& group, T value, F&& op) {
    unsigned rank = group.thread_rank(), have = __popc(group.__lanes());
    for (unsigned step = 1; step < have; step *= 2) {
        T left = group.shfl_up(value, step);
        if (rank >= step) value = op(left, value);
    }
    return value;
}
template <typename G, typename T> __device__ inline T inclusive_scan(const G& group, T value) {
    return inclusive_scan(group, value, plus<T>());
}
template <typename G, typename T, typename F> __device__ inline T exclusive_scan(const G& group, T value, F&& op) {
    T left = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T() : left;
}
template <typename G, typename T> __device__ inline T exclusive_scan(const G& group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

template <typename G, typename F, typename... A> __device__ inline void invoke_one(const G& group, F&& f, A&&... args) {
    if (group.thread_rank() == 0) f(args...);
}
template <typename G, typename F, typename... A> __device__ inline auto invoke_one_broadcast(const G& group, F&& f, A&&... args) {
    decltype(f(args...)) result{};
    if (group.thread_rank() == 0) result = f(args...);
    return group.shfl(result, 0);
}

// Asynchronous copies: the threads of the group copy the bytes among them, and the copy is complete after `wait`.
template <typename G> __device__ inline void memcpy_async(const G& group, void* to, const void* from, size_t bytes) {
    for (size_t i = group.thread_rank(); i < bytes; i += group.size())
        static_cast<unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
}
template <typename G, typename T> __device__ inline void memcpy_async(const G& group, T* to, const T* from, size_t bytes) {
    size_t whole = bytes / sizeof(T);
    for (size_t i = group.thread_rank(); i < whole; i += group.size()) to[i] = from[i];
    memcpy_async(group, static_cast<void*>(to + whole), static_cast<const void*>(from + whole), bytes - whole * sizeof(T));
}
template <typename G> __device__ inline void wait(const G& group) { group.sync(); }
template <unsigned Stages, typename G> __device__ inline void wait_prior(const G& group) { group.sync(); }

}

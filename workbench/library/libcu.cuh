// libcu++: atomics, barriers, pipelines and copies of namespace `cuda`, for device code. Threads of a block are walked together from split
// to split, so a thread that waits first lets all threads at the same place arrive; a wait that they cannot end is the fault `NoProgress`.
namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {

using namespace ::std;
enum memory_order {
    memory_order_relaxed,
    memory_order_consume,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
};
template <typename T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <typename T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
#define __WB_MATH(name) \
    template <typename T> __host__ __device__ auto name(T x) { return ::name(x); }
__WB_MATH(abs)
__WB_MATH(sqrt)
__WB_MATH(cbrt)
__WB_MATH(exp)
__WB_MATH(exp2)
__WB_MATH(expm1)
__WB_MATH(log)
__WB_MATH(log2)
__WB_MATH(log10)
__WB_MATH(log1p)
__WB_MATH(sin)
__WB_MATH(cos)
__WB_MATH(tan)
__WB_MATH(asin)
__WB_MATH(acos)
__WB_MATH(atan)
__WB_MATH(sinh)
__WB_MATH(cosh)
__WB_MATH(tanh)
__WB_MATH(erf)
__WB_MATH(floor)
__WB_MATH(ceil)
__WB_MATH(round)
__WB_MATH(trunc)
__WB_MATH(isnan)
__WB_MATH(isinf)
__WB_MATH(isfinite)
#undef __WB_MATH
#define __WB_MATH(name) \
    template <typename T> __host__ __device__ auto name(T x, T y) { return ::name(x, y); }
__WB_MATH(pow)
__WB_MATH(fmin)
__WB_MATH(fmax)
__WB_MATH(fmod)
__WB_MATH(hypot)
__WB_MATH(atan2)
__WB_MATH(copysign)
#undef __WB_MATH
template <typename T> __host__ __device__ auto fma(T x, T y, T z) { return ::fma(x, y, z); }

}
using std::memory_order;
using std::memory_order_relaxed;
using std::memory_order_consume;
using std::memory_order_acquire;
using std::memory_order_release;
using std::memory_order_acq_rel;
using std::memory_order_seq_cst;

// The point that all threads of the block that are here have reached.
__device__ inline void __wb_meet() { (void)__activemask(); }
__device__ inline void __wb_fence(int order, thread_scope scope) {
    if (order == memory_order_relaxed) return;
    if (scope == thread_scope_block) __threadfence_block();
    else if (scope != thread_scope_thread) __threadfence();
}
__device__ inline void atomic_thread_fence(int order, thread_scope scope = thread_scope_system) { __wb_fence(order, scope); }
namespace std {
__device__ inline void atomic_thread_fence(int order) { __wb_fence(order, thread_scope_system); }
}

// Atomic operations on memory that holds a value, seen as a word. A smaller value is the lower part of a word of its own.
template <typename T, thread_scope S> struct __wb_atomics {
    static_assert(sizeof(T) <= 8, "an atomic is of at most 8 bytes here");
    static_assert(!::std::is_pointer_v<T>, "an atomic pointer is not supported: keep an index");
    using Word = ::std::conditional_t<sizeof(T) <= 4, unsigned, unsigned long long>;
    static constexpr bool whole = sizeof(T) == sizeof(Word);
    static constexpr bool number = whole && ::std::is_integral_v<T>, real = whole && ::std::is_floating_point_v<T>;
    using Short = ::std::conditional_t<::std::is_signed_v<T>, int, unsigned>;
    using Number = ::std::conditional_t<real, T, ::std::conditional_t<sizeof(T) == 8, unsigned long long, Short>>;
    using Ordered = ::std::conditional_t<sizeof(T) == 8 && ::std::is_signed_v<T> && !real, long long, Number>;

    __device__ static Word bits(Word word, const T& value) {
        __builtin_memcpy(&word, &value, sizeof(T));
        return word;
    }
    __device__ static T value(Word word) {
        T value;
        __builtin_memcpy(&value, &word, sizeof(T));
        return value;
    }
    __device__ static T load(const T* at, int order) {
        T now = value(*(const volatile Word*)at);
        __wb_fence(order, S);
        return now;
    }
    __device__ static T exchange(T* at, const T& next) {
        if constexpr (whole) return value(atomicExch((Word*)at, bits(0, next)));
        else return update(at, [&](const T&) { return next; });
    }
    __device__ static void store(T* at, const T& next, int order) {
        __wb_fence(order, S);
        exchange(at, next);
    }
    __device__ static bool swap_if(T* at, T& expected, const T& next) {
        Word word = *(const volatile Word*)at, wanted = bits(word, expected);
        if (!whole && wanted != word) {
            expected = value(word);
            return false;
        }
        Word old = atomicCAS((Word*)at, wanted, bits(wanted, next));
        if (old == wanted) return true;
        expected = value(old);
        return false;
    }
    template <typename F> __device__ static T update(T* at, const F& f) {
        Word word = *(const volatile Word*)at, old = word;
        while ((old = atomicCAS((Word*)at, word, bits(word, f(value(word))))) != word) word = old;
        return value(old);
    }
    __device__ static T add(T* at, T n) {
        if constexpr (number || real) return (T)atomicAdd((Number*)at, (Number)n);
        else return update(at, [=](T x) { return (T)(x + n); });
    }
#define __WB_ATOMIC(name, call, as, expression) \
    __device__ static T name(T* at, T n) { \
        if constexpr (number) return (T)call((as*)at, (as)n); \
        else return update(at, [=](T x) { return (T)(expression); }); \
    }
    __WB_ATOMIC(least, atomicMin, Ordered, n < x ? n : x)
    __WB_ATOMIC(most, atomicMax, Ordered, x < n ? n : x)
    __WB_ATOMIC(both, atomicAnd, Number, x & n)
    __WB_ATOMIC(either, atomicOr, Number, x | n)
    __WB_ATOMIC(one, atomicXor, Number, x ^ n)
#undef __WB_ATOMIC
};

// Members that atomics and references to values have in common; `at` is the place of the value.
#define __WB_ATOMICS(name, at, maybe) \
    using value_type = T; \
    static constexpr bool is_always_lock_free = true; \
    __device__ bool is_lock_free() const { return true; } \
    __device__ T load(int order = memory_order_seq_cst) const { return All::load(at, order); } \
    __device__ operator T() const { return load(); } \
    __device__ void store(T next, int order = memory_order_seq_cst) maybe { All::store(at, next, order); } \
    __device__ T operator=(T next) maybe { \
        store(next); \
        return next; \
    } \
    __device__ T exchange(T next, int order = memory_order_seq_cst) maybe { \
        __wb_fence(order, S); \
        return All::exchange(at, next); \
    } \
    __device__ bool compare_exchange_strong(T& expected, T next, int order = memory_order_seq_cst) maybe { \
        __wb_fence(order, S); \
        return All::swap_if(at, expected, next); \
    } \
    __device__ bool compare_exchange_strong(T& expected, T next, int order, int) maybe { \
        return compare_exchange_strong(expected, next, order); \
    } \
    __device__ bool compare_exchange_weak(T& expected, T next, int order = memory_order_seq_cst) maybe { \
        return compare_exchange_strong(expected, next, order); \
    } \
    __device__ bool compare_exchange_weak(T& expected, T next, int order, int) maybe { \
        return compare_exchange_strong(expected, next, order); \
    } \
    __WB_FETCH(fetch_add, add, n, at, maybe) \
    __WB_FETCH(fetch_sub, add, (T)(0 - n), at, maybe) \
    __WB_FETCH(fetch_min, least, n, at, maybe) \
    __WB_FETCH(fetch_max, most, n, at, maybe) \
    __WB_FETCH(fetch_and, both, n, at, maybe) \
    __WB_FETCH(fetch_or, either, n, at, maybe) \
    __WB_FETCH(fetch_xor, one, n, at, maybe) \
    __device__ T operator++() maybe { return (T)(fetch_add((T)1) + 1); } \
    __device__ T operator++(int) maybe { return fetch_add((T)1); } \
    __device__ T operator--() maybe { return (T)(fetch_sub((T)1) - 1); } \
    __device__ T operator--(int) maybe { return fetch_sub((T)1); } \
    __device__ T operator+=(T n) maybe { return (T)(fetch_add(n) + n); } \
    __device__ T operator-=(T n) maybe { return (T)(fetch_sub(n) - n); } \
    __device__ T operator&=(T n) maybe { return (T)(fetch_and(n) & n); } \
    __device__ T operator|=(T n) maybe { return (T)(fetch_or(n) | n); } \
    __device__ T operator^=(T n) maybe { return (T)(fetch_xor(n) ^ n); } \
    __device__ void wait(T old, int order = memory_order_seq_cst) const { \
        __wb_meet(); \
        while (All::load(at, memory_order_relaxed) == old) {} \
        __wb_fence(order, S); \
    } \
    __device__ void notify_one() maybe {} \
    __device__ void notify_all() maybe {}
#define __WB_FETCH(name, operation, value, at, maybe) \
    __device__ T name(T n, int order = memory_order_seq_cst) maybe { \
        __wb_fence(order, S); \
        return All::operation(at, value); \
    }
template <typename T, thread_scope S = thread_scope_system> class atomic {
    using All = __wb_atomics<T, S>;
    alignas(sizeof(T) <= 4 ? 4 : 8) T value_;

public:
    atomic() = default;
    __host__ __device__ constexpr atomic(T value) : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    __WB_ATOMICS(atomic, (T*)&value_, )
};
template <typename T, thread_scope S = thread_scope_system> class atomic_ref {
    using All = __wb_atomics<T, S>;
    static_assert(All::whole, "a reference to a value of 4 or 8 bytes: smaller ones share their word with others");
    T* at_;

public:
    static constexpr size_t required_alignment = sizeof(T);
    __device__ explicit atomic_ref(T& value) : at_(&value) {}
    __device__ atomic_ref(const atomic_ref& other) : at_(other.at_) {}
    __WB_ATOMICS(atomic_ref, at_, const)
};
#undef __WB_ATOMICS
#undef __WB_FETCH
template <thread_scope S> class __wb_flag {
    atomic<unsigned, S> set_;

public:
    __wb_flag() = default;
    __host__ __device__ constexpr __wb_flag(bool set) : set_(set) {}
    __device__ bool test(int order = memory_order_seq_cst) const { return set_.load(order) != 0; }
    __device__ bool test_and_set(int order = memory_order_seq_cst) { return set_.exchange(1, order) != 0; }
    __device__ void clear(int order = memory_order_seq_cst) { set_.store(0, order); }
};
template <thread_scope S = thread_scope_system> using atomic_flag = __wb_flag<S>;

// The default completion function of a barrier: it does nothing.
struct __wb_nothing {
    __host__ __device__ void operator()() const {}
};
// The phase of a barrier ends when the expected number of threads have arrived.
template <thread_scope S, typename F = __wb_nothing> class barrier {
    unsigned expected_, left_, phase_;
    F done_;

public:
    using arrival_token = unsigned;
    barrier() = default;
    __device__ explicit barrier(ptrdiff_t expected, F done = F())
        : expected_((unsigned)expected), left_((unsigned)expected), phase_(0), done_(done) {}
    barrier(const barrier&) = delete;
    __device__ void __wb_init(ptrdiff_t expected, F done) {
        expected_ = left_ = (unsigned)expected;
        phase_ = 0;
        done_ = done;
        __wb_fence(memory_order_seq_cst, S);
    }
    static constexpr ptrdiff_t max() { return 0xfffff; }
    __device__ unsigned arrive(ptrdiff_t n = 1) {
        unsigned phase = *(volatile unsigned*)&phase_;
        assert(n > 0 && "cuda::barrier: at least one arrives");
        __wb_fence(memory_order_release, S);
        unsigned left = atomicSub(&left_, (unsigned)n);
        assert(left >= (unsigned)n && "cuda::barrier: more threads arrive than it was initialised for");
        if (left == (unsigned)n) {
            done_();
            atomicExch(&left_, atomicAdd(&expected_, 0u));
            __wb_fence(memory_order_release, S);
            atomicAdd(&phase_, 1u);
        }
        return phase;
    }
    __device__ bool try_wait(const unsigned& token) const {
        __wb_meet();
        bool over = *(const volatile unsigned*)&phase_ != token;
        __wb_fence(memory_order_acquire, S);
        return over;
    }
    __device__ bool try_wait_parity(bool parity) const {
        __wb_meet();
        bool over = (*(const volatile unsigned*)&phase_ & 1) != (unsigned)parity;
        __wb_fence(memory_order_acquire, S);
        return over;
    }
    __device__ void wait(const unsigned& token) const {
        __wb_meet();
        while (*(const volatile unsigned*)&phase_ == token) {}
        __wb_fence(memory_order_acquire, S);
    }
    __device__ void wait_parity(bool parity) const {
        __wb_meet();
        while ((*(const volatile unsigned*)&phase_ & 1) == (unsigned)parity) {}
        __wb_fence(memory_order_acquire, S);
    }
    __device__ void arrive_and_wait() { wait(arrive()); }
    __device__ void arrive_and_drop() {
        atomicSub(&expected_, 1u);
        arrive();
    }
};
template <thread_scope S, typename F> __device__ inline void init(barrier<S, F>* b, ptrdiff_t expected, F done = F()) {
    b->__wb_init(expected, done);
}

// A latch is counted down once.
template <thread_scope S> class latch {
    unsigned left_;

public:
    latch() = default;
    __host__ __device__ constexpr explicit latch(ptrdiff_t expected) : left_((unsigned)expected) {}
    __device__ void count_down(ptrdiff_t n = 1) {
        __wb_fence(memory_order_release, S);
        unsigned left = atomicSub(&left_, (unsigned)n);
        assert(left >= (unsigned)n && "cuda::latch: counted down below zero");
    }
    __device__ bool try_wait() const {
        __wb_meet();
        return *(const volatile unsigned*)&left_ == 0;
    }
    __device__ void wait() const {
        __wb_meet();
        while (*(const volatile unsigned*)&left_ != 0) {}
        __wb_fence(memory_order_acquire, S);
    }
    __device__ void arrive_and_wait(ptrdiff_t n = 1) {
        count_down(n);
        wait();
    }
};
template <thread_scope S, ptrdiff_t Most = 0x7fffffff> class counting_semaphore {
    int count_;

public:
    counting_semaphore() = default;
    __host__ __device__ constexpr explicit counting_semaphore(ptrdiff_t count) : count_((int)count) {}
    static constexpr ptrdiff_t max() { return Most; }
    __device__ void release(ptrdiff_t n = 1) {
        __wb_fence(memory_order_release, S);
        atomicAdd(&count_, (int)n);
    }
    __device__ bool try_acquire() {
        int now = *(volatile int*)&count_;
        bool got = now > 0 && atomicCAS(&count_, now, now - 1) == now;
        __wb_fence(memory_order_acquire, S);
        return got;
    }
    __device__ void acquire() {
        while (!try_acquire()) {}
    }
};
template <thread_scope S> using binary_semaphore = counting_semaphore<S, 1>;

// A size that is a multiple of N bytes.
template <size_t N> struct aligned_size_t {
    static constexpr size_t align = N;
    size_t value;
    __host__ __device__ constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
    __host__ __device__ constexpr operator size_t() const { return value; }
};

// The roles: a producer fills a stage, a consumer empties it. Only the threads of a block share a pipeline.
enum class pipeline_role { producer, consumer };
template <thread_scope S, unsigned Stages> struct pipeline_shared_state {
    static_assert(S == thread_scope_block, "a pipeline is shared by the threads of a block");
    // The number of times that each stage was committed, and released.
    unsigned full[Stages], free[Stages];
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state&) = delete;
};
// Copies are complete at once, so a single thread never waits; a pipeline with others waits for them.
template <thread_scope S> class pipeline {
    unsigned *full_ = nullptr, *free_ = nullptr;
    unsigned stages_ = 1, producers_ = 1, consumers_ = 1, head_ = 0, tail_ = 0;

    __device__ static void await(const unsigned* count, unsigned least) {
        __wb_meet();
        while ((int)(*(const volatile unsigned*)count - least) < 0) {}
    }

public:
    __device__ pipeline() {}
    __device__ pipeline(unsigned* full, unsigned* free, unsigned stages, unsigned producers, unsigned consumers)
        : full_(full), free_(free), stages_(stages), producers_(producers), consumers_(consumers) {}
    __device__ void producer_acquire() {
        if (full_ != nullptr && head_ >= stages_) await(free_ + head_ % stages_, head_ / stages_ * consumers_);
    }
    __device__ void producer_commit() {
        if (full_ != nullptr) atomicAdd(full_ + head_ % stages_, 1u);
        ++head_;
    }
    __device__ void consumer_wait() {
        if (full_ != nullptr) await(full_ + tail_ % stages_, (tail_ / stages_ + 1) * producers_);
    }
    __device__ void consumer_release() {
        if (full_ != nullptr) atomicAdd(free_ + tail_ % stages_, 1u);
        ++tail_;
    }
    __device__ bool quit() { return true; }
};
__device__ inline pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }
template <typename G, thread_scope S, unsigned N>
__device__ pipeline<S> __wb_pipeline(const G& group, pipeline_shared_state<S, N>* state, unsigned producers, unsigned consumers) {
    if (group.thread_rank() == 0)
        for (unsigned i = 0; i < N; ++i) state->full[i] = state->free[i] = 0;
    group.sync();
    return pipeline<S>(state->full, state->free, N, producers, consumers);
}
template <typename G, thread_scope S, unsigned N> __device__ pipeline<S> make_pipeline(const G& group, pipeline_shared_state<S, N>* state) {
    return __wb_pipeline(group, state, (unsigned)group.size(), (unsigned)group.size());
}
template <typename G, thread_scope S, unsigned N>
__device__ pipeline<S> make_pipeline(const G& group, pipeline_shared_state<S, N>* state, size_t producers) {
    return __wb_pipeline(group, state, (unsigned)producers, (unsigned)(group.size() - producers));
}
template <typename G, thread_scope S, unsigned N>
__device__ pipeline<S> make_pipeline(const G& group, pipeline_shared_state<S, N>* state, pipeline_role role) {
    __shared__ unsigned producers;
    if (group.thread_rank() == 0) producers = 0;
    group.sync();
    if (role == pipeline_role::producer) atomicAdd(&producers, 1u);
    group.sync();
    unsigned n = producers;
    return __wb_pipeline(group, state, n, (unsigned)group.size() - n);
}
template <unsigned char N> __device__ void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {}
template <thread_scope S> __device__ void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<S>&) {}

// Copies by one thread, or by all of a group, which wait for one another at the barrier or the pipeline.
template <size_t N> __device__ inline size_t __wb_bytes(aligned_size_t<N> size) {
    assert(size.value % N == 0 && "cuda::aligned_size_t: the size is not a whole number of what it is aligned to");
    return size.value;
}
__device__ inline size_t __wb_bytes(size_t size) { return size; }
template <typename T> __device__ inline void __wb_copy(T* to, const T* from, size_t bytes, size_t rank, size_t threads) {
    if constexpr (!::std::is_void_v<T>) {
        if (bytes % sizeof(T) == 0) {
            for (size_t i = rank; i < bytes / sizeof(T); i += threads) to[i] = from[i];
            return;
        }
    }
    for (size_t i = rank; i < bytes; i += threads) ((unsigned char*)to)[i] = ((const unsigned char*)from)[i];
}
#define __WB_COPIES(parameters, where) \
    template <typename T, typename Z, parameters, typename = ::std::enable_if_t<!::std::is_void_v<T>>> \
    __device__ void memcpy_async(T* to, const T* from, Z size, where&) { \
        __wb_copy(to, from, __wb_bytes(size), 0, 1); \
    } \
    template <typename Z, parameters> __device__ void memcpy_async(void* to, const void* from, Z size, where&) { \
        __builtin_memcpy(to, from, __wb_bytes(size)); \
    } \
    template <typename G, typename T, typename Z, parameters, typename = ::std::enable_if_t<!::std::is_void_v<T>>> \
    __device__ void memcpy_async(const G& group, T* to, const T* from, Z size, where&) { \
        __wb_copy(to, from, __wb_bytes(size), (size_t)group.thread_rank(), (size_t)group.size()); \
    } \
    template <typename G, typename Z, parameters> \
    __device__ void memcpy_async(const G& group, void* to, const void* from, Z size, where&) { \
        __wb_copy(to, from, __wb_bytes(size), (size_t)group.thread_rank(), (size_t)group.size()); \
    }
__WB_COPIES(thread_scope S, pipeline<S>)
__WB_COPIES(thread_scope S, barrier<S>)
#undef __WB_COPIES

namespace std {
template <typename T> using atomic = ::cuda::atomic<T, ::cuda::thread_scope_system>;
template <typename T> using atomic_ref = ::cuda::atomic_ref<T, ::cuda::thread_scope_system>;
template <typename F = ::cuda::__wb_nothing> using barrier = ::cuda::barrier<::cuda::thread_scope_system, F>;
using atomic_flag = ::cuda::__wb_flag<::cuda::thread_scope_system>;
using latch = ::cuda::latch<::cuda::thread_scope_system>;
template <ptrdiff_t Most = 0x7fffffff> using counting_semaphore = ::cuda::counting_semaphore<::cuda::thread_scope_system, Most>;
using binary_semaphore = ::cuda::binary_semaphore<::cuda::thread_scope_system>;
}

}

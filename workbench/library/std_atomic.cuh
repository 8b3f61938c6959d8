// Atomics and locks, for host code, which runs on one thread: no other thread interferes, and none is waited for.
namespace std {

enum memory_order {
    memory_order_relaxed,
    memory_order_consume,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
};

#define __WB_FETCH(name, expression) \
    T name(__wb_step n, memory_order = memory_order_seq_cst) { return exchange((T)(expression)); }
template <typename T> struct atomic {
    T __wb_value;
    using value_type = T;
    using __wb_step = conditional_t<is_pointer_v<T>, ptrdiff_t, T>;
    static constexpr bool is_always_lock_free = true;
    constexpr atomic() : __wb_value() {}
    constexpr atomic(T value) : __wb_value(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    bool is_lock_free() const { return true; }
    T load(memory_order = memory_order_seq_cst) const { return __wb_value; }
    operator T() const { return __wb_value; }
    void store(T value, memory_order = memory_order_seq_cst) { __wb_value = value; }
    T operator=(T value) {
        __wb_value = value;
        return value;
    }
    T exchange(T value, memory_order = memory_order_seq_cst) {
        T old = __wb_value;
        __wb_value = value;
        return old;
    }
    bool compare_exchange_strong(T& expected, T value, memory_order = memory_order_seq_cst, memory_order = memory_order_seq_cst) {
        if (__wb_value == expected) {
            __wb_value = value;
            return true;
        }
        expected = __wb_value;
        return false;
    }
    bool compare_exchange_weak(T& expected, T value, memory_order = memory_order_seq_cst, memory_order = memory_order_seq_cst) {
        return compare_exchange_strong(expected, value);
    }
    __WB_FETCH(fetch_add, __wb_value + n)
    __WB_FETCH(fetch_sub, __wb_value - n)
    __WB_FETCH(fetch_and, __wb_value & n)
    __WB_FETCH(fetch_or, __wb_value | n)
    __WB_FETCH(fetch_xor, __wb_value ^ n)
    T operator++() { return __wb_value = (T)(__wb_value + 1); }
    T operator++(int) { return exchange((T)(__wb_value + 1)); }
    T operator--() { return __wb_value = (T)(__wb_value - 1); }
    T operator--(int) { return exchange((T)(__wb_value - 1)); }
    T operator+=(__wb_step n) { return __wb_value = (T)(__wb_value + n); }
    T operator-=(__wb_step n) { return __wb_value = (T)(__wb_value - n); }
    T operator&=(__wb_step n) { return __wb_value = (T)(__wb_value & n); }
    T operator|=(__wb_step n) { return __wb_value = (T)(__wb_value | n); }
    T operator^=(__wb_step n) { return __wb_value = (T)(__wb_value ^ n); }
};
#undef __WB_FETCH
template <typename T> T atomic_load(const atomic<T>* a) { return a->load(); }
template <typename T> void atomic_store(atomic<T>* a, type_identity_t<T> value) { a->store(value); }
template <typename T> T atomic_fetch_add(atomic<T>* a, type_identity_t<T> n) { return a->fetch_add(n); }
template <typename T> T atomic_fetch_sub(atomic<T>* a, type_identity_t<T> n) { return a->fetch_sub(n); }
struct atomic_flag {
    bool __wb_set = false;
    constexpr atomic_flag() {}
    atomic_flag(const atomic_flag&) = delete;
    bool test(memory_order = memory_order_seq_cst) const { return __wb_set; }
    bool test_and_set(memory_order = memory_order_seq_cst) { return exchange(__wb_set, true); }
    void clear(memory_order = memory_order_seq_cst) { __wb_set = false; }
};
using atomic_bool = atomic<bool>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<unsigned>;
using atomic_long = atomic<long>;
using atomic_size_t = atomic<size_t>;
using atomic_int64_t = atomic<int64_t>;
inline void atomic_thread_fence(memory_order) {}

// A held lock is never released while this thread waits for it.
class mutex {
    bool held_ = false;

public:
    constexpr mutex() {}
    mutex(const mutex&) = delete;
    void lock() {
        if (held_) {
            __wb_push_c_string("mutex: locked twice by the only thread");
            __wb_raise(32, 1);
        }
        held_ = true;
    }
    bool try_lock() { return !exchange(held_, true); }
    void unlock() { held_ = false; }
};
class recursive_mutex {
public:
    constexpr recursive_mutex() {}
    recursive_mutex(const recursive_mutex&) = delete;
    void lock() {}
    bool try_lock() { return true; }
    void unlock() {}
};
using shared_mutex = recursive_mutex;
struct defer_lock_t {};
struct adopt_lock_t {};
struct try_to_lock_t {};
inline constexpr defer_lock_t defer_lock{};
inline constexpr adopt_lock_t adopt_lock{};
inline constexpr try_to_lock_t try_to_lock{};
template <typename M = mutex> class lock_guard {
    M* mutex_;

public:
    using mutex_type = M;
    explicit lock_guard(M& m) : mutex_(&m) { m.lock(); }
    lock_guard(M& m, adopt_lock_t) : mutex_(&m) {}
    lock_guard(const lock_guard&) = delete;
    ~lock_guard() { mutex_->unlock(); }
};
template <typename M = mutex> using scoped_lock = lock_guard<M>;
template <typename M = mutex> class unique_lock {
    M* mutex_ = nullptr;
    bool owns_ = false;

public:
    using mutex_type = M;
    unique_lock() {}
    explicit unique_lock(M& m) : mutex_(&m) { lock(); }
    unique_lock(M& m, defer_lock_t) : mutex_(&m) {}
    unique_lock(M& m, adopt_lock_t) : mutex_(&m), owns_(true) {}
    unique_lock(M& m, try_to_lock_t) : mutex_(&m) { try_lock(); }
    unique_lock(const unique_lock&) = delete;
    unique_lock(unique_lock&& other) : mutex_(exchange(other.mutex_, nullptr)), owns_(exchange(other.owns_, false)) {}
    ~unique_lock() {
        if (owns_) mutex_->unlock();
    }
    void lock() {
        mutex_->lock();
        owns_ = true;
    }
    bool try_lock() { return owns_ = mutex_->try_lock(); }
    void unlock() {
        mutex_->unlock();
        owns_ = false;
    }
    M* release() {
        owns_ = false;
        return exchange(mutex_, nullptr);
    }
    bool owns_lock() const { return owns_; }
    explicit operator bool() const { return owns_; }
    M* mutex() const { return mutex_; }
};
struct once_flag {
    bool __wb_done = false;
    constexpr once_flag() {}
};
template <typename F, typename... A> void call_once(once_flag& flag, F&& f, A&&... args) {
    if (flag.__wb_done) return;
    f(std::forward<A>(args)...);
    flag.__wb_done = true;
}

}

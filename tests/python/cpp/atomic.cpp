// Atomics and locks: each case is a function `void name(Log&)` after a line `//: name`. The system's compiler says what is right.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

using Log = std::vector<std::string>;
static void say(Log& log, long n) { log.push_back(std::to_string(n)); }

//: operations
void operations(Log& log) {
    std::atomic<int> a(10), b{3}, c;
    c = 4;
    say(log, a.load(std::memory_order_acquire) + b + c);
    a.store(20, std::memory_order_release);
    say(log, a.exchange(30));
    say(log, a.fetch_add(5, std::memory_order_relaxed));
    say(log, a.fetch_sub(2));
    say(log, a.fetch_and(0x2e));
    say(log, a.fetch_or(1));
    say(log, a.fetch_xor(0xff));
    say(log, a);
    say(log, ++a);
    say(log, a++);
    say(log, --a);
    say(log, a--);
    say(log, a += 5);
    say(log, a -= 7);
    say(log, a &= 0xf0);
    say(log, a |= 3);
    say(log, a ^= 1);
    int expected = 1;
    say(log, a.compare_exchange_strong(expected, 2));
    say(log, expected);
    say(log, a.compare_exchange_weak(expected, 2, std::memory_order_acq_rel, std::memory_order_relaxed));
    say(log, a.is_lock_free());
    say(log, std::atomic_fetch_add(&a, 4));
    say(log, std::atomic_load(&a));
}

//: kinds
void kinds(Log& log) {
    std::atomic<bool> flag(false);
    say(log, flag.exchange(true));
    say(log, flag);
    std::atomic<double> d(1.5);
    double now = d.load();
    while (!d.compare_exchange_weak(now, now * 2)) {}
    say(log, (long)(d.load() * 10));
    int values[3] = {1, 2, 3};
    std::atomic<int*> p(values);
    ++p;
    say(log, *p.load());
    p.fetch_add(1);
    say(log, *p.load());
    std::atomic_flag f{};
    f.clear();
    say(log, f.test_and_set());
    say(log, f.test_and_set());
    f.clear();
    say(log, f.test_and_set());
    std::atomic<int64_t> n{0};
    for (int i = 0; i < 100; ++i) n += i;
    say(log, n);
    std::atomic_int many[4];
    for (auto& x : many) x = 2;
    say(log, many[3]);
}

//: globals
static std::atomic<int> calls{0};
static std::mutex guard;
static std::once_flag once;
void globals(Log& log) {
    std::lock_guard<std::mutex> lock(guard);
    int before = calls++;
    say(log, calls - before);
    std::call_once(once, [&] { calls += 0; });
}

//: locks
void locks(Log& log) {
    std::mutex m;
    {
        std::unique_lock<std::mutex> a(m);
        say(log, a.owns_lock());
        a.unlock();
        say(log, m.try_lock());
        m.unlock();
        std::unique_lock<std::mutex> b(m, std::defer_lock);
        say(log, bool(b));
        b.lock();
        std::unique_lock<std::mutex> c(std::move(b));
        say(log, b.owns_lock());
        say(log, c.owns_lock());
    }
    std::lock_guard<std::mutex> g(m);
    std::recursive_mutex r;
    std::scoped_lock<std::recursive_mutex> x(r), y(r);
    int n = 0;
    std::once_flag flag;
    for (int i = 0; i < 3; ++i) std::call_once(flag, [&](int k) { n += k; }, 5);
    say(log, n);
}

// Persistent workers: the caller and one thread for each further processor take chunks from a counter until none is left.
#pragma once
#include <immintrin.h>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace pool {

struct Pool {
    using Chunk = void (*)(void*, long);

    Pool() {
        unsigned count = std::thread::hardware_concurrency();
        for (unsigned i = 1; i < count; ++i) threads.emplace_back([this] { work(); });
        for (auto& thread : threads) thread.detach();
    }

    void run(Chunk f, void* with, long count) {
        task = f, context = with, chunks = count;
        next.store(0, std::memory_order_relaxed);
        busy.store(threads.size(), std::memory_order_relaxed);
        {
            std::lock_guard<std::mutex> guard(lock);
            generation.fetch_add(1, std::memory_order_release);
        }
        wake.notify_all();
        take();
        while (busy.load(std::memory_order_acquire)) _mm_pause();
    }

    void take() {
        for (long i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) task(context, i);
    }

    // Looks for work for some microseconds before it sleeps.
    void work() {
        for (long seen = 0;; ++seen) {
            for (int i = 0; i < 1000 && generation.load(std::memory_order_acquire) == seen; ++i) _mm_pause();
            if (generation.load(std::memory_order_acquire) == seen) {
                std::unique_lock<std::mutex> guard(lock);
                wake.wait(guard, [&] { return generation.load(std::memory_order_acquire) != seen; });
            }
            take();
            busy.fetch_sub(1, std::memory_order_release);
        }
    }

    Chunk task = nullptr;
    void* context = nullptr;
    long chunks = 0;
    std::atomic<long> next{0}, busy{0}, generation{0};
    std::mutex lock;
    std::condition_variable wake;
    std::vector<std::thread> threads;
};

// Never destroyed: the workers live as long as the process.
inline Pool& shared() {
    static Pool* pool = new Pool;
    return *pool;
}

// Calls f(0) to f(count - 1).
template <class F>
void chunks(long count, F f) {
    shared().run([](void* f, long i) { (*static_cast<F*>(f))(i); }, &f, count);
}

// Calls f(begin, end) for pieces of 0 to n, each of `size` but the last.
template <class F>
void pieces(long n, long size, F f) {
    chunks((n + size - 1) / size, [&](long i) { f(i * size, (i + 1) * size < n ? (i + 1) * size : n); });
}

}  // namespace pool

// Durations and clocks: each case is a function `void name(Log&)` after a line `//: name`. The system's compiler says what is right.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using Log = std::vector<std::string>;

static void say(Log& log, double x) {
    char text[64];
    snprintf(text, sizeof(text), "%.17g", x);
    log.push_back(text);
}
static void say(Log& log, long x) { log.push_back(std::to_string(x)); }
static void say(Log& log, int x) { log.push_back(std::to_string(x)); }
static void say(Log& log, bool x) { log.push_back(x ? "yes" : "no"); }

//: timing
void timing(Log& log) {
    auto start = std::chrono::high_resolution_clock::now();
    double x = 0;
    for (int i = 0; i < 10000; ++i) x += i;
    auto end = std::chrono::high_resolution_clock::now();
    std::chrono::duration<double> elapsed = end - start;
    std::chrono::duration<double, std::milli> ms = end - start;
    say(log, elapsed.count() >= 0);
    say(log, elapsed.count() < 10);
    say(log, ms.count() >= elapsed.count());
    say(log, std::chrono::duration_cast<std::chrono::microseconds>(end - start).count() >= 0);
    say(log, std::chrono::duration<float, std::micro>(end - start).count() >= 0);
    say(log, std::chrono::duration<double>(end - start).count() == elapsed.count());
    say(log, end >= start);
}

//: clocks
void clocks(Log& log) {
    using namespace std::chrono;
    steady_clock::time_point a = steady_clock::now();
    for (int i = 0; i < 10; ++i) {
        auto b = steady_clock::now();
        if (b < a) log.push_back("went back");
        a = b;
    }
    auto now = system_clock::now();
    say(log, duration_cast<seconds>(now.time_since_epoch()).count() > 1600000000);
    std::time_t t = system_clock::to_time_t(now);
    say(log, t > 1600000000);
    say(log, system_clock::from_time_t(t) <= now);
    say(log, steady_clock::is_steady);
    time_point<high_resolution_clock> h = high_resolution_clock::now();
    unsigned seed = (unsigned)h.time_since_epoch().count();
    say(log, seed != 1);
    say(log, sizeof(steady_clock::time_point) == 8);
    say(log, steady_clock::time_point() < a);
    say(log, (long)steady_clock::period::den);
}

//: casts
void casts(Log& log) {
    using namespace std::chrono;
    for (long n : {0l, 1l, 999l, 1000l, 1001l, -1l, -999l, -1001l, 123456789l, -987654321l, 7777777777777l}) {
        nanoseconds ns(n);
        say(log, duration_cast<microseconds>(ns).count());
        say(log, duration_cast<milliseconds>(ns).count());
        say(log, duration_cast<seconds>(ns).count());
        say(log, duration_cast<minutes>(ns).count());
        say(log, duration_cast<hours>(ns).count());
        say(log, duration_cast<duration<double, std::milli>>(ns).count());
        say(log, duration_cast<duration<long, std::ratio<7, 3>>>(ns).count());
        say(log, duration<double>(ns).count());
        say(log, floor<milliseconds>(ns).count());
        say(log, ceil<milliseconds>(ns).count());
        say(log, round<milliseconds>(ns).count());
        say(log, round<seconds>(milliseconds(n * 500)).count());
        say(log, std::chrono::abs(ns).count());
    }
    say(log, milliseconds(seconds(3)).count());
    say(log, nanoseconds(hours(2)).count());
    say(log, duration_cast<seconds>(duration<double>(3.99)).count());
    say(log, duration_cast<milliseconds>(duration<float>(-0.25f)).count());
    say(log, duration_cast<duration<int>>(minutes(3)).count());
}

//: arithmetic
void arithmetic(Log& log) {
    using namespace std::chrono;
    milliseconds a(1500);
    seconds b(2);
    auto sum = a + b;
    say(log, (long)sum.count());
    say(log, (long)(b - a).count());
    say(log, (long)(a * 3).count());
    say(log, (long)(3 * a).count());
    say(log, (double)(a * 1.5).count());
    say(log, (long)(a / 7).count());
    say(log, (double)(a / 7.0).count());
    say(log, (long)(a / b));
    say(log, (long)(b / a));
    say(log, (double)(duration<double>(b) / a));
    say(log, (long)(b % a).count());
    say(log, (long)(a % 400).count());
    say(log, (long)(-a).count());
    say(log, (long)(minutes(1) + hours(1) + milliseconds(1)).count());
    say(log, (long)(duration<long, std::ratio<1, 30>>(1) + duration<long, std::ratio<1, 25>>(1)).count());
    a += b;
    a -= milliseconds(1);
    a *= 2;
    a /= 3;
    a %= 1000;
    ++a;
    a++;
    --a;
    say(log, (long)a.count());
    say(log, (long)(a--).count());
    say(log, milliseconds::zero().count());
    say(log, milliseconds::max().count());
    say(log, milliseconds::min().count());
    say(log, (double)duration<double>::max().count());
    constexpr auto limit = seconds(5) + milliseconds(20);
    static_assert(limit.count() == 5020, "");
    say(log, (long)limit.count());
}

//: comparisons
void comparisons(Log& log) {
    using namespace std::chrono;
    for (long n : {999l, 1000l, 1001l}) {
        milliseconds a(n);
        seconds b(1);
        duration<double> c(1.0);
        say(log, a == b);
        say(log, a != b);
        say(log, a < b);
        say(log, a > b);
        say(log, a <= b);
        say(log, a >= b);
        say(log, c < a);
        say(log, c == a);
    }
}

//: points
void points(Log& log) {
    using namespace std::chrono;
    system_clock::time_point a(seconds(100)), b;
    say(log, (long)a.time_since_epoch().count());
    b = a + milliseconds(5);
    say(log, (long)(b - a).count());
    say(log, a < b);
    say(log, a == b - milliseconds(5));
    b += seconds(1);
    b -= milliseconds(1);
    say(log, (long)duration_cast<milliseconds>(b - a).count());
    auto whole = time_point_cast<seconds>(b);
    say(log, (long)whole.time_since_epoch().count());
    say(log, whole <= b);
    time_point<system_clock, nanoseconds> c = whole;
    say(log, c == whole);
    say(log, (hours(1) + a) > a);
    say(log, system_clock::time_point::max() > a);
    auto deadline = steady_clock::now() + seconds(3600);
    say(log, steady_clock::now() < deadline);
    say(log, (long)system_clock::to_time_t(a));
}

//: ratios
void ratios(Log& log) {
    say(log, (long)std::ratio<6, 4>::num);
    say(log, (long)std::ratio<6, -4>::num);
    say(log, (long)std::ratio<6, 4>::type::den);
    say(log, (long)std::ratio_divide<std::milli, std::nano>::num);
    say(log, (long)std::ratio_multiply<std::ratio<2, 3>, std::ratio<9, 4>>::num);
    say(log, std::ratio_equal<std::ratio<1, 2>, std::ratio<2, 4>>::value);
    say(log, (long)std::chrono::milliseconds::period::den);
    say(log, (long)std::chrono::hours::period::num);
}

class Timer {
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
    std::chrono::duration<double> total_{0};

public:
    void stop() { total_ += Clock::now() - start_; }
    double seconds() const { return total_.count(); }
    template <typename Unit = std::chrono::milliseconds> long elapsed() const {
        return std::chrono::duration_cast<Unit>(Clock::now() - start_).count();
    }
};
static std::string name_of(std::chrono::milliseconds d) { return std::to_string(d.count()) + " ms"; }

//: a_timer
void a_timer(Log& log) {
    Timer t;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    t.stop();
    say(log, t.seconds() >= 0.002);
    say(log, t.elapsed() >= 2);
    say(log, t.elapsed<std::chrono::microseconds>() >= 2000);
    log.push_back(name_of(std::chrono::seconds(2)));
    std::this_thread::sleep_for(std::chrono::milliseconds(-5));
}

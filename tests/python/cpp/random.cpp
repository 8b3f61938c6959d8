// Random numbers: each case is a function `void name(Log&)` after a line `//: name`. The system's compiler says what is right.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using Log = std::vector<std::string>;

static void say(Log& log, double x) {
    char text[64];
    snprintf(text, sizeof(text), "%.17g", x);
    log.push_back(text);
}
static void say(Log& log, float x) {
    char text[64];
    snprintf(text, sizeof(text), "%.9g", x);
    log.push_back(text);
}
static void say(Log& log, unsigned long x) { log.push_back(std::to_string(x)); }
static void say(Log& log, long x) { log.push_back(std::to_string(x)); }
static void say(Log& log, int x) { log.push_back(std::to_string(x)); }
template <typename D, typename G> void draw(Log& log, D d, G& g, int n) {
    for (int i = 0; i < n; ++i) say(log, d(g));
}

//: engines
template <typename G> void engine(Log& log, G g) {
    say(log, (unsigned long)G::min());
    say(log, (unsigned long)G::max());
    for (int i = 0; i < 5; ++i) say(log, (unsigned long)g());
    g.discard(1000);
    say(log, (unsigned long)g());
    g.seed(0);
    say(log, (unsigned long)g());
    g.seed();
    say(log, (unsigned long)g());
    G copy = g;
    say(log, int(copy == g));
    copy();
    say(log, int(copy != g));
    g.seed(4294967295u);
    say(log, (unsigned long)g());
}
void engines(Log& log) {
    engine(log, std::mt19937());
    engine(log, std::mt19937(42));
    engine(log, std::mt19937_64());
    engine(log, std::mt19937_64(12345678901234ull));
    engine(log, std::minstd_rand());
    engine(log, std::minstd_rand0(7));
    engine(log, std::default_random_engine(2147483647));
}

//: the_ten_thousandth
void the_ten_thousandth(Log& log) {
    // Which the standard says.
    std::mt19937 a;
    a.discard(9999);
    say(log, int(a() == 4123659995u));
    std::mt19937_64 b;
    b.discard(9999);
    say(log, int(b() == 9981545732273789042ull));
    std::minstd_rand c;
    c.discard(9999);
    say(log, int(c() == 399268537u));
    std::minstd_rand0 d;
    d.discard(9999);
    say(log, int(d() == 1043618065u));
}

//: seed_sequences
void seed_sequences(Log& log) {
    std::seed_seq a{1, 2, 3, 4, 5}, none, one{77};
    std::vector<std::uint32_t> out(10);
    for (auto* s : {&a, &none, &one}) {
        for (size_t n : {0, 1, 2, 6, 7, 8, 39, 70, 624, 1000}) {
            std::vector<std::uint32_t> words(n);
            s->generate(words.begin(), words.end());
            unsigned long sum = 0;
            for (std::uint32_t w : words) sum = sum * 31 + w;
            say(log, sum);
        }
        std::mt19937 g(*s);
        std::mt19937_64 h(*s);
        std::minstd_rand m(*s);
        say(log, (unsigned long)g());
        say(log, (unsigned long)h());
        say(log, (unsigned long)m());
        say(log, (unsigned long)s->size());
    }
    std::vector<int> many(1000);
    std::iota(many.begin(), many.end(), -5);
    std::seed_seq long_one(many.begin(), many.end());
    std::mt19937 g(long_one);
    say(log, (unsigned long)g());
    std::vector<unsigned> back;
    one.param(std::back_inserter(back));
    say(log, (unsigned long)back[0]);
}

//: integers
template <typename G> void all_integers(Log& log, G g) {
    draw(log, std::uniform_int_distribution<int>(1, 6), g, 40);
    draw(log, std::uniform_int_distribution<>(), g, 10);
    draw(log, std::uniform_int_distribution<int>(-1000000, 1000000), g, 40);
    draw(log, std::uniform_int_distribution<int>(INT32_MIN, INT32_MAX), g, 10);
    draw(log, std::uniform_int_distribution<int>(5, 5), g, 5);
    draw(log, std::uniform_int_distribution<long>(-5000000000, 70000000000), g, 30);
    draw(log, std::uniform_int_distribution<long>(INT64_MIN, INT64_MAX), g, 10);
    draw(log, std::uniform_int_distribution<unsigned long>(0, ~0ul), g, 10);
    draw(log, std::uniform_int_distribution<unsigned long>(0, ~0ul - 5), g, 10);
    draw(log, std::uniform_int_distribution<unsigned long>(3, 0xc000000000000000ul), g, 30);
    draw(log, std::uniform_int_distribution<short>(-7, 7), g, 10);
    draw(log, std::uniform_int_distribution<int>(0, 2147483645), g, 10);
    draw(log, std::uniform_int_distribution<int>(0, 2147483600), g, 30);
    draw(log, std::uniform_int_distribution<unsigned short>(0, 65535), g, 10);
}
void integers(Log& log) {
    all_integers(log, std::mt19937(1));
    all_integers(log, std::mt19937_64(2));
    all_integers(log, std::minstd_rand(3));
    all_integers(log, std::default_random_engine(4));
}

//: rejections
void rejections(Log& log) {
    // Ranges just above half of the generator's, where every other number is thrown away.
    std::mt19937 a(9);
    std::mt19937_64 b(9);
    std::minstd_rand c(9);
    draw(log, std::uniform_int_distribution<unsigned long>(0, 0x80000000ul), a, 100);
    draw(log, std::uniform_int_distribution<unsigned long>(0, 0x8000000000000000ul), b, 100);
    draw(log, std::uniform_int_distribution<unsigned long>(0, 0x40000000ul), c, 100);
}

//: reals
template <typename G> void all_reals(Log& log, G g) {
    draw(log, std::uniform_real_distribution<double>(), g, 20);
    draw(log, std::uniform_real_distribution<double>(-3.5, 1e6), g, 20);
    draw(log, std::uniform_real_distribution<float>(), g, 20);
    draw(log, std::uniform_real_distribution<float>(-1, 1), g, 20);
    draw(log, std::uniform_real_distribution<>(2, 2), g, 3);
    for (int i = 0; i < 5; ++i) say(log, std::generate_canonical<double, 53>(g));
    for (int i = 0; i < 5; ++i) say(log, std::generate_canonical<double, 10>(g));
    for (int i = 0; i < 5; ++i) say(log, std::generate_canonical<float, 24>(g));
    for (int i = 0; i < 5; ++i) say(log, std::generate_canonical<double, 500>(g));
}
void reals(Log& log) {
    all_reals(log, std::mt19937(1));
    all_reals(log, std::mt19937_64(2));
    all_reals(log, std::minstd_rand(3));
    all_reals(log, std::default_random_engine(4));
}

//: coins
void coins(Log& log) {
    std::mt19937 g(5);
    std::bernoulli_distribution fair, rare(0.01), never(0), always(1);
    int n = 0, m = 0;
    for (int i = 0; i < 1000; ++i) {
        n += fair(g);
        m += rare(g);
        if (never(g) || !always(g)) log.push_back("wrong");
    }
    say(log, n);
    say(log, m);
    say(log, rare.p());
}

//: weighted
void weighted(Log& log) {
    std::mt19937 g(6);
    std::discrete_distribution<int> d({10, 1, 0, 5.5}), none, one{3.0};
    std::vector<double> weights{1, 2, 3, 4, 5};
    std::discrete_distribution<> e(weights.begin(), weights.end());
    draw(log, d, g, 50);
    draw(log, none, g, 3);
    draw(log, one, g, 3);
    draw(log, e, g, 50);
    for (double p : d.probabilities()) say(log, p);
    say(log, e.max());
}

//: parameters
void parameters(Log& log) {
    std::mt19937 g(7);
    std::uniform_int_distribution<int> d(0, 9);
    using P = std::uniform_int_distribution<int>::param_type;
    say(log, d(g, P(100, 200)));
    d.param(P{-5, -1});
    say(log, d(g));
    say(log, d.a() + d.b());
    say(log, d.min() + d.max());
    say(log, int(d == std::uniform_int_distribution<int>(-5, -1)));
    using R = std::uniform_real_distribution<float>;
    R r;
    say(log, r(g, R::param_type(5, 6)));
    say(log, int(r.param() == R::param_type(0, 1)));
}

//: shuffles
void shuffles(Log& log) {
    for (int n : {0, 1, 2, 3, 4, 5, 10, 17, 100, 1001}) {
        std::vector<int> v(n);
        std::iota(v.begin(), v.end(), 0);
        std::mt19937 g(n);
        std::shuffle(v.begin(), v.end(), g);
        std::shuffle(v.begin(), v.end(), std::default_random_engine(n + 1));
        std::mt19937_64 h(n);
        std::shuffle(v.begin(), v.end(), h);
        unsigned long sum = 0;
        for (int x : v) sum = sum * 1000003 + x;
        say(log, sum);
        say(log, (unsigned long)g());
    }
    // More than the square root of the generator's range.
    std::vector<int> v(50000);
    std::iota(v.begin(), v.end(), 0);
    std::minstd_rand m(1);
    std::shuffle(v.begin(), v.end(), m);
    unsigned long sum = 0;
    for (int x : v) sum = sum * 1000003 + x;
    say(log, sum);
}

//: static_engines
static std::mt19937 shared(99);
static int roll() {
    static std::mt19937 g(3);
    static std::uniform_int_distribution<int> d(1, 6);
    return d(g);
}
void static_engines(Log& log) {
    shared.seed(99);
    for (int i = 0; i < 3; ++i) say(log, (unsigned long)shared());
    say(log, int(roll() >= 1 && roll() <= 6));
}

//: devices
void devices(Log& log) {
    std::random_device a, b;
    int same = 0;
    unsigned long bits = 0;
    for (int i = 0; i < 100; ++i) {
        unsigned x = a(), y = b();
        same += x == y;
        bits |= x;
    }
    say(log, same);
    say(log, (unsigned long)bits);
    std::mt19937 g(a()), h{std::random_device{}()};
    say(log, int(g() == h()));
    std::seed_seq s{a(), a(), a()};
    std::mt19937 seeded(s);
    seeded();
    say(log, (unsigned long)std::random_device::max());
}

//: generated
void generated(Log& log) {
    std::mt19937 g(11);
    std::uniform_int_distribution<int> d(0, 99);
    std::vector<int> v(20);
    std::generate(v.begin(), v.end(), [&] { return d(g); });
    std::generate_n(v.begin(), 5, [&] { return -d(g); });
    for (int x : v) say(log, x);
}

// Random numbers, for host code: the standard's engines, and distributions that draw and round as libstdc++'s do.
namespace std {

inline void __wb_no_draw(const char* what) {
    __wb_push_c_string(what);
    __wb_raise(32, 1);
}

// Seeds mixed from any number of words ([rand.util.seedseq]).
class seed_seq {
    vector<unsigned> words_;

public:
    using result_type = unsigned;
    seed_seq() {}
    seed_seq(initializer_list<unsigned> list) : seed_seq(list.begin(), list.end()) {}
    template <typename I> seed_seq(I first, I last) {
        for (; first != last; ++first) words_.push_back((unsigned)*first);
    }
    size_t size() const { return words_.size(); }
    template <typename O> void param(O out) const {
        for (unsigned word : words_) *out++ = word;
    }
    template <typename I> void generate(I first, I last) {
        size_t n = last - first, s = words_.size();
        if (n == 0) return;
        for (size_t i = 0; i < n; ++i) first[i] = 0x8b8b8b8bu;
        size_t t = n >= 623 ? 11 : n >= 68 ? 7 : n >= 39 ? 5 : n >= 7 ? 3 : (n - 1) / 2;
        size_t p = (n - t) / 2, q = p + t, m = s + 1 > n ? s + 1 : n;
        for (size_t k = 0; k < m; ++k) {
            unsigned x = (unsigned)(first[k % n] ^ first[(k + p) % n] ^ first[(k + n - 1) % n]);
            unsigned r = 1664525u * (x ^ x >> 27), r2 = r + (unsigned)(k == 0 ? s : k <= s ? k % n + words_[k - 1] : k % n);
            first[(k + p) % n] = (unsigned)(first[(k + p) % n] + r);
            first[(k + q) % n] = (unsigned)(first[(k + q) % n] + r2);
            first[k % n] = r2;
        }
        for (size_t k = m; k < m + n; ++k) {
            unsigned x = (unsigned)(first[k % n] + first[(k + p) % n] + first[(k + n - 1) % n]);
            unsigned r = 1566083941u * (x ^ x >> 27), r2 = r - (unsigned)(k % n);
            first[(k + p) % n] = (unsigned)(first[(k + p) % n] ^ r);
            first[(k + q) % n] = (unsigned)(first[(k + q) % n] ^ r2);
            first[k % n] = r2;
        }
    }
};

// [rand.eng.mers]
template <typename T, size_t W, size_t N, size_t M, size_t R, T A, size_t U, T D, size_t S, T B, size_t Q, T C, size_t L, T F>
class mersenne_twister_engine {
    T x_[N];
    size_t at_ = N;

    static constexpr T __wb_all = ~(T)0 >> (8 * sizeof(T) - W);
    static T twist(T upper, T lower, T other) {
        T y = (upper & (__wb_all << R)) | (lower & ~(__wb_all << R));
        return other ^ y >> 1 ^ (y & 1 ? A : 0);
    }
    void turn() {
        size_t k = 0;
        for (; k < N - M; ++k) x_[k] = twist(x_[k], x_[k + 1], x_[k + M]);
        for (; k < N - 1; ++k) x_[k] = twist(x_[k], x_[k + 1], x_[k + M - N]);
        x_[N - 1] = twist(x_[N - 1], x_[0], x_[M - 1]);
        at_ = 0;
    }

public:
    using result_type = T;
    static constexpr size_t word_size = W, state_size = N;
    static constexpr T default_seed = 5489;
    mersenne_twister_engine() { seed(); }
    explicit mersenne_twister_engine(T value) { seed(value); }
    explicit mersenne_twister_engine(seed_seq& words) { seed(words); }
    static constexpr T min() { return 0; }
    static constexpr T max() { return __wb_all; }
    void seed(T value = default_seed) {
        x_[0] = value & __wb_all;
        for (size_t i = 1; i < N; ++i) x_[i] = (F * (x_[i - 1] ^ x_[i - 1] >> (W - 2)) + i) & __wb_all;
        at_ = N;
    }
    void seed(seed_seq& words) {
        constexpr size_t k = (W + 31) / 32;
        unsigned a[N * k];
        words.generate(a + 0, a + N * k);
        bool zero = true;
        for (size_t i = 0; i < N; ++i) {
            x_[i] = a[k * i];
            if constexpr (k == 2) x_[i] |= (T)a[k * i + 1] << 32;
            if (i == 0 ? (x_[0] & (__wb_all << R) & __wb_all) != 0 : x_[i] != 0) zero = false;
        }
        if (zero) x_[0] = (T)1 << (W - 1);
        at_ = N;
    }
    T operator()() {
        if (at_ == N) turn();
        T z = x_[at_++];
        z ^= z >> U & D;
        z ^= z << S & B;
        z ^= z << Q & C;
        return z ^ z >> L;
    }
    void discard(unsigned long long n) {
        for (; n > 0; --n) (*this)();
    }
    bool operator==(const mersenne_twister_engine& other) const {
        for (size_t i = 0; i < N; ++i)
            if (x_[i] != other.x_[i]) return false;
        return at_ == other.at_;
    }
    bool operator!=(const mersenne_twister_engine& other) const { return !(*this == other); }
};
using mt19937 = mersenne_twister_engine<unsigned long, 32, 624, 397, 31, 0x9908b0dful, 11, 0xfffffffful, 7, 0x9d2c5680ul, 15,
                                        0xefc60000ul, 18, 1812433253ul>;
using mt19937_64 = mersenne_twister_engine<unsigned long, 64, 312, 156, 31, 0xb5026f5aa96619e9ul, 29, 0x5555555555555555ul, 17, 
                                           0x71d67fffeda60000ul, 37, 0xfff7eee000000000ul, 43, 6364136223846793005ul>;

// [rand.eng.lcong], for a modulus of at most 32 bits
template <typename T, T A, T C, T M> class linear_congruential_engine {
    T x_;

public:
    using result_type = T;
    static constexpr T multiplier = A, increment = C, modulus = M, default_seed = 1;
    linear_congruential_engine() { seed(); }
    explicit linear_congruential_engine(T value) { seed(value); }
    explicit linear_congruential_engine(seed_seq& words) { seed(words); }
    static constexpr T min() { return C == 0 ? 1 : 0; }
    static constexpr T max() { return M - 1; }
    void seed(T value = default_seed) { x_ = C % M == 0 && value % M == 0 ? 1 : value % M; }
    void seed(seed_seq& words) {
        unsigned a[4];
        words.generate(a + 0, a + 4);
        seed((T)a[3]);
    }
    T operator()() { return x_ = (T)(((unsigned long)x_ * A + C) % M); }
    void discard(unsigned long long n) {
        for (; n > 0; --n) (*this)();
    }
    bool operator==(const linear_congruential_engine& other) const { return x_ == other.x_; }
    bool operator!=(const linear_congruential_engine& other) const { return x_ != other.x_; }
};
using minstd_rand0 = linear_congruential_engine<unsigned long, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<unsigned long, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand0;

// Numbers that cannot be predicted: from the time, an address in memory, and the number of calls.
inline unsigned long __wb_unforeseen = 0;
class random_device {
public:
    using result_type = unsigned;
    random_device() {
        __wb_run_op(__wb_host_op("entropy"), 0);
        __wb_unforeseen ^= (unsigned long)__wb::Value<int64_t>::get();
    }
    explicit random_device(const string&) : random_device() {}
    random_device(const random_device&) = delete;
    static constexpr unsigned min() { return 0; }
    static constexpr unsigned max() { return ~0u; }
    double entropy() const { return 32; }
    unsigned operator()() {
        unsigned long z = __wb_unforeseen += 0x9e3779b97f4a7c15ul;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
        z = (z ^ z >> 27) * 0x94d049bb133111ebul;
        return (unsigned)((z ^ z >> 31) >> 16);
    }
};

// A number in [0, 1) with so many random bits ([rand.util.canonical]).
template <typename T, size_t Bits, typename G> T generate_canonical(G& g) {
    constexpr size_t wanted = Bits < (size_t)numeric_limits<T>::digits ? Bits : (size_t)numeric_limits<T>::digits;
    constexpr unsigned long last = G::max() - G::min();
    size_t bits = 0;
    for (unsigned long rest = last - (last != ~0ul); rest > 0; rest >>= 1) ++bits;
    if (last != ~0ul && (last + 1) >> bits == 0) --bits;
    double range = (double)last + 1;
    T sum = 0, scale = 1;
    for (size_t n = wanted <= bits ? 1 : (wanted + bits - 1) / bits; n > 0; --n) {
        sum += (T)(unsigned long)(g() - G::min()) * scale;
        scale = (T)(scale * range);
    }
    T result = sum / scale;
    return result >= 1 ? 1 - numeric_limits<T>::epsilon() / 2 : result;
}
template <typename T, typename G> T __wb_unit(G& g) { return generate_canonical<T, (size_t)numeric_limits<T>::digits>(g); }

// The high words of the product, for a 32-bit and a 64-bit generator.
inline unsigned long __wb_high(unsigned long a, unsigned long b) {
    unsigned long al = a & 0xfffffffful, ah = a >> 32, bl = b & 0xfffffffful, bh = b >> 32;
    unsigned long middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xfffffffful);
    return ah * bh + (middle >> 32) + (other >> 32);
}
// A number up to `most`, all equally likely: by Lemire's multiplication if the generator has 32 or 64 bits, else by division.
template <typename G> unsigned long __wb_up_to(G& g, unsigned long most) {
    constexpr unsigned long range = G::max() - G::min();
    if (range == most) return g() - G::min();
    if (range < most) {
        unsigned long high, all;
        do {
            high = (range + 1) * __wb_up_to(g, most / (range + 1));
            all = high + (unsigned long)(g() - G::min());
        } while (all > most || all < high);
        return all;
    }
    unsigned long n = most + 1;
    if constexpr (range == ~0ul) {
        unsigned long x = g(), low = x * n;
        if (low < n)
            for (unsigned long least = (0 - n) % n; low < least; low = x * n) x = g();
        return __wb_high(x, n);
    } else if constexpr (range == 0xfffffffful) {
        unsigned long product = (unsigned long)g() * n;
        if ((unsigned)product < (unsigned)n)
            for (unsigned least = (0 - (unsigned)n) % (unsigned)n; (unsigned)product < least;) product = (unsigned long)g() * n;
        return product >> 32;
    } else {
        unsigned long scale = range / n, past = n * scale, x;
        do x = g() - G::min();
        while (x >= past);
        return x / scale;
    }
}

// Members of every distribution, from its parameters.
#define __WB_DISTRIBUTION(name, result) \
    using result_type = result; \
    name() {} \
    explicit name(const param_type& param) : param_(param) {} \
    void reset() {} \
    param_type param() const { return param_; } \
    void param(const param_type& param) { param_ = param; } \
    template <typename G> result operator()(G& g) { return (*this)(g, param_); } \
    bool operator==(const name& other) const { return param_ == other.param_; } \
    bool operator!=(const name& other) const { return !(param_ == other.param_); }
#define __WB_PARAMETERS_2(name, type, a, b, first, second) \
    struct param_type { \
        using distribution_type = name; \
        type __wb_##a, __wb_##b; \
        explicit param_type(type x = first, type y = second) : __wb_##a(x), __wb_##b(y) {} \
        type a() const { return __wb_##a; } \
        type b() const { return __wb_##b; } \
        bool operator==(const param_type& other) const { return __wb_##a == other.__wb_##a && __wb_##b == other.__wb_##b; } \
        bool operator!=(const param_type& other) const { return !(*this == other); } \
    }; \
    explicit name(type x, type y = second) : param_(x, y) {} \
    type a() const { return param_.a(); } \
    type b() const { return param_.b(); }
#define __WB_PARAMETERS_1(name, type, a, first) \
    struct param_type { \
        using distribution_type = name; \
        type __wb_##a; \
        explicit param_type(type x = first) : __wb_##a(x) {} \
        type a() const { return __wb_##a; } \
        bool operator==(const param_type& other) const { return __wb_##a == other.__wb_##a; } \
        bool operator!=(const param_type& other) const { return !(*this == other); } \
    }; \
    explicit name(type x) : param_(x) {} \
    type a() const { return param_.a(); }

template <typename T = int> class uniform_int_distribution {
public:
    __WB_PARAMETERS_2(uniform_int_distribution, T, a, b, 0, numeric_limits<T>::max())
    __WB_DISTRIBUTION(uniform_int_distribution, T)
    T min() const { return a(); }
    T max() const { return b(); }
    template <typename G> T operator()(G& g, const param_type& p) {
        if (p.b() < p.a()) __wb_no_draw("uniform_int_distribution: its lower bound is above its upper bound");
        return (T)(__wb_up_to(g, (unsigned long)p.b() - (unsigned long)p.a()) + (unsigned long)p.a());
    }

private:
    param_type param_;
};
template <typename T = double> class uniform_real_distribution {
public:
    __WB_PARAMETERS_2(uniform_real_distribution, T, a, b, 0, 1)
    __WB_DISTRIBUTION(uniform_real_distribution, T)
    T min() const { return a(); }
    T max() const { return b(); }
    template <typename G> T operator()(G& g, const param_type& p) {
        if (!(p.a() <= p.b())) __wb_no_draw("uniform_real_distribution: its lower bound is above its upper bound");
        return __wb_unit<T>(g) * (p.b() - p.a()) + p.a();
    }

private:
    param_type param_;
};
class bernoulli_distribution {
public:
    __WB_PARAMETERS_1(bernoulli_distribution, double, p, 0.5)
    __WB_DISTRIBUTION(bernoulli_distribution, bool)
    bool min() const { return false; }
    bool max() const { return true; }
    template <typename G> bool operator()(G& g, const param_type& p) {
        if (!(p.p() >= 0 && p.p() <= 1)) __wb_no_draw("bernoulli_distribution: its probability is not in [0, 1]");
        return __wb_unit<double>(g) < p.p();
    }

private:
    param_type param_;
};
template <typename T = double> class exponential_distribution {
public:
    __WB_PARAMETERS_1(exponential_distribution, T, lambda, 1)
    __WB_DISTRIBUTION(exponential_distribution, T)
    T min() const { return 0; }
    T max() const { return numeric_limits<T>::max(); }
    template <typename G> T operator()(G& g, const param_type& p) {
        if (!(p.lambda() > 0)) __wb_no_draw("exponential_distribution: its rate is not positive");
        return -::log((T)1 - __wb_unit<T>(g)) / p.lambda();
    }

private:
    param_type param_;
};
// Marsaglia's polar method gives two numbers; the second is kept.
template <typename T = double> class normal_distribution {
public:
    __WB_PARAMETERS_2(normal_distribution, T, mean, stddev, 0, 1)
    using result_type = T;
    normal_distribution() {}
    explicit normal_distribution(const param_type& param) : param_(param) {}
    void reset() { has_ = false; }
    param_type param() const { return param_; }
    void param(const param_type& param) { param_ = param; }
    T min() const { return numeric_limits<T>::lowest(); }
    T max() const { return numeric_limits<T>::max(); }
    template <typename G> T operator()(G& g) { return (*this)(g, param_); }
    template <typename G> T operator()(G& g, const param_type& p) {
        if (!(p.stddev() > 0)) __wb_no_draw("normal_distribution: its standard deviation is not positive");
        T result = kept_;
        if (has_) {
            has_ = false;
        } else {
            T x, y, r;
            do {
                x = 2 * __wb_unit<T>(g) - 1;
                y = 2 * __wb_unit<T>(g) - 1;
                r = x * x + y * y;
            } while (r > 1 || r == 0);
            T scale = ::sqrt(-2 * ::log(r) / r);
            kept_ = x * scale;
            has_ = true;
            result = y * scale;
        }
        return result * p.stddev() + p.mean();
    }
    bool operator==(const normal_distribution& other) const {
        return param_ == other.param_ && has_ == other.has_ && (!has_ || kept_ == other.kept_);
    }
    bool operator!=(const normal_distribution& other) const { return !(*this == other); }

private:
    param_type param_;
    T kept_ = 0;
    bool has_ = false;
};
template <typename T = double> class lognormal_distribution {
    normal_distribution<T> normal_;

public:
    using result_type = T;
    explicit lognormal_distribution(T m = 0, T s = 1) : m_(m), s_(s) {}
    void reset() { normal_.reset(); }
    T m() const { return m_; }
    T s() const { return s_; }
    template <typename G> T operator()(G& g) { return ::exp(s_ * normal_(g) + m_); }

private:
    T m_, s_;
};
// Indices, each as likely as its weight says.
template <typename T = int> class discrete_distribution {
    vector<double> share_, until_;

    void prepare() {
        double sum = 0;
        for (double weight : share_) {
            if (!(weight >= 0)) __wb_no_draw("discrete_distribution: a weight is negative");
            sum += weight;
        }
        if (share_.size() < 2) return share_.clear();
        double so_far = 0;
        for (double& weight : share_) {
            weight /= sum;
            until_.push_back(so_far += weight);
        }
        until_.back() = 1;
    }

public:
    using result_type = T;
    discrete_distribution() {}
    template <typename I> discrete_distribution(I first, I last) {
        for (; first != last; ++first) share_.push_back((double)*first);
        prepare();
    }
    discrete_distribution(initializer_list<double> weights) : discrete_distribution(weights.begin(), weights.end()) {}
    void reset() {}
    T min() const { return 0; }
    T max() const { return share_.empty() ? 0 : (T)(share_.size() - 1); }
    vector<double> probabilities() const { return share_.empty() ? vector<double>(1, 1.0) : share_; }
    template <typename G> T operator()(G& g) {
        if (until_.empty()) return 0;
        double p = __wb_unit<double>(g);
        return (T)(std::lower_bound(until_.begin(), until_.end(), p) - until_.begin());
    }
};
#undef __WB_DISTRIBUTION
#undef __WB_PARAMETERS_1
#undef __WB_PARAMETERS_2

template <typename I, typename F> void generate(I first, I last, F f) {
    for (; first != last; ++first) *first = f();
}
template <typename I, typename N, typename F> I generate_n(I first, N n, F f) {
    for (; n > 0; --n, ++first) *first = f();
    return first;
}
// Two places are drawn at once if the generator's range allows it, as in libstdc++.
template <typename I, typename G> void shuffle(I first, I last, G&& g) {
    using Engine = remove_reference_t<G>;
    unsigned long n = last - first, range = Engine::max() - Engine::min();
    if (n == 0) return;
    unsigned long i = 1;
    if (range / n >= n) {
        if (n % 2 == 0) std::swap(first[i++], first[__wb_up_to(g, 1)]);
        for (; i < n; i += 2) {
            unsigned long both = __wb_up_to(g, (i + 1) * (i + 2) - 1);
            std::swap(first[i], first[both / (i + 2)]);
            std::swap(first[i + 1], first[both % (i + 2)]);
        }
        return;
    }
    for (; i < n; ++i) std::swap(first[i], first[__wb_up_to(g, i)]);
}

}

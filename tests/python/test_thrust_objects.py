"""Vectors, iterators, tuples and random numbers of Thrust from host code, its algorithms in kernels, and their faults, against NumPy."""

import numpy as np
import pytest

import workbench as wb
from thrust_texts import HEAD, built, ints


def test_vectors():
    m = built(
        r"""
        using thrust::device_vector;
        using thrust::host_vector;
        int construct() {
            device_vector<int> empty, five(5), sevens(4, 7), list{1, 2, 3};
            host_vector<int> h(list.begin(), list.end()), copy = list;
            std::vector<int> plain = {4, 5, 6};
            device_vector<int> of_plain(plain), of_range(plain.begin(), plain.end()), of_counting(thrust::make_counting_iterator(3), thrust::make_counting_iterator(8));
            device_vector<float> other(list);
            int ok = empty.empty() && five.size() == 5 && five[4] == 0 && sevens[3] == 7 && list.size() == 3 && h[2] == 3 && copy == h;
            ok = ok && of_plain[1] == 5 && of_range[2] == 6 && of_counting.size() == 5 && of_counting[4] == 7 && other[2] == 3.0f && list == copy;
            return ok;
        }
        int assign() {
            host_vector<int> h(3);
            for (int i = 0; i < 3; ++i) h[i] = i + 1;
            device_vector<int> d = h, e;
            e = d;
            d[1] = 20;
            d[2] += 5;
            d.push_back(9);
            h = d;
            e.resize(6, 8);
            int ok = h[0] == 1 && h[1] == 20 && h[2] == 8 && h.size() == 4 && h.back() == 9 && e[1] == 2 && e[5] == 8;
            e.clear();
            ok = ok && e.size() == 0 && d.front() == 1;
            d.swap(e);
            ok = ok && d.empty() && e.size() == 4;
            e.insert(e.begin() + 1, 50);
            e.erase(e.begin());
            std::vector<int> out(e.size());
            thrust::copy(e.begin(), e.end(), out.begin());
            return ok && out[0] == 50 && out[1] == 20 && out.size() == 4;
        }
        int references() {
            device_vector<int> d(4, 1);
            auto at = d.begin() + 2;
            *at = 5;
            ++d[3];
            d[0] = d[2];
            int sum = 0;
            for (auto it = d.begin(); it != d.end(); ++it) sum += *it;
            int* raw = thrust::raw_pointer_cast(&d[0]);
            int* data = thrust::raw_pointer_cast(d.data());
            const device_vector<int>& c = d;
            device_vector<int>::const_iterator first = c.begin();
            thrust::swap(d[1], d[2]);
            float scaled = d[1] * 0.5f;
            return sum == 13 && raw == data && *first == 5 && d[1] == 5 && d[2] == 1 && scaled == 2.5f && d.end() - at == 2 && int(d[0]) == 5;
        }
        __global__ void twice(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
        int kernels() {
            host_vector<int> h(10);
            thrust::sequence(h.begin(), h.end());
            device_vector<int> d = h;
            twice<<<1, 32>>>(thrust::raw_pointer_cast(d.data()), d.size());
            thrust::copy(d.begin(), d.end(), h.begin());
            return thrust::reduce(h.begin(), h.end());
        }
        struct Point { float x, y; };
        float points() {
            device_vector<Point> d(3, Point{1, 2});
            Point p = d[1];
            p.y = 5;
            d[1] = p;
            Point s = thrust::reduce(d.begin(), d.end(), Point{0, 0}, [] __device__(Point a, Point b) { return Point{a.x + b.x, a.y + b.y}; });
            return 10 * s.x + s.y;
        }
        int texts() {
            host_vector<std::string> v(2);
            v[0] = "one";
            v.push_back("three");
            return v[0].size() * 100 + v[1].size() * 10 + v[2].size();
        }
        """,
        "construct assign references kernels points texts",
    )
    assert m.construct() and m.assign() and m.references()
    assert m.kernels() == 90
    assert m.points() == 39
    assert m.texts() == 305


def test_host_vectors_call_functions_of_the_host():
    m = built(
        r"""
        static int calls = 0;
        int next() { return calls++; }
        int run(int n) {
            calls = 0;
            thrust::host_vector<int> h(n);
            thrust::generate(h.begin(), h.end(), next);
            int most = n / 2, seen = 0;
            thrust::for_each(h.begin(), h.end(), [&](int x) { seen += x; });
            thrust::sort(h.begin(), h.end(), [](int a, int b) { return a > b; });
            int below = thrust::count_if(h.begin(), h.end(), [&](int x) { return x < most; });
            thrust::host_vector<int> r(n);
            thrust::generate(r.begin(), r.end(), rand);
            return seen * 10000 + h[0] * 100 + below;
        }
        """,
        "run",
    )
    assert m.run(20) == 190 * 10000 + 19 * 100 + 10


def test_iterators():
    m = built(
        r"""
        int64_t squares(int n) {
            auto first = thrust::make_transform_iterator(thrust::make_counting_iterator<int64_t>(1), [] __host__ __device__(int64_t x) { return x * x; });
            return thrust::reduce(first, first + n);
        }
        int constant(int n) {
            thrust::constant_iterator<int> c(3);
            return thrust::reduce(thrust::device, c, c + n);
        }
        int permuted(T x, T at) {
            auto first = thrust::make_permutation_iterator(dev<int>(x), dev<int>(at));
            return thrust::reduce(first, first + at.numel());
        }
        void permuted_write(T x, T at) {
            auto first = thrust::make_permutation_iterator(dev<int>(x), dev<int>(at));
            thrust::fill(first, first + at.numel(), -1);
        }
        void reversed(T x, T y) {
            thrust::reverse_iterator<thrust::device_ptr<int>> first(dev<int>(x) + x.numel());
            thrust::inclusive_scan(first, first + x.numel(), thrust::make_reverse_iterator(dev<int>(y) + y.numel()));
        }
        int distinct(T x) {
            return thrust::reduce_by_key(dev<int>(x), dev<int>(x) + x.numel(), thrust::make_constant_iterator(1), thrust::make_discard_iterator(),
                                         thrust::make_discard_iterator()).first - thrust::make_discard_iterator();
        }
        void zipped(T x, T y, T z) {
            auto first = thrust::make_zip_iterator(thrust::make_tuple(dev<int>(x), dev<int>(y), dev<int>(z)));
            thrust::for_each(first, first + x.numel(), [] __device__(thrust::tuple<int&, int&, int&> t) {
                thrust::get<2>(t) = thrust::get<0>(t) - thrust::get<1>(t);
            });
        }
        struct Add { template <typename U> __device__ int operator()(const U& t) const { return thrust::get<0>(t) + 10 * thrust::get<1>(t); } };
        void zipped_transform(T x, T y, T z) {
            auto first = thrust::make_zip_iterator(dev<int>(x), y.data_ptr<int>());
            thrust::transform(first, first + x.numel(), dev<int>(z), Add());
            thrust::transform(first, first + x.numel(), dev<int>(z), dev<int>(z), [] __device__(const thrust::tuple<int, int>& t, int z) { return z + thrust::get<1>(t); });
        }
        void zip_function(T x, T y, T z) {
            auto first = thrust::make_zip_iterator(dev<int>(x), dev<int>(y), dev<int>(z));
            thrust::for_each(first, first + x.numel(), thrust::make_zip_function([] __device__(int a, int b, int& c) { c = a * b; }));
            thrust::for_each(first, first + x.numel(), [] __device__(const auto& t) { thrust::get<2>(t) += 1; });
            thrust::get<2>(*first) -= 1;
            first[1 % x.numel()] = thrust::make_tuple(3, 4, 12);
        }
        int largest_with_place(T x) {
            using Pair = thrust::tuple<int, int>;
            auto first = thrust::make_zip_iterator(dev<int>(x), thrust::make_counting_iterator(0));
            Pair best = thrust::reduce(first, first + x.numel(), Pair(-1000, -1), thrust::maximum<Pair>());
            return thrust::get<0>(best) * 10000 + thrust::get<1>(best);
        }
        // The strided range of Thrust's examples
        template <typename I> struct strided {
            typedef typename thrust::iterator_difference<I>::type difference_type;
            struct stride_functor : public thrust::unary_function<difference_type, difference_type> {
                difference_type stride;
                stride_functor(difference_type stride) : stride(stride) {}
                __host__ __device__ difference_type operator()(const difference_type& i) const { return stride * i; }
            };
            typedef typename thrust::counting_iterator<difference_type> Counting;
            typedef typename thrust::transform_iterator<stride_functor, Counting> Transform;
            typedef typename thrust::permutation_iterator<I, Transform> Permutation;
            typedef Permutation iterator;
            strided(I first, I last, difference_type stride) : first(first), last(last), stride(stride) {}
            iterator begin() const { return Permutation(first, Transform(Counting(0), stride_functor(stride))); }
            iterator end() const { return begin() + ((last - first) + (stride - 1)) / stride; }
            I first, last;
            difference_type stride;
        };
        int every(int n, int stride) {
            thrust::device_vector<int> d(n);
            thrust::sequence(d.begin(), d.end());
            typedef thrust::device_vector<int>::iterator Iterator;
            strided<Iterator> some(d.begin(), d.end(), stride);
            thrust::fill(some.begin(), some.end(), 1000);
            return thrust::reduce(some.begin(), some.end()) + d[1];
        }
        """,
        "squares constant permuted permuted_write reversed distinct zipped zipped_transform zip_function largest_with_place every",
    )
    for n in (1, 2, 17, 1000):
        x, y, z = ints(n), ints(n, seed=1), np.zeros(n, np.int32)
        at = np.random.default_rng(n).permutation(n)[: (n + 1) // 2].astype(np.int32)
        assert m.squares(n) == sum(i * i for i in range(1, n + 1))
        assert m.constant(n) == 3 * n
        assert m.permuted(x, at) == x[at].sum()
        w = x.copy()
        m.permuted_write(w, at)
        want = x.copy()
        want[at] = -1
        np.testing.assert_array_equal(w, want)
        m.reversed(x, z)
        np.testing.assert_array_equal(z, np.cumsum(x[::-1])[::-1])
        assert m.distinct(np.sort(x)) == len(np.unique(x))
        m.zipped(x, y, z)
        np.testing.assert_array_equal(z, x - y)
        m.zipped_transform(x, y, z)
        np.testing.assert_array_equal(z, x + 11 * y)
        v, w = x.copy(), y.copy()
        m.zip_function(v, w, z)
        want = x * y + 1
        want[0] -= 1
        want[1 % n] = 12
        np.testing.assert_array_equal(z, want)
        assert v[1 % n] == 3 and w[1 % n] == 4
        best = x.max()
        assert m.largest_with_place(x) == best * 10000 + np.flatnonzero(x == best)[-1]
    assert m.every(10, 3) == 4001


def test_placeholders():
    m = built(
        r"""
        using namespace thrust::placeholders;
        void saxpy(float a, T x, T y) {
            thrust::transform(dev<float>(x), dev<float>(x) + x.numel(), dev<float>(y), dev<float>(y), a * _1 + _2);
        }
        int between(T x) { return thrust::count_if(dev<int>(x), dev<int>(x) + x.numel(), _1 > 3 && !(_1 >= 10)); }
        void remainder(T x) { thrust::transform(dev<int>(x), dev<int>(x) + x.numel(), dev<int>(x), -_1 % 7); }
        int drop(T x) { return thrust::remove_if(dev<int>(x), dev<int>(x) + x.numel(), _1 == 0) - dev<int>(x); }
        """,
        "saxpy between remainder drop",
    )
    # Small integers: floats are exact.
    x, y = ints(999).astype(np.float32), ints(999, seed=1).astype(np.float32)
    want = 2.5 * x + y
    m.saxpy(2.5, x, y)
    np.testing.assert_array_equal(y, want)
    x = ints(999)
    assert m.between(x) == ((x > 3) & (x < 10)).sum()
    assert m.drop(x.copy()) == (x != 0).sum()
    y = x.copy()
    m.remainder(y)
    np.testing.assert_array_equal(y, np.fmod(-x, 7))


def test_lambdas_with_pointers():
    m = built(
        r"""
        void axpy(float a, T x, T y) {
            const float* p = x.data_ptr<float>();
            float* q = y.data_ptr<float>();
            thrust::for_each(thrust::device, thrust::make_counting_iterator<int64_t>(0), thrust::make_counting_iterator<int64_t>(x.numel()),
                             [=] __device__(int64_t i) { q[i] += a * p[i]; });
        }
        void histogram(T x, T counts) {
            int* c = counts.data_ptr<int>();
            thrust::for_each_n(thrust::cuda::par.on(at::cuda::getCurrentCUDAStream()), x.data_ptr<int>(), x.numel(), [=] __device__(int v) { atomicAdd(&c[v], 1); });
        }
        void argsort(T x, T order) {
            const float* p = x.data_ptr<float>();
            int* o = order.data_ptr<int>();
            thrust::sequence(thrust::device, o, o + x.numel());
            thrust::stable_sort(thrust::device, o, o + x.numel(), [=] __device__(int a, int b) { return p[a] < p[b]; });
        }
        """,
        "axpy histogram argsort",
    )
    x, y = ints(1003).astype(np.float32), ints(1003, seed=1).astype(np.float32)
    want = y + 3 * x
    m.axpy(3.0, x, y)
    np.testing.assert_array_equal(y, want)
    v, counts = ints(1003, 0, 30), np.zeros(30, np.int32)
    m.histogram(v, counts)
    np.testing.assert_array_equal(counts, np.bincount(v, minlength=30))
    x, order = np.random.default_rng(1).normal(size=3001).astype(np.float32), np.zeros(3001, np.int32)
    m.argsort(x, order)
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))


@pytest.mark.parametrize("n", [1, 511, 512, 513, 5000, 300007])
def test_operators_keep_the_order(n):
    m = built(
        r"""
        std::vector<int64_t> compose(T x) {
            auto p = thrust::device_pointer_cast((Affine*)x.data_ptr<int>());
            Affine all = thrust::reduce(p, p + x.numel() / 2, Affine{1, 0}, Compose());
            return {all.a, all.b};
        }
        """,
        "compose",
    )
    x = np.random.default_rng(n).integers(-(2**31), 2**31, (n, 2)).astype(np.int32) | np.int32(1)
    a, b = 1, 0
    for c, d in x.astype(np.uint32).tolist():
        a, b = a * c % 2**32, (b * c + d) % 2**32
    assert m.compose(x) == [a, b]


def test_sums_of_floats():
    m = built(
        r"""
        float sum(T x) { return thrust::reduce(thrust::device, x.data_ptr<float>(), x.data_ptr<float>() + x.numel()); }
        double norm(T x) {
            return std::sqrt(thrust::transform_reduce(dev<float>(x), dev<float>(x) + x.numel(), [] __device__(float v) { return (double)v * v; }, 0.0, thrust::plus<double>()));
        }
        """,
        "sum norm",
    )
    for n in (0, 1, 1000, 1000003):
        x = np.random.default_rng(n).uniform(-1, 1, n).astype(np.float32)
        # A sum of sums of at most `longest` numbers rounds at most so often on the way of each of them.
        longest = 1024 + max(256, (n + 1023) // 1024)
        assert abs(m.sum(x) - x.astype(np.float64).sum()) <= longest * 2.0**-24 * np.abs(x).sum()
        # `double`: the same with its own rounding.
        want = np.sqrt((x.astype(np.float64) ** 2).sum())
        assert abs(m.norm(x) - want) <= longest * 2.0**-52 * want
    assert m.sum(np.ones(20_000_000, np.float32)) == 20_000_000


def test_large_sorts():
    m = built(
        r"""
        void sort(T x) { thrust::sort(thrust::device, x.data_ptr<float>(), x.data_ptr<float>() + x.numel()); }
        void pairs(T k, T v) { thrust::stable_sort_by_key(thrust::device, k.data_ptr<int64_t>(), k.data_ptr<int64_t>() + k.numel(), v.data_ptr<int>(), thrust::greater<int64_t>()); }
        """,
        "sort pairs",
    )
    x = np.random.default_rng(0).normal(size=300001).astype(np.float32)
    want = np.sort(x)
    m.sort(x)
    np.testing.assert_array_equal(x, want)
    k = ints(100003, 0, 1000, dtype=np.int64)
    order = np.argsort(-k, kind="stable")
    keys, v = k.copy(), np.arange(len(k), dtype=np.int32)
    m.pairs(keys, v)
    np.testing.assert_array_equal(keys, k[order])
    np.testing.assert_array_equal(v, order)


def test_in_kernels():
    m = built(
        r"""
        __global__ void rows(int* x, int* sums, const int* bounds, int* found, int n) {
            int row = blockIdx.x * blockDim.x + threadIdx.x;
            if (row >= n) return;
            int* mine = x + row * 20;
            thrust::sort(thrust::seq, mine, mine + 20);
            sums[row] = thrust::reduce(thrust::seq, mine, mine + 20, 0, thrust::plus<int>());
            found[row] = thrust::lower_bound(thrust::seq, mine, mine + 20, bounds[row]) - mine;
            thrust::tuple<int, int> t = thrust::make_tuple(sums[row], found[row]);
            thrust::pair<int, int> p(thrust::get<0>(t), thrust::get<1>(t));
            sums[row] = thrust::max(p.first, -100000);
        }
        void run(T x, T sums, T bounds, T found) {
            rows<<<3, 32>>>(x.data_ptr<int>(), sums.data_ptr<int>(), bounds.data_ptr<int>(), found.data_ptr<int>(), sums.numel());
        }
        """,
        "run",
    )
    x, bounds = ints(1400).reshape(70, 20), ints(70)
    want = np.sort(x, axis=1)
    sums, found = np.zeros(70, np.int32), np.zeros(70, np.int32)
    m.run(x, sums, bounds, found)
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(sums, want.sum(1))
    np.testing.assert_array_equal(found, (want < bounds[:, None]).sum(1))


def test_random_numbers():
    m = built(
        r"""
        std::vector<int64_t> ten_thousandth(int skipped) {
            thrust::minstd_rand a;
            thrust::random::minstd_rand0 b;
            a.discard(skipped);
            b.discard(skipped);
            for (int i = skipped; i < 9999; ++i) {
                a();
                b();
            }
            return {a(), b()};
        }
        // The estimate of pi of Thrust's examples
        struct estimate : public thrust::unary_function<unsigned int, float> {
            __host__ __device__ float operator()(unsigned int seed) {
                thrust::default_random_engine rng(seed * 7919 + 1);
                thrust::uniform_real_distribution<float> u01(0, 1);
                float sum = 0;
                for (int i = 0; i < 1000; ++i) {
                    float x = u01(rng), y = u01(rng);
                    if (sqrtf(x * x + y * y) <= 1.0f) sum += 1.0f;
                }
                return sum * 4.0f / 1000;
            }
        };
        float pi(int n) {
            return thrust::transform_reduce(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), estimate(), 0.0f, thrust::plus<float>()) / n;
        }
        void draw(T uniform, T whole, T normal) {
            float *u = uniform.data_ptr<float>(), *z = normal.data_ptr<float>();
            int* w = whole.data_ptr<int>();
            thrust::for_each_n(thrust::device, thrust::make_counting_iterator(0), uniform.numel(), [=] __device__(int i) {
                thrust::default_random_engine rng(42);
                rng.discard(3 * i);
                u[i] = thrust::uniform_real_distribution<float>(-1, 3)(rng);
                w[i] = thrust::uniform_int_distribution<int>(5, 9)(rng);
                z[i] = thrust::normal_distribution<float>(10, 2)(rng);
            });
        }
        """,
        "ten_thousandth pi draw",
    )
    # The standard says what the ten thousandth numbers are.
    for skipped in (0, 1, 5000, 9999):
        assert m.ten_thousandth(skipped) == [399268537, 1043618065]
    # Deviations of five standard errors and less: 4 * sqrt(p (1 - p) / 100000) is 0.0052.
    assert abs(m.pi(100) - np.pi) < 0.026
    n = 20000
    u, w, z = np.zeros(n, np.float32), np.zeros(n, np.int32), np.zeros(n, np.float32)
    m.draw(u, w, z)
    assert u.min() >= -1 and u.max() < 3 and abs(u.mean() - 1) < 5 * 4 / np.sqrt(12 * n)
    assert set(w) <= {5, 6, 7, 8, 9} and abs(z.mean() - 10) < 5 * 2 / np.sqrt(n) and abs(z.std() - 2) < 5 * 2 / np.sqrt(2 * n)
    x = 42
    for i in range(3):
        x = x * 48271 % (2**31 - 1)
        if i == 0:  # the formula, in `float`
            f = np.float32(x - 1) / np.float32(2**31 - 3)
            assert u[0] == f * (np.nextafter(np.float32(3), np.float32(-1)) + np.float32(1)) - np.float32(1)


def test_printing(capfd):
    m = built(
        r"""
        void run() {
            thrust::device_vector<int> d(3, 4);
            d[1] = 7;
            for (int i = 0; i < d.size(); i++) std::cout << "d[" << i << "] = " << d[i] << std::endl;
            printf("%d %g", (int)d[1], (float)d[2]);
        }
        """,
        "run",
    )
    m.run()
    assert capfd.readouterr().out == "d[0] = 4\nd[1] = 7\nd[2] = 4\n7 4"


def test_tuples():
    m = built(
        r"""
        int run() {
            thrust::tuple<int, float, char> t(1, 2.5f, 'c'), u = t;
            thrust::get<0>(u) = 5;
            int a;
            float b;
            char c;
            thrust::tie(a, b, c) = u;
            bool ok = a == 5 && b == 2.5f && c == 'c' && t < u && u > t && t != u && t == thrust::make_tuple(1, 2.5, 'c');
            const thrust::tuple<int&, float&> places(a, b);
            thrust::get<0>(places) = 8;
            places.get<1>() += 1;
            ok = ok && a == 8 && b == 3.5f;
            thrust::tuple_element<1, thrust::tuple<int, float>>::type f = 1.5;
            return ok && f == 1.5f && thrust::tuple_size<thrust::tuple<int, int, int>>::value == 3 && t.get<0>() == 1;
        }
        """,
        "run",
    )
    assert m.run()


def line_of(text, part):
    return next(i for i, line in enumerate(text.splitlines(), 1) if part in line)


@pytest.mark.parametrize(
    "call",
    [
        "thrust::for_each(thrust::device, c, c + 10, [=] __device__(int i) { p[i] = p[i + 1]; });  // here",
        "thrust::transform(thrust::device, c, c + 10, p, [=] __device__(int i) { return p[i * 2]; });  // here",
        "thrust::sort(thrust::device, p, p + 10, [=] __device__(int a, int b) { return p[a + 100] < p[b]; });  // here",
        "thrust::count_if(thrust::host, p, p + 10, [=](int a) { return p[a + 100] > 0; });  // here",
    ],
)
def test_a_fault_in_a_functor(call):
    text = HEAD + "void run(T x) {\n    int* p = x.data_ptr<int>();\n    thrust::counting_iterator<int> c(0);\n    " + call + "\n}\n"
    m = wb.load_inline("t", cpp_sources="", cuda_sources=text, functions=["run"])
    with pytest.raises(wb.KernelFault, match="out-of-bounds read") as e:
        m.run(np.zeros(10, np.int32))
    assert f":{line_of(text, '// here')}:" in str(e.value)


@pytest.mark.parametrize(
    "call",
    [
        "thrust::fill(d, d + 11, 1);  // here",
        "thrust::sort(d, d + 11);  // here",
        "thrust::gather(d, d + 10, d, d - 1);  // here",
        "thrust::reduce(thrust::host, p, p + 11);  // here",
    ],
)
def test_a_range_past_its_end(call):
    text = HEAD + "void run(T x) {\n    int* p = x.data_ptr<int>();\n    auto d = dev<int>(x);\n    " + call + "\n}\n"
    m = wb.load_inline("t", cpp_sources="", cuda_sources=text, functions=["run"])
    with pytest.raises(wb.KernelFault, match="out-of-bounds|dangling"):
        m.run(np.zeros(10, np.int32))


@pytest.mark.parametrize(
    "call",
    [
        "thrust::sort(d);",
        "thrust::sort(thrust::device, d, d + 1, 5);",
        "thrust::transform(d, d + 1, d);",
        "thrust::reduce(d, 5);",
        "thrust::no_such_thing(d, d + 1);",
        "int* q = thrust::raw_pointer_cast(5);",
        "int* q = d;",
        "thrust::device_ptr<int> q = d.get();",
        "struct S { int a; }; thrust::device_vector<S> v(2); v[0].a = 3;",
        "thrust::get<2>(thrust::make_tuple(1, 2));",
        "thrust::for_each(thrust::host, d.get(), d.get() + 1, [] __device__(int x) {});",
        "struct S { int a; }; thrust::device_vector<S> v(2); thrust::sort(v.begin(), v.end());",
        "thrust::transform(d, d + 1, d, [] __device__(int a, int b) { return a; });",
    ],
)
def test_wrong_uses(call):
    text = HEAD + "void run(T x) {\n    auto d = dev<int>(x);\n    " + call + "\n}\n"
    with pytest.raises(wb.CompileError):
        wb.load_inline("t", cpp_sources="", cuda_sources=text, functions=["run"])

"""Algorithms of Thrust from host code, against NumPy: equal for integers, and for floats within bounds that are said where they are used."""

import numpy as np
import pytest

from thrust_texts import built, ints

SIZES = [0, 1, 2, 15, 16, 17, 33, 255, 257, 513, 1000, 5003]


# Each algorithm in all the ways it is called: with iterators of the device, with a policy and plain pointers, on the host.
WAYS = {
    "device_ptr": ("", "dev<N>(X)"),
    "device": ("thrust::device, ", "X.data_ptr<N>()"),
    "stream": ("thrust::cuda::par.on(0), ", "dev<N>(X)"),
    "host": ("thrust::host, ", "X.data_ptr<N>()"),
    "plain": ("", "X.data_ptr<N>()"),
    "seq": ("thrust::seq, ", "X.data_ptr<N>()"),
}


def ways(text, names):
    """One module for each way: P is the policy with its comma, IT(X) an iterator over a tensor of N."""
    return [(way, lambda way=way: built(f"#define P {WAYS[way][0]}\n#define IT(X) {WAYS[way][1]}\nusing N = int;\n" + text, names)) for way in WAYS]


def in_all_ways(text, names):
    all_ways = ways(text, names)
    return pytest.mark.parametrize("make", [make for _, make in all_ways], ids=[way for way, _ in all_ways])


SORTS = r"""
void sort(T x) { thrust::sort(P IT(x), IT(x) + x.numel()); }
void sort_down(T x) { thrust::sort(P IT(x), IT(x) + x.numel(), thrust::greater<int>()); }
void stable_digit(T x) { thrust::stable_sort(P IT(x), IT(x) + x.numel(), ByDigit()); }
void by_key(T k, T v) { thrust::sort_by_key(P IT(k), IT(k) + k.numel(), IT(v)); }
void by_key_digit(T k, T v) { thrust::stable_sort_by_key(P IT(k), IT(k) + k.numel(), IT(v), ByDigit()); }
void sort_zip(T k, T v) {
    auto z = thrust::make_zip_iterator(thrust::make_tuple(IT(k), IT(v)));
    thrust::sort(P z, z + k.numel());
}
bool sorted(T x) { return thrust::is_sorted(P IT(x), IT(x) + x.numel()); }
int sorted_until(T x) { return thrust::is_sorted_until(P IT(x), IT(x) + x.numel()) - IT(x); }
"""


@in_all_ways(SORTS, "sort sort_down stable_digit by_key by_key_digit sort_zip sorted sorted_until")
def test_sort(make):
    m = make()
    for n in SIZES[:-2]:
        x = ints(n)
        got = x.copy()
        m.sort(got)
        np.testing.assert_array_equal(got, np.sort(x))
        assert m.sorted(got) and m.sorted_until(got) == n
        m.sort_down(got)
        np.testing.assert_array_equal(got, np.sort(x)[::-1])
        x = np.abs(x)
        got = x.copy()
        m.stable_digit(got)
        np.testing.assert_array_equal(got, x[np.argsort(x % 10, kind="stable")])
        k, v = x.copy(), np.arange(n, dtype=np.int32)
        m.by_key(k, v)
        order = np.argsort(x, kind="stable")
        np.testing.assert_array_equal(k, x[order])
        np.testing.assert_array_equal(v, order)
        k, v = x.copy(), np.arange(n, dtype=np.int32)
        m.by_key_digit(k, v)
        order = np.argsort(x % 10, kind="stable")
        np.testing.assert_array_equal(k, x[order])
        np.testing.assert_array_equal(v, order)
        k, v = x.copy(), ints(n, seed=1)
        w = v.copy()
        m.sort_zip(k, v)
        order = np.lexsort((w, x))
        np.testing.assert_array_equal(k, x[order])
        np.testing.assert_array_equal(v, w[order])


REDUCTIONS = r"""
int sum(T x) { return thrust::reduce(P IT(x), IT(x) + x.numel()); }
int64_t sum_from(T x) { return thrust::reduce(P IT(x), IT(x) + x.numel(), (int64_t)5); }
int largest(T x) { return thrust::reduce(P IT(x), IT(x) + x.numel(), -1000, thrust::maximum<int>()); }
int squares(T x) { return thrust::transform_reduce(P IT(x), IT(x) + x.numel(), Square(), 0, thrust::plus<int>()); }
int dot(T x, T y) { return thrust::inner_product(P IT(x), IT(x) + x.numel(), IT(y), 7); }
int differ(T x, T y) {
    return thrust::inner_product(P IT(x), IT(x) + x.numel(), IT(y), 0, thrust::plus<int>(), thrust::not_equal_to<int>());
}
int64_t evens(T x) { return thrust::count_if(P IT(x), IT(x) + x.numel(), Even()); }
int64_t threes(T x) { return thrust::count(P IT(x), IT(x) + x.numel(), 3); }
int at_min(T x) { return thrust::min_element(P IT(x), IT(x) + x.numel()) - IT(x); }
int at_max(T x) { return thrust::max_element(P IT(x), IT(x) + x.numel()) - IT(x); }
int at_max_digit(T x) { return thrust::max_element(P IT(x), IT(x) + x.numel(), ByDigit()) - IT(x); }
int at_both(T x) {
    auto p = thrust::minmax_element(P IT(x), IT(x) + x.numel());
    return (p.first - IT(x)) * 10000 + (p.second - IT(x));
}
int at_three(T x) { return thrust::find(P IT(x), IT(x) + x.numel(), 3) - IT(x); }
int at_even(T x) { return thrust::find_if(P IT(x), IT(x) + x.numel(), Even()) - IT(x); }
int at_odd(T x) { return thrust::find_if_not(P IT(x), IT(x) + x.numel(), Even()) - IT(x); }
bool any(T x) { return thrust::any_of(P IT(x), IT(x) + x.numel(), Even()); }
bool all(T x) { return thrust::all_of(P IT(x), IT(x) + x.numel(), Even()); }
bool none(T x) { return thrust::none_of(P IT(x), IT(x) + x.numel(), Even()); }
bool equal(T x, T y) { return thrust::equal(P IT(x), IT(x) + x.numel(), IT(y)); }
int mismatch(T x, T y) { return thrust::mismatch(P IT(x), IT(x) + x.numel(), IT(y)).first - IT(x); }
"""


@in_all_ways(
    REDUCTIONS,
    "sum sum_from largest squares dot differ evens threes at_min at_max at_max_digit at_both at_three at_even at_odd any all none equal mismatch",
)
def test_reductions(make):
    m = make()
    for n in SIZES:
        x, y = ints(n), ints(n, seed=1, low=-1, high=1)
        assert m.sum(x) == x.sum()
        assert m.sum_from(x) == 5 + x.sum()
        assert m.largest(x) == x.max(initial=-1000)
        assert m.squares(x) == (x * x).sum()
        assert m.dot(x, y) == 7 + (x * y).sum()
        assert m.differ(x, y) == (x != y).sum()
        assert m.evens(x) == (x % 2 == 0).sum()
        assert m.threes(x) == (x == 3).sum()
        if n:
            assert m.at_min(x) == x.argmin() and m.at_max(x) == x.argmax()
            assert m.at_both(x) == x.argmin() * 10000 + x.argmax()
            assert m.at_max_digit(abs(x)) == (abs(x) % 10).argmax()
        first = lambda where: int(np.argmax(where)) if where.any() else n
        assert m.at_three(x) == first(x == 3)
        assert m.at_even(x) == first(x % 2 == 0) and m.at_odd(x) == first(x % 2 != 0)
        for z in (x, 2 * x, 2 * x + 1):
            even = z % 2 == 0
            assert (m.any(z), m.all(z), m.none(z)) == (even.any(), even.all(), not even.any())
        assert m.equal(x, x.copy()) and m.mismatch(x, x.copy()) == n
        if n:
            z = x.copy()
            z[n // 2] += 1
            assert not m.equal(x, z) and m.mismatch(x, z) == n // 2


SCANS = r"""
void inclusive(T x, T y) { thrust::inclusive_scan(P IT(x), IT(x) + x.numel(), IT(y)); }
void inclusive_max(T x, T y) { thrust::inclusive_scan(P IT(x), IT(x) + x.numel(), IT(y), thrust::maximum<int>()); }
void exclusive(T x, T y) { thrust::exclusive_scan(P IT(x), IT(x) + x.numel(), IT(y)); }
void exclusive_from(T x, T y) { thrust::exclusive_scan(P IT(x), IT(x) + x.numel(), IT(y), 7); }
void exclusive_max(T x, T y) { thrust::exclusive_scan(P IT(x), IT(x) + x.numel(), IT(y), -9, thrust::maximum<int>()); }
void squares(T x, T y) { thrust::transform_inclusive_scan(P IT(x), IT(x) + x.numel(), IT(y), Square(), thrust::plus<int>()); }
void squares_before(T x, T y) { thrust::transform_exclusive_scan(P IT(x), IT(x) + x.numel(), IT(y), Square(), 3, thrust::plus<int>()); }
void inclusive_key(T k, T x, T y) { thrust::inclusive_scan_by_key(P IT(k), IT(k) + k.numel(), IT(x), IT(y)); }
void exclusive_key(T k, T x, T y) { thrust::exclusive_scan_by_key(P IT(k), IT(k) + k.numel(), IT(x), IT(y)); }
void exclusive_key_from(T k, T x, T y) {
    thrust::exclusive_scan_by_key(P IT(k), IT(k) + k.numel(), IT(x), IT(y), 4, thrust::equal_to<int>(), thrust::plus<int>());
}
int sums(T k, T x, T l, T y) {
    auto end = thrust::reduce_by_key(P IT(k), IT(k) + k.numel(), IT(x), IT(l), IT(y));
    return end.first - IT(l) == end.second - IT(y) ? end.first - IT(l) : -1;
}
int largest(T k, T x, T l, T y) {
    return thrust::reduce_by_key(P IT(k), IT(k) + k.numel(), IT(x), IT(l), IT(y), thrust::equal_to<int>(), thrust::maximum<int>()).first - IT(l);
}
void differences(T x, T y) { thrust::adjacent_difference(P IT(x), IT(x) + x.numel(), IT(y)); }
void neighbours(T x, T y) { thrust::adjacent_difference(P IT(x), IT(x) + x.numel(), IT(y), thrust::plus<int>()); }
"""


@in_all_ways(
    SCANS,
    "inclusive inclusive_max exclusive exclusive_from exclusive_max squares squares_before inclusive_key exclusive_key"
    " exclusive_key_from sums largest differences neighbours",
)
def test_scans(make):
    m = make()
    for n in SIZES:
        x = ints(n)

        def check(f, want, *args):
            y = np.full(n, 12345, np.int32)
            f(*args, y)
            np.testing.assert_array_equal(y, np.asarray(want)[:n])

        before = np.concatenate([[0], np.cumsum(x)])
        check(m.inclusive, np.cumsum(x), x)
        check(m.inclusive_max, np.maximum.accumulate(x), x)
        check(m.exclusive, before, x)
        check(m.exclusive_from, before + 7, x)
        check(m.exclusive_max, np.maximum.accumulate(np.concatenate([[-9], x])), x)
        check(m.squares, np.cumsum(x * x), x)
        check(m.squares_before, np.concatenate([[3], 3 + np.cumsum(x * x)]), x)
        check(m.differences, np.concatenate([x[:1], x[1:] - x[:-1]]), x)
        check(m.neighbours, np.concatenate([x[:1], x[1:] + x[:-1]]), x)
        y = x.copy()
        m.inclusive(y, y)  # in place
        np.testing.assert_array_equal(y, np.cumsum(x))
        k = np.repeat(ints(n, seed=2), np.random.default_rng(n).integers(1, 9, n))[:n]
        bounds = [0, *(np.flatnonzero(k[1:] != k[:-1]) + 1), n] if n else []
        spans = list(zip(bounds[:-1], bounds[1:]))
        joined = lambda f: np.concatenate([np.asarray(f(x[a:b])) for a, b in spans] + [np.zeros(0, int)])
        check(m.inclusive_key, joined(np.cumsum), k, x)
        check(m.exclusive_key, joined(lambda v: np.cumsum(v) - v), k, x)
        check(m.exclusive_key_from, joined(lambda v: 4 + np.cumsum(v) - v), k, x)
        for f, of in ((m.sums, np.sum), (m.largest, np.max)):
            keys, y = np.zeros(n, np.int32), np.zeros(n, np.int32)
            assert f(k, x, keys, y) == len(spans)
            np.testing.assert_array_equal(keys[: len(spans)], [k[a] for a, _ in spans])
            np.testing.assert_array_equal(y[: len(spans)], [of(x[a:b]) for a, b in spans])


ELEMENTS = r"""
void square(T x, T y) { thrust::transform(P IT(x), IT(x) + x.numel(), IT(y), Square()); }
void add(T x, T y, T z) { thrust::transform(P IT(x), IT(x) + x.numel(), IT(y), IT(z), thrust::plus<int>()); }
void even_squares(T x, T y) { thrust::transform_if(P IT(x), IT(x) + x.numel(), IT(y), Square(), Even()); }
void stencil_squares(T x, T t, T y) { thrust::transform_if(P IT(x), IT(x) + x.numel(), IT(t), IT(y), Square(), thrust::identity<int>()); }
void fill(T x) { thrust::fill(P IT(x), IT(x) + x.numel(), 7); }
void fill_n(T x, int n) { thrust::fill_n(P IT(x), n, 8); }
void copy(T x, T y) { thrust::copy(P IT(x), IT(x) + x.numel(), IT(y)); }
void copy_n(T x, int n, T y) { thrust::copy_n(P IT(x), n, IT(y)); }
void sequence(T x) { thrust::sequence(P IT(x), IT(x) + x.numel()); }
void sequence_from(T x) { thrust::sequence(P IT(x), IT(x) + x.numel(), 5); }
void sequence_steps(T x) { thrust::sequence(P IT(x), IT(x) + x.numel(), 5, -3); }
void tabulate(T x) { thrust::tabulate(P IT(x), IT(x) + x.numel(), Square()); }
struct Seven { __host__ __device__ int operator()() { return 7; } };
void generate(T x) { thrust::generate(P IT(x), IT(x) + x.numel(), Seven()); }
void replace(T x) { thrust::replace(P IT(x), IT(x) + x.numel(), 3, 100); }
void replace_if(T x) { thrust::replace_if(P IT(x), IT(x) + x.numel(), Even(), 100); }
void replace_stencil(T x, T t) { thrust::replace_if(P IT(x), IT(x) + x.numel(), IT(t), Even(), 100); }
void gather(T at, T x, T y) { thrust::gather(P IT(at), IT(at) + at.numel(), IT(x), IT(y)); }
void scatter(T x, T at, T y) { thrust::scatter(P IT(x), IT(x) + x.numel(), IT(at), IT(y)); }
void scatter_if(T x, T at, T t, T y) { thrust::scatter_if(P IT(x), IT(x) + x.numel(), IT(at), IT(t), IT(y)); }
void reverse(T x) { thrust::reverse(P IT(x), IT(x) + x.numel()); }
void reverse_copy(T x, T y) { thrust::reverse_copy(P IT(x), IT(x) + x.numel(), IT(y)); }
void swap(T x, T y) { thrust::swap_ranges(P IT(x), IT(x) + x.numel(), IT(y)); }
struct Twice { __host__ __device__ void operator()(int& x) { x *= 2; } };
void twice(T x) { thrust::for_each(P IT(x), IT(x) + x.numel(), Twice()); }
void twice_n(T x, int n) { thrust::for_each_n(P IT(x), n, Twice()); }
"""


@in_all_ways(
    ELEMENTS,
    "square add even_squares stencil_squares fill fill_n copy copy_n sequence sequence_from sequence_steps tabulate generate replace"
    " replace_if replace_stencil gather scatter scatter_if reverse reverse_copy swap twice twice_n",
)
def test_elements(make):
    m = make()
    for n in SIZES:
        x, y, t, at = ints(n), ints(n, seed=1), ints(n, 0, 2, seed=2), np.random.default_rng(n).permutation(n).astype(np.int32)
        zeros = lambda: np.zeros(n, np.int32)

        def check(f, want, *args, out=None):
            out = zeros() if out is None else out.copy()
            f(*args, out)
            np.testing.assert_array_equal(out, want)

        check(m.square, x * x, x)
        check(m.add, x + y, x, y)
        check(m.even_squares, np.where(x % 2 == 0, x * x, y), x, out=y)
        check(m.stencil_squares, np.where(t, x * x, y), x, t, out=y)
        check(m.fill, np.full(n, 7))
        check(lambda z: m.fill_n(z, n // 2), np.where(np.arange(n) < n // 2, 8, x), out=x)
        check(m.copy, x, x)
        check(lambda z: m.copy_n(x, n // 3, z), np.where(np.arange(n) < n // 3, x, y), out=y)
        check(m.sequence, np.arange(n))
        check(m.sequence_from, 5 + np.arange(n))
        check(m.sequence_steps, 5 - 3 * np.arange(n))
        check(m.tabulate, np.arange(n) ** 2)
        check(m.generate, np.full(n, 7))
        check(m.replace, np.where(x == 3, 100, x), out=x)
        check(m.replace_if, np.where(x % 2 == 0, 100, x), out=x)
        check(lambda z: m.replace_stencil(z, t), np.where(t == 0, 100, x), out=x)
        check(m.gather, x[at], at, x)
        want = zeros()
        want[at] = x
        check(m.scatter, want, x, at)
        want = y.copy()
        want[at[t != 0]] = x[t != 0]
        check(m.scatter_if, want, x, at, t, out=y)
        check(m.reverse, x[::-1], out=x)
        check(m.reverse_copy, x[::-1], x)
        check(m.twice, 2 * x, out=x)
        check(lambda z: m.twice_n(z, n // 2), np.where(np.arange(n) < n // 2, 2 * x, x), out=x)
        a, b = x.copy(), y.copy()
        m.swap(a, b)
        np.testing.assert_array_equal([a, b], [y, x])


KEEPS = r"""
int copy_if(T x, T y) { return thrust::copy_if(P IT(x), IT(x) + x.numel(), IT(y), Even()) - IT(y); }
int copy_stencil(T x, T t, T y) { return thrust::copy_if(P IT(x), IT(x) + x.numel(), IT(t), IT(y), thrust::identity<int>()) - IT(y); }
int remove_if(T x) { return thrust::remove_if(P IT(x), IT(x) + x.numel(), Even()) - IT(x); }
int remove_stencil(T x, T t) { return thrust::remove_if(P IT(x), IT(x) + x.numel(), IT(t), thrust::identity<int>()) - IT(x); }
int remove(T x) { return thrust::remove(P IT(x), IT(x) + x.numel(), 3) - IT(x); }
int remove_copy_if(T x, T y) { return thrust::remove_copy_if(P IT(x), IT(x) + x.numel(), IT(y), Even()) - IT(y); }
int unique(T x) { return thrust::unique(P IT(x), IT(x) + x.numel()) - IT(x); }
int unique_digit(T x) {
    return thrust::unique(P IT(x), IT(x) + x.numel(), [] __host__ __device__(int a, int b) { return a % 10 == b % 10; }) - IT(x);
}
int unique_copy(T x, T y) { return thrust::unique_copy(P IT(x), IT(x) + x.numel(), IT(y)) - IT(y); }
int unique_by_key(T k, T v) { return thrust::unique_by_key(P IT(k), IT(k) + k.numel(), IT(v)).second - IT(v); }
int unique_count(T x) { return thrust::unique_count(P IT(x), IT(x) + x.numel()); }
int stable_partition(T x) { return thrust::stable_partition(P IT(x), IT(x) + x.numel(), Even()) - IT(x); }
int partition(T x) { return thrust::partition(P IT(x), IT(x) + x.numel(), Even()) - IT(x); }
int partition_stencil(T x, T t) { return thrust::partition(P IT(x), IT(x) + x.numel(), IT(t), thrust::identity<int>()) - IT(x); }
int partition_copy(T x, T y, T z) { return thrust::partition_copy(P IT(x), IT(x) + x.numel(), IT(y), IT(z), Even()).second - IT(z); }
bool is_partitioned(T x) { return thrust::is_partitioned(P IT(x), IT(x) + x.numel(), Even()); }
"""


@in_all_ways(
    KEEPS,
    "copy_if copy_stencil remove_if remove_stencil remove remove_copy_if unique unique_digit unique_copy unique_by_key unique_count"
    " stable_partition partition partition_stencil partition_copy is_partitioned",
)
def test_keeping_some(make):
    m = make()
    for n in SIZES[:-1]:
        x, t = ints(n, 0, 40), ints(n, 0, 2, seed=2)

        def check(f, want, *args, out=None):
            out = np.zeros(n, np.int32) if out is None else out.copy()
            assert f(*args, out) == len(want)
            np.testing.assert_array_equal(out[: len(want)], want)

        even, odd = x[x % 2 == 0], x[x % 2 != 0]
        check(m.copy_if, even, x)
        check(m.copy_stencil, x[t != 0], x, t)
        check(m.remove_if, odd, out=x)
        check(lambda z: m.remove_stencil(z, t), x[t == 0], out=x)
        check(m.remove, x[x != 3], out=x)
        check(m.remove_copy_if, odd, x)
        r = np.repeat(x, 3)[:n]
        heads = np.concatenate([[True], r[1:] != r[:-1]])[:n]
        check(m.unique, r[heads], out=r)
        check(m.unique_copy, r[heads], r)
        assert m.unique_count(r) == heads.sum()
        digits = np.concatenate([[True], r[1:] % 10 != r[:-1] % 10])[:n]
        check(m.unique_digit, r[digits], out=r)
        check(lambda v: m.unique_by_key(r.copy(), v), x[heads], out=x)
        for f in (m.stable_partition, m.partition):
            y = x.copy()
            assert f(y) == len(even) and m.is_partitioned(y)
            np.testing.assert_array_equal(y, np.concatenate([even, odd]))
        y = x.copy()
        assert m.partition_stencil(y, t) == t.sum()
        np.testing.assert_array_equal(y, np.concatenate([x[t != 0], x[t == 0]]))
        y = np.zeros(n, np.int32)
        check(lambda z: m.partition_copy(x, y, z), odd)
        np.testing.assert_array_equal(y[: len(even)], even)


SEARCHES = r"""
int lower(T x, int v) { return thrust::lower_bound(P IT(x), IT(x) + x.numel(), v) - IT(x); }
int upper(T x, int v) { return thrust::upper_bound(P IT(x), IT(x) + x.numel(), v) - IT(x); }
bool has(T x, int v) { return thrust::binary_search(P IT(x), IT(x) + x.numel(), v); }
int range(T x, int v) {
    auto r = thrust::equal_range(P IT(x), IT(x) + x.numel(), v);
    return r.second - r.first;
}
void lowers(T x, T v, T y) { thrust::lower_bound(P IT(x), IT(x) + x.numel(), IT(v), IT(v) + v.numel(), IT(y)); }
void uppers(T x, T v, T y) { thrust::upper_bound(P IT(x), IT(x) + x.numel(), IT(v), IT(v) + v.numel(), IT(y)); }
void have(T x, T v, T y) { thrust::binary_search(P IT(x), IT(x) + x.numel(), IT(v), IT(v) + v.numel(), IT(y)); }
void lowers_down(T x, T v, T y) {
    thrust::lower_bound(P IT(x), IT(x) + x.numel(), IT(v), IT(v) + v.numel(), IT(y), thrust::greater<int>());
}
#define TWO(NAME) \
    int NAME(T x, T z, T y) { return thrust::NAME(P IT(x), IT(x) + x.numel(), IT(z), IT(z) + z.numel(), IT(y)) - IT(y); }
TWO(merge) TWO(set_union) TWO(set_intersection) TWO(set_difference) TWO(set_symmetric_difference)
void merge_by_key(T x, T z, T v, T w, T l, T y) {
    thrust::merge_by_key(P IT(x), IT(x) + x.numel(), IT(z), IT(z) + z.numel(), IT(v), IT(w), IT(l), IT(y));
}
"""


@in_all_ways(
    SEARCHES,
    "lower upper has range lowers uppers have lowers_down merge set_union set_intersection set_difference set_symmetric_difference merge_by_key",
)
def test_what_is_sorted(make):
    m = make()
    for n in SIZES[:-1]:
        x, v = np.sort(ints(n)), ints(37, -60, 60)
        y = np.zeros(37, np.int32)
        left, right = np.searchsorted(x, v), np.searchsorted(x, v, "right")
        m.lowers(x, v, y)
        np.testing.assert_array_equal(y, left)
        m.uppers(x, v, y)
        np.testing.assert_array_equal(y, right)
        m.have(x, v, y)
        np.testing.assert_array_equal(y, np.isin(v, x))
        m.lowers_down(x[::-1].copy(), v, y)
        np.testing.assert_array_equal(y, n - right)
        for i in range(5):
            w = int(v[i])
            assert (m.lower(x, w), m.upper(x, w), m.has(x, w), m.range(x, w)) == (left[i], right[i], w in x, right[i] - left[i])
        z = np.sort(ints(n + 5, seed=3))
        out = np.zeros(2 * n + 5, np.int32)
        assert m.merge(x, z, out) == 2 * n + 5
        np.testing.assert_array_equal(out, np.sort(np.concatenate([x, z])))
        a, b = np.unique(x), np.unique(z)
        for f, of in ((m.set_union, np.union1d), (m.set_intersection, np.intersect1d), (m.set_difference, np.setdiff1d),
                      (m.set_symmetric_difference, np.setxor1d)):
            count = f(a, b, out)
            np.testing.assert_array_equal(out[:count], of(a, b))
        k, y = np.zeros_like(out), np.zeros_like(out)
        m.merge_by_key(x, z, np.arange(n, dtype=np.int32), 10000 + np.arange(n + 5, dtype=np.int32), k, y)
        order = np.argsort(np.concatenate([x, z]), kind="stable")
        np.testing.assert_array_equal(y, np.concatenate([np.arange(n), 10000 + np.arange(n + 5)])[order])


def test_multisets():
    """Duplicates: as often as the longer side has them, as both have them, as many more as the left side has."""
    m = built("using N = int;\n#define P\n#define IT(X) dev<N>(X)\n" + SEARCHES, "set_union set_intersection set_difference")
    x, z = np.array([1, 1, 1, 2, 5, 5], np.int32), np.array([1, 2, 2, 5, 7], np.int32)
    out = np.zeros(11, np.int32)
    assert out[: m.set_union(x, z, out)].tolist() == [1, 1, 1, 2, 2, 5, 5, 7]
    assert out[: m.set_intersection(x, z, out)].tolist() == [1, 2, 5]
    assert out[: m.set_difference(x, z, out)].tolist() == [1, 1, 5]

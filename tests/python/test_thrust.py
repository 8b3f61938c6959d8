"""Thrust from host code, against NumPy: equal for integers, and for floats within bounds that are said where they are used."""

import functools

import numpy as np
import pytest

import workbench as wb


SIZES = [0, 1, 2, 15, 16, 17, 33, 255, 257, 513, 1000, 5003]
HEAD = r"""
#include <torch/extension.h>
using T = torch::Tensor;
template <typename N> thrust::device_ptr<N> dev(T& x) { return thrust::device_pointer_cast(x.data_ptr<N>()); }
struct Even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };
struct Square { __host__ __device__ int operator()(int x) { return x * x; } };
struct ByDigit { __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; } };
// Maps x -> a * x + b, first the left one: order matters, and unsigned numbers are exact.
struct Affine { unsigned a, b; };
struct Compose {
    __host__ __device__ Affine operator()(const Affine& l, const Affine& r) const { return Affine{l.a * r.a, l.b * r.a + r.b}; }
};
"""


@functools.lru_cache(maxsize=None)
def built(text, names):
    return wb.load_inline("t", cpp_sources="", cuda_sources=HEAD + text, functions=names.split())


def ints(n, low=-50, high=50, seed=0, dtype=np.int32):
    return np.random.default_rng(seed + n).integers(low, high, n).astype(dtype)


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

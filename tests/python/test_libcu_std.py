"""`cuda::std` and `cuda::` in kernels: what must come out is worked out in Python; NVRTC, where it is, takes every text too."""

import math
import struct

import numpy as np
import pytest

import workbench as wb

BITS = struct.unpack("<i", struct.pack("<f", 1.5))[0]
Z, W = complex(1, 2), complex(3, -4)

# The headers, statements that write to `y` (doubles), and what is there then.
CASES = {
    "maximum and minimum": (
        "cuda/functional",
        "y[0] = cuda::maximum<>{}(1, 2); y[1] = cuda::maximum<int>{}(4, 3); y[2] = cuda::minimum<>{}(1, 2.5); y[3] = cuda::minimum<float>{}(6.f, 5.f);"
        "y[4] = cuda::maximum<>{}(-1, 2.5f);",
        [2, 4, 1, 5, 2.5],
    ),
    "arithmetic": (
        "cuda/std/functional",
        "y[0] = cuda::std::plus<>{}(1, 2.5); y[1] = cuda::std::multiplies<int>{}(3, 4); y[2] = cuda::std::minus<>{}(1, 2);"
        "y[3] = cuda::std::divides<float>{}(1, 4); y[4] = cuda::std::modulus<int>{}(7, 4); y[5] = cuda::std::negate<>{}(3);"
        "y[6] = cuda::std::divides<>{}(7, 2); y[7] = cuda::std::plus<unsigned char>{}(200, 100);",
        [3.5, 12, -1, 0.25, 3, -3, 3, 44],
    ),
    "comparisons": (
        "cuda/std/functional",
        "y[0] = cuda::std::less<>{}(1, 2); y[1] = cuda::std::greater<int>{}(3, 4); y[2] = cuda::std::equal_to<>{}(1, 1.0);"
        "y[3] = cuda::std::not_equal_to<>{}(1, 2); y[4] = cuda::std::less_equal<>{}(2, 2); y[5] = cuda::std::greater_equal<int>{}(1, 2);",
        [1, 0, 1, 1, 1, 0],
    ),
    "logic and bits": (
        "cuda/std/functional",
        "y[0] = cuda::std::logical_and<>{}(1, 0); y[1] = cuda::std::logical_or<>{}(0, 2); y[2] = cuda::std::logical_not<>{}(0);"
        "y[3] = cuda::std::bit_and<>{}(6, 3); y[4] = cuda::std::bit_or<int>{}(6, 3); y[5] = cuda::std::bit_xor<>{}(6, 3);"
        "y[6] = cuda::std::bit_not<>{}(1); y[7] = cuda::std::identity{}(4);",
        [0, 1, 1, 2, 7, 5, -2, 4],
    ),
    "array": (
        "cuda/std/array",
        "cuda::std::array<int, 3> a{1, 2, 3}; for (int v : a) y[0] += v; y[1] = a.size(); y[2] = a.front() + 10 * a.back();"
        "y[3] = cuda::std::get<1>(a); a[0] = 7; y[4] = a[0];",
        [6, 3, 31, 2, 7],
    ),
    "span": (
        "cuda/std/span cuda/std/array",
        "cuda::std::span<double> s(y, 4); s[0] = 1; y[1] = s.size(); for (double& v : s.subspan(2)) v = 7; y[4] = s.first(2).size() + 10 * s.last(1).size();"
        "cuda::std::array<int, 3> a{1, 2, 3}; cuda::std::span<int, 3> t(a); y[5] = t[2] + t.size(); int raw[4] = {1, 2, 3, 4};"
        "cuda::std::span<const int> u(raw); y[6] = u.back() + u.size_bytes() + u.empty();",
        [1, 4, 7, 7, 12, 6, 20],
    ),
    "tuple": (
        "cuda/std/tuple",
        "cuda::std::tuple<int, float> t(1, 2.5f); auto u = cuda::std::make_tuple(3, 4.5f, 'a'); y[0] = cuda::std::get<0>(t); y[1] = cuda::std::get<1>(u);"
        "auto [p, q] = t; y[2] = p + q; y[3] = cuda::std::tuple_size_v<decltype(u)>; int a; float b; cuda::std::tie(a, b) = t; y[4] = a + b;"
        "y[5] = cuda::std::apply([](int x, float z) { return x + 10 * z; }, t); cuda::std::get<0>(t) = 9; y[6] = cuda::std::get<0>(t);"
        "y[7] = cuda::std::get<2>(cuda::std::tuple_cat(cuda::std::make_tuple(1), cuda::std::make_tuple(2, 5)));",
        [1, 4.5, 3.5, 3, 3.5, 26, 9, 5],
    ),
    "pair": (
        "cuda/std/utility",
        "cuda::std::pair<int, float> t(1, 2.5f); auto u = cuda::std::make_pair(3, 4.5f); y[0] = t.first + u.second; auto [p, q] = t; y[1] = p + q;"
        "y[2] = t < cuda::std::pair<int, float>(2, 1.f); y[3] = cuda::std::get<1>(t);",
        [5.5, 3.5, 1, 2.5],
    ),
    "optional": (
        "cuda/std/optional",
        "cuda::std::optional<int> o; y[0] = o.has_value(); o = 3; if (o) y[1] = *o; y[2] = o.value_or(4); o = cuda::std::nullopt; y[3] = o.value_or(4);"
        "o.emplace(8); y[4] = o.value(); o.reset(); y[5] = (bool)o;",
        [0, 3, 3, 4, 8, 0],
    ),
    "bits of numbers": (
        "cuda/std/bit",
        "y[0] = cuda::std::bit_cast<int>(1.5f); y[1] = cuda::std::popcount(7u); y[2] = cuda::std::countl_zero(1u); y[3] = cuda::std::countr_zero(8u);"
        "y[4] = cuda::std::countl_one(0xf0000000u); y[5] = cuda::std::countr_one(3ull); y[6] = cuda::std::has_single_bit(8u); y[7] = cuda::std::bit_ceil(5u);"
        "y[8] = cuda::std::bit_floor(5u); y[9] = cuda::std::bit_width(5u); y[10] = cuda::std::rotl(0x80000001u, 3); y[11] = cuda::std::rotr((unsigned char)1, 1);",
        [BITS, 3, 31, 3, 4, 2, 1, 8, 4, 3, 12, 128],
    ),
    "bits of narrow and wide numbers": (
        "cuda/std/bit",
        "y[0] = cuda::std::popcount(~0ull); y[1] = cuda::std::countl_zero(1ull); y[2] = cuda::std::countr_zero(0ull); y[3] = cuda::std::countl_zero((unsigned char)1);"
        "y[4] = cuda::std::countr_zero((unsigned short)0); y[5] = cuda::std::popcount((unsigned char)255); y[6] = cuda::std::countl_zero(0u);"
        "y[7] = cuda::std::bit_width(0u); y[8] = cuda::std::countl_one((unsigned char)255); constexpr int n = cuda::std::bit_width(1000u); y[9] = n;",
        [64, 63, 64, 7, 16, 8, 32, 0, 8, 10],
    ),
    "whole numbers": (
        "cuda/cmath",
        "y[0] = cuda::ceil_div(10, 3); y[1] = cuda::ceil_div(12ull, 4u); y[2] = cuda::round_up(10, 4); y[3] = cuda::round_down(10, 4); y[4] = cuda::ilog2(9);"
        "y[5] = cuda::ilog10(1000); y[6] = cuda::is_power_of_two(8) + 10 * cuda::is_power_of_two(12); y[7] = cuda::next_power_of_two(9);"
        "y[8] = cuda::prev_power_of_two(9); y[9] = cuda::isqrt(17); y[10] = cuda::isqrt(99980001u); y[11] = cuda::uabs(-3); y[12] = cuda::ceil_div(2147483647, 2);",
        [4, 3, 12, 8, 3, 3, 1, 16, 8, 4, 9999, 3, 1 << 30],
    ),
    "swaps and bounds": (
        "cuda/std/algorithm cuda/std/utility cuda/std/functional",
        "y[0] = cuda::std::min(1, 2); y[1] = cuda::std::max(1, 2); y[2] = cuda::std::clamp(5, 1, 3); int a = 1, b = 2; cuda::std::swap(a, b); y[3] = a;"
        "y[4] = cuda::std::exchange(a, 9); y[5] = cuda::std::move(a); y[6] = cuda::std::max(1, 2, cuda::std::greater<int>());",
        [1, 2, 3, 2, 2, 9, 1],
    ),
    "limits": (
        "cuda/std/limits",
        "y[0] = cuda::std::numeric_limits<float>::max(); y[1] = cuda::std::numeric_limits<int>::lowest(); y[2] = cuda::std::numeric_limits<float>::infinity();"
        "y[3] = cuda::std::numeric_limits<double>::epsilon();",
        [float(np.finfo(np.float32).max), -(2**31), math.inf, 2.0**-52],
    ),
    "traits": (
        "cuda/std/type_traits cuda/std/functional cuda/std/utility",
        "static_assert(cuda::std::is_same_v<cuda::std::remove_cvref_t<const int&>, int>); cuda::std::enable_if_t<true, int> i = 3;"
        "cuda::std::conditional_t<true, float, int> f = 2.5f; y[0] = i + f; y[1] = cuda::std::is_floating_point_v<float>;"
        "static_assert(cuda::std::is_convertible_v<int, float> && !cuda::std::is_convertible_v<int*, float>);"
        "static_assert(cuda::std::is_invocable_v<cuda::std::plus<>, int, int>);"
        "static_assert(cuda::std::is_same_v<cuda::std::invoke_result_t<cuda::std::plus<>, int, float>, float>);"
        "static_assert(cuda::std::rank_v<int[3][4]> == 2 && cuda::std::extent_v<int[3]> == 3);"
        "static_assert(cuda::std::is_same_v<cuda::std::common_type_t<int, double, char>, double>);"
        "static_assert(cuda::std::is_class_v<cuda::std::plus<>> && !cuda::std::is_class_v<int>);"
        "enum E { one }; static_assert(cuda::std::is_enum_v<E> && !cuda::std::is_enum_v<int>);"
        "cuda::std::make_unsigned_t<int> u = -1; y[2] = u; y[3] = cuda::std::integral_constant<int, 4>::value + cuda::std::make_index_sequence<4>::size();",
        [5.5, 1, 2**32 - 1, 8],
    ),
    "complex": (
        "cuda/std/complex",
        "cuda::std::complex<double> a(1, 2), b(3, -4); auto c = a * b + 1.0; y[0] = c.real(); y[1] = c.imag(); y[2] = cuda::std::abs(b); auto d = a / b;"
        "y[3] = d.real(); y[4] = d.imag(); y[5] = cuda::std::norm(a); y[6] = cuda::std::conj(a).imag(); y[7] = cuda::std::arg(b); y[8] = cuda::std::exp(a).real();"
        "y[9] = (a == b); a += b; y[10] = a.real();",
        [
            (Z * W + 1).real, (Z * W + 1).imag, 5, (Z / W).real, (Z / W).imag, 5, -2, math.atan2(-4, 3), math.e * math.cos(2), 0, 4,
        ],
    ),
    "division of large complex numbers": (
        "cuda/std/complex",
        "cuda::std::complex<double> a(1e300, 1e300), b(1e300, 1e300); y[0] = (a / b).real(); y[1] = (a / b).imag();"
        "cuda::std::complex<double> c(1e-300, 0), d(1e-300, 0); y[2] = (c / d).real();",
        [1, 0, 1],
    ),
    "ranges": (
        "cuda/std/algorithm",
        "int a[4] = {3, 1, 2, 0}; y[0] = *cuda::std::min_element(a, a + 4) + 10 * *cuda::std::max_element(a, a + 4); cuda::std::fill(y + 1, y + 3, 5.0);"
        "int s[4] = {1, 3, 3, 7}; y[3] = cuda::std::lower_bound(s, s + 4, 3) - s; y[4] = cuda::std::upper_bound(s, s + 4, 3) - s; y[5] = cuda::std::find(a, a + 4, 2) - a;"
        "cuda::std::reverse(a, a + 4); y[6] = a[0] + 10 * a[3]; y[7] = cuda::std::count(s, s + 4, 3);"
        "y[8] = cuda::std::all_of(a, a + 4, [](int v) { return v >= 0; }); cuda::std::copy(s, s + 2, y + 9);",
        [30, 5, 5, 1, 3, 2, 30, 2, 1, 1, 3],
    ),
    "sums": (
        "cuda/std/numeric",
        "int a[4] = {3, 1, 2, 0}; y[0] = cuda::std::accumulate(a, a + 4, 0); y[1] = cuda::std::reduce(a, a + 4, 10); y[2] = cuda::std::midpoint(1, 6);"
        "y[3] = cuda::std::gcd(12, 18); y[4] = cuda::std::lcm(4, 6); y[5] = cuda::std::inner_product(a, a + 4, a, 0); cuda::std::iota(a, a + 4, 2); y[6] = a[3];"
        "y[7] = cuda::std::midpoint(2147483647, 2147483645);",
        [6, 16, 3, 6, 12, 14, 5, 2147483646],
    ),
    "bytes, iterators, calls": (
        "cuda/std/cstddef cuda/std/iterator cuda/std/functional cuda/std/memory",
        "cuda::std::byte b{3}; y[0] = cuda::std::to_integer<int>(b | cuda::std::byte{4}); int a[4] = {1, 2, 3, 4}; y[1] = cuda::std::distance(a, a + 4) + *cuda::std::next(a);"
        "y[2] = cuda::std::size(a) + *cuda::std::begin(a); cuda::std::iterator_traits<int*>::value_type v = 3; y[3] = v;"
        "y[4] = cuda::std::invoke([](int x) { return x + 1; }, 3); auto f = cuda::std::ref(y[5]); f.get() = 2; y[6] = *cuda::std::addressof(y[5]);",
        [7, 6, 5, 3, 4, 2, 2],
    ),
    "bit fields": (
        "cuda/bit",
        "y[0] = cuda::bitfield_extract(0xabcdu, 4, 8); y[1] = cuda::bit_reverse(1u); y[2] = cuda::bitmask(1, 2); y[3] = cuda::bitfield_insert(0u, 5u, 4, 3);",
        [0xBC, 2**31, 6, 80],
    ),
    "fast division": (
        "cuda/cmath",
        "cuda::fast_mod_div<int> d(3); y[0] = 7 / d; y[1] = 7 % d;",
        [2, 1],
    ),
}


def text_of(headers, body):
    return "".join(f"#include <{h}>\n" for h in headers.split()) + f"__global__ void k(double* y) {{ {body} }}\n"


@pytest.mark.parametrize("name", CASES)
def test_the_device_has(name):
    headers, body, expected = CASES[name]
    y = np.zeros(16)
    wb.compile(text_of(headers, body))["k"][1, 1](y)
    # Exact but for functions like `exp`, and what is contracted in products of complex numbers: one or two roundings.
    np.testing.assert_allclose(y[: len(expected)], expected, rtol=1e-15 if "complex" in name else 0, atol=0)


def test_nvrtc_takes_them_all():
    headers = sorted({h for headers, _, _ in CASES.values() for h in headers.split()})
    kernels = [f"__global__ void k{i}(double* y) {{ {body} }}\n" for i, (_, body, _) in enumerate(CASES.values())]
    try:
        wb.compile("".join(f"#include <{h}>\n" for h in headers) + "".join(kernels), device="cuda", arch="sm_90")
    except wb.DeviceUnavailable as error:
        pytest.skip(str(error))


def test_host_code_has_them_as_well():
    m = wb.load_inline(
        "pieces",
        "",
        cuda_sources="""
        #include <torch/extension.h>
        #include <cuda/cmath>
        #include <cuda/std/bit>
        __global__ void k(float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = cuda::std::popcount((unsigned)i); }
        torch::Tensor f(int64_t n) {
            auto y = torch::zeros({n}, torch::kCUDA);
            k<<<cuda::ceil_div(n, 32), 32>>>(y.data_ptr<float>(), n);
            return y;
        }
        """,
        functions=["f"],
    )
    np.testing.assert_array_equal(np.asarray(m.f(70)), [bin(i).count("1") for i in range(70)])


BLOCK = """#include <cub/cub.cuh>
__global__ void k(const float* x, float* y) {
    using R = cub::BlockReduce<float, 64>;
    __shared__ typename R::TempStorage t;
    float all = R(t).Reduce(x[threadIdx.x], %s);
    if (threadIdx.x == 0) y[0] = all;
}"""


@pytest.mark.parametrize(
    ("today", "before", "fold"),
    [
        ("cuda::maximum<>{}", "cub::Max()", np.max),
        ("cuda::minimum<>{}", "cub::Min()", np.min),
        ("cuda::std::plus<>{}", "cub::Sum()", np.sum),
        ("cuda::std::plus<float>{}", "cub::Sum{}", np.sum),
    ],
)
def test_reductions_of_cub(today, before, fold, rng):
    # Whole numbers: sums are exact.
    x, y = rng.integers(-99, 99, 64).astype(np.float32), np.zeros(1, np.float32)
    m = wb.compile(BLOCK % today)
    assert not m.warnings
    m["k"][1, 64](x, y)
    assert y == fold(x)
    y[:] = 0
    old = wb.compile(BLOCK % before)
    [warning] = old.warnings
    assert warning.message == f"`{before[:-2]}` is not in CUB any more, since CUDA 13"
    assert warning.help == f"write `{today[: today.index('<')]}<>{{}}`"
    assert warning.line == 5
    old["k"][1, 64](x, y)
    assert y == fold(x)


@pytest.mark.parametrize(
    ("use", "instead"),
    [
        ("y[0] = cub::LaneId();", "cuda::ptx::get_sreg_laneid()"),
        ("y[0] = cub::WarpId();", "threadIdx.x / 32"),
        ("y[0] = cub::Equality()(1, 2);", "cuda::std::equal_to<>{}"),
        ("y[0] = cub::Difference()(1, 2);", "cuda::std::minus<>{}"),
        ("namespace c = cub; y[0] = c::Division()(1, 2);", "cuda::std::divides<>{}"),
        ("using namespace cub; y[0] = Division()(1, 2);", "cuda::std::divides<>{}"),
        ("using namespace cub; y[0] = LaneId();", "cuda::ptx::get_sreg_laneid()"),
    ],
)
def test_what_cuda_13_removed_is_taken_with_a_warning(use, instead):
    [warning] = wb.compile(f"#include <cub/cub.cuh>\n__global__ void k(float* y) {{ {use} }}").warnings
    assert "since CUDA 13" in warning.message and instead in warning.help

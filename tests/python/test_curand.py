"""cuRAND's device interface, against the papers' recurrences in Python's integers, NVIDIA's own numbers, and the distributions."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import workbench as wb

HEADER = "#include <curand_kernel.h>\n"

TYPES = {"xorwow": "curandStateXORWOW_t", "mrg": "curandStateMRG32k3a_t", "philox": "curandStatePhilox4_32_10_t"}
SIZES = {"xorwow": 48, "mrg": 48, "philox": 64}
KINDS = list(TYPES)
M32, M64 = 2**32 - 1, 2**64 - 1

TEXT = HEADER + r"""
__global__ void init(STATE* s, const unsigned long long* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) curand_init(a[3 * i], a[3 * i + 1], a[3 * i + 2], &s[i]);
}
__global__ void setup(STATE* s, unsigned long long seed, int n) {
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id < n) curand_init(seed, id, 0, &s[id]);
}
__global__ void skip(STATE* s, unsigned long long n) { skipahead(n, s); }
__global__ void skip_sequence(STATE* s, unsigned long long n) { skipahead_sequence(n, s); }
#define DRAW(name, T, expression)                                                          \
    __global__ void name(STATE* states, T* out, int n, int count, double a, double b) {    \
        int id = threadIdx.x + blockIdx.x * blockDim.x;                                    \
        if (id >= n) return;                                                               \
        STATE s = states[id];                                                              \
        for (int i = 0; i < count; i++) out[id * count + i] = expression;                  \
        states[id] = s;                                                                    \
    }
DRAW(bits, unsigned, curand(&s))
DRAW(uniform, float, curand_uniform(&s))
DRAW(uniform_double, double, curand_uniform_double(&s))
DRAW(normal, float, curand_normal(&s))
DRAW(normal2, float2, curand_normal2(&s))
DRAW(normal_double, double, curand_normal_double(&s))
DRAW(normal2_double, double2, curand_normal2_double(&s))
DRAW(log_normal, float, curand_log_normal(&s, a, b))
DRAW(log_normal2, float2, curand_log_normal2(&s, a, b))
DRAW(log_normal_double, double, curand_log_normal_double(&s, a, b))
DRAW(poisson, unsigned, curand_poisson(&s, a))
"""
PHILOX = r"""
DRAW(bits4, uint4, curand4(&s))
DRAW(uniform4, float4, curand_uniform4(&s))
DRAW(uniform2_double, double2, curand_uniform2_double(&s))
DRAW(normal4, float4, curand_normal4(&s))
DRAW(log_normal4, float4, curand_log_normal4(&s, a, b))
DRAW(poisson4, uint4, curand_poisson4(&s, a))
"""
DTYPES = {
    "bits": np.uint32, "poisson": np.uint32, "bits4": np.uint32, "poisson4": np.uint32, "uniform_double": np.float64, "normal_double": np.float64,
    "normal2_double": np.float64, "log_normal_double": np.float64, "uniform2_double": np.float64,
}


@functools.cache
def module(kind):
    text = TEXT + {"philox": PHILOX, "mrg": "__global__ void skip_subsequence(STATE* s, unsigned long long n) { skipahead_subsequence(n, s); }"}.get(kind, "")
    return wb.compile(text.replace("STATE*", TYPES[kind] + "*").replace("STATE s", TYPES[kind] + " s"))


def states(kind, *starts):
    """States of (seed, subsequence, offset), in bytes."""
    s = np.zeros(SIZES[kind] * len(starts), np.uint8)
    module(kind).init[len(starts) // 64 + 1, 64](s, np.array(starts, np.uint64), len(starts))
    return s


def draw(kind, name, s, count, a=0.0, b=1.0):
    """`count` results of each state, which go on from there."""
    n = len(s) // SIZES[kind]
    per = 4 if "4" in name else 2 if "2" in name else 1
    out = np.zeros((n, count * per), DTYPES.get(name, np.float32))
    getattr(module(kind), name)[n // 96 + 1, 96](s, out, n, count, a, b)
    return out


# --- the generators, from the papers ---


class Xorwow:
    def __init__(self, seed):
        low, high = ((seed & M32) ^ 0xAAD26B49) * 1099087573 & M32, ((seed >> 32) ^ 0xF7DCEFDD) * 2591861531 & M32
        self.d = 6615241 + low + high & M32
        self.v = [123456789 + low & M32, 362436069 ^ low, 521288629 + high & M32, 88675123 ^ high, 5783321 + low & M32]

    @staticmethod
    def step(v):
        t = v[0] ^ v[0] >> 2
        return [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & M32]

    def next(self):
        self.v, self.d = self.step(self.v), self.d + 362437 & M32
        return self.v[4] + self.d & M32

    def skip(self, n):
        whole = functools.reduce(int.__or__, (w << 32 * i for i, w in enumerate(self.v)))
        for k in range(n.bit_length()):
            if n >> k & 1:
                whole = xorwow_times(xorwow_power(k), whole)
        self.v, self.d = [whole >> 32 * i & M32 for i in range(5)], self.d + 362437 * n & M32

    def skip_sequence(self, n):
        self.skip(n << 67)


def xorwow_times(columns, vector):
    """A matrix of 160 columns, each a number of 160 bits, times a vector over GF(2)."""
    result = 0
    while vector:
        low = vector & -vector
        result ^= columns[low.bit_length() - 1]
        vector ^= low
    return result


@functools.cache
def xorwow_power(k):
    """The matrix of 2^k steps."""
    if k == 0:
        units = ([1 << i % 32 if w == i // 32 else 0 for w in range(5)] for i in range(160))
        return [sum(w << 32 * i for i, w in enumerate(Xorwow.step(u))) for u in units]
    half = xorwow_power(k - 1)
    return [xorwow_times(half, column) for column in half]


class Mrg:
    PRIMES = (2**32 - 209, 2**32 - 22853)
    STEPS = ([[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]], [[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]])

    def __init__(self, seed):
        low, high = ((seed & M32) ^ 0x55555555, (seed >> 32) ^ 0xAAAAAAAA) if seed else (1, 1)
        self.s = [[12345 * x % m for x in xs] for xs, m in zip(((low, high, low), (high, low, high)), self.PRIMES)]

    @staticmethod
    def times(a, b, m):
        return [[sum(x * y for x, y in zip(row, column)) % m for column in zip(*b)] for row in a]

    def skip(self, n):
        for part, m in enumerate(self.PRIMES):
            power, bits, vector = self.STEPS[part], n, [[x] for x in self.s[part]]
            while bits:
                if bits & 1:
                    vector = self.times(power, vector, m)
                power, bits = self.times(power, power, m), bits >> 1
            self.s[part] = [x for [x] in vector]

    def skip_sequence(self, n):
        self.skip(n << 127)

    def part(self):
        """From 1 to the first prime."""
        self.skip(1)
        return (self.s[0][2] - self.s[1][2]) % self.PRIMES[0] or self.PRIMES[0]

    def next(self):
        return min(int(self.part() * 1.000000048662), M32)


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & M32, a >> 32 ^ c[3] ^ k[1], a & M32]
        k = [k[0] + 0x9E3779B9 & M32, k[1] + 0xBB67AE85 & M32]
    return c


class Philox:
    def __init__(self, seed):
        self.key, self.counter, self.at = (seed & M32, seed >> 32), 0, 0

    def skip(self, n):
        self.at += n
        self.counter, self.at = (self.counter + self.at // 4) % 2**128, self.at % 4

    def skip_sequence(self, n):
        self.counter = (self.counter + (n << 64)) % 2**128

    def next(self):
        result = philox([self.counter >> 32 * i & M32 for i in range(4)], self.key)[self.at]
        self.skip(1)
        return result


MODELS = {"xorwow": Xorwow, "mrg": Mrg, "philox": Philox}


def model(kind, seed, subsequence=0, offset=0):
    m = MODELS[kind](seed)
    m.skip(subsequence << 76) if kind == "mrg" else m.skip_sequence(subsequence)
    m.skip(offset)
    return m


def sequence(kind, start, count):
    m = model(kind, *start)
    return [m.next() for _ in range(count)]


# --- bits ---

# By NVIDIA's header (cuRAND 10.3.9), compiled for the host: the first four numbers of a seed, a subsequence and an offset.
NVIDIA = {
    ("xorwow", (0, 0, 0)): [3179217846, 1883133293, 2220552389, 674260989],
    ("xorwow", (1234, 0, 0)): [624778773, 1867875844, 3739671282, 1954919316],
    ("xorwow", (42, 7, 3)): [4081944259, 3437967554, 2362980919, 2698626076],
    ("xorwow", (9223372036854788153, 1099511627785, 8589934593)): [4058189482, 3249544973, 2581667644, 2153672179],
    ("mrg", (0, 0, 0)): [545508615, 1368065476, 1327943825, 3546985268],
    ("mrg", (1234, 0, 0)): [3379073520, 2521876100, 213678209, 1604391373],
    ("mrg", (42, 7, 3)): [4052737137, 2546256600, 950371534, 3067602898],
    ("mrg", (9223372036854788153, 1099511627785, 8589934593)): [2129560094, 2912120298, 2318784507, 1562979591],
    ("philox", (0, 0, 0)): [1713891541, 3781805453, 3159862348, 2600524760],
    ("philox", (1234, 0, 0)): [546353992, 3665621163, 1140953199, 3419031310],
    ("philox", (42, 7, 3)): [1433639123, 3856525632, 1611620758, 2412640497],
    ("philox", (9223372036854788153, 1099511627785, 8589934593)): [3337047906, 514814662, 3240531390, 1240599572],
}


@pytest.mark.parametrize(("kind", "start"), NVIDIA)
def test_the_numbers_are_nvidias(kind, start):
    assert draw(kind, "bits", states(kind, start), 4)[0].tolist() == NVIDIA[kind, start] == sequence(kind, start, 4)


STARTS = [
    (0, 0, 0), (1, 0, 0), (2**32, 0, 0), (M64, 0, 0), (0xAAAAAAAA55555555, 0, 0), (5, 1, 0), (5, 15, 0), (5, 16, 0), (5, 0x1234, 0), (5, 0xFFFF, 0),
    (5, 2**16, 0), (5, 2**51 - 1, 0), (5, 0, 1), (5, 0, 4), (5, 0, 255), (5, 0, 256), (5, 0, 257), (5, 0, 2**32 - 1), (5, 0, 2**63 + 5), (5, 0, M64),
    (0xDEADBEEFCAFEBABE, 0x3_1415_9265_3589, 0x2718_2818_2845_9045), (7, 2**51 - 1, M64),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_curand_init_of_seeds_subsequences_and_offsets(kind):
    starts = STARTS + ([] if kind == "mrg" else [(3, M64, 0), (3, 2**63, M64)])
    got = draw(kind, "bits", states(kind, *starts), 9)
    for start, numbers in zip(starts, got):
        assert numbers.tolist() == sequence(kind, start, 9), start


@pytest.mark.parametrize("kind", KINDS)
def test_each_digit_of_subsequences_and_offsets(kind):
    starts = [(5, digit << k, 0) for k in range(0, 16, 4) for digit in range(1, 16)] + [(5, 0, 1 << k) for k in range(64)]
    starts += [(5, 1 << k, 0) for k in range(16, 51 if kind == "mrg" else 64)]
    got = draw(kind, "bits", states(kind, *starts), 6)
    for start, numbers in zip(starts, got):
        assert numbers.tolist() == sequence(kind, start, 6), start


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_sequence_is_the_recurrences(kind):
    m = model(kind, 2024)
    assert draw(kind, "bits", states(kind, (2024, 0, 0)), 3001)[0].tolist() == [m.next() for _ in range(3001)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 100, 255, 256, 1001])
def test_skipping_equals_stepping(kind, n):
    stepped, skipped, begun = states(kind, (9, 4, 6)), states(kind, (9, 4, 6)), states(kind, (9, 4, 6 + n))
    draw(kind, "bits", stepped, max(n, 1)) if n else None
    module(kind).skip[1, 1](skipped, n)
    np.testing.assert_array_equal(skipped, stepped)
    np.testing.assert_array_equal(begun, stepped)


@pytest.mark.parametrize("kind", KINDS)
def test_skips_of_any_length_add_up(kind):
    s, m = states(kind, (77, 2, 1)), model(kind, 77, 2, 1)
    for n in (3, 2**40 + 1, 5 * 2**30 + 2, M64, 0, 12345):
        module(kind).skip[1, 1](s, n)
        m.skip(n)
        assert draw(kind, "bits", s, 3)[0].tolist() == [m.next() for _ in range(3)]
        module(kind).skip_sequence[1, 1](s, n & 2**62 - 1)
        m.skip_sequence(n & 2**62 - 1)
        if kind == "mrg":
            module(kind).skip_subsequence[1, 1](s, n & 2**40 - 1)
            m.skip((n & 2**40 - 1) << 76)
        assert draw(kind, "bits", s, 3)[0].tolist() == [m.next() for _ in range(3)]


@pytest.mark.parametrize(
    ("counter", "key", "want"),
    [
        ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([M32] * 4, [M32] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0], [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    ],
)
def test_known_answers_of_random123(counter, key, want):
    assert philox(counter, key) == want
    low, high = counter[0] | counter[1] << 32, counter[2] | counter[3] << 32
    s = states("philox", (key[0] | key[1] << 32, high, 0))
    for _ in range(4):  # by so many fours
        module("philox").skip[1, 1](s, low)
    assert draw("philox", "bits4", s, 1)[0].tolist() == want


@pytest.mark.parametrize("drawn", range(6))
def test_four_of_philox_are_the_next_four(drawn):
    s, one = states("philox", (8, 1, 0)), states("philox", (8, 1, 0))
    if drawn:
        draw("philox", "bits", s, drawn)
    ones = draw("philox", "bits", one, drawn + 12)[0, drawn:]
    np.testing.assert_array_equal(draw("philox", "bits4", s, 3)[0], ones)
    np.testing.assert_array_equal(s, one)


def test_philox_carries_through_all_of_its_counter():
    s, m = states("philox", (1, M64, 0)), Philox(1)
    m.skip_sequence(M64)
    for n in (M64, M64, M64, M64, 1, 2):
        module("philox").skip[1, 1](s, n)
        m.skip(n)
    assert draw("philox", "bits", s, 9)[0].tolist() == [m.next() for _ in range(9)]


# --- what a draw becomes ---


def unit(bits):
    return bits.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)


def unit_double(x, y):
    return (x.astype(np.uint64) ^ y.astype(np.uint64) << np.uint64(21)) * 2.0**-53 + 2.0**-54


def parts(count, *start):
    m = model("mrg", *start)
    return np.array([m.part() for _ in range(count)]) * 2.3283065498378288e-10


@pytest.mark.parametrize("kind", ["xorwow", "philox"])
def test_uniform_numbers_are_exact(kind):
    bits = draw(kind, "bits", states(kind, (3, 5, 7)), 2000)[0]
    np.testing.assert_array_equal(draw(kind, "uniform", states(kind, (3, 5, 7)), 2000)[0], unit(bits))
    one, two = bits[:1000] * 2.0**-32 + 2.0**-32, unit_double(bits[::2], bits[1::2])
    np.testing.assert_array_equal(draw(kind, "uniform_double", states(kind, (3, 5, 7)), 1000)[0], two if kind == "xorwow" else one)
    if kind == "philox":
        np.testing.assert_array_equal(draw(kind, "uniform4", states(kind, (3, 5, 7)), 500)[0], unit(bits))
        np.testing.assert_array_equal(draw(kind, "uniform2_double", states(kind, (3, 5, 7)), 500)[0], two)


def test_uniform_numbers_of_mrg_are_parts_of_its_prime():
    want = parts(1000, 3, 5, 7)
    np.testing.assert_array_equal(draw("mrg", "uniform_double", states("mrg", (3, 5, 7)), 1000)[0], want)
    np.testing.assert_array_equal(draw("mrg", "uniform", states("mrg", (3, 5, 7)), 1000)[0], want.astype(np.float32))


def pairs(u, turns):
    """Box and Muller, the sine first."""
    radius = np.sqrt(-2 * np.log(u))
    return np.stack([np.sin(2 * np.pi * turns) * radius, np.cos(2 * np.pi * turns) * radius], -1).ravel()


@pytest.mark.parametrize("kind", KINDS)
def test_normal_numbers_are_box_mullers(kind):
    n, start = 501, (11, 3, 1)
    if kind == "mrg":
        u = parts(2 * n, *start)
        want = want_double = pairs(u[::2], u[1::2])
    else:
        bits = draw(kind, "bits", states(kind, start), 4 * n)[0]
        want = pairs(bits[: 2 * n : 2] * 2.0**-32 + 2.0**-33, bits[1 : 2 * n : 2] * 2.0**-32 + 2.0**-33)
        want_double = pairs(unit_double(bits[::4], bits[1::4]), unit_double(bits[2::4], bits[3::4]))
    for name in ("normal", "normal2", *(["normal4"] if kind == "philox" else [])):
        got = draw(kind, name, states(kind, start), n - 1)[0][: n - 1]
        np.testing.assert_allclose(got, want[: len(got)], rtol=1e-6, atol=3e-6)
    for name in ("normal_double", "normal2_double"):
        got = draw(kind, name, states(kind, start), n)[0][:n]
        np.testing.assert_allclose(got, want_double[: len(got)], rtol=1e-13, atol=1e-13)
    for name in ("log_normal", "log_normal2", *(["log_normal4"] if kind == "philox" else [])):
        got = draw(kind, name, states(kind, start), n - 1, 0.5, 0.25)[0][: n - 1]
        np.testing.assert_allclose(got, np.exp(0.5 + 0.25 * want[: len(got)]), rtol=3e-6)
    got = draw(kind, "log_normal_double", states(kind, start), n, 0.5, 0.25)[0]
    np.testing.assert_allclose(got, np.exp(0.5 + 0.25 * want_double[:n]), rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_the_other_of_a_pair_is_kept_for_its_own_kind(kind):
    s, at = states(kind, (4, 0, 0)), states(kind, (4, 0, 0))
    pair = draw(kind, "normal2", at, 1)[0]
    assert draw(kind, "normal", s, 1)[0, 0] == pair[0]
    bits = draw(kind, "bits", at, 1)
    np.testing.assert_array_equal(draw(kind, "bits", s, 1), bits)  # what lies between does not disturb it
    double = draw(kind, "normal_double", s, 1)[0, 0]  # nor doubles
    assert double == draw(kind, "normal2_double", at, 1)[0, 0]
    assert draw(kind, "normal", s, 1)[0, 0] == pair[1]
    draw(kind, "normal", s, 1)
    draw(kind, "normal2", at, 1)
    logs = draw(kind, "log_normal2", at, 1)[0]
    np.testing.assert_array_equal(draw(kind, "log_normal", s, 2)[0], logs)  # a normal number kept is not a log-normal one


@pytest.mark.parametrize("kind", KINDS)
def test_small_poisson_numbers_count_uniform_ones(kind):
    lam, count = 3.5, 300
    u = draw(kind, "uniform", states(kind, (6, 0, 0)), 8 * count)[0]
    want, at = [], 0
    for _ in range(count):
        p, k = np.exp(np.float32(lam)), -1
        while p > 1 or k < 0:
            p, k, at = p * u[at], k + 1, at + 1
        want.append(k)
    assert draw(kind, "poisson", states(kind, (6, 0, 0)), count, lam)[0].tolist() == want


# --- distributions: bounds of five standard deviations ---

N = 200_000


def sample(kind, name, *parameters, n=N, threads=250):
    s = np.zeros(SIZES[kind] * threads, np.uint8)
    module(kind).setup[2, 128](s, 20240607, threads)
    per = 4 if "4" in name else 2 if "2" in name else 1
    return draw(kind, name, s, n // threads // per, *parameters).ravel()


def farthest(x, cdf):
    """Kolmogorov's and Smirnov's, times the root of n: above 2.0 once in 1,500 samples."""
    x = np.sort(x.astype(np.float64))
    f, i = cdf(x), np.arange(len(x))
    return max((f - i / len(x)).max(), ((i + 1) / len(x) - f).max()) * math.sqrt(len(x))


@pytest.mark.parametrize(("kind", "name"), [(k, f"uniform{d}") for k in KINDS for d in ("", "_double")] + [("philox", "uniform4"), ("philox", "uniform2_double")])
def test_uniform_numbers_are_uniform(kind, name):
    x = sample(kind, name).astype(np.float64)
    assert 0 < x.min() and x.max() <= 1
    assert abs(x.mean() - 1 / 2) < 5 * math.sqrt(1 / 12 / N)
    assert abs((x**2).mean() - 1 / 3) < 5 * math.sqrt(4 / 45 / N)
    assert farthest(x, lambda v: v) < 2
    assert abs(((x[1:] - 0.5) * (x[:-1] - 0.5)).mean()) < 5 / 12 / math.sqrt(N)
    rows = x.reshape(250, -1)  # nor do threads go together
    assert abs(((rows[1:] - 0.5) * (rows[:-1] - 0.5)).mean()) < 5 / 12 / math.sqrt(N)


@pytest.mark.parametrize("kind", KINDS)
def test_each_bit_is_set_half_the_time(kind):
    ones = np.unpackbits(sample(kind, "bits").view(np.uint8).reshape(-1, 4), axis=1).mean(0)
    assert abs(ones - 0.5).max() < 5 / 2 / math.sqrt(N)


@pytest.mark.parametrize(("kind", "name"), [(k, f"normal{d}") for k in KINDS for d in ("", "2", "_double", "2_double")] + [("philox", "normal4")])
def test_normal_numbers_are_normal(kind, name):
    z = sample(kind, name).astype(np.float64)
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((z**power).mean() - mean) < 5 * math.sqrt(variance / N), power
    assert abs((z[::2] * z[1::2]).mean()) < 5 / math.sqrt(N / 2)
    assert abs((z[::2] ** 2 * z[1::2] ** 2).mean() - 1) < 5 * math.sqrt(8 / (N / 2))
    assert farthest(z[::10], np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))) < 2


@pytest.mark.parametrize(("kind", "name"), [(k, "log_normal") for k in KINDS] + [("philox", "log_normal4"), ("xorwow", "log_normal_double")])
def test_log_normal_numbers_are_log_normal(kind, name):
    z = (np.log(sample(kind, name, -1.0, 0.5).astype(np.float64)) + 1) / 0.5
    assert abs(z.mean()) < 5 / math.sqrt(N) and abs((z**2).mean() - 1) < 5 * math.sqrt(2 / N)


@pytest.mark.parametrize("lam", [0.01, 0.7, 8.0, 63.5, 64.0, 100.0, 1000.0, 3999.0])
@pytest.mark.parametrize(("kind", "name"), [(k, "poisson") for k in KINDS] + [("philox", "poisson4")])
def test_poisson_numbers_are_poissons(kind, name, lam):
    n = 50_000
    x = sample(kind, name, lam, n=n)
    assert abs(x.mean() - lam) < 5 * math.sqrt(lam / n)
    assert abs(((x - lam) ** 2).mean() - lam) < 5 * math.sqrt((lam + 2 * lam * lam) / n)
    # Pearson's, over values expected at least 20 times; the rest is one.
    k = np.arange(x.max() + 2)
    expected = n * np.exp(k * math.log(lam) - lam - np.array([math.lgamma(i + 1) for i in k]))
    often = expected >= 20
    expected, got = np.append(expected[often], n - expected[often].sum()), np.bincount(x, minlength=len(k))[often]
    got = np.append(got, n - got.sum())
    expected, got = (expected, got) if expected[-1] >= 5 else (expected[:-1], got[:-1])
    free = max(len(got) - 1, 1)
    assert ((got - expected) ** 2 / expected).sum() < free + 5 * math.sqrt(2 * free) + 10


@pytest.mark.parametrize("lam", [4000.5, 1e5, 1e9])
def test_large_poisson_numbers_are_rounded_normal_ones(lam):
    z = draw("xorwow", "normal_double", states("xorwow", (2, 0, 0)), 1000)[0]
    x = draw("xorwow", "poisson", states("xorwow", (2, 0, 0)), 1000, lam)[0]
    np.testing.assert_array_equal(x, (math.sqrt(lam) * z + lam + 0.5).astype(np.uint32))


# --- as programs use it ---


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tier", ["soon", "good", "wide"])
def test_every_tier_gives_the_same_bits(kind, tier):
    before = wb.set_tier("auto")
    try:
        try:
            wb.set_tier(tier)
        except wb.ArgumentError:
            # Without a C compiler, or vectors of 256 bits.
            if tier != "wide":
                raise
            pytest.skip("no wide tier here")
        m, n = wb.compile(module(kind).text + f"// {tier}"), 70
        s, out = np.zeros(SIZES[kind] * n, np.uint8), np.zeros((n, 9), np.uint32)
        m.setup[1, 128](s, 55, n)
        m.bits[1, 128](s, out, n, 9, 0.0, 1.0)
    finally:
        wb.set_tier(before)
    assert out.tolist() == [sequence(kind, (55, i, 0), 9) for i in range(n)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 31, 33, 257, 1000])
def test_states_live_in_memory_between_launches(kind, n):
    m = module(kind)
    s = np.zeros(SIZES[kind] * (n + 1), np.uint8)
    s[SIZES[kind] * n :] = 0xAB
    m.setup[(n + 127) // 128, 128](s, 1234, n)
    assert (s[SIZES[kind] * n :] == 0xAB).all()
    mine = s[: SIZES[kind] * n]
    got = np.concatenate([draw(kind, "bits", mine, count) for count in (1, 2, 5, 3)], axis=1)
    for i in {0, n // 2, n - 1}:
        assert got[i].tolist() == sequence(kind, (1234, i, 0), 11)
    again = s.copy()
    m.setup[(n + 127) // 128, 128](again, 1234, n)
    kept = np.concatenate([draw(kind, "normal", again[: SIZES[kind] * n], count) for count in (1, 1, 3)], axis=1)
    m.setup[(n + 127) // 128, 128](again, 1234, n)
    np.testing.assert_array_equal(kept, draw(kind, "normal", again[: SIZES[kind] * n], 5))


def test_the_names_and_sizes_of_states():
    m = wb.compile(HEADER + r"""
    __global__ void sizes(int* out) {
        curandState a; curandState_t* b = &a; curandStateXORWOW* c = b; curandStateXORWOW_t* d = c;
        curandStateMRG32k3a e; curandStateMRG32k3a_t* f = &e;
        curandStatePhilox4_32_10 g; curandStatePhilox4_32_10_t* h = &g;
        curand_init(1234, 0, 0, d); curand_init(1234, 0, 0, f); curand_init(1234, 0, 0, h);
        out[0] = sizeof(curandState); out[1] = sizeof(e); out[2] = sizeof(*h);
        out[3] = curand(&a) >> 1; out[4] = curand(&e) >> 1; out[5] = curand(&g) >> 1;
    }""")
    out = np.zeros(6, np.int32)
    m.sizes[1, 1](out)
    assert out.tolist() == [48, 48, 64, *(NVIDIA[kind, (1234, 0, 0)][0] >> 1 for kind in ("xorwow", "mrg", "philox"))]


def test_states_in_shared_memory_in_variables_and_in_members():
    m = wb.compile(HEADER + r"""
    struct Walker { float2 at; curandState rng; __device__ float step() { return curand_uniform(&rng) - 0.5f; } };
    __device__ curandState kept[64];
    __global__ void begin(unsigned long long seed) { curand_init(seed, threadIdx.x, 0, kept + threadIdx.x); }
    template <typename State> __device__ unsigned twice(State& s) { unsigned a = curand(&s); return a ^ curand(&s); }
    __global__ void go(unsigned* out) {
        __shared__ curandState s[64];
        s[threadIdx.x] = kept[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = twice(s[63 - threadIdx.x]);
        __syncthreads();
        kept[threadIdx.x] = s[threadIdx.x];
    }
    __global__ void walk(float* out, unsigned long long seed, int steps) {
        Walker w = {};
        curand_init(seed, threadIdx.x, 0, &w.rng);
        for (int i = 0; i < steps; i++) { w.at.x += w.step(); w.at.y += w.step(); }
        out[2 * threadIdx.x] = w.at.x; out[2 * threadIdx.x + 1] = w.at.y;
    }""")
    out = np.zeros(64, np.uint32)
    m.begin[1, 64](99)
    for turn in range(2):
        m.go[1, 64](out)
        for i in (0, 5, 63):
            a = sequence("xorwow", (99, 63 - i, 0), 4)[2 * turn :]
            assert out[i] == a[0] ^ a[1]
    where = np.zeros((32, 2), np.float32)
    m.walk[1, 32](where, 3, 50)
    u = draw("xorwow", "uniform", states("xorwow", *((3, i, 0) for i in range(32))), 100).astype(np.float64) - 0.5
    np.testing.assert_allclose(where, np.stack([u[:, ::2].sum(1), u[:, 1::2].sum(1)], 1), atol=1e-5)


DROPOUT = r"""
#include <torch/extension.h>
template <typename scalar_t>
__global__ void fused_dropout_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ out, uint8_t* __restrict__ mask, float p,
                                     int64_t total, unsigned long long seed, unsigned long long offset) {
    const float scale = 1.0f / (1.0f - p);
    const int64_t idx = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, idx, offset, &state);
    const int64_t stride = (int64_t)blockDim.x * gridDim.x;
    const int64_t rounded = ((total - 1) / (stride * 4) + 1) * stride * 4;
    for (int64_t linear = idx; linear < rounded; linear += stride * 4) {
        float4 rand = curand_uniform4(&state);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int64_t li = linear + k * stride;
            if (li < total) {
                const bool keep = (&rand.x)[k] > p;
                out[li] = keep ? static_cast<scalar_t>(x[li] * scale) : scalar_t(0);
                mask[li] = keep;
            }
        }
    }
}
std::vector<torch::Tensor> dropout(torch::Tensor x, double p, int64_t seed, int64_t offset) {
    TORCH_CHECK(p >= 0 && p < 1, "p is ", p);
    auto out = torch::empty_like(x);
    auto mask = torch::empty(x.sizes(), x.options().dtype(torch::kUInt8));
    const int threads = 64;
    const int blocks = std::min<int64_t>((x.numel() + threads * 4 - 1) / (threads * 4), 3);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", ([&] {
        fused_dropout_kernel<scalar_t><<<blocks, threads>>>(x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), mask.data_ptr<uint8_t>(),
                                                            p, x.numel(), seed, offset);
    }));
    return {out, mask};
}
"""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (7, 11), (1000,), (33, 129)])
def test_dropout_with_philox(dtype, shape):
    ext = wb.load_inline("dropout", "std::vector<torch::Tensor> dropout(torch::Tensor x, double p, int64_t seed, int64_t offset);", HEADER + DROPOUT, functions=["dropout"])
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    out, mask = ext.dropout(x, 0.3, 42, 8)
    stride = min(-(-x.size // 256), 3) * 64
    turns = -(-x.size // (stride * 4))
    u = draw("philox", "uniform4", states("philox", *((42, i, 8) for i in range(stride))), turns)
    keep = (u.T.ravel() > np.float32(0.3))[: x.size].reshape(shape)
    np.testing.assert_array_equal(mask, keep)
    np.testing.assert_allclose(out, np.where(keep, x * np.float32(1 / 0.7), 0), rtol=1e-6)
    assert x.size < 1000 or abs(keep.mean() - 0.7) < 5 * math.sqrt(0.21 / x.size)


PI = r"""
#include <cuda_runtime.h>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

__global__ void setup_kernel(curandState *state, unsigned long long seed, int n) {
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    /* Each thread gets same seed, a different sequence number, no offset */
    if (id < n) curand_init(seed, id, 0, &state[id]);
}
__global__ void monte_carlo_kernel(curandState *state, int *count, int m, int n) {
    __shared__ int cache[128];
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    cache[threadIdx.x] = 0;
    __syncthreads();
    if (id < n) {
        curandState localState = state[id];
        for (int i = 0; i < m; i++) {
            float x = curand_uniform(&localState);
            float y = curand_uniform(&localState);
            if (x * x + y * y <= 1.0f) cache[threadIdx.x]++;
        }
        state[id] = localState;
    }
    __syncthreads();
    for (int i = blockDim.x / 2; i; i /= 2) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(count, cache[0]);
}
double estimate_pi(int n, int m, int launches, unsigned long long seed) {
    curandState *d_state;
    int *d_count, h_count = 0;
    CHECK(cudaMalloc((void **)&d_state, n * sizeof(curandState)));
    CHECK(cudaMalloc(&d_count, sizeof(int)));
    CHECK(cudaMemset(d_count, 0, sizeof(int)));
    int blocks = (n + 127) / 128;
    setup_kernel<<<blocks, 128>>>(d_state, seed, n);
    for (int i = 0; i < launches; i++) monte_carlo_kernel<<<blocks, 128>>>(d_state, d_count, m, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&h_count, d_count, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_state));
    cudaFree(d_count);
    return 4.0 * h_count / ((double)n * m * launches);
}
"""


def test_monte_carlo_pi():
    ext = wb.load_inline("pi", "double estimate_pi(int n, int m, int launches, unsigned long long seed);", HEADER + PI, functions=["estimate_pi"])
    n, m, launches = 1000, 50, 3
    u = draw("xorwow", "uniform", states("xorwow", *((1234, i, 0) for i in range(n))), 2 * m * launches)
    inside = (u[:, ::2] ** 2 + u[:, 1::2] ** 2 <= 1).mean()
    got = ext.estimate_pi(n, m, launches, 1234)
    assert got == pytest.approx(4 * inside, abs=1e-12)
    assert abs(got - math.pi) < 5 * math.sqrt(math.pi * (4 - math.pi) / (n * m * launches))


NOISE = r"""
#include <torch/extension.h>
__global__ void init_rng(curandState* states, int n, uint64_t seed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    curand_init(seed, i, 0, states + i);
}
template <typename RNG> __global__ void add_noise(RNG* states, float* x, float sigma, int n, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    RNG rng = states[i];
    for (int j = i; j < length; j += n) x[j] += sigma * curand_normal(&rng);
    states[i] = rng;
}
torch::Tensor make_states(int n, int64_t seed) {
    auto states = torch::empty({static_cast<int64_t>(n * sizeof(curandState))}, torch::kUInt8);
    init_rng<<<(n + 63) / 64, 64>>>(reinterpret_cast<curandState*>(states.data_ptr<uint8_t>()), n, seed);
    return states;
}
void add_noise_(torch::Tensor states, torch::Tensor x, double sigma) {
    const int n = states.numel() / sizeof(curandState);
    add_noise<curandState><<<(n + 63) / 64, 64>>>((curandState*)states.data_ptr<uint8_t>(), x.data_ptr<float>(), sigma, n, x.numel());
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("make_states", &make_states);
    m.def("add_noise_", &add_noise_);
}
"""


def test_states_in_a_tensor_of_bytes():
    ext = wb.load_inline("noise", HEADER + NOISE)
    s = ext.make_states(50, 7)
    assert s.size == 50 * 48
    x = np.zeros(2 * 175, np.float32)
    ext.add_noise_(s, x[:175], 2.0)
    ext.add_noise_(s, x[175:], 2.0)
    fresh = states("xorwow", *((7, i, 0) for i in range(50)))
    for part in (x[:175], x[175:]):  # 25 threads draw four, 25 three
        want = [draw("xorwow", "normal", fresh[: 25 * 48], 4), draw("xorwow", "normal", fresh[25 * 48 :], 3)]
        rows = [np.concatenate([want[0][:, k], want[1][:, k]]) for k in range(3)]
        np.testing.assert_array_equal(part, 2 * np.concatenate([*rows, want[0][:, 3]]))


def test_a_clock_is_a_seed():
    m = wb.load_inline("seeded", HEADER + r"""
#include <torch/extension.h>
#include <ctime>
__global__ void draw(float* y, unsigned long long seed) {
    curandState s;
    curand_init(seed, threadIdx.x, 0, &s);
    y[threadIdx.x] = curand_uniform(&s);
}
torch::Tensor draws(int n) {
    auto y = torch::empty({n});
    draw<<<1, n>>>(y.data_ptr<float>(), time(NULL));
    return y;
}
int64_t now() {
    time_t t;
    time(&t);
    return std::time(nullptr) - t;
}
""")  # fmt: skip
    y = np.asarray(m.draws(33))
    assert ((y > 0) & (y <= 1)).all() and len(set(y.tolist())) == 33
    assert 0 <= m.now() <= 1

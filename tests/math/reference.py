"""Writes reference.bin: values of the math functions, correctly rounded to double, computed with mpmath.

    python tests/math/reference.py [name ...] > tests/math/reference.bin

A record per function: the length of its name (one byte), the name, how many results (u32), the results (u64, the bits of a
double, NaN as 0x7ff8000000000000). The arguments are not stored: `arguments.rs` and `arguments` below make the same ones.
"""

import struct
import sys
from fractions import Fraction

import mpmath as m

m.mp.dps = 50
MASK = (1 << 64) - 1
NAN = 0x7FF8000000000000


class Stream:
    def __init__(self, name):
        self.state = 0xCBF29CE484222325
        for c in name.encode():
            self.state = (self.state ^ c) * 0x100000001B3 & MASK

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        return self.state >> 12


def double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def arguments(name, arity):
    s = Stream(name)
    offset = s.next() % 8
    out = []
    if arity == 1:
        for e in range(-1022, 1024):
            n = 24 if -4 <= e <= 6 else 2 if -30 <= e <= 10 else 1 if e % 8 == offset else 0
            for sign in (0, 1):
                for _ in range(n):
                    out.append((double(sign << 63 | (e + 1023) << 52 | s.next()),))
        for sign in (0, 1):
            for _ in range(4):
                out.append((double(sign << 63 | s.next()),))
    else:
        for i in range(1000):
            wide = i % 4 == 0
            args = []
            for _ in range(arity):
                e = 1 + s.next() % 2046 if wide else 1015 + s.next() % 17
                sign = s.next() % 2
                args.append(double(sign << 63 | e << 52 | s.next()))
            out.append(tuple(args))
    return out


def bits(x):
    if x is None or m.isnan(x):
        return NAN
    x = m.mpf(x)
    if m.isinf(x):
        value = float("inf") if x > 0 else float("-inf")
    else:
        sign, man, exp, bc = x._mpf_
        if exp + bc > 1100:
            value = float("inf")
        elif exp + bc < -1200:
            value = 0.0
        else:
            try:
                value = float(Fraction(int(man)) * Fraction(2) ** exp)
            except OverflowError:
                value = float("inf")
        value = -value if sign else value
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def erfcx(x):
    if x > 1e8:
        return (1 - 1 / (2 * x * x)) / (x * m.sqrt(m.pi))
    if x < -40:
        return m.inf
    with m.extradps(20):
        return m.exp(x * x) * m.erfc(x)


def erfcinv(q):
    if q < 0 or q > 2:
        return None
    if q > 1:
        return -erfcinv(2 - q)
    if q > m.mpf("0.1"):
        return m.erfinv(1 - q)
    # Newton on the logarithm.
    y = m.sqrt(max(-m.log(q) - m.log(m.sqrt(-m.log(q)) * m.sqrt(m.pi)), m.mpf("0.5")))
    for _ in range(60):
        c = m.erfc(y)
        step = (m.log(c) - m.log(q)) * c * m.sqrt(m.pi) / 2 * m.exp(y * y)
        y += step
        if abs(step) < m.mpf(10) ** -45 * abs(y):
            return y
    raise ValueError(q)


def power(x, y):
    if x < 0:
        if y != m.floor(y):
            return None
        sign = -1 if m.floor(y) % 2 else 1
        return sign * power(-x, y)
    t = y * m.log(x)
    return m.inf if t > 800 else m.mpf(0) if t < -900 else m.exp(t)


def gamma(x):
    if x <= 0 and x == m.floor(x):
        return None
    if x > 200:
        return m.inf
    if x < -220:
        return m.mpf(0)
    return m.gamma(x)


def lgamma(x):
    if x > 0:
        return m.loggamma(x)
    if x == m.floor(x):
        return m.inf
    with m.extradps(30):
        return m.log(m.pi / abs(m.sinpi(x))) - m.loggamma(1 - x)


def bessel(f, odd=False):
    def value(x):
        if abs(x) > 2**90:
            return m.mpf(0)
        return f(x)

    return value


def positive(f):
    return lambda x: f(x) if x > 0 else None


def exponential(base):
    def value(x):
        t = x * m.log(base)
        return m.inf if t > 800 else m.mpf(0) if t < -900 else m.power(base, x)

    return value


def clipped(f, limit, high, low):
    return lambda x: high if x > limit else low if x < -limit else f(x)


def trig_pi(f):
    def value(x):
        if abs(x) > 2**60:
            x = x % 2
        return f(x)

    return value


FUNCTIONS = {
    "acos": (1, lambda x: m.acos(x) if abs(x) <= 1 else None),
    "acosh": (1, lambda x: m.acosh(x) if x >= 1 else None),
    "asin": (1, lambda x: m.asin(x) if abs(x) <= 1 else None),
    "asinh": (1, lambda x: m.sign(x) * m.log1p(abs(x) + x * x / (1 + m.sqrt(1 + x * x)))),
    "atan": (1, m.atan),
    "atan2": (2, lambda y, x: m.atan2(y, x)),
    "atanh": (1, lambda x: (m.log1p(x) - m.log1p(-x)) / 2 if abs(x) < 1 else None),
    "cbrt": (1, lambda x: m.sign(x) * m.cbrt(abs(x))),
    "cos": (1, m.cos),
    "cosh": (1, clipped(m.cosh, 800, m.inf, m.inf)),
    "cospi": (1, trig_pi(m.cospi)),
    "cyl_bessel_i0": (1, clipped(lambda x: m.besseli(0, x), 800, m.inf, m.inf)),
    "cyl_bessel_i1": (1, clipped(lambda x: m.besseli(1, x), 800, m.inf, -m.inf)),
    "erf": (1, clipped(m.erf, 10, m.mpf(1), m.mpf(-1))),
    "erfc": (1, clipped(m.erfc, 40, m.mpf(0), m.mpf(2))),
    "erfcinv": (1, erfcinv),
    "erfcx": (1, erfcx),
    "erfinv": (1, lambda x: m.erfinv(x) if abs(x) < 1 else None),
    "exp": (1, exponential(m.e)),
    "exp10": (1, exponential(m.mpf(10))),
    "exp2": (1, exponential(m.mpf(2))),
    "expm1": (1, clipped(m.expm1, 800, m.inf, m.mpf(-1))),
    "hypot": (2, m.hypot),
    "j0": (1, bessel(lambda x: m.besselj(0, x))),
    "j1": (1, bessel(lambda x: m.besselj(1, x))),
    "lgamma": (1, lgamma),
    "log": (1, positive(m.log)),
    "log10": (1, positive(m.log10)),
    "log1p": (1, lambda x: m.log1p(x) if x > -1 else None),
    "log2": (1, positive(lambda x: m.log(x) / m.log(2))),
    "norm3d": (3, lambda x, y, z: m.sqrt(x * x + y * y + z * z)),
    "norm4d": (4, lambda x, y, z, w: m.sqrt(x * x + y * y + z * z + w * w)),
    "normcdf": (1, clipped(m.ncdf, 60, m.mpf(1), m.mpf(0))),
    "normcdfinv": (1, lambda p: -m.sqrt(2) * erfcinv(2 * p) if 0 <= p <= 1 else None),
    "pow": (2, power),
    "rcbrt": (1, lambda x: m.sign(x) / m.cbrt(abs(x))),
    "rhypot": (2, lambda x, y: 1 / m.hypot(x, y)),
    "rnorm3d": (3, lambda x, y, z: 1 / m.sqrt(x * x + y * y + z * z)),
    "rnorm4d": (4, lambda x, y, z, w: 1 / m.sqrt(x * x + y * y + z * z + w * w)),
    "rsqrt": (1, positive(lambda x: 1 / m.sqrt(x))),
    "sin": (1, m.sin),
    "sinh": (1, clipped(m.sinh, 800, m.inf, -m.inf)),
    "sinpi": (1, trig_pi(m.sinpi)),
    "sqrt": (1, positive(m.sqrt)),
    "tan": (1, m.tan),
    "tanh": (1, clipped(m.tanh, 60, m.mpf(1), m.mpf(-1))),
    "tgamma": (1, gamma),
    "y0": (1, positive(bessel(lambda x: m.bessely(0, x)))),
    "y1": (1, positive(bessel(lambda x: m.bessely(1, x)))),
}


def main():
    wanted = sys.argv[1:] or list(FUNCTIONS)
    for name in wanted:
        arity, f = FUNCTIONS[name]
        results = []
        for args in arguments(name, arity):
            results.append(bits(f(*map(m.mpf, args))))
        out = bytes([len(name)]) + name.encode() + struct.pack("<I", len(results))
        sys.stdout.buffer.write(out + struct.pack(f"<{len(results)}Q", *results))
        sys.stdout.flush()
        print(name, len(results), file=sys.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes the coefficients of the functions in this folder: minimax fits by the exchange algorithm of Remez, with the
coefficients rounded one after the other and the rest fitted again. Needs mpmath. `fit.py NAME...` prints those fits, the
constant first, and how good they are: at best and as rounded."""

import struct
import sys

from mpmath import mp, mpf, matrix, lu_solve

mp.dps = 60
POINTS = 20  # of the grid, for each unknown


def single(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def double(x):
    return mpf(float(x))


def grid(low, high, count):
    """Points that are dense at the ends, where the errors of minimax fits turn fastest."""
    return [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (count - 1)) for k in range(count)]


def extrema(points, errors, count):
    """Indices of `count` points where the error has alternating signs and is large."""
    runs = []
    for k, e in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = k
        else:
            runs.append(k)
    while len(runs) > count:
        del runs[0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1]
    return runs


def remez(target, weight, powers, points):
    """Coefficients of the powers of x that fit `target` (values at `points`), and the largest weighted error."""
    n = len(powers)
    # The grid is dense at the ends already.
    chosen = [round(k * (len(points) - 1) / n) for k in range(n + 1)]
    best = None
    for _ in range(30):
        system, right = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for row, k in enumerate(chosen):
            for column, power in enumerate(powers):
                system[row, column] = points[k] ** power * weight[k]
            system[row, n] = (-1) ** row
            right[row] = target[k] * weight[k]
        solution = lu_solve(system, right)
        found = [solution[k] for k in range(n)]
        errors = [
            (sum(c * x**p for c, p in zip(found, powers)) - t) * w for x, t, w in zip(points, target, weight)
        ]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = (found, worst)
        new = extrema(points, errors, n + 1)
        if len(new) < n + 1 or worst < abs(solution[n]) * mpf("1.01"):
            break
        chosen = new
    return best


def squares(target, weight, powers, points):
    """The same by least squares with weights that grow where the error is large (Lawson): nearly as good, and safe where
    the best fit has fewer turns than usual."""
    n = len(powers)
    importance, best = [mpf(1)] * len(points), None
    rows = [[w * x**p for p in powers] for x, w in zip(points, weight)]
    goal = [t * w for t, w in zip(target, weight)]
    for _ in range(25):
        system, right = matrix(n, n), matrix(n, 1)
        for row, g, i in zip(rows, goal, importance):
            for k in range(n):
                right[k] += i * row[k] * g
                for j in range(n):
                    system[k, j] += i * row[k] * row[j]
        found = list(lu_solve(system, right))
        errors = [abs(sum(c * r for c, r in zip(found, row)) - g) for row, g in zip(rows, goal)]
        worst = max(errors)
        if best is None or worst < best[1]:
            best = (found, worst)
        importance = [i * (e / worst + mpf("1e-2")) for i, e in zip(importance, errors)]
        total = max(importance)
        importance = [i / total for i in importance]
    return best


def polynomial(f, low, high, powers, weight=lambda x: 1, rounded=single, fixed=()):
    """Rounded coefficients of x**powers for f(x) on [low, high]; `fixed` are (power, coefficient) taken as given."""
    points = [x for x in grid(mpf(low), mpf(high), POINTS * (len(powers) + 1)) if abs(x) > mpf("1e-9")]
    target = [f(x) - sum(c * x**p for p, c in fixed) for x in points]
    weights = [mpf(weight(x)) for x in points]
    powers, result = list(powers), []
    while powers:
        # Without the first power, so that zero is no point where every term vanishes.
        first = powers[0]
        # Next to zero, the high powers are lost in what the digits here leave.
        seen = [k for k, x in enumerate(points) if first < 3 or abs(x) > abs(points[-1]) / 500]
        found, worst = (squares if result else remez)(
            [target[k] / points[k] ** first for k in seen],
            [abs(weights[k] * points[k] ** first) for k in seen],
            [p - first for p in powers],
            [points[k] for k in seen])
        if not result:
            print(f"    best {mp.nstr(worst, 4)}", file=sys.stderr)
        c = rounded(found[0])
        result.append(c)
        target = [t - c * x**first for t, x in zip(target, points)]
        powers.pop(0)
    print(f"    kept {mp.nstr(max(abs(t * w) for t, w in zip(target, weights)), 4)}", file=sys.stderr)
    return result


FITS = {}


def fit(function):
    FITS[function.__name__] = function
    return function


LN2 = mp.log(2)
HALF = LN2 / 2


def exp_tail(rounded, degree):
    return polynomial(mp.exp, -HALF, HALF, range(2, degree + 1), lambda x: mp.exp(-x), rounded, [(0, 1), (1, 1)])


def power_tail(base, rounded, degree):
    f = lambda x: mpf(base) ** x
    end = HALF / mp.log(base)
    return polynomial(f, -end, end, range(1, degree + 1), lambda x: 1 / f(x), rounded, [(0, 1)])


def expm1_tail(rounded, degree):
    """(exp(x) - 1 - x) / x^2, from x on."""
    f = lambda x: (mp.expm1(x) - x) / x**2
    weight = lambda x: x**2 / mp.expm1(x)
    return polynomial(f, -HALF, HALF, range(1, degree - 1), weight, rounded, [(0, mpf(0.5))])


@fit
def exp():
    return exp_tail(single, 6)


@fit
def exp2():
    return power_tail(2, single, 6)


@fit
def expm1():
    return expm1_tail(single, 6)


@fit
def log():
    """(ln(1 + x) - x) / x^2, from x on."""
    f = lambda x: (mp.log1p(x) - x) / x**2
    return polynomial(f, -0.25, 0.5, range(1, 9), lambda x: x**2 / mp.log1p(x), fixed=[(0, mpf(-0.5))])


def log_of_base(base, whole):
    """log(1 + x) / x - whole."""
    f = lambda x: mp.log1p(x) / mp.log(base) / x
    return polynomial(lambda x: f(x) - whole, -0.25, 0.5, range(10), lambda x: 1 / f(x))


@fit
def log2():
    return log_of_base(2, 1)


@fit
def log10():
    return log_of_base(10, 0)


def odd_tail(f, high, count, rounded=single):
    """(f(x) / x - 1) / z by z = x^2."""
    g = lambda z: (f(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
    return polynomial(
        g, 0, mpf(high) ** 2, range(count), lambda z: z * mp.sqrt(z) / f(mp.sqrt(z)), rounded)


@fit
def sin():
    return odd_tail(mp.sin, mp.pi / 2 + mpf("0.01"), 4)


@fit
def tan():
    return odd_tail(mp.tan, mp.pi / 4 + mpf("0.01"), 6)


@fit
def sinpi():
    """sin(pi x) / x - 2 by z = x^2."""
    f = lambda z: mp.sin(mp.pi * mp.sqrt(z)) / mp.sqrt(z)
    return polynomial(lambda z: f(z) - 2, 0, mpf(0.25), range(5), lambda z: 1 / f(z))


@fit
def atan():
    return odd_tail(mp.atan, 1, 8)


@fit
def asin():
    return odd_tail(mp.asin, 0.5, 5)


@fit
def sinh():
    return odd_tail(mp.sinh, HALF, 2)


@fit
def cosh():
    """(cosh(x) - 1) / z by z = x^2."""
    return polynomial(lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z, 0, HALF**2, range(3), lambda z: z)


@fit
def asinh():
    return odd_tail(mp.asinh, 0.75, 6)


@fit
def cbrt():
    return polynomial(mp.cbrt, 0.75, 1.5, range(5), lambda x: 1 / mp.cbrt(x))


@fit
def pow():
    """(log2((1 + s) / (1 - s)) / s - 2 / ln 2) / z by z = s^2."""
    f = lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z * 2 / LN2
    return polynomial(f, 0, mpf("0.0401"), range(4), lambda z: z * LN2 / 2)


def erf_log(high, degree, rounded):
    """ln(erfc(x)) / x + 1; the error counts in erf(x)."""
    f = lambda x: mp.log(mp.erfc(x)) / x + 1
    weight = lambda x: x * mp.erfc(x) / mp.erf(x)
    return polynomial(f, 0, mpf(high), range(degree + 1), weight, rounded)


@fit
def erf():
    return erf_log("3.93", 8, single)


def erfcx(high, k, scale):
    """(x + k) exp(u^2) erfc(u) for u = x / scale by q = (x - k) / (x + k)."""

    def f(q):
        x = k * (1 + q) / (1 - q)
        u = x / scale
        return (x + k) * mp.exp(u * u) * mp.erfc(u)

    high = mpf(high)
    return polynomial(f, -1, (high - k) / (high + k), range(9), lambda q: 1 / f(q))


@fit
def erfc():
    return erfcx("10.1", 2, 1)


@fit
def normcdf():
    """Twice what is used."""
    return erfcx("14.3", 3, mp.sqrt(2))


@fit
def dexp():
    return exp_tail(double, 11)


@fit
def dexp2():
    return power_tail(2, double, 11)


@fit
def dexpm1():
    return expm1_tail(double, 12)


def atanh_tail(terms, skip):
    """artanh(s) / s less its first terms, by z = s^2."""
    f = lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - sum(z**k / (2 * k + 1) for k in range(skip))) / z**skip
    return polynomial(f, 0, mpf("0.0401"), range(terms), lambda z: z**skip, double)


@fit
def dlog():
    return [2 * c for c in atanh_tail(7, 1)]


@fit
def dpow():
    """To base 2, of the quotient of 1 + s and 1 - s, from the third term on."""
    return [double(2 / LN2 * c) for c in atanh_tail(8, 2)]


@fit
def dsin():
    return odd_tail(mp.sin, mp.pi / 2 + mpf("1e-6"), 8, double)


@fit
def derf():
    return erf_log("5.93", 22, double)


def shown(c):
    """The shortest decimal that reads as the same `float`, or as the same `double` if it is none."""
    if single(c) != c:
        return repr(float(c))
    for digits in range(1, 12):
        text = f"{float(c):.{digits}g}"
        if single(text) == c:
            return text


if __name__ == "__main__":
    for name in sys.argv[1:] or FITS:
        print(name, file=sys.stderr, flush=True)
        result = FITS[name]()
        print(f"{name}: [{', '.join(shown(c) for c in result)}]", flush=True)

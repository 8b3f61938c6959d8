"""The limited API: Py_LIMITED_API before the header, PyModule_AddIntConstant and AddStringConstant, loops in C++ without the lock."""
CPP = r'''
#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr long kLimit = 2000000;

long collatz_kernel(std::uint64_t n) {
  long steps = 0;
  while (n != 1) {
    n = (n & 1) ? 3 * n + 1 : n >> 1;
    ++steps;
  }
  return steps;
}

std::vector<char> sieve_kernel(long limit) {
  std::vector<char> prime(limit, 1);
  if (limit > 0) prime[0] = 0;
  if (limit > 1) prime[1] = 0;
  for (long p = 2; p * p < limit; ++p) {
    if (!prime[p]) continue;
    for (long q = p * p; q < limit; q += p) prime[q] = 0;
  }
  return prime;
}

bool parse_limit(PyObject* arg, long* out) {
  const long value = PyLong_AsLong(arg);
  if (value == -1 && PyErr_Occurred()) return false;
  if (value < 0 || value > kLimit) {
    PyErr_Format(PyExc_ValueError, "%ld is not in 0 ... %ld", value, kLimit);
    return false;
  }
  *out = value;
  return true;
}

PyObject* collatz_steps(PyObject*, PyObject* arg) {
  long n;
  if (!parse_limit(arg, &n)) return nullptr;
  if (n == 0) {
    PyErr_SetString(PyExc_ValueError, "from 0 there is no way to 1");
    return nullptr;
  }
  return PyLong_FromLong(collatz_kernel(n));
}

PyObject* collatz_longest(PyObject*, PyObject* arg) {
  long limit;
  if (!parse_limit(arg, &limit)) return nullptr;
  long best = 0, longest = -1;
  Py_BEGIN_ALLOW_THREADS
  for (long n = 1; n < limit; ++n) {
    const long steps = collatz_kernel(n);
    if (steps > longest) {
      longest = steps;
      best = n;
    }
  }
  Py_END_ALLOW_THREADS
  return Py_BuildValue("(ll)", best, longest);
}

PyObject* count_primes(PyObject*, PyObject* arg) {
  long limit, count = 0;
  if (!parse_limit(arg, &limit)) return nullptr;
  for (char p : sieve_kernel(limit)) count += p;
  return PyLong_FromLong(count);
}

PyObject* primes(PyObject*, PyObject* arg) {
  long limit;
  if (!parse_limit(arg, &limit)) return nullptr;
  const std::vector<char> prime = sieve_kernel(limit);
  PyObject* list = PyList_New(0);
  if (!list) return nullptr;
  for (long n = 0; n < limit; ++n) {
    if (!prime[n]) continue;
    PyObject* number = PyLong_FromLong(n);
    if (!number || PyList_Append(list, number) < 0) {
      Py_XDECREF(number);
      Py_DECREF(list);
      return nullptr;
    }
    Py_DECREF(number);
  }
  return list;
}

PyObject* digits(PyObject*, PyObject* args) {
  unsigned long value;
  int base = 10;
  if (!PyArg_ParseTuple(args, "k|i:digits", &value, &base)) return nullptr;
  if (base < 2 || base > 16) {
    PyErr_SetString(PyExc_ValueError, "base must be 2 to 16");
    return nullptr;
  }
  std::string text;
  do {
    text.insert(text.begin(), "0123456789abcdef"[value % base]);
    value /= base;
  } while (value != 0);
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyMethodDef kMethods[] = {
    {"collatz_steps", collatz_steps, METH_O, PyDoc_STR("Steps from n to 1.")},
    {"collatz_longest", collatz_longest, METH_O, PyDoc_STR("The start below the limit with the longest way, and its length.")},
    {"count_primes", count_primes, METH_O, PyDoc_STR("How many primes there are below the limit.")},
    {"primes", primes, METH_O, PyDoc_STR("The primes below the limit.")},
    {"digits", digits, METH_VARARGS, PyDoc_STR("A number's digits in a base.")},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT,
    "ext",
    PyDoc_STR("Number theory within the limited API."),
    0,
    kMethods,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit_ext(void) {
  PyObject* module = PyModule_Create(&kModule);
  if (!module) return nullptr;
  if (PyModule_AddIntConstant(module, "LIMIT", kLimit) < 0 || PyModule_AddIntConstant(module, "ABI", Py_LIMITED_API >> 16) < 0 ||
      PyModule_AddStringConstant(module, "__version__", "1.2.0") < 0) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    def steps(n):
        count = 0
        while n != 1:
            n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
        return count

    assert m.LIMIT == 2000000 and m.ABI == 0x0309 and m.__version__ == "1.2.0"
    assert m.__doc__ == "Number theory within the limited API."
    assert [m.collatz_steps(n) for n in range(1, 200)] == [steps(n) for n in range(1, 200)]
    assert m.collatz_steps(27) == 111
    assert m.collatz_steps(837799) == 524
    assert m.collatz_longest(10) == (9, 19) and m.collatz_longest(10000) == (6171, 261)
    assert m.collatz_longest(0) == (0, -1) and m.collatz_longest(2) == (1, 0)

    def is_prime(n):
        return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))

    for limit in (0, 1, 2, 3, 4, 25, 26, 1000):
        expected = [n for n in range(limit) if is_prime(n)]
        assert m.primes(limit) == expected and m.count_primes(limit) == len(expected)
    assert m.count_primes(1000000) == 78498

    assert m.digits(0) == "0" and m.digits(255, 16) == "ff" and m.digits(10, 2) == "1010"
    for value in t.rng.integers(0, 2**62, 10):
        assert m.digits(int(value)) == str(value) and m.digits(int(value), 8) == f"{value:o}"

    for call, error, part in (
        (lambda: m.collatz_steps(0), ValueError, "no way to 1"),
        (lambda: m.collatz_steps(-1), ValueError, "-1 is not in 0 ... 2000000"),
        (lambda: m.count_primes(2000001), ValueError, "2000001 is not in"),
        (lambda: m.primes(2.0), TypeError, ""),
        (lambda: m.primes(2**100), OverflowError, ""),
        (lambda: m.digits(5, 17), ValueError, "base must be 2 to 16"),
        (lambda: m.digits("5"), TypeError, ""),
        (lambda: m.digits(), TypeError, "digits() takes at least 1 argument (0 given)"),
    ):
        with t.raises(error, part):
            call()

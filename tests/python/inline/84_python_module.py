"""A module of Python's own C API: PyMethodDef, PyModuleDef, PyModule_Create; PyArg_ParseTuple with i, l, L, n, d, f, s and p."""
CPP = r'''
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdio.h>
#include <string>

static long calls = 0;

static PyObject *
py_add(PyObject *self, PyObject *args)
{
    int a, b;

    if (!PyArg_ParseTuple(args, "ii", &a, &b))
        return NULL;
    ++calls;
    return PyLong_FromLong((long)a + b);
}

static PyObject *
py_product(PyObject *self, PyObject *args)
{
    long a;
    long long b;

    if (!PyArg_ParseTuple(args, "lL:product", &a, &b))
        return NULL;
    ++calls;
    return PyLong_FromLongLong(a * b);
}

static PyObject *
py_power(PyObject *self, PyObject *args)
{
    double base;
    double result = 1.0;
    Py_ssize_t exponent;
    Py_ssize_t i;

    if (!PyArg_ParseTuple(args, "dn:power", &base, &exponent))
        return NULL;
    for (i = 0; i < exponent; i++)
        result *= base;
    return PyFloat_FromDouble(result);
}

static PyObject *
py_midpoint(PyObject *self, PyObject *args)
{
    float a, b;

    if (!PyArg_ParseTuple(args, "ff", &a, &b))
        return NULL;
    return PyFloat_FromDouble(0.5f * (a + b));
}

static PyObject *
py_greet(PyObject *self, PyObject *args)
{
    const char *name;

    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    std::string text = std::string("Hello, ") + name + "!";
    return PyUnicode_FromString(text.c_str());
}

static PyObject *
py_agree(PyObject *self, PyObject *args)
{
    int a, b;

    if (!PyArg_ParseTuple(args, "pp", &a, &b))
        return NULL;
    return PyBool_FromLong(a == b);
}

static PyObject *
py_describe(PyObject *self, PyObject *args)
{
    const char *what;
    int count, loud;
    double at;
    char line[128];

    if (!PyArg_ParseTuple(args, "sidp:describe", &what, &count, &at, &loud))
        return NULL;
    snprintf(line, sizeof(line), "%d x %s at %.3f%s", count, what, at, loud ? "!" : "");
    return PyUnicode_FromString(line);
}

static PyObject *
py_reset(PyObject *self, PyObject *args)
{
    if (!PyArg_ParseTuple(args, ""))
        return NULL;
    calls = 0;
    Py_RETURN_NONE;
}

static PyObject *
py_calls(PyObject *self, PyObject *args)
{
    return PyLong_FromLong(calls);
}

static PyMethodDef methods[] = {
    {"add", py_add, METH_VARARGS, "The sum of two ints."},
    {"product", py_product, METH_VARARGS, "The product of a long and a long long."},
    {"power", py_power, METH_VARARGS, "A power by repeated multiplication."},
    {"midpoint", py_midpoint, METH_VARARGS, "The mean of two floats of 32 bits."},
    {"greet", py_greet, METH_VARARGS, "A greeting."},
    {"agree", py_agree, METH_VARARGS, "Whether two objects are both true or both false."},
    {"describe", py_describe, METH_VARARGS, NULL},
    {"reset", py_reset, METH_VARARGS, "Start counting anew."},
    {"calls", py_calls, METH_VARARGS, "How often add and product ran."},
    {NULL, NULL, 0, NULL}        /* Sentinel */
};

static struct PyModuleDef def = {
    PyModuleDef_HEAD_INIT,
    "ext",                       /* name of module */
    "Functions by hand.",        /* module documentation */
    -1,                          /* its state is in global variables */
    methods
};

PyMODINIT_FUNC
PyInit_ext(void)
{
    return PyModule_Create(&def);
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    assert m.reset() is None and m.calls() == 0
    for _ in range(20):
        a, b = (int(v) for v in t.rng.integers(-(2**31), 2**31, 2))
        assert m.add(a, b) == a + b
    assert m.add(2**31 - 1, 1) == 2**31 and m.add(True, np.int32(4)) == 5
    assert m.product(-(10**9), 10**9) == -(10**18)
    assert m.calls() == 23
    assert type(m.add(1, 2)) is int

    assert m.power(1.5, 7) == 1.5**7 and m.power(2, 0) == 1.0 and m.power(3.0, -4) == 1.0
    assert type(m.power(2, 3)) is float
    a, b = np.float32(0.1), np.float32(0.7)
    assert m.midpoint(0.1, 0.7) == float(np.float32(0.5) * (a + b)) != 0.4
    assert m.greet("world") == "Hello, world!" and m.greet("Žofie") == "Hello, Žofie!" and m.greet("") == "Hello, !"
    assert m.agree([], 0) is True and m.agree("x", None) is False and m.agree(1, 2.5) is True
    assert m.describe("pear", 3, 0.25, True) == "3 x pear at 0.250!"
    assert m.describe("fig", -1, 2, []) == "-1 x fig at 2.000"

    assert m.add.__doc__ == "The sum of two ints." and m.add.__name__ == "add"
    assert m.describe.__doc__ is None
    assert m.__doc__ == "Functions by hand."

    for call, error in (
        (lambda: m.add(1), TypeError),
        (lambda: m.add(1, 2, 3), TypeError),
        (lambda: m.add(1, 2.0), TypeError),
        (lambda: m.add(1, b=2), TypeError),
        (lambda: m.add("1", 2), TypeError),
        (lambda: m.add(2**31, 0), OverflowError),
        (lambda: m.product(2**63, 1), OverflowError),
        (lambda: m.product(1, -(2**63) - 1), OverflowError),
        (lambda: m.power("2", 1), TypeError),
        (lambda: m.power(2.0, 1.0), TypeError),
        (lambda: m.power(2.0, 2**64), OverflowError),
        (lambda: m.midpoint(None, 1), TypeError),
        (lambda: m.greet(b"bytes"), TypeError),
        (lambda: m.greet("nul \0 inside"), ValueError),
        (lambda: m.reset(1), TypeError),
    ):
        with t.raises(error):
            call()
    with t.raises(TypeError, "function takes exactly 2 arguments (1 given)"):
        m.add(1)
    with t.raises(TypeError, "product() takes exactly 2 arguments (3 given)"):
        m.product(1, 2, 3)
    with t.raises(TypeError, "describe() argument 1 must be str, not int"):
        m.describe(1, 2, 3.0, True)
    # Refused calls have not been counted.
    assert m.calls() == 24

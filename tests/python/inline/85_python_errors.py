"""Errors of Python's C API: PyErr_SetString, PyErr_Format, PyErr_Occurred, PyErr_Clear, NULL; METH_O, METH_NOARGS, wrong arguments."""
CPP = r'''
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cmath>
#include <cstring>

static const double table[] = {0.5, 1.25, -3.0, 8.0};
static const Py_ssize_t table_size = sizeof(table) / sizeof(table[0]);
static long ticks = 0;

static PyObject* root(PyObject* self, PyObject* arg) {
  const double x = PyFloat_AsDouble(arg);
  if (x == -1.0 && PyErr_Occurred()) return NULL;
  if (x < 0.0) {
    PyErr_SetString(PyExc_ValueError, "root of a negative number");
    return NULL;
  }
  return PyFloat_FromDouble(std::sqrt(x));
}

static PyObject* factorial(PyObject* self, PyObject* arg) {
  const long n = PyLong_AsLong(arg);
  if (n == -1 && PyErr_Occurred()) {
    return NULL;
  }
  if (n < 0) {
    PyErr_Format(PyExc_ValueError, "factorial of %ld", n);
    return NULL;
  }
  if (n > 20) {
    return PyErr_Format(PyExc_OverflowError, "%ld! has more than %d bits", n, 63);
  }
  long product = 1;
  for (long i = 2; i <= n; ++i) product *= i;
  return PyLong_FromLong(product);
}

static PyObject* tick(PyObject* self, PyObject* Py_UNUSED(ignored)) { return PyLong_FromLong(++ticks); }

static PyObject* item(PyObject* self, PyObject* args) {
  Py_ssize_t index;
  if (!PyArg_ParseTuple(args, "n:item", &index)) return nullptr;
  if (index < -table_size || index >= table_size) {
    PyErr_Format(PyExc_IndexError, "index %zd is outside of %s, which has %zd elements", index, "the table", table_size);
    return nullptr;
  }
  return PyFloat_FromDouble(table[index < 0 ? index + table_size : index]);
}

static PyObject* half(PyObject* self, PyObject* arg) {
  if (!PyLong_Check(arg)) {
    PyErr_Format(PyExc_TypeError, "half() wants an int, not %.200s", Py_TYPE(arg)->tp_name);
    return NULL;
  }
  const long value = PyLong_AsLong(arg);
  if (value == -1 && PyErr_Occurred()) return NULL;
  if (value % 2 != 0) {
    PyErr_Format(PyExc_ValueError, "%R is odd", arg);
    return NULL;
  }
  return PyLong_FromLong(value / 2);
}

static PyObject* long_or(PyObject* self, PyObject* args) {
  PyObject* object;
  long otherwise;
  if (!PyArg_ParseTuple(args, "Ol", &object, &otherwise)) return NULL;
  long value = PyLong_AsLong(object);
  if (value == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
    PyErr_Clear();
    value = otherwise;
  }
  return PyLong_FromLong(value);
}

static PyObject* fail(PyObject* self, PyObject* args) {
  const char* kind;
  if (!PyArg_ParseTuple(args, "s", &kind)) return NULL;
  if (strcmp(kind, "key") == 0) PyErr_SetString(PyExc_KeyError, "no such key");
  else if (strcmp(kind, "zero") == 0) PyErr_SetString(PyExc_ZeroDivisionError, "nothing to divide by");
  else if (strcmp(kind, "todo") == 0) PyErr_SetString(PyExc_NotImplementedError, "not yet");
  else if (strcmp(kind, "memory") == 0) return PyErr_NoMemory();
  else if (strcmp(kind, "twice") == 0) {
    PyErr_SetString(PyExc_KeyError, "the first");
    PyErr_SetString(PyExc_RuntimeError, "the second");
  } else if (strcmp(kind, "result") == 0) {
    PyErr_SetString(PyExc_RuntimeError, "set, and a result is returned all the same");
    return PyLong_FromLong(1);
  } else if (strcmp(kind, "nothing") != 0) {
    return PyErr_Format(PyExc_RuntimeError, "no kind of error is called '%s'", kind);
  }
  return NULL;
}

static PyMethodDef methods[] = {
    {"root", root, METH_O, "Square root."},
    {"factorial", factorial, METH_O, "Product of 1 to n."},
    {"tick", tick, METH_NOARGS, "One more."},
    {"item", item, METH_VARARGS, "An element of the table."},
    {"half", half, METH_O, "Half of an even number."},
    {"long_or", long_or, METH_VARARGS, "A number as a long, or something else where it does not fit."},
    {"fail", fail, METH_VARARGS, "Fail in some way."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "ext", NULL, -1, methods};

PyMODINIT_FUNC PyInit_ext(void) { return PyModule_Create(&module); }
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import math

    import numpy as np

    assert m.root(2.25) == 1.5 and m.root(4) == 2.0 and m.root(np.float32(9)) == 3.0
    assert math.isnan(m.root(float("nan"))) and m.root(float("inf")) == float("inf")
    with t.raises(ValueError, "root of a negative number"):
        m.root(-1.0)  # the value that PyFloat_AsDouble also fails with
    with t.raises(TypeError, "must be real number, not str"):
        m.root("2")
    with t.raises(TypeError):
        m.root()
    with t.raises(TypeError, "takes exactly one argument (2 given)"):
        m.root(1.0, 2.0)
    with t.raises(TypeError, "takes no keyword arguments"):
        m.root(x=1.0)

    assert [m.factorial(n) for n in range(21)] == [math.factorial(n) for n in range(21)]
    with t.raises(ValueError, "factorial of -1"):
        m.factorial(-1)
    with t.raises(OverflowError, "21! has more than 63 bits"):
        m.factorial(21)
    with t.raises(OverflowError, "too large to convert to C long"):
        m.factorial(2**70)
    with t.raises(TypeError, "'float' object cannot be interpreted as an integer"):
        m.factorial(3.0)

    first = m.tick()
    assert m.tick() == first + 1
    with t.raises(TypeError, "takes no arguments (1 given)"):
        m.tick(1)
    assert m.tick() == first + 2

    assert [m.item(i) for i in range(-4, 4)] == [0.5, 1.25, -3.0, 8.0] * 2
    for index in (4, -5, 10**12):
        with t.raises(IndexError, f"index {index} is outside of the table, which has 4 elements"):
            m.item(index)

    assert m.half(-10) == -5
    with t.raises(TypeError, "half() wants an int, not float"):
        m.half(2.0)
    with t.raises(TypeError, "half() wants an int, not NoneType"):
        m.half(None)
    with t.raises(ValueError, "7 is odd"):
        m.half(7)
    with t.raises(ValueError, "-1 is odd"):
        m.half(-1)

    assert m.long_or(7, 1) == 7 and m.long_or(-1, 1) == -1 and m.long_or(2**80, 1) == 1 and m.long_or(-(2**80), -9) == -9
    with t.raises(TypeError):
        m.long_or("7", 1)

    for kind, error, message in (
        ("key", KeyError, "no such key"),
        ("zero", ZeroDivisionError, "nothing to divide by"),
        ("todo", NotImplementedError, "not yet"),
        ("memory", MemoryError, ""),
        ("twice", RuntimeError, "the second"),
        ("nothing", SystemError, "returned NULL without setting an exception"),
        ("result", SystemError, "returned a result with an exception set"),
        ("flood", RuntimeError, "no kind of error is called 'flood'"),
    ):
        with t.raises(error, message):
            m.fail(kind)
    # Nothing of it is left behind.
    assert m.root(1.0) == 1.0 and m.item(0) == 0.5

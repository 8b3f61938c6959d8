"""Lists, tuples, dicts and keywords of Python's C API: PyArg_ParseTupleAndKeywords, Py_BuildValue, PyList_*, PyTuple_*, PyDict_*."""
CPP = r'''
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cmath>
#include <vector>

// name, count=1, scale=1.0, loud=False
static PyObject *
describe(PyObject *self, PyObject *args, PyObject *keywds)
{
    const char *name;
    int count = 1;
    double scale = 1.0;
    int loud = 0;
    static char *kwlist[] = {(char *)"name", (char *)"count", (char *)"scale", (char *)"loud", NULL};

    if (!PyArg_ParseTupleAndKeywords(args, keywds, "s|idp:describe", kwlist, &name, &count, &scale, &loud))
        return NULL;
    return Py_BuildValue("(sidO)", name, count, count * scale, loud ? Py_True : Py_False);
}

// Both must be given: the bar comes last.
static PyObject *
line(PyObject *self, PyObject *args, PyObject *keywds)
{
    double slope, offset;
    PyObject *xs = NULL;
    static const char *kwlist[] = {"slope", "offset", "xs", nullptr};

    if (!PyArg_ParseTupleAndKeywords(args, keywds, "dd|O!", const_cast<char **>(kwlist), &slope, &offset, &PyList_Type, &xs))
        return NULL;
    if (xs == NULL)
        return Py_BuildValue("(dd)", slope, offset);
    const Py_ssize_t n = PyList_Size(xs);
    PyObject *ys = PyList_New(n);
    if (ys == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        const double x = PyFloat_AsDouble(PyList_GetItem(xs, i));   /* borrowed */
        if (x == -1.0 && PyErr_Occurred()) {
            Py_DECREF(ys);
            return NULL;
        }
        PyList_SetItem(ys, i, PyFloat_FromDouble(slope * x + offset));   /* takes the reference */
    }
    return ys;
}

static PyObject *
build(PyObject *self, PyObject *args)
{
    const char *kind;
    if (!PyArg_ParseTuple(args, "s", &kind))
        return NULL;
    switch (kind[0]) {
        case 'i': return Py_BuildValue("i", -7);
        case 's': return Py_BuildValue("s", "text");
        case 'd': return Py_BuildValue("d", 0.25);
        case 'L': return Py_BuildValue("L", 1LL << 60);
        case '(': return Py_BuildValue("(id)", 3, 1.5);
        case '[': return Py_BuildValue("[ii]", 4, 5);
        case '{': return Py_BuildValue("{s:i,s:d}", "count", 2, "mean", 0.5);
        case '2': return Py_BuildValue("ii", 8, 9);
        case 'n': return Py_BuildValue("(s[ii](d))", "nested", 1, 2, 3.0);
        case '0': return Py_BuildValue("");
    }
    PyErr_Format(PyExc_KeyError, "%s", kind);
    return NULL;
}

static PyObject *
squares(PyObject *self, PyObject *arg)
{
    const long n = PyLong_AsLong(arg);
    if (n == -1 && PyErr_Occurred())
        return NULL;
    PyObject *list = PyList_New(0 < n ? n : 0);
    if (!list)
        return NULL;
    for (long i = 0; i < n; i++)
        PyList_SetItem(list, i, PyLong_FromLong(i * i));
    return list;
}

static int
numbers(PyObject *list, std::vector<double> &out)
{
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "want a list of numbers");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        const double x = PyFloat_AsDouble(PyList_GetItem(list, i));
        if (PyErr_Occurred())
            return -1;
        out.push_back(x);
    }
    return 0;
}

static PyObject *
minmax(PyObject *self, PyObject *arg)
{
    std::vector<double> values;
    if (numbers(arg, values) < 0)
        return NULL;
    if (values.empty()) {
        PyErr_SetString(PyExc_ValueError, "the list is empty");
        return NULL;
    }
    PyObject *pair = PyTuple_New(2);
    PyTuple_SetItem(pair, 0, PyFloat_FromDouble(*std::min_element(values.begin(), values.end())));
    PyTuple_SetItem(pair, 1, PyFloat_FromDouble(*std::max_element(values.begin(), values.end())));
    return pair;
}

static PyObject *
statistics(PyObject *self, PyObject *arg)
{
    std::vector<double> values;
    if (numbers(arg, values) < 0)
        return NULL;
    double sum = 0, squared = 0;
    for (double v : values) sum += v;
    const double mean = values.empty() ? 0 : sum / values.size();
    for (double v : values) squared += (v - mean) * (v - mean);

    PyObject *dict = PyDict_New();
    if (dict == NULL)
        return NULL;
    PyObject *count = PyLong_FromLong((long)values.size());
    PyObject *average = PyFloat_FromDouble(mean);
    PyObject *deviation = values.size() < 2 ? Py_BuildValue("") : PyFloat_FromDouble(std::sqrt(squared / (values.size() - 1)));
    PyDict_SetItemString(dict, "count", count);     /* keeps a reference of its own */
    PyDict_SetItemString(dict, "mean", average);
    PyDict_SetItemString(dict, "std", deviation);
    Py_DECREF(count);
    Py_DECREF(average);
    Py_DECREF(deviation);
    return dict;
}

static PyObject *
grid(PyObject *self, PyObject *args)
{
    int rows, cols;
    if (!PyArg_ParseTuple(args, "ii:grid", &rows, &cols))
        return NULL;
    PyObject *outer = PyList_New(rows);
    for (int r = 0; r < rows; r++) {
        PyObject *inner = PyTuple_New(cols);
        for (int c = 0; c < cols; c++)
            PyTuple_SetItem(inner, c, Py_BuildValue("i", r * cols + c));
        PyList_SetItem(outer, r, inner);
    }
    return outer;
}

static PyMethodDef methods[] = {
    {"describe", (PyCFunction)(void (*)(void))describe, METH_VARARGS | METH_KEYWORDS, "One needed, three optional."},
    {"line", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(line)), METH_VARARGS | METH_KEYWORDS, "slope * x + offset"},
    {"build", build, METH_VARARGS, "Values of all kinds."},
    {"squares", squares, METH_O, "The first squares."},
    {"minmax", minmax, METH_O, "The smallest and the greatest."},
    {"statistics", statistics, METH_O, "Count, mean and deviation."},
    {"grid", grid, METH_VARARGS, "Rows of numbers."},
    {NULL, NULL, 0, NULL}
};

static struct PyModuleDef moduledef = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "ext", .m_doc = NULL, .m_size = -1, .m_methods = methods
};

PyMODINIT_FUNC
PyInit_ext(void)
{
    return PyModule_Create(&moduledef);
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    assert m.describe("a") == ("a", 1, 1.0, False)
    assert m.describe("a", 3) == ("a", 3, 3.0, False)
    assert m.describe("a", 3, 0.5, "yes") == ("a", 3, 1.5, True)
    assert m.describe(name="b", scale=2) == ("b", 1, 2.0, False)
    assert m.describe("c", loud=1, count=-2) == ("c", -2, -2.0, True)
    for args, kwargs, part in (
        ((), {}, "describe"),
        ((), {"count": 1}, "name"),
        (("a",), {"name": "b"}, "name"),
        (("a",), {"colour": 1}, "colour"),
        (("a", 1, 1.0, True, 5), {}, "describe() takes at most 4 arguments (5 given)"),
        (("a", 1.5), {}, "integer"),
        ((5,), {}, "must be str, not int"),
    ):
        with t.raises(TypeError, part):
            m.describe(*args, **kwargs)

    assert m.line(2, 0.5) == (2.0, 0.5)
    assert m.line(2, 0.5, [0, 1.5, -3]) == [0.5, 3.5, -5.5]
    assert m.line(offset=1, slope=0, xs=[]) == []
    with t.raises(TypeError):
        m.line(2, 0.5, (1, 2))
    with t.raises(TypeError, "must be real number, not str"):
        m.line(2, 0.5, [1, "x"])
    with t.raises(TypeError):
        m.line(2)

    for kind, expected in (
        ("i", -7),
        ("s", "text"),
        ("d", 0.25),
        ("L", 2**60),
        ("(", (3, 1.5)),
        ("[", [4, 5]),
        ("{", {"count": 2, "mean": 0.5}),
        ("2", (8, 9)),
        ("n", ("nested", [1, 2], (3.0,))),
        ("0", None),
    ):
        got = m.build(kind)
        assert got == expected and type(got) is type(expected)
    with t.raises(KeyError, "zzz"):
        m.build("zzz")

    assert m.squares(6) == [0, 1, 4, 9, 16, 25] and m.squares(0) == [] and m.squares(-3) == []
    assert m.minmax([3, 1.5, -2]) == (-2.0, 3.0)
    with t.raises(ValueError, "the list is empty"):
        m.minmax([])
    with t.raises(TypeError, "want a list of numbers"):
        m.minmax((1, 2))
    with t.raises(TypeError, "must be real number, not NoneType"):
        m.minmax([1, None])

    values = t.rng.standard_normal(101)
    got = m.statistics(values.tolist())
    assert list(got) == ["count", "mean", "std"] and got["count"] == 101
    assert abs(got["mean"] - values.mean()) < 1e-12 and abs(got["std"] - values.std(ddof=1)) < 1e-12
    assert m.statistics([-1]) == {"count": 1, "mean": -1.0, "std": None}
    assert m.grid(2, 3) == [(0, 1, 2), (3, 4, 5)] and m.grid(1, 0) == [()] and m.grid(0, 5) == []
    # The same objects again and again: references are counted right.
    kept = [1.0, 2.0]
    for _ in range(1000):
        assert m.line(1, 0, kept) == kept and m.minmax(kept) == (1.0, 2.0)
    assert kept == [1.0, 2.0]

// pybind11's objects: those of Python's C interface (`python.cuh`), in pybind11's syntax. A failure ends the call with Python's exception.
namespace pybind11 {
struct handle;
struct object;
struct bool_;
struct int_;
struct float_;
struct str;
struct bytes;
struct list;
struct tuple;
struct args;
struct dict;
struct kwargs;
struct function;
struct sequence;
struct iterable;
template <typename P> struct accessor;
}

namespace __wb {

// The result of an operation, or the error that it set.
inline PyObject* py_must(PyObject* object) {
    if (object == nullptr) py_check();
    return object;
}
inline void py_must_not_fail(long status) {
    if (status < 0) py_check();
}
inline PyObject* py_text_object(const char* text) { return PyUnicode_FromString(text); }

// The kind that an object is converted to: the number of Python's type (15:
// any; -1: callable; -2: sequence; -3: iterable), and its name in messages.
template <typename T> struct PyKind {
    static constexpr bool is_object = false;
    static constexpr long value = std::is_same_v<T, bool> ? 1 : std::is_integral_v<T> ? 2 : std::is_floating_point_v<T> ? 3 : 15;
    static const char* name() { return value == 1 ? "bool" : value == 2 ? "int" : value == 3 ? "double" : "object"; }
};
#define __WB_KIND(type, object, kind, text) \
    template <> struct PyKind<type> { \
        static constexpr bool is_object = object; \
        static constexpr long value = kind; \
        static const char* name() { return text; } \
    };
__WB_KIND(std::string, false, 4, "std::string")
__WB_KIND(at::Tensor, false, 10, "at::Tensor")
__WB_KIND(pybind11::none, false, 0, "None")
__WB_KIND(pybind11::handle, true, 15, "object")
__WB_KIND(pybind11::object, true, 15, "object")
__WB_KIND(pybind11::bool_, true, 1, "bool")
__WB_KIND(pybind11::int_, true, 2, "int")
__WB_KIND(pybind11::float_, true, 3, "float")
__WB_KIND(pybind11::str, true, 4, "str")
__WB_KIND(pybind11::bytes, true, 5, "bytes")
__WB_KIND(pybind11::list, true, 6, "list")
__WB_KIND(pybind11::tuple, true, 7, "tuple")
__WB_KIND(pybind11::args, true, 7, "tuple")
__WB_KIND(pybind11::dict, true, 8, "dict")
__WB_KIND(pybind11::kwargs, true, 8, "dict")
__WB_KIND(pybind11::function, true, -1, "function")
__WB_KIND(pybind11::sequence, true, -2, "sequence")
__WB_KIND(pybind11::iterable, true, -3, "iterable")
#undef __WB_KIND
template <typename P> struct PyKind<pybind11::accessor<P>> {
    static constexpr bool is_object = true;
    static constexpr long value = 15;
};

// A value of any type as an object, and back.
template <typename T> inline PyObject* py_of(const T& value) {
    if constexpr (PyKind<T>::is_object) {
        return value.ptr();
    } else if constexpr (std::is_array_v<T>) {
        return py_text_object(value);
    } else {
        Value<T>::put(value);
        return py_object(__wb_host_op("py_argument"), 1);
    }
}

inline void py_cannot_cast(PyObject* object, const char* to) {
    __wb_push_c_string("Unable to cast Python instance of type <class '");
    py_put(object);
    __wb_run_op(__wb_host_op("py_class_name"), 1);
    __wb_push_c_string("'> to C++ type '");
    __wb_push_c_string(to);
    __wb_push_c_string("'");
    // The number of the exception: `runtime/host/exceptions.rs`.
    __wb_raise(112, 5);
}
template <typename T> inline T py_cast(PyObject* object);

}

namespace pybind11 {

struct iterator;
struct item_policy;
struct attr_policy;

struct __wb_unpacked_named {
    PyObject* of;
};
struct __wb_unpacked {
    PyObject* of;
    __wb_unpacked_named operator*() const { return __wb_unpacked_named{of}; }
};
struct handle {
    PyObject* m_ptr;
    handle() : m_ptr(nullptr) {}
    handle(PyObject* ptr) : m_ptr(ptr) {}
    handle(const none&) : m_ptr(reinterpret_cast<PyObject*>(1l)) {}
    PyObject* ptr() const { return m_ptr; }
    const handle& inc_ref() const { return *this; }
    const handle& dec_ref() const { return *this; }
    bool is_none() const { return reinterpret_cast<long>(m_ptr) == 1; }
    bool is(const handle& other) const { return m_ptr == other.m_ptr; }
    __wb_unpacked operator*() const { return __wb_unpacked{m_ptr}; }
    explicit operator bool() const { return m_ptr != nullptr; }
    template <typename T> bool equal(const T& other) const { return __wb_compare(other, 2); }
    template <typename T> bool not_equal(const T& other) const { return !__wb_compare(other, 2); }
    template <typename T> bool __wb_compare(const T& other, int operation) const {
        int result = PyObject_RichCompareBool(m_ptr, __wb::py_of(other), operation);
        __wb::py_must_not_fail(result);
        return result != 0;
    }
    template <typename T> T cast() const { return __wb::py_cast<T>(m_ptr); }
    template <typename K> bool contains(const K& key) const {
        int found = PySequence_Contains(m_ptr, __wb::py_of(key));
        __wb::py_must_not_fail(found);
        return found != 0;
    }
    accessor<attr_policy> attr(const char* name) const { return accessor<attr_policy>(m_ptr, __wb::py_text_object(name)); }
    accessor<attr_policy> attr(const std::string& name) const { return attr(name.c_str()); }
    template <typename K> accessor<item_policy> operator[](const K& key) const { return accessor<item_policy>(m_ptr, __wb::py_of(key)); }
    template <typename... A> object operator()(const A&... values) const {
        __wb_call call(values...);
        __wb::py_put(m_ptr);
        __wb::py_put(call.positional);
        __wb::py_put(call.named);
        return object(handle(__wb::py_must(__wb::py_object(__wb_host_op("py_call"), 3))));
    }
    template <typename I = iterator> I begin() const {
        I first(__wb::py_must(PyObject_GetIter(m_ptr)), nullptr);
        return ++first;
    }
    template <typename I = iterator> I end() const { return I(nullptr, nullptr); }
};
inline bool operator==(const handle& a, const handle& b) { return a.__wb_compare(b, 2); }
inline bool operator!=(const handle& a, const handle& b) { return !a.__wb_compare(b, 2); }

struct object : handle {
    object() {}
    object(const none& value) : handle(value) {}
    object(const handle& other) : handle(other.m_ptr) {}
    object(const handle& other, bool) : handle(other.m_ptr) {}
    template <typename P> object(const accessor<P>& of) : handle(of.get().m_ptr) {}
    handle release() {
        handle released(m_ptr);
        m_ptr = nullptr;
        return released;
    }
};

struct item_policy {
    static PyObject* get(PyObject* of, PyObject* key) { return __wb::py_must(PyObject_GetItem(of, key)); }
    static void set(PyObject* of, PyObject* key, PyObject* value) {
        __wb::py_put(of);
        __wb::py_put(key);
        __wb::py_put(value);
        __wb::py_must_not_fail(__wb::py_number(__wb_host_op("py_set_item"), 3));
    }
};
struct attr_policy {
    static PyObject* get(PyObject* of, PyObject* key) {
        __wb::py_put(of);
        __wb_push_c_string(PyUnicode_AsUTF8(key));
        return __wb::py_must(__wb::py_object(__wb_host_op("py_attribute"), 2));
    }
    static void set(PyObject* of, PyObject* key, PyObject* value) {
        __wb::py_put(of);
        __wb_push_c_string(PyUnicode_AsUTF8(key));
        __wb::py_put(value);
        __wb::py_must_not_fail(__wb::py_number(__wb_host_op("py_set_attribute"), 3));
    }
};

// `object["key"]` and `object.attr("name")`, which are read when they are used.
template <typename P> struct accessor {
    PyObject* of;
    PyObject* key;
    accessor(PyObject* of, PyObject* key) : of(of), key(key) {}
    object get() const { return object(handle(P::get(of, key))); }
    PyObject* ptr() const { return P::get(of, key); }
    template <typename T> void operator=(const T& value) { P::set(of, key, __wb::py_of(value)); }
    // This assignment would otherwise copy the accessor itself.
    void operator=(const accessor& other) { P::set(of, key, other.ptr()); }
    template <typename T> T cast() const { return __wb::py_cast<T>(ptr()); }
    template <typename K> bool contains(const K& k) const { return get().contains(k); }
    bool is_none() const { return get().is_none(); }
    bool is(const handle& other) const { return get().is(other); }
    template <typename T> bool equal(const T& other) const { return get().equal(other); }
    accessor<attr_policy> attr(const char* name) const { return get().attr(name); }
    template <typename K> accessor<item_policy> operator[](const K& k) const { return get()[k]; }
    template <typename... A> object operator()(const A&... values) const {
        if constexpr (std::is_same_v<P, attr_policy>) {
            __wb_call call(values...);
            __wb::py_put(of);
            __wb_push_c_string(PyUnicode_AsUTF8(key));
            __wb::py_put(call.positional);
            __wb::py_put(call.named);
            return object(handle(__wb::py_must(__wb::py_object(__wb_host_op("py_call_method"), 4))));
        } else {
            return get()(values...);
        }
    }
    template <typename I = iterator> I begin() const { return get().begin(); }
    template <typename I = iterator> I end() const { return get().end(); }
};

// Arguments of a call: positional ones, and `py::arg("name") = value`.
template <typename T> struct __wb_argument_of {
    static void add(PyObject* positional, PyObject*, const T& value) { PyList_Append(positional, __wb::py_of(value)); }
};
template <typename T> struct __wb_argument_of<arg_v<T>> {
    static void add(PyObject*, PyObject* named, const arg_v<T>& value) {
        PyDict_SetItemString(named, value.name, __wb::py_of(value.value));
    }
};
// `f(*args, **kwargs)`
template <> struct __wb_argument_of<__wb_unpacked> {
    static void add(PyObject* positional, PyObject*, const __wb_unpacked& value) {
        for (handle item : handle(value.of)) PyList_Append(positional, item.ptr());
    }
};
template <> struct __wb_argument_of<__wb_unpacked_named> {
    static void add(PyObject*, PyObject* named, const __wb_unpacked_named& value) {
        for (handle key : handle(value.of)) PyDict_SetItem(named, key.ptr(), __wb::py_must(PyObject_GetItem(value.of, key.ptr())));
    }
};
struct __wb_call {
    PyObject* positional;
    PyObject* named;
    template <typename... A> __wb_call(const A&... values) : positional(PyList_New(0)), named(PyDict_New()) {
        (__wb_argument_of<A>::add(positional, named, values), ...);
        positional = PyList_AsTuple(positional);
    }
};
struct iterator {
    PyObject* from;
    PyObject* at;
    handle current;
    iterator(PyObject* from, PyObject* at) : from(from), at(at) {}
    bool operator==(const iterator& other) const { return at == other.at; }
    bool operator!=(const iterator& other) const { return at != other.at; }
    // The result is a reference, so that `auto&` takes it.
    handle& operator*() {
        current = handle(at);
        return current;
    }
    iterator& operator++() {
        at = PyIter_Next(from);
        if (at == nullptr) __wb::py_check();
        return *this;
    }
};
// Objects of one type. An object of another type is converted if Python's type of that name converts it.
#define __WB_OBJECT(name, kind) \
    name(const handle& other) : object(__wb::py_as(other.m_ptr, kind)) {} \
    template <typename P> name(const accessor<P>& other) : object(__wb::py_as(other.ptr(), kind)) {} \
    name(const handle& other, bool) : object(other) {}
}
namespace __wb {
// The conversion that `list(object)` and the like do in Python.
inline pybind11::handle py_as(PyObject* object, long kind) {
    if (py_is(object, kind)) return pybind11::handle(object);
    PyObject* made = object;
    if (kind == 2) made = PyNumber_Long(object);
    else if (kind == 3) made = PyNumber_Float(object);
    else if (kind == 4) made = PyObject_Str(object);
    else if (kind == 6) made = PySequence_List(object);
    else if (kind == 7) made = PySequence_Tuple(object);
    else if (kind == 1) {
        int truth = PyObject_IsTrue(object);
        py_must_not_fail(truth);
        made = PyBool_FromLong(truth);
    }
    else if (kind == 8) {
        made = PyDict_New();
        pybind11::handle keys = pybind11::handle(object).attr("keys")();
        for (pybind11::handle key : keys) PyDict_SetItem(made, key.m_ptr, py_must(PyObject_GetItem(object, key.m_ptr)));
    }
    return pybind11::handle(py_must(made));
}
}
namespace pybind11 {
struct bool_ : object {
    bool_() : object(handle(PyBool_FromLong(0))) {}
    bool_(bool value) : object(handle(PyBool_FromLong(value))) {}
    __WB_OBJECT(bool_, 1)
    operator bool() const { return reinterpret_cast<long>(m_ptr) == 2; }
};
struct int_ : object {
    int_() : object(handle(PyLong_FromLongLong(0))) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0> int_(T value) : object(handle(__wb::py_of(value))) {}
    __WB_OBJECT(int_, 2)
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0> operator T() const { return __wb::py_cast<T>(m_ptr); }
};
struct float_ : object {
    float_(double value = 0) : object(handle(PyFloat_FromDouble(value))) {}
    __WB_OBJECT(float_, 3)
    operator float() const { return (float)PyFloat_AsDouble(m_ptr); }
    operator double() const { return PyFloat_AsDouble(m_ptr); }
};
struct str : object {
    str(const char* text = "") : object(handle(__wb::py_text_object(text))) {}
    str(const std::string& text) : object(handle(__wb::py_of(text))) {}
    __WB_OBJECT(str, 4)
    operator std::string() const { return __wb::py_cast<std::string>(m_ptr); }
};
struct bytes : object {
    bytes(const char* text = "") : object(handle(PyBytes_FromString(text))) {}
    bytes(const char* text, size_t size) : object(handle(PyBytes_FromStringAndSize(text, size))) {}
    bytes(const std::string& text) : object(handle(PyBytes_FromStringAndSize(text.data(), text.size()))) {}
    __WB_OBJECT(bytes, 5)
};
struct list : object {
    list() : object(handle(PyList_New(0))) {}
    explicit list(size_t size) : object(handle(PyList_New(size))) {}
    __WB_OBJECT(list, 6)
    size_t size() const { return PyList_Size(m_ptr); }
    bool empty() const { return size() == 0; }
    template <typename T> void append(const T& value) { __wb::py_must_not_fail(PyList_Append(m_ptr, __wb::py_of(value))); }
    template <typename T> void insert(size_t at, const T& value) { __wb::py_must_not_fail(PyList_Insert(m_ptr, at, __wb::py_of(value))); }
};
struct tuple : object {
    tuple() : object(handle(PyTuple_New(0))) {}
    explicit tuple(size_t size) : object(handle(PyTuple_New(size))) {}
    __WB_OBJECT(tuple, 7)
    size_t size() const { return PyTuple_Size(m_ptr); }
    bool empty() const { return size() == 0; }
};
struct args : tuple {
    args() {}
    args(const handle& other) : tuple(other) {}
};
// Pairs of keys and values, in order.
struct __wb_dict_iterator {
    PyObject* of;
    Py_ssize_t at;
    PyObject* key;
    PyObject* value;
    std::pair<handle, handle> current;
    __wb_dict_iterator(PyObject* of) : of(of), at(0), key(nullptr), value(nullptr), current(handle(), handle()) {}
    bool operator!=(const __wb_dict_iterator& other) const { return key != other.key; }
    bool operator==(const __wb_dict_iterator& other) const { return key == other.key; }
    std::pair<handle, handle>& operator*() {
        current = std::pair<handle, handle>(handle(key), handle(value));
        return current;
    }
    __wb_dict_iterator& operator++() {
        if (!PyDict_Next(of, &at, &key, &value)) key = nullptr;
        return *this;
    }
};
struct dict : object {
    dict() : object(handle(PyDict_New())) {}
    __WB_OBJECT(dict, 8)
    template <typename T, typename... A> explicit dict(const arg_v<T>& first, const A&... others) : object(handle(PyDict_New())) {
        set_(first);
        (set_(others), ...);
    }
    template <typename T> void set_(const arg_v<T>& value) { PyDict_SetItemString(m_ptr, value.name, __wb::py_of(value.value)); }
    size_t size() const { return PyDict_Size(m_ptr); }
    bool empty() const { return size() == 0; }
    void clear() {
        for (handle key : handle(PyDict_Keys(m_ptr))) __wb::py_must_not_fail(PyDict_DelItem(m_ptr, key.m_ptr));
    }
    __wb_dict_iterator begin() const {
        __wb_dict_iterator first(m_ptr);
        return ++first;
    }
    __wb_dict_iterator end() const { return __wb_dict_iterator(m_ptr); }
};
struct kwargs : dict {
    kwargs() {}
    kwargs(const handle& other) : dict(other) {}
};
struct iterable : object {
    iterable() {}
    iterable(const handle& other) : object(other) {}
};
struct sequence : object {
    sequence() {}
    sequence(const handle& other) : object(other) {}
    template <typename P> sequence(const accessor<P>& other) : object(other.get()) {}
    size_t size() const {
        Py_ssize_t n = PyObject_Size(m_ptr);
        __wb::py_must_not_fail(n);
        return n;
    }
};
struct function : object {
    function() {}
    function(const handle& other) : object(other) {}
};
#undef __WB_OBJECT

inline size_t len(const handle& object) {
    Py_ssize_t n = PyObject_Size(object.m_ptr);
    __wb::py_must_not_fail(n);
    return n;
}
template <typename P> inline size_t len(const accessor<P>& of) { return len(of.get()); }
inline object repr(const handle& of) { return object(handle(__wb::py_must(PyObject_Repr(of.m_ptr)))); }
inline bool __wb_has(PyObject* of, const char* name) {
    __wb::py_put(of);
    __wb_push_c_string(name);
    PyObject* found = __wb::py_object(__wb_host_op("py_attribute"), 2);
    if (found == nullptr) PyErr_Clear();
    return found != nullptr;
}
inline bool hasattr(const handle& of, const char* name) { return __wb_has(of.m_ptr, name); }
inline object getattr(const handle& of, const char* name) { return of.attr(name); }
template <typename T> inline object getattr(const handle& of, const char* name, const T& otherwise) {
    if (hasattr(of, name)) return of.attr(name);
    return object(handle(__wb::py_of(otherwise)));
}
template <typename T> inline void setattr(const handle& of, const char* name, const T& value) { of.attr(name) = value; }

template <typename T> inline bool __wb_isinstance(PyObject* of) {
    constexpr long kind = __wb::PyKind<T>::value;
    if constexpr (kind == 15) return of != nullptr;
    else if constexpr (kind == -1) return __wb::py_number_of(__wb_host_op("py_is_callable"), of) != 0;
    else if constexpr (kind == -2) return PySequence_Check(of) != 0;
    else if constexpr (kind == -3) return PySequence_Check(of) != 0 || PyDict_Check(of) || __wb_has(of, "__iter__");
    else return __wb::py_is(of, kind) != 0;
}
template <typename T> inline bool isinstance(const handle& of) { return __wb_isinstance<T>(of.m_ptr); }
template <typename T, typename P> inline bool isinstance(const accessor<P>& of) { return __wb_isinstance<T>(of.ptr()); }

template <typename T> inline T cast(const handle& of) { return __wb::py_cast<T>(of.m_ptr); }
template <typename T, typename P> inline T cast(const accessor<P>& of) { return __wb::py_cast<T>(of.ptr()); }
template <typename T, std::enable_if_t<!__wb::PyKind<T>::is_object, int> = 0> inline object cast(const T& value) {
    return object(handle(__wb::py_of(value)));
}
template <typename T> inline T reinterpret_borrow(const handle& of) { return T(of, true); }
template <typename T> inline T reinterpret_steal(const handle& of) { return T(of, true); }

template <typename... A> inline tuple make_tuple(const A&... values) {
    PyObject* made = PyList_New(0);
    (PyList_Append(made, __wb::py_of(values)), ...);
    return tuple(handle(PyList_AsTuple(made)), true);
}

// A line of the call's output, by Python's `print`.
struct __wb_line {
    std::string text, between = " ", end = "\n";
    bool begun = false;
    template <typename T> void add(const T& value) {
        if (begun) text += between;
        begun = true;
        text += __wb::py_cast<std::string>(__wb::py_must(PyObject_Str(__wb::py_of(value))));
    }
    template <typename T> void add(const arg_v<T>&) {}
    template <typename T> void set(const T&) {}
    template <typename T> void set(const arg_v<T>& value) {
        const std::string name(value.name);
        if (name == "sep") between = __wb::py_cast<std::string>(__wb::py_of(value.value));
        else if (name == "end") end = __wb::py_cast<std::string>(__wb::py_of(value.value));
        else if (name != "flush") __wb::fail(2, "", "py::print takes sep, end and flush here, not ", name);
    }
};
template <typename... A> inline void print(const A&... values) {
    __wb_line line;
    (line.set(values), ...);
    (line.add(values), ...);
    printf("%s%s", line.text.c_str(), line.end.c_str());
}

struct gil_scoped_acquire {};

}

namespace __wb {

template <typename T> inline T py_cast(PyObject* object) {
    if constexpr (PyKind<T>::is_object) {
        if constexpr (!std::is_same_v<T, pybind11::object> && !std::is_same_v<T, pybind11::handle>) {
            if (!pybind11::__wb_isinstance<T>(object)) py_cannot_cast(object, PyKind<T>::name());
        }
        return T(pybind11::handle(object));
    } else {
        constexpr long kind = PyKind<T>::value;
        // The rules are pybind11's: an int is a float, too; an object with a truth value that is no container is a bool.
        bool fits = kind == 15 || py_is(object, kind) || kind == 3 && py_is(object, 2);
        if constexpr (kind == 1) {
            if (!fits && !py_is(object, 4) && !py_is(object, 5) && !py_is(object, 6) && !py_is(object, 7) && !py_is(object, 8)) {
                int truth = PyObject_IsTrue(object);
                py_must_not_fail(truth);
                return truth != 0;
            }
        }
        if (!fits) py_cannot_cast(object, PyKind<T>::name());
        py_put(object);
        __wb_run_op(__wb_host_op("py_return"), 1);
        return Value<T>::get();
    }
}

// Objects that pass between the notebook and host code.
template <typename T> struct PyValue {
    static void put(const T& value) {
        py_put(value.m_ptr);
        __wb_run_op(__wb_host_op("py_return"), 1);
    }
    static T get() {
        __wb_push_c_string(PyKind<T>::name());
        __wb_push_int(Objects<T>::value & 3);
        return T(pybind11::handle(py_object(__wb_host_op("py_expect"), 3)));
    }
};
#define __WB_OBJECT(name, word) \
    template <> struct Value<pybind11::name> : PyValue<pybind11::name> {}; \
    template <> struct Objects<pybind11::name> { \
        static constexpr int64_t value = word; \
    };
__WB_OBJECT(handle, 4)
__WB_OBJECT(object, 4)
__WB_OBJECT(bool_, 4)
__WB_OBJECT(int_, 4)
__WB_OBJECT(float_, 4)
__WB_OBJECT(str, 4)
__WB_OBJECT(bytes, 4)
__WB_OBJECT(list, 4)
__WB_OBJECT(tuple, 4)
__WB_OBJECT(dict, 4)
__WB_OBJECT(iterable, 4)
__WB_OBJECT(sequence, 4)
__WB_OBJECT(function, 4)
__WB_OBJECT(args, 1)
__WB_OBJECT(kwargs, 2)
#undef __WB_OBJECT

}

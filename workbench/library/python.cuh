// Python's own interface for C: the parts of `<Python.h>` that extensions use. An object is a number that is cast to a pointer and never followed:
// 0 is NULL, 1 to 3 are None, True and False, negative ones are classes of exceptions, the rest are the call's objects (`runtime/host/python`).
struct PyObject {
    long __wb_unused;
};
struct PyTypeObject {
    const char* tp_name;
    long __wb_kind;
};
using Py_ssize_t = long;
using Py_hash_t = long;
using PyCFunction = PyObject* (*)(PyObject*, PyObject*);
using PyCFunctionWithKeywords = PyObject* (*)(PyObject*, PyObject*, PyObject*);
using visitproc = int (*)(PyObject*, void*);
using traverseproc = int (*)(PyObject*, visitproc, void*);
using inquiry = int (*)(PyObject*);
using freefunc = void (*)(void*);

struct PyMethodDef {
    const char* ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char* ml_doc;
};
struct PyModuleDef_Base {
    long __wb_unused;
};
struct PyModuleDef_Slot {
    int slot;
    void* value;
};
struct PyModuleDef {
    PyModuleDef_Base m_base;
    const char* m_name;
    const char* m_doc;
    Py_ssize_t m_size;
    PyMethodDef* m_methods;
    PyModuleDef_Slot* m_slots;
    traverseproc m_traverse;
    inquiry m_clear;
    freefunc m_free;
};

inline constexpr int METH_VARARGS = 1;
inline constexpr int METH_KEYWORDS = 2;
inline constexpr int METH_NOARGS = 4;
inline constexpr int METH_O = 8;
inline constexpr int METH_STATIC = 32;
inline constexpr int Py_mod_create = 1;
inline constexpr int Py_mod_exec = 2;
inline constexpr int Py_mod_multiple_interpreters = 3;
inline constexpr int Py_mod_gil = 4;
inline constexpr int Py_LT = 0;
inline constexpr int Py_LE = 1;
inline constexpr int Py_EQ = 2;
inline constexpr int Py_NE = 3;
inline constexpr int Py_GT = 4;
inline constexpr int Py_GE = 5;

namespace __wb {

inline void py_put(const void* object) { __wb_push_int(reinterpret_cast<long>(object)); }
inline PyObject* py_take() { return reinterpret_cast<PyObject*>(__wb_pop_int()); }

// An operation of the run time on objects, whose result is an object or a number.
inline PyObject* py_object(long op, int64_t n) {
    __wb_run_op(op, n);
    return py_take();
}
inline long py_number(long op, int64_t n) {
    __wb_run_op(op, n);
    return __wb_pop_int();
}
inline PyObject* py_object_of(long op, const void* object) {
    py_put(object);
    return py_object(op, 1);
}
inline long py_number_of(long op, const void* object) {
    py_put(object);
    return py_number(op, 1);
}

// The result as a text of the call, null if there is none.
inline const char* py_text(long op, int64_t n) {
    __wb_run_op(op, n);
    if (__wb_top_kind() == 0) {
        __wb_drop();
        return nullptr;
    }
    return (const char*)__wb_pop_text();
}

// Ends the call if an error is set.
inline void py_check() {
    __wb_run_op(__wb_host_op("py_check"), 0);
    __wb_drop();
}

// The type of a number: one object for as long as the call lasts.
inline PyTypeObject* py_type(long kind) {
    __wb_push_int(kind);
    long known = py_number(__wb_host_op("py_type_known"), 1);
    if (known != 0) return reinterpret_cast<PyTypeObject*>(known);
    PyTypeObject* made = (PyTypeObject*)__wb_alloc(sizeof(PyTypeObject));
    __wb_push_int(kind);
    made->tp_name = py_text(__wb_host_op("py_type_name"), 1);
    made->__wb_kind = kind;
    __wb_push_int(kind);
    __wb_push_int(reinterpret_cast<long>(made));
    __wb_run_op(__wb_host_op("py_type_keep"), 2);
    __wb_drop();
    return made;
}
inline int py_is(const void* object, long kind) {
    py_put(object);
    __wb_push_int(kind);
    return (int)py_number(__wb_host_op("py_is"), 2);
}

// Entry points of methods, by their flags; arguments are a tuple and a dictionary on the stack of values.
inline PyObject* py_argument() { return py_object(__wb_host_op("py_argument"), 1); }
inline PyObject* py_self() { return py_object(__wb_host_op("py_module"), 0); }
inline void py_return(PyObject* result) {
    py_put(result);
    __wb_run_op(__wb_host_op("py_return"), 1);
}
inline void py_call_varargs(long f) {
    PyObject* args = py_argument();
    __wb_drop();
    py_return(reinterpret_cast<PyObject* (*)(PyObject*, PyObject*)>(f)(py_self(), args));
}
inline void py_call_keywords(long f) {
    PyObject* args = py_argument();
    PyObject* keywords = py_object(__wb_host_op("py_keywords"), 1);
    py_return(reinterpret_cast<PyObject* (*)(PyObject*, PyObject*, PyObject*)>(f)(py_self(), args, keywords));
}
inline void py_call_none(long f) {
    __wb_drop();
    __wb_drop();
    py_return(reinterpret_cast<PyObject* (*)(PyObject*, PyObject*)>(f)(py_self(), reinterpret_cast<PyObject*>(0l)));
}
inline void py_call_one(long f) {
    __wb_pop_list();
    PyObject* arg = py_argument();
    __wb_drop();
    py_return(reinterpret_cast<PyObject* (*)(PyObject*, PyObject*)>(f)(py_self(), arg));
}

// Registers a method.
inline void py_define(const PyMethodDef* method) {
    int flags = method->ml_flags & ~METH_STATIC;
    void (*varargs)(long) = &py_call_varargs;
    void (*keywords)(long) = &py_call_keywords;
    void (*none)(long) = &py_call_none;
    void (*one)(long) = &py_call_one;
    long wrapper = 0;
    if (flags == METH_VARARGS) wrapper = reinterpret_cast<long>(varargs);
    else if (flags == (METH_VARARGS | METH_KEYWORDS)) wrapper = reinterpret_cast<long>(keywords);
    else if (flags == METH_NOARGS) wrapper = reinterpret_cast<long>(none);
    else if (flags == METH_O) wrapper = reinterpret_cast<long>(one);
    __wb_push_c_string(method->ml_name);
    if (method->ml_doc != nullptr) __wb_push_c_string(method->ml_doc);
    else __wb_push_none();
    __wb_push_int(flags);
    __wb_push_int(wrapper);
    __wb_push_int(reinterpret_cast<long>(method->ml_meth));
    __wb_run_op(__wb_host_op("py_define"), 5);
    __wb_drop();
}

// The name of the type of a place that an argument goes to.
template <typename T> struct PySlot {
    static const char* name() { return "something else"; }
};
#define __WB_PY_SLOT(type, text) \
    template <> struct PySlot<type> { \
        static const char* name() { return text; } \
    };
__WB_PY_SLOT(bool*, "bool")
__WB_PY_SLOT(char*, "char")
__WB_PY_SLOT(signed char*, "signed char")
__WB_PY_SLOT(unsigned char*, "unsigned char")
__WB_PY_SLOT(short*, "short")
__WB_PY_SLOT(unsigned short*, "unsigned short")
__WB_PY_SLOT(int*, "int")
__WB_PY_SLOT(unsigned int*, "unsigned int")
__WB_PY_SLOT(long*, "long")
__WB_PY_SLOT(unsigned long*, "unsigned long")
__WB_PY_SLOT(long long*, "long long")
__WB_PY_SLOT(unsigned long long*, "unsigned long long")
__WB_PY_SLOT(float*, "float")
__WB_PY_SLOT(double*, "double")
__WB_PY_SLOT(const char**, "const char*")
__WB_PY_SLOT(char**, "const char*")
__WB_PY_SLOT(PyObject**, "PyObject*")
__WB_PY_SLOT(PyTypeObject*, "PyTypeObject")
#undef __WB_PY_SLOT

template <typename T> inline void py_put_slot(T place) {
    __wb_push_c_string(PySlot<T>::name());
    if constexpr (std::is_pointer_v<T>) __wb_push_int(reinterpret_cast<long>(place));
    else __wb_push_int(0);
}

// Stores a result in its place; none leaves the place as it is.
template <typename T> inline void py_store_at(T* place) {
    if (__wb_top_kind() == 0) {
        __wb_drop();
        return;
    }
    if constexpr (std::is_same_v<T, PyObject*>) {
        *place = py_take();
    } else if constexpr (std::is_same_v<T, const char*> || std::is_same_v<T, char*>) {
        if (__wb_top_kind() == 4) {
            *place = (char*)__wb_pop_text();
        } else {
            __wb_drop();
            *place = nullptr;
        }
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        *place = (T)__wb_pop_float();
    } else if constexpr (std::is_integral_v<T> && !std::is_const_v<T>) {
        *place = (T)__wb_pop_int();
    } else {
        __wb_drop();
    }
}
template <typename T> inline void py_store(T place) {
    if constexpr (std::is_pointer_v<T>) py_store_at(place);
    else __wb_drop();
}

// Stores a list of results, if the operation gave one; it gives something else if it failed.
template <typename... A> inline int py_store_all(A... places) {
    if (__wb_top_kind() != 6) {
        __wb_drop();
        return 0;
    }
    __wb_pop_list();
    (py_store<A>(places), ...);
    return 1;
}

// The end of a module's initialisation.
inline void py_init(PyObject* module) {
    py_put(module);
    __wb_run_op(__wb_host_op("py_init"), 1);
    __wb_drop();
}

}

// The entry point of a module's `PyInit_` function.
inline void __wb_python_init(PyObject* module) { __wb::py_init(module); }

// References are not counted: objects stay until the call ends.
inline void Py_INCREF(const void*) {}
inline void Py_DECREF(const void*) {}
inline void Py_XINCREF(const void*) {}
inline void Py_XDECREF(const void*) {}
inline PyObject* Py_NewRef(PyObject* object) { return object; }
inline PyObject* Py_XNewRef(PyObject* object) { return object; }
inline int Py_Is(const PyObject* a, const PyObject* b) { return a == b; }
inline int Py_IsNone(const PyObject* object) { return reinterpret_cast<long>(object) == 1; }
inline int Py_IsTrue(const PyObject* object) { return reinterpret_cast<long>(object) == 2; }
inline int Py_IsFalse(const PyObject* object) { return reinterpret_cast<long>(object) == 3; }

// Types.
inline PyTypeObject* Py_TYPE(const PyObject* object) { return __wb::py_type(__wb::py_number_of(__wb_host_op("py_type"), object)); }
inline int Py_IS_TYPE(const PyObject* object, const PyTypeObject* type) { return Py_TYPE(object) == type; }
inline int PyObject_TypeCheck(const PyObject* object, const PyTypeObject* type) { return __wb::py_is(object, type->__wb_kind); }
inline int PyObject_IsInstance(const PyObject* object, const void* type) {
    __wb::py_put(object);
    __wb::py_put(type);
    return (int)__wb::py_number(__wb_host_op("py_is_instance"), 2);
}
inline int PyBool_Check(const PyObject* object) { return __wb::py_is(object, 1); }
inline int PyLong_Check(const PyObject* object) { return __wb::py_is(object, 2); }
inline int PyFloat_Check(const PyObject* object) { return __wb::py_is(object, 3); }
inline int PyUnicode_Check(const PyObject* object) { return __wb::py_is(object, 4); }
inline int PyBytes_Check(const PyObject* object) { return __wb::py_is(object, 5); }
inline int PyList_Check(const PyObject* object) { return __wb::py_is(object, 6); }
inline int PyTuple_Check(const PyObject* object) { return __wb::py_is(object, 7); }
inline int PyDict_Check(const PyObject* object) { return __wb::py_is(object, 8); }
inline int PyModule_Check(const PyObject* object) { return __wb::py_is(object, 9); }
inline int PyLong_CheckExact(const PyObject* object) { return PyLong_Check(object) && !PyBool_Check(object); }
inline int PyFloat_CheckExact(const PyObject* object) { return PyFloat_Check(object); }
inline int PyUnicode_CheckExact(const PyObject* object) { return PyUnicode_Check(object); }
inline int PyBytes_CheckExact(const PyObject* object) { return PyBytes_Check(object); }
inline int PyList_CheckExact(const PyObject* object) { return PyList_Check(object); }
inline int PyTuple_CheckExact(const PyObject* object) { return PyTuple_Check(object); }
inline int PyDict_CheckExact(const PyObject* object) { return PyDict_Check(object); }
inline int PyNumber_Check(const PyObject* object) { return PyLong_Check(object) || PyFloat_Check(object); }
inline int PyIndex_Check(const PyObject* object) { return PyLong_Check(object); }
inline int PySequence_Check(const PyObject* object) {
    return PyList_Check(object) || PyTuple_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object);
}
inline int PyMapping_Check(const PyObject* object) { return PySequence_Check(object) || PyDict_Check(object); }
inline int PyIter_Check(const PyObject* object) { return __wb::py_is(object, 14); }

// Errors.
inline void PyErr_SetString(PyObject* exception, const char* message) {
    __wb::py_put(exception);
    __wb_push_c_string(message);
    __wb_run_op(__wb_host_op("py_set_error"), 2);
    __wb_drop();
}
inline void PyErr_SetNone(PyObject* exception) { PyErr_SetString(exception, ""); }
inline void PyErr_SetObject(PyObject* exception, PyObject* value) {
    __wb::py_put(exception);
    __wb::py_put(value);
    __wb_run_op(__wb_host_op("py_set_object"), 2);
    __wb_drop();
}
template <typename... A> inline PyObject* PyErr_Format(PyObject* exception, const char* format, A... args) {
    __wb::py_put(exception);
    __wb_push_c_string(format);
    (__wb_put_formatted<A>(args), ...);
    return __wb::py_object(__wb_host_op("py_format_error"), 2 + sizeof...(A));
}
inline PyObject* PyErr_Occurred() { return __wb::py_object(__wb_host_op("py_occurred"), 0); }
inline void PyErr_Clear() {
    __wb_run_op(__wb_host_op("py_clear"), 0);
    __wb_drop();
}
inline int PyErr_ExceptionMatches(PyObject* exception) { return (int)__wb::py_number_of(__wb_host_op("py_matches"), exception); }
inline int PyErr_GivenExceptionMatches(PyObject* given, PyObject* exception) {
    __wb::py_put(given);
    __wb::py_put(exception);
    return (int)__wb::py_number(__wb_host_op("py_given_matches"), 2);
}
inline PyObject* PyErr_NoMemory() { return __wb::py_object(__wb_host_op("py_no_memory"), 0); }
inline int PyErr_BadArgument() { return (int)__wb::py_number(__wb_host_op("py_bad_argument"), 0); }
inline void PyErr_BadInternalCall() {
    __wb_run_op(__wb_host_op("py_bad_call"), 0);
    __wb_drop();
}

// Modules.
inline int PyModule_AddFunctions(PyObject*, PyMethodDef* methods) {
    for (const PyMethodDef* method = methods; method->ml_name != nullptr; ++method) __wb::py_define(method);
    return 0;
}
inline int PyModule_SetDocString(PyObject*, const char* doc) {
    __wb_push_c_string(doc);
    __wb_run_op(__wb_host_op("doc"), 1);
    __wb_drop();
    return 0;
}
inline PyObject* __wb_python_module(PyModuleDef* def) {
    PyObject* module = __wb::py_self();
    if (def->m_doc != nullptr) PyModule_SetDocString(module, def->m_doc);
    if (def->m_methods != nullptr) PyModule_AddFunctions(module, def->m_methods);
    return module;
}
inline PyObject* PyModule_Create(PyModuleDef* def) {
    if (def->m_slots != nullptr) {
        PyErr_Format(reinterpret_cast<PyObject*>(-11l), "module %s: PyModule_Create is incompatible with m_slots", def->m_name);
        return nullptr;
    }
    return __wb_python_module(def);
}
inline PyObject* PyModuleDef_Init(PyModuleDef* def) {
    PyObject* module = __wb_python_module(def);
    if (def->m_slots == nullptr) return module;
    for (const PyModuleDef_Slot* slot = def->m_slots; slot->slot != 0; ++slot) {
        if (slot->slot == Py_mod_exec) {
            if (reinterpret_cast<int (*)(PyObject*)>(reinterpret_cast<long>(slot->value))(module) != 0) return nullptr;
        } else if (slot->slot == Py_mod_create) {
            PyErr_SetString(reinterpret_cast<PyObject*>(-5l), "Py_mod_create is not supported");
            return nullptr;
        }
    }
    return module;
}
inline int PyModule_AddObjectRef(PyObject*, const char* name, PyObject* value) {
    __wb_push_c_string(name);
    __wb::py_put(value);
    return (int)__wb::py_number(__wb_host_op("py_attr"), 2);
}
inline int PyModule_AddObject(PyObject* module, const char* name, PyObject* value) {
    return PyModule_AddObjectRef(module, name, value);
}
inline int PyModule_Add(PyObject* module, const char* name, PyObject* value) { return PyModule_AddObjectRef(module, name, value); }

// Numbers.
inline PyObject* PyLong_FromLongLong(long long value) {
    __wb_push_int(value);
    return __wb::py_object(__wb_host_op("py_object"), 1);
}
inline PyObject* PyLong_FromLong(long value) { return PyLong_FromLongLong(value); }
inline PyObject* PyLong_FromSsize_t(Py_ssize_t value) { return PyLong_FromLongLong(value); }
inline PyObject* PyLong_FromUnsignedLongLong(unsigned long long value) {
    __wb_push_int((long)value);
    return __wb::py_object(__wb_host_op("py_unsigned"), 1);
}
inline PyObject* PyLong_FromUnsignedLong(unsigned long value) { return PyLong_FromUnsignedLongLong(value); }
inline PyObject* PyLong_FromSize_t(size_t value) { return PyLong_FromUnsignedLongLong(value); }
inline PyObject* PyLong_FromInt32(int value) { return PyLong_FromLongLong(value); }
inline PyObject* PyLong_FromInt64(long value) { return PyLong_FromLongLong(value); }
inline PyObject* PyLong_FromUInt32(unsigned int value) { return PyLong_FromUnsignedLongLong(value); }
inline PyObject* PyLong_FromUInt64(unsigned long value) { return PyLong_FromUnsignedLongLong(value); }
inline PyObject* PyLong_FromDouble(double value) {
    __wb_push_float(value);
    return __wb::py_object(__wb_host_op("py_long_of_double"), 1);
}
inline PyObject* PyLong_FromVoidPtr(void* value) { return PyLong_FromUnsignedLongLong((unsigned long long)reinterpret_cast<long>(value)); }
inline PyObject* PyBool_FromLong(long value) { return reinterpret_cast<PyObject*>(value != 0 ? 2l : 3l); }
inline PyObject* PyFloat_FromDouble(double value) {
    __wb_push_float(value);
    return __wb::py_object(__wb_host_op("py_object"), 1);
}
inline long __wb_python_int(PyObject* object, const char* what) {
    __wb::py_put(object);
    __wb_push_c_string(what);
    return __wb::py_number(__wb_host_op("py_as_int"), 2);
}
inline long PyLong_AsLong(PyObject* object) { return __wb_python_int(object, "long"); }
inline int PyLong_AsInt(PyObject* object) { return (int)__wb_python_int(object, "int"); }
inline long long PyLong_AsLongLong(PyObject* object) { return __wb_python_int(object, "long long"); }
inline Py_ssize_t PyLong_AsSsize_t(PyObject* object) { return __wb_python_int(object, "ssize_t"); }
inline size_t PyLong_AsSize_t(PyObject* object) { return (size_t)__wb_python_int(object, "size_t"); }
inline unsigned long PyLong_AsUnsignedLong(PyObject* object) { return (unsigned long)__wb_python_int(object, "unsigned long"); }
inline unsigned long long PyLong_AsUnsignedLongLong(PyObject* object) {
    return (unsigned long long)__wb_python_int(object, "unsigned long long");
}
inline unsigned long PyLong_AsUnsignedLongMask(PyObject* object) { return (unsigned long)__wb_python_int(object, "mask"); }
inline unsigned long long PyLong_AsUnsignedLongLongMask(PyObject* object) {
    return (unsigned long long)__wb_python_int(object, "mask");
}
inline long PyLong_AsLongAndOverflow(PyObject* object, int* overflow) {
    *overflow = (int)__wb::py_number_of(__wb_host_op("py_overflow"), object);
    return *overflow != 0 ? -1 : PyLong_AsLong(object);
}
inline long long PyLong_AsLongLongAndOverflow(PyObject* object, int* overflow) { return PyLong_AsLongAndOverflow(object, overflow); }
inline double PyFloat_AsDouble(PyObject* object) {
    __wb::py_put(object);
    __wb_run_op(__wb_host_op("py_as_double"), 1);
    return __wb_pop_float();
}
inline double PyLong_AsDouble(PyObject* object) { return PyFloat_AsDouble(object); }
inline double PyFloat_AS_DOUBLE(PyObject* object) {
    double value = PyFloat_AsDouble(object);
    if (value == -1.0) __wb::py_check();
    return value;
}
inline PyObject* __wb_python_arithmetic(const char* operation, PyObject* a, PyObject* b) {
    __wb_push_c_string(operation);
    __wb::py_put(a);
    __wb::py_put(b);
    return __wb::py_object(__wb_host_op("py_arithmetic"), 3);
}
inline PyObject* PyNumber_Add(PyObject* a, PyObject* b) { return __wb_python_arithmetic("+", a, b); }
inline PyObject* PyNumber_Subtract(PyObject* a, PyObject* b) { return __wb_python_arithmetic("-", a, b); }
inline PyObject* PyNumber_Multiply(PyObject* a, PyObject* b) { return __wb_python_arithmetic("*", a, b); }
inline PyObject* PyNumber_TrueDivide(PyObject* a, PyObject* b) { return __wb_python_arithmetic("/", a, b); }
inline PyObject* PyNumber_Long(PyObject* object) { return __wb::py_object_of(__wb_host_op("py_to_int"), object); }
inline PyObject* PyNumber_Index(PyObject* object) { return __wb::py_object_of(__wb_host_op("py_to_index"), object); }
inline PyObject* PyNumber_Float(PyObject* object) { return __wb::py_object_of(__wb_host_op("py_to_float"), object); }
inline Py_ssize_t PyNumber_AsSsize_t(PyObject* object, PyObject*) { return PyLong_AsSsize_t(PyNumber_Index(object)); }

// Texts and bytes.
inline PyObject* PyUnicode_FromStringAndSize(const char* text, Py_ssize_t size) {
    __wb_push_text(text, size);
    return __wb::py_object(__wb_host_op("py_object"), 1);
}
inline PyObject* PyUnicode_FromString(const char* text) {
    __wb_push_c_string(text);
    return __wb::py_object(__wb_host_op("py_object"), 1);
}
inline PyObject* PyUnicode_InternFromString(const char* text) { return PyUnicode_FromString(text); }
inline PyObject* PyUnicode_DecodeUTF8(const char* text, Py_ssize_t size, const char*) { return PyUnicode_FromStringAndSize(text, size); }
template <typename... A> inline PyObject* PyUnicode_FromFormat(const char* format, A... args) {
    __wb_push_c_string(format);
    (__wb_put_formatted<A>(args), ...);
    return __wb::py_object(__wb_host_op("py_from_format"), 1 + sizeof...(A));
}
inline const char* PyUnicode_AsUTF8(PyObject* object) {
    __wb::py_put(object);
    return __wb::py_text(__wb_host_op("py_as_text"), 1);
}
inline const char* PyUnicode_AsUTF8AndSize(PyObject* object, Py_ssize_t* size) {
    __wb::py_put(object);
    __wb_run_op(__wb_host_op("py_as_text"), 1);
    if (__wb_top_kind() == 0) {
        __wb_drop();
        if (size != nullptr) *size = -1;
        return nullptr;
    }
    if (size != nullptr) *size = __wb_text_size();
    return (const char*)__wb_pop_text();
}
inline Py_ssize_t __wb_python_size(const PyObject* object, long kind) {
    __wb::py_put(object);
    __wb_push_int(kind);
    return __wb::py_number(__wb_host_op("py_size"), 2);
}
inline Py_ssize_t PyUnicode_GetLength(PyObject* object) { return __wb_python_size(object, 4); }
inline Py_ssize_t PyUnicode_GET_LENGTH(PyObject* object) { return __wb_python_size(object, 4); }
inline PyObject* PyUnicode_Concat(PyObject* a, PyObject* b) { return __wb_python_arithmetic("+", a, b); }
inline int PyUnicode_CompareWithASCIIString(PyObject* object, const char* text) {
    __wb::py_put(object);
    __wb_push_c_string(text);
    return (int)__wb::py_number(__wb_host_op("py_compare_text"), 2);
}
inline PyObject* PyUnicode_AsUTF8String(PyObject* object) { return __wb::py_object_of(__wb_host_op("py_to_bytes"), object); }
inline PyObject* PyBytes_FromStringAndSize(const char* text, Py_ssize_t size) {
    __wb_push_blob(text, size);
    return __wb::py_object(__wb_host_op("py_bytes"), 1);
}
inline PyObject* PyBytes_FromString(const char* text) {
    Py_ssize_t size = 0;
    while (text[size] != 0) ++size;
    return PyBytes_FromStringAndSize(text, size);
}
inline Py_ssize_t PyBytes_Size(PyObject* object) { return __wb_python_size(object, 5); }
inline Py_ssize_t PyBytes_GET_SIZE(PyObject* object) { return __wb_python_size(object, 5); }
inline char* PyBytes_AsString(PyObject* object) {
    Py_ssize_t size = PyBytes_Size(object);
    if (size < 0) return nullptr;
    char* text = (char*)__wb_alloc(size + 1);
    for (Py_ssize_t i = 0; i < size; ++i) {
        __wb::py_put(object);
        __wb_push_int(i);
        text[i] = (char)__wb::py_number(__wb_host_op("py_byte"), 2);
    }
    text[size] = 0;
    return text;
}
inline char* PyBytes_AS_STRING(PyObject* object) { return PyBytes_AsString(object); }

// Lists and tuples.
inline PyObject* __wb_python_new(long kind, Py_ssize_t size) {
    __wb_push_int(kind);
    __wb_push_int(size);
    return __wb::py_object(__wb_host_op("py_new"), 2);
}
inline PyObject* __wb_python_get(PyObject* object, long kind, Py_ssize_t i) {
    __wb::py_put(object);
    __wb_push_int(kind);
    __wb_push_int(i);
    return __wb::py_object(__wb_host_op("py_get"), 3);
}
inline int __wb_python_set(PyObject* object, long kind, Py_ssize_t i, PyObject* value) {
    __wb::py_put(object);
    __wb_push_int(kind);
    __wb_push_int(i);
    __wb::py_put(value);
    return (int)__wb::py_number(__wb_host_op("py_set"), 4);
}
inline PyObject* PyList_New(Py_ssize_t size) { return __wb_python_new(6, size); }
inline Py_ssize_t PyList_Size(PyObject* list) { return __wb_python_size(list, 6); }
inline Py_ssize_t PyList_GET_SIZE(PyObject* list) {
    Py_ssize_t size = PyList_Size(list);
    if (size < 0) __wb::py_check();
    return size;
}
inline PyObject* PyList_GetItem(PyObject* list, Py_ssize_t i) { return __wb_python_get(list, 6, i); }
inline PyObject* PyList_GetItemRef(PyObject* list, Py_ssize_t i) { return __wb_python_get(list, 6, i); }
inline PyObject* PyList_GET_ITEM(PyObject* list, Py_ssize_t i) {
    PyObject* item = PyList_GetItem(list, i);
    if (item == nullptr) __wb::py_check();
    return item;
}
inline int PyList_SetItem(PyObject* list, Py_ssize_t i, PyObject* value) { return __wb_python_set(list, 6, i, value); }
inline void PyList_SET_ITEM(PyObject* list, Py_ssize_t i, PyObject* value) {
    if (PyList_SetItem(list, i, value) != 0) __wb::py_check();
}
inline int PyList_Append(PyObject* list, PyObject* value) {
    __wb::py_put(list);
    __wb::py_put(value);
    return (int)__wb::py_number(__wb_host_op("py_append"), 2);
}
inline int PyList_Insert(PyObject* list, Py_ssize_t i, PyObject* value) {
    __wb::py_put(list);
    __wb_push_int(i);
    __wb::py_put(value);
    return (int)__wb::py_number(__wb_host_op("py_insert"), 3);
}
inline int PyList_Reverse(PyObject* list) { return (int)__wb::py_number_of(__wb_host_op("py_reverse"), list); }
inline int PyList_Sort(PyObject* list) { return (int)__wb::py_number_of(__wb_host_op("py_sort"), list); }
inline PyObject* __wb_python_slice(PyObject* object, long kind, Py_ssize_t low, Py_ssize_t high) {
    __wb::py_put(object);
    __wb_push_int(kind);
    __wb_push_int(low);
    __wb_push_int(high);
    return __wb::py_object(__wb_host_op("py_slice"), 4);
}
inline PyObject* PyList_GetSlice(PyObject* list, Py_ssize_t low, Py_ssize_t high) { return __wb_python_slice(list, 6, low, high); }
inline PyObject* PyTuple_GetSlice(PyObject* tuple, Py_ssize_t low, Py_ssize_t high) { return __wb_python_slice(tuple, 7, low, high); }
inline PyObject* PySequence_Tuple(PyObject* object) {
    __wb::py_put(object);
    __wb_push_int(7);
    return __wb::py_object(__wb_host_op("py_to_sequence"), 2);
}
inline PyObject* PySequence_List(PyObject* object) {
    __wb::py_put(object);
    __wb_push_int(6);
    return __wb::py_object(__wb_host_op("py_to_sequence"), 2);
}
inline PyObject* PyList_AsTuple(PyObject* list) { return PySequence_Tuple(list); }
inline PyObject* PyTuple_New(Py_ssize_t size) { return __wb_python_new(7, size); }
inline Py_ssize_t PyTuple_Size(PyObject* tuple) { return __wb_python_size(tuple, 7); }
inline Py_ssize_t PyTuple_GET_SIZE(PyObject* tuple) {
    Py_ssize_t size = PyTuple_Size(tuple);
    if (size < 0) __wb::py_check();
    return size;
}
inline PyObject* PyTuple_GetItem(PyObject* tuple, Py_ssize_t i) { return __wb_python_get(tuple, 7, i); }
inline PyObject* PyTuple_GET_ITEM(PyObject* tuple, Py_ssize_t i) {
    PyObject* item = PyTuple_GetItem(tuple, i);
    if (item == nullptr) __wb::py_check();
    return item;
}
inline int PyTuple_SetItem(PyObject* tuple, Py_ssize_t i, PyObject* value) { return __wb_python_set(tuple, 7, i, value); }
inline void PyTuple_SET_ITEM(PyObject* tuple, Py_ssize_t i, PyObject* value) {
    if (PyTuple_SetItem(tuple, i, value) != 0) __wb::py_check();
}
template <typename... A> inline PyObject* PyTuple_Pack(Py_ssize_t n, A... items) {
    PyObject* tuple = PyTuple_New(n);
    Py_ssize_t i = 0;
    ((PyTuple_SetItem(tuple, i++, items)), ...);
    return tuple;
}

// Sequences and iterators.
inline Py_ssize_t PyObject_Size(PyObject* object) { return __wb_python_size(object, -1); }
inline Py_ssize_t PyObject_Length(PyObject* object) { return __wb_python_size(object, -1); }
inline Py_ssize_t PySequence_Size(PyObject* object) { return __wb_python_size(object, -2); }
inline Py_ssize_t PySequence_Length(PyObject* object) { return __wb_python_size(object, -2); }
inline Py_ssize_t PyMapping_Size(PyObject* object) { return __wb_python_size(object, -1); }
inline PyObject* PySequence_GetItem(PyObject* object, Py_ssize_t i) { return __wb_python_get(object, -1, i); }
inline int PySequence_SetItem(PyObject* object, Py_ssize_t i, PyObject* value) { return __wb_python_set(object, -1, i, value); }
inline PyObject* PySequence_Fast(PyObject* object, const char* message) {
    __wb::py_put(object);
    __wb_push_c_string(message);
    return __wb::py_object(__wb_host_op("py_fast"), 2);
}
inline Py_ssize_t PySequence_Fast_GET_SIZE(PyObject* object) {
    Py_ssize_t size = PyObject_Size(object);
    if (size < 0) __wb::py_check();
    return size;
}
inline PyObject* PySequence_Fast_GET_ITEM(PyObject* object, Py_ssize_t i) {
    PyObject* item = PySequence_GetItem(object, i);
    if (item == nullptr) __wb::py_check();
    return item;
}
inline int PySequence_Contains(PyObject* object, PyObject* value) {
    __wb::py_put(object);
    __wb::py_put(value);
    return (int)__wb::py_number(__wb_host_op("py_contains"), 2);
}
inline PyObject* PyObject_GetItem(PyObject* object, PyObject* key) {
    __wb::py_put(object);
    __wb::py_put(key);
    return __wb::py_object(__wb_host_op("py_item"), 2);
}
inline PyObject* PyObject_GetIter(PyObject* object) { return __wb::py_object_of(__wb_host_op("py_iter"), object); }
inline PyObject* PyIter_Next(PyObject* iterator) { return __wb::py_object_of(__wb_host_op("py_next"), iterator); }

// Dictionaries.
inline PyObject* PyDict_New() { return __wb_python_new(8, 0); }
inline Py_ssize_t PyDict_Size(PyObject* dict) { return __wb_python_size(dict, 8); }
inline Py_ssize_t PyDict_GET_SIZE(PyObject* dict) { return __wb_python_size(dict, 8); }
inline int PyDict_SetItem(PyObject* dict, PyObject* key, PyObject* value) {
    __wb::py_put(dict);
    __wb::py_put(key);
    __wb::py_put(value);
    return (int)__wb::py_number(__wb_host_op("py_dict_set"), 3);
}
inline int PyDict_SetItemString(PyObject* dict, const char* key, PyObject* value) {
    return PyDict_SetItem(dict, PyUnicode_FromString(key), value);
}
inline PyObject* PyDict_GetItemWithError(PyObject* dict, PyObject* key) {
    __wb::py_put(dict);
    __wb::py_put(key);
    return __wb::py_object(__wb_host_op("py_dict_get"), 2);
}
inline PyObject* PyDict_GetItem(PyObject* dict, PyObject* key) { return PyDict_GetItemWithError(dict, key); }
inline PyObject* PyDict_GetItemString(PyObject* dict, const char* key) {
    return PyDict_GetItemWithError(dict, PyUnicode_FromString(key));
}
inline int PyDict_Contains(PyObject* dict, PyObject* key) {
    __wb::py_put(dict);
    __wb::py_put(key);
    return (int)__wb::py_number(__wb_host_op("py_dict_contains"), 2);
}
inline int PyDict_ContainsString(PyObject* dict, const char* key) { return PyDict_Contains(dict, PyUnicode_FromString(key)); }
inline int PyDict_DelItem(PyObject* dict, PyObject* key) {
    __wb::py_put(dict);
    __wb::py_put(key);
    return (int)__wb::py_number(__wb_host_op("py_dict_delete"), 2);
}
inline int PyDict_DelItemString(PyObject* dict, const char* key) { return PyDict_DelItem(dict, PyUnicode_FromString(key)); }
inline PyObject* __wb_python_entries(PyObject* dict, long what) {
    __wb::py_put(dict);
    __wb_push_int(what);
    return __wb::py_object(__wb_host_op("py_dict_entries"), 2);
}
inline PyObject* PyDict_Keys(PyObject* dict) { return __wb_python_entries(dict, 0); }
inline PyObject* PyDict_Values(PyObject* dict) { return __wb_python_entries(dict, 1); }
inline PyObject* PyDict_Items(PyObject* dict) { return __wb_python_entries(dict, 2); }
inline PyObject* PyDict_Copy(PyObject* dict) { return __wb_python_entries(dict, 3); }
inline int PyDict_Next(PyObject* dict, Py_ssize_t* at, PyObject** key, PyObject** value) {
    __wb::py_put(dict);
    __wb_push_int(*at);
    __wb_run_op(__wb_host_op("py_dict_next"), 2);
    if (__wb_top_kind() != 6) {
        __wb_drop();
        return 0;
    }
    __wb_pop_list();
    *at = __wb_pop_int();
    PyObject* first = __wb::py_take();
    PyObject* second = __wb::py_take();
    if (key != nullptr) *key = first;
    if (value != nullptr) *value = second;
    return 1;
}

// Objects of any type.
inline int PyObject_IsTrue(PyObject* object) { return (int)__wb::py_number_of(__wb_host_op("py_truth"), object); }
inline int PyObject_Not(PyObject* object) {
    int truth = PyObject_IsTrue(object);
    return truth < 0 ? truth : !truth;
}
inline PyObject* PyObject_Repr(PyObject* object) { return __wb::py_object_of(__wb_host_op("py_repr"), object); }
inline PyObject* PyObject_Str(PyObject* object) { return __wb::py_object_of(__wb_host_op("py_str"), object); }
inline int PyObject_RichCompareBool(PyObject* a, PyObject* b, int operation) {
    __wb::py_put(a);
    __wb::py_put(b);
    __wb_push_int(operation);
    return (int)__wb::py_number(__wb_host_op("py_compare"), 3);
}
inline PyObject* PyObject_RichCompare(PyObject* a, PyObject* b, int operation) {
    int result = PyObject_RichCompareBool(a, b, operation);
    if (result < 0) return nullptr;
    return PyBool_FromLong(result);
}
inline int PyCallable_Check(PyObject*) { return 0; }

inline int PyModule_AddIntConstant(PyObject* module, const char* name, long value) {
    return PyModule_AddObjectRef(module, name, PyLong_FromLong(value));
}
inline int PyModule_AddStringConstant(PyObject* module, const char* name, const char* value) {
    return PyModule_AddObjectRef(module, name, PyUnicode_FromString(value));
}

// Arguments, and results made of several values.
template <typename... A> inline int PyArg_ParseTuple(PyObject* args, const char* format, A... places) {
    __wb::py_put(args);
    __wb_push_int(0);
    __wb_push_none();
    __wb_push_c_string(format);
    (__wb::py_put_slot<A>(places), ...);
    __wb_run_op(__wb_host_op("py_parse"), 4 + 2 * sizeof...(A));
    return __wb::py_store_all(places...);
}
template <typename... A> inline int PyArg_Parse(PyObject* arg, const char* format, A... places) {
    __wb::py_put(arg);
    __wb_push_int(-1);
    __wb_push_none();
    __wb_push_c_string(format);
    (__wb::py_put_slot<A>(places), ...);
    __wb_run_op(__wb_host_op("py_parse"), 4 + 2 * sizeof...(A));
    return __wb::py_store_all(places...);
}
template <typename K, typename... A>
inline int PyArg_ParseTupleAndKeywords(PyObject* args, PyObject* keywords, const char* format, K names, A... places) {
    __wb::py_put(args);
    __wb::py_put(keywords);
    int64_t n = 0;
    for (; names[n] != nullptr; ++n) __wb_push_c_string(names[n]);
    __wb_push_list(n);
    __wb_push_c_string(format);
    (__wb::py_put_slot<A>(places), ...);
    __wb_run_op(__wb_host_op("py_parse"), 4 + 2 * sizeof...(A));
    return __wb::py_store_all(places...);
}
template <typename... A>
inline int PyArg_UnpackTuple(PyObject* args, const char* name, Py_ssize_t low, Py_ssize_t high, A... places) {
    __wb::py_put(args);
    if (name != nullptr) __wb_push_c_string(name);
    else __wb_push_none();
    __wb_push_int(low);
    __wb_push_int(high);
    (__wb::py_put_slot<A>(places), ...);
    __wb_run_op(__wb_host_op("py_unpack"), 4 + 2 * sizeof...(A));
    return __wb::py_store_all(places...);
}
template <typename... A> inline PyObject* Py_BuildValue(const char* format, A... args) {
    __wb_push_c_string(format);
    (__wb_put_formatted<A>(args), ...);
    return __wb::py_object(__wb_host_op("py_build"), 1 + sizeof...(A));
}

// Memory belongs to the call.
inline void* PyMem_Malloc(size_t size) { return __wb_alloc(size); }
inline void* PyMem_RawMalloc(size_t size) { return __wb_alloc(size); }
inline void* PyObject_Malloc(size_t size) { return __wb_alloc(size); }
inline void* PyMem_Calloc(size_t n, size_t size) {
    char* memory = (char*)__wb_alloc(n * size);
    for (size_t i = 0; i < n * size; ++i) memory[i] = 0;
    return memory;
}
inline void PyMem_Free(void* memory) { __wb_free(memory); }
inline void PyMem_RawFree(void* memory) { __wb_free(memory); }
inline void PyObject_Free(void* memory) { __wb_free(memory); }

// Host code runs as one thread, and no other waits for it.
enum PyGILState_STATE { PyGILState_LOCKED, PyGILState_UNLOCKED };
struct PyThreadState {
    long __wb_unused;
};
inline PyGILState_STATE PyGILState_Ensure() { return PyGILState_LOCKED; }
inline void PyGILState_Release(PyGILState_STATE) {}
inline PyThreadState* PyEval_SaveThread() { return nullptr; }
inline void PyEval_RestoreThread(PyThreadState*) {}
inline int PyErr_CheckSignals() { return 0; }

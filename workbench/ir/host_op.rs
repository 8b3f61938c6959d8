//! Operations of the host's run time: requests of the library to a call, besides [`Service`](super::Service)s and operations on tensors.
//! The library names one by `__wb_host_op("name")`, which is its number, and runs it by `__wb_run_op(number, n)` on the last `n` values of
//! the stack. A name that is in no row is an error of the front end, so the run time is never asked for an operation that it does not know.

/// The part of the run time that runs an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chapter {
    /// Registered operators.
    Operator,
    /// Registrations that a text makes.
    Registration,
    /// Texts, numbers and values.
    Value,
    /// Clocks, waiting, random numbers.
    Time,
    /// Launches that could not begin, and errors of CUDA's.
    Refusal,
    /// Data that stays with the program.
    Note,
    /// Recording of gradients.
    Tape,
    /// AWS Neuron's dialect.
    Neuron,
    /// Python's C interface: values as objects, arguments.
    PythonValue,
    /// Python's C interface: operations that every object has, the function's result, the module.
    Python,
    /// Python's C interface: types.
    PythonType,
    /// Python's C interface: the error that is set.
    PythonError,
    /// Python's C interface: numbers and texts.
    PythonNumber,
    /// Python's C interface: objects with elements.
    PythonSequence,
    /// Python's C interface: attributes and calls.
    PythonAttribute,
    /// Python's C interface: dictionaries.
    PythonDict,
}

/// The operand that an operation takes at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Any value.
    Any,
    /// A truth value.
    Bool,
    /// An integer: a number, an address, a handle of one of Python's objects.
    Int,
    /// A floating-point number.
    Float,
    /// A text.
    Text,
    /// A list.
    List,
    /// A tensor.
    Tensor,
    /// Any further values.
    Rest,
}

macro_rules! host_ops {
    ($($chapter:ident { $($(#[doc = $doc:literal])* $variant:ident $name:ident ($($operand:ident),*);)* })*) => {
        /// An operation of the host's run time.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum HostOp {
            $($($(#[doc = $doc])* $variant,)*)*
        }

        impl HostOp {
            /// Every operation, in the order of their numbers.
            pub const ALL: &[HostOp] = &[$($(HostOp::$variant,)*)*];

            /// The name that the library knows it by.
            pub fn name(self) -> &'static str {
                match self { $($(HostOp::$variant => stringify!($name),)*)* }
            }

            /// The chapter that runs it.
            pub fn chapter(self) -> Chapter {
                match self { $($(HostOp::$variant)|* => Chapter::$chapter,)* }
            }

            /// The operands it takes.
            pub fn operands(self) -> &'static [Operand] {
                match self { $($(HostOp::$variant => &[$(Operand::$operand,)*],)*)* }
            }
        }
    };
}

host_ops! {
    Operator {
        /// Calls a registered operator: its name, its overload, its arguments.
        Call call(Text, Text, Rest);
    }
    Registration {
        /// Registers a function: how, name, wrapper, function, word of its type; then its text, `py::kw_only()`, its parameters.
        Define define(Text, Text, Int, Int, Int, Rest);
        /// Registers a line of a library: what it is, kind, namespace, text, key; then function and inferred schema, where it has them.
        Library library(Text, Text, Text, Text, Text, Rest);
        /// Gives the module its text.
        Doc doc(Any);
        /// Gives the module an attribute.
        Attr attr(Text, Any);
    }
    Value {
        /// `TORCH_WARN(..)`
        Warn warn(Rest);
        /// `snprintf(..)`
        Format format(Text, Rest);
        /// A list as a set.
        Set set(List);
        /// `c10::str(..)`
        Join join(Rest);
        /// A value as a stream writes it.
        Streamed streamed(Any);
        /// `std::stod`, and `std::stof` where the number is single: the nearest number of the type.
        Number number(Text, Bool);
        /// An integer of 64 bits as one without a sign.
        Unsigned unsigned(Int);
        /// `std::to_string(..)`
        ToString to_string(Any);
    }
    Time {
        /// Seconds since 1970.
        Time time();
        /// Nanoseconds since 1970, by a clock that never goes back.
        Nanoseconds nanoseconds();
        /// `std::this_thread::sleep_for(..)`, in nanoseconds.
        Sleep sleep(Int);
        /// `std::random_device`
        Entropy entropy();
    }
    Refusal {
        /// The code of the last launch that could not begin; true forgets it.
        LastError last_error(Bool);
        /// Reports that a call of CUDA's runtime gives this code.
        Failed failed(Int);
    }
    Note {
        /// Keeps values under a kind and a key, instead of those that are there.
        Note note(Text, Text, Rest);
        /// Keeps more values under a kind and a key.
        NoteMore note_more(Text, Text, Rest);
        /// The values under a kind and a key.
        Noted noted(Text, Text);
    }
    Tape {
        /// True if gradients are recorded.
        GradMode grad_mode();
        /// Turns the recording of gradients on or off; gives the setting before.
        SetGradMode set_grad_mode(Bool);
        /// Sets if implementations for the key `Autograd` are passed over; gives the setting before.
        SetBelowAutograd set_below_autograd(Bool);
        /// The tensor without its gradient.
        Detach detach(Tensor);
        /// The same, in place.
        DetachInPlace detach_(Tensor);
        /// True if a tensor requires grad.
        RequiresGrad requires_grad(Tensor);
        /// Sets if a tensor requires grad.
        SetRequiresGrad set_requires_grad(Tensor, Bool);
        /// Begins the forward of a `Function`, with these arguments.
        FunctionBegin function_begin(List);
        /// Ends it: its backward, results, dirty ones, those without gradient, saved ones; true if missing gradients become zeros.
        FunctionEnd function_end(Int, List, List, List, List, Bool);
        /// Ends it without recording it.
        FunctionLeave function_leave();
    }
    Neuron {
        /// `tcm_malloc`: true if so many bytes are left.
        TcmTake tcm_take(Int);
        /// Notes that such memory is at an address.
        TcmHold tcm_hold(Int, Int);
        /// `tcm_free`
        TcmGive tcm_give(Int);
        /// Opens a stream of a tensor, to write it or not; gives its number.
        StreamOpen stream_open(Tensor, Bool);
        /// Closes a stream.
        StreamClose stream_close(Int);
        /// The policy of a tensor.
        Coherence coherence(Tensor);
        /// Sets the policy of a tensor.
        SetCoherence set_coherence(Tensor, Int);
        /// The number of the core that runs the call.
        Core core();
        /// The number of cores.
        Cores cores();
        /// `get_dst_tensor()`
        Destination destination();
    }
    PythonValue {
        /// A value as an object.
        PyObject py_object(Any);
        /// An integer of 64 bits without a sign as an object.
        PyUnsigned py_unsigned(Int);
        /// A tensor of bytes as an object.
        PyBytes py_bytes(Tensor);
        /// An argument as an object.
        PyArgument py_argument(Any);
        /// An argument as an object of a type of Python's, made for the call or not.
        PyExpect py_expect(Any, Text, Int);
        /// The arguments with names as an object, NULL where there are none.
        PyKeywords py_keywords(Any);
        /// `PyArg_ParseTuple(..)` and its kin: arguments, those with names, names, format, the places.
        PyParse py_parse(Int, Int, Any, Text, Rest);
        /// `PyArg_UnpackTuple(..)`: arguments, name, fewest, most, the places.
        PyUnpack py_unpack(Int, Any, Int, Int, Rest);
        /// `Py_BuildValue(..)`
        PyBuild py_build(Text, Rest);
    }
    Python {
        /// The result of the function.
        PyReturn py_return(Int);
        /// The result of `PyInit_`.
        PyInit py_init(Int);
        /// Ends the call if an error is set.
        PyCheck py_check();
        /// The module.
        PyModule py_module();
        /// Registers a method of the module: name, text, flags, wrapper, function.
        PyDefine py_define(Text, Any, Int, Int, Int);
        /// Gives the module an attribute.
        PyAttr py_attr(Text, Int);
        /// `PyObject_IsTrue(..)`
        PyTruth py_truth(Int);
        /// `PyObject_Repr(..)`
        PyRepr py_repr(Int);
        /// `PyObject_Str(..)`
        PyStr py_str(Int);
        /// `PyObject_RichCompareBool(..)`
        PyCompare py_compare(Int, Int, Int);
    }
    PythonType {
        /// The number of an object's type.
        PyType py_type(Int);
        /// The name of a type.
        PyTypeName py_type_name(Int);
        /// The address of a type that the text has asked for, or 0.
        PyTypeKnown py_type_known(Int);
        /// Keeps the address of a type.
        PyTypeKeep py_type_keep(Int, Int);
        /// The name of an object's type.
        PyClassName py_class_name(Int);
        /// True if an object is of a type.
        PyIs py_is(Int, Int);
        /// `PyObject_IsInstance(..)`
        PyIsInstance py_is_instance(Int, Int);
    }
    PythonError {
        /// `PyErr_SetString(..)`
        PySetError py_set_error(Int, Text);
        /// `PyErr_SetObject(..)`
        PySetObject py_set_object(Int, Int);
        /// `PyErr_Format(..)`
        PyFormatError py_format_error(Int, Text, Rest);
        /// `PyErr_Occurred()`
        PyOccurred py_occurred();
        /// `PyErr_Clear()`
        PyClear py_clear();
        /// `PyErr_ExceptionMatches(..)`
        PyMatches py_matches(Int);
        /// `PyErr_GivenExceptionMatches(..)`
        PyGivenMatches py_given_matches(Int, Int);
        /// `PyErr_NoMemory()`
        PyNoMemory py_no_memory();
        /// `PyErr_BadArgument()`
        PyBadArgument py_bad_argument();
        /// `PyErr_BadInternalCall()`
        PyBadCall py_bad_call();
    }
    PythonNumber {
        /// An object as a C integer; the text is the integer's name in messages.
        PyAsInt py_as_int(Int, Text);
        /// The sign of an integer that 64 bits do not hold, or 0.
        PyOverflow py_overflow(Int);
        /// `PyFloat_AsDouble(..)`
        PyAsDouble py_as_double(Int);
        /// `PyLong_FromDouble(..)`
        PyLongOfDouble py_long_of_double(Float);
        /// `PyNumber_Long(..)`
        PyToInt py_to_int(Int);
        /// `PyNumber_Index(..)`
        PyToIndex py_to_index(Int);
        /// `PyNumber_Float(..)`
        PyToFloat py_to_float(Int);
        /// `PyNumber_Add(..)` and its kin, by the sign.
        PyArithmetic py_arithmetic(Text, Int, Int);
        /// `PyUnicode_FromFormat(..)`
        PyFromFormat py_from_format(Text, Rest);
        /// `PyUnicode_AsUTF8(..)`
        PyAsText py_as_text(Int);
        /// `PyUnicode_AsUTF8String(..)`
        PyToBytes py_to_bytes(Int);
        /// A byte of bytes.
        PyByte py_byte(Int, Int);
        /// `PyUnicode_CompareWithASCIIString(..)`
        PyCompareText py_compare_text(Int, Text);
    }
    PythonSequence {
        /// The number of elements of an object of a type (-1: any).
        PySize py_size(Int, Int);
        /// A container of a type with so many places.
        PyNew py_new(Int, Int);
        /// An element: object, type, place.
        PyGet py_get(Int, Int, Int);
        /// Sets an element: object, type, place, value.
        PySet py_set(Int, Int, Int, Int);
        /// `PyList_Append(..)`
        PyAppend py_append(Int, Int);
        /// `PyList_Insert(..)`
        PyInsert py_insert(Int, Int, Int);
        /// `PyList_Reverse(..)`
        PyReverse py_reverse(Int);
        /// `PyList_Sort(..)`
        PySort py_sort(Int);
        /// Elements of a list or a tuple: object, type, from, up to.
        PySlice py_slice(Int, Int, Int, Int);
        /// `PySequence_List(..)`, `PySequence_Tuple(..)`
        PyToSequence py_to_sequence(Int, Int);
        /// `PySequence_Fast(..)`
        PyFast py_fast(Int, Text);
        /// `PySequence_Contains(..)`
        PyContains py_contains(Int, Int);
        /// `PyObject_GetItem(..)`
        PyItem py_item(Int, Int);
        /// `PyObject_GetIter(..)`
        PyIter py_iter(Int);
        /// `PyIter_Next(..)`
        PyNext py_next(Int);
    }
    PythonAttribute {
        /// `PyObject_GetAttrString(..)`
        PyAttribute py_attribute(Int, Text);
        /// `PyObject_SetAttrString(..)`
        PySetAttribute py_set_attribute(Int, Text, Int);
        /// Calls an object: arguments, those with names.
        PyCall py_call(Int, Int, Int);
        /// Calls a method: object, name, arguments, those with names.
        PyCallMethod py_call_method(Int, Text, Int, Int);
        /// `PyObject_SetItem(..)`
        PySetItem py_set_item(Int, Int, Int);
        /// `PyImport_ImportModule(..)`
        PyImport py_import(Text);
        /// `PyCallable_Check(..)`
        PyIsCallable py_is_callable(Int);
    }
    PythonDict {
        /// `PyDict_SetItem(..)`
        PyDictSet py_dict_set(Int, Int, Int);
        /// `PyDict_GetItem(..)`
        PyDictGet py_dict_get(Int, Int);
        /// `PyDict_Contains(..)`
        PyDictContains py_dict_contains(Int, Int);
        /// `PyDict_DelItem(..)`
        PyDictDelete py_dict_delete(Int, Int);
        /// Keys (0), values (1), pairs (2) of a dictionary, or a copy (3).
        PyDictEntries py_dict_entries(Int, Int);
        /// `PyDict_Next(..)`
        PyDictNext py_dict_next(Int, Int);
    }
}

impl HostOp {
    /// The operation of a name.
    pub fn find(name: &str) -> Option<HostOp> {
        HostOp::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The operation of a number.
    pub fn of_number(number: i64) -> Option<HostOp> {
        usize::try_from(number).ok().and_then(|number| HostOp::ALL.get(number)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_number_are_of_one_operation() {
        for (number, op) in HostOp::ALL.iter().enumerate() {
            assert_eq!(HostOp::find(op.name()), Some(*op));
            assert_eq!(HostOp::of_number(number as i64), Some(*op));
        }
        assert_eq!(HostOp::of_number(HostOp::ALL.len() as i64), None);
        assert_eq!(HostOp::of_number(-1), None);
    }

    #[test]
    fn only_the_last_operand_may_be_the_rest() {
        for op in HostOp::ALL {
            assert!(op.operands().iter().rev().skip(1).all(|operand| *operand != Operand::Rest), "{}", op.name());
        }
    }
}

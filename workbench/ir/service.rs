//! Services: requests of host code to the run time. A service is called with numbers and pointers and gives at most one of either; the
//! library (`library/torch.cuh`) makes tensors, strings and vectors of them.
//!
//! Values pass between the notebook, host code and tensor operations on one *stack of values* (tensors, numbers, texts, lists, none):
//! `push_*` puts one on it, `pop_*` takes the last, `op` runs an operation by its name on the last so many, `run_op` one of the run time's
//! own.

use super::{Scalar, Type};

/// The type of a service's parameter or result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `i64`: numbers, truth values, handles.
    Int,
    /// `f64`.
    Float,
    /// A pointer; a service may only touch memory behind it in its buffer.
    Ptr,
}

impl Kind {
    /// The type in the IR.
    pub fn ty(self) -> Type {
        match self {
            Kind::Int => Type::Scalar(Scalar::I64),
            Kind::Float => Type::Scalar(Scalar::F64),
            Kind::Ptr => Type::Ptr,
        }
    }
}

macro_rules! services {
    ($($(#[doc = $doc:literal])* $variant:ident $name:ident ($($param:ident),*) $(-> $ret:ident)?;)*) => {
        /// A service.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum Service {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Service {
            /// Every service, in the order of their numbers.
            pub const ALL: &[Service] = &[$(Service::$variant,)*];

            /// The name: the library calls it with `__wb_` before it.
            pub fn name(self) -> &'static str {
                match self { $(Service::$variant => stringify!($name),)* }
            }

            /// The parameters.
            pub fn params(self) -> &'static [Kind] {
                match self { $(Service::$variant => &[$(Kind::$param,)*],)* }
            }

            /// The result.
            pub fn ret(self) -> Option<Kind> {
                match self { $(Service::$variant => services!(@ret $($ret)?),)* }
            }
        }
    };
    (@ret) => { None };
    (@ret $ret:ident) => { Some(Kind::$ret) };
}

services! {
    /// Puts nothing (`None`) on the stack.
    PushNone push_none();
    /// Puts a truth value on the stack.
    PushBool push_bool(Int);
    /// Puts an integer on the stack.
    PushInt push_int(Int);
    /// Puts a floating-point number on the stack.
    PushFloat push_float(Float);
    /// Puts a text of so many bytes on the stack.
    PushText push_text(Ptr, Int);
    /// Puts a text that ends in a zero byte on the stack.
    PushCString push_c_string(Ptr);
    /// Puts a tensor on the stack.
    PushTensor push_tensor(Int);
    /// Puts so many bytes of memory on the stack, as a tensor of bytes that lies there.
    PushBlob push_blob(Ptr, Int);
    /// Puts an element type on the stack.
    PushDType push_dtype(Int);
    /// Puts a device on the stack: its type and index.
    PushDevice push_device(Int, Int);
    /// Makes a list of the last so many values.
    PushList push_list(Int);
    /// Makes a tuple of the last so many values.
    PushTuple push_tuple(Int);
    /// Makes a dictionary of the last so many pairs of a key and a value.
    PushDict push_dict(Int);
    /// Puts so many integers of 64 bits on the stack, as one list.
    PushInts push_ints(Ptr, Int);
    /// The kind of the last value: see `Value::kind`.
    TopKind top_kind() -> Int;
    /// Takes the last value and forgets it.
    Drop drop();
    /// Takes a truth value.
    PopBool pop_bool() -> Int;
    /// Takes an integer.
    PopInt pop_int() -> Int;
    /// Takes a number.
    PopFloat pop_float() -> Float;
    /// Takes a tensor.
    PopTensor pop_tensor() -> Int;
    /// Takes a text: memory of its own that ends in a zero byte.
    PopText pop_text() -> Ptr;
    /// The number of bytes of the last value, a text.
    TextSize text_size() -> Int;
    /// Takes a list: its elements are then on the stack, the first one last. Gives their number.
    PopList pop_list() -> Int;
    /// Takes a dictionary: its keys and values are then on the stack, the first key last. Gives their number.
    PopDict pop_dict() -> Int;
    /// Takes an element type.
    PopDType pop_dtype() -> Int;
    /// Takes a device: its type in the low 8 bits, its index plus one above.
    PopDevice pop_device() -> Int;
    /// Says that the next value taken is the argument of that number (from 0), for messages; -1: none.
    Argument argument(Int);
    /// Runs the operation of a name on the last so many values, and puts its result there.
    Op op(Ptr, Int);
    /// Runs an operation of the run time's own ([`HostOp`](super::HostOp)), by its number, on the last so many values, and puts its result
    /// there.
    RunOp run_op(Int, Int);
    /// Ends the call with an exception of a kind, whose message is the last so many values one after the other.
    Raise raise(Int, Int);
    /// Says that the next exception has an object, with its destructor and the types that it may be caught as.
    Thrown thrown(Ptr, Ptr, Ptr);
    /// Gives the exception in flight, which has none, an object.
    Embody embody(Ptr, Ptr, Ptr);
    /// The number that the exception in flight was raised by; -1 where it has an object.
    CaughtKind caught_kind() -> Int;
    /// Puts the message of the exception in flight on the stack.
    CaughtText caught_text();
    /// The object of the exception in flight as the type that a text names; null where it has no such type.
    CaughtAs caught_as(Ptr) -> Ptr;
    /// Begins to handle the exception in flight.
    BeginCatch begin_catch();
    /// Ends the handling: gives the object, if it is to be destroyed.
    EndCatch end_catch() -> Ptr;
    /// The destructor of that object.
    Destroyer destroyer() -> Ptr;
    /// Raises the exception that is being handled once more.
    Rethrow rethrow();
    /// Lets the exception in flight go on.
    Resume resume();
    /// Ends the call by the exception in flight, which would leave the `noexcept` function of that name.
    Terminate terminate(Ptr);
    /// The number of values on the stack.
    Depth depth() -> Int;
    /// Forgets all but so many values, where an exception has interrupted the code that would have taken them.
    Land land(Int);
    /// Adds a holder to a tensor; gives the same handle.
    Retain retain(Int) -> Int;
    /// Removes a holder.
    Release release(Int);
    /// Makes a tensor, for all who hold it, the same as another one.
    Rebind rebind(Int, Int);
    /// The number of dimensions of a tensor.
    Dim tensor_dim(Int) -> Int;
    /// The extent of a dimension; negative ones count from the end.
    Size tensor_size(Int, Int) -> Int;
    /// The stride of a dimension, in elements.
    Stride tensor_stride(Int, Int) -> Int;
    /// All extents.
    Sizes tensor_sizes(Int) -> Ptr;
    /// All strides.
    Strides tensor_strides(Int) -> Ptr;
    /// The number of elements of a tensor.
    Numel tensor_numel(Int) -> Int;
    /// The element type, by torch's number.
    DTypeOf tensor_dtype(Int) -> Int;
    /// The device, as `pop_device` gives it.
    DeviceOf tensor_device(Int) -> Int;
    /// The first element's address; the element type must be that one (-1: any).
    Data tensor_data(Int, Int) -> Ptr;
    /// Writes so many bytes to a variable of the device, a constant one perhaps.
    WriteSymbol write_symbol(Ptr, Ptr, Int);
    /// Lets launches of a kernel ask for so many bytes of dynamic shared memory. Gives CUDA's code.
    AllowShared allow_shared(Ptr, Int) -> Int;
    /// Keeps the context of the `torch::autograd::Function` that is being recorded.
    NoteContext note_context(Ptr);
    /// The context of the `torch::autograd::Function` whose backward runs.
    Context context() -> Ptr;
    /// The time, in seconds since some moment.
    Seconds seconds() -> Float;
    /// Memory of so many bytes.
    Alloc alloc(Int) -> Ptr;
    /// Gives memory back.
    Free free(Ptr);
    /// Memory of so many bytes for the owner that a number names: `Source::of_number`.
    AllocFrom alloc_from(Int, Int) -> Ptr;
    /// Gives back memory of `cudaMalloc` and its like (0), or `cudaMallocHost` (1). Gives CUDA's code.
    FreeFrom free_from(Ptr, Int) -> Int;
    /// Copies so many bytes in a direction (`cudaMemcpyKind`). Gives CUDA's code.
    Copy copy(Ptr, Ptr, Int, Int) -> Int;
    /// Fills so many bytes of memory that the device may touch with one byte. Gives CUDA's code.
    Fill fill(Ptr, Int, Int) -> Int;
    /// CUDA's code for a copy in a direction between the memory of two pointers.
    Direction direction(Ptr, Ptr, Int) -> Int;
    /// Notes an error of CUDA's that the text leaves unread, or 0.
    Unasked unasked(Int);
    /// The type of the memory that a pointer points into, as CUDA numbers it (`cudaMemoryType`).
    MemoryType memory_type(Ptr) -> Int;
    /// The pointer as the library may use it, which also reads the device's memory.
    Seen seen(Ptr) -> Ptr;
    /// Lets both sides touch an allocation of host code's, or its own side alone again. Gives CUDA's code.
    Register register(Ptr, Int) -> Int;
    /// Says where the text gives memory back: a file's number, from there and up to there.
    Freeing freeing(Int, Int, Int);
    /// The size in bytes of the allocation that starts at a pointer.
    BlockSize block_size(Ptr) -> Int;
}

impl Service {
    /// True if its pointers may be to memory that is the device's alone.
    pub fn takes_device(self) -> bool {
        use Service::{
            AllowShared, BlockSize, Copy, Direction, Fill, Free, FreeFrom, Freeing, MemoryType, PushBlob, Register,
            Seen, WriteSymbol,
        };
        matches!(
            self,
            AllowShared
                | BlockSize
                | Copy
                | Direction
                | Fill
                | Free
                | FreeFrom
                | Freeing
                | MemoryType
                | PushBlob
                | Register
                | Seen
                | WriteSymbol
        )
    }

    /// The service of a name.
    pub fn find(name: &str) -> Option<Service> {
        Service::ALL.iter().copied().find(|s| s.name() == name)
    }

    /// The service of a number.
    pub fn of_number(number: u32) -> Option<Service> {
        Service::ALL.get(number as usize).copied()
    }
}

//! torch's stable C interface, looked up in the libraries that Python has already loaded.
//!
//! Declarations follow `torch/csrc/inductor/aoti_torch/c/shim.h` and `torch/csrc/stable/c/shim.h` of torch 2.10, the first version whose
//! boxed kernels state the version they were built for; functions of later versions are looked up and may be missing.

use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_NOW};
use workbench::runtime::DType;

/// The version whose conversions our boxed kernels follow: 2.10, as `TORCH_ABI_VERSION` writes it.
pub const VERSION: u64 = 2 << 56 | 10 << 48;

/// A value on the stack of a boxed kernel: a number, or a handle of a value that does not fit.
pub type StableIValue = u64;

/// A kernel as the dispatcher calls it: the stack, the number of arguments, the number of results.
pub type BoxedKernel = unsafe extern "C-unwind" fn(*mut StableIValue, u64, u64);

/// Makes `dlopen` find only libraries that are loaded already.
#[cfg(target_os = "linux")]
const RTLD_NOLOAD: i32 = 4;
#[cfg(not(target_os = "linux"))]
const RTLD_NOLOAD: i32 = 16;

macro_rules! functions {
    ($($name:ident = $symbol:literal: fn($($arg:ty),*) -> $ret:ty;)*) => {
        /// The functions that every version has.
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> $ret,)*
        }

        impl Functions {
            fn load(library: &Library) -> Result<Self, String> {
                Ok(Functions {
                    // SAFETY: the types are those of the declarations.
                    $($name: *unsafe { library.get::<unsafe extern "C" fn($($arg),*) -> $ret>($symbol) }
                        .map_err(|_| missing($symbol))?,)*
                })
            }
        }
    };
}

/// Data, rank, sizes, strides, offset, dtype, device's type and index, the result, layout, metadata and its size, deleter, context.
pub type FromBlob = unsafe extern "C" fn(
    *mut c_void,
    i64,
    *const i64,
    *const i64,
    i64,
    i32,
    i32,
    i32,
    *mut *mut c_void,
    i32,
    *const u8,
    i64,
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    *mut c_void,
) -> i32;

/// The interface.
pub struct Abi {
    /// The functions of every version.
    pub f: Functions,
    /// Frees the memory that holds the value of an optional: a function of its own from 2.13 on, C++'s `delete` before.
    pub delete_optional: unsafe extern "C" fn(*mut StableIValue),
    /// Allocates the memory that holds the value of an optional.
    new_optional: Option<unsafe extern "C" fn(*mut *mut StableIValue) -> i32>,
    /// C++'s `new`.
    new_bytes: unsafe extern "C" fn(usize) -> *mut c_void,
    /// Raises torch's exception, with function, file, line and message.
    fail: unsafe extern "C-unwind" fn(*const c_char, *const c_char, u32, *const c_char) -> !,
    /// A tensor over memory of ours, with the function that takes the memory back: from 2.11 on.
    pub from_blob: Option<FromBlob>,
    dtypes: Vec<(i32, DType)>,
    /// torch's number of the CPU.
    pub cpu: i32,
    /// torch's number of NVIDIA's GPUs.
    pub cuda: i32,
    /// torch's number of strided memory.
    pub strided: i32,
    /// torch's number of the contiguous memory format.
    pub contiguous_format: i32,
    _library: Library,
}

functions! {
    delete_tensor = b"aoti_torch_delete_tensor_object": fn(*mut c_void) -> i32;
    new_tensor = b"aoti_torch_new_tensor_handle": fn(*mut c_void, *mut *mut c_void) -> i32;
    const_data = b"torch_get_const_data_ptr": fn(*mut c_void, *mut *const c_void) -> i32;
    mutable_data = b"torch_get_mutable_data_ptr": fn(*mut c_void, *mut *mut c_void) -> i32;
    dim = b"aoti_torch_get_dim": fn(*mut c_void, *mut i64) -> i32;
    sizes = b"aoti_torch_get_sizes": fn(*mut c_void, *mut *const i64) -> i32;
    strides = b"aoti_torch_get_strides": fn(*mut c_void, *mut *const i64) -> i32;
    storage_offset = b"aoti_torch_get_storage_offset": fn(*mut c_void, *mut i64) -> i32;
    dtype = b"aoti_torch_get_dtype": fn(*mut c_void, *mut i32) -> i32;
    device_type = b"aoti_torch_get_device_type": fn(*mut c_void, *mut i32) -> i32;
    device_index = b"aoti_torch_get_device_index": fn(*mut c_void, *mut i32) -> i32;
    layout = b"aoti_torch_get_layout": fn(*mut c_void, *mut i32) -> i32;
    is_defined = b"aoti_torch_is_defined": fn(*mut c_void, *mut bool) -> i32;
    is_contiguous = b"aoti_torch_is_contiguous": fn(*mut c_void, *mut bool) -> i32;
    empty_strided = b"aoti_torch_empty_strided": fn(i64, *const i64, *const i64, i32, i32, i32, *mut *mut c_void) -> i32;
    library_impl = b"aoti_torch_library_init_impl": fn(*const c_char, *const c_char, *const c_char, u32, *mut *mut c_void) -> i32;
    implement = b"torch_library_impl": fn(*mut c_void, *const c_char, BoxedKernel, u64) -> i32;
    delete_library = b"aoti_torch_delete_library_object": fn(*mut c_void) -> i32;
    undefined = b"aoti_torch_new_uninitialized_tensor": fn(*mut *mut c_void) -> i32;
    call = b"torch_call_dispatcher": fn(*const c_char, *const c_char, *mut StableIValue, u64) -> i32;
    new_list = b"torch_new_list_reserve_size": fn(usize, *mut *mut c_void) -> i32;
    list_size = b"torch_list_size": fn(*mut c_void, *mut usize) -> i32;
    list_get = b"torch_list_get_item": fn(*mut c_void, usize, *mut StableIValue) -> i32;
    list_push = b"torch_list_push_back": fn(*mut c_void, StableIValue) -> i32;
    delete_list = b"torch_delete_list": fn(*mut c_void) -> i32;
    new_string = b"torch_new_string_handle": fn(*const c_char, usize, *mut *mut c_void) -> i32;
    delete_string = b"torch_delete_string": fn(*mut c_void) -> i32;
    string_length = b"torch_string_length": fn(*mut c_void, *mut usize) -> i32;
    string_data = b"torch_string_c_str": fn(*mut c_void, *mut *const c_char) -> i32;
}

static ABI: OnceLock<Abi> = OnceLock::new();

fn missing(symbol: &[u8]) -> String {
    format!("this torch has no `{}`; from 2.10 on it has", String::from_utf8_lossy(symbol))
}

/// The interface of the torch in a folder, which must be loaded.
///
/// # Errors
/// One sentence: torch is not loaded from there, or is older than 2.10.
pub fn connect(folder: &Path) -> Result<&'static Abi, String> {
    if let Some(abi) = ABI.get() {
        return Ok(abi);
    }
    let name = if cfg!(target_os = "macos") { "libtorch_cpu.dylib" } else { "libtorch_cpu.so" };
    let path = folder.join("lib").join(name);
    // SAFETY: the library is loaded already, so none of its code runs now.
    let library = unsafe { Library::open(Some(&path), RTLD_NOLOAD | RTLD_NOW) }
        .map_err(|_| format!("{} is not loaded", path.display()))?;
    let abi = Abi::load(library)?;
    Ok(ABI.get_or_init(|| abi))
}

/// The interface, once [`connect`] has found it.
pub fn get() -> Option<&'static Abi> {
    ABI.get()
}

impl Abi {
    fn load(library: Library) -> Result<Self, String> {
        // SAFETY: numbers of torch's, by functions without arguments.
        let number = |symbol: &[u8]| match unsafe { library.get::<unsafe extern "C" fn() -> i32>(symbol) } {
            // SAFETY: as above.
            Ok(ask) => Ok(unsafe { ask() }),
            Err(_) => Err(missing(symbol)),
        };
        let mut dtypes = Vec::new();
        for dtype in DType::ALL {
            if let Ok(number) = number(format!("aoti_torch_dtype_{}", dtype.name()).as_bytes()) {
                dtypes.push((number, dtype));
            }
        }
        let fail = b"_ZN3c106detail14torchCheckFailEPKcS2_jS2_";
        // SAFETY: the types are those of the declarations; C++'s `new` and `delete` are in its run-time library.
        unsafe {
            let delete_optional = match library.get(b"torch_delete_stable_ivalue") {
                Ok(found) => *found,
                Err(_) => *library.get(b"_ZdlPv").map_err(|_| missing(b"operator delete"))?,
            };
            Ok(Abi {
                f: Functions::load(&library)?,
                delete_optional,
                new_optional: library.get(b"torch_new_stable_ivalue").ok().map(|found| *found),
                new_bytes: *library.get(b"_Znwm").map_err(|_| missing(b"operator new"))?,
                fail: *library.get(fail).map_err(|_| missing(fail))?,
                from_blob: library.get(b"torch_from_blob").ok().map(|found| *found),
                dtypes,
                cpu: number(b"aoti_torch_device_type_cpu")?,
                cuda: number(b"aoti_torch_device_type_cuda")?,
                strided: number(b"aoti_torch_layout_strided")?,
                contiguous_format: number(b"aoti_torch_memory_format_contiguous_format")?,
                _library: library,
            })
        }
    }

    /// torch's number of an element type.
    pub fn number(&self, dtype: DType) -> Option<i32> {
        self.dtypes.iter().find(|(_, known)| *known == dtype).map(|(number, _)| *number)
    }

    /// The element type of torch's number; `None` for one that kernels do not have.
    pub fn dtype_of(&self, number: i32) -> Option<DType> {
        self.dtypes.iter().find(|(known, _)| *known == number).map(|(_, dtype)| *dtype)
    }

    /// A value inside an optional.
    pub fn optional(&self, value: StableIValue) -> StableIValue {
        let mut place: *mut StableIValue = std::ptr::null_mut();
        // SAFETY: 8 bytes that torch frees as it allocated them: both functions come from the same side.
        unsafe {
            match self.new_optional {
                Some(make) if make(&raw mut place) == 0 => {}
                _ => place = (self.new_bytes)(size_of::<StableIValue>()).cast(),
            }
            place.write(value);
        }
        place as StableIValue
    }

    /// Raises `message` as torch's exception, from a frame that owns nothing.
    ///
    /// # Safety
    /// Called by torch's dispatcher alone, through frames that may be unwound.
    pub unsafe fn raise(&self, operator: &'static std::ffi::CStr, message: &std::ffi::CStr) -> ! {
        // SAFETY: the texts end in zero bytes, and torch copies them.
        unsafe { (self.fail)(operator.as_ptr(), c"<workbench>".as_ptr(), 0, message.as_ptr()) }
    }
}

/// A text as a C text: zero bytes are left out.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

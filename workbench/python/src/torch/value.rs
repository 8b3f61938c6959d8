//! Values on the stack of a boxed kernel, by the types of the operator's schema.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use workbench::ops::schema::Kind;
use workbench::runtime::DType;
use workbench::runtime::host::{DeviceTag, HostTensor, Storage, Value};

use super::abi::{Abi, StableIValue};
use super::tensor::Handle;

/// An argument taken off the stack: handles in it are given back when it is dropped.
pub enum Taken {
    /// An empty optional.
    None,
    /// A tensor.
    Tensor(Handle),
    /// A number, in the form of its type.
    Word(StableIValue),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Taken>),
}

/// True if values of a type pass through a boxed kernel. torch lets kernels with `Scalar` and complex arguments be registered, but cannot
/// call them.
pub fn passes(kind: &Kind) -> bool {
    match kind {
        Kind::Tensor | Kind::Int | Kind::SymInt | Kind::Float | Kind::Bool | Kind::Str | Kind::ScalarType => true,
        Kind::Optional(inner) | Kind::List(inner, _) => passes(inner),
        Kind::Scalar | Kind::Generic(..) | Kind::Tuple(_) => false,
        Kind::Named(name) => name == "Device",
    }
}

/// Takes a value off the stack.
pub fn take(abi: &'static Abi, kind: &Kind, raw: StableIValue) -> Taken {
    match kind {
        Kind::Tensor => Taken::Tensor(Handle::owned(abi, raw)),
        Kind::Optional(inner) => {
            let place = raw as *mut StableIValue;
            if place.is_null() {
                return Taken::None;
            }
            // SAFETY: torch hands over the memory of an optional that is not empty.
            let value = unsafe {
                let value = place.read();
                (abi.delete_optional)(place);
                value
            };
            take(abi, inner, value)
        }
        Kind::List(inner, _) => {
            let (list, mut count) = (raw as *mut c_void, 0);
            // SAFETY: a list that is handed over, with so many items.
            unsafe {
                (abi.f.list_size)(list, &raw mut count);
                let items = (0..count).map(|i| {
                    let mut item = 0;
                    (abi.f.list_get)(list, i, &raw mut item);
                    take(abi, inner, item)
                });
                let items = items.collect();
                (abi.f.delete_list)(list);
                Taken::List(items)
            }
        }
        Kind::Str => {
            let (text, mut bytes, mut length) = (raw as *mut c_void, std::ptr::null::<c_char>(), 0);
            // SAFETY: a text that is handed over, of that many bytes.
            unsafe {
                (abi.f.string_length)(text, &raw mut length);
                (abi.f.string_data)(text, &raw mut bytes);
                let slice =
                    if bytes.is_null() { &[][..] } else { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
                let own = String::from_utf8_lossy(slice).into_owned();
                (abi.f.delete_string)(text);
                Taken::Text(own)
            }
        }
        _ => Taken::Word(raw),
    }
}

/// A list for torch.
///
/// # Errors
/// One sentence: an item could not be made, or torch makes no list.
pub fn list(
    abi: &'static Abi,
    items: impl ExactSizeIterator<Item = Result<StableIValue, String>>,
) -> Result<StableIValue, String> {
    let mut list = std::ptr::null_mut();
    // SAFETY: the items are handed over to the list.
    unsafe {
        if (abi.f.new_list)(items.len(), &raw mut list) != 0 {
            return Err("torch makes no list".to_owned());
        }
        for item in items {
            match item {
                Ok(item) => (abi.f.list_push)(list, item),
                Err(why) => {
                    (abi.f.delete_list)(list);
                    return Err(why);
                }
            };
        }
    }
    Ok(list as StableIValue)
}

/// The element type of a tensor that our kernels can take. `on_gpu`: where it should lie.
///
/// # Errors
/// One sentence on the tensor that came and the one that is wanted.
pub fn known(tensor: &Handle, name: &str, on_gpu: bool) -> Result<DType, String> {
    let dtype = tensor.dtype();
    if dtype.is_none() && !tensor.is_defined() {
        return Err(format!("argument `{name}` is an undefined tensor"));
    }
    if !on_gpu && tensor.gpu().is_some() {
        return Err(format!(
            "argument `{name}` is on a GPU, and the operator is host code, which runs on the CPU; try {name}.cpu(), or register what serves tensors there: register_kernel(\"cuda\", f)"
        ));
    }
    if !on_gpu && !tensor.is_on_cpu() {
        return Err(format!("argument `{name}` is on another device; a tensor on the CPU is wanted, try {name}.cpu()"));
    }
    if !tensor.is_strided() {
        return Err(format!("argument `{name}` is sparse; try {name}.to_dense()"));
    }
    dtype.ok_or_else(|| format!("argument `{name}` is a tensor of a type that kernels do not have"))
}

/// The tensors that a call lends, by their numbers.
#[derive(Default)]
pub struct Lent<'a> {
    tensors: Vec<&'a Handle>,
}

impl<'a> Lent<'a> {
    /// An argument for host code. It is lent read-only unless the schema marks it as written.
    ///
    /// # Errors
    /// One sentence naming the argument.
    pub fn value(&mut self, taken: &'a Taken, kind: &Kind, name: &str, written: bool) -> Result<Value, String> {
        let inner = match kind {
            Kind::Optional(inner) => inner,
            kind => kind,
        };
        Ok(match (taken, inner) {
            (Taken::None, _) => Value::None,
            (Taken::Text(text), _) => Value::Text(text.clone()),
            (Taken::List(items), Kind::List(of, _)) => {
                let items = items.iter().enumerate();
                let values = items.map(|(i, item)| self.value(item, of, &format!("{name}[{i}]"), written));
                Value::List(values.collect::<Result<_, _>>()?)
            }
            (Taken::List(_), _) => return Err(format!("argument `{name}` is a list; `{kind}` is wanted")),
            (Taken::Tensor(tensor), _) => Value::Tensor(self.tensor(tensor, name, written)?),
            (Taken::Word(word), Kind::Float) => Value::Float(f64::from_bits(*word)),
            (Taken::Word(word), Kind::Bool) => Value::Bool(word & 0xff != 0),
            (Taken::Word(word), Kind::ScalarType) => match super::abi::get().and_then(|abi| abi.dtype_of(*word as i32))
            {
                Some(dtype) => Value::DType(dtype),
                None => return Err(format!("argument `{name}` is a type that kernels do not have")),
            },
            (Taken::Word(word), Kind::Named(_)) => {
                let is_cuda = super::abi::get().is_some_and(|abi| abi.cpu != (word >> 32) as i32);
                Value::Device(DeviceTag { is_cuda, index: *word as u32 as i32 as i8 })
            }
            (Taken::Word(word), _) => Value::Int(*word as i64),
        })
    }

    fn tensor(&mut self, tensor: &'a Handle, name: &str, written: bool) -> Result<HostTensor, String> {
        let dtype = known(tensor, name, false)?;
        let (shape, strides) = (tensor.sizes(), tensor.strides());
        let last: i64 = shape.iter().zip(strides).map(|(n, s)| (n - 1).max(0) * s).sum();
        let bytes = if shape.contains(&0) { 0 } else { (last + 1) as usize * dtype.size() };
        let lender = self.tensors.len() as u32;
        self.tensors.push(tensor);
        // SAFETY: the handle keeps the memory for as long as the call and the tensors that it returns.
        let storage = unsafe { Storage::lent(tensor.data(written), bytes, written, lender) };
        Ok(HostTensor::view(storage, dtype, shape.into(), strides.into(), 0, DeviceTag::CPU))
    }

    /// A result, in the form of its type.
    ///
    /// # Errors
    /// One sentence: the result has another type than the schema says, or torch has no memory.
    pub fn result(&self, abi: &'static Abi, value: &Value, kind: &Kind) -> Result<StableIValue, String> {
        Ok(match (kind, value) {
            (Kind::Optional(_), Value::None) => 0,
            (Kind::Optional(inner), value) => abi.optional(self.result(abi, value, inner)?),
            (Kind::List(inner, _), Value::List(items) | Value::Tuple(items)) => {
                list(abi, items.iter().map(|item| self.result(abi, item, inner)))?
            }
            (Kind::Tensor, Value::None) => Handle::undefined(abi)?.into_value(),
            (Kind::Tensor, Value::Tensor(tensor)) => self.made(abi, tensor)?.into_value(),
            (Kind::Float, Value::Float(x)) => x.to_bits(),
            (Kind::Float, Value::Int(i)) => (*i as f64).to_bits(),
            (Kind::Int | Kind::SymInt, Value::Int(i)) => *i as u64,
            (Kind::Bool, Value::Bool(b)) => u64::from(*b),
            (Kind::Str, Value::Text(text)) => {
                let mut handle = std::ptr::null_mut();
                // SAFETY: torch copies that many bytes.
                match unsafe { (abi.f.new_string)(text.as_ptr().cast(), text.len(), &raw mut handle) } {
                    0 => handle as StableIValue,
                    _ => return Err("torch makes no text".to_owned()),
                }
            }
            (kind, value) => {
                return Err(format!("it gave {}, and its schema says `{kind}`", value.type_name()));
            }
        })
    }

    /// A tensor as torch's: the argument itself, a view of it, or memory of ours that torch gives back.
    fn made(&self, abi: &'static Abi, tensor: &HostTensor) -> Result<Handle, String> {
        let (shape, strides) = (tensor.shape(), tensor.strides());
        if let Some(lent) = tensor.storage().lender().and_then(|l| self.tensors.get(l as usize)) {
            let same = tensor.offset() == 0 && shape == lent.sizes() && strides == lent.strides();
            return match same && lent.dtype() == Some(tensor.dtype()) {
                true => lent.again(),
                false => lent.viewed(shape, strides, tensor.offset()),
            };
        }
        if tensor.numel() == 0 {
            return Handle::empty(abi, tensor.dtype(), shape, None);
        }
        let number = abi.number(tensor.dtype()).ok_or_else(|| format!("this torch has no {}", tensor.dtype()))?;
        let Some(from_blob) = abi.from_blob else {
            // All elements between the first and the last are copied, and viewed in the same way.
            let last: i64 = shape.iter().zip(strides).map(|(n, s)| (n - 1).max(0) * s).sum();
            let whole = Handle::empty(abi, tensor.dtype(), &[last + 1], None)?;
            // SAFETY: both hold that many elements.
            unsafe {
                let bytes = (last + 1) as usize * tensor.dtype().size();
                std::ptr::copy_nonoverlapping(tensor.ptr(), whole.data(true), bytes);
            }
            return whole.viewed(shape, strides, 0);
        };
        let owner = Arc::into_raw(tensor.storage().clone()) as *mut c_void;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the memory lies in the storage, which the deleter gives back.
        let code = unsafe {
            from_blob(
                tensor.ptr().cast(),
                shape.len() as i64,
                shape.as_ptr(),
                strides.as_ptr(),
                0,
                number,
                abi.cpu,
                // The CPU has no index.
                -1,
                &raw mut raw,
                abi.strided,
                std::ptr::null(),
                0,
                Some(give_back),
                owner,
            )
        };
        match code {
            0 => Ok(Handle::owned(abi, raw as StableIValue)),
            _ => {
                // SAFETY: torch has not taken it.
                drop(unsafe { Arc::from_raw(owner as *const Storage) });
                Err("torch makes no tensor of memory".to_owned())
            }
        }
    }
}

/// The function that torch calls when the last tensor over a storage of ours goes.
unsafe extern "C" fn give_back(_: *mut c_void, owner: *mut c_void) {
    // SAFETY: made by `Arc::into_raw` in `Lent::made`, and given back once.
    drop(unsafe { Arc::from_raw(owner as *const Storage) });
}

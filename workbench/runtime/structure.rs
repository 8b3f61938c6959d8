//! Structs by value as arguments: their bytes put together member by member, with the arrays that their pointers point at
//! lent to the launch.

use super::{BufferArg, DType, Error, Result};
use crate::back::Reach;
use crate::ir::layout::{Accessor, Bits, MemberType, StructLayout};
use crate::ir::{Const, Elem, Scalar};

/// The argument given for a parameter, or for a member of a struct.
#[derive(Debug, Clone)]
pub enum Given {
    /// A number of exactly the type wanted.
    Scalar(Const),
    /// A 16-bit float, by its bits.
    Half(Elem, u16),
    /// An array, for a pointer.
    Buffer(BufferArg),
    /// Structs, for a pointer: their memory and the size of one.
    Records(BufferArg, usize),
    /// A null pointer.
    Null,
    /// A value for each element of an array, with zeros for those left over; for a pointer to pointers, the arrays these
    /// point at.
    List(Vec<Given>),
    /// Members by name; all of them.
    Members(Vec<(String, Given)>),
    /// An array with its extents and strides (in elements), for an accessor.
    Tensor {
        /// The memory.
        buffer: BufferArg,
        /// Extents.
        shape: Vec<usize>,
        /// Strides in elements.
        strides: Vec<isize>,
    },
    /// The bytes themselves.
    Bytes(Vec<u8>),
}

/// A struct ready to be passed: its bytes, and the memory that its pointers point at.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    words: Vec<u128>,
    size: usize,
    reach: Vec<Reach>,
}

impl Packed {
    /// Puts a struct together for the parameter `param` of a kernel, its `index`th.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the member.
    pub fn new(param: &str, index: usize, layout: &StructLayout, value: &Given) -> Result<Self> {
        let size = layout.size as usize;
        let mut packed = Packed { words: vec![0; size.div_ceil(16)], size, reach: Vec::new() };
        packed.fill(param, index, 0, &MemberType::Struct(Box::new(layout.clone())), value)?;
        Ok(packed)
    }

    /// A table of pointers for the parameter `param` of a kernel, its `index`th: the addresses of arrays one after another, as a
    /// `float**` needs them.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the element.
    pub fn table(param: &str, index: usize, of: &MemberType, items: &[Given]) -> Result<Self> {
        let Ok(count) = u32::try_from(items.len()) else {
            return Err(Error::argument(format!("`{param}` got a list of {} arrays, which is too many", items.len())));
        };
        let size = 8 * items.len();
        let mut packed = Packed { words: vec![0; size.div_ceil(16)], size, reach: Vec::new() };
        for (i, item) in (0..count).zip(items) {
            packed.fill(&format!("{param}[{i}]"), index, 8 * i, of, item)?;
        }
        Ok(packed)
    }

    /// The bytes, as the argument.
    pub fn buffer(&self) -> BufferArg {
        let ptr = self.words.as_ptr().cast_mut().cast();
        BufferArg { ptr, bytes: self.size, dtype: DType::UInt8, writable: false }
    }

    /// The arrays that pointers of the struct point at.
    pub fn reach(&self) -> &[Reach] {
        &self.reach
    }

    fn put(&mut self, at: u32, bytes: &[u8]) {
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        if let Some(place) = memory.get_mut(at as usize..at as usize + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// Writes a number into a bit-field.
    fn bit_field(&mut self, path: &str, at: u32, (scalar, bits): (Scalar, Bits), raw: u64) -> Result<()> {
        let cut = 64 - bits.width;
        let (value, kept) = if scalar.is_signed() {
            let value = (raw << (64 - scalar.bits())) as i64 >> (64 - scalar.bits());
            (i128::from(value), i128::from(value << cut >> cut))
        } else {
            (i128::from(raw), i128::from(raw << cut >> cut))
        };
        if kept != value {
            let s = if bits.width == 1 { "" } else { "s" };
            return Err(Error::argument(format!("`{path}` has {} bit{s}, which {value} does not fit", bits.width)));
        }
        let new = u128::from(raw << cut >> cut) << bits.first;
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let place = memory.iter_mut().skip(at as usize).take(bits.bytes() as usize);
        place.zip(new.to_le_bytes()).for_each(|(byte, new)| *byte |= new);
        Ok(())
    }

    fn fill(&mut self, path: &str, param: usize, at: u32, ty: &MemberType, value: &Given) -> Result<()> {
        match (ty, value) {
            (MemberType::Struct(layout), given @ Given::Half(..)) if layout.half().is_some() => {
                let elem = layout.half().unwrap_or(Elem::F16);
                self.fill(path, param, at, &MemberType::Scalar(elem), given)
            }
            (MemberType::Scalar(want), Given::Half(elem, bits)) if want == elem => {
                self.put(at, &bits.to_le_bytes());
                Ok(())
            }
            (MemberType::Scalar(Elem::Scalar(want)), Given::Scalar(c)) if c.ty().scalar() == Some(*want) => {
                let bits = super::program::bits(*c).to_le_bytes();
                self.put(at, &bits[..want.size() as usize]);
                Ok(())
            }
            (MemberType::Bits(scalar, bits), Given::Scalar(c)) if c.ty().scalar() == Some(*scalar) => {
                self.bit_field(path, at, (*scalar, *bits), super::program::bits(*c))
            }
            (MemberType::Pointer { .. }, Given::Null) => Ok(()),
            (MemberType::Pointer { elem, is_const }, Given::Buffer(buffer)) => {
                self.pointer(path, param, at, (*elem, *is_const), buffer)
            }
            (MemberType::Array(of, count), Given::List(items)) => {
                if items.len() > *count as usize {
                    let what = format!("`{path}` has {count} elements, {} given", items.len());
                    return Err(Error::argument(what));
                }
                for (i, item) in items.iter().enumerate() {
                    self.fill(&format!("{path}[{i}]"), param, at + of.size() * i as u32, of, item)?;
                }
                Ok(())
            }
            (MemberType::Struct(layout), Given::Tensor { buffer, shape, strides }) => match layout.accessor() {
                Some(accessor) => self.tensor(path, param, at, &accessor, (buffer, shape, strides)),
                None => Err(Error::argument(format!("`{path}` is a struct `{}`, not an array", layout.name))),
            },
            (MemberType::Struct(layout), Given::Members(members)) => {
                for (i, (name, value)) in members.iter().enumerate() {
                    let Some(member) = layout.member(name) else {
                        return Err(Error::argument(layout.no_member(path, name)));
                    };
                    if members[..i].iter().any(|(n, _)| n == name) {
                        return Err(Error::argument(format!("`{path}.{name}` is given twice")));
                    }
                    self.fill(&format!("{path}.{name}"), param, at + member.offset, &member.ty, value)?;
                }
                match layout.members.iter().find(|m| !members.iter().any(|(n, _)| *n == m.name)) {
                    Some(missing) => Err(Error::argument(format!("`{path}.{}` is not given", missing.name))),
                    None => Ok(()),
                }
            }
            (ty, Given::Bytes(bytes)) => {
                if bytes.len() != ty.size() as usize {
                    let what = format!("`{path}` is {} bytes, {} given", ty.size(), bytes.len());
                    return Err(Error::argument(what));
                }
                self.put(at, bytes);
                Ok(())
            }
            (ty, value) => {
                let what = format!("`{path}` is {}, not {}", describe(ty), kind(value));
                Err(Error::argument(what))
            }
        }
    }

    fn pointer(
        &mut self,
        path: &str,
        param: usize,
        at: u32,
        (elem, is_const): (Option<Elem>, bool),
        buffer: &BufferArg,
    ) -> Result<()> {
        if let Some(want) = elem.map(DType::from).filter(|want| *want != buffer.dtype) {
            return Err(Error::argument(format!(
                "`{path}` is a pointer to {want}, and the array is {}{}",
                buffer.dtype,
                super::records::advice("x", buffer.dtype.name(), None, want).replacen(", ", "; ", 1)
            )));
        }
        if !is_const && !buffer.writable {
            return Err(Error::argument(format!("`{path}` may be written, and the array is read-only")));
        }
        self.put(at, &(buffer.ptr as u64).to_le_bytes());
        self.reach.push(Reach {
            name: path.to_owned(),
            elem: elem.map(Elem::bits),
            ptr: buffer.ptr,
            bytes: buffer.bytes,
            writable: buffer.writable && !is_const,
            param,
            offset: at,
        });
        Ok(())
    }

    fn tensor(
        &mut self,
        path: &str,
        param: usize,
        at: u32,
        accessor: &Accessor,
        (buffer, shape, strides): (&BufferArg, &[usize], &[isize]),
    ) -> Result<()> {
        if shape.len() != accessor.rank as usize {
            let what = format!("`{path}` accesses {} dimensions, and the array has {}", accessor.rank, shape.len());
            return Err(Error::argument(what));
        }
        // Accessors are seldom `const`, even where a kernel writes nothing: a read-only array is taken, and a write to
        // it faults.
        let is_const = accessor.is_const || !buffer.writable;
        self.pointer(path, param, at + accessor.offsets[0], (accessor.elem, is_const), buffer)?;
        let extents = shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX));
        let size = accessor.index.size();
        for (start, values) in [
            (accessor.offsets[1], extents.collect::<Vec<i64>>()),
            (accessor.offsets[2], strides.iter().map(|&s| s as i64).collect()),
        ] {
            for (i, value) in values.into_iter().enumerate() {
                if size == 4 && i32::try_from(value).is_err() {
                    let what =
                        format!("`{path}` counts in 32 bits, and the array is larger; use PackedTensorAccessor64");
                    return Err(Error::argument(what));
                }
                self.put(at + start + size * i as u32, &value.to_le_bytes()[..size as usize]);
            }
        }
        Ok(())
    }
}

fn describe(ty: &MemberType) -> String {
    match ty {
        MemberType::Scalar(s) => format!("a number, `{}`", s.c_name()),
        MemberType::Pointer { .. } => "a pointer, which takes an array".to_owned(),
        MemberType::Array(_, count) => format!("an array of {count}, which takes a list"),
        MemberType::Struct(layout) if layout.half().is_some() => format!("a number, `{}`", layout.name),
        MemberType::Struct(layout) => match layout.accessor() {
            Some(accessor) => format!("an accessor of {} dimensions, which takes an array", accessor.rank),
            None => format!("a struct `{}`, which takes its members by name", layout.name),
        },
        MemberType::Bits(scalar, bits) => format!("a bit-field of {} bits, `{}`", bits.width, scalar.c_name()),
        MemberType::Opaque(size) => format!("a union, which takes its {size} bytes"),
    }
}

fn kind(value: &Given) -> String {
    match value {
        Given::Scalar(c) => c.ty().scalar().map_or("a pointer", Scalar::c_name).to_owned(),
        Given::Half(elem, _) => elem.c_name().to_owned(),
        Given::Buffer(b) => format!("an array of {}", b.dtype),
        Given::Records(_, size) => format!("an array of structs of {size} bytes"),
        Given::Tensor { buffer, .. } => format!("an array of {}", buffer.dtype),
        Given::Null => "null".to_owned(),
        Given::List(_) => "a list".to_owned(),
        Given::Members(_) => "members by name".to_owned(),
        Given::Bytes(_) => "bytes".to_owned(),
    }
}

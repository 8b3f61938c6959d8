//! Memory of a launch: arguments, module data and the block's shared variables, each a buffer with bounds; threads have their own.

use workbench::back::FaultKind;
use workbench::ir::{AtomicOp, POISON, Scalar, Type};

use super::value::{self, Val};

/// The buffer of the null pointer.
pub const NULL: u32 = 0;
/// The buffer of an address in no buffer.
pub const DANGLING: u32 = 1;
/// The first of a launch's buffers.
pub const FIRST: u32 = 2;
/// Marks a buffer of the running thread.
pub const OWN: u32 = 1 << 31;

/// An allocation at an address of its own.
#[derive(Debug, Clone)]
pub struct Buffer {
    pub base: u64,
    pub bytes: Vec<u8>,
    pub writable: bool,
}

/// Buffers, each at an address that is a multiple of 256 and far from any other.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    pub buffers: Vec<Buffer>,
    next: u64,
}

impl Memory {
    pub fn new(first: u64) -> Self {
        Memory { buffers: Vec::new(), next: first }
    }

    /// Adds a buffer; gives its index.
    pub fn add(&mut self, bytes: Vec<u8>, writable: bool) -> usize {
        let base = self.next;
        self.next += (bytes.len() as u64).next_multiple_of(256) + 4096;
        self.buffers.push(Buffer { base, bytes, writable });
        self.buffers.len() - 1
    }

    pub fn poisoned(&mut self, size: usize) -> usize {
        self.add(vec![POISON; size], true)
    }

    /// Removes all but the first so many.
    pub fn truncate(&mut self, count: usize) {
        if let Some(first) = self.buffers.get(count) {
            self.next = first.base;
        }
        self.buffers.truncate(count);
    }

    fn find(&self, address: u64) -> Option<usize> {
        self.buffers.iter().position(|b| address.wrapping_sub(b.base) <= b.bytes.len() as u64)
    }
}

/// The memory that a thread sees: the launch's and its own.
pub struct View<'a> {
    pub shared: &'a mut Memory,
    pub own: &'a mut Memory,
}

impl View<'_> {
    /// The buffer that a pointer made from an address points into.
    pub fn lookup(&self, address: u64) -> u32 {
        if address == 0 {
            return NULL;
        }
        let shared = self.shared.find(address).map(|i| FIRST + i as u32);
        shared.or_else(|| self.own.find(address).map(|i| OWN | i as u32)).unwrap_or(DANGLING)
    }

    fn place(&mut self, ptr: Val, size: u32, write: bool) -> Result<&mut [u8], FaultKind> {
        let buffer = match ptr.buffer {
            NULL => return Err(FaultKind::NullPointer),
            DANGLING => return Err(FaultKind::DanglingPointer),
            own if own & OWN != 0 => self.own.buffers.get_mut((own & !OWN) as usize),
            other => self.shared.buffers.get_mut((other - FIRST) as usize),
        };
        let buffer = buffer.ok_or(FaultKind::DanglingPointer)?;
        let offset = ptr.bits.wrapping_sub(buffer.base);
        let fits = offset.checked_add(u64::from(size)).is_some_and(|end| end <= buffer.bytes.len() as u64);
        if !fits {
            return Err(if write { FaultKind::OutOfBoundsWrite } else { FaultKind::OutOfBoundsRead });
        }
        if write && !buffer.writable {
            return Err(FaultKind::ReadOnlyWrite);
        }
        if !ptr.bits.is_multiple_of(u64::from(size)) {
            return Err(FaultKind::Misaligned);
        }
        Ok(&mut buffer.bytes[offset as usize..(offset + u64::from(size)) as usize])
    }

    fn bits(bytes: &[u8], ty: Type) -> u64 {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match ty {
            Type::Scalar(Scalar::F32 | Scalar::F64) | Type::Ptr => bits,
            Type::Scalar(Scalar::Bool) => u64::from(bits != 0),
            Type::Scalar(s) => value::wrap(s, i128::from(bits)),
        }
    }

    pub fn load(&mut self, ptr: Val, ty: Type) -> Result<Val, FaultKind> {
        let bits = Self::bits(self.place(ptr, ty.size(), false)?, ty);
        let buffer = if ty == Type::Ptr { self.lookup(bits) } else { 0 };
        Ok(Val { bits, buffer })
    }

    pub fn store(&mut self, ptr: Val, ty: Type, value: Val) -> Result<(), FaultKind> {
        let size = ty.size();
        let bytes = value.bits.to_le_bytes();
        self.place(ptr, size, true)?.copy_from_slice(&bytes[..size as usize]);
        Ok(())
    }

    /// Reads, computes and writes; gives the value that memory held before.
    pub fn atomic(&mut self, op: AtomicOp, ptr: Val, s: Scalar, operand: u64, compare: u64) -> Result<u64, FaultKind> {
        let place = self.place(ptr, s.size(), true)?;
        let old = Self::bits(place, s.into());
        let with = |op| value::binary(op, s, old, s, operand);
        use workbench::ir::BinaryOp::{Add, And, Max, Min, Or, Sub, Xor};
        let (x, y) = (old as u32, operand as u32);
        let new = match op {
            AtomicOp::Add => with(Add)?,
            AtomicOp::Sub => with(Sub)?,
            AtomicOp::Exch => operand,
            AtomicOp::Min => with(Min)?,
            AtomicOp::Max => with(Max)?,
            AtomicOp::And => with(And)?,
            AtomicOp::Or => with(Or)?,
            AtomicOp::Xor => with(Xor)?,
            AtomicOp::Inc => u64::from(if x >= y { 0 } else { x + 1 }),
            AtomicOp::Dec => u64::from(if x == 0 || x > y { y } else { x - 1 }),
            AtomicOp::Cas => {
                if old == compare {
                    operand
                } else {
                    old
                }
            }
        };
        place.copy_from_slice(&new.to_le_bytes()[..s.size() as usize]);
        Ok(old)
    }
}

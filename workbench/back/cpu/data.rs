//! Data of a module: memory of its own at addresses that are baked into code, with a descriptor for each variable.

use std::cell::UnsafeCell;
use std::collections::HashSet;
use std::sync::Arc;

use crate::back::cpu::abi::context::{BufferDesc, DescKind, Side};
use crate::back::cpu::abi::site::Named;
use crate::ir::{GlobalData, Module, Space};

/// Module data in memory of its own, 16-byte aligned, at addresses that are baked into code.
pub struct Globals {
    /// The memory of the variables, kept for the addresses in `descs`; kernels write to it.
    _storage: Box<[UnsafeCell<u128>]>,
    /// The globals that own memory which some of the descriptors point at; kept alive for that.
    _others: Option<Arc<Globals>>,
    /// A descriptor for each [`crate::ir::Global`]; generated code holds their addresses.
    pub descs: Box<[BufferDesc]>,
    /// The descriptor of each variable for the side that may not touch it.
    away: Box<[BufferDesc]>,
    /// The names of the variables in messages.
    pub names: Vec<Named>,
    /// The space of each variable, which says who may change it.
    spaces: Vec<Space>,
}

/// The side that may touch the data of a space.
fn side_of(space: Space) -> Side {
    match space {
        Space::Constant | Space::Device => Side::Device,
        Space::Host => Side::Host,
        // A literal of the device's is in the device's memory, one of the host's in the host's.
        Space::ReadOnly | Space::Managed => Side::Both,
    }
}

/// Memory that data of a module may have already.
pub enum Others {
    None,
    /// The memory of another program of the same text: variables of the same names are the same.
    Program(Arc<Globals>),
    /// Memory of the first data of this very module.
    First(Arc<Globals>),
}

impl Others {
    /// The address of each datum of a module, if it has memory already.
    fn places(&self, module: &Module) -> Vec<Option<u64>> {
        let place = |others: &Globals, at: usize| others.descs.get(at).map(|desc| desc.base);
        let mut taken = HashSet::new();
        let mut find = |(i, global): (usize, &GlobalData)| match self {
            Others::None => None,
            Others::First(others) => place(others, i),
            Others::Program(_) if global.space == Space::ReadOnly => None,
            Others::Program(others) => {
                // Variables of the same name are paired in order: the first with the first.
                let same = |j: &usize| {
                    others.names[*j].name == global.name
                        && (others.descs[*j].len, others.spaces[*j]) == (global.bytes.len() as u64, global.space)
                        && !taken.contains(j)
                };
                let found = (0..others.names.len()).find(same)?;
                taken.insert(found);
                place(others, found)
            }
        };
        module.globals.iter().enumerate().map(&mut find).collect()
    }
}

impl Globals {
    /// Copies the data of a module, except data that is in the memory of `others`.
    pub fn new(module: &Module, others: Others) -> Self {
        let places = others.places(module);
        let own = || module.globals.iter().zip(&places).filter(|(_, place)| place.is_none()).map(|(global, _)| global);
        let words: usize = own().map(|g| g.bytes.len().div_ceil(16)).sum();
        let mut storage: Box<[UnsafeCell<u128>]> = (0..words).map(|_| UnsafeCell::new(0)).collect();
        let base = storage.as_mut_ptr() as u64;
        let mut starts = Vec::new();
        let mut start = 0;
        for global in own() {
            for (cell, chunk) in storage[start / 16..].iter_mut().zip(global.bytes.chunks(16)) {
                bytemuck::bytes_of_mut(cell.get_mut())[..chunk.len()].copy_from_slice(chunk);
            }
            starts.push(base + start as u64);
            start += global.bytes.len().next_multiple_of(16);
        }
        let mut starts = starts.into_iter();
        let (mut descs, mut names) = (Vec::new(), Vec::new());
        for (i, (global, place)) in module.globals.iter().zip(places).enumerate() {
            let (len, meta) = (global.bytes.len() as u64, BufferDesc::meta(DescKind::Global, i as u32));
            let at = place.or_else(|| starts.next()).unwrap_or_default();
            let desc = BufferDesc::new(at, len, global.space.is_writable(), meta).of(side_of(global.space));
            descs.push(if global.is_literal() { desc.literal() } else { desc });
            names.push(Named { name: global.name.clone(), size: len, elem: global.elem });
        }
        let spaces = module.globals.iter().map(|g| g.space).collect();
        let others = match others {
            Others::None => None,
            Others::Program(others) | Others::First(others) => Some(others),
        };
        let away = descs.iter().map(|desc: &BufferDesc| desc.away()).collect();
        Globals { _storage: storage, _others: others, descs: descs.into(), away, names, spaces }
    }

    /// The descriptor of a datum for code of a side.
    pub fn view(&self, index: usize, side: Side) -> Option<&BufferDesc> {
        let desc = self.descs.get(index)?;
        if side.sees(desc.side()) { Some(desc) } else { self.away.get(index) }
    }

    /// The bytes of a datum as they are now.
    pub fn read(&self, index: usize) -> Option<Vec<u8>> {
        let desc = self.descs.get(index)?;
        let mut bytes = vec![0; desc.len as usize];
        // SAFETY: the descriptor is of storage that lives as long as `self`.
        unsafe { std::ptr::copy_nonoverlapping(desc.base as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Some(bytes)
    }

    /// Replaces the bytes of a datum; `false` when there are not as many.
    pub fn write(&self, index: usize, bytes: &[u8]) -> bool {
        let Some(desc) = self.descs.get(index).filter(|d| d.len == bytes.len() as u64) else { return false };
        // SAFETY: as above; the storage is made of cells.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), desc.base as *mut u8, bytes.len()) };
        true
    }
}

// SAFETY: the contents of the cells are read and written through raw pointers only; kernels that race do so as their text
// says.
unsafe impl Sync for Globals {}

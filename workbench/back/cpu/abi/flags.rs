//! Flags of the memory accesses that generated code makes to its own structures.

use cranelift_codegen::ir::MemFlagsData;

/// Flags of an access whose address is known to be good.
pub fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

//! `__constant__` and `__device__` variables of a program on a GPU, from the host's side.
//!
//! Each GPU has its own, in the module that is loaded there. Written values are kept, so that a GPU on which the program runs later begins
//! with them; a read gives the value on the first GPU that the program ran on.
//!
//! Variables are found in the PTX by the last part of their mangled names; kernels too, if CUDA has a function of the same name.

use std::collections::BTreeMap;
use std::ffi::CString;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};

use super::Code;
use super::driver::{self, GpuState, Previous};
use super::queue::{Late, Refused};
use crate::back::{FaultKind, Interrupt, RawFault};

/// The names in PTX of the variables that it declares at module scope, by their names without namespaces.
pub(super) fn declared(ptx: &str) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in ptx.lines().filter(|line| line.starts_with('.')) {
        let mut words = line.split_whitespace();
        if !words.by_ref().any(|word| matches!(word, ".global" | ".const")) {
            continue;
        }
        // `.align 4 .b8 name[8] = {..};`
        let word = words.find(|word| !word.starts_with('.') && !word.starts_with(|c: char| c.is_ascii_digit()));
        let Some(symbol) = word.and_then(|word| word.split(['[', ';']).next()).filter(|s| !s.is_empty()) else {
            continue;
        };
        out.entry(last_name(symbol).to_owned()).or_default().push(symbol.to_owned());
    }
    out
}

/// The names in PTX of its kernels, by their names without namespaces.
pub(super) fn kernels(ptx: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut out: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, rest) in ptx.match_indices(".entry ").map(|(at, word)| ptx.split_at(at + word.len())) {
        let symbol = rest.split(|c: char| c == '(' || c.is_whitespace()).next().unwrap_or(rest);
        out.entry(last_name(symbol)).or_default().push(symbol);
    }
    out
}

/// The last part of a mangled name (Itanium C++ ABI, section 5.1): `n` of `_ZN1a1b1nE`; a name of C is its own.
fn last_name(symbol: &str) -> &str {
    let Some(mut rest) = symbol.strip_prefix("_Z") else { return symbol };
    if rest.starts_with('Z') {
        // A function's own variable, `_ZZ2fnvE3cnt`: after the `E` that ends the function.
        return rest.rmatch_indices('E').find_map(|(at, _)| own_name(&rest[at + 1..])).unwrap_or(symbol);
    }
    let mut last = symbol;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        // Before a name there are `N` for a nested one, `L` for internal linkage, `K` and the like; anything else ends the search.
        if !rest[..at].chars().all(|c| matches!(c, 'N' | 'L' | 'K' | 'V')) {
            break;
        }
        let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[at..at + digits].parse::<usize>() else { break };
        let Some(name) = rest.get(at + digits..at + digits + length) else { break };
        (last, rest) = (name, &rest[at + digits + length..]);
    }
    last
}

/// The name that is the whole rest: `3cnt`, perhaps with the number of one of several, `_0`.
fn own_name(rest: &str) -> Option<&str> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest[..digits].parse().ok()?;
    let (name, more) = rest.get(digits..digits + length).zip(rest.get(digits + length..))?;
    more.chars().all(|c| c == '_' || c.is_ascii_digit()).then_some(name)
}

impl Code {
    /// The bytes of a variable on the first GPU that the program ran on, or those last written to it; `None`: the value in the text.
    ///
    /// # Errors
    /// The reason why the GPU cannot be asked; the error of a kernel that was queued earlier; an interrupt.
    pub fn read_variable(
        &self,
        name: &str,
        bytes: usize,
        interrupt: Option<&dyn Interrupt>,
    ) -> Result<Option<Vec<u8>>, Refused> {
        let Some(symbol) = self.symbol(name)? else { return Ok(None) };
        let (device, kept) = {
            let modules = self.modules();
            (modules.devices().next(), modules.written(symbol))
        };
        let Some(device) = device else { return Ok(kept) };
        let mut out = vec![0; bytes];
        self.copy(device, symbol, bytes, interrupt, |address, stream| {
            // SAFETY: the variable has as many bytes as `out`, which is pageable: it has been written when the stream has reached this
            // copy.
            unsafe { result::memcpy_dtoh_async(&mut out, address, stream) }
        })?;
        Ok(Some(out))
    }

    /// Writes a variable, on every GPU that the program ran on and will run on.
    ///
    /// # Errors
    /// As [`Code::read_variable`].
    pub fn write_variable(&self, name: &str, data: &[u8], interrupt: Option<&dyn Interrupt>) -> Result<(), Refused> {
        let Some(symbol) = self.symbol(name)? else {
            return Err(
                format!("the variable `{name}` is not in the machine code for the GPU, and cannot be written").into()
            );
        };
        // The bytes are kept at once: a GPU that the program is loaded on meanwhile begins with them, or is among these.
        let devices: Vec<u32> = {
            let mut modules = self.modules();
            modules.write(symbol, data);
            modules.devices().collect()
        };
        for device in devices {
            self.copy(device, symbol, data.len(), interrupt, |address, stream| {
                // SAFETY: the variable has as many bytes as `data`, which is pageable: it has been read when the call returns.
                unsafe { result::memcpy_htod_async(address, data, stream) }
            })?;
        }
        Ok(())
    }

    /// The name of a variable in the machine code; `None` where it has none.
    fn symbol(&self, name: &str) -> Result<Option<&str>, Refused> {
        match self.variables.get(name).map(Vec::as_slice) {
            None | Some([]) => Ok(None),
            Some([one]) => Ok(Some(one)),
            Some(several) => {
                let count = several.len();
                Err(format!(
                    "`{name}` is the name of {count} variables of different namespaces; give them different names"
                )
                .into())
            }
        }
    }

    /// Copies to or from a variable, after every kernel that was queued.
    fn copy(
        &self,
        device: u32,
        symbol: &str,
        bytes: usize,
        interrupt: Option<&dyn Interrupt>,
        copy: impl FnOnce(sys::CUdeviceptr, sys::CUstream) -> Result<(), DriverError>,
    ) -> Result<(), Refused> {
        driver::own()?;
        let _previous = Previous::remember();
        let mut state = driver::state(device, interrupt).ok_or_else(interrupted)?;
        state.ready()?;
        if !state.settle(interrupt)? {
            return Err(interrupted());
        }
        let done = self.module(&state).and_then(|module| {
            let stream = stream(&state)?;
            let (address, size) = address(module, symbol)?;
            if size != bytes {
                return Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE));
            }
            copy(address, stream)?;
            // SAFETY: the stream is ours.
            unsafe { result::stream::synchronize(stream) }
        });
        done.map_err(|error| match driver::breaks_context(error) {
            true => state.late(error, None).into(),
            false => format!("the variable `{symbol}` cannot be reached: {}", driver::describe(error)).into(),
        })
    }
}

/// Our stream of the current context.
pub(super) fn stream(state: &GpuState) -> Result<sys::CUstream, DriverError> {
    state.context.as_ref().map(|c| c.stream).ok_or(DriverError(CUresult::CUDA_ERROR_INVALID_CONTEXT))
}

/// Address and size of a variable of a module.
pub(super) fn address(module: sys::CUmodule, symbol: &str) -> Result<(sys::CUdeviceptr, usize), DriverError> {
    let name = CString::new(symbol).unwrap_or_default();
    // SAFETY: the module is loaded in the current context.
    unsafe { result::module::get_global(module, name) }
}

fn interrupted() -> Refused {
    let fault = RawFault {
        kind: FaultKind::Interrupted,
        span: crate::source::Span::NONE,
        block: [0; 3],
        thread: [0; 3],
        detail: "interrupted while it waited for earlier work".to_owned(),
        related: None,
        kernel: None,
        called: None,
    };
    Refused::Late(Box::new(Late { kernel: String::new(), fault, sources: std::sync::Arc::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_in_ptx_by_their_own_names() {
        let ptx = ".version 9.0\n.target sm_90\n.global .align 8 .u64 __wb_log;\n.global .align 8 .b8 s[48] = {0, 0};\n\
            .const .align 4 .u32 plain;\n.visible .const .align 4 .f32 _ZN1a1b1nE = 0f40400000;\n\
            .const .align 4 .b8 _ZN38_INTERNAL_00000000_8__kernel____wb_log40_GLOBAL__N__00000000_8__kernel____wb_log1qE[8];\n\
            .global .align 4 .u32 _ZL5quiet;\n.global .align 4 .u32 _ZN1c1nE;\n\
            .visible .entry k(\n\t.shared .align 4 .b8 _ZZ1kPiE2sh[16];\n";
        let found = declared(ptx);
        let names: Vec<(&str, usize)> = found.iter().map(|(name, all)| (name.as_str(), all.len())).collect();
        assert_eq!(names, [("__wb_log", 1), ("n", 2), ("plain", 1), ("q", 1), ("quiet", 1), ("s", 1)]);
        assert_eq!(found["n"], ["_ZN1a1b1nE", "_ZN1c1nE"]);
    }

    #[test]
    fn what_is_no_name_is_left_as_it_is() {
        for symbol in ["_Z", "_Z99x", "_ZN3abE", "x", "_Z2tvIiE", "_Zé"] {
            assert!(!last_name(symbol).is_empty());
        }
        assert_eq!(last_name("_Z2tvIiE"), "tv");
        assert_eq!(last_name("_ZZ2fnvE3cnt"), "cnt");
        assert_eq!(last_name("_ZZN1a1fEPfE3cnt_0"), "cnt");
        assert_eq!(last_name("_ZZ1E"), "_ZZ1E");
    }
}

//! Stores past the cache, accesses of some of 16 neighbours, and lanes taken by their numbers, by the processor's instructions. Processors
//! without them do these lane by lane.

use crate::back::lane::table::{Access, Kind, MemoryOp};

/// The function for an access that this processor has instructions for.
#[cfg(target_arch = "x86_64")]
pub(super) fn find(op: MemoryOp) -> Option<usize> {
    use std::arch::is_x86_feature_detected as has;
    // Narrow elements differ in size from their lanes.
    let is_long = match op.of.kind() {
        Kind::F32 | Kind::I32 if op.of.size() == 4 => false,
        Kind::F64 | Kind::I64 => true,
        Kind::F32 | Kind::I32 => return None,
    };
    Some(match (op.access, is_long) {
        (Access::Store, false) if op.past_cache => x86::stream as *const () as usize,
        (Access::Store, true) if op.past_cache => x86::stream_pairs as *const () as usize,
        (Access::LoadSome, false) if has!("avx512f") => x86::load_512 as *const () as usize,
        (Access::LoadSome, true) if has!("avx512f") => x86::load_pairs_512 as *const () as usize,
        (Access::StoreSome, false) if has!("avx512f") => x86::store_512 as *const () as usize,
        (Access::StoreSome, true) if has!("avx512f") => x86::store_pairs_512 as *const () as usize,
        (Access::LoadSome, false) if has!("avx2") => x86::load_256 as *const () as usize,
        (Access::StoreSome, false) if has!("avx2") => x86::store_256 as *const () as usize,
        _ => return None,
    })
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn find(_op: MemoryOp) -> Option<usize> {
    None
}

/// The function for 32-bit lanes of two vectors by their numbers, if this processor has an instruction for it.
pub(super) fn take() -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        return Some(x86::take_512 as *const () as usize);
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::back::cpu::math::lanes::avx512::joined;

    /// # Safety
    /// The address is that of a line of the cache, with room for the stored lanes.
    pub unsafe extern "C" fn stream(to: *mut u8, x: &[__m128i; 4]) {
        for (i, part) in x.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { _mm_stream_si128(to.cast::<__m128i>().add(i), *part) };
        }
    }

    /// # Safety
    /// The same as for [`stream`].
    pub unsafe extern "C" fn stream_pairs(to: *mut u8, x: &[__m128i; 8]) {
        for (i, part) in x.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { _mm_stream_si128(to.cast::<__m128i>().add(i), *part) };
        }
    }

    /// # Safety
    /// The processor has the instruction.
    #[target_feature(enable = "avx512f")]
    pub unsafe extern "C" fn take_512(a: &[__m128i; 4], b: &[__m128i; 4], from: &[__m128i; 4], out: &mut [__m128i; 4]) {
        let taken = _mm512_permutex2var_epi32(joined(a), joined(from), joined(b));
        // SAFETY: there is room for as many bytes.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), taken) };
    }

    /// # Safety
    /// The elements of the mask's lanes are in bounds.
    #[target_feature(enable = "avx512f")]
    pub unsafe extern "C" fn load_512(mask: u32, from: *const i32, out: &mut [__m128i; 4]) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_maskz_loadu_epi32(mask as u16, from)) };
    }

    /// # Safety
    /// The same as for [`load_512`].
    #[target_feature(enable = "avx512f")]
    pub unsafe extern "C" fn load_pairs_512(mask: u32, from: *const i64, out: &mut [__m128i; 8]) {
        let to = out.as_mut_ptr().cast::<__m512i>();
        // SAFETY: the caller's promise.
        unsafe {
            _mm512_storeu_si512(to, _mm512_maskz_loadu_epi64(mask as u8, from));
            _mm512_storeu_si512(to.add(1), _mm512_maskz_loadu_epi64((mask >> 8) as u8, from.add(8)));
        }
    }

    /// # Safety
    /// The same as for [`load_512`].
    #[target_feature(enable = "avx512f")]
    pub unsafe extern "C" fn store_512(mask: u32, to: *mut i32, x: &[__m128i; 4]) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mask_storeu_epi32(to, mask as u16, joined(x)) };
    }

    /// # Safety
    /// The same as for [`load_512`].
    #[target_feature(enable = "avx512f")]
    pub unsafe extern "C" fn store_pairs_512(mask: u32, to: *mut i64, x: &[[__m128i; 4]; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            _mm512_mask_storeu_epi64(to, mask as u8, joined(&x[0]));
            _mm512_mask_storeu_epi64(to.add(8), (mask >> 8) as u8, joined(&x[1]));
        }
    }

    /// Lanes of all ones where eight bits are set.
    #[target_feature(enable = "avx2")]
    fn lanes_of(bits: u32) -> __m256i {
        let places = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits as i32), places), places)
    }

    /// # Safety
    /// The same as for [`load_512`].
    #[target_feature(enable = "avx2")]
    pub unsafe extern "C" fn load_256(mask: u32, from: *const i32, out: &mut [__m128i; 4]) {
        let to = out.as_mut_ptr().cast::<__m256i>();
        // SAFETY: the caller's promise.
        unsafe {
            _mm256_storeu_si256(to, _mm256_maskload_epi32(from, lanes_of(mask)));
            _mm256_storeu_si256(to.add(1), _mm256_maskload_epi32(from.add(8), lanes_of(mask >> 8)));
        }
    }

    /// # Safety
    /// The same as for [`load_512`].
    #[target_feature(enable = "avx2")]
    pub unsafe extern "C" fn store_256(mask: u32, to: *mut i32, x: &[__m128i; 4]) {
        // SAFETY: the caller's promise.
        unsafe {
            _mm256_maskstore_epi32(to, lanes_of(mask), _mm256_set_m128i(x[1], x[0]));
            _mm256_maskstore_epi32(to.add(8), lanes_of(mask >> 8), _mm256_set_m128i(x[3], x[2]));
        }
    }
}

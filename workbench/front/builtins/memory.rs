//! Loads and stores with cache hints, which here are plain ones.

use super::{Lower, P, Sig};
use crate::front::types::Num;

macro_rules! loads {
    ($($name:literal)*) => {
        &[$(
            loads!(@ $name Char), loads!(@ $name SChar), loads!(@ $name UChar), loads!(@ $name Short),
            loads!(@ $name UShort), loads!(@ $name Int), loads!(@ $name UInt), loads!(@ $name Long),
            loads!(@ $name ULong), loads!(@ $name LongLong), loads!(@ $name ULongLong), loads!(@ $name Float),
            loads!(@ $name Double),
        )*]
    };
    (@ $name:literal $num:ident) => {
        Sig {
            name: $name,
            params: &[P::In(Num::$num)],
            ret: P::Num(Num::$num),
            lower: Lower::Load,
            doc: "Reads memory; the cache hint means nothing here.",
        }
    };
}

macro_rules! stores {
    ($($name:literal)*) => {
        &[$(
            stores!(@ $name Char), stores!(@ $name SChar), stores!(@ $name UChar), stores!(@ $name Short),
            stores!(@ $name UShort), stores!(@ $name Int), stores!(@ $name UInt), stores!(@ $name Long),
            stores!(@ $name ULong), stores!(@ $name LongLong), stores!(@ $name ULongLong), stores!(@ $name Float),
            stores!(@ $name Double),
        )*]
    };
    (@ $name:literal $num:ident) => {
        Sig {
            name: $name,
            params: &[P::Out(Num::$num), P::Num(Num::$num)],
            ret: P::Void,
            lower: Lower::Store,
            doc: "Writes memory; the cache hint means nothing here.",
        }
    };
}

/// Loads.
pub const LOADS: &[Sig] = loads!("__ldg" "__ldcg" "__ldca" "__ldcs" "__ldlu" "__ldcv");

/// Stores.
pub const STORES: &[Sig] = stores!("__stwb" "__stcg" "__stcs" "__stwt");

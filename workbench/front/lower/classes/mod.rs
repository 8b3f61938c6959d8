//! Classes and the types that are made as they are ([class]): their members, their layout, and how their objects begin.
//!
//! A class has a layout from the end of its members on ([`Stage::Complete`](definitions::Stage)), and that never changes afterwards.
//!
//! - [`definitions`]: a class from its first declaration to its layout. `fields`, `methods`: its members.
//! - `access`: who may use a member.
//! - `construction`: constructors, copies, and what the language makes by itself. `initializer_list`: classes made from braced lists.
//! - `bit_fields`: members that are no number at a multiple of its alignment.
//! - `vectors`: CUDA's vector types, `float4` and the like.
//!
//! Layouts are GCC's for x86-64, with bit-fields, `packed`, `aligned` and `#pragma pack` (`front/class_layout.rs`); random
//! structs are held against `g++`. The preprocessor hands `#pragma pack` on as an attribute behind `struct`.

pub(super) mod access;
pub(super) mod bit_fields;
mod construction;
pub(super) mod definitions;
mod fields;
pub(super) mod initializer_list;
mod methods;
mod vectors;

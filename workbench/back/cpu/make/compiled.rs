//! A compiled module: its image and code, and the input for better code.

use std::sync::Arc;

use crate::back::cpu::code::machine::Tiers;
use crate::back::cpu::image::Image;
use crate::back::cpu::wide::Wide;

/// A module with its code, which clones of a program share.
pub struct CompiledModule {
    /// The data that launches read.
    pub image: Arc<Image>,
    /// Machine code of all parts.
    pub tiers: Tiers,
    /// True if even the first code is good code.
    pub is_good: bool,
    /// The wide code of hot kernels, where it can be made.
    pub wide: Option<Wide>,
    /// The modules that were made ahead of the program.
    pub ahead: Vec<Arc<CompiledModule>>,
    /// The number of statements it was made of.
    pub stmts: usize,
}

impl CompiledModule {
    /// Adds the modules that were made ahead of the program; once.
    pub fn add(&mut self, ahead: Vec<Arc<CompiledModule>>) {
        self.image.ahead.get_or_init(|| ahead.iter().map(|made| made.image.clone()).collect());
        self.ahead = ahead;
    }
}

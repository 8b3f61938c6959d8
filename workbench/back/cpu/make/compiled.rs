//! A compiled module: its image and code, and what better code is made from.

use std::sync::Arc;

use crate::back::cpu::code::machine::Tiers;
use crate::back::cpu::image::Image;
use crate::back::cpu::wide::Wide;

/// A module with its code, which clones of a program share.
pub struct CompiledModule {
    /// What launches read.
    pub image: Arc<Image>,
    /// Machine code of all parts.
    pub tiers: Tiers,
    /// Whether even the first code is good code.
    pub is_good: bool,
    /// Where hot kernels get wide code.
    pub wide: Option<Wide>,
    /// What was made ahead of the program.
    pub ahead: Vec<Arc<CompiledModule>>,
    /// How many statements it was made of.
    pub stmts: usize,
}

impl CompiledModule {
    /// Adds what was made ahead of the program; once.
    pub fn add(&mut self, ahead: Vec<Arc<CompiledModule>>) {
        self.image.ahead.get_or_init(|| ahead.iter().map(|made| made.image.clone()).collect());
        self.ahead = ahead;
    }
}

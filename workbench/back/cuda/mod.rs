//! The user's text to PTX and CUBIN through NVRTC, and its execution on an NVIDIA GPU.

/// A compiled text for the GPU.
pub struct Code {}

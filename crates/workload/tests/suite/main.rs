//! Every test of this crate that needs no allocator of its own, in one program.

mod fitted;
mod goldens;
mod long_goldens;
mod standins;
mod synthetic;

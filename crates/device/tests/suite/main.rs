//! Every test of this crate that needs no allocator of its own, in one program.

mod durability;
mod kit;

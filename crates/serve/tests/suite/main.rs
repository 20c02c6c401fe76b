//! Every test of this crate that needs no allocator of its own, in one program.

mod backing;
mod flips;
mod image;
mod image_cuts;
mod kit;
mod power;
mod server;
mod tape;

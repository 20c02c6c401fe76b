//! What waits in RAM and what leaves: the buffer, its schemes, and the records they emit.
#![no_std]
extern crate alloc;

pub mod destage;
pub mod scheme;
pub mod view;

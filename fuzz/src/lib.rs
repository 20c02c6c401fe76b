//! Fuzzing of the trace readers and of the NBD server. For any input, a trace reader must return requests or one
//! error, in a short time and with little memory.
//!
//! | part | contents |
//! | --- | --- |
//! | [`check`] | what a trace reader promises for any input, in every format |
//! | [`mutate`] | mutations of inputs |
//! | [`corpus`] | arguments of the fuzzing loops and their initial inputs |
//! | [`budget`] | the memory budget of an input |
//! | [`nbd`] | what the NBD server promises for any bytes that a client sends |
//! | `main.rs`, `bin/nbd.rs` | the fuzzing loops: `make fuzz` |
//! | `corpus/`, `corpus-nbd/` | inputs that have shown a defect, and valid inputs; `make test` replays all of them |
//!
//! The mutations are not guided by code coverage. The formats have few nested structures, and [`mutate`] lists the
//! field values that matter.

pub mod budget;
pub mod check;
pub mod corpus;
pub mod mutate;
pub mod nbd;

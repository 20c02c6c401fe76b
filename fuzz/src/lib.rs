//! Whatever its input, a trace reader answers with requests or with one error, quickly and in little memory.
//!
//! | part | contents |
//! | --- | --- |
//! | [`check`] | the promises for any input, in every format |
//! | [`mutate`] | mutations of inputs |
//! | [`corpus`] | arguments of the fuzzing loops and their initial inputs |
//! | [`budget`] | the memory budget of an input |
//! | [`nbd`] | the promises for any bytes that a client of the NBD server sends |
//! | `main.rs`, `bin/nbd.rs` | the fuzzing loops: `make fuzz` |
//! | `corpus/`, `corpus-nbd/` | inputs that found a defect once, and sound ones; `make test` replays them |
//!
//! The mutations do not use coverage: the formats are shallow, and [`mutate`] lists the field values that
//! matter.

pub mod budget;
pub mod check;
pub mod corpus;
pub mod mutate;
pub mod nbd;

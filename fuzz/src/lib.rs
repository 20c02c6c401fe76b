//! Whatever bytes come in, a trace reader answers with requests or with one error, quickly and in little memory.
//!
//! | part | holds |
//! | --- | --- |
//! | [`check`] | what is promised of any input, by every format |
//! | [`mutate`] | inputs out of inputs |
//! | [`corpus`] | what the loops are told, and what they begin with |
//! | [`budget`] | the memory an input may take |
//! | [`nbd`] | what is promised of any bytes that a client of the NBD server sends |
//! | `main.rs`, `bin/nbd.rs` | the loops: `make fuzz` |
//! | `corpus/`, `corpus-nbd/` | inputs that found something once, and sound ones; replayed by `make test` |
//!
//! The mutations know no coverage: the formats are shallow, and the field values that matter are written down in
//! [`mutate`].

pub mod budget;
pub mod check;
pub mod corpus;
pub mod mutate;
pub mod nbd;

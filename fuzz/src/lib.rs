//! Whatever bytes come in, a trace reader answers with requests or with one error, quickly and in little memory.
//!
//! | part | holds |
//! | --- | --- |
//! | [`check`] | what is promised of any input, by every format |
//! | [`mutate`] | inputs out of inputs |
//! | [`budget`] | the memory an input may take |
//! | `main.rs` | the loop: `make fuzz` |
//! | `corpus/` | inputs that found something once, and a sound file of each format; replayed by `make test` |
//!
//! The mutations know no coverage: the formats are shallow, and the field values that matter are written down in
//! [`mutate`].

pub mod budget;
pub mod check;
pub mod mutate;

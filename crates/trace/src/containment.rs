//! Turns panics of the `parquet` crate into errors.
//!
//! The `parquet` crate promises an error for a damaged file, but version 59 panics for some damaged files.
//! `make fuzz` found these causes: a page that refers to a dictionary which no earlier page contains, a number
//! wider than the bytes that remain, and a byte-stream-split column that ends early. The fuzzing corpus has
//! files for two of these causes. Such a panic means, like an error, that the file is damaged. Only panics in
//! calls of that crate are turned into errors. After a panic the state of that crate's decoder is discarded.

use ::parquet::errors::{ParquetError, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is now in a call in which a panic means only that a trace is damaged. A panic hook that
/// ends the program, or reports a bug, must call this function first.
#[must_use]
pub fn holds() -> bool {
    CONTAINED.get()
}

/// Runs `decode` and turns a panic in it into an error.
pub(crate) fn contained<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    CONTAINED.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    CONTAINED.set(false);
    outcome.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(ParquetError::General(
            text.unwrap_or("no reason given").to_owned(),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_and_only_there() {
        assert!(!holds());
        let error = contained(|| -> Result<()> {
            assert!(holds());
            panic!("out of {}", "range")
        });
        assert!(error.unwrap_err().to_string().contains("out of range"));
        assert!(!holds());
        assert_eq!(contained(|| Ok(7)).ok(), Some(7));
    }
}

//! Results as text.

pub(crate) mod chosen;
pub(crate) mod experiments;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod ranking;
pub(crate) mod report;
pub(crate) mod summary;
pub(crate) mod table;

use std::borrow::Cow;
use std::io::Write;

pub(crate) use destage::{json, numbers};

use crate::errors::Failure;

/// `text` for a terminal. Control characters, which a file name may contain, are replaced by escapes such as
/// `\u{1b}`.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let acts = |letter: char| letter.is_control() && letter != '\n';
    if !text.contains(acts) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            letter if acts(letter) => shown.extend(letter.escape_unicode()),
            letter => shown.push(letter),
        }
    }
    shown.into()
}

/// Prints `text` for people on standard output.
pub(crate) fn show(text: &str) -> Result<(), Failure> {
    print(visible(text).as_bytes())
}

/// Prints `text` on standard output without changes.
pub(crate) fn print(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    output
        .write_all(text.as_ref())
        .and_then(|()| output.flush())
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::input(format!("standard output: cannot be written: {error}")),
        })
}

//! The errors of a trace, each in one line that a user can act on.

use std::fmt;
use std::io;

/// Why a trace cannot be read.
///
/// The text of every variant is one line: the file, the line if there is one, the error, the offending text in quotes, and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file is missing, or may not be read.
    #[error("{file}: cannot be opened: {cause}; expected a trace file")]
    Open {
        /// The path as given.
        file: String,
        /// The error of the system.
        cause: io::Error,
    },
    /// The system failed while reading.
    #[error("{file}: reading failed after {offset} bytes: {cause}; expected a readable file")]
    Read {
        /// The path as given.
        file: String,
        /// Uncompressed bytes read before.
        offset: u64,
        /// The error of the system.
        cause: io::Error,
    },
    /// A compressed file ends in the middle.
    #[error(
        "{file}: the {compression} stream is cut off after {offset} uncompressed bytes; expected a complete file"
    )]
    Truncated {
        /// The path as given.
        file: String,
        /// The compression's name.
        compression: &'static str,
        /// Uncompressed bytes read before.
        offset: u64,
    },
    /// A compressed file cannot be decompressed.
    #[error(
        "{file}: the {compression} stream is damaged after {offset} uncompressed bytes: {cause}; expected an intact file"
    )]
    Damaged {
        /// The path as given.
        file: String,
        /// The compression's name.
        compression: &'static str,
        /// Uncompressed bytes read before.
        offset: u64,
        /// The error of the decoder.
        cause: io::Error,
    },
    /// There is not one request in the file.
    #[error(
        "{file}: holds no requests ({lines} lines, {skipped} of them skipped as bad); expected {expected}"
    )]
    Empty {
        /// The path as given.
        file: String,
        /// Lines seen.
        lines: u64,
        /// Bad lines skipped.
        skipped: u64,
        /// A correct text.
        expected: &'static str,
    },
    /// The file is not text, and in no known binary format.
    #[error(
        "{file}: is not text: byte 0x{byte:02x} at offset {offset}; expected lines of text, in ASCII or UTF-8 (`iconv -t UTF-8` makes it of others), or a known binary format, plain or compressed with gz, zst, bz2 or xz"
    )]
    NotText {
        /// The path as given.
        file: String,
        /// Where, in uncompressed bytes from the start.
        offset: u64,
        /// The byte that is no text.
        byte: u8,
    },
    /// A line does not end within reason.
    #[error(
        "{file}:{line}: the line is longer than {limit} bytes: \"{text}\"; expected short lines of text"
    )]
    LongLine {
        /// The path as given.
        file: String,
        /// Counted from 1.
        line: u64,
        /// The longest line that is read, in bytes.
        limit: usize,
        /// Its beginning.
        text: Excerpt,
    },
    /// No format fits the first lines.
    #[error(
        "{file}:{line}: no known format fits: \"{text}\"; expected {known}, or format csv with trace.columns for a table of your own"
    )]
    UnknownFormat {
        /// The path as given.
        file: String,
        /// The first line that says something.
        line: u64,
        /// The text of that line.
        text: Excerpt,
        /// The option that reads the file, if it is nearly in a format; and the names of all formats.
        known: String,
    },
    /// The first line names columns of a table, and not all that a trace needs.
    #[error(
        "{file}:{line}: the first line has {missing}: \"{text}\"; expected one of each among the names, or format csv with trace.columns, such as time,op,offset,bytes with - for a column that is ignored"
    )]
    Header {
        /// The path as given.
        file: String,
        /// The line with the names.
        line: u64,
        /// The columns that are missing or there more than once, and the known names.
        missing: String,
        /// The text of that line.
        text: Excerpt,
    },
    /// Several formats fit, and the file's name does not decide.
    #[error(
        "{file}:{line}: several formats fit ({candidates}): \"{text}\"; expected a format by name, or a file name ending in one"
    )]
    AmbiguousFormat {
        /// The path as given.
        file: String,
        /// The first line that says something.
        line: u64,
        /// The text of that line.
        text: Excerpt,
        /// Names of the formats that fit.
        candidates: String,
    },
    /// A line says something that no request can be made of.
    #[error("{file}:{line}: {fault}: \"{text}\"; expected {expected}")]
    Line {
        /// The path as given.
        file: String,
        /// Counted from 1.
        line: u64,
        /// What is wrong.
        fault: Fault,
        /// The field or line it is wrong with.
        text: Excerpt,
        /// A correct text.
        expected: &'static str,
    },
    /// A record of a binary trace says something that no request can be made of.
    #[error("{file}: byte {offset}: {fault}: \"{text}\"; expected {expected}")]
    Record {
        /// The path as given.
        file: String,
        /// Where the record begins, in uncompressed bytes from the start.
        offset: u64,
        /// What is wrong.
        fault: Fault,
        /// The bytes of the field or record it is wrong with, in hexadecimal.
        text: Excerpt,
        /// A correct text.
        expected: &'static str,
    },
    /// A binary trace ends in the middle of a record.
    #[error(
        "{file}: byte {offset}: the file ends within a record, of which there are {bytes} bytes; expected a whole number of records"
    )]
    PartialRecord {
        /// The path as given.
        file: String,
        /// Where the record begins, in uncompressed bytes from the start.
        offset: u64,
        /// How many bytes of it there are.
        bytes: usize,
    },
    /// A binary trace ends between two records, where more should follow.
    #[error("{file}: byte {offset}: the file ends before its end mark; expected a complete file")]
    NoEndMark {
        /// The path as given.
        file: String,
        /// Where the file ends, in uncompressed bytes from the start.
        offset: u64,
    },
    /// A row of a table says something that no request can be made of.
    #[error("{file}: request {row}: {fault}: \"{text}\"; expected {expected}")]
    Row {
        /// The path as given.
        file: String,
        /// The row, counted from 1.
        row: u64,
        /// What is wrong.
        fault: Fault,
        /// The value it is wrong with, or the request.
        text: Excerpt,
        /// A correct text.
        expected: &'static str,
    },
    /// The rows of a table cannot be read on.
    #[error("{file}: request {row}: cannot be read: {cause}; expected an intact file")]
    Table {
        /// No further rows of a table can be read.
        file: String,
        /// The first row that was not handed out, counted from 1.
        row: u64,
        /// The error of the decoder.
        cause: String,
    },
    /// The directory at the end of a table cannot be read.
    #[error(
        "{file}: the footer, which says where everything is, cannot be read: {cause}; expected a complete, intact file"
    )]
    Footer {
        /// The path as given.
        file: String,
        /// The error of the decoder.
        cause: String,
    },
    /// A table lacks a column, or has another one by its name.
    #[error("{file}: {column} is {found}; expected {expected}")]
    Column {
        /// The path as given.
        file: String,
        /// The column's name, or a key beside the columns.
        column: &'static str,
        /// What there is.
        found: String,
        /// A correct text.
        expected: &'static str,
    },
    /// A table comes through something that can only be read from front to back.
    #[error(
        "{file}: {format} has its directory at the end and cannot be read from {through}; expected a plain file"
    )]
    FrontToBack {
        /// The path as given.
        file: String,
        /// The format's name.
        format: &'static str,
        /// The source of the data, such as a pipe.
        through: &'static str,
    },
    /// The trace is in a format that this build was made without.
    #[error("{file}: {reason}")]
    LeftOut {
        /// The path as given.
        file: String,
        /// The traces, and what to do.
        reason: &'static str,
    },
    /// The command reads the trace twice, and this trace can be read only once.
    #[error("{file}: {what} reads the trace twice; expected a regular file{instead}")]
    SecondPass {
        /// The path as given.
        file: String,
        /// The reader that needs it twice.
        what: &'static str,
        /// An alternative that does not, or nothing.
        instead: &'static str,
    },
    /// An option's value is not usable.
    #[error("{name}: \"{value}\" is not usable; expected {expected}")]
    Option {
        /// The option's dotted name.
        name: &'static str,
        /// What was given.
        value: String,
        /// A correct text.
        expected: String,
    },
    /// A trace's clock cannot be that of the others it is merged with.
    #[error(
        "{file}: the clock of its format, {format}, is another than that of the other traces; expected traces of one format and one century"
    )]
    Clock {
        /// The path as given.
        file: String,
        /// The format's name.
        format: &'static str,
    },
}

/// The error in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The named field holds something other than digits.
    NotANumber(&'static str),
    /// The named field is below 0.
    Negative(&'static str),
    /// The named field is larger than can be held.
    TooLarge(&'static str),
    /// The named field holds none of the possible words.
    UnknownWord(&'static str),
    /// The named field holds nothing.
    Null(&'static str),
    /// The format has a version that is not known, or none.
    UnknownVersion,
    /// The trace does not say what the request does.
    NoOperation,
    /// The columns of the table are not known.
    NoColumns,
    /// There is something after the end that the file itself marks.
    AfterEnd,
    /// The line ends too early.
    FewFields,
    /// The line goes on after the last field.
    ManyFields,
    /// An empty line with more lines after it.
    BlankLine,
    /// The request has no sectors.
    ZeroLength,
    /// The request arrives before the one above it, or before the sort window.
    BackInTime,
    /// The shift moves the request below sector 0.
    BelowZero,
    /// The request ends past the last byte that 64 bits can address.
    BeyondAddressSpace,
    /// The request ends past its volume's part of the address space.
    CrossesStride,
    /// The request differs from the one that the first of two passes saw.
    NotInFirstPass,
}

impl Fault {
    /// What was expected instead, if that does not depend on a field. `layout` names the format's columns.
    pub(crate) fn expected(self, layout: &'static str) -> &'static str {
        match self {
            Self::BlankLine => "blank lines only after the last request",
            Self::NoOperation => "trace.missing_op=read or write",
            Self::NoColumns => "a first line that names the columns, or trace.columns",
            Self::AfterEnd => "nothing after the end mark",
            Self::ZeroLength => "at least one sector, or trace.zero_len=drop",
            Self::BackInTime => "times that do not decrease, or trace.order=sort or clamp",
            Self::BelowZero => "a start of at least trace.lba_shift sectors",
            Self::BeyondAddressSpace => "an end below 2^55 sectors",
            Self::NotInFirstPass => "a file that no other program writes to",
            Self::CrossesStride => "an end within trace.volume_stride sectors",
            _ => layout,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber(field) => write!(out, "{field} is not a number"),
            Self::Negative(field) => write!(out, "{field} is negative"),
            Self::TooLarge(field) => write!(out, "{field} is too large"),
            Self::UnknownWord(field) => write!(out, "{field} is unknown"),
            Self::Null(field) => write!(out, "{field} has no value"),
            Self::UnknownVersion => write!(out, "the version is unknown"),
            Self::NoOperation => write!(out, "the trace does not say what the request does"),
            Self::NoColumns => write!(out, "the columns are not known"),
            Self::AfterEnd => write!(out, "the trace has ended already"),
            Self::FewFields => write!(out, "too few fields"),
            Self::ManyFields => write!(out, "too many fields"),
            Self::BlankLine => write!(out, "a blank line inside the trace"),
            Self::ZeroLength => write!(out, "the request has length 0"),
            Self::BackInTime => write!(out, "the time goes back"),
            Self::BelowZero => write!(out, "the shifted request starts below sector 0"),
            Self::BeyondAddressSpace => write!(out, "the request ends beyond 2^64 bytes"),
            Self::NotInFirstPass => write!(out, "the file changed while it was read twice"),
            Self::CrossesStride => write!(out, "the request crosses its volume's stride"),
        }
    }
}

/// Offending text, fit for one line of an error message: cut short, everything but plain ASCII escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    /// Bytes of offending text that are shown.
    pub const LENGTH_MAX: usize = 80;

    /// An excerpt of `bytes`.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let bytes = bytes.trim_ascii_end();
        let shown = &bytes[..bytes.len().min(Self::LENGTH_MAX)];
        let mut text = shown.escape_ascii().to_string();
        if shown.len() < bytes.len() {
            text.push_str("...");
        }
        Self(text)
    }

    /// An excerpt of `bytes` that are no text: in hexadecimal.
    #[must_use]
    pub fn hexadecimal(bytes: &[u8]) -> Self {
        let shown = &bytes[..bytes.len().min(Self::LENGTH_MAX / 2)];
        let mut text = crate::hexadecimal(shown);
        if shown.len() < bytes.len() {
            text.push_str("...");
        }
        Self(text)
    }

    /// The text as shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_on_one_line() {
        assert_eq!(
            Excerpt::new(b"a\tb\x00\xff\r\n").as_str(),
            "a\\tb\\x00\\xff"
        );
        let long = Excerpt::new(&[b'7'; 200]);
        assert_eq!(long.as_str().len(), Excerpt::LENGTH_MAX + 3);
        assert!(long.as_str().ends_with("7..."));
    }
}

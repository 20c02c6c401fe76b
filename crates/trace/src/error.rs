//! The errors of a trace. The text of each error is one line that tells the user what to do.

use std::fmt;
use std::io;

/// The reason why a trace cannot be read.
///
/// The text of every variant is one line: the file, the line number if there is one, the error, the wrong text
/// in quotes, and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file does not exist, or the user may not read it.
    #[error("{file}: cannot be opened: {cause}; expected a trace file")]
    Open {
        /// The path as given.
        file: String,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// Reading from an open file failed.
    #[error("{file}: reading failed after {offset} bytes: {cause}; expected a readable file")]
    Read {
        /// The path as given.
        file: String,
        /// The number of uncompressed bytes read before the error.
        offset: u64,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// A compressed file ends before its stream does.
    #[error(
        "{file}: the {compression} stream is cut off after {offset} uncompressed bytes; expected a complete file"
    )]
    Truncated {
        /// The path as given.
        file: String,
        /// The name of the compression.
        compression: &'static str,
        /// The number of uncompressed bytes read before the error.
        offset: u64,
    },
    /// A compressed file cannot be decompressed.
    #[error(
        "{file}: the {compression} stream is damaged after {offset} uncompressed bytes: {cause}; expected an intact file"
    )]
    Damaged {
        /// The path as given.
        file: String,
        /// The name of the compression.
        compression: &'static str,
        /// The number of uncompressed bytes read before the error.
        offset: u64,
        /// The error of the decoder.
        cause: io::Error,
    },
    /// The file contains no request.
    #[error(
        "{file}: holds no requests ({lines} lines, {skipped} of them skipped as bad); expected {expected}"
    )]
    Empty {
        /// The path as given.
        file: String,
        /// The number of lines read.
        lines: u64,
        /// The number of bad lines skipped.
        skipped: u64,
        /// What was expected.
        expected: &'static str,
    },
    /// The file is neither text nor in a known binary format.
    #[error(
        "{file}: is not text: byte 0x{byte:02x} at offset {offset}; expected lines of text, in ASCII or UTF-8 (`iconv -t UTF-8` converts text in other encodings), or a known binary format, plain or compressed with gz, zst, bz2 or xz"
    )]
    NotText {
        /// The path as given.
        file: String,
        /// The position of the byte, in uncompressed bytes from the start.
        offset: u64,
        /// The byte that is not text.
        byte: u8,
    },
    /// A line is longer than the limit.
    #[error(
        "{file}:{line}: the line is longer than {limit} bytes: \"{text}\"; expected short lines of text"
    )]
    LongLine {
        /// The path as given.
        file: String,
        /// The number of the line, counted from 1.
        line: u64,
        /// The length of the longest line that is accepted, in bytes.
        limit: usize,
        /// The beginning of the line.
        text: Excerpt,
    },
    /// No format fits the first lines.
    #[error(
        "{file}:{line}: no known format fits: \"{text}\"; expected {known}, or format csv with trace.columns for a table of your own"
    )]
    UnknownFormat {
        /// The path as given.
        file: String,
        /// The first line that is neither blank nor a comment.
        line: u64,
        /// The text of that line.
        text: Excerpt,
        /// The names of all formats. If the file is similar to one of these formats, the options that read the
        /// file precede the names.
        known: String,
    },
    /// The first line names some columns of a table, but not exactly those that a trace needs.
    #[error("{file}:{line}: the first line has {found}: \"{text}\"; expected {expected}")]
    Header {
        /// The path as given.
        file: String,
        /// The number of the line with the names.
        line: u64,
        /// The columns that are missing or doubled, the known columns, and the unknown ones.
        found: String,
        /// The text of that line.
        text: Excerpt,
        /// What was expected.
        expected: String,
    },
    /// Several formats fit, and the file's extension does not decide between them.
    #[error(
        "{file}:{line}: several formats fit ({candidates}): \"{text}\"; expected the name of one of these formats, or a file name that ends with one of them"
    )]
    AmbiguousFormat {
        /// The path as given.
        file: String,
        /// The first line that is neither blank nor a comment.
        line: u64,
        /// The text of that line.
        text: Excerpt,
        /// The names of the formats that fit.
        candidates: String,
    },
    /// A line from which no request can be made.
    #[error("{file}:{line}: {fault}: \"{text}\"; expected {expected}")]
    Line {
        /// The path as given.
        file: String,
        /// The number of the line, counted from 1.
        line: u64,
        /// The error.
        fault: Fault,
        /// The field or the line that is wrong.
        text: Excerpt,
        /// What was expected.
        expected: &'static str,
    },
    /// A record of a binary trace from which no request can be made.
    #[error("{file}: byte {offset}: {fault}: \"{text}\"; expected {expected}")]
    Record {
        /// The path as given.
        file: String,
        /// The position of the record, in uncompressed bytes from the start.
        offset: u64,
        /// The error.
        fault: Fault,
        /// The bytes of the field or record that is wrong, in hexadecimal.
        text: Excerpt,
        /// What was expected.
        expected: &'static str,
    },
    /// A binary trace ends in the middle of a record.
    #[error(
        "{file}: byte {offset}: the file ends in the middle of a record, after {bytes} bytes of the record; expected a whole number of records"
    )]
    PartialRecord {
        /// The path as given.
        file: String,
        /// The position of the record, in uncompressed bytes from the start.
        offset: u64,
        /// The number of bytes of the record that the file contains.
        bytes: usize,
    },
    /// A binary trace ends after a whole record, but without its end mark.
    #[error("{file}: byte {offset}: the file ends before its end mark; expected a complete file")]
    NoEndMark {
        /// The path as given.
        file: String,
        /// The length of the file in uncompressed bytes.
        offset: u64,
    },
    /// A row of a table from which no request can be made.
    #[error("{file}: request {row}: {fault}: \"{text}\"; expected {expected}")]
    Row {
        /// The path as given.
        file: String,
        /// The number of the row, counted from 1.
        row: u64,
        /// The error.
        fault: Fault,
        /// The value that is wrong, or the whole request.
        text: Excerpt,
        /// What was expected.
        expected: &'static str,
    },
    /// Neither this row of a table nor any later row can be read.
    #[error("{file}: request {row}: cannot be read: {cause}; expected an intact file")]
    Table {
        /// The path as given.
        file: String,
        /// The first row that was not returned, counted from 1.
        row: u64,
        /// The error of the decoder.
        cause: String,
    },
    /// The directory at the end of a table, its footer, cannot be read.
    #[error(
        "{file}: the footer, which lists the positions of all other parts, cannot be read: {cause}; expected a complete, intact file"
    )]
    Footer {
        /// The path as given.
        file: String,
        /// The error of the decoder.
        cause: String,
    },
    /// A table has no column of this name, or the column has an unsuitable type.
    #[error("{file}: {column} is {found}; expected {expected}")]
    Column {
        /// The path as given.
        file: String,
        /// The name of the column, or of a key in the footer.
        column: &'static str,
        /// What the file has instead.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A table is in a source that can be read only from front to back.
    #[error(
        "{file}: {format} has its directory at the end and cannot be read from {through}; expected a plain file"
    )]
    FrontToBack {
        /// The path as given.
        file: String,
        /// The name of the format.
        format: &'static str,
        /// The source of the data, such as a pipe.
        through: &'static str,
    },
    /// The trace has a format that this build does not include.
    #[error("{file}: {reason}")]
    LeftOut {
        /// The path as given.
        file: String,
        /// The format that is not included, and what to do.
        reason: &'static str,
    },
    /// The command reads the trace twice, and this trace can be read only once.
    #[error("{file}: {what} reads the trace twice; expected a regular file{instead}")]
    SecondPass {
        /// The path as given.
        file: String,
        /// The command or option that needs two passes.
        what: &'static str,
        /// The end of the message, with an alternative that needs one pass; empty if there is none.
        instead: &'static str,
    },
    /// The value of an option is not valid.
    #[error("{name}: \"{value}\" is not usable; expected {expected}")]
    Option {
        /// The dotted name of the option.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// Traces that are to be merged have different clocks.
    #[error(
        "{file}: the clock of this trace (format {format}) cannot be compared with that of the other traces; expected traces of one format that begin at most 58 years apart"
    )]
    Clock {
        /// The path as given.
        file: String,
        /// The name of the format.
        format: &'static str,
    },
}

/// What is wrong with a line, a record or a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The named field contains something other than digits.
    NotANumber(&'static str),
    /// The named field is below 0.
    Negative(&'static str),
    /// The number in the named field is too large.
    TooLarge(&'static str),
    /// The named field contains none of the possible words.
    UnknownWord(&'static str),
    /// The named field has no value.
    Null(&'static str),
    /// The file has an unknown version of its format, or no version.
    UnknownVersion,
    /// The trace does not contain the operation of the request.
    NoOperation,
    /// No column of the table contains the operation of the request.
    NoOperationColumn,
    /// The address or the length of the request is empty, and the request is no flush.
    NoRange,
    /// The names of the table's columns are not known.
    NoColumns,
    /// More data follows after the end mark of the file.
    AfterEnd,
    /// The line ends before its last field.
    FewFields,
    /// The line continues after its last field.
    ManyFields,
    /// A blank line is followed by more lines.
    BlankLine,
    /// The request has no sectors.
    ZeroLength,
    /// The request arrives earlier than the one before it, or earlier than the sort window allows.
    BackInTime,
    /// The shift moves the request below sector 0.
    BelowZero,
    /// The request ends past the last byte that 64 bits can address.
    BeyondAddressSpace,
    /// The request ends beyond its volume's part of the address space.
    CrossesStride,
    /// The request is outside of the range that the first of two passes found for its volume, so the file has
    /// changed between the passes.
    NotInFirstPass,
}

impl Fault {
    /// The text that says what was expected. `layout` names the format's columns; it is returned for faults
    /// that have no text of their own.
    pub(crate) fn expected(self, layout: &'static str) -> &'static str {
        match self {
            Self::BlankLine => "blank lines only after the last request",
            Self::NoOperation => "trace.missing_op=read or write",
            Self::NoOperationColumn => {
                "a column op (also called rw, operation or type), or trace.missing_op=read or write"
            }
            Self::NoRange => "an address and a length; only a flush may have none",
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
            Self::NoOperationColumn => write!(out, "no column says what the request does"),
            Self::NoRange => write!(out, "the request has no address or no length"),
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

/// Wrong text, in a form that fits into one line of an error message: the text is cut to a limit, and all bytes
/// other than printable ASCII are escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    /// The most bytes of text that are shown.
    pub const LENGTH_MAX: usize = 80;

    /// Makes an excerpt of `bytes` that are text.
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

    /// Makes an excerpt of `bytes` that are not text, in hexadecimal.
    #[must_use]
    pub fn hexadecimal(bytes: &[u8]) -> Self {
        let shown = &bytes[..bytes.len().min(Self::LENGTH_MAX / 2)];
        let mut text = crate::hexadecimal(shown);
        if shown.len() < bytes.len() {
            text.push_str("...");
        }
        Self(text)
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
            Excerpt::new(b"a\tb\x00\xff\r\n").to_string(),
            "a\\tb\\x00\\xff"
        );
        let long = Excerpt::new(&[b'7'; 200]).to_string();
        assert_eq!(long.len(), Excerpt::LENGTH_MAX + 3);
        assert!(long.ends_with("7..."));
    }
}

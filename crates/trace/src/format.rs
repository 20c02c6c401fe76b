//! The registry of formats.

use crate::decode::{Decode, Outcome, State};
use crate::formats;
use crate::records::Binary;
use crate::request::Request;
use crate::rows::OpenTable;

/// A format of traces: how to recognise it, and how to read it.
#[derive(Clone, Copy)]
pub struct Format {
    /// The name, as `--format` accepts it.
    pub name: &'static str,
    /// Extensions of file names, without the dot. If several formats fit a file, the extension in front of the
    /// compression's extension selects one of them.
    pub extensions: &'static [&'static str],
    /// A short text about the source of traces in this format, and about their peculiarities.
    pub about: &'static str,
    /// The columns or fields, as error messages list them.
    pub columns: &'static str,
    /// What a file contains before its first request; in hexadecimal if the format is binary.
    pub header: Option<&'static str>,
    /// One request as an example: a line, a record in hexadecimal, or the values of a row.
    pub example: &'static str,
    /// The unit of time that applies if `trace.time_unit` is `auto`.
    pub time_unit: TimeUnit,
    /// Whether the file has its requests in the order of their arrival.
    pub sorted: bool,
    /// Whether times count from a day of the calendar. Such times are made relative to the first or the
    /// earliest request.
    pub epoch: bool,
    /// Whether several lines or records belong to one request, and `trace.event` selects the one that counts.
    /// Such a trace has no request if it does not contain the selected event.
    pub filters_events: bool,
    /// Whether a more specific format is preferred if both fit.
    pub general: bool,
    /// The `trace.columns` with which a file of this format can be read as a table. `None` if the format is not
    /// such a table. The columns also serve to read a file that differs from the format in separators or in
    /// upper and lower case.
    pub as_table: Option<&'static str>,
    pub(crate) encoding: Encoding,
}

/// How a format stores requests.
#[derive(Clone, Copy)]
pub(crate) enum Encoding {
    /// Lines of text.
    Text(Decode),
    /// Records of bytes.
    Binary(Binary),
    /// A table with a directory at its end, in Parquet, the only such format.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "this build has no Parquet")
    )]
    Table(OpenTable),
}

impl Format {
    /// A row without names and texts, from which other rows are built. Its files have their requests in the order
    /// of arrival, and times that count from zero.
    pub(crate) const fn of(encoding: Encoding) -> Self {
        Self {
            name: "",
            extensions: &[],
            about: "",
            columns: "",
            header: None,
            example: "",
            time_unit: TimeUnit::Seconds,
            sorted: true,
            epoch: false,
            filters_events: false,
            general: false,
            as_table: None,
            encoding,
        }
    }

    /// Whether the format consists of lines of text.
    #[must_use]
    pub const fn is_text(&self) -> bool {
        matches!(self.encoding, Encoding::Text(_))
    }

    /// A small file in this format, without an end mark: the header, if there is one, then the example
    /// `requests` times.
    ///
    /// ```
    /// let disksim = destage_trace::format::find("disksim").unwrap();
    /// assert_eq!(disksim.example_file(1), b"5265.313 0 6357144 8 0\n");
    /// ```
    #[must_use]
    pub fn example_file(&self, requests: usize) -> Vec<u8> {
        #[cfg(feature = "parquet")]
        if matches!(self.encoding, Encoding::Table(_)) {
            return formats::parquet::example(requests);
        }
        let bytes = |text: &str| {
            if self.is_text() {
                return format!("{text}\n").into_bytes();
            }
            let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
            let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
            digits
                .chunks(2)
                .map(|pair| pair.iter().fold(0, |byte, half| byte << 4 | digit(*half)))
                .collect()
        };
        let mut file = self.header.map(bytes).unwrap_or_default();
        file.extend(bytes(self.example).repeat(requests));
        file
    }

    /// Decodes `block`; see [`crate::decode::decode`].
    #[inline]
    pub(crate) fn decode(
        &self,
        block: &[u8],
        state: &mut State,
        batch: &mut Vec<Request>,
        room: usize,
    ) -> Outcome {
        match self.encoding {
            Encoding::Text(decode) => decode(block, state, batch, room),
            Encoding::Binary(binary) => (binary.decode)(block, state, batch, room),
            Encoding::Table(_) => unreachable!("a table is not read in blocks"),
        }
    }
}

/// The unit of the times in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Units of 100 ns, the unit of Windows.
    HundredNanoseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Ticks of 0.1 ns, the unit of the simulator.
    Ticks,
}

impl TimeUnit {
    /// The unit as it is written in options and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::HundredNanoseconds => "100ns",
            Self::Nanoseconds => "ns",
            Self::Ticks => "0.1ns",
        }
    }

    /// The power of ten that is the number of ticks (0.1 ns) in one unit.
    pub(crate) const fn exponent(self) -> u32 {
        match self {
            Self::Seconds => 10,
            Self::Milliseconds => 7,
            Self::Microseconds => 4,
            Self::HundredNanoseconds => 3,
            Self::Nanoseconds => 1,
            Self::Ticks => 0,
        }
    }
}

/// All formats that this build can read.
pub static FORMATS: &[Format] = &[
    formats::disksim::FORMAT,
    formats::ssdsim::FORMAT,
    formats::spc::FORMAT,
    formats::msr::FORMAT,
    formats::cloudphysics::FORMAT,
    formats::diskmon::FORMAT,
    formats::wiscsee::FORMAT,
    formats::tencent::FORMAT,
    formats::systor::FORMAT,
    formats::alibaba::FORMAT,
    formats::blkparse::FORMAT,
    formats::fio::FORMAT,
    formats::xperf::FORMAT,
    formats::tracerpt::FORMAT,
    formats::csv::FORMAT,
    formats::blktrace::FORMAT,
    formats::srt::FORMAT,
    formats::vscsi::FORMAT,
    formats::oraclegeneral::FORMAT,
    formats::compact::FORMAT,
    #[cfg(feature = "parquet")]
    formats::parquet::FORMAT,
];

/// The format that has `name` as its name or as one of its extensions.
///
/// ```
/// use destage_trace::format;
/// assert_eq!(format::find("mqsim").map(|format| format.name), Some("ssdsim"));
/// assert!(format::find("pdf").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS
        .iter()
        .find(|format| format.name == name || format.extensions.contains(&name))
}

/// A format that this build does not include.
struct LeftOut {
    name: &'static str,
    /// What to do instead, as the end of an error message.
    reason: &'static str,
}

const LEFT_OUT: &[LeftOut] = &[
    #[cfg(not(feature = "parquet"))]
    LeftOut {
        name: "parquet",
        reason: PARQUET_LEFT_OUT,
    },
];

/// The reason why this build does not include the format called `name`. `None` if the build includes the
/// format, or if no format has this name.
///
/// ```
/// # use destage_trace::format;
/// assert_eq!(format::left_out("parquet").is_some(), format::find("parquet").is_none());
/// assert!(format::left_out("pdf").is_none());
/// ```
#[must_use]
pub fn left_out(name: &str) -> Option<&'static str> {
    let row = LEFT_OUT.iter().find(|row| row.name == name);
    row.map(|row| row.reason)
}

pub(crate) const PARQUET_LEFT_OUT: &str =
    "this build neither reads nor writes Parquet; expected a build with the feature parquet";

/// The names of `formats`, separated by commas.
pub(crate) fn names<'a>(formats: impl IntoIterator<Item = &'a Format>) -> String {
    formats
        .into_iter()
        .map(|format| format.name)
        .collect::<Vec<_>>()
        .join(", ")
}

impl std::fmt::Debug for Format {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Format({})", self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Choices;
    use crate::request::Operation;

    #[test]
    fn every_row_reads_its_own_example_and_no_name_is_taken_twice() {
        let mut names = Vec::new();
        let choices = Choices {
            missing_operation: Some(Operation::Write),
            ..Choices::default()
        };
        for format in FORMATS {
            names.extend(format.extensions);
            if !format.extensions.contains(&format.name) {
                names.push(format.name);
            }
            if matches!(format.encoding, Encoding::Table(_)) {
                continue;
            }
            let mut batch = Vec::new();
            let file = format.example_file(1);
            let mut state = State::new(format.time_unit.exponent()).with(&choices);
            let outcome = format.decode(&file, &mut state, &mut batch, 10);
            assert!(
                outcome.problem.is_none(),
                "{format:?}: {:?}",
                outcome.problem
            );
            assert_eq!(
                (outcome.consumed, batch.len()),
                (file.len(), 1),
                "{format:?}"
            );
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{names:?}");
    }
}

//! How a trace is to be read: the `trace.*` parameters and what the command line adds.

pub use crate::columns::Columns;

use crate::error::TraceError;
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::Operation;
use destage_base::Ticks;
use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::time::TICKS_PER_MS;

/// The parameters of reading a trace.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "trace.time_unit",
        kind: Kind::Choice(&["auto", "s", "ms", "us", "100ns", "ns"]),
        default: "auto",
        unit: "",
        about: "Unit of the trace's times; auto is the format's own.",
        source: "some SSDSim traces count us where the format says ns",
    },
    Parameter {
        name: "trace.volumes",
        kind: Kind::Choice(&["ignore", "separate", "concatenate"]),
        default: "ignore",
        unit: "",
        about: "Volumes share one address space as they are, get trace.volume_stride sectors each, or follow one another in ascending number.",
        source: "",
    },
    Parameter {
        name: "trace.volume_stride",
        kind: Kind::Integer {
            min: 1,
            max: u64::MAX,
        },
        default: "4294967296",
        unit: "sectors",
        about: "Distance between the starts of two volumes with trace.volumes=separate.",
        source: "2 TiB, the most that 32-bit sector numbers reach",
    },
    Parameter {
        name: "trace.lba_shift",
        kind: Kind::Text,
        default: "0",
        unit: "sectors",
        about: "Subtracted from every address before anything else; may be negative.",
        source: "63 undoes the offset of a classic first partition",
    },
    Parameter {
        name: "trace.zero_len",
        kind: Kind::Choice(&["error", "drop"]),
        default: "error",
        unit: "",
        about: "What a request of length 0 is: an error, or dropped and counted.",
        source: "",
    },
    Parameter {
        name: "trace.order",
        kind: Kind::Choice(&["auto", "error", "sort", "clamp"]),
        default: "auto",
        unit: "",
        about: "What a time that goes back is: an error, sorted within a window of 65536 requests, or set to the latest time seen and counted; auto sorts the formats known to be unsorted.",
        source: "",
    },
    Parameter {
        name: "trace.event",
        kind: Kind::Choice(&["issue", "queue", "complete"]),
        default: "issue",
        unit: "",
        about: "Which event of a block-layer trace (blkparse, blktrace) is the request: D, as the device gets it after merging; Q, as the file system asks for it; or C, when it is done. In logs of Windows (xperf, tracerpt), whose requests have a beginning and an end, issue and queue are the beginning.",
        source: "blkparse(1), trace actions; Microsoft, DiskIo_TypeGroup1 and DiskIo_TypeGroup2",
    },
    Parameter {
        name: "trace.block_bytes",
        kind: Kind::Bytes {
            min: 1,
            max: 1 << 30,
        },
        default: "512",
        unit: "bytes",
        about: "What one address counts where a format leaves it open: a sector of the disk (srt), an object number (oraclegeneral), a block (csv).",
        source: "disks of 1992 have sectors of 256 bytes",
    },
    Parameter {
        name: "trace.missing_op",
        kind: Kind::Choice(&["error", "read", "write"]),
        default: "error",
        unit: "",
        about: "What a request does where the trace does not say (oraclegeneral, csv or parquet without such a column).",
        source: "",
    },
    Parameter {
        name: "trace.columns",
        kind: Kind::Text,
        default: "",
        unit: "",
        about: "Columns of csv, such as time,op,offset,bytes: time, volume, op (or write, or read: 1 or 0), sector, offset, offset_kib or block, sectors, bytes, kib or blocks, fua, stream, and - for any other; what separates the names separates the columns. Nothing takes them from the first line.",
        source: "",
    },
    Parameter {
        name: "trace.flush_every_writes",
        kind: Kind::Integer {
            min: 0,
            max: u64::MAX,
        },
        default: "0",
        unit: "writes",
        about: "A flush is added after every so many writes of a trace or workload; 0 adds none.",
        source: "most traces lost their flushes",
    },
    Parameter {
        name: "trace.flush_every_ms",
        kind: Kind::Integer {
            min: 0,
            max: 1_000_000_000,
        },
        default: "0",
        unit: "ms",
        about: "A flush is added at every multiple of this time after the first request if something was written since the last one; 0 adds none.",
        source: "file systems commit every 5 s or so",
    },
    Parameter {
        name: "trace.fua_every_writes",
        kind: Kind::Integer {
            min: 0,
            max: u64::MAX,
        },
        default: "0",
        unit: "writes",
        about: "One of so many writes of a trace or workload is forced unit access; 0 leaves all as they are.",
        source: "most traces lost the flag; journals force their commit records",
    },
    Parameter {
        name: "trace.trim_every_writes",
        kind: Kind::Integer {
            min: 0,
            max: u64::MAX,
        },
        default: "0",
        unit: "writes",
        about: "With every n-th write a trim is added: of the pages that the previous n-th write wrote, as if they were a temporary file. 0 adds no trims.",
        source: "older traces have none",
    },
    Parameter {
        name: "trace.streams",
        kind: Kind::Choice(&["trace", "volume"]),
        default: "trace",
        unit: "",
        about: "The stream of a request: what the trace says, if it says anything; or its volume's number modulo 65535, plus 1.",
        source: "data of one volume tends to die together",
    },
];

/// Which event is the request, where a trace has several of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Event {
    /// It is given to the device, after merging.
    #[default]
    Issue,
    /// It is asked for.
    Queue,
    /// It is done.
    Complete,
}

/// The user's choices for what some formats leave open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The event that is the request; issue by default.
    pub event: Event,
    /// Bytes that one address counts; 512 by default.
    pub block_bytes: u64,
    /// What a request does if the trace does not say; by default that is an error.
    pub missing_operation: Option<Operation>,
    /// The columns of a table; by default its first line names them.
    pub columns: Option<Columns>,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            event: Event::Issue,
            block_bytes: 512,
            missing_operation: None,
            columns: None,
        }
    }
}

/// How volumes share the one address space downstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Volumes {
    /// The volume's number plays no part in addresses.
    #[default]
    Ignore,
    /// Volume v starts at v times [`ReadOptions::volume_stride`].
    Separate,
    /// Volumes follow one another in ascending number, each as long as its largest end in the whole trace,
    /// rounded up to 8 sectors. Reads the trace twice.
    Concatenate,
}

/// What becomes of a request without sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ZeroLength {
    /// It is an error.
    #[default]
    Error,
    /// It is dropped and counted.
    Drop,
}

/// What becomes of a request that arrives before the one above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// [`Order::Sort`] for formats known to be unsorted, [`Order::Error`] for the others.
    #[default]
    Auto,
    /// It is an error.
    Error,
    /// It moves up, if it is within the sort window, and is an error otherwise.
    Sort,
    /// It arrives with the latest above it, and is counted.
    Clamp,
}

/// What becomes of a line that no request can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BadLines {
    /// Reading stops with its error.
    #[default]
    Stop,
    /// It is skipped and counted.
    Skip,
}

/// Where the stream of a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Streams {
    /// From the trace; 0 if that has none.
    #[default]
    Trace,
    /// The volume's number modulo 65535, plus 1.
    Volume,
}

/// How a trace is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; `None` finds it from the content.
    pub format: Option<&'static Format>,
    /// The unit of times; `None` is the format's own.
    pub time_unit: Option<TimeUnit>,
    /// How volumes share the address space.
    pub volumes: Volumes,
    /// Sectors from one volume's start to the next with [`Volumes::Separate`].
    pub volume_stride: u64,
    /// Sectors subtracted from each address, before anything else.
    pub lba_shift: i64,
    /// What becomes of requests without sectors.
    pub zero_length: ZeroLength,
    /// What becomes of times that go back.
    pub order: Order,
    /// What becomes of bad lines.
    pub bad_lines: BadLines,
    /// How many requests of the trace are read after [`Self::skip`]; what follows them is not even looked at.
    pub limit: Option<u64>,
    /// How many requests, in order of arrival, are left out at the start. Times stay as they are.
    pub skip: u64,
    /// Whether reads are dropped, from the slice that `skip` and `limit` cut out.
    pub writes_only: bool,
    /// Choices for formats that leave something open.
    pub choices: Choices,
    /// A flush is added after every so many writes; 0 is never.
    pub flush_every_writes: u64,
    /// A flush is added at every multiple of this time, if something was written; 0 is never.
    pub flush_every: Ticks,
    /// One of so many writes becomes forced unit access; 0 is none.
    pub fua_every_writes: u64,
    /// With every n-th write, the range of the n-th write before it is trimmed; 0 is never.
    pub trim_every_writes: u64,
    /// Where the stream of a request comes from.
    pub streams: Streams,
    /// Whether the SHA-256 of the trace is made.
    pub digest: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            time_unit: None,
            volumes: Volumes::Ignore,
            volume_stride: 1 << 32,
            lba_shift: 0,
            zero_length: ZeroLength::Error,
            order: Order::Auto,
            bad_lines: BadLines::Stop,
            limit: None,
            skip: 0,
            writes_only: false,
            choices: Choices::default(),
            flush_every_writes: 0,
            flush_every: 0,
            fua_every_writes: 0,
            trim_every_writes: 0,
            streams: Streams::Trace,
            digest: true,
        }
    }
}

impl ReadOptions {
    /// The options that `values`, made from [`PARAMETERS`] (among others), ask for. Everything that is no
    /// `trace.*` parameter stays at its default.
    ///
    /// # Errors
    /// If `trace.lba_shift` is no whole number, or `trace.columns` names no table's columns.
    ///
    /// # Panics
    /// If `values` lacks one of [`PARAMETERS`], which is a bug in the caller.
    pub fn from_values(values: &Values) -> Result<Self, TraceError> {
        let shift = values.text("trace.lba_shift");
        let lba_shift = shift
            .replace('_', "")
            .parse()
            .map_err(|_| TraceError::Option {
                name: "trace.lba_shift",
                value: shift.to_owned(),
                expected: "a whole number of sectors, negative to move addresses up".to_owned(),
            })?;
        let columns = match values.text("trace.columns") {
            "" => None,
            text => Some(text.parse().map_err(|expected| TraceError::Option {
                name: "trace.columns",
                value: text.to_owned(),
                expected,
            })?),
        };
        Ok(Self {
            time_unit: match values.text("trace.time_unit") {
                "s" => Some(TimeUnit::Seconds),
                "ms" => Some(TimeUnit::Milliseconds),
                "us" => Some(TimeUnit::Microseconds),
                "100ns" => Some(TimeUnit::HundredNanoseconds),
                "ns" => Some(TimeUnit::Nanoseconds),
                _ => None,
            },
            volumes: match values.text("trace.volumes") {
                "separate" => Volumes::Separate,
                "concatenate" => Volumes::Concatenate,
                _ => Volumes::Ignore,
            },
            volume_stride: values.integer("trace.volume_stride"),
            lba_shift,
            zero_length: match values.text("trace.zero_len") {
                "drop" => ZeroLength::Drop,
                _ => ZeroLength::Error,
            },
            order: match values.text("trace.order") {
                "error" => Order::Error,
                "sort" => Order::Sort,
                "clamp" => Order::Clamp,
                _ => Order::Auto,
            },
            choices: Choices {
                event: match values.text("trace.event") {
                    "queue" => Event::Queue,
                    "complete" => Event::Complete,
                    _ => Event::Issue,
                },
                block_bytes: values.integer("trace.block_bytes"),
                missing_operation: match values.text("trace.missing_op") {
                    "read" => Some(Operation::Read),
                    "write" => Some(Operation::Write),
                    _ => None,
                },
                columns,
            },
            flush_every_writes: values.integer("trace.flush_every_writes"),
            flush_every: values.integer("trace.flush_every_ms") * TICKS_PER_MS,
            fua_every_writes: values.integer("trace.fua_every_writes"),
            trim_every_writes: values.integer("trace.trim_every_writes"),
            streams: match values.text("trace.streams") {
                "volume" => Streams::Volume,
                _ => Streams::Trace,
            },
            ..Self::default()
        })
    }

    /// The unit of the times in `file`, which is in `format`.
    pub(crate) fn time_unit_of(&self, file: &str, format: &Format) -> Result<TimeUnit, TraceError> {
        match (self.time_unit, format.encoding) {
            // Ignoring it would let the user believe that times had changed.
            (Some(unit), Encoding::Binary(_)) if format.time_unit == TimeUnit::Ticks => {
                Err(TraceError::Option {
                    name: "trace.time_unit",
                    value: unit.name().to_owned(),
                    expected: format!(
                        "auto for {file}, since {} counts 0.1 ns; `destage trace scale --time` makes other times",
                        format.name
                    ),
                })
            }
            (unit, _) => Ok(unit.unwrap_or(format.time_unit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::parameter::Value;

    #[test]
    fn the_rows_defaults_are_the_default_options() {
        assert_eq!(
            ReadOptions::from_values(&Values::defaults(PARAMETERS)).unwrap(),
            ReadOptions::default()
        );
    }

    #[test]
    fn every_word_of_a_choice_means_something_of_its_own() {
        for row in PARAMETERS {
            let Kind::Choice(words) = row.kind else {
                continue;
            };
            let options: Vec<ReadOptions> = words
                .iter()
                .map(|word| {
                    let mut values = Values::defaults(PARAMETERS);
                    values.set(row.name, row.read(word).unwrap());
                    ReadOptions::from_values(&values).unwrap()
                })
                .collect();
            for (index, one) in options.iter().enumerate() {
                assert!(
                    !options[..index].contains(one),
                    "{} = {}",
                    row.name,
                    words[index]
                );
            }
        }
    }

    #[test]
    fn a_shift_may_be_negative_and_must_be_a_number() {
        let mut values = Values::defaults(PARAMETERS);
        values.set("trace.lba_shift", Value::Text("-63".to_owned()));
        assert_eq!(ReadOptions::from_values(&values).unwrap().lba_shift, -63);
        values.set("trace.lba_shift", Value::Text("63s".to_owned()));
        let error = ReadOptions::from_values(&values).unwrap_err().to_string();
        assert!(
            error.starts_with("trace.lba_shift: \"63s\" is not usable; expected a whole number"),
            "{error}"
        );
    }
}

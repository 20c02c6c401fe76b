//! How a trace is read: the `trace.*` parameters and the options of the command line.

pub use crate::columns::Columns;

use crate::array::Array;
use crate::error::TraceError;
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, SECTOR_BYTES};
use crate::slice::Slice;
use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::time::TICKS_PER_MS;
use destage_base::{Ticks, choices, parameters};

choices! {
    /// The unit of the trace's times.
    enum GivenUnit {
        Auto = "auto",
        Seconds = "s",
        Milliseconds = "ms",
        Microseconds = "us",
        HundredNanoseconds = "100ns",
        Nanoseconds = "ns",
    }
}

choices! {
    /// The operation of a request if the trace does not contain it.
    enum MissingOperation {
        Error = "error",
        Read = "read",
        Write = "write",
    }
}

parameters! {
    /// The parameters of reading a trace.
    struct Parameters in "trace." {
        /// Unit of the trace's times; auto is the unit of the format.
        time_unit: GivenUnit = "auto", "", "some SSDSim traces count us where the format says ns", needs &["trace-file"];
        /// How volumes share the address space: all volumes use the same addresses, each volume has
        /// trace.volume_stride sectors, or volumes follow one another in ascending order of their numbers.
        volumes: Volumes = "ignore", "", "", needs &["trace"];
        /// Distance between the starts of two volumes with trace.volumes=separate.
        volume_stride: u64 = "4294967296" in Kind::Integer { min: 1, max: u64::MAX }, "sectors", "2 TiB, the most that 32-bit sector numbers reach", needs &["trace"];
        /// Sectors subtracted from every address, before volumes are placed; may be negative.
        lba_shift: String = "0", "sectors", "63 undoes the offset of a classic first partition", needs &["trace"];
        /// What happens to a request of length 0: it is an error, or it is dropped and counted.
        zero_len: ZeroLength = "error", "", "", needs &["trace-file"];
        /// What happens to a request that arrives earlier than the request before it: it is an error, or
        /// requests are sorted within a window of 65536 requests, or its arrival is set to the latest arrival
        /// so far and the request is counted; auto sorts traces in formats known to be unsorted.
        order: Order = "auto", "", "", needs &["trace-file"];
        /// The event of a block-layer trace (blkparse, blktrace) that counts as the request: issue (D), when
        /// the device gets it, after merging; queue (Q), when the file system makes it; or complete (C), when
        /// it is done. In Windows logs (xperf, tracerpt) a request has only a start and an end, so issue and
        /// queue both mean the start.
        event: Event = "issue", "", "blkparse(1), trace actions; Microsoft, DiskIo_TypeGroup1 and DiskIo_TypeGroup2", needs &["trace-file"];
        /// The unit of an address if the format does not define it: a sector of the disk (srt), an object
        /// number (oraclegeneral), a block (csv).
        block_bytes: u64 = "512" in Kind::Bytes { min: 1, max: 1 << 30 }, "bytes", "disks of 1992 have sectors of 256 bytes", needs &["trace-file"];
        /// The operation of a request if the trace does not contain it (oraclegeneral; csv or parquet without
        /// such a column).
        missing_op: MissingOperation = "error", "", "", needs &["trace-file"];
        /// Columns of csv, such as time,op,offset,bytes: time, volume, op (or write, or read: 1 or 0), sector,
        /// offset, offset_kib or block, sectors, bytes, kib or blocks, fua, stream, and - for any other column.
        /// The character between the names also separates the columns. Empty: the first line names the columns.
        columns: String = "", "", "", needs &["trace-file"];
        /// A flush is added after this number of writes of a trace or workload; 0 adds none.
        flush_every_writes: u64 = "0", "writes", "most traces lost their flushes";
        /// A flush is added at every multiple of this time after the first request, if a write arrived since
        /// the last flush; 0 adds none.
        flush_every_ms: u64 = "0" in Kind::Integer { min: 0, max: 1_000_000_000 }, "ms", "file systems commit every 5 s or so";
        /// Every n-th write of a trace or workload gets force unit access; 0 changes none.
        fua_every_writes: u64 = "0", "writes", "most traces lost the flag; journals force their commit records";
        /// With every n-th write, a trim is added for the range that the previous n-th write wrote, as if this
        /// range were a temporary file; 0 adds none.
        trim_every_writes: u64 = "0", "writes", "older traces have none";
        /// Number of disks in the striped array over which the trace is spread; with 1 there is no array, and
        /// the device gets the whole trace.
        array_members: u64 = "1" in Kind::Integer { min: 1, max: 65_536 }, "disks", "";
        /// The disk of the array that is simulated, counted from 0: it receives only its part of the trace, at
        /// the addresses of this disk. Every disk receives every flush.
        array_member: u64 = "0" in Kind::Integer { min: 0, max: 65_535 }, "", "";
        /// Size of a stripe: the bytes on one disk of the array before the next disk follows; a multiple of
        /// 512.
        array_stripe_bytes: u64 = "64KiB" in Kind::Bytes { min: 512, max: 1 << 30 }, "bytes", "";
        /// Source of the stream of a request: the trace, if it has streams; or the volume's number modulo
        /// 65535, plus 1.
        streams: Streams = "trace", "", "data of one volume tends to die together";
    }
}

/// The parameters of reading a trace.
pub const PARAMETERS: &[Parameter] = Parameters::ROWS;

choices! {
    /// The event that counts as the request, if a trace has several events for each request.
    #[derive(Default)]
    pub enum Event {
        /// The request is given to the device, after merging (D).
        #[default]
        Issue = "issue",
        /// The file system makes the request (Q).
        Queue = "queue",
        /// The request is complete (C).
        Complete = "complete",
    }
}

/// The user's choices for properties that some formats do not define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The event that counts as the request; issue by default.
    pub event: Event,
    /// The bytes in one unit of an address; 512 by default.
    pub block_bytes: u64,
    /// The operation of a request if the trace does not contain it. With `None`, the default, such a trace is
    /// an error.
    pub missing_operation: Option<Operation>,
    /// The columns of a table. With `None`, the default, the first line of the file names them.
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

choices! {
    /// How volumes share the one address space of the device.
    #[derive(Default)]
    pub enum Volumes {
        /// Addresses do not depend on the volume: all volumes share the same addresses.
        #[default]
        Ignore = "ignore",
        /// Volume v starts at sector v times [`ReadOptions::volume_stride`].
        Separate = "separate",
        /// Volumes follow one another in ascending order of their numbers. The length of a volume is the
        /// largest end of its requests in the whole trace, rounded up to 8 sectors. To find these lengths, the
        /// trace is read twice.
        Concatenate = "concatenate",
    }
}

choices! {
    /// What happens to a request without sectors.
    #[derive(Default)]
    pub enum ZeroLength {
        /// The request is an error.
        #[default]
        Error = "error",
        /// The request is dropped and counted.
        Drop = "drop",
    }
}

choices! {
    /// What happens to a request that arrives earlier than the one before it.
    #[derive(Default)]
    pub enum Order {
        /// [`Order::Sort`] for formats known to be unsorted, [`Order::Error`] for the others.
        #[default]
        Auto = "auto",
        /// The request is an error.
        Error = "error",
        /// The request is moved forward if its right position is within the sort window; otherwise it is an
        /// error.
        Sort = "sort",
        /// The request gets the latest arrival so far, and is counted.
        Clamp = "clamp",
    }
}

/// What happens to a line from which no request can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BadLines {
    /// Reading stops with the error of the line.
    #[default]
    Stop,
    /// The line is skipped and counted.
    Skip,
}

choices! {
    /// The source of the stream of a request.
    #[derive(Default)]
    pub enum Streams {
        /// The stream of the trace; 0 if the trace has none.
        #[default]
        Trace = "trace",
        /// The number of the volume modulo 65535, plus 1.
        Volume = "volume",
    }
}

/// The rules that insert what was lost when a trace was recorded. The default inserts nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InjectionRules {
    /// A flush is added after this number of writes; with 0, no flush is added.
    pub flush_every_writes: u64,
    /// A flush is added at every multiple of this time in ticks, if a write arrived since the last flush; with
    /// 0, no flush is added.
    pub flush_every: Ticks,
    /// Every n-th write gets force unit access; with 0, no write does.
    pub fua_every_writes: u64,
    /// With every n-th write, the range of the previous n-th write is trimmed; with 0, no range is trimmed.
    pub trim_every_writes: u64,
    /// The source of the stream of a request.
    pub streams: Streams,
}

/// How a trace is read.
///
/// ```
/// use destage_trace::{InjectionRules, ReadOptions, Slice};
/// let options = ReadOptions {
///     slice: Slice { limit: Some(1000), writes_only: true, ..Slice::default() },
///     injection: InjectionRules { flush_every_writes: 100, ..InjectionRules::default() },
///     ..ReadOptions::default()
/// };
/// assert_eq!(options.slice.skip, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; with `None` it is detected from the content.
    pub format: Option<&'static Format>,
    /// The unit of times; with `None` it is the unit of the format.
    pub time_unit: Option<TimeUnit>,
    /// How volumes share the address space.
    pub volumes: Volumes,
    /// Sectors from the start of one volume to the start of the next, for [`Volumes::Separate`].
    pub volume_stride: u64,
    /// Sectors that are subtracted from each address, before volumes are placed; may be negative.
    pub lba_shift: i64,
    /// What happens to requests without sectors.
    pub zero_length: ZeroLength,
    /// What happens to a request that arrives earlier than the one before it.
    pub order: Order,
    /// What happens to bad lines.
    pub bad_lines: BadLines,
    /// Which requests are read.
    pub slice: Slice,
    /// Choices for properties that some formats do not define.
    pub choices: Choices,
    /// The rules that insert what was lost when the trace was recorded.
    pub injection: InjectionRules,
    /// The array over which the trace is spread, and the disk of the array that gets the requests.
    pub array: Array,
    /// Whether the SHA-256 of the trace is computed.
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
            slice: Slice::default(),
            choices: Choices::default(),
            injection: InjectionRules::default(),
            array: Array::default(),
            digest: true,
        }
    }
}

/// The array that `own` describes.
fn array(own: &Parameters) -> Result<Array, TraceError> {
    let refused = |name, value: u64, expected| TraceError::Option {
        name,
        value: value.to_string(),
        expected,
    };
    let (members, member, stripe) = (own.array_members, own.array_member, own.array_stripe_bytes);
    if member >= members {
        let expected = format!("a number below trace.array_members = {members}");
        return Err(refused("trace.array_member", member, expected));
    }
    if !stripe.is_multiple_of(SECTOR_BYTES) {
        let expected = "a multiple of 512".to_owned();
        return Err(refused("trace.array_stripe_bytes", stripe, expected));
    }
    Ok(Array {
        members,
        member,
        stripe_sectors: stripe / SECTOR_BYTES,
    })
}

impl ReadOptions {
    /// The options that `values` give to the parameters in [`PARAMETERS`]. Options without a `trace.*`
    /// parameter keep their defaults.
    ///
    /// # Errors
    /// If `trace.lba_shift` is not a whole number, `trace.columns` does not name the columns of a table,
    /// `trace.array_member` is not below `trace.array_members`, or `trace.array_stripe_bytes` is not a multiple
    /// of 512.
    pub fn from_values(values: &Values) -> Result<Self, TraceError> {
        let own = Parameters::from_values(values);
        let shift = own.lba_shift.replace('_', "").parse();
        let lba_shift = shift.map_err(|_| TraceError::Option {
            name: "trace.lba_shift",
            value: own.lba_shift.clone(),
            expected: "a whole number of sectors; a negative one moves addresses up".to_owned(),
        })?;
        let columns = match own.columns.as_str() {
            "" => None,
            text => Some(text.parse().map_err(|expected| TraceError::Option {
                name: "trace.columns",
                value: text.to_owned(),
                expected,
            })?),
        };
        Ok(Self {
            time_unit: match own.time_unit {
                GivenUnit::Auto => None,
                GivenUnit::Seconds => Some(TimeUnit::Seconds),
                GivenUnit::Milliseconds => Some(TimeUnit::Milliseconds),
                GivenUnit::Microseconds => Some(TimeUnit::Microseconds),
                GivenUnit::HundredNanoseconds => Some(TimeUnit::HundredNanoseconds),
                GivenUnit::Nanoseconds => Some(TimeUnit::Nanoseconds),
            },
            volumes: own.volumes,
            volume_stride: own.volume_stride,
            lba_shift,
            zero_length: own.zero_len,
            order: own.order,
            choices: Choices {
                event: own.event,
                block_bytes: own.block_bytes,
                missing_operation: match own.missing_op {
                    MissingOperation::Error => None,
                    MissingOperation::Read => Some(Operation::Read),
                    MissingOperation::Write => Some(Operation::Write),
                },
                columns,
            },
            injection: InjectionRules {
                flush_every_writes: own.flush_every_writes,
                flush_every: own.flush_every_ms * TICKS_PER_MS,
                fua_every_writes: own.fua_every_writes,
                trim_every_writes: own.trim_every_writes,
                streams: own.streams,
            },
            array: array(&own)?,
            ..Self::default()
        })
    }

    /// The unit of the times in `file`, whose format is `format`.
    pub(crate) fn time_unit_of(&self, file: &str, format: &Format) -> Result<TimeUnit, TraceError> {
        match (self.time_unit, format.encoding) {
            // This is an error, because a user whose unit is silently ignored would believe that the times have
            // changed.
            (Some(unit), Encoding::Binary(_)) if format.time_unit == TimeUnit::Ticks => {
                Err(TraceError::Option {
                    name: "trace.time_unit",
                    value: unit.name().to_owned(),
                    expected: format!(
                        "auto for {file}, since {} counts 0.1 ns; `destage trace scale` changes times",
                        format.name
                    ),
                })
            }
            (unit, _) => {
                let columns = self.choices.columns.as_ref();
                // Only a table that has no format of its own is read by these columns.
                let columns = columns.filter(|_| format.general);
                let named = columns.and_then(|columns| columns.time_unit);
                Ok(unit.or(named).unwrap_or(format.time_unit))
            }
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
    fn an_array_has_members_from_0_and_stripes_of_whole_sectors() {
        let with = |pairs: &[(&'static str, u64)]| {
            let mut values = Values::defaults(PARAMETERS);
            for (name, number) in pairs {
                values.set(name, Value::Integer(*number));
            }
            ReadOptions::from_values(&values).map(|options| options.array)
        };
        let members = ("trace.array_members", 4);
        let last = with(&[members, ("trace.array_member", 3)]).unwrap();
        assert_eq!(
            (last.members, last.member, last.stripe_sectors),
            (4, 3, 128)
        );
        let error = with(&[members, ("trace.array_member", 4)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "trace.array_member: \"4\" is not usable; expected a number below trace.array_members = 4"
        );
        let error = with(&[("trace.array_stripe_bytes", 1000)]).unwrap_err();
        assert!(error.to_string().ends_with("expected a multiple of 512"));
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

//! Finds the content of a column from its name in the first line of a table. The names of this project, names
//! that other programs use, and names with a unit, as in `Size (KiB)`, are known.

use super::{Field, NAMES, Unit};
use crate::format::TimeUnit;

/// The quantity in a column, without its unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Time,
    Volume,
    Operation,
    /// The address of a request, in bytes unless the name has a unit.
    Offset,
    /// The address of a request, in sectors unless the name has a unit.
    Sector,
    /// The length of a request, in bytes unless the name has a unit.
    Bytes,
    /// The length of a request, in sectors unless the name has a unit.
    Sectors,
    /// The length of a request, in blocks of `trace.block_bytes`.
    Blocks,
    /// The length of a request. If the name has no unit, the length is in sectors if the table has its
    /// addresses in sectors, and in bytes otherwise.
    Length,
    Stream,
}

/// Names of columns that other programs use. A blank, a hyphen and a dot within a name count as `_`.
const OTHER_NAMES: [(Subject, &[&str]); 10] = [
    (
        Subject::Time,
        &[
            "time",
            "timestamp",
            "time_stamp",
            "ts",
            "arrival",
            "arrival_time",
            "start_time",
            "issue_time",
            "submit_time",
            "request_time",
            "relative_time",
            "datetime",
            "date_time",
            "when",
        ],
    ),
    (
        Subject::Volume,
        &[
            "volume",
            "device",
            "dev",
            "disk",
            "lun",
            "asu",
            "device_id",
            "disk_id",
            "volume_id",
            "disknumber",
            "disk_number",
            "vol",
            "vdisk",
        ],
    ),
    (
        Subject::Operation,
        &[
            "op",
            "rw",
            "r/w",
            "r_w",
            "rwbs",
            "read/write",
            "read_write",
            "read_or_write",
            "operation",
            "opcode",
            "op_type",
            "operation_type",
            "type",
            "kind",
            "io_type",
            "iotype",
            "request_type",
            "access_type",
            "command",
            "cmd",
            "direction",
            "action",
        ],
    ),
    (
        Subject::Offset,
        &[
            "offset",
            "byte_offset",
            "start_offset",
            "starting_offset",
            "disk_offset",
        ],
    ),
    (
        Subject::Sector,
        &[
            "sector",
            "lba",
            "lbn",
            "start_sector",
            "first_sector",
            "starting_sector",
            "start_lba",
            "starting_lba",
            "sector_number",
        ],
    ),
    (
        Subject::Bytes,
        &[
            "bytes",
            "size",
            "nbytes",
            "io_size",
            "request_size",
            "req_size",
            "transfer_size",
            "num_bytes",
            "byte_count",
        ],
    ),
    (
        Subject::Sectors,
        &[
            "sectors",
            "sector_count",
            "num_sectors",
            "nsectors",
            "number_of_sectors",
            "nr_sectors",
            "nr_sector",
            "nb_sectors",
            "sector_num",
        ],
    ),
    (
        Subject::Blocks,
        &[
            "nblocks",
            "num_blocks",
            "nr_blocks",
            "block_count",
            "number_of_blocks",
        ],
    ),
    (
        Subject::Length,
        &["len", "length", "count", "io_length", "request_length"],
    ),
    (Subject::Stream, &["stream", "stream_id"]),
];
/// Names that mean the address of a request only if a unit follows.
const PLACES: [&str; 6] = ["address", "addr", "location", "position", "pos", "start"];

/// A unit that follows the name of a column, in brackets or after the last `_`.
#[derive(Clone, Copy)]
enum Counted {
    In(TimeUnit),
    Bytes(Unit),
    Sectors,
}

const UNITS: [(Counted, &[&str]); 8] = [
    (
        Counted::In(TimeUnit::Seconds),
        &["s", "sec", "secs", "second", "seconds"],
    ),
    (
        Counted::In(TimeUnit::Milliseconds),
        &["ms", "msec", "msecs", "millisecond", "milliseconds"],
    ),
    (
        Counted::In(TimeUnit::Microseconds),
        &[
            "us",
            "\u{b5}s",
            "\u{3bc}s",
            "usec",
            "usecs",
            "microsecond",
            "microseconds",
        ],
    ),
    (
        Counted::In(TimeUnit::Nanoseconds),
        &["ns", "nsec", "nsecs", "nanosecond", "nanoseconds"],
    ),
    (Counted::Bytes(Unit::Byte), &["b", "byte", "bytes"]),
    (Counted::Bytes(Unit::Kibibyte), &["k", "kb", "kib"]),
    (Counted::Bytes(Unit::Block), &["block", "blocks"]),
    (Counted::Sectors, &["sector", "sectors", "lba", "512b"]),
];

/// The content of the column called `name`, and the unit of time if `name` contains one. `name` is in lower
/// case. `in_sectors` says whether a column of the table has the address in sectors. Returns `None` if the name
/// is unknown.
fn known(name: &str, in_sectors: bool) -> Option<(Field, Option<TimeUnit>)> {
    if let Some((_, field)) = NAMES.iter().find(|(own, _)| *own == name) {
        return Some((*field, None));
    }
    let plain = |text: &str| {
        let text = text.trim_matches([' ', '_', '-', '.', ':']);
        text.replace([' ', '-', '.'], "_")
    };
    let subject = |name: &str| {
        let row = OTHER_NAMES.iter().find(|(_, names)| names.contains(&name));
        row.map(|(subject, _)| *subject)
    };
    let unit = |text: &str| {
        let row = UNITS.iter().find(|(_, names)| names.contains(&text));
        row.map(|(counted, _)| *counted)
    };
    let whole = plain(name);
    if let Some(subject) = subject(&whole) {
        return Some((field(subject, None, in_sectors)?, None));
    }
    let brackets = name.split_once(['(', '[']);
    let inside =
        brackets.map(|(front, rest)| (plain(front), plain(rest.trim_end_matches([')', ']']))));
    let behind = || {
        let (front, unit) = whole.rsplit_once('_')?;
        Some((front.to_owned(), unit.to_owned()))
    };
    let (front, counted) = inside.or_else(behind)?;
    let (front, counted) = (
        front.trim_end_matches("_in"),
        unit(counted.trim_start_matches("in_"))?,
    );
    let subject = subject(front).or_else(|| PLACES.contains(&front).then_some(Subject::Offset))?;
    let time = match counted {
        Counted::In(unit) => Some(unit),
        Counted::Bytes(_) | Counted::Sectors => None,
    };
    Some((field(subject, Some(counted), in_sectors)?, time))
}

/// The content of a column with the quantity `subject` in the unit `counted`; `None` if the quantity cannot
/// have this unit.
fn field(subject: Subject, counted: Option<Counted>, in_sectors: bool) -> Option<Field> {
    Some(match (subject, counted) {
        (Subject::Time, None | Some(Counted::In(_))) => Field::Time,
        (Subject::Volume, None) => Field::Volume,
        (Subject::Operation, None) => Field::Operation,
        (Subject::Stream, None) => Field::Stream,
        (Subject::Offset, None) => Field::Offset(Unit::Byte),
        (Subject::Sector, None) => Field::Sector,
        (Subject::Bytes, None) => Field::Bytes(Unit::Byte),
        (Subject::Sectors, None) => Field::Sectors,
        (Subject::Blocks, None) => Field::Bytes(Unit::Block),
        (Subject::Length, None) if in_sectors => Field::Sectors,
        (Subject::Length, None) => Field::Bytes(Unit::Byte),
        (Subject::Offset | Subject::Sector, Some(Counted::Bytes(unit))) => Field::Offset(unit),
        (Subject::Offset | Subject::Sector, Some(Counted::Sectors)) => Field::Sector,
        (Subject::Bytes | Subject::Sectors | Subject::Length, Some(Counted::Bytes(unit))) => {
            Field::Bytes(unit)
        }
        (Subject::Bytes | Subject::Sectors | Subject::Length, Some(Counted::Sectors)) => {
            Field::Sectors
        }
        _ => return None,
    })
}

/// The contents of the columns called `names`, and the unit of the times if a name contains it. `other` is
/// called for each unknown name, and returns the content of that column, or an error.
pub(super) fn fields(
    names: &[String],
    other: impl Fn(&str) -> Result<Field, String>,
) -> Result<(Vec<Field>, Option<TimeUnit>), String> {
    // A table with a column `op` may have further columns that other programs use for operations, such as `type`.
    let has_op = names.iter().any(|name| name == "op");
    let known = |name: &String, in_sectors| {
        known(name, in_sectors)
            .filter(|(field, _)| *field != Field::Operation || name == "op" || !has_op)
    };
    let is_sector = |name: &String| matches!(known(name, false), Some((Field::Sector, _)));
    let in_sectors = names.iter().any(is_sector);
    let mut time_unit = None;
    let mut fields = Vec::new();
    for name in names {
        fields.push(match known(name, in_sectors) {
            Some((field, unit)) => {
                time_unit = time_unit.or(unit);
                field
            }
            None => other(name)?,
        });
    }
    Ok((fields, time_unit))
}

/// Says which required column is missing or doubled in a first line with `names`. `None` if fewer than two
/// names are known, or if every required column occurs exactly once.
pub(super) fn missing(names: &[String]) -> Option<String> {
    let (fields, _) = fields(names, |_| Ok(Field::Ignored)).ok()?;
    let known: Vec<String> = fields
        .iter()
        .zip(names)
        .filter(|(field, _)| **field != Field::Ignored)
        .map(|(_, name)| format!("{name:?}"))
        .collect();
    if known.len() < 2 {
        return None;
    }
    /// The name of the required column that `field` fills; `None` for an optional column.
    fn needed(field: &Field) -> Option<&'static str> {
        match field {
            Field::Time => Some(NEEDS[0]),
            Field::Sector | Field::Offset(_) => Some(NEEDS[1]),
            Field::Sectors | Field::Bytes(_) => Some(NEEDS[2]),
            _ => None,
        }
    }
    const NEEDS: [&str; 3] = ["time", "offset (in bytes) or sector", "bytes or sectors"];
    // Other accepted names for each required column, as examples in the error message.
    let others = [
        "timestamp, ts, arrival_time or time_ms",
        "lba, start_sector, byte_offset, offset_kib or address_bytes",
        "size, length, io_size, size_kib, nr_sectors or nblocks",
    ];
    let wrong = NEEDS.iter().zip(others).filter_map(|(name, others)| {
        let all = fields.iter().filter(|field| needed(field) == Some(name));
        match all.count() {
            1 => None,
            0 => Some(format!("no column {name} (also called {others})")),
            count => Some(format!("{count} columns for {name}")),
        }
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() {
        return None;
    }
    let unknown = fields.iter().zip(names);
    let unknown = unknown
        .filter(|(field, name)| **field == Field::Ignored && !matches!(name.as_str(), "" | "-"));
    let unknown: Vec<String> = unknown.map(|(_, name)| format!("{name:?}")).collect();
    let unknown = match unknown.as_slice() {
        [] => String::new(),
        [one] => format!(", and {one} is not known"),
        all => format!(", and {} are not known", all.join(", ")),
    };
    Some(format!(
        "{} beside {}{unknown}",
        wrong.join(" and "),
        known.join(", ")
    ))
}

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
            "host",
            "hostname",
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
            "req_type",
            "optype",
            "dir",
            "io_direction",
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
/// Names of volumes that name no volume if the table has a column for it, as the tables of `msr` have.
const HOSTS: [&str; 2] = ["host", "hostname"];
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
    (
        Counted::Sectors,
        &["sector", "sectors", "lba", "512b", "512b_sectors"],
    ),
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
    let is_host = |name: &String| HOSTS.contains(&name.as_str());
    let is_volume =
        |name: &String| matches!(known(name, false), Some((Field::Volume, _))) && !is_host(name);
    let has_volume = names.iter().any(is_volume);
    let known = |name: &String, in_sectors| {
        known(name, in_sectors).filter(|(field, _)| match field {
            Field::Operation => name == "op" || !has_op,
            Field::Volume => !has_volume || !is_host(name),
            _ => true,
        })
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

/// What is wrong with a first line that names some columns, but not exactly those that a trace needs.
pub(crate) struct Wrong {
    /// The columns that are missing or doubled, the known columns, and the unknown ones.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

/// The columns of which a table has at most one. Each row has the names that `trace.columns` accepts, and other
/// names as examples. The table may lack the volume, and the operation if the user names the operation.
const NEEDS: [(&str, &str); 5] = [
    ("time", "timestamp, ts, arrival_time or time_ms"),
    (
        "offset or sector",
        "lba, start_sector, byte_offset, offset_kib or address_bytes",
    ),
    (
        "bytes or sectors",
        "size, length, io_size, size_kib, nr_sectors or nblocks",
    ),
    ("op", "rw, type, operation or io_type"),
    ("volume", "device, disk or lun"),
];
/// The number of the operation in `NEEDS`.
const OPERATION: usize = 3;

/// The sign of a column that the user has to name.
const OPEN: &str = "?";

/// The number in `NEEDS` of the column that `field` fills; `None` if a request needs no such column.
fn need(field: Field) -> Option<usize> {
    match field {
        Field::Time => Some(0),
        Field::Sector | Field::Offset(_) => Some(1),
        Field::Sectors | Field::Bytes(_) => Some(2),
        Field::Operation | Field::IsWrite | Field::IsRead => Some(OPERATION),
        Field::Volume => Some(4),
        Field::Fua | Field::Stream | Field::Ignored => None,
    }
}

/// Says which column is missing or doubled in a first line with `names`, which `separator` separates.
/// `needs_operation` says whether a column has to hold the operation. `None` if fewer than two names are known,
/// or if no column is missing or doubled.
pub(super) fn wrong(separator: char, names: &[String], needs_operation: bool) -> Option<Wrong> {
    let (fields, time_unit) = fields(names, |_| Ok(Field::Ignored)).ok()?;
    let quoted = |wanted: &dyn Fn(Field, &str) -> bool| -> Vec<String> {
        let all = fields.iter().zip(names);
        all.filter(|(field, name)| wanted(**field, name))
            .map(|(_, name)| format!("{name:?}"))
            .collect()
    };
    let known = quoted(&|field, _| field != Field::Ignored);
    if known.len() < 2 {
        return None;
    }
    let count = |number: usize| {
        let of = fields.iter().filter(|field| need(**field) == Some(number));
        of.count()
    };
    let is_sound = |number: usize| match count(number) {
        0 => number > OPERATION || number == OPERATION && !needs_operation,
        count => count == 1,
    };
    let unsound: Vec<usize> = (0..NEEDS.len())
        .filter(|number| !is_sound(*number))
        .collect();
    if unsound.is_empty() {
        return None;
    }
    let told = unsound
        .iter()
        .map(|number| match (count(*number), NEEDS[*number]) {
            (0, (name, others)) => format!("no column {name} (also called {others})"),
            (count, (name, _)) => format!("{count} columns for {name}"),
        });
    let told: Vec<String> = told.collect();
    let unknown = quoted(&is_unknown);
    let unknown = match unknown.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} is not known"),
        all => format!("; {} are not known", all.join(", ")),
    };
    let pattern = fields.iter().zip(names).map(|(field, name)| {
        let is_open = is_unknown(*field, name) || need(*field).is_some_and(|it| !is_sound(it));
        match (field, time_unit) {
            _ if is_open => OPEN.to_owned(),
            (Field::Time, Some(unit)) => format!("time_{}", unit.name()),
            _ => {
                let row = NAMES.iter().find(|(_, known)| known == field);
                row.map_or("-", |row| row.0).to_owned()
            }
        }
    });
    let pattern: Vec<String> = pattern.collect();
    let wanted: Vec<&str> = unsound.iter().map(|number| NEEDS[*number].0).collect();
    let mut expected = "one of each among the names".to_owned();
    if pattern.iter().any(|name| name == OPEN) {
        // In names that the user types, a blank also means a tab.
        let separator = if separator == '\t' { ' ' } else { separator };
        expected.push_str(&format!(
            ", or trace.columns={}, where each {OPEN} is {} or - (a column that is ignored)",
            pattern.join(&separator.to_string()),
            wanted.join(" or "),
        ));
    } else {
        expected.push_str(", or trace.columns with the right names in place of them");
    }
    if unsound.contains(&OPERATION) && count(OPERATION) == 0 {
        expected.push_str("; trace.missing_op=read or write replaces the column op");
    }
    Some(Wrong {
        found: format!(
            "{}; it has {}{unknown}",
            told.join(" and "),
            known.join(", ")
        ),
        expected,
    })
}

/// Whether a column with the name `name` and the content `field` is ignored because its name is not known.
pub(super) fn is_unknown(field: Field, name: &str) -> bool {
    field == Field::Ignored && !matches!(name, "" | "-") && known(name, false).is_none()
}

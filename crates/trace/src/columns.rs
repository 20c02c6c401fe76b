//! The columns of a table whose layout the user names: `time,op,offset,bytes`; or a table whose first line names its columns in other words.

mod heading;

use std::str::FromStr;

use crate::decode::State;
use crate::format::TimeUnit;

/// The content of a column of such a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Time,
    Volume,
    Operation,
    /// 1 for a write, 0 for a read.
    IsWrite,
    /// 1 for a read, 0 for a write.
    IsRead,
    Sector,
    Sectors,
    /// The beginning of a request, in bytes or a multiple of them.
    Offset(Unit),
    /// The length of a request, in bytes or a multiple of them.
    Bytes(Unit),
    Fua,
    Stream,
    Ignored,
}

/// The unit of an offset or a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Byte,
    Kibibyte,
    /// As many bytes as `trace.block_bytes` says.
    Block,
}

impl Unit {
    /// Bytes in one.
    #[inline(always)]
    pub fn bytes(self, state: &State) -> u64 {
        match self {
            Self::Byte => 1,
            Self::Kibibyte => 1024,
            Self::Block => state.choices.block_bytes,
        }
    }
}

const NAMES: [(&str, Field); 16] = [
    ("time", Field::Time),
    ("volume", Field::Volume),
    ("op", Field::Operation),
    ("write", Field::IsWrite),
    ("read", Field::IsRead),
    ("sector", Field::Sector),
    ("sectors", Field::Sectors),
    ("offset", Field::Offset(Unit::Byte)),
    ("bytes", Field::Bytes(Unit::Byte)),
    ("offset_kib", Field::Offset(Unit::Kibibyte)),
    ("kib", Field::Bytes(Unit::Kibibyte)),
    ("block", Field::Offset(Unit::Block)),
    ("blocks", Field::Bytes(Unit::Block)),
    ("fua", Field::Fua),
    ("stream", Field::Stream),
    ("-", Field::Ignored),
];

/// The columns of a table, in order, and their separator.
///
/// ```
/// use destage_trace::options::Columns;
/// assert!("time,op,offset,bytes".parse::<Columns>().is_ok());
/// assert!("time op offset bytes".parse::<Columns>().is_ok());
/// let expected = "time,op".parse::<Columns>().unwrap_err();
/// assert!(expected.starts_with("one of sector and offset"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The byte between columns; a blank stands for any number of blanks and tabs.
    pub(crate) separator: u8,
    pub(crate) fields: Vec<Field>,
    /// Whether one of them says what a request does.
    pub(crate) has_operation: bool,
    /// The unit of the times, where the name of their column says it, as `time (s)` does.
    pub(crate) time_unit: Option<TimeUnit>,
}

impl FromStr for Columns {
    type Err = String;

    /// From the names of the columns: `time`, `volume`, `op` (read, write, flush, trim or their first letter), `write`
    /// or `read` (1 or 0), `sector` or `offset` (in bytes, or `offset_kib`, or `block`, of which `trace.block_bytes` says how large they
    /// are), `sectors` or `bytes` (`kib`, `blocks`), `fua` (1 or 0), `stream`, `-` for a column that plays no part; also by the
    /// names that other programs give them (`timestamp`, `rw`, `lba`, `size`). The character between the names is also the separator of the columns:
    /// a comma, a semicolon, a tab, a bar or blanks.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text, |_| {
            let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            Err(format!("columns out of {}", known.join(", ")))
        })
    }
}

impl Columns {
    /// From the first line of a table. Its columns by other names are ignored.
    pub(crate) fn of_header(text: &str) -> Result<Self, String> {
        Self::named(text, |_| Ok(Field::Ignored))
    }

    /// The columns that the first line of a table lacks, if it names some known columns and not all that are needed.
    pub(crate) fn missing(text: &str) -> Option<String> {
        heading::missing(&names(text).1)
    }

    /// From names, where `other` says what the unknown columns hold.
    fn named(text: &str, other: impl Fn(&str) -> Result<Field, String>) -> Result<Self, String> {
        let (separator, names) = names(text);
        let (fields, time_unit) = heading::fields(&names, other)?;
        let count =
            |wanted: &dyn Fn(&Field) -> bool| fields.iter().filter(|field| wanted(field)).count();
        let once = |wanted: &dyn Fn(&Field) -> bool, names: &str| {
            (count(wanted) == 1)
                .then_some(())
                .ok_or(format!("one of {names}, once, among the columns"))
        };
        once(
            &|field| matches!(field, Field::Sector | Field::Offset(_)),
            "sector and offset (or offset_kib, block)",
        )?;
        once(
            &|field| matches!(field, Field::Sectors | Field::Bytes(_)),
            "sectors and bytes (or kib, blocks)",
        )?;
        once(&|field| *field == Field::Time, "time")?;
        let operations =
            count(&|field| matches!(field, Field::Operation | Field::IsWrite | Field::IsRead));
        let single = [Field::Volume, Field::Fua, Field::Stream];
        if operations > 1 || single.iter().any(|one| count(&|field| field == one) > 1) {
            return Err(
                "at most one of op, write and read, one volume, one fua and one stream".to_owned(),
            );
        }
        Ok(Self {
            separator: u8::try_from(separator).expect("separators are ASCII"),
            fields,
            has_operation: operations == 1,
            time_unit,
        })
    }
}

/// The separator of the names in `text`, and the names in lower case.
fn names(text: &str) -> (char, Vec<String>) {
    let text = text.trim_matches([' ', '\r', '\n']);
    let separator = [',', ';', '\t', '|']
        .into_iter()
        .find(|separator| text.contains(*separator))
        .unwrap_or(' ');
    // A name in quotes may hold a separator.
    let mut is_quoted = false;
    let ends_name = |letter: char| {
        is_quoted ^= letter == '"';
        letter == separator && !is_quoted
    };
    let names = text
        .split(ends_name)
        .map(|name| name.trim().trim_matches('"').trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() || separator != ' ');
    (separator, names.collect())
}

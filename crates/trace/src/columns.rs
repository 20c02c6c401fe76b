//! The columns of a table. The user names the columns, as in `time,op,offset,bytes`, or the first line of the
//! file names them. The names in a file may be those that other programs use.

mod heading;

use std::str::FromStr;

use crate::decode::State;
use crate::format::TimeUnit;
use heading::Wrong;

/// The content of one column of a table.
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
    /// The first byte of a request, counted in this unit.
    Offset(Unit),
    /// The length of a request, counted in this unit.
    Bytes(Unit),
    Fua,
    Stream,
    Ignored,
}

/// The unit of an offset or of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Byte,
    Kibibyte,
    /// A block of `trace.block_bytes` bytes.
    Block,
}

impl Unit {
    /// The number of bytes in one unit.
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

/// The columns of a table in their order, and the character that separates them.
///
/// ```
/// use destage_trace::options::Columns;
/// assert!("time,op,offset,bytes".parse::<Columns>().is_ok());
/// assert!("time op offset bytes".parse::<Columns>().is_ok());
/// let expected = "time,op".parse::<Columns>().unwrap_err();
/// assert!(expected.starts_with("exactly one of sector and offset"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The byte between two columns; a blank means any number of blanks and tabs.
    pub(crate) separator: u8,
    pub(crate) fields: Vec<Field>,
    /// Whether a column holds the operation of a request.
    pub(crate) has_operation: bool,
    /// The unit of the times, if the name of the time column contains it, as `time (s)` does.
    pub(crate) time_unit: Option<TimeUnit>,
    /// The names of columns that are ignored because their names are not known.
    pub(crate) unknown: Vec<String>,
}

impl FromStr for Columns {
    type Err = String;

    /// Reads the names of the columns.
    ///
    /// * Required, each once: `time`; the address as `sector`, `offset` (bytes), `offset_kib` or `block`; the
    ///   length as `sectors`, `bytes`, `kib` or `blocks`. `trace.block_bytes` is the size of a block.
    /// * At most one column for the operation: `op` (read, write, flush, trim or their first letter), `write`
    ///   (1 or 0) or `read` (1 or 0).
    /// * Optional: `volume`, `fua` (1 or 0), `stream`, and `-` for each column that is ignored.
    ///
    /// Names that other programs use are accepted as well (`timestamp`, `rw`, `lba`, `size`). The character
    /// between the names is also the separator of the columns: a comma, a semicolon, a tab, a bar or blanks.
    ///
    /// # Errors
    /// If a required column is missing or named twice, or a name is unknown; the text says what is expected.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text, |unknown| {
            let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            Err(format!(
                "columns out of {} (a column that is ignored), but {unknown:?} is none of these",
                known.join(", ")
            ))
        })
    }
}

impl Columns {
    /// Reads the columns from the first line of a table. Columns with unknown names are ignored.
    pub(crate) fn of_header(text: &str) -> Result<Self, String> {
        Self::named(text, |_| Ok(Field::Ignored))
    }

    /// Says which column is missing or doubled in the first line `text` of a table. `needs_operation` says
    /// whether a column has to hold the operation. `None` if `text` names fewer than two known columns, or if no
    /// column is missing or doubled.
    pub(crate) fn wrong(text: &str, needs_operation: bool) -> Option<Wrong> {
        let (separator, names) = names(text);
        heading::wrong(separator, &names, needs_operation)
    }

    /// Reads the columns from their names. `other` is called for each unknown name, and returns the content of
    /// that column, or an error.
    fn named(text: &str, other: impl Fn(&str) -> Result<Field, String>) -> Result<Self, String> {
        let (separator, names) = names(text);
        let (fields, time_unit) = heading::fields(&names, other)?;
        let count =
            |wanted: &dyn Fn(&Field) -> bool| fields.iter().filter(|field| wanted(field)).count();
        let once = |wanted: &dyn Fn(&Field) -> bool, names: &str| {
            (count(wanted) == 1)
                .then_some(())
                .ok_or(format!("exactly one of {names} among the columns"))
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
        let unknown = fields.iter().zip(&names);
        let unknown = unknown.filter(|(field, name)| heading::is_unknown(**field, name));
        let unknown = unknown.map(|(_, name)| name.clone()).collect();
        Ok(Self {
            separator: u8::try_from(separator).expect("separators are ASCII"),
            fields,
            has_operation: operations == 1,
            time_unit,
            unknown,
        })
    }
}

/// The separator between the names in `text`, and the names in lower case.
fn names(text: &str) -> (char, Vec<String>) {
    let text = text.trim_matches([' ', '\r', '\n']);
    let separator = [',', ';', '\t', '|']
        .into_iter()
        .find(|separator| text.contains(*separator))
        .unwrap_or(' ');
    // A name in quotes may contain the separator.
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

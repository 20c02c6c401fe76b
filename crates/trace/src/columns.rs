//! The columns of a table whose layout the user names: `time,op,offset,bytes`.

use std::str::FromStr;

/// What a column of such a table holds.
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
    Offset,
    Bytes,
    Fua,
    Stream,
    Ignored,
}

const NAMES: [(&str, Field); 12] = [
    ("time", Field::Time),
    ("volume", Field::Volume),
    ("op", Field::Operation),
    ("write", Field::IsWrite),
    ("read", Field::IsRead),
    ("sector", Field::Sector),
    ("sectors", Field::Sectors),
    ("offset", Field::Offset),
    ("bytes", Field::Bytes),
    ("fua", Field::Fua),
    ("stream", Field::Stream),
    ("-", Field::Ignored),
];

/// The columns of a table, in order, and what stands between them.
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
}

impl FromStr for Columns {
    type Err = String;

    /// From the names of the columns: `time`, `volume`, `op` (read, write, flush, trim or their first letter), `write`
    /// or `read` (1 or 0), `sector` or `offset` (in bytes), `sectors` or `bytes`, `fua` (1 or 0), `stream`, `-` for a column that
    /// plays no part. What stands between the names stands between the columns: a comma, a semicolon, a tab, a bar or blanks.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim_matches([' ', '\r', '\n']);
        let separator = [',', ';', '\t', '|']
            .into_iter()
            .find(|separator| text.contains(*separator))
            .unwrap_or(' ');
        let mut fields = Vec::new();
        for name in text.split(separator) {
            let name = name.trim().to_ascii_lowercase();
            if name.is_empty() && separator == ' ' {
                continue;
            }
            let Some((_, field)) = NAMES.iter().find(|(known, _)| *known == name) else {
                let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
                return Err(format!("columns out of {}", known.join(", ")));
            };
            fields.push(*field);
        }
        let count = |wanted: &[Field]| fields.iter().filter(|field| wanted.contains(field)).count();
        let exactly = |wanted: &[Field], names: &str| {
            (count(wanted) == 1)
                .then_some(())
                .ok_or(format!("one of {names}, once, among the columns"))
        };
        exactly(&[Field::Sector, Field::Offset], "sector and offset")?;
        exactly(&[Field::Sectors, Field::Bytes], "sectors and bytes")?;
        exactly(&[Field::Time], "time")?;
        let operations = count(&[Field::Operation, Field::IsWrite, Field::IsRead]);
        let once = [Field::Volume, Field::Fua, Field::Stream];
        if operations > 1 || once.iter().any(|field| count(&[*field]) > 1) {
            return Err(
                "at most one of op, write and read, one volume, one fua and one stream".to_owned(),
            );
        }
        Ok(Self {
            separator: u8::try_from(separator).expect("separators are ASCII"),
            fields,
            has_operation: operations == 1,
        })
    }
}

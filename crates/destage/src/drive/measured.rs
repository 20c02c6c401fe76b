//! Measurements of a drive: CSV files with one measurement in each row, recognised by their columns.

use std::path::Path;

use destage_sim::error::SimError;

use super::fio;
use crate::error::Error;

/// The experiment that a file of measurements comes from. Each experiment has its own columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Response times of 4 KiB reads and writes as a function of the load, in steady state (`latency.csv`).
    Latency,
    /// Write amplification and the host's write rate while a drive is written (`waf.csv`).
    Fill,
    /// Requests per second and response times as a function of the queue depth (`queue-depth.csv`).
    Depth,
    /// Six saturated rates (`rates.csv`).
    Rates,
}

/// For each shape: its name in error messages, and the columns that a file must have.
const SHAPES: [(Shape, &str, &[&str]); 4] = [
    (
        Shape::Latency,
        "latency over load",
        &[
            "drive",
            "offered_writes_per_s",
            "writes_per_s",
            "reads_per_s",
            "op",
            "percentile",
            "us_median_of_3",
            "us_low",
            "us_high",
        ],
    ),
    (
        Shape::Fill,
        "write amplification over bytes written",
        &[
            "drive",
            "run",
            "started",
            "used_gib",
            "pattern",
            "detail",
            "block_bytes",
            "drive_writes",
            "waf",
            "host_mib_per_s",
        ],
    ),
    (
        Shape::Depth,
        "queue depth",
        &[
            "drive",
            "op",
            "block_bytes",
            "iodepth",
            "jobs",
            "iops",
            "p50_us",
            "p99_us",
        ],
    ),
    (
        Shape::Rates,
        "saturated rates",
        &[
            "drive",
            "capacity",
            "rbps",
            "rseqiops",
            "rrandiops",
            "wbps",
            "wseqiops",
            "wrandiops",
        ],
    ),
];

impl Shape {
    /// The experiment in words, as error messages name it.
    #[must_use]
    pub fn words(self) -> &'static str {
        let row = SHAPES.iter().find(|(shape, ..)| *shape == self);
        row.map_or("", |(_, words, _)| words)
    }
}

/// A line of a file of measurements, or a job in a result of fio.
#[derive(Clone, Debug)]
pub struct Row {
    /// The number of the line or of the job in the file, from 1.
    pub line: u64,
    /// The text of each of [`Measurements::columns`] in this line.
    pub fields: Vec<String>,
}

/// A file of measurements.
#[derive(Clone, Debug)]
pub struct Measurements {
    /// The path of the file, as given.
    pub file: String,
    /// The experiment that the file comes from.
    pub shape: Shape,
    /// The column names, from the first line of the file.
    pub columns: Vec<String>,
    /// The other lines of the file that describe the selected drive.
    pub rows: Vec<Row>,
}

#[cfg(test)]
impl Measurements {
    /// The file with these columns and rows, whose fields are separated by commas. The rows begin in line 2.
    pub fn of_lines<T: AsRef<str>>(shape: Shape, columns: &[&str], lines: &[T]) -> Self {
        let row = |(line, text): (u64, &T)| Row {
            line,
            fields: text.as_ref().split(',').map(str::to_owned).collect(),
        };
        Self {
            file: "table.csv".to_owned(),
            shape,
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: (2..).zip(lines).map(row).collect(),
        }
    }
}

impl Measurements {
    /// Reads the file at `path`: CSV, or the JSON that `fio --output-format=json` writes. In the JSON each job is a
    /// row of [`Shape::Depth`], and the file's name is the name of the drive. If the file describes several drives,
    /// `drive` selects one by its name in the column `drive`. A part of the name suffices if it occurs in no other
    /// name.
    ///
    /// # Errors
    /// If the file cannot be read, its columns fit no [`Shape`], a line has a wrong number of fields, or `drive` does
    /// not select exactly one drive. The error names the file, the line or the job if there is one, and what was
    /// expected.
    pub fn read(path: &Path, drive: Option<&str>) -> Result<Self, Error> {
        let file = path.display().to_string();
        let wrong = |what: String| Error::Input(format!("{file}: {what}"));
        let text =
            std::fs::read(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        Self::parse(&text, &file, drive)
    }

    /// Reads `text` as [`Self::read`] reads the file at the path `file`, whose ending decides the format.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    pub fn parse(text: &[u8], file: &str, drive: Option<&str>) -> Result<Self, Error> {
        let wrong = |what: String| Error::Input(format!("{file}: {what}"));
        let path = Path::new(file);
        if is_of_fio(path) {
            let text = std::str::from_utf8(text);
            let text = text.map_err(|error| wrong(format!("cannot be read: {error}")))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let (columns, rows) = fio::rows(text, &name).map_err(wrong)?;
            let mut measurements = Self {
                file: file.to_owned(),
                shape: Shape::Depth,
                columns,
                rows,
            };
            measurements.keep_drive(drive)?;
            return Ok(measurements);
        }
        let mut reader = ::csv::ReaderBuilder::new()
            .trim(::csv::Trim::All)
            .from_reader(text);
        let header = reader.headers();
        let header = header.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let columns: Vec<String> = header.iter().map(str::to_owned).collect();
        let shape = shape_of(&columns).map_err(&wrong)?;
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| wrong(error.to_string()))?;
            let line = record.position().map_or(0, ::csv::Position::line);
            let fields = record.iter().map(str::to_owned).collect();
            rows.push(Row { line, fields });
        }
        let mut measurements = Self {
            file: file.to_owned(),
            shape,
            columns,
            rows,
        };
        measurements.keep_drive(drive)?;
        Ok(measurements)
    }

    /// Drops the rows of all drives except the one that `wanted` selects.
    fn keep_drive(&mut self, wanted: Option<&str>) -> Result<(), Error> {
        let mut drives: Vec<String> = Vec::new();
        for row in &self.rows {
            let drive = self.text(row, "drive");
            if !drives.iter().any(|known| known == drive) {
                drives.push(drive.to_owned());
            }
        }
        let named = |what: &str| {
            let list: Vec<_> = drives.iter().map(|drive| format!("{drive:?}")).collect();
            let list = list.join(", ");
            Error::argument("drive", format!("{what}; {} has {list}", self.file))
        };
        let chosen = match (wanted, drives.as_slice()) {
            (_, []) => {
                let file = &self.file;
                return Err(Error::Input(format!(
                    "{file}: no rows; expected a line for each measurement"
                )));
            }
            (None, [one]) => one.clone(),
            (None, _) => {
                return Err(named(
                    ": the file holds several drives; expected one of them",
                ));
            }
            (Some(wanted), all) => {
                let exact = all.iter().find(|drive| *drive == wanted);
                let parts: Vec<_> = all.iter().filter(|drive| drive.contains(wanted)).collect();
                match (exact, parts.as_slice()) {
                    (Some(one), _) => one.clone(),
                    (None, [one]) => (*one).clone(),
                    (None, []) => return Err(named(&format!(" {wanted:?}: no such drive"))),
                    (None, _) => return Err(named(&format!(" {wanted:?}: several drives"))),
                }
            }
        };
        let column = self.columns.iter().position(|name| name == "drive");
        self.rows
            .retain(|row| column.is_some_and(|column| row.fields[column] == chosen));
        Ok(())
    }

    /// The name of the drive that all rows describe; empty if there are no rows.
    #[must_use]
    pub fn drive(&self) -> &str {
        self.rows.first().map_or("", |row| self.text(row, "drive"))
    }

    /// The text of `row` in `column`; empty if there is no such column.
    #[must_use]
    pub fn text<'r>(&self, row: &'r Row, column: &str) -> &'r str {
        let place = self.columns.iter().position(|name| name == column);
        place.map_or("", |place| &row.fields[place])
    }

    /// The file and the position of `row` in it: `rates.csv, line 2`, or `disk.json, job 2`.
    pub(super) fn place(&self, row: &Row) -> String {
        let unit = match is_of_fio(Path::new(&self.file)) {
            true => "job",
            false => "line",
        };
        format!("{}, {unit} {}", self.file, row.line)
    }

    /// The error that the cell of `row` in `column` is not what was `expected`.
    pub(super) fn wrong(&self, row: &Row, column: &str, expected: &str) -> Error {
        Error::Input(format!(
            "{}: {column}: {:?}: expected {expected}",
            self.place(row),
            self.text(row, column)
        ))
    }

    /// The error `cause` of a simulated drive, as an error about the cell of `row` in `column`, which is the reason.
    pub(super) fn because(&self, row: &Row, column: &str, cause: Error) -> Error {
        match cause {
            Error::Interrupted | Error::Internal(_) => cause,
            cause => Error::Config(SimError::Config(format!(
                "{}: {column}: {:?}: {cause}",
                self.place(row),
                self.text(row, column)
            ))),
        }
    }

    /// The number of `row` in `column`, which has to be finite and not negative.
    ///
    /// # Errors
    /// If the cell holds no such number. The error has the file, the line, the column and the text.
    pub fn number(&self, row: &Row, column: &str) -> Result<f64, Error> {
        let number = self.text(row, column).parse::<f64>().ok();
        number
            .filter(|number| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.wrong(row, column, "a number that is not negative"))
    }

    /// The number of `row` in `column`, which has to be above 0.
    ///
    /// # Errors
    /// If the cell holds no such number. The error has the file, the line, the column and the text.
    pub fn positive(&self, row: &Row, column: &str) -> Result<f64, Error> {
        let number = self.number(row, column)?;
        match number > 0.0 {
            true => Ok(number),
            false => Err(self.wrong(row, column, "a number above 0")),
        }
    }

    /// The whole number of `row` in `column`, which has to be from 1 to `most`.
    ///
    /// # Errors
    /// If the cell holds no such number. The error has the file, the line, the column and the text.
    pub fn whole(&self, row: &Row, column: &str, most: u64) -> Result<u64, Error> {
        let number = self.text(row, column).parse::<f64>().ok();
        number
            .filter(|number| number.fract() == 0.0 && (1.0..=most as f64).contains(number))
            .map(|number| number as u64)
            .ok_or_else(|| self.wrong(row, column, &format!("a whole number from 1 to {most}")))
    }
}

/// Whether the file at `path` is a result of fio.
fn is_of_fio(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

/// The shape whose columns all occur among `columns`.
fn shape_of(columns: &[String]) -> Result<Shape, String> {
    let missing = |needed: &[&'static str]| -> Vec<&'static str> {
        let absent = |name: &&&str| !columns.iter().any(|column| column == **name);
        needed.iter().filter(absent).copied().collect()
    };
    let mut nearest: Option<(&str, Vec<&str>)> = None;
    for (shape, words, needed) in SHAPES {
        let missing = missing(needed);
        if missing.is_empty() {
            return Ok(shape);
        }
        if nearest
            .as_ref()
            .is_none_or(|(_, least)| missing.len() < least.len())
        {
            nearest = Some((words, missing));
        }
    }
    let (words, missing) = nearest.unwrap_or_default();
    let is_known = |column: &String| {
        SHAPES
            .iter()
            .any(|(_, _, needed)| needed.contains(&column.as_str()))
    };
    let expected = match columns.iter().any(is_known) {
        true => format!("for {words}, the file also needs {}", missing.join(", ")),
        false => {
            let kinds = SHAPES.map(|(_, words, needed)| format!("{} ({words})", needed.join(",")));
            format!(
                "expected the columns of one kind of measurement: {}",
                kinds.join("; ")
            )
        }
    };
    Err(format!(
        "the columns {} belong to no kind of measurement; {expected}",
        columns.join(",")
    ))
}

//! Several runs as one table, with the settings in which they differ and the few metrics that distinguish buffers.

use std::collections::BTreeMap;

use destage::sim::metrics::rows;
use destage::words::{remark, short_names};
use destage::{Error, Facts, Record};
use terminal_size::{Width, terminal_size};

use crate::output::numbers;
use crate::output::table::{Side, Table};

/// A column: a heading of two lines, and a function that returns the cell of a run.
pub(crate) struct Column {
    /// The two lines of the heading, the upper one first.
    pub(crate) head: [&'static str; 2],
    /// Alignment of the cells.
    pub(crate) side: Side,
    cell: Cell,
}

/// How the cell of a run is made.
enum Cell {
    Of(fn(&Record) -> Option<String>),
    /// The name of the trace, by the whole name of the trace.
    Trace(BTreeMap<String, String>),
}

impl Column {
    /// The cell of `record`; a dash if the run does not have this metric.
    pub(crate) fn cell(&self, record: &Record) -> String {
        self.text(record).unwrap_or_else(|| "-".to_owned())
    }

    fn text(&self, record: &Record) -> Option<String> {
        match &self.cell {
            Cell::Of(text) => text(record),
            Cell::Trace(names) => names.get(&record.trace).cloned(),
        }
    }

    /// The column of the traces of `records`.
    fn of_traces(records: &[Record]) -> Self {
        let names = short_names(records.iter().map(|record| record.trace.as_str()));
        let names = names
            .into_iter()
            .map(|(trace, name)| (trace.to_owned(), name));
        Self {
            head: ["", "trace"],
            side: Side::Left,
            cell: Cell::Trace(names.collect()),
        }
    }
}

const fn number(head: [&'static str; 2], cell: fn(&Record) -> Option<String>) -> Column {
    Column {
        head,
        side: Side::Right,
        cell: Cell::Of(cell),
    }
}

fn metric(record: &Record, name: &str) -> Option<String> {
    record.metrics.get(name).map(numbers::metric)
}

/// The line width that is assumed if the terminal does not report its width.
const WIDTH: usize = 100;
/// The columns that are left out, in this order, if the table is wider than a line. JSON and CSV have all columns.
const SPARE: [[&str; 2]; 6] = [
    ["", "evictions"],
    ["pages per", "destage"],
    ["destaged", "pages"],
    ["response", "p99 ms"],
    ["waf", "host"],
    ["write", "hits %"],
];

/// Width of a line in characters: the value of `COLUMNS`, or the width of the terminal.
pub(crate) fn width() -> usize {
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let of_terminal = || terminal_size().map(|(Width(columns), _)| usize::from(columns));
    said.or_else(of_terminal).unwrap_or(WIDTH)
}

const BUFFER: Column = Column {
    head: ["", "buffer"],
    side: Side::Left,
    cell: Cell::Of(|record| Some(record.buffer.clone())),
};
const SIZE: Column = number(["", "size"], |record| record.capacity().map(numbers::bytes));
const FTL: Column = Column {
    head: ["", "ftl"],
    side: Side::Left,
    cell: Cell::Of(|record| Some(record.ftl.clone())),
};

/// The reason why a run has no metrics, in a few words. The whole sentence is printed separately.
const FAILED: Column = Column {
    head: ["", "failed"],
    side: Side::Left,
    cell: Cell::Of(|record| {
        let word = match **record.error.as_ref()? {
            Error::DeviceFull(_) => "device too small",
            _ => "not possible",
        };
        Some(word.to_owned())
    }),
};

const METRICS: [Column; 8] = [
    number(["response", "mean ms"], |record| {
        metric(record, &rows::RESPONSE.of("mean"))
    }),
    number(["response", "p99 ms"], |record| {
        metric(record, &rows::RESPONSE.of("p99"))
    }),
    number(["write", "hits %"], |record| {
        record
            .write_hit_percent()
            .map(|percent| format!("{percent:.1}"))
    }),
    number(["", "evictions"], |record| {
        metric(record, rows::BUFFER_EVICTIONS.name)
    }),
    number(["destaged", "pages"], |record| {
        metric(record, rows::BUFFER_DESTAGED_PAGES.name)
    }),
    number(["pages per", "destage"], |record| {
        metric(record, rows::BUFFER_MEAN_DESTAGE_PAGES.name)
    }),
    number(["", "erases"], |record| {
        metric(record, rows::FLASH_ERASES.name)
    }),
    number(["waf", "host"], |record| {
        metric(record, rows::WAF_HOST.name)
    }),
];

/// The columns that identify a run: the buffer, and trace, size and layer if `records` differ in them.
pub(crate) fn identity(records: &[Record]) -> Vec<Column> {
    let differ = |column: &Column| {
        let mut cells = records.iter().map(|record| column.cell(record));
        let first = cells.next();
        cells.any(|cell| Some(cell) != first)
    };
    let mut columns = Vec::new();
    columns.extend(Some(Column::of_traces(records)).filter(differ));
    columns.push(BUFFER);
    columns.extend([SIZE, FTL].into_iter().filter(differ));
    columns
}

/// The columns for `records`: those that identify a run, and those metrics that at least one of them has.
pub(crate) fn columns(records: &[Record]) -> Vec<Column> {
    let mut columns = identity(records);
    let present = |column: &Column| records.iter().any(|record| column.text(record).is_some());
    columns.extend(METRICS.into_iter().chain([FAILED]).filter(present));
    columns
}

/// Sentences with the size of the device that `flash.blocks_per_plane = auto`, or a wanted size, gives for each input.
pub(crate) fn sizings(inputs: &[Facts]) -> Vec<String> {
    let sentence = |facts: &Facts| {
        let sizing = facts.sizing?;
        // A device of about the wanted size needs no note.
        if sizing
            .capacity_bytes
            .is_some_and(|bytes| sizing.flash_bytes / 2 <= bytes)
        {
            return None;
        }
        let of = match inputs.len() {
            1 => String::new(),
            _ => format!("{}: ", facts.name),
        };
        let why = match (sizing.capacity_bytes, sizing.end_bytes) {
            (Some(bytes), _) => format!("that offers at least {}", numbers::size(bytes)),
            (None, Some(end)) => format!("for addresses up to {}", numbers::size(end)),
            (None, None) => "for an input that is read only once".to_owned(),
        };
        Some(format!(
            "{of}flash.blocks_per_plane={} (auto): {} device {why}",
            sizing.blocks_per_plane,
            numbers::size(sizing.flash_bytes)
        ))
    };
    inputs.iter().filter_map(sentence).collect()
}

/// The table as text. If it is too wide for the terminal, some metrics are left out.
pub(crate) fn table(records: &[Record]) -> String {
    let mut columns = columns(records);
    let (width, mut spare) = (width(), SPARE.iter());
    loop {
        let text = text(&columns, records);
        if text.lines().all(|line| line.chars().count() <= width) {
            return text;
        }
        let Some(head) = spare.next() else {
            return text;
        };
        columns.retain(|column| column.head != *head);
    }
}

/// The table with all of its columns.
pub(crate) fn whole(records: &[Record]) -> Table {
    laid_out(&columns(records), records)
}

/// The headings of the metrics' columns, and the names of the metrics, for results that are not records.
pub(crate) fn metric_columns() -> impl Iterator<Item = ([&'static str; 2], String)> {
    let names = [
        rows::RESPONSE.of("mean"),
        rows::RESPONSE.of("p99"),
        rows::BUFFER_WRITE_HITS_PERCENT.name.to_owned(),
        rows::BUFFER_EVICTIONS.name.to_owned(),
        rows::BUFFER_DESTAGED_PAGES.name.to_owned(),
        rows::BUFFER_MEAN_DESTAGE_PAGES.name.to_owned(),
        rows::FLASH_ERASES.name.to_owned(),
        rows::WAF_HOST.name.to_owned(),
    ];
    METRICS.into_iter().map(|column| column.head).zip(names)
}

fn text(columns: &[Column], records: &[Record]) -> String {
    laid_out(columns, records).text()
}

fn laid_out(columns: &[Column], records: &[Record]) -> Table {
    let mut table = Table::new(columns.iter().map(|column| column.side).collect());
    for line in 0..2 {
        table.row(columns.iter().map(|column| column.head[line]));
    }
    table.rule();
    for record in records {
        table.row(columns.iter().map(|column| column.cell(record)));
    }
    table
}

/// Notes that are needed to understand the table, as whole lines; empty if there are none.
pub(crate) fn remarks(records: &[Record]) -> String {
    let width = width();
    let lines = |text: String| format!("\n{}\n", wrapped(&text, width));
    remark(records).map_or_else(String::new, lines)
}

/// `text` broken into lines of at most `width` characters. A word that is longer than a line gets a separate line.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let letters = word.chars().count();
        if used > 0 && used + 1 + letters > width {
            lines.push('\n');
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += letters;
    }
    lines
}

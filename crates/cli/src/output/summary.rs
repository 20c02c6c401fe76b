//! Several runs as one table: what they differ in, and the few metrics that tell buffers apart.

use destage::sim::metrics::rows;
use destage::{Error, Facts, Record};
use terminal_size::{Width, terminal_size};

use crate::output::numbers;
use crate::output::table::{Side, Table};

/// A column: two lines of heading, and a cell of a run.
pub(crate) struct Column {
    /// Above each other.
    pub(crate) head: [&'static str; 2],
    /// Where its cells stand.
    pub(crate) side: Side,
    cell: fn(&Record) -> Option<String>,
}

impl Column {
    /// The cell of `record`; a dash for what has no meaning in it.
    pub(crate) fn cell(&self, record: &Record) -> String {
        (self.cell)(record).unwrap_or_else(|| "-".to_owned())
    }
}

const fn number(head: [&'static str; 2], cell: fn(&Record) -> Option<String>) -> Column {
    Column {
        head,
        side: Side::Right,
        cell,
    }
}

fn metric(record: &Record, name: &str) -> Option<String> {
    record.metrics.get(name).map(numbers::metric)
}

/// Characters in a line where no terminal says how many it has.
const WIDTH: usize = 100;
/// Columns that are left out first where the table is wider than a line. Machine output has all.
const SPARE: [[&str; 2]; 6] = [
    ["", "evictions"],
    ["pages per", "destage"],
    ["destaged", "pages"],
    ["response", "p99 ms"],
    ["waf", "host"],
    ["write", "hits %"],
];

/// Characters in a line: what `COLUMNS` says, or the terminal.
pub(crate) fn width() -> usize {
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let of_terminal = || terminal_size().map(|(Width(columns), _)| usize::from(columns));
    said.or_else(of_terminal).unwrap_or(WIDTH)
}

/// Longest name of a trace that is shown whole.
const NAME: usize = 24;

const TRACE: Column = Column {
    head: ["", "trace"],
    side: Side::Left,
    cell: |record| Some(short(&record.trace)),
};
const BUFFER: Column = Column {
    head: ["", "buffer"],
    side: Side::Left,
    cell: |record| Some(record.buffer.clone()),
};
const SIZE: Column = number(["", "size"], |record| record.capacity().map(numbers::bytes));
const FTL: Column = Column {
    head: ["", "ftl"],
    side: Side::Left,
    cell: |record| Some(record.ftl.clone()),
};

/// Why there are no metrics. The whole sentence stands beside the table.
const FAILED: Column = Column {
    head: ["", "failed"],
    side: Side::Left,
    cell: |record| {
        let word = match **record.error.as_ref()? {
            Error::DeviceFull(_) => "device too small",
            _ => "not possible",
        };
        Some(word.to_owned())
    },
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

/// The columns that tell `records` apart.
pub(crate) fn identity(records: &[Record]) -> Vec<Column> {
    let differ = |column: &Column| {
        let mut cells = records.iter().map(|record| column.cell(record));
        let first = cells.next();
        cells.any(|cell| Some(cell) != first)
    };
    let mut columns = Vec::new();
    columns.extend(Some(TRACE).filter(differ));
    columns.push(BUFFER);
    columns.extend([SIZE, FTL].into_iter().filter(differ));
    columns
}

/// The columns for `records`: those that differ, and the metrics any of them has.
pub(crate) fn columns(records: &[Record]) -> Vec<Column> {
    let mut columns = identity(records);
    let present = |column: &Column| records.iter().any(|record| (column.cell)(record).is_some());
    columns.extend(METRICS.into_iter().chain([FAILED]).filter(present));
    columns
}

/// What all runs have in common: the input on one line, what simulates it on the other.
pub(crate) fn heading(records: &[Record]) -> String {
    let Some(first) = records.first() else {
        return String::new();
    };
    let mut parts = Vec::new();
    let same = |value: fn(&Record) -> Option<String>| {
        let common = value(first);
        records
            .iter()
            .all(|record| value(record) == common)
            .then_some(common)
            .flatten()
    };
    let trace = same(|record| Some(format!("{}\n", record.trace))).unwrap_or_default();
    parts.extend(same(|record| {
        record
            .capacity()
            .map(|bytes| format!("buffer of {}", numbers::bytes(bytes)))
    }));
    parts.extend(same(|record| Some(format!("FTL {}", record.ftl))));
    parts.push(device(records));
    format!("{trace}{}", parts.join(", "))
}

/// The counts of the device on which all of `records` ran. Their blocks may differ where they follow from input or layer.
pub(crate) fn device(records: &[Record]) -> String {
    let counts = |name: &'static str| records.iter().filter_map(move |record| record.whole(name));
    let count = |name| counts(name).next().unwrap_or(0);
    let blocks = || counts("flash.blocks_per_plane");
    let blocks = match (blocks().min(), blocks().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (Some(blocks), _) => blocks.to_string(),
        _ => "auto".to_owned(),
    };
    format!(
        "{} dies x {} planes x {blocks} blocks x {} pages of {}",
        count("flash.dies"),
        count("flash.planes_per_die"),
        count("flash.pages_per_block"),
        numbers::bytes(count("flash.page_bytes"))
    )
}

/// What became of `flash.blocks_per_plane = auto`; a sentence for each input where it follows from that.
pub(crate) fn sizings(inputs: &[Facts]) -> Vec<String> {
    let sentence = |facts: &Facts| {
        let sizing = facts.sizing?;
        let of = match inputs.len() {
            1 => String::new(),
            _ => format!("{}: ", facts.name),
        };
        let why = match sizing.end_bytes {
            Some(end) => format!("for addresses up to {}", numbers::size(end)),
            None => "for an input that is read only once".to_owned(),
        };
        Some(format!(
            "{of}flash.blocks_per_plane={} (auto): {} device {why}",
            sizing.blocks_per_plane,
            numbers::size(sizing.flash_bytes)
        ))
    };
    inputs.iter().filter_map(sentence).collect()
}

/// The table as text: as many of the metrics as a terminal is wide.
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

fn text(columns: &[Column], records: &[Record]) -> String {
    let mut table = Table::new(columns.iter().map(|column| column.side).collect());
    for line in 0..2 {
        table.row(columns.iter().map(|column| column.head[line]));
    }
    table.rule();
    for record in records {
        table.row(columns.iter().map(|column| column.cell(record)));
    }
    table.text()
}

/// What tells a run from the others, in words.
pub(crate) fn name(record: &Record) -> String {
    let size = record
        .capacity()
        .map(|bytes| format!(" of {}", numbers::bytes(bytes)));
    format!(
        "{} on {}{}, FTL {}",
        record.trace,
        record.buffer,
        size.unwrap_or_default(),
        record.ftl
    )
}

/// Which runs failed, and why; a sentence each.
pub(crate) fn failures(records: &[Record]) -> Vec<String> {
    let failed = records.iter().filter_map(|record| {
        let error = record.error.as_ref()?;
        Some(format!("{}: {error}", name(record)))
    });
    failed.collect()
}

/// Warnings for a reader of the numbers: runs that did not see all of their requests.
pub(crate) fn notes(records: &[Record]) -> Vec<String> {
    let is = |record: &&Record, name: &str| record.metric(name) == Some(1.0);
    let saturated = records
        .iter()
        .filter(|record| is(record, rows::HOST_SATURATED.name))
        .map(|record| {
            format!(
                "{}: stopped when host.saturation = {} requests were outstanding; its metrics cover the {} that had arrived",
                name(record),
                record.whole("host.saturation").unwrap_or(0),
                count(record, rows::HOST_REQUESTS.name)
            )
        });
    let worn_out = records
        .iter()
        .filter(|record| is(record, rows::DEVICE_WORN_OUT.name))
        .map(|record| {
            format!(
                "{}: worn out: {} of {} blocks were erased flash.endurance = {} times and retired; its metrics cover the {} requests that had completed",
                name(record),
                count(record, rows::WEAR_BLOCKS_RETIRED.name),
                numbers::whole(blocks(record)),
                record.whole("flash.endurance").unwrap_or(0),
                count(record, rows::HOST_COMPLETED.name)
            )
        });
    let overload = records.iter().filter_map(|record| {
        let all = record.metric(&rows::RESPONSE.of("mean"))?;
        let within = record.metric(&rows::DEVICE_RESPONSE.of("mean"))?;
        (all > OVERLOAD * within).then(|| {
            format!(
                "{}: overload: a request takes {} ms on average, {} ms of them in the device and the rest waiting for it; either it is asked for more than it can do, or the times of the trace are in another unit (trace.time_unit, host.time_scale)",
                name(record),
                numbers::real(all),
                numbers::real(within)
            )
        })
    });
    saturated.chain(worn_out).chain(overload).collect()
}

/// Of how much longer a request takes than the device needs for it, on average, is said that it is overload.
const OVERLOAD: f64 = 10.0;

/// What a reader of the table has to know to read it; whole lines, or nothing.
pub(crate) fn remarks(records: &[Record]) -> String {
    let width = width();
    let lines = |text: String| format!("\n{}\n", wrapped(&text, width));
    remark(records).map_or_else(String::new, lines)
}

/// `text` in lines of at most `width` characters, where its words allow that.
fn wrapped(text: &str, width: usize) -> String {
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

/// Which runs had nothing to clean.
pub(crate) fn remark(records: &[Record]) -> Option<String> {
    let with_flash = || {
        let erases = records
            .iter()
            .map(|record| record.metric(rows::FLASH_ERASES.name));
        erases.flatten()
    };
    let (clean, all) = (
        with_flash().filter(|erases| *erases == 0.0).count(),
        with_flash().count(),
    );
    let which = match (clean, all) {
        (0, _) => return None,
        (1, 1) => "No block was erased".to_owned(),
        _ if clean == all => "No block was erased in any run".to_owned(),
        _ => format!("No block was erased in {clean} of {all} runs"),
    };
    Some(format!(
        "{which}: nothing had to be cleaned there, so erases and WAF mean nothing yet. A smaller device (flash.blocks_per_plane), a longer trace, or one that is full before (sim.precondition = random_fill:1) has to clean."
    ))
}

fn count(record: &Record, metric: &str) -> String {
    numbers::whole(record.metric(metric).unwrap_or(0.0) as u64)
}

/// Blocks of the device.
fn blocks(record: &Record) -> u64 {
    let keys = [
        "flash.dies",
        "flash.planes_per_die",
        "flash.blocks_per_plane",
    ];
    keys.iter()
        .map(|key| record.whole(key).unwrap_or(0))
        .product()
}

/// The file's name without its folder, its end if it is long: that is where names differ.
pub(crate) fn short(trace: &str) -> String {
    let is_path = !trace.contains(':');
    let name = trace
        .rsplit('/')
        .next()
        .filter(|_| is_path)
        .unwrap_or(trace);
    let count = name.chars().count();
    if count <= NAME {
        return name.to_owned();
    }
    let end: String = name.chars().skip(count - NAME + 2).collect();
    format!("..{end}")
}

//! The text that `--explain` adds to `run` and `compare`.

use destage::Record;
use destage::explained::{PartMeans, means, words};

use crate::output::table::{Side, Table};
use crate::output::{numbers, summary};

/// A table of mean times, and sentences that say where the time of `record` went. Empty if the user did not request
/// an explanation.
pub(crate) fn of_run(record: &Record) -> String {
    let Some(explained) = &record.explained else {
        return String::new();
    };
    let rows = means(explained);
    let mut text = String::new();
    if let Some(first) = rows.first() {
        let mut sides = vec![Side::Left];
        sides.extend([Side::Right].repeat(first.parts.len() + 2));
        let mut table = Table::new(sides);
        let names = first.parts.iter().map(|(name, _)| (*name).to_owned());
        let head = ["mean ms", "requests", "response"].map(str::to_owned);
        table.row(head.into_iter().chain(names));
        for row in &rows {
            table.row(cells(row));
        }
        text = format!("\n{}", table.within(summary::width()));
    }
    for sentence in words(explained) {
        text.push_str(&format!("\n{sentence}"));
    }
    // Only a run with a clock has response times to explain. Otherwise the text stays empty.
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn cells(row: &PartMeans) -> Vec<String> {
    let times = row.parts.iter().map(|(_, time)| numbers::real(*time));
    let first = [
        row.name.clone(),
        numbers::whole(row.requests),
        numbers::real(row.response_ms),
    ];
    first.into_iter().chain(times).collect()
}

/// One line for each run that says why its slow requests were slow.
pub(crate) fn of_runs(records: &[Record]) -> String {
    let lines = records.iter().filter_map(|record| {
        let sentence = words(record.explained.as_ref()?).into_iter().next()?;
        let size = record.capacity().map_or(String::new(), |bytes| {
            format!(", {}", numbers::bytes(bytes))
        });
        Some(format!(
            "{}{size}, FTL {}: {sentence}\n",
            record.buffer, record.ftl
        ))
    });
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\n{lines}"),
    }
}

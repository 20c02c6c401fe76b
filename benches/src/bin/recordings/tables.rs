//! Writes tables that compare recordings with their stand-ins, as Markdown.
//!
//! The file `list` in the folder has lines `NAME|STAND-IN|WHAT IT WAS`. For each line, the folder has the statistics
//! and the runs of the recording and of the stand-in, in JSON files of `destage`: `NAME.recorded.info`,
//! `NAME.recorded.runs`, `NAME.stand-in.info` and `NAME.stand-in.runs`.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::Failure;

/// Columns of the first table: heading, statistic, divisor, digits after the decimal point.
const STATISTICS: [(&str, &str, f64, usize); 9] = [
    ("writes", "writes", 1.0, 0),
    ("flushes", "flushes", 1.0, 0),
    ("MB written", "bytes_written", 1e6, 1),
    ("KB a write", "write_mean_bytes", 1e3, 1),
    ("footprint, MB", "footprint_bytes", 1e6, 1),
    ("rewritten", "rewrite_share", 0.01, 1),
    ("sequential", "sequential_write_share", 0.01, 1),
    ("PIRD, median", "pird.p50", 1.0, 0),
    ("BIRD, median", "bird.p50", 1.0, 0),
];

/// Writes `tables.md` into `folder`.
pub fn write(folder: &Path) -> Result<(), Failure> {
    let list = std::fs::read_to_string(folder.join("list"))?;
    let lines = list.lines().map(|line| line.split('|').collect::<Vec<_>>());
    let (mut statistics, mut evictions) = (statistics_head(), String::new());
    for line in lines {
        let [name, stand_in, what] = line[..] else {
            return Err("list: expected NAME|STAND-IN|WHAT".into());
        };
        let read = |part: &str| -> Result<Value, Failure> {
            let path = folder.join(format!("{name}.{part}"));
            let text = std::fs::read_to_string(&path)
                .map_err(|cause| format!("{}: {cause}", path.display()))?;
            Ok(serde_json::from_str(&text)?)
        };
        for (who, part) in [(what, "recorded"), (stand_in, "stand-in")] {
            let info = read(&format!("{part}.info"))?;
            let name = if part == "recorded" { name } else { "" };
            statistics += &statistics_row(name, who, &info["statistics"])?;
        }
        let table = evictions_of(&read("recorded.runs")?, &read("stand-in.runs")?)?;
        write!(
            evictions,
            "### {name}: {what}, and `{stand_in}`\n\n{table}\n"
        )?;
    }
    std::fs::write(
        folder.join("tables.md"),
        format!("{statistics}\n{evictions}"),
    )?;
    Ok(())
}

fn statistics_head() -> String {
    let headings = STATISTICS.map(|(heading, ..)| heading).join(" | ");
    format!(
        "| | what | {headings} |\n|---|---|{}\n",
        "--:|".repeat(STATISTICS.len())
    )
}

fn statistics_row(name: &str, who: &str, statistics: &Value) -> Result<String, Failure> {
    let mut row = format!("| {name} | {who} |");
    for (_, key, divisor, digits) in STATISTICS {
        match statistics[key].as_f64() {
            Some(number) => write!(row, " {:.digits$} |", number / divisor)?,
            None => row += " - |",
        }
    }
    row += "\n";
    Ok(row)
}

/// A table with a row for each buffer and size. The row has the evictions per 1000 page writes and the pages per
/// destage, both for the recording and for the stand-in.
fn evictions_of(recorded: &Value, stand_in: &Value) -> Result<String, Failure> {
    let mut text = "| buffer | size | evictions, recorded | stand-in | pages a destage, recorded | stand-in |\n|---|--:|--:|--:|--:|--:|\n".to_owned();
    let both = [recorded, stand_in].map(|document| document["runs"].as_array());
    let [Some(recorded), Some(stand_in)] = both else {
        return Err("runs: expected a list of runs".into());
    };
    for (first, second) in recorded.iter().zip(stand_in) {
        let of = |run: &Value| {
            let number = |name: &str| run["metrics"][name].as_f64();
            let writes = number("host.page_writes").filter(|writes| *writes > 0.0)?;
            let evictions = number("buffer.evictions")? * 1000.0 / writes;
            Some((
                evictions,
                number("buffer.mean_destage_pages").unwrap_or_default(),
            ))
        };
        let parameters = &first["parameters"];
        let buffer = parameters["buffer.kind"].as_str().unwrap_or_default();
        let size = parameters["buffer.capacity_bytes"]
            .as_u64()
            .unwrap_or_default()
            >> 20;
        let (Some(first), Some(second)) = (of(first), of(second)) else {
            return Err(format!("{buffer}: a run has no page writes").into());
        };
        writeln!(
            text,
            "| `{buffer}` | {size} MiB | {:.2} | {:.2} | {:.1} | {:.1} |",
            first.0, second.0, first.1, second.1
        )?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn evictions_are_counted_for_a_thousand_page_writes() {
        let runs = |writes: u64, evictions: u64| {
            json!({"runs": [{
                "parameters": {"buffer.kind": "lru", "buffer.capacity_bytes": 1 << 22},
                "metrics": {"host.page_writes": writes, "buffer.evictions": evictions, "buffer.mean_destage_pages": 2},
            }]})
        };
        let text = evictions_of(&runs(2000, 50), &runs(500, 50)).unwrap();
        let row = "| `lru` | 4 MiB | 25.00 | 100.00 | 2.0 | 2.0 |";
        assert_eq!(text.lines().last(), Some(row));
        assert!(evictions_of(&runs(0, 0), &runs(1, 1)).is_err());
    }
}

//! Writes the tables of the measurements, as Markdown.

use std::fmt::Write;

use crate::Failure;
use crate::live::{Row, number};
use crate::logs::percentile;

/// The percentiles of the response times that the table shows, as shares of the requests.
const SHARES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

/// The duration of a run in seconds. Metrics of the model give the duration in model time, and metrics of the client
/// give it in real time.
fn seconds(metrics: &serde_json::Value) -> Result<f64, Failure> {
    Ok(number(metrics, "host.completed")? / number(metrics, "throughput.iops")?)
}

/// The rate at which the live device accepted written data, in MB per second of real time.
fn written_mb_per_s(row: &Row) -> Result<f64, Failure> {
    Ok(number(&row.live, "host.bytes_written")? / 1e6 / seconds(&row.client)?)
}

/// The tables of one input, as Markdown.
pub fn of(name: &str, rows: &[Row]) -> Result<String, Failure> {
    let mut text = format!("### {name}\n\n");
    text += "| buffer | counts, MB/s | model alone, s | live, s | live, MB/s | destage records | pages destaged | erases | switch merges | full merges | differs from the run |\n";
    text += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n";
    for row in rows {
        let live = seconds(&row.client)?;
        let alone = seconds(&row.alone)?;
        let count = |name| number(&row.live, name);
        writeln!(
            text,
            "| `{}` | {:.3} | {alone:.3} | {live:.3} | {:.3} | {} | {} | {} | {} | {} | {} |",
            row.buffer,
            row.counted_mb_per_s,
            written_mb_per_s(row)?,
            row.records,
            count("buffer.destaged_pages").unwrap_or_default(),
            count("flash.erases")?,
            count("ftl.merges.switch")?,
            count("ftl.merges.full")?,
            row.difference.as_deref().unwrap_or("nowhere"),
        )?;
    }
    text += "\nBPLRU against the others, throughput in %:\n\n| against | by counts | live |\n|---|--:|--:|\n";
    if let Some((bplru, others)) = rows.split_last() {
        for other in others {
            let gain = |new: f64, base: f64| 100.0 * (new / base - 1.0);
            let counted = gain(bplru.counted_mb_per_s, other.counted_mb_per_s);
            let live = gain(written_mb_per_s(bplru)?, written_mb_per_s(other)?);
            writeln!(text, "| `{}` | {counted:+.1} | {live:+.1} |", other.buffer)?;
        }
    }
    text += "\nResponse times in ms; late is the server's part of the time by which the client's times exceed the model's:\n\n";
    text += "| buffer | | 50 % | 90 % | 99 % | 99.9 % | maximum |\n|---|---|--:|--:|--:|--:|--:|\n";
    for row in rows {
        let [model, client] = &row.responses;
        let more: Vec<f64> = client
            .iter()
            .zip(model)
            .map(|(seen, own)| seen - own)
            .collect();
        let sets = [
            ("model", model),
            ("client", client),
            ("client - model", &more),
        ];
        for (index, (who, times)) in sets.into_iter().enumerate() {
            let buffer = if index == 0 {
                format!("`{}`", row.buffer)
            } else {
                String::new()
            };
            write!(text, "| {buffer} | {who} |")?;
            let mut sorted = times.clone();
            sorted.sort_by(f64::total_cmp);
            for share in SHARES {
                write!(
                    text,
                    " {:.3} |",
                    percentile(&sorted, share).unwrap_or_default()
                )?;
            }
            text += "\n";
        }
        let [half, most] = row.late_ms;
        writeln!(text, "| | late | {half:.3} | | {most:.3} | | |")?;
    }
    text += "\n";
    Ok(text)
}

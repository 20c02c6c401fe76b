//! Statistics of a trace as JSON, with conclusions in sentences.

use destage_trace::request::SECTOR_BYTES;
use destage_trace::statistics::{Grid, Histogram, Load, Number as Statistic, Statistics};
use serde_json::{Map, Value, json};

use crate::manifest::Manifest;
use crate::numbers;
use crate::trace_metrics::Inspection;

impl Inspection {
    /// `{"manifest", "conclusions", "statistics": {name: value}, "volumes": [...], "shape"}`: the output of
    /// `destage trace info --json`. docs/TRACES.md describes the content of `"shape"`.
    #[must_use]
    pub fn to_json(&self, manifest: &Manifest) -> String {
        let values = self.rows().into_iter().map(|row| {
            let value = match row.value {
                Statistic::Whole(number) => json!(number),
                Statistic::Decimal(number) => json!(number),
            };
            (row.of.name.to_owned(), value)
        });
        let values: Map<String, Value> = values.collect();
        let volumes = self.collector.by_volume().map(|volume| {
            json!({
                "volume": volume.volume,
                "requests": volume.requests,
                "bytes_read": volume.bytes_read,
                "bytes_written": volume.bytes_written,
            })
        });
        let volumes: Vec<Value> = volumes.collect();
        crate::json::text(&json!({
            "manifest": manifest.single(),
            "conclusions": self.conclusions(),
            "statistics": values,
            "volumes": volumes,
            "shape": self.shape_json(),
        }))
    }

    /// Conclusions from the statistics; one sentence each.
    #[must_use]
    pub fn conclusions(&self) -> Vec<String> {
        let of = self.collector.finish();
        let mut sentences = vec![extent(&of)];
        if of.written_pages > 0 {
            let rewrites = of.rewrite_share.unwrap_or(0.0);
            sentences.push(format!(
                "Writes touch {} of different pages; {} % of page writes go to a page that was written before.",
                numbers::size(of.unique_written_pages.saturating_mul(of.page_bytes)),
                numbers::real(100.0 * rewrites)
            ));
        }
        if let Some(half) = self.shape.distances.page.percentile(50) {
            sentences.push(format!(
                "Half of all rewrites of a page come after at most {} other page writes.",
                numbers::whole(half)
            ));
        }
        let stack = &self.shape.distances.stack;
        if let (Some(half), Some(most)) = (stack.percentile(50), stack.percentile(90)) {
            // The buffer also has to hold the page itself.
            let bytes = |pages: u64| numbers::size((pages + 1).saturating_mul(of.page_bytes));
            sentences.push(format!(
                "An LRU buffer of {} absorbs half of these rewrites, one of {} absorbs 90 %.",
                bytes(half),
                bytes(most)
            ));
        }
        if let (Some(aligned), Some(sequential)) = (of.aligned_4kib_share, of.sequential_share) {
            sentences.push(format!(
                "{} % of reads and writes begin on a multiple of 4 KiB, {} % where the request before ended.",
                numbers::real(100.0 * aligned),
                numbers::real(100.0 * sequential)
            ));
        }
        sentences
    }

    fn shape_json(&self) -> Value {
        let shape = &self.shape;
        let hot = shape.hot_pages();
        json!({
            "page_bytes": self.collector.page_bytes(),
            "block_pages": shape.block_pages(),
            "load": load(&shape.load),
            "read_sectors": json!(shape.sizes[0].up_to_powers()),
            "write_sectors": json!(shape.sizes[1].up_to_powers()),
            "starts": self.collector.starts(),
            "gaps_us": cumulative(&shape.gaps),
            "page_distances": cumulative(&shape.distances.page),
            "block_distances": cumulative(&shape.distances.block),
            "stack_distances": cumulative(&shape.distances.stack),
            "footprint": shape.footprint(),
            "hot_pages": hot.iter().map(|row| json!([row.pages, row.blocks, row.writes, row.mean_distance])).collect::<Vec<_>>(),
            "reads_at": grid(&shape.places[0]),
            "writes_at": grid(&shape.places[1]),
        })
    }
}

/// A sentence with the number of requests, the share of writes, the time span and the rate.
fn extent(of: &Statistics) -> String {
    // Flushes and trims are requests, too, so this is not the share of writes among reads and writes.
    let share = of.writes as f64 / of.requests as f64;
    let writes = match of.write_share {
        Some(_) => format!(", {} % of them writes", numbers::real(100.0 * share)),
        None => String::new(),
    };
    let rate = match of.requests_per_s {
        Some(rate) if of.span_s > 0.0 => {
            format!(
                " in {} s, {} a second on average",
                numbers::real(of.span_s),
                numbers::real(rate)
            )
        }
        _ => String::new(),
    };
    format!("{} requests{writes}{rate}.", numbers::whole(of.requests))
}

/// A cumulative histogram: pairs of a value and the number of samples that are at most that value.
fn cumulative(histogram: &Histogram) -> Value {
    json!(histogram.cumulative())
}

/// The load over time: columns of counts in equal intervals.
fn load(load: &Load) -> Value {
    let column = |of: fn(&destage_trace::statistics::Interval) -> u64| -> Vec<u64> {
        load.intervals().iter().map(of).collect()
    };
    json!({
        "interval_us": load.interval(),
        "reads": column(|interval| interval.requests[0]),
        "writes": column(|interval| interval.requests[1]),
        "bytes_read": column(|interval| interval.sectors[0] * SECTOR_BYTES),
        "bytes_written": column(|interval| interval.sectors[1] * SECTOR_BYTES),
    })
}

/// The non-empty cells of a grid. Each cell has its time index, its address index and its count.
fn grid(grid: &Grid) -> Value {
    let [across, up] = Grid::SIZE;
    let all = (0..up).flat_map(|y| (0..across).map(move |x| (x, y, grid.count(x, y))));
    let cells: Vec<_> = all.filter(|(_, _, count)| *count > 0).collect();
    let [cell_us, cell_pages] = grid.cell();
    json!({ "cell_us": cell_us, "cell_pages": cell_pages, "cells": cells })
}

//! What a trace looks like, as one HTML file that needs nothing but itself.

use destage_trace::statistics::{Histogram, Number, Row, Shape};

use crate::manifest::Manifest;
use crate::output::charts::{Frame, Series, legend, lines, shares};
use crate::output::heatmap::{Axis, heatmap};
use crate::output::html::{escape, page};
use crate::output::numbers;

const SECTOR_BYTES: u64 = 512;

/// The page about one trace: `rows` are its statistics, pages have `page_bytes` bytes and blocks `block_pages` pages.
pub(crate) fn html(
    name: &str,
    manifest: &Manifest,
    rows: &[Row],
    shape: &Shape,
    (page_bytes, block_pages): (u64, u64),
) -> String {
    let mut body = format!(
        "<p>Pages of {}, blocks of {block_pages} pages. Distances are counted in page writes between two writes of the same page (PIRD), or between two page writes in the same block (BIRD); a page written twice in a row has distance 0.</p>\n",
        numbers::bytes(page_bytes)
    );
    let operations = [
        ("reads".to_owned(), 0, false),
        ("writes".to_owned(), 1, false),
    ];
    body.push_str(&legend(&operations));
    body.push_str("<div class=\"charts\">\n");
    let [reads, writes] = &shape.sizes;
    body.push_str(&distribution(
        "Requests below this size (%)",
        "size",
        // Below the next power of two, which is easier to read than one sector less.
        &|sectors| format!("<{}", numbers::bytes((sectors + 1) * SECTOR_BYTES)),
        &[("reads", 0, reads), ("writes", 1, writes)],
    ));
    body.push_str(&distribution(
        "Gaps between arrivals below this length (%)",
        "gap",
        &|microseconds| format!("<{}", duration(microseconds + 1)),
        &[("all requests", 2, &shape.gaps)],
    ));
    body.push_str(&distribution(
        "Rewrites of a page within this distance (%), PIRD",
        "page writes between",
        &numbers::whole,
        &[("writes", 1, &shape.page_distances)],
    ));
    body.push_str(&distribution(
        "Page writes to a block within this distance (%), BIRD",
        "page writes between",
        &numbers::whole,
        &[("writes", 1, &shape.block_distances)],
    ));
    body.push_str(&counted(
        "Different pages written",
        "page writes so far",
        "pages",
        &shape.footprint(),
    ));
    let hot = shape.hot_pages();
    let blocks: Vec<(u64, u64)> = hot.iter().map(|row| (row.0, row.1)).collect();
    body.push_str(&counted(
        "Blocks that the hottest pages lie in",
        "pages written most often",
        "blocks",
        &blocks,
    ));
    let time = Axis {
        name: "s from the first request",
        factor: 1e-6,
    };
    let address = Axis {
        name: "MiB",
        factor: page_bytes as f64 / f64::from(1 << 20),
    };
    for (title, grid) in [("Reads", &shape.places[0]), ("Writes", &shape.places[1])] {
        body.push_str(&heatmap(title, &time, &address, grid));
    }
    body.push_str("</div>\n<h2>Statistics</h2>\n<div class=\"wide\"><table>\n<tr><th class=\"left\">name</th><th>value</th><th class=\"left\">unit</th><th class=\"left\">meaning</th></tr>\n");
    for row in rows {
        let value = match row.value {
            Number::Whole(number) => numbers::whole(number),
            Number::Decimal(number) => numbers::real(number),
        };
        body.push_str(&format!(
            "<tr><td class=\"left\">{}</td><td>{value}</td><td class=\"left\">{}</td><td class=\"left about\">{}</td></tr>\n",
            row.name,
            row.unit,
            escape(row.about)
        ));
    }
    body.push_str("</table></div>\n");
    page(name, manifest, &body)
}

/// A time in us in the unit that keeps it short.
fn duration(microseconds: u64) -> String {
    match microseconds {
        0..1_000 => format!("{microseconds} us"),
        1_000..1_000_000 => format!("{:.1} ms", microseconds as f64 / 1e3),
        _ => format!("{:.1} s", microseconds as f64 / 1e6),
    }
}

/// A curve per histogram: the share of its values that are at most so large.
fn distribution(
    title: &str,
    axis: &str,
    label: &dyn Fn(u64) -> String,
    curves: &[(&str, usize, &Histogram)],
) -> String {
    let tables: Vec<_> = curves
        .iter()
        .map(|(_, _, histogram)| histogram.cumulative())
        .collect();
    let mut bounds: Vec<u64> = tables.iter().flatten().map(|row| row.0).collect();
    bounds.sort_unstable();
    bounds.dedup();
    if bounds.is_empty() {
        return String::new();
    }
    let places: Vec<String> = bounds.iter().map(|bound| label(*bound)).collect();
    let series: Vec<Series> = curves
        .iter()
        .zip(&tables)
        .filter(|(_, table)| !table.is_empty())
        .map(|((name, style, histogram), table)| {
            let at_most = |bound: &u64| {
                let below = table.iter().take_while(|row| row.0 <= *bound).last();
                let count = below.map_or(0, |row| row.1);
                Some(100.0 * count as f64 / histogram.total() as f64)
            };
            Series {
                name: (*name).to_owned(),
                style: *style,
                level: false,
                values: bounds.iter().map(at_most).collect(),
            }
        })
        .collect();
    let frame = Frame {
        title,
        axis,
        places: &places,
    };
    shares(&frame, &series)
}

/// A line through counts over counts.
fn counted(title: &str, axis: &str, name: &str, rows: &[(u64, u64)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let places: Vec<String> = rows.iter().map(|row| numbers::whole(row.0)).collect();
    let series = Series {
        name: name.to_owned(),
        style: 1,
        level: false,
        values: rows.iter().map(|row| Some(row.1 as f64)).collect(),
    };
    let frame = Frame {
        title,
        axis,
        places: &places,
    };
    lines(&frame, &[series])
}

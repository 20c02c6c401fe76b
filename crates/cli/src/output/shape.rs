//! What a trace looks like: its charts, and the HTML page of them that needs nothing but itself.

use destage_trace::request::SECTOR_BYTES;
use destage_trace::statistics::{Histogram, HotPages, Row, Shape};

use crate::output::charts::{Entry, Frame, Series, legend, lines, shares};
use crate::output::drawing::Drawing;
use crate::output::heatmap::{Axis, extent, heatmap};
use crate::output::html::{escape, page};
use crate::output::numbers;
use destage::Manifest;

/// The styles of what is compared: the same in all charts.
const READS: usize = 0;
const WRITES: usize = 1;
const ALL: usize = 2;
/// Times in us.
const TIME: Axis = Axis {
    factor: 1.0,
    units: &[
        ("us", 1.0),
        ("ms", 1e3),
        ("s", 1e6),
        ("min", 60e6),
        ("h", 3_600e6),
        ("days", 86_400e6),
    ],
};
/// Of addresses.
const ADDRESS_UNITS: &[(&str, f64)] = &[
    ("KiB", 1.0),
    ("MiB", (1_u64 << 10) as f64),
    ("GiB", (1_u64 << 20) as f64),
    ("TiB", (1_u64 << 30) as f64),
    ("PiB", (1_u64 << 40) as f64),
    ("EiB", (1_u64 << 50) as f64),
];

/// What is drawn of a trace, whatever it is drawn into.
pub(crate) struct Look {
    /// What must be known to read the charts, a sentence or two each.
    pub(crate) notes: [String; 2],
    /// What the colours mean.
    pub(crate) legend: Vec<Entry>,
    /// The charts, in the order they are best read. Their number is constant: a chart without data is empty.
    pub(crate) charts: Vec<Drawing>,
}

impl Look {
    /// Of a trace's `shape`; pages have `page_bytes` bytes.
    pub(crate) fn new(shape: &Shape, page_bytes: u64) -> Self {
        let entry = |name: &str, style| Entry {
            name: name.to_owned(),
            style,
            level: false,
        };
        Self {
            notes: [
                format!(
                    "Pages of {}, blocks of {} pages.",
                    numbers::bytes(page_bytes),
                    shape.block_pages()
                ),
                "Distances are counted in page writes between two writes of the same page (PIRD), or between two page writes in the same block (BIRD); a page written twice in a row has distance 0.".to_owned(),
            ],
            legend: vec![
                entry("reads", READS),
                entry("writes", WRITES),
                entry("all requests", ALL),
            ],
            charts: charts(shape, page_bytes),
        }
    }
}

fn charts(shape: &Shape, page_bytes: u64) -> Vec<Drawing> {
    let [reads, writes] = &shape.sizes;
    // Below the next power of two, which is easier to read than one sector less.
    let size = |sectors: u64| format!("<{}", numbers::bytes((sectors + 1) * SECTOR_BYTES));
    let gap = |microseconds: u64| format!("<{}", duration(microseconds + 1));
    let address = Axis {
        factor: page_bytes as f64 / 1024.0,
        units: ADDRESS_UNITS,
    };
    // Reads and writes on the same axes, to be compared.
    let extent = extent(&shape.places);
    let [reads_at, writes_at] = &shape.places;
    let hot = shape.hot_pages();
    let blocks: Vec<(u64, u64)> = hot.iter().map(|row| (row.pages, row.blocks)).collect();
    vec![
        distribution(
            "Requests below this size (%)",
            "size",
            &size,
            &[("reads", READS, reads), ("writes", WRITES, writes)],
            "no reads or writes",
        ),
        distribution(
            "Gaps between arrivals below this length (%)",
            "gap",
            &gap,
            &[("all requests", ALL, &shape.gaps)],
            "fewer than two requests",
        ),
        distribution(
            "Rewrites of a page within this distance (%), PIRD",
            "page writes between",
            &numbers::whole,
            &[("writes", WRITES, &shape.page_distances)],
            "no page is written twice",
        ),
        distribution(
            "Page writes to a block within this distance (%), BIRD",
            "page writes between",
            &numbers::whole,
            &[("writes", WRITES, &shape.block_distances)],
            "no block is written twice",
        ),
        counted(
            "Different pages written",
            "page writes so far",
            "pages",
            &shape.footprint(),
        ),
        counted(
            "Blocks that the hottest pages lie in",
            "pages written most often",
            "blocks",
            &blocks,
        ),
        concentration(&hot),
        mean_distances(&hot),
        heatmap("Reads", READS, (&TIME, &address), extent, reads_at),
        heatmap("Writes", WRITES, (&TIME, &address), extent, writes_at),
    ]
}

/// The page about one trace.
pub(crate) fn html(look: &Look, manifest: &Manifest, statistics: &[Row]) -> String {
    let mut body = format!("<p>{}</p>\n", escape(&look.notes.join(" ")));
    body.push_str(&legend(&look.legend, None));
    body.push_str("<div class=\"charts\">\n");
    body.extend(look.charts.iter().map(Drawing::in_page));
    body.push_str("</div>\n<h2>Statistics</h2>\n<div class=\"wide\"><table>\n<tr><th class=\"left\">name</th><th>value</th><th class=\"left\">unit</th><th class=\"left\">meaning</th></tr>\n");
    for row in statistics {
        body.push_str(&format!(
            "<tr><td class=\"left\">{}</td><td>{}</td><td class=\"left\">{}</td><td class=\"left about\">{}</td></tr>\n",
            row.of.name,
            numbers::statistic(row.value),
            row.of.unit,
            escape(row.of.about)
        ));
    }
    body.push_str("</table></div>\n");
    page(&manifest.names(), manifest, &body)
}

/// A time in us in the unit that keeps it short.
pub(crate) fn duration(microseconds: u64) -> String {
    let (number, name) = TIME.shown(microseconds as f64);
    match name {
        "us" => format!("{microseconds} us"),
        _ => format!("{} {name}", numbers::real(number)),
    }
}

/// A curve per histogram: the share of its values that are at most so large. `lacking` says why there are none.
fn distribution(
    title: &str,
    axis: &str,
    label: &dyn Fn(u64) -> String,
    curves: &[(&str, usize, &Histogram)],
    lacking: &str,
) -> Drawing {
    let tables: Vec<_> = curves
        .iter()
        .map(|(_, _, histogram)| histogram.cumulative())
        .collect();
    let mut bounds: Vec<u64> = tables.iter().flatten().map(|row| row.0).collect();
    bounds.sort_unstable();
    bounds.dedup();
    if bounds.is_empty() {
        return Drawing::empty(escape(title), lacking);
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
                ..Series::default()
            }
        })
        .collect();
    let frame = Frame {
        title,
        axis,
        places: &places,
        at: None,
    };
    shares(&frame, &series)
}

/// How much of all page writes the hottest pages get.
fn concentration(hot: &[HotPages]) -> Drawing {
    let title = "Page writes that go to the hottest pages (%)";
    let Some(all) = hot.last() else {
        return Drawing::empty(escape(title), "no writes");
    };
    let places: Vec<String> = hot.iter().map(|row| numbers::whole(row.pages)).collect();
    let share = |row: &HotPages| Some(100.0 * row.writes as f64 / all.writes as f64);
    let frame = Frame {
        title,
        axis: "pages written most often",
        places: &places,
        at: None,
    };
    shares(
        &frame,
        &[of_writes("share", hot.iter().map(share).collect())],
    )
}

/// How far rewrites of a page lie apart, from the hottest pages to the coldest.
fn mean_distances(hot: &[HotPages]) -> Drawing {
    let title = "Mean distance of a page's rewrites, PIRD";
    if hot.iter().all(|row| row.mean_distance.is_none()) {
        return Drawing::empty(escape(title), "no page is written twice");
    }
    let mut above = 0;
    let ranks = |row: &HotPages| {
        let first = std::mem::replace(&mut above, row.pages) + 1;
        match first == row.pages {
            true => numbers::whole(first),
            false => format!("from {}", numbers::whole(first)),
        }
    };
    let places: Vec<String> = hot.iter().map(ranks).collect();
    let frame = Frame {
        title,
        axis: "rank of the page, most often written first",
        places: &places,
        at: None,
    };
    let values = hot.iter().map(|row| row.mean_distance).collect();
    lines(&frame, &[of_writes("page writes between", values)])
}

/// The one series of a chart about writes.
fn of_writes(name: &str, values: Vec<Option<f64>>) -> Series {
    Series {
        name: name.to_owned(),
        style: WRITES,
        level: false,
        values,
        ..Series::default()
    }
}

/// A line through counts over counts.
fn counted(title: &str, axis: &str, name: &str, rows: &[(u64, u64)]) -> Drawing {
    if rows.is_empty() {
        return Drawing::empty(escape(title), "no writes");
    }
    let places: Vec<String> = rows.iter().map(|row| numbers::whole(row.0)).collect();
    let series = of_writes(name, rows.iter().map(|row| Some(row.1 as f64)).collect());
    let frame = Frame {
        title,
        axis,
        places: &places,
        at: None,
    };
    lines(&frame, &[series])
}

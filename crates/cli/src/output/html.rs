//! Results as one HTML file that needs nothing but itself.

use destage::sim::metrics::rows;
use destage_sim::metrics;

use crate::output::charts::{Entry, Frame, Series, bars, legend, lines};
use crate::output::drawing;
use crate::output::table::Side;
use crate::output::{numbers, setting, summary};
use destage::Manifest;
use destage::Record;

const STYLE: &str = "
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; margin: 2rem auto; max-width: 1120px; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.manifest { color: #555; font-size: .85rem; margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
p { margin: .4rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #444; vertical-align: bottom; font-weight: 600; }
td { border-bottom: 1px solid #e2e2e2; }
.left { text-align: left; }
.about { white-space: normal; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); gap: 1rem 1.5rem; margin-top: .8rem; }
.charts svg { width: 100%; height: auto; }
.legend { margin: .2rem 0 .6rem; }
.legend span { display: inline-block; margin-right: 1.1rem; white-space: nowrap; }
.charts .legend svg, .legend svg { width: 34px; height: 12px; vertical-align: middle; }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
figure { margin: 0; min-width: 0; break-inside: avoid; }
figcaption { font-weight: 600; }
summary { cursor: pointer; color: #555; }
.gap { color: #8a4b00; }
.claims th, .claims td { text-align: left; white-space: normal; vertical-align: top; overflow-wrap: break-word; }
.claims { width: 100%; }
.claims td:last-child { overflow-wrap: anywhere; min-width: 13rem; }
.claims td:nth-child(2) { min-width: 12rem; }
.overview th { white-space: normal; }
.claims tbody th { border-bottom: 1px solid #e2e2e2; }
.claims tr { break-inside: avoid; }
.verdict { display: inline-block; padding: 0 .45rem; border-radius: .3rem; background: #e8e8e8; color: #333; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.reproduced { background: #d2efdc; color: #0a5227; }
.sign_reproduced { background: #dfeef9; color: #0b4a78; }
.inconsistent { background: #ece1f7; color: #54278f; }
.under_determined { background: #fdeecb; color: #6b4700; }
.contradicted { background: #fbdcd8; color: #8f1d12; }
@media screen and (max-width: 760px) {
body { margin: 1rem auto; }
.claims thead { display: none; }
.claims, .claims tbody, .claims tr, .claims th, .claims td { display: block; min-width: 0; border: 0; padding: .1rem 0; }
.claims tr { border-bottom: 1px solid #bbb; padding: .6rem 0; }
.claims tbody th { border: 0; }
.claims td[data-name]:not(:empty)::before { content: attr(data-name) \": \"; color: #777; }
}
@media print {
:root { font-size: 11px; }
body { font-size: 11px; max-width: none; margin: 0; }
table { font-size: 10px; }
th, td { padding: .15rem .35rem; }
.charts { grid-template-columns: 1fr 1fr; }
}
";

/// For those who read on a dark screen: what has a colour above, and what [`drawing::STYLE`] gives one.
const DARK: &str = "
@media screen and (prefers-color-scheme: dark) {
body { color: #e4e6e8; background: #16191c; }
a { color: #7db8ff; }
.manifest, summary { color: #a3a9af; }
.gap { color: #f0b35a; }
.claims tbody th { border-bottom-color: #32373c; }
.verdict { background: #3a3f44; color: #e4e6e8; }
.reproduced { background: #12472a; color: #b9efcd; }
.sign_reproduced { background: #133f5f; color: #c0e2fb; }
.inconsistent { background: #432a63; color: #e2d1f8; }
.under_determined { background: #55410e; color: #fce7b2; }
.contradicted { background: #63211a; color: #fbd0ca; }
th { border-bottom-color: #8a9097; }
td { border-bottom-color: #32373c; }
.charts text { fill: #c8ccd0; }
.charts .title { fill: #e4e6e8; }
.charts .name, .charts .value, .charts .none { fill: #a3a9af; }
.grid { stroke: #32373c; }
.axis { stroke: #a3a9af; }
.level { stroke: #e4e6e8; }
.range { stroke: #c8ccd0; }
.hollow { fill: #16191c; }
}
";

/// A chart of a cross product: title with unit, and the value of a run.
type Measure = (&'static str, fn(&Record) -> Option<f64>);

const MEASURES: [Measure; 6] = [
    ("Mean response time (ms)", |record| {
        record.metric(&rows::RESPONSE.of("mean"))
    }),
    ("99th percentile of response time (ms)", |record| {
        record.metric(&rows::RESPONSE.of("p99"))
    }),
    (
        "Page writes that hit the buffer (%)",
        Record::write_hit_percent,
    ),
    ("Dirty pages per destage", |record| {
        record.metric(rows::BUFFER_MEAN_DESTAGE_PAGES.name)
    }),
    ("Block erases", |record| {
        record.metric(rows::FLASH_ERASES.name)
    }),
    ("Flash programs per page the host wrote", |record| {
        record.metric(rows::WAF_HOST.name)
    }),
];

/// The report of several runs; `findings` are sentences to put before them.
pub(crate) fn runs(
    title: &str,
    findings: &[String],
    manifest: &Manifest,
    records: &[Record],
) -> String {
    let mut body = String::new();
    if !findings.is_empty() {
        body.push_str(&format!("<p>{}</p>\n", escape(&findings.join(" "))));
    }
    for line in summary::heading(records).lines() {
        body.push_str(&format!("<p class=\"manifest\">{}</p>\n", escape(line)));
    }
    let mut groups: Vec<(&str, &str)> = Vec::new();
    let mut schemes: Vec<&str> = Vec::new();
    for record in records {
        let group = (record.trace.as_str(), record.ftl.as_str());
        if !groups.contains(&group) {
            groups.push(group);
        }
        if !schemes.contains(&record.buffer.as_str()) {
            schemes.push(&record.buffer);
        }
    }
    // Without a buffer: the last in the legend, so that it takes no colour from the others.
    let is_level = |scheme: &&str| {
        let mut own = records.iter().filter(|record| record.buffer == **scheme);
        own.all(|record| record.capacity().is_none())
    };
    schemes.sort_by_key(is_level);
    for group in &groups {
        if groups.len() > 1 {
            body.push_str(&format!(
                "<h2>{}, FTL {}</h2>\n",
                escape(group.0),
                escape(group.1)
            ));
        }
        let of_group: Vec<&Record> = records
            .iter()
            .filter(|record| (record.trace.as_str(), record.ftl.as_str()) == *group)
            .collect();
        body.push_str(&charts(&of_group, &schemes));
    }
    body.push_str("<h2>All runs</h2>\n");
    body.push_str(&table(records));
    body.push_str(&notes(records));
    page(title, manifest, &body)
}

/// The report of one run.
pub(crate) fn run(manifest: &Manifest, record: &Record) -> String {
    let mut body = format!("<p>{}</p>\n", escape(&crate::run::describe(record)));
    body.push_str(&notes(std::slice::from_ref(record)));
    let points = ["p50", "p95", "p99", "p999"];
    let mut pictures = String::new();
    for (row, title) in [
        (rows::RESPONSE_READ, "Response time of reads (ms)"),
        (rows::RESPONSE_WRITE, "Response time of writes (ms)"),
    ] {
        let value = |point: &&str| record.metric(&row.of(point));
        let values: Vec<_> = points.iter().map(value).collect();
        if values.iter().any(Option::is_some) {
            let places = ["50 %", "95 %", "99 %", "99.9 %"].map(str::to_owned);
            let frame = Frame {
                title,
                axis: "percentile",
                places: &places,
                at: None,
            };
            pictures.push_str(&bars(&frame, &values, &[]).in_page());
        }
    }
    body.push_str(&format!("<div class=\"charts\">\n{pictures}</div>\n"));
    body.push_str("<h2>Metrics</h2>\n<div class=\"wide\"><table>\n<tr><th class=\"left\">metric</th><th>value</th><th class=\"left\">unit</th><th class=\"left\">meaning</th></tr>\n");
    for (name, number) in record.metrics.iter() {
        let (unit, about) = metrics::find(name).map_or(("", ""), |row| (row.unit, row.about));
        body.push_str(&format!(
            "<tr><td class=\"left\">{}</td><td>{}</td><td class=\"left\">{}</td><td class=\"left about\">{}</td></tr>\n",
            escape(name),
            numbers::metric(number),
            escape(unit),
            escape(about)
        ));
    }
    body.push_str("</table></div>\n<h2>Parameters</h2>\n<div class=\"wide\"><table>\n");
    for (name, value) in &record.parameters {
        body.push_str(&format!(
            "<tr><td class=\"left\">{}</td><td class=\"left\">{}</td></tr>\n",
            escape(name),
            escape(&setting(value))
        ));
    }
    body.push_str("</table></div>\n");
    page("One run", manifest, &body)
}

fn notes(records: &[Record]) -> String {
    let remark = summary::remark(records);
    let remark = remark.map(|text| text.trim_end_matches('.').to_owned());
    summary::notes(records)
        .into_iter()
        .chain(remark)
        .chain(summary::failures(records))
        .map(|note| format!("<p>{}.</p>\n", escape(&note)))
        .collect()
}

fn charts(records: &[&Record], schemes: &[&str]) -> String {
    let mut sizes: Vec<u64> = records
        .iter()
        .filter_map(|record| record.capacity())
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let places: Vec<String> = sizes.iter().map(|size| numbers::bytes(*size)).collect();
    let mut text = String::new();
    if sizes.len() > 1 {
        let used: Vec<_> = schemes
            .iter()
            .enumerate()
            .filter_map(|(style, name)| {
                let record = records.iter().find(|record| record.buffer == **name)?;
                Some(Entry {
                    name: (*name).to_owned(),
                    style,
                    level: record.capacity().is_none(),
                })
            })
            .collect();
        text.push_str(&legend(&used, None));
    }
    text.push_str("<div class=\"charts\">\n");
    for (title, value) in MEASURES {
        let all = records.iter().filter_map(|record| value(record));
        let (least, most) = all.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        // Nothing to see where all are equal; nothing to say where none has it.
        if most <= least {
            if most == least {
                let same = numbers::real(most);
                text.push_str(&format!("<p>{}: {same} in every run.</p>\n", escape(title)));
            }
            continue;
        }
        let drawing = if sizes.len() > 1 {
            let series: Vec<Series> = schemes
                .iter()
                .enumerate()
                .filter_map(|(style, name)| series(records, name, style, &sizes, value))
                .collect();
            lines(
                &Frame {
                    title,
                    axis: "buffer capacity",
                    places: &places,
                    at: None,
                },
                &series,
            )
        } else {
            let style = |record: &&Record| {
                schemes
                    .iter()
                    .position(|name| *name == record.buffer)
                    .unwrap_or(0)
            };
            let names: Vec<String> = records.iter().map(|record| record.buffer.clone()).collect();
            let values: Vec<_> = records.iter().map(|record| value(record)).collect();
            let styles: Vec<_> = records.iter().map(style).collect();
            bars(
                &Frame {
                    title,
                    axis: "buffer",
                    places: &names,
                    at: None,
                },
                &values,
                &styles,
            )
        };
        text.push_str(&drawing.in_page());
    }
    text.push_str("</div>\n");
    text
}

fn series(
    records: &[&Record],
    scheme: &str,
    style: usize,
    sizes: &[u64],
    value: fn(&Record) -> Option<f64>,
) -> Option<Series> {
    let own: Vec<_> = records
        .iter()
        .filter(|record| record.buffer == scheme)
        .collect();
    let level = own.first()?.capacity().is_none();
    let values: Vec<Option<f64>> = match level {
        true => vec![own.first().and_then(|record| value(record))],
        false => sizes
            .iter()
            .map(|size| {
                let record = own.iter().find(|record| record.capacity() == Some(*size))?;
                value(record)
            })
            .collect(),
    };
    values.iter().any(Option::is_some).then(|| Series {
        name: scheme.to_owned(),
        style,
        level,
        values,
        ..Series::default()
    })
}

fn table(records: &[Record]) -> String {
    let columns = summary::columns(records);
    let class = |side: Side| {
        if side == Side::Left {
            " class=\"left\""
        } else {
            ""
        }
    };
    let mut text = String::from("<div class=\"wide\"><table>\n<tr>");
    for column in &columns {
        let [above, below] = column.head.map(escape);
        let class = class(column.side);
        text.push_str(&format!("<th{class}>{above}<br>{below}</th>"));
    }
    text.push_str("</tr>\n");
    for record in records {
        text.push_str("<tr>");
        for column in &columns {
            let cell = column.cell(record);
            text.push_str(&format!("<td{}>{}</td>", class(column.side), escape(&cell)));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    text
}

/// A page of its own: `body` below `title` and what the manifest says.
pub(crate) fn page(title: &str, manifest: &Manifest, body: &str) -> String {
    let (title, line) = (escape(title), escape(&manifest.line()));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}{}{DARK}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p class=\"manifest\">{line}</p>\n{body}</body>\n</html>\n",
        drawing::STYLE
    )
}

/// A row of cells, `th` or `td`; the first stands to the left.
pub(crate) fn cells(kind: &str, texts: &[&str]) -> String {
    let mut row = String::from("<tr>");
    for (index, text) in texts.iter().enumerate() {
        let class = if index == 0 { " class=\"left\"" } else { "" };
        row.push_str(&format!("<{kind}{class}>{}</{kind}>", escape(text)));
    }
    row.push_str("</tr>\n");
    row
}

/// `text` as it stands in HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

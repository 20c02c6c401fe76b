//! What `reproduce` and `study` found, as one HTML file that needs nothing but itself.

use destage::reproduce::{ExperimentReport, Judged, PaperReport, Readings, Report, Verdict};
use destage::study::StudyReport;
use destage::study::rows::Row;
use destage::study::shown::short;

use crate::output::experiments::counts;
use crate::output::figures::figures;
use crate::output::html::{cells, escape, page};

/// The page of a study.
pub(crate) fn study(report: &StudyReport) -> String {
    let mut body = paragraph("", &report.about);
    let missing = report.rows.missing.iter();
    let missing = missing.map(|(input, trace)| format!("{input}: the trace {trace} was not found"));
    let failed = report.rows.all.iter().filter_map(Row::error);
    let failed = failed.map(|error| format!("a run failed: {error}"));
    body.push_str(&gaps(&missing.chain(failed).collect::<Vec<_>>()));
    body.push_str(&paragraph("", &format!("{} runs.", report.rows.all.len())));
    body.push_str(&figures("", &report.figures));
    page(&report.title, &report.manifest, &body)
}

/// The page of all papers.
pub(crate) fn reproduction(report: &Report) -> String {
    let mut body = paragraph("", &format!("{}.", counts(report)));
    body.push_str(&overview(report));
    for paper in &report.papers {
        body.push_str(&of_paper(paper));
    }
    page("The papers, reproduced", &report.manifest, &body)
}

/// A row for each paper.
fn overview(report: &Report) -> String {
    let kinds = Verdict::ALL.map(Verdict::spoken);
    let head: Vec<_> = ["paper", "claims"]
        .into_iter()
        .chain(kinds.iter().map(String::as_str))
        .collect();
    let mut text = format!(
        "<div class=\"wide\"><table class=\"overview\">\n{}",
        cells("th", &head)
    );
    for paper in &report.papers {
        let name = escape(&paper.name);
        text.push_str(&format!(
            "<tr><td class=\"left\"><a href=\"#{name}\">{name}</a></td><td>{}</td>",
            paper.claims.len()
        ));
        for verdict in Verdict::ALL {
            let count = match paper.count(verdict) {
                0 => String::new(),
                count => count.to_string(),
            };
            text.push_str(&format!("<td>{count}</td>"));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    text
}

fn of_paper(paper: &PaperReport) -> String {
    let mut text = format!("<h2 id=\"{0}\">{0}</h2>\n", escape(&paper.name));
    text.push_str(&paragraph("manifest", &paper.source));
    text.push_str(&paragraph("", &paper.about));
    if !paper.claims.is_empty() {
        text.push_str(&claims(&paper.claims));
    }
    if let Some(readings) = &paper.readings {
        text.push_str(&open_rules(readings));
    }
    for experiment in &paper.experiments {
        text.push_str(&of_experiment(&paper.name, experiment));
    }
    text
}

/// A row for each claim; on a narrow page, a card.
fn claims(all: &[Judged]) -> String {
    let mut text = String::from("<table class=\"claims\">\n<thead>");
    let head = [
        "claim",
        "statement",
        "check",
        "published",
        "measured",
        "verdict",
        "because",
    ];
    text.push_str(&cells("th", &head));
    text.push_str("</thead>\n<tbody>\n");
    for claim in all {
        let about =
            |name: &str, content: String| format!("<td data-name=\"{name}\">{content}</td>");
        let mut because = escape(&claim.because);
        for input in &claim.inputs {
            let mark = if input.stand_in { " (stand-in)" } else { "" };
            let break_before = if because.is_empty() { "" } else { "<br>" };
            because.push_str(&format!(
                "{break_before}<span class=\"manifest\">{}{mark}</span>",
                escape(&input.name)
            ));
        }
        text.push_str(&format!(
            "<tr><th>{}<br><span class=\"manifest\">{}</span></th>{}{}{}{}<td data-name=\"verdict\"><span class=\"verdict {}\">{}</span></td>{}</tr>\n",
            escape(&claim.id),
            escape(&claim.place),
            about("statement", escape(&claim.statement)),
            about("check", escape(&claim.checked())),
            about("published", escape(&short(&claim.published))),
            about("measured", escape(&short(&claim.measured))),
            claim.verdict.name(),
            escape(&claim.spoken()),
            about("because", because),
        ));
    }
    text.push_str("</tbody>\n</table>\n");
    text
}

/// Every combination of what the paper leaves open.
fn open_rules(readings: &Readings) -> String {
    let mut text = String::from("<h3>Rules that the paper leaves open</h3>\n");
    for (parameter, about) in &readings.parameters {
        text.push_str(&paragraph("", &format!("{parameter}: {about}")));
    }
    let decided = readings.decided();
    let names = readings.parameters.iter().map(|(name, _)| name.as_str());
    let mut head: Vec<_> = names.chain(["claims that hold"]).collect();
    head.extend(decided.iter().copied());
    text.push_str(&format!(
        "<div class=\"wide\"><table>\n{}",
        cells("th", &head)
    ));
    for (index, each) in readings.combinations.iter().enumerate() {
        let default = if index == 0 { " (default)" } else { "" };
        let held = format!("{} of {}{default}", each.held(), each.claims.len());
        let holds = decided.iter().map(|id| match each.claims.get(*id) {
            Some(true) => "holds",
            Some(false) => "no",
            None => "",
        });
        let values = each.values.iter().map(String::as_str);
        let row: Vec<_> = values.chain([held.as_str()]).chain(holds).collect();
        text.push_str(&cells("td", &row));
    }
    text.push_str("</table></div>\n");
    if decided.is_empty() {
        text.push_str(&paragraph("", "No claim depends on them."));
    }
    text
}

fn of_experiment(paper: &str, experiment: &ExperimentReport) -> String {
    let id = format!("{paper}-{}", experiment.name);
    let mut text = format!(
        "<h3 id=\"{}\">{}: {}</h3>\n",
        escape(&id),
        escape(&experiment.name),
        escape(&experiment.title)
    );
    text.push_str(&paragraph("", &experiment.about));
    text.push_str(&paragraph("manifest", &format!("{} runs", experiment.runs)));
    text.push_str(&gaps(&experiment.gaps));
    text.push_str(&figures(&format!("{id}-"), &experiment.figures));
    text
}

/// What could not be run, a line each.
fn gaps(all: &[String]) -> String {
    all.iter().map(|gap| paragraph("gap", gap)).collect()
}

fn paragraph(class: &str, text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("<p class=\"{class}\">{}</p>\n", escape(text)),
    }
}

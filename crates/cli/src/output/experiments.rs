//! Studies and reproductions as text in a terminal.

use std::path::Path;

use destage_study::StudyReport;
use destage_study::figure::{Figure, Series};
use destage_study::reproduce::Report;
use destage_study::shown::short;

use super::ranking::MANY;
use super::table::{Side, Table};
use super::{report, summary};

/// The largest number of characters in a cell.
const WIDEST: usize = 44;

/// The text for a study: its figures as tables, or its runs if it has no figures, and the path of the report.
pub(crate) fn study(report: &StudyReport, folder: &Path) -> String {
    let mut text = format!("{}\n", report.title);
    for figure in &report.figures {
        text.push_str(&format!("\n{}\n{}", caption(figure), data(figure)));
    }
    if report.figures.is_empty() {
        text.push_str(&rows(report));
    }
    text.push_str(&summary::remarks(&report.rows.records()));
    let runs = report.rows.runs;
    text.push_str(&format!(
        "\n{runs} runs; the report is {}, with the data beside it\n",
        folder.join("report.html").display()
    ));
    text
}

/// The heading of a figure, what its numbers are, and whether they are means.
fn caption(figure: &Figure) -> String {
    let mut about = Vec::new();
    let (heading, unit) = (figure.heading().to_lowercase(), figure.y_title.as_str());
    if !heading.contains(&unit.to_lowercase()) {
        about.push(unit);
    }
    if figure.series.iter().any(Series::is_spread) {
        about.push("means over the seeds");
    }
    match about.is_empty() {
        true => figure.heading(),
        false => format!("{} ({})", figure.heading(), about.join("; ")),
    }
}

/// The first rows of a study as a table, and the number of those that are left out.
fn rows(report: &StudyReport) -> String {
    let all = report.rows.all.len();
    let table = report::study(&report.rows, MANY);
    let mut text = format!("\n{}", table.within(summary::width()));
    match all.saturating_sub(MANY) {
        0 => {}
        1 => text.push_str("1 more row is in the report and in the data beside it\n"),
        more => text.push_str(&format!(
            "{more} more rows are in the report and in the data beside it\n"
        )),
    }
    text
}

/// The text for a reproduction: the verdicts of all papers, and the number of each verdict.
pub(crate) fn reproduction(report: &Report, folder: &Path) -> String {
    let mut text = String::new();
    for paper in &report.papers {
        text.push_str(&format!("{}: {}\n\n", paper.name, paper.source));
        let mut table = Table::new(vec![Side::Left; 5]);
        table.row(["claim", "verdict", "published", "measured", "statement"]);
        table.rule();
        for claim in &paper.claims {
            // `shown` does not fail here. It fails only for lists of different lengths, and a claim with such lists
            // is refused earlier.
            let [published, measured, _] = claim.values.shown().unwrap_or_default();
            table.row([
                claim.id.clone(),
                claim.spoken(),
                cut(&published),
                cut(&measured),
                cut(&claim.statement),
            ]);
        }
        text.push_str(&format!("{}\n", table.text()));
        for experiment in &paper.experiments {
            for gap in &experiment.gaps {
                text.push_str(&format!("{}/{}: {gap}\n", paper.name, experiment.name));
            }
        }
    }
    text.push_str(&format!(
        "{}\nThe run took {:.0} s; all files are in {}\n",
        report.counts().join("\n"),
        report.manifest.wall_time_s,
        folder.display()
    ));
    text
}

/// The data of a figure as a table.
fn data(figure: &Figure) -> String {
    let mut sides = vec![Side::Right; figure.series.len() + 1];
    sides[0] = Side::Left;
    let mut table = Table::new(sides);
    let names = figure.series.iter().map(|series| series.name.clone());
    table.row([figure.x_title.clone()].into_iter().chain(names));
    table.rule();
    for (index, x) in figure.x.iter().enumerate() {
        let values = figure.series.iter().map(|series| {
            let point = series.points[index];
            point.map_or(String::new(), |point| short(&point.mean.into()))
        });
        table.row([x.clone()].into_iter().chain(values));
    }
    table.text()
}

/// The text, shortened to the largest width of a cell.
fn cut(text: &str) -> String {
    match text.chars().count() > WIDEST {
        true => text.chars().take(WIDEST - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

//! Studies and reproductions as text in a terminal.

use std::path::Path;

use destage::reproduce::verdict::short;
use destage::reproduce::{Report, Verdict};
use destage::study::figure::Figure;
use destage::study::{StudyReport, rows::Row};

use super::table::{Side, Table};

/// The longest cell of a table.
const WIDEST: usize = 44;

/// A study: its figures as tables, and what failed.
pub(crate) fn study(report: &StudyReport, folder: &Path) -> String {
    let mut text = format!("{}\n", report.title);
    for figure in &report.figures {
        text.push_str(&format!("\n{}\n{}", heading(figure), data(figure)));
    }
    for error in report.rows.all.iter().filter_map(Row::error) {
        text.push_str(&format!("\na run failed: {error}\n"));
    }
    let runs = report.rows.all.len();
    text.push_str(&format!("\n{runs} runs; data in {}\n", folder.display()));
    text
}

/// The verdicts of all papers, and how many of each kind there are.
pub(crate) fn reproduction(report: &Report, folder: &Path) -> String {
    let mut text = String::new();
    for paper in &report.papers {
        text.push_str(&format!("{}: {}\n\n", paper.name, paper.source));
        let mut table = Table::new(vec![Side::Left; 5]);
        table.row(["claim", "verdict", "published", "measured", "statement"]);
        table.rule();
        for claim in &paper.claims {
            let verdict = match claim.share {
                Some((held, tried)) => format!("{} {held}/{tried}", claim.verdict.spoken()),
                None => claim.verdict.spoken(),
            };
            table.row([
                claim.id.clone(),
                verdict,
                cut(&short(&claim.published)),
                cut(&short(&claim.measured)),
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
    let claims = || report.papers.iter().flat_map(|paper| &paper.claims);
    let counts = Verdict::ALL.map(|verdict| {
        let count = claims().filter(|claim| claim.verdict == verdict).count();
        (count, verdict.spoken())
    });
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, words)| format!("{count} {words}")).collect();
    text.push_str(&format!(
        "{} claims at the {} scale: {}\n{:.0} s; everything in {}\n",
        claims().count(),
        report.scale.name(),
        counts.join(", "),
        report.manifest.wall_time_s,
        folder.display()
    ));
    text
}

fn heading(figure: &Figure) -> String {
    match figure.place.is_empty() {
        true => figure.title.clone(),
        false => format!("{}: {}", figure.place, figure.title),
    }
}

/// A figure's data as a table.
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

/// What fits a column.
fn cut(text: &str) -> String {
    match text.chars().count() > WIDEST {
        true => text.chars().take(WIDEST - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

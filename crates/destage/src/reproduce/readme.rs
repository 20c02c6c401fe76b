//! What came of a paper, as the README of its folder: nothing in it depends on machine, time or commit.

use super::{ExperimentReport, Judged, PaperReport, Readings, Report, Verdict};
use crate::study::figure::Figure;
use crate::study::shown::short;

/// The table of all papers stands between these lines, which `make reproduce` looks for.
const MARKS: [&str; 2] = ["<!-- verdicts -->", "<!-- /verdicts -->"];

impl Report {
    /// The README of all papers: how many claims of each have which verdict.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut head = vec!["paper".to_owned(), "claims".to_owned()];
        head.extend(Verdict::ALL.map(Verdict::spoken));
        let rows = self.papers.iter().map(|paper| {
            let link = format!("[{0}]({0}/README.md)", paper.name);
            let mut row = vec![link, paper.claims.len().to_string()];
            row.extend(Verdict::ALL.map(|verdict| paper.count(verdict).to_string()));
            row
        });
        let [begin, end] = MARKS;
        format!(
            "# The papers, reproduced\n\nWritten by `make reproduce` at the {} scale.\n\n{begin}\n{}{end}\n",
            self.scale.name(),
            table(&head, rows)
        )
    }
}

impl PaperReport {
    /// Verdicts, open rules, figures, and what was run.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "# {}\n\n{}\n\n{}\n\nWritten by `make reproduce`; how to read and change it says [docs/STUDIES.md](../../docs/STUDIES.md).\n",
            self.name,
            plain(&self.source),
            plain(&self.about)
        );
        text.push_str("\n## Verdicts\n\n");
        let kinds = Verdict::ALL
            .into_iter()
            .filter(|verdict| self.count(*verdict) > 0);
        let counts = kinds.map(|verdict| vec![verdict.spoken(), self.count(verdict).to_string()]);
        text.push_str(&table(&["verdict", "claims"].map(str::to_owned), counts));
        text.push_str("\n## Claims\n\n");
        text.push_str(&claims(&self.claims));
        if let Some(readings) = &self.readings {
            text.push_str("\n## Open rules\n\n");
            text.push_str(&open_rules(readings));
        }
        text.push_str("\n## What was run\n\n");
        text.push_str(&self.inputs());
        for experiment in &self.experiments {
            text.push_str(&of_experiment(experiment));
        }
        text
    }

    /// The scale, the inputs, and how it is run again.
    fn inputs(&self) -> String {
        let mut text = format!(
            "The {} scale. `destage reproduce {}` does it again, with `--traces DIR` on the traces that are there.\n\n",
            self.scale.name(),
            self.name
        );
        let all: std::collections::BTreeSet<_> = self
            .experiments
            .iter()
            .flat_map(|each| &each.inputs)
            .collect();
        let rows = all.into_iter().map(|input| {
            let kind = match (&input.digest, input.stand_in) {
                (_, true) => "stand-in",
                (Some(_), false) => "trace",
                (None, false) => "made",
            };
            let digest = input.digest.clone().unwrap_or_default();
            vec![format!("`{}`", input.name), kind.to_owned(), digest]
        });
        text.push_str(&table(
            &["input", "kind", "digest"].map(str::to_owned),
            rows,
        ));
        text
    }
}

fn claims(all: &[Judged]) -> String {
    let head = [
        "claim",
        "place",
        "statement",
        "check",
        "published",
        "measured",
        "verdict",
        "because",
    ];
    let rows = all.iter().map(|claim| {
        vec![
            claim.id.clone(),
            plain(&claim.place),
            plain(&claim.statement),
            claim.checked(),
            plain(&short(&claim.published)),
            plain(&short(&claim.measured)),
            format!("**{}**", claim.spoken()),
            plain(&claim.because),
        ]
    });
    table(&head.map(str::to_owned), rows)
}

/// Every combination with the claims that hold under it.
fn open_rules(readings: &Readings) -> String {
    let mut text = String::from("What the paper leaves open:\n\n");
    for (parameter, about) in &readings.parameters {
        text.push_str(&format!("* `{parameter}`: {}\n", plain(about)));
    }
    let decided = readings.decided();
    text.push_str(&match decided.is_empty() {
        true => "\nNo claim depends on it.\n\n".to_owned(),
        false => format!("\nIt decides {}.\n\n", decided.join(", ")),
    });
    let mut head: Vec<_> = readings
        .parameters
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    head.extend(["claims that hold", "of those it decides"].map(str::to_owned));
    let rows = readings
        .combinations
        .iter()
        .enumerate()
        .map(|(index, each)| {
            let mut row = each.values.clone();
            let default = if index == 0 { " (default)" } else { "" };
            row.push(format!("{} of {}{default}", each.held(), each.claims.len()));
            let holds = |id: &&&str| each.claims.get(**id) == Some(&true);
            let held: Vec<_> = decided.iter().filter(holds).copied().collect();
            row.push(held.join(", "));
            row
        });
    text.push_str(&table(&head, rows));
    text
}

fn of_experiment(experiment: &ExperimentReport) -> String {
    let mut text = format!(
        "\n## {}: {}\n\n{}\n\n{} runs.\n",
        experiment.name,
        plain(&experiment.title),
        plain(&experiment.about),
        experiment.runs
    );
    for gap in &experiment.gaps {
        text.push_str(&format!("\n* {}", plain(gap)));
    }
    if !experiment.gaps.is_empty() {
        text.push('\n');
    }
    for figure in &experiment.figures {
        text.push_str(&format!(
            "\n### {}\n\n{}",
            plain(&figure.heading()),
            data(figure)
        ));
        for gap in &figure.gaps {
            text.push_str(&format!("\n{}.\n", plain(gap)));
        }
    }
    text
}

/// A figure's values: measured, the range over seeds in brackets, and what the paper has there.
fn data(figure: &Figure) -> String {
    let mut head = vec![plain(&figure.x_title)];
    head.extend(figure.series.iter().map(|series| plain(&series.name)));
    let rows = figure.x.iter().enumerate().map(|(index, x)| {
        let mut row = vec![plain(x)];
        row.extend(figure.series.iter().map(|series| series.cell(index)));
        row
    });
    let unit = match figure.y_title.is_empty() {
        true => String::new(),
        false => format!("{}:\n\n", plain(&figure.y_title)),
    };
    format!("{unit}{}", table(&head, rows))
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = vec!["---".to_owned(); head.len()];
    let mut text = line(head) + &line(&rule);
    for row in rows {
        text.push_str(&line(&row));
    }
    text
}

/// `text` in one line, with nothing that Markdown reads as its own.
fn plain(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let mut line = String::new();
    for letter in words.join(" ").chars() {
        match letter {
            '<' => line.push_str("&lt;"),
            '|' | '*' | '[' | ']' => line.extend(['\\', letter]),
            other => line.push(other),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_line_without_marks() {
        assert_eq!(plain("a < b |\n c*d [1]"), "a &lt; b \\| c\\*d \\[1\\]");
    }

    #[test]
    fn a_table_has_a_cell_for_each_name() {
        let rows = [vec!["1".to_owned(), "2".to_owned()]].into_iter();
        assert_eq!(
            table(&["a".to_owned(), "b".to_owned()], rows),
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
        );
    }
}

//! Writes the README of each paper and the README of all papers. Their content does not depend on the machine,
//! the time or the commit of the program.

use super::decide::OF_OWN;
use super::glossary::GLOSSARY;
use super::readings::Rule;
use super::reason::Why;
use super::{ExperimentReport, Judged, PaperReport, Readings, Report, Verdict};
use crate::figure::Figure;

/// The lines before and after the table of all papers. `make reproduce` finds the table by these lines.
const MARKS: [&str; 2] = ["<!-- verdicts -->", "<!-- /verdicts -->"];

impl Report {
    /// Writes the README of all papers: the number of claims with each verdict, the meanings of the verdicts, the
    /// thresholds and the glossary.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let [begin, end] = MARKS;
        let mut text = format!(
            "# The papers, reproduced\n\nWritten by `make reproduce` at the {} scale.\n\n{begin}\n",
            self.scale.name()
        );
        let of_papers = self.overview(false, ["paper", "claims"], &Verdict::ALL);
        let of_own = self.overview(true, ["of the project's own", "statements"], &OF_OWN);
        text.push_str(&[of_papers, of_own].concat().join("\n"));
        text.push_str(&format!("{end}\n\n## What the verdicts say\n\n"));
        let meanings = Verdict::ALL.map(|verdict| {
            vec![
                format!("**{}**", verdict.spoken()),
                verdict.meaning().to_owned(),
            ]
        });
        text.push_str(&table(
            &["verdict", "says"].map(str::to_owned),
            meanings.into_iter(),
        ));
        text.push_str("\n## What counts as what\n\nDeclared in `thresholds.toml`, for the claims of all papers alike. Formulas know a limit by its name.\n\n");
        let thresholds = self.thresholds.listed();
        let thresholds = thresholds
            .iter()
            .map(|[name, is, about]| vec![format!("`{name}`"), plain(is), plain(about)]);
        text.push_str(&table(
            &["threshold", "is", "for"].map(str::to_owned),
            thresholds,
        ));
        text.push_str("\n## Glossary\n\n");
        let words = GLOSSARY.map(|(word, meaning)| vec![plain(word), plain(meaning)]);
        text.push_str(&table(
            &["word", "meaning"].map(str::to_owned),
            words.into_iter(),
        ));
        text
    }

    /// A table with the number of claims for each of `verdicts`. The table has a row for each paper or, if `own`
    /// is true, for each folder with statements of this project. The result is empty if the table would have no
    /// rows.
    fn overview(&self, own: bool, names: [&str; 2], verdicts: &[Verdict]) -> Vec<String> {
        let head = names
            .into_iter()
            .chain(verdicts.iter().map(|each| each.spoken()));
        let head: Vec<_> = head.map(str::to_owned).collect();
        let rows: Vec<_> = self
            .papers
            .iter()
            .filter(|paper| paper.own == own)
            .map(|paper| {
                let link = format!("[{0}]({0}/README.md)", paper.name);
                let mut row = vec![link, paper.claims.len().to_string()];
                row.extend(verdicts.iter().map(|each| paper.count(*each).to_string()));
                row
            })
            .collect();
        match rows.is_empty() {
            true => Vec::new(),
            false => vec![table(&head, rows.into_iter())],
        }
    }
}

impl PaperReport {
    /// Writes the README of the paper: the verdicts, the claims, the open rules, the inputs, and the experiments
    /// with their figures.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "# {}\n\n{}\n\n{}\n\nWritten by `make reproduce`. [docs/STUDIES.md](../../docs/STUDIES.md) says how to read and change it.\n",
            self.name,
            plain(&self.source),
            plain(&self.about)
        );
        text.push_str("\n## Verdicts\n\n");
        let kinds = Verdict::ALL
            .into_iter()
            .filter(|verdict| self.count(*verdict) > 0);
        let counts = kinds.map(|verdict| {
            vec![
                verdict.spoken().to_owned(),
                self.count(verdict).to_string(),
                verdict.meaning().to_owned(),
            ]
        });
        text.push_str(&table(
            &["verdict", "claims", "says"].map(str::to_owned),
            counts,
        ));
        text.push_str(&format!(
            "\nThresholds stand in [the README of all papers](../README.md#what-counts-as-what). *Measured* is the value of the base run with the first seed. *Of it* is measured over published. The tables of figures below show the mean over the seeds, with the smallest and the largest value in brackets. `destage reproduce {}` writes the page `destage-results/report.html`. It has the runs of each claim, the commands that repeat them, and a table of the judged values of the claim: those of the base run, of each other seed and setting, and of the open rules that change the result.\n",
            self.name
        ));
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

    /// A section with the scale of the runs, the command that repeats them, and a table of the inputs.
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
            let digest = input.digest.clone().unwrap_or_default();
            let kind = input.role.spoken().to_owned();
            vec![
                format!("`{}`", input.name),
                kind,
                digest,
                plain(&input.differs),
            ]
        });
        text.push_str(&table(
            &["input", "is", "digest", "how it differs"].map(str::to_owned),
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
        "on",
        "check",
        "quantity",
        "published",
        "measured",
        "of it",
        "verdict",
        "experiment",
        "because",
    ];
    let rows = all.iter().map(|claim| {
        // This cannot fail here: if the names did not match the values, judging the claim would have failed
        // before.
        let [published, measured, ratio] = claim
            .values
            .shown()
            .unwrap_or_default()
            .map(|text| plain(&text));
        vec![
            claim.id.clone(),
            plain(&claim.place),
            plain(&claim.statement),
            plain(&claim.ran.on),
            plain(&claim.check),
            plain(&claim.values.quantity),
            published,
            measured,
            ratio,
            format!("**{}**", claim.spoken()),
            claim.ran.experiment.clone().unwrap_or_default(),
            plain(&because(claim)),
        ]
    });
    table(&head.map(str::to_owned), rows)
}

/// The text of the table cell with the reasons for a verdict: the main reason, the condition that was checked,
/// the remarks and details, and the cases in which the result of the check changes.
fn because(claim: &Judged) -> String {
    let Why {
        because,
        folded,
        turned,
    } = &claim.why;
    let mut all: Vec<_> = because.iter().chain(folded).map(String::as_str).collect();
    let asked = (!claim.asked.is_empty()).then(|| format!("Asked: {}", claim.asked));
    // The checked condition follows the main reason, and precedes all remarks.
    if let Some(asked) = &asked {
        all.insert(all.len().min(1), asked);
    }
    let turned = (!turned.is_empty()).then(|| format!("Turned by: {}", turned.join(" ")));
    all.extend(turned.as_deref());
    all.join(" ")
}

/// A section with the open rules, and a table of all combinations of their interpretations with the claims that
/// hold under each.
fn open_rules(readings: &Readings) -> String {
    let mut text = String::from("What the paper leaves open:\n\n");
    for Rule {
        parameter, about, ..
    } in &readings.rules
    {
        text.push_str(&format!("* `{parameter}`: {}\n", plain(about)));
    }
    let decided = readings.decided();
    text.push_str(&match decided.is_empty() {
        true => "\nNo claim depends on it.\n\n".to_owned(),
        false => format!("\nIt decides {}.\n\n", decided.join(", ")),
    });
    let mut head: Vec<_> = readings
        .rules
        .iter()
        .map(|rule| format!("`{}`", rule.parameter))
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
    let pinned: Vec<_> = readings.pinned.keys().map(String::as_str).collect();
    if !pinned.is_empty() {
        text.push_str(&format!(
            "\nThe formulas of {} fix the reading of a rule; where the rule has another reading, these claims are not judged and not counted.\n",
            pinned.join(", ")
        ));
    }
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

/// The values of a figure as a table. Each cell has the mean over the seeds, the range over the seeds in
/// brackets, and the published value.
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

/// Puts `text` in one line, and escapes the characters that have a meaning in Markdown.
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

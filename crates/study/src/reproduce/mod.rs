//! The reproduction of papers: experiments as study files, claims with formulas, and verdicts that follow from
//! runs.
//!
//! | module | content |
//! | --- | --- |
//! | `paper` | the folder of a paper: experiments, claims, open rules |
//! | `claim` | claims, and how they are checked |
//! | [`thresholds`] | tolerances and limits for all claims |
//! | [`decide`] | the verdict, from the evidence for a claim |
//! | [`verdict`] | the evaluation of a claim over results |
//! | `glossary` | the glossary of a report |
//! | [`ran`] | the runs of a claim, and the commands that make them again |
//! | [`readings`] | all combinations of open rules, tried on all claims |
//! | `readme` | the README of a paper |
//! | `reason` | the reasons for a verdict, in sentences |
//! | [`values`] | the published and the measured values of a claim |
//! | `words` | the names and units of a claim's values |
//!
//! docs/STUDIES.md describes how to write the files.

mod claim;
pub mod decide;
mod glossary;
mod paper;
pub mod ran;
pub mod readings;
mod readme;
mod reason;
pub mod thresholds;
pub mod values;
pub mod verdict;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use glossary::GLOSSARY;

use crate::figure::{self, Figure};
use crate::rows::Rows;
use crate::{
    Cells, Extra, InputFacts, Scale, Store, Study, Traces, VariantKind, complete, counted,
};
use destage::{Effort, Error, Manifest, files};

pub use claim::{Check, Tolerance};
pub use decide::{Kind, Share, Verdict};
pub use paper::{Paper, shipped_traces};
pub use readings::Readings;
pub use reason::Why;
pub use thresholds::Thresholds;
pub use values::{Try, Values};
pub use verdict::Judged;

/// What is to be reproduced.
pub struct Plan {
    /// The papers, each with the experiments to run.
    pub papers: Vec<Paper>,
    /// The scale at which the experiments are run.
    pub scale: Scale,
    /// The known traces, and their files.
    pub traces: Traces,
    /// The tolerances and limits for all claims.
    pub thresholds: Thresholds,
    /// Arguments from outside the experiments.
    pub extra: Extra,
    /// Whether all combinations of open rules are tried.
    pub readings: bool,
}

/// The number of runs that a paper needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The name of the paper's folder.
    pub paper: String,
    /// The number of different runs.
    pub runs: usize,
    /// The number of runs whose results are not kept yet.
    pub missing: usize,
}

/// The results of all papers.
#[derive(Clone, Debug)]
pub struct Report {
    /// How the results were computed.
    pub manifest: Manifest,
    /// The day of the report in universal time: `2026-01-31`.
    pub date: String,
    /// The scale of the runs.
    pub scale: Scale,
    /// The tolerances and limits.
    pub thresholds: Thresholds,
    /// The results of each paper.
    pub papers: Vec<PaperReport>,
}

/// The results of a paper.
#[derive(Clone, Debug)]
pub struct PaperReport {
    /// The name of the paper's folder.
    pub name: String,
    /// Authors, title, venue and year.
    pub source: String,
    /// A description of the paper.
    pub about: String,
    /// The scale of the runs.
    pub scale: Scale,
    /// Whether the claims are statements of this project, not of a paper.
    pub own: bool,
    /// The results of the experiments.
    pub experiments: Vec<ExperimentReport>,
    /// The claims with their verdicts.
    pub claims: Vec<Judged>,
    /// The claims under each combination of open rules; `None` if they were not tried, or if no rule is open.
    pub readings: Option<Readings>,
}

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentReport {
    /// The name of the experiment's file, without the ending.
    pub name: String,
    /// The title, in a few words.
    pub title: String,
    /// The purpose, in sentences.
    pub about: String,
    /// The number of runs.
    pub runs: usize,
    /// The settings that were not published and are tried: the name and the description of each.
    pub unpublished: Vec<(String, String)>,
    /// The inputs of the runs.
    pub inputs: BTreeSet<InputFacts>,
    /// The data of the figures.
    pub figures: Vec<Figure>,
    /// The runs that failed and the inputs that were not found; one sentence each.
    pub gaps: Vec<String>,
}

/// The index of a combination of open rules, with the results of the runs that a claim uses under it.
type Under<'a> = (usize, Vec<&'a Arc<Value>>);

/// The results of a paper's studies, by the name of the study.
type ByStudy = BTreeMap<String, Arc<Rows>>;

impl Plan {
    /// The part of `papers` that `name` selects: all papers for `None`, one paper (`bplru`), or one experiment
    /// (`bplru/w4`).
    ///
    /// # Errors
    /// If no paper or experiment has this name.
    pub fn choose(mut papers: Vec<Paper>, name: Option<&str>) -> Result<Vec<Paper>, Error> {
        let Some(name) = name else {
            return Ok(papers);
        };
        let (paper, experiment) = match name.split_once('/') {
            Some((paper, experiment)) => (paper, Some(experiment)),
            None => (name, None),
        };
        if !papers.iter().any(|each| each.name == paper) {
            let names = papers.iter().map(|each| each.name.as_str());
            return Err(Error::unknown(
                format!("{paper:?}: no such paper"),
                paper,
                names,
            ));
        }
        papers.retain(|each| each.name == paper);
        if let (Some(experiment), Some(paper)) = (experiment, papers.first_mut()) {
            if paper.study(experiment).is_none() {
                let names = paper.studies.iter().map(|study| study.name.as_str());
                let refusal = format!("{name:?}: {} has no such experiment", paper.name);
                return Err(Error::unknown(refusal, experiment, names));
            }
            paper.studies.retain(|study| study.name == experiment);
            paper
                .claims
                .retain(|claim| claim.experiment.as_deref() == Some(experiment));
        }
        Ok(papers)
    }

    /// Makes the runs that are not in `store` yet, and judges every claim.
    ///
    /// # Errors
    /// An error in an experiment, an input or the store; or an interrupt, because `effort.progress` asked to
    /// stop.
    pub fn carry_out(&self, store: &Store, effort: &Effort<'_>) -> Result<Report, Error> {
        let started = Instant::now();
        let all_sets: Vec<_> = self.papers.iter().map(|paper| self.sets(paper)).collect();
        let asked = self.asked(&self.papers)?;
        let mut rows = complete(&asked, store, effort)?.into_iter();
        drop(asked);
        let mut papers = Vec::new();
        for (paper, sets) in self.papers.iter().zip(&all_sets) {
            let names = || paper.studies.iter().map(|study| study.name.clone());
            let of_sets: Vec<ByStudy> = sets
                .iter()
                .map(|_| names().zip(&mut rows).collect())
                .collect();
            papers.push(self.report(paper, sets, &of_sets)?);
        }
        Ok(Report {
            manifest: Manifest::of_study(started),
            date: day(SystemTime::now()),
            scale: self.scale,
            thresholds: self.thresholds.clone(),
            papers,
        })
    }

    /// The combinations of open rules of `paper` that are tried, the default first.
    fn sets(&self, paper: &Paper) -> Vec<readings::Set> {
        let mut sets = readings::combinations(paper);
        if !self.readings {
            sets.truncate(1);
        }
        sets
    }

    /// For each paper: the number of runs, and the number of runs without a result in `store`.
    ///
    /// # Errors
    /// An error in an experiment, an input or the store.
    pub fn cost(&self, store: &Store) -> Result<Vec<Cost>, Error> {
        let of = |paper: &Paper| {
            let asked = self.asked(std::slice::from_ref(paper))?;
            let (runs, missing) = counted(&asked, store)?;
            Ok(Cost {
                paper: paper.name.clone(),
                runs,
                missing,
            })
        };
        self.papers.iter().map(of).collect()
    }

    /// The runs of each study of `papers` under each combination of open rules.
    fn asked(&self, papers: &[Paper]) -> Result<Vec<Cells>, Error> {
        let mut asked = Vec::new();
        for paper in papers {
            for (index, set) in self.sets(paper).iter().enumerate() {
                for study in &paper.studies {
                    let mut extra = self.extra.clone();
                    extra.readings.extend(set.iter().cloned());
                    let mut cells = study.cells(self.scale, &self.traces, &extra)?;
                    // Only one thing that the paper does not publish is varied at a time. Combinations other than
                    // the default are therefore tried only under the paper's own settings and with the first
                    // seed.
                    if index > 0 {
                        let seed = cells.cells.first();
                        let seed = seed.and_then(|cell| cell.labels.get("seed")).cloned();
                        cells.cells.retain(|cell| {
                            cell.labels.get("seed") == seed.as_ref()
                                && paper.needs_variant(study, cell)
                        });
                    }
                    asked.push(cells);
                }
            }
        }
        Ok(asked)
    }

    fn report(
        &self,
        paper: &Paper,
        sets: &[readings::Set],
        of_sets: &[ByStudy],
    ) -> Result<PaperReport, Error> {
        let mut experiments = Vec::new();
        for study in &paper.studies {
            let Some(rows) = of_sets.first().and_then(|first| first.get(&study.name)) else {
                continue;
            };
            experiments.push(ExperimentReport {
                name: study.name.clone(),
                title: study.title().to_owned(),
                about: study.about().to_owned(),
                runs: rows.all.len(),
                unpublished: unpublished(study),
                inputs: rows.all.iter().map(|row| row.input.clone()).collect(),
                figures: study.figures(rows)?,
                gaps: gaps(rows),
            });
        }
        let readings = self.readings_of(paper, sets, of_sets)?;
        let none = BTreeMap::new();
        let first = of_sets.first().unwrap_or(&none);
        let mut claims = Vec::new();
        for claim in &paper.claims {
            let case = self.case(paper, claim, first, readings.as_ref());
            claims.push(case.judge()?);
        }
        Ok(PaperReport {
            name: paper.name.clone(),
            source: paper.source().to_owned(),
            about: paper.about().to_owned(),
            scale: self.scale,
            own: paper.is_own(),
            experiments,
            claims,
            readings,
        })
    }

    /// For each combination of open rules, the claims that hold under it; `None` if there is a single
    /// combination.
    fn readings_of(
        &self,
        paper: &Paper,
        sets: &[readings::Set],
        of_sets: &[ByStudy],
    ) -> Result<Option<Readings>, Error> {
        if sets.len() < 2 {
            return Ok(None);
        }
        let mut combinations = Vec::new();
        // For each claim, the results that it used under each combination so far.
        let mut before: BTreeMap<&str, Vec<Under<'_>>> = BTreeMap::new();
        for (place, (set, rows)) in sets.iter().zip(of_sets).enumerate() {
            let (mut claims, mut measured) = (BTreeMap::new(), BTreeMap::new());
            let mut alike = BTreeMap::new();
            for claim in &paper.claims {
                let case = self.case(paper, claim, rows, None);
                let Some(tried) = case.base()? else {
                    continue;
                };
                claims.insert(claim.id.clone(), tried.holds);
                let all = case.over.map_or(&[][..], |(_, rows)| &rows.all);
                let own = all.iter().filter(|row| tried.runs.contains(&row.labels));
                let own: Vec<_> = own.map(|row| &row.result).collect();
                // Runs with equal settings share one result.
                let is_own = |(_, other): &&Under<'_>| {
                    let mut pairs = own.iter().zip(other);
                    own.len() == other.len() && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
                };
                let before = before.entry(&claim.id).or_default();
                let first = before.iter().find(is_own).map(|(first, _)| *first);
                alike.insert(claim.id.clone(), first.unwrap_or(place));
                before.push((place, own));
                measured.insert(claim.id.clone(), tried.measured);
            }
            combinations.push(readings::Combination {
                values: set.iter().map(|(_, _, value)| value.clone()).collect(),
                claims,
                measured,
                alike,
            });
        }
        Ok(Some(Readings {
            rules: readings::rules(paper),
            combinations,
        }))
    }

    /// `claim` with its study, the results of that study, and the `readings`.
    fn case<'a>(
        &'a self,
        paper: &'a Paper,
        claim: &'a claim::Claim,
        rows: &'a ByStudy,
        readings: Option<&'a Readings>,
    ) -> verdict::Case<'a> {
        let over = claim
            .experiment
            .as_deref()
            .and_then(|name| Some((paper.study(name)?, rows.get(name)?)));
        verdict::Case {
            paper: &paper.name,
            claim,
            words: words::of_claim(&paper.words, &claim.id),
            kind: paper.kind_of(claim),
            thresholds: &self.thresholds,
            over,
            scale: self.scale,
            readings,
        }
    }
}

/// The day of `time` in universal time and the Gregorian calendar: `2026-01-31`.
fn day(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    // Years begin in March, so that the leap day is the last day of a year. 1 March of year 0 is 719 468 days
    // before 1970.
    let days = seconds / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + later)
}

/// The unpublished settings of `study`, in each of which its claims are tried: the name and the description of
/// each.
fn unpublished(study: &Study) -> Vec<(String, String)> {
    let all = study.variants();
    all.filter(|variant| variant.kind == VariantKind::Unpublished)
        .map(|variant| (variant.name.clone(), variant.about.clone()))
        .collect()
}

/// The runs that failed and the inputs that were not found; one sentence each.
fn gaps(rows: &Rows) -> Vec<String> {
    let missing = rows
        .missing
        .iter()
        .map(|(input, trace)| format!("{input}: the trace {trace} was not found"));
    let failed = rows.all.iter().filter_map(|row| {
        let labels: Vec<_> = row
            .labels
            .iter()
            .map(|(axis, value)| format!("{axis} {value}"))
            .collect();
        Some(format!("{}: {}", labels.join(", "), row.error()?))
    });
    missing.chain(failed).collect()
}

impl PaperReport {
    /// The number of claims with `verdict`.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        let all = self.claims.iter();
        all.filter(|claim| claim.verdict == verdict).count()
    }

    /// The description of the paper, without claims and figures.
    fn to_json(&self) -> Value {
        let experiments = self.experiments.iter().map(|experiment| {
            json!({
                "name": experiment.name,
                "title": experiment.title,
                "about": experiment.about,
                "runs": experiment.runs,
                "unpublished": experiment.unpublished.iter().map(|(name, about)| {
                    json!({"name": name, "about": about})
                }).collect::<Vec<_>>(),
                "inputs": experiment.inputs.iter().map(|input| {
                    json!({"name": input.name, "role": input.role, "differs": input.differs, "digest": input.digest})
                }).collect::<Vec<_>>(),
                "gaps": experiment.gaps,
            })
        });
        let open = self.readings.iter().flat_map(|each| &each.rules);
        json!({
            "name": self.name,
            "own": self.own,
            "source": self.source,
            "about": self.about,
            "experiments": experiments.collect::<Vec<_>>(),
            "open": open.map(|rule| json!({"name": rule.parameter, "about": rule.about})).collect::<Vec<_>>(),
        })
    }
}

impl Report {
    /// Writes the report into `folder`: `README.md`, `report.html` and `verdicts.json`, and in a folder for each
    /// paper its `README.md` and the data of each figure as `EXPERIMENT-FIGURE.csv`. `page` makes the HTML page
    /// from the report's JSON, as the crate `destage-report` does.
    ///
    /// # Errors
    /// If a file cannot be written, or if `page` fails.
    pub fn write(
        &self,
        folder: &Path,
        page: impl FnOnce(&str) -> Result<String, Error>,
    ) -> Result<(), Error> {
        for paper in &self.papers {
            let folder = folder.join(&paper.name);
            files::write_into(&folder, "README.md", paper.to_markdown())?;
            for experiment in &paper.experiments {
                let prefix = format!("{}-", experiment.name);
                figure::write_all(&folder, &prefix, &experiment.figures)?;
            }
        }
        files::write_into(folder, "README.md", self.to_markdown())?;
        let document = self.to_json();
        files::write_into(folder, "report.html", page(&document)?)?;
        files::write_into(folder, "verdicts.json", &document)
    }

    /// A sentence for the claims of papers and one for the statements of this project: how many there are, and
    /// how many have each verdict.
    #[must_use]
    pub fn counts(&self) -> Vec<String> {
        let of = |own: bool, what: &str| {
            let papers = || self.papers.iter().filter(|paper| paper.own == own);
            let claims: usize = papers().map(|paper| paper.claims.len()).sum();
            let kinds = Verdict::ALL.map(|verdict| {
                let count: usize = papers().map(|paper| paper.count(verdict)).sum();
                (count, verdict.spoken())
            });
            let counts: Vec<_> = kinds
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, words)| format!("{count} {words}"))
                .collect();
            (claims > 0).then(|| {
                let scale = self.scale.name();
                format!(
                    "{claims} {what} at the {scale} scale: {}",
                    counts.join(", ")
                )
            })
        };
        let both = [
            of(false, "claims of papers"),
            of(true, "statements of the project's own"),
        ];
        both.into_iter().flatten().collect()
    }

    /// The report as JSON: `{"manifest", "date", "scale", "conclusions", "verdicts", "thresholds", "glossary",
    /// "claims", "papers", "readings", "figures"}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut readings = serde_json::Map::new();
        let mut figures = serde_json::Map::new();
        let mut claims = Vec::new();
        for paper in &self.papers {
            claims.extend(paper.claims.iter().map(Judged::to_json));
            if let Some(table) = &paper.readings {
                readings.insert(paper.name.clone(), table.to_json());
            }
            for experiment in &paper.experiments {
                let all: Vec<_> = experiment.figures.iter().map(Figure::to_json).collect();
                figures.insert(format!("{}/{}", paper.name, experiment.name), all.into());
            }
        }
        let papers = self.papers.iter().map(PaperReport::to_json);
        let manifest = self.manifest.many();
        let document: Value = json!({
            "manifest": manifest,
            "date": self.date,
            "scale": self.scale.name(),
            "conclusions": self.counts().iter().map(|text| format!("{text}.")).collect::<Vec<_>>(),
            "verdicts": Verdict::ALL.map(|verdict| json!({
                "name": verdict.name(), "words": verdict.spoken(), "meaning": verdict.meaning(),
            })),
            "thresholds": self.thresholds.listed().iter().map(|[name, is, about]| {
                json!({ "name": name, "is": is, "about": about })
            }).collect::<Vec<_>>(),
            "glossary": GLOSSARY.map(|(word, meaning)| json!({ "word": word, "meaning": meaning })).to_vec(),
            "claims": claims,
            "papers": papers.collect::<Vec<_>>(),
            "readings": readings,
            "figures": figures,
        });
        destage::json::text(&document)
    }
}

#[cfg(test)]
mod tests;

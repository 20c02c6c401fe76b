//! The papers, reproduced: experiments as data, claims with formulas, verdicts that follow from runs.
//!
//! | module | holds |
//! | --- | --- |
//! | `paper` | a paper's folder: experiments, claims, open rules |
//! | `claim` | how a claim is checked |
//! | [`thresholds`] | what counts as what, for all claims |
//! | [`decide`] | the verdict, from what is known of a claim |
//! | [`verdict`] | a claim over its results |
//! | `glossary` | the words of a report |
//! | [`ran`] | what a claim was measured on, and how that is run again |
//! | [`readings`] | open rules, chosen by the paper's own claims |
//! | `readme` | a paper's README |
//! | `reason` | why a claim came out as it did, in sentences |
//! | [`values`] | what was published and measured of a claim |
//! | `words` | what a claim's values are called |
//!
//! docs/STUDIES.md says how the files are written.

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

/// What is to be reproduced, and with what.
pub struct Plan {
    /// The papers, with the experiments that are wanted.
    pub papers: Vec<Paper>,
    /// How much of them.
    pub scale: Scale,
    /// Where traces are.
    pub traces: Traces,
    /// What counts as what.
    pub thresholds: Thresholds,
    /// What comes from outside the experiments.
    pub extra: Extra,
    /// Whether the combinations of open rules are tried.
    pub readings: bool,
}

/// What a paper takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// What it is called here.
    pub paper: String,
    /// Different runs.
    pub runs: usize,
    /// Runs whose results are not kept yet.
    pub missing: usize,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it came to be.
    pub manifest: Manifest,
    /// The day on which it did, in universal time: `2026-01-31`.
    pub date: String,
    /// How much was run.
    pub scale: Scale,
    /// What counted as what.
    pub thresholds: Thresholds,
    /// By paper.
    pub papers: Vec<PaperReport>,
}

/// What came of a paper.
#[derive(Clone, Debug)]
pub struct PaperReport {
    /// What it is called here.
    pub name: String,
    /// Authors, title, venue, year.
    pub source: String,
    /// What it is about.
    pub about: String,
    /// How much was run.
    pub scale: Scale,
    /// Whether its claims are statements of this project, and of no paper.
    pub own: bool,
    /// Its experiments.
    pub experiments: Vec<ExperimentReport>,
    /// Its claims.
    pub claims: Vec<Judged>,
    /// What decides between the rules that it leaves open, if that was tried.
    pub readings: Option<Readings>,
}

/// What came of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentReport {
    /// The file's name without its ending.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// What it is for.
    pub about: String,
    /// How many runs it has.
    pub runs: usize,
    /// The settings that were not published and are tried, by name, and what each is.
    pub unpublished: Vec<(String, String)>,
    /// The inputs that its runs read.
    pub inputs: BTreeSet<InputFacts>,
    /// What it shows.
    pub figures: Vec<Figure>,
    /// Runs that failed, and inputs that were not found; a sentence each.
    pub gaps: Vec<String>,
}

/// The place of a combination of open rules, with the results that a claim goes over under it.
type Under<'a> = (usize, Vec<&'a Arc<Value>>);

/// Results of a paper's studies by name.
type ByStudy = BTreeMap<String, Arc<Rows>>;

impl Plan {
    /// The studies of `papers` that `name` means: all, one (`bplru`), or one experiment of one (`bplru/w4`).
    ///
    /// # Errors
    /// If there is no such paper or experiment.
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

    /// Runs what is not yet in `store`, and judges every claim.
    ///
    /// # Errors
    /// What is wrong with an experiment, an input or the store, or that `effort.progress` asked to stop.
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

    /// The combinations of open rules that are tried of `paper`, the default first.
    fn sets(&self, paper: &Paper) -> Vec<readings::Set> {
        let mut sets = readings::combinations(paper);
        if !self.readings {
            sets.truncate(1);
        }
        sets
    }

    /// How many runs each paper takes, and how many of these `store` does not have yet.
    ///
    /// # Errors
    /// What is wrong with an experiment, an input or the store.
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

    /// The runs of each study of `papers`, for each combination of open rules.
    fn asked(&self, papers: &[Paper]) -> Result<Vec<Cells>, Error> {
        let mut asked = Vec::new();
        for paper in papers {
            for (index, set) in self.sets(paper).iter().enumerate() {
                for study in &paper.studies {
                    let mut extra = self.extra.clone();
                    extra.readings.extend(set.iter().cloned());
                    let mut cells = study.cells(self.scale, &self.traces, &extra)?;
                    // What was not published is varied one thing at a time: other combinations than the default are tried
                    // under the paper's own settings, with the first seed.
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

    /// Under which combinations of open rules each claim holds, if there is more than one.
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
        // Of each claim, the results that it goes over under each combination so far.
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
                // Runs with equal settings have one result.
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

    /// `claim` with the study that it goes over, its results, and what `readings` make of it.
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

/// The day of `time` in universal time and the calendar of Gregory: `2026-01-31`.
fn day(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    // Years begin in March, so that the day that is sometimes there is the last; 1 March 0000 is 719 468 days before 1970.
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

/// The variants of `study` in each of which a claim is tried, by name, and what each is.
fn unpublished(study: &Study) -> Vec<(String, String)> {
    let all = study.variants();
    all.filter(|variant| variant.kind == VariantKind::Unpublished)
        .map(|variant| (variant.name.clone(), variant.about.clone()))
        .collect()
}

/// Runs that failed, and inputs that were not found.
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
    /// How many of its claims have `verdict`.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        let all = self.claims.iter();
        all.filter(|claim| claim.verdict == verdict).count()
    }

    /// What it is, without its claims and figures.
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
    /// Writes the report into `folder`: `README.md`, `report.html` and `verdicts.json`, and in a folder for each paper its `README.md`
    /// and the data of each figure as `EXPERIMENT-FIGURE.csv`. `page` makes the page of the report's JSON, as the crate `destage-report`
    /// does.
    ///
    /// # Errors
    /// If a file cannot be written, and that of `page`.
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

    /// How many claims there are of papers and of the project's own, and how many of each verdict.
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

    /// `{"manifest", "date", "scale", "conclusions", "verdicts", "thresholds", "glossary", "claims", "papers", "readings", "figures"}`.
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

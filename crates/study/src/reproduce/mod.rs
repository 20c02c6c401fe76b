//! Reproduces papers. The experiments of a paper are study files. Formulas check the claims of the paper on the
//! results of the experiments, and each claim gets a verdict that follows from the results.
//!
//! | module | content |
//! | --- | --- |
//! | `paper` | reads the folder of a paper: its experiments, its claims, and the rules that it leaves open |
//! | `claim` | the fields of a claim, and the checks |
//! | [`thresholds`] | tolerances and limits for all claims |
//! | [`decide`] | the rules that give the verdict on a claim |
//! | [`verdict`] | evaluates a claim on the results of runs |
//! | `glossary` | the glossary of a report |
//! | [`ran`] | describes the runs of a claim, and the commands that repeat them |
//! | [`readings`] | judges all claims under every combination of interpretations of open rules |
//! | `readme` | writes the README of a paper |
//! | `reason` | explains a verdict in sentences |
//! | `siblings` | lets claims with one sentence on several inputs name each other |
//! | [`values`] | the published and the measured values of a claim |
//! | `words` | the texts that describe the values of a claim |
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
mod siblings;
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
use crate::rows::{Row, Rows};
use crate::{
    Cells, Extra, InputFacts, Scale, Store, Study, Traces, VariantKind, complete, counted,
};
use destage::internal::{Found, side_by_side};
use destage::{Effort, Error, Manifest, files};

pub use claim::{Check, Tolerance};
pub use decide::{Kind, Share, Verdict};
pub use paper::{Paper, shipped_traces};
pub use readings::Readings;
pub use reason::Why;
pub use thresholds::Thresholds;
pub use values::{Try, Values};
pub use verdict::Judged;

/// The papers to reproduce, and the arguments.
pub struct Plan {
    /// The papers. Each contains only the experiments to execute and their claims.
    pub papers: Vec<Paper>,
    /// The scale at which the experiments are executed.
    pub scale: Scale,
    /// The traces that experiments may name, and the files in which they were found.
    pub traces: Traces,
    /// The tolerances and limits for all claims.
    pub thresholds: Thresholds,
    /// Settings and schemes that are added to those of the experiments.
    pub extra: Extra,
    /// Whether all claims are judged under every combination of interpretations of open rules, or only under the
    /// default.
    pub readings: bool,
}

/// The runs that the papers of a plan need.
pub struct Asked<'a> {
    plan: &'a Plan,
    started: Instant,
    /// For each paper, the combinations of interpretations of its open rules.
    all_sets: Vec<Vec<readings::Set>>,
    /// For each paper, each combination and each experiment, in this order, one list of runs.
    cells: Vec<Cells>,
}

/// The number of runs that a paper needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The name of the paper's folder.
    pub paper: String,
    /// The number of different runs.
    pub runs: usize,
    /// The number of different runs that have no stored result yet.
    pub missing: usize,
}

/// The report on all papers.
#[derive(Clone, Debug)]
pub struct Report {
    /// Facts about the computation of the results, such as the version of the program.
    pub manifest: Manifest,
    /// The date of the report in universal time (UTC), such as `2026-01-31`.
    pub date: String,
    /// The scale of the runs.
    pub scale: Scale,
    /// The tolerances and limits.
    pub thresholds: Thresholds,
    /// The results of each paper.
    pub papers: Vec<PaperReport>,
}

/// The report on a paper.
#[derive(Clone, Debug)]
pub struct PaperReport {
    /// The name of the paper's folder.
    pub name: String,
    /// The authors, title, venue and year of the paper.
    pub source: String,
    /// A description of the paper.
    pub about: String,
    /// The scale of the runs.
    pub scale: Scale,
    /// Whether the claims are statements of this project and not of a paper.
    pub own: bool,
    /// The results of the experiments.
    pub experiments: Vec<ExperimentReport>,
    /// The claims with their verdicts.
    pub claims: Vec<Judged>,
    /// The results of the claims under each combination of interpretations of open rules; `None` if only the
    /// default was executed, or if the paper leaves no rule open.
    pub readings: Option<Readings>,
}

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentReport {
    /// The name of the experiment's file, without the ending.
    pub name: String,
    /// The title of the experiment, in a few words.
    pub title: String,
    /// The purpose of the experiment, in sentences.
    pub about: String,
    /// The number of runs.
    pub runs: usize,
    /// The settings that the paper did not publish and under which every claim is judged: the name and the
    /// description of each.
    pub unpublished: Vec<(String, String)>,
    /// The inputs of the runs.
    pub inputs: BTreeSet<InputFacts>,
    /// The data of the figures.
    pub figures: Vec<Figure>,
    /// The runs that failed and the inputs whose traces were not found; one text for each.
    pub gaps: Vec<String>,
}

/// The index of a combination of interpretations of open rules, and the results of the runs that a claim uses
/// under this combination.
type Under<'a> = (usize, Vec<&'a Arc<Value>>);

/// The results of the experiments of a paper, by the name of the experiment.
type ByStudy = BTreeMap<String, Arc<Rows>>;

impl Plan {
    /// Returns the papers and experiments that `name` selects from `papers`: for `None` all papers, for `bplru`
    /// one paper, and for `bplru/w4` one experiment with its claims.
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

    /// The runs that the papers need. Nothing is executed.
    ///
    /// # Errors
    /// An error in an experiment or an input.
    pub fn asked(&self, effort: &Effort<'_>) -> Result<Asked<'_>, Error> {
        let started = Instant::now();
        let all_sets: Vec<_> = self.papers.iter().map(|paper| self.sets(paper)).collect();
        let mut tasks = Vec::new();
        for (paper, sets) in self.papers.iter().zip(&all_sets) {
            for (index, set) in sets.iter().enumerate() {
                let studies = paper.studies.iter();
                tasks.extend(studies.map(|study| (paper, study, index, set)));
            }
        }
        let cells = each(&tasks, effort, |(paper, study, index, set)| {
            self.cells(paper, study, *index, set)
        })?;
        Ok(Asked {
            plan: self,
            started,
            all_sets,
            cells,
        })
    }

    /// The combinations of interpretations of the open rules of `paper` that are executed. The first one is the
    /// default.
    fn sets(&self, paper: &Paper) -> Vec<readings::Set> {
        let mut sets = readings::combinations(paper);
        if !self.readings {
            sets.truncate(1);
        }
        sets
    }

    /// The runs of `study` with `set`, which is number `index` of the combinations of interpretations of `paper`.
    fn cells(
        &self,
        paper: &Paper,
        study: &Study,
        index: usize,
        set: &readings::Set,
    ) -> Result<Cells, Error> {
        let mut extra = self.extra.clone();
        extra.readings.extend(set.iter().cloned());
        let mut cells = study.cells(self.scale, &self.traces, &extra)?;
        // Open rules, unpublished settings and seeds are not varied together. Combinations other than the default are
        // therefore executed only under the settings of the paper and with the first seed, and only if a claim uses
        // the experiment.
        if index > 0 {
            let is_judged = paper.claims_of(&study.name) > 0;
            let seed = cells.cells.first();
            let seed = seed.and_then(|cell| cell.labels.get("seed")).cloned();
            cells.cells.retain(|cell| {
                is_judged
                    && cell.labels.get("seed") == seed.as_ref()
                    && paper.needs_variant(study, cell)
            });
        }
        Ok(cells)
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
                runs: rows.runs,
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
        siblings::name(&mut claims);
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

    /// Evaluates the claims of `paper` under each combination of interpretations of open rules; `None` if only
    /// the default was executed.
    fn readings_of(
        &self,
        paper: &Paper,
        sets: &[readings::Set],
        of_sets: &[ByStudy],
    ) -> Result<Option<Readings>, Error> {
        if sets.len() < 2 {
            return Ok(None);
        }
        let pinned = readings::pinned(paper);
        let first_set = sets.first().map_or(&[][..], Vec::as_slice);
        let mut combinations = Vec::new();
        // For each claim, the combinations that were evaluated before, with the results that the claim used under
        // them.
        let mut before: BTreeMap<&str, Vec<Under<'_>>> = BTreeMap::new();
        // For each claim, the kinds of the schemes and layers in its runs.
        let mut kinds = BTreeMap::new();
        // For each claim, the values that it reads from its runs under the default.
        let mut by_default: BTreeMap<&str, Vec<Vec<Value>>> = BTreeMap::new();
        for (place, (set, rows)) in sets.iter().zip(of_sets).enumerate() {
            let (mut claims, mut measured) = (BTreeMap::new(), BTreeMap::new());
            let (mut alike, mut idle) = (BTreeMap::new(), BTreeSet::new());
            for claim in &paper.claims {
                let pins = pinned.get(&claim.id).map_or(&[][..], Vec::as_slice);
                let is_fixed = |(one, default): (&readings::Setting, &readings::Setting)| {
                    one.2 != default.2 && pins.iter().any(|(parameter, _)| *parameter == one.1)
                };
                if set.iter().zip(first_set).any(is_fixed) {
                    continue;
                }
                let case = self.case(paper, claim, rows, None);
                let Some(tried) = case.base()? else {
                    continue;
                };
                claims.insert(claim.id.clone(), tried.holds);
                let all = case.over.map_or(&[][..], |(_, rows)| &rows.all);
                let own = all.iter().filter(|row| tried.runs.contains(&row.labels));
                if place == 0 {
                    let own = own.clone().filter(|row| row.has_parameters());
                    let of_runs: BTreeSet<_> = own.flat_map(Row::kinds).collect();
                    kinds.insert(claim.id.clone(), of_runs);
                }
                let own: Vec<_> = own.map(|row| &row.result).collect();
                // Runs with equal settings share one `Arc`, so comparing pointers is enough.
                let is_own = |(_, other): &&Under<'_>| {
                    let mut pairs = own.iter().zip(other);
                    own.len() == other.len() && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
                };
                let before = before.entry(&claim.id).or_default();
                let first = before.iter().find(is_own).map(|(first, _)| *first);
                alike.insert(claim.id.clone(), first.unwrap_or(place));
                before.push((place, own));
                if place == 0 {
                    by_default.insert(&claim.id, tried.read);
                } else if by_default.get(&*claim.id) == Some(&tried.read) {
                    idle.insert(claim.id.clone());
                }
                measured.insert(claim.id.clone(), tried.measured);
            }
            combinations.push(readings::Combination {
                values: set.iter().map(|(_, _, value)| value.clone()).collect(),
                claims,
                measured,
                alike,
                idle,
            });
        }
        Ok(Some(Readings {
            rules: readings::rules(paper),
            combinations,
            pinned,
            kinds,
        }))
    }

    /// Combines everything that is needed to judge `claim`: its experiment, the results of the experiment in
    /// `rows`, and `readings`.
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

impl Asked<'_> {
    /// For each paper, the number of different runs, and the number of those that have no result in `store`.
    ///
    /// # Errors
    /// If a run uses a scheme that is in no registry and has no version.
    pub fn cost(&self, store: &Store) -> Result<Vec<Cost>, Error> {
        let mut rest = self.cells.as_slice();
        let papers = self.plan.papers.iter().zip(&self.all_sets);
        let of = |(paper, sets): (&Paper, &Vec<readings::Set>)| {
            let own = rest.split_off(..sets.len() * paper.studies.len());
            let (runs, missing) = counted(own.unwrap_or_default(), store)?;
            Ok(Cost {
                paper: paper.name.clone(),
                runs,
                missing,
            })
        };
        papers.map(of).collect()
    }

    /// Executes the runs that have no result in `store` yet, and judges every claim.
    ///
    /// # Errors
    /// An error in an experiment, an input or the store, or an interrupt if `effort.progress` asks to stop.
    pub fn carry_out(self, store: &Store, effort: &Effort<'_>) -> Result<Report, Error> {
        let Self {
            plan,
            started,
            all_sets,
            cells,
        } = self;
        let mut rows = complete(&cells, store, effort)?.into_iter();
        drop(cells);
        let with_results = |(paper, sets): (_, Vec<readings::Set>)| {
            let paper: &Paper = paper;
            let names = || paper.studies.iter().map(|study| study.name.clone());
            let of_set = |_| names().zip(&mut rows).collect();
            let of_sets: Vec<ByStudy> = sets.iter().map(of_set).collect();
            (paper, sets, of_sets)
        };
        let papers: Vec<_> = plan.papers.iter().zip(all_sets).map(with_results).collect();
        let papers = each(&papers, effort, |(paper, sets, of_sets)| {
            plan.report(paper, sets, of_sets)
        })?;
        Ok(Report {
            manifest: Manifest::of_study(started),
            date: day(SystemTime::now()),
            scale: plan.scale,
            thresholds: plan.thresholds.clone(),
            papers,
        })
    }
}

/// The results of `work` for each of `tasks`, in their order. The tasks are done on as many threads as `effort` allows.
fn each<T: Sync, R: Send>(
    tasks: &[T],
    effort: &Effort<'_>,
    work: impl Fn(&T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let found = Found::of(tasks.len());
    let numbered: Vec<_> = tasks.iter().enumerate().collect();
    side_by_side(
        &numbered,
        |_| 0,
        effort,
        |(place, task), _| {
            found.put(*place, work(task)?);
            Ok(())
        },
    )?;
    let all: Option<Vec<R>> = found.into_vec().into_iter().collect();
    all.ok_or_else(|| Error::Internal("a task has no result".to_owned()))
}

/// The date of `time` in universal time (UTC) and the Gregorian calendar, such as `2026-01-31`.
fn day(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    // In this calculation, years begin on 1 March, so that the leap day is the last day of a year. The first day
    // of the year 0 is 719 468 days before 1 January 1970.
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

/// The names and descriptions of the variants of `study` that stand for settings that the paper did not publish.
fn unpublished(study: &Study) -> Vec<(String, String)> {
    let all = study.variants();
    all.filter(|variant| variant.kind == VariantKind::Unpublished)
        .map(|variant| (variant.name.clone(), variant.about.clone()))
        .collect()
}

/// The runs that failed and the inputs whose traces were not found; one text for each.
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
    /// The number of claims that this project infers from what the paper says.
    fn inferred(&self) -> usize {
        let inferred = self.claims.iter();
        let inferred = inferred.filter(|claim| verdict::is_inferred(&claim.statement));
        inferred.count()
    }

    /// The number of claims that have this `verdict`.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        let all = self.claims.iter();
        all.filter(|claim| claim.verdict == verdict).count()
    }

    /// The description of the paper and of its experiments as JSON, without claims and figures.
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
            "open": open.map(|rule| json!({"name": rule.parameter, "about": rule.about, "says": rule.says})).collect::<Vec<_>>(),
        })
    }
}

impl Report {
    /// Writes the report into `folder`: `README.md`, `report.html`, `verdicts.json`, and a folder for each paper.
    /// The folder of a paper contains its `README.md` and the data of each figure as `EXPERIMENT-FIGURE.csv`. The
    /// function `page` turns the report's JSON into the HTML page; the crate `destage-report` has such a
    /// function.
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

    /// One text for the claims of papers, and one for the statements of this project. Each has the number of
    /// claims, and the number of claims with each verdict. A text is omitted if there are no such claims.
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
            let inferred: usize = papers().map(PaperReport::inferred).sum();
            let inferred = match inferred {
                0 => String::new(),
                count => {
                    format!(" ({count} of them inferred by this project from what the papers say)")
                }
            };
            (claims > 0).then(|| {
                let scale = self.scale.name();
                format!(
                    "{claims} {what}{inferred} at the {scale} scale: {}",
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

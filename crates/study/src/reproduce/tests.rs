//! Tests of the reports on papers. Every published number has to affect the verdict on its claim, or the claim's
//! row in the README has to say why it does not. If a row names figures, these figures have to show the runs of the
//! claim. The date of a report has to be correct.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::*;
use crate::BASE;
use crate::formula::Context;

#[derive(Deserialize)]
struct Claims {
    claim: Vec<claim::Claim>,
}

/// Multiplies one published number of each claim by `times`: the one with the index `index`. The integer 0 is not
/// counted. Returns all claims, and the ids of the claims that have such a number.
fn with_one_changed(claims: &str, index: usize, times: i32) -> (Vec<claim::Claim>, Vec<String>) {
    let mut all: toml::Table = claims.parse().unwrap();
    let mut ids = Vec::new();
    for claim in all["claim"].as_array_mut().unwrap() {
        let mut left = index;
        if claim
            .get_mut("published")
            .is_some_and(|value| change(value, &mut left, times))
        {
            ids.push(claim["id"].as_str().unwrap().to_owned());
        }
    }
    let Claims { claim } = toml::Value::Table(all).try_into().unwrap();
    (claim, ids)
}

/// Skips `left` numbers in `value`, and multiplies the next one by `times`. The integer 0 is not counted. Returns
/// whether `value` has enough numbers.
fn change(value: &mut toml::Value, left: &mut usize, times: i32) -> bool {
    match value {
        toml::Value::Array(items) => items.iter_mut().any(|item| change(item, left, times)),
        toml::Value::Integer(0) | toml::Value::String(_) | toml::Value::Boolean(_) => false,
        _ if *left > 0 => {
            *left -= 1;
            false
        }
        toml::Value::Integer(number) => {
            *number *= i64::from(times);
            true
        }
        toml::Value::Float(number) => {
            *number *= f64::from(times);
            true
        }
        other => panic!("{other}: published"),
    }
}

#[test]
fn a_day_is_that_of_the_calendar() {
    for (days, text) in [
        (0, "1970-01-01"),
        (58, "1970-02-28"),
        (59, "1970-03-01"),
        (11_016, "2000-02-29"),
        (11_017, "2000-03-01"),
        (20_599, "2026-05-26"),
        (47_541, "2100-03-01"),
    ] {
        let time = UNIX_EPOCH + Duration::from_secs(days * 86_400 + 86_399);
        assert_eq!(day(time), text);
    }
}

/// Under a combination of readings other than the default, only those runs are made that a claim can use: none of an
/// experiment without claims, and none with an unpublished setting that no claim names. The setting `cover` has the
/// name of a value of `trace.align`, which is another axis.
#[test]
fn other_combinations_make_only_runs_that_claims_use() {
    let asked = |formula: &str| {
        let study = r#"
title = "t"
[[input]]
name = "i"
pages = "0 1 2"
[[variant]]
name = "cover"
kind = "unpublished"
set = { "sim.drain" = true }
[[grid]]
buffers = ["bplru"]
sizes = ["64KiB"]
variants = ["base", "cover"]
"#;
        let head = r#"
source = "Nobody"
about = "A test."
[[reading]]
of = "bplru"
parameter = "buffer.pad"
values = [true, false]
about = "Whether blocks are padded."
"#;
        let claims = format!(
            "[[claim]]\nid = 'X'\nplace = 'p'\nstatement = 's'\ncheck = 'property'\nexperiment = 'judged'\nmeasured = '{formula}'\n"
        );
        let files = [
            ("paper.toml", head),
            ("claims.toml", claims.as_str()),
            ("judged.toml", study),
            ("shown.toml", study),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let plan = Plan {
            papers: vec![Paper::parse("own", files.into()).unwrap()],
            scale: Scale::Reduced,
            traces: shipped_traces().unwrap(),
            thresholds: Thresholds::shipped().unwrap(),
            extra: Extra::default(),
            readings: true,
        };
        let asked = plan.asked(&Effort::default()).unwrap();
        let runs = asked.cells.iter().map(|cells| cells.cells.len());
        runs.collect::<Vec<_>>()
    };
    let base = r#"m("buffer.evictions", {"trace.align": "cover"}) > 0"#;
    assert_eq!(asked(base), [2, 2, 1, 0]);
    let named = r#"m("buffer.evictions", variant="cover") > 0"#;
    assert_eq!(asked(named), [2, 2, 2, 0]);
}

/// The names of the experiments that are small enough for every run of the test suite.
const SMALL: [&str; 2] = ["examples", "streams"];

/// Checks the claims of papers that need no runs, or only runs of small experiments.
#[test]
fn every_published_number_moves_its_verdict_or_the_row_says_why_not() {
    let place = tempfile::tempdir().unwrap();
    change_every_number(place.path(), shipped_traces().unwrap(), true);
}

/// Checks all claims of papers, with the results of `make reproduce` in the folder `DESTAGE_RESULTS`.
#[test]
#[ignore = "needs recorded traces and the results of make reproduce: make verdicts"]
fn every_published_number_moves_its_verdict_in_long_verdicts() {
    let (results, known) = long();
    change_every_number(&results, known, false);
}

/// Checks the claims of small experiments: each run that such a claim uses occurs in one of the figures that the
/// claim's row names.
#[test]
fn a_figure_shows_what_a_claim_goes_over() {
    let place = tempfile::tempdir().unwrap();
    find_every_run(place.path(), shipped_traces().unwrap(), true);
}

/// Checks all claims, with the results of `make reproduce` in the folder `DESTAGE_RESULTS`.
#[test]
#[ignore = "needs recorded traces and the results of make reproduce: make verdicts"]
fn a_figure_shows_what_a_claim_goes_over_in_long_verdicts() {
    let (results, known) = long();
    find_every_run(&results, known, false);
}

/// Checks that each run that a claim uses occurs in one of the figures that the claim's row names. A row without
/// figures is not checked, because some claims, for example those about the destaged pages of a run, have no
/// figure.
fn find_every_run(folder: &Path, known: Traces, small: bool) {
    let mut found = 0;
    let mut lost = Vec::new();
    for_each_paper(folder, &known, small, true, |plan, of_sets, readings| {
        let paper = &plan.papers[0];
        let mut drawn: BTreeMap<&str, Vec<Figure>> = BTreeMap::new();
        for claim in &paper.claims {
            let case = plan.case(paper, claim, &of_sets[0], readings);
            let Some((study, rows)) = case.over else {
                continue;
            };
            let judged = case.judge().unwrap();
            let Ok(outcome) = case.outcome().unwrap() else {
                continue;
            };
            let figures = drawn
                .entry(&study.name)
                .or_insert_with(|| study.figures(rows).unwrap())
                .iter();
            let shown: BTreeSet<_> = figures
                .filter(|figure| judged.figures.contains(&figure.id))
                .flat_map(|figure| &figure.runs)
                .collect();
            let is_drawn = !judged.figures.is_empty();
            for run in outcome.first.runs.iter().filter(|_| is_drawn) {
                found += usize::from(shown.contains(run));
                if !shown.contains(run) {
                    let figures = judged.figures.join(", ");
                    lost.push(format!("{} {} ({figures}): {run:?}", paper.name, claim.id));
                }
            }
        }
    });
    assert!(lost.is_empty(), "in no figure:\n{}", lost.join("\n"));
    assert!(found > 10, "{found}");
}

/// Checks all claims of papers, with the results of `make reproduce` in the folder `DESTAGE_RESULTS`.
#[test]
#[ignore = "needs recorded traces and the results of make reproduce: make verdicts"]
fn a_setting_is_tried_on_each_run_of_a_claim_in_long_verdicts() {
    let (results, known) = long();
    find_untried_runs(&results, &known);
}

/// Checks that no setting of an experiment is tried on some runs of a claim, such as those of one scheme, and not
/// on its other runs. A claim is not judged with such a setting, so its verdict would say less than it seems to. A
/// setting may be made for one input; runs on inputs that it is not tried on are not counted.
fn find_untried_runs(folder: &Path, known: &Traces) {
    let mut found = 0;
    let mut lost = Vec::new();
    for_each_paper(folder, known, false, false, |plan, of_sets, readings| {
        let paper = &plan.papers[0];
        for claim in &paper.claims {
            let case = plan.case(paper, claim, &of_sets[0], readings);
            let Some((study, rows)) = case.over else {
                continue;
            };
            let Ok(outcome) = case.outcome().unwrap() else {
                continue;
            };
            let made: BTreeSet<_> = rows.all.iter().map(|row| &row.labels).collect();
            let settings = study.variants();
            for setting in settings.filter(|each| each.kind != VariantKind::Compared) {
                let on = |input: Option<&String>| {
                    let mut all = made.iter();
                    all.any(|run| {
                        run.get("variant") == Some(&setting.name) && run.get("input") == input
                    })
                };
                let base = outcome.first.runs.iter();
                let base = base.filter(|run| run.get("variant").is_some_and(|name| name == BASE));
                let (tried, untried): (Vec<_>, Vec<_>) =
                    base.filter(|run| on(run.get("input"))).partition(|run| {
                        let mut other = (*run).clone();
                        other.insert("variant".to_owned(), setting.name.clone());
                        made.contains(&other)
                    });
                found += tried.len();
                // A setting may leave out whole cases of the claim, such as a buffer size.
                let of_case = |run: &Context| {
                    let axes = claim.each.keys();
                    axes.map(|axis| run.get(axis).cloned()).collect::<Vec<_>>()
                };
                let cases: BTreeSet<_> = tried.iter().map(|run| of_case(run)).collect();
                let in_part = untried.iter().find(|run| cases.contains(&of_case(run)));
                if let Some(run) = in_part {
                    let (id, name) = (&claim.id, &setting.name);
                    lost.push(format!("{} {id} with {name}: {run:?}", paper.name));
                }
            }
        }
    });
    assert!(lost.is_empty(), "no run:\n{}", lost.join("\n"));
    assert!(found > 1000, "{found}");
}

/// Returns the folder with the results of `make reproduce`, and the list of traces with the recorded ones found.
fn long() -> (PathBuf, Traces) {
    let results = std::env::var_os("DESTAGE_RESULTS");
    let results = results.expect("DESTAGE_RESULTS is the folder of make reproduce");
    let shared = std::env::var_os("DESTAGE_TRACES");
    let shared = shared.expect("DESTAGE_TRACES is the folder of recorded traces");
    let mut known = shipped_traces().unwrap();
    known.look_in(Path::new(&shared)).unwrap();
    (results.into(), known)
}

/// Calls `with` for each paper. If `own` is true, `with` is also called for the folders with statements of this
/// project. If `small` is true, only small experiments are used. The results are in `folder`.
fn for_each_paper(
    folder: &Path,
    known: &Traces,
    small: bool,
    own: bool,
    mut with: impl FnMut(&Plan, &[ByStudy], Option<&Readings>),
) {
    let store = Store::open(folder).unwrap();
    for mut paper in Paper::shipped().unwrap() {
        if paper.is_own() && !own {
            continue;
        }
        if small {
            paper.studies.retain(|study| SMALL.contains(&&*study.name));
            let is_small = |name: &String| SMALL.contains(&&**name);
            paper
                .claims
                .retain(|claim| claim.experiment.as_ref().is_none_or(is_small));
        }
        let plan = Plan {
            papers: vec![paper],
            scale: Scale::Reduced,
            traces: known.clone(),
            thresholds: Thresholds::shipped().unwrap(),
            extra: Extra::default(),
            readings: true,
        };
        let paper = &plan.papers[0];
        let effort = Effort::default();
        let asked = plan.asked(&effort).unwrap();
        if !small {
            let missing = asked.cost(&store).unwrap()[0].missing;
            assert_eq!(missing, 0, "{}: make reproduce makes its runs", paper.name);
        }
        let sets = plan.sets(paper);
        let mut rows = complete(&asked.cells, &store, &effort).unwrap().into_iter();
        let names = || paper.studies.iter().map(|study| study.name.clone());
        let of_sets: Vec<ByStudy> = sets
            .iter()
            .map(|_| names().zip(&mut rows).collect())
            .collect();
        let readings = plan.readings_of(paper, &sets, &of_sets).unwrap();
        with(&plan, &of_sets, readings.as_ref());
    }
}

/// Changes each published number of the papers, one at a time. The verdict has to change, or the row has to say
/// why it does not. If `small` is true, only claims of small experiments are checked.
fn change_every_number(folder: &Path, known: Traces, small: bool) {
    let (mut asked, mut moved, mut told) = (0, 0, 0);
    for_each_paper(folder, &known, small, false, |plan, of_sets, readings| {
        let paper = &plan.papers[0];
        let text = paper::shipped_text(&format!("{}/claims.toml", paper.name));
        for times in [3, -1] {
            for index in 0.. {
                let (changed, ids) = with_one_changed(text, index, times);
                if ids.is_empty() {
                    break;
                }
                for other in &changed {
                    let Some(claim) = paper.claims.iter().find(|claim| claim.id == other.id) else {
                        continue;
                    };
                    if !ids.contains(&claim.id) {
                        continue;
                    }
                    let case = |claim| plan.case(paper, claim, &of_sets[0], readings);
                    let now = case(claim).judge().unwrap();
                    // If a formula uses the number as a label, no run has this label after the change. The
                    // formula is then an error, which counts as a changed verdict.
                    let other = case(other).judge();
                    asked += 1;
                    let is_moved = match other {
                        Ok(other) => (other.verdict, other.counts) != (now.verdict, now.counts),
                        Err(error) => error.to_string().contains("no run"),
                    };
                    if is_moved {
                        moved += 1;
                        continue;
                    }
                    let reasons: &[&str] = match now.verdict {
                        Verdict::TraceMissing => &["was not found"],
                        Verdict::UnderDetermined => &[
                            "needs an assumption that the paper does not state: ",
                            "is an assumption that the paper does not state",
                            "In the base run it ",
                            "whether the size is seen depends on what the paper does not say: ",
                            "fitted so that it holds",
                        ],
                        verdict if verdict.holds() => match times > 0 {
                            true => &[
                                "would be the same if the paper had printed three times the published number",
                                "would be the same if the paper had printed a reduction of 100 %",
                            ],
                            false => &["or its negative", "printed the negative of"],
                        },
                        _ => match times > 0 {
                            true => &[
                                "would also fail if the paper had printed three times the published number",
                                "would also fail if the paper had printed a reduction of 100 %",
                            ],
                            false => &["or its negative", "printed the negative of"],
                        },
                    };
                    let because = [now.why.because.clone(), now.why.folded.clone()]
                        .concat()
                        .join(" ");
                    assert!(
                        reasons.iter().any(|reason| because.contains(reason)),
                        "{} {} (number {index}, times {times}): {:?} stays, and nothing says why: {because}",
                        paper.name,
                        claim.id,
                        now.verdict
                    );
                    told += 1;
                }
            }
        }
    });
    println!("{asked} numbers changed: {moved} moved the verdict, {told} are told not to");
    assert!(
        moved > 20 && asked == moved + told,
        "{asked} {moved} {told}"
    );
}

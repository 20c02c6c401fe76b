//! Evaluates claims on the results of runs. The program computes every verdict; no file contains a verdict that
//! was written by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::claim::{Check, Claim, Tolerance, altered, bears_out, ratios, smallest, truth};
use super::decide::{Evidence, Kind, Share, Verdict, decide};
use super::ran::{Command, Ran, commands, listed, scaled, shrunk};
use super::readings::Readings;
use super::reason::{Why, spoken};
use super::thresholds::Thresholds;
use super::values::{Try, Values, each_names};
use super::words::Words;
use crate::formula::{Context, NoValue, evaluate};
use crate::rows::Rows;
use crate::shown::short;
use crate::{BASE, InputFacts, Role, Scale, Study, VariantKind, product};
use destage::Error;
use destage_sim::settings::kind_of;

/// Stands between the name of a setting and the seed with which it is run, in the name of a case.
pub(super) const WITH_SEED: &str = " with seed ";

/// In how many cases and under how many readings a claim holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Of these cases: the base run, each other seed, and each unpublished setting. `None` if only the base run was
    /// executed. `None` also if the claim is under-determined for another reason and all of these cases agree.
    pub cases: Option<Share>,
    /// For a claim that is reproduced or under-determined: under how many combinations of readings of open rules it
    /// holds. `None` if it holds under all or under none of them, and for other claims.
    pub readings: Option<Share>,
    /// For an under-determined claim without either count: how it comes out in the base run, such as `holds`. `None` for
    /// other claims, and if nothing was run.
    pub base: Option<&'static str>,
}

/// A claim with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The id of the claim.
    pub id: String,
    /// The name of the paper's folder.
    pub paper: String,
    /// The section, figure or table of the paper that makes the claim.
    pub place: String,
    /// The claim in the paper's words or in similar words.
    pub statement: String,
    /// The kind of the claim.
    pub kind: Kind,
    /// The check, with its tolerance and its formula if it has them.
    pub check: String,
    /// How far the measured value may deviate from the published one, such as `10 %`; `None` if the check has none.
    pub tolerance: Option<Tolerance>,
    /// The condition that the check tests, as a sentence.
    pub asked: String,
    /// The published and the measured values.
    pub values: Values,
    /// The verdict.
    pub verdict: Verdict,
    /// In how many cases and under how many readings the claim holds.
    pub counts: Counts,
    /// The description of the runs that the claim uses, and the commands that repeat them.
    pub ran: Ran,
    /// The ids of the experiment's figures that show the results of the claim.
    pub figures: Vec<String>,
    /// The reasons for the verdict.
    pub why: Why,
}

impl Judged {
    /// The verdict in words, followed by [`Self::counts`] if there are some: `holds 3/4`, or `under-determined; fails in
    /// the base run`.
    #[must_use]
    pub fn spoken(&self) -> String {
        let verdict = self.verdict.spoken();
        let cases = self
            .counts
            .cases
            .map(|Share { held, tried }| format!("{held}/{tried}"));
        let readings = self.counts.readings;
        let readings = readings.map(|Share { held, tried }| format!("{held} of {tried} readings"));
        let counts: Vec<_> = cases.into_iter().chain(readings).collect();
        match self.counts.base {
            Some(base) => format!("{verdict}; {base} in the base run"),
            None => format!("{verdict} {}", counts.join(", ")).trim().to_owned(),
        }
    }

    /// The claim in the JSON form that `destage reproduce` writes.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let inputs = self.ran.inputs.iter().map(|(input, label)| {
            json!({
                "name": input.name, "label": label, "digest": input.digest,
                "stand_in": input.role.stands_in(), "kind": input.role.kind(),
                "differs": input.differs,
            })
        });
        let tries = self.values.tries.iter().map(
            |Try {
                 name,
                 measured,
                 holds,
                 sized,
                 is_idle,
             }| {
                json!({
                    "name": name, "measured": measured, "holds": holds,
                    "sized": sized, "idle": is_idle,
                })
            },
        );
        let commands = self.ran.commands.iter();
        let commands =
            commands.map(|Command { command, does }| json!({"command": command, "does": does}));
        json!({
            "id": self.id,
            "paper": self.paper,
            "place": self.place,
            "statement": self.statement,
            "kind": self.kind.name(),
            "experiment": self.ran.experiment,
            "check": self.check,
            "tolerance": self.tolerance.map(|tolerance| tolerance.to_string()),
            "asked": self.asked,
            "published": self.values.published,
            "measured": self.values.measured,
            // The check `property` compares no numbers, so tables have no ratio for it. The two numbers still have one.
            "effect": ratios(&self.values.measured, &self.values.published),
            "quantity": self.values.quantity,
            "unit": self.values.unit,
            "labels": self.values.labels,
            "each": self.values.each,
            "verdict": self.verdict.name(),
            "share": self.counts.cases.map(|share| json!({"held": share.held, "tried": share.tried})),
            "readings": self.counts.readings.map(|share| json!({"held": share.held, "tried": share.tried})),
            "base": self.counts.base,
            "on": self.ran.on,
            "inputs": inputs.collect::<Vec<_>>(),
            "runs": self.ran.runs,
            "scale": self.ran.scale,
            "commands": commands.collect::<Vec<_>>(),
            "figures": self.figures,
            "range": self.values.range,
            "tries": tries.collect::<Vec<_>>(),
            "because": self.why.because,
            "folded": self.why.folded,
            "turned": self.why.turned,
        })
    }
}

/// Whether this project infers the claim with this statement from what the paper says. The statement marks that.
pub(super) fn is_inferred(statement: &str) -> bool {
    statement.contains("(inferred)") || statement.contains("(Inferred)")
}

/// How a claim comes out in `case`, in words.
pub(super) fn comes_out(case: &Try) -> &'static str {
    match (case.holds, case.sized) {
        (true, Some(false)) => "holds in its sign only",
        (holds, _) => spoken(holds),
    }
}

/// The result of evaluating a claim in one case, for example with one seed.
pub(super) struct Tried {
    pub(super) measured: Value,
    pub(super) holds: bool,
    /// The combinations of the claim's `each` that fail, by index. With each index, the pairs of list elements
    /// that the function `agree` found in opposite order.
    pub(super) failed: BTreeMap<usize, Vec<[usize; 2]>>,
    pub(super) inputs: BTreeSet<InputFacts>,
    /// The labels of the runs that the formulas used.
    pub(super) runs: BTreeSet<Context>,
    /// The judged values: those that the formulas read from the runs, in the order in which they were read, for each
    /// case of the claim's `each`. Empty for a case that was not run.
    pub(super) read: Vec<Vec<Value>>,
    /// How many pairs of values the function `agree` compared; `None` if the claim does not use it.
    pub(super) compared: Option<usize>,
}

impl Tried {
    /// No result, for a claim that was not evaluated.
    pub(super) const NONE: Self = Self {
        measured: Value::Null,
        holds: false,
        failed: BTreeMap::new(),
        inputs: BTreeSet::new(),
        runs: BTreeSet::new(),
        read: Vec::new(),
        compared: None,
    };

    /// Whether every judged value is that of `base`, in all cases that were run.
    fn is_like(&self, base: &Self) -> bool {
        let mut pairs = self.read.iter().zip(&base.read);
        self.read.iter().any(|own| !own.is_empty())
            && pairs.all(|(own, other)| own.is_empty() || own == other)
    }
}

/// The result with a seed other than that of the base run, or with an unpublished setting.
pub(super) struct Other {
    /// For a seed, a text such as `seed 2`; for a setting, the name of its variant.
    pub(super) name: String,
    pub(super) is_seed: bool,
    pub(super) tried: Tried,
}

/// A seed or setting with which the claim could not be evaluated, because a run failed.
pub(super) struct Failed {
    /// The seed or setting, such as `seed 2` or `the setting undrained`.
    pub(super) with: String,
    /// The labels of the run, and its error message.
    pub(super) error: String,
}

/// The result in a case other than the base run.
enum Beside {
    Tried(Tried),
    /// A run that the claim needs failed. The text has the labels of the run and its error message.
    Failed(String),
    /// The study has no runs for this case.
    NotMade,
}

/// The results of a claim in all cases, and the verdict.
pub(super) struct Outcome {
    /// The result in the base run, which has the settings of the paper and the first seed.
    pub(super) first: Tried,
    /// The results with each other seed and with each unpublished setting.
    pub(super) others: Vec<Other>,
    /// The other seeds and the unpublished settings that are left out, because every judged value is that of the base
    /// run, to the last digit. Such a case tests nothing.
    pub(super) idle: Vec<Other>,
    /// The seeds and unpublished settings that are left out, because a run failed.
    pub(super) failed: Vec<Failed>,
    pub(super) evidence: Evidence,
    pub(super) verdict: Verdict,
}

/// A claim, with everything that is needed to judge it.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) paper: &'a str,
    pub(super) claim: &'a Claim,
    /// The texts that describe the claim's values.
    pub(super) words: Option<&'a Words>,
    pub(super) kind: Kind,
    pub(super) thresholds: &'a Thresholds,
    pub(super) over: Option<(&'a Study, &'a Arc<Rows>)>,
    /// The scale of the runs.
    pub(super) scale: Scale,
    /// The results of all claims under each combination of interpretations of open rules; `None` if only the
    /// default was executed, or if no results are available yet.
    pub(super) readings: Option<&'a Readings>,
}

impl Case<'_> {
    /// Judges the claim.
    ///
    /// # Errors
    /// If a formula of the claim is wrong, or its tolerance is not declared.
    pub(super) fn judge(&self) -> Result<Judged, Error> {
        if self.claim.check.check == Check::Not {
            return self.judged(Verdict::NotCheckable, None, None, self.why_unmeasured(None));
        }
        let outcome = match self.outcome()? {
            Ok(outcome) => outcome,
            Err(NoValue::Missing(trace)) => {
                let missing = format!(
                    "The claim needs the trace {trace}, which was not found. The option --trace {trace}=FILE tells where it is."
                );
                let why = self.why_unmeasured(Some(missing));
                let mut judged = self.judged(Verdict::TraceMissing, None, None, why)?;
                judged.ran.on = format!("nothing: the trace {trace} was not found");
                judged.ran.commands = self.commands(&BTreeSet::new(), Some(&trace));
                return Ok(judged);
            }
            Err(NoValue::Failed(error)) => {
                let failed = format!("A run it needs gave no result: {error}.");
                let why = self.why_unmeasured(Some(failed));
                return self.judged(Verdict::NotCheckable, None, None, why);
            }
            Err(NoValue::NoRun(text) | NoValue::NotFinite(text) | NoValue::Wrong(text)) => {
                return Err(self.wrong(&text));
            }
        };
        let mut why = self.reason(&outcome);
        let tries = self.tries(&outcome);
        let on_part = outcome.evidence.fails_on_part();
        let Outcome {
            first,
            others,
            idle,
            evidence:
                Evidence {
                    share,
                    holds,
                    assumed,
                    readings,
                    ..
                },
            verdict,
            ..
        } = outcome;
        let fails_as_assumed =
            (assumed || on_part) && !holds && verdict == Verdict::UnderDetermined;
        if matches!(verdict, Verdict::Contradicted | Verdict::NotSeen) || fails_as_assumed {
            why.turned.extend(self.caused()?);
        }
        why.folded.extend(self.unmoved((verdict, share))?);
        // If a claim is under-determined although it holds with all seeds and settings or with none of them,
        // something else is the reason. The number of seeds and settings is then omitted, because it does not
        // explain the verdict.
        let is_silent =
            verdict == Verdict::UnderDetermined && (share.held == 0 || share.held == share.tried);
        let is_counted = share.tried > 1 && verdict != Verdict::NotCheckable;
        let shown = (is_counted && !is_silent).then_some(share);
        let of_base = first.runs.len();
        let mut judged = self.judged(verdict, Some(first), shown, why)?;
        judged.values.tries = tries;
        let is_open = matches!(verdict, Verdict::Reproduced | Verdict::UnderDetermined);
        judged.counts.readings = readings.filter(|_| is_open);
        let Counts {
            cases, readings, ..
        } = judged.counts;
        let is_uncounted = cases.is_none() && readings.is_none();
        if verdict == Verdict::UnderDetermined && is_uncounted {
            judged.counts.base = judged.values.tries.first().map(comes_out);
        }
        if !judged.ran.runs.is_empty() {
            let beside: Vec<_> = others.iter().chain(&idle).collect();
            judged.ran.runs.push_str(&self.repeated(of_base, &beside));
        }
        Ok(judged)
    }

    /// A clause that the runs of a claim, `of_base` in number, are also made with each other seed, setting and combination
    /// of open rules; empty if nothing but the base run was tried.
    fn repeated(&self, of_base: usize, others: &[&Other]) -> String {
        let rules = self
            .readings
            .and_then(|readings| readings.others(&self.claim.id));
        let each = [
            ("seed", others.iter().any(|other| other.is_seed)),
            ("setting", others.iter().any(|other| !other.is_seed)),
            ("combination of open rules", rules.is_some()),
        ];
        let each = each.into_iter();
        let each: Vec<_> = each.filter_map(|(name, is)| is.then_some(name)).collect();
        match each.is_empty() {
            true => String::new(),
            false => format!(
                "; {} were made with each other {} that was tried",
                match others.iter().any(|other| other.tried.runs.len() < of_base) {
                    true => "these runs, or a part of them,",
                    false => "the same runs",
                },
                super::reason::listed(&each)
            ),
        }
    }

    /// The result in the base run, the results with each other seed and each unpublished setting, and the results
    /// under those interpretations of open rules that change whether the claim holds. Empty for a claim that uses
    /// no runs.
    fn tries(&self, outcome: &Outcome) -> Vec<Try> {
        if self.over.is_none() {
            return Vec::new();
        }
        let of = |name: &str, tried: &Tried, is_idle: bool| Try {
            name: name.to_owned(),
            measured: tried.measured.clone(),
            holds: tried.holds,
            sized: self.is_of_size(&tried.measured),
            is_idle,
        };
        let mut all = vec![of("base run", &outcome.first, false)];
        let others = outcome.others.iter();
        all.extend(others.map(|other| of(&other.name, &other.tried, false)));
        let idle = outcome.idle.iter();
        all.extend(idle.map(|other| of(&other.name, &other.tried, true)));
        let turned = self
            .readings
            .map_or(Vec::new(), |all| all.tried(&self.claim.id));
        all.extend(turned.into_iter().map(|(name, measured)| Try {
            name,
            sized: self.is_of_size(&measured),
            measured,
            holds: !outcome.first.holds,
            is_idle: false,
        }));
        all
    }

    /// The reasons for the verdict on a claim that has no measured value: `text`, and the claim's note.
    fn why_unmeasured(&self, text: Option<String>) -> Why {
        let all = text.into_iter().chain([self.note()]);
        Why {
            because: all.filter(|text| !text.is_empty()).collect(),
            ..Why::default()
        }
    }

    /// Evaluates the claim in all cases, and decides the verdict. If the claim has no value in the base run, the
    /// inner result is the reason.
    pub(super) fn outcome(&self) -> Result<Result<Outcome, NoValue>, Error> {
        let claim = self.claim;
        let readings = self.readings.and_then(|each| each.share_of(&claim.id));
        let seeds = self.seeds();
        let first = match self.attempt(&self.context(BASE, seeds.first())) {
            Ok(tried) => tried,
            Err(none) => return Ok(Err(none)),
        };
        let seed = |seed: &String| {
            let context = self.context(BASE, Some(seed));
            (format!("seed {seed}"), true, context)
        };
        let setting = |name: String| {
            let context = self.context(&name, seeds.first());
            (name, false, context)
        };
        // A setting is a case with each seed with which the study runs it.
        let seeded = |name: String| {
            let of_setting = Context::from([("variant".to_owned(), name.clone())]);
            let rows = self.over.map(|(_, rows)| rows);
            let own = rows.map_or(Vec::new(), |rows| rows.values_of("seed", &of_setting));
            let own = own.into_iter().filter(|seed| Some(seed) != seeds.first());
            let rest = own.map(|seed| {
                let context = self.context(&name, Some(&seed));
                (format!("{name}{WITH_SEED}{seed}"), false, context)
            });
            let rest: Vec<_> = rest.collect();
            std::iter::once(setting(name))
                .chain(rest)
                .collect::<Vec<_>>()
        };
        let settings = self.variants(VariantKind::Unpublished).into_iter();
        let (mut tries, mut idle, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for (name, is_seed, context) in seeds
            .iter()
            .skip(1)
            .map(seed)
            .chain(settings.flat_map(seeded))
        {
            match self.other_case(&context)? {
                // If a formula gives the seed and the variant of its runs itself, it uses the same runs as in the
                // base run. Such a result is no further case, and is dropped.
                Beside::Tried(tried) if tried.runs.is_empty() || tried.runs != first.runs => {
                    let is_same = tried.is_like(&first);
                    let cases = if is_same { &mut idle } else { &mut tries };
                    cases.push(Other {
                        name,
                        is_seed,
                        tried,
                    });
                }
                Beside::Failed(error) => {
                    let with = match is_seed {
                        true => name,
                        false => format!("the setting {name}"),
                    };
                    failed.push(Failed { with, error });
                }
                Beside::Tried(_) | Beside::NotMade => {}
            }
        }
        let all = tries.iter().map(|other| &other.tried);
        let held = std::iter::once(&first).chain(all);
        let held = held.filter(|tried| tried.holds).count();
        let role = first.inputs.iter().map(|input| input.role).max();
        let under_rules = self.readings.into_iter();
        let all = std::iter::once(&first.measured)
            .chain(tries.iter().map(|other| &other.tried.measured))
            // The first combination is that of the base run.
            .chain(under_rules.flat_map(|each| each.measured(&claim.id).skip(1)));
        let sized: Vec<bool> = all.filter_map(|case| self.is_of_size(case)).collect();
        let evidence = Evidence {
            kind: self.kind,
            role: role.unwrap_or_default(),
            share: Share {
                held,
                tried: 1 + tries.len(),
            },
            holds: first.holds,
            readings,
            sized: (!sized.is_empty()).then(|| Share {
                held: sized.iter().filter(|is_enough| **is_enough).count(),
                tried: sized.len(),
            }),
            compared: self.compares(),
            assumed: !claim.assumes.is_empty(),
            fitted: !claim.fitted.is_empty(),
            untested: first.compared == Some(0),
        };
        let verdict = decide(&evidence);
        Ok(Ok(Outcome {
            others: tries,
            idle,
            failed,
            first,
            evidence,
            verdict,
        }))
    }

    /// The smallest ratio of a measured value to its published value; `None` if the claim is not checked for its
    /// sign or has no published size.
    pub(super) fn effect(&self, measured: &Value) -> Option<f64> {
        let is_of_size = self.claim.check.check == Check::Sign && self.claim.holds.is_none();
        let ratio = ratios(measured, &self.published()).filter(|_| is_of_size);
        ratio.as_ref().and_then(smallest)
    }

    /// Whether `measured` has at least the required share of the published size; `None` if the claim is not
    /// checked for its sign or has no published size.
    pub(super) fn is_of_size(&self, measured: &Value) -> Option<bool> {
        let effect = self.effect(measured)?;
        Some(effect >= self.thresholds.effect_share)
    }

    /// Tests whether the verdict depends on the published numbers. The claim is judged again with one published
    /// number tripled, and again with this number negated. If the verdict does not change, the result is a
    /// sentence that says so; otherwise `None`. An under-determined claim is not tested, because its reason
    /// already names what its verdict depends on.
    fn unmoved(&self, now: (Verdict, Share)) -> Result<Option<String>, Error> {
        let (verdict, _) = now;
        let Some(published) = &self.claim.published else {
            return Ok(None);
        };
        if verdict == Verdict::UnderDetermined {
            return Ok(None);
        }
        // No quantity can decrease by more than 100 %.
        let is_change = self.words.is_some_and(|words| words.unit == "%");
        let least = if is_change { -100.0 } else { f64::NEG_INFINITY };
        let is_cut = altered(published, 3, f64::NEG_INFINITY) != altered(published, 3, least);
        let mut same = [false, false];
        for (times, same) in [3, -1].into_iter().zip(&mut same) {
            for other in altered(published, times, least) {
                let claim = Claim {
                    published: Some(other),
                    ..self.claim.clone()
                };
                let case = Case {
                    claim: &claim,
                    ..*self
                };
                if let Ok(other) = case.outcome()? {
                    *same |= (other.verdict, other.evidence.share) == now;
                }
            }
        }
        let larger = match is_cut {
            true => "a reduction of 100 %, the largest that is possible",
            false => "three times the published number",
        };
        // Each test changes a single number.
        let of_one = match published {
            toml::Value::Array(all) if all.len() > 1 => ", for one of its numbers",
            _ => "",
        };
        let other = match same {
            [false, false] => return Ok(None),
            [true, false] => format!("{larger}{of_one}"),
            [false, true] => format!("the negative of the published number{of_one}"),
            [true, true] => format!("{larger}, or its negative{of_one}"),
        };
        let check = self.claim.check.check;
        let alike = format!("The verdict would be the same if the paper had printed {other}");
        Ok(Some(match (verdict.holds(), verdict) {
            (false, _) => format!("The claim would also fail if the paper had printed {other}."),
            (true, Verdict::SignReproduced) if check == Check::Sign => format!(
                "{alike}, since {} of the published value is enough.",
                self.thresholds.share()
            ),
            (true, Verdict::SignOnly) => {
                format!(
                    "{alike}. The measured value is below {} of that number as well.",
                    self.thresholds.share()
                )
            }
            (true, _) if self.asks_published() => {
                format!(
                    "{alike}. The check compares the measured value with the published number, and it holds with that number as well."
                )
            }
            (true, _) => {
                format!("{alike}. What the check asks does not depend on the published number.")
            }
        }))
    }

    /// Whether the check compares the measured value with a published one.
    fn compares(&self) -> bool {
        let claim = self.claim;
        let checks = [Check::Equal, Check::Within, Check::Between];
        checks.contains(&claim.check.check) && claim.holds.is_none() && claim.published.is_some()
    }

    /// Whether the formula that has to be true uses the published value.
    fn asks_published(&self) -> bool {
        let holds = self.claim.holds.as_ref();
        holds.is_some_and(|formula| formula.contains("published"))
    }

    /// The check as text: its name, its tolerance, and its formula. The formula is the one that has to be true,
    /// or for `arithmetic` the one that computes a value from published numbers.
    fn checked(&self) -> Result<String, Error> {
        let claim = self.claim;
        let name = claim.check.check.name();
        let tolerance = self.tolerance()?;
        let tolerance = tolerance.map_or(String::new(), |by| format!(" {by}"));
        let is_arithmetic = claim.check.check == Check::Arithmetic;
        let sum = claim.measured.as_ref().filter(|_| is_arithmetic);
        let formula = match (sum, &claim.holds) {
            (None, None) => String::new(),
            (Some(one), None) | (None, Some(one)) => format!(": {one}"),
            (Some(sum), Some(holds)) => format!(": {holds}, where measured = {sum}"),
        };
        Ok(format!("{name}{tolerance}{formula}"))
    }

    pub(super) fn tolerance(&self) -> Result<Option<Tolerance>, Error> {
        let name = self.claim.check.tolerance.as_ref();
        let found = name.map(|name| self.thresholds.tolerance(name));
        found.transpose().map_err(|text| self.wrong(&text))
    }

    /// The result in the base run; `None` if a trace is missing, if a run failed, or if the claim needs no runs.
    ///
    /// # Errors
    /// If a formula of the claim is wrong.
    pub(super) fn base(&self) -> Result<Option<Tried>, Error> {
        if matches!(self.claim.check.check, Check::Not | Check::Arithmetic) {
            return Ok(None);
        }
        let seeds = self.seeds();
        match self.attempt(&self.context(BASE, seeds.first())) {
            Ok(tried) => Ok(Some(tried)),
            Err(NoValue::Missing(_) | NoValue::Failed(_)) => Ok(None),
            Err(NoValue::NoRun(text) | NoValue::NotFinite(text) | NoValue::Wrong(text)) => {
                Err(self.wrong(&text))
            }
        }
    }

    /// The note of the claim, without blanks at its ends.
    pub(super) fn note(&self) -> String {
        self.claim.note.trim().to_owned()
    }

    pub(super) fn wrong(&self, text: &str) -> Error {
        Error::Input(format!("{}: claim {}: {text}", self.paper, self.claim.id))
    }

    /// Repeats the check of a failed claim under other conditions: the variants of the study that have the kind
    /// `cause`, and the other definitions of the measured value in the claim. The result is a sentence that says
    /// under which of these conditions the claim holds. `None` if there are no such conditions.
    fn caused(&self) -> Result<Option<String>, Error> {
        let seeds = self.seeds();
        let seed = seeds.first();
        let (mut turned, mut alike) = (Vec::new(), Vec::new());
        let mut add = |what: String, tried: &Tried| {
            let figures = self.in_full(tried);
            let figures = figures.unwrap_or_else(|| short(&tried.measured));
            let cases = if tried.holds { &mut turned } else { &mut alike };
            cases.push(format!("{what}; the measured value is {figures}"));
        };
        for name in self.variants(VariantKind::Cause) {
            if let Beside::Tried(tried) = self.other_case(&self.context(&name, seed))? {
                add(self.described(&name), &tried);
            }
        }
        for cause in &self.claim.cause {
            let claim = Claim {
                measured: Some(cause.measured.clone()),
                ..self.claim.clone()
            };
            let case = Case {
                claim: &claim,
                ..*self
            };
            if let Beside::Tried(tried) = case.other_case(&self.context(BASE, seed))? {
                add(cause.about.clone(), &tried);
            }
        }
        let tries = turned.len() + alike.len();
        let tried = match tries {
            1 => "1 other condition was tried to find the cause".to_owned(),
            _ => format!("{tries} other conditions were tried to find the cause"),
        };
        let does = match (tries, turned.len()) {
            (0, _) => return Ok(None),
            (all, 0) => {
                let with = if all == 1 { "it" } else { "each of them" };
                return Ok(Some(format!(
                    "{tried}. The claim also fails with {with}: {}.",
                    alike.join("; and ")
                )));
            }
            (1, _) => "It makes the claim hold".to_owned(),
            (all, some) if all == some => "Each of them makes the claim hold".to_owned(),
            (_, 1) => "1 of them makes the claim hold".to_owned(),
            (_, some) => format!("{some} of them make the claim hold"),
        };
        let rest = match alike.is_empty() {
            true => String::new(),
            false => format!(" It also fails with {}.", alike.join("; and ")),
        };
        Ok(Some(format!(
            "{tried}. {does}: {}.{rest}",
            turned.join("; and ")
        )))
    }

    /// The result in a case other than the base run. A variant may change one of several inputs, for example
    /// exchange the stand-in for one trace; the values of the other inputs are then those of the base run.
    fn other_case(&self, context: &Context) -> Result<Beside, Error> {
        let variant = context.get("variant").filter(|name| *name != BASE);
        match self.attempt(context) {
            Ok(tried) => {
                let has = |variant| {
                    let mut runs = tried.runs.iter();
                    tried.runs.is_empty() || runs.any(|run| run.get("variant") == Some(variant))
                };
                Ok(match variant.is_none_or(has) {
                    true => Beside::Tried(tried),
                    false => Beside::NotMade,
                })
            }
            Err(NoValue::Failed(error)) => Ok(Beside::Failed(error)),
            Err(NoValue::NoRun(_) | NoValue::Missing(_)) => Ok(Beside::NotMade),
            Err(NoValue::NotFinite(text) | NoValue::Wrong(text)) => Err(self.wrong(&text)),
        }
    }

    fn seeds(&self) -> Vec<String> {
        let rows = self.over.map(|(_, rows)| rows);
        rows.map_or(Vec::new(), |rows| rows.values_of("seed", &Context::new()))
    }

    fn variants(&self, kind: VariantKind) -> Vec<String> {
        let Some((study, _)) = self.over else {
            return Vec::new();
        };
        let of_kind = study.variants().filter(|variant| variant.kind == kind);
        of_kind.map(|variant| variant.name.clone()).collect()
    }

    /// The description of the variant `name`; `None` if it has none.
    pub(super) fn about(&self, name: &str) -> Option<&str> {
        let (study, _) = self.over?;
        let variant = study.variants().find(|variant| variant.name == name)?;
        (!variant.about.is_empty()).then_some(variant.about.as_str())
    }

    /// The name of a variant, followed by its description in brackets if it has one.
    pub(super) fn described(&self, name: &str) -> String {
        match self.about(name) {
            Some(about) => format!("{name} ({about})"),
            None => name.to_owned(),
        }
    }

    fn context(&self, variant: &str, seed: Option<&String>) -> Context {
        let mut context = Context::from([("variant".to_owned(), variant.to_owned())]);
        context.extend(seed.map(|seed| ("seed".to_owned(), seed.clone())));
        context
    }

    pub(super) fn published(&self) -> Value {
        let published = self.claim.published.as_ref();
        published.map_or(Value::Null, |value| json!(value))
    }

    /// Evaluates the claim on the runs that have the labels in `context`.
    fn attempt(&self, context: &Context) -> Result<Tried, NoValue> {
        let claim = self.claim;
        let none = Arc::default();
        let rows = self.over.map_or(&none, |(_, rows)| rows);
        let published = self.published();
        let tolerance = claim.check.tolerance.as_ref();
        let tolerance = tolerance.map(|name| self.thresholds.tolerance(name));
        let tolerance = tolerance.transpose().map_err(NoValue::Wrong)?;
        let is_base = context.get("variant").is_none_or(|name| name == BASE);
        let mut whole = Tried {
            holds: true,
            ..Tried::NONE
        };
        let (mut values, mut missing, mut is_judged) = (Vec::new(), None, false);
        for (index, labels) in product(&claim.each).into_iter().enumerate() {
            let mut context = context.clone();
            context.extend(labels);
            let one = match self.attempt_one(rows, &context, (&published, tolerance)) {
                Ok(one) => one,
                // A setting that was not run with every size or input of a claim is judged with those with which it
                // was run.
                Err(none @ NoValue::NoRun(_)) if !is_base && !claim.each.is_empty() => {
                    missing.get_or_insert(none);
                    values.push(Value::Null);
                    whole.read.push(Vec::new());
                    continue;
                }
                Err(none) => return Err(none),
            };
            is_judged = true;
            whole.holds &= one.holds;
            whole
                .failed
                .extend(one.failed.into_values().map(|pairs| (index, pairs)));
            whole.inputs.extend(one.inputs);
            whole.runs.extend(one.runs);
            whole.read.extend(one.read);
            if let Some(pairs) = one.compared {
                *whole.compared.get_or_insert(0) += pairs;
            }
            values.push(one.measured);
        }
        if let Some(none) = missing.filter(|_| !is_judged) {
            return Err(none);
        }
        whole.measured = match claim.each.is_empty() {
            true => values.pop().unwrap_or_default(),
            false => Value::Array(values),
        };
        Ok(whole)
    }

    /// Evaluates one case of the claim's `each`, or the whole claim if it has none, on the runs that have the labels in
    /// `context`. `printed` has the published value and the tolerance.
    fn attempt_one(
        &self,
        rows: &Arc<Rows>,
        context: &Context,
        (published, tolerance): (&Value, Option<Tolerance>),
    ) -> Result<Tried, NoValue> {
        let claim = self.claim;
        let mut one = Tried::NONE;
        let mut read = Vec::new();
        let mut names = vec![
            ("published", published.clone()),
            ("limit", self.thresholds.limits()),
        ];
        let mut value_of = |formula: &String,
                            names: &[(&str, Value)]|
         -> Result<(Value, Vec<[usize; 2]>), NoValue> {
            let outcome = evaluate(formula, rows, context, Some(BASE), names)?;
            one.inputs.extend(outcome.inputs);
            one.runs.extend(outcome.runs);
            read.extend(outcome.read);
            one.compared = outcome.compared.or(one.compared);
            Ok((outcome.value, outcome.opposed))
        };
        let measured = match &claim.measured {
            Some(formula) => value_of(formula, &names)?.0,
            None => Value::Null,
        };
        names.push(("measured", measured.clone()));
        let (holds, opposed) = match &claim.holds {
            Some(formula) => {
                let (value, opposed) = value_of(formula, &names)?;
                (truth(&value).map_err(NoValue::Wrong)?, opposed)
            }
            None => {
                let check = claim.check.check;
                let holds = bears_out(check, tolerance, &measured, published);
                (holds.map_err(NoValue::Wrong)?, Vec::new())
            }
        };
        one.failed.extend((!holds).then_some((0, opposed)));
        one.holds = holds;
        one.measured = measured;
        one.read.push(read);
        Ok(one)
    }

    /// The name of `input` in the study file of the experiment; `None` if no run of the experiment has this
    /// input.
    fn label(&self, input: &InputFacts) -> Option<&str> {
        let (_, rows) = self.over?;
        let row = rows.all.iter().find(|row| row.input == *input)?;
        row.labels.get("input").map(String::as_str)
    }

    /// The inputs of the claim and their relations to the paper, in words.
    fn on(&self, inputs: &BTreeSet<InputFacts>) -> String {
        // A claim about the paper's rules has requests of its own, as a worked example does.
        let is_own = self.kind == Kind::Consistency;
        let each = |input: &InputFacts| {
            let label = self.label(input).unwrap_or(&input.name);
            let role = match input.role {
                Role::Made if self.kind == Kind::Example => "the example's own requests",
                Role::Made if is_own => return label.to_owned(),
                Role::Made => "made up",
                Role::Original => "the paper's own",
                role => role.spoken(),
            };
            // The parameters of a workload are omitted here, because the list of inputs shows them.
            let name = kind_of(&input.name);
            match label == name {
                true => format!("{label} ({role})"),
                false => format!("{label} ({role}: {name})"),
            }
        };
        let all: Vec<_> = inputs.iter().map(each).collect();
        match (all.is_empty(), self.kind) {
            (true, Kind::Consistency) => "numbers of the paper".to_owned(),
            _ => all.join(", "),
        }
    }

    /// The names of the cases in the claim's `each`. If the study uses smaller buffers than the paper, each size
    /// is followed by the paper's size.
    pub(super) fn names(&self, tried: &Tried) -> Option<Vec<String>> {
        let shrunk = self.over.and_then(|(study, _)| shrunk(study, &tried.runs));
        let names = each_names(self.claim, shrunk)?;
        let own = self.words.map(|words| &words.each);
        // The number of names is not compared with the number of values here; `Values::of` does that.
        Some(own.filter(|own| !own.is_empty()).cloned().unwrap_or(names))
    }

    /// The ids of the figures that show the results of the claim on `inputs`.
    ///
    /// # Errors
    /// If `words.toml` names a figure that the experiment does not have.
    fn figures(&self, inputs: &BTreeSet<InputFacts>) -> Result<Vec<String>, Error> {
        let (Some(words), Some((study, _))) = (self.words, self.over) else {
            return Ok(Vec::new());
        };
        let names: BTreeSet<_> = inputs
            .iter()
            .filter_map(|input| self.label(input))
            .collect();
        let figures = words.figures_on(names.into_iter());
        let known = study.figure_ids();
        match figures.iter().find(|id| !known.contains(&id.as_str())) {
            Some(id) => Err(self.wrong(&format!(
                "words.toml names the figure {id:?}; {} has {}",
                study.name,
                known.join(", ")
            ))),
            None => Ok(figures),
        }
    }

    /// The commands that repeat the runs of the claim; empty if the claim uses no runs.
    fn commands(&self, inputs: &BTreeSet<InputFacts>, missing: Option<&str>) -> Vec<Command> {
        // Without the trace it is unknown whether an open rule tests the claim.
        let is_tested =
            |each: &Readings| missing.is_some() || each.others(&self.claim.id).is_some();
        let of = |(study, _): (&Study, _)| {
            // No rule acts on the statistics of a trace.
            let counts_only = study.counts_only();
            let has_rules = self.readings.is_some_and(is_tested) && !counts_only;
            let how = (self.scale, has_rules, counts_only);
            commands((self.paper, &study.name), inputs, missing, how)
        };
        self.over.map_or(Vec::new(), of)
    }

    fn judged(
        &self,
        verdict: Verdict,
        tried: Option<Tried>,
        share: Option<Share>,
        why: Why,
    ) -> Result<Judged, Error> {
        let claim = self.claim;
        let tried = tried.unwrap_or(Tried::NONE);
        let each = self.names(&tried);
        let Tried {
            measured,
            inputs,
            runs,
            ..
        } = tried;
        let values = Values::of(
            claim,
            self.words,
            &self.thresholds.limits(),
            (measured, each),
        );
        let values = values.map_err(|text| self.wrong(&text))?;
        let figures = self.figures(&inputs)?;
        let ran = Ran {
            experiment: claim.experiment.clone(),
            on: self.on(&inputs),
            runs: self.over.map_or(String::new(), |(study, rows)| {
                let rules = self.readings.map_or(Vec::new(), Readings::named_rules);
                listed(study, rows, &rules, &runs)
            }),
            scale: match runs.is_empty() {
                true => String::new(),
                false => self
                    .over
                    .map_or(String::new(), |(study, _)| scaled(study, self.scale, &runs)),
            },
            commands: self.commands(&inputs, None),
            inputs: inputs
                .into_iter()
                .map(|input| {
                    let label = self.label(&input).unwrap_or_default().to_owned();
                    (input, label)
                })
                .collect(),
        };
        Ok(Judged {
            id: claim.id.clone(),
            paper: self.paper.to_owned(),
            place: claim.place.clone(),
            statement: claim.statement.clone(),
            kind: self.kind,
            check: self.checked()?,
            tolerance: self.tolerance()?,
            asked: self.asked(&values.quantity)?,
            values,
            verdict,
            counts: Counts {
                cases: share,
                ..Counts::default()
            },
            ran,
            figures,
            why,
        })
    }
}

#[cfg(test)]
mod tests;

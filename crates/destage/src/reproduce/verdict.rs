//! What becomes of a claim: decided from results, typed by nobody.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::claim::{Check, Claim, bears_out, truth};
use crate::error::Error;
use crate::study::formula::{Context, NoValue, evaluate};
use crate::study::rows::Rows;
use crate::study::shown::short;
use crate::study::{BASE, InputFacts, Study, VariantKind, product};

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It holds, on the paper's own trace or without a trace.
    Reproduced,
    /// It holds on a stand-in, in all that was tried.
    SignReproduced,
    /// It does not hold, in nothing that was tried.
    Contradicted,
    /// Published numbers contradict each other, or a proof shows that it cannot be as printed.
    Inconsistent,
    /// What was not published decides: it holds for some seeds or settings, or was fitted.
    UnderDetermined,
    /// It needs a trace that was not found.
    TraceMissing,
    /// Nothing can check it.
    NotCheckable,
}

impl Verdict {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::Reproduced,
        Self::SignReproduced,
        Self::Inconsistent,
        Self::UnderDetermined,
        Self::Contradicted,
        Self::TraceMissing,
        Self::NotCheckable,
    ];

    /// The word for it in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SignReproduced => "sign_reproduced",
            Self::Contradicted => "contradicted",
            Self::Inconsistent => "inconsistent",
            Self::UnderDetermined => "under_determined",
            Self::TraceMissing => "trace_missing",
            Self::NotCheckable => "not_checkable",
        }
    }

    /// The words for it in tables.
    #[must_use]
    pub fn spoken(self) -> String {
        match self {
            Self::Inconsistent => "inconsistent in the paper".to_owned(),
            Self::UnderDetermined => "under-determined".to_owned(),
            other => other.name().replace('_', " "),
        }
    }

    /// Whether the claim was borne out.
    #[must_use]
    pub const fn holds(self) -> bool {
        matches!(self, Self::Reproduced | Self::SignReproduced)
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its row in the table of claims.
    pub id: String,
    /// The paper.
    pub paper: String,
    /// Where the paper says it.
    pub place: String,
    /// What the paper says.
    pub statement: String,
    /// How it was checked.
    pub check: Check,
    /// How far it may be off.
    pub tolerance: Option<String>,
    /// The published value.
    pub published: Value,
    /// The measured one, under the paper's own settings and the first seed.
    pub measured: Value,
    /// What became of it.
    pub verdict: Verdict,
    /// In how many of what was tried it holds: seeds, and settings that were not published.
    pub share: Option<(usize, usize)>,
    /// What it was checked on.
    pub inputs: BTreeSet<InputFacts>,
    /// Why, in sentences.
    pub because: String,
}

impl Judged {
    /// How it was checked, with the tolerance.
    #[must_use]
    pub fn checked(&self) -> String {
        match &self.tolerance {
            Some(tolerance) => format!("{} {tolerance}", self.check.name()),
            None => self.check.name().to_owned(),
        }
    }

    /// The verdict, and in how many of what was tried it holds.
    #[must_use]
    pub fn spoken(&self) -> String {
        match self.share {
            Some((held, tried)) => format!("{} {held}/{tried}", self.verdict.spoken()),
            None => self.verdict.spoken(),
        }
    }

    /// As in the results of `reproduce`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let inputs = self.inputs.iter().map(
            |input| json!({"name": input.name, "digest": input.digest, "stand_in": input.stand_in}),
        );
        json!({
            "id": self.id,
            "paper": self.paper,
            "place": self.place,
            "statement": self.statement,
            "check": self.check.name(),
            "tolerance": self.tolerance,
            "published": self.published,
            "measured": self.measured,
            "verdict": self.verdict.name(),
            "share": self.share.map(|(held, tried)| json!({"held": held, "tried": tried})),
            "inputs": inputs.collect::<Vec<_>>(),
            "because": self.because,
        })
    }
}

/// What one context says of a claim.
struct Tried {
    measured: Value,
    holds: bool,
    inconsistent: bool,
    inputs: BTreeSet<InputFacts>,
}

impl Tried {
    /// A run that it needs gave no result.
    const FAILED: Self = Self {
        measured: Value::Null,
        holds: false,
        inconsistent: false,
        inputs: BTreeSet::new(),
    };
}

/// A claim with the study and the results it goes over, if it needs any.
pub(super) struct Case<'a> {
    pub(super) paper: &'a str,
    pub(super) claim: &'a Claim,
    pub(super) over: Option<(&'a Study, &'a Arc<Rows>)>,
}

impl Case<'_> {
    /// What becomes of the claim.
    ///
    /// # Errors
    /// If one of its formulas is wrong.
    pub(super) fn judge(&self) -> Result<Judged, Error> {
        let claim = self.claim;
        if claim.check == Check::Not {
            let (verdict, because) = match &claim.needs {
                Some(trace) => (
                    Verdict::TraceMissing,
                    format!("Needs {trace}, which nobody may pass on."),
                ),
                None => (Verdict::NotCheckable, String::new()),
            };
            return Ok(self.judged(verdict, None, None, because));
        }
        let seeds = self.seeds();
        let first = match self.attempt(&self.context(BASE, seeds.first())) {
            Ok(tried) => tried,
            Err(NoValue::Missing(trace)) => {
                let because =
                    format!("The trace {trace} was not found; --trace {trace}=FILE names it.");
                return Ok(self.judged(Verdict::TraceMissing, None, None, because));
            }
            Err(NoValue::Failed(error)) => {
                let because = format!("A run it needs gave no result: {error}.");
                return Ok(self.judged(Verdict::NotCheckable, None, None, because));
            }
            Err(NoValue::NoRun(text) | NoValue::Wrong(text)) => return Err(self.wrong(&text)),
        };
        if first.inconsistent {
            let because = match claim.check {
                Check::Arithmetic => self.arithmetic(&first),
                _ => format!("Shown by {}.", self.proof_text(&first)),
            };
            return Ok(self.judged(Verdict::Inconsistent, Some(first), None, because));
        }
        let stand_in = first.inputs.iter().any(|input| input.stand_in);
        let mut tries = Vec::new();
        for seed in seeds.iter().skip(1) {
            let label = format!("seed {seed}");
            let tried = self.try_beside(&self.context(BASE, Some(seed)))?;
            tries.extend(tried.map(|tried| (label, tried.holds)));
        }
        for name in self.variants(VariantKind::Unpublished) {
            let context = self.context(&name, seeds.first());
            let tried = self.try_beside(&context)?;
            tries.extend(tried.map(|tried| (name, tried.holds)));
        }
        let held = usize::from(first.holds) + tries.iter().filter(|(_, holds)| *holds).count();
        let tried = 1 + tries.len();
        let share = (tried > 1).then_some((held, tried));
        let against: Vec<_> = tries
            .iter()
            .filter(|(_, holds)| *holds != first.holds)
            .map(|(name, _)| name.as_str())
            .collect();
        let mut because = match share {
            Some(_) => format!("Holds in {held} of {tried} (seeds, unpublished settings)."),
            None => String::new(),
        };
        let verdict = if held == 0 {
            let turned = self.turned(seeds.first())?;
            if !turned.is_empty() {
                because.push_str(&format!(" Turned by {}.", turned.join(", or ")));
            }
            Verdict::Contradicted
        } else if held < tried {
            because.push_str(&format!(" Turned by {}.", against.join(", ")));
            Verdict::UnderDetermined
        } else if stand_in && !claim.fitted.is_empty() {
            because.push_str(&format!(
                " Fitted with {}, so it is no evidence.",
                claim.fitted.join(", ")
            ));
            Verdict::UnderDetermined
        } else if stand_in {
            Verdict::SignReproduced
        } else {
            Verdict::Reproduced
        };
        Ok(self.judged(verdict, Some(first), share, because.trim().to_owned()))
    }

    /// Whether it holds under the paper's own settings, if that can be told.
    ///
    /// # Errors
    /// If one of its formulas is wrong.
    pub(super) fn holds(&self) -> Result<Option<bool>, Error> {
        if matches!(self.claim.check, Check::Not | Check::Arithmetic) {
            return Ok(None);
        }
        let mut all = true;
        for (index, seed) in self.seeds().iter().enumerate() {
            match self.attempt(&self.context(BASE, Some(seed))) {
                Ok(tried) => all &= tried.holds,
                Err(NoValue::NoRun(_)) if index > 0 => {}
                Err(NoValue::Missing(_) | NoValue::Failed(_)) => return Ok(None),
                Err(NoValue::NoRun(text) | NoValue::Wrong(text)) => return Err(self.wrong(&text)),
            }
        }
        Ok(Some(all))
    }

    fn wrong(&self, text: &str) -> Error {
        Error::Input(format!("{}: claim {}: {text}", self.paper, self.claim.id))
    }

    /// What turns the claim, each with the figure that it leads to: the study's variants and the claim's own causes.
    fn turned(&self, seed: Option<&String>) -> Result<Vec<String>, Error> {
        let mut turned = Vec::new();
        let with = |what: String, figure: &Value| format!("{what}, measured {}", short(figure));
        for name in self.variants(VariantKind::Cause) {
            let tried = self.try_beside(&self.context(&name, seed))?;
            if let Some(tried) = tried.filter(|tried| tried.holds) {
                turned.push(with(self.described(&name), &tried.measured));
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
            let tried = case.try_beside(&self.context(BASE, seed))?;
            if let Some(tried) = tried.filter(|tried| tried.holds) {
                turned.push(with(cause.about.clone(), &tried.measured));
            }
        }
        Ok(turned)
    }

    /// A context beside the first; none if the study has no such runs.
    fn try_beside(&self, context: &Context) -> Result<Option<Tried>, Error> {
        match self.attempt(context) {
            Ok(tried) => Ok(Some(tried)),
            Err(NoValue::Failed(_)) => Ok(Some(Tried::FAILED)),
            Err(NoValue::NoRun(_) | NoValue::Missing(_)) => Ok(None),
            Err(NoValue::Wrong(text)) => Err(self.wrong(&text)),
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

    /// A variant's name with what it is.
    fn described(&self, name: &str) -> String {
        let variant = self
            .over
            .and_then(|(study, _)| study.variants().find(|variant| variant.name == name));
        match variant {
            Some(variant) if !variant.about.is_empty() => format!("{name} ({})", variant.about),
            _ => name.to_owned(),
        }
    }

    fn context(&self, variant: &str, seed: Option<&String>) -> Context {
        let mut context = Context::from([("variant".to_owned(), variant.to_owned())]);
        context.extend(seed.map(|seed| ("seed".to_owned(), seed.clone())));
        context
    }

    fn published(&self) -> Value {
        let published = self.claim.published.as_ref();
        published.map_or(Value::Null, |value| json!(value))
    }

    /// The claim in one context.
    fn attempt(&self, context: &Context) -> Result<Tried, NoValue> {
        let claim = self.claim;
        let none = Arc::default();
        let rows = self.over.map_or(&none, |(_, rows)| rows);
        let published = self.published();
        let mut inputs = BTreeSet::new();
        let (mut values, mut holds) = (Vec::new(), true);
        let mut inconsistent = false;
        for labels in product(&claim.each) {
            let mut context = context.clone();
            context.extend(labels);
            let mut names = vec![("published", published.clone())];
            let measured = match &claim.measured {
                Some(formula) => {
                    let outcome = evaluate(formula, rows, &context, &names)?;
                    inputs.extend(outcome.inputs);
                    outcome.value
                }
                None => Value::Null,
            };
            names.push(("measured", measured.clone()));
            let mut true_of = |formula: &String| {
                let outcome = evaluate(formula, rows, &context, &names)?;
                inputs.extend(outcome.inputs);
                truth(&outcome.value).map_err(NoValue::Wrong)
            };
            let one = match &claim.holds {
                Some(formula) => true_of(formula)?,
                None => bears_out(claim.check, claim.tolerance, &measured, &published)
                    .map_err(NoValue::Wrong)?,
            };
            holds &= one;
            inconsistent |= match &claim.proof {
                Some(formula) => true_of(formula)?,
                None => claim.check == Check::Arithmetic && !one,
            };
            values.push(measured);
        }
        let measured = match claim.each.is_empty() {
            true => values.pop().unwrap_or_default(),
            false => Value::Array(values),
        };
        Ok(Tried {
            measured,
            holds,
            inconsistent,
            inputs,
        })
    }

    fn arithmetic(&self, tried: &Tried) -> String {
        let formula = self.claim.measured.as_deref().unwrap_or_default();
        format!(
            "{formula} = {}, where the paper has {}.",
            short(&tried.measured),
            short(&self.published())
        )
    }

    fn proof_text(&self, tried: &Tried) -> String {
        let proof = self.claim.proof.as_deref().unwrap_or_default();
        format!("{proof}, with measured = {}", short(&tried.measured))
    }

    fn judged(
        &self,
        verdict: Verdict,
        tried: Option<Tried>,
        share: Option<(usize, usize)>,
        because: String,
    ) -> Judged {
        let claim = self.claim;
        let (measured, inputs) = match tried {
            Some(tried) => (tried.measured, tried.inputs),
            None => (Value::Null, BTreeSet::new()),
        };
        let mut sentences = vec![because];
        sentences.push(claim.note.trim().to_owned());
        sentences.retain(|text| !text.is_empty());
        Judged {
            id: claim.id.clone(),
            paper: self.paper.to_owned(),
            place: claim.place.clone(),
            statement: claim.statement.clone(),
            check: claim.check,
            tolerance: claim.tolerance.map(|tolerance| tolerance.to_string()),
            published: self.published(),
            measured,
            verdict,
            share,
            inputs,
            because: sentences.join(" "),
        }
    }
}

#[cfg(test)]
mod tests;

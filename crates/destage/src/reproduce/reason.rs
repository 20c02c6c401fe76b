//! Why a claim came out as it did, in sentences: the reason first, then what was compared and what came of it.

use std::collections::BTreeSet;

use serde_json::json;

use super::claim::Check;
use super::decide::{Evidence, Kind, Share, Verdict};
use super::values::each_names;
use super::verdict::{Case, Outcome};
use super::words::{Words, filled};
use crate::error::Error;
use crate::study::Role;
use crate::study::shown::short;

/// A value that fails is named if it has no more letters than this.
const SHORT: usize = 40;

impl Case<'_> {
    /// Why it came out so, in paragraphs.
    ///
    /// # Errors
    /// If a tolerance or a limit is not declared.
    pub(super) fn reason(&self, outcome: &Outcome) -> Result<Vec<String>, Error> {
        let Outcome {
            first, evidence, ..
        } = outcome;
        let mut because = vec![self.why(outcome), self.compared(outcome)?];
        because.extend(beside(outcome, &|name| self.described(name)));
        let relatives = first.inputs.iter();
        let relatives = relatives.filter(|input| input.role == Role::Relative);
        because.extend(relatives.map(|input| format!("{}: {}", input.name, input.differs)));
        if evidence.fitted && outcome.verdict != Verdict::UnderDetermined {
            because.push(format!(
                "Chosen so that it would hold: {}.",
                self.claim.fitted.join(", ")
            ));
        }
        Ok(because)
    }

    /// What decided the verdict.
    fn why(&self, outcome: &Outcome) -> String {
        let Outcome {
            first,
            evidence,
            verdict,
            ..
        } = outcome;
        let least = self.thresholds.effect_share;
        let seen = |effect: f64| {
            let of = short(&json!(effect));
            format!("{of} times what was published, at its smallest, and {least:.2} is asked")
        };
        let names = |role: Role| {
            let of_role = first.inputs.iter().filter(|input| input.role == role);
            // Without the parameters of a workload, which stand where it is said what it was measured on.
            let plain = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
            let names: BTreeSet<_> = of_role.map(|input| plain(&input.name)).collect();
            names.into_iter().collect::<Vec<_>>().join(", ")
        };
        let on = match evidence.role {
            Role::Original => "on the paper's own trace".to_owned(),
            Role::Relative => format!(
                "on a real relative of the paper's trace, {}",
                names(Role::Relative)
            ),
            Role::StandIn => format!(
                "on a stand-in for the paper's trace, {}",
                names(Role::StandIn)
            ),
            Role::Made => "on streams that are made up".to_owned(),
        };
        match (verdict, self.kind) {
            (Verdict::UnderDetermined, _) => self.open(evidence),
            (Verdict::Reproduced, Kind::Example) => {
                "The worked example comes out as the paper prints it.".to_owned()
            }
            (Verdict::Reproduced, _) => match evidence.readings {
                Some(share) if share.held < share.tried => {
                    "It holds on the paper's own trace with the default of each open rule, which is taken as the paper's reading.".to_owned()
                }
                _ => "It holds on the paper's own trace, with everything that was tried.".to_owned(),
            },
            (Verdict::SignReproduced, _) => match evidence.effect {
                Some(effect) => format!(
                    "The direction is as published, {on}, with everything that was tried; the size is {}.",
                    seen(effect)
                ),
                None => format!("It holds {on}, with everything that was tried."),
            },
            (Verdict::SignOnly, _) => format!(
                "The direction is as published, {on}; hardly any of the size is seen: it is {}.",
                seen(evidence.effect.unwrap_or_default())
            ),
            (Verdict::Holds, _) => "It holds in everything that was tried.".to_owned(),
            (Verdict::Consistent, _) => "What the paper prints agrees with itself.".to_owned(),
            (Verdict::Inconsistent, _) if self.claim.check.check == Check::Arithmetic => {
                "Numbers that the paper prints contradict each other.".to_owned()
            }
            (Verdict::Inconsistent, _) => {
                "The paper's rules, carried out, contradict what the paper says of them.".to_owned()
            }
            (Verdict::NotSeen, _) => format!(
                "It fails with everything that was tried, {on}: a stand-in is no evidence against the paper."
            ),
            (Verdict::Contradicted, Kind::Measured) => {
                format!("It fails with everything that was tried, {on}.")
            }
            (Verdict::Contradicted, Kind::Example) => {
                "The worked example does not come out as the paper prints it.".to_owned()
            }
            (Verdict::Contradicted, _) => {
                "It fails in what was tried, and one case is enough.".to_owned()
            }
            (Verdict::TraceMissing | Verdict::NotCheckable, _) => verdict.meaning().to_owned(),
        }
    }

    /// What decides, of a claim that the paper's own words leave open.
    fn open(&self, evidence: &Evidence) -> String {
        let mut all = Vec::new();
        let is_split = |share: &Share| share.held < share.tried;
        if evidence.assumed {
            all.push(format!("an assumption, that {}", self.claim.assumes));
        }
        if let Some(Share { held, tried }) = Some(evidence.share).filter(is_split)
            && held > 0
        {
            all.push(format!(
                "seeds and unpublished settings, of which it holds with {held} of {tried}"
            ));
        }
        if let Some(Share { held, tried }) = evidence.readings.filter(is_split) {
            all.push(format!(
                "rules that the paper leaves open, of whose combinations it holds under {held} of {tried}"
            ));
        }
        if evidence.fitted && evidence.role != Role::Original {
            all.push(format!(
                "{}, fitted so that it holds",
                self.claim.fitted.join(", ")
            ));
        }
        format!(
            "What the paper does not say decides: {}.",
            all.join("; and ")
        )
    }

    /// What was compared, what the check asks, and what came of it in the base run.
    fn compared(&self, outcome: &Outcome) -> Result<String, Error> {
        let claim = self.claim;
        let first = &outcome.first;
        if claim.check.check == Check::Arithmetic && claim.holds.is_none() {
            return Ok(format!(
                "Compared: {} = {}, where the paper has {}.",
                claim.measured.as_deref().unwrap_or_default(),
                short(&first.measured),
                short(&self.published())
            ));
        }
        let quantity = match self.said(|words| &words.quantity)?.as_str() {
            "" => String::new(),
            words => format!("Compared: {words}. "),
        };
        let asked = self.asked()?;
        let names = each_names(claim).unwrap_or_default();
        let result = match (first.holds, names.len()) {
            (true, _) => "holds".to_owned(),
            (false, 0 | 1) => "fails".to_owned(),
            (false, all) if first.failed.len() == all => format!("fails for each of the {all}"),
            (false, _) => {
                let of = |index: &usize| {
                    let name = names.get(*index).cloned().unwrap_or_default();
                    let value = first.measured.get(*index).map(short).unwrap_or_default();
                    match value.len() {
                        1..=SHORT => format!("{name} ({value})"),
                        _ => name,
                    }
                };
                let all: Vec<_> = first.failed.iter().map(of).collect();
                format!("fails for {}", all.join("; "))
            }
        };
        let run = match self.over {
            Some(_) => "Base run",
            None => "So it",
        };
        let between = if run == "Base run" { ": " } else { " " };
        Ok(format!("{quantity}Asked: {asked}. {run}{between}{result}."))
    }

    /// What stands in `words.toml` of the claim, with the limits that it names.
    fn said(&self, which: impl Fn(&Words) -> &String) -> Result<String, Error> {
        let text = self.words.map_or("", |words| which(words));
        filled(text, &self.thresholds.limits()).map_err(|text| self.wrong(&text))
    }

    /// What the check asks, as the end of a sentence.
    ///
    /// # Errors
    /// If its tolerance or a limit is not declared.
    pub(super) fn asked(&self) -> Result<String, Error> {
        let words = self.said(|words| &words.asks)?;
        if !words.is_empty() {
            return Ok(words);
        }
        let tolerance = self.tolerance()?;
        let within = tolerance.map_or(String::new(), |by| format!(", within {by}"));
        let least = self.thresholds.effect_share;
        Ok(match (self.claim.check.check, &self.claim.holds) {
            (_, Some(formula)) => format!("{formula} is true"),
            (Check::Equal, _) => "measured is exactly what was published".to_owned(),
            (Check::Within, _) => format!("measured is what was published{within}"),
            (Check::Between, _) => {
                format!("measured lies between the two published values{within}")
            }
            (Check::Order, _) => {
                "the measured values, in the order in which they stand, grow".to_owned()
            }
            (Check::Sign, _) => format!(
                "measured has the sign of what was published; whether {least:.2} of its size is seen decides between sign reproduced and sign only"
            ),
            (Check::Property, _) => "each is true".to_owned(),
            (Check::Arithmetic, _) => format!("what follows is what the paper prints{within}"),
            (Check::Not, _) => "nothing".to_owned(),
        })
    }
}

/// What seeds and unpublished settings made of it, if any were tried beside the base run.
fn beside(outcome: &Outcome, described: &dyn Fn(&str) -> String) -> Option<String> {
    if outcome.others.is_empty() {
        return None;
    }
    let Share { held, tried } = outcome.evidence.share;
    // What comes out otherwise than the base run is what decides: it is named with what it is.
    let with = |wanted: bool| {
        let some = outcome.others.iter().filter(|(_, holds)| *holds == wanted);
        let names: Vec<_> = some
            .map(|(name, _)| match wanted == outcome.first.holds {
                true => name.clone(),
                false => described(name),
            })
            .collect();
        names.join("; ")
    };
    let base = match outcome.first.holds {
        true => "holds",
        false => "fails",
    };
    let mut text =
        format!("Seeds and unpublished settings: holds with {held} of {tried}. Base run: {base}.");
    for (wanted, word) in [(true, "Holds"), (false, "Fails")] {
        match with(wanted).as_str() {
            "" => {}
            names => text.push_str(&format!(" {word} with: {names}.")),
        }
    }
    Some(text)
}

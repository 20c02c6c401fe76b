//! Why a claim came out as it did, in sentences: the reason first, then what a reader should know; what it was asked; and what turns it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::claim::Check;
use super::decide::{Kind, Share, Verdict};
use super::values::each_names;
use super::verdict::{Case, Outcome};
use super::words::{Words, filled, labelled};
use crate::error::Error;
use crate::study::Role;
use crate::study::shown::short;

/// A value that fails is named if it has no more letters than this.
const SHORT: usize = 90;

impl Case<'_> {
    /// Why it came out so, in paragraphs.
    pub(super) fn reason(&self, outcome: &Outcome) -> Vec<String> {
        let Outcome {
            first, evidence, ..
        } = outcome;
        let mut because = vec![self.why(outcome)];
        because.extend(self.of_each(outcome));
        let relatives = first.inputs.iter();
        let relatives = relatives.filter(|input| input.role == Role::Relative);
        because.extend(relatives.map(|input| format!("{}: {}", input.name, input.differs)));
        if evidence.fitted && outcome.verdict != Verdict::UnderDetermined {
            because.push(format!(
                "Chosen so that it would hold: {}.",
                self.claim.fitted.join(", ")
            ));
        }
        because
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
        let all = self.everything(evidence.share);
        match (verdict, self.kind) {
            (Verdict::UnderDetermined, _) => self.open(outcome),
            (Verdict::Reproduced, Kind::Example) => {
                "The worked example comes out as the paper prints it.".to_owned()
            }
            (Verdict::Reproduced, _) => match evidence.readings {
                Some(share) if share.held < share.tried => format!(
                    "It holds on the paper's own trace with {}, which is therefore taken as what the paper did.",
                    self.readings
                        .map_or(String::new(), |each| each.defaults(&self.claim.id))
                ),
                _ => format!("It holds on the paper's own trace{all}."),
            },
            (Verdict::SignReproduced, _) => match evidence.effect {
                Some(effect) => format!(
                    "The direction is as published, {on}{all}; the size is {}.",
                    seen(effect)
                ),
                None => format!("It holds {on}{all}."),
            },
            (Verdict::SignOnly, _) => format!(
                "The direction is as published, {on}; hardly any of the size is seen: it is {}.",
                seen(evidence.effect.unwrap_or_default())
            ),
            (Verdict::Holds, _) => format!("It holds in everything that was tried{all}."),
            (Verdict::Consistent, _) => "What the paper prints agrees with itself.".to_owned(),
            (Verdict::Inconsistent, _) if self.claim.check.check == Check::Arithmetic => {
                "Numbers that the paper prints contradict each other.".to_owned()
            }
            (Verdict::Inconsistent, _) => {
                "The paper's rules, carried out, contradict what the paper says of them.".to_owned()
            }
            (Verdict::NotSeen, _) => format!(
                "It fails {on}{all}: what a stand-in does is no evidence against the paper."
            ),
            (Verdict::Contradicted, Kind::Measured) => format!("It fails {on}{all}."),
            (Verdict::Contradicted, Kind::Example) => {
                "The worked example does not come out as the paper prints it.".to_owned()
            }
            (Verdict::Contradicted, _) => {
                "It fails in what was tried, and one case is enough.".to_owned()
            }
            (Verdict::TraceMissing | Verdict::NotCheckable, _) => verdict.meaning().to_owned(),
        }
    }

    /// With what a claim comes out the same, behind what it does: nothing if nothing was varied.
    fn everything(&self, Share { tried, .. }: Share) -> String {
        let mut all = Vec::new();
        if tried > 1 {
            all.push(match tried - 1 {
                1 => "in the base run and with the one seed or unpublished setting that was varied"
                    .to_owned(),
                others => format!(
                    "in the base run and with each of the {others} seeds and unpublished settings that were varied"
                ),
            });
        }
        if let Some((combinations, rules)) = self.rules() {
            all.push(format!(
                "under each of {combinations} combinations of the {rules} rules that the paper leaves open"
            ));
        }
        match all.is_empty() {
            true => String::new(),
            false => format!(", {}", all.join(" and ")),
        }
    }

    /// How many combinations of how many open rules were tried on it, if any.
    fn rules(&self) -> Option<(usize, usize)> {
        let readings = self.readings?;
        let first = readings.combinations.first()?;
        first.claims.get(&self.claim.id)?;
        Some((readings.combinations.len(), readings.rules.len()))
    }

    /// What decides, of a claim that the paper's own words leave open.
    fn open(&self, outcome: &Outcome) -> String {
        let Outcome {
            first, evidence, ..
        } = outcome;
        let is_split = |share: &Share| share.held < share.tried;
        let base = match first.holds {
            true => "holds",
            false => "fails",
        };
        let mut all = Vec::new();
        if evidence.assumed {
            return format!(
                "It rests on an assumption, which the paper does not make: {}. With it the claim {base}.",
                self.claim.assumes
            );
        }
        if let Some(Share { held, tried }) = Some(evidence.share).filter(is_split)
            && held > 0
        {
            all.push(format!(
                "over seeds and unpublished settings, with the base run among them, it holds in {held} of {tried} cases"
            ));
        }
        if let Some(Share { held, tried }) = evidence.readings.filter(is_split) {
            all.push(format!(
                "over the rules that the paper leaves open it holds in {held} of {tried} combinations"
            ));
        }
        if all.is_empty() {
            return format!(
                "It {base}, but with {}, fitted so that it holds: that is no evidence.",
                self.claim.fitted.join(", ")
            );
        }
        let mut text = format!(
            "It {base} in the base run, and what the paper does not say turns it: {}.",
            all.join("; ")
        );
        if evidence.fitted && evidence.role != Role::Original {
            text.push_str(&format!(
                " Besides, {} was fitted so that it holds.",
                self.claim.fitted.join(", ")
            ));
        }
        text
    }

    /// For which of its traces, sizes or settings the base run holds, of a claim that is asked of several.
    fn of_each(&self, outcome: &Outcome) -> Option<String> {
        let first = &outcome.first;
        let names = each_names(self.claim).unwrap_or_default();
        let all = names.len();
        if all < 2 {
            return None;
        }
        let failed = first.failed.len();
        Some(match failed {
            0 => format!("Base run: it holds for each of the {all}."),
            _ if failed == all => format!("Base run: it fails for each of the {all}."),
            _ => {
                let words = self.words.cloned().unwrap_or_default();
                let named = |value: &Value| {
                    // The names fit, or the claim would have been refused.
                    labelled(value, &words.labels, &words.unit).unwrap_or_default()
                };
                let of = |index: &usize| {
                    let name = names.get(*index).cloned().unwrap_or_default();
                    let value = first.measured.get(*index).map(named).unwrap_or_default();
                    match value.len() {
                        1..=SHORT => format!("{name} ({value})"),
                        _ => name,
                    }
                };
                let listed: Vec<_> = first.failed.iter().map(of).collect();
                format!(
                    "Base run: it fails for {failed} of {all}: {}.",
                    listed.join("; ")
                )
            }
        })
    }

    /// What stands in `words.toml` of the claim, with the limits that it names.
    fn said(&self, which: impl Fn(&Words) -> &String) -> Result<String, Error> {
        let text = self.words.map_or("", |words| which(words));
        filled(text, &self.thresholds.limits()).map_err(|text| self.wrong(&text))
    }

    /// What is asked of `quantity`, as a sentence; nothing of what cannot be checked.
    ///
    /// # Errors
    /// If its tolerance or a limit is not declared.
    pub(super) fn asked(&self, quantity: &str) -> Result<String, Error> {
        if self.claim.check.check == Check::Not {
            return Ok(String::new());
        }
        let of = match quantity {
            "" => String::new(),
            words => format!("{}: ", capital(words)),
        };
        Ok(capital(&format!("{of}{}.", self.demand()?)))
    }

    /// What the check asks, as the end of a sentence.
    fn demand(&self) -> Result<String, Error> {
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
                "measured has the sign of what was published; from {least:.2} of its size on the verdict is sign reproduced, below that sign only"
            ),
            (Check::Property, _) => "each is true".to_owned(),
            (Check::Arithmetic, _) => {
                format!(
                    "what follows from other published numbers is what the paper prints{within}"
                )
            }
            (Check::Not, _) => "nothing".to_owned(),
        })
    }

    /// With what the claim comes out otherwise than in the base run, of seeds, unpublished settings and open rules.
    pub(super) fn turned(&self, outcome: &Outcome) -> Vec<String> {
        let seeds = self.beside(outcome);
        let rules = self
            .readings
            .and_then(|readings| readings.turned(&self.claim.id));
        seeds.into_iter().chain(rules).collect()
    }

    /// Which seeds and unpublished settings turn it, if any were tried beside the base run.
    fn beside(&self, outcome: &Outcome) -> Option<String> {
        let (turning, others): (Vec<_>, Vec<_>) = outcome
            .others
            .iter()
            .partition(|(_, holds)| *holds != outcome.first.holds);
        let names = |of: &[&(String, bool)]| {
            let names: Vec<_> = of.iter().map(|(name, _)| name.as_str()).collect();
            names.join("; ")
        };
        let tried = outcome.others.len();
        let what = "seeds and unpublished settings, one at a time";
        match (tried, turning.len()) {
            (0, _) => None,
            (1, 0) => Some(format!(
                "Not by the one seed or unpublished setting that was varied: {}.",
                names(&others)
            )),
            (_, 0) => Some(format!("None of {tried} {what}: {}.", names(&others))),
            (_, count) => {
                let described: Vec<_> = turning
                    .iter()
                    .map(|(name, _)| self.described(name))
                    .collect();
                let base = match outcome.first.holds {
                    true => "fails",
                    false => "holds",
                };
                let rest = match others.is_empty() {
                    true => String::new(),
                    false => format!(" Not by: {}.", names(&others)),
                };
                Some(format!(
                    "{count} of {tried} {what}: it {base} with {}.{rest}",
                    described.join("; ")
                ))
            }
        }
    }
}

/// `text` with its first letter large.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

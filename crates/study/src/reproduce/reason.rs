//! Explains a verdict in sentences. There are four kinds: the main reason with remarks, further details, the
//! condition that the check tests, and the cases in which the result of the check differs from the base run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::claim::{Check, Tolerance, bears_out, ratios, scaled};
use super::decide::{Kind, Share, Verdict};
use super::values::each_things;
use super::verdict::{Case, Failed, Other, Outcome, Tried, WITH_SEED, is_inferred};
use super::words::{Words, bounded, filled, labelled, ranged};
use crate::Role;
use crate::shown::short;
use destage::Error;
use destage_sim::settings::kind_of;

/// A sentence contains a value only if the text of the value has at most this many bytes.
const SHORT: usize = 120;

/// If the claim fails, longer values are allowed, up to this number of bytes, because only the values explain why
/// the claim fails.
const LONG: usize = 160;

/// A list of settings contains their descriptions only if it has at most this many settings.
const EXPLAINED: usize = 3;

/// The name of a quantity is given in brackets only if it has at most this many bytes.
const NOUN: usize = 80;

/// If `agree` finds more pairs in opposite order than this number, only this number of pairs is given with
/// the values.
const PAIRS: usize = 2;

/// The range over the seeds is given only if the measured value has at most this many numbers. For at least one
/// of the numbers, the range divided by the mean also has to be at least `WIDE`.
const FEW: usize = 8;
const WIDE: f64 = 0.05;

/// The reasons for a verdict, in paragraphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// The main reason in one or two sentences, followed by remarks.
    pub because: Vec<String>,
    /// Further details: other cases in which the result of the check differs, the number of cases in which the
    /// claim holds, the range over the seeds, and whether the verdict would be the same for another published
    /// number.
    pub folded: Vec<String>,
    /// The cases in which the result of the check differs from the base run. There is one text for seeds and
    /// settings, one for open rules, and for a failed claim one for other conditions.
    pub turned: Vec<String>,
}

/// The reason why a claim is under-determined: the case in which the result of the check differs from the base
/// run.
enum Decisive<'o> {
    /// Another seed, or an unpublished setting.
    Beside(&'o Other),
    /// Open rules: the smallest number of rules that have to change together, and all choices of that many rules,
    /// in words.
    Rules(usize, Vec<String>),
}

impl Case<'_> {
    /// Explains the verdict in `outcome`.
    pub(super) fn reason(&self, outcome: &Outcome) -> Why {
        let mut because = vec![self.why(outcome)];
        let mut folded = Vec::new();
        let is_explained = outcome.evidence.assumed || outcome.evidence.fails_on_part();
        if outcome.verdict == Verdict::UnderDetermined && !is_explained {
            because.extend(self.dependence(outcome));
            because.extend(self.besides(outcome));
        }
        if outcome.verdict == Verdict::UnderDetermined {
            because.extend(self.never_sized(outcome));
        }
        if outcome.verdict == Verdict::Reproduced && outcome.evidence.readings.is_some() {
            let rules = self.readings.map(|each| each.defaults(&self.claim.id));
            because.extend(rules.map(|rules| format!("Here {rules}.")));
        }
        because.extend(outcome.failed.iter().map(|Failed { with, error }| {
            format!("The case with {with} is left out, since a run gave no result: {error}.")
        }));
        because.push(self.note());
        folded.extend(self.cases(outcome));
        folded.extend(self.over_seeds(outcome));
        if outcome.evidence.fitted && outcome.verdict != Verdict::UnderDetermined {
            let does = match outcome.first.holds {
                true => "chosen so that it would hold",
                false => "fitted, but the claim still fails",
            };
            folded.push(format!("Besides, {} {does}.", self.fitted()));
        }
        because.retain(|text| !text.is_empty());
        Why {
            because,
            folded,
            turned: self.turned(outcome),
        }
    }

    /// The main reason for the verdict, in one or two sentences.
    fn why(&self, outcome: &Outcome) -> String {
        let Outcome {
            first,
            evidence,
            verdict,
            others,
            ..
        } = outcome;
        let on = self.evidence_on(outcome);
        let too = |said: &str| {
            self.everything(others)
                .map_or(String::new(), |all| format!(" {said} {all}."))
        };
        let does = too(&format!("It also {}", spoken(first.holds)));
        let state = format!("{}{}", self.state(first), self.since(first));
        let there = format!("{}, {}", capital(&on), small(&state));
        let figures = self.measured(first);
        match (verdict, self.kind) {
            (Verdict::UnderDetermined, _) => self.open(outcome),
            (Verdict::NotCheckable, _) if evidence.untested => format!(
                "The check compares nothing {on}: no two of the values differ by more than {} % in both of the quantities that are compared, so that no order can be reversed, and the check would hold whatever the paper says.",
                short(&self.thresholds.limits()["about"])
            ),
            (Verdict::Reproduced, Kind::Example) => {
                let noun = self
                    .noun()
                    .map_or(String::new(), |noun| format!(" ({noun})"));
                format!(
                    "What is judged of the worked example{noun} comes out as the paper prints it."
                )
            }
            (Verdict::Reproduced, _) => match evidence.readings {
                Some(Share { held, tried }) if held < tried => format!(
                    "{there}. The claim holds under {held} of the {tried} combinations of the rules that the paper leaves open, and fails under the others. The paper used one of these combinations, and does not say which; on its own trace a claim counts as reproduced if one of them gives the value that the paper prints."
                ),
                _ => format!("{there}.{does}"),
            },
            (Verdict::SignReproduced, _) => match self.effect(&first.measured) {
                Some(effect) => {
                    format!(
                        "{}{}",
                        self.sized(first, effect, "and", &on),
                        too("The same is so")
                    )
                }
                None => format!("{there}.{does}"),
            },
            (Verdict::SignOnly, _) => {
                let effect = self.effect(&first.measured).unwrap_or_default();
                format!(
                    "{}{}",
                    self.sized(first, effect, "but", &on),
                    too("The same is so")
                )
            }
            (Verdict::Holds, _) => match self.since(first).strip_prefix(", since ") {
                Some(since) => {
                    let state = self.state(first);
                    let said = match self.subject_of(since) {
                        Some(noun) => format!("{}: {since}. {state}", capital(&noun)),
                        None => format!("{}: {}", capital(since), small(&state)),
                    };
                    format!("{said}.{}", too("The same is so"))
                }
                None => format!("{state}.{does}"),
            },
            (Verdict::Consistent, _) => {
                format!(
                    "What the paper prints agrees with itself{}.",
                    self.followed(figures)
                )
            }
            (Verdict::Inconsistent, _) if self.claim.check.check == Check::Arithmetic => {
                format!(
                    "Numbers that the paper prints contradict each other{}.",
                    self.followed(figures)
                )
            }
            (Verdict::Inconsistent, _) => format!(
                "The paper's rules, carried out, contradict {}{}.",
                match is_inferred(&self.claim.statement) {
                    true => "what this project infers from them",
                    false => "what the paper says of them",
                },
                in_brackets(figures)
            ),
            (Verdict::NotSeen, _) => {
                let what = match evidence.role {
                    Role::Unrelated => "a recording of another system",
                    _ => "a stand-in",
                };
                format!("{there}; what {what} does is no evidence against the paper.{does}")
            }
            (Verdict::Contradicted, Kind::Measured) => format!("{there}.{does}"),
            (Verdict::Contradicted, Kind::Example) => {
                "What is judged of the worked example does not come out as the paper prints it."
                    .to_owned()
            }
            (Verdict::Contradicted, Kind::General) => format!("{state}, and one case is enough."),
            (Verdict::Contradicted, _) => format!("{state}.{does}"),
            (Verdict::TraceMissing | Verdict::NotCheckable, _) => verdict.meaning().to_owned(),
        }
    }

    /// A text in brackets about the consistency of published numbers. The text contains `figures`, which was
    /// computed from other published numbers, and the number that the paper prints, if this is short enough. The
    /// text is empty if `figures` is `None`.
    fn followed(&self, figures: Option<String>) -> String {
        let printed = self.printed();
        figures.map_or(String::new(), |value| match printed {
            Some(printed) => {
                format!(" (its other numbers give {value}, and it prints {printed})")
            }
            None => format!(" (its numbers give {value})"),
        })
    }

    /// The published value as text, with the names of its elements and the unit. `None` if the value contains
    /// anything other than numbers, or if the text is too long for a sentence.
    fn printed(&self) -> Option<String> {
        let published = self.published();
        let text = match self.claim.check.check {
            Check::Between => bounded(&published, self.words.map_or("", |words| &words.unit)),
            _ => in_commas(&self.named(&published)?),
        };
        (is_numeric(&published) && (1..=SHORT).contains(&text.len())).then_some(text)
    }

    /// The relation of the inputs of the base run to the paper, and the names of these inputs: `on a real
    /// relative of the paper's trace, financial1-asu9`.
    fn evidence_on(&self, outcome: &Outcome) -> String {
        let role = outcome.evidence.role;
        let inputs = outcome.first.inputs.iter();
        let of_role = inputs.filter(|input| input.role == role);
        // The parameters of a workload are omitted here, because the list of inputs shows them.
        let names: BTreeSet<_> = of_role.map(|input| kind_of(&input.name)).collect();
        let names: Vec<_> = names.into_iter().collect();
        match (role, names.as_slice()) {
            (Role::Original, [] | [_]) => "on the paper's own trace".to_owned(),
            (Role::Original, _) => "on the paper's own traces".to_owned(),
            (Role::Made, _) => "on streams that are made up".to_owned(),
            (Role::Measured, _) => "on measured drives".to_owned(),
            (Role::Relative, [one]) => {
                format!("on a real relative (a part) of the paper's trace, {one}")
            }
            (Role::Unrelated, all) => format!(
                "on a recording of a system other than that of the paper's trace, {}",
                listed(all)
            ),
            (Role::StandIn, [one]) => format!("on a stand-in for the paper's trace, {one}"),
            (Role::Relative, all) => {
                format!(
                    "on real relatives (parts) of the paper's traces, {}",
                    listed(all)
                )
            }
            (Role::StandIn, all) => {
                format!("on stand-ins for the paper's traces, {}", listed(all))
            }
        }
    }

    /// A sentence that the measured value in `tried` has the sign of the published value. The sentence also
    /// contains `effect`, the smallest ratio of a measured value to its published value. `and` is the conjunction
    /// before the ratio, and `on` names the inputs.
    fn sized(&self, tried: &Tried, effect: f64, and: &str, on: &str) -> String {
        let least = self.thresholds.share();
        let effect = short(&json!(effect));
        let [are, smallest] = match tried.measured.as_array() {
            Some(all) if all.len() > 1 => ["directions are", "the smallest of "],
            _ => ["direction is", ""],
        };
        let values = match (self.measured(tried), self.printed()) {
            (Some(measured), Some(printed)) => {
                format!(" (measured {measured}; published {printed})")
            }
            _ => String::new(),
        };
        format!(
            "{}, the {are} as published{values}, {and} {smallest}measured over published is {effect}; at least {least} is asked.",
            capital(on)
        )
    }

    /// A clause that says whether the claim holds in `tried`. The clause contains the measured number, or the
    /// cases of the claim's `each` that fail: `Measured is 12 %: it holds`, `It fails for 1 of the 5 sizes of the
    /// buffer (32 MiB: 12 %)`.
    fn state(&self, tried: &Tried) -> String {
        let does = spoken(tried.holds);
        let is_one =
            tried.measured.is_number() || tried.measured.get(0).is_some_and(Value::is_number);
        match (self.of_each(tried), self.measured(tried)) {
            (Some(each), _) => format!("The claim {does} {each}"),
            (None, Some(value)) if is_one && !value.contains(", ") => {
                let made = match self.over.is_none() {
                    true => "computed",
                    false => "measured",
                };
                match value.split_once(": ") {
                    Some((name, value)) => {
                        format!("The {made} value ({name}) is {value}: the claim {does}")
                    }
                    None => format!("The {made} value is {value}: the claim {does}"),
                }
            }
            // The measured values are given only if the claim fails, because the values show the reason. If the
            // claim holds, all values satisfy the condition.
            (None, figures) if !tried.holds => {
                format!(
                    "The claim {does}{}",
                    self.fault(tried).unwrap_or(in_brackets(figures))
                )
            }
            (None, _) => format!("The claim {does}"),
        }
    }

    /// The condition that the check tests, as the end of a sentence: `, since each is below 0`. Empty if the text
    /// is too long.
    fn since(&self, tried: &Tried) -> String {
        let asks = self.said(|words| &words.asks).unwrap_or_default();
        let is_one = tried.measured.is_number() && self.claim.holds.is_none();
        let interval = self.tolerance().ok().flatten().filter(|_| is_one);
        let interval = interval.and_then(|by| self.interval(by));
        match (asks.len(), interval, tried.holds) {
            (1..=SHORT, _, true) => format!(", since {asks}"),
            (1..=SHORT, _, false) => format!("; the check asks that {asks}"),
            (0, Some(interval), true) => format!(", since that is {interval}"),
            (0, Some(interval), false) => format!(", since that is not {interval}"),
            _ => String::new(),
        }
    }

    /// The elements of the measured value that make the claim fail in `tried`, in brackets; `None` if these
    /// elements cannot be determined.
    fn fault(&self, tried: &Tried) -> Option<String> {
        let (index, pairs) = tried.failed.first_key_value()?;
        let value = match self.claim.each.is_empty() {
            true => &tried.measured,
            false => tried.measured.get(*index)?,
        };
        let said = self
            .opposed(value, pairs)
            .or_else(|| self.failing_elements(value))?;
        Some(format!(" ({said})"))
    }

    /// The `pairs` of elements that are in opposite order in the lists of `value`. Each pair is given with its
    /// names and values: `FAB against CLC: evictions 3 and 2, pages 5 and 4`.
    fn opposed(&self, value: &Value, pairs: &[[usize; 2]]) -> Option<String> {
        let [lists, names] = self.words?.labels.as_slice() else {
            return None;
        };
        let pair = |[one, other]: &[usize; 2]| -> Option<String> {
            let values = lists.iter().enumerate().map(|(place, list)| {
                let at = |part: &usize| Some(short(value.get(place)?.get(*part)?));
                Some(format!("{list} {} and {}", at(one)?, at(other)?))
            });
            let values: Option<Vec<_>> = values.collect();
            let pair = against(names, [*one, *other])?;
            Some(format!("{pair}: {}", values?.join(", ")))
        };
        let named: Option<Vec<_>> = pairs.iter().take(PAIRS).map(pair).collect();
        let named = named?.join("; ");
        let rest = match pairs.len().saturating_sub(PAIRS) {
            0 => String::new(),
            1 => "; and one more pair".to_owned(),
            some => format!("; and {some} more pairs"),
        };
        (!named.is_empty()).then(|| format!("{named}{rest}"))
    }

    /// The names of the `pairs` of elements: `FAB against CLC`. `None` if `pairs` is empty or the elements have
    /// no names.
    fn pairs(&self, pairs: &[[usize; 2]]) -> Option<String> {
        let [_, names] = self.words?.labels.as_slice() else {
            return None;
        };
        let named = pairs.iter().map(|pair| against(names, *pair));
        let named: Vec<_> = named.collect::<Option<_>>()?;
        (!named.is_empty()).then(|| listed(&named))
    }

    /// The elements of `value` that fail the check, each with its published value; `None` if the check does not
    /// compare each element with a published value.
    fn failing_elements(&self, value: &Value) -> Option<String> {
        let words = self.words?;
        let [names] = words.labels.as_slice() else {
            return None;
        };
        let is_compared = matches!(
            self.claim.check.check,
            Check::Equal | Check::Within | Check::Sign
        );
        if !is_compared || self.claim.holds.is_some() {
            return None;
        }
        let published = self.published();
        let tolerance = self.tolerance().ok()?;
        let parts = names.iter().zip(value.as_array()?).enumerate();
        let apart = parts.filter_map(|(place, (name, part))| {
            let printed = published.get(place)?;
            let holds = bears_out(self.claim.check.check, tolerance, part, printed).ok()?;
            let said = |value| labelled(value, &[], &words.unit).unwrap_or_default();
            (!holds).then(|| format!("{name}: {}, published {}", said(part), said(printed)))
        });
        let apart: Vec<_> = apart.collect();
        (!apart.is_empty()).then(|| format!("measured {}", apart.join("; ")))
    }

    /// A clause that says whether the claim holds in `tried`, followed by the measured value in brackets, or by
    /// the cases of the claim's `each` that hold or fail.
    fn outcome_in(&self, tried: &Tried) -> String {
        let does = spoken(tried.holds);
        match self.of_each(tried) {
            Some(each) => format!("it {does} {each}"),
            None => {
                let fault = || (!tried.holds).then(|| self.fault(tried)).flatten();
                let said = fault().unwrap_or_else(|| in_brackets(self.beside_printed(tried)));
                format!("it {does}{}{said}", self.in_direction(tried))
            }
        }
    }

    /// A remark on a sign that is the published one, while the size of the effect is too small to count as seen.
    fn in_direction(&self, tried: &Tried) -> &'static str {
        let is_small = self.is_of_size(&tried.measured) == Some(false);
        match tried.holds && self.claim.check.check == Check::Sign && is_small {
            true => " in its direction, not in its size",
            false => "",
        }
    }

    /// The measured value in `tried`. For the checks `sign` and `between`, the published value follows.
    fn beside_printed(&self, tried: &Tried) -> Option<String> {
        let measured = self.measured(tried)?;
        let is_compared = matches!(self.claim.check.check, Check::Sign | Check::Between);
        let is_compared = is_compared && self.claim.holds.is_none();
        Some(match self.printed().filter(|_| is_compared) {
            Some(printed) => format!("{measured}; published {printed}"),
            None => measured,
        })
    }

    /// The cases of the claim's `each`, such as traces or sizes, that hold or fail in `tried`; `None` if there
    /// are fewer than two cases.
    fn of_each(&self, tried: &Tried) -> Option<String> {
        let names = self.names(tried).filter(|names| names.len() > 1)?;
        let things = match self.words {
            // If `words.toml` has names for the cases, the axes of the cases are not mentioned.
            Some(words) if !words.each.is_empty() => format!("{} cases", names.len()),
            _ => each_things(self.claim),
        };
        let failed = tried.failed.len();
        if failed == 0 {
            return Some(format!("for each of the {things}{}", bracketed(&names)));
        }
        let words = self.words.cloned().unwrap_or_default();
        let of = |(index, pairs): (&usize, &Vec<[usize; 2]>)| {
            let name = names.get(*index).cloned().unwrap_or_default();
            let value = tried.measured.get(*index);
            // The values of pairs in opposite order are given only for the first case that fails. For the other
            // cases, only the names of the pairs are given.
            let opposed = match Some(index) == tried.failed.keys().next() {
                true => value.and_then(|value| self.opposed(value, pairs)),
                false => self.pairs(pairs),
            };
            if let Some(opposed) = opposed {
                return format!("{name}: {opposed}");
            }
            // This cannot fail here: if the names did not match the values, judging the claim would have failed
            // before.
            let value = value
                .map(|value| labelled(&ranged(value, words.range), &words.labels, &words.unit));
            match in_commas(&value.and_then(Result::ok).unwrap_or_default()) {
                value if (1..=SHORT).contains(&value.len()) => format!("{name}: {value}"),
                _ => name,
            }
        };
        let listed: Vec<_> = tried.failed.iter().map(of).collect();
        let of_all = match failed == names.len() {
            true => "each".to_owned(),
            false => failed.to_string(),
        };
        let listed = listed.join("; ");
        // If all cases fail and the text with their values is too long for a sentence, only the names of the
        // cases are given.
        Some(match failed == names.len() && listed.len() > 2 * LONG {
            true => format!("for {of_all} of the {things}{}", bracketed(&names)),
            false => format!("for {of_all} of the {things} ({listed})"),
        })
    }

    /// The measured value in `tried` as text, with the names of its elements and the unit. `None` if the value
    /// contains anything other than numbers, or if the text is too long for a sentence.
    pub(super) fn measured(&self, tried: &Tried) -> Option<String> {
        let text = self.in_full(tried)?;
        let most = if tried.holds { SHORT } else { LONG };
        (is_numeric(&tried.measured) && (1..=most).contains(&text.len())).then_some(text)
    }

    /// The measured value in `tried` as text of any length, with the names of its elements and the unit.
    pub(super) fn in_full(&self, tried: &Tried) -> Option<String> {
        let words = self.words.cloned().unwrap_or_default();
        let (value, each) = match self.names(tried) {
            // If the claim has only one case, the case is not named.
            Some(names) if names.len() == 1 => (tried.measured.get(0)?, None),
            names => (&tried.measured, names),
        };
        let labels: Vec<_> = each.into_iter().chain(words.labels).collect();
        let text = labelled(&ranged(value, words.range), &labels, &words.unit).ok()?;
        Some(in_commas(&text))
    }

    /// A sentence with the range and the mean of each measured number over the seeds; `None` if there are more
    /// than [`FEW`] numbers, or if no number has a range of at least [`WIDE`] times its mean.
    fn over_seeds(&self, outcome: &Outcome) -> Option<String> {
        let others = outcome.others.iter().chain(&outcome.idle);
        let seeds = others.filter(|other| other.is_seed);
        let mut all = vec![&outcome.first.measured];
        all.extend(seeds.map(|other| &other.tried.measured));
        let words = self.words.cloned().unwrap_or_default();
        let ranges = Ranges::over(&all, &words.unit)?;
        if ranges.numbers > FEW || ranges.widest < WIDE || words.range {
            return None;
        }
        let each = self.names(&outcome.first);
        let labels: Vec<_> = each.into_iter().chain(words.labels).collect();
        let text = labelled(&ranges.said, &labels, "").ok()?;
        Some(format!("Over the {} seeds: {text}.", all.len()))
    }

    /// A phrase that lists the varied seeds, settings and open rules, for a claim whose result is the same under
    /// all of them; `None` if nothing was varied.
    fn everything(&self, others: &[Other]) -> Option<String> {
        let mut all = Vec::new();
        if !others.is_empty() {
            all.push(match (others, others.iter().all(|other| other.is_seed)) {
                ([one], true) => format!("with {}", one.name),
                ([one], false) => format!("with the setting {}", self.described(&one.name)),
                _ => format!("with each of {}", counted(others).join(" and ")),
            });
        }
        let rules = self.readings.and_then(|each| each.others(&self.claim.id));
        all.extend(rules.map(|rules| format!("under {rules}")));
        (!all.is_empty()).then(|| all.join(", and "))
    }

    /// The main reason why a claim is under-determined: the seed, the setting or the rules on which the result
    /// depends, and the results of the check in the base run and with the other seed, setting or interpretation.
    fn open(&self, outcome: &Outcome) -> String {
        let base = spoken(outcome.first.holds);
        let does = spoken(!outcome.first.holds);
        if outcome.evidence.assumed {
            let first = &outcome.first;
            let in_base =
                format!("with this assumption the claim {base} in the base run, and {does}");
            let more = self.decides(outcome, &in_base);
            let state = match (first.holds, &more) {
                (true, Some(_)) => String::new(),
                (true, None) => " With this assumption the claim holds.".to_owned(),
                (false, _) => format!(
                    " With this assumption {}{}.",
                    small(&self.state(first)),
                    self.since(first)
                ),
            };
            let more = more.map_or(String::new(), |more| format!(" {more}"));
            return format!(
                "This needs an assumption that the paper does not state: {}.{state}{more}",
                self.claim.assumes
            );
        }
        if outcome.evidence.fails_on_part() {
            let first = &outcome.first;
            return format!(
                "The claim fails on a part of the paper's trace in every case and reading of this row. That the whole trace behaves like this part is an assumption that the paper does not state, so the failure contradicts nothing. {}{}.",
                self.state(first),
                self.since(first)
            );
        }
        let in_base = format!("the claim {base} in the base run, and {does}");
        self.decides(outcome, &in_base)
            .unwrap_or_else(|| match outcome.evidence.fitted {
                true => format!(
                    "The claim {base}, but {} fitted so that it holds: that is no evidence.",
                    self.fitted()
                ),
                false => self.unlasting(outcome),
            })
    }

    /// What decides whether the claim holds: a seed, a setting, or rules. `in_base` says how the claim comes out in the
    /// base run and otherwise. `None` if the claim comes out alike in all cases.
    fn decides(&self, outcome: &Outcome, in_base: &str) -> Option<String> {
        let rules_decide = outcome
            .evidence
            .readings
            .is_some_and(|share| is_split(&share));
        let decides = |what: &str| match rules_decide {
            true => format!("Both {what} and rules that the paper leaves open decide"),
            false => format!("{} decides", capital(what)),
        };
        Some(match self.decisive(outcome)? {
            Decisive::Beside(other) if other.is_seed => {
                format!("{}: {in_base} with {}.", decides("chance"), other.name)
            }
            Decisive::Beside(other) if self.is_input(&other.name) => format!(
                "{}: {in_base} on another stand-in, {}.{}",
                decides("a property of the trace that the paper does not print"),
                other.name,
                self.also(outcome, other)
            ),
            Decisive::Beside(other) => format!(
                "{}: {in_base} with the setting {}.{}",
                decides("a setting that the paper does not print"),
                other.name,
                self.also(outcome, other)
            ),
            Decisive::Rules(1, ways) if ways.len() == 1 => format!(
                "A rule that the paper leaves open decides: {in_base} where {}.",
                ways.concat()
            ),
            Decisive::Rules(1, ways) => format!(
                "Each of {} rules that the paper leaves open decides by itself: {in_base} where {}.",
                ways.len(),
                ways.join(", or where ")
            ),
            Decisive::Rules(count, ways) => match ways.len() {
                1 => format!(
                    "{count} rules that the paper leaves open decide together: {in_base} if {} are read otherwise.",
                    if count == 2 { "both" } else { "all of them" }
                ),
                all => format!(
                    "Rules that the paper leaves open decide: {in_base} if {count} of them are read otherwise; each of {all} sets of {count} rules is enough."
                ),
            },
        })
    }

    /// A sentence with the number of all cases in which the claim comes out as with `other`, if that is the only one, or
    /// as in the base run, if there are several; empty if only two cases were tried.
    fn also(&self, outcome: &Outcome, other: &Other) -> String {
        let Share { held, tried } = outcome.evidence.share;
        let like_other = if other.tried.holds {
            held
        } else {
            tried - held
        };
        match (tried, like_other) {
            (0..=2, _) => String::new(),
            (_, 1) => format!(
                " That is the only one of {tried} cases in which it {}.",
                spoken(other.tried.holds)
            ),
            _ => format!(" In all it holds in {held} of {tried} cases."),
        }
    }

    /// A sentence for a claim whose published size is seen in none of the cases that were tried; `None` for other claims.
    fn never_sized(&self, outcome: &Outcome) -> Option<String> {
        let Share { held, tried } = outcome.evidence.sized?;
        (held == 0).then(|| {
            format!(
                "In none of {} is the size seen: at least {} of {} is asked.",
                match tried {
                    1 => "the cases".to_owned(),
                    _ if self.readings.is_none() => format!("the {tried} cases that were tried"),
                    _ => format!(
                        "the {tried} cases that were tried, those under other readings included,"
                    ),
                },
                self.thresholds.share(),
                each_published(&outcome.first.measured),
            )
        })
    }

    /// The seeds and settings that differ from the base run in whether they reach the required share of the published
    /// size.
    fn differing_in_size<'o>(&self, outcome: &'o Outcome) -> Vec<&'o Other> {
        let in_base = self.is_of_size(&outcome.first.measured);
        let all = outcome.others.iter();
        all.filter(|other| self.differs_in_size(&other.tried.measured, in_base))
            .collect()
    }

    /// Whether `measured` has a size, and reaches the required share of the published one unlike the base run.
    fn differs_in_size(&self, measured: &Value, in_base: Option<bool>) -> bool {
        let is_enough = self.is_of_size(measured);
        is_enough.is_some() && is_enough != in_base
    }

    /// The first case in which the size of the effect is large enough although it is too small in the base run, or
    /// the other way round: a phrase for it, such as `with the setting closed`, and the measured value.
    fn sized_case(&self, outcome: &Outcome) -> Option<(String, Value)> {
        let others = self.differing_in_size(outcome);
        if let Some(other) = others.first() {
            let with = format!("with {}", names(&[*other]));
            return Some((with, other.tried.measured.clone()));
        }
        let in_base = self.is_of_size(&outcome.first.measured);
        let differs = |measured: &Value| self.differs_in_size(measured, in_base);
        let (rules, measured) = self.readings?.simplest(&self.claim.id, differs)?;
        Some((format!("where {rules}"), measured))
    }

    /// A sentence for a claim whose sign is the published one in all cases, but whose size is large enough in
    /// some cases only.
    fn unlasting(&self, outcome: &Outcome) -> String {
        let first = &outcome.first.measured;
        let [here, there] = match self.is_of_size(first) {
            Some(true) => ["is", "is not"],
            _ => ["is not", "is"],
        };
        let otherwise = self.sized_case(outcome);
        let otherwise = otherwise.map_or(String::new(), |(with, _)| {
            format!(", and {there} seen {with}")
        });
        format!(
            "The direction is as published in all that was tried, and whether the size is seen depends on what the paper does not say: the size {here} seen in the base run{otherwise}. At least {} of {} is asked.",
            self.thresholds.share(),
            each_published(first)
        )
    }

    /// The numbers of `measured` divided by the published ones, with the names of their elements; `None` for a claim
    /// that is judged for each of several cases.
    fn over_published(&self, measured: &Value) -> Option<String> {
        if !self.claim.each.is_empty() {
            return None;
        }
        let labels = self.words.map_or(&[][..], |words| &words.labels);
        let ratio = ratios(measured, &self.published())?;
        Some(in_commas(&labelled(&ratio, labels, "").ok()?))
    }

    /// The reason why a claim is under-determined. If both another seed or setting and open rules change the
    /// result of the check, it is the seed or setting.
    fn decisive<'o>(&self, outcome: &'o Outcome) -> Option<Decisive<'o>> {
        let turns = |other: &&Other| other.tried.holds != outcome.first.holds;
        let of_share = is_split(&outcome.evidence.share);
        let beside = outcome.others.iter().find(turns).filter(|_| of_share);
        beside.map(Decisive::Beside).or_else(|| {
            outcome.evidence.readings.filter(is_split)?;
            let ways = self.readings?.ways(&self.claim.id);
            let (fewest, _) = *ways.first()?;
            let ways = ways.into_iter().filter(|(count, _)| *count == fewest);
            Some(Decisive::Rules(fewest, ways.map(|(_, way)| way).collect()))
        })
    }

    /// Whether the setting `name` changes only parameters of the workload. The input is then another stand-in for
    /// the same trace.
    fn is_input(&self, name: &str) -> bool {
        let name = name.split(WITH_SEED).next().unwrap_or(name);
        let variant = self
            .over
            .and_then(|(study, _)| study.variants().find(|variant| variant.name == name));
        variant.is_some_and(|variant| {
            let mut keys = variant.set.keys();
            let of_workload = keys.all(|key| key.starts_with("workload"));
            variant.profile.is_none() && !variant.set.is_empty() && of_workload
        })
    }

    /// Remarks on an under-determined claim: a description of the seed, setting or rules on which the result
    /// depends, the results with them and in the base run, and the fitted parameters.
    fn dependence(&self, outcome: &Outcome) -> Vec<String> {
        let told = |tried: &Tried| {
            let asked = match tried.holds {
                true => String::new(),
                false => self.since(tried),
            };
            format!("{}{asked}", self.outcome_in(tried))
        };
        let first = told(&outcome.first);
        let in_base = match &first {
            // Without values, this text would only repeat the main reason.
            bare if bare.len() <= "it holds".len() => String::new(),
            told => format!(" In the base run {told}."),
        };
        let mut all = Vec::new();
        match self.decisive(outcome) {
            Some(Decisive::Beside(other)) => {
                let with = told(&other.tried);
                let came_out = match with.len() > 2 * LONG {
                    true => {
                        "The claim's table of judged values has the measured values in this case."
                            .to_owned()
                    }
                    false => format!("There {with}.{in_base}"),
                };
                let about = self.about(&other.name);
                let about =
                    about.map_or(String::new(), |about| format!("{}: {about}. ", other.name));
                all.push(format!("{about}{came_out}"));
            }
            Some(Decisive::Rules(count, ways)) => {
                let reading = match count {
                    1 => String::new(),
                    _ => format!(
                        "The claim {} where {}, with the other rules as in the base run.",
                        spoken(!outcome.first.holds),
                        ways.join("; or where ")
                    ),
                };
                let there = self.in_first_way(&outcome.first);
                let there = match there {
                    Some(there) => match ways.len() {
                        1 => format!(" There {there}."),
                        _ => format!(" In the first of these cases {there}."),
                    },
                    None => {
                        " The table of judged values has the values under such readings.".to_owned()
                    }
                };
                all.push(format!("{reading}{there}{in_base}").trim().to_owned());
            }
            None if !outcome.evidence.fitted => {
                let others = self.differing_in_size(outcome);
                let about = others.first().and_then(|other| {
                    let about = self.about(&other.name)?;
                    Some(format!("{}: {about}. ", other.name))
                });
                if let Some((with, measured)) = self.sized_case(outcome) {
                    let there = self.over_published(&measured);
                    let here = self.over_published(&outcome.first.measured);
                    all.extend(there.zip(here).map(|(there, here)| {
                        format!(
                            "{}{} measured over published is {there}, and in the base run {here}.",
                            about.unwrap_or_default(),
                            capital(&with)
                        )
                    }));
                }
                if others.len() > 1 {
                    all.push(format!(
                        "The size is {} with {}.",
                        match self.is_of_size(&outcome.first.measured) {
                            Some(true) => "not seen either",
                            _ => "also seen",
                        },
                        names(&others[1..])
                    ));
                }
            }
            None => return all,
        }
        // Only the first value is preceded by the name of the quantity.
        if let (Some(noun), Some(text)) = (self.noun(), all.first_mut()) {
            *text = text.replacen("(measured ", &format!("({noun}: "), 1);
        }
        if outcome.evidence.fitted && outcome.evidence.role != Role::Original {
            all.push(format!(
                "Besides, {} fitted so that it holds.",
                self.fitted()
            ));
        }
        all
    }

    /// A clause that says whether the claim holds under the rules that change the result of the check in `first`,
    /// with the measured value; the simplest of these rules if there are several. `None` if the value is too long
    /// for a sentence.
    fn in_first_way(&self, first: &Tried) -> Option<String> {
        let measured = self.readings?.in_first_way(&self.claim.id)?;
        let there = Tried {
            measured: measured.clone(),
            holds: !first.holds,
            inputs: first.inputs.clone(),
            runs: first.runs.clone(),
            ..Tried::NONE
        };
        let said = in_brackets(Some(self.beside_printed(&there)?));
        let does = spoken(there.holds);
        Some(format!("it {does}{}{said}", self.in_direction(&there)))
    }

    /// The name of the measured quantity, if the condition `asks` begins with a pronoun or a number in place of it; `None`
    /// if it does not, or if the name is too long for a sentence.
    fn subject_of(&self, asks: &str) -> Option<String> {
        let words = ["it ", "each ", "both ", "all ", "the first ", "the second "];
        let has_none = words.iter().any(|word| asks.starts_with(word));
        self.noun().filter(|_| has_none)
    }

    /// The name of the measured quantity, without the explanation after a colon or semicolon; `None` if the name
    /// is too long.
    fn noun(&self) -> Option<String> {
        let quantity = self.said(|words| &words.quantity).ok()?;
        let head = quantity.split([':', ';']).next().unwrap_or_default();
        (1..=NOUN).contains(&head.len()).then(|| head.to_owned())
    }

    /// Sentences about the other seeds, settings and rules that also change the result of the check, for an
    /// under-determined claim. Those in the main reason are omitted.
    fn besides(&self, outcome: &Outcome) -> Option<String> {
        let does = spoken(!outcome.first.holds);
        let fewest = match self.decisive(outcome)? {
            Decisive::Beside(_) => 0,
            Decisive::Rules(count, _) => count,
        };
        let turns = |other: &&Other| other.tried.holds != outcome.first.holds;
        // The first of them is already in the main reason.
        let more: Vec<_> = outcome.others.iter().filter(turns).skip(1).collect();
        let mut all = Vec::new();
        if fewest == 0 && !more.is_empty() {
            all.push(format!("It also {does} with {}.", names(&more)));
            let decisive = outcome.others.iter().find(turns);
            all.extend(of_one_kind(decisive, &more));
        }
        if let Some(share) = outcome.evidence.readings.filter(is_split) {
            let ways = self.readings.map(|each| each.ways(&self.claim.id));
            let ways = ways.into_iter().flatten();
            let ways = ways.filter(|(count, _)| *count > fewest);
            let ways: Vec<_> = ways.map(|(_, way)| way).collect();
            if !ways.is_empty() {
                let counted = match fewest {
                    0 => format!(
                        "Combinations of readings are not counted among these cases: the claim holds under {} of {} combinations of them. It",
                        share.held, share.tried
                    ),
                    _ => "It also".to_owned(),
                };
                all.push(format!(
                    "{counted} {does} where {}, with the other rules as in the base run.",
                    ways.join("; or where ")
                ));
            }
        }
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The fitted parameters as the subject of a sentence, with a verb in the singular or plural: `the rate was`,
    /// `the rate and the pauses were`.
    fn fitted(&self) -> String {
        let were = match self.claim.fitted.len() {
            1 => "was",
            _ => "were",
        };
        format!("{} {were}", listed(&self.claim.fitted))
    }

    /// For an under-determined claim, the number of cases in which it holds; `None` for a claim with another
    /// verdict.
    fn cases(&self, outcome: &Outcome) -> Option<String> {
        let Outcome {
            evidence, others, ..
        } = outcome;
        if outcome.verdict != Verdict::UnderDetermined || evidence.assumed {
            return None;
        }
        let mut cases = Vec::new();
        if is_split(&evidence.share) {
            let Share { held, tried } = evidence.share;
            cases.push(format!(
                "Of the {tried} cases (base run, {}) it holds in {held}.",
                counted(others).join(", ")
            ));
        }
        if let Some(Share { held, tried }) = evidence.readings.filter(is_split) {
            cases.push(format!(
                "Of the {tried} combinations of the rules that the paper leaves open it holds in {held}."
            ));
        }
        (!cases.is_empty()).then(|| cases.join(" "))
    }

    /// A text of the claim in `words.toml`. Names of limits in the text are replaced by their values.
    fn said(&self, which: impl Fn(&Words) -> &String) -> Result<String, Error> {
        let text = self.words.map_or("", |words| which(words));
        filled(text, &self.thresholds.limits()).map_err(|text| self.wrong(&text))
    }

    /// A sentence with the name of `quantity` and the condition that the check tests; empty for a claim that
    /// cannot be checked.
    ///
    /// # Errors
    /// If the tolerance of the claim, or a limit in its texts, is not declared.
    pub(super) fn asked(&self, quantity: &str) -> Result<String, Error> {
        if self.claim.check.check == Check::Not {
            return Ok(String::new());
        }
        // The explanation of the quantity, which follows a colon or semicolon, is omitted here, because it is
        // shown with the values.
        let ends = [": ", "; "].map(|end| quantity.find(end).unwrap_or(quantity.len()));
        let of = match &quantity[..ends[0].min(ends[1])] {
            "" => String::new(),
            words => format!("{}: ", capital(words)),
        };
        Ok(capital(&format!("{of}{}.", self.demand()?)))
    }

    /// The condition that the check tests, as a clause.
    fn demand(&self) -> Result<String, Error> {
        let words = self.said(|words| &words.asks)?;
        if !words.is_empty() {
            return Ok(words);
        }
        let tolerance = self.tolerance()?;
        let within = tolerance.map_or(String::new(), |by| format!(", within {by}"));
        let within = match tolerance.and_then(|by| self.interval(by)) {
            Some(interval) => format!("{within}: {interval}"),
            None => within,
        };
        let least = self.thresholds.effect_share;
        let size = scaled(&self.published(), least).and_then(|value| self.named(&value));
        let size = size.map_or(String::new(), |size| format!(" ({size})"));
        let least = self.thresholds.share();
        Ok(match (self.claim.check.check, &self.claim.holds) {
            (_, Some(formula)) => format!("{formula} is true"),
            (Check::Equal, _) => "the measured value is exactly the published one".to_owned(),
            (Check::Within, _) => format!("the measured value is the published one{within}"),
            (Check::Between, _) => {
                format!("the measured value lies between the two published ones{within}")
            }
            (Check::Order, _) => {
                "the measured values, in the order in which they stand, grow".to_owned()
            }
            (Check::Sign, _) => format!(
                "each measured value has the sign of the published one. The size counts as seen if each is at least {least} of the published value{size}"
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

    /// Sentences about the seeds, unpublished settings and open rules that change the result of the check,
    /// compared with the base run.
    pub(super) fn turned(&self, outcome: &Outcome) -> Vec<String> {
        let seeds = self.beside(outcome);
        let idle = idle(&outcome.idle);
        let sized = self.differing_in_size(outcome);
        let sized = match sized.is_empty() {
            true => self.sized_case(outcome).map(|(rules, _)| rules),
            false => Some(format!("with {}", names(&sized))),
        };
        let sized = sized.map(|how| format!("Whether the size counts as seen changes {how}."));
        let rules = self
            .readings
            .and_then(|readings| readings.turned(&self.claim.id));
        let beside = seeds.into_iter().chain(idle);
        beside.chain(sized).chain(rules).collect()
    }

    /// A text about the seeds and unpublished settings that change the result of the check; for some claims it
    /// says that none were varied.
    fn beside(&self, outcome: &Outcome) -> Option<String> {
        let (turning, others): (Vec<_>, Vec<_>) = outcome
            .others
            .iter()
            .partition(|other| other.tried.holds != outcome.first.holds);
        let tried = counted(&outcome.others).join(" and ");
        let makes = turned_to(!outcome.first.holds);
        let is_seeded = outcome.evidence.role == Role::StandIn && self.kind == Kind::Measured;
        let mut all = outcome.others.iter().chain(&outcome.idle);
        let has_seeds = all.clone().any(|other| other.is_seed);
        let has_settings = all.any(|other| !other.is_seed);
        let untried = match (has_seeds, has_settings) {
            (false, true) if is_seeded => " No other seed was tried.",
            (true, false) if self.kind == Kind::Measured => " No unpublished setting was tried.",
            _ => "",
        };
        match (outcome.others.as_slice(), turning.len()) {
            ([], _) if !outcome.idle.is_empty() => {
                (!untried.is_empty()).then(|| untried.trim_start().to_owned())
            }
            ([], _) => match (self.kind, outcome.evidence.role) {
                (Kind::Measured, Role::StandIn) => {
                    Some("Neither another seed nor an unpublished setting was tried.".to_owned())
                }
                (Kind::Measured, Role::Relative | Role::Unrelated) => {
                    Some("No unpublished setting was tried.".to_owned())
                }
                _ => None,
            },
            ([one], 0) if one.is_seed => Some(format!(
                "{}, tried beside the base run, does not {}.{untried}",
                capital(&one.name),
                makes[1]
            )),
            ([one], 0) => Some(format!(
                "The setting {}, tried beside the base run, does not {}.{untried}",
                self.described(&one.name),
                makes[1]
            )),
            (_, 0) => Some(format!(
                "None of {tried}, tried one at a time, {}. These were tried: {}.{untried}",
                makes[0],
                self.explained(&others)
            )),
            (all, _) => {
                // The main reason is followed by the description of the setting that decides.
                let decisive = match self.decisive(outcome) {
                    Some(Decisive::Beside(one)) if !outcome.evidence.assumed => one.name.as_str(),
                    _ => "",
                };
                let with = |other: &&Other| {
                    let name = match other.name == decisive {
                        true => other.name.clone(),
                        false => self.described(&other.name),
                    };
                    (name, self.outcome_in(&other.tried))
                };
                let all_with: Vec<_> = turning.iter().map(with).collect();
                // The table of judged values has the numbers that would be too many for a sentence.
                let length: usize = all_with.iter().map(|(_, came_out)| came_out.len()).sum();
                let is_long = length > 4 * LONG;
                let does = spoken(!outcome.first.holds);
                let listed = all_with.iter().map(|(name, came_out)| match is_long {
                    true => format!("with {name}, it {does}"),
                    false => format!("with {name}, {came_out}"),
                });
                let listed: Vec<_> = listed.collect();
                let rest = match others.is_empty() {
                    true => String::new(),
                    false => format!(
                        " The claim comes out as in the base run with {}.",
                        self.explained(&others)
                    ),
                };
                let count = kinds(turning.iter().copied(), ["seed", "setting"]).join(" and ");
                let which = match all {
                    [one] if one.is_seed => "The only other seed".to_owned(),
                    [_] => "The only setting that was tried beside the base run".to_owned(),
                    _ => format!("Of {tried}, tried one at a time, {count}"),
                };
                let makes = makes[usize::from(turning.len() > 1)];
                Some(format!(
                    "{which} {makes}. {}.{rest}{untried}",
                    capital(&listed.join("; "))
                ))
            }
        }
    }

    /// The names of `others`, followed by the descriptions of the settings if there are at most [`EXPLAINED`] of
    /// them.
    fn explained(&self, others: &[&Other]) -> String {
        let settings = others.iter().filter(|other| !other.is_seed);
        let about: Vec<_> = settings
            .filter_map(|other| Some(format!("{}: {}", other.name, self.about(&other.name)?)))
            .collect();
        let said = about.join("; ");
        match about.len() {
            1..=EXPLAINED if said.len() <= 2 * LONG => format!("{} ({said})", names(others)),
            _ => names(others),
        }
    }

    /// The interval in which the measured value has to lie, as text. `by` is the tolerance around the published
    /// value.
    fn interval(&self, by: Tolerance) -> Option<String> {
        let published = self.published();
        let unit = self.words.map_or("", |words| words.unit.as_str());
        // No quantity can decrease by more than 100 %.
        let least = if unit == "%" {
            -100.0
        } else {
            f64::NEG_INFINITY
        };
        let around = |number: f64| by.around(number).map(|end| end.max(least));
        let numbers = match (&published, self.claim.check.check) {
            // If the paper published two bounds, the tolerance extends the interval between them at both ends.
            (Value::Array(bounds), Check::Between) => match bounds.as_slice() {
                [low, high] => json!([around(low.as_f64()?)[0], around(high.as_f64()?)[1]]),
                _ => return None,
            },
            (Value::Array(items), _) => {
                let each = items.iter().map(|item| item.as_f64().map(around));
                json!(each.collect::<Option<Vec<_>>>()?)
            }
            (one, _) => json!(around(one.as_f64()?)),
        };
        self.named(&between(&numbers, unit))
    }

    /// Formats `value`, which has the same lists as the published value, with the names of its elements and the
    /// unit.
    fn named(&self, value: &Value) -> Option<String> {
        let words = self.words.cloned().unwrap_or_default();
        let labels = if value.is_array() {
            words.labels
        } else {
            Vec::new()
        };
        labelled(value, &labels, &words.unit).ok()
    }
}

/// The verb phrase for a case that changes the result of the check so that the claim `holds` or fails. The first
/// text is singular, the second one plural.
pub(super) const fn turned_to(holds: bool) -> [&'static str; 2] {
    match holds {
        true => ["makes the claim hold", "make the claim hold"],
        false => ["makes the claim fail", "make the claim fail"],
    }
}

/// The verb for a claim that holds or fails.
pub(super) const fn spoken(holds: bool) -> &'static str {
    match holds {
        true => "holds",
        false => "fails",
    }
}

/// Replaces the semicolons in `text` by commas. In a sentence, semicolons separate larger parts.
fn in_commas(text: &str) -> String {
    text.replace("; ", ", ")
}

/// The names of the two elements of a pair: `FAB against CLC`.
fn against(names: &[String], [one, other]: [usize; 2]) -> Option<String> {
    Some(format!("{} against {}", names.get(one)?, names.get(other)?))
}

/// The text ` (measured FIGURES)`; empty without `figures`.
fn in_brackets(figures: Option<String>) -> String {
    figures.map_or(String::new(), |value| format!(" (measured {value})"))
}

/// The number of seeds and the number of settings in `others`, each as a text: `2 other seeds`, `1 unpublished
/// setting`. A number that is 0 is omitted.
fn counted(others: &[Other]) -> Vec<String> {
    kinds(others.iter(), ["other seed", "unpublished setting"])
}

/// The number of seeds and the number of settings in `others`, each followed by the given word for it. A number
/// that is 0 is omitted.
fn kinds<'a>(others: impl Iterator<Item = &'a Other>, [seed, setting]: [&str; 2]) -> Vec<String> {
    let (seeds, settings): (Vec<_>, Vec<_>) = others.partition(|other| other.is_seed);
    let of = |count: usize, what: &str| {
        let ending = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{ending}"))
    };
    let both = [of(seeds.len(), seed), of(settings.len(), setting)];
    both.into_iter().flatten().collect()
}

/// A sentence about the seeds and settings that change no judged value, and are therefore not counted; `None` if there
/// are none.
fn idle(others: &[Other]) -> Option<String> {
    let all: Vec<_> = others.iter().collect();
    let [change, are] = match all.len() {
        0 => return None,
        1 => ["changes", "It is"],
        _ => ["change", "They are"],
    };
    Some(format!(
        "{} {change} nothing: every judged value is that of the base run. {are} not counted.",
        capital(&names(&all)),
    ))
}

/// The published value with which the size of `measured` is compared, or each of several published values.
fn each_published(measured: &Value) -> &'static str {
    match measured.as_array() {
        Some(all) if all.len() > 1 => "each published value",
        _ => "the published value",
    }
}

/// A sentence about those settings among `decisive` and `more` whose names have the same beginning, such as `closed`
/// and `closed-8`. These settings differ only in a value, so readers must not take them for separate evidence. The
/// text before this sentence names the settings. `None` if there are no such settings.
fn of_one_kind(decisive: Option<&Other>, more: &[&Other]) -> Option<String> {
    let names_of = |others: &[&Other]| {
        let settings = others.iter().filter(|other| !other.is_seed);
        let names = settings.map(|other| other.name.split(WITH_SEED).next().unwrap_or_default());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        // A setting that is run with several seeds is there once for each of them.
        names.dedup();
        names
    };
    let mut names = names_of(decisive.as_slice());
    names.extend(names_of(more));
    names.dedup();
    let kind = |name: &str| name.split('-').next().unwrap_or_default().to_owned();
    let mut kinds: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in &names {
        kinds.entry(kind(name)).or_default().push(name);
    }
    let several = kinds.into_iter().filter(|(_, own)| own.len() > 1);
    let said = several.map(|(kind, own)| {
        let own = capital(&listed(&own));
        format!("{own} are one setting, {kind}, with different values.")
    });
    let said: Vec<_> = said.collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The names of `others`: `seeds 2 and 3; the settings drained and empty`.
fn names(others: &[&Other]) -> String {
    let (seeds, settings): (Vec<&Other>, Vec<&Other>) =
        others.iter().partition(|other| other.is_seed);
    let seeds = seeds
        .iter()
        .map(|other| other.name.trim_start_matches("seed "));
    let settings = settings.iter().map(|other| other.name.as_str());
    let of = |what: &str, all: Vec<&str>| match all.as_slice() {
        [] => None,
        [one] => Some(format!("{what} {one}")),
        all => Some(format!("{what}s {}", listed(all))),
    };
    let both = [
        of("seed", seeds.collect()),
        of("the setting", settings.collect()),
    ];
    both.into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", and ")
}

/// Joins the items of `all` for a sentence: `a, b and c`.
pub(super) fn listed<T: AsRef<str>>(all: &[T]) -> String {
    let all: Vec<_> = all.iter().map(AsRef::as_ref).collect();
    match all.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [front @ .., last] => format!("{} and {last}", front.join(", ")),
    }
}

/// The `names` in brackets after a space; empty if the text is too long for a sentence.
fn bracketed(names: &[String]) -> String {
    match names.join(", ") {
        names if (1..=SHORT).contains(&names.len()) => format!(" ({names})"),
        _ => String::new(),
    }
}

/// Whether a claim holds in some cases and fails in others.
fn is_split(share: &Share) -> bool {
    (1..share.tried).contains(&share.held)
}

/// Whether `value` is a number, or a list, possibly nested, that contains only numbers.
fn is_numeric(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_numeric),
        other => other.is_number(),
    }
}

/// The range of each number over several values, which have the same form of nested lists.
struct Ranges {
    /// Lists of the same form, in which each number is replaced by a text with its range, the unit and its mean:
    /// `0.9 to 1.1 s with mean 1`.
    said: Value,
    /// How many numbers each of the values contains.
    numbers: usize,
    /// The largest ratio of a number's range to the number's mean.
    widest: f64,
}

impl Ranges {
    /// Computes the ranges over `all`; `None` if a value contains anything other than numbers.
    fn over(all: &[&Value], unit: &str) -> Option<Self> {
        let Value::Array(items) = *all.first()? else {
            let numbers = all.iter().map(|value| value.as_f64());
            let numbers: Vec<_> = numbers.collect::<Option<_>>()?;
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let said = |number: f64| short(&json!(number));
            let unit = match unit {
                "" => String::new(),
                unit => format!(" {unit}"),
            };
            let text = match said(low) == said(high) {
                true => format!("{}{unit}", said(mean)),
                false => format!(
                    "{} to {}{unit} with mean {}",
                    said(low),
                    said(high),
                    said(mean)
                ),
            };
            let widest = match low < high {
                true => (high - low) / mean.abs(),
                false => 0.0,
            };
            return Some(Self {
                said: text.into(),
                numbers: 1,
                widest,
            });
        };
        let each = (0..items.len()).map(|index| {
            let parts = all.iter().map(|value| value.get(index));
            Self::over(&parts.collect::<Option<Vec<_>>>()?, unit)
        });
        let each: Vec<_> = each.collect::<Option<_>>()?;
        Some(Self {
            numbers: each.iter().map(|part| part.numbers).sum(),
            widest: each.iter().map(|part| part.widest).fold(0.0, f64::max),
            said: each.into_iter().map(|part| part.said).collect(),
        })
    }
}

/// Replaces each list of two numbers in `value` by the text `between LOW and HIGH UNIT`.
fn between(value: &Value, unit: &str) -> Value {
    match value.as_array().map(Vec::as_slice) {
        Some([low, high]) if low.is_number() && high.is_number() => {
            let unit = if unit.is_empty() {
                String::new()
            } else {
                format!(" {unit}")
            };
            json!(format!("between {} and {}{unit}", short(low), short(high)))
        }
        Some(items) => items.iter().map(|item| between(item, unit)).collect(),
        None => value.clone(),
    }
}

/// Changes the first letter of `text` to lower case.
fn small(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_lowercase());
    first.into_iter().flatten().chain(letters).collect()
}

/// Changes the first letter of `text` to upper case, unless `text` begins with the name of a scheme.
fn capital(text: &str) -> String {
    let first = text.split([' ', ',', ':']).next().unwrap_or_default();
    if destage_buffer::find(first).is_some() {
        return text.to_owned();
    }
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_one_kind_are_one_setting() {
        let said = |names: &[&str]| {
            let other = |name: &&str| Other {
                name: (*name).to_owned(),
                is_seed: name.starts_with("seed "),
                tried: Tried::NONE,
            };
            let others: Vec<_> = names.iter().map(other).collect();
            let others: Vec<_> = others.iter().collect();
            let (first, more) = others.split_first().unwrap();
            of_one_kind(Some(*first), more)
        };
        assert_eq!(
            said(&["seed 2", "closed", "closed-8"]).unwrap(),
            "Closed and closed-8 are one setting, closed, with different values."
        );
        assert_eq!(
            said(&["empty", "closed", "closed-8"]).unwrap(),
            "Closed and closed-8 are one setting, closed, with different values."
        );
        assert_eq!(
            said(&["empty", "busy", "closed", "closed with seed 2", "closed-8"]).unwrap(),
            "Closed and closed-8 are one setting, closed, with different values."
        );
        assert_eq!(said(&["closed", "closed with seed 2", "busy"]), None);
        assert_eq!(said(&["seed 2", "seed 3"]), None);
    }
}

//! The reasons for a verdict, in sentences: the main reason and remarks first, then further details, what was
//! asked, and what changes whether the claim holds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::claim::{Check, Tolerance, bears_out, scaled};
use super::decide::{Kind, Share, Verdict};
use super::values::each_things;
use super::verdict::{Case, Other, Outcome, Tried};
use super::words::{Words, filled, labelled, ranged};
use crate::Role;
use crate::shown::short;
use destage::Error;

/// A value is given in a sentence only if its text has at most this many bytes.
const SHORT: usize = 120;

/// For a claim that fails, values are given up to this length, because they alone explain why.
const LONG: usize = 160;

/// The descriptions of settings are given in a list of at most this many.
const EXPLAINED: usize = 3;

/// The name of a quantity precedes its value in brackets only up to this length, in bytes.
const NOUN: usize = 80;

/// At most this many pairs in opposite order are given with their values.
const PAIRS: usize = 2;

/// The range over seeds is given for at most this many numbers, and only if the range of one of them, divided by
/// its mean, is at least `WIDE`.
const FEW: usize = 8;
const WIDE: f64 = 0.05;

/// The reasons for a verdict, in paragraphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// The main reason in a sentence or two, and remarks.
    pub because: Vec<String>,
    /// Further details: what else would have decided the verdict, in how many cases the claim holds, the range
    /// over seeds, and whether another published number would have had the same verdict.
    pub folded: Vec<String>,
    /// What changes whether the claim holds, compared with the base run, of everything that was varied; a
    /// sentence for each kind.
    pub turned: Vec<String>,
}

/// What decides the verdict on an under-determined claim.
enum Decisive<'o> {
    /// Another seed or setting.
    Beside(&'o Other),
    /// Rules: how many change the claim together, and each choice of that many rules that does so, in words.
    Rules(usize, Vec<String>),
}

impl Case<'_> {
    /// The reasons for the verdict: the main reason first, and details in `folded`.
    pub(super) fn reason(&self, outcome: &Outcome) -> Why {
        let mut because = vec![self.why(outcome)];
        let mut folded = Vec::new();
        if outcome.verdict == Verdict::UnderDetermined && !outcome.evidence.assumed {
            because.extend(self.there(outcome));
            folded.extend(self.besides(outcome));
        }
        if outcome.verdict == Verdict::Reproduced && outcome.evidence.readings.is_some() {
            let rules = self.readings.map(|each| each.defaults(&self.claim.id));
            because.extend(rules.map(|rules| format!("Here {rules}.")));
        }
        if outcome.verdict == Verdict::SignOnly {
            because.extend(self.large_enough(outcome));
        }
        because.push(self.note());
        folded.extend(self.cases(outcome));
        folded.extend(self.over_seeds(outcome));
        if outcome.evidence.fitted && outcome.verdict != Verdict::UnderDetermined {
            folded.push(format!(
                "Besides, {} chosen so that it would hold.",
                self.fitted()
            ));
        }
        because.retain(|text| !text.is_empty());
        Why {
            because,
            folded,
            turned: self.turned(outcome),
        }
    }

    /// The main reason for the verdict.
    fn why(&self, outcome: &Outcome) -> String {
        let Outcome {
            first,
            evidence,
            verdict,
            others,
        } = outcome;
        let on = self.evidence_on(outcome);
        let too = |does: &str| {
            self.everything(others)
                .map_or(String::new(), |all| format!(" It {does}, too, {all}."))
        };
        let does = too(spoken(first.holds));
        let state = format!("{}{}", self.state(first), self.since(first));
        let there = format!("{}, {}", capital(&on), small(&state));
        let figures = self.measured(first);
        match (verdict, self.kind) {
            (Verdict::UnderDetermined, _) => self.open(outcome),
            (Verdict::Reproduced, Kind::Example) => {
                "What is judged of the worked example comes out as the paper prints it.".to_owned()
            }
            (Verdict::Reproduced, _) => match evidence.readings {
                Some(Share { held, tried }) if held < tried => format!(
                    "{there}. The claim holds under {held} of the {tried} combinations of the rules that the paper leaves open, and fails under the others. We suppose that the paper used one of those under which it holds."
                ),
                _ => format!("{there}.{does}"),
            },
            (Verdict::SignReproduced, _) => match evidence.effect {
                Some(effect) => {
                    format!("{}{}", self.sized(first, effect, "and", &on), too("is so"))
                }
                None => format!("{there}.{does}"),
            },
            (Verdict::SignOnly, _) => {
                let effect = evidence.effect.unwrap_or_default();
                self.sized(first, effect, "but", &on)
            }
            (Verdict::Holds, _) => match self.since(first).strip_prefix(", since ") {
                Some(since) => format!(
                    "{}: {}.{}",
                    capital(&self.with_noun(since)),
                    small(&self.state(first)),
                    too("is so")
                ),
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
                "The paper's rules, carried out, contradict what the paper says of them{}.",
                in_brackets(figures)
            ),
            (Verdict::NotSeen, _) => {
                format!("{there}; what a stand-in does is no evidence against the paper.{does}")
            }
            (Verdict::Contradicted, Kind::Measured) => format!("{there}.{does}"),
            (Verdict::Contradicted, Kind::Example) => {
                "What is judged of the worked example does not come out as the paper prints it."
                    .to_owned()
            }
            (Verdict::Contradicted, _) => format!("{state}, and one case is enough."),
            (Verdict::TraceMissing | Verdict::NotCheckable, _) => verdict.meaning().to_owned(),
        }
    }

    /// A text in brackets with two numbers: the one that follows from the paper's other numbers (`figures`), and
    /// the one that the paper prints, if it is short enough. Empty without `figures`.
    fn followed(&self, figures: Option<String>) -> String {
        let printed = self.printed();
        figures.map_or(String::new(), |value| match printed {
            Some(printed) => {
                format!(" (from its other numbers follows {value}; it prints {printed})")
            }
            None => format!(" (from its numbers follows {value})"),
        })
    }

    /// The published value, with the names and the unit of its parts; `None` if it has anything but numbers, or
    /// is too long for a sentence.
    fn printed(&self) -> Option<String> {
        let published = self.published();
        let text = in_commas(&self.named(&published)?);
        (has_numbers_alone(&published) && (1..=SHORT).contains(&text.len())).then_some(text)
    }

    /// The relation of the base run's input to the paper, and its name:
    /// `on a real relative of the paper's trace, financial1-asu9`.
    fn evidence_on(&self, outcome: &Outcome) -> String {
        let role = outcome.evidence.role;
        let inputs = outcome.first.inputs.iter();
        let of_role = inputs.filter(|input| input.role == role);
        // The parameters of a workload are left out here; they are given with the inputs.
        let plain = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
        let names: BTreeSet<_> = of_role.map(|input| plain(&input.name)).collect();
        let names: Vec<_> = names.into_iter().collect();
        match (role, names.as_slice()) {
            (Role::Original, [] | [_]) => "on the paper's own trace".to_owned(),
            (Role::Original, _) => "on the paper's own traces".to_owned(),
            (Role::Made, _) => "on streams that are made up".to_owned(),
            (Role::Relative, [one]) => format!("on a real relative of the paper's trace, {one}"),
            (Role::Unrelated, all) => format!(
                "on a recording of something else than the paper's trace, {}",
                listed(all)
            ),
            (Role::StandIn, [one]) => format!("on a stand-in for the paper's trace, {one}"),
            (Role::Relative, all) => {
                format!("on real relatives of the paper's traces, {}", listed(all))
            }
            (Role::StandIn, all) => {
                format!("on stand-ins for the paper's traces, {}", listed(all))
            }
        }
    }

    /// A sentence that what is measured in `tried` has the published direction. `effect` is the smallest ratio of
    /// measured to published value.
    fn sized(&self, tried: &Tried, effect: f64, and: &str, on: &str) -> String {
        let least = self.thresholds.effect_share;
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
            "{}, the {are} as published{values}, {and} {smallest}measured over published is {effect}, where at least {least:.2} is asked.",
            capital(on)
        )
    }

    /// Whether the claim holds in `tried`, with the measured number, or with the traces, sizes or settings for
    /// which it does: `Measured is 12 %: it holds`, `It fails for 1 of the 5 sizes of the buffer (32 MiB: 12 %)`.
    fn state(&self, tried: &Tried) -> String {
        let does = spoken(tried.holds);
        let is_one =
            tried.measured.is_number() || tried.measured.get(0).is_some_and(Value::is_number);
        match (self.of_each(tried), self.measured(tried)) {
            (Some(each), _) => format!("It {does} {each}"),
            (None, Some(value)) if is_one && !value.contains(", ") => {
                format!("Measured is {value}: it {does}")
            }
            // If the claim fails, the measured values in the table do not show why, so they are given here. If it
            // holds, they are as asked.
            (None, figures) if !tried.holds => {
                format!(
                    "It {does}{}",
                    self.fault(tried).unwrap_or(in_brackets(figures))
                )
            }
            (None, _) => format!("It {does}"),
        }
    }

    /// The condition that was asked, as the rest of a sentence: `, since each is below 0`. Empty if it is too
    /// long.
    fn since(&self, tried: &Tried) -> String {
        let asks = self.said(|words| &words.asks).unwrap_or_default();
        let is_one = tried.measured.is_number() && self.claim.holds.is_none();
        let interval = self.tolerance().ok().flatten().filter(|_| is_one);
        let interval = interval.and_then(|by| self.interval(by));
        match (asks.len(), interval, tried.holds) {
            (1..=SHORT, _, true) => format!(", since {asks}"),
            (1..=SHORT, _, false) => format!(", where it is asked that {asks}"),
            (0, Some(interval), true) => format!(", since that is {interval}"),
            (0, Some(interval), false) => format!(", since that is not {interval}"),
            _ => String::new(),
        }
    }

    /// The parts that make the claim fail in `tried`, in brackets; `None` if they cannot be determined.
    fn fault(&self, tried: &Tried) -> Option<String> {
        let (index, pairs) = tried.failed.first_key_value()?;
        let value = match self.claim.each.is_empty() {
            true => &tried.measured,
            false => tried.measured.get(*index)?,
        };
        let said = self.opposed(value, pairs).or_else(|| self.apart(value))?;
        Some(format!(" ({said})"))
    }

    /// The `pairs` of parts of `value` that are in opposite order, each with its values:
    /// `FAB against CLC: evictions 3 and 2, pages 5 and 4`.
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

    /// The names of the `pairs` of parts: `FAB against CLC`. `None` if `pairs` is empty or its parts have no
    /// names.
    fn pairs(&self, pairs: &[[usize; 2]]) -> Option<String> {
        let [_, names] = self.words?.labels.as_slice() else {
            return None;
        };
        let named = pairs.iter().map(|pair| against(names, *pair));
        let named: Vec<_> = named.collect::<Option<_>>()?;
        (!named.is_empty()).then(|| listed(&named))
    }

    /// The parts of `value` that differ from the published ones, for a check that compares part by part.
    fn apart(&self, value: &Value) -> Option<String> {
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

    /// Whether the claim holds in `tried`, followed in brackets by the measured value, or by the cases in which
    /// it does.
    fn outcome_in(&self, tried: &Tried) -> String {
        let does = spoken(tried.holds);
        match self.of_each(tried) {
            Some(each) => format!("it {does} {each}"),
            None => {
                let fault = || (!tried.holds).then(|| self.fault(tried)).flatten();
                let said = fault().unwrap_or_else(|| in_brackets(self.beside_printed(tried)));
                format!("it {does}{said}")
            }
        }
    }

    /// The measured value in `tried`. If the claim is checked for its sign or between two values, the published
    /// value follows.
    fn beside_printed(&self, tried: &Tried) -> Option<String> {
        let measured = self.measured(tried)?;
        let is_compared = matches!(self.claim.check.check, Check::Sign | Check::Between);
        let is_compared = is_compared && self.claim.holds.is_none();
        Some(match self.printed().filter(|_| is_compared) {
            Some(printed) => format!("{measured}; published {printed}"),
            None => measured,
        })
    }

    /// For which of its traces, sizes or settings the claim holds or fails in `tried`; `None` if there is only
    /// one.
    fn of_each(&self, tried: &Tried) -> Option<String> {
        let names = self.names(tried).filter(|names| names.len() > 1)?;
        let things = match self.words {
            // Cases with their own names are not called by the names of their axes.
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
            // If all cases fail, the values are given only for the first one.
            let opposed = match Some(index) == tried.failed.keys().next() {
                true => value.and_then(|value| self.opposed(value, pairs)),
                false => self.pairs(pairs),
            };
            if let Some(opposed) = opposed {
                return format!("{name}: {opposed}");
            }
            // The names fit the values; otherwise judging the claim would have failed.
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
        // If all cases fail and their values are too long for a sentence, only their names are given.
        Some(match failed == names.len() && listed.len() > 2 * LONG {
            true => format!("for {of_all} of the {things}{}", bracketed(&names)),
            false => format!("for {of_all} of the {things} ({listed})"),
        })
    }

    /// The measured value in `tried`, with the names and the unit of its parts; `None` if it has anything but
    /// numbers, or is too long for a sentence.
    pub(super) fn measured(&self, tried: &Tried) -> Option<String> {
        let text = self.in_full(tried)?;
        let most = if tried.holds { SHORT } else { LONG };
        (has_numbers_alone(&tried.measured) && (1..=most).contains(&text.len())).then_some(text)
    }

    /// The measured value in `tried`, with the names and the unit of its parts, whatever its length.
    pub(super) fn in_full(&self, tried: &Tried) -> Option<String> {
        let words = self.words.cloned().unwrap_or_default();
        let (value, each) = match self.names(tried) {
            // A single case needs no name.
            Some(names) if names.len() == 1 => (tried.measured.get(0)?, None),
            names => (&tried.measured, names),
        };
        let labels: Vec<_> = each.into_iter().chain(words.labels).collect();
        let text = labelled(&ranged(value, words.range), &labels, &words.unit).ok()?;
        Some(in_commas(&text))
    }

    /// The range and the mean over seeds of the measured value; `None` if it has many numbers, or if none of them
    /// varies much.
    fn over_seeds(&self, outcome: &Outcome) -> Option<String> {
        let seeds = outcome.others.iter().filter(|other| other.is_seed);
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

    /// Everything that was varied without changing whether the claim holds, as a part of a sentence; `None` if
    /// nothing was varied.
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

    /// The main reason for the verdict on an under-determined claim: the one thing that decides, and what the
    /// claim does without and with it.
    fn open(&self, outcome: &Outcome) -> String {
        let base = spoken(outcome.first.holds);
        let does = spoken(!outcome.first.holds);
        if outcome.evidence.assumed {
            return format!(
                "The claim {base} under an assumption that the paper does not make: {}.",
                self.claim.assumes
            );
        }
        let in_base = format!("the claim {base} in the base run, and {does}");
        match self.decisive(outcome) {
            Some(Decisive::Beside(other)) if other.is_seed => {
                format!("Chance decides: {in_base} with {}.", other.name)
            }
            Some(Decisive::Beside(other)) if self.is_input(&other.name) => format!(
                "What the paper does not print of its trace decides: {in_base} on another stand-in, {}.",
                other.name
            ),
            Some(Decisive::Beside(other)) => format!(
                "A setting that the paper does not print decides: {in_base} with the setting {}.",
                other.name
            ),
            Some(Decisive::Rules(1, ways)) if ways.len() == 1 => format!(
                "A rule that the paper leaves open decides: {in_base} where {}.",
                ways.concat()
            ),
            Some(Decisive::Rules(1, ways)) => format!(
                "Each of {} rules that the paper leaves open decides by itself: {in_base} where {}.",
                ways.len(),
                ways.join(", or where ")
            ),
            Some(Decisive::Rules(count, ways)) => {
                let reading = match count {
                    2 => "another reading of both".to_owned(),
                    _ => format!("another reading of all {count}"),
                };
                let one = match ways.len() {
                    1 => String::new(),
                    all => format!(", in each of {all} ways"),
                };
                format!(
                    "{count} rules that the paper leaves open decide together: {in_base} with {reading}{one}."
                )
            }
            None if outcome.evidence.fitted => format!(
                "The claim {base}, but {} fitted so that it holds: that is no evidence.",
                self.fitted()
            ),
            None => self.unlasting(outcome),
        }
    }

    /// The seeds and settings for which the required share of the published size is measured although the base
    /// run has less, or is not measured although the base run has it.
    fn sized_otherwise<'o>(&self, outcome: &'o Outcome) -> Vec<&'o Other> {
        let least = self.thresholds.effect_share;
        let is_enough = |tried: &Tried| self.effect(&tried.measured).is_some_and(|it| it >= least);
        let in_base = is_enough(&outcome.first);
        let all = outcome.others.iter();
        all.filter(|other| is_enough(&other.tried) != in_base)
            .collect()
    }

    /// A sentence that the size, but not the direction, depends on what the paper does not say.
    fn unlasting(&self, outcome: &Outcome) -> String {
        let with = match self.sized_otherwise(outcome).as_slice() {
            [] => "with another reading of the rules that it leaves open".to_owned(),
            others => format!("with {}", names(others)),
        };
        format!(
            "The direction is as published in all that was tried, and the size depends on what the paper does not say: in the base run at least {:.2} of what was published is measured, and {with} less.",
            self.thresholds.effect_share
        )
    }

    /// If the base run has too little of the published size: the seeds and settings with which enough of it is
    /// measured.
    fn large_enough(&self, outcome: &Outcome) -> Option<String> {
        let others = self.sized_otherwise(outcome);
        (!others.is_empty()).then(|| {
            format!(
                "That much is measured with {}: the size depends on what the paper does not say.",
                names(&others)
            )
        })
    }

    /// The first thing that decides an under-determined claim: a seed or setting before rules.
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

    /// Whether the setting `name` changes only the workload, which makes another stand-in.
    fn is_input(&self, name: &str) -> bool {
        let variant = self
            .over
            .and_then(|(study, _)| study.variants().find(|variant| variant.name == name));
        variant.is_some_and(|variant| {
            let mut keys = variant.set.keys();
            let of_workload = keys.all(|key| key.starts_with("workload"));
            variant.profile.is_none() && !variant.set.is_empty() && of_workload
        })
    }

    /// The description of what decides, the result with it, the result in the base run, and what was fitted.
    fn there(&self, outcome: &Outcome) -> Vec<String> {
        let told = |tried: &Tried| {
            let asked = match tried.holds {
                true => String::new(),
                false => self.since(tried),
            };
            format!("{}{asked}", self.outcome_in(tried))
        };
        let first = told(&outcome.first);
        let in_base = match &first {
            // A text without values would only repeat the first sentence.
            bare if bare.len() <= "it holds".len() => String::new(),
            told => format!(" In the base run {told}."),
        };
        let mut all = Vec::new();
        match self.decisive(outcome) {
            Some(Decisive::Beside(other)) => {
                let with = told(&other.tried);
                let came_out = match with.len() > 2 * LONG {
                    true => "The table of its judged values has what came out there.".to_owned(),
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
                        "The claim {} where {}.",
                        spoken(!outcome.first.holds),
                        ways.join("; or where ")
                    ),
                };
                all.push(format!("{reading}{in_base}").trim().to_owned());
            }
            None if !outcome.evidence.fitted => {
                let others = self.sized_otherwise(outcome);
                let there = others.first().map_or(String::new(), |other| {
                    let about = self.about(&other.name).unwrap_or_default();
                    let with = told(&other.tried);
                    match about {
                        "" => format!("With {}, {with}.", other.name),
                        about => format!("{}: {about}. There {with}.", other.name),
                    }
                });
                all.push(format!("{there}{in_base}").trim().to_owned());
            }
            None => return all,
        }
        // The name of the quantity is given only once.
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

    /// `asks`, followed in brackets by the name of the measured quantity if `asks` itself does not name it.
    fn with_noun(&self, asks: &str) -> String {
        let has_none = ["each ", "it ", "both "]
            .iter()
            .any(|word| asks.starts_with(word));
        match self.noun().filter(|_| has_none) {
            Some(noun) => format!("{asks} ({noun})"),
            None => asks.to_owned(),
        }
    }

    /// The name of the measured quantity, without its explanation; `None` if it is too long for a bracket.
    fn noun(&self) -> Option<String> {
        let quantity = self.said(|words| &words.quantity).ok()?;
        let head = quantity.split([':', ';']).next().unwrap_or_default();
        (1..=NOUN).contains(&head.len()).then(|| head.to_owned())
    }

    /// Everything else that changes whether the claim holds, besides the thing that decides.
    fn besides(&self, outcome: &Outcome) -> Option<String> {
        let does = spoken(!outcome.first.holds);
        let fewest = match self.decisive(outcome)? {
            Decisive::Beside(_) => 0,
            Decisive::Rules(count, _) => count,
        };
        let turns = |other: &&Other| other.tried.holds != outcome.first.holds;
        // The first one is already given as the thing that decides.
        let more: Vec<_> = outcome.others.iter().filter(turns).skip(1).collect();
        let mut all = Vec::new();
        if fewest == 0 && !more.is_empty() {
            all.push(format!("It {does}, too, with {}.", names(&more)));
        }
        if outcome.evidence.readings.as_ref().is_some_and(is_split) {
            let ways = self.readings.map(|each| each.ways(&self.claim.id));
            let ways = ways.into_iter().flatten();
            let ways = ways.filter(|(count, _)| *count > fewest);
            let ways: Vec<_> = ways.map(|(_, way)| way).collect();
            if !ways.is_empty() {
                all.push(format!(
                    "It {does}, too, where {}.",
                    ways.join("; or where ")
                ));
            }
        }
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The parameters that were chosen so that the claim holds, as the subject of a sentence: `the rate was`,
    /// `the rate and the pauses were`.
    fn fitted(&self) -> String {
        let were = match self.claim.fitted.len() {
            1 => "was",
            _ => "were",
        };
        format!("{} {were}", listed(&self.claim.fitted))
    }

    /// In how many cases an under-determined claim holds; `None` for another claim.
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

    /// A text of `words.toml` for the claim, with the values of the limits that it names.
    fn said(&self, which: impl Fn(&Words) -> &String) -> Result<String, Error> {
        let text = self.words.map_or("", |words| which(words));
        filled(text, &self.thresholds.limits()).map_err(|text| self.wrong(&text))
    }

    /// A sentence with what was asked of `quantity`; empty for a claim that cannot be checked.
    ///
    /// # Errors
    /// If the tolerance or a limit of the claim is not declared.
    pub(super) fn asked(&self, quantity: &str) -> Result<String, Error> {
        if self.claim.check.check == Check::Not {
            return Ok(String::new());
        }
        // The explanation of the quantity is given with the values, and is left out here.
        let ends = [": ", "; "].map(|end| quantity.find(end).unwrap_or(quantity.len()));
        let of = match &quantity[..ends[0].min(ends[1])] {
            "" => String::new(),
            words => format!("{}: ", capital(words)),
        };
        Ok(capital(&format!("{of}{}.", self.demand()?)))
    }

    /// What the check demands, as the end of a sentence.
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
                "measured has the sign of what was published. From {least:.2} times the published value on{size} the verdict is sign reproduced, and below it sign only"
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

    /// The seeds, unpublished settings and open rules that change whether the claim holds, compared with the base
    /// run.
    pub(super) fn turned(&self, outcome: &Outcome) -> Vec<String> {
        let seeds = self.beside(outcome);
        let rules = self
            .readings
            .and_then(|readings| readings.turned(&self.claim.id));
        seeds.into_iter().chain(rules).collect()
    }

    /// A sentence on the seeds and unpublished settings that change whether the claim holds.
    fn beside(&self, outcome: &Outcome) -> Option<String> {
        let (turning, others): (Vec<_>, Vec<_>) = outcome
            .others
            .iter()
            .partition(|other| other.tried.holds != outcome.first.holds);
        let tried = counted(&outcome.others).join(" and ");
        let makes = turned_to(!outcome.first.holds);
        let is_seeded = outcome.evidence.role == Role::StandIn && self.kind == Kind::Measured;
        let has_seeds = outcome.others.iter().any(|other| other.is_seed);
        let untried = match is_seeded && !has_seeds {
            true => " No other seed was tried.",
            false => "",
        };
        match (outcome.others.as_slice(), turning.len()) {
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
                "{}, tried beside the base run, does not {}.",
                capital(&one.name),
                makes[1]
            )),
            ([one], 0) => Some(format!(
                "The setting {}, tried beside the base run, does not {}.{untried}",
                self.described(&one.name),
                makes[1]
            )),
            (_, 0) => Some(format!(
                "None of {tried}, tried one at a time, {}: {}.{untried}",
                makes[0],
                self.explained(&others)
            )),
            (all, _) => {
                let with = |other: &&Other| {
                    let name = self.described(&other.name);
                    format!("{name}: {}", self.outcome_in(&other.tried))
                };
                let listed: Vec<_> = turning.iter().map(with).collect();
                let rest = match others.is_empty() {
                    true => String::new(),
                    false => format!(
                        " The claim comes out as in the base run with {}.",
                        names(&others)
                    ),
                };
                let count = kinds(turning.iter().copied(), ["seed", "setting"]).join(" and ");
                let which = match all.len() {
                    1 => "The only one that was tried beside the base run".to_owned(),
                    _ => format!("Of {tried}, tried one at a time, {count}"),
                };
                let makes = makes[usize::from(turning.len() > 1)];
                Some(format!(
                    "{which} {makes}: {}.{rest}{untried}",
                    listed.join("; ")
                ))
            }
        }
    }

    /// The names of `others`, with the descriptions of the settings if there are few.
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

    /// The interval in which the measured value may lie if it may differ `by` this much from the published value.
    fn interval(&self, by: Tolerance) -> Option<String> {
        let published = self.published();
        let numbers = match (&published, self.claim.check.check) {
            // For two published bounds, the tolerance extends the interval at both ends.
            (Value::Array(bounds), Check::Between) => match bounds.as_slice() {
                [low, high] => json!([by.around(low.as_f64()?)[0], by.around(high.as_f64()?)[1]]),
                _ => return None,
            },
            (Value::Array(items), _) => {
                let each = items
                    .iter()
                    .map(|item| item.as_f64().map(|item| by.around(item)));
                json!(each.collect::<Option<Vec<_>>>()?)
            }
            (one, _) => json!(by.around(one.as_f64()?)),
        };
        let unit = self.words.map_or("", |words| words.unit.as_str());
        self.named(&between(&numbers, unit))
    }

    /// `value`, which has the form of the published value, with the names of its parts.
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

/// The words for a change that makes a claim hold or fail, in the singular and in the plural.
pub(super) const fn turned_to(holds: bool) -> [&'static str; 2] {
    match holds {
        true => ["makes it hold", "make it hold"],
        false => ["makes it fail", "make it fail"],
    }
}

/// The words for a claim that holds or fails.
const fn spoken(holds: bool) -> &'static str {
    match holds {
        true => "holds",
        false => "fails",
    }
}

/// `text` with commas between its parts, because semicolons separate the cases that change a claim.
fn in_commas(text: &str) -> String {
    text.replace("; ", ", ")
}

/// The names of the two parts of a pair: `FAB against CLC`.
fn against(names: &[String], [one, other]: [usize; 2]) -> Option<String> {
    Some(format!("{} against {}", names.get(one)?, names.get(other)?))
}

/// `figures`, introduced as measured values, in brackets.
fn in_brackets(figures: Option<String>) -> String {
    figures.map_or(String::new(), |value| format!(" (measured {value})"))
}

/// The numbers of seeds and of settings among `others`: `2 other seeds`, `1 unpublished setting`.
fn counted(others: &[Other]) -> Vec<String> {
    kinds(others.iter(), ["other seed", "unpublished setting"])
}

/// The numbers of seeds and of settings among `others`, with these two words for them.
fn kinds<'a>(others: impl Iterator<Item = &'a Other>, [seed, setting]: [&str; 2]) -> Vec<String> {
    let (seeds, settings): (Vec<_>, Vec<_>) = others.partition(|other| other.is_seed);
    let of = |count: usize, what: &str| {
        let ending = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{ending}"))
    };
    let both = [of(seeds.len(), seed), of(settings.len(), setting)];
    both.into_iter().flatten().collect()
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
    both.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The items of `all` as a part of a sentence: `a, b and c`.
fn listed<T: AsRef<str>>(all: &[T]) -> String {
    let all: Vec<_> = all.iter().map(AsRef::as_ref).collect();
    match all.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [front @ .., last] => format!("{} and {last}", front.join(", ")),
    }
}

/// `names` in brackets, with a space before; empty if they are too long for a sentence.
fn bracketed(names: &[String]) -> String {
    match names.join(", ") {
        names if (1..=SHORT).contains(&names.len()) => format!(" ({names})"),
        _ => String::new(),
    }
}

/// Whether a claim holds in some cases, but not in all.
fn is_split(share: &Share) -> bool {
    (1..share.tried).contains(&share.held)
}

/// Whether `value` is a number, or consists of lists of numbers.
fn has_numbers_alone(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(has_numbers_alone),
        other => other.is_number(),
    }
}

/// The ranges of several values of the same form.
struct Ranges {
    /// The value with a text instead of each number: its range and mean, with the unit:
    /// `0.9 to 1.1 s with mean 1`.
    said: Value,
    /// The number of numbers in each value.
    numbers: usize,
    /// The largest range of a number, divided by its mean.
    widest: f64,
}

impl Ranges {
    /// The ranges over `all`; `None` if they have anything but numbers.
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

/// `value` with a text instead of each pair of numbers: `between` the two, with `unit`.
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

/// `text` with its first letter in lower case.
fn small(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_lowercase());
    first.into_iter().flatten().chain(letters).collect()
}

/// `text` with its first letter in upper case.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

//! Rules that a paper leaves open. Each rule has several interpretations, which the code calls readings. All
//! claims of the paper are evaluated under every combination of interpretations of the open rules. The default
//! combination is the one of the base run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::decide::Share;
use super::paper::{Paper, Reading};
use super::ran::OpenRule;
use super::reason::{listed, spoken, turned_to};
use crate::product;

/// The results of the claims of a paper under each combination of interpretations of its open rules.
#[derive(Clone, Debug)]
pub struct Readings {
    /// The rules that the paper leaves open.
    pub rules: Vec<Rule>,
    /// All combinations of interpretations. The first one is the default.
    pub combinations: Vec<Combination>,
    /// The claims whose formulas fix the reading of a rule. Under other readings of this rule they are not judged.
    pub(super) pinned: Pinned,
    /// For each claim, by its id, the kinds of the schemes and layers in its runs.
    pub(super) kinds: BTreeMap<String, BTreeSet<String>>,
}

/// A rule that the paper leaves open.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The dotted name of the parameter that selects the interpretation.
    pub parameter: String,
    /// The kind of the scheme or layer that has the rule.
    pub(super) of: String,
    /// The meaning of the values of the parameter, in a sentence.
    pub about: String,
    /// The interpretation that each value of the parameter selects, as a clause such as `every write to a block
    /// is a use of it`. Values that need no explanation are absent.
    pub(super) says: BTreeMap<String, String>,
    /// Where the rule has an effect, such as `in a cache that is split`; empty if it can have one in every run with its
    /// scheme or layer.
    pub(super) acts: String,
}

impl Rule {
    /// The part of a simulation that has the rule.
    fn place(&self) -> String {
        match self.parameter.split('.').next() {
            Some("buffer") => format!("the buffer {}", self.of),
            Some("ftl") => format!("the layer {}", self.of),
            _ => "the flash and the way to it".to_owned(),
        }
    }

    /// The interpretation that `value` selects, followed by the setting in brackets; only the setting if the
    /// interpretation has no text.
    fn with(&self, value: &str) -> String {
        let set = format!("{} = {value}", self.parameter);
        match self.says.get(value) {
            Some(says) => format!("{says} ({set})"),
            None => set,
        }
    }

    /// The same text as that of [`Rule::with`], but the brackets also contain `default`, the value in the base
    /// run.
    fn in_place_of(&self, default: &str, value: &str) -> String {
        let set = format!("{} = {value}", self.parameter);
        match self.says.get(value) {
            Some(says) => format!("{says} ({set}; the base run has {default})"),
            None => format!("{set} (the base run has {default})"),
        }
    }
}

/// A combination of interpretations: one for each open rule.
#[derive(Clone, Debug)]
pub struct Combination {
    /// The value of the parameter of each rule, in the order of [`Readings::rules`].
    pub values: Vec<String>,
    /// For each claim, by its id, whether the claim holds under this combination. A claim is absent if one of its
    /// runs gave no result.
    pub claims: BTreeMap<String, bool>,
    /// For each claim, by its id, the measured value under this combination.
    pub measured: BTreeMap<String, Value>,
    /// For each claim, by its id, the index of the first combination under which the claim uses exactly the same
    /// runs as under this one. If there is no such earlier combination, the index is that of this combination.
    pub(super) alike: BTreeMap<String, usize>,
    /// The ids of the claims that read the same values from their runs as under the first combination. For them, this
    /// combination tests nothing.
    pub(super) idle: BTreeSet<String>,
}

/// The settings that fix the reading of a rule in the formulas of a claim: for the id of each such claim, the
/// parameters and their values.
pub(super) type Pinned = BTreeMap<String, Vec<(String, String)>>;

impl Combination {
    /// The number of claims that hold under this combination.
    #[must_use]
    pub fn held(&self) -> usize {
        self.claims.values().filter(|holds| **holds).count()
    }
}

impl Readings {
    /// The ids of the claims that hold under some of the combinations, and fail under others.
    #[must_use]
    pub fn decided(&self) -> Vec<&str> {
        let Some(first) = self.combinations.first() else {
            return Vec::new();
        };
        let moves = |id: &&String| {
            let of = |combination: &Combination| combination.claims.get(*id).copied();
            let mut all = self.combinations.iter().filter_map(of);
            all.any(|holds| Some(holds) != of(first))
        };
        first
            .claims
            .keys()
            .filter(moves)
            .map(String::as_str)
            .collect()
    }

    /// In how many of the combinations in [`Self::tests`] the claim `id` holds; `None` if the claim holds under
    /// all combinations or under none.
    pub(super) fn share_of(&self, id: &str) -> Option<Share> {
        if !self.decided().contains(&id) {
            return None;
        }
        let tests = self.tests(id);
        let holds = |each: &&&Combination| each.claims.get(id) == Some(&true);
        Some(Share {
            held: tests.iter().filter(holds).count(),
            tried: tests.len(),
        })
    }

    /// The kind of the scheme or layer, the parameter, and the meaning of its values, of each rule.
    pub(super) fn named_rules(&self) -> Vec<OpenRule> {
        let of = |rule: &Rule| (rule.of.clone(), rule.parameter.clone(), rule.says.clone());
        self.rules.iter().map(of).collect()
    }

    /// The measured values of the claim `id` under all combinations.
    pub(super) fn measured(&self, id: &str) -> impl Iterator<Item = &Value> {
        let id = id.to_owned();
        let all = self.combinations.iter();
        all.filter_map(move |each| each.measured.get(&id))
    }

    /// The index of the first combination under which the claim `id` uses the same runs as under the combination
    /// with the index `place`.
    fn alike(&self, id: &str, place: usize) -> usize {
        let each = self.combinations.get(place);
        let first = each.and_then(|each| each.alike.get(id));
        first.copied().unwrap_or(place)
    }

    /// The combinations under which every run of the claim `id` gave a result, and under which the claim uses other
    /// runs than under each earlier combination. The default is the first.
    fn different<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Combination> {
        let all = self.combinations.iter().enumerate();
        let different = all.filter(move |(place, each)| {
            each.claims.contains_key(id) && self.alike(id, *place) == *place
        });
        different.map(|(_, each)| each)
    }

    /// The combinations that test the claim `id`, the default first: those of [`Self::different`] with other judged
    /// values than the default.
    fn tests(&self, id: &str) -> Vec<&Combination> {
        let all = self.different(id);
        all.filter(|each| !each.idle.contains(id)).collect()
    }

    /// The combinations under which the claim `id` uses other runs than under each earlier combination, but
    /// reads the same values from them as by default.
    fn idle(&self, id: &str) -> Vec<&Combination> {
        let all = self.different(id);
        all.filter(|each| each.idle.contains(id)).collect()
    }

    /// A sentence about the combinations under which a run of the claim `id` gave no result; empty if there are
    /// none.
    fn failed(&self, id: &str) -> &'static str {
        let pinned = self.pinned.get(id).map_or(&[][..], Vec::as_slice);
        let is_pinned = |rule: usize| {
            let name = &self.rules[rule].parameter;
            pinned.iter().any(|(parameter, _)| parameter == name)
        };
        let is_own = |each: &&Combination| !self.changed(each).into_iter().any(is_pinned);
        let mut all = self.combinations.iter().filter(is_own);
        match all.all(|each| each.claims.contains_key(id)) {
            true => "",
            false => " Combinations under which a run gave no result are left out.",
        }
    }

    /// The parameters of the rules that affect a run of the claim `id`. A rule does so if two combinations that differ
    /// only in this rule give the claim different runs.
    fn bearing(&self, id: &str) -> Vec<&str> {
        let bears = |rule: &usize| {
            let all = || {
                let all = self.combinations.iter().enumerate();
                all.filter(|(_, each)| each.claims.contains_key(id))
            };
            let is_pair = |one: &Combination, other: &Combination| {
                let values = one.values.iter().zip(&other.values).enumerate();
                let mut apart = values.filter(|(_, (one, other))| one != other);
                apart.all(|(index, _)| index == *rule)
            };
            all().any(|(place, one)| {
                let pairs = all().filter(|(_, other)| is_pair(one, other));
                let mut places = pairs.map(|(other, _)| other);
                places.any(|other| self.alike(id, other) != self.alike(id, place))
            })
        };
        let bearing = (0..self.rules.len()).filter(bears);
        bearing
            .map(|rule| self.rules[rule].parameter.as_str())
            .collect()
    }

    /// The combinations that test the claim `id`, except the default, and the number of their rules, as a phrase:
    /// `each of the 15 other combinations of the 4 rules that the paper leaves open`. `None` if only the default
    /// tests the claim.
    pub(super) fn others(&self, id: &str) -> Option<String> {
        self.combinations.first()?.claims.get(id)?;
        let rules = self.of_rules(id);
        match self.tests(id).as_slice() {
            [] | [_] => None,
            [_, other] => Some(format!(
                "the other combination of {rules}, where {}",
                self.words_of(other)
            )),
            [_, others @ ..] => Some(format!(
                "each of the {} other combinations of {rules}",
                others.len()
            )),
        }
    }

    /// A phrase with the number of rules that affect a run of the claim `id`, and the number of all rules.
    fn of_rules(&self, id: &str) -> String {
        let (bearing, all) = (self.bearing(id), self.rules.len());
        match bearing.as_slice() {
            _ if bearing.len() == all => format!("the {all} rules that the paper leaves open"),
            [one] => format!("1 of the {all} rules that the paper leaves open ({one})"),
            some => format!(
                "{} of the {all} rules that the paper leaves open ({})",
                some.len(),
                listed(some)
            ),
        }
    }

    /// The combinations other than the default one that the claim `id` was judged under, `count` in number: `other readings of
    /// the open rule a`, `other combinations of the 3 rules that the paper leaves open`.
    fn other(&self, id: &str, count: usize) -> String {
        let ending = if count == 1 { "" } else { "s" };
        match self.bearing(id).as_slice() {
            [one] if self.rules.len() > 1 => {
                format!("other reading{ending} of the open rule {one}")
            }
            _ => format!("other combination{ending} of {}", self.of_rules(id)),
        }
    }

    /// Sentences about the rules that cannot change the verdict on the claim `id`: those whose reading its formulas fix,
    /// and those that affect none of its runs.
    fn without(&self, id: &str) -> String {
        let bearing = self.bearing(id);
        let pinned = self.pinned.get(id).map_or(&[][..], Vec::as_slice);
        let is_pinned = |name: &&str| pinned.iter().any(|(parameter, _)| parameter == name);
        let unused: Vec<_> = self
            .rules
            .iter()
            .filter(|rule| {
                let name = rule.parameter.as_str();
                !bearing.contains(&name) && !is_pinned(&name)
            })
            .collect();
        let fixed: Vec<_> = pinned
            .iter()
            .map(|(parameter, value)| format!("{parameter} = {value}"))
            .collect();
        let fixed = match fixed.is_empty() {
            true => String::new(),
            false => format!(
                "The runs of this claim are made with {} only; it is not judged under other readings.",
                listed(&fixed)
            ),
        };
        let (one_reading, absent): (Vec<_>, Vec<_>) = unused
            .into_iter()
            .partition(|rule| self.is_in_runs(id, rule));
        let mut all = vec![fixed, self.given(&one_reading), self.absent(&absent)];
        all.retain(|text| !text.is_empty());
        all.join(" ")
    }

    /// Whether a run of the claim `id` has the scheme or layer to which `rule` belongs.
    fn is_in_runs(&self, id: &str, rule: &Rule) -> bool {
        let kinds = self.kinds.get(id);
        kinds.is_some_and(|kinds| kinds.contains(&rule.of))
    }

    /// A sentence about `rules` to which the experiment of a claim gives one reading; empty if there are none.
    fn given(&self, rules: &[&Rule]) -> String {
        let names: Vec<_> = rules.iter().map(|rule| rule.parameter.as_str()).collect();
        let places: BTreeSet<_> = rules.iter().map(|rule| rule.acts.as_str()).collect();
        let acts = |they_act: &str| match places.iter().collect::<Vec<_>>().as_slice() {
            [place] if !place.is_empty() => format!(" {they_act} only {place}."),
            _ => String::new(),
        };
        match names.as_slice() {
            [] => String::new(),
            [one] => format!(
                "The experiment gives the open rule {one} one reading, under which all runs of this claim are made.{}",
                acts("It acts")
            ),
            some => format!(
                "The experiment gives the open rules {} one reading each, under which all runs of this claim are made.{}",
                listed(some),
                acts("They act")
            ),
        }
    }

    /// A sentence about `rules` that belong to no scheme or layer of the runs of a claim; empty if there are none.
    fn absent(&self, rules: &[&Rule]) -> String {
        let names: Vec<_> = rules.iter().map(|rule| rule.parameter.as_str()).collect();
        let kinds: BTreeSet<_> = rules.iter().map(|rule| rule.place()).collect();
        let kinds: Vec<_> = kinds.into_iter().collect();
        let of = match kinds.as_slice() {
            [one] => format!("{one}, and no run of this claim has it"),
            all => format!("{}, and no run of this claim has any of these", listed(all)),
        };
        match names.as_slice() {
            [] => String::new(),
            all if all.len() == self.rules.len() && all.len() > 1 => format!(
                "None of the rules that the paper leaves open ({}) acts in these runs: they concern {of}.",
                listed(all)
            ),
            [one] => format!("The open rule {one} does not act in these runs: it concerns {of}."),
            some => format!(
                "The open rules {} do not act in these runs: they concern {of}.",
                listed(some)
            ),
        }
    }

    /// Sentences about the rules whose interpretations decide whether the claim `id` holds. The sentences name
    /// the rules that change the default result when changed alone, and the sets of rules that change this result
    /// only when changed together. `None` if the claim was not evaluated under the combinations.
    pub(super) fn turned(&self, id: &str) -> Option<String> {
        let first = self.combinations.first()?;
        let by_default = *first.claims.get(id)?;
        let tests = self.tests(id);
        let (others, without) = (tests.len() - 1, self.without(id));
        let idle = self.idle(id);
        if others == 0 && idle.is_empty() {
            return Some(without);
        }
        let said: Vec<_> = idle.iter().map(|each| self.words_of(each)).collect();
        let same = match (others, idle.len()) {
            (_, 0) => String::new(),
            (0, 1) => format!(
                "The {} changes no judged value, so that it does not test the claim.",
                self.other(id, 1)
            ),
            (0, count) => format!(
                "The {count} {} change no judged value, so that they do not test the claim.",
                self.other(id, count)
            ),
            (_, 1) => format!(
                " One more combination, where {}, changes no judged value, and is not counted.",
                said.concat()
            ),
            (_, count @ 2..=3) => format!(
                " {count} more combinations change no judged value, and are not counted: where {}.",
                said.join("; or where ")
            ),
            (_, count) => {
                format!(" {count} more combinations change no judged value, and are not counted.")
            }
        };
        let rest = match without.is_empty() {
            true => same,
            false => format!("{same} {without}"),
        };
        let rest = format!("{rest}{}", self.failed(id));
        if others == 0 {
            return Some(rest);
        }
        let turning = self.turning(id);
        let [makes, make] = turned_to(!by_default);
        if others == 1 {
            let other = tests.last().map(|each| self.words_of(each));
            let does = match turning.is_empty() {
                true => format!("does not {make}"),
                false => makes.to_owned(),
            };
            return Some(format!(
                "The {}, where {}, {does}.{rest}",
                self.other(id, 1),
                other.unwrap_or_default()
            ));
        }
        if turning.is_empty() {
            return Some(format!(
                "None of {others} {} {makes}.{rest}",
                self.other(id, others)
            ));
        }
        let is_other = |each: &&&Combination| each.claims.get(id) != Some(&by_default);
        let count = tests.iter().filter(is_other).count();
        let turn = if count == 1 { makes } else { make };
        let mut text = match count == others {
            true => format!("All {others} {} {make}.", self.other(id, others)),
            false => format!("Of {others} {}, {count} {turn}.", self.other(id, others)),
        };
        let (alone, together): (Vec<_>, Vec<_>) = turning.iter().partition(|set| set.len() == 1);
        let named = |sets: Vec<&Vec<(usize, &str)>>| {
            let all: Vec<_> = sets.into_iter().map(|set| self.named(set)).collect();
            all.join("; or where ")
        };
        if !alone.is_empty() {
            text.push_str(&format!(
                " With one rule changed, the claim {} where {}.",
                spoken(!by_default),
                named(alone)
            ));
        }
        if !together.is_empty() {
            text.push_str(&format!(
                " {} The claim {} where {}, with the other rules as in the base run.",
                self.region(id, &turning)
                    .unwrap_or_else(|| format!("Some rules {make} only together.")),
                spoken(!by_default),
                named(together)
            ));
        }
        text.push_str(&rest);
        Some(text)
    }

    /// A sentence for a claim whose result depends on one set of rules only. `turning` has the minimal sets of rules
    /// that turn the claim. The sentence is given if there is one such set, every combination with this set turns the
    /// claim, and no other combination does. Then the other rules do not matter. `None` otherwise.
    fn region(&self, id: &str, turning: &[Vec<(usize, &str)>]) -> Option<String> {
        let [set] = turning else {
            return None;
        };
        let default = *self.combinations.first()?.claims.get(id)?;
        let has = |each: &Combination| set.iter().all(|(rule, value)| each.values[*rule] == *value);
        let mut all = self
            .combinations
            .iter()
            .filter(|each| each.claims.contains_key(id));
        let is_exact = all.all(|each| (each.claims.get(id) != Some(&default)) == has(each));
        is_exact.then(|| {
            let both = if set.len() == 2 { "both" } else { "all" };
            format!("These are exactly the combinations in which {both} of the following are so; the other rules do not matter.")
        })
    }

    /// The sets of [`Self::turning`] for the claim `id`, in ascending order of their sizes. For each set, the
    /// number of its rules, and the interpretations of these rules in words.
    pub(super) fn ways(&self, id: &str) -> Vec<(usize, String)> {
        let mut turning = self.turning(id);
        turning.sort_by_key(Vec::len);
        let ways = turning.iter();
        ways.map(|set| (set.len(), self.named(set))).collect()
    }

    /// For each of the sets of [`Self::turning`] for the claim `id`, the settings that select its
    /// interpretations, and the measured value under them.
    pub(super) fn tried(&self, id: &str) -> Vec<(String, Value)> {
        let of = |set: &Vec<(usize, &str)>| {
            let measured = self.measured_with(set, id)?;
            let rules = set.iter();
            let rules: Vec<_> = rules
                .map(|(index, value)| format!("{} = {value}", self.rules[*index].parameter))
                .collect();
            Some((rules.join(", "), measured.clone()))
        };
        self.turning(id).iter().filter_map(of).collect()
    }

    /// The measured value of the claim `id` under the first of [`Self::ways`].
    pub(super) fn in_first_way(&self, id: &str) -> Option<&Value> {
        let turning = self.turning(id);
        self.measured_with(turning.iter().min_by_key(|set| set.len())?, id)
    }

    /// The measured value of the claim `id` if the rules of `set` have the values in `set`, and all other rules
    /// keep their defaults.
    fn measured_with(&self, set: &[(usize, &str)], id: &str) -> Option<&Value> {
        let is_set = |each: &&Combination| {
            let changed = self.changed(each).into_iter();
            let values = changed.map(|index| (index, each.values[index].as_str()));
            values.eq(set.iter().copied())
        };
        self.combinations.iter().find(is_set)?.measured.get(id)
    }

    /// Finds the combination that changes the fewest rules among those whose measured value of the claim `id`
    /// satisfies `is_sought`; among equals, the first. Returns the changed rules in words, and the measured value.
    pub(super) fn simplest(
        &self,
        id: &str,
        is_sought: impl Fn(&Value) -> bool,
    ) -> Option<(String, Value)> {
        let all = self.combinations.iter().filter_map(|each| {
            let measured = each.measured.get(id);
            let measured = measured.filter(|measured| is_sought(measured))?;
            Some((self.changed(each).len(), each, measured))
        });
        let (_, each, measured) = all.min_by_key(|(changed, ..)| *changed)?;
        Some((self.words_of(each), measured.clone()))
    }

    /// Describes in words the rules for which the combination `each` has a value other than for the default combination.
    fn words_of(&self, each: &Combination) -> String {
        let changed = self.changed(each).into_iter();
        let set: Vec<_> = changed
            .map(|index| (index, each.values[index].as_str()))
            .collect();
        self.named(&set)
    }

    /// Describes the rules of `set` in words, with their values in `set` and in the base run. `set` has the index
    /// and the value of each rule.
    fn named(&self, set: &[(usize, &str)]) -> String {
        let first = self.combinations.first();
        let with = |(index, value): &(usize, &str)| {
            let default = first.and_then(|first| first.values.get(*index));
            let default = default.map_or("", String::as_str);
            self.rules[*index].in_place_of(default, value)
        };
        let all: Vec<_> = set.iter().map(with).collect();
        all.join(", and ")
    }

    /// Describes the default interpretation of each rule that is in any of the sets of [`Self::turning`] for the
    /// claim `id`.
    pub(super) fn defaults(&self, id: &str) -> String {
        let turning = self.turning(id);
        let decisive: BTreeSet<_> = turning.iter().flatten().map(|(index, _)| *index).collect();
        let first = self.combinations.first();
        let with = |index: usize| Some(self.rules.get(index)?.with(first?.values.get(index)?));
        let all: Vec<_> = decisive.into_iter().filter_map(with).collect();
        all.join(", and ")
    }

    /// The indices of the rules for which the combination `each` has a value other than for the default combination.
    fn changed(&self, each: &Combination) -> Vec<usize> {
        let Some(first) = self.combinations.first() else {
            return Vec::new();
        };
        let pairs = each.values.iter().zip(&first.values).enumerate();
        let others = pairs.filter(|(_, (value, default))| value != default);
        others.map(|(index, _)| index).collect()
    }

    /// The minimal sets of rules whose change decides the claim `id`. If the rules of a set get the values in the
    /// set, and all other rules keep their defaults, the claim fails although it holds by default, or holds
    /// although it fails by default. No smaller set, with some of the same rules and values, has this effect. A
    /// set contains the index and the value of each of its rules.
    fn turning(&self, id: &str) -> Vec<Vec<(usize, &str)>> {
        let of = |each: &Combination| each.claims.get(id).copied();
        let default = self.combinations.first().and_then(of);
        let turned = |each: &&Combination| of(each).is_some_and(|holds| Some(holds) != default);
        let all: Vec<_> = self.combinations.iter().filter(turned).collect();
        let is_within = |one: &Combination, other: &Combination| {
            let mut changed = self.changed(one).into_iter();
            changed.len() < self.changed(other).len()
                && changed.all(|index| one.values[index] == other.values[index])
        };
        let smallest = all
            .iter()
            .filter(|each| !all.iter().any(|other| is_within(other, each)));
        smallest
            .map(|each| {
                let changed = self.changed(each).into_iter();
                changed
                    .map(|index| (index, each.values[index].as_str()))
                    .collect()
            })
            .collect()
    }

    /// The combinations in the JSON form that `destage reproduce` writes.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let combinations = self.combinations.iter().map(|each| {
            let names = self.rules.iter().map(|rule| &rule.parameter);
            let values: BTreeMap<_, _> = names.zip(&each.values).collect();
            json!({ "readings": values, "held": each.held(), "claims": each.claims })
        });
        json!(combinations.collect::<Vec<_>>())
    }
}

/// A combination as a list of settings. Each setting has the kind of the scheme or layer to which it applies, the
/// parameter, and the value.
pub(super) type Set = Vec<Setting>;

/// The kind of a scheme or layer, a parameter of one of its open rules, and the value of the parameter.
pub(super) type Setting = (String, String, String);

/// The claims of `paper` whose formulas give the parameter of an open rule a value.
pub(super) fn pinned(paper: &Paper) -> Pinned {
    let of = |claim: &super::claim::Claim| {
        let formulas = [claim.measured.as_deref(), claim.holds.as_deref()];
        let rules = paper.head.reading.iter().filter_map(|reading| {
            let key = format!("\"{}\": ", reading.parameter);
            let mut all = formulas.into_iter().flatten();
            let rest = all.find_map(|formula| formula.split_once(&key))?.1;
            let value = rest.split([',', '}']).next().unwrap_or_default();
            Some((
                reading.parameter.clone(),
                value.trim().trim_matches('"').to_owned(),
            ))
        });
        let rules: Vec<_> = rules.collect();
        (!rules.is_empty()).then(|| (claim.id.clone(), rules))
    };
    paper.claims.iter().filter_map(of).collect()
}

/// All combinations of interpretations of the open rules of `paper`, the default first. If the paper leaves no
/// rule open, the result is a single empty combination.
pub(super) fn combinations(paper: &Paper) -> Vec<Set> {
    let readings = &paper.head.reading;
    let axes = readings
        .iter()
        .map(|reading| (&reading.parameter, &reading.values));
    let kinds = || readings.iter().map(|reading| reading.of.clone());
    let set = |choice: Vec<(String, String)>| {
        let pairs = kinds().zip(choice);
        pairs.map(|(kind, (key, value))| (kind, key, value))
    };
    let all = product(axes).into_iter();
    all.map(|choice| set(choice).collect()).collect()
}

/// The rules that `paper` leaves open.
pub(super) fn rules(paper: &Paper) -> Vec<Rule> {
    let rule = |reading: &Reading| {
        let axis = [(&reading.parameter, &reading.values)];
        let values = product(axis).into_iter().flatten().map(|(_, value)| value);
        Rule {
            parameter: reading.parameter.clone(),
            of: reading.of.clone(),
            about: reading.about.trim().to_owned(),
            says: values.zip(reading.says.iter().cloned()).collect(),
            acts: reading.acts.clone(),
        }
    };
    paper.head.reading.iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_turns_alone_is_listed_and_no_set_with_it() {
        let combination = |values: [&str; 3], holds: bool| Combination {
            values: values.map(str::to_owned).to_vec(),
            claims: BTreeMap::from([("X".to_owned(), holds)]),
            measured: BTreeMap::from([("X".to_owned(), json!(values.join("")))]),
            alike: BTreeMap::new(),
            idle: BTreeSet::new(),
        };
        let rule = |name: &str, says: &str| Rule {
            parameter: name.to_owned(),
            of: "scheme".to_owned(),
            about: String::new(),
            says: [("1".to_owned(), says.to_owned())]
                .into_iter()
                .filter(|(_, says)| !says.is_empty())
                .collect(),
            acts: String::new(),
        };
        let mut combinations = Vec::new();
        for a in ["0", "1"] {
            for b in ["0", "1"] {
                for c in ["0", "1"] {
                    let holds = a == "0" && !(b == "1" && c == "1");
                    combinations.push(combination([a, b, c], holds));
                }
            }
        }
        let mut readings = Readings {
            rules: vec![rule("a", "hot pages stay"), rule("b", ""), rule("c", "")],
            combinations,
            pinned: Pinned::new(),
            kinds: BTreeMap::new(),
        };
        let mut turning = readings.turning("X");
        turning.sort_by_key(Vec::len);
        assert_eq!(turning, [vec![(0, "1")], vec![(1, "1"), (2, "1")]]);
        assert_eq!(
            readings.turned("X").unwrap(),
            "Of 7 other combinations of the 3 rules that the paper leaves open, 5 make the claim fail. With one rule changed, the claim fails where hot pages stay (a = 1; the base run has 0). Some rules make the claim fail only together. The claim fails where b = 1 (the base run has 0), and c = 1 (the base run has 0), with the other rules as in the base run."
        );
        let ways = readings.ways("X");
        assert_eq!(
            ways.iter().map(|(count, _)| *count).collect::<Vec<_>>(),
            [1, 2]
        );
        let mut tried = readings.tried("X");
        tried.sort_by_key(|(set, _)| set.len());
        assert_eq!(
            tried,
            [
                ("a = 1".to_owned(), json!("100")),
                ("b = 1, c = 1".to_owned(), json!("011")),
            ]
        );
        assert_eq!(readings.defaults("X"), "a = 0, and b = 0, and c = 0");
        assert_eq!(readings.turned("Y"), None);
        // If a run gave no result under a combination, this combination is left out.
        let whole = readings.combinations.clone();
        readings.combinations[4].claims.clear();
        assert_eq!(readings.turning("X").len(), 3);
        let share = readings.share_of("X").unwrap();
        assert_eq!((share.held, share.tried), (3, 7));
        assert!(
            readings
                .turned("X")
                .unwrap()
                .ends_with(" Combinations under which a run gave no result are left out.")
        );
        readings.combinations = whole;
        readings.combinations.truncate(2);
        assert_eq!(
            readings.turned("X").unwrap(),
            "The other reading of the open rule c, where c = 1 (the base run has 0), does not make the claim fail. The open rules a and b do not act in these runs: they concern the flash and the way to it, and no run of this claim has it."
        );
    }

    /// A claim whose formula fixes the reading of a rule is not judged under other readings of it, and says so.
    #[test]
    fn a_claim_with_a_fixed_reading_is_not_judged_under_others() {
        let rule = |name: &str| Rule {
            parameter: name.to_owned(),
            of: "scheme".to_owned(),
            about: String::new(),
            says: BTreeMap::new(),
            acts: "in a cache that is split".to_owned(),
        };
        let combination = |values: [&str; 2], is_judged: bool| Combination {
            values: values.map(str::to_owned).to_vec(),
            claims: BTreeMap::from_iter(is_judged.then(|| ("X".to_owned(), true))),
            measured: BTreeMap::new(),
            alike: BTreeMap::from_iter(is_judged.then(|| ("X".to_owned(), 0))),
            idle: BTreeSet::new(),
        };
        let readings = Readings {
            rules: vec![rule("a"), rule("b")],
            combinations: vec![
                combination(["0", "0"], true),
                combination(["0", "1"], true),
                combination(["1", "0"], false),
                combination(["1", "1"], false),
            ],
            pinned: Pinned::from([("X".to_owned(), vec![("a".to_owned(), "0".to_owned())])]),
            kinds: BTreeMap::from([("X".to_owned(), BTreeSet::from(["scheme".to_owned()]))]),
        };
        assert_eq!(
            readings.turned("X").unwrap(),
            "The runs of this claim are made with a = 0 only; it is not judged under other readings. The experiment gives the open rule b one reading, under which all runs of this claim are made. It acts only in a cache that is split."
        );
        assert_eq!(readings.share_of("X").map(|share| share.tried), None);
    }

    /// If a claim uses the same runs under a combination as under an earlier one, the combination does not test
    /// the claim, and is not counted.
    #[test]
    fn rules_that_change_no_run_are_no_test() {
        let rule = |name: &str| Rule {
            parameter: name.to_owned(),
            of: "bpac".to_owned(),
            about: String::new(),
            says: BTreeMap::new(),
            acts: "in a cache that is split".to_owned(),
        };
        // No rule affects a run of the claim X, and only the second rule affects runs of the claim Y.
        let combination = |place: usize, values: [&str; 2], of_y: bool| Combination {
            values: values.map(str::to_owned).to_vec(),
            claims: BTreeMap::from([("X".to_owned(), true), ("Y".to_owned(), of_y)]),
            measured: BTreeMap::new(),
            alike: BTreeMap::from([("X".to_owned(), 0), ("Y".to_owned(), place % 2)]),
            idle: BTreeSet::new(),
        };
        let mut readings = Readings {
            rules: vec![rule("a"), rule("b")],
            combinations: vec![
                combination(0, ["0", "0"], true),
                combination(1, ["0", "1"], false),
                combination(2, ["1", "0"], true),
                combination(3, ["1", "1"], false),
            ],
            pinned: Pinned::new(),
            kinds: BTreeMap::new(),
        };
        assert_eq!(
            readings.turned("X").unwrap(),
            "None of the rules that the paper leaves open (a and b) acts in these runs: they concern the flash and the way to it, and no run of this claim has it."
        );
        assert_eq!(readings.others("X"), None);
        assert_eq!(
            readings.turned("Y").unwrap(),
            "The other reading of the open rule b, where b = 1 (the base run has 0), makes the claim fail. The open rule a does not act in these runs: it concerns the flash and the way to it, and no run of this claim has it."
        );
        assert_eq!(
            readings.others("Y").unwrap(),
            "the other combination of 1 of the 2 rules that the paper leaves open (b), where b = 1 (the base run has 0)"
        );
        let share = readings.share_of("Y").unwrap();
        assert_eq!((share.held, share.tried), (1, 2));
        // Other runs with the same judged values are no test either.
        readings.combinations[1].idle.insert("Y".to_owned());
        readings.combinations[1].claims.insert("Y".to_owned(), true);
        readings.combinations[3].claims.insert("Y".to_owned(), true);
        assert_eq!(
            readings.turned("Y").unwrap(),
            "The other reading of the open rule b changes no judged value, so that it does not test the claim. The open rule a does not act in these runs: it concerns the flash and the way to it, and no run of this claim has it."
        );
        assert_eq!(readings.others("Y"), None);
    }
}

//! Rules that a paper leaves open, chosen by its own claims: every combination is tried on all of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::decide::Share;
use super::paper::{Paper, Reading};
use super::reason::turned_to;
use crate::product;

/// How many of a paper's claims hold under each combination of readings.
#[derive(Clone, Debug)]
pub struct Readings {
    /// The rules that are left open.
    pub rules: Vec<Rule>,
    /// The combinations; the first is the default.
    pub combinations: Vec<Combination>,
}

/// A rule that the paper leaves open.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The parameter that decides, by dotted name.
    pub parameter: String,
    /// What its values mean, in a sentence.
    pub about: String,
    /// By value, what it says, as a part of a sentence: `every write to a block is a use of it`. Empty for a value without.
    says: BTreeMap<String, String>,
}

impl Rule {
    /// What it says with `value`, and how that is set.
    fn with(&self, value: &str) -> String {
        let set = format!("{} = {value}", self.parameter);
        match self.says.get(value) {
            Some(says) => format!("{says} ({set})"),
            None => set,
        }
    }
}

/// One combination.
#[derive(Clone, Debug)]
pub struct Combination {
    /// A value for each parameter.
    pub values: Vec<String>,
    /// By claim, whether it holds.
    pub claims: BTreeMap<String, bool>,
    /// By claim, what is measured.
    pub measured: BTreeMap<String, Value>,
}

impl Combination {
    /// How many claims hold.
    #[must_use]
    pub fn held(&self) -> usize {
        self.claims.values().filter(|holds| **holds).count()
    }
}

impl Readings {
    /// Claims that hold under some combinations and not under others.
    #[must_use]
    pub fn decided(&self) -> Vec<&str> {
        let Some(first) = self.combinations.first() else {
            return Vec::new();
        };
        let moves = |id: &&String| {
            let of = |combination: &Combination| combination.claims.get(*id).copied();
            self.combinations.iter().any(|each| of(each) != of(first))
        };
        first
            .claims
            .keys()
            .filter(moves)
            .map(String::as_str)
            .collect()
    }

    /// Under how many combinations the claim called `id` holds, if it depends on them.
    pub(super) fn share_of(&self, id: &str) -> Option<Share> {
        if !self.decided().contains(&id) {
            return None;
        }
        let holds = |each: &&Combination| each.claims.get(id) == Some(&true);
        Some(Share {
            held: self.combinations.iter().filter(holds).count(),
            tried: self.combinations.len(),
        })
    }

    /// Which rules turn the claim called `id`: with which it comes out otherwise than with the default of each, alone and
    /// together. None if they were not tried on it.
    pub(super) fn turned(&self, id: &str) -> Option<String> {
        let first = self.combinations.first()?;
        let by_default = *first.claims.get(id)?;
        let others = self.combinations.len() - 1;
        let of_rules = format!("the {} rules that the paper leaves open", self.rules.len());
        let turning = self.turning(id);
        let [makes, make] = turned_to(!by_default);
        if turning.is_empty() {
            return Some(match others {
                1 => format!("The other combination of {of_rules} does not {make}."),
                _ => format!("None of {others} other combinations of {of_rules} {makes}."),
            });
        }
        let is_other = |each: &&Combination| each.claims.get(id) != Some(&by_default);
        let count = self.combinations.iter().filter(is_other).count();
        let turn = if count == 1 { makes } else { make };
        let mut text = format!("Of {others} other combinations of {of_rules}, {count} {turn}.");
        let (alone, together): (Vec<_>, Vec<_>) = turning.iter().partition(|set| set.len() == 1);
        let listed = |sets: Vec<&Vec<(usize, &str)>>| {
            let all: Vec<_> = sets.into_iter().map(|set| self.named(set)).collect();
            all.join("; or where ")
        };
        if !alone.is_empty() {
            text.push_str(&format!(
                " With one rule changed, that is so where {}.",
                listed(alone)
            ));
        }
        if !together.is_empty() {
            text.push_str(&format!(
                " With several rules changed at once, none of which does it alone, that is so where {}.",
                listed(together)
            ));
        }
        Some(text)
    }

    /// The fewest rules that turn the claim called `id`, if any do: how many, and with which reading of each.
    pub(super) fn foremost(&self, id: &str) -> Option<(usize, String)> {
        let turning = self.turning(id);
        let fewest = turning.iter().min_by_key(|set| set.len());
        fewest.map(|set| (set.len(), self.named(set)))
    }

    /// What comes out where the fewest rules turn the claim called `id`: for each such set how it is set, and what is measured.
    pub(super) fn tried(&self, id: &str) -> Vec<(String, Value)> {
        let of = |set: &Vec<(usize, &str)>| {
            let is_set = |each: &&Combination| {
                let changed = self.changed(each).into_iter();
                let values = changed.map(|index| (index, each.values[index].as_str()));
                values.eq(set.iter().copied())
            };
            let measured = self.combinations.iter().find(is_set)?.measured.get(id)?;
            let rules = set.iter();
            let rules: Vec<_> = rules
                .map(|(index, value)| format!("{} = {value}", self.rules[*index].parameter))
                .collect();
            Some((rules.join(", "), measured.clone()))
        };
        self.turning(id).iter().filter_map(of).collect()
    }

    /// The rules of `set`, each by its place, with their values.
    fn named(&self, set: &[(usize, &str)]) -> String {
        let rules = set.iter();
        let all: Vec<_> = rules
            .map(|(index, value)| self.rules[*index].with(value))
            .collect();
        all.join(", and ")
    }

    /// The rules that turn the claim called `id`, alone or with others, with the default of each.
    pub(super) fn defaults(&self, id: &str) -> String {
        let turning = self.turning(id);
        let decisive: BTreeSet<_> = turning.iter().flatten().map(|(index, _)| *index).collect();
        let first = self.combinations.first();
        let with = |index: usize| Some(self.rules.get(index)?.with(first?.values.get(index)?));
        let all: Vec<_> = decisive.into_iter().filter_map(with).collect();
        all.join(", and ")
    }

    /// Which rules of `each` have another value than by default, by their places.
    fn changed(&self, each: &Combination) -> Vec<usize> {
        let Some(first) = self.combinations.first() else {
            return Vec::new();
        };
        let pairs = each.values.iter().zip(&first.values).enumerate();
        let others = pairs.filter(|(_, (value, default))| value != default);
        others.map(|(index, _)| index).collect()
    }

    /// The smallest sets of rules, each by its place and with its value, with which the claim called `id` comes out otherwise than by default.
    fn turning(&self, id: &str) -> Vec<Vec<(usize, &str)>> {
        let of = |each: &Combination| each.claims.get(id).copied();
        let default = self.combinations.first().and_then(of);
        let turned = |each: &&Combination| of(each) != default;
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

    /// As in the results of `reproduce`.
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

/// A combination as settings for the runs they concern: kind, parameter, value.
pub(super) type Set = Vec<(String, String, String)>;

/// All combinations of what `paper` leaves open, the default first; one of nothing if it leaves nothing open.
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
            about: reading.about.trim().to_owned(),
            says: values.zip(reading.says.iter().cloned()).collect(),
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
        };
        let rule = |name: &str, says: &str| Rule {
            parameter: name.to_owned(),
            about: String::new(),
            says: [("1".to_owned(), says.to_owned())]
                .into_iter()
                .filter(|(_, says)| !says.is_empty())
                .collect(),
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
        };
        let mut turning = readings.turning("X");
        turning.sort_by_key(Vec::len);
        assert_eq!(turning, [vec![(0, "1")], vec![(1, "1"), (2, "1")]]);
        assert_eq!(
            readings.turned("X").unwrap(),
            "Of 7 other combinations of the 3 rules that the paper leaves open, 5 make it fail. With one rule changed, that is so where hot pages stay (a = 1). With several rules changed at once, none of which does it alone, that is so where b = 1, and c = 1."
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
        readings.combinations.truncate(2);
        assert_eq!(
            readings.turned("X").unwrap(),
            "The other combination of the 3 rules that the paper leaves open does not make it fail."
        );
    }
}

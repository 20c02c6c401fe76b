//! Rules that a paper leaves open, chosen by its own claims: every combination is tried on all of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::decide::{Share, Verdict};
use super::paper::Paper;
use super::verdict::Judged;
use crate::study::product;

/// How many of a paper's claims hold under each combination of readings.
#[derive(Clone, Debug)]
pub struct Readings {
    /// Parameters by dotted name, and what their values mean.
    pub parameters: Vec<(String, String)>,
    /// The combinations; the first is the default.
    pub combinations: Vec<Combination>,
}

/// One combination.
#[derive(Clone, Debug)]
pub struct Combination {
    /// A value for each parameter.
    pub values: Vec<String>,
    /// By claim, whether it holds.
    pub claims: BTreeMap<String, bool>,
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

    /// Says of `claim` under how many combinations it holds, if it depends on them, and with which rules it comes out otherwise
    /// than by default: with each alone, and with those that only do so together.
    pub(super) fn add_to(&self, claim: &mut Judged) {
        let Some(Share { held, tried }) = self.share_of(&claim.id) else {
            return;
        };
        let first = self.combinations.first();
        let by_default = first.and_then(|each| each.claims.get(&claim.id)) == Some(&true);
        let (base, other) = match by_default {
            true => ("holds", "Fails"),
            false => ("fails", "Holds"),
        };
        let mut sentences = vec![format!(
            "Rules that the paper leaves open: holds under {held} of {tried} combinations. Base run, with the default of each and all seeds: {base}."
        )];
        let turning = self.turning(&claim.id);
        let (alone, together): (Vec<_>, Vec<_>) = turning.iter().partition(|set| set.len() == 1);
        let listed = |sets: Vec<&Vec<String>>| {
            let all: Vec<_> = sets.into_iter().map(|set| set.join(" and ")).collect();
            all.join("; ")
        };
        if !alone.is_empty() {
            sentences.push(format!("{other} with one rule alone: {}.", listed(alone)));
        }
        if !together.is_empty() {
            sentences.push(format!(
                "{other} only with rules together: {}.",
                listed(together)
            ));
        }
        if claim.verdict == Verdict::Reproduced {
            let decides = |(index, _): &(usize, _)| self.decides(&claim.id, *index);
            let names = self.parameters.iter().map(|(name, _)| name);
            let pairs = names.zip(first.iter().flat_map(|each| &each.values));
            let named: Vec<_> = pairs
                .enumerate()
                .filter(decides)
                .map(|(_, (name, value))| format!("{name} = {value}"))
                .collect();
            sentences.push(format!(
                "The original's own numbers come out with {}, which is taken as the paper's reading.",
                named.join(", ")
            ));
        }
        // Behind the reason and what was compared.
        let place = claim.because.len().min(2);
        claim.because.insert(place, sentences.join(" "));
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

    /// The smallest sets of rules, each with its value, with which the claim called `id` comes out otherwise than by default.
    fn turning(&self, id: &str) -> Vec<Vec<String>> {
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
        let named = |each: &&Combination| {
            let changed = self.changed(each).into_iter();
            let name =
                |index: usize| format!("{} = {}", self.parameters[index].0, each.values[index]);
            changed.map(name).collect()
        };
        smallest.map(named).collect()
    }

    /// Whether the rule at the place `index` is among those that turn the claim called `id`.
    fn decides(&self, id: &str, index: usize) -> bool {
        let name = format!("{} = ", self.parameters[index].0);
        let turning = self.turning(id);
        turning.iter().flatten().any(|text| text.starts_with(&name))
    }

    /// As in the results of `reproduce`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let combinations = self.combinations.iter().map(|each| {
            let names = self.parameters.iter().map(|(name, _)| name);
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

/// Parameters and what their values mean.
pub(super) fn parameters(paper: &Paper) -> Vec<(String, String)> {
    let all = paper.head.reading.iter();
    all.map(|reading| (reading.parameter.clone(), reading.about.trim().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_turns_alone_is_listed_and_no_set_with_it() {
        let combination = |values: [&str; 3], holds: bool| Combination {
            values: values.map(str::to_owned).to_vec(),
            claims: BTreeMap::from([("X".to_owned(), holds)]),
        };
        let names = ["a", "b", "c"].map(|name| (name.to_owned(), String::new()));
        let mut combinations = Vec::new();
        for a in ["0", "1"] {
            for b in ["0", "1"] {
                for c in ["0", "1"] {
                    let holds = a == "0" && !(b == "1" && c == "1");
                    combinations.push(combination([a, b, c], holds));
                }
            }
        }
        let readings = Readings {
            parameters: names.to_vec(),
            combinations,
        };
        let mut turning = readings.turning("X");
        turning.sort_by_key(Vec::len);
        assert_eq!(turning, [vec!["a = 1"], vec!["b = 1", "c = 1"]]);
        assert!(readings.decides("X", 2));
    }
}

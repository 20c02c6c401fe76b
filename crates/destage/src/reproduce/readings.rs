//! Rules that a paper leaves open, chosen by its own claims: every combination is tried on all of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::decide::Share;
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

    /// Says of `claim` under how many combinations it holds, if it depends on them, with the first that turns it.
    pub(super) fn add_to(&self, claim: &mut Judged) {
        let Some(Share { held, tried }) = self.share_of(&claim.id) else {
            return;
        };
        let holds = |each: &Combination| each.claims.get(&claim.id) == Some(&true);
        let by_default = self.combinations.first().is_some_and(holds);
        let mut text = format!("Holds under {held} of {tried} combinations of open rules.");
        if let Some(turned) = self
            .combinations
            .iter()
            .find(|each| holds(each) != by_default)
        {
            let pairs = self.parameters.iter().zip(&turned.values);
            let default = self
                .combinations
                .first()
                .map_or(&turned.values, |first| &first.values);
            let pairs: Vec<_> = pairs
                .zip(default)
                .filter(|((_, value), default)| value != default)
                .map(|(((name, _), value), _)| format!("{name} = {value}"))
                .collect();
            text.push_str(&format!(" Turned by {}.", pairs.join(", ")));
        }
        claim.because = format!("{} {text}", claim.because).trim().to_owned();
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

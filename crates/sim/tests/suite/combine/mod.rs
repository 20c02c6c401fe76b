//! Tests that combine every feature with every other feature, and up to six random features with each other. Each
//! combination must either run and obey the laws in `laws.rs`, or be refused by the row of a parameter, which gives
//! the reason.
//!
//! `make combine` runs all pairs and 2,000 random configurations, and shows the reasons of the refusals. `make test`
//! runs only a sample of the pairs and configurations. Both check for every pair whether it is refused.

mod features;
mod laws;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use destage_base::Random;
use destage_sim::check::Purpose;
use destage_sim::error::SimError;
use destage_sim::settings::{Config, Settings};

use features::{FEATURES, Feature, are_one};
use laws::{Held, hold};

/// The expected number of refused pairs. If fewer pairs are refused, reduce this number.
const REFUSED_PAIRS: usize = 10;
/// The number of random configurations in the full test.
const RANDOM: usize = 2_000;
/// In a sample, one of this many pairs and random configurations runs.
const SAMPLE: usize = 40;
/// The largest number of features in a random configuration.
const MOST: u64 = 6;

const DEVICE: &[&str] = &[
    "flash.dies=4",
    "flash.planes_per_die=2",
    "flash.blocks_per_plane=64",
    "flash.pages_per_block=128",
    "buffer.capacity_bytes=4MiB",
];

/// The outcome of combining features: a configuration and its purpose, or the reason that the refusing row gives.
enum Joined {
    Runs(Box<Config>, Purpose),
    Refused(&'static str),
}

fn joined(features: &[&Feature]) -> Result<Joined, SimError> {
    let mut settings = Settings::new();
    let pairs = features.iter().flat_map(|feature| feature.pairs);
    for pair in DEVICE.iter().chain(pairs) {
        settings.set_pair(pair)?;
    }
    if features.iter().any(|feature| feature.explains) {
        settings.explain();
    }
    let mut purposes = features.iter().filter_map(|feature| feature.purpose);
    let purpose = purposes.next().unwrap_or(Purpose::Run);
    let checked = settings.resolve().and_then(|config| {
        let config = match purpose {
            Purpose::Cut => config.with_failing_power(),
            Purpose::Live => config.with_failing_power().used_for(purpose),
            Purpose::Run | Purpose::Watch => config,
        };
        config.check(purpose).map(|()| config)
    });
    match checked {
        Ok(config) => Ok(Joined::Runs(Box::new(config), purpose)),
        Err(SimError::Excluded(refusal)) => Ok(Joined::Refused(refusal.because)),
        Err(other) => Err(other),
    }
}

fn names(features: &[&Feature]) -> String {
    let names: Vec<&str> = features.iter().map(|feature| feature.name).collect();
    names.join(" + ")
}

/// The results of many combinations.
#[derive(Default)]
struct Outcome {
    all: usize,
    runs: usize,
    refused: BTreeMap<&'static str, Vec<String>>,
    held: BTreeMap<Held, usize>,
    wrong: Vec<String>,
}

impl Outcome {
    /// Adds the combination `features`. Runs the combination if `all` is set or if the combination belongs to the
    /// sample.
    fn add(&mut self, features: &[&Feature], all: bool) {
        self.all += 1;
        let name = names(features);
        match joined(features) {
            Err(error) => self.wrong.push(format!("{name}: {error}")),
            Ok(Joined::Refused(because)) => self.refused.entry(because).or_default().push(name),
            Ok(Joined::Runs(config, purpose)) => {
                self.runs += 1;
                if !all && !self.runs.is_multiple_of(SAMPLE) {
                    return;
                }
                let held = catch_unwind(AssertUnwindSafe(|| hold(&config, purpose)));
                match held.unwrap_or_else(|_| Err("it panics".to_owned())) {
                    Ok(held) => held
                        .into_iter()
                        .for_each(|law| *self.held.entry(law).or_default() += 1),
                    Err(wrong) => self.wrong.push(format!("{name}: {wrong}")),
                }
            }
        }
    }

    fn refused(&self) -> usize {
        self.refused.values().map(Vec::len).sum()
    }

    #[allow(clippy::print_stdout, reason = "the recipe shows it")]
    fn tell(&self, what: &str) {
        let share = 100.0 * self.refused() as f64 / self.all as f64;
        println!(
            "{what}: {} of {} refused ({share:.1} %)",
            self.refused(),
            self.all
        );
        for (because, names) in &self.refused {
            println!("  {:4} {because}; as {}", names.len(), names[0]);
        }
        println!("  laws held: {:?}", self.held);
    }

    fn assert_sound(&self) {
        let (count, first) = (self.wrong.len(), &self.wrong[..self.wrong.len().min(40)]);
        assert!(count == 0, "{count} are wrong:\n{}", first.join("\n"));
    }
}

fn runs_all() -> bool {
    std::env::var_os("DESTAGE_COMBINE").is_some()
}

#[test]
fn pairs() {
    assert!(FEATURES.len() >= 60, "{}", FEATURES.len());
    let mut outcome = Outcome::default();
    for (number, one) in FEATURES.iter().enumerate() {
        assert!(
            matches!(joined(&[one]), Ok(Joined::Runs(..))),
            "{} does not run alone",
            one.name
        );
        for other in &FEATURES[number + 1..] {
            if !are_one(one, other) {
                outcome.add(&[one, other], runs_all());
            }
        }
    }
    outcome.tell("pairs");
    outcome.assert_sound();
    assert_eq!(outcome.refused(), REFUSED_PAIRS);
}

fn named(name: &str) -> &'static Feature {
    let mut found = FEATURES.iter().filter(|feature| feature.name == name);
    found
        .next()
        .unwrap_or_else(|| panic!("{name} is no feature"))
}

#[test]
fn what_once_failed_holds() {
    let mut outcome = Outcome::default();
    // One handle has only clean pages. A flush must nevertheless destage the dirty pages of the other handle.
    outcome.add(&[named("shares of handles"), named("cflru")], true);
    outcome.assert_sound();
    assert_eq!(outcome.runs, 1);
}

/// Pairs of lists of features that could damage each other's data. The test combines each feature of the first list
/// with each feature of the second list, in runs with real data.
const APART: &[(&[&str], &[&str])] = &[
    (
        &["handles", "hot window", "journal", "collection in steps"],
        &[
            "reference's ties",
            "wear-aware collection",
            "cold data into worn blocks",
            "dynamic placement",
        ],
    ),
    (&["hot window"], &["handles", "shares of handles"]),
    (&["dynamic placement"], &["pool of a plane", "stride"]),
    (&["no copy-back"], &["wear-aware collection"]),
    (
        &[
            "program units",
            "two passes",
            "units that wait",
            "map units",
        ],
        &["summary page", "fast", "bast", "superblock"],
    ),
    (
        &["cache read", "cache program"],
        &["dynamic placement", "zns", "striped"],
    ),
    (&["parallel units"], &["collection last"]),
    (&["nearest alignment"], &["modulo"]),
];

#[test]
fn what_was_kept_apart_reads_back_what_was_written() {
    let mut outcome = Outcome::default();
    let pairs = APART.iter().flat_map(|(ones, others)| {
        let with_others = move |one: &'static &str| others.iter().map(move |other| (*one, *other));
        ones.iter().flat_map(with_others)
    });
    let mut all = 0;
    for (one, other) in pairs {
        for purpose in ["payload and cut", "served"] {
            // A served device refuses this feature, because the device would write to other sectors than the client
            // requested.
            if one != "nearest alignment" || purpose != "served" {
                outcome.add(&[named(one), named(other), named(purpose)], true);
                all += 1;
            }
        }
    }
    outcome.assert_sound();
    assert_eq!(outcome.runs, all, "{:?}", outcome.refused);
}

#[test]
fn random_configurations() {
    let mut outcome = Outcome::default();
    let mut random = Random::new(1);
    for _ in 0..RANDOM {
        let wanted = 1 + random.below(MOST);
        let mut chosen: Vec<&Feature> = Vec::new();
        while (chosen.len() as u64) < wanted {
            let next = &FEATURES[random.below(FEATURES.len() as u64) as usize];
            let is_new = |known: &&Feature| known.name != next.name && !are_one(known, next);
            if chosen.iter().all(is_new) {
                chosen.push(next);
            } else if chosen.len() as u64 + 1 == wanted {
                break;
            }
        }
        outcome.add(&chosen, runs_all());
    }
    outcome.tell("random configurations");
    outcome.assert_sound();
}

//! Where the search begins: what runs tell that cost little.
//!
//! Counts need no clock: runs without one have nearly the same, at a part of the cost, and where only the buffer is asked about
//! without flash as well. Times need one, and are tried on the beginning of the input.

use destage_sim::metrics::rows;
use destage_sim::sample::is_estimated;
use destage_sim::settings::{Origin, Settings};

use super::goal::Goal;
use super::search::{Candidate, Hint, search};
use crate::compare::Effort;
use crate::error::Error;
use crate::grid::{Combination, Grid};
use crate::input::Input;
use crate::record::Record;

/// The beginning of the input is one of so many parts.
const PART: u64 = 16;
/// Requests that a beginning has at least: fewer say nothing.
const LEAST_REQUESTS: u64 = 500;
/// Metrics of the buffer on which flash has no influence.
const OF_BUFFER: [&str; 7] = [
    rows::BUFFER_WRITE_HITS.name,
    rows::BUFFER_READ_HITS.name,
    rows::BUFFER_EVICTIONS.name,
    rows::BUFFER_DESTAGED_PAGES.name,
    rows::BUFFER_MEAN_DESTAGE_PAGES.name,
    rows::BUFFER_ON_DEMAND_UPDATES.name,
    rows::BUFFER_DIRTY_AT_END.name,
];

/// What was tried.
pub(super) struct Trials {
    /// How many runs.
    pub(super) runs: usize,
    /// Of each scheme, if all goals are counts: the smallest size that reaches them with its run, and the largest that does not.
    pub(super) found: Vec<Found>,
}

/// What runs without a clock found of a scheme.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) reached: Option<(usize, Record)>,
    pub(super) missed: Option<(usize, Record)>,
}

/// Gives `candidates`, which `grid` makes of `settings` at `sizes`, their hints for `goals` on an input of `requests` requests.
pub(super) fn trials(
    input: &Input,
    settings: &Settings,
    candidates: &mut [Candidate],
    goals: &[Goal],
    requests: u64,
    effort: &Effort<'_>,
) -> Result<Trials, Error> {
    let mut trials = Trials {
        runs: 0,
        found: Vec::new(),
    };
    let is_timed = |candidate: &Candidate| {
        let mut sizes = candidate.sizes.iter();
        sizes.all(|size| size.config.is_timed())
    };
    // Without a clock a full run costs little.
    if !candidates.iter().all(is_timed) {
        return Ok(trials);
    }
    let is_count = |goal: &&Goal| is_estimated(&goal.metric);
    let counts: Vec<Goal> = goals.iter().filter(is_count).cloned().collect();
    let times: Vec<Goal> = goals
        .iter()
        .filter(|goal| !is_count(goal))
        .cloned()
        .collect();
    let is_sure = times.is_empty();
    let mut hints: Vec<Option<Hint>> = vec![None; candidates.len()];
    let mut add = |tried: &[Candidate], goals: &[Goal]| {
        for (hint, of) in hints.iter_mut().zip(tried) {
            let place = of.place();
            let known = of.reached.as_ref().or(of.missed.as_ref());
            let rank = known.map_or(f64::INFINITY, |(_, record)| goals[0].rank(record));
            let new = Hint {
                place,
                rank,
                is_sure,
            };
            *hint = Some(match *hint {
                Some(old) if old.place > place => old,
                _ => new,
            });
        }
    };
    if !counts.is_empty() {
        let cheap = without_clock(settings, &counts)?;
        let mut tried = again(&cheap, candidates)?;
        let reaches = |record: &Record| counts.iter().all(|goal| goal.is_met_by(record));
        trials.runs += search(input, &mut tried, reaches, effort)?.0;
        add(&tried, &counts);
        if is_sure {
            let found = tried.into_iter().map(|of| Found {
                reached: of.reached,
                missed: of.missed,
            });
            trials.found = found.collect();
        }
    }
    let part = requests / PART;
    if !times.is_empty() && part >= LEAST_REQUESTS {
        let mut tried = again(settings, candidates)?;
        let reaches = |record: &Record| times.iter().all(|goal| goal.is_met_by(record));
        trials.runs += search(&input.beginning(part), &mut tried, reaches, effort)?.0;
        add(&tried, &times);
    }
    for (candidate, hint) in candidates.iter_mut().zip(hints) {
        if let Some(hint) = hint {
            candidate.begin_at(hint);
        }
    }
    Ok(trials)
}

/// The same without a clock, and without flash if `goals` are about the buffer alone.
fn without_clock(settings: &Settings, goals: &[Goal]) -> Result<Settings, Error> {
    let mut cheap = settings.clone();
    let origin = Origin::Given("a run without a clock".to_owned());
    cheap.set("sim.costing", "op_count", origin);
    if goals.iter().all(|goal| OF_BUFFER.contains(&&*goal.metric)) {
        let of_layer = |key: &&str| key.starts_with("ftl.");
        let keys: Vec<String> = cheap.keys().filter(of_layer).map(str::to_owned).collect();
        keys.iter().for_each(|key| cheap.remove(key));
        cheap.set_kind("ftl", "none")?;
    }
    Ok(cheap)
}

/// The schemes and sizes of `candidates` under other `settings`.
fn again(settings: &Settings, candidates: &[Candidate]) -> Result<Vec<Candidate>, Error> {
    let of = |candidate: &Candidate| -> Result<Candidate, Error> {
        let sizes = candidate.sizes.iter();
        let bytes =
            sizes.map(|size: &Combination| size.config.typed.buffer.capacity_bytes.to_string());
        let name = candidate.sizes.first().map_or("", |size| &size.buffer);
        let grid = Grid::new(settings.clone()).buffers([name]).sizes(bytes);
        Ok(Candidate::new(grid.combinations()?))
    };
    candidates.iter().map(of).collect()
}

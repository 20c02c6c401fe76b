//! The search for the scheme that reaches given goals with the smallest buffer.

mod forecast;
mod goal;
mod hold_up;
mod line;
mod race;
mod search;
mod whole;
mod words;

use std::collections::BTreeMap;
use std::time::Instant;

use destage_sim::settings::{Origin, Settings};
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use self::forecast::Forecast;
pub use self::goal::Goal;
pub use self::hold_up::{DumpEnergy, HoldUp};
use self::search::{Found, Range, Search};
use self::whole::Whole;
use crate::compare::{Effort, compare};
use crate::curve::reads_enter;
use crate::error::Error;
use crate::grid::{CAPACITY, Combination, Grid, capacities, refuse_pair};
use crate::input::Input;
use crate::json;
use crate::manifest::{Manifest, notes, unused};
use crate::record::Record;
use crate::results::add_warnings;
use crate::words::stopped;

/// The scheme without a buffer.
const NO_BUFFER: &str = "nocache";

/// The schemes that are compared by default: those of the papers, and the usual baselines.
pub const SIZED_SCHEMES: [&str; 8] = [
    "lru",
    "block-lru",
    "fab",
    "bplru",
    "clc",
    "bpac",
    "epo",
    "apu-lru",
];

/// The settings, the schemes, the sizes and the goals of a search.
#[derive(Clone)]
pub struct SizePlan {
    /// All settings except the scheme and the size.
    pub settings: Settings,
    /// The schemes, as in [`Grid::buffers`].
    pub buffers: Vec<String>,
    /// The sizes, as in [`Grid::sizes`]; `None` uses the default sizes of
    /// [`CurvePlan::sizes`](crate::CurvePlan::sizes).
    pub sizes: Option<Vec<String>>,
    /// The goals, at least one. An answer has to reach all goals.
    pub goals: Vec<Goal>,
}

/// A scheme, with the smallest size at which it reaches the goals.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The run at this size.
    pub record: Record,
    /// The size in bytes; 0 if the scheme buffers no pages.
    pub bytes: u64,
    /// Whether a full run reached the goals. If false, only a forecast from runs without a clock reached the goals.
    pub confirmed: bool,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Answers {
    /// How the result was computed.
    pub manifest: Manifest,
    /// The goals, in the order of [`SizePlan::goals`].
    pub goals: Vec<Goal>,
    /// The schemes that reach the goals, in ascending order of size. Schemes with equal sizes are sorted by the metric
    /// of the first goal, the best first. For the first two schemes, the size is the smallest at which the scheme
    /// reaches the goals. For all later schemes, it is a size that was tried or forecast.
    pub answers: Vec<Answer>,
    /// The bounds that reach the goals, in ascending order of size. A bound is a scheme that no device can implement,
    /// such as `belady`, which knows all future requests.
    pub bounds: Vec<Answer>,
    /// For goals about response times, if it is not known which scheme is second best: the scheme that came nearest
    /// to the goals at the size of the best answer. If this scheme is among the answers, it is the second answer.
    pub nearest: Option<String>,
    /// The schemes that do not reach the goals, each with its run or forecast at the largest size that was tried.
    pub missed: Vec<Record>,
    /// The failed runs, with their errors. It is not known whether the schemes of these runs reach the goals.
    pub failed: Vec<Record>,
    /// Runs of the best answer under other conditions.
    pub sensitivity: Sensitivity,
    /// If no scheme reaches the goals: the full run that is nearest to them.
    pub closest: Option<Record>,
    /// For each scheme, the sizes in bytes that were not tried; if there is an answer, only those that are smaller
    /// than the best one. The search did not try these sizes, because it assumes that a larger buffer is better than a
    /// smaller one.
    pub untried: Vec<(String, Vec<u64>)>,
    /// The cost of saving the buffer of the best answer after a power loss; `None` without flash or without an
    /// answer.
    pub hold_up: Option<HoldUp>,
    /// All sizes that were searched, in bytes; empty if no scheme buffers pages.
    pub sizes: Vec<u64>,
    /// The numbers of runs in the search.
    pub spent: Spent,
    /// The number of runs in a grid of all compared schemes and sizes.
    pub grid: usize,
}

/// Runs of the best answer under other conditions, which tell whether it then still reaches the goals. Each of these
/// runs may have failed.
#[derive(Clone, Debug, Default)]
pub struct Sensitivity {
    /// The run at twice the load, if results depend on the arrival times of the input.
    pub twice_the_load: Option<Record>,
    /// The run on the second half of the input, with half of the warm-up; `None` if the input is too short.
    pub second_half: Option<Record>,
    /// The run without a buffer (`nocache`), if no smaller buffer than the best answer was tried. It tells whether the
    /// goals need a buffer at all.
    pub without_buffer: Option<Record>,
}

impl Sensitivity {
    /// The runs that took place, first the one at twice the load.
    pub fn runs(&self) -> impl Iterator<Item = &Record> {
        let of_answer = self.twice_the_load.iter().chain(&self.second_half);
        of_answer.chain(&self.without_buffer)
    }
}

/// The numbers of runs in a search.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// The number of full runs.
    pub runs: usize,
    /// The number of full runs that were ended early, because the goals were out of reach.
    pub ended: usize,
    /// The number of cheaper runs, without a clock or on an excerpt of the input. Their results selected the full
    /// runs.
    pub trials: usize,
}

impl Spent {
    fn and(self, other: &Self) -> Self {
        Self {
            runs: self.runs + other.runs,
            ended: self.ended + other.ended,
            trials: self.trials + other.trials,
        }
    }
}

/// Searches for the smallest buffers that reach the goals of `plan` on `input`. If the runs of some schemes fail, or of
/// all schemes, [`Answers::failed`] has these runs.
///
/// # Errors
/// If the plan or the input is wrong, if the input can be read only once, or if `effort.progress` asked to stop.
pub fn size(input: &Input, plan: &SizePlan, effort: &Effort<'_>) -> Result<Answers, Error> {
    let started = Instant::now();
    input.check_exists()?;
    if plan.goals.is_empty() {
        let what = ": expected at least one, such as waf.bytes<1.3";
        return Err(Error::argument("goal", what));
    }
    if !input.allows_second_pass() {
        return Err(Error::Input(format!(
            "{}: can be read only once, but the search needs many runs; expected a regular file",
            input.name()
        )));
    }
    refuse_pair(&plan.settings, CAPACITY, "sizes")?;
    let grid = Grid::new(plan.settings.clone()).buffers(plan.buffers.iter().cloned());
    let schemes = grid.combinations()?;
    let Some(first) = schemes.first() else {
        return Err(Error::Internal("a grid has no combination".to_owned()));
    };
    plan.goals
        .iter()
        .try_for_each(|goal| goal.check(&first.config))?;
    let reads_enter = reads_enter(&schemes);
    let mut whole = Whole::read(input, &first.config, reads_enter, effort)?;
    let items = match &plan.sizes {
        Some(items) => items.clone(),
        None => whole.sizes.iter().map(u64::to_string).collect(),
    };
    let every = grid.sizes(items).every()?;
    let mut sizes = capacities(&every);
    let mut candidates = by_scheme(every);
    if candidates.iter().all(|of| !of[0].config.keeps_pages()) {
        sizes.clear();
    }
    whole.fit(&mut candidates, effort)?;
    let notes = notes(candidates.iter().flatten().map(|of| &of.config));
    let grid = candidates.iter().map(Vec::len).sum();
    // No device can implement a bound. The search for bounds is therefore separate, and bounds are not answers.
    let is_bound = |sizes: &Vec<Combination>| sizes[0].config.scheme.is_bound();
    let (of_bounds, candidates): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_bound);
    if candidates.is_empty() {
        return Err(Error::argument(
            "buffers",
            ": all of them are bounds, which no device can reach; expected at least one other scheme",
        ));
    }
    let bounds = match of_bounds.is_empty() {
        true => None,
        false => Some(searched(&whole, plan, of_bounds, effort)?),
    };
    let Searched {
        found,
        nearest,
        closest,
        untried,
        spent,
    } = searched(&whole, plan, candidates, effort)?;
    let Found {
        mut answers,
        mut seeming,
        missed,
        mut failed,
    } = found;
    let mut spent = spent;
    let mut reached = Vec::new();
    if let Some(bounds) = bounds {
        spent = spent.and(&bounds.spent);
        failed.extend(bounds.found.failed);
        reached = bounds.found.answers;
        sort(&mut reached, &plan.goals);
    }
    sort(&mut answers, &plan.goals);
    sort(&mut seeming, &plan.goals);
    let best = answers.first().map(|(_, record)| record);
    let chosen = best.and_then(|best| schemes.iter().find(|scheme| scheme.buffer == best.buffer));
    let (mut sensitivity, mut hold_up) = (Sensitivity::default(), None);
    if let Some((best, scheme)) = best.zip(chosen) {
        let bytes = best.capacity().unwrap_or(0);
        hold_up = HoldUp::of(&scheme.config, bytes);
        // The device is that of the best answer, also if its size depends on the input.
        let blocks = best.whole("flash.blocks_per_plane");
        let blocks = blocks.and_then(|blocks| u32::try_from(blocks).ok());
        let made = |grid: Grid, input: &Input| {
            let mut sized = grid.combinations()?;
            if let Some(blocks) = blocks {
                for combination in &mut sized {
                    combination.config = combination.config.with_blocks(blocks);
                }
            }
            one(input, &sized, effort)
        };
        let again = |settings: &Settings, input: &Input| {
            let grid = Grid::new(settings.clone()).buffers([scheme.buffer.clone()]);
            made(grid.sizes([bytes.max(1).to_string()]), input)
        };
        if sizes.len() > 1 && sizes.first() == Some(&bytes) {
            let grid = Grid::new(plan.settings.clone()).buffers([NO_BUFFER.to_owned()]);
            sensitivity.without_buffer = made(grid, &whole.input)?;
        }
        if scheme.config.follows_arrivals() {
            let mut settings = plan.settings.clone();
            let half = (scheme.config.typed.host.time_scale / 2.0).to_string();
            let origin = Origin::Given("twice the load".to_owned());
            settings.set("host.time_scale", &half, origin);
            sensitivity.twice_the_load = again(&settings, &whole.input)?;
        }
        if let Some(half) = whole.input.second_half(whole.requests) {
            let mut settings = plan.settings.clone();
            let warmup = (scheme.config.typed.sim.warmup_requests / 2).to_string();
            let origin = Origin::Given("half of the warm-up".to_owned());
            settings.set("sim.warmup_requests", &warmup, origin);
            sensitivity.second_half = again(&settings, &half)?;
        }
    }
    let answer = |confirmed: bool| {
        move |(_, record): (usize, Record)| Answer {
            bytes: record.capacity().unwrap_or(0),
            record,
            confirmed,
        }
    };
    let answers = answers.into_iter().map(answer(true));
    let answers = answers.chain(seeming.into_iter().map(answer(false)));
    Ok(Answers {
        answers: answers.collect(),
        bounds: reached.into_iter().map(answer(true)).collect(),
        manifest: Manifest {
            command: Vec::new(),
            inputs: vec![whole.facts],
            unused: unused(
                schemes.iter().map(|scheme| &scheme.config),
                std::slice::from_ref(input),
            ),
            notes,
            seed: first.config.typed.sim.seed,
            wall_time_s: started.elapsed().as_secs_f64(),
        },
        goals: plan.goals.clone(),
        nearest,
        missed,
        failed,
        sensitivity,
        untried,
        closest,
        hold_up,
        sizes,
        spent,
        grid,
    })
}

/// The result of a search among some of the schemes.
struct Searched {
    found: Found,
    nearest: Option<String>,
    closest: Option<Record>,
    untried: Vec<(String, Vec<u64>)>,
    spent: Spent,
}

/// Searches among `candidates`, which are the combinations of each scheme with its sizes.
fn searched(
    whole: &Whole,
    plan: &SizePlan,
    candidates: Vec<Vec<Combination>>,
    effort: &Effort<'_>,
) -> Result<Searched, Error> {
    let forecasts = Forecast::all(whole, &plan.settings, &candidates, &plan.goals)?;
    let mut search = Search {
        goals: &plan.goals,
        whole,
        settings: &plan.settings,
        keeps_pages: candidates
            .iter()
            .map(|sizes| sizes[0].config.keeps_pages())
            .collect(),
        forecasts,
        first: (0, 0),
        glimpses: 0,
        full: vec![BTreeMap::new(); candidates.len()],
        known: candidates
            .iter()
            .map(|sizes| Range::of(sizes.len()))
            .collect(),
        candidates,
        nearest: None,
        failed: Vec::new(),
        effort,
    };
    search.carry_out()?;
    let nearest = search
        .nearest
        .map(|scheme| search.candidates[scheme][0].buffer.clone());
    Ok(Searched {
        nearest,
        closest: search.best().is_none().then(|| search.closest()).flatten(),
        untried: search.untried(),
        spent: Spent {
            runs: search.runs(),
            ended: search.ended(),
            trials: search.trials(),
        },
        found: search.found(),
    })
}

/// The combinations of each scheme, in ascending order of size. A scheme that buffers no pages has one combination.
fn by_scheme(every: Vec<Combination>) -> Vec<Vec<Combination>> {
    let mut schemes: Vec<Vec<Combination>> = Vec::new();
    for combination in every {
        let is_own = |sizes: &&mut Vec<Combination>| sizes[0].buffer == combination.buffer;
        match schemes.iter_mut().find(is_own) {
            Some(sizes) => sizes.push(combination),
            None => schemes.push(vec![combination]),
        }
    }
    for sizes in &mut schemes {
        sizes.sort_by_key(Combination::capacity);
        sizes.dedup_by_key(|size| size.capacity());
        if !sizes[0].config.keeps_pages() {
            sizes.truncate(1);
        }
    }
    schemes
}

/// Sorts by size, and equal sizes by the metric of the first goal, the best first. Schemes that buffer no pages come
/// first.
fn sort(answers: &mut [(usize, Record)], goals: &[Goal]) {
    let first = &goals[0];
    answers.sort_by(|(_, one), (_, other)| {
        let by_size = one.capacity().cmp(&other.capacity());
        by_size.then(first.rank(one).total_cmp(&first.rank(other)))
    });
}

/// The result of the first of `combinations`; `None` if `combinations` is empty.
fn one(
    input: &Input,
    combinations: &[Combination],
    effort: &Effort<'_>,
) -> Result<Option<Record>, Error> {
    let Some(first) = combinations.get(..1) else {
        return Ok(None);
    };
    let results = compare(std::slice::from_ref(input), first, effort)?;
    Ok(results.runs.into_iter().next())
}

impl Answers {
    /// `{"manifest", "heading", "goals", "conclusions", "answers": [{"buffer", "bytes", "metrics", "confirmed"}],
    /// "bounds", "nearest", "closest", "missed", "failed", "untried", "sensitivity", "hold_up", "runs", "ended",
    /// "trials", "grid"}`: the output of `destage size --json`. A run that stopped before the end of its input has
    /// `"stopped"`, the reason.
    #[must_use]
    pub fn to_json(&self) -> String {
        // All keys are strings and all numbers are finite, so serialisation cannot fail.
        json::text(&serde_json::to_value(self).unwrap_or(Value::Null))
    }

    /// The input on a line, and the layer and the device on another.
    #[must_use]
    pub fn heading(&self) -> String {
        words::heading(self)
    }

    /// The result in sentences.
    #[must_use]
    pub fn conclusions(&self) -> Vec<String> {
        words::conclusions(self)
    }

    /// Whether `record`, a run of the best answer under changed conditions, reaches the goals.
    #[must_use]
    pub fn hold_in(&self, record: &Record) -> bool {
        self.goals.iter().all(|goal| goal.is_met_by(record))
    }

    /// The metrics of goals that add up over the requests. A run on a part of the input cannot be compared with these
    /// goals.
    fn sums(&self) -> Vec<&str> {
        let sums = self.goals.iter().filter(|goal| goal.adds_up());
        sums.map(|goal| goal.metric.as_str()).collect()
    }
}

fn row(record: &Record) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("buffer".to_owned(), json!(record.buffer));
    map.insert("bytes".to_owned(), json!(record.capacity().unwrap_or(0)));
    map.insert("metrics".to_owned(), json::metrics(&record.metrics));
    if let Some(error) = &record.error {
        map.insert("error".to_owned(), json!(error.to_string()));
    }
    if let Some(why) = stopped(record) {
        map.insert("stopped".to_owned(), json!(why));
    }
    map
}

impl Serialize for Answers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let goals: Vec<_> = self.goals.iter().map(Goal::to_string).collect();
        let answers = self.answers.iter().map(|answer| {
            let mut map = row(&answer.record);
            map.insert("confirmed".to_owned(), json!(answer.confirmed));
            map
        });
        let missed: Vec<_> = self.missed.iter().map(row).collect();
        let mut sensitivity = Map::new();
        for (name, record, is_judged) in [
            ("twice_the_load", &self.sensitivity.twice_the_load, true),
            (
                "second_half",
                &self.sensitivity.second_half,
                self.sums().is_empty(),
            ),
            ("without_buffer", &self.sensitivity.without_buffer, true),
        ] {
            if let Some(record) = record {
                let mut map = row(record);
                if record.error.is_none() && is_judged {
                    map.insert("goals_hold".to_owned(), json!(self.hold_in(record)));
                }
                sensitivity.insert(name.to_owned(), Value::Object(map));
            }
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("manifest", &self.manifest.single())?;
        map.serialize_entry("heading", &self.heading())?;
        map.serialize_entry("goals", &goals)?;
        map.serialize_entry("conclusions", &self.conclusions())?;
        map.serialize_entry("answers", &answers.collect::<Vec<_>>())?;
        if !self.bounds.is_empty() {
            let bounds: Vec<_> = self.bounds.iter().map(|bound| row(&bound.record)).collect();
            map.serialize_entry("bounds", &bounds)?;
        }
        if let Some(nearest) = &self.nearest {
            map.serialize_entry("nearest", nearest)?;
        }
        if let Some(closest) = &self.closest {
            map.serialize_entry("closest", &row(closest))?;
        }
        map.serialize_entry("missed", &missed)?;
        if !self.failed.is_empty() {
            let failed: Vec<_> = self.failed.iter().map(row).collect();
            map.serialize_entry("failed", &failed)?;
        }
        if !self.untried.is_empty() {
            let untried = self.untried.iter();
            let untried: Map<_, _> = untried
                .map(|(buffer, sizes)| (buffer.clone(), json!(sizes)))
                .collect();
            map.serialize_entry("untried", &untried)?;
        }
        map.serialize_entry("sensitivity", &sensitivity)?;
        if let Some(hold_up) = self.hold_up {
            map.serialize_entry("hold_up", &hold_up.to_json())?;
        }
        let records = self.answers.iter().map(|answer| &answer.record);
        let records = records.chain(&self.closest).cloned();
        add_warnings(&mut map, &records.collect::<Vec<_>>())?;
        map.serialize_entry("runs", &self.spent.runs)?;
        map.serialize_entry("ended", &self.spent.ended)?;
        map.serialize_entry("trials", &self.spent.trials)?;
        map.serialize_entry("grid", &self.grid)?;
        map.end()
    }
}

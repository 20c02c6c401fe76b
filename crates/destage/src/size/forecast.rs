//! Forecasts of full runs, by shorter runs.
//!
//! The counts of a buffer depend neither on a clock nor on flash: a run of the buffer alone has nearly the same. Flash programs at least the pages
//! that the buffer destages and pads, and exactly these until it collects garbage. How much that adds depends on the scheme: then, and for other
//! counts, runs need the flash, but no clock. Times need both, and are tried on an excerpt of the input.

use std::collections::BTreeMap;

use destage_base::parameter::{CountOrAuto, Value};
use destage_sim::limits::Demand;
use destage_sim::metrics::{MetricRow, Number, rows};
use destage_sim::sample::is_estimated;
use destage_sim::settings::{Config, Origin, Settings};

use super::goal::Goal;
use super::search::At;
use super::whole::Whole;
use crate::compare::{Effort, compare};
use crate::error::Error;
use crate::grid::{Combination, Grid};
use crate::input::Input;
use crate::record::Record;

/// Metrics of the buffer on which flash has no influence.
const OF_BUFFER: [&MetricRow; 8] = [
    rows::BUFFER_WRITE_HITS,
    rows::BUFFER_WRITE_HITS_PERCENT,
    rows::BUFFER_READ_HITS,
    rows::BUFFER_EVICTIONS,
    rows::BUFFER_DESTAGED_PAGES,
    rows::BUFFER_MEAN_DESTAGE_PAGES,
    rows::BUFFER_ON_DEMAND_UPDATES,
    rows::BUFFER_DIRTY_AT_END,
];
/// Metrics of flash that follow from the destages of the buffer.
const OF_PROGRAMS: [&MetricRow; 3] = [rows::WAF_BYTES, rows::WAF_HOST, rows::FLASH_PROGRAMS];

const CAPACITY: &str = "buffer.capacity_bytes";

/// The share of the free pages that may be written before the flash collects garbage: its dies are not used evenly, and none waits until it is full.
const WRITTEN_OF_FREE: f64 = 0.5;

/// By which runs a metric is foreseen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Of the buffer alone.
    Buffer,
    /// A run with flash and without a clock.
    Counts,
    /// A run with a clock, on an excerpt of the input.
    Excerpt,
}

impl Goal {
    /// Whether its metric follows from the number of programs.
    fn is_of_programs(&self) -> bool {
        OF_PROGRAMS.iter().any(|row| row.name == self.metric)
    }

    /// Whether its metric comes only from runs with a clock.
    pub(super) fn is_of_times(&self) -> bool {
        Kind::of(&self.metric, false, false) == Kind::Excerpt
    }
}

/// Whether the programs of flash depend on more than the destages of the buffer, in a run of `whole` under `config`.
fn flash_matters(whole: &Whole, config: &Config) -> bool {
    // Runs say why there can be no such device.
    let free = config.free_pages().unwrap_or(0);
    whole.demand.page_writes as f64 > free as f64 * WRITTEN_OF_FREE
}

impl Kind {
    /// By which runs `metric` is foreseen; `garbage` says whether flash collects some, and `units` whether pages wait in the buffer
    /// for the rest of their program units, which only a layer that fills blocks page after page has.
    fn of(metric: &str, garbage: bool, units: bool) -> Self {
        let is = |row: &&MetricRow| row.name == metric;
        match () {
            () if OF_BUFFER.iter().any(is) && !units => Self::Buffer,
            () if OF_PROGRAMS.iter().any(is) && !garbage && !units => Self::Buffer,
            () if is_estimated(metric) => Self::Counts,
            () => Self::Excerpt,
        }
    }

    /// The settings to change if runs of this kind fail and full runs do not.
    fn next(self) -> Self {
        match self {
            Self::Buffer => Self::Counts,
            Self::Counts | Self::Excerpt => Self::Excerpt,
        }
    }
}

/// Runs of one kind.
pub(super) struct Forecast {
    kind: Kind,
    /// Which of the goals they are about.
    goals: Vec<usize>,
    input: Input,
    demand: Demand,
    page_bytes: u64,
    /// The settings of all runs of its kind; scheme and size come from the candidates.
    settings: Settings,
    /// The runs that were made, by size.
    known: Vec<BTreeMap<usize, Record>>,
}

impl Forecast {
    /// As many kinds as `goals` need, for the full runs of `candidates`.
    pub(super) fn all(
        whole: &Whole,
        settings: &Settings,
        candidates: &[Vec<Combination>],
        goals: &[Goal],
    ) -> Result<Vec<Self>, Error> {
        let mut all: Vec<Self> = Vec::new();
        let all_sizes = || candidates.iter().filter_map(|sizes| sizes.first());
        let device = &candidates[0][0].config;
        let garbage = goals.iter().any(Goal::is_of_programs) && flash_matters(whole, device);
        let units = device.pages_in_units() > 0;
        for (index, goal) in goals.iter().enumerate() {
            let kind = Kind::of(&goal.metric, garbage, units);
            if let Some(known) = all.iter_mut().find(|known| known.kind == kind) {
                known.goals.push(index);
                continue;
            }
            let mut forecast = Self {
                kind,
                goals: vec![index],
                input: kind.input(whole, all_sizes().any(|size| size.config.allocates_reads())),
                demand: whole.demand,
                page_bytes: device.typed.flash.page_bytes,
                settings: kind.settings(settings)?,
                known: vec![BTreeMap::new(); candidates.len()],
            };
            // Settings that do not go with runs of a kind are asked for in runs of the next one.
            let first: Vec<At> = (0..candidates.len()).map(|scheme| (scheme, 0)).collect();
            while forecast.is_of_counts() && forecast.combinations(candidates, &first).is_err() {
                forecast.take_next_kind(whole, settings)?;
            }
            all.push(forecast);
        }
        Ok(all)
    }

    /// Replaces it by an empty one of the next kind: runs of its kind fail, and full runs do not.
    pub(super) fn take_next_kind(
        &mut self,
        whole: &Whole,
        settings: &Settings,
    ) -> Result<(), Error> {
        let kind = self.kind.next();
        if kind != self.kind {
            self.kind = kind;
            self.input = kind.input(whole, true);
            self.settings = kind.settings(settings)?;
            self.known.iter_mut().for_each(BTreeMap::clear);
        }
        Ok(())
    }

    /// Whether its run for a place of a scheme failed.
    pub(super) fn has_failed(&self, (scheme, place): At) -> bool {
        let known = self.known[scheme].get(&place);
        known.is_some_and(|record| record.error.is_some())
    }

    /// Forgets all runs of `scheme`; later schemes move up.
    pub(super) fn remove(&mut self, scheme: usize) {
        self.known.remove(scheme);
    }

    /// Whether it is of the whole input.
    pub(super) fn is_of_counts(&self) -> bool {
        self.kind != Kind::Excerpt
    }

    /// How many runs were made.
    pub(super) fn runs(&self) -> usize {
        self.known.iter().map(BTreeMap::len).sum()
    }

    /// The schemes at the size after one of this many `parts` of their sizes, the one that looks best on an excerpt of the input first.
    pub(super) fn glimpse(
        &self,
        whole: &Whole,
        candidates: &[Vec<Combination>],
        goals: &[Goal],
        parts: usize,
        effort: &Effort<'_>,
    ) -> Result<Vec<At>, Error> {
        let at = |(scheme, sizes): (usize, &Vec<Combination>)| (scheme, sizes.len() / parts);
        let mut all: Vec<At> = candidates.iter().enumerate().map(at).collect();
        let combinations = self.combinations(candidates, &all)?;
        let runs = compare(&[whole.excerpt()], &combinations, effort)?.runs;
        let goal = &goals[self.goals[0]];
        let rank = |(scheme, _): &At| goal.rank_of(self.of(&goal.metric, &runs[*scheme]));
        all.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
        Ok(all)
    }

    /// Makes those of `wanted` that are not known.
    pub(super) fn look(
        &mut self,
        candidates: &[Vec<Combination>],
        wanted: &[At],
        effort: &Effort<'_>,
    ) -> Result<(), Error> {
        let is_new = |(scheme, place): &&At| !self.known[*scheme].contains_key(place);
        let new: Vec<At> = wanted.iter().filter(is_new).copied().collect();
        if new.is_empty() {
            return Ok(());
        }
        let combinations = self.combinations(candidates, &new)?;
        let runs = compare(std::slice::from_ref(&self.input), &combinations, effort)?.runs;
        for ((scheme, place), run) in new.into_iter().zip(runs) {
            self.known[scheme].insert(place, run);
        }
        Ok(())
    }

    /// The runs that forecast `candidates` at `wanted`.
    fn combinations(
        &self,
        candidates: &[Vec<Combination>],
        wanted: &[At],
    ) -> Result<Vec<Combination>, Error> {
        let of = |(scheme, place): &At| {
            let full = &candidates[*scheme][*place];
            if self.kind == Kind::Excerpt {
                return Ok(full.clone());
            }
            let grid = Grid::new(self.settings.clone()).buffers([&full.buffer]);
            let mut own = grid.sizes([full.capacity().to_string()]).every()?;
            let Some(mut combination) = own.pop() else {
                return Err(Error::Internal("a grid has no combination".to_owned()));
            };
            // Without a clock no page waits for its program unit, and the slots for such pages are no room.
            let held = u64::from(full.config.pages_in_units()) * self.page_bytes;
            if held > 0 && full.config.keeps_pages() {
                let room = Value::Integer(full.capacity() - held);
                combination.config.set(CAPACITY, room);
            }
            // The device is known, and is not looked for again.
            if let CountOrAuto::Count(blocks) = full.config.typed.flash.blocks_per_plane {
                combination.config = combination.config.with_blocks(blocks);
            }
            Ok(combination)
        };
        wanted.iter().map(of).collect()
    }

    /// Its value of the metric of goal `index`, if it has one.
    pub(super) fn value(
        &self,
        goals: &[Goal],
        index: usize,
        scheme: usize,
        place: usize,
    ) -> Option<f64> {
        let record = self.known[scheme]
            .get(&place)
            .filter(|record| self.goals.contains(&index) && record.error.is_none())?;
        Some(self.of(&goals[index].metric, record))
    }

    fn of(&self, metric: &str, record: &Record) -> f64 {
        if record.error.is_some() {
            return f64::NAN;
        }
        let number = |row: &MetricRow| record.number(row.name).unwrap_or(0.0);
        if self.kind != Kind::Buffer || !OF_PROGRAMS.iter().any(|row| row.name == metric) {
            return record.number(metric).unwrap_or(f64::NAN);
        }
        let pads = number(rows::BUFFER_PAD_READS) + number(rows::BUFFER_PAD_FILLS);
        let programs = number(rows::BUFFER_DESTAGED_PAGES) + pads;
        match metric {
            name if name == rows::WAF_BYTES.name => {
                programs * self.page_bytes as f64 / self.demand.bytes_written as f64
            }
            name if name == rows::WAF_HOST.name => programs / self.demand.page_writes as f64,
            _ => programs,
        }
    }

    /// The known facts about `scheme` at `place`, with a `factor` for each of the goals, if that is of all the input.
    pub(super) fn record(
        &self,
        candidates: &[Vec<Combination>],
        goals: &[Goal],
        (scheme, place): At,
        factor: impl Fn(usize) -> f64,
    ) -> Option<Record> {
        let known = self.known[scheme]
            .get(&place)
            .filter(|known| known.error.is_none())?;
        let is_all = self.kind != Kind::Excerpt && self.goals.len() == goals.len();
        is_all.then(|| {
            let mut record = known.clone();
            let capacity = Value::Integer(candidates[scheme][place].capacity());
            record.parameters.insert(CAPACITY.to_owned(), capacity);
            let foreseen = self.goals.iter().filter_map(|index| {
                let metric = &goals[*index].metric;
                let value = self.of(metric, known) * factor(*index);
                let is_new = record.metrics.get(metric).is_none();
                is_new.then(|| (metric.clone(), Number::Real(value)))
            });
            let foreseen: Vec<_> = foreseen.collect();
            let counted = known.metrics.iter();
            let counted = counted.map(|(name, number)| (name.to_owned(), number));
            record.metrics = counted.chain(foreseen).collect();
            record
        })
    }
}

impl Kind {
    /// The input of such runs; `enters` says whether a page that is read may enter a buffer.
    fn input(self, whole: &Whole, enters: bool) -> Input {
        match self {
            Self::Excerpt => whole.excerpt(),
            // Reads of pages that are never written matter only to a buffer that keeps read pages.
            Self::Buffer if !enters => whole.of_written_pages(),
            Self::Buffer | Self::Counts => whole.input.clone(),
        }
    }

    /// The settings of such runs, for full runs with `settings`.
    fn settings(self, settings: &Settings) -> Result<Settings, Error> {
        let mut cheap = settings.clone();
        if self == Self::Excerpt {
            return Ok(cheap);
        }
        let origin = Origin::Given("a run without a clock".to_owned());
        cheap.set("sim.costing", "op_count", origin);
        if self == Self::Buffer {
            let of_layer = |key: &&str| key.starts_with("ftl.");
            let keys: Vec<String> = cheap.keys().filter(of_layer).map(str::to_owned).collect();
            keys.iter().for_each(|key| cheap.remove(key));
            cheap.set_kind("ftl", "none")?;
        }
        Ok(cheap)
    }
}

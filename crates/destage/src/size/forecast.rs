//! Forecasts of the results of full runs from cheaper runs.
//!
//! A run of the buffer alone, without a clock and without flash, has nearly the same counts of the buffer as a full
//! run. The flash programs all pages that the buffer destages and pads. Until garbage collection begins, the flash
//! programs no other pages. The number of programs is then also forecast from a run of the buffer alone. If garbage
//! collection may begin, its programs depend on the scheme. The number of programs is then forecast from a run with
//! flash but without a clock, as are all other counts. Times need flash and a clock. They are forecast from an
//! excerpt of the input.

use std::collections::BTreeMap;

use destage_base::parameter::{CountOrAuto, Value};
use destage_sim::metrics::{MetricRow, Number, rows};
use destage_sim::sample::is_estimated;
use destage_sim::settings::{Config, Origin, Settings};

use super::goal::Goal;
use super::search::At;
use super::whole::Whole;
use crate::compare::{Effort, compare};
use crate::error::Error;
use crate::grid::{CAPACITY, Combination, Grid};
use crate::input::Input;
use crate::record::Record;

/// Metrics of the buffer that do not depend on flash.
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
/// Metrics of the flash that can be computed from the destages of the buffer, if there is no garbage collection.
const OF_PROGRAMS: [&MetricRow; 3] = [rows::WAF_BYTES, rows::WAF_HOST, rows::FLASH_PROGRAMS];

/// Garbage collection is assumed to be possible once this fraction of the free pages is written. Dies fill unevenly,
/// and garbage collection begins before a die is full.
const WRITTEN_OF_FREE: f64 = 0.5;

/// The kind of runs from which a metric is forecast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A run of the buffer alone, without flash and without a clock.
    Buffer,
    /// A run with flash, but without a clock.
    Counts,
    /// A run with flash and a clock, on an excerpt of the input.
    Excerpt,
}

impl Goal {
    /// Whether the metric can be computed from the number of programs.
    fn is_of_programs(&self) -> bool {
        OF_PROGRAMS.iter().any(|row| row.name == self.metric)
    }

    /// Whether the metric is available only from runs with a clock.
    pub(super) fn is_of_times(&self) -> bool {
        Kind::of(&self.metric, false, false) == Kind::Excerpt
    }
}

/// Whether garbage collection may cause programs in a full run of `whole` under `config`.
fn flash_matters(whole: &Whole, config: &Config) -> bool {
    // If there can be no device with this configuration, the runs report the reason.
    let free = config.free_pages().unwrap_or(0);
    whole.demand.page_writes as f64 > free as f64 * WRITTEN_OF_FREE
}

impl Kind {
    /// The kind of runs from which `metric` is forecast. `garbage` is whether garbage collection may run. `units` is
    /// whether pages wait in the buffer for the rest of their program unit, as with layers that fill blocks page by
    /// page.
    fn of(metric: &str, garbage: bool, units: bool) -> Self {
        let is = |row: &&MetricRow| row.name == metric;
        match () {
            () if OF_BUFFER.iter().any(is) && !units => Self::Buffer,
            () if OF_PROGRAMS.iter().any(is) && !garbage && !units => Self::Buffer,
            () if is_estimated(metric) => Self::Counts,
            () => Self::Excerpt,
        }
    }

    /// The kind to use instead if runs of this kind fail although full runs succeed.
    fn next(self) -> Self {
        match self {
            Self::Buffer => Self::Counts,
            Self::Counts | Self::Excerpt => Self::Excerpt,
        }
    }
}

/// Forecasts from runs of one kind.
pub(super) struct Forecast {
    kind: Kind,
    /// The indices of the goals that are forecast.
    goals: Vec<usize>,
    input: Input,
    page_bytes: u64,
    /// The settings of all runs of this kind. The candidates set the scheme and the size.
    settings: Settings,
    /// The finished runs of each scheme, by [place](At).
    known: Vec<BTreeMap<usize, Record>>,
}

impl Forecast {
    /// The forecasts of full runs of `candidates`, one for each kind of runs that `goals` need.
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
        // The requests of the warm-up are counted, so none may be left out.
        let counts_requests = device.typed.sim.warmup_requests > 0;
        let needs_all = counts_requests || all_sizes().any(|size| size.config.allocates_reads());
        for (index, goal) in goals.iter().enumerate() {
            let kind = Kind::of(&goal.metric, garbage, units);
            if let Some(known) = all.iter_mut().find(|known| known.kind == kind) {
                known.goals.push(index);
                continue;
            }
            let mut forecast = Self {
                kind,
                goals: vec![index],
                input: kind.input(whole, needs_all),
                page_bytes: device.typed.flash.page_bytes,
                settings: kind.settings(settings)?,
                known: vec![BTreeMap::new(); candidates.len()],
            };
            // If the settings do not allow runs of a kind, runs of the next kind are used.
            let first: Vec<At> = (0..candidates.len()).map(|scheme| (scheme, 0)).collect();
            while forecast.is_of_counts() && forecast.combinations(candidates, &first).is_err() {
                forecast.take_next_kind(whole, settings)?;
            }
            all.push(forecast);
        }
        Ok(all)
    }

    /// Changes to the next kind of runs and drops all finished runs. Called if runs of the present kind fail although
    /// full runs succeed.
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

    /// Whether the run of a scheme at a place failed.
    pub(super) fn has_failed(&self, (scheme, place): At) -> bool {
        let known = self.known[scheme].get(&place);
        known.is_some_and(|record| record.error.is_some())
    }

    /// Drops all runs of `scheme`. The numbers of all later schemes decrease by one.
    pub(super) fn remove(&mut self, scheme: usize) {
        self.known.remove(scheme);
    }

    /// Whether the runs use the whole input instead of an excerpt.
    pub(super) fn is_of_counts(&self) -> bool {
        self.kind != Kind::Excerpt
    }

    /// The number of finished runs.
    pub(super) fn runs(&self) -> usize {
        self.known.iter().map(BTreeMap::len).sum()
    }

    /// Runs every scheme on an excerpt of the input, at the place `sizes / parts` in its list of sizes. Returns the
    /// schemes with these places, sorted by the metric of the forecast's first goal, the best scheme first.
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

    /// Simulates the runs of `wanted` that are not yet finished.
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

    /// The combinations whose runs forecast `candidates` at `wanted`.
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
            // A full run reserves slots for pages that wait for their program unit. Without a clock no page waits, so
            // the reserved slots are subtracted from the buffer.
            let held = u64::from(full.config.pages_in_units()) * self.page_bytes;
            if held > 0 && full.config.keeps_pages() {
                let room = Value::Integer(full.capacity() - held);
                combination.config.set(CAPACITY, room);
            }
            // The number of blocks is that of the full run, so that it is not computed from the input again.
            if let CountOrAuto::Count(blocks) = full.config.typed.flash.blocks_per_plane {
                combination.config = combination.config.with_blocks(blocks);
            }
            Ok(combination)
        };
        wanted.iter().map(of).collect()
    }

    /// The forecast value of the metric of goal `index`; NaN, which reaches no goal, if the run stopped before the end
    /// of its input. `None` if the run is not finished or failed, or if this forecast is not for this goal.
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
        if record.error.is_some() || record.stopped_early() {
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
                programs * self.page_bytes as f64 / number(rows::HOST_BYTES_WRITTEN)
            }
            name if name == rows::WAF_HOST.name => programs / number(rows::HOST_PAGE_WRITES),
            _ => programs,
        }
    }

    /// The metrics of the run of `scheme` at `place`. Metrics of goals that this run lacks are added with their
    /// forecast `value`, by the index of the goal. `None` if the run is missing or failed, or used only an excerpt.
    pub(super) fn record(
        &self,
        candidates: &[Vec<Combination>],
        goals: &[Goal],
        (scheme, place): At,
        value: impl Fn(usize) -> Option<f64>,
    ) -> Option<Record> {
        let known = self.known[scheme]
            .get(&place)
            .filter(|known| known.error.is_none())?;
        self.is_of_counts().then(|| {
            let mut record = known.clone();
            let capacity = Value::Integer(candidates[scheme][place].capacity());
            record.parameters.insert(CAPACITY.to_owned(), capacity);
            let foreseen = goals.iter().enumerate().filter_map(|(index, goal)| {
                let is_new = record.metrics.get(&goal.metric).is_none();
                let value = value(index).filter(|value| is_new && value.is_finite())?;
                Some((goal.metric.clone(), Number::Real(value)))
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
    /// The input of runs of this kind. With `needs_all`, no request may be left out.
    fn input(self, whole: &Whole, needs_all: bool) -> Input {
        match self {
            Self::Excerpt => whole.excerpt(),
            // Reads of pages that never enter the buffer have no effect.
            Self::Buffer if !needs_all => whole.of_entering_pages(),
            Self::Buffer | Self::Counts => whole.input.clone(),
        }
    }

    /// The settings of runs of this kind, derived from the settings of full runs.
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

//! A checked configuration, and the parts that are built from it.
//!
//! Code reads the typed structs. The maps next to them are for results, and for schemes and layers, which read their own structs from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use destage_base::parameter::{CountOrAuto, Parameter, Value, Values};
use destage_base::time::{TICKS_PER_NS, TICKS_PER_US, from_units};
use destage_buffer::scheme::Scheme;
use destage_buffer::{
    Buffer, BufferConfig, Common, Release, SCHEMES, SchemeConfig, SchemeRow, Shares,
};
use destage_device::{Device, DeviceConfig, Handover, Ordering, Wording};
use destage_ftl::{Ftl, FtlConfig, FtlRow};
use destage_nand::{Geometry, Timing};
use destage_trace::{ReadOptions, TraceError};

use crate::check::{Asked, Purpose};
use crate::contract::Checked;
use crate::engine::{EngineConfig, Replay, Statistics};
use crate::error::SimError;
use crate::events::Clock;
use crate::host::Scheduler;
use crate::mapping::{in_units, units_per_page};
use crate::metrics::MergeCost;
use crate::paging::{AddressMap, Addressing, Align};
use crate::parameters::{
    ByHandle, CellMode, Costing, Dispatch, MultiPlane, Parameters, Trim, VolatileCache, Wearout,
};
use crate::precondition::Precondition;
use crate::prepass::Prepass;
use crate::state::State;

/// A checked configuration: every parameter has one value that fits its row.
#[derive(Clone)]
pub struct Config {
    /// Device, host and run parameters, in units of the mapping.
    pub typed: Parameters,
    /// The parameters every buffer has.
    common: Common,
    /// Device, host, run and trace parameters, by dotted name.
    global: Values,
    /// The buffer's common parameters and those of its scheme, by their last name part.
    buffer: Values,
    /// The FTL's own parameters, by their last name part.
    ftl: Values,
    /// Of a scheme that is in no registry, its version, if it has one.
    pub(crate) own_version: Option<Option<String>>,
    /// The scheme.
    pub scheme: &'static SchemeRow,
    /// The translation layer.
    pub ftl_row: &'static FtlRow,
    /// Bytes the device is to offer, where that decides the number of blocks.
    pub capacity_bytes: Option<u64>,
    /// The state the device begins in, if a file keeps it.
    pub(crate) state: Option<Arc<State>>,
    /// Units of the mapping that share a page of flash. In `typed` a unit is the page.
    pub(crate) units_per_page: u32,
    /// Runs are explained. It changes no result, and so is no parameter.
    pub explain: bool,
    /// Parameters that were set and have no effect in a run, each with the reason; parameters set by a profile are not among them.
    pub without_effect: Vec<(String, String)>,
    /// Its purpose, and the settings that were made for it.
    pub(crate) asked: Asked,
}

impl Config {
    pub(crate) fn new(
        scheme: &'static SchemeRow,
        ftl_row: &'static FtlRow,
        global: Values,
        buffer: Values,
        ftl: Values,
    ) -> Self {
        let given = Parameters::from_values(&global);
        let units_per_page = units_per_page(&given).unwrap_or(1);
        Self {
            typed: in_units(given, units_per_page),
            units_per_page,
            common: Common::from_values(&buffer),
            global,
            buffer,
            ftl,
            own_version: None,
            scheme,
            ftl_row,
            capacity_bytes: None,
            without_effect: Vec::new(),
            asked: Asked::default(),
            state: None,
            explain: false,
        }
    }

    /// As above, for a device whose power may fail (`device.power_may_fail`).
    #[must_use]
    pub fn with_failing_power(mut self) -> Self {
        self.set("device.power_may_fail", Value::Flag(true));
        self.used_for(Purpose::Cut)
    }

    /// As above, for `purpose`, for which more of the settings may have an effect. With bytes a device has a clock, strict order and exact times, and
    /// programs the pages of a block in their order, whatever was set; a note then names the difference.
    #[must_use]
    pub fn used_for(mut self, purpose: Purpose) -> Self {
        self.asked.purpose = purpose;
        let has_bytes = matches!(purpose, Purpose::Cut | Purpose::Live);
        let (sim, flash) = (&self.typed.sim, &self.typed.flash);
        let waits_in_queues = self.queues() != Dispatch::Off;
        let is_otherwise = [
            ("sim.costing", "event", sim.costing == Costing::OpCount),
            (
                "sim.write_order",
                "strict",
                sim.write_order != Ordering::Strict,
            ),
            ("sim.clock", "exact", sim.clock != Clock::Exact),
            (
                "flash.multi_plane",
                "in_order",
                waits_in_queues && flash.multi_plane == MultiPlane::AnyOrder,
            ),
        ];
        let replaced = is_otherwise.iter().filter(|of| has_bytes && of.2);
        for (key, word, _) in replaced.clone() {
            self.set(key, Value::Text((*word).to_owned()));
        }
        let mut without_effect = std::mem::take(&mut self.without_effect);
        let has_default = |row: &Parameter, value| row.read(row.default).as_ref() == Ok(value);
        without_effect.retain(|(key, _)| match self.row(key) {
            None => true,
            Some((row, value)) => has_default(row, value) || self.lacks(key, None).is_some(),
        });
        for key in &self.asked.given {
            let is_known = without_effect.iter().any(|(known, _)| known == key);
            let lacking = self.lacks(key, None).filter(|_| !is_known);
            without_effect
                .extend(lacking.map(|lacking| (key.clone(), format!("it needs {lacking}"))));
        }
        for (key, word, _) in replaced {
            without_effect.retain(|(known, _)| known != key);
            without_effect.push(((*key).to_owned(), format!("with bytes it is {word}")));
        }
        self.without_effect = without_effect;
        self
    }

    /// Gives the device, host or run parameter `name` another value, without a check.
    ///
    /// # Panics
    /// If `value` is of another kind than the parameter's, which is a bug in the caller.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.global.set(name, value);
        let given = self.as_given();
        self.units_per_page = units_per_page(&given).unwrap_or(1);
        self.typed = in_units(given, self.units_per_page);
    }

    /// Device, host and run parameters as they were set: a page is one of flash.
    pub(crate) fn as_given(&self) -> Parameters {
        Parameters::from_values(&self.global)
    }

    /// Gives the layer's parameter `name` another value, without a check.
    pub(crate) fn set_of_layer(&mut self, name: &'static str, value: Value) {
        self.ftl.set(name, value);
    }

    /// The device begins in `state`, and has its size unless another is given.
    pub(crate) fn begin_with(&mut self, state: State) {
        if let (true, Some(blocks)) = (self.fits_input(), state.blocks_per_plane()) {
            *self = self.with_blocks(blocks);
        }
        self.state = Some(Arc::new(state));
    }

    /// The value of the parameter `name` of device, host, trace or run, if there is one of that name.
    #[must_use]
    pub fn global_parameter(&self, name: &str) -> Option<&Value> {
        self.global.get(name)
    }

    /// The value of the scheme's parameter `name`, or of one that every buffer has, if there is one of that name.
    #[must_use]
    pub fn buffer_parameter(&self, name: &str) -> Option<&Value> {
        self.buffer.get(name)
    }

    /// The values of the scheme's parameters.
    pub(crate) fn buffer_values(&self) -> &Values {
        &self.buffer
    }

    /// The value of the layer's parameter `name`, if there is one of that name.
    #[must_use]
    pub fn ftl_parameter(&self, name: &str) -> Option<&Value> {
        self.ftl.get(name)
    }

    /// Every parameter by its full dotted name, in ascending order; and `state.*`, if a file keeps the device's state.
    #[must_use]
    pub fn parameters(&self) -> BTreeMap<String, Value> {
        self.named(|values| values.iter().collect())
    }

    /// The entries of [`Self::parameters`] that are not at their default: with the defaults of this version they are equivalent.
    #[must_use]
    pub fn chosen(&self) -> BTreeMap<String, Value> {
        self.named(|values| values.chosen().collect())
    }

    fn named(
        &self,
        which: impl Fn(&Values) -> Vec<(&'static str, &Value)>,
    ) -> BTreeMap<String, Value> {
        let of = |section: &'static str, values| -> Vec<(String, Value)> {
            let pairs = which(values).into_iter();
            pairs
                .map(|(name, value)| (format!("{section}{name}"), value.clone()))
                .collect()
        };
        let sections = [
            of("", &self.global),
            of("buffer.", &self.buffer),
            of("ftl.", &self.ftl),
        ];
        let state = self.state.iter().flat_map(|state| state.facts());
        sections.into_iter().flatten().chain(state).collect()
    }

    /// The version that tells the scheme from another of its name: nothing for a scheme of the registry, whose version is that of the model.
    ///
    /// # Errors
    /// If it is in no registry and has no version, so that results of it cannot be kept.
    pub fn scheme_version(&self) -> Result<Option<&str>, SimError> {
        match &self.own_version {
            None => Ok(None),
            Some(Some(version)) => Ok(Some(version)),
            Some(None) => Err(SimError::Config(format!(
                "buffer.kind: {:?} is in no registry and has no version, so kept results of it could be mistaken for results of a later version; expected a version of the scheme",
                self.scheme.name
            ))),
        }
    }

    /// Whether the scheme buffers anything.
    #[must_use]
    pub fn keeps_pages(&self) -> bool {
        let smallest = SchemeConfig {
            capacity_pages: 0,
            cluster_pages: 1,
            dies: 1,
            future: None,
            seed: 0,
            values: &self.buffer,
        };
        self.scheme.needs_future || (self.scheme.build)(&smallest).properties().keeps_pages
    }

    /// How traces are to be read.
    ///
    /// # Errors
    /// If a `trace.*` parameter is not usable.
    pub fn read_options(&self) -> Result<ReadOptions, TraceError> {
        ReadOptions::from_values(&self.global)
    }

    /// The counts of the device, a page being a unit of the mapping; no blocks while their number is open.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        let flash = &self.typed.flash;
        Geometry {
            dies: flash.dies,
            planes: flash.planes_per_die,
            blocks_per_plane: match flash.blocks_per_plane {
                CountOrAuto::Count(blocks) => blocks,
                CountOrAuto::Auto => 0,
            },
            pages_per_block: match flash.cell_mode {
                CellMode::Native => flash.pages_per_block,
                // A block of one page stays a block of one page.
                CellMode::Pslc => (flash.pages_per_block / flash.bits_per_cell).max(1),
            },
            summary_page: flash.summary_page,
            page_bytes: flash.page_bytes,
        }
    }

    /// Pages of a block that hold data, whatever the device's size.
    ///
    /// # Errors
    /// [`SimError::Geometry`] if there is none.
    pub fn data_pages(&self) -> Result<u32, SimError> {
        let block = Geometry {
            dies: 1,
            planes: 1,
            blocks_per_plane: 1,
            ..self.geometry()
        };
        block.check().map_err(SimError::Geometry)?;
        Ok(block.data_pages())
    }

    pub(crate) fn timing(&self) -> Timing {
        let flash = &self.typed.flash;
        let ticks = |microseconds| from_units(microseconds, TICKS_PER_US);
        let (read, program) = match flash.cell_mode {
            CellMode::Native => (flash.read_us, flash.program_us),
            CellMode::Pslc => (flash.pslc_read_us, flash.pslc_program_us),
        };
        let sector_bytes = 512 + u64::from(flash.spare_bytes_per_sector);
        let sectors = flash.page_bytes / 512;
        let per_byte = flash.transfer_ns_per_byte;
        let transfer =
            |sectors: u64| from_units(per_byte * (sectors * sector_bytes) as f64, TICKS_PER_NS);
        Timing {
            read: ticks(read),
            program: ticks(program),
            erase: ticks(flash.erase_us),
            one_bit: [ticks(flash.pslc_read_us), ticks(flash.pslc_program_us)],
            page_transfer: transfer(sectors),
            sector_transfer: transfer(1),
        }
    }

    /// Times of operations where a step takes the sum of what it does: units that share a page of flash share its program.
    pub(crate) fn timing_of_sums(&self) -> Timing {
        let timing = self.timing();
        Timing {
            program: timing.program / u64::from(self.units_per_page),
            ..timing
        }
    }

    /// The cost of a merge for each page it copies and each block it erases.
    pub(crate) fn merge_cost(&self) -> MergeCost {
        let timing = self.timing();
        let mut copy = timing.program;
        if self.typed.sim.merge_time_reads {
            copy += timing.read;
        }
        if self.typed.sim.merge_time_transfers {
            copy += 2 * timing.page_transfer;
        }
        MergeCost {
            copy,
            erase: timing.erase,
        }
    }

    /// Whether pages of a block are programmed in ascending order only.
    pub(crate) fn programs_in_order(&self) -> bool {
        self.ftl.get("in_order") != Some(&Value::Flag(false))
    }

    pub(crate) fn ftl(&self) -> Result<Box<dyn Ftl>, SimError> {
        self.ftl_with(self.precondition().fills())
    }

    /// The translation layer, just built, with contents in every page or in none.
    ///
    /// # Errors
    /// The values that do not fit together.
    pub fn ftl_with(&self, filled: bool) -> Result<Box<dyn Ftl>, SimError> {
        let (geometry, flash) = (self.geometry(), &self.typed.flash);
        if self.is_open() {
            return Err(SimError::OpenSize);
        }
        geometry.check().map_err(SimError::Geometry)?;
        // A layer that merges leaves units incomplete only while programs wait for them, and without a clock no program waits.
        let has_units = self.is_timed() || !self.ftl_row.has_merges;
        let of_units = |count: u32| if has_units { count } else { 1 };
        let built = (self.ftl_row.build)(&FtlConfig {
            units_per_page: self.units_per_page,
            program_unit: of_units(flash.program_unit),
            program_passes: of_units(flash.program_passes),
            bits_per_cell: flash.bits_per_cell,
            geometry,
            erase_dates: self.timing(),
            copy_back: flash.copy_back,
            parallel_units: match self.works_in_rounds() {
                true => 1,
                false => flash.parallel_units,
            },
            endurance: flash.endurance,
            retire: flash.wearout == Wearout::Retire,
            power_may_fail: self.typed.device.power_may_fail,
            filled,
            seed: self.typed.sim.seed,
            values: &self.ftl,
        });
        built.map_err(SimError::Layer)
    }

    /// Whether a flush is answered at once.
    pub(crate) fn ignores_flushes(&self) -> bool {
        self.buffer.get("flush_mode") == Some(&Value::Text("ignore".to_owned()))
    }

    /// The parameters that every buffer has.
    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    /// Whether written data may be lost until a flush.
    pub(crate) fn has_volatile_cache(&self) -> bool {
        self.typed.device.vwc == VolatileCache::On
    }

    /// Whether a trim writes zeros.
    pub(crate) fn has_strict_trim(&self) -> bool {
        self.typed.device.trim == Trim::Strict
    }

    /// Whether there is flash, and not only a count of destages.
    #[must_use]
    pub fn has_flash(&self) -> bool {
        self.ftl_row.has_flash
    }

    /// How the device was filled, here or before its state was kept.
    pub(crate) fn precondition(&self) -> Precondition {
        if let Some(state) = &self.state {
            return state.precondition();
        }
        Precondition::read(&self.typed.sim.precondition).unwrap_or(Precondition::None)
    }

    /// Whether pages that are read enter the buffer.
    #[must_use]
    pub fn allocates_reads(&self) -> bool {
        // A scheme that knows the coming writes is built from these alone, and only for a run.
        if self.scheme.needs_future {
            return false;
        }
        let buffer = self.buffer(false, &Prepass::default());
        buffer.is_ok_and(|buffer| buffer.allocates_reads())
    }

    /// The buffer; one of no page keeps nothing.
    pub(crate) fn buffer(&self, timed: bool, prepass: &Prepass) -> Result<Buffer, SimError> {
        let page_bytes = self.typed.flash.page_bytes;
        let held = if timed { self.pages_in_units() } else { 0 };
        let capacity = (self.typed.buffer.capacity_bytes / page_bytes) as u32;
        // A buffer too small for that was refused, unless it keeps nothing.
        let capacity = capacity.saturating_sub(held);
        let block_pages = self.geometry().data_pages();
        let mut config = BufferConfig::from_parameters(capacity, block_pages, &self.common);
        config.held_pages = held;
        config.notes_dirty_ages = self.typed.sim.dirty_ages;
        if !timed {
            // Nothing is ever in flight.
            config.release = Release::Issue;
        }
        let cluster_pages = config.cluster_pages;
        let is_from_outside = SCHEMES.iter().all(|row| row.name != self.scheme.name);
        let scheme = |capacity_pages| -> Box<dyn Scheme> {
            let scheme = (self.scheme.build)(&SchemeConfig {
                capacity_pages,
                cluster_pages,
                dies: self.geometry().dies,
                future: prepass.writes.as_deref(),
                seed: self.typed.sim.seed,
                values: &self.buffer,
            });
            match is_from_outside {
                true => Box::new(Checked::new(self.scheme.name, scheme)),
                false => scheme,
            }
        };
        let share = capacity / self.handles();
        if self.by_handle() == ByHandle::Shared || share == 0 {
            return Ok(Buffer::new(config, scheme(capacity)));
        }
        let parts = (0..self.handles()).map(|_| scheme(share)).collect();
        Ok(Buffer::new(config, Box::new(Shares::new(parts, share))))
    }

    /// The device, with `buffer` over `ftl`; `with_bytes` says that its commands have to name every page.
    pub(crate) fn device(
        &self,
        timed: bool,
        with_bytes: bool,
        buffer: Buffer,
        ftl: Box<dyn Ftl>,
    ) -> Device {
        let geometry = self.geometry();
        let config = DeviceConfig {
            reads_partial: self.typed.trace.align == Align::ReadModifyWrite,
            ordering: self.typed.sim.write_order,
            volatile_cache: self.has_volatile_cache(),
            strict_trim: self.has_strict_trim(),
            wording: match timed && self.times_commands() {
                _ if with_bytes => Wording::Contents,
                true => Wording::Pages,
                false => Wording::Runs,
            },
            batches: timed,
            service: self.service(),
            reads_ahead: self.typed.flash.read_starvation_limit,
            units: self.units().filter(|_| timed),
            power_may_fail: self.typed.device.power_may_fail,
            handover: match timed {
                true => self.handover(),
                false => Handover::Never,
            },
            ..DeviceConfig::new(geometry.dies, geometry.blocks_per_die())
        };
        Device::new(config, buffer, ftl)
    }

    /// Whether writes reach the buffer in the order of the trace, as a scheme that knows the future needs.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        !self.is_timed() || (self.typed.host.scheduler == Scheduler::Fifo && !self.front_reorders())
    }

    /// How requests become pages, for a trace that spans `span_pages`; that number matters only on a device.
    #[must_use]
    pub fn addressing(&self, span_pages: u64) -> Addressing {
        Addressing {
            align: self.typed.trace.align,
            unit_sectors: self.typed.trace.align_bytes / 512,
            map: self.typed.trace.addr_map,
            sectors_per_page: self.typed.flash.page_bytes / 512,
            span_pages,
        }
    }

    /// Whether a run needs to know the requests before it begins; see [`Prepass::of`].
    #[must_use]
    pub fn needs_prepass(&self) -> bool {
        self.typed.trace.addr_map == AddressMap::Shrink || self.scheme.needs_future
    }

    /// Whether the run has a clock.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.typed.sim.costing == Costing::Event && self.has_flash()
    }

    /// Requests before statistics open.
    pub(crate) fn warmup(&self) -> u64 {
        self.typed.sim.warmup_requests
    }

    /// Whether requests arrive at the times of the trace.
    #[must_use]
    pub fn follows_arrivals(&self) -> bool {
        self.is_timed() && self.typed.host.replay == Replay::Trace
    }

    pub(crate) fn engine(&self, span_pages: u64) -> EngineConfig {
        let (host, sim) = (&self.typed.host, &self.typed.sim);
        EngineConfig {
            queue_depth: host.queue_depth,
            scheduler: host.scheduler,
            bus_per_sector: from_units(host.bus_ns_per_sector, TICKS_PER_NS),
            front: self.front(),
            clock: sim.clock,
            replay: host.replay,
            time_scale: host.time_scale,
            attribution: host.attribution,
            saturation: match host.saturation {
                0 => u64::MAX,
                saturation => saturation,
            },
            run_out: sim.run_out,
            drain: sim.drain,
            addressing: self.addressing(span_pages),
            statistics: Statistics {
                warmup: self.warmup(),
                window: sim.window,
                dirty_ages: sim.dirty_ages,
                exact_responses: sim.exact_responses as usize,
            },
        }
    }
}

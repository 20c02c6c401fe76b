//! A checked configuration, and the buffer, layer, device and engine that are built from it.
//!
//! Code of this crate reads the typed structs. The values by name are for results, and for schemes and layers, which
//! read their own structs from these values.

use std::collections::BTreeMap;
use std::sync::Arc;

use destage_base::Ticks;
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

use crate::check::{Asked, Known, Purpose};
use crate::contract::Checked;
use crate::engine::{EngineConfig, Replay, Statistics};
use crate::error::SimError;
use crate::events::Clock;
use crate::host::{JobTimes, Scheduler};
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
    /// Parameters of device, host and run, in units of the mapping.
    pub typed: Parameters,
    /// The parameters that every buffer has.
    common: Common,
    /// Parameters of device, host, run and trace, by dotted name.
    global: Values,
    /// The buffer's common parameters and the parameters of its scheme, by the last part of their names.
    buffer: Values,
    /// The FTL's own parameters, by the last part of their names.
    ftl: Values,
    /// The version of a scheme that is in no registry, if it has one. `None` for a scheme of the registry.
    pub(crate) own_version: Option<Option<String>>,
    /// The scheme.
    pub scheme: &'static SchemeRow,
    /// The translation layer.
    pub ftl_row: &'static FtlRow,
    /// The bytes that the device must offer, if the user gives them in place of the number of blocks.
    pub capacity_bytes: Option<u64>,
    /// The state in which the device begins, if `sim.precondition` names a file.
    pub(crate) state: Option<Arc<State>>,
    /// The number of mapping units that share a page of flash. In `typed` the unit is the page.
    pub(crate) units_per_page: u32,
    /// Whether runs are explained. This changes no result, so it is not a parameter.
    pub explain: bool,
    /// Parameters that the user set and that have no effect in a run, each with the reason. Parameters that a profile
    /// or an input sets are not included.
    pub without_effect: Vec<(String, String)>,
    /// The purpose of the configuration, and the parameters that the user set.
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

    /// This configuration for a device whose power may fail (`device.power_may_fail`).
    #[must_use]
    pub fn with_failing_power(mut self) -> Self {
        self.set("device.power_may_fail", Value::Flag(true));
        self.used_for(Purpose::Cut)
    }

    /// This configuration for `purpose`. Which settings have an effect depends on the purpose. A device with bytes
    /// always has a clock, strict write order and exact times, and programs the pages of a block in order. Other
    /// values of these settings are replaced, and [`Config::without_effect`] names them.
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
            Some((row, value)) => {
                has_default(row, value) || self.lacks(key, Known::default()).is_some()
            }
        });
        for key in &self.asked.given {
            let is_known = without_effect.iter().any(|(known, _)| known == key);
            let lacking = self.lacks(key, Known::default()).filter(|_| !is_known);
            without_effect
                .extend(lacking.map(|lacking| (key.clone(), format!("it needs {lacking}"))));
        }
        for (key, word, _) in replaced {
            without_effect.retain(|(known, _)| known != key);
            // A value from a profile is replaced without a warning, because the user did not set it.
            if self.asked.given.iter().any(|given| given == key) {
                without_effect.push(((*key).to_owned(), format!("with bytes it is {word}")));
            }
        }
        self.without_effect = without_effect;
        self
    }

    /// Sets the device, host or run parameter `name` without checking the value.
    ///
    /// # Panics
    /// If `value` is of a kind other than that of the parameter, which is a bug in the caller.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.global.set(name, value);
        let given = self.as_given();
        self.units_per_page = units_per_page(&given).unwrap_or(1);
        self.typed = in_units(given, self.units_per_page);
    }

    /// Parameters of device, host and run as they were set: a page is a page of flash, not a unit of the mapping.
    pub(crate) fn as_given(&self) -> Parameters {
        Parameters::from_values(&self.global)
    }

    /// Sets the layer's parameter `name` without checking the value.
    pub(crate) fn set_of_layer(&mut self, name: &'static str, value: Value) {
        self.ftl.set(name, value);
    }

    /// Makes the device begin in `state`. The device gets the size of the state's device, unless the user gives a
    /// size.
    pub(crate) fn begin_with(&mut self, state: State) {
        if let (true, Some(blocks)) = (self.fits_input(), state.blocks_per_plane()) {
            *self = self.with_blocks(blocks);
        }
        self.state = Some(Arc::new(state));
    }

    /// The value of parameter `name` of device, host, trace or run; `None` if there is no such parameter.
    #[must_use]
    pub fn global_parameter(&self, name: &str) -> Option<&Value> {
        self.global.get(name)
    }

    /// The value of parameter `name` of the scheme or of all buffers; `None` if there is no such parameter.
    #[must_use]
    pub fn buffer_parameter(&self, name: &str) -> Option<&Value> {
        self.buffer.get(name)
    }

    /// The values of the buffer's common parameters and of the parameters of its scheme.
    pub(crate) fn buffer_values(&self) -> &Values {
        &self.buffer
    }

    /// The value of the layer's parameter `name`; `None` if there is no such parameter.
    #[must_use]
    pub fn ftl_parameter(&self, name: &str) -> Option<&Value> {
        self.ftl.get(name)
    }

    /// Every parameter by its full dotted name, in ascending order. If a file gives the device's state, the
    /// entries `state.*` describe it.
    #[must_use]
    pub fn parameters(&self) -> BTreeMap<String, Value> {
        self.named(|values| values.iter().collect())
    }

    /// The entries of [`Self::parameters`] that differ from their default. With the defaults of this version of the
    /// program, these entries describe the same configuration.
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

    /// The version of a scheme that is in no registry. `None` for a scheme of the registry, which the version of
    /// the model covers.
    ///
    /// # Errors
    /// If the scheme is in no registry and has no version, so that its results cannot be stored.
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

    /// Whether the scheme buffers pages.
    #[must_use]
    pub fn keeps_pages(&self) -> bool {
        let smallest = SchemeConfig::new(0, 1, &self.buffer);
        self.scheme.needs_future() || (self.scheme.build)(&smallest).properties().keeps_pages
    }

    /// The options for reading traces.
    ///
    /// # Errors
    /// If a `trace.*` parameter cannot be used.
    pub fn read_options(&self) -> Result<ReadOptions, TraceError> {
        ReadOptions::from_values(&self.global)
    }

    /// The geometry of the device, whose page is a unit of the mapping. The number of blocks is 0 as long as it has
    /// yet to be found.
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
            pages_per_block: match self.cell_mode() {
                CellMode::Native => flash.pages_per_block,
                // A block with only one page keeps this page.
                CellMode::Pslc => (flash.pages_per_block / flash.bits_per_cell).max(1),
            },
            summary_page: flash.summary_page,
            page_bytes: flash.page_bytes,
        }
    }

    /// The mode of all cells of the flash. A layer that has some blocks with one bit a cell chooses the mode of each
    /// block itself, so the parameter has no effect with such a layer.
    pub(crate) fn cell_mode(&self) -> CellMode {
        match self.ftl_row.has_cell_modes {
            true => CellMode::Native,
            false => self.typed.flash.cell_mode,
        }
    }

    /// The number of pages of a block that hold data. It does not depend on the size of the device.
    ///
    /// # Errors
    /// [`SimError::Geometry`] if a block has no such page.
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
        let (read, program) = match self.cell_mode() {
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

    /// Times of operations for steps whose time is the sum of their operations. Units that share a page of flash
    /// share the time of one program.
    pub(crate) fn timing_of_sums(&self) -> Timing {
        let timing = self.timing();
        Timing {
            program: timing.program / u64::from(self.units_per_page),
            ..timing
        }
    }

    /// The time of the first of two passes; 0 if pages are programmed in one pass.
    pub(crate) fn first_pass(&self) -> Ticks {
        let flash = &self.typed.flash;
        match flash.program_passes {
            1 => 0,
            _ => from_units(flash.first_pass_us, TICKS_PER_US),
        }
    }

    /// The times that a merge costs for each page that it copies and each block that it erases.
    pub(crate) fn merge_cost(&self) -> MergeCost {
        let (flash, timing) = (&self.typed.flash, self.timing());
        // The mapping units of all pages of a program unit share the time of one program. Without a clock there are
        // no program units, and only the mapping units of one page share it.
        let (first_pass, sharing) = match self.is_timed() {
            true => (self.first_pass(), flash.program_unit),
            false => (0, self.units_per_page),
        };
        let mut copy = (first_pass + timing.program) / u64::from(sharing);
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

    /// Whether the pages of a block are programmed only in ascending order.
    pub(crate) fn programs_in_order(&self) -> bool {
        self.ftl.get("in_order") != Some(&Value::Flag(false))
    }

    pub(crate) fn ftl(&self) -> Result<Box<dyn Ftl>, SimError> {
        self.ftl_with(self.precondition().fills())
    }

    /// A newly built translation layer, with contents in every page if `filled`, otherwise in none.
    ///
    /// # Errors
    /// An error that names the values that do not fit together.
    pub fn ftl_with(&self, filled: bool) -> Result<Box<dyn Ftl>, SimError> {
        let (geometry, flash) = (self.geometry(), &self.typed.flash);
        if self.is_open() {
            return Err(SimError::OpenSize);
        }
        geometry.check().map_err(SimError::Geometry)?;
        // A layer that merges may leave program units incomplete only if programs can wait for the rest of their
        // units. Without a clock no program waits.
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
            parallel_units: match self.works_in_batches() {
                true => flash.parallel_units,
                false => 1,
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

    /// Whether a flush is answered at once, without any effect.
    pub(crate) fn ignores_flushes(&self) -> bool {
        self.buffer.get("flush_mode") == Some(&Value::Text("ignore".to_owned()))
    }

    /// The parameters that every buffer has.
    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    /// Whether a loss of power before a flush may lose answered writes.
    pub(crate) fn has_volatile_cache(&self) -> bool {
        self.typed.device.vwc == VolatileCache::On
    }

    /// Whether trimmed pages must read as zeros.
    #[must_use]
    pub fn has_strict_trim(&self) -> bool {
        self.typed.device.trim == Trim::Strict
    }

    /// Whether the layer has flash, and does not merely count destages.
    #[must_use]
    pub fn has_flash(&self) -> bool {
        self.ftl_row.has_flash
    }

    /// The precondition of the device; with a state from a file, the precondition that the state was made with.
    pub(crate) fn precondition(&self) -> Precondition {
        if let Some(state) = &self.state {
            return state.precondition();
        }
        Precondition::read(&self.typed.sim.precondition).unwrap_or(Precondition::None)
    }

    /// Whether pages that are read enter the buffer.
    #[must_use]
    pub fn allocates_reads(&self) -> bool {
        // A scheme that needs the coming writes can be built only for a run.
        if self.scheme.needs_future() {
            return false;
        }
        let buffer = self.buffer(false, &Prepass::default());
        buffer.is_ok_and(|buffer| buffer.allocates_reads())
    }

    /// Builds the buffer. A buffer with a capacity of 0 pages buffers no pages.
    pub(crate) fn buffer(&self, timed: bool, prepass: &Prepass) -> Result<Buffer, SimError> {
        let page_bytes = self.typed.flash.page_bytes;
        let held = if timed { self.pages_in_units() } else { 0 };
        let capacity = (self.typed.buffer.capacity_bytes / page_bytes) as u32;
        // The check of the configuration refuses a capacity that is too small for the held pages, unless the scheme
        // buffers no pages.
        let capacity = capacity.saturating_sub(held);
        let block_pages = self.geometry().data_pages();
        let mut config = BufferConfig::from_parameters(capacity, block_pages, &self.common);
        config.held_pages = held;
        config.notes_dirty_ages = self.typed.sim.dirty_ages;
        if !timed {
            // Without a clock no program is ever under way.
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

    /// Builds the device, with `buffer` above `ftl`. With `with_bytes`, the flash operations of the device name every
    /// page and its contents.
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

    /// Whether writes reach the buffer in the order of the trace, which a scheme that knows the coming writes
    /// requires.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        !self.is_timed() || (self.typed.host.scheduler == Scheduler::Fifo && !self.front_reorders())
    }

    /// The rules by which requests become pages. `span_pages` is the span of the trace, which is used only if
    /// addresses are shrunk.
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

    /// Whether a run needs a [`Pass`](crate::prepass::Pass) over the requests before it begins.
    #[must_use]
    pub fn needs_prepass(&self) -> bool {
        self.typed.trace.addr_map == AddressMap::Shrink || self.scheme.needs_future()
    }

    /// Whether the run has a clock.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.typed.sim.costing == Costing::Event && self.has_flash()
    }

    /// The number of requests before statistics open.
    pub(crate) fn warmup(&self) -> u64 {
        self.typed.sim.warmup_requests
    }

    /// Whether requests arrive at the times of the trace.
    #[must_use]
    pub fn follows_arrivals(&self) -> bool {
        self.is_timed() && self.typed.host.replay == Replay::Trace
    }

    /// The times for which a request of a closed loop occupies the host's thread; `None` if it takes no time there.
    fn job(&self) -> Option<JobTimes> {
        let host = &self.typed.host;
        let read = match host.job_read_ns {
            0.0 => host.job_ns,
            own => own,
        };
        let [read, other, sleep] =
            [read, host.job_ns, host.job_sleep_ns].map(|time| from_units(time, TICKS_PER_NS));
        let is_timed = [read, other, sleep] != [0; 3];
        (host.replay == Replay::Closed && is_timed).then_some(JobTimes { read, other, sleep })
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
            job: self.job(),
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

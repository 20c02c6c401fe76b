//! From a checked configuration and a stream of requests to results.

mod simulation;

use std::collections::BTreeMap;

use destage_base::parameter::{Value, Values};
use destage_base::time::{TICKS_PER_NS, TICKS_PER_US, from_units};
use destage_buffer::{Buffer, BufferConfig, Common, Release, SchemeConfig};
use destage_device::{Device, DeviceConfig, Ordering};
use destage_flash::ftl::FtlConfig;
use destage_flash::{Ftl, Geometry, Timing};
use destage_trace::{ReadOptions, TraceError};

pub use self::simulation::Simulation;
use crate::engine::{EngineConfig, Replay, Window};
use crate::error::SimError;
use crate::events::Clock;
use crate::host::{Attribution, Scheduler};
use crate::metrics::{MergeCost, Metrics};
use crate::observer::Observer;
use crate::paging::{AddressMap, Addressing, Align};
use crate::precondition::Precondition;
use crate::prepass::Prepass;
use crate::settings::Config;
use crate::source::Source;

/// What one run gives: everything here is equal for equal inputs, on any machine.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Every parameter by its dotted name.
    pub parameters: BTreeMap<String, Value>,
    /// Every metric that has a meaning.
    pub metrics: Metrics,
}

impl Config {
    /// How traces are to be read.
    ///
    /// # Errors
    /// If a `trace.*` parameter is not usable.
    pub fn read_options(&self) -> Result<ReadOptions, TraceError> {
        ReadOptions::from_values(&self.global)
    }

    fn is_pslc(&self) -> bool {
        self.global.text("flash.cell_mode") == "pslc"
    }

    fn geometry(&self) -> Geometry {
        let count = |name| self.global.integer(name) as u32;
        Geometry {
            dies: count("flash.dies"),
            planes: count("flash.planes_per_die"),
            blocks_per_plane: count("flash.blocks_per_plane"),
            pages_per_block: if self.is_pslc() {
                // A block of one page stays a block of one page.
                (count("flash.pages_per_block") / count("flash.bits_per_cell")).max(1)
            } else {
                count("flash.pages_per_block")
            },
            summary_page: self.global.flag("flash.summary_page"),
            page_bytes: self.global.integer("flash.page_bytes"),
        }
    }

    fn timing(&self) -> Timing {
        let microseconds = |name| from_units(self.global.number(name), TICKS_PER_US);
        let (read, program) = if self.is_pslc() {
            ("flash.pslc_read_us", "flash.pslc_program_us")
        } else {
            ("flash.read_us", "flash.program_us")
        };
        let sector_bytes = 512 + self.global.integer("flash.spare_bytes_per_sector");
        let sectors = self.global.integer("flash.page_bytes") / 512;
        let per_byte = self.global.number("flash.transfer_ns_per_byte");
        let transfer =
            |sectors: u64| from_units(per_byte * (sectors * sector_bytes) as f64, TICKS_PER_NS);
        Timing {
            read: microseconds(read),
            program: microseconds(program),
            erase: microseconds("flash.erase_us"),
            page_transfer: transfer(sectors),
            sector_transfer: transfer(1),
        }
    }

    /// What a merge is charged for each page it copies and each block it erases.
    fn merge_cost(&self) -> MergeCost {
        let timing = self.timing();
        let mut copy = timing.program;
        if self.global.flag("sim.merge_time_reads") {
            copy += timing.read;
        }
        if self.global.flag("sim.merge_time_transfers") {
            copy += 2 * timing.page_transfer;
        }
        MergeCost {
            copy,
            erase: timing.erase,
        }
    }

    pub(crate) fn ftl(&self) -> Result<Box<dyn Ftl>, SimError> {
        let geometry = self.geometry();
        geometry.check().map_err(SimError::Geometry)?;
        let built = (self.ftl_row.build)(&FtlConfig {
            geometry,
            erase_dates: self.timing(),
            copy_back: self.global.flag("flash.copy_back"),
            parallel_units: self.global.integer("flash.parallel_units") as u32,
            endurance: self.global.integer("flash.endurance") as u32,
            retire: self.global.text("flash.wearout") == "retire",
            filled: self.precondition().fills(),
            seed: self.global.integer("sim.seed"),
            values: &self.ftl,
        });
        built.map_err(SimError::Layer)
    }

    /// Whether a trim writes zeros.
    pub(crate) fn has_strict_trim(&self) -> bool {
        self.global.text("device.trim") == "strict"
    }

    /// Whether there is flash, and not only a count of what is destaged.
    fn has_flash(&self) -> bool {
        self.ftl_row.has_flash
    }

    /// What filled the device, here or before its state was kept.
    fn precondition(&self) -> Precondition {
        if let Some(state) = &self.state {
            return state.precondition();
        }
        Precondition::read(self.global.text("sim.precondition")).unwrap_or(Precondition::None)
    }

    /// The buffer; one of no page keeps nothing.
    fn buffer(&self, timed: bool, prepass: &Prepass) -> Result<Buffer, SimError> {
        let page_bytes = self.global.integer("flash.page_bytes");
        let capacity = (self.global.integer("buffer.capacity_bytes") / page_bytes) as u32;
        if self.scheme.needs_future && capacity > 0 {
            self.check_order(timed)?;
        }
        let block_pages = self.geometry().data_pages();
        let mut config = BufferConfig::from_parameters(
            capacity,
            block_pages,
            &Common::from_values(&self.buffer),
        );
        config.unbounded_admission = true;
        if !timed {
            // Nothing is ever in flight.
            config.release = Release::Issue;
        }
        let scheme = (self.scheme.build)(&SchemeConfig {
            capacity_pages: capacity,
            cluster_pages: config.cluster_pages,
            dies: self.geometry().dies,
            future: prepass.writes.as_deref(),
            seed: self.global.integer("sim.seed"),
            values: &self.buffer,
        });
        Ok(Buffer::new(config, scheme))
    }

    /// The device, with `buffer` over `ftl`.
    fn device(&self, timed: bool, buffer: Buffer, ftl: Box<dyn Ftl>) -> Device {
        let geometry = self.geometry();
        let config = DeviceConfig {
            reads_partial: self.global.text("trace.align") == "rmw",
            ordering: match self.global.text("sim.write_order") {
                "reference" => Ordering::Reference,
                _ => Ordering::Strict,
            },
            volatile_cache: self.global.text("device.vwc") == "on",
            strict_trim: self.has_strict_trim(),
            batches: timed,
            ..DeviceConfig::new(geometry.dies, geometry.blocks_per_die())
        };
        Device::new(config, buffer, ftl)
    }

    /// A scheme that knows the future must see the writes in the order of the trace.
    fn check_order(&self, timed: bool) -> Result<(), SimError> {
        if timed && self.global.text("host.scheduler") != "fifo" {
            return Err(SimError::Config(format!(
                "buffer.kind = {}: knows the writes to come in the order of the trace, and host.scheduler = {} may change it; expected host.scheduler=fifo, or ftl.kind=none",
                self.scheme.name,
                self.global.text("host.scheduler")
            )));
        }
        Ok(())
    }

    pub(crate) fn addressing(&self, span_pages: u64) -> Addressing {
        Addressing {
            align: match self.global.text("trace.align") {
                "nearest" => Align::Nearest,
                _ => Align::Cover,
            },
            map: self.address_map(),
            sectors_per_page: self.global.integer("flash.page_bytes") / 512,
            span_pages,
        }
    }

    fn address_map(&self) -> AddressMap {
        match self.global.text("trace.addr_map") {
            "modulo" => AddressMap::Modulo,
            "shrink" => AddressMap::Shrink,
            _ => AddressMap::Refuse,
        }
    }

    /// Whether a run needs to know the requests before it begins; see [`Prepass::of`].
    #[must_use]
    pub fn needs_prepass(&self) -> bool {
        self.address_map() == AddressMap::Shrink || self.scheme.needs_future
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.global.text("sim.costing") == "event" && self.has_flash()
    }

    /// Requests before statistics open.
    fn warmup(&self) -> u64 {
        self.global.integer("sim.warmup_requests")
    }

    fn engine(&self, span_pages: u64) -> EngineConfig {
        let values: &Values = &self.global;
        EngineConfig {
            queue_depth: values.integer("host.queue_depth") as u32,
            scheduler: match values.text("host.scheduler") {
                "fifo" => Scheduler::Fifo,
                _ => Scheduler::CLook,
            },
            bus_per_sector: from_units(values.number("host.bus_ns_per_sector"), TICKS_PER_NS),
            clock: match values.text("sim.clock") {
                "double_ms" => Clock::DoubleMs,
                _ => Clock::Exact,
            },
            replay: match values.text("host.replay") {
                "closed" => Replay::Closed,
                _ => Replay::Trace,
            },
            time_scale: values.number("host.time_scale"),
            attribution: match values.text("host.attribution") {
                "disksim" => Attribution::DiskSim,
                _ => Attribution::Request,
            },
            saturation: values.integer("host.saturation"),
            warmup: self.warmup(),
            window: match values.text("sim.window") {
                "last_arrival" => Window::LastArrival,
                _ => Window::Complete,
            },
            drain: values.flag("sim.drain"),
            addressing: self.addressing(span_pages),
            exact_responses: values.integer("sim.exact_responses") as usize,
        }
    }
}

/// Simulates `source` under `config`. `prepass` is of the same requests if [`Config::needs_prepass`].
/// The source comes back for its counts and digest.
///
/// # Errors
/// What is wrong with the configuration, the trace or the device's size.
pub fn run<'a>(
    config: &Config,
    mut source: Source<'a>,
    prepass: &Prepass,
    observer: &mut dyn Observer,
) -> Result<(RunResult, Source<'a>), SimError> {
    let ftl = config.prepared_ftl(observer)?;
    let mut run = Simulation::new(config, source.origin(), ftl, prepass, Box::new(observer))?;
    let mut batch = Vec::new();
    while source.fill(&mut batch)? && run.feed(&batch)? {}
    Ok((run.finish()?, source))
}

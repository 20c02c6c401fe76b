//! What a run needs to know, and what it measures.

use destage_base::Ticks;
use destage_buffer::{Buffer, Counts};
use destage_flash::Ftl;
use destage_flash::nand::Wear;
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

use crate::dies::Totals;
use crate::events::Clock;
use crate::host::{Attribution, Scheduler};
use crate::latencies::Latencies;
use crate::paging::{AddressMap, Paging, Span};

/// When statistics close.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    /// When every request is complete.
    Complete,
    /// When the last request arrives; requests not complete by then are in no statistic.
    LastArrival,
}

/// When requests arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replay {
    /// By their timestamps.
    Trace,
    /// Each when an earlier one completes, the queue depth outstanding.
    Closed,
}

/// Host and run parameters of the engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Requests kept outstanding at the device.
    pub queue_depth: u32,
    /// Which waiting request is sent next.
    pub scheduler: Scheduler,
    /// Host bus time per sector.
    pub bus_per_sector: Ticks,
    /// How times are added.
    pub clock: Clock,
    /// When requests arrive.
    pub replay: Replay,
    /// Factor on the times of arrival.
    pub time_scale: f64,
    /// To whom completions are credited.
    pub attribution: Attribution,
    /// Outstanding requests at which the run stops; 0: never.
    pub saturation: u64,
    /// When statistics close.
    pub window: Window,
    /// Destage what is left at the end.
    pub drain: bool,
    /// How requests become pages.
    pub paging: Paging,
    /// Pages beyond the device.
    pub address_map: AddressMap,
    /// Pages the trace spans, for [`AddressMap::Shrink`].
    pub span_pages: u64,
    /// Response times kept one by one, of each kind.
    pub exact_responses: usize,
    /// Whether flush and FUA destage anything.
    pub honor_flush: bool,
}

/// What a run measured, up to the close of the window.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Requests that arrived.
    pub requests: u64,
    /// Requests that completed.
    pub completed: u64,
    /// The run stopped because too many were outstanding.
    pub saturated: bool,
    /// Pages read by the host.
    pub page_reads: u64,
    /// Pages written by the host.
    pub page_writes: u64,
    /// Bytes written by the host.
    pub bytes_written: u64,
    /// Bytes read by the host.
    pub bytes_read: u64,
    /// Arrival to completion.
    pub response: Latencies,
    /// From being sent to the device to completion.
    pub device_response: Latencies,
    /// Of destaged records: from issue to the end of the last program.
    pub destage_response: Latencies,
    /// First arrival to the close of the window.
    pub makespan: Ticks,
    /// What the dies did.
    pub totals: Totals,
    /// Erase counts over all blocks.
    pub wear: Wear,
    /// RAM of the FTL's tables, in bytes.
    pub map_bytes: u64,
    /// Figures only the FTL has.
    pub ftl_figures: Vec<(&'static str, f64)>,
    /// What the buffer counted; absent without a buffer.
    pub counts: Option<Counts>,
    /// Figures only the buffer's scheme has.
    pub scheme_figures: Vec<(&'static str, f64)>,
}

impl Measured {
    /// Counts the pages and bytes that `request`, which touches `span`, reads or writes.
    #[inline]
    pub(crate) fn count_pages(&mut self, request: &Request, span: &Span) {
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        match request.operation {
            Operation::Read => {
                self.page_reads += u64::from(span.pages);
                self.bytes_read += bytes;
            }
            Operation::Write => {
                self.page_writes += u64::from(span.pages);
                self.bytes_written += bytes;
            }
            Operation::Flush | Operation::Trim => {}
        }
    }

    /// Takes what `ftl` knows of itself, where statistics close.
    pub(crate) fn take_ftl(&mut self, ftl: &dyn Ftl) {
        self.wear = ftl.wear();
        self.map_bytes = ftl.map_bytes();
        ftl.report(&mut |name, value| self.ftl_figures.push((name, value)));
    }

    /// Takes what `buffer` counted up to `now`, where statistics close.
    pub(crate) fn take_counts(&mut self, buffer: &mut Buffer, now: Ticks) {
        buffer.close_dirty_periods(now);
        self.counts = Some(buffer.counts());
        buffer.report(&mut |name, value| self.scheme_figures.push((name, value)));
    }
}

//! `Measured`: everything a run measures, up to the close of its window.
//!
//! It holds the buffer's `Counts`, the dies' `Totals` and the response times. [`crate::metrics`] makes named results
//! of it.

use destage_base::Ticks;
use destage_buffer::Counts;
use destage_device::Device;
use destage_flash::nand::Wear;
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

use crate::latencies::Latencies;
use crate::meter::Totals;
use crate::observer::Observer;

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
    /// Of destaged records: from emission to the end of the last program.
    pub destage_response: Latencies,
    /// First arrival to the close of the window.
    pub makespan: Ticks,
    /// What the dies did.
    pub totals: Totals,
    /// Erase counts over all blocks.
    pub wear: Wear,
    /// Blocks that were erased as often as they survive, and are not used any more.
    pub retired: u64,
    /// The run ended because so many are that no block is free where one is needed.
    pub worn_out: bool,
    /// RAM of the FTL's tables, in bytes.
    pub map_bytes: u64,
    /// Figures only the FTL has.
    pub ftl_figures: Vec<(&'static str, f64)>,
    /// What the buffer counted; absent without a buffer.
    pub counts: Option<Counts>,
    /// Figures only the buffer's scheme has.
    pub scheme_figures: Vec<(&'static str, f64)>,
    /// Most pages that a loss of power would have lost at one moment.
    pub at_risk_max: u64,
}

impl Measured {
    /// Counts the pages and bytes that `request`, which touches `pages` pages, reads or writes.
    #[inline]
    pub(crate) fn count_pages(&mut self, request: &Request, pages: u32) {
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        match request.operation {
            Operation::Read => {
                self.page_reads += u64::from(pages);
                self.bytes_read += bytes;
            }
            Operation::Write => {
                self.page_writes += u64::from(pages);
                self.bytes_written += bytes;
            }
            Operation::Flush | Operation::Trim => {}
        }
    }

    /// Takes what `device` knows of itself, where statistics close `now`; `observer` gets the erases if it wants them.
    pub(crate) fn take_device(
        &mut self,
        device: &mut Device,
        totals: Totals,
        now: Ticks,
        observer: &mut dyn Observer,
    ) {
        self.totals = totals;
        self.at_risk_max = device.at_risk_max();
        let ftl = device.ftl();
        self.wear = ftl.wear();
        self.retired = ftl.retired();
        self.map_bytes = ftl.map_bytes();
        ftl.report(&mut |name, value| self.ftl_figures.push((name, value)));
        if observer.wants_erases() {
            ftl.erases(&mut |die, block, erases| observer.erases(die, block, erases));
        }
        let buffer = device.buffer_mut();
        if buffer.keeps_pages() {
            buffer.close_dirty_periods(now);
            self.counts = Some(buffer.counts());
            buffer.report(&mut |name, value| self.scheme_figures.push((name, value)));
        }
    }
}

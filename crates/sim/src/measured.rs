//! `Measured`: everything a run measures, from the opening of its window to the close.
//!
//! It holds the buffer's `Counts`, the dies' `Totals` and the response times. [`crate::metrics`] makes named results of them.

use destage_base::Ticks;
use destage_buffer::Counts;
use destage_buffer::scheme::Series;
use destage_device::Device;
use destage_nand::array::Wear;
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Passed, Request};

use crate::engine::FrontUsage;
use crate::error::SimError;
use crate::latencies::{Counted, Latencies};
use crate::meter::Totals;
use crate::observer::Observer;

/// The host's figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostCounts {
    /// Requests that arrived.
    pub requests: u64,
    /// Requests that completed.
    pub completed: u64,
    /// Pages that it read.
    pub page_reads: u64,
    /// Pages that it wrote.
    pub page_writes: u64,
    /// Bytes that it read.
    pub bytes_read: u64,
    /// Bytes that it wrote.
    pub bytes_written: u64,
}

impl HostCounts {
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

    /// Counts requests of one page each that need no further attention.
    pub(crate) fn pass(&mut self, passed: Passed) {
        self.requests += passed.requests;
        self.completed += passed.requests;
        let (pages, bytes) = match passed.is_write {
            true => (&mut self.page_writes, &mut self.bytes_written),
            false => (&mut self.page_reads, &mut self.bytes_read),
        };
        *pages += passed.requests;
        *bytes += passed.sectors * SECTOR_BYTES;
    }
}

/// Response times of requests.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// From the arrival of a request to its completion.
    pub host: Latencies,
    /// From the sending of a request to the device to its completion.
    pub device: Latencies,
    /// Of destaged records: from emission to the end of the last program.
    pub destage: Latencies,
    /// Arrival to completion by queue of the host, where there are several.
    pub queues: Vec<Counted>,
}

/// The totals of the flash and its layer.
#[derive(Clone, Debug, Default)]
pub struct FlashFigures {
    /// The work of the dies.
    pub totals: Totals,
    /// Erase counts over all blocks.
    pub wear: Wear,
    /// Blocks that were erased as often as they survive, and are not used any more.
    pub retired: u64,
    /// RAM of the layer's tables, in bytes.
    pub map_bytes: u64,
    /// Figures only the layer has.
    pub own: Vec<(&'static str, f64)>,
}

/// The totals of the buffer.
#[derive(Clone, Debug, Default)]
pub struct BufferFigures {
    /// Its counts; absent without a buffer.
    pub counts: Option<Counts>,
    /// Figures only its scheme has.
    pub own: Vec<(&'static str, f64)>,
    /// Figures that the scheme had again and again.
    pub series: Vec<Series>,
}

/// The values of a run, from the opening of the window to the close.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The host's figures.
    pub host: HostCounts,
    /// The run stopped because too many requests were outstanding.
    pub saturated: bool,
    /// The run ended because too many blocks were retired to leave one free where one is needed.
    pub worn_out: bool,
    /// Response times of requests.
    pub responses: Responses,
    /// From the opening of the window to the close.
    pub makespan: Ticks,
    /// The flash and its layer.
    pub flash: FlashFigures,
    /// The buffer.
    pub buffer: BufferFigures,
    /// How long pages were dirty, if that is asked.
    pub dirty_age: Option<Counted>,
    /// From the last arrival until the device was clean, if it was waited for.
    pub clean_after: Option<Ticks>,
    /// Most pages that a loss of power would have lost at one moment.
    pub at_risk_max: u64,
    /// The work of the servers between host and buffer, if there are any; before the close, their work when the window opened.
    pub front: Option<FrontUsage>,
    /// Counts from before the window opened.
    pub(crate) before: Option<(Totals, Counts)>,
}

/// An error if a run of `requests` requests, which errors call `origin`, had `warmup` before statistics open, and so measured nothing.
pub(crate) fn check_measured(origin: &str, warmup: u64, requests: u64) -> Result<(), SimError> {
    if warmup > 0 && requests <= warmup {
        return Err(SimError::NothingMeasured {
            origin: origin.to_owned(),
            warmup,
            requests,
        });
    }
    Ok(())
}

impl Measured {
    /// Statistics open: the counts of `device` and its dies (`totals`) so far are left out of all of them.
    pub(crate) fn open(&mut self, device: &mut Device, totals: Totals) {
        device.reset_figures();
        self.take_dirty_ages(device);
        self.dirty_age = self.dirty_age.is_some().then(Counted::default);
        self.before = Some((totals, device.buffer().counts()));
        self.host = HostCounts::default();
    }

    /// Takes the dirty periods that have ended, if they are asked for.
    #[inline]
    pub(crate) fn take_dirty_ages(&mut self, device: &mut Device) {
        if let Some(ages) = &mut self.dirty_age {
            let ended = device.buffer_mut().take_dirty_ages();
            ended.for_each(|age| ages.push(age));
        }
    }

    /// Takes the work of the servers between host and buffer up to now, where statistics close.
    pub(crate) fn take_front(&mut self, usage: Option<FrontUsage>) {
        let earlier = self.front.take().unwrap_or_default();
        self.front = usage.map(|usage| usage.since(&earlier));
    }

    /// Takes the counts of `device`, where statistics close `now`; `observer` gets the erases if it wants them.
    pub(crate) fn take_device(
        &mut self,
        device: &mut Device,
        totals: Totals,
        now: Ticks,
        observer: &mut dyn Observer,
    ) {
        let before = self.before.take();
        self.flash.totals = match &before {
            Some((before, _)) => totals.since(before),
            None => totals,
        };
        self.at_risk_max = device.at_risk_max();
        let ftl = device.ftl();
        self.flash.wear = ftl.wear();
        self.flash.retired = ftl.retired();
        self.flash.map_bytes = ftl.map_bytes();
        ftl.report(&mut |name, value| self.flash.own.push((name, value)));
        if observer.wants_erases() {
            ftl.erases(&mut |die, block, erases| observer.erases(die, block, erases));
        }
        if device.buffer().keeps_pages() {
            device.buffer_mut().close_dirty_periods(now);
            self.take_dirty_ages(device);
            let buffer = device.buffer();
            let counts = buffer.counts();
            self.buffer.counts = Some(match &before {
                Some((_, before)) => counts.since(before),
                None => counts,
            });
            buffer.report(&mut |name, value| self.buffer.own.push((name, value)));
            buffer.series(&mut |series| self.buffer.series.push(series));
        }
    }
}
